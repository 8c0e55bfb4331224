"""Reading for checks: the rows of qrels and runs of every source, without stopping at faults.

Every bad line of a TREC file is a fault, and has a line number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.checks.rows import DIGITS, Faults, Numbering, Side, number_columns
from germane.core.arguments import list_values
from germane.core.id_spelling import is_id, unwrap_ids, unwrap_keys
from germane.core.progress import Progress
from germane.core.ragged import Floats, Ints, find_owners
from germane.errors import EmptyError, InputError, clip, explain_not_finite, show_typed
from germane.kernel.columns import Ids, read_bytes
from germane.kernel.ids import is_missing
from germane.readers import Needs, QrelsInput, RunInput
from germane.readers.files import formats, trec
from germane.readers.files.formats import InputFormat, Path, is_path
from germane.readers.files.line_blocks import TextFile, count_line_ends
from germane.readers.files.trec_files import Run, TrecFile
from germane.readers.objects import numbers
from germane.readers.objects.arrays import ArrayRun
from germane.readers.objects.arrow import is_whole_type
from germane.readers.objects.frames import Frame
from germane.readers.objects.mappings import (
    RankedLists,
    ScoredLists,
    ScoredMapping,
    is_mapping,
    list_scores,
)
from germane.readers.objects.numbers import EXACT, count_rounded, is_finite_number, show_number
from germane.readers.objects.top_ids import TopIds
from germane.readers.options import subtopics as subtopic_reader


def read_trec(path: Path, kind: Literal["qrels", "run"], progress: Progress | None = None) -> Side:
    """Read the valid rows of a file. Raises InputError for one that cannot be read or is empty."""
    layout = {"qrels": trec.QRELS, "run": trec.RUN}[kind]
    faults, parts, first = Faults(), [], 1
    whole_scores: dict[bytes, set[int]] = {}
    with TextFile(path, progress) as file:
        for block in file.read_blocks("lines"):
            parse_odd = partial(_parse_odd, block.data, first, layout, faults, file.name)
            lines = trec.split_lines(block.data, layout, parse_odd, detailed=True)
            assert lines.line is not None  # asked for
            parts.append(replace(lines, items=lines.items.compact(), line=lines.line + first))
            if kind == "run" and np.abs(lines.number).max(initial=0) >= EXACT:
                _note_whole(block.data, whole_scores)
            first += count_line_ends(block.data)
        if not faults.count and not any(map(len, parts)):
            raise trec.explain_empty(file, layout)
        query_ids = (read_bytes(lines.queries).take(find_owners(lines.offsets)) for lines in parts)
        queries, query = number_columns(list(query_ids))
        items, item = number_columns([lines.items for lines in parts])
        number, line = (
            np.concatenate([getattr(lines, name) for lines in parts]) for name in ("number", "line")
        )
        ranks = [lines.rank for lines in parts if lines.rank is not None]
        return Side(
            kind, file.name, queries, items, query, item, number,
            rank=np.concatenate(ranks) if ranks else None, line=line, faults=faults, text=True,
            rounded=_count_rounded(whole_scores),
        )  # fmt: skip


def _parse_odd(
    data: bytes,
    first: int,
    layout: trec.Layout,
    faults: Faults,
    name: str,
    line: bytes,
    row: int,
) -> tuple[bytes, bytes, float] | None:
    """Parse a line that is not plain; note a wrong one as a fault, and skip it."""
    try:
        return trec.parse_line(line, layout)
    except InputError as error:
        faults.add(f"{name}:{first + count_line_ends(data, row)}: {error}", len(line.split()))
        return None


def _note_whole(data: bytes, whole_scores: dict[bytes, set[int]]) -> None:
    """Note the whole scores of each query as they are written, since doubles may round them."""
    for line in trec.LINE_END.split(data):
        fields = line.split()
        written = fields[trec.RUN.number] if len(fields) > trec.RUN.number else b""
        if written.lstrip(b"+-").isdigit() and len(written) < DIGITS:
            whole_scores.setdefault(fields[0], set()).add(int(written))


def _count_rounded(exact: Mapping[Any, set[Any]]) -> int:
    """Count the scores of each query that become equal to another as doubles."""
    return sum(count_rounded([*scores], np.array([*scores], float)) for scores in exact.values())


Kind: TypeAlias = Literal["qrels", "run"]

EVERYTHING = "what is asked for"  # of the judgments is read
CELLS = 1 << 26  # the largest array that is checked
_Part: TypeAlias = tuple[Ints, Ids, Ids, Floats | None, Floats | None]  # rows, and columns
DOUBLE_DIGITS = 15  # of a decimal number, which a double always holds
FAULTS = 1000  # after so many faults of a frame, reading stops


def read_qrels(qrels: QrelsInput, progress: Progress | None = None, subtopics: str = "") -> Side:
    """Read judgments with all of their faults. Raises InputError for what cannot be read.

    Judgments of ``subtopics``, which the named measures need, are read as evaluate reads them.
    """
    raw = qrels.given
    of_subtopics = bool(subtopics) or _has_subtopics(raw)
    if is_path(raw) and not of_subtopics:
        return read_trec(raw, "qrels", progress)
    if is_mapping(raw) and not of_subtopics:
        return _read_mapping(raw, "qrels", qrels.where, text=qrels.is_text)
    if isinstance(raw, Frame) and not of_subtopics:
        return _read_frame(raw.report_to(progress), "qrels")
    needs = Needs(EVERYTHING, EVERYTHING * of_subtopics)
    judged = qrels.read("error" if of_subtopics else "keep", progress, needs)
    single = judged.subtopics.count_doubtful() if of_subtopics and judged.subtopics else 0
    return _read_grouped(
        "qrels", judged.name, judged, judged.grades, empty=judged.unjudged,
        text=judged.ids == "text", places=judged.width is not None, single_subtopics=single,
    )  # fmt: skip


def _has_subtopics(raw: Any) -> bool:
    """Are these judgments of subtopics, whoever asks?"""
    if isinstance(raw, Frame):
        return raw.headings.subtopic is not None
    if not is_mapping(raw):
        return False
    items = next((items for items in raw.values() if isinstance(items, Mapping) and items), {})
    return any(map(subtopic_reader.is_nested, items.values()))


def read_run(run: RunInput, progress: Progress | None = None) -> Side:
    """Read a run with all of its faults. Raises InputError for a kind that is not supported."""
    match run:
        case TrecFile():
            return read_trec(run.path, "run", progress)
        case ScoredMapping() | ScoredLists() | RankedLists():
            return _read_mapping(run.mapping, "run", run.where, text=run.ids == "text")
        case Frame():
            return _read_frame(run.report_to(progress), "run")
        case Run():
            return _read_grouped("run", run.name, run.rows, run.rows.score, text=True)
        case ArrayRun():
            return _read_array(run)
    raise InputError(
        "check cannot read a run of this kind; evaluate can, and its findings are the same checks"
        " on a sample."
    )


# --- Mappings ---------------------------------------------------------------------------------


def _read_mapping(raw: Mapping[Hashable, Any], kind: Kind, where: str, *, text: bool) -> Side:
    if not raw:
        subject = "the qrels are" if kind == "qrels" else "the run is"
        raise EmptyError(f"{subject} empty: there are no queries.")
    queries, items, faults = Numbering(), Numbering(), Faults()
    query, item, number = [], [], []
    empty, rounded, scored = [], 0, kind == "qrels"
    for query_id, raw_items in unwrap_keys(raw, where).items():
        if is_missing(query_id):
            faults.add(f"a query id is missing; got {clip(query_id)}")
            continue
        pairs = _list_pairs(query_id, raw_items, kind, faults)
        scored = scored or list_scores(raw_items) is not None
        if not pairs:
            empty.append(query_id)
            continue
        query.append(np.full(len(pairs), queries.number([query_id])[0]))
        item.append(items.number(pair[0] for pair in pairs))
        number.append(np.array([float(pair[1]) for pair in pairs]))
        rounded += count_rounded([pair[1] for pair in pairs], number[-1])
    none = np.zeros(0, np.int64)
    return Side(
        kind, where, queries.ids, items.ids, np.concatenate([none, *query]),
        np.concatenate([none, *item]), np.concatenate([np.zeros(0), *number]) if scored else None,
        faults=faults, empty=tuple(empty), rounded=rounded, text=text,
    )  # fmt: skip


def _list_pairs(
    query: Hashable, raw: Any, kind: Kind, faults: Faults
) -> list[tuple[Hashable, Any]]:
    """Pair the items of a query with their numbers; note what is wrong as faults."""
    where = f"query {clip(query)}"
    raw = list_values(raw)
    unordered = kind == "run" and isinstance(raw, Set)
    if isinstance(raw, (str, bytes)) or not isinstance(raw, Collection) or unordered:
        faults.add(f"{where}: items are a mapping or a list; got {show_typed(raw)}")
        return []
    scores = list_scores(raw)
    values = [1.0] * len(raw) if scores is None else scores
    text = "relevance grade" if kind == "qrels" else "score"
    good = []
    for identifier, number in zip(unwrap_ids(list(raw)), values, strict=True):
        if is_missing(identifier) or not is_id(identifier):
            faults.add(f"{where}: an item id is missing or no id; got {clip(identifier)}")
        elif not is_finite_number(number) or (kind == "qrels" and abs(float(number)) > EXACT):
            within = " in the range ±2^53" if is_finite_number(number) else ""
            faults.add(
                f"{where}, item {clip(identifier)}: "
                + explain_not_finite(text, f"got {show_number(number)}", within=within)
            )
        else:
            good.append((identifier, number))
    return good


# --- What has been read already ---------------------------------------------------------------


def _read_grouped(kind: Kind, name: str, rows: Any, number: Floats | None, **columns: Any) -> Side:
    """Read rows that stand together by query, such as those of Qrels."""
    numbering = Numbering()
    item = numbering.number(rows.items)
    query = find_owners(rows.offsets)
    return Side(kind, name, rows.queries, numbering.ids, query, item, number, **columns)


# --- Arrays -----------------------------------------------------------------------------------


def _read_array(run: ArrayRun) -> Side:
    """Read the cells of an array; those that are no score, or no id, are faults."""
    are_ids = isinstance(run, TopIds)
    cells = numbers.to_numpy(run.cells, "run")
    if cells.size > CELLS:
        raise InputError(
            f"an array that is checked has at most {CELLS:,} cells; got the shape {cells.shape}."
        )
    faults, is_row = Faults(), ~np.ma.getmaskarray(cells)
    cells = np.ma.getdata(cells)
    good = cells >= -1 if are_ids else np.isfinite(cells)
    for row in np.argwhere(is_row & ~good).tolist():
        where = f"row {row[0]}, column {row[1]}" if cells.ndim == 2 else f"item {row[0]}"
        shown = f"got {cells[tuple(row)]}"
        wrong = f"an id must be 0 or more, or -1 for none; {shown}"
        faults.add(f"{where}: {wrong if are_ids else explain_not_finite('score', shown)}")
    is_row &= good & (cells != -1) if are_ids else good
    query, item = run.locate(np.nonzero(is_row))
    columns, item = np.unique(item, return_inverse=True)
    scores = run.scores if isinstance(run, TopIds) else cells
    number = None if scores is None else np.ma.getdata(numbers.to_numpy(scores, "run"))[is_row]
    places = run.queries.ids is None and run.items.ids is None
    answered, query = np.unique(query, return_inverse=True)
    lacking = np.setdiff1d(np.arange(run.queries.size), answered)
    return Side(
        "run", "run", run.queries.name(answered).python, run.items.name(columns).python, query,
        item, None if number is None else number.astype(float), faults=faults,
        empty=tuple(run.queries.name(lacking).python), places=places,
        numbered=places and not are_ids, columns=columns,
    )  # fmt: skip


# --- Frames -----------------------------------------------------------------------------------


def _read_frame(frame: Frame, kind: Kind) -> Side:
    faults, parts, row = Faults(), list[_Part](), 0
    exact: dict[Hashable, set[Any]] = {}
    for record in frame.records():
        if kind == "run" and frame.headings.score is not None:
            _note_exact(record, frame.headings.query, frame.headings.score, exact)
        parts += _split_parts(frame, record, row, kind, faults)
        row += record.num_rows
    if not row:
        raise EmptyError(f"{frame.where}: there are no rows.")
    rows, query_ids, item_ids, scores, ranks = zip(*parts, strict=True) if parts else [()] * 5
    queries, query = number_columns(query_ids)
    items, item = number_columns(item_ids)
    return Side(
        kind, frame.where, queries, items, query, item, _join(scores), _join(ranks),
        line=np.concatenate([np.zeros(0, np.int64), *rows]), locate=_make_locator(frame, kind),
        faults=faults, text=frame.ids == "text", rounded=frame.rounded or _count_rounded(exact),
    )  # fmt: skip


def _note_exact(record: Any, query: str, score: str, exact: dict[Hashable, set[Any]]) -> None:
    """Note the scores of each query as they are given, where doubles may round them."""
    scores = record.column(score)
    kind = str(scores.type)
    if is_whole_type(kind):
        wide = np.abs(scores.to_numpy(zero_copy_only=False).astype(float)) >= EXACT
    elif kind.startswith("decimal") and _read_precision(kind) > DOUBLE_DIGITS:
        wide = np.array([value is not None for value in scores.to_pylist()], bool)
    else:
        return
    if wide.any():
        query_ids, numbers = record.column(query).to_pylist(), scores.to_pylist()
        for row in np.flatnonzero(wide).tolist():
            exact.setdefault(query_ids[row], set()).add(numbers[row])


def _read_precision(kind: str) -> int:
    """Read how many digits a type of decimal numbers has: ``decimal128(20, 3)`` has 20."""
    return int(kind.partition("(")[2].partition(",")[0])


def _make_locator(frame: Any, kind: Kind) -> Callable[[int], str]:
    """Make a function that names the place of a row in a frame, a file or a folder."""

    def locate(row: int) -> str:
        start, where = max(
            (part for part in frame.parts if part[0] <= row), default=(0, frame.where)
        )
        return f"row {row - start}: " if where == kind else f"{where}, row {row - start}: "

    return locate


def locate_lines(side: Side, raw: Any, input_format: InputFormat) -> Side:
    """Name the rows of a frame by their lines, if a file has one line for each of them."""
    if side.locate is None or not is_path(raw) or not os.path.isfile(raw):
        return side
    above = formats.FORMATS[formats.find_format(raw, side.kind, input_format)].lines_above
    if above is None or side.line is None:
        return side
    rows, locate_row = len(side.line), side.locate

    @cache
    def has_line_per_row() -> bool:
        lines = 0
        with TextFile(raw) as file:
            for block in file.read_blocks("lines"):
                lines += count_line_ends(block.data)
        lines += not block.data.endswith((b"\n", b"\r"))
        return lines == rows + side.faults.count + above

    def locate(row: int) -> str:
        return f"{side.where}:{row + 1 + above}: " if has_line_per_row() else locate_row(row)

    return replace(side, locate=locate)


def _join(parts: Iterable[Floats | None]) -> Floats | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


def _split_parts(frame: Any, record: Any, row: int, kind: Kind, faults: Faults) -> Iterator[_Part]:
    """Split a record batch into parts that can be read; the faults are found by halving."""
    if not record.num_rows:
        return
    try:
        query, item = frame.read_ids(record, row)
        if kind == "run":
            number, rank = frame.read_scores(record, row)
        else:
            name, rank = frame.headings.relevance, None
            number = np.ones(record.num_rows)
            if name is not None:
                number = frame.read_numbers(record, name, row, "relevance grade")
    except InputError as error:
        if record.num_rows == 1:
            faults.add(str(error))
            if faults.count > FAULTS:
                raise
            return
        middle = record.num_rows // 2
        for start, part in ((0, record.slice(0, middle)), (middle, record.slice(middle))):
            yield from _split_parts(frame, part, row + start, kind, faults)
        return
    yield np.arange(row, row + record.num_rows), query, item, number, rank
