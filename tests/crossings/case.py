"""A case: the arguments of one cell, in the ids of its kind of input."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crossings.options import Data


@dataclass(frozen=True)
class Case:
    """Arguments of one cell, and the ids by which its result is compared with others."""

    qrels: Any
    run: Any
    other: Any
    people: Any
    options: dict[str, Any]
    measures: str
    folder: Path
    queries: Sequence[Hashable] = ()  # ids of rows that are numbered
    items: Sequence[Hashable] = ()  # ids of columns that are numbered

    def find_query(self, query: str) -> Hashable:
        """Find a query as the kind has it."""
        return self.queries.index(query) if self.queries else query

    def name_query(self, query: Any) -> Hashable:
        """Name a query as dicts have it."""
        return self.queries[query] if self.queries else query

    def name_item(self, item: Any) -> Hashable:
        """Name an item as dicts have it; groups have their names."""
        return self.items[item] if self.items and isinstance(item, (int, np.integer)) else item


class Kind(NamedTuple):
    """A kind of input: how it is made of dicts, and what its data cannot say."""

    make: Callable[[Data, Path], Case]
    says: str
    ties: str = "trec"  # the order of ties where none is asked for
    scored: bool = True
    adjust: Callable[[Data], Data] = lambda data: data  # to the data that it can hold
    dense: bool = False  # are its grades an array, of which 0 and below are read only where a measure needs them?
