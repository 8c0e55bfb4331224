"""Qrels and runs from anything that hands out Arrow columns: frames, tables, files with columns."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.core.retrieved import Order, Retrieved, Sample, choose_rows
from germane.errors import CoverageError, DuplicateError, EmptyError, FormatError, clip, list_some
from germane.kernel import plain
from germane.kernel.columns import Ids, Integers, Text, read_python_ids
from germane.kernel.reduction import Judgments, RepeatedItem, find_changes
from germane.readers import arrow, headings, numbers
from germane.readers.arrow import Entries, Place
from germane.readers.formats import BATCH, ProgressNote
from germane.readers.headings import Headings
from germane.readers.inputs import RunInput
from germane.readers.rows import RowReducer, check_texts, cut_pieces, read_piece

if TYPE_CHECKING:
    import pyarrow as pa

HEAD = 2000  # first rows that a sample is taken of


@dataclass(frozen=True, eq=False, repr=False)
class Frame(RunInput):
    """Columns that can be read more than once, a record batch at a time."""

    has_columns = True
    is_searched = True

    where: str  # what errors call it
    name: str  # what results call it
    headings: Headings
    records: Callable[[], Iterator[pa.RecordBatch]]  # of the columns that have headings
    entries: tuple[Entries, Entries] = field(default_factory=lambda: (Entries(), Entries()))
    ids: str = "typed"  # or text: a file of text has no other ids, and integers are their digits
    parts: Sequence[tuple[int, str]] = ()  # of a folder: its files, and their first rows
    stands: Literal["in memory", "on disk"] = "in memory"
    as_text: tuple[bool, bool] = (False, False)  # are query and item ids read as text?
    rounded: int = 0  # scores that became equal to another as doubles, as the reader has found

    def __repr__(self) -> str:
        rows = sum(record.num_rows for record in self.records())
        return f"Frame({self.name!r}: {rows} results)"

    def hold(self, progress: Progress | None = None) -> Frame:
        """The frame with its columns in memory."""
        return self.holding(list(self.reported(progress).records()))

    def holding(self, records: list[pa.RecordBatch]) -> Frame:
        """The frame's columns for rows that are in memory."""
        return replace(self, records=lambda: iter(records), stands="in memory")

    def reported(self, progress: Progress | None) -> Frame:
        """The frame, which says how many bytes of its columns have been read."""
        if progress is None:
            return self

        def records() -> Iterator[pa.RecordBatch]:
            read = 0
            for record in self.records():
                read += arrow.count_bytes(record)
                progress(self.where, read, None)
                yield record

        return replace(self, records=records)

    def begun(self) -> tuple[pa.RecordBatch | None, Frame]:
        """Some of the first rows, None where there are none, and the same, which goes on from there."""
        reading = (record for record in self.records() if record.num_rows)
        first = list(itertools.islice(reading, 1))

        def records() -> Iterator[pa.RecordBatch]:
            if first:
                yield first.pop()  # so that it is not in memory with the next
                yield from reading
            else:
                reading.close()  # with the record that it stands at
                yield from self.records()

        return first[0].slice(0, HEAD) if first else None, replace(self, records=records)

    @property
    def lines(self) -> Frame | None:
        """The rows in order, where scores without ids may be aligned with them."""
        return None

    @property
    def ties(self) -> str:
        """Ranks are an order; scores leave it open."""
        return "trec" if self.headings.score else "given"

    @property
    def label(self) -> str:
        return "the run" if self.where == "run" else self.where

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        return retrieve(qrels, self, duplicates, order, progress)

    def select(
        self, qrels: Qrels, duplicates: str, progress: Progress | None = None
    ) -> tuple[Frame | None, list[Hashable], list[float]]:
        return select(qrels, self)

    def find_judged(self, qrels: Qrels) -> Ints | None:
        return find_judged(qrels, self)

    def find_queries(self, wanted: object) -> set[Hashable]:
        return find_queries(self)

    def prepare_qrels(self, qrels: Qrels) -> Qrels:
        if qrels.columns is not None:
            return qrels
        columns = read_python_ids(qrels.queries), read_python_ids(qrels.items)
        return replace(qrels, columns=columns)

    def batches(self, start: int, progress: Progress | None) -> Iterator[tuple[int, Frame]]:
        return read_batches(self.reported(progress), start)

    def scores(self, record: pa.RecordBatch, row: int) -> tuple[Floats | None, Floats | None]:
        """The scores and the ranks of a record batch whose first row has a number."""
        names = self.headings
        score = None if names.score is None else self.numbers(record, names.score, row, "score")
        rank = None if names.rank is None else self.numbers(record, names.rank, row, "rank")
        return score, rank

    def identifiers(self, record: pa.RecordBatch, row: int) -> tuple[Ids, Ids]:
        """The query and the item of each row."""
        return self.queries(record, row), self._ids(record, row, 1)

    def queries(self, record: pa.RecordBatch, row: int) -> Ids:
        """The query of each row."""
        return self._ids(record, row, 0)

    def _ids(self, record: pa.RecordBatch, row: int, side: int) -> Ids:
        name = (self.headings.query, self.headings.item)[side]
        place = Place(self.where, name, row, self.entries[side], self.parts)
        ids = arrow.read_ids(record.column(name), place)
        return ids.as_text() if self.as_text[side] else ids

    def numbers(self, record: pa.RecordBatch, name: str, row: int, what: str) -> Floats:
        """The scores, ranks or grades of the rows."""
        place = Place(self.where, name, row, parts=self.parts)
        return arrow.read_numbers(record.column(name), place, what)


# --- What is recognized ----------------------------------------------------------------------------


def open_frame(given: Any, kind: str, columns: Any = None) -> Frame:
    """A run or qrels, its columns found. Raises FormatError where one is missing or ambiguous."""
    if isinstance(given, Frame):
        return given
    import pyarrow as pa

    names = _list_names(given)
    if names is not None:  # no other columns are converted than those that are read
        found = headings.resolve_names(names, kind, kind, columns)
        _refuse_twice(names, found, kind)
        if not all(isinstance(name, str) for name in given.columns):  # as Arrow names them
            given = given.set_axis(names, axis=1)
        given = given[found.all]
    try:
        table = _make_table(given)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise arrow.explain_unreadable(given, kind, error) from None
    except Exception as error:
        if "duckdb" not in type(error).__module__:  # which has errors of its own
            raise
        raise FormatError(
            f"{kind}: DuckDB cannot read it ({str(error).splitlines()[0]})"
        ) from error
    frame = make_frame(table, kind, columns)
    _refuse_objects(given, frame)
    return frame


def _refuse_objects(given: Any, frame: Frame) -> None:
    """Refuse Python objects in a frame of Polars, which hands out where they are and not what."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(given, polars.DataFrame):
        return
    for name in frame.headings.all:
        if given.schema[name] == polars.Object:
            raise FormatError(
                f"{frame.where}, column {name!r}: it holds Python objects, which Polars does not hand out; "
                f"make text of them, as polars.Series({name!r}, map(str, frame[{name!r}])) does."
            )


def make_frame(table: pa.Table, kind: str, columns: Any = None) -> Frame:
    """A run or qrels held as an Arrow table."""
    found = headings.resolve_names(table.column_names, kind, kind, columns)
    _refuse_twice(table.column_names, found, kind)
    chosen = table.select(found.all)
    return Frame(kind, kind, found, lambda: iter(chosen.to_batches()))


def _refuse_twice(names: Sequence[str], found: Headings, kind: str) -> None:
    for name in found.all:
        if names.count(name) > 1:
            raise FormatError(f"{kind}: two columns are named {name!r}; rename or drop one.")


def _list_names(given: Any) -> list[str] | None:
    """The columns of a pandas frame; they are looked at before anything is converted."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(given, pandas.DataFrame):
        return None
    return list(map(str, given.columns))


def _make_table(given: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(given, pa.Table):
        return given
    if numbers.is_dataset(given):
        return given.with_format("arrow")[:]
    reader = pa.RecordBatchReader.from_stream(given)
    return reader.read_all()


# --- Runs ------------------------------------------------------------------------------------------


def retrieve(
    qrels: Qrels, frame: Frame, duplicates: str, order: Order, progress: Progress | None = None
) -> Retrieved:
    """Find the judged items of a run."""
    told = ProgressNote(progress)
    head, frame = frame.reported(told).begun()
    judged, frame = match_kinds(qrels, head, frame)
    if frame.stands == "on disk":
        head = _copy(head)  # so that the other rows of its record can be let go of
    sample = partial(_take_sample, frame, head)
    reducer = RowReducer(
        judged, partial(cut_pieces, frame), partial(read_piece, frame), duplicates, order
    )
    try:
        got = reducer.reduce(told, on_disk=frame.stands == "on disk")
    except RepeatedItem as found:
        raise raise_repeat(frame.where, "retrieved", found.query, found.item) from None
    if not reducer.rows:
        raise EmptyError(f"{frame.where}: there are no rows.")
    return replace(got, sample=sample)


def find_judged(qrels: Qrels, frame: Frame) -> Ints | None:
    """The places of a frame's judged queries; None for a file, which is read once."""
    if frame.stands == "on disk":
        return None
    try:
        judged, frame = match_kinds(qrels, *frame.begun())
    except EmptyError:
        return np.zeros(0, np.int64)
    places = {query: q for q, query in enumerate(judged.queries)}
    found: set[int] = set()
    row = 0
    for record in frame.records():
        query = frame.queries(record, row)
        found.update(places.get(one, -1) for one in query.take(find_changes(query)).python)
        row += record.num_rows
    return np.array(sorted(found - {-1}), np.int64)


def _copy(record: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    return record.take(pa.array(range(record.num_rows)))


def _take_sample(frame: Frame, head: pa.RecordBatch, most: int) -> Sample:
    """Some of the first rows."""
    import pyarrow as pa

    query, item = frame.identifiers(head, 0)
    starts = find_changes(query)
    at, offsets = choose_rows(np.append(starts, len(query)), most)
    score, rank = (None if column is None else column[at] for column in frame.scores(head, 0))

    def give_scores(count: int) -> list[Any]:
        written: list[Any] = head.column(frame.headings.score).take(at[:count]).to_pylist()
        return written

    return Sample(
        query.take(starts[: len(offsets) - 1]).python,
        offsets,
        item.take(at),
        score,
        rank=None if rank is None else lambda count: rank[:count],
        given=None if score is None else give_scores,
        ids=frame.ids,
        rounded=frame.rounded,
        finer=score is not None and pa.types.is_decimal(head.column(frame.headings.score).type),
    )


def find_queries(frame: Frame) -> set[Hashable]:
    """All queries of a frame, as text."""
    found: set[Hashable] = set()
    row = 0
    for record in frame.records():
        query = frame.queries(record, row)
        found.update(query.take(find_changes(query)).as_text().python)
        row += record.num_rows
    return found


def select(qrels: Qrels, frame: Frame) -> tuple[Frame | None, list[Hashable], list[float]]:
    """The rows of the one judged query: as a run, and their items with their scores.

    Without scores the items are in the order of their ranks. The run is None where there is no row.
    """
    import pyarrow as pa

    judged, alike = match_kinds(qrels, *frame.begun())
    wanted, records, parts, row = read_python_ids(judged.queries), [], [], 0
    for record in alike.records():
        mine = np.flatnonzero(plain.find_ids(alike.queries(record, row), wanted) >= 0)
        for stretch in np.split(mine, np.flatnonzero(np.diff(mine) > 1) + 1) if len(mine) else ():
            start = int(stretch[0])
            records.append(record.slice(start, len(stretch)))
            parts.append(read_piece(alike, (row + start, records[-1:])))
        row += record.num_rows
    if not records:
        return None, [], []
    items = [item for part in parts for item in part.items.python]
    scores = [score for part in parts if part.score is not None for score in part.score.tolist()]
    ranks = [rank for part in parts if part.rank is not None for rank in part.rank.tolist()]
    if not scores:
        items = [items[i] for i in sorted(range(len(items)), key=ranks.__getitem__)]
    names = frame.headings.all
    written = [pa.record_batch(list(map(arrow.decode, one.columns)), names) for one in records]
    return frame.holding(arrow.combine(written)), items, scores


def read_batches(frame: Frame, start: int) -> Iterator[tuple[int, Frame]]:
    """The rows from a place on in frames of whole queries, held in memory, and where each ends."""
    held: list[pa.RecordBatch] = []
    row = 0  # of the next record
    for record in frame.records():
        begin, row = row, row + record.num_rows
        fresh = record.slice(max(start - begin, 0))
        if not fresh.num_rows:
            continue
        last = int(find_changes(frame.queries(fresh, max(begin, start)))[-1])
        if last and sum(one.num_rows for one in held) + last >= BATCH:
            yield (
                begin + record.num_rows - fresh.num_rows + last,
                _hold(frame, [*held, fresh.slice(0, last)]),
            )
            held, fresh = [], fresh.slice(last)
        held.append(fresh)
    if held:
        yield row, _hold(frame, held)


def _hold(frame: Frame, records: list[pa.RecordBatch]) -> Frame:
    return replace(frame.holding(records), parts=())


def raise_repeat(where: str, what: str, query: Hashable, item: Hashable) -> DuplicateError:
    return DuplicateError(
        f"{where}: item {clip(item)} is {what} twice for query {clip(query)}. "
        "duplicates=first, last or max keeps one copy."
    )


# --- Ids of one kind -------------------------------------------------------------------------------


def match_kinds(qrels: Qrels, head: pa.RecordBatch | None, frame: Frame) -> tuple[Judgments, Frame]:
    """The judgments with ids of the kind of the run's, and the run with ids of the kind of the qrels'.

    Integers and text are never equal, unless one side comes from a file of text: that has no
    integers, and an integer then stands for its digits.
    """
    if head is None:
        raise EmptyError(f"{frame.where}: there are no rows.")
    judged = list(qrels.columns or map(read_python_ids, (qrels.queries, qrels.items)))
    as_text = [False, False]
    for at, retrieved in enumerate(frame.identifiers(head.slice(0, 3), 0)):
        mine = judged[at]
        if mine.kind == retrieved.kind or not len(mine):
            judged[at] = _widen(mine, retrieved) if len(mine) else retrieved.part(0, 0)
            continue
        if "text" not in (qrels.ids, frame.ids):
            what, ids = (("query", qrels.queries), ("item", qrels.items))[at]
            raise CoverageError(
                f"the {what} ids of run and qrels have different types: the run's are "
                f"{retrieved.kind} ({list_some(retrieved)}), the qrels' are {mine.kind} "
                f"({list_some(ids)}). Cast one of them."
            )
        judged[at], as_text[at] = mine.as_text(), True
    queries, items = judged
    if isinstance(items, Text):
        check_texts(qrels, items)
    matched = Judgments(queries, qrels.offsets, items)
    return matched, replace(frame, as_text=(as_text[0], as_text[1]))


def _widen(judged: Ids, retrieved: Ids) -> Ids:
    """Judged integers with or without a sign, as the run's are, where none is lost."""
    if not (isinstance(judged, Integers) and isinstance(retrieved, Integers)):
        return judged
    wanted = retrieved.values.dtype
    fits = wanted == judged.values.dtype or judged.values.view(np.int64).min() >= 0
    return Integers(judged.values.astype(wanted)) if fits else judged
