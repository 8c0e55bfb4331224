"""Measures that count pairs of a relevant and another item, in the right order or the wrong one."""

from dataclasses import replace
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.definition import (
    MEAN,
    REL,
    Definition,
    Parameter,
    Scored,
    write_hits,
    write_number,
    write_ranks,
)
from germane.measures.sets import count_filled

_DEPTH = "with a depth"


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
