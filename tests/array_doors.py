"""A collection as every kind of array: queries and items become numbers.

The columns stand in the order in which ties=trec puts tied items, so that the order of columns, which
is that of arrays, is the same.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from germane.readers import embeddings

Judgments = dict[str, dict[str, float]]
Scores = dict[str, dict[str, float]]


class Collection:
    """Judgments and results in numbers; ``queries`` and ``items`` are the ids that these stand for."""

    def __init__(self, qrels: Judgments, run: Scores) -> None:
        self.queries = list(dict.fromkeys([*qrels, *run]))
        ids = {item for side in (qrels, run) for got in side.values() for item in got}
        self.items = sorted(ids, key=str.encode, reverse=True)
        self.grades, self.scores = self._cells(qrels), self._cells(run)

    def _cells(self, given: dict[str, dict[str, float]]) -> Any:
        """(queries, items), masked where there is nothing."""
        cells = np.ma.masked_all((len(self.queries), len(self.items)))
        for q, query in enumerate(self.queries):
            for item, value in given.get(query, {}).items():
                cells[q, self.items.index(item)] = value
        return cells

    def judged(self) -> list[dict[int, float]]:
        return [
            {int(i): float(row[i]) for i in np.flatnonzero(~np.ma.getmaskarray(row))}
            for row in self.grades
        ]

    def ranked(self) -> list[list[int]]:
        return [
            sorted(np.flatnonzero(~np.ma.getmaskarray(row)).tolist(), key=lambda i: -row[i])
            for row in self.scores
        ]

    def stored(self) -> Any:
        """What scipy.sparse.csr_array has: the cells that are judged."""
        rows, columns = np.nonzero(~np.ma.getmaskarray(self.grades))
        return SimpleNamespace(
            shape=self.grades.shape,
            format="csr",
            indptr=np.searchsorted(rows, np.arange(len(self.grades) + 1)),
            indices=columns,
            data=self.grades.data[rows, columns],
        )


Given = tuple[Any, Any, dict[str, Any]]
"""Qrels, run, and other arguments."""


def topk(given: Collection) -> Any:
    ranked = given.ranked()
    longest = max(map(len, ranked))
    return np.array([row + [-1] * (longest - len(row)) for row in ranked])


def grouped(given: Collection, cells: Any) -> Given:
    """The cells where something is judged or retrieved, in any order but for those of a group."""
    rows, columns = cells
    return (
        given.grades[rows, columns],
        given.scores[rows, columns],
        {"group": [given.queries[q] for q in rows.tolist()]},
    )


def cells(given: Collection) -> Any:
    return np.nonzero(~np.ma.getmaskarray(given.grades) | ~np.ma.getmaskarray(given.scores))


def by_column(given: Collection) -> Any:
    rows, columns = cells(given)
    order = np.argsort(columns, kind="stable")
    return rows[order], columns[order]


def vectors(given: Collection) -> embeddings.Embeddings:
    """Unit vectors, whose products with the gallery are the scores."""
    gallery = given.scores.filled(np.nan).T
    return embeddings.read_embeddings(np.eye(len(given.queries)), gallery, "dot", False, "run")


DOORS: dict[str, dict[str, Callable[[Collection], Given]]] = {
    "rows of lists": {
        "lists of items": lambda given: (given.judged(), given.ranked(), {}),
        "arrays of items": lambda given: (
            given.grades, [np.array(row, int) for row in given.ranked()], {},
        ),
    },
    "groups": {
        "in order": lambda given: grouped(given, cells(given)),
        "scattered": lambda given: grouped(given, by_column(given)),
    },
    "top-k ids": {
        "graded sets": lambda given: (given.judged(), topk(given), {}),
        "CSR": lambda given: (given.stored(), topk(given), {}),
        "32 bits": lambda given: (given.grades, topk(given).astype("i4"), {}),
    },
    "array of scores": {
        "masks": lambda given: (given.grades, given.scores, {}),
        "CSR": lambda given: (given.stored(), given.scores, {}),
        "graded sets": lambda given: (given.judged(), given.scores, {}),
    },
    "embeddings": {
        "masked grades": lambda given: (given.grades, vectors(given), {}),
        "CSR": lambda given: (given.stored(), vectors(given), {}),
    },
}  # fmt: skip
