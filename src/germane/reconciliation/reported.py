"""Reported numbers: read from text or files, with the precision of their last decimal."""

import os
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from math import isfinite
from typing import Any

from germane.core.id_spelling import unwrap_keys
from germane.errors import DuplicateError, EmptyError, FormatError, InputError, clip
from germane.readers.files.streams import explain_os_error

_WRITTEN = re.compile(r"[+-]?([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]{1,3})?")
_ROUNDING = 1e-12  # sums in another order differ by less


@dataclass(frozen=True)
class Reported:
    """A number as it was written: it stands for all values within half a unit of its last decimal.

    >>> from germane.reconciliation.reported import read_reported
    >>> [read_reported(one).tolerance for one in ("0.62", "0.620", "62%")]
    [0.005, 0.0005, 0.005]
    """

    text: str
    value: float
    tolerance: float

    def gives(self, value: float) -> bool:
        """Does this value round to the number?"""
        return abs(value - self.value) <= self.tolerance + _ROUNDING * max(1.0, abs(self.value))

    def can_be_cut_from(self, value: float) -> bool:
        """Does this value give the number if further decimals are left off instead of rounded?"""
        beyond = abs(value) - abs(self.value)
        return value * self.value >= 0 and -_ROUNDING <= beyond < 2 * self.tolerance

    def contradicts(self, number: "Reported") -> bool:
        """Is there no value that both stand for?"""
        slack = self.tolerance + number.tolerance
        return abs(self.value - number.value) > slack + _ROUNDING * max(1.0, abs(self.value))

    @property
    def decimals(self) -> int:
        """The number of written decimals; below 0 where the number ends before the point."""
        return -Decimal(repr(self.tolerance)).adjusted() - 1

    @property
    def digits(self) -> int:
        """The decimals to show of values beside it: two more than it has, from 4 to 15."""
        return min(max(4, self.decimals + 2), 15)

    def __str__(self) -> str:
        return f"{self.text} (±{format_plain(self.tolerance)})"


def format_plain(number: float) -> str:
    """Write a number without an exponent, unless it is very small or large."""
    return f"{Decimal(repr(number)):f}" if 1e-9 < abs(number) < 1e9 else f"{number:g}"


_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Whatever the caller has set for decimal numbers, these are not rounded."""


def read_reported(raw: Any, where: str = "reported") -> Reported:
    """Read a number from text, or from a number as Python writes it.

    Raises InputError for anything but a finite number.
    """
    text = str(raw).strip()
    number, percent, rest = text.partition("%")
    number = number.rstrip() if percent else number
    if not isinstance(raw, bool) and _WRITTEN.fullmatch(number) and not rest:
        written = _EXACT.scaleb(Decimal(number), -2 if percent else 0)
        value, tolerance = float(written), _halve_unit(-int(written.as_tuple().exponent))
        if isfinite(value + tolerance):
            return Reported(text, value, tolerance)
    hint, point = "", text.replace(",", ".", 1)
    if isinstance(raw, str) and "," in text and _WRITTEN.fullmatch(point):
        hint = f" Did you mean {point!r}?"
    raise InputError(f"{where} takes a number such as 0.62 or 62%; got {clip(raw)}.{hint}")


@dataclass(frozen=True)
class ReportedQueries:
    """The numbers of queries, and their mean, if the file has it."""

    values: Mapping[Hashable, Reported]
    mean: Reported | None = None


def read_queries(raw: Any) -> ReportedQueries:
    """Read the number of each query, from a mapping or from a file of lines ``query value``.

    A file may also hold the lines ``measure query value`` that trec_eval -q prints of one measure,
    with the mean as query ``all``. All numbers are taken as written with the same number of
    decimals, or of significant digits. Raises InputError with the query, or with file and line.
    """
    mean = None
    if isinstance(raw, Mapping):
        numbers = {
            query: read_reported(number, f"query {clip(query)}")
            for query, number in unwrap_keys(raw, "reported_per_query").items()
        }
    elif isinstance(raw, (str, os.PathLike)):
        numbers, mean = _read_lines(os.fspath(raw))
    else:
        raise InputError(
            f"reported_per_query is {{query: value}} or the path of a file; got {clip(raw)}"
        )
    if not numbers:
        raise EmptyError("reported_per_query holds no query.")
    return ReportedQueries(align_precision(numbers), mean)


def align_precision(numbers: Mapping[Hashable, Reported]) -> dict[Hashable, Reported]:
    """Give all numbers the precision of the most precise one: 0.5 beside 0.8333 is 0.5000.

    Zeros at the end may have been left off. The numbers may have the same number of decimals, or,
    as 0.8333 and 0.08333, of significant digits. This takes the less precise of the two.
    """
    decimals = max(number.decimals for number in numbers.values())
    leading = {query: _count_leading(number.value) for query, number in numbers.items()}
    significant = max(number.decimals + leading[query] for query, number in numbers.items())
    aligned = {}
    for query, number in numbers.items():
        half = _halve_unit(min(decimals, significant - leading[query]))
        aligned[query] = replace(number, tolerance=min(number.tolerance, half))
    return aligned


def _count_leading(value: float) -> int:
    """Count the digits before the point, less the zeros after it: 0 for 0.83, -1 for 0.083."""
    return Decimal(repr(value)).adjusted() + 1 if value else 0


def _halve_unit(decimals: int) -> float:
    """Return half a unit of the last of so many decimals."""
    return float(Decimal((0, (5,), -decimals - 1)))


def _read_lines(path: str) -> tuple[dict[Hashable, Reported], Reported | None]:
    with explain_os_error(path), open(path, encoding="utf-8", errors="surrogateescape") as lines:
        rows = [(place, line.split()) for place, line in enumerate(lines, 1)]
    numbers: dict[Hashable, Reported] = {}
    measure = mean = None
    for line_number, fields in rows:
        if not fields or fields[0].startswith("#"):
            continue
        where = f"{path}:{line_number}"
        if len(fields) not in (2, 3):
            raise FormatError(
                f"{where}: {len(fields)} fields where a line has 2 (query value) or, as trec_eval "
                f"prints, 3 (measure query value): {clip(' '.join(fields))}"
            )
        *before, query, number = fields
        if before and measure not in (None, before[0]):
            raise FormatError(
                f"{where}: this line has {before[0]}, and the lines above "
                f"have {measure}; keep the lines of one measure."
            )
        measure = before[0] if before else measure
        if before and query == "all":
            mean = read_reported(number, where)
            continue
        if query in numbers:
            raise DuplicateError(f"{where}: query {clip(query)} has a value already.")
        numbers[query] = read_reported(number, where)
    return numbers, mean
