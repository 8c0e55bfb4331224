"""ListsOfRun: measures of the catalogue, from the lists of a run, read in batches."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from germane.core import ragged
from germane.core.catalogue import Catalogue, Exposure, Lists, join_exposures
from germane.core.policy import Policy
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Floats, Ints
from germane.core.retrieved import COPIES
from germane.errors import CoverageError, DuplicateError, EmptyError, MeasureError, clip
from germane.evaluation.judging import JudgedRun
from germane.kernel import plain
from germane.kernel.columns import Ids, join_ids, read_python_ids
from germane.kernel.reduction import (
    Batch,
    Index,
    Judgments,
    RepeatedItem,
    Scattered,
    admit_rows,
    drop_repeats,
    order_by_rank,
)
from germane.measures.averaging import MeasureResult
from germane.measures.catalogue import CatalogueDefinition, refuse_ranking
from germane.measures.measure import Measure
from germane.output.formatting import format_number
from germane.output.tables import Table, Tabular
from germane.readers import RunInput
from germane.readers.catalogues import CatalogueOptions, ItemNumbers
from germane.readers.lists import gather_lists, read_lists, refuse_scattered
from germane.readers.rows import Rows

_TIES = ("trec", "given")


class ListsOfRun:
    """The lists of all users of a run, judged or not, under one policy.

    A list is counted when it is read, and then forgotten; only users and items stay in memory. Where
    many definitions are tried, the lists are kept.
    """

    def __init__(
        self,
        run: RunInput,
        options: CatalogueOptions | None,
        policy: Policy,
        keep: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._run, self._options = run, options or CatalogueOptions()
        self._policy, self._keep, self._progress = policy, keep, progress
        self._kept: list[Lists] = []
        self._users: list[Ids] = []
        self._opened = False
        self._exposures: dict[Measure, Exposure] = {}
        self.catalogue = Catalogue()
        self.numbers = ItemNumbers()

    def evaluate(self, measures: Sequence[Measure]) -> dict[Measure, "ListValues"]:
        """Compute measures of the catalogue. Raises MeasureError for one that lacks what it needs."""
        for measure in measures:
            if measure not in self._exposures:
                self._count(measures)
                break
        return {one: ListValues(one, self._exposures[one], self.catalogue) for one in measures}

    def count_items(self, k: int | None) -> Exposure:
        """Count how often each item is recommended within a cutoff."""
        measure = Measure("Entropy", (), k)
        return self.evaluate([measure])[measure].exposure

    @cached_property
    def users(self) -> Ids:
        """The users, in the order of their lists."""
        return join_ids(self._users)

    def place(self, qrels: Qrels) -> Ints:
        """Find the place of each judged query among the users, or -1."""
        wanted = read_python_ids(qrels.queries)
        users = self.users
        if wanted.kind != users.kind:
            wanted, users = wanted.as_text(), users.as_text()
        return Index(users).find(wanted)

    def _count(self, measures: Sequence[Measure]) -> None:
        wanted = [one for one in measures if one not in self._exposures]
        try:
            found = self._count_all(wanted, read_lists)
        except Scattered:
            self._users, self._kept = [], []
            found = self._count_all(wanted, gather_lists)
        self._exposures |= found
        self._progress = None  # which ends when the run is read

    def _count_all(
        self, wanted: Sequence[Measure], read: Callable[..., Iterator[Rows]]
    ) -> dict[Measure, Exposure]:
        parts: dict[Measure, list[Exposure]] = {measure: [] for measure in wanted}
        for lists in self._list_kept(read):
            self.numbers.refuse_foreign(lists.cut(max(_find_deepest(wanted), 1)).items)
            cuts: dict[int | None, tuple[Lists, Exposure]] = {}
            for measure in wanted:
                if measure.k not in cuts:
                    cut = lists.cut(measure.k)
                    cuts[measure.k] = cut, Exposure.of_lists(cut, len(self.numbers))
                cut, exposure = cuts[measure.k]
                row = _get_row(measure)
                sums = {}
                if row.of_lists is not None:
                    sums = {measure: row.of_lists(cut, self.catalogue, dict(measure.parameters))}
                held = parts[measure]
                held.append(exposure.with_sums(sums))
                if len(held) > _SEVERAL:
                    held[:] = [join_exposures(held)]
        if not self._opened:
            raise EmptyError("the run is empty: none of its lists has an item.")
        found = {measure: join_exposures(held) for measure, held in parts.items()}
        for exposure in found.values():
            _refuse_small(self.catalogue, exposure)
        return found

    def _list_kept(self, read: Callable[..., Iterator[Rows]]) -> Iterator[Lists]:
        if self._kept:
            yield from self._kept
            return
        self.__dict__.pop("users", None)
        self._users, kept = [], []
        for rows in read(self._run, self._progress):
            lists = self._reduce(rows)
            if self._keep:
                kept.append(lists)
            yield lists
        if not self._users:
            raise EmptyError("the run is empty: it has no lists.")
        refuse_scattered(len(self.users), Index(self.users).distinct)
        self._kept = kept

    def _reduce(self, rows: Rows) -> Lists:
        """Rank the rows of some queries, and number their items."""
        if len(rows.items) and not self._opened:
            self._opened = True
            is_text = getattr(self._run, "ids", "typed") == "text" or rows_are_text(self._run)
            self.catalogue, self.numbers = self._options.number(rows.items, is_text)
        users = read_python_ids(rows.queries)
        batch = self._rank(
            Batch(np.arange(len(users)), rows.offsets, rows.items, rows.score, rows.rank), users
        )
        self._users.append(users.compact())
        return Lists(batch.offsets, self.numbers.number(batch.items))

    def _rank(self, batch: Batch, users: Ids) -> Batch:
        """Sort the rows of each query from the best to the worst."""
        policy = self._policy
        duplicates = "max" if self._run.is_collapsed else policy.duplicates
        batch = admit_rows(_name_queries(users, policy), batch, policy.order)
        batch = order_by_rank(batch, users)
        if duplicates not in COPIES:
            try:
                batch = drop_repeats(batch, users, duplicates)
            except RepeatedItem as found:
                raise DuplicateError(
                    f"{self._run.label}: item {clip(found.item)} is retrieved twice for query "
                    f"{clip(found.query)}. duplicates=first, last or max keeps one copy."
                ) from None
        batch = _sort_by_score(batch, policy)
        if policy.depth is None:
            return batch
        sizes = np.minimum(ragged.find_lengths(batch.offsets), policy.depth)
        return batch.take(ragged.list_stretches(batch.offsets[:-1], sizes))


_SEVERAL = 16  # batches whose counts are held before they are added up


class ListValues:
    """A measure of the catalogue, for each list if it is a mean over lists."""

    def __init__(self, measure: Measure, exposure: Exposure, catalogue: Catalogue) -> None:
        self.measure, self.exposure, self._catalogue = measure, exposure, catalogue

    @property
    def parts(self) -> tuple[Floats, Floats] | None:
        """U each: the sum of each list and its divisor; None for a measure of all lists at once."""
        return self.exposure.sums.get(self.measure)

    @cached_property
    def values(self) -> Floats | None:
        """U: the value of each list, NaN where it is left out."""
        if self.parts is None:
            return None
        sums, divisors = self.parts
        held = divisors > 0
        return np.where(held, sums / np.where(held, divisors, 1.0), np.nan)

    @cached_property
    def value(self) -> float:
        """The measure's value."""
        row = _get_row(self.measure)
        parameters = {**dict(self.measure.parameters), "k": self.measure.k}
        if row.of_all is not None:
            return float(row.of_all(self.exposure, self._catalogue, parameters))
        assert self.parts is not None
        assert self.values is not None
        sums, divisors = self.parts
        if parameters.get("mean") == "micro":
            total = float(divisors.sum())
            return float(sums.sum()) / total if total else float("nan")
        kept = self.values[~np.isnan(self.values)]
        return float(kept.sum()) / len(kept) if len(kept) else float("nan")


def _get_row(measure: Measure) -> CatalogueDefinition:
    row: Any = measure.row
    assert isinstance(row, CatalogueDefinition)
    return row


@dataclass(frozen=True, eq=False, repr=False)
class CatalogueResult(MeasureResult):
    """A measure of the catalogue: its value rests on the lists of all users, judged or not.

    >>> lists = {"u": ["a", "b"], "v": ["a", "c"]}
    >>> result = germane.evaluate({"u": ["a"]}, lists, "Gini@2", catalogue=["a", "b", "c", "d"])
    >>> result["Gini@2"].mean
    0.375

    ``per_query`` has the judged queries where the measure is a mean over lists. ``explain`` says which
    items make the number.

    >>> result["Gini@2"].explain().items[0]
    ('a', 2)
    """

    lists: "ListsOfRun | None" = None

    @cached_property
    def of_lists(self) -> "ListValues":
        """The value of every list, judged or not."""
        assert self.lists is not None
        return self.lists.evaluate([self.measure])[self.measure]

    def _mean(self) -> float:
        return self.of_lists.value

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.mean:.4f} over {len(self.of_lists.exposure.sizes)} lists>"

    @property
    def list_count(self) -> int:
        return int(np.count_nonzero(self.of_lists.exposure.sizes))

    @property
    def has_interval(self) -> bool:
        """Is it a mean over users? Coverage and inequality of resampled users are biased: lists repeat."""
        micro = dict(self.measure.parameters).get("mean") == "micro"
        return self.of_lists.parts is not None and not micro

    def _select_averaged(self) -> Floats:
        values = self.of_lists.values
        assert values is not None
        return values[~np.isnan(values)]

    def weigh(self, weights: Mapping[Hashable, float]) -> Self:  # noqa: ARG002
        """Refuse weights of judged queries: the mean is one over the lists of all users."""
        raise MeasureError(f"{self.measure} counts the lists of all users, and has no weights.")

    def explain(self, most: int = 10) -> "CatalogueExplanation":
        """Say which items make the number: the most recommended ones, and the share of the tail."""
        assert self.lists is not None
        exposure, size = self.of_lists.exposure, self.lists.catalogue.size
        order = np.argsort(-exposure.counts, kind="stable")
        order = order[exposure.counts[order] > 0]
        held = exposure.counts[order].tolist()
        names = self.lists.numbers.ids.take(order[:most]).python
        head = math.ceil((size or len(order)) * HEAD)
        total = sum(held)
        return CatalogueExplanation(
            self.measure, self.mean, tuple(zip(names, held[:most], strict=True)), self.list_count, total,
            len(order), size, sum(held[head:]) / total if total else math.nan,
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
    """the share of the recommendations that are not of the 20 % of items most recommended"""

    def table(self, *, digits: int | None = 4) -> Table:
        """Make a row for each of the most recommended items."""
        rows, running = [], 0
        for item, count in self.items:
            running += count
            shares = (count / self.lists, running / self.recommendations)
            rows.append((str(item), str(count), *(format_number(one, digits) for one in shares)))
        of = "" if self.size is None else f" of {self.size:,}"
        notes = (
            f"{self.measure} = {format_number(self.value, digits)}: {self.measure.definition}",
            (
                f"{self.lists:,} lists with {self.recommendations:,} recommendations of "
                f"{self.recommended:,}{of} items; the tail, all but the 20 % of items most recommended, has "
                f"{format_number(self.tail_share, digits)} of them"
            ),
        )
        columns = ("item", "lists", "share of lists", "recommendations so far")
        return Table(columns, tuple(rows), notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        counts = {"lists": self.lists, "recommendations": self.recommendations}
        items = [{"item": item, "lists": count} for item, count in self.items]
        return {
            "measure": str(self.measure), "value": self.value, **counts, "recommended": self.recommended,
            "catalogue": self.size, "tail_share": self.tail_share, "items": items,
        }  # fmt: skip


def compute_list_measures(
    measures: Sequence[Measure], judged: JudgedRun
) -> dict[Measure, MeasureResult]:
    """Compute measures of the catalogue. Raises MeasureError where lists have no order, or are not known."""
    policy = judged.policy
    for measure in measures:
        check_policy(measure, policy)
    if judged.lists is None:
        refuse_ranking()
    if judged.qrels.candidates is not None:
        raise MeasureError(
            f"{measures[0]} counts whole lists, and exclude= and only= are for judged queries; remove these "
            "rows from the run."
        )
    lists: ListsOfRun = judged.lists()
    found = lists.evaluate(measures)
    place = lists.place(judged.qrels)
    results: dict[Measure, MeasureResult] = {}
    for measure, one in found.items():
        assert one.value is not None  # an error, where something is missing
        values = np.full(len(judged.qrels), np.nan)
        if one.values is not None:
            values[place >= 0] = one.values[place[place >= 0]]
        results[measure] = CatalogueResult(
            measure, judged.qrels.queries, values, "skip", policy.digits, lists=lists
        )
    return results


def check_policy(measure: Measure, policy: Policy) -> None:
    """Refuse conventions under which whole lists have no order. Raises MeasureError."""
    if policy.ties not in _TIES:
        raise MeasureError(
            f"{measure} counts whole lists, whose tied items need one order: ties=trec or given; got "
            f"ties={policy.ties}."
        )


def _refuse_small(catalogue: Catalogue, exposure: Exposure) -> None:
    """Raise CoverageError where more items are recommended than the catalogue has."""
    recommended = int(np.count_nonzero(exposure.counts))
    if catalogue.size is not None and recommended > catalogue.size:
        raise CoverageError(
            f"catalogue= is {catalogue.size:,} items, and {recommended:,} different ones are recommended."
        )


def rows_are_text(run: RunInput) -> bool:
    """Do the rows of a run come from a file of text, where an integer is its digits?"""
    return type(run).__module__.endswith("trec_files")


def _find_deepest(measures: Sequence[Measure]) -> int:
    return max(1 << 62 if one.k is None else one.k for one in measures)


def _name_queries(users: Ids, policy: Policy) -> Judgments:
    queries: Sequence[Any] = users.python if policy.own == "drop" else ()
    return Judgments(queries, np.zeros(1, np.int64), users.part(0, 0))


def _sort_by_score(batch: Batch, policy: Policy) -> Batch:
    if batch.score is None:
        return batch
    score, offsets = batch.score + 0.0, batch.offsets
    equal = score[1:] == score[:-1]
    descends = ragged.descends(score, offsets)
    if descends and not _is_within(equal, offsets):
        return batch
    rows = np.arange(len(score))
    rank, _, _ = plain.rank_rows(batch, rows, "id" if policy.order.equal == "id" else "place")
    order = np.empty(len(score), np.int64)
    order[offsets[batch.owner] + rank - 1] = rows
    if np.array_equal(order, rows):
        return batch
    return Batch(batch.code, offsets, batch.items.take(order), score[order])


def _is_within(equal: Bools, offsets: Ints) -> bool:
    """Are two rows of one query equal?"""
    flags = np.append(equal, False)
    flags[offsets[1:][offsets[1:] > 0] - 1] = False
    return bool(flags.any())
