"""Names of columns in published tables, and the definitions that each may stand for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import Dialect
from germane.dialects.names import find_entry, find_named, list_definitions, resolve_measure
from germane.dialects.parsing import parse
from germane.errors import GermaneError, MeasureError
from germane.measures.box_names import COCO_THRESHOLDS, BoxName, read_box_name
from germane.measures.measure import Measure

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

    >>> from germane.reconciliation.column_names import read_box_column
    >>> read_box_column("mAP@[.5:.95] (%)"), read_box_column("mask AP_S").overlap
    (AP, 'mask')
    """
    name = _read_box_name(label)
    is_usual = name is not None and name.iou == COCO_THRESHOLDS
    return replace(name, iou=None) if name and is_usual else name


def _read_box_name(label: str) -> BoxName | None:
    try:
        return read_box_name(_strip(label.rpartition(GROUPS)[2]))
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
            return Reading(resolve_measure(label, tool).measure)
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
        named = find_named(tool, label)
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
    return find_entry(resolve_dialect(tool), measure) is not None


@cache
def _read_as(name: str, label: str, measure: Measure) -> tuple[Reading, ...]:
    """Read a name as the tool's own name, or as each of the tool's measures of that kind."""
    tool = resolve_dialect(name)
    named = find_named(tool, label)
    if named is not None:
        definitions = [(named.measure, named.choices)]
    elif "(" in label and find_entry(tool, measure) is not None:
        return (_read_exactly(tool, measure),)
    else:
        alike = [
            (definition.measure, definition.choices)
            for definition in list_definitions(tool, measure)
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
    entry = find_entry(tool, measure)
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
