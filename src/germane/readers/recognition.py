"""Recognizes what was given: frames, rows, files, arrays; and which kind of judgments they are.

``QRELS`` is the table of kinds, tried in order. Most modules are imported for the first input that
needs them, since importing Arrow takes as long as importing NumPy.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from germane.core.qrels import Qrels
from germane.errors import EmptyError, InputError, clip
from germane.readers.files import formats, json_files
from germane.readers.files.formats import InputFormat, find_name, is_path, limit_path, name_file
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.objects import hits, mapped_qrels, mappings, numbers
from germane.readers.objects.mappings import is_rows
from germane.readers.objects.records import Record
from germane.readers.objects.relevance import Labels, read_csr, read_dense
from germane.readers.options.subtopics import explain_unread

NOTHING_SAID = ReadOptions()


def import_reader(name: str) -> Any:
    return import_module(f"germane.readers.{name}")


def is_frame(raw: object) -> bool:
    """Does this hand out Arrow columns, or is it a data set of the library ``datasets``?"""
    if hasattr(raw, "__arrow_c_stream__"):
        return not isinstance(raw, type)
    return isinstance(raw, Record) or numbers.is_dataset(raw)


def is_searched(raw: object) -> bool:
    """Does finding the rows of one query take reading all rows of this run?"""
    if is_path(raw) or is_frame(raw) or isinstance(raw, Iterator) or is_records(raw):
        return True
    return getattr(raw, "is_searched", False) is True


def _is_record(row: object) -> bool:
    """Is this a namedtuple?"""
    return isinstance(row, tuple) and hasattr(row, "_fields")


def is_records(raw: object) -> bool:
    """Are these namedtuples, such as ``Qrel`` of ir_datasets, that can be read again?"""
    if isinstance(raw, (Mapping, str, bytes, Iterator)) or not isinstance(raw, Iterable):
        return False
    return not numbers.is_array(raw) and _is_record(next(iter(raw), None))


def hold_records(raw: Any) -> Any:
    """Read an iterator of namedtuples; anything else stays as it is."""
    if not isinstance(raw, Iterator) or is_frame(raw):
        return raw
    first = next(raw, None)
    if first is None:
        return []
    return [first, *raw] if _is_record(first) else raw


def open_run_columns(raw: Any, reading: ReadOptions) -> RunInput:
    """Open a frame, or the frame of a file, as a run: of rows, or of lists in cells."""
    frame: Any = raw if isinstance(raw, RunInput) else open_columns(raw, "run", reading)
    run: RunInput = frame
    if frame.headings.lists or frame.headings.unordered is not None:
        run = import_reader("objects.frame_qrels").open_lists(frame, lowest=reading.lowest)
    return run


def open_columns(raw: Any, kind: str, reading: ReadOptions) -> Any:
    """Open a frame, or rows that are namedtuples, as a Frame."""
    if not is_frame(raw) and is_records(raw):
        raw = import_reader("objects.arrow").tabulate_records(list(raw), kind, reading.columns)
    return import_reader("objects.frames").open_frame(raw, kind, reading.columns)


# --- Judgments --------------------------------------------------------------------------------


def _open_qrels_mapping(raw: Any, reading: ReadOptions) -> QrelsInput:
    if hits.is_hits(raw):
        judged = hits.read_documents(raw, reading.columns)
        return replace(_open_qrels_mapping(judged, reading), has_columns=True)

    def read(duplicates: str, progress: object, needs: Needs) -> Qrels:
        qrels = mapped_qrels.read_qrels(raw, duplicates)
        if qrels.subtopics is not None and not needs.subtopics:
            raise explain_unread(qrels, raw)
        return qrels

    return QrelsInput(read, read_rows=partial(mapped_qrels.read_rows, raw, "qrels"))


def _open_qrels_rows(raw: Any, reading: ReadOptions) -> QrelsInput:
    rows = ([] if isinstance(row, Mapping) and not row else row for row in raw)  # {} is unjudged
    return _open_qrels_mapping(dict(enumerate(rows)), reading)


def _open_qrels_columns(raw: Any, reading: ReadOptions) -> QrelsInput:
    return _open_qrels_frame(open_columns(raw, "qrels", reading))


def _open_qrels_frame(frame: Any) -> QrelsInput:
    if frame.headings.relevance is None:
        lists, frame = import_reader("objects.frame_qrels").find_lists(frame)
        if lists is not None:
            return _open_qrels_lists(lists, frame)
    frame_qrels = import_reader("objects.frame_qrels")
    read, read_rows = (partial(f, frame) for f in (frame_qrels.read_qrels, frame_qrels.read_rows))
    return QrelsInput(
        read, frame.ids == "text", True, frame.lines, frame.where, read_rows=read_rows
    )


def _open_qrels_lists(lists: Any, frame: Any) -> QrelsInput:
    list_cells = import_reader("objects.frame_qrels")
    ids = list_cells.find_ids(frame)
    if hits.is_hits(lists):
        lists = hits.read_documents(lists, list_cells.name_fields(frame), frame.headings.item)

    def read(duplicates: str, *_: object) -> Qrels:
        judged = mapped_qrels.read_qrels(lists, duplicates, frame.where)
        return replace(judged, name=frame.name, ids=ids)

    read_rows = partial(mapped_qrels.read_rows, lists, frame.where)
    return QrelsInput(read, ids == "text", True, where=frame.where, read_rows=read_rows)


def _open_qrels_file(raw: Any, reading: ReadOptions) -> QrelsInput:
    path = json_files.find_file(raw)
    path = limit_path(path, reading.max_expansion, reading.max_line)
    chosen = formats.find_format(path, "qrels", reading.input_format)
    if chosen == "json":
        return _open_nested_qrels(path)
    frame = formats.open_columns(path, "qrels", chosen, reading.columns)
    if frame is not None:
        return _open_qrels_frame(frame)
    trec_files = import_reader("files.trec_files")
    read, read_rows = trec_files.read_qrels, trec_files.read_rows
    rows = partial(read_rows, path, trec_files.trec.QRELS)
    return QrelsInput(partial(read, path), True, where=name_file(path), read_rows=rows)


def _open_nested_qrels(path: Any) -> QrelsInput:
    raw, where = import_reader("files.json_files").read_nested(path, "qrels"), name_file(path)

    def read(duplicates: str, *_: object) -> Qrels:
        qrels = mapped_qrels.read_qrels(raw, duplicates, where)
        return replace(qrels, name=find_name(path), ids="text")

    read_rows = partial(mapped_qrels.read_rows, raw, where)
    return QrelsInput(read, True, where=where, read_rows=read_rows)


def _open_qrels_cells(read: Callable[[Any, str], Qrels], raw: Any) -> QrelsInput:
    """Open judgments of all cells of a table, of which only those that measures need are read."""
    return QrelsInput(lambda duplicates, progress, needs: read(raw, needs.complete))


def open_qrels_groups(raw: Any) -> QrelsInput:
    return _open_qrels_cells(import_reader("objects.arrays").read_flat, raw)


Recognize: TypeAlias = Callable[[Any], bool]

QRELS: tuple[tuple[Recognize, Callable[[Any, ReadOptions], QrelsInput]], ...] = (
    (mappings.is_mapping, _open_qrels_mapping),
    (mappings.is_rows, _open_qrels_rows),
    (is_path, _open_qrels_file),
    (is_frame, _open_qrels_columns),
    (
        lambda raw: isinstance(raw, Labels),
        lambda raw, reading: _open_qrels_cells(Labels.qrels, raw),
    ),
    (numbers.is_sparse, lambda raw, reading: QrelsInput(lambda *how: read_csr(raw))),
    (numbers.is_array, lambda raw, reading: _open_qrels_cells(read_dense, raw)),
    (is_records, _open_qrels_columns),
)


def open_pairs(raw: Any, kind: str, columns: Any, input_format: InputFormat) -> QrelsInput | None:
    """Open pairs of query and item as judgments without grades; None for anything else."""
    if numbers.is_sparse(raw):
        read = import_reader("objects.relevance").read_csr
        return QrelsInput(lambda *how: read(raw, f"{kind}="))
    raw = hold_records(raw)
    if is_path(raw):
        raw = import_reader("files.streams").keep_path(raw)
        chosen = formats.find_format(raw, kind, input_format)
        if chosen in ("json", "trec"):
            return _open_qrels_file(raw, ReadOptions(input_format=chosen))
        return _open_qrels_frame(formats.open_pairs(raw, kind, chosen, columns))
    reading = ReadOptions(columns)
    if is_frame(raw) or is_records(raw):
        return _open_qrels_frame(open_columns(raw, kind, reading))
    if numbers.is_array(raw):
        numbers.to_numpy(raw, kind)  # whose message names this argument
    if numbers.is_array(raw) or isinstance(raw, Labels):
        return recognize_qrels(raw, NOTHING_SAID)
    return None


def recognize_qrels(raw: Any, reading: ReadOptions) -> QrelsInput:
    """Recognize judgments. Raises InputError for anything else, and for columns that do not fit."""
    if isinstance(raw, QrelsInput):
        return raw
    if isinstance(raw, Qrels):
        columns = raw.columns is not None
        return QrelsInput(lambda *how: raw, raw.ids == "text", columns, raw.lines)
    if isinstance(raw, RunInput) and raw.has_columns:  # of read_run
        return _open_qrels_frame(raw)
    if reading.group is not None:
        flat, _ = import_reader("objects.arrays").group_arrays(raw, None, reading.group)
        return open_qrels_groups(flat)
    numbers.refuse_nested(raw, "qrels")
    raw = json_files.find_judgments(hold_records(raw))
    if not (reading.query_ids is reading.item_ids is None):
        array_ids = import_reader("objects.item_ids")
        query_ids, item_ids = array_ids.read_both(reading)
        if is_rows(raw):
            raw = array_ids.name_rows(raw, query_ids, "qrels")
        unnamed = recognize_qrels(raw, replace(reading, query_ids=None, item_ids=None))
        name = partial(array_ids.name_judgments, query_ids=query_ids, item_ids=item_ids)
        return replace(unnamed, read=lambda *how: name(unnamed.read(*how), noun="the qrels"))
    for recognize, open_kind in QRELS:
        if recognize(raw):
            return open_kind(raw, reading)
    if is_empty(raw):
        raise EmptyError("the qrels are empty: there are no judgments.")
    raise InputError(
        "qrels are the path of a file, a frame, {query: {item: grade}}, {query: relevant"
        " items}, a list of either, rows that are namedtuples, an array of grades (Q, N), a CSR"
        f" matrix, germane.Labels, or what read_qrels returns; got {clip(raw)}{advise(raw)}"
    )


def is_empty(raw: object) -> bool:
    return isinstance(raw, (list, tuple)) and not raw


def advise(raw: object) -> str:
    """Advice for an input that is nearly right."""
    if hasattr(raw, "collect"):
        return "  collect() turns it into a frame."
    if numbers.is_sparse(raw):
        return "  toarray() turns it into scores; cells that are not stored become 0."
    first = raw[0] if isinstance(raw, (list, tuple)) else None
    if numbers.is_array(first):
        return (
            "  A list of arrays is a run only if it has two of shape (Q, K): the scores and the ids"
            " of a search."
        )
    if isinstance(first, tuple):
        return "  Give ranked lists as lists, and rows of a frame as pandas.DataFrame(rows)."
    if isinstance(first, (int, float)):
        return numbers.advise_flat(raw)
    return ""
