"""Forms: the ways in which a function takes its data, and the data that each can show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from germane.errors import InputError, check_choice, clip, list_choices
from germane.forensics.cases import Case, Question

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
_SCORED = frozenset({"grades", "ties"})
_ROWS = _SCORED | {"missed", "several", "missing", "copies", "repeats", "order", "rows"}

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
             (("two arrays", _each(_make_arrays)),), _SCORED | {"all judged"}),
        Form("matrix", "relevance and scores, queries × items",
             (("two arrays", _make_matrix),), _SCORED | {"several", "all judged"}),
        Form("dicts", "{query: {item: grade}}, {query: {item: score}}",
             (("two dicts", _make_dicts),),
             _SCORED | {"missed", "several", "missing", "empty", "order"}),
        Form("frames", "two frames with the columns query, item and relevance or score",
             (("frames of pandas", _make_frames("pandas")),
              ("frames of Polars", _make_frames("polars"))),
             _ROWS),
        Form("trec", "two paths of files in TREC's format", (("two files", _write_files),), _ROWS),
    )
}  # fmt: skip
