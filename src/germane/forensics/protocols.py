"""Protocols: a whole table's conventions, how they fit, and what all numbers have in common."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.forensics.plausibility import Near, OffCell, write_other
from germane.forensics.reported import Reported
from germane.forensics.spread import are_all_same
from germane.forensics.variations import Choices, join_choices
from germane.output.tables import write_count

LIKELY = 0.01  # a chance below which a protocol is claimed; see bench/RECONCILE.md
SHARE = 0.5  # of the cells that it has to give
LEAST = 2  # cells that it has to give, since one number often has another definition

_NEAR = 0.2  # wrong numbers are taken to lie within so much of each other
_ROUND = 0.3  # the probability that one value gives 0 or 1
_AGAIN = 0.6  # and that it gives it for one more run

Cells = Mapping[tuple[int, int], Reported]


@dataclass(frozen=True)
class Option:
    """A definition that a column may have, and what it gives for every run."""

    candidate: Any
    cost: float
    values: Floats


@dataclass(frozen=True)
class Protocol:
    """Conventions of a whole table, and what each column may be under them."""

    choices: Choices
    cost: float
    columns: tuple[tuple[Option, ...], ...]
    tool: str = ""

    def is_like(self, protocol: "Protocol") -> bool:
        """Does another protocol give the same for all definitions of every column?"""
        return all(
            are_all_same(a.values, b.values)
            for mine, theirs in zip(self.columns, protocol.columns, strict=True)
            for a, b in zip(mine, theirs, strict=True)
        )


@dataclass(frozen=True)
class Column:
    """The reported numbers of a column, and the runs that have one."""

    runs: np.ndarray[Any, Any]
    numbers: Floats
    tolerance: Floats

    @cached_property
    def likely(self) -> Floats:
        """The probability that one value gives a wrong number.

        0 and 1 are what many definitions give, and a definition that gives one of them for one run
        often gives it for all.
        """
        likely = np.minimum(2 * self.tolerance / _NEAR, 0.8)
        for round_one in (0.0, 1.0):
            (places,) = np.nonzero(self.numbers == round_one)
            likely[places[:1]] = np.maximum(likely[places[:1]], _ROUND)
            likely[places[1:]] = _AGAIN
        return likely

    @cached_property
    def worth(self) -> Floats:
        """The digits that a wrong number would have to match."""
        return np.asarray(-np.log10(self.likely))

    @cached_property
    def single(self) -> float:
        """The probability that one value gives a wrong number, on average."""
        return float(self.likely.mean()) if len(self.runs) else 0.0

    @property
    def finest(self) -> float:
        """The tolerance of the number with most decimals."""
        return float(self.tolerance.min()) if len(self.tolerance) else 0.0

    def find_given(self, values: Floats) -> np.ndarray[Any, Any]:
        """Find the runs whose number these values give."""
        slack = self.tolerance + 1e-12
        return np.asarray(np.abs(values[self.runs] - self.numbers) <= slack)


@dataclass(frozen=True)
class Fit:
    """A protocol with one definition for each column, and the cells that it gives."""

    protocol: Protocol
    options: tuple[Option, ...]
    matches: tuple[np.ndarray[Any, Any], ...]
    score: float

    @cached_property
    def count(self) -> int:
        """The number of cells that it gives."""
        return sum(int(matched_runs.sum()) for matched_runs in self.matches)

    @property
    def cost(self) -> float:
        """The digits that it takes to name it."""
        return self.protocol.cost + sum(option.cost for option in self.options)


@dataclass(frozen=True)
class Sheet:
    """The cells of a table by column, against which protocols are tried."""

    cells: Cells
    runs: int
    width: int
    tried: dict[tuple[bytes, ...], float] = field(default_factory=dict)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The numbers of each column."""
        columns = []
        for c in range(self.width):
            rows = [r for r in range(self.runs) if (r, c) in self.cells]
            numbers = [self.cells[r, c] for r in rows]
            columns.append(
                Column(
                    np.array(rows, int),
                    np.array([number.value for number in numbers]),
                    np.array([number.tolerance for number in numbers]),
                )
            )
        return tuple(columns)

    def is_enough(self, fit: Fit) -> bool:
        """Does a protocol give as many cells as it has to?"""
        return fit.count >= max(SHARE * len(self.cells), min(LEAST, len(self.cells)))

    def fit(self, protocol: Protocol) -> Fit:
        """Choose the definition of each column that gives most of it, simplest first."""
        chosen, matches, score = [], [], -protocol.cost
        for column, options in zip(self.columns, protocol.columns, strict=True):
            best = max(
                ((self._weigh(column, option), -place) for place, option in enumerate(options)),
                default=None,
            )
            assert best is not None
            option = options[-best[1]]
            chosen.append(option)
            matches.append(column.find_given(option.values))
            score += best[0]
        return Fit(protocol, tuple(chosen), tuple(matches), score)

    @staticmethod
    def _weigh(column: Column, option: Option) -> float:
        return float(column.worth[column.find_given(option.values)].sum()) - option.cost

    def estimate_chance(self, fit: Fit, protocols: Iterable[Protocol]) -> float:
        """Estimate how likely wrong numbers would fit as well a protocol that is not costlier.

        It adds the probabilities of all protocols with different values. In each, a column counts
        as often as it has definitions with different values that are at most as costly as the one
        chosen. Cells of 0 and 1 alone are certain to: no item is relevant at a high level.
        """
        numbers = np.concatenate(
            [c.numbers[g] for c, g in zip(self.columns, fit.matches, strict=True)]
        )
        if np.isin(numbers, (0.0, 1.0)).all():
            return 1.0
        cost = fit.protocol.cost + 1e-9
        alike = {
            tuple(options[0].values.round(9).tobytes() for options in protocol.columns if options)
            for protocol in protocols
            if protocol.cost <= cost
        }
        reached = np.array([1.0])  # the distribution of the number of cells given
        for column, chosen, options in zip(
            self.columns, fit.options, fit.protocol.columns, strict=True
        ):
            different = {
                option.values.round(9).tobytes()
                for option in options
                if option.cost <= chosen.cost + 1e-9
            }
            reached = np.convolve(
                reached, _raise_best(len(column.runs), column.single, len(different))
            )
        return float(min(1.0, max(len(alike), 1) * reached[fit.count :].sum()))


def _raise_best(cells: int, single: float, tries: int) -> Floats:
    """Find the distribution of the cells that the best of several definitions gives by chance."""
    # The best of so many definitions reaches n cells at most as often as the chances that each does
    # add up to. The tail is summed from its end, too: 1 less nearly 1 loses small chances.
    chances = [
        math.comb(cells, n) * single**n * (1 - single) ** (cells - n) for n in range(cells + 1)
    ]
    below = np.minimum(np.cumsum(chances), 1.0)
    above = np.minimum(1.0, tries * (1.0 - np.concatenate([[0.0], below[:-1]])))
    above = np.maximum(above, np.minimum(1.0, tries * np.cumsum(chances[::-1])[::-1]))
    above[0] = 1.0
    return np.asarray(above - np.concatenate([above[1:], [0.0]]))


def choose_fit(fits: Sequence[Fit]) -> Fit:
    """Choose the fit with most digits left; of equal ones the first."""
    return max(fits, key=lambda fit: round(fit.score, 6))


class ProtocolSearch:
    """Search for the protocol of a table, whatever its cells are computed from."""

    dialect_cost: float  # the digits of a dialect, and of one changed convention
    change_cost: float
    enough = -math.inf  # a protocol of so many digits that gives all cells ends the search

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.moving: list[Fit] = []  # one change each, of those that make a difference

    # --- what each kind of table answers for itself

    def make(self, choices: Choices, cost: float) -> Protocol:
        """Make the protocol of these conventions."""
        raise NotImplementedError

    def list_tools(self) -> Iterable[Protocol]:
        """List the protocols of tools."""
        raise NotImplementedError

    def list_changes(self) -> Iterable[Choices]:
        """List the conventions that were not given with each other word, each one change."""
        raise NotImplementedError

    def combine(self, tools: Sequence[Fit]) -> Iterable[Fit]:
        """Try two changes, and one change of the likeliest tools, which come first."""
        raise NotImplementedError

    def find_near(self, fit: Fit, c: int, r: int) -> Iterable[Near]:
        """List other values of a cell that may be meant by mistake."""
        raise NotImplementedError

    def find_undecided(self, fit: Fit) -> tuple[str, ...]:
        """Find the conventions of which no other word changes a number of the table."""
        raise NotImplementedError

    def explain_changes(self, fit: Fit) -> tuple[str, ...]:
        """Say which changed conventions rest on one cell."""
        raise NotImplementedError

    # --- what is the same for all

    def vary_once(self) -> Iterable[Protocol]:
        """Change one convention."""
        return (self.make(change, self.change_cost) for change in self.list_changes())

    def search(self) -> tuple[Fit, list[Fit]]:
        """Find the best protocol: one of a tool, then with one and with two changed conventions."""
        unchanged = self.make((), 0.0)
        tools = [self.sheet.fit(tool) for tool in self.list_tools()]
        fits = [self.sheet.fit(unchanged), *tools]
        best = choose_fit(fits)
        if best.count == len(self.sheet.cells) and best.cost <= self.enough:
            return best, fits
        self.moving = [
            self.sheet.fit(protocol)
            for protocol in self.vary_once()
            if not unchanged.is_like(protocol)
        ]
        fits += self.moving
        if choose_fit(fits).count < len(self.sheet.cells):
            fits += self.combine(sorted(tools, key=lambda fit: -fit.score))
        return choose_fit(fits), fits

    def join_changes(
        self, moving: Iterable[Fit], bases: Iterable[Choices], with_none: bool
    ) -> dict[Choices, float]:
        """Join two changes, and the conventions of a tool with one, or with none if ``with_none``.

        It returns the cost of each in decimal digits.
        """
        changes = [fit.protocol.choices for fit in moving]
        costs = dict.fromkeys(join_choices(changes), 2 * self.change_cost)
        costs |= {change: self.change_cost for change in changes if change in costs}
        for base in bases:
            for change in [()] * with_none + changes:
                joined = tuple(sorted({**dict(base), **dict(change)}.items()))
                costs.setdefault(joined, self.dialect_cost + self.change_cost * bool(change))
        return costs


# --- Common differences: what the numbers of a table have in common that no protocol gives --------

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
    ("relevant", "listed"): "relevant items that are missing from the runs were not known",
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
        f"It looks as if {pair} were exchanged: {count} of {write_count(len(sheet.cells), 'cell')}"
        f" would then fit{tool}."
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
