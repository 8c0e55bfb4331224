"""Converts Python numbers and arrays to NumPy's. Nothing else is taken for a number."""

import math
import re
import struct
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from germane.core.ragged import FEW, Floats, Ints
from germane.errors import (
    FormatError,
    GradeError,
    InputError,
    ScoreError,
    clip,
    explain_not_finite,
    show_typed,
)

EXACT = 2.0**53
"""Doubles hold every whole number up to this size."""
PLAIN = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
"""A number as files have it; Python's own numbers may have underscores."""


def read_doubles(values: Collection[Any], largest: float | None = None) -> Floats | None:
    """Convert to doubles; None if one of the values is not a finite number, or is too large.

    ``struct`` refuses what ``float()`` and NumPy would convert ('1.5', None), and is the fastest
    way from Python floats to an array.
    """
    try:
        packed = np.frombuffer(struct.pack(f"{len(values)}d", *values))
    except (struct.error, TypeError, ValueError, OverflowError):
        return None
    few = packed.tolist() if len(packed) <= FEW else ()
    if few and math.isfinite(sum(few)):
        within = largest is None or (-largest <= min(few) and max(few) <= largest)
    else:
        small = np.abs(packed) <= (largest or sys.float_info.max)
        within = np.count_nonzero(small) == len(packed)
    return packed if within else None


def is_finite_number(value: Any) -> bool:
    """Is this a finite number, and not a value of another kind that only converts to one?"""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    dimensions = getattr(value, "ndim", 0)  # NumPy before 2 takes the only number out of an array
    if isinstance(value, (complex, np.void)) or kind in _OTHER_KINDS or dimensions:
        return False
    return read_doubles((value,)) is not None


def show_number(value: Any) -> str:
    """Write a value that is not a finite number, for an error message."""
    try:
        large = not isinstance(value, (str, bytes)) and value == value and abs(value) != math.inf
        return show_typed(value) + ", which is beyond the range of a double" * (
            large and _does_overflow(value)
        )
    except (TypeError, ValueError, ArithmeticError):
        return show_typed(value)


def _does_overflow(value: Any) -> bool:
    try:
        return math.isinf(float(value))
    except OverflowError:
        return True


_OTHER_KINDS = tuple("cSUmM")  # NumPy's complex numbers, text and times
ORDINARY = frozenset({int, float, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
"""Types of which every value is a number."""

_FINER = frozenset({"Decimal", "Fraction", "longdouble", "float128"})  # importing them takes time


def may_round(scores: Collection[Any]) -> bool:
    """Is any of these of a type whose numbers may have more digits than doubles?"""
    return any(kind.__name__ in _FINER for kind in set(map(type, scores)))


def count_rounded(given: Sequence[Any], scores: Floats) -> int:
    """Count the scores that become equal to another as doubles."""
    if not len(given) or (np.abs(scores).max() < EXACT and not may_round(given)):
        return 0
    return len(set(given)) - len(set(scores.tolist()))


def check_finite(given: Any, where: str, what: str = "score", rows: Ints | None = None) -> None:
    """Refuse NaN and infinity in an array, but for cells that are masked.

    ``where`` names the array, and ``rows`` numbers its rows. Raises ScoreError or GradeError.
    """
    if given.dtype.kind != "f":
        return
    finite = np.isfinite(np.ma.getdata(given))
    if np.ma.is_masked(given):
        finite |= np.ma.getmaskarray(given)
    if finite.all():
        return
    at = tuple(np.argwhere(~finite)[0].tolist())
    row = at[0] if rows is None else rows[at[0]]
    place = f"item {row}" if len(at) == 1 else f"row {row}, column {at[1]}"
    error = ScoreError if what == "score" else GradeError
    raise error(f"{where}, {place}: {explain_not_finite(what, f'got {given[at]}')}")


def check_range(
    values: Floats,
    locate: Callable[[int], str],
    what: str = "relevance grade",
    error: type[InputError] = GradeError,
) -> None:
    """Refuse a number that is not finite, or a grade too large to be exact."""
    largest = EXACT if what == "relevance grade" else sys.float_info.max
    if not len(values) or -largest <= values.min() <= values.max() <= largest:
        return
    at = int(np.flatnonzero(~(np.abs(values) <= largest))[0])
    within = " in the range ±2^53" if math.isfinite(values[at]) else ""
    raise error(f"{locate(at)}: {explain_not_finite(what, f'got {values[at]}', within=within)}")


def is_array(given: object) -> bool:
    """Is this an array: NumPy's, or of a library that speaks DLPack or ``__array__``?"""
    speaks = hasattr(given, "__dlpack__") or hasattr(given, "__array__")
    if not speaks or hasattr(given, "__arrow_c_stream__") or hasattr(given, "columns"):  # a frame
        return False
    return hasattr(given, "shape") and not isinstance(given, np.generic)


def refuse_nested(given: object, what: str) -> None:
    """Refuse a nested tensor of torch's, which has no shape since its rows differ in length."""
    if getattr(given, "is_nested", False) is True:
        raise FormatError(
            f"{what}: a nested tensor cannot be read as an array of numbers, since its rows differ"
            " in length. Give both sides flat: torch.cat(tensor.unbind()), with group=[len(row)"
            " for row in tensor.unbind()]"
        )


def is_dataset(given: object) -> bool:
    """Is this a data set of the library ``datasets``? A module of the user may have that name."""
    kind = getattr(sys.modules.get("datasets"), "Dataset", None)
    return isinstance(kind, type) and isinstance(given, kind)


def is_whole(given: object) -> bool:
    """Is this an array of whole numbers, which are ids?"""
    kind = getattr(given, "dtype", "")
    if isinstance(kind, np.dtype):  # whose name depends on the order of bytes
        return kind.kind in "iu" and is_array(given)
    name = str(kind).rpartition(".")[2]  # torch.int64
    return name.startswith(("int", "uint")) and is_array(given)


def is_text_array(given: object) -> bool:
    """Is this a two-dimensional array of text, ids of the best K items?"""
    if len(getattr(given, "shape", ())) != 2:
        return False
    kind = getattr(getattr(given, "dtype", None), "kind", "")
    held = kind == "O" and is_array(given) and isinstance(next(iter(given.flat), None), str)  # type: ignore[attr-defined]
    return held or kind in ("U", "T")


def is_pair(given: object) -> bool:
    """Is this a pair of arrays (Q, K), scores and ids in either order, as of a search?"""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        return False
    return all(is_array(one) and len(one.shape) == 2 for one in given)


def is_floating(given: object) -> bool:
    """Is this an array or a column of floating-point numbers, which are no ids?"""
    if type(given) is list:
        return False
    kind = str(getattr(given, "dtype", "")).rpartition(".")[2].lower()
    return kind.startswith(("float", "bfloat", "double"))


def is_sparse(given: object) -> bool:
    """Is this a sparse matrix, as of scipy.sparse or CuPy?"""
    if hasattr(given, "tocsr"):
        return True
    return all(hasattr(given, name) for name in ("indptr", "indices", "data", "shape"))


def _bring_to_host(array: Any) -> Any:
    """Copy an array of another library from the device where it is."""
    for step in ("detach", "cpu"):  # torch
        if hasattr(array, step):
            array = getattr(array, step)()
    if hasattr(array, "__cuda_array_interface__") and hasattr(array, "get"):  # CuPy
        array = array.get()
    if str(getattr(array, "dtype", "")).endswith("bfloat16") and hasattr(array, "float"):
        array = array.float()
    return np.asarray(array) if hasattr(array, "__array__") else np.from_dlpack(array)


def to_numpy(given: Any, what: str) -> Any:
    """Convert an array of any library to NumPy's, without a copy unless it is on a device.

    bfloat16, which NumPy does not have, becomes float32; no value changes. Raises FormatError for
    anything that does not hold numbers.
    """
    array = given
    if isinstance(given, (list, tuple)):
        try:
            array = np.asarray(given)
        except ValueError:  # rows of different lengths
            raise FormatError(f"{what}: an array of numbers is needed; got {clip(given)}") from None
    elif not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")):
        raise FormatError(f"{what}: an array of numbers is needed; got {clip(given)}")
    elif not isinstance(given, np.ndarray):
        try:
            array = _bring_to_host(given)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:  # of its library
            why = str(error).partition("\n")[0]
            raise FormatError(
                f"{what}: {clip(getattr(given, 'dtype', given))} cannot be read as an array of"
                f" numbers ({why})"
            ) from error
    if isinstance(array, np.matrix):  # whose rows are matrices again
        array = np.asarray(array)
    if str(array.dtype) == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "biuf":
        raise FormatError(
            f"{what}: an array of numbers is needed; got {array.dtype}, {clip(given)}"
        )
    return array
