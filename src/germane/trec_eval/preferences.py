"""Preference judgments: which of two items somebody prefers, and how a ranking agrees.

Here nothing has a grade of relevance, only a place. The lines of a file become the preferences of
groups of people, and a measure is the share of them that a ranking meets.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter

import numpy as np

from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Floats, Ints
from germane.core.retrieved import Retrieved
from germane.errors import InputError
from germane.kernel.ids import show_id, to_bytes, to_text
from germane.trec_eval.columns import Column
from germane.trec_eval.judgments import Line
from germane.trec_eval.options import Options


@dataclass(frozen=True, eq=False)
class Group:
    """The preferences of one person, or of several who agree.

    An item's place counts the judged items from 0: those retrieved by rank, then the others. An item
    may be a member more than once, and then its preferences count as often.
    """

    place: Ints  # M, of each member
    level: Floats  # M: 0 is not relevant, above is; NaN where the group does not judge the item
    prefers: Bools  # M × M: is the one preferred to the other?
    order: str  # total, where levels alone decide, or partial
    after: Ints = field(
        default_factory=lambda: np.zeros(0, np.int64)
    )  # what else stands behind the members

    @property
    def relevant(self) -> Ints:
        """The places of relevant members."""
        return self.place[self.level > 0]

    @property
    def nonrelevant(self) -> Ints:
        """The places of members that are not: in a total order, whatever is not relevant."""
        return self.place[self.level <= 0 if self.order == "total" else self.level == 0]


@dataclass(frozen=True, eq=False)
class Judged:
    """One query: the preferences of its groups, and how many of the judged items were retrieved."""

    groups: list[Group]
    items: int
    retrieved: int

    @cached_property
    def counts(self) -> list["Counts"]:
        """Each group's preferences, counted."""
        return [count_preferences(group, self.retrieved) for group in self.groups]

    @cached_property
    def votes(self) -> Ints:
        """items × items: how many groups prefer the item at one place to that at another."""
        votes = np.zeros((self.items, self.items), np.int64)
        for group in self.groups:
            one, other = np.nonzero(group.prefers)
            np.add.at(votes, (group.place[one], group.place[other]), 1)
        return votes


@dataclass(frozen=True)
class Counts:
    """How many of a group's preferences there are, and how many the ranking meets."""

    met: int  # both items are retrieved
    both: int
    implied: int  # the preferred item alone is retrieved
    one: int  # one of the items is
    neither: int

    def of(self, among: str) -> tuple[int, int]:
        """Met and possible preferences among all, those with both items retrieved, or at least one."""
        match among:
            case "both":
                return self.met, self.both
            case "one":
                return self.met + self.implied, self.both + self.one
            case _:
                return self.met + self.implied, self.both + self.one + self.neither


def count_preferences(group: Group, retrieved: int, kept: Bools | None = None) -> Counts:
    """Count a group's preferences, or those between the members that are kept."""
    prefers = group.prefers if kept is None else group.prefers & kept & kept[:, None]
    at, other = (group.place[side] for side in np.nonzero(prefers))
    first, second = at < retrieved, other < retrieved
    return Counts(
        met=int(np.count_nonzero(second & (at < other))),
        both=int(np.count_nonzero(first & second)),
        implied=int(np.count_nonzero(first & ~second)),
        one=int(np.count_nonzero(first != second)),
        neither=int(np.count_nonzero(~first & ~second)),
    )


def order_totally(place: Ints, level: Floats) -> Group:
    """Every member is preferred to those of a lower level.

    Raises InputError for an item with two levels.
    """
    order = np.lexsort((place, -level))
    place, level = place[order], level[order]
    prefers = level[:, None] > level
    both = prefers & (place[:, None] == place)
    if both.any():
        raise InputError(f"an item has two levels, {_show_levels(level, both)}.")
    return Group(place, level, prefers, "total")


def order_partially(parts: Iterable[tuple[Ints, Floats]], items: int) -> Group:
    """Within each part, members are preferred to those of a lower level; and what follows from it.

    Raises InputError for an item that is relevant in one part and not in another, and for
    preferences that contradict each other.
    """
    level = np.full(items, np.nan)
    prefers = np.zeros((items, items), bool)
    for place, given in parts:
        for at, value in sorted(zip(place.tolist(), given.tolist(), strict=True), key=_descend):
            if {np.sign(level[at]), np.sign(value)} == {0.0, 1.0}:
                raise InputError(f"an item has level {value:g}, and level {level[at]:g} elsewhere.")
            level[at] = value
        one, other = np.nonzero(given[:, None] > given)
        prefers[place[one], place[other]] = True
    for middle in range(items):  # what is preferred to it is preferred to what it is preferred to
        prefers |= prefers[:, middle, None] & prefers[middle]
    np.fill_diagonal(prefers, False)
    if (prefers & prefers.T).any():
        raise InputError("preferences contradict each other: two items are each preferred.")
    return Group(np.arange(items), level, prefers, "partial")


def _descend(pair: tuple[int, float]) -> tuple[float, int]:
    return -pair[1], pair[0]


def _show_levels(level: Floats, both: Bools) -> str:
    high, low = (level[side[0]] for side in np.nonzero(both))
    return f"{high:g} and {low:g}"


def count_possible(judged: Judged) -> float:
    """The number of preferences."""
    return sum(counts.of("all")[1] for counts in judged.counts)


def count_met(judged: Judged, among: str) -> float:
    """The number of preferences that the ranking meets."""
    return sum(counts.of(among)[0] for counts in judged.counts)


def compute_share(judged: Judged, among: str) -> float:
    """The share of preferences that the ranking meets."""
    pairs = [counts.of(among) for counts in judged.counts]
    return _compute_ratio(sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs))


def average_share(judged: Judged, among: str) -> float:
    """The mean over the groups of the share of preferences met."""
    total = sum(_compute_ratio(*counts.of(among)) for counts in judged.counts)
    return total / len(judged.groups) if total > 0 else 0.0


def average_pair_share(judged: Judged, among: str) -> float:
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
    return _compute_ratio(float(added[-1]), pairs)


def compute_balanced_share(judged: Judged, among: str) -> float:
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
            good, all_ = _count_first_nonrelevant(group, got, R, among)
        else:
            good, all_ = count_preferences(group, got, _drop_rest(group, got, among)).of(among)
        if all_ == 0:
            return 0.0
        total += good / all_
    return total / len(judged.groups) if total > 0 else 0.0


def _count_first_nonrelevant(group: Group, got: int, most: int, among: str) -> tuple[int, int]:
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


def _drop_rest(group: Group, got: int, among: str) -> Bools:
    """The members without the nonrelevant ones after as many as there are relevant ones."""
    looked_at = np.arange(len(group.place)) < (got if among == "both" else len(group.place))
    nonrelevant = (group.level == 0) & looked_at
    rank: Ints = np.cumsum(nonrelevant)
    kept: Bools = ~(nonrelevant & (rank > len(group.relevant)))
    return kept


def _compute_ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


MEASURES: dict[str, Callable[[Judged], float]] = {
    "num_prefs_poss": count_possible,
    "num_prefs_ful": partial(count_met, among="one"),
    "num_prefs_ful_ret": partial(count_met, among="both"),
    "simp": partial(compute_share, among="all"),
    "pair": partial(average_pair_share, among="all"),
    "avgjg": partial(average_share, among="all"),
    "avgjg_Rnonrel": partial(compute_balanced_share, among="all"),
    "simp_ret": partial(compute_share, among="both"),
    "pair_ret": partial(average_pair_share, among="both"),
    "avgjg_ret": partial(average_share, among="both"),
    "avgjg_Rnonrel_ret": partial(compute_balanced_share, among="both"),
    "simp_imp": partial(compute_share, among="one"),
    "pair_imp": partial(average_pair_share, among="one"),
    "avgjg_imp": partial(average_share, among="one"),
}
"""The measures by name, in print order."""


def judge_preferences(
    lines: list[Line], items: Qrels, got: Retrieved, options: Options, queries: list[int]
) -> tuple[list[Judged], str]:
    """The preferences of some queries, up to one whose preferences contradict, and what is wrong."""
    of_query = {query: list(group) for query, group in groupby(lines, key=itemgetter(0))}
    place, found = _place_items(items, got, options.depth)
    out: list[Judged] = []
    memory = _Memory()
    for q in queries:
        query = to_bytes(items.queries[q])
        part = slice(*items.offsets[q : q + 2].tolist())
        places = dict(zip(items.items[part], place[part].tolist(), strict=True))
        try:
            groups = [
                _make_group(
                    [(line[2], places[to_text(line[3])], line[4]) for line in group], len(places)
                )
                for _, group in groupby(sorted(of_query[query]), key=itemgetter(1))
            ]
        except InputError as error:
            return out, f"query {show_id(query)}: {error}"
        groups = memory.followed(groups, len(of_query[query]))
        out.append(Judged(groups, len(places), int(found[q])))
    return out, ""


class _Memory:
    """The places of all total orders of a query, one after the other, as trec_eval keeps them.

    Behind them stands what is left of the queries before, until one needs more room than there is:
    then all that it has not set holds 0, as fresh memory does in practice.
    """

    def __init__(self) -> None:
        self._places = np.zeros(0, np.int64)

    def followed(self, groups: list[Group], needed: int) -> list[Group]:
        """The groups, each with what stands behind it."""
        if needed > len(self._places):
            self._places = np.zeros(len(self._places) + needed, np.int64)
        written = [group.place for group in groups if group.order == "total"]
        left = self._places[sum(map(len, written)) :]
        self._places = np.concatenate([*written, left])
        ends = iter(np.cumsum(list(map(len, written))).tolist())
        return [
            replace(group, after=self._places[next(ends) :]) if group.order == "total" else group
            for group in groups
        ]


def measure_preferences(column: Column, judged: list[Judged]) -> list[float]:
    """The value of each query."""
    measure = MEASURES[column.measure.removeprefix("prefs_")]
    return list(map(measure, judged))


def _place_items(items: Qrels, got: Retrieved, depth: int | None) -> tuple[Ints, Ints]:
    """J: the place of each judged item among those of its query; Q: how many of them are retrieved.

    Here, unlike elsewhere, trec_eval orders equal scores by item id from the first to the last.
    """
    rank = got.tied_from + got.tied_to - got.rank
    kept = rank <= (np.inf if depth is None else depth)
    owner = np.repeat(np.arange(len(items)), np.diff(items.offsets))
    at = np.full(len(owner), np.inf)
    at[got.judgment[kept]] = rank[kept]
    order = np.lexsort((at, owner))  # what is not retrieved stays in the order of ids
    place = np.empty(len(owner), np.int64)
    place[order] = np.arange(len(owner)) - items.offsets[owner]
    return place, np.bincount(got.owner[kept], minlength=len(items))


def _make_group(lines: list[tuple[bytes, int, float]], items: int) -> Group:
    """One group's preferences: partial where it has several parts."""
    parts = [
        _transpose([line[1:] for line in part]) for _, part in groupby(lines, key=itemgetter(0))
    ]
    return order_totally(*parts[0]) if len(parts) == 1 else order_partially(parts, items)


def _transpose(pairs: list[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    place, level = zip(*pairs, strict=True)
    return np.array(place, np.int64), np.array(level, float)
