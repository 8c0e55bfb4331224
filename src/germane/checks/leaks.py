"""Leaks: what a system saw before it was tested, and queries that are items of the collection."""

import numpy as np

from germane.checks import ids
from germane.checks.data import Data
from germane.checks.rows import Problem, Sees, find_places, show_queries, show_rows, write_count


def find_shared_judgments(data: Data) -> Sees:
    """Find judgments that the system learned from."""
    train = data.train
    if train is None:
        return
    query = find_places(train.queries, data.qrels.queries)[train.query]
    item = find_places(train.items, data.qrels.items)[train.item]
    rows = np.unique(data.find_judgments(query, item))
    rows = rows[rows >= 0]
    if len(rows):
        shared = write_count(len(rows), "judgment")
        says = f"{shared} of {len(data.qrels):,} {_be(len(rows))} also in the training judgments"
        yield Problem(says, len(rows), show_rows(data.qrels, rows))


def find_shared_queries(data: Data) -> Sees:
    """Find judged queries that the system learned from."""
    if data.train is None:
        return
    shared = np.flatnonzero(find_places(data.qrels.queries, data.train.queries) >= 0)
    if len(shared):
        count = write_count(len(shared), "judged query", "judged queries")
        says = f"{count} of {len(data.qrels.queries):,} {_be(len(shared))} also in the training judgments"
        queries = [data.qrels.queries[q] for q in shared.tolist()]
        yield Problem(says, len(shared), show_queries(data.qrels, queries))


def find_queries_among_items(data: Data) -> Sees:
    """Find queries whose id an item has, too, where ids are more than numbers."""
    run = data.run
    if run.places or not ids.are_names(run.queries):
        return
    if any(ids.find_own_first(data)) or any(ids.find_own(data)):
        return  # they say more
    qrels = data.qrels
    retrieved, judged = (find_places(run.queries, side.items) for side in (run, qrels))
    own = data.find_judgments(find_places(run.queries, qrels.queries), judged)  # it is meant
    among = np.flatnonzero(((retrieved >= 0) | (judged >= 0)) & (own < 0))
    if len(among):
        count = write_count(len(among), "query", "queries")
        says = f"{count} of {len(run.queries):,} {_be(len(among))} among the items, by their ids"
        queries = [run.queries[q] for q in among.tolist()]
        yield Problem(says, len(among), show_queries(run, queries))


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
