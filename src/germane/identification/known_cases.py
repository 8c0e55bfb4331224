"""Known cases: small judgments and results, and a sentence on what each distinguishes.

``identify`` asks them first, and ``conformance/`` has the values of 51 definitions on them, for
tools in any language. A run lists items with their scores, in the order of a file.
"""

from dataclasses import dataclass
from typing import TypeAlias

Grades: TypeAlias = dict[str, float]
Rows: TypeAlias = list[tuple[str, float]]


@dataclass(frozen=True)
class KnownCase:
    """Judgments and results of one query or several, and what they show."""

    name: str
    shows: str
    qrels: dict[str, Grades]
    run: dict[str, Rows]


def _list(pattern: str, missed: int = 0) -> tuple[Grades, Rows]:
    """A query from the grades at its ranks: '1 0 - 2', with - for an item that nobody judged."""
    places = pattern.split()
    items = [f"d{i:02}" for i in range(1, len(places) + 1)]
    judged = {item: float(place) for item, place in zip(items, places, strict=True) if place != "-"}
    judged |= {f"m{i:02}": 1.0 for i in range(1, missed + 1)}
    return judged, [(item, float(len(items) - i)) for i, item in enumerate(items)]


def _one(name: str, shows: str, pattern: str, missed: int = 0) -> KnownCase:
    judged, ranked = _list(pattern, missed)
    return KnownCase(name, shows, {"q": judged}, {"q": ranked})


def _many(
    name: str, shows: str, queries: dict[str, tuple[str, int] | tuple[Grades, Rows | None]]
) -> KnownCase:
    qrels: dict[str, Grades] = {}
    run: dict[str, Rows] = {}
    for query, (first, second) in queries.items():
        if isinstance(first, str):
            assert isinstance(second, int)
            first, second = _list(first, second)
        qrels[query] = first
        if second is not None:
            assert not isinstance(second, int)
            run[query] = second
    return KnownCase(name, shows, qrels, run)


_TIED: Grades = {"a": 0.0, "b": 1.0, "c": 0.0, "d": 1.0}
_SCORED: Rows = [("b", 2.0), ("a", 2.0), ("x", 2.0), ("d", 1.0), ("c", 1.0)]
_HIT: Grades = {"a": 1.0}

KNOWN: tuple[KnownCase, ...] = (
    _one("three-of-ten", "The ordinary case: three relevant items at ranks 3, 5 and 8, all found.",
        "0 0 1 0 1 0 0 1 0 0"),
    _one("two-of-twenty",
        "R is above k: AP@5 divides by R, min(R, k), the relevant items found, or k.",
        "1 0 1 0 0 0 0 0 0 0", 18),
    _one("two-of-four", "R is below k, and two relevant items are missed: norm=found ignores them.",
        "1 0 1 0 0 0 0 0 0 0", 2),
    _one("perfect", "All relevant items come first.", "1 1 1 0 0 0 0"),
    _one("last", "All relevant items come last.", "0 0 0 0 0 0 1 1 1"),
    _one("nothing-found",
        "No relevant item is in the list; an ideal that is made of the list is 0 and not the "
        "judgments'.",
        "0 0 0 0", 3),
    _one("all-relevant", "Every result is relevant: bpref has no nonrelevant item to compare with.",
        "1 1 1 1 1"),
    _one("one-relevant", "One relevant item: AP is RR.", "0 0 0 1 0 0"),
    _one("hit-at-the-cutoff",
        "The cutoff includes its own rank: the item at rank 5 counts at k = 5.",
        "0 0 0 0 1 0 0"),
    _one("hit-after-the-cutoff", "The item at rank 6 does not count at k = 5.", "0 0 0 0 0 1 0"),
    _one("more-relevant-than-k",
        "A perfect list of five with R = 8: recall cannot be 1, AP@5 and nDCG@5 can.",
        "1 1 1 1 1 0 0", 3),
    _one("first-and-second", "The discount of nDCG is log2(rank + 1): rank 1 and rank 2 differ.",
        "0 1"),
    _one("short", "Two results, and k = 5: P@5 divides by 5, P(norm=retrieved)@5 by 2.", "1 0", 1),
    _one("single-result", "One result, which is relevant, of four.", "1", 3),
    _one("long", "Twelve results: hits far below the cutoffs count where there is no cutoff.",
        "0 1 0 0 0 0 0 1 0 0 1 1", 2),
    _one("misses-do-not-help",
        "Leaving out the late hit of two-and-ninth raises AP(norm=found) only: compare the next "
        "case.",
        "1 1 0 0 0 0 0 0 0 0", 4),
    _one("two-and-ninth", "The third hit, at rank 9, raises AP and lowers AP(norm=found).",
        "1 1 0 0 0 0 0 0 1 0", 3),
    _one("unjudged", "Items that nobody judged keep their ranks, or are removed.",
        "- 1 - 0 1 - 0 1", 1),
    _one("only-unjudged", "No result is judged.", "- - -", 2),
    _one("negative-grade", "A negative grade is not relevant, and has no gain.", "-1 1 0 -2 1"),
    _one("graded", "Grades 0 to 3: gain is the grade, or 2^grade - 1; rel=2 asks for grade 2 or "
                   "more.",
        "1 3 0 2 0 1"),
    _one("graded-missed",
        "The ideal ranking takes the judgments, not the results: the best item is missed.",
        "2 0 1 1", 2),
    _one("graded-perfect", "Grades in descending order: nDCG is 1.", "3 2 2 1 0"),
    _one("graded-reversed", "Grades in ascending order: discounts matter.", "0 1 2 2 3"),
    _one("grade-below-the-level",
        "With rel=2 nothing is relevant: the query has no relevant item for those measures.",
        "1 0 1 1"),
    _one("fractions-as-grades",
        "Grades need not be whole numbers: 0.5 is no relevant item, and has a gain.",
        "0.5 1 0 1.5"),
    _many("mean-of-queries",
        "Every query has the same weight, whatever its R: the mean of values, not the ratio of "
        "sums.",
        {"q1": ("1 0 1 0 0", 18), "q2": ("0 1 0 0 0", 0), "q3": ("0 0 0", 1)}),
    _many("missing-query", "q2 is judged and is not in the run: it counts 0, or is left out.",
        {"q1": ("1 0 1", 0), "q2": (_HIT, None)}),
    _many("empty-list", "q2 has no results, and counts 0.", {"q1": ("1 0 1", 0), "q2": (_HIT, [])}),
    KnownCase("unknown-query", "q9 is in the run and was not judged: it does not count.",
        {"q1": dict(_HIT)}, {"q1": [("a", 1.0)], "q9": [("a", 1.0)]}),
    _many("no-relevant-items", "q2 has no relevant item: it counts 0 or 1, or is left out.",
        {"q1": ("0 1 0 1", 1), "q2": ("0 0 0", 0)}),
    KnownCase("ties", "Two groups of equal scores: their order is a convention.",
        {"q": dict(_TIED)}, {"q": _SCORED}),
    KnownCase("tie-across-the-cutoff", "Three equal scores over rank 5: one of them is relevant.",
        {"q": {"d1": 1.0, "d6": 1.0}},
        {"q": [("d1", 9.0), ("d2", 8.0), ("d3", 7.0), ("d4", 6.0), ("d5", 1.0), ("d6", 1.0),
                ("d7", 1.0)]}),
    KnownCase("ids-as-text",
        "Ids are text: '9' comes before '10' in descending order, and 'é' after both, as bytes.",
        {"q": {"10": 1.0, "z": 1.0}}, {"q": [("10", 1.0), ("9", 1.0), ("é", 1.0), ("z", 1.0)]}),
    KnownCase("ids-beyond-the-first-plane",
        "Bytes of UTF-8 and units of UTF-16 order these ids in two ways.",
        {"q": {"\uffee": 1.0}}, {"q": [("\uffee", 1.0), ("\U0001f600", 1.0), ("a", 0.5)]}),
    KnownCase("scores-out-of-order", "The order of the rows is not the order of the scores.",
        {"q": {"a": 1.0, "c": 1.0}}, {"q": [("a", 0.1), ("b", 0.5), ("c", 0.9), ("d", 0.3)]}),
    KnownCase("negative-scores", "Scores may be negative or 0; the highest is first.",
        {"q": {"a": 1.0, "c": 1.0}}, {"q": [("a", -2.0), ("b", 0.0), ("c", -1.0), ("d", 0.5)]}),
    KnownCase("near-scores",
        "Scores that differ in double precision are no ties: 0.30000000000000004 is above 0.3.",
        {"q": {"a": 1.0}}, {"q": [("b", 0.3), ("a", 0.1 + 0.2)]}),
    KnownCase("large-scores",
        "Scores beyond single precision are no ties: 16777217 is above 16777216.",
        {"q": {"a": 1.0}}, {"q": [("b", 16777216.0), ("a", 16777217.0)]}),
    KnownCase("duplicates",
        "Item a is listed three times: one of its rows counts, or all of them do.",
        {"q": {"a": 1.0, "c": 1.0}},
        {"q": [("b", 5.0), ("a", 4.0), ("d", 3.5), ("a", 6.0), ("c", 2.0), ("a", 1.0)]}),
    KnownCase("copy-before-the-cutoff",
        "The copy of item a takes rank 3, which moves the only hit to rank 4, or it takes none.",
        {"q": {"c": 1.0}}, {"q": [("a", 9.0), ("b", 8.0), ("a", 7.0), ("c", 6.0)]}),
    _one("depth", "Three results of a query are used: hits below rank 3 are not found.",
        "0 1 0 1 1 0"),
    _many("several-conventions",
        "A missing query, a query without relevant items, and ties, at once.",
        {"q1": (_TIED, _SCORED), "q2": (_HIT, None), "q3": ("0 0", 0)}),
)  # fmt: skip
