"""The ranks of rows among the rows of their query."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane.errors import FormatError, clip
from germane.retrieval import Order
from germane.sources import binary
from germane.sources.binary import Spans
from germane.sources.id_columns import IdColumn, Integers

if TYPE_CHECKING:  # a file of lines has no use for batches of columns
    from germane.sources.rows import Batch

Items: TypeAlias = IdColumn | Spans

FEW = 8  # rows of which one is asked for, from which on bisection costs less than an order of all


def in_order(batch: Batch, queries: list[Hashable]) -> Floats | None:
    """What rows are ordered by, from high to low; None where they stand in their order.

    Raises FormatError for ranks that are no order, or that scores contradict.
    """
    rows = batch.rows
    if rows.rank is None:
        return rows.score
    order: Ints | None = None
    falling = rows.rank[1:] <= rows.rank[:-1]
    falling[_ragged.lasts(batch.offsets)] = False
    if falling.any():
        owner = batch.owner
        order = _by_query(rows.rank, owner)
        rank = rows.rank[order]
        odd = np.flatnonzero((owner[1:] == owner[:-1]) & (rank[1:] == rank[:-1]))
        if len(odd) and rows.score is None:
            raise _same_rank(batch, queries[batch.code[owner[odd[0]]]], order[odd[0] : odd[0] + 2])
        if len(odd):  # equal ranks contradict no scores
            order = np.lexsort((-rows.score, rows.rank, owner))  # type: ignore[operator]
    if rows.score is None:
        return None if order is None else -rows.rank.astype(np.int64)
    score = rows.score if order is None else rows.score[order]
    rising = score[1:] > score[:-1]
    rising[_ragged.lasts(batch.offsets)] = False
    odd = np.flatnonzero(rising)
    if len(odd):
        here = slice(odd[0], odd[0] + 2)
        pair = np.arange(len(score))[here] if order is None else order[here]
        raise _contradiction(batch, queries[batch.code[batch.owner[odd[0]]]], pair)
    return rows.score


def _by_query(rank: Ints, owner: Ints) -> Ints:
    """The rows by query, and within a query by rank."""
    least = int(rank.min())
    span = int(rank.max()) - least + 1
    if span * (int(owner[-1]) + 1) >= 1 << 63:
        return np.lexsort((rank, owner))
    numbers = owner.astype(np.int64) * span + (rank.astype(np.int64) - least)
    return numbers.argsort()


def _same_rank(batch: Batch, query: Hashable, pair: Ints) -> FormatError:
    rank = batch.rows.rank
    assert rank is not None
    one, other = batch.rows.item.chosen(pair)
    return FormatError(
        f"run, query {clip(query)}: items {clip(one)} and {clip(other)} have the same rank, "
        f"{rank[pair[0]]}. The ranks of a query's items differ; equal scores, without ranks, are ties."
    )


def _contradiction(batch: Batch, query: Hashable, pair: Ints) -> FormatError:
    rows = batch.rows
    assert rows.rank is not None
    assert rows.score is not None
    (one, other), rank, score = rows.item.chosen(pair), rows.rank[pair], rows.score[pair]
    return FormatError(
        f"run, query {clip(query)}: ranks and scores contradict each other: item {clip(one)} has "
        f"rank {rank[0]} and score {score[0]:g}, item {clip(other)} rank {rank[1]} and score "
        f"{score[1]:g}. columns={{'rank': None}} goes by the scores, columns={{'score': None}} by the "
        "ranks."
    )


def ranks(
    items: Items, offsets: Ints, score: Floats, row: Ints, group: Ints, order: Order
) -> tuple[Ints, Ints, Ints]:
    """Rank, and first and last rank of the group of equal scores, of the rows asked for.

    Items and scores are those of some queries: query g's rows are ``offsets[g]:offsets[g + 1]``.
    """
    if _ragged.falls(score, offsets):
        return _arranged(items, offsets, score, None, row, group, order)
    if len(row) * FEW < len(score):
        rank = _untied(score, offsets, row, group)
        if rank is not None:
            return rank, rank, rank
    falling = _ragged.falling(score, offsets)
    return _arranged(items, offsets, score, falling, row, group, order)


def _untied(score: Floats, offsets: Ints, row: Ints, group: Ints) -> Ints | None:
    """One plus the number of higher scores of the query, or None where another one is equal.

    Scores are sorted without the rows that they belong to, which costs a third, and each of those asked for is
    found by bisection.
    """
    rising, own = _ragged.sorted_rows(score, offsets), score[row]
    left = _ragged.lengths(offsets)[group]
    end = offsets[group] + left
    at = offsets[group]  # where a score is known not to be higher
    while len(left) and left.max() > 1:
        half = left >> 1
        at += half * (rising.take(at + half) <= own)  # np.where would mispredict half of them
        left -= half
    before = np.maximum(at - 1, offsets[group])
    return None if ((rising[before] == own) & (before < at)).any() else end - at


def _arranged(
    items: Items,
    offsets: Ints,
    score: Floats,
    arranged: Ints | None,
    row: Ints,
    group: Ints,
    order: Order,
) -> tuple[Ints, Ints, Ints]:
    """The same where each query's rows, in this arrangement, fall; None: as they stand."""
    at = row
    if arranged is not None:
        place = np.empty(len(arranged), np.int64)
        place[arranged] = np.arange(len(arranged))
        at, score = place[row], score[arranged]
    rank = at - offsets[group] + 1
    if not _ragged.is_shared(score, offsets, at, group):
        return rank, rank, rank
    new = _first_of_equals(score, offsets)
    starts = np.flatnonzero(new)
    run = np.searchsorted(starts, at, "right") - 1
    first = starts[run] - offsets[group] + 1
    last = starts[run + 1] - offsets[group]
    tied = np.flatnonzero(last > first)
    rank = first.copy()
    rank[tied] += _places(items, arranged, starts, run[tied], row[tied], order)
    return rank, first, last


def _first_of_equals(score: Floats, offsets: Ints) -> Bools:
    """Does a group of equal scores begin at each row? One more stands for the end."""
    new = np.ones(len(score) + 1, bool)
    new[1:-1] = score[1:] != score[:-1]
    new[offsets] = True
    return new


def _places(
    items: Items, arranged: Ints | None, starts: Ints, run: Ints, row: Ints, order: Order
) -> Ints:
    """Each row's place, from 0, among the rows of its group of equal scores."""
    runs = np.unique(run)
    lengths = starts[runs + 1] - starts[runs]
    at = _ragged.between(starts[runs], lengths)
    members = at if arranged is None else arranged[at]
    group = np.repeat(np.arange(len(runs)), lengths)
    if order.equal != "given":
        members = members[last_to_first(items.chosen(members), group)]
    elif arranged is not None:
        members = members[np.lexsort((members, group))]
    place = np.empty(len(items), np.int64)
    place[members] = _ragged.between(np.zeros(len(runs), np.int64), lengths)
    return place[row]


# --- The order of ids as text ----------------------------------------------------------------------

_DIGITS = 18  # of integers whose order as text is found by arithmetic


def last_to_first(ids: Items, group: Ints) -> Ints:
    """The rows by group, and within a group by id as text, the last one first."""
    if isinstance(ids, Spans):
        falling = binary.falling(ids)
        return falling[np.argsort(group[falling], kind="stable")]
    if isinstance(ids, Integers):
        values = ids.values
        if not len(values) or (values.min() >= 0 and values.max() < 10**_DIGITS):
            powers = 10 ** np.arange(_DIGITS + 1, dtype=np.int64)
            digits = np.maximum(np.searchsorted(powers, values, "right"), 1)
            aligned = values.astype(np.int64) * powers[_DIGITS - digits]
            return np.asarray(np.lexsort((-digits, -aligned, group)))
    import pyarrow as pa
    from pyarrow import compute

    table = pa.table({"group": pa.array(group), "id": ids.text().values})
    found = compute.sort_indices(table, [("group", "ascending"), ("id", "descending")])
    return np.frombuffer(found.buffers()[1], np.int64, len(found))
