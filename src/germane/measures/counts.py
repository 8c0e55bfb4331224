"""Counts: what was judged and retrieved."""

import numpy as np

from germane._ragged import Floats
from germane.measures.terms import ONE, Scored, placed
from germane.ranking import Ranking


def queries(ranking: Ranking, k: None) -> Scored:
    return _count(ranking, np.zeros(len(ranking.rank)), rest=1.0)


def retrieved(ranking: Ranking, k: int | None) -> Scored:
    return _count(ranking, np.zeros(len(ranking.rank)), rest=ranking.last(k).astype(float))


def relevant(ranking: Ranking, k: None, rel: float) -> Scored:
    return _count(ranking, np.zeros(len(ranking.rank)), rest=ranking.total(rel).astype(float))


def relevant_retrieved(ranking: Ranking, k: int | None, rel: float) -> Scored:
    last = ranking.last(k)[ranking.owner]
    return _count(ranking, ranking.relevant(rel) * placed(ranking, ONE, last))


def nonrelevant_retrieved(ranking: Ranking, k: int | None, rel: float) -> Scored:
    nonrelevant = (ranking.relevance >= 0) & ~ranking.relevant(rel)
    return _count(ranking, nonrelevant * placed(ranking, ONE, ranking.last(k)[ranking.owner]))


def judged(ranking: Ranking, k: int | None, norm: str) -> Scored:
    last = ranking.last(k)
    terms = (ranking.relevance >= 0) * placed(ranking, ONE, last[ranking.owner])
    whole = k is None or norm == "retrieved"
    return Scored(terms, last if whole else np.full(len(ranking), k))


def unjudged(ranking: Ranking, k: int | None) -> Scored:
    among = judged(ranking, k, "k")
    return Scored(-among.terms, among.norm, rest=ranking.last(k).astype(float))


def _count(ranking: Ranking, terms: Floats, rest: Floats | float = 0.0) -> Scored:
    return Scored(terms, np.ones(len(ranking)), rest=rest)
