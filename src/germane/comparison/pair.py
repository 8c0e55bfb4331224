"""Pair: what is known of the difference between two systems on one measure."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from germane.measures.measure import Measure

Verdict: TypeAlias = Literal["significant", "not significant", "inconclusive"]

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

    @property
    def level(self) -> str:
        """Its confidence in percent, such as 95% or 99.89%: two digits of what is missing from 100%."""
        missing = float(f"{100 * (1 - self.confidence):.2g}")
        return f"{100 - missing:.12g}%"


@dataclass(frozen=True)
class Equivalence:
    """Is the difference within ±bound? Two one-sided t-tests."""

    bound: float
    p: float


@dataclass(frozen=True)
class Limit:
    """Why p_adjusted could not be below alpha, however the queries that differ had fallen."""

    cause: Literal["queries", "resamples"]
    count: int
    """queries that differ, or resamples drawn"""
    smallest_p: float
    """the smallest p_adjusted that could have been"""
    corrected: bool
    """is it the correction that makes it so large?"""

    def __str__(self) -> str:
        said = f"only {self.count:,} queries differ"
        if self.cause == "resamples":
            said = f"only {self.count:,} resamples are drawn"
        elif self.count == 1:
            said = "only 1 query differs"
        after = " after correction" if self.corrected else ""
        return f"{said}, so that p cannot be below {self.smallest_p:.3g}{after}"


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
    """of the mean difference, at the level that the correction leaves to this pair; None where it
    rests on one query"""
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
    limit: Limit | None
    """why p_adjusted could not be below alpha; None where it could, or where nothing differs"""
    detectable: float | None
    """the smallest true difference that so many queries show with a probability of 0.8, in a test at
    the level of the interval"""
    equivalence: Equivalence | None
    test: str
    """the test and the correction, in words"""

    @property
    def significant(self) -> bool:
        """Is the difference statistically significant, p_adjusted < alpha?"""
        return self.p_adjusted < self.alpha

    @property
    def verdict(self) -> Verdict:
        """``significant``, ``not significant``, or ``inconclusive``: the test cannot reach alpha."""
        if self.significant:
            return "significant"
        return "inconclusive" if self.limit else "not significant"

    @property
    def sentence(self) -> str:
        """The comparison in one sentence, the better system first."""
        better, worse, sign = self.system, self.baseline, 1
        if self.difference < 0:
            better, worse, sign = worse, better, -1
        wins, losses = (self.wins, self.losses)[::sign]
        if not wins + losses:
            where = (
                f"on all {_count_queries(self.queries)}" if self.queries > 1 else "on the one query"
            )
            return f"{better} and {worse} have the same {self.measure} {where}"
        more = "is significantly better than"
        if not self.significant:
            more = "is ahead of"
        elif self.measure.name in QUANTITIES:
            more = "significantly exceeds"
        said = f"{better} {more} {worse} by {format_short(abs(self.difference))} {self.measure}"
        said += self._interval(sign)
        if not self.significant:
            said += f", {self.verdict}"
        said += f", {format_p(self.p_adjusted, self.alpha)} ({self.test})"
        said += f", {_count(wins, 'win')} {_count(losses, 'loss')} {_count(self.ties, 'tie')}"
        return said + self._beyond()

    def _interval(self, sign: int) -> str:
        if self.interval is None:
            return ""
        low, high = sorted((sign * self.interval.low, sign * self.interval.high))
        return f", {self.interval.level} interval [{format_short(low)}, {format_short(high)}]"

    def _beyond(self) -> str:
        """The limits of the comparison, and equivalence where it was asked for."""
        said = ""
        if self.queries == 1:
            said += "; one query says nothing of others"
        elif self.limit:
            said += f"; this test cannot reach p < {self.alpha:g} here: {self.limit}"
        elif not self.significant and self.detectable is not None:
            said += f"; {_count_queries(self.queries)} could show {format_short(self.detectable)}"
        if self.interval is not None and not self.limit:
            has_zero = self.interval.low <= 0 <= self.interval.high
            if has_zero == self.significant:
                said += (
                    f"; the interval does not agree: it {'includes' if has_zero else 'excludes'} 0"
                )
        if self.equivalence is not None:
            within = self.equivalence.p < self.alpha
            said += f"; {'' if within else 'not shown to be '}equivalent within ±"
            said += f"{self.equivalence.bound:g} (TOST, {format_p(self.equivalence.p, self.alpha)})"
        return said

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = asdict(self)
        plain["measure"] = str(self.measure)
        verdict = {"significant": self.significant, "verdict": self.verdict}
        return {**plain, **verdict, "sentence": self.sentence}


def format_p(p: float, alpha: float = 0.05) -> str:
    """A p-value as people write it; never as 0, and never as alpha where it is below."""
    number = format_p_number(p, 3) if alpha > 1e-6 else f"{p:.1e}"
    if not number.startswith("<") and (float(number) < alpha) != (p < alpha):
        number = f"{p:.6g}"
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def format_p_number(p: float, digits: int) -> str:
    """So many decimals, or two digits of a small p-value, or that it is below a millionth."""
    if p < 1e-6:
        return "< 1e-6"
    return f"{p:.{digits}f}" if p >= 0.001 else f"{p:.1e}".replace("e-0", "e-")


def format_short(value: float) -> str:
    """Three decimals, or more where these are all 0."""
    value += 0.0  # no -0.000
    return f"{value:.3f}" if abs(value) >= 0.001 or not value else f"{value:.1g}"


def _count_queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"


def _count(count: int, what: str) -> str:
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what}{'es' if what.endswith('s') else 's'}"
