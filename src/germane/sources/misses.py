"""Judged items that were not found although the run has nearly the same id."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from germane import near
from germane._ragged import Ints
from germane.errors import clip
from germane.finding import Finding
from germane.retrieval import Qrels, Retrieved

ROWS = 2000  # rows of a run that are looked at
MOST = 64  # relevant items that are looked for under another spelling


def missed(qrels: Qrels, got: Retrieved) -> Iterator[tuple[Hashable, Hashable]]:
    """Some queries that the run answers, and relevant items of theirs that it does not have.

    Integers are left out, which have one spelling.
    """
    if len(got.judgment) == len(qrels.grades) or getattr(qrels.items, "kind", "") == "integer":
        return
    lost = qrels.grades > 0
    lost[got.judgment] = False
    at = np.flatnonzero(lost)
    if len(at) > MOST:
        at = at[np.linspace(0, len(at) - 1, MOST).astype(np.int64)]
    owner: Ints = np.searchsorted(qrels.offsets, at, "right") - 1
    for j, q in zip(at.tolist(), owner.tolist(), strict=True):
        if got.answered[q]:
            yield qrels.queries[q], qrels.items[j]


def of_mapping(qrels: Qrels, got: Retrieved, run: Mapping[Hashable, Any]) -> tuple[Finding, ...]:
    """What ``{query: {item: score}}`` holds under nearly the id that was judged."""
    held: dict[Hashable, Any] = {}
    found = []
    for query, item in missed(qrels, got):
        if query not in held:
            results = run[query]
            held[query] = results if isinstance(results, Mapping) else frozenset(results)
        if isinstance(item, str):
            found += [(query, item, other) for other in near.variants(item) if other in held[query]]
    return _finding(found)


def of_rows(
    qrels: Qrels, got: Retrieved, rows: Iterable[tuple[Hashable, Hashable]]
) -> tuple[Finding, ...]:
    """The same among rows of query and item, such as the first of a file."""
    wanted = {
        (query, other): item
        for query, item in missed(qrels, got)
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
