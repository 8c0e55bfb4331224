"""Correction: people's mean from few judgments of theirs, matched with many of a model's."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.core.finding import Finding, show_ids
from germane.core.mean_intervals import Interval, Span, find_student_quantile
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints, drop_rounding, reaches
from germane.errors import CoverageError, InputError, NotFoundError, clip, list_some, write_option
from germane.evaluation.layout import find_categories
from germane.output.tables import write_count
from germane.readers.objects.item_ids import spell_qrels

About: TypeAlias = Literal["population", "queries"]
Tuning: TypeAlias = Literal["optimal", "full"]


@dataclass(frozen=True, eq=False)
class Design:
    """The model's queries that people judged, too, and how these were drawn."""

    sampled: Ints  # n: places among the N queries of the model
    weights: Floats  # n: how many queries each stands for; they add up to N
    strata: Ints  # n, from 0
    total: int  # N
    copies: float = 1.0  # of each of people's queries: a larger or smaller sample of this kind

    @property
    def queries(self) -> float:
        """n: people's queries."""
        return len(self.strata) * self.copies

    @property
    def freedom(self) -> float:
        """The degrees of freedom of deviations from the mean of each stratum."""
        return self.queries - int(self.strata.max()) - 1

    @cached_property
    def shares(self) -> Floats:
        """n: the weight of each query in a mean; they add up to 1."""
        shares: Floats = self.weights / self.weights.sum()
        return shares

    @cached_property
    def left(self) -> Floats:
        """n: the probability that each query had of not being drawn."""
        return drop_rounding(1 - np.minimum(1.0, 1 / self.weights), 1.0)

    @cached_property
    def squares(self) -> Floats:
        """n: squared shares, corrected for deviations from a sample's own mean being too small."""
        counts = np.bincount(self.strata)[self.strata]
        squares: Floats = self.shares**2 * counts / (counts - 1) / self.copies
        return squares

    def average(self, values: Floats) -> float:
        """Compute the weighted mean of values (n): 1 of ones, to the last bit."""
        return float(np.sum(values * self.weights) / self.weights.sum())

    def center(self, values: Floats) -> Floats:
        """Subtract from each value (n) the weighted mean of its stratum."""
        weights = self.weights
        means = np.bincount(self.strata, values * weights) / np.bincount(self.strata, weights)
        centered: Floats = values - means[self.strata]
        return centered

    def scale(self, queries: int, total: int) -> "Design":
        """Plan a sample of another size from another number of queries, drawn in the same way."""
        copies = queries / len(self.strata)
        weights = self.weights / self.weights.sum() * (total / copies)
        return replace(self, weights=weights, total=total, copies=copies)


@dataclass(frozen=True, eq=False)
class Sample:
    """The values of a run, or their differences from a baseline's, by people and by a model."""

    people: Floats  # n
    model: Floats  # N
    design: Design
    span: Span  # of people's values of any run
    baseline: Floats | None = None  # n: people's values of the run that was subtracted

    def deviate(self) -> tuple[Floats, Floats]:
        """Return how far people's values (n) and the model's (n) are from the means of strata."""
        center = self.design.center
        return center(self.people), center(self.model[self.design.sampled])


@dataclass(frozen=True)
class Correction:
    """A corrected mean, its interval, and the weight λ that the model's values got."""

    mean: float
    interval: Interval
    tuning: float


def correct_mean(
    sample: Sample,
    *,
    confidence: float = 0.95,
    about: About = "population",
    tuning: Tuning = "optimal",
) -> Correction:
    """Correct the mean of a model's N values by people's n: prediction-powered inference.

    The mean is λ·(mean of the model's N values) + (mean of people - λ·model over the n queries).
    Without bias whatever λ is, it varies least where λ is the slope of people's values on the
    model's; so tuned, this is the regression estimator of survey sampling, and PPI++.
    ``tuning="full"`` is λ = 1.

    The interval is Student's, of the variance that the drawn queries show and of what unseen ones
    may add. Since the model may be wrong on these, the λ of least variance is that of a ridge
    regression, and no interval is wider than that of people alone, λ = 0. Sources: Angelopoulos et
    al. 2023 and 2024 (PPI, PPI++); Eyre and Madras 2025 (ridge regression); Särndal, Swensson and
    Wretman 1992, chapter 6.
    """
    design, model = sample.design, sample.model
    unseen = measure_unseen(sample, confidence)
    slope = 1.0 if tuning == "full" else _tune(sample, unseen)
    gap = float(model.mean()) - design.average(model[design.sampled])
    mean = design.average(sample.people) + slope * gap
    variance = measure_variance(sample, slope, unseen, about)
    below, above = variance.reach(find_student_quantile(1 - confidence, design.freedom))
    larger, scale = max(variance.below, variance.above), sample.span.high - sample.span.low
    interval = Interval(
        mean - below,
        mean + above,
        confidence,
        "spread" if reaches(variance.drawn, larger, scale**2) else "range",
    )
    return Correction(mean, interval, slope)


def _tune(sample: Sample, unseen: "Unseen") -> float:
    """Find the λ of least variance."""
    values, guesses = sample.deviate()
    squares = sample.design.squares * sample.design.left
    total = float(squares @ guesses**2) + _share(sample) * unseen.wrong
    return float(squares @ (values * guesses)) / total if total else 0.0


@dataclass(frozen=True)
class Variance:
    """The variance of a mean: of the queries that were drawn, and what unseen ones may add."""

    drawn: float
    below: float
    above: float

    def reach(self, quantile: float) -> tuple[float, float]:
        """Return how far an interval reaches below the mean, and above it."""
        below, above = (quantile * math.sqrt(self.drawn + end) for end in (self.below, self.above))
        return below, above


def measure_variance(sample: Sample, slope: float, unseen: "Unseen", about: About) -> Variance:
    """Measure the variance of the mean whose λ is ``slope``.

    It has two parts. Residuals give that of drawing n of the N queries, and people's values that of
    drawing the N from a population. ``about="queries"`` leaves out the second.
    """
    design = sample.design
    values, guesses = sample.deviate()
    drawn = float(design.squares * design.left @ (values - slope * guesses) ** 2)
    share = of_people = _share(sample)
    if about == "population":
        apart = sample.people - design.average(sample.people)
        drawn += float(design.shares @ apart**2) * len(apart) / (len(apart) - 1) / design.total
        of_people = 1.0  # N queries may lack the same ones
    wrong = share * slope**2 * unseen.wrong
    return Variance(drawn, of_people * unseen.below + wrong, of_people * unseen.above + wrong)


def _share(sample: Sample) -> float:
    """Return the part of the variance that comes from people judging n of N queries only."""
    squares = sample.design.squares
    return float(squares @ sample.design.left / squares.sum())


@dataclass(frozen=True)
class Unseen:
    """The variance that queries which were not drawn may add to a mean of n."""

    below: float
    above: float
    wrong: float
    """for λ = 1; it grows by λ²"""


def measure_unseen(sample: Sample, confidence: float) -> Unseen:
    """Measure what queries that were not drawn may add to the variance of a mean of n.

    n values that hardly vary say nothing of rare ones that do. So many queries are added that the
    interval of n equal values is that of Clopper and Pearson (1934), which gives the end of the
    range the weight 1 - (α/2)^(1/n). Each is as far from the mean as the values that make up the
    spread, and the model's value of it says nothing of people's. The variance is at least that of
    as many queries at the end of the range.
    """
    design, queries = sample.design, sample.design.queries
    weight = -queries * math.expm1(math.log((1 - confidence) / 2) / queries)
    count = (weight / find_student_quantile(1 - confidence, design.freedom)) ** 2
    of_one = float(design.shares @ design.shares) / queries / design.copies

    def allow(values: Floats, ends: Iterable[float]) -> tuple[float, float]:
        parts = design.squares * design.center(values) ** 2
        usual, seen = count * _average_parts(parts) / design.copies, float(parts.sum())
        below, above = (max(usual, end - seen) for end in ends)
        return below, above

    def allow_for_range(values: Floats) -> tuple[float, float]:
        span, mean = sample.span.extend(), design.average(values)
        return allow(values, (count * of_one * (end - mean) ** 2 for end in (span.low, span.high)))

    if sample.baseline is None:
        below, above = allow_for_range(sample.people)
    else:  # a difference is low where the run's value is low or the baseline's is high
        run, baseline = map(allow_for_range, (sample.people + sample.baseline, sample.baseline))
        below, above = allow(sample.people, (run[0] + baseline[1], run[1] + baseline[0]))
    guesses = _average_parts((sample.model - sample.model.mean()) ** 2)
    return Unseen(below, above, max(count * of_one * guesses, below, above))


def _average_parts(parts: Floats) -> float:
    """Average parts, each weighted by itself: that of k equal parts and others of 0 is such a
    part.
    """
    total = float(parts.sum())
    return float(parts @ parts) / total if total else 0.0


# --- Sampling -------------------------------------------------------------------------------------
#
# Match people's queries with a model's, and check that both judged the same items.


def match_judges(people: Qrels, model: Qrels) -> None:
    """Refuse people's judgments that cannot correct the model's.

    Raises CoverageError where people judged a query that the model did not, where people did not
    judge an item of such a query that the model judged, and for fewer than five queries of
    people's.
    """
    absent = [query for query in people.queries if query not in model.position]
    if absent:
        raise CoverageError(
            f"the model did not judge {list_some(absent)} ({len(absent)} of the {len(people)}"
            " queries that people judged). Both must use the same query ids, and the model must"
            " judge every query."
        )
    if len(people) < Interval.FEWEST:
        raise CoverageError(
            f"people judged {write_count(len(people), 'query')}, but a correction needs at least"
            f" {Interval.FEWEST}."
        )
    for query in people.queries:
        judged, items = list_judged(people, query), list_judged(model, query)
        unjudged = [item for item in items if item not in judged]
        if unjudged:
            raise CoverageError(
                f"query {clip(query)}: people did not judge {list_some(unjudged)} ({len(unjudged)}"
                f" of the {len(items)} items that the model judged). For each query, people must"
                " judge every item that the model judged. Add these judgments, or leave the query"
                " out."
            )


def spell_alike(*judges: Qrels) -> list[Qrels]:
    """Spell the ids of all judges as text if one of them is a file of text."""
    if len({judge.ids for judge in judges}) == 1:
        return list(judges)
    return [spell_qrels(judge) for judge in judges]


def list_judged(qrels: Qrels, query: Hashable) -> dict[Hashable, float]:
    """List the items of a query that were judged, with their grades; negative ones were not."""
    q = qrels.position[query]
    part = slice(int(qrels.offsets[q]), int(qrels.offsets[q + 1]))
    pairs = zip(qrels.items[part], qrels.grades[part].tolist(), strict=True)
    return {item: grade for item, grade in pairs if grade >= 0}


def list_shared_grades(people: Qrels, model: Qrels) -> dict[Hashable, list[tuple[float, float]]]:
    """List for each query the grades of both judges for the items that both judged."""
    shared = {}
    for query in people.queries:
        if query in model.position:
            first, second = list_judged(people, query), list_judged(model, query)
            shared[query] = [(first[item], second[item]) for item in first if item in second]
    return shared


def make_design(people: list[Any], queries: list[Any], weights: Any, strata: Any) -> Design:
    """Describe how people's queries were drawn from the model's.

    ``weights`` says how many queries each of people's stands for, and ``strata`` the stratum of
    every query. Raises InputError for a weight that is not above 0, and CoverageError for a stratum
    with fewer than two of people's queries.
    """
    place = {query: q for q, query in enumerate(queries)}
    sampled = np.array([place[query] for query in people])
    names = ["all"] * len(queries) if strata is None else _read_given("strata", queries, strata)
    number = {name: h for h, name in enumerate(dict.fromkeys(names))}
    of_query = np.array([number[name] for name in names])
    drawn = Counter(of_query[sampled].tolist())
    for name, h in number.items():
        if drawn[h] < 2:
            raise CoverageError(
                f"stratum {clip(name)}: people judged {drawn[h]} of its queries, but each stratum"
                " needs at least 2."
            )
    raw = np.ones(len(people)) if weights is None else _read_weights(people, weights)
    sizes, within = np.bincount(of_query), of_query[sampled]
    scaled = raw * (sizes / np.bincount(within, raw))[within]
    return Design(sampled, scaled, within, len(queries))


def _read_given(name: str, queries: list[Any], raw: Any) -> list[Hashable]:
    """Read what is given for each query, as categories are. Errors name the argument."""
    try:
        return find_categories(queries, raw, numbers=name == "weights")
    except (InputError, NotFoundError) as error:
        singular = {"weights": "weight", "strata": "stratum"}[name]
        text = str(error).replace("categories", name, 1).replace("category", singular, 1)
        raise type(error)(f"{name}: {text}") from error


def _read_weights(people: list[Any], weights: Any) -> Floats:
    numbers = []
    for query, weight in zip(people, _read_given("weights", people, weights), strict=True):
        try:
            number = math.nan if isinstance(weight, bool) else float(weight)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number < math.inf:
            raise InputError(
                f"query {clip(query)}: a weight is a number above 0, the number of queries that"
                f" this one stands for; got {clip(weight)}"
            )
        numbers.append(number)
    if not math.isfinite(sum(numbers)):
        raise InputError("weights: their sum is beyond the range of a double. Divide them all.")
    shares = np.array(numbers) / max(numbers)
    worth = float(shares.sum() ** 2 / (shares**2).sum())  # Kish (1965)
    if not reaches(worth, Interval.FEWEST):
        heaviest = people[int(shares.argmax())]
        raise CoverageError(
            f"weights: query {clip(heaviest)} and a few others outweigh the rest, so that the"
            f" {len(people)} queries that people judged are worth only {worth:.1f} of equal"
            f" weight; a correction needs at least {Interval.FEWEST}."
        )
    return np.array(numbers)


def compare_drawn(model: Floats, design: Design) -> float:
    """Compute the p-value of drawn queries having the model's mean, as a random sample has it."""
    shares = design.shares
    error = math.sqrt(float(model.var(ddof=1) * (shares**2 @ design.left)))
    gap = abs(float(shares @ model[design.sampled] - model.mean()))
    is_rounding = reaches(0.0, error, float(np.abs(model).max()))
    return 1.0 if is_rounding else 2 * NormalDist().cdf(-gap / error)


UNLIKELY = 0.01


def find_odd_samples(p: dict[str, float]) -> Iterator[Finding]:
    """Find measures on which people's queries differ from all by more than chance explains."""
    differing = [name for name, value in p.items() if value * len(p) < UNLIKELY]
    if differing:
        text = (
            "by the model's judgments, the queries that people judged differ from all queries more"
            f" than a random sample would (p < {UNLIKELY:g}, Bonferroni over {len(p)})"
        )
        advice = (
            "If they were not drawn at random, describe how they were: weights=… or"
            f" {write_option('strata', '…')}."
        )
        yield Finding(
            "doubtful", "sampled queries differ", text, len(differing), tuple(differing[:3]), advice
        )


def find_rare_disagreement(name: str, differences: Floats, queries: list[Any]) -> Iterator[Finding]:
    """Find a measure for which hardly any sampled query shows an error of the model."""
    differing = np.flatnonzero(differences)
    if len(differing) < Interval.FEWEST:
        text = (
            f"{name}: the values by people and by the model differ on only {len(differing)} of"
            f" {len(differences)} queries. The interval cannot show errors that are rarer than"
            " this"
        )
        shown = show_ids(queries[i] for i in differing.tolist())
        advice = "People have to judge more queries to show them."
        yield Finding("note", "rare disagreement", text, len(differing), shown, advice)
