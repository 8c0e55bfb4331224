"""subtopic_weights=: the oracle, laws, every source, and what is refused."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import GermaneError
from germane.cli import main
from germane.errors import CoverageError, DuplicateError, GradeError, InputError, MeasureError

import oracle
from strategies import ALL, EVERY, ITEMS, oracle_parameters

WEIGHED = tuple(row for row in ALL if any(one.name == "weights" for one in row.parameters))
JUDGED = {
    "1": {"a": {"x": 1}, "b": {"y": 1}, "c": {"x": 1, "y": 2}},
    "2": {"a": {"x": 1}, "d": {"z": 0}},
}
RUN = {"1": {"a": 3.0, "b": 2.0}, "2": {"d": 2.0, "a": 1.0}}
WEIGHTS = {"1": {"x": 3.0, "y": 1.0}, "2": {"x": 0.5, "z": 2.0}}
MEASURES = " ".join(f"{row.name}(weights=given)" for row in WEIGHED)

Values = dict[str, dict[Any, float]]


def find(
    weights: Any, judged: Any = JUDGED, run: Any = RUN, measures: Any = MEASURES, **how: Any
) -> Values:
    result = germane.evaluate(judged, run, measures, subtopic_weights=weights, **how)
    return {str(measure): dict(result[measure].per_query) for measure in result.measures}


def test_the_measures_that_papers_weigh() -> None:
    assert {row.name for row in WEIGHED} == {row.name for row in ALL if row.subtopics} - {
        "StRecall"
    }


def test_the_mean_over_intents_by_hand() -> None:
    """P(x) = 3/4 and P(y) = 1/4; the list is a, b, and c is missed."""
    names = "P_IA(weights=given)@2 AP_IA(weights=given) ERR_IA(weights=given) NRBP(weights=given)"
    found = find(WEIGHTS, measures=names)
    assert found["P_IA(weights=given)@2"]["1"] == 3 / 4 * 1 / 2 + 1 / 4 * 1 / 2
    assert found["AP_IA(weights=given)"]["1"] == 3 / 4 * 1 / 2 + 1 / 4 * (1 / 2) / 2
    assert found["ERR_IA(weights=given)"]["1"] == 3 / 4 * 1 / 2 + 1 / 4 * (1 / 2) / 2
    assert found["NRBP(weights=given)"]["1"] == (3 + 1 / 2) * (1 - 1 / 4) / 4
    assert (
        found["AP_IA(weights=given)"]["2"] == 1 / 2
    )  # z has no relevant item, and its weight is not divided by


@given(st.integers(0, 10**6))
def test_weights_against_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    judged = {
        f"q{i}": {
            item: {
                s: rng.choice((0.0, 1.0, 1.0, 2.0)) for s in rng.sample("stuv", rng.randint(0, 4))
            }
            for item in rng.sample(list(ITEMS), min(5, len(ITEMS)))
        }
        for i in range(3)
    }
    weights = {q: {s: rng.choice((0.1, 0.25, 1.0, 3.0)) for s in "stuv"} for q in judged}
    run = {q: rng.sample(list(ITEMS), min(6, len(ITEMS))) for q in judged}
    measures = tuple(rng.choice(EVERY[row.name])(weights="given") for row in WEIGHED)
    result = germane.evaluate(judged, run, measures, subtopic_weights=weights)
    for measure in measures:
        for query, held in judged.items():
            expected = oracle.value(
                measure.name,
                oracle_parameters(measure),
                measure.k,
                run[query],
                held,
                weights[query],
            )
            assert math.isclose(
                result[measure].per_query[query], expected, rel_tol=1e-12, abs_tol=1e-12
            ), (measure, query)


def test_equal_weights_change_nothing() -> None:
    ones = {query: dict.fromkeys(weights, 1) for query, weights in WEIGHTS.items()}
    plain = find(None, measures=MEASURES.replace("(weights=given)", ""))
    assert list(find(ones).values()) == list(plain.values())


def test_only_the_shares_of_weights_matter_where_there_is_a_divisor() -> None:
    halves = {q: {s: w / 2 for s, w in weights.items()} for q, weights in WEIGHTS.items()}
    one, other = find(WEIGHTS), find(halves)
    for name, values in one.items():
        factor = 0.5 if name == "alpha_DCG(weights=given)" else 1.0
        assert other[name] == pytest.approx({q: value * factor for q, value in values.items()})


def test_a_weight_of_zero_leaves_a_subtopic_out() -> None:
    without = {**WEIGHTS, "1": {"x": 1, "y": 0}}
    alone = {"1": {"a": {"x": 1}, "b": {}, "c": {"x": 1}}, "2": JUDGED["2"]}
    names = MEASURES.replace("Dsharp_nDCG(", "Dsharp_nDCG(gamma=0,")
    assert find(without, measures=names) == find(without, judged=alone, measures=names)


class Weight(NamedTuple):
    query_id: str
    subtopic_id: str
    weight: float


ROWS = [
    Weight(query, one, weight) for query, held in WEIGHTS.items() for one, weight in held.items()
]
COLUMNS = {name: [getattr(row, name) for row in ROWS] for name in Weight._fields}


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dict": lambda folder: WEIGHTS,
    "pandas": lambda folder: pd.DataFrame(COLUMNS),
    "Polars": lambda folder: pl.DataFrame(COLUMNS),
    "Arrow": lambda folder: pa.table(COLUMNS),
    "records": lambda folder: ROWS,
    "CSV": lambda folder: write(
        folder / "w.csv",
        "topic,intent,probability\n" + "".join(f"{q},{s},{w}\n" for q, s, w in ROWS),
    ),
    "TREC": lambda folder: write(folder / "w.txt", "".join(f"{q} 0 {s} {w}\n" for q, s, w in ROWS)),
    "JSON": lambda folder: write(folder / "w.json", json.dumps(WEIGHTS)),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same(name: str, tmp_path: Path) -> None:
    assert find(SOURCES[name](tmp_path)) == find(WEIGHTS)
    frame = pa.table(
        {
            name: [
                (q, s, i, g)[at]
                for q, held in JUDGED.items()
                for i, of in held.items()
                for s, g in of.items()
            ]
            for at, name in enumerate(("query", "subtopic", "item", "relevance"))
        }
    )
    assert find(SOURCES[name](tmp_path), frame, measures="AP_IA(weights=given)") == find(
        WEIGHTS, measures="AP_IA(weights=given)"
    )


def test_columns_of_other_names() -> None:
    frame = pd.DataFrame(COLUMNS).rename(columns={"weight": "share"})
    columns = {"subtopic_weights": {"weight": "share"}}
    run = pd.DataFrame([(q, i, s) for q, held in RUN.items() for i, s in held.items()])
    run.columns = ["query", "item", "score"]
    assert find(frame, run=run, columns=columns) == find(WEIGHTS)
    with pytest.raises(InputError, match=r"no column is the weight; found .*'weight': name"):
        find(frame)


def test_integers_and_their_digits(tmp_path: Path) -> None:
    qrels = write(tmp_path / "q.txt", "1 7 a 1\n1 8 a 1\n1 8 b 1\n")
    found = [
        find(weights, qrels, {"1": ["b"]}, "AP_IA(weights=given)")
        for weights in ({1: {7: 3, 8: 1}}, {"1": {"7": 3, "8": 1}})
    ]
    assert found[0] == found[1] == {"AP_IA(weights=given)": {"1": 1 / 4 * 1 / 2}}


def test_explain_and_several_runs_and_batches_weigh_the_same() -> None:
    name = "ERR_IA(weights=given)@2"
    value = find(WEIGHTS, measures=name)[name]
    shown = germane.explain(JUDGED, RUN, name, query="1", subtopic_weights=WEIGHTS)
    assert shown.readings[0].value == value["1"]
    assert shown.readings[0].formula == f"{name} = (1.5000 + 0.2500) / 4 = 0.4375"
    many = germane.evaluate_many(JUDGED, {"a": RUN, "b": RUN}, name, subtopic_weights=WEIGHTS)
    assert many["b"][name].per_query == value
    evaluator = germane.Evaluator(JUDGED, name, subtopic_weights=WEIGHTS)
    for query in RUN:
        evaluator.update({query: RUN[query]})
    assert evaluator.result()[name].per_query == value
    other = germane.Evaluator(JUDGED, name, subtopic_weights={**WEIGHTS, "1": {"x": 1, "y": 3}})
    other.update({"1": RUN["1"]})
    with pytest.raises(InputError, match="different qrels"):
        germane.Evaluator(JUDGED, name, subtopic_weights=WEIGHTS).merge(other)


def test_reconcile_finds_weights_that_are_given() -> None:
    found = germane.reconcile(
        {"1": JUDGED["1"]}, RUN, reported="0.4375", measure="ERR_IA@20", subtopic_weights=WEIGHTS
    )
    assert "one definition gives it, ERR_IA(weights=given)@20" in str(found)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = write(tmp_path / "q.json", json.dumps(JUDGED))
    run, weights = write(tmp_path / "r.json", json.dumps(RUN)), SOURCES["CSV"](tmp_path)
    command = [
        "evaluate",
        str(qrels),
        str(run),
        "-m",
        "ERR_IA(weights=given)@20",
        "--format",
        "csv",
    ]
    assert main([*command, "--subtopic-weights", str(weights)]) == 0
    value = find(WEIGHTS, measures="ERR_IA(weights=given)@20")["ERR_IA(weights=given)@20"]
    assert str(sum(value.values()) / 2) in capsys.readouterr().out
    assert main(command) == 2
    assert "subtopic_weights={query: {subtopic: weight}}" in capsys.readouterr().err


TWICE = pa.concat_tables([pa.table(COLUMNS)] * 2)
NAN = pd.DataFrame({**COLUMNS, "weight": [math.nan, *COLUMNS["weight"][1:]]})


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ({"1": {"x": 1}}, CoverageError, "no weight for subtopic 'y' of query '1', which has 'x' (3 of 4"),
        ({"3": {"x": 1}}, CoverageError, "subtopic 'x' of query '1', which is not among its queries"),
        ({"1": {"x": -1, "y": 1}}, GradeError, "query '1', subtopic 'x': a weight is 0 or more; got -1"),
        ({"1": {"x": "1"}}, GradeError, "query '1', subtopic 'x': a weight is a number; got '1'"),
        ({"1": {"x": math.inf}}, GradeError, "a weight is a number; got inf"),
        ({**WEIGHTS, "2": {"x": 0, "z": 0}}, GradeError, "weight 0 for all subtopics of query '2'"),
        ({"1": ["x"]}, InputError, "query '1': weights are {subtopic: weight}; got ['x']"),
        ({}, InputError, "subtopic_weights= is empty"),
        (3, InputError, "is {query: {subtopic: weight}}, or a frame or a file with the columns"),
        (TWICE, DuplicateError, "subtopic 'x' is given a weight twice for query '1'. Keep one"),
        (NAN, GradeError, "subtopic_weights, column 'weight', row 0"),
    ],
)  # fmt: skip
def test_bad_weights(weights: Any, error: type[GermaneError], message: str) -> None:
    with pytest.raises(error) as raised:
        find(weights)
    assert message in str(raised.value)


def test_weights_and_measures_belong_together() -> None:
    with pytest.raises(
        MeasureError, match=r"no measure takes weights\. Ask for them in a measure's name"
    ):
        find(WEIGHTS, measures="ERR_IA@20 AP")
    with pytest.raises(
        MeasureError, match=r"there are no weights of subtopics\. Give subtopic_weights="
    ):
        find(None)
    with pytest.raises(MeasureError, match="there are no weights of subtopics"):
        germane.score([{"a"}, {"b"}], "ERR_IA(weights=given)")
    beside = find(WEIGHTS, measures="ERR_IA(weights=given)@20 AP StRecall@5")
    assert beside["AP"] == find(None, measures="AP StRecall")["AP"]
