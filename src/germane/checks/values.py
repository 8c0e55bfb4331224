"""Values: grades and scores; and malformed input, which is damaged, swapped or of another kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from germane.checks.data import Data
from germane.checks.faulty_rows import (
    FEW,
    Problem,
    Sees,
    Side,
    count_queries,
    show_first_row,
    show_rows,
)
from germane.core.finding import show_ids
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ties import ROW_ORDERS
from germane.errors import InputError, list_choices, write_option
from germane.measures.definition import write_number
from germane.measures.measure import Measure
from germane.output.tables import write_count
from germane.readers.objects.numbers import EXACT

TURNED = "Do the grades have the wrong sign, or are the relevant items missing?"
LOST = "Were the grades lost, or is this the wrong file?"
CEILING = 0.5  # the highest recall that any run can have, from which on a cutoff is deep enough
USUAL = 4  # the highest grade of the scales of the field


def find_nothing_relevant(data: Data) -> Sees:
    """Find qrels in which no grade is 1 or higher, and measures without a query for this reason."""
    if data.uncounted:
        names = ", ".join(map(str, data.uncounted))
        text = (
            f"no query counts for {names}: none has a relevant item, and"
            f" {write_option('no_relevant', 'skip')} leaves such queries out"
        )
        yield Problem(text, len(data.queries))
        return
    grades = data.grades
    if not len(grades):
        if data.empty and not data.qrels.faults.count:
            are = write_count(len(data.empty), "query is", "queries are")
            text = f"{are} in the qrels, but none has a judgment"
            yield Problem(text, len(data.empty), show_ids(data.empty), LOST)
        return
    highest, least = (
        grades.max(),
        max((measure.rel or 0.0 for measure in data.measures), default=1.0),
    )
    if 0 < highest >= least:
        return
    text = (
        f"none of the {write_count(len(grades), 'judgment')} has a grade of {least or 1:g} or"
        f" higher: the highest is {highest:g}"
    )
    advice = TURNED if highest <= 0 else ""
    if highest >= 1:
        strict = next(measure for measure in data.measures if measure.rel == least)
        advice = f"{strict} is then 0 for every query; choose rel={write_number(highest)} or lower."
    elif highest > 0:
        lowest = grades[grades > 0].min()
        advice = f"If lower grades are relevant, write P(rel={write_number(lowest)}), or map them."
    example = np.flatnonzero(grades == highest)[:1]
    yield Problem(
        text, len(grades), show_rows(data.qrels, example) if data.is_whole else (), advice
    )


def find_low_ceilings(data: Data) -> Sees:
    """Find cutoffs of recall that hold less than half of the relevant items, whatever the run."""
    low: dict[Measure, float] = {}
    for measure in data.measures:
        parameters = dict(measure.parameters)
        if measure.name != "R" or measure.k is None or parameters["norm"] != "R":
            continue
        total = _count_several(data, measure)
        if len(total) and parameters["mean"] == "arithmetic":
            highest = float(np.mean(np.minimum(measure.k, total) / total))
            if highest < CEILING:
                low[measure] = highest
    if not low:
        return
    shown = [f"{measure} above {_round_up(ceiling)}" for measure, ceiling in low.items()]
    lowest = min(low, key=lambda measure: low[measure])
    total = _count_several(data, lowest)
    text = (
        f"no run can have {list_choices(shown, 'and')}, because a query has"
        f" {_write_mean(float(total.mean()))} relevant items on average"
    )
    success = Measure("Success", (("rel", lowest.rel),), lowest.k)
    advice = (
        f"Metric learning's Recall@{lowest.k} is {success}, and {lowest(norm='min')} divides by"
        f" min(R, {lowest.k})."
    )
    yield Problem(text, int(np.count_nonzero(total > lowest.k)), (), advice)


def _count_several(data: Data, measure: Measure) -> Ints:
    """Count the relevant items of each query that has some."""
    total = data.count_relevant(measure.rel or 1.0)
    return total[total > 0]


def _write_mean(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _round_up(value: float) -> str:
    """Write a share with two digits, rounded up: no run has more."""
    digits = 1 - math.floor(math.log10(value))
    return f"{math.ceil(value * 10**digits - 1e-9) / 10**digits:.{digits}f}"


def find_negative(data: Data) -> Sees:
    """Find grades below 0, which only mark an item as pooled."""
    yield from _report_grades(data, data.grades < 0, "below 0")


def find_fractional(data: Data) -> Sees:
    """Find grades with decimals."""
    grades = data.grades
    fractional = grades != np.trunc(grades)
    advice = ""
    if fractional.any() and (grades[fractional] > 0).any():
        lowest = write_number(grades[fractional & (grades > 0)].min())
        advice = f"Grades from 1 on count as relevant; P(rel={lowest}) sets a lower limit."
    yield from _report_grades(data, fractional, "with decimals", advice)


def find_unusual(data: Data) -> Sees:
    """Find grades beyond the usual scales."""
    highest = write_number(data.grades.max(initial=0))
    advice = (
        f"gain=exp raises 2 to the grade, and ERR takes ERR(max={highest}). If they are ratings,"
        f" map them to 0…{USUAL}."
    )
    yield from _report_grades(data, data.grades > USUAL, f"above {USUAL}", advice)


def _report_grades(data: Data, is_reported: Bools, text: str, advice: str = "") -> Sees:
    places = np.flatnonzero(is_reported)
    if len(places):
        grades = data.grades[places]
        extreme = grades[np.argmax(np.abs(grades))]
        have = "has" if len(places) == 1 else "have"
        share = (
            f"{len(places):,} of {write_count(len(is_reported), 'judgment')} {have} a grade {text}"
        )
        text = f"{share}, such as {extreme:g}"
        yield Problem(text, len(places), show_rows(data.qrels, places), advice)


def find_all_relevant(data: Data) -> Sees:
    """Find qrels with several grades, all of which count as relevant: ratings."""
    grades = np.unique(data.grades)
    if len(grades) > 1 and grades[0] >= 1:
        text = (
            f"every one of the {write_count(len(data.qrels), 'judgment')} counts as relevant:"
            f" grades go from {grades[0]:g} to {grades[-1]:g}"
        )
        lowest = write_number(grades[max(1, len(grades) * 3 // 5)])  # as 4 of 1 to 5
        advice = f"Choose the lowest grade that counts as relevant, as in P(rel={lowest})@10."
        first = show_first_row(data.qrels, np.arange(len(data.qrels)))
        yield Problem(text, len(data.qrels), first, advice)


def find_only_relevant(data: Data) -> Sees:
    """Find qrels with a single grade."""
    grades = np.unique(data.grades)
    if len(grades) == 1 and grades[0] >= 1:
        text = (
            f"all {write_count(len(data.qrels), 'judgment')} have the grade {grades[0]:g}: nothing"
            " is judged not relevant"
        )
        yield Problem(text, len(data.qrels))


TIED = 0.05  # the share of results, or of queries, from which on ties are reported
ROUNDED = 0.01  # the share of results from which on ties may come from rounding
DECIMALS = 3
SIGNIFICANT = 3  # digits
SHOW_EFFECT = f"{write_option('ties', 'best')} and {write_option('ties', 'worst')} show the effect"
CLOSE = 1e-6  # the error that rounding leaves
PRINTED = 7  # decimals with which half-precision scores may be printed
APART = 4  # printed steps between two numbers of half precision, so that few others fit
TELLING = 20  # different scores that do not all fit by chance


def find_constant(data: Data) -> Sees:
    """Find runs in which nearly all results of a query have the same score, if that can matter."""
    order = describe_order(data)
    if data.constant and (data.results >= FEW or _are_of_two_kinds(data)):
        text = (
            f"all {data.results:,} results have the same score as the other results of their query"
        )
        examples = show_first_row(data.run, data.order) if data.is_whole else ()
        yield Problem(text, data.results, examples, f"{order}; {SHOW_EFFECT}.")
    elif (moved := data.decided) is not None:
        count, results = data.nearly_constant
        low, high = sorted((moved.worst, moved.best))
        share = f"all {results:,}" if count == results else f"{count:,} of {results:,}"
        text = (
            f"{share} results have the same score as others of their query; depending on their"
            f" order, {moved.measure} could be anything from {low:.4f} to {high:.4f}"
            + ("" if moved.are_extremes else " or beyond")
        )
        expected = moved.measure.row.expected
        gives = (
            f"{write_option('ties', 'expected')} gives the mean over all orders"
            if expected
            else "the scores do not decide it"
        )
        yield Problem(text, count, (), f"{order}; {gives}.")


def describe_order(data: Data) -> str:
    """Describe the order of equal scores that is in force, as the beginning of a sentence."""
    return _ORDERS.get(data.ties, f"ties={data.ties} decides their order")


_ORDERS = {
    "trec": "Their ids decide the order, from the last to the first",
    "ascending": "Their ids decide the order, from the first to the last",
    "given": "They are ordered as given",
    "expected": f"{write_option('ties', 'expected')} takes the mean over all their orders",
}


def _advise_tied(data: Data) -> str:
    """Advise on equal scores, of which the order in force decides the ranks."""
    allowed = bool(data.measures) and all(
        getattr(measure.row, "expected", True) for measure in data.measures
    )
    mean = f", and {write_option('ties', 'expected')} takes the mean over all orders"
    remedy = mean * (allowed and data.ties in ROW_ORDERS)
    return f"{describe_order(data)}; {SHOW_EFFECT}{remedy}."


def _are_of_two_kinds(data: Data) -> bool:
    """Are some results relevant and others not, so that their order decides the number?"""
    if not data.is_whole:
        return False  # the values say it
    relevant = data.grade > 0
    return bool(relevant.any() and not relevant.all())


def find_tied(data: Data) -> Sees:
    """Find results that share their score with another of the same query."""
    if data.is_whole:
        yield from _report_tied(data)
    elif (count := data.tied_widely) and data.results >= FEW and not data.constant:
        text = (
            f"{count:,} of {len(data.hits):,} judged items that were found share their score with"
            " so many others that their rank could be twice as high"
        )
        yield Problem(text, count, (), _advise_tied(data))


def _report_tied(data: Data) -> Sees:
    shares = _mark_tied(data.equal)
    count = int(np.count_nonzero(shares)) if data.ties in ROW_ORDERS else 0
    if count and not data.constant and count >= TIED * len(shares):
        rows = data.order[shares]
        text = (
            f"{count:,} of {write_count(len(shares), 'result')} ({count / len(shares):.0%})"
            f" {'shares its' if count == 1 else 'share their'} score with another, in"
            f" {count_queries(data.run, rows)}"
        )
        yield Problem(text, count, show_rows(data.run, rows), _advise_tied(data))


def _mark_tied(equal: Bools) -> Bools:
    """Mark the results that are tied with a neighbor."""
    after: Bools = equal.copy()
    after[:-1] |= equal[1:]
    return after


def find_tied_at_cutoff(data: Data) -> Sees:
    """Find groups of equal scores that a cutoff splits."""
    if data.constant or data.ties not in ROW_ORDERS:
        return
    torn = {k: data.order[data.equal & (data.rank == k + 1)] for k in data.cutoffs}
    worst = max(map(len, torn.values()), default=0)
    if worst and worst >= TIED * np.count_nonzero(data.retrieved):
        text = "; ".join(
            f"{write_count(len(rows), 'query has', 'queries have')} equal scores on both sides of"
            f" rank {k}"
            for k, rows in torn.items()
            if len(rows)
        )
        rows = next(row for row in torn.values() if len(row) == worst)
        yield Problem(text, worst, show_rows(data.run, rows), _advise_tied(data))


def find_half_precision(data: Data) -> Sees:
    """Find tied scores of 16 bits."""
    scores = data.run.number
    if scores is None or not _may_be_rounded(data) or (scores == np.trunc(scores)).all():
        return
    kind = "bfloat16" * _is_brain(scores) or "float16" * _is_half(scores)
    if kind:
        tied = int(np.count_nonzero(_mark_tied(data.equal)))
        text = (
            f"every score fits into {kind}, and {tied:,} of {write_count(len(scores), 'result')}"
            " are tied"
        )
        yield Problem(text, tied, _show_first_tied(data))


def find_rounded(data: Data) -> Sees:
    """Find scores that are tied because they have few digits."""
    scores = data.run.number
    if scores is None or not _may_be_rounded(data) or any(find_half_precision(data)):
        return
    digits = _count_few_digits(scores)
    if digits and (scores != np.trunc(scores)).any():
        tied = int(np.count_nonzero(_mark_tied(data.equal)))
        text = (
            f"no score has more than {digits}, and {tied:,} of"
            f" {write_count(len(scores), 'result')} are tied"
        )
        yield Problem(text, tied, _show_first_tied(data))


def _show_first_tied(data: Data) -> tuple[str, ...]:
    return show_first_row(data.run, data.order[_mark_tied(data.equal)])


def _count_few_digits(scores: Floats) -> str:
    """Describe the number of digits that no score exceeds; "" if it is not small."""
    decimals = _count_decimals(scores, DECIMALS)
    if decimals is not None:
        return write_count(decimals, "decimal")
    size = np.abs(scores[scores != 0])
    leading = size / 10.0 ** (np.floor(np.log10(size)) - SIGNIFICANT + 1)
    short = bool((np.abs(leading - np.rint(leading)) < CLOSE).all())
    return f"{SIGNIFICANT} significant digits" * short


def _count_decimals(scores: Floats, limit: int) -> int | None:
    """Count the decimals that scores are rounded to; None if they are more than ``limit``."""
    decimals = (d for d in range(1, limit + 1) if (np.round(scores, d) == scores).all())
    return next(decimals, None)


def _may_be_rounded(data: Data) -> bool:
    """Are there enough results, and enough ties among them, to ask for a lack of precision?"""
    count = len(data.run)
    if count < FEW or data.constant:
        return False
    return int(np.count_nonzero(_mark_tied(data.equal))) >= ROUNDED * count


def _is_half(scores: Floats) -> bool:
    """Are the scores those of a float16, or of one that was printed with some decimals?"""
    with np.errstate(over="ignore", invalid="ignore"):
        half = scores.astype(np.float16)
        decimals = _count_decimals(scores, PRINTED)
        if (half == scores).all() or decimals is None:
            return bool((half == scores).all())
        step = 10.0**-decimals
        printed = np.abs(half.astype(float) - scores) <= step / 2 * (1 + CLOSE)
        telling = np.spacing(np.abs(half)) >= APART * step  # closer ones would fit any number
    return bool(printed.all() and len(np.unique(scores[telling])) >= TELLING)


def _is_brain(scores: Floats) -> bool:
    """Do the scores have the 8 bits of a bfloat16?"""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    return bool((single == scores).all() and not (single.view(np.uint32) & 0xFFFF).any())


def find_imprecise(data: Data) -> Sees:
    """Find scores that doubles round to the same number."""
    if count := data.rounded:
        text = (
            f"{write_count(count, 'score')} became equal to another, because doubles round whole"
            " numbers beyond 2^53 and digits beyond the 16th, so that some results are tied"
        )
        large = np.zeros(0, bool) if data.scores is None else np.abs(data.scores) >= EXACT
        yield Problem(text, count, show_first_row(data.run, data.order[data.equal & large]))


def find_single_subtopics(data: Data) -> Sees:
    """Find judgments without an item of two subtopics, whose column may have another meaning."""
    if data.single_subtopics > 1:
        yield Problem("no item is judged for two subtopics", data.single_subtopics)


# --- Malformed input ----------------------------------------------------------------------------


RUN_FIELDS, QRELS_FIELDS = 6, 4
SWAPPED = ("swapped files", "qrels that look like a run")
ENOUGH = 20  # rows below which anything may be chance
KINDS = 6  # different whole numbers that a scale of grades has at most
SCALE = 10  # no scale of grades goes beyond it
MOSTLY, HALF = 0.9, 0.5
ADVICE = "Are the two swapped? Give the qrels first, then the run."


def find_swapped(data: Data) -> Sees:
    """Find a run in place of the qrels, and the other way round."""
    qrels, run = data.qrels, data.run
    if _have_mostly(qrels, RUN_FIELDS) and _have_mostly(run, QRELS_FIELDS):
        count = qrels.faults.count + run.faults.count
        text = (
            f"these are lines of qrels, and those of {qrels.where} are lines of a run: the two"
            " files are swapped"
        )
        yield Problem(text, count, (qrels.faults.examples[0],))
    elif _are_scores(data) and _are_grades(run):
        text = (
            f"the grades of {qrels.where} look like scores, and the scores of {run.where} like"
            " grades"
        )
        yield Problem(text, len(data.grades) + len(run), advice=ADVICE)


def find_qrels_like_run(data: Data) -> Sees:
    """Find qrels with the lines of a run, or with as many different grades as a run has scores."""
    qrels = data.qrels
    if _have_mostly(qrels, RUN_FIELDS) and not _have_mostly(data.run, QRELS_FIELDS):
        text = f"{write_count(qrels.faults.count, 'line has', 'lines have')} the 6 fields of a run"
        yield Problem(text, qrels.faults.count, tuple(qrels.faults.examples[:1]))
    elif _are_scores(data) and not _are_grades(data.run):
        text = (
            "nearly every item of a query has a different grade, with decimals or beyond any scale,"
            " as if they were scores"
        )
        examples = show_rows(qrels, np.arange(len(qrels))) if data.is_whole else ()
        yield Problem(text, len(data.grades), examples)


def find_run_like_qrels(data: Data) -> Sees:
    """Find a run with the lines of qrels."""
    run = data.run
    if _have_mostly(run, QRELS_FIELDS) and not _have_mostly(data.qrels, RUN_FIELDS):
        text = f"{write_count(run.faults.count, 'line has', 'lines have')} the 4 fields of qrels"
        yield Problem(text, run.faults.count, tuple(run.faults.examples[:1]))


def find_malformed_judgments(data: Data) -> Sees:
    """Find lines and values of the qrels that cannot be read."""
    if not _have_mostly(data.qrels, RUN_FIELDS):
        yield from _find_malformed(data.qrels)


def find_malformed_results(data: Data) -> Sees:
    """Find lines and values of the run that cannot be read."""
    if not _have_mostly(data.run, QRELS_FIELDS):
        yield from _find_malformed(data.run)


def find_refusal(data: Data) -> Sees:
    """Report an error that evaluate raises and no other finding explains."""
    if data.refusal:
        yield Problem(f"evaluate raises an error: {data.refusal.rstrip('.')}", 1)


def _find_malformed(side: Side) -> Sees:
    if faults := side.faults.count:
        noun = "value" if side.faults.locate is None else "line"
        text = (
            f"{write_count(faults, noun)} cannot be read, but {write_count(len(side), 'row')} can"
        )
        yield Problem(text, faults, tuple(side.faults.examples))


def _have_mostly(side: Side, fields: int) -> bool:
    """Do most lines have this number of fields, which is wrong here?"""
    wrong = side.faults.fields[fields]
    return wrong > 0 and 2 * wrong > len(side) + side.faults.count


def _are_scores(data: Data) -> bool:
    return data.graded is not None and _look_like_scores(*data.graded)


def _are_grades(run: Side) -> bool:
    return run.number is not None and _look_like_grades(run.query, run.number)


def _look_like_scores(query: Ints, grades: Floats) -> bool:
    """Do the grades look like scores: with decimals or beyond every scale, and mostly different?"""
    if len(grades) < ENOUGH:
        return False
    beyond = (grades != np.trunc(grades)) | (np.abs(grades) > SCALE)
    return bool(beyond.mean() > MOSTLY and 2 * _count_different(query, grades) > len(grades))


def _look_like_grades(query: Ints, scores: Floats) -> bool:
    """Do the scores look like grades: a few small whole numbers that repeat?"""
    grades = np.unique(scores)
    if not len(grades) or len(grades) > KINDS or abs(grades).max() > SCALE:
        return False
    repeats = len(grades) <= 2 or _count_different(query, scores) < MOSTLY * len(scores)
    return bool(repeats and (grades == np.trunc(grades)).all())


def _count_different(query: Ints, numbers: Floats) -> int:
    """Count the different pairs of a query and a number."""
    return len(set(zip(query.tolist(), numbers.tolist(), strict=True)))


def refuse_swapped(graded: tuple[Ints, Floats], run: Side, raw: Sequence[Any]) -> None:
    """Raise InputError for swapped dicts: grades have decimals and mostly differ, scores do not."""
    query, grades = graded
    decimals = (grades % 1 != 0).mean()
    is_small = (
        len(grades) < ENOUGH and decimals == 1 and 2 * _count_different(*graded) > len(grades)
    )
    if not is_small and (decimals < HALF or not _look_like_scores(query, grades)):
        return
    scores = run.number
    if scores is None or len(scores) < 2 or not _look_like_grades(run.query, scores):
        return
    counts = all(isinstance(score, Integral) for score in raw)
    repeats = len(np.unique(scores)) < len(scores)
    if not is_small or (counts and (repeats or not scores.all())):
        raise InputError(
            "the grades of the qrels look like scores, and the scores of the run like grades: the"
            f" former have decimals, the latter are a few whole numbers. {ADVICE} If they are not,"
            " give the run as ranked lists: {query: [item, …]}."
        )
