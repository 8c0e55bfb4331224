"""Queries: reported values query by query, and which of them are off."""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.errors import CoverageError, clip, suggestion
from germane.measures import compute_values
from germane.output.formatting import to_json_number
from germane.reconciliation.reported import Reported
from germane.reconciliation.search import Given, Search

DECIMALS = (1, 2, 3, 4)  # with which terms are written down on the way


@dataclass(frozen=True)
class Off:
    """A query whose reported value is not what the definition gives."""

    query: Hashable
    reported: Reported
    value: float
    """what the definition gives; NaN where it leaves the query out"""
    moves: float
    """by how much the mean would be otherwise with the right value"""
    says: str = ""
    """what else is known: the excess in the sum of terms, or a slip that explains it"""

    @property
    def difference(self) -> float:
        """Reported minus right."""
        return self.reported.value - self.value


@dataclass(frozen=True)
class Agreement:
    """How far one definition gives what was reported query by query."""

    given: Given
    of: int
    """the queries reported"""
    off: tuple[Off, ...]
    """those of them that are off, the largest difference first"""
    without: tuple[Hashable, ...] = ()
    """queries that the definition averages and that were not reported"""

    @property
    def agree(self) -> int:
        """The number of queries that are as reported."""
        return self.of - len(self.off)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; NaN becomes None."""
        return {
            "reported": self.of,
            "agree": self.agree,
            "not_reported": list(map(str, self.without)),
            "off": [
                {
                    "query": str(one.query),
                    "reported": one.reported.text,
                    "value": to_json_number(one.value),
                    "off_by": to_json_number(one.difference),
                    "moves_mean_by": to_json_number(one.moves),
                    "says": one.says,
                }
                for one in self.off
            ],
        }


def named(
    reported: Mapping[Hashable, Reported], queries: Iterable[Hashable]
) -> dict[Hashable, Reported]:
    """The reported values by the data's own ids: in a file, an id is text.

    Raises CoverageError for a query that is not in the data.
    """
    ids = {str(query): query for query in queries}
    for query in reported:
        if str(query) not in ids:
            near = suggestion(str(query), ids)
            raise CoverageError(
                f"reported for query {clip(query)}, which is not in the data.{near}"
            )
    return {ids[str(query)]: number for query, number in reported.items()}


def best(
    search: Search, tried: Iterable[Given], reported: Mapping[Hashable, Reported], mean: Reported
) -> Given:
    """The definition that gives most of the queries; whatever it has otherwise than asked must
    explain a query more."""

    def merit(given: Given) -> tuple[int, bool, float]:
        agree = agreeing(search, given, reported)
        near = -abs(given.value - mean.value)
        return agree - given.candidate.distance(search.asked), mean.gives(given.value), near

    return max(tried, key=merit)


def agreeing(search: Search, given: Given, reported: Mapping[Hashable, Reported]) -> int:
    """The number of queries of which a definition gives what was reported."""
    result = search.result(given.candidate)
    values = {} if result is None else result.per_query
    return sum(one.gives(values.get(query, math.nan)) for query, one in reported.items())


def agreement(search: Search, given: Given, reported: Mapping[Hashable, Reported]) -> Agreement:
    """Which queries a definition does not give, and what they do to the mean."""
    result = search.result(given.candidate)
    averaged = {} if result is None else result.per_query
    terms = Terms(search, given)
    off = []
    for query, number in reported.items():
        value = averaged.get(query, math.nan)
        if not number.gives(value):
            moves = (number.value - value) / len(averaged)
            off.append(Off(query, number, value, moves, terms.slip(query, number)))
    off.sort(key=_largest_first)
    without = tuple(query for query in averaged if query not in reported)
    return Agreement(given, len(reported), tuple(off), without)


def _largest_first(off: Off) -> float:
    return -math.inf if math.isnan(off.value) else -abs(off.difference)


class Terms:
    """The terms behind a definition's values, to see what was done to them by hand."""

    def __init__(self, search: Search, given: Given) -> None:
        self._ranking, self._scored = search.scored(given.candidate)
        self._place = {query: q for q, query in enumerate(self._ranking.queries)}
        self._total = self._ranking.sums(self._scored.terms) + self._scored.rest
        self._rounded = {decimals: self.rounded(decimals) for decimals in DECIMALS}

    def rounded(self, decimals: int) -> Floats:
        """Q: the values if every term is rounded before they are added."""
        terms = np.round(self._scored.terms, decimals)
        return compute_values(self._ranking, replace(self._scored, terms=terms))

    def slip(self, query: Hashable, number: Reported) -> str:
        """What explains a query's value, or else how much its sum of terms is off."""
        q = self._place.get(query)
        if q is None:
            return "left out"
        for decimals, written in self._rounded.items():
            if number.gives(float(written[q])):
                return f"every term rounded to {decimals} decimal{'s' * (decimals > 1)}"
        norm = float(self._scored.norm[q])
        if self._scored.link is not None or norm in (0.0, 1.0):
            return ""
        return (
            f"terms add up to {self._total[q]:.4g}; for {number.text}, to {number.value * norm:.4g}"
        )
