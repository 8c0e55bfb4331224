"""Files of preferences, as the preferences that measures see."""

from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Ints
from germane.errors import InputError
from germane.kernel.ids import shown_id, to_bytes, to_text
from germane.trec_eval.columns import Column
from germane.trec_eval.judgments import Line
from germane.trec_eval.options import Options
from germane.trec_eval.preferences import MEASURES, Group, Judged, partial_order, total_order


def judge(
    lines: list[Line], items: Qrels, got: Retrieved, options: Options, queries: list[int]
) -> tuple[list[Judged], str]:
    """The preferences of some queries, up to one whose preferences contradict, and what is wrong."""
    of_query = {query: list(group) for query, group in groupby(lines, key=itemgetter(0))}
    place, found = _places(items, got, options.depth)
    out: list[Judged] = []
    memory = _Memory()
    for q in queries:
        query = to_bytes(items.queries[q])
        part = slice(*items.offsets[q : q + 2].tolist())
        places = dict(zip(items.items[part], place[part].tolist(), strict=True))
        try:
            groups = [
                _group(
                    [(line[2], places[to_text(line[3])], line[4]) for line in group], len(places)
                )
                for _, group in groupby(sorted(of_query[query]), key=itemgetter(1))
            ]
        except InputError as error:
            return out, f"query {shown_id(query)}: {error}"
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


def values(column: Column, judged: list[Judged]) -> list[float]:
    """The value of each query."""
    measure = MEASURES[column.measure.removeprefix("prefs_")]
    return list(map(measure, judged))


def _places(items: Qrels, got: Retrieved, depth: int | None) -> tuple[Ints, Ints]:
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


def _group(lines: list[tuple[bytes, int, float]], items: int) -> Group:
    """One group's preferences: partial where it has several parts."""
    parts = [_columns([line[1:] for line in part]) for _, part in groupby(lines, key=itemgetter(0))]
    return total_order(*parts[0]) if len(parts) == 1 else partial_order(parts, items)


def _columns(pairs: list[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    place, level = zip(*pairs, strict=True)
    return np.array(place, np.int64), np.array(level, float)
