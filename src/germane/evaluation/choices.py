"""Choices: keyword arguments that say how data are read and which conventions or dialect apply."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from germane.core.arguments import parse_whole
from germane.core.arithmetic import Halves
from germane.core.policy import (
    DEFAULTS,
    AllRelevant,
    Constant,
    Duplicates,
    Empty,
    Grades,
    Missing,
    NoHit,
    Nonpositive,
    NoRelevant,
    Own,
    Policy,
    Relevant,
    Repeated,
    Scores,
    Short,
    Ties,
    Undefined,
    Unjudged,
    Unknown,
)
from germane.dialects.parsing import find_renamed, parse_all
from germane.errors import PolicyError, suggest
from germane.evaluation.accepted import Catalogue, Distance, Group, Ids, ItemGroups, Pairs, Weights
from germane.evaluation.collection import find_needs
from germane.measures.averaging import check_ties
from germane.measures.catalogue import CatalogueDefinition
from germane.measures.measure import Measure, Measures
from germane.readers import InputFormat, Needs

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect

DEFAULT = "AP P@10 R@100 RR nDCG@10"


class OtherChoices(TypedDict, total=False):
    """``Choices`` of functions whose ``relevant`` may also be a number of items."""

    columns: Mapping[str, Any] | None
    input_format: InputFormat
    group: Group | None
    collapse: ItemGroups | None
    query_ids: Ids | None
    item_ids: Ids | None
    max_expansion: float | Literal["none"] | None
    max_line: float | Literal["none"] | None
    exclude: Pairs | None
    only: Pairs | None
    catalogue: Catalogue | None
    seen: Pairs | None
    distance: Distance | None
    subtopic_weights: Weights | None

    duplicates: Duplicates
    ties: Ties
    missing: Missing
    unjudged: Unjudged
    no_relevant: NoRelevant
    depth: int | None

    repeated: Repeated
    scores: Scores
    grades: Grades
    own: Own
    nonpositive: Nonpositive
    threshold: float | None
    empty: Empty
    short: Short
    constant: Constant
    unknown: Unknown
    no_hit: NoHit
    all_relevant: AllRelevant
    undefined: Undefined
    digits: int | None
    query_digits: int | None
    halves: Halves


class Choices(OtherChoices, total=False):
    """How data is read, and the conventions of a Policy, as keyword arguments."""

    relevant: Relevant


@dataclass(frozen=True, eq=False)
class Plan:
    """The measures, each with its conventions, before any data are read."""

    conventions: Policy
    policies: dict[Measure, Policy]
    renamed: Mapping[str, Measure] = field(default_factory=dict)  # names that stand for others

    def __post_init__(self) -> None:
        for measure, policy in self.policies.items():
            if not isinstance(measure.row, CatalogueDefinition):  # which have a rule of their own
                check_ties(measure, policy.ties)

    @cached_property
    def groups(self) -> dict[Policy, tuple[Measure, ...]]:
        """The measures of each policy."""
        groups: dict[Policy, list[Measure]] = {}
        for measure, policy in self.policies.items():
            groups.setdefault(policy, []).append(measure)
        return {policy: tuple(measures) for policy, measures in groups.items()}

    @cached_property
    def own(self) -> dict[Measure, Policy]:
        """The policies of the measures that have one of their own."""
        return {one: its for one, its in self.policies.items() if its != self.conventions}

    @cached_property
    def needs(self) -> Needs:
        """The parts of the judgments that have to be read."""
        return find_needs(self.policies, self.groups)


def make_plan(
    measures: Measures,
    dialect: "Dialect | None",
    conventions: Policy,
    asked_for: Mapping[str, Any],
) -> Plan:
    """Find the conventions of each measure: common ones, the dialect's, and those asked for.

    In a dialect the default measures are the tool's own of the same kinds. Raises PolicyError for
    an order of ties that a measure cannot have, and MeasureError for a name that neither germane
    nor the tool has.
    """
    if dialect is None:
        if isinstance(measures, str):
            return _plan_uniformly(measures, conventions)
        several = list(measures) if isinstance(measures, (list, tuple)) else parse_all(measures)
        plan = _plan_uniformly(parse_all(several), conventions)
        renamed = find_renamed(several)
        return replace(plan, renamed=renamed) if renamed else plan
    from germane.dialects.names import find_default_names, resolve_measures

    if isinstance(measures, str) and measures == DEFAULT:
        measures = find_default_names(DEFAULT, dialect)
    words = {name: word for name, word in asked_for.items() if name in DEFAULTS}
    policies = {}
    for one in resolve_measures(measures, dialect):
        its = replace(conventions, **{**one.choices, **words})
        policies[one.measure] = conventions if its == conventions else its
    return Plan(conventions, policies)


@lru_cache(256)
def _plan_uniformly(measures: str | tuple[Measure, ...], conventions: Policy) -> Plan:
    """Plan all measures under the same conventions."""
    policies = dict.fromkeys(parse_all(measures), conventions)
    return Plan(conventions, policies, find_renamed(measures))


_make_cached_policy = lru_cache(typed=True)(Policy)


def make_policy(**choices: Any) -> Policy:
    """Make the policy of these choices. Raises PolicyError for one that does not exist."""
    for name in choices:
        if name not in Choices.__annotations__:
            raise PolicyError(
                f"there is no convention {name!r}.{_suggest_argument(name, choices[name])}"
            )
    try:
        return _make_cached_policy(**choices)
    except TypeError:  # a choice that cannot be hashed is wrong, and Policy explains it
        return Policy(**choices)


_CUTOFFS = ("k", "ks", "at", "at_k", "cut", "cutoff", "cutoffs", "topk", "top_k", "top_n", "n")
_MEASURES = ("metric", "metrics", "measure", "measures", "metric_name", "eval_metrics")
_OTHERS = ("measures", "name", "dialect", "progress")  # arguments that are no conventions


def _suggest_argument(name: str, value: object) -> str:
    """Suggest the argument that a wrong name stands for."""
    if name.casefold() in _CUTOFFS:
        first = next(iter(value), 10) if isinstance(value, (list, tuple)) else value
        k = max(parse_whole(first) or 0, 0) or 10
        return f" A cutoff is part of a measure's name: measures='AP@{k} nDCG@{k}'."
    if name.casefold() in _MEASURES:
        return " The names of measures are the argument measures: measures='AP nDCG@10'."
    return suggest(name, [*Choices.__annotations__, *_OTHERS])
