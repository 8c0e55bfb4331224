"""Sorts rows by query on disk, where there are too many for memory.

The files have no names, so that they are gone when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from germane.core.ragged import Ints
from germane.readers import streams

if TYPE_CHECKING:
    import pyarrow as pa

HELD = 1 << 22  # rows in memory before any is put on disk
PARTS = 64
_BUFFER = 1 << 18  # bytes
_WHY = (
    "The queries of the run are scattered, so that its rows are sorted there; a run that is sorted"
    " by query needs no room."
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
        with streams.explain_unwritable(_WHY):
            for part in range(PARTS):
                self._writer(part, rows.schema).write_table(
                    rows.slice(ends[part], ends[part + 1] - ends[part])
                )

    def read_parts(self) -> Iterator[pa.Table]:
        """Read the parts. The rows of a query are in the order in which they were added."""
        import pyarrow as pa

        for file, writer in zip(self._files, self._writers, strict=True):
            with streams.explain_unwritable(_WHY):
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
