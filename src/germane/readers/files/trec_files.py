"""Qrels and runs from TREC files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np

from germane.core import ragged
from germane.core.calls import Progress, ProgressNote
from germane.core.qrels import ONE_COPY, Order, Qrels, Retrieved, Sample, Source, choose_rows
from germane.core.ragged import Floats, Ints
from germane.errors import DuplicateError, EmptyError, FormatError, InputError, write_option
from germane.kernel.content import Hasher
from germane.kernel.ids import (
    Ids,
    Text,
    is_padding,
    join_ids,
    read_bytes,
    read_python_ids,
    show_id,
    to_bytes,
    to_text,
)
from germane.kernel.reduction import Batch, Index, RepeatedItem, choose_copies, drop_repeats
from germane.readers.files import trec
from germane.readers.files.formats import BATCH, STAMP, Path, find_name, is_rating, name_file
from germane.readers.files.line_blocks import BLOCK, Block, TextFile, count_line_ends
from germane.readers.inputs import Faults, Needs, RunInput
from germane.readers.options.subtopics import (
    RepeatedSubtopic,
    SubtopicRows,
    explain_repeated_subtopic,
    group_rows,
    number_names,
)
from germane.readers.rows import (
    RowReducer,
    Rows,
    collapse_rows,
    compact_rows,
    explain_repeat,
    join_rows,
    judge_text,
)

if TYPE_CHECKING:
    from germane.readers.options.item_groups import Groups


@dataclass(frozen=True, eq=False)
class Run(RunInput):
    """A run read into memory: its rows grouped by query.

    >>> run = germane.read_run("examples/digits/lda.run")
    >>> len(run)
    200
    """

    ids = "text"
    where = "run"

    name: str
    rows: Rows
    is_collapsed: bool = False

    def __len__(self) -> int:
        return len(self.rows.queries)

    def __repr__(self) -> str:
        return f"Run({self.name!r}: {len(self)} queries, {len(self.rows.items)} results)"

    def read_rows(
        self,
        judged: Qrels | None = None,
        progress: Progress | None = None,
        faults: Faults | None = None,
    ) -> Iterator[Rows]:
        rows = self.rows if judged is None else self.rows.select(_index_queries(judged))
        yield from rows.split()

    def read_content(self, qrels: Qrels, progress: Progress | None = None) -> Iterator[Rows]:
        commented = [s for s, query in enumerate(self.rows.queries) if str(query).startswith("#")]
        judged = {to_text(to_bytes(query)) for query in qrels.queries} if commented else set()
        comments = [s for s in commented if self.rows.queries[s] not in judged]
        queries = np.delete(np.arange(len(self.rows.queries)), comments)
        yield from (self.rows.take(queries) if comments else self.rows).split()

    def select(self, qrels: Qrels, duplicates: str, progress: Progress | None = None) -> Run | None:
        rows = self.rows.select(_index_queries(qrels))
        return Run(self.name, rows, self.is_collapsed) if len(rows.queries) else None

    def _collapse(self, groups: Groups) -> Self:
        return replace(self, rows=collapse_rows(self.rows, groups), is_collapsed=True)

    def find_judged(self, qrels: Qrels) -> Ints:
        places = _index_queries(qrels).find(read_python_ids(self.rows.queries))
        return np.unique(places[places >= 0])

    def find_queries(self, wanted: object) -> set[Hashable]:
        return set(self.rows.queries)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        judged = judge_text(qrels)
        reducer = RowReducer(self, judged, self.rows.split, lambda rows: rows, duplicates, order)
        try:
            retrieved = reducer.reduce(ProgressNote(None), on_disk=False)
        except RepeatedItem as error:
            raise explain_repeat(self.name, "retrieved", error, show=_show) from None
        unknown = [
            query for query in retrieved.unknown if not str(query).startswith("#")
        ]  # or a comment
        return replace(retrieved, unknown=unknown, sample=partial(_take_sample, self.rows))


class TrecFile(RunInput):
    """A run file, which is read when it is reduced."""

    is_searched = True
    ids = "text"

    def __init__(self, path: Path, hasher: Hasher | None = None) -> None:
        self.path, self.name, self.where = path, find_name(path), name_file(path)
        self.hasher = hasher
        self._held: Run | None = None  # of a stream that had to be read before it is reduced

    def sign(self) -> RunInput:
        if self._held is not None:  # a stream, which is not read again
            return self
        signed = TrecFile(self.path, Hasher())
        signed.groups = self.groups
        return signed

    def _collapse(self, groups: Groups) -> Self:
        self.groups = groups
        return self

    def read_rows(
        self,
        judged: Qrels | None = None,
        progress: Progress | None = None,
        faults: Faults | None = None,
    ) -> Iterator[Rows]:
        if self._held is not None:
            yield from self._held.read_rows(judged)
            return
        if faults is not None:
            for rows in read_rows(self.path, trec.RUN, progress, faults):
                yield rows if self.groups is None else collapse_rows(rows, self.groups)
            return
        self._refuse_stream()
        for _, part in self.read_batches(0, progress, judged):
            yield from part.read_rows(judged)

    def read_content(self, qrels: Qrels, progress: Progress | None = None) -> Iterator[Rows]:
        if self._held is not None:
            yield from self._held.read_content(qrels)
            return
        self._refuse_stream()
        for _, part in self.read_batches(0, progress, qrels):
            yield from part.read_rows()

    def _refuse_stream(self) -> None:
        if self._held is None and self.path == "-":
            raise InputError(
                "standard input can be read only once, but measures of the catalogue read the run"
                " a second time; give a file."
            )

    def _read_rows(self, lines: trec.Lines) -> Rows:
        queries = list(map(to_text, lines.queries))
        rows = Rows(queries, lines.offsets, lines.items, lines.number)
        return rows if self.groups is None else collapse_rows(rows, self.groups)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        """Find the judged items while the file is read.

        Where the rows of each query stand together, memory does not depend on the unjudged rows. A
        file that comes back to an earlier query is read again, and its rows are sorted, many of
        them on disk.
        """
        if self._held is not None:
            return self._held.retrieve(qrels, duplicates, order, progress)
        note, judged = ProgressNote(progress), judge_text(qrels)
        comments = trec.Comments({*map(to_bytes, judged.queries)})
        with TextFile(self.path, note) as file:
            first: dict[int, tuple[bytes, Rows]] = {}  # the blocks that a sample is taken of

            def read_rows(block: Block) -> Rows:
                rows = self._read_rows(trec.split_block(file, block, trec.RUN, comments))
                if block.start < BLOCK:
                    first[block.start] = block.data, rows
                return rows

            pieces, file.check_row = (
                file.read_blocks,
                partial(trec.parse_line, layout=trec.RUN),
            )
            reducer = RowReducer(self, judged, pieces, read_rows, duplicates, order, self.hasher)
            try:
                retrieved = reducer.reduce(note)
            except RepeatedItem as error:
                raise _find_repeat(file, trec.RUN, error) from None
            if not reducer.rows:
                raise trec.explain_empty(file, trec.RUN)
            sample = partial(_sample_blocks, first, collapsed=self.is_collapsed)
            return replace(retrieved, comments=comments.count, sample=sample)

    def select(self, qrels: Qrels, duplicates: str, progress: Progress | None = None) -> Run | None:
        """Read the whole file, and keep one query's rows. Raises DuplicateError with the line."""
        if self._held is not None:
            return self._held.select(qrels, duplicates)
        wanted = to_bytes(qrels.queries[0])
        parts: list[Rows] = []
        with TextFile(self.path, progress) as file:
            for lines in trec.read_blocks(file, trec.RUN, trec.Comments({wanted})):
                places = [s for s, query in enumerate(lines.queries) if query == wanted]
                if places:
                    parts.append(compact_rows(self._read_rows(lines).take(np.array(places))))
            if duplicates == "error" and not self.is_collapsed:
                items = (item for part in parts for item in part.items)
                copies = Counter(item for item in items if not is_padding(item))
                if (most_copied := copies.most_common(1)) and most_copied[0][1] > 1:
                    raise _find_repeat(
                        file, trec.RUN, RepeatedItem(to_text(wanted), most_copied[0][0])
                    )
        if not parts:
            return None
        rows = join_rows(parts)
        ends = np.array([0, len(rows.items)])
        rows = replace(rows, queries=[to_text(wanted)], offsets=ends)
        return Run(self.name, rows, self.is_collapsed)

    def load(self, progress: Progress | None = None) -> Run:
        """Read the whole file into memory, its rows grouped by query."""
        if self._held is not None:
            return self._held
        with TextFile(self.path, progress) as file:
            run = Run(self.name, Rows(*_read_grouped(file, trec.RUN, _AllData())))
        return run if self.groups is None else run.collapse(self.groups)

    def find_queries(self, wanted: Iterable[Hashable]) -> set[Hashable]:
        """Find the queries that the file has among some, with or without a ``#`` before them."""
        if self.path == "-" or not os.path.isfile(self.path):
            self._held = self.load()  # standard input and pipes can be read once
            return self._held.find_queries(wanted)
        wanted_bytes = {to_bytes(query) for query in wanted}
        wanted_bytes |= {query[1:] for query in wanted_bytes}
        with TextFile(self.path) as file:
            blocks = trec.read_blocks(file, trec.RUN, _AllData())
            queries = {query for lines in blocks for query in lines.queries}
        return {to_text(query) for query in queries & wanted_bytes}

    def read_batches(
        self, start: int, progress: Progress | None, judged: Qrels | None = None
    ) -> Iterator[tuple[int, Run]]:
        """Read lines from a byte on, in runs of whole queries, each with the byte of its end."""
        comments = trec.Comments(None if judged is None else set(map(to_bytes, judged.queries)))
        pending: list[Rows] = []
        end = start
        with TextFile(self.path, progress) as file:
            for block in file.read_blocks():
                if block.start < start:
                    continue
                lines = trec.split_block(file, block, trec.RUN, comments)
                pending.append(self._read_rows(lines))
                end = block.start + len(block.data)
                if sum(len(part.items) for part in pending) >= BATCH:
                    yield end, Run(self.name, join_rows(pending), self.is_collapsed)
                    pending = []
        if any(len(part.items) for part in pending):
            yield end, Run(self.name, join_rows(pending), self.is_collapsed)


def read_rows(
    path: Path, layout: trec.Layout, progress: Progress | None, faults: Faults
) -> Iterator[Rows]:
    """Read the rows of a file as they come; lines that cannot be read are noted as faults."""
    with TextFile(path, progress) as file:
        for lines in trec.read_all(file, layout, faults):
            queries = list(map(to_text, lines.queries))
            yield Rows(queries, lines.offsets, lines.items, lines.number, lines.rank, lines.line)


def _index_queries(qrels: Qrels) -> Index:
    """Index the judged queries as text."""
    return Index(read_bytes(list(map(to_bytes, qrels.queries))))


def _sample_blocks(
    blocks: dict[int, tuple[bytes, Rows]], limit: int, *, collapsed: bool = False
) -> Sample:
    """Take the first rows of some queries from the first blocks of a file."""
    data, rows = blocks[0]
    if len(rows.items) < limit and len(blocks) > 1:  # the last query has a block of its own
        in_order = [blocks[start] for start in sorted(blocks)]
        data = b"".join(data for data, _ in in_order)
        rows = join_rows([rows for _, rows in in_order])
    return _take_sample(rows, limit, None if collapsed else data)


def _take_sample(rows: Rows, limit: int, data: bytes | None = None) -> Sample:
    """Take the first rows of some queries; ``data`` has their lines, as they were written."""
    chosen, offsets = choose_rows(rows.offsets, limit)
    queries, items = rows.queries[: len(offsets) - 1], rows.items.take(chosen)
    score = None if rows.score is None else np.asarray(rows.score)[chosen]
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
        raw=lambda count: [fields[trec.RUN.number] for fields in find_fields(count)],
        ids="text",
    )


def read_qrels(path: Path, duplicates: str, progress: Progress | None, needs: Needs) -> Qrels:
    """Read a TREC qrels file, whose second column is read only if subtopics are needed."""
    by_subtopic = _read_by_subtopic(path, duplicates, progress) if needs.subtopics else None
    return by_subtopic or _read_qrels(path, duplicates, progress)


def _read_by_subtopic(path: Path, duplicates: str, progress: Progress | None) -> Qrels | None:
    """Read judgments of subtopics; None if the second column is one unused word on all lines."""
    comments = trec.Comments()
    with TextFile(path, progress) as file:
        queries, offsets, items, grades = _read_grouped(file, trec.QRELS, comments)
        second = _read_grouped(file, trec.SECOND, trec.Comments())[2]
        rows = SubtopicRows(queries, offsets, items, *number_names(second), grades)
        if rows.has_unused_names:
            return None
        try:
            offsets, items, grouped = group_rows(rows, duplicates)
        except RepeatedSubtopic as error:
            raise _find_repeat(file, trec.QRELS, error) from None
    grouped = replace(grouped, is_named=False)
    judged = Qrels([*queries], offsets, items, grouped.highest, subtopics=grouped)
    return _complete(judged, path, comments, "first")


def _read_qrels(path: Path, duplicates: str, progress: Progress | None) -> Qrels:
    comments = trec.Comments()
    with TextFile(path, progress) as file:
        try:
            queries, offsets, items, grades = _read_grouped(file, trec.QRELS, comments)
        except EmptyError:
            if not comments.maybe_data:
                raise
            queries, offsets, items, grades = [], np.zeros(1, np.int64), Text.empty(), np.zeros(0)
        _refuse_ratings(file, items, grades)
        batch = Batch(np.arange(len(queries)), offsets, items, grades)
        try:
            batch = drop_repeats(batch, queries, duplicates)
        except RepeatedItem as error:
            raise _find_repeat(file, trec.QRELS, error) from None
    assert batch.score is not None
    judged = Qrels([*queries], batch.offsets, batch.items, batch.score)
    return _complete(judged, path, comments, duplicates)


def _refuse_ratings(file: TextFile, items: Ids, grades: Floats) -> None:
    """Refuse MovieLens' lines, of which the third field is a rating and the last one its time."""
    if len(grades) and grades.min() >= STAMP:
        first_items = items.take(np.arange(min(len(items), 100))).python
        if all(map(is_rating, (["", "", str(item), f"{STAMP:.0f}"] for item in first_items))):
            raise FormatError(
                f"{file.name}: these are ratings (user, item, rating, time), not lines of qrels"
                f" (query 0 item grade). {write_option('input_format', {'qrels': 'movielens'})}"
                " reads them."
            )


def _complete(judged: Qrels, path: Path, comments: trec.Comments, duplicates: str) -> Qrels:
    """Complete the judgments of a file by its name, and by lines that may be data."""
    maybe = comments.maybe_data
    return replace(
        judged,
        name=find_name(path),
        ids="text",
        source=Source(
            comments=comments.count + len(maybe),
            maybe_data=_make_qrels(maybe, duplicates) if maybe else None,
        ),
    )


def _make_qrels(rows: list[trec.Row], duplicates: str) -> Qrels:
    """Make judgments of lines that begin with ``#``, which may repeat until they are data."""
    judged: dict[bytes, list[tuple[bytes, float]]] = {}
    for query, item, grade in rows:
        judged.setdefault(query, []).append((item, grade))
    items, grades = zip(*chain.from_iterable(judged.values()), strict=True)
    offsets = ragged.make_offsets(list(map(len, judged.values())))
    batch = Batch(np.arange(len(judged)), offsets, read_bytes(items), np.array(grades))
    if duplicates in ONE_COPY:
        batch = batch.take(choose_copies(batch, duplicates))
    assert batch.score is not None
    return Qrels([*map(to_text, judged)], batch.offsets, batch.items, batch.score, ids="text")


def accept_comments(qrels: Qrels, queries: Collection[Hashable]) -> Qrels:
    """Add the judgments of lines that begin with ``#`` and have one of the run's queries."""
    maybe = qrels.source.maybe_data
    assert maybe is not None
    data = [q for q, query in enumerate(maybe.queries) if query in queries]
    for q in data:
        query = to_bytes(maybe.queries[q])
        if to_text(query[1:]) in queries:
            raise trec.explain_both(query)
    if not data:
        if not len(qrels):
            raise EmptyError(f"{qrels.name}: all lines of the qrels are comments.")
        return qrels
    if qrels.subtopics is not None:
        raise FormatError(
            f"{qrels.name}: with subtopics, queries that begin with # are not read, but"
            f" {show_id(to_bytes(maybe.queries[data[0]]))} is a query of the run. Give the"
            " judgments as a frame or a file with the columns query, item, relevance and"
            " subtopic."
        )
    added = maybe.some(np.array(data, np.int64))
    rows = Batch(np.arange(len(added)), added.offsets, read_python_ids(added.items), added.grades)
    try:
        drop_repeats(rows, added.queries, "error")
    except RepeatedItem as error:
        raise explain_repeat(qrels.name, "judged", error, show=_show) from None
    joined = replace(
        qrels,
        queries=[*qrels.queries, *added.queries],
        offsets=np.append(qrels.offsets, qrels.offsets[-1] + added.offsets[1:]),
        items=join_ids([read_python_ids(qrels.items), read_python_ids(added.items)]),
        grades=np.append(qrels.grades, added.grades),
        source=Source(comments=qrels.source.comments - len(added.items)),
    )
    attached: Qrels = joined if joined.candidates is None else joined.candidates.attach(joined)
    return attached


class _AllData(trec.Comments):
    """Takes a line that begins with ``#`` as data if its fields fit."""

    def read(self, line: bytes, layout: trec.Layout) -> trec.Row | None:
        super().read(line, layout)
        return self.maybe_data.pop() if self.maybe_data else None


def _read_grouped(
    file: TextFile, layout: trec.Layout, comments: trec.Comments
) -> tuple[list[str], Ints, Ids, Floats]:
    """Read all lines, and group them by query in the order in which the queries first appear."""
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


def _find_repeat(
    file: TextFile, layout: trec.Layout, repeated_item: RepeatedItem
) -> DuplicateError:
    """Search the file for a repeated row. Returns the error, which names its lines."""
    second = rb"(\S+)"
    if isinstance(repeated_item, RepeatedSubtopic):
        second = re.escape(to_bytes(repeated_item.subtopic))
    query, item = (
        re.escape(to_bytes(identifier)) for identifier in (repeated_item.query, repeated_item.item)
    )
    fields = rb"[ \t]+".join((query, second, item))
    wanted = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]*" + fields + rb"[ \t]")
    lines: list[int] = []
    seconds: set[bytes] = set()
    line = 1
    for block in file.read_blocks():
        data = block.data
        for match in wanted.finditer(data):
            lines.append(line + count_line_ends(data, match.start()))
            seconds.update(match.groups())
        line += count_line_ends(data)
        if len(lines) > 1:
            break
    repeated_line = lines[1] if len(lines) > 1 else lines[0] if lines else 0
    like = f", as on line {lines[0]}" if len(lines) > 1 else ""
    if isinstance(repeated_item, RepeatedSubtopic):
        return explain_repeated_subtopic(f"{file.name}:{repeated_line}", repeated_item, like)
    done = "retrieved" if layout is trec.RUN else "judged"
    error = explain_repeat(f"{file.name}:{repeated_line}", done, repeated_item, like, _show)
    if layout is trec.RUN or len(seconds) < 2:
        return error
    return DuplicateError(f"{error} {SECOND_DIFFERS}")


SECOND_DIFFERS = (
    "The second column differs. If it names subtopics, measures such as alpha_nDCG read it, and"
    " other measures computed along with them take an item's highest grade, as"
    f" {write_option('duplicates', 'max')} does."
)


def _show(identifier: Hashable) -> str:
    return show_id(to_bytes(identifier))
