"""Reads what measures of the catalogue need: its items, what users saw before, and how items differ."""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from germane.core.arguments import list_values, parse_whole
from germane.core.catalogue import Catalogue, Lists, Seen
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.errors import CoverageError, FormatError, InputError, NotFoundError, clip, list_some
from germane.kernel.columns import Categories, Ids, Text, join_ids, read_python_ids
from germane.kernel.reduction import Index, find_distinct
from germane.readers import formats, headings, is_path, open_pairs, open_qrels
from germane.readers.files import TextFile
from germane.readers.inputs import Needs, ReadOptions


@dataclass(frozen=True, eq=False)
class CatalogueOptions:
    """The arguments of a caller, once they are read."""

    items: Ids | None = None  # of the catalogue
    size: int | None = None  # of a catalogue whose items are not named
    of_seen: bool = False  # are the items that were seen the catalogue?
    seen: Qrels | None = None
    distance: Any = None
    is_text: bool = False  # do the items of the catalogue come from a file of text?

    def number(self, sample: Ids, is_text: bool) -> tuple[Catalogue, ItemNumbers]:
        """Number the items in advance, as ids of the run's kind. ``is_text``: the run's come from a file of text."""
        named = [] if self.items is None else [("the catalogue", self.items, self.is_text)]
        if self.seen is not None:
            named.append(("seen=", read_python_ids(self.seen.items), self.seen.ids == "text"))
        odd = [(what, ids) for what, ids, _ in named if len(ids) and ids.kind != sample.kind]
        if odd and not (is_text or any(text for _, _, text in named)):
            _refuse_kinds(sample, *odd[0])
        numbers = ItemNumbers(as_text=bool(odd))
        places = [numbers.number(ids) for _, ids, _ in named]
        size = self.size if self.items is None else int(places[0].max()) + 1
        seen = None
        if self.seen is not None:
            seen = Seen(self.seen.offsets, places[-1], len(numbers))
            size = len(numbers) if self.of_seen else size
        numbers.closed = size if self.items is not None or self.of_seen else None
        distance = None if self.distance is None else _Distances(self.distance, numbers)
        return Catalogue(len(numbers), size, seen, distance), numbers


class ItemNumbers:
    """Numbers items in the order in which they first come."""

    def __init__(self, *, as_text: bool = False) -> None:
        self.ids: Ids = Text.empty()
        self.closed: int | None = None  # only so many items may be recommended
        self._as_text = as_text
        self._index: Index | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, items: Ids) -> Ints:
        """Number some items, known or new."""
        items = items.as_text() if self._as_text else items
        if len(items) and len(self.ids) and items.kind != self.ids.kind:
            raise FormatError(
                f"item ids have several types, {self.ids.kind} ({list_some(self.ids)}) and {items.kind} "
                f"({list_some(items)}). Cast some of them."
            )
        found = np.full(len(items), -1) if self._index is None else self._index.find(items)
        new = np.flatnonzero(found < 0)
        if len(new):
            others = items.take(new)
            first, place = find_distinct(others)
            fresh = others.take(first)
            fresh = fresh.as_text() if isinstance(fresh, Categories) else fresh
            found[new] = len(self.ids) + place
            self.ids = join_ids([self.ids, fresh]) if len(self.ids) else fresh.compact()
            self._index = Index(self.ids)
        return found

    def refuse_foreign(self, items: Ints) -> None:
        """Raise CoverageError for recommended items that are not in the catalogue."""
        if self.closed is None or not len(items) or items.max() < self.closed:
            return
        foreign = np.unique(items[items >= self.closed])
        raise CoverageError(
            f"{len(foreign)} recommended item{'s are' if len(foreign) > 1 else ' is'} not in the catalogue: "
            f"{list_some(self.ids.take(foreign).python)}. Add them to catalogue=, or remove them from the run."
        )


def read_options(reading: ReadOptions) -> CatalogueOptions | None:
    """Read ``catalogue``, ``seen`` and ``distance``; None where none is given."""
    given, seen, distance = reading.catalogue, reading.seen, reading.distance
    if isinstance(given, CatalogueOptions):
        return given
    if given is None and seen is None and distance is None:
        return None
    read = None if seen is None else _read_seen(seen, reading)
    if isinstance(given, str) and given == "seen":
        if read is None:
            raise InputError("catalogue='seen' takes the items of seen=…, which is missing.")
        return CatalogueOptions(None, None, True, read, distance)
    size = int(given) if isinstance(given, str) and given.isdecimal() else None
    if not isinstance(given, (str, os.PathLike)):
        size = parse_whole(given)
    if size is not None:
        if size < 1:
            raise InputError(f"catalogue= takes a number of items of at least 1; got {clip(given)}")
        return CatalogueOptions(None, size, False, read, distance)
    if given is None:
        return CatalogueOptions(None, None, False, read, distance)
    items, is_text = _read_items(given)
    if not len(items):
        raise InputError("catalogue= has no items.")
    return CatalogueOptions(items, None, False, read, distance, is_text)


def _read_seen(given: Any, reading: ReadOptions) -> Qrels:
    judged = open_pairs(given, "seen", reading.columns, None)
    if judged is None and not isinstance(given, (Mapping, list, tuple)):
        raise InputError(
            f"seen= takes rows of user and item, as a file or a frame, or {{user: items}}; got {clip(given)}"
        )
    if judged is None and not given:
        raise InputError("seen= has no rows.")
    judged = open_qrels(given) if judged is None else judged
    repeats = "each" if isinstance(given, (Mapping, list, tuple)) else "keep"
    return judged.read(repeats, None, Needs())


def _read_items(given: Any) -> tuple[Ids, bool]:
    """Read the items of a catalogue: a file, a column, a frame of one column of items, or a collection."""
    if is_path(given):
        return _read_file(given)
    names = getattr(given, "column_names", None)
    names = list(getattr(given, "columns", ())) if names is None else names
    if names:
        given = given[_choose_column(list(map(str, names)), "catalogue")]
    values = list_values(given)
    if isinstance(values, (str, bytes)) or not isinstance(values, (Collection, np.ndarray)):
        raise InputError(
            "catalogue= takes the items, a file or a frame of them, their number, or 'seen'; got "
            f"{clip(given)}"
        )
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return read_python_ids(list(dict.fromkeys(values))), False


def _choose_column(names: list[str], where: str) -> str:
    known = [name for name in names if name in headings.NAMES["item"]]
    if len(names) == 1 or len(known) == 1:
        return names[0] if len(names) == 1 else known[0]
    raise FormatError(
        f"{where}: one column of items is needed; found {', '.join(map(clip, names))}. Known names: "
        f"{', '.join(headings.NAMES['item'])}."
    )


def _read_file(path: Any) -> tuple[Ids, bool]:
    chosen = formats.find_format(path, "groups")
    if chosen in ("parquet", "arrow"):
        from pyarrow import feather, parquet

        table = parquet.read_table(path) if chosen == "parquet" else feather.read_table(path)
        name = _choose_column(table.column_names, os.fspath(path))
        return read_python_ids(list(dict.fromkeys(table.column(name).to_pylist()))), False
    lines: list[str] = []
    with TextFile(path, None) as file:
        for block in file.read_blocks("lines"):
            lines += block.data.decode("utf-8", "surrogateescape").splitlines()
    rows = [line for line in lines if line.strip()]
    if chosen == "csv" and rows:
        at = 0
        names = rows[0].split(",")
        if any(name in headings.NAMES["item"] for name in names):
            at, rows = names.index(_choose_column(names, os.fspath(path))), rows[1:]
        rows = [row.split(",")[at] for row in rows]
    return read_python_ids(list(dict.fromkeys(row.strip() for row in rows))), True


def _refuse_kinds(sample: Ids, what: str, ids: Ids) -> None:
    """Raise CoverageError for types of ids that never match."""
    raise CoverageError(
        f"the item ids of the run and of {what} have different types: the run's are {sample.kind} "
        f"({list_some(sample)}), those of {what} are {ids.kind} ({list_some(ids)}). Cast one of them."
    )


class _Distances:
    """Sums the distances of the pairs of lists."""

    def __init__(self, given: Any, numbers: ItemNumbers) -> None:
        if not callable(given) and not isinstance(given, Mapping):
            raise InputError(
                f"distance= takes {{item: vector}}, or a function of two items; got {clip(given)}"
            )
        self._given, self._numbers = given, numbers
        self._known: dict[tuple[Hashable, Hashable], float] = {}
        self._places: dict[str, int] = {}
        self._unit: Floats | None = None
        if isinstance(given, Mapping):
            self._places = {str(item): at for at, item in enumerate(given)}
            self._unit = _scale(given)

    def __call__(self, lists: Lists) -> tuple[Floats, Floats]:
        sums = self._sum_vectors(lists) if self._unit is not None else self._sum_pairs(lists)
        sizes = lists.sizes.astype(float)
        return sums, sizes * (sizes - 1) / 2

    def _sum_vectors(self, lists: Lists) -> Floats:
        """Sum 1 − cosine over the pairs: (n² − |Σ v|²) ÷ 2 for unit vectors v."""
        assert self._unit is not None
        used = np.unique(lists.items)
        place = np.full(int(used.max(initial=-1)) + 1, -1)
        for number, item in zip(used.tolist(), self._numbers.ids.take(used).python, strict=True):
            at = self._places.get(str(item))
            if at is None:
                raise NotFoundError(f"distance= has no vector for the item {clip(item)}.")
            place[number] = at
        units = self._unit[place[lists.items]]
        total = np.zeros((len(lists), units.shape[1]))
        np.add.at(total, lists.owner, units)
        own = np.bincount(lists.owner, weights=(units**2).sum(1), minlength=len(lists))
        sizes = lists.sizes.astype(float)
        sums: Floats = sizes * (sizes - 1) / 2 - ((total**2).sum(1) - own) / 2
        return sums

    def _sum_pairs(self, lists: Lists) -> Floats:
        ids = self._numbers.ids.take(lists.items).python
        return np.array(
            [
                sum(self._measure(a, b) for a, b in combinations(ids[start:end], 2))
                for start, end in zip(
                    lists.offsets.tolist(), lists.offsets[1:].tolist(), strict=False
                )
            ],
            float,
        )

    def _measure(self, a: Hashable, b: Hashable) -> float:
        pair = (a, b)
        if pair not in self._known:
            found = float(self._given(a, b))
            if not np.isfinite(found):
                raise InputError(f"distance= of {clip(a)} and {clip(b)} is not a finite number.")
            self._known[pair] = found
        return self._known[pair]


def _scale(given: Mapping[Any, Any]) -> Floats:
    """Scale the vectors to length 1. Raises InputError for one that is zero, not finite, or of another length."""
    try:
        vectors = np.array([np.asarray(one, float) for one in given.values()])
    except (TypeError, ValueError):
        raise InputError(
            "distance=: the vectors are lists of numbers, all of one length."
        ) from None
    if vectors.ndim != 2:
        raise InputError("distance=: the vectors are lists of numbers, all of one length.")
    lengths = np.sqrt((vectors**2).sum(1))
    odd = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(odd):
        item = list(given)[int(odd[0])]
        raise InputError(f"distance=: the vector of item {clip(item)} is zero or not finite.")
    unit: Floats = vectors / lengths[:, None]
    return unit
