"""Records: columns in NumPy, for rows that are read without Arrow.

A record hands out what the readers take of Arrow's record batches. A column's type has the name
that Arrow gives it, since errors print it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Ints
from germane.kernel.ids import (
    Categories,
    Ids,
    Text,
    is_missing,
    join_ids,
    read_bytes,
    read_python_ids,
)

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Column:
    """Text as ids; numbers and truth values as arrays; anything else as Python objects."""

    values: Ids | Array
    type: str
    absent: Bools | None = None  # the rows without a value; None where every row has one

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_pylist())

    @property
    def null_count(self) -> int:
        return 0 if self.absent is None else int(np.count_nonzero(self.absent))

    def find_null(self) -> int:
        """Find the first row without a value; there must be one."""
        assert self.absent is not None
        return int(self.absent.argmax())

    def slice(self, start: int, length: int | None = None) -> Column:
        stop = len(self) if length is None else min(start + length, len(self))
        absent = None if self.absent is None else self.absent[start:stop]
        if isinstance(self.values, Ids):
            return Column(self.values.part(start, stop), self.type, absent)
        return Column(self.values[start:stop], self.type, absent)

    def take(self, rows: Ints) -> Column:
        values = self.values.take(rows) if isinstance(self.values, Ids) else self.values[rows]
        return Column(values, self.type, None if self.absent is None else self.absent[rows])

    def to_pylist(self) -> list[Any]:
        values = self.values.python if isinstance(self.values, Ids) else self.values.tolist()
        if self.absent is None:
            return list(values)
        return [
            None if absent else value for value, absent in zip(values, self.absent, strict=True)
        ]

    def to_numpy(self, *, zero_copy_only: bool = False) -> Array:
        """Return the numbers, in which NaN stands for none."""
        numbers = self.list_numbers()
        return numbers if self.absent is None else np.where(self.absent, np.nan, numbers)

    def list_numbers(self) -> Array:
        """List numbers, or truth values as 0 and 1."""
        assert not isinstance(self.values, Ids)
        if self.values.dtype.kind == "O":
            return np.array([float(value or 0) for value in self.values.tolist()])
        return self.values.view(np.uint8) if self.values.dtype == bool else self.values


@dataclass(frozen=True, eq=False)
class Record:
    """Columns of the same length, by name."""

    named: Mapping[str, Column]
    num_rows: int

    @property
    def column_names(self) -> list[str]:
        return list(self.named)

    @property
    def nbytes(self) -> int:
        """About how many bytes the columns take."""
        return 8 * self.num_rows * len(self.named)

    def column(self, name: str) -> Column:
        return self.named[name]

    def select(self, names: Sequence[str]) -> Record:
        return Record({name: self.named[name] for name in names}, self.num_rows)

    def to_batches(self) -> list[Record]:
        """Return the parts in memory, of which there is one."""
        return [self]

    def slice(self, start: int, length: int | None = None) -> Record:
        columns = {name: column.slice(start, length) for name, column in self.named.items()}
        rows = max(self.num_rows - start, 0)
        return Record(columns, rows if length is None else min(rows, length))

    def take(self, rows: Ints) -> Record:
        return Record({name: column.take(rows) for name, column in self.named.items()}, len(rows))

    def filter(self, mask: Bools) -> Record:
        return self.take(np.flatnonzero(mask))


def join_records(records: Sequence[Record]) -> Record:
    """Join records that have the same columns."""
    names = records[0].column_names
    columns = {name: _join_columns([record.column(name) for record in records]) for name in names}
    return Record(columns, sum(record.num_rows for record in records))


def _join_columns(parts: Sequence[Column]) -> Column:
    texts = [part.values for part in parts if isinstance(part.values, Ids)]
    values: Any = join_ids(texts) if texts else np.concatenate([part.values for part in parts])
    absent = None
    if any(part.absent is not None for part in parts):
        nowhere = [np.zeros(len(part), bool) for part in parts]
        absent = np.concatenate(
            [
                full if part.absent is None else part.absent
                for part, full in zip(parts, nowhere, strict=True)
            ]
        )
    return Column(values, parts[0].type, absent)


# --- Columns of Python values ---------------------------------------------------------------------


def make_column(values: Sequence[Any], *, nan_is_missing: bool = False) -> Column:
    """Make a column of Python values, which have one type, with the types that Arrow finds.

    Raises TypeError, ValueError or OverflowError for values that belong to no type together.
    """
    listed = list(values)
    if set(map(type, listed)) == {str}:
        return _make_texts(listed)
    is_absent = is_missing if nan_is_missing else lambda value: value is None
    absent = np.fromiter(map(is_absent, listed), bool, len(listed))
    present = [value for value, is_null in zip(listed, absent.tolist(), strict=True) if not is_null]
    if not present:
        return Column(np.full(len(listed), None, object), "null", absent)
    column = _make_full(present)
    if len(present) == len(listed):
        return column
    rows = np.maximum(np.cumsum(~absent) - 1, 0)  # of some value, where there is none
    return Column(column.take(rows).values, column.type, absent)


_KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool, np.bool_), "bool"),
    ((int, np.integer), "int64"),
    ((float, np.floating), "double"),
    ((str,), "string"),
    ((bytes, bytearray, memoryview), "binary"),
    ((Decimal,), "decimal"),
    ((list, tuple, set, np.ndarray), "list"),
    ((dict,), "struct"),
    ((datetime.datetime,), "timestamp[us]"),
    ((datetime.date,), "date32[day]"),
    ((datetime.time,), "time64[us]"),
    ((datetime.timedelta,), "duration[us]"),
    ((UUID,), "extension<arrow.uuid>"),
)
"""Types of Python values and Arrow's names of theirs, of which the first that fits counts."""


def _make_full(values: list[Any]) -> Column:
    """Make a column of values, none of which is missing."""
    kinds = {_find_kind(value) for value in {type(value): value for value in values}.values()}
    first = values[0]
    if kinds == {"string", "binary"}:
        kinds, values = {"binary"}, [_encode(value) for value in values]
    if kinds == {"decimal", "int64"}:
        kinds = {"decimal"}
    if kinds == {"int64", "double"}:
        wide = next((value for value in values if abs(value) > 2**53 and value % 1 == 0), None)
        if isinstance(wide, (int, np.integer)):
            raise ValueError(
                f"Integer value {wide} is outside of the range exactly representable by a IEEE 754"
                " double precision value"
            )
        kinds = {"double"}
    if len(kinds) > 1:
        unlike = next(value for value in values if _find_kind(value) != _find_kind(first))
        if isinstance(first, str):
            raise TypeError(f"Expected bytes, got a {type(unlike).__name__!r} object")
        raise TypeError(
            f"Could not convert {unlike!r} with type {type(unlike).__name__}: tried to convert to"
            f" {_find_kind(first)}"
        )
    kind = kinds.pop()
    if kind in _MAKERS:
        return _MAKERS[kind](values)
    zone = getattr(first, "tzinfo", None)
    return Column(_hold_objects(values), f"timestamp[us, tz={zone}]" if zone else kind)


def _find_kind(value: Any) -> str:
    for types, kind in _KINDS:
        if isinstance(value, types):
            return kind
    raise TypeError(
        f"Could not convert {value!r} with type {type(value).__name__}: did not recognize Python"
        " value type when inferring an Arrow data type"
    )


def _encode(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _make_texts(values: list[Any]) -> Column:
    if "".join(values).isascii():
        return Column(read_python_ids(values), "string")
    return Column(read_bytes(list(map(str.encode, values))), "string")


def _make_bytes(values: list[Any]) -> Column:
    return Column(read_bytes(list(map(bytes, values))), "binary")


def _make_uuids(values: list[Any]) -> Column:
    return Column(read_bytes([str(value).encode() for value in values]), "extension<arrow.uuid>")


def _make_integers(values: list[Any]) -> Column:
    kinds = set(map(type, values))
    dtype = np.dtype(kinds.pop() if len(kinds) == 1 and int not in kinds else np.int64)
    try:
        return Column(np.array(values, dtype), str(dtype))
    except OverflowError:
        raise OverflowError("Python int too large to convert to C long") from None


def _make_doubles(values: list[Any]) -> Column:
    kinds = set(map(type, values))
    dtype = np.dtype(kinds.pop() if len(kinds) == 1 and float not in kinds else float)
    return Column(np.array(values, dtype), _FLOATS.get(dtype.itemsize, "double"))


_FLOATS = {2: "halffloat", 4: "float", 8: "double"}  # by bytes


def _make_decimals(values: list[Any]) -> Column:
    whole = scale = 0
    for value in map(Decimal, values):
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            raise ValueError(f"a decimal number is finite; got {value}")
        scale = max(scale, -exponent)
        whole = max(whole, len(digits) + exponent)
    precision = whole + scale
    return Column(
        _hold_objects(values), f"decimal{128 if precision <= 38 else 256}({precision}, {scale})"
    )


def _make_lists(values: list[Any]) -> Column:
    entries = make_column(list(chain.from_iterable(values)))
    ends, plain = ragged.make_offsets(list(map(len, values))).tolist(), entries.to_pylist()
    cells = [plain[start:stop] for start, stop in pairwise(ends)]
    return Column(_hold_objects(cells), f"list<item: {entries.type}>")


def _make_structs(values: list[Any]) -> Column:
    names = dict.fromkeys(chain.from_iterable(values))
    types = (make_column([value.get(name) for value in values]).type for name in names)
    fields = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
    return Column(_hold_objects(values), f"struct<{fields}>")


_MAKERS: dict[str, Callable[[list[Any]], Column]] = {
    "bool": lambda values: Column(np.array(values, bool), "bool"),
    "int64": _make_integers,
    "double": _make_doubles,
    "string": _make_texts,
    "binary": _make_bytes,
    "decimal": _make_decimals,
    "list": _make_lists,
    "struct": _make_structs,
    "extension<arrow.uuid>": _make_uuids,
}


def _hold_objects(values: Sequence[Any]) -> Array:
    return np.fromiter(values, object, len(values))


# --- Columns of pandas ----------------------------------------------------------------------------


def make_record(columns: Mapping[str, Sequence[Any]], rows: int) -> Record:
    """Make columns of Python values, which have one type in each. Raises as ``make_column``."""
    return Record({name: make_column(values) for name, values in columns.items()}, rows)


def read_pandas(frame: Any) -> Record:
    """Read a frame of pandas, column by column. Raises TypeError or ValueError for other values."""
    return Record({name: read_series(frame[name]) for name in frame.columns}, len(frame))


def read_series(series: Any) -> Column:
    """Read a column of pandas."""
    dtype = series.dtype
    name = str(dtype)
    if name.startswith("Sparse["):
        raise TypeError(f"Sparse pandas data (column {series.name}) not supported.")
    if isinstance(dtype, np.dtype):
        return _read_array(series.to_numpy(), dtype)
    if name == "category":
        return _read_categories(series)
    absent = series.isna().to_numpy(bool)
    absent = absent if absent.any() else None
    if name.lower() in _MASKED:
        plain = np.dtype(_MASKED[name.lower()])
        values = series.to_numpy(plain, na_value=plain.type(0))
        return Column(values, _FLOATS[plain.itemsize] if plain.kind == "f" else plain.name, absent)
    if name.startswith("period["):
        values = read_bytes([str(period).encode() for period in series])
        return Column(values, "extension<pandas.period<ArrowPeriodType>>", absent)
    if name.startswith("interval["):
        values = _hold_objects(list(series))
        return Column(values, "extension<pandas.interval<ArrowIntervalType>>", absent)
    if name.startswith("datetime64["):
        kind = f"timestamp[{name[len('datetime64[') : -1].replace(', ', ', tz=')}]"
        return Column(_hold_objects(list(series)), kind, absent)
    column = make_column(series.to_numpy(object), nan_is_missing=True)
    if column.type == "string" and (name == "str" or dtype.storage == "pyarrow"):
        return Column(column.values, "large_string", column.absent)  # as pandas hands it to Arrow
    return column


_MASKED = {
    "boolean": "bool",
    "float32": "float32",
    "float64": "float64",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def _read_array(values: Array, dtype: np.dtype[Any]) -> Column:
    """Read an array; NaN in it, and no time, are no values."""
    if not dtype.isnative:
        raise TypeError("Byte-swapped arrays not supported")
    match dtype.kind:
        case "O":
            return make_column(values.tolist(), nan_is_missing=True)
        case "b" | "i" | "u":
            return Column(values, dtype.name)
        case "f" if dtype.itemsize in _FLOATS:
            absent = np.isnan(values)
            return Column(values, _FLOATS[dtype.itemsize], absent if absent.any() else None)
        case "M" | "m":
            unit = np.datetime_data(dtype)[0]
            kind = "timestamp" if dtype.kind == "M" else "duration"
            absent = np.isnat(values)
            return Column(values, f"{kind}[{unit}]", absent if absent.any() else None)
    raise TypeError(f"Unsupported numpy type {dtype.num}")


def _read_categories(series: Any) -> Column:
    codes = series.cat.codes.to_numpy()
    entries = read_series(series.cat.categories.to_series())
    kind = f"dictionary<values={entries.type}, indices={codes.dtype}, ordered="
    kind += f"{int(series.cat.ordered)}>"
    absent = codes < 0
    if not len(entries):
        return Column(np.full(len(codes), None, object), kind, absent)
    rows = np.maximum(codes, 0)
    values = entries.take(rows).values
    if isinstance(entries.values, Text):
        values = Categories(rows, entries.values)
    return Column(values, kind, absent if absent.any() else None)


_ENTRIES = re.compile(r"dictionary<values=([^,]*)")


def name_entry_type(kind: str) -> str:
    """Name the type of the values of a column, which those of categories share."""
    match = _ENTRIES.match(kind)
    return match[1] if match else kind
