"""CatalogueResult: a measure of whole lists, and the items that make its number."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from germane.core.policy import ROW_ORDERS, Policy
from germane.core.ragged import Floats
from germane.core.retrieved import COPIES
from germane.errors import MeasureError, list_choices
from germane.evaluation.judging import JudgedRun
from germane.evaluation.list_tally import CountedLists, ListValues, get_row
from germane.measures.averaging import MeasureResult
from germane.measures.definition import refuse_ranking
from germane.measures.measure import Measure
from germane.output.formatting import format_number, write_count
from germane.output.frames import Tabular
from germane.output.tables import Table
from germane.readers.objects.item_ids import order_ids

if TYPE_CHECKING:
    from germane.evaluation.run_lists import ListsOfRun


@dataclass(frozen=True, eq=False, repr=False)
class CatalogueResult(MeasureResult):
    """A measure of the catalogue: its value rests on the lists of all users, judged or not.

    >>> lists = {"u": ["a", "b"], "v": ["a", "c"]}
    >>> result = germane.evaluate({"u": ["a"]}, lists, "Gini@2", catalogue=["a", "b", "c", "d"])
    >>> result["Gini@2"].mean
    0.375

    ``per_query`` has the judged queries where the measure is a mean over lists. ``explain`` says
    which items make the number.

    >>> result["Gini@2"].explain().items[0]
    ('a', 2)
    """

    of_lists: ListValues = field(kw_only=True)
    """The value of every list, judged or not."""

    def _mean(self) -> float:
        return self.of_lists.value

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.mean:.4f} over {len(self.of_lists.exposure.sizes)} lists>"

    @property
    def list_count(self) -> int:
        return int(np.count_nonzero(self.of_lists.exposure.sizes))

    @property
    def has_interval(self) -> bool:
        """Is it a mean over users? Coverage and inequality of resampled users are biased."""
        micro = dict(self.measure.parameters).get("mean") == "micro"
        return self.of_lists.values is not None and not micro

    @property
    def per_list(self) -> dict[Hashable, float]:
        """The value of every user's list, judged or not; NaN where the mean leaves it out."""
        values, users = self.of_lists.values, self.of_lists.counted.users.python
        if values is None:
            return {}
        judged = dict(
            zip(self.of_lists.counted.place(self.queries).tolist(), self.queries, strict=True)
        )
        return {
            judged.get(u, user): value
            for u, (user, value) in enumerate(zip(users, values.tolist(), strict=True))
        }

    def _select_averaged(self) -> Floats:
        values = self.of_lists.values
        assert values is not None
        return values[~np.isnan(values)]

    def weigh(self, weights: Mapping[Hashable, float]) -> Self:  # noqa: ARG002
        """Refuse weights of judged queries: the mean is one over the lists of all users."""
        raise MeasureError(
            f"{self.measure} has no weights, because it counts the lists of all users."
        )

    def explain(self, most: int = 10) -> "CatalogueExplanation":
        """Say which items make the number: the most recommended ones, and the share of the tail.

        Of items with equal numbers of lists, smaller ids come first.
        """
        counted, exposure = self.of_lists.counted, self.of_lists.exposure
        size = counted.catalogue.size
        counts = exposure.recommended[::-1]
        shown = np.flatnonzero(exposure.counts >= counts[min(most, len(counts)) - 1])
        shown = shown[order_ids(counted.ids.take(shown))]
        shown = shown[np.argsort(-exposure.counts[shown], kind="stable")[:most]]
        items = zip(counted.ids.take(shown).python, exposure.counts[shown].tolist(), strict=True)
        head = math.ceil((size or len(counts)) * HEAD)
        total = int(counts.sum())
        return CatalogueExplanation(
            self.measure, self.mean, tuple(items), self.list_count, total,
            len(counts), size, int(counts[head:].sum()) / total if total else math.nan,
        )  # fmt: skip


HEAD = 0.2  # the share of the items that is not the tail


@dataclass(frozen=True, eq=False, repr=False)
class CatalogueExplanation(Tabular):
    """The items that make a number of the catalogue: the most recommended ones, and the tail."""

    measure: Measure
    value: float
    items: tuple[tuple[Hashable, int], ...]
    """the items that most lists hold within the cutoff, with the number of lists"""
    lists: int
    recommendations: int
    recommended: int
    """distinct items"""
    size: int | None
    """items of the catalogue, if it is known"""
    tail_share: float
    """the share of the recommendations that go to items outside the 20 % most recommended"""

    def table(self, *, digits: int | None = 4) -> Table:
        """Make a row for each of the most recommended items."""
        rows, running = [], 0
        for item, count in self.items:
            running += count
            shares = (count / self.lists, running / self.recommendations)
            rows.append(
                (str(item), str(count), *(format_number(share, digits) for share in shares))
            )
        size_text = "" if self.size is None else f" of {self.size:,}"
        notes = (
            f"{self.measure} = {format_number(self.value, digits)}: {self.measure.definition}",
            (
                f"{write_count(self.lists, 'list')} with"
                f" {write_count(self.recommendations, 'recommendation')} of"
                f" {self.recommended:,}{size_text} items; the tail (all but the 20 % most"
                f" recommended items) has {format_number(self.tail_share, digits)} of them"
            ),
        )
        columns = ("item", "lists", "share of lists", "recommendations so far")
        return Table(columns, tuple(rows), notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        counts = {"lists": self.lists, "recommendations": self.recommendations}
        items = [{"item": item, "lists": count} for item, count in self.items]
        return {
            "measure": str(self.measure), "value": self.value, **counts,
            "recommended": self.recommended,
            "catalogue": self.size, "tail_share": self.tail_share, "items": items,
        }  # fmt: skip


def compute_list_measures(
    measures: Sequence[Measure], judged: JudgedRun
) -> dict[Measure, MeasureResult]:
    """Compute measures of the catalogue. Raises MeasureError for lists without an order."""
    policy = judged.policy
    for measure in measures:
        check_policy(measure, policy)
    if judged.lists is None:
        refuse_ranking()
    lists: ListsOfRun | CountedLists = judged.lists()
    values_of = lists.evaluate(measures)
    queries = judged.queries
    place = lists.place(queries)
    results: dict[Measure, MeasureResult] = {}
    for measure, one in values_of.items():
        assert one.value is not None  # an error, where something is missing
        values = np.full(len(queries), np.nan)
        if one.values is not None:
            values[place >= 0] = one.values[place[place >= 0]]
        results[measure] = CatalogueResult(
            measure, queries, values, np.isnan(values), policy.digits, of_lists=one
        )
    return results


def check_policy(measure: Measure, policy: Policy) -> None:
    """Refuse conventions that give whole lists no order or no meaning. Raises MeasureError."""
    if policy.ties not in ROW_ORDERS:
        raise MeasureError(
            f"{measure} counts whole lists, whose tied items need one order:"
            f" ties={list_choices(ROW_ORDERS)}; got ties={policy.ties}."
        )
    if policy.duplicates in COPIES and get_row(measure).of_sets(dict(measure.parameters)):
        raise MeasureError(
            f"{measure} compares lists as sets, in which no item stands twice; duplicates=first"
            " keeps one copy."
        )
