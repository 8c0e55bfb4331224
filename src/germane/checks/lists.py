"""Lists of results: queries that are missing or unjudged, how long lists are, and their order.

An order is judged by ranks, by the rows as given, and by what is relevant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from math import lgamma, log

import numpy as np

from germane.checks import unmatched
from germane.checks.data import Data
from germane.checks.faulty_rows import (
    Problem,
    Sees,
    count_queries,
    show_first_row,
    show_queries,
    show_rows,
)
from germane.core.finding import show_ids
from germane.core.id_spelling import describe_difference, find_extended, find_pairs
from germane.core.mean_intervals import Dispersion, Interval
from germane.core.ragged import Bools, Floats, drop_rounding, subtract_values, unite_equal
from germane.errors import GermaneError, clip, write_option
from germane.measures.averaging import compute_scores
from germane.measures.measure import Measure
from germane.output.tables import write_count

SKIP = f"{write_option('missing', 'skip')} leaves them out."
NAMES = 100_000  # query ids that are compared by more than equality
ENOUGH = 0.9  # of the first ten results judged
FIRST = 10
SHALLOW = 0.1  # of the queries: worth a word
ALPHA = 0.05


def find_missing(data: Data) -> Sees:
    """Find judged queries that the run does not have."""
    lost = data.missing
    if lost and data.answered.any():
        judged = write_count(len(data.queries), "judged query", "judged queries")
        are = "is missing from the run and counts" if len(lost) == 1 else _MISSING
        text = f"{len(lost):,} of {judged} {are} as empty"
        yield Problem(text, len(lost), show_queries(data.qrels, lost), _explain_missing(data))


_MISSING = "are missing from the run and count"


def _explain_missing(data: Data) -> str:
    """Explain why queries are missing: the run may have them under another name."""
    lost, unknown = data.missing, data.unknown
    for lost_id, run_id in find_pairs(lost, unknown):
        return (
            f"The run has {clip(run_id)}, which differs in {describe_difference(lost_id, run_id)}."
        )
    if extended := find_extended(lost, unknown):
        return f"The run has {clip(extended[1])}, and one of the two has {extended[2]}."
    if marked := [query for query in lost if str(query).startswith("\ufeff")]:
        return (
            f"{clip(marked[0])} begins with a byte-order mark, probably from joined files:"
            " remove it."
        )
    if len(lost) > 1 and lost == list(data.queries[-len(lost) :]):
        return f"They are the last queries of the qrels: did the run stop early? {SKIP}"
    return SKIP


def find_unknown(data: Data) -> Sees:
    """Find queries of the run that nobody judged."""
    if data.unknown and data.answered.any():
        are = write_count(len(data.unknown), "query of the run is", "queries of the run are")
        advice = ""
        if pair := next(find_pairs(data.unknown[:NAMES], data.queries[:NAMES]), None):
            advice = (
                f"The qrels have {clip(pair[1])}, which differs in {describe_difference(*pair)}."
            )
        text = f"{are} not in the qrels, and left out"
        yield Problem(text, len(data.unknown), show_queries(data.run, data.unknown), advice)


def find_mostly_empty(data: Data) -> Sees:
    """Find empty lists of results, if at least half of the judged queries have them."""
    empty, judged = set(_list_empty(data)), data.qrels.queries
    none = [query for query in judged if query in empty]
    if none and 2 * len(none) >= len(judged):
        have = "has" if len(none) == 1 else "have"
        total = write_count(len(judged), "judged query", "judged queries")
        text = f"{len(none):,} of {total} {have} an empty list of results"
        yield Problem(text, len(none), show_ids(none))


def _list_empty(data: Data) -> tuple[Hashable, ...]:
    run = data.run
    empty = *run.empty, *(run.queries[q] for q in np.flatnonzero(data.retrieved == 0).tolist())
    by_options = {query for queries in data.emptied.values() for query in queries}
    return tuple(query for query in empty if query not in by_options)


def find_without_results(data: Data) -> Sees:
    """Find empty lists of results, if most queries have results."""
    if (empty := _list_empty(data)) and not any(find_mostly_empty(data)):
        have = write_count(len(empty), "query has", "queries have")
        text = f"{have} an empty list of results"
        yield Problem(text, len(empty), show_ids(empty))


def find_without_judgments(data: Data) -> Sees:
    """Find queries of the qrels without a judgment."""
    if data.empty:
        are = write_count(len(data.empty), "query is", "queries are")
        text = f"{are} in the qrels without a judgment, and left out"
        yield Problem(text, len(data.empty), show_ids(data.empty))


def find_without_relevant(data: Data) -> Sees:
    """Find judged queries without a relevant item."""
    lost, judged = data.without_relevant, len(data.relevant)
    if lost and (len(lost) < judged or not len(data.grades)):
        have = "has no relevant item and counts" if len(lost) == 1 else _NONE_RELEVANT
        text = (
            f"{len(lost):,} of {write_count(judged, 'judged query', 'judged queries')} {have} as 0"
        )
        yield Problem(text, len(lost), show_queries(data.qrels, lost))


_NONE_RELEVANT = "have no relevant item and count"


def find_one_result(data: Data) -> Sees:
    """Find a run with one result for each query, whose program stopped at the first."""
    depths = data.depths
    if (
        data.is_selected
        or len(depths) < 2
        or (depths != 1).any()
        or (data.is_whole and len(data.run.items) < 2)
    ):
        return
    deepest = max((measure.k for measure in data.measures if measure.k is not None), default=FIRST)
    if deepest > 1 and np.count_nonzero(data.hits > 0) < np.count_nonzero(data.grades > 0):
        text = f"each of the {write_count(len(depths), 'query')} has only one result"
        examples = show_rows(data.run, np.arange(len(data.run))) if data.is_whole else ()
        yield Problem(text, len(depths), examples)


def find_same_results(data: Data) -> Sees:
    """Find a run with the same results in the same order for every query."""
    depth = data.retrieved
    if len(depth) > 1 and (depth == depth[0]).all() and depth[0] > 1:
        lists = data.run.item[data.order].reshape(len(depth), -1)
        if (lists == lists[0]).all() and not data.constant:
            text = (
                f"all {len(depth):,} queries have the same {depth[0]:,} results in the same order"
            )
            yield Problem(text, len(depth), show_first_row(data.run, data.order))


def find_cut_off(data: Data) -> Sees:
    """Find a cutoff that the results of no query reach."""
    deepest = int(data.retrieved.max(initial=0))
    if (beyond := [k for k in data.cutoffs if k > deepest]) and deepest < len(data.run.items):
        text = (
            f"no query has more than {write_count(deepest, 'result')}, but a measure looks at the"
            f" first {beyond[-1]:,}"
        )
        deepest_query = int(data.retrieved.argmax())
        yield Problem(
            text, len(data.run.queries), show_queries(data.run, [data.run.queries[deepest_query]])
        )


def find_shallow(data: Data) -> Sees:
    """Find queries with fewer results than a cutoff."""
    depths = data.retrieved
    reached = [k for k in data.cutoffs if k <= depths.max(initial=0)]
    if reached:
        short = np.flatnonzero(depths < reached[-1])
        if len(short) >= max(1, SHALLOW * len(depths)) and len(data.run.items) > reached[-1]:
            text = (
                f"{len(short):,} of {write_count(len(depths), 'query')}"
                f" {'has' if len(short) == 1 else 'have'} fewer than {reached[-1]:,} results"
            )
            queries = (data.run.queries[q] for q in short.tolist())
            yield Problem(text, len(short), show_queries(data.run, queries))


def find_unjudged(data: Data) -> Sees:
    """Find unjudged results among the first ten, if some items are judged not relevant."""
    judged_query = (data.query >= 0)[data.run.query[data.order]]
    first_ten = (data.rank <= FIRST) & judged_query
    if not first_ten.any() or not (data.grades < 1).any():
        return
    judged = ~np.isnan(data.grade[data.order[first_ten]])
    share = judged.mean()
    if 0 < share < ENOUGH:
        text = (
            f"only {share:.0%} of the first {FIRST} results are judged, and the others count as not"
            " relevant"
        )
        lost = data.order[first_ten][~judged]
        yield Problem(text, len(lost), show_rows(data.run, lost))


def find_few(data: Data) -> Sees:
    """Find that there are too few queries to detect any but large differences."""
    count = len(data.qrels.queries)
    if 0 < count < Interval.FEW:
        text = write_count(count, "query is", "queries are") + " judged"
        for measure, values in _compute_values(data):
            error = float(values.std()) / math.sqrt(max(count - 1, 1))
            if np.ptp(unite_equal(values)):
                text += (
                    f"; {measure} varies so much among them that its mean is only known to"
                    f" ±{2 * error:.2g}"
                )
            break
        yield Problem(text, count)


def _compute_values(data: Data) -> Iterator[tuple[Measure, Floats]]:
    """Compute the values of each measure that the grades allow."""
    for measure in data.measures:
        try:
            yield measure, compute_scores(measure, data.ranking)
        except GermaneError:
            continue


def find_undetectable(data: Data) -> Sees:
    """Find differences from other runs that are too small to detect with this number of queries."""
    count = len(data.qrels.queries)
    for rival in data.rivals if count >= Interval.FEW else ():
        theirs = dict(_compute_values(rival))
        small = []
        for measure, values in _compute_values(data):
            differences = subtract_values(values, theirs.get(measure, values))
            size = float(np.abs(differences).max())
            mean = float(drop_rounding(differences.mean(), size))
            centered = drop_rounding(differences - mean, size)
            spread = Dispersion.measure(centered / count, np.zeros(count, np.int64))
            least = None if spread is None else spread.find_detectable(ALPHA)
            if least is not None and 0 < abs(mean) < least:
                small.append(f"{measure} by {abs(mean):.3g} (detectable: {least:.3g})")
        if small:
            text = (
                f"the differences from {rival.run.where} are too small to be detected with"
                f" {count:,} queries (at a power of 80%): {'; '.join(small)}"
            )
            yield Problem(text, len(small))


# --- Orders, judged by ranks, by the rows as given, or by what is relevant ----------------------


RISES = 3  # fewer may come from rounding
CERTAIN = 20  # steps that do not all rise by chance
CHANCE = log(120)  # five results stand in ascending order by chance in one of 120 cases
BETTER = 0.52  # up to this share of the pairs, no better than chance
NARROW = 0.02  # the largest standard error with which a better order would show
COLUMNS = "Are rank and score swapped? The columns are query Q0 item rank score tag."

SIMILAR = (
    "Here the lowest distance is the best. If these are similarities, leave out"
    f" {write_option('scores', 'distances')}."
)


def find_ranks_against_scores(data: Data) -> Sees:
    """Find scores that rise with the ranks: distances, or a mixed-up column."""
    before, after, _ = data.neighbors
    if _do_contradict(data) and not any(find_counting_up(data)):
        text = (
            "the rank column contradicts the scores, which decide the order: for query"
            f" {clip(data.run.queries[data.run.query[before[0]]])}, item"
            f" {_describe(data, before[0], 'has ')}, but {_describe(data, after[0])}"
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
            "the scores count up 1, 2, 3, … in the order given: they are ranks, whereas a higher"
            " score is better"
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
        why = ", although the lowest rank is the best"
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
            f"in the order of the rank column, {count:,} of {neighbors} have a higher score than"
            f" the result before them, in {count_queries(data.run, after)}"
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
    if not _is_explained(data) and not any(unmatched.find_repeated_results(data)):
        yield Problem(standing.describe("no higher"), standing.pairs)


SOME = 0.1  # of the queries whose ranks go beyond their results: no accident


def find_gaps(data: Data) -> Sees:
    """Find ranks beyond the number of results, which were taken as an order."""
    count, total = data.gaps, int(np.count_nonzero(data.depths))
    if count and count >= SOME * total and not any(find_falling_as_given(data)):
        text = (
            f"in {count:,} of {write_count(total, 'query')}, ranks go beyond the number of"
            " results; they were taken as an order: 1, 2, 3, …"
        )
        yield Problem(text, count)
