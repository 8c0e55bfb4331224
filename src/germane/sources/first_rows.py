"""What the first rows of a run show that its reduction does not: an order or an id that was not meant."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from germane._ragged import Floats, Ints
from germane.errors import clip
from germane.finding import Finding, is_are, shown
from germane.retrieval import Order, Qrels, Retrieved
from germane.sources import misses, swapped

_FEW = 3  # rises that may be a matter of rounding
FIVE = 5  # results, all of which say so
ORDERED = 20  # neighbors of which chance does not put every one in ascending order
SOME = 1 / 3  # of the queries: no accident
NEGATE = "Higher is better here. Are they distances? Then negate them."
AGAINST_RANKS = "Are they distances, where less is better? Then negate them."
OWN = "own=drop leaves it out before ranks are counted."
OWN_PLACE = "Leave it out of each row, as ids[:, 1:] does where it is the first."
COUNTING = (
    "the scores count 1, 2, 3, … in the order given: they are ranks, and higher is better here"
)
COLUMNS = "Are rank and score in each other's place? The columns are query Q0 item rank score tag."
FALLING = "the ranks of every query fall in the order given, and the lowest is the best"
AS_SCORES = (
    "Is higher better? Then name the column as scores: columns={'score': name, 'rank': None}."
)
AS_RANKS = "Give scores, or ranks as such: negated, or as a ranked list."


class Row(NamedTuple):
    """A row as a person reads it."""

    query: Hashable
    item: Hashable
    rank: float  # the same for all rows where the run has none
    score: float
    written: bytes = b""  # the score


Rows: TypeAlias = dict[Hashable, list[Row]]  # of each query


def of_rows(rows: list[Row], qrels: Qrels, got: Retrieved, order: Order) -> tuple[Finding, ...]:
    """What the first rows of any run show."""
    alike = misses.of_rows(qrels, got, ((row.query, row.item) for row in rows))
    odd = swapped.by_numbers(qrels, _numbers, rows)
    return (*odd, *alike, *orders(by_query(rows), qrels, order))


def _numbers(rows: list[Row]) -> tuple[Ints, Floats]:
    queries = {row.query: at for at, row in enumerate(rows)}
    owner = [queries[row.query] for row in rows]
    return np.array(owner), np.array([row.score for row in rows])


def orders(queries: Rows, qrels: Qrels, order: Order) -> Iterator[Finding]:
    """Orders that were not meant: turned round, ranks for scores, the query before all others.

    Whether relevance bears them out is seen where all of the run has been read.
    """
    counting = [*counting_up(queries)]
    yield from (*counting, *against_ranks(queries), *(() if counting else rising(queries)))
    if order.own == "keep":
        yield from own_first(queries, qrels)


def falling_ranks(queries: Rows) -> Iterator[Finding]:
    """The ranks of a run without scores, where they fall from each row to the next: are they scores?"""
    steps = [pair for several in queries.values() for pair in pairwise(several)]
    count = len(steps) + len(queries)
    if count >= FIVE and all(other.rank < one.rank for one, other in steps):
        yield Finding("serious", "ranks fall as given", FALLING, count, (), AS_SCORES)


def _ranks(queries: Rows) -> set[float]:
    return {row.rank for rows in queries.values() for row in rows}


def by_query(rows: Iterable[Row]) -> Rows:
    found: Rows = {}
    for row in rows:
        found.setdefault(row.query, []).append(row)
    return found


def counting_up(queries: Rows) -> Iterator[Finding]:
    """Ranks in the place of scores: no other order of the rows contradicts them."""
    rows = [row for several in queries.values() for row in several]
    counted = all(
        int(several[0].score in (0, 1)) and steps_of_one(several) for several in queries.values()
    )
    ranks = _ranks(queries)
    steps = len(rows) - len(queries)
    if not counted or (len(ranks) == 1 and steps < ORDERED):
        return
    decimals = any(rank % 1 for rank in ranks)
    if len(ranks) == 1 or decimals or any(against_ranks(queries)):
        advice = COLUMNS if decimals else AS_RANKS
        yield Finding("serious", "ranks given as scores", COUNTING, len(rows), (), advice)


def steps_of_one(rows: list[Row]) -> bool:
    """Is each score one more than the score before?"""
    return all(other.score == one.score + 1 for one, other in pairwise(rows))


def against_ranks(queries: Rows) -> Iterator[Finding]:
    """Scores that rise where ranks do: a distance, where less is better, or a column mixed up."""
    rising, falling = [], 0
    for query in queries.values():
        for one, other in pairwise(sorted(query, key=lambda row: row.rank)):
            if other.rank > one.rank and other.score > one.score:
                rising.append((one, other))
            falling += other.rank > one.rank and other.score < one.score
    if len(rising) >= _FEW and not falling:
        says = contradicts(*rising[0])
        yield Finding("serious", "ranks against scores", says, len(rising), (), AGAINST_RANKS)


def contradicts(one: Row, other: Row) -> str:
    """What is said of two rows of which the one with the lower rank has the lower score."""
    return (
        f"the rank column contradicts the scores, which decide: for query {clip(one.query)} item "
        f"{clip(one.item)} has rank {one.rank:g} and score {one.score:g}, {clip(other.item)} rank "
        f"{other.rank:g} and score {other.score:g}"
    )


def rising(queries: Rows) -> Iterator[Finding]:
    """Scores that rise from each row to the next, where the rank column says nothing."""
    if len(_ranks(queries)) != 1:
        return
    steps = [
        other.score - one.score for several in queries.values() for one, other in pairwise(several)
    ]
    rises = sum(step > 0 for step in steps)
    if len(steps) >= ORDERED and min(steps) >= 0 and 2 * rises > len(steps):
        says = f"the scores of every query rise in the order given, over the first {len(steps):,} steps"
        count = len(steps) + len(queries)
        yield Finding("serious", "scores rise as given", says, count, (), NEGATE)


def own_first(queries: Rows, qrels: Qrels, advice: str = OWN) -> Iterator[Finding]:
    """The query itself, first among the results of many queries and not judged relevant."""
    held = (query for query, rows in queries.items() if any(row.item == query for row in rows))
    own = [
        query
        for query in held
        if max(queries[query], key=lambda row: row.score).item == query
        and not _is_relevant(qrels, query)
    ]
    if no_accident(len(own), len(queries)):
        says = own_first_says(len(own), f"the first {len(queries):,}")
        yield Finding(
            "serious", "the query is its first result", says, len(own), shown(own), advice
        )


def _is_relevant(qrels: Qrels, query: Hashable) -> bool:
    """Is the query itself judged relevant for it?"""
    q = qrels.position.get(query)
    if q is None:
        return False
    part = slice(*qrels.offsets[q : q + 2].tolist())
    mine = zip(qrels.items[part], qrels.grades[part].tolist(), strict=True)
    return any(grade > 0 for item, grade in mine if item == query)


def own_first_says(count: int, of: str) -> str:
    """What is said of so many queries."""
    return f"the first result of {is_are(count, 'query', 'queries')} of {of} is the query itself"


def no_accident(count: int, of: int) -> bool:
    """Are so many of so many queries more than numbers that meet by chance?"""
    return count > 1 and count >= SOME * of
