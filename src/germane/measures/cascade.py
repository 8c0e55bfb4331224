"""Measures of a reader who may stop at every rank."""

import numpy as np

from germane.core import ragged
from germane.core.ranking import Ranking
from germane.measures.terms import Scored, gains, geometric, placed


def expected_reciprocal_rank(ranking: Ranking, k: int | None, max: float) -> Scored:
    stop = gains(ranking.relevance, "exp") / 2.0**max
    reached = np.ones(len(stop))
    inner = np.flatnonzero(np.diff(ranking.owner, prepend=-1) == 0)
    reached[inner] = ragged.running_product(1.0 - stop, ranking.offsets)[inner - 1]
    terms = np.where(ranking.within(k), reached * stop / ranking.rank, 0.0)
    total = ranking.judged(ranking.ideal > 0)
    return Scored(terms, ranking.ones, total)


def rank_biased_precision(ranking: Ranking, k: int | None, rel: float, p: float) -> Scored:
    terms = ranking.relevant(rel) * placed(ranking, geometric(p), ranking.end(k))
    return Scored(terms, ranking.ones, ranking.total(rel))


def residual(ranking: Ranking, k: int | None, p: float) -> Scored:
    weight = placed(ranking, geometric(p), ranking.end(k))
    judged = ranking.relevance >= 0
    return Scored(np.where(judged, -weight, 0.0), ranking.ones, rest=1.0)
