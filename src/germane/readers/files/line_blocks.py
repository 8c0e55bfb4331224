"""Reads files by blocks of whole lines, or by Arrow; and the metadata before the first line."""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple
from weakref import WeakValueDictionary

from germane.errors import EmptyError, FormatError, InputError, write_option
from germane.readers.files import streams
from germane.readers.files.formats import Path
from germane.readers.files.streams import File, Layer, explain_os_error

BLOCK = 1 << 20  # bytes; what is computed from a block stays in the processor's cache

LONGEST_QUERY = 1 << 29  # bytes of one query of a pipe; many million lines

_WIDER = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_WIDE = (b"\xff\xfe", b"\xfe\xff", *_WIDER)
BOM = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Some whole lines of a file."""

    data: bytes
    start: int  # the position of its first byte in the (decompressed) file


class TextFile(File):
    """A file of lines that can be read more than once.

    ``check_row`` raises InputError for a line that is no row of the file.
    """

    check_row: Callable[[bytes], object] = staticmethod(lambda line: None)

    def read_blocks(self, unit: Literal["queries", "lines"] = "queries") -> Iterator[Block]:
        """Read the file in blocks of whole queries or whole lines, without a byte-order mark.

        A query is lines in a row with the same first field. The last line of the file may lack its
        newline.
        """
        last = {"queries": _find_last_query, "lines": _find_last_line}[unit]
        buffer = bytearray(BLOCK)
        filled = start = 0
        with explain_os_error(self.name), self.open_text() as stream:
            while True:
                count = stream.readinto(memoryview(buffer)[filled:])
                if start == filled == 0:
                    check_text(self.name, bytes(buffer[: min(count, 8)]))
                    if buffer.startswith(BOM, 0, count):
                        buffer[: count - len(BOM)] = buffer[len(BOM) : count]
                        count -= len(BOM)
                filled += count
                end = filled if not count else last(buffer, filled)
                if end or filled == len(buffer):
                    self._check_lines(buffer, filled, start)
                    if start == 0:  # of a pipe without an end, too, whose next block may not come
                        self._check_first_line(buffer, start)
                if end:
                    yield Block(bytes(memoryview(buffer)[:end]), start)
                    buffer[: filled - end] = buffer[end:filled]
                    filled, start = filled - end, start + end
                elif filled == len(buffer):  # a query longer than the buffer
                    self._check_first_line(buffer, start)
                    self._refuse_endless(buffer, start)
                    buffer = bytearray(buffer) + bytearray(len(buffer))
                if not count:
                    return

    def _refuse_endless(self, buffer: bytearray, start: int) -> None:
        """Refuse a pipe whose query does not end: all lines of a query are held at once."""
        if self._copy is not None and len(buffer) >= LONGEST_QUERY:
            raise FormatError(
                f"{self.name}:{self.find_line_number(start)}: the lines of one query exceed"
                f" {LONGEST_QUERY >> 20} MB and do not end. Write the output of the pipe to a"
                " file, where a query may have any number of lines."
            )

    def _check_first_line(self, buffer: bytearray, start: int) -> None:
        """Refuse a line that is no row, before more is read of lines that begin like it."""
        match = _LINE_END.search(buffer)
        line = bytes(memoryview(buffer)[: match.start() if match else 0]).strip()
        if not line or line.startswith(b"#"):
            return
        try:
            self.check_row(line)
        except InputError as error:
            raise type(error)(f"{self.name}:{self.find_line_number(start)}: {error}") from None

    def _check_lines(self, buffer: bytearray, filled: int, start: int) -> None:
        """Refuse a line that is too long, which a file of another kind may have."""
        begin = find_long_line(buffer, filled, self.limits.max_line)
        if begin is None:
            return
        number = self.find_line_number(start) + count_line_ends(bytes(memoryview(buffer)[:begin]))
        why = "It has a NUL byte (\\x00): is this a text file?"
        if buffer.find(b"\0", begin, filled) < 0:
            why = (
                f"{write_option('max_line', 'none')} reads it anyway, and a number sets a higher"
                " limit."
            )
        raise FormatError(
            f"{self.name}:{number}: the line is longer than {self.limits.max_line:,.0f} bytes."
            f" {why}"
        )

    def find_line_number(self, position: int) -> int:
        """Find the number, from 1, of the line at the start of a block."""
        number, blocks, end = 1, self.read_blocks(), 0
        while end < position:
            block = next(blocks)
            number, end = number + count_line_ends(block.data), block.start + len(block.data)
        return number


_LINE_END = re.compile(rb"[\r\n]")


def find_long_line(buffer: bytearray, filled: int, longest: float) -> int | None:
    """Find the start of the first line that is longer than allowed, its end not counted."""
    begin = 0
    while filled - begin > longest:  # many short lines are skipped at once
        stop = begin + int(longest) + 1
        end = buffer.rfind(b"\n", begin, stop)
        if end < 0:
            end = buffer.rfind(b"\r", begin, stop)
        if end < 0:
            return begin
        begin = end + 1
    return None


def check_text(name: str, start: bytes) -> None:
    """Refuse a file that begins like one of another encoding, or like one that is not text."""
    if start.startswith(_WIDE):
        width = 32 if start.startswith(_WIDER) else 16
        raise FormatError(f"{name}: the file is UTF-{width}; save it as UTF-8.")
    for magic, noun in _NO_TEXT:
        if start.startswith(magic):
            raise FormatError(f"{name}: this is {noun}, not a file of lines.")


_NO_TEXT = (
    (b"PAR1", "a Parquet file (input_format='parquet')"),
    (b"ARROW1", "an Arrow file (input_format='arrow')"),
    (b"PK\3\4", "a zip archive (unpack it)"),
    (b"7z\xbc\xaf", "a 7-Zip archive (unpack it)"),
    (b"\x04\x22\x4d\x18", "a file compressed with LZ4 (decompress it)"),
    (b"\x1f\x9d", "a file compressed with compress (decompress it)"),
    (b"\x1f\x8b", "a file that was compressed twice (decompress it once)"),
    (b"\x93NUMPY", "an array of NumPy (numpy.load reads it for evaluate)"),
)


def count_line_ends(data: bytes, stop: int | None = None) -> int:
    """Count the ends of lines, which are CR, LF or both, in the data before a byte."""
    once = data.count(b"\n", 0, stop) + data.count(b"\r", 0, stop)
    return once - data.count(b"\r\n", 0, stop)


def _find_last_line(buffer: bytearray, end: int) -> int:
    """Find the start of the last line, which may go on in the next block."""
    return buffer.rfind(b"\n", 0, end) + 1


_FIELD = re.compile(rb"[ \t]*([^ \t\r\n]*)")


def _find_last_query(buffer: bytearray, end: int) -> int:
    """Find the start of the last query, or of some of its lines if scattered, by bisection."""

    def read_field(start: int) -> bytes:
        return _FIELD.match(buffer, start, end)[1]  # type: ignore[index]

    last = buffer.rfind(b"\n", 0, end) + 1
    if not last:  # a line longer than the buffer
        return 0
    low, high = 0, buffer.rfind(b"\n", 0, max(last - 1, 0)) + 1
    query = read_field(high)
    if not query or query.startswith(b"#"):  # a blank line or a comment: any number may follow
        return last
    if read_field(low) == query:
        return 0
    while True:
        middle = (low + high) // 2
        start = buffer.rfind(b"\n", 0, middle) + 1
        if start <= low:
            start = buffer.find(b"\n", middle) + 1
        if start >= high:
            return high
        if read_field(start) == query:
            high = start
        else:
            low = start


def squeeze_blanks(data: bytes) -> bytes:
    """Leave one blank between two fields, no other blanks, and LF at the end of a line."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


class _Squeezed(Layer):
    """Text whose fields are separated by one blank each."""

    def __init__(self, stream: Any) -> None:
        super().__init__(hold_lines(stream))
        self._rest = b""

    def readinto(self, buffer: Any) -> int:
        while not self._rest and (data := self._raw.read(BLOCK)):
            self._rest = squeeze_blanks(data + self._raw.readline())
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def hold_lines(stream: Any) -> Any:
    """Buffer a stream whose lines are read; one that has a buffer stays as it is."""
    return io.BufferedReader(stream, BLOCK) if isinstance(stream, io.RawIOBase) else stream


class Opener(File):
    """A file of columns, which is opened for its headings and for each reading."""

    squeezes = False  # are fields separated by any number of blanks?

    def open_text(self) -> io.BufferedIOBase | io.RawIOBase:
        stream = super().open_text()
        return io.BufferedReader(_Squeezed(stream), BLOCK) if self.squeezes else stream

    def open_map(self) -> Any:
        """Open a file of Arrow in the address space, without a copy."""
        import mmap

        import pyarrow as pa

        with self._open_seekable() as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.BufferReader(pa.py_buffer(mapped))

    def open_bytes(self) -> Any:
        """Open a file of Parquet, whose bytes are read as they are needed."""
        import pyarrow as pa

        with self._open_seekable():
            return pa.OSFile(self.path) if self._copy is None else self.open_map()

    def open_columns(self) -> Any:
        """Open a file of CSV or JSON as a decompressed stream."""
        return hand_to_arrow(self.open_text())

    @contextlib.contextmanager
    def _open_seekable(self) -> Iterator[Any]:
        """Open the bytes of a file that is not empty, and not compressed as a whole."""
        with self.open_raw() as raw:
            start = raw.read(6)
            if not start:
                raise EmptyError(f"{self.name}: the file is empty.")
            kind = streams.find_compression(start)
            if kind is not None:
                raise InputError(
                    f"{self.name}: a file of this format cannot be read from {kind}; decompress"
                    " it. Only its columns may be compressed."
                )
            yield raw


def read_file(path: Path) -> bytes:
    """Read a whole file, decompressed. Raises EmptyError for one without content."""
    with TextFile(path) as file, explain_os_error(file.name), file.open_text() as stream:
        data = bytes(stream.read(BLOCK) or b"")
        if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
            raise FormatError(f"{file.name}: it has a NUL byte (\\x00): is this a text file?")
        data += stream.read() or b""
    if not data.strip():
        raise EmptyError(f"{file.name}: the file is empty.")
    return data


def hand_to_arrow(stream: Any) -> Any:
    """Make a file of Arrow from a stream that has ``read`` and ``close``."""
    import pyarrow as pa

    return pa.PythonFile(_ReadAhead(stream), mode="r")


class _ReadAhead:
    """A stream that a thread of Arrow reads ahead, even after Arrow refused a line."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        _HELD[id(self)] = self

    def read(self, size: int = -1) -> memoryview:
        data = memoryview(b"" if self.closed else self._stream.read(size))
        _HELD[id(data)] = data  # to free it, a thread calls Python as well
        return data

    def close(self) -> None:
        self.closed = True
        self._stream.close()


_HELD: WeakValueDictionary[int, Any] = WeakValueDictionary()  # what threads of Arrow have of Python
_WAIT = 2.0  # seconds, at most, that the end of the program is delayed


@atexit.register
def _end_reading() -> None:
    """End all streams, and wait until Arrow's threads drop them and what was read.

    A thread that calls Python while Python shuts down aborts the program, or never ends.
    """
    _close_streams()
    if _HELD:
        gc.collect()  # the frames of an error may hold a stream
    stop = time.monotonic() + _WAIT
    while _HELD and time.monotonic() < stop:
        time.sleep(0.001)


def _close_streams() -> None:
    for stream in list(_HELD.values()):
        if isinstance(stream, _ReadAhead):
            stream.closed = True


def _list_arrow_errors() -> tuple[type[Exception], ...]:
    arrow = sys.modules.get("pyarrow")  # which raised none that was not imported
    return (arrow.ArrowException,) if arrow else ()


@contextlib.contextmanager
def explain_arrow_error(where: str) -> Iterator[None]:
    """Turn errors of Arrow and of the system into one sentence that names the file."""
    with streams.explain_os_error(where):
        try:
            yield
        except _list_arrow_errors() as error:
            if "Empty CSV" in str(error):  # a header that no line feed ends
                raise EmptyError(f"{where}: there are no rows.") from None
            if "straddling" in str(error):
                text = "a line is longer than 1 MB, which is allowed only in TREC files"
                raise FormatError(f"{where}: {text}.") from None
            raise FormatError(f"{where}: cannot be read: {error}") from None
        except UnicodeDecodeError:
            raise FormatError(f"{where}: the name of a column is not UTF-8.") from None


# --- Metadata of a run in its own file: comments before the first line, between two marks ---------
#
# The marks and the fields are those of ir_metadata. The text between them is YAML; it is carried
# along as text, and not read.

START, END = "ir_metadata.start", "ir_metadata.end"


def read_metadata(path: str) -> str | None:
    """Read the text between the marks, without the ``#`` of each line; None without marks."""
    try:
        with TextFile(path) as file:
            block = next(iter(file.read_blocks()), None)
    except InputError:
        return None
    if block is None or START.encode() not in block.data:
        return None
    comments: list[str] | None = None
    for line in block.data.decode("utf-8", "replace").splitlines():
        if not line.startswith("#"):
            break
        text = line.removeprefix("#").removeprefix(" ").rstrip()
        if text == START:
            comments = []
        elif text == END:
            return None if comments is None else "\n".join(comments) + "\n"
        elif comments is not None:
            comments.append(text)
    return None
