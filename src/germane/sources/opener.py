"""Opener: a file that is read more than once, and what goes wrong with it as one sentence."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from germane.errors import FormatError, InputError
from germane.sources import files


class Opener:
    """A file that is opened once for its columns and once for each reading."""

    def __init__(self, path: str, where: str) -> None:
        self.path, self.where = path, where
        self._copy: bytes | None = None
        if path == "-":
            self._copy = sys.stdin.buffer.read()
        elif os.path.isdir(path):
            raise InputError(f"{path}: this is a directory, not a file.")

    def mapped(self) -> Any:
        """What Arrow reads: a file in the address space, of which nothing is copied."""
        import pyarrow as pa

        return self.bytes() if self._copy is not None else pa.memory_map(self.path)

    def bytes(self) -> Any:
        """What Parquet reads: a file that can be sought in, and that is not kept."""
        import pyarrow as pa

        return pa.OSFile(self.path) if self._copy is None else pa.BufferReader(self._copy)

    def text(self) -> Any:
        """What CSV and JSON read: a stream, decompressed."""
        import pyarrow as pa

        if self._copy is not None:
            return io.BytesIO(self._copy)
        limited = files.limited(self.path)
        if limited is not None:
            return pa.PythonFile(limited, mode="r")
        return pa.input_stream(self.path, compression=None)


@contextlib.contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn what Arrow and the system raise into one sentence that names the file."""
    import pyarrow as pa

    with files.explained(where):
        try:
            yield
        except pa.ArrowException as error:
            raise FormatError(f"{where}: cannot be read: {error}") from None
        except UnicodeDecodeError:
            raise FormatError(f"{where}: the name of a column is not UTF-8.") from None
