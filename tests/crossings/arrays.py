"""Makes runs of arrays and embeddings, with and without ids."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import germane

from crossings.case import Case
from crossings.options import Data
from inputs import Numbered, Qrels, Scores


class Cells(Numbered):
    """The matrices of a collection, whose columns are in the order of its data."""

    def __init__(self, data: Data, run: Scores) -> None:
        self.queries = list(data.qrels)
        self.items = list(data.order)
        collapsed = "collapse" in data.options
        self._places = {} if collapsed else {item: at for at, item in enumerate(self.items)}
        self.grades = self._cells({} if collapsed else data.qrels)
        self.scores = self._cells(run)
        self._sign = 1 if data.options.get("scores") == "distances" else -1
        self._copies = int(data.has_copies)

    def ranked(self) -> list[list[int]]:
        lists = [
            sorted(
                np.flatnonzero(~np.ma.getmaskarray(row)).tolist(), key=lambda i: self._sign * row[i]
            )
            for row in self.scores
        ]
        return [one + one[: self._copies] for one in lists]

    def pair(self, *, distances: bool) -> tuple[Any, Any]:
        scores, ids = super().pair(distances=distances)
        if self._copies:
            lengths = np.count_nonzero(ids >= 0, axis=1)
            rows = np.flatnonzero(lengths)
            scores[rows, lengths[rows] - 1] = 9.0 * self._sign
        return scores, ids

    def number(self, given: Qrels) -> dict[int, dict[Any, float]]:
        """Write judgments of some queries as numbers; groups stay as they are."""
        return {
            self.queries.index(query): {
                self._places.get(item, item): grade for item, grade in judged.items()
            }
            for query, judged in given.items()
        }

    def pairs(self, given: Mapping[str, Iterable[str]]) -> dict[int, list[Any]]:
        """Write pairs of query and item as numbers; groups stay as they are."""
        return {
            self.queries.index(query): [self._places.get(item, item) for item in got]
            for query, got in given.items()
        }

    def judged(self) -> Any:
        return [
            {int(i): float(row[i]) for i in np.flatnonzero(~np.ma.getmaskarray(row))}
            for row in self.grades
        ]


def make_array(
    hold: Callable[[Cells], Any], judge: Callable[[Cells], Any], named: bool = False
) -> Callable[[Data, Path], Case]:
    """Hold runs as arrays, with or without ids of rows and columns."""

    def make(data: Data, folder: Path) -> Case:
        cells, others = Cells(data, data.run), Cells(data, data.other)
        options = dict(data.options)
        queries: list[Any] = [] if named else cells.queries
        collapsed = "collapse" in options
        if collapsed:
            options["collapse"] = [options["collapse"][item] for item in cells.items]
        judgments: Any = data.qrels if named or collapsed else judge(cells)
        people: Any = data.people
        if named:
            options |= {"query_ids": cells.queries, "item_ids": cells.items}
        else:
            for name in {"exclude", "only", "ignore", "seen"} & options.keys():
                options[name] = cells.pairs(options[name])
            if "catalogue" in options:
                options["catalogue"] = len(cells.items)
            people = cells.number(data.people)
            if collapsed:
                judgments = cells.number(data.qrels)
        return Case(
            judgments, hold(cells), hold(others), people, options, data.measures, folder,
            queries, [] if named else cells.items,
        )  # fmt: skip

    return make


def flatten(data: Data, folder: Path) -> Case:
    """Grades and scores of the cells, one after the other, each with its group."""
    cells, others = Cells(data, data.run), Cells(data, data.other)
    given = ~np.ma.getmaskarray(cells.grades)
    for one in (cells, others):
        given |= ~np.ma.getmaskarray(one.scores)
    at, columns = np.nonzero(given)
    place = {
        (cells.queries[q], cells.items[i]): number
        for number, (q, i) in enumerate(zip(at.tolist(), columns.tolist(), strict=True))
    }
    options = {**data.options, "group": [cells.queries[q] for q in at.tolist()]}
    for name in {"exclude", "only", "ignore", "seen"} & options.keys():
        options[name] = {
            query: [place.get((query, item), item) for item in got]
            for query, got in options[name].items()
        }
    people = np.ma.masked_all(len(at))
    for (query, item), number in place.items():
        if item in data.people.get(query, {}):
            people[number] = data.people[query][item]
    return Case(
        cells.grades[at, columns], cells.scores[at, columns], others.scores[at, columns], people, options,
        data.measures, folder, (), [cells.items[i] for i in columns.tolist()],
    )  # fmt: skip


def embed(named: bool) -> Callable[[Data, Path], Case]:
    """Unit vectors, whose products with the gallery are the scores."""

    def make(data: Data, folder: Path) -> Case:
        case = make_array(lambda cells: cells, lambda cells: cells.sparse(), named)(data, folder)
        options = {name: given for name, given in case.options.items() if name != "item_ids"}
        if named:
            options["gallery_ids"] = case.options["item_ids"]
        vectors = [
            (np.eye(len(one.queries)), one.scores.filled(np.nan).T)
            for one in (case.run, case.other)
        ]
        return replace(
            case, run=vectors[0], other=vectors[1], options={**options, "similarity": "dot"}
        )

    return make


def fill(data: Data) -> Data:
    """Retrieve every item for every query, as vectors do."""

    def fill(run: Scores) -> Scores:
        return {
            query: {item: run.get(query, {}).get(item, -3.0) for item in data.order}
            for query in data.qrels
        }

    return replace(data, run=fill(data.run), other=fill(data.other))


def label(data: Data) -> Data:
    """Judge every item: 1 for those of the query's label."""
    if "collapse" in data.options:
        return data
    qrels = {
        query: {item: float(at % 3 == q % 3) for at, item in enumerate(data.order)}
        for q, query in enumerate(data.qrels)
    }
    people = {
        query: {item: 1.0 - at % 2 for at, item in enumerate(data.order)} for query in data.people
    }
    return replace(data, qrels=qrels, people=people)


def make_labels(cells: Cells) -> germane.Labels:
    return germane.Labels(
        [f"label {q % 3}" for q in range(len(cells.queries))],
        [f"label {at % 3}" for at in range(len(cells.items))],
    )


def answer_all(data: Data) -> Data:
    """Answer every judged query: an array has a row for each."""
    return replace(
        data,
        run={query: data.run.get(query, {}) for query in data.qrels},
        other={query: data.other.get(query, {}) for query in data.qrels},
    )


def answer_and(adjust: Callable[[Data], Data]) -> Callable[[Data], Data]:
    return lambda data: adjust(answer_all(data))


def list_grades(cells: Cells) -> Any:
    return cells.grades
