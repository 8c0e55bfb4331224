"""Ids that two lists share, found by sorting, against Python's own comparison."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane._ragged import Ints
from germane.sources import id_columns, joining, matching
from germane.sources.alike import repeats
from germane.sources.id_columns import Categories, IdColumn, Integers
from germane.sources.matching import Lists, Matches, matches


class Narrow(Integers):
    """Integers whose hashes are their lowest bits, so that many different ones have the same."""

    def words(self) -> Ints:
        return (self.values.astype(np.uint64) & np.uint64(3)) << np.uint64(62)

    def part(self, start: int, stop: int) -> Integers:
        return Narrow(self.values[start:stop])

    def chosen(self, rows: Ints) -> Integers:
        return Narrow(self.values[rows])


class Low(Integers):
    """Integers whose hashes differ in their lowest bits alone, of which the longer of two lists keeps fewer."""

    def words(self) -> Ints:
        return self.values.astype(np.uint64) << np.uint64(1)

    def chosen(self, rows: Ints) -> Integers:
        return Low(self.values[rows])


FAR = 1 << 40  # an id that is too large to stand for itself

KINDS: dict[str, Callable[[list[int]], IdColumn]] = {
    "themselves": lambda ids: Integers(np.array(ids, np.int64)),
    "hashed": lambda ids: Integers(np.array(ids, np.int64) + FAR),
    "negative": lambda ids: Integers(-np.array(ids, np.int64) - 1),
    "colliding": lambda ids: Narrow(np.array(ids, np.int64) + FAR),
    "text": lambda ids: id_columns.of_python([f"item {one}" for one in ids] or ["none"]).part(
        0, len(ids)
    ),
    "categories": lambda ids: as_categories([f"item {one}" for one in ids]),
}


def as_categories(ids: list[str]) -> Categories:
    """Each column has a list of entries of its own, in another order and with one that it lacks."""
    entries = ["none", *sorted(set(ids), key=lambda one: one[::-1], reverse=len(ids) % 2 == 0)]
    codes = np.array([entries.index(one) for one in ids], np.int16)
    return Categories(id_columns.of_python(entries), codes)


def of(kind: str, rows: list[list[int]], ends: Ints | None = None) -> Lists:
    ids = KINDS[kind]([one for row in rows for one in row])
    lengths = np.array([len(row) for row in rows])
    return Lists(ids, np.append(0, np.cumsum(lengths)[:-1]), lengths)


def expected(one: list[list[int]], other: list[list[int]]) -> list[tuple[int, int, int]]:
    """The group and both places of each pair of equal ids."""
    found = []
    for g, (mine, theirs) in enumerate(zip(one, other, strict=True)):
        before, other_before = (sum(map(len, rows[:g])) for rows in (one, other))
        found += [
            (g, before + i, other_before + j)
            for i, a in enumerate(mine)
            for j, b in enumerate(theirs)
            if a == b
        ]
    return found


def places_of_copies(rows: list[list[int]]) -> set[int]:
    before = np.cumsum([0, *map(len, rows)]).tolist()
    return {
        start + i
        for row, start in zip(rows, before[:-1], strict=True)
        for i, one in enumerate(row)
        if row.count(one) > 1
    }


def check(found: Matches, one: list[list[int]], other: list[list[int]]) -> None:
    pairs = list(zip(*(column.tolist() for column in found[:3]), strict=True))
    assert sorted(pairs) == expected(one, other)
    assert found.one.tolist() == sorted(found.one.tolist())
    assert found.again.tolist() == sorted(found.again.tolist())
    assert places_of_copies(one) <= set(found.again.tolist())
    assert places_of_copies(other) <= set(found.other_again.tolist())


small = st.lists(st.integers(0, 9), max_size=8)
pairs_of_lists = st.lists(st.tuples(small, small), min_size=1, max_size=6)


@pytest.mark.parametrize("kind", KINDS)
@given(both=pairs_of_lists)
def test_what_is_found_is_what_is_equal(kind: str, both: list[tuple[list[int], list[int]]]) -> None:
    one, other = (list(side) for side in zip(*both, strict=True))
    check(matches(of(kind, one), of(kind, other)), one, other)


@pytest.mark.parametrize("kind", KINDS)
@given(other=st.lists(small, min_size=1, max_size=6), length=st.integers(0, 5))
def test_lists_of_one_length(kind: str, other: list[list[int]], length: int) -> None:
    one = [list(range(g, g + length)) for g in range(len(other))]
    check(matches(of(kind, one), of(kind, other)), one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_lists_too_long_for_32_bits(kind: str) -> None:
    """Also in blocks of one list, and one among short ones."""
    one = [list(range(3000)), [5, 6], [7] * 3]
    other = [list(range(2990, 6000, 7)), [6], [7, 8]]
    check(matches(of(kind, one), of(kind, other)), one, other)


@pytest.mark.parametrize("cells", [1, 7, 64])
@given(both=pairs_of_lists)
def test_blocks_change_nothing(cells: int, both: list[tuple[list[int], list[int]]]) -> None:
    one, other = (list(side) for side in zip(*both, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "CELLS", cells)
        check(matches(of("hashed", one), of("hashed", other)), one, other)


def test_lists_that_overlap_and_are_out_of_order() -> None:
    """Which is how judgments stand beside queries in another order."""
    ids = Integers(np.array([4, 5, 6, 7]))
    one = Lists(ids, np.array([2, 0]), np.array([2, 2]))
    other = Lists(ids, np.array([1, 0]), np.array([3, 1]))
    found = matches(one, other)
    pairs = sorted(zip(found.group.tolist(), found.one.tolist(), found.other.tolist(), strict=True))
    assert pairs == [(0, 2, 2), (0, 3, 3), (1, 0, 0)]


def test_small_numbers_are_not_compared_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "equal", None)
    rows = [[1, 2, 3], [4]]
    check(matches(of("themselves", rows), of("themselves", rows)), rows, rows)


@pytest.mark.parametrize("sorted_at_once", [1, 4, 1 << 14])
@pytest.mark.parametrize("wide", [1, 1 << 30, 1 << 58])  # with a row's number 32, 64 and more bits
@given(rows=st.lists(small, min_size=1, max_size=8))
def test_repeats(sorted_at_once: int, wide: int, rows: list[list[int]]) -> None:
    ids = Integers(np.array([one * wide for row in rows for one in row], np.int64))
    offsets = np.cumsum([0, *map(len, rows)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("germane.sources.alike.SORTED", sorted_at_once)
        found = repeats(ids.numbers, offsets).tolist()
    assert set(found) == places_of_copies(rows)
    assert all(a < b for a, b in pairwise(found))


@given(flags=st.lists(st.booleans()))
def test_places_of_flags(flags: list[bool]) -> None:
    eights = np.array([*flags, *[False] * (-len(flags) % 8)], bool)
    assert matching._set(eights).tolist() == [at for at, flag in enumerate(flags) if flag]


# --- Distinct ids, and lists of them ----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(ids=small)
def test_distinct_ids_in_the_order_of_their_first_rows(kind: str, ids: list[int]) -> None:
    first, place = joining.distinct(KINDS[kind](ids))
    assert [ids[at] for at in first] == list(dict.fromkeys(ids))
    assert [ids[first[at]] for at in place] == ids


@pytest.mark.parametrize("kind", [*KINDS, "low"])
@given(one=st.sets(st.integers(0, 40)), other=st.sets(st.integers(0, 40)))
def test_places_among_other_ids(kind: str, one: set[int], other: set[int]) -> None:
    column = KINDS.get(kind, lambda ids: Low(np.array(ids, np.int64)))
    ids, others = sorted(one, key=str), sorted(other, reverse=True)
    place = [others.index(i) if i in other else len(others) + at for at, i in enumerate(ids)]
    assert column(ids).among(column(others)).tolist() == place
    assert kind == "colliding" or not column(ids).may_repeat
    assert column([*ids, *ids]).may_repeat == bool(ids)


@given(parts=st.lists(st.lists(st.integers(0, 9), max_size=30), min_size=1, max_size=5))
def test_categories_with_lists_of_their_own_are_joined(parts: list[list[int]]) -> None:
    texts = [[f"item {one}" for one in part] for part in parts]
    columns = [as_categories(part) for part in texts]
    base, last = columns[0].entries, columns[-1].entries
    among = last.among(base).tolist()
    one = joining.joined(columns)
    assert last.among(base).tolist() == among  # what is kept is nobody's to change
    assert list(one) == [text for part in texts for text in part]
    if isinstance(one, Categories):
        assert len(set(one.entries)) == len(one.entries)


def test_categories_stand_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their ids are neither hashed nor compared again, but for the lists of entries."""
    one, other = as_categories(["a", "b", "c"]), as_categories(["c", "x"])
    one.entries.among(other.entries)
    monkeypatch.setattr(Categories, "words", None)
    monkeypatch.setattr(matching, "equal", None)
    both = (Lists(ids, np.array([0]), np.array([len(ids)])) for ids in (one, other))
    assert matches(*both).one.tolist() == [2]


def test_what_another_thread_asks_for_is_not_answered() -> None:
    class Shared(id_columns.Texts):
        """Replaces what is kept at once, as a thread may that asks among other ids."""

        @property
        def _among(self) -> tuple[IdColumn, Ints]:
            return id_columns.of_python(["c", "b", "a"]), np.array([2, 1, 0])

        @_among.setter
        def _among(self, kept: object) -> None: ...

    asked = Shared(id_columns.of_python(["a", "b", "c"]).values)
    assert asked.among(id_columns.of_python(["a", "b", "x"])).tolist() == [0, 1, 5]
