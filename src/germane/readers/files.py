"""Files as blocks of whole lines, or as what Arrow reads: compressed or not, from disk or standard input."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from germane.errors import EmptyError, FormatError, InputError
from germane.readers import streams
from germane.readers.streams import File, explain_os_error

BLOCK = 1 << 20  # bytes; what is computed from a block stays in the processor's cache

_WIDER = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_WIDE = (b"\xff\xfe", b"\xfe\xff", *_WIDER)
BOM = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Some whole lines of a file."""

    data: bytes
    start: int  # the position of its first byte in the (decompressed) file


class TextFile(File):
    """A file of lines that can be read more than once."""

    def blocks(self, whole: Literal["queries", "lines"] = "queries") -> Iterator[Block]:
        """The file's lines in order, without a byte-order mark: whole queries, some at a time.

        A block ends where the first field of the line changes, or with any line. The last line of
        the file may lack its newline.
        """
        last = {"queries": _find_last_query, "lines": _find_last_line}[whole]
        buffer = bytearray(BLOCK)
        filled = start = 0
        with explain_os_error(self.name), self.text() as stream:
            while True:
                got = stream.readinto(memoryview(buffer)[filled:])
                if start == filled == 0:
                    check_text(self.name, bytes(buffer[: min(got, 8)]))
                    got = self._without_mark(buffer, got)
                filled += got
                end = filled if not got else last(buffer, filled)
                if end or filled == len(buffer):
                    self._check_lines(buffer, filled, start)
                if end:
                    yield Block(bytes(memoryview(buffer)[:end]), start)
                    buffer[: filled - end] = buffer[end:filled]
                    filled, start = filled - end, start + end
                elif filled == len(buffer):  # a query longer than the buffer
                    buffer = bytearray(buffer) + bytearray(len(buffer))
                if not got:
                    return

    def _check_lines(self, buffer: bytearray, filled: int, start: int) -> None:
        """Refuse a line that is too long, as those of a file of another kind are."""
        begin = find_long_line(buffer, filled, self.limits.max_line)
        if begin is None:
            return
        number = self.line_number(start) + find_line_ends(bytes(memoryview(buffer)[:begin]))
        why = "It has a NUL byte (\\x00): is this a text file?"
        if buffer.find(b"\0", begin, filled) < 0:
            why = "max_line=none reads it all the same, and a number is a higher limit."
        raise FormatError(
            f"{self.name}:{number}: the line is longer than {self.limits.max_line:,.0f} bytes. {why}"
        )

    def line_number(self, position: int) -> int:
        """The number, from 1, of the line at a position that a block started at."""
        number, blocks, end = 1, self.blocks(), 0
        while end < position:
            block = next(blocks)
            number, end = number + find_line_ends(block.data), block.start + len(block.data)
        return number

    def _without_mark(self, buffer: bytearray, got: int) -> int:
        if not buffer.startswith(BOM, 0, got):
            return got
        buffer[: got - len(BOM)] = buffer[len(BOM) : got]
        return got - len(BOM)


def find_long_line(buffer: bytearray, filled: int, longest: float) -> int | None:
    """Where the first line begins that is longer than allowed, without what ends it."""
    begin = 0
    while filled - begin > longest:  # the last end of a line within that reach is found at once
        stop = begin + int(longest) + 1
        end = buffer.rfind(b"\n", begin, stop)
        if end < 0:
            end = buffer.rfind(b"\r", begin, stop)
        if end < 0:
            return begin
        begin = end + 1
    return None


def check_text(name: str, start: bytes) -> None:
    """Refuse a file that begins as one of another encoding, or of no text at all."""
    if start.startswith(_WIDE):
        width = 32 if start.startswith(_WIDER) else 16
        raise FormatError(f"{name}: the file is UTF-{width}; save it as UTF-8.")
    for magic, what in _NO_TEXT:
        if start.startswith(magic):
            raise FormatError(f"{name}: this is {what}, not a file of lines.")


_NO_TEXT = (
    (b"PAR1", "a Parquet file (input_format='parquet')"),
    (b"ARROW1", "an Arrow file (input_format='arrow')"),
    (b"PK\3\4", "a zip archive (unpack it)"),
    (b"7z\xbc\xaf", "a 7-Zip archive (unpack it)"),
    (b"\x04\x22\x4d\x18", "a file compressed with LZ4 (decompress it)"),
    (b"\x1f\x9d", "a file compressed with compress (decompress it)"),
    (b"\x1f\x8b", "a file that was compressed twice (decompress it once)"),
    (b"\x93NUMPY", "an array of NumPy (numpy.load gives what evaluate takes)"),
)


def find_line_ends(data: bytes, stop: int | None = None) -> int:
    """How many lines end in some whole lines, or before one of their bytes: by CR, LF or both."""
    once = data.count(b"\n", 0, stop) + data.count(b"\r", 0, stop)
    return once - data.count(b"\r\n", 0, stop)


def _find_last_line(buffer: bytearray, end: int) -> int:
    """Where the last line, of which more may follow, begins."""
    return buffer.rfind(b"\n", 0, end) + 1


_FIELD = re.compile(rb"[ \t]*([^ \t\r\n]*)")


def _find_last_query(buffer: bytearray, end: int) -> int:
    """Where the lines with the first field of the last whole line begin, by bisection.

    Where such lines stand apart, it is the beginning of some of them.
    """

    def field(start: int) -> bytes:
        return _FIELD.match(buffer, start, end)[1]  # type: ignore[index]

    last = buffer.rfind(b"\n", 0, end) + 1
    if not last:  # a line longer than the buffer
        return 0
    low, high = 0, buffer.rfind(b"\n", 0, max(last - 1, 0)) + 1
    query = field(high)
    if not query or query.startswith(b"#"):  # a blank line or a comment: any number may follow
        return last
    if field(low) == query:
        return 0
    while True:
        middle = (low + high) // 2
        start = buffer.rfind(b"\n", 0, middle) + 1
        if start <= low:
            start = buffer.find(b"\n", middle) + 1
        if start >= high:
            return high
        if field(start) == query:
            high = start
        else:
            low = start


class Opener(File):
    """A file that is opened once for its columns and once for each reading."""

    def mapped(self) -> Any:
        """The input of Arrow: a file in the address space, of which nothing is copied."""
        import mmap

        import pyarrow as pa

        with self._seekable() as raw:
            held = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.BufferReader(pa.py_buffer(held))

    def bytes(self) -> Any:
        """The input of Parquet: a file that can be sought in, and that is not kept."""
        import pyarrow as pa

        with self._seekable():
            return self.mapped() if self.copied else pa.OSFile(self.path)

    def columns(self) -> Any:
        """The input of CSV and JSON: a stream, decompressed."""
        import pyarrow as pa

        return pa.PythonFile(self.text(), mode="r")

    @contextlib.contextmanager
    def _seekable(self) -> Iterator[Any]:
        """The file as it is: not empty, not compressed as a whole."""
        with self.raw() as raw:
            start = raw.read(6)
            if not start:
                raise EmptyError(f"{self.name}: the file is empty.")
            kind = streams.find_compression(start)
            if kind is not None:
                raise InputError(
                    f"{self.name}: a file of this format is read in parts, and {kind} has no parts; "
                    "decompress it. Its columns may be compressed."
                )
            yield raw


@contextlib.contextmanager
def explain_arrow_error(where: str) -> Iterator[None]:
    """Turn what Arrow and the system raise into one sentence that names the file."""
    import pyarrow as pa

    with streams.explain_os_error(where):
        try:
            yield
        except pa.ArrowException as error:
            if "Empty CSV" in str(error):  # a header that no line feed ends
                raise EmptyError(f"{where}: there are no rows.") from None
            if "straddling" in str(error):
                says = "a line is longer than 1 MB, which only those of a TREC file may be"
                raise FormatError(f"{where}: {says}.") from None
            raise FormatError(f"{where}: cannot be read: {error}") from None
        except UnicodeDecodeError:
            raise FormatError(f"{where}: the name of a column is not UTF-8.") from None
