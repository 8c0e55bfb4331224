"""Ranks as a column: rows in their order, and what is wrong with ranks that are none."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from germane.core import ragged
from germane.core.ragged import Ints
from germane.errors import FormatError, clip

if TYPE_CHECKING:
    from germane.kernel.reduction import Batch


def order_by_rank(batch: Batch, queries: Sequence[Hashable]) -> Batch:
    """The rows with scores that agree with their ranks; without scores, in the order of the ranks.

    Raises FormatError for ranks that are no order, or that scores contradict.
    """
    if batch.rank is None:
        return batch
    order, rank = None, batch.rank
    falling = rank[1:] <= rank[:-1]
    falling[ragged.lasts(batch.offsets)] = False
    owner, score = batch.owner, batch.score
    if falling.any():
        order = np.lexsort((rank, owner) if score is None else (-score, rank, owner))
        ordered = rank[order]
        odd = np.flatnonzero((owner[1:] == owner[:-1]) & (ordered[1:] == ordered[:-1]))
        if len(odd) and score is None:
            raise _same_rank(batch, queries, order[odd[0] : odd[0] + 2])
    if score is None:
        if order is None:
            return batch
        return replace(batch, items=batch.items.take(order), rank=None)
    arranged = score if order is None else score[order]
    rising = arranged[1:] > arranged[:-1]
    rising[ragged.lasts(batch.offsets)] = False
    odd = np.flatnonzero(rising)
    if len(odd):
        pair = np.arange(odd[0], odd[0] + 2)
        raise _contradiction(batch, queries, pair if order is None else order[pair])
    return batch


def _same_rank(batch: Batch, queries: Sequence[Hashable], pair: Ints) -> FormatError:
    assert batch.rank is not None
    query = queries[int(batch.code[batch.owner[pair[0]]])]
    one, other = batch.items.take(pair)
    return FormatError(
        f"run, query {clip(query)}: items {clip(one)} and {clip(other)} have the same rank, "
        f"{batch.rank[pair[0]]}. The ranks of a query's items differ; equal scores, without ranks, are ties."
    )


def _contradiction(batch: Batch, queries: Sequence[Hashable], pair: Ints) -> FormatError:
    assert batch.score is not None
    assert batch.rank is not None
    query = queries[int(batch.code[batch.owner[pair[0]]])]
    (one, other), rank, score = batch.items.take(pair), batch.rank[pair], batch.score[pair]
    return FormatError(
        f"run, query {clip(query)}: ranks and scores contradict each other: item {clip(one)} has "
        f"rank {rank[0]} and score {score[0]:g}, item {clip(other)} rank {rank[1]} and score "
        f"{score[1]:g}. columns={{'rank': None}} goes by the scores, columns={{'score': None}} by the "
        "ranks."
    )
