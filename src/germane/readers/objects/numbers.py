"""Converts Python numbers and arrays to NumPy's. Nothing else is taken for a number."""

from __future__ import annotations

import math
import re
import struct
import sys
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from germane.core.ragged import FEW, Bools, Floats, Ints
from germane.errors import (
    FormatError,
    GradeError,
    InputError,
    ScoreError,
    clip,
    explain_not_finite,
    show_typed,
)

if TYPE_CHECKING:
    from germane.readers.inputs import Faults

EXACT = 2.0**53
DIGITS = 100  # Python may refuse to make an integer of more
"""Doubles hold every whole number up to this size."""
PLAIN = re.compile(rb"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?")
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
    short = packed.tolist() if len(packed) <= FEW else ()
    if short and math.isfinite(sum(short)):
        within = largest is None or (-largest <= min(short) and max(short) <= largest)
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


def count_rounded(exact: Sequence[Any], scores: Floats) -> int:
    """Count the scores that become equal to another as doubles."""
    if not len(exact) or (np.abs(scores).max() < EXACT and not may_round(exact)):
        return 0
    return len(set(exact)) - len(set(scores.tolist()))


_ABSENT = {"score": "retrieved", "relevance grade": "judged"}


def check_finite(
    raw: Any,
    where: str,
    noun: str = "score",
    rows: Ints | None = None,
    mend: str = "numpy.ma.masked_invalid(scores) leaves them out",
) -> None:
    """Refuse NaN and infinity in an array, but for cells that are masked.

    ``where`` names the array, ``rows`` numbers its rows, and ``mend`` says how such cells are left
    out. Raises ScoreError or GradeError.
    """
    faulty = _find_odd(raw)
    if faulty is not None:
        cell = tuple(np.argwhere(faulty)[0].tolist())
        row = cell[0] if rows is None else rows[cell[0]]
        raise _explain_odd(raw, cell, row, where, noun, mend)


def mask_faults(raw: Any, where: str, faults: Faults) -> Any:
    """Mask the scores that ``check_finite`` refuses, and note them as faults."""
    faulty = _find_odd(raw)
    if faulty is None:
        return raw
    mend = "numpy.ma.masked_invalid(scores) leaves them out"
    for cell in map(tuple, np.argwhere(faulty).tolist()):
        faults.add(str(_explain_odd(raw, cell, cell[0], where, "score", mend)))
    return np.ma.masked_array(np.ma.getdata(raw), np.ma.getmaskarray(raw) | faulty)


def _find_odd(raw: Any) -> Bools | None:
    """Mark the cells that are neither finite nor masked; None if there are none."""
    if raw.dtype.kind != "f":
        return None
    finite: Bools = np.isfinite(np.ma.getdata(raw))
    if np.ma.is_masked(raw):
        finite |= np.ma.getmaskarray(raw)
    return None if finite.all() else ~finite


def _explain_odd(
    raw: Any, cell: tuple[int, ...], row: int, where: str, noun: str, mend: str
) -> InputError:
    place = f"item {row}" if len(cell) == 1 else f"row {row}, column {cell[1]}"
    error = ScoreError if noun == "score" else GradeError
    wrong = explain_not_finite(noun, f"got {raw[cell]}")
    return error(
        f"{where}, {place}: {wrong}. If this marks items that are not {_ABSENT[noun]}, {mend}."
    )


def check_range(
    values: Floats,
    locate: Callable[[int], str],
    noun: str = "relevance grade",
    error: type[InputError] = GradeError,
) -> None:
    """Refuse a number that is not finite, or a grade too large to be exact."""
    largest = EXACT if noun == "relevance grade" else sys.float_info.max
    if not len(values) or -largest <= values.min() <= values.max() <= largest:
        return
    place = int(np.flatnonzero(~(np.abs(values) <= largest))[0])
    within = " in the range ±2^53" if math.isfinite(values[place]) else ""
    raise error(
        f"{locate(place)}: {explain_not_finite(noun, f'got {values[place]}', within=within)}"
    )


def is_array(raw: object) -> bool:
    """Is this an array: NumPy's, or of a library that speaks DLPack or ``__array__``?"""
    speaks = hasattr(raw, "__dlpack__") or hasattr(raw, "__array__")
    if not speaks or hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "columns"):  # a frame
        return False
    return hasattr(raw, "shape") and not isinstance(raw, np.generic) and not has_fields(raw)


def has_fields(raw: Any) -> bool:
    """Is this a structured array, whose rows have named fields?"""
    return isinstance(raw, np.ndarray) and raw.ndim == 1 and raw.dtype.names is not None


def advise_flat(raw: Any) -> str:
    """Advice for flat numbers, which may be those of one query."""
    if not isinstance(raw, (list, tuple)) and len(raw.shape) != 1:
        return ""
    if str(getattr(raw, "dtype", "")) == "object":
        return (
            " Pass rows of different lengths as flat arrays: numpy.concatenate(rows), with"
            " group=[len(row) for row in rows]."
        )
    return (
        " Flat numbers need group=…, which is a group for each of them or the sizes of groups;"
        f" group=[{len(raw)}] takes them as the list of one query. Ids of items belong to a query:"
        " {'q1': [item, …]}."
    )


def refuse_classes(qrels: Any, run: Any) -> None:
    """Refuse one class for each row of scores (N, C), as classifiers have them."""
    shape = tuple(getattr(run, "shape", ()))
    if len(shape) != 2 or not is_floating(run) or len(getattr(qrels, "shape", (0,))) != 1:
        return
    if not (hasattr(qrels, "shape") or isinstance(qrels, (list, tuple))) or len(qrels) != shape[0]:
        return
    classes = np.asarray(qrels)
    if classes.ndim != 1 or classes.dtype.kind not in "biufUTO":
        return
    if classes.dtype.kind == "O" and not all(isinstance(label, str) for label in classes):
        return
    rows, columns = shape
    listed = "the classes in the order of the columns"
    if classes.dtype.kind in "biu" and 0 <= classes.min() <= classes.max() < columns:
        listed = f"numpy.arange({columns})"
    elif len(np.unique(classes)) == columns:
        listed = "numpy.unique(qrels)"
    binary = ""
    if columns == 2:
        binary = (
            " To rank the rows by the second class, pass numpy.asarray(qrels) =="
            f" {np.unique(classes)[-1].item()!r}, scores[:, 1] and group=[{rows}]."
        )
    raise FormatError(
        f"the qrels have one value for each row of the scores {shape}: is it the class of the row?"
        f" Then give a mark for each column, numpy.asarray(qrels)[:, None] == {listed}.{binary}"
    )


def is_nested(raw: object) -> bool:
    """Is this a nested tensor of torch's, which has no shape since its rows differ in length?"""
    return getattr(raw, "is_nested", False) is True


def refuse_nested(raw: object, noun: str) -> NoReturn:
    """Raise FormatError for a nested tensor."""
    raise FormatError(
        f"{noun}: a nested tensor cannot be read as an array of numbers, since its rows differ"
        " in length. Give both sides flat: torch.cat(tensor.unbind()), with group=[len(row)"
        " for row in tensor.unbind()]"
    )


def is_dataset(raw: object) -> bool:
    """Is this a data set of the library ``datasets``? A module of the user may have that name."""
    kind = getattr(sys.modules.get("datasets"), "Dataset", None)
    return isinstance(kind, type) and isinstance(raw, kind)


def is_whole(raw: object) -> bool:
    """Is this an array of whole numbers, which are ids?"""
    kind = getattr(raw, "dtype", "")
    if isinstance(kind, np.dtype):  # whose name depends on the order of bytes
        return kind.kind in "iu" and is_array(raw)
    name = str(kind).rpartition(".")[2]  # torch.int64
    return name.startswith(("int", "uint")) and is_array(raw)


def is_text_array(raw: object) -> bool:
    """Is this a two-dimensional array of text, ids of the best K items?"""
    if len(getattr(raw, "shape", ())) != 2:
        return False
    kind = getattr(getattr(raw, "dtype", None), "kind", "")
    are_objects = kind == "O" and is_array(raw) and isinstance(next(iter(raw.flat), None), str)  # type: ignore[attr-defined]
    return are_objects or kind in ("U", "T")


def is_pair(raw: object) -> bool:
    """Is this a pair of arrays (Q, K), scores and ids in either order, as of a search?"""
    if not isinstance(raw, (tuple, list)) or len(raw) != 2:
        return False
    return all(is_array(array) and len(array.shape) == 2 for array in raw)


def is_floating(raw: object) -> bool:
    """Is this an array or a column of floating-point numbers, which are no ids?"""
    if type(raw) is list:
        return False
    kind = str(getattr(raw, "dtype", "")).rpartition(".")[2].lower()
    return kind.startswith(("float", "bfloat", "double"))


def is_sparse(raw: object) -> bool:
    """Is this a sparse matrix, as of scipy.sparse or CuPy?"""
    if hasattr(raw, "tocsr"):
        return True
    return all(hasattr(raw, name) for name in ("indptr", "indices", "data", "shape"))


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


def to_numpy(raw: Any, noun: str) -> Any:
    """Convert an array of any library to NumPy's, without a copy unless it is on a device.

    bfloat16, which NumPy does not have, becomes float32; no value changes. Raises FormatError for
    anything that does not hold numbers.
    """
    array = raw
    if isinstance(raw, (list, tuple)):
        try:
            array = np.asarray(raw)
        except ValueError:  # rows of different lengths
            raise FormatError(f"{noun}: an array of numbers is needed; got {clip(raw)}") from None
    elif not (hasattr(raw, "__array__") or hasattr(raw, "__dlpack__")):
        raise FormatError(f"{noun}: an array of numbers is needed; got {clip(raw)}")
    elif not isinstance(raw, np.ndarray):
        try:
            array = _bring_to_host(raw)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:  # of its library
            why = str(error).partition("\n")[0]
            raise FormatError(
                f"{noun}: {clip(getattr(raw, 'dtype', raw))} cannot be read as an array of"
                f" numbers ({why})"
            ) from error
    if isinstance(array, np.matrix):  # whose rows are matrices again
        array = np.asarray(array)
    if str(array.dtype) == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "biuf":
        raise FormatError(f"{noun}: an array of numbers is needed; got {array.dtype}, {clip(raw)}")
    return array
