"""Rows: qrels or a run as they were given, valid or not, and the problems found in them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias

import numpy as np

from germane.core.calls import Progress
from germane.core.finding import Finding, Severity, show_ids
from germane.core.ragged import Bools, Floats, Ints, find_lengths
from germane.errors import clip
from germane.kernel import plain
from germane.kernel.ids import Ids, Integers, Text, join_ids, number_ids, read_python_ids
from germane.kernel.keys import Keys
from germane.output.tables import write_count
from germane.readers.inputs import NAMED, Faults, Needs

if TYPE_CHECKING:
    from germane.readers.inputs import QrelsInput, RunInput
    from germane.readers.rows import Rows


_NONE = Faults()


@dataclass(frozen=True, eq=False, repr=False)
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
    line: Ints | None = None  # N: the number of the line or row, where it has a place
    faults: Faults = _NONE
    empty: tuple[Hashable, ...] = ()  # queries without a row
    text: bool = False  # are all ids text, so that whole numbers stand for their digits?
    places: bool = False  # are ids the rows and columns of arrays?
    numbered: bool = False  # are items nothing but the columns of scores?
    rounded: int = 0  # whole scores that no double holds
    single_subtopics: int = 0  # judgments by a column that may not be of subtopics: no item has two

    def __len__(self) -> int:
        return len(self.query)

    def at(self, row: int) -> str:
        """Say where a row stands: ``run.txt:17: ``, ``run.parquet, row 16: ``, or nothing."""
        if self.line is None or self.faults.locate is None:
            return ""
        return self.faults.locate(int(self.line[row]))

    def select(self, rows: Ints | Bools) -> Self:
        """Select some rows."""
        columns = {
            name: getattr(self, name) for name in ("query", "item", "number", "rank", "line")
        }
        return replace(
            self, **{name: column[rows] for name, column in columns.items() if column is not None}
        )

    @property
    def grades(self) -> Floats:
        """The grade of each row of qrels."""
        return np.ones(len(self)) if self.number is None else self.number


def gather(
    kind: Literal["qrels", "run"],
    where: str,
    parts: Iterable[Rows],
    faults: Faults = _NONE,
    **traits: Any,
) -> Side:
    """Gather the rows that a reader gives in parts, with the faults that it has noted."""
    queries: list[Ids] = []
    lengths: list[Ints] = []
    items: list[Ids] = []
    empty: dict[Hashable, None] = {}
    columns: dict[str, list[Any]] = {"score": [], "rank": [], "line": []}
    for rows in parts:
        length = find_lengths(rows.offsets)
        query = _hold_ids(rows.queries)
        filled = np.flatnonzero(length)
        if len(filled) < len(length):
            empty.update(dict.fromkeys(query.take(np.flatnonzero(length == 0)).python))
        queries.append(query.take(filled).compact())
        lengths.append(length[filled])
        items.append(rows.items.compact())
        for name, column in columns.items():
            if (values := getattr(rows, name)) is not None:
                column.append(values)
    query_ids, stretch = number_columns(queries)
    item_ids, item = number_columns(items)
    owner = np.repeat(stretch, np.concatenate([np.zeros(0, np.int64), *lengths]))
    score, rank, line = (np.concatenate(column) if column else None for column in columns.values())
    for query_id in query_ids if empty else ():
        empty.pop(query_id, None)
    return Side(
        kind, where, query_ids, item_ids, owner, item, score, rank, line, faults, tuple(empty),
        rounded=faults.rounded, **traits,
    )  # fmt: skip


def _hold_ids(ids: Sequence[Hashable]) -> Ids:
    """Make a column of ids, in which those of several types stay as they are."""
    are_texts = isinstance(ids, Ids) or set(map(type, ids)) == {str}
    return read_python_ids(ids) if are_texts else Keys([ids])


class Numbering:
    """Numbers for ids of any type, in the order in which they first come."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, ids: Iterable[Hashable]) -> Ints:
        numbers = self._numbers
        return np.array(
            [numbers.setdefault(identifier, len(numbers)) for identifier in ids], np.int64
        )

    @property
    def ids(self) -> list[Hashable]:
        """The id of each number."""
        return list(self._numbers)


def number_columns(parts: Sequence[Ids]) -> tuple[Sequence[Hashable], Ints]:
    """List the distinct ids of a column in parts, and number the id of each row."""
    if parts and all(part.kind == "text" for part in parts):
        numbers, distinct = number_ids(join_ids([part.as_text() for part in parts]))
        return distinct, numbers.astype(np.int64)
    values = [part.values for part in parts if isinstance(part, Integers)]
    if values and len(values) == len(parts) and len({part.dtype for part in values}) == 1:
        joined = np.concatenate(values)
        distinct_values, numbers = np.unique(joined, return_inverse=True)
        return distinct_values.tolist(), numbers.astype(np.int64)
    numbering = Numbering()
    rows = [numbering.number(part.python) for part in parts]
    return numbering.ids, np.concatenate([np.zeros(0, np.int64), *rows])


def find_places(ids: Sequence[Hashable], targets: Sequence[Hashable]) -> Ints:
    """Find the place of each id among distinct others, or -1."""
    if isinstance(ids, Text):
        if not isinstance(targets, Text) and set(map(type, targets)) <= {str}:
            targets = read_python_ids(targets)
        if isinstance(targets, Text):
            return plain.find_ids(ids, targets)
    place = {target: place for place, target in enumerate(targets)}
    return np.array([place.get(identifier, -1) for identifier in ids], np.int64)


FEW = 100  # fewer results may show nearly anything by chance


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A problem that a check found: a finding without its name and severity."""

    text: str
    count: int
    examples: tuple[str, ...] = ()
    advice: str = ""  # instead of what the table advises


Sees: TypeAlias = Iterator[Problem]


class Kind(Protocol):
    """A kind of finding: a row of the table of all checks."""

    @property
    def name(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def remedy(self) -> str: ...


def make_findings(kind: Kind, problems: Iterable[Problem], where: str) -> Iterator[Finding]:
    """Make findings of the problems of one kind."""
    for problem in problems:
        advice = problem.advice or kind.remedy
        yield Finding(
            kind.severity, kind.name, problem.text, problem.count, problem.examples, advice, where
        )


def count_queries(side: Side, rows: Ints) -> str:
    """Count the different queries of some rows: ``1 query`` or ``1,200 queries``."""
    return write_count(len(np.unique(side.query[rows])), "query")


def show_queries(side: Side, queries: Iterable[Hashable]) -> tuple[str, ...]:
    """Show the first few queries, each with the place of its first row."""
    shown = list(islice(queries, NAMED))
    if side.line is None:
        return show_ids(shown)
    places = {query: q for q, query in enumerate(side.queries) if query in shown}
    starts = {query: int(np.argmax(side.query == q)) for query, q in places.items()}
    return tuple(
        f"{side.at(starts[query])}query {clip(query)}" if query in starts else clip(query)
        for query in shown
    )


def show_first_row(side: Side, rows: Ints) -> tuple[str, ...]:
    """Show the first of some rows, if it has a file and a line."""
    return () if side.line is None else show_rows(side, rows[:1])


def show_rows(side: Side, rows: Ints) -> tuple[str, ...]:
    """Show the first few of some rows, with file and line where there is a file."""
    return tuple(
        f"{side.at(row)}query {clip(side.queries[side.query[row]])} "
        f"item {clip(side.items[side.item[row]])}"
        for row in rows[:NAMED].tolist()
    )


# --- Reading without stopping at faults ---------------------------------------------------------


EVERYTHING = "what is asked for"  # of the judgments is read


def read_qrels(qrels: QrelsInput, progress: Progress | None = None, subtopics: str = "") -> Side:
    """Read judgments with all of their faults. Raises InputError for what cannot be read.

    Judgments of ``subtopics``, which the named measures need, are read as evaluate reads them.
    """
    faults = Faults()
    parts = None if subtopics else qrels.read_rows(progress, faults)
    if parts is not None:
        return gather("qrels", qrels.where, parts, faults, text=qrels.is_text)
    from germane.readers.rows import list_judgments  # which few evaluations need

    judged = qrels.read("error", progress, Needs(EVERYTHING, EVERYTHING))
    single = 0 if judged.subtopics is None else judged.subtopics.count_doubtful()
    return gather(
        "qrels", judged.name, [list_judgments(judged)], faults, text=judged.ids == "text",
        places=judged.source.width is not None, single_subtopics=single,
    )  # fmt: skip


def read_run(run: RunInput, progress: Progress | None = None) -> Side:
    """Read a run with all of its faults."""
    faults, places = Faults(), not (run.has_ids or run.has_query_ids)
    where = run.name if run.where == "run" else run.where
    return gather(
        "run", where, run.read_rows(None, progress, faults), faults, text=run.is_text,
        places=places, numbered=places and run.has_all_items,
    )  # fmt: skip
