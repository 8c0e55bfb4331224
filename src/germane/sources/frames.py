"""Qrels and runs from anything that hands out Arrow columns: frames, tables, files with columns."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from germane._ragged import Floats, Ints
from germane._records import replaced
from germane.errors import CoverageError, DuplicateError, EmptyError, FormatError, clip, some
from germane.finding import Finding
from germane.retrieval import COPIES, Order, Qrels, Retrieved
from germane.sources import (
    arrow,
    first_rows,
    headings,
    host,
    id_columns,
    misses,
    pairs,
    precision,
    unreadable,
)
from germane.sources.arrow import Entries, Place
from germane.sources.first_rows import Row
from germane.sources.headings import Headings
from germane.sources.id_columns import IdColumn, Index
from germane.sources.paths import BATCH, Noted, Progress
from germane.sources.rows import Batch, Reader, Rows, Scattered, combined, plain
from germane.sources.spill import Spill

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """Columns that can be read more than once, a record batch at a time."""

    where: str  # what errors call it
    name: str  # what results call it
    headings: Headings
    records: Callable[[], Iterator[pa.RecordBatch]]  # of the columns that have headings
    entries: tuple[Entries, Entries] = field(default_factory=lambda: (Entries(), Entries()))
    ids: str = "typed"  # or text: a file of text has no other ids, and integers are their digits
    parts: Sequence[tuple[int, str]] = ()  # of a folder: its files, and their first rows
    stands: Literal["in memory", "on disk"] = "in memory"

    def __repr__(self) -> str:
        rows = sum(record.num_rows for record in self.records())
        return f"Frame({self.name!r}: {rows} results)"

    def held(self, progress: Progress | None = None) -> Frame:
        """The same, its columns in memory."""
        return self.holding(list(self.reported(progress).records()))

    def holding(self, records: list[pa.RecordBatch]) -> Frame:
        """The same columns of rows that are in memory."""
        return replace(self, records=lambda: iter(records), stands="in memory")

    def reported(self, progress: Progress | None) -> Frame:
        """The same, which says how many bytes of its columns have been read."""
        if progress is None:
            return self

        def records() -> Iterator[pa.RecordBatch]:
            read = 0
            for record in self.records():
                read += arrow.size(record)
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

        return first[0].slice(0, misses.ROWS) if first else None, replace(self, records=records)

    @property
    def lines(self) -> Frame | None:
        """The rows in order, where scores without ids may be aligned with them."""
        return None

    @property
    def ties(self) -> str:
        """Ranks are an order; scores leave it open."""
        return "trec" if self.headings.score else "given"

    def rows(self, record: pa.RecordBatch, row: int) -> Rows:
        """The rows of a record batch whose first row has a number."""
        names = self.headings
        score = None if names.score is None else self.numbers(record, names.score, row, "score")
        rank = None if names.rank is None else self.numbers(record, names.rank, row, "rank")
        query, item = self.identifiers(record, row)
        return Rows(query, item, score, rank)

    def identifiers(self, record: pa.RecordBatch, row: int) -> tuple[IdColumn, IdColumn]:
        """The query and the item of each row."""
        query, item = (
            arrow.ids(record.column(name), Place(self.where, name, row, entries, self.parts))
            for name, entries in zip(
                (self.headings.query, self.headings.item), self.entries, strict=True
            )
        )
        return query, item

    def numbers(self, record: pa.RecordBatch, name: str, row: int, what: str) -> Floats:
        """The scores, ranks or grades of the rows."""
        place = Place(self.where, name, row, parts=self.parts)
        return arrow.numbers(record.column(name), place, what)


# --- What is recognised ----------------------------------------------------------------------------


def opened(given: Any, kind: str, columns: Any = None) -> Frame:
    """A run or qrels, its columns found. Raises FormatError where one is missing or ambiguous."""
    if isinstance(given, Frame):
        return given
    import pyarrow as pa

    names = _names(given)
    if names is not None:  # no other columns are converted than those that are read
        found = headings.resolve(names, kind, kind, columns)
        _refuse_twice(names, found, kind)
        if not all(isinstance(name, str) for name in given.columns):  # as Arrow names them
            given = given.set_axis(names, axis=1)
        given = given[found.all]
    try:
        table = _table(given)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise unreadable.explained(given, kind, error) from None
    except Exception as error:
        if "duckdb" not in type(error).__module__:  # which has errors of its own
            raise
        raise FormatError(
            f"{kind}: DuckDB cannot read it ({str(error).splitlines()[0]})"
        ) from error
    frame = of_table(table, kind, columns)
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


def of_table(table: pa.Table, kind: str, columns: Any = None) -> Frame:
    """A run or qrels held as an Arrow table."""
    found = headings.resolve(table.column_names, kind, kind, columns)
    _refuse_twice(table.column_names, found, kind)
    chosen = table.select(found.all)
    return Frame(kind, kind, found, lambda: iter(chosen.to_batches()))


def _refuse_twice(names: Sequence[str], found: Headings, kind: str) -> None:
    for name in found.all:
        if names.count(name) > 1:
            raise FormatError(f"{kind}: two columns are named {name!r}; rename or drop one.")


def _names(given: Any) -> list[str] | None:
    """The columns of a pandas frame; they are looked at before anything is converted."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(given, pandas.DataFrame):
        return None
    return list(map(str, given.columns))


def _table(given: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(given, pa.Table):
        return given
    if host.is_dataset(given):
        return given.with_format("arrow")[:]
    reader = pa.RecordBatchReader.from_stream(given)
    return reader.read_all()


# --- Runs ------------------------------------------------------------------------------------------


def retrieve(
    qrels: Qrels, given: Any, duplicates: str, order: Order, progress: Progress | None = None
) -> Retrieved:
    """Find the judged items of a run."""
    told = Noted(progress)
    head, frame = opened(given, "run").reported(told).begun()
    queries, items, frame = _alike(qrels, head, frame)
    judged = replaced(qrels, queries=queries.python) if order.own == "drop" else qrels
    rows, inexact = _first_rows(frame, head), [*_inexact(frame, head)]
    del head  # and with it all rows of its record
    index = Index(queries)
    moves = "any" if duplicates in ("error", *COPIES) else "none"
    reader = Reader(frame.records, frame.rows, index, moves)
    try:
        got = _reduced(reader.grouped(), reader, judged, items, duplicates, order, frame)
    except Scattered:
        got = None  # the error is let go of first, and with it what it was raised in
    if got is None:
        reader = Reader(frame.records, frame.rows, index, moves)
        with Spill() as disk:  # what is in memory anyway is sorted there
            batches = reader.gathered(told, disk if frame.stands == "on disk" else None)
            got = _reduced(batches, reader, judged, items, duplicates, order, frame)
    shown = first_rows.of_rows(rows, qrels, got, order)
    return replaced(got, noticed=(*shown, *inexact))


def judged_in(qrels: Qrels, frame: Frame) -> Ints | None:
    """The places of a frame's judged queries; None for a file, which is read once."""
    if frame.stands == "on disk":
        return None
    try:
        queries, _, frame = _alike(qrels, *frame.begun())
    except EmptyError:
        return np.zeros(0, np.int64)
    found, row = [np.zeros(0, np.int64)], 0
    for record in frame.records():
        query = frame.identifiers(record, row)[0]
        found.append(queries.finder.places(query.chosen(query.changes())))
        row += record.num_rows
    places = np.unique(np.concatenate(found))
    return places[places >= 0]


def _first_rows(frame: Frame, head: pa.RecordBatch) -> list[Row]:
    rows = frame.rows(head, 0)
    rank = np.zeros(len(rows.query)) if rows.rank is None else rows.rank
    score = -rank if rows.score is None else rows.score
    columns = rows.query.python, rows.item.python, rank.tolist(), score.tolist()
    return list(map(Row, *columns))


def _inexact(frame: Frame, head: pa.RecordBatch) -> Iterator[Finding]:
    """Whole scores of the first query that doubles round to the same number."""
    import pyarrow as pa

    name = frame.headings.score
    if name is None or not pa.types.is_integer(head.column(name).type):
        return
    query, _ = frame.identifiers(head, 0)
    first = head.column(name).slice(0, int((*query.changes(), len(query))[1])).to_pylist()
    if precision.rounds(first, np.array(first, float)):
        yield precision.inexact(query[0])


def find_queries(frame: Frame) -> set[Hashable]:
    """All queries of a frame, as text."""
    found: set[Hashable] = set()
    row = 0
    for record in frame.records():
        query = frame.identifiers(record, row)[0]
        found.update(query.chosen(query.changes()).text().python)
        row += record.num_rows
    return found


def only(qrels: Qrels, frame: Frame) -> tuple[Frame | None, list[Hashable], list[float]]:
    """The rows of the one judged query: as a run, and their items with their scores.

    Without scores the items are in the order of their ranks. The run is None where there is no row.
    """
    queries, _, alike = _alike(qrels, *frame.begun())
    index, records, parts, row = Index(queries), [], [], 0
    for record in alike.records():
        mine = np.flatnonzero(index.places(alike.identifiers(record, row)[0]) >= 0)
        for stretch in np.split(mine, np.flatnonzero(np.diff(mine) > 1) + 1) if len(mine) else ():
            start = int(stretch[0])
            records.append(record.slice(start, len(stretch)))
            parts.append(alike.rows(records[-1], row + start))
        row += record.num_rows
    if not records:
        return None, [], []
    items = [item for part in parts for item in part.item.python]
    scores = [score for part in parts if part.score is not None for score in part.score.tolist()]
    ranks = [rank for part in parts if part.rank is not None for rank in part.rank.tolist()]
    if not scores:
        items = [items[i] for i in sorted(range(len(items)), key=ranks.__getitem__)]
    return frame.holding(combined(list(map(plain, records)))), items, scores


def batches(frame: Frame, start: int) -> Iterator[tuple[int, Frame]]:
    """The rows from a place on in frames of whole queries, held in memory, and where each ends."""
    held: list[pa.RecordBatch] = []
    row = 0  # of the next record
    for record in frame.records():
        begin, row = row, row + record.num_rows
        fresh = record.slice(max(start - begin, 0))
        if not fresh.num_rows:
            continue
        last = int(frame.identifiers(fresh, max(begin, start))[0].changes()[-1])
        if last and sum(one.num_rows for one in held) + last >= BATCH:
            yield (
                begin + record.num_rows - fresh.num_rows + last,
                _held(frame, [*held, fresh.slice(0, last)]),
            )
            held, fresh = [], fresh.slice(last)
        held.append(fresh)
    if held:
        yield row, _held(frame, held)


def _held(frame: Frame, records: list[pa.RecordBatch]) -> Frame:
    return replace(frame.holding(records), parts=())


def _reduced(
    batches: Iterator[Batch],
    reader: Reader,
    qrels: Qrels,
    items: IdColumn,
    duplicates: str,
    order: Order,
    frame: Frame,
) -> Retrieved:
    reducer = pairs.Reducer(qrels, items, duplicates, order)
    try:
        for batch in batches:
            reducer.add(batch)
    except pairs.Repeated as found:
        raise twice(frame.where, "retrieved", qrels.queries[found.code], found.item) from None
    if not reader.rows:
        raise EmptyError(f"{frame.where}: there are no rows.")
    return reducer.result(reader.unknown)


def twice(where: str, what: str, query: Hashable, item: Hashable) -> DuplicateError:
    return DuplicateError(
        f"{where}: item {clip(item)} is {what} twice for query {clip(query)}. "
        "duplicates=first, last or max keeps one copy."
    )


# --- Ids of one kind -------------------------------------------------------------------------------


def _alike(
    qrels: Qrels, head: pa.RecordBatch | None, frame: Frame
) -> tuple[IdColumn, IdColumn, Frame]:
    """The qrels' ids in the kind of the run's, and the run with ids in the kind of the qrels'.

    Integers and text are never equal, unless one side comes from a file of text: that has no
    integers, and an integer then stands for its digits.
    """
    if head is None:
        raise EmptyError(f"{frame.where}: there are no rows.")
    judged = list(qrels.columns or map(id_columns.of_python, (qrels.queries, qrels.items)))
    as_text = [False, False]
    for at, retrieved in enumerate(frame.identifiers(head.slice(0, 3), 0)):
        if judged[at].kind == retrieved.kind or not len(judged[at]):
            continue
        if "text" not in (qrels.ids, frame.ids):
            what, ids = (("query", qrels.queries), ("item", qrels.items))[at]
            raise CoverageError(
                f"the {what} ids of run and qrels have different types: the run's are "
                f"{retrieved.kind} ({some(retrieved)}), the qrels' are {judged[at].kind} "
                f"({some(ids)}). Cast one of them."
            )
        judged[at], as_text[at] = judged[at].text(), True
    if as_text[0] and len(set(judged[0].python)) < len(judged[0]):
        raise FormatError("two query ids of the qrels have the same text.")
    return judged[0], judged[1], _AsText.of(frame, as_text) if any(as_text) else frame


@dataclass(frozen=True, eq=False)
class _AsText(Frame):
    """A frame some of whose ids are read as text."""

    as_text: Sequence[bool] = ()

    @classmethod
    def of(cls, frame: Frame, as_text: Sequence[bool]) -> _AsText:
        return cls(
            frame.where,
            frame.name,
            frame.headings,
            frame.records,
            ids=frame.ids,
            parts=frame.parts,
            stands=frame.stands,
            as_text=as_text,
        )

    def identifiers(self, record: pa.RecordBatch, row: int) -> tuple[IdColumn, IdColumn]:
        query, item = super().identifiers(record, row)
        return (
            query.text() if self.as_text[0] else query,
            item.text() if self.as_text[1] else item,
        )
