"""Measures that count pairs of relevant and other items, or the cells of a table of both."""

from dataclasses import replace
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import MeasureError, PolicyError, list_some
from germane.measures.definition import (
    ALWAYS,
    MEAN,
    REL,
    Definition,
    Parameter,
    Scored,
    write_hits,
    write_number,
    write_ranks,
)
from germane.measures.sets import count_filled, count_ranks, mark_hits, write_divisor

ITEMS = Parameter(
    "items",
    "retrieved",
    "which items there are: those that were retrieved, or a number of items",
    words=("retrieved",),
    low=1.0,
    high=1e12,
)
_WORLD = (
    "With items=retrieved, the list is taken to contain every item, R is"
    " the number of relevant items in it, and k is at most N. If you give"
    " the number of items, a list shorter than k counts as filled up with"
    " items that are not relevant. Unjudged items count as not relevant."
)

_DEPTH = "with a depth"
_OF_LIST: dict[str, Any] = {
    "beyond": "with items=retrieved and a depth",
    "extremes": lambda k, p: "whole lists" if p["items"] == "retrieved" else "always",
}


def _count_items(
    ranking: Ranking, k: int | None, rel: float, items: Any
) -> tuple[Ints, Ints | Floats, Ints]:
    """Count the ranks looked at, the items that exist, and the relevant ones of them (Q each)."""
    if items == "retrieved":
        if (
            ranking.ties == "expected"
            and (ranking.tied_to > ranking.retrieved[ranking.owner]).any()
        ):
            raise PolicyError(
                "ties=expected with a depth that cuts through tied items has no closed form for a"
                " measure with items=retrieved; choose ties=trec, best or worst."
            )
        return count_filled(ranking, k), ranking.retrieved, ranking.count_found(rel, None)
    seen, total = count_ranks(ranking, k), ranking.total(rel)
    least = seen + total - ranking.count_found(rel, k)
    if (least > items).any():
        queries = [ranking.queries[q] for q in np.flatnonzero(least > items)]
        raise MeasureError(
            f"items={items:.12g} is too small for the ranks and the relevant items: "
            f"{list_some(queries)} ({len(queries)} of {len(ranking)} queries)."
        )
    return seen, np.full(len(ranking), items), total


def _write_ranks(k: int | None, p: dict[str, Any]) -> str:
    return write_divisor(k, "retrieved" if p["items"] == "retrieved" else "k")


def _write_items(p: dict[str, Any]) -> str:
    return "N" if p["items"] == "retrieved" else write_number(p["items"])


def _write_rejected(k: int | None, p: dict[str, Any]) -> str:
    """Write the accuracy of an empty list, whose ranks up to k hold other items."""
    items = _write_items(p)
    return "0" if items == "N" else f"({items} - R{f' - {k}' if k else ''}) ÷ {items}"


def _write_unrelated(k: int | None, p: dict[str, Any]) -> str:
    """Write the correlation of an empty list, whose ranks up to k hold other items."""
    items = _write_items(p)
    if items == "N" or k is None:
        return "0"
    return f"-{k}·R ÷ √({k}·R·({items} - R)·({items} - {k}))"


def _write_relevant(k: int | None, p: dict[str, Any]) -> str:
    return f"R = {write_hits(None)}" if p["items"] == "retrieved" else ""


def fall_out(ranking: Ranking, k: int | None, rel: float, items: Any) -> Scored:
    seen, every, total = _count_items(ranking, k, rel, items)
    nonrelevant = every - total
    hits, defined = mark_hits(ranking, k, rel), nonrelevant.astype(np.int64)
    return Scored(-hits, nonrelevant, defined, seen, judged=ranking.ones)


FALL_OUT = Definition(
    "FallOut",
    "Fall-out: the share of the nonrelevant items that was retrieved",
    fall_out,
    lambda k, p: f"({_write_ranks(k, p)} - {write_hits(k)})",
    norm=lambda k, p: f"({_write_items(p)} - R)",
    where=_write_relevant,
    example='score([1, 0, 0, 0], "FallOut@2") == 1 / 3',
    parameters=(REL, ITEMS, MEAN),
    better="low",
    finds=False,
    **_OF_LIST,
    grouped=True,
    conventions=_WORLD,
    undefined="If every item is relevant, or there are no items, no_relevant decides (default: 0).",
    cite="van Rijsbergen, Information Retrieval, 2nd ed., 1979, ch. 7",
)


def set_accuracy(ranking: Ranking, k: int | None, rel: float, items: Any) -> Scored:
    seen, every, total = _count_items(ranking, k, rel, items)
    return Scored(2 * mark_hits(ranking, k, rel), every, rest=every - total - seen)


SET_ACCURACY = Definition(
    "SetAccuracy",
    "Accuracy of the retrieved set: the share of relevant items in it and of others outside it",
    set_accuracy,
    lambda k, p: f"2·({write_hits(k)}) + {_write_items(p)} - R - {_write_ranks(k, p)}",
    norm=lambda k, p: _write_items(p),
    where=_write_relevant,
    example='score([1, 0, 0, 1], "SetAccuracy@1") == 3 / 4',
    parameters=(REL, ITEMS, MEAN),
    unanswered=_write_rejected,
    grouped=True,
    **_OF_LIST,
    conventions=_WORLD,
    undefined="0 if there are no items.",
    cite="Manning, Raghavan & Schütze, Introduction to Information Retrieval, 2008, ch. 8",
)


def matthews_correlation(ranking: Ranking, k: int | None, rel: float, items: Any) -> Scored:
    """MCC: true · true not - false · false not is items · hits - k · R."""
    seen, every, total = _count_items(ranking, k, rel, items)
    every = every.astype(float)
    spread = np.sqrt(seen * (total * (every - total)) * (every - seen))
    terms = every[ranking.owner] * mark_hits(ranking, k, rel)
    rest = np.where(spread > 0, -1.0 * seen * total, 0.0)
    return Scored(terms, spread, total, rest, judged=ranking.total(rel))


MATTHEWS_CORRELATION = Definition(
    "MCC",
    "Matthews correlation of being retrieved and being relevant",
    matthews_correlation,
    lambda k, p: f"{_write_items(p)}·({write_hits(k)}) - {_write_ranks(k, p)}·R",
    norm=lambda k, p: (
        f"√({_write_ranks(k, p)}·R·({_write_items(p)} - R)·({_write_items(p)} -"
        f" {_write_ranks(k, p)}))"
    ),
    where=_write_relevant,
    example='score([1, 0, 0, 1], "MCC@2") == 0',
    parameters=(REL, ITEMS, MEAN),
    finds=False,
    unanswered=_write_unrelated,
    grouped=True,
    **_OF_LIST,
    range=lambda p: (-1.0, 1.0),
    conventions=_WORLD + " Values range from -1 to 1.",
    undefined=(
        "0 if all items are relevant, or none, and 0 if all are retrieved, or"
        " none. "
        "If there are no relevant items, no_relevant decides (default: 0)."
    ),
    cite="Matthews, Biochimica et Biophysica Acta 405(2), 1975",
)


def area_under_roc(
    ranking: Ranking, k: int | None, rel: float, norm: str, negatives: Any
) -> Scored:
    """Count for each relevant hit the other items below it, and half of those tied with it."""
    relevant_found = ranking.count_found(rel, k)
    nonrelevant = (
        count_filled(ranking, k) - relevant_found
        if negatives == "all"
        else np.full(len(ranking), negatives)
    )
    before = ranking.rank - ranking.so_far(rel) - _count_tied_others(ranking, rel) / 2
    counted = ranking.mark_relevant(rel, k)
    if norm == "min":  # of tied ones, any: all of a group add the same
        place = ragged.count_running(ranking.relevant(rel), ranking.offsets, ranking.owner)
        counted = counted & (place <= nonrelevant[ranking.owner])
    below = np.maximum(nonrelevant[ranking.owner] - before, 0.0)
    total = ranking.total(rel)
    bounds = {"found": relevant_found, "R": total, "min": np.minimum(total, nonrelevant)}[norm]
    pairs = bounds * nonrelevant
    defined = pairs if norm == "found" else total
    return Scored(np.where(counted, below, 0.0), pairs, defined, judged=total)


def _count_tied_others(ranking: Ranking, rel: float) -> Floats | Ints | int:
    """Count the other items in each hit's group of equal scores, if it is one step (H)."""
    if ranking.ties != "grouped":
        return 0
    return ranking.tied_to - ranking.tied_from + 1 - ranking.count_tied(rel)[0]


_AUC_NORM = {"found": "hits", "R": "R", "min": "min(R,{})"}


def _write_negatives(k: int | None, p: dict[str, Any]) -> str:
    if p["negatives"] != "all":
        return write_number(p["negatives"])
    return "(N - hits)" if k is None else f"(min({k},N) - hits)"


AREA_UNDER_ROC = Definition(
    "AUROC",
    "Area under the ROC curve: the probability that a relevant item is ranked above another",
    area_under_roc,
    lambda k, p: (
        f"Σ {'' if p['negatives'] == 'all' else 'max'}({'' if p['negatives'] == 'all' else '0, '}"
        f"{_write_negatives(k, p)} - other items above i)·rel(i), {write_ranks(k)}"
        + f", i·P@i ≤ {_write_negatives(k, p)}"
        * (p["norm"] == "min")
    ),
    norm=lambda k, p: (
        f"({_AUC_NORM[p['norm']].format(_write_negatives(k, p))}·{_write_negatives(k, p)})"
    ),
    where=lambda k, p: f"hits = {write_hits(k)}",
    example='score([1, 0, 1, 0], "AUROC") == 3 / 4',
    parameters=(
        REL,
        Parameter(
            "norm",
            "found",
            "the relevant items that count: found counts those that were retrieved; R counts all,"
            " and missed ones stand below every other item; min counts at most as many as there are"
            " other items, the first ones of the list",
            words=("found", "R", "min"),
        ),
        Parameter(
            "negatives",
            "all",
            "the other items that count: all retrieved ones, or the first of them,"
            " up to this number",
            words=("all",),
            low=1.0,
            high=1e9,
        ),
        MEAN,
    ),
    aliases=("AUC", "ROC_AUC"),
    finds=False,
    expected=False,
    grouped=True,
    beyond="with a cutoff or a depth",
    extremes=lambda k, p: "whole lists" if k is None else "never",
    conventions=(
        "Other items are all retrieved items that are not relevant, judged or not. With"
        " ties=grouped, a tied pair counts half. With norm=found, missed relevant items do not"
        " count."
    ),
    undefined=(
        "With norm=found, the value is undefined if no relevant item or no other item was"
        " retrieved; with norm=R and norm=min, if there are no relevant items. Then no_relevant"
        " decides (default: 0)."
    ),
    cite=(
        "Hanley & McNeil, Radiology 143(1), 1982; negatives: McClish, Medical Decision Making 9(3),"
        " 1989"
    ),
)


def group_auc(ranking: Ranking, k: None, rel: float) -> Scored:
    """Weigh the AUROC of each user by the user's rows; with one kind of item, it has none."""
    scored = area_under_roc(ranking, None, rel, "found", "all")
    pairs = scored.norm[ranking.owner]
    rows = np.where(scored.norm > 0, ranking.retrieved, 0)
    terms = np.divide(scored.terms, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    return replace(scored, terms=terms * rows[ranking.owner], norm=rows)


GROUP_AUC = Definition(
    "GAUC",
    "Group AUC: the AUROC of each user, weighted by the number of the user's rows",
    group_auc,
    lambda k, p: "Σ (N - hits - other items above i)·rel(i), i ≤ N",
    norm=lambda k, p: "(hits·(N - hits))",
    where=lambda k, p: "hits = Σ rel(i), i ≤ N; users without both kinds of items are left out",
    weight=lambda k, p: "N",
    example='score([1, 0, 1, 0], "GAUC") == 3 / 4',
    parameters=(
        REL,
        Parameter(
            "mean",
            "micro",
            "how users are averaged: micro weighs each by the rows of their list, N; with"
            " arithmetic, uAUC, all users count the same",
            words=("micro", "arithmetic"),
        ),
    ),
    aliases=("group_auc",),
    finds=False,
    omits=True,
    cutoff=False,
    expected=False,
    grouped=True,
    beyond=_DEPTH,
    extremes=lambda k, p: "whole lists",
    conventions=(
        "N counts the rows of a user, such as impressions, so the run has to contain all of them,"
        " clicked or not. Tools count a tied pair as half a pair: that is ties=grouped. Weights"
        " from other data, such as clicks, are given to weigh() of AUROC's result."
    ),
    undefined=(
        "A user whose rows are all relevant, or none of them, has no AUC and is left out;"
        " no_relevant=error refuses them. A user that the run lacks weighs nothing in GAUC, and"
        " counts as 0 in uAUC unless missing=skip."
    ),
    cite="Zhou et al., Deep Interest Network for Click-Through Rate Prediction, KDD 2018",
)


def ranking_loss(ranking: Ranking, k: None, rel: float) -> Scored:
    relevant = ranking.relevant(rel)
    relevant_found = ranking.count_found(rel, None)
    above = np.where(relevant, ranking.rank - ranking.so_far(rel), 0)
    pairs = relevant_found * (ranking.retrieved - relevant_found)
    return Scored(above, pairs, pairs, judged=ranking.total(rel))


RANKING_LOSS = Definition(
    "RankingLoss",
    "Ranking loss: the share of pairs of a relevant and another item that are in the wrong order",
    ranking_loss,
    lambda k, p: "Σ (other items above i)·rel(i), i ≤ N",
    norm=lambda k, p: "(hits·(N - hits))",
    where=lambda k, p: f"hits = {write_hits(None)}",
    example='score([0, 1, 0], "RankingLoss") == 1 / 2',
    parameters=(REL, MEAN),
    better="low",
    finds=False,
    cutoff=False,
    expected=False,
    grouped=True,
    beyond=_DEPTH,
    extremes=lambda k, p: "whole lists",
    conventions=(
        "With ties=grouped, a tied pair counts as wrong. Relevant items that"
        " were not retrieved belong to no pair."
    ),
    undefined=(
        "If no relevant item or no other item was retrieved, no_relevant decides (default: 0)."
    ),
    cite="Tsoumakas, Katakis & Vlahavas, Mining Multi-label Data, 2010",
)


def recall_at_precision(ranking: Ranking, k: int | None, rel: float, precision: float) -> Scored:
    """Mark the relevant hits up to the last one whose precision is high enough."""
    counted = ranking.mark_relevant(rel, k)
    enough = counted & (ranking.so_far(rel) / ranking.rank >= precision)
    after = ragged.count_running(
        enough[::-1],
        ranking.offsets[-1] - ranking.offsets[::-1],
        len(ranking) - 1 - ranking.owner[::-1],
    )[::-1]
    return Scored((counted & (after > 0)).astype(float), ranking.total(rel), ranking.total(rel))


RECALL_AT_PRECISION = Definition(
    "RecallAtPrecision",
    "Recall at precision: the highest recall at a rank with enough precision",
    recall_at_precision,
    lambda k, p: f"max R@i, {write_ranks(k)}, P@i ≥ {write_number(p['precision'])}",
    example='score([1, 0, 0, 1, 1], "RecallAtPrecision(precision=0.6)") == 1',
    weight=lambda k, p: "R",
    parameters=(
        Parameter(
            "precision", 0.5, "the lowest precision that is enough", low=0.0, high=1.0, written=True
        ),
        REL,
        MEAN,
    ),
    expected=False,
    grouped=True,
    conventions="The value is 0 if no rank has this precision.",
    cite="Saito & Rehmsmeier, PLOS ONE 10(3), 2015",
)


# --- Measures for incomplete judgments: they look at judged items only ----------------------------

EPSILON = 0.00001  # the smoothing constant of inferred AP
_NONRELEVANT = "n(i): items judged nonrelevant above i"


def bpref(ranking: Ranking, k: None, rel: float) -> Scored:
    total = ranking.total(rel)
    nonrelevant = (ranking.ideal >= 0) & (ranking.ideal < rel)
    available = ranking.count_judged(nonrelevant)
    worse = (ranking.relevance >= 0) & ~ranking.relevant(rel)
    before = ragged.count_running(worse, ranking.offsets, ranking.owner)
    relevant_of_hit = total[ranking.owner]
    bound = np.maximum(np.minimum(available, total), 1)[ranking.owner]
    lost = np.minimum(before, relevant_of_hit) / bound
    return Scored(np.where(ranking.relevant(rel), 1.0 - lost, 0.0), total, total)


BPREF = Definition(
    "bpref",
    "Binary preference: judged nonrelevant items ranked above relevant ones",
    bpref,
    lambda k, p: "Σ (1 - min(n(i),R) ÷ min(NR,R))·rel(i), i ≤ N",
    norm=lambda k, p: "R",
    where=lambda k, p: f"{_NONRELEVANT}, NR: items judged nonrelevant",
    example='score([1, 0, 1, 0], "bpref") == (1 + (1 - 1 / 2)) / 2',
    parameters=(REL, MEAN),
    aliases=("Bpref",),
    cutoff=False,
    expected=False,
    conventions="Unjudged items are skipped. NR is the number of items judged nonrelevant.",
    cite="Buckley & Voorhees, SIGIR 2004 (as corrected in trec_eval 8)",
    nonrelevant=True,
)


def inferred_average_precision(ranking: Ranking, k: None, rel: float) -> Scored:
    relevant = ranking.relevant(rel)
    pooled = np.arange(len(ranking.rank)) - ranking.offsets[ranking.owner]
    judged = ragged.count_running(ranking.relevance >= 0, ranking.offsets, ranking.owner) - 1
    above = ranking.so_far(rel) - 1
    before = np.maximum(ranking.rank - 1, 1)
    share = (above + EPSILON) / (judged + 2 * EPSILON)
    terms = 1.0 / ranking.rank + (ranking.rank - 1) / ranking.rank * (pooled / before) * share
    return Scored(np.where(relevant, terms, 0.0), ranking.total(rel), ranking.total(rel))


INFERRED_AVERAGE_PRECISION = Definition(
    "infAP",
    "Inferred AP, for a pool of which a random sample was judged",
    inferred_average_precision,
    lambda k, p: "Σ (1/i + (i-1)/i · p(i)/(i-1) · (r(i)+ε)/(r(i)+n(i)+2ε))·rel(i), i ≤ N",
    norm=lambda k, p: "R",
    where=lambda k, p: (
        f"p(i): items in the pool above i, r(i): relevant items above i, {_NONRELEVANT},"
        f" ε = {EPSILON:.5f}"
    ),
    example='score([1, 0], "infAP") == 1.0',
    parameters=(REL, MEAN),
    cutoff=False,
    expected=False,
    beyond=ALWAYS,
    conventions="A negative grade marks an item in the pool that was not judged.",
    cite="Yilmaz & Aslam, CIKM 2006",
    nonrelevant=True,
)
