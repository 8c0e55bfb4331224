"""Dialect values: one measure of the same detections under every dialect of object detection."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from germane.boxes.box_measures import BoxMeasure, parse_measure
from germane.boxes.conventions import WORDS
from germane.boxes.conventions_search import BoxCandidate, BoxValues, list_words, open_values
from germane.dialects.dialect import Dialect, Entry
from germane.forensics.spread import DialectValue
from germane.forensics.spread import Spread as ListSpread
from germane.forensics.variations import refuse_dialect, write_choice

if TYPE_CHECKING:
    from germane.boxes.conventions import DetectionSource, Options, TruthSource

TIES = WORDS["ties"]


class Spread(ListSpread):
    """A measure of one set of detections under every dialect, from the highest value to the lowest.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.spread(truth, found, "AP50").range
    (0.995, 1.0)

    It is a ``germane.types.Spread``. Each row names the conventions that would change germane's
    value if they were changed one at a time.
    """

    def _explain_without(self) -> dict[str, list[str]]:
        return {f"no {self.own.measure}": list(self.without)} if self.without else {}


def spread(
    truth: "TruthSource",
    detections: "DetectionSource",
    measure: "str | BoxMeasure" = "AP",
    *,
    name: str | None = None,
    **options: Unpack["Options"],
) -> Spread:
    """Compute a measure under every dialect on the same truths and detections.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 52]], "labels": [1], "scores": [0.9]}]
    >>> said = germane.boxes.spread(truth, found, "AP50")
    >>> [f"{one.dialect} {one.value:.3f} {one.stages}" for one in said][-1]
    "ultralytics-8.4.160 0.995 ('points=lines',)"

    ``AP`` stands for each tool's own mean over thresholds, and ``AP50`` for its own average
    precision at .5. A tool that has a measure of exactly the name that you write is asked for that
    one: ``mAP`` of PASCAL VOC is at .5. Options are those of ``evaluate``; a convention that you
    give holds in every dialect. Raises what ``evaluate`` raises for germane's own value.
    """
    refuse_dialect(options, "germane.boxes.spread")
    values = open_values(truth, detections, measure, options, name)
    target, variations = values.target, values.variations
    own_value = DialectValue("germane", str(target), target, values.evaluate(()), ())
    named = {}
    for dialect in variations.dialects:
        match = variations.find_measure(dialect)
        named[dialect.name] = None if match is None else _evaluate(values, dialect, *match)
    fixed_names = [name for name in options if name in variations.fixed]
    return Spread.collect(own_value, named, values.conventions.write_words(fixed_names))


def _evaluate(
    values: BoxValues, dialect: Dialect, entry: Entry, measure: BoxMeasure
) -> DialectValue:
    candidate = values.variations.make_candidate(list_words(dialect, entry), (), measure)
    value = values.evaluate(candidate.choices, measure)
    curve = parse_measure(entry.write_measure(1)).points
    shown = replace(measure, points=measure.points or curve)
    depth = dialect.choices.get("depth", values.conventions.depth)
    tool_name = entry.write_name(values.target.k or depth)
    if values.variations.is_mistaken_depth(dialect):
        text = f"{dialect.tool} has no value at depth {values.conventions.depth}, by mistake"
        return DialectValue(dialect.name, tool_name, shown, math.nan, (), text)
    changed = () if values.are_same(candidate.choices, (), measure) else candidate.choices
    moving = [choice for choice in changed if not values.are_same((choice,), (), measure)]
    words = tuple(write_choice(*choice) for choice in moving or changed)
    why = "no class has a truth" if math.isnan(value) else ""
    unsure = _find_doubt(values, dialect, candidate)
    return DialectValue(dialect.name, tool_name, shown, value, words, why, unsure)


def _find_doubt(values: BoxValues, dialect: Dialect, candidate: BoxCandidate) -> str:
    """Say why the tool itself may give another value: it leaves an order open that matters here."""
    order = next((limit.says for limit in dialect.limits if limit.order), "")
    variations = values.variations
    if not order or "ties" not in variations.changes:
        return ""
    words = {**variations.start, **dict(candidate.choices)}
    opposite = variations.make_candidate(words | {"ties": TIES[words["ties"] == TIES[0]]})
    same = values.are_same(candidate.choices, opposite.choices, candidate.measure)
    return "" if same else order
