"""A grid of queries × items, both numbered from 0: the way that all array sources share."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Ints
from germane._records import replaced
from germane.errors import CoverageError, InputError, clip
from germane.retrieval import Order, Qrels, Retrieved, together
from germane.sources import matrix
from germane.sources.id_columns import Integers

CELLS = 1 << 23  # scores that are held at once

Block = Callable[[Ints], tuple[Any, Ints | None]]
"""Row numbers → their scores, and how many of each row are -inf, since they are not there; or None."""


def reduced(
    qrels: Qrels,
    shape: tuple[int, int],
    block: Block,
    order: Order,
    *,
    what: str,
    cells: int = CELLS,
    done: Callable[[int], None] | None = None,
) -> Retrieved:
    """The judged columns of scores of this shape, taken in blocks of about ``cells`` scores.

    Raises InputError where the judgments are of other columns.
    """
    rows, width = rows_of(qrels, shape[0]), shape[1]
    columns = columns_of(qrels, width, what)
    asked = np.flatnonzero(rows >= 0)
    retrieved = np.zeros(len(qrels), np.int64)
    parts = []
    step = max(1, cells // max(1, width))
    for start in range(0, len(asked), step):
        queries = asked[start : start + step]
        scores, absent = block(rows[queries])
        if not order.plain:
            ends = np.arange(len(scores) + 1) * width
            scores = admitted(scores.ravel(), ends, order).reshape(scores.shape)
            absent = np.count_nonzero(scores == -np.inf, axis=1)
        retrieved[queries] = width if absent is None else width - absent
        judgments, owner = owned_judgments(qrels, queries)
        local = owner - start if len(asked) == len(qrels) else np.searchsorted(queries, owner)
        if absent is not None:
            there = scores[local, columns[judgments]] > floor(order)
            judgments, owner, local = judgments[there], owner[there], local[there]
        offsets = _ragged.offsets(np.bincount(local, minlength=len(queries)))
        found = matrix.ranks(scores, offsets, columns[judgments])
        parts.append((judgments[found.order], owner, found.rank, found.tied_from, found.tied_to))
        if done is not None:
            done(start + len(queries))
    return retrieved_of(parts, retrieved, rows, shape[0])


def admitted(scores: Any, offsets: Ints, order: Order) -> Any:
    """Flat scores of queries as precise as asked for, -inf where they do not count as retrieved."""
    there = scores > -np.inf
    left = _ragged.counts(there, _ragged.owners(offsets), len(offsets) - 1)
    precise = order.precise(scores[there].astype(float), _ragged.offsets(left))
    precise = np.maximum(precise, np.finfo(float).min)  # singles may overflow, and are there
    precise[~order.above(precise)] = -np.inf
    out = np.full(len(scores), -np.inf)
    out[there] = precise
    return out


def floor(order: Order) -> float:
    """A judged item is found where its score is above this."""
    return 0.0 if order.nonpositive == "miss" else -np.inf


def retrieved_of(
    parts: Sequence[tuple[Ints, ...]], retrieved: Ints, rows: Ints, count: int
) -> Retrieved:
    """What the blocks found, put together. ``rows``: each query's row of ``count``, or -1."""
    found = together(parts or [(np.zeros(0, np.int64),) * 5])
    if (found[1][1:] < found[1][:-1]).any():  # the blocks were not in the order of queries
        order = np.argsort(found[1], kind="stable")
        found = [column[order] for column in found]
    judgment, owner, rank, tied_from, tied_to = found
    return Retrieved(
        judgment, owner, rank, tied_from, tied_to, retrieved, rows >= 0, unknown(rows, count)
    )


def unknown(rows: Ints, count: int) -> list[Hashable]:
    """The rows, of ``count``, that are no query's."""
    seen = np.zeros(count, bool)
    seen[rows[rows >= 0]] = True
    return cast("list[Hashable]", np.flatnonzero(~seen).tolist())


def rows_of(qrels: Qrels, count: int) -> Ints:
    """Q: the row of each query, -1 where there is none. A query's id is the number of its row."""
    if qrels.width is not None:  # made of an array, whose rows are all there
        if len(qrels) != count:
            raise InputError(f"the qrels have {len(qrels)} rows, the run has {count}.")
        return np.arange(count)
    rows = np.full(len(qrels), -1)
    for q, query in enumerate(qrels.queries):
        if isinstance(query, (int, np.integer)) and 0 <= query < count:
            rows[q] = query
    return rows


def columns_of(qrels: Qrels, width: int | None, what: str) -> Ints:
    """J: the column of each judged item; its id is its number. Any where the width is None."""
    if qrels.width is not None and width is not None and qrels.width != width:
        raise InputError(
            f"the shapes differ: the qrels have {qrels.width} columns, the {what} have {width}."
        )
    items = qrels.items
    columns = items.values if isinstance(items, Integers) else np.asarray(items)
    if columns.dtype.kind not in "iu" and len(columns):
        odd = next((i for i in qrels.items if not isinstance(i, (int, np.integer))), "")
        raise CoverageError(
            f"the items of arrays are column numbers from 0; the qrels judge item {clip(odd)}."
        )
    outside = columns < 0 if width is None else (columns < 0) | (columns >= width)
    if outside.any():
        j = int(np.flatnonzero(outside)[0])
        query = qrels.queries[int(np.searchsorted(qrels.offsets, j, "right")) - 1]
        last = "" if width is None else f" to {width - 1}"
        raise InputError(
            f"qrels, query {clip(query)}: item {columns[j]} is no column of the {what}; they are 0{last}."
        )
    return columns.astype(np.int64, copy=False)


def judgments_of(qrels: Qrels, queries: Ints) -> slice | Ints:
    """The judgments of some queries, which ascend."""
    at = _ragged.as_slice(queries)
    if isinstance(at, slice):
        return slice(int(qrels.offsets[at.start]), int(qrels.offsets[at.stop]))
    starts = qrels.offsets[queries]
    lengths = qrels.offsets[queries + 1] - starts
    ends = np.cumsum(lengths)
    judgments: Ints = np.repeat(starts - (ends - lengths), lengths)
    judgments += np.arange(len(judgments))
    return judgments


def owned_judgments(qrels: Qrels, queries: Ints) -> tuple[Ints, Ints]:
    """The same as numbers, and the query of each."""
    at = judgments_of(qrels, queries)
    judgments = np.arange(at.start, at.stop) if isinstance(at, slice) else at
    return judgments, np.repeat(queries, _ragged.lengths(qrels.offsets)[queries])


def some_judgments(qrels: Qrels, kept: Bools) -> Qrels:
    """The qrels with some of their judgments; a query that loses all of them stays."""
    left = _ragged.counts(kept, _ragged.owners(qrels.offsets), len(qrels))
    items = Integers(columns_of(qrels, None, "gallery")[kept])
    return replaced(
        qrels,
        offsets=_ragged.offsets(left),
        items=items,
        grades=qrels.grades[kept],
        columns=None,
    )
