"""Sample: the values of several systems on the same queries, matched by query id."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.errors import CoverageError, MeasureError, some
from germane.evaluation.result import Result
from germane.measures.measure import Measure

Runs = Mapping[str, Result]


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Measures of systems on the queries for which every one of them has a value.

    Queries of one or more data sets, the strata: each data set weighs the same, and each query the
    same within it.
    """

    measures: tuple[Measure, ...]
    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    queries: tuple[Hashable, ...]  # Q, by data set, and in the order of their text
    strata: Ints  # Q, the data set of each query
    values: Floats  # M × S × Q
    left_out: int  # queries for which some system has no value

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def weights(self) -> Floats:
        """Q: what each query counts; they add up to 1."""
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
        if len(self.datasets) == 1:
            means: Floats = self.values.mean(axis=2)
        else:
            means = self.weighted.sum(axis=2)
        return means

    @property
    def freedom(self) -> int:
        """Queries less data sets: how often the spread within data sets was observed."""
        return len(self) - len(self.datasets)

    def centered(self, parts: Floats) -> Floats:
        """… × Q → … × Q: each query's part less the mean part of its data set."""
        out = parts.copy()
        for stratum in range(len(self.datasets)):
            of_stratum = self.strata == stratum
            out[..., of_stratum] -= out[..., of_stratum].mean(axis=-1, keepdims=True)
        return out


def sampled(datasets: Mapping[str, Runs], measures: tuple[Measure, ...]) -> tuple[Sample, ...]:
    """One sample for all measures that have values for the same queries; mostly there is one.

    Raises CoverageError where two systems have no query in common, MeasureError for a measure whose
    mean is no mean of differences.
    """
    groups: dict[tuple[tuple[Hashable, ...], ...], list[Measure]] = {}
    for measure in measures:
        mean = dict(measure.parameters).get("mean", "arithmetic")
        if mean != "arithmetic":
            raise MeasureError(
                f"{measure}: a difference of {mean} means is not a mean of differences; "
                f"compare {measure(mean='arithmetic')}."
            )
        shared = tuple(_shared(name, runs, measure) for name, runs in datasets.items())
        groups.setdefault(shared, []).append(measure)
    return tuple(_sample(datasets, tuple(alike), shared) for shared, alike in groups.items())


def _shared(dataset: str, runs: Runs, measure: Measure) -> tuple[Hashable, ...]:
    """The queries for which every run has a value, in an order that is the same for any input."""
    valued = {name: _values(run, measure) for name, run in runs.items()}
    first, *others = valued.values()
    shared = [query for query in first if all(query in other for other in others)]
    if not shared:
        where = f" of {dataset}" if dataset else ""
        had = "; ".join(f"{name}: {some(values) or 'none'}" for name, values in valued.items())
        raise CoverageError(
            f"{measure}: no query{where} has a value for every run. {had}  Are these the same ids?"
        )
    return tuple(sorted(shared, key=lambda query: (str(query), str(type(query)))))


def _values(run: Result, measure: Measure) -> dict[Hashable, float]:
    return {q: value for q, value in run[measure].per_query.items() if value == value}  # not NaN


def _sample(
    datasets: Mapping[str, Runs],
    measures: tuple[Measure, ...],
    shared: tuple[tuple[Hashable, ...], ...],
) -> Sample:
    systems = tuple(next(iter(datasets.values())))
    values = [
        [
            [
                run[measure].per_query[query]
                for runs, queries in zip(datasets.values(), shared, strict=True)
                for run in (runs[system],)
                for query in queries
            ]
            for system in systems
        ]
        for measure in measures
    ]
    known = [
        set().union(*(_values(run, measures[0]) for run in runs.values()))
        for runs in datasets.values()
    ]
    return Sample(
        measures,
        systems,
        tuple(datasets),
        tuple(query for queries in shared for query in queries),
        np.repeat(np.arange(len(shared)), list(map(len, shared))),
        np.array(values),
        sum(map(len, known)) - sum(map(len, shared)),
    )
