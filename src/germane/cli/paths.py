"""The paths of a command: what it reads, what it writes, and that no output destroys an input."""

import argparse
import shlex
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from germane.output import writing


class InputPath(str):
    """The ``type`` of an argument that names a file or a folder to read, or may name one."""

    __slots__ = ()

    def list_paths(self) -> Iterable[str]:
        return (self,)


class CommandLine(InputPath):
    """A program and its arguments, any of which may be a file."""

    __slots__ = ()

    def list_paths(self) -> Iterable[str]:
        try:
            words = shlex.split(self)
        except ValueError:  # an unclosed quote, which is refused where the program is run
            return ()
        return [part for word in words for part in {word, word.rpartition("=")[2]}]


class OutputPath(str):
    """The ``type`` of an argument that names a file or a folder to write."""

    __slots__ = ()


def check_paths(options: argparse.Namespace) -> None:
    """Refuse, before the work is done, outputs that cannot be written or would destroy an input.

    Raises InputError. The arguments say themselves by their types which of them are paths.
    """
    values = list(_flatten(vars(options).values()))
    inputs = [
        path for value in values if isinstance(value, InputPath) for path in value.list_paths()
    ]
    outputs = [value for value in values if isinstance(value, OutputPath)]
    for path in outputs:
        writing.check(path, inputs)
    for first, second in combinations(outputs, 2):
        writing.refuse_same(first, second)


def _flatten(values: Iterable[Any]) -> Iterator[Any]:
    """Go through values, and through the lists of arguments that may be repeated."""
    for value in values:
        if isinstance(value, list):
            yield from _flatten(value)
        else:
            yield value
