"""Levels below 0 (-l -1), which items without a judgment reach, and with -2 those pooled only.

trec_eval still counts judgments from 0 alone, both those that exist and those retrieved. So measures
that go down the list find more relevant items than there are; those that come up from its end stop
when they have seen as many as were retrieved; and those of counts or of judged items see none more.
"""

from dataclasses import replace

import numpy as np

from germane.core import ragged
from germane.core.ranking import Ranking
from germane.trec_eval.ranking import chosen, complete

DOWN = (
    "map", "gm_map", "Rprec", "recip_rank", "P", "recall", "binG", "map_cut", "relative_P",
    "success", "yaap", "map_avgjg", "P_avgjg",
)  # fmt: skip
"""Measures that go down the list."""
UP = ("iprec_at_recall", "Rprec_mult", "11pt_avg", "Rprec_mult_avgjg")
"""Measures that come up from its end."""


def from_the_top(ranking: Ranking, level: int) -> Ranking:
    """What reaches the level among the results, all of grade 1, as are all judgments from 0."""
    listed = complete(ranking)
    reached = chosen(listed, listed.relevance >= level)
    return replace(reached, relevance=np.ones(len(reached.rank)), ideal=np.ones(len(ranking.ideal)))


def from_the_end(ranking: Ranking, level: int) -> Ranking:
    """The last of these, as many as judged items were retrieved."""
    reached = from_the_top(ranking, level)
    counted = ragged.counts(ranking.relevance >= 0, ranking.owner, len(ranking))
    place = np.arange(len(reached.rank)) - reached.offsets[reached.owner]
    left = np.diff(reached.offsets)[reached.owner] - place
    return chosen(reached, left <= counted[reached.owner])
