"""Stages in which definitions differ, and what all verbs of this folder need of dialects."""

from collections.abc import Mapping
from typing import Any, Literal

from germane.errors import PolicyError, write_option
from germane.evaluation.collection import EVERYTHING, find_needs
from germane.measures.measure import Measure
from germane.readers import Needs

Stage = Literal["reading", "judging", "measuring", "averaging"]
STAGE_NAMES: tuple[Stage, ...] = ("reading", "judging", "measuring", "averaging")


def find_all_needs(*measure: Measure) -> Needs:
    """Find what these measures need under every policy, and others of their kinds."""
    subtopics = find_needs(measure, ()).subtopics
    return Needs(EVERYTHING, subtopics, weights=subtopics)


def refuse_dialect(choices: Mapping[str, Any], verb: str) -> None:
    """Refuse a dialect where all of them are tried. Raises PolicyError."""
    if choices.get("dialect") is not None:
        raise PolicyError(
            f"{verb} takes no {write_option('dialect')}, since it tries all of them and knows"
            " the names that tools give to measures. Leave it out."
        )
