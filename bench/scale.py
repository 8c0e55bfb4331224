"""Runs larger than memory: rows a second, CPU and peak memory, against DuckDB and Polars.

python bench/scale.py make FOLDER           makes the files (10 GB with 100 million rows)
python bench/scale.py measure FOLDER        measures what is there; see SCALE.md
python bench/scale.py one WHAT FOLDER       one measurement in this process, as JSON
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from pyarrow import csv

ITEMS = 1_000_003  # a prime: multiples of a step below it are all different
JUDGED = 10
LONGEST = 1000

# name: queries, rows a query
RUNS = {
    "1m": (100_000, 10),
    "10m": (100_000, 100),
    "100m": (100_000, 1000),
    "20m": (200_000, 100),
    "many": (1_000_000, 10),
    "scattered-10m": (100_000, 100),
    "scattered-100m": (100_000, 1000),
}

SCHEMA = pa.schema({"user": pa.int64(), "item": pa.int64(), "score": pa.float64()})


def items(users: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The items of some users at some places of their lists; a user never has one twice."""
    step = 1 + users * 7919 % (ITEMS - 1)
    return (users * 104_729 + place * step) % ITEMS


def tables(name: str) -> Iterator[pa.Table]:
    """A million rows at a time: every user's items with random scores; scattered: user after user."""
    users, each = RUNS[name]
    rng = np.random.default_rng(1)
    for start in range(0, users * each, 1_000_000):
        row = np.arange(start, min(start + 1_000_000, users * each))
        user, place = row // each, row % each
        if name.startswith("scattered"):
            user, place = row % users, row // users
        score = rng.random(len(row))
        yield pa.table({"user": user, "item": items(user, place), "score": score})


def qrels(users: int) -> pa.Table:
    """Ten judged items a user: half of them retrieved, half of them relevant."""
    rng = np.random.default_rng(2)
    user = np.repeat(np.arange(users), JUDGED)
    place = rng.permuted(np.tile(np.arange(2 * JUDGED), (users, 1)), axis=1)[:, :JUDGED].ravel()
    place = place % JUDGED + (place >= JUDGED) * LONGEST  # beyond the end: not retrieved
    grade = (np.arange(len(user)) % 2).astype(float)
    return pa.table({"user": user, "item": items(user, place), "relevance": grade})


def make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (users, _) in RUNS.items():
        judged = folder / f"qrels-{users}.parquet"
        if not judged.exists():
            pa.parquet.write_table(qrels(users), judged)
            lines = ["user", "0", "item", "relevance"]
            _write_lines([qrels(users)], judged.with_suffix(".txt"), lines)
        if not (folder / f"{name}.parquet").exists():
            with pa.parquet.ParquetWriter(folder / f"{name}.parquet", SCHEMA) as out:
                for table in tables(name):
                    out.write_table(table)
        if not (folder / f"{name}.run").exists() and name not in ("20m", "scattered-100m"):
            lines = ["user", "Q0", "item", "1", "score", "tag"]
            _write_lines(tables(name), folder / f"{name}.run", lines)


def _write_lines(parts: Any, path: Path, columns: list[str]) -> None:
    """Lines of a TREC file: columns of a table, and words that are the same on each line."""
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    with open(path, "wb") as out:
        for table in parts:
            same = {name: pa.repeat(name, len(table)) for name in columns}
            line = {n: table[n] if n in table.column_names else same[n] for n in columns}
            line = {n: _fixed(c) if n == "score" else c for n, c in line.items()}
            csv.write_csv(pa.table(line), out, options)


def _fixed(score: pa.ChunkedArray) -> pa.Array:
    """Six decimals, as most programs write them."""
    units = np.round(score.to_numpy() * 1e6).astype(np.int64)
    digits = np.char.zfill(units.astype("U7"), 6)
    return pa.array(np.char.add("0.", digits))


# --- What is measured ------------------------------------------------------------------------------


def germane_parquet(folder: Path, name: str) -> float:
    import germane

    judged = folder / f"qrels-{RUNS[name][0]}.parquet"
    return germane.evaluate(judged, folder / f"{name}.parquet", "AP@10")["AP@10"].mean


def germane_trec(folder: Path, name: str) -> float:
    import germane

    judged = folder / f"qrels-{RUNS[name][0]}.txt"
    return germane.evaluate(judged, folder / f"{name}.run", "AP@10")["AP@10"].mean


SQL = """
with ranked as (
    select "user", item, row_number() over (partition by "user" order by score desc) as rank
    from read_parquet('{run}')
    qualify rank <= 10
), hits as (
    select "user", rank, row_number() over (partition by "user" order by rank) as found
    from ranked join read_parquet('{qrels}') using ("user", item) where relevance >= 1
), each as (select "user", sum(found / rank) as total from hits group by "user"),
norms as (
    select "user", least(sum((relevance >= 1)::int), 10) as norm
    from read_parquet('{qrels}') group by "user"
)
select avg(case when norm = 0 then 0 else coalesce(total, 0) / norm end)
from norms left join each using ("user")
"""


def duckdb(folder: Path, name: str) -> float:
    import duckdb

    judged = folder / f"qrels-{RUNS[name][0]}.parquet"
    text = SQL.format(run=folder / f"{name}.parquet", qrels=judged)
    return float(duckdb.sql(text).fetchall()[0][0])


def polars(folder: Path, name: str) -> float:
    import polars as pl

    run = pl.scan_parquet(folder / f"{name}.parquet")
    judged = pl.scan_parquet(folder / f"qrels-{RUNS[name][0]}.parquet")
    relevant = judged.filter(pl.col("relevance") >= 1)
    norms = judged.group_by("user").agg(
        (pl.col("relevance") >= 1).sum().clip(upper_bound=10).alias("norm")
    )
    best = run.group_by("user").agg(
        pl.col("item").top_k_by("score", 10), pl.int_range(1, 11).head(pl.len()).alias("rank")
    )
    hits = best.explode("item", "rank").join(relevant, on=["user", "item"])
    found = hits.group_by("user").agg(
        (pl.int_range(1, pl.len() + 1) / pl.col("rank").sort()).sum().alias("total")
    )
    each = norms.join(found, on="user", how="left").select(
        pl.when(pl.col("norm") > 0).then(pl.col("total").fill_null(0) / pl.col("norm")).otherwise(0)
    )
    return float(each.mean().collect(engine="streaming").item())


TOOLS: dict[str, Callable[[Path, str], float]] = {
    "germane, Parquet": germane_parquet,
    "germane, TREC": germane_trec,
    "DuckDB": duckdb,
    "Polars": polars,
}


def one(tool: str, folder: Path, name: str) -> None:
    """One measurement, in this process."""
    started = time.perf_counter()
    value = TOOLS[tool](folder, name)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "value": value,
                "cpu": used.ru_utime + used.ru_stime,
                "wall": time.perf_counter() - started,
                "peak": used.ru_maxrss / 1024,
            }
        )
    )


def measured(tool: str, folder: Path, name: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "one", tool, str(folder), name],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def rows(folder: Path) -> Iterator[str]:
    """A line of the table for each tool and each of the runs that it is measured on."""
    for tool in TOOLS:
        for name, (users, each) in RUNS.items():
            suffix = ".run" if tool.endswith("TREC") else ".parquet"
            if (tool in ("DuckDB", "Polars") and name != "20m") or not (
                folder / (name + suffix)
            ).exists():
                continue
            got, count = measured(tool, folder, name), users * each
            yield (
                f"| {name} | {tool} | {count:,} | {got['cpu']:.1f} s | {got['wall']:.1f} s | "
                f"{count / got['cpu']:,.0f} | {got['peak']:,.0f} MB | {got['value']:.9f} |"
            )


def measure(folder: Path) -> None:
    print("| data | tool | rows | CPU | wall | rows a second of CPU | peak memory | AP@10 |")
    print("|---|---|---|---|---|---|---|---|")
    for line in rows(folder):
        print(line, flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make(Path(folder))
        case ["measure", folder]:
            measure(Path(folder))
        case ["one", tool, folder, name]:
            one(tool, Path(folder), name)
        case _:
            print(__doc__)
