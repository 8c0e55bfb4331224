"""A run under trec_eval's conventions: the ranking of every judged query."""

from dataclasses import replace

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy
from germane.core.qrels import Qrels, Retrieved
from germane.core.ranking import Ranking
from germane.evaluation.judging import Judged
from germane.trec_eval.options import Options

UNJUDGED, POOLED = -1, -2
"""trec_eval's grades for an item without a judgment, and for one whose judgment is negative."""


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
    ranking = _known(judged.ranking("trec"))
    if options.depth == 0:
        ranking = _nothing(ranking)
    elif not options.judged_only:
        made_up = np.where(retrieved.answered, ranking.retrieved, 1)
        ranking = replace(ranking, retrieved=made_up)
    return ranking


def complete(ranking: Ranking) -> Ranking:
    """The ranking with every retrieved item as a hit, judged or not."""
    offsets = ragged.offsets(ranking.retrieved)
    relevance = np.full(offsets[-1], float(UNJUDGED))
    relevance[offsets[ranking.owner] + ranking.rank - 1] = ranking.relevance
    owner = ragged.owners(offsets)
    rank = np.arange(1, len(owner) + 1) - offsets[owner]
    return replace(
        ranking,
        owner=owner,
        rank=rank,
        relevance=relevance,
        tied_from=rank,
        tied_to=rank,
        judgment=None,
    )


def chosen(ranking: Ranking, hits: ragged.Bools) -> Ranking:
    """The ranking with some of its hits."""
    return replace(
        ranking,
        owner=ranking.owner[hits],
        rank=ranking.rank[hits],
        relevance=ranking.relevance[hits],
        tied_from=ranking.tied_from[hits],
        tied_to=ranking.tied_to[hits],
        judgment=None,
    )


def _known(ranking: Ranking) -> Ranking:
    """The ranking in which negative judgments are one grade, and none of the ideal ranking."""
    if not (ranking.ideal < 0).any():
        return ranking
    kept = ranking.ideal >= 0
    counts = ragged.counts(kept, ranking.ideal_owner, len(ranking))
    return replace(
        ranking,
        relevance=np.where(ranking.relevance < 0, POOLED, ranking.relevance),
        ideal=ranking.ideal[kept],
        ideal_offsets=ragged.offsets(counts),
    )


def _nothing(ranking: Ranking) -> Ranking:
    """The ranking with nothing retrieved."""
    none = chosen(ranking, np.zeros(len(ranking.rank), bool))
    return replace(none, retrieved=np.zeros_like(ranking.retrieved))
