"""Orders: results in the wrong order, judged by their ranks, their rows, or what is relevant."""

from collections.abc import Callable
from math import lgamma, log

import numpy as np

from germane.checks import ids
from germane.checks.data import Data
from germane.checks.rows import Problem, Sees, count_queries, show_first_row, show_rows
from germane.core.ragged import Bools, Floats
from germane.errors import clip, write_option
from germane.output.tables import write_count

RISES = 3  # fewer may come from rounding
CERTAIN = 20  # steps that do not all rise by chance
CHANCE = log(120)  # five results stand in ascending order by chance in one of 120 cases
BETTER = 0.52  # up to this share of the pairs, no better than chance
NARROW = 0.02  # the largest standard error with which a better order would show
COLUMNS = "Are rank and score swapped? The columns are query Q0 item rank score tag."

SIMILAR = (
    "The lowest distance is the best here. Are they similarities? Leave out"
    f" {write_option('scores', 'distances')}."
)


def find_ranks_against_scores(data: Data) -> Sees:
    """Find scores that rise with the ranks: distances, or a mixed-up column."""
    before, after, _ = data.neighbors
    if _do_contradict(data) and not any(find_counting_up(data)):
        text = (
            "the rank column contradicts the scores, which decide: for query"
            f" {clip(data.run.queries[data.run.query[before[0]]])} item"
            f" {_describe(data, before[0], 'has ')}, {_describe(data, after[0])}"
        )
        yield Problem(text, len(before), show_first_row(data.run, after))


def _describe(data: Data, row: int, has: str = "") -> str:
    run = data.run
    assert run.rank is not None
    assert run.number is not None
    score = -run.number[row] if data.has_distances else run.number[row]
    return f"{clip(run.items[run.item[row]])} {has}rank {run.rank[row]:g} and score {score:g}"


def _do_contradict(data: Data) -> bool:
    """Do the scores rise wherever ranks do?"""
    return len(data.neighbors.before) >= RISES and not data.neighbors.falling


def find_counting_up(data: Data) -> Sees:
    """Find ranks instead of scores: 1, 2, 3, … down each list."""
    run, ranks = data.run, data.ranks
    steps = len(run) - int(np.count_nonzero(data.retrieved))
    if run.number is None or not data.counts_up or is_meant(data, steps):
        return
    decimals = bool((ranks % 1 != 0).any())
    unlikely = len(ranks) < 2 and _is_no_accident(data, run.number)
    if unlikely or (len(ranks) > 1 and (decimals or _do_contradict(data))):
        text = (
            "the scores count 1, 2, 3, … in the order given: they are ranks, and higher is better"
            " here"
        )
        yield Problem(
            text, len(run), show_first_row(run, data.as_given), COLUMNS if decimals else ""
        )


def find_rising_as_given(data: Data) -> Sees:
    """Find scores that rise from each result to the next, in a run without ranks."""
    if data.run.number is None or len(data.ranks) > 1 or any(find_counting_up(data)):
        return
    steps = _find_steps(data, data.run.number)
    rises = 2 * np.count_nonzero(steps > 0) > len(steps) and (steps >= 0).all()
    if rises and _is_no_accident(data, data.run.number) and not is_meant(data, len(steps)):
        if data.has_distances:
            yield from _report_turned(data, "distances", "fall", len(steps), "", SIMILAR)
        else:
            yield from _report_turned(data, "scores", "rise", len(steps), "")


def find_falling_as_given(data: Data) -> Sees:
    """Find ranks that fall from each result to the next, in a run without scores."""
    if data.run.number is not None or data.run.rank is None:
        return
    better = -data.run.rank.astype(float)  # unsigned ones have no sign
    steps = _find_steps(data, better)
    turned = (steps > 0).all() and _is_no_accident(data, better)
    if turned and not is_meant(data, max(len(steps), CERTAIN)):
        why = ", and the lowest rank is the best"
        yield from _report_turned(data, "ranks", "fall", len(steps), why)


def _report_turned(
    data: Data, numbers: str, move: str, steps: int, why: str, advice: str = ""
) -> Sees:
    text = (
        f"the {numbers} of every query {move} in the order given, over "
        f"{data.first}{write_count(steps, 'step')}{why}"
    )
    yield Problem(text, len(data.run), show_first_row(data.run, data.as_given), advice)


def _are_beside(data: Data) -> Bools:
    """Mark the rows as given, without the first, whose query is that of the row before."""
    query = data.run.query[data.as_given]
    beside: Bools = query[1:] == query[:-1]
    return beside


def _find_steps(data: Data, number: Floats) -> Floats:
    """Find the differences of a column from row to row of each query, in the order given."""
    return np.diff(number[data.as_given])[_are_beside(data)]


def _is_no_accident(data: Data, number: Floats) -> bool:
    """Is it unlikely that a column rises by chance from row to row of all queries, as given?"""
    order = data.as_given
    rises = _are_beside(data) & (np.diff(number[order]) > 0)
    counts = np.bincount(data.run.query[order][1:][rises]) if rises.any() else ()
    return sum(lgamma(count + 2) for count in counts) >= CHANCE - 1e-9


def is_meant(data: Data, steps: int) -> bool:
    """Do relevant results show that higher scores are better? For few results a hint is enough."""
    standing = data.standing
    return standing is not None and (standing.is_good or (steps < CERTAIN and standing.above > 0.5))


ORDERS: dict[str, Callable[[Data], Sees]] = {
    "ranks against scores": find_ranks_against_scores,
    "ranks given as scores": find_counting_up,
    "scores rise as given": find_rising_as_given,
    "ranks fall as given": find_falling_as_given,
}
"""Findings that explain a wrong order."""
ASCENDING = ("ranks given as scores", "scores rise as given", "ranks fall as given")


def find_some_ranks_against_scores(data: Data) -> Sees:
    """Find ranks that contradict the scores in some places."""
    _, after, falling = data.neighbors
    if count := len(after) * bool(falling):
        neighbors = write_count(count + falling, "neighbor")
        text = (
            f"{count:,} of {neighbors} in the order of the rank column have a higher score than the"
            f" one before, in {count_queries(data.run, after)}"
        )
        yield Problem(text, count, show_rows(data.run, after))


def _is_explained(data: Data) -> bool:
    """Does another finding explain the wrong order?"""
    if data.known_orders is not None:
        return bool(data.known_orders) or data.constant
    return data.constant or any(any(find(data)) for find in ORDERS.values())


def find_standing_last(data: Data) -> Sees:
    """Find relevant results that are ranked lower than in a random order."""
    standing = data.standing
    if standing is not None and standing.is_worse_than_chance and not _is_explained(data):
        yield Problem(standing.describe("lower"), standing.pairs)


def find_standing_anywhere(data: Data) -> Sees:
    """Find relevant results that are ranked no higher than in a random order."""
    standing = data.standing
    if (
        standing is None
        or standing.error > NARROW
        or standing.above > BETTER
        or standing.is_worse_than_chance
    ):
        return
    if not _is_explained(data) and not any(ids.find_repeated_results(data)):
        yield Problem(standing.describe("no higher"), standing.pairs)


SOME = 0.1  # of the queries whose ranks go beyond their results: no accident


def find_gaps(data: Data) -> Sees:
    """Find ranks beyond the number of results, which were taken as an order."""
    count, total = data.gaps, int(np.count_nonzero(data.depths))
    if count and count >= SOME * total and not any(find_falling_as_given(data)):
        text = (
            f"ranks go beyond the number of results in {write_count(count, 'query', 'queries')} of"
            f" {total:,}, and were taken as an order: 1, 2, 3, …"
        )
        yield Problem(text, count)
