"""Measures of preferences: the share of preferences that a ranking meets.

They differ in which preferences count (all; those with one of the items retrieved, or both), and in
what is added up: preferences, pairs of items, or the shares of the groups.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from germane.core.ragged import Bools, Ints
from germane.trec_eval.preferences.judgments import Group, Judged, counted


def possible(judged: Judged) -> float:
    """The number of preferences."""
    return sum(counts.of("all")[1] for counts in judged.counts)


def met(judged: Judged, among: str) -> float:
    """The number of preferences that the ranking meets."""
    return sum(counts.of(among)[0] for counts in judged.counts)


def share(judged: Judged, among: str) -> float:
    """The share of preferences that the ranking meets."""
    pairs = [counts.of(among) for counts in judged.counts]
    return _ratio(sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs))


def mean_share(judged: Judged, among: str) -> float:
    """The mean over the groups of the share of preferences met."""
    total = sum(_ratio(*counts.of(among)) for counts in judged.counts)
    return total / len(judged.groups) if total > 0 else 0.0


def pair_share(judged: Judged, among: str) -> float:
    """The mean over pairs of items of the share of groups that the ranking agrees with."""
    votes, got = judged.votes, judged.retrieved
    either = np.triu(votes + votes.T, 1)
    agree = np.divide(votes, either, out=np.zeros(votes.shape), where=either > 0)
    both, one = either[:got, :got] > 0, either[:got, got:] > 0
    shares = [agree[:got, :got][both]] + ([] if among == "both" else [agree[:got, got:][one]])
    pairs = sum(map(len, shares))
    if among == "all":
        pairs += int(np.count_nonzero(either[got:, got:]))
    added = np.add.accumulate(np.concatenate([np.zeros(1), *shares]))  # one after the other
    return _ratio(float(added[-1]), pairs)


def balanced_share(judged: Judged, among: str) -> float:
    """The mean over the groups of the share met, with as many nonrelevant items as relevant ones.

    Of more nonrelevant items, the first count; missing ones are taken to stand below all relevant
    items that are retrieved. 0 where a group has no preferences at all.
    """
    total = 0.0
    for group, counts in zip(judged.groups, judged.counts, strict=True):
        got = judged.retrieved
        relevant, nonrelevant = group.relevant, group.nonrelevant
        found = int(np.count_nonzero(relevant < got))
        R, N = len(relevant), len(nonrelevant)
        if among == "both":
            R, N = found, int(np.count_nonzero(nonrelevant < got))
        if R >= N:
            good, all_ = counts.of(among)
            good, all_ = good + found * (R - N), all_ + len(relevant) * (R - N)
        elif group.order == "total":
            good, all_ = _first_nonrelevant(group, got, R, among)
        else:
            good, all_ = counted(group, got, _without_rest(group, got, among)).of(among)
        if all_ == 0:
            return 0.0
        total += good / all_
    return total / len(judged.groups) if total > 0 else 0.0


def _first_nonrelevant(group: Group, got: int, most: int, among: str) -> tuple[int, int]:
    """Met and possible preferences with so many items of the lowest level.

    As in trec_eval, every member of the lowest level is compared with these, too; and where so many
    do not have it, as others are below 0, those that follow are taken for the rest, whoever they are.
    """
    place, level = group.place, group.level
    lowest = level == level[-1]
    above, kept = place[~lowest], np.append(place[lowest], group.after)[:most]
    if among == "both":
        kept = kept[np.logical_and.accumulate(kept < got)]  # up to the first that is not retrieved
    one, other = np.nonzero(level[~lowest][:, None] > level[~lowest])
    first = np.concatenate([above[one], np.repeat(place, len(kept))])
    second = np.concatenate([above[other], np.tile(kept, len(place))])
    if among == "both":
        inside = (first < got) & (second < got)
        first, second = first[inside], second[inside]
    return int(np.count_nonzero((first < second) & (first < got))), len(first)


def _without_rest(group: Group, got: int, among: str) -> Bools:
    """The members without the nonrelevant ones after as many as there are relevant ones."""
    looked_at = np.arange(len(group.place)) < (got if among == "both" else len(group.place))
    nonrelevant = (group.level == 0) & looked_at
    rank: Ints = np.cumsum(nonrelevant)
    kept: Bools = ~(nonrelevant & (rank > len(group.relevant)))
    return kept


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


MEASURES: dict[str, Callable[[Judged], float]] = {
    "num_prefs_poss": possible,
    "num_prefs_ful": partial(met, among="one"),
    "num_prefs_ful_ret": partial(met, among="both"),
    "simp": partial(share, among="all"),
    "pair": partial(pair_share, among="all"),
    "avgjg": partial(mean_share, among="all"),
    "avgjg_Rnonrel": partial(balanced_share, among="all"),
    "simp_ret": partial(share, among="both"),
    "pair_ret": partial(pair_share, among="both"),
    "avgjg_ret": partial(mean_share, among="both"),
    "avgjg_Rnonrel_ret": partial(balanced_share, among="both"),
    "simp_imp": partial(share, among="one"),
    "pair_imp": partial(pair_share, among="one"),
    "avgjg_imp": partial(mean_share, among="one"),
}
"""The measures by name, in print order."""
