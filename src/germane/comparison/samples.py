"""Samples: the values of systems on the same queries, and draws of these."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from germane.core.ragged import Floats, Ints, drop_rounding
from germane.dialects.names import parse
from germane.errors import CoverageError, MeasureError, list_some, write_option
from germane.evaluation.layout import write_dialect
from germane.evaluation.result import Result, Results
from germane.evaluation.whole_lists import CatalogueResult
from germane.measures.averaging import QueryValues
from germane.measures.measure import Measure
from germane.output.tables import share_lines, write_count

_AT_ONCE = 2**22  # draws in memory at once

Runs = Mapping[str, Result] | Results


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Measures of systems on the queries for which every one of them has a value.

    The queries are of one or more data sets, which are the strata. Data sets have equal weight, and
    so have the queries within one.
    """

    measures: tuple[Measure, ...]
    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    queries: tuple[Hashable, ...]  # Q, by data set, and in the order of their text
    strata: Ints  # Q, the data set of each query
    values: Floats  # M × S × Q
    left_out: int  # queries for which some system has no value
    unit: str = "query"  # as messages call what is resampled, such as images with boxes
    parse: Callable[[str], Any] = parse  # reads the name of such a measure
    conventions: tuple[str, ...] = ()  # of the numbers, as lines of a caption
    warning: str = ""  # of data on which tests and intervals do not hold
    users: int = 0  # in groups of which the numbers of all lists are spread; 0 for means
    numbers: Floats | None = None  # M × S: the numbers that were spread, without rounding

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def weights(self) -> Floats:
        """Q: the weight of each query; weights add up to 1."""
        sizes = np.bincount(self.strata)
        weights: Floats = 1.0 / (len(sizes) * sizes[self.strata])
        return weights

    @cached_property
    def weighted(self) -> Floats:
        """M × S × Q: values whose sum over queries is the mean."""
        parts: Floats = self.values * self.weights
        return parts

    @cached_property
    def means(self) -> Floats:
        """M × S: the mean of each system."""
        if self.numbers is not None:
            return self.numbers
        means: Floats = (
            self.values.mean(axis=2) if len(self.datasets) == 1 else self.weighted.sum(axis=2)
        )
        return means

    @property
    def freedom(self) -> int:
        """The degrees of freedom: queries less data sets."""
        return len(self) - len(self.datasets)

    def center(self, parts: Floats) -> Floats:
        """… × Q → … × Q: subtract from each query's part the mean part of its data set.

        It is exactly 0 if all parts of the data set are equal.
        """
        out = parts.copy()
        for stratum in range(len(self.datasets)):
            of_stratum = self.strata == stratum
            out[..., of_stratum] -= out[..., of_stratum].mean(axis=-1, keepdims=True)
        return drop_rounding(out, np.abs(parts).max(axis=-1, keepdims=True))


def match_samples(
    datasets: Mapping[str, Runs],
    measures: tuple[Measure, ...],
    shared_queries: "SharedQueries | None" = None,
) -> tuple[Sample, ...]:
    """Make one sample of all measures that have values for the same queries; mostly there is one.

    ``shared_queries`` are those of each measure; those of a segment may be some of them, or none.
    Raises CoverageError where the systems have no query in common, and MeasureError for a measure
    that does not have an arithmetic mean.
    """
    if shared_queries is None:
        shared_queries = find_shared_queries(datasets, measures)
    groups: dict[tuple[bool, tuple[tuple[Hashable, ...], ...]], list[Measure]] = {}
    for measure, shared in shared_queries.items():
        groups.setdefault((_is_spread(datasets, measure), shared), []).append(measure)
    conventions = tuple(_write_conventions(datasets))
    return tuple(
        replace(
            (_spread_sample if is_spread else _make_sample)(datasets, tuple(alike), shared),
            conventions=conventions,
        )
        for (is_spread, shared), alike in groups.items()
    )


def _write_conventions(datasets: Mapping[str, Runs]) -> Iterator[str]:
    """Write the policy and the dialect of the results, each once where all of them share it."""
    named = [
        (" ".join(filter(None, (dataset, name))), result)
        for dataset, runs in datasets.items()
        for name, result in runs.items()
    ]
    yield from share_lines(named, lambda result: f"policy: {result.policy}")
    first = named[0][1]
    yield from (f"policy of {measure}: {policy}" for measure, policy in first.policies.items())
    if first.dialect is not None:
        yield write_dialect(first.dialect)


SharedQueries: TypeAlias = Mapping[Measure, tuple[tuple[Hashable, ...], ...]]


def find_shared_queries(
    datasets: Mapping[str, Runs], measures: tuple[Measure, ...]
) -> SharedQueries:
    """Find the queries of each data set for which every run has a value, by measure."""
    shared = {}
    for measure in measures:
        mean = dict(measure.parameters).get("mean", "arithmetic")
        if mean not in ("arithmetic", "micro") and not measure.row.of_catalogue:
            raise MeasureError(
                f"{measure}: a difference of {mean} means is not a mean of differences; compare"
                f" {measure(mean='arithmetic')} instead."
            )
        for runs in datasets.values():
            refuse_unanswered({name: run[measure] for name, run in runs.items()})
        shared[measure] = tuple(
            _find_shared_queries(name, runs, measure) for name, runs in datasets.items()
        )
    return shared


def _is_spread(datasets: Mapping[str, Runs], measure: Measure) -> bool:
    """Is it one number of all, and no mean? Raises MeasureError where lists are not held."""
    results = [run[measure] for runs in datasets.values() for run in runs.values()]
    spread = [result for result in results if result.is_pooled]
    for result in spread:
        if isinstance(result, CatalogueResult):
            result.of_lists.counted.require_lists()
    return bool(spread)


def refuse_unanswered(values: Mapping[str, QueryValues]) -> None:
    """Refuse to compare runs that lack queries on a measure that has no worst value for these.

    Raises CoverageError.
    """
    for name, value in values.items():
        if value.lacks_worst:
            queries = write_count(value.unanswered, "judged query", "judged queries")
            raise CoverageError(
                f"{value.measure}: {name} lacks {queries}. For this measure a low value is good,"
                " and there is no worst value that they could get."
                f" {write_option('missing', 'skip')} leaves them out, and"
                f" {write_option('missing', 'error')} refuses such a run. You can also compare"
                " another measure, such as RR."
            )


def _find_shared_queries(dataset: str, runs: Runs, measure: Measure) -> tuple[Hashable, ...]:
    """Return the queries for which every run has a value, in the same order for any input."""
    valued = {name: list_valued(run, measure) for name, run in runs.items()}
    first, *rest = map(set, valued.values())
    shared = first.intersection(*rest)
    if not shared:
        where = f" of {dataset}" if dataset else ""
        had = "; ".join(f"{name}: {list_some(ids) or 'none'}" for name, ids in valued.items())
        raise CoverageError(
            f"{measure}: no query{where} has a value for every run. {had}  Are these the same ids?"
        )
    return tuple(sorted(shared, key=lambda query: (str(query), str(type(query)))))


def list_valued(run: Result, measure: Measure) -> list[Hashable]:
    """List the queries for which a run has a value."""
    result = run[measure]
    if isinstance(result, CatalogueResult) and result.is_pooled:
        return result.units
    values = _get_values(run, measure)
    return [query for query, value in values.items() if value == value]  # not NaN


def _get_values(run: Result, measure: Measure) -> Mapping[Hashable, float]:
    """Get the values whose mean the measure is: of judged queries, or of the lists of all users."""
    result = run[measure]
    return result.per_list if isinstance(result, CatalogueResult) else result.per_query


def _make_sample(
    datasets: Mapping[str, Runs],
    measures: tuple[Measure, ...],
    shared: tuple[tuple[Hashable, ...], ...],
) -> Sample:
    systems = tuple(next(iter(datasets.values())))
    values: Floats = np.empty((len(measures), len(systems), sum(map(len, shared))))
    for (m, measure), (s, system) in product(enumerate(measures), enumerate(systems)):
        per_query = (_get_values(runs[system], measure) for runs in datasets.values())
        parts = zip(per_query, shared, strict=True)
        values[m, s] = [by_query[query] for by_query, queries in parts for query in queries]
    valued = (
        {query for run in runs.values() for query in list_valued(run, measures[0])}
        for runs in datasets.values()
    )
    return Sample(
        measures,
        systems,
        tuple(datasets),
        tuple(query for queries in shared for query in queries),
        np.repeat(np.arange(len(shared)), list(map(len, shared))),
        values,
        sum(map(len, valued)) - values.shape[2],
    )


def _spread_sample(
    datasets: Mapping[str, Runs],
    measures: tuple[Measure, ...],
    shared: tuple[tuple[Hashable, ...], ...],
) -> Sample:
    """Make a sample of numbers of all lists, spread over the same groups of users in every run.

    Micro means are spread over groups of queries in the same way.
    """
    systems = tuple(next(iter(datasets.values())))
    groups = [QueryValues.group_units(units) for units in shared]
    counts = [int(of_users.max()) + 1 for of_users in groups]
    values: Floats = np.empty((len(measures), len(systems), sum(counts)))
    numbers: Floats = np.empty(values.shape[:2])
    for (m, measure), (s, system) in product(enumerate(measures), enumerate(systems)):
        spreads, exact = [], []
        for runs, users, of_users, count in zip(
            datasets.values(), shared, groups, counts, strict=True
        ):
            number, spread = runs[system][measure].spread_over(users, of_users, count)
            spreads.append(spread)
            exact.append(number)
        values[m, s], numbers[m, s] = np.concatenate(spreads), np.mean(exact)
        if np.isnan(values[m, s]).any():
            raise MeasureError(
                f"{measure} of {system} is undefined, or becomes undefined without some of its"
                " users. Compare more users, or leave it out."
            )
    listed = (
        {user for run in runs.values() for user in list_valued(run, measures[0])}
        for runs in datasets.values()
    )
    count_shared = sum(map(len, shared))
    return Sample(
        measures,
        systems,
        tuple(datasets),
        tuple(range(values.shape[2])),
        np.repeat(np.arange(len(shared)), counts),
        values,
        sum(map(len, listed)) - count_shared,
        "user" if measures[0].row.of_catalogue else "query",
        users=count_shared,
        numbers=numbers,
    )


def resample_sums(
    values: Floats, strata: Ints, resamples: int, rng: "np.random.Generator"
) -> Floats:
    """C × Q values → C × resamples: sum each row over queries drawn with replacement.

    From each stratum, as many queries are drawn as it has; all rows take the same ones.
    """
    sums = np.zeros((resamples, len(values)))
    for stratum in range(int(strata.max()) + 1):
        of_stratum = values[:, strata == stratum].T
        queries = len(of_stratum)
        step = max(1, _AT_ONCE // queries)
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            sums[start : start + size] += _draw_times(size, queries, rng) @ of_stratum
    return sums.T


def _draw_times(size: int, queries: int, rng: "np.random.Generator") -> Floats:
    """size × Q: draw as many queries as there are, and count how often each was drawn."""
    drawn = rng.integers(0, queries, size=(size, queries), dtype=np.int32)
    drawn += (np.arange(size, dtype=np.int32) * queries)[:, None]
    times = np.bincount(drawn.ravel(), minlength=size * queries)
    return times.reshape(size, queries).astype(float)
