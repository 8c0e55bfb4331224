"""The gauntlet's objects, elsewhere: other types of ids and numbers, in either side, alone and everywhere."""

import contextlib
import datetime
import enum
import uuid
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import germane
from germane.errors import GermaneError, GermaneWarning

from gauntlet.case import MEASURES, QRELS, RUN, changed, numbers, renamed, rows


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


def test_what_is_shown_is_one_line() -> None:
    """Arrays and frames are written over several lines."""
    for given in (np.array([[(1, 2)] * 9] * 9, "i4,i4"), frames()[0]["relevance"]):
        refused(given, RUN, "got ")
        with pytest.raises(GermaneError) as raised:
            germane.evaluate(given, RUN)
        assert "\n" not in str(raised.value)


def told(qrels: Any, run: Any) -> tuple[dict[str, float], str]:
    """The means, and what was warned of."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = germane.evaluate(qrels, run, MEASURES)
    assert all(issubclass(one.category, GermaneWarning) for one in heard)
    means = {str(measure): result[measure].mean for measure in result.measures}
    return means, " ".join(str(one.message) for one in heard)


def right(qrels: Any, run: Any) -> Any:
    return pytest.approx(numbers(qrels, run), rel=1e-12, abs=1e-15)


def refused(qrels: Any, run: Any, *words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of what it converts before it is refused
        with pytest.raises(GermaneError) as raised:
            germane.evaluate(qrels, run, MEASURES)
        for word in words:
            assert word in str(raised.value), raised.value
        with contextlib.suppress(GermaneError):  # which check may raise, and nothing else
            assert germane.check(qrels, run, "AP").serious


# --- Numbers ---------------------------------------------------------------------------------------

NO_NUMBERS = [
    None, "2", "", "nan", b"2", [2], (2,), {2}, {"grade": 2}, ..., len, float, object(), Failing(),
    2j, np.complex64(2), np.complex128(2 + 1j), np.void(b"12345678"), np.array("2"), np.array(["2"]),
    np.array([2.0]), np.array(nan), np.str_("2"), np.datetime64("2020-01-01"), np.timedelta64(2, "s"),
    np.ma.masked, datetime.date(2020, 1, 1), datetime.timedelta(2), Decimal("NaN"), Decimal("sNaN"),
    Decimal("Infinity"), Decimal("1e400"), Fraction(10**400), 10**400, nan, inf, -inf,
    np.float32(nan), np.float16(inf), Floating(nan), pd.NA, pd.NaT, pa.scalar(None, pa.float64()),
]  # fmt: skip


@pytest.mark.parametrize("given", NO_NUMBERS, ids=repr)
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
    pa.scalar(2), pa.scalar(2.0), type("Own", (float,), {})(2),
]  # fmt: skip


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
    if kind != "NumPy's text":
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

    refused(renamed(QRELS, item=make), RUN, "qrels: an id is missing")
    refused(renamed(QRELS, query=make), RUN, "qrels: an id is missing")
    refused(QRELS, renamed(RUN, query=make), "run: an id is missing")
    refused(QRELS, renamed(RUN, item=make), "run, query 'q1': an id is missing")
    lists = {query: list(found) for query, found in renamed(RUN, item=make).items()}
    refused(QRELS, lists, "run, query 'q1': an id is missing")
    judged = {query: list(found) for query, found in renamed(QRELS, item=make).items()}
    refused(judged, RUN, "qrels: an id is missing")


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
    assert f"{judged!r} is judged and {retrieved!r} was retrieved" in said
    assert f"differ in type, {kinds}" in said
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
    for run in kinds.values():
        said = told(run, qrels)[1]
        assert "look like scores" in said
        assert "Are the two swapped? Give the qrels first, then the run." in said
        assert germane.check(run, qrels, "AP")[0].what == "swapped files"
        assert "swapped" not in told(qrels, run)[1] + str(germane.check(qrels, run, "AP"))
        assert "swapped" not in told(run, run)[1], "grades with decimals, scores with decimals"
    top = {query: dict(zip(items, range(5, 0, -1), strict=False)) for query in qrels}
    assert "swapped" not in told(kinds["decimals"], top)[1], (
        "five results with their ranks as scores"
    )


def germane_each(given: Any, make: Callable[[float], float]) -> Any:
    return {query: {i: make(v) for i, v in items.items()} for query, items in given.items()}


# --- Frames ----------------------------------------------------------------------------------------


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    qrels = pd.DataFrame(rows(QRELS), columns=["query_id", "doc_id", "relevance"])
    return qrels, pd.DataFrame(rows(RUN), columns=["query_id", "doc_id", "score"])


def with_value(frame: pd.DataFrame, row: int, column: str, value: Any) -> pd.DataFrame:
    frame = frame.astype({column: object})
    frame.at[row, column] = value
    return frame


MIXED = ["x", b"x", 2**70, 1j, (1,), [1], {"a": 1}, Fraction(1, 2), uuid.UUID(int=1), TIME]


@pytest.mark.parametrize("given", MIXED, ids=repr)
@pytest.mark.parametrize("column", ["query_id", "doc_id", "number"])
def test_a_value_of_another_type_in_a_column_of_objects(column: str, given: Any) -> None:
    for side in (0, 1):
        both = list(frames())
        name = both[side].columns[2] if column == "number" else column
        both[side] = with_value(both[side], 2, name, given)
        if column != "number" and isinstance(given, (str, bytes)):
            told(*both)  # an id like others, and Arrow takes bytes for text
        elif column == "number" and isinstance(given, uuid.UUID):
            continue  # which Arrow takes for a whole number
        else:
            refused(*both, ("qrels", "run")[side], f"column {name!r}")


@pytest.mark.parametrize("given", [None, nan, pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize("column", ["query_id", "doc_id", "number"])
def test_a_missing_value_in_a_column(column: str, given: Any) -> None:
    for side in (0, 1):
        both = list(frames())
        name = both[side].columns[2] if column == "number" else column
        both[side] = with_value(both[side], 2, name, given)
        refused(*both, f"column {name!r}, row 2", "missing")


COLUMNS: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "sparse": ("score", pd.arrays.SparseArray, "Sparse"),
    "complex": ("score", lambda column: column.astype(complex), "complex128"),
    "longdouble": ("score", lambda column: column.astype("longdouble"), "float128"),
    "text": ("score", lambda column: column.astype(str), "string"),
    "times": ("score", lambda column: pd.to_datetime(column, unit="s"), "timestamp"),
    "durations": ("score", lambda column: pd.to_timedelta(column, unit="s"), "duration"),
    "lists": ("score", lambda column: [[score] for score in column], "list"),
    "ids as floats": ("doc_id", lambda column: column.str[1:].astype(float), "double"),
    "ids as times": ("query_id", lambda column: pd.to_datetime("2020-01-0" + column.str[1:]), "timestamp"),
    "ids as bools": ("query_id", lambda column: column == "q1", "bool"),
    "ids with half a pair": ("doc_id", lambda column: column.astype(object) + "\ud800", "utf-8"),
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_that_are_no_scores_and_no_ids(kind: str) -> None:
    name, make, word = COLUMNS[kind]
    qrels, run = frames()
    refused(qrels, run.assign(**{name: make(run[name])}), f"column {name!r}", word)


def test_a_column_that_is_named_and_stands_twice() -> None:
    qrels, run = frames()
    named = {"query": "query_id", "item": "doc_id", "score": "score"}
    for name in run.columns:
        twice = pd.concat([run, run[[name]]], axis=1)
        for given in (
            twice,
            pa.table(list(map(pa.array, twice.to_numpy().T)), list(twice.columns)),
        ):
            with pytest.raises(germane.FormatError, match=f"two columns are named '{name}'"):
                germane.evaluate(qrels, given, columns={"run": named})


def test_one_column_is_no_frame() -> None:
    qrels, run = frames()
    for column in (run["score"], pl.from_pandas(run)["score"], pa.chunked_array([[1.0, 2.0]])):
        refused(qrels, column, "run: a frame has columns", "this is one column")


def test_a_lazy_frame_is_refused_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(germane.InputError, match=r"collect\(\) makes a frame of it"):
            germane.evaluate(QRELS, pl.LazyFrame({"query_id": ["q1"]}))


# --- Labels and vectors ----------------------------------------------------------------------------


def test_labels_that_are_missing() -> None:
    with pytest.raises(germane.FormatError, match=r"query_labels, item 1: .* got <NA>"):
        germane.Labels(pd.array([1, None], dtype="Int64"), [1, 2])
    with pytest.raises(germane.FormatError, match=r"gallery_labels: a cell .* is missing"):
        germane.Labels(np.eye(2), np.array([[1.0, nan]]))


def test_vectors_that_are_frames_or_masked() -> None:
    vectors = np.arange(12.0).reshape(4, 3) % 5

    def evaluated(given: Any) -> float:
        labels = [0, 0, 1, 1]
        result = germane.evaluate_embeddings(
            given, vectors, "AP", query_labels=labels, gallery_labels=labels
        )
        return result["AP"].mean

    assert evaluated(pd.DataFrame(vectors)) == evaluated(vectors)
    assert evaluated(np.ma.masked_array(vectors, False)) == evaluated(vectors)
    with pytest.raises(germane.InputError, match=r"queries, row 1, column 1: .* a masked cell"):
        evaluated(np.ma.masked_equal(vectors, 4.0))


def test_frames_of_polars_with_nulls_and_nan() -> None:
    qrels, run = map(pl.from_pandas, frames())
    for name in run.columns:
        holed = run.with_columns(
            pl.when(pl.col("doc_id") == "d99").then(None).otherwise(pl.col(name)).alias(name)
        )
        refused(qrels, holed, f"column {name!r}, row 3", "missing")
    score = pl.when(pl.col("doc_id") == "d99").then(nan).otherwise(pl.col("score"))
    refused(qrels, run.with_columns(score.alias("score")), "column 'score', row 3", "nan")
    refused(qrels, run.lazy(), "collect()")
