"""Why ids do not match, where looking up other spellings of what is judged does not show it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeAlias

from germane import near
from germane.errors import clip
from germane.finding import Finding
from germane.retrieval import Qrels

ROWS = 2000  # rows of a run that are looked at
SAMPLE = 8  # ids that are taken apart

Pair: TypeAlias = tuple[Hashable, Hashable, Hashable]
"""A query, an item that is judged, and one that was retrieved."""


def of_none(qrels: Qrels, rows: Iterable[tuple[Hashable, Hashable]]) -> tuple[Finding, ...]:
    """Why nothing that was judged has been found, as far as the first rows show."""
    looked = islice(rows, ROWS)
    results = _by_query(row for row in looked if row[0] in qrels.position)
    judged = {query: list(qrels.judged[qrels.position[query]])[:ROWS] for query in results}
    found = [
        (query, one, other)
        for query, items in results.items()
        for one, other in near.pairs(judged[query], items)
    ]
    if found:
        return finding(found)
    ids = [list(chain.from_iterable(several.values())) for several in (results, judged)]
    for one, other, whose in ((*ids, "run's"), (*ids[::-1], "qrels'")):
        if affix := near.affix(one[:SAMPLE], other):
            says = (
                f"the {whose} item ids have {affix}, which the others have not; they do not match"
            )
            return (Finding("serious", "ids nearly the same", says, len(one)),)
    return ()


def beyond_ascii(qrels: Qrels, query: Hashable, items: Iterable[Hashable]) -> Iterator[Pair]:
    """Results with letters beyond ASCII, which may be hard to see, for judged items without."""
    odd = [item for item in items if isinstance(item, str) and not item.isascii()]
    if odd and query in qrels.position:
        judged = qrels.judged[qrels.position[query]]
        held = set(items)
        lost = [item for item in judged if isinstance(item, str) and item not in held]
        yield from ((query, one, other) for one, other in near.pairs(lost, odd))


def rows_beyond_ascii(qrels: Qrels, rows: list[tuple[Hashable, Hashable]]) -> Iterator[Pair]:
    """The same of rows of query and item."""
    if all(isinstance(item, str) and item.isascii() for _, item in rows):
        return
    for query, items in _by_query(rows).items():
        yield from beyond_ascii(qrels, query, items)


def _by_query(rows: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, list[Hashable]]:
    found: dict[Hashable, list[Hashable]] = {}
    for query, item in rows:
        found.setdefault(query, []).append(item)
    return found


def finding(found: Iterable[Pair]) -> tuple[Finding, ...]:
    """What is said of ids that are nearly the same."""
    alike = list(dict.fromkeys(found))
    if not alike:
        return ()
    query, judged, other = alike[0]
    says = (
        f"query {clip(query)}: item {clip(judged)} is judged and {clip(other)} was retrieved, which "
        f"differ in {near.difference(judged, other)}; they do not match"
    )
    if len(alike) > 1:
        says += f" (and at least {len(alike) - 1:,} more like these)"  # some were looked at
    return (Finding("serious", "ids nearly the same", says, len(alike)),)
