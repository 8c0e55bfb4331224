"""Columns of ids put together, and the different ones among their ids."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from germane._ragged import Ints
from germane.errors import FormatError
from germane.sources.id_columns import (
    Categories,
    IdColumn,
    Integers,
    ShortTexts,
    Texts,
    equal,
)


def joined(parts: Sequence[IdColumn]) -> IdColumn:
    """The rows of columns of one kind, one after the other."""
    import pyarrow as pa

    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, Integers) for part in parts):
        return Integers(np.concatenate([part.values for part in parts]))  # type: ignore[attr-defined]
    if all(isinstance(part, ShortTexts) for part in parts):
        return ShortTexts(np.concatenate([part.views for part in parts]))  # type: ignore[attr-defined]
    if all(isinstance(part, Categories) for part in parts):
        categories = _of_categories(parts)  # type: ignore[arg-type]
        if categories is not None:
            return categories
    try:
        return Texts(pa.concat_arrays([part.text().values for part in parts]))
    except pa.ArrowInvalid:
        raise FormatError(
            "more than 2 GiB of ids of one query, or of rows that are not grouped by query; sort them by query first."
        ) from None


def _of_categories(parts: Sequence[Categories]) -> Categories | None:
    """Their rows in one list of entries; None where it would not be shorter than they are."""
    lists = list({id(part.entries): part.entries for part in parts}.values())
    codes = [part.codes for part in parts]
    if len(lists) == 1:
        return Categories(lists[0], np.concatenate(codes))
    if sum(map(len, lists)) >= sum(map(len, codes)):
        return None
    base, *others = lists  # most have the same entries, in another order
    places = [one.among(base).copy() for one in others]
    lacking = [np.flatnonzero(place >= len(base)) for place in places]
    added = joined([one.chosen(rows) for one, rows in zip(others, lacking, strict=True)])
    first, number = distinct(added)
    ends = np.cumsum(list(map(len, lacking)))[:-1]
    for place, rows, numbers in zip(places, lacking, np.split(number, ends), strict=True):
        place[rows] = len(base) + numbers
    place_of = dict(zip(map(id, others), places, strict=True))
    codes = [
        part.codes if part.entries is base else place_of[id(part.entries)].take(part.codes)
        for part in parts
    ]
    entries = joined([base, added.chosen(first)]) if len(first) else base
    return Categories(entries, np.concatenate(codes))


def distinct(ids: IdColumn) -> tuple[Ints, Ints]:
    """The rows in which each id first appears, and for every row the place of its id among them."""
    words = ids.words()
    order = np.argsort(words)
    ordered = words[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(words)])
    first = np.minimum.reduceat(order, starts) if len(starts) else order
    by_row = np.argsort(first)
    place = np.empty(len(first), np.int64)
    place[by_row] = np.arange(len(first))
    places = np.empty(len(words), np.int64)
    places[order] = np.repeat(place, np.diff(np.append(starts, len(words))))
    first = first[by_row]
    if not equal(ids, np.arange(len(ids)), ids, first[places]).all():  # words of two ids are equal
        seen: dict[Hashable, int] = {}
        places = np.array([seen.setdefault(one, len(seen)) for one in ids.python])
        return np.unique(places, return_index=True)[1], places
    return first, places
