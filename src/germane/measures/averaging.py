"""Averaging: a measure's value for every query, which of them count, their mean, and its range."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

import numpy as np

from germane.core import ragged
from germane.core.calls import is_number
from germane.core.id_spelling import unwrap_keys
from germane.core.mean_intervals import Span
from germane.core.ragged import Arithmetic, Bools, Floats, Halves, Ints, reaches
from germane.core.ranking import Ranking
from germane.errors import InputError, MeasureError, NotFoundError, clip, list_some
from germane.measures import Scored
from germane.measures.definition import Range
from germane.measures.measure import Measure

if TYPE_CHECKING:
    from germane.core.mean_intervals import Interval


class Ranged(Protocol):
    """Anything that says which values a query can have."""

    @property
    def range(self) -> Range | None: ...


def find_span(measure: Ranged, values: Floats) -> Span:
    """Find the range of a measure's values.

    Where its definition sets no limits, it goes from the lowest of these values, or from 0, to the
    highest, with room for as much again.
    """
    low, high = float(values.min()), float(values.max())
    if measure.range is not None:  # which rounding can exceed
        return Span(min(measure.range[0], low), max(measure.range[1], high))
    low = 0.0 if reaches(low, 0.0, high) else low  # rounding is no value below 0
    width = high - low or 1.0
    return Span(low, low + width, room=width)


def find_span_of_logarithms(measure: Ranged, logarithms: Floats, floor: float) -> Span:
    """Find the range of the logarithms of a measure's values, of which none is below ``floor``."""
    if measure.range is not None:
        return Span(floor, math.log(measure.range[1]))
    width = float(logarithms.max()) - floor or 1.0
    return Span(floor, floor + width, room=width)


def find_span_of_differences(measure: Ranged, values: Floats) -> Span:
    """Find the range of differences between values, few of which come near to its ends."""
    span = find_span(measure, values)
    return Span(span.low - span.high, span.high - span.low)


# --- Averaging: a measure's value for every query, which of them count, and their mean ------------

GROUPS = 100  # of users, over which a number of all lists is spread; see bench/SIGNIFICANCE.md
NEEDS_SUBTOPICS = (
    "Give {query: {item: {subtopic: grade}}}, a frame with a column subtopic, or TREC qrels whose"
    " second column names subtopics."
)


def _round_values(values: Floats, digits: int, halves: Halves) -> Floats:
    if halves == "even":  # of the number itself, which times a power of 10 would be another one
        return np.array([round(value, digits) for value in values.tolist()])
    unit = 10.0**digits
    return np.floor(values * unit + 0.5) / unit


def spread_quotient(value: float, parts: tuple[Floats, Floats], groups: Ints, count: int) -> Floats:
    """Spread the quotient of two sums over groups of their terms (see ``spread_values``)."""
    sums, divisors = (
        part.sum() - np.bincount(groups, weights=part, minlength=count) for part in parts
    )
    without = np.where(divisors > 0, sums / np.where(divisors > 0, divisors, 1), np.nan)
    return spread_values(value, without)


def spread_values(value: float, without: Floats) -> Floats:
    """Spread a number over groups, given the number without each of them.

    The value of a group is as far from the mean as the number would be without the group, times
    count - 1: the jackknife (Quenouille 1956; Tukey 1958). The variance of their mean is, on
    average, no less than that of the number over other users (Efron and Stein 1981).
    """
    spread: Floats = value + (len(without) - 1) * (without.mean() - without)
    return spread


@dataclass(frozen=True, eq=False, repr=False)
class QueryValues(Arithmetic):
    """One measure's value for every query, and their mean.

    >>> result = germane.evaluate({"q1": ["a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["a", "b"]}, "RR")
    >>> by_length = result.by({"q1": "short", "q2": "long"})
    >>> by_length["long"]["RR"].values.tolist(), by_length["long"]["RR"].mean
    ([0.5], 0.5)
    """

    FLOOR: ClassVar = 1e-5  # a geometric mean takes smaller values as this one

    measure: Measure
    queries: list[Hashable]
    values: Floats
    """One value per query, in the order of ``queries``; NaN if the policy leaves it out."""
    left_out: Bools | None = None
    """Q: does the policy leave the query out? None if it leaves out none."""
    digits: int | None = None
    query_digits: int | None = None
    undefined: str = "nan"
    norm: Floats | None = None
    """Each query's norm, if it is the weight of the query in the mean."""
    given_weights: Floats | None = field(default=None, kw_only=True)
    """Each query's weight in the mean, where ``weigh`` was given one."""
    halves: Halves = field(default="up", kw_only=True)
    unanswered: int = field(default=0, kw_only=True)
    """The judged queries that the run lacks and that count nevertheless."""

    def __post_init__(self) -> None:
        if self.query_digits is not None:
            rounded = _round_values(self.values, self.query_digits, self.halves)
            object.__setattr__(self, "values", rounded)
        self.values.setflags(write=False)

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.mean:.4f} over {len(self.values)} queries>"

    @property
    def lacks_worst(self) -> bool:
        """Do queries that the run lacks count, though no value is the worst that they could have?

        Only measures of which low values are good, and that have no limit, lack such a value.
        """
        is_low = self.measure.row.better == "low"
        return bool(self.unanswered) and is_low and self.measure.range is None

    @cached_property
    def mean(self) -> float:
        """The mean over queries (for counts: the sum), rounded once at the end."""
        mean = self._mean()
        return mean if self.digits is None else round(mean, self.digits)

    def _mean(self) -> float:
        if self.measure.row.aggregate == "sum":
            return math.fsum(self.values.tolist())
        values, weights = self._select_weighed()
        if not len(values):
            return 0.0 if self.undefined == "zero" else math.nan
        if ("mean", "median") in self.measure.parameters:
            return float(np.median(values))
        if weights is not None:
            total = math.fsum(weights.tolist())
            return math.fsum((values * weights).tolist()) / total
        if ("mean", "geometric") in self.measure.parameters:
            return math.exp(
                math.fsum(np.log(np.maximum(values, self.FLOOR)).tolist()) / len(values)
            )
        return math.fsum(values.tolist()) / len(values)

    def _repr_html_(self) -> str:
        from germane.output.tables import Table

        total = "sum" if self.measure.row.aggregate == "sum" else "mean"
        cells = (str(self.measure), f"{self:.4f}", str(len(self.values)))
        notes = (f"{self.measure}: {self.measure.definition}",)
        return Table(("measure", total, "queries"), (cells,), notes).html()

    def _select_averaged(self) -> Floats:
        """The values that are averaged."""
        averaged = self.values if self.left_out is None else self.values[~self.left_out]
        return np.nan_to_num(averaged) if self.undefined == "zero" else averaged

    def _select_weighed(self) -> tuple[Floats, Floats | None]:
        """The values that are averaged, and their weights; None if all weigh the same.

        Where all norms are 0, no query has a weight by which it could count more than another.
        """
        values, weights = self._select_averaged(), self.given_weights
        if weights is None:
            weights = self.norm
        if weights is None:
            return values, None
        if self.left_out is not None:
            weights = weights[~self.left_out]
        if weights.any():
            return values, weights
        return (values if self.given_weights is None else values[:0]), None

    @property
    def units(self) -> list[Hashable]:
        """The queries, or for a measure of the catalogue all users with a list."""
        return self.queries

    def take(self, rows: Ints) -> "QueryValues":
        """Select some of the queries, by their places in ``units``."""
        parts = (self.left_out, self.norm, self.given_weights)
        left_out, norm, weights = (None if part is None else part[rows] for part in parts)
        return QueryValues(
            self.measure, [self.queries[q] for q in rows.tolist()], self.values[rows], left_out,
            self.digits, None, self.undefined, norm, given_weights=weights,
        )  # fmt: skip

    def weigh(self, weights: Mapping[Hashable, float]) -> Self:
        """Weigh the queries of the mean: ``{query: weight}``, sample_weight of scikit-learn.

        >>> result = germane.evaluate({"q1": ["a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["x", "b"]},
        ...     "RR")
        >>> weighted = result["RR"].weigh({"q1": 3, "q2": 1})
        >>> weighted.mean
        0.875

        ``interval``, ``best`` and ``worst`` of the returned values know of the weights, and
        ``definition`` says that there are some. Raises NotFoundError for a query without a weight,
        InputError for a weight that is not a number of at least 0 or where all are 0, and
        MeasureError for a sum and for a micro or geometric mean.
        """
        if not self.is_arithmetic:
            raise MeasureError(
                f"{self.measure} is not an arithmetic mean over queries, so it takes no weights."
            )
        if not isinstance(weights, Mapping):
            raise InputError(f"weights are {{query: weight}}; got {clip(weights)}")
        weights = unwrap_keys(weights, "weights")
        missing = [query for query in self.queries if query not in weights]
        if missing:
            raise NotFoundError(f"weights: none for {list_some(missing)} ({len(missing)} queries).")
        query_weights = [weights[query] for query in self.queries]
        for query, weight in zip(self.queries, query_weights, strict=True):
            if not is_number(weight):
                raise InputError(f"the weight of {clip(query)} is a number; got {clip(weight)}")
            if not (0 <= weight < math.inf):
                raise InputError(f"the weight of {clip(query)} is at least 0; got {clip(weight)}")
        array = np.array(query_weights, float)
        if not math.isfinite(sum(map(float, query_weights))):
            raise InputError("weights: their sum is beyond the range of a double. Divide them all.")
        if not array.any():
            raise InputError("weights: all are 0.")
        return replace(self, given_weights=array)

    def __float__(self) -> float:
        return self.mean

    @property
    def is_arithmetic(self) -> bool:
        """Is it an arithmetic mean over queries? Counts and other means are not."""
        mean = dict(self.measure.parameters).get("mean", "arithmetic")
        return self.measure.row.aggregate == "mean" and self.norm is None and mean == "arithmetic"

    @property
    def is_pooled(self) -> bool:
        """Is it one number of all queries or lists, and no mean of their values?"""
        return self.norm is not None

    @property
    def has_interval(self) -> bool:
        """Does the number have an interval? Counts and medians have none."""
        is_median = ("mean", "median") in self.measure.parameters
        return self.measure.row.aggregate == "mean" and not is_median

    @staticmethod
    def group_units(units: Sequence[Hashable]) -> Ints:
        """Put queries or users into groups of nearly one size by chance, whatever their order."""
        order = sorted(range(len(units)), key=lambda u: (str(units[u]), str(type(units[u]))))
        groups = np.empty(len(units), int)
        groups[order] = np.random.default_rng(0).permutation(len(units)) % min(GROUPS, len(units))
        return groups

    def spread_over(
        self, units: Sequence[Hashable], groups: Ints, count: int
    ) -> tuple[float, Floats]:
        """Compute a micro mean over some queries, and spread it over groups of them.

        ``groups`` is the group of each query. The value of a group comes from the mean without it,
        by the jackknife.
        """
        assert self.norm is not None
        place = {query: q for q, query in enumerate(self.queries)}
        rows = np.array([place[query] for query in units])
        norm = self.norm[rows]
        parts = self.values[rows] * norm, norm
        mean = float(parts[0].sum() / parts[1].sum()) if parts[1].any() else math.nan
        return mean, spread_quotient(mean, parts, groups, count)

    def interval(self, *, confidence: float = 0.95) -> "Interval | None":
        """Estimate a confidence interval of the mean, as ``compare`` does of a mean difference.

        >>> qrels = {q: ["a"] for q in range(12)}
        >>> result = germane.evaluate(qrels, {q: [*"xyz"[: q % 3], "a"] for q in range(12)}, "RR")
        >>> interval = result["RR"].interval(confidence=0.9)
        >>> print(f"{result['RR']:.3f}, {interval.level} [{interval.low:.3f}, {interval.high:.3f}]")
        0.611, 90% [0.463, 0.795]

        It is the BCa bootstrap of the queries. If their values show too little of how much they
        vary, it comes from the range of the measure (``interval.basis``), so that it never has a
        width of 0. Returns None for fewer than five queries, which tell too little about others,
        and where the mean is not a number. Raises InputError for a confidence that is not between
        0 and 1, and MeasureError for a count and for a median, which is not a mean over queries.
        """
        from germane.core.mean_intervals import Interval, estimate_mean_interval

        Interval.check_confidence(confidence)
        if not self.has_interval:
            raise MeasureError(
                f"{self.measure} is not a mean over queries: it has no confidence interval."
            )
        values, weights = self._select_weighed()
        if not len(values) or np.isnan(values).any():
            return None
        if ("mean", "geometric") in self.measure.parameters:
            values = np.log(np.maximum(values, self.FLOOR))
            span = find_span_of_logarithms(self.measure, values, math.log(self.FLOOR))
            interval = estimate_mean_interval(values, span, confidence)
            return interval and replace(
                interval, low=math.exp(interval.low), high=math.exp(interval.high)
            )
        return estimate_mean_interval(values, find_span(self.measure, values), confidence, weights)

    @cached_property
    def per_query(self) -> dict[Hashable, float]:
        """Query id → value; queries that the policy leaves out are not in it."""
        pairs = zip(self.queries, self.values.tolist(), strict=True)
        if self.left_out is None:
            return dict(pairs)
        return dict(compress(pairs, (~self.left_out).tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class MeasureResult(QueryValues):
    """One measure's values, with the range of their mean over the orders of ties.

    >>> result = germane.evaluate({"q": {"a": 1}}, {"q": {"a": 2.0, "b": 2.0}}, "RR")
    >>> result["RR"].mean, result["RR"].best, result["RR"].worst
    (0.5, 1.0, 0.5)

    In arithmetic and comparisons, it stands for its mean, as a plain number.

    >>> round(result["RR"], 2), result["RR"] > 0.4, result["RR"] - 0.1
    (0.5, True, 0.4)
    """

    under: Callable[[str], "QueryValues | None"] | None = None
    """Computes the values under another order of ties, or None if no judged item is tied."""
    are_extremes: bool = True
    """Does no order of ties give a mean beyond ``best`` and ``worst``?"""

    @property
    def definition(self) -> str:
        """The measure's formula in words, and the weights of its mean if there are any."""
        weighted = "" if self.given_weights is None else "; mean weighted by query"
        return self.measure.definition + weighted

    @cached_property
    def best(self) -> float:
        """The mean with relevant items first in each tie, the highest grades foremost."""
        return self._average_under("best")

    @cached_property
    def worst(self) -> float:
        """The mean with relevant items last in each tie."""
        return self._average_under("worst")

    @property
    def list_count(self) -> int | None:
        """The number of lists that a measure of the catalogue counts; None for other measures."""
        return None

    @property
    def band(self) -> float:
        """The distance between best and worst, which depends on the order of ties.

        Unless ``are_extremes``, other orders can go beyond both, so that the distance is at least
        this.
        """
        return abs(self.best - self.worst)

    def _average_under(self, order: str) -> float:
        reordered = None if self.under is None else self.under(order)
        if reordered is None:  # nothing judged is tied
            return self.mean
        return replace(
            self, values=reordered.values, left_out=reordered.left_out, norm=reordered.norm
        ).mean


def evaluate_measure(measure: Measure, ranking: Ranking) -> QueryValues:
    """Compute a measure on a ranking, with 0 for queries of which it is not defined."""
    values = compute_scores(measure, ranking)
    weights = find_weights(measure, compute_terms(measure, ranking))
    return QueryValues(measure, ranking.queries, values, norm=weights)


def find_weights(measure: Measure, scored: Scored) -> Floats | None:
    """Find the weight of each query in the mean (Q); None if all weigh the same."""
    return scored.norm if ("mean", "micro") in measure.parameters else None


BEYOND = np.errstate(over="ignore", invalid="ignore")
"""Grades that are too large make values that are not finite, which are refused."""


@BEYOND
def compute_scores(measure: Measure, ranking: Ranking) -> Floats:
    """Compute the value of every query (Q); 0 for those of which the measure is not defined."""
    return compute_finite(measure, ranking, compute_terms(measure, ranking))


def compute_finite(measure: Measure, ranking: Ranking, scored: Scored) -> Floats:
    """Compute values from terms and norms. Raises MeasureError for one that is not finite."""
    out = scored.compute_values(ranking)
    if not ragged.are_finite(out):
        raise MeasureError(f"{measure}: the grades are too large to be added in double precision.")
    return out


def list_queries(ranking: Ranking, marked: Bools) -> str:
    """List the first few of the marked queries, with their number."""
    marked_queries = [ranking.queries[q] for q in np.flatnonzero(marked)]
    return f"{list_some(marked_queries)} ({len(marked_queries)} of {len(marked)} queries)"


def compute_terms(measure: Measure, ranking: Ranking) -> Scored:
    """Compute terms and norm for every query. Raises MeasureError for unfit ties or grades."""
    if ranking.ties != "ordered":
        check_ties(measure, ranking.ties)
    if measure.rel is None or measure.row.subtopics:
        _check_grades(measure, ranking)
    return measure.row.kernel(ranking, measure.k, **measure.arguments)


def check_ties(measure: Measure, ties: str) -> None:
    """Refuse a measure that has no value under this order of ties."""
    if ties == "expected" and not measure.row.expected:
        raise MeasureError(
            f"{measure}: the mean over all orders of tied items has no closed form here; "
            "choose ties=trec, given, best or worst."
        )
    is_of_hits = measure.row.middle and measure.arguments.get("norm", "R") == "R"
    if ties == "middle" and not is_of_hits:
        raise MeasureError(
            f"{measure}: ties=middle puts items of one score at the middle of their ranks, such as"
            " 2.5, and this measure looks at each rank; it is for RR, Success, R, LastRank,"
            " MeanRank and PercentileRank."
            " ties=expected is the mean over all orders, ties=best and worst the extremes."
        )
    if ties == "grouped" and not (measure.row.grouped and measure.k is None):
        grouped = measure.row.grouped
        why = "a cutoff may fall into a group" if grouped else "it looks at single ranks"
        raise MeasureError(
            f"{measure} is not defined where equal scores are one step ({why}); "
            "choose ties=trec, given, best or worst."
        )


def _check_grades(measure: Measure, ranking: Ranking) -> None:
    """Refuse grades that the measure's scale or gain map lacks, and judgments without subtopics."""
    parameters = measure.arguments
    if measure.row.subtopics and ranking.subtopics is None:
        raise MeasureError(f"{measure}: the judgments have no subtopics. {NEEDS_SUBTOPICS}")
    if measure.name == "ERR" and len(ranking.ideal) and ranking.ideal.max() > parameters["max"]:
        raise MeasureError(
            f"{measure}: the judgments have grade {ranking.ideal.max():g}, above max="
            f"{parameters['max']:g}; write ERR(max={ranking.ideal.max():g})."
        )
    if parameters.get("weights") == "given":
        _check_subtopic_weights(measure, ranking)
    gain = parameters.get("gain")
    if gain == "exp" and len(ranking.ideal) and ranking.ideal.max() > 1000:
        raise MeasureError(
            f"{measure}: 2^grade is beyond the range of a double for grade {ranking.ideal.max():g}."
        )
    if isinstance(gain, tuple):
        cells = ranking.subtopics if measure.row.subtopics else None
        grades = ranking.ideal if cells is None else cells.judged.grades
        missing = set(grades[grades > 0].tolist()) - {grade for grade, _ in gain}
        if missing:
            raise MeasureError(
                f"{measure}: grade {min(missing):g} has no gain; the map must have one for every "
                "positive grade."
            )


def _check_subtopic_weights(measure: Measure, ranking: Ranking) -> None:
    """Refuse judgments without weights of subtopics."""
    cells = ranking.subtopics
    if cells is None or cells.judged.weights is None:
        raise MeasureError(
            f"{measure}: there are no weights of subtopics. Give subtopic_weights={{query:"
            " {subtopic: weight}}, or a file with the columns query, subtopic and weight."
        )
