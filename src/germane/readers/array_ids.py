"""Ids of the rows and columns of arrays, and groups of columns: chunks of documents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.core.retrieved import Order, Retrieved, Sample
from germane.errors import CoverageError, FormatError, InputError, clip, list_choices, list_some
from germane.kernel.columns import Integers
from germane.kernel.ids import is_integer, is_missing, to_bytes, to_text
from germane.readers import grid
from germane.readers.arrays import NumberedRun
from germane.readers.candidates import Aligned, Candidates, Name, find_candidates, find_columns
from germane.readers.groups import Groups
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.mapping_ids import name_type, spell_id

Ids = Sequence[Hashable]
SIDES = {"query_ids": "rows", "item_ids": "columns"}


def read_ids(given: Any, argument: str) -> list[Hashable]:
    """Read ids: text or whole numbers that differ. Raises FormatError for anything else."""
    values = list_values(given)
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise FormatError(f"{argument} has an id for each row; got {clip(given)}")
    ids = list(values)
    for place, one in enumerate(ids):
        if not (isinstance(one, str) or is_integer(one)) or is_missing(one):
            raise FormatError(
                f"{argument}, place {place}: an id is text or a whole number; got {clip(one)}"
            )
    if len(set(ids)) < len(ids):
        first: dict[Hashable, int] = {}
        for place, one in enumerate(ids):
            if first.setdefault(one, place) != place:
                chunks = (
                    " Are these the documents of chunks? Then give them as collapse=, which ranks documents "
                    "by their best chunk."
                )
                raise FormatError(
                    f"{argument}: {clip(one)} is at places {first[one]} and {place}; give each an id of its "
                    f"own.{chunks * (argument in ('item_ids', 'gallery_ids'))}"
                )
    return ids


def read_both(reading: ReadOptions) -> tuple[list[Hashable] | None, list[Hashable] | None]:
    """Read the ids of rows and of columns; None where there are none."""
    given = {"query_ids": reading.query_ids, "item_ids": reading.item_ids}
    rows, columns = (None if ids is None else read_ids(ids, name) for name, ids in given.items())
    return rows, columns


def read_gallery_ids(query_ids: Any, gallery_ids: Any, shape: tuple[int, int]) -> dict[str, Any]:
    """Read the ids of queries and gallery, as the options by which arrays are named."""
    ids = {}
    sides = (
        ("query_ids", query_ids, shape[0], "queries"),
        ("gallery_ids", gallery_ids, shape[1], "items"),
    )
    for (argument, given, size, what), option in zip(sides, SIDES, strict=True):
        if given is not None:
            ids[option] = read_ids(given, argument)
            check_length(ids[option], size, argument, what)
    return ids


def find_own_places(query_ids: Any, gallery_ids: Any) -> Ints:
    """Find the place of each query in the gallery, -1 for none. Raises InputError if all are -1."""
    own = read_ids(query_ids, "query_ids")
    places = {one: place for place, one in enumerate(read_ids(gallery_ids, "gallery_ids"))}
    found = np.array([places.get(one, -1) for one in own], np.int64)
    if (found < 0).all():
        raise InputError(
            "exclude_self=True excludes the item with the query's id, and no query_ids are in gallery_ids; "
            "give the position of each query in the gallery (-1: not in it)."
        )
    return found


def check_length(ids: Ids | None, size: int, argument: str, what: str) -> None:
    """Raise FormatError unless there is one id for each row."""
    if ids is not None and len(ids) != size:
        raise FormatError(f"{argument} has {len(ids)} ids for {size} {what}.")


def name_rows(given: Any, ids: Ids | None, what: str) -> Any:
    """Make a mapping of lists, sets or mappings, one for each query, which are numbered without ids."""
    if ids is None:
        ids = range(len(given))
    check_length(ids, len(given), "query_ids", f"rows of the {what}")
    pairs = zip(ids, given, strict=True)
    return {
        query: row
        for query, row in pairs
        if what == "run" or not (isinstance(row, Mapping) and not row)
    }


def name_qrels(opened: QrelsInput, query_ids: Ids | None, item_ids: Ids | None) -> QrelsInput:
    """Name the queries and items of judgments that are an array, a CSR matrix or labels."""

    def read(duplicates: str, progress: Progress | None, needs: Needs) -> Qrels:
        read = opened.read(duplicates, progress, needs)
        return name_judgments(read, query_ids, item_ids, "the qrels")

    return replace(opened, read=read)


def name_judgments(qrels: Qrels, query_ids: Ids | None, item_ids: Ids | None, what: str) -> Qrels:
    """Name the queries and items of judgments that are rows and columns; others stay as they are."""
    if qrels.width is None:
        return qrels
    if query_ids is not None:
        check_length(query_ids, len(qrels), "query_ids", f"rows of {what}")
        qrels = replace(qrels, queries=list(query_ids), columns=None)
    if item_ids is not None:
        check_length(item_ids, qrels.width or 0, "item_ids", f"columns of {what}")
        items = [item_ids[column] for column in qrels.items]  # type: ignore[call-overload]
        qrels = replace(qrels, items=items, width=None, columns=None)
    return qrels


def name_run(
    run: RunInput, query_ids: Ids | None, item_ids: Ids | None, groups: Groups | None
) -> RunInput:
    """Name the rows and columns of an array, and collapse its columns into groups."""
    if not isinstance(run, NumberedRun):
        if query_ids is None and item_ids is None:
            return run if groups is None else run.collapse(groups)
        which = "query_ids" if query_ids is not None else "item_ids"
        raise InputError(
            f"{which}= has the ids of the {SIDES[which]} of an array; this run has ids of its own."
        )
    check_length(query_ids, run.find_shape()[0], "query_ids", "queries")
    if item_ids is not None:
        run.check_items(item_ids)
    names, rows = item_ids, None
    if groups is not None:
        rows = run.count_rows()
        run, names = run.collapse_columns(groups, item_ids)
    return NamedArray(run, query_ids, names, rows)


@dataclass(frozen=True, eq=False, repr=False)
class NamedArray(RunInput):
    """An array whose rows, or columns, or both have ids."""

    is_array = True

    array: NumberedRun
    query_ids: Ids | None
    names: Ids | None  # of the columns, or of groups of columns
    rows: Ints | None  # of each row, before they were collapsed; None: they were not

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.array.name

    @property
    def ties(self) -> str:
        return "given"

    @property
    def is_collapsed(self) -> bool:  # type: ignore[override]
        return self.rows is not None

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        rows, columns = self._find_rows(qrels), self._find_columns(qrels)
        asked: list[Hashable] = [row if row >= 0 else -1 - q for q, row in enumerate(rows.tolist())]
        known = np.flatnonzero(columns >= 0)
        left = ragged.count_flags(columns >= 0, ragged.find_owners(qrels.offsets), len(qrels))
        numbered = Qrels(
            asked,
            ragged.make_offsets(left),
            Integers(columns[known]),
            qrels.grades[known],
            qrels.name,
            candidates=self._number_candidates(qrels, asked),
        )
        got = self.array.retrieve(numbered, duplicates, order, progress)
        before = None
        if self.rows is not None:
            before = np.where(rows >= 0, self.rows[rows], 0)
        return replace(
            got,
            judgment=known[got.judgment],
            unknown=[self._name_query(row) for row in got.unknown],
            rows=before,
            sample=None if got.sample is None else partial(self._take_sample, got.sample),
        )

    def _find_rows(self, qrels: Qrels) -> Ints:
        size = self.array.find_shape()[0]
        if self.query_ids is None:
            return grid.find_rows(qrels, size)
        places = self._query_places[qrels.ids == "text"]
        rows = np.array([places.get(query, -1) for query in qrels.queries], np.int64)
        if len(rows) and (rows < 0).all():
            _refuse_types("query", qrels.queries, self.query_ids, "query_ids")
        return rows

    def _find_columns(self, qrels: Qrels) -> Ints:
        if self.names is None:
            return grid.find_columns(qrels, self.array.find_shape()[1], "run")
        if qrels.width is not None:
            raise InputError(
                "the qrels number the items, and with collapse= they are about groups: give "
                "{query: {group: grade}}."
            )
        items = qrels.items.python if hasattr(qrels.items, "python") else qrels.items
        return self._look_up(items, self.names, qrels.ids == "text")

    def _number_candidates(self, qrels: Qrels, asked: list[Hashable]) -> Candidates | None:
        """Number the items of candidates by their columns; None where all items are candidates."""
        if qrels.candidates is None:
            return None
        pairs: dict[str, Qrels] = {}
        for name, one in find_candidates(qrels):
            columns = self._find_candidate_columns(name, one, qrels.ids)
            owner = ragged.find_owners(one.offsets)
            left = ragged.count_flags(columns >= 0, owner, len(qrels))
            items = Integers(columns[columns >= 0])
            pairs[name] = Qrels(asked, ragged.make_offsets(left), items, np.zeros(len(items)), name)
        return Candidates(**pairs)

    def _find_candidate_columns(self, name: Name, pairs: Aligned, ids: str) -> Ints:
        """Find the columns of candidates, -1 for items that the array does not have."""
        if self.names is None:
            return find_columns(pairs, name, self.array.find_shape()[1])
        as_text = "text" in (ids, pairs.ids)
        items = pairs.list_items()
        items = list(map(spell_id, items)) if as_text else items
        return self._look_up(items, self.names, as_text, f"{name}=")

    def _look_up(
        self, items: Sequence[Hashable], names: Ids, as_text: bool, side: str = "the qrels"
    ) -> Ints:
        """Find the columns of items of one side, -1 for items that the array does not have."""
        places = self._item_places[as_text]
        columns = np.array([places.get(item, -1) for item in items], np.int64)
        if len(columns) and (columns < 0).all():
            argument = "groups" if self.is_collapsed else "item_ids"
            _refuse_types("item", items, names, argument, side)
        return columns

    @cached_property
    def _query_places(self) -> tuple[dict[Hashable, int], dict[Hashable, int]]:
        return _number_ids(self.query_ids or ())

    @cached_property
    def _item_places(self) -> tuple[dict[Hashable, int], dict[Hashable, int]]:
        return _number_ids(self.names or ())

    def _name_query(self, row: Any) -> Hashable:
        name: Hashable = row if self.query_ids is None else self.query_ids[row]
        return name

    def _take_sample(self, take: Callable[[int], Sample], most: int) -> Sample:
        sample = take(most)
        if self.query_ids is not None and self.names is not None:
            sample.queries = [self.query_ids[int(row)] for row in sample.queries]  # type: ignore[call-overload]
            sample.items = [self.names[int(item)] for item in sample.items]  # type: ignore[call-overload]
            sample.ids = "typed"
        return sample

    def select(
        self, qrels: Qrels, duplicates: str, progress: Progress | None = None
    ) -> tuple[RunInput | None, list[Any], list[Any]]:
        row = int(self._find_rows(qrels)[0])
        if row < 0:
            return None, [], []
        items, scores = self.array.list_items(row)
        return self, items if self.names is None else [self.names[at] for at in items], scores

    def drop_excluded(self, qrels: Qrels) -> Qrels:
        """Drop the judgments of items that are excluded for their query."""
        return self.array.drop_excluded(qrels, self._find_rows(qrels), self._find_columns(qrels))


def _number_ids(ids: Ids) -> tuple[dict[Hashable, int], dict[Hashable, int]]:
    """Number ids as they are, and as a file of text spells them."""
    plain = {one: place for place, one in enumerate(ids)}
    text = {to_text(to_bytes(one)): place for place, one in enumerate(ids)}
    return plain, text  # type: ignore[return-value]


def _refuse_types(
    what: str, judged: Sequence[Hashable], own: Ids, argument: str, side: str = "the qrels"
) -> None:
    """Raise CoverageError for ids that cannot match, since their types differ."""
    kinds = [sorted({name_type(one) for one in side}) for side in (judged, own)]
    if not set(kinds[0]) & set(kinds[1]):
        raise CoverageError(
            f"no {what} of {side} is in {argument}: those of {side} are {list_choices(kinds[0])} "
            f"({list_some(judged)}), these are {list_choices(kinds[1])} ({list_some(own)})."
        )
