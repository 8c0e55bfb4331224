"""What the first lines of a TREC run show that its reduction does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from germane.finding import Finding
from germane.retrieval import Order, Qrels, Retrieved
from germane.sources import first_rows, misses, precision
from germane.sources.files import TextFile
from germane.sources.first_rows import Row
from germane.sources.ids import to_text
from germane.sources.numbers import EXACT


def of_file(file: TextFile, qrels: Qrels, got: Retrieved, order: Order) -> tuple[Finding, ...]:
    """What evaluating says of them."""
    rows = list(islice(_lines(file), misses.ROWS))
    return (*first_rows.of_rows(rows, qrels, got, order), *_inexact(rows))


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


def _inexact(rows: list[Row]) -> Iterator[Finding]:
    """Whole scores that doubles round to the same number."""
    if any(abs(row.score) >= EXACT for row in rows):
        for query, several in first_rows.by_query(rows).items():
            whole = [row for row in several if row.written.lstrip(b"+-").isdigit()]
            if precision.count_rounded(
                (row.written for row in whole), np.array([row.score for row in whole])
            ):
                yield precision.inexact(query)
                return
