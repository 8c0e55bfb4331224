"""Reads relevance that is no list of pairs: arrays of grades, typed lists, and labels."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from germane.core import ragged
from germane.core.calls import list_values, parse_whole, read_decimal
from germane.core.id_spelling import is_id, unwrap_ids
from germane.core.qrels import Qrels, Source
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking, number_all
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    check_choice,
    clip,
    explain_not_finite,
    list_choices,
    name_type,
    write_option,
)
from germane.kernel.ids import Integers, is_missing
from germane.readers.objects import numbers
from germane.readers.objects.numbers import is_finite_number, read_doubles, show_number
from germane.readers.options import subtopics

_HITS = {"●": "1", "○": "0"}  # as explanations print them


def read_typed(text: str) -> list[float | str]:
    """Read the grades of a list: ``0 0 1``, ``0,0,1``, ``[0, 0, 1]`` or ``● ○ ●``.

    A word that is no number stays as it is; evaluation refuses it, with its rank. Raises InputError
    for digits without anything between them, and for blanks, commas and semicolons that are mixed,
    of which some may be decimal commas; EmptyError for an empty list.

    >>> from germane.readers.objects.relevance import read_typed
    >>> read_typed("[3, 2, 0]"), read_typed("○●○")
    ([3.0, 2.0, 0.0], [0.0, 1.0, 0.0])
    """
    listed = re.sub("[●○]", lambda sign: f" {_HITS[sign[0]]} ", text.strip())
    bare = re.sub(r"^[\[(](.*)[\])]$", r"\1", listed, flags=re.DOTALL)
    bare = re.sub("[,;]$", "", bare.strip()).rstrip()
    if not bare:
        raise EmptyError("the list is empty: there are no relevance grades.")
    words, between = _split(bare)
    if len(between) > 1 or "" in words:
        raise InputError(
            f"{clip(text, 200)} is not a list: the same sign separates all grades, as in '0 0 1',"
            " '0,0,1' or '0; 0; 1', and decimals have a point."
        )
    joined = next((word for word in words if re.fullmatch(r"0\d+", word, re.ASCII)), None)
    if joined is None and len(words) == 1 and re.fullmatch(r"\d\d+", words[0], re.ASCII):
        joined = words[0]
    if joined is not None:
        split_digits = " ".join(" ".join(word) if word.isdigit() else word for word in words)
        single = f" For one item of grade {joined}, write {joined}.0." if joined[0] != "0" else ""
        raise InputError(
            f"{clip(joined)} is a single number. In a list, blanks or commas separate the grades:"
            f" {clip(split_digits, 200)}.{single}"
        )
    return [_read_grade(word) for word in words]


def _split(bare: str) -> tuple[list[str], set[str]]:
    """Split a list into its words. Returns them, and the signs between them, without blanks."""
    parts = re.split(r"(\s*[,;]\s*|\s+)", bare)
    return parts[::2], {sign.strip() for sign in parts[1::2]}


def _read_grade(word: str) -> float | str:
    try:
        return read_decimal(word)
    except ValueError:
        return word


# --- Reads relevance from arrays: grades of every cell (Q, N), a CSR matrix, or one list ----------

MOST = 1 << 26  # judged cells that are held at once
HELD = 1 << 22  # cells of a block of rows
SORTED = 1 << 16  # stored cells that are sorted at once; they stay in the processor's cache


def make_qrels(offsets: Ints, columns: Ints, grades: Floats, width: int) -> Qrels:
    """Make qrels whose queries and items are the rows and columns of an array."""
    queries, items = Integers(np.arange(len(offsets) - 1)), Integers(columns)
    return Qrels(
        queries.python, offsets, items, grades, columns=(queries, items), source=Source(width=width)
    )


def read_dense(raw: Any, complete: str) -> Qrels:
    """Read (Q, N) grades; a masked cell is not judged.

    Only cells above 0 are kept, unless ``complete`` names the measures that need the others.
    """
    grades = numbers.to_numpy(raw, "qrels")
    if grades.ndim != 2:
        raise FormatError(
            f"qrels: an array of grades has shape (queries, items); got {grades.shape}."
            f"{numbers.advise_flat(grades)}"
        )
    if not grades.size:
        raise EmptyError(f"the qrels are empty: their shape is {grades.shape}.")
    if complete:
        check_cells(grades.shape, complete)
    parts = [_find_judged(part, start, complete) for start, part in split_rows(grades)]
    rows, columns, values = (np.concatenate(parts_of) for parts_of in zip(*parts, strict=True))
    offsets = ragged.make_offsets(np.bincount(rows, minlength=len(grades)))
    numbers.check_range(values, lambda place: f"qrels, row {rows[place]}, column {columns[place]}")
    return make_qrels(offsets, columns, values, grades.shape[1])


def split_rows(array: Any) -> Iterator[tuple[int, Any]]:
    """Split an array into blocks of rows: one row that is broadcast may stand for many."""
    step = max(1, HELD // max(array.shape[1], 1))
    for start in range(0, len(array), step):
        yield start, array[start : start + step]


def _find_judged(grades: Any, start: int, complete: str) -> tuple[Ints, Ints, Floats]:
    """Find the judged cells of a block of rows: their rows, columns and grades."""
    mend = "numpy.ma.masked_invalid(qrels) leaves them without a judgment"
    places = np.arange(start, start + len(grades))
    numbers.check_finite(grades, "qrels", "relevance grade", places, mend)
    is_judged = np.ones(grades.shape, bool) if complete else np.asarray(grades) > 0
    if isinstance(grades, np.ma.MaskedArray):
        is_judged &= ~np.ma.getmaskarray(grades)
    rows, columns = np.nonzero(is_judged)
    return rows + start, columns, np.asarray(grades)[is_judged].astype(float)


def check_cells(shape: tuple[int, ...], complete: str) -> None:
    """Refuse judgments of every cell if these are too many to hold."""
    if shape[0] * shape[1] > MOST:
        looks = "look" if ", " in complete else "looks"
        raise InputError(
            f"{complete} {looks} at every item that is judged not relevant: these are {shape[0]:,}"
            f" × {shape[1]:,} cells, but at most {MOST:,} fit at once. Leave it out, evaluate"
            " fewer queries at a time, or give a CSR matrix of the cells that are judged."
        )


def read_csr(raw: Any, where: str = "qrels") -> Qrels:
    """Read a CSR matrix (Q, N): the stored cells are judged, even those that store 0.

    ``where`` is the argument; judgments are not empty, but other pairs may be.
    """
    if getattr(raw, "format", "csr") != "csr":
        raise FormatError(
            f"{where}: a sparse matrix must be CSR, one row per query; got {type(raw).__name__} of "
            f"shape {raw.shape}. Call its tocsr()."
        )
    width = int(raw.shape[1])
    offsets, columns, grades = (
        numbers.to_numpy(getattr(raw, part), f"{where}, {part}")
        for part in ("indptr", "indices", "data")
    )
    if not len(columns) and where == "qrels":
        raise EmptyError("the qrels are empty: the matrix stores no cell.")
    _check_offsets(where, offsets, raw.shape, len(columns), len(grades))
    offsets = offsets.astype(np.int64)
    stored = int(offsets[-1])  # a matrix may have room for more
    columns = columns[:stored].astype(np.int64, copy=False)
    grades = grades[:stored].astype(float, copy=False)
    row_ends = offsets[1:]
    numbers.check_range(
        grades,
        lambda place: (
            f"{where}, row {row_ends.searchsorted(place, 'right')}, column {columns[place]}"
        ),
    )
    twice = _find_repeat(offsets, columns, width)
    if twice is not None:
        raise DuplicateError(
            f"{where}, row {twice[0]}: column {twice[1]} is stored twice; call sum_duplicates() to"
            " add up the values."
        )
    return make_qrels(offsets, columns, grades, width)


def _check_offsets(
    where: str, offsets: Any, shape: tuple[int, ...], columns: int, grades: int
) -> None:
    """Refuse a CSR matrix whose parts do not fit each other."""
    wrong = ""
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if len(offsets) != shape[0] + 1:
        wrong = f"indptr has {len(offsets):,} numbers where {shape[0]:,} rows need {shape[0] + 1:,}"
    elif columns != grades:
        wrong = f"indices has {columns:,} numbers and data {grades:,}"
    elif offsets[0] != 0:
        wrong = f"indptr begins with {offsets[0]} and not with 0"
    elif len(falls):
        row = int(falls[0])
        wrong = f"indptr falls from {offsets[row]} to {offsets[row + 1]} at row {row}"
    elif offsets[-1] > columns:
        wrong = f"indptr ends with {offsets[-1]:,} where {columns:,} cells are stored"
    if wrong:
        raise FormatError(
            f"{where}: the CSR matrix is damaged: {wrong}. Make it again from its cells: "
            "scipy.sparse.csr_matrix((grades, (rows, columns)), shape)"
        )


def _find_repeat(offsets: Ints, columns: Ints, width: int) -> tuple[int, int] | None:
    """Find the row and the column of a cell that is stored twice; None if there is none."""
    rising = columns[1:] > columns[:-1]
    rising[offsets[(offsets > 0) & (offsets < len(columns))] - 1] = True
    if rising.all():
        return None
    rows = len(offsets) - 1
    step = max(1, min((2**31 - 1) // width, rows * SORTED // len(columns)))
    kind = np.int32 if step > 1 else np.int64
    for start in range(0, rows, step):
        ends = offsets[start : start + step + 1]
        lengths = np.diff(ends)
        cells: Ints = columns[ends[0] : ends[-1]].astype(kind)
        cells += np.repeat((np.arange(len(lengths)) * width).astype(kind), lengths)
        cells.sort()
        twice = np.flatnonzero(cells[1:] == cells[:-1])
        if len(twice):
            row, column = divmod(int(cells[twice[0]]), width)
            return start + row, column
    return None


LONGEST = 10_000_000  # relevant items that are given as their number alone


def make_ranking(
    relevance: Iterable[Any],
    relevant: int | Iterable[Any] | None,
    rel: float = 1.0,
    *,
    covers: bool = False,
) -> Ranking:
    """Make the ranking of one query from grades, or from subtopics if it ``covers``.

    ``relevant`` is the number of items of grade ``rel`` or higher that exist (items that are not in
    the list have grade ``rel``), or all their grades. By default the list holds every relevant
    item.
    """
    if isinstance(relevance, Iterator):  # which is read once
        relevance = list(relevance)
    if hasattr(relevance, "tolist"):
        relevance = relevance.tolist()
    if isinstance(relevance, (list, tuple)):
        nested = next(
            (place for place, grade in enumerate(relevance) if subtopics.is_nested(grade)), None
        )
        if nested is not None and not covers:
            where, value = f"the list, rank {nested + 1}", relevance[nested]
            lists_advice = "a list of numbers, and those of several lists as an array for evaluate"
            raise subtopics.explain_nested(where, value, lists_advice)
        if nested is not None:
            return _make_covering(relevance, relevant)
    grades = _read_grades("the list", relevance)
    if not len(grades):
        raise EmptyError("the list is empty: there are no relevance grades.")
    n_found = int(np.count_nonzero(grades >= rel))
    if relevant is None:
        ideal = grades
    elif isinstance(relevant, Iterable):
        ideal = _read_grades("relevant", relevant)
        _check_holds(grades, ideal)
    else:
        count = parse_whole(relevant)
        if count is None:
            raise InputError(
                f"relevant is a whole number or a list of grades; got {clip(relevant)}"
            )
        if count > LONGEST:
            raise InputError(f"relevant is at most {LONGEST:,}; got {count}.")
        if count < n_found:
            raise InputError(f"the list contains {n_found} relevant items, but relevant={count}.")
        ideal = np.append(grades, np.full(count - n_found, rel))
    return _rank_list(grades, ideal)


def make_collection(
    listed: Iterable[float], relevant: int | Iterable[float] | None, rel: float = 1.0
) -> tuple[Qrels, dict[str, list[int]]]:
    """Make qrels and a run of one list: items are numbers, the last ones not retrieved."""
    ranking = make_ranking(listed, relevant, rel)
    retrieved = ranking.relevance.tolist()
    missed = list((Counter(ranking.ideal.tolist()) - Counter(retrieved)).elements())
    grades = np.array(retrieved + missed)
    items = range(len(grades))
    qrels = Qrels(["list"], np.array([0, len(grades)]), items, grades, "list")
    return qrels, {"list": list(items[: len(retrieved)])}


def _rank_list(grades: Floats, ideal: Floats, **beside: Any) -> Ranking:
    """Make the ranking of one query whose items are in the order of their ranks."""
    rank = np.arange(1, len(grades) + 1)
    return Ranking(
        queries=["list"],
        owner=np.zeros(len(grades), np.int64),
        rank=rank,
        relevance=grades,
        retrieved=np.array([len(grades)]),
        ideal_offsets=np.array([0, len(ideal)]),
        ideal=np.sort(ideal)[::-1],
        tied_from=rank,
        tied_to=rank,
        **beside,
    )


def _make_covering(listed: Sequence[Any], relevant: Any) -> Ranking:
    """Make the ranking of one query from subtopics; ``relevant`` are those of further items."""
    if relevant is not None and not (
        isinstance(relevant, Sequence) and all(map(subtopics.is_nested, relevant))
    ):
        raise InputError(
            f"{write_option('relevant')} lists the subtopics of the items that are not in the"
            f" list, such as [{{'a'}}, {{'a', 'b'}}]; got {clip(relevant)}"
        )
    together = [*listed, *(relevant or ())]
    items = [
        f"{start:09}" for start in range(len(together), 0, -1)
    ]  # of equal items the first is ideal
    judged = subtopics.read_nested("the list", ["list"], [0, len(together)], items, together)
    place, grades = np.arange(len(listed)), judged.highest
    cells = number_all(judged)
    return _rank_list(grades[: len(listed)], grades, judgment=place, subtopics=cells)


def _read_grades(noun: str, values: Any) -> Floats:
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise InputError(f"{noun} is a sequence of relevance grades; got {clip(values)}")
    values = list(values)
    numbers = read_doubles(values)
    if numbers is None:
        rank, bad = next((i, v) for i, v in enumerate(values, 1) if not is_finite_number(v))
        wrong = explain_not_finite("relevance grade", f"got {show_number(bad)}")
        raise GradeError(f"{noun}, rank {rank}: {wrong}{_advise_ids(values)}")
    return numbers


def _advise_ids(values: Sequence[Any]) -> str:
    """Advice for a list of items' ids where grades are expected."""
    if not all(isinstance(value, str) and re.search("[^\\W\\d]", value) for value in values):
        return ""
    return (
        ". A list has the grade of each item, such as 1 0 1, and no ids; evaluate takes ids:"
        " {query: [relevant items]} and {query: [items, best first]}"
    )


def _check_holds(grades: Floats, ideal: Floats) -> None:
    for grade in np.unique(grades[grades > 0]):
        have, exist = np.count_nonzero(grades == grade), np.count_nonzero(ideal == grade)
        if have > exist:
            raise InputError(
                f"the list contains {have} items of grade {grade:g}, but"
                f" {write_option('relevant')} has {exist}."
            )


# --- Labels: an item of a gallery is relevant for a query if they have a label in common ----------


RepeatedLabels: TypeAlias = Literal["each", "first"]


class Labels:
    """Qrels made of labels: an item is relevant, with grade 1, if it shares a label with the query.

    >>> import numpy as np
    >>> labels = germane.Labels(["cat", "dog"], ["dog", "cat", "cat"])
    >>> similarity = np.array([[0.9, 0.8, 0.1], [0.9, 0.2, 0.1]])
    >>> germane.evaluate(labels, similarity, "AP")["AP"].per_query
    {0: 0.5833333333333333, 1: 1.0}

    ``query_labels`` (Q) and ``gallery_labels`` (N) contain one label each, a text or a number, or
    several labels each, as sets or as matrices (Q, L) and (N, L) of 0 and 1, where 1 means that the
    item has the label of that column. Queries and items are numbered from 0.

    ``cameras`` is a pair of lists: the cameras of the queries and those of the gallery. An item
    that has both the label *and* the camera of the query is junk, as is usual in re-identification:
    it is neither right nor wrong, so it is removed from the list and from the relevant items, as
    with ``ignore=``.

    >>> junk = germane.Labels(["ann"], ["ann", "bob", "ann"], cameras=([1], [1, 1, 2]))
    >>> germane.evaluate(junk, np.array([[0.9, 0.8, 0.7]]), "AP")["AP"].mean
    0.5

    ``repeated_labels="first"`` ranks labels instead of items: each label counts once, at the rank
    of its best item among the labels that are not repeated. ``Success@5`` then asks whether the
    query's label is among the first five *different* ones.

    >>> categories = germane.Labels(["cat"], ["dog", "dog", "cat"], repeated_labels="first")
    >>> germane.evaluate(categories, np.array([[0.9, 0.8, 0.7]]), "RR")["RR"].mean
    0.5

    Raises FormatError if a label is missing (None, NaN), if the two sides have labels of different
    forms, or if the number of cameras is wrong, and CoverageError if no query has a label of the
    gallery. Raises InputError for ``repeated_labels="first"`` with ``cameras``, or with several
    labels per item.
    """

    def __init__(
        self,
        query_labels: Any,
        gallery_labels: Any,
        *,
        cameras: Any = None,
        repeated_labels: RepeatedLabels = "each",
    ) -> None:
        check_choice("repeated_labels", repeated_labels, get_args(RepeatedLabels))
        queries = _read(query_labels, "query_labels")
        gallery = _read(gallery_labels, "gallery_labels")
        if queries.form != gallery.form:
            raise FormatError(
                f"query_labels are {queries.form}, gallery_labels are {gallery.form}; both are one "
                "label each, sets of labels, or matrices of the same labels."
            )
        self.shape = (queries.size, gallery.size)
        self._offsets, self._columns = _match(queries, gallery)
        self.junk = None if cameras is None else self._find_junk(cameras)
        self._ranked_labels: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None
        if repeated_labels == "first":
            if cameras is not None:
                raise InputError(
                    "cameras= makes junk of items, and repeated_labels='first' ranks labels; give"
                    " one of them."
                )
            if queries.form != ONE:
                raise InputError(
                    "repeated_labels='first' takes one label for each query and item; got"
                    f" {queries.form}"
                )
            self._ranked_labels = queries.values, gallery.values

    def rank_labels(
        self, query_ids: Sequence[Hashable] | None, item_ids: Sequence[Hashable] | None
    ) -> tuple[dict[Hashable, dict[Hashable, int]], dict[Hashable, Hashable]] | None:
        """Judge labels in the place of items, and give the label of each item.

        None where items are ranked. A query whose label no item has has nothing relevant.
        """
        if self._ranked_labels is None:
            return None
        wanted, labels = self._ranked_labels
        known = set(labels)
        queries = range(len(wanted)) if query_ids is None else query_ids
        items = range(len(labels)) if item_ids is None else item_ids
        for ids, side, noun in ((queries, wanted, "query_ids"), (items, labels, "item_ids")):
            if len(ids) != len(side):
                raise FormatError(f"{noun} has {len(ids)} ids, and there are {len(side)} labels.")
        qrels = {
            query: {label: int(label in known)}
            for query, label in zip(queries, wanted, strict=True)
        }
        return qrels, dict(zip(items, labels, strict=True))

    def _find_junk(self, raw: Any) -> Qrels:
        """Find the items with the label and the camera of a query."""
        if not isinstance(raw, (tuple, list)) or len(raw) != 2:
            raise FormatError(
                f"cameras= is a pair, (those of the queries, those of the gallery); got {clip(raw)}"
            )
        sides = []
        for cameras, size, noun in zip(raw, self.shape, ("queries", "gallery"), strict=True):
            read = _read(cameras, f"cameras= of the {noun}")
            if read.form != ONE:
                raise FormatError(f"cameras= of the {noun}: one camera each; got {read.form}")
            if read.size != size:
                raise FormatError(
                    f"cameras= of the {noun} has {read.size} cameras, but there are {size} labels."
                )
            sides.append(read.values)
        numbers: dict[Hashable, int] = {}
        codes = [
            np.array([numbers.setdefault(camera, len(numbers)) for camera in side], np.int64)
            for side in sides
        ]
        owner = ragged.find_owners(self._offsets)
        same = codes[0][owner] == codes[1][self._columns]
        offsets = ragged.make_offsets(ragged.count_flags(same, owner, self.shape[0]))
        columns = self._columns[same]
        return make_qrels(offsets, columns, np.ones(len(columns)), self.shape[1])

    def __repr__(self) -> str:
        return f"Labels({self.shape[0]} queries, {self.shape[1]} items)"

    def qrels(self, complete: str) -> Qrels:
        """Make judgments of pairs with a common label; of all if ``complete`` names a need."""
        offsets, columns, width = self._offsets, self._columns, self.shape[1]
        if not complete:
            return make_qrels(offsets, columns, np.broadcast_to(1.0, len(columns)), width)
        check_cells(self.shape, complete)
        grades = np.zeros(self.shape)
        grades[ragged.find_owners(offsets), columns] = 1.0
        every = np.arange(len(grades) + 1) * width
        return make_qrels(every, np.tile(np.arange(width), len(grades)), grades.ravel(), width)


ONE = "one label each"


@dataclass(frozen=True, eq=False, repr=False)
class _Read:
    """The labels of one side: those of item i are ``values[offsets[i]:offsets[i + 1]]``."""

    form: str
    offsets: Ints
    values: Sequence[Hashable]

    @property
    def size(self) -> int:
        return len(self.offsets) - 1


def _read(raw: Any, noun: str) -> _Read:
    if numbers.is_array(raw) and len(raw.shape) == 2:
        cells = numbers.to_numpy(raw, noun)
        _check_matrix(cells, noun)
        rows, columns = np.nonzero(cells)
        offsets = ragged.make_offsets(np.bincount(rows, minlength=len(cells)))
        return _Read(f"a matrix of {cells.shape[1]} labels", offsets, columns.tolist())
    raw = list_values(raw)
    if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
        raise FormatError(f"{noun}: each item has one label, or a set of labels; got {clip(raw)}")
    labels = list(raw)
    if not labels:
        raise EmptyError(f"{noun} are empty.")
    kinds = set(map(type, labels))
    set_kinds = {kind for kind in kinds if issubclass(kind, (Set, list, tuple))}
    if set_kinds and set_kinds != kinds:
        single, label_set = (
            next(i for i in labels if (type(i) in set_kinds) is not m) for m in (True, False)
        )
        raise FormatError(
            f"{noun}: either all items have one label, or all have a set of labels; got"
            f" {clip(single)} and {clip(label_set)}"
        )
    if set_kinds and all(issubclass(kind, (list, tuple)) for kind in set_kinds):
        _refuse_rows(labels, noun)
    values = unwrap_ids(list(chain.from_iterable(labels)) if set_kinds else labels)
    offsets = (
        ragged.make_offsets(list(map(len, labels))) if set_kinds else np.arange(len(labels) + 1)
    )
    _check(values, offsets, noun)
    return _Read("sets of labels" if set_kinds else ONE, offsets, values)


def _refuse_rows(labels: list[Any], noun: str) -> None:
    """Refuse lists of 0 and 1 of equal length, which may be rows of a matrix or labels 0 and 1."""
    width = len(labels[0])
    if width < 2 or any(len(row) != width for row in labels):
        return
    kinds = (int, float, np.integer, np.floating, np.bool_)
    if all(isinstance(value, kinds) and value in (0, 1) for row in labels for value in row):
        raise FormatError(
            f"{noun}: lists of 0 and 1, all of length {width}, can be read in two ways: as a"
            f" matrix of {width} labels, in which 1 means that the item has the label, or as sets"
            " of the labels 0 and 1. For the former, pass an array, numpy.array(…); for the"
            f" latter, pass sets, such as {{0, 1}}."
        )


def _check_matrix(cells: Any, noun: str) -> None:
    """Refuse a matrix with one column, or with numbers other than 0 and 1."""
    if cells.shape[1] == 1:
        raise FormatError(
            f"{noun} have shape {cells.shape}: for one label each, give shape ({len(cells)},), "
            "for example with ravel(); for several labels, give a column of 0 and 1 for each label."
        )
    if (cells != cells).any():
        raise FormatError(f"{noun}: a cell of the matrix of labels is missing; got nan")
    wrong = np.argwhere((cells != 0) & (cells != 1))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise FormatError(
            f"{noun}, row {row}, column {column}: a matrix of labels contains 1 where the item has"
            f" the label of the column, and 0 elsewhere; got {cells[row, column]}"
        )


def _check(values: list[Any], offsets: Ints, noun: str) -> None:
    """Refuse a label that is missing, or that is not hashable."""
    kinds = set(map(type, values))
    if kinds <= {str, int}:
        return
    wrong = (i for i, label in enumerate(values) if not is_id(label) or is_missing(label))
    place = next(wrong, None)
    if place is not None:
        item = int(np.searchsorted(offsets, place, "right")) - 1
        raise FormatError(
            f"{noun}, item {item}: a label is text or a number; got {clip(values[place])}"
        )


def _match(queries: _Read, gallery: _Read) -> tuple[Ints, Ints]:
    """Find the columns that share a label with each query, ascending: offsets and columns."""
    codes = {label: code for code, label in enumerate(dict.fromkeys(gallery.values))}
    having = np.fromiter(map(codes.__getitem__, gallery.values), np.int64, len(gallery.values))
    codes_of_queries = np.array([codes.get(label, -1) for label in queries.values], np.int64)
    if not (codes_of_queries >= 0).any():
        _refuse_mismatch(queries, gallery)
    columns = ragged.find_owners(gallery.offsets)[np.argsort(having, kind="stable")]
    sizes = np.append(np.bincount(having, minlength=len(codes)), 0)  # the last for unknown labels
    starts = np.append(0, np.cumsum(sizes[:-1]))[: len(sizes)]
    lengths = sizes[codes_of_queries]
    matches = columns[ragged.list_stretches(starts[codes_of_queries], lengths)]
    if queries.form == ONE:
        return ragged.make_offsets(lengths), matches
    owner = np.repeat(ragged.find_owners(queries.offsets), lengths)
    pairs = np.unique(owner * gallery.size + matches)  # a pair may have several labels in common
    owner, matches = np.divmod(pairs, gallery.size)
    return ragged.make_offsets(np.bincount(owner, minlength=queries.size)), matches


def _refuse_mismatch(queries: _Read, gallery: _Read) -> None:
    """Raise the error for labels of which none is common. It names their types if these differ."""
    types = [sorted({name_type(label) for label in side.values}) for side in (queries, gallery)]
    differ = ""
    if types[0] and types[1] and not set(types[0]) & set(types[1]):
        differ = (
            f" The queries' are {list_choices(types[0])}, the gallery's are"
            f" {list_choices(types[1])}."
        )
    raise CoverageError(
        f"no query has a label of the gallery. query_labels: {clip(queries.values[:3])}; "
        f"gallery_labels: {clip(gallery.values[:3])}.{differ}"
    )
