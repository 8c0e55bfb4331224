"""Reads files with named columns: Arrow, CSV, TSV, JSON Lines, Parquet, and MS MARCO's lists."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from germane.errors import (
    EmptyError,
    FormatError,
    InputError,
    clip,
    has_arrow,
    list_choices,
    require_arrow,
    write_option,
)
from germane.kernel.ids import Text
from germane.readers.files import csv_files
from germane.readers.files.csv_files import Separated, check_rows, is_number
from germane.readers.files.formats import (
    PAIRS,
    Path,
    find_name,
    has_types,
    name_file,
    refuse_special,
)
from germane.readers.files.letor import open_letor
from germane.readers.files.line_blocks import Opener, check_text, explain_arrow_error
from germane.readers.files.streams import explain_os_error
from germane.readers.objects import arrow, headings
from germane.readers.objects.arrow import Entries, Place
from germane.readers.objects.frames import Frame
from germane.readers.objects.headings import Headings

if TYPE_CHECKING:
    import pyarrow as pa


_MS_MARCO = ["query", "item", "rank"]


_Opened: TypeAlias = tuple[Headings, Callable[[], Iterator[Any]], str]  # records of Arrow or ours
_Read: TypeAlias = Callable[[Opener, str, Any], _Opened]


def _read_arrow(source: Opener, kind: str, columns: Any) -> _Opened:
    require_arrow(f"{source.name}: a file of Arrow")
    import pyarrow as pa

    def batches() -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        with source.open_map() as start:
            streamed = start.read(6) != b"ARROW1"
        if streamed:
            stream = pa.ipc.open_stream(source.open_map())
            return stream.schema, iter(stream)
        file = pa.ipc.open_file(source.open_map())
        return file.schema, map(file.get_batch, range(file.num_record_batches))

    names = Headings.resolve(batches()[0].names, kind, source.name, columns)

    def records() -> Iterator[pa.RecordBatch]:
        with explain_arrow_error(source.name):
            for batch in batches()[1]:
                chosen = batch.select(names.all)
                chosen.validate(full=True)  # offsets that lead elsewhere would end the process
                yield chosen

    return names, records, "typed"


def _read_separated(
    source: Opener,
    kind: str,
    columns: Any,
    separator: str,
    names_without_header: list[str] | None = None,
) -> _Opened:
    names = names_without_header or _read_first_line(source, separator)
    by_place = not names_without_header and _has_no_header(names, columns, kind)
    if by_place:
        names = names_without_header = list(map(str, range(len(names))))
    is_typed = not names_without_header and separator == "\t" and has_types(names)  # RecBole's
    if is_typed:
        names = [name.rpartition(":")[0] for name in names]
    if kind in PAIRS:
        separator, names = _split_pair(names, separator)
        source.squeezes = separator == " "
        if not _names_pair(names, kind, columns):  # there is no header
            names = names_without_header = list(PAIRS[kind])
    is_named = by_place or names_without_header in (None, *_RATINGS.values())
    if not is_named and kind == "run" and not {"score", "rank", "run"}.isdisjoint(columns or ()):
        raise InputError(
            f"{source.name}: {write_option('columns')} names columns of a header, but a file of"
            f" this format has none. Its fields are {', '.join(names)}."
        )
    try:
        columns_read = Headings.resolve(names, kind, source.name, columns if is_named else None)
    except FormatError as error:
        raise FormatError(f"{error}{_explain_no_header(names, separator, kind)}") from None
    layout = Separated(separator, names, columns_read, not names_without_header, is_typed)

    def records() -> Iterator[Any]:
        row = 0
        read = _read_with_arrow if has_arrow() else csv_files.read_records
        with explain_arrow_error(source.name):
            for record in read(source, layout):
                for name in columns_read.ids:
                    place = Place(source.name, name, row)
                    _refuse_nul(arrow.read_ids(record.column(name), place).as_text(), place)
                if names_without_header == _MS_MARCO and kind == "run" and not row:
                    _refuse_falling(source.name, record)
                if any(_has_infinite(record.column(name)) for name in layout.numbers):
                    check_rows(source, layout)
                yield record
                row += record.num_rows

    return columns_read, records, "text"


def _read_with_arrow(source: Opener, layout: Separated) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

    types = dict.fromkeys(layout.headings.ids, pa.string())
    types.update(dict.fromkeys(layout.numbers, pa.float64()))
    if layout.has_types:
        read = ReadOptions(column_names=layout.names, skip_rows=1)
    else:
        read = ReadOptions(column_names=None if layout.has_header else layout.names)
    parse = ParseOptions(
        delimiter=layout.separator, quote_char='"' if layout.separator == "," else False
    )
    convert = ConvertOptions(column_types=types, include_columns=layout.headings.all)
    try:
        yield from open_csv(source.open_columns(), read, parse, convert)
    except pa.ArrowInvalid:
        check_rows(source, layout)
        raise


def _has_no_header(names: list[str], columns: Any, kind: str) -> bool:
    """Does the caller name the columns by their places, from 0, beside a first line of data?

    A first line 0, 1, 2, … is the header that pandas writes of such labels.
    """
    parts = headings.choose_names(columns, kind).items()
    chosen = [name for part, name in parts if part in headings.NAMES and name is not None]
    places = list(map(str, range(len(names))))
    return bool(chosen) and {*chosen} <= {*places} and names != places and _is_data(names)


def _is_data(names: list[str]) -> bool:
    """Is this first line one of data, with a number and no usual name?"""
    known_names = {
        name.casefold() for names_of_part in headings.NAMES.values() for name in names_of_part
    }
    figures = any(is_number(name) and any(map(str.isdigit, name)) for name in names)
    return figures and known_names.isdisjoint(name.casefold() for name in names)


_RATINGS = {
    "\t": ["user", "item", "rating", "timestamp"],
    ":": ["user", "_1", "item", "_2", "rating", "_3", "timestamp"],
}
"""MovieLens' fields, between tabs or double colons, and what separates them."""


def _read_movielens(source: Opener, kind: str, columns: Any) -> _Opened:
    separator = ":" if "::" in _read_first_line(source, "\t")[0] else "\t"
    return _read_separated(source, kind, columns, separator, _RATINGS[separator])


def _split_pair(names: list[str], separator: str) -> tuple[str, list[str]]:
    """Split a first line of two fields at a tab or at blanks. Returns what separates them, too."""
    line = separator.join(names)
    fields = line.split()
    if len(fields) != 2 or (separator == "," and len(names) > 1):
        return separator, names
    return ("\t" if line == "\t".join(fields) else " "), fields


def _names_pair(names: list[str], kind: str, columns: Any) -> bool:
    """Does a first line name the columns of pairs? A line of more fields does, or is refused."""
    if kind == "groups":  # a line of names would only name the group of an item that no run has
        return False
    if len(names) != 2 or headings.has_query(names):
        return True
    chosen = headings.choose_names(columns, kind).values()
    return any(isinstance(name, str) and name in names for name in chosen)


_HEAD = 1000  # rows that show whether ranks fall


def _refuse_falling(where: str, record: Any) -> None:
    """Refuse negative ranks, and those that look like scores: they fall, but not from n to 1."""
    query = record.column("query").slice(0, _HEAD).to_pylist()
    ranks = record.column("rank").to_numpy(zero_copy_only=False)
    if (ranks < 0).any():
        line = int(np.argmax(ranks < 0))
        raise FormatError(
            f"{where}: a rank is 0 or more, and the lowest is the best; got {ranks[line]:g} in row"
            f" {line}. Scores need a file with a header, and a column that is called score."
        )
    follows = np.array([current == following for current, following in pairwise(query)], bool)
    steps = np.diff(ranks[: len(query)])[follows]
    if len(steps) and (steps < 0).all() and not (steps == -1).all():
        first = int(np.argmax(follows))
        raise FormatError(
            f"{where}: the ranks of each query fall from line to line ({ranks[first]:g},"
            f" {ranks[first + 1]:g}, … for query {clip(query[first])}), although the lowest rank"
            " is the best. If they are ranks, sort the file by query and rank. If they are"
            " scores, add a header with the name score."
        )


def _has_infinite(numbers: Any) -> bool:
    """Is there an infinite number, which may be written so or be beyond the range of a double?"""
    return bool(np.isinf(numbers.to_numpy(zero_copy_only=False)).any())


def _refuse_nul(text: Text, place: Place) -> None:
    """Refuse an id with a NUL byte, which comes from a damaged file."""
    if not len(text):
        return
    stop = text.starts[-1] + text.sizes[-1]
    if not text.data[text.starts[0] : stop].min(initial=1):
        row = next(row for row, identifier in enumerate(text.to_bytes()) if b"\0" in identifier)
        raise FormatError(
            f"{place.at(row)}: the id has a NUL byte (\\x00): {clip(text.python[row])}"
        )


def _read_first_line(source: Opener, separator: str) -> list[str]:
    with source.open_text() as stream:
        start = stream.read(1 << 16) or b""
    check_text(source.name, start[:8])
    text = start.decode("utf-8", "replace").removeprefix("\ufeff")
    if not text.strip():
        raise EmptyError(f"{source.name}: the file is empty: it has no header.")
    first = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]  # as Arrow ends lines
    try:
        return next(csv_files.make_reader([first], separator))
    except csv.Error as error:
        raise FormatError(f"{source.name}: the header cannot be read: {error}.") from None


def _explain_no_header(names: list[str], separator: str, kind: str) -> str:
    """Explain a first line that does not name columns."""
    if len(names) == 1 and (
        separator_used := next((sign for sign in _SEPARATORS if sign in names[0]), "")
    ):
        format_name = "CSV" if separator == "," else "TSV"
        advice = _SEMICOLONS if (separator, separator_used) == (",", ";") else ""
        return (
            f"  Fields of {format_name} are separated by {_SEPARATORS[separator]}; are these"
            f" {_SEPARATORS[separator_used]}?{advice}"
        )
    if _is_data(names):
        places: dict[str, Any] = {"query": 0, "item": 1}
        places |= {"score" if kind == "run" else "relevance": 2}
        places = {kind: places} if kind in ("run", "qrels") else places
        return (
            "  The first line should name the columns, but has numbers: is the header missing? If"
            f" so, {write_option('columns', places)} names columns by their places."
        )
    return ""


_SEMICOLONS = (
    " sed 's/,/./g; s/;/,/g' FILE > NEW.csv writes commas, and points instead of decimal commas;"
    " pandas.read_csv(FILE, sep=';', decimal=',') makes a frame."
)
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "spaces"}


def _read_jsonl(source: Opener, kind: str, columns: Any) -> _Opened:
    require_arrow(f"{source.name}: JSON Lines", "need")
    from germane.readers.files import json_lines

    with source.open_text() as stream:
        start = stream.read(8)
    if not start:
        raise EmptyError(f"{source.name}: the file is empty.")
    check_text(source.name, start)

    def choose(names: list[str]) -> list[str]:
        return Headings.resolve(names, kind, source.name, columns).all

    table = json_lines.read_json_lines(source, choose)
    columns_read = Headings.resolve(table.column_names, kind, source.name, columns)
    return columns_read, lambda: iter(table.to_batches()), "typed"


# --- Formats ----------------------------------------------------------------------------------


def _open(
    read: _Read, path: Path, kind: str, columns: Any = None, *, has_header: bool = True
) -> Frame:
    """Open a run or qrels in a file of columns, and find the columns. Errors name the file."""
    where, source = name_file(path), Opener(path)
    with explain_arrow_error(where):
        names, reader, ids = read(source, kind, columns)
    rounded = 0
    if read is _read_jsonl and kind == "run":  # a pipe is read once, by this source
        from germane.readers.files import json_lines

        rounded = json_lines.count_rounded_scores(source, names, reader())
    frame = Frame(where, find_name(path), names, reader, ids=ids, storage="on disk")
    return replace(frame, rounded=rounded, has_header=has_header)


open_arrow = partial(_open, _read_arrow)
open_csv = partial(_open, partial(_read_separated, separator=","))
open_tsv = partial(_open, partial(_read_separated, separator="\t"))
open_msmarco = partial(
    _open,
    partial(_read_separated, separator="\t", names_without_header=_MS_MARCO),
    has_header=False,
)
open_movielens = partial(_open, _read_movielens)
open_jsonl = partial(_open, _read_jsonl)


# --- Parquet files --------------------------------------------------------------------------------
#
# Reads Parquet files, or a folder of them, by row groups, and only the columns that are needed.


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
    require_arrow(f"{name_file(path)}: Parquet")
    is_folder = os.path.isdir(path)
    files = [Opener(file) for file in (list_files(os.fsdecode(path)) if is_folder else [path])]
    opened = [_read_schema(file) for file in files]
    schemas = [schema for schema, _ in opened]
    names = Headings.resolve(schemas[0].names, kind, files[0].name, columns)
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
                for record in decode_columns(file.name, stream, names.all, text=text):
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
    place_of_column = next(
        place for place in range(len(schema)) if schema.column(place).path == name
    )
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    encodings = (
        encoding for group in groups for encoding in group.column(place_of_column).encodings
    )
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
    name: str, stream: Any, columns: list[str], *, text: Sequence[str] = ()
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
                ROWS, row_groups=[group], columns=columns, use_threads=False
            )


OPENERS: dict[str, Callable[[Path, str, Any], Frame]] = {
    "parquet": open_parquet,
    "arrow": open_arrow,
    "csv": open_csv,
    "tsv": open_tsv,
    "jsonl": open_jsonl,
    "msmarco": open_msmarco,
    "movielens": open_movielens,
    "letor": open_letor,
}
"""Functions that open a file of a format with columns, by its path, kind and names of columns."""
