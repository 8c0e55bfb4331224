"""Judged items that were not found although the run has nearly the same id."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from germane import near
from germane._ragged import FEW, Bools, Floats, Ints
from germane.errors import clip
from germane.finding import Finding
from germane.retrieval import Qrels, Retrieved

ROWS = 2000  # rows of a run that are looked at
MOST = 64  # relevant items that are looked for under another spelling


def missed(qrels: Qrels, found: Ints, answered: Bools) -> Iterator[tuple[Hashable, Hashable]]:
    """Some queries that the run answers, and relevant items of theirs that it does not have."""
    if len(found) == len(qrels.grades):
        return
    for j in _lost(qrels.grades, found):
        q = bisect_right(qrels.offsets, j) - 1
        if answered[q]:
            yield qrels.queries[q], qrels.items[j]


def _lost(grades: Floats, found: Ints) -> list[int]:
    """At most MOST of the relevant judgments that were not found, spread over all of them."""
    if len(grades) <= FEW:
        hits = set(found.tolist())
        return [j for j, grade in enumerate(grades.tolist()) if grade > 0 and j not in hits]
    lost = grades > 0
    lost[found] = False
    (at,) = lost.nonzero()
    if len(at) > MOST:
        at = at[np.linspace(0, len(at) - 1, MOST).astype(np.int64)]
    out: list[int] = at.tolist()
    return out


def of_mapping(
    qrels: Qrels, judgment: Ints, answered: Bools, run: Mapping[Hashable, Any]
) -> tuple[Finding, ...]:
    """What ``{query: {item: score}}`` holds under nearly the id that was judged."""
    found = []
    last: Hashable = None
    held: Any = ()
    for query, item in missed(qrels, judgment, answered):
        if not isinstance(item, str):
            continue
        if query is not last:
            last, held = query, run[query]
            held = held if isinstance(held, (dict, Mapping)) else frozenset(held)
        found += [(query, item, other) for other in near.variants(item) if other in held]
    return _finding(found)


def of_rows(
    qrels: Qrels, got: Retrieved, rows: Iterable[tuple[Hashable, Hashable]]
) -> tuple[Finding, ...]:
    """The same among rows of query and item, such as the first of a file."""
    wanted = {
        (query, other): item
        for query, item in missed(qrels, got.judgment, got.answered)
        if isinstance(item, str)
        for other in near.variants(item)
    }
    if not wanted:
        return ()
    return _finding((row[0], wanted[row], row[1]) for row in rows if row in wanted)


def _finding(found: Iterable[tuple[Hashable, Hashable, Hashable]]) -> tuple[Finding, ...]:
    alike = list(dict.fromkeys(found))
    if not alike:
        return ()
    query, judged, other = alike[0]
    says = (
        f"query {clip(query)}: item {clip(judged)} is judged and {clip(other)} was retrieved, which "
        f"differ in {near.difference(judged, other)}; they do not match"
    )
    if len(alike) > 1:
        says += f" (and {len(alike) - 1:,} more like these)"
    return (Finding("serious", "ids nearly the same", says, len(alike)),)
