"""Qrels and runs from TREC files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from germane.core import ragged
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.core.retrieved import Order, Retrieved, Sample, choose_rows
from germane.errors import DuplicateError, EmptyError
from germane.kernel.columns import Ids, Text, join_ids, read_bytes, read_python_ids
from germane.kernel.ids import show_id, to_bytes, to_text
from germane.kernel.reduction import Batch, RepeatedItem, choose_copies, find_repeat
from germane.readers import trec
from germane.readers.files import BLOCK, Block, TextFile, find_line_ends
from germane.readers.formats import BATCH, Path, ProgressNote, find_name
from germane.readers.inputs import RunInput
from germane.readers.rows import RowReducer, Rows, join_rows, judge_text


@dataclass(frozen=True, eq=False)
class Run(RunInput):
    """A run read into memory: its rows grouped by query.

    >>> run = germane.read_run("examples/digits/lda.run")
    >>> len(run)
    200
    """

    name: str
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows.queries)

    def __repr__(self) -> str:
        return f"Run({self.name!r}: {len(self)} queries, {len(self.rows.items)} results)"

    def select(
        self, qrels: Qrels, duplicates: str, progress: object = None
    ) -> tuple[Run | None, list[Hashable], list[float]]:
        query = to_text(to_bytes(qrels.queries[0]))
        at = [s for s, found in enumerate(self.rows.queries) if found == query]
        rows = self.rows.take(np.array(at, np.int64))
        assert rows.score is not None
        return Run(self.name, rows) if at else None, list(rows.items), rows.score.tolist()

    def find_judged(self, qrels: Qrels) -> Ints:
        places = {to_text(to_bytes(query)): q for q, query in enumerate(qrels.queries)}
        found = [places[query] for query in self.rows.queries if query in places]
        return np.unique(np.array(found, np.int64))

    def find_queries(self, wanted: object) -> set[Hashable]:
        return set(self.rows.queries)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        reducer = RowReducer(judge_text(qrels), self.rows.split, _as_is, duplicates, order)
        try:
            got = reducer.reduce(ProgressNote(None), on_disk=False)
        except RepeatedItem as found:
            raise explain_repeat(self.name, "retrieved", found.query, found.item) from None
        unknown = [query for query in got.unknown if not str(query).startswith("#")]  # or a comment
        return replace(got, unknown=unknown, sample=partial(_take_sample, self.rows))


class TrecFile(RunInput):
    """A run file, which is read when it is reduced."""

    is_searched = True

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, find_name(path)
        self._held: Run | None = None  # of a stream that had to be read before it is reduced

    @property
    def label(self) -> str:
        return "standard input" if self.path == "-" else os.fsdecode(self.path)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        if self._held is not None:
            return self._held.retrieve(qrels, duplicates, order, progress)
        return retrieve(qrels, self.path, duplicates, order, progress)

    def select(
        self, qrels: Qrels, duplicates: str, progress: Progress | None = None
    ) -> tuple[Run | None, list[Hashable], list[float]]:
        if self._held is not None:
            return self._held.select(qrels, duplicates)
        query = to_text(to_bytes(qrels.queries[0]))
        return read_query(self.path, query, duplicates, progress).select(qrels, duplicates)

    def load(self, progress: Progress | None = None) -> Run:
        return self._held or read_run(self.path, progress)

    def find_queries(self, wanted: Iterable[Hashable]) -> set[Hashable]:
        if self.path != "-" and os.path.isfile(self.path):
            return find_queries(self.path, wanted)
        self._held = self.load()  # standard input and pipes can be read once
        return self._held.find_queries(wanted)

    def batches(self, start: int, progress: Progress | None) -> Iterator[tuple[int, Run]]:
        return read_batches(self.path, start, progress)


def _sample_blocks(blocks: dict[int, tuple[bytes, Rows]], most: int) -> Sample:
    """The first rows of some queries, of the first blocks of a file."""
    data, rows = blocks[0]
    if len(rows.items) < most and len(blocks) > 1:  # the last query has a block of its own
        several = [blocks[start] for start in sorted(blocks)]
        data = b"".join(data for data, _ in several)
        rows = join_rows([rows for _, rows in several])
    return _take_sample(rows, most, data)


def _take_sample(rows: Rows, most: int, data: bytes | None = None) -> Sample:
    """The first rows of some queries; with the lines, also their ranks and scores as they are written."""
    at, offsets = choose_rows(rows.offsets, most)
    queries, items = rows.queries[: len(offsets) - 1], rows.items.take(at)
    score = None if rows.score is None else np.asarray(rows.score)[at]
    if data is None:
        return Sample(queries, offsets, items, score, ids="text")
    owner = ragged.find_owners(offsets).tolist()

    def find_fields(count: int) -> list[list[bytes]]:
        pairs = zip((queries[s] for s in owner[:count]), items.python[:count], strict=True)
        return trec.find_fields(data, [(to_bytes(query), to_bytes(item)) for query, item in pairs])

    return Sample(
        queries,
        offsets,
        items,
        score,
        rank=lambda count: trec.read_ranks(find_fields(count)),
        given=lambda count: [fields[trec.RUN.number] for fields in find_fields(count)],
        ids="text",
    )


def _as_is(rows: Rows) -> Rows:
    return rows


def read_qrels(path: Path, duplicates: str, progress: Progress | None = None) -> Qrels:
    """Read a TREC qrels file."""
    comments = trec.Comments()
    with TextFile(path, progress) as file:
        try:
            queries, offsets, items, grades = _read_grouped(file, trec.QRELS, comments)
        except EmptyError:
            if not comments.maybe_data:
                raise
            queries, offsets, items, grades = [], np.zeros(1, np.int64), Text.empty(), np.zeros(0)
        batch = Batch(np.arange(len(queries)), offsets, items, grades)
        repeat = find_repeat(batch)
        if repeat is not None:
            if duplicates not in ("first", "last", "max"):
                query, item = queries[int(batch.owner[repeat])], items[repeat]
                raise _raise_repeat(file, trec.QRELS, query, item)
            batch = batch.take(choose_copies(batch, duplicates))
    assert batch.score is not None
    qrels = Qrels(
        [*queries],
        batch.offsets,
        batch.items,
        batch.score,
        find_name(path),
        "text",
        comments=comments.count + len(comments.maybe_data),
    )
    if comments.maybe_data:
        return replace(qrels, maybe_data=_make_qrels(comments.maybe_data, duplicates))
    return qrels


def _make_qrels(rows: list[tuple[bytes, bytes, float]], duplicates: str) -> Qrels:
    """The judgments of lines that begin with ``#``. A repeated one is no error before it is data."""
    judged: dict[bytes, list[tuple[bytes, float]]] = {}
    for query, item, grade in rows:
        judged.setdefault(query, []).append((item, grade))
    flat = [row for of_query in judged.values() for row in of_query]
    offsets = ragged.make_offsets(list(map(len, judged.values())))
    items, grades = (
        read_bytes([item for item, _ in flat]),
        np.array([grade for _, grade in flat]),
    )
    batch = Batch(np.arange(len(judged)), offsets, items, grades)
    if duplicates in ("first", "last", "max"):
        batch = batch.take(choose_copies(batch, duplicates))
    assert batch.score is not None
    return Qrels([*map(to_text, judged)], batch.offsets, batch.items, batch.score, ids="text")


def accept_comments(qrels: Qrels, queries: Collection[Hashable]) -> Qrels:
    """The judgments with those of lines that begin with ``#`` and have one of the run's queries."""
    maybe = qrels.maybe_data
    if maybe is None:
        return qrels
    data = [q for q, query in enumerate(maybe.queries) if query in queries]
    for q in data:
        query = to_bytes(maybe.queries[q])
        if to_text(query[1:]) in queries:
            raise trec.explain_both(query)
    if not data:
        if not len(qrels):
            raise EmptyError(f"{qrels.name}: all lines of the qrels are comments.")
        return qrels
    more = maybe.some(np.array(data, np.int64))
    rows = Batch(np.arange(len(more)), more.offsets, read_python_ids(more.items), more.grades)
    repeat = find_repeat(rows)
    if repeat is not None:
        twice = more.queries[int(rows.owner[repeat])]
        raise explain_repeat(qrels.name, "judged", twice, rows.items[repeat])
    return replace(
        qrels,
        queries=[*qrels.queries, *more.queries],
        offsets=np.append(qrels.offsets, qrels.offsets[-1] + more.offsets[1:]),
        items=join_ids([read_python_ids(qrels.items), read_python_ids(more.items)]),
        grades=np.append(qrels.grades, more.grades),
        maybe_data=None,
        comments=qrels.comments - len(more.items),
    )


def find_queries(path: Path, queries: Iterable[Hashable]) -> set[Hashable]:
    """The queries that a run file has among some, with or without a ``#`` before them."""
    wanted = {to_bytes(query) for query in queries}
    wanted |= {query[1:] for query in wanted}
    with TextFile(path) as file:
        found = {
            query
            for lines in trec.read_blocks(file, trec.RUN, _AllComments())
            for query in lines.queries
        }
    return {to_text(query) for query in found & wanted}


class _AllComments(trec.Comments):
    """Takes every line that can be data for data."""

    def read(self, line: bytes, layout: trec.Layout) -> tuple[bytes, bytes, float] | None:
        super().read(line, layout)
        return self.maybe_data.pop() if self.maybe_data else None


def read_run(path: Path, progress: Progress | None = None) -> Run:
    """Read a whole TREC run file, its rows grouped by query."""
    with TextFile(path, progress) as file:
        return Run(find_name(path), Rows(*_read_grouped(file, trec.RUN, _AllComments())))


def _read_grouped(
    file: TextFile, layout: trec.Layout, comments: trec.Comments
) -> tuple[list[str], Ints, Ids, Floats]:
    """All lines, grouped by query in the order in which the queries first appear."""
    codes: dict[bytes, int] = {}
    owners: list[Ints] = []
    items: list[Ids] = []
    numbers: list[Floats] = []
    for lines in trec.read_blocks(file, layout, comments):
        code = np.array([codes.setdefault(q, len(codes)) for q in lines.queries], np.int32)
        owners.append(np.repeat(code, ragged.find_lengths(lines.offsets)))
        items.append(lines.items.compact())
        numbers.append(lines.number)
    owner, item, number = np.concatenate(owners), join_ids(items), np.concatenate(numbers)
    del items, numbers
    if (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable")
        item, number = item.take(order), number[order]
    return list(map(to_text, codes)), ragged.make_offsets(np.bincount(owner)), item, number


def read_query(path: Path, query: str, duplicates: str, progress: Progress | None = None) -> Run:
    """Read a whole TREC run file, and keep one query's rows. Raises DuplicateError with the line."""
    wanted = to_bytes(query)
    found: list[Rows] = []
    with TextFile(path, progress) as file:
        for lines in trec.read_blocks(file, trec.RUN, trec.Comments({wanted})):
            at = [s for s, other in enumerate(lines.queries) if other == wanted]
            if at:
                rows = _make_rows(lines).take(np.array(at))
                found.append(
                    Rows([query], np.array([0, len(rows.items)]), rows.items.compact(), rows.score)
                )
        if duplicates == "error":
            copies = Counter(item for rows in found for item in rows.items)
            if (most := copies.most_common(1)) and most[0][1] > 1:
                raise _raise_repeat(file, trec.RUN, query, most[0][0])
    if not found:
        return Run(find_name(path), Rows([], np.zeros(1, np.int64), Text.empty(), np.zeros(0)))
    items = join_ids([rows.items for rows in found])
    score = np.concatenate([rows.score for rows in found])
    return Run(find_name(path), Rows([query], np.array([0, len(items)]), items, score))


def _make_rows(lines: trec.Lines) -> Rows:
    return Rows(list(map(to_text, lines.queries)), lines.offsets, lines.items, lines.number)


def retrieve(
    qrels: Qrels, path: Path, duplicates: str, order: Order, progress: Progress | None = None
) -> Retrieved:
    """Find the judged items of a run file while it is read.

    Where the rows of each query stand together, memory does not depend on the unjudged ones. A file
    that comes back to a query it had left is read again, and its rows are sorted, many of them on disk.
    """
    note, judged = ProgressNote(progress), judge_text(qrels)
    comments = trec.Comments({*map(to_bytes, judged.queries)})
    with TextFile(path, note) as file:
        read = partial(trec.split_block, file, layout=trec.RUN, comments=comments)
        first: dict[int, tuple[bytes, Rows]] = {}  # the blocks that a sample is taken of

        def read_rows(block: Block) -> Rows:
            rows = _make_rows(read(block))
            if block.start < BLOCK:
                first[block.start] = block.data, rows
            return rows

        reducer = RowReducer(judged, file.blocks, read_rows, duplicates, order)
        try:
            got = reducer.reduce(note)
        except RepeatedItem as found:
            raise _raise_repeat(file, trec.RUN, found.query, found.item) from None
        if not reducer.rows:
            raise trec.explain_empty(file, trec.RUN)
        return replace(got, comments=comments.count, sample=partial(_sample_blocks, first))


def read_batches(
    path: Path, start: int, progress: Progress | None = None
) -> Iterator[tuple[int, Run]]:
    """The lines from a byte on as runs of whole queries, held in memory, and where each ends."""
    held: list[Rows] = []
    end = start
    with TextFile(path, progress) as file:
        for block in file.blocks():
            if block.start < start:
                continue
            rows = _make_rows(trec.split_block(file, block, trec.RUN, trec.Comments()))
            end = block.start + len(block.data)
            held.append(rows)
            if sum(len(one.items) for one in held) >= BATCH:
                yield end, Run(find_name(path), join_rows(held))
                held = []
    if held and any(len(one.items) for one in held):
        yield end, Run(find_name(path), join_rows(held))


def _raise_repeat(
    file: TextFile, layout: trec.Layout, query: Hashable, item: Hashable
) -> DuplicateError:
    """The error for a repeated row, with the lines it stands on."""
    wanted = re.compile(
        rb"(?:\A|(?<=[\r\n]))[ \t]*"
        + re.escape(to_bytes(query))
        + rb"[ \t]+\S+[ \t]+"
        + re.escape(to_bytes(item))
        + rb"[ \t]"
    )
    lines: list[int] = []
    line = 1
    for block in file.blocks():
        data = block.data
        found = (match.start() for match in wanted.finditer(data))
        lines += [line + find_line_ends(data, start) for start in found]
        line += find_line_ends(data)
        if len(lines) > 1:
            break
    again = lines[1] if len(lines) > 1 else lines[0] if lines else 0
    like = f", as on line {lines[0]}" if len(lines) > 1 else ""
    what = "retrieved" if layout is trec.RUN else "judged"
    return explain_repeat(f"{file.name}:{again}", what, query, item, like)


def explain_repeat(
    where: str, what: str, query: Hashable, item: Hashable, like: str = ""
) -> DuplicateError:
    """The error for a pair of query and item that stands twice."""
    return DuplicateError(
        f"{where}: item {show_id(to_bytes(item))} is {what} twice for query "
        f"{show_id(to_bytes(query))}{like}. duplicates=first, last or max keeps one copy."
    )
