"""Recognizes what was given, once: files, frames, mappings, rows, arrays.

``KINDS`` is the table of all kinds of judgments and runs, tried in order. Most modules are imported
for the first input that needs them, since importing Arrow takes as long as importing NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from germane.core.calls import list_values
from germane.core.qrels import Qrels
from germane.errors import (
    EmptyError,
    FormatError,
    InputError,
    clip,
    require_arrow,
    write_option,
)
from germane.kernel.ids import spell_id
from germane.readers.files import formats
from germane.readers.files.formats import InputFormat, find_name, is_path, limit_path, name_file
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.objects import hits, mapped_qrels, mappings, numbers, responses
from germane.readers.objects.headings import JUDGES, Headings, choose_names, has_rows
from germane.readers.objects.item_ids import (
    name_judgments,
    name_rows,
    name_run,
    read_both,
    spell_ids,
)
from germane.readers.objects.mappings import is_rows
from germane.readers.objects.numbers import is_array, is_whole, refuse_nested
from germane.readers.objects.records import Record
from germane.readers.objects.relevance import Labels, read_csr, read_dense
from germane.readers.options.subtopics import explain_unread

if TYPE_CHECKING:
    from germane.readers.objects.frames import Frame
    from germane.readers.options.candidates import Candidates

NOTHING_SAID = ReadOptions()


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


def find_shape(raw: object) -> Shape:
    """Find out whether this may be one list of grades, or of the subtopics of its items."""
    if isinstance(raw, Iterator) and not is_frame(raw):
        return "iterator"
    is_columns = hasattr(raw, "columns") or hasattr(raw, "schema") or numbers.has_fields(raw)
    if is_columns or is_records(raw):
        return "other"
    if is_rows(raw) or getattr(raw, "ndim", 1) > 1:
        return "rows"
    listed = isinstance(raw, Sequence) and not isinstance(raw, (str, bytes))
    return "list" if listed or hasattr(raw, "ndim") else "other"


Shape: TypeAlias = Literal["iterator", "list", "rows", "other"]
"""An iterator, which has to be read before one knows; one list; lists or rows of an array."""


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
            "  A list of arrays is a run only if it consists of two of shape (Q, K): the scores"
            " and the ids of a search."
        )
    if isinstance(first, str):
        return (
            "  Items belong to a query: {'q1': [item, …]}, or [[item, …]] for a query without id."
        )
    if isinstance(first, tuple):
        return "  Pass ranked lists as lists, and rows of a frame as pandas.DataFrame(rows)."
    if isinstance(first, (int, float)):
        return numbers.advise_flat(raw)
    return ""


def _open_run_frame(frame: Frame, reading: ReadOptions) -> RunInput:
    if frame.headings.lists or frame.headings.unordered is not None:
        from germane.readers.objects.frame_qrels import open_lists

        return open_lists(frame, lowest=reading.lowest)
    return frame


def open_columns(raw: Any, kind: str, reading: ReadOptions) -> Frame:
    """Open a frame as a Frame."""
    from germane.readers.objects.frames import open_frame

    return open_frame(raw, kind, reading.columns)


def _open_fields(raw: Any, kind: str, reading: ReadOptions) -> Frame:
    """Open a structured array as a Frame."""
    return open_columns({name: raw[name] for name in raw.dtype.names}, kind, reading)


def _open_records(raw: Any, kind: str, reading: ReadOptions) -> Frame:
    """Open rows that are namedtuples as a Frame."""
    from germane.readers.objects.arrow import tabulate_records

    return open_columns(tabulate_records(list(raw), kind, reading.columns), kind, reading)


# --- Judgments --------------------------------------------------------------------------------


def _open_qrels_mapping(raw: Any, reading: ReadOptions) -> QrelsInput:
    if mapped_qrels.is_data_set(raw):
        return _open_data_set(raw, reading)
    raw = responses.find_ratings(raw) or raw
    if hits.is_hits(raw):
        judged = hits.read_documents(raw, reading.columns)
        return replace(_open_qrels_mapping(judged, reading), has_columns=True)

    def read(duplicates: str, progress: object, needs: Needs) -> Qrels:
        qrels = mapped_qrels.read_qrels(raw, duplicates)
        if qrels.subtopics is not None and not needs.subtopics:
            raise explain_unread(qrels, raw)
        return qrels

    return QrelsInput(read, read_rows=partial(mapped_qrels.read_rows, raw, "qrels"))


def _open_data_set(raw: Any, reading: ReadOptions) -> QrelsInput:
    return recognize_qrels(mapped_qrels.find_judgments(raw), reading)


def _open_qrels_rows(raw: Any, reading: ReadOptions) -> QrelsInput:
    judged = responses.find_ratings(raw)  # rows with a query and its relevant items, as in ragas
    if judged is not None:
        return _open_qrels_mapping(judged, reading)
    rows = ([] if isinstance(row, Mapping) and not row else row for row in raw)  # {} is unjudged
    return _open_qrels_mapping(dict(enumerate(rows)), reading)


def _open_qrels_frame(frame: Any) -> QrelsInput:
    from germane.readers.objects import frame_qrels

    if frame.headings.relevance is None:
        lists, frame = frame_qrels.find_lists(frame)
        if lists is not None:
            return _open_qrels_lists(lists, frame)
    read = partial(frame_qrels.read_qrels, frame)
    read_rows = partial(frame_qrels.read_rows, frame)
    return QrelsInput(
        read, frame.ids == "text", True, frame.lines, frame.where, read_rows=read_rows
    )


def _open_qrels_lists(lists: Any, frame: Any) -> QrelsInput:
    from germane.readers.objects import frame_qrels

    ids = frame_qrels.find_ids(frame)
    if hits.is_hits(lists):
        lists = hits.read_documents(lists, frame_qrels.name_fields(frame), frame.headings.item)

    def read(duplicates: str, *_: object) -> Qrels:
        judged = mapped_qrels.read_qrels(lists, duplicates, frame.where)
        return replace(judged, name=frame.name, ids=ids, id_names=frame.headings.id_names)

    read_rows = partial(mapped_qrels.read_rows, lists, frame.where)
    return QrelsInput(read, ids == "text", True, where=frame.where, read_rows=read_rows)


def _open_qrels_file(raw: Any, reading: ReadOptions) -> QrelsInput:
    path = formats.find_file(raw)
    path = limit_path(path, reading.max_expansion, reading.max_line)
    chosen = formats.find_format(path, "qrels", reading.input_format)
    if chosen == "json":
        return _open_json_qrels(path, reading)
    frame = formats.open_columns(path, "qrels", chosen, reading.columns)
    if frame is not None:
        return _open_qrels_frame(frame)
    from germane.readers.files import trec
    from germane.readers.files.trec_files import read_qrels, read_rows

    rows = partial(read_rows, path, trec.QRELS)
    return QrelsInput(partial(read_qrels, path), True, where=name_file(path), read_rows=rows)


def _open_json_rows(raw: Any, kind: str, path: Any, reading: ReadOptions) -> Frame | None:
    """Open a list of objects, each a row with a query and an item; None for anything else."""
    if not isinstance(raw, list) or not has_rows(raw, choose_names(reading.columns, kind)):
        return None
    from germane.readers.files import json_files
    from germane.readers.objects.frames import Frame

    where = name_file(path)
    json_files.refuse_repeated(raw, where)
    require_arrow(f"{where}: a list of rows")
    import pyarrow as pa

    names = list({name: None for row in raw for name in row})
    headings = Headings.resolve(names, kind, where, reading.columns)
    columns = {}
    for name in headings.all:
        try:
            columns[name] = pa.array([row.get(name) for row in raw])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise FormatError(
                f"{where}: {clip(name)} has values of several types, such as text and numbers."
            ) from None
    batches = pa.table(columns).to_batches()
    return Frame(where, find_name(path), headings, lambda: iter(batches), ids="typed")


def _open_json_qrels(path: Any, reading: ReadOptions) -> QrelsInput:
    from germane.readers.files import json_files

    where, has_columns = name_file(path), False
    raw: Any = json_files.read_value(path)
    if (frame := _open_json_rows(raw, "qrels", path, reading)) is not None:
        return _open_qrels_frame(frame)
    judged = responses.find_ratings(raw, where)
    documents = raw if judged is None else judged
    if isinstance(documents, dict) and hits.is_hits(documents):
        judged = hits.read_documents(documents, reading.columns, where=where)
        has_columns = True
    if judged is None:
        judged = json_files.check_nested(raw, path, "qrels")
    else:
        json_files.refuse_repeated(raw, where)
        judged = {query: _spell_items(items) for query, items in judged.items()}

    def read(duplicates: str, *_: object) -> Qrels:
        qrels = mapped_qrels.read_qrels(judged, duplicates, where)
        return replace(qrels, name=find_name(path), ids="text")

    read_rows = partial(mapped_qrels.read_rows, judged, where)
    return QrelsInput(read, True, has_columns, where=where, read_rows=read_rows)


def _spell_items(items: Any) -> Any:
    """Spell the items of a query as a file of text does, beside their scores or grades."""
    if isinstance(items, dict):
        return dict(zip(spell_ids(items), items.values(), strict=True))
    spelled = list(spell_ids(items))
    return mappings.ScoredList(spelled, items.scores) if hasattr(items, "scores") else spelled


def _open_qrels_cells(read: Callable[[Any, str], Qrels], raw: Any) -> QrelsInput:
    """Open judgments of all cells of a table, of which only those that measures need are read."""
    return QrelsInput(lambda duplicates, progress, needs: read(raw, needs.complete))


def _open_qrels_groups(raw: Any) -> QrelsInput:
    from germane.readers.objects.arrays import read_flat

    return _open_qrels_cells(read_flat, raw)


def open_pairs(raw: Any, kind: str, columns: Any, input_format: InputFormat) -> QrelsInput | None:
    """Open pairs of query and item as judgments without grades; None for anything else."""
    if numbers.is_sparse(raw):
        return QrelsInput(lambda *how: read_csr(raw, f"{kind}="))
    raw = hold_records(raw)
    if is_path(raw):
        from germane.readers.files.streams import keep_path

        raw = keep_path(raw)
        chosen = formats.find_format(raw, kind, input_format)
        if chosen in ("json", "trec"):
            return _open_qrels_file(raw, ReadOptions(input_format=chosen))
        return _open_qrels_frame(formats.open_pairs(raw, kind, chosen, columns))
    reading = ReadOptions(columns)
    if is_frame(raw):
        return _open_qrels_frame(open_columns(raw, kind, reading))
    if is_records(raw):
        return _open_qrels_frame(_open_records(raw, kind, reading))
    if numbers.is_array(raw):
        numbers.to_numpy(raw, kind)  # whose message names this argument
    if numbers.is_array(raw) or isinstance(raw, Labels):
        return recognize_qrels(raw, NOTHING_SAID)
    return None


# --- Runs -------------------------------------------------------------------------------------


def _open_run_file(path: Any, reading: ReadOptions, qrels: QrelsInput | None) -> RunInput:
    path = limit_path(path, reading.max_expansion, reading.max_line)
    chosen = formats.find_format(path, "run", reading.input_format)
    if chosen == "scores":
        from germane.readers.files.letor import align_scores

        return align_scores(qrels, path)
    if chosen in ("json", "jsonl"):
        if chosen == "jsonl":  # its first line says whether it has responses or rows
            from germane.readers.files.streams import keep_path

            path = keep_path(path)
        opened = _open_json_run(path, reading, chosen)
        if opened is not None:
            return opened
    frame = formats.open_columns(path, "run", chosen, reading.columns)
    if frame is None:
        from germane.readers.files.trec_files import TrecFile

        return TrecFile(path)
    return _open_run_frame(frame, reading)


def _open_json_run(path: Any, reading: ReadOptions, chosen: str) -> RunInput | None:
    """Open responses, hits or ids by query; None for lines that are the rows of a frame."""
    from germane.readers.files import json_files

    where = name_file(path)
    if chosen == "json":
        raw = json_files.read_value(path)
        if (frame := _open_json_rows(raw, "run", path, reading)) is not None:
            return _open_run_frame(frame, reading)
    else:
        raw = json_files.read_lines(path, responses.is_row)
        if raw is None:
            return None
    raw = responses.take_predictions(raw, where)
    lists = _read_hits(raw, reading, where)
    if lists is None:
        hits.refuse_pairs(raw, where)
        nested = json_files.check_nested(raw, path, "run")
        kind = mappings.ScoredMapping if mappings.is_scores(nested) else mappings.RankedLists
        return kind(nested, find_name(path), where, "text")
    json_files.refuse_repeated(raw, where)
    spelled = {spell_id(query): _spell_items(items) for query, items in lists.items()}
    run = mappings.open_mapping(spelled)
    is_named = reading.query_ids is not None
    return replace(
        run, name=find_name(path), where=where, ids="text", is_named=True, has_query_names=is_named
    )


def _read_hits(raw: Any, reading: ReadOptions, where: str = "run") -> dict[Any, Any] | None:
    """Read the hits of each query, as responses or lists have them; None for anything else."""
    found = responses.find_responses(raw, reading.columns, where)
    needs_names = where != "run" or reading.query_ids is not None
    if found is None and needs_names and isinstance(raw, list) and hits.is_hits(raw):
        found = responses.Responses(None, raw)
    if found is not None:
        query_ids, _ = read_both(reading)
        raw = found.name(query_ids, where)
    if hits.is_hits(raw):
        return hits.read_hits(raw, reading.columns, lowest=reading.lowest, where=where)
    return None if found is None else {query: list(items) for query, items in raw.items()}


def _open_run_rows(raw: Any) -> RunInput:
    return mappings.RankedLists(dict(enumerate(raw)))


def _open_run_array(raw: Any, qrels: QrelsInput | None) -> RunInput:
    if _are_of_lines(raw, qrels):
        from germane.readers.files.letor import align_scores

        return align_scores(qrels, raw)
    if is_whole(raw):
        from germane.readers.objects.top_ids import open_ids

        return open_ids(raw)
    if numbers.is_text_array(raw):
        return _open_run_rows(raw.tolist())
    from germane.readers.objects.arrays import open_scores

    return open_scores(raw)


def _open_run_pair(raw: Any) -> RunInput:
    from germane.readers.objects.top_ids import open_pair

    return open_pair(raw)


def _are_of_lines(run: Any, qrels: QrelsInput | None) -> bool:
    """Are these scores that belong to the lines of the qrels' LETOR file, in their order?"""
    lines = None if qrels is None else qrels.lines
    if lines is None:
        return False
    flat = len(run.shape) == 1 or run.shape[1:] == (1,)  # a column is refused later, with advice
    return flat or lines.items == "places"


# --- The table of kinds -----------------------------------------------------------------------


class Kind(NamedTuple):
    """A kind of input: what recognizes it, and what opens it as judgments and as a run.

    None is for a side that does not take it.
    """

    recognize: Callable[[Any], bool]
    open_qrels: Callable[[Any, ReadOptions], QrelsInput] | None
    open_run: Callable[[Any, ReadOptions, QrelsInput | None], RunInput] | None


KINDS = (
    Kind(mappings.is_mapping, _open_qrels_mapping, lambda raw, *_: mappings.open_mapping(raw)),
    Kind(is_path, _open_qrels_file, _open_run_file),
    Kind(
        is_frame,
        lambda raw, reading: _open_qrels_frame(open_columns(raw, "qrels", reading)),
        lambda raw, reading, _: _open_run_frame(open_columns(raw, "run", reading), reading),
    ),
    Kind(
        numbers.has_fields,
        lambda raw, reading: _open_qrels_frame(_open_fields(raw, "qrels", reading)),
        lambda raw, reading, _: _open_run_frame(_open_fields(raw, "run", reading), reading),
    ),
    Kind(is_rows, _open_qrels_rows, lambda raw, *_: _open_run_rows(raw)),
    Kind(mapped_qrels.is_data_set, _open_data_set, None),
    Kind(
        lambda raw: isinstance(raw, Labels),
        lambda raw, _: _open_qrels_cells(Labels.qrels, raw),
        None,
    ),
    Kind(
        numbers.is_nested,
        lambda raw, _: refuse_nested(raw, "qrels"),
        lambda raw, *_: refuse_nested(raw, "run"),
    ),
    Kind(numbers.is_sparse, lambda raw, _: QrelsInput(lambda *how: read_csr(raw)), None),
    Kind(numbers.is_pair, None, lambda raw, *_: _open_run_pair(raw)),
    Kind(
        is_array,
        lambda raw, _: _open_qrels_cells(read_dense, raw),
        lambda raw, _, qrels: _open_run_array(raw, qrels),
    ),
    Kind(
        is_records,
        lambda raw, reading: _open_qrels_frame(_open_records(raw, "qrels", reading)),
        lambda raw, reading, _: _open_run_frame(_open_records(raw, "run", reading), reading),
    ),
)


def recognize_qrels(raw: Any, reading: ReadOptions) -> QrelsInput:
    """Recognize judgments. Raises InputError for anything else, and for columns that do not fit."""
    if isinstance(raw, QrelsInput):
        return raw
    if isinstance(raw, Qrels):
        columns = raw.columns is not None
        return QrelsInput(lambda *how: raw, raw.ids == "text", columns, raw.source.lines)
    if isinstance(raw, RunInput) and raw.has_columns:  # of read_run
        return _open_qrels_frame(raw)
    if reading.group is not None:
        from germane.readers.objects.arrays import group_arrays

        flat, _ = group_arrays(raw, None, reading.group)
        return _open_qrels_groups(flat)
    raw = hold_records(raw)
    if not (reading.query_ids is reading.item_ids is None):
        query_ids, item_ids = read_both(reading)
        if is_rows(raw):
            raw = name_rows(raw, query_ids, "qrels")
        unnamed = recognize_qrels(raw, replace(reading, query_ids=None, item_ids=None))
        name = partial(name_judgments, query_ids=query_ids, item_ids=item_ids)
        return replace(unnamed, read=lambda *how: name(unnamed.read(*how), noun="the qrels"))
    for kind in KINDS:
        if kind.open_qrels is not None and kind.recognize(raw):
            return kind.open_qrels(raw, reading)
    if is_empty(raw):
        raise EmptyError("the qrels are empty: there are no judgments.")
    raise InputError(
        "qrels are the path of a file, a frame, {query: {item: grade}}, {query: relevant"
        " items}, a list of either, rows that are namedtuples, an array of grades (Q, N), a CSR"
        f" matrix, germane.Labels, or what read_qrels returns; got {clip(raw)}{advise(raw)}"
    )


def open_qrels(raw: Any, reading: ReadOptions = NOTHING_SAID) -> QrelsInput:
    """Recognize judgments. Their candidates and weights are attached when they are read.

    Raises InputError for anything else, and for columns that do not fit.
    """
    judged = recognize_qrels(raw, reading)
    if reading.catalogue is not None:
        judged = replace(judged, catalogue=reading.catalogue)
    if reading.subtopic_weights is not None:
        from germane.readers.options.pairs import attach_weights as attach

        read, weights = judged.read, reading.subtopic_weights
        judged = replace(judged, read=lambda *how: attach(read(*how), weights, how[-1]))
    candidates = find_candidates(raw, reading)
    if candidates is None:
        return judged
    return replace(judged, read=lambda *how: candidates.attach(judged.read(*how)))


def rank_labels(raw: Any, reading: ReadOptions) -> tuple[Any, ReadOptions]:
    """Rank labels in the place of items where ``Labels`` say so: as groups of their items."""
    ranked = raw.rank_labels(*read_both(reading)) if isinstance(raw, Labels) else None
    if ranked is None:
        return raw, reading
    if reading.collapse is not None:
        raise InputError(
            f"{write_option('collapse')} and repeated_labels='first' both put groups in the place"
            " of items; give one of them."
        )
    qrels, label_of = ranked
    return qrels, replace(reading, collapse=label_of)


def find_candidates(raw: Any, reading: ReadOptions) -> Candidates | None:
    """Find the pairs that select results, with the junk of labels; None where all items count."""
    junk = raw.junk if isinstance(raw, Labels) else None
    if junk is None and (reading is NOTHING_SAID or not reading.has_candidates):
        return None
    from germane.readers.options import candidates

    if junk is not None:
        junk = name_judgments(junk, *read_both(reading), "the labels")
    found = {name: getattr(reading, name) for name in formats.CANDIDATES}
    found["ignore"] = candidates.join_pairs(found["ignore"], junk)
    return candidates.Candidates(**found)


def open_judges(raw: Any, reading: ReadOptions = NOTHING_SAID) -> Mapping[str, Any]:
    """Open judgments with a column that names the judge, as those of each judge.

    Raises FormatError where no column is the judge, and InputError for anything without named
    columns.
    """
    raw = hold_records(raw)
    frame = None
    if is_path(raw):
        path = limit_path(raw, reading.max_expansion, reading.max_line)
        chosen = formats.find_format(path, "qrels", reading.input_format)
        frame = formats.open_columns(path, JUDGES, chosen, reading.columns)
    elif is_frame(raw):
        frame = open_columns(raw, JUDGES, reading)
    elif is_records(raw):
        frame = _open_records(raw, JUDGES, reading)
    if frame is None:
        raise InputError(
            f"{clip(raw)} has no column that names the judge. For several judges give two or more"
            " qrels by name, or one frame or file (CSV, TSV, JSON Lines, Parquet, Arrow) with such"
            " a column."
        )
    from germane.readers.objects.frame_qrels import split_by_judge

    return split_by_judge(frame)


def open_run(
    raw: Any, reading: ReadOptions = NOTHING_SAID, qrels: QrelsInput | None = None
) -> RunInput:
    """Recognize a run, beside the judgments that it is compared with where these are known.

    Raises InputError for anything else, and for columns that do not fit.
    """
    if not (is_path(raw) or isinstance(raw, RunInput)):
        raw = responses.take_predictions(raw)
        lists = _read_hits(raw, reading)
        if lists is not None:
            raw = replace(mappings.open_mapping(lists), is_named=True)
            reading = replace(reading, query_ids=None)
        else:
            hits.refuse_pairs(raw)
    if reading.collapse is reading.query_ids is reading.item_ids is None:
        return _recognize_run(raw, reading, qrels)
    query_ids, item_ids = read_both(reading)
    groups = reading.collapse
    if isinstance(raw, RunInput) and not raw.is_array:
        return raw if groups is None else raw.collapse(groups)
    if numbers.is_text_array(raw):
        raw = raw.tolist()
    if is_rows(raw):
        raw = name_rows(raw, query_ids, "run")
        query_ids = None
        if item_ids is not None:
            raise InputError("item_ids= names the columns of arrays, but these lists contain ids.")
    run = _recognize_run(raw, reading, qrels)
    named = name_run(run, query_ids, item_ids)
    return named if groups is None else named.collapse(groups)


def _recognize_run(raw: Any, reading: ReadOptions, qrels: QrelsInput | None) -> RunInput:
    if isinstance(raw, RunInput):  # of read_run, or opened before
        return raw
    raw = hold_records(raw)
    for kind in KINDS:
        if kind.open_run is not None and kind.recognize(raw):
            return kind.open_run(raw, reading, qrels)
    _refuse_empty_run(raw)
    raise InputError(
        "a run is the path of a file, a frame, {query: {item: score}}, {query: [item, …]}, a"
        " list of ranked lists, rows that are namedtuples, an array of scores (Q, N), an array of"
        " the ids of the best k (Q, K), a pair of arrays (Q, K), which are scores and ids, or what"
        f" read_run returns; got {clip(raw)}{advise(raw)}"
    )


def _refuse_empty_run(raw: Any) -> None:
    if is_empty(raw):
        raise EmptyError("the run is empty: it has no queries.")


# --- Both sides ------------------------------------------------------------------------------


def open_inputs(
    qrels: Any, run: Any, reading: ReadOptions = NOTHING_SAID, judged: QrelsInput | None = None
) -> tuple[QrelsInput, RunInput]:
    """Recognize judgments and a run. ``judged``: those of an earlier run of the same call.

    Raises InputError for columns that are missing or ambiguous, or where there are none to name,
    and for whole numbers that may be ids or scores; FormatError for arrays that do not fit each
    other.
    """
    if reading.group is not None and isinstance(run, RunInput):  # of flat arrays, opened before
        return open_qrels(qrels, replace(reading, group=None)), run
    if reading.group is not None and run is not None:
        for raw, noun in ((qrels, "qrels"), (run, "run")):
            if numbers.is_nested(raw):
                refuse_nested(raw, noun)
        from germane.readers.objects.arrays import group_arrays

        flat = None if isinstance(qrels, Qrels) else qrels
        grades, scores = group_arrays(flat, run, reading.group)
        assert scores is not None
        if judged is None:
            qrels_input = qrels if flat is None else _open_qrels_groups(grades)
            judged = open_qrels(qrels_input, replace(reading, group=None))
        return judged, scores
    refuse_ambiguous(qrels, run)
    _refuse_empty_run(run)
    if judged is None:
        judged = open_qrels(qrels, reading)
    run_input = open_run(run, reading, judged)
    if reading.columns is not None:
        is_named = run_input.is_named or (run_input.has_columns and run_input.has_header)
        _refuse_columns(reading, judged, is_named)
    return judged, run_input


def _refuse_columns(reading: ReadOptions, judged: QrelsInput, is_named: bool) -> None:
    """Refuse names of columns where there are none."""
    if judged.has_columns:
        return
    options = (reading.catalogue, reading.seen, reading.distance)
    if not (is_named or reading.has_candidates) and all(option is None for option in options):
        raise InputError(
            f"{write_option('columns')} names the columns of frames and of files, but there are"
            " none here."
        )
    for part in ("relevance", "qrels"):
        if part in (reading.columns or ()):
            raise InputError(
                f"{write_option('columns')} has {part!r}, which is for qrels with named columns,"
                " but these qrels have none. Leave it out, or pass the qrels as a frame or a file"
                " with a header."
            )


def accept_comments(qrels: Qrels, run: RunInput) -> Qrels:
    """Accept judgments of lines that begin with ``#`` where the run has their query."""
    if qrels.source.maybe_data is None:
        return qrels
    queries = run.find_queries(qrels.source.maybe_data.queries)
    from germane.readers.files import trec_files

    return trec_files.accept_comments(qrels, queries)


def refuse_ambiguous(qrels: Any, run: Any) -> None:
    """Refuse rows that do not match, and whole numbers that may be ids or scores."""
    if isinstance(run, str):
        return
    if isinstance(qrels, dict) and isinstance(run, dict):
        _refuse_scores(qrels, run)
        return
    for raw, noun in ((qrels, "qrels"), (run, "run")):
        if numbers.is_nested(raw):
            refuse_nested(raw, noun)
    numbers.refuse_classes(qrels, run)
    if is_rows(qrels) and (is_rows(run) or (is_array(run) and len(run.shape) == 2)):
        _check_rows(qrels, run)
    _refuse_grades(qrels, run)
    if is_whole(run) and is_array(qrels) and tuple(run.shape) == tuple(qrels.shape):
        raise InputError(
            "the run is an array of whole numbers of the same shape as the qrels,"
            f" {tuple(run.shape)}: are these ids or scores? Pass scores as floating point,"
            " scores.astype(float); for ids, pass the qrels as sets or as a CSR matrix."
        )


def _refuse_grades(qrels: Any, run: Any) -> None:
    """Refuse lists of 0 and 1, one for each column: they look like grades, and lists hold ids."""
    shape = tuple(getattr(run, "shape", ()))
    if len(shape) != 2 or shape[1] < 2 or is_whole(run) or not isinstance(qrels, list):
        return
    rows = all(isinstance(row, list) and len(row) == shape[1] for row in qrels)
    numbers = (number for row in qrels for number in row)
    if rows and all(type(number) in (int, bool, float) and number in (0, 1) for number in numbers):
        raise InputError(
            f"the qrels are lists of {shape[1]} numbers 0 or 1, as many as the run has columns:"
            " are these grades or ids? Lists contain ids. Pass grades as an array,"
            " numpy.array(…), and ids as sets."
        )


def _refuse_scores(qrels: dict[Any, Any], run: dict[Any, Any]) -> None:
    """Refuse lists of scores beside lists of as many grades, since lists hold ids."""
    query, scores = next(iter(run.items()), (None, None))
    grades = qrels.get(query)
    if not (isinstance(scores, list) and isinstance(grades, list) and scores and grades):
        return
    if len(scores) == len(grades) and {type(scores[0]), type(scores[-1])} == {float}:
        raise InputError(
            f"run, query {clip(query)}: a ranked list contains ids, best first; got"
            f" {clip(scores)}. If grades and scores are at the same places, number the items of"
            f" both sides: {{query: dict(enumerate(row)) for query, row in run.items()}}, and the"
            " qrels likewise."
        )


def _check_rows(qrels: Any, run: Any) -> None:
    """Refuse lists of different numbers, which are matched by their place, and lists of scores."""
    if len(qrels) != len(run):
        raise InputError(
            f"the numbers of rows differ: the qrels have {len(qrels)}, the run has {len(run)}. Rows"
            " are matched by position, so both sides need the same number; {query: …} matches them"
            " by id instead."
        )
    if not is_array(run):
        first = list_values(run[0])
        floats = (
            value for value in first if isinstance(value, float) and value == value
        )  # NaN is missing
        if not isinstance(first, Mapping) and next(floats, None) is not None:
            raise InputError(
                f"a list of ranked lists contains ids, best first; got {clip(first)}."
                f" {_advise_scores(qrels, run)}"
            )


def _advise_scores(qrels: Any, run: Any) -> str:
    """Advise what to give in the place of lists of scores."""
    lengths = [len(list_values(row)) for row in run]
    if [len(list_values(row)) for row in qrels] != lengths:
        return "Pass scores with their items: {item: score} for each query."
    if len(set(lengths)) == 1:
        return "Pass scores and grades as arrays: numpy.array(qrels) and numpy.array(run)."
    group = lengths if len(lengths) < _SHOWN else "[len(row) for row in run]"
    return (
        "Pass rows of different lengths as flat lists: [number for row in run for number in row],"
        f" the qrels likewise, and group={group}."
    )


_SHOWN = 10  # lengths of rows
