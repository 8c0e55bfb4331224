"""Opening of boxes: every verb reads both sides here, with what evaluate warns of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from germane.boxes.checks.data import BoxData
from germane.boxes.checks.table import find_all
from germane.boxes.columns import make_detections, make_truths
from germane.boxes.conventions import DEFAULTS, Conventions, make_conventions
from germane.boxes.detections import Detections, Truths
from germane.boxes.dialect_table import resolve_box_dialect
from germane.boxes.matching import refuse_unverified
from germane.boxes.measures import BoxMeasure
from germane.boxes.reading_options import Reading, Shape, take_reading
from germane.boxes.shapes import refuse_unfit
from germane.boxes.sheet import Sheet, make_sound_sheet
from germane.boxes.sources import name_detections, read_detection_columns, read_truth_columns
from germane.core.finding import Finding, warn
from germane.dialects.dialect import Dialect
from germane.errors import InputError, list_some, suggest, write_option
from germane.output.formatting import write_count


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


def open_truths(truth: Any, reading: Reading) -> TruthSide:
    """Read truths, once for all detectors."""
    if isinstance(truth, TruthSide):
        return truth
    if isinstance(truth, Truths):
        return TruthSide(truth, make_sound_sheet(truth, truth))
    columns = read_truth_columns(truth, reading)
    truths = make_truths(columns)
    return TruthSide(truths, make_sound_sheet(truths, truths, columns))


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
        columns = read_detection_columns(detections, options.reading, truths)
        opened = make_detections(columns, truths, name or name_detections(detections))
    chosen = options.chosen if options.dialect is None else DEFAULTS
    lowest = {
        str(measure): measure.confidence
        for measure in measures
        if isinstance(measure.confidence, float)
    }
    if (least := options.conventions.confidence) is not None:
        lowest[write_option("confidence", f"{least:g}")] = least
    sheet, unknown = make_sound_sheet(opened, truths, columns), options.conventions.unknown
    data = BoxData(truths, side.sheet, sheet, chosen, lowest, unknown)
    problems = tuple(find_all(data, "warning"))
    _refuse_unknown(opened, truths, options.conventions)
    refuse_unverified(truths, options.conventions)
    refuse_unfit(truths, opened, options.conventions)
    warn(opened.name, problems)
    return truths, opened, problems


def _refuse_unknown(detections: Detections, truths: Truths, choices: Conventions) -> None:
    """Refuse detections of classes that the truths lack, unless conventions leave them out."""
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
