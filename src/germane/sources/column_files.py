"""Files with named columns: Parquet, Arrow, CSV, TSV, JSON Lines, and the lists of MS MARCO."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from germane.errors import EmptyError, FormatError, InputError
from germane.sources import headings
from germane.sources.frames import Frame
from germane.sources.headings import Headings
from germane.sources.paths import Path, name_of

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 20  # of a file that are held at a time


def opened(path: Path, kind: str, input_format: str, columns: Any = None) -> Frame:
    """A run or qrels in a file of columns, its columns found. Raises InputError that names it."""
    named = os.fspath(path)
    where = "standard input" if named == "-" else str(named)
    source = _Opener(str(named), where)
    with _explained(where):
        names, reader, ids = _READERS[input_format](source, kind, columns)
    return Frame(where, name_of(path), names, reader, ids=ids)


class _Opener:
    """A file that is opened once for its columns and once for each reading."""

    def __init__(self, path: str, where: str) -> None:
        self.path, self.where = path, where
        self._copy: bytes | None = None
        if path == "-":
            self._copy = sys.stdin.buffer.read()
        elif os.path.isdir(path):
            raise InputError(f"{path}: this is a directory, not a file.")

    def bytes(self) -> Any:
        """What Parquet and Arrow read: a file that can be sought in."""
        import pyarrow as pa

        if self._copy is not None:
            return pa.BufferReader(self._copy)
        return pa.memory_map(self.path)

    def text(self) -> Any:
        """What CSV and JSON read: a stream, decompressed."""
        import pyarrow as pa

        if self._copy is not None:
            return io.BytesIO(self._copy)
        return pa.input_stream(self.path, compression="detect")


_Opened = tuple[Headings, Callable[[], Iterator["pa.RecordBatch"]], str]


def _parquet(source: _Opener, kind: str, columns: Any) -> _Opened:
    import pyarrow as pa
    from pyarrow import parquet

    schema = parquet.read_schema(source.bytes())
    found = headings.resolve(schema.names, kind, source.where, columns)
    text = [
        name
        for name in (found.query, found.item)
        if pa.types.is_string(schema.field(name).type)
        or pa.types.is_large_string(schema.field(name).type)
    ]

    def records() -> Iterator[pa.RecordBatch]:
        with _explained(source.where):
            file = parquet.ParquetFile(source.bytes(), read_dictionary=text)
            yield from file.iter_batches(_ROWS, columns=found.all)

    return found, records, "typed"


def _arrow(source: _Opener, kind: str, columns: Any) -> _Opened:
    import pyarrow as pa

    def batches() -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        with source.bytes() as start:
            streamed = start.read(6) != b"ARROW1"
        if streamed:
            stream = pa.ipc.open_stream(source.bytes())
            return stream.schema, iter(stream)
        file = pa.ipc.open_file(source.bytes())
        return file.schema, map(file.get_batch, range(file.num_record_batches))

    found = headings.resolve(batches()[0].names, kind, source.where, columns)

    def records() -> Iterator[pa.RecordBatch]:
        with _explained(source.where):
            for batch in batches()[1]:
                yield batch.select(found.all)

    return found, records, "typed"


def _separated(
    source: _Opener, kind: str, columns: Any, separator: str, header: list[str] | None = None
) -> _Opened:
    import pyarrow as pa
    from pyarrow import csv

    parse = csv.ParseOptions(delimiter=separator, quote_char='"' if separator == "," else False)
    read = csv.ReadOptions(column_names=header)
    names = header or _first_line(source, separator)
    found = headings.resolve(names, kind, source.where, columns)
    types = {found.query: pa.string(), found.item: pa.string()}
    for name in (found.score, found.relevance, found.rank):
        if name is not None:
            types[name] = pa.float64()
    convert = csv.ConvertOptions(column_types=types, include_columns=found.all)

    def records() -> Iterator[pa.RecordBatch]:
        with _explained(source.where):
            yield from csv.open_csv(source.text(), read, parse, convert)

    return found, records, "text"


def _first_line(source: _Opener, separator: str) -> list[str]:
    import csv

    with source.text() as stream:
        text = stream.read(1 << 16).decode("utf-8", "replace").removeprefix("\ufeff")
    if not text.strip():
        raise EmptyError(f"{source.where}: the file is empty: it has no header.")
    first = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[
        0
    ]  # splitlines knows more ends than Arrow
    try:
        return next(csv.reader([first], delimiter=separator))
    except csv.Error as error:
        raise FormatError(f"{source.where}: the header cannot be read: {error}.") from None


def _csv(source: _Opener, kind: str, columns: Any) -> _Opened:
    return _separated(source, kind, columns, ",")


def _tsv(source: _Opener, kind: str, columns: Any) -> _Opened:
    return _separated(source, kind, columns, "\t")


def _msmarco(source: _Opener, kind: str, columns: Any) -> _Opened:
    return _separated(source, kind, None, "\t", ["query", "item", "rank"])


def _jsonl(source: _Opener, kind: str, columns: Any) -> _Opened:
    from pyarrow import json

    with source.text() as stream:
        if not stream.read(1):
            raise EmptyError(f"{source.where}: the file is empty.")
    table = json.read_json(source.text())
    found = headings.resolve(table.column_names, kind, source.where, columns)
    chosen = table.select(found.all)
    return found, lambda: iter(chosen.to_batches()), "typed"


_READERS: dict[str, Callable[[_Opener, str, Any], _Opened]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "msmarco": _msmarco,
}


@contextlib.contextmanager
def _explained(where: str) -> Iterator[None]:
    """Turn what Arrow and the system raise into one sentence that names the file."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{where}: there is no such file.") from None
    except PermissionError:
        raise InputError(f"{where}: no permission to read this file.") from None
    except pa.ArrowException as error:
        raise FormatError(f"{where}: cannot be read: {error}") from None
    except UnicodeDecodeError:
        raise FormatError(f"{where}: the name of a column is not UTF-8.") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be read ({error.strerror or error}).") from None
