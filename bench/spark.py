"""Time germane on Apache Spark beside Spark's own RankingMetrics, and check that the values agree.

    python bench/spark.py [--repeats N] [--queries N] [--tools NAME …]

It needs Java, ``germane[spark]`` and 4 GB. Every measurement is a process of its own with a session of
``local[2]`` that has already started; it evaluates the same Parquet files twice, and the second time
Java has compiled what it runs. AP@10 is what all tools compute.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

RESULTS, FILES, ITEMS = 100, 8, 20_000
MEASURE = "AP@10"


def write(folder: Path, queries: int) -> None:
    """Runs of 100 results a query with 1 to 20 relevant items each, in files of whole queries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    for kind in ("run", "qrels"):
        (folder / kind).mkdir()
    for file, users in enumerate(np.array_split(np.arange(queries), FILES)):
        start, stride = rng.integers(0, ITEMS, (2, len(users), 1))
        items = (start + np.arange(RESULTS) * (10 * stride + 3)) % ITEMS  # no item twice
        run = {
            "user": np.repeat(users, RESULTS),
            "item": items.reshape(-1),
            "score": rng.random(items.size),
        }
        sizes = rng.integers(1, 21, len(users))
        owner = np.repeat(np.arange(len(users)), sizes)
        step = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        relevant = (start[owner, 0] + 371 * step) % ITEMS
        qrels = {"user": users[owner], "item": relevant, "grade": np.ones(len(owner))}
        pq.write_table(pa.table(run), folder / "run" / f"{file}.parquet")
        pq.write_table(pa.table(qrels), folder / "qrels" / f"{file}.parquet")


def germane_(qrels: Any, run: Any) -> float:
    import germane.spark

    return float(germane.spark.evaluate(qrels, run, MEASURE).result[MEASURE].mean)


def together(qrels: Any, run: Any) -> float:
    """The same, told that each file has all rows of its queries."""
    import germane.spark

    evaluation = germane.spark.evaluate(qrels, run, MEASURE, rows="together")
    return float(evaluation.result[MEASURE].mean)


def mllib(qrels: Any, run: Any) -> float:
    """RankingMetrics, which takes a list of ranked items and one of relevant items a query."""
    from pyspark.mllib.common import callMLlibFunc
    from pyspark.sql import functions as f

    ranked = f.sort_array(f.collect_list(f.struct((-f.col("score")).alias("score"), "item")))
    ranked = run.groupBy("user").agg(f.transform(ranked, lambda row: row["item"]).alias("ranked"))
    relevant = qrels.groupBy("user").agg(f.collect_list("item").alias("relevant"))
    lists = ranked.join(relevant, "user").select("ranked", "relevant")
    metrics = callMLlibFunc("newRankingMetrics", lists._jdf)  # no row goes through Python
    return float(metrics.meanAveragePrecisionAt(10))


def windows(qrels: Any, run: Any) -> float:
    """Ranks by a window of SQL; only judged rows leave Java, and NumPy adds up."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    window = Window.partitionBy("user").orderBy(f.desc("score"), f.desc("item"))
    ranked = run.withColumn("rank", f.row_number().over(window))
    hits = ranked.join(f.broadcast(qrels), ["user", "item"]).where("rank <= 10")
    table = (
        hits.select("user", "rank")
        .toArrow()
        .sort_by([("user", "ascending"), ("rank", "ascending")])
    )
    user, rank = (table[name].to_numpy() for name in ("user", "rank"))
    sizes = qrels.groupBy("user").count().toArrow().sort_by("user")
    place = np.searchsorted(sizes["user"].to_numpy(), user)
    first = np.searchsorted(user, user)
    precision = (np.arange(len(user)) - first + 1) / rank
    norm = np.minimum(sizes["count"].to_numpy(), 10)
    return float((precision / norm[place]).sum() / len(norm))


BY_PATH = ("files", "files-together")  # tools that get the path of the run's files
TOOLS: dict[str, Callable[[Any, Any], float]] = {
    "germane": germane_,
    "together": together,
    "files": germane_,
    "files-together": together,
    "mllib": mllib,
    "windows": windows,
}


def cpu() -> float:
    """Seconds of this session of processes: Python, Java and Spark's workers, also those that ended."""
    session, ticks = os.getsid(0), 0
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = process.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(tool: str, folder: Path) -> list[dict[str, float]]:
    """The first and the second evaluation in a session that has started."""
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100000")
        .config("spark.local.dir", str(folder / "spark"))
        .getOrCreate()
    )
    spark.range(10).count()
    taken = []
    for _ in range(2):
        before, start = cpu(), time.perf_counter()
        qrels, run = (spark.read.parquet(str(folder / kind)) for kind in ("qrels", "run"))
        run = str(folder / "run") if tool in BY_PATH else run
        value = TOOLS[tool](qrels, run)
        wall = time.perf_counter() - start
        taken.append({"value": value, "cpu": cpu() - before, "wall": wall})
    spark.stop()
    return taken


def table(taken: dict[str, list[list[dict[str, float]]]], rows: int) -> str:
    """Medians, and how far the values are apart."""
    lines = [
        f"{rows:,} rows, `local[2]`, {MEASURE}; seconds, medians of processes.",
        "",
        "| tool | first, CPU | first, wall | again, CPU | again, wall | value |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for tool, runs in taken.items():
        cells = [
            f"{median(run[turn][what] for run in runs):.1f}"
            for turn in (0, 1)
            for what in ("cpu", "wall")
        ]
        lines.append(f"| {tool} | {' | '.join(cells)} | {runs[0][0]['value']!r} |")
    values = {turn["value"] for runs in taken.values() for run in runs for turn in run}
    apart = max(values) - min(values)
    lines += ["", f"Values are at most {apart:.1g} apart."]
    if apart > 1e-12:
        raise SystemExit("\n".join([*lines, "The values differ."]))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--queries", type=int, default=200_000)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)  # in a process of its own
    given = parser.parse_args()
    if given.folder is not None:
        print(json.dumps(measured(given.tools[0], given.folder)))
        return
    with tempfile.TemporaryDirectory() as made:
        write(Path(made), given.queries)
        taken: dict[str, list[list[dict[str, float]]]] = {tool: [] for tool in given.tools}
        for _ in range(given.repeats):
            for tool in given.tools:  # which take turns
                command = [sys.executable, __file__, "--folder", made, "--tools", tool]
                environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
                out = subprocess.run(
                    command, env=environment, stdout=-1, check=True, start_new_session=True
                )
                taken[tool].append(json.loads(out.stdout))
                print(tool, taken[tool][-1], file=sys.stderr)
        print(table(taken, given.queries * RESULTS))


if __name__ == "__main__":
    main()
