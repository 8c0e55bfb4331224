"""Measures that count the cells of a table of relevant and other, retrieved and missed items."""

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
