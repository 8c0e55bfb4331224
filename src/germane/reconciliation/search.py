"""Search: evaluate variations, and keep those that give a reported number, simplest first.

Whatever is varied, a definition on a run or the conventions of boxes, is searched in this way.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from germane.reconciliation.reported import Reported
from germane.reconciliation.variations import Variation

C = TypeVar("C")
V = TypeVar("V", bound=Variation[Any])


@dataclass(frozen=True)
class Tried(Generic[C]):
    """A candidate and the value that it gives on the data."""

    candidate: C
    value: float

    def __str__(self) -> str:
        return str(self.candidate)


class Search(Generic[V]):
    """Variations of a measure on some data, compared with each other and with what was reported."""

    def __init__(self, measure: Any, reported: Reported) -> None:
        self.measure, self.reported = measure, reported

    # --- what each kind of data answers for itself

    def find_value(self, candidate: V) -> float:
        """Evaluate a variation; NaN where it has no value."""
        raise NotImplementedError

    def coincide(self, first: V, second: V) -> bool:
        """Do two variations give the same on this data?"""
        raise NotImplementedError

    def list_simpler(self, candidate: V) -> Iterator[V]:
        """List what is one change simpler."""
        for name, _ in reversed(candidate.choices):
            yield candidate.drop(name)

    def make_key(self, candidate: V) -> object:
        """Return what variations that are written in several ways have in common."""
        return candidate.key

    def rank_usage(self, candidate: V) -> tuple[int, ...]:
        """Rank variations with as many changes: those that most tools have come first."""
        return (-len(candidate.tools),)

    # --- what is the same for all

    def evaluate_all(self, candidates: Iterable[V]) -> list[Tried[V]]:
        """Return the value of each candidate that has one."""
        values = ((candidate, self.find_value(candidate)) for candidate in candidates)
        return [Tried(candidate, value) for candidate, value in values if not math.isnan(value)]

    def gives(self, trial: Tried[V]) -> bool:
        """Does a candidate give what was reported?"""
        return self.reported.gives(trial.value)

    def simplify(self, trials: Iterable[Tried[V]]) -> list[Tried[V]]:
        """Drop changes that make no difference here, and sort the candidates, simplest first.

        Candidates that are the same then become one, under the name that was asked for or the
        simplest, with the tools of all.
        """
        merged: dict[object, Tried[V]] = {}
        for trial in trials:
            least = self._drop_idle_changes(trial.candidate)
            key = self.make_key(least)
            before = merged.get(key, Tried(least, trial.value))
            simpler = min(
                before.candidate, least, key=lambda candidate: candidate.distance(self.measure)
            )
            tools = dict.fromkeys((*before.candidate.tools, *least.tools))
            merged[key] = Tried(replace(simpler, tools=tuple(tools)), before.value)
        return sorted(merged.values(), key=self._order_simplicity)

    def _drop_idle_changes(self, candidate: V) -> V:
        """Drop changes one by one, as long as that changes nothing."""
        simpler: V | None = candidate
        while simpler is not None:
            candidate = simpler
            variations = self.list_simpler(candidate)
            simpler = next(
                (variation for variation in variations if self.coincide(variation, candidate)), None
            )
        return candidate

    def _order_simplicity(self, trial: Tried[V]) -> tuple[Any, ...]:
        candidate = trial.candidate
        return candidate.distance(self.measure), *self.rank_usage(candidate), str(candidate)

    def find_nearest(self, tried: Sequence[Tried[V]]) -> tuple[Tried[V], ...]:
        """Find the nearest candidate, the nearest of a tool, and what was asked for."""
        by_distance = sorted(tried, key=lambda trial: abs(trial.value - self.reported.value))
        of_tools = [trial for trial in by_distance if trial.candidate.tools]
        unchanged = [trial for trial in tried if trial.candidate.key == (self.measure, ())]
        rows: dict[object, Tried[V]] = {}
        for trial in (self.choose_nearest(by_distance), *of_tools[:1], *unchanged[:1]):
            for row in self.simplify(self.list_equal(trial, tried)):
                rows.setdefault(row.candidate.key, row)
        return tuple(rows.values())

    def choose_nearest(self, by_distance: Sequence[Tried[V]]) -> Tried[V]:
        """Choose the nearest of candidates that are sorted by their distance."""
        return by_distance[0]

    def list_equal(self, trial: Tried[V], tried: Sequence[Tried[V]]) -> list[Tried[V]]:
        """List what stands for a candidate among the nearest: itself alone."""
        return [equal for equal in tried if equal is trial]
