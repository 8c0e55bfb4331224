"""Frames and files with columns: the same numbers as dicts, and what is wrong with them said."""

import ast
import datetime
import json
import random
import re
import subprocess
import sys
import types
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import cli
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    ScoreError,
)
from results import values

import inputs
from sizes import SIZES, set_sizes

MEASURES = "AP AP(norm=found)@2 nDCG P@2 R@3 RR bpref NumRet RBP"
QRELS = {1: {10: 1, 9: 2, 8: 0, -7: 1}, 2: {10: 1, 11: 3}, 3: {9: 1}, 4: {9: 1}}
RUN = {
    2: {9: 0.5, 10: 0.5, 11: 0.5, 100: 0.5, -1: 0.5},
    3: {1: 2.0, 2: 2.0, 9: 2.0},
    1: {8: 3.0, 9: 1.0, 10: 2.0, -7: 2.0},
    5: {9: 1.0},
}


def table(given_rows: Any, number: str = "score", ids: Any = None) -> pa.Table:
    return inputs.table(given_rows, number, ids)


def triples(given: dict[Any, dict[Any, float]]) -> list[tuple[Any, Any, float]]:
    return [(query, item, n) for query, got in given.items() for item, n in got.items()]


def per_query(qrels: Any, run: Any, **choices: Any) -> dict[str, dict[Any, float]]:
    return values(germane.evaluate(qrels, run, MEASURES, **choices))


def frames(ids: Any = None) -> tuple[pa.Table, pa.Table]:
    return table(triples(QRELS), "relevance", ids), table(triples(RUN), "score", ids)


# ----------------------------------------------------------------------------- ids of every type

SIGNED = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.dictionary(pa.int8(), pa.int64())]


@pytest.mark.parametrize("kind", SIGNED, ids=str)
def test_integers(kind: pa.DataType, tmp_path: Path) -> None:
    """Ties go by their digits, as those of the same integers in dicts do."""
    convert = inputs.with_ids(kind)
    qrels, run = (convert(one, tmp_path) for one in frames())
    assert per_query(qrels, run) == per_query(QRELS, RUN)
    assert list(germane.evaluate(qrels, run)["AP"].per_query) == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()], ids=str)
def test_unsigned_integers(kind: pa.DataType, tmp_path: Path) -> None:
    qrels, run = ({q: {abs(i): n for i, n in got.items()} for q, got in d.items()} for d in (QRELS, RUN))  # fmt: skip
    convert = inputs.with_ids(kind)
    given_qrels = convert(table(triples(qrels), "relevance"), tmp_path)
    given_run = convert(table(triples(run)), tmp_path)
    assert per_query(given_qrels, given_run) == per_query(qrels, run)
    assert per_query(given_qrels, run) == per_query(qrels, run)


def test_large_integers() -> None:
    """Those that no double tells apart, and the bits of -1 that are another number's."""
    high = 2**64 - 1
    qrels = {high: {2**63 + 1: 1, 2**53: 1}, 2**53: {1: 1}}
    run = {high: {2**63 + 1: 1.0, 2**63: 2.0, 2**53 + 1: 3.0}, 2**53 + 1: {1: 1.0}}
    given = (
        table(triples(qrels), "relevance", pa.uint64()),
        table(triples(run), "score", pa.uint64()),
    )
    assert per_query(*given) == per_query(qrels, run)
    with pytest.raises(CoverageError):
        germane.evaluate(given[0], table([(-1, 1, 1.0)], ids=pa.int64()))


def test_uuids() -> None:
    query, one, other = (uuid.UUID(int=n << 64 | 0xABC) for n in (1, 2, 3))
    text = {str(query): {str(one): 1}}, {str(query): {str(other): 2.0, str(one): 1.0}}
    raw = pa.table(
        {
            "qid": pa.array([query.bytes] * 2, pa.binary(16)),
            "docid": pa.array([other.bytes, one.bytes], pa.binary(16)),
            "score": [2.0, 1.0],
        }
    )
    for at, name in enumerate(("qid", "docid")):
        raw = raw.set_column(
            at, name, pa.ExtensionArray.from_storage(pa.uuid(), raw[name].chunk(0))
        )
    expected = per_query(*text)
    assert per_query(text[0], raw) == expected
    assert per_query(text[0], table(triples(text[1]))) == expected


@pytest.mark.parametrize("form", inputs.COLUMNS)
def test_qrels_in_every_form(form: str, tmp_path: Path) -> None:
    qrels, run = ({f"q{q}": {f"{'é' * (i % 4)}{i}": n for i, n in got.items()} for q, got in d.items()} for d in (QRELS, RUN))  # fmt: skip
    mixed = random.Random(2).sample(triples(qrels), 8)
    expected = per_query(qrels, run)
    for order in (triples(qrels), mixed):
        given = inputs.COLUMNS[form](table(order, "relevance"), tmp_path)
        judged = germane.read_qrels(given)
        assert per_query(judged, run) == expected
        assert per_query(judged, table(triples(run))) == expected


# -------------------------------------------------------------------------- ids that do not match


def test_integers_against_text_are_an_error_that_shows_both() -> None:
    qrels, run = frames()
    text = inputs.with_ids(pa.string())(run, Path())
    message = (
        r"the query ids of run and qrels have different types: the run's are text \('2', '2', '2'\),"
        r" those of qrels are integer \(1, 2, 3, …\). Convert one of them."
    )
    with pytest.raises(CoverageError, match=message):
        germane.evaluate(qrels, text)
    for named in ("query_id", "doc_id"):
        column = run.column(named).cast(pa.string())
        half = run.set_column(run.column_names.index(named), named, column)
        which = {"query_id": "query", "doc_id": "item"}[named]
        for judged in (qrels, QRELS):
            with pytest.raises(CoverageError, match=f"the {which} ids of run and qrels"):
                germane.evaluate(judged, half)


def test_files_of_text_match_integers_by_their_digits(tmp_path: Path) -> None:
    qrels, run = frames()
    expected = per_query(QRELS, RUN)
    as_text = {m: {str(q): v for q, v in one.items()} for m, one in expected.items()}
    trec_qrels, trec_run = tmp_path / "a.qrels", tmp_path / "a.run"
    trec_qrels.write_text("".join(f"{q} 0 {i} {g}\n" for q, i, g in triples(QRELS)))
    trec_run.write_text("".join(f"{q} Q0 {i} 0 {s} t\n" for q, i, s in triples(RUN)))
    csv_run = inputs.COLUMNS[".csv"](run, tmp_path)
    for one in (trec_run, csv_run):
        assert per_query(qrels, one) == expected
    for one in (run, trec_run, csv_run):
        assert per_query(trec_qrels, one) == as_text
    assert per_query(germane.read_qrels(trec_qrels), run) == as_text
    assert per_query(trec_qrels, RUN) == as_text
    assert per_query(germane.read_qrels(trec_qrels), RUN) == as_text


@pytest.mark.parametrize(
    "qrels",
    [
        {1: {2: 1.0, "3": 1.0}},
        {1: {"3", 2}},
        {1: {2: 1.0}, "1": {2: 1.0}},
        {"1": {2: 1.0}, np.int64(1): {2: 1.0}},
    ],
)
def test_integers_and_text_in_one_dict(qrels: Any, tmp_path: Path) -> None:
    """A frame has ids of one type; which of a dict's are meant to match them nobody can say."""
    _, run = frames()
    name = "doc_id" if len(qrels) == 1 else "query_id"
    text = run.column(name).cast(pa.string())
    for one in (run, run.set_column(run.column_names.index(name), name, text)):
        with pytest.raises(CoverageError, match=r"those of qrels are of several types \("):
            germane.evaluate(qrels, one)
        with pytest.raises(CoverageError, match=r"those of qrels are of several types \("):
            germane.evaluate_many(qrels, {"run": one})
    if len(qrels) == 1:  # a file of text has no integers, so that it is clear
        germane.evaluate(qrels, inputs.COLUMNS[".csv"](run, tmp_path), "RR")


def test_categories_with_repeated_entries() -> None:
    """Arrow allows them; pandas and Polars do not make them."""
    entries = pa.array(["a", "b", "a", "c"])
    items = pa.DictionaryArray.from_arrays(pa.array([1, 2, 3], pa.int8()), entries)
    queries = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0], pa.int8()), entries)
    run = pa.table({"qid": queries, "docid": items, "score": [3.0, 2.0, 1.0]})
    qrels = pa.table({"qid": ["a"], "docid": ["a"]})
    for judged in (qrels, run.select(["qid", "docid"]).slice(1, 1), {"a": ["a"]}):
        assert germane.evaluate(judged, run, "RR NumRet")["RR"].per_query == {"a": 1 / 2}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.int64()])
def test_categories_of_which_one_is_null(kind: pa.DataType) -> None:
    """Only a row that has it lacks its id."""
    entries = pa.array([7, None, 8, 9], pa.int64()).cast(pa.string()).cast(kind)

    def run(*codes: int) -> pa.Table:
        items = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), entries)
        return pa.table({"query_id": ["q"] * 3, "doc_id": items, "score": [3.0, 2.0, 1.0]})

    relevant = 8 if kind == pa.int64() else "8"
    for qrels in ({"q": {relevant: 1}}, run(2, 3, 0).slice(0, 1).select(["query_id", "doc_id"])):
        assert germane.evaluate(qrels, run(3, 2, 0), "RR")["RR"].mean == 1 / 2
    with pytest.raises(FormatError, match="'doc_id', row 2: an id is missing"):
        germane.evaluate({"q": {relevant: 1}}, run(3, 2, 1))


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view(), pa.large_string()], ids=str)
def test_categories_of_a_query_that_goes_on_in_the_next_stretch(kind: pa.DataType) -> None:
    """Their entries may be views, as those of Polars are."""

    def stretch(items: list[str], scores: list[float]) -> pa.RecordBatch:
        entries = pa.array(items).cast(pa.large_binary() if "binary" in str(kind) else kind)
        item = pa.DictionaryArray.from_arrays(pa.array(range(len(items)), pa.uint32()), entries.cast(kind))  # fmt: skip
        return pa.record_batch([["q"] * len(items), item, scores], ["query_id", "doc_id", "score"])

    run = pa.Table.from_batches([stretch(["a", "b"], [4.0, 3.0]), stretch(["c", "a2"], [2.0, 1.0])])
    assert germane.evaluate({"q": ["c"]}, run, "RR")["RR"].mean == 1 / 3


@pytest.mark.parametrize("index", [pa.int8(), pa.uint64()], ids=str)
@pytest.mark.parametrize("unused", [0, 100])
@pytest.mark.parametrize("length", [3, 6])
def test_categories_of_which_every_stretch_has_its_own_list(
    index: pa.DataType, unused: int, length: int
) -> None:
    """In another order, and longer than the stretch where most of its entries have no row."""
    qrels, run = ({str(q): {str(i): n for i, n in d[q].items()} for q in d} for d in (QRELS, RUN))

    def listed(ids: tuple[str, ...], order: int) -> pa.DictionaryArray:
        entries = [*sorted(set(ids))[::order], *(f"unused {n}" for n in range(unused))]
        codes = pa.array(list(map(entries.index, ids)), index)
        return pa.DictionaryArray.from_arrays(codes, entries)

    def stretches(given: dict[str, dict[str, float]], number: str, order: int) -> pa.Table:
        rows, parts = triples(given), []
        for part in (rows[at : at + length] for at in range(0, len(rows), length)):
            query, item, numbers = zip(*part, strict=True)
            ids = listed(query, order), listed(item, order)
            parts.append(
                pa.record_batch(
                    [*ids, pa.array(numbers, pa.float64())], ["query_id", "doc_id", number]
                )
            )
        return pa.Table.from_batches(parts)

    given = stretches(qrels, "relevance", 1), stretches(run, "score", -1)
    assert per_query(*given) == per_query(qrels, run)
    repeated = pa.concat_tables([stretches({"1": {"9": 7.0}}, "score", 1), given[1]])
    with pytest.raises(DuplicateError, match="item '9' is retrieved twice for query '1'"):
        germane.evaluate(given[0], repeated)
    again = pa.concat_tables([stretches({"3": {"9": 1.0}}, "relevance", -1), given[0]])
    with pytest.raises(DuplicateError, match="item '9' is judged twice for query '3'"):
        germane.evaluate(again, given[1])


def test_frames_and_dicts_in_every_pair() -> None:
    qrels, run = frames()
    expected = per_query(QRELS, RUN)
    for judged in (qrels, QRELS):
        for retrieved in (run, RUN):
            assert per_query(judged, retrieved) == expected
    relevant: dict[int, Any] = {1: [9], 2: {10, 11}}
    assert per_query(relevant, run) == per_query(relevant, RUN)


# ------------------------------------------------------------------------------ every order of rows

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(-2, 12), st.sampled_from([0.0, 1.0, 1.5, 2.0])),
    min_size=1,
    max_size=30,
    unique_by=lambda row: row[:2],
)


@given(
    judged=ROWS,
    retrieved=ROWS,
    grouped=st.booleans(),
    step=st.sampled_from([1, 2, 5, 1 << 17]),
    ties=st.sampled_from(["trec", "given", "best", "worst"]),
)
def test_frames_equal_dicts(
    judged: Any, retrieved: Any, grouped: bool, step: int, ties: Any
) -> None:
    """However large the batches, and in any order of rows."""
    if not {q for q, _, _ in judged} & {q for q, _, _ in retrieved}:
        return
    if grouped:
        retrieved = sorted(retrieved, key=lambda row: row[0])
    qrels: dict[int, dict[int, float]] = {}
    run: dict[int, dict[int, float]] = {}
    for given_rows, into in ((judged, qrels), (retrieved, run)):
        for query, item, number in given_rows:
            into.setdefault(query, {})[item] = number
    with mock.patch(SIZES["step"], step):
        reader = inputs.batches(table(retrieved), Path())
        result = germane.evaluate(table(judged, "relevance"), reader, MEASURES, ties=ties)
    expected = germane.evaluate(qrels, run, MEASURES, ties=ties)
    assert result.counts == expected.counts
    for measure in expected:
        assert result[measure].per_query == pytest.approx(expected[measure].per_query, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 10, 11, 500])
@pytest.mark.parametrize("step", [4, 40, 1 << 18])
@pytest.mark.parametrize("left_out", ["q00", "q09", "q89", None])
@pytest.mark.parametrize("own", ["keep", "drop"])
def test_queries_that_go_on_in_the_next_record(
    size: int, step: int, left_out: str | None, own: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = {f"q{q:02}": [f"d{q + i}" for i in range(q % 3 * 8 + 1)] for q in range(90)}
    qrels = {query: {items[-1]: 2, "d7": 1} for query, items in run.items() if query != left_out}
    frame = pa.table(
        {
            "query_id": [query for query, items in run.items() for _ in items],
            "doc_id": [item for items in run.values() for item in items],
            "rank": [rank for items in run.values() for rank in range(1, len(items) + 1)],
        }
    )
    records = frame.to_batches(max_chunksize=size)
    expected = germane.evaluate(qrels, run, "AP")
    set_sizes(monkeypatch, step=step)
    result = germane.evaluate(qrels, pa.Table.from_batches(records), "AP", own=own)
    assert result["AP"].per_query == expected["AP"].per_query
    assert result.counts == expected.counts


def test_the_category_of_a_long_query_is_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """2.2 GB of it, which Arrow cannot hold; in one record, and in three."""
    query = "q" * 1_000_000
    places = pa.array(np.zeros(2200, np.int32))
    frame = pa.table(
        {
            "query_id": pa.DictionaryArray.from_arrays(places, pa.array([query])),
            "doc_id": [f"d{i}" for i in range(2200)],
            "rank": np.arange(2200) + 1,
        }
    )
    set_sizes(monkeypatch, step=800)
    for size in (2200, 800):
        run = pa.Table.from_batches(frame.to_batches(max_chunksize=size))
        assert germane.evaluate({query: {"d999": 1}}, run, "RR")["RR"].mean == 1 / 1000


def test_ranks_are_no_scores_that_may_be_negative() -> None:
    """Also where they are out of order in a query that is read together with others."""
    run = pa.table({"query_id": [1, 1, 2, 2], "doc_id": [7, 8, 8, 7], "rank": [1, 2, 2, 1]})
    result = germane.evaluate({1: [7], 2: [7]}, run, "RR", dialect="torchmetrics")
    assert result.policy.nonpositive == "miss"
    assert result["RR"].per_query == {1: 1, 2: 1}
    for ranked in (run, {1: [7, 8]}, np.array([[7, 8]])):
        with pytest.raises(
            germane.errors.PolicyError, match="nonpositive=miss is for scores, but the run has"
        ):
            germane.evaluate({1: [7], 2: [7]}, ranked, "RR", nonpositive="miss")


@given(
    st.lists(
        st.integers(-(2**63), 2**63 - 1) | st.integers(0, 200), min_size=1, max_size=20, unique=True
    )
)
def test_tied_integers_are_ordered_as_text(ids: list[int]) -> None:
    run = pa.table({"query": [1] * len(ids), "item": ids, "score": [0.5] * len(ids)})
    first = max(ids, key=str)
    assert germane.evaluate({1: [first]}, run, "RR", ties="trec")["RR"].mean == 1


# ------------------------------------------------------------------------------------- duplicates


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("duplicates", ["first", "last", "max", "keep"])
def test_repeated_rows(duplicates: Any, shuffle: bool, tmp_path: Path) -> None:
    given = [(q, i, s) for q in (1, 2, 3) for i, s in ((7, 1.0), (8, 5.0), (7, 4.0), (9, 3.0), (7, 2.0), (8, 5.0))]  # fmt: skip
    if shuffle:
        random.Random(4).shuffle(given)
    lines = "".join(f"{q} Q0 {i} 0 {s} t\n" for q, i, s in given)
    qrels = {q: {7: 1, 8: 2} for q in (1, 2)}
    found = per_query(qrels, table(given), duplicates=duplicates)
    path = tmp_path / "toy.run"
    path.write_text(lines)
    assert found == per_query(qrels, path, duplicates=duplicates)


def test_a_repeated_row_is_an_error() -> None:
    with pytest.raises(
        DuplicateError,
        match=r"run: item 7 is retrieved twice for query 1. duplicates=first, last or max keeps one",
    ):
        germane.evaluate({1: [7]}, table([(1, 7, 1.0), (1, 8, 1.0), (1, 7, 2.0)]))
    unjudged = table([(1, 7, 1.0), (2, 8, 1.0), (2, 8, 2.0)])
    assert germane.evaluate({1: [7]}, unjudged, "RR")["RR"].mean == 1


def test_a_repeated_judgment() -> None:
    qrels = table([("q", "a", 1.0), ("r", "a", 1.0), ("q", "b", 0.0), ("q", "a", 2.0)], "grade")
    for duplicates in ("error", "keep"):
        with pytest.raises(DuplicateError, match="qrels: item 'a' is judged twice for query 'q'"):
            germane.read_qrels(qrels, duplicates=duplicates)  # type: ignore[arg-type]
    for duplicates, grade in (("first", 1), ("last", 2), ("max", 2)):
        judged = germane.read_qrels(qrels, duplicates=duplicates)  # type: ignore[arg-type]
        assert germane.evaluate(judged, {"q": ["a"]}, "DCG@1")["DCG@1"].per_query["q"] == grade


# ------------------------------------------------------------------------------------ ranks


def test_ranks_are_an_order() -> None:
    run = table([(1, 9, 3), (1, 8, 1), (2, 5, 7), (1, 7, 12), (2, 9, 4)], "rank")
    lists = {1: [8, 9, 7], 2: [9, 5]}
    qrels = {1: [9, 7], 2: [5]}
    assert per_query(qrels, run) == per_query(qrels, lists)
    assert germane.evaluate(qrels, run).policy.ties == "given"


def test_ranks_that_are_no_order() -> None:
    run = table([(1, 9, 1), (1, 8, 2), (1, 7, 2)], "rank")
    with pytest.raises(FormatError, match="run, query 1: items 8 and 7 have the same rank, 2"):
        germane.evaluate({1: [9]}, run)


def both(score: list[float], rank: list[int]) -> pa.Table:
    n = len(score)
    return pa.table({"qid": [1] * n, "docid": list(range(n)), "score": score, "rank": rank})


def test_ranks_and_scores() -> None:
    agree = both([1.0, 3.0, 2.0, 2.0], [4, 1, 3, 2])
    assert per_query({1: [0, 3]}, agree) == per_query({1: [0, 3]}, {1: [1, 3, 2, 0]})
    contradict = both([1.0, 3.0, 2.0], [3, 2, 1])
    message = (
        "run, query 1: ranks and scores contradict each other: item 2 has rank 1 and score 2, item 1"
        " rank 2 and score 3. columns={'rank': None} goes by the scores, and columns={'score': None} by"
        " the ranks."
    )
    with pytest.raises(FormatError, match=re.escape(message)):
        germane.evaluate({1: [1]}, contradict, "RR")
    for ignored, value in (("rank", 1), ("score", 1 / 2)):
        result = germane.evaluate({1: [1]}, contradict, "RR", columns={ignored: None})
        assert result["RR"].mean == value


# ---------------------------------------------------------------------------------- headings


@pytest.mark.parametrize(
    ("query", "item", "number"),
    [("query_id", "doc_id", "score"), ("q_id", "doc_id", "score"), ("qid", "docno", "sim"), ("userId", "movieId", "rating"),
     ("User_ID", "ITEM_ID", "Weight"), ("session_id", "product_id", "prediction"),
     ("topic", "docid", "rank")],
)  # fmt: skip
def test_known_names(query: str, item: str, number: str) -> None:
    run = pa.table({item: [7, 8], "other": ["a", "b"], query: [1, 1], number: [1.0, 2.0]})
    found = germane.evaluate({1: [7]}, run, "RR")["RR"].mean
    assert found == (1 if number == "rank" else 1 / 2)


@pytest.mark.parametrize(
    "names",
    ["prompt chunk_id", "session song", "customer listing_id", "question doc", "visitorId trackId"],
)
def test_further_names(names: str, tmp_path: Path) -> None:
    """They work in frames, files and records; ids come before text, and usual names before both."""
    query, item = names.split()
    rows = {query: ["a", "a"], item: ["x", "y"], "score": [1.0, 2.0]}
    judged = {"a": {"x": 1}}
    run = tmp_path / "run.csv"
    run.write_text(f"{query},{item},score\na,x,1\na,y,2\n")
    for source in (pa.table(rows), run):
        assert germane.evaluate(judged, source, "RR")["RR"].mean == 1 / 2
    for further, usual in (("prompt chunk", "prompt_id chunk_id"), (names, "query_id doc_id")):
        texts = dict(zip(further.split(), (["b", "c"], ["z", "z"]), strict=True))
        ids = dict(zip(usual.split(), (["a", "a"], ["x", "y"]), strict=True))
        both = pa.table({**texts, **ids, "score": [1.0, 2.0]})
        assert germane.evaluate(judged, both, "RR")["RR"].mean == 1 / 2
    lists = pa.table({query: ["a"], item: ["z"], "recommendations": [["y", "x"]]})
    assert germane.evaluate(judged, lists, "RR")["RR"].mean == 1 / 2
    if query == query.lower() and item == item.lower():
        with pytest.raises(FormatError, match=f"'{query}' and '{item}' look like the names of"):
            germane.evaluate(judged, [{query: "a", item: "x", "score": 1.0}], "RR")
    twice = {**rows, "song_id": ["x", "y"], "book_id": ["x", "y"]}
    del twice[item]
    with pytest.raises(FormatError, match="can be the item: 'song_id', 'book_id'"):
        germane.evaluate(judged, pa.table(twice), "RR")


@pytest.mark.parametrize("name", ["is_relevant", "relevanceLabel", "judgement"])
def test_further_names_of_grades(name: str, tmp_path: Path) -> None:
    """A column of zeros and ones is no row of relevant items each, in any kind of input."""
    rows = {"user_id": ["a", "a"], "item_id": ["x", "y"], name: [0, 1]}
    path = tmp_path / "qrels.csv"
    path.write_text(f"user_id,item_id,{name}\na,x,0\na,y,1\n")
    for qrels in (pa.table(rows), path):
        assert germane.evaluate(qrels, {"a": ["x", "y"]}, "RR NumRel")["NumRel"].mean == 1


@pytest.mark.parametrize("name", ["clicked", "Stars", "y_true", "ground_truth"])
def test_numbers_that_may_be_grades(name: str) -> None:
    rows = {"user_id": ["a", "a"], "item_id": ["x", "y"], name: [0, 1]}
    documents = {"a": [{"id": "x", name.lower(): 0}, {"id": "y", name.lower(): 1}]}
    for qrels in (pa.table(rows), documents):
        with pytest.raises(FormatError, match=f"(?i)is '{name}' the relevance\\? Use columns="):
            germane.evaluate(qrels, {"a": ["x", "y"]}, "RR")
    found = germane.evaluate(
        pa.table(rows), {"a": ["x", "y"]}, "NumRel", columns={"relevance": name}
    )
    assert found["NumRel"].mean == 1


COMMAS = {
    "r.tsv": "user\titem\tscore\n1\t7\t0,95\n1\t8\t0,99\n",
    "r.csv": 'user,item,score\n1,7,"0,95"\n1,8,"0,99"\n',
    "r.run": "1 Q0 7 1 0,95 x\n1 Q0 8 2 0,99 x\n",
}


@pytest.mark.parametrize("name", COMMAS)
def test_decimal_commas(name: str, tmp_path: Path) -> None:
    """They are never read as another number; the error says what they are."""
    (tmp_path / name).write_text(COMMAS[name])
    says = re.escape("got '0,95' (with a comma; write a decimal point, as in 0.95)")
    with pytest.raises(ScoreError, match=says):
        germane.evaluate({"1": ["7"]}, tmp_path / name, "RR")


def test_decimal_commas_that_separate_fields(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("user,item,score\n1,7,0,95\n")
    with pytest.raises(FormatError, match=r"4 fields .* Is one of the commas a decimal comma"):
        germane.evaluate({"1": ["7"]}, tmp_path / "r.csv", "RR")
    texts = pa.table({"user": ["1"], "item": ["7"], "score": ["0,95"]})
    with pytest.raises(ScoreError, match=r"such as '0,95' \(with a comma"):
        germane.evaluate({"1": ["7"]}, texts, "RR")


def test_what_a_message_advises_for_semicolons_works(tmp_path: Path) -> None:
    """As European spreadsheets write them: the command and the frame have the same numbers."""
    path, new = tmp_path / "r.csv", tmp_path / "new.csv"
    path.write_text("user;item;score\n1;7;0,95\n1;8;0,99\n")
    with pytest.raises(FormatError, match="are these semicolons") as caught:
        germane.evaluate({"1": ["7"]}, path, "RR")
    command, _, rest = str(caught.value).rpartition("semicolons? ")[2].partition(" writes ")
    typed = command.replace("FILE", str(path)).replace("NEW.csv", str(new))
    subprocess.run(typed, shell=True, check=True)
    call = re.search(r"pandas(\.read_csv\(.*\)) makes a frame", rest)
    assert call
    frame = eval(f"pandas{call[1]}", {"pandas": pytest.importorskip("pandas"), "FILE": path})
    for run in (new, frame):
        assert germane.evaluate({1: [7]}, run, "RR")["RR"].mean == 1 / 2


def test_rows_of_json(tmp_path: Path) -> None:
    """A list of objects is read as the same lines are, with the types of its ids."""
    rows = [{"user_id": 1, "item_id": item, "score": score} for item, score in ((7, 1.0), (8, 2.0))]
    judged = [{"user_id": 1, "item_id": 7, "relevance": 2}, {"user_id": 1, "item_id": 9, "relevance": 0}]  # fmt: skip
    for name, data in (("run", rows), ("qrels", judged)):
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, data)))
    found = {
        end: germane.evaluate(tmp_path / f"qrels.{end}", tmp_path / f"run.{end}", "RR NumRel nDCG")
        for end in ("json", "jsonl")
    }
    assert values(found["json"]) == values(found["jsonl"])
    assert found["json"]["RR"].per_query == {1: 1 / 2}
    assert found["json"].name == "run"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"who": 1, "what": 7}], "Rows need a column of queries and one of items, such as"),
        ([{"user_id": 1, "item_id": 7}, {"user_id": 1, "item_id": "8"}], "'item_id' has values of"),
        ([{"user_id": 1, "item_id": 7}, {"user_id": 1}], "column 'item_id', row 1: an id is miss"),
        ([{"user_id": 1, "query": 2, "item_id": 7}], "more than one column can be the query"),
        ([{"user_id": 1, "item_id": 7, "rating": 2}], "is 'rating' the relevance?"),
    ],
)
def test_rows_of_json_that_cannot_be_read(rows: Any, says: str, tmp_path: Path) -> None:
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(FormatError, match=f"qrels.json.*{re.escape(says)}"):
        germane.evaluate(path, {1: [7]}, "RR")


def test_named_columns() -> None:
    run = pa.table({"customer": [1, 1], "film": [7, 8], "stars": [1.0, 2.0], "score": [2.0, 1.0]})
    qrels = pa.table({"customer": [1], "film": [7], "rating": [3]})
    columns = {"query": "customer", "item": "film", "relevance": "rating"}
    assert germane.evaluate(qrels, run, "RR", columns=columns)["RR"].mean == 1
    columns = {**columns, "score": "stars"}
    assert germane.evaluate(qrels, run, "RR", columns=columns)["RR"].mean == 1 / 2
    other = qrels.rename_columns(["who", "what", "rel"])
    apart = {"run": {"query": "customer", "item": "film", "score": "stars"}, "qrels": {"query": "who", "item": "what"}}  # fmt: skip
    assert germane.evaluate(other, run, "RR", columns=apart)["RR"].mean == 1 / 2


def test_qrels_without_grades_are_all_relevant() -> None:
    qrels = pa.table({"user_id": [1, 1], "item_id": [7, 8]})
    assert germane.evaluate(qrels, {1: [7, 9, 8]}, "NumRel P@1")["NumRel"].mean == 2
    rated = qrels.append_column("rating", pa.array([1, 5]))
    with pytest.raises(FormatError, match="qrels: is 'rating' the relevance\\?"):
        germane.evaluate(rated, {1: [7]})
    found = germane.evaluate(rated, {1: [7]}, "NumRel(rel=5)", columns={"relevance": None})
    assert found["NumRel(rel=5)"].mean == 0


PLAIN = {"qid": [1, 1], "docid": [7, 8], "score": [1.0, 2.0]}
WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no query": (
        {"docid": [1], "score": [1.0]},
        FormatError,
        "run: no column is the query; found 'docid', 'score'. Known names: query_id, qid,",
    ),
    "no item": ({"qid": [1], "score": [1.0]}, FormatError, "run: no column is the item; found"),
    "no score": (
        {"qid": [1], "docid": [1], "value": [1.0]},
        FormatError,
        "run: no column is the score or the rank; found 'qid', 'docid', 'value'.",
    ),
    "ambiguous": (
        {**PLAIN, "query": ["a", "b"]},
        FormatError,
        "run: more than one column can be the query: 'qid', 'query'. Choose one with columns={'query': name}",
    ),
    "null id": (
        {**PLAIN, "docid": [7, None]},
        FormatError,
        "run, column 'docid', row 1: an id is missing (null, or NaN in pandas).",
    ),
    "null query": (
        {**PLAIN, "qid": ["a", None]},
        FormatError,
        "run, column 'qid', row 1: an id is",
    ),
    "null score": (
        {**PLAIN, "score": [None, 1.0]},
        ScoreError,
        "run, column 'score', row 0: a score is missing (null, or NaN in pandas).",
    ),
    "NaN": (
        {**PLAIN, "score": [1.0, float("nan")]},
        ScoreError,
        "run, column 'score', row 1: a score must be a finite number; got nan",
    ),
    "infinity": ({**PLAIN, "score": [1.0, float("inf")]}, ScoreError, "a finite number; got inf"),
    "text score": (
        {**PLAIN, "score": ["1", "2"]},
        ScoreError,
        "run, column 'score': a score must be a finite number; the column is string, such as ",
    ),
    "float ids": (
        {**PLAIN, "docid": [7.0, 8.0]},
        FormatError,
        "run, column 'docid': ids are integers or text; the column is double. Integers become floats",
    ),
    "lists": (
        {**PLAIN, "docid": [[7], [8]]},
        FormatError,
        "ids are integers or text; the column is",
    ),
    "empty": ({"qid": [], "docid": [], "score": []}, EmptyError, "run: there are no rows."),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_run(name: str) -> None:
    columns, error, message = WRONG[name]
    with pytest.raises(error, match=re.escape(message)):
        germane.evaluate({1: [7]}, pa.table(columns))


def test_what_is_wrong_with_qrels() -> None:
    for grades, message in (
        (
            [1.0, None],
            "qrels, column 'grade', row 1: a relevance grade is missing (null, or NaN in pandas). Leave out",
        ),
        (
            [1.0, float("nan")],
            "qrels, column 'grade', row 1: a relevance grade must be a finite number",
        ),
    ):
        qrels = pa.table({"qid": [1, 1], "docid": [7, 8], "grade": grades})
        with pytest.raises(GradeError, match=re.escape(message)):
            germane.evaluate(qrels, {1: [7]})
    with pytest.raises(EmptyError, match="qrels: there are no rows"):
        germane.evaluate(pa.table(PLAIN).slice(0, 0).rename_columns(["qid", "docid", "rel"]), {})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("qid", "columns= is {'query': name, 'item': name, …}; got 'qid'"),
        ({"querry": "a"}, "columns= takes query, item, score, rank, relevance, subtopic or judge; got 'querry'. Did"),
        ({"query": None}, "columns={'query': …} takes the name of a column; got None"),
        ({"query": "quid"}, "run: no column 'quid'; found 'qid', 'docid', 'score'. Did you mean 'qid'"),
        ({"run": {"score": [3]}}, "columns={'score': …} takes the name of a column; got [3]"),
        ({"run": {"score": 3}}, "run: no column '3'; found 'qid', 'docid', 'score'."),
        ({"query": "docid", "item": "docid"}, "run: column 'docid' is named as the query and as the item. One column cannot be both"),
        ({"query": "docid"}, "'docid' is named as the query, and one column cannot be both."),
    ],
)  # fmt: skip
def test_wrong_columns(columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        germane.evaluate({1: [7]}, pa.table(PLAIN), columns=columns)


def test_columns_of_what_has_none() -> None:
    with pytest.raises(InputError, match="columns= names the columns of frames and of files"):
        germane.evaluate({1: [7]}, {1: [7]}, columns={"query": "qid"})


def test_columns_of_pandas_may_be_named_by_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame([["a", "x", 1.0], ["a", "y", 2.0]])
    with pytest.raises(FormatError, match="no column is the query; found '0', '1', '2'"):
        germane.evaluate({"a": ["x"]}, run, "RR")
    for kind in (int, str, np.int64):
        named = {"query": kind(0), "item": kind(1), "score": kind(2)}
        for columns in (named, {"run": named}):
            assert germane.evaluate({"a": ["x"]}, run, "RR", columns=columns)["RR"].mean == 0.5
    qrels = pandas.DataFrame([["a", 0, "x", 1]])
    columns = {"qrels": {"query": 0, "item": 2, "relevance": 3}, "run": named}
    assert germane.evaluate(qrels, run, "RR", columns=columns)["RR"].mean == 0.5
    with pytest.raises(FormatError, match="run: no column '7'; found '0', '1', '2'"):
        germane.evaluate({"a": ["x"]}, run, "RR", columns={**named, "score": 7})


@pytest.mark.parametrize("label", [1.5, ("q", "id"), datetime.date(2026, 1, 2), np.float64(2.5)])
def test_labels_of_any_type(label: Any) -> None:
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame({"query": ["a", "a"], "item": ["x", "y"], "score": [1.0, 2.0]})
    run.columns = pandas.Index([label, "item", "score"], dtype=object)
    assert germane.evaluate({"a": ["x"]}, run, "RR", columns={"query": label})["RR"].mean == 0.5


@pytest.mark.parametrize("label", [True, ["a"], {"a"}, b"a", object()])
def test_what_is_no_label(label: Any) -> None:
    with pytest.raises(InputError, match=r"columns=\{'query': …\} takes the name of a column; got"):
        germane.evaluate({1: [7]}, pa.table(PLAIN), columns={"query": label})


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_files_without_a_header(tmp_path: Path, suffix: str) -> None:
    """The message names the columns by their places, and that works; a header is never taken for data."""
    mark = {".csv": ",", ".tsv": "\t"}[suffix]
    rows = [["a", "x", "1.0", "n"], ["a", "y", "2.0", "n"], ["b", "x", "1.0", "n"]]
    path = tmp_path / f"run{suffix}"
    path.write_text("".join(mark.join(row) + "\n" for row in rows))
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("a,x,1\nb,x,1\n")
    with pytest.raises(FormatError, match="is the header missing") as error:
        germane.evaluate({"a": ["x"], "b": ["x"]}, path, "RR")
    found = re.search(r"columns=\{'run': (\{'query': 0.*?\})\}", str(error.value))
    assert found is not None
    columns = ast.literal_eval(found[1])
    for chosen in (columns, {part: str(place) for part, place in columns.items()}):
        result = germane.evaluate({"a": ["x"], "b": ["x"]}, path, "RR", columns=chosen)
        assert result["RR"].mean == 3 / 4
    titled = tmp_path / "titled.csv"
    titled.write_text("user,item,relevance\na,x,1\nb,x,1\n")
    assert germane.evaluate(titled, path, "RR", columns={"run": columns})["RR"].mean == 3 / 4
    both = {"run": columns, "qrels": {"query": 0, "item": 1, "relevance": 2}}
    assert germane.evaluate(qrels, path, "RR", columns=both)["RR"].mean == 3 / 4
    with pytest.raises(FormatError, match="is the header missing") as error:
        germane.evaluate(qrels, path, "RR", columns={"run": columns})
    assert "'relevance': 2" in str(error.value)
    path.write_text(mark.join(["user", "film", "score"]) + f"\na{mark}x{mark}1.0\n")
    with pytest.raises(FormatError, match="no column '0'; found 'user', 'film', 'score'"):
        germane.evaluate({"a": ["x"]}, path, "RR", columns={"query": 0, "item": 1, "score": 2})
    path.write_text(mark.join("012") + f"\na{mark}x{mark}1.0\n")  # labels that pandas wrote
    columns = {"query": 0, "item": 1, "score": 2}
    assert germane.evaluate({"a": ["x"]}, path, "RR NumRet", columns=columns)["NumRet"].mean == 1


def test_a_dict_of_frames() -> None:
    splits = {"train": pa.table(PLAIN), "test": pa.table(PLAIN)}
    with pytest.raises(
        FormatError, match="run: this is a mapping of names to frames, 'train', 'test'; give one"
    ):
        germane.evaluate({1: [7]}, splits)
    assert set(germane.evaluate_many({1: [7]}, splits)) == set(splits)


def test_two_columns_of_a_name() -> None:
    columns: list[Any] = [["a"], ["x"], [1.0], [2.0]]
    run = pa.table(columns, names=["qid", "docno", "score", "score"])
    with pytest.raises(FormatError, match=r"can be the score: 'score', 'score'\. Rename or drop"):
        germane.evaluate({"a": ["x"]}, run, "RR")


@pytest.mark.parametrize("members", [{}, {"Dataset": None}])
def test_a_module_of_ones_own_may_be_named_datasets(
    members: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(**members))
    grades, scores = np.array([[0, 1]]), np.array([[0.2, 0.1]])
    assert germane.evaluate(grades, scores, "RR")["RR"].mean == 0.5


def test_a_relation_that_cannot_be_computed() -> None:
    duckdb = pytest.importorskip("duckdb")
    text = duckdb.sql("SELECT 'a' AS qid, 'x' AS docno, 'high' AS score")
    run = text.project("qid, docno, score::double AS score")
    with pytest.raises(
        FormatError, match=r"run: DuckDB cannot read it .*Could not convert .*'high'"
    ):
        germane.evaluate({"a": ["x"]}, run, "RR")


def test_mixed_objects() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": [1, "a"], "docid": [1, 2], "score": [1.0, 2.0]}, dtype=object)
    with pytest.raises(FormatError, match=r"run, column 'qid', row 1: .* got 'a' \(str\) among"):
        germane.evaluate({1: [1]}, frame.astype({"score": float}))


def test_a_frame_given_to_explain_and_curves() -> None:
    pandas = pytest.importorskip("pandas")
    qrels, run = (one.to_pandas() for one in frames())
    expected = germane.explain(QRELS, RUN, "AP", query=1)
    assert str(germane.explain(qrels, run, "AP", query=1)) == str(expected)
    assert germane.mean_pr_curve(qrels, run).area(11) == germane.mean_pr_curve(QRELS, RUN).area(11)
    renamed = run.rename(columns={"query_id": "who"})
    told = germane.explain(qrels, renamed, query=1, columns={"run": {"query": "who"}})
    assert str(told) == str(expected)
    assert isinstance(qrels, pandas.DataFrame)


# -------------------------------------------------------------------------------------- files


def test_lists_of_ms_marco(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run.tsv", tmp_path / "qrels.tsv"
    run.write_text("10\t7\t1\n10\t8\t2\n11\t8\t1\n")
    qrels.write_text("10\t0\t8\t1\n11\t0\t9\t1\n")
    expected = {"10": 1 / 2, "11": 0}
    assert germane.evaluate(qrels, run, "RR@10")["RR@10"].per_query == expected
    other = run.rename(tmp_path / "run.txt")
    found = germane.evaluate(qrels, other, "RR@10", input_format="msmarco")
    assert found["RR@10"].per_query == expected


def test_lists_of_ms_marco_have_no_header(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.csv"
    run.write_text("q\ta\t1\n")
    qrels.write_text("user,item\nq,a\n")
    given = {"input_format": {"run": "msmarco"}}
    for columns in ({"rank": "place"}, {"run": {"query": "user"}}):
        with pytest.raises(InputError, match=r"run\.txt: columns= .*are query, item, rank"):
            germane.evaluate({"q": ["a"]}, run, "RR", columns=columns, **given)
    with pytest.raises(InputError, match="there are none here"):
        germane.evaluate({"q": ["a"]}, run, "RR", columns={"query": "user"}, **given)
    found = germane.evaluate(qrels, run, "RR", columns={"query": "user"}, **given)
    assert found["RR"].mean == 1
    seen = {"exclude": str(run), "input_format": {"run": "msmarco", "exclude": "msmarco"}}
    assert germane.evaluate({"q": ["a"]}, run, "RR", **seen).counts.excluded == 1
    run.write_text("query\titem\trank\nq\ta\t1\n")
    with pytest.raises(FormatError, match=r"run\.txt:1: a rank .*got 'rank' in column 'rank'"):
        germane.evaluate({"q": ["a"]}, run, "RR", **given)


def test_columns_of_qrels_without_a_header(tmp_path: Path) -> None:
    qrels, run, other = tmp_path / "qrels.tsv", tmp_path / "run.csv", tmp_path / "trec.run"
    qrels.write_text("q\t0\ta\t1\n")  # as MS MARCO's
    run.write_text("query,item,score\nq,a,1\n")
    other.write_text("q Q0 a 1 1 tag\n")
    for columns in ({"relevance": "rel"}, {"qrels": {"item": "pid"}}):
        for judged in (qrels, {"q": ["a"]}):
            with pytest.raises(
                InputError, match="is for qrels with named columns, but these qrels have"
            ):
                germane.evaluate(judged, run, "RR", columns=columns)
            with pytest.raises(
                InputError, match="is for qrels with named columns, but these qrels have"
            ):
                germane.evaluate_many(judged, {"a": run}, "RR", columns=columns)
    assert germane.evaluate(qrels, run, "RR", columns={"query": "query"})["RR"].mean == 1
    seen = germane.evaluate(qrels, other, "RR", columns={"query": "query"}, exclude=run)
    assert seen.counts.excluded == 1


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_refused_file_is_not_read_while_python_ends(suffix: str, tmp_path: Path) -> None:
    """Arrow reads ahead, so the file is larger than what Arrow has read when it refuses a line."""
    qrels, run = tmp_path / "qrels.csv", tmp_path / f"run.{suffix}"
    qrels.write_text("query,item\nq,a\n")
    first, row = {
        "csv": ("query,item,score\nq,a,x\n", "q,a,1\n"),
        "jsonl": (
            '{"query": "q", "item": "a", "score": "x"}\n',
            '{"query": "q", "item": "a", "score": 1}\n',
        ),
    }[suffix]
    run.write_text(first + row * (40_000_000 // len(row)))
    for _ in range(4):
        words = [sys.executable, "-m", "germane", "evaluate", str(qrels), str(run)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


@pytest.mark.parametrize(
    ("score", "says"),
    [
        ('"x"', r"run\.jsonl:2: .* one type; 'score' is 1 here, but 'x' \(str\) before"),
        ("true", r"run\.jsonl:2: .* one type; 'score' is 1 here, but True before"),
        ("1e999", r"run\.jsonl:1: the number of 'score' is beyond the range of a double"),
        ("[1]", r"run\.jsonl: cannot be read: .*/score\) changed from array"),
    ],
)
def test_a_wrong_score_is_refused_before_later_lines_are_read(
    score: str, says: str, tmp_path: Path
) -> None:
    """Else the last line, which is no JSON, would be named."""
    good = '{"query": "q", "item": "d", "score": 1}\n'
    first = f'{{"query": "q", "item": "a", "score": {score}}}\n'
    (tmp_path / "run.jsonl").write_text(first + good + "{\n")
    with pytest.raises(FormatError, match=says):
        germane.evaluate({"q": ["a"]}, tmp_path / "run.jsonl")
    mixed = (
        '{"note": 1, "score": 1}\n{"note": "x"}\n'  # a column that nobody reads may have two types
    )
    rows = mixed + '{"query": "q", "item": "a", "score": 1, "note": 2.5}\n'
    (tmp_path / "run.jsonl").write_text(rows)
    with pytest.raises(FormatError, match="column 'query', row 0: an id is missing"):
        germane.evaluate({"q": ["a"]}, tmp_path / "run.jsonl")


def test_qrels_of_beir(tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t007\t2\nq1\t8\t0\n")
    found = germane.evaluate(tmp_path / "test.tsv", {"q1": ["7", "007"]}, "DCG@2")
    assert found["DCG@2"].mean == 2 / np.log2(3)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".tsv", ".jsonl"])
def test_errors_name_the_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"toy{suffix}"
    with pytest.raises(InputError, match=f"toy{suffix}: there is no such file"):
        germane.evaluate({1: [7]}, path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=f"toy{suffix}: "):
        germane.evaluate({1: [7]}, path)
    path.write_bytes(b'{"a": 1}\nnothing of the kind\n')
    with pytest.raises(InputError, match=f"toy{suffix}:"):
        germane.evaluate({1: [7]}, path)
    given = table([(1, 7, float("nan"))])
    made = inputs.COLUMNS[suffix](given, tmp_path)
    if suffix != ".jsonl":
        with pytest.raises(ScoreError, match=f"toy{suffix}, column 'score', row 0: a score"):
            germane.evaluate({1: [7]} if suffix in (".parquet", ".arrow") else {"1": ["7"]}, made)


@pytest.mark.parametrize("given", ["parkett", {"run": "parkett"}])
def test_unknown_format(given: Any, tmp_path: Path) -> None:
    message = "input_format takes trec, parquet, .*, svmlight or scores; got 'parkett'.* 'parquet'"
    with pytest.raises(InputError, match=message):
        germane.evaluate({1: [7]}, tmp_path / "run", input_format=given)
    with pytest.raises(InputError, match="one for qrels and one for run; got 'runs'"):
        germane.evaluate({1: [7]}, tmp_path / "run", input_format={"runs": "csv"})


def test_a_format_of_one_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other is what its suffix says."""
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run"
    qrels.write_text("query,item\nq,b\n")
    run.write_text(
        '{"query": "q", "item": "a", "score": 2}\n{"query": "q", "item": "b", "score": 1}\n'
    )
    for side in ({"run": "jsonl"}, {"run": "jsonl", "qrels": "csv"}):
        assert germane.evaluate(qrels, run, "RR", input_format=side)["RR"].mean == 1 / 2
        assert not germane.check(qrels, run, input_format=side).serious
    kept = germane.read_run(run, input_format={"run": "jsonl"})
    assert germane.evaluate(qrels, kept, "RR")["RR"].mean == 1 / 2
    spelled = ["-m", "RR", "--format", "tsv", "--input-format"]
    for side in ("run=jsonl", "run = jsonl,qrels = csv"):
        assert cli.main(["evaluate", str(qrels), str(run), *spelled, side]) in (0, None)
        assert capsys.readouterr().out.split()[-1] == "0.5"
    written = tmp_path / "labels.letor", tmp_path / "scores"
    written[0].write_text("1 qid:q\n0 qid:q\n")
    written[1].write_text("1\n2\n")
    found = germane.evaluate(*written, "RR", input_format={"run": "scores"})
    assert found["RR"].mean == 1 / 2


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "query;item;score\nq;a;1\n", r"separated by commas; are these semicolons\?"),
        ("a.csv", "query\titem\tscore\nq\ta\t1\n", r"separated by commas; are these tabs\?"),
        ("a.tsv", "query,item,score\nq,a,1\n", r"separated by tabs; are these commas\?"),
        ("a.csv", "query item score\nq a 1\n", r"separated by commas; are these spaces\?"),
        ("a.csv", "q,a,1\nq,b,2\n", r"but has numbers: is the header missing\?"),
        ("a.tsv", "q\ta\t0.9\nq\tb\t0.8\n", r"but has numbers: is the header missing\?"),
        ("a.csv", "who,what,how\nq,a,1\n", r"Use columns=\{'query': name\} for another name\.$"),
    ],
)
def test_a_header_that_is_none(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=f"{name}: no column is the query; .*{says}"):
        germane.evaluate({"q": ["a"]}, tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            '{"query": "q", "item": "a", "score": "x"}',
            r".* one type; 'score' is 'x' \(str\) here, but 1",
        ),
        (
            '{"query": 1, "item": "a", "score": 1}',
            r".* one type; 'query' is 1 here, but 'q' \(str\)",
        ),
        (
            '{"query": "q", "item": "a", "score": 1',
            r"this is not JSON \(.*\): '\{\"query\": \"q\", \"item\"",
        ),
        ('["q", "a", 1]', r"a line is a JSON object, \{…\}; got \['q', 'a', 1\]"),
        ('{"query": ' + "[" * 100_000, r"the values are nested too deeply"),
    ],
)
@pytest.mark.parametrize("before", [3, 60_000])
def test_a_bad_line_of_json(line: str, says: str, before: int, tmp_path: Path) -> None:
    """Also one that stands far behind the first, in another of the blocks that Arrow reads."""
    good = '{"query": "q", "item": "d", "score": 1}\n'
    (tmp_path / "run.jsonl").write_text(good * before + "\n" + line + "\n" + good)
    with pytest.raises(FormatError, match=rf"run\.jsonl:{before + 2}: {says}"):
        germane.evaluate({"q": ["a"]}, tmp_path / "run.jsonl")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = frames()
    paths = [
        str(inputs.COLUMNS[".parquet"](one, folder))
        for one, folder in ((qrels, tmp_path), (run, tmp_path / "run"))
        if folder.mkdir(exist_ok=True) is None
    ]
    expected = germane.evaluate(QRELS, RUN, "AP")["AP"].mean
    assert cli.main(["evaluate", *paths, "-m", "AP", "--format", "tsv"]) in (0, None)
    assert f"{expected!r}" in capsys.readouterr().out
    for command in (["explain", *paths, "--query", "1"], ["curve", *paths]):
        assert cli.main(command) in (0, None)
        assert capsys.readouterr().out


def test_names_and_format_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of files whose suffix and whose columns say nothing, and of ranks that scores contradict."""
    (tmp_path / "q.data").write_text("who,what,liked\n1,7,1\n1,9,1\n")
    (tmp_path / "r.data").write_text("who,what,guess,rank\n1,7,0.1,1\n1,8,0.9,2\n")
    paths = [str(tmp_path / name) for name in ("q.data", "r.data")]
    named = "query=who,item=what,relevance=liked"
    for score, value in (("score=guess,rank=", "0.5"), ("score=", "1.0")):
        arguments = ["--input-format", "csv", "--columns", f"{named},{score}", "--format", "tsv"]
        assert cli.main(["evaluate", *paths, "-m", "RR", *arguments]) in (0, None)
        assert capsys.readouterr().out.split()[-1] == value
    assert cli.main(["evaluate", *paths, "--input-format", "csv"]) == 2
    told = capsys.readouterr().err
    assert "q.data: no column is the query; found 'who', 'what'" in told
    assert told.endswith("customer_id. Use --columns query=name for another name.\n")
    twice = [*("--columns", named), *("--columns", "score="), "--input-format", "csv"]
    assert cli.main(["evaluate", *paths, "-m", "RR", *twice, "--format", "tsv"]) in (0, None)
    assert capsys.readouterr().out.split()[-1] == "1.0"
    with pytest.raises(SystemExit):
        cli.main(["evaluate", *paths, *twice, "--columns", "item=other"])
    assert "names item twice: item=what and item=other" in capsys.readouterr().err
    assert cli.main(["evaluate", *paths, "--input-format", "excel"]) == 2
    assert "germane: --input-format takes trec, parquet" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["Polars", "PyArrow reader", ".parquet", ".csv"])
def test_runs_that_are_read_once(form: str, tmp_path: Path) -> None:
    given = inputs.COLUMNS[form](frames()[1], tmp_path)
    told: list[tuple[str, int, int | None]] = []
    run = germane.read_run(given, progress=lambda *at: told.append(at))
    assert per_query(QRELS, run) == per_query(QRELS, run) == per_query(QRELS, RUN)
    assert (
        repr(run) == f"Frame({'toy' if form[0] == '.' else 'run'!r}: {len(triples(RUN))} results)"
    )
    assert told == sorted(told)
    assert told[-1][0] == (str(given) if form[0] == "." else "run")


@pytest.mark.slow
def test_ids_that_only_shortened_words_confuse() -> None:
    """Of 200,000 pairs some have equal words of 32 bits, and not one is taken for another."""
    rng = np.random.default_rng(5)
    items = np.stack([rng.permutation(10**6)[:2000] for _ in range(100)])
    query = np.repeat(np.arange(100), 2000)
    run = pa.table({"qid": query, "docid": items.ravel(), "rank": np.tile(np.arange(1, 2001), 100)})
    judged = pa.table(
        {
            "qid": np.tile(query[::2], 2),
            "docid": np.append(
                items.ravel()[::2], 10**7 + query[::2] * 1000 + np.tile(np.arange(1000), 100)
            ),
        }
    )
    result = germane.evaluate(judged, run, "AP R@2000")
    assert result["R@2000"].mean == 1 / 2
    ap = np.sum(np.arange(1, 1001) / np.arange(1, 2001, 2)) / 2000
    assert result["AP"].mean == pytest.approx(ap, rel=1e-12)


def test_the_first_of_repeated_rows_is_the_first_row() -> None:
    """Even where another has a higher rank."""
    run = pa.table({"qid": [1, 2, 1, 1], "docid": [7, 7, 8, 7], "rank": [3, 1, 2, 1]})
    for duplicates, rank in (("first", 2), ("last", 1), ("max", 1)):
        found = germane.evaluate({1: [7]}, run, "RR", duplicates=duplicates)  # type: ignore[arg-type]
        assert found["RR"].mean == 1 / rank


@pytest.mark.parametrize("ranks", ["count", "have gaps"])
@pytest.mark.parametrize("duplicates", ["error", "first"])
def test_ranks_of_rows_in_any_order(ranks: str, duplicates: Any) -> None:
    """Whether ranks count the rows, so that they are places, or only order them."""
    rng = np.random.default_rng(6)
    rank = np.concatenate([np.arange(1, n + 1) for n in rng.integers(1, 9, 50)])
    query, item = np.cumsum(rank == 1), rng.permutation(len(rank))
    lists = {q: item[query == q].tolist() for q in np.unique(query).tolist()}
    shown = rank if ranks == "count" else rank * 3
    mixed = rng.permutation(len(rank))
    run = pa.table({"qid": query[mixed], "docid": item[mixed], "rank": shown[mixed]})
    qrels = {q: [*got[::2], -1] for q, got in lists.items() if q % 5}
    assert per_query(qrels, run, duplicates=duplicates) == per_query(qrels, lists)


def test_equal_ranks_contradict_no_scores() -> None:
    """A rank column that says nothing is no reason to refuse scores that do."""
    rows = {"query": ["q"] * 3, "item": ["a", "b", "c"], "rank": [0] * 3, "score": [1.0, 3.0, 2.0]}
    found = germane.evaluate({"q": ["c"]}, pa.table(rows), "RR")
    assert found["RR"].mean == 1 / 2


def test_grades_and_scores_may_be_true_and_false() -> None:
    qrels = pa.table({"query": ["q"] * 2, "item": ["a", "b"], "relevance": [False, True]})
    run = pa.table({"query": ["q"] * 2, "item": ["a", "b"], "score": [True, False]})
    assert germane.evaluate(qrels, run, "RR")["RR"].mean == 1 / 2


@pytest.mark.parametrize("empty", ["a", "b", "c", "ab", "bc", "ac"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [0, 2, 4, 1, 3, 5], [1, 0, 3, 2, 5, 4]])
def test_min_score_may_leave_queries_without_rows(
    empty: str, order: list[int], tmp_path: Path
) -> None:
    """Wherever the empty ones stand, the others keep their order, in frames as in lines."""
    rows = [(q, item, score * (q not in empty)) for q in "abc" for item, score in (("y", 1.0), ("x", 2.0))]  # fmt: skip
    rows = [rows[row] for row in order]
    lines = tmp_path / "run.txt"
    lines.write_text("".join(f"{query} Q0 {item} 0 {score} tag\n" for query, item, score in rows))
    query, item, score = zip(*rows, strict=True)
    frame = pa.table({"query": query, "item": item, "score": score})
    for run in (frame, lines, germane.read_run(lines)):
        found = germane.evaluate({q: ["x"] for q in "abc"}, run, "RR", min_score=0.5)
        assert found["RR"].per_query == {q: float(q not in empty) for q in "abc"}


# ------------------------------------------------------- ids beside files that have text alone


@pytest.mark.parametrize("qrels", [{1: {7: 1}}, {"1": {"7": 1}}, {1: {"7": 1}}, {"1": {7: 1}}])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "trec"])
def test_own_items_beside_text(qrels: Any, suffix: str, tmp_path: Path) -> None:
    """The query 1 retrieves the item 1, whatever the types of the judgments' ids."""
    path = tmp_path / f"run.{suffix}"
    if suffix == "trec":
        path.write_text("1 Q0 1 1 0.9 t\n1 Q0 7 2 0.8 t\n")
    else:
        text = "query,item,score\n1,1,0.9\n1,7,0.8\n"
        path.write_text(text.replace(",", "\t") if suffix == "tsv" else text)
    assert germane.evaluate(qrels, path, "RR", own="drop")["RR"].mean == 1
    assert germane.evaluate(qrels, germane.read_run(path), "RR", own="drop")["RR"].mean == 1


@pytest.mark.parametrize("suffix", ["csv", "trec"])
def test_queries_that_are_one_text(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{suffix}"
    lines = {"csv": "query,item,score\n1,8,2\n1,7,1\n", "trec": "1 Q0 8 1 2 t\n1 Q0 7 2 1 t\n"}
    path.write_text(lines[suffix])
    with pytest.raises(FormatError, match="two query ids of the qrels have the same text"):
        germane.evaluate({1: {7: 1}, "1": {8: 1}}, path, "AP")


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        ([-7, 2**64 - 1], "integer beyond 64 bits"),
        ([7, 2**70], "integer beyond 64 bits"),
        ([7, 8.0], "of several types"),
    ],
)
def test_ids_of_no_type_that_a_frame_has(ids: list[Any], kind: str) -> None:
    with pytest.raises(CoverageError, match=f"those of qrels are {kind} \\("):
        germane.evaluate({1: dict.fromkeys(ids, 1)}, frames()[1])


def test_names_of_columns_beside_qrels_without_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verbs that read the judgments before the runs take them, too."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.csv"
    qrels.write_text("1 0 8 1\n")
    run.write_text("who,film,stars\n1,7,2\n1,8,1\n")
    names = {"query": "who", "item": "film", "score": "stars"}
    for judged in (qrels, {"1": {"8": 1}}, germane.read_qrels(qrels)):
        for named in (names, {"run": names}):
            many = germane.evaluate_many(judged, {"a": run}, "RR", columns=named)
            assert many["a"]["RR"].mean == 1 / 2
            evaluator = germane.Evaluator(judged, "RR", columns=named)
            evaluator.update(run)
            assert evaluator.result()["RR"].mean == 1 / 2
            germane.compare(judged, {"a": run, "b": run}, "RR", columns=named)
    bare = tmp_path / "run.txt"
    bare.write_text("1 Q0 8 1 1 t\n")
    for judged in (qrels, {"1": {"8": 1}}, germane.read_qrels(qrels)):
        for without in (bare, {"1": {"8": 1.0}}):
            with pytest.raises(
                InputError, match="columns= names the columns of frames and of files"
            ):
                germane.evaluate_many(judged, {"a": without}, "RR", columns=names)
    other = run.with_name("other.csv")
    other.write_text(run.read_text())
    spelled = ["--columns", "query=who,item=film,score=stars", "-m", "RR"]
    for command in ("evaluate", "compare"):
        assert cli.main([command, str(qrels), str(run), str(other), *spelled]) in (0, None)
        assert "0.5" in capsys.readouterr().out


def test_python_objects_of_polars() -> None:
    """Polars hands out where they are in memory."""
    polars = pytest.importorskip("polars")
    ids = [uuid.UUID(int=n) for n in range(2)]
    run = polars.DataFrame({"query": ["q", "q"], "item": ids, "score": [2.0, 1.0]})
    with pytest.raises(FormatError, match=r"run, column 'item': it contains Python objects"):
        germane.evaluate({"q": {str(ids[1]): 1}}, run, "RR")
    text = run.with_columns(polars.Series("item", map(str, run["item"])))
    assert germane.evaluate({"q": {str(ids[1]): 1}}, text, "RR")["RR"].mean == 1 / 2


GOOD = '{"query": "q", "item": "d", "score": 1}\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("null\n" + GOOD, 1),
        ("\ufeff  null\n" + GOOD, 1),
        (GOOD + "\n \t null\n", 3),
        (GOOD * 30_000 + "null\n" * 300_000, 30_001),
        (GOOD * 30_000 + " " * 70_000 + "null\n", 30_001),
    ],
)
def test_null_for_an_object(text: str, line: int, tmp_path: Path) -> None:
    """Arrow's reader ends the process where one begins a block."""
    (tmp_path / "run.jsonl").write_text(text)
    with pytest.raises(FormatError, match=rf"run\.jsonl:{line}: a line is a JSON object.*got null"):
        germane.evaluate({"q": ["d"]}, tmp_path / "run.jsonl", "RR")


@pytest.mark.parametrize(
    "dates", [("2020-01-01", "2020-01-02"), ("2020-01-01", "2020-01-02 10:00:00")]
)
def test_ids_that_look_like_dates(dates: tuple[str, str], tmp_path: Path) -> None:
    """Text stays what it is."""
    path = tmp_path / "run.jsonl"
    for pairs in (
        [("q", date) for date in dates],
        [(date, "d") for date in dates],
        [dates, dates[::-1]],
    ):
        lines = (
            f'{{"query": "{q}", "item": "{i}", "score": {9 - n}}}\n'
            for n, (q, i) in enumerate(pairs)
        )
        path.write_text("".join(lines))
        query, item = pairs[1]
        place = [q for q, _ in pairs].count(query)
        assert germane.evaluate({query: [item]}, path, "RR")["RR"].mean == 1 / place


@pytest.mark.parametrize(
    ("earlier", "bad"),
    [
        ('{"query": "q", "item": "\udce9", "score": 1}', '{"query": '),
        ('{"query": "q", "item": "' + "d" * 9 + '", "n": ' + "9" * 5000 + "}", "{bad"),
        (GOOD.strip() * 2, None),
    ],
)
def test_a_line_of_json_that_arrow_reads_is_not_blamed(
    earlier: str, bad: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        f"{earlier}\n{GOOD}{bad or GOOD.replace('1', '[]')}\n", errors="surrogateescape"
    )
    with pytest.raises(
        FormatError,
        match=r"run\.jsonl:3: this is not JSON" if bad else r"run\.jsonl: cannot be read",
    ):
        germane.evaluate({"q": ["d"]}, path, "RR")


@pytest.mark.parametrize(
    "header",
    [
        ",query,item,doc_id,score",
        ",userId,movieId,stars",
        "query,item,2024",
        "nan,inf,who",
        "a,b,c",
    ],
)
def test_a_header_that_is_fine(header: str, tmp_path: Path) -> None:
    """Where a column is missing among others that are known, or none is a figure."""
    (tmp_path / "run.csv").write_text(
        f"{header}\n" + ",".join("1" * (header.count(",") + 1)) + "\n"
    )
    with pytest.raises(FormatError, match=r"run\.csv: ") as raised:
        germane.evaluate({"q": ["a"]}, tmp_path / "run.csv")
    assert "header missing" not in str(raised.value)


@pytest.mark.parametrize(
    "note",
    [
        '"note":\nnull',
        '"note":\n\n  null',
        '"note": [1,\nnull]',
        '"note": [\nnull\n]',
        '"note": null',
    ],
)
def test_null_in_an_object_that_goes_on(note: str, tmp_path: Path) -> None:
    """No object is there twice, so that Arrow reads it, if it is in one block."""
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"query": "q", "item": "d", "score": 1, {note}}}\n')
    assert germane.evaluate({"q": ["d"]}, path, "RR")["RR"].mean == 1


def test_a_damaged_row_group_is_named(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    run = pa.table({
        "query": [f"q{n // 10}" for n in range(200)],
        "item": [f"d{n % 10}" for n in range(200)],
        "score": [float(n % 7) for n in range(200)],
    })  # fmt: skip
    pq.write_table(run, tmp_path / "run.parquet", row_group_size=15, compression="none")
    qrels = {f"q{n}": {"d3": 1, "d8": 1} for n in range(20)}
    found = germane.evaluate(qrels, tmp_path / "run.parquet", "AP")
    assert found["AP"].per_query == germane.evaluate(qrels, run, "AP")["AP"].per_query
    data = bytearray((tmp_path / "run.parquet").read_bytes())
    at = pq.read_metadata(tmp_path / "run.parquet").row_group(7).column(1).data_page_offset
    data[at : at + 9] = bytes(9)
    (tmp_path / "run.parquet").write_bytes(data)
    with pytest.raises(
        germane.errors.InputError, match=r"run\.parquet, row group 7: cannot be read"
    ):
        germane.evaluate(qrels, tmp_path / "run.parquet", "AP")


# --- Ranks, labels and digits that are not what they seem ------------------------------------------


@pytest.mark.parametrize("ranks", [[-1, -2, -3], [-1.0, -2.0, -3.0], [1, 2, -3]])
def test_negative_ranks_are_refused(ranks: list[float]) -> None:
    """The lowest would be taken for the best."""
    run = pa.table({"query": ["q"] * 3, "item": ["a", "b", "c"], "rank": ranks})
    row = 2 if ranks[0] > 0 else 0
    with pytest.raises(ScoreError, match=rf"column 'rank', row {row}: a rank is 0 or more.*got -"):
        germane.evaluate({"q": ["a"]}, run, "RR")
    named = {"score": "rank", "rank": None}
    assert germane.evaluate({"q": ["a"]}, run, "RR", columns=named)["RR"].mean >= 1 / 2


@pytest.mark.parametrize("lengths", [[5], [4, 3], [3, 3, 3], [2] * 7, [40, 30]])
@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_ranks_that_fall_as_given_are_told_of(lengths: list[int], kind: type) -> None:
    query = np.repeat(np.arange(len(lengths)), lengths)
    rank = np.concatenate([np.arange(n, 0, -1) for n in lengths]).astype(kind)
    run = {"query": query, "item": np.arange(len(query)), "rank": rank}
    with pytest.warns(germane.GermaneWarning, match="the ranks of every query fall in the order"):
        germane.evaluate({0: [0]}, pa.table(run), "RR")
    rising = pa.table({**run, "rank": np.concatenate([np.arange(n) + 1 for n in lengths])})
    scored = pa.table({**run, "score": -rank.astype(float)})
    assert "ranks fall as given" in str(germane.check({0: [0]}, pa.table(run)))
    for other in (rising, scored):
        found = germane.evaluate({0: [0]}, other, "RR").findings
        assert not [one for one in found if one.what == "ranks fall as given"]


def rounded(found: Any) -> bool:
    return "scores lose precision" in [one.what for one in found.findings]


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2**53, 2**53 + 1),
        (Decimal("0.1"), Decimal("0.1000000000000000000001")),
        (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)),
        (np.longdouble(1), np.nextafter(np.longdouble(1), np.longdouble(2))),
    ],
    ids=str,
)
def test_scores_that_became_equal_as_doubles_are_told_of(
    one: Any, other: Any, tmp_path: Path
) -> None:
    if float(one) != float(other) or one == other:
        pytest.skip("long doubles are doubles here")
    scores = {"a": one, "b": other}
    assert rounded(germane.evaluate({"q": ["a"]}, {"q": scores}, "RR"))
    assert rounded(
        germane.evaluate({"q": ["a"]}, {"q": {"c": 3.0, **scores}}, "RR")
    )  # not the first
    assert not rounded(germane.evaluate({"q": ["a"]}, {"q": {"a": one, "b": 2 * one}}, "RR"))
    if isinstance(one, (int, Decimal)):
        frame = pa.table({"query": ["q"] * 2, "item": ["a", "b"], "score": [one, other]})
        assert rounded(germane.evaluate({"q": ["a"]}, frame, "RR"))
    if isinstance(one, int):
        for factor in (1, 2**20):  # which 64 bits do not hold
            path = tmp_path / "run.jsonl"
            lines = (
                json.dumps({"query": "q", "item": item, "score": score * factor})
                for item, score in scores.items()
            )
            path.write_text("\n".join(lines))
            assert rounded(germane.evaluate({"q": ["a"]}, path, "RR"))


@pytest.mark.parametrize(
    "large", [10**400, Decimal("1e400"), -(10**309)], ids=["int", "decimal", "negative"]
)
def test_numbers_beyond_the_range_of_a_double(large: Any, tmp_path: Path) -> None:
    says = "must be a finite number.*got .*, which is beyond the range of a double"
    with pytest.raises(ScoreError, match=says):
        germane.evaluate({"q": ["a"]}, {"q": {"a": large}}, "RR")
    with pytest.raises(GradeError, match=says):
        germane.evaluate({"q": {"a": large}}, {"q": ["a"]}, "RR")
    if isinstance(large, int):
        path = tmp_path / "run.jsonl"
        path.write_text(json.dumps({"query": "q", "item": "a", "score": large}))
        with pytest.raises(ScoreError, match=rf"run\.jsonl:1: a score {says}"):
            germane.evaluate({"q": ["a"]}, path, "RR")


def test_infinity_is_beyond_no_range() -> None:
    with pytest.raises(ScoreError, match=r"got inf$"):
        germane.evaluate({"q": ["a"]}, {"q": {"a": float("inf")}}, "RR")


def test_periods_are_text(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    months = pandas.period_range("2024-01", periods=2, freq="M")
    run = pandas.DataFrame({"query": months, "item": ["a", "b"], "score": [1.0, 2.0]})
    expected = {"2024-01": 1.0, "2024-02": 0.0}
    qrels = {"2024-01": ["a"], "2024-02": ["a"]}
    assert germane.evaluate(qrels, run, "RR")["RR"].per_query == expected
    by_period = {month: ["a"] for month in months}
    found = germane.evaluate(by_period, run, "RR")["RR"].per_query
    assert list(found.values()) == list(expected.values())
    run.to_parquet(tmp_path / "run.parquet")
    assert germane.evaluate(qrels, tmp_path / "run.parquet", "RR")["RR"].per_query == expected
    run.loc[1, "query"] = pandas.NaT
    with pytest.raises(FormatError, match="column 'query', row 1: an id is missing"):
        germane.evaluate(qrels, run, "RR")


def test_labelled_series_in_different_orders_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    grades, scores = pandas.Series([1, 0, 0, 1]), pandas.Series([0.9, 0.8, 0.7, 0.6])
    group = ["q", "q", "r", "r"]
    expected = germane.evaluate(grades, scores, "AP", group=group)["AP"].mean
    assert (
        expected
        == germane.evaluate([1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6], "AP", group=group)["AP"].mean
    )
    says = r"relevance and scores are Series with different labels: 0, 1, 2, … and 3, 2, 1, …\. scores\.loc"
    with pytest.raises(FormatError, match=says):
        germane.evaluate(grades, scores[::-1], "AP", group=group)
    with pytest.raises(FormatError, match="relevance and group are Series with different labels"):
        germane.evaluate(grades, scores, "AP", group=pandas.Series(group)[::-1])
    aligned = scores[::-1].loc[grades.index]
    assert germane.evaluate(grades, aligned, "AP", group=group)["AP"].mean == expected
    by_place = scores[::-1].to_numpy()
    assert germane.evaluate(grades, by_place, "AP", group=pandas.Series([2, 2]))["AP"].mean > 0


@pytest.mark.parametrize(
    ("lines", "is_msmarco"),
    [
        (["q1\ta\t1", "q1\tb\t2", "q2\ta\t1"], True),
        (["q1\ta\t2", "q1\tb\t1", "q2\ta\t1"], True),
        (["q1\ta\t1", "q2\ta\t1"], True),
        (["q1\tb\t30"], False),
        (["q1\ta\t30", "q1\tb\t20", "q2\ta\t30"], False),
        (["q1\ta\t1", "q1\tb\t3", "q2\ta\t1"], False),
        (["q1\ta\t0", "q1\tb\t1"], False),
    ],
)
def test_lists_of_ms_marco_count_their_ranks(
    lines: list[str], is_msmarco: bool, tmp_path: Path
) -> None:
    path = tmp_path / "run.tsv"
    path.write_text("\n".join(lines) + "\n")
    if is_msmarco:
        assert germane.evaluate({"q1": ["a"]}, path, "RR")["RR"].mean >= 1 / 2
    else:
        with pytest.raises(FormatError, match="is the header missing"):
            germane.evaluate({"q1": ["a"]}, path, "RR")


def test_scores_that_are_infinite_in_single_precision_are_tied() -> None:
    """And stand above all that are not."""
    run = {"query": ["q"] * 3, "item": ["a", "c", "b"], "score": [1e300, 1e38, 1e200]}
    found = germane.evaluate({"q": ["b"]}, pa.table(run), "RR", scores="single", ties="worst")
    assert found["RR"].mean == 1 / 2
