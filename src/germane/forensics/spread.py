"""Spread: one measure under every dialect, and small data on which definitions differ."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any, Literal, Self, Unpack, cast

import numpy as np

from germane.core import ragged
from germane.core.calls import Progress, make_progress
from germane.core.policy import Policy, Relevant
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import Dialect, ToolMeasure
from germane.dialects.names import parse_any
from germane.errors import GermaneError, list_some
from germane.evaluation.bounds import list_limits
from germane.evaluation.choices import Choices, Judgments, OtherChoices, Run
from germane.evaluation.collection import Collection
from germane.evaluation.evaluate import compute_measures
from germane.evaluation.judging import JudgedRun
from germane.evaluation.opening import open_data
from germane.explanation.single_query import Counted, check_list, check_run, hold_rows, is_list
from germane.forensics.variations import (
    LISTED,
    STAGE_NAMES,
    Candidate,
    find_mean,
    refuse_dialect,
    write_choice,
)
from germane.measures.averaging import MeasureResult, compute_scores
from germane.measures.measure import Measure
from germane.output.documents import AS_DICT, Plain
from germane.output.named_columns import Tabular, make_texts
from germane.output.tables import Table, format_number
from germane.readers.objects.relevance import make_collection

SAME = 1e-12
LIST_ALONE = " (list alone)"
NOT_COUNTED = "relevant items that are not in the list were not counted"


@dataclass(frozen=True)
class DialectValue:
    """The number that one dialect gives to a run."""

    _json = "dialect name measure value moved_by=stages says unsure list_alone=listed"

    dialect: str
    name: str
    """the tool's name for the measure"""
    measure: Any
    """what germane calls it"""
    value: float
    """the mean; NaN where the dialect has none for this data"""
    stages: tuple[str, ...]
    """the stages that, changed alone, move germane's value; all that differ where only together. Of
    boxes they are conventions."""
    says: str = ""
    """why there is no value"""
    unsure: str = ""
    """why the tool itself may give another value on such data: a limit of its dialect"""
    listed: "DialectValue | None" = None
    """the value where a tool that sees one list at a time is given the list alone, so that relevant
    items that are not in the list are not counted (``relevant=listed``); None where it is the
    same"""

    @property
    def rows(self) -> "tuple[DialectValue, ...]":
        """The value itself, and the value of the list alone where it differs."""
        return (self,) if self.listed is None else (self, self.listed)


@dataclass(frozen=True)
class Spread(Tabular, Plain):
    """A measure of a run under every dialect, from the highest value to the lowest.

    >>> spread = germane.spread({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2.0, "x": 1.0}},
    ...     "AP@2")
    >>> [f"{one.dialect} {one.value:.3f}" for one in spread if one.dialect.startswith("trec_eval")]
    ['trec_eval-10 0.333', 'trec_eval-9 0.333']
    >>> spread.own.value
    0.5
    """

    _json = "own dialects=stated without"

    own: DialectValue
    stated: tuple[DialectValue, ...]
    without: tuple[str, ...]
    """dialects that have no such measure"""
    given: tuple[str, ...] = ()
    """the conventions that were given, with their words, and hold in every dialect"""
    counted: Counted | None = None
    """the number of relevant items, where it was counted in the list"""

    @classmethod
    def collect(
        cls,
        dialect_value: DialectValue,
        named: Mapping[str, DialectValue | None],
        conventions: Iterable[str],
    ) -> Self:
        """Sort the values of the dialects; None stands for those that have no such measure."""
        stated = sorted(filter(None, named.values()), key=order_descending)
        without = tuple(name for name, value in named.items() if value is None)
        return cls(dialect_value, tuple(stated), without, tuple(conventions))

    def __iter__(self) -> Iterator[DialectValue]:
        return iter(self.stated)

    def __len__(self) -> int:
        return len(self.stated)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value; NaN if no dialect has one."""
        values = [row.value for row in self._rows() if not math.isnan(row.value)]
        return min(values, default=math.nan), max(values, default=math.nan)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per dialect and one for germane; two if the list alone gives another value."""
        rows = sorted(self._rows(), key=order_descending)
        low, high = (format_number(end, digits, nan="none") for end in self.range)
        notes = [f"spread {low} … {high}"]
        if self.given:
            notes.append(f"given, in every dialect: {', '.join(self.given)}")
        if any(row.listed for row in self.stated):
            notes.append(f"{LIST_ALONE.strip()}: {NOT_COUNTED} (relevant=listed)")
        if self.counted is not None:
            notes.append(f"{self.counted}.")
        notes += [f"{why}: {', '.join(names)}" for why, names in self._explain_without().items()]
        cells = []
        for row in rows:
            stages = ", ".join(row.stages) or "–"
            unsure = f" (unsure: {row.unsure})" if row.unsure else ""
            value = format_number(row.value, digits, nan="none")
            cells.append((row.dialect, value, str(row.measure or ""), row.says or stages + unsure))
        columns = ("dialect", "value", "measure", "differs in")
        return Table(columns, tuple(cells), tuple(notes), (2, 3))

    def _list_columns(self) -> dict[str, Any]:
        rows = sorted(self._rows(), key=order_descending)
        return {
            "dialect": make_texts(row.dialect for row in rows),
            "value": np.array([row.value for row in rows]),
            "name": make_texts(row.name for row in rows),
            "measure": make_texts(row.measure for row in rows),
            "differs in": make_texts(", ".join(row.stages) for row in rows),
            "says": make_texts(row.says for row in rows),
            "unsure": make_texts(row.unsure for row in rows),
        }

    def _rows(self) -> list[DialectValue]:
        return [row for dialect_value in (self.own, *self.stated) for row in dialect_value.rows]

    def _explain_without(self) -> dict[str, list[str]]:
        """Sort the dialects without the measure by whether they have it without a cutoff."""
        names_by_reason: dict[str, list[str]] = {}
        measure = self.own.measure
        uncut = (
            None
            if measure is None or measure.k is None
            else Measure(measure.name, measure.parameters)
        )
        for name in self.without:
            foreign = uncut and resolve_dialect(name).find_same_kind(uncut)
            why = f"no cutoff, only {uncut}" if foreign else "no such measure"
            names_by_reason.setdefault(why, []).append(
                f"{name} {foreign.name}" if foreign else name
            )
        return names_by_reason


def spread(
    qrels: Judgments,
    run: Run | None = None,
    measure: str | Measure = "AP@10",
    *,
    relevant: int | Iterable[float] | Relevant | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[OtherChoices],
) -> Spread:
    """Compute a measure under every dialect on the same data.

    >>> germane.spread({"q": ["a", "b"]}, {"q": ["a", "x", "b"]}, "AP@3").range
    (0.7222222222222222, 0.8333333333333333)
    >>> germane.spread([1, 0, 1, 0], "AP@10", relevant=20).range
    (0.08, 0.8333333333333333)

    ``qrels`` and ``run`` are the same as for ``evaluate``, or ``qrels`` is one list of grades,
    followed by the measure, and ``relevant`` is the number of relevant items. ``AP@10`` stands for
    each tool's own average precision at 10, whatever its norm; a tool that has a measure of exactly
    the name that you write is evaluated with that one. Arguments and conventions are the same as
    for ``evaluate``; a convention that you give holds in every dialect. Raises what ``evaluate``
    raises for germane's own value.
    """
    qrels, counted = hold_rows(qrels), None
    choices: dict[str, Any] = {**policy}
    if isinstance(relevant, str):  # with qrels it is a convention
        choices["relevant"], relevant = relevant, None
    if is_list(qrels, run, choices):
        measure = measure if run is None else cast("str | Measure", run)
        check_list(None, [*choices])
        rel = parse_any(measure).rel or 1.0
        qrels, run = make_collection(cast(Any, qrels), relevant, rel)
        counted = None if relevant is not None else Counted(int((qrels.grades >= rel).sum()))
    else:
        check_run(run, relevant)
    [answer] = spread_each(qrels, cast(Any, run), [measure], progress=progress, **choices)
    return replace(answer, counted=counted)


def spread_each(
    qrels: Judgments,
    run: Run,
    measures: Iterable[str | Measure],
    /,
    *,
    progress: Progress | bool | None = None,
    limits: Literal["find", "skip"] = "find",
    **policy: Unpack[Choices],
) -> tuple[Spread, ...]:
    """Compute ``spread`` for several measures of one run, which is read only once.

    ``limits="skip"`` leaves ``unsure`` empty, which takes as long as everything else.
    """
    progress = make_progress(progress)
    refuse_dialect(policy, "spread")
    data = open_data(qrels, policy)
    opened_run, conventions = data.open_run(run)
    fixed = data.options.asked
    written_names = {
        parse_any(measure): measure if isinstance(measure, str) else "" for measure in measures
    }
    values = Values(data.collect(opened_run.load(progress), written_names, progress=progress))
    spreads = []
    for measure, written in written_names.items():
        result = values(conventions, measure)
        why = _explain_undefined(result)
        own_value = DialectValue("germane", str(measure), measure, result.mean, (), why)
        question = _Question(measure, conventions, fixed, values, result.mean, limits)
        named = {}
        for name, dialect in dialects().items():
            foreign = next(dialect.list_definitions(measure, written), None)
            named[name] = None if foreign is None else question.evaluate(dialect, foreign)
        words = [write_choice(name, getattr(conventions, name)) for name in fixed]
        spreads.append(Spread.collect(own_value, named, words))
    return tuple(spreads)


class Values:
    """Measures of a run by policy, each evaluated once."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._results: dict[tuple[Policy, Measure], MeasureResult] = {}
        self._computed: dict[tuple[object, ...], MeasureResult] = {}  # by ranking; few differ
        self._latest: tuple[tuple[Policy, bool], JudgedRun] | None = None

    def judge(self, policy: Policy, measures: tuple[Measure, ...] = ()) -> JudgedRun:
        """Judge the run, once for the measures that are asked for in turn under a policy."""
        key = policy, any(measure.row.of_catalogue for measure in measures)
        if self._latest is None or self._latest[0] != key:
            self._latest = key, self.collection.judge(policy, measures)
        return self._latest[1]

    def __call__(self, policy: Policy, measure: Measure) -> MeasureResult:
        key = policy, measure
        if key not in self._results:
            judged = self.judge(policy, (measure,))
            ranking = judged.rank(policy.ties)  # kept by the collection
            kinds = None if judged.kinds is None else judged.kinds.key
            after = (getattr(policy, name) for name in _AFTER_RANKING)
            alike = id(ranking), measure, kinds, *after
            if alike not in self._computed:
                self._computed[alike] = compute_measures((measure,), judged)[measure]
            self._results[key] = self._computed[alike]
        return self._results[key]

    def list_grades(self, conventions: Policy) -> list[float]:
        """List the grades above 0 that were judged."""
        for duplicates in (conventions.duplicates, "first"):
            try:
                qrels = self.collection.judge(replace(conventions, duplicates=duplicates)).qrels
            except GermaneError:  # evaluating the candidates reports it
                continue
            return [grade for grade in np.unique(qrels.grades).tolist() if grade > 0]
        return []


_AFTER_RANKING = (*(field.name for field in fields(Policy.STAGES["averaging"])), "empty", "short")
"""Conventions that matter after the ranking is known."""


@dataclass(frozen=True)
class _Question:
    """A measure that is asked for, its conventions, and the value that germane itself gives."""

    measure: Measure
    conventions: Policy
    fixed: Mapping[str, Any]  # the conventions that hold in every dialect
    values: Values
    own_mean: float
    limits: Literal["find", "skip"]

    def evaluate(self, dialect: Dialect, foreign: ToolMeasure) -> DialectValue:
        """Evaluate a dialect on the data, and on the list alone where its tool may see no more."""
        on_all_judgments = self._evaluate(dialect, foreign, {})
        if dialect.sees == "judgments" or "relevant" in self.fixed:
            return on_all_judgments
        listed = self._evaluate(dialect, foreign, LISTED)
        if are_same(on_all_judgments.value, listed.value):
            return on_all_judgments
        return replace(on_all_judgments, listed=listed)

    def _evaluate(
        self, dialect: Dialect, foreign: ToolMeasure, judging: Mapping[str, str]
    ) -> DialectValue:
        measure, name, choices = foreign.measure, foreign.name, foreign.choices
        label = dialect.name + LIST_ALONE * bool(judging)
        words = {**dialect.choices, **choices, **judging, **self.fixed}
        collection = self.values.collection
        try:
            policy = replace(self.conventions, **words)
            result = self.values(policy, measure)
            judged = self.values.judge(policy)
            limits = (
                list_limits(dialect, foreign.entry, result, judged, collection.is_ordered)
                if self.limits == "find"
                else ()
            )
        except GermaneError as error:
            why = str(error).partition(". ")[0]
            return DialectValue(label, name, measure, math.nan, (), why)
        # which stages of the tool, each put alone into germane's own definition, move its value?
        moving, changed = [], []
        for stage in () if are_same(result.mean, self.own_mean) else STAGE_NAMES:
            stage_policy, stage_measure = self.conventions, measure
            if stage != "measuring":
                names = {field.name for field in fields(Policy.STAGES[stage])}
                words = {n: word for n, word in choices.items() if n in names}
                words = {**getattr(dialect, stage), **words}
                if stage == "judging":  # where the list alone makes a difference
                    words |= judging
                stage_policy, stage_measure = (
                    replace(stage_policy, **{**words, **self.fixed}),
                    self.measure,
                )
            if stage_policy != self.conventions or stage_measure != self.measure:
                changed.append(stage)
                if not self._has_own_value(stage_policy, stage_measure):
                    moving.append(stage)
        stages = tuple(moving or changed)
        unsure = " ".join(dict.fromkeys(limit.says for limit in limits))
        why = _explain_undefined(result)
        return DialectValue(label, name, measure, result.mean, stages, why, unsure)

    def _has_own_value(self, policy: Policy, measure: Measure) -> bool:
        try:
            return are_same(self.values(policy, measure).mean, self.own_mean)
        except GermaneError:  # a stage that has no value alone, such as ties=grouped with a cutoff
            return False


def _explain_undefined(result: MeasureResult) -> str:
    """Say why a mean is NaN; "" where it is a number."""
    if not math.isnan(result.mean):
        return ""
    nan = [query for query, value in result.per_query.items() if math.isnan(value)]
    if not nan:
        return "no query counts"
    return f"NaN for {list_some(nan)} ({len(nan)} of {len(result.per_query)} queries)"


def are_same(first: float, second: float) -> bool:
    """Are both the same number, or both undefined?"""
    return abs(first - second) <= SAME or (math.isnan(first) and math.isnan(second))


def are_all_same(first: Floats, second: Floats, within: float = SAME) -> bool:
    """Are numbers the same one by one, or both undefined?"""
    return np.allclose(first, second, rtol=0, atol=within, equal_nan=True)


def order_descending(dialect_value: DialectValue) -> tuple[bool, float, bool, str]:
    return (
        math.isnan(dialect_value.value),
        -dialect_value.value,
        dialect_value.dialect != "germane",
        dialect_value.dialect,
    )


# --- Example: small data on which definitions that coincide elsewhere differ ----------------------

Small = tuple[tuple[float, ...], int]  # the grades of a list, and the relevant items that it misses

_LONGEST = 6  # ranks of the longest list that is tried
_MOST = 1000  # the largest cutoff for which lists with as many relevant items are tried

# Convention → the data that shows its effect, in words, and small data that does: qrels and a run.
SHOWN: Mapping[str, tuple[str, Any, Any]] = {
    "duplicates": ("a result that is listed twice", {"q": ["a", "b"]}, {"q": ["a", "a", "b"]}),
    "ties": (
        "a relevant result with the score of another",
        {"q": {"b": 1, "c": 1}},
        {"q": {"b": 1.0, "a": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}},
    ),
    "missing": ("a judged query without results", {"q": ["a"], "r": ["b"]}, {"q": ["a"]}),
    "unjudged": ("an unjudged result above a relevant one", {"q": ["a"]}, {"q": ["x", "a"]}),
    "no_relevant": (
        "a query without relevant items",
        {"q": {"a": 1}, "r": {"b": 0}},
        {"q": ["x", "a"], "r": ["b"]},
    ),
    "relevant": ("a relevant item that is not in the list", {"q": ["a", "b"]}, {"q": ["a", "x"]}),
    "repeated": ("an item judged twice", {"q": ["a", "a", "b"]}, {"q": ["a"]}),
    "scores": (
        "scores that are equal in single precision only",
        {"q": ["a"]},
        {"q": {"a": 16777217.0, "b": 16777216.0}},
    ),
    "grades": ("grades below 0, or with decimals", {"q": {"a": 1.5, "b": 1}}, {"q": ["b", "a"]}),
    "own": ("a result with the id of its query", {"q": ["a"]}, {"q": ["q", "a"]}),
    "nonpositive": ("a relevant result with a score of 0 or less", {"q": ["a"]}, {"q": {"a": 0.0}}),
    "empty": ("a query with an empty list", {"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": []}),
    "unknown": ("a query that nobody judged", {"q": ["a"]}, {"q": ["a"], "z": ["b"]}),
    "mean": ("queries that differ", {"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": ["x", "b"]}),
    "no_hit": ("a query for which nothing is found", {"q": ["a"], "r": ["b"]},
        {"q": ["a"], "r": ["x"]}),
    "all_relevant": ("a query for which nothing is judged not relevant",
        {"q": ["a", "b"], "r": {"c": 1, "d": 0}}, {"q": ["a"], "r": ["c"]}),
    "undefined": ("a query whose value is NaN", {"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": []}),
}  # fmt: skip


@dataclass(frozen=True)
class Example:
    """Small data, and the values that definitions give on it.

    ``data`` is a list of grades with the number of relevant items, or qrels and a run.
    """

    _json = "data=says values"

    data: tuple[Any, Any]
    values: tuple[tuple[str, float], ...] = field(metadata=AS_DICT)

    @property
    def says(self) -> str:
        """The data in words."""
        first, second = self.data
        if isinstance(first, str):
            return f"'{first}'" + (f" with {second} relevant" if second else "")
        return f"qrels {first} and run {second}"

    @property
    def groups(self) -> list[tuple[float, list[str]]]:
        """Each value, with the definitions that give it."""
        by_text: dict[str, tuple[float, list[str]]] = {}  # by text, since NaN does not equal itself
        for name, value in self.values:
            by_text.setdefault(f"{value:.9f}", (value, []))[1].append(name)
        return list(by_text.values())


def find_examples(
    candidates: Sequence[Candidate], conventions: Policy, tolerance: float
) -> Iterator[tuple[tuple[str, ...], Example | None]]:
    """Find data on which the candidates differ, then other data for those that are equal there.

    No list distinguishes AP(norm=R)@3, AP@3 and AP(norm=k)@3: of R items, two of the norms are
    equal if R ≤ 3, and two if R ≥ 3.
    """
    example = find_example(candidates, conventions, tolerance)
    yield tuple(map(str, candidates)), example
    for _, names in [] if example is None else example.groups:
        if len(names) > 1:
            equal = [candidate for candidate in candidates if str(candidate) in names]
            yield from find_examples(equal, conventions, tolerance)


def find_example(
    candidates: Sequence[Candidate], conventions: Policy, tolerance: float
) -> Example | None:
    """Find the smallest data on which most candidates differ, beyond the tolerance if possible.

    None where all of them are equal on everything that was tried.
    """
    examples = []
    # A list distinguishes measures, but not conventions.
    measures = {
        (
            candidate.measure.name,
            *candidate.measure.arguments.items(),
            candidate.measure.k,
        ): candidate.measure
        for candidate in candidates
    }
    small = _find_list(list(measures.values()), tolerance) if len(measures) > 1 else None
    if small is not None:
        listed, missed = small
        relevant = sum(grade >= 1 for grade in listed) + missed if missed else None
        data = " ".join(f"{grade:g}" for grade in listed), relevant
        examples.append(
            _evaluate(candidates, conventions, data, *make_collection(listed, relevant))
        )
    names = {name for candidate in candidates for name, _ in candidate.choices}
    if len({find_mean(candidate.measure) for candidate in candidates}) > 1:
        names.add("mean")
    for name, (_, qrels, run) in SHOWN.items():
        if name in names:
            examples.append(_evaluate(candidates, conventions, (qrels, run), qrels, run))
    best = max(examples, key=lambda example: len(example.groups), default=None)
    return best if best is not None and len(best.groups) > 1 else None


def _evaluate(
    candidates: Sequence[Candidate],
    conventions: Policy,
    data: tuple[Any, Any],
    qrels: Any,
    run: Any,
) -> Example:
    opened = open_data(qrels, {})
    measures = (candidate.measure for candidate in candidates)
    values = Values(opened.collect(opened.open_run(run)[0], measures))
    means = []
    for candidate in candidates:
        try:
            value = values(candidate.make_policy(conventions), candidate.measure).mean
        except GermaneError:
            value = math.nan
        means.append((str(candidate), value))
    return Example(data, tuple(means))


def _find_list(measures: Sequence[Measure], tolerance: float) -> Small | None:
    """Find the first small list on which all measures differ, or the most of them."""
    lists = list(_list_small(measures))
    ranking = _make_ranking(lists)
    try:
        scores = np.array([compute_scores(measure, ranking) for measure in measures])
    except GermaneError:
        return None
    gaps = np.diff(np.sort(scores, axis=0), axis=0)
    for least in (2.5 * tolerance, 1e-9):
        differ = (gaps > least).all(axis=0)
        if differ.any():
            return lists[int(np.argmax(differ))]
    return lists[int(np.argmax((gaps > 1e-9).sum(axis=0)))]


def _list_small(measures: Iterable[Measure]) -> Iterator[Small]:
    """Yield every small list, short ones first."""
    levels = {measure.rel or 1.0 for measure in measures}
    binary = levels == {1.0} and not any("gain" in measure.arguments for measure in measures)
    grades = (0.0, 1.0) if binary else tuple(sorted({0.0, 1.0, 2.0, *levels}))
    cutoffs = {measure.k for measure in measures if measure.k is not None and measure.k <= _MOST}
    for length in range(1, _LONGEST + 1 if binary else _LONGEST - 1):
        for listed in product(grades, repeat=length):
            yield listed, 0
            if levels == {1.0}:  # an item that the list misses has grade 1
                exist = sum(grade >= 1 for grade in listed)
                totals = {exist + 1, exist + 2, *(k + extra for k in cutoffs for extra in range(3))}
                yield from ((listed, total - exist) for total in sorted(totals) if total > exist)


def _make_ranking(lists: Sequence[Small]) -> Ranking:
    """Make each list a query of one ranking."""
    lengths = np.array([len(listed) for listed, _ in lists])
    owner = np.repeat(np.arange(len(lists)), lengths)
    rank = np.arange(len(owner)) - ragged.make_offsets(lengths)[owner] + 1
    judged = [sorted((*listed, *[1.0] * missed), reverse=True) for listed, missed in lists]
    return Ranking(
        queries=list(range(len(lists))),
        owner=owner,
        rank=rank,
        relevance=np.concatenate([listed for listed, _ in lists]),
        retrieved=lengths,
        ideal_offsets=ragged.make_offsets(list(map(len, judged))),
        ideal=np.concatenate(judged),
        tied_from=rank,
        tied_to=rank,
    )
