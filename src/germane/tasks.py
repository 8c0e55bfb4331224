"""What tasks of a cluster make of record batches; nothing here knows the engine but for the name of a task."""

import pickle
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from germane import _ragged
from germane._ragged import Bools, Ints
from germane._records import as_dict
from germane.errors import FormatError, GermaneError
from germane.evaluator import Evaluator
from germane.retrieval import Qrels
from germane.sources import arrow, id_columns, parquet_files
from germane.sources.arrow import Place
from germane.sources.binary import Words
from germane.sources.headings import Headings
from germane.sources.id_columns import IdColumn, Index
from germane.sources.rows import combined, decoded

CHUNK = 1 << 20  # rows that a task packs at a time
PACKED = "bucket int, kind string, rows binary"
STATE = "state binary"
_FILE = b"file"  # what rows were read from, in the metadata of their schema
_PART = "part"  # the kind of the rows of crowded queries
_NO_IDS = id_columns.of_python([])
NO_QRELS = Qrels([], np.zeros(1, np.int64), _NO_IDS, np.zeros(0), columns=(_NO_IDS, _NO_IDS))


# --- Queries with more rows than a task can hold ---


class Crowded(NamedTuple):
    """Some queries, and how many parts their rows are dealt out to."""

    queries: IdColumn  # each of them once
    parts: int
    words: Words = np.zeros(0, np.uint64)  # of the judged items, ascending
    pairs: frozenset[tuple[Hashable, Hashable]] = frozenset()  # of query and judged item

    def judging(self, qrels: Qrels) -> "Crowded":
        """The same with their judgments."""
        owner = _ragged.owners(qrels.offsets)
        pairs = frozenset(zip((qrels.queries[q] for q in owner.tolist()), qrels.items, strict=True))
        return self._replace(
            words=np.unique(id_columns.of_python(qrels.items).words()), pairs=pairs
        )

    def has(self, query: IdColumn) -> Bools:
        """Is it one of these queries?"""
        return Index(self.queries).places(query) >= 0

    def judged(self, query: IdColumn, item: IdColumn) -> Bools:
        """Is the item judged for one of these queries?"""
        found = self.has(query) & np.isin(item.words(), self.words)
        rows = np.flatnonzero(found)
        found[rows] = [pair in self.pairs for pair in _pairs(query.chosen(rows), item.chosen(rows))]
        return found


def _pairs(query: IdColumn, item: IdColumn) -> Iterable[tuple[Hashable, Hashable]]:
    return zip(query.python, item.python, strict=True)


class Divided(NamedTuple):
    """Queries whose rows are dealt out to several partitions, and what every one of these has to know."""

    crowded: Crowded
    evaluator: Evaluator  # with their judgments
    judged: pa.Table | None  # their judged rows


# --- Tasks ---


def of_files(
    columns: list[str],
    task: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    records: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """What a task makes of Parquet files, which arrive as their bytes: of one after the other."""
    for record in records:
        paths, contents = record.column("path").to_pylist(), record.column("content")
        for path, content in zip(paths, contents, strict=True):
            with pa.BufferReader(content.as_buffer()) as stream:
                try:
                    yield from task(_rows(path, stream, columns))
                except GermaneError as error:
                    if str(error).startswith(path):
                        raise
                    raise type(error)(f"{path}: {error}") from None


def _rows(path: str, stream: pa.BufferReader, columns: list[str]) -> Iterator[pa.RecordBatch]:
    for record in parquet_files.decoded(path, stream, columns, parquet_files.ROWS):
        for name in columns:
            if name not in record.schema.names:
                raise FormatError(f"{path}: there is no column {name!r}, which other files have.")
            if record.schema.names.count(name) > 1:
                raise FormatError(f"{path}: two columns are named {name!r}.")
        if record.num_rows:
            yield record.replace_schema_metadata({_FILE: path})


def packed(
    kind: str,
    names: Headings,
    buckets: int,
    crowded: Crowded | None,
    records: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Rows of judgments or of a run as blocks of bytes, one a bucket of queries."""
    where = f"{kind} ({_place()})"
    held: list[pa.RecordBatch] = []
    rows = row = 0
    for record in chain(records, [None]):
        if record is not None:
            held.append(record)
            rows += record.num_rows
        if rows >= CHUNK or (rows and record is None):
            for joined in combined(held):
                query, item = _checked(joined, names, where, row)
                yield _blocks(_renamed(joined, names), kind, query, item, buckets, crowded)
                row += joined.num_rows
            held, rows = [], 0


def _blocks(
    record: pa.RecordBatch,
    kind: str,
    query: IdColumn,
    item: IdColumn,
    buckets: int,
    crowded: Crowded | None,
) -> pa.RecordBatch:
    bucket, count = _dealt(query, buckets), buckets
    if crowded is not None:
        kept, apart = _apart(kind, query, item, crowded)
        bucket = np.where(apart, buckets + _dealt(item, crowded.parts), bucket)[kept]
        record, count = record.take(pa.array(kept)), buckets + crowded.parts
    if count <= 1 << 16:
        bucket = bucket.astype(np.uint16)  # which are sorted without comparisons
    record = record.take(pa.array(np.argsort(bucket, kind="stable")))
    sizes = np.bincount(bucket, minlength=count)
    present, ends = np.flatnonzero(sizes), np.cumsum(sizes)
    blocks = [_block(record.slice(ends[b] - sizes[b], sizes[b])) for b in present.tolist()]
    return pa.record_batch(
        {
            "bucket": pa.array(present, pa.int32()),
            "kind": pa.array([kind if b < buckets else _PART for b in present.tolist()]),
            "rows": pa.array(blocks, pa.binary()),
        }
    )


def _dealt(ids: IdColumn, buckets: int) -> Ints:
    """Each id's bucket: the same for the same id, wherever it stands."""
    return ((ids.words() >> np.uint64(32)) % np.uint64(buckets)).astype(np.uint32)


def _apart(kind: str, query: IdColumn, item: IdColumn, crowded: Crowded) -> tuple[Ints, Bools]:
    """The rows to send, and which rows are of crowded queries; what is judged of these is known."""
    apart = crowded.has(query)
    known = apart if kind == "qrels" else crowded.judged(query, item)
    return np.flatnonzero(~known), apart


def picked(
    kind: str, names: Headings, crowded: Crowded, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The judgments of crowded queries, or their judged rows."""
    where, row = f"{kind} ({_place()})", 0
    for record in records:
        query, item = _checked(record, names, where, row)
        found = crowded.has(query) if kind == "qrels" else crowded.judged(query, item)
        row += record.num_rows
        if found.any():
            rows = _renamed(record, names).filter(pa.array(found))
            yield _state(pa.Table.from_batches([rows]))


def _renamed(record: pa.RecordBatch, names: Headings) -> pa.RecordBatch:
    """The columns that are read, by what they are; categories as what they stand for.

    Every block would have all entries, and other files may have others or none.
    """
    columns = {
        part: decoded(record.column(name))
        for part, name in as_dict(names).items()
        if name is not None
    }
    return pa.record_batch(columns, metadata=record.schema.metadata)


def _checked(
    record: pa.RecordBatch, names: Headings, where: str, row: int
) -> tuple[IdColumn, IdColumn]:
    """Query and item of the rows. Raises FormatError, ScoreError or GradeError for what cannot be read."""
    query, item = (
        arrow.ids(record.column(name), Place(where, name, row))
        for name in (names.query, names.item)
    )
    for name, what in (
        (names.score, "score"),
        (names.rank, "rank"),
        (names.relevance, "relevance grade"),
    ):
        if name is not None:
            arrow.numbers(record.column(name), Place(where, name, row), what)
    return query, item


def _block(record: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, record.schema) as writer:
        writer.write_batch(record)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def evaluated(
    start: Callable[..., Evaluator], divided: Divided | None, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What all blocks of a partition come to: an Evaluator, without the rows; and that of parts."""
    tables: dict[str, list[pa.Table]] = {"qrels": [], "run": [], _PART: []}
    for record in records:
        for kind, block in zip(
            record.column("kind").to_pylist(), record.column("rows"), strict=True
        ):
            tables[kind].append(pa.ipc.open_stream(block.as_buffer()).read_all())
    judged, run, part = (whole(parts) for parts in tables.values())
    if part is not None and divided is not None:
        yield _state(divided.evaluator.reduce(_with_judged(part, divided), name=_place()))
    if judged is not None or run is not None:
        evaluator = start(NO_QRELS if judged is None else judged)
        if run is not None:
            evaluator.update(run, name=_place())
        yield _state(evaluator)


def whole(parts: list[pa.Table]) -> pa.Table | None:
    """All of the rows. Raises FormatError where those of files have different types."""
    for part in parts:
        for name, there, here in zip(
            part.schema.names, parts[0].schema.types, part.schema.types, strict=True
        ):
            if here != there:
                raise FormatError(
                    f"{_file(part)}: the {name} is {here}; in {_file(parts[0])} it is {there}."
                )
    return pa.concat_tables(parts) if parts else None


def _file(rows: pa.Table) -> str:
    return ((rows.schema.metadata or {}).get(_FILE) or b"partition").decode()


def _with_judged(part: pa.Table, divided: Divided) -> pa.Table:
    """A part of the rows of crowded queries, and all judged rows of these queries."""
    if divided.judged is None:
        return part
    mine = pc.is_in(divided.judged.column("query"), pc.unique(part.column("query")))
    return whole([part, divided.judged.filter(mine)])


def reduced(evaluator: Evaluator, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What the rows of a partition retrieved of the judgments."""
    held = list(records)
    if held:
        yield _state(evaluator.reduce(pa.Table.from_batches(held), name=_place()))


def _state(of: Any) -> pa.RecordBatch:
    return pa.record_batch({"state": pa.array([pickle.dumps(of)], pa.binary())})


def _place() -> str:
    """Where a task runs, as Spark's pages list it."""
    task = sys.modules["pyspark"].TaskContext.get() if "pyspark" in sys.modules else None
    return (
        "partition" if task is None else f"stage {task.stageId()}, partition {task.partitionId()}"
    )
