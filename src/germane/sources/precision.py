"""Precision: scores that became equal because doubles cannot tell them apart."""

from collections.abc import Hashable, Iterable

import numpy as np

from germane._ragged import Floats
from germane.errors import clip
from germane.finding import Finding
from germane.sources.numbers import EXACT

_WHOLE = frozenset({int, np.int64, np.uint64})
_FINER = frozenset(
    {"Decimal", "Fraction", "longdouble", "float128"}
)  # by name: importing takes time


def may_round(kind: type) -> bool:
    """Has this type numbers that a double does not hold?"""
    return kind in _WHOLE or kind.__name__ in _FINER


def count_rounded(given: Iterable[Hashable], scores: Floats) -> int:
    """How many scores became equal to another one as doubles."""
    given = list(given)
    if not given or (np.abs(scores).max() < EXACT and type(given[0]).__name__ not in _FINER):
        return 0
    return len(set(given)) - len(set(scores.tolist()))


def inexact(query: Hashable, kind: type = int) -> Finding:
    """What is said of a query with such scores."""
    what = "scores with more digits than doubles have"
    if kind.__name__ not in _FINER:
        what = "whole scores beyond 2^53, which doubles round"
    says = f"query {clip(query)} has {what}: some are tied"
    return Finding("serious", "scores lose precision", says, 1)
