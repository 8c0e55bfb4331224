"""Rows of frames, packed into blocks of bytes by query: they move between tasks as a few values."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain

import numpy as np
import pyarrow as pa

from germane.core.ragged import Ints
from germane.kernel.ids import Ids, number_ids
from germane.readers.objects import arrow
from germane.readers.objects.arrow import Place
from germane.readers.objects.headings import Headings

CHUNK = 1 << 20  # rows that a task packs at a time


def pack_blocks(
    kind: str, where: str, names: Headings, buckets: int, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Pack rows of judgments or of a run into blocks of bytes, one for each bucket of queries.

    Raises FormatError, ScoreError or GradeError for bad values, ``where`` they are.
    """
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
