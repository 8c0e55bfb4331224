"""Could any run have these means? A linear program over all kinds of lists, solved from its dual.

A mean over queries is a convex combination of the values of single lists. So means are possible if
and only if no inequality that holds for every list is broken by them. The program looks for the
inequality that is broken by most, over few lists at first, and adds lists that break the inequality
itself until none does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from germane.core.ragged import Floats
from germane.forensics.certificates import Certificate, find_bound, round_bound
from germane.forensics.list_values import Kinds, Lists

_ROUNDS = 60  # of added lists
_NOTHING = 1e-9  # an excess below it is left to the solver's rounding
_LITTLE = 1e-7  # and one below it is not looked for
_SUBSETS = 130  # sets of columns that are tried for fewer
_SIZES = (*range(1, 31), 36, 40, 48, 60, 72, 90, 120, 180, 240, 360, 500, 1000, 2000, 5000, 20000)
"""The largest whole number of a certificate: small ones first."""


class Means(NamedTuple):
    """What printed means may stand for: lower and upper bounds, by the place of the measure."""

    low: Mapping[int, Fraction]
    high: Mapping[int, Fraction]

    def narrow(self, share: Fraction) -> "Means":
        """Leave out a share of what each may stand for, on both sides."""
        margin = {place: share * (self.high[place] - low) / 2 for place, low in self.low.items()}
        return Means(
            {place: low + margin[place] for place, low in self.low.items()},
            {place: high - margin[place] for place, high in self.high.items()},
        )


def has_solver() -> bool:
    """Is SciPy installed?"""
    return find_spec("scipy") is not None


@dataclass(frozen=True)
class Program:
    """The program of some measures; lists that were needed once are kept for the next means."""

    lists: Lists
    unfinished: set[tuple[int, ...]] = field(default_factory=set)  # measures, when last tried
    _kinds: list[Kinds] = field(default_factory=list)
    _bounds: dict[tuple[tuple[int, int], ...], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.lists.measures)
        for up in (np.ones(count), np.zeros(count)):
            self._add(up, 1 - up)

    def _add(self, up: Floats, down: Floats) -> float:
        """Add the lists that are worth most, and return the highest worth."""
        worth, kinds = self.lists.price(up, down)
        self._kinds.append(kinds)
        return max(worth, float(self.lists.ones_high @ up))

    @property
    def kinds(self) -> Kinds:
        """The lists that were needed so far, each once."""
        joined = Kinds(*(np.concatenate(columns) for columns in zip(*self._kinds, strict=True)))
        rows = np.hstack([joined.hits, joined.relevant.reshape(len(joined.hits), -1)])
        return joined.take(np.sort(np.unique(rows, axis=0, return_index=True)[1]))

    def refute(self, means: Means) -> Certificate | None:
        """Find an inequality of the fewest measures that the means break; None if there is none.

        It is proved exactly: None, too, if that fails.
        """
        places = tuple(sorted(means.low))
        weights = self.separate(means, places)
        if weights is None:
            return None
        for fewer, separated in self._list_smaller(means, places, weights):
            certificate = self._round(means, fewer, separated)
            if certificate is not None:
                return certificate
        return None

    def excludes(self, means: Means) -> bool:
        """Do the means break an inequality, of however many measures, that is proved?

        Those that were proved before are tried first.
        """
        places = tuple(sorted(means.low))
        proved = (known for known in self._bounds if {place for place, _ in known} <= {*places})
        if any(self.prove(means, known) is not None for known in proved):
            return True
        weights = self.separate(means, places)
        return weights is not None and self._round(means, places, weights) is not None

    def separate(self, means: Means, places: Sequence[int]) -> Floats | None:
        """Find weights of an inequality that holds for every list and that means break.

        Variables are the weights up and down of each measure, with the sum 1, and the bound.
        """
        from scipy.optimize import linprog

        columns, count = list(places), len(places)
        goal = np.array(
            [
                *(-float(means.low[place]) for place in places),
                *(float(means.high[place]) for place in places),
                1.0,
            ]
        )
        total = np.array([[1.0] * (2 * count) + [0.0]])
        limits = [(0, None)] * (2 * count) + [(None, None)]
        for _ in range(_ROUNDS):
            low = np.concatenate([kinds.low for kinds in self._kinds])[:, columns]
            high = np.concatenate([kinds.high for kinds in self._kinds])[:, columns]
            if self.lists.ones:
                low = np.vstack([low, np.zeros(count)])
                high = np.vstack([high, self.lists.ones_high[columns]])
            table = np.hstack([high, -low, -np.ones((len(low), 1))])
            solved = linprog(
                goal, A_ub=np.vstack([table, total]), b_ub=np.array([0.0] * len(low) + [1.0]),
                bounds=limits, method="highs",
            )  # fmt: skip
            if solved.status != 0 or -solved.fun <= _LITTLE:
                self.unfinished.discard(tuple(places))
                return None
            up, down = np.zeros(len(self.lists.measures)), np.zeros(len(self.lists.measures))
            up[columns], down[columns] = solved.x[:count], solved.x[count:-1]
            worth = self._add(up, down)
            if worth <= max(solved.x[-1] + _NOTHING, solved.x[-1] - solved.fun / 2):
                return up - down
        self.unfinished.add(tuple(places))
        return None

    def _list_smaller(
        self, means: Means, places: Sequence[int], weights: Floats
    ) -> Iterator[tuple[tuple[int, ...], Floats]]:
        """List sets of measures that no run can have together: the smallest, then larger ones."""
        larger = [(tuple(places), weights)]
        kept = tuple(place for place in places if abs(weights[place]) > _NOTHING)
        larger.append((kept, weights))
        for place in sorted(kept, key=lambda place: abs(weights[place])):
            fewer = tuple(p for p in larger[-1][0] if p != place)
            separated = self.separate(means, fewer) if fewer else None
            if separated is not None:
                larger.append((fewer, separated))
        tried = 0
        for size in range(1, len(larger[-1][0])):
            for fewer in combinations(places, size):
                tried += 1
                separated = self.separate(means, fewer) if tried <= _SUBSETS else None
                if separated is not None:
                    yield fewer, separated
            if tried > _SUBSETS:
                break
        yield from reversed(larger)

    def _round(self, means: Means, places: Sequence[int], weights: Floats) -> Certificate | None:
        """Round weights to the smallest whole numbers whose inequality the means break."""
        largest = np.abs(weights).max()
        seen = set()
        for size in _SIZES:
            whole = np.rint(weights / largest * size).astype(int)
            key = tuple((place, int(whole[place])) for place in places if whole[place])
            if key in seen:
                continue
            seen.add(key)
            worth, _ = self.lists.price(np.maximum(whole, 0) * 1.0, np.maximum(-whole, 0) * 1.0)
            if float(_weigh(means, dict(key))) - worth <= _NOTHING * size:
                continue
            certificate = self.prove(means, key)
            if certificate is not None:
                return certificate
        return None

    def prove(self, means: Means, weights: tuple[tuple[int, int], ...]) -> Certificate | None:
        """Prove that no list exceeds a bound that means exceed; None if they do not."""
        if weights not in self._bounds:
            self._bounds[weights] = find_bound(self.lists, dict(weights))
        if self._bounds[weights] is None:
            return None
        exact, is_exact = self._bounds[weights]
        bound = round_bound(exact, is_exact=is_exact)
        excess = _weigh(means, dict(weights)) - bound
        if excess <= _NOTHING:
            return None
        return Certificate(weights, bound, is_exact, excess)


def _weigh(means: Means, weights: Mapping[int, int]) -> Fraction:
    """Compute the lowest value of Σ weight · measure that the means stand for."""
    return sum(
        (w * (means.low if w > 0 else means.high)[place] for place, w in weights.items()),
        Fraction(),
    )
