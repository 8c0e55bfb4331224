"""Picture: boxes, masks or keypoints of one image as SVG, above a list of their outcomes.

A long list stands beside the image, in columns.

Truths are thick, detections thin. True detections are solid, false ones dashed, ignored ones
dotted, so that the picture can be read without colors.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from germane.boxes.masks import draw_points, trace_mask
from germane.errors import InputError, check_choice
from germane.output.tables import escape_html, measure_width
from germane.presentation.pictures import COLORS, PAPERS, define_colors, shorten, write_element

if TYPE_CHECKING:
    from germane.boxes.box_explanation import Explanation, FoundBox, TruthBox

_WIDTH, _HEIGHT = 600.0, 450.0  # the most that the image takes beside a list
_NARROW = 400.0  # and above one, so that it is readable on a phone
_MARGIN, _TOP, _LINE, _COLUMNS = 16.0, 40.0, 17.0, 3
_MOST = 180  # lines of the list
_FEW = 25  # boxes up to which every truth has a label, and lines up to which they stand below
_COLORS = COLORS | {
    "true": COLORS["hit"],
    "false": ("#b3450b", "#f4a261"),
    "missed": ("#a3152f", "#ff8296"),
}
_STYLE = """
.germane-boxes .paper { fill: var(--paper) }
.germane-boxes .image { fill: var(--track); stroke: var(--grid) }
.germane-boxes text { fill: var(--ink) }
.germane-boxes .muted { fill: var(--muted) }
.germane-boxes .box { fill: none }
.germane-boxes .found { stroke: var(--axis); stroke-width: 4.5 }
.germane-boxes .missed { stroke: var(--missed); stroke-width: 4.5; stroke-dasharray: 12 5 }
.germane-boxes .spared { stroke: var(--axis); stroke-width: 4.5; stroke-dasharray: 1.5 6 }
.germane-boxes .true { stroke: var(--true); stroke-width: 1.8 }
.germane-boxes .false { stroke: var(--false); stroke-width: 1.8; stroke-dasharray: 6 3 }
.germane-boxes .ignored { stroke: var(--muted); stroke-width: 1.8; stroke-dasharray: 1.5 3 }
.germane-boxes .tag { fill: var(--paper); stroke-width: 1.2; stroke-dasharray: none }
.germane-boxes .tag.true { fill: var(--true) }
.germane-boxes .tag.missed { fill: var(--missed) }
.germane-boxes .on { fill: var(--paper) }
"""
_PHOTO = 480.0  # the longer side of a photograph
_ON_PHOTOGRAPHS = """
.photo { display: block; width: 100%; height: auto; border-radius: 6px }
.germane-boxes .box.halo { stroke: #fff; stroke-opacity: .75; stroke-dasharray: none }
.germane-boxes .box.halo.found { stroke-width: 4 }
.germane-boxes .box.halo.missed, .germane-boxes .box.halo.true,
.germane-boxes .box.halo.false, .germane-boxes .box.halo.ignored { stroke-width: 4 }
.photo .found { stroke: #22272d; stroke-width: 2.4; stroke-dasharray: 2 3 }
.photo .missed { stroke: #c2183a; stroke-width: 3 }
.photo .true { stroke: #0a58b8; stroke-width: 2 }
.photo .false { stroke: #c8500f; stroke-width: 2.4 }
.photo .tag { fill: #fff; stroke-width: 1.2 }
.photo .tag.missed { fill: #c2183a }
.photo text { fill: #1a1d21 }
.photo text.on { fill: #fff }
"""
_WORDS = {
    "found": "truth, found",
    "missed": "truth, missed",
    "spared": "truth, ignored",
    "true": "true",
    "false": "false",
    "ignored": "ignored",
}


_Places = tuple[tuple[float, float], ...]


class _Shape(NamedTuple):
    """A box to draw, with its style and the text of its label."""

    style: str
    box: tuple[float, ...]  # x, y, width, height in the picture
    tag: str
    path: str = ""  # of a mask, of keypoints or of an oriented box, in place of the box
    corners: _Places = ()  # of an oriented box, in the picture


_Line = tuple[str, str, str, str, str]  # style, label, class, score and outcome


def draw(explanation: "Explanation", paper: str | None) -> str:
    """Draw the boxes of one image. Raises InputError for an explanation of several."""
    if explanation.image is None:
        raise InputError(
            "a picture shows the boxes of one image; explain one with image=… (--image)."
        )
    if paper is not None:
        check_choice("paper", paper, PAPERS)
    lines = list(_list_lines(explanation))
    below = len(lines) <= _FEW
    image_width, image_height = _measure_image(explanation)
    scale = min((_NARROW if below else _WIDTH) / image_width, _HEIGHT / image_height)
    wide, height = image_width * scale, image_height * scale
    shapes = list(_list_shapes(explanation, scale))
    columns = max(math.ceil(len(lines) / max(int(height // _LINE), 32)), 1)
    columns = min(columns, _COLUMNS)
    down = math.ceil(len(lines) / columns)
    stops = _measure_stops(lines)
    styles = {shape.style for shape in shapes}
    if below:
        left, top = _MARGIN, _TOP + height + 14
        width = max(wide, stops[-1], _NARROW) + 2 * _MARGIN
    else:
        left, top = wide + 2 * _MARGIN, _TOP
        width = max(left + columns * (stops[-1] + _MARGIN), 640.0)
    bottom = max(_TOP + height, top + down * _LINE) + 22
    foot, tall = _write_foot(explanation, styles, width, bottom)
    words = _describe(explanation)
    image = {"class": "image", "x": _MARGIN, "y": _TOP, "width": wide, "height": height}
    elements = (
        write_element("title", {}, escape_html(words)),
        write_element("style", {}, write_colors(paper) + _STYLE),
        write_element("rect", {"class": "paper", "width": width, "height": tall}),
        write_element("rect", image),
        _write_head(explanation),
        _cut((_MARGIN, _TOP, wide, height), [_write_shape(shape) for shape in shapes]),
        *_write_tags(shapes, (_MARGIN, _TOP, wide, height)),
        *_write_lines(lines, stops, down, left, top),
        *foot,
    )
    return _write_frame(width, tall, words, elements) + "\n"


def draw_on_photograph(
    explanation: "Explanation", address: str, size: tuple[float, float], words: str
) -> str:
    """Draw the boxes of one image on its photograph, and name what is false or missed.

    Colors and styles are those of ``write_style``, which stand in the page once.
    """
    scale = min(_PHOTO / size[0], _PHOTO / size[1])
    wide, high = size[0] * scale, size[1] * scale
    names = {f"#{shorten(box.id, 12)}": shorten(box.label, 14) for box in explanation.missed}
    for row in explanation.detected:
        names[str(row.number)] = f"{shorten(row.label, 14)} {row.score:.2f}"
    shapes = [
        shape._replace(tag=names.get(shape.tag, "") if shape.style in ("false", "missed") else "")
        for shape in _list_shapes(explanation, scale)
    ]
    area = (_MARGIN, _TOP + 15, wide, high - 30)  # in which a label begins
    photograph = {"x": _MARGIN, "y": _TOP, "width": wide, "height": high, "href": address}
    elements = (
        write_element("title", {}, escape_html(words)),
        write_element("image", photograph),
        *(_write_shape(shape._replace(style=f"halo {shape.style}")) for shape in shapes),
        *map(_write_shape, shapes),
        *_write_tags(shapes, area),
    )
    frame = {
        "class": "germane-boxes photo",
        "viewBox": f"{_MARGIN:g} {_TOP:g} {wide:g} {high:g}",
        "font-size": 12,
        "role": "img",
        "aria-label": words,
    }
    return write_element("svg", frame, *elements)


def write_style() -> str:
    """Write the style of pictures that stand in a page."""
    return write_colors(None) + _STYLE + _ON_PHOTOGRAPHS


def _write_frame(width: float, tall: float, words: str, elements: tuple[str, ...]) -> str:
    frame = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "germane-boxes",
        "viewBox": f"0 0 {width:g} {tall:g}",
        "width": width,
        "height": tall,
        "font-family": "system-ui, 'DejaVu Sans', sans-serif",
        "font-size": 12,
        "role": "img",
        "aria-label": words,
    }
    return write_element("svg", frame, *elements)


def write_colors(paper: str | None, name: str = "germane-boxes") -> str:
    """Write the colors of a class of pictures, those of the reader's paper if none is named."""
    light, dark = (f".{name} {{ {define_colors(theme, _COLORS)} }}" for theme in PAPERS)
    if paper is not None:
        return dark if paper == "dark" else light
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}"


def _describe(explanation: "Explanation") -> str:
    return f"Image {explanation.image}. {'. '.join(explanation.describe_counts())}."


def _measure_image(explanation: "Explanation") -> tuple[float, float]:
    """Measure the image: as it is known, or up to the last side of a box."""
    size = explanation.size or (math.nan, math.nan)
    if all(side > 0 for side in size):
        return size[0], size[1]
    boxes = [truth.box for truth in explanation.truths] + [row.box for row in explanation.rows]
    boxes = boxes or [(0, 0, 1, 1)]
    return max(x + w for x, _, w, _ in boxes) or 1.0, max(y + h for _, y, _, h in boxes) or 1.0


def _list_shapes(explanation: "Explanation", scale: float) -> Iterator[_Shape]:
    """List the truths, and the detections over them, the true ones last."""
    drawn = [row for row in explanation.rows if row.counts != "dropped"]
    hides_tags = len(drawn) + len(explanation.truths) > _FEW
    for truth in explanation.truths:
        style = "spared" if truth.state == "ignored" else truth.state
        tag = "" if hides_tags and style == "found" else f"#{shorten(truth.id, 12)}"
        yield _make_shape(truth, style, tag, scale)
    for row in sorted(drawn, key=lambda row: (row.counts == "true", -row.number)):
        yield _make_shape(row, row.counts, str(row.number), scale)


def _make_shape(box: "FoundBox | TruthBox", style: str, tag: str, scale: float) -> _Shape:
    corners = tuple((_MARGIN + x * scale, _TOP + y * scale) for x, y in box.corners or ())
    path = f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in corners)}Z" if corners else ""
    return _Shape(style, _place(box.box, scale), tag, path or _trace(box, scale), corners)


def _trace(box: "FoundBox | TruthBox", scale: float) -> str:
    """Trace a mask, or keypoints of which one is visible; of others the box is drawn."""
    if box.mask is not None:
        return trace_mask(box.mask, (_MARGIN, _TOP), scale)
    is_truth = not hasattr(box, "score")
    if box.keypoints is not None and (any(p[2] > 0 for p in box.keypoints) or not is_truth):
        return draw_points(box.keypoints, (_MARGIN, _TOP), scale)
    return ""


def _place(box: tuple[float, ...], scale: float) -> tuple[float, ...]:
    x, y, width, height = box
    return _MARGIN + x * scale, _TOP + y * scale, width * scale, height * scale


def _write_shape(shape: _Shape) -> str:
    if shape.path:
        return write_element("path", {"class": f"box {shape.style}", "d": shape.path})
    x, y, width, height = shape.box
    sides = {"x": x, "y": y, "width": max(width, 0.5), "height": max(height, 0.5)}
    return write_element("rect", {"class": f"box {shape.style}", **sides, "rx": 1.5})


_Area = tuple[float, float, float, float]
_EDGE = 8.0  # pixels beside the image in which shapes are still drawn


def _cut(image: _Area, elements: list[str]) -> str:
    """Cut off what lies beside the image, where words stand."""
    x, y = image[0] - _EDGE, image[1] - _EDGE
    width, height = image[2] + 2 * _EDGE, image[3] + 2 * _EDGE
    sides = {"x": x, "y": y, "width": width, "height": height}
    return write_element(
        "svg", {**sides, "viewBox": f"{x:g} {y:g} {width:g} {height:g}"}, *elements
    )


def _write_tags(shapes: list[_Shape], image: _Area) -> Iterator[str]:
    """Write the labels at the sides of their boxes, where they hide each other least."""
    placed: list[_Area] = []
    for shape in sorted(shapes, key=lambda shape: shape.box[2] * shape.box[3]):
        if not shape.tag:
            continue
        size = 8 + _measure(shape.tag), 15.0
        listed = (
            _list_corner_spots(shape.corners, *size)
            if shape.corners
            else _list_spots(shape.box, *size)
        )
        spots = [_keep_inside(spot, size, image) for spot in listed]
        place = min(spots, key=lambda spot: sum(_measure_shared(spot, area) for area in placed))
        placed.append(place)
        yield from _write_tag(shape.style, shape.tag, place)


def _list_spots(box: tuple[float, ...], wide: float, high: float) -> Iterator[tuple[float, float]]:
    """List the places of a label: above and below the box, inside it, and along its sides."""
    x, y, width, height = box
    across = [x, x + width - wide, *(x + width * part for part in (0.25, 0.5, 0.75))]
    yield from ((row, y - high) for row in across)
    yield from ((row, y + height) for row in across)
    yield from ((row, y) for row in across)
    yield from ((row, y + height - high) for row in across)
    for part in (0.2, 0.4, 0.6, 0.8):
        yield from ((x - wide, y + height * part), (x + width, y + height * part))


def _list_corner_spots(corners: _Places, wide: float, high: float) -> Iterator[tuple[float, float]]:
    """List the places of a label outside a turned box: at its corners, then at its sides."""
    middle_x, middle_y = (sum(ends) / 4 for ends in zip(*corners, strict=True))
    ends = sorted(corners, key=lambda corner: corner[1])
    sides = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in pairwise((*corners, corners[0]))]
    for x, y in (*ends, *sides):
        across = x - wide if x < middle_x else x
        yield across, y - high if y < middle_y else y
        yield x - wide / 2, y - high if y < middle_y else y
        yield across, y - high / 2


def _keep_inside(spot: tuple[float, float], size: tuple[float, float], image: _Area) -> _Area:
    x, y, width, height = image
    across = min(max(spot[0], x), max(x + width - size[0], x))
    return across, min(max(spot[1], y - size[1]), y + height), *size


def _measure_shared(first: _Area, second: _Area) -> float:
    wide = min(first[0] + first[2], second[0] + second[2]) - max(first[0], second[0])
    high = min(first[1] + first[3], second[1] + second[3]) - max(first[1], second[1])
    return max(wide, 0.0) * max(high, 0.0)


def _write_tag(style: str, tag: str, place: _Area) -> Iterator[str]:
    x, y, width, height = place
    sides = {"x": x + 1, "y": y + 1, "width": width - 2, "height": height - 2}
    yield write_element("rect", {"class": f"tag {style}", **sides, "rx": 3.0})
    on = "on" if style in ("true", "missed") else None
    middle = {"x": x + width / 2, "y": y + 11.5, "text-anchor": "middle", "font-size": 11}
    yield write_element("text", {"class": on, **middle}, escape_html(tag))


def _write_head(explanation: "Explanation") -> str:
    subject = f" of class {shorten(explanation.label, 30)}" if explanation.label is not None else ""
    value = (
        "" if math.isnan(explanation.value) else f": {explanation.title} {explanation.value:.4f}"
    )
    title = f"Image {shorten(explanation.image, 40)}{subject}{value}"
    place = {"x": _MARGIN, "y": 24.0, "font-size": 15, "font-weight": 600}
    return write_element("text", place, escape_html(title))


def _list_lines(explanation: "Explanation") -> Iterator[_Line]:
    """List the detections drawn, and the missed truths: style, label, class, score and outcome."""
    drawn = [row for row in explanation.rows if row.counts != "dropped"]
    for row in drawn[:_MOST]:
        label, score = shorten(row.label, 12), f"{row.score:.2f}"
        yield row.counts, str(row.number), label, score, _write_outcome(row)
    room = max(_MOST - len(drawn), 0)
    for truth in explanation.missed[:room]:
        yield "missed", f"#{shorten(truth.id, 12)}", shorten(truth.label, 12), "", "missed"
    if (unlisted := len(drawn) + len(explanation.missed) - _MOST) > 0:
        yield "", "", "", "", f"… {unlisted:,} more"


def _write_outcome(row: "FoundBox") -> str:
    if row.outcome == "low overlap":
        return f"overlap {row.overlap:.2f} with #{shorten(row.truth, 12)}"
    if row.outcome == "other class":
        return f"on {shorten(row.truth_label, 12)} #{shorten(row.truth, 12)}"
    return shorten(row.says, 30)


def _measure(words: str) -> float:
    """Estimate the width of words."""
    return 6.8 * measure_width(words)


def _measure_stops(lines: list[_Line]) -> tuple[float, ...]:
    """Measure the places of class, score and outcome, and where a column ends."""
    tags, labels, _, outcomes = (
        max((_measure(line[part]) for line in lines), default=0.0) for part in (1, 2, 3, 4)
    )
    label = tags + 16
    score = label + labels + 36
    return label, score, score + 10, score + 10 + max(outcomes, 60.0)


def _write_lines(
    lines: list[_Line], stops: tuple[float, ...], down: int, left: float, top: float
) -> Iterator[str]:
    """Write the list in columns of so many lines."""
    for i, (style, tag, label, score, outcome) in enumerate(lines):
        x = left + (i // down) * (stops[-1] + _MARGIN)
        y = top + (i % down) * _LINE
        if tag:
            yield from _write_tag(style, tag, (x, y, _measure(tag) + 8, 15.0))
        for words, stop, anchor in zip(
            (label, score, outcome), stops[:3], (None, "end", None), strict=True
        ):
            if words:
                place = {"x": x + stop, "y": y + 11.5, "text-anchor": anchor}
                yield write_element("text", place, escape_html(words))


def _write_foot(
    explanation: "Explanation", styles: set[str], width: float, y: float
) -> tuple[list[str], float]:
    """Write the meaning of the picture's lines, and the counts; return them and where they end."""
    elements = []
    x = _MARGIN
    for style, words in _WORDS.items():
        if style not in styles:
            continue
        if x > _MARGIN and x + _measure_entry(words) > width:
            x, y = _MARGIN, y + _LINE
        elements.append(write_element("path", {"class": f"box {style}", "d": f"M{x:g} {y:g}h30"}))
        elements.append(write_element("text", {"class": "muted", "x": x + 36, "y": y + 4}, words))
        x += _measure_entry(words)
    y += 8
    for counts in explanation.describe_counts():
        for line in wrap(counts, int((width - 2 * _MARGIN) / _measure("x"))):
            y += _LINE
            place = {"class": "muted", "x": _MARGIN, "y": y}
            elements.append(write_element("text", place, escape_html(line)))
    return elements, y + 14


def _measure_entry(words: str) -> float:
    return 52 + _measure(words)
