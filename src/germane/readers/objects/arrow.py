"""Reads Arrow arrays as columns of ids or numbers, and rows as tables. Errors name the place."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.errors import (
    FormatError,
    GradeError,
    InputError,
    ScoreError,
    clip,
    explain_not_finite,
    has_arrow,
    require_arrow,
    show_typed,
    write_option,
)
from germane.kernel.ids import (
    Categories,
    Ids,
    Integers,
    Text,
    is_missing,
    number_ids,
    read_arrow_text,
    read_bytes,
)
from germane.readers.objects import headings, numbers
from germane.readers.objects.records import (
    Column,
    Record,
    join_records,
    make_column,
    name_entry_type,
    read_series,
)

if TYPE_CHECKING:
    import pyarrow as pa


class Entries:
    """Keeps the entries of the last list of categories, which many arrays share or copy."""

    def __init__(self, distinct: bool = False) -> None:
        self._distinct = distinct  # are those of each list known to differ?
        self._last: tuple[pa.Array, Ids, bool] | None = None

    def find(self, array: pa.Array, read: Callable[[], Ids]) -> tuple[Ids, bool]:
        """Find the entries of a list, and say if all of them differ."""
        last = self._last  # read once, since another thread may replace it
        if last is None or not _is_same(array, last[0]):
            entries = read()
            distinct = self._distinct or len(number_ids(entries)[1]) == len(entries)
            # holding the array keeps its memory from being used again at the same address
            last = self._last = array, entries, distinct
        return last[1:]


def _is_same(array: pa.Array, second: pa.Array) -> bool:
    """Are these the same values? Parquet's reader copies the entries for each array."""
    return _list_addresses(array) == _list_addresses(second) or bool(array.equals(second))


def _list_addresses(array: pa.Array) -> tuple[object, ...]:
    buffers = (buffer.address if buffer else None for buffer in array.buffers())
    return len(array), array.offset, *buffers


@dataclass(frozen=True)
class Place:
    """The place of an array, for errors."""

    source: str  # the run, the qrels or a file
    column: str
    row: int = 0  # of its first value
    entries: Entries = field(default_factory=Entries)
    parts: Sequence[tuple[int, str]] = ()  # of several files: the first row of each, and its name

    def __str__(self) -> str:
        return f"{self.source}, column {self.column!r}"

    def at(self, row: int) -> str:
        """The place of one of its values."""
        row += self.row
        start, source = max((p for p in self.parts if p[0] <= row), default=(0, self.source))
        return f"{source}, column {self.column!r}, row {row - start}"


def read_ids(array: pa.Array | Column, place: Place) -> Ids:
    """Read integers, text, categories or UUIDs as ids. Raises FormatError for others and nulls."""
    _check_nulls(array, place, FormatError, "an id")
    kind = array.type
    if isinstance(array, Column):
        if isinstance(array.values, Ids):
            return array.values
        if array.values.dtype.kind not in "iu":
            raise _explain_no_ids(place, name_entry_type(kind))
        return _name_integers(array.values)
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return read_arrow_text(_read_uuids(array.storage))
        if kind.extension_name == "pandas.period":  # whose numbers count from 1970
            return read_bytes([str(period).encode() for period in array.to_pandas()])
        return read_ids(array.storage, place)
    types = pa.types
    if types.is_integer(kind):
        return _name_integers(_read_fixed(array, _find_dtype(kind)))
    if types.is_dictionary(kind):
        return _read_categories(array, place)
    if str(kind) in _TEXT or types.is_fixed_size_binary(kind):
        return read_arrow_text(array)
    raise _explain_no_ids(place, str(kind))


def _name_integers(values: Ints) -> Integers:
    return Integers(values if values.dtype == np.uint64 else values.astype(np.int64, copy=False))


def _explain_no_ids(place: Place, kind: str) -> FormatError:
    advice = "Cast it to one of them."
    if kind in _FLOATS:
        advice = "Integers become floats where a value is missing; cast the column to int64."
    if "list" in kind:
        advice = "frame.explode(columns) makes a row for each entry of its lists."
    return FormatError(f"{place}: ids are integers or text; the column is {kind}. {advice}")


_TEXT = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}


def _read_categories(array: pa.DictionaryArray, place: Place) -> Ids:
    _check_entries(_read_codes(array), len(array.dictionary), place)
    if array.dictionary.null_count:
        array = _drop_nulls(array, place)
    codes = _read_codes(array)
    entries, distinct = place.entries.find(
        array.dictionary, lambda: read_ids(array.dictionary, place)
    )
    if not isinstance(entries, Text) or not distinct:
        return entries.take(codes)
    return Categories(codes, entries)


def _read_codes(array: pa.DictionaryArray) -> Ints:
    """Read the place of each row's entry in the list."""
    index = _find_dtype(array.type.index_type)
    if index == np.uint64:  # which NumPy does not take for places
        index = np.dtype(np.int64)
    return _read_fixed(array.indices, index)


def _check_entries(codes: Ints, size: int, place: Place) -> None:
    """Refuse codes beyond the list, which Arrow's reader makes of a list with an entry twice."""
    unsigned = codes.view(f"u{codes.itemsize}")  # in which negative codes are large
    if len(codes) and unsigned.max() >= size:
        row = int(unsigned.argmax())
        raise FormatError(
            f"{place.at(row)}: the id is entry {codes[row]} of a dictionary of {size}, which is"
            " damaged or has an entry twice."
        )


def _drop_nulls(array: pa.DictionaryArray, place: Place) -> pa.DictionaryArray:
    """Drop the entries that are null from an array of categories; no row may have one."""
    import pyarrow as pa

    entries = array.dictionary.to_pylist()
    absent = np.array([entry is None for entry in entries])
    codes = _read_codes(array)
    if absent[codes].any():
        raise FormatError(_explain_missing(int(absent[codes].argmax()), place, "an id"))
    present = pa.array([entry for entry in entries if entry is not None], array.dictionary.type)
    return pa.DictionaryArray.from_arrays(pa.array((np.cumsum(~absent) - 1)[codes]), present)


def count_bytes(record: Any) -> int:
    """Count the bytes of a record."""
    try:
        return record.nbytes  # type: ignore[no-any-return]
    except TypeError:  # pyarrow 18 does not know which bytes of a buffer belong to views
        return record.get_total_buffer_size()  # type: ignore[no-any-return]


_FLOATS = {"halffloat": "f2", "float": "f4", "double": "f8"}


def _find_dtype(kind: pa.DataType) -> Any:
    """Find NumPy's type for numbers without pandas, which older versions of Arrow need."""
    name = str(kind)
    return np.dtype(_FLOATS.get(name, name))


def _read_fixed(array: pa.Array, dtype: Any) -> Ints:
    """View the values of an array of numbers."""
    data = array.buffers()[1]
    if data is None:
        return np.zeros(0, dtype)
    return np.frombuffer(data, dtype)[array.offset : array.offset + len(array)]


_HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), "S2")


def _read_uuids(array: pa.FixedSizeBinaryArray) -> pa.BinaryArray:
    """Write UUIDs as text: 8-4-4-4-12 hexadecimal digits."""
    import pyarrow as pa

    raw = np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, 16)
    raw = raw[array.offset : array.offset + len(array)]
    digits = np.ascontiguousarray(_HEX[raw]).view(np.uint8).reshape(-1, 32)
    text = np.insert(digits, [8, 12, 16, 20], ord("-"), axis=1)
    offsets = np.arange(len(raw) + 1, dtype=np.int32) * 36
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text))]
    return pa.Array.from_buffers(pa.binary(), len(raw), buffers)


# --- Record batches ---------------------------------------------------------------------------


def join_short(records: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Join short records to records of at least so many rows, since each record takes time."""
    pending: list[pa.RecordBatch] = []
    count = 0
    for record in records:
        pending.append(record)
        count += record.num_rows
        if count >= rows:
            yield from combine(pending)
            pending, count = [], 0
    yield from combine(pending)


def combine(records: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Combine records to one, or to a few if their texts are too long for one."""
    filled = [record for record in records if record.num_rows]
    if filled and isinstance(filled[0], Record):
        return [join_records(filled)]
    import pyarrow as pa

    if len(filled) < 2 or any(map(pa.types.is_dictionary, filled[0].schema.types)):
        return filled  # unifying the lists of categories would compare all their entries
    return pa.Table.from_batches(filled).combine_chunks().to_batches()  # type: ignore[no-any-return]


def decode_record(record: Any, names: Sequence[str]) -> Any:
    """Replace categories by their values."""
    if isinstance(record, Record):
        return record  # whose categories can be joined
    import pyarrow as pa

    return pa.record_batch(list(map(decode, record.columns)), names)


def decode(array: pa.Array) -> pa.Array:
    """Replace categories by their values; anything else stays as it is."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return array
    entries = array.dictionary
    if str(entries.type) in ("string_view", "binary_view"):  # which Arrow cannot decode
        wide = pa.large_binary() if entries.type == pa.binary_view() else pa.large_string()
        array = pa.DictionaryArray.from_arrays(array.indices, entries.cast(wide))
    return array.dictionary_decode()


# --- Numbers ----------------------------------------------------------------------------------


def _is_number(cells: Sequence[Any]) -> bool:
    try:
        return bool(np.isfinite(float(cells[0])))
    except (ValueError, TypeError, IndexError):
        return False


def read_numbers(array: pa.Array | Column, place: Place, noun: str) -> Floats:
    """Read scores or grades as doubles, and ranks as they are. Raises an error for other values."""
    error = GradeError if noun == "relevance grade" else ScoreError
    _check_nulls(array, place, error, f"a {noun}")
    kind = str(array.type)
    if not is_numeric(kind):
        cells = array.slice(0, 1).to_pylist() if kind in ("string", "large_string") else []
        sample = "".join(f", such as {clip(cell)}" for cell in cells)
        advice = ""
        castable = _is_number(cells) or kind.startswith("dictionary")
        if castable and place.source in ("run", "qrels"):
            advice = f" Cast it to {'int64' if noun == 'rank' else 'float64'}."
        raise error(
            f"{place}: {explain_not_finite(noun, f'the column is {kind}{sample}')}.{advice}"
        )
    values = array.list_numbers() if isinstance(array, Column) else _read_arrow_numbers(array)
    if noun == "rank" and values.dtype.kind in "iu":
        _check_positive(values, place)
        return values
    values = values.astype(float, copy=False)
    if noun == "relevance grade" or not np.isfinite(values.sum()):
        numbers.check_range(values, place.at, noun, error)
    if noun == "rank":
        _check_whole(values, place)
        _check_positive(values, place)
    return values


_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def is_numeric(kind: str) -> bool:
    """Is this a type of numbers or of truth values?"""
    return kind == "bool" or kind in _FLOATS or kind in _INTEGERS or kind.startswith("decimal")


def is_whole_type(kind: str) -> bool:
    """Is this a type of integers?"""
    return kind in _INTEGERS


def list_doubles(array: pa.Array | Column) -> Floats:
    """List the numbers of a column as doubles, in which NaN stands for none."""
    if str(array.type).startswith("decimal") and not isinstance(array, Column):
        array = array.cast("double")
    numbers: Floats = array.to_numpy(zero_copy_only=False).astype(float)
    return numbers


def _read_arrow_numbers(array: pa.Array) -> Floats | Ints:
    import pyarrow as pa

    if str(array.type) == "bool":
        array = array.cast(pa.uint8())
    elif str(array.type).startswith("decimal"):
        array = array.cast(pa.float64())
    return _read_fixed(array, _find_dtype(array.type))


def _check_whole(ranks: Floats, place: Place) -> None:
    """Refuse ranks that are not whole: they may be scores, of which the highest is the best."""
    places = np.flatnonzero(ranks != np.floor(ranks))
    if len(places):
        raise ScoreError(
            f"{place.at(int(places[0]))}: a rank is a whole number; got {ranks[places[0]]}. A"
            " column of scores is called score, or named by"
            f" {write_option('columns', {'score': 'name', 'rank': None})}."
        )


def _check_positive(ranks: Floats | Ints, place: Place) -> None:
    """Refuse ranks below 0: they may be scores, of which the highest is the best."""
    places = np.flatnonzero(ranks < 0)
    if len(places):
        raise ScoreError(
            f"{place.at(int(places[0]))}: a rank is 0 or more, and the lowest is the best; got"
            f" {ranks[places[0]]:g}. If higher is better, the column has scores:"
            f" {write_option('columns', {'score': place.column, 'rank': None})}."
        )


def _check_nulls(
    array: pa.Array | Column, place: Place, error: type[InputError], noun: str
) -> None:
    if array.null_count:
        if isinstance(array, Column):
            raise error(_explain_missing(array.find_null(), place, noun))
        raise error(_explain_missing(array.is_null().to_pylist().index(True), place, noun))


def _explain_missing(row: int, place: Place, noun: str) -> str:
    advice = " Leave out the rows of pairs that were not judged." if "grade" in noun else ""
    return f"{place.at(row)}: {noun} is missing (null, or NaN in pandas).{advice}"


def tabulate_records(rows: Sequence[Any], kind: str, names: Any = None) -> pa.Table | Record:
    """Make a table of namedtuples of one type, such as ``Qrel`` and ``ScoredDoc`` of ir_datasets.

    Their fields are the columns. Raises FormatError for a row of another type.
    """
    first = rows[0]
    if len(set(map(type, rows))) > 1:
        position, wrong = next(
            (place, row) for place, row in enumerate(rows) if type(row) is not type(first)
        )
        raise FormatError(
            f"{kind}, row {position}: all rows must be of one type, {type(first).__name__}; got"
            f" {clip(wrong)}"
        )
    columns = headings.Headings.resolve(first._fields, kind, kind, names)
    values = dict(zip(first._fields, zip(*rows, strict=True), strict=True))
    try:
        if not has_arrow():
            return Record({name: make_column(values[name]) for name in columns.all}, len(rows))
        import pyarrow as pa

        return pa.table({name: pa.array(values[name]) for name in columns.all})
    except list_reading_errors() as error:
        raise explain_unreadable(rows, kind, error) from None


def explain_unreadable(raw: Any, kind: str, error: Exception) -> FormatError:
    """Make the error for a frame that could not be read. It names the column that is wrong."""
    for name in raw if isinstance(raw, Mapping) else getattr(raw, "columns", ()):
        if str(getattr(raw[name], "dtype", "")).startswith("Sparse["):
            return FormatError(
                f"{kind}, column {name!r} is sparse ({raw[name].dtype}), which PyArrow does not"
                f" read. Make it dense: frame[{name!r}] = frame[{name!r}].sparse.to_dense()"
            )
        try:
            _read_series(raw[name])
        except list_reading_errors() as why:
            dtype = getattr(raw[name], "dtype", "object")
            return FormatError(f"{kind}, column {name!r}{_find_odd(list(raw[name]), dtype, why)}")
    if "non-struct" in str(error):
        return _explain_column(raw, kind)
    if "format string" in str(error):
        text = (
            "a column is of a type that PyArrow does not read, such as an integer of 128 bits;"
            " cast it"
        )
        return FormatError(f"{kind}: {text} ({error}).")
    return FormatError(f"{kind}: cannot be read as columns: {', '.join(map(str, error.args))}")


def advise_index(raw: Any) -> str:
    """Advise to make columns of an index that has names; nothing where it has none."""
    names = [name for name in getattr(raw.index, "names", ()) if name is not None]
    if not names:
        return ""
    return f" reset_index() makes columns of the index: {', '.join(map(repr, map(str, names)))}."


def _explain_column(raw: object, where: str) -> FormatError:
    """Explain that a column alone is not a frame."""
    advice = ""
    if getattr(getattr(raw, "index", None), "nlevels", 1) > 1:
        advice = f".{advise_index(raw)}"
    elif hasattr(raw, "to_dict"):
        advice = ". If its index has the queries and its cells are lists of items, give to_dict()"
    return FormatError(
        f"{where}: a frame has columns for query and item, and this is one column; got"
        f" {clip(raw)}{advice}"
    )


def check_readable(raw: object, where: str) -> None:
    """Raise InputError for a frame that only Arrow can read, where that is missing."""
    pandas = sys.modules.get("pandas")
    if isinstance(raw, (Mapping, Record)) or (
        pandas is not None and isinstance(raw, pandas.DataFrame)
    ):
        return
    if pandas is not None and isinstance(raw, pandas.Series) and not has_arrow():
        raise _explain_column(raw, where)
    module = type(raw).__module__.partition(".")[0]
    require_arrow(f"{where}: a {type(raw).__name__} of {module}")


def list_reading_errors() -> tuple[type[Exception], ...]:
    """List the errors of values that do not fit into a column."""
    if not has_arrow():
        return TypeError, ValueError, OverflowError
    import pyarrow as pa

    return TypeError, ValueError, OverflowError, pa.ArrowException


def _read_series(series: Any) -> object:
    if isinstance(series, (list, tuple)):
        return make_column(series)
    if not has_arrow():
        return read_series(series)
    import pyarrow as pa

    return pa.array(series, from_pandas=True)


def _find_odd(values: list[Any], dtype: Any, why: Exception) -> str:
    types = Counter(type(value) for value in values if not is_missing(value))
    first = next((value for value in values if not is_missing(value)), None)
    if isinstance(first, (list, tuple)) and first and isinstance(first[0], tuple):
        return (
            f": the cells hold pairs, such as {clip(first)}; give {{query: dict(cell) for query,"
            " cell in zip(queries, cells)}."
        )
    if len(types) < 2:
        return f" of type {dtype} cannot be read: {why}"
    usual = types.most_common(1)[0][0]
    row = next(i for i, v in enumerate(values) if type(v) is not usual and not is_missing(v))
    return (
        f", row {row}: the values of a column must have one type; got {show_typed(values[row])}"
        f" among values of type {usual.__name__}."
    )
