"""Choices: keyword arguments that say how data are read and which conventions or dialect apply."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from germane.core.arguments import is_number, parse_whole
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
    Padding,
    Policy,
    Ranks,
    Relevant,
    Repeated,
    Scores,
    Short,
    Ties,
    Undefined,
    Unjudged,
    Unknown,
)
from germane.core.rounding import Halves
from germane.dialects.names import find_renamed, parse_all
from germane.errors import PolicyError, suggest
from germane.evaluation.accepted import Catalogue, Distance, Group, Ids, ItemGroups, Pairs, Weights
from germane.evaluation.collection import find_needs
from germane.measures.averaging import check_ties
from germane.measures.definition import CatalogueDefinition
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
    ignore: Pairs | None
    catalogue: Catalogue | None
    seen: Pairs | None
    distance: Distance | None
    subtopic_weights: Weights | None

    dialect: "str | Dialect | None"
    policy: Policy | None

    duplicates: Duplicates
    ties: Ties
    missing: Missing
    unjudged: Unjudged
    no_relevant: NoRelevant
    depth: int | None

    repeated: Repeated
    scores: Scores
    grades: Grades
    ranks: Ranks
    own: Own
    padding: Padding
    nonpositive: Nonpositive
    min_score: float | None
    max_distance: float | None
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
        return {
            measure: policy
            for measure, policy in self.policies.items()
            if policy != self.conventions
        }

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
        names = list(measures) if isinstance(measures, (list, tuple)) else parse_all(measures)
        plan = _plan_uniformly(parse_all(names), conventions)
        renamed = find_renamed(names)
        return replace(plan, renamed=renamed) if renamed else plan
    from germane.dialects.names import find_default_names, refuse_half_a_level, resolve_measures

    if isinstance(measures, str) and measures == DEFAULT:
        measures = find_default_names(DEFAULT, dialect)
    words = {name: word for name, word in asked_for.items() if name in DEFAULTS}
    policies = {}
    for measure in resolve_measures(measures, dialect):
        refuse_half_a_level(dialect, measure.measure, words)
        policy = replace(conventions, **{**measure.choices, **words})
        policies[measure.measure] = conventions if policy == conventions else policy
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
                f"there is no convention {name!r}."
                + (
                    advise_argument(name, choices[name], choices.get("scores"))
                    or suggest(name, _ALL)
                )
            )
    try:
        return _make_cached_policy(**choices)
    except TypeError:  # a choice that cannot be hashed is wrong, and Policy explains it
        return Policy(**choices)


_CUTOFFS = ("k", "ks", "at", "at_k", "cut", "cutoff", "cutoffs", "topk", "top_k", "top_n", "n")
_MEASURES = ("metric", "metrics", "measure", "metric_name", "eval_metrics")
_THRESHOLD = re.compile(r"t[hres]{2,5}h?olds?|thresh")
_LIMIT = re.compile(r"min|max|low|high|least|level|cut")
_OF_GRADES = re.compile(r"(?:^|_)(?:rel|grade|rating|like|pos)")
_OF_SCORES = re.compile(r"score|dist|sim|conf|prob")
_ALL = (*Choices.__annotations__, "measures", "name", "progress")


def _write_argument(name: str) -> str:
    return "" if name == "measures" else f"{name}="  # the first of some functions, or measure=


def advise_argument(
    name: str,
    value: object,
    scores: object = None,
    write: Callable[[str], str | None] = _write_argument,
) -> str:
    """Advise what to write instead of a usual name that is no argument; "" for other names.

    ``scores`` is the choice of that name. ``write`` writes an argument before its value; None for
    one that the caller does not have.

    >>> from germane.evaluation.choices import advise_argument
    >>> advise_argument("k", 5)
    " A cutoff is part of a measure's name: 'nDCG@5'."
    """
    word = name.casefold()
    first = next(iter(value), None) if isinstance(value, (list, tuple)) else value
    number = _write_number(first) or "4"
    measures, min_score, max_distance = map(write, ("measures", "min_score", "max_distance"))
    advice = []
    if word in _CUTOFFS and measures is not None:
        k = max(parse_whole(first) or 0, 0) or 10
        advice.append(f"A cutoff is part of a measure's name: {measures}'nDCG@{k}'.")
    if word == "measures":
        advice.append("This function takes one measure: measure='nDCG@10'.")
    elif word in _MEASURES and measures is not None:
        argument = measures or "measures="
        advice.append(f"The names of measures are the argument measures: {argument}'AP nDCG@10'.")
    of_grades, of_scores = _find_limits(word)
    if of_grades and measures is not None:
        level = f"P(rel={number.lstrip('-')})@10"
        advice.append(
            f"The lowest relevant grade is part of a measure's name: {measures}'{level}'."
        )
    are_distances = scores == "distances" or "dist" in word
    if of_scores and min_score and not are_distances:
        advice.append(f"{min_score}{number} leaves out items with a lower score.")
    if of_scores and max_distance and are_distances:
        beside = "" if scores == "distances" else f" with {write('scores')}distances"
        advice.append(f"{max_distance}{number}{beside} leaves out items that are farther away.")
    return "".join(f" {sentence}" for sentence in advice)


def _write_number(value: object) -> str:
    """Write a number that may be given as text; "" for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return ""
    return f"{value:g}" if is_number(value) and isfinite(value) else ""


def _find_limits(word: str) -> tuple[bool, bool]:
    """Find whether a wrong name may mean the lowest relevant grade, and a limit of scores."""
    if word in ("rel", "l", "level") or word.startswith("binari"):
        return True, False
    is_threshold = _THRESHOLD.search(word) is not None
    if not is_threshold and not _LIMIT.search(word):
        return False, False
    of_grades, of_scores = (bool(kind.search(word)) for kind in (_OF_GRADES, _OF_SCORES))
    neither = is_threshold and not of_grades and not of_scores
    return of_grades or neither, of_scores or neither
