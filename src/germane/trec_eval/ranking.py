"""A run under trec_eval's conventions: the ranking of every judged query.

With -l -1 items without a judgment are relevant, and with -l -2 also items that were only pooled.
But trec_eval still counts only judgments from 0, both those that exist and those retrieved. So
measures that go down the list find more relevant items than exist; measures that come up from its
end stop after as many as were retrieved; and measures of counts or of judged items find no further
ones.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.core.ranking import Ranking
from germane.core.retrieved import Retrieved
from germane.evaluation.judging import JudgedRun, select_hits
from germane.trec_eval.options import Options

UNJUDGED, POOLED = -1, -2
"""trec_eval's grades for an item without a judgment, and for one whose judgment is negative."""


def make_ranking(qrels: Qrels, retrieved: Retrieved, options: Options) -> Ranking:
    """Make the ranking of all judged queries.

    With -c trec_eval gives a query that the run lacks one made-up item without a judgment, and
    corrects some measures for it later. -J and -M0 remove the item.
    """
    policy = _make_policy(options.judged_only, options.depth)
    judged = JudgedRun(qrels, retrieved, policy, retrieved.answered)
    ranking = _drop_negative(judged.rank("trec"))
    if options.depth == 0:
        none = select_hits(ranking, np.zeros(len(ranking.rank), bool))
        ranking = replace(none, retrieved=np.zeros_like(ranking.retrieved))
    elif not options.judged_only and not retrieved.answered.all():
        made_up = np.where(retrieved.answered, ranking.retrieved, 1)
        ranking = replace(ranking, retrieved=made_up)
    return ranking


@cache
def _make_policy(judged_only: bool, depth: int | None) -> Policy:
    return Policy(unjudged="remove" if judged_only else "nonrelevant", depth=depth or None)


def list_all(ranking: Ranking) -> Ranking:
    """Make every retrieved item a hit, judged or not."""
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


def _drop_negative(ranking: Ranking) -> Ranking:
    """Give all negative judgments one grade, and drop them from the ideal ranking."""
    if not (ranking.ideal < 0).any():
        return ranking
    nonnegative = ranking.ideal >= 0
    counts = ragged.count_flags(nonnegative, ranking.ideal_owner, len(ranking))
    return replace(
        ranking,
        relevance=np.where(ranking.relevance < 0, POOLED, ranking.relevance),
        ideal=ranking.ideal[nonnegative],
        ideal_offsets=ragged.make_offsets(counts),
    )


DOWN = (
    "map", "gm_map", "Rprec", "recip_rank", "P", "recall", "binG", "map_cut", "relative_P",
    "success", "yaap", "map_avgjg", "P_avgjg",
)  # fmt: skip
"""Measures that go down the list."""
UP = ("iprec_at_recall", "Rprec_mult", "11pt_avg", "Rprec_mult_avgjg")
"""Measures that come up from the end of the list."""


def list_from_top(ranking: Ranking, level: int) -> Ranking:
    """Keep the results that reach the level, and give them and all judgments from 0 the grade 1."""
    listed = list_all(ranking)
    reached = select_hits(listed, listed.relevance >= level)
    return replace(reached, relevance=np.ones(len(reached.rank)), ideal=np.ones(len(ranking.ideal)))


def list_from_end(ranking: Ranking, level: int) -> Ranking:
    """Keep the last results that reach the level, as many as judged items were retrieved."""
    reached = list_from_top(ranking, level)
    counted = ragged.count_flags(ranking.relevance >= 0, ranking.owner, len(ranking))
    place = np.arange(len(reached.rank)) - reached.offsets[reached.owner]
    left = np.diff(reached.offsets)[reached.owner] - place
    return select_hits(reached, left <= counted[reached.owner])
