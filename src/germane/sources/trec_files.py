"""Qrels and runs from TREC files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane._records import replaced
from germane.errors import DuplicateError
from germane.retrieval import Order, Qrels, Retrieved
from germane.sources import binary, first_lines, trec
from germane.sources.alike import repeats
from germane.sources.binary import Spans
from germane.sources.columns import Batch, Ids, Reducer, Repeated, Run, repeated
from germane.sources.files import TextFile, ends_of_lines
from germane.sources.ids import to_text
from germane.sources.paths import BATCH, Noted, Path, Progress, name_of


def read_qrels(path: Path, duplicates: str, progress: Progress | None = None) -> Qrels:
    """Read a TREC qrels file."""
    with TextFile(path, progress) as file:
        queries, owner, item, grade = _judgments(file)
        offsets = _ragged.offsets(np.bincount(owner, minlength=len(queries)))
        keep = _unrepeated(file, queries, offsets, item, grade, duplicates)
    if keep is not None:
        offsets = _ragged.offsets(_ragged.counts(keep, owner, len(queries)))
        item, grade = item.chosen(keep), grade[keep]
    return Qrels(list(map(to_text, queries)), offsets, Ids(item), grade, name_of(path), "text")


def _judgments(file: TextFile) -> tuple[list[bytes], Ints, Spans, Floats]:
    """The queries in the order of the file; and query, item and grade of every row, by query."""
    codes: dict[bytes, int] = {}
    owners: list[Ints] = []
    items: list[Spans] = []
    grades: list[Floats] = []
    for rows in trec.read(file, trec.QRELS):
        owners.append(_coded(rows, codes))
        items.append(rows.item.copied())
        grades.append(rows.number)
    owner, item, grade = np.concatenate(owners), binary.joined(items), np.concatenate(grades)
    if (owner[1:] < owner[:-1]).any():
        by_query = np.argsort(owner, kind="stable")
        owner, item, grade = owner[by_query], item.chosen(by_query), grade[by_query]
    return list(codes), owner, item, grade


def _unrepeated(
    file: TextFile,
    queries: list[bytes],
    offsets: Ints,
    item: Spans,
    grade: Floats,
    duplicates: str,
) -> Bools | None:
    """The judgments to keep, or None for all of them."""
    suspects = repeats(binary.fingerprints(item), offsets)
    query = (np.searchsorted(offsets, suspects, "right") - 1).tolist()
    pairs = zip(query, item.chosen(suspects).tolist(), strict=True)
    seen: dict[tuple[int, bytes], int] = {}
    keep = np.ones(len(item), bool)
    for row, pair in zip(suspects.tolist(), pairs, strict=True):
        kept = seen.setdefault(pair, row)
        if kept == row:
            continue
        if duplicates not in ("first", "last", "max"):
            raise _twice(file, trec.QRELS, queries[pair[0]], pair[1])
        if duplicates == "last" or (duplicates == "max" and grade[row] > grade[kept]):
            seen[pair], kept, row = row, row, kept
        keep[row] = False
    return None if keep.all() else keep


def read_run(path: Path, progress: Progress | None = None) -> Run:
    """Read a whole TREC run file, its rows grouped by query."""
    with TextFile(path, progress) as file:
        return Run(name_of(path), _gathered(file))


def read_query(path: Path, query: bytes, duplicates: str, progress: Progress | None = None) -> Run:
    """Read a whole TREC run file, and keep one query's rows. Raises DuplicateError with the line."""
    found: list[trec.Rows] = []
    with TextFile(path, progress) as file:
        for rows in trec.read(file, trec.RUN):
            found += (rows.stretch(g) for g, q in enumerate(rows.queries) if q == query)
        if duplicates == "error":
            copies = Counter(item for rows in found for item in rows.item.tolist())
            if (most := copies.most_common(1)) and most[0][1] > 1:
                raise _twice(file, trec.RUN, query, most[0][0])
    none = Batch([], np.zeros(1, np.int64), binary.spans([]), np.zeros(0))
    return Run(name_of(path), _one_query(query, found) if found else none)


def retrieve(
    qrels: Qrels, path: Path, duplicates: str, order: Order, progress: Progress | None = None
) -> Retrieved:
    """Find the judged items of a run file while it is read.

    Where the rows of each query stand together, memory does not depend on the unjudged ones. A file
    that comes back to a query it had left is read again, and its rows are sorted, many of them on disk.
    """
    told = Noted(progress)
    with TextFile(path, told) as file:
        try:
            got = _reduced(file, Reducer(qrels, duplicates, order))
            if got is None:
                from germane.sources import scattered  # which seldom is

                got = scattered.reduced(file, Reducer(qrels, duplicates, order), told)
        except Repeated as found:
            raise _twice(file, trec.RUN, found.query, found.item) from None
        return replaced(got, noticed=first_lines.of_file(file, qrels, got, order))


def _reduced(file: TextFile, reducer: Reducer) -> Retrieved | None:
    """What was retrieved, or None where the rows of a query do not stand together."""
    for rows in trec.read(file, trec.RUN):
        if any(map(reducer.seen, rows.queries)) or _repeats(rows.queries):
            return None
        reducer.add(Batch(rows.queries, rows.offsets, rows.item, rows.number))
    return reducer.result()


def batches(path: Path, start: int, progress: Progress | None = None) -> Iterator[tuple[int, Run]]:
    """The lines from a byte on as runs of whole queries, held in memory, and where each ends."""
    held: list[trec.Rows] = []
    end = start
    with TextFile(path, progress) as file:
        for rows, end in trec.read_from(file, trec.RUN, start):
            held.append(replaced(rows, item=rows.item.copied(), number=rows.number.copy()))
            if sum(len(one.number) for one in held) >= BATCH:
                yield end, _run(path, held)
                held = []
    if held:
        yield end, _run(path, held)


def _run(path: Path, held: list[trec.Rows]) -> Run:
    queries = [query for rows in held for query in rows.queries]
    lengths = np.concatenate([np.diff(rows.offsets) for rows in held])
    items = binary.joined([rows.item for rows in held])
    scores = np.concatenate([rows.number for rows in held])
    return Run(name_of(path), Batch(queries, _ragged.offsets(lengths), items, scores))


def _repeats(queries: list[bytes]) -> bool:
    return len(set(queries)) < len(queries)


def _one_query(query: bytes, parts: list[trec.Rows]) -> Batch:
    score = np.concatenate([part.number for part in parts])
    items = binary.joined([part.item for part in parts])
    return Batch([query], np.array([0, len(score)]), items, score)


def _gathered(file: TextFile) -> Batch:
    """All rows of the file, grouped by query in the order in which the queries first appear."""
    codes: dict[bytes, int] = {}
    owners: list[Ints] = []
    items: list[Spans] = []
    scores: list[Floats] = []
    for rows in trec.read(file, trec.RUN):
        owners.append(_coded(rows, codes))
        items.append(rows.item.copied())
        scores.append(rows.number)
    owner, score = np.concatenate(owners), np.concatenate(scores)
    item = binary.joined(items)
    del items, scores
    if (np.diff(owner) < 0).any():
        by_query = np.argsort(owner, kind="stable")
        item, score = item.chosen(by_query), score[by_query]
    return Batch(list(codes), _ragged.offsets(np.bincount(owner)), item, score)


def _coded(rows: trec.Rows, codes: dict[bytes, int]) -> Ints:
    """Each row's query as a number; new queries are given the next one."""
    code = np.array([codes.setdefault(query, len(codes)) for query in rows.queries], np.int32)
    return np.repeat(code, np.diff(rows.offsets))


def _twice(file: TextFile, layout: trec.Layout, query: bytes, item: bytes) -> DuplicateError:
    """The error for a repeated row, with the lines it stands on."""
    wanted = re.compile(
        rb"(?:\A|(?<=[\r\n]))[ \t]*"
        + re.escape(query)
        + rb"[ \t]+\S+[ \t]+"
        + re.escape(item)
        + rb"[ \t]"
    )
    lines: list[int] = []
    line = 1
    for block in file.blocks():
        data = block.data
        found = (match.start() for match in wanted.finditer(data))
        lines += [line + ends_of_lines(data, start) for start in found]
        line += ends_of_lines(data)
        if len(lines) > 1:
            break
    again = lines[1] if len(lines) > 1 else lines[0] if lines else 0
    like = f", as on line {lines[0]}" if len(lines) > 1 else ""
    what = "retrieved" if layout is trec.RUN else "judged"
    return repeated(f"{file.name}:{again}", what, query, item, like)
