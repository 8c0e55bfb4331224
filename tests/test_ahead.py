"""Reading ahead: the same items and errors, at most one of them before it is asked for."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import germane
from germane.sources import parquet_files
from germane.sources.ahead import ahead


def counted(made: list[int], error_at: int | None = None) -> Iterator[int]:
    for number in range(5):
        if number == error_at:
            raise EOFError("no more")
        made.append(threading.get_ident() == threading.main_thread().ident)
        yield number


def test_the_items_in_their_order() -> None:
    made: list[int] = []
    assert list(ahead(counted(made))) == [0, 1, 2, 3, 4]
    assert made == [False] * 5  # by another thread
    assert list(ahead(iter(()))) == []


def test_one_item_is_made_before_it_is_asked_for() -> None:
    made: list[int] = []
    items = ahead(counted(made))
    assert not made
    assert next(items) == 0
    items.close()  # waits for the one that is being made
    assert len(made) == 2


def test_an_error_comes_where_the_item_would() -> None:
    items = ahead(counted([], error_at=2))
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(EOFError, match="no more"):
        next(items)


def test_parquet_files_are_decoded_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "MANY", 1)
    run = pa.table({
        "query": [f"q{n // 10}" for n in range(200)],
        "item": [f"d{n % 10}" for n in range(200)],
        "score": [float(n % 7) for n in range(200)],
    })  # fmt: skip
    pq.write_table(run, tmp_path / "run.parquet", row_group_size=15, compression="none")
    qrels = {f"q{n}": {"d3": 1, "d8": 1} for n in range(20)}
    found = germane.evaluate(qrels, tmp_path / "run.parquet", "AP")
    assert found["AP"].per_query == germane.evaluate(qrels, run, "AP")["AP"].per_query
    data = bytearray((tmp_path / "run.parquet").read_bytes())
    at = pq.read_metadata(tmp_path / "run.parquet").row_group(7).column(1).data_page_offset
    data[at : at + 9] = bytes(9)
    (tmp_path / "run.parquet").write_bytes(data)
    with pytest.raises(germane.InputError, match=r"run\.parquet, row group 7: cannot be read"):
        germane.evaluate(qrels, tmp_path / "run.parquet", "AP")
