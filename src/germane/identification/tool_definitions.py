"""Tool definitions: the tools that have a measure, and those that give a function's values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from germane.core.policy import Policy
from germane.dialects import dialects, resolve_dialect
from germane.dialects.parsing import parse
from germane.identification.asking import Precision
from germane.identification.batch import Batch
from germane.identification.special_data import Special
from germane.measures.measure import Measure
from germane.reconciliation.variations import NO_NUMBER, Candidate, list_dialect_candidates

COMMON = (4, 20)  # tools that have a measure which some people know, and which all do

USUAL = {"duplicates": "first", "repeated": "once"}
"""The conventions of a definition that copies do not decide: germane's own refuse them."""


Batches = Sequence[tuple[Special | None, Batch]]  # and the special data of each


@dataclass
class ToolDefinitions:
    """The definitions of tools under the conventions in force."""

    base: Policy
    fixed: Mapping[str, Any]
    claim: Measure | None
    _lists: dict[tuple[str, int | None], list[Candidate]] = field(default_factory=dict)
    _tools: dict[object, tuple[str, ...]] = field(default_factory=dict)

    def list_kind(self, name: str, k: int | None) -> list[Candidate]:
        """List the definitions that tools have of a kind of measure."""
        if (name, k) not in self._lists:
            kinds = [Measure(name, (), k)]
            if self.claim is not None and (self.claim.name, self.claim.k) == (name, k):
                kinds = [self.claim]
            self._lists[name, k] = [
                candidate
                for kind in kinds
                for candidate in list_dialect_candidates(kind, self.base, self.fixed)
            ]
        return self._lists[name, k]

    def find(self, candidate: Candidate, batches: Batches, precision: Precision) -> tuple[str, ...]:
        """Find the tools that give these values, wherever they do not refuse to."""
        key = candidate.key, len(batches)
        if key not in self._tools:
            measure = candidate.measure
            tools = [
                definition.tools[0]
                for definition in self.list_kind(measure.name, measure.k)
                if definition.measure.name == measure.name
                and _agrees(definition, batches, precision)
            ]
            self._tools[key] = tuple(dict.fromkeys(tools))
        return self._tools[key]


def _agrees(candidate: Candidate, batches: Batches, precision: Precision) -> bool:
    """Does a tool's definition give the function's values on all data that it takes?"""
    tool, _, name = candidate.tools[0].partition(":")
    dialect = resolve_dialect(tool)
    entry = dialect.find(name)
    stated = {**dialect.choices, **({} if entry is None else entry.read_choices(name))}
    refused = {name for name, word in stated.items() if word in NO_NUMBER and word != "nan"}
    refused |= USUAL.keys() - stated.keys()  # as germane, it refuses copies
    choices = tuple(pair for pair in candidate.choices if pair[0] not in refused)
    for special, batch in batches:
        if special is not None and refused.intersection(special.decides):
            continue
        expected = batch.expect(Candidate(candidate.measure, choices))
        if expected is not None and not batch.agrees(expected, precision):
            return False
    return True


@cache
def count_tools(name: str) -> int:
    """Count the tools that have a measure of this name."""
    every = (dialect for dialect in dialects().values() if not dialect.matching)
    kinds = (
        {parse(entry.write_measure(1)).name for entry in dialect.measuring} for dialect in every
    )
    return sum(name in names for names in kinds)
