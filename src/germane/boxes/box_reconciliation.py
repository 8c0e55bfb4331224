"""Reconciliation of boxes: the conventions that give a reported number, or a table of them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from germane.boxes.box_measures import BoxMeasure, parse_measure, parse_measures
from germane.boxes.box_result import COCO_SUMMARY
from germane.boxes.box_tables import MEANS
from germane.boxes.conventions import Conventions
from germane.boxes.conventions_search import (
    BoxCandidate,
    BoxGiven,
    BoxSearch,
    BoxValues,
    Counts,
    list_words,
    open_values,
    read_dialect,
)
from germane.boxes.detections import Overlap
from germane.boxes.dialect_table import DIALECTS, resolve_box_dialect, resolve_measures
from germane.boxes.score_cuts import find_cuts, weigh_cuts
from germane.core.ragged import Floats
from germane.dialects.dialect import Dialect
from germane.errors import GermaneError, InputError, MeasureError, list_some
from germane.evaluation.choices import PublishedTable
from germane.forensics.plausibility import Near, weigh_values
from germane.forensics.protocols import Fit, Option, Protocol, ProtocolSearch, Sheet
from germane.forensics.published import read_published
from germane.forensics.reconciliation import Answer, list_tools
from germane.forensics.reported import Reported, read_box_column, read_reported
from germane.forensics.table_answer import TableReconciliation, TableWriter, check_runs
from germane.forensics.variations import Choices, refuse_dialect, write_choice
from germane.measures.box_names import BoxName
from germane.output.documents import make_document
from germane.output.tables import format_number, write_count

if TYPE_CHECKING:
    from germane.boxes.conventions import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect


_OTHERS = "AP AP50 AP75 AR@1 AR@10 AR"  # measures that may be meant by mistake
_ORDERS = 100  # random orders of the scores, to find out how often small data gives a number
_SMALL = 2_000  # detections; the numbers of larger data hardly ever coincide


@dataclass(frozen=True)
class Step:
    """One change on the way from what was asked for to the conventions that give the number."""

    _json = "change value truths=counts.truths true=counts.true false=counts.false"

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

    Iterating gives the sets of conventions that were found. ``path`` has the changes that lead from
    the starting conventions to the first of these sets, one by one.
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
        yield from _describe_beside((*self.found, *self.nearest)[:1])
        if self.found:
            yield from self.hints
        if self.idle:
            yield f"Without effect on this data, and therefore undecided: {', '.join(self.idle)}."
        yield from self._explain_range(f"{write_count(len(self.tried), 'set')} of conventions")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        plain = {
            **self._make_head({"conventions": self.conventions}),
            "path": self.path,
            "idle": self.idle,
            "tried": len(self.tried),
            "hints": self.hints,
        }
        return make_document(plain)

    def _make_row(self, raw: BoxGiven) -> dict[str, Any]:
        return {
            "measure": raw.candidate.measure,
            "conventions": raw.candidate.write_choices(),
            "value": raw.value,
            "tools": raw.candidate.tools,
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

    ``measure`` is the reported measure, by germane's name or any tool's: whatever a tool calls
    by this name is tried, such as AP50 for the mAP of PASCAL VOC. With ``dialect``, it is that
    tool's name, and the search begins with the tool's conventions instead of germane's. The
    number is as precise as its text: ``0.507`` is anything from 0.5065 to 0.5075. A number above
    1 is in percent.

    It tries the conventions of all tools, and one change of each convention. If none of these gives
    the number, it tries means over images and images with detections alone, all combinations of the
    main conventions, and at last the confidence below which scores were left out. A convention that
    you give holds in all of them. Raises what ``evaluate`` raises.
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
    for list_more in (variations.vary_images, variations.combine):
        if not any(map(search.gives, tried)):
            tried += search.evaluate_all(list_more())
    cuts = () if any(map(search.gives, tried)) else find_cuts(search, tried)
    answers = search.simplify(filter(search.gives, (*tried, *cuts)))
    nearest = () if answers else search.find_nearest(tried)  # any number is near some cut
    tried += cuts
    shuffled = [partial(_shuffle, values)] * (len(values.detections) <= _SMALL)
    different, chance = weigh_values(search, tried, shuffled) if answers else (0, 0.0)
    if cuts and answers:
        different, chance = weigh_cuts(search, tried, different, chance)
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


def _describe_beside(shown: Sequence[BoxGiven]) -> Iterator[str]:
    """Say in a sentence what evaluate has no convention for."""
    words = {choice for trial in shown for choice in trial.candidate.choices}
    if ("only_images", "detected") in words:
        yield (
            "With only_images=detected, images in which nothing is detected are left out, and their"
            " truths are not missed."
        )
    for word, meaning in MEANS.items():
        if ("mean", word) in words:
            notebook = ", as in the notebook of Mask R-CNN" * (word == "images")
            yield f"With mean={word}, {meaning}{notebook}."


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


# --- Reconcile a table of detectors: the conventions behind rows of AP, AP50, AP75 and others -----

_BASES, _MOVING = 3, 12  # tools and changes that are tried together
_SHAPES: Mapping[str, Overlap] = {"mask": "mask", "oks": "oks"}


def reconcile_table(
    truth: "TruthSource",
    detections: "Mapping[str, DetectionSource]",
    reported: PublishedTable,
    *,
    measures: Mapping[str, str] | None = None,
    **options: Unpack["Options"],
) -> TableReconciliation:
    """Find the conventions behind a reported table of detectors: one set for all columns.

    >>> truth = [{"boxes": [[10, 10, 50, 50], [60, 60, 90, 90]], "labels": [1, 1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52], [60, 61, 90, 95]], "labels": [1, 1],
    ...     "scores": [0.9, 0.8]}]
    >>> table = {"ours": {"AP": "70.0", "AP50": "100.0", "AP75": "100.0"}}
    >>> said = germane.boxes.reconcile_table(truth, {"ours": found}, table)
    >>> [(one.column, one.reported, round(one.value, 1)) for one in said.off]
    [('AP', '70.0', 80.1)]

    ``truth`` and each of ``detections`` are those of ``evaluate_many``; ``reported`` is a table as
    ``germane.reconcile_table`` takes it, with columns such as AP, AP50, AP75, APs, APm, APl or
    germane's names of measures; ``measures={"mAP": "AP50"}`` says what other names stand for. It
    tries the conventions of all tools, and one or two changes. A convention that you give holds in
    all of them. Raises InputError for detections without a row, MeasureError for a table without a
    measure, and what ``evaluate`` raises.
    """
    check_runs(detections, "detections")
    published = read_published(reported)
    read = [_read_column(label, measures or {}) for label in published.columns]
    chosen = [c for c, measure in enumerate(read) if measure is not None]
    if not chosen:
        raise MeasureError(
            f"no column of the table is a measure of detections: {list_some(published.columns)}. "
            "measures={'their name': 'AP50'} says what a name stands for."
        )
    targets = [measure for measure in read if measure is not None]
    labels = [published.columns[c] for c in chosen]
    writer = TableWriter(published, list(detections), chosen, [True] * len(targets))
    refuse_dialect(options, "germane.boxes.reconcile_table")
    opened = [
        open_values(truth, source, targets[0], options, name) for name, source in detections.items()
    ]
    search = _Search(opened, targets, labels, writer.sheet)
    fit, fits = search.search()
    equal = [
        candidate
        for candidate in fits
        if candidate.protocol.tool and candidate.protocol.is_like(fit.protocol)
    ]
    if equal:
        fit = replace(fit, options=equal[0].options)
    return writer.write(search, fit, fits, tuple(candidate.protocol.tool for candidate in equal))


def _find_overlaps(labels: Sequence[str]) -> list[str]:
    """Find what each column is of: AP beside "mask AP" is of boxes; "" where no name says it."""
    overlaps = [BoxName.split_overlap(label)[1] for label in labels]
    return (
        [overlap or "box" for overlap in overlaps] if {"mask", "oks"} & set(overlaps) else overlaps
    )


def _read_column(label: str, measures: Mapping[str, str]) -> BoxMeasure | None:
    if label in measures:
        return parse_measure(measures[label])
    name = read_box_column(label)  # what is matched is decided for all columns together
    return None if name is None else BoxMeasure(**{**vars(name), "overlap": ""})


def _find_sibling(tool: Dialect, overlap: str) -> Dialect:
    """Find the dialect that a tool has for masks or keypoints; its own where it has none."""
    siblings = (dialect for dialect in DIALECTS if dialect.name.startswith(f"{tool.name}-"))
    return next(
        (sibling for sibling in siblings if read_dialect(sibling, "overlap") == overlap), tool
    )


class _Search(ProtocolSearch):
    """Protocols of a table of detectors."""

    dialect_cost, change_cost = 0.7, 1.3

    def __init__(
        self,
        opened: Sequence[BoxValues],
        measures: Sequence[BoxMeasure],
        labels: Sequence[str],
        sheet: Sheet,
    ) -> None:
        super().__init__(sheet)
        self._opened, self._measures, self._overlaps = opened, measures, _find_overlaps(labels)
        self._names = [BoxName.split_overlap(label)[0] for label in labels]
        self._columns = [
            [self.remake(r, measure, c) for r in range(len(opened))]
            for c, measure in enumerate(measures)
        ]

    def remake(self, r: int, measure: BoxMeasure, c: int) -> BoxValues:
        """Make the values of another measure of a run, with the overlap of a column."""
        variations, overlap = self._opened[r].variations, self._overlaps[c]
        conventions, fixed = variations.conventions, variations.fixed
        shape = _SHAPES.get(overlap)
        if shape is not None and "overlap" not in fixed:
            if shape not in variations.overlaps:
                raise InputError(
                    f"the table has columns of {overlap}, and the truths or the detections have"
                    " none."
                )
            conventions, fixed = replace(conventions, overlap=shape), fixed | {"overlap"}
        remade = replace(
            variations, target=measure, conventions=conventions, fixed=fixed, name=self._names[c]
        )
        if overlap == "box":
            remade.overlaps = tuple(word for word in remade.overlaps if word not in _SHAPES)
        return BoxValues(remade)

    @staticmethod
    def evaluate(values: BoxValues, choices: Choices, measure: BoxMeasure | None = None) -> float:
        """Evaluate the changes that can matter; NaN where there is no value."""
        effective = tuple(choice for choice in choices if values.variations.changes.get(choice[0]))
        try:
            return values.evaluate(effective, measure)
        except GermaneError:
            return math.nan

    def make(self, choices: Choices, cost: float) -> Protocol:
        """Make the protocol of these changes."""
        candidates = (BoxCandidate(measure, choices) for measure in self._measures)
        columns = tuple(
            (self._make_option(c, candidate),) for c, candidate in enumerate(candidates)
        )
        return Protocol(choices, cost, columns)

    def _make_option(self, c: int, candidate: BoxCandidate) -> Option:
        choices, measure = candidate.choices, candidate.measure
        values: Floats = np.array(
            [self.evaluate(run, choices, measure) for run in self._columns[c]]
        )
        return Option(candidate, 0.0, values)

    def _make_of_tool(self, tool: Dialect) -> Protocol | None:
        options, shared = [], set[Any]()
        for c in range(len(self._measures)):
            sibling = _find_sibling(tool, self._overlaps[c])
            variations = self._columns[c][0].variations
            match = variations.find_measure(sibling) if variations.suits(sibling) else None
            if match is None:
                return None
            entry, measure = match
            words, start = list_words(sibling, entry), variations.start
            changed = (n for n in self._list_names() if n in words and words[n] != start[n])
            choices = tuple(sorted((name, words[name]) for name in changed))
            tools = (f"{sibling.name}:{entry.write_name(100)}",)
            options.append(self._make_option(c, BoxCandidate(measure, choices, tools)))
            shared |= set(choices)
        return Protocol(
            tuple(sorted(shared)),
            self.dialect_cost,
            tuple((option,) for option in options),
            tool.name,
        )

    def _list_names(self) -> list[str]:
        return list(dict.fromkeys(name for ((name, _),) in self.list_changes()))

    def list_changes(self) -> Iterable[Choices]:
        """List the changes that can matter for some column of some run."""
        tables = (values.variations.changes for column in self._columns for values in column)
        return dict.fromkeys(
            ((name, word),)
            for changes in tables
            for name, words in changes.items()
            for word in words
        )

    def list_tools(self) -> Iterator[Protocol]:
        """List the protocols of tools that have the measures of all columns."""
        return filter(None, map(self._make_of_tool, DIALECTS))

    def combine(self, tools: Sequence[Fit]) -> list[Fit]:
        """Try two of the likeliest changes, and one with the likeliest tools."""
        likely = sorted(self.moving, key=lambda fit: -fit.score)[:_MOVING]
        bases = [tool.protocol.choices for tool in tools[:_BASES]]
        changes = self.join_changes(likely, bases, with_none=False)
        return [self.sheet.fit(self.make(choices, cost)) for choices, cost in changes.items()]

    def find_near(self, fit: Fit, c: int, r: int) -> Iterator[Near]:
        """List the values of other measures."""
        for measure in parse_measures(COCO_SUMMARY)[:9]:
            values = self.remake(r, measure, c)
            yield f"it is {measure}", self.evaluate(values, fit.protocol.choices)

    def explain_changes(self, fit: Fit) -> tuple[str, ...]:  # noqa: ARG002
        """Say nothing of changes, most of which move every cell."""
        return ()

    def find_undecided(self, fit: Fit) -> tuple[str, ...]:  # noqa: ARG002
        """List the conventions of which no word, alone, changes a number of the table."""
        moving = {fit.protocol.choices[0][0] for fit in self.moving}
        return tuple(name for name in self._list_names() if name not in moving)
