"""Labels: an item of a gallery is relevant for a query if they have a label in common."""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values
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

    Raises FormatError where a label is missing (None, NaN) or the two are of different forms,
    CoverageError where no query has a label of the gallery.
    """

    def __init__(self, query_labels: Any, gallery_labels: Any) -> None:
        queries = _read(query_labels, "query_labels")
        gallery = _read(gallery_labels, "gallery_labels")
        if queries.form != gallery.form:
            raise FormatError(
                f"query_labels are {queries.form}, gallery_labels are {gallery.form}; both are one "
                "label each, sets of labels, or matrices of the same labels."
            )
        self.shape = (queries.size, gallery.size)
        self._offsets, self._columns = _match(queries, gallery)

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


@dataclass(frozen=True, eq=False, repr=False)
class _Read:
    """The labels of one side: those of item i are ``values[offsets[i]:offsets[i + 1]]``."""

    form: str
    offsets: Ints
    values: Sequence[Hashable]

    @property
    def size(self) -> int:
        return len(self.offsets) - 1


def _read(given: Any, what: str) -> _Read:
    if numbers.is_array(given) and len(given.shape) == 2:
        cells = numbers.to_numpy(given, what)
        _check_matrix(cells, what)
        rows, columns = np.nonzero(cells)
        offsets = ragged.make_offsets(np.bincount(rows, minlength=len(cells)))
        return _Read(f"a matrix of {cells.shape[1]} labels", offsets, columns.tolist())
    given = list_values(given)
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise FormatError(f"{what}: one label, or a set of labels, an item; got {clip(given)}")
    labels = list(given)
    if not labels:
        raise EmptyError(f"{what} are empty.")
    kinds = set(map(type, labels))
    several = {kind for kind in kinds if issubclass(kind, (Set, list, tuple))}
    if several and several != kinds:
        one, many = (
            next(i for i in labels if (type(i) in several) is not m) for m in (True, False)
        )
        raise FormatError(
            f"{what}: all items have one label, or all have a set of labels; got {clip(one)} and "
            f"{clip(many)}"
        )
    if several and all(issubclass(kind, (list, tuple)) for kind in several):
        _refuse_rows(labels, what)
    values = list(chain.from_iterable(labels)) if several else labels
    offsets = ragged.make_offsets(list(map(len, labels))) if several else np.arange(len(labels) + 1)
    _check(values, offsets, what)
    return _Read("sets of labels" if several else "one label each", offsets, values)


def _refuse_rows(labels: list[Any], what: str) -> None:
    """Refuse lists of 0 and 1 of equal length, which may be rows of a matrix or labels 0 and 1."""
    width = len(labels[0])
    if width < 2 or any(len(row) != width for row in labels):
        return
    kinds = (int, float, np.integer, np.floating, np.bool_)
    if all(isinstance(one, kinds) and one in (0, 1) for row in labels for one in row):
        raise FormatError(
            f"{what}: lists of 0 and 1, all of length {width}, can be read in two ways: as a matrix"
            f" of {width} labels, where 1 says that the item has the label, or as sets of the"
            " labels 0 and 1. For the first, give an array, numpy.array(…); for the second, give"
            " sets, such as {0, 1}."
        )


def _check_matrix(cells: Any, what: str) -> None:
    """Refuse a matrix with one column, or with numbers other than 0 and 1."""
    if cells.shape[1] == 1:
        raise FormatError(
            f"{what} have shape {cells.shape}: for one label each, give shape ({len(cells)},), "
            "for example with ravel(); for several labels, give a column of 0 and 1 for each label."
        )
    if (cells != cells).any():
        raise FormatError(f"{what}: a cell of the matrix of labels is missing; got nan")
    odd = np.argwhere((cells != 0) & (cells != 1))
    if len(odd):
        row, column = odd[0].tolist()
        raise FormatError(
            f"{what}, row {row}, column {column}: a matrix of labels holds 1 where the item has the"
            f" label of the column, and 0 elsewhere; got {cells[row, column]}"
        )


def _check(values: list[Any], offsets: Ints, what: str) -> None:
    """Refuse a label that is missing, or that is not hashable."""
    kinds = set(map(type, values))
    if kinds <= {str, int}:
        return
    unfit = {kind for kind in kinds if not issubclass(kind, Hashable)}
    odd = (i for i, label in enumerate(values) if type(label) in unfit or is_missing(label))
    at = next(odd, None)
    if at is not None:
        item = int(np.searchsorted(offsets, at, "right")) - 1
        raise FormatError(
            f"{what}, item {item}: a label is text or a number; got {clip(values[at])}"
        )


def _match(queries: _Read, gallery: _Read) -> tuple[Ints, Ints]:
    """Find the columns that share a label with each query, ascending: offsets and columns."""
    codes = {label: code for code, label in enumerate(dict.fromkeys(gallery.values))}
    having = np.fromiter(map(codes.__getitem__, gallery.values), np.int64, len(gallery.values))
    asked = np.array([codes.get(label, -1) for label in queries.values], np.int64)
    if not (asked >= 0).any():
        _refuse_mismatch(queries, gallery)
    columns = ragged.find_owners(gallery.offsets)[np.argsort(having, kind="stable")]
    sizes = np.append(np.bincount(having, minlength=len(codes)), 0)  # the last for unknown labels
    starts = np.append(0, np.cumsum(sizes[:-1]))[: len(sizes)]
    lengths = sizes[asked]
    found = columns[ragged.list_stretches(starts[asked], lengths)]
    if queries.form == "one label each":
        return ragged.make_offsets(lengths), found
    owner = np.repeat(ragged.find_owners(queries.offsets), lengths)
    pairs = np.unique(owner * gallery.size + found)  # a pair may have several labels in common
    owner, found = np.divmod(pairs, gallery.size)
    return ragged.make_offsets(np.bincount(owner, minlength=queries.size)), found


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
