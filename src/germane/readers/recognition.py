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
from germane.readers import formats, mappings, numbers
from germane.readers.formats import InputFormat, find_name
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.labels import Labels
from germane.readers.mappings import is_rows
from germane.readers.paths import is_path, limit_path, name_file
from germane.readers.relevance import read_csr, read_dense
from germane.readers.subtopics import explain_unread

NOTHING_SAID = ReadOptions()


def import_reader(name: str) -> Any:
    return import_module(f"germane.readers.{name}")


def is_frame(given: object) -> bool:
    """Does this hand out Arrow columns, or is it a data set of the library ``datasets``?"""
    if hasattr(given, "__arrow_c_stream__"):
        return not isinstance(given, type)
    return numbers.is_dataset(given)


def is_searched(given: object) -> bool:
    """Does finding the rows of one query take reading all rows of this run?"""
    if is_path(given) or is_frame(given) or isinstance(given, Iterator) or is_records(given):
        return True
    return getattr(given, "is_searched", False) is True


def _is_record(row: object) -> bool:
    """Is this a namedtuple?"""
    return isinstance(row, tuple) and hasattr(row, "_fields")


def is_records(given: object) -> bool:
    """Are these namedtuples, such as ``Qrel`` of ir_datasets, that can be read again?"""
    if isinstance(given, (Mapping, str, bytes, Iterator)) or not isinstance(given, Iterable):
        return False
    return not numbers.is_array(given) and _is_record(next(iter(given), None))


def hold_records(given: Any) -> Any:
    """Read an iterator of namedtuples; anything else stays as it is."""
    if not isinstance(given, Iterator) or is_frame(given):
        return given
    first = next(given, None)
    if first is None:
        return []
    return [first, *given] if _is_record(first) else given


def open_columns(given: Any, kind: str, reading: ReadOptions) -> Any:
    """Open a frame, or rows that are namedtuples, as a Frame."""
    if not is_frame(given) and is_records(given):
        given = import_reader("arrow").tabulate_records(list(given), kind, reading.columns)
    return import_reader("frames").open_frame(given, kind, reading.columns)


# --- Judgments --------------------------------------------------------------------------------


def _open_qrels_mapping(given: Any, reading: ReadOptions) -> QrelsInput:
    def read(duplicates: str, progress: object, needs: Needs) -> Qrels:
        qrels = mappings.read_qrels(given, duplicates)
        if qrels.subtopics is not None and not needs.subtopics:
            raise explain_unread(qrels, given)
        return qrels

    return QrelsInput(given, read)


def _open_qrels_rows(given: Any, reading: ReadOptions) -> QrelsInput:
    rows = ([] if isinstance(row, Mapping) and not row else row for row in given)  # {} is unjudged
    return _open_qrels_mapping(dict(enumerate(rows)), reading)


def _open_qrels_columns(given: Any, reading: ReadOptions) -> QrelsInput:
    return _open_qrels_frame(open_columns(given, "qrels", reading))


def _open_qrels_frame(frame: Any) -> QrelsInput:
    read = partial(import_reader("frame_qrels").read_qrels, frame)
    return QrelsInput(frame, read, frame.ids == "text", True, frame.lines)


def _open_qrels_file(given: Any, reading: ReadOptions) -> QrelsInput:
    path = limit_path(given, reading.max_expansion, reading.max_line)
    chosen = formats.find_format(path, "qrels", reading.input_format)
    if chosen == "json":
        return _open_nested_qrels(path)
    frame = formats.open_columns(path, "qrels", chosen, reading.columns)
    if frame is not None:
        return _open_qrels_frame(frame)
    return QrelsInput(path, partial(import_reader("trec_files").read_qrels, path), True)


def _open_nested_qrels(path: Any) -> QrelsInput:
    given, where = import_reader("nested_json").read_nested(path, "qrels"), name_file(path)

    def read(duplicates: str, *_: object) -> Qrels:
        qrels = mappings.read_qrels(given, duplicates, where)
        return replace(qrels, name=find_name(path), ids="text")

    return QrelsInput(given, read, True, where=where)


def _open_qrels_cells(read: Callable[[Any, str], Qrels], given: Any) -> QrelsInput:
    """Open judgments of all cells of a table, of which only those that measures need are read."""
    return QrelsInput(given, lambda duplicates, progress, needs: read(given, needs.complete))


def open_qrels_groups(given: Any) -> QrelsInput:
    return _open_qrels_cells(import_reader("flat_arrays").read_flat, given)


Recognize: TypeAlias = Callable[[Any], bool]

QRELS: tuple[tuple[Recognize, Callable[[Any, ReadOptions], QrelsInput]], ...] = (
    (mappings.is_mapping, _open_qrels_mapping),
    (mappings.is_rows, _open_qrels_rows),
    (is_path, _open_qrels_file),
    (is_frame, _open_qrels_columns),
    (
        lambda given: isinstance(given, Labels),
        lambda given, reading: _open_qrels_cells(Labels.qrels, given),
    ),
    (numbers.is_sparse, lambda given, reading: QrelsInput(given, lambda *how: read_csr(given))),
    (numbers.is_array, lambda given, reading: _open_qrels_cells(read_dense, given)),
    (is_records, _open_qrels_columns),
)


def open_pairs(given: Any, kind: str, columns: Any, input_format: InputFormat) -> QrelsInput | None:
    """Open pairs of query and item as judgments without grades; None for anything else."""
    if numbers.is_sparse(given):
        read = import_reader("relevance").read_csr
        return QrelsInput(given, lambda *how: read(given, f"{kind}="))
    given = hold_records(given)
    if is_path(given):
        given = import_reader("streams").keep_path(given)
        chosen = formats.find_format(given, kind, input_format)
        if chosen in ("json", "trec"):
            return _open_qrels_file(given, ReadOptions(input_format=chosen))
        return _open_qrels_frame(formats.open_pairs(given, kind, chosen, columns))
    reading = ReadOptions(columns)
    if is_frame(given) or is_records(given):
        return _open_qrels_frame(open_columns(given, kind, reading))
    if numbers.is_array(given):
        numbers.to_numpy(given, kind)  # whose message names this argument
    if numbers.is_array(given) or isinstance(given, Labels):
        return recognize_qrels(given, NOTHING_SAID)
    return None


def recognize_qrels(given: Any, reading: ReadOptions) -> QrelsInput:
    """Recognize judgments. Raises InputError for anything else, and for columns that do not fit."""
    if isinstance(given, QrelsInput):
        return given
    if isinstance(given, Qrels):
        columns = given.columns is not None
        return QrelsInput(given, lambda *how: given, given.ids == "text", columns, given.lines)
    if isinstance(given, RunInput) and given.has_columns:  # of read_run
        return _open_qrels_frame(given)
    if reading.group is not None:
        flat, _ = import_reader("flat_arrays").group_arrays(given, None, reading.group)
        return open_qrels_groups(flat)
    numbers.refuse_nested(given, "qrels")
    given = hold_records(given)
    if not (reading.query_ids is reading.item_ids is None):
        array_ids = import_reader("array_ids")
        query_ids, item_ids = array_ids.read_both(reading)
        if is_rows(given):
            given = array_ids.name_rows(given, query_ids, "qrels")
        unnamed = recognize_qrels(given, replace(reading, query_ids=None, item_ids=None))
        name = partial(array_ids.name_judgments, query_ids=query_ids, item_ids=item_ids)
        return replace(unnamed, read=lambda *how: name(unnamed.read(*how), what="the qrels"))
    for recognize, open_kind in QRELS:
        if recognize(given):
            return open_kind(given, reading)
    if is_empty(given):
        raise EmptyError("the qrels are empty: there are no judgments.")
    raise InputError(
        "qrels are the path of a file, a frame, {query: {item: grade}}, {query: relevant"
        " items}, a list of either, rows that are namedtuples, an array of grades (Q, N), a CSR"
        f" matrix, germane.Labels, or what read_qrels returns; got {clip(given)}{advise(given)}"
    )


def is_empty(given: object) -> bool:
    return isinstance(given, (list, tuple)) and not given


def advise(given: object) -> str:
    """Advice for an input that is nearly right."""
    if hasattr(given, "collect"):
        return "  collect() turns it into a frame."
    if numbers.is_sparse(given):
        return "  toarray() turns it into scores; cells that are not stored become 0."
    first = given[0] if isinstance(given, (list, tuple)) else None
    if numbers.is_array(first):
        return (
            "  A list of arrays is a run only if it has two of shape (Q, K): the scores and the ids"
            " of a search."
        )
    if isinstance(first, tuple):
        return "  Give ranked lists as lists, and rows of a frame as pandas.DataFrame(rows)."
    if isinstance(first, (int, float)):
        return "  Flat lists of grades and scores need group=…"
    return ""
