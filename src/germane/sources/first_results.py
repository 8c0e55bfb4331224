"""What the first queries of mappings and lists show; they are taken apart only where one is odd."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import islice
from typing import Any

from germane.finding import Finding
from germane.retrieval import Order, Qrels

LOOKED = 64  # that are looked at
_RESULTS = 256  # of each
_ABSENT: Any = ()


def of_scores(qrels: Qrels, run: Mapping[Hashable, Any], order: Order) -> Iterator[Finding]:
    """What evaluating says of the order of ``{query: {item: score}}``."""
    first = qrels.queries[:LOOKED]
    if _rises(first, run) or [query for query in first if query in run.get(query, _ABSENT)]:
        from germane.sources.first_rows import Row, by_query, orders

        rows = [
            Row(query, item, 0.0, float(score))
            for query, results in _judged(first, run)
            for item, score in islice(results.items(), _RESULTS)
        ]
        yield from orders(by_query(rows), qrels, order)


def _rises(queries: list[Hashable], run: Mapping[Hashable, Any]) -> bool:
    """Do the first scores of the first query that has some rise?"""
    for query in queries:
        results = run.get(query, _ABSENT)
        if len(results) > 2:
            one, other, third = map(float, islice(results.values(), 3))
            return one <= other <= third and one < third
    return False


def _judged(queries: list[Hashable], run: Mapping[Hashable, Any]) -> Iterator[tuple[Hashable, Any]]:
    """Queries with their results, where there are any; those that are judged have been read."""
    for query in queries:
        if len(results := run.get(query, _ABSENT)):
            yield query, results


def of_ids(qrels: Qrels, rows: Any) -> Iterator[Finding]:
    """What evaluating says of an array of the ids of the best."""
    from germane.sources.first_rows import OWN_PLACE

    return of_lists(qrels, dict(enumerate(rows[:LOOKED])), OWN_PLACE)


def of_lists(qrels: Qrels, run: Mapping[Hashable, Any], *advice: str) -> Iterator[Finding]:
    """What evaluating says of ``{query: [item, …]}``."""
    first = qrels.queries[:LOOKED]
    if any(query == results[0] for query in first if len(results := run.get(query, _ABSENT))):
        from germane.sources.first_rows import Row, by_query, own_first

        rows = [Row(query, results[0], 0.0, 0.0) for query, results in _judged(first, run)]
        yield from own_first(by_query(rows), qrels, *advice)
