"""TREC qrels and run files, read in blocks of lines.

A block whose lines are all alike is read by words of eight bytes, one whose lines are plain (single
blanks, the right number of fields, ordinary numbers) by ``pyarrow.csv``, and any other by a parser
that goes line by line, accepts what the format allows, and says exactly what is wrong with what it
does not. That one reads short blocks too, for which importing pyarrow would take longer.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from germane._ragged import Floats, Ints
from germane._records import Record, Value
from germane.errors import (
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    ScoreError,
)
from germane.sources import binary, regular
from germane.sources.binary import Spans
from germane.sources.files import BOM, Block, TextFile, ends_of_lines
from germane.sources.ids import shown_id
from germane.sources.numbers import EXACT

if TYPE_CHECKING:
    import pyarrow as pa


class Layout(Value):
    """Which columns a kind of file has."""

    kind: str
    columns: tuple[str, ...]
    item: int  # position of the item id; the query is the first
    number: int  # position of the score or grade
    says: str  # what the number is called
    error: type[InputError]
    more: bool  # may further columns follow?
    largest: float  # the greatest number, in size


RUN = Layout(
    "run",
    ("query", "Q0", "item", "rank", "score", "tag"),
    2,
    4,
    "score",
    ScoreError,
    True,
    np.finfo(float).max,
)
QRELS = Layout(
    "qrels", ("query", "0", "item", "grade"), 2, 3, "relevance grade", GradeError, False, EXACT
)


class Rows(Record):
    """Some lines of a file as columns. The next block may overwrite the items."""

    queries: list[bytes]  # of each stretch of lines with the same one
    offsets: Ints  # where the stretches begin, and where the last one ends
    item: Spans
    number: Floats

    def stretch(self, at: int) -> Rows:
        """The lines of one stretch, with items of their own."""
        start, stop = self.offsets[at : at + 2].tolist()
        item, number = self.item.part(start, stop).copied(), self.number[start:stop].copy()
        return Rows([self.queries[at]], np.array([0, stop - start]), item, number)


def read(file: TextFile, layout: Layout) -> Iterator[Rows]:
    """The file's rows, block by block. Raises InputError with file and line for what is wrong."""
    empty = True
    for rows, _ in read_from(file, layout, 0):
        empty = False
        yield rows
    if empty:
        raise EmptyError(f"{file.name}: the file is empty: it has no {layout.kind} lines.")


def read_from(file: TextFile, layout: Layout, start: int) -> Iterator[tuple[Rows, int]]:
    """The rows of the blocks from a byte on, and the byte at which each block ends."""
    for block in file.blocks():
        if block.start < start or _blank(block):
            continue
        rows = _regular(block, layout)
        if rows is None and (block.end > _SHORT or "pyarrow.csv" in sys.modules):
            rows = _plain(block, layout)
        if rows is None:
            rows = _careful(file, block, layout)
        if len(rows.number):
            yield rows, block.start + block.end


def _blank(block: Block) -> bool:
    """Is there nothing but blank lines? Only a block that begins with one is looked at."""
    return bytes(block.view[:1]).isspace() and not block.data.strip(b" \t\r\n")


# --- Blocks whose lines are alike ------------------------------------------------------------------


def _regular(block: Block, layout: Layout) -> Rows | None:
    found = regular.fields(block.padded, block.end, len(layout.columns), layout.number)
    if found is None:
        return None
    return _rows(found.queries, found.offsets, found.item, found.number, layout)


def _rows(
    queries: list[bytes], offsets: Ints, item: Spans, number: Floats, layout: Layout
) -> Rows | None:
    """The rows of a block that has no comments."""
    if layout.largest == EXACT and (np.abs(number) > EXACT).any():
        return None
    if not all(queries) or any(b"#" in query for query in queries):
        return None
    return Rows(queries, offsets, item, number)


# --- Plain blocks ----------------------------------------------------------------------------------

_SHORT = 1 << 18  # bytes that are read line by line before pyarrow is imported


def _plain(block: Block, layout: Layout) -> Rows | None:
    """The rows of a block, or None where a line is anything but plain."""
    if _single_blanked(block.view):
        rows = _parsed(block.view, layout)
        if rows is not None:
            return rows
    if b"\0" in block or (b"\t" in block and b" " in block):
        return None
    return _parsed(_single_blanks(block.data), layout)


def _parsed(data: memoryview | bytes, layout: Layout) -> Rows | None:
    import pyarrow as pa
    from pyarrow import csv

    if bytes(data[: len(BOM)]) == BOM:  # Arrow would take it off an id that begins with it
        return None
    try:
        table = csv.read_csv(pa.py_buffer(data), *_options(layout, len(data)))
    except pa.ArrowInvalid:
        return None
    query, item, number = map(_whole, table.select(["query", "item", "number"]).columns)
    numbers, items = binary.doubles(number), binary.of_array(item)
    if not len(query) or not np.isfinite(numbers).all() or not items.sizes.all():
        return None
    return _rows(*binary.stretches(binary.of_array(query)), items, numbers, layout)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece; combine_chunks would copy even a single one."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


@lru_cache
def _options(layout: Layout, size: int) -> tuple[Any, Any, Any]:
    import pyarrow as pa
    from pyarrow import csv

    names = [f"unread {i}" for i in range(len(layout.columns))]
    names[0], names[layout.item], names[layout.number] = "query", "item", "number"
    types = {"query": pa.binary(), "item": pa.binary(), "number": pa.float64()}
    return (
        csv.ReadOptions(column_names=names, block_size=size + 1, use_threads=False),
        csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False, escape_char=False),
        csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[], check_utf8=False
        ),
    )


def _single_blanked(data: memoryview) -> bool:
    """Is there neither a tab, nor a NUL byte, nor a double blank? Several times as fast as ``in``."""
    given = np.frombuffer(data, np.uint8)
    if given.min() < ord("\n"):
        return False
    pairs = given[1:] | given[:-1]  # a blank where both are; in plain lines all others are higher
    return bool(pairs.min(initial=255) > ord(" ") or (pairs != ord(" ")).all())


def _single_blanks(data: bytes) -> bytes:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")


# --- Blocks that are not plain ---------------------------------------------------------------------

_PLAIN_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LINE = re.compile(rb"[^\r\n]+")
_BREAK = re.compile("[\v\f\x1c-\x1e]|\u0085|\u2028|\u2029".encode())
"""What other programs end lines with."""


def _careful(file: TextFile, block: Block, layout: Layout) -> Rows:
    """The rows of a block read line by line, or the error that says which line is wrong."""
    queries, items, numbers = [], [], []
    data = block.data
    for match in _LINE.finditer(data):
        line = match[0]
        fields = _fields(line)
        if not fields or fields[0].startswith(b"#"):
            continue
        try:
            if len(fields) != len(layout.columns) or b"\0" in line or b"\t" in line:
                _check_fields(line, fields, layout)
            numbers.append(_number(fields, layout))
        except InputError as error:
            number = file.line_number(block.start) + ends_of_lines(data, match.start())
            raise type(error)(f"{file.name}:{number}: {error}") from None
        queries.append(fields[0])
        items.append(fields[layout.item])
    starts = [row for row, query in enumerate(queries) if row == 0 or query != queries[row - 1]]
    return Rows(
        [queries[row] for row in starts],
        np.array([*starts, len(queries)]),
        binary.spans(items),
        np.array(numbers, float),
    )


def _fields(line: bytes) -> list[bytes]:
    """What blanks and tabs separate; bytes that only some locale calls blank belong to ids."""
    return [field for field in line.replace(b"\t", b" ").split(b" ") if field]


def _number(fields: list[bytes], layout: Layout) -> float:
    written = fields[layout.number]
    if _PLAIN_NUMBER.fullmatch(written):
        number = float(written)
        if abs(number) <= layout.largest:
            return number
        beyond = "the range of a double" if layout is RUN else "the range ±2^53"
        wrong = f"{_shown(written)} is beyond {beyond}"
    else:
        wrong = f"got {_shown(written)}"
    raise layout.error(
        f"a {layout.says} must be a finite number; {wrong} "
        f"(query {_shown(fields[0])}, item {_shown(fields[layout.item])}).{_looks(fields, layout.kind)}"
    )


def _looks(fields: list[bytes], kind: str) -> str:
    """What else a line may be whose number is none."""
    if {b"query_id", b"qid", b"query", b"topic", b"doc_id", b"docno", b"docid"} & set(fields):
        return " This looks like a header line."
    return _json(kind) if fields[0].startswith(_BRACKETS) else ""


def _json(kind: str) -> str:
    return (
        "  This looks like JSON, not a TREC file; rows as objects, one a line, are "
        f"input_format={{{kind!r}: 'jsonl'}}."
    )


_BRACKETS = (b"{", b"[")


def _check_fields(line: bytes, fields: list[bytes], layout: Layout) -> None:
    if b"\0" in line:
        halves = sorted(line[place::2].count(b"\0") for place in (0, 1))
        alternate = 3 * halves[1] > len(line) > 12 * halves[0] and line.strip(b"\0")
        wide = "  Is the file UTF-16? Save it as UTF-8." if alternate else ""
        raise FormatError(f"the line has a NUL byte (\\x00): {_shown(line)}{wide}")
    count, wanted = len(fields), len(layout.columns)
    tabbed = [field for field in line.split(b"\t") if field.strip()]
    if b"\t" in line and len(tabbed) == wanted < count:
        odd = next(field for field in tabbed if len(_fields(field)) > 1)
        raise FormatError(f"expected {wanted} fields; {_shown(odd)} has a blank inside.")
    if layout.more and count == wanted - 1 and line.endswith((b" ", b"\t")):
        return  # an empty tag, which nobody reads
    if layout.more and count >= 2 * wanted - 1 and (other := _BREAK.search(fields[wanted - 1])):
        raise FormatError(
            f"{count} fields where a {layout.kind} line has {wanted}: {_shown(line)}  Lines end in LF, "
            f"CR or both, and here U+{ord(other[0].decode()):04X} stands between two of them."
        )
    if count == wanted or (layout.more and count > wanted and not _shifted(fields, layout)):
        return
    raise FormatError(
        f"{count} field{'s' if count > 1 else ''} where a {layout.kind} line has {wanted} "
        f"({' '.join(layout.columns)}): {_shown(line)}{_guess(line, count, layout)}"
    )


def _shifted(fields: list[bytes], layout: Layout) -> bool:
    """A number where the tag should be: an id with a blank inside has moved the score."""
    return _PLAIN_NUMBER.fullmatch(fields[layout.number + 1]) is not None


def _guess(line: bytes, count: int, layout: Layout) -> str:
    other = QRELS if layout is RUN else RUN
    if count == len(other.columns):
        return f"  This looks like a {other.kind} file; are the two files swapped?"
    if line.lstrip().startswith(_BRACKETS):
        return _json(layout.kind)
    if b" qid:" in line:
        return f"  This looks like a LETOR file: input_format={{{layout.kind!r}: 'letor'}}."
    if b"," in line and count == 1:
        return "  This looks like CSV: commas instead of blanks."
    if count == 3:
        return "  A column is missing."
    return "  Does an id have a blank inside?" if count > len(layout.columns) else ""


def _shown(data: bytes) -> str:
    return shown_id(data.strip())


def row(line: bytes, layout: Layout) -> tuple[list[bytes], float] | None:
    """One line's fields and its number; None for a blank or a comment.

    Raises InputError, which does not say where the line stands.
    """
    fields = _fields(line)
    if not fields or fields[0].startswith(b"#"):
        return None
    _check_fields(line, fields, layout)
    return fields, _number(fields, layout)
