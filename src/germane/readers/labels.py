"""Labels: an item of a gallery is relevant for a query if they have a label in common."""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values
from germane.core.id_spelling import is_id, unwrap_ids
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.errors import CoverageError, EmptyError, FormatError, clip, list_choices, name_type
from germane.kernel.ids import is_missing
from germane.readers import numbers, relevance


class Labels:
    """Qrels made of labels: an item is relevant, of grade 1, where it has a label of the query.

    >>> import numpy as np
    >>> labels = germane.Labels(["cat", "dog"], ["dog", "cat", "cat"])
    >>> similarity = np.array([[0.9, 0.8, 0.1], [0.9, 0.2, 0.1]])
    >>> germane.evaluate(labels, similarity, "AP")["AP"].per_query
    {0: 0.5833333333333333, 1: 1.0}

    ``query_labels`` (Q) and ``gallery_labels`` (N): one label each, text or a number; or several,
    as sets or as matrices (Q, L) and (N, L) of 0 and 1, where 1 says that the item has the label of
    that column. Queries and items are numbered from 0.

    ``cameras`` are those of the queries and those of the gallery, a pair of lists. An item with the
    label *and* the camera of the query is junk, as is usual in re-identification: neither right nor
    wrong, it leaves the list and does not count among the relevant items, as with ``ignore=``.

    >>> junk = germane.Labels(["ann"], ["ann", "bob", "ann"], cameras=([1], [1, 1, 2]))
    >>> germane.evaluate(junk, np.array([[0.9, 0.8, 0.7]]), "AP")["AP"].mean
    0.5

    Raises FormatError where a label is missing (None, NaN) or the two are of different forms, and
    for another number of cameras, CoverageError where no query has a label of the gallery.
    """

    def __init__(self, query_labels: Any, gallery_labels: Any, *, cameras: Any = None) -> None:
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

    def _find_junk(self, raw: Any) -> Qrels:
        """Find the items with the label and the camera of a query."""
        if not isinstance(raw, (tuple, list)) or len(raw) != 2:
            raise FormatError(
                "cameras= are a pair, (those of the queries, those of the gallery); got"
                f" {clip(raw)}"
            )
        sides = []
        for cameras, size, noun in zip(raw, self.shape, ("queries", "gallery"), strict=True):
            read = _read(cameras, f"cameras= of the {noun}")
            if read.form != ONE:
                raise FormatError(f"cameras= of the {noun}: one camera each; got {read.form}")
            if read.size != size:
                raise FormatError(
                    f"cameras= of the {noun} has {read.size} cameras, and there are {size} labels."
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
        return relevance.make_qrels(offsets, columns, np.ones(len(columns)), self.shape[1])

    def __repr__(self) -> str:
        return f"Labels({self.shape[0]} queries, {self.shape[1]} items)"

    def qrels(self, complete: str) -> Qrels:
        """Make judgments of pairs with a common label; of all if ``complete`` names a need."""
        offsets, columns, width = self._offsets, self._columns, self.shape[1]
        if not complete:
            return relevance.make_qrels(offsets, columns, np.broadcast_to(1.0, len(columns)), width)
        relevance.check_cells(self.shape, complete)
        grades = np.zeros(self.shape)
        grades[ragged.find_owners(offsets), columns] = 1.0
        every = np.arange(len(grades) + 1) * width
        return relevance.make_qrels(
            every, np.tile(np.arange(width), len(grades)), grades.ravel(), width
        )


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
        raise FormatError(f"{noun}: one label, or a set of labels, an item; got {clip(raw)}")
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
            f"{noun}: all items have one label, or all have a set of labels; got {clip(single)}"
            f" and {clip(label_set)}"
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
            f"{noun}: lists of 0 and 1, all of length {width}, can be read in two ways: as a matrix"
            f" of {width} labels, where 1 says that the item has the label, or as sets of the"
            " labels 0 and 1. For the first, give an array, numpy.array(…); for the second, give"
            " sets, such as {0, 1}."
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
            f"{noun}, row {row}, column {column}: a matrix of labels holds 1 where the item has the"
            f" label of the column, and 0 elsewhere; got {cells[row, column]}"
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
