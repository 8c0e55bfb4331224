"""Dicts with nothing that is judged: several runs by name, columns, ids of another type."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from germane.core.qrels import Qrels
from germane.core.values import listed
from germane.errors import CoverageError, FormatError, choices, clip, some, typed
from germane.readers import headings


def refuse_queries(qrels: Qrels, run: Mapping[Hashable, Any]) -> None:
    """Refuse a run without a judged query whose values tell what it is."""
    headings.refuse_columns("run", run)
    name, results = next(iter(run.items()))
    if isinstance(results, Mapping):
        within = [query for query in qrels.queries if _has_results(results, query)]
        if within:
            raise FormatError(
                f"no query of the run is in the qrels, but what it calls {clip(name)} has queries that "
                f"are: {some(within)}. Is it several runs by name? evaluate_many takes these, and "
                f"evaluate takes one of them, run[{clip(name)}]."
            )
    elif isinstance(results, (str, bytes)) or not isinstance(results, Iterable):
        raise FormatError(
            f"run, query {clip(name)}: results are {{item: score}} or a list of items; got "
            f"{typed(results)}. A run is {{query: results}}, and several runs {{name: run}}."
        )


def _has_results(given: Mapping[Hashable, Any], query: Hashable) -> bool:
    """Does it hold a query's results, and not the score of an item of the same id?"""
    held = given.get(query)
    return isinstance(held, Iterable) and not isinstance(held, (str, bytes))


def refuse_items(qrels: Qrels, run: Mapping[Hashable, Any]) -> None:
    """Refuse ids that cannot match: the numbers of a run never equal the text of the qrels."""
    lists = map(listed, run.values())
    types = {_type(item) for got in lists if isinstance(got, Iterable) for item in got}
    judged = {_type(item) for item in qrels.items}
    if types and judged and not types & judged:
        advice = " Scores in rows are an array: numpy.array(…)." if "float" in types else ""
        raise CoverageError(
            "no judged item was retrieved: the run's item ids are "
            f"{choices(sorted(types))}, the qrels' are {choices(sorted(judged))}.{advice}"
        )


def _type(item: Any) -> str:
    """The name of an id's type; NumPy's numbers are equal to Python's."""
    return type(item.item() if isinstance(item, np.generic) else item).__name__
