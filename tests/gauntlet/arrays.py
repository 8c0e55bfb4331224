"""Arrays of grades and scores, one row a query, and flat arrays with the group of each item."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import oracle
from gauntlet.case import ORDER, QRELS, RUN, Outcome, numbers, refused, rows

GRADES = [0, 1, 1, 0, 1, 0]
SCORES = [9.5, 8.25, 7.0, 6.5, 5.0, 1.0]


def ranked(scores: Any = None, grades: Any = None) -> Outcome:
    """AP and nDCG of one row; equal scores stand in the order of the columns."""
    grades, scores = grades or GRADES, scores or SCORES
    order = oracle.given_order(dict(enumerate(scores)))
    judged = dict(enumerate(grades))
    found = {name: oracle.value(name, {}, None, order, judged) for name in ("AP", "nDCG")}
    return Outcome("value", found)


@dataclass(frozen=True)
class ArrayCase:
    outcome: Outcome
    grades: Any
    scores: Any
    measures: str = "AP nDCG"
    more: Mapping[str, Any] = field(default_factory=dict)


def row(outcome: Outcome, scores: Any = None, grades: Any = None, kind: Any = None) -> ArrayCase:
    """One query."""
    grades, scores = GRADES if grades is None else grades, SCORES if scores is None else scores
    return ArrayCase(outcome, np.array([grades]), np.array([scores], kind))


def scored(*scores: float, kind: Any = None) -> ArrayCase:
    """Scores for which only their order matters."""
    return row(ranked(np.array(scores, kind).astype(float).tolist()), scores, kind=kind)


def equal(*scores: float) -> ArrayCase:
    """Scores whose order makes the number."""
    return row(Outcome("warning", ranked(list(scores)).numbers, (ORDER,)), scores)


def cut(k: Any, outcome: Outcome) -> ArrayCase:
    return ArrayCase(outcome, np.array([GRADES]), np.array([SCORES]), f"AP@{k} nDCG@{k}")


_GROUP = [0] * 6 + [1] * 3 + [2] * 2
_LABELS = [int(QRELS[q].get(item, 0) > 0) for q, item, _ in rows(RUN)]
_FLAT = [score for _, _, score in rows(RUN)]
_FLAT_AP = Outcome("value", {"AP": numbers(QRELS, RUN)["AP"]})


def flat(
    outcome: Outcome = _FLAT_AP, group: Any = None, scores: Any = None, labels: Any = None
) -> ArrayCase:
    """All queries in one row."""
    return ArrayCase(
        outcome,
        np.array(_LABELS) if labels is None else labels,
        np.array(_FLAT if scores is None else scores),
        "AP",
        {"group": _GROUP if group is None else group},
    )


_WHOLE = {f"{name}@1000": value for name, value in ranked().numbers.items()}
_TIED = [1.0] * 6

CASES = {
    "one row": row(ranked()),
    "rows of different lengths": row(refused("shape"), SCORES[:5]),
    "a NaN score": row(refused("nan", "column 4"), [9.5, 8.25, 7.0, 6.5, nan, 1.0]),
    "an infinite score": row(refused("inf", "column 4"), [9.5, 8.25, 7.0, 6.5, inf, 1.0]),
    "a score of minus infinity": row(refused("inf", "column 1"), [9.5, -inf, 7.0, 6.5, 5.0, 1.0]),
    "a relevant score of 0": scored(*(score - 5.0 for score in SCORES)),
    "grades for a measure of two kinds": row(
        ranked(grades=[0, 2, 1, 0, 1, 0]), None, [0, 2, 1, 0, 1, 0]
    ),
    "grade -1": row(ranked(grades=[0, -1, 1, 0, 1, 0]), None, [0, -1, 1, 0, 1, 0]),
    "grade 2^53 + 2": row(refused("row 0", "column 1", "2^53"), None, [0, 2**53 + 2, 1, 0, 1, 0]),
    "grade 1e308": row(refused("row 0", "column 1", "2^53"), None, [0, 1e308, 1, 0, 1, 0]),
    "grade 0.5": row(ranked(grades=[0, 0.5, 1, 0, 1, 0]), None, [0, 0.5, 1, 0, 1, 0]),
    "text for grades": row(refused("an array of numbers", "<U1"), None, list("011010")),
    "None for a score": row(refused("object"), [9.5, 8.25, None, 6.5, 5.0, 1.0]),
    "whole scores": row(refused("whole numbers", "astype(float)"), [95, 82, 70, 65, 50, 10]),
    "tied": equal(*_TIED),
    "signed zeros": equal(0.0, -0.0, 0.0, -0.0, 0.0, -0.0),
    "scores that only doubles tell apart": scored(
        1.00000001, 1.00000005, 1.0, 1.00000004, 1.00000003, 1.00000002
    ),
    "denormal scores": scored(5e-324, 1e-323, 1.5e-323, 2e-323, 2.5e-323, 0.0),
    "halves that become equal": scored(2048, 2049, 2046, 2044, 2042, 2040, kind=np.float16),
    "matrices": ArrayCase(
        ranked(), np.array([GRADES]).view(np.matrix), np.array([SCORES]).view(np.matrix)
    ),
    "the other order of bytes": scored(*SCORES, kind=">f8"),
    "ids in the other order of bytes": ArrayCase(
        ranked(), [{1, 2, 4}], np.array([[0, 1, 2, 3, 4, 5]], ">i8")
    ),
    "ids in the other order of bytes, beside grades": row(
        refused("whole numbers", "ids or scores"), [0, 1, 2, 3, 4, 5], kind=">i4"
    ),
    "sparse scores": ArrayCase(
        refused("toarray()"), np.array([GRADES]), sparse.csr_matrix([SCORES])
    ),
    **{
        f"grades in a sparse matrix, {kind.upper()}": ArrayCase(
            refused("must be CSR", "tocsr()"),
            sparse.csr_matrix([GRADES]).asformat(kind),
            np.array([SCORES]),
        )
        for kind in ("csc", "coo", "dok", "lil")
    },
    "a grade beyond 2^53 in a sparse matrix": ArrayCase(
        refused("row 0", "column 2", "2^53"), sparse.csr_matrix([[0, 1, 2**60]]), np.ones((1, 3))
    ),
    "k = 0": cut(0, refused("positive integer", "0")),
    "k = -3": cut(-3, refused("positive integer", "-3")),
    "k = 2.5": cut(2.5, refused("positive integer", "2.5")),
    "k = 1000": cut(1000, Outcome("value", _WHOLE)),
    "groups": flat(),
    "groups of 32 bits": flat(group=np.array(_GROUP, np.int32)),
    "a group -1": flat(group=[-1 if group == 2 else group for group in _GROUP]),
    "groups as floats": flat(refused("group", "integer"), np.array(_GROUP, np.float32)),
    "groups in a column of Polars": flat(group=pl.Series(_GROUP)),
    "a missing group": flat(refused("group", "<NA>"), pd.array([None, *_GROUP[1:]], dtype="Int64")),
    "lists for groups": flat(refused("group", "['a']"), [["a"]] * 11),
    "a grade beyond 2^53, flat": flat(
        refused("item 10", "2^53"), labels=np.array([*_LABELS[:-1], 2**60])
    ),
    "a frame beside groups": flat(refused("flat arrays"), labels=pd.DataFrame({"a": _LABELS})),
    "a group too few": flat(refused("length 10"), _GROUP[:-1]),
    "scores below 0": flat(scores=[score - 100 for score in _FLAT]),
    "nothing": flat(refused("empty"), [], np.zeros(0), np.zeros(0)),
}
