"""Columns of ids in every layout of Arrow, and the pieces in which rows are read."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.kernel import plain
from germane.kernel.ids import Ids, as_integer, read_python_ids
from germane.kernel.reduction import find_distinct
from germane.readers.objects import arrow
from germane.readers.objects.frames import open_frame
from germane.readers.rows import cut_pieces, read_piece

from sizes import set_sizes


def test_categories_that_another_thread_reads_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that is held keeps its last list of entries, which the other may replace at any time."""
    one, other = (pa.array(ids).dictionary_encode() for ids in (["x", "y"], ["y", "z", "z"]))
    place, waiting, number_ids = arrow.Place("run", "doc_id"), [1], arrow.number_ids

    def interrupted(ids: Ids) -> Any:
        if waiting and waiting.pop():
            assert arrow.read_ids(other, place).python == ["y", "z", "z"]
        return number_ids(ids)

    monkeypatch.setattr(arrow, "number_ids", interrupted)
    assert arrow.read_ids(one, place).python == ["x", "y"]
    assert not waiting


def test_records_of_one_query_are_not_all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, step=40)
    items = {"query_id": np.repeat(np.arange(30), 20), "doc_id": np.tile(np.arange(20), 30)}
    frame = open_frame(pa.table({**items, "rank": items["doc_id"] + 1}), "run")
    records = next(frame.records())
    several = [records.slice(start, 20) for start in range(0, 600, 20)]
    frame = replace(frame, records=lambda: iter(several))
    pieces = [read_piece(frame, piece) for piece in cut_pieces(frame)]
    assert [query for piece in pieces for query in piece.queries] == list(range(30))
    assert max(len(piece.items) for piece in pieces) <= 60


TEXT = st.text(st.sampled_from("ab\0é"), max_size=15)


@given(ids=st.lists(TEXT, min_size=1, max_size=12))
def test_ids_are_the_same_in_every_layout(ids: list[str]) -> None:
    here = arrow.Place("here", "id")
    columns = [
        arrow.read_ids(array, here)
        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary())
        for array in (pa.array(ids, kind), pa.array(["x", *ids, "y"], kind)[1:-1])
    ]
    columns.append(arrow.read_ids(pa.array(ids).dictionary_encode(), here))
    columns.append(read_python_ids(ids))
    distinct = list(dict.fromkeys(ids))
    for column in columns:
        assert list(column) == ids
        assert list(column.as_text().compact()) == ids
        starts = [0, *(at for at in range(1, len(ids)) if ids[at] != ids[at - 1])]
        assert plain.find_changes(column).tolist() == starts
        for other in columns:
            among = other.take(np.array([ids.index(one) for one in distinct]))
            assert plain.find_ids(column, among).tolist() == list(map(distinct.index, ids))
        first, place = find_distinct(column)
        assert [ids[at] for at in first] == distinct
        assert [distinct[at] for at in place] == ids


def test_large_text_on_both_sides_of_two_gibibytes() -> None:
    from germane.readers.objects import arrow

    middle = 2**31
    data = np.zeros(middle + 8, np.uint8)  # nearly all of which nobody touches
    data[middle - 5 : middle + 3] = np.frombuffer(b"abcdefgh", np.uint8)
    offsets = middle + np.array([-5, -2, 0, 3])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.large_string(), 3, buffers)
    assert list(arrow.read_ids(array, arrow.Place("here", "id"))) == ["abc", "de", "fgh"]


@pytest.mark.parametrize("item", ["07", "-1", "1.0", "\u0661", "9" * 20, "9" * 5000, ""])
def test_what_is_no_column_of_an_array(item: str) -> None:
    """An id is a number's digits as Python writes them, or is none."""
    assert as_integer(item) == item
    assert as_integer("9" * 19) == 10**19 - 1


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("name", ["int", "uint", "float"])
def test_numbers_of_arrow_are_numbers_of_numpy(name: str, bits: int) -> None:
    """What Arrow says itself, which in its versions 18 to 21 asks pandas for it."""
    if (name, bits) != ("float", 8):
        kind = getattr(pa, f"{name}{bits}")()
        assert arrow._find_dtype(kind) == np.dtype(f"{name}{bits}") == kind.to_pandas_dtype()


def test_nothing_of_a_record_is_kept_with_its_first_and_last_query(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_sizes(monkeypatch, step=1000)
    monkeypatch.setenv("GERMANE_THREADS", "2")
    held = []

    def records() -> Iterator[pa.RecordBatch]:
        for number in range(50):
            held.append(pa.total_allocated_bytes())
            queries = pa.array(np.arange(1000) // 10 + number * 100).cast(pa.string())
            items = pa.array([f"{'d' * 1000}{i}" for i in range(1000)])
            yield pa.record_batch([queries, items, pa.array(np.arange(1000) % 10 + 1)], names)

    names = ["query_id", "doc_id", "rank"]
    frame = replace(open_frame(next(records()), "run"), records=records)
    qrels = {str(query): [f"{'d' * 1000}7"] for query in range(0, 5000, 100)}
    assert germane.evaluate(qrels, frame, "RR")["RR"].mean == 1 / 8
    assert max(held) - min(held) < 8_000_000  # of 50 million
