"""Search for a table's protocol: all columns on all runs, one set of conventions at a time."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Floats
from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import Dialect
from germane.errors import GermaneError
from germane.forensics.plausibility import Near
from germane.forensics.protocols import Fit, Option, Protocol, ProtocolSearch, Sheet
from germane.forensics.spread import Values, are_all_same
from germane.forensics.variations import (
    LISTED,
    Candidate,
    Choices,
    describe_decisions,
    list_dialect_candidates,
    list_other_choices,
    list_other_words,
    vary_measure,
)
from germane.measures.measure import Measure

DEPTHS = (1000, 500, 200, 100, 50, 20, 10)  # at which runs are cut
_CUTOFFS = (None, 1, 3, 5, 10, 20, 50, 100, 1000)  # that may be meant by mistake
# The digits of another measure of a tool, of any tool, of a changed one, and of a level of
# relevance that no item has.
_KIND, _TOOLS, _PARAMETER, _ABOVE = 0.4, 0.7, 1.3, 0.9
_SCREENED = 2  # runs on which all protocols are tried, of which the best are tried on all
_KEPT = 24


class TableSearch(ProtocolSearch):
    """Protocols of one table, evaluated on its runs."""

    dialect_cost, change_cost, enough = 1.0, 1.5, 1.5

    def __init__(
        self,
        runs: Sequence[Values],
        conventions: Policy,
        fixed: Mapping[str, Any],
        labels: Sequence[str],
        measures: Sequence[Measure],
        sheet: Sheet,
    ) -> None:
        super().__init__(sheet)
        self.runs, self.conventions, self.fixed = runs, conventions, fixed
        self.labels, self.column_measures = labels, measures

    # --- values

    def compute(
        self, choices: Choices, measure: Measure, only: Sequence[int] | None = None
    ) -> Floats:
        """Compute a measure of the runs, or of some; NaN where there is none."""
        values = np.full(len(self.runs), math.nan)
        try:
            policy = replace(self.conventions, **dict(choices))
        except GermaneError:
            return values
        for r in range(len(self.runs)) if only is None else only:
            try:
                values[r] = self.runs[r](policy, measure).mean
            except GermaneError:
                continue
        return values

    def _differ(self, words: Mapping[str, Any]) -> Choices:
        """Leave out the words that were asked for."""
        conventions = self.conventions
        return tuple(
            sorted((n, word) for n, word in words.items() if word != getattr(conventions, n))
        )

    # --- definitions of a column

    @cached_property
    def measures(self) -> tuple[dict[Measure, float], ...]:
        """The measures that each column may stand for, simplest first, each with its cost.

        Where a column is 0 for most runs, its relevance may begin above the highest grade judged.
        """
        grades = self.runs[0].list_grades(self.conventions)
        highest = max(grades, default=0)
        zero = any(
            (column.numbers == 0).sum() * 2 > len(column.numbers) for column in self.sheet.columns
        )
        if zero and grades:
            grades = [*grades, math.floor(highest) + 1.0]
        costs_of_columns = []
        for label, measure in zip(self.labels, self.column_measures, strict=True):
            candidates = list_dialect_candidates(measure, self.conventions, {}, label)
            of_tools = [candidate.measure for candidate in candidates]
            costs = {measure: 0.0} | {tool: _TOOLS for tool in of_tools if tool != measure}
            for variant in vary_measure(measure, grades):
                costs.setdefault(variant, _ABOVE if (variant.rel or 0) > highest else _PARAMETER)
            costs_of_columns.append(costs)
        return tuple(costs_of_columns)

    def _list_options(
        self, choices: Choices, measures: Mapping[Measure, float], only: Sequence[int] | None
    ) -> Iterator[Option]:
        for measure, cost in measures.items():
            values = self.compute(choices, measure, only)
            yield Option(Candidate(measure, choices), cost, values)

    # --- protocols

    def make(self, choices: Choices, cost: float, only: Sequence[int] | None = None) -> Protocol:
        """Make the protocol of these conventions."""
        columns = tuple(
            tuple(self._list_options(choices, measure, only)) for measure in self.measures
        )
        return Protocol(choices, cost, columns)

    def make_of_tool(self, tool: Dialect, judging: Mapping[str, Any]) -> Protocol | None:
        """Make the protocol of a tool; None if it has no measure of some column."""
        columns = []
        for label, measure in zip(self.labels, self.column_measures, strict=True):
            options = list(self._list_of_tool(tool, label, measure, judging))
            if not options:
                return None
            columns.append(tuple(options))
        shared = self._differ({**tool.choices, **judging, **self.fixed})
        return Protocol(shared, self.dialect_cost, tuple(columns), tool.name)

    def _list_of_tool(
        self, tool: Dialect, label: str, measure: Measure, judging: Mapping[str, Any]
    ) -> Iterator[Option]:
        named = tool.find_named(label)
        for place, definition in enumerate(
            tool.list_definitions(measure) if named is None else [named]
        ):
            choices = self._differ({**tool.choices, **definition.choices, **judging, **self.fixed})
            candidate = Candidate(definition.measure, choices, (f"{tool.name}:{definition.name}",))
            yield Option(candidate, _KIND * (place > 0), self.compute(choices, definition.measure))

    def list_changes(self) -> Iterator[Choices]:
        """List the conventions that were not given with each other word, and depths."""
        yield from list_other_choices(self.conventions, self.fixed)
        if "depth" not in self.fixed:
            yield from ((("depth", depth),) for depth in DEPTHS)

    def _has_value(self, protocol: Protocol) -> bool:
        return all(not np.isnan(options[0].values).all() for options in protocol.columns)

    def vary_once(self) -> Iterator[Protocol]:
        """Change one convention that leaves every column a value."""
        return filter(self._has_value, super().vary_once())

    def list_tools(self) -> Iterator[Protocol]:
        """List the protocols of tools that have the measures of all columns."""
        for tool in dialects().values():
            readings = [{}, LISTED] if tool.sees == "list" else [{}]
            for judging in readings:
                if judging and "relevant" in self.fixed:
                    continue
                protocol = self.make_of_tool(tool, judging)
                if protocol is not None and self._has_value(protocol):
                    yield protocol

    def combine(self, tools: Sequence[Fit]) -> list[Fit]:
        """Try two changes, and one change of likely tools: on a few runs, and the best on all."""
        bases = list(dict.fromkeys(tool.protocol.choices for tool in tools))[:4]
        changes = self.join_changes(self.moving, bases, with_none=True)
        cells_by_run = Counter(r for r, _ in self.sheet.cells)
        only = sorted(range(len(self.runs)), key=lambda r: -cells_by_run[r])[:_SCREENED]
        screened = [
            (self.sheet.fit(self.make(choices, cost, only)), choices, cost)
            for choices, cost in changes.items()
        ]
        screened.sort(key=lambda triple: -triple[0].score)
        return [self.sheet.fit(self.make(choices, cost)) for _, choices, cost in screened[:_KEPT]]

    # --- what the best one leaves open

    def simplify(self, fit: Fit) -> Fit:
        """Drop the conventions that make no difference on this data."""
        if fit.protocol.tool:
            return fit
        choices = fit.protocol.choices
        for name, _ in reversed(choices):
            fewer = tuple(choice for choice in choices if choice[0] != name)
            if all(
                are_all_same(self.compute(fewer, option.candidate.measure), option.values)
                for option in fit.options
            ):
                choices = fewer
        options = tuple(
            replace(option, candidate=replace(option.candidate, choices=choices))
            for option in fit.options
        )
        return replace(fit, options=options, protocol=replace(fit.protocol, choices=choices))

    def find_near(self, fit: Fit, c: int, r: int) -> Iterator[Near]:
        """List the values at other cutoffs."""
        candidate = fit.options[c].candidate
        for k in _CUTOFFS:
            if candidate.measure.row.cutoff and k != candidate.measure.k:
                measure = Measure(candidate.measure.name, candidate.measure.parameters, k)
                yield f"it is {measure}", float(self.compute(candidate.choices, measure, [r])[r])

    def explain_changes(self, fit: Fit) -> tuple[str, ...]:
        """Say what changed conventions mean together, and which of them rest on one cell."""
        sentences = [] if fit.protocol.tool else [*describe_decisions(fit.protocol.choices)]
        for name, word in () if fit.protocol.tool else fit.protocol.choices:
            fewer = tuple(choice for choice in fit.protocol.choices if choice[0] != name)
            left = 0
            for column, option in zip(self.sheet.columns, fit.options, strict=True):
                values = self.compute(fewer, option.candidate.measure)
                left += int(column.find_given(values).sum())
            if left == fit.count - 1:
                sentences.append(f"{name}={word} rests on one cell: without it, {left} are equal.")
        return tuple(sentences)

    def find_undecided(self, fit: Fit) -> tuple[str, ...]:
        """Find the conventions of which no other word changes a number of the table."""
        words: dict[str, list[bool]] = {}
        for name, word in list_other_words(self.conventions, self.fixed):
            idle = True
            for option in fit.options:
                changed = tuple(sorted({**dict(option.candidate.choices), name: word}.items()))
                values = self.compute(changed, option.candidate.measure)
                if np.isnan(values).all():
                    continue
                idle &= are_all_same(values, option.values)
            words.setdefault(name, []).append(idle)
        return tuple(name for name, idle in words.items() if all(idle))

    def list_equal_tools(self, fit: Fit, fits: Iterable[Fit], likely: str | None) -> list[Protocol]:
        """List tools that give the same, first the likely one and those whose names are used."""
        first = None if likely is None else resolve_dialect(likely).name
        ranked_fits: list[tuple[bool, int, bool, int, Fit]] = []
        for tool_fit in fits:
            if tool_fit.protocol.tool and self._give_same(fit, tool_fit):
                named = sum(
                    (tool := dialects()[tool_fit.protocol.tool]).find(label) is not None
                    for label in self.labels
                )
                is_likely = tool_fit.protocol.tool == first
                ranked_fits.append(
                    (not is_likely, -named, tool.sees == "list", len(ranked_fits), tool_fit)
                )
        return [
            replace(tool_fit.protocol, columns=tuple((option,) for option in tool_fit.options))
            for *_, tool_fit in sorted(ranked_fits, key=lambda row: row[:4])
        ]

    def _give_same(self, first: Fit, second: Fit) -> bool:
        """Do two give the same cells, and values that the reported decimals do not distinguish?"""
        return all(
            are_all_same(a.values, b.values, column.finest) and np.array_equal(mine, theirs)
            for a, b, mine, theirs, column in zip(
                first.options,
                second.options,
                first.matches,
                second.matches,
                self.sheet.columns,
                strict=True,
            )
        )
