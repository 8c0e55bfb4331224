"""Values as named columns, for every library that reads Arrow streams."""

import math
import re
from collections.abc import (
    Collection,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from germane.errors import (
    InputError,
    NotFoundError,
    clip,
    has_arrow,
    list_some,
    make_visible,
    offer,
    require_arrow,
)
from germane.output.attributes import AttributeAdvice
from germane.output.tables import Table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


V = TypeVar("V")
D = TypeVar("D")


class Columnar(AttributeAdvice):
    """A value of rows and named columns, which ``pl.DataFrame`` and ``pa.table`` read.

    ``pandas.DataFrame`` iterates, and reads rows that are dicts. Where iterating gives something
    else, such as names, it would make a column of that, and is refused: it asks for an array first.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__iter__ is not Columnar.__iter__:
            cls.__array__ = _refuse_array  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Any]:
        columns = self._list_columns()
        values = [np.asarray(column).tolist() for column in columns.values()]
        return (dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True))

    def _list_columns(self) -> dict[str, Any]:
        """List the columns by name: arrays, in which text is objects and may be None."""
        raise NotImplementedError

    def to_arrow(self) -> "pa.Table":
        """Return the columns as a ``pyarrow.Table``."""
        require_arrow("a table of PyArrow")
        import pyarrow as pa

        columns = self._list_columns()
        return pa.table({name: _to_arrow(column) for name, column in columns.items()})

    def to_pandas(self) -> "pd.DataFrame":
        """Return the columns as a DataFrame of pandas, which must be installed."""
        if has_arrow():
            return self.to_arrow().to_pandas()
        import pandas

        columns = self._list_columns()
        return pandas.DataFrame(
            {
                name: list(column) if _is_text(column) else np.asarray(column)
                for name, column in columns.items()
            }
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Tabular(Columnar):
    """A value that prints as its table, and is one in notebooks, in Markdown and in LaTeX.

    Its frame has the columns of the table, with all digits, unless it has columns of its own.
    """

    def table(self) -> Table:
        """Return the value as rows of text, with notes."""
        raise NotImplementedError

    def _list_columns(self) -> dict[str, Any]:
        return _read_table(self.table(digits=None))  # type: ignore[call-arg]

    def markdown(self) -> str:
        """Write a GitHub table."""
        return self.table().markdown()

    def latex(self) -> str:
        """Write a booktabs table."""
        return self.table().latex()

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def _refuse_array(value: Any, *_: Any, **__: Any) -> Any:
    """Refuse to be an array, and name what makes a frame of pandas."""
    name = type(value).__name__
    raise InputError(
        f"pandas.DataFrame(…) and numpy cannot read a {name}. To get a pandas frame, call its"
        " to_pandas(), or pandas.DataFrame.from_arrow(…) from pandas 3 on; polars.DataFrame(…)"
        " reads it."
    )


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

    def __init__(self, values: Mapping[Any, V]) -> None:
        self._held: dict[Any, V] = dict(values)

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
        return make_visible(f"<{type(self).__name__} {', '.join(self._held)}>")


def make_texts(values: Iterable[object]) -> Any:
    """Make a column of text: broken bytes of ids are written out, and None is no value."""
    texts = [None if value is None else _make_printable(value) for value in values]
    return np.array(texts, object)


def make_ids(values: Iterable[object]) -> Any:
    """Make a column of ids: integers where all of them are, to be joined, and text otherwise."""
    ids = list(values)
    if ids and all(type(identifier) is int for identifier in ids):
        try:
            return np.array(ids, np.int64)
        except OverflowError:  # beyond 64 bits with a sign
            pass
    return make_texts(ids)


def make_numbers(values: Iterable[float | None]) -> Any:
    """Make a column of numbers, in which None is no value, and NaN without Arrow."""
    listed = list(values)
    numbers = [math.nan if value is None else value for value in listed]
    return np.ma.array(numbers, float, mask=[value is None for value in listed])


def _is_text(column: Any) -> bool:
    return getattr(getattr(column, "dtype", None), "kind", "") == "O"


def _to_arrow(column: Any) -> "pa.Array":
    import pyarrow as pa

    return pa.array(column, pa.string() if _is_text(column) else None)


def _make_printable(identifier: object) -> str:
    text = str(identifier)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _read_table(table: Table) -> dict[str, Any]:
    """Read the columns of a table: numbers where a column holds nothing else."""
    of_text = {0, *table.left}
    columns: dict[str, Any] = {}
    for c, heading in enumerate(table.columns):
        cells = [row[c] for row in table.rows]
        numbers = None if c in of_text else _read_numbers(cells)
        name = _find_free(heading or "name", columns)
        columns[name] = make_texts(cells) if numbers is None else numbers
    return columns


def _read_numbers(cells: Sequence[str]) -> Any:
    """Read a column of numbers, in which a blank is none; None for other columns."""
    try:
        numbers = [None if cell in ("", "–", "none") else float(cell) for cell in cells]
    except ValueError:
        return None
    are_whole = all(re.fullmatch(r"-?\d{1,15}", cell, re.ASCII) for cell in cells)
    return np.array(cells, np.int64) if cells and are_whole else make_numbers(numbers)


def _find_free(name: str, taken: Collection[str]) -> str:
    """Find a name for a column; a frame cannot have one twice."""
    numbered = (f"{name} {number}" for number in count(2))
    return name if name not in taken else next(free for free in numbered if free not in taken)
