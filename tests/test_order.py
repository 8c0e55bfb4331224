"""Ranks of some rows among those of their query, against counting in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane import _ragged
from germane.retrieval import AS_GIVEN, BY_ID, Order
from germane.sources import binary, order
from germane.sources.id_columns import Integers
from germane.sources.rows import Batch, Rows

SCORES = st.sampled_from([-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0, np.inf]) | st.floats(
    allow_nan=False, width=32
)
LISTS = st.lists(st.lists(SCORES, max_size=40), min_size=1, max_size=12)
EVEN = st.integers(1, 30).flatmap(
    lambda size: st.lists(st.lists(SCORES, min_size=size, max_size=size), min_size=1, max_size=8)
)


def batch(lists: list[list[float]]) -> Batch:
    """Lists of scores whose items are 3, 2, 1, 3, 2, 1, … with their place behind: ids that do not rise."""
    ids = [int(f"{3 - i % 3}{i}") for scores in lists for i in range(len(scores))]
    score = np.array([one for scores in lists for one in scores], float)
    items = Integers(np.array(ids, np.int64))
    return Batch(
        np.arange(len(lists)),
        _ragged.offsets([len(scores) for scores in lists]),
        Rows(items, items, score, None),
    )


def expected(rows: Batch, row: int, group: int, equal: Order) -> tuple[int, int, int]:
    start, end = rows.offsets[group : group + 2].tolist()
    scores, ids = rows.rows.score, rows.rows.item.python
    assert scores is not None
    higher = sum(scores[i] > scores[row] for i in range(start, end))
    alike = [i for i in range(start, end) if scores[i] == scores[row]]
    if equal == BY_ID:
        alike.sort(key=lambda i: str(ids[i]), reverse=True)
    return higher + alike.index(row) + 1, higher + 1, higher + len(alike)


@given(lists=LISTS | EVEN, equal=st.sampled_from([BY_ID, AS_GIVEN]), data=st.data())
@pytest.mark.parametrize("one_of", [1, 3, 30])
@pytest.mark.parametrize("ids", ["integers", "texts in a file"])
def test_ranks_count_what_is_higher(
    ids: str, one_of: int, lists: list[list[float]], equal: Order, data: st.DataObject
) -> None:
    rows = batch(lists)
    total = int(rows.offsets[-1])
    asked = st.lists(st.integers(0, max(0, total - 1)), unique=True, max_size=-(-total // one_of))
    row = np.array(sorted(data.draw(asked)) if total else [], np.int64)
    group = rows.owner[row].astype(np.int64)
    assert rows.rows.score is not None
    items = rows.rows.item
    texts = binary.spans([b"%d" % one for one in items.python])
    found = items if ids == "integers" else texts
    got = order.ranks(found, rows.offsets, rows.rows.score, row, group, equal)
    wanted = [
        expected(rows, r, g, equal) for r, g in zip(row.tolist(), group.tolist(), strict=True)
    ]
    assert list(zip(*(column.tolist() for column in got), strict=True)) == wanted


@pytest.mark.parametrize("lengths", [[100] * 50, list(range(0, 200, 3))])
def test_few_rows_that_are_not_tied_need_no_order_of_all(
    lengths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    rows = batch([rng.permutation(size).astype(float).tolist() for size in lengths])
    monkeypatch.delattr(_ragged, "falling")
    row = np.arange(0, rows.offsets[-1], 20)
    group = rows.owner[row].astype(np.int64)
    score = rows.rows.score
    assert score is not None
    rank, first, last = order.ranks(rows.rows.item, rows.offsets, score, row, group, BY_ID)
    size = np.array(lengths)[group]
    assert rank.tolist() == (size - score[row]).tolist()  # scores are 0 … size - 1
    assert rank is first
    assert rank is last


@given(rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=6))
def test_rows_that_stand_in_order(rows: list[tuple[int, int]]) -> None:
    owner, values = (np.array(column, np.int64) for column in zip(*rows or [(0, 0)], strict=True))
    assert _ragged.ascends(values, owner) == (rows == sorted(rows))


@given(lists=LISTS | EVEN)
def test_rows_are_sorted_each_for_itself(lists: list[list[float]]) -> None:
    values, ends = batch(lists).rows.score, batch(lists).offsets
    assert values is not None
    rising = [one for scores in lists for one in sorted(scores)]
    falling = [one for scores in lists for one in sorted(scores, reverse=True)]
    assert _ragged.sorted_rows(values, ends).tolist() == rising
    assert _ragged.sorted_descending(values, ends).tolist() == falling
    assert values[_ragged.falling(values, ends)].tolist() == falling
