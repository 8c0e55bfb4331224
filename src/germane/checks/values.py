"""Values: grades that measures may misunderstand, and scores that are tied or imprecise."""

import numpy as np

from germane.checks.data import Data
from germane.checks.rows import FEW, Problem, Sees, count_queries, show_first_row, show_rows
from germane.core.finding import show_ids
from germane.core.ragged import Bools, Floats
from germane.output.formatting import write_count
from germane.readers.numbers import EXACT

TURNED = "Do the grades have the wrong sign, or are the relevant items missing?"
LOST = "Did the grades get lost, or is it the wrong file?"
USUAL = 4  # the highest grade of the scales of the field


def find_nothing_relevant(data: Data) -> Sees:
    """Find qrels in which no grade is 1 or higher, and measures without a query for this reason."""
    if data.uncounted:
        names = ", ".join(map(str, data.uncounted))
        says = (
            f"no query counts for {names}: none has a relevant item, and no_relevant=skip leaves"
            " it out"
        )
        yield Problem(says, len(data.queries))
        return
    grades = data.grades
    if not len(grades):
        if data.empty and not data.qrels.faults.count:
            are = write_count(len(data.empty), "query is", "queries are")
            says = f"{are} in the qrels, and none has a judgment"
            yield Problem(says, len(data.empty), show_ids(data.empty), LOST)
        return
    highest, least = grades.max(), max((one.rel or 0.0 for one in data.measures), default=1.0)
    if 0 < highest >= least:
        return
    says = (
        f"no grade is {least or 1:g} or higher, among {write_count(len(grades), 'judgment')}: the"
        f" highest is {highest:g}"
    )
    advice = TURNED if highest <= 0 else ""
    if highest >= 1:
        strict = next(one for one in data.measures if one.rel == least)
        advice = f"{strict} is 0 for every query then; choose a lower rel."
    at = np.flatnonzero(grades == highest)[:1]
    yield Problem(says, len(grades), show_rows(data.qrels, at) if data.is_whole else (), advice)


def find_negative(data: Data) -> Sees:
    """Find grades below 0, which only mark an item as pooled."""
    yield from _report_grades(data, data.grades < 0, "below 0")


def find_fractional(data: Data) -> Sees:
    """Find grades with decimals."""
    grades = data.grades
    yield from _report_grades(data, grades != np.trunc(grades), "with decimals")


def find_unusual(data: Data) -> Sees:
    """Find grades beyond the usual scales."""
    yield from _report_grades(data, data.grades > USUAL, f"above {USUAL}")


def _report_grades(data: Data, which: Bools, says: str) -> Sees:
    at = np.flatnonzero(which)
    if len(at):
        grades = data.grades[at]
        extreme = grades[np.argmax(np.abs(grades))]
        share = (
            f"{write_count(len(at), 'judgment has', 'judgments have')} a grade {says}, of"
            f" {len(which):,}"
        )
        yield Problem(f"{share}; such as {extreme:g}", len(at), show_rows(data.qrels, at))


def find_all_relevant(data: Data) -> Sees:
    """Find qrels with several grades, all of which count as relevant: ratings."""
    found = np.unique(data.grades)
    if len(found) > 1 and found[0] >= 1:
        says = (
            f"every one of {write_count(len(data.qrels), 'judgment')} counts as relevant: grades go"
            f" from {found[0]:g} to {found[-1]:g}"
        )
        yield Problem(says, len(data.qrels), show_first_row(data.qrels, np.arange(len(data.qrels))))


def find_only_relevant(data: Data) -> Sees:
    """Find qrels with a single grade."""
    found = np.unique(data.grades)
    if len(found) == 1 and found[0] >= 1:
        says = (
            f"{write_count(len(data.qrels), 'judgment')} of grade {found[0]:g} and no other:"
            " nothing is judged not relevant"
        )
        yield Problem(says, len(data.qrels))


TIED = 0.05  # the share of results, or of queries, from which on ties are reported
ROUNDED = 0.01  # the share of results from which on ties may come from rounding
DECIMALS = 3
SIGNIFICANT = 3  # digits
CLOSE = 1e-6  # the error that rounding leaves
PRINTED = 7  # decimals with which half-precision scores may be printed
APART = 4  # printed steps between two numbers of half precision, so that few others fit
TELLING = 20  # different scores that do not all fit by chance


def find_constant(data: Data) -> Sees:
    """Find runs in which nearly all results of a query have one score, if that can matter."""
    order = "as given" if data.ties == "given" else "by id"
    if data.constant and (data.results >= FEW or _are_of_two_kinds(data)):
        says = f"all {data.results:,} results have the same score as the others of their query"
        at = show_first_row(data.run, data.order) if data.is_whole else ()
        yield Problem(
            says, data.results, at, f"They are ordered {order}; see best and worst for the effect."
        )
    elif (moved := data.decided) is not None:
        count, results = data.nearly_constant
        low, high = sorted((moved.worst, moved.best))
        of = f"all {results:,}" if count == results else f"{count:,} of {results:,}"
        says = (
            f"{of} results have the same score as others of their query; depending on their order, "
            f"{moved.measure} could be anything from {low:.4f} to {high:.4f}"
        )
        expected = moved.measure.row.expected
        gives = (
            "ties=expected gives the mean over all orders" if expected else "no score decided it"
        )
        yield Problem(says, count, (), f"They are ordered {order}; {gives}.")


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
        says = (
            f"{count:,} of {len(data.hits):,} judged items found share their score with so many"
            " others that their rank could be twice as high"
        )
        advice = (
            "They are ordered as given; see best and worst for the effect, or use ties=expected."
        )
        yield Problem(says, count, (), advice)


def _report_tied(data: Data) -> Sees:
    shares = _mark_tied(data.equal)
    count = int(np.count_nonzero(shares))
    if count and not data.constant and count >= TIED * len(shares):
        at = data.order[shares]
        says = (
            f"{write_count(count, 'result')} of {len(shares):,} ({count / len(shares):.0%})"
            f" {'shares its' if count == 1 else 'share their'} score with another, in"
            f" {count_queries(data.run, at)}"
        )
        yield Problem(says, count, show_rows(data.run, at))


def _mark_tied(equal: Bools) -> Bools:
    """Mark the results that are tied with a neighbor."""
    after: Bools = equal.copy()
    after[:-1] |= equal[1:]
    return after


def find_tied_at_cutoff(data: Data) -> Sees:
    """Find groups of equal scores that a cutoff splits."""
    if data.constant:
        return
    torn = {k: data.order[data.equal & (data.rank == k + 1)] for k in data.cutoffs}
    most = max(map(len, torn.values()), default=0)
    if most and most >= TIED * np.count_nonzero(data.retrieved):
        says = "; ".join(
            f"{write_count(len(at), 'query has', 'queries have')} equal scores on both sides of"
            f" rank {k}"
            for k, at in torn.items()
            if len(at)
        )
        yield Problem(
            says, most, show_rows(data.run, next(at for at in torn.values() if len(at) == most))
        )


def find_half_precision(data: Data) -> Sees:
    """Find tied scores of 16 bits."""
    scores = data.run.number
    if scores is None or not _may_be_rounded(data) or (scores == np.trunc(scores)).all():
        return
    kind = "bfloat16" * _is_brain(scores) or "float16" * _is_half(scores)
    if kind:
        tied = int(np.count_nonzero(_mark_tied(data.equal)))
        says = (
            f"every score is one that {kind} holds, and {write_count(tied, 'result')} of"
            f" {len(scores):,} are tied"
        )
        yield Problem(says, tied, _show_first_tied(data))


def find_rounded(data: Data) -> Sees:
    """Find scores that are tied because they have few digits."""
    scores = data.run.number
    if scores is None or not _may_be_rounded(data) or any(find_half_precision(data)):
        return
    few = _count_few_digits(scores)
    if few and (scores != np.trunc(scores)).any():
        tied = int(np.count_nonzero(_mark_tied(data.equal)))
        says = (
            f"no score has more than {few}, and {write_count(tied, 'result')} of "
            f"{len(scores):,} are tied"
        )
        yield Problem(says, tied, _show_first_tied(data))


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


def _count_decimals(scores: Floats, most: int) -> int | None:
    """Count the decimals that scores are rounded to; None if they are more than ``most``."""
    found = (d for d in range(1, most + 1) if (np.round(scores, d) == scores).all())
    return next(found, None)


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
        says = (
            f"{write_count(count, 'score')} became equal to another: doubles round whole numbers"
            " beyond 2^53 and digits beyond the 16th, so that some are tied"
        )
        large = np.zeros(0, bool) if data.scores is None else np.abs(data.scores) >= EXACT
        yield Problem(says, count, show_first_row(data.run, data.order[data.equal & large]))


def find_single_subtopics(data: Data) -> Sees:
    """Find judgments without an item of two subtopics, whose column may have another meaning."""
    if data.single_subtopics > 1:
        yield Problem("no item is judged for two subtopics", data.single_subtopics)
