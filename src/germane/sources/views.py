"""Arrow's views of short text in NumPy: 16 bytes each, a length and up to 12 bytes of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from germane import _ragged
from germane._ragged import Ints
from germane.sources.binary import Words, factor

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 12  # bytes that stand in the view itself


def of_array(array: pa.StringViewArray) -> Ints | None:
    """The views of an array, as pairs of words; None where a text is too long to stand in one."""
    views = np.frombuffer(array.buffers()[1], "<u8").reshape(-1, 2)
    views = views[array.offset : array.offset + len(array)]
    return views if _lengths(views).max(initial=0) <= LONGEST else None


def _lengths(views: Ints) -> Ints:
    return views.view("<u4")[:, 0]


def hashes(views: Ints) -> Words:
    """The hash that ``binary.hashes`` gives the same texts."""
    out = views[:, 0] * factor(0)
    out += views[:, 1] * factor(1)
    return out


def to_binary(views: Ints) -> pa.BinaryArray:
    """The same texts as an array of offsets and bytes."""
    import pyarrow as pa

    lengths = _lengths(views).astype(np.int64)
    offsets = _ragged.offsets(lengths)
    text = np.ascontiguousarray(views).view(np.uint8).reshape(-1, 16)[:, 4:]
    data = text[np.arange(LONGEST) < lengths[:, None]]
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(views), buffers)
