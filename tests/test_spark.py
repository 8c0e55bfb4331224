"""Spark: the numbers are those of one machine, bit for bit, and what goes wrong says where.

What is asked of Spark is little enough to stand in for it, so that every measure and convention is
tested without Java; ``pytest -m spark`` runs Spark itself.
"""

import ast
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import germane
import germane.spark
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    MeasureError,
    PolicyError,
    ScoreError,
)
from results import fitting, outcome, same

from sizes import set_sizes
from spark_stub import Session
from strategies import RARE_WORDS, TABLE, WORDS, variants, world
from test_docs import comment_of, matches
from test_docs import run as evaluate_statement


def collection(seed: int = 3, queries: int = 60) -> tuple[pa.Table, pa.Table]:
    """Judgments and scores, many of them tied; some queries are missing and some are not judged."""
    rng = random.Random(seed)
    qrels, run = [], []
    for number, one in enumerate(world(seed, queries)):
        if number % 9:
            qrels += [(f"q{number}", item, grade) for item, grade in one.judged.items()]
        if number % 7:
            run += [(f"q{number}", item, float(rng.randint(0, 3))) for item in one.ranked]
    return rows(qrels, "relevance"), rows(run, "score")


def rows(given: list[tuple[Any, Any, float]], number: str) -> pa.Table:
    query, item, numbers = zip(*given, strict=True)
    return pa.table({"query": query, "item": item, number: numbers})


def ranked(run: pa.Table) -> pa.Table:
    """The same with ranks in the place of scores."""
    place: dict[str, int] = {}
    ranks = []
    for query in run["query"].to_pylist():
        place[query] = place.get(query, 0) + 1
        ranks.append(place[query])
    return pa.table({"query": run["query"], "item": run["item"], "rank": ranks})


def integers(table: pa.Table) -> pa.Table:
    """The same with whole numbers as ids."""
    ids = {"d": 0, "u": 1_000, "q": 0}
    for at, name in enumerate(("query", "item")):
        numbers = [ids[text[0]] + int(text[1:]) for text in table[name].to_pylist()]
        table = table.set_column(at, name, pa.array(numbers, pa.int64()))
    return table


QRELS, RUN = collection()
TWICE = pa.concat_tables([RUN, RUN.slice(0, 40)])
REFUSED = {"ties": "given", "duplicates": ("first", "last", "keep"), "repeated": "once"}
CHOICES: list[dict[str, Any]] = [
    {name: word}
    for name, words in (WORDS | RARE_WORDS).items()
    for word in words
    if word not in REFUSED.get(name, ())
]
ALL_MEASURES = [germane.types.Measure(row.name) for row in TABLE]
CHOICES += [{"depth": 3}, {"min_score": 1.0}, {"digits": 2}, {"query_digits": 1}]
CHOICES += [{"depth": 2, "unjudged": "remove", "ties": ties} for ties in ("trec", "best", "worst")]


def compared(
    session: Any,
    qrels: pa.Table,
    run: pa.Table,
    measures: Any,
    **choices: Any,
) -> bool:
    """Is there a result? It must then be that of one machine, and otherwise the same error."""
    frames = map(session.createDataFrame, (qrels, run))
    spread = outcome(germane.spark.evaluate, *frames, measures, **choices)
    whole = outcome(germane.evaluate, qrels, run, measures, **choices)
    if isinstance(spread, str) or isinstance(whole, str):
        assert spread == whole
    else:
        same(spread, whole)
    return not isinstance(whole, str)


# --- The numbers, in the place of Spark ------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_measure_is_that_of_one_machine(row: Any) -> None:
    assert compared(Session(), QRELS, RUN, list(variants(row)))


@pytest.mark.slow
@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_every_convention_is_that_of_one_machine(choices: dict[str, Any]) -> None:
    repeated = choices.get("duplicates", "error") != "error"  # which not all measures can have
    run, measures = (
        (TWICE, "AP RR P@2") if repeated else (RUN, fitting(ALL_MEASURES, choices.get("ties")))
    )
    refused = dict.fromkeys(("missing", "no_relevant", "unknown", "no_hit"), "error")
    refused |= {"grades": "binary", "ranks": "places"}  # which are for ranks without scores
    (name, word), *_ = choices.items()
    got = compared(Session(), QRELS, run, measures, **choices)
    assert got != (refused.get(name) == word)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", list(germane.dialects()))
def test_every_dialect_is_that_of_one_machine(dialect: str) -> None:
    """With ranks, so that no order of rows matters; some dialects go by one even then."""
    given = QRELS, ranked(RUN), "AP P@2 RR"
    frames = map(Session().createDataFrame, given[:2])
    spread = outcome(germane.spark.evaluate, *frames, given[2], dialect=dialect)
    whole = outcome(germane.evaluate, *given, dialect=dialect)
    if isinstance(spread, str) or isinstance(whole, str):
        assert spread in (whole, "PolicyError")
    else:
        same(spread, whole)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("partitions", [None, 1, 2, 40])
def test_partitions_make_no_difference(seed: int, partitions: int | None) -> None:
    session = Session(seed=seed)
    frames = [session.createDataFrame(integers(table)) for table in (QRELS, RUN)]
    spread = germane.spark.evaluate(*frames, "AP nDCG@10 R@3", partitions=partitions)
    same(spread.result, germane.evaluate(integers(QRELS), integers(RUN), "AP nDCG@10 R@3"))


@pytest.mark.parametrize("choices", [{}, {"unknown": "zero", "missing": "skip"}, {"ties": "best"}])
def test_rows_that_are_together_stay_where_they_are(choices: dict[str, Any]) -> None:
    session = Session()
    run = session.createDataFrame(RUN).repartition(4, "query")
    qrels = session.createDataFrame(QRELS)
    spread = germane.spark.evaluate(qrels, run, "AP RR", rows="together", **choices)
    same(spread.result, germane.evaluate(QRELS, RUN, "AP RR", **choices))


def test_rows_that_are_not_together_are_an_error() -> None:
    with pytest.raises(
        DuplicateError, match=r"rows of quer.* 'q.*more than one partition or file; rows=sca"
    ):
        evaluated(rows="together")


def written(table: pa.Table, folder: Path, rows: Literal["scattered", "together"]) -> str:
    """A table in four Parquet files of several row groups, query by query or not."""
    queries = pc.dictionary_encode(table["query"]).combine_chunks().indices
    numbers = np.arange(len(table)) if rows == "scattered" else np.asarray(queries)
    folder.mkdir(parents=True)
    for part in range(4):
        inside = table.filter(pa.array(numbers % 4 == part))
        pq.write_table(inside, folder / f"part-{part}.parquet", row_group_size=9)
    return str(folder)


@pytest.mark.parametrize("rows", ["scattered", "together"])
@pytest.mark.parametrize("of", [integers, pa.Table.combine_chunks, ranked])
def test_files_are_what_their_rows_are(rows: Any, of: Any, tmp_path: Path) -> None:
    qrels, run = (integers if of is integers else pa.Table.combine_chunks)(QRELS), of(RUN)
    path = written(run, tmp_path / "run", rows)
    frame = Session().createDataFrame(qrels)
    spread = germane.spark.evaluate(frame, path, "AP nDCG@10", rows=rows).result
    same(spread, germane.evaluate(qrels, run, "AP nDCG@10"))


def of_file(
    change: Callable[[pa.Table], pa.Table], rows: str, folder: Path
) -> germane.types.Result:
    """The result where the second of the files is another one."""
    path = Path(written(RUN, folder / "run", "together")) / "part-1.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    frame = Session().createDataFrame(QRELS)
    chosen: Any = {"rows": rows}
    return germane.spark.evaluate(frame, str(path.parent), "AP", **chosen).result


@pytest.mark.parametrize("rows", ["scattered", "together"])
@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (
            lambda t: t.set_column(2, "score", pa.array([np.nan] * len(t))),
            ScoreError,
            "row 0: .*nan",
        ),
        (lambda t: t.drop(["item"]), FormatError, "no column 'item', which other files have"),
        (
            lambda t: t.append_column("score", t["score"]),
            FormatError,
            "two columns are named 'score'",
        ),
        (lambda t: pa.concat_tables([t, t]), DuplicateError, "item .* is retrieved twice"),
    ],
)
def test_a_bad_file_is_named(
    change: Any, error: type, says: str, rows: str, tmp_path: Path
) -> None:
    named = "part-1.parquet: " if rows == "together" or error is not DuplicateError else ""
    with pytest.raises(error, match=f"{named}.*{says}"):
        of_file(change, rows, tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = Path(written(RUN, tmp_path / "run", "together")) / "part-2.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError, match=r"part-2\.parquet: cannot be read"):
        germane.spark.evaluate(Session().createDataFrame(QRELS), str(path.parent), "AP")


def test_files_of_different_types(tmp_path: Path) -> None:
    """Both files are named."""
    folder = Path(written(RUN, tmp_path / "run", "together"))
    path = folder / "part-1.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(2, "score", table["score"].cast(pa.float32())), path)
    frame = Session().createDataFrame(QRELS)
    says = r"part-.\.parquet: the score is (double|float); in .*part-.\.parquet it is"
    with pytest.raises(FormatError, match=says):
        germane.spark.evaluate(frame, str(folder), "AP")
    got = germane.spark.evaluate(frame, str(folder), "AP", rows="together").result
    same(got, germane.evaluate(QRELS, RUN, "AP"))


@pytest.mark.parametrize("choices", [{}, {"rows": "together"}], ids=str)
@pytest.mark.parametrize("column", ["query", "item"])
def test_files_with_categories(column: str, choices: dict[str, Any], tmp_path: Path) -> None:
    """Each file has categories of its own, or none."""
    folder = Path(written(RUN, tmp_path / "run", "together"))
    for path in sorted(folder.iterdir())[1:]:
        table = pq.read_table(path)
        at = table.column_names.index(column)
        pq.write_table(table.set_column(at, column, pc.dictionary_encode(table[column])), path)
    got = germane.spark.evaluate(Session().createDataFrame(QRELS), str(folder), "AP", **choices)
    same(got.result, germane.evaluate(QRELS, RUN, "AP"))


def test_an_empty_file_is_no_run(tmp_path: Path) -> None:
    whole = written(RUN, tmp_path / "run", "together")
    pq.write_table(RUN.slice(0, 0), Path(whole) / "part-9.parquet")
    frame = Session().createDataFrame(QRELS)
    same(germane.spark.evaluate(frame, whole, "AP").result, germane.evaluate(QRELS, RUN, "AP"))


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, chunk=20)
    assert compared(Session(), QRELS, RUN, "AP nDCG@10")


def test_ranks_are_an_order() -> None:
    """A run with ranks alone is one whose ties are given."""
    assert compared(Session(), QRELS, ranked(RUN), "AP RR nDCG@2")
    assert compared(Session(), QRELS, ranked(RUN), "AP RR nDCG@2", ties="given")


def test_columns_are_named_as_for_frames() -> None:
    names = {"query": "who.ever", "item": "a`film", "score": "s", "relevance": None}
    run = RUN.rename_columns(["who.ever", "a`film", "s"]).append_column("x", [[1] * len(RUN)])
    qrels = QRELS.select(["query", "item"]).rename_columns(["who.ever", "a`film"])
    assert compared(Session(), qrels, run, "AP", columns=names)


def test_values_of_queries() -> None:
    frames = map(Session().createDataFrame, map(integers, (QRELS, RUN)))
    result, per_query = germane.spark.evaluate(*frames, "AP nDCG@10", name="mine")
    assert result.name == "mine"
    table = per_query.toArrow()
    assert table.schema.names == ["query", "AP", "nDCG@10"]
    assert table.schema.field("query").type == pa.int64()
    values = dict(zip(table["query"].to_pylist(), table["AP"].to_pylist(), strict=True))
    assert values == result["AP"].per_query


def test_what_was_retrieved_is_kept() -> None:
    """The result can be asked where a query's judged items stand, as any other."""
    frames = map(Session().createDataFrame, (QRELS, RUN))
    result = germane.spark.evaluate(*frames, "AP").result
    whole = germane.evaluate(QRELS, RUN, "AP")
    assert result.placement is not None
    assert whole.placement is not None
    for query in whole["AP"].per_query:
        assert result.placement.hits(query) == whole.placement.hits(query)


# --- Errors ----------------------------------------------------------------------------------------


def evaluated(qrels: pa.Table = QRELS, run: pa.Table = RUN, **choices: Any) -> germane.types.Result:
    frames = map(Session(choices.pop("settings", None)).createDataFrame, (qrels, run))
    return germane.spark.evaluate(*frames, "AP", **choices).result


@pytest.mark.parametrize(
    ("choices", "error", "says"),
    [
        ({"ties": "given"}, PolicyError, "which a DataFrame does not have; choose ties=trec"),
        ({"dialect": "spark"}, PolicyError, "ties=given is the order of rows"),
        ({"duplicates": "first"}, PolicyError, "duplicates=first depends on the order of rows"),
        ({"duplicates": "last"}, PolicyError, "duplicates=last depends on the order of rows"),
        ({"duplicates": "keep"}, PolicyError, "duplicates=keep depends on the order of rows"),
        ({"repeated": "once"}, PolicyError, "repeated=once depends on the order of rows"),
        ({"tie": "trec"}, PolicyError, "there is no convention 'tie'"),
        ({"input_format": "csv"}, InputError, "input_format= is not for DataFrames"),
        ({"group": [1]}, InputError, "group= is not for DataFrames"),
        ({"rows": "sorted"}, InputError, "rows= takes scattered or together; got 'sorted'"),
        ({"partitions": 0}, InputError, "partitions= takes a positive whole number; got 0"),
        ({"partitions": True}, InputError, "partitions= takes a positive whole number; got True"),
        ({"columns": {"item": "itm"}}, FormatError, "no column 'itm'; .* Did you mean 'item'"),
        ({"missing": "error"}, CoverageError, "missing=zero counts them as empty"),
    ],
)
def test_choices_that_cannot_be(choices: dict[str, Any], error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        evaluated(**choices)


@pytest.mark.parametrize("name", ["alpha_nDCG@10", "AP StRecall@5", "ERR_IA(weights=given)@20"])
@pytest.mark.parametrize("column", ["subtopic", "iteration", None])
def test_measures_of_subtopics_are_refused(name: str, column: str | None) -> None:
    qrels = QRELS if column is None else QRELS.append_column(column, pa.array(["s"] * len(QRELS)))
    frames = map(Session().createDataFrame, (qrels, RUN))
    measure = name.split()[-1]
    with pytest.raises(MeasureError) as raised:
        germane.spark.evaluate(*frames, name)
    assert str(raised.value) == (
        f"{measure}: judgments of subtopics cannot be read from DataFrames of Spark. Collect them, and evaluate batches "
        "of the run with germane.Evaluator."
    )


def test_judgments_of_single_subtopics_are_repeated_judgments() -> None:
    """Spark does not read the column: an item with two subtopics is judged twice."""
    qrels = pa.table(
        {"query": ["q"] * 2, "item": ["a"] * 2, "relevance": [1, 1], "subtopic": ["x", "y"]}
    )
    frames = map(Session().createDataFrame, (qrels, RUN))
    with pytest.raises(germane.errors.DuplicateError, match="'a' is judged twice for query 'q'"):
        germane.spark.evaluate(*frames, "AP")


@pytest.mark.parametrize("word", ["true", "TRUE", " True"])
@pytest.mark.parametrize("setting", ["ignoreCorruptFiles", "ignoreMissingFiles"])
def test_a_session_that_passes_over_files_is_refused(setting: str, word: str) -> None:
    with pytest.raises(InputError, match=f"{setting} is true.*Set it to false"):
        evaluated(settings={f"spark.sql.files.{setting}": word})


def test_a_set_of_relevant_items_may_repeat_them() -> None:
    """Copies without grades are the same in any order."""
    pairs = QRELS.select(["query", "item"])
    twice = pa.concat_tables([pairs, pairs.slice(0, 5)])
    assert compared(Session(), twice, RUN, "AP", repeated="once")


BAD: list[tuple[str, Any, type, str]] = [
    ("score", np.nan, ScoreError, r"run \(partition\), column 'score', row \d+: .* got nan"),
    ("score", None, ScoreError, r"run \(partition\), column 'score', row \d+: .* missing"),
    ("item", None, FormatError, r"run \(partition\), column 'item', row \d+: an id is missing"),
    ("query", None, FormatError, r"run \(partition\), column 'query', row \d+: an id is missing"),
]


@pytest.mark.parametrize(("column", "value", "error", "says"), BAD)
def test_a_bad_value_says_where(column: str, value: Any, error: type, says: str) -> None:
    values = RUN[column].to_pylist()
    values[17] = value
    at = RUN.column_names.index(column)
    bad = RUN.set_column(at, column, pa.array(values, RUN[column].type))
    with pytest.raises(error, match=says):
        evaluated(run=bad)


def test_a_bad_grade_says_where() -> None:
    grades = [*QRELS["relevance"].to_pylist()[1:], float("inf")]
    with pytest.raises(GradeError, match=r"qrels \(partition\), column 'relevance', row"):
        evaluated(QRELS.set_column(2, "relevance", pa.array(grades)))


def test_repeated_rows_and_different_ids() -> None:
    with pytest.raises(DuplicateError, match=r"partition: run: item .* is retrieved twice"):
        evaluated(run=TWICE)
    with pytest.raises(DuplicateError, match=r"qrels: item .* is judged twice"):
        evaluated(pa.concat_tables([QRELS, QRELS]))
    with pytest.raises(CoverageError, match="have different types"):
        evaluated(integers(QRELS), partitions=1)
    with pytest.raises(FormatError, match="ids are integers or text; the column is double"):
        evaluated(run=RUN.set_column(0, "query", [np.ones(len(RUN))]))


def test_nothing_to_evaluate() -> None:
    none = QRELS.slice(0, 0), RUN.slice(0, 0)
    given: list[tuple[pa.Table, pa.Table]] = [(none[0], RUN), (QRELS, none[1]), none]
    for (qrels, run), what in zip(given, ("qrels", "run", "(qrels|run)"), strict=True):
        with pytest.raises(EmptyError, match=f"{what}: there are no rows"):
            evaluated(qrels, run)
    with pytest.raises(CoverageError, match="no query of the run is in the qrels"):
        evaluated(QRELS, RUN.set_column(0, "query", [["x"] * len(RUN)]))


def check_signatures(session: Any) -> None:
    """Parts add up to the fingerprint of the whole, by a shuffle and in place."""
    whole = germane.evaluate(QRELS, RUN, "AP@10").signature("AP@10")
    qrels, run = (session.createDataFrame(table) for table in (QRELS, RUN))
    result = germane.spark.evaluate(qrels, run, "AP@10", sign="run").result
    assert result.signature("AP@10") == whole
    assert germane.verify(result, QRELS, RUN).same
    unsigned = germane.spark.evaluate(qrels, run, "AP@10").result.signature("AP@10")
    assert (unsigned.qrels, unsigned.run) == (whole.qrels, None)


def test_signatures() -> None:
    check_signatures(Session())


def test_spark_is_imported_when_it_is_asked_for() -> None:
    program = "import germane, sys; print('germane.spark' in sys.modules, 'pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr


# --- Spark itself ----------------------------------------------------------------------------------


spark_itself = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def started(settings: dict[str, str]) -> Any:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    builder = sql.SparkSession.builder
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "3",
        **settings,
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session on two cores that tries a task up to three times."""
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    session = started({"spark.master": "local[2,3]"})
    yield session
    session.stop()
    patch.undo()


class TestSpark:
    pytestmark = spark_itself

    def test_signatures(self, spark: Any) -> None:
        check_signatures(spark)

    def test_every_measure(self, spark: Any) -> None:
        measures = [measure for row in TABLE for measure in variants(row)]
        assert compared(spark, QRELS, RUN, measures)

    @pytest.mark.parametrize(
        "choices",
        [
            {"ties": "expected"},
            {"ties": "worst", "depth": 3, "partitions": 7},
            {"missing": "skip", "no_relevant": "skip", "unjudged": "remove"},
            {"unknown": "zero", "no_hit": "nan"},
        ],
        ids=str,
    )
    def test_conventions(self, spark: Any, choices: dict[str, Any]) -> None:
        frames = [spark.createDataFrame(integers(table)) for table in (QRELS, RUN)]
        spread = germane.spark.evaluate(
            *frames, fitting(ALL_MEASURES, choices.get("ties")), **choices
        ).result
        choices.pop("partitions", None)
        tables = map(integers, (QRELS, RUN))
        same(
            spread, germane.evaluate(*tables, fitting(ALL_MEASURES, choices.get("ties")), **choices)
        )

    @pytest.mark.parametrize("missing", ["zero", "skip"])
    def test_measures_of_the_catalogue(self, spark: Any, missing: Literal["zero", "skip"]) -> None:
        names = "AP@5 Coverage@5 Gini@5 Novelty@5 ARP(seen=interactions)@5 Personalization@5"
        seen = {"u": ["d1", "d2"], "v": ["d2", "d3"]}
        given: Any = {"catalogue": 10_000, "seen": seen, "missing": missing}
        frames = map(spark.createDataFrame, (QRELS, RUN))
        spread = germane.spark.evaluate(*frames, names, **given)
        expected = germane.evaluate(QRELS, RUN, names, **given)
        same(spread.result, expected)
        assert spread.per_query.count() == len(expected.queries)

    def test_one_large_query_beside_many_small_ones(self, spark: Any) -> None:
        large, small = 50_000, 3_000
        query = np.append(np.zeros(large, np.int64), np.repeat(np.arange(1, small), 2))
        item = np.append(np.arange(large), np.tile([0, 1], small - 1))
        score = np.random.default_rng(5).integers(0, 9_000, len(query)).astype(float)
        run = pa.table({"query": query, "item": item, "score": score})
        some = np.sort(np.random.default_rng(6).choice(len(query), 5_000, replace=False))
        qrels = pa.table({"query": query[some], "item": item[some]})
        assert compared(spark, qrels, run, "AP nDCG@10 RR")

    def test_rows_that_are_together(self, spark: Any) -> None:
        qrels, run = map(spark.createDataFrame, (QRELS, RUN))
        spread = germane.spark.evaluate(
            qrels, run.repartition(5, "query"), "AP nDCG@2", rows="together"
        )
        same(spread.result, germane.evaluate(QRELS, RUN, "AP nDCG@2"))
        with pytest.raises(
            DuplicateError, match=r"more than one partition or file; rows=scattered"
        ):
            germane.spark.evaluate(qrels, run.unionAll(run), "AP", rows="together")

    def test_values_of_queries(self, spark: Any) -> None:
        frames = map(spark.createDataFrame, map(integers, (QRELS, RUN)))
        result, per_query = germane.spark.evaluate(*frames, "AP(norm=R)@10")
        assert per_query.dtypes == [("query", "bigint"), ("AP(norm=R)@10", "double")]
        got = {row[0]: row[1] for row in per_query.collect()}
        assert got == result["AP(norm=R)@10"].per_query

    def test_a_killed_worker_is_tried_again(self, spark: Any, tmp_path: Path) -> None:
        run = spark.createDataFrame(RUN).repartition(3)
        killed = run.mapInArrow(_killing(tmp_path / "once"), run.schema)
        spread = germane.spark.evaluate(spark.createDataFrame(QRELS), killed, "AP nDCG@10")
        assert (tmp_path / "once").exists()
        same(spread.result, germane.evaluate(QRELS, RUN, "AP nDCG@10"))

    def test_a_worker_that_always_dies_gives_no_number(self, spark: Any) -> None:
        run = spark.createDataFrame(RUN)
        killed = run.mapInArrow(_killing(None), run.schema)
        with pytest.raises(Exception, match=r"Task \d+ in stage .* failed 3 times"):
            germane.spark.evaluate(spark.createDataFrame(QRELS), killed, "AP")

    def test_a_corrupt_file_is_named(self, spark: Any, tmp_path: Path) -> None:
        for part in range(3):
            pq.write_table(RUN.slice(part * 50, 50), tmp_path / f"part-{part}.parquet")
        damaged = tmp_path / "part-1.parquet"
        content = bytearray(damaged.read_bytes())
        content[4:-200] = bytes(len(content) - 204)
        damaged.write_bytes(content)
        run = spark.read.schema("query string, item string, score double").parquet(str(tmp_path))
        with pytest.raises(Exception, match=r"part-1\.parquet"):
            germane.spark.evaluate(spark.createDataFrame(QRELS), run, "AP")

    @pytest.mark.parametrize("rows", ["scattered", "together"])
    def test_files(self, spark: Any, rows: Any, tmp_path: Path) -> None:
        qrels, folder = spark.createDataFrame(QRELS), tmp_path / "the run's, 100%"
        path = written(RUN, folder, rows)
        same(
            germane.spark.evaluate(qrels, path, "AP nDCG@2", rows=rows).result,
            germane.evaluate(QRELS, RUN, "AP nDCG@2"),
        )
        damaged = folder / "part-1.parquet"
        damaged.write_bytes(damaged.read_bytes()[:-9])
        with pytest.raises(Exception, match=r"part-1\.parquet"):
            germane.spark.evaluate(qrels, path, "AP", rows=rows)

    def test_files_that_spark_wrote(self, spark: Any, tmp_path: Path) -> None:
        """Beside them stands what is no part of the run, and a column may stand in a folder's name."""
        qrels, run = map(spark.createDataFrame, (QRELS, RUN))
        run.repartition(3).write.parquet(str(tmp_path / "run"))
        same(
            germane.spark.evaluate(qrels, str(tmp_path / "run"), "AP").result,
            germane.evaluate(QRELS, RUN, "AP"),
        )
        few = run.where("query < 'q2'")
        few.write.partitionBy("query").parquet(str(tmp_path / "by query"))
        with pytest.raises(FormatError, match=r"no column is the query; found 'item', 'score'"):
            germane.spark.evaluate(qrels, str(tmp_path / "by query"), "AP")

    @pytest.mark.parametrize("aside", ["_temporary", ".hidden"])
    def test_folders_inside(self, aside: str, spark: Any, tmp_path: Path) -> None:
        """Spark itself would leave them out, or take them for partitions."""
        path = Path(written(RUN, tmp_path / "run", "scattered"))
        for part, inside in ((1, "more"), (2, "more/still"), (3, "day=1")):
            (path / inside).mkdir()
            (path / f"part-{part}.parquet").rename(path / inside / "part.parquet")
        (path / aside).mkdir()
        shutil.copy(path / "part-0.parquet", path / aside)
        same(
            germane.spark.evaluate(spark.createDataFrame(QRELS), str(path), "AP").result,
            germane.evaluate(QRELS, RUN, "AP"),
        )

    def test_a_part_of_another_schema_is_named(self, spark: Any, tmp_path: Path) -> None:
        pq.write_table(RUN, tmp_path / "part-0.parquet")
        text = pa.array(["high"] * len(RUN))
        pq.write_table(RUN.set_column(2, "score", text), tmp_path / "part-1.parquet")
        run = spark.read.schema("query string, item string, score double").parquet(str(tmp_path))
        with pytest.raises(Exception, match=r"part-1\.parquet"):
            germane.spark.evaluate(spark.createDataFrame(QRELS), run, "AP")

    def test_a_bad_value_names_the_partition(self, spark: Any) -> None:
        scores = [*RUN["score"].to_pylist()[1:], float("nan")]
        run = spark.createDataFrame(RUN.set_column(2, "score", pa.array(scores)))
        with pytest.raises(ScoreError, match=r"^run \(stage \d+, partition \d+\), column 'score'"):
            germane.spark.evaluate(spark.createDataFrame(QRELS), run, "AP")
        twice = spark.createDataFrame(TWICE)
        with pytest.raises(DuplicateError, match=r"^stage \d+, partition \d+: run: item "):
            germane.spark.evaluate(spark.createDataFrame(QRELS), twice, "AP")


def _killing(once: Path | None) -> Any:
    """Hands on what it gets, in a worker that is killed: the first one alone where there is a path."""

    def function(records: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import os
        import signal

        yield next(records)
        if once is None or not os.path.exists(once):
            if once is not None:
                with open(once, "w"):
                    pass
            os.kill(os.getpid(), signal.SIGKILL)
        yield from records

    return function


# --- The page of documentation ---------------------------------------------------------------------


def documented(section: str) -> None:
    """Runs what a section of docs/clusters.md shows; the values that it states are the values."""
    page = (Path(__file__).parents[1] / "docs/clusters.md").read_text("utf-8")
    text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert text is not None
    names: dict[str, object] = {}
    stated = 0
    for block in re.findall(r"^```python3\n(.*?)^```", text[1], re.MULTILINE | re.DOTALL):
        for statement in ast.parse(block).body:
            comment = comment_of(block.splitlines()[(statement.end_lineno or 1) - 1])
            value = evaluate_statement(statement, names)
            if comment is not None:
                assert matches(value, comment), f"{ast.unparse(statement)} is {value}"
                stated += 1
    assert stated


class TestDocumentation:
    pytestmark = spark_itself[1:]

    @pytest.mark.spark
    @pytest.mark.usefixtures("spark")
    def test_spark(self) -> None:
        documented("Spark")

    def test_ray(self) -> None:
        ray = pytest.importorskip("ray")
        pytest.importorskip("ray.data")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        try:
            documented("Ray")
        finally:
            ray.shutdown()

    def test_dask(self) -> None:
        pytest.importorskip("dask.dataframe")
        documented("Dask")
