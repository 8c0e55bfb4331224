"""The verbs explain, pr_curve and mean_pr_curve: a number rank by rank, and curves of a run."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Unpack, cast, get_args

import numpy as np

from germane.core.calls import Progress, make_progress
from germane.core.mean_intervals import Interval
from germane.core.policy import Policy, Relevant
from germane.core.ragged import Bools, Ints
from germane.core.ranking import Ranking
from germane.dialects.names import parse_all
from germane.errors import (
    CoverageError,
    InputError,
    MeasureError,
    NotFoundError,
    PolicyError,
    check_choice,
    clip,
)
from germane.evaluation.choices import Choices, Judgments, OtherChoices, Run, Texts
from germane.evaluation.layout import format_value
from germane.evaluation.opening import open_data, open_options
from germane.evaluation.result import Result
from germane.evaluation.special_queries import Kinds, find_convention, settle
from germane.explanation.curves import (
    MeanPRCurve,
    PRCurve,
    Start,
    make_precision_measure,
    make_recall_levels,
)
from germane.explanation.explanation import Coverage, Explanation, Rank, Ranks, Reading, write_term
from germane.explanation.single_query import (
    SingleQuery,
    check_ordered,
    find_placement,
    hold_rows,
    is_list,
    judge_single,
    open_list,
)
from germane.measures import Scored
from germane.measures.averaging import check_ties, compute_scores, compute_terms
from germane.measures.measure import Measure, Measures
from germane.measures.subtopic_coverage import find_covered, sum_weights
from germane.presentation.pictures import format_short
from germane.readers.objects.relevance import make_collection
from germane.readers.options.texts import open_texts

WRITTEN = 24  # terms up to which a formula is written out; of more terms, the first half is
TOLD = 10  # first ranks that are rows of their own where items have texts
SHORT = 30  # lists up to this length are shown rank by rank, longer ones are folded between hits


def explain(
    qrels: Judgments,
    run: Run | None = None,
    measures: Measures = "AP",
    *,
    query: Hashable | None = None,
    relevant: int | Iterable[float] | Relevant | None = None,
    queries: Texts | None = None,
    items: Texts | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[OtherChoices],
) -> Explanation:
    """Explain the values of one query's measures, rank by rank.

    >>> print(germane.explain([0, 0, 1, 0, 1], "AP@5", relevant=3).readings[0].formula)
    AP@5 = (1/3 + 2/5) / min(3,5) = 0.2444

    Call ``explain(qrels, run, measures, query=…)`` with the inputs of ``evaluate``, or
    ``explain(grades, measures, relevant=…)`` with those of ``score``. Several measures are shown
    side by side, with the ranks and norms in which they differ from the first. ``queries`` and
    ``items`` show texts: each is the path of a TSV, JSON or Parquet file, a frame, a mapping of id
    to text, or a function. Raises NotFoundError for an unjudged query, CoverageError for a query
    that is missing from the run, unless it counts (``missing="zero"``), PolicyError for
    ``ties="expected"`` and ``"grouped"``, and the errors of ``evaluate``.
    """
    progress, qrels = make_progress(progress), hold_rows(qrels)
    query_texts, item_texts = open_texts(queries, "queries"), open_texts(items, "items")
    if is_list(qrels, run, policy):
        run, measures = None, measures if run is None else run
        if query_texts or item_texts:
            raise InputError(
                "queries=… and items=… are for qrels and a run, because grades have no ids."
            )
    chosen, choices = apply_dialect(measures, policy)
    rel = _find_level(chosen)
    if choices and is_list(qrels, run, {}) and set(policy) == {"dialect"}:
        qrels, run = make_collection(cast(Any, qrels), cast(Any, relevant), rel)
        relevant = None
    listed = open_list(
        qrels, run, query, relevant, rel, chosen, choices, Policy.UNORDERED, progress
    )
    explanation = _make_explanation(listed, chosen, rel, TOLD if item_texts else 0)
    texts: dict[str, str] = {}
    if item_texts:
        ids = [row.item for row in explanation.rows] + [item for item, _ in explanation.missed]
        by_id = item_texts.find(identifier for identifier in ids if identifier is not None)
        texts = {identifier: str(text) for identifier, text in by_id.items()}
    by_query = query_texts.find([explanation.query]) if query_texts else {}
    return replace(
        explanation, texts=texts, query_text=str(by_query.get(str(explanation.query), ""))
    )


def explain_result(
    result: Result, query: Hashable, measures: tuple[Measure, ...], run: Any = None, top: int = 0
) -> Explanation:
    """Explain one query of a result that was just computed, without judging its run again.

    Unjudged items have names where a ``run`` that finds items by query is given. Each of the
    ``top`` ranks is a row of its own. Raises the errors of ``explain``.
    """
    judged = find_placement(result).of(query)
    check_ordered(judged.policy, Policy.UNORDERED)
    return _make_explanation(judge_single(judged, run), measures, _find_level(measures), top)


def _find_level(measures: tuple[Measure, ...]) -> float:
    """Find the one lowest relevant grade of all measures, which the columns beside them use too."""
    levels = {measure.rel for measure in measures if measure.rel is not None} or {1.0}
    if len(levels) > 1:
        raise MeasureError(
            "measures with different rel count different hits, so explain them in separate calls."
            f" Here rel is {' and '.join(f'{level:g}' for level in sorted(levels))}."
        )
    return levels.pop()


def _make_explanation(
    listed: SingleQuery, measures: tuple[Measure, ...], rel: float, top: int = 0
) -> Explanation:
    ranking = listed.ranking
    scored = [compute_terms(measure, ranking) for measure in measures]
    telling = ranking.relevant(rel) | np.any([score.terms != 0 for score in scored], axis=0)
    first, last = _fold_ranks(ranking, telling, measures, top)
    hit = _find_hits(ranking, first, last)
    rows = _make_rows(listed, rel, first, last, hit)
    return Explanation(
        query=ranking.queries[0],
        rows=rows,
        readings=tuple(
            _make_reading(listed, rows, hit, measure, score)
            for measure, score in zip(measures, scored, strict=True)
        ),
        missed=tuple(_find_missed(listed, rel)),
        relevant=int(ranking.total(rel)[0]),
        retrieved=int(ranking.retrieved[0]),
        policy=listed.policy,
        answered=listed.is_answered,
        counted=listed.counted,
        coverage=(
            _find_coverage(ranking, rel, hit)
            if any(measure.row.subtopics for measure in measures)
            else ()
        ),
    )


def _find_coverage(ranking: Ranking, rel: float, hit: Ints) -> tuple[Coverage, ...]:
    """Find the subtopics of each row that are new, and those that an earlier item has."""
    cells = ranking.subtopics
    assert cells is not None
    entries, earlier = find_covered(ranking, rel)
    names = [cells.judged.names[code] for code in cells.code[entries.cell].tolist()]
    coverage: dict[int, Coverage] = {}
    for row, name, count in zip(entries.row.tolist(), names, earlier.tolist(), strict=True):
        new, repeated = coverage.get(row, Coverage((), ()))
        coverage[row] = (
            Coverage(new, (*repeated, name)) if count else Coverage((*new, name), repeated)
        )
    return tuple(coverage.get(row, Coverage((), ())) for row in hit.tolist())


def _fold_ranks(
    ranking: Ranking, telling: Bools, measures: tuple[Measure, ...], top: int
) -> tuple[Ints, Ints]:
    """Fold ranks into rows, and return the first and the last rank of each row.

    Each of the top ranks, and each telling item, is a row. The ranks between two of these are one
    row, and so are all ranks beyond the largest cutoff.
    """
    end = int(ranking.retrieved[0])
    if end <= SHORT:
        singles = np.arange(1, end + 1)
        return singles, singles
    shown = min(end, max(end if measure.k is None else measure.k for measure in measures))
    singles = ranking.rank[telling & (ranking.rank <= shown)]
    singles = np.union1d(np.arange(1, min(top, shown) + 1), singles)
    after = np.append(0, singles) + 1  # where the ranks between two of them would begin
    before = np.append(singles, shown + 1) - 1
    between = after <= before
    beyond = np.arange(shown + 1, end + 1)[:1]
    first = np.concatenate([singles, after[between], beyond])
    last = np.concatenate([singles, before[between], np.full(len(beyond), end)])
    order = np.argsort(first)
    return first[order], last[order]


def _find_hits(ranking: Ranking, first: Ints, last: Ints) -> Ints:
    """Find the judged item of each row, as its place in the ranking; -1 for none and for folds."""
    place = np.searchsorted(ranking.rank, first)
    judged = np.append(ranking.rank, -1)[place] == first
    return np.where(judged & (first == last), place, -1)


def _make_rows(listed: SingleQuery, rel: float, first: Ints, last: Ints, hit: Ints) -> Ranks:
    ranking, qrels = listed.ranking, listed.qrels
    names: Sequence[Hashable] = ()
    name = np.full(len(first), -1)
    tied_from, tied_to = np.append(ranking.tied_from, 0)[hit], np.append(ranking.tied_to, 0)[hit]
    if qrels is not None and ranking.judgment is not None:
        names = [*qrels.items, *listed.unjudged.items]
        name = np.append(ranking.judgment, -1)[hit]
        place = listed.unjudged.find(np.where((hit < 0) & (first == last), first, 0))
        unjudged = place >= 0
        name[unjudged] = len(qrels.items) + place[unjudged]
        tied_from[unjudged] = listed.unjudged.tied_from[place[unjudged]]
        tied_to[unjudged] = listed.unjudged.tied_to[place[unjudged]]
    return Ranks(
        first=first,
        last=last,
        relevant_found=np.searchsorted(ranking.rank[ranking.relevant(rel)], last, "right"),
        relevant=int(ranking.total(rel)[0]),
        hit=np.append(ranking.relevant(rel), False)[hit],
        grade=np.append(ranking.relevance, np.nan)[hit],
        name=name,
        names=names,
        tied_from=tied_from,
        tied_to=tied_to,
    )


def _make_reading(
    listed: SingleQuery, rows: Sequence[Rank], hit: Ints, measure: Measure, scored: Scored
) -> Reading:
    ranking = listed.ranking
    terms = tuple(np.append(scored.terms, 0.0)[hit].tolist())
    rest = float(np.broadcast_to(scored.rest, 1)[0])
    policy, kinds = listed.policy or Policy(), listed.kinds
    settled = settle(measure, ranking, policy, kinds)
    norm, value = float(scored.norm[0]), float(settled.values[0])
    ties = {}
    for order in ("expected", "best", "worst"):
        with suppress(PolicyError):  # of an order that has no closed form under these conventions
            reordered = listed.reorder(order)
            if reordered is not None and (order != "expected" or measure.row.expected):
                ties[order] = float(settle(measure, reordered, policy, kinds).values[0])
    convention = find_convention(measure, ranking, policy, kinds)
    counts = f"{convention}: {'left out' if not settled.per_query else f'{value:.4f}'}"
    if convention.startswith("no_relevant"):
        formula = f"{measure} is not defined without relevant items; {counts}"
        return Reading(measure, terms, rest, norm, "", formula, value, ties)
    symbolic, numeric = _write_divisor(measure, ranking, scored)
    total, linked = _write_total(measure, rows, terms, rest), scored.link is not None
    plain = float(compute_scores(measure, ranking)[0])
    formula = _write_formula(measure, ranking, total, numeric, norm, plain, linked)
    formula += f"; {counts}" * bool(convention)
    divisor = " = ".join(
        dict.fromkeys(filter(None, (symbolic, numeric, symbolic and format_short(norm))))
    )
    return Reading(measure, terms, rest, norm, divisor, formula, value, ties)


def _write_total(
    measure: Measure, rows: Sequence[Rank], terms: tuple[float, ...], rest: float
) -> str:
    """Write the terms as a sum; of more than WRITTEN terms, half as many are written out."""
    adding = [i for i, term in enumerate(terms) if term]
    is_long = len(adding) + bool(rest) > WRITTEN
    written = adding[: WRITTEN // 2] if is_long else adding
    summed = [write_term(measure, terms[i], rows[i].rank) for i in written]
    if is_long:
        remainder = math.fsum(terms) + rest - math.fsum(terms[i] for i in written)
        left = len(adding) + bool(rest) - len(written)
        summed.append(f"… {left} more that add {remainder:.4f}")
    elif rest:
        summed.append(format_short(rest))
    return " + ".join(summed).replace("+ -", "- ").replace("+ …", "…") or "0"


def _write_formula(
    measure: Measure,
    ranking: Ranking,
    total: str,
    numeric: str,
    norm: float,
    value: float,
    linked: bool,
) -> str:
    """Write the formula with the numbers put in."""
    shown = format_value(value, measure, 4)
    if linked:  # a function of the sum S, as in 'ln((1 + S) ÷ (1 + R - S)), S = …'
        function = measure.definition.partition(", S =")[0]
        relevant = int(ranking.total(measure.rel or 0.0)[0])
        function = re.sub(r"\bR\b", str(relevant), function)
        return f"{measure} = {function} = {shown}, S = {total}"
    if not measure.row.write_divisor(measure.k, dict(measure.parameters)):
        return f"{measure} = {total}" + ("" if total in (shown, f"{value:g}") else f" = {shown}")
    simple = re.fullmatch(r"[\d.]+|min\([\d.,]+\)|\(.*\)", numeric)
    return f"{measure} = ({total}) / {numeric if simple else format_short(norm)} = {shown}"


def _write_divisor(measure: Measure, ranking: Ranking, scored: Scored) -> tuple[str, str]:
    """Write the divisor of a measure in symbols, and with the numbers put in if it has no words."""
    parameters = dict(measure.parameters)
    rel = 1.0 if measure.rel is None else measure.rel
    symbolic = measure.row.write_divisor(measure.k, parameters)
    if not symbolic:
        return "", ""
    relevant = ranking.total(rel)
    if parameters.get("items") == "retrieved":  # whose relevant items are all in the list
        relevant = ranking.count_found(rel, None)
    elif measure.rel is None and scored.relevant is not None:  # items that gain something
        relevant = scored.relevant
    hits = int(ranking.count_found(rel, measure.k)[0])
    numbers = {
        r"relevant items found( in the first \d+)?": hits,
        r"\bhits\b": hits,
        r"\bR\b": int(relevant[0]),
        r"\bN\b": int(ranking.retrieved[0]),
        r"\bS\b": _count_subtopics(ranking, rel),
        r"\bW\b": _sum_weights(ranking, rel, parameters),
        r"β²": f"{float(parameters.get('beta', 1)) ** 2:g}",
        r"α": f"{parameters.get('alpha', 0):g}",
        r"β": f"{parameters.get('beta', 1):g}",
    }
    numeric = symbolic
    for pattern, number in numbers.items():
        numeric = re.sub(pattern, str(number), numeric)
    in_words = re.search("[A-Za-zΣ]", re.sub("min|max", "", numeric))
    return symbolic, "" if in_words else numeric


def _count_subtopics(ranking: Ranking, rel: float) -> int:
    return 0 if ranking.subtopics is None else int(sum_weights(ranking, rel, "equal")[0])


def _sum_weights(ranking: Ranking, rel: float, parameters: dict[str, Any]) -> str:
    """Write the weights of the subtopics with a relevant item, where a measure takes them."""
    if parameters.get("weights") != "given":
        return ""
    return f"{sum_weights(ranking, rel, 'given')[0]:g}"


def _find_missed(listed: SingleQuery, rel: float) -> Iterator[tuple[Hashable | None, float]]:
    """Find the relevant items that were not retrieved, highest grade first."""
    ranking, qrels = listed.ranking, listed.qrels
    if listed.policy is not None and listed.policy.relevant == "listed" and listed.is_answered:
        return
    if qrels is None or ranking.judgment is None:
        left = Counter(ranking.ideal[ranking.ideal >= rel].tolist())
        left -= Counter(ranking.relevance[ranking.relevant(rel)].tolist())
        yield from ((None, grade) for grade in left.elements())
        return
    retrieved = set(ranking.judgment.tolist())
    judged = enumerate(zip(qrels.items, qrels.grades.tolist(), strict=True))
    missed = [pair for j, pair in judged if pair[1] >= rel and j not in retrieved]
    yield from sorted(missed, key=lambda pair: -pair[1])


# --- The verbs pr_curve and mean_pr_curve ---------------------------------------------------------


def pr_curve(
    qrels: Judgments,
    run: Run | None = None,
    *,
    query: Hashable | None = None,
    relevant: int | Iterable[float] | Relevant | None = None,
    rel: float = 1.0,
    start: Start = "(0,1)",
    progress: Progress | bool | None = None,
    **policy: Unpack[OtherChoices],
) -> PRCurve:
    """Compute the precision–recall curve of one query.

    >>> curve = germane.pr_curve([1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0], relevant=8)
    >>> float(curve.recall[-1])
    0.625

    Call ``pr_curve(qrels, run, query=…)`` with the inputs of ``evaluate``, or ``pr_curve(grades,
    relevant=…)`` with those of ``score``. The grades may also be the detections of an object
    detector, each a hit or not, in order of confidence; ``relevant`` is then the number of objects.

    ``rel`` is the lowest grade that counts as relevant. ``start`` is the point before rank 1:
    ``(0,1)``, as in scikit-learn, ``(0,0)``, or none; with ``(1/R,P@first)``, the curve starts at
    the first relevant rank. ``ties="grouped"`` treats a group of equal scores as one step, as
    scikit-learn does. Raises CoverageError if no item is relevant, since recall is then undefined,
    and the errors of ``evaluate``.
    """
    progress, qrels = make_progress(progress), hold_rows(qrels)
    check_choice("start", start, get_args(Start), InputError)
    rel = _find_curve_level(rel)
    try:
        measures = (make_precision_measure(0.0, rel),)
        listed = open_list(
            qrels, run, query, relevant, rel, measures, {**policy}, ("expected", "middle"), progress
        )
    except NotFoundError as error:
        if query is not None:
            raise
        raise NotFoundError(f"{error} mean_pr_curve averages over all queries.") from None
    ranking = listed.ranking
    subject = "the list" if is_list(qrels, run, policy) else f"query {clip(ranking.queries[0])}"
    if not ranking.total(rel)[0]:
        raise CoverageError(f"{subject} has no relevant item; recall is not defined.")
    if not listed.is_answered:
        raise CoverageError(f"the run has no results for {subject}.")
    if not ranking.retrieved[0]:
        raise CoverageError(f"nothing was retrieved for {subject}.")
    return PRCurve(ranking, rel, start, listed.policy, listed.counted)


def mean_pr_curve(
    qrels: Judgments,
    run: Run,
    *,
    points: Literal[11, 101] = 11,
    rel: float = 1.0,
    confidence: float = 0.95,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> MeanPRCurve:
    """Average interpolated precision over queries, at 11 or 101 recall levels.

    >>> runs = {"q1": ["a", "b"], "q2": ["x", "c"]}
    >>> germane.mean_pr_curve({"q1": ["a", "b"], "q2": ["c"]}, runs).area(11)
    0.75

    ``qrels``, ``run`` and the conventions are the same as for ``evaluate``; ``rel`` is the lowest
    grade that counts as relevant. The band is the confidence interval of the mean at each level,
    computed as for any other measure (``MeasureResult.interval``); it is NaN for fewer than five
    queries.
    """
    progress = make_progress(progress)
    levels = make_recall_levels(points)
    Interval.check_confidence(confidence)
    rel = _find_curve_level(rel)
    measure = make_precision_measure(0.0, rel)
    data = open_data(qrels, policy)
    opened, conventions = data.open_run(run)
    check_ties(measure, conventions.ties)
    judged = data.collect(opened, (measure,), (conventions,), progress).judge(conventions)
    ranking = judged.rank(conventions.ties)
    return _average(ranking, judged.policy, judged.kinds, levels, rel, confidence)


def average_curve(
    result: Result,
    *,
    rel: float = 1.0,
    confidence: float = 0.95,
    band: Literal["compute", "skip"] = "compute",
) -> MeanPRCurve:
    """Compute the ``mean_pr_curve`` of a result in memory, without reading its run again.

    ``band="skip"`` leaves out the band, which takes most of the time.
    """
    placement, levels = find_placement(result), make_recall_levels(11)
    ranking, kinds = placement.ranking, placement.kinds
    return _average(ranking, result.policy, kinds, levels, rel, confidence, band)


def _average(
    ranking: Ranking,
    conventions: Policy,
    kinds: Kinds | None,
    levels: list[float],
    rel: float,
    confidence: float,
    band: Literal["compute", "skip"] = "compute",
    rows: Ints | None = None,
) -> MeanPRCurve:
    measures = [make_precision_measure(level, rel) for level in levels]
    settled = (settle(measure, ranking, conventions, kinds) for measure in measures)
    results = [values if rows is None else values.take(rows) for values in settled]
    precision = np.array([result.mean for result in results])
    per_query = np.array([result.values for result in results])
    intervals = [
        result.interval(confidence=confidence) if band == "compute" else None for result in results
    ]
    low, high = (
        np.array([getattr(interval, end, np.nan) for interval in intervals])
        for end in ("low", "high")
    )
    return MeanPRCurve(
        ranking, rel, conventions, np.array(levels), precision, per_query,
        len(results[0].per_query), confidence, low, high, kinds, rows,
    )  # fmt: skip


def average_rows(curve: MeanPRCurve, rows: Ints) -> MeanPRCurve:
    """Average the curves of some queries of a mean curve, by their places."""
    levels = curve.recall.tolist()
    return _average(
        curve.ranking, curve.policy, curve.kinds, levels, curve.rel, curve.confidence, rows=rows
    )


def _find_curve_level(rel: Any) -> float:
    """Read the lowest relevant grade as measures read it."""
    return Measure("AP", (("rel", rel),)).rel or 0.0


def apply_dialect(
    measures: Measures, choices: Mapping[str, Any]
) -> tuple[tuple[Measure, ...], dict[str, Any]]:
    """Write a dialect as the measures and the conventions that it stands for.

    Raises MeasureError for measures with conventions of their own that differ.
    """
    options = open_options(choices)
    if options.dialect is None:
        return parse_all(measures), dict(choices)
    plan = options.make_plan(measures, options.make_policy())
    if len(plan.groups) > 1:
        names = ", ".join(map(str, plan.policies))
        raise MeasureError(
            f"{options.dialect.name} computes {names} under different conventions, so explain them"
            " in separate calls."
        )
    [policy] = plan.groups
    words = {name: getattr(policy, name) for name in Policy.DEFAULTS}
    stated = {*options.usual, *options.asked}
    own_words = {n: word for n, word in words.items() if word != Policy.DEFAULTS[n] or n in stated}
    rest = {name: choice for name, choice in choices.items() if name != "dialect"}
    return tuple(plan.policies), {**own_words, **rest}
