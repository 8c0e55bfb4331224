"""Judged items that were not found although the run has nearly the same id."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from germane import near
from germane._ragged import Bools, Ints
from germane.finding import Finding
from germane.retrieval import Qrels, Retrieved
from germane.sources import unmatched

ROWS = 2000  # rows of a run that are looked at
MOST = 64  # relevant items that are looked for under another spelling


def missed(qrels: Qrels, found: Ints, answered: Bools) -> Iterator[tuple[Hashable, Hashable]]:
    """Some queries that the run answers, and relevant items of theirs that it does not have."""
    if len(found) == len(qrels.grades):
        return
    lost = qrels.grades > 0
    lost[found] = False
    (at,) = lost.nonzero()
    if len(at) > MOST:
        at = at[np.linspace(0, len(at) - 1, MOST).astype(np.int64)]
    for j in at.tolist():
        q = bisect_right(qrels.offsets, j) - 1
        if answered[q]:
            yield qrels.queries[q], qrels.items[j]


def of_mapping(
    qrels: Qrels, judgment: Ints, answered: Bools, run: Mapping[Hashable, Any]
) -> tuple[Finding, ...]:
    """What ``{query: {item: score}}`` holds under nearly the id that was judged."""
    if not len(judgment):
        return unmatched.of_none(qrels, ((q, item) for q, items in run.items() for item in items))
    held: dict[Hashable, Any] = {}
    found: list[unmatched.Pair] = []
    for query, item in missed(qrels, judgment, answered):
        if query not in held:
            results = run[query]
            if not held:
                found += unmatched.beyond_ascii(qrels, query, results)
            held[query] = results if isinstance(results, Mapping) else frozenset(results)
        if isinstance(item, str):
            found += [(query, item, other) for other in near.variants(item) if other in held[query]]
    return unmatched.finding(found)


def of_rows(
    qrels: Qrels, got: Retrieved, rows: Iterable[tuple[Hashable, Hashable]]
) -> tuple[Finding, ...]:
    """The same among rows of query and item, such as the first of a file."""
    if not len(got.judgment):
        return unmatched.of_none(qrels, rows)
    rows = list(rows)
    wanted = {
        (query, other): item
        for query, item in missed(qrels, got.judgment, got.answered)
        if isinstance(item, str)
        for other in near.variants(item)
    }
    if not wanted:
        return ()
    found = [(row[0], wanted[row], row[1]) for row in rows if row in wanted]
    return unmatched.finding([*found, *unmatched.rows_beyond_ascii(qrels, rows)])
