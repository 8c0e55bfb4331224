"""Queries: which are compared, how deep their results go, and whether they are enough."""

import math
from collections.abc import Hashable, Iterator

import numpy as np

from germane import notice
from germane._ragged import Floats
from germane.averaging import scores
from germane.checks.data import Data
from germane.checks.seen import Seen, Sees, first, named, noticed, of_queries, rows, several
from germane.checks.side import NAMED
from germane.comparison.layout import FEW
from germane.comparison.spread import spread_of
from germane.errors import GermaneError
from germane.measure import Measure

ENOUGH = 0.9  # judged of the first ten results
FIRST = 10
SHALLOW = 0.1  # of the queries: worth a word
ALPHA = 0.05
TINY = 1e-9  # what rounding leaves of values that are equal


def missing(data: Data) -> Sees:
    """Judged queries that the run does not have."""
    if data.missing and data.answered.any():
        lost = of_queries(data.qrels, data.missing)
        yield noticed(notice.missing(data.missing, data.qrels.queries, data.unknown), lost)


def unknown(data: Data) -> Sees:
    """Queries of the run that nobody judged."""
    if data.unknown and data.answered.any():
        told = notice.left_out(data.unknown, set(data.qrels.queries))
        yield noticed(told, of_queries(data.run, data.unknown))


def mostly_empty(data: Data) -> Sees:
    """Half of the judged queries or more, whose list of results is empty."""
    empty, judged = set(_empty(data)), data.qrels.queries
    none = [query for query in judged if query in empty]
    if none and 2 * len(none) >= len(judged):
        have = several(len(none), "judged query has", "judged queries have")
        says = f"{have} an empty list of results, of {len(judged):,}: nothing of theirs is found"
        yield Seen(says, len(none), named(none))


def _empty(data: Data) -> tuple[Hashable, ...]:
    run = data.run
    return *run.empty, *(run.queries[q] for q in np.flatnonzero(data.retrieved == 0).tolist())


def without_results(data: Data) -> Sees:
    """Queries whose list of results is empty, where most have some."""
    if (empty := _empty(data)) and not any(mostly_empty(data)):
        have = several(len(empty), "query has", "queries have")
        says = f"{have} an empty list of results: nothing of theirs is found"
        yield Seen(says, len(empty), named(empty))


def without_judgments(data: Data) -> Sees:
    """Queries that stand in the qrels with nothing judged."""
    if data.qrels.empty:
        yield noticed(notice.empty(data.qrels.empty))


def without_relevant(data: Data) -> Sees:
    """Judged queries without a relevant item."""
    lost = np.flatnonzero(_relevant(data) == 0).tolist()
    if 0 < len(lost) < len(data.qrels.queries):
        queries = [data.qrels.queries[q] for q in lost]
        told = notice.without_relevant(queries, len(data.qrels.queries))
        yield noticed(told, of_queries(data.qrels, queries))


def _relevant(data: Data) -> Floats:
    """How many relevant items each judged query has."""
    good = data.grades >= 1
    return np.bincount(data.qrels.query[good], minlength=len(data.qrels.queries)).astype(float)


def one_result(data: Data) -> Sees:
    """One result a query: the program that wrote the run stopped at the first."""
    if len(data.run.items) > 1:
        got = data.retrieved[data.retrieved > 0]
        for found in notice.one_result(got, data.grades, data.grade, data.measures):
            yield noticed(found, rows(data.run, np.arange(min(NAMED, len(data.run.item)))))


def same_results(data: Data) -> Sees:
    """The same items in the same order for every query."""
    depth = data.retrieved
    if len(depth) > 1 and (depth == depth[0]).all() and depth[0] > 1:
        lists = data.run.item[data.order].reshape(len(depth), -1)
        if (lists == lists[0]).all() and not data.constant:
            says = (
                f"all {len(depth):,} queries have the same {depth[0]:,} results in the same order"
            )
            yield Seen(says, len(depth), first(data.run, data.order))


def cut_off(data: Data) -> Sees:
    """A cutoff that the results of no query reach."""
    deepest = int(data.retrieved.max(initial=0))
    if (beyond := [k for k in data.cutoffs if k > deepest]) and deepest < len(data.run.items):
        says = f"no query has more than {several(deepest, 'result')}, and measures look at {beyond[-1]:,}"
        at = int(data.retrieved.argmax())
        yield Seen(says, len(data.run.queries), of_queries(data.run, [data.run.queries[at]]))


def shallow(data: Data) -> Sees:
    """Queries with fewer results than a cutoff."""
    got = data.retrieved
    reached = [k for k in data.cutoffs if k <= got.max(initial=0)]
    if reached:
        short = np.flatnonzero(got < reached[-1])
        if len(short) >= max(1, SHALLOW * len(got)) and len(data.run.items) > reached[-1]:
            says = (
                f"{several(len(short), 'query has', 'queries have')} fewer than {reached[-1]:,} results, "
                f"of {len(got):,}"
            )
            queries = (data.run.queries[q] for q in short.tolist())
            yield Seen(says, len(short), of_queries(data.run, queries))


def unjudged(data: Data) -> Sees:
    """Results among the first ten that nobody judged, where some items are judged not relevant."""
    judged_query = (data.query >= 0)[data.run.query[data.order]]
    first_ten = (data.rank <= FIRST) & judged_query
    if not first_ten.any() or not (data.grades < 1).any():
        return
    judged = ~np.isnan(data.grade[data.order[first_ten]])
    share = judged.mean()
    if 0 < share < ENOUGH:
        says = f"of the first {FIRST} results, {share:.0%} are judged; the others count as not relevant"
        lost = data.order[first_ten][~judged]
        yield Seen(says, len(lost), rows(data.run, lost))


def few(data: Data) -> Sees:
    """Too few queries for any but large differences."""
    count = len(data.qrels.queries)
    if 0 < count < FEW:
        says = several(count, "query is", "queries are") + " judged"
        for measure, values in _values(data):
            error = float(values.std()) / math.sqrt(max(count - 1, 1))
            if error > TINY:
                says += f"; {measure} varies among them so much that its mean is known to ±{2 * error:.2g}"
            break
        yield Seen(says, count)


def _values(data: Data) -> Iterator[tuple[Measure, Floats]]:
    """Each measure's values; none that the grades do not allow."""
    for measure in data.measures:
        try:
            yield measure, scores(measure, data.ranking, "zero")
        except GermaneError:
            continue


def undetectable(data: Data) -> Sees:
    """A difference from another run that is smaller than what so many queries show."""
    count = len(data.qrels.queries)
    for rival in data.rivals if count >= FEW else ():
        theirs = dict(_values(rival))
        small = []
        for measure, values in _values(data):
            apart = values - theirs.get(measure, values)
            spread = spread_of((apart - apart.mean()) / count, np.zeros(count, np.int64))
            least = None if spread is None else spread.detectable(ALPHA)
            if least is not None and 0 < abs(apart.mean()) < least:
                small.append(f"{measure} by {abs(apart.mean()):.3g} where {least:.3g} shows")
        if small:
            says = f"differences from {rival.run.where} are smaller than what {count:,} queries show in 4 of 5 cases: {'; '.join(small)}"
            yield Seen(says, len(small))
