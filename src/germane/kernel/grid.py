"""Grids: batches of an array of scores, in which every query has the same items, its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Ints
from germane.kernel.columns import Integers
from germane.kernel.library import Hits
from germane.kernel.matrix import Ranks, Scores, rank_columns

if TYPE_CHECKING:
    from germane.core.retrieved import Order
    from germane.kernel.reduction import Batch, Judgments

Rank: TypeAlias = Callable[[Scores, Ints, Ints], Ranks]
"""The arguments of ``matrix.rank_columns`` → the ranks."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores (B, N): row b has those of query ``code[b]``. An absent cell is -inf.

    Its items are numbers of columns, and it does as a batch what is done with rows: row ``b * N + column``
    of the batch is a cell. The items of judgments are columns, too; one of -1 is no column.
    """

    code: Ints
    scores: Scores
    has_absent: bool = False
    rank: Rank = rank_columns

    @property
    def score(self) -> Scores:
        """The score of each cell."""
        return self.scores.reshape(-1)

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(self.scores.size)

    @cached_property
    def lengths(self) -> Ints:
        """The number of results of each query."""
        rows, width = self.scores.shape
        if not self.has_absent:
            return np.full(rows, width)
        return np.asarray(np.count_nonzero(self.scores > -np.inf, axis=1))

    def keep(self, kept: Bools) -> Self:
        """Keep some of the cells; the others become absent."""
        if kept.all():
            return self
        scores = widen(self.scores)
        lowest = scores.dtype.type(-np.inf)
        return replace(
            self, scores=np.where(kept.reshape(scores.shape), scores, lowest), has_absent=True
        )

    def convert(self, order: Order) -> Self:
        """Convert the scores to the precision asked for, so that higher ones are better."""
        there, most = self.score > -np.inf, np.finfo(float).max
        scores = np.full(len(there), -np.inf)
        converted = order.convert_scores(
            self.score[there].astype(float), ragged.make_offsets(self.lengths)
        )
        scores[there] = np.clip(converted, -most, most)
        return replace(self, scores=scores.reshape(self.scores.shape))

    def find(self, pairs: Judgments) -> Ints:
        """Find the cells of pairs of query and item."""
        _, group, column = self.list_pairs(pairs)
        known = column >= 0
        cells: Ints = group[known] * self.scores.shape[1] + column[known]
        return cells

    def reduce(self, judged: Judgments) -> Hits:
        """Find the judged cells and their ranks; equal scores are in the order of columns."""
        judgment, group, column = self.list_pairs(judged)
        known = column >= 0
        if self.has_absent:
            known &= self.scores[group, column] > -np.inf
        if not known.all():
            judgment, group, column = judgment[known], group[known], column[known]
        offsets = ragged.make_offsets(np.bincount(group, minlength=len(self.code)))
        found = self.rank(self.scores, offsets, column)
        cell = group * self.scores.shape[1] + column[found.order]
        return Hits(cell, judgment[found.order], group, *found[1:])

    def compress(self) -> Batch:
        """Make a batch of the cells that are not absent; its items are numbers of columns."""
        from germane.kernel.reduction import Batch

        there = np.flatnonzero(self.score > -np.inf)
        items = Integers(there % self.scores.shape[1])
        score = self.score[there].astype(float)
        return Batch(self.code, ragged.make_offsets(self.lengths), items, score)

    def list_pairs(self, pairs: Judgments) -> tuple[Ints, Ints, Ints]:
        """List the pairs of the queries of this batch: their places, groups and columns."""
        lengths = ragged.find_lengths(pairs.offsets)[self.code]
        if isinstance(ragged.as_slice(self.code), slice):
            pair = np.arange(pairs.offsets[self.code[0]], pairs.offsets[self.code[-1] + 1])
        else:
            pair = ragged.list_stretches(pairs.offsets[self.code], lengths)
        columns: Ints = pairs.items.values  # type: ignore[attr-defined]
        return pair, ragged.repeat_owners(lengths), columns[pair]


def widen(scores: Scores) -> Scores:
    """Convert bools to numbers, which have an infinity."""
    return scores if scores.dtype.kind == "f" else scores.astype(np.float32)


class Columns:
    """The group of each column, whose best score is that of the group."""

    def __init__(self, codes: Ints, count: int) -> None:
        self.codes = codes
        self.offsets = ragged.make_offsets(np.bincount(codes, minlength=count))
        in_order = bool((codes[1:] >= codes[:-1]).all())
        self._order = None if in_order else np.argsort(codes, kind="stable")

    def collapse(self, grid: Grid, order: Order) -> Grid:
        """Give each group the best score of its columns: the highest, or the lowest of distances."""
        scores = grid.scores if self._order is None else grid.scores[:, self._order]
        starts = self.offsets[:-1]
        if order.scores != "distances":
            return replace(grid, scores=np.maximum.reduceat(scores, starts, axis=1))
        scores = np.where(scores == -np.inf, np.inf, scores) if grid.has_absent else scores
        best = np.minimum.reduceat(scores, starts, axis=1)
        return replace(grid, scores=np.where(best == np.inf, -np.inf, best))
