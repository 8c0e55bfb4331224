"""Standing: how often relevant results stand above the others of their query."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Floats, Ints

CERTAIN = 5.0  # standard errors: no chance
LIKELY = 2.0
RARE = 1e-3  # no chance where all say it
WORSE = 0.4  # of the pairs: far from the half that chance gives
ENOUGH = 1 << 16  # results whose standing says what that of more would say


@dataclass(frozen=True, eq=False)
class Standing:
    """How often a relevant result stands above another result of its query.

    Every query has ``count`` relevant results among ``retrieved`` ones.
    """

    above: float  # share of all such pairs
    pairs: int
    count: Ints
    retrieved: Ints

    @cached_property
    def error(self) -> float:
        """The standard error of the share where chance orders the results."""
        pairs = self.count * (self.retrieved - self.count)
        return math.sqrt(float((pairs * (self.retrieved + 1.0)).sum()) / 12) / self.pairs

    @property
    def is_good(self) -> bool:
        """Do higher scores go with relevance, as far as one can see?"""
        return self.above > 0.5 + LIKELY * self.error

    @property
    def is_worse_than_chance(self) -> bool:
        if self.above >= 0.5:
            return False
        if self.above < min(WORSE, 0.5 - CERTAIN * self.error):
            return True
        return not self.above and _chance_of_last(self.count, self.retrieved) <= RARE

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
    total = int(count.dot(retrieved - count))
    if total <= 0:
        return None
    below = float(rank.sum()) - int(count.dot(count + 1)) / 2
    return Standing(1 - below / total, total, count, retrieved)


def _chance_of_last(relevant: Ints, retrieved: Ints) -> float:
    """The probability that random orders put all relevant results last."""
    log = 0.0
    for count, of in zip(relevant.tolist(), retrieved.tolist(), strict=True):
        if 0 < count < of:
            log += math.lgamma(count + 1) + math.lgamma(of - count + 1) - math.lgamma(of + 1)
    return math.exp(log)


def standing_of(qrels: Qrels, got: Retrieved) -> Standing | None:
    """Measure the standing of what a run retrieved, or of its first queries where those are enough.

    Tied items stand in the middle of their group.
    """
    end = _end_of_query(got.owner, ENOUGH) if len(got.owner) > ENOUGH else len(got.owner)
    good = (qrels.grades[got.judgment[:end]] > 0).nonzero()[0]
    rank: Floats = got.rank[good]
    if got.is_tied:
        rank = (got.tied_from[good] + got.tied_to[good]) / 2
    return measure_standing(got.owner[good], rank, got.retrieved)


def _end_of_query(owner: Ints, least: int) -> int:
    """Where the hits of a query end, after so many of them or more; a query's stand together."""
    ends = np.flatnonzero(owner[least:] != owner[least - 1 : -1])
    return least + int(ends[0]) if len(ends) else len(owner)
