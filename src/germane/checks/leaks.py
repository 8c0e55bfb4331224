"""Leaks: what a system saw before it was tested, and queries that are items of the collection."""

from dataclasses import replace
from itertools import islice

import numpy as np

from germane.checks import ids
from germane.checks.data import Data
from germane.checks.rows import NAMED, Problem, Sees, find_places, show_queries, show_rows
from germane.errors import clip
from germane.output.tables import write_count


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
        text = f"{shared} of {len(data.qrels):,} {_be(len(rows))} also in the training judgments"
        yield Problem(text, len(rows), show_rows(data.qrels, rows))


def find_shared_queries(data: Data) -> Sees:
    """Find judged queries that the system learned from."""
    if data.train is None:
        return
    shared = np.flatnonzero(find_places(data.qrels.queries, data.train.queries) >= 0)
    if len(shared):
        count = write_count(len(shared), "judged query")
        text = (
            f"{count} of {len(data.qrels.queries):,} {_be(len(shared))} also in the training"
            " judgments"
        )
        queries = [data.qrels.queries[q] for q in shared.tolist()]
        yield Problem(text, len(shared), show_queries(data.qrels, queries))


def find_queries_among_items(data: Data) -> Sees:
    """Find queries whose id an item has, too, where ids are more than numbers."""
    run = data.run
    if run.places or not ids.are_names(run.queries):
        return
    if any(ids.find_own_first(data)) or any(ids.find_own(data)):
        return  # they say more
    qrels = data.qrels
    retrieved, judged = (find_places(run.queries, side.items) for side in (run, qrels))
    judgments = data.find_judgments(find_places(run.queries, qrels.queries), judged)  # it is meant
    among = np.flatnonzero(((retrieved >= 0) | (judged >= 0)) & (judgments < 0))
    if len(among):
        count = write_count(len(among), "query")
        text = f"{count} of {len(run.queries):,} {_be(len(among))} among the items, by their ids"
        queries = [run.queries[q] for q in among.tolist()]
        yield Problem(text, len(among), show_queries(run, queries))


def find_queries_with_text(data: Data) -> Sees:
    """Find queries whose text is the whole text of an item that is not judged for them."""
    leaks = {}
    if data.equal_texts is None:
        return
    equal, places = data.equal_texts, {str(item): i for i, item in enumerate(data.qrels.items)}
    for q, query in enumerate(data.qrels.queries if equal.items else ()):
        matches = equal.items.get(str(query), {})
        codes = np.array([places.get(item, -1) for item in matches], np.int64)
        open_to = data.find_judgments(np.full(len(codes), q), codes) < 0  # a judged one is meant
        if data.candidates is not None:
            from germane.checks.admitted_rows import mark_items  # which few checks need

            candidates = replace(data.candidates, queries=[data.candidates.queries[q]])
            open_to &= mark_items(candidates, [list(matches)], True)
        items = [pair for pair, is_open in zip(matches.items(), open_to, strict=True) if is_open]
        if items:
            leaks[q] = items[0]
    if leaks:
        count = write_count(len(leaks), "query")
        have = "has" if len(leaks) == 1 else "have"
        text = f"{count} of {len(data.qrels.queries):,} {have} the whole text of an item"
        examples = tuple(
            f"{data.qrels.at(int(np.argmax(data.qrels.query == q)))}query "
            f"{clip(data.qrels.queries[q])} item {clip(item)}: {clip(text)}"
            for q, (item, text) in islice(leaks.items(), NAMED)
        )
        yield Problem(text, len(leaks), examples)


def find_copies(data: Data) -> Sees:
    """Find judged items that have the text of another judged item."""
    equal, qrels = data.equal_texts, data.qrels
    if equal is not None and (copies := equal.copies):
        count = write_count(len(copies), "judged item has", "judged items have")
        text = f"{count} the text of another, of {len(qrels.items):,}"
        places = {str(item): i for i, item in enumerate(qrels.items)}
        examples = tuple(
            f"{qrels.at(int(np.argmax(qrels.item == places[item])))}item {clip(item)} and item "
            f"{clip(copied)}: {clip(text)}"
            for item, (copied, text) in islice(copies.items(), NAMED)
        )
        yield Problem(text, len(copies), examples)


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
