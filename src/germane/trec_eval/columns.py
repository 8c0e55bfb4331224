"""Columns: what trec_eval prints for the measures asked for, one line a value."""

import math
import os
from dataclasses import dataclass, replace
from typing import Any

from germane.trec_eval.names import MEASURES, Row
from germane.trec_eval.numerals import real, whole
from germane.trec_eval.options import Options
from germane.trec_eval.status import INPUT, TrecEvalError

_SHARED = ("dcg", "ideal_dcg", "ndcg")
"""In trec_eval one place holds the gains of these: the last given are those of all, and each is
named by the last given up to it."""


@dataclass(frozen=True)
class Column:
    """One value: its printed name, the measure, and the cutoff, level, numbers or gains it takes."""

    name: str
    measure: str
    argument: Any = None
    parameters: str = ""  # as they were written

    @property
    def row(self) -> Row:
        return MEASURES[self.measure]


def columns(options: Options) -> list[Column]:
    """The columns of the measures asked for. Raises TrecEvalError for parameters that make no sense."""
    out: list[Column] = []
    last = ""
    for name in options.measures:
        given = options.parameters.get(name, "")
        if name in _SHARED:
            given = last = given or last
        out += _EXPAND[MEASURES[name].takes](name, given)
    shared = {column.measure: column.argument for column in out if column.measure in _SHARED}
    return [
        replace(column, argument=[*shared.values()][-1]) if column.measure in shared else column
        for column in out
    ]


def _nothing(name: str, _: str) -> list[Column]:
    return [Column(name, name)]


def _cutoffs(name: str, given: str) -> list[Column]:
    cutoffs = _sorted(name, list(map(whole, _parts(given))), given)
    if cutoffs and cutoffs[0] <= 0:
        raise TrecEvalError(INPUT, f"-m {name}.{given}: a cutoff is a whole number from 1.")
    return [Column(f"{name}_{k}", name, int(k)) for k in cutoffs or MEASURES[name].default]


def _levels(name: str, given: str) -> list[Column]:
    levels = _sorted(name, list(map(real, _parts(given))), given)
    # trec_eval's name has room for eight characters
    return [
        Column(f"{name}_{_shown(level)[:8]}", name, level)
        for level in levels or MEASURES[name].default
    ]


def _numbers(name: str, given: str) -> list[Column]:
    numbers = tuple(map(real, _parts(given))) or MEASURES[name].default
    return [Column(_written(name, given), name, numbers, given)]


def _gains(name: str, given: str) -> list[Column]:
    pairs = []
    for part in given.split(",") if given else []:
        key, _, value = part.partition("=")
        if part.count("=") != 1:
            raise TrecEvalError(
                INPUT, f"-m {name}.{given} takes pairs such as 1=3,2=9; got {part!r}."
            )
        pairs.append((key, real(os.fsencode(value))))
    return [Column(_written(name, given), name, tuple(pairs), given)]


_EXPAND = {
    "nothing": _nothing,
    "cutoffs": _cutoffs,
    "levels": _levels,
    "numbers": _numbers,
    "gains": _gains,
}


def _shown(level: float) -> str:
    sign = "-" if math.isnan(level) and math.copysign(1.0, level) < 0 else ""
    return f"{sign}{level:3.2f}"


def _written(name: str, given: str) -> str:
    return f"{name}_{given}" if given else name


def _parts(given: str) -> list[bytes]:
    return os.fsencode(given).split(b",") if given else []


def _sorted(name: str, numbers: list[Any], given: str) -> list[Any]:
    if len(set(numbers)) < len(numbers):
        raise TrecEvalError(INPUT, f"-m {name}.{given} gives a value twice.")
    return sorted(numbers)
