"""Opener: a file of columns as what Arrow reads, and what goes wrong with it as one sentence."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from germane.errors import EmptyError, FormatError, InputError
from germane.readers import streams
from germane.readers.streams import File


class Opener(File):
    """A file that is opened once for its columns and once for each reading."""

    def mapped(self) -> Any:
        """What Arrow reads: a file in the address space, of which nothing is copied."""
        import mmap

        import pyarrow as pa

        with self._seekable() as raw:
            held = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.BufferReader(pa.py_buffer(held))

    def bytes(self) -> Any:
        """What Parquet reads: a file that can be sought in, and that is not kept."""
        import pyarrow as pa

        with self._seekable():
            return self.mapped() if self.copied else pa.OSFile(self.path)

    def columns(self) -> Any:
        """What CSV and JSON read: a stream, decompressed."""
        import pyarrow as pa

        return pa.PythonFile(self.text(), mode="r")

    @contextlib.contextmanager
    def _seekable(self) -> Iterator[Any]:
        """The file as it is: not empty, not compressed as a whole."""
        with self.raw() as raw:
            start = raw.read(6)
            if not start:
                raise EmptyError(f"{self.name}: the file is empty.")
            kind = streams.compression(start)
            if kind is not None:
                raise InputError(
                    f"{self.name}: a file of this format is read in parts, and {kind} has no parts; "
                    "decompress it. Its columns may be compressed."
                )
            yield raw


@contextlib.contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn what Arrow and the system raise into one sentence that names the file."""
    import pyarrow as pa

    with streams.explained(where):
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
