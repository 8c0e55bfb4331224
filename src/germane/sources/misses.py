"""Judged items that were not found although the run has nearly the same id."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from germane import near
from germane._ragged import FEW, Bools, Floats, Ints, between
from germane.finding import Finding
from germane.retrieval import Qrels, Retrieved
from germane.sources import unmatched

ROWS = 2000  # rows of a run that are looked at
MOST = 64  # relevant items that are looked for under another spelling


def _missed(qrels: Qrels, found: Ints, answered: Bools) -> Iterator[tuple[Hashable, Hashable]]:
    """Some queries that the run answers, and relevant items of theirs that it does not have.

    Integers are left out, which have one spelling.
    """
    if len(found) == len(qrels.grades) or _of_integers(qrels):
        return
    for j in _lost(qrels.grades, found):
        q = int(qrels.offsets.searchsorted(j, "right")) - 1
        if answered[q]:
            yield qrels.queries[q], qrels.items[j]


def _missed_by(
    rows: list[tuple[Hashable, Hashable]], qrels: Qrels, got: Retrieved
) -> Iterator[tuple[Hashable, Hashable]]:
    """The same for the queries of some rows."""
    if _of_integers(qrels):
        return
    named, looked = {query for query, _ in rows}, np.zeros(len(qrels), bool)
    named.difference_update(got.unknown)  # so that the search ends where all others are found
    places = (q for q, query in enumerate(qrels.queries) if query in named)
    looked[list(islice(places, len(named)))] = True
    starts, lengths = qrels.offsets[:-1][looked], np.diff(qrels.offsets)[looked]
    judgment = between(starts, lengths)
    found = np.isin(judgment, got.judgment[looked[got.owner]])
    for j in judgment[_lost(qrels.grades[judgment], np.flatnonzero(found))].tolist():
        yield qrels.queries[int(qrels.offsets.searchsorted(j, "right")) - 1], qrels.items[j]


def _of_integers(qrels: Qrels) -> bool:
    return getattr(qrels.items, "kind", "") == "integer"


def _lost(grades: Floats, found: Ints) -> list[int]:
    """At most MOST of the relevant judgments that were not found, spread over all of them."""
    if len(grades) <= FEW:
        hits = set(found.tolist())
        return [j for j, grade in enumerate(grades.tolist()) if grade > 0 and j not in hits]
    hit = np.zeros(len(grades), bool)
    hit[found] = True
    at = np.flatnonzero((grades > 0) & ~hit)
    if len(at) > MOST:
        at = at[np.linspace(0, len(at) - 1, MOST).astype(np.int64)]
    out: list[int] = at.tolist()
    return out


def of_mapping(
    qrels: Qrels, judgment: Ints, answered: Bools, run: Mapping[Hashable, Any]
) -> tuple[Finding, ...]:
    """What ``{query: {item: score}}`` holds under nearly the id that was judged."""
    if not len(judgment):
        lists = ((q, items) for q, items in run.items() if isinstance(items, Iterable))
        return unmatched.of_none(qrels, ((q, item) for q, items in lists for item in items))
    found: list[unmatched.Pair] = []
    last: Hashable = None
    held: Any = None
    for query, item in _missed(qrels, judgment, answered):
        if query is not last:
            if held is None:
                found += unmatched.beyond_ascii(qrels, query, run[query])
            last, held = query, run[query]
            held = held.keys() if isinstance(held, (dict, Mapping)) else frozenset(held)
        ways = set(near.other_types(item))
        if isinstance(item, str):
            ways |= near.variants(item)
        if not held.isdisjoint(ways):
            found += [(query, item, other) for other in ways if other in held]
    return unmatched.finding(found) if found else ()


def of_rows(
    qrels: Qrels, got: Retrieved, rows: Iterable[tuple[Hashable, Hashable]]
) -> tuple[Finding, ...]:
    """The same among rows of query and item, such as the first of a file."""
    if not len(got.judgment):
        return unmatched.of_none(qrels, rows)
    rows = list(rows)
    wanted = {
        (query, other): item
        for query, item in _missed_by(rows, qrels, got)
        if isinstance(item, str)
        for other in near.variants(item)
    }
    if not wanted:
        return ()
    found = [(row[0], wanted[row], row[1]) for row in rows if row in wanted]
    return unmatched.finding([*found, *unmatched.rows_beyond_ascii(qrels, rows)])
