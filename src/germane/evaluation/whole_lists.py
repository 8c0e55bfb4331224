"""Whole lists: results of measures of the catalogue, and the lists of a run or of batches."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any, Self, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.calls import Progress
from germane.core.catalogue import Lists
from germane.core.mean_intervals import Interval, estimate_spread_interval
from germane.core.policy import Policy
from germane.core.qrels import COPIES, Qrels
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ties import ROW_ORDERS
from germane.errors import InputError, MeasureError, PolicyError, list_choices, write_option
from germane.evaluation.counted_lists import (
    CountedLists,
    ListTally,
    ListValues,
    Numbering,
    find_ids,
    get_row,
)
from germane.evaluation.judging import JudgedRun
from germane.kernel.ids import Ids, Integers, read_python_ids
from germane.kernel.reduction import Index, Scattered
from germane.measures.averaging import MeasureResult
from germane.measures.definition import refuse_ranking
from germane.measures.measure import Measure
from germane.output.documents import Plain
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number, write_count
from germane.readers import RunInput
from germane.readers.objects.item_ids import order_ids
from germane.readers.options.catalogues import CatalogueOptions
from germane.readers.rows import Rows, gather_rows, rank_rows

# --- Results --------------------------------------------------------------------------------------


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
