"""Ids that match no other, copies and padding; and leaks: items that a system saw before."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from germane.checks.data import Data
from germane.checks.faulty_rows import (
    FEW,
    Problem,
    Sees,
    Side,
    count_queries,
    find_places,
    show_first_row,
    show_queries,
    show_rows,
)
from germane.core.finding import show_ids
from germane.core.id_spelling import describe_difference, describe_types, find_affix, find_pairs
from germane.core.ragged import Bools, Ints
from germane.errors import InputError, clip, write_option
from germane.kernel.ids import Ids, mark_padding, read_python_ids
from germane.output.tables import write_count
from germane.readers.inputs import NAMED

if TYPE_CHECKING:
    from germane.readers.options.texts import Text, Texts


OWN_PLACE = "Leave it out of each row; if it comes first, ids[:, 1:] does so."
TURNED = "They are items in the qrels: are the columns of queries and items swapped?"
MOSTLY = 0.5
JOINED = (
    "Were several files joined? Separate them, or choose with"
    f" {write_option('duplicates', 'first')}, last or max."
)
PADDED = "lists of a fixed length are padded"
LEFT_OUT = "Are the judged items among the results that the options leave out?"
SOME = 1 / 4  # of the rows: no accident
MANY = 1 / 3  # of the queries: no accident
RARE = 1 / 1000  # a probability: no accident
SAME = "Are these the same ids?"
NUMBERED = "Do both sides number the items in the same way, from 0?"
LOOKED = 200_000  # ids that are compared with others by more than equality


def find_no_common_query(data: Data) -> Sees:
    """Find that no query of the run is judged."""
    judged, run = data.qrels.queries, data.run.queries
    if len(judged) and len(run) and not data.answered.any():
        text = (
            f"none of {write_count(len(run), 'query')} of the run is among the {len(judged):,} that"
            f" are judged. run: {', '.join(show_ids(run))}; qrels: {', '.join(show_ids(judged))}"
        )
        turned = np.mean(find_places(run, data.qrels.items) >= 0) > MOSTLY
        advice = TURNED if turned else explain_kinds(judged, run)
        yield Problem(text, len(run), show_first_row(data.run, np.arange(1)), advice)


def find_nothing_found(data: Data) -> Sees:
    """Find that no judged item is among the results of any judged query."""
    if len(data.hits) or not len(data.grades) or not data.results:
        return
    relevant = np.count_nonzero(data.grades >= 1)
    if relevant and max(data.unreachable.values(), default=0) == relevant:
        return  # the check "relevant items that are no candidates" reports that
    text = (
        f"no judged item is among the {write_count(data.results, 'result')} of the judged queries"
    )
    judged, run = data.qrels.items, data.run.items
    if len(run) and len(judged):
        text += f". run: {', '.join(show_ids(run))}; qrels: {', '.join(show_ids(judged))}"
    places = np.flatnonzero(data.query[data.run.query] >= 0)
    advice = LEFT_OUT if data.is_selected else explain_mismatch(data)
    yield Problem(text, data.results, show_first_row(data.run, places), advice)


def explain_mismatch(data: Data) -> str:
    """Explain how the item ids of both sides differ; "" if one side has none."""
    judged, run = data.qrels.items, data.run.items
    if data.run.places:
        return NUMBERED
    return explain_kinds(judged, run) if len(run) and len(judged) else ""


def explain_kinds(judged: Sequence[Hashable], retrieved: Sequence[Hashable]) -> str:
    """Explain how the ids of both sides differ, as far as their text shows it."""
    judged, retrieved = judged[:LOOKED], retrieved[:LOOKED]
    if kinds := describe_types("run's", retrieved, "qrels'", judged):
        return f"{kinds}: convert one side. {_describe_affix(judged, retrieved)}".rstrip()
    pair = next(find_pairs(judged, retrieved), None)
    if pair is not None:
        return (
            f"{clip(pair[1])} and {clip(pair[0])} differ in {describe_difference(*pair)}: make"
            " them the same."
        )
    return _describe_affix(judged, retrieved) or SAME


def _describe_affix(judged: Sequence[Hashable], retrieved: Sequence[Hashable]) -> str:
    """Describe the prefix or suffix that only one side's ids have."""
    for ids, without, whose in ((retrieved, judged, "run's"), (judged, retrieved, "qrels'")):
        if affix := find_affix(ids, without):
            return f"The {whose} ids have {affix} that the others do not have: remove it."
    return ""


def find_alike(data: Data) -> Sees:
    """Find judged items that were not found, if the query's results have nearly the same id."""
    qrels, run = data.qrels, data.run
    if run.places or not len(data.hits):
        return  # the check "nothing judged was found" reports that
    judged = {item: place for place, item in enumerate(qrels.items)}
    unjudged = [item for item in islice(run.items, LOOKED) if item not in judged]
    meant = {
        result: judged_id for judged_id, result in find_pairs(list(qrels.items[:LOOKED]), unjudged)
    }
    if not meant:
        return
    codes = np.array([*(judged[judged_id] for judged_id in meant.values()), -1])
    item = codes[find_places(run.items, list(meant))][run.item]
    judgment = data.find_judgments(data.query[run.query], item)
    rows = np.flatnonzero((judgment >= 0) & ~np.isin(judgment, data.found))
    rows = rows[np.isnan(data.look_up_grades(rows))]
    if len(rows):
        query, result = run.queries[run.query[rows[0]]], run.items[run.item[rows[0]]]
        item_id = meant[result]
        text = (
            f"{write_count(len(rows), 'judged item')} {'was' if len(rows) == 1 else 'were'}"
            f" retrieved under nearly the same id, which does not match: for query {clip(query)},"
            f" {clip(item_id)} is judged, but {clip(result)} was retrieved, which differs in"
            f" {describe_difference(item_id, result)}"
        )
        yield Problem(text, len(rows), () if run.line is None else show_rows(run, rows))


def find_repeated_results(data: Data) -> Sees:
    """Find duplicate results of a query."""
    yield from _report_repeated(data.run, "result")


def find_repeated_judgments(data: Data) -> Sees:
    """Find items that are judged twice for a query."""
    yield from _report_repeated(data.qrels, "judgment")


def _report_repeated(side: Side, noun: str) -> Sees:
    pairs = side.query * len(side.items) + side.item
    order = np.argsort(pairs, kind="stable")
    repeated: Ints = np.sort(order[1:][np.diff(pairs[order]) == 0])
    if len(repeated):
        repeats = write_count(len(repeated), f"{noun} repeats", f"{noun}s repeat")
        text = f"{repeats} an item of the same query, in {count_queries(side, repeated)}"
        if noun == "judgment" and side.number is not None:
            first = order[np.searchsorted(pairs[order], pairs[repeated])]
            regraded = int(np.count_nonzero(side.number[first] != side.number[repeated]))
            text += f", {regraded:,} with a different grade"
        advice = JOINED if len(repeated) >= max(FEW, SOME * len(side)) else ""
        if noun == "result" and _mark_padding(side)[repeated].all():
            text += f": it is the id -1, with which {PADDED}"
            advice = f"{write_option('padding', 'drop')} takes it out."
        yield Problem(text, len(repeated), show_rows(side, repeated), advice)


def find_padding(data: Data) -> Sees:
    """Find results with the id -1, which nobody judged."""
    run = data.run
    rows = np.flatnonzero(_mark_padding(run))
    rows = rows[np.isnan(data.look_up_grades(rows))]
    if not len(rows):
        return
    have = "has" if len(rows) == 1 else "have"
    results = f"{write_count(len(rows), 'result')} in {count_queries(run, rows)}"
    text = f"{results} {have} the id -1, with which {PADDED}"
    yield Problem(text, len(rows), show_rows(run, rows))


def _mark_padding(run: Side) -> Bools:
    """Mark the rows with the id -1, which is none where items are places."""
    if run.places:
        return np.zeros(len(run), bool)
    ids = run.items if isinstance(run.items, Ids) else read_python_ids(list(run.items))
    return mark_padding(ids)[run.item]


def find_own_first(data: Data) -> Sees:
    """Find queries that are their own first result, and not judged relevant."""
    mine, rank = _find_own_rows(data)
    foremost, answered = mine[rank == 1], int(np.count_nonzero(data.retrieved))
    if _is_no_accident(data.run, len(foremost), answered, 1):
        text = (
            f"the first result of {write_count(len(foremost), 'query')} of "
            f"{data.first}{answered:,} is the query itself"
        )
        advice = OWN_PLACE if data.run.places else ""
        yield Problem(text, len(foremost), show_rows(data.run, foremost), advice)


def find_own(data: Data) -> Sees:
    """Find queries among their own results at any rank, and not judged relevant."""
    mine, rank = _find_own_rows(data)
    answered = int(np.count_nonzero(data.retrieved))
    is_systematic = _is_no_accident(
        data.run, len(mine), answered, len(data.run) / max(len(data.run.queries), 1)
    )
    if (
        not len(mine)
        or any(find_own_first(data))
        or not (is_systematic or are_names(data.run.queries))
    ):
        return
    ranks = f"rank {rank.min()}" + f" to {rank.max()}" * bool(rank.min() < rank.max())
    have = f"{len(mine):,} of {write_count(answered, 'query')} have themselves"
    text = f"{have} among the results, at {ranks}"
    advice = OWN_PLACE if data.run.places else ""
    yield Problem(text, len(mine), show_rows(data.run, mine), advice)


def _is_no_accident(run: Side, count: int, queries: int, depth: float) -> bool:
    """Are these too many of the queries for a coincidence of numbers?

    The number of a row is equal by chance: to each of ``depth`` results with 1 in the number of
    items.
    The tail of the binomial distribution is at most the bound of Chernoff.
    """
    if count <= 1 or count < MANY * queries:
        return False
    if not run.places:
        return True
    chance, share = depth / len(run.items), count / queries
    if share <= chance:
        return False
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return math.exp(-queries * (share * math.log(share / chance) + rest)) < RARE


def _find_own_rows(data: Data) -> tuple[Ints, Ints]:
    """Find the rows whose item is the query and not judged relevant, and their ranks."""
    run = data.run
    if run.numbered:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    query = find_places(run.items, run.queries)[run.item]
    rows = np.flatnonzero((query == run.query)[data.order])
    rows = rows[~(data.look_up_grades(data.order[rows]) > 0)]
    return data.order[rows], data.rank[rows]


def are_names(ids: Sequence[Hashable]) -> bool:
    """Are no ids numbers, which queries and items may share by chance?"""
    return not any(isinstance(identifier, int) or str(identifier).isdigit() for identifier in ids)


# --- Leaks --------------------------------------------------------------------------------------


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
        total = write_count(len(data.qrels), "judgment")
        text = f"{len(rows):,} of {total} {_be(len(rows))} also in the training judgments"
        yield Problem(text, len(rows), show_rows(data.qrels, rows))


def find_seen_results(data: Data) -> Sees:
    """Find results that their own query has in the training data."""
    train, run = data.train, data.run
    if train is None:
        return
    query = find_places(train.queries, run.queries)[train.query]
    item = find_places(train.items, run.items)[train.item]
    both = (query >= 0) & (item >= 0)
    pairs, seen_pairs = (q * len(run.items) + i for q, i in ((run.query, run.item), (query, item)))
    rows = np.flatnonzero(np.isin(pairs, seen_pairs[both]))
    if len(rows):
        total, queries = write_count(len(run), "result"), write_count(len(run.queries), "query")
        text = (
            f"{len(rows):,} of {total} {_be(len(rows))} in the training judgments of the same"
            f" query, in {len(np.unique(run.query[rows])):,} of {queries}"
        )
        yield Problem(text, len(rows), show_rows(run, rows))


def find_shared_queries(data: Data) -> Sees:
    """Find judged queries that the system learned from."""
    if data.train is None:
        return
    shared = np.flatnonzero(find_places(data.qrels.queries, data.train.queries) >= 0)
    if len(shared):
        total = write_count(len(data.qrels.queries), "judged query", "judged queries")
        text = f"{len(shared):,} of {total} {_be(len(shared))} also in the training judgments"
        queries = [data.qrels.queries[q] for q in shared.tolist()]
        yield Problem(text, len(shared), show_queries(data.qrels, queries))


def find_queries_among_items(data: Data) -> Sees:
    """Find queries that have the same id as an item, if ids are not just numbers."""
    run = data.run
    if run.places or not are_names(run.queries):
        return
    if any(find_own_first(data)) or any(find_own(data)):
        return  # they say more
    qrels = data.qrels
    retrieved, judged = (find_places(run.queries, side.items) for side in (run, qrels))
    judgments = data.find_judgments(find_places(run.queries, qrels.queries), judged)  # it is meant
    among = np.flatnonzero(((retrieved >= 0) | (judged >= 0)) & (judgments < 0))
    if len(among):
        total = write_count(len(run.queries), "query")
        text = f"{len(among):,} of {total} {_be(len(among))} among the items, judging by their ids"
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
            from germane.checks.removals import mark_items  # which few checks need

            candidates = replace(data.candidates, queries=[data.candidates.queries[q]])
            open_to &= mark_items(candidates, [list(matches)])
        items = [pair for pair, is_open in zip(matches.items(), open_to, strict=True) if is_open]
        if items:
            leaks[q] = items[0]
    if leaks:
        total = write_count(len(data.qrels.queries), "query")
        have = "has" if len(leaks) == 1 else "have"
        text = f"{len(leaks):,} of {total} {have} exactly the text of an item"
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
        have = "has" if len(copies) == 1 else "have"
        items = write_count(len(qrels.items), "judged item")
        text = f"{len(copies):,} of {items} {have} the text of another"
        places = {str(item): i for i, item in enumerate(qrels.items)}
        examples = tuple(
            f"{qrels.at(int(np.argmax(qrels.item == places[item])))}item {clip(item)} and item "
            f"{clip(copied)}: {clip(text)}"
            for item, (copied, text) in islice(copies.items(), NAMED)
        )
        yield Problem(text, len(copies), examples)


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


# --- Equal texts, which the ids do not show -----------------------------------------------------


@dataclass
class EqualTexts:
    """Queries that have the text of items, and judged items that have the text of another one."""

    items: dict[str, dict[str, str]] = field(default_factory=dict)  # query → item → text
    copies: dict[str, tuple[str, str]] = field(default_factory=dict)  # item → first item, text


class Corpus:
    """The texts of items, and of queries if they are given, compared once for several runs."""

    def __init__(self, queries: Texts | None, items: Texts | None) -> None:
        if items is None:
            raise InputError(
                "queries=… are compared with the texts of items, so give items=…, too, or leave out"
                " queries=…."
            )
        self._queries, self._items = queries, items
        self._kept: EqualTexts | None = None

    def find_equal(
        self, queries: Sequence[Hashable], judged: Sequence[Hashable], retrieved: Sequence[Hashable]
    ) -> EqualTexts:
        """Find equal texts. Where items are a function, only judged and retrieved ones count."""
        if self._kept is None or not self._items.is_listed:
            self._kept = self._compare(queries, judged, retrieved)
        return self._kept

    def _compare(
        self, queries: Sequence[Hashable], judged: Iterable[Hashable], retrieved: Iterable[Hashable]
    ) -> EqualTexts:
        equal = EqualTexts()
        queries_of: dict[bytes, list[str]] = {}
        for query, text in (self._queries.find(queries) if self._queries else {}).items():
            for key in _make_keys(text):
                queries_of.setdefault(key, []).append(query)
        pending = dict.fromkeys(map(str, judged))
        first: dict[bytes, str] = {}
        for item, text in self._items.read([*pending, *retrieved]):
            keys = _make_keys(text)
            for query in {query: None for key in keys for query in queries_of.get(key, ())}:
                equal.items.setdefault(query, {}).setdefault(item, str(text))
            if item in pending:
                del pending[item]  # a later line with this id does not count
                original = first.setdefault(keys[-1], item) if keys else item
                if original != item:
                    equal.copies[item] = original, str(text)
        return equal


def _make_keys(text: Text) -> list[bytes]:
    """Make keys that are equal for equal texts: of the text without its title, and of the whole.

    Letter case and white space make no difference. A title alone is a key only where there is no
    text.
    """
    return list(dict.fromkeys(_hash(part) for part in _list_wholes(text) if part))


def _list_wholes(text: Text) -> Iterator[str]:
    title, body = (" ".join(part.split()).casefold() for part in (text.title, text.body))
    yield body
    yield title if title == body else f"{title} {body}".strip()


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
