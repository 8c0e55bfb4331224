"""Removals: rows that options leave out, lists that they empty, and items that no run can find."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from germane.checks.data import Data
from germane.checks.ids import LOOKED
from germane.checks.rows import Problem, Sees, Side, find_places
from germane.core import ragged
from germane.core.finding import show_ids
from germane.core.id_spelling import describe_difference, find_pairs
from germane.core.policy import LIMITS, Policy
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Floats, Ints
from germane.core.retrieved import EMPTYING, ONE_COPY, Retrieved
from germane.errors import clip, write_option
from germane.kernel.columns import Ids, Integers, mark_padding, read_python_ids
from germane.kernel.ids import spell_id
from germane.kernel.keys import Keys
from germane.kernel.reduction import Batch, Judgments, choose_copies, mark_admitted, mark_candidates
from germane.output.formatting import write_count
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
            text = f"{named} leaves {count} without {lost}, of {filled:,} that had some"
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
                "It is a score of the run. The lowest grade that is relevant is part of a measure's"
                f" name, such as P(rel={lowest:g})@10."
            )
        worse = "a lower score" if name == "min_score" else "a larger distance"
        return f"Results with {worse} do not count."
    return _ADVICE.get(name, "")


_ADVICE = {
    "exclude": "Do the pairs hold more than what was meant to be left out?",
    "only": "Are the pairs those of these queries, with ids as in the run?",
    "ignore": "Do the pairs hold more than junk?",
    "own": "These queries are their only results.",
    "nonpositive": "Are scores of 0 and below meant to be misses?",
    "unjudged": "None of their results is judged.",
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
        reason = f"{clip(listed[0])}, the one item of {name}=, was neither retrieved nor judged"
        if len(listed) > 1:
            reason = f"none of the {len(listed):,} items of {name}= was retrieved or judged"
        for item, known_id in islice(find_pairs(listed, known_ids), 1):
            differs = describe_difference(item, known_id)
            reason += f"; {clip(item)} differs from {clip(known_id)} in {differs}"
        unmatched[name] = reason
    return unmatched


def find_unmatched(data: Data) -> Sees:
    """Find options whose items are those of no list and of no judgment."""
    for reason in data.unmatched.values():
        yield Problem(reason, 1)


def find_unreachable(data: Data) -> Sees:
    """Find relevant items that are no candidates, and count as relevant all the same."""
    total = int(np.count_nonzero(data.grades >= 1))
    for name, count in data.unreachable.items():
        share = "all" if count == total else f"{count:,} of"
        items = write_count(total, "relevant item")
        text = (
            f"{name}= leaves out {share} {items}, which no run can find then and which still count"
            " in R"
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


def select_ranked(
    run: Side,
    is_collapsed: bool,
    candidates: Qrels | None,
    policy: Policy,
    emptied: dict[str, Sequence[Hashable]],
) -> Side:
    """Select the rows that evaluate ranks, the highest numbers first.

    Of a run that ``is_collapsed``, the best row of each group counts.

    Notes the options that leave a query without results, and these queries, in ``emptied``.
    """
    order, before = policy.order, len(run.empty)
    names = name_emptying(policy, None if candidates is None else candidates.candidates)
    if policy.scores == "distances" and run.number is not None:
        run = replace(run, number=-run.number)
    if order.padding == "drop" and not run.places:
        run = _keep_rows(run, ~mark_padding(_make_column(run.items))[run.item])
    if is_collapsed:
        run = _drop_copies(run, "max")
    if candidates is not None:
        run = _select_candidates(run, candidates)
        if len(run.empty) > before:
            emptied[names["candidates"]] = run.empty[before:]
            before = len(run.empty)
    if policy.duplicates in ONE_COPY:
        run = _drop_copies(run, policy.duplicates)
    if order.takes_all:
        return run
    rows, batch = _make_batch(run)
    queries = list(map(spell_id, run.queries)) if run.text else run.queries
    judged = Judgments(queries, np.zeros(len(queries) + 1, np.int64), batch.items.part(0, 0))
    is_admitted = np.ones(len(run), bool)
    is_admitted[rows] = mark_admitted(judged, batch, order)
    if is_admitted.all():
        return run
    run = _keep_rows(run, is_admitted)
    if len(run.empty) > before:
        emptied[names["order"]] = run.empty[before:]
    return run


def _make_batch(run: Side) -> tuple[Ints, Batch]:
    """Make a batch of all rows, query by query. Returns their places, too."""
    rows = np.argsort(run.query, kind="stable")
    offsets = _count_rows(run)
    if isinstance(run.items, Ids):
        items: Ids = run.items.take(run.item[rows])
    else:
        listed = [run.items[i] for i in run.item[rows].tolist()]
        items = Keys([listed[start:end] for start, end in pairwise(offsets.tolist())])
    score = None if run.number is None else run.number[rows]
    return rows, Batch(np.arange(len(run.queries)), offsets, items, score)


def _count_rows(run: Side) -> Ints:
    """Find where the rows of each query begin, query by query."""
    return ragged.make_offsets(np.bincount(run.query, minlength=len(run.queries)))


def _drop_copies(run: Side, duplicates: str) -> Side:
    """Keep one row of each item of a query: its first, its last or its highest one."""
    rows = np.argsort(run.query, kind="stable")
    items = Integers(run.item[rows])
    score, rank = (None if column is None else column[rows] for column in (run.number, run.rank))
    batch = Batch(np.arange(len(run.queries)), _count_rows(run), items, score, rank)
    chosen = choose_copies(batch, duplicates)
    return run if len(chosen) == len(run) else run.select(np.sort(rows[chosen]))


def _select_candidates(run: Side, judged: Qrels) -> Side:
    """Select the rows of judged queries whose items are candidates, and all other rows."""
    spelled = run.text or judged.ids == "text"
    query_ids, judged_ids = (
        list(map(spell_id, ids)) if spelled else list(ids) for ids in (run.queries, judged.queries)
    )
    items = list(map(spell_id, run.items)) if spelled else list(run.items)
    is_judged = find_places(query_ids, judged_ids) >= 0
    rows = np.flatnonzero(is_judged[run.query])
    rows = rows[np.argsort(run.query[rows], kind="stable")]
    lists: dict[int, list[Hashable]] = {}
    for q, item in zip(run.query[rows].tolist(), run.item[rows].tolist(), strict=True):
        lists.setdefault(q, []).append(items[item])
    queries, ids = [query_ids[q] for q in lists], "text" if spelled else "typed"
    is_candidate = np.ones(len(run), bool)
    is_candidate[rows] = mark_items(
        replace(judged, queries=queries, ids=ids), [*lists.values()], spelled
    )
    return _keep_rows(run, is_candidate)


def _keep_rows(run: Side, is_kept: Bools) -> Side:
    """Keep some rows; a query of which none is left has no results."""
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


def mark_items(judged: Qrels, lists: Sequence[Sequence[Hashable]], is_text: bool) -> Bools:
    """Mark the items of a list for each query that are candidates, one list after the other.

    ``is_text``: are all items text, as in a file of text?
    """
    none = np.zeros(len(lists) + 1, np.int64)
    queries = replace(judged, offsets=none, items=[], grades=np.zeros(0))
    keys = Keys(lists)
    batch = Batch(np.arange(len(lists)), keys.offsets, keys, None)
    return mark_candidates(judge_keys(queries, is_text), batch)


def _make_column(ids: Sequence[Hashable]) -> Ids:
    return ids if isinstance(ids, Ids) else read_python_ids(list(ids))


def _take(ids: Sequence[Hashable], places: Ints) -> Sequence[Hashable]:
    return ids.take(places) if isinstance(ids, Ids) else [ids[row] for row in places.tolist()]
