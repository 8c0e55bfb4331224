"""Rows of PyTerrier, ir_datasets and ir_measures as they are; their numbers are in test_inputs.py."""

from collections import namedtuple
from typing import Any, NamedTuple

import pytest

import germane
from germane.errors import FormatError, InputError

Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration", defaults=["0"])
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")

QRELS = [Qrel("1", "a", 1), Qrel("1", "b", 0), Qrel("2", "a", 2)]
RUN = [ScoredDoc("1", "b", 0.9), ScoredDoc("1", "a", 0.5), ScoredDoc("2", "a", 0.1)]


def test_namedtuples_and_what_yields_them() -> None:
    class Handle:
        """Rows that can be read again, as a data set's attribute ``qrels``."""

        def __iter__(self) -> Any:
            return iter(QRELS)

    for qrels in (QRELS, tuple(QRELS), iter(QRELS), (row for row in QRELS), Handle()):
        assert germane.evaluate(qrels, RUN, "AP")["AP"].per_query == {"1": 0.5, "2": 1.0}
    for run in (tuple(RUN), iter(RUN), (row for row in RUN)):
        assert germane.evaluate(QRELS, run, "AP")["AP"].per_query == {"1": 0.5, "2": 1.0}
    read = germane.read_qrels(iter(QRELS)), germane.read_run(iter(RUN))
    assert germane.evaluate(*read, "AP")["AP"].mean == 0.75
    mixed = germane.evaluate({"1": ["a"], "2": ["a"]}, iter(RUN), "AP")
    assert mixed["AP"].mean == 0.75


def test_columns_name_the_fields_of_others() -> None:
    class Play(NamedTuple):
        listener: int
        song: int
        plays: float

    rows = [Play(1, 10, 3.0), Play(1, 11, 5.0)]
    columns = {"query": "listener", "item": "song", "score": "plays"}
    found = germane.evaluate({1: [10]}, rows, "RR", columns={"run": columns})
    assert found["RR"].mean == 0.5
    with pytest.raises(FormatError, match="run: no column is the query; found 'listener', 'song'"):
        germane.evaluate({1: [10]}, rows)


def test_what_is_refused() -> None:
    with pytest.raises(
        FormatError, match="run, row 1: all rows must be of one type, ScoredDoc; got Q"
    ):
        germane.evaluate(QRELS, [RUN[0], QRELS[0]])
    with pytest.raises(
        germane.errors.ScoreError, match="run, column 'score', row 0: a score is missing"
    ):
        germane.evaluate(QRELS, [ScoredDoc("1", "a", None)])
    with pytest.raises(InputError, match=r"a run is .*rows that are namedtuples"):
        germane.evaluate(QRELS, iter([("1", "a", 0.5)]))
    with pytest.raises(germane.errors.EmptyError, match="the run is empty"):
        germane.evaluate(QRELS, iter([]))
    with pytest.raises(germane.errors.EmptyError, match="the qrels are empty"):
        germane.evaluate(iter([]), RUN)


def test_frames_of_pyterrier() -> None:
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame(
        {
            "qid": ["1", "1", "2"],
            "docid": [17, 4, 4],
            "docno": ["b", "a", "a"],
            "rank": [0, 1, 0],
            "score": [0.9, 0.5, 0.1],
            "query": ["how to", "how to", "why"],
        }
    )
    qrels = pandas.DataFrame({"qid": ["1", "2"], "docno": ["a", "a"], "label": [1, 2]})
    expected = {"1": 0.5, "2": 1.0}
    assert germane.evaluate(qrels, run, "AP")["AP"].per_query == expected
    assert germane.evaluate(qrels, run.drop(columns="score"), "AP")["AP"].per_query == expected
    judged = {"1": ["a"], "2": ["a"]}
    assert germane.evaluate(judged, run, "AP")["AP"].per_query == expected
    by_place = germane.evaluate({"1": {4: 1}}, run, "RR", columns={"item": "docid"})
    assert by_place["RR"].per_query == {"1": 0.5}
    with pytest.raises(FormatError, match="more than one column can be the item: 'docid', 'docno'"):
        germane.evaluate(judged, run.rename(columns={"qid": "query_id"}).drop(columns="query"))
