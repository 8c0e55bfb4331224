"""What each tool is asked to do, run by run.py in a process of its own.

``python bench/tools.py files TOOL QRELS RUN`` evaluates two files and prints the means as JSON; run.py
measures the whole process. ``python bench/tools.py dicts TOOL QRELS RUN`` reads the files into Python
dicts, times the evaluation alone and prints seconds and means; what is done with ``frames``, ``measures`` and
``parquet`` is in recommended.py. A process imports its own tool only.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from recommended import FRAMES, PARQUET, SEVERAL

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Values = dict[str, float]

MEASURES = ("AP", "P@10", "RR", "R@1000", "nDCG@10")
PYTREC_EVAL = dict(
    zip(MEASURES, ("map", "P_10", "recip_rank", "recall_1000", "ndcg_cut_10"), strict=True)
)
RANX = dict(zip(MEASURES, ("map", "precision@10", "mrr", "recall@1000", "ndcg@10"), strict=True))

SAMPLE_S = 0.02  # a sample repeats the call until it takes about this long
SAMPLING_S = 1.0  # samples are taken until they sum to this


def germane_dicts(qrels: Qrels, run: Run) -> Values:
    """All five means, each of them asked for."""
    import germane

    result = germane.evaluate(qrels, run, " ".join(MEASURES))
    return {name: float(result[name].mean) for name in MEASURES}


def pytrec_eval_dicts(qrels: Qrels, run: Run) -> Values:
    """Values per query, then the mean over the judged queries."""
    import pytrec_eval

    asked = {"map", "P.10", "recip_rank", "recall.1000", "ndcg_cut.10"}
    queries = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run).values()
    return {
        name: math.fsum(values[theirs] for values in queries) / len(qrels)
        for name, theirs in PYTREC_EVAL.items()
    }


def pytrec_eval_files(qrels: str, run: str) -> Values:
    """With its own readers."""
    import pytrec_eval

    with open(qrels) as qrels_file, open(run) as run_file:
        return pytrec_eval_dicts(
            pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
        )


def ir_measures_any(qrels: object, run: object) -> Values:
    """From dicts, or from its own readers."""
    import ir_measures

    asked = [ir_measures.parse_measure(name) for name in MEASURES]
    means = ir_measures.calc_aggregate(asked, qrels, run)
    return {name: means[measure] for name, measure in zip(MEASURES, asked, strict=True)}


def ir_measures_files(qrels: str, run: str) -> Values:
    """With its own readers."""
    import ir_measures

    return ir_measures_any(ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run))


def ranx_dicts(qrels: Qrels, run: Run) -> Values:
    """With the construction of its two types, which is where it sorts."""
    import ranx

    means = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(RANX.values()))
    return {name: float(means[theirs]) for name, theirs in RANX.items()}


def ranx_files(qrels: str, run: str) -> Values:
    """With its own readers."""
    import ranx

    means = ranx.evaluate(
        ranx.Qrels.from_file(qrels, kind="trec"),
        ranx.Run.from_file(run, kind="trec"),
        list(RANX.values()),
    )
    return {name: float(means[theirs]) for name, theirs in RANX.items()}


def polars_files(qrels: str, run: str, strict: bool = False) -> Values:
    """The query a Polars user writes: rank everything, join the judgments, aggregate.

    The fastest of five ways to rank; it leaves equal scores in the order of the file. A strict one
    orders them by their ids and refuses a repeated item, as germane does.
    """
    import polars as pl

    text, real, count = pl.String, pl.Float64, pl.Int64
    columns = {"query": text, "q0": text, "item": text, "rank": text, "score": real, "tag": text}
    judged = pl.scan_csv(
        qrels,
        separator=" ",
        has_header=False,
        schema={"query": text, "q0": text, "item": text, "grade": count},
    ).select("query", "item", "grade")
    lines = pl.scan_csv(run, separator=" ", has_header=False, quote_char=None, schema=columns)
    rows = lines.select("query", "item", "score")
    by = pl.struct("score", "item") if strict else pl.col("score")
    ranked = rows.with_columns(rank=by.rank("ordinal", descending=True).over("query"))
    repeats = rows.group_by("query").agg(pl.col("item").n_unique() < pl.len()).filter("item")
    rank, gain = pl.col("rank").cast(count), pl.col("grade")
    first = pl.int_range(1, pl.len() + 1).over("query")
    relevant = judged.filter(gain >= 1)
    hits = (
        ranked.join(relevant, on=["query", "item"])
        .sort("query", "rank")
        .with_columns(hits=first)
        .group_by("query")
        .agg(
            (pl.col("hits") / rank).sum().alias("precisions"),
            (rank <= 10).sum().alias("found10"),
            (1 / rank.min()).alias("RR"),
            (rank <= 1000).sum().alias("found1000"),
            (gain / (rank + 1).log(2)).filter(rank <= 10).sum().alias("DCG"),
        )
    )
    ideal = (
        relevant.sort("query", "grade", descending=[False, True])
        .with_columns(rank=first)
        .group_by("query")
        .agg(
            pl.len().alias("R"),
            (gain / (rank + 1).log(2)).filter(rank <= 10).sum().alias("IDCG"),
        )
    )
    means = (
        judged.select("query")
        .unique()
        .join(ideal, on="query", how="left")
        .join(hits, on="query", how="left")
        .select(
            (pl.col("precisions") / pl.col("R")).fill_null(0).mean().alias("AP"),
            (pl.col("found10") / 10).fill_null(0).mean().alias("P@10"),
            pl.col("RR").fill_null(0).mean(),
            (pl.col("found1000") / pl.col("R")).fill_null(0).mean().alias("R@1000"),
            (pl.col("DCG") / pl.col("IDCG")).fill_null(0).mean().alias("nDCG@10"),
        )
    )
    means, *repeated = pl.collect_all([means, repeats] if strict else [means])
    if any(map(len, repeated)):
        raise SystemExit("an item is retrieved twice")
    return {name: float(value) for name, value in means.row(0, named=True).items()}


def polars_strict(qrels: str, run: str) -> Values:
    return polars_files(qrels, run, strict=True)


DUCKDB = """
WITH judged AS (
  FROM read_csv($qrels, delim=' ', header=false, columns={
    'query': 'VARCHAR', 'q0': 'VARCHAR', 'item': 'VARCHAR', 'grade': 'BIGINT'})
), ranked AS (
  SELECT query, item,
    row_number() OVER (PARTITION BY query ORDER BY score DESC) AS rank
  FROM read_csv($run, delim=' ', header=false, quote='', escape='', columns={
    'query': 'VARCHAR', 'q0': 'VARCHAR', 'item': 'VARCHAR', 'rank': 'VARCHAR',
    'score': 'DOUBLE', 'tag': 'VARCHAR'})
), found AS (
  SELECT query, rank, grade, row_number() OVER (PARTITION BY query ORDER BY rank) AS hits
  FROM ranked JOIN judged USING (query, item) WHERE grade >= 1
), hits AS (
  SELECT query, sum(hits / rank) AS precisions, 1 / min(rank) AS rr,
    count(*) FILTER (rank <= 10) AS found10, count(*) FILTER (rank <= 1000) AS found1000,
    sum(grade / log2(rank + 1)) FILTER (rank <= 10) AS dcg
  FROM found GROUP BY query
), ideal AS (
  SELECT query, count(*) AS r, sum(grade / log2(rank + 1)) FILTER (rank <= 10) AS idcg
  FROM (
    SELECT query, grade, row_number() OVER (PARTITION BY query ORDER BY grade DESC) AS rank
    FROM judged WHERE grade >= 1)
  GROUP BY query
)
SELECT avg(coalesce(precisions / r, 0)), avg(coalesce(found10 / 10, 0)), avg(coalesce(rr, 0)),
  avg(coalesce(found1000 / r, 0)), avg(coalesce(dcg / idcg, 0))
FROM (SELECT DISTINCT query FROM judged)
LEFT JOIN ideal USING (query) LEFT JOIN hits USING (query)
"""


def duckdb_files(qrels: str, run: str) -> Values:
    """The same query in SQL."""
    import duckdb

    means = duckdb.execute(DUCKDB, {"qrels": qrels, "run": run}).fetchone()
    assert means is not None
    return dict(zip(MEASURES, means, strict=True))


FILES: dict[str, Callable[[str, str], Values]] = {
    "pytrec_eval": pytrec_eval_files,
    "ir_measures": ir_measures_files,
    "ranx": ranx_files,
    "polars": polars_files,
    "polars strict": polars_strict,
    "duckdb": duckdb_files,
}
DICTS: dict[str, Callable[[Qrels, Run], Values]] = {
    "germane": germane_dicts,
    "pytrec_eval": pytrec_eval_dicts,
    "ir_measures": ir_measures_any,
    "ranx": ranx_dicts,
}


def lines(path: str) -> Iterable[list[str]]:
    """The fields of every line."""
    with Path(path).open() as file:
        for line in file:
            yield line.split()


def read_qrels(path: str) -> Qrels:
    """Qrels as Python dicts."""
    qrels: Qrels = {}
    for query, _, item, grade in lines(path):
        qrels.setdefault(query, {})[item] = int(grade)
    return qrels


def read_run(path: str) -> Run:
    """A run as Python dicts."""
    run: Run = {}
    for query, _, item, _, score, _ in lines(path):
        run.setdefault(query, {})[item] = float(score)
    return run


def seconds(call: Callable[[], object], calls: int) -> dict[str, float]:
    """CPU and wall seconds of one call, the mean of that many."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(calls):
        call()
    return {
        "cpu": (time.process_time() - cpu) / calls,
        "wall": (time.perf_counter() - wall) / calls,
    }


def samples(call: Callable[[], object]) -> list[dict[str, float]]:
    """Several measurements of a call that has been made before, so nothing is imported or compiled."""
    calls = math.ceil(SAMPLE_S / seconds(call, 1)["wall"])
    taken = [seconds(call, calls)]
    while sum(sample["wall"] for sample in taken) * calls < SAMPLING_S:
        taken.append(seconds(call, calls))
    return taken


def main() -> None:
    """Do what the four arguments say."""
    what, tool, qrels_path, run_path = sys.argv[1:]
    if what == "files":
        print(json.dumps(FILES[tool](qrels_path, run_path)))
        return
    qrels: Any
    run: Any
    if what in ("frames", "measures"):
        read, evaluate = {"frames": FRAMES, "measures": SEVERAL}[what][tool]
        qrels, run = read(qrels_path), read(run_path)
    elif what == "parquet":
        evaluate, qrels, run = PARQUET[tool], qrels_path, run_path
    else:
        evaluate, qrels, run = DICTS[tool], read_qrels(qrels_path), read_run(run_path)
    values = evaluate(qrels, run)
    taken = samples(lambda: evaluate(qrels, run))
    print(json.dumps({"values": values, "samples": taken}))


if __name__ == "__main__":
    main()
