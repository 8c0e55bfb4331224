"""Candidates: the items that may be retrieved for a query, by ``exclude=`` and ``only=``.

Judgments carry them, so that every reader removes other results before it counts ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.errors import (
    CoverageError,
    InputError,
    explain_types,
    list_choices,
    list_some,
    name_type,
)
from germane.kernel.columns import Ids, Integers, read_python_ids
from germane.kernel.ids import as_integer, is_integer, spell_id

Pairs: TypeAlias = Qrels
"""Pairs of query and item; the grades mean nothing."""
Name: TypeAlias = Literal["exclude", "only"]


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Items that are not candidates, and those that alone are; None where all items are."""

    exclude: Pairs | None = None
    only: Pairs | None = None

    def attach(self, qrels: Qrels) -> Qrels:
        """Attach the candidates to judgments.

        Raises CoverageError if ``only`` lacks a judged query, and if ``exclude`` has none of them.
        """
        for name, pairs in self.arguments:
            lacking = _list_lacking(pairs, qrels)
            rows = len(qrels) if qrels.width is not None else None
            if rows is not None and pairs.width is not None and len(pairs) != rows:
                raise InputError(f"{name}= has {len(pairs)} rows, the qrels have {rows}.")
            has_none = len(lacking) == len(qrels) and len(pairs) > 0
            if has_none and len(qrels):
                raise CoverageError(
                    f"no query of {name}= is in the qrels. {name}: {list_some(pairs.queries)};"
                    f" qrels: {list_some(qrels.queries)}  Are these the same ids?"
                )
            if name == "only" and lacking:
                raise CoverageError(
                    f"only= has no candidates for {list_some(lacking)} ({len(lacking)} of"
                    f" {len(qrels)} judged queries). An empty list says that a query has none."
                )
        return replace(qrels, candidates=self)

    def attach_to_lists(self, users: Qrels) -> Qrels:
        """Attach them to unjudged lists. Raises CoverageError if ``only`` lacks one."""
        lacking = [] if self.only is None else _list_lacking(self.only, users)
        if lacking:
            raise CoverageError(
                f"only= has no candidates for {list_some(lacking)}, whose whole list counts. An"
                " empty list says that a query has none."
            )
        return replace(users, candidates=self)

    @property
    def arguments(self) -> list[tuple[Name, Pairs]]:
        """The arguments that are given, each with its pairs."""
        both: tuple[tuple[Name, Pairs | None], ...] = (
            ("exclude", self.exclude),
            ("only", self.only),
        )
        return [(name, pairs) for name, pairs in both if pairs is not None]


class Aligned(NamedTuple):
    """Pairs by judged query: those of query q are ``items[offsets[q]:offsets[q + 1]]``."""

    offsets: Ints
    items: Ids
    ids: str  # text or typed, as those of Qrels
    width: int | None  # of an array whose columns are the items
    given: Sequence[Hashable]  # as they were given, and the rows of these pairs among them
    rows: Ints

    def list_items(self) -> list[Hashable]:
        """List the items as they were given."""
        given = self.given.python if isinstance(self.given, Ids) else self.given
        return [given[row] for row in self.rows.tolist()]

    def read_digits(self) -> Aligned:
        """Read digits of a file of text as integers, without ids that are none; as they are if an
        integer is too long.
        """
        numbers = list(map(as_integer, self.items.python))
        kept = np.fromiter(map(is_integer, numbers), bool, len(numbers))
        items = read_python_ids(
            [one for one, is_kept in zip(numbers, kept, strict=True) if is_kept]
        )
        if not isinstance(items, Integers):
            return self
        offsets = ragged.make_offsets(kept)[self.offsets]
        return self._replace(offsets=offsets, items=items, rows=self.rows[kept])


def find_candidates(qrels: Qrels) -> list[tuple[Name, Aligned]]:
    """Find the pairs of judgments, in the order of the judged queries; none if all items count."""
    given = [] if qrels.candidates is None else qrels.candidates.arguments
    return [(name, _align(pairs, qrels)) for name, pairs in given]


def _find_queries(pairs: Pairs, qrels: Qrels) -> Ints:
    """Find the place of each judged query among the pairs, or -1."""
    if pairs.ids == qrels.ids:
        position, queries = pairs.position, qrels.queries
    else:
        position = {spell_id(query): at for query, at in pairs.position.items()}
        queries = list(map(spell_id, qrels.queries))
    return np.fromiter((position.get(query, -1) for query in queries), np.int64, len(queries))


def _list_lacking(pairs: Pairs, qrels: Qrels) -> list[Hashable]:
    """List the judged queries that the pairs lack."""
    at = _find_queries(pairs, qrels).tolist()
    return [query for query, place in zip(qrels.queries, at, strict=True) if place < 0]


def fit_items(ids: Ids, retrieved: Ids) -> Ids:
    """Fit ids to those of a run: none have its kind, and integers its type if they fit."""
    if not len(ids):
        return retrieved.part(0, 0)
    if not (isinstance(ids, Integers) and isinstance(retrieved, Integers)):
        return ids
    wanted = retrieved.values.dtype
    fits = wanted == ids.values.dtype or ids.values.view(np.int64).min() >= 0
    return Integers(ids.values.astype(wanted)) if fits else ids


def _align(pairs: Pairs, qrels: Qrels) -> Aligned:
    at = _find_queries(pairs, qrels)
    known = at >= 0
    lengths = np.zeros(len(at), np.int64)
    lengths[known] = ragged.find_lengths(pairs.offsets)[at[known]]
    rows = ragged.list_stretches(pairs.offsets[at[known]], lengths[known])
    items = read_python_ids(pairs.items).take(rows)
    return Aligned(ragged.make_offsets(lengths), items, pairs.ids, pairs.width, pairs.items, rows)


# --- In the ids of a run ----------------------------------------------------------------------


def refuse_types(
    qrels: Qrels, unmatched: Mapping[str, bool], find_types: Callable[[], set[str]]
) -> None:
    """Refuse pairs whose types no result has; ``unmatched``: is no result among the pairs?"""
    for name, pairs in find_candidates(qrels):
        is_odd = unmatched[name] and pairs.ids != "text"
        types = {name_type(one) for one in pairs.list_items()} if is_odd else set()
        if types and not types & (own := find_types()):
            its = f"{list_choices(sorted(types))} ({list_some(pairs.list_items())})"
            raise CoverageError(explain_types("item", f"{name}=", list_choices(sorted(own)), its))


def match_items(
    qrels: Qrels, retrieved: Ids, ids: str, *, as_text: bool
) -> tuple[list[tuple[Name, Ints, Ids]], bool]:
    """Bring the items of pairs to the kind of the run's: their offsets and ids.

    Returns also if the run's items have to be read as text. Raises CoverageError for ids that
    cannot be equal.
    """
    pairs = find_candidates(qrels)
    if isinstance(retrieved, Integers) and not as_text:
        pairs = [(name, one.read_digits() if one.ids == "text" else one) for name, one in pairs]
    for name, one in pairs:
        if not len(one.items) or as_text or one.items.kind == retrieved.kind:
            continue
        if "text" not in (one.ids, ids):
            own = f"{retrieved.kind} ({list_some(retrieved)})"
            its = f"{one.items.kind} ({list_some(one.items[:3])})"
            raise CoverageError(explain_types("item", f"{name}=", own, its))
        as_text = True
    retrieved = retrieved.part(0, 1).as_text() if as_text else retrieved
    matched = []
    for name, one in pairs:
        items = one.items.as_text() if as_text else one.items
        matched.append((name, one.offsets, fit_items(items, retrieved)))
    return matched, as_text
