"""Attributes and methods that are computed once."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar, overload

S = TypeVar("S")
A = TypeVar("A")
T = TypeVar("T")


class cached(Generic[T]):  # noqa: N801  (a decorator, as property is)
    """An attribute computed when it is first asked for.

    ``functools.cached_property`` takes a lock on Python 3.11, which costs more than most of what
    is kept here.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "cached[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> "cached[T] | T":
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


def cached_by_argument(compute: Callable[[S, A], T]) -> Callable[[S, A], T]:
    """A method of one argument, computed once for each value of it."""
    name = f"_{compute.__name__}"

    @wraps(compute)
    def method(instance: S, argument: A) -> T:
        kept: dict[A, T] | None = instance.__dict__.get(name)
        if kept is None:
            kept = instance.__dict__[name] = {}
        elif argument in kept:
            return kept[argument]
        value = kept[argument] = compute(instance, argument)
        return value

    return method
