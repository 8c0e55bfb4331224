"""Pair: what is known of the difference between two systems on one measure."""

from dataclasses import asdict, dataclass
from typing import Any

from germane.measure import Measure

# Measures of which more is not better.
QUANTITIES = frozenset(
    ("NumQ", "NumRet", "NumRel", "NumNonrelRet", "Judged", "Unjudged", "IDCG", "RBPResidual")
)


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a mean difference."""

    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class Equivalence:
    """Is the difference within ±bound? Two one-sided t-tests."""

    bound: float
    p: float


@dataclass(frozen=True)
class Pair:
    """The difference of two systems on one measure, over the queries that both have.

    >>> runs = {"a": {"q": ["x", "d"], "p": ["e"]}, "b": {"q": ["d"], "p": ["e"]}}
    >>> pair = germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR").pairs[0]
    >>> pair.difference, pair.wins, pair.losses, pair.ties
    (0.25, 1, 0, 1)
    """

    measure: Measure
    system: str
    baseline: str
    queries: int
    difference: float
    """mean of the system less mean of the baseline"""
    interval: Interval | None
    """of the mean difference; None where it rests on one query"""
    d_z: float | None
    """Cohen's d_z: the mean difference in standard deviations of one query's difference; None
    where that does not vary"""
    improvement: float
    """the probability that the system does better on a query, ties counted half"""
    wins: int
    losses: int
    ties: int
    p: float
    """as the test gives it"""
    p_adjusted: float
    """corrected for the number of comparisons"""
    alpha: float
    detectable: float | None
    """the smallest true difference that so many queries show with a probability of 0.8"""
    equivalence: Equivalence | None
    test: str
    """the test and the correction, in words"""

    @property
    def significant(self) -> bool:
        """Is the difference more than noise, p_adjusted < alpha?"""
        return self.p_adjusted < self.alpha

    @property
    def sentence(self) -> str:
        """The comparison in one sentence, the better system first."""
        better, worse, sign = self.system, self.baseline, 1
        if self.difference < 0:
            better, worse, sign = worse, better, -1
        wins, losses = (self.wins, self.losses)[::sign]
        if not wins + losses:
            where = f"on all {_queries(self.queries)}" if self.queries > 1 else "on the one query"
            return f"{better} and {worse} have the same {self.measure} {where}"
        by = f"{short(abs(self.difference))} {self.measure}{self._interval(sign)}"
        more = "beats" if self.measure.name not in QUANTITIES else "exceeds"
        said = f"{better} {more} {worse} by {by}"
        if not self.significant:
            said = f"{better} is ahead of {worse} by {by}, no more than noise"
        said += f", {p_text(self.p_adjusted)} ({self.test})"
        said += f", {_count(wins, 'win')} {_count(losses, 'loss')} {_count(self.ties, 'tie')}"
        return said + self._beyond()

    def _interval(self, sign: int) -> str:
        if self.interval is None:
            return ""
        low, high = sorted((sign * self.interval.low, sign * self.interval.high))
        return f" [{short(low)}, {short(high)}]"

    def _beyond(self) -> str:
        """What else is known: equivalence where it was asked for, what could have been seen."""
        said = ""
        if self.queries == 1:
            said += "; one query says nothing of others"
        elif not self.significant and self.detectable is not None:
            said += f"; {_queries(self.queries)} could show {short(self.detectable)}"
        if self.equivalence is not None:
            within = self.equivalence.p < self.alpha
            said += f"; {'' if within else 'not shown to be '}equivalent within ±"
            said += f"{self.equivalence.bound:g} (TOST, {p_text(self.equivalence.p)})"
        return said

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = asdict(self)
        plain["measure"] = str(self.measure)
        return {**plain, "significant": self.significant, "sentence": self.sentence}


def p_text(p: float) -> str:
    """A p-value as people write it; never as 0."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def short(value: float) -> str:
    """Three decimals, or more where these are all 0."""
    value += 0.0  # no -0.000
    return f"{value:.3f}" if abs(value) >= 0.001 or not value else f"{value:.1g}"


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"


def _count(count: int, what: str) -> str:
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what}{'es' if what.endswith('s') else 's'}"
