"""Reconcile a table of detectors: the conventions behind rows of AP, AP50, AP75 and others."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from germane.boxes.dialect_table import DIALECTS
from germane.boxes.geometry import Overlap
from germane.boxes.measures import BoxMeasure, parse_measure, parse_measures
from germane.boxes.search import BoxValues, open_values
from germane.boxes.summary import COCO_SUMMARY
from germane.boxes.variations import BoxCandidate, list_words, read_dialect
from germane.core.ragged import Floats
from germane.dialects.dialect import Dialect
from germane.errors import GermaneError, InputError, MeasureError, list_some
from germane.evaluation.accepted import PublishedTable
from germane.evaluation.opening import refuse_dialect
from germane.measures.box_names import split_overlap
from germane.reconciliation.column_names import read_box_column
from germane.reconciliation.protocols import Change, Fit, Option, Protocol, ProtocolSearch, Sheet
from germane.reconciliation.published import read_published
from germane.reconciliation.slips import Near
from germane.reconciliation.table_reconciliation import TableReconciliation
from germane.reconciliation.table_writing import TableWriter, check_runs
from germane.reconciliation.variations import Choices

if TYPE_CHECKING:
    from germane.boxes.options import DetectionSource, Options, TruthSource

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
    overlaps = [split_overlap(label)[1] for label in labels]
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
        self._names = [split_overlap(label)[0] for label in labels]
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
        return list(dict.fromkeys(name for name, _ in self.list_changes()))

    def list_changes(self) -> Iterable[Change]:
        """List the changes that can matter for some column of some run."""
        tables = (values.variations.changes for column in self._columns for values in column)
        return dict.fromkeys(
            (name, word) for changes in tables for name, words in changes.items() for word in words
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
