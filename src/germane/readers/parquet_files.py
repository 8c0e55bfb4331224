"""Reads Parquet files, or a folder of them, by row groups, and only the columns that are needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from germane.errors import FormatError, InputError, list_choices
from germane.readers import headings
from germane.readers.arrow import Entries
from germane.readers.files import Opener, explain_arrow_error
from germane.readers.formats import find_name
from germane.readers.frames import Frame
from germane.readers.headings import Headings
from germane.readers.paths import Path, name_file, refuse_special
from germane.readers.streams import explain_os_error

if TYPE_CHECKING:
    import pyarrow as pa


def list_files(folder: str) -> list[str]:
    """List the Parquet files of a folder, its folders and its links, in the order of their names.

    Files that Spark and others hide are left out: names that begin with ``.``, or with ``_`` unless
    they name a partition. Raises InputError for a folder that cannot be listed, or that has no such
    file.
    """
    files = _list_below(folder, ())
    if not files:
        raise InputError(
            f"{folder}: this is a directory, with no Parquet file in it.{_list_others(folder)}"
        )
    return files


def _list_others(folder: str) -> str:
    """Advise on a folder of TSV files, such as BEIR's, with judgments in ``qrels/test.tsv``."""
    files = [
        os.path.join(above, name)
        for above in (folder, os.path.join(folder, "qrels"))
        if os.path.isdir(above)
        for name in sorted(os.listdir(above))
        if name.casefold().endswith(".tsv")
    ]
    return f" Give one of its files: {list_choices(map(repr, files[:3]))}." if files else ""


def _list_below(folder: str, above: tuple[str, ...]) -> list[str]:
    """List files, then those of its folders. Raises InputError for a link to a folder above it."""
    real_folder = os.path.realpath(folder)
    if real_folder in above:
        raise InputError(f"{folder}: this link leads back to its own folder {real_folder}.")
    with explain_os_error(folder):
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    seen = [entry for entry in entries if not _is_aside(entry.name)]
    for entry in seen:
        refuse_special(entry.path)
    files = [entry.path for entry in seen if not entry.is_dir() and _is_parquet(entry)]
    inside = (entry.path for entry in seen if entry.is_dir())
    return files + [
        path for subfolder in inside for path in _list_below(subfolder, (*above, real_folder))
    ]


def _is_aside(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_parquet(entry: os.DirEntry[str]) -> bool:
    """Is this a Parquet file, by its suffix or first bytes? Older engines write no suffix."""
    if entry.name.casefold().endswith(".parquet"):
        return True
    if not entry.is_file():
        return False
    with explain_os_error(entry.path), open(entry.path, "rb") as file:
        return file.read(4) == b"PAR1"


ROWS = 1 << 20  # that are held at a time
_PAGES = 1 << 18  # bytes of a column that are read at a time, not all those of a row group


def open_parquet(path: Path, kind: str, columns: Any = None) -> Frame:
    """Open a run or qrels in Parquet files, and find the columns. Errors name the file."""
    is_folder = os.path.isdir(path)
    files = [Opener(file) for file in (list_files(os.fsdecode(path)) if is_folder else [path])]
    opened = [_read_schema(file) for file in files]
    schemas = [schema for schema, _ in opened]
    names = headings.resolve_names(schemas[0].names, kind, files[0].name, columns)
    for file, schema in zip(files, schemas, strict=True):
        _check_alike(names, file.name, schema, files[0].name, schemas[0])
    kinds = {name: str(schemas[0].field(name).type) for name in (names.query, names.item)}
    text = [name for name, kind in kinds.items() if kind in ("string", "large_string")]
    text = [name for name in text if not any(_is_delta(metadata, name) for _, metadata in opened)]
    parts: list[tuple[int, str]] = []

    def records() -> Iterator[pa.RecordBatch]:
        parts.clear()
        row = 0
        for file in files:
            parts.append((row, file.name))
            with explain_arrow_error(file.name), file.open_bytes() as stream:
                for record in decode_columns(file.name, stream, names.all, ROWS, text=text):
                    row += record.num_rows
                    yield record

    entries = Entries(distinct=True), Entries(distinct=True)  # as Arrow's reader makes them
    where, name = name_file(path), find_name(path)
    return Frame(where, name, names, records, entries, parts=parts, storage="on disk")


def _read_schema(file: Opener) -> tuple[pa.Schema, Any]:
    """Read the columns of a file, and how they are stored."""
    from pyarrow import parquet

    with explain_arrow_error(file.name), file.open_bytes() as stream:
        opened = parquet.ParquetFile(stream)
        return opened.schema_arrow, opened.metadata


def _is_delta(metadata: Any, name: str) -> bool:
    """Is each text stored as the difference from the last? Arrow cannot read that as categories."""
    schema = metadata.schema
    at = next(place for place in range(len(schema)) if schema.column(place).path == name)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    encodings = (encoding for group in groups for encoding in group.column(at).encodings)
    return any(encoding.startswith("DELTA") for encoding in encodings)


def _check_alike(
    headings: Headings, where: str, schema: pa.Schema, first: str, first_schema: pa.Schema
) -> None:
    """Refuse a file of a folder whose columns, or their types, are not those of the first."""
    for name in headings.all:
        if name not in schema.names:
            raise FormatError(f"{where}: there is no column {name!r}, which {first} has.")
        if schema.names.count(name) > 1:
            raise FormatError(f"{where}: two columns are named {name!r}.")
        if schema.field(name).type != first_schema.field(name).type:
            raise FormatError(
                f"{where}: column {name!r} is {schema.field(name).type}; in {first} it is "
                f"{first_schema.field(name).type}."
            )


def decode_columns(
    name: str, stream: Any, columns: list[str], rows: int, *, text: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Read columns of a file by row groups, each of which is freed before the next.

    The columns in ``text`` are read as categories.
    """
    from pyarrow import parquet

    with explain_arrow_error(name):
        reader = parquet.ParquetFile(
            stream,
            read_dictionary=text,
            buffer_size=_PAGES,
            pre_buffer=False,
            page_checksum_verification=True,
        )
    for group in range(reader.num_row_groups):
        with explain_arrow_error(f"{name}, row group {group}"):
            yield from reader.iter_batches(
                rows, row_groups=[group], columns=columns, use_threads=False
            )
