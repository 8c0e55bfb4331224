"""The ranks of relevant items themselves: the first, the last, or the mean of all."""

from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.errors import MeasureError, list_some
from germane.measures.definition import (
    MEAN,
    NO_RELEVANT,
    REL,
    Definition,
    Parameter,
    Range,
    Scored,
    Weight,
    bound_nowhere,
    weigh_hits,
    write_number,
)
from germane.measures.sets import mark_hits, weigh_first

_RANK = Weight(at=lambda rank: rank + 0.0, upto=lambda rank: rank * (rank + 1.0) / 2)
_RANK_BEFORE = Weight(at=lambda rank: rank - 1.0, upto=lambda rank: rank * (rank - 1.0) / 2)


def find_last_rank(ranking: Ranking, k: None, rel: float) -> Scored:
    relevant = ranking.relevant(rel)
    last = relevant & (ranking.so_far(rel) == ranking.count_found(rel, None)[ranking.owner])
    if ranking.ties == "grouped":  # the last group may hold several
        last &= ragged.count_running(last, ranking.offsets, ranking.owner) == 1
    return Scored(np.where(last, ranking.rank, 0), ranking.ones, ranking.total(rel))


LAST_RANK = Definition(
    "LastRank",
    "Rank of the last relevant item, known as coverage error",
    find_last_rank,
    lambda k, p: "rank of the last relevant item",
    example='score([0, 1, 0], "LastRank") == 2',
    parameters=(REL, MEAN),
    aliases=("coverage_error",),
    better="low",
    finds=False,
    range=bound_nowhere,
    cutoff=False,
    expected=False,
    middle=True,
    grouped=True,
    beyond="with a depth",
    extremes=lambda k, p: "whole lists",
    conventions="Relevant items that were not retrieved do not count.",
    undefined=(
        "0 if no relevant item was retrieved. This is not as good as it looks: if runs can miss all"
        " relevant items of a query, use MeanRank(of=all), which counts each miss. " + NO_RELEVANT
    ),
    cite="Tsoumakas, Katakis & Vlahavas, Mining Multi-label Data, 2010",
)


def mean_rank(ranking: Ranking, k: None, rel: float, of: str, missed: Any) -> Scored:
    """Add up ranks; what the list lacks has the rank ``missed``, or the one after the last."""
    total = ranking.total(rel)
    if of == "first":
        terms = weigh_first(ranking, None, rel, lambda rank: rank + 0.0)
        found = ranking.sum_hits(weigh_first(ranking, None, rel, lambda rank: rank**0.0))
        sought, norm = np.minimum(total, 1), ranking.ones
    else:
        terms = ranking.relevant(rel) * weigh_hits(ranking, _RANK, ranking.end(None))
        found = ranking.sum_hits(mark_hits(ranking, None, rel))
        sought, norm = total, total.astype(float)
    lost = sought - found
    after = ranking.retrieved + 1 if missed == "next" else _check_missed(ranking, missed)
    return Scored(terms, norm, total, rest=lost * after)


def _check_missed(ranking: Ranking, missed: float) -> float:
    """Return the rank of missed items. Raises MeasureError for one that results have."""
    if (ranking.retrieved >= missed).any():
        queries = [ranking.queries[q] for q in np.flatnonzero(ranking.retrieved >= missed)]
        raise MeasureError(
            f"missed={missed:.12g} is the rank of a result, and missed items stand behind all of"
            f" them: {list_some(queries)} ({len(queries)} of {len(ranking)} queries)."
            f" Write missed={int(ranking.retrieved.max()) + 1} or more."
        )
    return missed


def _write_missed(p: dict[str, Any]) -> str:
    return "(N+1)" if p["missed"] == "next" else write_number(p["missed"])


def _bound_rank(p: dict[str, Any]) -> Range | None:
    return None if p["missed"] == "next" else (0.0, p["missed"])


MEAN_RANK = Definition(
    "MeanRank",
    "Mean rank of the first relevant item, or of all of them",
    mean_rank,
    lambda k, p: (
        f"{_write_missed(p)}·(min(R,1) - (max rel(i), i ≤ N))"
        " + rank of the first relevant item, i ≤ N"
        if p["of"] == "first"
        else f"(Σ i·rel(i), i ≤ N) + {_write_missed(p)}·(R - hits)"
    ),
    norm=lambda k, p: "" if p["of"] == "first" else "R",
    where=lambda k, p: "" if p["of"] == "first" else "hits = Σ rel(i), i ≤ N",
    example='score([0, 1, 0, 1], "MeanRank(of=all)") == (2 + 4) / 2',
    parameters=(
        REL,
        Parameter(
            "of",
            "first",
            "the relevant items of a query whose ranks count: the first, as in RR, or all",
            words=("first", "all"),
        ),
        Parameter(
            "missed",
            "next",
            "the rank of a relevant item that was not retrieved: next is that after the last"
            " result, N+1; or a rank that no list reaches, such as 1001 for lists of 1,000",
            words=("next",),
            low=2.0,
            high=1e12,
            usual=(1001.0,),
        ),
        Parameter(
            "mean",
            "arithmetic",
            "how queries are averaged; median is their median, and the mean of the two in the"
            " middle where their number is even",
            words=("arithmetic", "geometric", "micro", "median"),
        ),
    ),
    better="low",
    finds=False,
    unanswered=lambda k, p: "1" if p["missed"] == "next" else write_number(p["missed"]),
    range=_bound_rank,
    cutoff=False,
    middle=True,
    conventions=(
        "With missed=next, a short list that misses everything does well, so compare lists of one"
        " length, or give missed= a number."
    ),
    undefined=NO_RELEVANT,
    cite=(
        "Bordes et al., NIPS 2013; the middle rank of ties: Berrendorf et al., On the Ambiguity of"
        " Rank-Based Evaluation of Entity Alignment or Link Prediction Methods, 2020"
    ),
)


def percentile_rank(ranking: Ranking, k: None, rel: float, length: Any) -> Scored:
    """Add up the share of the list above each relevant item; missed ones stand at the end."""
    total = ranking.total(rel)
    others = _count_others(ranking, length)[ranking.owner]
    above = ranking.relevant(rel) * weigh_hits(ranking, _RANK_BEFORE, ranking.end(None))
    terms = np.divide(above, others, out=np.zeros(len(above)), where=others > 0)
    found = ranking.sum_hits(mark_hits(ranking, None, rel))
    return Scored(terms, total, total, rest=total - found)


def _count_others(ranking: Ranking, length: Any) -> Floats:
    """Count the items beside one (Q). Raises MeasureError where there are more results."""
    if length == "retrieved":
        return np.maximum(ranking.retrieved - 1.0, 0.0)
    if (ranking.retrieved > length).any():
        queries = [ranking.queries[q] for q in np.flatnonzero(ranking.retrieved > length)]
        raise MeasureError(
            f"length={length:.12g} is less than the number of results: {list_some(queries)}"
            f" ({len(queries)} of {len(ranking)} queries)."
            f" Write length={int(ranking.retrieved.max())} or more."
        )
    return np.full(len(ranking), length - 1.0)


def _write_length(p: dict[str, Any]) -> str:
    return "N" if p["length"] == "retrieved" else write_number(p["length"])


PERCENTILE_RANK = Definition(
    "PercentileRank",
    "Percentile rank: the share of the list that stands above relevant items",
    percentile_rank,
    lambda k, p: f"(Σ (i-1)/({_write_length(p)}-1)·rel(i), i ≤ N) + R - hits",
    norm=lambda k, p: "R",
    where=lambda k, p: "hits = Σ rel(i), i ≤ N",
    example='score([0, 1, 0, 0, 1], "PercentileRank") == (1 / 4 + 4 / 4) / 2',
    parameters=(
        REL,
        Parameter(
            "length",
            "retrieved",
            "the number of items in the whole list: those retrieved, or a number of items, of which"
            " the list has the first",
            words=("retrieved",),
            low=1.0,
            high=1e12,
        ),
        MEAN,
    ),
    better="low",
    finds=False,
    unanswered=lambda k, p: "1",
    cutoff=False,
    middle=True,
    conventions=(
        "The first rank is 0 and the last 1; a random order has .5. A relevant item that was not"
        " retrieved counts as 1. With mean=micro all items of all users count the same, as in the"
        " original, which weighs each also by how much the user consumed."
    ),
    undefined=NO_RELEVANT,
    cite="Hu, Koren & Volinsky, ICDM 2008",
)


def inverse_penalty(ranking: Ranking, k: None, rel: float) -> Scored:
    """Find the precision at the last relevant item, where all of them were found."""
    reached = ranking.so_far(rel)
    last = ranking.relevant(rel) & (reached == ranking.total(rel)[ranking.owner])
    return Scored(np.where(last, reached / ranking.rank, 0.0), ranking.ones, ranking.total(rel))


INVERSE_PENALTY = Definition(
    "INP",
    "Inverse negative penalty: precision at the rank of the last relevant item",
    inverse_penalty,
    lambda k, p: "Σ P@i·rel(i), i ≤ N, R@i ≥ 1",
    example='score([1, 0, 0, 1], "INP") == 2 / 4',
    parameters=(REL, MEAN),
    aliases=("mINP",),
    finds=False,
    cutoff=False,
    expected=False,
    conventions=(
        "This is R divided by the rank of the last relevant item, the hardest to find; and 0 if one"
        " was not retrieved."
    ),
    undefined=NO_RELEVANT,
    cite="Ye, Shen, Lin, Xiang, Shao & Hoi, IEEE TPAMI 44(6), 2022",
)
