"""Evaluating on Apache Spark: what every partition retrieved goes to the driver, and nothing else.

Scattered rows are packed before they are shuffled: a task sorts its rows by bucket, which is a hash of the query, and
hands on one block of bytes a bucket. Judgments and results of a query then meet in one partition, and the
shuffle moves a few thousand blocks where it would move every row.
"""

import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from germane import errors
from germane._records import as_dict
from germane.choices import DEFAULT, Choices, policies_of, policy_of, spoken_of
from germane.errors import DuplicateError, InputError, PolicyError, clip
from germane.evaluator import Evaluator, joined
from germane.measure import Measures
from germane.result import Result
from germane.retrieval import Qrels
from germane.sources import arrow, headings, id_columns
from germane.sources.arrow import Place
from germane.sources.headings import Headings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from germane.dialects import Dialect

CHUNK = 1 << 20  # rows that a task packs at a time
_PACKED = "bucket int, kind string, rows binary"
_STATE = "state binary"
_NO_IDS = id_columns.of_python([])
_NO_QRELS = Qrels([], np.zeros(1, np.int64), _NO_IDS, np.zeros(0), columns=(_NO_IDS, _NO_IDS))


class Evaluation(NamedTuple):
    """A result, and the values of its queries as a Spark DataFrame.

    ``per_query`` has a column ``query`` and one a measure, as ``Result.to_arrow`` has them.
    """

    result: Result
    per_query: "DataFrame"


def evaluate(
    qrels: "DataFrame",
    run: "DataFrame",
    measures: Measures = DEFAULT,
    *,
    name: str = "run",
    rows: Literal["scattered", "together"] = "scattered",
    partitions: int | None = None,
    dialect: "str | Dialect | None" = None,
    **policy: Unpack[Choices],
) -> Evaluation:
    """Judge a run against qrels, both of them Spark DataFrames, and compute measures.

    >>> evaluation = germane.spark.evaluate(qrels, run, "AP nDCG@10")  # doctest: +SKIP
    >>> evaluation.result["AP"].mean  # doctest: +SKIP
    0.75
    >>> evaluation.per_query.where("AP < 0.1")  # doctest: +SKIP
    DataFrame[query: bigint, AP: double, nDCG@10: double]

    Arguments and numbers are those of ``germane.evaluate``, to the last bit. Columns are found by
    their names, or named by ``columns=``. Rows of a DataFrame have no order, so that ``ties=given``
    needs a run with ranks and no scores, and of ``duplicates`` there are error, max and again.

    ``rows`` says where those of a query stand: ``scattered`` over partitions, so that all rows are
    shuffled, into as many ``partitions`` as are asked for; or ``together`` in one, as a file that was
    written query by query has them: then nothing is shuffled, and every task has all judgments.
    A partition is held in memory, and on the driver the judgments with what was retrieved of them,
    in about 100 bytes a row and a judgment.

    Raises what ``evaluate`` raises, and DuplicateError for a query whose rows are not together; errors
    in the data name the stage and the partition that Spark lists. What Spark itself cannot do, such as
    reading a corrupt file, is its own error.
    """
    spark = run.sparkSession
    _refuse_partial(spark)
    for choice in ("input_format", "group"):
        if policy.get(choice) is not None:
            raise InputError(f"{choice}= is not for DataFrames, which have columns.")
    if rows not in ("scattered", "together"):
        raise InputError(f"rows= takes scattered or together; got {clip(rows)}")
    columns = policy.pop("columns", None)
    headings.check(columns)
    judged, retrieved = (
        Side(kind, frame, headings.resolve(frame.columns, kind, kind, columns))
        for kind, frame in (("qrels", qrels), ("run", run))
    )
    _refuse_order(judged.names, retrieved.names, measures, dialect, policy)
    start = partial(Evaluator, measures=measures, dialect=dialect, **policy)
    with _own_errors():
        if rows == "together":
            evaluator = _in_place(judged, retrieved, partial(start, columns=columns))
        else:
            evaluator = _shuffled(judged, retrieved, partitions, start)
    result = evaluator.result(name=name)
    return Evaluation(result, spark.createDataFrame(_typed(result)))


class Side(NamedTuple):
    """A DataFrame of qrels or of a run, and which of its columns is what."""

    kind: str
    frame: "DataFrame"
    names: Headings

    @property
    def chosen(self) -> "DataFrame":
        """The columns that are read."""
        quoted = (name.replace("`", "``") for name in self.names.all)
        return self.frame.select(*(self.frame[f"`{name}`"] for name in quoted))


# --- On the driver ---------------------------------------------------------------------------------


def _refuse_partial(spark: "SparkSession") -> None:
    """Refuse a session that passes over what it cannot read: the numbers would be those of a part."""
    for setting in ("ignoreCorruptFiles", "ignoreMissingFiles"):
        if spark.conf.get(f"spark.sql.files.{setting}", "false") == "true":
            raise InputError(
                f"spark.sql.files.{setting} is true: a file that cannot be read would be left out of "
                "the numbers without a word. Set it to false."
            )


def _refuse_order(
    judged: Headings,
    retrieved: Headings,
    measures: Measures,
    dialect: "str | Dialect | None",
    policy: Mapping[str, Any],
) -> None:
    """Refuse conventions that go by the order of rows, which those of a DataFrame do not have."""
    scored, graded = retrieved.score is not None, judged.relevance is not None
    spoken, own = spoken_of(dialect)
    conventions = policy_of(**{"ties": "trec" if scored else "given", **own, **policy})
    policies = policies_of(measures, spoken, conventions, policy)
    for one in dict.fromkeys(policies.values()):
        if one.ties == "given" and scored:
            raise PolicyError(
                "ties=given is the order of rows, and rows of a DataFrame have none; choose "
                "ties=trec, expected, best or worst, or go by ranks: columns={'score': None, 'rank': "
                "name}."
            )
        for copies, refused in (
            ("duplicates", one.duplicates in ("first", "last", "keep")),
            ("repeated", graded and one.judged_twice == "first"),
        ):
            if refused:
                raise PolicyError(
                    f"{copies}={getattr(one, copies)} goes by the order of rows, and rows of a "
                    "DataFrame have none; choose duplicates=max, again or error."
                )


def _shuffled(
    judged: Side, retrieved: Side, partitions: int | None, start: Callable[..., Evaluator]
) -> Evaluator:
    """Every partition gets the judgments and the results of some of the queries."""
    spark = retrieved.frame.sparkSession
    buckets = int(spark.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    if partitions is not None:
        if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1:
            raise InputError(f"partitions= takes a positive whole number; got {clip(partitions)}")
        buckets = partitions
    packed, more = (
        side.chosen.mapInArrow(partial(_packed, side.kind, side.names, buckets), _PACKED)
        for side in (judged, retrieved)
    )
    # without a number Spark itself puts small partitions together
    spread = [] if partitions is None else [partitions]
    parts = packed.unionAll(more).repartition(*spread, "bucket")
    return joined(_states(parts.mapInArrow(partial(_evaluated, start), _STATE)))


def _in_place(judged: Side, retrieved: Side, start: Callable[..., Evaluator]) -> Evaluator:
    """Every partition of the run has all rows of its queries; their judgments go to all of them."""
    evaluator = start(judged.chosen.toArrow())
    parts = retrieved.chosen.mapInArrow(partial(_reduced, evaluator), _STATE)
    for reduced in _states(parts):
        try:
            evaluator.add(reduced)
        except DuplicateError as error:
            queries = str(error).partition(" arrived before")[0]
            raise DuplicateError(
                f"rows=together, and there are rows of {queries} in more than one partition; "
                "rows=scattered brings them together."
            ) from None
    return evaluator


def _states(parts: "DataFrame") -> list[Any]:
    return [pickle.loads(state.as_buffer()) for state in parts.toArrow().column("state")]


@contextmanager
def _own_errors() -> Iterator[None]:
    """Raise what germane raised on an executor as itself: Spark hands it on as a text."""
    try:
        yield
    except Exception as error:
        found = _RAISED.search(str(error))
        if found is None:
            raise
        raise getattr(errors, found[1])(found[2]) from None


_RAISED = re.compile(r"^germane\.errors\.(\w+Error): (.*)$", re.MULTILINE)


def _typed(result: Result) -> pa.Table:
    """The values of each query; ids that are integers stay integers."""
    table, queries = result.to_arrow(), next(iter(result.values())).queries
    if any(not isinstance(query, int) for query in queries):
        return table
    return table.set_column(0, "query", pa.array(queries, pa.int64()))


# --- On executors ----------------------------------------------------------------------------------


def _packed(
    kind: str, names: Headings, buckets: int, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Rows of judgments or of a run as blocks of bytes, one a bucket of queries."""
    where = f"{kind} ({_place()})"
    held: list[pa.RecordBatch] = []
    rows = row = 0
    for record in records:
        held.append(record)
        rows += record.num_rows
        if rows >= CHUNK:
            yield _blocks(pa.Table.from_batches(held), kind, names, buckets, where, row)
            held, row, rows = [], row + rows, 0
    if rows:
        yield _blocks(pa.Table.from_batches(held), kind, names, buckets, where, row)


def _blocks(
    table: pa.Table, kind: str, names: Headings, buckets: int, where: str, row: int
) -> pa.RecordBatch:
    record = table.combine_chunks().to_batches()[0]
    query = _checked(record, names, where, row)
    record = pa.record_batch(
        {part: record.column(name) for part, name in as_dict(names).items() if name is not None}
    )
    bucket = ((query.words() >> np.uint64(32)) % np.uint64(buckets)).astype(np.uint32)
    if buckets <= 1 << 16:
        bucket = bucket.astype(np.uint16)  # which are sorted without comparisons
    record = record.take(pa.array(np.argsort(bucket, kind="stable")))
    sizes = np.bincount(bucket, minlength=buckets)
    present, ends = np.flatnonzero(sizes), np.cumsum(sizes)
    blocks = [_block(record.slice(ends[b] - sizes[b], sizes[b])) for b in present.tolist()]
    return pa.record_batch(
        {
            "bucket": pa.array(present, pa.int32()),
            "kind": pa.array([kind] * len(blocks)),
            "rows": pa.array(blocks, pa.binary()),
        }
    )


def _checked(record: pa.RecordBatch, names: Headings, where: str, row: int) -> id_columns.IdColumn:
    """The queries of the rows. Raises FormatError, ScoreError or GradeError for what cannot be read."""
    query, _ = (
        arrow.ids(record.column(name), Place(where, name, row))
        for name in (names.query, names.item)
    )
    for name, what in (
        (names.score, "score"),
        (names.rank, "rank"),
        (names.relevance, "relevance grade"),
    ):
        if name is not None:
            arrow.numbers(record.column(name), Place(where, name, row), what)
    return query


def _block(record: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, record.schema) as writer:
        writer.write_batch(record)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _evaluated(
    start: Callable[..., Evaluator], records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What all blocks of a partition come to: an Evaluator, without the rows."""
    tables: dict[str, list[pa.Table]] = {"qrels": [], "run": []}
    for record in records:
        for kind, block in zip(
            record.column("kind").to_pylist(), record.column("rows"), strict=True
        ):
            tables[kind].append(pa.ipc.open_stream(block.as_buffer()).read_all())
    if not any(tables.values()):
        return
    judged, run = (pa.concat_tables(parts) if parts else None for parts in tables.values())
    evaluator = start(_NO_QRELS if judged is None else judged)
    if run is not None:
        evaluator.update(run, name=_place())
    yield _state(evaluator)


def _reduced(evaluator: Evaluator, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What the rows of a partition retrieved of the judgments."""
    held = list(records)
    if held:
        yield _state(evaluator.reduce(pa.Table.from_batches(held), name=_place()))


def _state(of: Any) -> pa.RecordBatch:
    return pa.record_batch({"state": pa.array([pickle.dumps(of)], pa.binary())})


def _place() -> str:
    """Where a task runs, as Spark's pages list it."""
    task = sys.modules["pyspark"].TaskContext.get() if "pyspark" in sys.modules else None
    return (
        "partition" if task is None else f"stage {task.stageId()}, partition {task.partitionId()}"
    )
