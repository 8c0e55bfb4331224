"""Reads relevance from arrays: grades of every cell (Q, N), a CSR matrix, or one list."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.arguments import parse_whole
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking, number_all
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    clip,
    explain_not_finite,
    write_option,
)
from germane.kernel.columns import Integers
from germane.readers import numbers, subtopics
from germane.readers.numbers import is_finite_number, read_doubles, show_number

MOST = 1 << 26  # judged cells that are held at once
HELD = 1 << 22  # cells of a block of rows
SORTED = 1 << 16  # stored cells that are sorted at once; they stay in the processor's cache


def make_qrels(offsets: Ints, columns: Ints, grades: Floats, width: int) -> Qrels:
    """Make qrels whose queries and items are the rows and columns of an array."""
    queries, items = Integers(np.arange(len(offsets) - 1)), Integers(columns)
    return Qrels(queries.python, offsets, items, grades, columns=(queries, items), width=width)


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
            f"{complete} {looks} at every item judged not relevant: {shape[0]:,} × {shape[1]:,}"
            f" cells, and at most {MOST:,} are held at once. Leave it out, evaluate fewer queries"
            " at a time, or give a CSR matrix of the cells that are judged."
        )


def read_csr(raw: Any, where: str = "qrels") -> Qrels:
    """Read a CSR matrix (Q, N): the stored cells are judged, even those that store 0.

    ``where`` is the argument; judgments are not empty, but other pairs may be.
    """
    if getattr(raw, "format", "csr") != "csr":
        raise FormatError(
            f"{where}: a sparse matrix must be CSR, one row a query; got {type(raw).__name__} of "
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
            " add them up."
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
            raise InputError(f"the list holds {n_found} relevant items, but relevant={count}.")
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
        raise GradeError(f"{noun}, rank {rank}: {wrong}")
    return numbers


def _check_holds(grades: Floats, ideal: Floats) -> None:
    for grade in np.unique(grades[grades > 0]):
        have, exist = np.count_nonzero(grades == grade), np.count_nonzero(ideal == grade)
        if have > exist:
            raise InputError(
                f"the list holds {have} items of grade {grade:g}, but {write_option('relevant')}"
                f" has {exist}."
            )
