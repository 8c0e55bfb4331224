"""Frames: values as named columns, for every library that reads Arrow streams."""

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from germane.errors import NotFoundError, clip, list_some, offer

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

V = TypeVar("V")
D = TypeVar("D")


class Columnar:
    """A value of rows and named columns, which ``pl.DataFrame`` and ``pa.table`` read."""

    def _list_columns(self) -> dict[str, Any]:
        """List the columns by name: arrays of NumPy or of Arrow."""
        raise NotImplementedError

    def to_arrow(self) -> "pa.Table":
        """Return the columns as a ``pyarrow.Table``."""
        import pyarrow as pa

        return pa.table(self._list_columns())

    def to_pandas(self) -> "pd.DataFrame":
        """Return the columns as a DataFrame of pandas, which must be installed."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Lookup(Generic[V]):
    """Values by name, as in a dict.

    This is no Mapping: pandas and Polars would take one for a dict of columns, and not read its
    rows.
    """

    def __getitem__(self, name: Any) -> V:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    @overload
    def get(self, name: Any) -> V | None: ...
    @overload
    def get(self, name: Any, default: V | D) -> V | D: ...
    def get(self, name: Any, default: Any = None) -> Any:
        """Return the value of a name, or ``default`` where there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self) -> KeysView[str]:
        """Return the names, in order."""
        return KeysView(self)

    def values(self) -> ValuesView[V]:
        """Return the values, in the order of the names."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, V]:
        """Return pairs of name and value."""
        return ItemsView(self)


class Named(Lookup[V]):
    """Values by name, in order. A name that is not there is an error with the nearest one."""

    _noun = "value"

    def __init__(self, held: Mapping[Any, V]) -> None:
        self._held: dict[Any, V] = dict(held)

    def __getitem__(self, name: Any) -> V:
        if name not in self._held:
            raise NotFoundError(
                f"no {self._noun} {clip(name)}.{offer(name, self._held, list_some)}"
            )
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._held)}>"


def make_texts(values: Iterable[object]) -> "pa.Array":
    """Make a column of text: broken bytes of ids are written out, and None is no value."""
    import pyarrow as pa

    texts = (None if value is None else _make_printable(value) for value in values)
    return pa.array(texts, pa.string())


def make_ids(values: Iterable[object]) -> "pa.Array":
    """Make a column of ids: integers where all of them are, to be joined, and text otherwise."""
    import pyarrow as pa

    ids = list(values)
    if ids and all(type(one) is int for one in ids):
        try:
            return pa.array(ids, pa.int64())
        except OverflowError:  # beyond 64 bits with a sign
            pass
    return make_texts(ids)


def make_numbers(values: Iterable[float | None]) -> "pa.Array":
    """Make a column of numbers, in which None is no value."""
    import pyarrow as pa

    return pa.array(values, pa.float64())


def _make_printable(identifier: object) -> str:
    text = str(identifier)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
