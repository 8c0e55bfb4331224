"""Claim: the measure that a function is said to compute."""

import re

from germane.dialects.parsing import parse
from germane.errors import MeasureError, clip
from germane.measures.catalogue import CatalogueDefinition
from germane.measures.measure import Measure

_OF_BOXES = re.compile(
    r"""m?A[PR] (?: _?(\d\d|[sml]|small|medium|large) (@\d+)?  # AP50, mAP75, ARs@100
                 | [\d.]+ [-:] [\d.]+                       # mAP50-95, AP50:95
                 | @? [\[(]? (IoU)? = ? 0?\.\d+ .*  # mAP@0.5, AP@[.5:.95], AP@[IoU=0.50:0.95]
                 | \d* \( (iou|area|points|confidence) = .* )
    | m?AR\d+ | m?IoU | COCO.*""",
    re.VERBOSE | re.IGNORECASE,
)
_EITHER = re.compile(r"mAP(@\d+)?", re.IGNORECASE)


def read_claim(measure: str | Measure | None) -> Measure | None:
    """Read the claimed measure. Raises MeasureError for one that is not of ranked lists."""
    if measure is None:
        return None
    if isinstance(measure, str) and _OF_BOXES.fullmatch(measure.strip()):
        raise MeasureError(
            f"{clip(measure)} is a measure of boxes, and identify asks a function about ranked"
            " lists. germane boxes evaluates detections; germane boxes reconcile finds the"
            " definition of a number."
        )
    claim = parse(measure)
    if isinstance(claim.row, CatalogueDefinition):
        raise MeasureError(
            f"{claim} is a measure of whole lists, which needs every result or the whole catalogue,"
            " and identify asks a function about judged items in one list a query."
            f" germane.evaluate computes {claim}."
        )
    if claim.row.subtopics:
        raise MeasureError(
            f"{claim} is a measure of subtopics, and identify asks a function about judgments"
            f" without subtopics. germane.evaluate computes {claim}."
        )
    return claim


def names_boxes_too(measure: str | Measure | None) -> bool:
    """Is the name usual for boxes as well as for ranked lists?"""
    return isinstance(measure, str) and _EITHER.fullmatch(measure.strip()) is not None


def list_grades(claim: Measure) -> list[float]:
    """List the grades that the parameters of a measure name: its threshold, and those with a
    gain.
    """
    gain = dict(claim.parameters).get("gain")
    named = [grade for grade, _ in gain] if isinstance(gain, tuple) else []
    threshold = [] if claim.rel in (None, 1.0) else [claim.rel]
    return [grade for grade in (*threshold, *named) if grade is not None and grade > 0]
