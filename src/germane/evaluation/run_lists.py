"""ListsOfRun: the whole lists of a run, or of batches of one, read, ranked and counted."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.catalogue import Lists
from germane.core.policy import Policy
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Ints
from germane.errors import InputError, MeasureError, PolicyError, write_option
from germane.evaluation.catalogue_result import check_policy
from germane.evaluation.list_tally import (
    CountedLists,
    ListTally,
    ListValues,
    Numbering,
    find_ids,
    get_row,
)
from germane.kernel.columns import Ids, Integers, read_python_ids
from germane.kernel.reduction import Index, Scattered
from germane.measures.definition import CatalogueDefinition
from germane.measures.measure import Measure
from germane.readers import RunInput
from germane.readers.options.catalogues import CatalogueOptions
from germane.readers.rows import Rows, gather_rows, rank_rows


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
                "measures of the catalogue do not read flat arrays with group=, whose items have no"
                " ids; give a frame, a file, a dict, or an array of the ids of each query's best"
                " items."
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
        tally = ListTally(self._items, measures)
        for lists, users in self._kept or self._read(parts, measures):
            tally.add(lists, users)
        counted = tally.collect()
        if not _ascend(counted.users) and Index(counted.users).distinct < len(counted.users):
            raise Scattered
        return counted

    def _read(
        self, parts: Iterator[Rows], measures: Sequence[Measure]
    ) -> Iterator[tuple[Lists, Ids]]:
        kept = []
        for rows in parts:
            part = self._reduce(rows, measures)
            if self._keep:
                kept.append(part)
            yield part
        self._kept = kept

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
        if isinstance(measure.row, CatalogueDefinition) and twice != "error":
            raise MeasureError(
                f"{measure} counts every list when it arrives, and forgets it: twice={twice} cannot"
                " tell which lists it counted. twice=error."
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
        if isinstance(measure.row, CatalogueDefinition):
            check_policy(measure, policy)
            groups.setdefault(policy, []).append(measure)
    return groups
