"""Side: what qrels or a run hold, row by row, as it was given and whether or not it can be evaluated."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from germane._ragged import Floats, Ints

NAMED = 3  # examples that a finding names


@dataclass
class Faults:
    """Lines and values that cannot be read."""

    count: int = 0
    examples: list[str] = field(default_factory=list)
    fields: Counter[int] = field(default_factory=Counter)  # of such lines, by their number

    def add(self, says: str, fields: int = 0) -> None:
        """One more; the first few are kept."""
        self.count += 1
        self.fields[fields] += 1
        if len(self.examples) < NAMED:
            self.examples.append(says)


@dataclass(frozen=True, eq=False)
class Side:
    """Qrels or a run: N rows, whose ids are places in lists of different ones."""

    kind: Literal["qrels", "run"]
    where: str  # what findings call it: the path of a file
    queries: Sequence[Hashable]
    items: Sequence[Hashable]
    query: Ints  # N
    item: Ints  # N
    number: Floats | None  # N: grades or scores; None for ranked lists
    rank: Floats | None = None  # N: the rank column; NaN where it holds no number
    line: Ints | None = None  # N: the line of a file, or the number of the row
    told: Callable[[int], str] | None = None  # how a row's number is told, where it is no line
    faults: Faults = field(default_factory=Faults)
    empty: tuple[Hashable, ...] = ()  # queries without a row
    text: bool = False  # are all ids text, so that whole numbers stand for their digits?
    places: bool = False  # are ids the rows and columns of arrays?
    rounded: int = 0  # whole scores that no double holds

    def __len__(self) -> int:
        return len(self.query)

    def at(self, row: int) -> str:
        """Where a row stands: ``run.txt:17: ``, ``run.parquet, row 16: ``, or nothing."""
        if self.line is None:
            return ""
        number = int(self.line[row])
        return f"{self.where}:{number}: " if self.told is None else self.told(number)

    def distinct(self, query: Ints) -> int:
        """How many different queries some rows have."""
        return len(np.unique(query))


class Coded:
    """Ids as numbers in the order in which they first come."""

    def __init__(self) -> None:
        self._codes: dict[Hashable, int] = {}

    def __call__(self, ids: Iterable[Hashable]) -> Ints:
        codes = self._codes
        return np.array([codes.setdefault(one, len(codes)) for one in ids], np.int64)

    @property
    def ids(self) -> list[Hashable]:
        """The id of each number."""
        return list(self._codes)
