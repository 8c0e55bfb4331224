"""Queries: those that are missing or unjudged, the depth of their results, and their number."""

import math
from collections.abc import Hashable, Iterator

import numpy as np

from germane.checks.data import Data
from germane.checks.rows import Problem, Sees, show_first_row, show_queries, show_rows
from germane.core.finding import show_ids
from germane.core.id_spelling import describe_difference, find_extended, find_pairs
from germane.core.mean_intervals import FEW, measure_dispersion
from germane.core.ragged import Floats
from germane.core.rounding import drop_rounding, subtract_values, unite_equal
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
        are = write_count(len(lost), "judged query is", "judged queries are")
        text = f"{are} missing from the run, of {len(data.queries):,}, and counted as empty"
        yield Problem(text, len(lost), show_queries(data.qrels, lost), _explain_missing(data))


def _explain_missing(data: Data) -> str:
    """Explain why queries are missing: the run may have them under another name."""
    lost, unknown = data.missing, data.unknown
    for lost_id, run_id in find_pairs(lost, unknown):
        return f"The run has {clip(run_id)}: it differs in {describe_difference(lost_id, run_id)}."
    if extended := find_extended(lost, unknown):
        return f"The run has {clip(extended[1])}: one of the two has {extended[2]}."
    if marked := [query for query in lost if str(query).startswith("\ufeff")]:
        return (
            f"{clip(marked[0])} begins with a byte-order mark, probably from joined files:"
            " remove it."
        )
    if len(lost) > 1 and lost == list(data.queries[-len(lost) :]):
        return f"They are the last of the qrels: did the run stop early? {SKIP}"
    return SKIP


def find_unknown(data: Data) -> Sees:
    """Find queries of the run that nobody judged."""
    if data.unknown and data.answered.any():
        are = write_count(len(data.unknown), "query of the run is", "queries of the run are")
        advice = ""
        if pair := next(find_pairs(data.unknown[:NAMES], data.queries[:NAMES]), None):
            advice = f"The qrels have {clip(pair[1])}: it differs in {describe_difference(*pair)}."
        text = f"{are} not in the qrels and left out"
        yield Problem(text, len(data.unknown), show_queries(data.run, data.unknown), advice)


def find_mostly_empty(data: Data) -> Sees:
    """Find empty lists of results, if at least half of the judged queries have them."""
    empty, judged = set(_list_empty(data)), data.qrels.queries
    none = [query for query in judged if query in empty]
    if none and 2 * len(none) >= len(judged):
        have = write_count(len(none), "judged query has", "judged queries have")
        text = f"{have} an empty list of results, of {len(judged):,}"
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
        have = write_count(len(lost), "judged query has", "judged queries have")
        text = f"{have} no relevant item, of {judged:,}, and counted as 0"
        yield Problem(text, len(lost), show_queries(data.qrels, lost))


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
        text = f"every one of {write_count(len(depths), 'query')} has a single result"
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
            f"no query has more than {write_count(deepest, 'result')}, and measures look at"
            f" {beyond[-1]:,}"
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
                f"{write_count(len(short), 'query has', 'queries have')} fewer than {reached[-1]:,}"
                f" results, of {len(depths):,}"
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
            f"of the first {FIRST} results, {share:.0%} are judged; the others count as not"
            " relevant"
        )
        lost = data.order[first_ten][~judged]
        yield Problem(text, len(lost), show_rows(data.run, lost))


def find_few(data: Data) -> Sees:
    """Find that there are too few queries for any but large differences."""
    count = len(data.qrels.queries)
    if 0 < count < FEW:
        text = write_count(count, "query is", "queries are") + " judged"
        for measure, values in _compute_values(data):
            error = float(values.std()) / math.sqrt(max(count - 1, 1))
            if np.ptp(unite_equal(values)):
                text += (
                    f"; {measure} varies among them so much that its mean is known to"
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
    for rival in data.rivals if count >= FEW else ():
        theirs = dict(_compute_values(rival))
        small = []
        for measure, values in _compute_values(data):
            differences = subtract_values(values, theirs.get(measure, values))
            size = float(np.abs(differences).max())
            mean = float(drop_rounding(differences.mean(), size))
            centered = drop_rounding(differences - mean, size)
            spread = measure_dispersion(centered / count, np.zeros(count, np.int64))
            least = None if spread is None else spread.find_detectable(ALPHA)
            if least is not None and 0 < abs(mean) < least:
                small.append(f"{measure} by {abs(mean):.3g} (detectable: {least:.3g})")
        if small:
            text = (
                f"differences from {rival.run.where} are too small for {count:,} queries to detect"
                f" with a probability of 80%: {'; '.join(small)}"
            )
            yield Problem(text, len(small))
