"""Common differences: what the numbers of a table have in common that no protocol gives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.output.formatting import write_count
from germane.reconciliation.protocols import LIKELY, Fit, Sheet
from germane.reconciliation.slips import OffCell, write_other

_SIMPLE = 1.0  # the most digits that a tool or the conventions asked for take to name
_MANY = 0.25  # of the cells
_NEARER = 1.25  # times nearer, before a tool is named
_SHARPER = 3.0  # times nearer, before a changed convention is named
_STEADY = 0.02  # variation of a common factor
_MOST = 60  # exchanges that are tried

_AS_IF = {
    ("missing", "skip"): "queries without results were left out",
    ("missing", "zero"): "queries without results counted as 0",
    ("no_relevant", "skip"): "queries without relevant items were left out",
    ("no_relevant", "one"): "queries without relevant items counted as 1",
    ("no_relevant", "zero"): "queries without relevant items counted as 0",
    ("unjudged", "remove"): "unjudged results were taken out",
    ("own", "drop"): "results that are the query itself were taken out",
    ("duplicates", "recount"): "a result that is listed twice counted twice",
    ("relevant", "listed"): "nobody knew of relevant items that the runs lack",
}
"""Changed conventions in words; others are named."""


@dataclass(frozen=True)
class Distance:
    """How far the numbers of a table are from what a protocol gives."""

    fit: Fit
    numbers: Floats
    values: Floats

    @cached_property
    def mean(self) -> float:
        """The mean difference; a missing value counts 1."""
        return float(np.nan_to_num(np.abs(self.numbers - self.values), nan=1.0).mean())


def measure_distance(sheet: Sheet, fit: Fit) -> Distance:
    """Measure how far the numbers of a table are from a protocol."""
    pairs = list(zip(sheet.columns, fit.options, strict=True))
    values = np.concatenate([option.values[column.runs] for column, option in pairs])
    return Distance(fit, np.concatenate([column.numbers for column, _ in pairs]), values)


def choose_nearest(sheet: Sheet, fit: Fit, fits: Sequence[Fit]) -> Distance:
    """Choose a protocol to compare with: one that gives many cells, or else the nearest.

    ``fits`` begin with the conventions asked for.
    """
    if fit.count >= _MANY * len(sheet.cells):
        return measure_distance(sheet, fit)
    distance = measure_distance(sheet, fits[0])
    simple = [
        measure_distance(sheet, simple_fit)
        for simple_fit in fits
        if simple_fit.protocol.cost <= _SIMPLE
    ]
    near = min([distance, *simple], key=lambda candidate: candidate.mean)
    return near if near.mean * _NEARER < distance.mean else distance


def describe_common(
    sheet: Sheet, near: Distance, fits: Sequence[Fit], labels: Sequence[str], names: Sequence[str]
) -> tuple[str, ...]:
    """Say what is off everywhere in a table of which no protocol is claimed."""
    exchanged = _find_exchange(sheet, fits, labels, names)
    if exchanged:
        return (exchanged,)
    changed = _find_change(sheet, near, fits)
    return tuple(filter(None, (changed, _find_side(near))))


def _find_exchange(
    sheet: Sheet, fits: Sequence[Fit], labels: Sequence[str], names: Sequence[str]
) -> str:
    """Find two columns, or two rows, that were exchanged."""
    simple = [simple_fit.protocol for simple_fit in fits if simple_fit.protocol.cost <= _SIMPLE]
    exchanges = list(islice(_list_exchanges(labels, names), _MOST))
    best: tuple[int, str, Fit] | None = None
    for pair, rows, columns in exchanges:
        cells = {
            (rows.get(r, r), columns.get(c, c)): number for (r, c), number in sheet.cells.items()
        }
        moved = Sheet(cells, sheet.runs, sheet.width)
        fit = max(
            (moved.fit(protocol) for protocol in simple), key=lambda moved_fit: moved_fit.score
        )
        enough = moved.is_enough(fit) and fit.count > (best[0] if best else 0)
        if enough and moved.estimate_chance(fit, simple) * len(exchanges) <= LIKELY:
            best = fit.count, pair, fit
    if best is None:
        return ""
    count, pair, fit = best
    tool = f", under {fit.protocol.tool}" if fit.protocol.tool else ""
    return (
        f"As if {pair} were exchanged: then {count} of {write_count(len(sheet.cells), 'cell')}"
        f" fit{tool}."
    )


def _list_exchanges(
    labels: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, dict[int, int], dict[int, int]]]:
    for i, j in combinations(range(len(labels)), 2):
        yield f"the columns {labels[i]} and {labels[j]}", {}, {i: j, j: i}
    for i, j in combinations(range(len(names)), 2):
        yield f"the rows of {names[i]} and {names[j]}", {i: j, j: i}, {}


def _find_change(sheet: Sheet, near: Distance, fits: Sequence[Fit]) -> str:
    """Find one changed convention under which all numbers are much nearer."""
    base = dict(near.fit.protocol.choices)
    best: tuple[float, str, Any] | None = None
    for fit in fits:
        if fit.protocol.tool:
            continue
        changes = [pair for pair in fit.protocol.choices if base.get(pair[0]) != pair[1]]
        if len(changes) != 1 or len(fit.protocol.choices) > len(base) + 1:
            continue
        mean = measure_distance(sheet, fit).mean
        if mean * _SHARPER <= near.mean and (best is None or mean < best[0]):
            best = mean, *changes[0]
    if best is None:
        return ""
    mean, name, word = best
    return (
        f"Nearest as if {_write_change(name, word)} ({name}={word}): {mean:.4f} off on average, not"
        f" {near.mean:.4f}."
    )


def _write_change(name: str, word: Any) -> str:
    if name == "depth":
        return f"the runs were cut at {word}"
    return _AS_IF.get((name, word), f"{name} were {word}")


def _find_side(near: Distance) -> str:
    """Find a common factor, or a side on which all numbers lie."""
    has_value = ~np.isnan(near.values)
    numbers, values = near.numbers[has_value], near.values[has_value]
    off = numbers - values
    if len(off) < 3:
        return ""
    if (values > 0).all() and numbers.all():
        factors = numbers / values
        middle = float(np.median(factors))
        if np.abs(factors / middle - 1).max() <= _STEADY and abs(middle - 1) > _STEADY:
            return f"All numbers are {middle:.3g} times those computed."
    for side, all_of_it in (("lower", (off < 0).all()), ("higher", (off > 0).all())):
        if all_of_it:
            return (
                f"All {len(off)} numbers are {side} than those computed, by"
                f" {np.abs(off).mean():.4f} on average."
            )
    return ""


def find_exchanged(off: Sequence[OffCell]) -> Iterator[str]:
    """Find two runs or columns, each of whose cells that are off has the other's number."""
    for kind, noun in (("run", "rows of "), ("column", "columns ")):
        by_name: dict[str, list[OffCell]] = {}
        for off_cell in off:
            by_name.setdefault(getattr(off_cell, kind), []).append(off_cell)
        for a, b in combinations(by_name, 2):
            cells = [(cell, b) for cell in by_name[a]] + [(cell, a) for cell in by_name[b]]
            if len(cells) > 2 and all(c.slip == write_other(name) for c, name in cells):
                yield f"The {noun}{a} and {b} were exchanged."
