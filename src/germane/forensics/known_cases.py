"""Known cases: small judgments and results, what each distinguishes, and who can be asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from germane.forensics.cases import Case, Question, Shape, rank_items

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


# --- Known questions ------------------------------------------------------------------------------
#
# The known cases that a form can show, by the kinds of data that they are.

_GRADES = range(4)  # of ordinary data
Kinds = frozenset[str]  # the names of special data; none where it is ordinary


def list_known(shape: Shape) -> dict[Kinds, list[Question]]:
    """List the known cases that can be shown, by the special data that they are."""
    by_kinds: dict[Kinds, dict[Question, None]] = {}
    for known_case in KNOWN:
        for question in _make_questions(known_case, shape):
            by_kinds.setdefault(find_kinds(question, shape), {})[question] = None
    return {kinds: list(questions) for kinds, questions in by_kinds.items()}


def _make_questions(known_case: KnownCase, shape: Shape) -> Iterator[Question]:
    """Make one question, or one of each query where a call has one query."""
    queries = dict.fromkeys((*known_case.qrels, *known_case.run))
    cases = [
        _make_case(known_case.qrels.get(q), known_case.run.get(q), shape.shows) for q in queries
    ]
    if "several" in shape.shows:
        groups = [[case for case in cases if case is not None]] if None not in cases else []
        lengths = {len(case.ranked or ()) for case in cases if case is not None}
        if "all judged" in shape.shows and len(lengths) > 1:
            return  # rows of a matrix are equally long
    else:
        groups = [[case] for case in cases if case is not None]
    for group in groups:
        if all(_can_show(case, shape) for case in group):
            yield Question(tuple(group))


def _make_case(judged: Grades | None, rows: Rows | None, shows: Kinds) -> Case | None:
    """Make a case in the way of a form; None where the form has no such data."""
    ranked = tuple(rows) if rows is not None else None
    if ranked and "ties" not in shows:
        if len({score for _, score in ranked}) < len(ranked):
            return None
        ranked = rank_items([item for item, _ in sorted(ranked, key=lambda row: -row[1])])
    if not ranked and ranked is not None and "empty" not in shows:
        ranked = None  # a list that is empty has no rows
    grades = dict(judged or {})
    if "grades" not in shows:
        grades = {item: grade for item, grade in grades.items() if grade != 0}
    if "all judged" in shows and ranked is not None:
        listed = {item for item, _ in ranked}
        if any(grade > 0 and item not in listed for item, grade in grades.items()):
            return None
        grades = {item: grades.get(item, 0.0) for item, _ in ranked}
    return Case(None if judged is None else tuple(grades.items()), ranked)


def _can_show(case: Case, shape: Shape) -> bool:
    if (case.ranked is None or case.judged is None) and "missing" not in shape.shows:
        return False
    if len(set(case.items)) < len(case.items) and "copies" not in shape.shows:
        return False
    binary = len(shape.grades) == 1 or not shape.has_zeros
    return not (binary and any(grade not in (0, 1) for grade in case.grades))


def find_kinds(question: Question, shape: Shape) -> Kinds:
    """Find the special data that a question has; none where it is ordinary."""
    kinds: set[str] = set()
    for case in question.cases:
        kinds |= set(_find_kinds_of_case(case, shape))
    if len(question.cases) > 1 and "no relevant" in kinds:
        kinds = kinds - {"no relevant"} | {"no relevant among others"}
    return frozenset(kinds)


def _find_kinds_of_case(case: Case, shape: Shape) -> Iterator[str]:
    if case.ranked is None or case.judged is None:
        yield "missing" if case.ranked is None else "unknown"
        return
    yield from _find_kinds_of_rows(case, shape)
    grades = case.grades
    if len(dict(case.judged)) < len(grades):
        yield "repeats"
    if any(grade > max(_GRADES) for grade in grades):
        yield "high"
    if any(grade < 0 for grade in grades):
        yield "negative"
    if any(grade != int(grade) for grade in grades):
        yield "fractions"
    relevant, items = set(case.relevant), case.items
    if not items:
        yield "empty"
    elif not relevant:
        yield "no relevant"
    else:
        if shape.k is not None and len(items) < shape.k:
            yield "short"
        if not relevant.intersection(items[: shape.k]):
            yield "no hit"
        if relevant.issuperset(items):
            yield "all relevant"


def _find_kinds_of_rows(case: Case, shape: Shape) -> Iterator[str]:
    """Find what is special about the ids and scores of a list."""
    items, scores = case.items, case.scores
    if len(set(items)) < len(items):
        yield "copies"
    if len(set(scores)) < len(scores):
        yield "ties" if len({len(item.encode()) for item in items}) == 1 else "ids"
    elif len(set(np.array(scores, np.float32).tolist())) < len(scores):
        yield "close scores"
    if "order" in shape.shows and scores != sorted(scores, reverse=True):
        yield "order"
    if any(score <= 0 for score in scores):
        yield "nonpositive"
