"""Qrels and runs from TREC files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane.errors import DuplicateError
from germane.retrieval import Order, Qrels, Retrieved
from germane.sources import binary, trec
from germane.sources.columns import Batch, Reducer, Repeated, Run, repeated
from germane.sources.files import TextFile
from germane.sources.ids import to_text
from germane.sources.paths import Path, Progress, name_of

if TYPE_CHECKING:
    import pyarrow as pa


def read_qrels(path: Path, duplicates: str, progress: Progress | None = None) -> Qrels:
    """Read a TREC qrels file."""
    with TextFile(path, progress) as file:
        queries, query, items, grade = _judgments(file)
        keep = _unrepeated(file, queries, query, items, grade, duplicates)
    if keep is not None:
        query, grade, items = query[keep], grade[keep], items[keep]
    offsets = _ragged.offsets(np.bincount(query, minlength=len(queries)))
    return Qrels(list(map(to_text, queries)), offsets, items.tolist(), grade, name_of(path), "text")


def _judgments(file: TextFile) -> tuple[list[bytes], Ints, Any, Floats]:
    """The queries in the order of the file; and query, item and grade of every row, by query."""
    codes: dict[bytes, int] = {}
    owners: list[Ints] = []
    items: list[str] = []
    grades: list[Floats] = []
    for rows in trec.read(file, trec.QRELS):
        owners.append(_coded(rows, codes))
        items += map(to_text, rows.item.to_pylist())
        grades.append(rows.number)
    query = np.concatenate(owners)
    by_query = np.argsort(query, kind="stable")
    item = np.array([*items, None], object)[by_query]  # None: an array of objects, never of text
    return list(codes), query[by_query], item, np.concatenate(grades)[by_query]


def _unrepeated(
    file: TextFile, queries: list[bytes], query: Ints, items: Any, grade: Floats, duplicates: str
) -> Bools | None:
    """The judgments to keep, or None for all of them."""
    seen: dict[tuple[int, str], int] = {}
    again = []
    for row, pair in enumerate(zip(query.tolist(), items.tolist(), strict=True)):
        if seen.setdefault(pair, row) != row:
            again.append(row)
    if not again:
        return None
    if duplicates not in ("first", "last", "max"):
        row = again[0]
        raise _twice(
            file, trec.QRELS, queries[query[row]], items[row].encode("utf-8", "surrogateescape")
        )
    keep = np.ones(len(query), bool)
    for row in again:
        pair = (int(query[row]), items[row])
        kept = seen[pair]
        if duplicates == "last" or (duplicates == "max" and grade[row] > grade[kept]):
            seen[pair], kept, row = row, row, kept
        keep[row] = False
    return keep


def read_run(path: Path, progress: Progress | None = None) -> Run:
    """Read a whole TREC run file, its rows grouped by query."""
    with TextFile(path, progress) as file:
        return Run(name_of(path), _gathered(file))


def read_query(path: Path, query: bytes, duplicates: str, progress: Progress | None = None) -> Run:
    """Read a whole TREC run file, and keep one query's rows. Raises DuplicateError with the line."""
    import pyarrow as pa

    items: list[pa.BinaryArray] = []
    scores: list[Floats] = []
    with TextFile(path, progress) as file:
        for rows in trec.read(file, trec.RUN):
            for at in (i for i, found in enumerate(rows.queries) if found == query):
                stretch = slice(int(rows.offsets[at]), int(rows.offsets[at + 1]))
                # a copy, so that the block they stand in can go
                items.append(pa.concat_arrays([rows.item[stretch], rows.item[:0]]))
                scores.append(rows.number[stretch].copy())
        if duplicates == "error":
            copies = Counter(item for part in items for item in part.to_pylist())
            if (most := copies.most_common(1)) and most[0][1] > 1:
                raise _twice(file, trec.RUN, query, most[0][0])
    if not items:
        return Run(
            name_of(path), Batch([], np.zeros(1, np.int64), pa.array([], pa.binary()), np.zeros(0))
        )
    return Run(name_of(path), _one_query(query, items, scores))


def retrieve(
    qrels: Qrels, path: Path, duplicates: str, order: Order, progress: Progress | None = None
) -> Retrieved:
    """Find the judged items of a run file while it is read.

    Where the rows of each query stand together, memory does not depend on the unjudged ones. A file
    that comes back to a query it had left is read again, whole.
    """
    with TextFile(path, progress) as file:
        try:
            return _reduced(qrels, file, duplicates, order)
        except Repeated as found:
            raise _twice(file, trec.RUN, found.query, found.item) from None


def _reduced(qrels: Qrels, file: TextFile, duplicates: str, order: Order) -> Retrieved:
    reducer = Reducer(qrels, duplicates, order)
    for batch in _whole_queries(file):
        if any(map(reducer.seen, batch.queries)) or _repeats(batch.queries):
            reducer = Reducer(qrels, duplicates, order)
            reducer.add(_gathered(file))
            break
        reducer.add(batch)
    return reducer.result()


def _repeats(queries: list[bytes]) -> bool:
    return len(set(queries)) < len(queries)


def _whole_queries(file: TextFile) -> Iterator[Batch]:
    """The file as batches whose last query does not go on in the next one."""
    import pyarrow as pa

    query = b""  # the query that may go on, and its rows so far
    items: list[pa.BinaryArray] = []
    scores: list[Floats] = []
    for rows in trec.read(file, trec.RUN):
        groups, ends = rows.queries, rows.offsets
        if items and groups[0] != query:
            yield _one_query(query, items, scores)
            items, scores = [], []
        if len(groups) > 1:
            if items:
                items.append(rows.item[: ends[1]])
                scores.append(rows.number[: ends[1]])
                yield _one_query(query, items, scores)
                groups, ends, items, scores = groups[1:], ends[1:], [], []
            start, last = int(ends[0]), int(ends[-2])
            if last > start:
                inside = slice(start, last)
                yield Batch(groups[:-1], ends[:-1] - start, rows.item[inside], rows.number[inside])
        query = groups[-1]
        # a copy, so that the block they stand in can go
        items.append(pa.concat_arrays([rows.item[int(ends[-2]) :], rows.item[:0]]))
        scores.append(rows.number[ends[-2] :].copy())
    yield _one_query(query, items, scores)


def _one_query(query: bytes, items: list[pa.BinaryArray], scores: list[Floats]) -> Batch:
    import pyarrow as pa

    score = np.concatenate(scores)
    return Batch([query], np.array([0, len(score)]), pa.concat_arrays(items), score)


def _gathered(file: TextFile) -> Batch:
    """All rows of the file, grouped by query in the order in which the queries first appear."""
    import pyarrow as pa

    codes: dict[bytes, int] = {}
    owners: list[Ints] = []
    items: list[pa.BinaryArray] = []
    scores: list[Floats] = []
    for rows in trec.read(file, trec.RUN):
        owners.append(_coded(rows, codes))
        items.append(rows.item)
        scores.append(rows.number)
    owner, score = np.concatenate(owners), np.concatenate(scores)
    item = pa.concat_arrays(items)
    del items, scores
    if (np.diff(owner) < 0).any():
        by_query = np.argsort(owner, kind="stable")
        item, score = binary.chosen(item, by_query), score[by_query]
    return Batch(list(codes), _ragged.offsets(np.bincount(owner)), item, score)


def _coded(rows: trec.Rows, codes: dict[bytes, int]) -> Ints:
    """Each row's query as a number; new queries are given the next one."""
    code = np.array([codes.setdefault(query, len(codes)) for query in rows.queries], np.int32)
    return np.repeat(code, np.diff(rows.offsets))


def _twice(file: TextFile, layout: trec.Layout, query: bytes, item: bytes) -> DuplicateError:
    """The error for a repeated row, with the lines it stands on."""
    wanted = re.compile(
        rb"^[ \t]*" + re.escape(query) + rb"[ \t]+\S+[ \t]+" + re.escape(item) + rb"[ \t]",
        re.MULTILINE,
    )
    lines: list[int] = []
    line = 1
    for block in file.blocks():
        data = block.data
        found = (match.start() for match in wanted.finditer(data))
        lines += [line + data.count(b"\n", 0, start) for start in found]
        line += data.count(b"\n")
        if len(lines) > 1:
            break
    again = lines[1] if len(lines) > 1 else lines[0] if lines else 0
    like = f", as on line {lines[0]}" if len(lines) > 1 else ""
    what = "retrieved" if layout is trec.RUN else "judged"
    return repeated(f"{file.name}:{again}", what, query, item, like)
