"""The measures: one file a family, in which each measure's row follows its function.

A new measure is a function and a row in its family's file, named in the file's ``ROWS``; ``table``
puts the families together. ``germane.__init__`` lists its name, for type checkers, in the same order.
It has an oracle in ``tests/oracle.py``, and ``python docs/generate.py`` writes its page.
"""

from germane.measures.definition import Definition, Parameter
from germane.measures.table import BY_NAME, TABLE
from germane.measures.terms import Scored, compute_values

__all__ = ["BY_NAME", "TABLE", "Definition", "Parameter", "Scored", "compute_values"]
