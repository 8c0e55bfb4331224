"""Counts of judged and of retrieved items."""

from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.measures.definition import (
    ALWAYS,
    JUDGED_AT,
    MEAN,
    REL,
    Definition,
    bound_nowhere,
    write_depth,
    write_hits,
    write_ranks,
)
from germane.measures.sets import DEPTH, mark_hits, write_divisor
from germane.measures.terms import NOTHING, ONE, Scored, weigh_hits


def count_queries(ranking: Ranking, k: None) -> Scored:
    return _count(ranking, rest=1.0)


QUERIES = Definition(
    "NumQ",
    "Queries evaluated",
    count_queries,
    lambda k, p: "number of queries",
    'score([0, 1], "NumQ") == 1',
    cutoff=False,
    aggregate="sum",
    better="neither",
    unanswered=lambda k, p: "1",
    range=bound_nowhere,
    middle=True,
    grouped=True,
    undefined="",
)


def count_retrieved(ranking: Ranking, k: int | None) -> Scored:
    return _count(ranking, rest=ranking.last(k).astype(float))


RETRIEVED = Definition(
    "NumRet",
    "Items retrieved",
    count_retrieved,
    lambda k, p: "number of items retrieved" + ("" if k is None else f" in the first {k}"),
    'score([0, 1, 0], "NumRet") == 3',
    aggregate="sum",
    better="neither",
    range=bound_nowhere,
    middle=True,
    grouped=True,
    undefined="",
)


def count_relevant(ranking: Ranking, k: None, rel: float) -> Scored:
    return _count(ranking, rest=ranking.total(rel).astype(float))


RELEVANT = Definition(
    "NumRel",
    "Relevant items, retrieved or not",
    count_relevant,
    lambda k, p: "number of relevant items that exist",
    'score([0, 1, 0], "NumRel", relevant=4) == 4',
    parameters=(REL,),
    cutoff=False,
    aggregate="sum",
    better="neither",
    unanswered=lambda k, p: "R",
    range=bound_nowhere,
    middle=True,
    grouped=True,
    undefined="",
)


def count_relevant_retrieved(ranking: Ranking, k: int | None, rel: float) -> Scored:
    return _count(ranking, mark_hits(ranking, k, rel))


RELEVANT_RETRIEVED = Definition(
    "NumRelRet",
    "Relevant items retrieved",
    count_relevant_retrieved,
    lambda k, p: write_hits(k),
    'score([0, 1, 1], "NumRelRet@2", relevant=4) == 1',
    parameters=(REL,),
    aggregate="sum",
    range=bound_nowhere,
    grouped=True,
    undefined="",
)


def count_nonrelevant_retrieved(ranking: Ranking, k: int | None, rel: float) -> Scored:
    nonrelevant = (ranking.relevance >= 0) & ~ranking.relevant(rel)
    return _count(ranking, nonrelevant * weigh_hits(ranking, ONE, ranking.end(k)))


NONRELEVANT_RETRIEVED = Definition(
    "NumNonrelRet",
    "Items judged nonrelevant that were retrieved",
    count_nonrelevant_retrieved,
    lambda k, p: f"Σ judged(i)·(1 - rel(i)), {write_ranks(k)}",
    'score([0, 1, 1], "NumNonrelRet") == 1',
    where=lambda k, p: JUDGED_AT,
    parameters=(REL,),
    aggregate="sum",
    better="neither",
    range=bound_nowhere,
    beyond=ALWAYS,
    grouped=True,
    nonrelevant=True,
    undefined="",
)


def compute_judged_share(ranking: Ranking, k: int | None, norm: str) -> Scored:
    terms = (ranking.relevance >= 0) * weigh_hits(ranking, ONE, ranking.end(k))
    whole = k is None or norm == "retrieved"
    return Scored(terms, ranking.last(k) if whole else np.full(len(ranking), k))


JUDGED = Definition(
    "Judged",
    "Share of the results that is judged",
    compute_judged_share,
    lambda k, p: f"Σ judged(i), {write_ranks(k)}",
    norm=lambda k, p: write_divisor(k, p["norm"]),
    where=lambda k, p: JUDGED_AT,
    example='score([0, 1], "Judged@4") == 2 / 4',
    parameters=(DEPTH, MEAN),
    better="neither",
    conventions=(
        "An item with a negative grade is in the pool but not judged. A list shorter than k counts"
        " as filled up with items that are not judged."
    ),
    undefined="0 if nothing was retrieved.",
    grouped=True,
    nonrelevant=True,
)


def compute_unjudged_share(ranking: Ranking, k: int | None) -> Scored:
    among = compute_judged_share(ranking, k, "k")
    return Scored(-among.terms, among.norm, rest=ranking.last(k).astype(float))


UNJUDGED = Definition(
    "Unjudged",
    "Share of the results that is not judged",
    compute_unjudged_share,
    lambda k, p: f"({write_divisor(k, 'retrieved')} - Σ judged(i), {write_ranks(k)})",
    norm=lambda k, p: write_depth(k),
    where=lambda k, p: JUDGED_AT,
    example='score([0, 1], "Unjudged@4") == 0',
    parameters=(MEAN,),
    better="neither",
    conventions="Ranks beyond a short list are neither judged nor unjudged.",
    undefined="0 if nothing was retrieved.",
    grouped=True,
    nonrelevant=True,
)


def _count(ranking: Ranking, terms: Floats | None = None, rest: Any = NOTHING) -> Scored:
    """Sum terms and rest, undivided."""
    return Scored(np.zeros(len(ranking.rank)) if terms is None else terms, ranking.ones, rest=rest)
