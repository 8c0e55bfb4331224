"""The gauntlet's frames, labels and vectors, elsewhere: other types of columns, in either side."""

import datetime
import tracemalloc
import uuid
import warnings
from collections.abc import Callable
from fractions import Fraction
from math import nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import germane
from germane.errors import GermaneError

from gauntlet.case import MEASURES, QRELS, RUN
from gauntlet.frames import frames
from gauntlet.siblings import refused, right, told

TIME = datetime.datetime(2020, 1, 1)


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
            with pytest.raises(germane.errors.FormatError, match=f"two columns are named '{name}'"):
                germane.evaluate(qrels, given, columns={"run": named})


def test_ranks_that_are_no_places() -> None:
    """A column of scores that is called rank, as of ts_rank, would be read from the worst to the best."""
    qrels, run = frames()
    ranked = run.rename(columns={"score": "rank"})
    refused(qrels, ranked, "run, column 'rank', row 0: a rank is a whole number; got 9.5")
    named = {"score": "rank", "rank": None}
    got = germane.evaluate(qrels, ranked, MEASURES, columns={"run": named})
    assert {str(m): got[m].mean for m in got.measures} == right(QRELS, RUN)
    places = run.groupby("query_id").cumcount().astype(float) + 1
    assert told(qrels, ranked.assign(rank=places)) == (right(QRELS, RUN), "")


def test_one_column_is_no_frame() -> None:
    qrels, run = frames()
    for column in (run["score"], pl.from_pandas(run)["score"], pa.chunked_array([[1.0, 2.0]])):
        if not hasattr(column, "__arrow_c_stream__"):  # pandas before 3: an array like any other
            continue
        refused(qrels, column, "run: a frame has columns", "this is one column")


def test_a_lazy_frame_is_refused_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(germane.errors.InputError, match=r"collect\(\) turns it into a frame"):
            germane.evaluate(QRELS, pl.LazyFrame({"query_id": ["q1"]}))


def test_ids_that_are_far_apart_take_no_memory() -> None:
    """Of arrays of the best K; the largest id is no number of items."""
    tracemalloc.start()
    found = germane.check([{5_000_000}, {1}], np.array([[5_000_000, 1], [1, 2]]), "AP")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not found.serious
    assert peak < 5_000_000


# --- Labels and vectors ----------------------------------------------------------------------------


def test_labels_that_are_missing() -> None:
    with pytest.raises(germane.errors.FormatError, match=r"query_labels, item 1: .* got <NA>"):
        germane.Labels(pd.array([1, None], dtype="Int64"), [1, 2])
    with pytest.raises(germane.errors.FormatError, match=r"gallery_labels: a cell .* is missing"):
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
    with pytest.raises(
        germane.errors.InputError, match=r"queries, row 1, column 1: .* a masked cell"
    ):
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


def test_what_is_shown_is_one_line() -> None:
    """Arrays and frames are written over several lines."""
    for given in (np.array([[(1, 2)] * 9] * 9, "i4,i4"), frames()[0]["relevance"]):
        refused(given, RUN, "got ")
        with pytest.raises(GermaneError) as raised:
            germane.evaluate(given, RUN)
        assert "\n" not in str(raised.value)
