"""The verb animate: an explanation as a GIF, an SVG or an HTML page."""

import io
import math
import os
import warnings
from collections.abc import Iterable, Iterator
from importlib import resources
from itertools import accumulate, product
from typing import TYPE_CHECKING, Any, Literal

from germane.errors import InputError, clip, list_choices
from germane.explanation.explanation import Explanation
from germane.output.tables import escape_html
from germane.presentation import writing
from germane.presentation.pictures import (
    COLORS,
    PAPERS,
    Paper,
    define_colors,
    write_content_policy,
    write_element,
    write_points,
)
from germane.teaching.drawing import BUTTON, PITCH, Drawing, Sheet, arrange_narrow, arrange_wide
from germane.teaching.scenes import STYLES, Box, Disc, Mark, Panel, Path, Style, Text

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from PIL.Image import Image

__all__ = [
    "FORMATS",
    "animate",
    "check",
]


DPI = 100
STEPS = 5  # from one color to another at the edges of letters
SIDES: dict[str, Literal["left", "center", "right"]] = {
    "start": "left",
    "middle": "center",
    "end": "right",
}
GIF_FONTS = {"sans": ["DejaVu Sans", "sans-serif"], "mono": ["DejaVu Sans Mono", "monospace"]}


def write_gif(drawing: Drawing) -> bytes:
    """Write the drawing as an animated GIF, each frame with its duration."""
    from PIL import Image

    images = _draw_frames(arrange_wide(drawing).flat, len(drawing.frames))
    palette = _make_palette()  # one for all frames, so that a mark that stays keeps its color
    undithered = Image.Dither.NONE
    first, *rest = (image.quantize(palette=palette, dither=undithered) for image in images)
    out = io.BytesIO()
    first.save(
        out,
        format="GIF",
        save_all=True,
        append_images=rest,
        duration=[round(frame.seconds * 1000) for frame in drawing.frames],
        loop=0,
        comment=drawing.title.encode("ascii", "backslashreplace")[:250],
    )
    return out.getvalue()


def _draw_frames(panel: Panel, frames: int) -> list["Image"]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(panel.width / DPI, panel.height / DPI), dpi=DPI)
    canvas: Any = FigureCanvasAgg(figure)  # Matplotlib gives its methods no types
    axes = figure.add_axes((0, 0, 1, 1), frameon=False, xticks=[], yticks=[])
    axes.set(xlim=(0, panel.width), ylim=(panel.height, 0), autoscale_on=False)
    artists = [_make_artist(mark) for mark in panel.marks]
    for order, artist in enumerate(artists):
        artist.set_zorder(order)
        axes.add_artist(artist)
    images = []
    with warnings.catch_warnings():  # a character that no font has is drawn as a box
        warnings.filterwarnings("ignore", message="Glyph")
        for frame in range(frames):
            for mark, artist in zip(panel.marks, artists, strict=True):
                artist.set_visible(mark.is_seen(frame))
            canvas.draw()
            drawn = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))
            images.append(drawn.convert("RGB"))
    return images


def _make_artist(mark: Mark) -> "Artist":
    """Make Matplotlib's artist of a mark, in pixels of the panel and on light paper."""
    from matplotlib import lines, patches, text

    style = STYLES[mark.style]
    fill, stroke = (COLORS[name][0] if name else "none" for name in (style.fill, style.stroke))
    paint: dict[str, Any] = {
        "facecolor": fill, "edgecolor": stroke, "linewidth": style.thick * 72 / DPI,
    }  # fmt: skip
    match mark:
        case Text():
            return text.Text(
                mark.x, mark.y, mark.text, color=fill, fontsize=mark.size * 72 / DPI,
                fontfamily=GIF_FONTS[style.font], fontweight=style.weight, rotation=mark.turn,
                rotation_mode="anchor", verticalalignment="baseline",
                horizontalalignment=SIDES[mark.anchor],
                parse_math=False, usetex=False,
            )  # fmt: skip
        case Path() if style.fill:
            return patches.Polygon(mark.points, closed=True, **paint)
        case Path():
            xs, ys = zip(*mark.points, strict=True)
            dots: Any = (0, [float(d) for d in style.dots.split()]) if style.dots else "solid"
            return lines.Line2D(xs, ys, color=stroke, linewidth=paint["linewidth"], linestyle=dots)
        case Disc():
            return patches.Circle((mark.x, mark.y), mark.radius, **paint)
        case Box() if mark.radius:
            shape = f"round,pad=0,rounding_size={min(mark.radius, mark.width / 2)}"
            return patches.FancyBboxPatch(
                (mark.x, mark.y), mark.width, mark.height, boxstyle=shape, **paint
            )
        case Box():
            return patches.Rectangle((mark.x, mark.y), mark.width, mark.height, **paint)
    raise TypeError(mark)


def _make_palette() -> "Image":
    """Make a palette of light paper's colors, and of the shades between those that can touch."""
    from PIL import Image

    shades = {name: bytes.fromhex(light[1:]) for name, (light, _) in COLORS.items()}
    papers = [shades.pop(name) for name in ("paper", "band", "track")]
    colors = [*papers, *shades.values()]
    shades.pop("grid")  # so near to paper that Pillow would take the shades between for paper
    for paper, shade, part in product(papers, shades.values(), range(1, STEPS)):
        channels = zip(paper, shade, strict=True)
        colors.append(bytes(round(a + (b - a) * part / STEPS) for a, b in channels))
    image = Image.new("P", (1, 1))
    image.putpalette(b"".join(colors))
    return image


# --- SVG that moves by CSS ------------------------------------------------------------------------
#
# The drawing for browsers: one SVG file that plays by itself, or an HTML page with a slider.

FONTS = {
    "sans": "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
    "mono": "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
}
ICONS = {  # in a square of 24
    "start": "M5 5h3v14h-3z M19 5v14l-10 -7z",
    "back": "M16.5 6.5l-1.8 -1.8l-7.3 7.3l7.3 7.3l1.8 -1.8l-5.5 -5.5z",
    "pause": "M6 5h4v14h-4z M14 5h4v14h-4z",
    "play": "M7 4v16l13 -8z",
    "forward": "M7.5 6.5l1.8 -1.8l7.3 7.3l-7.3 7.3l-1.8 -1.8l5.5 -5.5z",
}
LABELS = {
    "start": "To the start",
    "back": "One step back",
    "play": "Play",
    "forward": "One step forward",
}
STATES = {"play": ("when-paused", "Play"), "pause": ("when-playing", "Pause")}  # of one button


def write_svg(drawing: Drawing) -> str:
    """Write the whole drawing as one file: its style, its marks, its buttons and its script.

    The file holds the drawing for wide windows and for narrow ones; the script shows the one that
    fits. Where no script runs, as in an image on a page, rules of the style play the drawing.
    """
    sheets = {"wide": arrange_wide(drawing), "narrow": arrange_narrow(drawing)}
    last, label = len(drawing.frames) - 1, _describe(drawing)
    moves = (  # of the panels, in a narrow window
        f".germane.small .{name}-panel {{ transform: translate({x:g}px, {y:g}px); }}\n"
        for name, (_, x, y) in sheets["narrow"].panels.items()
    )
    style = _write_style("svg.css") + "".join(moves) + _write_motion(drawing, sheets.values())
    root = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "germane",
        "role": "img",  # of a picture; the script makes it a group of the picture and its buttons
        **_write_size(sheets["wide"]),
        **{f"data-{name}": _write_box(sheet) for name, sheet in sheets.items()},
        "data-seconds": _list_seconds(drawing),
    }
    pictures = [
        write_element("g", {"class": name}, *_write_marks(sheet.around, last))
        for name, sheet in sheets.items()
    ]
    for name, (panel, x, y) in sheets["wide"].panels.items():
        place = {"class": f"{name}-panel", "transform": f"translate({x:g} {y:g})"}
        pictures.append(write_element("g", place, *_write_marks(panel.marks, last)))
    words = _write_words(drawing, "text")
    return (
        write_element(
            "svg",
            root,
            write_element("title", {}, escape_html(drawing.title)),
            write_element("desc", {}, escape_html(label)),
            write_element("style", {}, style),
            write_element("g", {"role": "img", "aria-label": label}, *pictures),
            *(
                write_element("g", {"class": name}, _write_buttons(sheet))
                for name, sheet in sheets.items()
            ),
            write_element("g", {"display": "none"}, *words),
            write_element("text", {"class": "unseen", "data-live": "", "aria-live": "polite"}, ""),
            write_element("script", {}, f"<![CDATA[\n{read_file('player.js')}]]>"),
        )
        + "\n"
    )


def _write_motion(drawing: Drawing, sheets: Iterable[Sheet]) -> str:
    """Write the rules that play the drawing in a loop until a script takes over.

    The rules apply to the root of a file only: two drawings inside one page would share their
    names.
    """
    seconds = [frame.seconds for frame in drawing.frames]
    total = math.fsum(seconds)
    starts = [f"{100 * start / total:.5g}%" for start in accumulate(seconds, initial=0.0)]
    rules = []
    for seen in sorted({_write_seen(mark) for sheet in sheets for mark in sheet.flat.marks} - {""}):
        first, *last = map(int, seen.split())
        steps = "0% { visibility: hidden; } " if first else ""
        steps += f"{starts[first]} {{ visibility: visible; }}"
        if last and last[0] < len(seconds) - 1:
            steps += f" {starts[last[0] + 1]} {{ visibility: hidden; }}"
        name = f"seen-{seen.replace(' ', '-')}"
        shown = f':root.germane:not(.live) [data-seen="{seen}"]'
        rules.append(f"@keyframes {name} {{ {steps} }}")
        rules.append(f"{shown} {{ animation: {name} {total:g}s step-end infinite; }}")
    inside = "\n".join(rules)
    return f"@media (prefers-reduced-motion: no-preference) {{\n{inside}\n}}\n"


def _write_buttons(sheet: Sheet) -> str:
    def write_icon(name: str) -> str:
        return write_element("path", {"transform": "translate(8 6)", "d": ICONS[name]})

    buttons = []
    for i, (action, label) in enumerate(LABELS.items()):
        icons = [write_icon(action)]
        if action == "play":
            icons = [
                write_element("g", {"class": state}, write_icon(name))
                for name, (state, _) in STATES.items()
            ]
        button = {
            "data-do": action, "role": "button", "tabindex": 0, "aria-label": label,
            "transform": f"translate({i * PITCH:g} 0)",
        }  # fmt: skip
        face = write_element("rect", {"width": BUTTON, "height": 36, "rx": 7})
        buttons.append(write_element("g", button, write_element("title", {}, label), face, *icons))
    count = {
        "class": "muted", "x": 178, "y": 54, "font-size": 12.5, "text-anchor": "end",
        "data-count": "",
    }  # fmt: skip
    x, y, scale = sheet.buttons
    place = f"translate({x:g} {y:g}) scale({scale:g})"
    return write_element(
        "g",
        {"class": "controls", "transform": place},
        *buttons,
        write_element("text", count, ""),
    )


# --- The page ---------------------------------------------------------------------------------


def write_page(drawing: Drawing) -> str:
    """Write one HTML file that loads nothing: buttons, a slider, and every step in words."""
    last, title = len(drawing.frames) - 1, escape_html(drawing.title)
    script = f"\n{read_file('player.js')}"
    main = {"class": "germane", "data-seconds": _list_seconds(drawing)}
    sums = _write_panel(drawing.sums, last, _describe(drawing))
    panels = (
        (drawing.ranking.width, _write_panel(drawing.ranking, last, "The ranking.")),
        (
            drawing.curve.width,
            _write_panel(drawing.curve, last, "The precision–recall curve.")
            + write_element("div", {"class": "sums"}, sums),
        ),
    )
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{write_content_policy(script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        write_element("title", {}, title),
        write_element("style", {}, _write_style("page.css")),
    ]
    body = [
        write_element("h1", {}, title),
        *(write_element("p", {}, escape_html(line)) for line in drawing.definitions),
        write_element("p", {"class": "facts"}, escape_html(drawing.facts)),
        _write_controls(last),
        write_element(
            "div",
            {"class": "panels"},
            *(write_element("div", {"style": _give_room(width)}, panel) for width, panel in panels),
        ),
        "<details><summary>Every step in words</summary><ol start='0'>",
        *_write_words(drawing, "li"),
        "</ol></details>",
        write_element("script", {}, script),
    ]
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        write_element("head", {}, *head),
        write_element("body", {}, write_element("main", main, *body)),
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _give_room(width: float) -> str:
    """Write the style of a panel: two panels side by side grow alike, up to a quarter."""
    return f"flex: {width:.0f} 1 {width:.0f}px; max-width: min(100%, {1.25 * width:.0f}px)"


def _write_controls(last: int) -> str:
    def write_icon(name: str) -> str:
        icon = write_element("path", {"d": ICONS[name]})
        return write_element("svg", {"viewBox": "0 0 24 24", "aria-hidden": "true"}, icon)

    buttons = []
    for action, label in LABELS.items():
        button = {"type": "button", "data-do": action, "aria-label": label}
        if action == "play":
            face = "".join(
                f'<span class="{state}"><span class="named">{write_icon(name)}{word}</span></span>'
                for name, (state, word) in STATES.items()
            )
        else:
            button["title"], face = label, write_icon(action)
        buttons.append(write_element("button", button, face))
    slider = f'<input type="range" min="0" max="{last}" step="1" value="{last}" aria-label="Step">'
    count = write_element("span", {"class": "count", "data-count": ""}, "")
    row = write_element("div", {"class": "row"}, *buttons, slider, count)
    words = write_element("p", {"class": "said", "data-live": "", "aria-live": "polite"}, "")
    return write_element("div", {"class": "controls"}, row, words)


def _write_panel(panel: Panel, last: int, label: str) -> str:
    attributes = {"role": "img", "aria-label": label, **_write_size(panel)}
    return write_element("svg", attributes, *_write_marks(panel.marks, last))


# --- Times and texts that all formats share -------------------------------------------------------


def read_file(name: str) -> str:
    """Read a script or a style sheet of this folder."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _describe(drawing: Drawing) -> str:
    """Describe in words the last frame of the drawing."""
    sentences = (drawing.title, drawing.frames[-1].text, drawing.facts, *drawing.definitions)
    return " ".join(f"{sentence}." for sentence in sentences)


def _write_words(drawing: Drawing, element: str) -> Iterator[str]:
    for frame in drawing.frames:
        yield write_element(element, {"data-words": ""}, escape_html(frame.text))


def _write_marks(marks: Iterable[Mark], last: int) -> Iterator[str]:
    """Write each mark as an element; those that the last frame does not show are hidden."""
    for mark in marks:
        seen = _write_seen(mark)
        kind = mark.style if mark.is_seen(last) else f"{mark.style} off"
        attributes: dict[str, object] = {"class": kind}
        yield _write_mark(mark, attributes | ({"data-seen": seen} if seen else {}))


def _write_seen(mark: Mark) -> str:
    """Write the first and the last frame of a mark; nothing for a mark that is always seen."""
    if mark.last is not None:
        return f"{mark.first} {mark.last}"
    return f"{mark.first}" if mark.first else ""


def _write_mark(mark: Mark, attributes: dict[str, object]) -> str:
    match mark:
        case Text():
            attributes |= {"x": mark.x, "y": mark.y, "font-size": float(mark.size)}
            if mark.anchor != "start":
                attributes["text-anchor"] = mark.anchor
            if mark.turn:
                attributes["transform"] = f"rotate({-mark.turn:g} {mark.x:.5g} {mark.y:.5g})"
            return write_element("text", attributes, escape_html(mark.text))
        case Path():
            return write_element("polyline", {**attributes, "points": write_points(mark.points)})
        case Disc():
            place = {"cx": mark.x, "cy": mark.y, "r": mark.radius}
            return write_element("circle", attributes | place)
        case Box():
            place = {"x": mark.x, "y": mark.y, "width": mark.width, "height": mark.height}
            return write_element("rect", {**attributes, **place, "rx": mark.radius or None})
    raise TypeError(mark)


def _write_size(panel: Panel | Sheet) -> dict[str, object]:
    size = {"width": round(panel.width), "height": round(panel.height)}
    return {**size, "viewBox": _write_box(panel)}


def _write_box(panel: Panel | Sheet) -> str:
    return f"0 0 {panel.width:.0f} {panel.height:.0f}"


def _list_seconds(drawing: Drawing) -> str:
    """List how long each frame is shown."""
    return " ".join(f"{frame.seconds:g}" for frame in drawing.frames)


def _write_style(sheet: str) -> str:
    """Write all rules: the player's, and those of marks, in full for viewers without variables."""
    light = "".join(f".germane .{name} {{ {_write_rule(s)} }}\n" for name, s in STYLES.items())
    dark = "".join(f".germane .{name} {{ {_paint(s, 'dark')} }}\n" for name, s in STYLES.items())
    return f"""
.germane {{ color-scheme: light dark; {define_colors("light")} }}
@media (prefers-color-scheme: dark) {{ .germane {{ {define_colors("dark")} }} }}
{light}@media (prefers-color-scheme: dark) {{
{dark}}}

{read_file("player.css")}
{read_file(sheet)}"""


def _write_rule(style: Style) -> str:
    rule = [_paint(style, "light")]
    if style.stroke:
        rule.append(f"stroke-width: {style.thick:g};")
    if style.dots:
        rule.append(f"stroke-dasharray: {style.dots};")
    if style.fill and not style.stroke:
        rule.append(f"font-family: {FONTS[style.font]}; font-weight: {style.weight};")
    return " ".join(rule)


def _paint(style: Style, paper: Paper) -> str:
    shade = PAPERS.index(paper)
    fill, stroke = (COLORS[name][shade] if name else "none" for name in (style.fill, style.stroke))
    return f"fill: {fill}; stroke: {stroke};"


# --- The verb animate: an explanation as a GIF, an SVG or an HTML page ----------------------------

FORMATS = ("gif", "svg", "html")
MOST = 4  # measures that one drawing has room for


def animate(explanation: Explanation, path: str | os.PathLike[str]) -> None:
    """Write an explanation as an animation: a GIF, an SVG or an HTML page, depending on the suffix.

    >>> import os, tempfile
    >>> explanation = germane.explain([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     germane.animate(explanation, os.path.join(folder, "ap.svg"))
    ...     os.listdir(folder)
    ['ap.svg']

    The animation goes through the ranking from the top. Each hit adds its term to the sum, the
    precision–recall curve grows beside the ranking, and at the end the sum is divided by the norm.
    With several measures, up to four, each has its own sum. SVG and HTML files can be played,
    paused and stepped through, and stand still if the reader prefers reduced motion. A GIF needs
    Matplotlib and Pillow. Raises InputError for an unknown suffix, for more than four measures, and
    for a file that cannot be written.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(f"animate takes what explain returned; got {clip(explanation)}.")
    place = os.fspath(path)
    check(place, measures=len(explanation.readings))
    from germane.teaching.drawing import draw
    from germane.teaching.scenes import cut_frames

    drawing = draw(explanation, cut_frames(explanation))
    suffix = _find_suffix(place)
    if suffix == "gif":
        data = write_gif(drawing)
    else:
        data = (write_svg if suffix == "svg" else write_page)(drawing).encode()
    writing.replace(place, data)


def check(path: str, *, measures: int = 1) -> None:
    """Refuse, before the work is done, a file that ``animate`` could not draw or write."""
    suffix = _find_suffix(path)
    if measures > MOST:
        raise InputError(
            f"an animation has room for {MOST} measures; got {measures}. Explain fewer measures."
        )
    if suffix == "gif":
        from importlib.util import find_spec

        if find_spec("matplotlib") is None or find_spec("PIL") is None:
            raise InputError(
                f"{path}: a GIF needs Matplotlib and Pillow: pip install 'germane[plot]'. SVG and"
                " HTML need neither."
            )
    writing.check(path)


def _find_suffix(path: str) -> str:
    suffix = os.path.splitext(path)[1][1:].lower()
    if suffix not in FORMATS:
        raise InputError(
            f"{path or repr('')}: an animation is a {list_choices(f'.{name}' for name in FORMATS)}"
            " file."
        )
    return suffix
