"""What the first rows of a run show that its reduction does not: ranks, and ids nearly the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from germane.errors import clip
from germane.finding import Finding
from germane.retrieval import Qrels, Retrieved
from germane.sources import misses, precision, swapped
from germane.sources.files import TextFile
from germane.sources.ids import to_text
from germane.sources.numbers import EXACT

_FEW = 3  # rises that may be a matter of rounding
_ORDERED = 20  # neighbors of which chance does not put every one in ascending order


class Row(NamedTuple):
    """A row as a person reads it."""

    query: Hashable
    item: Hashable
    rank: float
    score: float
    written: bytes  # the score


def of_file(file: TextFile, qrels: Qrels, got: Retrieved) -> tuple[Finding, ...]:
    """What the first lines of a TREC run show."""
    rows = list(islice(_lines(file), misses.ROWS))
    alike = misses.of_rows(qrels, got, ((row.query, row.item) for row in rows))
    like_a_run = swapped.like_a_run(qrels)
    return (*like_a_run, *alike, *against_ranks(rows), *rising(rows), *inexact(rows))


def _lines(file: TextFile) -> Iterator[Row]:
    for block in file.blocks():
        for line in block.data.splitlines():
            fields = line.split()
            if len(fields) < 5 or fields[0].startswith(b"#"):
                continue
            try:
                rank, score = float(fields[3]), float(fields[4])
            except ValueError:
                continue
            yield Row(to_text(fields[0]), to_text(fields[2]), rank, score, fields[4])


def _by_query(rows: list[Row]) -> dict[Hashable, list[Row]]:
    found: dict[Hashable, list[Row]] = {}
    for row in rows:
        found.setdefault(row.query, []).append(row)
    return found


def against_ranks(rows: list[Row]) -> Iterator[Finding]:
    """Scores that rise where ranks do: a distance, where less is better, or a column mixed up."""
    rising, falling = [], 0
    for query in _by_query(rows).values():
        for one, other in pairwise(sorted(query, key=lambda row: row.rank)):
            if other.rank > one.rank and other.score > one.score:
                rising.append((one, other))
            falling += other.rank > one.rank and other.score < one.score
    if len(rising) < _FEW or falling:
        return
    one, other = rising[0]
    says = (
        f"the rank column contradicts the scores, which decide: for query {clip(one.query)} item "
        f"{clip(one.item)} has rank {one.rank:g} and score {one.score:g}, {clip(other.item)} rank "
        f"{other.rank:g} and score {other.score:g}"
    )
    advice = "Are they distances, where less is better? Then negate them."
    yield Finding("serious", "ranks against scores", says, len(rising), (), advice)


def rising(rows: list[Row]) -> Iterator[Finding]:
    """Scores that rise from each line to the next, where the rank column says nothing."""
    if len({row.rank for row in rows}) != 1:
        return
    steps = [
        other.score - one.score
        for query in _by_query(rows).values()
        for one, other in pairwise(query)
    ]
    rises = sum(step > 0 for step in steps)
    if len(steps) >= _ORDERED and min(steps) >= 0 and 2 * rises > len(steps):
        says = f"the scores of every query rise in the order given, over the first {len(steps):,} steps"
        advice = "Higher is better here. Are they distances? Then negate them."
        yield Finding("serious", "scores rise as given", says, len(rows), (), advice)


def inexact(rows: list[Row]) -> Iterator[Finding]:
    """Whole scores that doubles round to the same number."""
    if any(abs(row.score) >= EXACT for row in rows):
        for query, several in _by_query(rows).items():
            whole = [row for row in several if row.written.lstrip(b"+-").isdigit()]
            if precision.rounds(
                (row.written for row in whole), np.array([row.score for row in whole])
            ):
                yield precision.inexact(query)
                return
