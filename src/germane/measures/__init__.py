"""The measures: one file per family, in which each measure's row follows its function.

A new measure is a function and a ``Definition`` in the file of its family. ``germane.__init__`` lists its
name, for type checkers, in the same order. It has an oracle in ``tests/oracle.py``, and
``python docs/generate.py`` writes its page.
"""

from germane.measures import average, cascade, counts, first, gain, interpolated, sets, sparse
from germane.measures.definition import Definition, Parameter
from germane.measures.terms import Scored, compute_values

__all__ = ["BY_NAME", "QUANTITIES", "TABLE", "Definition", "Parameter", "Scored", "compute_values"]

_FAMILIES = (counts, sets, average, first, gain, cascade, interpolated, sparse)

TABLE: tuple[Definition, ...] = tuple(
    row for family in _FAMILIES for row in vars(family).values() if isinstance(row, Definition)
)
"""Every measure, in print order: family by family, as they follow each other in its file."""

BY_NAME = {row.name: row for row in TABLE}

# Measures of which more is not better.
QUANTITIES = frozenset(
    ("NumQ", "NumRet", "NumRel", "NumNonrelRet", "Judged", "Unjudged", "IDCG", "RBPResidual")
)
