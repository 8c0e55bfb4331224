"""Placement: where a run put the judged items of each query, for what looks at single queries."""

from collections.abc import Hashable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from germane.core.qrels import Qrels
from germane.core.ranking import Ranking
from germane.evaluation.judging import Judged


class Hit(NamedTuple):
    """A judged item that was retrieved: its rank, from 1, and its grade."""

    item: Hashable
    rank: int
    relevance: float


class Placement:
    """The judged items of a run at their ranks, query by query."""

    def __init__(self, judged: Judged) -> None:
        self._judged = judged

    @cached_property
    def answered(self) -> frozenset[Hashable]:
        """The judged queries that the run has results for."""
        queries = self._judged.qrels.queries
        return frozenset(queries[q] for q in np.flatnonzero(self._judged.retrieved.answered))

    @property
    def qrels(self) -> Qrels:
        """The judgments that the run was judged against."""
        return self._judged.qrels

    @cached_property
    def ranking(self) -> Ranking:
        """All queries, under the policy's order of ties."""
        return self._judged.ranking(self._judged.policy.ties)

    def of(self, query: Hashable) -> Judged:
        """The judged items of one query, before the order of ties is chosen."""
        return self._judged.only(query)

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {query: q for q, query in enumerate(self.ranking.queries)}

    def hits(self, query: Hashable) -> tuple[Hit, ...]:
        """A query's judged items that were retrieved, by rank; none for a query that was left out."""
        ranking, q = self.ranking, self._position.get(query)
        if q is None or ranking.judgment is None:
            return ()
        part = slice(ranking.offsets[q], ranking.offsets[q + 1])
        items = (self._judged.qrels.items[j] for j in ranking.judgment[part].tolist())
        ranks, grades = ranking.rank[part].tolist(), ranking.relevance[part].tolist()
        return tuple(map(Hit, items, ranks, grades))
