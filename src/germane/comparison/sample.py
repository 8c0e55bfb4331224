"""Sample: the values of several systems on the same queries, matched by query id, and their bootstrap."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.errors import CoverageError, MeasureError, list_some
from germane.evaluation.result import Result
from germane.measures.measure import Measure

Runs = Mapping[str, Result]


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Measures of systems on the queries for which every one of them has a value.

    The queries are of one or more data sets, which are the strata. Data sets have equal weight, and so
    have the queries within one.
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
        """… × Q → … × Q: subtract from each query's part the mean part of its data set."""
        out = parts.copy()
        for stratum in range(len(self.datasets)):
            of_stratum = self.strata == stratum
            out[..., of_stratum] -= out[..., of_stratum].mean(axis=-1, keepdims=True)
        return out


def match_samples(
    datasets: Mapping[str, Runs], measures: tuple[Measure, ...]
) -> tuple[Sample, ...]:
    """Make one sample of all measures that have values for the same queries; mostly there is one.

    Raises CoverageError where the systems have no query in common, and MeasureError for a measure that
    does not have an arithmetic mean.
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
    """Return the queries for which every run has a value, in an order that is the same for any input."""
    valued = {name: list_valued(run, measure) for name, run in runs.items()}
    first, *others = map(set, valued.values())
    shared = first.intersection(*others)
    if not shared:
        where = f" of {dataset}" if dataset else ""
        had = "; ".join(f"{name}: {list_some(ids) or 'none'}" for name, ids in valued.items())
        raise CoverageError(
            f"{measure}: no query{where} has a value for every run. {had}  Are these the same ids?"
        )
    return tuple(sorted(shared, key=lambda query: (str(query), str(type(query)))))


def list_valued(run: Result, measure: Measure) -> list[Hashable]:
    """List the queries for which a run has a value."""
    return [query for query, value in run[measure].per_query.items() if value == value]  # not NaN


def _make_sample(
    datasets: Mapping[str, Runs],
    measures: tuple[Measure, ...],
    shared: tuple[tuple[Hashable, ...], ...],
) -> Sample:
    systems = tuple(next(iter(datasets.values())))
    values: Floats = np.empty((len(measures), len(systems), sum(map(len, shared))))
    for (m, measure), (s, system) in product(enumerate(measures), enumerate(systems)):
        per_query = (runs[system][measure].per_query for runs in datasets.values())
        parts = zip(per_query, shared, strict=True)
        values[m, s] = [of[query] for of, queries in parts for query in queries]
    known = (
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
        sum(map(len, known)) - values.shape[2],
    )


BLOCK = 2**22  # draws in memory at once


def resample_sums(values: Floats, strata: Ints, resamples: int, rng: np.random.Generator) -> Floats:
    """C × Q values → C × resamples: sum each row over queries drawn with replacement.

    From each stratum, as many queries are drawn as it has; all rows take the same ones.
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
    """size × Q: draw as many queries as there are, and count how often each was drawn."""
    drawn = rng.integers(0, queries, size=(size, queries), dtype=np.int32)
    drawn += (np.arange(size, dtype=np.int32) * queries)[:, None]
    times = np.bincount(drawn.ravel(), minlength=size * queries)
    return times.reshape(size, queries).astype(float)


def estimate_bca(centered: Floats, strata: Ints, z: float) -> tuple[float, float]:
    """Estimate the bias-corrected and accelerated interval (Efron 1987) of a sum, less the sum itself.

    ``centered`` holds each query's part less the mean part of its stratum. The interval covers as much
    as -z to z of a normal distribution, such as z = 1.96. Quantiles of the bootstrap distribution are
    those of its saddlepoint approximation (Davison and Hinkley 1988). It has no resampling error: by
    resampling, an interval of 99.99% would take a million resamples.
    """
    deviation = math.sqrt(float(np.sum(centered**2)))
    if deviation == 0:
        return 0.0, 0.0
    scaled = centered / deviation
    skew = float(np.sum(scaled**3)) / 6  # the bias and the acceleration of a mean
    strata_of = [scaled[strata == stratum] for stratum in range(int(strata.max()) + 1)]
    ends = []
    for end in (-z, z):
        slope = 1 - skew * (skew + end)
        # where the correction is not defined, so far out, the end is the outermost value
        shifted = skew + (skew + end) / slope if slope > 0 else math.copysign(math.inf, end)
        ends.append(_find_quantile(strata_of, shifted) * deviation)
    return ends[0], ends[1]


def _find_quantile(strata: list[Floats], z: float) -> float:
    """Find the quantile of the sum of draws from each stratum, at the probability of ``z``."""
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
    """Return the normal quantile (Barndorff-Nielsen's r*) of the mean under a tilt, and that mean."""
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
    """Find the root of a function between two numbers by false position (Illinois)."""
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
    """Return the normal quantile of a 1 - alpha interval, widened for a small number of queries.

    Two things make a bootstrap interval of n queries too narrow: resampled means have a deviation too
    small by √((n-1)/n), and a normal quantile is smaller than Student's. This corrects both
    (Hesterberg 2015, "expanded percentile"). ``freedom`` is n - 1 for one stratum. Student's quantile
    is the expansion of Abramowitz and Stegun, 26.7.5.
    """
    from statistics import NormalDist  # slow to import

    z = -NormalDist().inv_cdf(alpha / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    student: float = z + sum(term / freedom**i for i, term in enumerate(terms, start=1))
    return student * math.sqrt((freedom + 1) / freedom)
