"""Frames: qrels and runs of anything that hands out Arrow columns, also of files with columns."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from germane.core.calls import Progress, ProgressNote
from germane.core.qrels import IdNames, Order, Qrels, Retrieved, Sample, choose_rows
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import (
    CoverageError,
    EmptyError,
    FormatError,
    InputError,
    ScoreError,
    clip,
    explain_types,
    has_arrow,
    list_some,
)
from germane.kernel.content import Hasher
from germane.kernel.ids import Ids, Text, read_python_ids
from germane.kernel.library import map_in_threads
from germane.kernel.reduction import Index, Judgments, RepeatedItem, add_candidates, find_changes
from germane.readers.files.formats import BATCH, Lined, Path
from germane.readers.files.line_blocks import TextFile, count_line_ends
from germane.readers.inputs import Faults, RunInput
from germane.readers.objects import arrow, numbers
from germane.readers.objects.arrow import Entries, Place
from germane.readers.objects.headings import Headings
from germane.readers.objects.numbers import EXACT
from germane.readers.objects.records import Record, make_record, read_pandas
from germane.readers.options.candidates import fit_items, match_items
from germane.readers.rows import (
    Piece,
    RowReducer,
    Rows,
    check_texts,
    cut_pieces,
    explain_repeat,
    read_piece,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from germane.readers.options.item_groups import Groups


HEAD = 2000  # first rows, from which a sample is taken


@dataclass(frozen=True, eq=False, repr=False)
class Frame(RunInput):
    """Columns that can be read more than once, a record batch at a time."""

    has_columns = True
    is_searched = True

    where: str  # the name in errors
    name: str  # the name in results
    headings: Headings
    records: Callable[[], Iterator[pa.RecordBatch]]  # of the columns that have headings
    entries: tuple[Entries, Entries] = field(default_factory=lambda: (Entries(), Entries()))
    ids: str = "typed"  # or text: in a file of text, an integer is its digits
    parts: Sequence[tuple[int, str]] = ()  # of a folder: the first row of each file, and its name
    storage: Literal["in memory", "on disk"] = "in memory"
    as_text: tuple[bool, bool] = (False, False)  # are query and item ids read as text?
    groups: Groups | None = None  # that take the place of items
    has_header: bool = True  # may the caller name its columns?
    rounded: int = 0  # scores that became equal to another as doubles, as the reader has found
    lined: Lined | None = None  # where its rows are lines
    hasher: Hasher | None = None  # adds up the content of a file while it is reduced

    def __repr__(self) -> str:
        rows = sum(record.num_rows for record in self.records())
        return f"Frame({self.name!r}: {rows} results)"

    @property
    def id_names(self) -> IdNames | None:  # type: ignore[override]
        """The names of its columns, if it has a header."""
        return self.headings.id_names if self.has_header else None

    @property
    def lines(self) -> Frame | None:
        """The rows in order, if scores without ids may be matched with them."""
        return None

    @property
    def ties(self) -> str:
        """Ranks order all items; scores may leave some tied."""
        return "trec" if self.headings.score else "given"

    @property
    def has_scores(self) -> bool:
        return self.headings.score is not None

    def sign(self) -> Frame:
        return replace(self, hasher=Hasher())

    def _collapse(self, groups: Groups) -> Self:
        groups.check_items_have_ids()
        return replace(self, groups=groups, ids="text" if groups.is_text else self.ids)

    # --- Its columns ---------------------------------------------------------------------------

    def hold(self, progress: Progress | None = None) -> Frame:
        """Read the columns into memory."""
        return self.replace_records(list(self.report_to(progress).records()))

    def replace_records(self, records: list[pa.RecordBatch]) -> Frame:
        """Make a frame with the same columns for rows that are in memory."""
        return replace(self, records=lambda: iter(records), storage="in memory")

    def report_to(self, progress: Progress | None) -> Frame:
        """Make a frame that reports how many bytes of its columns have been read."""
        if progress is None:
            return self

        def records() -> Iterator[pa.RecordBatch]:
            read = 0
            for record in self.records():
                read += arrow.count_bytes(record)
                progress(self.where, read, None)
                yield record

        return replace(self, records=records)

    def read_head(self) -> tuple[pa.RecordBatch, Frame]:
        """Read the first rows. Returns them, and a frame whose first reading goes on from there.

        Raises EmptyError if there are no rows.
        """
        reading = (record for record in self.records() if record.num_rows)
        first = list(itertools.islice(reading, 1))
        if not first:
            raise EmptyError(f"{self.where}: there are no rows.")

        def records() -> Iterator[pa.RecordBatch]:
            if first:
                yield first.pop()  # so that it is not in memory with the next
                yield from reading
            else:
                reading.close()  # with the record that it has reached
                yield from self.records()

        return first[0].slice(0, HEAD), replace(self, records=records)

    def number_records(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Each record with the number of its first row."""
        row = 0
        for record in self.records():
            yield row, record
            row += record.num_rows

    def read_scores(self, record: pa.RecordBatch, row: int) -> tuple[Floats | None, Floats | None]:
        """Read the scores and the ranks of a record whose first row has a number."""
        names = (self.headings.score, "score"), (self.headings.rank, "rank")
        score, rank = (
            None if name is None else self.read_numbers(record, name, row, noun)
            for name, noun in names
        )
        return score, rank

    def read_ids(self, record: pa.RecordBatch, row: int) -> tuple[Ids, Ids]:
        """Read the query and the item of each row."""
        return self.read_queries(record, row), self._read_ids(record, row, 1)

    def read_queries(self, record: pa.RecordBatch, row: int) -> Ids:
        """Read the query of each row."""
        return self._read_ids(record, row, 0)

    def read_names(self, record: pa.RecordBatch, row: int, name: str) -> Ids:
        """Read the subtopic or the judge of each row."""
        place = Place(self.where, name, row, Entries(), self.parts)
        return arrow.read_ids(record.column(name), place)

    def _read_ids(self, record: pa.RecordBatch, row: int, side: int) -> Ids:
        name = (self.headings.query, self.headings.item)[side]
        place = Place(self.where, name, row, self.entries[side], self.parts)
        ids = arrow.read_ids(record.column(name), place)
        if side and self.groups is not None:
            ids = self.groups.find_groups(ids, self.ids == "text")
        return ids.as_text() if self.as_text[side] else ids

    def read_numbers(self, record: pa.RecordBatch, name: str, row: int, noun: str) -> Floats:
        """Read the scores, ranks or grades of the rows."""
        place = Place(self.where, name, row, parts=self.parts)
        return arrow.read_numbers(record.column(name), place, noun)

    def read_sides(self, record: pa.RecordBatch, name: str, noun: str) -> Floats:
        """Read numbers of boxes; what is missing is NaN, refused with its row where it matters."""
        column = record.column(name)
        kind = str(column.type)
        if kind == "null":
            return np.full(len(column), np.nan)
        if kind == "bool" or not arrow.is_numeric(kind):
            error = ScoreError if noun == "score" else FormatError
            raise error(
                f"{self.where}, column {name!r}: numbers are needed; the column is {column.type}."
            )
        return arrow.list_doubles(column)

    def read_flags(self, record: pa.RecordBatch, name: str) -> Bools:
        """Read flags of boxes; what is missing is not set."""
        column = record.column(name)
        kind = str(column.type)
        if not (kind in ("bool", "null") or arrow.is_whole_type(kind)):
            raise FormatError(
                f"{self.where}, column {name!r}: a flag is 0 or 1; the column is {kind}."
            )
        return np.array([bool(value) for value in column.to_pylist()], bool)

    # --- Rows that can be read, beside others --------------------------------------------------

    def sift(self, read: Callable[[Frame, Piece], Rows], faults: Faults) -> Iterator[Rows]:
        """Read the rows that can be read, with their numbers, and note the others as faults.

        Raises EmptyError if there are no rows, and the last error after very many faults.
        """
        exact: dict[Hashable, set[Any]] = {}
        row = 0
        for record in self.records():
            if self.headings.score is not None and not self.rounded:
                _note_exact(record, self.headings.query, self.headings.score, exact)
            yield from _sift_record(partial(read, self), record, row, faults)
            row += record.num_rows
        if not row:
            raise EmptyError(f"{self.where}: there are no rows.")
        faults.rounded = self.rounded
        for scores in exact.values():
            faults.rounded += numbers.count_rounded([*scores], np.array([*scores], float))
        faults.locate = self._make_locator(row)

    def _make_locator(self, rows: int) -> Callable[[int], str]:
        """Make a function that names the place of a row: its line, where each row has one."""
        lined = self.lined

        @cache
        def has_line_per_row() -> bool:
            if lined is None or not os.path.isfile(lined.path):
                return False
            return _count_lines(lined.path) == rows + lined.above

        def locate(row: int) -> str:
            if has_line_per_row():
                assert lined is not None
                return f"{self.where}:{row + 1 + lined.above}: "
            start, where = max((p for p in self.parts if p[0] <= row), default=(0, self.where))
            file = "" if where in ("run", "qrels") else f"{where}, "
            return f"{file}row {row - start}: "

        return locate

    # --- As a run ------------------------------------------------------------------------------

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        note, on_disk = ProgressNote(progress), self.storage == "on disk"
        head, frame = self.report_to(note).read_head()
        judged, frame = match_kinds(qrels, head, frame)
        if on_disk:
            head = head.take(np.arange(head.num_rows))  # frees other rows of its record
        cut, read = partial(cut_pieces, frame), partial(read_piece, frame)
        reducer = RowReducer(self, judged, cut, read, duplicates, order, self.hasher)
        try:
            retrieved = reducer.reduce(note, on_disk=on_disk)
        except RepeatedItem as repeated_item:
            raise explain_repeat(self.where, "retrieved", repeated_item) from None
        except FormatError as error:
            if self.where == "run" or not str(error).startswith("run, "):
                raise
            raise FormatError(f"{self.where}{str(error).removeprefix('run')}") from None
        return replace(retrieved, sample=partial(_take_sample, frame, head))

    def read_rows(
        self,
        judged: Qrels | None = None,
        progress: Progress | None = None,
        faults: Faults | None = None,
    ) -> Iterator[Rows]:
        if faults is not None:
            yield from self.report_to(progress).sift(read_piece, faults)
            return
        frame, wanted = self.report_to(progress), None
        if judged is not None:
            matched, frame = match_kinds(judged, *frame.read_head())
            wanted = Index(read_python_ids(matched.queries))
        for rows in map_in_threads(partial(read_piece, frame), cut_pieces(frame)):
            yield rows if wanted is None else rows.select(wanted)

    def select(
        self, qrels: Qrels, duplicates: str, progress: Progress | None = None
    ) -> Frame | None:
        judged, frame = match_kinds(qrels, *self.read_head())
        wanted, records = Index(read_python_ids(judged.queries)), []
        for row, record in frame.number_records():
            mine = np.flatnonzero(wanted.find(frame.read_queries(record, row)) >= 0)
            for stretch in (
                np.split(mine, np.flatnonzero(np.diff(mine) > 1) + 1) if len(mine) else ()
            ):
                start = int(stretch[0])
                records.append(record.slice(start, len(stretch)))
                frame.read_scores(records[-1], row + start)  # errors name the row of all rows
        if not records:
            return None
        names = self.headings.all
        written = [arrow.decode_record(record, names) for record in records]
        return self.replace_records(arrow.combine(written))

    def find_judged(self, qrels: Qrels) -> Ints | None:
        if self.storage == "on disk":
            return None
        try:
            judged, frame = match_kinds(qrels, *self.read_head())
        except EmptyError:
            return np.zeros(0, np.int64)
        queries = {identifier for ids in frame._list_queries() for identifier in ids}
        return np.array([q for q, query in enumerate(judged.queries) if query in queries], np.int64)

    def find_queries(self, wanted: object) -> set[Hashable]:
        """Find all queries, as text."""
        return {identifier for ids in self._list_queries() for identifier in ids.as_text()}

    def _list_queries(self) -> Iterator[Ids]:
        """List the query of each stretch of rows, record by record."""
        for row, record in self.number_records():
            query = self.read_queries(record, row)
            yield query.take(find_changes(query))

    def prepare_qrels(self, qrels: Qrels) -> Qrels:
        if qrels.columns is not None:
            return qrels
        columns = read_python_ids(qrels.queries), read_python_ids(qrels.items)
        return replace(qrels, columns=columns)

    def read_batches(
        self, start: int, progress: Progress | None, judged: Qrels | None = None
    ) -> Iterator[tuple[int, Frame]]:
        """Read from a row on, in frames of whole queries, each with the row where it ends."""
        pending: list[pa.RecordBatch] = []
        end = 0
        for row, record in self.report_to(progress).number_records():
            end = row + record.num_rows
            fresh = record.slice(max(start - row, 0))
            if not fresh.num_rows:
                continue
            last = int(find_changes(self.read_queries(fresh, max(row, start)))[-1])
            if last and sum(record.num_rows for record in pending) + last >= BATCH:
                pending.append(fresh.slice(0, last))
                yield end - fresh.num_rows + last, replace(self.replace_records(pending), parts=())
                pending, fresh = [], fresh.slice(last)
            pending.append(fresh)
        if pending:
            yield end, replace(self.replace_records(pending), parts=())


MOST_FAULTS = 1000  # after so many, the file is of another kind, and reading stops
DOUBLE_DIGITS = 15  # of a decimal number, which a double always holds


def _sift_record(
    read: Callable[[Piece], Rows], record: pa.RecordBatch, row: int, faults: Faults
) -> Iterator[Rows]:
    """Read the rows of a record that can be read.

    The others are found by halving: k of n rows take about k log n readings, and most records one.
    """
    count, half = record.num_rows, record.num_rows // 2
    if not count:
        return
    try:
        rows = read((row, [record]))
    except InputError as error:
        if half:
            yield from _sift_record(read, record.slice(0, half), row, faults)
            yield from _sift_record(read, record.slice(half), row + half, faults)
            return
        faults.add(str(error))
        if faults.count > MOST_FAULTS:
            raise
        return
    yield replace(rows, line=np.arange(row, row + count))


def _note_exact(record: Any, query: str, score: str, exact: dict[Hashable, set[Any]]) -> None:
    """Note the scores of each query as they are given, where doubles may round them."""
    scores = record.column(score)
    kind, _, digits = str(scores.type).partition("(")
    if kind.startswith(("int", "uint")):
        wide = np.abs(scores.to_numpy(zero_copy_only=False).astype(float)) >= EXACT
    elif kind.startswith("decimal") and int(digits.partition(",")[0]) > DOUBLE_DIGITS:
        wide = np.array([number is not None for number in scores.to_pylist()], bool)
    else:
        return
    if wide.any():
        query_ids, written = record.column(query).to_pylist(), scores.to_pylist()
        for row in np.flatnonzero(wide).tolist():
            exact.setdefault(query_ids[row], set()).add(written[row])


def _count_lines(path: Path) -> int:
    with TextFile(path) as file:
        lines, data = 0, b""
        for block in file.read_blocks("lines"):
            data = block.data
            lines += count_line_ends(data)
    return lines + (not data.endswith((b"\n", b"\r")))


def open_frame(raw: Any, kind: str, columns: Any = None) -> Frame:
    """Open a run or qrels. Raises FormatError for a column that is missing or ambiguous."""
    arrow.check_readable(raw, kind)
    columns_read = None
    pandas = sys.modules.get("pandas")
    if pandas and isinstance(raw, pandas.DataFrame):  # only columns that are read are converted
        names = list(map(str, raw.columns))
        try:
            columns_read = Headings.resolve(names, kind, kind, columns)
        except FormatError as error:
            raise FormatError(f"{error}{arrow.advise_index(raw)}") from None
        _refuse_twice(names, columns_read, kind)
        if not all(isinstance(name, str) for name in raw.columns):  # as Arrow names them
            raw = raw.set_axis(names, axis=1)
        raw = raw[columns_read.all]
    if isinstance(raw, Mapping):
        columns_read = Headings.resolve(list(raw), kind, kind, columns)
        raw = _read_mapping(raw, kind, columns_read.all)
    if kind == "run" and columns_read is not None:
        _refuse_sets(raw[columns_read.item], kind, columns_read.item)
    try:
        table = _make_table(raw)
    except arrow.list_reading_errors() as error:
        raise arrow.explain_unreadable(raw, kind, error) from None
    except Exception as error:
        if "duckdb" not in type(error).__module__:  # which has errors of its own
            raise
        raise FormatError(
            f"{kind}: DuckDB cannot read it ({str(error).splitlines()[0]})"
        ) from error
    columns_read = columns_read or Headings.resolve(table.column_names, kind, kind, columns)
    _refuse_twice(table.column_names, columns_read, kind)
    _refuse_objects(raw, columns_read.all, kind)
    chosen = table.select(columns_read.all)
    return Frame(kind, kind, columns_read, lambda: iter(chosen.to_batches()))


def _refuse_sets(cells: Any, kind: str, name: str) -> None:
    """Refuse sets among the cells of a run, which have no order; Arrow would take any."""
    if getattr(cells, "dtype", None) != "object":
        return
    odd = next((cell for cell in cells if isinstance(cell, (set, frozenset))), None)
    if odd is not None:
        raise FormatError(
            f"{kind}, column {name!r}: results have an order, and a set has none; got"
            f" {clip(odd)}. Give lists, best first."
        )


def _read_mapping(raw: Mapping[str, Any], kind: str, names: Sequence[str]) -> dict[str, Any]:
    """Read these columns of a dict, which have one length."""
    lengths = {name: len(raw[name]) for name in names}
    if len(set(lengths.values())) > 1:
        raise FormatError(
            f"{kind}: the columns have different lengths:"
            f" {', '.join(f'{name} {count:,}' for name, count in lengths.items())}."
        )
    cells = ((name, raw[name]) for name in names)
    return {name: cell.tolist() if hasattr(cell, "tolist") else cell for name, cell in cells}


def _refuse_objects(raw: Any, names: Sequence[str], kind: str) -> None:
    """Refuse Python objects in a frame of Polars, which hands out their addresses."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(raw, polars.DataFrame):
        return
    for name in names:
        if raw.schema[name] == polars.Object:
            raise FormatError(
                f"{kind}, column {name!r}: it contains Python objects, which Polars does not hand"
                f" out; turn them into text, as polars.Series({name!r}, map(str, frame[{name!r}]))"
                " does."
            )


def _refuse_twice(names: Sequence[str], headings: Headings, kind: str) -> None:
    for name in headings.all:
        if names.count(name) > 1:
            raise FormatError(f"{kind}: two columns are named {name!r}; rename or drop one.")


def _make_table(raw: Any) -> pa.Table | Record:
    if isinstance(raw, Record):
        return raw
    if isinstance(raw, Mapping):
        return make_record(raw, len(next(iter(raw.values()))))
    if not has_arrow():
        return read_pandas(raw)
    import pyarrow as pa

    if isinstance(raw, pa.Table):
        return raw
    if numbers.is_dataset(raw):
        return raw.with_format("arrow")[:]
    return pa.RecordBatchReader.from_stream(raw).read_all()


def _take_sample(frame: Frame, head: pa.RecordBatch, most_rows: int) -> Sample:
    """Take some of the first rows as a sample."""
    query, item = frame.read_ids(head, 0)
    starts = find_changes(query)
    rows, offsets = choose_rows(np.append(starts, len(query)), most_rows)
    score, rank = (
        None if column is None else column[rows] for column in frame.read_scores(head, 0)
    )
    queries, items = query.take(starts[: len(offsets) - 1]), item.take(rows)
    is_text = frame.is_text or any(frame.as_text)
    if is_text:  # but for groups, which may be integers
        queries, items = queries.as_text(), items.as_text()

    def give_scores(count: int) -> list[Any]:
        written: list[Any] = head.column(frame.headings.score).take(rows[:count]).to_pylist()
        return written

    return Sample(
        queries.python,
        offsets,
        items,
        score,
        rank=None if rank is None else lambda count: rank[:count],
        raw=None if score is None else give_scores,
        ids="text" if is_text else "typed",
        rounded=frame.rounded,
        finer=score is not None
        and str(head.column(frame.headings.score).type).startswith("decimal"),
    )


# --- Ids of one kind --------------------------------------------------------------------------


def match_kinds(qrels: Qrels, head: pa.RecordBatch, frame: Frame) -> tuple[Judgments, Frame]:
    """Bring the ids of the judgments and of the run to the same kind: integers or text.

    Integers and text are never equal, unless one side comes from a file of text: it has no
    integers, and an integer of the other side then stands for its digits.
    """
    judged = list(qrels.columns or map(read_python_ids, (qrels.queries, qrels.items)))
    as_text = [False, False]
    first = frame.read_ids(head.slice(0, 3), 0)
    for place, retrieved in enumerate(first):
        mine = judged[place]
        if mine.kind == retrieved.kind or not len(mine):
            judged[place] = fit_items(mine, retrieved)
            continue
        if "text" not in (qrels.ids, frame.ids):
            noun, ids = (("query", qrels.queries), ("item", qrels.items))[place]
            of_run = f"{retrieved.kind} ({list_some(retrieved)})"
            of_qrels = f"{mine.kind} ({list_some(ids)})"
            raise CoverageError(explain_types(noun, "qrels", of_run, of_qrels))
        judged[place], as_text[place] = mine.as_text(), True
    pairs, pairs_as_text = match_items(qrels, first[1], frame.ids, as_text=as_text[1])
    if pairs_as_text and not as_text[1]:
        judged[1], as_text[1] = judged[1].as_text(), True
    queries, items = judged
    if isinstance(items, Text):
        check_texts(qrels, items)
    of_text = any(as_text) or "text" in (qrels.ids, frame.ids)
    matched = add_candidates(Judgments(queries, qrels.offsets, items, of_text=of_text), pairs)
    return matched, replace(frame, as_text=(as_text[0], as_text[1]))


# --- Frames of other things than qrels and runs ---------------------------------------------------


def read_cells(frame: Any, where: str) -> dict[str, list[Any]]:
    """Read the cells of each column of a frame. Raises InputError where some cannot be read."""
    arrow.check_readable(frame, where)
    try:
        columns = _tabulate(frame)
    except arrow.list_reading_errors():
        raise InputError("the frame: a cell is a number or text, and some are neither.") from None
    return {name: columns.column(name).to_pylist() for name in columns.column_names}


def _tabulate(frame: Any) -> Any:
    if not has_arrow():
        return read_pandas(frame)
    import pyarrow

    return pyarrow.table(frame)
