"""Queries with more rows than one batch: the parts together are the whole, bit for bit."""

import random
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

import germane
from germane import Evaluator
from test_evaluator import CHOICES, QRELS, RUN, Run, fitting, outcome, same


def in_parts(evaluator: Evaluator, run: Run, seed: int) -> Evaluator:
    """Every query's rows dealt out to up to four parts, each with the query's judged rows."""
    rng = random.Random(seed)
    judged = {
        query: {item: score for item, score in rows.items() if item in QRELS.get(query, {})}
        for query, rows in run.items()
    }
    dealt: list[Run] = [{} for _ in range(4)]
    for query, rows in run.items():
        for item in rng.sample(list(rows), len(rows)):
            if item not in judged[query]:
                rng.choice(dealt).setdefault(query, dict(judged[query]))[item] = rows[item]
    alone = {query: rows for query, rows in judged.items() if rows or not run[query]}
    evaluator.add_parts(
        evaluator.reduce(alone) if alone else None,
        [evaluator.reduce({q: dict(rng.sample(list(r.items()), len(r))) for q, r in part.items()})
         for part in dealt if part],
    )  # fmt: skip
    return evaluator


def result_of_parts(seed: int, *given: Any, **choices: Any) -> germane.Result:
    return in_parts(Evaluator(QRELS, *given, **choices), RUN, seed).result()


APART = [
    choices
    for choices in CHOICES
    if choices.get("ties") != "given" and choices.get("scores") != "sigmoid"
]


@pytest.mark.parametrize("choices", APART, ids=str)
def test_queries_in_parts_are_the_whole(choices: dict[str, Any]) -> None:
    allowed = fitting(germane.measures(), choices.get("ties"))
    whole = outcome(partial(germane.evaluate, QRELS, RUN, allowed, **choices))
    for seed in range(3):
        split = outcome(partial(result_of_parts, seed, allowed, **choices))
        if isinstance(whole, str) or isinstance(split, str):
            assert split == whole
        else:
            same(split, whole)


@pytest.mark.parametrize("choices", [{"ties": "given"}, {"scores": "sigmoid"}], ids=str)
def test_what_depends_on_all_rows_is_refused_in_parts(choices: dict[str, Any]) -> None:
    with pytest.raises(germane.PolicyError, match="depends on all rows of a query"):
        in_parts(Evaluator(QRELS, "AP", **choices), RUN, 0)


def test_a_part_needs_the_judged_rows() -> None:
    evaluator = Evaluator({"q": {"d": 1}}, "AP")
    judged = evaluator.reduce({"q": {"d": 1.0}})
    for part in ({"a": 2.0}, {"d": 1.0, "a": 2.0}):
        with pytest.raises(germane.InputError, match="all of its judged rows"):
            evaluator.add_parts(None if "d" in part else judged, [evaluator.reduce({"q": part})])
    evaluator.add_parts(None, [])
    with pytest.raises(germane.EmptyError):
        evaluator.result()


@pytest.mark.parametrize("copies", ["max", "again"])
def test_copies_of_an_item_stand_in_one_part(copies: Any) -> None:
    def frame(*rows: tuple[str, float]) -> pa.Table:
        items, scores = zip(*rows, strict=True)
        return pa.table({"query": ["q"] * len(rows), "item": items, "score": scores})

    qrels = {"q": {"d": 1, "e": 1}}
    judged = [("d", 0.5), ("d", 0.9), ("e", 0.2)]
    parts = [[("a", 0.8), ("a", 0.3)], [("b", 0.1), ("c", 0.7)]]
    evaluator = Evaluator(qrels, "AP P@5 NumRet", duplicates=copies)
    reduced = [evaluator.reduce(frame(*part, *judged)) for part in parts]
    evaluator.add_parts(evaluator.reduce(frame(*judged)), reduced)
    whole = germane.evaluate(
        qrels, frame(*judged, *parts[0], *parts[1]), "AP P@5 NumRet", duplicates=copies
    )
    same(evaluator.result(), whole)
