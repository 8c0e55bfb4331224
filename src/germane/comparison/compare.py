"""The verb compare: systems on the same queries."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Unpack

from numpy.random import Generator

from germane.comparison.comparison import Comparison
from germane.comparison.pair import compare_pairs
from germane.comparison.samples import Runs, Sample, match_samples
from germane.comparison.significance import Correction, Family, Sequential, Settings, TestName
from germane.core.calls import Progress, Seed, make_generator, make_progress
from germane.dialects.names import parse_all
from germane.errors import (
    DuplicateError,
    EmptyError,
    InputError,
    NotFoundError,
    PolicyError,
    clip,
    list_some,
)
from germane.evaluation.choices import DEFAULT, Choices, Judgments, Run, Values
from germane.evaluation.evaluate import evaluate_many
from germane.evaluation.result import Result, Results
from germane.evaluation.signature_line import Signature
from germane.measures.measure import Measure, Measures
from germane.readers import CANDIDATES


def match_results(
    datasets: Mapping[str, Runs], measures: tuple[Measure, ...]
) -> dict[str, dict[str, Result]]:
    """Refuse results that do not belong together; write ids as text where some come from a file."""
    for dataset, runs in datasets.items():
        where = f"data set {dataset}: " if dataset else ""
        for (name, first), (second_name, second) in pairwise(runs.items()):
            check_judgments(where, (name, first), (second_name, second))
            for measure in measures:
                _check_conventions(where, measure, (name, first), (second_name, second))
    return {dataset: _spell_queries(runs) for dataset, runs in datasets.items()}


def check_judgments(where: str, run: tuple[str, Result], second_run: tuple[str, Result]) -> None:
    """Refuse results of different judgments or candidates; old files do not say theirs."""
    (name, first), (second_name, second) = run, second_run
    if first.placement and second.placement and first.placement.qrels is second.placement.qrels:
        return
    if None not in (first.fingerprint, second.fingerprint) and (
        first.fingerprint != second.fingerprint or first.counts.judged != second.counts.judged
    ):
        mine, theirs = (
            f"{result.counts.judged:,} queries, qrels {Signature.shorten(result.fingerprint)}"
            for result in (first, second)
        )
        raise InputError(
            f"{where}{clip(name)} and {clip(second_name)} were evaluated with different judgments"
            f" ({mine}; {theirs}). Values can be compared only on the same queries, items and"
            " grades; evaluate both runs with the same qrels."
        )
    if first.fingerprint is None or second.fingerprint is None:
        return
    for option in CANDIDATES:
        mine, theirs = (
            (
                f"{option} {Signature.shorten(result.option_fingerprints[option])}"
                if option in result.option_fingerprints
                else f"no {option}"
            )
            for result in (first, second)
        )
        if mine != theirs:
            raise InputError(
                f"{where}{clip(name)} and {clip(second_name)} were evaluated with different"
                f" candidates ({mine}; {theirs}). Evaluate both runs with the same {option}=."
            )


def _check_conventions(
    where: str, measure: Measure, run: tuple[str, Result], second_run: tuple[str, Result]
) -> None:
    (name, first), (second_name, second) = run, second_run
    mine, theirs = (  # the choice for repeated judgments shows in the judgments
        replace(result.policies.get(measure, result.policy), qrels_duplicates=None)
        for result in (first, second)
    )
    if not (first.counts.tied and second.counts.tied):  # no order of ties: ranked lists have none
        mine = replace(mine, ties=theirs.ties)
    if mine == theirs:
        return
    words = sorted(mine.__dict__)
    differ = [word for word in words if getattr(mine, word, None) != getattr(theirs, word, None)]
    choices = [
        ", ".join(f"{word}={getattr(policy, word)}" for word in differ) for policy in (mine, theirs)
    ]
    raise PolicyError(
        f"{where}{clip(name)} was evaluated with {choices[0]}, but {clip(second_name)} with"
        f" {choices[1]}. Numbers under different conventions cannot be compared; evaluate both"
        " runs under the same ones."
    )


def _spell_queries(runs: Runs) -> dict[str, Result]:
    """Write query ids as text where some results come from a file, which has no other ids."""
    if all(result.placement is not None for result in runs.values()):
        return dict(runs)
    return {name: result.spell_queries() for name, result in runs.items()}


# --- Compare: evaluate systems on the same queries, and test their differences --------------------


def compare(
    qrels: Judgments | Results | Sequence[Result],
    runs: Mapping[str, Run] | None = None,
    measures: "Measures | None" = None,
    *,
    baseline: str | None = None,
    test: TestName = "randomization",
    correction: Correction | None = None,
    family: Family = "measure",
    confidence: float = 0.95,
    equivalence: float | None = None,
    resamples: int = 10_000,
    rng: Seed = 0,
    by: Values | None = None,
    sequential: Sequential | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Comparison:
    """Compare systems query by query: mean differences, intervals, effect sizes and p-values.

    >>> runs = {"bm25": {"q": ["x", "d"], "p": ["e"]}, "dense": {"q": ["d"], "p": ["e"]}}
    >>> print(germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR").pairs[0])
    dense is ahead of bm25 by 0.250 RR, inconclusive, p = 1.000 (randomization), 1 win ...

    Call ``compare(qrels, runs, measures)`` with the arguments of ``evaluate_many``, or
    ``compare(results)`` with its results, with a list of single results, or with several data sets,
    ``{"news": results, "web": others}``. Every data set has the same weight.

    The results of one data set must have the same judgments and the same conventions; otherwise
    they are refused. Values are paired by query id, over the queries for which every run has one.
    All pairs of runs are compared, or every run with the ``baseline``. ``test`` is randomization
    (of the signs of differences), t, wilcoxon, sign, or tukey (randomized Tukey HSD, for several
    systems). ``correction`` is holm, bonferroni, bh or none. It covers a ``family`` of comparisons:
    those on one measure, or all. A difference is significant if its corrected p is below 1 -
    confidence and its interval excludes 0. It is inconclusive if the test cannot reach such a p on
    these queries, or if it does although the interval contains 0. Intervals are BCa bootstraps at
    the corrected level; where few queries differ, they come from the range of the measure instead,
    and where fewer than five do, there is none. ``equivalence`` is the largest difference that does
    not matter, tested with two one-sided t-tests. Only tukey and ``stability`` draw ``resamples``,
    using ``rng``, which is a seed or a NumPy generator.

    ``by`` compares the runs in each segment of the queries, too, as ``Comparison.segments``; it
    takes what ``Result.by`` takes. All pairs in all segments are corrected together. Numbers of all
    lists, such as Coverage, have intervals and p-values by a jackknife over groups of users.

    ``sequential="anytime"`` is for a comparison that is made again after each batch of queries: its
    p-values and intervals hold however often one looks, and whenever one stops. They come from bets
    on the next query, and need a measure with a lowest and a highest value.

    The test t and ``equivalence`` need SciPy: ``pip install 'germane[stats]'``.
    Raises PolicyError, InputError, CoverageError, NotFoundError and what ``evaluate`` raises.
    """
    settings = Settings(
        baseline, test, correction, family, confidence, equivalence, resamples, sequential
    )
    progress = make_progress(progress)
    draws = make_generator(rng)
    if runs is not None:
        wanted = DEFAULT if measures is None else measures
        qrels = evaluate_many(qrels, runs, wanted, progress=progress, **policy)
        measures = None
    elif policy:
        raise InputError(
            f"{next(iter(policy))}=… is for qrels and runs, but these results are already"
            " evaluated."
        )
    datasets = _split_datasets(qrels)
    _check_systems(datasets, settings)
    first = next(iter(next(iter(datasets.values())).values()))
    chosen = first.measures if measures is None else parse_all(measures)
    if runs is None:
        datasets = match_results(datasets, chosen)
    samples = match_samples(datasets, chosen)
    comparison = compare_samples(datasets, samples, settings, draws, progress)
    if by is not None:
        from germane.comparison.segments import compare_segments

        comparison.segments = compare_segments(datasets, chosen, by, settings, draws)
    return comparison


def compare_samples(
    datasets: Mapping[str, Any],
    samples: Sequence[Sample],
    settings: Settings,
    rng: Generator,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the values of systems, of queries or of images, pair by pair."""
    pairs = compare_pairs(samples, settings, rng, progress)
    return Comparison(datasets, samples, pairs, settings, int(rng.integers(2**63)))


def _split_datasets(raw: Any) -> Mapping[str, Runs]:
    """Sort results by data set and run; a single data set has the name ''."""
    if isinstance(raw, Result):
        raise EmptyError("compare needs at least two runs.")
    is_single = not isinstance(raw, Mapping) or any(
        isinstance(result, Result) for result in raw.values()
    )
    if raw and not is_single:
        return {str(name): _name_runs(results) for name, results in raw.items()}
    return {"": _name_runs(raw)}


def _name_runs(raw: Any) -> Runs:
    """Sort the results of one data set by the name of their run."""
    if isinstance(raw, Results):
        return raw
    if isinstance(raw, Mapping) and all(isinstance(value, Result) for value in raw.values()):
        return raw
    if isinstance(raw, Iterable) and not isinstance(raw, (str, bytes, Mapping)):
        results = list(raw)
        if all(isinstance(result, Result) for result in results):
            for name, times in Counter(result.name for result in results).items():
                if times > 1:
                    raise DuplicateError(
                        f"{times} runs are named {clip(name)}; give each a name of its own with"
                        " evaluate(…, name=…)."
                    )
            return {result.name: result for result in results}
    raise InputError(
        "compare takes qrels and {name: run}, or results: what evaluate_many returns, a list of "
        f"what evaluate returns, or several data sets {{name: results}}; got {clip(raw)}"
    )


def _check_systems(datasets: Mapping[str, Runs], settings: Settings) -> None:
    """Refuse data sets that differ in their runs, fewer than two runs, and an unknown baseline."""
    expected = list(next(iter(datasets.values())))
    for name, runs in datasets.items():
        if set(runs) != set(expected):
            unshared = list_some(sorted(set(runs) ^ set(expected)))
            raise NotFoundError(
                f"data set {name}: not every data set has {unshared}; every data set must have the"
                " same runs."
            )
    settings.check_systems(expected, "runs")
