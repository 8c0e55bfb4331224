"""Groups: a result's measures per category of query, with macro and micro means."""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from typing import Any

import numpy as np

from germane.core.arguments import list_values
from germane.core.id_spelling import describe_types, is_id, unwrap_ids, unwrap_keys
from germane.core.rounding import average_numbers
from germane.dialects.names import parse
from germane.errors import InputError, MeasureError, NotFoundError, clip, list_some, offer
from germane.measures.averaging import QueryValues
from germane.measures.measure import Measure
from germane.output.named_columns import Named, Tabular, make_ids, make_texts
from germane.output.tables import Table, add_schema, format_number, to_json_number
from germane.readers.files.formats import is_path


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
        """How many queries of the category were evaluated."""
        return len(next(iter(self._measures.values())).queries)


class Groups(Named[Group], Tabular):
    """The measures of one run per category of query.

    >>> qrels = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}
    >>> result = germane.evaluate(qrels, {"q1": ["a"], "q2": ["x", "b"], "q3": ["c"]}, "RR")
    >>> groups = result.by({"q1": "cats", "q2": "dogs", "q3": "cats"})
    >>> groups["cats"]["RR"].mean, groups["dogs"]["RR"].mean
    (1.0, 0.5)
    >>> groups.macro["RR"], round(groups.micro["RR"], 4)
    (0.75, 0.8333)

    Read like a dict of categories, in the order in which they first appear. As a frame it has a row
    for each of them: ``category``, ``queries`` (how many) and the means of the measures. ``macro``
    is the mean of the categories' means, so that each category counts the same; ``micro`` is the
    mean over all queries, so that each query does. A category without a value (all its queries are
    left out by ``no_relevant=skip``) is not in ``macro``.
    """

    _noun = "category"

    def __init__(
        self, groups: Mapping[Hashable, Group], whole: Mapping[Measure, QueryValues]
    ) -> None:
        super().__init__(groups)
        self._whole = dict(whole)

    @property
    def counts(self) -> dict[Hashable, int]:
        """Category → how many queries it has."""
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

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a category, and ``macro`` and ``micro``; definitions as notes."""

        total = sum(self.counts.values())
        lines = [
            *((name, group.queries, group.means.values()) for name, group in self._held.items()),
            ("macro", total, self.macro.values()),
            ("micro", total, self.micro.values()),
        ]
        rows = [
            (str(name), str(queries), *(format_number(mean, digits) for mean in means))
            for name, queries, means in lines
        ]
        notes = [f"{measure}: {measure.definition}" for measure in self._whole]
        notes += ["macro: the mean of the categories' means", "micro: the mean over all queries"]
        return Table(("category", "queries", *map(str, self._whole)), tuple(rows), tuple(notes))

    def _list_columns(self) -> dict[str, Any]:
        return _list_means([*self._held.items()], self._whole)

    def __repr__(self) -> str:
        return f"<Groups: {list_some(list(self._held))}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""

        def convert(means: Mapping[str, float]) -> dict[str, float | None]:
            return {measure: to_json_number(mean) for measure, mean in means.items()}

        categories = [
            {"category": str(name), "queries": group.queries, "means": convert(group.means)}
            for name, group in self._held.items()
        ]
        return add_schema(
            {
                "definitions": {str(measure): measure.definition for measure in self._whole},
                "categories": categories,
                "macro": convert(self.macro),
                "micro": convert(self.micro),
            }
        )


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

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a run and category, with the definitions as notes."""
        tables = {name: groups.table(digits=digits) for name, groups in self._held.items()}
        first = next(iter(tables.values()))
        rows = tuple((name, *row) for name, table in tables.items() for row in table.rows)
        return Table(("run", *first.columns), rows, first.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        runs = [{"name": name, **groups.to_dict()} for name, groups in self._held.items()]
        return add_schema({"runs": runs})


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
    """Split evaluated measures by category: a mapping, a function, or one value a query."""
    for values in whole.values():
        if getattr(values, "list_count", None) is not None:
            raise MeasureError(
                f"{values.measure} counts the lists of all users, and has no categories."
            )
    queries = next(iter(whole.values())).queries
    rows: dict[Hashable, list[int]] = {}
    for q, name in enumerate(find_categories(queries, category)):
        rows.setdefault(name, []).append(q)
    groups = {
        name: Group(name, _select_queries(whole, np.array(positions)))
        for name, positions in rows.items()
    }
    return Groups(groups, whole)


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
            f"{len(values)} categories for {len(queries)} queries; a mapping of query to category "
            "may have more."
        )
    return list(values)


def _select_queries(whole: Mapping[Measure, QueryValues], rows: Any) -> dict[Measure, QueryValues]:
    selected = {}
    for measure, values in whole.items():
        selected[measure] = values.take(rows)
    return selected
