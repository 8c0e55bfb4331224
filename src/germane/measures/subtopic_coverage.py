"""How many subtopics the first items have: recall, precision and average precision of subtopics."""

import numpy as np

from germane.core.ranking import Ranking
from germane.measures.definition import (
    ALWAYS,
    MEAN,
    REL,
    Definition,
    Parameter,
    write_depth,
    write_ranks,
)
from germane.measures.sets import count_ranks
from germane.measures.subtopics import (
    WEIGHTS,
    add_up,
    count_new,
    count_relevant,
    count_subtopics,
    find_covered,
    get_cells,
    sum_weights,
    write_sum,
    write_symbol,
    write_total,
)
from germane.measures.terms import ONE, Scored, weigh_hits

SYMBOL = write_symbol({"weights": "equal"})
COUNTED = Parameter(
    "subtopics",
    "relevant",
    "the subtopics that are counted: those with a relevant item, or all for which an item is"
    " judged",
    words=("relevant", "judged"),
)


def subtopic_recall(ranking: Ranking, k: int | None, rel: float, subtopics: str) -> Scored:
    relevant = norm = count_subtopics(ranking, rel)
    if subtopics == "judged":
        norm = np.bincount(get_cells(ranking).query, minlength=len(ranking))
    return Scored(count_new(ranking, k, rel), norm, relevant)


SUBTOPIC_RECALL = Definition(
    "StRecall",
    "Subtopic recall, or coverage: the share of subtopics in the first k items",
    subtopic_recall,
    lambda k, p: f"Σ subtopics that are new at i, {write_ranks(k)}",
    norm=lambda k, p: "S" if p["subtopics"] == "relevant" else "all judged subtopics",
    where=lambda k, p: SYMBOL if p["subtopics"] == "relevant" else "",
    example='score([{"a"}, {"a", "b"}, {"c"}], "StRecall@2") == 2 / 3',
    parameters=(REL, COUNTED, MEAN),
    aliases=("SubtopicRecall", "SubtopicCoverage", "strec"),
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "Zhai et al. divide by the number of all subtopics of the query; "
        "ndeval and NTCIREVAL's I-rec divide by the number of subtopics with a relevant item."
    ),
    cite="Zhai, Cohen & Lafferty, SIGIR 2003 (S-recall)",
)


def intent_aware_precision(ranking: Ranking, k: int | None, rel: float, weights: str) -> Scored:
    covered, _ = find_covered(ranking, rel)
    has = add_up(ranking, covered, np.ones(len(covered.row)), weights)
    total = sum_weights(ranking, rel, weights)
    terms = has * weigh_hits(ranking, ONE, ranking.end(k))
    return Scored(terms, count_ranks(ranking, k) * total, total)


INTENT_AWARE_PRECISION = Definition(
    "P_IA",
    "Intent-aware precision: the mean of P@k over the subtopics",
    intent_aware_precision,
    lambda k, p: (
        f"Σ {'weights' if p['weights'] == 'given' else 'number'} of subtopics of i,"
        f" {write_ranks(k)}"
    ),
    norm=lambda k, p: f"({write_depth(k)}·{write_total(p)})",
    where=lambda k, p: write_symbol(p),
    example='score([{"a"}, {"a", "b"}], "P_IA@2") == (1 + 2) / (2 * 2)',
    parameters=(REL, WEIGHTS, MEAN),
    aliases=("PIA",),
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "A list shorter than k counts as filled up with nonrelevant items. weights=given is the "
        "paper's mean over intents of given probabilities."
    ),
    cite="Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009",
)


def intent_aware_average_precision(ranking: Ranking, k: None, rel: float, weights: str) -> Scored:
    covered, earlier = find_covered(ranking, rel)
    precision = (earlier + 1) / ranking.rank[covered.row]
    share = precision / count_relevant(ranking, rel)[covered.cell]
    total = sum_weights(ranking, rel, weights)
    return Scored(add_up(ranking, covered, share, weights), total, total)


INTENT_AWARE_AVERAGE_PRECISION = Definition(
    "AP_IA",
    "Intent-aware average precision: the mean of AP over the subtopics",
    intent_aware_average_precision,
    lambda k, p: f"Σ {write_sum(p)}(items to i that have it)/i ÷ (all items that have it), i ≤ N",
    norm=lambda k, p: write_total(p),
    where=lambda k, p: write_symbol(p),
    example='score([{"a"}, {"a", "b"}], "AP_IA") == ((1 + 2 / 2) / 2 + 1 / 2) / 2',
    parameters=(REL, WEIGHTS, MEAN),
    aliases=("MAP_IA", "APIA"),
    cutoff=False,
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "AP of one subtopic is divided by its relevant items, as AP(norm=R). weights=given is the"
        " paper's mean over intents of given probabilities."
    ),
    cite="Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009",
)
