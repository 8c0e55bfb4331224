"""Sample: the values of several systems on the same queries, matched by query id."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.core.rounding import drop_rounding
from germane.dialects.names import parse
from germane.errors import CoverageError, MeasureError, list_some, write_option
from germane.evaluation.result import Result, Results
from germane.evaluation.special_queries import lacks_worst
from germane.evaluation.whole_lists import CatalogueResult
from germane.measures.averaging import QueryValues
from germane.measures.definition import CatalogueDefinition
from germane.measures.measure import Measure
from germane.output.tables import write_count

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
    conventions: str = ""  # of the numbers, where the measures do not name them
    warning: str = ""  # of data on which tests and intervals do not hold

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
    datasets: Mapping[str, Runs], measures: tuple[Measure, ...]
) -> tuple[Sample, ...]:
    """Make one sample of all measures that have values for the same queries; mostly there is one.

    Raises CoverageError where the systems have no query in common, and MeasureError for a measure
    that does not have an arithmetic mean.
    """
    groups: dict[tuple[tuple[Hashable, ...], ...], list[Measure]] = {}
    for measure in measures:
        mean = dict(measure.parameters).get("mean", "arithmetic")
        if mean != "arithmetic":
            raise MeasureError(
                f"{measure}: a difference of {mean} means is not a mean of differences; "
                f"compare {measure(mean='arithmetic')}."
            )
        row = measure.row
        if isinstance(row, CatalogueDefinition) and (row.of_lists is None or row.pooled):
            raise MeasureError(
                f"{measure} is one number for all lists: queries have no values to compare."
                " evaluate computes it for every run; means over lists, such as Novelty and ILD,"
                " are compared."
            )
        for runs in datasets.values():
            refuse_unanswered({name: run[measure] for name, run in runs.items()})
        shared = tuple(_find_shared_queries(name, runs, measure) for name, runs in datasets.items())
        groups.setdefault(shared, []).append(measure)
    return tuple(_make_sample(datasets, tuple(alike), shared) for shared, alike in groups.items())


def refuse_unanswered(values: Mapping[str, QueryValues]) -> None:
    """Refuse to compare runs that lack queries on a measure that has no worst value for these.

    Raises CoverageError.
    """
    for name, value in values.items():
        if lacks_worst(value):
            queries = write_count(value.unanswered, "judged query", "judged queries")
            raise CoverageError(
                f"{value.measure}: {name} lacks {queries}. A low value is good, and there is no"
                f" worst one that these could have. {write_option('missing', 'skip')} leaves them"
                f" out, and {write_option('missing', 'error')} refuses such a run. Or compare"
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
