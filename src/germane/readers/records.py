"""Reads rows that are namedtuples, such as ``Qrel`` and ``ScoredDoc`` of ir_datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from germane.errors import FormatError, clip
from germane.readers import arrow, frames, headings
from germane.readers.frames import Frame


def open_records(rows: Sequence[Any], kind: str, columns: Any = None) -> Frame:
    """Open rows of one type, whose fields are columns. Raises FormatError for another type."""
    first = rows[0]
    if len(set(map(type, rows))) > 1:
        at, odd = next((at, row) for at, row in enumerate(rows) if type(row) is not type(first))
        raise FormatError(
            f"{kind}, row {at}: all rows are of one type, {type(first).__name__}; got {clip(odd)}"
        )
    found = headings.resolve_names(first._fields, kind, kind, columns)
    values = dict(zip(first._fields, zip(*rows, strict=True), strict=True))
    try:
        table = pa.table({name: pa.array(values[name]) for name in found.all})
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise arrow.explain_unreadable(rows, kind, error) from None
    return frames.make_frame(table, kind, columns)
