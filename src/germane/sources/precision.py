"""Precision: whole scores that became equal because doubles cannot tell them apart."""

from collections.abc import Hashable, Iterable

import numpy as np

from germane._ragged import Floats
from germane.errors import clip
from germane.finding import Finding
from germane.sources.numbers import EXACT

WHOLE = frozenset({int, np.int64, np.uint64})  # types whose numbers a double may not hold


def rounds(given: Iterable[Hashable], scores: Floats) -> bool:
    """Are fewer scores different as doubles than as they were given?"""
    if not len(scores) or np.abs(scores).max() < EXACT:
        return False
    return len(set(given)) > len(set(scores.tolist()))


def inexact(query: Hashable) -> Finding:
    """What is said of a query with such scores."""
    says = f"query {clip(query)} has whole scores beyond 2^53, which doubles round: some are tied"
    return Finding("serious", "scores lose precision", says, 1)
