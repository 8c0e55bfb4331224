"""Assessors: a run's numbers by each of several judges, and how the judges agree."""

import math
import warnings
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from germane.core.finding import Finding, warn
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, reaches, unite_equal
from germane.dialects.names import parse
from germane.errors import CoverageError, EmptyError, GermaneWarning, InputError, clip, make_visible
from germane.evaluation.choices import DEFAULT, Choices, Judges, Run
from germane.evaluation.evaluate import evaluate
from germane.evaluation.opening import Held, Inputs, open_data
from germane.evaluation.result import Result
from germane.judges.correction import list_judged, spell_alike
from germane.judges.rank_correlation import kendall_tau, tau_ap
from germane.kernel.ids import read_python_ids
from germane.measures.measure import Measure, Measures
from germane.output.documents import Document, make_document
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number, write_count

SKEWED = 0.8  # the share of one grade from which statistics contradict each other


@dataclass(frozen=True, eq=False)
class JudgeAgreement(Tabular, Document):
    """The agreement of two judges on the pairs of query and item that both judged.

    >>> found = germane.compare_judges({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}})
    >>> found.grades, found.confusion.tolist()
    ((0.0, 1.0), [[0.0, 1.0], [0.0, 1.0]])

    ``table()`` has a row for each grade of the first judge and a column for each of the second.
    Statistics are NaN if both judges gave all items the same grade.
    """

    _json = "pairs grades confusion statistics per_query findings"

    grades: tuple[float, ...]
    """G: every grade that a judge gave, ascending"""
    confusion: Floats
    """G × G: number of pairs by the first judge's grade (row) and the second's (column)"""
    per_query: dict[Hashable, float]
    """query → share of its pairs with equal grades"""

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return int(self.confusion.sum())

    @property
    def raw(self) -> float:
        """The share of pairs with equal grades."""
        return float(np.trace(self.confusion)) / self.pairs

    @property
    def bias(self) -> float:
        """The mean grade of the second judge minus that of the first."""
        grades = np.array(self.grades)
        return float((self.confusion * (grades[None, :] - grades[:, None])).sum()) / self.pairs

    @property
    def kappa(self) -> float:
        """Cohen's κ: agreement above chance, given how often each judge uses each grade (1960)."""
        return _compute_kappa(self.confusion, _weigh_agreement(len(self.grades), 0))

    @property
    def kappa_linear(self) -> float:
        """Cohen's κ, with disagreement weighted by the steps between grades (1968)."""
        return _compute_kappa(self.confusion, _weigh_agreement(len(self.grades), 1))

    @property
    def kappa_quadratic(self) -> float:
        """Cohen's κ, with disagreement weighted by the squared steps between grades (1968)."""
        return _compute_kappa(self.confusion, _weigh_agreement(len(self.grades), 2))

    @property
    def alpha(self) -> float:
        """Krippendorff's α for unordered grades."""
        return compute_alpha(self._list_units(), ordered=False)

    @property
    def alpha_ordinal(self) -> float:
        """Krippendorff's α for ordered grades."""
        return compute_alpha(self._list_units(), ordered=True)

    @property
    def ac1(self) -> float:
        """Gwet's AC1: agreement above chance, with chance agreement on hard items only (2008)."""
        return _compute_gwet(self.confusion, _weigh_agreement(len(self.grades), 0))

    @property
    def ac2(self) -> float:
        """Gwet's AC2: AC1, with disagreement weighted by the squared steps between grades."""
        return _compute_gwet(self.confusion, _weigh_agreement(len(self.grades), 2))

    def _list_units(self) -> list[tuple[Counter[float], float]]:
        cells = np.argwhere(self.confusion > 0)
        return [
            (Counter([self.grades[i], self.grades[j]]), float(self.confusion[i, j]))
            for i, j in cells.tolist()
        ]

    @property
    def statistics(self) -> dict[str, float]:
        """Every statistic by its name."""
        return {
            "raw": self.raw, "κ": self.kappa, "κ linear": self.kappa_linear,
            "κ quadratic": self.kappa_quadratic, "α": self.alpha, "α ordinal": self.alpha_ordinal,
            "AC1": self.ac1, "AC2": self.ac2,
        }  # fmt: skip

    def table(self, *, digits: int | None = 4) -> Table:
        """Make the confusion table, with the statistics and their definitions as notes."""
        rows = tuple(
            (f"{grade:g}", *(f"{count:.0f}" for count in line))
            for grade, line in zip(self.grades, self.confusion, strict=True)
        )
        heading = ("people \\ model", *(f"{grade:g}" for grade in self.grades))
        return Table(heading, rows, (*self.write_notes(digits), "", *DEFINITIONS))

    def write_notes(self, digits: int | None = 4) -> Iterable[str]:
        """Write the statistics in a line, and warn about traps in these data."""
        number = partial(format_number, digits=digits)
        words = (f"{name} {number(value)}" for name, value in self.statistics.items())
        yield (
            f"agreement on {write_count(self.pairs, 'pair')} of"
            f" {write_count(len(self.per_query), 'query')}: {', '.join(words)}"
        )
        kind = (
            "as lenient"
            if reaches(0.0, abs(self.bias), max(map(abs, self.grades)))
            else "stricter"
            if self.bias < 0
            else "more lenient"
        )
        yield (
            "the model's mean grade differs from people's by"
            f" {format_number(self.bias, digits, sign='+')}: it is {kind}"
        )
        yield from map(str, self.findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A finding if nearly all pairs have one grade, which can mislead."""
        shares = self.confusion.sum(axis=1) / self.pairs
        mode = int(shares.argmax())
        if shares[mode] < SKEWED:
            return ()
        text = (
            f"grades are skewed: people gave {self.grades[mode]:g} to {shares[mode]:.0%} of the"
            " pairs. Raw agreement, AC1 and AC2 are then high for any judge that gives this grade"
            " often, and κ and α can be low for a good judge"
        )
        count = int(self.confusion[mode].sum())
        return (Finding("note", "skewed grades", text, count, advice="Look at the rarer grades."),)


DEFINITIONS = (
    "raw: the share of equal grades",
    (
        "κ: (raw - chance) ÷ (1 - chance), chance = Σ share of the grade for one judge · for the"
        " other (Cohen)"
    ),
    "κ linear, κ quadratic: the same, but grades that are near each other agree in part",
    "α: 1 - observed ÷ expected disagreement, expected from the grades of both (Krippendorff)",
    (
        "AC1, AC2: as κ, chance = Σ π·(1-π) ÷ (grades - 1), π = mean share of the grade (Gwet); AC2"
        " is quadratic"
    ),
)


MOST = 1000  # grades, of which every two are compared


def measure_agreement(
    shared: Mapping[Hashable, Sequence[tuple[float, float]]],
) -> JudgeAgreement:
    """Measure agreement on the grades (first, second) of each query's items."""
    pairs = [pair for of_query in shared.values() for pair in of_query]
    if not pairs:
        raise CoverageError("no item was judged by both judges. Do both use the same ids?")
    grades = tuple(sorted({grade for pair in pairs for grade in pair}))
    _check_scale(grades)
    place = {grade: g for g, grade in enumerate(grades)}
    confusion = np.zeros((len(grades), len(grades)))
    for first, second in pairs:
        confusion[place[first], place[second]] += 1
    per_query = {
        query: sum(first == second for first, second in of_query) / len(of_query)
        for query, of_query in shared.items()
        if of_query
    }
    return JudgeAgreement(grades, confusion, per_query)


def _check_scale(grades: Collection[float]) -> None:
    if len(grades) > MOST:
        raise InputError(
            f"the judges give {len(grades):,} different grades, but agreement can be measured for"
            f" at most {MOST:,}. Round the grades, or map them to a scale."
        )


def _weigh_agreement(size: int, power: int) -> Floats:
    """G × G: 1 for equal grades, less for grades apart; power 0 is all or nothing."""
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    if power == 0 or size < 2:
        return np.eye(size)
    weights: Floats = 1 - (steps / (size - 1)) ** power
    return weights


def _correct_chance(agreed: float, chance: float) -> float:
    return (agreed - chance) / (1 - chance) if chance < 1 else math.nan


def _compute_kappa(confusion: Floats, weights: Floats) -> float:
    shares = confusion / confusion.sum()
    chance = float(shares.sum(axis=1) @ weights @ shares.sum(axis=0))
    return _correct_chance(float((shares * weights).sum()), chance)


def _compute_gwet(confusion: Floats, weights: Floats) -> float:
    size = len(confusion)
    if size < 2:
        return math.nan
    shares = confusion / confusion.sum()
    mean = (shares.sum(axis=0) + shares.sum(axis=1)) / 2
    chance = float(weights.sum() / (size * (size - 1)) * (mean @ (1 - mean)))
    return _correct_chance(float((shares * weights).sum()), chance)


def compute_alpha(units: Iterable[tuple[Counter[float], float]], *, ordered: bool) -> float:
    """Compute Krippendorff's α of units: counts of grades, and how many units have each.

    Units with fewer than two grades say nothing. Any number of judges may have graded each.
    """
    rated = [(counts, times) for counts, times in units if counts.total() > 1]
    grades = sorted({grade for counts, _ in rated for grade in counts})
    if len(grades) < 2:
        return math.nan
    _check_scale(grades)
    place = {grade: g for g, grade in enumerate(grades)}
    together = np.zeros((len(grades), len(grades)))
    for counts, times in rated:
        rows = [place[grade] for grade in counts]
        grade_counts = np.array(list(counts.values()), float)
        pairs = np.outer(grade_counts, grade_counts) - np.diag(grade_counts)
        together[np.ix_(rows, rows)] += times * pairs / (counts.total() - 1)
    totals = together.sum(axis=0)
    apart = _measure_distance(totals, ordered)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    return 1 - float((together * apart).sum() / (expected * apart).sum())


def _measure_distance(totals: Floats, ordered: bool) -> Floats:
    """G × G: squared distance of grades; of ordered ones by the number of grades between them."""
    if not ordered:
        nominal: Floats = np.ones((len(totals), len(totals))) - np.eye(len(totals))
        return nominal
    middle = np.cumsum(totals) - totals / 2
    distance: Floats = np.subtract.outer(middle, middle) ** 2
    return distance


@dataclass(frozen=True)
class OrderAgreement:
    """How far two judges order systems alike on a measure, over the queries that both judged."""

    measure: Measure
    tau: float
    """Kendall's τ; NaN where a judge ties all systems"""
    tau_ap: float
    """the model's order against people's, where errors near the top count more"""
    swapped: tuple[tuple[str, str], ...]
    """pairs (better, worse) by people's judgments that the model orders the other way"""

    def __str__(self) -> str:
        swaps = "; ".join(f"people: {better} > {worse}" for better, worse in self.swapped)
        swaps = make_visible(swaps)
        return (
            f"{self.measure}: τ {self.tau:.3f}, τ_AP {self.tau_ap:.3f}, "
            f"{write_count(len(self.swapped), 'pair')} swapped{f' ({swaps})' if swaps else ''}"
        )


def order_systems(
    measure: Measure, people: Mapping[str, float], model: Mapping[str, float]
) -> OrderAgreement:
    """Compare the order of systems by the means of two judges, of which some may be equal."""
    people, model = _unite_means(people), _unite_means(model)
    swapped = []
    for pair in combinations(people, 2):
        better, worse = sorted(pair, key=lambda run: -people[run])
        if people[better] > people[worse] and model[better] < model[worse]:
            swapped.append((better, worse))
    tied = len(set(people.values())) == 1 or len(set(model.values())) == 1
    tau = math.nan if tied else kendall_tau(model, people)
    return OrderAgreement(measure, tau, tau_ap(model, people), tuple(swapped))


def _unite_means(means: Mapping[str, float]) -> dict[str, float]:
    """Make means equal that differ by rounding only, as means of the same values may."""
    return dict(zip(means, unite_equal(np.array(list(means.values()))).tolist(), strict=True))


# --- Assessors: a run's numbers by each of several judges, and by their grades merged -------------

Merging: TypeAlias = Literal["majority", "mean"]
MERGED: tuple[Merging, ...] = ("majority", "mean")


@dataclass(frozen=True, eq=False, repr=False)
class JudgedByMany(Tabular):
    """A run's numbers by each judge, by the majority of the judges and by their mean grade.

    >>> judges = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 0, "b": 0}}}
    >>> germane.evaluate_judges({"q": ["a", "b"]}, judges, "P@2").spread("P@2")
    0.5

    ``results`` maps the name of each judge, ``majority`` and ``mean`` to a ``Result``.
    """

    results: Mapping[str, Result]
    judges: tuple[str, ...]
    alpha: float
    """Krippendorff's α of all judges, of unordered grades"""
    alpha_ordinal: float
    pairs: int
    """pairs of query and item that two judges or more judged"""
    left_out: int
    """queries that not every judge judged"""
    findings: tuple[Finding, ...] = ()
    """what can distort the numbers, once for all judges"""

    def __repr__(self) -> str:
        return (
            f"<JudgedByMany: {write_count(len(self.judges), 'judge')},"
            f" {', '.join(map(str, self.measures))}>"
        )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return next(iter(self.results.values())).measures

    def spread(self, measure: str | Measure) -> float:
        """The difference between the largest and the smallest mean by a judge."""
        key = parse(measure)
        means = [self.results[judge][key].mean for judge in self.judges]
        return max(means) - min(means)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per judge and per way to merge their grades, and the spread of the judges."""
        number = partial(format_number, digits=digits)
        names = {name: f"{name} grade" if name in MERGED else name for name in self.results}
        rows = [
            (names[name], *(number(result[measure].mean) for measure in self.measures))
            for name, result in self.results.items()
        ]
        rows.append(
            ("spread of judges", *(number(self.spread(measure)) for measure in self.measures))
        )
        notes = [f"{measure}: {measure.definition}" for measure in self.measures]
        queries = len(next(iter(self.results.values())).queries)
        left = f"; {self.left_out:,} left out" if self.left_out else ""
        alphas = f"α {number(self.alpha)}, α ordinal {number(self.alpha_ordinal)} (Krippendorff)"
        notes += [
            (
                "majority grade: the most frequent one, or the lowest if there are several; mean"
                " grade: that of all judges of the item"
            ),
            f"{write_count(queries, 'query')} that every judge judged{left}",
            f"agreement of all on {write_count(self.pairs, 'pair')}: {alphas}",
            f"policy: {next(iter(self.results.values())).policy}",
        ]
        return Table(("judge", *map(str, self.measures)), tuple(rows), tuple(notes))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        means = {
            name: {measure: result[measure].mean for measure in self.measures}
            for name, result in self.results.items()
        }
        return make_document({
            "judges": self.judges, "means": means,
            "alpha": self.alpha, "alpha_ordinal": self.alpha_ordinal,
            "spread": {measure: self.spread(measure) for measure in self.measures},
            "pairs": self.pairs, "left_out": self.left_out, "findings": self.findings,
        })  # fmt: skip


def evaluate_judges(
    run: Run, judges: Judges, measures: Measures = DEFAULT, **policy: Unpack[Choices]
) -> JudgedByMany:
    """Evaluate a run by each of several judges, by their majority grade and by their mean grade.

    >>> judges = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 0, "b": 0}},
    ...     "eve": {"q": {"a": 1, "b": 1}}}
    >>> found = germane.evaluate_judges({"q": ["a", "b"]}, judges, "P@2")
    >>> [result["P@2"].mean for result in found.results.values()]
    [0.5, 0.0, 1.0, 0.5, 0.0]

    ``judges`` maps each name to qrels, or is one frame or file with a column that names the judge.
    Queries that some judge did not judge are left out. With mean grades, ``P@2`` is 0 here, since
    2/3 is below ``rel=1``. Raises InputError if a judge is named majority or mean, and
    CoverageError if no query was judged by all judges.
    """
    data = open_data(judges, policy)
    read, opened = _read_judges(data, run)
    first, *rest = read.values()
    queries = [query for query in first.queries if all(query in qrels.position for qrels in rest)]
    if not queries:
        raise CoverageError("no query has the judgments of every judge. Are these the same ids?")
    pooled = _pool_grades(read.values(), queries)
    judgments = {
        name: qrels.some(np.array([qrels.position[query] for query in queries]))
        for name, qrels in read.items()
    }
    judgments |= {name: _make_qrels(_merge(pooled, name), first) for name in MERGED}
    with warnings.catch_warnings():  # each finding is said once below, and not by every judge
        warnings.simplefilter("ignore", GermaneWarning)
        results = {
            name: evaluate(Inputs(graded, data.options), opened, measures, name=name)
            for name, graded in judgments.items()
        }
    units = [(Counter(grades), 1.0) for items in pooled.values() for grades in items.values()]
    alpha, ordinal = (compute_alpha(units, ordered=ordered) for ordered in (False, True))
    pairs = sum(counts.total() > 1 for counts, _ in units)
    left_out = len({query for qrels in read.values() for query in qrels.queries}) - len(queries)
    findings = _list_findings(results, left_out)
    warn("judges", findings)
    return JudgedByMany(results, tuple(read), alpha, ordinal, pairs, left_out, findings)


def _read_judges(data: Inputs, run: Any) -> tuple[dict[str, Qrels], Held]:
    """Read the judgments of each judge, beside a run, which is opened once."""
    judges = data.split_judges()
    if len(judges) < 2:
        only = f"; there is only {clip(next(iter(judges)))}" if judges else ""
        raise EmptyError(f"give at least two judges{only}.")
    read: dict[str, Qrels] = {}
    opened: Held | None = None
    for name, inputs in judges.items():
        if not isinstance(name, str) or name in MERGED:
            raise InputError(
                f"the name of a judge can be any text except majority and mean; got {clip(name)}"
            )
        if opened is None:
            opened = inputs.open_runs({"run": run})["run"]
        read[name] = inputs.read_judge(runs=[opened.run])
    assert opened is not None  # there are two judges or more
    return dict(zip(read, spell_alike(*read.values()), strict=True)), opened


def _make_qrels(merged: Mapping[Hashable, Any], like: Qrels) -> Qrels:
    """Make judgments of merged grades, with ids as those of a judge have them."""
    qrels = open_data(merged, {}).read_all("the grades of several judges")
    columns = read_python_ids(qrels.queries), read_python_ids(qrels.items)
    return replace(qrels, ids=like.ids, columns=columns if like.columns else None)


def _list_findings(results: Mapping[str, Result], left_out: int) -> tuple[Finding, ...]:
    """List each finding once, with its judges unless all have it; queries left out are none."""
    whose: dict[Finding, list[str]] = {}
    for name, result in results.items():
        for finding in result.findings:
            if finding.what != "queries not judged" or finding.count > left_out:
                whose.setdefault(replace(finding, where=""), []).append(name)
    return tuple(
        finding
        if len(names) == len(results)
        else replace(finding, where=", ".join(map(clip, names)))
        for finding, names in whose.items()
    )


Pooled: TypeAlias = dict[Hashable, dict[Hashable, list[float]]]


def _pool_grades(judges: Iterable[Qrels], queries: list[Hashable]) -> Pooled:
    """Collect the grades of all judges for every item."""
    pooled: Pooled = {query: {} for query in queries}
    for judge in judges:
        for query, items in pooled.items():
            for item, grade in list_judged(judge, query).items():
                items.setdefault(item, []).append(grade)
    return pooled


def _merge(pooled: Pooled, how: Merging) -> dict[Hashable, dict[Hashable, float]]:
    """Merge the grades of each item: the most frequent one, the lowest of several, or the mean."""
    choose = _choose_majority if how == "majority" else _average
    return {
        query: {item: choose(grades) for item, grades in items.items()}
        for query, items in pooled.items()
    }


def _choose_majority(grades: list[float]) -> float:
    counts = Counter(grades)
    top_count = max(counts.values())
    return min(grade for grade, count in counts.items() if count == top_count)


def _average(grades: list[float]) -> float:
    """Average grades without rounding that moves equal ones below a threshold of relevance."""
    mean = math.fsum(grades) / len(grades)
    return min(max(mean, min(grades)), max(grades))
