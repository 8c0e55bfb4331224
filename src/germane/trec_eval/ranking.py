"""A run under trec_eval's conventions: which queries it stops at, and the ranking of the others."""

import numpy as np

from germane._records import replaced
from germane.judging import Judged
from germane.policy import Policy
from germane.ranking import Ranking
from germane.retrieval import Qrels, Retrieved
from germane.trec_eval.options import Options


def ranking_of(qrels: Qrels, retrieved: Retrieved, options: Options) -> Ranking:
    """The ranking of all judged queries.

    trec_eval gives a query that the run lacks (-c) one made-up item, which nobody judged, and takes
    its traces back from some measures later. It is gone where -J or -M removes it.
    """
    policy = Policy(
        unjudged="remove" if options.judged_only else "nonrelevant",
        depth=options.depth or None,
    )
    judged = Judged(qrels, retrieved, policy, retrieved.answered)
    ranking = judged.ranking("trec")
    if options.depth == 0:
        ranking = _nothing(ranking)
    elif not options.judged_only:
        made_up = np.where(retrieved.answered, ranking.retrieved, 1)
        ranking = replaced(ranking, retrieved=made_up)
    return ranking


def _nothing(ranking: Ranking) -> Ranking:
    """The ranking with nothing retrieved."""
    none = np.zeros(0, np.int64)
    return replaced(
        ranking,
        owner=none,
        rank=none,
        relevance=np.zeros(0),
        retrieved=np.zeros_like(ranking.retrieved),
        tied_from=none,
        tied_to=none,
        judgment=none,
    )
