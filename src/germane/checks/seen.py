"""Seen: what a check saw, before the table says how serious that is."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np

from germane.checks.side import NAMED, Side
from germane.core.finding import shown
from germane.core.ragged import Ints
from germane.errors import clip

FEW = 100  # results below which chance explains nearly anything


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """What a finding says, without its name and severity."""

    says: str
    count: int
    examples: tuple[str, ...] = ()
    advice: str = ""  # instead of what the table advises


Sees: TypeAlias = Iterator[Seen]


def several(count: int, one: str, more: str = "") -> str:
    """``1 result`` or ``1,200 results``."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def named(ids: Iterable[Hashable]) -> tuple[str, ...]:
    """The first few ids."""
    return shown(ids, NAMED)


def of_queries(side: Side, queries: Iterable[Hashable]) -> tuple[str, ...]:
    """The first few queries, each with where its first row stands."""
    some = list(islice(queries, NAMED))
    if side.line is None:
        return named(some)
    places = {query: q for q, query in enumerate(side.queries) if query in some}
    starts = {query: int(np.argmax(side.query == q)) for query, q in places.items()}
    return tuple(
        f"{side.at(starts[query])}query {clip(query)}" if query in starts else clip(query)
        for query in some
    )


def first(side: Side, at: Ints) -> tuple[str, ...]:
    """The first of some rows, where it has a file and line to name."""
    return () if side.line is None else rows(side, at[:1])


def rows(side: Side, at: Ints) -> tuple[str, ...]:
    """The first few of some rows, with file and line where there is a file."""
    return tuple(
        f"{side.at(row)}query {clip(side.queries[side.query[row]])} "
        f"item {clip(side.items[side.item[row]])}"
        for row in at[:NAMED].tolist()
    )
