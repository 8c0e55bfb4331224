"""Counted lists: how often items are shown and the sums of lists, from batches in any order."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import fsum
from typing import Any, Literal

import numpy as np

from germane.core import ragged
from germane.core.catalogue import Catalogue, Exposure, Lists, join_exposures
from germane.core.ragged import Floats, Ints, average_numbers
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    MeasureError,
    clip,
    list_some,
    write_option,
)
from germane.kernel.ids import Ids, Text, join_ids, read_python_ids
from germane.kernel.reduction import Index
from germane.measures.averaging import spread_quotient, spread_values
from germane.measures.definition import CatalogueDefinition
from germane.measures.measure import Measure
from germane.readers.objects.item_ids import ItemNumbers
from germane.readers.options.catalogues import CatalogueOptions

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
            known_items = lists.items[lists.items < seen.known]
            self._has_seen = bool((seen.interactions[known_items] > 0).any())
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
