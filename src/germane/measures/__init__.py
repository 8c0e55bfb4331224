"""The measures: one file per family, in which each measure's row follows its function.

A new measure is a function and a ``Definition`` in the file of its family. ``germane.__init__``
lists its name, for type checkers, in the same order. It has an oracle in ``tests/oracle.py``, and
``python docs/generate.py`` writes its page.
"""

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
    "QUANTITIES",
    "TABLE",
    "Definition",
    "Parameter",
    "Scored",
    "compute_values",
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

# Measures of which more is not better.
QUANTITIES = frozenset(
    (
        "NumQ",
        "NumRet",
        "NumRel",
        "NumNonrelRet",
        "Judged",
        "Unjudged",
        "IDCG",
        "RBPResidual",
        "FallOut",
        "RankingLoss",
        "LastRank",
    )
) | {row.name for row in CATALOGUE}
