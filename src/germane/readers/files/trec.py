"""Reads the lines of TREC qrels and run files."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import methodcaller
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
    has_arrow,
    write_option,
)
from germane.kernel import library, plain
from germane.kernel.ids import (
    Text,
    join_ids,
    read_arrow_text,
    read_arrow_values,
    read_bytes,
    show_id,
)
from germane.output.tables import write_count
from germane.readers.files.line_blocks import BOM, Block, TextFile, count_line_ends, squeeze_blanks
from germane.readers.objects.numbers import DIGITS, EXACT, PLAIN, count_rounded

if TYPE_CHECKING:
    import pyarrow as pa

    from germane.readers.inputs import Faults


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of file."""

    kind: str
    columns: tuple[str, ...]
    item: int  # position of the item id; the query is the first
    number: int  # position of the score or grade
    number_name: str
    error: type[InputError]
    more: bool  # may further columns follow?
    largest: float  # the greatest number, in size


_RUN_COLUMNS = ("query", "Q0", "item", "rank", "score", "tag")
_QRELS_COLUMNS = ("query", "0", "item", "grade")
RUN = Layout("run", _RUN_COLUMNS, 2, 4, "score", ScoreError, True, np.finfo(float).max)
QRELS = Layout("qrels", _QRELS_COLUMNS, 2, 3, "relevance grade", GradeError, False, EXACT)
SECOND = replace(QRELS, item=1)
"""The second column of qrels in the place of the item."""


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Lines as columns: the lines ``offsets[s]:offsets[s + 1]`` have the query ``queries[s]``."""

    queries: list[bytes]
    offsets: Ints
    items: Text
    number: Floats
    rank: Floats | None = None  # the rank column of a run, if details are asked for
    line: Ints | None = None  # the number of each line, from 0, if details are asked for

    def __len__(self) -> int:
        return len(self.number)

    @staticmethod
    def of_run(data: bytes, read_odd: ReadOdd) -> Lines:
        """Split the lines of a run."""
        return split_lines(data, RUN, read_odd)

    @staticmethod
    def of_judgments(data: bytes, columns: tuple[str, ...], item: int, read_odd: ReadOdd) -> Lines:
        """Split lines of judgments, with the field at ``item`` as item; grades are last."""
        grade = len(columns) - 1
        layout = Layout("qrels", columns, item, grade, columns[-1], GradeError, False, EXACT)
        return split_lines(data, layout, read_odd)


Row: TypeAlias = tuple[bytes, bytes, float]
"""The query, the item and the number of a line."""
ReadOdd: TypeAlias = Callable[[bytes, int], "Row | None"]
"""A line, and the byte of the data at which it begins → its row, or None to skip the line."""


class Comments:
    """Decides which lines that begin with ``#`` are data, and counts the others.

    Such a line is data if it has the right fields and the other side has its query, ``#`` included.
    """

    def __init__(self, queries: Collection[bytes] | None = None) -> None:
        self._queries = queries  # of the other side; None while they are not known
        self._comments: list[bytes] = []  # lists grow safely in several threads
        self.maybe_data: list[Row] = []

    @property
    def count(self) -> int:
        """The number of lines that are comments."""
        return len(self._comments)

    def read(self, line: bytes, layout: Layout) -> Row | None:
        """Read the row of a line that is data; None for a comment.

        Raises FormatError if the other side has the query with and without the ``#``, and
        ScoreError or GradeError if the number is all that is wrong with a line of data.
        """
        fields = _split_fields(line)
        try:
            row = _parse_fields(line, fields, layout)
        except InputError as error:
            if isinstance(error, layout.error) and fields[0] in (self._queries or ()):
                raise
            row = None
        if row is None or (self._queries is not None and row[0] not in self._queries):
            self._comments.append(b"#")
            return None
        if self._queries is None:
            self.maybe_data.append(row)
            return None
        if row[0][1:] in self._queries:
            raise explain_both(row[0])
        return row


def explain_both(query: bytes) -> FormatError:
    """Make the error for a line that may be data or a comment."""
    return FormatError(
        f"the line begins with {_show(query)}, and the other file has both queries {_show(query)}"
        f" and {_show(query[1:])}: is the line data or a comment? Rename one of the queries, or"
        " remove the line."
    )


def read_blocks(file: TextFile, layout: Layout, comments: Comments) -> Iterator[Lines]:
    """Read the file's lines, block by block. Raises InputError that names file and line."""
    empty, file.check_row = True, partial(parse_line, layout=layout)
    for block in file.read_blocks():
        lines = split_block(file, block, layout, comments)
        if len(lines):
            empty = False
            yield lines
    if empty:
        raise explain_empty(file, layout)


def read_all(file: TextFile, layout: Layout, faults: Faults) -> Iterator[Lines]:
    """Read the file's lines with their numbers, from 1, and the rank column of a run.

    Lines that cannot be read are noted as faults; comments are left out. Raises EmptyError for a
    file without a line of data.
    """
    whole_scores: dict[bytes, set[int]] = {}  # doubles may round them
    is_empty, first, comments = True, 1, Comments(())
    faults.locate = lambda line: f"{file.name}:{line}: "
    for block in file.read_blocks("lines"):
        lines = split_block(file, block, layout, comments, faults, first)
        if layout is RUN and np.abs(lines.number).max(initial=0) >= EXACT:
            _note_whole(block.data, whole_scores)
        if len(lines):
            assert lines.line is not None
            is_empty = False
            yield replace(lines, line=lines.line + first)
        first += count_line_ends(block.data)
    if is_empty and not faults.count:
        raise explain_empty(file, layout)
    for scores in whole_scores.values():
        faults.rounded += count_rounded([*scores], np.array([*scores], float))


def _note_whole(data: bytes, whole_scores: dict[bytes, set[int]]) -> None:
    """Note the whole scores of each query as they are written."""
    for line in LINE_END.split(data):
        fields = line.split()
        written = fields[RUN.number] if len(fields) > RUN.number else b""
        if written.lstrip(b"+-").isdigit() and len(written) < DIGITS:
            whole_scores.setdefault(fields[0], set()).add(int(written))


def explain_empty(file: TextFile, layout: Layout) -> EmptyError:
    """Make the error for a file without a line of data."""
    return EmptyError(f"{file.name}: the file is empty: it has no {layout.kind} lines.")


def split_block(
    file: TextFile,
    block: Block,
    layout: Layout,
    comments: Comments,
    faults: Faults | None = None,
    first: int = 0,
) -> Lines:
    """Split a block into columns. Raises InputError that names file and line.

    If ``faults`` takes the lines that cannot be read, the others have their ranks, and their
    numbers within the block; ``first`` is the number of the first line.
    """

    def read_odd(line: bytes, line_number: int) -> Row | None:
        try:
            if line.lstrip(b" \t").startswith(b"#"):
                return comments.read(line, layout)
            return parse_line(line, layout)
        except InputError as error:
            start = first or file.find_line_number(block.start)
            text = f"{file.name}:{start + count_line_ends(block.data, line_number)}: {error}"
            if faults is None:
                raise type(error)(text) from None
            faults.add(text, len(line.split()))
            return None

    return split_lines(block.data, layout, read_odd, detailed=faults is not None)


def split_lines(data: bytes, layout: Layout, read_odd: ReadOdd, *, detailed: bool = False) -> Lines:
    """Split whole lines into columns; ``read_odd`` reads the lines that are not plain.

    A plain line has the right number of fields, an ordinary number, and no NUL byte, and does not
    begin with ``#``.
    """
    if not detailed and library.is_loaded():
        return _split_compiled(data, layout, read_odd)
    lines = None
    if not has_arrow():
        lines = _split_fields_alike(data, layout, detailed)
    elif len(data) > _SHORT or detailed or "pyarrow.csv" in sys.modules:
        lines = _split_plain(data, layout, detailed)
    if lines is not None:
        return lines
    return _split_each(data, layout, read_odd, detailed)


# --- Lines that are all plain -----------------------------------------------------------------

_SHORT = 1 << 18  # bytes that are read line by line before pyarrow is imported


def _split_plain(data: bytes, layout: Layout, detailed: bool) -> Lines | None:
    """Split lines with Arrow; None unless all of them are plain."""
    cleaned = _clean_blanks(data, detailed)
    if cleaned is None:
        return None
    data = cleaned
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(pa.py_buffer(data), *_make_csv_options(layout, len(data), detailed))
    except pa.ArrowInvalid:
        return None
    query, item = (read_arrow_text(_join_chunks(table[name])) for name in ("query", "item"))
    number = read_arrow_values(_join_chunks(table["number"]))
    rank = read_arrow_values(_join_chunks(table["rank"])) if detailed and layout is RUN else None
    return _join_plain(query, item, number, rank, layout, detailed)


def _split_fields_alike(data: bytes, layout: Layout, detailed: bool) -> Lines | None:
    """Split lines at once, without Arrow; None unless all of them are plain."""
    cleaned = _clean_blanks(data, detailed)
    if not cleaned:
        return None
    width = len(layout.columns)
    lines = cleaned.removesuffix(b"\n").split(b"\n")
    if set(map(methodcaller("count", b" "), lines)) != {width - 1}:
        return None
    fields = b" ".join(lines).split(b" ")
    number = _convert_plain(fields[layout.number :: width])
    wants_rank = detailed and layout is RUN
    rank = _convert_plain(fields[layout.number - 1 :: width]) if wants_rank else None
    if number is None or (wants_rank and rank is None):
        return None
    query, item = (read_bytes(fields[place::width]) for place in (0, layout.item))
    return _join_plain(query, item, number, rank, layout, detailed)


def _convert_plain(fields: list[bytes]) -> Floats | None:
    """Convert fields to numbers; None unless all of them are plain ones."""
    if b"".join(fields).translate(None, b"0123456789.eE+-"):
        return None
    try:
        return np.array(list(map(float, fields)))
    except ValueError:
        return None


def _clean_blanks(data: bytes, detailed: bool) -> bytes | None:
    """Leave one blank between two fields; None for lines that are not plain."""
    if b"\0" in data or data.startswith(BOM):  # Arrow would remove the mark from an id
        return None
    if any(blank in data for blank in _TO_CLEAN) or data[:1] == b" " or data[-1:] == b" ":
        if detailed and any(blank in data for blank in _BLANK_LINES):
            return None  # which cleaning would drop, so that the line numbers would be wrong
        return squeeze_blanks(data)
    return data


def _join_plain(
    query: Text, item: Text, number: Floats, rank: Floats | None, layout: Layout, detailed: bool
) -> Lines | None:
    """Join columns as lines; None if any of them is not plain."""
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
    line = np.arange(len(number)) if detailed else None
    return Lines(queries, offsets, item, number, rank, line)


_TO_CLEAN = (b"\t", b"\r", b"  ", b" \n", b"\n ")
_BLANK_LINES = (b"\n\n", b"\n\r", b"\r\r", b"\n ", b"\n\t")


def _join_chunks(column: pa.ChunkedArray) -> pa.Array:
    """Join a column's chunks, without the copy that combine_chunks makes of a single one."""
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


def _split_compiled(data: bytes, layout: Layout, read_odd: ReadOdd) -> Lines:
    """Split lines with the kernel, which stops at each line that is not plain."""
    parts: list[Lines] = []
    array, start = np.frombuffer(data, np.uint8), 0
    while True:
        lines = library.split_lines(
            array,
            start=start,
            fields=len(layout.columns),
            item=layout.item,
            number=layout.number,
            more=layout.more,
            largest=layout.largest,
        )
        queries = Text(array, lines.query_starts, lines.query_sizes).to_bytes()
        offsets = np.append(lines.stretches, len(lines.numbers))
        parts.append(Lines(queries, offsets, Text(array, lines.starts, lines.sizes), lines.numbers))
        if lines.read == len(data):
            return _join_lines(parts)
        line, _, start = next(_list_lines(data, lines.read))
        row = read_odd(line, lines.read)
        if row is not None:
            parts.append(_make_columns([row]))


def _join_lines(parts: list[Lines]) -> Lines:
    """Join several parts. The first query of a part may be the last of the part before."""
    if len(parts) == 1:
        return parts[0]
    parts = [part for part in parts if len(part)]
    if not parts:
        return _make_columns([])
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    queries = [query for part in parts for query in part.queries]
    begins = [i for i, query in enumerate(queries) if i == 0 or query != queries[i - 1]]
    offsets = np.append(ragged.make_offsets(lengths)[begins], lengths.sum())
    items: Any = join_ids([part.items for part in parts])
    numbers = np.concatenate([part.number for part in parts])
    return Lines([queries[i] for i in begins], offsets, items, numbers)


def _split_each(data: bytes, layout: Layout, read_odd: ReadOdd, detailed: bool) -> Lines:
    """Split lines one by one."""
    rows: list[Row] = []
    fields: list[list[bytes]] = []
    numbers: list[int] = []
    for number, (line, place, _) in enumerate(_list_lines(data)):
        row = read_odd(line, place) if line.strip(b" \t") else None
        if row is not None:
            rows.append(row)
            if detailed:
                fields.append(_split_fields(line))
                numbers.append(number)
    columns = _make_columns(rows)
    if not detailed:
        return columns
    rank = read_ranks(fields) if layout is RUN else None
    return replace(columns, rank=rank, line=np.array(numbers, np.int64))


def _make_columns(rows: list[Row]) -> Lines:
    starts = [i for i, row in enumerate(rows) if i == 0 or row[0] != rows[i - 1][0]]
    return Lines(
        [rows[i][0] for i in starts],
        np.array([*starts, len(rows)]),
        read_bytes([item for _, item, _ in rows]),
        np.array([number for *_, number in rows], float),
    )


LINE_END = re.compile(rb"\r\n|\r|\n")


def _list_lines(data: bytes, start: int = 0) -> Iterator[tuple[bytes, int, int]]:
    """Each line, the byte that it begins with, and the byte that the next one begins with."""
    for end in LINE_END.finditer(data, start):
        yield data[start : end.start()], start, end.end()
        start = end.end()
    if start < len(data):
        yield data[start:], start, len(data)


def find_fields(data: bytes, pairs: Iterable[tuple[bytes, bytes]]) -> list[list[bytes]]:
    """Find the lines of a run with pairs of query and item, in order, split into fields."""
    found = []
    lines = (_split_fields(line) for line, *_ in _list_lines(data))
    for query, item in pairs:
        for fields in lines:
            if len(fields) > RUN.number and fields[0] == query and fields[RUN.item] == item:
                found.append(fields)
                break
    return found


def read_ranks(lines: list[list[bytes]]) -> Floats:
    """Read the rank column of lines that are split into fields; NaN where it holds no number."""
    ranks = np.full(len(lines), np.nan)
    for place, fields in enumerate(lines):
        written = fields[RUN.number - 1]
        if PLAIN.fullmatch(written):
            ranks[place] = float(written)
    return ranks


# --- Lines that are not plain -----------------------------------------------------------------

_BREAK = re.compile("[\v\f\x1c-\x1e]|\u0085|\u2028|\u2029".encode())
"""Characters that other programs end lines with."""


def _split_fields(line: bytes) -> list[bytes]:
    """Split at blanks and tabs. Other white space belongs to ids."""
    return [field for field in line.replace(b"\t", b" ").split(b" ") if field]


def _parse_number(fields: list[bytes], layout: Layout) -> float:
    written = fields[layout.number]
    if PLAIN.fullmatch(written):
        number = float(written)
        if abs(number) <= layout.largest:
            return number
        beyond = "the range of a double" if layout is RUN else "the range ±2^53"
        wrong = f"{_show(written)} is beyond {beyond}"
    else:
        wrong = f"got {_show(written)}"
    raise layout.error(
        f"{explain_not_finite(layout.number_name, wrong)} (query {_show(fields[0])}, item"
        f" {_show(fields[layout.item])}).{_guess_kind(fields, layout.kind)}"
    )


def _guess_kind(fields: list[bytes], kind: str) -> str:
    """Guess why a line has no number where one is expected."""
    if {b"query_id", b"qid", b"query", b"topic", b"doc_id", b"docno", b"docid"} & set(fields):
        return " This looks like a header line."
    return _explain_json(kind) if fields[0].startswith(_BRACKETS) else ""


def _explain_json(kind: str) -> str:
    return (
        "  This looks like JSON, not a TREC file. Use"
        f" {write_option('input_format', {kind: 'json'})} for one object, or 'jsonl' for an object"
        " on each line."
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
        torn = next(field for field in tabbed if len(_split_fields(field)) > 1)
        if torn in tabbed[: layout.number + 1]:  # the tag is not read
            raise FormatError(f"expected {wanted} fields, but {_show(torn)} contains a blank.")
    if layout.more and count == wanted - 1 and line.endswith((b" ", b"\t")):
        return  # the tag is empty, and is not read
    if (
        layout.more
        and count >= 2 * wanted - 1
        and (line_break := _BREAK.search(fields[wanted - 1]))
    ):
        raise FormatError(
            f"{count} fields where a {layout.kind} line has {wanted}: {_show(line)}  Two lines are "
            f"separated by U+{ord(line_break[0].decode()):04X} here; end lines with LF, CR or both."
        )
    if count == wanted or (layout.more and count > wanted and not _is_shifted(fields, layout)):
        return
    raise FormatError(
        f"{write_count(count, 'field')} where a {layout.kind} line has {wanted} "
        f"({' '.join(layout.columns)}): {_show(line)}{_guess_reason(line, count, layout)}"
    )


def _is_shifted(fields: list[bytes], layout: Layout) -> bool:
    """Is there a number in the tag's place? Then an id with a blank has moved the score."""
    return PLAIN.fullmatch(fields[layout.number + 1]) is not None


def _guess_reason(line: bytes, count: int, layout: Layout) -> str:
    other_layout = QRELS if layout is RUN else RUN
    if count == len(other_layout.columns):
        return f"  This looks like a {other_layout.kind} file; are the two files swapped?"
    if line.lstrip().startswith(_BRACKETS):
        return _explain_json(layout.kind)
    if b" qid:" in line:
        named = write_option("input_format", {layout.kind: "letor"})
        return f"  This looks like a LETOR file: {named}."
    if b"," in line and count == 1:
        return "  This looks like CSV: commas instead of blanks."
    if count == 3:
        return "  A column is missing."
    return "  Does an id contain a blank?" if count > len(layout.columns) else ""


def _show(data: bytes) -> str:
    return show_id(data.strip())


def parse_line(line: bytes, layout: Layout) -> Row | None:
    """Parse one line; None for a blank line or a comment. Errors do not name file and line."""
    fields = _split_fields(line)
    if not fields or fields[0].startswith(b"#"):
        return None
    return _parse_fields(line, fields, layout)


def _parse_fields(line: bytes, fields: list[bytes], layout: Layout) -> Row:
    if len(fields) != len(layout.columns) or b"\0" in line or b"\t" in line:
        _check_fields(line, fields, layout)
    return fields[0], fields[layout.item], _parse_number(fields, layout)
