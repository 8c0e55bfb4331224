"""Means: the interval of each system's own mean."""

from collections.abc import Hashable, Mapping

import numpy as np

from germane.comparison.pair import Interval
from germane.comparison.pairing import interval_of
from germane.comparison.sample import Sample, sampled
from germane.evaluation.result import Result
from germane.measures.measure import Measure

Means = dict[str, dict[Measure, Interval | None]]


def mean_intervals(
    results: Mapping[str, Result],
    measures: tuple[Measure, ...],
    alpha: float,
) -> Means:
    """System → measure → interval of its mean; None where it rests on one query.

    Each system's over its own queries. Measures whose
    number is a sum over queries, or a geometric mean, are refused by the caller.
    """
    alike: dict[frozenset[Hashable], dict[str, Result]] = {}
    for name, result in results.items():
        kept = frozenset(q for q, value in result[measures[0]].per_query.items() if value == value)
        alike.setdefault(kept, {})[name] = result
    out: Means = {name: {} for name in results}
    for group in alike.values():
        known = tuple(m for m in measures if all(_is_known(one, m) for one in group.values()))
        for sample in sampled({"": group}, known):
            for m, measure in enumerate(sample.measures):
                for s, system in enumerate(sample.systems):
                    out[system][measure] = _interval(sample, m, s, alpha)
    return out


def _is_known(result: Result, measure: Measure) -> bool:
    """Has any query a value?"""
    return not np.isnan(result[measure].values).all()


def _interval(sample: Sample, m: int, s: int, alpha: float) -> Interval | None:
    if sample.freedom < 1:
        return None
    centered = sample.centered(sample.weighted[m, s])
    return interval_of(sample, centered, float(sample.means[m, s]), alpha)
