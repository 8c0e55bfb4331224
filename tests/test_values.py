"""Values: frozen, equal as declared, copied and sent to other processes as they are."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import pytest

import germane

VALUES = [
    germane.parse("AP(norm=R)@10"),
    germane.Policy(ties="expected", depth=10),
    germane.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "AP").counts,
    germane.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "AP").table(),
    germane.types.Finding("warning", "name", "says", 2, ("a", "b")),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_equal_to_their_copies(value: Any) -> None:
    str(value)  # which may keep things
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value
        assert repr(other) == repr(value)
    assert value != asdict(value)
    with pytest.raises(FrozenInstanceError):
        value.name = 2
    with pytest.raises(AttributeError):
        del value.name


def test_values_are_hashed_by_their_fields() -> None:
    assert len({germane.parse("AP@10"), germane.AP @ 10, germane.parse("AP@5")}) == 2
    assert len({germane.Policy(), germane.Policy(ties="trec"), germane.Policy(ties="best")}) == 2


def test_what_is_computed_once_is_not_copied_to_another_value() -> None:
    policy = germane.Policy(ties="given")
    assert policy.order.equal == "given"
    assert replace(policy, ties="trec").order.equal == "id"
    assert policy.order is policy.order


def test_what_holds_arrays_is_equal_to_itself_alone() -> None:
    qrels = germane.read_qrels("examples/digits/qrels.txt")
    assert qrels == qrels
    assert qrels != copy.copy(qrels)
    assert len({qrels, copy.copy(qrels)}) == 2
    assert len(pickle.loads(pickle.dumps(qrels)).items) == len(qrels.items)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: germane.types.Measure(), r"missing 1 required positional argument: 'name'"),
        (lambda: germane.types.Measure("AP", name="AP"), r"got multiple values for argument 'name'"),
        (lambda: germane.types.Measure("AP", (), 1, 2), r"takes from 2 to 4 positional arguments"),
        (lambda: germane.Policy(tie="best"), r"got an unexpected keyword argument 'tie'"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        make()
