"""Opens files as streams, more than once: from disk, a pipe or standard input; sorts on disk."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import sys
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np

from germane.core.calls import Progress
from germane.core.ragged import Ints
from germane.errors import InputError, clip, require_arrow, write_option
from germane.readers.files.formats import KeptPath, LimitedPath, Path, name_file, refuse_device

if TYPE_CHECKING:
    import pyarrow as pa


@contextlib.contextmanager
def explain_unwritable(why: str) -> Iterator[None]:
    """Turn an error of the system into one sentence that names the folder and its purpose."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{_find_folder()}: cannot be written ({error.strerror or error}). {why} Set TMPDIR to "
            "use another folder."
        ) from None


def _find_folder() -> str:
    import tempfile  # which seldom is needed

    try:
        return tempfile.gettempdir()
    except OSError:  # Python found no folder that can be written
        return os.environ.get("TMPDIR", "the folder of temporary files")


FREE = 1 << 28  # bytes that any compressed file may become
_CHUNK = 1 << 20

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_LONGEST = max(len(magic) for magic, _ in _MAGIC)


class File:
    """A file that can be opened more than once.

    A source that cannot be reopened (standard input, a pipe) is first copied to a temporary file,
    so that a run whose queries are scattered can be read again without holding it in memory.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        named = os.fsdecode(path)
        self.name = name_file(path)
        if not named.strip() or "\0" in named:
            raise InputError(f"{clip(named)}: there is no such file.")
        self._progress = progress
        self.limits = path if isinstance(path, LimitedPath) else LimitedPath(named)
        self.path = named
        self._copy: _Copy | None = None
        with explain_os_error(self.name):
            if isinstance(path, KeptPath):
                self._copy = path.copy._copy
            elif named == "-":
                if sys.stdin is None or sys.stdin.buffer.closed:
                    raise InputError("standard input is closed.")
                self._copy = _Copy(sys.stdin.buffer, self.name, progress)
            elif os.path.isdir(named):
                raise InputError(f"{self.name}: this is a directory, not a file.")
            elif not os.path.isfile(named) and os.path.exists(named):
                refuse_device(named)
                pipe = open(named, "rb")  # noqa: SIM115  (closed with the copy)
                self._copy = _Copy(pipe, self.name, progress)
                weakref.finalize(self._copy, pipe.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        pass  # a copy is closed with the last file that reads it

    def open_raw(self) -> io.FileIO:
        """Open the file for its bytes as they are."""
        if self._copy is None:
            return open(self.path, "rb", buffering=0)
        stored = open(self._copy.fill(), "rb", buffering=0, closefd=False)  # noqa: SIM115
        stored.seek(0)  # a copy's descriptor is where the last reading left it
        return stored

    def open_text(self) -> io.BufferedIOBase | io.RawIOBase:
        """Open the decompressed text. Reading raises an error if it becomes very large."""
        raw = self.open_raw() if self._copy is None else _Reading(self._copy)
        try:
            start = raw.read(_LONGEST)
            if _is_cut(start):
                raise EOFError
            kind = find_compression(start)
            if kind == "zstd":
                require_arrow(f"{self.name}: a file compressed with Zstandard")
            raw.seek(0)
        except BaseException:
            raw.close()
            raise
        watched = _Watched(raw, self.name, self._progress if self._copy is None else None)
        stream = io.BufferedReader(watched, 1 << 16)
        if kind is None:
            return stream
        return _Limited(_decompress(stream, kind), watched, self.limits.max_expansion)


class _Copy:
    """The copy of a source that comes once. It grows as it is read, so that what is wrong with a
    line is known before the next one comes.
    """

    def __init__(self, source: BinaryIO, name: str, progress: Progress | None) -> None:
        import tempfile

        self.name, self._source, self._progress = name, source, progress
        self._size, self._has_ended, self._lock = 0, False, Lock()
        self._room = partial(
            explain_unwritable, f"A copy of {name} is made there, to be read again."
        )
        with self._room():
            self._stored = tempfile.TemporaryFile()  # noqa: SIM115  (closed with this)
        weakref.finalize(self, self._stored.close)

    def read(self, start: int, size: int) -> bytes:
        """Read from a place on, copying more of the source where the place is at the end."""
        with self._lock:
            if start == self._size and not self._has_ended:
                self._take()
            self._stored.seek(start)
            return self._stored.read(size)

    def fill(self) -> int:
        """Copy the rest of the source; return the descriptor of the copy."""
        with self._lock:
            while not self._has_ended:
                self._take()
        return self._stored.fileno()

    def _take(self) -> None:
        chunk = self._source.read(_CHUNK)
        self._has_ended = not chunk
        with self._room():
            self._stored.seek(self._size)
            self._stored.write(chunk)
            self._stored.flush()
        self._size += len(chunk)
        if self._progress:
            self._progress(self.name, self._size, None)


class _Reading(io.RawIOBase):
    """One reading of a copy, from its beginning."""

    def __init__(self, copy: _Copy) -> None:
        self._copy, self._at = copy, 0

    def readable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        self._at = place
        return place

    def readinto(self, buffer: Any) -> int:
        data = self._copy.read(self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def keep_path(path: Path) -> Path:
    """Copy what comes once, so that its format can be found before it is read."""
    named = os.fspath(path)
    once = named == "-" or (os.path.exists(named) and not os.path.isfile(named))
    if not once or os.path.isdir(named) or isinstance(path, KeptPath):
        return path
    file = File(path)
    kept_path = KeptPath(os.fsdecode(path))
    kept_path.copy, kept_path.max_expansion = file, file.limits.max_expansion
    kept_path.max_line = file.limits.max_line
    return kept_path


@contextlib.contextmanager
def explain_os_error(name: str) -> Iterator[None]:
    """Turn errors of the system and of decompressors into one sentence that names the file."""
    try:
        yield
    except (FileNotFoundError, UnicodeEncodeError):  # text of which no path can be made
        raise InputError(_explain_absent(name)) from None
    except PermissionError:
        raise InputError(f"{name}: no permission to read this file.") from None
    except EOFError:
        raise InputError(f"{name}: the compressed file is truncated.") from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, _Damaged) as error:
        raise InputError(f"{name}: the compressed file is damaged ({error}).") from None
    except OSError as error:
        if "runcated" in str(error):  # Zstandard's
            raise InputError(f"{name}: the compressed file is truncated.") from None
        reason = " ".join((error.strerror or str(error)).split())  # Arrow's have several lines
        if reason.startswith("ZSTD"):
            raise InputError(f"{name}: the compressed file is damaged ({reason}).") from None
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(_explain_absent(name)) from None
        raise InputError(f"{name}: cannot be read ({reason}).") from None


def _explain_absent(name: str) -> str:
    if "\n" in name.strip() or len(name) > _PATH:
        return f"{clip(name)}: this looks like the content of a file; pass its path instead."
    return f"{name if name.isprintable() else clip(name)}: there is no such file."


_PATH = 4096  # characters; no system's paths are longer


def find_compression(start: bytes) -> str | None:
    """Find how a file that begins with these bytes is compressed; None if it is not."""
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)


def _is_cut(data: bytes) -> bool:
    """Is this file the truncated beginning of a compressed one?"""
    return any(data and data != magic and magic.startswith(data) for magic, _ in _MAGIC)


class Layer(io.RawIOBase):
    """A stream that reads another one, and closes it."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Watched(Layer):
    """A raw file that reports how far it has been read."""

    def __init__(self, raw: io.RawIOBase, name: str, progress: Progress | None) -> None:
        super().__init__(raw)
        self.name, self._progress = name, progress
        self._size = os.fstat(raw.fileno()).st_size if progress else 0
        self.done = 0

    def readinto(self, buffer: Any) -> int | None:
        read: int | None = self._raw.readinto(buffer)
        self.done += read or 0
        if self._progress:
            self._progress(self.name, self.done, self._size)
        return read


class _Limited(Layer):
    """A decompressed stream that raises an error if a small file becomes a very large one."""

    def __init__(self, stream: BinaryIO, file: _Watched, limit: float) -> None:
        super().__init__(file)
        self._stream, self._most = stream, limit
        self._done = 0

    def readinto(self, buffer: Any) -> int:
        """Fill the whole buffer, so that the end of a long line is searched for once."""
        view, filled = memoryview(buffer), 0
        while filled < len(view):
            size: int = self._stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not size:
                break
            filled += size
            self._done += size
            if self._done > FREE and self._done > self._most * self._raw.done:
                raise InputError(
                    f"{self._raw.name}: the compressed file expands to more than {self._most:g}"
                    f" times its size: its first {self._raw.done:,} bytes become {self._done:,}."
                    f" Check the file. {write_option('max_expansion', 'none')} removes the limit,"
                    " and a number raises it."
                )
        return filled


class _Damaged(Exception):  # noqa: N818  (explain_os_error makes the user's error of it)
    """A decompressor cannot read its input."""


class _Members(Layer):
    """The content of all members of a bzip2 or xz file, which zeros may separate.

    Python's own classes end silently at a member whose first bytes are damaged.
    """

    def __init__(self, raw: BinaryIO, member: Callable[[], Any]) -> None:
        super().__init__(raw)
        self._make, self._member = member, member()
        self._between = False  # has the last member ended?

    def readinto(self, buffer: Any) -> int:
        while True:
            data = self._read() if self._member.eof or self._member.needs_input else b""
            if self._between:
                return 0
            try:
                expanded = self._member.decompress(data, len(buffer))
            except OSError as error:  # which bzip2 raises for damaged data
                raise _Damaged(str(error)) from None
            if expanded:
                buffer[: len(expanded)] = expanded
                return len(expanded)

    def _read(self) -> bytes:
        """Read compressed bytes, of the next member if one has ended; none at the end."""
        rest: bytes = self._member.unused_data if self._member.eof else b""
        self._between |= self._member.eof
        while self._between and not (rest := rest.lstrip(b"\0")):
            rest = self._raw.read(_CHUNK)
            if not rest:
                return b""
        if self._between:
            self._member, self._between = self._make(), False
            return rest
        rest = self._raw.read(_CHUNK)
        if not rest:
            raise EOFError
        return rest


def _decompress(raw: Any, kind: str) -> BinaryIO:
    match kind:
        case "gzip":
            return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
        case "bzip2":
            return _Members(raw, bz2.BZ2Decompressor)  # type: ignore[return-value]
        case "xz":
            return _Members(raw, lzma.LZMADecompressor)  # type: ignore[return-value]
        case _:
            import pyarrow as pa

            stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
            return io.BufferedReader(stream, 1 << 16)


# --- Sorts rows by query on disk, where there are too many for memory -----------------------------
#
# The files have no names, so that they are gone when the process ends, however it ends.

HELD = 1 << 22  # rows in memory before any is put on disk
PARTS = 64
_BUFFER = 1 << 18  # bytes
_WHY = (
    "The queries of the run are scattered, so its rows are sorted there; a run that is sorted by"
    " query needs no space."
)


class Spill:
    """Rows on disk, in parts. All rows of a query are in one part."""

    def __init__(self) -> None:
        self._files: list[IO[bytes]] = []
        self._writers: list[pa.RecordBatchWriter] = []

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *raised: object) -> None:
        for file in self._files:
            with contextlib.suppress(OSError):  # there may be no room for what is still buffered
                file.close()

    def __bool__(self) -> bool:
        return bool(self._files)

    def add(self, code: Ints, columns: Mapping[str, Any]) -> None:
        """Write rows of queries with these codes. Raises InputError if there is no room."""
        import pyarrow as pa

        order = np.argsort(code % PARTS, kind="stable")
        ends = np.searchsorted((code % PARTS)[order], np.arange(PARTS + 1)).tolist()
        rows = pa.table({"code": code, **columns}).take(order).combine_chunks()
        with explain_unwritable(_WHY):
            for part in range(PARTS):
                self._writer(part, rows.schema).write_table(
                    rows.slice(ends[part], ends[part + 1] - ends[part])
                )

    def read_parts(self) -> Iterator[pa.Table]:
        """Read the parts. The rows of a query are in the order in which they were added."""
        for file, writer in zip(self._files, self._writers, strict=True):
            import pyarrow as pa

            with explain_unwritable(_WHY):
                writer.close()
                file.seek(0)
                rows = pa.ipc.open_stream(file).read_all()
            if len(rows):
                yield rows.combine_chunks()

    def _writer(self, part: int, schema: pa.Schema) -> pa.RecordBatchWriter:
        import tempfile  # which seldom is needed

        import pyarrow as pa

        if part == len(self._files):
            self._files.append(tempfile.TemporaryFile(buffering=_BUFFER))  # noqa: SIM115
            self._writers.append(pa.ipc.new_stream(self._files[part], schema))
        return self._writers[part]
