"""What each tool does with recommendations: columns of users, items and ranks, and what was liked.

The queries are those that a user of the library writes: for AP@10 the first ten, the liked ones among
them, their precisions. They do not look for repeated items, but for one of Polars.
"""

from collections.abc import Callable
from typing import Any

Values = dict[str, float]

AP10 = "AP@10"


def germane_frames(qrels: Any, run: Any) -> Values:
    """From anything with columns."""
    import germane

    return {AP10: float(germane.evaluate(qrels, run, AP10)[AP10].mean)}


def polars_frames(qrels: Any, run: Any, refusing: bool = False) -> Values:
    """The query a Polars user writes: the first ten, the liked ones among them, their precisions.

    A refusing one looks for repeated items in all rows, as germane does.
    """
    import polars as pl

    hits = (
        run.lazy()
        .filter(pl.col("rank") <= 10)
        .join(qrels.lazy(), on=["user_id", "item_id"])
        .sort("user_id", "rank")
        .with_columns(hits=pl.int_range(1, pl.len() + 1).over("user_id"))
        .group_by("user_id")
        .agg((pl.col("hits") / pl.col("rank")).sum().alias("precisions"))
    )
    value = pl.col("precisions").fill_null(0) / pl.min_horizontal("R", pl.lit(10))
    liked = qrels.lazy().group_by("user_id").agg(pl.len().alias("R"))
    mean = liked.join(hits, on="user_id", how="left").select(value.mean())
    repeats = run.lazy().group_by("user_id").agg(pl.col("item_id").n_unique() < pl.len())
    found, *repeated = pl.collect_all([mean, repeats.filter("item_id")] if refusing else [mean])
    if any(map(len, repeated)):
        raise SystemExit("an item is recommended twice")
    return {AP10: found.item()}


def polars_refusing(qrels: Any, run: Any) -> Values:
    return polars_frames(qrels, run, refusing=True)


def pandas_frames(qrels: Any, run: Any) -> Values:
    """The same in pandas."""
    import numpy as np

    top = run[run["rank"] <= 10]
    found = top.merge(qrels, on=["user_id", "item_id"]).sort_values(["user_id", "rank"])
    precision = (found.groupby("user_id").cumcount() + 1) / found["rank"]
    liked = qrels.groupby("user_id").size()
    precisions = precision.groupby(found["user_id"]).sum().reindex(liked.index, fill_value=0)
    return {AP10: float((precisions / np.minimum(liked, 10)).mean())}


RECOMMENDED = """
WITH found AS (
  SELECT user_id, rank, row_number() OVER (PARTITION BY user_id ORDER BY rank) AS hits
  FROM (SELECT user_id, item_id, rank FROM {run} WHERE rank <= 10)
  JOIN {qrels} USING (user_id, item_id)
), hits AS (
  SELECT user_id, sum(hits / rank) AS precisions FROM found GROUP BY user_id
), liked AS (
  SELECT user_id, count(*) AS r FROM {qrels} GROUP BY user_id
)
SELECT avg(coalesce(precisions, 0) / least(r, 10)) FROM liked LEFT JOIN hits USING (user_id)
"""


def duckdb_frames(qrels: Any, run: Any) -> Values:
    """The same in SQL, on Arrow tables or on Parquet files."""
    import duckdb

    named = {"qrels": "qrels", "run": "run"}
    if isinstance(qrels, str):
        named = {"qrels": f"'{qrels}'", "run": f"'{run}'"}
    found = duckdb.execute(RECOMMENDED.format(**named)).fetchone()
    assert found is not None
    return {AP10: found[0]}


# --- Several measures ------------------------------------------------------------------------------

MEASURED = ("AP@10", "nDCG@10", "P@10", "R@10", "RR")


def germane_measures(qrels: Any, run: Any) -> Values:
    import germane

    result = germane.evaluate(qrels, run, " ".join(MEASURED))
    return {name: float(result[name].mean) for name in MEASURED}


def polars_measures(qrels: Any, run: Any) -> Values:
    """RR looks at all ranks, so nothing is left out before the join."""
    import polars as pl

    rank, top = pl.col("rank"), pl.col("rank") <= 10
    gain = 1 / (rank + 1).log(2)
    hits = (
        run.lazy()
        .join(qrels.lazy(), on=["user_id", "item_id"])
        .sort("user_id", "rank")
        .with_columns(hits=pl.int_range(1, pl.len() + 1).over("user_id"))
        .group_by("user_id")
        .agg(
            (pl.col("hits") / rank).filter(top).sum().alias("precisions"),
            gain.filter(top).sum().alias("DCG"),
            top.sum().alias("found"),
            (1 / rank.min()).alias("RR"),
        )
    )
    ideal = pl.DataFrame({"least": range(1, 11)}).with_columns(
        IDCG=(1 / (pl.col("least") + 1).log(2)).cum_sum()
    )
    liked = (
        qrels.lazy()
        .group_by("user_id")
        .agg(pl.len().cast(pl.Int64).alias("R"))
        .with_columns(least=pl.min_horizontal("R", pl.lit(10, pl.Int64)))
        .join(ideal.lazy(), on="least")
    )
    means = (
        liked.join(hits, on="user_id", how="left")
        .select(
            (pl.col("precisions").fill_null(0) / pl.col("least")).mean().alias("AP@10"),
            (pl.col("DCG").fill_null(0) / pl.col("IDCG")).mean().alias("nDCG@10"),
            (pl.col("found").fill_null(0) / 10).mean().alias("P@10"),
            (pl.col("found").fill_null(0) / pl.col("R")).mean().alias("R@10"),
            pl.col("RR").fill_null(0).mean(),
        )
        .collect()
    )
    return {name: float(value) for name, value in means.row(0, named=True).items()}


SEVERAL_RECOMMENDED = """
WITH found AS (
  SELECT user_id, rank, row_number() OVER (PARTITION BY user_id ORDER BY rank) AS hits
  FROM run JOIN qrels USING (user_id, item_id)
), hits AS (
  SELECT user_id, sum(hits / rank) FILTER (rank <= 10) AS precisions,
    sum(1 / log2(rank + 1)) FILTER (rank <= 10) AS dcg, count(*) FILTER (rank <= 10) AS found,
    1 / min(rank) AS rr
  FROM found GROUP BY user_id
), ideal AS (
  SELECT n, sum(1 / log2(n + 1)) OVER (ORDER BY n) AS idcg FROM range(1, 11) AS t(n)
), liked AS (
  SELECT user_id, count(*) AS r FROM qrels GROUP BY user_id
)
SELECT avg(coalesce(precisions, 0) / least(r, 10)), avg(coalesce(dcg, 0) / idcg),
  avg(coalesce(found, 0) / 10), avg(coalesce(found, 0) / r), avg(coalesce(rr, 0))
FROM liked JOIN ideal ON n = least(r, 10) LEFT JOIN hits USING (user_id)
"""


def duckdb_measures(qrels: Any, run: Any) -> Values:
    import duckdb

    means = duckdb.execute(SEVERAL_RECOMMENDED).fetchone()
    assert means is not None
    return dict(zip(MEASURED, means, strict=True))


# --- RecTools --------------------------------------------------------------------------------------


def rectools_frames(qrels: Any, run: Any) -> Values:
    """Its AP divides by R, and is made to divide by min(R, 10)."""
    import numpy as np
    from rectools.metrics import MAP

    liked = qrels.groupby("user_id").size()
    values = MAP(k=10).calc_per_user(run, qrels)
    return {AP10: float((values * liked / np.minimum(liked, 10)).mean())}


def rectools_measures(qrels: Any, run: Any) -> Values:
    """AP divided by R, and nDCG by the gain of ten liked items whether there are ten or not."""
    from rectools.metrics import MAP, MRR, NDCG, Precision, Recall, calc_metrics

    asked = (MAP(k=10), NDCG(k=10), Precision(k=10), Recall(k=10), MRR(k=100))
    means = calc_metrics(dict(zip(MEASURED, asked, strict=True)), run, qrels)
    return {name: float(means[name]) for name in MEASURED}


# --- How data is held ------------------------------------------------------------------------------


def read_arrow(path: str) -> Any:
    """One record batch's columns, as most frames are held."""
    from pyarrow import parquet

    return parquet.read_table(path).combine_chunks()


def read_polars(path: str) -> Any:
    import polars

    return polars.read_parquet(path)


def scan_polars(path: str) -> Any:
    import polars

    return polars.scan_parquet(path)


def read_pandas(path: str) -> Any:
    import pandas

    return pandas.read_parquet(path)


def converting(evaluate: Callable[[Any, Any], Values]) -> Callable[[Any, Any], Values]:
    """The same query of Polars on the frames of others, whose ids of text become its own."""

    def evaluated(qrels: Any, run: Any) -> Values:
        import polars as pl

        convert = pl.from_pandas if hasattr(run, "iloc") else pl.from_arrow
        return evaluate(convert(qrels), convert(run))

    return evaluated


# how a tool is given the files, and what it does with them
FRAMES: dict[str, tuple[Callable[[str], Any], Callable[[Any, Any], Values]]] = {
    "germane from Arrow": (read_arrow, germane_frames),
    "polars from Arrow": (read_arrow, converting(polars_frames)),
    "duckdb from Arrow": (read_arrow, duckdb_frames),
    "germane from Polars": (read_polars, germane_frames),
    "germane plain from Polars": (read_polars, germane_frames),
    "polars from Polars": (read_polars, polars_frames),
    "polars refusing from Polars": (read_polars, polars_refusing),
    "duckdb from Polars": (read_polars, duckdb_frames),
    "germane from pandas": (read_pandas, germane_frames),
    "pandas from pandas": (read_pandas, pandas_frames),
    "polars from pandas": (read_pandas, converting(polars_frames)),
    "duckdb from pandas": (read_pandas, duckdb_frames),
    "rectools from pandas": (read_pandas, rectools_frames),
}
PARQUET: dict[str, Callable[[str, str], Values]] = {
    "germane": germane_frames,
    "germane plain": germane_frames,
    "polars": lambda qrels, run: polars_frames(scan_polars(qrels), scan_polars(run)),
    "polars refusing": lambda qrels, run: polars_refusing(scan_polars(qrels), scan_polars(run)),
    "duckdb": duckdb_frames,
    "pandas": lambda qrels, run: pandas_frames(read_pandas(qrels), read_pandas(run)),
}
SEVERAL: dict[str, tuple[Callable[[str], Any], Callable[[Any, Any], Values]]] = {
    "germane from Arrow": (read_arrow, germane_measures),
    "duckdb from Arrow": (read_arrow, duckdb_measures),
    "germane from Polars": (read_polars, germane_measures),
    "polars from Polars": (read_polars, polars_measures),
    "germane from pandas": (read_pandas, germane_measures),
    "rectools from pandas": (read_pandas, rectools_measures),
}
