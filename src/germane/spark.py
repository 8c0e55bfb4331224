"""germane.spark: evaluates runs that are Spark DataFrames, where their rows are."""

import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from germane import errors
from germane.core.qrels import Qrels
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GermaneError,
    InputError,
    MeasureError,
    PolicyError,
    clip,
)
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.evaluator import Evaluator, Sign, join_evaluators
from germane.evaluation.opening import open_options
from germane.evaluation.result import Result
from germane.kernel.ids import read_bytes
from germane.measures.measure import Measures
from germane.readers import CANDIDATES
from germane.readers.files.column_files import decode_columns
from germane.readers.objects.headings import Headings
from germane.readers.objects.packed_rows import pack_blocks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


PACKED = "bucket int, kind string, rows binary"
STATE = "state binary"
_FILE = b"file"  # what rows were read from, in the metadata of their schema
_NO_IDS = read_bytes([])
NO_QRELS = Qrels([], np.zeros(1, np.int64), _NO_IDS, np.zeros(0), columns=(_NO_IDS, _NO_IDS))


def run_on_files(
    columns: list[str],
    task: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    records: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Run a task on Parquet files, which arrive as their bytes, one after the other."""
    for record in records:
        paths, contents = record.column("path").to_pylist(), record.column("content")
        for path, content in zip(paths, contents, strict=True):
            with _name_in_errors(path), pa.BufferReader(content.as_buffer()) as stream:
                yield from task(_read_rows(path, stream, columns))


@contextmanager
def _name_in_errors(path: str) -> Iterator[None]:
    """Name the file in every error that does not begin with its name."""
    try:
        yield
    except GermaneError as error:
        if str(error).startswith(path):
            raise
        raise type(error)(f"{path}: {error}") from None


def _read_rows(path: str, stream: pa.BufferReader, columns: list[str]) -> Iterator[pa.RecordBatch]:
    for record in decode_columns(path, stream, columns):
        for name in columns:
            if name not in record.schema.names:
                raise FormatError(f"{path}: there is no column {name!r}, which other files have.")
            if record.schema.names.count(name) > 1:
                raise FormatError(f"{path}: two columns are named {name!r}.")
        if record.num_rows:
            yield record.replace_schema_metadata({_FILE: path})


def pack_rows(
    kind: str, names: Headings, buckets: int, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Pack rows of judgments or of a run, one block for each bucket of queries."""
    return pack_blocks(kind, f"{kind} ({_name_task()})", names, buckets, records)


def evaluate_blocks(
    start: Callable[..., Evaluator], records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Reduce all blocks of a partition to an Evaluator, without the rows."""
    tables: dict[str, list[pa.Table]] = {"qrels": [], "run": []}
    with _explain_memory():
        for record in records:
            kinds, blocks = record.column("kind").to_pylist(), record.column("rows")
            for kind, block in zip(kinds, blocks, strict=True):
                tables[kind].append(pa.ipc.open_stream(block.as_buffer()).read_all())
        judged, run = (join_rows(parts) for parts in tables.values())
        if judged is not None or run is not None:
            evaluator = start(NO_QRELS if judged is None else judged)
            if run is not None:
                evaluator.update(run, name=_name_task())
            yield _pack_state(evaluator)


@contextmanager
def _explain_memory() -> Iterator[None]:
    """Explain which rows have to fit the memory of a task, if they do not."""
    try:
        yield
    except MemoryError:
        raise InputError(
            f"{_name_task()}: the rows do not fit into the memory of the task. A task holds one"
            " partition, with all rows of its queries. A larger partitions=… makes partitions"
            " smaller, but the rows of the largest query must fit."
        ) from None


def join_rows(parts: list[pa.Table]) -> pa.Table | None:
    """Join the rows of all files. Raises FormatError for columns of different types."""
    for part in parts:
        for name, first, second in zip(
            part.schema.names, parts[0].schema.types, part.schema.types, strict=True
        ):
            if second != first:
                raise FormatError(
                    f"{_name_file(part)}: the {name} is {second}; in {_name_file(parts[0])} it is"
                    f" {first}."
                )
    return pa.concat_tables(parts) if parts else None


def _name_file(rows: pa.Table) -> str:
    return ((rows.schema.metadata or {}).get(_FILE) or b"partition").decode()


def reduce_rows(
    evaluator: Evaluator, records: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Reduce the rows of a partition to the judged items that they retrieved."""
    with _explain_memory():
        records_read = list(records)
        if records_read:
            yield _pack_state(
                evaluator.reduce(pa.Table.from_batches(records_read), name=_name_task())
            )


def _pack_state(state: Any) -> pa.RecordBatch:
    return pa.record_batch({"state": pa.array([pickle.dumps(state)], pa.binary())})


def _name_task() -> str:
    """Name the stage and partition of a task, as Spark's pages list them."""
    task = sys.modules["pyspark"].TaskContext.get() if "pyspark" in sys.modules else None
    return (
        "partition" if task is None else f"stage {task.stageId()}, partition {task.partitionId()}"
    )


# --- Spark ----------------------------------------------------------------------------------------
#
# Evaluation on Apache Spark: partitions send the driver what they retrieved, and nothing else.
#
# Scattered rows are packed before they are shuffled. A task sorts its rows by bucket, which is a
# hash of the query, and sends one block of bytes for each bucket. Judgments and results of a query
# then meet in one partition, and the shuffle moves a few thousand blocks instead of every row.


class Evaluation(NamedTuple):
    """A result, and the values of its queries as a Spark DataFrame.

    ``per_query`` has a column ``query`` and one a measure, as ``Result.to_arrow`` has them.
    """

    result: Result
    per_query: "DataFrame"


def evaluate(
    qrels: "DataFrame",
    run: "DataFrame | str",
    measures: Measures = DEFAULT,
    *,
    name: str = "run",
    rows: Literal["scattered", "together"] = "scattered",
    partitions: int | None = None,
    sign: Sign = "qrels",
    **policy: Unpack[Choices],
) -> Evaluation:
    """Judge a run, a Spark DataFrame or Parquet files, against qrels, and compute measures.

    >>> evaluation = germane.spark.evaluate(qrels, run, "AP nDCG@10")  # doctest: +SKIP
    >>> evaluation.result["AP"].mean  # doctest: +SKIP
    0.75
    >>> evaluation.per_query.where("AP < 0.1")  # doctest: +SKIP
    DataFrame[query: bigint, AP: double, nDCG@10: double]

    A path is that of a file or of a folder, with all folders inside, or a pattern. Tasks then
    decode whole files themselves, which costs far less than rows that Spark decodes. A value that
    stands only in the name of a folder (``query=q1``) is no column of a file; a DataFrame has it.

    Arguments and numbers are those of ``germane.evaluate``, to the last bit. Columns are found by
    their names, or named by ``columns=``. Rows of a DataFrame have no order, so that ``ties=given``
    needs a run with ranks and no scores, and of ``duplicates`` there are error, max and again.

    ``rows="scattered"``: the rows of a query may stand in several partitions or files, and all rows
    are shuffled into ``partitions`` partitions. ``rows="together"``: they stand in one partition or
    file, as in a file that was written query by query; nothing is shuffled, and every task has all
    judgments. ``sign="run"`` hashes all rows, so that ``result.signature`` has the fingerprint of
    the run. A task holds a partition in memory, so that all rows of a query have to fit. The driver
    holds the judgments and the hits, in about 100 bytes for each.

    Raises what ``evaluate`` raises, and DuplicateError for a query whose rows are not together;
    errors in the data name the stage and the partition that Spark lists. Spark raises its own
    errors, such as for a corrupt file.
    """
    spark = qrels.sparkSession
    _refuse_partial(spark)
    _check(rows, partitions, policy)
    columns = Headings.read_columns(policy.pop("columns", None))
    judged = Side.of("qrels", qrels, columns)
    if isinstance(run, str):
        folders = {"recursiveFileLookup": "true"}  # those inside would be left out
        files = spark.read.options(**folders).format("binaryFile").load(run)
        rows_of = spark.read.options(**folders).parquet(run)
        retrieved = Side.of("run", rows_of, columns)._replace(files=files.select("path", "content"))
    else:
        retrieved = Side.of("run", run, columns)
    _check_policies(judged.names, retrieved.names, measures, policy)
    choices: Any = open_options(policy).choices  # files are those of the driver
    start = partial(Evaluator, measures=measures, sign=sign, **choices)
    with _raise_own_errors():
        if rows == "together":
            evaluator = _evaluate_in_place(judged, retrieved, partial(start, columns=columns))
        else:
            evaluator = _shuffle(judged, retrieved, partitions, start)
    try:
        result = evaluator.result(name=name)
    except EmptyError:
        raise EmptyError("run: there are no rows.") from None
    result.id_names = judged.names.id_names
    return Evaluation(result, spark.createDataFrame(_restore_types(result)))


class Side(NamedTuple):
    """A DataFrame of qrels or of a run, and the meaning of its columns."""

    kind: str
    frame: "DataFrame"
    names: Headings
    files: "DataFrame | None" = None  # the Parquet files that it is read from, as paths and bytes

    @classmethod
    def of(cls, kind: str, frame: "DataFrame", columns: Any) -> "Side":
        """Find or check the columns of a DataFrame."""
        names = Headings.resolve(frame.columns, kind, kind, columns)
        if names.lists:
            raise FormatError(
                f"{kind}: the cells of {names.item!r} are lists, but a row of a DataFrame is one"
                " item. Lists of structs, as ALS has them, become rows with"
                f" frame.selectExpr({names.query!r}, 'inline({names.item})'), and lists of items"
                f" with frame.selectExpr({names.query!r}, 'posexplode({names.item}) AS (rank,"
                " item)')."
            )
        if names.unordered:
            raise FormatError(names.unordered)
        return cls(kind, frame, replace(names, subtopic=None, iteration=None))

    @property
    def columns(self) -> "DataFrame":
        """The columns that are read."""
        return self.frame.select(*map(self.select, self.names.all))

    def run_task(self, task: Callable[..., Any], schema: str) -> "DataFrame":
        """Run a task on the record batches of these columns, partition by partition."""
        if self.files is None:
            return self.columns.mapInArrow(task, schema)
        return self.files.mapInArrow(partial(run_on_files, self.names.all, task), schema)

    def select(self, name: str) -> "Column":
        """Select a column, whatever letters its name has."""
        quoted = name.replace("`", "``")
        return self.frame[f"`{quoted}`"]


# --- On the driver ----------------------------------------------------------------------------


def _check(rows: str, partitions: int | None, policy: Mapping[str, Any]) -> None:
    """Refuse arguments that do not fit DataFrames, or each other."""
    for choices, why in _REFUSED.items():
        for choice in choices:
            if policy.get(choice) is not None:
                raise InputError(f"{choice}= is not for DataFrames{why}")
    if rows not in ("scattered", "together"):
        raise InputError(f"rows= takes scattered or together; got {clip(rows)}")
    if partitions is not None and (type(partitions) is not int or partitions < 1):
        raise InputError(f"partitions= takes a positive whole number; got {clip(partitions)}")


_REFUSED = {
    ("input_format", "group"): ", which have columns.",
    ("collapse", "query_ids", "item_ids"): (
        ". A join adds a column, and groupBy(query, group) with max(score) collapses rows."
    ),
    ("ignore",): (
        " of Spark: a join of type left_anti on query and item takes the junk out of the run, and"
        " another one out of the qrels."
    ),
    CANDIDATES: (
        " of Spark: a join of type left_anti or left_semi on query and item selects the candidates"
        " of the run."
    ),
}


def _refuse_partial(spark: "SparkSession") -> None:
    """Refuse a session that skips files it cannot read: the numbers would be those of a part."""
    for setting in ("ignoreCorruptFiles", "ignoreMissingFiles"):
        if str(spark.conf.get(f"spark.sql.files.{setting}", "false")).strip().lower() == "true":
            raise InputError(
                f"spark.sql.files.{setting} is true, so a file that cannot be read would silently"
                " be left out of the numbers. Set it to false."
            )


def _check_policies(
    judged: Headings,
    retrieved: Headings,
    measures: Measures,
    policy: Mapping[str, Any],
) -> None:
    """Refuse conventions that depend on the order of rows, since rows of a DataFrame have none."""
    scored, graded = retrieved.score is not None, judged.relevance is not None
    options = open_options(policy)
    plan = options.make_plan(measures, options.make_policy("trec" if scored else "given", scored))
    if plan.needs.subtopics:
        raise MeasureError(
            f"{plan.needs.subtopics}: judgments of subtopics cannot be read from DataFrames of"
            " Spark. Collect them, and evaluate batches of the run with germane.Evaluator."
        )
    for group in plan.groups:
        if group.ties == "given" and scored:
            raise PolicyError(
                "ties=given is the order of rows, which a DataFrame does not have; choose"
                " ties=trec, expected, best or worst, or use ranks: columns={'score': None, 'rank':"
                " name}."
            )
        for copies, refused in (
            ("duplicates", group.duplicates in ("first", "last", "keep")),
            ("repeated", graded and group.judged_twice == "first"),
        ):
            if refused:
                raise PolicyError(
                    f"{copies}={getattr(group, copies)} depends on the order of rows, "
                    "which a DataFrame does not have; choose duplicates=max, recount or error."
                )


def _shuffle(
    judged: Side,
    retrieved: Side,
    partitions: int | None,
    start: Callable[..., Evaluator],
) -> Evaluator:
    """Evaluate after a shuffle: each partition gets the judgments and results of some queries."""
    spark = retrieved.frame.sparkSession
    buckets = partitions or int(spark.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    judgments, results = (
        side.run_task(partial(pack_rows, side.kind, side.names, buckets), PACKED)
        for side in (judged, retrieved)
    )
    # without a number Spark joins small partitions by itself
    spread = [] if partitions is None else [partitions]
    parts = judgments.unionAll(results).repartition(*spread, "bucket")
    states = _collect_states(parts.mapInArrow(partial(evaluate_blocks, start), STATE))
    return join_evaluators(states or [start(NO_QRELS)])


def _evaluate_in_place(judged: Side, retrieved: Side, start: Callable[..., Evaluator]) -> Evaluator:
    """Evaluate without a shuffle: each partition has all rows of its queries and all judgments."""
    evaluator = start(judged.columns.toArrow())
    assert evaluator.terms.words  # described once, for all tasks
    parts = retrieved.run_task(partial(reduce_rows, evaluator), STATE)
    for state in _collect_states(parts):
        try:
            evaluator.add(state)
        except DuplicateError as error:
            queries = str(error).partition(" arrived before")[0]
            raise DuplicateError(
                f"with rows=together, there are rows of {queries} in more than one partition or"
                " file; rows=scattered brings them together."
            ) from None
    return evaluator


def _collect_states(parts: "DataFrame") -> list[Any]:
    return [pickle.loads(state.as_buffer()) for state in parts.toArrow().column("state")]


@contextmanager
def _raise_own_errors() -> Iterator[None]:
    """Raise an error of germane on an executor as the same error here; Spark passes on its text."""
    try:
        yield
    except Exception as error:
        match = _RAISED.search(str(error))
        if match is None:
            raise
        raise getattr(errors, match[1])(match[2]) from None


_RAISED = re.compile(r"^germane\.errors\.(\w+Error): (.*)$", re.MULTILINE)


def _restore_types(result: Result) -> pa.Table:
    """Make a table of the values of each query, in which integer ids stay integers."""
    table, queries = result.to_arrow(), next(iter(result.values())).queries
    if any(not isinstance(query, int) for query in queries):
        return table
    return table.set_column(0, table.column_names[0], pa.array(queries, pa.int64()))
