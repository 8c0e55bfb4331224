"""Arrays of scores: (Q, N), or flat with groups."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Ints
from germane.errors import EmptyError, FormatError, GradeError, ScoreError, clip
from germane.retrieval import Qrels, Retrieved
from germane.sources import grid, host, matrix
from germane.sources.id_columns import Integers


def retrieve(
    qrels: Qrels, run: Any, duplicates: str, order: str, progress: object = None
) -> Retrieved:
    """The ranks of the judged columns of (Q, N) scores; a masked cell is not retrieved."""
    scores = host.to_numpy(run, "scores")
    if scores.ndim != 2:
        raise FormatError(
            f"scores have shape (queries, items); got {scores.shape}. Flat arrays need group=…"
        )
    if not scores.size:
        raise EmptyError(f"the run is empty: its shape is {scores.shape}.")
    present = ~np.ma.getmaskarray(scores) if isinstance(scores, np.ma.MaskedArray) else None
    scores = np.asarray(scores)

    def block(asked: slice | Ints) -> tuple[Any, Bools | None]:
        return scores[asked], None if present is None else present[asked]

    return grid.reduced(qrels, scores.shape, block, what="scores")


# --- Flat arrays in groups -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Grouped:
    """A flat array in groups, whose items are numbered by their place in it."""

    values: Any
    queries: list[Hashable]  # G
    offsets: Ints  # G + 1
    place: Ints  # the items of group g: place[offsets[g]:offsets[g + 1]], ascending


def grouped(relevance: Any, scores: Any, group: Any) -> tuple[Any, Grouped | None]:
    """Judgments and run of flat arrays. ``group``: a group id an item, or the size of each group.

    Qrels that are read already, and a run that is None, stay what they are.
    """
    flat = [
        None if given is None or isinstance(given, Qrels) else host.to_numpy(given, what)
        for given, what in ((relevance, "relevance"), (scores, "scores"))
    ]
    shapes = [array.shape for array in flat if array is not None]
    if isinstance(relevance, Qrels):
        shapes.append((relevance.width,))
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise FormatError(
            "with group=…, relevance and scores are flat arrays of one length; got shapes "
            f"{' and '.join(map(str, shapes))}"
        )
    items = shapes[0][0]
    if not items:
        raise EmptyError("the run is empty: its arrays have no items.")
    queries, code = _groups(group, items)
    place = np.argsort(code, kind="stable")
    offsets = _ragged.offsets(np.bincount(code, minlength=len(queries)))
    qrels, run = (
        None if array is None else Grouped(array, queries, offsets, place) for array in flat
    )
    return qrels or relevance, run


def _groups(given: Any, items: int) -> tuple[list[Hashable], Ints]:
    """The groups' ids in the order of their first items, and the group of each item."""
    ids = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(ids, (list, tuple)):
        raise FormatError(f"group is a group id an item, or the sizes of groups; got {clip(given)}")
    if len(ids) == items:
        codes: dict[Hashable, int] = {}
        code = np.array([codes.setdefault(one, len(codes)) for one in ids], np.int64)
        return list(codes), code
    whole = all(isinstance(size, (int, np.integer)) and size >= 0 for size in ids)
    if not whole or sum(ids) != items:
        told = f"; they sum to {sum(ids)}" if whole else ""
        raise FormatError(
            f"group has {len(ids)} values{told}. It is {items} group ids, one an item, or sizes that "
            f"sum to {items}."
        )
    return list(range(len(ids))), np.repeat(np.arange(len(ids)), ids)


def read_grouped(given: Grouped, complete: str) -> Qrels:
    """The judgments of flat grades; only those above 0, unless something looks at the others."""
    grades = given.values
    if grades.dtype.kind == "f" and not np.isfinite(grades).all():
        at = int(np.flatnonzero(~np.isfinite(grades))[0])
        raise GradeError(
            f"relevance, item {at}: a relevance grade is a finite number; got {grades[at]}"
        )
    offsets, place = given.offsets, given.place
    if not complete:
        kept = grades[place] > 0
        left = _ragged.counts(kept, _ragged.owners(offsets), len(given.queries))
        offsets, place = _ragged.offsets(left), place[kept]
    items, judged = Integers(place), grades[place].astype(float)
    return Qrels(given.queries, offsets, items, judged, width=len(grades))


def retrieve_grouped(
    qrels: Qrels, run: Grouped, duplicates: str, order: str, progress: object = None
) -> Retrieved:
    """The ranks of the judged items of flat scores, groups of similar size at a time."""
    sizes = np.diff(run.offsets)
    position = np.empty(len(run.values), np.int64)  # of each item within its group
    position[run.place] = np.arange(len(run.place)) - np.repeat(run.offsets[:-1], sizes)
    number = {query: g for g, query in enumerate(run.queries)}
    group = np.array([number[query] for query in qrels.queries], np.int64)
    columns = position[grid.columns_of(qrels, len(run.values), "scores")]
    parts = []
    for asked in _alike(sizes[group]):
        groups = group[asked]
        column = np.arange(sizes[groups].max())
        present = column < sizes[groups, None]
        scores = np.zeros(present.shape, run.values.dtype)
        items = run.place[(run.offsets[groups, None] + column)[present]]
        scores[present] = run.values[items]
        judgments, owner = grid.owned_judgments(qrels, asked)
        offsets = _ragged.offsets(np.diff(qrels.offsets)[asked])
        try:
            found = matrix.ranks(scores, offsets, columns[judgments], present)
        except matrix.NotFinite as odd:
            item = run.place[run.offsets[groups[odd.row]] + odd.column]
            raise ScoreError(
                f"scores, item {item}: a score is a finite number; got {odd.score}"
            ) from None
        parts.append((judgments[found.order], owner, found.rank, found.tied_from, found.tied_to))
    return grid.retrieved_of(parts, sizes[group], np.arange(len(qrels)), len(qrels))


def _alike(sizes: Ints) -> Iterator[Ints]:
    """Groups in blocks of similar size, so that filling them up at most doubles the memory."""
    power = np.frexp(sizes.astype(float))[1]
    for size in np.unique(power[sizes > 0]).tolist():
        groups = np.flatnonzero((power == size) & (sizes > 0))
        step = max(1, grid.CELLS >> size)
        yield from (groups[start : start + step] for start in range(0, len(groups), step))
