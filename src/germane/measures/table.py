"""The registry of measures: every family's rows, in print order."""

from germane.measures import average, cascade, counts, first, gain, interpolated, sets, sparse
from germane.measures.definition import Definition

TABLE: tuple[Definition, ...] = (
    *counts.ROWS,
    *sets.ROWS,
    *average.ROWS,
    *first.ROWS,
    *gain.ROWS,
    *cascade.ROWS,
    *interpolated.ROWS,
    *sparse.ROWS,
)

BY_NAME = {row.name: row for row in TABLE}
