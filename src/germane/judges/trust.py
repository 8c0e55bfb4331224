"""The functions trust and trust_many: people's judgments correct a model's numbers."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from germane.core.calls import Progress
from germane.core.finding import Finding, warn
from germane.core.mean_intervals import Interval, estimate_mean_interval
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, subtract_values
from germane.errors import (
    CoverageError,
    GermaneWarning,
    InputError,
    MeasureError,
    PolicyError,
    check_choice,
    clip,
    list_some,
    write_option,
)
from germane.evaluation.choices import DEFAULT, Choices, Judgments, Run, Values
from germane.evaluation.evaluate import evaluate_many
from germane.evaluation.opening import Inputs, open_data, open_options
from germane.evaluation.result import Results
from germane.judges.assessors import JudgeAgreement, measure_agreement, order_systems
from germane.judges.corrected import CorrectedMean, Trust, Trusts, find_narrow_spread
from germane.judges.correction import (
    About,
    Design,
    Sample,
    Tuning,
    compare_drawn,
    correct_mean,
    find_odd_samples,
    find_rare_disagreement,
    list_shared_grades,
    make_design,
    match_judges,
    spell_alike,
)
from germane.measures.averaging import find_span, find_span_of_differences
from germane.measures.definition import refuse_lists
from germane.measures.measure import Measure, Measures
from germane.readers import RunInput
from germane.readers.files.formats import is_path


def trust(
    run: Run,
    *,
    people: Judgments,
    model: Judgments,
    measures: Measures = DEFAULT,
    name: str = "run",
    about: About = "population",
    weights: Values | None = None,
    strata: Values | None = None,
    tuning: Tuning = "optimal",
    confidence: float = 0.95,
    judge_family: Iterable[str] | str = (),
    **policy: Unpack[Choices],
) -> Trust:
    """Correct means from a model's judgments with people's judgments of some of the queries.

    >>> model = {q: {"a": 1, "b": int(q % 3 == 0)} for q in range(60)}
    >>> people = {q: {"a": int(q % 4 > 0), "b": int(q % 3 == 0)} for q in range(0, 60, 5)}
    >>> run = {q: ["a", "b"] for q in range(60)}
    >>> number = germane.trust(run, people=people, model=model, measures="P@1")["P@1"]
    >>> number.naive_mean, number.mean
    (1.0, 0.75)

    ``run`` is a run, and ``people`` and ``model`` are qrels, as in ``evaluate``. The model judged
    all queries. People judged some of them, and for these they judged every item that the model
    judged. The result maps each measure to a ``CorrectedMean`` with ``mean`` and ``interval``, and
    with the ``naive_mean`` and ``naive_interval`` from the model's judgments alone.

    ``about`` is what the means describe: the population that the queries were drawn from, or only
    these ``queries``. The queries that people judged are a random sample, or were drawn with other
    probabilities: ``weights`` are 1 / the probability of each, and ``strata`` gives a stratum to
    every query, as a mapping, a function or a file. ``tuning`` is optimal (PPI++) or full (PPI).
    ``judge_family`` are words in the names of runs that the judge is related to; findings warn
    about these runs.

    The interval allows for queries that were not drawn: people's values for these may be far from
    the mean, and the model's may be wrong. If this accounts for most of its width,
    ``interval.basis`` is ``range``. With optimal tuning, no interval is wider than that of people's
    judgments alone, whatever the number of their queries; with a better model it is narrower on
    average.

    Warns (GermaneWarning) about problems that can distort the numbers; ``findings`` lists them,
    too. Raises CoverageError if people did not judge all these items, MeasureError for a measure
    that is not a mean over queries, PolicyError, InputError, and what ``evaluate`` raises.
    Angelopoulos et al. 2023 and 2024; Oosterhuis et al. 2024 for rankings.
    """
    trusts = trust_many(
        {name: run}, people=people, model=model, measures=measures, about=about, weights=weights,
        strata=strata, tuning=tuning, confidence=confidence, judge_family=judge_family, **policy,
    )  # fmt: skip
    return trusts[name]


def trust_many(
    runs: Mapping[str, Run],
    *,
    people: Judgments,
    model: Judgments,
    measures: Measures = DEFAULT,
    about: About = "population",
    weights: Values | None = None,
    strata: Values | None = None,
    tuning: Tuning = "optimal",
    confidence: float = 0.95,
    judge_family: Iterable[str] | str = (),
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Trusts:
    """Correct the means of several runs and their differences, and compare the orders of the runs.

    ``runs`` maps the name of each run to the run; the other arguments are the same as for
    ``trust``.

    >>> runs = {"ab": {q: ["a", "b"] for q in range(60)}, "ba": {q: ["b", "a"] for q in range(60)}}
    >>> model = {q: {"a": 1, "b": int(q % 3 == 0)} for q in range(60)}
    >>> people = {q: {"a": int(q % 4 > 0), "b": int(q % 3 == 0)} for q in range(0, 60, 5)}
    >>> found = germane.trust_many(runs, people=people, model=model, measures="P@1")
    >>> round(found.differences[0].naive_mean, 3), round(found.differences[0].mean, 3)
    (-0.667, -0.417)
    """
    Interval.check_confidence(confidence)
    check_choice("about", about, ("population", "queries"))
    check_choice("tuning", tuning, ("optimal", "full"))
    models = open_data(model, policy)
    _check_policy(models.options.asked)
    _check_streams(runs, people, models.qrels)
    opened, persons = models.open_runs(runs), Inputs(people, models.options)
    inputs = [query_run.run for query_run in opened.values()]
    judges = spell_alike(*(_read_judge(judge, measures, inputs) for judge in (persons, models)))
    match_judges(*judges)
    sides = map(models.judge_by, judges)
    with warnings.catch_warnings():  # findings of the model's judgments are in the result
        warnings.simplefilter("ignore", GermaneWarning)
        by_people, by_model = (
            evaluate_many(side, opened, measures, progress=progress) for side in sides
        )
    checked_measures = _check_measures(by_model)
    _check_found(by_model)
    design = make_design(judges[0].queries, judges[1].queries, weights, strata)
    maker = _Maker(by_people, by_model, design, about, tuning, confidence)
    agreement = measure_agreement(list_shared_grades(*judges))
    family = _find_family(runs, judge_family)
    means = {
        run: {measure: maker.correct(measure, run) for measure in checked_measures} for run in runs
    }
    trusts = {
        run: Trust(
            run,
            means[run],
            agreement,
            (
                *(replace(finding, advice="") for finding in by_model[run].findings),
                *maker.check(checked_measures, run),
                *(finding for finding in family if finding.where == run),
                *(finding for mean in means[run].values() for finding in find_narrow_spread(mean)),
            ),
            maker.list_assumptions(weights is not None, strata is not None),
            by_model[run].policy,
        )
        for run in runs
    }
    differences = tuple(
        maker.correct(measure, second, first)
        for measure in checked_measures
        for first, second in combinations(runs, 2)
    )
    orders = tuple(
        order_systems(
            measure,
            {run: by_people[run][measure].mean for run in runs},
            {run: maker.average_drawn(measure, run) for run in runs},
        )
        for measure in checked_measures
        if len(runs) > 1
    )
    result = Trusts(trusts, differences, orders)
    warn("trust", result.findings)
    return result


def compare_judges(
    first: Judgments, second: Judgments, **policy: Unpack[Choices]
) -> JudgeAgreement:
    """Measure how far two judges agree on the pairs of query and item that both judged.

    >>> found = germane.compare_judges({"q": {"a": 1, "b": 0, "c": 1}},
    ...     {"q": {"a": 1, "b": 0, "c": 0}})
    >>> round(found.raw, 3), round(found.kappa, 3), round(found.ac1, 3)
    (0.667, 0.4, 0.333)

    Both arguments are qrels as in ``evaluate``. Warns if the grades are skewed. Raises
    CoverageError if there is no pair that both judged. ``JudgeAgreement`` describes the numbers.
    """
    options = open_options(policy)
    judges = spell_alike(
        *(_read_judge(Inputs(judgments, options), "AP") for judgments in (first, second))
    )
    agreement = measure_agreement(list_shared_grades(*judges))
    warn("judges", agreement.findings)
    return agreement


def _read_judge(data: Inputs, measures: Measures, runs: Iterable[RunInput] = ()) -> Qrels:
    """Read the judgments of one judge."""
    return data.read_judge(data.options.make_plan(measures, data.conventions).needs, runs)


def _check_streams(runs: Any, people: Any, model: Any) -> None:
    """Refuse standard input for what is read once for each judge."""
    is_run = isinstance(runs, Mapping) and any(is_path(run) and run == "-" for run in runs.values())
    if is_run or (is_path(people) and is_path(model) and people == model == "-"):
        raise InputError(
            "each run is read once for each judge, but standard input (-) can be read only"
            " once. Give files."
        )


def _check_policy(policy: Mapping[str, Any]) -> None:
    """Refuse conventions that leave queries out, which then differ between the judges."""
    words = {name: word for name, word in policy.items() if isinstance(word, str)}
    if words.get("unknown") == "zero":
        raise PolicyError(
            f"{write_option('unknown', 'zero')} counts queries that nobody judged; leave it out."
        )
    for name in ("missing", "no_relevant", "no_hit"):
        if words.get(name) in ("skip", "nan"):
            raise PolicyError(
                f"{name}={policy[name]} leaves out queries, and the judges would differ in which"
                " ones, but a corrected mean is over all queries. Choose zero."
            )


def _check_measures(results: Results) -> tuple[Measure, ...]:
    first = next(iter(results.values()))
    refuse_lists(first.measures, "and a correction is of a mean over judged queries.")
    for measure in first.measures:
        if not first[measure].is_arithmetic:
            raise MeasureError(
                f"{measure} is not an arithmetic mean over queries: it cannot be corrected."
            )
    return first.measures


def _check_found(results: Results) -> None:
    """Refuse runs that have no item that the model judged. Raises CoverageError."""
    for name, result in results.items():
        if not result.counts.judged_items_retrieved:
            raise CoverageError(
                f"run {clip(name)}: no judged item is among the results, so that every mean is 0."
                " Are the results chunks and the judgments documents?"
                f" {write_option('collapse', '…')} ranks the documents of chunks."
            )


def _find_family(runs: Iterable[str], families: Iterable[str] | str) -> tuple[Finding, ...]:
    """Find runs whose name has a word of the judge's family."""
    is_list = isinstance(families, Iterable) and not isinstance(families, str)
    words: list[Any] = list(families) if is_list else [families]
    if any(not isinstance(word, str) or not word for word in words):
        raise InputError("judge_family takes words that occur in the names of runs, such as 'gpt'.")
    findings = []
    for run in runs:
        related = [word for word in words if word.casefold() in run.casefold()]
        if related:
            text = (
                f"the judge is related to this run ({list_some(related)}). A judge that ranked,"
                " reranked or trained a system favors it, in every query that people did not"
                " judge"
            )
            advice = "Compare this run only by people's judgments (Clarke and Dietz 2024)."
            findings.append(Finding("serious", "circular judge", text, 1, (), advice, run))
    return tuple(findings)


class _Maker:
    """Makes the corrected means of runs that both judges evaluated."""

    def __init__(
        self, people: Results, model: Results, design: Design, about: About, tuning: Tuning,
        confidence: float,
    ) -> None:  # fmt: skip
        self.people, self.model, self.design = people, model, design
        self.about: About = about
        self.tuning: Tuning = tuning
        self.confidence = confidence
        self.queries = next(iter(people.values())).queries

    def list_values(self, measure: Measure, run: str) -> tuple[Floats, Floats]:
        """List people's values (n) and the model's (N) of a run."""
        return self.people[run][measure].values, self.model[run][measure].values

    def correct(self, measure: Measure, run: str, baseline: str | None = None) -> CorrectedMean:
        """Correct a mean, or the mean difference to a baseline."""
        people, model = self.list_values(measure, run)
        values, find_naive, before = [people, model], find_span, None
        if baseline is not None:
            before, model_before = self.list_values(measure, baseline)
            values, find_naive = [*values, before, model_before], find_span_of_differences
            people, model = subtract_values(people, before), subtract_values(model, model_before)
        every = np.concatenate(values)
        sample = Sample(people, model, self.design, find_span(measure, every), before)
        settings: Any = {"confidence": self.confidence, "about": self.about}
        corrected = correct_mean(sample, tuning=self.tuning, **settings)
        mean = correct_mean(replace(sample, model=np.zeros_like(model)), **settings)
        naive = estimate_mean_interval(model, find_naive(measure, every), self.confidence)
        assert naive is not None  # people judged five of the model's queries or more
        return CorrectedMean(
            measure=measure,
            run=run,
            baseline=baseline,
            mean=corrected.mean,
            interval=corrected.interval,
            people_mean=mean.mean,
            people_interval=mean.interval,
            naive_mean=float(model.mean()),
            naive_interval=naive,
            tuning=corrected.tuning,
            judged=len(people),
            queries=len(model),
            gap=self.design.average(model[self.design.sampled] - people),
            sample=sample,
            about=self.about,
        )

    def average_drawn(self, measure: Measure, run: str) -> float:
        """Average the model's values over the queries that people judged."""
        return float(self.list_values(measure, run)[1][self.design.sampled].mean())

    def check(self, measures: Sequence[Measure], run: str) -> tuple[Finding, ...]:
        """Check whether people's queries look like the others, and enough of them differ."""
        p: dict[str, float] = {}
        rare: list[Finding] = []
        for measure in measures:
            people, model = self.list_values(measure, run)
            p[str(measure)] = compare_drawn(model, self.design)
            differences = subtract_values(people, model[self.design.sampled])
            rare += find_rare_disagreement(str(measure), differences, self.queries)
        return (*find_odd_samples(p), *rare)

    def list_assumptions(self, weighted: bool, stratified: bool) -> tuple[str, ...]:
        """List what the corrected numbers rest on, and what was checked of it."""
        drawn = "at random"
        if stratified:
            drawn = f"at random within {int(self.design.strata.max()) + 1} strata"
        if weighted:
            drawn += ", with probabilities in proportion to 1 ÷ weight"
        about = {
            "population": "the population that all queries are a random sample of",
            "queries": f"these {self.design.total:,} queries, all of which the model judged",
        }[self.about]
        sample = (
            f"the {len(self.queries):,} of {self.design.total:,} queries that people judged"
            f" were drawn {drawn}"
        )
        return (
            f"the numbers are about {about}",
            f"{sample} (assumed; the model's values on them are compared with those on all)",
            "for each of these queries, people judged every item that the model judged (checked)",
            "people's judgments are the truth; the model did not see them (assumed)",
        )
