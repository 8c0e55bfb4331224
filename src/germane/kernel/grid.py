"""Grids: batches of an array of scores, in which every query has the same items, its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Ints
from germane.kernel.library import Hits
from germane.kernel.matrix import Ranks, Scores, make_comparable, rank_columns

if TYPE_CHECKING:
    from germane.core.retrieved import Order
    from germane.kernel.reduction import Judgments

Rank: TypeAlias = Callable[[Scores, Ints, Ints], Ranks]
"""The arguments of ``matrix.rank_columns`` → the ranks."""


class Columns:
    """The group of each column.

    ``places``: those of the columns in the array as it was given, where they are in another order.
    """

    def __init__(self, codes: Ints, count: int, places: Ints | None = None) -> None:
        self.codes, self.places = codes, places
        self.offsets = ragged.make_offsets(np.bincount(codes, minlength=count))
        self.order = np.argsort(codes, kind="stable")  # those of group g: offsets[g]:offsets[g + 1]
        self.in_order = bool((codes[1:] >= codes[:-1]).all())

    def list_columns(self, groups: Ints) -> tuple[Ints, Ints]:
        """List the columns of groups, and their number in each."""
        sizes = ragged.find_lengths(self.offsets)[groups]
        return self.order[ragged.list_stretches(self.offsets[groups], sizes)], sizes

    def rank_groups(self, row: Scores) -> Ints:
        """Rank all groups by their best scores in a row, equal ones in the order of columns."""
        places = np.arange(len(row)) if self.places is None else self.places
        codes = self.codes[np.lexsort((places, -row))]
        first = np.empty(len(self.offsets) - 1, np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written is the best
        is_first = np.zeros(len(codes), np.int64)
        is_first[first] = 1
        ranks: Ints = np.cumsum(is_first)[first]
        return ranks


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores (B, N): row b has those of query ``code[b]``. An absent cell is -inf.

    It does as a batch what is done with rows: its row ``b * N + column`` is a cell. The items of
    judgments are columns, or groups of these; one of -1 is none.
    """

    code: Ints
    scores: Scores
    absent: Ints | None = None  # B, how many cells of a row are absent
    columns: Columns | None = None  # their groups, whose best scores are ranked
    rank: Rank = rank_columns  # another one knows the order of equal scores

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
        lengths = np.full(len(self.code), self.scores.shape[1])
        return lengths if self.absent is None else lengths - self.absent

    def find(self, pairs: Judgments) -> Ints:
        """Find the cells of pairs of query and item."""
        _, group, item = self.list_pairs(pairs)
        group, item = group[item >= 0], item[item >= 0]
        if self.columns is not None:
            item, sizes = self.columns.list_columns(item)
            group = np.repeat(group, sizes)
        cells: Ints = group * self.scores.shape[1] + item
        return cells

    def keep(self, kept: Bools) -> Self:
        """Keep some of the cells; the others become absent."""
        if kept.all():
            return self
        scores = widen(self.scores)
        lowest = scores.dtype.type(-np.inf)
        scores = np.where(kept.reshape(scores.shape), scores, lowest)
        return replace(self, scores=scores, absent=count_absent(scores))

    def convert(self, order: Order) -> Self:
        """Convert the scores to the precision asked for, so that higher ones are better."""
        there, most = self.score > -np.inf, np.finfo(float).max
        converted = np.full(len(there), -np.inf)
        ends = ragged.make_offsets(self.lengths)
        converted[there] = np.clip(
            order.convert_scores(self.score[there].astype(float), ends), -most, most
        )
        return replace(self, scores=converted.reshape(self.scores.shape))

    def collapse(self) -> Self:
        """Give each group the best score of its columns, whose place it takes."""
        if self.columns is None:
            return self
        scores = self.scores if self.columns.in_order else self.scores[:, self.columns.order]
        scores = np.maximum.reduceat(scores, self.columns.offsets[:-1], axis=1)
        absent = None if self.absent is None else count_absent(scores)
        rank = self._rank_groups if self.rank is rank_columns else self.rank
        return replace(self, scores=scores, absent=absent, columns=None, rank=rank)

    def _rank_groups(self, scores: Scores, offsets: Ints, groups: Ints) -> Ranks:
        """Rank groups by their best scores; the columns of these decide between equal ones."""
        assert self.columns is not None
        found, owner = rank_columns(scores, offsets, groups), ragged.find_owners(offsets)
        rank, group = found.rank.copy(), groups[found.order]
        for b in np.unique(owner[found.tied_to > found.tied_from]).tolist():
            here = slice(offsets[b], offsets[b + 1])
            rank[here] = self.columns.rank_groups(make_comparable(self.scores[b]))[group[here]]
        falling = np.lexsort((rank, owner))
        return Ranks(*(column[falling] for column in found._replace(rank=rank))).join()

    def reduce(self, judged: Judgments) -> Hits:
        """Find the judged cells and their ranks; equal scores are in the order of columns."""
        judgment, group, item = self.list_pairs(judged)
        known = item >= 0
        if self.absent is not None:
            known &= self.scores[group, item] > -np.inf
        if not known.all():
            judgment, group, item = judgment[known], group[known], item[known]
        offsets = ragged.make_offsets(np.bincount(group, minlength=len(self.code)))
        found = self.rank(self.scores, offsets, item)
        cell = group * self.scores.shape[1] + item[found.order]
        return Hits(cell, judgment[found.order], group, *found[1:])

    def list_cells(self) -> tuple[Ints, Ints]:
        """List the cells that are not absent, and their columns."""
        there = np.flatnonzero(self.score > -np.inf)
        if self.columns is not None and self.columns.places is not None:
            row, column = np.divmod(there, self.scores.shape[1])
            there = there[np.lexsort((self.columns.places[column], row))]
        return there, there % self.scores.shape[1]

    def list_pairs(self, pairs: Judgments) -> tuple[Ints, Ints, Ints]:
        """List the pairs of the queries of this batch: their places, groups and items."""
        starts = pairs.offsets[self.code]
        lengths = pairs.offsets[self.code + 1] - starts
        pair = ragged.list_stretches(starts, lengths)
        items: Ints = pairs.items.values  # type: ignore[attr-defined]
        return pair, ragged.repeat_owners(lengths), items[pair]


def widen(scores: Scores) -> Scores:
    """Convert bools to numbers, which have an infinity."""
    return scores if scores.dtype.kind == "f" else scores.astype(np.float32)


def count_absent(scores: Scores) -> Ints:
    """Count the absent cells of each row."""
    return np.asarray(np.count_nonzero(scores == -np.inf, axis=1))
