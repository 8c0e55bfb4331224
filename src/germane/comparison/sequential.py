"""Comparisons that may be looked at after each batch of queries: tests and intervals by betting.

Suppose the mean difference is m, and somebody bets on each query that its difference is larger,
with a fixed share of the fortune. The expected fortune never grows, so the probability that it ever
exceeds 1/α times the stake is at most α (Ville 1939), however often one looks.
All m that a bet on either side has not made so rich are a confidence sequence (Waudby-Smith and
Ramdas 2024). The stake is divided among several shares, so that no share has to be tuned, and the
fortune does not depend on the order of the queries.
"""

import numpy as np

from germane.comparison.samples import Sample
from germane.comparison.significance import (
    SMALLEST,
    TESTS,
    Pairs,
    Procedure,
    Settings,
    compute_differences,
)
from germane.core.mean_intervals import Interval
from germane.core.ragged import Floats
from germane.errors import MeasureError, write_option
from germane.measures.measure import Measure

_SHARES = np.array([0.95, 0.75, 0.5, 0.25, 0.12, 0.06, 0.03])
_HALVINGS = 60
CITE = "betting (Waudby-Smith and Ramdas 2024)"


def bet_on_more(differences: Floats, mean: float) -> float:
    """Compute the logarithm of the fortune of half a stake, bet on values above ``mean``.

    Differences are from −1 to 1. The share of a bet is of the most that can be lost, 1 + mean.
    """
    gains = (differences - mean) / (1 + mean)
    fortunes = np.log1p(np.outer(_SHARES, gains)).sum(axis=1)
    highest = float(fortunes.max())
    return highest + float(np.log(np.exp(fortunes - highest).mean() / 2))


def compute_anytime_p(differences: Floats) -> float:
    """Compute the two-sided p-value of no difference, which holds at all times together."""
    fortune = max(bet_on_more(differences, 0.0), bet_on_more(-differences, 0.0))
    return float(max(min(1.0, np.exp(-fortune)), SMALLEST))


def estimate_anytime_interval(differences: Floats, alpha: float) -> tuple[float, float]:
    """Find the means that bets on neither side refute: the interval of a confidence sequence."""
    low, high = (sign * _find_lowest(sign * differences, alpha) for sign in (1.0, -1.0))
    return low, high


def _find_lowest(differences: Floats, alpha: float) -> float:
    """Find the lowest mean on which bets above it have not made rich; the higher, the poorer."""
    rich, poor, limit = -1.0, float(differences.mean()), float(np.log(1 / alpha))
    for _ in range(_HALVINGS):
        middle = (rich + poor) / 2
        if middle > -1 and bet_on_more(differences, middle) < limit:
            poor = middle
        else:
            rich = middle
    return rich


def find_width(measure: Measure) -> float:
    """Find the largest difference of two values. Raises MeasureError where there is none."""
    span = measure.range
    if span is None or not np.isfinite(span[1] - span[0]):
        raise MeasureError(
            f"{measure} has no highest value, and {write_option('sequential')} needs one, since it"
            " limits what a query that is still to come can change."
        )
    return float(span[1] - span[0])


def estimate_sequence(measure: Measure, differences: Floats, alpha: float) -> Interval:
    """Estimate the interval of a mean difference that holds at all times together."""
    width = find_width(measure)
    low, high = estimate_anytime_interval(differences / width, alpha)
    return Interval(width * low, width * high, 1 - alpha, "range")


def _test_all(sample: Sample, rows: Floats) -> Floats:
    if sample.users or len(sample.datasets) > 1:
        raise MeasureError(
            f"{write_option('sequential')} is for means over the queries of one data set, which"
            " come one after the other."
        )
    return np.array(
        [
            [compute_anytime_p(row / find_width(measure)) for row in of_measure]
            for measure, of_measure in zip(sample.measures, rows, strict=True)
        ]
    )


def _find_smallest(sample: Sample, pairs: Pairs, _: int) -> Floats:
    return _test_all(sample, np.abs(compute_differences(sample, pairs)))


ANYTIME = Procedure(
    f"anytime-valid test by {CITE}",
    "assumes that queries come in a random order; it may be looked at after each batch",
    lambda sample, pairs, *_: _test_all(sample, compute_differences(sample, pairs)),
    _find_smallest,
)


def choose_test(settings: Settings) -> Procedure:
    """Choose the test of a comparison: the one by name, or the one that holds at all times."""
    return ANYTIME if settings.sequential else TESTS[settings.test]
