"""Witnesses: judgments and a run whose means are the printed numbers, evaluated by germane."""

import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from germane.core.ragged import Ints
from germane.errors import GermaneWarning
from germane.evaluation.evaluate import evaluate
from germane.forensics.decisions import Cells, Group
from germane.forensics.graded_lists import GradedLists
from germane.forensics.list_program import Program
from germane.forensics.list_values import Kinds
from germane.forensics.whole_weights import list_counts
from germane.presentation import writing

_JUDGMENTS, _RUN = "judgments.txt", "run.txt"

_INSIDE = Fraction(3, 4)
_SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Numbers of queries that are tried."""


@dataclass(frozen=True)
class Witness:
    """Judgments and a run with given means.

    Of each query, the grades of its relevant items, the highest first, and the grades by rank.
    """

    queries: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The judgments: items d1, d2 … are relevant, the highest grades first."""
        return {
            f"q{q}": {f"d{item}": grade for item, grade in enumerate(judged, 1)}
            for q, (judged, _) in enumerate(self.queries, 1)
        }

    @property
    def run(self) -> dict[str, list[str]]:
        """The ranked lists: they end with the last hit, and x1, x2 … are not judged."""
        run: dict[str, list[str]] = {}
        for q, (judged, ranked) in enumerate(self.queries, 1):
            unused = {grade: judged.index(grade) + 1 for grade in set(judged)}
            run[f"q{q}"] = items = []
            last = max((rank for rank, grade in enumerate(ranked, 1) if grade), default=1)
            for rank, grade in enumerate(ranked[:last], 1):
                items.append(f"d{unused[grade]}" if grade else f"x{rank}")
                if grade:
                    unused[grade] += 1
        return run

    def save(self, folder: str) -> None:
        """Write judgments.txt and run.txt, as TREC has them."""
        writing.make_folders(folder, [""])
        judged = (
            f"{query} 0 {item} {grade}\n"
            for query, items in self.qrels.items()
            for item, grade in items.items()
        )
        ranked = (
            f"{query} Q0 {item} {rank} {len(items) - rank + 1} witness\n"
            for query, items in self.run.items()
            for rank, item in enumerate(items, 1)
        )
        for name, lines in ((_JUDGMENTS, judged), (_RUN, ranked)):
            writing.replace(os.path.join(folder, name), "".join(lines).encode())


def find_witness(
    lists: GradedLists, program: Program, group: Group, cells: Cells, queries: int | None
) -> Witness | None:
    """Find judgments and a run with these numbers, of as few queries as are found in time.

    With ``queries``, of so many queries, or else of a multiple. ``program`` is one of ``lists``,
    which has lists whose means are these numbers. None where nothing is found.
    """
    means = group.read_means(cells, queries)
    columns = sorted(means.low)
    program.separate(means.narrow(_INSIDE), columns)  # adds lists on all sides of the numbers
    rng = np.random.default_rng(0)
    kinds = lists.vary(program.kinds, rng)
    low, high = (
        np.array([float(side[place]) for place in columns]) for side in (means.low, means.high)
    )
    several = _SIZES if queries is None else [queries * -(-size // queries) for size in _SIZES]
    for sizes in ((queries,), (*dict.fromkeys(several),)) if queries else (_SIZES,):
        for counts in list_counts(kinds.low[:, columns], low, high, sizes, rng):
            witness = Witness(tuple(_repeat(kinds, counts)))
            if _has_numbers(witness, group, cells):
                return witness
    return None


def _repeat(kinds: Kinds, counts: Ints) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for at in np.flatnonzero(counts):
        of_grades = kinds.relevant[at].astype(int)
        judged = np.repeat(np.arange(len(of_grades), 0, -1), of_grades[::-1])
        yield from [(tuple(judged.tolist()), tuple(kinds.hits[at].tolist()))] * int(counts[at])


def _has_numbers(witness: Witness, group: Group, cells: Cells) -> bool:
    """Do the judgments and the run have the numbers, as germane evaluates them?"""
    readings = {
        column: reading
        for column, reading in zip(group.places, group.readings, strict=True)
        if column in cells
    }
    measures = list({reading.measure for reading in readings.values()})
    with warnings.catch_warnings():  # a run that nobody made may well be an unusual one
        warnings.simplefilter("ignore", GermaneWarning)
        result: Any = evaluate(witness.qrels, witness.run, measures)
    return all(
        cells[column].gives(result[reading.measure].mean) for column, reading in readings.items()
    )


def name_folder(row: str, number: int) -> str:
    """Name a folder for a row of a table, without signs that a path may not have."""
    return f"{number}-{re.sub(r'[^A-Za-z0-9]+', '-', row).strip('-')[:40] or 'row'}"
