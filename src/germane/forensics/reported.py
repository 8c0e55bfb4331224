"""Reported numbers with the precision of their last decimal, and what names of columns mean."""

import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import cache
from math import isfinite
from typing import Any

from germane.core.id_spelling import unwrap_keys
from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import Dialect
from germane.dialects.names import parse
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GermaneError,
    InputError,
    MeasureError,
    clip,
)
from germane.evaluation.opening import open_options
from germane.measures.box_names import BoxName, Levels
from germane.measures.measure import Measure
from germane.readers.files.streams import explain_os_error

_WRITTEN = re.compile(r"[+-]?([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]{1,3})?")
_ROUNDING = 1e-12  # sums in another order differ by less


@dataclass(frozen=True)
class Reported:
    """A number as it was written: it stands for all values within half a unit of its last decimal.

    >>> from germane.forensics.reported import read_reported
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
        raise EmptyError("reported_per_query contains no query.")
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
                f"{where}: this line has {before[0]}, but the lines above have {measure}; keep"
                " only the lines of one measure."
            )
        measure = before[0] if before else measure
        if before and query == "all":
            mean = read_reported(number, where)
            continue
        if query in numbers:
            raise DuplicateError(f"{where}: query {clip(query)} already has a value.")
        numbers[query] = read_reported(number, where)
    return numbers, mean


# --- Names of columns in published tables, and the definitions that each may stand for ------------

GROUPS = " / "  # stands between the heading of several columns and the name of one

OF_QUERIES = (
    *("no_relevant", "no_hit", "missing", "empty", "unknown", "short", "constant", "all_relevant"),
    "undefined",
)
"""Conventions that change which queries count."""

OF_RESULTS = (
    *(
        "depth",
        "unjudged",
        "ties",
        "own",
        "min_score",
        "max_distance",
        "nonpositive",
        "relevant",
        "duplicates",
    ),
    "grades",
)
"""Conventions that change which results count, their order, or what they gain."""

_NO_VALUE = {"error", "error_if_all", "answer"}
"""Words under which there is no number, or the ordinary one."""


@dataclass(frozen=True)
class Reading:
    """A definition that a column may stand for: of a tool, or of germane without one."""

    measure: Measure
    choices: tuple[tuple[str, Any], ...] = ()
    tool: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the measure."""
        return dict(self.measure.parameters)

    @property
    def k(self) -> float:
        """The cutoff; infinity without one."""
        return float("inf") if self.measure.k is None else self.measure.k

    @property
    def counts_twice(self) -> bool:
        """Does an item that is listed twice count twice?"""
        return dict(self.choices).get("duplicates") == "recount"

    @property
    def most_rounded(self) -> float:
        """The most by which the tool's rounding changes the value of a query."""
        digits = dict(self.choices).get("query_digits")
        return 0.0 if digits is None else 0.5 * 10.0**-digits


@dataclass(frozen=True)
class Column:
    """A column of a published table: its name, its measure, and what it may stand for."""

    label: str
    kind: str  # the name of germane's measure, with its parameters if it is of boxes: "AP50"
    k: int | None = None
    plain: tuple[Reading, ...] = ()
    namesakes: tuple[Reading, ...] = ()  # measures of other families that tools call so
    of_boxes: bool = False
    group: str = ""  # the heading of several columns, as of a collection
    overlap: str = ""  # of boxes: what is matched, if the name says it
    measure: Measure | None = None

    @property
    def name(self) -> str:
        """The name without the heading of several columns."""
        return self.label.removeprefix(self.group + GROUPS)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All that the name may stand for, whoever wrote it."""
        return self.plain + self.namesakes

    def read_as(self, tool: Dialect, named: int) -> tuple[Reading, ...]:
        """Read the column as a tool's: its measure of that name, or its first one of that kind.

        ``named``: how many of two columns have the tool's names. If both have, the table is taken
        for the tool's. Otherwise it is somebody else's, and taken to count one set of queries; if
        none has, in one order, too.
        """
        if self.measure is None:
            return ()
        readings = _read_as(tool.name, self.name, self.measure)[:1]
        if named == 2:
            return readings
        left_out = OF_QUERIES if named else (*OF_QUERIES, *OF_RESULTS, "query_digits")
        return tuple(
            replace(reading, choices=_share_choices(tool, reading, left_out))
            for reading in readings
        )

    def is_named_by(self, tool: Dialect) -> bool:
        """Is the column's name one of the tool, or are the parameters of its measure written?"""
        return _is_name_of(tool.name, self.name) or (
            "(" in self.name and self.measure is not None and _has_measure(tool.name, self.measure)
        )


def read_columns(
    labels: tuple[str, ...],
    columns: Mapping[str, str] | None = None,
    dialect: str | None = None,
    *,
    exact: bool = False,
) -> list[Column | None]:
    """Read names of columns as measures; None for a name that is none.

    ``columns`` says which measure a name stands for. If ``dialect`` is given, its names come first.
    ``exact``: the names are germane's own, and leave nothing open. Raises MeasureError for a value
    of ``columns`` that is no measure.
    """
    tool = None if dialect is None else resolve_dialect(dialect)
    measure_names = dict(columns or {})
    boxes = any(_is_of_boxes(measure_names.get(label, label)) for label in labels)
    all_columns: list[Column | None] = []
    for label in labels:
        boxed = read_box_column(measure_names.get(label, label)) if boxes else None
        if boxed is not None:
            group = label.rpartition(GROUPS)[0]
            box_column = Column(
                label, str(boxed), of_boxes=True, group=group, overlap=boxed.overlap
            )
            all_columns.append(box_column)
            continue
        if boxes and label not in measure_names:
            all_columns.append(None)
            continue
        group, name = "", measure_names.get(label, label)
        reading = _find_reading(name, tool)
        if reading is None and label in measure_names:
            reading = Reading(parse(name))  # which says what is wrong with it
        if reading is None and GROUPS in label:
            group, _, name = label.rpartition(GROUPS)
            reading = _find_reading(name, tool)
        if reading is None:
            all_columns.append(None)
            continue
        column = _make_column(label, group, reading, tool, exact)
        if tool is None and not exact and label not in measure_names:
            column = replace(column, namesakes=tuple(_list_namesakes(name, reading.measure)))
        all_columns.append(column)
    return all_columns


def _make_column(
    label: str, group: str, reading: Reading, tool: Dialect | None, exact: bool
) -> Column:
    measure = reading.measure
    column = Column(label, measure.name, measure.k, measure=measure, group=group)
    if exact:
        plain: tuple[Reading, ...] = (reading,)
    elif tool is not None and "(" in column.name and not _is_name_of(tool.name, column.name):
        plain = (_read_exactly(tool, measure),)  # its parameters are written
    elif tool is not None:
        plain = _read_as(tool.name, column.name, measure) or (
            Reading(measure, _choose(tool.choices)),
        )
    else:
        plain = tuple(Reading(variant, reading.choices) for variant in _vary(measure))
    return replace(column, plain=plain)


def read_box_column(label: str) -> BoxName | None:
    """Read a detector's column as a measure, with what is matched if it says so; None for others.

    >>> from germane.forensics.reported import read_box_column
    >>> read_box_column("mAP@[.5:.95] (%)"), read_box_column("mask AP_S").overlap
    (AP, 'mask')
    """
    name = _read_box_name(label)
    is_usual = name is not None and name.iou == Levels.COCO
    return replace(name, iou=None) if name and is_usual else name


def _read_box_name(label: str) -> BoxName | None:
    try:
        return BoxName.read(_strip(label.rpartition(GROUPS)[2]))
    except MeasureError:
        return None


def _is_of_boxes(label: str) -> bool:
    """Is this a measure of detections, and not of ranked lists? MAP@50 may be either."""
    name = None if re.search(r"@\s*\d+$", _strip(label)) else _read_box_name(label)
    return name is not None and name.name in ("AP", "AR") and bool(name.iou or name.area)


def _strip(label: str) -> str:
    """Remove signs of percent and of what is better."""
    return re.sub(r"[(\[](?:%|in %|x100|mean|avg\.?)[)\]]|%|[↑↓]", "", label).strip()


def _find_reading(label: str, tool: Dialect | None) -> Reading | None:
    """Find the measure that a name of any tool or paper stands for."""
    if tool is not None:
        try:
            return Reading(open_options({"dialect": tool}).read_measure(label))
        except GermaneError:
            pass
    for spelling in _respell(label):
        try:
            return Reading(parse(spelling))
        except GermaneError:
            continue
    return next(_search_dialects(label), None)


def _respell(label: str) -> Iterator[str]:
    """List how a name may be written without what tables add; Hits of a table are shares."""
    bare = _strip(label)
    yield bare
    yield bare.replace(" ", "")
    words = re.sub(r"(?i)^mean[\s_]+|[\s_]cut(?=[\s_]?\d)|(?<=^hit)s", "", bare)
    yield words
    yield re.sub(r"[\s_\-.]*@[\s_]*|(?<=[a-zA-Z])[\s_\-.]+(?=\d+$)", "@", words)


def _search_dialects(label: str) -> Iterator[Reading]:
    for tool in dialects().values():
        named = tool.find_named(label)
        if named is not None:
            yield Reading(named.measure, _choose(named.choices), tool.name)


def _list_namesakes(label: str, measure: Measure) -> Iterator[Reading]:
    """List tools' measures of this name that are of another family, or another mean."""
    for dialect in _search_dialects(label):
        mean = dialect.parameters.get("mean")
        if (dialect.measure.name, mean) != (measure.name, dict(measure.parameters).get("mean")):
            yield dialect


@cache
def _is_name_of(tool: str, label: str) -> bool:
    return resolve_dialect(tool).find(label) is not None


@cache
def _has_measure(tool: str, measure: Measure) -> bool:
    return resolve_dialect(tool).find_entry(measure) is not None


@cache
def _read_as(name: str, label: str, measure: Measure) -> tuple[Reading, ...]:
    """Read a name as the tool's own name, or as each of the tool's measures of that kind."""
    tool = resolve_dialect(name)
    named = tool.find_named(label)
    if named is not None:
        definitions = [(named.measure, named.choices)]
    elif "(" in label and tool.find_entry(measure) is not None:
        return (_read_exactly(tool, measure),)
    else:
        alike = [
            (definition.measure, definition.choices)
            for definition in tool.list_definitions(measure)
        ]
        plain = [pair for pair in alike if not pair[1]]  # rather than options of the tool
        ones = [(measure, ones) for measure, choices in alike if (ones := _keep_ones(choices))]
        # somebody else's name: its table is taken to count one set of queries in one order, if the
        # tool has such a measure
        definitions = [*plain, *ones] or alike
    return tuple(
        Reading(measure, _choose({**tool.choices, **choices}), tool.name)
        for measure, choices in definitions
    )


def _read_exactly(tool: Dialect, measure: Measure) -> Reading:
    """Read a name with its parameters: under the tool's conventions for exactly this measure."""
    entry = tool.find_entry(measure)
    choices = {} if entry is None else entry.fill_choices(measure.k, measure.rel)
    return Reading(measure, _choose({**tool.choices, **choices}), tool.name)


def _share_choices(
    tool: Dialect, reading: Reading, left_out: Iterable[str]
) -> tuple[tuple[str, Any], ...]:
    """Leave a single measure's conventions out, but for what nobody can see in a table."""
    shared = {
        n: word
        for n, word in reading.choices
        if n not in left_out or word == "one" or n == "duplicates"
    }
    return _choose({**tool.choices, **shared})


def _keep_ones(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what gives 1 to a query without relevant items, which nobody can see in a table."""
    return {name: word for name, word in choices.items() if word == "one"}


def _choose(choices: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Choose the conventions that change which queries and results count, and each value."""
    names = (*OF_QUERIES, *OF_RESULTS, "query_digits")
    none = _NO_VALUE | ({"nan"} if choices.get("undefined", "nan") == "nan" else set())
    return tuple((n, choices[n]) for n in names if n in choices and choices[n] not in none)


def _vary(measure: Measure) -> list[Measure]:
    """List the definitions that go by the name: AP by each norm, if none is written, and MeanP."""
    if measure.name != "AP" or measure.k is None or dict(measure.parameters)["norm"] != "min":
        return [measure]
    norms = [measure(norm=word) for word in ("R", "found", "k", "possible")]
    return [measure, *norms, Measure("MeanP", (), measure.k)]
