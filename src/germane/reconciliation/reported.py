"""Reported: a number as somebody wrote it, which is known to half of its last decimal.

Reported values may also come query by query: then some definition gives most of them, and the others
are off.
"""

import math
import os
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    InputError,
    clip,
    suggest,
)
from germane.measures import compute_values
from germane.output.formatting import to_json_number
from germane.reconciliation.search import Given, Search

_WRITTEN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_ROUNDING = 1e-12  # sums in another order differ by less


@dataclass(frozen=True)
class Reported:
    """A number as it was written: everything within half a unit of its last decimal rounds to it.

    >>> from germane.reconciliation.reported import read_reported
    >>> [read_reported(one).tolerance for one in ("0.62", "0.620", "62%")]
    [0.005, 0.0005, 0.005]
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
        """The number read as a percentage."""
        return read_reported(self.text + "%")

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
        return f"{self.text} (±{format_plain(self.tolerance)})"


def format_plain(number: float) -> str:
    """A number without an exponent, unless it is very small or large."""
    return f"{Decimal(repr(number)):f}" if 1e-9 < abs(number) < 1e9 else f"{number:g}"


def read_reported(given: Any, where: str = "reported") -> Reported:
    """A number from text, or from a number as Python writes it.

    Raises InputError for what is not a finite number.
    """
    text = given.strip() if isinstance(given, str) else str(given)
    number, percent, _ = text.partition("%")
    number = number.rstrip() if percent else number
    if isinstance(given, bool) or not _WRITTEN.fullmatch(number) or _:
        raise _explain_not_a_number(given, where)
    written = Decimal(number).scaleb(-2 if percent else 0)
    value, tolerance = float(written), _halve_unit(-int(written.as_tuple().exponent))
    if not isfinite(value + tolerance):
        raise _explain_not_a_number(given, where)
    return Reported(text, value, tolerance)


def _explain_not_a_number(given: Any, where: str) -> InputError:
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
        found = {
            query: read_reported(number, f"query {clip(query)}") for query, number in given.items()
        }
    elif isinstance(given, (str, os.PathLike)):
        found, mean = _read_lines(os.fspath(given))
    else:
        raise InputError(
            f"reported_per_query is {{query: value}} or the path of a file; got {clip(given)}"
        )
    if not found:
        raise EmptyError("reported_per_query holds no query.")
    return ReportedQueries(_align_precision(found), mean)


def _align_precision(numbers: Mapping[Hashable, Reported]) -> dict[Hashable, Reported]:
    """Numbers as precise as one way of writing makes them: 0.5 beside 0.8333 is 0.5000.

    Some write so many decimals and leave zeros off, others so many significant digits: of 0.8333
    and 0.08333 nothing more is known. The less precise of the two is what is taken.
    """
    decimals = max(one.decimals for one in numbers.values())
    significant = max(one.decimals + _count_leading(one.value) for one in numbers.values())
    return {
        query: replace(
            one,
            tolerance=min(
                one.tolerance, _halve_unit(min(decimals, significant - _count_leading(one.value)))
            ),
        )
        for query, one in numbers.items()
    }


def _count_leading(value: float) -> int:
    """The digits before the point, less the zeros that follow it: 0 for 0.83, -1 for 0.083."""
    return Decimal(repr(value)).adjusted() + 1 if value else 0


def _halve_unit(decimals: int) -> float:
    """Half a unit of the last of so many decimals."""
    return float(Decimal((0, (5,), -decimals - 1)))


def _read_lines(path: str) -> tuple[dict[Hashable, Reported], Reported | None]:
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
            mean = read_reported(number, where)
            continue
        if query in found:
            raise DuplicateError(f"{where}: query {clip(query)} has a value already.")
        found[query] = read_reported(number, where)
    return found, mean


DECIMALS = (1, 2, 3, 4)  # with which terms are written down on the way


@dataclass(frozen=True)
class Off:
    """A query whose reported value is not what the definition gives."""

    query: Hashable
    reported: Reported
    value: float
    """what the definition gives; NaN where it leaves the query out"""
    moves: float
    """by how much the mean would be otherwise with the right value"""
    says: str = ""
    """what else is known: the excess in the sum of terms, or a slip that explains it"""

    @property
    def difference(self) -> float:
        """Reported minus right."""
        return self.reported.value - self.value


@dataclass(frozen=True)
class Agreement:
    """How far one definition gives what was reported query by query."""

    given: Given
    of: int
    """the queries reported"""
    off: tuple[Off, ...]
    """those of them that are off, the largest difference first"""
    without: tuple[Hashable, ...] = ()
    """queries that the definition averages and that were not reported"""

    @property
    def agree(self) -> int:
        """The number of queries that are as reported."""
        return self.of - len(self.off)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; NaN becomes None."""
        return {
            "reported": self.of,
            "agree": self.agree,
            "not_reported": list(map(str, self.without)),
            "off": [
                {
                    "query": str(one.query),
                    "reported": one.reported.text,
                    "value": to_json_number(one.value),
                    "off_by": to_json_number(one.difference),
                    "moves_mean_by": to_json_number(one.moves),
                    "says": one.says,
                }
                for one in self.off
            ],
        }


def match_names(
    reported: Mapping[Hashable, Reported], queries: Iterable[Hashable]
) -> dict[Hashable, Reported]:
    """The reported values by the data's own ids: in a file, an id is text.

    Raises CoverageError for a query that is not in the data.
    """
    ids = {str(query): query for query in queries}
    for query in reported:
        if str(query) not in ids:
            near = suggest(str(query), ids)
            raise CoverageError(
                f"reported for query {clip(query)}, which is not in the data.{near}"
            )
    return {ids[str(query)]: number for query, number in reported.items()}


def choose_best(
    search: Search, tried: Iterable[Given], reported: Mapping[Hashable, Reported], mean: Reported
) -> Given:
    """The definition that gives most of the queries; whatever it has otherwise than asked must
    explain a query more."""

    def merit(given: Given) -> tuple[int, bool, float]:
        agree = count_agreeing(search, given, reported)
        near = -abs(given.value - mean.value)
        return agree - given.candidate.distance(search.asked), mean.gives(given.value), near

    return max(tried, key=merit)


def count_agreeing(search: Search, given: Given, reported: Mapping[Hashable, Reported]) -> int:
    """The number of queries of which a definition gives what was reported."""
    result = search.result(given.candidate)
    values = {} if result is None else result.per_query
    return sum(one.gives(values.get(query, math.nan)) for query, one in reported.items())


def measure_agreement(
    search: Search, given: Given, reported: Mapping[Hashable, Reported]
) -> Agreement:
    """Which queries a definition does not give, and what they do to the mean."""
    result = search.result(given.candidate)
    averaged = {} if result is None else result.per_query
    terms = Terms(search, given)
    off = []
    for query, number in reported.items():
        value = averaged.get(query, math.nan)
        if not number.gives(value):
            moves = (number.value - value) / len(averaged)
            off.append(Off(query, number, value, moves, terms.slip(query, number)))
    off.sort(key=_order_differences)
    without = tuple(query for query in averaged if query not in reported)
    return Agreement(given, len(reported), tuple(off), without)


def _order_differences(off: Off) -> float:
    return -math.inf if math.isnan(off.value) else -abs(off.difference)


class Terms:
    """The terms behind a definition's values, to see what was done to them by hand."""

    def __init__(self, search: Search, given: Given) -> None:
        self._ranking, self._scored = search.scored(given.candidate)
        self._place = {query: q for q, query in enumerate(self._ranking.queries)}
        self._total = self._ranking.sum_hits(self._scored.terms) + self._scored.rest
        self._rounded = {decimals: self.rounded(decimals) for decimals in DECIMALS}

    def rounded(self, decimals: int) -> Floats:
        """Q: the values if every term is rounded before they are added."""
        terms = np.round(self._scored.terms, decimals)
        return compute_values(self._ranking, replace(self._scored, terms=terms))

    def slip(self, query: Hashable, number: Reported) -> str:
        """The reason for a query's value, or else how much its sum of terms is off."""
        q = self._place.get(query)
        if q is None:
            return "left out"
        for decimals, written in self._rounded.items():
            if number.gives(float(written[q])):
                return f"every term rounded to {decimals} decimal{'s' * (decimals > 1)}"
        norm = float(self._scored.norm[q])
        if self._scored.link is not None or norm in (0.0, 1.0):
            return ""
        return (
            f"terms add up to {self._total[q]:.4g}; for {number.text}, to {number.value * norm:.4g}"
        )
