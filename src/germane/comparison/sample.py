"""Sample: the values of several systems on the same queries, matched by query id, and their bootstrap."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.errors import CoverageError, MeasureError, list_some
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


def match_samples(
    datasets: Mapping[str, Runs], measures: tuple[Measure, ...]
) -> tuple[Sample, ...]:
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
        shared = tuple(_find_shared_queries(name, runs, measure) for name, runs in datasets.items())
        groups.setdefault(shared, []).append(measure)
    return tuple(_make_sample(datasets, tuple(alike), shared) for shared, alike in groups.items())


def _find_shared_queries(dataset: str, runs: Runs, measure: Measure) -> tuple[Hashable, ...]:
    """The queries for which every run has a value, in an order that is the same for any input."""
    valued = {name: _list_values(run, measure) for name, run in runs.items()}
    first, *others = valued.values()
    shared = [query for query in first if all(query in other for other in others)]
    if not shared:
        where = f" of {dataset}" if dataset else ""
        had = "; ".join(f"{name}: {list_some(values) or 'none'}" for name, values in valued.items())
        raise CoverageError(
            f"{measure}: no query{where} has a value for every run. {had}  Are these the same ids?"
        )
    return tuple(sorted(shared, key=lambda query: (str(query), str(type(query)))))


def _list_values(run: Result, measure: Measure) -> dict[Hashable, float]:
    return {q: value for q, value in run[measure].per_query.items() if value == value}  # not NaN


def _make_sample(
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
        set().union(*(_list_values(run, measures[0]) for run in runs.values()))
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


BLOCK = 2**22  # draws held at once


def resample_sums(values: Floats, strata: Ints, resamples: int, rng: np.random.Generator) -> Floats:
    """C × Q values → C × resamples: their sums over queries drawn with replacement.

    As many queries are drawn from each stratum as it has, the same ones for every row.
    """
    sums = np.zeros((resamples, len(values)))
    for stratum in range(int(strata.max()) + 1):
        of_stratum = values[:, strata == stratum].T
        queries = len(of_stratum)
        step = max(1, BLOCK // queries)
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            sums[start : start + size] += _draw_times(size, queries, rng) @ of_stratum
    return sums.T


def _draw_times(size: int, queries: int, rng: np.random.Generator) -> Floats:
    """size × Q: how often each query is drawn, of as many draws as there are queries."""
    drawn = rng.integers(0, queries, size=(size, queries), dtype=np.int32)
    drawn += (np.arange(size, dtype=np.int32) * queries)[:, None]
    times = np.bincount(drawn.ravel(), minlength=size * queries)
    return times.reshape(size, queries).astype(float)


def estimate_bca(centered: Floats, strata: Ints, z: float) -> tuple[float, float]:
    """The ends, less the estimate, of a bias-corrected and accelerated interval (Efron 1987) of a sum.

    ``centered`` holds each query's part less the mean part of its stratum; ``z`` is how far a normal
    quantile the interval reaches, such as 1.96. Quantiles of the bootstrap distribution are those of
    its saddlepoint approximation (Davison and Hinkley 1988), which has no resampling error: an
    interval of 99.99% would need a million resamples.
    """
    deviation = math.sqrt(float(np.sum(centered**2)))
    if deviation == 0:
        return 0.0, 0.0
    scaled = centered / deviation
    skew = float(np.sum(scaled**3)) / 6  # the bias and the acceleration of a mean
    strata_of = [scaled[strata == stratum] for stratum in range(int(strata.max()) + 1)]
    low, high = (_find_quantile(strata_of, _shift_quantile(skew, at)) * deviation for at in (-z, z))
    return low, high


def _shift_quantile(skew: float, z: float) -> float:
    """The normal quantile of the bootstrap distribution where the end of an interval at ``z`` stands."""
    slope = 1 - skew * (skew + z)
    if slope <= 0:  # beyond where the transformation has a meaning: the last there is
        return math.copysign(math.inf, z)
    return skew + (skew + z) / slope


def _find_quantile(strata: list[Floats], z: float) -> float:
    """The value below which the sum of draws from each stratum is with the chance of ``z``."""
    sign = 1.0 if z > 0 else -1.0
    outermost = sum(len(parts) * float((sign * parts).max()) for parts in strata) * sign
    if math.isinf(z):
        return outermost
    near, far = 0.0, z or 1.0
    reached = _approximate_normal(strata, far)[0]
    while sign * (z - reached) > 0:
        near, (further, before) = far, (_approximate_normal(strata, 2 * far)[0], reached)
        far, reached = 2 * far, further
        if sign * (reached - before) < 1e-3:  # z lies beyond the last value
            return outermost
    tilt = _find_root(lambda tilt: _approximate_normal(strata, tilt)[0] - z, near, far)
    return _approximate_normal(strata, tilt)[1]


def _approximate_normal(strata: list[Floats], tilt: float) -> tuple[float, float]:
    """The normal quantile (Barndorff-Nielsen's r*) of the sum that a tilt makes the mean, and that sum."""
    moment = mean = variance = 0.0
    for parts in strata:
        top = float((tilt * parts).max())
        weights = np.exp(tilt * parts - top)
        total = float(weights.sum())
        moment += len(parts) * (top + math.log(total / len(parts)))
        tilted = float(weights @ parts) / total
        mean += len(parts) * tilted
        variance += len(parts) * float(weights @ (parts - tilted) ** 2) / total
    root = math.copysign(math.sqrt(max(0.0, 2 * (tilt * mean - moment))), tilt)
    if abs(root) < 1e-4:  # the limit
        return root + sum(float(np.sum(parts**3)) for parts in strata) / 6, mean
    if variance <= 0:
        return -math.copysign(math.inf, tilt), mean
    return root + math.log(tilt * math.sqrt(variance) / root) / root, mean


def _find_root(function: Callable[[float], float], near: float, far: float) -> float:
    """Where a function is 0 between two numbers, by false position (Illinois)."""
    at_near, at_far = function(near), function(far)
    for _ in range(60):
        if abs(at_far) < 1e-9 or at_far == at_near:
            break
        between = far - at_far * (far - near) / (at_far - at_near)
        at = function(between)
        if (at > 0) != (at_far > 0):
            near, at_near = far, at_far
        else:
            at_near /= 2
        far, at_far = between, at
    return far


def widen_quantile(alpha: float, freedom: int) -> float:
    """The normal quantile of a 1 - alpha interval, widened for the few queries that it rests on.

    Resampled means of n queries vary by √((n-1)/n) too little, and a normal quantile stands where
    Student's belongs; both are undone (Hesterberg 2015, "expanded percentile"). ``freedom`` is n - 1
    for one stratum. Student's quantile is the expansion of Abramowitz and Stegun, 26.7.5.
    """
    from statistics import NormalDist  # imports much

    z = -NormalDist().inv_cdf(alpha / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    student: float = z + sum(term / freedom**i for i, term in enumerate(terms, start=1))
    return student * math.sqrt((freedom + 1) / freedom)
