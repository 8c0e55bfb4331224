"""Layout: the tables of results and their notes; and Groups, a result by category of query."""

import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from germane.core.calls import list_values
from germane.core.id_spelling import describe_types, is_id, unwrap_ids, unwrap_keys
from germane.core.mean_intervals import Interval
from germane.core.ragged import average_numbers
from germane.dialects.names import parse
from germane.errors import InputError, NotFoundError, clip, list_some, offer
from germane.measures import find_merits
from germane.measures.averaging import MeasureResult, QueryValues
from germane.measures.measure import Measure
from germane.output.documents import make_document
from germane.output.named_columns import Named, Tabular, make_ids, make_texts
from germane.output.tables import Table, find_highest, format_number, share_lines, write_count
from germane.readers.files.formats import is_path

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect
    from germane.evaluation.result import Result, Results


Intervals: TypeAlias = Mapping[Measure, Interval | None]
NOTHING: Intervals = {}


def name_measures(
    measures: Sequence[Measure], rename: Mapping[str, str] | None = None
) -> dict[Measure, str]:
    """Name each measure, some by other names: ``{"AP@10": "MAP"}``.

    Raises NotFoundError for a measure that is not there, and InputError where two have one name.
    """
    names = {measure: str(measure) for measure in measures}
    for old_name, name in (rename or {}).items():
        measure = parse(old_name)
        if measure not in names:
            raise NotFoundError(f"rename: {measure} was not evaluated.{offer(measure, measures)}")
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"rename takes a name, as text, for {measure}; got {clip(name)}")
        names[measure] = name
    for measure, name in names.items():
        taken_by = next((m for m, n in names.items() if n == name and m != measure), None)
        if taken_by is not None:
            raise InputError(f"rename: {measure} and {taken_by} would both be named {clip(name)}.")
    return names


def write_definition(measure: Measure, name: str) -> str:
    """Write a measure's definition, and the measure itself where it has another name."""
    return measure.definition if name == str(measure) else f"{measure}, {measure.definition}"


def make_table(
    results: "Results",
    digits: int | None,
    rename: Mapping[str, str] | None,
    confidence: float | None,
) -> Table:
    """Make a row for each run, with the best of several in bold."""
    names = name_measures(results.measures, rename)
    intervals = {} if confidence is None else estimate_intervals(results, confidence)
    rows = {
        name: _write_means(result, digits, intervals.get(name, {}))
        for name, result in results.items()
    }
    notes = [*_define(names), *_explain_names(results, names)]
    if confidence is not None:
        notes += _explain_intervals(intervals, confidence)
    notes += ["", *_write_notes(results)]
    merits = map(partial(_list_merits, results), results.measures)
    return tabulate_systems("run", names.values(), rows, merits, notes)


def tabulate_systems(
    noun: str,
    columns: Iterable[str],
    rows: Mapping[str, Iterable[str]],
    merits: Iterable[Sequence[float]],
    notes: Iterable[str],
) -> Table:
    """Make a row for each run or detector; in each column the highest of its merits is stressed."""
    cells = tuple((name, *row) for name, row in rows.items())
    best = frozenset(find_highest(merits))
    return Table((noun, *columns), cells, tuple(notes), strong=best)


def _list_merits(results: "Results", measure: Measure) -> list[float]:
    """List the means of runs, higher ones for better runs; none if they have no order."""
    results_of = [result[measure] for result in results.values()]
    if any(result.lacks_worst for result in results_of):
        return []
    return find_merits(measure.name, np.array([result.mean for result in results_of], float))


def make_table_per_query(
    results: "Results", digits: int | None, rename: Mapping[str, str] | None
) -> Table:
    """Make a row for each query and run, and a row ``all`` for each run."""
    rows, names = [], name_measures(results.measures, rename)
    for name, result in results.items():
        columns = [(value.per_query, value.measure) for value in result.values()]
        for query in result.queries:
            cells = [
                format_value(values[query], m, digits) if query in values else ""
                for values, m in columns
            ]
            rows.append((name, str(query), *cells))
        rows.append((name, "all", *_write_means(result, digits)))
    notes = (*_define(names), *_explain_names(results, names), "", *_write_notes(results))
    query = results.id_names.avoid(["run", *names.values()]).query
    return Table(("run", query, *names.values()), tuple(rows), notes)


def _define(names: Mapping[Measure, str]) -> Iterator[str]:
    longest = max(map(len, names.values()))
    for measure, name in names.items():
        yield f"{name:<{longest}}  {write_definition(measure, name)}"


def _explain_names(results: "Results", names: Mapping[Measure, str]) -> Iterator[str]:
    return next(iter(results.values())).explain_names(names.values())


def _write_notes(results: "Results") -> Iterator[str]:
    """Write counts, policy and dialect, each once where all runs share it."""
    for write in (_write_counts, lambda result: f"policy: {result.policy}"):
        yield from share_lines(results.items(), write)
    result = next(iter(results.values()))
    for measure, policy in result.policies.items():
        yield f"policy of {measure}: {policy}"
    if result.dialect is not None:
        yield write_dialect(result.dialect)
        yield from share_lines(results.items(), _write_limits)
        if result.own:
            names = ", ".join(map(str, result.own))
            yield f"germane's own measures, not {result.dialect.tool}'s: {names}"


def write_dialect(dialect: "Dialect") -> str:
    """Write the dialect of results with its tool."""
    return f"dialect: {dialect.name} ({dialect.tool} {dialect.version})"


def write_warnings(results: "Results") -> Iterator[str]:
    """Write the findings, one line for each run, or one line if all runs have the same."""
    yield from share_lines(results.items(), lambda result: " ".join(map(str, result.findings)))


def _write_limits(result: "Result") -> str:
    limits = [
        f"{', '.join(map(str, measures))}: {text}" for text, measures in result.limits.items()
    ]
    return f"limits of the dialect: {' '.join(limits)}" if limits else ""


def _write_counts(result: "Result") -> str:
    counts = result.counts
    parts = [
        f"{write_count(counts.judged, 'query')} judged",
        f"{counts.answered:,} answered",
    ]
    if counts.missing:
        parts.append(f"{counts.missing:,} missing")
    if counts.without_relevant:
        parts.append(f"{counts.without_relevant:,} without relevant items")
    if counts.unjudged_queries:
        parts.append(f"{counts.unjudged_queries:,} more in the run, not judged")
    if counts.comments:
        parts.append(write_count(counts.comments, "comment line"))
    if counts.collapsed:
        parts.append(f"{counts.collapsed:,} results collapsed into {counts.groups:,} groups")
    if counts.excluded:
        parts.append(f"{write_count(counts.excluded, 'result')} excluded")
    if counts.ignored:
        parts.append(f"{write_count(counts.ignored, 'judgment')} ignored")
    if counts.subtopics:
        parts.append(_write_subtopics(result))
    if counts.tied:
        parts.append(f"{counts.tied_share:.1%} of judged items retrieved are tied")
    lists = {value.list_count: None for value in result.values() if value.list_count is not None}
    for count in lists:
        parts.append(f"measures of the catalogue count the lists of all {count:,} users")
    if bands := [
        f"{value.measure} {'' if value.are_extremes else 'at least '}{low}…{high}"
        for value, low, high in find_bands(result)
    ]:
        parts.append("tie band " + ", ".join(bands))
    return "; ".join(parts)


def _write_subtopics(result: "Result") -> str:
    """Write how many subtopics are judged, and what they are to measures that look at none."""
    text = f"{result.counts.subtopics:,} subtopics judged"
    other_measures = [str(measure) for measure in result.measures if not measure.row.subtopics]
    if not other_measures:
        return text
    take = "takes" if len(other_measures) == 1 else "take"
    return f"{text}, of which {', '.join(other_measures)} {take} an item's highest grade"


def find_bands(result: "Result") -> Iterator[tuple[MeasureResult, str, str]]:
    """Find the measures that depend on the order of ties, and their bands, the lower end first.

    ``best`` is the lower end of some measures: relevant items come first there, which does not
    raise every measure. Where other orders can go beyond both, the mean itself may be an end. Bands
    that are too narrow to show in a table are left out.
    """
    for measure_result in result.values():
        ends = sorted((measure_result.worst, measure_result.best))
        if not measure_result.are_extremes and not math.isnan(measure_result.mean):
            ends = sorted((*ends, measure_result.mean))
        low, high = (
            format_value(value, measure_result.measure, 4) for value in (ends[0], ends[-1])
        )
        if low != high:
            yield measure_result, low, high


def format_value(value: float, measure: Measure, digits: int | None) -> str:
    """Write a value: counts as whole numbers, others with so many decimals, or with all (None)."""
    if measure.row.aggregate == "sum" and math.isfinite(value) and value == int(value):
        return str(int(value))
    return format_number(value, digits)


def estimate_intervals(results: "Results", confidence: float) -> dict[str, Intervals]:
    """Estimate the intervals of all means over queries; None for a mean of few."""
    return {
        name: dict(_estimate_each(result.values(), confidence)) for name, result in results.items()
    }


def _estimate_each(
    values: Iterable[QueryValues], confidence: float
) -> Iterator[tuple[Measure, Interval | None]]:
    for value in values:
        if value.has_interval and value.mean == value.mean:
            interval = value.interval(confidence=confidence)
            if interval is not None or value.units is value.queries:
                yield value.measure, interval


def _explain_intervals(intervals: Mapping[Any, Intervals], confidence: float) -> Iterator[str]:
    """Explain what intervals come from, and why means of few queries have none."""
    every = [interval for intervals in intervals.values() for interval in intervals.values()]
    if source := Interval.describe_all(every, "queries"):
        yield f"[low, high]: {100 * confidence:.10g}% interval of the mean, {source}"
    if None in every:
        yield Interval.explain_missing("queries")


def _write_means(
    result: "Result | Group | Mapping[Measure, QueryValues]",
    digits: int | None,
    intervals: Intervals = NOTHING,
) -> Iterator[str]:
    for value in result.values():
        mean = format_value(value.mean, value.measure, digits)
        interval = intervals.get(value.measure)
        if interval is None:
            yield mean
        else:
            low, high = (format_number(end, digits) for end in (interval.low, interval.high))
            yield f"{mean} [{low}, {high}]"


# --- Groups: a result's measures per category of query, with macro and micro means ----------------


class Group(Mapping[str, QueryValues]):
    """One category: a mapping from measures to their values for its queries."""

    def __init__(self, name: Hashable, measures: Mapping[Measure, QueryValues]) -> None:
        self.name = name
        self._measures = dict(measures)

    def __getitem__(self, measure: str | Measure) -> QueryValues:
        key = parse(measure)
        if key not in self._measures:
            raise NotFoundError(f"{key} was not evaluated.{offer(key, self._measures)}")
        return self._measures[key]

    def __iter__(self) -> Iterator[str]:
        return map(str, self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __repr__(self) -> str:
        means = ", ".join(f"{measure}={mean:.4f}" for measure, mean in self.means.items())
        return f"<{clip(self.name)}, {self.queries} queries: {means}>"

    @property
    def means(self) -> dict[str, float]:
        """Measure → its mean over the queries of the category."""
        return {str(measure): value.mean for measure, value in self._measures.items()}

    @property
    def queries(self) -> int:
        """How many queries of the category were evaluated, or how many users have lists."""
        values = self._measures.values()
        judged = (len(of.queries) for of in values if of.units is of.queries)
        return next(judged, len(next(iter(values)).units))


class Groups(Named[Group], Tabular):
    """The measures of one run for each category of queries.

    >>> qrels = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}
    >>> result = germane.evaluate(qrels, {"q1": ["a"], "q2": ["x", "b"], "q3": ["c"]}, "RR")
    >>> groups = result.by({"q1": "cats", "q2": "dogs", "q3": "cats"})
    >>> groups["cats"]["RR"].mean, groups["dogs"]["RR"].mean
    (1.0, 0.5)
    >>> groups.macro["RR"], round(groups.micro["RR"], 4)
    (0.75, 0.8333)

    Groups can be read like a dict of categories, which are sorted. As a frame, they have a
    row for each category: ``category``, ``queries`` (their number) and the means of
    the measures. ``macro`` is the mean of the categories' means, which gives every category the
    same weight; ``micro`` is the mean over all queries, which gives every query the same weight. A
    category without a value (because all its queries are left out by ``no_relevant=skip``) is not
    part of ``macro``. A measure of the catalogue, such as Coverage, is computed from the
    lists of each category's users; more users cover more items.
    """

    _noun = "category"

    def __init__(
        self, groups: Mapping[Hashable, Group], whole: Mapping[Measure, QueryValues]
    ) -> None:
        super().__init__(groups)
        self._whole = dict(whole)

    @property
    def counts(self) -> dict[Hashable, int]:
        """Category → the number of its queries."""
        return {name: group.queries for name, group in self._held.items()}

    @property
    def macro(self) -> dict[str, float]:
        """Measure → the mean of the categories' means."""
        groups = self._held.values()
        return {str(m): average_numbers(group[m].mean for group in groups) for m in self._whole}

    @property
    def micro(self) -> dict[str, float]:
        """Measure → the mean over all queries."""
        return {str(measure): values.mean for measure, values in self._whole.items()}

    def table(
        self,
        *,
        digits: int | None = 4,
        confidence: float | None = None,
        rename: Mapping[str, str] | None = None,
    ) -> Table:
        """One row per category, and rows for ``macro`` and ``micro``; definitions are notes.

        ``confidence`` adds the interval of each mean, and ``rename`` gives measures other names.
        """
        names = name_measures([*self._whole], rename)
        parts: dict[Hashable, Iterable[QueryValues]] = {
            **{name: group.values() for name, group in self._held.items()},
            "micro": self._whole.values(),
        }
        intervals = {
            name: NOTHING if confidence is None else dict(_estimate_each(values, confidence))
            for name, values in parts.items()
        }
        total = str(sum(self.counts.values()))
        rows = [
            (str(name), str(group.queries), *_write_means(group, digits, intervals[name]))
            for name, group in self._held.items()
        ]
        macro = (format_number(mean, digits) for mean in self.macro.values())
        rows.append(("macro", total, *macro))
        rows.append(("micro", total, *_write_means(self._whole, digits, intervals["micro"])))
        notes = [f"{names[m]}: {write_definition(m, names[m])}" for m in self._whole]
        notes += ["macro: the mean of the categories' means", "micro: the mean over all queries"]
        if confidence is not None:
            notes += _explain_intervals(intervals, confidence)
        return Table(("category", "queries", *names.values()), tuple(rows), tuple(notes))

    def _list_columns(self) -> dict[str, Any]:
        return _list_means([*self._held.items()], self._whole)

    def __repr__(self) -> str:
        return f"<Groups: {list_some(list(self._held))}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        plain = {
            "definitions": {measure: measure.definition for measure in self._whole},
            "categories": [
                {"category": str(name), "queries": group.queries, "means": group.means}
                for name, group in self._held.items()
            ],
            "macro": self.macro,
            "micro": self.micro,
        }
        return make_document(plain)


class GroupsOfRuns(Named[Groups], Tabular):
    """The measures of several runs per category of query: the ``Groups`` of each run by its name.

    As a frame it has a row for each run and category: ``run`` and the columns of ``Groups``.
    """

    _noun = "run"

    def _list_columns(self) -> dict[str, Any]:
        rows = [(name, row) for name, groups in self._held.items() for row in groups.items()]
        first = next(iter(self._held.values()))
        means = _list_means([row for _, row in rows], first.micro)
        return {"run": make_texts(name for name, _ in rows), **means}

    def __repr__(self) -> str:
        return f"<Groups of {list_some(self._held)}>"

    def table(
        self,
        *,
        digits: int | None = 4,
        confidence: float | None = None,
        rename: Mapping[str, str] | None = None,
    ) -> Table:
        """One row per run and category, with the definitions as notes, as ``Groups.table``."""
        tables = {
            name: groups.table(digits=digits, confidence=confidence, rename=rename)
            for name, groups in self._held.items()
        }
        first = next(iter(tables.values()))
        rows = tuple((name, *row) for name, table in tables.items() for row in table.rows)
        return Table(("run", *first.columns), rows, first.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        runs = [{"name": name, **groups.to_dict()} for name, groups in self._held.items()]
        return make_document({"runs": runs})


def _list_means(
    rows: list[tuple[Hashable, Group]], measures: Iterable[Measure | str]
) -> dict[str, Any]:
    return {
        "category": make_ids(name for name, _ in rows),
        "queries": np.array([group.queries for _, group in rows], np.int64),
        **{
            str(measure): np.array([group[measure].mean for _, group in rows])
            for measure in measures
        },
    }


def group_measures(whole: Mapping[Measure, QueryValues], category: Any) -> Groups:
    """Split evaluated measures by category: a mapping, a function, or one value per query."""
    units = dict.fromkeys(unit for values in whole.values() for unit in values.units)
    names = dict(zip(units, find_categories([*units], category), strict=True))
    groups: dict[Hashable, dict[Measure, QueryValues]] = {
        name: {} for name in sort_categories(names.values())
    }
    for measure, values in whole.items():
        rows: dict[Hashable, list[int]] = {name: [] for name in groups}
        for place, unit in enumerate(values.units):
            rows[names[unit]].append(place)
        for name, places in rows.items():
            groups[name][measure] = values.take(np.array(places, int))
    return Groups({name: Group(name, selected) for name, selected in groups.items()}, whole)


def sort_categories(names: Iterable[Hashable]) -> list[Hashable]:
    """Sort the different ones: numbers by their values, and then others by their text."""

    def find_place(name: Any) -> tuple[bool, float, str]:
        is_counted = isinstance(name, (int, float))
        return not is_counted, name if is_counted else 0.0, str(name)

    return sorted(dict.fromkeys(names), key=find_place)


def read_category(category: Any, *, numbers: bool = False) -> Any:
    """Read a file or a frame of categories, or of numbers; anything else stays as it is."""
    if hasattr(category, "columns") and hasattr(category, "__arrow_c_stream__"):
        from germane.readers.options.texts import read_frame

        return read_frame(category, numbers=numbers)
    is_word = isinstance(category, str) and "." not in category and not os.path.exists(category)
    if is_word or not is_path(category):
        return category
    from germane.readers.options.texts import read_categories  # which few need

    return read_categories(category, numbers=numbers)


def find_categories(
    queries: list[Hashable], category: Any, *, numbers: bool = False
) -> list[Hashable]:
    """Find the category or number of each query, by a mapping, a function, or one value each.

    A pandas Series is a mapping, unless its index just counts its values.
    """
    category = read_category(category, numbers=numbers)
    index = type(getattr(category, "index", None)).__name__
    if hasattr(category, "to_dict") and index != "RangeIndex" and not hasattr(category, "columns"):
        category = _convert_series(category)
    names: list[Hashable] = unwrap_ids(_name_categories(queries, category))
    wrong = next((q for q, name in enumerate(names) if not is_id(name)), None)
    if wrong is not None:
        raise InputError(
            f"query {clip(queries[wrong])}: a category is text, a number or the like; got"
            f" {clip(names[wrong])}"
        )
    return names


def _convert_series(series: Any) -> dict[Hashable, Hashable]:
    categories: dict[Hashable, Hashable] = {}
    for query, name in zip(series.index.tolist(), series.tolist(), strict=True):
        if categories.setdefault(query, name) != name:
            raise InputError(
                f"query {clip(query)} has two categories, {clip(categories[query])} and"
                f" {clip(name)}."
            )
    return categories


def _name_categories(queries: list[Hashable], category: Any) -> list[Hashable]:
    if isinstance(category, Mapping):
        if not hasattr(type(category), "__missing__"):
            category = unwrap_keys(category, "categories")
        absent = [query for query in queries if query not in category]
        if absent:
            kinds = describe_types("mapping's", category, "queries'", absent)
            raise NotFoundError(
                f"no category for {list_some(absent)} ({len(absent)} of {len(queries)} queries)."
                + f" {kinds}." * bool(kinds)
            )
        return [category[query] for query in queries]
    if isinstance(category, Callable):  # type: ignore[arg-type]
        return [category(query) for query in queries]
    values = list_values(category)
    in_order = hasattr(values, "__len__") and not isinstance(values, (str, bytes, Set))
    if not in_order or hasattr(values, "columns"):
        raise InputError(
            "categories are a mapping of query to category, a function, one value for each query,"
            f" a frame, or a file; got {clip(category)}"
        )
    if len(values) != len(queries):
        raise InputError(
            f"there are {len(values)} categories for {len(queries)} queries; only a mapping of"
            " query to category may have more."
        )
    return list(values)
