"""The verb check: problems of truths and detections, without stopping at the first."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, get_args

import numpy as np

from germane.boxes.checks.data import BoxData
from germane.boxes.checks.table import TABLE, find_all
from germane.boxes.columns import Columns, make_truths
from germane.boxes.detections import Detections, Truths
from germane.boxes.geometry import Overlap
from germane.boxes.reading_options import READING, Reading, take_reading
from germane.boxes.sheet import Sheet, make_sheet, make_sound_sheet
from germane.boxes.sources import name_detections, read_detection_columns, read_truth_columns
from germane.errors import PolicyError, check_choice, clip, offer
from germane.evaluation.checkup import Checkup

if TYPE_CHECKING:
    from germane.boxes.options import DetectionSource, ReadOptions, TruthSource


def check(
    truth: "TruthSource", detections: "DetectionSource", **options: Unpack["ReadOptions"]
) -> Checkup:
    """Check truths and detections for problems that can distort the numbers of evaluate.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[50, 50, 10, 10]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.check(truth, found)[0].what
    'swapped corners'

    The options are those of reading of ``evaluate``, and ``overlap``. The check does not stop at
    the first fault. Raises InputError for a file that cannot be read at all.
    """
    reading, others = take_reading(options)
    check_choice("overlap", others.pop("overlap", "iou"), get_args(Overlap))
    for one in others:
        known = (*READING, "overlap")
        raise PolicyError(f"germane.boxes.check has no option {clip(one)}.{offer(one, known)}")
    truths, given = _read_truths(truth, reading)
    if isinstance(detections, Detections):
        found = make_sound_sheet(detections, truths)
    else:
        columns = read_detection_columns(detections, reading, truths)
        found = make_sheet(columns, truths, "detections")
    findings = list(find_all(BoxData(truths, given, found)))
    return Checkup(findings, [name_detections(detections)], len(TABLE))


def _read_truths(given: Any, reading: Reading) -> tuple[Truths, Sheet]:
    """Read the truths that are sound, and a sheet of all."""
    if isinstance(given, Truths):
        return given, make_sound_sheet(given, given)
    columns = read_truth_columns(given, reading)
    listed = replace(
        columns, images=columns.list_images(), classes=columns.list_classes(), faults=()
    )
    frame = make_truths(_take(listed, np.zeros(0, np.int64)))
    sheet = make_sheet(replace(listed, faults=columns.faults), frame, "truth")
    sound = np.flatnonzero(sheet.sound & (sheet.label >= 0))
    return make_truths(_take(listed, sound)), sheet


def _take(columns: Columns, at: Any) -> Columns:
    return replace(columns.take(at), area=None)
