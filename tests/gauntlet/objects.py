"""Dicts and ranked lists that hold what a program may put into them by mistake."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from gauntlet.case import (
    COMPOSED,
    DECOMPOSED,
    DENORMAL,
    MEASURES,
    ONLY_DOUBLE,
    ONLY_Q2,
    ORDER,
    Q2_NOT_RELEVANT,
    QRELS,
    RUN,
    SIGNED_ZEROS,
    TIED,
    WITHOUT_Q3,
    Outcome,
    changed,
    each,
    refused,
    renamed,
    reversed_lists,
    value,
    warns,
)  # fmt: skip


@dataclass(frozen=True)
class ObjectCase:
    outcome: Outcome
    qrels: Any = field(default_factory=lambda: QRELS)
    run: Any = field(default_factory=lambda: RUN)
    measures: str = MEASURES
    before: str = ""  # a query that is evaluated first


def score(given: Any, outcome: Outcome) -> ObjectCase:
    """One score replaced."""
    return ObjectCase(outcome, run=changed(RUN, ("q1", "d03", given)))


def scores(make: Callable[[float], Any], outcome: Outcome | None = None) -> ObjectCase:
    """Every score made another type."""
    return ObjectCase(outcome or value(), run=each(RUN, make))


def grade(given: Any, outcome: Outcome | None = None) -> ObjectCase:
    """One grade replaced."""
    qrels = changed(QRELS, ("q1", "d01", given))
    return ObjectCase(outcome or value(qrels), qrels)


def ids(query: Any = str, item: Any = str, outcome: Outcome | None = None) -> ObjectCase:
    """Ids of both made others."""
    qrels, run = renamed(QRELS, query, item), renamed(RUN, query, item)
    return ObjectCase(outcome or value(), qrels, run)


_BIG = {"q1": {"d02": 2**53, "d01": 2**53 + 1}, "q2": {"d13": 2**53, "d12": 2**53 + 1},
        "q3": {"d22": 2**53, "d21": 2**53 + 1}}  # fmt: skip
_AS_DIGITS = lambda i: str(int(i[1:]))  # noqa: E731

NUMBERS = {
    "a NaN score": score(nan, refused("finite number", "nan", "'d03'")),
    "every score NaN": scores(lambda s: nan, refused("nan", "'q1'")),
    "an infinite score": score(inf, refused("finite number", "inf", "'d03'")),
    "None for a score": score(None, refused("must be a finite number", "None", "'d03'")),
    "text for a score": score("10.0", refused("'10.0' (str)", "'d03'")),
    "float32": scores(np.float32),
    "float16": scores(np.float16),
    "arrays of no dimension": scores(np.array),
    "Decimal": scores(lambda s: Decimal(str(s))),
    "Fraction": scores(Fraction),
    "True and False as scores": scores(
        lambda s: s > 4, warns(ORDER, run=each(RUN, lambda s: float(s > 4)))
    ),
    "a complex score": score(3 + 4j, refused("complex", "'d03'")),
    "whole scores beyond doubles": ObjectCase(
        warns("2^53", run=each(_BIG, float), also="some results are tied"), run=_BIG
    ),
    "True and False as grades": ObjectCase(
        value(each(QRELS, lambda g: int(g > 0))), each(QRELS, lambda g: g > 0)
    ),
    "NumPy's True and False": ObjectCase(
        value(each(QRELS, lambda g: int(g > 0))), each(QRELS, lambda g: np.bool_(g > 0))
    ),
    "grades as floats": ObjectCase(value(), each(QRELS, float)),
    "grade 0.5": grade(0.5),
    "grade 1.9": grade(1.9),
    "grade NaN": grade(nan, refused("finite number", "nan", "'d01'")),
    "grade None": grade(None, refused("None", "'d01'")),
    "grade as text": grade("2", refused("'2' (str)", "'d01'")),
    "grade -1": grade(-1),
    "grade -5": grade(-5),
    "a query of grades -2": ObjectCase(
        warns("no relevant item", Q2_NOT_RELEVANT, also="'q2'"),
        {**QRELS, "q2": dict.fromkeys(QRELS["q2"], -2)},
    ),
    "a query of grades -9999999": ObjectCase(
        warns("no relevant item", Q2_NOT_RELEVANT, also="'q2'"),
        {**QRELS, "q2": dict.fromkeys(QRELS["q2"], -9999999)},
    ),
    "grade 2^40": grade(2**40),
    "grade 2^63": grade(2**63, refused("in the range", "'d01'", str(2**63))),
}

SHAPES = {
    "dicts": ObjectCase(value()),
    "no run": ObjectCase(refused("a run is", "None"), run=None),
    "relevant items as lists": ObjectCase(
        value(each(QRELS, lambda g: int(g > 0))),
        {query: [item for item, g in items.items() if g] for query, items in QRELS.items()},
    ),
    "an empty run": ObjectCase(refused("the run is empty"), run={}),
    "empty qrels": ObjectCase(refused("the qrels are empty"), {}),
    "both empty": ObjectCase(refused("the qrels are empty"), {}, {}),
    "a query without judgments": ObjectCase(
        warns("without a judgment", {q: QRELS[q] for q in ("q1", "q2")}, also="'q3'"),
        {**QRELS, "q3": {}},
    ),
    "results of nothing": ObjectCase(value(run={}), run={query: {} for query in RUN}),
    "a judged query missing": ObjectCase(warns("missing", run=WITHOUT_Q3), run=WITHOUT_Q3),
    "several runs by name": ObjectCase(
        refused("'bm25' has queries", "'q1', 'q2', 'q3'", "evaluate_many", "run['bm25']"),
        run={"bm25": RUN, "dense": RUN},
    ),
    "several runs of lists by name": ObjectCase(
        refused("'bm25' has queries", "evaluate_many"),
        run={"bm25": {query: list(items) for query, items in RUN.items()}},
    ),
    "several paths by name": ObjectCase(
        refused("'bm25'", "'bm25.run' (str)", "{name: run}"), run={"bm25": "bm25.run"}
    ),
    "a query's results": ObjectCase(
        refused("'d02'", "{item: score}", "9.5", "{query: results}"), run=RUN["q1"]
    ),
    "a run of columns": ObjectCase(
        refused("names of columns", "pandas.DataFrame"),
        run={"query": ["q1"], "item": ["d01"], "score": [1.0]},
    ),
    "a number for the results of a query that nobody judged": ObjectCase(
        warns("no judged item", run={}, also="'q9'"),
        run={"q1": {"x": 1.0}, "q2": {}, "q3": {}, "q9": 5},
    ),
    "only the easiest query": ObjectCase(warns("missing", run=ONLY_Q2), run=ONLY_Q2),
    "a query that nobody judged": ObjectCase(warns("'q9'"), run={**RUN, "q9": {"d01": 1.0}}),
    "no query in common": ObjectCase(
        refused("no query of the run is in the qrels"), run=renamed(RUN, lambda q: f"x{q}")
    ),
    "queries in another order": ObjectCase(value(), run=dict(reversed(RUN.items()))),
    "tied": ObjectCase(warns(ORDER, run=TIED), run=TIED),
    "tied, the other way round": ObjectCase(warns(ORDER, run=TIED), run=reversed_lists(TIED)),
    "signed zeros": ObjectCase(warns(ORDER, run=SIGNED_ZEROS), run=SIGNED_ZEROS),
    "signed zeros, the other way round": ObjectCase(
        warns(ORDER, run=SIGNED_ZEROS), run=reversed_lists(SIGNED_ZEROS)
    ),
    "denormal scores": ObjectCase(value(run=DENORMAL), run=DENORMAL),
    "scores that only doubles tell apart": ObjectCase(value(run=ONLY_DOUBLE), run=ONLY_DOUBLE),
}

IDS = {
    "whole numbers as queries": ids(query=lambda q: int(q[1:])),
    "whole numbers as items, against text": ObjectCase(
        refused("item ids", "int", "str"),
        renamed(QRELS, item=_AS_DIGITS),
        renamed(RUN, item=lambda i: int(i[1:])),
    ),
    "whole numbers of 64 bits": ids(item=lambda i: 1745000000000000000 + int(i[1:])),
    "bytes": ids(item=lambda i: i.encode()),
    "bytes against text": ObjectCase(
        refused("bytes", "str"), run=renamed(RUN, item=lambda i: i.encode())
    ),
    "tuples": ids(item=lambda i: (i, 0)),
    "NumPy's text": ids(item=np.str_),
    "None as an item": ObjectCase(
        refused("an id is missing", "None"),
        run=renamed(RUN, item=lambda i: None if i == "d99" else i),
    ),
    "an empty query id": ids(query=lambda q: "" if q == "q2" else q),
    "an empty item id": ids(item=lambda i: "" if i == "d13" else i),
    "blanks, tabs and newlines": ids(lambda q: f"{q} x\t", lambda i: f"a {i}\n"),
    "a blank at the end in the run": ObjectCase(
        warns("white space", run=renamed(RUN, item=lambda i: "d01 " if i == "d01" else i)),
        run=renamed(RUN, item=lambda i: "d01 " if i == "d01" else i),
    ),
    "a NUL at the end in the qrels": ObjectCase(
        value(renamed(QRELS, item=lambda i: "d03\0" if i == "d03" else i)),
        renamed(QRELS, item=lambda i: "d03\0" if i == "d03" else i),
    ),
    "a NUL in every query": ids(query=lambda q: f"q\0{q}"),
    "half a surrogate pair": ids(item=lambda i: "d\ud800" if i == "d01" else i),
    "beyond the first plane": ids(item=lambda i: f"\U0001f600{i}"),
    "composed and decomposed letters": ObjectCase(
        warns("Unicode normalization", COMPOSED, DECOMPOSED), COMPOSED, DECOMPOSED
    ),
    "the query 'no query'": ids(query=lambda q: "no query" if q == "q1" else q),
    "the query 'no_query', later": ObjectCase(
        value(),
        renamed(QRELS, lambda q: "no_query" if q == "q1" else q),
        renamed(RUN, lambda q: "no_query" if q == "q1" else q),
        before="q1",
    ),
}

_ACTUAL = ["d01", "d03", "d05"]
_PREDICTED = ["d02", "d01", "d05", "d99", "d03", "d04"]
_AP = Outcome("value", {"AP@10": (1 / 2 + 2 / 3 + 3 / 5) / 3})


def lists(outcome: Outcome, actual: Any = None, predicted: Any = None, k: Any = 10) -> ObjectCase:
    """The relevant items of one query, and a ranked list."""
    relevant = _ACTUAL if actual is None else actual
    return ObjectCase(
        outcome, {"q": relevant}, {"q": _PREDICTED if predicted is None else predicted}, f"AP@{k}"
    )


LISTS = {
    "a list": lists(_AP),
    "a result repeated": lists(
        refused("retrieved twice", "duplicates=first"), predicted=["d01", "d01", "d01", "d03"]
    ),
    "a relevant item repeated": lists(
        refused("judged twice", "duplicates=first"), ["d01"] * 3, ["d01"]
    ),
    "nothing relevant": lists(Outcome("warning", {"AP@10": 0.0}, ("no relevant item",)), []),
    "nothing retrieved": lists(Outcome("value", {"AP@10": 0.0}), predicted=[]),
    "k = 0": lists(refused("positive integer", "0"), k=0),
    "k = -2": lists(refused("positive integer", "-2"), k=-2),
    "k = 2.5": lists(refused("positive integer", "2.5"), k=2.5),
    "more relevant lists than ranked ones": ObjectCase(
        Outcome("warning", {"AP@10": (_AP.numbers["AP@10"] + 1) / 3}, ("missing",)),
        {1: _ACTUAL, 2: ["d11"], 3: ["d21"]},
        {1: _PREDICTED, 2: ["d11"]},
        "AP@10",
    ),
    "no lists": ObjectCase(refused("the qrels are empty"), {}, {}, "AP@10"),
    "text for lists": lists(refused("(str)"), "d01", "d01"),
    "whole numbers against text": lists(refused("int", "str"), [1, 3, 5], ["2", "1", "5", "3"]),
    "arrays": lists(_AP, np.array(_ACTUAL), np.array(_PREDICTED)),
    "grades for relevant items": lists(_AP, {"d01": 2, "d02": 0, "d03": 1, "d05": 1}),
    "NaN for items": lists(refused("an id is missing", "nan"), [nan, "d01"], [nan, "d01"]),
    "fewer ranks than relevant items": lists(Outcome("value", {"AP@1": 0.0}), k=1),
}

_TWO = [_ACTUAL, ["d11"]], [_PREDICTED, ["d11"]]
_BOTH = Outcome("value", {"AP@10": (_AP.numbers["AP@10"] + 1) / 2})


def in_rows(outcome: Outcome, actual: Any = _TWO[0], predicted: Any = _TWO[1]) -> ObjectCase:
    """Lists of lists, matched by their place."""
    return ObjectCase(outcome, actual, predicted, "AP@10")


ROWS = {
    "rows": in_rows(_BOTH),
    "rows of arrays": in_rows(_BOTH, *([np.array(row) for row in side] for side in _TWO)),
    "rows of pandas' indexes": in_rows(_BOTH, *(list(map(pd.Index, side)) for side in _TWO)),
    "columns of Polars": ObjectCase(
        _BOTH, *(dict(enumerate(map(pl.Series, side))) for side in _TWO), "AP@10"
    ),
    "rows of grades": in_rows(_BOTH, [dict.fromkeys(row, 1) for row in _TWO[0]]),
    "a row too few": in_rows(refused("rows differ", "qrels have 2", "run has 1", "same number"),
                             _TWO[0], _TWO[1][:1]),
    "a row too many": in_rows(refused("rows differ", "qrels have 1", "run has 2"), _TWO[0][:1]),
    "a row too few beside ids": in_rows(
        refused("rows differ", "qrels have 1", "run has 2"), [{0}], np.array([[0, 1], [1, 2]])
    ),
    "no rows": in_rows(refused("the run is empty"), [], []),
    "no rows of relevant items": in_rows(refused("the qrels are empty"), []),
    "no ranked rows": in_rows(refused("the run is empty"), predicted=[]),
    "None for a row of relevant items": in_rows(refused("query 1", "None"), [_ACTUAL, None]),
    "None for a ranked row": in_rows(refused("query 1", "None"), predicted=[_PREDICTED, None]),
    "rows of grades and scores": in_rows(
        refused("contains ids", "[0.9, 0.8]", "numpy.array"), [[1, 0]], [[0.9, 0.8]]
    ),
    "rows of grades and whole scores": in_rows(
        refused("contains ids", "[1.0, 0.0]", "numpy.array"), [[1, 0]], [[1.0, 0.0]]
    ),
    "a missing id in a row": in_rows(refused("an id is missing", "nan"), predicted=[[nan], ["d11"]]),
    "tuples for ranked rows": in_rows(refused("Pass ranked lists as lists"), predicted=[("d01",)] * 2),
    "flat grades and scores": in_rows(refused("group="), [1, 0], [0.9, 0.8]),
}  # fmt: skip

CASES = {**NUMBERS, **SHAPES, **IDS, **LISTS, **ROWS}
