"""The verbs: evaluate, evaluate_many, score, and reading files on their own."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from germane import sources
from germane.averaging import MeasureResult, all_scores, check_ties, scores, weights
from germane.collection import Collection, graded
from germane.dialects import Dialect, named
from germane.errors import EmptyError, InputError, PolicyError, clip, suggestion
from germane.foreign import asked
from germane.judging import (
    Duplicates,
    Empty,
    Grades,
    Judged,
    Missing,
    NoHit,
    Nonpositive,
    NoRelevant,
    Own,
    Policy,
    Repeated,
    Scores,
    Ties,
    Unjudged,
    Unknown,
)
from germane.measure import Measure, Measures, parse, parse_all
from germane.measures import TABLE
from germane.ranking import Ranking
from germane.result import Counts, Result, Results
from germane.retrieval import Qrels
from germane.sources import Progress
from germane.sources.sequences import ranking_of

if TYPE_CHECKING:
    from germane.sources.columns import Run

DEFAULT = "AP P@10 R@100 RR nDCG@10"


class Choices(TypedDict, total=False):
    """How data is read, and the conventions of a Policy, as keyword arguments."""

    columns: Mapping[str, Any] | None
    input_format: str | None

    duplicates: Duplicates
    ties: Ties
    missing: Missing
    unjudged: Unjudged
    no_relevant: NoRelevant
    depth: int | None

    repeated: Repeated
    scores: Scores
    grades: Grades
    own: Own
    nonpositive: Nonpositive
    threshold: float | None
    empty: Empty
    unknown: Unknown
    no_hit: NoHit
    digits: int | None
    query_digits: int | None


def evaluate(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT,
    *,
    name: str | None = None,
    dialect: str | Dialect | None = None,
    progress: Progress | None = None,
    **policy: Unpack[Choices],
) -> Result:
    """Judge a run against qrels and compute measures.

    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d4": 0.7, "d3": 0.6}}
    >>> germane.evaluate(qrels, run, "AP nDCG@10")["AP"].mean
    0.75

    ``qrels``: the path of a file, a frame, ``{query: {item: grade}}``, ``{query: relevant items}``,
    or what ``read_qrels`` returned. ``run``: the path of a file (``-`` is standard input), a frame,
    ``{query: {item: score}}``, ranked lists ``{query: [item, …]}``, or what ``read_run`` returned.
    ``measures``: names such as ``"AP AP@10"``, measures such as ``[AP, AP @ 10]``, or both.

    Files are TREC's, or what their suffix or ``input_format`` says: parquet, arrow, csv, tsv, jsonl
    or msmarco. A frame is anything with Arrow columns: Polars, pandas, PyArrow, DuckDB, a data set.
    Columns are found by their names, or named: ``columns={"query": "customer", "item": "film"}``.

    Conventions (see ``germane.Policy``): ``duplicates``, ``ties``, ``missing``, ``unjudged``,
    ``no_relevant``, ``depth``, and rarer ones. ``dialect`` takes those of another tool, such as
    ``"trec_eval-9"``, where none are given; names of measures may then be the tool's own.
    ``progress`` is called while files are read.

    Raises MeasureError, PolicyError, InputError or CoverageError, all of them GermaneError.
    """
    spoken = None if dialect is None else named(dialect)
    own = {} if spoken is None else spoken.choices
    qrels, run, conventions = opened(qrels, run, {**own, **policy})
    policies = policies_of(measures, spoken, conventions, policy)
    for measure, convention in policies.items():
        check_ties(measure, convention.ties)
    collection = Collection(qrels, run, progress)
    judged = {one: collection.judged(one) for one in dict.fromkeys(policies.values())}
    computed: dict[Measure, MeasureResult] = {}
    for one, part in judged.items():
        computed |= measured([m for m, its in policies.items() if its == one], part)
    return Result(
        name or sources.run_name(run),
        {measure: computed[measure] for measure in policies},
        partial(_counts, next(iter(judged.values()))),
        conventions,
        spoken,
        {measure: its for measure, its in policies.items() if its != conventions},
    )


def policies_of(
    measures: Measures, dialect: Dialect | None, conventions: Policy, asked_for: Mapping[str, Any]
) -> dict[Measure, Policy]:
    """The conventions of each measure: those of all, those that the dialect has for it, those asked for."""
    if dialect is None:
        return dict.fromkeys(parse_all(measures), conventions)
    return {
        one.measure: replace(conventions, **{**one.choices, **_words(asked_for)})
        if one.choices
        else conventions
        for one in asked(measures, dialect)
    }


def _words(asked_for: Mapping[str, Any]) -> dict[str, Any]:
    return {name: word for name, word in asked_for.items() if name in Policy.__annotations__}


def evaluate_many(
    qrels: Any,
    runs: Mapping[str, Any],
    measures: Measures = DEFAULT,
    *,
    dialect: str | Dialect | None = None,
    progress: Progress | None = None,
    **policy: Unpack[Choices],
) -> Results:
    """Evaluate several runs on the same judgments.

    >>> runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}
    >>> germane.evaluate_many({"q": {"d": 1}}, runs, "RR")["b"]["RR"].mean
    0.0

    ``runs`` maps each run's name to the run; the other arguments are those of ``evaluate``. The
    result maps names to ``Result`` and prints as one table.
    """
    if not isinstance(runs, Mapping):
        raise InputError(f"runs are a mapping of name to run; got {clip(runs)}")
    if not runs:
        raise EmptyError("there are no runs to evaluate.")
    own = {} if dialect is None else named(dialect).choices
    qrels, _, conventions = opened(qrels, None, {**own, **policy})
    judgments = graded(qrels, conventions, progress)
    return Results(
        {
            name: evaluate(
                judgments, run, measures, name=name, dialect=dialect, progress=progress, **policy
            )
            for name, run in runs.items()
        }
    )


def score(
    relevance: Iterable[float],
    measure: str | Measure = "AP",
    *,
    relevant: int | Iterable[float] | None = None,
) -> float:
    """Compute one measure of one list, given as the grades of its items in rank order.

    >>> round(germane.score([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3), 3)
    0.369

    ``relevant`` is the number of relevant items that exist, or all their grades; without it the list
    is taken to hold all of them. Given as a number, those not in the list have the lowest grade that
    counts as relevant: ``rel``, or 1. Raises MeasureError, GradeError or InputError.
    """
    if not isinstance(measure, Measure):
        measure = parse(measure)
    rel = 1.0 if measure.rel is None else measure.rel
    return float(scores(measure, ranking_of(relevance, relevant, rel), "zero")[0])


def read_qrels(
    path: Any,
    *,
    duplicates: Duplicates = "error",
    columns: Mapping[str, Any] | None = None,
    input_format: str | None = None,
    progress: Progress | None = None,
) -> Qrels:
    """Read qrels once, to evaluate several runs with them: a file or a frame.

    >>> germane.read_qrels("examples/digits/qrels.txt")
    Qrels('qrels': 200 queries, 31940 judgments)

    Lines of a TREC file are ``query 0 item grade``, separated by blanks or tabs; blank lines and
    lines that begin with ``#`` are passed over; gzip, bzip2, xz and Zstandard are recognised. Other
    files and frames have columns, as ``evaluate`` reads them. Raises InputError with file and line.
    """
    duplicates = Policy(duplicates=duplicates).duplicates
    given, _ = sources.opened(path, None, columns, input_format)
    if not sources.has_columns(given):
        sources.check_path(given)
    return sources.read_qrels(given, duplicates, progress)


def read_run(path: str | os.PathLike[str], *, progress: Progress | None = None) -> "Run":
    """Read a TREC run file into memory.

    >>> germane.read_run("examples/digits/lda.run")
    Run('lda': 200 queries, 20000 results)

    Lines are ``query Q0 item rank score tag``; the order comes from the scores. ``evaluate`` reads a
    path by itself, in less memory. Raises InputError with file and line.
    """
    from germane.sources import trec_files

    sources.check_path(path)
    return trec_files.read_run(path, progress)


def measures() -> tuple[Measure, ...]:
    """Every measure with its default parameters, in print order.

    >>> germane.measures()[7]
    P
    """
    return tuple(Measure(row.name) for row in TABLE)


_remembered = lru_cache(typed=True)(Policy)


def opened(qrels: Any, run: Any, choices: Mapping[str, Any]) -> tuple[Any, Any, Policy]:
    """Qrels and run with their columns found, and the policy for them.

    A run's source has an order of ties of its own where none is asked for. Raises InputError for
    columns that are missing or ambiguous, and PolicyError for a choice that does not exist.
    """
    words = dict(choices)
    how = words.pop("columns", None), words.pop("input_format", None)
    qrels, run = sources.opened(qrels, run, *how)
    if run is not None:
        words = {"ties": sources.ties_of(run), **words}
    return qrels, run, policy_of(**words)


def policy_of(**choices: Any) -> Policy:
    """The policy of these choices. Raises PolicyError for one that does not exist."""
    for name in choices:
        if name not in Choices.__annotations__:
            near = suggestion(name, Choices.__annotations__)
            raise PolicyError(f"there is no convention {name!r}.{near}")
    try:
        return _remembered(**choices)
    except TypeError:  # a choice that cannot be hashed is wrong; Policy says how
        return Policy(**choices)


def measured(chosen: Iterable[Measure], judged: Judged) -> dict[Measure, MeasureResult]:
    """Several measures of what is judged, under its policy."""
    policy, chosen = judged.policy, tuple(chosen)
    ranking = judged.ranking(policy.ties)
    ordered = OtherOrders(judged)
    computed = all_scores(chosen, ranking, policy.no_relevant)
    for measure, values in zip(chosen, computed, strict=True):
        if policy.no_hit != "zero":
            of_some = ranking.total(measure.rel or 1.0) > 0
            values[of_some & (values == 0)] = 1.0 if policy.no_hit == "one" else math.nan
        if policy.empty == "nan":
            values[ranking.retrieved == 0] = math.nan
    left_out = "skip" if policy.no_hit == "skip" else policy.no_relevant
    return {
        measure: MeasureResult(
            measure,
            ranking.queries,
            values,
            left_out,
            ordered,
            digits=policy.digits,
            query_digits=policy.query_digits,
            norm=weights(measure, ranking),
        )
        for measure, values in zip(chosen, computed, strict=True)
    }


class OtherOrders:
    """The rankings under other orders of ties, each made once; None where nothing judged is tied."""

    def __init__(self, judged: Judged) -> None:
        self._judged = judged
        self._made: dict[str, Ranking] = {}

    def __call__(self, ties: Any) -> Ranking | None:
        if not self._judged.tied.any():
            return None
        if ties not in self._made:
            self._made[ties] = self._judged.ranking(ties)
        return self._made[ties]


def _counts(judged: Judged) -> Counts:
    qrels, retrieved = judged.qrels, judged.retrieved
    answered = int(np.count_nonzero(retrieved.answered))
    relevant = np.bincount(
        np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets)), qrels.grades >= 1, len(qrels)
    )
    reached = np.ones(len(retrieved.judgment), bool)
    if judged.policy.depth is not None:
        reached = retrieved.tied_from <= judged.policy.depth
    return Counts(
        judged=len(qrels),
        answered=answered,
        missing=len(qrels) - answered,
        without_relevant=int(np.count_nonzero(relevant == 0)),
        unjudged_queries=len(retrieved.unknown),
        judged_items_retrieved=int(np.count_nonzero(reached)),
        tied=int(np.count_nonzero(judged.tied & reached)),
    )
