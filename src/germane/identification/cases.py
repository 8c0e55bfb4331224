"""Cases: queries with judgments and a ranked list, questions made of them, and their text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

Judged = tuple[tuple[str, float], ...]  # items and their grades
Ranked = tuple[tuple[str, float], ...]  # items and their scores, from the first rank on


class Case(NamedTuple):
    """A query: its judgments and its ranked list, of which one may be missing."""

    judged: Judged | None
    ranked: Ranked | None

    @property
    def items(self) -> list[str]:
        """The results, from the first rank on."""
        return [item for item, _ in self.ranked or ()]

    @property
    def scores(self) -> list[float]:
        """The scores of the results."""
        return [score for _, score in self.ranked or ()]

    @property
    def grades(self) -> list[float]:
        """The grades of all judgments."""
        return [grade for _, grade in self.judged or ()]

    @property
    def relevant(self) -> list[str]:
        """The items that are judged relevant."""
        return [item for item, grade in self.judged or () if grade > 0]

    @property
    def size(self) -> int:
        """The number of rows, by which small data is chosen."""
        return len(self.judged or ()) + len(self.ranked or ())


class Question(NamedTuple):
    """The data of one call: one query, or several."""

    cases: tuple[Case, ...]

    @property
    def size(self) -> int:
        return sum(case.size for case in self.cases)


@dataclass(frozen=True)
class Shape:
    """The data that a form can show, and around which cutoff its lists are drawn."""

    shows: frozenset[str]
    k: int | None = None
    grades: tuple[float, ...] = (1.0,)  # of relevant items

    @property
    def slow(self) -> bool:
        """Does a call take milliseconds, as with frames and files?"""
        return "rows" in self.shows

    @property
    def has_zeros(self) -> bool:
        """Can items be judged not relevant?"""
        return "grades" in self.shows

    @property
    def binary(self) -> "Shape":
        """Data of the same shape with the grades 0 and 1 alone."""
        return replace(self, grades=(1.0,))


WIDTH = 3  # digits of an item's number: ids of one length have the order of their numbers


def rank_items(items: Sequence[str]) -> Ranked:
    """Give each item a score, from the first rank down."""
    return tuple((item, (len(items) - rank) / 64) for rank, item in enumerate(items))


def make_case(listed: Sequence[float], missed: int, shape: Shape) -> Case:
    """Make a query of the grades of a list, and of relevant items that are not in it."""
    items = [f"d{number:0{WIDTH}}" for number in range(len(listed) + missed)]
    grades = [*listed, *[1.0] * missed]
    judged = [
        (item, grade) for item, grade in zip(items, grades, strict=True) if grade or shape.has_zeros
    ]
    return Case(tuple(judged), rank_items(items[: len(listed)]))


_SHOWN = 6  # queries of a call that are written out


def describe(question: Question) -> str:
    """Write the data of a call: the grades in rank order, or judgments and lists."""
    if len(question.cases) == 1 and (plain := _describe_plain(question.cases[0])):
        return plain
    if len(question.cases) > _SHOWN:
        return f"{len(question.cases)} queries"
    qrels = {f"q{q}": dict(case.judged) for q, case in enumerate(question.cases, 1) if case.judged}
    run = {
        f"q{q}": _write_ranked(case.ranked)
        for q, case in enumerate(question.cases, 1)
        if case.ranked is not None
    }
    return f"qrels {qrels} and run {run}"


def _write_ranked(ranked: Ranked) -> Any:
    scores = [score for _, score in ranked]
    if is_descending(scores):
        return [item for item, _ in ranked]
    return dict(ranked) if len(dict(ranked)) == len(ranked) else list(ranked)


def is_descending(scores: Sequence[float]) -> bool:
    """Are the scores those of a ranked list, without equal ones?"""
    return all(higher > lower for higher, lower in pairwise(scores))


def _describe_plain(case: Case) -> str:
    """Write one list by its grades; "" where that does not show all of it."""
    items, judged = case.items, dict(case.judged or ())
    if case.judged is None or case.ranked is None or len(judged) < len(case.judged):
        return ""
    if len(set(items)) < len(items) or not is_descending(case.scores):
        return ""
    listed = " ".join(f"{judged.get(item, 0):g}" for item in items)
    missed = [grade for item, grade in judged.items() if item not in items and grade > 0]
    if not missed:
        return f"'{listed}'"
    if set(missed) == {1.0}:
        return f"'{listed}' with {len(case.relevant)} relevant"
    grades = " ".join(f"{grade:g}" for grade in sorted(missed))
    return f"'{listed}' with further items of grade {grades}"
