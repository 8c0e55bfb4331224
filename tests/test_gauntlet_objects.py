"""The gauntlet's objects, elsewhere: other types of ids and numbers, in either side, alone and everywhere."""

import datetime
import enum
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import germane

from gauntlet.case import QRELS, RUN, changed, renamed, rows
from gauntlet.frames import frames
from gauntlet.siblings import refused, right, told


class Floating:
    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return float(self.value)


class Failing:
    def __float__(self) -> float:
        raise RuntimeError("no number")


class Whole(enum.IntEnum):
    TWO = 2


# --- Numbers ---------------------------------------------------------------------------------------

NO_NUMBERS = [
    None, "2", "", "nan", b"2", [2], (2,), {2}, {"grade": 2}, ..., len, float, object(), Failing(),
    2j, np.complex64(2), np.complex128(2 + 1j), np.void(b"12345678"), np.array("2"), np.array(["2"]),
    np.array([2.0]), np.array(nan), np.str_("2"), np.datetime64("2020-01-01"), np.timedelta64(2, "s"),
    np.ma.masked, datetime.date(2020, 1, 1), datetime.timedelta(2), Decimal("NaN"), Decimal("sNaN"),
    Decimal("Infinity"), Decimal("1e400"), Fraction(10**400), 10**400, nan, inf, -inf,
    np.float32(nan), np.float16(inf), Floating(nan), pd.NA, pd.NaT, pa.scalar(None, pa.float64()),
]  # fmt: skip


def unplaced(given: Any) -> str:
    """The value's repr without an address, so that a test is called the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(given))


@pytest.mark.parametrize("given", NO_NUMBERS, ids=unplaced)
def test_what_is_no_number(given: Any) -> None:
    """As a grade anywhere, as the first score of a query, and as all of them."""
    name = {float: "nan"}.get(type(given), type(given).__name__)
    shown = "" if isinstance(given, (float, int)) or given is None else name
    for item in ("d01", "d03"):
        refused(changed(QRELS, ("q1", item, given)), RUN, "'q1'", repr(item), "grade", shown)
    refused(QRELS, changed(RUN, ("q1", "d02", given)), "'q1'", "'d02'", "score", shown)
    every = {query: dict.fromkeys(items, given) for query, items in RUN.items()}
    refused(QRELS, every, "'q1'", "'d02'", "score", shown)
    refused(changed(QRELS, *((q, i, given) for q, i, _ in rows(QRELS))), RUN, "'q1'", "'d01'")


NUMBERS = [
    2, 2.0, True + 1, np.int8(2), np.uint64(2), np.float16(2), np.float32(2), np.longdouble(2),
    np.array(2), np.array(2.0), Decimal(2), Decimal("2.0"), Fraction(2), Floating(2), Whole.TWO,
    type("Own", (float,), {})(2),
]  # fmt: skip
if hasattr(pa.DoubleScalar, "__float__"):  # not of pyarrow 18
    NUMBERS += [pa.scalar(2), pa.scalar(2.0)]


@pytest.mark.parametrize("given", NUMBERS, ids=lambda given: type(given).__name__)
def test_what_is_a_number(given: Any) -> None:
    qrels = changed(QRELS, ("q1", "d01", given))
    assert told(qrels, RUN) == (right(QRELS, RUN), "")
    run = changed(RUN, ("q1", "d03", given))
    assert told(QRELS, run) == (right(QRELS, changed(RUN, ("q1", "d03", 2.0))), "")


def test_grades_as_large_as_doubles_hold() -> None:
    for grade in (2**53, -(2**53)):
        assert told(changed(QRELS, ("q1", "d02", grade)), RUN)[1] == ""
    for beyond in (2**53 + 2, 2**63, -(2**60), Decimal(2**70), Fraction(2**60)):
        refused(changed(QRELS, ("q1", "d02", beyond)), RUN, "'q1'", "'d02'", "2^53")


# --- Ids -------------------------------------------------------------------------------------------

TIME = datetime.datetime(2020, 1, 1)
OWN: dict[str, object] = {}
IDS: dict[str, Callable[[str], Any]] = {
    "bytes": str.encode,
    "integers": lambda one: int(one[1:]),
    "negative integers": lambda one: -int(one[1:]),
    "large integers": lambda one: 2**70 + int(one[1:]),
    "floats": lambda one: float(one[1:]),
    "NumPy's integers": lambda one: np.int32(one[1:]),
    "NumPy's text": np.str_,
    "NumPy's bytes": lambda one: np.bytes_(one.encode()),
    "decimals": lambda one: Decimal(one[1:]),
    "fractions": lambda one: Fraction(int(one[1:]), 7),
    "times": lambda one: TIME + datetime.timedelta(int(one[1:])),
    "NumPy's times": lambda one: np.datetime64(TIME + datetime.timedelta(int(one[1:]))),
    "pandas' times": lambda one: pd.Timestamp(TIME) + pd.Timedelta(int(one[1:]), "D"),
    "UUIDs": lambda one: uuid.UUID(int=int(one[1:])),
    "tuples": lambda one: (one, int(one[1:])),
    "frozen sets": lambda one: frozenset({one}),
    "complex numbers": lambda one: complex(int(one[1:]), 1),
    "objects": lambda one: OWN.setdefault(one, object()),
    "Arrow's text": pa.scalar,
    "blanks": lambda one: f" {one}\t\n",
    "NUL": lambda one: f"{one}\0",
    "surrogates": lambda one: f"{one}\ud800",
    "right to left": lambda one: f"\u202e{one}",
    "long": lambda one: one * 10_000,
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_another_kind(kind: str) -> None:
    """In both sides they are as good as text. In one side they match nothing, and that is told."""
    make = IDS[kind]
    assert told(renamed(QRELS, item=make), renamed(RUN, item=make))[0] == right(QRELS, RUN)
    assert told(renamed(QRELS, query=make), renamed(RUN, query=make)) == (right(QRELS, RUN), "")
    ranked = {query: list(map(make, found)) for query, found in RUN.items()}
    assert told(renamed(QRELS, item=make), ranked)[0] == right(QRELS, RUN)
    if kind not in ("NumPy's text", "Arrow's text"):
        refused(renamed(QRELS, query=make), RUN, "no query of the run is in the qrels", "'q1'")
        for qrels, run in ((QRELS, renamed(RUN, item=make)), (renamed(QRELS, item=make), RUN)):
            if isinstance(make("d01"), str):
                means, said = told(qrels, run)
                assert (set(means.values()), "no judged item" in said) == ({0.0}, True)
            else:
                refused(qrels, run, "no judged item was retrieved")


NOTHING = [None, nan, float("nan"), np.nan, np.float32(nan), np.datetime64("NaT"), pd.NA, pd.NaT,
           Decimal("NaN"), pa.scalar(None)]  # fmt: skip


@pytest.mark.parametrize("given", NOTHING, ids=repr)
def test_ids_that_are_missing(given: Any) -> None:
    """As a judged item, as a query of either side, as a query's first result."""

    def make(one: str) -> Any:
        return given if one in ("d02", "q2") else one

    refused(renamed(QRELS, item=make), RUN, "qrels, query 'q1': an id is missing")
    refused(renamed(QRELS, query=make), RUN, "qrels: an id is missing")
    refused(QRELS, renamed(RUN, query=make), "run: an id is missing")
    refused(QRELS, renamed(RUN, item=make), "run, query 'q1': an id is missing")
    lists = {query: list(found) for query, found in renamed(RUN, item=make).items()}
    refused(QRELS, lists, "run, query 'q1': an id is missing")
    judged = {query: list(found) for query, found in renamed(QRELS, item=make).items()}
    refused(judged, RUN, "qrels, query 'q1': an id is missing")


@pytest.mark.parametrize("given", [None, nan, np.nan, pd.NA, pd.NaT], ids=repr)
def test_an_id_that_is_missing_among_others(given: Any) -> None:
    run = {"q1": {"d02": 3.0, "d01": 2.0, given: 1.0}, **{q: RUN[q] for q in ("q2", "q3")}}
    refused(QRELS, run, "run, query 'q1': an id is missing")
    refused(QRELS, {query: list(found) for query, found in run.items()}, "an id is missing")


def test_an_id_that_is_another_object_each_time_is_found_by_check() -> None:
    """Among text, evaluating does not look at the type of each id, which takes twice as long as all the rest."""
    run = {**RUN, "q1": {"d02": 3.0, float("nan"): 1.0}}
    assert "malformed results" in [one.what for one in germane.check(QRELS, run, "AP")]


@pytest.mark.parametrize(
    ("judged", "retrieved"), [("7", 7), (7, "7"), ("7", b"7"), (b"7", "7"), ("\udcb5", b"\xb5")]
)
def test_one_id_of_another_type(judged: Any, retrieved: Any) -> None:
    """Most ids match, and so it is no error; a warning says which one does not."""
    qrels, run = {"q": {judged: 1, "x": 1}}, {"q": {"x": 2.0, retrieved: 1.0}}
    means, said = told(qrels, run)
    assert means["AP"] == 0.5
    kinds = f"{type(judged).__name__} and {type(retrieved).__name__}"
    assert f"{judged!r} is judged, but {retrieved!r} was retrieved" in said
    assert f"differs in type, {kinds}" in said
    _, said = told({judged: {"x": 1}, "r": {"x": 1}}, {retrieved: {"x": 1.0}, "r": {"x": 1.0}})
    assert f"differs in type, {kinds}" in said


# --- Shapes ----------------------------------------------------------------------------------------


def test_columns_and_rows_are_not_taken_for_queries() -> None:
    """A dict of columns has lists under its names, as one of queries has."""
    table, _ = frames()
    for given in (table.to_dict("list"), table.to_dict("records"), dict(table.items())):
        refused(given, RUN, "'query_id' and 'doc_id' look like the names of columns", "DataFrame")
    assert told({"query": {"item": 1}}, {"query": {"item": 1.0}})[0]["AP"] == 1.0


def test_qrels_and_run_that_are_swapped() -> None:
    """Grades as scores are, scores as grades are; and neither where the other is not."""
    rng = np.random.default_rng(5)
    items = [f"d{n}" for n in range(60)]
    qrels = {f"q{n}": dict(zip(items[:20], rng.integers(0, 3, 20).tolist(), strict=True)) for n in range(4)}  # fmt: skip
    scores = {
        query: dict(zip(items, (rng.random(60) * 20).tolist(), strict=True)) for query in qrels
    }
    kinds = {
        "decimals": scores,
        "rounded": germane_each(scores, lambda score: round(score, 1)),
        "whole": germane_each(scores, lambda score: round(score * 1000)),
    }
    for name, run in kinds.items():
        words = ("look like scores", "Are the two swapped? Give the qrels first, then the run.")
        if name == "whole":
            assert all(word in told(run, qrels)[1] for word in words)
        else:
            refused(run, qrels, *words)
        assert germane.check(run, qrels, "AP")[0].what == "swapped files"
        assert "swapped" not in told(qrels, run)[1] + str(germane.check(qrels, run, "AP"))
        assert "swapped" not in told(run, run)[1], "grades with decimals, scores with decimals"
    top = {query: dict(zip(items, range(5, 0, -1), strict=False)) for query in qrels}
    assert "swapped" not in told(kinds["decimals"], top)[1], (
        "five results with their ranks as scores"
    )


def germane_each(given: Any, make: Callable[[float], float]) -> Any:
    return {query: {i: make(v) for i, v in items.items()} for query, items in given.items()}
