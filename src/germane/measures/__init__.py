"""The measures: one literal table, in print order."""

from germane.measures.definition import Definition, Parameter
from germane.measures.table import BY_NAME, TABLE
from germane.measures.terms import Scored, values

__all__ = ["BY_NAME", "TABLE", "Definition", "Parameter", "Scored", "values"]
