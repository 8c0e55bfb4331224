"""The measures: one file per family, in which each measure's row follows its function.

A new measure is a function and a ``Definition`` in the file of its family. ``germane.__init__``
lists its name, for type checkers, in the same order. It has an oracle in ``tests/oracle.py``, and
``python docs/generate.py`` writes its page.
"""

from germane.core.ragged import Floats
from germane.core.rounding import unite_equal
from germane.measures import (
    average,
    cascade,
    compatibility,
    confusion,
    counts,
    diversity,
    exposure,
    first,
    gain,
    interpolated,
    popularity,
    sets,
    sparse,
    subtopic_coverage,
    subtopic_gain,
    subtopic_novelty,
    user_models,
)
from germane.measures.catalogue import CatalogueDefinition
from germane.measures.definition import Definition, Parameter
from germane.measures.terms import Scored, compute_values

__all__ = [
    "BY_NAME",
    "CATALOGUE",
    "LOW_IS_GOOD",
    "QUANTITIES",
    "TABLE",
    "Definition",
    "Parameter",
    "Scored",
    "compute_values",
    "find_merits",
]

_FAMILIES = (
    counts, sets, average, first, gain, cascade, user_models, interpolated, sparse, confusion,
    compatibility,
    subtopic_coverage, subtopic_novelty, subtopic_gain,
)  # fmt: skip

TABLE: tuple[Definition, ...] = tuple(
    row for family in _FAMILIES for row in vars(family).values() if isinstance(row, Definition)
)
"""Every measure, in print order: family by family, as they follow each other in its file."""

CATALOGUE: tuple[CatalogueDefinition, ...] = tuple(
    row
    for family in (exposure, popularity, diversity)
    for row in vars(family).values()
    if isinstance(row, CatalogueDefinition)
)
"""The measures of the catalogue, which look at whole lists."""

BY_NAME: dict[str, Definition] = {row.name: row for row in (*TABLE, *CATALOGUE)}

QUANTITIES = frozenset(name for name, row in BY_NAME.items() if row.better != "high")
"""Measures of which more is not better."""

LOW_IS_GOOD = frozenset(name for name, row in BY_NAME.items() if row.better == "low")
"""Measures of which less is better."""


def find_merits(name: str, means: Floats) -> list[float]:
    """Turn means of a measure into numbers that are higher for better runs; none if it has none.

    Means that differ by rounding alone have one merit.
    """
    if name in QUANTITIES and name not in LOW_IS_GOOD:
        return []
    merits: list[float] = ((-1 if name in LOW_IS_GOOD else 1) * unite_equal(means)).tolist()
    return merits
