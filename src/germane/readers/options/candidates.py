"""Candidates: the items that may be retrieved, by ``exclude=``, ``only=`` and ``ignore=``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

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
    write_option,
)
from germane.kernel.ids import Ids, Integers, as_integer, is_integer, read_python_ids, spell_id
from germane.kernel.reduction import Batch, Judgments

Pairs: TypeAlias = Qrels
"""Pairs of query and item; the grades mean nothing."""
Name: TypeAlias = Literal["exclude", "only", "ignore"]
NAMES: tuple[Name, ...] = get_args(Name)


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Items that are not candidates, those that alone are, and junk; None where all items are."""

    exclude: Pairs | None = None
    only: Pairs | None = None
    ignore: Pairs | None = None

    def attach(self, qrels: Qrels) -> Qrels:
        """Attach the candidates to judgments, without those of items that are ignored.

        Raises CoverageError if ``only`` lacks a judged query, and if another one has none of them.
        """
        for name, pairs in self.arguments:
            lacking = _list_lacking(pairs, qrels)
            rows = len(qrels) if qrels.source.width is not None else None
            if rows is not None and pairs.source.width is not None and len(pairs) != rows:
                raise InputError(f"{name}= has {len(pairs)} rows, but the qrels have {rows}.")
            has_none = len(lacking) == len(qrels) and len(pairs) > 0
            if has_none and len(qrels):
                raise CoverageError(
                    f"no query of {name}= is in the qrels. {name}: {list_some(pairs.queries)};"
                    f" qrels: {list_some(qrels.queries)}  Are these the same ids?"
                )
            if name == "only" and lacking:
                raise CoverageError(
                    f"{write_option('only')} has no candidates for {list_some(lacking)}"
                    f" ({len(lacking)} of {len(qrels)} judged queries). If a query has none, give"
                    " it an empty list."
                )
        if self.ignore is not None:
            junk = find_judged(qrels, self.ignore)
            is_candidate = np.ones(len(qrels.items), bool)
            is_candidate[junk] = False
            qrels = replace(qrels.keep(is_candidate), ignored=len(junk)) if len(junk) else qrels
        return replace(qrels, candidates=self)

    def attach_to_lists(self, users: Qrels) -> Qrels:
        """Attach them to unjudged lists. Raises CoverageError if ``only`` lacks one."""
        lacking = [] if self.only is None else _list_lacking(self.only, users)
        if lacking:
            raise CoverageError(
                f"{write_option('only')} has no candidates for {list_some(lacking)}, whose whole"
                " list counts. If a query has none, give it an empty list."
            )
        return replace(users, candidates=self)

    @property
    def arguments(self) -> list[tuple[Name, Pairs]]:
        """The arguments that are given, each with its pairs."""
        pairs = ((name, getattr(self, name)) for name in NAMES)
        return [(name, argument) for name, argument in pairs if argument is not None]


def join_pairs(first: Pairs | None, second: Pairs | None) -> Pairs | None:
    """Join the pairs of two sources; None where neither has some."""
    if first is None or second is None:
        return second if first is None else first
    joined: dict[Hashable, list[Hashable]] = {}
    as_text = first.ids != second.ids
    for side in (first, second):
        queries, items = list(side.queries), list(side.items)
        if as_text:
            queries, items = list(map(spell_id, queries)), list(map(spell_id, items))
        for query, (start, end) in zip(queries, pairwise(side.offsets.tolist()), strict=True):
            joined.setdefault(query, []).extend(items[start:end])
    items = [item for of_query in joined.values() for item in of_query]
    offsets = ragged.make_offsets(list(map(len, joined.values())))
    width = first.source.width if first.source.width == second.source.width else None
    return replace(
        first, queries=list(joined), offsets=offsets, items=items, grades=np.ones(len(items)),
        columns=None, ids="text" if as_text else first.ids,
        source=replace(first.source, width=width),
    )  # fmt: skip


def find_judged(qrels: Qrels, pairs: Pairs) -> Ints:
    """Find the judgments of pairs of query and item."""
    aligned, judged = _align(pairs, qrels), read_python_ids(qrels.items)
    wanted = aligned.items
    if judged.kind != wanted.kind and "text" in (pairs.ids, qrels.ids):
        judged, wanted = judged.as_text(), wanted.as_text()
    if judged.kind != wanted.kind or not len(wanted) or not len(judged):
        return np.zeros(0, np.int64)
    batch = Batch(np.arange(len(qrels)), qrels.offsets, judged, None)
    rows: Ints = batch.find(Judgments(qrels.queries, aligned.offsets, fit_items(wanted, judged)))
    return rows


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
        items = self.given.python if isinstance(self.given, Ids) else self.given
        return [items[row] for row in self.rows.tolist()]

    def read_digits(self) -> Aligned:
        """Read digits of a file of text as integers, without ids that are none; as they are if an
        integer is too long.
        """
        numbers = list(map(as_integer, self.items.python))
        is_whole = np.fromiter(map(is_integer, numbers), bool, len(numbers))
        items = read_python_ids(
            [number for number, is_kept in zip(numbers, is_whole, strict=True) if is_kept]
        )
        if not isinstance(items, Integers):
            return self
        offsets = ragged.make_offsets(is_whole)[self.offsets]
        return self._replace(offsets=offsets, items=items, rows=self.rows[is_whole])


def find_candidates(qrels: Qrels) -> list[tuple[Name, Aligned]]:
    """Find the pairs of judgments, in the order of the judged queries; none if all items count."""
    arguments = [] if qrels.candidates is None else qrels.candidates.arguments
    return [(name, _align(pairs, qrels)) for name, pairs in arguments]


def _find_queries(pairs: Pairs, qrels: Qrels) -> Ints:
    """Find the place of each judged query among the pairs, or -1."""
    if pairs.ids == qrels.ids:
        position, queries = pairs.position, qrels.queries
    else:
        position = {spell_id(query): place for query, place in pairs.position.items()}
        queries = list(map(spell_id, qrels.queries))
    return np.fromiter((position.get(query, -1) for query in queries), np.int64, len(queries))


def _list_lacking(pairs: Pairs, qrels: Qrels) -> list[Hashable]:
    """List the judged queries that the pairs lack."""
    places = _find_queries(pairs, qrels).tolist()
    return [query for query, place in zip(qrels.queries, places, strict=True) if place < 0]


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
    queries = _find_queries(pairs, qrels)
    is_judged = queries >= 0
    lengths = np.zeros(len(queries), np.int64)
    lengths[is_judged] = ragged.find_lengths(pairs.offsets)[queries[is_judged]]
    rows = ragged.list_stretches(pairs.offsets[queries[is_judged]], lengths[is_judged])
    items = read_python_ids(pairs.items).take(rows)
    return Aligned(
        ragged.make_offsets(lengths), items, pairs.ids, pairs.source.width, pairs.items, rows
    )


# --- In the ids of a run ----------------------------------------------------------------------


def refuse_types(
    qrels: Qrels, unmatched: Mapping[str, bool], find_types: Callable[[], set[str]]
) -> None:
    """Refuse pairs whose types no result has; ``unmatched``: is no result among the pairs?"""
    for name, pairs in find_candidates(qrels):
        is_odd = unmatched[name] and pairs.ids != "text"
        types = {name_type(item) for item in pairs.list_items()} if is_odd else set()
        if types and not types & (types_of_run := find_types()):
            shown = f"{list_choices(sorted(types))} ({list_some(pairs.list_items())})"
            raise CoverageError(
                explain_types("item", f"{name}=", list_choices(sorted(types_of_run)), shown)
            )


def match_items(
    qrels: Qrels, retrieved: Ids, ids: str, *, as_text: bool
) -> tuple[list[tuple[Name, Ints, Ids]], bool]:
    """Bring the items of pairs to the kind of the run's: their offsets and ids.

    Returns also if the run's items have to be read as text. Raises CoverageError for ids that
    cannot be equal.
    """
    pairs = find_candidates(qrels)
    if isinstance(retrieved, Integers) and not as_text:
        pairs = [
            (name, aligned.read_digits() if aligned.ids == "text" else aligned)
            for name, aligned in pairs
        ]
    for name, aligned in pairs:
        if not len(aligned.items) or as_text or aligned.items.kind == retrieved.kind:
            continue
        if "text" not in (aligned.ids, ids):
            of_run = f"{retrieved.kind} ({list_some(retrieved)})"
            of_pairs = f"{aligned.items.kind} ({list_some(aligned.items[:3])})"
            raise CoverageError(explain_types("item", f"{name}=", of_run, of_pairs))
        as_text = True
    retrieved = retrieved.part(0, 1).as_text() if as_text else retrieved
    matched = []
    for name, aligned in pairs:
        items = aligned.items.as_text() if as_text else aligned.items
        matched.append((name, aligned.offsets, fit_items(items, retrieved)))
    return matched, as_text
