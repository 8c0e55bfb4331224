"""Collapse a run's items into groups before it is ranked, such as chunks into documents.

A run with columns keeps one row for each query and group of items.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np

from germane import readers
from germane.core import ragged
from germane.core.calls import list_values
from germane.core.ragged import Floats
from germane.errors import (
    EmptyError,
    FormatError,
    InputError,
    PolicyError,
    check_choice,
    clip,
    list_some,
    require_arrow,
    show_typed,
)
from germane.evaluation.choices import ItemGroups, Run
from germane.kernel.ids import Ids, Integers, read_python_ids
from germane.kernel.reduction import Batch, choose_copies, find_distinct
from germane.readers import RunInput
from germane.readers.files.formats import InputFormat
from germane.readers.objects.frames import Frame
from germane.readers.objects.headings import Headings
from germane.readers.objects.hits import is_hits, read_hits
from germane.readers.objects.mappings import check_scores, is_mapping, list_scores
from germane.readers.options.item_groups import GroupOf, collapse_scores, open_groups
from germane.readers.rows import join_rows

if TYPE_CHECKING:
    import pyarrow as pa


Keep: TypeAlias = Literal["max", "first", "sum"]
KEEPS = ("max", "first", "sum")


@overload
def collapse(
    run: Mapping[Any, Any],
    key: Mapping[Any, Hashable] | Callable[[Any], Hashable],
    *,
    keep: Keep = "max",
) -> dict[Hashable, Any]: ...
@overload
def collapse(
    run: Run,
    key: Mapping[Any, Hashable] | Callable[[Any], Hashable] | str,
    *,
    keep: Keep = "max",
    columns: Mapping[str, Any] | None = None,
    input_format: InputFormat = None,
) -> pa.Table: ...
def collapse(
    run: Run,
    key: ItemGroups,
    *,
    keep: Keep = "max",
    columns: Mapping[str, Any] | None = None,
    input_format: InputFormat = None,
) -> dict[Hashable, Any] | pa.Table:
    """Replace the items of a run by their groups, so that each group appears once per query.

    >>> run = {"q": {"d1#2": 0.9, "d2#1": 0.8, "d1#1": 0.7}}
    >>> germane.collapse(run, lambda chunk: chunk.split("#")[0])
    {'q': {'d1': 0.9, 'd2': 0.8}}

    ``run`` is ``{query: {item: score}}`` or ``{query: [item, …]}``, and the result has the same
    form. It can also be a frame, the path of a file, or the value of ``read_run``; the result is
    then a ``pyarrow.Table``. ``key`` maps each item to its group: a mapping, a function, or the
    name of a frame's column. By default (``keep="max"``), a group gets the highest score of its
    items, and the place of the item that has it. With ``first`` it gets the score of its first
    item, with ``sum`` the sum of their scores, and in both cases the place of the first item. In
    ranked lists, a group always has the place of its first item.

    With classes as groups, ``Success@K`` of the collapsed run asks whether the right class is among
    the first K *different* classes. Raises NotFoundError for an item that is not in the mapping,
    ScoreError for a score that is not a finite number, and PolicyError for an unknown ``keep``.
    """
    check_choice("keep", keep, KEEPS)
    if is_hits(run):
        run = read_hits(run, columns)
    if is_mapping(run):
        group_of = _make_lookup(key)
        return {
            query: _collapse_mapping(query, results, group_of, keep)
            for query, results in run.items()
        }
    if isinstance(key, str):  # the groups are the items
        frame = open_rows(run, {**(columns or {}), "item": key}, input_format)
        return make_table(frame, None, keep)
    return make_table(open_rows(run, columns, input_format), _make_lookup(key), keep)


def _collapse_mapping(query: Hashable, results: Any, group_of: GroupOf, keep: str) -> Any:
    scores = list_scores(results)
    if scores is None:
        results = list_values(results)
        is_no_list = isinstance(results, (str, bytes, Set)) or hasattr(results, "columns")
        if is_no_list or not isinstance(results, Iterable):
            raise FormatError(
                f"run, query {clip(query)}: results are {{item: score}} or a list of items, best"
                f" first; got {show_typed(results)}"
            )
        if keep == "sum":
            raise PolicyError("keep=sum adds scores, and a ranked list has none; choose first.")
        return list(dict.fromkeys(group_of(query, item) for item in results))
    check_scores("run", query, results)
    return collapse_scores(query, zip(results, scores, strict=True), group_of, keep)


def _make_lookup(key: Any) -> GroupOf:
    """Make a function that finds the group of an item; errors name the query."""
    if not isinstance(key, Mapping) and not callable(key):
        raise InputError(f"key is a mapping of item to group, or a function; got {clip(key)}")
    return open_groups(key).find_group


def open_rows(run: Any, columns: Any, input_format: InputFormat) -> RunInput:
    """Open a frame, a file or a run that was read. Raises InputError for an array without ids."""
    opened = readers.open_run(run, readers.ReadOptions(columns, input_format))
    if opened.is_array:
        raise InputError(
            "collapse takes {query: {item: score}}, {query: [item, …]}, a frame or a file; got "
            + clip(run)
        )
    return opened.load()


def make_table(run: RunInput, group_of: GroupOf | None, keep: str) -> pa.Table:
    """Make a table of the collapsed rows, in the order of the rows where the groups stand.

    Without ``group_of`` the items are the groups. A run with scores keeps these and loses its
    ranks, which may contradict them.
    """
    require_arrow("collapse makes a pyarrow.Table of a frame or file, which", "needs")
    import pyarrow as pa

    rows = _read_rows(run)
    if rows.score is None and keep == "sum":
        raise PolicyError("keep=sum adds scores, and a ranked list has none; choose first.")
    first_of_query, query = find_distinct(rows.query)
    first_of_item, item = find_distinct(rows.item)
    group, groups = item, _to_arrow(rows.item.take(first_of_item))
    if group_of is not None:
        asking = rows.query.take(first_of_item).python
        group_ids = map(group_of, asking, rows.item.take(first_of_item).python)
        codes: dict[Hashable, int] = {}
        group = np.array([codes.setdefault(group_id, len(codes)) for group_id in group_ids])[item]
        try:
            groups = pa.array(list(codes))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise FormatError(
                "the groups of a column must all be text or all be whole numbers; got"
                f" {list_some(codes)}"
            ) from None
    _, place = np.unique(query * len(groups) + group, return_inverse=True)
    numbers = rows.rank if rows.score is None else rows.score
    assert numbers is not None
    batch = Batch(np.arange(1), np.array([0, len(place)]), Integers(place), rows.score, rows.rank)
    copies = choose_copies(batch, "max" if rows.score is None or keep == "max" else "first")
    number = np.bincount(place, numbers)[place[copies]] if keep == "sum" else numbers[copies]
    names = run.headings if isinstance(run, Frame) else _NAMES[rows.score is not None]
    return pa.table(
        {
            names.query: _to_arrow(rows.query.take(first_of_query)).take(pa.array(query[copies])),
            names.item: groups.take(pa.array(group[copies])),
            names.score or names.rank: number,
        }
    )


_NAMES = (Headings("query", "item", rank="rank"), Headings("query", "item", "score"))


class _Rows(NamedTuple):
    """All rows of a run."""

    query: Ids
    item: Ids
    score: Floats | None
    rank: Floats | None


def _read_rows(run: RunInput) -> _Rows:
    parts = [part for part in run.read_rows() if len(part.items)]
    if not parts:
        raise EmptyError(f"{run.label}: there are no rows.")
    rows = join_rows(parts)
    owner = ragged.find_owners(rows.offsets)
    rank = rows.rank
    if rank is None and rows.score is None:
        rank = np.arange(len(owner)) - rows.offsets[owner] + 1
    return _Rows(read_python_ids(rows.queries).take(owner), rows.items, rows.score, rank)


def _to_arrow(ids: Ids) -> pa.Array:
    import pyarrow as pa

    if isinstance(ids, Integers):
        return pa.array(ids.values)
    text = ids.as_text().to_arrow()
    try:
        return text.cast("large_string" if text.type == pa.large_binary() else "string")
    except pa.ArrowInvalid:  # bytes that are not UTF-8
        return text
