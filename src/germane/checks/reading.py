"""Qrels and runs of every source as rows, past what is wrong in them.

Every bad line of a TREC file is a fault, and has a number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from germane.checks.rows import DIGITS, Faults, Numbering, Side, number_columns
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.errors import EmptyError, InputError, clip, explain_not_finite, show_typed
from germane.kernel.columns import Ids, Text, read_bytes
from germane.kernel.ids import is_missing
from germane.readers import QrelsInput, RunInput, formats, numbers, trec
from germane.readers.arrays import ScoreArray, TopIds
from germane.readers.files import TextFile, count_line_ends
from germane.readers.formats import InputFormat, Path, is_path
from germane.readers.frames import Frame
from germane.readers.mappings import RankedLists, ScoredMapping, is_mapping
from germane.readers.numbers import EXACT, count_rounded, is_finite_number, show_number
from germane.readers.trec_files import Run, TrecFile

_ENDS = re.compile(rb"\r\n|\r|\n")


def read_trec(path: Path, kind: Literal["qrels", "run"], progress: Progress | None = None) -> Side:
    """All rows that can be read. Raises InputError for a file that cannot, or has no lines."""
    layout = {"qrels": trec.QRELS, "run": trec.RUN}[kind]
    faults, parts, first = Faults(), [], 1
    whole: dict[bytes, set[int]] = {}
    with TextFile(path, progress) as file:
        for block in file.read_blocks("lines"):
            read_odd = partial(_read_odd, block.data, first, layout, faults, file.name)
            lines = trec.split_lines(block.data, layout, read_odd, detailed=True)
            assert lines.line is not None  # asked for
            parts.append(replace(lines, items=lines.items.compact(), line=lines.line + first))
            if kind == "run" and np.abs(lines.number).max(initial=0) >= EXACT:
                _note_whole(block.data, whole)
            first += count_line_ends(block.data)
        if not faults.count and not any(map(len, parts)):
            raise trec.explain_empty(file, layout)
        queries, query = number_columns([_repeat_queries(lines) for lines in parts])
        items, item = number_columns([lines.items for lines in parts])
        number, line = (
            np.concatenate([getattr(lines, name) for lines in parts]) for name in ("number", "line")
        )
        ranks = [lines.rank for lines in parts if lines.rank is not None]
        return Side(
            kind, file.name, queries, items, query, item, number,
            rank=np.concatenate(ranks) if ranks else None, line=line, faults=faults, text=True,
            rounded=sum(count_rounded([*one], np.array([*one], float)) for one in whole.values()),
        )  # fmt: skip


def _repeat_queries(lines: trec.Lines) -> Text:
    """The query of each line."""
    owner = np.repeat(np.arange(len(lines.queries)), np.diff(lines.offsets))
    return read_bytes(lines.queries).take(owner)


def _read_odd(
    data: bytes, first: int, layout: trec.Layout, faults: Faults, name: str, line: bytes, at: int
) -> tuple[bytes, bytes, float] | None:
    """Read a line that is not plain; note a wrong one as a fault, and pass over it."""
    try:
        return trec.parse_line(line, layout)
    except InputError as error:
        faults.add(f"{name}:{first + count_line_ends(data, at)}: {error}", len(line.split()))
        return None


def _note_whole(data: bytes, whole: dict[bytes, set[int]]) -> None:
    """The whole scores of each query as they are written, which doubles may round."""
    for line in _ENDS.split(data):
        fields = line.split()
        written = fields[trec.RUN.number] if len(fields) > trec.RUN.number else b""
        if written.lstrip(b"+-").isdigit() and len(written) < DIGITS:
            whole.setdefault(fields[0], set()).add(int(written))


Kind: TypeAlias = Literal["qrels", "run"]

CELLS = 1 << 26  # of an array, that are held at once
FAULTS = 1000  # of a frame, after which it is no use to go on


def read_qrels(qrels: QrelsInput, progress: Progress | None = None) -> Side:
    """Read judgments with all that is wrong in them. Raises InputError for what cannot be read."""
    given = qrels.given
    if is_path(given):
        return read_trec(given, "qrels", progress)
    if is_mapping(given):
        return _read_mapping(given, "qrels", qrels.where, text=qrels.where != "qrels")
    if isinstance(given, Frame):
        return _read_frame(given.report_to(progress), "qrels")
    return _read_qrels(qrels.read("keep", progress, "what is asked for"))


def read_run(run: RunInput, progress: Progress | None = None) -> Side:
    """Read a run with all that is wrong in it. Raises InputError for what check does not look into."""
    match run:
        case TrecFile():
            return read_trec(run.path, "run", progress)
        case ScoredMapping() | RankedLists():
            return _read_mapping(run.mapping, "run", run.where, text=run.ids == "text")
        case Frame():
            return _read_frame(run.report_to(progress), "run")
        case Run():
            return _read_sparse(run)
        case ScoreArray() | TopIds():
            return _read_array(run.array, whole=isinstance(run, TopIds))
    raise InputError(f"check does not look into {clip(run)}; evaluate does, and has findings.")


# --- Mappings --------------------------------------------------------------------------------------


def _read_mapping(given: Mapping[Hashable, Any], kind: Kind, where: str, *, text: bool) -> Side:
    if not given:
        raise EmptyError(f"{_name_kind(kind)} empty: there are no queries.")
    queries, items, faults = Numbering(), Numbering(), Faults()
    query, item, number = [], [], []
    empty, rounded, scored = [], 0, kind == "qrels"
    for one, held in given.items():
        if is_missing(one):
            faults.add(f"a query id is missing; got {clip(one)}")
            continue
        pairs = _list_pairs(one, held, kind, faults)
        scored = scored or isinstance(held, Mapping)
        if not pairs:
            empty.append(one)
            continue
        query.append(np.full(len(pairs), queries.number([one])[0]))
        item.append(items.number(pair[0] for pair in pairs))
        number.append(np.array([float(pair[1]) for pair in pairs]))
        rounded += count_rounded([pair[1] for pair in pairs], number[-1])
    none = np.zeros(0, np.int64)
    return Side(
        kind, where, queries.ids, items.ids, np.concatenate([none, *query]),
        np.concatenate([none, *item]), np.concatenate([np.zeros(0), *number]) if scored else None,
        faults=faults, empty=tuple(empty), rounded=rounded, text=text,
    )  # fmt: skip


def _name_kind(kind: Kind) -> str:
    return "the qrels are" if kind == "qrels" else "the run is"


def _list_pairs(
    query: Hashable, held: Any, kind: Kind, faults: Faults
) -> list[tuple[Hashable, Any]]:
    """Items with their numbers; what is none is a fault."""
    where = f"query {clip(query)}"
    if hasattr(held, "tolist"):
        held = held.tolist()
    unordered = kind == "run" and isinstance(held, Set)
    if isinstance(held, (str, bytes)) or not isinstance(held, Collection) or unordered:
        faults.add(f"{where}: items are a mapping or a list; got {show_typed(held)}")
        return []
    pairs = held.items() if isinstance(held, Mapping) else ((one, 1.0) for one in held)
    says = "relevance grade" if kind == "qrels" else "score"
    good = []
    for one, number in pairs:
        if is_missing(one) or not isinstance(one, Hashable):
            faults.add(f"{where}: an item id is missing or no id; got {clip(one)}")
        elif not is_finite_number(number) or (kind == "qrels" and abs(float(number)) > EXACT):
            within = " in the range ±2^53" if is_finite_number(number) else ""
            faults.add(
                f"{where}, item {clip(one)}: "
                + explain_not_finite(says, f"got {show_number(number)}", within=within)
            )
        else:
            good.append((one, number))
    return good


# --- What has been read already --------------------------------------------------------------------


def _read_qrels(qrels: Qrels) -> Side:
    numbering = Numbering()
    item = numbering.number(qrels.items)
    query = np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets))
    return Side(
        "qrels", qrels.name, qrels.queries, numbering.ids, query, item, qrels.grades,
        empty=qrels.unjudged, text=qrels.ids == "text", places=qrels.width is not None,
    )  # fmt: skip


def _read_sparse(run: Run) -> Side:
    rows, numbering = run.rows, Numbering()
    item = numbering.number(rows.items)
    query = np.repeat(np.arange(len(rows.queries)), np.diff(rows.offsets))
    return Side("run", run.name, rows.queries, numbering.ids, query, item, rows.score, text=True)


# --- Arrays ----------------------------------------------------------------------------------------


def _read_array(given: Any, *, whole: bool) -> Side:
    cells = numbers.to_numpy(given, "run")
    if cells.ndim != 2 or not cells.size or cells.size > CELLS:
        raise InputError(
            f"an array that is checked has two dimensions and at most {CELLS:,} cells; got the shape "
            f"{cells.shape}."
        )
    faults, kept = Faults(), ~np.ma.getmaskarray(cells)
    cells = np.ma.getdata(cells)
    good = cells >= -1 if whole else np.isfinite(cells)
    for row, at in np.argwhere(kept & ~good).tolist():
        got = f"got {cells[row, at]}"
        wrong = f"an id must be 0 or more, or -1 for none; {got}"
        faults.add(
            f"row {row}, column {at}: {wrong if whole else explain_not_finite('score', got)}"
        )
    kept &= good & (cells != -1) if whole else good
    query, item = np.nonzero(kept)
    ids: Sequence[int] = range(cells.shape[1])
    if whole:  # of which the largest may be far beyond their number
        found, item = np.unique(cells[kept], return_inverse=True)
        ids = found.tolist()
    number = None if whole else cells[kept].astype(float)
    return Side(
        "run", "run", range(len(cells)), ids, query, item, number, faults=faults, places=True
    )


# --- Frames ----------------------------------------------------------------------------------------


def _read_frame(frame: Frame, kind: Kind) -> Side:
    faults, parts, row = Faults(), list[_Part](), 0
    for record in frame.records():
        parts += _split_parts(frame, record, row, kind, faults)
        row += record.num_rows
    if not row:
        raise EmptyError(f"{frame.where}: there are no rows.")
    none = np.zeros(0, np.int64)
    queries, query = number_columns([part.query for part in parts])
    items, item = number_columns([part.item for part in parts])
    return Side(
        kind, frame.where, queries, items, query, item, _join([part.number for part in parts]), _join([part.rank for part in parts]),
        line=np.concatenate([none, *(part.row for part in parts)]), told=_find_row(frame, kind),
        faults=faults, text=frame.ids == "text",
    )  # fmt: skip


def _find_row(frame: Any, kind: Kind) -> Callable[[int], str]:
    """Where a row of a frame, a file or a folder of files stands, as errors say it."""

    def told(row: int) -> str:
        start, where = max(
            (part for part in frame.parts if part[0] <= row), default=(0, frame.where)
        )
        return f"row {row - start}: " if where == kind else f"{where}, row {row - start}: "

    return told


class _Part(NamedTuple):
    """Some rows of a frame."""

    row: Ints
    query: Ids
    item: Ids
    number: Floats | None
    rank: Floats | None


def read_lines(side: Side, given: Any, input_format: InputFormat) -> Side:
    """The frame, whose rows are named by their lines where a file has one for each of them."""
    if side.told is None or not is_path(given) or not os.path.isfile(given):
        return side
    above = _HEADER.get(formats.find_format(given, side.kind, input_format))
    if above is None or side.line is None:
        return side
    rows, by_row = len(side.line), side.told

    @cache
    def one_each() -> bool:
        with TextFile(given) as file:
            ends = [
                (count_line_ends(b.data), b.data.endswith((b"\n", b"\r")))
                for b in file.read_blocks("lines")
            ]
        lines = sum(count for count, _ in ends) + (not ends[-1][1])
        return lines == rows + side.faults.count + above

    def told(row: int) -> str:
        return f"{side.where}:{row + 1 + above}: " if one_each() else by_row(row)

    return replace(side, told=told)


_HEADER = {"csv": 1, "tsv": 1, "jsonl": 0, "msmarco": 0}  # lines above the first row


def _join(parts: list[Floats | None]) -> Floats | None:
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if there else None


def _split_parts(frame: Any, record: Any, row: int, kind: Kind, faults: Faults) -> Iterator[_Part]:
    """A record batch in pieces without what cannot be read, which is found by halving."""
    if not record.num_rows:
        return
    try:
        query, item = frame.read_ids(record, row)
        number, rank = _read_numbers(frame, record, row, kind)
    except InputError as error:
        if record.num_rows == 1:
            faults.add(str(error))
            if faults.count > FAULTS:
                raise
            return
        middle = record.num_rows // 2
        for start, size in ((0, middle), (middle, record.num_rows - middle)):
            part = record.slice(start, size)
            yield from _split_parts(frame, part, row + start, kind, faults)
        return
    rows = np.arange(row, row + record.num_rows)
    yield _Part(rows, query, item, number, rank)


def _read_numbers(
    frame: Any, record: Any, row: int, kind: Kind
) -> tuple[Floats | None, Floats | None]:
    names = frame.headings
    if kind == "run":
        return frame.read_scores(record, row)  # type: ignore[no-any-return]
    if names.relevance is None:
        return np.ones(record.num_rows), None
    return frame.read_numbers(record, names.relevance, row, "relevance grade"), None
