"""Spark: queries with more rows than a partition should hold are dealt out to several."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane
from germane.errors import CoverageError, DuplicateError, EmptyError
from test_spark import CHOICES, collection, compared, evaluated, fitting, integers

from data_frames import Session

QRELS, RUN = collection(queries=20)
TWICE = pa.concat_tables([RUN, RUN.slice(0, 20)])


def dealt(most_rows: int, qrels: pa.Table, run: pa.Table, measures: Any, **choices: Any) -> bool:
    """Is there a result, that of one machine, where queries with more rows are dealt out?"""
    return compared(Session(seed=most_rows), qrels, run, measures, most_rows, **choices)


CROWDED: list[dict[str, Any]] = [
    choices
    for choices in CHOICES
    if choices.get("ties") != "given" and choices.get("scores") != "sigmoid"
]


@pytest.mark.parametrize("choices", CROWDED, ids=str)
def test_queries_dealt_out_to_partitions(choices: dict[str, Any]) -> None:
    dealt(5, QRELS, RUN, fitting(choices.get("ties")), **choices)


@pytest.mark.parametrize("most_rows", [1, 2, 3, 100])
def test_how_many_rows_are_many_makes_no_difference(most_rows: int) -> None:
    assert dealt(most_rows, QRELS, RUN, "AP nDCG RBP(p=0.5)")


@pytest.mark.parametrize("copies", ["error", "max", "again"])
def test_copies_in_queries_dealt_out(copies: str) -> None:
    assert dealt(2, QRELS, TWICE, "AP P@5", duplicates=copies) == (copies != "error")


def test_queries_dealt_out_with_other_ids_and_without_judgments() -> None:
    assert dealt(1, integers(QRELS), integers(RUN), "AP")
    unjudged = RUN.set_column(1, "item", [["x" + item for item in RUN["item"].to_pylist()]])
    assert dealt(1, QRELS, unjudged, "AP P@5 NumRet")
    for qrels in (integers(QRELS), QRELS.slice(0, 0)):
        with pytest.raises((CoverageError, EmptyError)):
            evaluated(qrels, RUN, most_rows=1)
    other = QRELS.set_column(0, "query", [["x"] * len(QRELS)])
    with pytest.raises(DuplicateError):
        evaluated(other, RUN, most_rows=1)


def test_few_rows_of_a_crowded_query_are_sent_to_the_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A query of 4,000 rows, two of them judged, in parts of about 400."""
    held: list[int] = []
    reduce = germane.Evaluator.reduce
    monkeypatch.setattr(
        germane.Evaluator, "reduce",
        lambda self, batch, **named: held.append(len(batch)) or reduce(self, batch, **named),
    )  # fmt: skip
    rng = np.random.default_rng(0)
    scores = rng.permutation(4_000)
    run = pa.table({"query": ["q"] * 4_000, "item": np.arange(4_000), "score": scores})
    qrels = pa.table({"query": ["q", "q"], "item": [7, 3_999], "relevance": [1, 1]})
    found = evaluated(qrels, run, most_rows=400, partitions=10)["AP"].mean
    first, second = sorted(4_000 - scores[[7, 3_999]])
    assert found == (1 / first + 2 / second) / 2
    assert max(held) < 2_000
    assert min(held) == 2
