"""Reduces a grid of scores, queries × items, both numbered from 0: all runs that are arrays."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.core.retrieved import Order, Retrieved
from germane.errors import CoverageError, InputError, clip
from germane.kernel.columns import Integers
from germane.kernel.ids import as_integer, is_integer
from germane.readers import matrix
from germane.readers.candidates import Mask

CELLS = 1 << 23  # scores that are held at once


class ColumnGroups:
    """The group of each column; a group's score is the highest of its columns."""

    def __init__(self, codes: Ints, count: int) -> None:
        self.codes, self.count = codes, count
        self.order = np.argsort(codes, kind="stable")
        self.offsets = ragged.make_offsets(np.bincount(codes, minlength=count))
        self._in_order = bool((codes[1:] >= codes[:-1]).all())

    def reduce(self, scores: Any) -> Any:
        """Reduce rows of scores of columns to those of groups."""
        arranged = scores if self._in_order else scores[:, self.order]
        return np.maximum.reduceat(arranged, self.offsets[:-1], axis=1)


Scores: TypeAlias = tuple[Any, Ints | None]
"""Rows of scores, and the number of cells in each row that are absent, which are -inf; or None."""
Block: TypeAlias = Callable[[Ints], Scores]
"""Row numbers → their scores."""
Rank: TypeAlias = Callable[[Ints, Any, Ints, Ints], matrix.Ranks]
"""Row numbers, and the arguments of ``matrix.rank_columns`` → the ranks."""


def reduce_grid(
    qrels: Qrels,
    shape: tuple[int, int],
    block: Block,
    order: Order,
    *,
    what: str,
    cells: int = CELLS,
    rank: Rank = lambda rows, *given: matrix.rank_columns(*given),
    report: Callable[[int], None] = lambda ranked: None,
) -> Retrieved:
    """Rank the judged columns of scores of this shape, in blocks of about ``cells`` scores.

    ``report`` gets the number of queries that are ranked so far. Raises InputError if the judgments are
    of other columns.
    """
    rows, width = find_rows(qrels, shape[0]), shape[1]
    columns = find_columns(qrels, width, what)
    asked = np.flatnonzero(rows >= 0)
    retrieved = np.zeros(len(qrels), np.int64)
    hits, ranked = Hits(len(columns)), 0
    mask = Mask(qrels, width)
    excluded = None if mask.is_empty else np.zeros(len(qrels), np.int64)
    step = max(1, cells // max(1, width))
    shares = (asked[start : start + step] for start in range(0, len(asked), step))
    for queries in shares:
        scores, absent = block(rows[queries])
        if excluded is not None:
            scores = scores.astype(
                np.result_type(scores, np.float32)
            )  # a copy; bools have no infinity
            there = scores > -np.inf
            scores[mask.find_outside(queries)] = -np.inf
            absent = np.count_nonzero(scores == -np.inf, axis=1)
            excluded[queries] = np.count_nonzero(there, axis=1) - (width - absent)
        if not order.plain:
            ends = np.arange(len(scores) + 1) * width
            scores = admit_columns(scores.ravel(), ends, order).reshape(scores.shape)
            absent = np.count_nonzero(scores == -np.inf, axis=1)
        retrieved[queries] = width if absent is None else width - absent
        judgments, sizes = find_judgments(qrels, queries)
        if absent is not None:
            local = np.repeat(np.arange(len(queries)), sizes)
            there = scores[local, columns[judgments]] > find_floor(order)
            judgments, local = judgments[there], local[there]
            sizes = np.bincount(local, minlength=len(queries))
        found = rank(rows[queries], scores, ragged.make_offsets(sizes), columns[judgments])
        hits.add(judgments, np.repeat(queries, sizes), found)
        del scores  # before the next ones are made
        ranked += len(queries)
        report(ranked)
    return hits.join(retrieved, rows, shape[0], excluded)


def admit_columns(scores: Any, offsets: Ints, order: Order) -> Any:
    """Convert flat scores to the precision asked for, and to -inf if they do not count as retrieved."""
    there = scores > -np.inf
    left = ragged.count_flags(there, ragged.find_owners(offsets), len(offsets) - 1)
    precise = order.convert_scores(scores[there].astype(float), ragged.make_offsets(left))
    precise = np.maximum(precise, np.finfo(float).min)  # singles may overflow, but are not absent
    precise[~order.reach_threshold(precise)] = -np.inf
    out = np.full(len(scores), -np.inf)
    out[there] = precise
    return out


def find_floor(order: Order) -> float:
    """The score above which a judged item is found."""
    return 0.0 if order.nonpositive == "miss" else -np.inf


class Hits:
    """The hits of blocks of queries, at most one for each of so many judgments."""

    def __init__(self, judgments: int) -> None:
        self._judgment, self._owner, self._rank = np.empty((3, judgments), np.int64)
        self._tied: list[matrix.Tied] = []
        self._count = 0

    def add(self, judgments: Ints, owner: Ints, found: matrix.Ranks) -> None:
        """Add the ranks of some judgments. ``owner`` has their queries."""
        start, self._count = self._count, self._count + len(judgments)
        here = slice(start, self._count)
        judgments.take(found.order, out=self._judgment[here], mode="clip")
        self._owner[here], self._rank[here] = owner, found.rank
        for at, first, last in found.tied:
            self._tied.append((slice(start + at.start, start + at.stop), first, last))

    def join(
        self, retrieved: Ints, rows: Ints, count: int, excluded: Ints | None = None
    ) -> Retrieved:
        """Join the hits. ``rows``: the row of each query, out of ``count`` rows, or -1."""
        judgment, owner, rank = (
            part[: self._count] for part in (self._judgment, self._owner, self._rank)
        )
        tied_from, tied_to = matrix.find_groups(rank, self._tied)
        if (owner[1:] < owner[:-1]).any():  # the blocks were not in the order of queries
            order = np.argsort(owner, kind="stable")
            judgment, owner, rank = judgment[order], owner[order], rank[order]
            tied_from, tied_to = tied_from[order], tied_to[order]
        return Retrieved(
            judgment,
            owner,
            rank,
            tied_from,
            tied_to,
            retrieved,
            rows >= 0,
            list_unknown(rows, count),
            excluded=excluded,
        )


def list_unknown(rows: Ints, count: int) -> list[Hashable]:
    """List the rows, out of ``count``, that no query has."""
    seen = np.zeros(count, bool)
    seen[rows[rows >= 0]] = True
    return cast("list[Hashable]", np.flatnonzero(~seen).tolist())


def find_rows(qrels: Qrels, count: int) -> Ints:
    """Find the row of each query, which its id numbers; -1 if there is no such row."""
    if qrels.width is not None:  # the qrels were an array, too
        if len(qrels) != count:
            raise InputError(f"the qrels have {len(qrels)} rows, the run has {count}.")
        return np.arange(count)
    rows = np.full(len(qrels), -1)
    for q, query in enumerate(_read_numbers(qrels, qrels.queries)):
        if isinstance(query, (int, np.integer)) and 0 <= query < count:
            rows[q] = query
    return rows


def _read_numbers(qrels: Qrels, ids: Sequence[Hashable]) -> Sequence[Hashable]:
    """Read the digits of ids from a file of text as integers.

    In a LETOR file without ids, the ids are numbers of lines, which are not columns.
    """
    of_lines = getattr(qrels.lines, "items", "ids") == "places"
    return list(map(as_integer, ids)) if qrels.ids == "text" and not of_lines else ids


def find_columns(qrels: Qrels, width: int | None, what: str) -> Ints:
    """Find the column of each judged item, which its id numbers. A width of None allows any column."""
    if qrels.width is not None and width is not None and qrels.width != width:
        raise InputError(
            f"the shapes differ: the qrels have {qrels.width} columns, the {what} have {width}."
        )
    items = qrels.items if isinstance(qrels.items, Integers) else _read_numbers(qrels, qrels.items)
    columns = items.values if isinstance(items, Integers) else np.asarray(items)
    if columns.dtype.kind not in "iu" and len(columns):
        odd = next((item for item in items if not _is_column(item)), "")
        raise CoverageError(
            f"the items of arrays are column numbers from 0; the qrels judge item {clip(odd)}. item_ids= gives "
            "the id of each column. If columns are chunks, collapse= gives the document of each."
        )
    numbers = columns.astype(np.int64, copy=False)
    outside = (numbers < 0) | (numbers >= width) if width is not None else numbers < 0
    if outside.any():
        j = int(np.argmax(outside))
        query = qrels.queries[int(np.searchsorted(qrels.offsets, j, "right")) - 1]
        last = "" if width is None else f" to {width - 1}"
        raise InputError(
            f"qrels, query {clip(query)}: item {columns[j]} is no column of the {what}; they are 0{last}."
        )
    return numbers


def _is_column(item: Hashable) -> bool:
    return is_integer(item) and 0 <= int(item) < 1 << 63


def find_judgments(qrels: Qrels, queries: Ints) -> tuple[Ints, Ints]:
    """Find the judgments of some queries, and their number for each query."""
    sizes = ragged.find_lengths(qrels.offsets)[queries]
    if isinstance(ragged.as_slice(queries), slice):
        return np.arange(qrels.offsets[queries[0]], qrels.offsets[queries[-1] + 1]), sizes
    return ragged.list_stretches(qrels.offsets[queries], sizes), sizes
