"""Removals: lists that options empty, and relevant items that are no candidates."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from germane.checks.data import Data
from germane.checks.ids import LOOKED
from germane.checks.rows import Problem, Sees
from germane.core.finding import show_ids
from germane.core.id_spelling import describe_difference, find_pairs
from germane.core.policy import LIMITS, Policy
from germane.core.qrels import Qrels
from germane.core.ragged import Floats
from germane.core.retrieved import EMPTYING, Retrieved
from germane.errors import clip, write_option
from germane.output.tables import write_count

if TYPE_CHECKING:  # few evaluations need them
    from germane.readers.options.candidates import Candidates

SOME = 0.1  # of the queries: no accident


def name_emptying(policy: Policy, candidates: "Candidates | None") -> dict[str, str]:
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


def count_unreachable(qrels: Qrels, candidates: "Candidates") -> dict[str, int]:
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
    qrels: Qrels, candidates: "Candidates", retrieved: Sequence[Hashable]
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
