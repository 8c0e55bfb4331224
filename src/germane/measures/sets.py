"""Counts of judged and retrieved items, set measures, and the rank of the first relevant item."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.definition import (
    ALWAYS,
    JUDGED_AT,
    MEAN,
    NO_RELEVANT,
    NOTHING,
    ONE,
    REL,
    Definition,
    Parameter,
    Scored,
    bound_nowhere,
    weigh_hits,
    write_depth,
    write_hits,
    write_number,
    write_ranks,
)

if TYPE_CHECKING:
    from fractions import Fraction


def reciprocal_rank(ranking: Ranking, k: int | None, rel: float) -> Scored:
    terms = weigh_first(ranking, k, rel, lambda rank: 1.0 / rank)
    return Scored(terms, ranking.ones, ranking.total(rel))


RECIPROCAL_RANK = Definition(
    "RR",
    "Reciprocal rank of the first relevant item",
    reciprocal_rank,
    lambda k, p: f"1 ÷ rank of the first relevant item, {write_ranks(k)}",
    'score([0, 0, 1], "RR") == 1 / 3',
    parameters=(REL, MEAN),
    aliases=("MRR", "ReciprocalRank"),
    middle=True,
    cite="Voorhees, The TREC-8 Question Answering Track Report, 1999",
)


def weigh_first(
    ranking: Ranking, k: int | None, rel: float, worth: Callable[[Ints], Floats]
) -> Floats:
    """Give the first relevant hit of a query the worth of its rank, and the others 0 (H).

    If the order of ties is random, the first hit of the group of ties has the mean worth. The first
    relevant of r among n tied items stands on the group's j-th rank with probability
    S(j-1)·r/(n-j+1), where S(j) = Π_{t<j} (n-r-t)/(n-t): none among the first j.
    """
    if ranking.ties != "expected":
        first_hit = ranking.mark_relevant(rel, k) & (ranking.so_far(rel) == 1)
        return np.where(first_hit, worth(ranking.rank), 0.0)
    size, before = ranking.count_tied(rel)
    hit = np.flatnonzero(ranking.relevant(rel) & (ranking.so_far(rel) == 1) & (before == 0))
    r, first = size[hit], ranking.tied_from[hit]
    n = ranking.tied_to[hit] - first + 1
    steps = ragged.make_offsets(n - r + 1)
    row = ragged.find_owners(steps)
    j: Ints = np.arange(steps[-1]) - steps[row]  # from 0
    none_at = (n[row] - r[row] - j) / (n[row] - j)
    chance = 1 - none_at
    survived = ragged.accumulate_product(none_at, steps)
    inner = j > 0
    chance[inner] *= survived[np.flatnonzero(inner) - 1]
    rank = first[row] + j
    counted = np.where(rank <= ranking.last(k)[ranking.owner[hit]][row], chance * worth(rank), 0.0)
    terms = np.zeros(len(ranking.rank))
    terms[hit] = ragged.sum_rows(counted, row, len(hit))
    return terms


# --- Set measures: how many relevant items are among the first k, or among all retrieved ----------

DEPTH = Parameter("norm", "k", "the divisor of the count", words=("k", "retrieved"))
ROUNDING = Parameter(
    "rounding",
    "up",
    "how a multiple of R is rounded to a number of items: up is the"
    " definition; trec9 is "
    "int(share·R + 0.9), as in trec_eval; nearest is int(share·R + 0.5)",
    words=("up", "trec9", "nearest"),
)


def write_filled(k: int | None) -> str:
    """Write the ranks that a list fills of the first k, as part of a min(…)."""
    return "N" if k is None else f"{k},N"


def write_divisor(k: int | None, norm: str) -> str:
    """Write the number of ranks that a count is divided by."""
    return write_depth(k) if norm == "k" or k is None else f"min({k},N)"


def _write_multiple(p: dict[str, Any]) -> str:
    share = "R" if p["mult"] == 1 else f"{write_number(p['mult'])}·R"
    multiples = {"up": f"⌈{share}⌉", "trec9": f"⌊{share} + 0.9⌋", "nearest": f"⌊{share} + 0.5⌋"}
    return "R" if p["mult"] == 1 and p["rounding"] == "up" else multiples[p["rounding"]]


def _write_signed(factor: float) -> str:
    return f"{'-' if factor < 0 else '+'} {write_number(abs(factor))}"


def count_ranks(ranking: Ranking, k: int | None) -> Ints:
    """Count the ranks that a sum is over (Q): k, or all retrieved where there is no cutoff."""
    return ranking.retrieved if k is None else np.full(len(ranking), k)


def count_filled(ranking: Ranking, k: int | None) -> Ints:
    """Count the first k ranks that a list fills (Q)."""
    filled: Ints = np.minimum(ranking.retrieved, count_ranks(ranking, k))
    return filled


def count_most(ranking: Ranking, total: Ints, k: int | None, norm: str) -> Ints:
    """Count the most relevant items that a list can hold (Q): of k ranks, or of those it fills.

    Without a cutoff, norm=min sets no limit, and possible that of the list.
    """
    if norm == "possible":
        return np.minimum(total, count_filled(ranking, k))
    return total if k is None else np.minimum(total, k)


def write_most(k: int | None, norm: str) -> str:
    """Write the most relevant items that a list can hold."""
    if norm == "possible":
        return f"min(R,{write_filled(k)})"
    return "R" if k is None else f"min(R,{k})"


def mark_hits(ranking: Ranking, k: int | None, rel: float) -> Floats:
    """Mark each relevant hit within k by 1 (H)."""
    if ranking.ties != "expected":
        return ranking.mark_relevant(rel, k).astype(float)
    return ranking.relevant(rel) * weigh_hits(ranking, ONE, ranking.end(k))


def precision(ranking: Ranking, k: int | None, rel: float, norm: str) -> Scored:
    divisor = count_ranks(ranking, k) if norm == "k" else count_filled(ranking, k)
    return Scored(mark_hits(ranking, k, rel), divisor, ranking.total(rel))


PRECISION = Definition(
    "P",
    "Precision",
    precision,
    lambda k, p: write_hits(k),
    norm=lambda k, p: write_divisor(k, p["norm"]),
    example='score([1, 0, 1], "P@5") == 2 / 5',
    parameters=(REL, DEPTH, MEAN),
    aliases=("Precision", "SetP"),
    conventions=(
        "A list shorter than k counts as filled up with nonrelevant items. With"
        " norm=retrieved, the hits are divided by min(k,N) instead. Without a"
        " cutoff, all retrieved items count, and the hits are divided by their"
        " number."
    ),
    undefined="0 if nothing was retrieved. " + NO_RELEVANT,
    grouped=True,
)


def recall(ranking: Ranking, k: int | None, rel: float, norm: str) -> Scored:
    total = ranking.total(rel)
    divisor = total if norm == "R" else count_most(ranking, total, k, norm)
    return Scored(mark_hits(ranking, k, rel), divisor, total)


RECALL = Definition(
    "R",
    "Recall",
    recall,
    lambda k, p: write_hits(k),
    norm=lambda k, p: "R" if p["norm"] == "R" else write_most(k, p["norm"]),
    example='score([1, 0, 1], "R@2", relevant=4) == 1 / 4',
    parameters=(
        REL,
        Parameter("norm", "R", "the divisor of the hits", words=("R", "min", "possible")),
        MEAN,
    ),
    aliases=("Recall", "SetR"),
    conventions=(
        "norm=min divides by the largest number of relevant items that k"
        " results can contain (capped recall), and norm=possible by the largest"
        " number that this list can contain up to rank k. Without a cutoff, R"
        " and min are the same."
    ),
    middle=True,
    grouped=True,
)


def f_measure(ranking: Ranking, k: int | None, rel: float, beta: float) -> Scored:
    total = ranking.total(rel)
    terms = (1 + beta**2) * mark_hits(ranking, k, rel)
    return Scored(terms, beta**2 * total + count_ranks(ranking, k), total)


F_MEASURE = Definition(
    "F",
    "F measure, the weighted harmonic mean of precision and recall",
    f_measure,
    lambda k, p: f"Σ (1+β²)·rel(i), {write_ranks(k)}",
    norm=lambda k, p: f"(β²·R + {write_depth(k)})",
    where=lambda k, p: f"β = {write_number(p['beta'])}",
    example='score([1, 0, 1], "F@3", relevant=4) == 2 * 2 / (4 + 3)',
    parameters=(
        Parameter(
            "beta",
            1.0,
            "how much more recall counts than precision",
            low=0.0,
            high=1e6,
            usual=(0.5, 2.0),
        ),
        REL,
        MEAN,
    ),
    aliases=("F1", "SetF"),
    conventions="The quotient equals (1+β²)·P·R / (β²·P + R) at the same cutoff.",
    cite="van Rijsbergen, Information Retrieval, 2nd ed., 1979, ch. 7",
    grouped=True,
)


def r_precision(ranking: Ranking, k: None, rel: float, mult: float, rounding: str) -> Scored:
    total = ranking.total(rel)
    cutoff = round_share(to_fraction(mult), total, rounding)
    last = np.minimum(cutoff, ranking.retrieved)[ranking.owner]
    return Scored(ranking.relevant(rel) * weigh_hits(ranking, ONE, last), cutoff, total)


R_PRECISION = Definition(
    "Rprec",
    "R-precision: precision at rank R, or at a multiple of it",
    r_precision,
    lambda k, p: f"Σ rel(i), i ≤ {_write_multiple(p)}",
    norm=lambda k, p: _write_multiple(p),
    where=lambda k, p: "" if p["mult"] == 1 or p["rounding"] == "up" else "in double precision",
    example='score([1, 0, 1, 1], "Rprec", relevant=3) == 2 / 3',
    parameters=(
        REL,
        Parameter("mult", 1.0, "the cutoff as a multiple of R", low=0.0, high=1e6, open_ends=True),
        ROUNDING,
        MEAN,
    ),
    aliases=("RPrecision",),
    cutoff=False,
)


def to_fraction(written: float) -> "Fraction":
    """Return the decimal that a parameter was written as: 0.1, not the double nearest to it."""
    from fractions import Fraction

    return Fraction(repr(written))


def _round_up_share(part: "Fraction", total: Ints) -> Ints:
    """Find the least whole number that is at least ``part · total``.

    Exact, because 0.07 · 100 is a little more than 7 in doubles, and 8 would be wrong; and in
    Python's integers, because a long decimal times R needs more than 64 bits.
    """
    different, place = np.unique(total, return_inverse=True)
    above, below = part.numerator, part.denominator
    out: Ints = np.array([-(-above * n // below) for n in different.tolist()], np.int64)
    return out[place]


def round_share(part: "Fraction", total: Ints, rounding: str) -> Ints:
    """Round ``part · total`` to a number of items (Q)."""
    match rounding:
        case "up":
            return _round_up_share(part, total)
        case "trec9":
            return (float(part) * total + 0.9).astype(np.int64)
        case "double":  # the least h with h / total >= part, as doubles compare
            hits = _round_up_share(part, total) - 1
            return hits + (hits / np.maximum(total, 1) < float(part))
        case _:
            return np.floor(float(part) * total + 0.5).astype(np.int64)


def success(ranking: Ranking, k: int | None, rel: float) -> Scored:
    terms = weigh_first(ranking, k, rel, lambda rank: np.ones(len(rank)))
    return Scored(terms, ranking.ones, ranking.total(rel))


SUCCESS = Definition(
    "Success",
    "Success: is any of the first k relevant?",
    success,
    lambda k, p: f"max rel(i), {write_ranks(k)}",
    'score([0, 0, 1], "Success@2") == 0',
    parameters=(REL, MEAN),
    aliases=("Hit", "HitRate", "HR"),
    middle=True,
)


def find_all(ranking: Ranking, k: int | None, rel: float) -> Scored:
    """Mark the hit within k by which all relevant items of its query are found."""
    total = ranking.total(rel)
    last = ranking.mark_relevant(rel, k) & (ranking.so_far(rel) == total[ranking.owner])
    return Scored(last.astype(float), ranking.ones, total)


ALL_FOUND = Definition(
    "AllFound",
    "All found: are all relevant items among the first k?",
    find_all,
    lambda k, p: f"max rel(i), {write_ranks(k)}, R@i ≥ 1",
    'score([1, 0, 1], "AllFound@3") == 1',
    parameters=(REL, MEAN),
    aliases=("RecallAll",),
    finds=False,
    expected=False,
    conventions=(
        "Success asks for one of the relevant items, and R for their share. If a query has more"
        " than k relevant items, the value is 0."
    ),
    cite="Wu et al., LongMemEval, ICLR 2025, where it is recall_all",
)


def set_average_precision(ranking: Ranking, k: int | None, rel: float) -> Scored:
    relevant_found, depth = ranking.count_found(rel, k), count_ranks(ranking, k)
    set_precision = relevant_found / np.maximum(depth, 1)
    total = ranking.total(rel)
    return Scored(mark_hits(ranking, k, rel) * set_precision[ranking.owner], total, total)


SET_AVERAGE_PRECISION = Definition(
    "SetAP",
    "Set average precision: precision times recall",
    set_average_precision,
    lambda k, p: f"Σ rel(i)·P@{write_depth(k)}, {write_ranks(k)}",
    norm=lambda k, p: "R",
    example='score([1, 0, 1], "SetAP", relevant=4) == 2 / 3 * 2 / 4',
    parameters=(REL, MEAN),
    expected=False,
    grouped=True,
)


def utility(
    ranking: Ranking, k: int | None, rel: float, hit: float, noise: float, miss: float
) -> Scored:
    terms = (hit - noise - miss) * mark_hits(ranking, k, rel)
    rest = noise * ranking.last(k) + miss * ranking.total(rel)
    return Scored(terms, ranking.ones, rest=rest)


UTILITY = Definition(
    "Utility",
    "Linear utility of the retrieved set",
    utility,
    lambda k, p: (
        f"{write_number(p['hit'])}·hits"
        f" {_write_signed(p['noise'])}·({write_divisor(k, 'retrieved')} - hits)"
        f" {_write_signed(p['miss'])}·(R - hits)"
    ),
    'score([1, 0, 1], "Utility", relevant=4) == 2 - 1',
    where=lambda k, p: f"hits = {write_hits(k)}",
    parameters=(
        Parameter("hit", 1.0, "the worth of a relevant item", low=-1e6, high=1e6),
        Parameter("noise", -1.0, "the worth of any other item", low=-1e6, high=1e6),
        Parameter("miss", 0.0, "the worth of a missed relevant item", low=-1e6, high=1e6),
        REL,
    ),
    unanswered=lambda k, p: f"{write_number(p['miss'])}·R" if p["miss"] else "0",
    range=bound_nowhere,
    conventions=(
        "Every retrieved item that is not relevant has a cost, whether it is"
        " judged or not. If hit is below noise + miss, a relevant item lowers"
        " the value, and ties=best, which puts it first, gives the lowest value."
    ),
    grouped=True,
    undefined="",
)


# --- Counts of judged and of retrieved items ------------------------------------------------------


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
    counts_retrieved = k is None or norm == "retrieved"
    return Scored(terms, ranking.last(k) if counts_retrieved else np.full(len(ranking), k))


JUDGED = Definition(
    "Judged",
    "Share of the results that are judged",
    compute_judged_share,
    lambda k, p: f"Σ judged(i), {write_ranks(k)}",
    norm=lambda k, p: write_divisor(k, p["norm"]),
    where=lambda k, p: JUDGED_AT,
    example='score([0, 1], "Judged@4") == 2 / 4',
    parameters=(DEPTH, MEAN),
    better="neither",
    conventions=(
        "An item with a negative grade belongs to the pool but is not judged. A"
        " list shorter than k counts as filled up with items that are not"
        " judged."
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
    "Share of the results that are not judged",
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
