"""Values: grades that measures may take otherwise than meant, and scores that tell nothing apart."""

import numpy as np

from germane.checks.data import Data
from germane.checks.rows import FEW, Problem, Sees, show_first_row, show_rows, write_count
from germane.core.finding import show_ids
from germane.core.ragged import Bools, Floats
from germane.readers.numbers import EXACT

TURNED = "Is the sign of the grades turned, or are the relevant items left out?"
LOST = "Are the grades lost, or is it the wrong file?"
USUAL = 4  # the highest grade of the scales of the field


def find_nothing_relevant(data: Data) -> Sees:
    """Qrels in which no grade is 1 or higher."""
    grades = data.grades
    if not len(grades):
        if data.empty and not data.qrels.faults.count:
            stand = write_count(len(data.empty), "query stands", "queries stand")
            says = f"{stand} in the qrels, and none has a judgment"
            yield Problem(says, len(data.empty), show_ids(data.empty), LOST)
        return
    highest, least = grades.max(), max((one.rel or 0.0 for one in data.measures), default=1.0)
    if 0 < highest >= least:
        return
    says = (
        f"no grade is {least or 1:g} or higher, among {write_count(len(grades), 'judgment')}: the highest is "
        f"{highest:g}"
    )
    advice = TURNED if highest <= 0 else ""
    if highest >= 1:
        strict = next(one for one in data.measures if one.rel == least)
        advice = f"{strict} is 0 for every query then; choose a lower rel."
    at = np.flatnonzero(grades == highest)[:1]
    yield Problem(says, len(grades), show_rows(data.qrels, at) if data.is_whole else (), advice)


def find_negative(data: Data) -> Sees:
    """Grades below 0, which only mark an item as pooled."""
    yield from _find_some(data, data.grades < 0, "below 0")


def find_fractional(data: Data) -> Sees:
    """Grades with decimals."""
    grades = data.grades
    yield from _find_some(data, grades != np.trunc(grades), "with decimals")


def find_unusual(data: Data) -> Sees:
    """Grades beyond the usual scales."""
    yield from _find_some(data, data.grades > USUAL, f"above {USUAL}")


def _find_some(data: Data, which: Bools, says: str) -> Sees:
    at = np.flatnonzero(which)
    if len(at):
        grades = data.grades[at]
        extreme = grades[np.argmax(np.abs(grades))]
        share = f"{write_count(len(at), 'judgment has', 'judgments have')} a grade {says}, of {len(which):,}"
        yield Problem(f"{share}; such as {extreme:g}", len(at), show_rows(data.qrels, at))


def find_all_relevant(data: Data) -> Sees:
    """Several grades, and every one counts as relevant: ratings."""
    found = np.unique(data.grades)
    if len(found) > 1 and found[0] >= 1:
        says = (
            f"every one of {write_count(len(data.qrels), 'judgment')} counts as relevant: grades go from "
            f"{found[0]:g} to {found[-1]:g}"
        )
        yield Problem(says, len(data.qrels), show_first_row(data.qrels, np.arange(len(data.qrels))))


def find_only_relevant(data: Data) -> Sees:
    """One grade for everything judged."""
    found = np.unique(data.grades)
    if len(found) == 1 and found[0] >= 1:
        says = f"{write_count(len(data.qrels), 'judgment')} of grade {found[0]:g} and no other: nothing is judged not relevant"
        yield Problem(says, len(data.qrels))


TIED = 0.05  # of the results, or of the queries: worth a word
ROUNDED = 0.01  # of the results are tied where scores have few decimals
DECIMALS = 3
SIGNIFICANT = 3  # digits
CLOSE = 1e-6  # what rounding leaves
PRINTED = 7  # decimals with which half-precision scores may be printed
APART = 4  # printed steps between two numbers of half precision, so that few others fit
TELLING = 20  # different scores that do not all fit by chance


def find_constant(data: Data) -> Sees:
    """One score for all results of a query, in every query: many, or good ones among others."""
    order = "the one given" if data.ties == "given" else "that of their ids"
    if data.constant and (data.results >= FEW or _are_of_two_kinds(data)):
        says = f"all {data.results:,} results have the same score as the others of their query"
        at = show_first_row(data.run, data.order) if data.is_whole else ()
        yield Problem(
            says, data.results, at, f"Their order is {order}; best and worst say what that decides."
        )
    elif (moved := data.decided) is not None:
        count, results = data.nearly_constant
        low, high = sorted((moved.worst, moved.best))
        of = f"all {results:,}" if count == results else f"{count:,} of {results:,}"
        says = (
            f"{of} results have the same score as others of their query; by their order alone "
            f"{moved.measure} could be anything from {low:.4f} to {high:.4f}"
        )
        expected = moved.measure.row.expected
        gives = (
            "ties=expected gives the mean over all orders" if expected else "no score decided it"
        )
        yield Problem(says, count, (), f"Their order is {order}; {gives}.")


def _are_of_two_kinds(data: Data) -> bool:
    """Are some results relevant and others not, so that their order makes the number?"""
    if not data.is_whole:
        return False  # the values say it
    relevant = data.grade > 0
    return bool(relevant.any() and not relevant.all())


def find_tied(data: Data) -> Sees:
    """Results that share their score with another of the same query."""
    if data.is_whole:
        yield from _is_tied_anywhere(data)
    elif (count := data.tied_widely) and data.results >= FEW and not data.constant:
        says = (
            f"{count:,} of {len(data.hits):,} judged items found share their score with so many others "
            "that their rank could be twice as high"
        )
        advice = (
            "Their order is the one given; ties=expected, or best and worst, say what that decides."
        )
        yield Problem(says, count, (), advice)


def _is_tied_anywhere(data: Data) -> Sees:
    shares = _find_tied(data.equal)
    count = int(np.count_nonzero(shares))
    if count and not data.constant and count >= TIED * len(shares):
        queries = write_count(
            data.run.distinct(data.run.query[data.order[shares]]), "query", "queries"
        )
        says = (
            f"{write_count(count, 'result')} of {len(shares):,} ({count / len(shares):.0%}) "
            f"{'shares its' if count == 1 else 'share their'} score with another, in {queries}"
        )
        yield Problem(says, count, show_rows(data.run, data.order[shares]))


def _find_tied(equal: Bools) -> Bools:
    """Is each result tied with a neighbor?"""
    after: Bools = equal.copy()
    after[:-1] |= equal[1:]
    return after


def find_tied_at_cutoff(data: Data) -> Sees:
    """Groups of equal scores that a cutoff tears apart."""
    if data.constant:
        return
    torn = {k: data.order[data.equal & (data.rank == k + 1)] for k in data.cutoffs}
    most = max(map(len, torn.values()), default=0)
    if most and most >= TIED * np.count_nonzero(data.retrieved):
        says = "; ".join(
            f"{write_count(len(at), 'query has', 'queries have')} equal scores on both sides of rank {k}"
            for k, at in torn.items()
            if len(at)
        )
        yield Problem(
            says, most, show_rows(data.run, next(at for at in torn.values() if len(at) == most))
        )


def find_half_precision(data: Data) -> Sees:
    """Scores that were held in 16 bits, and are tied."""
    scores = data.run.number
    if scores is None or not _are_blurred(data) or (scores == np.trunc(scores)).all():
        return
    kind = "bfloat16" * _is_brain(scores) or "float16" * _is_half(scores)
    if kind:
        tied = int(np.count_nonzero(_find_tied(data.equal)))
        says = f"every score is one that {kind} holds, and {write_count(tied, 'result')} of {len(scores):,} are tied"
        yield Problem(says, tied, _find_first_tied(data))


def find_rounded(data: Data) -> Sees:
    """Scores with few digits, which are tied by that."""
    scores = data.run.number
    if scores is None or not _are_blurred(data) or any(find_half_precision(data)):
        return
    few = _count_few_digits(scores)
    if few and (scores != np.trunc(scores)).any():
        tied = int(np.count_nonzero(_find_tied(data.equal)))
        says = (
            f"no score has more than {few}, and {write_count(tied, 'result')} of "
            f"{len(scores):,} are tied"
        )
        yield Problem(says, tied, _find_first_tied(data))


def _find_first_tied(data: Data) -> tuple[str, ...]:
    return show_first_row(data.run, data.order[_find_tied(data.equal)])


def _count_few_digits(scores: Floats) -> str:
    """How many digits no score exceeds, where these are few."""
    decimals = _count_decimals(scores, DECIMALS)
    if decimals is not None:
        return write_count(decimals, "decimal")
    size = np.abs(scores[scores != 0])
    leading = size / 10.0 ** (np.floor(np.log10(size)) - SIGNIFICANT + 1)
    short = bool((np.abs(leading - np.rint(leading)) < CLOSE).all())
    return f"{SIGNIFICANT} significant digits" * short


def _count_decimals(scores: Floats, most: int) -> int | None:
    """The number of decimals that scores are rounded to."""
    found = (d for d in range(1, most + 1) if (np.round(scores, d) == scores).all())
    return next(found, None)


def _are_blurred(data: Data) -> bool:
    """Are there enough results, and ties among them, to speak of precision?"""
    count = len(data.run)
    if count < FEW or data.constant:
        return False
    return int(np.count_nonzero(_find_tied(data.equal))) >= ROUNDED * count


def _is_half(scores: Floats) -> bool:
    """Are they what a float16 holds, or that as it is printed with some decimals?"""
    with np.errstate(over="ignore", invalid="ignore"):
        half = scores.astype(np.float16)
        decimals = _count_decimals(scores, PRINTED)
        if (half == scores).all() or decimals is None:
            return bool((half == scores).all())
        step = 10.0**-decimals
        printed = np.abs(half.astype(float) - scores) <= step / 2 * (1 + CLOSE)
        telling = np.spacing(np.abs(half)) >= APART * step  # else any number would do
    return bool(printed.all() and len(np.unique(scores[telling])) >= TELLING)


def _is_brain(scores: Floats) -> bool:
    """Have they the 8 bits of a bfloat16?"""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    return bool((single == scores).all() and not (single.view(np.uint32) & 0xFFFF).any())


def find_imprecise(data: Data) -> Sees:
    """Scores that doubles round to the same number."""
    if count := data.rounded:
        says = (
            f"{write_count(count, 'score')} became equal to another: doubles round whole numbers beyond 2^53 "
            "and digits beyond the 16th, so that some are tied"
        )
        large = np.zeros(0, bool) if data.scores is None else np.abs(data.scores) >= EXACT
        yield Problem(says, count, show_first_row(data.run, data.order[data.equal & large]))
