"""Words: the different ids of a file as Arrow holds them; their text is made when it is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from germane._ragged import Ints
from germane.sources.ids import to_bytes, to_text

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 1 << 16


class Words(Sequence[Hashable]):
    """Different ids, in the order in which they first come."""

    def __init__(self, values: pa.LargeBinaryArray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> Hashable: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Hashable]: ...
    def __getitem__(self, at: int | slice) -> Hashable | Sequence[Hashable]:
        if isinstance(at, slice):
            return list(map(to_text, self.values[at].to_pylist()))
        return to_text(self.values[int(at)].as_py())

    def __iter__(self) -> Iterator[Hashable]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]


def coded(parts: Sequence[pa.Array]) -> tuple[Words, Ints]:
    """The different ids of a column that comes in parts, and the number of each row's."""
    import pyarrow as pa

    wide = pa.large_binary()
    column = pa.chunked_array([part.cast(wide) for part in parts], wide)
    if not len(column):  # which pyarrow 18 cannot encode
        return Words(pa.array([], wide)), np.zeros(0, np.int64)
    whole = column.dictionary_encode().combine_chunks()
    return Words(whole.dictionary), whole.indices.to_numpy().astype(np.int64)


def places(ids: Sequence[Hashable], others: Sequence[Hashable]) -> Ints:
    """The place of each id among others; -1 where it is not."""
    if isinstance(ids, Words):
        return _found(ids.values, others)
    place = {other: at for at, other in enumerate(others)}
    return np.array([place.get(one, -1) for one in ids], np.int64)


def _found(values: Any, others: Sequence[Hashable]) -> Ints:
    import pyarrow as pa
    from pyarrow import compute

    if isinstance(others, Words):
        among = others.values
    else:
        text = (to_bytes(one) if isinstance(one, str) else None for one in others)
        among = pa.array(text, pa.large_binary())
    at = compute.index_in(values, value_set=among)
    found: Ints = at.fill_null(-1).to_numpy().astype(np.int64)
    return found
