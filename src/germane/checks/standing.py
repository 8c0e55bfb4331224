"""Standing: how often relevant results stand above the others of their query."""

from math import exp, lgamma
from typing import Any, NamedTuple

import numpy as np

from germane._ragged import Floats, Ints
from germane.retrieval import Qrels, Retrieved

CERTAIN = 5.0  # standard errors: no chance
LIKELY = 2.0
RARE = 1e-3  # no chance where all say it
WORSE = 0.4  # of the pairs: far from the half that chance gives
ENOUGH = 1 << 16  # results whose standing says what that of more would say


class Standing(NamedTuple):
    """How often a relevant result stands above another result of its query."""

    above: float  # share of all such pairs
    error: float  # its standard error where chance orders the results
    pairs: int
    chance: float = 1.0  # that a random order puts all of them last

    @property
    def is_good(self) -> bool:
        """Do higher scores go with relevance, as far as one can see?"""
        return self.above > 0.5 + LIKELY * self.error

    @property
    def is_worse_than_chance(self) -> bool:
        if self.above < min(WORSE, 0.5 - CERTAIN * self.error):
            return True
        return not self.above and self.chance <= RARE

    def says(self, where: str) -> str:
        """Say that relevant results stand there."""
        return (
            f"relevant results stand {where} chance would put them: above another result of their "
            f"query in {self.above:.0%} of all pairs, where chance gives 50%"
        )


def measure_standing(owner: Ints, rank: Any, retrieved: Ints) -> Standing | None:
    """Measure the standing of relevant results by their ranks; None where nothing is beside them.

    It is the statistic of Mann and Whitney, added up over the queries.
    """
    count = np.bincount(owner, minlength=len(retrieved))
    pairs = count * (retrieved - count)
    total = int(pairs.sum())
    if total <= 0:
        return None
    below = float(np.sum(rank)) - float((count * (count + 1)).sum()) / 2
    spread = float((pairs * (retrieved + 1.0)).sum()) / 12
    chance = _chance_of_last(count, retrieved) if below == total else 1.0
    return Standing(1 - below / total, spread**0.5 / total, total, chance)


def _chance_of_last(relevant: Ints, retrieved: Ints) -> float:
    """The probability that random orders put all relevant results last."""
    log = 0.0
    for count, of in zip(relevant.tolist(), retrieved.tolist(), strict=True):
        if 0 < count < of:
            log += lgamma(count + 1) + lgamma(of - count + 1) - lgamma(of + 1)
    return exp(log)


def standing_of(qrels: Qrels, got: Retrieved) -> Standing | None:
    """Measure the standing of what a run retrieved, or of its first queries where those are enough.

    Tied items stand in the middle of their group.
    """
    part = slice(_end_of_query(got.owner, ENOUGH))
    good = qrels.grades[got.judgment[part]] > 0
    rank: Floats = (got.tied_from[part][good] + got.tied_to[part][good]) / 2
    return measure_standing(got.owner[part][good], rank, got.retrieved)


def _end_of_query(owner: Ints, least: int) -> int:
    """Where the hits of a query end, after so many of them or more; a query's stand together."""
    ends = np.flatnonzero(owner[least:] != owner[least - 1 : -1])
    return least + int(ends[0]) if len(ends) else len(owner)
