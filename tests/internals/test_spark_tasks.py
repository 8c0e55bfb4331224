"""The tasks that Spark runs: what they send, and what they do when memory is short."""

from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import germane
import germane.spark
from germane import spark as tasks
from germane.errors import InputError
from germane.readers.objects import arrow

from spark_stub import Session
from test_spark import QRELS, RUN, compared, evaluated


def test_a_partition_that_memory_cannot_hold_is_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*given: object) -> None:
        raise MemoryError

    monkeypatch.setattr("germane.spark.join_rows", fail)
    with pytest.raises(InputError, match=r"do not fit into the memory of the task.*largest query"):
        evaluated(QRELS, RUN)


def test_rows_that_arrow_cannot_hold_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two gigabytes of text; here, five rows."""

    def in_fives(records: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        return pa.Table.from_batches(records).to_batches(max_chunksize=5)  # type: ignore[no-any-return]

    monkeypatch.setattr(arrow, "combine", in_fives)
    assert compared(Session(), QRELS, RUN, "AP nDCG@10 NumRet")


def test_little_is_sent_to_the_driver() -> None:
    """A part is small beside its rows, which grow by results that nobody judged."""
    sizes = []
    for more in (0, 20_000):
        run = pa.table(
            {
                "query": np.zeros(100 + more, np.int64),
                "item": np.arange(100 + more),
                "score": np.arange(100 + more, dtype=float),
            }
        )
        qrels = pa.table({"query": np.zeros(50, np.int64), "item": np.arange(50)})
        names = [
            germane.readers.objects.headings.Headings.resolve(t.column_names, "run", "run")
            for t in (run,)
        ]
        names.insert(
            0,
            germane.readers.objects.headings.Headings.resolve(qrels.column_names, "qrels", "qrels"),
        )
        packed = [
            batch
            for kind, name, table in zip(("qrels", "run"), names, (qrels, run), strict=True)
            for batch in tasks.pack_rows(kind, name, 1, table.to_batches())
        ]
        start = partial(germane.Evaluator, measures="AP")
        (part,) = tasks.evaluate_blocks(start, packed)
        sizes.append(part.nbytes)
    assert sizes[1] < sizes[0] + 200
    assert sizes[0] < 50 * 100 + 5_000
