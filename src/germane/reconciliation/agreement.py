"""Agreement: the queries whose reported value a definition gives, and why others are off."""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.errors import CoverageError, clip, suggest
from germane.measures import compute_values
from germane.output.formatting import to_json_number, write_count
from germane.reconciliation.reported import Reported
from germane.reconciliation.run_search import Given, RunSearch

DECIMALS = (1, 2, 3, 4)  # to which somebody may have rounded terms before adding them


@dataclass(frozen=True)
class Off:
    """A query whose reported value is not what the definition gives."""

    query: Hashable
    reported: Reported
    value: float
    """what the definition gives; NaN where it leaves the query out"""
    moves: float
    """how much the reported value changes the mean"""
    says: str = ""
    """the sums of terms behind both values, or a slip that explains the reported one"""

    @property
    def difference(self) -> float:
        """The reported value less the right one."""
        return self.reported.value - self.value


@dataclass(frozen=True)
class Agreement:
    """The queries for which one definition gives the reported value, and the others."""

    given: Given
    of: int
    """the number of queries reported"""
    off: tuple[Off, ...]
    """the queries for which it does not, the largest difference first"""
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
                    "query": str(row.query),
                    "reported": row.reported.text,
                    "value": to_json_number(row.value),
                    "off_by": to_json_number(row.difference),
                    "moves_mean_by": to_json_number(row.moves),
                    "says": row.says,
                }
                for row in self.off
            ],
        }


def match_names(
    reported: Mapping[Hashable, Reported], queries: Iterable[Hashable]
) -> dict[Hashable, Reported]:
    """Match the reported values with the ids of the data; in a file, an id is text.

    Raises CoverageError for a query that is not in the data.
    """
    ids = {str(query): query for query in queries}
    for query in reported:
        if str(query) not in ids:
            near = suggest(str(query), ids)
            raise CoverageError(
                f"reported for query {clip(query)}, which is not in the data.{near}"
            )
    return {ids[str(query)]: number for query, number in reported.items()}


def measure_agreement(search: RunSearch, trial: Given) -> Agreement:
    """Find the queries for which a definition does not give the reported value."""
    result = search.find_result(trial.candidate)
    averaged = {} if result is None else result.per_query
    terms = Terms(search, trial)
    off = []
    for query, number in search.per_query.items():
        value = averaged.get(query, math.nan)
        if not number.gives(value):
            moves = (number.value - value) / len(averaged) if averaged else math.nan
            off.append(Off(query, number, value, moves, terms.explain(query, number)))
    off.sort(key=lambda row: -math.inf if math.isnan(row.value) else -abs(row.difference))
    without = tuple(query for query in averaged if query not in search.per_query)
    return Agreement(trial, len(search.per_query), tuple(off), without)


class Terms:
    """The terms behind a definition's values, to find out how they were rounded."""

    def __init__(self, search: RunSearch, trial: Given) -> None:
        self._ranking, self._scored = search.compute_terms(trial.candidate)
        self._place = {query: q for q, query in enumerate(self._ranking.queries)}
        self._total = self._ranking.sum_hits(self._scored.terms) + self._scored.rest
        self._rounded = {decimals: self.round(decimals) for decimals in DECIMALS}

    def round(self, decimals: int) -> Floats:
        """Q: compute the values with every term rounded before they are added."""
        terms = np.round(self._scored.terms, decimals)
        return compute_values(self._ranking, replace(self._scored, terms=terms))

    def explain(self, query: Hashable, number: Reported) -> str:
        """Explain a query's reported value, or compare the sums of terms behind both values."""
        q = self._place.get(query)
        if q is None:
            return "left out"
        for decimals, written in self._rounded.items():
            if number.gives(float(written[q])):
                return f"every term rounded to {write_count(decimals, 'decimal')}"
        norm = float(self._scored.norm[q])
        if self._scored.link is not None or norm in (0.0, 1.0):
            return ""
        return (
            f"terms add up to {self._total[q]:.4g}; for {number.text}, to {number.value * norm:.4g}"
        )
