"""Measures of users' own: a function of one list, asked once for every query."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.core.calls import is_number
from germane.core.ranking import Ranking
from germane.errors import MeasureError, clip
from germane.measures import DEFINED
from germane.measures.definition import ALWAYS, Definition, Scored, bound_nowhere
from germane.measures.measure import Measure

Takes: TypeAlias = Literal["grades", "ids", "graded"]
Better: TypeAlias = Literal["high", "low"]


@dataclass(frozen=True)
class OwnMeasure(Measure):
    """A measure of one's own, which ``germane.measure`` makes of a function.

    >>> first = germane.measure(lambda grades: grades[0] if grades else 0, name="first")
    >>> isinstance(first, germane.types.OwnMeasure), first.name
    (True, 'first')
    """

    function: Callable[..., Any] = field(kw_only=True)
    takes: Takes = field(kw_only=True)
    better: Better = field(default="high", kw_only=True)
    says: str = field(default="own", kw_only=True, compare=False)
    """The definition: that of germane's measure that the function computes, or which one it is."""

    def __post_init__(self) -> None:
        """Make the name known to ``parse``; there is nothing to check in the table of measures."""
        DEFINED[self.name] = self

    def __call__(self, *_: Any, **__: Any) -> Measure:
        raise MeasureError(f"{self.name} is your own function, which takes its arguments itself.")

    def __matmul__(self, k: int) -> Measure:
        raise MeasureError(f"{self.name} is your own function: cut the list off inside it.")

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    @property
    def row(self) -> Definition:
        """The row that it would have in the table of measures."""
        return Definition(
            self.name, "A measure of one's own", lambda ranking, k: self._compute(ranking),
            lambda k, p: self.says, "",
            better=self.better, finds=False, cutoff=False, expected=False, beyond=ALWAYS,
            nonrelevant=True, range=bound_nowhere, unanswered=lambda k, p: "its value",
        )  # fmt: skip

    def _compute(self, ranking: Ranking) -> Scored:
        """Ask the function about every list. Raises MeasureError where it gives no number."""
        values = [self._ask(ranking, q) for q in range(len(ranking))]
        none = np.zeros(len(ranking.rank))
        return Scored(none, ranking.ones, rest=np.array(values, float))

    def _ask(self, ranking: Ranking, q: int) -> float:
        query = clip(ranking.queries[q])
        try:
            value = self.function(*_FORMS[self.takes](ranking, q))
        except Exception as error:
            raise MeasureError(
                f"{self.name} raised {type(error).__name__} for query {query}: {error}. The"
                " function decides what a list without results or relevant items is worth."
            ) from error
        if isinstance(value, np.generic):
            value = value.item()
        if not (is_number(value) or isinstance(value, bool)) or not np.isfinite(value):
            raise MeasureError(
                f"{self.name} returns a finite number for one list; got {clip(value)} for query"
                f" {query}."
            )
        return float(value)


def _list_hits(ranking: Ranking, q: int) -> tuple[list[int], list[float]]:
    """List the places of a query's judged results, from 0, and their grades."""
    hits = slice(ranking.offsets[q], ranking.offsets[q + 1])
    return (ranking.rank[hits] - 1).tolist(), ranking.relevance[hits].tolist()


def _list_grades(ranking: Ranking, q: int) -> tuple[list[float]]:
    """List a grade for each rank; 0 for an item that nobody judged."""
    grades = [0.0] * int(ranking.retrieved[q])
    for place, grade in zip(*_list_hits(ranking, q), strict=True):
        grades[place] = grade
    return ([int(grade) if grade.is_integer() else grade for grade in grades],)


def _name_items(ranking: Ranking, q: int) -> tuple[dict[int, float], list[int]]:
    """Name the items of a query by numbers: those found by their ranks, missed ones by others."""
    retrieved = int(ranking.retrieved[q])
    judged = {place + 1: grade for place, grade in zip(*_list_hits(ranking, q), strict=True)}
    ideal = ranking.ideal[ranking.ideal_offsets[q] : ranking.ideal_offsets[q + 1]]
    missed = Counter(ideal.tolist()) - Counter(judged.values())
    judged |= dict(enumerate(missed.elements(), retrieved + 1))
    return judged, list(range(1, retrieved + 1))


def _list_ids(ranking: Ranking, q: int) -> tuple[list[int], list[int]]:
    judged, ranked = _name_items(ranking, q)
    return [item for item, grade in judged.items() if grade >= 1], ranked


_FORMS: dict[str, Callable[[Ranking, int], tuple[Any, ...]]] = {
    "grades": _list_grades, "ids": _list_ids, "graded": _name_items,
}  # fmt: skip
