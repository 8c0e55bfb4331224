"""Why a frame is none that Arrow reads: the column, and the value that is unlike the others."""

from __future__ import annotations

from collections import Counter
from typing import Any

from germane.errors import FormatError, clip, typed
from germane.kernel.ids import is_missing


def explained(given: Any, kind: str, error: Exception) -> FormatError:
    """The error that says so, for what was raised where the frame was read."""
    import pyarrow as pa

    for name in getattr(given, "columns", ()):
        if str(getattr(given[name], "dtype", "")).startswith("Sparse["):
            return FormatError(
                f"{kind}, column {name!r} is sparse ({given[name].dtype}), which PyArrow does not read. "
                f"Make it dense: frame[{name!r}] = frame[{name!r}].sparse.to_dense()"
            )
        try:
            pa.array(given[name], from_pandas=True)
        except (TypeError, ValueError, OverflowError, pa.ArrowException) as why:
            kept = getattr(given[name], "dtype", "object")
            return FormatError(f"{kind}, column {name!r}{_odd(list(given[name]), kept, why)}")
    if "non-struct" in str(error):
        return FormatError(
            f"{kind}: a frame has columns for query and item, and this is one column; got {clip(given)}"
        )
    if "format string" in str(error):
        says = "a column is of a type that PyArrow does not read, such as an integer of 128 bits; cast it"
        return FormatError(f"{kind}: {says} ({error}).")
    return FormatError(f"{kind}: cannot be read as columns: {', '.join(map(str, error.args))}")


def _odd(values: list[Any], kept: Any, why: Exception) -> str:
    types = Counter(type(value) for value in values if not is_missing(value))
    if len(types) < 2:
        return f" of type {kept} cannot be read: {why}"
    usual = types.most_common(1)[0][0]
    row = next(i for i, v in enumerate(values) if type(v) is not usual and not is_missing(v))
    return (
        f", row {row}: the values of a column have one type; got {typed(values[row])} among values "
        f"of type {usual.__name__}."
    )
