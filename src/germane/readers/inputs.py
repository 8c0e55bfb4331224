"""The interface of judgments and runs of every kind.

``open_qrels`` and ``open_run`` recognize the type of an input once; no later step depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

from germane.core.calls import Progress
from germane.core.qrels import IdNames, Order, Qrels, Retrieved
from germane.core.ragged import Ints
from germane.errors import DuplicateError, InputError, clip, write_option
from germane.kernel.ids import advise_repeat
from germane.readers.files import formats
from germane.readers.files.formats import InputFormat
from germane.readers.objects import headings

if TYPE_CHECKING:
    from germane.core.policy import Policy
    from germane.kernel.content import Hasher
    from germane.readers.files.letor import Lines
    from germane.readers.options.item_groups import Groups
    from germane.readers.rows import RankedRows, Rows


@dataclass(frozen=True)
class ReadOptions:
    """How the caller wants the data to be read.

    Groups, candidates, catalogues and weights are read before anything is opened with them.
    """

    columns: Mapping[str, Any] | None = None
    input_format: InputFormat = None
    group: Any = None
    max_expansion: object = None
    max_line: object = None
    collapse: Any = None
    query_ids: Any = None
    item_ids: Any = None
    lowest: bool = False  # does the caller take the lowest score for the best?
    exclude: Any = None
    only: Any = None
    ignore: Any = None
    catalogue: Any = None
    seen: Any = None
    distance: Any = None
    subtopic_weights: Any = None

    @property
    def has_candidates(self) -> bool:
        """Do pairs of query and item select the results that count?"""
        return not self.exclude is self.only is self.ignore is None

    def leave_candidates(self) -> Self:
        """Leave out the pairs that select results."""
        return replace(self, exclude=None, only=None, ignore=None)

    def __post_init__(self) -> None:
        """Check formats and names of columns. Raises InputError."""
        formats.check_format(self.input_format)
        object.__setattr__(self, "columns", headings.Headings.read_columns(self.columns))
        if self.group is None:
            return
        if self.columns is not None or self.input_format is not None:
            raise InputError("group= is for flat arrays, which have neither columns nor a format.")
        if not self.collapse is self.query_ids is self.item_ids is None:
            raise InputError(
                f"{write_option('collapse')}, query_ids= and item_ids= do not work for flat arrays"
                " with group=, in which grades belong to the items themselves. Give a frame with"
                " the columns query, item and score."
            )


NAMED = 3  # faults that are kept as examples


class Faults:
    """Lines and values that cannot be read, noted by a reading that goes on to the end.

    A reader without such notes raises the first of them. With them, it leaves out what it cannot
    read, and numbers its rows where they have a place that a finding can name.
    """

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[str] = []
        self.fields: Counter[int] = Counter()  # of such lines, by their number
        self.locate: Callable[[int], str] | None = None  # names the place of a row or line
        self.rounded = 0  # scores that became equal to another as doubles

    def add(self, text: str, fields: int = 0) -> None:
        """Count one more fault, and keep the first few as examples."""
        self.count += 1
        self.fields[fields] += 1
        if len(self.examples) < NAMED:
            self.examples.append(text)

    def can(self, read: Callable[[Any], object], raw: Any) -> bool:
        """Can this be read? Notes the error if it cannot."""
        try:
            read(raw)
        except InputError as error:
            self.add(str(error))
            return False
        return True


class RunInput:
    """A run that has been recognized. Each kind of run is a subclass."""

    name: str  # what results call it
    where: str  # what errors call it
    ids: str = "typed"  # or text: in a file of text, an integer is its digits
    is_mapping: ClassVar[bool] = False
    has_columns: ClassVar[bool] = False
    is_array: ClassVar[bool] = False  # are its items columns, which have no ids to order ties by?
    has_own_items: ClassVar[bool] = False  # is no item of a query one of another's?
    has_all_items: ClassVar[bool] = False  # has every item a column of scores?
    is_searched: ClassVar[bool] = False  # does finding one query take reading all rows?
    has_header: bool = True  # may the caller name its columns, if it has any?
    is_named: bool = False  # were there columns, which the caller may name?
    has_query_names: bool = False  # did the caller name its queries, in the order of responses?
    groups: Groups | None = None  # that take the place of items
    hasher: Hasher | None = None  # adds up the content of a file while it is reduced
    id_names: IdNames | None = None  # of a source of named columns

    @property
    def label(self) -> str:
        """The name of the run in the middle of a sentence."""
        return "the run" if self.where == "run" else self.where

    @property
    def is_text(self) -> bool:
        """Is an integer its digits, since the run or the groups of its items are a file of text?"""
        return self.ids == "text"

    @property
    def ties(self) -> str:
        """The order of tied items, unless the caller chooses one."""
        return "trec"

    @property
    def has_ids(self) -> bool:
        """Do items have ids? Others are numbered by their place."""
        return not self.is_array

    @property
    def has_query_ids(self) -> bool:
        """Do queries have ids? Others are numbered by their rows."""
        return True

    @property
    def has_scores(self) -> bool:
        """Do results have scores? Others have ranks alone."""
        return True

    @property
    def is_collapsed(self) -> bool:
        """Do groups take the place of items, so that these may repeat?"""
        return self.groups is not None

    def decide_duplicates(self, duplicates: str) -> str:
        """Decide on repeated items: of those that are groups, the best one counts."""
        return "max" if self.is_collapsed else duplicates

    def sign(self) -> RunInput:
        """Make a run that adds up its content while it is reduced, if reading it again takes long.

        What is in memory stays as it is.
        """
        return self

    def collapse(self, groups: Groups) -> Self:
        """Replace the items by their groups, unless that was done before."""
        return self if self.is_collapsed else self._collapse(groups)

    def _collapse(self, groups: Groups) -> Self:
        raise NotImplementedError

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        """Reduce the run to its judged items and their ranks."""
        raise NotImplementedError

    def read_rows(
        self,
        judged: Qrels | None = None,
        progress: Progress | None = None,
        faults: Faults | None = None,
    ) -> Iterator[Rows]:
        """Read the rows, or those of judged queries: query, item, and score or rank, as given.

        A part has whole queries, unless the rows of a query are scattered. Groups are in the place
        of items, and may repeat. ``rank_rows`` of ``readers.rows`` leaves out what does not
        count, and puts the others in the order in which ``retrieve`` ranks them. All rows that can
        be read are read if ``faults`` takes the others; else the first of these is an error.
        """
        raise NotImplementedError

    def rank(self, judged: Qrels, policy: Policy) -> RankedRows | None:
        """Rank the rows of judged queries, judged or not; None where there are no rows."""
        from germane.readers.rows import gather_rows, rank_rows  # typed lists do not need it

        parts = [rows for rows in self.read_rows(judged) if len(rows.items)]
        if not parts:
            return None
        ids = "text" if self.is_text or judged.ids == "text" else "typed"
        return rank_rows(gather_rows(parts), self, policy, judged.candidates, ids)

    def read_content(self, qrels: Qrels, progress: Progress | None = None) -> Iterator[Rows]:
        """Read all rows that are data; a line that begins with ``#`` is, if its query is judged."""
        return self.read_rows(None, progress)

    def select(
        self, qrels: Qrels, duplicates: str, progress: Progress | None = None
    ) -> RunInput | None:
        """Select the one query that is judged, or more; None where the run does not have it."""
        raise NotImplementedError

    def load(self, progress: Progress | None = None) -> RunInput:
        """Read a file of lines into memory, since reading it again takes long."""
        return self

    def hold(self, progress: Progress | None = None) -> RunInput:
        """Read all of it into memory."""
        return self.load(progress)

    def find_judged(self, qrels: Qrels) -> Ints | None:
        """Find the places of judged queries that the run has; None if that takes reading it."""
        return None

    def find_queries(self, wanted: Iterable[Hashable]) -> Collection[Hashable]:
        """Find which of some queries the run has, as text, and maybe others."""
        return ()

    def prepare_qrels(self, qrels: Qrels) -> Qrels:
        """Prepare judgments that many runs of this kind are compared with."""
        return qrels

    def descends(self) -> bool | None:
        """Do all scores descend in the order given? None if that takes reading the run."""
        return None

    def read_batches(
        self, start: int, progress: Progress | None, judged: Qrels | None = None
    ) -> Iterator[tuple[int, RunInput]]:
        """Read a file from a place on, in runs of whole queries, each with its end."""
        raise InputError("a checkpoint needs a run in a file.")


def explain_twice(within: str, item: Hashable, rank: int, second_rank: int) -> DuplicateError:
    """Make the error for an item that a list has at two ranks."""
    advice = f"{write_option('duplicates', 'first')} keeps its first copy."
    return DuplicateError(
        f"{within}: item {clip(item)} is retrieved twice, at ranks {rank} and {second_rank}."
        f" {advise_repeat(item, advice)}"
    )


class Needs(NamedTuple):
    """Parts of judgments beside relevant items, and the names of measures that need them."""

    complete: str = ""  # the items judged not relevant
    subtopics: str = ""  # the subtopics, also where a file has them only if they are meant
    weights: str = ""  # the weights of subtopics


QrelsReader: TypeAlias = Callable[[str, Progress | None, Needs], Qrels]
"""The choice for duplicates, progress, and the needs of measures → judgments."""


QrelsRows: TypeAlias = Callable[[Progress | None, Faults], "Iterable[Rows] | None"]
"""Progress, and what takes the faults → all rows that can be read.

None for judgments that are only read whole, as those of subtopics and of arrays are.
"""


@dataclass(frozen=True, eq=False)
class QrelsInput:
    """Judgments that have been recognized; ``read`` reads them with the caller's options.

    ``read_rows`` reads them as far as possible, where parts of them can be read on their own.
    """

    read: QrelsReader
    is_text: bool = False  # from a file of text, where integers are their digits
    has_columns: bool = False
    lines: Lines | None = None  # of a LETOR file: scores without ids are matched with these
    where: str = "qrels"  # the name in errors
    catalogue: Any = None  # what measures of the catalogue need (readers.options.catalogues)
    read_rows: QrelsRows = lambda progress, faults: None
