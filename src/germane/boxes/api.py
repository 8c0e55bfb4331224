"""The function evaluate_boxes, and the opening of truths and detections of every kind."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from germane.boxes.checkup import open_boxes
from germane.boxes.conventions import Conventions, make_conventions
from germane.boxes.data import Detections, Truths
from germane.boxes.dialects import resolve_box_dialect, resolve_measures
from germane.boxes.measures import BoxMeasures, parse_measures
from germane.boxes.reading import Reading, take_reading
from germane.boxes.result import BoxResult, BoxResults
from germane.boxes.sources import open_truths
from germane.boxes.summary import COCO_SUMMARY
from germane.core.finding import warn
from germane.errors import InputError, clip, list_some, suggest
from germane.output.formatting import write_count

if TYPE_CHECKING:
    from germane.boxes.explanation import BoxExplanation
    from germane.dialects.dialect import Dialect


def evaluate_boxes(
    truth: Any,
    detections: Any,
    measures: "BoxMeasures | None" = None,
    *,
    dialect: "str | Dialect | None" = None,
    name: str | None = None,
    box_format: Any = None,
    coordinates: Any = None,
    input_format: Any = None,
    columns: Mapping[str, Any] | None = None,
    images: Any = None,
    class_names: Any = None,
    **conventions: Any,
) -> BoxResult:
    """Match detections with annotated boxes and compute measures.

    docs/sources.md lists the sources of boxes. ``box_format`` (xywh, xyxy, cxcywh), ``coordinates``
    (pixels, relative) and ``input_format`` (coco, voc, yolo, padilla, images, table) say how both sides are
    read, or with ``{"truth": …}`` one of them. ``columns``
    names columns of frames. ``images`` lists all images, with sizes if they are known; ``class_names``
    names classes that are numbers. Raises InputError, with the file and the annotation.

    >>> truth = {
    ...     "images": [{"id": 1}],
    ...     "categories": [{"id": 1, "name": "cat"}],
    ...     "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "area": 1600}],
    ... }
    >>> found = [{"image_id": 1, "category_id": 1, "bbox": [10, 12, 40, 40], "score": 0.9}]
    >>> round(germane.evaluate_boxes(truth, found)["AP"].mean, 3)
    0.9
    >>> list(germane.evaluate_boxes(truth, found, dialect="ultralytics"))
    ['P', 'R', 'mAP50', 'mAP50-95']

    ``dialect`` evaluates as another tool does, with the tool's names. Conventions that you give override
    the dialect's.
    """
    tool = None if dialect is None else resolve_box_dialect(dialect)
    choices = make_conventions({**(tool.choices if tool else {}), **conventions})
    reading = Reading(box_format, coordinates, input_format, columns, images, class_names)
    truths, found, doubts = open_boxes(truth, detections, reading, name)
    refuse_unknown(found, truths, choices)
    if tool is None:
        measures = COCO_SUMMARY if measures is None else measures
        asked = {str(one): one for one in parse_measures(measures)}
    else:
        asked = resolve_measures(measures, tool, choices)
    warn(found.name, doubts)
    return BoxResult(found.name, asked, truths, found, choices, dialect=tool, findings=doubts)


def explain_boxes(
    truth: Any,
    detections: Any,
    measure: "BoxMeasures" = "AP50",
    *,
    image: Hashable | None = None,
    label: Hashable | None = None,
    **options: Any,
) -> "BoxExplanation":
    """Explain the outcome of every detection of one image, of one class, or of one class in one image.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52]] * 2, "labels": [1, 1], "scores": [0.9, 0.8]}]
    >>> [str(row) for row in germane.explain_boxes(truth, found, image=0).rows]
    ['true', 'duplicate of 1']

    A detection is true, false (a duplicate, a low overlap, another class, background), ignored or dropped.
    Truths without a detection are missed. A class also has ranks, precision, recall and terms. The measure
    has one threshold of overlap, such as ``AP50`` or ``R75``. ``options`` are the other arguments of ``evaluate_boxes``.
    Raises NotFoundError for an image or class that the truth does not list, MeasureError for several
    thresholds, and the errors of ``evaluate_boxes``.
    """
    from germane.boxes.outcomes import explain_result

    return explain_result(evaluate_boxes(truth, detections, measure, **options), image, label)


def evaluate_many_boxes(
    truth: Any,
    detections: Mapping[str, Any],
    measures: "BoxMeasures | None" = None,
    **options: Any,
) -> BoxResults:
    """Evaluate several detectors on the same truths.

    ``detections`` maps each detector's name to its detections; the other arguments are those of
    ``evaluate_boxes``. The result maps names to ``BoxResult`` and prints as one table.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> germane.evaluate_many_boxes(truth, {"one": found}, "AP50")["one"]["AP50"].mean
    1.0
    """
    if not isinstance(detections, Mapping) or not detections:
        raise InputError(f"detections are a mapping of name to detections; got {clip(detections)}")
    truths = open_truths(truth, take_reading(options)[0])
    return BoxResults(
        {
            str(name): evaluate_boxes(truths, found, measures, name=str(name), **options)
            for name, found in detections.items()
        }
    )


def refuse_unknown(detections: Detections, truths: Truths, choices: Conventions) -> None:
    """Refuse detections of classes that the truths do not list, unless the conventions leave them out."""
    if detections.unknown and choices.unknown == "error" and choices.classes == "each":
        odd = detections.unknown[0]
        near = suggest(str(odd), truths.class_names)
        numbered = "; class_names= names classes that are numbers" * isinstance(odd, int)
        raise InputError(
            f"{detections.name}: {write_count(len(detections.unknown), 'class is', 'classes are')} not in "
            f"{truths.where}: {list_some(detections.unknown)}. Its classes are {list_some(truths.class_names)}."
            f"{near} unknown=ignore leaves such detections out{numbered}."
        )
