"""The kinds of input."""

from types import SimpleNamespace

from crossings.arrays import (
    answer_all,
    answer_and,
    embed,
    fill,
    flatten,
    label,
    list_grades,
    make_array,
    make_labels,
)
from crossings.case import Kind
from crossings.rows import keep, make_columns, make_hits, make_trec, rank_lists, store_json

KINDS: dict[str, Kind] = {
    "dicts": Kind(keep(dict), "`{query: {item: score}}`"),
    "ranked lists": Kind(keep(rank_lists), "`{query: [item, …]}`", "given", False),
    "hits": Kind(make_hits("score"), "`{query: [{'id': …, 'score': …}, …]}`"),
    "hits with distances": Kind(make_hits("distance", SimpleNamespace), "objects with an id and a distance"),
    "hits without scores": Kind(make_hits(""), "`{query: [{'id': …}, …]}`, best first", "given", False),
    "pandas frame": Kind(make_columns("pandas"), "columns query, item and score"),
    "pandas categories": Kind(make_columns("pandas categories"), "columns of categories"),
    "Polars frame": Kind(make_columns("Polars"), "columns query, item and score"),
    "PyArrow table": Kind(make_columns("PyArrow table"), "columns query, item and score"),
    "scattered rows": Kind(make_columns("PyArrow table", True), "a frame whose queries are not in one piece"),
    "namedtuples": Kind(make_columns("namedtuples"), "rows such as `ScoredDoc`"),
    "TREC file": Kind(make_trec(), "lines `query Q0 item rank score tag`"),
    "`read_run`": Kind(make_trec(True), "a TREC file that was read in advance"),
    "CSV file": Kind(make_columns(".csv"), "columns query, item and score"),
    "JSON Lines file": Kind(make_columns(".jsonl"), "an object for each row"),
    "Parquet file": Kind(make_columns(".parquet"), "columns query, item and score"),
    "JSON file": Kind(store_json, "`{query: {item: score}}`"),
    "scores (Q, N)": Kind(
        make_array(lambda cells: cells.scores, list_grades), "an array without ids, beside one of grades", "given",
        adjust=answer_all, dense=True,
    ),
    "scores (Q, N) beside CSR": Kind(
        make_array(lambda cells: cells.scores, lambda cells: cells.sparse()), "judgments as a CSR matrix", "given",
        adjust=answer_all,
    ),
    "scores (Q, N) beside labels": Kind(
        make_array(lambda cells: cells.scores, make_labels), "judgments as `germane.Labels`", "given",
        adjust=answer_and(label), dense=True,
    ),
    "scores (Q, N) with ids": Kind(
        make_array(lambda cells: cells.scores, list_grades, True), "and `query_ids`, `item_ids`", "given",
        adjust=answer_all,
    ),
    "ids (Q, K)": Kind(
        make_array(lambda cells: cells.top(), lambda cells: cells.sparse()), "the best K items, without scores", "given",
        False, answer_all,
    ),
    "ids (Q, K) with ids": Kind(
        make_array(lambda cells: cells.top(), lambda cells: cells.sparse(), True), "and `query_ids`, `item_ids`", "given",
        False, answer_all,
    ),
    "pairs (Q, K)": Kind(
        make_array(lambda cells: cells.pair(distances=False), lambda cells: cells.sparse()), "scores and ids of the best K items",
        "given", adjust=answer_all,
    ),
    "pairs (Q, K) with ids": Kind(
        make_array(lambda cells: cells.pair(distances=False), lambda cells: cells.sparse(), True), "and `query_ids`, `item_ids`",
        "given", adjust=answer_all,
    ),
    "flat arrays": Kind(flatten, "grades and scores, and `group`", "given", adjust=answer_all, dense=True),
    "embeddings": Kind(embed(False), "vectors of queries and gallery", "given", adjust=answer_and(fill)),
    "embeddings with ids": Kind(
        embed(True), "and `query_ids`, `gallery_ids`", "given", adjust=answer_and(fill)
    ),
}  # fmt: skip
