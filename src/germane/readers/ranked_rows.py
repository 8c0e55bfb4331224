"""Whole lists of a run, judged or not, in the order in which it is evaluated."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy, order_tied
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import EmptyError
from germane.kernel import plain
from germane.kernel.columns import Ids, read_python_ids
from germane.kernel.ids import spell_id
from germane.kernel.keys import Keys
from germane.kernel.reduction import (
    Batch,
    Judgments,
    RepeatedItem,
    add_candidates,
    find_distinct,
    select_rows,
)
from germane.readers.candidates import Candidates, match_items
from germane.readers.inputs import RunInput
from germane.readers.mapping_ids import judge_keys
from germane.readers.rows import Rows, explain_repeat, join_rows


@dataclass(frozen=True, eq=False, repr=False)
class RankedRows:
    """Rows from the best on: those of ``queries[s]`` are ``offsets[s]:offsets[s + 1]``."""

    queries: Ids
    offsets: Ints
    ids: Ids  # of the items in the order given, and the place of each row among them
    place: Ints
    tied_from: Ints  # the first and the last rank of the row's group of equal scores
    tied_to: Ints

    @property
    def items(self) -> list[Hashable]:
        """The items as Python values."""
        ids = self.ids.python
        return [ids[place] for place in self.place.tolist()]

    @property
    def column(self) -> Ids:
        """The items as integers or text."""
        ids = self.ids.typed if isinstance(self.ids, Keys) else self.ids
        is_sorted = np.array_equal(self.place, np.arange(len(ids)))
        return ids if is_sorted else ids.take(self.place)

    def cut(self, depth: int | None) -> RankedRows:
        """Cut every list off after the first ``depth`` items."""
        sizes = ragged.find_lengths(self.offsets)
        if depth is None or sizes.max(initial=0) <= depth:
            return self
        sizes = np.minimum(sizes, depth)
        rows = ragged.list_stretches(self.offsets[:-1], sizes)
        columns = (column[rows] for column in (self.place, self.tied_from, self.tied_to))
        return RankedRows(self.queries, ragged.make_offsets(sizes), self.ids, *columns)


def rank_rows(
    rows: Rows,
    run: RunInput,
    policy: Policy,
    candidates: Candidates | None = None,
    ids: str | None = None,
) -> RankedRows:
    """Rank the rows of a run by a policy, without those that do not count.

    Rows are in the order of ``policy.ties``; where grades decide on it, as in ``best``, equal
    scores are in the order of ids. ``ids`` is text if the rows, unlike those of the run, are
    spelled as in a file of text. Raises DuplicateError for an item that is retrieved twice if that
    is an error, and CoverageError for a query for which ``only`` has no candidates.
    """
    queries = read_python_ids(rows.queries)
    judged, items = _judge(rows, policy, candidates, ids or ("text" if run.is_text else "typed"))
    batch = Batch(np.arange(len(queries)), rows.offsets, items, rows.score, rows.rank)
    try:
        batch = select_rows(judged, batch, run.decide_duplicates(policy.duplicates), policy.order)
    except RepeatedItem as error:
        raise explain_repeat(run.label, "retrieved", error) from None
    place, first, last = _order_rows(batch, policy)
    return RankedRows(queries, batch.offsets, batch.items, place, first, last).cut(policy.depth)


def _judge(
    rows: Rows, policy: Policy, candidates: Candidates | None, ids: str
) -> tuple[Judgments, Ids]:
    """Make judgments of no item, with the candidates in the ids of the rows. Returns these, too."""
    queries, items = rows.queries, rows.items
    if (candidates or policy.own == "drop") and isinstance(queries, Ids):
        queries = queries.python
    none = np.zeros(len(queries) + 1, np.int64)
    of_text = ids == "text"
    if candidates is None:
        return Judgments(queries, none, items.part(0, 0), of_text=of_text), items
    named = list(map(spell_id, queries)) if of_text else list(queries)
    users = candidates.attach_to_lists(Qrels(named, none, [], np.zeros(0), ids=ids))
    if isinstance(items, Keys):
        return judge_keys(users, False), items
    pairs, as_text = match_items(users, items, ids, as_text=False)
    items = items.as_text() if as_text else items
    own_ids = Judgments(queries, none, items.part(0, 0), of_text=of_text or as_text)
    return add_candidates(own_ids, pairs), items


def _order_rows(batch: Batch, policy: Policy) -> tuple[Ints, Ints, Ints]:
    """Order the rows of each query from the best to the worst, and find the ranks of their ties."""
    rows, offsets = np.arange(len(batch.items)), batch.offsets
    rank = rows - offsets[batch.owner] + 1
    if batch.are_places and batch.rank is not None:
        rank = batch.rank.astype(np.int64)
    if batch.score is None or _falls(batch.score, offsets):
        return rows, rank, rank
    rank, first, last = plain.rank_rows(batch, rows, policy.order.equal)
    place = np.empty(len(rows), np.int64)
    place[offsets[batch.owner] + order_tied(policy.ties, rank, first, last) - 1] = rows
    return place, first[place], last[place]


def _falls(score: Floats, offsets: Ints) -> bool:
    """Does every score of a query differ from the next and exceed it?"""
    falls: Bools = score[1:] < score[:-1]
    falls[ragged.take_lasts(offsets)] = True
    return bool(falls.all())


def gather_rows(parts: Iterable[Rows]) -> Rows:
    """Gather all rows of a run with scattered queries. Raises EmptyError if there are none."""
    filled = [part for part in parts if len(part.queries)]
    rows = join_rows(filled) if filled else None
    if rows is None or not len(rows.items):
        raise EmptyError("the run is empty: it has no results.")
    if len(rows.queries) == 1:
        return rows
    queries = read_python_ids(rows.queries)
    first, place = find_distinct(queries)
    owner = np.repeat(place, ragged.find_lengths(rows.offsets))
    order = ragged.order_stably(owner)
    score, rank = (None if column is None else column[order] for column in (rows.score, rows.rank))
    offsets = ragged.make_offsets(np.bincount(owner, minlength=len(first)))
    return Rows(queries.take(first), offsets, rows.items.take(order), score, rank)
