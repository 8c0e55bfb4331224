"""Rows of measures of whole lists: what their definitions and parameters have in common.

These measures see an Exposure or Lists, and a Catalogue, instead of a Ranking. Each row says in its
definition what a low and a high value mean, since tools give one name to opposite signs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.catalogue import Catalogue, Exposure, Lists, Seen
from germane.core.ragged import Floats, Ints
from germane.errors import CoverageError, MeasureError
from germane.measures.definition import ALWAYS, Definition, Form, Parameter, bound_nowhere
from germane.measures.terms import Scored

OfAll = Callable[[Exposure, Catalogue, dict[str, Any]], float]
OfLists = Callable[[Lists, Catalogue, dict[str, Any]], tuple[Floats, Floats]]


def refuse_ranking(*_: Any, **__: Any) -> Scored:
    """Refuse a measure of the catalogue where only judged items are known. Raises MeasureError."""
    raise MeasureError(
        "a measure of the catalogue, such as Coverage or Novelty, looks at whole lists, and here"
        " only their judged items are known. evaluate, dialects and reconcile compute it."
    )


@dataclass(frozen=True, eq=False)
class CatalogueDefinition(Definition):
    """A row of the table of measures of the catalogue: of all lists, or a mean over lists."""

    of_all: OfAll | None = None
    """the value of all lists at once"""
    of_lists: OfLists | None = None
    """a sum for each list and its divisor; a list whose divisor is 0 is left out of the mean"""
    by_size: Callable[[dict[str, Any]], bool] = lambda _: False
    """does it need to know in how many lists of which size an item stands?"""
    of_sets: Callable[[dict[str, Any]], bool] = lambda _: False
    """does it compare lists as sets, in which no item stands twice?"""
    of_users: bool = False
    """does it look at the earlier choices of a list's user?"""
    of_judgments: bool = False
    """does it look at the judgments of a list's user?"""
    pooled: bool = False
    """is it the quotient of the sums over lists, and no mean of quotients?"""


def find_history(lists: Lists, seen: Seen, measure: str) -> tuple[Ints, Ints]:
    """Find where the earlier choices of each list's user start in ``seen.items``, and how many
    there are (U each). Raises CoverageError for ids of different types.
    """
    if lists.user is None:
        raise CoverageError(
            f"{measure} looks for the users of the run in seen=, and their ids have different"
            " types, text and whole numbers. Cast one of them."
        )
    known = lists.user >= 0
    starts = np.where(known, seen.offsets[lists.user], 0)
    return starts, np.where(known, seen.offsets[lists.user + 1] - starts, 0)


def refuse_lists(measures: Iterable[Any], text: str) -> None:
    """Raise MeasureError for measures of the catalogue; ``says``: who cannot have them, and why."""
    for measure in measures:
        if isinstance(measure.row, CatalogueDefinition):
            raise MeasureError(f"{measure} is about whole lists, {text}")


def define(
    name: str,
    title: str,
    terms: Form,
    example: str,
    *parameters: Parameter,
    of_all: OfAll | None = None,
    of_lists: OfLists | None = None,
    **prose: Any,
) -> CatalogueDefinition:
    """Make a row; what is the same for all of these measures is set here."""
    return CatalogueDefinition(
        name, title, refuse_ranking, terms, example, parameters=parameters, expected=False,
        better="neither", beyond=ALWAYS, range=prose.pop("range", bound_nowhere), of_all=of_all,
        of_lists=of_lists, undefined=prose.pop("undefined", ""), **prose,
    )  # fmt: skip


def write_cut(k: int | None) -> str:
    """Write which items count: those within the cutoff."""
    return "" if k is None else f" in the first {k}"


def write_mean(k: int | None, p: dict[str, Any], which: str = "") -> str:
    """Write the mean over lists of the mean over their items, or the mean over all items."""
    if p.get("mean") == "micro":
        return f"mean over {which}recommendations{write_cut(k)} of"
    return f"mean over lists of the mean over {which}items{write_cut(k)} of"


def write_count(p: dict[str, Any]) -> str:
    """Write what c is, the popularity of an item."""
    if p["seen"] == "users":
        return "c: users who chose the item before"
    return "c: earlier interactions with the item"


SEEN = Parameter(
    "seen", "users", "popularity counts the users of an item, or all interactions",
    words=("users", "interactions"),
)  # fmt: skip
LISTS = Parameter(
    "mean", "arithmetic", "a mean over lists, or micro: over all recommendations",
    words=("arithmetic", "micro"),
)  # fmt: skip
