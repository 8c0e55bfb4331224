"""Records: values with named fields, declared as those of a dataclass are.

``dataclasses`` compiles the methods of each class when it is defined, which for the classes that importing
germane defines takes as long as the rest of the import.
"""

from collections.abc import Callable
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
    """A value whose fields are the names annotated in its class. It is equal to itself alone.

    Its constructor takes the fields by place or by name, and is compiled when it is first called.
    """

    __signature__ = _Signature()
    _fields: ClassVar[tuple[str, ...]] = ()
    _key: ClassVar[Any]  # all fields, of a record

    def __init_subclass__(cls) -> None:
        own = (name for name in cls.__annotations__ if name not in cls._fields)
        cls._fields = (*cls._fields, *own)
        cls.__init__ = Record.__init__  # type: ignore[method-assign]  # not what its parent compiled

    def __init__(self, *given: Any, **named: Any) -> None:
        compiled = _constructor(type(self))
        type(self).__init__ = compiled  # type: ignore[method-assign]
        compiled(self, *given, **named)

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
        kept: int | None = self.__dict__.get("_hash")
        if kept is None:
            kept = self.__dict__["_hash"] = hash(self._key(self))
        return kept

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash: that of text is another one in every process."""
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in as_dict(self).items())
        return f"{type(self).__qualname__}({fields})"


def as_dict(record: Record) -> dict[str, Any]:
    """Field → value, in the order in which the fields are declared."""
    return {name: getattr(record, name) for name in record._fields}


def replaced(record: R, **changes: Any) -> R:
    """The same with other values for some fields."""
    return type(record)(**{**as_dict(record), **changes})


def _constructor(cls: type[Record]) -> Callable[..., None]:
    """A function that sets the fields, as a class of its own would write it."""
    takes = (f"{name}=cls.{name}" if hasattr(cls, name) else name for name in cls._fields)
    fields = ", ".join(f"{name!r}: {name}" for name in cls._fields)
    lines = [
        f"def __init__(self, {', '.join(takes)}):",
        f"put(self, '__dict__', {{{fields}}})",
        "self.__post_init__()" if cls.__post_init__ is not Record.__post_init__ else "",
    ]
    # a dict of its own is read faster than one that shares its keys with those of other records
    scope: dict[str, Any] = {"cls": cls, "put": object.__setattr__}
    exec("\n ".join(lines), scope)
    compiled: Callable[..., None] = scope["__init__"]
    compiled.__qualname__ = f"{cls.__qualname__}.__init__"
    return compiled
