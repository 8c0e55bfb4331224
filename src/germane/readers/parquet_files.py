"""Parquet: a file, or a folder of them, read by row groups and only in the columns that are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from germane.errors import FormatError
from germane.readers import folders, headings
from germane.readers.arrow import Entries
from germane.readers.frames import Frame
from germane.readers.headings import Headings
from germane.readers.opener import Opener, explained
from germane.readers.paths import Path, name_of

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 20  # that are held at a time
_PAGES = 1 << 18  # bytes of a column that are read at a time, not all those of a row group


def opened(path: Path, where: str, kind: str, columns: Any) -> Frame:
    """A run or qrels in Parquet files, its columns found. Raises InputError that names the file."""
    named = str(os.fspath(path))
    if os.path.isdir(named):
        files = [Opener(file) for file in folders.files_of(named)]
    else:
        files = [Opener(path)]
    looks = [_look(file) for file in files]
    schemas = [schema for schema, _ in looks]
    found = headings.resolve(schemas[0].names, kind, files[0].name, columns)
    for file, schema in zip(files, schemas, strict=True):
        _check_alike(found, file.name, schema, files[0].name, schemas[0])
    text = [name for name in (found.query, found.item) if _is_text(schemas[0].field(name).type)]
    text = [name for name in text if not any(_is_delta(metadata, name) for _, metadata in looks)]
    parts: list[tuple[int, str]] = []

    def records() -> Iterator[pa.RecordBatch]:
        parts.clear()
        row = 0
        for file in files:
            parts.append((row, file.name))
            for record in _records(file, found, text):
                row += record.num_rows
                yield record

    entries = Entries(distinct=True), Entries(distinct=True)  # Arrow's reader looks each one up
    return Frame(where, name_of(path), found, records, entries, parts=parts, stands="on disk")


def _look(file: Opener) -> tuple[pa.Schema, Any]:
    """The columns of a file, and how they are stored."""
    from pyarrow import parquet

    with explained(file.name), file.bytes() as stream:
        opened = parquet.ParquetFile(stream)
        return opened.schema_arrow, opened.metadata


def _is_delta(metadata: Any, name: str) -> bool:
    """Is a text stored as what differs from the one before? Arrow cannot read that as categories."""
    schema = metadata.schema
    at = next(at for at in range(len(schema)) if schema.column(at).path == name)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    encodings = (encoding for group in groups for encoding in group.column(at).encodings)
    return any(encoding.startswith("DELTA") for encoding in encodings)


def _check_alike(
    found: Headings, where: str, here: pa.Schema, first: str, there: pa.Schema
) -> None:
    """A folder's files have the same columns, of the same types."""
    for name in found.all:
        if name not in here.names:
            raise FormatError(f"{where}: there is no column {name!r}, which {first} has.")
        if here.names.count(name) > 1:
            raise FormatError(f"{where}: two columns are named {name!r}.")
        if here.field(name).type != there.field(name).type:
            raise FormatError(
                f"{where}: column {name!r} is {here.field(name).type}; in {first} it is "
                f"{there.field(name).type}."
            )


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _records(file: Opener, found: Headings, text: list[str]) -> Iterator[pa.RecordBatch]:
    with explained(file.name), file.bytes() as stream:
        yield from decoded(file.name, stream, found.all, ROWS, text=text)


def decoded(
    name: str, stream: Any, columns: list[str], rows: int, *, text: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Columns of a file, one row group after the other: what was read of a group before is given back.

    Those of ``text`` are read as categories.
    """
    from pyarrow import parquet

    with explained(name):
        reader = parquet.ParquetFile(
            stream,
            read_dictionary=text,
            buffer_size=_PAGES,
            pre_buffer=False,
            page_checksum_verification=True,
        )
    for group in range(reader.num_row_groups):
        with explained(f"{name}, row group {group}"):
            yield from reader.iter_batches(
                rows, row_groups=[group], columns=columns, use_threads=False
            )
