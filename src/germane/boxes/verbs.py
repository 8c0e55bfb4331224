"""The verbs evaluate, evaluate_many, explain and check, and the opening of their data."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from germane.boxes.box_columns import Columns, make_detections, make_truths
from germane.boxes.box_measures import BoxMeasure, BoxMeasures, parse_measures
from germane.boxes.box_result import Result, Results, list_summary
from germane.boxes.checks.matches import TABLE, find_all
from germane.boxes.checks.sides import BoxData
from germane.boxes.conventions import (
    DEFAULTS,
    READING,
    SELECTING,
    Conventions,
    Reading,
    Shape,
    make_conventions,
    take_reading,
    translate_option,
)
from germane.boxes.detections import Detections, Truths
from germane.boxes.dialect_table import resolve_box_dialect, resolve_measures
from germane.boxes.matching import refuse_unverified
from germane.boxes.selection import Selection, select
from germane.boxes.shapes import refuse_unfit
from germane.boxes.sources import (
    Sheet,
    make_sheet,
    make_sound_sheet,
    name_detections,
    read_detection_columns,
    read_truth_columns,
)
from germane.core.finding import Finding, warn
from germane.dialects.dialect import Dialect
from germane.errors import InputError, PolicyError, clip, list_some, offer, suggest, write_option
from germane.evaluation.checkup import Checkup
from germane.output.tables import write_count

if TYPE_CHECKING:
    from germane.boxes.box_explanation import Explanation
    from germane.boxes.conventions import CheckOptions, DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect


@dataclass(frozen=True, eq=False, repr=False)
class BoxOptions:
    """The options of a verb: reading, and conventions; ``chosen`` ones hold in any dialect."""

    dialect: Dialect | None
    reading: Reading
    conventions: Conventions
    chosen: Mapping[str, Any]


def read_options(
    options: Mapping[str, Any], dialect: str | Dialect | None = None, shape: Shape = "box"
) -> BoxOptions:
    """Read options, with the conventions of a dialect where they say nothing else.

    ``shape`` is what is read where the overlap needs boxes alone.
    """
    tool = None if dialect is None else resolve_box_dialect(dialect)
    reading, chosen = take_reading(options, tool)
    if reading.shape == "box":
        reading = replace(reading, shape=shape)
    conventions = make_conventions({**(tool.choices if tool else {}), **chosen})
    return BoxOptions(tool, reading, conventions, chosen)


@dataclass(frozen=True, eq=False, repr=False)
class TruthSide:
    """Truths, and the sheet of them that checks look at."""

    truths: Truths
    sheet: Sheet
    whole: Truths  # with the images and classes that are left out
    selection: Selection | None = None


def open_truths(truth: Any, reading: Reading) -> TruthSide:
    """Read truths, once for all detectors."""
    if isinstance(truth, TruthSide):
        return truth
    columns = None if isinstance(truth, Truths) else read_truth_columns(truth, reading)
    truths: Truths = truth if columns is None else make_truths(columns)
    selection = select(truths, reading)
    if selection is None:
        return TruthSide(truths, make_sound_sheet(truths, truths, columns), truths)
    chosen = selection.truths
    sheet = make_sound_sheet(chosen, chosen, columns, selection.rows)
    return TruthSide(chosen, sheet, truths, selection)


def open_boxes(
    truth: Any,
    detections: Any,
    options: BoxOptions,
    name: str | None = None,
    measures: Iterable[BoxMeasure] = (),
) -> tuple[Truths, Detections, tuple[Finding, ...]]:
    """Read both sides, truths unless they are open; warn of problems, and return them.

    Raises InputError for classes that the truths do not list, and for missing masks or keypoints.
    """
    side = open_truths(truth, options.reading)
    columns, truths = None, side.truths
    if isinstance(detections, Detections):
        opened = detections
    else:
        columns = read_detection_columns(detections, options.reading, side.whole)
        opened = make_detections(columns, side.whole, name or name_detections(detections))
    rows = None
    if side.selection is not None:
        opened, rows = side.selection.take(opened)
    chosen = options.chosen if options.dialect is None else DEFAULTS
    lowest = {
        str(measure): measure.confidence
        for measure in measures
        if isinstance(measure.confidence, float)
    }
    if (least := options.conventions.confidence) is not None:
        lowest[write_option("confidence", f"{least:g}")] = least
    sheet, unknown = make_sound_sheet(opened, truths, columns, rows), options.conventions.unknown
    data = BoxData(truths, side.sheet, sheet, chosen, lowest, unknown)
    problems = tuple(find_all(data, "warning"))
    _refuse_unknown(opened, truths, options.conventions)
    refuse_unverified(truths, options.conventions)
    refuse_unfit(truths, opened, options.conventions)
    warn(opened.name, problems)
    return truths, opened, problems


def _refuse_unknown(detections: Detections, truths: Truths, choices: Conventions) -> None:
    """Refuse detections of classes that the truths lack, unless conventions leave them out."""
    if not truths.classes:  # there is nothing to find, and no list of classes to be wrong about
        return
    if detections.unknown and choices.unknown == "error" and choices.classes == "each":
        label = detections.unknown[0]
        near = suggest(str(label), truths.class_names)
        numbered = f"; {write_option('class_names')} names classes that are numbers" * isinstance(
            label, int
        )
        raise InputError(
            f"{detections.name}: {write_count(len(detections.unknown), 'class is', 'classes are')}"
            f" not in {truths.where}: {list_some(detections.unknown)}. Its classes are"
            f" {list_some(truths.class_names)}.{near} {write_option('unknown', 'ignore')} leaves"
            f" such detections out{numbered}."
        )


# --- The verbs evaluate, evaluate_many and explain ------------------------------------------------


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

    docs/sources.md lists the sources of boxes. ``box_format`` (xywh, xyxy, cxcywh),
    ``coordinates`` (pixels, relative), ``input_format`` (coco, dota, kitti, voc, yolo, padilla,
    images, table) and ``angles`` (degrees, radians, counterclockwise) say how both sides are
    read; with ``{"truth": …}`` they are about one side. ``columns`` names columns of frames.
    ``images`` lists all images, with sizes if they are known; ``class_names`` names classes that
    are numbers. Raises InputError, with the file and the annotation.

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
    format or reversed scores; ``findings`` of the result lists them, too. ``check`` finds more,
    with places.
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
    """Explain the outcome of every detection, in all images, or in one image or class.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52]] * 2, "labels": [1, 1], "scores": [0.9, 0.8]}]
    >>> [str(row) for row in germane.boxes.explain(truth, found, image=0).rows]
    ['true', 'duplicate of 1']

    A detection is true, false (a duplicate, a low overlap, another class, background), ignored or
    dropped. Truths without a detection are missed; in a table of all detections, they follow the
    detections in ``rows``. A class also has ranks, precision, recall and terms. ``rank_images``
    lists the images that lower the number most. The measure has one threshold of overlap, such
    as ``AP50`` or ``R75``. The options are those of ``evaluate``. Raises NotFoundError for an image
    or class that the truth does not list, MeasureError for several thresholds, and the errors of
    ``evaluate``.
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
        raise InputError(
            f"detections are a mapping from names to detections; got {clip(detections)}. Give"
            " {'detector': detections}, with a name for each detector."
        )
    box_options = read_options(options, dialect)
    side = open_truths(truth, box_options.reading)
    named = {str(name): source for name, source in detections.items()}
    return Results(
        {
            name: _evaluate(side, source, measures, name, box_options)
            for name, source in named.items()
        }
    )


# --- The verb check: problems of truths and detections, without stopping at the first -------------


def check(
    truth: "TruthSource", detections: "DetectionSource", **options: Unpack["CheckOptions"]
) -> Checkup:
    """Check truths and detections for problems that can distort the numbers of evaluate.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[50, 50, 10, 10]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.check(truth, found)[0].what
    'swapped corners'

    Options are ``overlap``, ``confidence``, and those of ``evaluate`` that say how data are
    read. The check does not stop at the first fault. Raises InputError for a file that cannot be
    read at all.
    """
    reading, remaining = take_reading(options)
    for name in [
        *(name for name in SELECTING if options.get(name) is not None),
        *(remaining.keys() - {"overlap", "confidence"}),
    ]:
        raise _make_unknown_error(name)
    choices = make_conventions(remaining)
    truths, truth_sheet = _read_truths(truth, reading)
    if isinstance(detections, Detections):
        sheet = make_sound_sheet(detections, truths)
    else:
        columns = read_detection_columns(detections, reading, truths)
        sheet = make_sheet(columns, truths, "detections")
    least = choices.confidence
    lowest = {} if least is None else {write_option("confidence", f"{least:g}"): least}
    findings = list(find_all(BoxData(truths, truth_sheet, sheet, lowest=lowest)))
    return Checkup(findings, [name_detections(detections)], len(TABLE))


def _make_unknown_error(name: str) -> PolicyError:
    """Make the error of an option that check lacks; it may be one of evaluate or another tool."""
    options = (*(option for option in READING if option not in SELECTING), "overlap", "confidence")
    of_evaluate = name in (*DEFAULTS, *SELECTING) or bool(
        translate_option(name, (*DEFAULTS, *SELECTING, "dialect"))
    )
    advice = f" {text}" if (text := translate_option(name, options)) else offer(name, options)
    if of_evaluate and not text:
        advice = f" It looks at the data, and evaluates nothing.  There are: {', '.join(options)}"
    return PolicyError(f"germane.boxes.check has no option {clip(name)}.{advice}")


def _read_truths(raw: Any, reading: Reading) -> tuple[Truths, Sheet]:
    """Read the truths that are sound, and a sheet of all."""
    if isinstance(raw, Truths):
        return raw, make_sound_sheet(raw, raw)
    columns = read_truth_columns(raw, reading)
    listed = replace(
        columns, images=columns.list_images(), classes=columns.list_classes(), faults=(), twice=()
    )
    frame = make_truths(_take(listed, np.zeros(0, np.int64)))
    sheet = make_sheet(replace(listed, faults=columns.faults, twice=columns.twice), frame, "truth")
    sound = np.flatnonzero(sheet.sound & (sheet.label >= 0))
    return make_truths(_take(listed, sound)), sheet


def _take(columns: Columns, rows: Any) -> Columns:
    return replace(columns.take(rows), area=None)
