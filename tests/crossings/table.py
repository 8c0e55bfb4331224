"""The outcomes of cells, beside those of dicts with the same data."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import germane

from crossings.case import Case, Kind
from crossings.cells import Cell
from crossings.kinds import KINDS
from crossings.options import OPTIONS, Data, order_by_id
from crossings.refusals import NUMBERED, REFUSED
from crossings.rows import keep, rank_lists
from crossings.verbs import CLASS_NAMES, VERBS


class Outcome(NamedTuple):
    """What came of a cell: a value that is the same for all kinds, or a refusal, or a fault."""

    value: Any = None
    refusal: str = ""
    fault: str = ""


def call(verb: str, case: Case) -> Outcome:
    try:
        value = VERBS[verb].call(case)
    except germane.GermaneError as error:
        found = CLASS_NAMES.search(str(error))
        if found:
            return Outcome(fault=f"names {found[0]}: {error}")
        return Outcome(refusal=str(error))
    except Exception as error:  # of any kind: a fault
        return Outcome(fault=f"{type(error).__name__}: {error}")
    return Outcome(value)


class Table:
    """The outcomes of cells on one collection."""

    def __init__(self, data: Data, folder: Path) -> None:
        self._folder = folder
        self._data = {False: data, True: order_by_id(data)}
        self._expected: dict[Any, Outcome] = {}
        self._cases: dict[tuple[str, str, bool], Case] = {}

    def find_fault(self, cell: Cell) -> str:
        """Find what is wrong with a cell; "" for one that works, or refuses as ``REFUSED`` says."""
        refused = [one.says for one in REFUSED if one.covers(cell)]
        got = call(cell.verb, self.make_case(cell))
        if got.fault:
            return got.fault
        found = () if got.refusal or cell.verb != "check" else got.value
        if refused and any(one[1] == "refused by evaluate" for one in found):
            return ""
        if refused:
            if not got.refusal:
                return "it works, and REFUSED says that it does not"
            stated = any(re.search(says, got.refusal) for says in refused)
            return "" if stated else f"another refusal: {got.refusal}"
        if got.refusal:
            return f"refused: {got.refusal}"
        expected = self._expect(cell)
        if expected.value is None:
            return f"dicts are refused: {expected.refusal or expected.fault}"
        if cell.verb == "check" and cell.kind in NUMBERED:
            got, expected = (
                Outcome([found for found in one.value if found[1] not in ABOUT_IDS])
                for one in (got, expected)
            )
        if (
            VERBS[cell.verb].of_dialects and KINDS[cell.kind].ties == "given"
        ):  # which lacks an order of ids
            return (
                ""
                if got.value and got.value <= expected.value
                else f"differs: {got.value - expected.value}"
            )
        return (
            ""
            if got.value == expected.value
            else "differs: " + _tell_apart(got.value, expected.value)
        )

    def make_case(self, cell: Cell) -> Case:
        ordered = VERBS[cell.verb].of_dialects
        key = cell.kind, cell.option, ordered
        if key not in self._cases:
            folder = self._folder / f"{len(self._cases)}"
            folder.mkdir()
            kind, data = KINDS[cell.kind], OPTIONS[cell.option](self._data[ordered])
            self._cases[key] = kind.make(kind.adjust(data), folder)
        return self._cases[key]

    def _expect(self, cell: Cell) -> Outcome:
        kind = KINDS[cell.kind]
        ordered = VERBS[cell.verb].of_dialects
        data = make_reference(kind, cell.verb, OPTIONS[cell.option](self._data[ordered]))
        key = cell.verb, repr(data)
        if key not in self._expected:
            self._expected[key] = call(cell.verb, keep(dict)(data, self._folder))
        return self._expected[key]


def make_reference(kind: Kind, verb: str, data: Data) -> Data:
    """Make the data that dicts have to hold to give the values of a kind."""
    data = replace(kind.adjust(data), padding=0)
    reads_all = verb in NEED_ALL or data.options.get("unjudged") == "remove"
    if kind.dense and not reads_all and "collapse" not in data.options:
        sides = (
            {
                query: {item: grade for item, grade in got.items() if grade > 0}
                for query, got in qrels.items()
            }
            for qrels in (data.qrels, data.people)
        )
        data = replace(data, qrels=next(sides), people=next(sides))
    if not kind.scored:
        run, other = (
            {
                query: {item: float(len(got) - at) for at, item in enumerate(got)}
                for query, got in ranked.items()
            }
            for ranked in map(rank_lists, (data.run, data.other))
        )
        options = {name: one for name, one in data.options.items() if name != "ranks"}
        data = replace(data, run=run, other=other, options=options)  # whose ranks are places
    if VERBS[verb].of_dialects:
        return data
    ties = data.options.get("ties", kind.ties)
    if not kind.scored and ties in ("trec", "ascending"):
        ties = "given"
    return replace(data, options={**data.options, "ties": ties})


ABOUT_IDS = (
    "queries among the items",
    "the query among its results",
    "the query is its first result",
)
"""Findings about queries and items of one id, which say nothing of numbers."""
NEED_ALL = {"choose_judgments", "check", "trust", "evaluate_judges", "reconcile"}
"""Verbs that read all grades of an array, at least for some of the definitions that they try."""


def _tell_apart(one: Any, other: Any, path: str = "") -> str:
    """Tell where two values differ first."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            if one.get(key) != other.get(key):
                return _tell_apart(one.get(key), other.get(key), f"{path}.{key}")
    if (
        isinstance(one, (list, tuple))
        and isinstance(other, (list, tuple))
        and len(one) == len(other)
    ):
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            if a != b:
                return _tell_apart(a, b, f"{path}[{at}]")
    return f"{path}: {one!r:.200} and not {other!r:.200}"
