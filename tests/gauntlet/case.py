"""What a case is, the data that most of them damage, and the numbers that are right."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import oracle

Judged = dict[Any, dict[Any, Any]]
Rows = Iterable[tuple[Any, Any, float]]

QRELS: Judged = {
    "q1": {"d01": 2, "d02": 0, "d03": 1, "d04": 0, "d05": 1},
    "q2": {"d11": 1, "d12": 0, "d13": 2},
    "q3": {"d21": 1, "d22": 0},
}
RUN: Judged = {
    "q1": {"d02": 9.5, "d01": 8.25, "d05": 7.0, "d99": 6.5, "d03": 5.0, "d04": 1.0},
    "q2": {"d13": 4.0, "d12": 3.5, "d11": 2.0},
    "q3": {"d22": 3.0, "d21": 2.0},
}
MEASURES = "AP nDCG RR P@5"
_OF = {"AP": ("AP", None), "nDCG": ("nDCG", None), "RR": ("RR", None), "P@5": ("P", 5)}


@dataclass(frozen=True)
class Outcome:
    """What is right: a kind, the numbers, and what the message holds."""

    kind: str  # value, warning or error
    numbers: Mapping[str, float] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    line: int | None = None  # of the file that is named


def value(qrels: Judged = QRELS, run: Judged = RUN) -> Outcome:
    return Outcome("value", numbers(qrels, run))


def warns(words: str, qrels: Judged = QRELS, run: Judged = RUN, *, also: str = "") -> Outcome:
    return Outcome("warning", numbers(qrels, run), (words, also) if also else (words,))


ORDER = "depending on their order"  # of scores that are nearly all equal


def refused(*words: str, line: int | None = None) -> Outcome:
    return Outcome("error", words=words, line=line)


def numbers(qrels: Judged, run: Judged) -> dict[str, float]:
    """Means over all judged queries; ties by item id, from the last to the first."""
    lists = {query: oracle.trec_order(run.get(query, {})) for query in qrels}
    return {
        name: fsum(oracle.value(measure, {}, k, lists[q], qrels[q]) for q in qrels) / len(qrels)
        for name, (measure, k) in _OF.items()
    }


def changed(given: Judged, *changes: tuple[str, Any, Any]) -> Judged:
    """The data with some values replaced."""
    out = {query: dict(items) for query, items in given.items()}
    for query, item, new in changes:
        out[query][item] = new
    return out


def reversed_lists(given: Judged) -> Judged:
    """The data with each query's items the other way round."""
    return {query: dict(reversed(items.items())) for query, items in given.items()}


def each(given: Judged, make: Any) -> Judged:
    """The data with every value made another."""
    return {q: {item: make(v) for item, v in items.items()} for q, items in given.items()}


def renamed(given: Judged, query: Any = str, item: Any = str) -> Judged:
    """The data with every id made another."""
    return {query(q): {item(i): v for i, v in items.items()} for q, items in given.items()}


def rows(given: Judged) -> list[tuple[Any, Any, Any]]:
    return [(query, item, v) for query, items in given.items() for item, v in items.items()]


def judged(*given: tuple[Any, Any, Any]) -> Judged:
    """Rows as ``{query: {item: value}}``."""
    out: Judged = {}
    for query, item, number in given:
        out.setdefault(query, {})[item] = number
    return out


TIED = each(RUN, lambda score: 1.0)
SIGNED_ZEROS = {
    "q1": {"d02": 0.0, "d01": -0.0, "d05": 0.0, "d03": -0.0},
    "q2": {"d13": 0.0, "d12": -0.0, "d11": 0.0},
    "q3": {"d22": 0.0, "d21": -0.0},
}
DENORMAL = judged(
    ("q1", "d02", 5e-324), ("q1", "d01", 1e-323), ("q1", "d05", 0.0), ("q1", "d03", 1.5e-323),
    ("q2", "d13", 5e-324), ("q2", "d12", 1e-323), ("q2", "d11", 2.2e-308), ("q3", "d22", 0.0),
    ("q3", "d21", 5e-324),
)  # fmt: skip
ONLY_DOUBLE = judged(
    ("q1", "d02", 1.00000001), ("q1", "d01", 1.00000002), ("q1", "d05", 1.0), ("q1", "d03", 1.00000003),
    ("q2", "d13", 1.00000001), ("q2", "d12", 1.00000002), ("q2", "d11", 1.00000003),
    ("q3", "d22", 1.00000001), ("q3", "d21", 1.00000002),
)  # fmt: skip
COMPOSED = renamed(QRELS, item=lambda item: "caf\u00e9" if item == "d01" else item)
DECOMPOSED = renamed(RUN, item=lambda item: "cafe\u0301" if item == "d01" else item)
WITHOUT_Q3 = {query: RUN[query] for query in ("q1", "q2")}
ONLY_Q2 = {"q2": RUN["q2"]}
Q2_NOT_RELEVANT = {**QRELS, "q2": dict.fromkeys(QRELS["q2"], 0)}
