"""Judgments by several groups of people: each group judges on its own, and their values are averaged.

To a measure, a query's groups are as many queries. The ranking's queries are pairs of query and group;
what was retrieved for a query was retrieved for each of its groups.
"""

import numpy as np

from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Floats, Ints
from germane.kernel.ids import to_text
from germane.trec_eval.columns import Column
from germane.trec_eval.judgments import Line, groups_of
from germane.trec_eval.options import Options
from germane.trec_eval.ranking import ranking_of
from germane.trec_eval.scores import scorer


def values(
    columns: list[Column], lines: list[Line], items: Qrels, got: Retrieved, options: Options
) -> list[Floats]:
    """For each column, each query's mean over its groups of judgments."""
    qrels, query = groups_of(lines)
    ranking = ranking_of(qrels, _for_each(lines, items, got, qrels, query), options)
    value = scorer(ranking, options)
    groups = np.bincount(query, minlength=len(items))
    return [
        np.bincount(query, weights=value(column), minlength=len(items)) / groups
        for column in columns
    ]


def _for_each(
    lines: list[Line], items: Qrels, got: Retrieved, qrels: Qrels, query: Ints
) -> Retrieved:
    """What was retrieved, for each pair of query and group."""
    owner = np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets))
    item = np.array(
        [items.judged[q][to_text(line[3])] for q, line in zip(query[owner], lines, strict=True)]
    )
    hit_of = np.full(len(items.items), -1)
    hit_of[got.judgment] = np.arange(len(got.judgment))
    judgment = np.flatnonzero(hit_of[item] >= 0)
    hit = hit_of[item[judgment]]
    return Retrieved(
        judgment,
        owner[judgment],
        got.rank[hit],
        got.tied_from[hit],
        got.tied_to[hit],
        got.retrieved[query],
        got.answered[query],
        got.unknown,
    )
