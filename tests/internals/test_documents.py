"""Documents: plain values by the names of fields, and what stands beside a field."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from germane import AP
from germane.output.documents import (
    AS_DICT,
    AS_TEXT,
    IF_ANY,
    LEFT_OUT,
    Document,
    Plain,
    make_document,
    to_plain,
)


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True)
class Value(Plain):
    measure: Any
    query: Any = field(metadata=AS_TEXT)
    others: tuple[Any, ...] = field(metadata=AS_TEXT)
    interval: Interval
    cells: tuple[tuple[str, int], ...] = field(default=(), metadata=AS_DICT)
    note: str = field(default="", metadata=IF_ANY)
    function: Any = field(default=print, metadata=LEFT_OUT)


def test_fields_are_keys_in_their_order() -> None:
    value = Value(AP @ 10, 7, (1, "a"), Interval(0.5, math.nan), (("x", 1),))
    assert list(value.to_dict().items()) == [
        ("measure", "AP@10"),
        ("query", "7"),
        ("others", ["1", "a"]),
        ("interval", {"low": 0.5, "high": None}),
        ("cells", {"x": 1}),
    ]
    assert Value(AP, None, (), Interval(0, 1), note="yes").to_dict()["note"] == "yes"
    assert Value(AP, None, (), Interval(0, 1)).to_dict()["query"] is None


@dataclass(frozen=True)
class Listed(Document):
    """A document with a property, a method, a part of a part, and all fields."""

    _json = "width * text=__str__ top=interval.high names=counts.keys"

    interval: Interval
    counts: Mapping[Any, int]

    @property
    def width(self) -> float:
        return self.interval.high - self.interval.low

    def __str__(self) -> str:
        return "listed"


def test_other_names_are_listed() -> None:
    listed = Listed(Interval(0.25, 1.0), {5: 2})
    interval = {"low": 0.25, "high": 1.0}
    assert list(listed.to_dict().items()) == [
        ("schema", 1),
        ("width", 0.75),
        ("interval", interval),
        ("counts", {"5": 2}),
        ("text", "listed"),
        ("top", 1.0),
        ("names", [5]),
    ]
    assert make_document({"listed": listed})["listed"] == listed.to_dict()


class Pair(NamedTuple):
    first: int
    second: Any


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (math.inf, None),
        (np.float64("nan"), None),
        (np.int64(3), 3),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        (b"run", "run"),
        (Pair(1, (AP,)), {"first": 1, "second": ["AP"]}),
        ([Interval(0, 1)], [{"low": 0, "high": 1}]),
        ({AP: 0.5, 5: None}, {"AP": 0.5, "5": None}),
        (range(2), [0, 1]),
        (ValueError("no"), "no"),
    ],
)
def test_values_are_what_json_has(value: Any, plain: Any) -> None:
    assert to_plain(value) == plain
