"""Pairs of systems on each measure: differences in numbers and words, and their p-values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from germane.comparison.samples import Sample
from germane.comparison.sequential import choose_test, estimate_sequence
from germane.comparison.significance import CORRECTIONS, Settings, compute_differences
from germane.core.calls import Progress
from germane.core.mean_intervals import Dispersion, Interval, estimate_weighted_interval
from germane.core.ragged import Floats, drop_rounding
from germane.errors import MeasureError, make_visible
from germane.measures import find_direction
from germane.measures.averaging import find_span_of_differences
from germane.measures.measure import Measure
from germane.output.documents import Plain
from germane.output.tables import write_count

Verdict: TypeAlias = Literal["significant", "not significant", "inconclusive"]
HeldBack: TypeAlias = Literal["test", "interval"]

# What the system with the higher mean does, by the direction of the measure; and significantly.
_VERBS = {
    1: ("is ahead of", "is significantly better than"),
    0: ("exceeds", "significantly exceeds"),
    -1: ("is behind", "is significantly worse than"),
}


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided t-tests (TOST) of the difference being within ±bound."""

    bound: float
    p: float


@dataclass(frozen=True)
class Limit:
    """The reason why p_adjusted could not be below alpha, whatever the outcome."""

    cause: Literal["queries", "resamples"]
    count: int
    """of queries that differ, or of resamples"""
    smallest_p: float
    """the smallest p_adjusted that was possible"""
    corrected: bool
    """does the correction make it larger?"""

    def __str__(self) -> str:
        return self.write_reason("query")

    def write_reason(self, unit: str) -> str:
        """Write the reason; ``unit`` is what the comparison resamples."""
        if self.cause == "resamples":
            reason = f"{self.count:,} resamples are drawn"
        else:
            reason = f"{write_count(self.count, unit)} differ{'s' * (self.count == 1)}"
        after = " after correction" if self.corrected else ""
        return f"only {reason}, so that p cannot be below {self.smallest_p:.3g}{after}"


@dataclass(frozen=True)
class Pair(Plain):
    """The difference of two systems on one measure, over the queries for which both have a value.

    >>> runs = {"a": {"q": ["x", "d"], "p": ["e"]}, "b": {"q": ["d"], "p": ["e"]}}
    >>> pair = germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR").pairs[0]
    >>> pair.difference, pair.wins, pair.losses, pair.ties
    (0.25, 1, 0, 1)
    """

    _json = "* significant verdict held_back_by sentence"

    measure: Measure
    system: str
    baseline: str
    queries: int
    difference: float
    """mean of the system less mean of the baseline"""
    interval: Interval | None
    """of the mean difference, at the level that the correction leaves to this pair; None for fewer
    than five queries, or one of a data set, which tell too little about others"""
    d_z: float | None
    """Cohen's d_z: the mean difference in standard deviations of one query's difference; None
    where that does not vary"""
    improvement: float | None
    """the probability that the system does better on a query, ties counted half; like wins, losses
    and ties, None for a number of all lists, such as Coverage, which queries do not have"""
    wins: int | None
    """queries on which the system does better"""
    losses: int | None
    ties: int | None
    p: float
    """uncorrected, unless the test itself corrects"""
    p_adjusted: float
    """corrected for the number of comparisons"""
    alpha: float
    limit: Limit | None
    """why p_adjusted could not be below alpha; None where it could, or where nothing differs"""
    detectable: float | None
    """the smallest true difference that so many queries show with a probability of 0.8, in a t-test
    at the level of the interval"""
    equivalence: Equivalence | None
    test: str
    """the test and the correction, in words"""
    unit: str = "query"
    """the things that ``queries`` counts, such as images, where boxes in images are compared"""
    is_opposed: bool = False
    """does the test, which is not about the mean, favor the system whose mean is lower?"""

    @property
    def significant(self) -> bool:
        """Is the difference significant: p_adjusted < alpha, and 0 outside the interval?"""
        return self._is_rejected and self.held_back_by is None

    @property
    def held_back_by(self) -> HeldBack | None:
        """What keeps the difference from being significant although the other of both shows it.

        It is ``interval``, which contains 0 or is None although p_adjusted < alpha, or ``test``, or
        None if they agree.
        """
        excludes_zero = self.interval is not None and 0 not in self.interval
        if self._is_rejected and not excludes_zero:
            return "interval"
        return "test" if excludes_zero and (self.is_opposed or not self._is_rejected) else None

    @property
    def verdict(self) -> Verdict:
        """``significant``, ``not significant``, or ``inconclusive`` if no p could reach alpha, or
        if p is below it and the difference is not significant."""
        if self.significant:
            return "significant"
        return "inconclusive" if self.limit or self._is_rejected else "not significant"

    @property
    def _is_rejected(self) -> bool:
        return self.p_adjusted < self.alpha

    @property
    def better(self) -> str | None:
        """The system with the better mean; None if neither is better."""
        sign = find_direction(self.measure.name)
        lead = sign * self.difference
        return None if not lead else self.system if lead > 0 else self.baseline

    @property
    def sentence(self) -> str:
        """The comparison in one sentence, which begins with the system that has the higher mean."""
        return self.write_sentence(str(self.measure))

    def write_sentence(self, name: str) -> str:
        """Write the sentence, with another name for the measure."""
        better, worse, sign = self.system, self.baseline, 1
        if self.difference < 0:
            better, worse, sign = worse, better, -1
        wins, losses = (self.wins, self.losses)[::sign]
        if wins == losses == 0:
            queries = (
                f"all {write_count(self.queries, self.unit)}"
                if self.queries > 1
                else f"the one {self.unit}"
            )
            return f"{better} and {worse} have the same {name} on {queries}"
        if not self.difference:
            text = f"{better} and {worse} have the same {'' if wins is None else 'mean '}{name}"
        else:
            verb = _VERBS[find_direction(self.measure.name)][self.significant]
            text = f"{better} {verb} {worse} by {format_difference(abs(self.difference))} {name}"
        if self.interval is not None:
            ends = sorted((sign * self.interval.low, sign * self.interval.high))
            text += f", {self.interval.level} interval [{', '.join(map(format_difference, ends))}]"
        if not self.significant:
            text += f", {self.verdict}"
        text += f", {format_p(self.p_adjusted, self.alpha)} ({self.test})"
        if wins is not None and losses is not None and self.ties is not None:
            text += (
                f", {write_count(wins, 'win')} {write_count(losses, 'loss', 'losses')}"
                f" {write_count(self.ties, 'tie')}"
            )
        return "; ".join((text, *self._list_reservations()))

    def _list_reservations(self) -> Iterator[str]:
        """Yield the limits of the comparison, and equivalence where it was asked for."""
        if self.queries == 1:
            yield f"one {self.unit} tells nothing about others"
            return
        if self.queries < Interval.FEWEST:
            yield (
                f"no interval: {write_count(self.queries, self.unit)} tell too little about others"
            )
        if self.limit:
            yield (
                f"this test cannot reach p < {self.alpha:g} here:"
                f" {self.limit.write_reason(self.unit)}"
            )
        elif not self._is_rejected and self.detectable is not None:
            yield (
                f"smallest detectable difference with {write_count(self.queries, self.unit)}:"
                f" {format_difference(self.detectable)}"
            )
        if reason := self.explain_disagreement():
            yield reason
        if self.equivalence is not None:
            p, negation = self.equivalence.p, "not shown to be "
            yield (
                f"{negation * (p >= self.alpha)}equivalent within ±{self.equivalence.bound:g} "
                f"(TOST, {format_p(p, self.alpha)})"
            )

    def explain_disagreement(self) -> str:
        """Say whether the test or the interval holds back the verdict; empty if they agree."""
        if self.held_back_by is None:
            return ""
        reason = self.describe_disagreement(format_p(self.p_adjusted, self.alpha))
        return f"{reason}: not called significant"

    def describe_disagreement(self, p: str) -> str:
        """Describe how test and interval disagree, with these words for the p-value."""
        if not self._is_rejected:
            return f"the interval excludes 0, but {p}"
        if self.held_back_by == "test":
            return f"{p}, but the test favors the lower mean"
        return f"{p}, but {'the interval contains 0' if self.interval else 'there is no interval'}"

    def __str__(self) -> str:
        return make_visible(self.sentence)


def format_p(p: float, alpha: float = 0.05) -> str:
    """Write a p-value as ``p = 0.012``; never as 0, and never as alpha where it is below."""
    number = format_p_number(p, 3) if alpha > 1e-6 else f"{p:.1e}"
    if not number.startswith("<") and (float(number) < alpha) != (p < alpha):
        number = f"{p:.6g}"
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def format_p_number(p: float, digits: int | None) -> str:
    """Write so many decimals, or two digits of a small p-value; all digits for None."""
    if digits is None:
        return repr(p)
    if p < 1e-6:
        return "< 1e-6"
    return f"{p:.{digits}f}" if p >= 0.001 else f"{p:.1e}".replace("e-0", "e-")


def format_difference(value: float) -> str:
    """Write three decimals, or one digit where these are all 0."""
    value += 0.0  # no -0.000
    return f"{value:.3f}" if abs(value) >= 0.001 or not value else f"{value:.1g}"


# --- Pairing: every pair of systems on every measure, from estimate to corrected p-value ----------


@dataclass(frozen=True)
class Tested:
    """The p-values of one pair, as the test and its correction give them."""

    words: str  # the test and the correction
    p: float
    p_adjusted: float
    smallest: float  # if all queries that differ did so in one direction
    smallest_adjusted: float
    alpha: float  # the error rate that the correction leaves to this pair


def compare_pairs(
    samples: Sequence[Sample],
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> tuple[Pair, ...]:
    """Compare all pairs, or all systems with the baseline, measure by measure."""
    [pairs] = compare_parts([samples], settings, rng, progress)
    return pairs


def compare_parts(
    parts: Sequence[Sequence[Sample]],
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> list[tuple[Pair, ...]]:
    """Compare in each part of the queries, such as segments, as ``compare_pairs`` does in all.

    The comparisons of all parts together make a family, of one measure or of all.
    """
    pairs = choose_pairs(parts[0][0].systems, settings)
    tested = [
        (part, *of_measure)
        for part, samples in enumerate(parts)
        for sample in samples
        for of_measure in _test_pairs(sample, pairs, settings, rng)
    ]
    families: dict[Measure | None, list[int]] = {}
    for row, (_, sample, m, *_) in enumerate(tested):
        measure = sample.measures[m] if settings.family == "measure" else None
        families.setdefault(measure, []).append(row)
    corrected: dict[int, list[Tested]] = {}
    for rows in families.values():
        p, smallest = (np.concatenate([tested[row][of] for row in rows]) for of in (3, 4))
        each = _correct(p, smallest, settings, len({tested[row][0] for row in rows}), len(pairs))
        for row in rows:
            corrected[row] = [next(each) for _ in pairs]
    described: list[list[Pair]] = [[] for _ in parts]
    for row, (part, sample, m, _, _, differences) in enumerate(tested):
        for i, (pair, difference, outcome) in enumerate(
            zip(pairs, differences, corrected[row], strict=True)
        ):
            if progress is not None:
                progress("pairs of runs", row * len(pairs) + i, len(tested) * len(pairs))
            described[part].append(_describe_pair(sample, m, pair, difference, outcome, settings))
    return [tuple(of_part) for of_part in described]


def choose_pairs(systems: Sequence[str], settings: Settings) -> list[tuple[int, int]]:
    """Choose all pairs, or those with the baseline, as places of baseline and system."""
    if settings.baseline is None:
        return list(combinations(range(len(systems)), 2))
    first = systems.index(settings.baseline)
    return [(first, second) for second in range(len(systems)) if second != first]


def _test_pairs(
    sample: Sample, pairs: list[tuple[int, int]], settings: Settings, rng: np.random.Generator
) -> Iterator[tuple[Sample, int, Floats, Floats, Floats]]:
    """Compute the p-values of each measure, the smallest that were possible, and differences."""
    if sample.users and settings.test in ("wilcoxon", "sign"):
        raise MeasureError(
            f"test={settings.test} asks about the values of single queries, and"
            f" {sample.measures[0]} is one number of all lists. test=randomization or test=t"
            " compares it."
        )
    test, resamples = choose_test(settings), settings.resamples
    p = test.p_values(sample, pairs, resamples, rng)
    smallest = test.smallest(sample, pairs, resamples)
    differences = compute_differences(sample, pairs)
    for m, of_measure in enumerate(differences):
        yield sample, m, p[m], smallest[m], of_measure


def _correct(
    p: Floats, smallest: Floats, settings: Settings, parts: int, pairs: int
) -> Iterator[Tested]:
    """Correct the p-values of a family, and the smallest that were possible."""
    test, correction = choose_test(settings), CORRECTIONS[settings.correction or "none"]
    count = len(p)
    adjusted, levels = correction.adjust(p), correction.levels(p, settings.alpha)
    over = correction.title + (f" over {count}" if settings.correction != "none" else "")
    name = settings.sequential or settings.test
    words = f"{name}, {over}" if count > 1 else name
    if test.corrects:  # for the pairs of each part; and here, for the number of parts
        adjusted = np.minimum(p * parts, 1.0)
        levels = np.full(count, settings.alpha / (pairs * parts))
        words = f"{test.title} over {write_count(pairs, 'pair')}"
        words += f", Bonferroni over {parts} segments" * (parts > 1)
    for i in range(count):
        reached = smallest[i] * count  # no correction raises a p-value by more
        if test.corrects:
            reached = min(smallest[i] * parts, 1.0)
        elif reached >= settings.alpha:
            reached = correction.adjust(np.where(np.arange(count) == i, smallest, p))[i]
        yield Tested(words, *map(float, (p[i], adjusted[i], smallest[i], reached, levels[i])))


def _describe_pair(
    sample: Sample,
    m: int,
    pair: tuple[int, int],
    difference: Floats,
    tested: Tested,
    settings: Settings,
) -> Pair:
    weighted = difference * sample.weights
    centered = sample.center(weighted)
    spread = Dispersion.measure(centered, sample.strata)
    varies = spread is not None and spread.error > 0
    wins, losses = int(np.count_nonzero(difference > 0)), int(np.count_nonzero(difference < 0))
    if find_direction(sample.measures[m].name) < 0:
        wins, losses = losses, wins
    ties = len(sample) - wins - losses
    counted = (None, None, None) if sample.users else (wins, losses, ties)
    before, after = sample.means[m, list(pair)]
    mean = float(drop_rounding(after - before, max(abs(before), abs(after))))
    if not wins + losses:
        mean = 0.0
    interval = None
    if settings.sequential:
        interval = estimate_sequence(sample.measures[m], difference, tested.alpha)
    elif spread and len(sample) >= Interval.FEWEST and (varies or not sample.users):
        interval = _estimate_interval(sample, m, difference, centered, mean, tested.alpha)
    equivalence = None
    if settings.equivalence is not None and spread is not None:
        p = spread.compute_equivalence_p(mean, settings.equivalence)
        equivalence = Equivalence(settings.equivalence, p)
    return Pair(
        measure=sample.measures[m],
        system=sample.systems[pair[1]],
        baseline=sample.systems[pair[0]],
        queries=sample.users or len(sample),
        difference=mean,
        interval=interval,
        d_z=mean / spread.deviation if spread and varies and not sample.users else None,
        improvement=None if sample.users else (wins + ties / 2) / len(sample),
        wins=counted[0],
        losses=counted[1],
        ties=counted[2],
        p=tested.p,
        p_adjusted=tested.p_adjusted,
        alpha=settings.alpha,
        limit=_find_limit(tested, wins + losses, settings),
        detectable=(
            spread.find_detectable(tested.alpha)
            if spread and varies and not settings.sequential
            else None
        ),
        equivalence=equivalence,
        test=tested.words,
        unit=sample.unit,
        is_opposed=mean * choose_test(settings).find_direction(difference) < 0,
    )


def _estimate_interval(
    sample: Sample, m: int, difference: Floats, centered: Floats, mean: float, alpha: float
) -> Interval:
    """Estimate the interval of a mean difference; spread numbers of all lists have no range."""
    span = None
    if not sample.users:
        span = find_span_of_differences(sample.measures[m], sample.values[m])
    return estimate_weighted_interval(
        difference, sample.weights, centered, sample.strata, span, mean, alpha
    )


def _find_limit(tested: Tested, differing: int, settings: Settings) -> Limit | None:
    """Say why p_adjusted could not be below alpha; None where it could or nothing differs."""
    if not differing or min(tested.smallest_adjusted, tested.p_adjusted) < settings.alpha:
        return None
    cause: Literal["queries", "resamples"] = "queries"
    count = differing
    if choose_test(settings).resamples and tested.smallest * (settings.resamples + 1) < 2:
        cause, count = "resamples", settings.resamples
    smallest = tested.smallest_adjusted
    return Limit(cause, count, smallest, corrected=smallest > tested.smallest)
