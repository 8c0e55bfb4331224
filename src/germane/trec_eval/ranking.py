"""A run under trec_eval's conventions: the ranking of every judged query.

Levels below 0 (-l -1) are reached by items without a judgment, and with -2 by pooled ones only.
trec_eval still counts judgments from 0 alone, both those that exist and those retrieved. So measures
that go down the list find more relevant items than there are; those that come up from its end stop
when they have seen as many as were retrieved; and those of counts or of judged items see none more.
"""

from dataclasses import replace

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.core.ranking import Ranking
from germane.core.retrieved import Retrieved
from germane.evaluation.judging import JudgedRun
from germane.trec_eval.options import Options

UNJUDGED, POOLED = -1, -2
"""trec_eval's grades for an item without a judgment, and for one whose judgment is negative."""


def make_ranking(qrels: Qrels, retrieved: Retrieved, options: Options) -> Ranking:
    """The ranking of all judged queries.

    trec_eval gives a query that the run lacks (-c) one made-up item, which nobody judged, and takes
    its traces back from some measures later. It is gone where -J or -M removes it.
    """
    policy = Policy(
        unjudged="remove" if options.judged_only else "nonrelevant",
        depth=options.depth or None,
    )
    judged = JudgedRun(qrels, retrieved, policy, retrieved.answered)
    ranking = _drop_negative(judged.rank("trec"))
    if options.depth == 0:
        ranking = _drop_all(ranking)
    elif not options.judged_only:
        made_up = np.where(retrieved.answered, ranking.retrieved, 1)
        ranking = replace(ranking, retrieved=made_up)
    return ranking


def list_all(ranking: Ranking) -> Ranking:
    """The ranking with every retrieved item as a hit, judged or not."""
    offsets = ragged.make_offsets(ranking.retrieved)
    relevance = np.full(offsets[-1], float(UNJUDGED))
    relevance[offsets[ranking.owner] + ranking.rank - 1] = ranking.relevance
    owner = ragged.find_owners(offsets)
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


def select_hits(ranking: Ranking, hits: ragged.Bools) -> Ranking:
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


def _drop_negative(ranking: Ranking) -> Ranking:
    """The ranking in which negative judgments are one grade, and none of the ideal ranking."""
    if not (ranking.ideal < 0).any():
        return ranking
    kept = ranking.ideal >= 0
    counts = ragged.count_flags(kept, ranking.ideal_owner, len(ranking))
    return replace(
        ranking,
        relevance=np.where(ranking.relevance < 0, POOLED, ranking.relevance),
        ideal=ranking.ideal[kept],
        ideal_offsets=ragged.make_offsets(counts),
    )


def _drop_all(ranking: Ranking) -> Ranking:
    """The ranking with nothing retrieved."""
    none = select_hits(ranking, np.zeros(len(ranking.rank), bool))
    return replace(none, retrieved=np.zeros_like(ranking.retrieved))


DOWN = (
    "map", "gm_map", "Rprec", "recip_rank", "P", "recall", "binG", "map_cut", "relative_P",
    "success", "yaap", "map_avgjg", "P_avgjg",
)  # fmt: skip
"""Measures that go down the list."""
UP = ("iprec_at_recall", "Rprec_mult", "11pt_avg", "Rprec_mult_avgjg")
"""Measures that come up from its end."""


def list_from_top(ranking: Ranking, level: int) -> Ranking:
    """The results that reach the level, all of grade 1, as are all judgments from 0."""
    listed = list_all(ranking)
    reached = select_hits(listed, listed.relevance >= level)
    return replace(reached, relevance=np.ones(len(reached.rank)), ideal=np.ones(len(ranking.ideal)))


def list_from_end(ranking: Ranking, level: int) -> Ranking:
    """The last of these, as many as judged items were retrieved."""
    reached = list_from_top(ranking, level)
    counted = ragged.count_flags(ranking.relevance >= 0, ranking.owner, len(ranking))
    place = np.arange(len(reached.rank)) - reached.offsets[reached.owner]
    left = np.diff(reached.offsets)[reached.owner] - place
    return select_hits(reached, left <= counted[reached.owner])
