"""Code as a user writes it; mypy --strict checks it and a test runs it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Unpack, assert_type

import numpy as np

import germane
from germane import AP, P, Policy, nDCG
from germane.types import Choices, Judgments, Measure, MeasureResult, Qrels, Result, Results, Run

QRELS: dict[str, dict[str, int]] = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
RUN: dict[str, dict[str, float]] = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d4": 0.7, "d3": 0.6}}
LISTS: dict[str, list[str]] = {"q1": ["d1", "d2"], "q2": ["d4", "d3"]}


def one_run() -> Result:
    result = germane.evaluate(QRELS, RUN, [AP, AP @ 10, AP(norm="R") @ 10, "nDCG(gain=exp)@10"])
    assert_type(result["AP@10"], MeasureResult)
    assert_type(result[AP @ 10].mean, float)
    assert_type(result[AP].best - result[AP].worst, float)
    assert_type(result.policy, Policy)
    assert_type(result.counts.missing, int)
    assert_type(str(result), str)
    for name, measured in result.items():
        assert_type(name, str)
        assert_type(measured, MeasureResult)
    assert_type(list(result[AP].per_query.values()), list[float])
    return result


def of_two(qrels: Judgments, first: Run, second: Run, **choices: Unpack[Choices]) -> list[Result]:
    return [germane.evaluate(qrels, run, "AP", **choices) for run in (first, second)]


def several_runs() -> Results:
    results = germane.evaluate_many(
        QRELS, {"scores": RUN, "lists": LISTS}, "AP P@1", ties="expected", depth=100
    )
    assert_type(results["scores"], Result)
    assert_type([result[P @ 1].mean for result in results.values()], list[float])
    return results


def files(folder: Path) -> Result:
    qrels = germane.read_qrels(folder / "qrels.txt", duplicates="first")
    assert_type(qrels, Qrels)
    run = germane.read_run(str(folder / "lda.run"))
    return germane.evaluate(qrels, run, nDCG @ 10, missing="skip", no_relevant="skip")


class Qrel(NamedTuple):
    """A row of ir_datasets."""

    query_id: str
    doc_id: str
    relevance: int


def other_data() -> Iterator[float]:
    """Arrays, ranked lists, records, labels, and the arguments beside them."""
    grades, scores = np.array([[1, 0, 2]]), np.array([[0.1, 0.2, 0.9]])
    yield germane.evaluate(grades, scores, "RR", item_ids=["a", "b", "c"], exclude=None)["RR"].mean
    yield germane.evaluate([{"d1"}], [["d2", "d1"]], "RR")["RR"].mean
    rows = [Qrel("q1", "d1", 1)]
    yield germane.evaluate(rows, {"q1": ["d1"]}, "RR", exclude={"q1": ["d9"]})["RR"].mean
    yield germane.evaluate(iter(rows), {"q1": ["d1"]}, "RR", collapse=lambda item: item)["RR"].mean
    found = germane.assert_no_regression(QRELS, RUN, "RR", baseline=RUN, max_drop=0.1)
    assert_type(found, germane.types.Gate)
    assert_type(germane.compare_judges(QRELS, QRELS, duplicates="first").kappa, float)


def mistaken() -> None:
    """Errors that an editor shows before anything runs."""
    germane.evaluate(QRELS, 7, "RR")  # type: ignore[arg-type]
    germane.evaluate_many(QRELS, RUN, "RR", ties="beste")  # type: ignore[arg-type]
    germane.assert_no_regression(QRELS, RUN, baseline=RUN, max_dorp=0.1)  # type: ignore[call-arg]
    germane.compare_judges(QRELS, QRELS, duplicate="first")  # type: ignore[call-arg]
    germane.trust(RUN, people=QRELS, model=None)  # type: ignore[arg-type]


def measures() -> list[Measure]:
    assert_type(germane.parse("AP@10"), Measure)
    assert_type(germane.score([0, 1, 0.5], "AP@10", relevant=3), float)
    return [*germane.measures(), nDCG(gain={1: 1, 2: 3}), germane.RBP(p=0.95) @ 100]


def handled() -> str:
    try:
        germane.parse("nDGC@10")
    except germane.errors.MeasureError as error:
        return str(error)
    return ""
