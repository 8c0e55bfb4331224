"""Ragged arrays, a row for each query; and numbers that are equal but for rounding."""

import math
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from germane.output.attributes import AttributeAdvice

# What an array holds; the element type proper is left open, since NumPy's stubs differ in it.
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[Any]
    Floats: TypeAlias = NDArray[Any]
    Bools: TypeAlias = NDArray[Any]
else:  # numpy.typing takes longer to import than germane
    Ints = Floats = Bools = np.ndarray


FEW = 64  # below so many values, a loop in Python is faster than NumPy


def make_offsets(lengths: Any) -> Ints:
    """Turn row lengths into offsets."""
    out = np.zeros(len(lengths) + 1, np.int64)
    np.add.accumulate(lengths, out=out[1:])
    return out


def find_owners(offsets: Ints) -> Ints:
    """Find the row that each value belongs to."""
    if len(offsets) == 2:
        return np.zeros(offsets[1], np.int64)
    return repeat_owners(find_lengths(offsets))


def repeat_owners(lengths: Any) -> Ints:
    """Number the row of each value, for rows of these lengths."""
    if len(lengths) == 1:
        return np.zeros(lengths[0], np.int64)
    return np.repeat(np.arange(len(lengths)), lengths)


def find_lengths(offsets: Ints) -> Ints:
    """Turn offsets into row lengths."""
    return offsets[1:] - offsets[:-1]


def list_stretches(starts: Ints, lengths: Ints) -> Ints:
    """List the positions in some stretches, one stretch after the other."""
    ends = make_offsets(lengths)
    numbers: Ints = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return numbers


def as_slice(numbers: Ints) -> slice | Ints:
    """Turn consecutive positions into a slice, which needs no copy; return others as they are."""
    if (
        len(numbers)
        and numbers[-1] - numbers[0] == len(numbers) - 1
        and (np.diff(numbers) == 1).all()
    ):
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


def take_lasts(offsets: Ints) -> Ints:
    """Find the position of the last value of every row but the last one; rows may be empty."""
    ends: Ints = offsets[1:-1]
    inner: Ints = ends[(ends > 0) & (ends < offsets[-1])] - 1
    return inner


def are_finite(values: Floats) -> bool:
    """Are all values finite? NumPy may warn where squares overflow on the way."""
    if len(values) < _THREADS and math.isfinite(values.dot(values)):
        return True
    return bool(np.isfinite(values).all())


_THREADS = 10_000  # values from which on linear algebra may start threads


def is_one(values: Floats) -> bool:
    """Is this a broadcast constant, one value in memory for all?"""
    return len(values) > 0 and not any(values.strides)


def select(values: Floats, rows: Ints) -> Floats:
    """Select values by position; a broadcast constant stays one."""
    return np.broadcast_to(values[0], len(rows)) if is_one(values) else values[rows]


def descends(values: Floats, offsets: Ints) -> bool:
    """Is no value above the one before it in its row?"""
    rising = values[1:] > values[:-1]
    rising[take_lasts(offsets)] = False
    return not rising.any()


def list_distinct(values: Ints) -> Ints:
    """List the different values, ascending. np.unique would import numpy.ma, which takes long."""
    ascending = np.sort(values)
    is_first = np.ones(len(ascending), bool)
    is_first[1:] = ascending[1:] != ascending[:-1]
    distinct: Ints = ascending[is_first]
    return distinct


def sum_rows(values: Any, owner: Ints, rows: int) -> Floats:
    """Sum each row from the left; an empty row's sum is 0."""
    return np.bincount(owner, weights=values, minlength=rows)


def count_flags(flags: Bools, owner: Ints, rows: int) -> Ints:
    """Count the flags that are set in each row."""
    return np.bincount(owner[flags], minlength=rows)


def count_running(flags: Bools, offsets: Ints, owner: Ints) -> Ints:
    """Count the flags that are set in the row up to each place, that place included."""
    total: Ints
    if len(offsets) == 2:
        total = np.add.accumulate(flags.astype(np.int64))
        return total
    upto = np.arange(len(flags) + 1) if flags.all() else count_before(flags)
    before = upto[offsets[:-1]]
    total = upto[1:]
    total -= before.take(owner)
    return total


def count_before(flags: Bools) -> Ints:
    """Count the flags that are set before each place, and in all."""
    return make_offsets(flags.astype(np.int64))  # Booleans would be cast one by one


def accumulate_product(values: Floats, offsets: Ints) -> Floats:
    """Multiply the values of each row up to each place, that place included.

    Rows are padded to a common length among rows of similar length, so that the padding at most
    doubles the memory.
    """
    return _scan(np.multiply, values, offsets)


def accumulate_sum(values: Floats, offsets: Ints) -> Floats:
    """Add the floats of each row up to each place, that place included."""
    return _scan(np.add, values, offsets)


def accumulate_maximum(values: Floats, offsets: Ints) -> Floats:
    """Find the maximum of each row up to each place, of values that are at least 0."""
    return _scan(np.maximum, values, offsets)


def _scan(ufunc: np.ufunc, values: Floats, offsets: Ints) -> Floats:
    return _apply_to_rows(
        lambda rows: ufunc.accumulate(rows, axis=1), values, offsets, values.dtype
    )


def _apply_to_rows(function: Callable[[Any], Ints], values: Any, offsets: Ints, dtype: Any) -> Ints:
    """Apply a function to each row, in matrices of rows of similar length that NaN fills up."""
    size = find_lengths(offsets)
    if len(values) and (size == size[0]).all():
        return function(values.reshape(len(size), -1)).ravel()
    out = np.empty(len(values), dtype)
    powers = np.frexp(size.astype(float))[1]  # rows of 2**(p-1) to 2**p - 1 values
    for power in list_distinct(powers[size > 0]).tolist():
        rows = np.flatnonzero(powers == power)
        column = np.arange(size[rows].max())
        inside = column < size[rows, None]
        places = (offsets[rows, None] + column)[inside]
        padded = np.full(inside.shape, np.nan)
        padded[inside] = values[places]
        out[places] = function(padded)[inside]
    return out


def sort_descending(values: Floats, offsets: Ints) -> Floats:
    """Sort each row from its largest value to its smallest."""
    if len(offsets) == 2:
        ascending = values.copy()
        ascending.sort()
        return ascending[::-1]
    if is_one(values):
        return values
    if len(values) and (values == values[0]).all():
        return np.broadcast_to(values[0], len(values))
    if descends(values, offsets):
        return values
    # NumPy sorts short rows by vector instructions, and values much faster than positions
    return -_apply_to_rows(lambda rows: np.sort(rows, axis=1), -values, offsets, float)


def order_falling(values: Floats, offsets: Ints) -> Ints:
    """List the positions of values by row, from each row's largest; equal ones in any order."""
    place = _apply_to_rows(lambda rows: np.argsort(rows, axis=1), -values, offsets, np.int64)
    place += np.repeat(offsets[:-1], find_lengths(offsets))
    return place


def order_stably(owner: Ints) -> Ints:
    """List the positions of the values by their owner, a number below 2**32, in a stable order."""
    # sorting numbers that hold owner and position is several times faster than a stable argsort
    packed = owner.astype(np.uint64)
    packed <<= np.uint64(32)
    packed |= np.arange(len(owner), dtype=np.uint64)
    packed.sort()
    packed &= np.uint64(0xFFFFFFFF)
    return packed.view(np.int64)


def ascends(values: Ints, owner: Ints) -> bool:
    """Do the rows stand in their order, and the values within each in ascending order?"""
    same = owner[1:] == owner[:-1]
    same &= values[1:] >= values[:-1]
    same |= owner[1:] > owner[:-1]
    return bool(same.all())


def order_ascending(values: Ints, owner: Ints, rows: int) -> Ints:
    """List the positions of the values, row by row, from each row's smallest to its largest.

    Whole numbers are below 2**32, and sorted as one number with their row.
    """
    if rows == 1:
        return values.argsort(kind="stable")
    if values.dtype.kind == "i":
        return np.argsort((owner << 32) + values, kind="stable")
    return np.lexsort((values, owner))


# --- Rounding: numbers that differ by no more than floating point does, and those that tie --------

ROUNDING = 1e-12  # relative; sums of thousands of terms are nearer than this to their exact value
CANCELED = 2.0**-46  # of the terms of a sum that is nearly 0


def subtract_values(values: Floats, subtrahends: Floats) -> Floats:
    """… × Q: subtract values query by query; what differs by rounding alone becomes equal.

    A difference is 0 if both values are equal but for rounding, and differences of one size have
    exactly the same one, in either direction.
    """
    return unite_equal(values - subtrahends, np.maximum(np.abs(values), np.abs(subtrahends)))


def unite_equal(values: Floats, scales: Floats | None = None) -> Floats:
    """… × Q: replace values whose sizes differ by rounding alone by the smallest of them, or by 0.

    ``scales`` are the sizes of the numbers from which each value was computed, whose rounding it
    has; by default they are those of the values. A value that is NaN equals no other.
    """
    scales = np.abs(values) if scales is None else scales
    united = np.empty(values.shape)
    for place in np.ndindex(values.shape[:-1]):
        united[place] = _unite_row(values[place], scales[place])
    return united


def _unite_row(values: Floats, scales: Floats) -> Floats:
    # A value that is nearly 0 may be a sum of terms that are not, as Utility's. Its rounding is
    # that of the terms, which are hardly larger than the largest value.
    scales = np.where(np.isfinite(scales), scales, 0.0)
    slack = np.maximum(ROUNDING * scales, CANCELED * scales.max(initial=0.0))
    sizes = np.abs(values)
    sizes[sizes <= slack] = 0.0
    order = np.argsort(sizes, kind="stable")
    ascending, slack = sizes[order], slack[order]
    near = np.zeros(len(values), bool)
    near[1:] = np.diff(ascending) <= np.maximum(slack[1:], slack[:-1])
    near[1:] &= (ascending[1:] == 0) | (ascending[:-1] > 0)
    first = np.maximum.accumulate(np.where(near, 0, np.arange(len(values))))
    united = np.empty(len(values))
    united[order] = ascending[first]
    return np.copysign(united, values) + 0.0  # no -0.0


def drop_rounding(values: Floats, scale: "Floats | float") -> Floats:
    """Replace results of a subtraction by 0 if they are the rounding of numbers of this size."""
    return np.where(np.abs(values) <= ROUNDING * scale, 0.0, values)


def reaches(value: float, least: float, scale: float = 0.0) -> bool:
    """Say whether a number is at least as large as another, or equal but for rounding.

    ``scale`` is the size of the numbers that they were computed from, if these are larger.
    """
    return value >= least - ROUNDING * max(abs(value), abs(least), scale)


# --- Arithmetic and comparisons of values that stand for a number ---------------------------------

Halves: TypeAlias = Literal["up", "even"]
"""Where a half is rounded to."""


def average_numbers(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN where there are none."""
    numbers = [value for value in values if value == value]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def _apply(operate: Callable[[Any, Any], Any], *, reflected: bool = False) -> Callable[..., Any]:
    def compute(self: Any, other: Any) -> Any:
        mine, second = float(self), float(other) if isinstance(other, Arithmetic) else other
        return operate(second, mine) if reflected else operate(mine, second)

    return compute


class Arithmetic(AttributeAdvice):
    """Computes and compares with the ``float()`` of a value. Results are plain numbers."""

    def __float__(self) -> float:
        raise NotImplementedError

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __hash__(self) -> int:
        return hash(float(self))

    __eq__ = _apply(operator.eq)
    __lt__, __le__ = _apply(operator.lt), _apply(operator.le)
    __gt__, __ge__ = _apply(operator.gt), _apply(operator.ge)
    __add__, __radd__ = _apply(operator.add), _apply(operator.add, reflected=True)
    __sub__, __rsub__ = _apply(operator.sub), _apply(operator.sub, reflected=True)
    __mul__, __rmul__ = _apply(operator.mul), _apply(operator.mul, reflected=True)
    __truediv__, __rtruediv__ = (_apply(operator.truediv), _apply(operator.truediv, reflected=True))
