"""Records: fields, defaults and errors as a function's arguments, frozen, equal as declared."""

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import germane
from germane._cached import cached
from germane._records import Record, Value, as_dict, replaced


class Point(Value):
    """Two numbers."""

    x: float
    y: float = 0.0

    @cached
    def size(self) -> float:
        return abs(self.x) + abs(self.y)


class Named(Point):
    """A point with a name."""

    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.strip())


class Thing(Record):
    """What is only itself."""

    values: list[int]


def test_fields_come_by_place_and_by_name() -> None:
    assert as_dict(Point(1)) == as_dict(Point(x=1)) == {"x": 1, "y": 0.0}
    assert as_dict(Named(1, 2, " a ")) == as_dict(Named(1, name="a", y=2))
    assert repr(Named(1, 2, " a ")) == "Named(x=1, y=2, name='a')"
    assert str(inspect.signature(Named)) == "(x, y=0.0, name='')"


def test_a_class_has_its_own_constructor() -> None:
    """Whether that of its parent has been called before or not."""
    assert Point(1).y == 0
    assert Named(1, 2, "a").name == "a"

    class Last(Named):
        """Defined when its parents have been called."""

        z: int = 4

    assert as_dict(Last(1, 2, "a")) == {"x": 1, "y": 2, "name": "a", "z": 4}
    assert as_dict(Last(1, z=5)) == {"x": 1, "y": 0.0, "name": "", "z": 5}
    assert as_dict(Point(1)) == {"x": 1, "y": 0.0}


def test_values_are_equal_by_their_fields() -> None:
    one, same, other = Point(1, 2), Point(1, 2), Point(2, 1)
    assert one.size == 3, "what is cached is no field"
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != Named(1, 2)
    assert one != (1, 2)
    assert Thing([1]) != Thing([1])
    assert len({Thing([1]), Thing([1])}) == 2
    assert as_dict(Thing([1])) == {"values": [1]}


def test_copies() -> None:
    one = Named(1, 2, "a")
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert one.size == 3
    moved = replaced(one, x=5, name=" b ")
    assert as_dict(moved) == {"x": 5, "y": 2, "name": "b"}
    assert moved.size == 7
    assert as_dict(one) == {"x": 1, "y": 2, "name": "a"}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Point(), r"Point.__init__\(\) missing 1 required positional argument: 'x'"),
        (lambda: Point(y=1), r"Point.__init__\(\) missing 1 required positional argument: 'x'"),
        (lambda: Point(1, z=2), r"Point.__init__\(\) got an unexpected keyword argument 'z'"),
        (lambda: Named(1, x=2), r"Named.__init__\(\) got multiple values for argument 'x'"),
        (lambda: Point(1, 2, 3), r"Point.__init__\(\) takes from 2 to 3 positional arguments"),
        (lambda: germane.Policy(tie="best"), r"got an unexpected keyword argument 'tie'"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        make()


def test_records_are_frozen() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError, match="Point is frozen: cannot assign to 'x'"):
        point.x = 2
    with pytest.raises(AttributeError, match="Point is frozen: cannot delete 'x'"):
        del point.x
    assert point.x == 1
