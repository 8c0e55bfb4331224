"""ListsOfRun: the whole lists of a run, read in batches, ranked, and counted."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.catalogue import Lists
from germane.core.policy import Policy
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Ints
from germane.core.retrieved import COPIES
from germane.errors import DuplicateError, clip
from germane.evaluation.lists import CountedLists, ListTally, ListValues, Numbering, get_row
from germane.kernel import plain
from germane.kernel.columns import Ids, Integers, read_python_ids
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
from germane.measures.measure import Measure
from germane.readers import RunInput
from germane.readers.catalogues import CatalogueOptions
from germane.readers.lists import gather_lists, read_lists, refuse_scattered
from germane.readers.rows import Rows


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
        self._run, self._policy, self._keep, self._progress = run, policy, keep, progress
        self._items = Numbering(options)
        self._relevant = _Relevant(qrels)
        self._kept: list[tuple[Lists, Ids]] = []
        self._counted: dict[Measure, CountedLists] = {}

    def evaluate(self, measures: Sequence[Measure]) -> "dict[Measure, ListValues]":
        """Compute measures of the catalogue. Raises MeasureError for one that lacks what it needs."""
        wanted = [one for one in measures if one not in self._counted]
        if wanted:
            self._counted |= dict.fromkeys(wanted, self.count(wanted))
        found: dict[Measure, ListValues] = {}
        for one in measures:
            found |= self._counted[one].evaluate([one])
        return found

    def place(self, queries: list[Hashable]) -> Ints:
        """Find the place of each query among the users, or -1."""
        return next(iter(self._counted.values())).place(queries)

    def count(self, measures: Sequence[Measure]) -> CountedLists:
        """Count the lists for some measures."""
        of_users = self._keep or any(get_row(one).of_users for one in measures)
        try:
            counted = self._count_all(measures, read_lists, of_users)
        except Scattered:
            self._kept = []
            counted = self._count_all(measures, gather_lists, of_users)
        self._progress = None  # which ends when the run is read
        return counted

    def _count_all(
        self, measures: Sequence[Measure], read: Callable[..., Iterator[Rows]], of_users: bool
    ) -> CountedLists:
        tally = ListTally(self._items, measures)
        for lists, users in self._kept or self._read(read, of_users):
            tally.add(lists, users)
        counted = tally.collect()
        if not _ascend(counted.users):
            refuse_scattered(len(counted.users), Index(counted.users).distinct)
        return counted

    def _read(
        self, read: Callable[..., Iterator[Rows]], of_users: bool
    ) -> Iterator[tuple[Lists, Ids]]:
        kept = []
        for rows in read(self._run, self._progress):
            one = self._reduce(rows, of_users)
            if self._keep:
                kept.append(one)
            yield one
        self._kept = kept

    def _reduce(self, rows: Rows, of_users: bool) -> tuple[Lists, Ids]:
        """Rank the rows of some queries, and number their items."""
        is_text = getattr(self._run, "ids", "typed") == "text" or rows_are_text(self._run)
        self._items.open(rows.items, is_text)
        users = read_python_ids(rows.queries).compact()
        batch = self._rank(
            Batch(np.arange(len(users)), rows.offsets, rows.items, rows.score, rows.rank), users
        )
        lists = Lists(batch.offsets, self._items.numbers.number(batch.items))
        if of_users:
            seen = self._items.catalogue.seen
            relevant = self._relevant.flag(users, batch)
            lists = replace(
                lists, relevant=relevant, user=None if seen is None else seen.find(users)
            )
        return lists, users

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
        at = np.flatnonzero(self._qrels.grades >= 1)
        items, queries = (read_python_ids(one) for one in (self._qrels.items, self._qrels.queries))
        owner, items = ragged.find_owners(self._qrels.offsets)[at], items.take(at)
        return queries, items, np.unique(owner * max(len(items), 1) + Index(items).find(items))

    def flag(self, users: Ids, batch: Batch) -> Bools:
        """Mark the rows of relevant items."""
        queries, items, pairs = self._pairs
        if not len(pairs):
            return np.zeros(len(batch.items), bool)
        query, item = _find_in(queries, users)[batch.owner], _find_in(items, batch.items)
        flags: Bools = (query >= 0) & (item >= 0) & np.isin(query * len(items) + item, pairs)
        return flags


def _find_in(known: Ids, wanted: Ids) -> Ints:
    """Find the places of ids; those of files of text match numbers by their digits."""
    if known.kind != wanted.kind:
        known, wanted = known.as_text(), wanted.as_text()
    return Index(known).find(wanted)


def rows_are_text(run: RunInput) -> bool:
    """Do the rows of a run come from a file of text, where an integer is its digits?"""
    return type(run).__module__.endswith("trec_files")


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
    rank, _, _ = plain.rank_rows(batch, rows, policy.order.equal)
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
