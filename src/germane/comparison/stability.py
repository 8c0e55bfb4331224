"""Stability: how often the order of systems survives other queries."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.measures.measure import Measure
from germane.output.formatting import format_number
from germane.output.tabled import Tabled
from germane.output.tables import Table


@dataclass(frozen=True)
class Standing:
    """A system's place on the leaderboard of one measure, and on those of resampled queries."""

    system: str
    mean: float
    rank: int  # 1 is the best; equal means share the first of their ranks
    low: int  # the ranks that hold the middle of them, by the comparison's confidence
    high: int
    first: float  # how often it is the best, alone or together with others


@dataclass(frozen=True)
class Stability(Tabled):
    """How often the order of systems on one measure survives bootstrapping the queries.

    >>> runs = {"a": {"q": ["d"], "p": ["e"]}, "b": {"q": ["x", "d"], "p": ["x", "e"]}}
    >>> germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR").stability("RR").whole
    1.0
    """

    measure: Measure
    standings: tuple[Standing, ...]  # best first
    whole: float
    """how often no two systems change places"""
    neighbors: tuple[float, ...]
    """how often each system stays ahead of the next one"""
    tau: float
    """the mean Kendall τ between the leaderboard and those of resampled queries"""
    resamples: int
    confidence: float

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a system, best first."""
        number = partial(format_number, digits=digits)
        ahead = (*map(number, self.neighbors), "")
        rows = tuple(
            (s.system, number(s.mean), str(s.rank), f"{s.low}–{s.high}", number(s.first), stays)
            for s, stays in zip(self.standings, ahead, strict=True)
        )
        kept = f"kept whole in {self.whole:.1%} of {self.resamples:,} bootstrap samples"
        notes = (
            f"{self.measure}: {self.measure.definition}",
            f"order: {kept} of the queries; mean Kendall τ {self.tau:.3f}",
            f"likely ranks: the middle {100 * self.confidence:g}% of the samples",
            "first: how often it is best; ahead: how often it stays ahead of the next one",
        )
        columns = ("run", str(self.measure), "rank", "likely ranks", "first", "ahead")
        return Table(columns, rows, notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "measure": str(self.measure),
            "whole": self.whole,
            "tau": self.tau,
            "neighbors": list(self.neighbors),
            "standings": [asdict(standing) for standing in self.standings],
        }


def stability_of(
    measure: Measure, systems: Sequence[str], means: Floats, drawn: Floats, confidence: float
) -> Stability:
    """From the means of S systems, and their S × B means on resampled queries."""
    order = np.argsort(-means, kind="stable")
    means, drawn = means[order], drawn[order]
    near = 1e-12 * float(np.abs(means).max())  # equal means of resamples may differ by rounding
    ranks, places = np.ones(drawn.shape, int), np.ones(len(means), int)
    whole = np.ones(drawn.shape[1], bool)
    agree, untied, strict = np.zeros(drawn.shape[1]), np.zeros(drawn.shape[1]), 0
    for one, other in combinations(range(len(means)), 2):
        lead = drawn[one] - drawn[other]
        sign = (lead > near).astype(int) - (lead < -near)
        ranks[other] += sign > 0
        ranks[one] += sign < 0
        untied += sign != 0
        if means[one] > means[other] + near:
            places[other] += 1
            strict += 1
            agree += sign
            whole &= sign >= 0
    tail = (1 - confidence) / 2
    likely = np.quantile(ranks, (tail, 1 - tail), axis=1, method="nearest").astype(int)
    tau = agree / np.sqrt(np.maximum(strict * untied, 1))
    return Stability(
        measure=measure,
        standings=tuple(
            Standing(systems[s], float(means[i]), int(places[i]), int(likely[0, i]),
                     int(likely[1, i]), float(np.mean(ranks[i] == 1)))
            for i, s in enumerate(order.tolist())
        ),
        whole=float(whole.mean()),
        neighbors=tuple(
            float(np.mean(upper > lower + near)) for upper, lower in pairwise(drawn)
        ),
        tau=float(tau.mean()) if strict else 1.0,
        resamples=drawn.shape[1],
        confidence=confidence,
    )  # fmt: skip
