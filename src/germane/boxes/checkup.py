"""The verb check: problems of truths and detections, without stopping at the first."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from germane.boxes.checks.data import BoxData
from germane.boxes.checks.table import TABLE, find_all
from germane.boxes.columns import Columns, make_truths
from germane.boxes.conventions import DEFAULTS, make_conventions
from germane.boxes.detections import Detections, Truths
from germane.boxes.foreign_options import translate_option
from germane.boxes.reading_options import READING, Reading, take_reading
from germane.boxes.sheet import Sheet, make_sheet, make_sound_sheet
from germane.boxes.sources import name_detections, read_detection_columns, read_truth_columns
from germane.errors import PolicyError, clip, offer, write_option
from germane.evaluation.checkup import Checkup

if TYPE_CHECKING:
    from germane.boxes.options import CheckOptions, DetectionSource, TruthSource


def check(
    truth: "TruthSource", detections: "DetectionSource", **options: Unpack["CheckOptions"]
) -> Checkup:
    """Check truths and detections for problems that can distort the numbers of evaluate.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[50, 50, 10, 10]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.check(truth, found)[0].what
    'swapped corners'

    The options are those of reading of ``evaluate``, ``overlap`` and ``confidence``. The check does
    not stop at the first fault. Raises InputError for a file that cannot be read at all.
    """
    reading, remaining = take_reading(options)
    for name in remaining.keys() - {"overlap", "confidence"}:
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
    options = (*READING, "overlap", "confidence")
    of_evaluate = name in DEFAULTS or bool(translate_option(name, (*DEFAULTS, "dialect")))
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
