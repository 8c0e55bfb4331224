"""Files of judgments as trec_eval reads them, and preferences between two items."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import GermaneError, InputError
from germane.kernel.ids import read_bytes, show_id, to_bytes, to_text
from germane.kernel.reduction import has_repeat
from germane.readers.files import trec
from germane.trec_eval import command_line
from germane.trec_eval.command_line import INPUT, Options, TrecEvalError, parse_real, parse_whole

Line: TypeAlias = tuple[bytes, bytes, bytes, bytes, float]
"""Query, group, subgroup, item and grade."""

# format: the fields of a line; which of them are group, subgroup and item; how the last is read
_FIELDS: dict[str, tuple[str, tuple[int, ...], Callable[[bytes], float]]] = {
    "qrels": ("query 0 item grade", (2,), parse_whole),
    "qrels_jg": ("query group item grade", (1, 2), parse_whole),
    "prefs": ("query group subgroup item level", (1, 2, 3), parse_real),
    "qrels_prefs": ("query group item level", (1, 2), parse_real),
}


def read_grades(options: Options) -> tuple[Qrels, dict[int, bytes]]:
    """The grades by query and item; and by query, an item that is judged twice.

    Raises TrecEvalError for a file that cannot be read, and for a line that is not of its format.
    """
    [lines], grades = _read_columns(options)
    queries: list[Any] = sorted(set(lines.queries))
    place = {query: q for q, query in enumerate(queries)}
    code = np.array([place[query] for query in lines.queries], np.int64)
    owner = np.repeat(code, np.diff(lines.offsets))
    items = lines.items
    if (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable")
        owner, items, grades = owner[order], items.take(order), grades[order]
    offsets = ragged.make_offsets(np.bincount(owner))
    twice: dict[int, bytes] = {}
    if has_repeat(offsets, items, grades):
        counts = Counter(zip(owner.tolist(), items.to_bytes(), strict=True))
        twice = {q: item for (q, item), count in counts.items() if count > 1}
    return Qrels(queries, offsets, items, grades), twice


def read_lines(options: Options) -> list[Line]:
    """The lines of the judgments, by query, group and item. Raises TrecEvalError."""
    columns, grades = _read_columns(options)
    owner = np.repeat(np.arange(len(columns[0].queries)), np.diff(columns[0].offsets))
    queries = [columns[0].queries[stretch] for stretch in owner.tolist()]
    group, *subgroup, item = (lines.items.to_bytes() for lines in columns)
    subgroups = subgroup[0] if subgroup else [b""] * len(item)
    lines = sorted(
        zip(queries, group, subgroups, item, grades.tolist(), strict=True), key=itemgetter(0, 1, 3)
    )
    if options.format == "qrels_jg":
        _check_once(lines, options.qrels)
    return lines


def _read_columns(options: Options) -> tuple[list[trec.Lines], Floats]:
    """The lines with the ids of each column of ids, and their grades."""
    path = options.qrels
    try:
        data = command_line.read_bytes(path).translate(command_line.BLANKS)
    except GermaneError as error:
        raise TrecEvalError(INPUT, str(error)) from None
    form, ids, parse_number = _FIELDS[options.format]
    columns = [_split_lines(data, options, place) for place in ids]
    grades = columns[0].number
    if len(grades) < data.count(b"\n") + (not data.endswith(b"\n")):
        _refuse_blank_line(data, path, form)
    if not len(grades):
        raise TrecEvalError(INPUT, f"{path}: the file is empty: it has no judgments.")
    if parse_number is parse_whole and _EXPONENT.search(data):
        written = _split_lines(data, options, len(form.split()) - 1).items.to_bytes()
        grades = np.array(list(map(parse_number, written)), float)
    return columns, np.trunc(grades) if parse_number is parse_whole else grades


_EXPONENT = re.compile(rb"[eE][-+]?[0-9]+[ \t]*$", re.MULTILINE)
"""An exponent, which is no part of a whole number."""


def _split_lines(data: bytes, options: Options, place: int) -> trec.Lines:
    """The lines, with the field at a place as item. The line after a comment is data."""
    form, _, parse_number = _FIELDS[options.format]
    names = tuple(form.split())
    after_comment = -1

    def read_odd(line: bytes, row: int) -> tuple[bytes, bytes, float] | None:
        nonlocal after_comment
        if line.startswith(b"#") and row != after_comment:
            after_comment = row + len(line) + 1
            return None
        fields = line.split()
        if len(fields) != len(names):
            number = data.count(b"\n", 0, row) + 1
            raise TrecEvalError(
                INPUT,
                f"{options.qrels}:{number}: {len(fields)} fields where a line has {len(names)} "
                f"({form}): {show_id(line)}{_guess_reason(line, fields)}",
            )
        return fields[0], fields[place], parse_number(fields[-1])

    return trec.Lines.of_judgments(data, names, place, read_odd)


def _guess_reason(line: bytes, fields: list[bytes]) -> str:
    if line.startswith(b"#"):
        return "  Of two comments in a row, trec_eval reads the second as data."
    return "  This looks like a run; are the two files swapped?" if len(fields) == 6 else ""


def _refuse_blank_line(data: bytes, path: str, line_text: str) -> None:
    """Refuse a blank line, if there is one: fewer rows than lines can be due to comments."""
    blank = re.search(rb"^[ \t]*$", data.removesuffix(b"\n"), re.MULTILINE) if data else None
    if blank:
        number = data.count(b"\n", 0, blank.start()) + 1
        raise TrecEvalError(
            INPUT,
            f"{path}:{number}: a blank line, which ends trec_eval, too; a line has "
            f"{len(line_text.split())} fields ({line_text}).",
        )


def _check_once(lines: list[Line], path: str) -> None:
    """Groups judge an item once; of other judgments, trec_eval finds repeats at their query."""
    for (query, group, _, item, _), following in pairwise(lines):
        if (query, group, item) == (following[0], following[1], following[3]):
            shown = map(show_id, (group, item, query))
            raise TrecEvalError(
                INPUT, "{}: group {} judges item {} of query {} twice.".format(path, *shown)
            )


def make_item_qrels(lines: list[Line]) -> Qrels:
    """The judged items of each query, each once, whoever judged it; grades are left out."""
    pairs = sorted({(query, item) for query, _, _, item, _ in lines})
    owners, items = zip(*pairs, strict=True)
    return _make_qrels(list(owners), list(items), np.zeros(len(pairs)))


def make_group_qrels(lines: list[Line]) -> tuple[Qrels, np.ndarray]:
    """The grades by query and group of judgments, as if each pair were a query; and its query."""
    owners = [(query, group) for query, group, *_ in lines]
    grades = np.array([grade for *_, grade in lines], float)
    qrels = _make_qrels(owners, [item for *_, item, _ in lines], grades)
    queries = {query: q for q, query in enumerate(dict.fromkeys(query for query, _ in owners))}
    return qrels, np.array([queries[query] for query, _ in dict.fromkeys(owners)])


def _make_qrels(owners: list[Any], items: list[bytes], grades: Floats) -> Qrels:
    """The judgments by owner; those of one owner stand together."""
    counts = Counter(owners)  # in their order
    offsets = ragged.make_offsets(list(counts.values()))
    return Qrels(list(counts), offsets, read_bytes(items), grades)


# --- Preference judgments: which of two items a person prefers, and how a ranking agrees ----------
#
# An item has no grade of relevance here, only a place. The lines of a file become the preferences
# of groups of people, and a measure is the share of these preferences that a ranking meets.


@dataclass(frozen=True, eq=False)
class Group:
    """The preferences of one person, or of several who agree.

    Places count the judged items of the query from 0: first the retrieved ones by rank, then the
    others. An item can be a member more than once, and its preferences then count as often.
    """

    place: Ints  # M, of each member
    level: Floats  # M: 0 is not relevant, above is; NaN where the group does not judge the item
    partial: Bools | None = None  # M × M, is the one preferred? None: if its level is higher

    @property
    def order(self) -> str:
        """The kind of order: total, where levels alone decide, or partial."""
        return "total" if self.partial is None else "partial"

    @cached_property
    def prefers(self) -> Bools:
        """M × M: is the one preferred to the other?"""
        prefers: Bools = self.level[:, None] > self.level
        return prefers if self.partial is None else self.partial

    @property
    def has_repeats(self) -> bool:
        """Is an item a member more than once?"""
        return len(np.unique(self.place)) < len(self.place)


@dataclass(frozen=True, eq=False)
class Judged:
    """One query: the preferences of its groups, and how many of its judged items were retrieved."""

    groups: list[Group]
    items: int
    retrieved: int

    @cached_property
    def counts(self) -> list["Counts"]:
        """Each group's preferences, counted."""
        return [
            (
                count_levels(group, self.retrieved)
                if group.partial is None
                else count_preferences(group, self.retrieved)
            )
            for group in self.groups
        ]

    @cached_property
    def is_single(self) -> bool:
        """Is there one group, whose members are different items?"""
        return len(self.groups) == 1 and not self.groups[0].has_repeats

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Floats]:
        """The pairs of items on which a group has a preference: their places, and the share of
        groups that prefer the one that stands first."""
        votes = np.zeros((self.items, self.items), np.int32)
        for group in self.groups:
            if group.has_repeats:
                first, second = np.nonzero(group.prefers)
                np.add.at(votes, (group.place[first], group.place[second]), 1)
            elif group.partial is None:
                level = np.full(self.items, np.nan)  # which is neither above nor below another
                level[group.place] = group.level
                votes += level[:, None] > level
            else:
                votes += group.partial
        first, second = np.nonzero(np.triu((votes > 0) | (votes.T > 0), 1))
        agree = votes[first, second]
        return first, second, agree / (agree + votes[second, first])


@dataclass(frozen=True)
class Counts:
    """How many of a group's preferences there are, and how many the ranking meets."""

    met: int  # both items are retrieved
    both_retrieved: int
    implied: int  # the preferred item alone is retrieved
    one_retrieved: int
    neither: int

    def select(self, among: str) -> tuple[int, int]:
        """Met and possible preferences: all, or those with both items or at least one retrieved."""
        match among:
            case "both":
                return self.met, self.both_retrieved
            case "one":
                return self.met + self.implied, self.both_retrieved + self.one_retrieved
            case _:
                return (
                    self.met + self.implied,
                    self.both_retrieved + self.one_retrieved + self.neither,
                )


def count_preferences(group: Group, retrieved: int, members: Bools | None = None) -> Counts:
    """Count a group's preferences, or those between these members."""
    prefers = group.prefers if members is None else group.prefers & members & members[:, None]
    preferred, lesser = (group.place[side] for side in np.nonzero(prefers))
    first, second = preferred < retrieved, lesser < retrieved
    return Counts(
        met=int(np.count_nonzero(second & (preferred < lesser))),
        both_retrieved=int(np.count_nonzero(first & second)),
        implied=int(np.count_nonzero(first & ~second)),
        one_retrieved=int(np.count_nonzero(first != second)),
        neither=int(np.count_nonzero(~first & ~second)),
    )


def count_levels(group: Group, retrieved: int) -> Counts:
    """Count the preferences of a group whose members stand by level, the highest first."""
    first = group.place < retrieved
    starts = np.flatnonzero(np.diff(group.level, prepend=np.inf))
    sizes, hits = (np.add.reduceat(ones.astype(np.int64), starts) for ones in (first | True, first))
    lost, higher_found = sizes - hits, np.cumsum(hits) - hits
    both_retrieved = int((hits * higher_found).sum())
    neither = int((lost * (np.cumsum(lost) - lost)).sum())
    possible = int((sizes * (np.cumsum(sizes) - sizes)).sum())
    met, above = 0, np.zeros(0, np.int64)  # the places of retrieved members of higher levels
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        places = group.place[start : start + size]
        places = places[places < retrieved]
        # each member meets as many preferences as members of higher levels stand before it
        met += int(np.searchsorted(above, places).sum())
        above = np.sort(np.concatenate([above, places]))
    return Counts(
        met=met,
        both_retrieved=both_retrieved,
        implied=int((lost * higher_found).sum()),
        one_retrieved=possible - both_retrieved - neither,
        neither=neither,
    )


def order_totally(place: Ints, level: Floats) -> Group:
    """Prefer each member to those of a lower level. Raises InputError for an item with two."""
    order = np.lexsort((place, -level))
    place, level = place[order], level[order]
    # members of one item, the highest level first
    by_item = np.lexsort((np.arange(len(place)), place))
    twice = (np.diff(place[by_item]) == 0) & (np.diff(level[by_item]) != 0)
    if twice.any():
        repeat = by_item[:-1][twice].min()
        high, low = level[repeat], level[(place == place[repeat]) & (level < level[repeat])][0]
        raise InputError(f"an item has two levels, {high:g} and {low:g}.")
    return Group(place, level)


def order_partially(parts: Iterable[tuple[Ints, Floats]], items: int) -> Group:
    """Prefer the members of each part to those of a lower level, and add what follows from that.

    Raises InputError for an item that is relevant in one part and not in another, and for
    preferences that contradict each other.
    """
    level = np.full(items, np.nan)
    prefers = np.zeros((items, items), bool)
    for place, levels in parts:
        order = np.lexsort((place, -levels))
        for item, value in zip(place[order].tolist(), levels[order].tolist(), strict=True):
            if {np.sign(level[item]), np.sign(value)} == {0.0, 1.0}:
                raise InputError(
                    f"an item has level {value:g}, and level {level[item]:g} elsewhere."
                )
            level[item] = value
        better, worse = np.nonzero(levels[:, None] > levels)
        prefers[place[better], place[worse]] = True
    for middle in range(items):  # preferred to it, and it to another: preferred to the other
        prefers |= prefers[:, middle, None] & prefers[middle]
    np.fill_diagonal(prefers, False)
    if (prefers & prefers.T).any():
        raise InputError(
            "preferences contradict each other: two items are each preferred to the other."
        )
    return Group(np.arange(items), level, prefers)


def count_possible(judged: Judged) -> float:
    """The number of preferences."""
    return sum(counts.select("all")[1] for counts in judged.counts)


def count_met(judged: Judged, among: str) -> float:
    """The number of preferences that the ranking meets."""
    return sum(counts.select(among)[0] for counts in judged.counts)


def compute_share(judged: Judged, among: str) -> float:
    """The share of preferences that the ranking meets."""
    pairs = [counts.select(among) for counts in judged.counts]
    return _compute_ratio(sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs))


def average_share(judged: Judged, among: str) -> float:
    """The mean over the groups of the share of preferences met."""
    total = sum(_compute_ratio(*counts.select(among)) for counts in judged.counts)
    return total / len(judged.groups) if total > 0 else 0.0


def average_pair_share(judged: Judged, among: str) -> float:
    """The mean over pairs of items of the share of groups that the ranking agrees with."""
    if judged.is_single:
        return compute_share(judged, among)
    (upper, lower, agree), retrieved = judged.pairs, judged.retrieved
    both_retrieved, first = lower < retrieved, (upper < retrieved) & (lower >= retrieved)
    shares = [agree[both_retrieved]] + ([] if among == "both" else [agree[first]])
    pairs = len(upper) if among == "all" else sum(map(len, shares))
    added = np.add.accumulate(np.concatenate([np.zeros(1), *shares]))  # one after the other
    return _compute_ratio(float(added[-1]), pairs)


def average_balanced_share(judged: Judged, among: str) -> float:
    """The mean over the groups of the share met, with as many nonrelevant items as relevant ones.

    If there are more nonrelevant items, only the first count; if there are fewer, the missing ones
    are taken to stand below all retrieved relevant items. 0 where a group has no preferences.
    """
    total = 0.0
    retrieved = judged.retrieved
    for group, counts in zip(judged.groups, judged.counts, strict=True):
        relevant = group.place[group.level > 0]
        # in a partial order a level below 0 is neither
        nonrelevant = group.place[group.level <= 0 if group.order == "total" else group.level == 0]
        hits = int(np.count_nonzero(relevant < retrieved))
        R, N = len(relevant), len(nonrelevant)
        if among == "both":
            R, N = hits, int(np.count_nonzero(nonrelevant < retrieved))
        if R >= N:
            good, all_ = counts.select(among)
            good, all_ = good + hits * (R - N), all_ + len(relevant) * (R - N)
        elif group.order == "total":
            good, all_ = _count_first_nonrelevant(group, retrieved, R, among)
        else:
            members = _keep_first(group, retrieved, among)
            good, all_ = count_preferences(group, retrieved, members).select(among)
        if all_ == 0:
            return 0.0
        total += good / all_
    return total / len(judged.groups) if total > 0 else 0.0


def _count_first_nonrelevant(
    group: Group, retrieved: int, limit: int, among: str
) -> tuple[int, int]:
    """Met and possible preferences with so many items of the lowest level, or as many as there are.

    As in trec_eval, the members of the lowest level are compared with these items, too.
    """
    place, level = group.place, group.level
    lowest = level == level[-1]
    above, nonrelevant = place[~lowest], place[lowest][:limit]
    if among == "both":
        # up to the first that is not retrieved
        nonrelevant = nonrelevant[np.logical_and.accumulate(nonrelevant < retrieved)]
    better, worse = np.nonzero(level[~lowest][:, None] > level[~lowest])
    first = np.concatenate([above[better], np.repeat(place, len(nonrelevant))])
    second = np.concatenate([above[worse], np.tile(nonrelevant, len(place))])
    if among == "both":
        inside = (first < retrieved) & (second < retrieved)
        first, second = first[inside], second[inside]
    return int(np.count_nonzero((first < second) & (first < retrieved))), len(first)


def _keep_first(group: Group, retrieved: int, among: str) -> Bools:
    """Keep as many nonrelevant members as there are relevant ones, and all other members."""
    nonrelevant = group.level == 0
    if among == "both":
        nonrelevant[retrieved:] = False
    members: Bools = ~nonrelevant | (np.cumsum(nonrelevant) <= np.count_nonzero(group.level > 0))
    return members


def _compute_ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


MEASURES: dict[str, Callable[[Judged], float]] = {
    "num_prefs_poss": count_possible,
    "num_prefs_ful": partial(count_met, among="one"),
    "num_prefs_ful_ret": partial(count_met, among="both"),
    "simp": partial(compute_share, among="all"),
    "pair": partial(average_pair_share, among="all"),
    "avgjg": partial(average_share, among="all"),
    "avgjg_Rnonrel": partial(average_balanced_share, among="all"),
    "simp_ret": partial(compute_share, among="both"),
    "pair_ret": partial(average_pair_share, among="both"),
    "avgjg_ret": partial(average_share, among="both"),
    "avgjg_Rnonrel_ret": partial(average_balanced_share, among="both"),
    "simp_imp": partial(compute_share, among="one"),
    "pair_imp": partial(average_pair_share, among="one"),
    "avgjg_imp": partial(average_share, among="one"),
}
"""The measures by name, without prefs_."""


def judge_preferences(
    lines: list[Line], items: Qrels, retrieved: Retrieved, options: Options, queries: list[int]
) -> tuple[list[Judged], str]:
    """The preferences of some queries up to a contradiction, and that contradiction."""
    of_query = {query: list(group) for query, group in groupby(lines, key=itemgetter(0))}
    place, retrieved_counts = _place_items(items, retrieved, options.depth)
    out: list[Judged] = []
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
        out.append(Judged(groups, len(places), int(retrieved_counts[q])))
    return out, ""


def _place_items(items: Qrels, retrieved: Retrieved, depth: int | None) -> tuple[Ints, Ints]:
    """The place of each judged item in its query (J), and how many of them are retrieved (Q).

    With preferences, and only then, trec_eval orders equal scores by item id from the first to the
    last.
    """
    rank = retrieved.tied_from + retrieved.tied_to - retrieved.rank
    within = rank <= (np.inf if depth is None else depth)
    owner = np.repeat(np.arange(len(items)), np.diff(items.offsets))
    ranks = np.full(len(owner), np.inf)
    ranks[retrieved.judgment[within]] = rank[within]
    order = np.lexsort((ranks, owner))  # items that are not retrieved keep the order of ids
    place = np.empty(len(owner), np.int64)
    place[order] = np.arange(len(owner)) - items.offsets[owner]
    return place, np.bincount(retrieved.owner[within], minlength=len(items))


def _make_group(lines: list[tuple[bytes, int, float]], items: int) -> Group:
    """One group's preferences, from its subgroup, place and level of each line."""
    parts = []
    for _, part in groupby(lines, key=itemgetter(0)):
        _, place, level = zip(*part, strict=True)
        parts.append((np.array(place, np.int64), np.array(level, float)))
    return order_totally(*parts[0]) if len(parts) == 1 else order_partially(parts, items)
