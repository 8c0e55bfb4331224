"""trec_eval's rbp and rbp_resid.

Neither is the measure it is named after: rbp is graded, each gain scaled to the least and the
greatest of the query's, which trec_eval begins to compare from memory that it never sets, and that
holds 0 in practice; and rbp_resid is 0 where nothing unjudged is retrieved. Both add up powers of p
that are multiplied up rank by rank, which is done here too, to the last bit.
"""

import numpy as np

from germane._ragged import Floats
from germane.ranking import Ranking
from germane.trec_eval.gains import Pairs, by_gain, gained, named_grades

_STEP = 1 << 20  # ranks looked at at a time


def precision(ranking: Ranking, pairs: Pairs) -> Floats:
    """Q: (1 - p)·Σ gain·p^(i - 1)."""
    p, given = _persistence(pairs), named_grades(pairs)
    highest = np.full(len(ranking), -1.0)
    np.maximum.at(highest, ranking.ideal_owner, ranking.ideal)
    least, most = np.zeros(len(ranking)), np.zeros(len(ranking))
    for top in np.unique(highest):
        worth = [0.0, *(gain for _, gain in by_gain(given, int(top)))]
        least[highest == top], most[highest == top] = min(worth), max(worth)
    gain, owner = gained(ranking.relevance, given), ranking.owner
    scaled = (least < 0) | (most > 1)
    span = np.where(scaled, most - least, 1.0)
    floor = np.where(scaled, least, 0.0)
    gain = np.where(ranking.relevance >= 0, (gain - floor[owner]) / span[owner], 0.0)
    power = _powers(p, int(ranking.rank.max(initial=0)))
    return (1.0 - p) * ranking.sums(gain * power[ranking.rank - 1])


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
