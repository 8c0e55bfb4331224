"""The cases of the suite: small data, and a sentence on what each distinguishes.

A run lists items with their scores, in the order of a file. Conventions that a case does not name are the ``DEFAULTS``.
"""

from dataclasses import dataclass, field
from typing import Any

CONVENTIONS = {
    "ties": {
        "trec": "Items of equal score are ordered by their id, descending, as UTF-8 bytes.",
        "given": "Items of equal score stay in the order of the run.",
        "best": "Items of equal score are ordered by grade, descending; items that nobody judged come after grade 0.",
        "worst": "Items of equal score are in the reverse of the best order.",
        "expected": "The value is the mean over all orders that the scores allow.",
    },
    "duplicates": {
        "error": "No item is listed twice for a query.",
        "first": "The first row of an item counts.",
        "last": "The last row of an item counts.",
        "max": "The row of an item with the highest score counts.",
        "keep": "Every row has its own rank, and an item counts at its first one only.",
        "recount": "Every row counts, at its own rank: a relevant item can count more than once.",
    },
    "unjudged": {
        "nonrelevant": "Items that nobody judged keep their ranks, and are not relevant.",
        "remove": "Items that nobody judged are removed before ranks are counted.",
    },
    "depth": {
        "all": "All results are used.",
        "3": "Only the first 3 results of a query are used.",
    },
    "missing": {
        "zero": "A judged query that the run does not have counts as one without results.",
        "skip": "A judged query that the run does not have is left out of the mean.",
    },
    "no_relevant": {
        "zero": "A query without relevant items has the value 0.",
        "skip": "A query without relevant items is left out of the mean.",
        "one": "A query without relevant items has the value 1.",
    },
}

DEFAULTS = {key: next(iter(words)) for key, words in CONVENTIONS.items()}

BINARY = (
    *("P@1", "P@3", "P@5", "P(norm=retrieved)@5", "R@3", "R@5", "R(norm=min)@3", "F@5", "Success@1", "Success@5"),
    *("Rprec", "RR", "RR@3", "AP", "AP@3", "AP@5", "AP(norm=R)@5", "AP(norm=found)", "AP(norm=found)@5"),
    *("AP(norm=k)@5", "AP(norm=possible)@5", "MeanP@5", "DCG@5", "nDCG", "nDCG@3", "nDCG@5", "nDCG(norm=k)@5"),
    *("RBP(p=0.5)", "RBP(p=0.8)", "bpref", "IAP", "IPrec(recall=0.5)"),
)  # fmt: skip
GRADED = (
    *("P@3", "P(rel=2)@3", "R(rel=2)@3", "RR", "RR(rel=2)", "AP", "AP(rel=2)", "AP(rel=2)@3", "Success(rel=2)@3"),
    *("DCG@3", "DCG", "DCG(gain=exp)@3", "DCG(discount=jarvelin)", "DCG(discount=position)"),
    *("nDCG", "nDCG@3", "nDCG(gain=exp)", "nDCG(gain=exp)@3", "nDCG(discount=jarvelin)", "nDCG(norm=k)@3"),
    *("ERR", "ERR@3", "ERR(max=3)", "RBP(gain=linear)" ),
)  # fmt: skip
WITH_RELEVANT = tuple(
    name for name in BINARY if not name.startswith(("AP(norm=found)", "RBP"))
)  # for queries without relevant items


@dataclass(frozen=True)
class Case:
    """Judgments and a run, the definitions that are asked, and the conventions under which they are."""

    name: str
    shows: str
    qrels: dict[str, dict[str, float]]
    run: dict[str, list[tuple[str, float]]]
    definitions: tuple[str, ...] = BINARY
    conventions: tuple[dict[str, Any], ...] = field(default=({},))


def _list(pattern: str, missed: int = 0) -> tuple[dict[str, float], list[tuple[str, float]]]:
    """A query from the grades at its ranks: '1 0 - 2', with - for an item that nobody judged."""
    places = pattern.split()
    items = [f"d{i:02}" for i in range(1, len(places) + 1)]
    judged = {item: float(place) for item, place in zip(items, places, strict=True) if place != "-"}
    judged |= {f"m{i:02}": 1.0 for i in range(1, missed + 1)}
    return judged, [(item, float(len(items) - i)) for i, item in enumerate(items)]


def _one(
    name: str, shows: str, pattern: str, missed: int = 0, *more: dict[str, Any], **rest: Any
) -> Case:
    judged, ranked = _list(pattern, missed)
    return Case(name, shows, {"q": judged}, {"q": ranked}, conventions=more or ({},), **rest)


def _many(
    name: str,
    shows: str,
    queries: dict[str, tuple[str, int] | tuple[dict[str, float], list[tuple[str, float]] | None]],
    *more: dict[str, Any],
    definitions: tuple[str, ...] = BINARY,
) -> Case:
    qrels, run = {}, {}
    for query, (first, second) in queries.items():
        judged, ranked = _list(first, second) if isinstance(first, str) else (first, second)  # type: ignore[arg-type]
        qrels[query] = judged
        if ranked is not None:
            run[query] = ranked
    return Case(name, shows, qrels, run, definitions, more or ({},))


_TIED = {"a": 0.0, "b": 1.0, "c": 0.0, "d": 1.0}
_SCORED = [("b", 2.0), ("a", 2.0), ("x", 2.0), ("d", 1.0), ("c", 1.0)]
_HIT: dict[str, float] = {"a": 1.0}

CASES = (
    _one("three-of-ten", "The ordinary case: three relevant items at ranks 3, 5 and 8, all found.", "0 0 1 0 1 0 0 1 0 0"),
    _one("two-of-twenty", "R is above k: AP@5 divides by R, min(R, k), the relevant items found, or k.", "1 0 1 0 0 0 0 0 0 0", 18),
    _one("two-of-four", "R is below k, and two relevant items are missed: norm=found ignores them.", "1 0 1 0 0 0 0 0 0 0", 2),
    _one("perfect", "All relevant items come first.", "1 1 1 0 0 0 0"),
    _one("last", "All relevant items come last.", "0 0 0 0 0 0 1 1 1"),
    _one("nothing-found", "No relevant item is in the list; an ideal that is made of the list is 0 and not the judgments'.", "0 0 0 0", 3),
    _one("all-relevant", "Every result is relevant: bpref has no nonrelevant item to compare with.", "1 1 1 1 1"),
    _one("one-relevant", "One relevant item: AP is RR.", "0 0 0 1 0 0"),
    _one("hit-at-the-cutoff", "The cutoff includes its own rank: the item at rank 5 counts at k = 5.", "0 0 0 0 1 0 0"),
    _one("hit-after-the-cutoff", "The item at rank 6 does not count at k = 5.", "0 0 0 0 0 1 0"),
    _one("more-relevant-than-k", "A perfect list of five with R = 8: recall cannot be 1, AP@5 and nDCG@5 can.", "1 1 1 1 1 0 0", 3),
    _one("first-and-second", "The discount of nDCG is log2(rank + 1): rank 1 and rank 2 differ.", "0 1"),
    _one("short", "Two results, and k = 5: P@5 divides by 5, P(norm=retrieved)@5 by 2.", "1 0", 1),
    _one("single-result", "One result, which is relevant, of four.", "1", 3),
    _one("long", "Twelve results: hits far below the cutoffs count where there is no cutoff.", "0 1 0 0 0 0 0 1 0 0 1 1", 2),
    _one("misses-do-not-help", "Leaving out the late hit of two-and-ninth raises AP(norm=found) only: compare the next case.", "1 1 0 0 0 0 0 0 0 0", 4),
    _one("two-and-ninth", "The third hit, at rank 9, raises AP and lowers AP(norm=found).", "1 1 0 0 0 0 0 0 1 0", 3),
    _one("unjudged", "Items that nobody judged keep their ranks, or are removed.", "- 1 - 0 1 - 0 1", 1, {}, {"unjudged": "remove"}),
    _one("only-unjudged", "No result is judged.", "- - -", 2, {}, {"unjudged": "remove"}, definitions=WITH_RELEVANT),
    _one("negative-grade", "A negative grade is not relevant, and has no gain.", "-1 1 0 -2 1", 0, definitions=("P@3", "R@3", "RR", "AP", "AP@3", "DCG@3", "nDCG@3", "nDCG(gain=exp)@3")),
    _one("graded", "Grades 0 to 3: gain is the grade, or 2^grade - 1; rel=2 asks for grade 2 or more.", "1 3 0 2 0 1", 0, definitions=GRADED),
    _one("graded-missed", "The ideal ranking takes the judgments, not the results: the best item is missed.", "2 0 1 1", 2, definitions=GRADED),
    _one("graded-perfect", "Grades in descending order: nDCG is 1.", "3 2 2 1 0", 0, definitions=GRADED),
    _one("graded-reversed", "Grades in ascending order: discounts matter.", "0 1 2 2 3", 0, definitions=GRADED),
    _one("grade-below-the-threshold", "With rel=2 nothing is relevant: the query has no relevant item for those measures.", "1 0 1 1", 0, definitions=GRADED, ),
    _one("fractions-as-grades", "Grades need not be whole numbers: 0.5 is no relevant item, and has a gain.", "0.5 1 0 1.5", 0, definitions=("P@3", "RR", "AP", "DCG@3", "nDCG@3", "nDCG")),
    _many("mean-of-queries", "Every query has the same weight, whatever its R: the mean of values, not the ratio of sums.", {"q1": ("1 0 1 0 0", 18), "q2": ("0 1 0 0 0", 0), "q3": ("0 0 0", 1)}),
    _many("missing-query", "q2 is judged and is not in the run: it counts 0, or is left out.", {"q1": ("1 0 1", 0), "q2": (_HIT, None)}, {}, {"missing": "skip"}),
    _many("empty-list", "q2 has no results, and counts 0.", {"q1": ("1 0 1", 0), "q2": (_HIT, [])}),
    Case("unknown-query", "q9 is in the run and was not judged: it does not count.", {"q1": dict(_HIT)}, {"q1": [("a", 1.0)], "q9": [("a", 1.0)]}),
    _many("no-relevant-items", "q2 has no relevant item: it counts 0 or 1, or is left out.", {"q1": ("0 1 0 1", 1), "q2": ("0 0 0", 0)}, {}, {"no_relevant": "skip"}, {"no_relevant": "one"}, definitions=WITH_RELEVANT),
    Case("ties", "Two groups of equal scores: their order is a convention.", {"q": dict(_TIED)}, {"q": _SCORED}, conventions=tuple({"ties": word} for word in CONVENTIONS["ties"])),
    Case("tie-across-the-cutoff", "Three equal scores over rank 5: one of them is relevant.", {"q": {"d1": 1.0, "d6": 1.0}}, {"q": [("d1", 9.0), ("d2", 8.0), ("d3", 7.0), ("d4", 6.0), ("d5", 1.0), ("d6", 1.0), ("d7", 1.0)]}, conventions=tuple({"ties": word} for word in CONVENTIONS["ties"])),
    Case("ids-as-text", "Ids are text: '9' comes before '10' in descending order, and 'é' after both, as bytes.", {"q": {"10": 1.0, "z": 1.0}}, {"q": [("10", 1.0), ("9", 1.0), ("é", 1.0), ("z", 1.0)]}),
    Case("ids-beyond-the-first-plane", "Bytes of UTF-8 and units of UTF-16 order these ids in two ways.", {"q": {"\uffee": 1.0}}, {"q": [("\uffee", 1.0), ("\U0001f600", 1.0), ("a", 0.5)]}),
    Case("scores-out-of-order", "The order of the rows is not the order of the scores.", {"q": {"a": 1.0, "c": 1.0}}, {"q": [("a", 0.1), ("b", 0.5), ("c", 0.9), ("d", 0.3)]}),
    Case("negative-scores", "Scores may be negative or 0; the highest is first.", {"q": {"a": 1.0, "c": 1.0}}, {"q": [("a", -2.0), ("b", 0.0), ("c", -1.0), ("d", 0.5)]}),
    Case("near-scores", "Scores that differ in double precision are no ties: 0.30000000000000004 is above 0.3.", {"q": {"a": 1.0}}, {"q": [("b", 0.3), ("a", 0.1 + 0.2)]}),
    Case("large-scores", "Scores beyond single precision are no ties: 16777217 is above 16777216.", {"q": {"a": 1.0}}, {"q": [("b", 16777216.0), ("a", 16777217.0)]}),
    Case("duplicates", "Item a is listed three times: one of its rows counts, or all of them do.", {"q": {"a": 1.0, "c": 1.0}}, {"q": [("b", 5.0), ("a", 4.0), ("d", 3.5), ("a", 6.0), ("c", 2.0), ("a", 1.0)]}, conventions=tuple({"duplicates": word} for word in ("first", "last", "max", "keep", "recount")), definitions=("P@1", "P@3", "R@3", "RR", "AP", "AP@3", "nDCG@3")),
    _one("depth", "Three results of a query are used: hits below rank 3 are not found.", "0 1 0 1 1 0", 0, {}, {"depth": "3"}),
    _many("several-conventions", "A missing query, a query without relevant items, and ties, at once.", {"q1": (_TIED, _SCORED), "q2": (_HIT, None), "q3": ("0 0", 0)}, {}, {"missing": "skip", "no_relevant": "skip", "ties": "given"}, {"ties": "worst", "no_relevant": "one"}, definitions=WITH_RELEVANT),
)  # fmt: skip
