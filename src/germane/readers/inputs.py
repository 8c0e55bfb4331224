"""The judgments and the run as evaluations see them, whatever was given.

``open_qrels`` and ``open_run`` look once at what was given. After that, nobody asks for its type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.core.retrieved import Order, Retrieved
from germane.errors import InputError
from germane.readers import formats, headings
from germane.readers.formats import InputFormat

if TYPE_CHECKING:
    from germane.readers.letor import Lines


@dataclass(frozen=True)
class ReadOptions:
    """How the caller wants the data to be read."""

    columns: Mapping[str, Any] | None = None
    input_format: InputFormat = None
    group: Any = None
    max_expansion: object = None
    max_line: object = None

    def __post_init__(self) -> None:
        """Refuse formats that do not exist, and what does not name columns. Raises InputError."""
        formats.check_format(self.input_format)
        headings.check_names(self.columns)
        if self.group is not None and (self.columns is not None or self.input_format is not None):
            raise InputError("group= is for flat arrays, which have neither columns nor a format.")


class RunInput:
    """A run that has been recognized. Each kind is a subclass, which says what is special of it."""

    name: str  # what results call it
    is_mapping: ClassVar[bool] = False
    has_columns: ClassVar[bool] = False
    is_array: ClassVar[bool] = False  # are its items columns, which have no ids to order ties by?
    is_searched: ClassVar[bool] = False  # have all rows to be read to find those of one query?

    @property
    def label(self) -> str:
        """The name of the run in errors."""
        return "the run"

    @property
    def ties(self) -> str:
        """The order of tied items where none is asked for."""
        return "trec"

    @property
    def has_ids(self) -> bool:
        """Do items have ids? Others are numbered by their place."""
        return not self.is_array

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        """Reduce the run to its judged items and their ranks."""
        raise NotImplementedError

    def select(
        self, qrels: Qrels, duplicates: str, progress: Progress | None = None
    ) -> tuple[RunInput | None, list[Any], list[Any]]:
        """Select the one query that is judged: as a run, its items as they are given, their scores.

        There are no scores where the items are given in the order of their ranks. The run is None
        where it does not have the query.
        """
        raise NotImplementedError

    def load(self, progress: Progress | None = None) -> RunInput:
        """Read into memory what takes long to read again: files of lines."""
        return self

    def hold(self, progress: Progress | None = None) -> RunInput:
        """Read all of it into memory."""
        return self.load(progress)

    def find_judged(self, qrels: Qrels) -> Ints | None:
        """Find the places of the judged queries that the run has, or None where only reading it tells."""
        return None

    def find_queries(self, wanted: Iterable[Hashable]) -> Collection[Hashable] | None:
        """Find at least those of some queries that the run has, as text; None where it is read once."""
        return ()

    def prepare_qrels(self, qrels: Qrels) -> Qrels:
        """Prepare judgments that many runs of this kind are compared with."""
        return qrels

    def descends(self) -> bool | None:
        """Do all scores descend in the order given? None where only reading the run tells."""
        return None

    def batches(self, start: int, progress: Progress | None) -> Iterator[tuple[int, RunInput]]:
        """Read a file from a place on, in runs of whole queries with the place at which each ends."""
        raise InputError("a checkpoint is for a run in a file.")


@dataclass(frozen=True, eq=False)
class QrelsInput:
    """Judgments that have been recognized, and are read when it is known how."""

    given: Any
    read: Callable[[str, Progress | None, str], Qrels]  # duplicates, progress, complete
    is_text: bool = False  # from a file of text, where integers are their digits
    has_columns: bool = False
    lines: Lines | None = None  # of a LETOR file, which scores without ids are aligned with
