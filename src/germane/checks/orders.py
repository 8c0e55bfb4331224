"""Orders: results in an order that was not meant, by their ranks, as given, or by what is relevant."""

import numpy as np

from germane import notice
from germane.checks import ids
from germane.checks.data import Data
from germane.checks.seen import FEW, Seen, Sees, first, noticed, rows, several
from germane.checks.side import Side
from germane.sources import first_rows
from germane.sources.first_rows import FIVE, ORDERED, Row

RISES = 3  # that may be a matter of rounding
CHANCE = 0.52  # of the pairs: no better than chance
NARROW = 0.02  # standard error from which on a better order would show


def counting_up(data: Data) -> Sees:
    """Ranks in the place of scores: 1, 2, 3, … down each list."""
    run, ranks = data.run, data.ranks
    if not data.counts_up or _is_good(data):
        return
    decimals = bool((ranks % 1 != 0).any())
    steps = len(run) - np.count_nonzero(data.retrieved)
    if decimals or _contradict(data) if len(ranks) > 1 else steps >= ORDERED:
        advice = first_rows.COLUMNS if decimals else ""
        yield Seen(first_rows.COUNTING, len(run), first(run, data.as_given), advice)


def _is_good(data: Data) -> bool:
    """Are higher scores better, by what is relevant?"""
    return data.standing is not None and data.standing.is_good


def _contradict(data: Data) -> bool:
    """Do the scores rise wherever ranks do?"""
    return len(data.neighbors.before) >= RISES and not data.neighbors.falling


def ranks_against_scores(data: Data) -> Sees:
    """Scores that rise where ranks do, everywhere: a distance, or a column mixed up."""
    before, after, _ = data.neighbors
    if _contradict(data) and not any(counting_up(data)):
        says = first_rows.contradicts(_row(data.run, before[0]), _row(data.run, after[0]))
        yield Seen(says, len(before), first(data.run, after))


def _row(run: Side, at: int) -> Row:
    query, item = run.queries[run.query[at]], run.items[run.item[at]]
    rank, score = (np.nan if column is None else column[at] for column in (run.rank, run.number))
    return Row(query, item, float(rank), float(score))


def some_ranks_against_scores(data: Data) -> Sees:
    """Ranks that follow another order than the scores here and there."""
    _, after, falling = data.neighbors
    if count := len(after) * bool(falling):
        of = several(count + falling, "neighbor")
        queries = several(data.run.distinct(data.run.query[after]), "query", "queries")
        says = (
            f"{count:,} of {of} in the order of the rank column have a higher score than the one "
            f"before, in {queries}"
        )
        yield Seen(says, count, rows(data.run, after))


def rising_as_given(data: Data) -> Sees:
    """Scores that rise from each result to the next, where there are no ranks to ask."""
    run, order = data.run, data.as_given
    if run.number is None or len(data.ranks) > 1 or any(counting_up(data)):
        return
    beside = run.query[order][1:] == run.query[order][:-1]
    steps = np.diff(run.number[order])[beside]
    rises = (steps >= 0).all() and 2 * np.count_nonzero(steps > 0) > len(steps)
    if len(steps) >= ORDERED and rises and not _is_good(data):
        says = (
            f"the scores of every query rise in the order given, over {several(len(steps), 'step')}"
        )
        yield Seen(says, len(run), first(run, order))


def falling_as_given(data: Data) -> Sees:
    """Ranks that fall from each result to the next, where there are no scores."""
    run, order = data.run, data.as_given
    if run.number is not None or run.rank is None:
        return
    beside = run.query[order][1:] == run.query[order][:-1]
    if len(run) >= FIVE and (np.diff(run.rank[order].astype(float))[beside] < 0).all():
        yield Seen(first_rows.FALLING, len(run), first(run, order))


def _told(data: Data) -> bool:
    """Is the order no good for a reason that is told?"""
    tells = (ranks_against_scores, counting_up, rising_as_given, falling_as_given)
    return data.constant or any(seen for sees in tells for seen in sees(data))


def standing_last(data: Data) -> Sees:
    """Relevant results that stand below the others of their query, more than chance would have it."""
    if not _told(data) and len(data.run) >= FEW:
        yield from map(noticed, notice.standing_last(data.standing))


def standing_anywhere(data: Data) -> Sees:
    """Relevant results that stand above the others of their query as often as chance has it."""
    found = data.standing
    if found is None or found.error > NARROW or found.above > CHANCE or found.is_worse_than_chance:
        return
    if not _told(data) and not any(ids.repeated_results(data)):
        yield Seen(found.says("where"), found.pairs)
