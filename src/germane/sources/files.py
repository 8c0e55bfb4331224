"""Files as blocks of whole lines: compressed or not, from disk or from standard input."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np

from germane.errors import FormatError, InputError, clip
from germane.sources.paths import EXPANSION, Expanding, Path, Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

BLOCK = 1 << 20  # bytes; what is computed from a block stays in the processor's cache
MARGIN = 16  # bytes of the buffer beyond a block
_CHUNK = 1 << 20
FREE = 1 << 28  # bytes that any compressed file may become

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_WIDER = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_WIDE = (b"\xff\xfe", b"\xfe\xff", *_WIDER)
BOM = b"\xef\xbb\xbf"


class Block:
    """Some whole lines of a file, in a buffer that the next block overwrites."""

    def __init__(self, buffer: bytearray, end: int, start: int) -> None:
        self.start = start  # the position of its first byte in the (decompressed) file
        self._buffer, self.end = buffer, end

    def __contains__(self, byte: bytes) -> bool:
        return self._buffer.find(byte, 0, self.end) >= 0

    @property
    def view(self) -> memoryview:
        """Its bytes, without a copy."""
        return memoryview(self._buffer)[: self.end]

    @property
    def padded(self) -> "Bytes":
        """Its bytes, without a copy, and others that do not matter behind them."""
        return np.frombuffer(self._buffer, np.uint8)[: self.end + MARGIN]

    @property
    def data(self) -> bytes:
        """A copy of its bytes."""
        return bytes(self.view)


class TextFile:
    """A file that can be read more than once.

    What cannot be reopened (standard input, a pipe) is first copied to a temporary file, so that
    a run whose queries are scattered can be read again without holding it in memory.
    """

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        named = os.fsdecode(path)
        self.name = "standard input" if named == "-" else named
        if not named or "\0" in named:
            raise InputError(f"{clip(named)}: there is no such file.")
        self._progress = progress
        self._expansion = _most(path)
        self._copy: BinaryIO | None = None
        self._path = named
        with explained(self.name):
            if named == "-":
                if sys.stdin is None:
                    raise InputError("standard input is closed.")
                self._copy = self._copied(sys.stdin.buffer)
            elif os.path.isdir(named):
                raise InputError(f"{self.name}: this is a directory, not a file.")
            elif not os.path.isfile(named) and os.path.exists(named):
                with open(named, "rb") as pipe:
                    self._copy = self._copied(pipe)

    def __enter__(self) -> "TextFile":
        return self

    def __exit__(self, *raised: object) -> None:
        if self._copy is not None:
            self._copy.close()

    def blocks(self, whole: Literal["queries", "lines"] = "queries") -> Iterator[Block]:
        """The file's lines in order, without a byte-order mark: whole queries, some at a time.

        A block ends where the first field of the line changes, or with any line. The last line of
        the file may lack its newline.
        """
        last = {"queries": _last_query, "lines": _last_line}[whole]
        buffer = bytearray(BLOCK + MARGIN)
        filled = start = 0
        with explained(self.name), self._open() as stream:
            while True:
                got = stream.readinto(memoryview(buffer)[filled:-MARGIN])
                if start == filled == 0:
                    got = self._without_mark(buffer, got)
                filled += got
                end = filled if not got else last(buffer, filled)
                if end:
                    yield Block(buffer, end, start)
                    buffer[: filled - end] = buffer[end:filled]
                    filled, start = filled - end, start + end
                elif filled + MARGIN == len(buffer):  # a query longer than the buffer
                    buffer = bytearray(buffer) + bytearray(len(buffer))
                if not got:
                    return

    def line_number(self, position: int) -> int:
        """The number, from 1, of the line at a position that a block started at."""
        return 1 + sum(b.data.count(b"\n") for b in self.blocks() if b.start < position)

    def _without_mark(self, buffer: bytearray, got: int) -> int:
        if buffer.startswith(_WIDE, 0, got):
            width = 32 if buffer.startswith(_WIDER, 0, got) else 16
            raise FormatError(f"{self.name}: the file is UTF-{width}; save it as UTF-8.")
        if not buffer.startswith(BOM, 0, got):
            return got
        buffer[: got - len(BOM)] = buffer[len(BOM) : got]
        return got - len(BOM)

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        if self._copy is not None:
            self._copy.seek(0)
        with open(
            self._copy.fileno() if self._copy else self._path,
            "rb",
            buffering=0,
            closefd=not self._copy,
        ) as raw:
            kind = compression(raw.read(6))
            raw.seek(0)
            with io.BufferedReader(_Watched(raw, self.name, self._progress), 1 << 16) as watched:
                if kind is None:
                    yield watched
                else:
                    yield _Limited(_decompressed(watched, kind), watched.raw, self._expansion)

    def _copied(self, source: BinaryIO) -> BinaryIO:
        import tempfile

        copy = tempfile.TemporaryFile()  # noqa: SIM115  (closed by __exit__)
        done = 0
        while chunk := source.read(_CHUNK):
            copy.write(chunk)
            done += len(chunk)
            if self._progress:
                self._progress(self.name, done, None)
        copy.flush()
        return copy


@contextlib.contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn what the system and the decompressors raise into one sentence that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file.") from None
    except PermissionError:
        raise InputError(f"{name}: no permission to read this file.") from None
    except EOFError:
        raise InputError(f"{name}: the compressed file is truncated.") from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{name}: the compressed file is damaged ({error}).") from None
    except OSError as error:
        if "runcated" in str(error):  # Zstandard's
            raise InputError(f"{name}: the compressed file is truncated.") from None
        reason = error.strerror or str(error)
        raise InputError(f"{name}: cannot be read ({reason}).") from None


def _last_line(buffer: bytearray, end: int) -> int:
    """Where the last line, of which more may follow, begins."""
    return buffer.rfind(b"\n", 0, end) + 1


_FIELD = re.compile(rb"[ \t]*([^ \t\r\n]*)")


def _last_query(buffer: bytearray, end: int) -> int:
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


def compression(start: bytes) -> str | None:
    """How a file that begins with these bytes is compressed, if it is."""
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)


def limited(path: Path) -> io.RawIOBase | None:
    """A compressed file's text, which ends with an error where it is too large; None for others."""
    raw = open(path, "rb", buffering=0)  # noqa: SIM115  (it is closed with what is returned)
    kind = compression(raw.read(6))
    if kind is None:
        raw.close()
        return None
    raw.seek(0)
    watched = _Watched(raw, os.fsdecode(path), None)
    return _Limited(_decompressed(io.BufferedReader(watched, 1 << 16), kind), watched, _most(path))


def _most(path: Path) -> float:
    """How many times as large as a file its text may be."""
    return path.expansion if isinstance(path, Expanding) else EXPANSION


class _Watched(io.RawIOBase):
    """A raw file that reports how far it has been read."""

    def __init__(self, raw: io.FileIO, name: str, progress: Progress | None) -> None:
        self._raw, self.name, self._progress = raw, name, progress
        self._size = os.fstat(raw.fileno()).st_size
        self.done = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._raw.close()
        super().close()

    def readinto(self, buffer: Any) -> int | None:
        read = self._raw.readinto(buffer)
        self.done += read or 0
        if self._progress:
            self._progress(self.name, self.done, self._size)
        return read


class _Limited(io.RawIOBase):
    """A decompressed stream that ends with an error where a small file becomes a very large one."""

    def __init__(self, stream: BinaryIO, file: Any, most: float) -> None:
        self._stream, self._file, self._most = stream, file, most
        self._done = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, so that a long line is not searched for its end after every piece."""
        view, filled = memoryview(buffer), 0
        while filled < len(view):
            got: int = self._stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not got:
                break
            filled += got
            self._done += got
            self._check()
        return filled

    def _check(self) -> None:
        if self._done > FREE and self._done > self._most * self._file.done:
            raise InputError(
                f"{self._file.name}: the compressed file becomes more than {self._most:g} times as "
                f"large: {self._file.done:,} bytes of it are {self._done:,}. Is it what it should be? "
                "max_expansion=none reads it all the same, and a number is a higher limit."
            )


def _decompressed(raw: Any, kind: str) -> BinaryIO:
    match kind:
        case "gzip":
            return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
        case "bzip2":
            return bz2.BZ2File(raw)  # type: ignore[return-value]
        case "xz":
            return lzma.LZMAFile(raw)  # type: ignore[return-value]
        case _:
            import pyarrow as pa

            stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
            return io.BufferedReader(stream, 1 << 16)
