"""Records: values with named fields, declared as those of a dataclass are.

``dataclasses`` writes and compiles the methods of each class, which for the classes that importing
germane needs takes longer than all the rest of the import. These are compiled with their module.
"""

from operator import attrgetter
from typing import Any, ClassVar, TypeVar, dataclass_transform

R = TypeVar("R", bound="Record")


class _Signature:
    """The signature that ``inspect`` and notebooks show: the fields with their defaults."""

    def __get__(self, record: "Record | None", owner: "type[Record]") -> Any:
        from inspect import Parameter, Signature

        kind = Parameter.POSITIONAL_OR_KEYWORD
        fields = ((name, getattr(owner, name, Parameter.empty)) for name in owner._fields)
        return Signature([Parameter(name, kind, default=default) for name, default in fields])


@dataclass_transform(eq_default=False, frozen_default=True)
class Record:
    """A value whose fields are the names annotated in its class. It is equal to itself alone."""

    __signature__ = _Signature()
    _fields: ClassVar[tuple[str, ...]] = ()
    _names: ClassVar[frozenset[str]] = frozenset()
    _needed: ClassVar[frozenset[str]] = frozenset()  # fields without a default
    _key: ClassVar[Any]  # all fields, of a record

    def __init_subclass__(cls) -> None:
        own = (name for name in cls.__annotations__ if name not in cls._fields)
        cls._fields = (*cls._fields, *own)
        cls._names = frozenset(cls._fields)
        cls._needed = frozenset(name for name in cls._fields if not hasattr(cls, name))

    def __init__(self, *given: Any, **named: Any) -> None:
        values = self.__dict__
        values.update(zip(self._fields, given, strict=False))
        values.update(named)
        if (
            len(values) != len(given) + len(named)
            or not self._needed <= values.keys() <= self._names
        ):
            raise _refused(self, given, named)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the fields, or bring them into their one form."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot assign to {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")


@dataclass_transform(frozen_default=True)
class Value(Record):
    """A record that is equal to those of its class whose fields are equal."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._key = attrgetter(*cls._fields)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._key(self) == self._key(other))

    def __hash__(self) -> int:
        return hash(self._key(self))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in as_dict(self).items())
        return f"{type(self).__qualname__}({fields})"


def as_dict(record: Record) -> dict[str, Any]:
    """Field → value, in the order in which the fields are declared."""
    return {name: getattr(record, name) for name in record._fields}


def replaced(record: R, **changes: Any) -> R:
    """The same with other values for some fields."""
    return type(record)(**{**as_dict(record), **changes})


def _refused(record: Record, given: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    """What is wrong with the arguments, in the words in which a function says it."""
    fields, start = record._fields, f"{type(record).__qualname__}()"
    if len(given) > len(fields):
        return TypeError(f"{start} takes {len(fields)} arguments; got {len(given)}")
    for name in named:
        if name not in fields:
            return TypeError(f"{start} got an unexpected keyword argument {name!r}")
        if name in fields[: len(given)]:
            return TypeError(f"{start} got multiple values for argument {name!r}")
    missing = [name for name in fields if name in record._needed - record.__dict__.keys()]
    return TypeError(f"{start} missing required arguments: {', '.join(missing)}")
