"""Known cases, what each distinguishes, and the forms in which a function can take them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from germane.errors import InputError, check_choice, clip, list_choices
from germane.forensics.cases import Case, Question, Shape, rank_items

Make = Callable[[Question, "Names"], tuple[Any, ...]]


@dataclass(frozen=True)
class Names:
    """The columns of frames, and the folder of files."""

    query: str = "query"
    item: str = "item"
    relevance: str = "relevance"
    score: str = "score"
    folder: Path | None = None


@dataclass(frozen=True)
class Form:
    """A form of the data, in kinds of containers, of which the first that works is used."""

    name: str
    takes: str
    kinds: tuple[tuple[str, Make], ...]
    shows: frozenset[str]

    @property
    def rows(self) -> bool:
        """Are judgments and results rows, so that a query without results has none?"""
        return "rows" in self.shows

    @property
    def grid(self) -> bool:
        """Are the lists of all queries equally long?"""
        return {"several", "all judged"} <= self.shows

    def make(self, kind: int, question: Question, names: Names) -> tuple[Any, ...]:
        """Make the arguments of a call, in one of the kinds of containers."""
        return self.kinds[kind][1](question, names)

    @property
    def several(self) -> bool:
        """Does one call have several queries?"""
        return "several" in self.shows


def resolve_form(name: object) -> Form:
    """Return a form by its name. Raises InputError with the nearest name."""
    check_choice("takes", name, tuple(FORMS), InputError)
    return FORMS[str(name)]


def make_names(columns: Mapping[str, Any] | None, folder: Path | None) -> Names:
    """Read the names of columns. Raises InputError for a part that there is not."""
    names = dict(columns or {})
    for part, name in names.items():
        if part not in _PARTS or not isinstance(name, str):
            raise InputError(
                f"columns names {list_choices(_PARTS)}, each by a text; got {clip(part)}:"
                f" {clip(name)}"
            )
    return Names(**names, folder=folder)


_PARTS = ("query", "item", "relevance", "score")


def show_arguments(form: Form, kind: int, question: Question, names: Names) -> tuple[Any, ...]:
    """Make the arguments of a call to show them: files, which do not last, as their text."""
    arguments = form.make(kind, question, names)
    return (
        arguments
        if form.name != "trec"
        else tuple(Path(path).read_text("utf-8") for path in arguments)
    )


def name_query(place: int) -> str:
    """Name a query by its place in a call, from 0."""
    return f"q{place + 1}"


def _list_grades(case: Case) -> list[int | float]:
    judged = dict(case.judged or ())
    return [_simplify(judged.get(item, 0.0)) for item in case.items]


def _simplify(grade: float) -> int | float:
    return int(grade) if grade == int(grade) else grade


def _map_grades(case: Case) -> dict[str, int | float]:
    return {item: _simplify(grade) for item, grade in case.judged or ()}


def _make_arrays(case: Case) -> tuple[Any, Any]:
    """Make the grades and scores of items in the order of their ids."""
    judged, rows = dict(case.judged or ()), sorted(case.ranked or ())
    grades = np.array([_simplify(judged.get(item, 0.0)) for item, _ in rows])
    return grades, np.array([score for _, score in rows], float)


def _make_matrix(question: Question, _: Names) -> tuple[Any, Any]:
    rows = [_make_arrays(case) for case in question.cases]
    return np.stack([grades for grades, _ in rows]), np.stack([scores for _, scores in rows])


def _make_dicts(question: Question, _: Names) -> tuple[Any, Any]:
    places = enumerate(question.cases)
    qrels = {name_query(q): _map_grades(case) for q, case in places if case.judged is not None}
    run = {
        name_query(q): dict(case.ranked)
        for q, case in enumerate(question.cases)
        if case.ranked is not None
    }
    return qrels, run


def list_rows(
    question: Question,
) -> tuple[list[tuple[str, str, float]], list[tuple[str, str, float]]]:
    """List the rows of judgments and of results: query, item and grade or score."""
    queries = [(name_query(q), case) for q, case in enumerate(question.cases)]
    judged = [(q, *row) for q, case in queries for row in case.judged or ()]
    return judged, [(q, *row) for q, case in queries for row in case.ranked or ()]


def _make_frames(library: str) -> Make:
    def make(question: Question, names: Names) -> tuple[Any, Any]:
        from importlib import import_module

        frame = import_module(library).DataFrame
        judged, ranked = list_rows(question)
        return (
            frame(_make_columns(judged, (names.query, names.item, names.relevance), True)),
            frame(_make_columns(ranked, (names.query, names.item, names.score), False)),
        )

    return make


def _make_columns(
    rows: Sequence[tuple[str, str, float]], names: tuple[str, str, str], as_integers: bool
) -> dict[str, list[Any]]:
    first, second, third = names
    as_integers = as_integers and all(row[2] == int(row[2]) for row in rows)
    numbers = [int(row[2]) if as_integers else row[2] for row in rows]
    return {first: [row[0] for row in rows], second: [row[1] for row in rows], third: numbers}


def _write_files(question: Question, names: Names) -> tuple[str, str]:
    """Write qrels and a run in TREC's format, with the ranks of the results."""
    judged, ranked = list_rows(question)
    assert names.folder is not None
    qrels, run = names.folder / "qrels.txt", names.folder / "run.txt"
    lines = (f"{q} 0 {item} {grade:g}\n" for q, item, grade in judged)
    qrels.write_text("".join(lines), "utf-8")
    ranks = _rank_rows([(query, score) for query, _, score in ranked])
    rows = zip(ranked, ranks, strict=True)
    lines = (f"{q} Q0 {item} {rank} {score!r} germane\n" for (q, item, score), rank in rows)
    run.write_text("".join(lines), "utf-8")
    return str(qrels), str(run)


def _rank_rows(rows: Sequence[tuple[str, float]]) -> list[int]:
    """Rank the scores of each query; equal ones in the order given."""
    ranks, last = [0] * len(rows), dict.fromkeys((query for query, _ in rows), 0)
    for place in sorted(range(len(rows)), key=lambda i: -rows[i][1]):
        last[rows[place][0]] += 1
        ranks[place] = last[rows[place][0]]
    return ranks


def _each(make: Callable[[Case], Any]) -> Make:
    """Make the arguments of a function of one query."""
    return lambda question, _: make(question.cases[0])


def _lists(judged: Callable[[Case], Any]) -> Make:
    return lambda question, _: (
        [judged(case) for case in question.cases],
        [case.items for case in question.cases],
    )


def _number_ids(question: Question) -> Question:
    """Write ids as whole numbers, in the order of their names."""
    rows = [row for case in question.cases for row in (*(case.judged or ()), *(case.ranked or ()))]
    numbers = {item: place for place, item in enumerate(sorted({item for item, _ in rows}), 1)}
    cases = [
        Case(*(part and tuple((numbers[item], v) for item, v in part) for part in case))  # type: ignore[misc]
        for case in question.cases
    ]
    return Question(tuple(cases))


def _with_numbers(make: Make) -> Make:
    return lambda question, names: make(_number_ids(question), names)


def _with_arrays(make: Make) -> Make:
    """Make arrays of whole numbers of the lists of ids."""

    def convert(question: Question, names: Names) -> tuple[Any, ...]:
        arguments = make(_number_ids(question), names)
        return tuple(
            np.array(argument, int) if isinstance(argument, list) else argument
            for argument in arguments
        )

    return convert


_IDS = _each(lambda case: (case.relevant, case.items))
_GRADED = _each(lambda case: (_map_grades(case), case.items))
_LISTS = _lists(lambda case: case.relevant)

_OF_LISTS = frozenset({"missed", "copies", "empty"})
_GRADES_AND_TIES = frozenset({"grades", "ties"})
_ROWS = _GRADES_AND_TIES | {"missed", "several", "missing", "copies", "repeats", "order", "rows"}

FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form("grades", "a list of grades in rank order",
             (("a list", _each(lambda case: (_list_grades(case),))),
              ("an array", _each(lambda case: (np.array(_list_grades(case)),)))),
             frozenset({"grades", "empty", "all judged"})),
        Form("ids", "relevant ids, ranked ids",
             (("two lists", _IDS),
              ("a set and a list", _each(lambda case: (set(case.relevant), case.items))),
              ("two sets", _each(lambda case: (set(case.relevant), set(case.items)))),
              ("two lists of whole numbers", _with_numbers(_IDS)),
              ("two arrays of whole numbers", _with_arrays(_IDS))),
             _OF_LISTS | {"repeats"}),
        Form("graded", "{item: grade}, ranked ids",
             (("a dict and a list", _GRADED),
              ("a dict and a list of whole numbers", _with_numbers(_GRADED)),
              ("a dict and an array of whole numbers", _with_arrays(_GRADED))),
             _OF_LISTS | {"grades"}),
        Form("lists", "lists of relevant ids, lists of ranked ids",
             (("lists of lists", _LISTS),
              ("a list of sets and a list of lists", _lists(lambda case: set(case.relevant))),
              ("lists of lists of whole numbers", _with_numbers(_LISTS))),
             _OF_LISTS | {"repeats", "several"}),
        Form("arrays", "relevance and scores of one query's items",
             (("two arrays", _each(_make_arrays)),), _GRADES_AND_TIES | {"all judged"}),
        Form("matrix", "relevance and scores, queries × items",
             (("two arrays", _make_matrix),), _GRADES_AND_TIES | {"several", "all judged"}),
        Form("dicts", "{query: {item: grade}}, {query: {item: score}}",
             (("two dicts", _make_dicts),),
             _GRADES_AND_TIES | {"missed", "several", "missing", "empty", "order"}),
        Form("frames", "two frames with the columns query, item and relevance or score",
             (("frames of pandas", _make_frames("pandas")),
              ("frames of Polars", _make_frames("polars"))),
             _ROWS),
        Form("trec", "two paths of files in TREC's format", (("two files", _write_files),), _ROWS),
    )
}  # fmt: skip


# --- Known cases: small judgments and results, what each distinguishes, and who can be asked ------

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
