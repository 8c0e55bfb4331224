"""Keys: ids of any type that stay in the dicts and lists of the caller, and are looked up there.

A judged item is looked up among the results of its query, or a result among the judged items,
whichever are fewer, so that most ids are never touched.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Hashable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ties import ROW_KEYS
from germane.kernel.ids import Ids, Text, read_python_ids, sort_by_bytes
from germane.kernel.library import Hits, RepeatedRowError

if TYPE_CHECKING:
    from germane.kernel.reduction import Batch, Judgments

_FEW = 4  # items of a group up to which looking at one after the other is faster
_SHORT = 64  # results up to which Python's own sorting is faster than NumPy's


class Keys(Ids):
    """Ids of several groups. Those of group g are in the dict or list ``parts[g]``.

    ``indexes[g]`` is the dict or set in which they are looked up. ``spell`` makes of other ids what
    is looked up here.
    """

    kind = "python"

    def __init__(
        self,
        parts: Sequence[Any],
        indexes: Sequence[Collection[Hashable]] | None = None,
        spell: Callable[[Any], Any] | None = None,
    ) -> None:
        self.parts, self.spell = parts, spell
        self.indexes: Sequence[Collection[Hashable]] = (
            [part if isinstance(part, dict) else set(part) for part in parts]
            if indexes is None
            else indexes
        )

    @cached_property
    def offsets(self) -> Ints:
        """The row at which each group begins, and the number of rows."""
        return ragged.make_offsets(list(map(len, self.parts)))

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def python(self) -> list[Hashable]:
        return list(chain.from_iterable(self.parts))

    def rank_falling(self, rows: Ints) -> Ints:
        """Number some rows from the last id to the first, by the bytes of their text."""
        python, place = self.python, np.empty(len(rows), np.int64)
        are_all = len(rows) == len(python) and bool((rows[1:] > rows[:-1]).all())
        listed = python if are_all else list(map(python.__getitem__, rows.tolist()))
        place[sort_by_bytes(listed)] = np.arange(len(rows))
        return -place

    def part(self, start: int, stop: int) -> Keys:
        return self.take(np.arange(start, stop)) if stop > start else Keys(())

    def take(self, rows: Ints) -> Keys:
        """Copy the rows at some places, which ascend. The groups stay as many."""
        ends = np.searchsorted(rows, self.offsets).tolist()
        parts, indexes = list(self.parts), list(self.indexes)
        for g, (start, end) in enumerate(pairwise(ends)):
            if end - start < len(parts[g]):
                items, part = list(parts[g]), parts[g]
                kept_items = [
                    items[place] for place in (rows[start:end] - self.offsets[g]).tolist()
                ]
                is_dict = isinstance(part, dict)
                parts[g] = {item: part[item] for item in kept_items} if is_dict else kept_items
                indexes[g] = parts[g] if is_dict else set(kept_items)
        return Keys(parts, indexes, self.spell)

    @cached_property
    def typed(self) -> Ids:
        """The ids as integers or text."""
        return read_python_ids(self.python)

    def as_text(self) -> Text:
        return self.typed.as_text()

    def to_arrow(self) -> Any:
        return self.typed.to_arrow()

    @cached_property
    def column(self) -> Any:
        return self.typed.column

    def find_repeat(self) -> tuple[int, int] | None:
        """Find the first row whose item an earlier row of its group has, and that row."""
        for g, (part, index) in enumerate(zip(self.parts, self.indexes, strict=True)):
            if len(index) == len(part):
                continue
            first: dict[Hashable, int] = {}
            for row, item in enumerate(part, int(self.offsets[g])):
                if first.setdefault(item, row) != row:
                    return row, first[item]
        return None


def reduce_keys(
    judged: Judgments, batch: Batch, *, ties: str, repeats: str, needs_rows: bool
) -> Hits:
    """Find the judged rows and ranks as ``reduction.reduce`` does; rows not needed may be -1."""
    keys, judged_keys = batch.items, judged.items
    assert isinstance(keys, Keys)
    assert isinstance(judged_keys, Keys)
    if repeats == "refuse" and (repeat := keys.find_repeat()) is not None:
        raise RepeatedRowError(*repeat)
    wanted = [judged_keys.parts[q] for q in batch.code.tolist()]
    if batch.score is None or repeats == "keep" or judged_keys.spell is not None:
        matches = _match_rows(keys, wanted, judged_keys.spell)
    else:
        are_held = not batch.is_converted and list not in map(type, keys.parts)
        matches = _match_items(keys, wanted, are_held)
    if matches.row is None and (needs_rows or matches.score is None):
        matches = matches.add_rows(keys, range(len(keys.parts)))
    group = ragged.repeat_owners(list(map(len, matches.items)))
    if batch.score is None:
        assert matches.row is not None
        rank = matches.row - batch.offsets[group] + 1
        return Hits(matches.row, matches.judgment, group, rank, rank, rank)
    score = batch.score[matches.row] if matches.score is None else matches.score
    first, last = _rank_scores(batch.score, batch.offsets, group, score)
    rank = first
    if last is not first and (tied := last > first).any():
        matches = (
            matches
            if matches.row is not None
            else matches.add_rows(keys, set(group[tied].tolist()))
        )
        assert matches.row is not None
        rank = first + _place_ties(batch, group, matches.row, first, last, ties)
    row = np.full(len(rank), -1) if matches.row is None else matches.row
    return Hits(row, matches.judgment, group, rank, first, last)


# --- Matching ---------------------------------------------------------------------------------


class _Found(NamedTuple):
    """Judged items among keys, group by group."""

    items: list[list[Hashable]]  # of each group
    judgment: Ints
    score: Floats | None = None  # if the dicts hold it
    row: Ints | None = None  # if it is known

    def add_rows(self, keys: Keys, groups: Container[int]) -> _Found:
        """Find the rows of the items of some groups, of keys without copies; -1 of the others."""
        rows: list[int] = []
        starts = keys.offsets[:-1].tolist()
        for g, (part, items, start) in enumerate(zip(keys.parts, self.items, starts, strict=True)):
            if g in groups:
                wanted = set(items)
                place = {item: row for row, item in enumerate(part, start) if item in wanted}
                rows += [place[item] for item in items]
            else:
                rows += [-1] * len(items)
        return self._replace(row=np.array(rows, np.int64))


def _match_items(keys: Keys, wanted: Sequence[dict[Hashable, int]], with_scores: bool) -> _Found:
    """Match keys without copies with the judged items of each group; dicts give their scores."""
    matches, judgment = [], list[int]()
    scores: list[Any] = []
    for index, mine in zip(keys.indexes, wanted, strict=True):
        smaller, larger = (mine, index) if len(mine) <= len(index) else (index, mine)
        common = [item for item in smaller if item in larger]
        judgment += [mine[item] for item in common]
        if with_scores:
            scores += [index[item] for item in common]  # type: ignore[index]
        matches.append(common)
    score = np.array(list(map(float, scores))) if with_scores else None
    return _Found(matches, np.array(judgment, np.int64), score)


def _match_rows(
    keys: Keys, wanted: Sequence[dict[Hashable, int]], spell: Callable[[Any], Any] | None
) -> _Found:
    """Match each row of keys, of which some may be copies or have another spelling."""
    matches, judgment, rows = [], list[int](), list[int]()
    for g, (part, mine, start) in enumerate(
        zip(keys.parts, wanted, keys.offsets.tolist(), strict=False)
    ):
        ids = list(part if spell is None else map(spell, part)) if mine else []
        if spell is None and len(mine) <= _FEW and len(keys.indexes[g]) == len(part):
            common = [item for item in mine if item in keys.indexes[g]]
            places = [ids.index(item) for item in common]
        else:
            places = [i for i, item in enumerate(ids) if item in mine]
            common = [ids[i] for i in places]
        judgment += [mine[item] for item in common]
        rows += [start + i for i in places]
        matches.append(common)
    return _Found(matches, np.array(judgment, np.int64), row=np.array(rows, np.int64))


# --- Ranking ----------------------------------------------------------------------------------


def _rank_scores(
    score: Floats, offsets: Ints, group: Ints, hit_scores: Floats
) -> tuple[Ints, Ints]:
    """Find the first and the last rank of scores in their groups; one array if none is tied."""
    if len(offsets) == 2 and len(score) <= _SHORT:
        listed, n, wanted = sorted(score.tolist()), len(score), hit_scores.tolist()
        high = [n + 1 - bisect_right(listed, hit_score) for hit_score in wanted]
        low = [n - bisect_left(listed, hit_score) for hit_score in wanted]
        first = np.array(high, np.int64)
        return first, first if high == low else np.array(low, np.int64)
    first, last = np.empty((2, len(group)), np.int64)
    ends = offsets.tolist()
    hits = group.searchsorted(np.arange(len(ends))).tolist()
    for g, (start, stop) in enumerate(pairwise(hits)):
        if start == stop:
            continue
        scores, mine = score[ends[g] : ends[g + 1]], hit_scores[start:stop]
        if len(mine) <= _FEW:  # counting is faster than sorting
            first[start:stop] = [np.count_nonzero(scores > hit_score) + 1 for hit_score in mine]
            last[start:stop] = [np.count_nonzero(scores >= hit_score) for hit_score in mine]
            continue
        ascending = np.sort(scores)
        first[start:stop] = len(scores) + 1 - ascending.searchsorted(mine, "right")
        last[start:stop] = len(scores) - ascending.searchsorted(mine, "left")
    return first, last


def _place_ties(batch: Batch, group: Ints, row: Ints, first: Ints, last: Ints, ties: str) -> Ints:
    """Find the place of each hit, from 0, in its group of equal scores."""
    assert batch.score is not None
    assert isinstance(batch.items, Keys)
    place = np.zeros(len(row), np.int64)
    tied = np.flatnonzero(last > first)
    starts = np.flatnonzero(np.diff(group[tied])) + 1
    for hits in np.split(tied, starts):
        g = int(group[hits[0]])
        start, stop = batch.offsets[g : g + 2].tolist()
        mine, places = batch.score[start:stop], row[hits] - start
        hit_scores = mine[places]
        wanted = np.unique(hit_scores)
        level = np.minimum(wanted.searchsorted(mine), len(wanted) - 1)
        members = np.flatnonzero(wanted[level] == mine)
        if 2 * len(members) > len(mine):  # arranging all is faster than selecting so many
            members = np.arange(len(mine))
        ids = Keys((batch.items.parts[g],), (batch.items.indexes[g],))
        key = ROW_KEYS[ties](ids, members)
        members = members[key.argsort()]
        arranged = members[mine[members].argsort(kind="stable")]
        position = np.empty(len(mine), np.int64)
        position[arranged] = np.arange(len(arranged))
        place[hits] = position[places] - mine[arranged].searchsorted(hit_scores)
    return place
