"""Counts: what was judged and retrieved."""

import numpy as np

from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.measures.sets import hits
from germane.measures.terms import NOTHING, ONE, Scored, placed


def queries(ranking: Ranking, k: None) -> Scored:
    return _count(ranking, np.zeros(len(ranking.rank)), rest=1.0)


def retrieved(ranking: Ranking, k: int | None) -> Scored:
    return _count(ranking, np.zeros(len(ranking.rank)), rest=ranking.last(k).astype(float))


def relevant(ranking: Ranking, k: None, rel: float) -> Scored:
    return _count(ranking, np.zeros(len(ranking.rank)), rest=ranking.total(rel).astype(float))


def relevant_retrieved(ranking: Ranking, k: int | None, rel: float) -> Scored:
    return _count(ranking, hits(ranking, k, rel))


def nonrelevant_retrieved(ranking: Ranking, k: int | None, rel: float) -> Scored:
    nonrelevant = (ranking.relevance >= 0) & ~ranking.relevant(rel)
    return _count(ranking, nonrelevant * placed(ranking, ONE, ranking.end(k)))


def judged(ranking: Ranking, k: int | None, norm: str) -> Scored:
    terms = (ranking.relevance >= 0) * placed(ranking, ONE, ranking.end(k))
    whole = k is None or norm == "retrieved"
    return Scored(terms, ranking.last(k) if whole else np.full(len(ranking), k))


def unjudged(ranking: Ranking, k: int | None) -> Scored:
    among = judged(ranking, k, "k")
    return Scored(-among.terms, among.norm, rest=ranking.last(k).astype(float))


def _count(ranking: Ranking, terms: Floats, rest: Floats | float = NOTHING) -> Scored:
    return Scored(terms, ranking.ones, rest=rest)
