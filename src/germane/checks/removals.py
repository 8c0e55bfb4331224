"""Removals: rows that options leave out, lists that they empty, and items that no run can find."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from germane.checks.data import Data
from germane.checks.faulty_rows import Problem, Sees, Side, find_places
from germane.checks.unmatched import LOOKED
from germane.core import ragged
from germane.core.finding import show_ids
from germane.core.id_spelling import describe_difference, find_pairs
from germane.core.policy import LIMITS, Policy
from germane.core.qrels import EMPTYING, ONE_COPY, Qrels, Retrieved
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import PolicyError, clip, write_option
from germane.kernel.ids import Ids, spell_id
from germane.kernel.keys import Keys
from germane.kernel.reduction import (
    Batch,
    Judgments,
    Reduction,
    choose_copies,
    drop_padding,
    mark_candidates,
)
from germane.output.tables import write_count
from germane.readers.objects.item_ids import judge_keys

if TYPE_CHECKING:  # few evaluations need them
    from germane.readers.options.candidates import Candidates


SOME = 0.1  # of the queries: no accident


def name_emptying(policy: Policy, candidates: Candidates | None) -> dict[str, str]:
    """Name the options that may take results: those of each kind of ``EMPTYING``."""
    limits = ((name, getattr(policy, name)) for name in LIMITS)
    order = [f"{name}={limit:g}" for name, limit in limits if limit is not None]
    order += ["own=drop"] * (policy.own == "drop")
    pairs = [] if candidates is None else [f"{name}=" for name, _ in candidates.arguments]
    named = {
        "candidates": pairs,
        "order": order,
        "nonpositive": [f"nonpositive={policy.nonpositive}"],
    }
    return {kind: " and ".join(options) for kind, options in named.items()}


def list_emptied(
    qrels: Qrels, retrieved: Retrieved, policy: Policy
) -> Iterator[tuple[str, list[Hashable]]]:
    """List the options that took all results of some queries, with these queries."""
    if retrieved.emptied is not None:
        names = name_emptying(policy, qrels.candidates)
        for number, kind in enumerate(EMPTYING):
            places = np.flatnonzero(retrieved.emptied == number) if kind else ()
            if len(places):
                yield names[kind], [qrels.queries[q] for q in places]
    if policy.unjudged == "remove":
        judged = retrieved.owner[qrels.grades[retrieved.judgment] >= 0]
        none = np.bincount(judged, minlength=len(qrels)) == 0
        places = np.flatnonzero(none & (retrieved.retrieved > 0))
        if len(places):
            yield "unjudged=remove", [qrels.queries[q] for q in places]


def find_emptied(data: Data) -> Sees:
    """Find options that leave a tenth of the queries, or more, without results."""
    taken = (queries for option, queries in data.emptied.items() if option not in KEEPING)
    filled = int(np.count_nonzero(data.depths)) + sum(map(len, taken))
    for option, queries in data.emptied.items():
        if len(queries) >= SOME * filled:
            lost = "a relevant result" if option.startswith("nonpositive") else "results"
            count = write_count(len(queries), "query", "queries")
            named = " and ".join(
                write_option(*part.partition("=")[::2]) for part in option.split(" and ")
            )
            text = f"{named} leaves {count} without {lost}, out of {filled:,} that had some"
            yield Problem(text, len(queries), show_ids(queries), _advise(data, option))


KEEPING = ("nonpositive=miss", "unjudged=remove")
"""Options that leave the results in the list, and only take their hits."""


def _advise(data: Data, option: str) -> str:
    name, _, value = option.partition("=")
    if name in LIMITS:
        grades: Floats = data.grades
        lowest = float(value.partition(" ")[0])
        if lowest > 0 and (grades == lowest).any():
            return (
                "It is about the scores of the run. The lowest grade that counts as relevant is"
                f" part of a measure's name, such as P(rel={lowest:g})@10."
            )
        worse = "a lower score" if name == "min_score" else "a larger distance"
        return f"Results with {worse} are removed."
    return _ADVICE.get(name, "")


_ADVICE = {
    "exclude": "Do the pairs contain more than you meant to leave out?",
    "only": "Are the pairs about these queries, with the same ids as in the run?",
    "ignore": "Do the pairs contain anything but junk?",
    "own": "These queries had only themselves as results.",
    "nonpositive": "Are scores of 0 or less meant to be misses?",
    "unjudged": "None of the results of these queries is judged.",
}


# --- Relevant items that are no candidates ------------------------------------------------------


def count_unreachable(qrels: Qrels, candidates: Candidates) -> dict[str, int]:
    """Count the relevant items that are excluded, and those that are not among ``only``."""
    from germane.readers.options.candidates import find_judged

    relevant = qrels.grades >= 1
    counts = {}
    for name, pairs in candidates.arguments:
        if name == "ignore":
            continue
        is_pair = np.zeros(len(relevant), bool)
        is_pair[find_judged(qrels, pairs)] = True
        lost = relevant & (is_pair if name == "exclude" else ~is_pair)
        counts[name] = int(np.count_nonzero(lost))
    return {name: count for name, count in counts.items() if count}


def explain_unmatched(
    qrels: Qrels, candidates: Candidates, retrieved: Sequence[Hashable]
) -> dict[str, str]:
    """Explain for each option that took nothing out why none of its items is known, if so.

    ``retrieved`` are items of the run, as far as they are known. An id that occurs anywhere is an
    item of the collection, which another system may well have left out of its lists.
    """
    unmatched: dict[str, str] = {}
    for name, pairs in candidates.arguments:
        listed = list(dict.fromkeys(islice(pairs.items, LOOKED)))
        if name == "only" or not listed or (name == "ignore" and qrels.ignored):
            continue
        known_ids = list(dict.fromkeys((*islice(qrels.items, LOOKED), *islice(retrieved, LOOKED))))
        if not set(known_ids).isdisjoint(listed):
            continue
        reason = f"{clip(listed[0])}, the only item of {name}=, was neither retrieved nor judged"
        if len(listed) > 1:
            reason = f"none of the {len(listed):,} items of {name}= was retrieved or judged"
        for item, known_id in islice(find_pairs(listed, known_ids), 1):
            differs = describe_difference(item, known_id)
            reason += f"; {clip(item)} differs from {clip(known_id)} in {differs}"
        unmatched[name] = reason
    return unmatched


def find_unmatched(data: Data) -> Sees:
    """Find options whose items occur in no list and in no judgment."""
    for reason in data.unmatched.values():
        yield Problem(reason, 1)


def find_unreachable(data: Data) -> Sees:
    """Find relevant items that are not candidates but still count as relevant."""
    total = int(np.count_nonzero(data.grades >= 1))
    for name, count in data.unreachable.items():
        share = "all" if count == total else f"{count:,} of"
        items = write_count(total, "relevant item")
        text = (
            f"{name}= leaves out {share} {items}, which no run can find any more, but which still"
            " count in R"
        )
        yield Problem(text, count)


# --- The rows that evaluate ranks ---------------------------------------------------------------


def attach_candidates(judged: Side, candidates: Candidates) -> tuple[Side, Qrels]:
    """Attach candidates to the judgments, and leave out those that are ignored.

    Raises CoverageError where they do not fit.
    """
    from germane.readers.options.candidates import find_judged  # which few checks need

    order = np.argsort(judged.query, kind="stable")
    items, ids = _take(judged.items, judged.item[order]), "text" if judged.text else "typed"
    queries, grades = list(judged.queries), judged.grades[order]
    listed = Qrels(queries, _count_rows(judged), items, grades, ids=ids)
    if candidates.ignore is not None:
        is_counted = np.ones(len(order), bool)
        is_counted[order[find_judged(listed, candidates.ignore)]] = False
        judged = judged.select(is_counted)
    return judged, candidates.attach(listed)


@dataclass(frozen=True, eq=False)
class _Numbered(Batch):
    """A batch that tells which rows of a side are left."""

    row: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def take(self, rows: Ints) -> Self:
        return replace(super().take(rows), row=self.row[rows])


class Ranked(NamedTuple):
    """The rows of a run that evaluate ranks."""

    run: Side  # the best have the highest numbers
    emptied: dict[str, Sequence[Hashable]]  # the options that leave queries without results
    is_selected: bool  # did candidates take results out?


def select_ranked(run: Side, duplicates: str, judged: Qrels | None, policy: Policy) -> Ranked:
    """Select the rows of a run that evaluate ranks, by the same steps.

    ``judged`` has the candidates, if there are some; other queries are not limited to them.
    """
    order = replace(policy.order, padding="keep") if run.places else policy.order
    ranked = run
    if order.scores == "distances" and run.number is not None:
        ranked = replace(run, number=-run.number)
    takes_all = order.takes_all and order.padding == "keep" and duplicates not in ONE_COPY
    if judged is None and takes_all:
        return Ranked(ranked, {}, False)
    is_text = run.text or (judged is not None and judged.ids == "text")
    every = drop_padding(_make_batch(run, is_text), order)
    query_ids = [spell_id(query) if is_text else query for query in run.queries]
    is_judged = np.ones(len(query_ids), bool)
    if judged is not None:
        judged_ids = [spell_id(query) if is_text else query for query in judged.queries]
        is_judged = find_places(query_ids, judged_ids) >= 0
    is_kept = np.zeros(len(run), bool)
    emptied_by = np.zeros(len(query_ids), np.int64)
    is_selected = False
    # Candidates are those of judged queries: other lists stay as they are, and are counted apart.
    for is_mine, candidates in ((is_judged, judged), (~is_judged, None)):
        counted: dict[str, Ints] = {}
        batch: Any = every.take(np.flatnonzero(is_mine[every.owner]))
        pairs = None if candidates is None else candidates.candidates
        reduction = Reduction(_judge_lists(query_ids, pairs, is_text), duplicates, order)
        with suppress(PolicyError):  # which evaluate raises
            batch = reduction.select(batch, counted)
        if duplicates in ONE_COPY:
            batch = batch.take(choose_copies(batch, duplicates))
        is_kept[batch.row] = True
        emptied_by += counted.get("emptied", 0)
        is_selected = is_selected or bool(np.any(counted.get("excluded", 0)))
    names = name_emptying(policy, None if judged is None else judged.candidates)
    emptied = {
        names[kind]: _take(run.queries, np.flatnonzero(emptied_by == number))
        for number, kind in enumerate(EMPTYING)
        if kind and (emptied_by == number).any()
    }
    return Ranked(_keep_rows(ranked, is_kept), emptied, is_selected)


def _make_batch(run: Side, is_text: bool) -> _Numbered:
    """Make a batch of all rows, query by query."""
    rows = np.argsort(run.query, kind="stable")
    offsets = _count_rows(run)
    ids = list(map(spell_id, run.items)) if is_text else list(run.items)
    listed = [ids[i] for i in run.item[rows].tolist()]
    items = Keys([listed[start:end] for start, end in pairwise(offsets.tolist())])
    score, rank = (None if column is None else column[rows] for column in (run.number, run.rank))
    return _Numbered(np.arange(len(run.queries)), offsets, items, score, rank, row=rows)


def _count_rows(run: Side) -> Ints:
    """Find where the rows of each query begin, query by query."""
    return ragged.make_offsets(np.bincount(run.query, minlength=len(run.queries)))


def _keep_rows(run: Side, is_kept: Bools) -> Side:
    """Keep some rows; a query of which none is left has no results."""
    if is_kept.all():
        return run
    left, query = np.unique(run.query[is_kept], return_inverse=True)
    places, item = np.unique(run.item[is_kept], return_inverse=True)
    emptied = np.setdiff1d(np.arange(len(run.queries)), left)
    return replace(
        run.select(is_kept),
        queries=_take(run.queries, left),
        items=_take(run.items, places),
        query=query,
        item=item,
        empty=(*run.empty, *_take(run.queries, emptied)),
    )


def _judge_lists(
    queries: Sequence[Hashable], candidates: Candidates | None, is_text: bool
) -> Judgments:
    """Make judgments of no item, with the candidates. ``is_text``: are all ids text?"""
    none, ids = np.zeros(len(queries) + 1, np.int64), "text" if is_text else "typed"
    lists = Qrels([*queries], none, [], np.zeros(0), ids=ids, candidates=candidates)
    return judge_keys(lists, is_text)


def mark_items(judged: Qrels, lists: Sequence[Sequence[Hashable]]) -> Bools:
    """Mark the items of a list for each query, all of them text, that are candidates."""
    keys, queries = Keys(lists), list(map(spell_id, judged.queries))
    batch = Batch(np.arange(len(lists)), keys.offsets, keys, None)
    return mark_candidates(_judge_lists(queries, judged.candidates, True), batch)


def _take(ids: Sequence[Hashable], places: Ints) -> Sequence[Hashable]:
    return ids.take(places) if isinstance(ids, Ids) else [ids[row] for row in places.tolist()]
