"""Correction: people's mean, from few judgments of theirs and many of a model's."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from germane.core.bootstrap import Interval, find_student_quantile
from germane.core.bounded_means import Span, count_events, estimate_bounded_interval, shows_spread
from germane.core.ragged import Floats, Ints

About: TypeAlias = Literal["population", "queries"]
Tuning: TypeAlias = Literal["optimal", "full"]

LEVERAGE = 0.25  # the largest share that one query may have in the tuning
# These are calibrated in bench/judges.py, whose table is bench/JUDGES.md.
SKEWNESS = 0.25  # the part of the estimated skewness that bends an interval: the estimate is rough
UNSEEN = 0.5  # queries that vary as much as any and were not drawn: rare errors
# The queries of people's that make up the spread of their values, and of the residuals; fewer say
# too little:
EVENTS = 1.5, 40, 2.5  # 1.5 + n ÷ 40, at most 2.5
RESIDUALS = 1.1, 32, 3.0
FEW = 20  # people's queries: residuals of unknown spread are then worth less than their values


@dataclass(frozen=True, eq=False)
class Design:
    """The model's queries that people judged, too, and how these were drawn."""

    sampled: Ints  # n: places among the N queries of the model
    weights: Floats  # n: how many queries each stands for; they add up to N
    strata: Ints  # n, from 0
    total: int  # N

    @property
    def shares(self) -> Floats:
        """n: the weight of each query in a mean; they add up to 1."""
        shares: Floats = self.weights / self.weights.sum()
        return shares

    @property
    def left(self) -> Floats:
        """n: the probability that each query had of not being drawn."""
        left: Floats = 1 - np.minimum(1.0, 1 / self.weights)
        return left

    def center(self, values: Floats, weights: Floats) -> Floats:
        """Subtract from each value (n) the weighted mean of its stratum."""
        sums = np.bincount(self.strata, values * weights)
        centered: Floats = values - (sums / np.bincount(self.strata, weights))[self.strata]
        return centered


@dataclass(frozen=True)
class Correction:
    """A corrected mean, its interval, and the weight λ that the model's values got."""

    mean: float
    interval: Interval
    tuning: float


def correct_mean(
    people: Floats,
    model: Floats,
    design: Design,
    span: Span,
    *,
    confidence: float = 0.95,
    about: About = "population",
    tuning: Tuning = "optimal",
) -> Correction:
    """Correct the mean of a model's N values by people's n: prediction-powered inference.

    The mean is λ·(mean of the model's N values) + (mean of people - λ·model over the n queries).
    Without bias whatever λ is, it varies least where λ is the slope of people's values on the
    model's; so tuned, this is the regression estimator of survey sampling, and PPI++.
    ``tuning="full"`` is λ = 1. A query has at most a quarter of the leverage on λ, which is nearer
    to 0 otherwise.

    The variance has two parts. Residuals give that of drawing n of the N queries, each residual as
    large as if its query had not been used for λ. The values give that of drawing the N from a
    population; ``about="queries"`` leaves it out. Student's quantile is bent by a quarter of the
    skewness (Hall 1992). Half a query that varies as much as the one that varies most stands for
    rare errors that were not drawn, as half an observation does in each cell of a table (Agresti
    and Min 2005). If few queries make up the spread of people's values or of the residuals, or if
    it is small beside the range of the values, ``span``, the interval comes from that range (see
    ``_bound_mean``). Sources: Angelopoulos et al. 2023 and 2024 (PPI, PPI++); Särndal, Swensson and
    Wretman 1992, chapter 6.
    """
    shares, left, drawn = design.shares, design.left, model[design.sampled]
    gap = float(model.mean() - shares @ drawn)
    x, y = design.center(drawn, shares), design.center(people, shares)
    slope, pull = _fit_slope(x, y, shares**2 * left if left.any() else shares)
    if tuning == "full":
        slope, pull = 1.0, np.zeros_like(x)
    mean = float(shares @ people) + slope * gap
    of_stratum = np.bincount(design.strata, shares)[design.strata]
    leverage = shares / of_stratum + pull * x
    parts = (shares + gap * pull) * (y - slope * x) / (1 - leverage)
    others = parts / shares - (y - slope * x)  # as if each query had not been used for λ
    parts *= np.sqrt(left)
    parts -= (np.bincount(design.strata, parts) / np.bincount(design.strata))[design.strata]
    if not _has_spread(people, parts, design, span, bool(slope)):
        residuals = people - slope * (drawn - model.mean()) + others
        if not slope or (len(people) < FEW and tuning == "optimal"):
            slope, residuals = 0.0, people
        return _bound_mean(residuals, slope, people, model, design, span, confidence, about)
    second = float(np.sum(parts**2) + UNSEEN * np.max(parts**2))
    third = float(np.sum(parts**3))
    if about == "population":
        of_population = _measure_population(people, shares, design.total)
        second, third = second + of_population[0], third + of_population[1]
    freedom = max(1, len(people) - int(design.strata.max()) - 1 - bool(pull.any()))
    interval = _bend_interval(mean, second, third, freedom, confidence)
    return Correction(mean, interval, slope)


def _has_spread(people: Floats, parts: Floats, design: Design, span: Span, tuned: bool) -> bool:
    """Say whether people's values, and the residuals from the model's, show how much they vary."""
    shares = design.shares
    centered = design.center(people, shares)
    events = count_events(centered, shares)
    if events < _count_needed(EVENTS, len(people)):
        return False
    if not shows_spread(people, centered, shares, span):
        return False
    if not tuned or not design.left.any():  # residuals of all queries leave nothing open
        return True
    return count_events(parts / shares, shares) >= _count_needed(RESIDUALS, len(people))


def _count_needed(rule: tuple[float, float, float], queries: int) -> float:
    """Count the queries that have to make up a spread: more of them where there are more."""
    least, step, most = rule
    return min(most, least + queries / step)


def _bound_mean(
    residuals: Floats, slope: float, people: Floats, model: Floats, design: Design, span: Span,
    confidence: float,
    about: About,
) -> Correction:  # fmt: skip
    """Make an interval from the range of residuals whose mean is the corrected one.

    The range of a residual is that of people's value less λ · the model's. The distances of the
    ends from the mean add up by their squares (Zou and Donner 2008): that of the residuals, for n
    of N queries, and that of people's values, for N queries of a population. Strata only count by
    their weights.
    """
    shares, span = design.shares, span.extend()
    low, high = span.low, span.high
    mean = float(shares @ people) + slope * float(model.mean() - shares @ model[design.sampled])
    moves = slope * (low - model.mean()), slope * (high - model.mean())
    wide = Span(low - max(moves), high - min(moves))
    unused = float(shares**2 @ design.left / (shares @ shares))  # variance, where n is near N
    reached = _measure_reach(np.clip(residuals, wide.low, wide.high), shares, wide, confidence)
    below, above = unused * reached**2
    if about == "population":
        reached = _measure_reach(people, shares, span, confidence) if slope else reached
        below, above = (below, above) + (1 - unused) * reached**2
    ends = mean - math.sqrt(below), mean + math.sqrt(above)
    cut = min(mean, max(low, ends[0])), max(mean, min(high, ends[1]))
    return Correction(mean, Interval(*cut, confidence, "range"), slope)


def _measure_reach(values: Floats, shares: Floats, span: Span, confidence: float) -> Floats:
    """Measure how far the ends of the interval of a bounded mean are below and above it."""
    found, mean = (
        estimate_bounded_interval(values, shares, span, confidence),
        float(shares @ values),
    )
    return np.array([max(0.0, mean - found.low), max(0.0, found.high - mean)])


@dataclass(frozen=True)
class Spread:
    """The variance of values, and the queries that the safety of their mean's interval costs."""

    variance: float
    surplus: float


def measure_spreads(
    people: Floats, model: Floats, design: Design, tuning: float
) -> tuple[Spread, Spread]:
    """Measure the spread of people's values, and of their residuals from tuning · model."""
    values = people - design.shares @ people
    residuals = design.center(people - tuning * model[design.sampled], design.shares)
    strata = int(design.strata.max()) + 1
    return _measure_spread(values, design, strata), _measure_spread(residuals, design, strata + 1)


def _measure_spread(centered: Floats, design: Design, fitted: int) -> Spread:
    """Measure the spread of values of which some means and slopes were fitted.

    n leave-one-out residuals enlarge the variance by about 2 · fitted ÷ n, and the unseen query by
    its share.
    """
    squares = centered**2
    mean = float(design.shares @ squares)
    unseen = UNSEEN * float(squares.max()) / mean if mean else 0.0
    return Spread(mean * len(squares) / (len(squares) - 1), 2 * fitted + unseen)


def _fit_slope(x: Floats, y: Floats, weights: Floats) -> tuple[float, Floats]:
    """Fit λ, and find the pull of each value on it (n): λ is the sum of pull · y."""
    squares = weights * x**2
    total = max(float(squares.sum()), float(squares.max()) / LEVERAGE)
    pull = weights * x / total if total > 1e-18 else np.zeros_like(x)
    return float(pull @ y), pull


def _measure_population(values: Floats, shares: Floats, total: int) -> tuple[float, float]:
    """Measure second and third moment of a mean over ``total`` queries, from a weighted sample."""
    centered = values - shares @ values
    unbiased = len(values) / (len(values) - 1)
    second = float(shares @ centered**2) * unbiased / total
    return second, float(shares @ centered**3) / total**2


def _bend_interval(
    mean: float, second: float, third: float, freedom: int, confidence: float
) -> Interval:
    """Make an interval from the variance and the third moment of an estimate."""
    error = math.sqrt(max(0.0, second))
    if error <= 1e-12 * abs(mean) or not error:
        return Interval(mean, mean, confidence)
    student = find_student_quantile(1 - confidence, freedom)
    skewness = SKEWNESS * third / error**3
    low, high = (
        mean - error * _invert_transformation(bound, skewness) for bound in (student, -student)
    )
    return Interval(low, high, confidence)


def _invert_transformation(bound: float, skewness: float) -> float:
    """Invert Hall's transformation of a skewed t: t + s·t²/3 + s²·t³/27 + s/6, for skewness s."""
    if abs(skewness) < 1e-9:
        return bound
    return 3 / skewness * (float(np.cbrt(1 + skewness * (bound - skewness / 6))) - 1)
