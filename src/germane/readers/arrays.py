"""Arrays of scores: (Q, N), or flat with groups."""

import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.qrels import Order, Qrels, Retrieved
from germane.core.ragged import Ints
from germane.core.values import listed
from germane.errors import (
    EmptyError,
    FormatError,
    GradeError,
    ScoreError,
    clip,
    explain_not_finite,
    some,
)
from germane.kernel.columns import Integers
from germane.kernel.ids import as_integer, is_missing
from germane.readers import grid, host, matrix, relevance
from germane.readers.inputs import RunInput


class PlacedRun(RunInput):
    """A run whose items have no ids, and are numbered by their place."""

    is_array = True

    @property
    def ties(self) -> str:
        return "given"

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        """List the items of a query in the order given, and their scores, which ids do not have."""
        return [], []

    def select(
        self, qrels: Qrels, duplicates: str, progress: object = None
    ) -> tuple[RunInput | None, list[Any], list[Any]]:
        query = qrels.queries[0]
        return self, *self.list_items(as_integer(query) if qrels.ids == "text" else query)


class ScoreArray(PlacedRun):
    """Scores (Q, N): row q has those of query q."""

    def __init__(self, array: Any) -> None:
        self.array = array
        name = getattr(array, "name", None)
        self.name = name if isinstance(name, str) else "run"

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        if not isinstance(query, int) or not 0 <= query < len(self.array):
            return [], []
        row = host.to_numpy(self.array[query], "the run")
        return _there(np.arange(len(row)), row)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        return retrieve(qrels, self.array, order)


def retrieve(qrels: Qrels, run: Any, order: Order) -> Retrieved:
    """The ranks of the judged columns of (Q, N) scores; a masked cell is not retrieved."""
    scores = host.to_numpy(run, "scores")
    if scores.ndim != 2:
        raise FormatError(
            f"scores have shape (queries, items); got {scores.shape}. Flat arrays need group=…"
        )
    if not scores.size:
        raise EmptyError(f"the run is empty: its shape is {scores.shape}.")
    masked = isinstance(scores, np.ma.MaskedArray)

    def block(asked: Ints) -> tuple[Any, Ints | None]:
        part = scores[ragged.as_slice(asked)]
        _check_finite(part, asked)
        return _filled(part) if masked else (part, None)

    return grid.reduced(qrels, scores.shape, block, order, what="scores")


def _check_finite(scores: Any, rows: Ints) -> None:
    """Refuse NaN and infinity in cells that are not masked."""
    finite = np.isfinite(np.ma.getdata(scores))
    if np.ma.is_masked(scores):
        finite |= np.ma.getmaskarray(scores)
    if not finite.all():
        row, column = map(int, np.argwhere(~finite)[0])
        wrong = explain_not_finite("score", f"got {scores[row, column]}")
        raise ScoreError(f"scores, row {rows[row]}, column {column}: {wrong}")


def _filled(scores: Any) -> tuple[Any, Ints]:
    """Scores with -inf in the cells that are masked, and how many of each row these are."""
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float32)  # of bools
    return scores.filled(-np.inf), np.count_nonzero(np.ma.getmaskarray(scores), axis=1)


def _there(items: Ints, scores: Any) -> tuple[list[int], list[float]]:
    """Without those that are masked."""
    there = ~np.ma.getmaskarray(scores)
    return items[there].tolist(), np.ma.getdata(scores)[there].tolist()


# --- Flat arrays in groups -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(PlacedRun):
    """A flat array in groups, whose items are numbered by their place in it."""

    name = "run"

    values: Any
    queries: list[Hashable]  # G
    offsets: Ints  # G + 1
    place: Ints  # the items of group g: place[offsets[g]:offsets[g + 1]], ascending

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        if query not in self.queries:
            return [], []
        start, stop = self.offsets[self.queries.index(query) :][:2].tolist()
        places = self.place[start:stop]
        return _there(places, self.values[places])

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        return retrieve_grouped(qrels, self, order)


def grouped(grades: Any, scores: Any, group: Any) -> tuple[Any, Grouped | None]:
    """Judgments and run of flat arrays. ``group``: a group id an item, or the size of each group.

    Qrels that are read already, and a run that is None, stay what they are.
    """
    flat = [
        None if given is None or isinstance(given, Qrels) else host.to_numpy(given, what)
        for given, what in ((grades, "relevance"), (scores, "scores"))
    ]
    shapes = [array.shape for array in flat if array is not None]
    if isinstance(grades, Qrels):
        shapes.append((grades.width,))
    if len(set(shapes)) != 1 or len(shapes[0]) != 1:
        raise FormatError(
            "with group=…, relevance and scores are flat arrays of one length; got shapes "
            f"{' and '.join(map(str, shapes)) or 'none'}"
        )
    _check_labels({"relevance": grades, "scores": scores, "group": group})
    items = shapes[0][0]
    if not items:
        raise EmptyError("the run is empty: its arrays have no items.")
    queries, code = _groups(group, items)
    place = np.argsort(code, kind="stable")
    offsets = ragged.offsets(np.bincount(code, minlength=len(queries)))
    qrels, run = (
        None if array is None else Grouped(array, queries, offsets, place) for array in flat
    )
    return qrels or grades, run


def _check_labels(given: dict[str, Any]) -> None:
    """Refuse pandas Series whose labels differ: by their places, items would get others' scores."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    labels = {name: one.index for name, one in given.items() if isinstance(one, pandas.Series)}
    for (one, mine), (other, theirs) in combinations(labels.items(), 2):
        if len(mine) == len(theirs) and not mine.equals(theirs):
            raise FormatError(
                f"{one} and {other} are Series with different labels: {some(mine.tolist())} and "
                f"{some(theirs.tolist())}. {other}.loc[{one}.index] brings them into one order; "
                "to_numpy() of both takes them by their places."
            )


def _groups(given: Any, items: int) -> tuple[list[Hashable], Ints]:
    """The groups' ids in the order of their first items, and the group of each item."""
    ids = listed(given)
    if not isinstance(ids, (list, tuple)):
        raise FormatError(f"group is a group id an item, or the sizes of groups; got {clip(given)}")
    if len(ids) == items:
        for one in () if {str, int}.issuperset(map(type, ids)) else ids:
            if isinstance(one, float) or not isinstance(one, Hashable) or is_missing(one):
                raise FormatError(f"a group's id is an integer or text; got {clip(one)}")
        codes = {one: code for code, one in enumerate(dict.fromkeys(ids))}
        return list(codes), np.fromiter(map(codes.__getitem__, ids), np.int64, items)
    whole = all(isinstance(size, (int, np.integer)) and size >= 0 for size in ids)
    if not whole or sum(ids) != items:
        told = f"; they sum to {sum(ids)}" if whole else ""
        raise FormatError(
            f"group has length {len(ids)}{told}. It is {items} group ids, one an item, or sizes that "
            f"sum to {items}."
        )
    return list(range(len(ids))), np.repeat(np.arange(len(ids)), ids)


def read_grouped(given: Grouped, complete: str) -> Qrels:
    """The judgments of flat grades; only those above 0, unless something looks at the others."""
    grades, place = given.values, given.place
    finite = np.isfinite(np.ma.getdata(grades)) | np.ma.getmask(grades)
    if not finite.all():
        at = int(np.flatnonzero(~finite)[0])
        wrong = explain_not_finite("relevance grade", f"got {grades[at]}")
        raise GradeError(f"relevance, item {at}: {wrong}")
    kept = ~np.ma.getmaskarray(grades)
    if not complete:
        kept &= np.ma.getdata(grades) > 0
    left = ragged.counts(kept[place], ragged.owners(given.offsets), len(given.queries))
    place = place[kept[place]]
    judged = np.ma.getdata(grades)[place].astype(float)
    if (large := relevance.beyond(judged)) is not None:
        raise relevance.out_of_range(f"relevance, item {place[large]}", judged[large])
    return Qrels(given.queries, ragged.offsets(left), Integers(place), judged, width=len(grades))


def retrieve_grouped(qrels: Qrels, run: Grouped, order: Order) -> Retrieved:
    """The ranks of the judged items of flat scores, groups of similar size at a time."""
    values, sizes = _floats(run.values, order), np.diff(run.offsets)
    if not order.plain:
        values = values.astype(float)
        values[run.place] = grid.admitted(values[run.place], run.offsets, order)
    owner = ragged.owners(run.offsets)
    position = np.empty(len(values), np.int64)  # of each item within its group
    position[run.place] = np.arange(len(values)) - run.offsets[owner]
    missing = ragged.counts(values[run.place] == -np.inf, owner, len(sizes))
    number = {query: g for g, query in enumerate(run.queries)}
    group = np.array([number[query] for query in qrels.queries], np.int64)
    flat = grid.columns_of(qrels, len(values), "scores")
    hits = grid.Hits(len(flat))
    for asked in _alike(sizes[group]):
        groups = group[asked]
        column = np.arange(sizes[groups].max())
        present = column < sizes[groups, None]
        scores = np.full(present.shape, -np.inf, values.dtype)
        scores[present] = values[run.place[(run.offsets[groups, None] + column)[present]]]
        judgments, judged = grid.judgments_of(qrels, asked)
        query = np.repeat(asked, judged)
        there = values[flat[judgments]] > grid.floor(order)
        judgments, query = judgments[there], query[there]
        offsets = np.append(np.searchsorted(query, asked), len(query))
        hits.add(judgments, query, matrix.ranks(scores, offsets, position[flat[judgments]]))
    retrieved = (sizes - missing)[group]
    return hits.result(retrieved, np.arange(len(qrels)), len(qrels))


def _floats(scores: Any, order: Order) -> Any:
    """Flat scores with -inf where they are masked. Whole numbers keep their order and their ties."""
    values, mask = np.ma.getdata(scores), np.ma.getmask(scores)
    if values.dtype.kind == "f":
        finite = np.isfinite(values) | mask
        if not finite.all():
            item = int(np.flatnonzero(~finite)[0])
            wrong = explain_not_finite("score", f"got {values[item]}")
            raise ScoreError(f"scores, item {item}: {wrong}")
    elif values.dtype.itemsize < 8 or not order.plain:
        values = values.astype(float)
    else:  # more digits than a double has
        values = np.unique(values, return_inverse=True)[1].astype(float)
    return np.where(mask, values.dtype.type(-np.inf), values)


def _alike(sizes: Ints) -> Iterator[Ints]:
    """Groups in blocks of similar size, so that filling them up at most doubles the memory."""
    power = np.frexp(sizes.astype(float))[1]
    for size in np.unique(power[sizes > 0]).tolist():
        groups = np.flatnonzero((power == size) & (sizes > 0))
        step = max(1, grid.CELLS >> size)
        yield from (groups[start : start + step] for start in range(0, len(groups), step))
