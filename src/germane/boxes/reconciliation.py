"""Reconciliation of boxes: the conventions that give a reported number."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from germane.boxes.conventions import Conventions
from germane.boxes.dialect_table import resolve_box_dialect, resolve_measures
from germane.boxes.measures import BoxMeasure, parse_measures
from germane.boxes.search import BoxGiven, BoxSearch, BoxValues, Counts, open_values
from germane.boxes.variations import BoxCandidate
from germane.output.formatting import add_schema, format_number, to_json_number, write_count
from germane.reconciliation.answer import Answer, list_tools
from germane.reconciliation.plausibility import weigh_values
from germane.reconciliation.reported import Reported, read_reported
from germane.reconciliation.variations import write_choice

if TYPE_CHECKING:
    from germane.boxes.options import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect

_OTHERS = "AP AP50 AP75 AR@1 AR@10 AR"  # measures that may be meant by mistake
_ORDERS = 100  # random orders of the scores, to find out how often small data gives a number
_SMALL = 2_000  # detections; the numbers of larger data hardly ever coincide


@dataclass(frozen=True)
class Step:
    """One change on the way from what was asked for to the conventions that give the number."""

    change: str
    value: float
    """the value after it"""
    counts: Counts

    def write(self, before: "Step", digits: int) -> str:
        """Write the change with the value before and after it, and how many items it moved."""
        moved = []
        for name, noun in (
            ("truths", "truth"),
            ("true", "true positive"),
            ("false", "false positive"),
        ):
            difference = getattr(self.counts, name) - getattr(before.counts, name)
            if difference:
                count = write_count(abs(difference), noun)
                first, _, rest = count.partition(" ")
                moved.append(f"{first} {'more' if difference > 0 else 'fewer'} {rest}")
        text = f": {', '.join(moved)}" if moved else ""
        ends = (format_number(step.value, digits, nan="none") for step in (before, self))
        return f"{self.change} changes {' to '.join(ends)}{text}"


@dataclass(frozen=True, repr=False)
class Reconciliation(Answer[BoxGiven]):
    """The conventions that give a reported number, fewest changes first, or the nearest ones.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52]], "labels": [1], "scores": [0.9]}]
    >>> said = germane.boxes.reconcile(truth, found, reported="0.8955")
    >>> [str(one) for one in said], said.found[0].candidate.tools[0]
    (['AP, points=lines', 'AP, points=slope'], 'ultralytics:mAP50-95')

    Iterating gives what was found. ``path`` leads from what was asked for to the first of them.
    """

    _noun = "set"
    _columns = ("conventions", "value", "off by", "tools")
    _tools = 3

    reported: Reported
    measure: BoxMeasure
    conventions: Conventions
    own: BoxGiven
    """what was asked for"""
    found: tuple[BoxGiven, ...]
    """the conventions that give the number, without changes that make no difference here"""
    nearest: tuple[BoxGiven, ...]
    """where none is found: the nearest, the nearest that a tool uses, and what was asked for"""
    tried: tuple[BoxGiven, ...]
    """everything that was tried and has a value on this data"""
    path: tuple[Step, ...]
    """the changes to the first found or nearest, one at a time, after the value asked for"""
    idle: tuple[str, ...] = ()
    """changes that, alone, make no difference on this data"""
    values: int = 0
    """the number of different values of conventions that are at most as far as the first found"""
    chance: float = 0.0
    """the probability that a wrong number rounds to one of these values"""
    hints: tuple[str, ...] = ()
    """other measures that give the number"""

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        question = f"{self.reported} as {self.measure}"
        if not self.found:
            hints = "".join(f"{hint} " for hint in self.hints)
            return (
                f"{question}: no conventions give it. {hints}The nearest is {self.nearest[0]} with "
                f"{self._describe_nearest()}"
            )
        gives = f"given by {self._name(self.found[0])}"
        if len(self.found) > 1:
            gives = (
                f"{len(self.found)} sets of conventions give it, with fewest changes"
                f" {self.found[0]}"
            )
        return f"{question}: {gives}{self._end_question()}"

    def _write_notes(self) -> Iterator[str]:
        if len(self.path) > 1:
            steps = zip(self.path[1:], self.path, strict=False)
            yield f"{self.own} gives {self._format(self.own.value)}."
            yield from (f"{step.write(before, self.reported.digits)}." for step, before in steps)
        if self.found:
            yield from self.hints
        if self.idle:
            yield f"Without effect on this data, and therefore undecided: {', '.join(self.idle)}."
        yield from self._explain_range(f"{write_count(len(self.tried), 'set')} of conventions")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        plain = {
            **self._make_head({"conventions": self.conventions.to_dict()}),
            "path": [
                {"change": step.change, "value": to_json_number(step.value), **vars(step.counts)}
                for step in self.path
            ],
            "idle": list(self.idle),
            "tried": len(self.tried),
            "hints": list(self.hints),
        }
        return add_schema(plain)

    def _make_row(self, raw: BoxGiven) -> dict[str, Any]:
        return {
            "measure": str(raw.candidate.measure),
            "conventions": raw.candidate.write_choices(),
            "value": to_json_number(raw.value),
            "tools": list(raw.candidate.tools),
        }

    def _name(self, raw: BoxGiven) -> str:
        tools = list_tools(raw, self._tools)
        return f"{raw}" + (f" ({tools})" if tools else "")


def reconcile(
    truth: "TruthSource",
    detections: "DetectionSource",
    *,
    reported: str | float,
    measure: "str | BoxMeasure | None" = None,
    dialect: "str | Dialect | None" = None,
    name: str | None = None,
    **options: Unpack["Options"],
) -> Reconciliation:
    """Find the conventions of object detection that give a reported number, or say that none does.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.reconcile(truth, found, reported="99.50", measure="mAP50",
    ...     dialect="ultralytics").answer
    'found'

    ``measure`` is the reported measure, under germane's name or any tool's; with ``dialect``, it is
    that tool's. What each tool calls so is tried, such as AP50 for the mAP of PASCAL VOC. The
    search begins with this dialect, or with germane's conventions. The number is as precise as its
    text: ``0.507`` is anything from 0.5065 to 0.5075. A number above 1 is in percent.

    It tries the conventions of all tools, and one change of each convention. If none of these gives
    the number, it tries all combinations of the main conventions. A convention that you give holds
    in all of them. Raises what ``evaluate`` raises.
    """
    number = read_reported(reported)
    if abs(number.value) > 1 and "%" not in number.text:
        number = read_reported(f"{number.text}%")
    tool = None if dialect is None else resolve_box_dialect(dialect)
    target: str | BoxMeasure = "AP" if measure is None else measure
    if tool is not None:
        names = [measure] if measure is not None else tool.summary.split()[:1]
        [target] = resolve_measures(names, tool, Conventions()).values()
    values = open_values(truth, detections, target, options, name, tool)
    return _make_answer(BoxSearch(values, number))


def _make_answer(search: BoxSearch) -> Reconciliation:
    values, reported, variations = search.values, search.reported, search.values.variations
    own_value = BoxGiven(variations.make_candidate({}), values.evaluate(()))
    tried = [own_value]
    for batch in (variations.list_tools(), variations.vary_once()):
        tried += search.evaluate_all(batch)
    idle = _list_idle(values)
    if not any(map(search.gives, tried)):
        tried += search.evaluate_all(variations.combine())
    answers = search.simplify(filter(search.gives, tried))
    nearest = () if answers else search.find_nearest(tried)
    shuffled = [partial(_shuffle, values)] * (len(values.detections) <= _SMALL)
    different, chance = weigh_values(search, tried, shuffled) if answers else (0, 0.0)
    return Reconciliation(
        reported,
        search.measure,
        values.conventions,
        own_value,
        tuple(answers),
        nearest,
        tuple(tried),
        _walk(values, (*answers, *nearest)[0].candidate),
        idle,
        different,
        chance,
        () if answers else tuple(_find_hints(values, reported)),
    )


def _list_idle(values: BoxValues) -> tuple[str, ...]:
    """List the conventions of which no word, alone, makes a difference."""
    return tuple(
        name
        for name, words in values.variations.changes.items()
        if words and all(values.are_same(((name, word),), ()) for word in words)
    )


def _walk(values: BoxValues, candidate: BoxCandidate) -> tuple[Step, ...]:
    """Make the changes one at a time: another measure, then the conventions in their order."""
    order, measure = list(values.variations.start), candidate.measure
    changes = sorted(candidate.choices, key=lambda choice: order.index(choice[0]))
    steps = [Step("", values.evaluate(()), values.count(()))]
    if measure != values.target:
        steps.append(Step(str(measure), values.evaluate((), measure), values.count((), measure)))
    for end, changed in enumerate(changes, 1):
        choices = tuple(sorted(changes[:end]))
        value, counts = values.evaluate(choices, measure), values.count(choices, measure)
        steps.append(Step(write_choice(*changed), value, counts))
    return tuple(steps)


def _shuffle(values: BoxValues) -> Any:
    """Compute the measure asked for with the scores in random orders."""
    rng, detections = np.random.default_rng(0), values.detections
    shuffled = (
        replace(detections, score=rng.permutation(detections.score)) for _ in range(_ORDERS)
    )
    variants = (replace(values.variations, detections=trial) for trial in shuffled)
    numbers = [BoxValues(variant).evaluate(()) for variant in variants]
    return np.array([number for number in numbers if not math.isnan(number)])


def _find_hints(values: BoxValues, reported: Reported) -> Iterator[str]:
    """Name other measures, thresholds and cut decimals that would explain the number."""
    values.also, variations = parse_measures(_OTHERS), values.variations
    candidates = [
        (measure, candidate)
        for measure in values.also
        for candidate in (variations.make_candidate({}), *variations.list_tools(measure))
    ]
    candidates.sort(
        key=lambda pair: (len(pair[1].choices), repr(pair[1].choices), not pair[1].tools)
    )
    givers: dict[str, str] = {}
    for measure, candidate in candidates:
        if reported.gives(values.evaluate(candidate.choices, measure)):
            givers.setdefault(str(measure), candidate.tools[0] if candidate.tools else "as asked")
    if givers:
        named = (f"{name} ({giver.partition(':')[0]})" for name, giver in givers.items())
        yield f"It is given by another measure: {', '.join(named)}."
    if reported.can_be_cut_from(values.evaluate(())):
        yield f"Cut off instead of rounded, it is given by {values.target}."
