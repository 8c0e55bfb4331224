"""Pictures of a report: curves of classes, confusion matrices, photographs of the worst images."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.boxes.box_measures import View
from germane.boxes.box_result import Result, Results
from germane.boxes.confusion_matrix import Confusion, count_confusions
from germane.boxes.outcomes import explain_result
from germane.boxes.photographs import SIDE, find_photographs, has_pillow, make_thumbnail
from germane.boxes.picture import draw_on_photograph, write_style
from germane.boxes.worst_images import ImageCost, rank_images
from germane.core.ragged import Floats, Ints
from germane.errors import clip
from germane.measures.average import read_curves
from germane.output.tables import format_number, write_count
from germane.readers.files.formats import is_path
from germane.reports.sections import (
    draw_chart,
    draw_swatch,
    isolate_text,
    make_scrollable,
    write_table,
)

CLASSES, MATRICES, PHOTOGRAPHED = 9, 3, 3  # classes, and detectors, that are drawn
PHOTOGRAPHS = 12  # of one detector; of several, fewer of each
_CONFUSIONS, _IMAGES = 8, 6  # rows of a table, and images of each
Anchors: TypeAlias = Mapping[tuple[str, int], str]
"""The place in the page of each photograph, by detector and image."""
_RECALLS = np.linspace(0, 1, 11)


class PrecisionCurve(NamedTuple):
    """The best precision at 11 recalls, without a band."""

    recall: Floats
    precision: Floats
    low: Floats
    high: Floats
    has_band: bool = False


def make_curve(precision: Floats) -> PrecisionCurve:
    """Make a curve of the best precision at 11 recalls."""
    return PrecisionCurve(_RECALLS, precision, precision, precision)


def read_class_curves(result: Result) -> Floats:
    """Read the best precision at 11 recalls of each class at the lowest threshold (11, K)."""
    lists = result.lists
    curves: Floats = lists.split(read_curves(lists.rank(View(result.depths[-1])), 11))[:, 0, 0]
    return curves


def write_class_curves(results: Results, order: Ints) -> Iterator[str]:
    """Draw the curves of all detectors in each class, in this order of classes."""
    first = next(iter(results.values()))
    sought = [k for k in order.tolist() if first.lists.relevant[0, k] > 0]
    if len(sought) < 2:
        return
    curves = {name: read_class_curves(result) for name, result in results.items()}
    shown = sought[:CLASSES]
    left = f", of the first {len(shown)} of {len(sought)} classes" * (len(shown) < len(sought))
    yield f"<p>The best precision at 11 recalls or beyond{left}, in the order of the table.</p>"
    if len(results) > 1:
        signs = (f"<li>{draw_swatch(r)} {isolate_text(name)}</li>" for r, name in enumerate(curves))
        yield f'<ul class="legend">{"".join(signs)}</ul>'
    yield '<div class="tiles">'
    for k in shown:
        drawing = draw_chart(
            {name: make_curve(values[:, k]) for name, values in curves.items()}, "precision"
        )
        yield f"<figure><h3>{isolate_text(first.classes[k])}</h3>{drawing}</figure>"
    yield "</div>"


def write_confusions(results: Results, photographed: Anchors) -> Iterator[str]:
    """Draw the confusion matrices of the first detectors, and list their largest confusions."""
    first = next(iter(results.values()))
    if len(first.classes) < 2 or first.conventions.classes == "merged":
        return
    shown = dict(list(results.items())[:MATRICES])
    matrices = {name: count_confusions(result) for name, result in shown.items()}
    if len(shown) < len(results):
        yield f"<p>Those of the first {len(shown)} of {len(results)} detectors.</p>"
    yield '<div class="tiles">'
    for matrix in matrices.values():
        yield f"<figure>{matrix.svg()}</figure>"
    yield "</div>"
    for name, matrix in matrices.items():
        rows = list(_list_confusions(name, matrix, photographed))
        if rows:
            yield f"<h3>The largest confusions of {isolate_text(name)}</h3>"
            columns = ("truth", "detection", "count", "images")
            yield from make_scrollable(_write_confusions(columns, rows))


def _list_confusions(
    name: str, matrix: Confusion, photographed: Anchors
) -> Iterator[tuple[str, ...]]:
    """List the largest counts of two classes or background, with links to their photographs."""
    places = {str(image): place for place, image in enumerate(matrix.truths.images)}
    for truth, detection, count, _ in matrix.largest(_CONFUSIONS).rows:
        images = matrix.cell(truth, detection).images
        links = []
        for image in images[:_IMAGES]:
            target = photographed.get((name, places[str(image)]))
            text = isolate_text(clip(image) if not isinstance(image, (str, int)) else str(image))
            links.append(text if target is None else f'<a href="#{target}">{text}</a>')
        more = f" … {len(images) - _IMAGES} more" * (len(images) > _IMAGES)
        yield isolate_text(truth), isolate_text(detection), count, ", ".join(links) + more


def _write_confusions(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Write a table whose cells are markup."""
    empty = [["", "", "", ""]]
    head, *_ = write_table(columns, empty, (1, 3))
    yield head.partition("<tbody>")[0] + "<tbody>"
    for truth, detection, count, images in rows:
        cells = (("t", truth), ("t", detection), ("", count), ("t", images))
        written = (f'<td class="{kind}">{cell}</td>' for kind, cell in cells)
        yield f"<tr>{''.join(written)}</tr>"
    yield "</tbody></table>"


# --- Photographs ----------------------------------------------------------------------------------


class Worst(NamedTuple):
    """A detector's AP at one threshold, the images that take most from it, and photographs."""

    result: Result
    title: str
    images: list[tuple[int, ImageCost]]
    costly: int
    """images with errors that take from the AP and have a photograph"""
    raising: int
    """images with errors without which the AP would be lower"""
    of: int


def choose_worst(results: Mapping[str, Result], paths: Mapping[int, str]) -> dict[str, Worst]:
    """Choose the images of each of the first detectors that take most from its AP."""
    shown = dict(list(results.items())[:PHOTOGRAPHED])
    most = PHOTOGRAPHS // len(shown) if shown else 0
    chosen = {}
    for name, result in shown.items():
        ranked = rank_images(result)
        places = {image: place for place, image in enumerate(result.truths.images)}
        listed = [
            (places[row.image], row)
            for row in ranked.rows
            if places[row.image] in paths and row.missed + row.false
        ]
        costly = [(place, row) for place, row in listed if round(row.cost, 12) >= 0]
        raising = len(listed) - len(costly)
        chosen[name] = Worst(
            result, ranked.title, costly[:most], len(costly), raising, ranked.images
        )
    return chosen


def name_anchors(worst: Mapping[str, Worst]) -> Anchors:
    """Name the places of the page that have the photographs of a detector's images."""
    return {
        (name, place): f"photo-{d}-{place}"
        for d, (name, chosen) in enumerate(worst.items())
        for place, _ in chosen.images
    }


def write_photographs(
    worst: Mapping[str, Worst], paths: Mapping[int, str], detectors: int
) -> Iterator[str]:
    """Write the worst images of each detector, with boxes on their photographs."""
    if not any(chosen.images for chosen in worst.values()):
        return
    anchors = name_anchors(worst)
    yield f"<style>{write_style()}</style>"
    yield (
        "<p>Missed truths are red, false detections orange, true ones blue; truths that were found"
        f" are dotted. Photographs are at most {SIDE} pixels wide or high"
        + (f", those of the first {len(worst)} of {detectors} detectors" * (len(worst) < detectors))
        + ".</p>"
    )
    for name, chosen in worst.items():
        title = isolate_text(chosen.title)
        yield (
            f"<h3>{isolate_text(name)}: the {write_count(len(chosen.images), 'image')} of"
            f" {chosen.of:,} that {'takes' if len(chosen.images) == 1 else 'take'} most from"
            f" {title}</h3>"
        )
        yield f"<p>{_write_left_out(chosen, title)}</p>"
        yield '<div class="tiles">'
        for place, row in chosen.images:
            yield from _write_photograph(chosen.result, place, row, paths, anchors[name, place])
        yield "</div>"


def _write_left_out(chosen: Worst, title: str) -> str:
    """Say how many images with photographs and errors are not shown."""
    shown = f"Shown: {len(chosen.images)} of {write_count(chosen.costly, 'image')} with errors"
    raised = f"{write_count(chosen.raising, 'more image')} with errors"
    return f"{shown} that cost {title}" + (
        f"; {raised} {'is' if chosen.raising == 1 else 'are'} left out, without which {title} would"
        " be lower."
        if chosen.raising
        else "."
    )


def _write_photograph(
    result: Result, place: int, row: ImageCost, paths: Mapping[int, str], anchor: str
) -> Iterator[str]:
    sizes = result.truths.sizes
    size = None if sizes is None or np.isnan(sizes[place]).any() else sizes[place].tolist()
    photograph = make_thumbnail(paths[place], size)
    words = (
        f"{write_count(row.truths, 'truth')}, {row.missed} missed; {row.false} false; cost"
        f" {format_number(row.cost, 4, sign='+')}"
    )
    if photograph is None:
        name = isolate_text(paths[place])
        yield f"<figure><p>{name} is no picture that can be shown.</p></figure>"
        return
    explanation = explain_result(result, row.image)
    area = (photograph.width, photograph.height) if size is None else (size[0], size[1])
    drawing = draw_on_photograph(
        explanation, photograph.address, area, f"Image {row.image}: {words}"
    )
    caption = f"<b>{isolate_text(str(row.image))}</b> {words}"
    yield f'<figure id="{anchor}">{drawing}<figcaption>{caption}</figcaption></figure>'


def find_pictures(images: Any, result: Result) -> tuple[dict[int, str], str]:
    """Find the photographs in a folder, and say why there are none."""
    paths = find_photographs(images, result.truths)
    if not paths and is_path(images) and os.path.isdir(images):
        named = next(iter(result.truths.files or result.truths.images), None)
        example = "" if named is None else f", such as {clip(named)}"
        return {}, f"No picture in the folder {clip(images)} is named like an image{example}."
    if not paths:
        return {}, ""
    if not has_pillow():
        return {}, "Photographs need Pillow: pip install 'germane[plot]'."
    return paths, ""
