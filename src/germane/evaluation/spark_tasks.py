"""Spark tasks: work on record batches; only the name of a task needs Spark."""

import pickle
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.errors import FormatError, GermaneError, InputError
from germane.evaluation.evaluator import Evaluator
from germane.kernel.columns import Ids, number_ids, read_bytes
from germane.readers.files import column_files
from germane.readers.objects import arrow
from germane.readers.objects.arrow import Place
from germane.readers.objects.headings import Headings

CHUNK = 1 << 20  # rows that a task packs at a time
PACKED = "bucket int, kind string, rows binary"
STATE = "state binary"
_FILE = b"file"  # what rows were read from, in the metadata of their schema
_NO_IDS = read_bytes([])
NO_QRELS = Qrels([], np.zeros(1, np.int64), _NO_IDS, np.zeros(0), columns=(_NO_IDS, _NO_IDS))


def run_on_files(
    columns: list[str],
    task: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    records: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Run a task on Parquet files, which arrive as their bytes, one after the other."""
    for record in records:
        paths, contents = record.column("path").to_pylist(), record.column("content")
        for path, content in zip(paths, contents, strict=True):
            with pa.BufferReader(content.as_buffer()) as stream:
                try:
                    yield from task(_read_rows(path, stream, columns))
                except GermaneError as error:
                    if str(error).startswith(path):
                        raise
                    raise type(error)(f"{path}: {error}") from None


def _read_rows(path: str, stream: pa.BufferReader, columns: list[str]) -> Iterator[pa.RecordBatch]:
    for record in column_files.decode_columns(path, stream, columns, column_files.ROWS):
        for name in columns:
            if name not in record.schema.names:
                raise FormatError(f"{path}: there is no column {name!r}, which other files have.")
            if record.schema.names.count(name) > 1:
                raise FormatError(f"{path}: two columns are named {name!r}.")
        if record.num_rows:
            yield record.replace_schema_metadata({_FILE: path})


def pack_rows(
    kind: str, names: Headings, buckets: int, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Pack rows of judgments or of a run into blocks of bytes, one for each bucket of queries."""
    where = f"{kind} ({_name_task()})"
    pending: list[pa.RecordBatch] = []
    rows = row = 0
    for record in chain(records, [None]):
        if record is not None:
            pending.append(record)
            rows += record.num_rows
        if rows >= CHUNK or (rows and record is None):
            for joined in arrow.combine(pending):
                query = _read_queries(joined, names, where, row)
                yield _make_blocks(_rename_columns(joined, names), kind, query, buckets)
                row += joined.num_rows
            pending, rows = [], 0


def _make_blocks(record: pa.RecordBatch, kind: str, query: Ids, buckets: int) -> pa.RecordBatch:
    bucket = _deal_ids(query, buckets)
    record = record.take(pa.array(np.argsort(bucket, kind="stable")))
    sizes = np.bincount(bucket, minlength=buckets)
    present, ends = np.flatnonzero(sizes), np.cumsum(sizes)
    blocks = [_write_block(record.slice(ends[b] - sizes[b], sizes[b])) for b in present.tolist()]
    return pa.record_batch(
        {
            "bucket": pa.array(present, pa.int32()),
            "kind": pa.array([kind] * len(present)),
            "rows": pa.array(blocks, pa.binary()),
        }
    )


def _deal_ids(ids: Ids, buckets: int) -> Ints:
    """Assign a bucket to each id; equal ids get the same bucket everywhere."""
    numbers, distinct = number_ids(ids)
    hashes = list(map(zlib.crc32, distinct.as_text().to_bytes()))
    bucket = np.array(hashes, np.uint32) % buckets
    kind = np.uint16 if buckets <= 1 << 16 else np.uint32  # small ones are sorted faster
    return bucket.astype(kind)[numbers]


def _rename_columns(record: pa.RecordBatch, names: Headings) -> pa.RecordBatch:
    """Select the columns that are read; categories, which each block would repeat, are decoded."""
    columns = {
        part: arrow.decode(record.column(name))
        for part, name in asdict(names).items()
        if isinstance(name, str)  # boxes have lists of further columns, and rankings empty ones
    }
    return pa.record_batch(columns, metadata=record.schema.metadata)


def _read_queries(record: pa.RecordBatch, names: Headings, where: str, row: int) -> Ids:
    """Read the queries of the rows. Raises FormatError, ScoreError or GradeError for bad values."""
    query, _ = (
        arrow.read_ids(record.column(name), Place(where, name, row))
        for name in (names.query, names.item)
    )
    numbers = {names.score: "score", names.rank: "rank", names.relevance: "relevance grade"}
    for name, noun in numbers.items():
        if name is not None:
            arrow.read_numbers(record.column(name), Place(where, name, row), noun)
    return query


def _write_block(record: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, record.schema) as writer:
        writer.write_batch(record)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def evaluate_blocks(
    start: Callable[..., Evaluator], records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Reduce all blocks of a partition to an Evaluator, without the rows."""
    tables: dict[str, list[pa.Table]] = {"qrels": [], "run": []}
    with _explain_memory():
        for record in records:
            kinds, blocks = record.column("kind").to_pylist(), record.column("rows")
            for kind, block in zip(kinds, blocks, strict=True):
                tables[kind].append(pa.ipc.open_stream(block.as_buffer()).read_all())
        judged, run = (join_rows(parts) for parts in tables.values())
        if judged is not None or run is not None:
            evaluator = start(NO_QRELS if judged is None else judged)
            if run is not None:
                evaluator.update(run, name=_name_task())
            yield _pack_state(evaluator)


@contextmanager
def _explain_memory() -> Iterator[None]:
    """Explain which rows have to fit the memory of a task, if they do not."""
    try:
        yield
    except MemoryError:
        raise InputError(
            f"{_name_task()}: the rows do not fit the memory of the task. A task holds one"
            " partition, with all rows of its queries. A larger partitions=… makes partitions"
            " smaller; the rows of the largest query must fit."
        ) from None


def join_rows(parts: list[pa.Table]) -> pa.Table | None:
    """Join the rows of all files. Raises FormatError for columns of different types."""
    for part in parts:
        for name, first, second in zip(
            part.schema.names, parts[0].schema.types, part.schema.types, strict=True
        ):
            if second != first:
                raise FormatError(
                    f"{_name_file(part)}: the {name} is {second}; in {_name_file(parts[0])} it is"
                    f" {first}."
                )
    return pa.concat_tables(parts) if parts else None


def _name_file(rows: pa.Table) -> str:
    return ((rows.schema.metadata or {}).get(_FILE) or b"partition").decode()


def reduce_rows(
    evaluator: Evaluator, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Reduce the rows of a partition to the judged items that they retrieved."""
    with _explain_memory():
        records_read = list(records)
        if records_read:
            yield _pack_state(
                evaluator.reduce(pa.Table.from_batches(records_read), name=_name_task())
            )


def _pack_state(state: Any) -> pa.RecordBatch:
    return pa.record_batch({"state": pa.array([pickle.dumps(state)], pa.binary())})


def _name_task() -> str:
    """Name the stage and partition of a task, as Spark's pages list them."""
    task = sys.modules["pyspark"].TaskContext.get() if "pyspark" in sys.modules else None
    return (
        "partition" if task is None else f"stage {task.stageId()}, partition {task.partitionId()}"
    )
