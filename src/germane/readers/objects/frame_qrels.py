"""Reads judgments from frames, those of several judges, and frames with a list in each cell."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core import ragged
from germane.core.calls import Progress
from germane.core.qrels import Qrels, Source
from germane.core.ragged import Floats, Ints
from germane.errors import DuplicateError, EmptyError, FormatError, clip, write_option
from germane.kernel.ids import Ids, Text, join_ids
from germane.kernel.reduction import Batch, RepeatedItem, drop_repeats, find_changes, find_distinct
from germane.readers.inputs import Faults, Needs
from germane.readers.objects.arrow import Place
from germane.readers.objects.frames import Frame
from germane.readers.objects.headings import ITERATION
from germane.readers.objects.hits import is_hits, read_hits
from germane.readers.objects.mappings import MappedRun, RankedLists, ScoredMapping, is_scores
from germane.readers.options.subtopics import (
    NO_NAMES,
    RepeatedSubtopic,
    SubtopicRows,
    explain_repeated_subtopic,
    group_rows,
    join_subtopics,
    number_names,
)
from germane.readers.rows import Piece, Rows, explain_repeat

if TYPE_CHECKING:
    import pyarrow as pa

    from germane.readers.objects.frames import Frame


def read_qrels(frame: Frame, duplicates: str, progress: Progress | None, needs: Needs) -> Qrels:
    """Read the judgments of a frame; without a column of grades every row is relevant.

    A column of subtopics is read; the column ``iteration`` only if subtopics are needed.
    """
    frame = frame.report_to(progress)
    names = frame.headings
    column = names.subtopic or (names.iteration if needs.subtopics else None)
    rows = _read_rows(frame, column)
    if column is not None and not (column == ITERATION and rows.has_unused_names):
        return _group(frame, rows, duplicates, column)
    judged = Batch(np.arange(len(rows.queries)), rows.offsets, rows.items, rows.grades)
    try:
        judged = drop_repeats(judged, rows.queries, duplicates)
    except RepeatedItem as error:
        raise explain_repeat(frame.where, "judged", error) from None
    assert judged.score is not None
    return _make_qrels(frame, rows.queries, judged.offsets, judged.items, judged.score)


def _group(frame: Frame, rows: SubtopicRows, duplicates: str, column: str) -> Qrels:
    """Make judgments of single subtopics. An item's grade is the highest of them."""
    try:
        offsets, items, grades = group_rows(rows, duplicates)
    except RepeatedSubtopic as error:
        raise explain_repeated_subtopic(frame.where, error) from None
    grades = replace(grades, is_named=column != ITERATION)
    qrels = _make_qrels(frame, rows.queries, offsets, items, grades.highest)
    return replace(qrels, subtopics=grades)


def _make_qrels(frame: Frame, queries: Any, offsets: Ints, items: Ids, grades: Floats) -> Qrels:
    columns = queries, items
    return Qrels(
        queries.python,
        offsets,
        items,
        grades,
        frame.name,
        frame.ids,
        columns,
        source=Source(lines=frame.lines),
        id_names=frame.id_names,
    )


def _read_rows(frame: Frame, column: str | None) -> SubtopicRows:
    """Read all rows, grouped by query in the order in which queries first appear."""
    queries, offsets, item, subtopic, grade = _read_judgments(frame, column)
    code, names = NO_NAMES if column is None else number_names(subtopic)
    first, group = find_distinct(queries)
    if len(first) < len(queries):
        owner = np.repeat(group, np.diff(offsets))
        by_query = ragged.order_stably(owner)
        queries, item, grade = queries.take(first), item.take(by_query), grade[by_query]
        code = code if column is None else code[by_query]
        offsets = ragged.make_offsets(np.bincount(owner))
    return SubtopicRows(queries, offsets, item, code, names, grade)


def _read_judgments(frame: Frame, column: str | None) -> tuple[Ids, Ints, Ids, Ids, Floats]:
    """Read the query of each stretch of rows, their offsets, items, subtopics, and grades."""
    queries: list[Any] = []
    starts: list[Ints] = []
    items: list[Ids] = []
    subtopics: list[Ids] = []
    grades: list[Floats] = []
    name, rows = frame.headings.relevance, 0
    for row, record in frame.number_records():
        if not record.num_rows:
            continue
        read = _read_piece(frame, (row, [record]))
        queries.append(read.queries)
        starts.append(row + read.offsets[:-1])
        items.append(read.items)
        if column is not None:
            subtopics.append(frame.read_names(record, row, column))
        if read.score is not None:
            grades.append(read.score)
        rows = row + record.num_rows
    if not queries:
        raise EmptyError(f"{frame.where}: there are no rows, so there are no judgments.")
    query, start = join_ids(queries), np.concatenate(starts)
    changes = find_changes(query)  # a stretch may go on in the next record
    offsets = np.append(start[changes], rows)
    grade = np.broadcast_to(1.0, rows) if name is None else np.concatenate(grades)
    subtopic = join_ids(subtopics) if subtopics else Text.empty()
    return query.take(changes), offsets, join_ids(items), subtopic, grade


def _read_piece(frame: Frame, piece: Piece) -> Rows:
    """Read the judgments of a record: query, item, and grade if there is a column of grades."""
    row, [record] = piece
    query, item = frame.read_ids(record, row)
    changes, name = find_changes(query), frame.headings.relevance
    grade = None
    if name is not None:
        grade = frame.read_numbers(record, name, row, "relevance grade")
    return Rows(query.take(changes), np.append(changes, len(query)), item, grade)


def read_rows(frame: Frame, progress: Progress | None, faults: Faults) -> Iterator[Rows] | None:
    """Read judgments as far as possible, and note the others as faults; None for subtopics."""
    if frame.headings.subtopic is not None:
        return None
    return frame.report_to(progress).sift(_read_piece, faults)


def join_judgments(parts: Sequence[Qrels]) -> Qrels:
    """Join the judgments of frames without a common query. Raises EmptyError for none at all."""
    filled = [part for part in parts if len(part)]
    if not filled:
        raise EmptyError("qrels: there are no rows, so there are no judgments.")
    queries, items = (join_ids(ids) for ids in zip(*(p.columns for p in filled), strict=True))
    return replace(
        filled[0],
        queries=queries.python,
        offsets=ragged.make_offsets(
            np.concatenate([ragged.find_lengths(part.offsets) for part in filled])
        ),
        items=items,
        grades=np.concatenate([part.grades for part in filled]),
        columns=(queries, items),
        subtopics=join_subtopics([part.subtopics for part in filled], items),
    )


def split_by_judge(frame: Frame) -> dict[str, Frame]:
    """Split the rows by judge, in the order of first appearance. Raises EmptyError for no rows."""
    frame = frame.hold()
    column, relevance = frame.headings.judge, frame.headings.relevance
    assert column is not None
    records, columns = [], []
    for row, record in frame.number_records():
        if record.num_rows:
            frame.read_ids(record, row)  # so that an error has the number of the row in the whole
            if relevance is not None:
                frame.read_numbers(record, relevance, row, "relevance grade")
            records.append(record)
            columns.append(frame.read_names(record, row, column).as_text())
    if not records:
        raise EmptyError(f"{frame.where}: there are no rows, so there are no judgments.")
    judges = join_ids(columns)
    first, judge = find_distinct(judges)
    masks = np.split(judge, np.cumsum([record.num_rows for record in records])[:-1])
    parts = {}
    for number, name in enumerate(judges.take(first).python):
        pairs = zip(records, masks, strict=True)
        mine = [record.filter(mask == number) for record, mask in pairs]
        part = replace(frame, where=f"{frame.where}, judge {clip(name)}")
        parts[str(name)] = part.replace_records([record for record in mine if record.num_rows])
    return parts


# --- List cells -----------------------------------------------------------------------------------
#
# Reads frames whose cells hold the lists of queries, as with Spark's ALS, LlamaIndex and Kaggle.
#
# They become ``{query: [item, …]}`` or hits, and are read like any others.

Lists = dict[Hashable, Any]


def find_lists(frame: Frame) -> tuple[Lists | None, Frame]:
    """Read the lists, if cells hold any. Returns the frame, too, which may be read once.

    Cells are lists by their type; text is one by the name of its column, and blanks separate its
    items.
    """
    with suppress(EmptyError):
        head, frame = frame.read_head()
        if frame.headings.lists or _is_nested(head.column(frame.headings.item)):
            return _read_lists(frame), frame
    return None, frame


def open_lists(frame: Frame, *, lowest: bool) -> MappedRun:
    """Open the lists of a run. Raises FormatError for rows, which have no order."""
    item, beside = frame.headings.item, frame.headings.score or frame.headings.rank
    if beside is not None:
        raise FormatError(
            f"{frame.where}: {item!r} contains lists of items, and there is also {beside!r}."
            f" frame.explode([{item!r}, {beside!r}]) makes a row for each item; use it with"
            f" {write_option('columns', {'run': {'item': item}})}."
        )
    lists, frame = find_lists(frame)
    if lists is None:
        raise FormatError(f"{frame.headings.unordered}{_advise_split(frame)}")
    if (scores := frame.headings.list_scores) is not None:
        is_distance = "dist" in scores.casefold()
        lowest_first = f" and {write_option('scores', 'distances')}" if is_distance else ""
        raise FormatError(
            f"{frame.where}: {item!r} contains lists of items, and {scores!r} seems to have their"
            f" scores. frame.explode([{item!r}, {scores!r}]) makes a row for each item; use it with"
            f" {write_option('columns', {'run': {'item': item, 'score': scores}})}{lowest_first}."
            f" If the lists are in order, best first, leave out {scores!r}."
        )
    if is_hits(lists):
        lists = read_hits(lists, name_fields(frame), item, lowest=lowest)
    kind = ScoredMapping if is_scores(lists) else RankedLists
    names = frame.headings.id_names
    return kind(lists, frame.name, frame.where, find_ids(frame), is_named=True, id_names=names)


def _advise_split(frame: Frame) -> str:
    """Advise on the first cell of a column of items, if it has several words."""
    cells = (cell for record in frame.records() for cell in record.column(frame.headings.item))
    first = next(cells, None)
    words = str(first).split() if first is not None else ()
    if len(words) < 2:
        return ""
    return f" If the cells are lists, {_advise_mapping(frame, 'cell.split()')}"


def find_ids(frame: Frame) -> str:
    """Are the ids of items typed, or text, since they are parts of text?"""
    nested = (_is_nested(record.column(frame.headings.item)) for record in frame.records())
    return frame.ids if next(nested, False) else "text"


def name_fields(frame: Frame) -> dict[str, Any]:
    """The fields of entries that the caller names."""
    return {} if frame.headings.field is None else {"item": frame.headings.field}


_LIST = re.compile(r"(large_|fixed_size_)?list<")
_LIST_OF_LISTS = re.compile(rf"{_LIST.pattern}[^:]*: {_LIST.pattern}")


def _is_nested(column: pa.Array) -> bool:
    return _LIST.match(str(column.type)) is not None


def _read_lists(frame: Frame) -> Lists:
    lists: Lists = {}
    name = frame.headings.item
    for row, record in frame.number_records():
        column, place = record.column(name), Place(frame.where, name, row, parts=frame.parts)
        cells, queries = column.to_pylist(), frame.read_queries(record, row)
        if not _is_nested(column):
            queries = queries.as_text()  # as their items
            cells = [_split(cell, place.at(row), frame) for row, cell in enumerate(cells)]
        elif _LIST_OF_LISTS.match(str(column.type)):
            raise FormatError(
                f"{place}: the cells hold pairs, such as {clip(cells[0])}; "
                + _advise_mapping(frame, "dict(cell)")
            )
        for number, query in enumerate(queries.python):
            if query in lists:
                rows = f" {write_option('columns', {'item': name})} takes each cell as one item."
                raise DuplicateError(
                    f"{place.at(number)}: query {clip(query)} has a second list, but a query can"
                    f" have only one.{'' if _is_nested(column) else rows}"
                )
            lists[query] = cells[number]
    return lists


_SEPARATOR = re.compile(r"[,;|] ?")


def _split(cell: Any, where: str, frame: Frame) -> list[str]:
    """Split the items of a cell at blanks. Refuses text in which something else separates them."""
    if not isinstance(cell, str):
        raise FormatError(
            f"{where}: lists of items are needed, or text of items between blanks; got"
            f" {clip(cell)}. {write_option('columns', {'item': 'name'})} names another column."
        )
    separator = _SEPARATOR.search(cell)
    if cell.lstrip().startswith(("[", "(", "{")):
        parted = "," in cell or len(cell.split()) == 1
        read = "ast.literal_eval(cell)" if parted else "cell.strip('[]').split()"  # NumPy's text
    elif separator is not None:
        read = f"cell.split({separator[0]!r})"
    else:
        return cell.split()
    raise FormatError(
        f"{where}: blanks separate the items of a cell, and this one is {clip(cell)};"
        f" {_advise_mapping(frame, read)}"
    )


def _advise_mapping(frame: Frame, entries: str) -> str:
    """Advise a mapping in the place of the frame; ``entries`` reads a cell."""
    pairs = f"zip(frame[{frame.headings.query!r}], frame[{frame.headings.item!r}])"
    read = ", with frame = pandas.read_csv(path, dtype=str)" * (frame.ids == "text")
    return f"give {{query: {entries} for query, cell in {pairs}}}{read}."
