"""The verbs evaluate, evaluate_many and explain."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Unpack

from germane.boxes.dialect_table import resolve_measures
from germane.boxes.measures import BoxMeasures, parse_measures
from germane.boxes.opening import BoxOptions, TruthSide, open_boxes, open_truths, read_options
from germane.boxes.result import Result, Results
from germane.boxes.summary import list_summary
from germane.errors import InputError, clip

if TYPE_CHECKING:
    from germane.boxes.explanation import Explanation
    from germane.boxes.options import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect


def evaluate(
    truth: "TruthSource",
    detections: "DetectionSource",
    measures: "BoxMeasures | None" = None,
    *,
    dialect: "str | Dialect | None" = None,
    name: str | None = None,
    **options: Unpack["Options"],
) -> Result:
    """Match detections with annotated boxes and compute measures.

    docs/sources.md lists the sources of boxes. ``box_format`` (xywh, xyxy, cxcywh), ``coordinates``
    (pixels, relative) and ``input_format`` (coco, voc, yolo, padilla, images, table) say how both
    sides are read, or with ``{"truth": …}`` one of them. ``columns``
    names columns of frames. ``images`` lists all images, with sizes if they are known;
    ``class_names`` names classes that are numbers. Raises InputError, with the file and the
    annotation.

    >>> truth = {
    ...     "images": [{"id": 1}],
    ...     "categories": [{"id": 1, "name": "cat"}],
    ...     "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40],
    ...     "area": 1600}],
    ... }
    >>> found = [{"image_id": 1, "category_id": 1, "bbox": [10, 12, 40, 40], "score": 0.9}]
    >>> round(germane.boxes.evaluate(truth, found)["AP"].mean, 3)
    0.9
    >>> list(germane.boxes.evaluate(truth, found, dialect="ultralytics"))
    ['P', 'R', 'mAP50', 'mAP50-95']

    ``dialect`` evaluates as another tool does, with the tool's names. Conventions that you give
    override the dialect's.

    Warns with GermaneWarning of problems that can distort your results, such as boxes in another
    format or scores that are turned; ``findings`` of the result lists them, too. ``check`` finds
    more, with places.
    """
    return _evaluate(truth, detections, measures, name, read_options(options, dialect))


def _evaluate(
    truth: "TruthSource | TruthSide",
    detections: "DetectionSource",
    measures: "BoxMeasures | None",
    name: str | None,
    options: BoxOptions,
) -> Result:
    choices, tool = options.conventions, options.dialect
    if tool is None:
        measures = list_summary(choices.overlap) if measures is None else measures
        shortened = (measure.shorten(choices) for measure in parse_measures(measures))
        named = {str(measure): measure for measure in shortened}
    else:
        named = resolve_measures(measures, tool, choices)
    truths, predictions, problems = open_boxes(truth, detections, options, name, named.values())
    return Result(
        predictions.name, named, truths, predictions, choices, dialect=tool, findings=problems
    )


def explain(
    truth: "TruthSource",
    detections: "DetectionSource",
    measure: "BoxMeasures" = "AP50",
    *,
    image: Hashable | None = None,
    label: Hashable | None = None,
    dialect: "str | Dialect | None" = None,
    name: str | None = None,
    **options: Unpack["Options"],
) -> "Explanation":
    """Explain the outcome of every detection of an image, a class, or a class in an image.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52]] * 2, "labels": [1, 1], "scores": [0.9, 0.8]}]
    >>> [str(row) for row in germane.boxes.explain(truth, found, image=0).rows]
    ['true', 'duplicate of 1']

    A detection is true, false (a duplicate, a low overlap, another class, background), ignored or
    dropped. Truths without a detection are missed. A class also has ranks, precision, recall and
    terms. The measure has one threshold of overlap, such as ``AP50`` or ``R75``. The options are
    those of ``evaluate``. Raises NotFoundError for an image or class that the truth does not list,
    MeasureError for several thresholds, and the errors of ``evaluate``.
    """
    from germane.boxes.outcomes import explain_result

    result = evaluate(truth, detections, measure, dialect=dialect, name=name, **options)
    return explain_result(result, image, label)


def evaluate_many(
    truth: "TruthSource",
    detections: "Mapping[str, DetectionSource]",
    measures: "BoxMeasures | None" = None,
    *,
    dialect: "str | Dialect | None" = None,
    **options: Unpack["Options"],
) -> Results:
    """Evaluate several detectors on the same truths.

    ``detections`` maps each detector's name to its detections; the options are those of
    ``evaluate``. The result maps names to ``Result`` and prints as one table.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.evaluate_many(truth, {"one": found}, "AP50")["one"]["AP50"].mean
    1.0
    """
    if not isinstance(detections, Mapping) or not detections:
        raise InputError(f"detections are a mapping of name to detections; got {clip(detections)}")
    box_options = read_options(options, dialect)
    side = open_truths(truth, box_options.reading)
    named = {str(name): source for name, source in detections.items()}
    return Results(
        {
            name: _evaluate(side, source, measures, name, box_options)
            for name, source in named.items()
        }
    )
