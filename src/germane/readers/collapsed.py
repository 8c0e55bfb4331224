"""The rows of a run with columns, collapsed: one a query and group of items."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from germane import readers
from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.errors import EmptyError, FormatError, InputError, PolicyError, clip, some
from germane.kernel.columns import Ids, Integers, ids_of_python, join_ids
from germane.kernel.reduction import find_distinct
from germane.readers import frames
from germane.readers.formats import InputFormat
from germane.readers.frames import Frame
from germane.readers.pieces import join_numbers
from germane.readers.trec_files import Run

if TYPE_CHECKING:
    import pyarrow as pa

GroupOf = Callable[[Hashable, Any], Hashable]
"""The group of an item of a query."""


def opened(run: Any, columns: Any, input_format: InputFormat) -> Frame:
    """A frame, a file or a run that is read, as columns."""
    given = readers.open_run(run, readers.ReadOptions(columns, input_format))
    if isinstance(given, Frame):
        return given
    loaded = given.load()
    if not isinstance(loaded, Run):
        raise InputError(
            "collapse takes {query: {item: score}}, {query: [item, …]}, a frame or a file; got "
            + clip(run)
        )
    return _of_run(loaded)


def _of_run(run: Run) -> Frame:
    import pyarrow as pa

    owner = ragged.owners(run.rows.offsets)
    table = pa.table(
        {
            "query": ids_of_python(run.rows.queries).take(owner).to_arrow(),
            "item": run.rows.items.to_arrow(),
            "score": run.rows.score,
        }
    )
    return frames.of_table(table, "run")


def table(frame: Frame, group_of: GroupOf | None, keep: str) -> pa.Table:
    """The collapsed rows, in the order in which the groups appear; without ``group_of`` items are groups.

    A run with scores keeps these and loses its ranks, which may contradict them.
    """
    import pyarrow as pa

    rows = _rows(frame)
    if rows.score is None and keep == "sum":
        raise PolicyError("keep=sum adds scores, and a ranked list has none; choose first.")
    first_of_query, query = find_distinct(rows.query)
    first_of_item, item = find_distinct(rows.item)
    group, groups = item, _to_arrow(rows.item.take(first_of_item))
    if group_of is not None:
        asking = rows.query.take(first_of_item).python
        asked = map(group_of, asking, rows.item.take(first_of_item).python)
        codes: dict[Hashable, int] = {}
        group = np.array([codes.setdefault(one, len(codes)) for one in asked])[item]
        groups = _of_python(list(codes))
    _, first, place = np.unique(query * len(groups) + group, return_index=True, return_inverse=True)
    shown = np.argsort(first)
    at, number = first[shown], _numbers(rows, first, place, keep)[shown]
    names = frame.headings
    return pa.table(
        {
            names.query: _to_arrow(rows.query.take(first_of_query)).take(pa.array(query[at])),
            names.item: groups.take(pa.array(group[at])),
            names.score or names.rank: number,
        }
    )


class _Rows(NamedTuple):
    """All rows of a run."""

    query: Ids
    item: Ids
    score: Floats | None
    rank: Floats | None


def _rows(frame: Frame) -> _Rows:
    parts: list[_Rows] = []
    row = 0
    for record in frame.records():
        if record.num_rows:
            score, rank = frame.scores(record, row)
            parts.append(_Rows(*frame.identifiers(record, row), score, rank))
        row += record.num_rows
    if not parts:
        raise EmptyError(f"{frame.where}: there are no rows.")
    queries, items, scores, ranks = zip(*parts, strict=True)
    return _Rows(join_ids(queries), join_ids(items), join_numbers(scores), join_numbers(ranks))


def _numbers(rows: _Rows, first: Ints, place: Ints, keep: str) -> Floats | Ints:
    """The score of each group, or its rank where there are no scores."""
    if rows.score is None:  # a group stands where its first item stood
        return _reduced(np.minimum, rows.rank, place)
    if keep == "max":
        return _reduced(np.maximum, rows.score, place)
    return np.bincount(place, rows.score) if keep == "sum" else rows.score[first]


def _reduced(ufunc: np.ufunc, values: Any, place: Ints) -> Floats | Ints:
    order = np.argsort(place, kind="stable")
    return ufunc.reduceat(values[order], np.flatnonzero(np.diff(place[order], prepend=-1)))


def _to_arrow(ids: Ids) -> pa.Array:
    import pyarrow as pa

    if isinstance(ids, Integers):
        return pa.array(ids.values)
    text = ids.as_text().to_arrow()
    try:
        return text.cast("large_string" if text.type == pa.large_binary() else "string")
    except pa.ArrowInvalid:  # bytes that are not UTF-8
        return text


def _of_python(groups: Sequence[Hashable]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(groups)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise FormatError(
            f"the groups of a column are all text or all whole numbers; got {some(groups)}"
        ) from None
