"""Reported: a number as somebody wrote it, which is known to half of its last decimal."""

import os
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite
from typing import Any

from germane.errors import DuplicateError, EmptyError, FormatError, InputError, clip

_WRITTEN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_ROUNDING = 1e-12  # sums in another order differ by less


@dataclass(frozen=True)
class Reported:
    """A number as it was written: everything within half a unit of its last decimal rounds to it.

    >>> from germane.reconciliation.reported import read
    >>> read("0.62").tolerance, read("0.620").tolerance, read("62%").value
    (0.005, 0.0005, 0.62)
    """

    text: str
    value: float
    tolerance: float

    def gives(self, value: float) -> bool:
        """Can this value have been written so?"""
        return abs(value - self.value) <= self.tolerance + _ROUNDING * max(1.0, abs(self.value))

    def cuts(self, value: float) -> bool:
        """Can this value have been written so by one who leaves decimals off instead of rounding?"""
        beyond = abs(value) - abs(self.value)
        return value * self.value >= 0 and -_ROUNDING <= beyond < 2 * self.tolerance

    def in_percent(self) -> "Reported":
        """What it is if the number is a percentage."""
        return read(self.text + "%")

    def contradicts(self, other: "Reported") -> bool:
        """Is there no value that both can stand for?"""
        slack = self.tolerance + other.tolerance
        return abs(self.value - other.value) > slack + _ROUNDING * max(1.0, abs(self.value))

    @property
    def decimals(self) -> int:
        """The decimals it is written with; below 0 where it ends before the point."""
        return -Decimal(repr(self.tolerance)).adjusted() - 1

    @property
    def digits(self) -> int:
        """The decimals with which values beside it are shown: two more than it has, at least 4."""
        written = 0
        while written < 15 and self.tolerance < 0.4 * 10.0**-written:
            written += 1
        return min(max(4, written + 2), 15)

    def __str__(self) -> str:
        return f"{self.text} (±{plain(self.tolerance)})"


def plain(number: float) -> str:
    """A number without an exponent, unless it is very small or large."""
    return f"{Decimal(repr(number)):f}" if 1e-9 < abs(number) < 1e9 else f"{number:g}"


def read(given: Any, where: str = "reported") -> Reported:
    """A number from text, or from a number as Python writes it.

    Raises InputError for what is not a finite number.
    """
    text = given.strip() if isinstance(given, str) else str(given)
    number, percent, _ = text.partition("%")
    number = number.rstrip() if percent else number
    if isinstance(given, bool) or not _WRITTEN.fullmatch(number) or _:
        raise _not_a_number(given, where)
    written = Decimal(number).scaleb(-2 if percent else 0)
    value, tolerance = float(written), _half(-int(written.as_tuple().exponent))
    if not isfinite(value + tolerance):
        raise _not_a_number(given, where)
    return Reported(text, value, tolerance)


def _not_a_number(given: Any, where: str) -> InputError:
    comma = (
        isinstance(given, str)
        and "," in given
        and _WRITTEN.fullmatch(given.strip().replace(",", ".", 1))
    )
    near = f" Did you mean {given.strip().replace(',', '.', 1)!r}?" if comma else ""
    return InputError(f"{where} takes a number such as 0.62 or 62%; got {clip(given)}.{near}")


@dataclass(frozen=True)
class ReportedQueries:
    """The numbers of queries, and the mean that stands with them, if one does."""

    values: Mapping[Hashable, Reported]
    mean: Reported | None = None


def read_queries(given: Any) -> ReportedQueries:
    """Each query's number, from a mapping or from a file of lines ``query value``.

    A file may also be what trec_eval -q prints, ``measure query value`` of one measure, whose mean
    is query ``all``. The numbers are written alike: each is as precise as the most precise, by
    decimals or by significant digits. Raises InputError with the query, or with file and line.
    """
    mean = None
    if isinstance(given, Mapping):
        found = {query: read(number, f"query {clip(query)}") for query, number in given.items()}
    elif isinstance(given, (str, os.PathLike)):
        found, mean = _lines(os.fspath(given))
    else:
        raise InputError(
            f"reported_per_query is {{query: value}} or the path of a file; got {clip(given)}"
        )
    if not found:
        raise EmptyError("reported_per_query holds no query.")
    return ReportedQueries(_written_alike(found), mean)


def _written_alike(numbers: Mapping[Hashable, Reported]) -> dict[Hashable, Reported]:
    """The same as precise as one way of writing makes them: 0.5 beside 0.8333 is 0.5000.

    Some write so many decimals and leave zeros off, others so many significant digits: of 0.8333
    and 0.08333 nothing more is known. The less precise of the two is what is taken.
    """
    decimals = max(one.decimals for one in numbers.values())
    significant = max(one.decimals + _leading(one.value) for one in numbers.values())
    return {
        query: replace(
            one,
            tolerance=min(one.tolerance, _half(min(decimals, significant - _leading(one.value)))),
        )
        for query, one in numbers.items()
    }


def _leading(value: float) -> int:
    """The digits before the point, less the zeros that follow it: 0 for 0.83, -1 for 0.083."""
    return Decimal(repr(value)).adjusted() + 1 if value else 0


def _half(decimals: int) -> float:
    """Half a unit of the last of so many decimals."""
    return float(Decimal((0, (5,), -decimals - 1)))


def _lines(path: str) -> tuple[dict[Hashable, Reported], Reported | None]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as lines:
            rows = [(at, line.split()) for at, line in enumerate(lines, 1)]
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    found: dict[Hashable, Reported] = {}
    measure = mean = None
    for at, fields in rows:
        if not fields or fields[0].startswith("#"):
            continue
        where = f"{path}:{at}"
        if len(fields) not in (2, 3):
            raise FormatError(
                f"{where}: {len(fields)} fields where a line has 2 (query value) or, as trec_eval "
                f"prints, 3 (measure query value): {clip(' '.join(fields))}"
            )
        *before, query, number = fields
        if before and measure not in (None, before[0]):
            raise FormatError(
                f"{where}: {before[0]} stands below {measure}; keep the lines of one measure."
            )
        measure = before[0] if before else measure
        if before and query == "all":
            mean = read(number, where)
            continue
        if query in found:
            raise DuplicateError(f"{where}: query {clip(query)} has a value already.")
        found[query] = read(number, where)
    return found, mean
