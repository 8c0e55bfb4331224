"""Groups: a result's measures per category of query, with macro and micro means."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from typing import Any

import numpy as np

from germane.core.arguments import list_values
from germane.errors import InputError, NotFoundError, clip, list_choices, list_some, suggest
from germane.measures.averaging import QueryValues
from germane.measures.measure import Measure, parse
from germane.output.formatting import add_schema, format_number, to_json_number
from germane.output.tables import Table, Tabular


class Group(Mapping[str, QueryValues]):
    """One category: a mapping from measures to their values for its queries."""

    def __init__(self, name: Hashable, measures: Mapping[Measure, QueryValues]) -> None:
        self.name = name
        self._measures = dict(measures)

    def __getitem__(self, measure: str | Measure) -> QueryValues:
        key = measure if isinstance(measure, Measure) else parse(measure)
        if key not in self._measures:
            names = list(map(str, self._measures))
            raise NotFoundError(f"{key} was not evaluated.  There are: {', '.join(names)}")
        return self._measures[key]

    def __iter__(self) -> Iterator[str]:
        return map(str, self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __repr__(self) -> str:
        means = ", ".join(f"{m}={e.mean:.4f}" for m, e in self._measures.items())
        return f"<{clip(self.name)}, {self.queries} queries: {means}>"

    @property
    def queries(self) -> int:
        """How many queries of the category were evaluated."""
        return len(next(iter(self._measures.values())).queries)


class Groups(Tabular, Mapping[Hashable, Group]):
    """The measures of one run per category of query.

    >>> qrels = {"q1": ["a"], "q2": ["b"], "q3": ["c"]}
    >>> result = germane.evaluate(qrels, {"q1": ["a"], "q2": ["x", "b"], "q3": ["c"]}, "RR")
    >>> groups = result.by({"q1": "cats", "q2": "dogs", "q3": "cats"})
    >>> groups["cats"]["RR"].mean, groups["dogs"]["RR"].mean
    (1.0, 0.5)
    >>> groups.macro["RR"], round(groups.micro["RR"], 4)
    (0.75, 0.8333)

    A mapping from categories, in the order in which they first appear. ``macro`` is the mean of the
    categories' means, so that each category counts the same; ``micro`` is the mean over all
    queries, so that each query does. A category without a value (all its queries are left out by
    ``no_relevant=skip``) is not in ``macro``.
    """

    def __init__(
        self, groups: Mapping[Hashable, Group], whole: Mapping[Measure, QueryValues]
    ) -> None:
        self._groups = dict(groups)
        self._whole = dict(whole)

    def __getitem__(self, category: Hashable) -> Group:
        try:
            return self._groups[category]
        except KeyError:
            near = suggest(str(category), map(str, self._groups))
            raise NotFoundError(
                f"no category {clip(category)}.{near}  There are: {list_some(list(self._groups))}"
            ) from None

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def counts(self) -> dict[Hashable, int]:
        """Category → how many queries it has."""
        return {name: group.queries for name, group in self._groups.items()}

    @property
    def macro(self) -> dict[str, float]:
        """Measure → the mean of the categories' means."""
        return {str(measure): self._macro(measure) for measure in self._whole}

    @property
    def micro(self) -> dict[str, float]:
        """Measure → the mean over all queries."""
        return {str(measure): whole.mean for measure, whole in self._whole.items()}

    def _macro(self, measure: Measure) -> float:
        means = [group[measure].mean for group in self._groups.values()]
        kept = [mean for mean in means if not math.isnan(mean)]
        return math.fsum(kept) / len(kept) if kept else math.nan

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a category, and ``macro`` and ``micro``; definitions as notes."""

        def row(name: str, queries: int, values: Iterator[float]) -> tuple[str, ...]:
            cells = (format_number(v, digits) for v in values)
            return (name, str(queries), *cells)

        rows = [
            row(str(name), group.queries, (one.mean for one in group.values()))
            for name, group in self._groups.items()
        ]
        queries = sum(self.counts.values())
        rows.append(row("macro", queries, iter(self.macro.values())))
        rows.append(row("micro", queries, iter(self.micro.values())))
        notes = [f"{measure}: {measure.definition}" for measure in self._whole]
        notes += ["macro: the mean of the categories' means", "micro: the mean over all queries"]
        return Table(("category", "queries", *map(str, self._whole)), tuple(rows), tuple(notes))

    def __repr__(self) -> str:
        return f"<Groups: {list_some(list(self._groups))}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""

        def plain(values: Mapping[str, float]) -> dict[str, float | None]:
            return {m: to_json_number(value) for m, value in values.items()}

        return add_schema(
            {
                "definitions": {str(measure): measure.definition for measure in self._whole},
                "categories": [
                    {
                        "category": str(name),
                        "queries": group.queries,
                        "means": plain({measure: one.mean for measure, one in group.items()}),
                    }
                    for name, group in self._groups.items()
                ],
                "macro": plain(self.macro),
                "micro": plain(self.micro),
            }
        )


def group_measures(whole: Mapping[Measure, QueryValues], category: Any) -> Groups:
    """Split evaluated measures by category: a mapping, a function, or one value a query."""
    queries = next(iter(whole.values())).queries
    rows: dict[Hashable, list[int]] = {}
    for q, name in enumerate(find_categories(queries, category)):
        rows.setdefault(name, []).append(q)
    groups = {name: Group(name, _select_queries(whole, np.array(at))) for name, at in rows.items()}
    return Groups(groups, whole)


def find_categories(queries: list[Hashable], category: Any) -> list[Hashable]:
    """The category of each query, by a mapping, a function, or one value a query.

    A pandas Series is a mapping, unless its index just counts its values.
    """
    index = type(getattr(category, "index", None)).__name__
    if hasattr(category, "to_dict") and index != "RangeIndex" and not hasattr(category, "columns"):
        category = _read_series(category)
    names = _name_categories(queries, category)
    odd = next((q for q, name in enumerate(names) if not isinstance(name, Hashable)), None)
    if odd is not None:
        raise InputError(
            f"query {clip(queries[odd])}: a category is text, a number or the like; got {clip(names[odd])}"
        )
    return names


def _read_series(series: Any) -> dict[Hashable, Hashable]:
    found: dict[Hashable, Hashable] = {}
    for query, name in zip(series.index.tolist(), series.tolist(), strict=True):
        if found.setdefault(query, name) != name:
            raise InputError(
                f"query {clip(query)} has two categories, {clip(found[query])} and {clip(name)}."
            )
    return found


def _name_categories(queries: list[Hashable], category: Any) -> list[Hashable]:
    if isinstance(category, Mapping):
        absent = [query for query in queries if query not in category]
        if absent:
            raise NotFoundError(
                f"no category for {list_some(absent)} ({len(absent)} of {len(queries)} queries)."
                + _describe_types(category, absent)
            )
        return [category[query] for query in queries]
    if isinstance(category, Callable):  # type: ignore[arg-type]
        return [category(query) for query in queries]
    values = list_values(category)
    in_order = hasattr(values, "__len__") and not isinstance(values, (str, bytes, Set))
    if not in_order or hasattr(values, "columns"):
        raise InputError(
            "categories are a mapping of query to category, a function, or one value a query; "
            f"got {clip(category)}"
        )
    if len(values) != len(queries):
        raise InputError(
            f"{len(values)} categories for {len(queries)} queries; a mapping of query to category "
            "may have more."
        )
    return list(values)


def _describe_types(category: Mapping[Any, Any], absent: list[Hashable]) -> str:
    """The types of ids, where those of a mapping are others than the queries'."""
    keys, theirs = (sorted({type(one).__name__ for one in side}) for side in (category, absent))
    if not keys or set(keys) & set(theirs):
        return ""
    return f" The mapping's ids are {list_choices(keys)}, the queries' are {list_choices(theirs)}."


def _select_queries(whole: Mapping[Measure, QueryValues], at: Any) -> dict[Measure, QueryValues]:
    return {
        measure: QueryValues(
            measure,
            [one.queries[q] for q in at.tolist()],
            one.values[at],
            one.no_relevant,
            digits=one.digits,
            norm=None if one.norm is None else one.norm[at],
        )
        for measure, one in whole.items()
    }
