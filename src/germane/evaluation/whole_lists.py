"""Measures of whole lists: the lists of a run or of batches, counts that add up, and results."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, pairwise
from math import fsum
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.calls import Progress
from germane.core.catalogue import Catalogue, Exposure, Lists, join_exposures
from germane.core.mean_intervals import Interval, estimate_spread_interval
from germane.core.policy import Policy
from germane.core.qrels import COPIES, Qrels
from germane.core.ragged import Bools, Floats, Ints, average_numbers
from germane.core.ties import ROW_ORDERS
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    InputError,
    MeasureError,
    PolicyError,
    clip,
    list_choices,
    list_some,
    write_option,
)
from germane.evaluation.judging import JudgedRun
from germane.kernel.ids import Ids, Integers, Text, join_ids, read_python_ids
from germane.kernel.reduction import Index, Scattered
from germane.measures.averaging import MeasureResult, spread_quotient, spread_values
from germane.measures.definition import CatalogueDefinition, refuse_ranking
from germane.measures.measure import Measure
from germane.output.documents import Plain
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number, write_count
from germane.readers import RunInput
from germane.readers.objects.item_ids import ItemNumbers, order_ids
from germane.readers.options.catalogues import CatalogueOptions
from germane.readers.rows import Rows, gather_rows, rank_rows

Sums = tuple[Floats, Floats]  # U each: a sum for each list, and its divisor


@dataclass(frozen=True, eq=False, repr=False)
class CountedLists:
    """All that measures of the catalogue know of some lists: counts by item, and sums by list."""

    users: Ids
    ids: Ids  # of the items, by their numbers
    catalogue: Catalogue
    exposures: dict[int | None, Exposure]  # by cutoff
    sums: dict[Measure, Sums]
    sample: Ids  # an item as the run has it
    is_text: bool  # does the run come from a file of text?
    has_seen: bool  # is an item among them, at any rank, that was seen before?
    is_sent: bool = False  # by another process, without the catalogue and its items
    lists: Lists | None = None  # down to the deepest cutoff, if they are held

    def evaluate(self, measures: Iterable[Measure]) -> "dict[Measure, ListValues]":
        """Compute measures of the catalogue. Raises MeasureError if one lacks what it needs."""
        if not len(self.users):
            raise EmptyError("the run is empty: it contains no lists.")
        if not len(self.sample):
            raise EmptyError("none of the run's lists has an item, or none is left in them.")
        for exposure in self.exposures.values():
            _refuse_small(self.catalogue, exposure)
        self._refuse_unseen()
        return {measure: ListValues(measure, self) for measure in measures}

    def take(self, rows: Ints) -> "CountedLists":
        """Select the lists of some users, by their places. Raises MeasureError if none are held."""
        lists = self.require_lists().take(rows)
        exposures = {
            k: Exposure.of_lists(lists.cut(k), len(self.ids), exposure.by_size is not None)
            for k, exposure in self.exposures.items()
        }
        sums = {m: (values[rows], divisors[rows]) for m, (values, divisors) in self.sums.items()}
        users = self.users.take(rows).compact()
        return replace(self, users=users, exposures=exposures, sums=sums, lists=lists)

    def require_lists(self) -> Lists:
        """Return the lists. Raises MeasureError where they were only counted."""
        if self.lists is None:
            raise MeasureError(
                "measures of the catalogue need the lists of all users for this, and lists that"
                f" come in batches, of another process, or with more than {HELD:,} items are"
                " counted and not kept. Call evaluate with the whole run, and a cutoff such as"
                " Coverage@10."
            )
        return self.lists

    def place(self, queries: list[Hashable]) -> Ints:
        """Find the place of each query among the users, or -1."""
        ids = find_ids(read_python_ids(queries), self.users)  # there are fewer queries
        at = np.flatnonzero(ids >= 0)
        places = np.full(len(queries), -1)
        places[ids[at]] = at
        return places

    def _refuse_unseen(self) -> None:
        """Raise CoverageError where nothing in the lists was seen: ids may differ in spelling."""
        seen = self.catalogue.seen
        if seen is None or self.has_seen:
            return
        counts = max(
            (exposure.counts for exposure in self.exposures.values()), key=np.count_nonzero
        )
        listed, chosen = (
            self.ids.take(np.flatnonzero(marks)[:4]) for marks in (counts, seen.interactions)
        )
        raise CoverageError(
            f"no item of the lists is in {write_option('seen')}. run: {list_some(listed)}; seen:"
            f" {list_some(chosen)}.  Are these the same ids?"
        )

    @property
    def own_ids(self) -> Ids:
        """The items that are not numbered in advance."""
        return (
            self.ids
            if self.is_sent
            else self.ids.take(np.arange(self.catalogue.known, len(self.ids)))
        )

    def send(self) -> "CountedLists":
        """Leave out the catalogue and its items, which the other side has, too."""
        own_ids = self.own_ids.compact()
        catalogue = Catalogue(self.catalogue.known)
        return replace(self, ids=own_ids, catalogue=catalogue, is_sent=True, lists=None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lists, what users saw and how items differ: the numbers are computed."""
        catalogue = Catalogue(self.catalogue.known, self.catalogue.size)
        return vars(self) | {"catalogue": catalogue, "lists": None}


HELD = 2**26  # items of lists that stay in memory, for means of segments and intervals


class ListTally:
    """Adds up the lists of users. A list is counted when it comes, and then forgotten.

    Only users, items and, for means over lists, two numbers for each list stay in memory; and the
    lists down to the deepest cutoff, if ``lists="hold"`` and they are not too long.
    """

    def __init__(
        self,
        items: "Numbering",
        measures: Sequence[Measure],
        lists: Literal["forget", "hold"] = "forget",
    ) -> None:
        self._items, self._measures = items, measures
        self._held: list[Lists] | None = [] if lists == "hold" else None
        self._room = HELD
        self._users: list[Ids] = []
        self._exposures: dict[int | None, list[Exposure]] = {measure.k: [] for measure in measures}
        self._by_size = {
            measure.k for measure in measures if get_row(measure).by_size(dict(measure.parameters))
        }
        self._sums: dict[Measure, list[Sums]] = {
            measure: [] for measure in measures if get_row(measure).of_lists is not None
        }
        self._deepest = max(1 << 62 if measure.k is None else measure.k for measure in measures)
        self._arrived: set[Any] = set()  # users of other tallies
        self._has_seen = False

    def add(self, lists: Lists, users: Ids) -> None:
        """Add the lists of users that have not come before."""
        self._items.numbers.refuse_foreign(lists.cut(max(self._deepest, 1)).items)
        self._users.append(users)
        seen = self._items.catalogue.seen
        if seen is not None and not self._has_seen:
            n_known = lists.items[lists.items < seen.known]
            self._has_seen = bool((seen.interactions[n_known] > 0).any())
        self._hold(lists.cut(self._deepest))
        cuts = {k: lists.cut(k) for k in self._exposures}
        for k, cut in cuts.items():
            counted = Exposure.of_lists(cut, len(self._items.numbers), k in self._by_size)
            self._add_exposure(k, counted)
        for measure, sums in self._sums.items():
            if not len(lists.items):  # the catalogue is numbered with the first item
                sums.append((np.zeros(len(lists)), np.zeros(len(lists))))
                continue
            of_lists = get_row(measure).of_lists
            assert of_lists is not None
            catalogue, parameters = self._items.catalogue, dict(measure.parameters)
            sums.append(of_lists(cuts[measure.k], catalogue, parameters))

    def _hold(self, lists: Lists) -> None:
        """Keep lists as long as there is room for all."""
        self._room -= len(lists.items)
        if self._held is not None and self._room >= 0:
            self._held.append(Lists(lists.offsets, lists.items.astype(np.int32)))
        else:
            self._held = None

    def _join_held(self) -> Lists | None:
        if not self._held:
            return None
        sizes = np.concatenate([lists.sizes for lists in self._held])
        items = np.concatenate([lists.items for lists in self._held])
        return Lists(ragged.make_offsets(sizes), items)

    def refuse_repeated(self, other: CountedLists) -> None:
        """Raise DuplicateError for a user who has come before."""
        repeated = next((user for user in other.users if user in self._arrived), None)
        if repeated is not None:
            raise DuplicateError(
                f"query {clip(repeated)} arrived before, and measures of the catalogue count every"
                " list once."
            )

    def merge(self, other: CountedLists) -> None:
        """Add the lists of users who have not come before, which another tally counted."""
        self._items.open(other.sample, other.is_text)
        own_numbers = self._items.numbers.number(other.own_ids)
        numbers = np.append(np.arange(other.catalogue.known), own_numbers)
        self._arrived.update(other.users)
        self._has_seen |= other.has_seen
        self._users.append(other.users)
        for k, exposure in other.exposures.items():
            self._add_exposure(k, exposure.renumber(numbers, len(self._items.numbers)))
        for measure, sums in other.sums.items():
            self._sums[measure].append(sums)

    def _add_exposure(self, k: int | None, exposure: Exposure) -> None:
        exposures = self._exposures[k]
        exposures.append(exposure)
        if len(exposures) > _SEVERAL:
            exposures[:] = [join_exposures(exposures)]

    def collect(self) -> CountedLists:
        """Put together the counts of all lists so far."""
        sums = {
            measure: (
                np.concatenate([np.zeros(0), *(part for part, _ in sums)]),
                np.concatenate([np.zeros(0), *(part for _, part in sums)]),
            )
            for measure, sums in self._sums.items()
        }
        return CountedLists(
            join_ids(self._users) if self._users else Text.empty(),
            self._items.numbers.ids,
            self._items.catalogue,
            {k: join_exposures(exposures) for k, exposures in self._exposures.items()},
            sums,
            self._items.sample,
            self._items.is_text,
            self._has_seen,
            lists=self._join_held(),
        )


_SEVERAL = 16  # batches whose counts are held before they are added up


class Numbering:
    """The items of a catalogue, numbered when the first item of a run shows the kind of ids."""

    def __init__(self, options: CatalogueOptions | None) -> None:
        self._options = options or CatalogueOptions()
        self.catalogue, self.numbers = Catalogue(), ItemNumbers()
        self.sample: Ids = Text.empty()
        self.is_text = False

    def open(self, items: Ids, is_text: bool) -> None:
        """Number the catalogue and what users saw, as ids of the kind of these items, once."""
        if len(items) and not len(self.sample):
            self.catalogue, self.numbers = self._options.number(items, is_text)
            self.sample, self.is_text = items.part(0, 1).compact(), is_text


class ListValues:
    """A measure of the catalogue, for each list if it is a mean over lists."""

    def __init__(self, measure: Measure, counted: CountedLists) -> None:
        self.measure, self.counted = measure, counted

    @property
    def exposure(self) -> Exposure:
        """How often each item is recommended within the measure's cutoff."""
        return self.counted.exposures[self.measure.k]

    @property
    def parts(self) -> Sums | None:
        """U each: the sum of each list and its divisor; None for a measure of all lists at once."""
        return self.counted.sums.get(self.measure)

    @cached_property
    def values(self) -> Floats | None:
        """U: the value of each list, NaN where it is left out; None if the lists have no values."""
        if self.parts is None or get_row(self.measure).pooled:
            return None
        sums, divisors = self.parts
        is_positive = divisors > 0
        return np.where(is_positive, sums / np.where(is_positive, divisors, 1.0), np.nan)

    @property
    def is_mean(self) -> bool:
        """Is it the mean of a value of each list? Others are a number of all lists at once."""
        return is_mean_of_lists(self.measure)

    @cached_property
    def value(self) -> float:
        """The measure's value: the same in whatever order lists came, since sums are exact."""
        if self.parts is None:
            return self._compute_of(self.exposure)
        if not self.is_mean:
            sums, divisors = (fsum(part.tolist()) for part in self.parts)
            return sums / divisors if divisors else float("nan")
        assert self.values is not None
        return average_numbers(self.values.tolist())

    def _compute_of(self, exposure: Exposure) -> float:
        """Compute a measure of all lists at once."""
        of_all = get_row(self.measure).of_all
        assert of_all is not None
        parameters = {**dict(self.measure.parameters), "k": self.measure.k}
        return float(of_all(exposure, self.counted.catalogue, parameters))

    def spread_over(self, groups: Ints, count: int) -> Floats:
        """Spread a number of all lists over groups of users: count values with this mean.

        ``groups`` is the group of each list.
        """
        if self.parts is not None:
            return spread_quotient(self.value, self.parts, groups, count)
        return spread_values(self.value, np.array([*self._leave_out(groups, count)]))

    def _leave_out(self, groups: Ints, count: int) -> Iterator[float]:
        """Compute the number without each group."""
        lists, exposure = self.counted.require_lists().cut(self.measure.k), self.exposure
        order = np.argsort(groups, kind="stable")
        ends = np.searchsorted(groups[order], np.arange(count + 1))
        for start, end in pairwise(ends.tolist()):
            rows = order[start:end]
            by_size = exposure.by_size is not None
            part = Exposure.of_lists(lists.take(rows), len(exposure.counts), by_size)
            others = np.ones(len(groups), bool)
            others[rows] = False
            yield self._compute_of(exposure.subtract(part, others))


def is_mean_of_lists(measure: Measure) -> bool:
    """Is a measure of the catalogue the mean of a value of each list?"""
    row = get_row(measure)
    is_micro = dict(measure.parameters).get("mean") == "micro"
    return row.of_lists is not None and not row.pooled and not is_micro


def find_ids(ids: Ids, wanted: Ids) -> Ints:
    """Find the places of ids; those of files of text match numbers by their digits."""
    if ids.kind != wanted.kind:
        ids, wanted = ids.as_text(), wanted.as_text()
    return Index(ids).find(wanted)


def get_row(measure: Measure) -> CatalogueDefinition:
    """Return the row of a measure of the catalogue."""
    row: Any = measure.row
    assert isinstance(row, CatalogueDefinition)
    return row


def _refuse_small(catalogue: Catalogue, exposure: Exposure) -> None:
    """Raise CoverageError where more items are recommended than the catalogue has."""
    recommended = int(np.count_nonzero(exposure.counts))
    if catalogue.size is not None and recommended > catalogue.size:
        raise CoverageError(
            f"{write_option('catalogue')} has {catalogue.size:,} items, but {recommended:,}"
            " different ones are recommended."
        )


# --- Measures of whole lists: the lists of a run or of batches, and results that explain them -----


@dataclass(frozen=True, eq=False, repr=False)
class CatalogueResult(MeasureResult):
    """A measure of the catalogue: its value rests on the lists of all users, judged or not.

    >>> lists = {"u": ["a", "b"], "v": ["a", "c"]}
    >>> result = germane.evaluate({"u": ["a"]}, lists, "Gini@2", catalogue=["a", "b", "c", "d"])
    >>> result["Gini@2"].mean
    0.375

    ``per_query`` has the judged queries where the measure is a mean over lists. ``explain`` says
    which items contribute to the number.

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
        """Is it a mean over users, or are the lists of all users held?"""
        return self.of_lists.is_mean or self.of_lists.counted.lists is not None

    @cached_property
    def units(self) -> list[Hashable]:
        """The users with a list, judged or not, by the ids of the judgments."""
        counted = self.of_lists.counted
        judged = dict(zip(counted.place(self.queries).tolist(), self.queries, strict=True))
        return [judged.get(u, user) for u, user in enumerate(counted.users.python)]

    @property
    def per_list(self) -> dict[Hashable, float]:
        """The value of every user's list, judged or not; NaN where the mean leaves it out."""
        values = self.of_lists.values
        return {} if values is None else dict(zip(self.units, values.tolist(), strict=True))

    def take(self, rows: Ints) -> "CatalogueResult":
        """Select the lists of some users, by their places in ``units``."""
        chosen = set(rows.tolist())
        counted = self.of_lists.counted
        kept = [place in chosen for place in counted.place(self.queries).tolist()]
        return replace(
            self,
            queries=[*compress(self.queries, kept)],
            values=self.values[kept],
            left_out=None if self.left_out is None else self.left_out[kept],
            query_digits=None,
            of_lists=ListValues(self.measure, counted.take(rows)),
        )

    @property
    def is_pooled(self) -> bool:
        return not self.of_lists.is_mean

    def spread_over(
        self, units: Sequence[Hashable], groups: Ints, count: int
    ) -> tuple[float, Floats]:
        """Compute a number of some users' lists, and spread it over groups of them.

        ``groups`` is the group of each user.
        """
        place = {user: u for u, user in enumerate(self.units)}
        rows = np.array([place[user] for user in units])
        of_users = self.take(rows).of_lists
        return of_users.value, of_users.spread_over(groups, count)

    def interval(self, *, confidence: float = 0.95) -> Interval | None:
        """Estimate a confidence interval: of a mean over lists, or by a jackknife over users.

        A number of all lists at once, such as Coverage, is computed again without each of up to 100
        groups of users. The interval is one for as many other users. Returns None for fewer than
        five users, and where the number is the same without any of the groups.
        """
        if self.of_lists.is_mean or not self.has_interval:
            return super().interval(confidence=confidence)
        Interval.check_confidence(confidence)
        groups = self.group_units(self.units)
        spread = self.of_lists.spread_over(groups, int(groups.max(initial=0)) + 1)
        interval = estimate_spread_interval(spread, 1 - confidence)
        if interval is None or self.measure.range is None:
            return interval
        low, high = self.measure.range
        return replace(interval, low=max(interval.low, low), high=min(interval.high, high))

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
        """Say which items contribute most: the most recommended ones, and the share of the tail.

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
class CatalogueExplanation(Tabular, Plain):
    """The items that make a number of the catalogue: the most recommended ones, and the tail."""

    _json = (
        "measure value lists recommendations recommended catalogue=size tail_share"
        " items=_list_items"
    )

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

    def _list_items(self) -> list[dict[str, Any]]:
        return [{"item": item, "lists": count} for item, count in self.items]


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
            f"{measure} looks at whole lists, whose tied items need one order:"
            f" ties={list_choices(ROW_ORDERS)}; got ties={policy.ties}."
        )
    if policy.duplicates in COPIES and get_row(measure).of_sets(dict(measure.parameters)):
        raise MeasureError(
            f"{measure} compares lists as sets, which contain no item twice; duplicates=first"
            " keeps one copy."
        )


# --- ListsOfRun: the whole lists of a run, or of batches of one, read, ranked and counted ---------


class ListsOfRun:
    """The lists of all users of a run, judged or not, under one policy.

    Where many definitions are tried, the lists are kept, and the run is read once.
    """

    def __init__(
        self,
        run: RunInput,
        options: CatalogueOptions | None,
        policy: Policy,
        qrels: Qrels,
        keep: bool = False,
        progress: Progress | None = None,
    ) -> None:
        if policy.ranks == "places":
            raise PolicyError(
                "measures of the catalogue are about whole lists, and"
                f" {write_option('ranks', 'places')} is for lists of which only some rows are"
                " known."
            )
        self._run, self._policy, self._keep, self._progress = run, policy, keep, progress
        self._items, self._qrels = Numbering(options), qrels
        self._relevant, self._candidates = _Relevant(qrels), qrels.candidates
        self._kept: list[tuple[Lists, Ids]] = []
        self._counted: dict[Measure, CountedLists] = {}

    def evaluate(self, measures: Sequence[Measure]) -> "dict[Measure, ListValues]":
        """Compute measures of the catalogue. Raises MeasureError if one lacks what it needs."""
        wanted = [measure for measure in measures if measure not in self._counted]
        if wanted:
            self._counted |= dict.fromkeys(wanted, self.count(wanted))
        values: dict[Measure, ListValues] = {}
        for measure in measures:
            values |= self._counted[measure].evaluate([measure])
        return values

    def place(self, queries: list[Hashable]) -> Ints:
        """Find the place of each query among the users, or -1."""
        return next(iter(self._counted.values())).place(queries)

    def count(self, measures: Sequence[Measure]) -> CountedLists:
        """Count the lists for some measures. Raises InputError for lists that share no items."""
        if self._run.has_own_items:
            raise InputError(
                "measures of the catalogue do not read flat arrays with group=, because their"
                " items have no ids; pass a frame, a file, a dict, or an array of the ids of each"
                " query's best items."
            )
        try:
            counted = self._count_all(measures, self._read_content())
        except Scattered:
            self._kept = []
            rows = gather_rows(self._read_content())
            counted = self._count_all(measures, rows.split())
        self._progress = None  # which ends when the run is read
        return counted

    def _read_content(self) -> Iterator[Rows]:
        return self._run.read_content(self._qrels, self._progress)

    def _count_all(self, measures: Sequence[Measure], parts: Iterator[Rows]) -> CountedLists:
        tally = ListTally(self._items, measures, "forget" if self._keep else "hold")
        for lists, users in self._kept or self._read(parts, measures):
            tally.add(lists, users)
        counted = tally.collect()
        if not _ascend(counted.users) and Index(counted.users).distinct < len(counted.users):
            raise Scattered
        return counted

    def _read(
        self, parts: Iterator[Rows], measures: Sequence[Measure]
    ) -> Iterator[tuple[Lists, Ids]]:
        pieces = []
        for rows in parts:
            part = self._reduce(rows, measures)
            if self._keep:
                pieces.append(part)
            yield part
        self._kept = pieces

    def _reduce(self, rows: Rows, measures: Sequence[Measure]) -> tuple[Lists, Ids]:
        """Rank the rows of some queries, and number their items."""
        ranked = rank_rows(rows, self._run, self._policy, self._candidates)
        users, items = ranked.queries.compact(), ranked.column
        self._items.open(items, self._run.is_text)
        lists = Lists(ranked.offsets, self._items.numbers.number(items))
        seen, list_rows = self._items.catalogue.seen, [get_row(measure) for measure in measures]
        if seen is not None and (self._keep or any(row.of_users for row in list_rows)):
            lists = replace(lists, user=seen.find(users))
        if self._keep or any(row.of_judgments for row in list_rows):
            lists = replace(lists, relevant=self._relevant.flag(users, lists.owner, items))
        return lists, users


def _ascend(users: Ids) -> bool:
    """Are these integers that ascend, so that no user comes twice?"""
    return isinstance(users, Integers) and bool((users.values[1:] > users.values[:-1]).all())


class _Relevant:
    """The relevant items of judged queries."""

    def __init__(self, qrels: Qrels) -> None:
        self._qrels = qrels

    @cached_property
    def _pairs(self) -> tuple[Ids, Ids, Ints]:
        """Judged queries, relevant items, and the pairs of both."""
        places = np.flatnonzero(self._qrels.grades >= 1)
        items, queries = (read_python_ids(ids) for ids in (self._qrels.items, self._qrels.queries))
        owner, items = ragged.find_owners(self._qrels.offsets)[places], items.take(places)
        return queries, items, np.unique(owner * max(len(items), 1) + Index(items).find(items))

    def flag(self, users: Ids, owner: Ints, listed: Ids) -> Bools:
        """Mark the relevant items of lists; ``owner`` is the place of each item's user."""
        queries, items, pairs = self._pairs
        if not len(pairs):
            return np.zeros(len(listed), bool)
        query, item = find_ids(queries, users)[owner], find_ids(items, listed)
        flags: Bools = (query >= 0) & (item >= 0) & np.isin(query * len(items) + item, pairs)
        return flags


# --- Runs that arrive in batches --------------------------------------------------------------

Counted: TypeAlias = dict[Policy, CountedLists]
Tallies: TypeAlias = dict[Policy, ListTally]


def refuse_copies(measures: Mapping[Measure, Policy], twice: str) -> None:
    """Refuse queries that may arrive twice, where whole lists are counted. Raises MeasureError."""
    for measure in measures:
        if measure.row.of_catalogue and twice != "error":
            raise MeasureError(
                f"{measure} counts every list when it arrives, and forgets it, so that"
                f" twice={twice} cannot tell which lists were counted. Use twice=error."
            )


def count_batch(
    run: RunInput,
    options: Any,
    policies: Mapping[Measure, Policy],
    find_qrels: Callable[[Policy], Qrels],
) -> Counted:
    """Count the lists of a batch under each policy of a measure of the catalogue."""
    return {
        policy: ListsOfRun(run, options, policy, find_qrels(policy)).count(measures).send()
        for policy, measures in _group(policies).items()
    }


def merge_batch(
    tallies: Tallies, batch: Counted, options: Any, policies: Mapping[Measure, Policy]
) -> Tallies:
    """Add the lists of a batch to those before; an error leaves these as they are."""
    tallies = tallies or {
        policy: ListTally(Numbering(options), measures)
        for policy, measures in _group(policies).items()
    }
    for policy, counted in batch.items():
        tallies[policy].refuse_repeated(counted)
    for policy, counted in batch.items():
        tallies[policy].merge(counted)
    return tallies


def collect_batches(tallies: Tallies) -> Counted:
    """Put together the lists of all batches."""
    return {policy: tally.collect() for policy, tally in tallies.items()}


def _group(policies: Mapping[Measure, Policy]) -> dict[Policy, list[Measure]]:
    """Group the measures of the catalogue by their policy."""
    groups: dict[Policy, list[Measure]] = {}
    for measure, policy in policies.items():
        if measure.row.of_catalogue:
            check_policy(measure, policy)
            groups.setdefault(policy, []).append(measure)
    return groups
