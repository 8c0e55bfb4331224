"""Known questions: the known cases that a form can show, by the kinds of data that they are."""

from collections.abc import Iterator

import numpy as np

from germane.identification.cases import Case, Question, Shape, rank_items
from germane.identification.known_cases import KNOWN, Grades, KnownCase, Rows

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
