"""What rounding scores does to a number: the more scores are equal, the less it says."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from germane.evaluation.api import evaluate_many
from germane.explanation.simulation.experiment import Column, Design, Experiment
from germane.measures.measure import parse

QUERIES, ITEMS = 100, 200
SHARE = 0.2  # of the items that are relevant
LEAD = 1.0  # by how much a relevant item scores higher, in standard deviations
DIGITS = (6, 5, 4, 3, 2, 1, 0)

Run = Mapping[str, Mapping[str, float]]


def ties(design: Design, rng: np.random.Generator) -> Experiment:
    grades = (rng.random((QUERIES, ITEMS)) < SHARE).astype(int)
    scores = LEAD * grades + rng.standard_normal((QUERIES, ITEMS))
    runs = {digits: _by_query(scores.round(digits)) for digits in DIGITS}
    qrels = _by_query(grades)
    columns = _columns(qrels, runs)
    claims = tuple(_claims(columns))
    return Experiment(design, DIGITS, runs, columns, claims, qrels=qrels)


def _by_query(values: Any) -> dict[str, dict[str, Any]]:
    items = [f"d{i:03}" for i in range(1, ITEMS + 1)]
    return {
        f"q{q:03}": dict(zip(items, row, strict=True)) for q, row in enumerate(values.tolist(), 1)
    }


def _columns(qrels: Mapping[str, Mapping[str, int]], runs: Mapping[int, Run]) -> tuple[Column, ...]:
    ap = parse("AP")
    named = {str(digits): run for digits, run in runs.items()}
    results = evaluate_many(qrels, named, ap).values()
    expected = [one[ap].mean for one in evaluate_many(qrels, named, ap, ties="expected").values()]
    mean = f"mean AP over {QUERIES} queries ({ap.definition}), equal scores"
    return (
        Column(
            "tied",
            "share of the judged items whose score another item of the query has too",
            tuple(result.counts.tied_share for result in results),
        ),
        Column(
            "worst", f"{mean} in the worst order", tuple(result[ap].worst for result in results)
        ),
        Column("expected", f"{mean} in random order, exactly", tuple(expected)),
        Column("trec", f"{mean} by item id, from the last", tuple(r[ap].mean for r in results)),
        Column("best", f"{mean} in the best order", tuple(r[ap].best for r in results)),
    )


def _claims(columns: tuple[Column, ...]) -> Iterator[str]:
    tied, worst, expected, trec, best = (column.values for column in columns)
    yield (
        f"With {DIGITS[0]} digits {tied[0]:.2%} of the items are tied, and AP is {expected[0]:.4f} "
        f"in whatever order (best − worst is {best[0] - worst[0]:.1g}); with {DIGITS[-1]} digits "
        f"{tied[-1]:.1%} are, and the "
        f"order of equal scores decides between {worst[-1]:.4f} and {best[-1]:.4f}."
    )
    bands = ", ".join(f"{high - low:.4f}" for low, high in zip(worst, best, strict=True))
    yield f"From {DIGITS[0]} digits to {DIGITS[-1]}, best − worst is {bands}."
    yield (
        f"At {DIGITS[-1]} digits random order is expected to give {expected[-1]:.4f}, and order by "
        f"item id gives {trec[-1]:.4f}: an id says nothing about relevance here."
    )
