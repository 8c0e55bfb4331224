"""Ids: those that do not match, and why; duplicates; and the query among its own results."""

import math
from collections.abc import Hashable, Sequence
from itertools import islice

import numpy as np

from germane.checks.data import Data
from germane.checks.rows import (
    FEW,
    Problem,
    Sees,
    Side,
    count_queries,
    find_places,
    show_first_row,
    show_rows,
)
from germane.core.finding import show_ids
from germane.core.id_spelling import describe_difference, describe_types, find_affix, find_pairs
from germane.core.ragged import Bools, Ints
from germane.errors import clip, write_option
from germane.kernel.columns import Ids, mark_padding, read_python_ids
from germane.output.tables import write_count

OWN_PLACE = "Leave it out of each row, as ids[:, 1:] does where it is the first."
TURNED = "They are items of the qrels: are the columns of queries and items swapped?"
MOSTLY = 0.5
JOINED = (
    "Were several files joined? Separate them, or choose with"
    f" {write_option('duplicates', 'first')}, last or max."
)
PADDED = "lists of a fixed length are padded so"
LEFT_OUT = "Are the judged items among the results that the options leave out?"
SOME = 1 / 4  # of the rows: no accident
MANY = 1 / 3  # of the queries: no accident
RARE = 1 / 1000  # a probability: no accident
SAME = "Are these the same ids?"
NUMBERED = "Do both sides number the items in the same way, from 0?"
LOOKED = 200_000  # ids that are compared with others by more than equality


def find_no_common_query(data: Data) -> Sees:
    """Find that no query of the run is judged."""
    judged, run = data.qrels.queries, data.run.queries
    if len(judged) and len(run) and not data.answered.any():
        text = (
            f"none of {write_count(len(run), 'query')} of the run is among the {len(judged):,} that"
            f" are judged. run: {', '.join(show_ids(run))}; qrels: {', '.join(show_ids(judged))}"
        )
        turned = np.mean(find_places(run, data.qrels.items) >= 0) > MOSTLY
        advice = TURNED if turned else explain_kinds(judged, run)
        yield Problem(text, len(run), show_first_row(data.run, np.arange(1)), advice)


def find_nothing_found(data: Data) -> Sees:
    """Find that no judged item is among the results of any judged query."""
    if len(data.hits) or not len(data.grades) or not data.results:
        return
    relevant = np.count_nonzero(data.grades >= 1)
    if relevant and max(data.unreachable.values(), default=0) == relevant:
        return  # the check "relevant items that are no candidates" reports that
    text = (
        f"no judged item is among the {write_count(data.results, 'result')} of the judged queries"
    )
    judged, run = data.qrels.items, data.run.items
    if len(run) and len(judged):
        text += f". run: {', '.join(show_ids(run))}; qrels: {', '.join(show_ids(judged))}"
    places = np.flatnonzero(data.query[data.run.query] >= 0)
    advice = LEFT_OUT if data.is_selected else explain_mismatch(data)
    yield Problem(text, data.results, show_first_row(data.run, places), advice)


def explain_mismatch(data: Data) -> str:
    """Explain how the item ids of both sides differ; "" if one side has none."""
    judged, run = data.qrels.items, data.run.items
    if data.run.places:
        return NUMBERED
    return explain_kinds(judged, run) if len(run) and len(judged) else ""


def explain_kinds(judged: Sequence[Hashable], retrieved: Sequence[Hashable]) -> str:
    """Explain how the ids of both sides differ, as far as their text shows it."""
    judged, retrieved = judged[:LOOKED], retrieved[:LOOKED]
    if kinds := describe_types("run's", retrieved, "qrels'", judged):
        return f"{kinds}: cast one side. {_describe_affix(judged, retrieved)}".rstrip()
    pair = next(find_pairs(judged, retrieved), None)
    if pair is not None:
        return (
            f"{clip(pair[1])} and {clip(pair[0])} differ in {describe_difference(*pair)}: make them"
            " the same."
        )
    return _describe_affix(judged, retrieved) or SAME


def _describe_affix(judged: Sequence[Hashable], retrieved: Sequence[Hashable]) -> str:
    """Describe the prefix or suffix that only one side's ids have."""
    for ids, without, whose in ((retrieved, judged, "run's"), (judged, retrieved, "qrels'")):
        if affix := find_affix(ids, without):
            return f"The {whose} ids have {affix} that the others do not have: remove it."
    return ""


def find_alike(data: Data) -> Sees:
    """Find judged items that were not found, if the query's results have nearly the same id."""
    qrels, run = data.qrels, data.run
    if run.places or not len(data.hits):
        return  # the check "nothing judged was found" reports that
    judged = {item: place for place, item in enumerate(qrels.items)}
    unjudged = [item for item in islice(run.items, LOOKED) if item not in judged]
    meant = {
        result: judged_id for judged_id, result in find_pairs(list(qrels.items[:LOOKED]), unjudged)
    }
    if not meant:
        return
    codes = np.array([*(judged[judged_id] for judged_id in meant.values()), -1])
    item = codes[find_places(run.items, list(meant))][run.item]
    judgment = data.find_judgments(data.query[run.query], item)
    rows = np.flatnonzero((judgment >= 0) & ~np.isin(judgment, data.found))
    rows = rows[np.isnan(data.look_up_grades(rows))]
    if len(rows):
        query, result = run.queries[run.query[rows[0]]], run.items[run.item[rows[0]]]
        item_id = meant[result]
        text = (
            f"{write_count(len(rows), 'judged item')} {'was' if len(rows) == 1 else 'were'}"
            f" retrieved under nearly the same id, which does not match: query {clip(query)},"
            f" {clip(item_id)} is judged and {clip(result)} was retrieved, which differ in"
            f" {describe_difference(item_id, result)}"
        )
        yield Problem(text, len(rows), () if run.line is None else show_rows(run, rows))


def find_repeated_results(data: Data) -> Sees:
    """Find duplicate results of a query."""
    yield from _report_repeated(data.run, "result")


def find_repeated_judgments(data: Data) -> Sees:
    """Find items that are judged twice for a query."""
    yield from _report_repeated(data.qrels, "judgment")


def _report_repeated(side: Side, noun: str) -> Sees:
    pairs = side.query * len(side.items) + side.item
    order = np.argsort(pairs, kind="stable")
    repeated: Ints = np.sort(order[1:][np.diff(pairs[order]) == 0])
    if len(repeated):
        repeats = write_count(len(repeated), f"{noun} repeats", f"{noun}s repeat")
        text = f"{repeats} an item of the same query, in {count_queries(side, repeated)}"
        if noun == "judgment" and side.number is not None:
            first = order[np.searchsorted(pairs[order], pairs[repeated])]
            regraded = int(np.count_nonzero(side.number[first] != side.number[repeated]))
            text += f", {regraded:,} with another grade"
        advice = JOINED if len(repeated) >= max(FEW, SOME * len(side)) else ""
        if noun == "result" and _mark_padding(side)[repeated].all():
            text += f": the id -1; {PADDED}"
            advice = f"{write_option('padding', 'drop')} takes it out."
        yield Problem(text, len(repeated), show_rows(side, repeated), advice)


def find_padding(data: Data) -> Sees:
    """Find results with the id -1, which nobody judged."""
    run = data.run
    rows = np.flatnonzero(_mark_padding(run))
    rows = rows[np.isnan(data.look_up_grades(rows))]
    if not len(rows):
        return
    results = write_count(len(rows), "result has", "results have")
    text = f"{results} the id -1, in {count_queries(run, rows)}; {PADDED}"
    yield Problem(text, len(rows), show_rows(run, rows))


def _mark_padding(run: Side) -> Bools:
    """Mark the rows with the id -1, which is none where items are places."""
    if run.places:
        return np.zeros(len(run), bool)
    ids = run.items if isinstance(run.items, Ids) else read_python_ids(list(run.items))
    return mark_padding(ids)[run.item]


def find_own_first(data: Data) -> Sees:
    """Find queries that are their own first result, and not judged relevant."""
    mine, rank = _find_own_rows(data)
    foremost, answered = mine[rank == 1], int(np.count_nonzero(data.retrieved))
    if _is_no_accident(data.run, len(foremost), answered, 1):
        text = (
            f"the first result of {write_count(len(foremost), 'query')} of "
            f"{data.first}{answered:,} is the query itself"
        )
        advice = OWN_PLACE if data.run.places else ""
        yield Problem(text, len(foremost), show_rows(data.run, foremost), advice)


def find_own(data: Data) -> Sees:
    """Find queries among their own results at any rank, and not judged relevant."""
    mine, rank = _find_own_rows(data)
    answered = int(np.count_nonzero(data.retrieved))
    is_systematic = _is_no_accident(
        data.run, len(mine), answered, len(data.run) / max(len(data.run.queries), 1)
    )
    if (
        not len(mine)
        or any(find_own_first(data))
        or not (is_systematic or are_names(data.run.queries))
    ):
        return
    ranks = f"rank {rank.min()}" + f" to {rank.max()}" * bool(rank.min() < rank.max())
    have = write_count(len(mine), "query has itself", "queries have themselves")
    text = f"{have} among the results, of {answered:,}, at {ranks}"
    advice = OWN_PLACE if data.run.places else ""
    yield Problem(text, len(mine), show_rows(data.run, mine), advice)


def _is_no_accident(run: Side, count: int, queries: int, depth: float) -> bool:
    """Are these too many of the queries for a coincidence of numbers?

    The number of a row is equal by chance: to each of ``depth`` results with 1 in the number of
    items.
    The tail of the binomial distribution is at most the bound of Chernoff.
    """
    if count <= 1 or count < MANY * queries:
        return False
    if not run.places:
        return True
    chance, share = depth / len(run.items), count / queries
    if share <= chance:
        return False
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return math.exp(-queries * (share * math.log(share / chance) + rest)) < RARE


def _find_own_rows(data: Data) -> tuple[Ints, Ints]:
    """Find the rows whose item is the query and not judged relevant, and their ranks."""
    run = data.run
    if run.numbered:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    query = find_places(run.items, run.queries)[run.item]
    rows = np.flatnonzero((query == run.query)[data.order])
    rows = rows[~(data.look_up_grades(data.order[rows]) > 0)]
    return data.order[rows], data.rank[rows]


def are_names(ids: Sequence[Hashable]) -> bool:
    """Are no ids numbers, which queries and items may share by chance?"""
    return not any(isinstance(identifier, int) or str(identifier).isdigit() for identifier in ids)
