"""Lines of TREC qrels and run files: the one place that reads them.

``split_lines`` makes columns of some lines. Plain lines are read by the compiled kernel or by
``pyarrow.csv``. A caller says how any other line is read, one by one: as data, as a comment, or as an
error that says exactly what is wrong. Short data is read line by line too, since importing pyarrow
would take longer.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.errors import (
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    ScoreError,
    explain_not_finite,
)
from germane.kernel import library, plain
from germane.kernel.columns import Text, join_ids, read_arrow_text, read_arrow_values, read_bytes
from germane.kernel.ids import show_id
from germane.readers.files import BOM, Block, TextFile, find_line_ends
from germane.readers.numbers import EXACT

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Layout:
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


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Some lines as columns: stretch s has ``queries[s]`` and the lines ``offsets[s]:offsets[s + 1]``."""

    queries: list[bytes]
    offsets: Ints
    items: Text
    number: Floats
    rank: Floats | None = None  # of a run, and
    line: Ints | None = None  # the number of the line, from 0; both where details are asked for

    def __len__(self) -> int:
        return len(self.number)


Odd: TypeAlias = Callable[[bytes, int], "tuple[bytes, bytes, float] | None"]
"""Reads one line, which begins at a byte of the data: its query, item and number, or None to pass over it."""


class Comments:
    """Decides which lines that begin with ``#`` are data, and counts the others.

    Such a line is data where it has the right fields and the other side has its query, ``#`` included.
    """

    def __init__(self, queries: Collection[bytes] | None = None) -> None:
        self._queries = queries  # those of the other side; None where they are not known yet
        self._seen: list[int] = []  # lists grow safely in several threads
        self.maybe_data: list[tuple[bytes, bytes, float]] = []

    @property
    def count(self) -> int:
        """How many lines are comments."""
        return len(self._seen)

    def read(self, line: bytes, layout: Layout) -> tuple[bytes, bytes, float] | None:
        """The query, item and number of a line that is data; None for a comment.

        Raises FormatError where the other side has the query with and without the ``#``, and
        ScoreError or GradeError where only the number of a line of data is wrong.
        """
        fields = _split_fields(line)
        try:
            row = _parse_fields(line, fields, layout)
        except InputError as error:
            if isinstance(error, layout.error) and fields[0] in (self._queries or ()):
                raise
            row = None
        if row is None or (self._queries is not None and row[0] not in self._queries):
            self._seen.append(1)
            return None
        if self._queries is None:
            self.maybe_data.append(row)
            return None
        if row[0][1:] in self._queries:
            raise explain_both(row[0])
        return row


def explain_both(query: bytes) -> FormatError:
    """The error for a line that may be data or a comment."""
    return FormatError(
        f"the line begins with {_show(query)}, and the other side has the queries {_show(query)} and "
        f"{_show(query[1:])}: is it data or a comment? Rename one of the queries, or remove the line."
    )


def read_blocks(file: TextFile, layout: Layout, comments: Comments) -> Iterator[Lines]:
    """The file's lines, block by block. Raises InputError with file and line for a wrong one."""
    empty = True
    for block in file.blocks():
        lines = split_block(file, block, layout, comments)
        if len(lines):
            empty = False
            yield lines
    if empty:
        raise explain_empty(file, layout)


def explain_empty(file: TextFile, layout: Layout) -> EmptyError:
    """The error for a file without a line of data."""
    return EmptyError(f"{file.name}: the file is empty: it has no {layout.kind} lines.")


def split_block(file: TextFile, block: Block, layout: Layout, comments: Comments) -> Lines:
    """The lines of a block. Raises InputError with file and line for a wrong one."""

    def read_odd(line: bytes, at: int) -> tuple[bytes, bytes, float] | None:
        try:
            if line.lstrip(b" \t").startswith(b"#"):
                return comments.read(line, layout)
            return parse_line(line, layout)
        except InputError as error:
            number = file.line_number(block.start) + find_line_ends(block.data, at)
            raise type(error)(f"{file.name}:{number}: {error}") from None

    return split_lines(block.data, layout, read_odd)


def split_lines(data: bytes, layout: Layout, read_odd: Odd, *, detailed: bool = False) -> Lines:
    """Split whole lines into columns; ``read_odd`` reads those that are not plain.

    A plain line has the right number of fields, an ordinary number, and no NUL byte, and does not
    begin with ``#``.
    """
    if not detailed and library.is_loaded():
        return _split_compiled(data, layout, read_odd)
    if len(data) > _SHORT or detailed or "pyarrow.csv" in sys.modules:
        lines = _split_plain(data, layout, detailed)
        if lines is not None:
            return lines
    return _split_each(data, layout, read_odd, detailed)


# --- Lines that are all plain ----------------------------------------------------------------------

_SHORT = 1 << 18  # bytes that are read line by line before pyarrow is imported


def _split_plain(data: bytes, layout: Layout, detailed: bool) -> Lines | None:
    """The lines as columns, or None where one is anything but plain."""
    if b"\0" in data or data.startswith(BOM):  # Arrow would take the mark off an id
        return None
    if any(one in data for one in _TO_CLEAN) or data[:1] == b" " or data[-1:] == b" ":
        if detailed and any(one in data for one in _BLANK_LINES):
            return None  # lines are counted
        data = _clean_blanks(data)
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(pa.py_buffer(data), *_make_csv_options(layout, len(data), detailed))
    except pa.ArrowInvalid:
        return None
    query, item = (read_arrow_text(_join_chunks(table[name])) for name in ("query", "item"))
    number = read_arrow_values(_join_chunks(table["number"]))
    is_plain = (
        len(number)
        and (np.abs(number) <= layout.largest).all()
        and item.sizes.all()
        and query.sizes.all()
        and not (query.data[query.starts] == ord("#")).any()
    )
    if not is_plain:
        return None
    starts = plain.find_changes(query)
    queries, offsets = query.take(starts).to_bytes(), np.append(starts, len(number))
    rank = read_arrow_values(_join_chunks(table["rank"])) if detailed and layout is RUN else None
    line = np.arange(len(number)) if detailed else None
    return Lines(queries, offsets, item, number, rank, line)


_TO_CLEAN = (b"\t", b"\r", b"  ", b" \n", b"\n ")
_BLANK_LINES = (b"\n\n", b"\n\r", b"\r\r", b"\n ", b"\n\t")


def _clean_blanks(data: bytes) -> bytes:
    """Clean the lines: the fields stay, with one blank between two of them, and lines that end with LF alone."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _join_chunks(column: pa.ChunkedArray) -> pa.Array:
    """A column's one chunk; combine_chunks would copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


@lru_cache
def _make_csv_options(layout: Layout, size: int, detailed: bool) -> tuple[Any, Any, Any]:
    import pyarrow as pa
    from pyarrow import csv

    names = [f"unread {i}" for i in range(len(layout.columns))]
    names[0], names[layout.item], names[layout.number] = "query", "item", "number"
    types = {"query": pa.binary(), "item": pa.binary(), "number": pa.float64()}
    if detailed and layout is RUN:
        names[layout.number - 1], types["rank"] = "rank", pa.float64()
    return (
        csv.ReadOptions(column_names=names, block_size=size + 1, use_threads=False),
        csv.ParseOptions(
            delimiter=" ", quote_char=False, double_quote=False, escape_char=False,
            ignore_empty_lines=not detailed,
        ),
        csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[], check_utf8=False
        ),
    )  # fmt: skip


def _split_compiled(data: bytes, layout: Layout, read_odd: Odd) -> Lines:
    """The lines as columns; the kernel stops at each line that is not plain."""
    parts: list[Lines] = []
    array, start = np.frombuffer(data, np.uint8), 0
    while True:
        found = library.split_lines(
            array,
            start=start,
            fields=len(layout.columns),
            item=layout.item,
            number=layout.number,
            more=layout.more,
            largest=layout.largest,
        )
        queries = Text(array, found.query_starts, found.query_sizes).to_bytes()
        offsets = np.append(found.stretches, len(found.numbers))
        parts.append(Lines(queries, offsets, Text(array, found.starts, found.sizes), found.numbers))
        if found.read == len(data):
            return _join_lines(parts)
        line, start = _find_line(data, found.read)
        row = read_odd(line, found.read)
        if row is not None:
            query, item, number = row
            one = np.array([0, 1])
            parts.append(Lines([query], one, read_bytes([item]), np.array([number])))


def _find_line(data: bytes, at: int) -> tuple[bytes, int]:
    """The line that begins at a byte, and where the next one begins."""
    end = _END.search(data, at)
    return (data[at : end.start()], end.end()) if end else (data[at:], len(data))


def _join_lines(parts: list[Lines]) -> Lines:
    """The lines of several parts. A stretch may go on in the next part."""
    if len(parts) == 1:
        return parts[0]
    parts = [part for part in parts if len(part)]
    if not parts:
        return Lines([], np.zeros(1, np.int64), Text.empty(), np.zeros(0))
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    queries = [query for part in parts for query in part.queries]
    begins = [i for i, query in enumerate(queries) if i == 0 or query != queries[i - 1]]
    offsets = np.append(ragged.make_offsets(lengths)[begins], lengths.sum())
    items: Any = join_ids([part.items for part in parts])
    numbers = np.concatenate([part.number for part in parts])
    return Lines([queries[i] for i in begins], offsets, items, numbers)


def _split_each(data: bytes, layout: Layout, read_odd: Odd, detailed: bool) -> Lines:
    """The lines as columns, read one by one."""
    rows: list[tuple[bytes, bytes, float]] = []
    rank: list[float] = []
    numbers: list[int] = []
    for number, (line, at) in enumerate(_split_each_line(data)):
        row = read_odd(line, at) if line.strip(b" \t") else None
        if row is not None:
            rows.append(row)
            if detailed:
                rank.append(_read_rank(_split_fields(line)) if layout is RUN else math.nan)
                numbers.append(number)
    starts = [i for i, row in enumerate(rows) if i == 0 or row[0] != rows[i - 1][0]]
    return Lines(
        [rows[i][0] for i in starts],
        np.array([*starts, len(rows)]),
        read_bytes([item for _, item, _ in rows]),
        np.array([number for *_, number in rows], float),
        np.array(rank, float) if detailed and layout is RUN else None,
        np.array(numbers, np.int64) if detailed else None,
    )


_END = re.compile(rb"\r\n|\r|\n")


def _split_each_line(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Each line, and the byte that it begins with."""
    start = 0
    for end in _END.finditer(data):
        yield data[start : end.start()], start
        start = end.end()
    if start < len(data):
        yield data[start:], start


def find_fields(data: bytes, pairs: Iterable[tuple[bytes, bytes]]) -> list[list[bytes]]:
    """The fields of the lines of a run that have some pairs of query and item, in their order."""
    found = []
    lines = (_split_fields(line) for line, _ in _split_each_line(data))
    for query, item in pairs:
        for fields in lines:
            if len(fields) > RUN.number and fields[0] == query and fields[RUN.item] == item:
                found.append(fields)
                break
    return found


def read_ranks(lines: list[list[bytes]]) -> Floats:
    """The rank column of lines that are split into fields; NaN where it holds no number."""
    return np.array([_read_rank(fields) for fields in lines], float)


def _read_rank(fields: list[bytes]) -> float:
    try:
        return float(fields[RUN.number - 1])
    except ValueError:
        return math.nan


# --- Blocks that are not plain ---------------------------------------------------------------------

_PLAIN_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_BREAK = re.compile("[\v\f\x1c-\x1e]|\u0085|\u2028|\u2029".encode())
"""Characters that other programs end lines with."""


def _split_fields(line: bytes) -> list[bytes]:
    """Split at blanks and tabs; bytes that only some locale calls blank belong to ids."""
    return [field for field in line.replace(b"\t", b" ").split(b" ") if field]


def _parse_number(fields: list[bytes], layout: Layout) -> float:
    written = fields[layout.number]
    if _PLAIN_NUMBER.fullmatch(written):
        number = float(written)
        if abs(number) <= layout.largest:
            return number
        beyond = "the range of a double" if layout is RUN else "the range ±2^53"
        wrong = f"{_show(written)} is beyond {beyond}"
    else:
        wrong = f"got {_show(written)}"
    raise layout.error(
        f"{explain_not_finite(layout.says, wrong)} "
        f"(query {_show(fields[0])}, item {_show(fields[layout.item])}).{_guess_kind(fields, layout.kind)}"
    )


def _guess_kind(fields: list[bytes], kind: str) -> str:
    """Guess what else a line with a bad number may be."""
    if {b"query_id", b"qid", b"query", b"topic", b"doc_id", b"docno", b"docid"} & set(fields):
        return " This looks like a header line."
    return _explain_json(kind) if fields[0].startswith(_BRACKETS) else ""


def _explain_json(kind: str) -> str:
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
        raise FormatError(f"the line has a NUL byte (\\x00): {_show(line)}{wide}")
    count, wanted = len(fields), len(layout.columns)
    tabbed = [field for field in line.split(b"\t") if field.strip()]
    if b"\t" in line and len(tabbed) == wanted < count:
        odd = next(field for field in tabbed if len(_split_fields(field)) > 1)
        if odd in tabbed[: layout.number + 1]:  # nobody reads the tag
            raise FormatError(f"expected {wanted} fields; {_show(odd)} has a blank inside.")
    if layout.more and count == wanted - 1 and line.endswith((b" ", b"\t")):
        return  # an empty tag, which nobody reads
    if layout.more and count >= 2 * wanted - 1 and (other := _BREAK.search(fields[wanted - 1])):
        raise FormatError(
            f"{count} fields where a {layout.kind} line has {wanted}: {_show(line)}  Lines end in LF, "
            f"CR or both, and here U+{ord(other[0].decode()):04X} stands between two of them."
        )
    if count == wanted or (layout.more and count > wanted and not _is_shifted(fields, layout)):
        return
    raise FormatError(
        f"{count} field{'s' if count > 1 else ''} where a {layout.kind} line has {wanted} "
        f"({' '.join(layout.columns)}): {_show(line)}{_guess_reason(line, count, layout)}"
    )


def _is_shifted(fields: list[bytes], layout: Layout) -> bool:
    """A number where the tag should be: an id with a blank inside has moved the score."""
    return _PLAIN_NUMBER.fullmatch(fields[layout.number + 1]) is not None


def _guess_reason(line: bytes, count: int, layout: Layout) -> str:
    other = QRELS if layout is RUN else RUN
    if count == len(other.columns):
        return f"  This looks like a {other.kind} file; are the two files swapped?"
    if line.lstrip().startswith(_BRACKETS):
        return _explain_json(layout.kind)
    if b" qid:" in line:
        return f"  This looks like a LETOR file: input_format={{{layout.kind!r}: 'letor'}}."
    if b"," in line and count == 1:
        return "  This looks like CSV: commas instead of blanks."
    if count == 3:
        return "  A column is missing."
    return "  Does an id have a blank inside?" if count > len(layout.columns) else ""


def _show(data: bytes) -> str:
    return show_id(data.strip())


def parse_line(line: bytes, layout: Layout) -> tuple[bytes, bytes, float] | None:
    """One line's query, item and number; None for a blank line or a comment.

    Raises InputError, which does not say where the line stands.
    """
    fields = _split_fields(line)
    if not fields or fields[0].startswith(b"#"):
        return None
    return _parse_fields(line, fields, layout)


def _parse_fields(line: bytes, fields: list[bytes], layout: Layout) -> tuple[bytes, bytes, float]:
    if len(fields) != len(layout.columns) or b"\0" in line or b"\t" in line:
        _check_fields(line, fields, layout)
    return fields[0], fields[layout.item], _parse_number(fields, layout)
