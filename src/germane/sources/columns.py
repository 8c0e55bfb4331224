"""Runs as columns: rows of (query, item, score), reduced a batch of whole queries at a time.

The judged items among a batch's rows are found by a 64-bit fingerprint of (query, item), and so
are repeated rows, judged or not: they move the ranks of others. Whatever a fingerprint finds is
then compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane.errors import FormatError, clip
from germane.retrieval import Qrels, Retrieved
from germane.sources.ids import to_bytes
from germane.sources.trec import offsets_and_bytes

if TYPE_CHECKING:
    import pyarrow as pa

Hashes = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_TABLE_BITS = 20  # judged pairs are looked up in a table of this many bits first


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of whole queries: query g's rows are ``offsets[g]:offsets[g + 1]``."""

    queries: list[bytes]
    offsets: Ints
    item: pa.BinaryArray
    score: Floats


@dataclass(frozen=True)
class Repeated(Exception):
    """An item is retrieved twice for a query, and that is an error; the reader says where."""

    query: bytes
    item: bytes


class Reducer:
    """Takes batches and keeps what was judged."""

    def __init__(self, qrels: Qrels, duplicates: str, order: str) -> None:
        import pyarrow as pa

        self._qrels, self._duplicates, self._order = qrels, duplicates, order
        self._code = {to_bytes(query): q for q, query in enumerate(qrels.queries)}
        if len(self._code) < len(qrels):
            raise FormatError("two query ids of the qrels have the same text.")
        self._judged = pa.array([to_bytes(item) for item in qrels.items], pa.binary())
        self._salt = _mixed(np.arange(len(qrels), dtype=np.uint64) + np.uint64(1))
        pairs = fingerprints(self._judged) + self._salt[_ragged.owners(qrels.offsets)]
        self._judgment = np.argsort(pairs, kind="stable")
        self._pairs = pairs[self._judgment]
        self._bits = np.uint64(64 - _TABLE_BITS)
        self._table = np.zeros(1 << _TABLE_BITS, bool)
        self._table[self._pairs >> self._bits] = True
        self._answered = np.zeros(len(qrels), bool)
        self._retrieved = np.zeros(len(qrels), np.int64)
        self._unknown: dict[bytes, None] = {}
        self._parts: list[tuple[Ints, ...]] = []

    def seen(self, query: bytes) -> bool:
        """Has the query been reduced already?"""
        code = self._code.get(query)
        return query in self._unknown if code is None else bool(self._answered[code])

    def add(self, batch: Batch) -> None:
        """Reduce one batch. Raises Repeated for a repeated row where that is an error."""
        code = np.array([self._code.get(query, -1) for query in batch.queries], np.int64)
        self._unknown.update((q, None) for q, c in zip(batch.queries, code, strict=True) if c < 0)
        if (code < 0).any():
            batch, code = _only_known(batch, code)
        if not len(code):
            return
        self._answered[code] = True
        pair = fingerprints(batch.item)
        pair += np.repeat(self._salt[code], np.diff(batch.offsets))
        if self._duplicates != "keep":
            kept = self._without_repeats(batch, pair)
            if kept is not None:
                batch, pair = _some_rows(batch, kept), pair[kept]
        self._retrieved[code] = np.diff(batch.offsets)
        row, judgment = self._hits(batch, pair)
        if len(row):
            group = np.searchsorted(batch.offsets, row, "right") - 1
            ranks = _ranks(batch, row, group, self._order)
            self._parts.append((judgment, code[group], *ranks))

    def result(self) -> Retrieved:
        columns = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        if not columns:
            columns = [np.zeros(0, np.int64)] * 5
        judgment, owner, rank, tied_from, tied_to = columns
        unknown: list[Hashable] = [
            query.decode("utf-8", "surrogateescape") for query in self._unknown
        ]
        return Retrieved(
            judgment, owner, rank, tied_from, tied_to, self._retrieved, self._answered, unknown
        )

    def _hits(self, batch: Batch, pair: Hashes) -> tuple[Ints, Ints]:
        """The rows that are judged, and their places in the qrels."""
        row = np.flatnonzero(self._table[pair >> self._bits])
        place = np.minimum(np.searchsorted(self._pairs, pair[row]), len(self._pairs) - 1)
        same = self._pairs[place] == pair[row]
        row, judgment = row[same], self._judgment[place[same]]
        import pyarrow.compute as pc

        exact = pc.equal(batch.item.take(row), self._judged.take(judgment))
        exact = exact.to_numpy(zero_copy_only=False)
        return row[exact], judgment[exact]

    def _without_repeats(self, batch: Batch, pair: Hashes) -> Bools | None:
        """The rows to keep, or None for all of them."""
        ordered = np.sort(pair)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(twice):
            return None
        keep = np.ones(len(pair), bool)
        groups: dict[tuple[int, bytes], list[int]] = {}
        for row in np.flatnonzero(np.isin(pair, twice)).tolist():
            group = int(np.searchsorted(batch.offsets, row, "right")) - 1
            groups.setdefault((group, batch.item[row].as_py()), []).append(row)
        for (group, item), rows in groups.items():
            if len(rows) == 1:  # equal fingerprints of different items
                continue
            if self._duplicates == "error":
                raise Repeated(batch.queries[group], item)
            keep[rows] = False
            keep[_kept_copy(rows, batch.score[rows], self._duplicates)] = True
        return None if keep.all() else keep


def _kept_copy(rows: list[int], scores: Floats, duplicates: str) -> int:
    match duplicates:
        case "first":
            return rows[0]
        case "last":
            return rows[-1]
        case _:
            return rows[int(np.argmax(scores))]


def _only_known(batch: Batch, code: Ints) -> tuple[Batch, Ints]:
    known = code >= 0
    rows = np.repeat(known, np.diff(batch.offsets))
    queries = [batch.queries[g] for g in np.flatnonzero(known)]
    smaller = _some_rows(batch, rows)
    lengths = np.diff(smaller.offsets)[known]
    return Batch(queries, _ragged.offsets(lengths), smaller.item, smaller.score), code[known]


def _some_rows(batch: Batch, rows: Bools) -> Batch:
    import pyarrow as pa

    owner = _ragged.owners(batch.offsets)
    lengths = _ragged.counts(rows, owner, len(batch.queries))
    return Batch(
        batch.queries,
        _ragged.offsets(lengths),
        batch.item.filter(pa.array(rows)),
        batch.score[rows],
    )


# --- Fingerprints ----------------------------------------------------------------------------------


def fingerprints(values: pa.BinaryArray) -> Hashes:
    """A 64-bit hash of each value's bytes; different values of up to 8 bytes never collide."""
    starts, data = offsets_and_bytes(values)
    out = np.zeros(len(values), np.uint64)
    if not len(values):
        return out
    first, lengths = starts[:-1] - starts[0], np.diff(starts)
    padded = np.zeros(int(starts[-1] - starts[0]) + 8, np.uint8)
    padded[:-8] = data[starts[0] : starts[-1]]
    words = np.ndarray(len(padded) - 7, np.uint64, padded, strides=(1,))
    longest = int(lengths.max())
    for at in range(0, longest, 8):
        if at == 0:
            out = words[first] & _MASKS[np.minimum(lengths, 8)]
        else:
            inside = np.flatnonzero(lengths > at)
            word = words[first[inside] + at] & _MASKS[np.minimum(lengths[inside] - at, 8)]
            out[inside] = _mixed(out[inside]) ^ word
    return _mixed(out)


# the low bytes of a word that belong to a value of 0 … 8 bytes (little-endian words)
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


def _mixed(hashes: Hashes) -> Hashes:
    """Spread every bit over all bits; one to one."""
    hashes = hashes * _ODD
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(32)
    return hashes


# --- Ranks -----------------------------------------------------------------------------------------


def _ranks(batch: Batch, row: Ints, group: Ints, order: str) -> tuple[Ints, Ints, Ints]:
    """Rank, and first and last rank of the group of equal scores, of the rows asked for."""
    score = batch.score
    position = row - batch.offsets[group] + 1
    rank, first, last = position.copy(), position.copy(), position.copy()
    for at in _unsettled(batch, row, group):
        hits = slice(*at)
        start, end = batch.offsets[group[at[0]] : group[at[0]] + 2]
        ascending = np.sort(score[start:end])
        own = score[row[hits]]
        first[hits] = end - start + 1 - np.searchsorted(ascending, own, "right")
        last[hits] = end - start - np.searchsorted(ascending, own, "left")
        rank[hits] = first[hits]
        if (last[hits] > first[hits]).any():
            rank[hits] += _places(batch, row[hits], int(start), int(end), order)
    return rank, first, last


def _unsettled(batch: Batch, row: Ints, group: Ints) -> list[tuple[int, int]]:
    """Slices of ``row``: the queries whose ranks are not just positions.

    They are those whose scores are not in descending order, and those with a hit in a tie.
    """
    score = batch.score
    rising = score[1:] > score[:-1]
    rising[batch.offsets[1:-1] - 1] = False
    unsorted_groups = np.searchsorted(batch.offsets, np.flatnonzero(rising), "right") - 1
    above, below = (
        np.maximum(row - 1, batch.offsets[group]),
        np.minimum(row + 1, batch.offsets[group + 1] - 1),
    )
    tied = ((above < row) & (score[above] == score[row])) | (
        (below > row) & (score[below] == score[row])
    )
    unsettled = np.union1d(unsorted_groups, group[tied])
    starts = np.searchsorted(group, unsettled, "left").tolist()
    ends = np.searchsorted(group, unsettled, "right").tolist()
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _places(batch: Batch, rows: Ints, start: int, end: int, order: str) -> Ints:
    """Each row's place, from 0, among the items of its score in its query."""
    score = batch.score[start:end]
    among = np.flatnonzero(np.isin(score, batch.score[rows]))
    if order == "given":
        by_key = among
    else:
        items = batch.item.take(start + among).to_pylist()
        by_key = among[sorted(range(len(items)), key=items.__getitem__, reverse=True)]
    arranged = by_key[np.argsort(-score[by_key], kind="stable")]
    falling = -score[arranged]
    at = np.empty(end - start, np.int64)
    at[arranged] = np.arange(len(arranged))
    out: Ints = at[rows - start] - np.searchsorted(falling, -batch.score[rows], "left")
    return out


# --- Runs held in memory ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Run:
    """A run read into memory: its rows grouped by query.

    >>> run = germane.read_run("examples/digits/lda.run")
    >>> len(run)
    300
    """

    name: str
    rows: Batch

    def __len__(self) -> int:
        return len(self.rows.queries)

    def __repr__(self) -> str:
        return f"Run({self.name!r}: {len(self)} queries, {len(self.rows.score)} results)"


def retrieve(qrels: Qrels, run: Run, duplicates: str, order: str) -> Retrieved:
    """Find the judged items of a run held in memory."""
    reducer = Reducer(qrels, duplicates, order)
    try:
        reducer.add(run.rows)
    except Repeated as found:
        raise repeated_error(run.name, found) from None
    return reducer.result()


def repeated_error(where: str, found: Repeated) -> Any:
    from germane.errors import DuplicateError

    return DuplicateError(
        f"{where}: item {_id(found.item)} is retrieved twice for query {_id(found.query)}. "
        "duplicates=first, last or max keeps one copy."
    )


def _id(identifier: bytes) -> str:
    return clip(identifier.decode("utf-8", "backslashreplace"))
