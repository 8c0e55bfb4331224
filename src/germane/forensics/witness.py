"""Witnesses: judgments and a run whose means are the printed numbers, evaluated by germane."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.evaluation.evaluate import evaluate
from germane.forensics.decisions import Cells, Group, Way
from germane.forensics.list_program import Program, solve_weights, solve_whole_weights
from germane.forensics.list_values import Kinds, Lists, Value
from germane.presentation import writing

_JUDGMENTS, _RUN = "judgments.txt", "run.txt"

_LARGER = (15, 20, 30, 100)
"""Numbers of relevant items beyond the depth that a witness may have."""

_SIZES = (20, 100, 500)
_ROUNDED = (1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Numbers of queries that are tried, by an integer program and by rounding."""


@dataclass(frozen=True)
class Witness:
    """Judgments and a run with given means: of each query, R and the ranks of its hits."""

    queries: tuple[tuple[int, tuple[int, ...]], ...]
    depth: int

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The judgments: items d1, d2 … are relevant."""
        return {
            f"q{q}": {f"d{item}": 1 for item in range(1, relevant + 1)}
            for q, (relevant, _) in enumerate(self.queries, 1)
        }

    @property
    def run(self) -> dict[str, list[str]]:
        """The ranked lists: hits are the first relevant items, x1, x2 … are nobody's."""
        return {
            f"q{q}": [
                f"d{hits.index(rank) + 1}" if rank in hits else f"x{rank}"
                for rank in range(1, self.depth + 1)
            ]
            for q, (_, hits) in enumerate(self.queries, 1)
        }

    def save(self, folder: str) -> None:
        """Write judgments.txt and run.txt, as TREC has them."""
        writing.make_folders(folder, [""])
        judged = (
            f"{query} 0 {item} {grade}\n"
            for query, items in self.qrels.items()
            for item, grade in items.items()
        )
        ranked = (
            f"{query} Q0 {item} {rank} {self.depth - rank + 1} witness\n"
            for query, items in self.run.items()
            for rank, item in enumerate(items, 1)
        )
        for name, lines in ((_JUDGMENTS, judged), (_RUN, ranked)):
            writing.replace(os.path.join(folder, name), "".join(lines).encode())


def find_witness(way: Way, cells: Cells, queries: int | None) -> Witness | None:
    """Find judgments and a run with these numbers, of as few queries as are found in time.

    With ``queries``, of so many queries, or else of more. None where nothing is found.
    """
    if len(way.groups) != 1:
        return None
    (group,) = way.groups
    program = _make_program(group)
    means = group.read_means(cells, queries)
    if program is None or program.separate(means, sorted(means.low)) is not None:
        return None
    kinds = program.kinds
    low = np.array([float(means.low[place]) for place in sorted(means.low)])
    high = np.array([float(means.high[place]) for place in sorted(means.high)])
    values = kinds.low[:, sorted(means.low)]
    for counts in _list_counts(values, low, high, queries):
        witness = Witness(tuple(_repeat(kinds, counts)), program.lists.depth)
        if _has_numbers(witness, group, cells):
            return witness
    return None


def _make_program(group: Group) -> Program | None:
    """Make a program over lists that exist: with nothing beyond their depth, and a bounded R."""
    lists = group.program.lists
    low = [measure.low for measure in lists.measures]
    if lists.repeats or lists.ones or any(_is_open(m.low, m.high) for m in lists.measures):
        return None
    measures = tuple(type(m)(value, value) for m, value in zip(lists.measures, low, strict=True))
    larger = tuple(r for r in _LARGER if r > lists.depth)
    larger = larger or (2 * lists.depth,)
    return Program(Lists(measures, lists.depth, most=lists.most, larger=larger))


def _is_open(low: Value, high: Value) -> bool:
    """Is the value of a list that ends at its depth not the lower one?"""
    return low != high and high.tail == "none"


def _list_counts(values: Floats, low: Floats, high: Floats, queries: int | None) -> Iterator[Ints]:
    """List how often each list may occur: by an integer program, then by rounding weights."""
    weights = solve_weights(values, low, high)
    if weights is None:
        return
    for size in (queries,) if queries is not None else _SIZES:
        counts = solve_whole_weights(values, low, high, size, weights)
        if counts is not None:
            yield counts
    for size in _ROUNDED:
        if queries is not None and size % queries:
            size = queries * -(-size // queries)
        counts = np.floor(weights * size).astype(int)
        order = np.argsort(counts - weights * size, kind="stable")
        counts[order[: size - counts.sum()]] += 1
        yield counts


def _repeat(kinds: Kinds, counts: Ints) -> Iterator[tuple[int, tuple[int, ...]]]:
    for at in np.flatnonzero(counts):
        ranks = tuple(int(rank) for rank in np.flatnonzero(kinds.hits[at]) + 1)
        yield from [(int(kinds.relevant[at]), ranks)] * int(counts[at])


def _has_numbers(witness: Witness, group: Group, cells: Cells) -> bool:
    """Do the judgments and the run have the numbers, as germane evaluates them?"""
    readings = {
        column: reading
        for column, reading in zip(group.places, group.readings, strict=True)
        if column in cells
    }
    result: Any = evaluate(witness.qrels, witness.run, list({r.measure for r in readings.values()}))
    return all(
        cells[column].gives(result[reading.measure].mean) for column, reading in readings.items()
    )


def name_folder(row: str, number: int) -> str:
    """Name a folder for a row of a table, without signs that a path may not have."""
    return f"{number}-{re.sub(r'[^A-Za-z0-9]+', '-', row).strip('-')[:40] or 'row'}"
