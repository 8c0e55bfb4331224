"""Measures for incomplete judgments: they look at judged items only."""

import numpy as np

from germane.core import ragged
from germane.core.ranking import Ranking
from germane.measures.terms import Scored

EPSILON = 0.00001  # the smoothing constant of inferred AP


def bpref(ranking: Ranking, k: None, rel: float) -> Scored:
    total = ranking.total(rel)
    nonrelevant = (ranking.ideal >= 0) & (ranking.ideal < rel)
    available = ranking.judged(nonrelevant)
    worse = (ranking.relevance >= 0) & ~ranking.relevant(rel)
    before = ragged.running(worse, ranking.offsets, ranking.owner)
    most = total[ranking.owner]
    bound = np.maximum(np.minimum(available, total), 1)[ranking.owner]
    lost = np.minimum(before, most) / bound
    return Scored(np.where(ranking.relevant(rel), 1.0 - lost, 0.0), total, total)


def inferred_average_precision(ranking: Ranking, k: None, rel: float) -> Scored:
    relevant = ranking.relevant(rel)
    pooled = np.arange(len(ranking.rank)) - ranking.offsets[ranking.owner]
    judged = ragged.running(ranking.relevance >= 0, ranking.offsets, ranking.owner) - 1
    above = ranking.so_far(rel) - 1
    before = np.maximum(ranking.rank - 1, 1)
    inferred = (pooled / before) * (above + EPSILON) / (judged + 2 * EPSILON)
    terms = 1.0 / ranking.rank + (ranking.rank - 1) / ranking.rank * inferred
    return Scored(np.where(relevant, terms, 0.0), ranking.total(rel), ranking.total(rel))
