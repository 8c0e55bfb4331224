"""Measures for incomplete judgments: they look at judged items only."""

import numpy as np

from germane.core import ragged
from germane.core.ranking import Ranking
from germane.measures.definition import ALWAYS, MEAN, REL, Definition
from germane.measures.terms import Scored

EPSILON = 0.00001  # the smoothing constant of inferred AP
_NONRELEVANT = "n(i): items judged nonrelevant above i"


def bpref(ranking: Ranking, k: None, rel: float) -> Scored:
    total = ranking.total(rel)
    nonrelevant = (ranking.ideal >= 0) & (ranking.ideal < rel)
    available = ranking.count_judged(nonrelevant)
    worse = (ranking.relevance >= 0) & ~ranking.relevant(rel)
    before = ragged.count_running(worse, ranking.offsets, ranking.owner)
    most = total[ranking.owner]
    bound = np.maximum(np.minimum(available, total), 1)[ranking.owner]
    lost = np.minimum(before, most) / bound
    return Scored(np.where(ranking.relevant(rel), 1.0 - lost, 0.0), total, total)


BPREF = Definition(
    "bpref",
    "Binary preference: judged nonrelevant items ranked above relevant ones",
    bpref,
    lambda k, p: "Σ (1 - min(n(i),R) ÷ min(NR,R))·rel(i), i ≤ N",
    norm=lambda k, p: "R",
    where=lambda k, p: f"{_NONRELEVANT}, NR: items judged nonrelevant",
    example='score([1, 0, 1, 0], "bpref") == (1 + (1 - 1 / 2)) / 2',
    parameters=(REL, MEAN),
    aliases=("Bpref",),
    cutoff=False,
    expected=False,
    conventions="Unjudged items are skipped; NR counts items judged nonrelevant.",
    cite="Buckley & Voorhees, SIGIR 2004 (as corrected in trec_eval 8)",
    nonrelevant=True,
)


def inferred_average_precision(ranking: Ranking, k: None, rel: float) -> Scored:
    relevant = ranking.relevant(rel)
    pooled = np.arange(len(ranking.rank)) - ranking.offsets[ranking.owner]
    judged = ragged.count_running(ranking.relevance >= 0, ranking.offsets, ranking.owner) - 1
    above = ranking.so_far(rel) - 1
    before = np.maximum(ranking.rank - 1, 1)
    share = (above + EPSILON) / (judged + 2 * EPSILON)
    terms = 1.0 / ranking.rank + (ranking.rank - 1) / ranking.rank * (pooled / before) * share
    return Scored(np.where(relevant, terms, 0.0), ranking.total(rel), ranking.total(rel))


INFERRED_AVERAGE_PRECISION = Definition(
    "infAP",
    "Inferred AP, for a pool of which a random sample was judged",
    inferred_average_precision,
    lambda k, p: "Σ (1/i + (i-1)/i · p(i)/(i-1) · (r(i)+ε)/(r(i)+n(i)+2ε))·rel(i), i ≤ N",
    norm=lambda k, p: "R",
    where=lambda k, p: (
        f"p(i): items in the pool above i, r(i): relevant items above i, {_NONRELEVANT},"
        f" ε = {EPSILON:.5f}"
    ),
    example='score([1, 0], "infAP") == 1.0',
    parameters=(REL, MEAN),
    cutoff=False,
    expected=False,
    beyond=ALWAYS,
    conventions="A negative grade marks an item in the pool that was not judged.",
    cite="Yilmaz & Aslam, CIKM 2006",
    nonrelevant=True,
)
