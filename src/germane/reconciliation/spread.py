"""Spread: one measure of one run under every dialect, and the stage that moves each away."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Unpack

from germane.core.policy import DEFAULTS, STAGES, Policy
from germane.core.progress import Progress, make_progress
from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import STAGE_NAMES, Dialect, Entry, Stage
from germane.dialects.names import find_same_kind, translate_entry
from germane.errors import GermaneError, list_some
from germane.evaluation.api import compute_measures
from germane.evaluation.choices import Choices, open_all
from germane.evaluation.collection import Collection
from germane.evaluation.limits import find_holding, may_matter
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure, Measures, parse, parse_all
from germane.output.formatting import format_number, to_json_number
from germane.output.tabled import Tabular
from germane.output.tables import Table

_SAME = 1e-12
LIST_ALONE = " (list alone)"
NOT_COUNTED = "relevant items that are not in the list were not counted"


@dataclass(frozen=True)
class DialectValue:
    """The number that one dialect gives to a run."""

    dialect: str
    name: str
    """the tool's name for the measure"""
    measure: Measure | None
    """what germane calls it"""
    value: float
    """the mean; NaN where the dialect has none for this data"""
    stages: tuple[Stage, ...]
    """the stages that, changed alone, move germane's value; all that differ where only together"""
    says: str = ""
    """why there is no value"""
    unsure: str = ""
    """why the tool itself may say something else of such data: a limit of its dialect"""
    listed: "DialectValue | None" = None
    """what a tool that sees one list at a time says where it is given the list alone, if that is another
    value: relevant items that are not in the list are not counted (``relevant=listed``)"""

    @property
    def rows(self) -> "tuple[DialectValue, ...]":
        """Itself, and what it says of the list alone."""
        return (self,) if self.listed is None else (self, self.listed)


@dataclass(frozen=True)
class Spread(Tabular):
    """A measure of a run under every dialect, from the highest value to the lowest.

    >>> spread = germane.spread({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2.0, "x": 1.0}}, "AP@2")
    >>> [f"{one.dialect} {one.value:.3f}" for one in spread if one.dialect.startswith("trec_eval")]
    ['trec_eval-10 0.333', 'trec_eval-9 0.333']
    >>> spread.own.value
    0.5
    """

    own: DialectValue
    stated: tuple[DialectValue, ...]
    without: tuple[str, ...]
    """dialects that have no such measure"""

    def __iter__(self) -> Iterator[DialectValue]:
        return iter(self.stated)

    def __len__(self) -> int:
        return len(self.stated)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value; NaN where no dialect has one."""
        values = [one.value for one in self._rows() if not math.isnan(one.value)]
        return min(values, default=math.nan), max(values, default=math.nan)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a dialect, germane's own among them; two where a tool may be given the list alone."""
        rows = sorted(self._rows(), key=_order_descending)
        low, high = self.range
        notes = [
            f"spread {format_number(low, digits, nan='none')} … {format_number(high, digits, nan='none')}"
        ]
        if any(one.listed for one in self.stated):
            notes.append(f"{LIST_ALONE.strip()}: {NOT_COUNTED} (relevant=listed)")
        notes += [f"{why}: {', '.join(names)}" for why, names in self._without().items()]
        cells = [
            (
                one.dialect,
                format_number(one.value, digits, nan="none"),
                str(one.measure or ""),
                one.says
                or (", ".join(one.stages) or "–")
                + (f" (unsure: {one.unsure})" if one.unsure else ""),
            )
            for one in rows
        ]
        return Table(
            ("dialect", "value", "measure", "differs in"), tuple(cells), tuple(notes), (2, 3)
        )

    def _rows(self) -> list[DialectValue]:
        return [row for one in (self.own, *self.stated) for row in one.rows]

    def _without(self) -> dict[str, list[str]]:
        """The dialects without the measure, those apart that have it without a cutoff."""
        found: dict[str, list[str]] = {}
        asked = self.own.measure
        whole = None if asked is None or asked.k is None else Measure(asked.name, asked.parameters)
        for name in self.without:
            other = whole and find_same_kind(resolve_dialect(name), whole)
            why = f"no cutoff, only {whole}" if other else "no such measure"
            found.setdefault(why, []).append(f"{name} {other.name}" if other else name)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; NaN becomes None."""
        return {
            "own": _make_row(self.own),
            "dialects": [_make_row(one) for one in self.stated],
            "without": list(self.without),
        }


def spread(
    qrels: Any,
    run: Any,
    measure: str | Measure = "AP@10",
    *,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Spread:
    """Give the value of a measure that every dialect gives on the same data.

    >>> germane.spread({"q": ["a", "b"]}, {"q": ["a", "x", "b"]}, "AP@3").range
    (0.7222222222222222, 0.8333333333333333)

    ``measure`` names the kind: for AP@10 each tool's own average precision at 10 is taken, whatever
    it is divided by. Arguments and conventions are those of ``evaluate``; a convention that is given
    holds in every dialect. Raises what ``evaluate`` raises for germane's own value.
    """
    asked = measure if isinstance(measure, Measure) else parse(measure)
    [found] = spread_each(qrels, run, asked, progress=progress, **policy)
    return found


def spread_each(
    qrels: Any,
    run: Any,
    measures: Measures,
    *,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> tuple[Spread, ...]:
    """``spread`` of several measures of one run: what is read and judged alike is so once."""
    progress = make_progress(progress)
    judgments, found, conventions = open_all(qrels, run, policy)
    given = {name: word for name, word in policy.items() if name in DEFAULTS}
    values = Values(Collection(judgments, found.load(progress), "spread", progress))
    return tuple(_spread_one(asked, conventions, given, values) for asked in parse_all(measures))


def _spread_one(
    asked: Measure, conventions: Policy, given: Mapping[str, Any], values: "Values"
) -> Spread:
    result = values(conventions, asked)
    own = DialectValue("germane", str(asked), asked, result.mean, (), _explain_undefined(result))
    stated, without = [], []
    for dialect in dialects().values():
        foreign = find_same_kind(dialect, asked)
        if foreign is None:
            without.append(dialect.name)
        else:
            stated.append(_state(dialect, foreign, asked, conventions, given, values, own.value))
    return Spread(own, tuple(sorted(stated, key=_order_descending)), tuple(without))


LISTED = {"relevant": "listed"}


def list_words(dialect: Dialect, foreign: Entry, stage: Stage) -> dict[str, Any]:
    """The conventions of a dialect on one stage, those of one measure included."""
    if stage == "measuring":
        return {}
    words = dict(getattr(dialect, stage))
    decided = {field.name for field in fields(STAGES[stage])}
    return {**words, **{n: word for n, word in foreign.choices.items() if n in decided}}


class Values:
    """A measure of a run by policy: what is read and judged alike is so once."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._found: dict[tuple[Policy, Measure], MeasureResult] = {}

    def __call__(self, policy: Policy, measure: Measure) -> MeasureResult:
        key = policy, measure
        if key not in self._found:
            judged = self.collection.judge(policy)
            self._found[key] = compute_measures((measure,), judged)[measure]
        return self._found[key]


def _state(
    dialect: Dialect,
    foreign: Entry,
    asked: Measure,
    conventions: Policy,
    given: Mapping[str, Any],
    values: Values,
    own: float,
) -> DialectValue:
    """The number that a dialect gives to the data, and to the list alone where its tool may see no more."""
    said = _state_under({}, dialect, foreign, asked, conventions, given, values, own)
    if dialect.sees == "judgments" or "relevant" in given:
        return said
    listed = _state_under(LISTED, dialect, foreign, asked, conventions, given, values, own)
    return said if _are_same(said.value, listed.value) else replace(said, listed=listed)


def _state_under(
    judging: Mapping[str, Any],
    dialect: Dialect,
    foreign: Entry,
    asked: Measure,
    conventions: Policy,
    given: Mapping[str, Any],
    values: Values,
    own: float,
) -> DialectValue:
    measure = translate_entry(foreign, asked)
    name = foreign.write_name(asked.k)
    shown = dialect.name + LIST_ALONE * bool(judging)
    words = {**dialect.choices, **foreign.choices, **judging, **given}
    try:
        policy = replace(conventions, **words)
        result = values(policy, measure)
        limits = find_holding(
            dialect, foreign, measure, values.collection.judge(policy), values.collection.is_ordered
        )
    except GermaneError as error:
        return DialectValue(shown, name, measure, math.nan, (), str(error).partition(". ")[0])
    moved, changed = [], []
    for stage in STAGE_NAMES:
        more = judging if stage == "judging" else {}
        alone = replace(conventions, **{**list_words(dialect, foreign, stage), **more, **given})
        this = measure if stage == "measuring" else asked
        if alone == conventions and this == asked:
            continue
        changed.append(stage)
        if not _has_value(values, alone, this, own):
            moved.append(stage)
    value = result.mean
    stages = () if _are_same(value, own) else tuple(moved or changed)
    unsure = " ".join(dict.fromkeys(limit.says for limit in limits if may_matter(limit, result)))
    return DialectValue(shown, name, measure, value, stages, _explain_undefined(result), unsure)


def _explain_undefined(result: MeasureResult) -> str:
    """Why a mean is NaN; "" where it is a number."""
    if not math.isnan(result.mean):
        return ""
    nan = [query for query, value in result.per_query.items() if math.isnan(value)]
    if not nan:
        return "no query counts"
    return f"NaN for {list_some(nan)} ({len(nan)} of {len(result.per_query)} queries)"


def _has_value(values: Values, policy: Policy, measure: Measure, own: float) -> bool:
    try:
        return _are_same(values(policy, measure).mean, own)
    except GermaneError:  # a stage that has no value alone, such as ties=grouped with a cutoff
        return False


def _are_same(one: float, other: float) -> bool:
    """Are both the same number, or both undefined?"""
    return abs(one - other) <= _SAME or (math.isnan(one) and math.isnan(other))


def _order_descending(one: DialectValue) -> tuple[bool, float, bool, str]:
    return math.isnan(one.value), -one.value, one.dialect != "germane", one.dialect


def _make_row(one: DialectValue) -> dict[str, Any]:
    return {
        "dialect": one.dialect,
        "name": one.name,
        "measure": str(one.measure),
        "value": to_json_number(one.value),
        "moved_by": list(one.stages),
        "says": one.says,
        "unsure": one.unsure,
        "list_alone": None if one.listed is None else _make_row(one.listed),
    }
