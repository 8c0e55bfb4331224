"""trec_eval's rbp and rbp_resid.

Neither is the measure it is named after: rbp is graded, each gain scaled to the least and the
greatest of the query's, which trec_eval begins to compare from memory that it never sets, and that
holds 0 in practice; and rbp_resid is 0 where nothing unjudged is retrieved. Both add up powers of p
that are multiplied up rank by rank, which is done here too, to the last bit.
"""

from dataclasses import replace

import numpy as np

from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.trec_eval.gains import Gain, Pairs, valued

_STEP = 1 << 20  # ranks looked at at a time


def precision(ranking: Ranking, pairs: Pairs) -> Floats:
    """Q: (1 - p)·Σ gain·p^(i - 1)."""
    p = _persistence(pairs)
    ranking, gains = valued(ranking, pairs)
    scaled = replace(gains, orders=list(map(_scaled, gains.orders)))
    gain = scaled.worth(ranking.relevance, ranking.owner)
    power = _powers(p, int(ranking.rank.max(initial=0)))
    return (1.0 - p) * ranking.sums(gain * power[ranking.rank - 1])


def _scaled(order: list[Gain]) -> list[Gain]:
    """The gains between 0 and 1, where one of them is not."""
    worth = [0.0, *(gain.worth for gain in order)]
    least, most = min(worth), max(worth)
    if least >= 0 and most <= 1:
        return order
    return [gain._replace(worth=(gain.worth - least) / (most - least)) for gain in order]


def residual(ranking: Ranking, pairs: Pairs) -> Floats:
    """Q: what rbp could gain if everything unjudged, retrieved or not, were relevant."""
    p = _persistence(pairs)
    most = int(ranking.retrieved.max(initial=0))
    power = _powers(p, most + 1)
    judged = ranking.relevance >= 0
    unjudged = ranking.retrieved - ranking.sums(judged)
    out = np.zeros(len(ranking))
    step = max(_STEP // max(most, 1), 1)
    for start in range(0, len(ranking), step):
        part = slice(start, start + step)
        at = np.arange(most) < ranking.retrieved[part, None]
        inside = judged & (ranking.owner >= start) & (ranking.owner < start + step)
        at[ranking.owner[inside] - start, ranking.rank[inside] - 1] = False
        added = np.add.accumulate(np.where(at, power[:most], 0.0), axis=1)
        total = added[:, -1] if most else np.zeros(len(at))
        out[part] = power[ranking.retrieved[part]] + (1 - p) * total
    return np.where(unjudged > 0, out, 0.0)


def _persistence(pairs: Pairs) -> float:
    """p: the last one given, or 0.9."""
    return ([0.9] + [value for name, value in pairs if name == "p"])[-1]


def _powers(p: float, count: int) -> Floats:
    """1, p, p², …, each the one before times p."""
    return np.multiply.accumulate(np.r_[1.0, np.full(max(count, 1), p)])
