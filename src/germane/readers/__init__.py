"""Opens judgments and runs: recognizes once which kind of input was given.

``QRELS`` and ``RUNS`` are the tables of kinds, tried in order. Most modules are imported for the first
input that needs them, since importing Arrow takes as long as importing NumPy.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeAlias

from germane.core.arguments import list_values
from germane.core.qrels import Qrels
from germane.errors import EmptyError, InputError, clip
from germane.readers import formats, mappings, numbers
from germane.readers.formats import InputFormat, find_name, is_path, limit_path
from germane.readers.headings import JUDGES
from germane.readers.hits import is_hits, read_hits
from germane.readers.inputs import Needs, QrelsInput, QrelsReader, ReadOptions, RunInput
from germane.readers.labels import Labels
from germane.readers.mappings import is_rows
from germane.readers.numbers import is_array, is_whole, refuse_nested

__all__ = [
    "NOTHING_SAID",
    "QRELS",
    "RUNS",
    "InputFormat",
    "Labels",
    "Needs",
    "QrelsInput",
    "ReadOptions",
    "RunInput",
    "accept_comments",
    "find_name",
    "is_path",
    "is_searched",
    "join_qrels",
    "open_inputs",
    "open_judges",
    "open_qrels",
    "open_run",
    "refuse_ambiguous",
]

NOTHING_SAID = ReadOptions()


def _import_reader(name: str) -> Any:
    return import_module(f"germane.readers.{name}")


def _is_frame(given: object) -> bool:
    """Does this hand out Arrow columns, or is it a data set of the library ``datasets``?"""
    if hasattr(given, "__arrow_c_stream__"):
        return not isinstance(given, type)
    return numbers.is_dataset(given)


def is_searched(given: object) -> bool:
    """Does finding the rows of one query take reading all rows of this run?"""
    if is_path(given) or _is_frame(given) or isinstance(given, Iterator) or _is_records(given):
        return True
    return getattr(given, "is_searched", False) is True


def _is_record(row: object) -> bool:
    """Is this a namedtuple?"""
    return isinstance(row, tuple) and hasattr(row, "_fields")


def _is_records(given: object) -> bool:
    """Are these rows that are namedtuples, such as ``Qrel`` of ir_datasets? They can be read again."""
    if isinstance(given, (Mapping, str, bytes, Iterator)) or not isinstance(given, Iterable):
        return False
    return not numbers.is_array(given) and _is_record(next(iter(given), None))


def _hold_records(given: Any) -> Any:
    """Read an iterator of namedtuples; anything else stays as it is."""
    if not isinstance(given, Iterator) or _is_frame(given):
        return given
    first = next(given, None)
    if first is None:
        return []
    return [first, *given] if _is_record(first) else given


def _open_records(given: Any, kind: str, reading: ReadOptions) -> Any:
    return _import_reader("records").open_records(list(given), kind, reading.columns)


def _open_columns(given: Any, kind: str, reading: ReadOptions) -> Any:
    return _import_reader("frames").open_frame(given, kind, reading.columns)


def _limit(path: Any, reading: ReadOptions) -> Any:
    """Attach the caller's limits to the path, if there are any."""
    if reading.max_expansion is None and reading.max_line is None:
        return path
    return limit_path(path, reading.max_expansion, reading.max_line)


# --- Judgments -------------------------------------------------------------------------------------


def _open_qrels_mapping(given: Any, reading: ReadOptions) -> QrelsInput:
    def read(duplicates: str, progress: object, needs: Needs) -> Qrels:
        qrels = mappings.read_qrels(given, duplicates)
        if qrels.subtopics is not None and not needs.subtopics:
            raise _import_reader("subtopics").explain_unread(qrels, given)
        return qrels

    return QrelsInput(given, read)


def _open_qrels_rows(given: Any, reading: ReadOptions) -> QrelsInput:
    rows = ([] if isinstance(row, Mapping) and not row else row for row in given)  # {} is unjudged
    return _open_qrels_mapping(dict(enumerate(rows)), reading)


def _open_qrels_columns(given: Any, reading: ReadOptions) -> QrelsInput:
    frame = _open_columns(given, "qrels", reading)
    return _open_qrels_frame(frame)


def _read_needed(read: Callable[..., Qrels], given: Any) -> QrelsReader:
    """Adapt a function that reads subtopics if they are needed."""
    return lambda duplicates, progress, needs: read(
        given, duplicates, progress, subtopics=bool(needs.subtopics)
    )


def _open_qrels_frame(frame: Any) -> QrelsInput:
    read = _read_needed(_import_reader("frame_qrels").read_qrels, frame)
    return QrelsInput(frame, read, frame.ids == "text", True, frame.lines)


def _open_qrels_file(given: Any, reading: ReadOptions) -> QrelsInput:
    path = _limit(given, reading)
    chosen = formats.find_format(path, "qrels", reading.input_format)
    if chosen == "json":
        return _open_nested_qrels(path)
    frame = formats.open_columns(path, "qrels", chosen, reading.columns)
    if frame is not None:
        return _open_qrels_columns(frame, reading)
    return QrelsInput(path, _read_needed(_import_reader("trec_files").read_qrels, path), True)


def _open_nested_qrels(path: Any) -> QrelsInput:
    nested_json = _import_reader("nested_json")
    given, where = nested_json.read_nested(path, "qrels"), nested_json.name_file(path)

    def read(duplicates: str, progress: object, needs: Needs) -> Qrels:
        qrels = mappings.read_qrels(given, duplicates, where=where)
        return replace(qrels, name=find_name(path), ids="text")

    return QrelsInput(given, read, True, where=where)


def _open_qrels_cells(read: Callable[[Any, str], Qrels], given: Any) -> QrelsInput:
    """Open judgments of all cells of a table, of which only those that measures need are read."""
    return QrelsInput(given, lambda duplicates, progress, needs: read(given, needs.complete))


def _wrap_qrels(given: Qrels, reading: ReadOptions) -> QrelsInput:
    columns = given.columns is not None
    return QrelsInput(given, lambda *how: given, given.ids == "text", columns, given.lines)


def _open_qrels_groups(given: Any) -> QrelsInput:
    if isinstance(given, Qrels):
        return _wrap_qrels(given, NOTHING_SAID)
    return _open_qrels_cells(_import_reader("arrays").read_grouped, given)


_Recognize: TypeAlias = Callable[[Any], bool]

QRELS: tuple[tuple[_Recognize, Callable[[Any, ReadOptions], QrelsInput]], ...] = (
    (lambda given: isinstance(given, Qrels), _wrap_qrels),
    (mappings.is_mapping, _open_qrels_mapping),
    (mappings.is_rows, _open_qrels_rows),
    (is_path, _open_qrels_file),
    (_is_frame, _open_qrels_columns),
    (
        lambda given: isinstance(given, Labels),
        lambda given, reading: _open_qrels_cells(Labels.qrels, given),
    ),
    (
        numbers.is_sparse,
        lambda given, reading: QrelsInput(
            given, lambda *how: _import_reader("relevance").read_csr(given)
        ),
    ),
    (
        numbers.is_array,
        lambda given, reading: _open_qrels_cells(_import_reader("relevance").read_dense, given),
    ),
    (
        _is_records,
        lambda given, reading: _open_qrels_frame(_open_records(given, "qrels", reading)),
    ),
)


def open_pairs(given: Any, kind: str, columns: Any, input_format: InputFormat) -> QrelsInput | None:
    """Open pairs of query and item as judgments without grades; None for anything else."""
    given = _hold_records(given)
    if is_path(given):
        named = formats.choose_format(kind, input_format)
        said = input_format if isinstance(input_format, str) else None
        chosen = named or formats.find_format(given, kind, None)
        chosen = said if said and chosen == "trec" else chosen
        if chosen in ("json", "trec"):
            return _open_qrels_file(given, ReadOptions(input_format=chosen))
        return _open_qrels_frame(formats.open_pairs(given, kind, chosen, columns))
    reading = ReadOptions(columns)
    if _is_frame(given):
        return _open_qrels_frame(_open_columns(given, kind, reading))
    if _is_records(given):
        return _open_qrels_frame(_open_records(given, kind, reading))
    if numbers.is_array(given):
        numbers.to_numpy(given, kind)  # whose message names this argument
    if numbers.is_array(given) or numbers.is_sparse(given) or isinstance(given, Labels):
        return open_qrels(given)
    return None


def open_judges(given: Any, reading: ReadOptions = NOTHING_SAID) -> Mapping[str, Any]:
    """Open judgments with a column that names the judge: those of each judge, which open_qrels takes.

    Raises FormatError where no column is the judge, and InputError for anything without named columns.
    """
    given = _hold_records(given)
    frame = None
    if is_path(given):
        path = _limit(given, reading)
        chosen = formats.find_format(path, "qrels", reading.input_format)
        frame = formats.open_columns(path, JUDGES, chosen, reading.columns)
    elif _is_frame(given):
        frame = _open_columns(given, JUDGES, reading)
    elif _is_records(given):
        frame = _open_records(given, JUDGES, reading)
    if frame is None:
        raise InputError(
            f"{clip(given)} has no column that names the judge. For several judges give two or more qrels by name, or one "
            "frame or file (CSV, TSV, JSON Lines, Parquet, Arrow) with such a column."
        )
    parts: Mapping[str, Any] = _import_reader("judges").split_by_judge(frame)
    return parts


def open_qrels(given: Any, reading: ReadOptions = NOTHING_SAID) -> QrelsInput:
    """Recognize judgments, and read the candidates and weights that were asked for with them.

    Raises InputError for anything else, and for columns that do not fit.
    """
    judged = _weigh_subtopics(_recognize_qrels(given, reading), reading)
    if any(one is not None for one in (reading.catalogue, reading.seen, reading.distance)):
        options = _import_reader("catalogues").read_options(reading)
        judged = replace(judged, catalogue=options)
    if reading.exclude is None and reading.only is None:
        return judged
    candidates = _import_reader("candidates").open_candidates(reading)
    return replace(judged, read=lambda *how: candidates.attach(judged.read(*how)))


def _weigh_subtopics(judged: QrelsInput, reading: ReadOptions) -> QrelsInput:
    """Read the weights of subtopics, if there are any, and attach them to the judgments once these are read."""
    if reading.subtopic_weights is None:
        return judged
    reader = _import_reader("subtopic_weights")
    weights = reader.open_weights(reading)

    def read(duplicates: str, progress: Any, needs: Needs) -> Qrels:
        qrels: Qrels = reader.attach_weights(
            judged.read(duplicates, progress, needs), weights, needs
        )
        return qrels

    return replace(judged, read=read)


def _recognize_qrels(given: Any, reading: ReadOptions) -> QrelsInput:
    """Recognize judgments. Raises InputError for anything else, and for columns that do not fit."""
    if isinstance(given, QrelsInput):
        return given
    if isinstance(given, RunInput) and given.has_columns:  # of read_run
        return _open_qrels_columns(given, reading)
    if reading.group is not None:
        return _open_qrels_groups(
            _import_reader("arrays").group_arrays(given, None, reading.group)[0]
        )
    numbers.refuse_nested(given, "qrels")
    given = _hold_records(given)
    if not (reading.query_ids is reading.item_ids is None or isinstance(given, Qrels)):
        array_ids = _import_reader("array_ids")
        query_ids, item_ids = array_ids.read_both(reading)
        if is_rows(given):
            given = array_ids.name_rows(given, query_ids, "qrels")
        unnamed = _recognize_qrels(given, replace(reading, query_ids=None, item_ids=None))
        named: QrelsInput = array_ids.name_qrels(unnamed, query_ids, item_ids)
        return named
    for recognize, open_kind in QRELS:
        if recognize(given):
            return open_kind(given, reading)
    if _is_empty(given):
        raise EmptyError("the qrels are empty: there are no judgments.")
    raise InputError(
        "qrels are the path of a file, a frame, {query: {item: grade}}, {query: relevant items}, "
        "a list of either, rows that are namedtuples, an array of grades (Q, N), a CSR matrix, "
        f"germane.Labels, or what read_qrels returns; got {clip(given)}{_advise(given)}"
    )


# --- Runs ------------------------------------------------------------------------------------------


def _spell(run: Any, qrels: QrelsInput | None) -> Any:
    """Spell Python ids as a file of text does, if the judgments are from one."""
    if qrels is None or not qrels.is_text:
        return run
    return _import_reader("mapping_ids").SpelledMapping(run)


def _open_nested_run(path: Any) -> RunInput:
    nested_json = _import_reader("nested_json")
    given = nested_json.read_nested(path, "run")
    kind = mappings.ScoredMapping if mappings.is_scores(given) else mappings.RankedLists
    return kind(given, find_name(path), nested_json.name_file(path), "text")


def _open_run_file(given: Any, qrels: QrelsInput | None, reading: ReadOptions) -> RunInput:
    path = _limit(given, reading)
    run: RunInput | None
    if formats.choose_format("run", reading.input_format) == "scores":
        run = _import_reader("letor").align_scores(qrels, path)
    elif (chosen := formats.find_format(path, "run", reading.input_format)) == "json":
        run = _open_nested_run(path)
    else:
        run = formats.open_columns(path, "run", chosen, reading.columns)
    return run or _import_reader("trec_files").TrecFile(path)


RUNS: tuple[tuple[_Recognize, Callable[[Any, QrelsInput | None, ReadOptions], RunInput]], ...] = (
    (
        mappings.is_scores,
        lambda given, qrels, reading: mappings.ScoredMapping(_spell(given, qrels)),
    ),
    (
        mappings.is_mapping,
        lambda given, qrels, reading: mappings.RankedLists(_spell(given, qrels)),
    ),
    (is_path, _open_run_file),
    (_is_frame, lambda given, qrels, reading: _open_columns(given, "run", reading)),
    (
        mappings.is_rows,
        lambda given, qrels, reading: mappings.RankedLists(_spell(dict(enumerate(given)), qrels)),
    ),
    (numbers.is_whole, lambda given, qrels, reading: _import_reader("arrays").TopIds(given)),
    (numbers.is_pair, lambda given, qrels, reading: _import_reader("arrays").open_pair(given)),
    (
        numbers.is_text_array,
        lambda given, qrels, reading: mappings.RankedLists(
            _spell(dict(enumerate(given.tolist())), qrels)
        ),
    ),
    (numbers.is_array, lambda given, qrels, reading: _import_reader("arrays").ScoreArray(given)),
    (_is_records, lambda given, qrels, reading: _open_records(given, "run", reading)),
)


def open_run(
    given: Any, reading: ReadOptions = NOTHING_SAID, qrels: QrelsInput | None = None
) -> RunInput:
    """Recognize a run, beside the judgments that it is compared with where these are known.

    Raises InputError for anything else, and for columns that do not fit.
    """
    if is_hits(given):
        given = read_hits(given, reading.columns, lowest=reading.lowest)
    if reading.collapse is reading.query_ids is reading.item_ids is None:
        return _recognize_run(given, reading, qrels)
    array_ids = _import_reader("array_ids")
    query_ids, item_ids = array_ids.read_both(reading)
    groups = reading.collapse
    if groups is not None:
        groups = _import_reader("groups").open_groups(groups)
    if isinstance(given, RunInput) and not given.is_array:
        return given if groups is None else given.collapse(groups)
    if numbers.is_text_array(given):
        given = given.tolist()
    if is_rows(given):
        given = array_ids.name_rows(given, query_ids, "run")
        query_ids = None
        if item_ids is not None:
            raise InputError("item_ids= names the columns of arrays; these lists hold ids.")
    if groups is not None and mappings.is_mapping(given):
        given = _import_reader("groups").CollapsedMapping(given, groups, lowest=reading.lowest)
        groups = None
    run = _recognize_run(given, reading, qrels)
    if groups is not None and isinstance(run, mappings.MappedRun):  # of a file
        collapsed = _import_reader("groups").CollapsedMapping(
            run.mapping, groups, lowest=reading.lowest
        )
        run, groups = run.replace_mapping(collapsed), None
    named: RunInput = array_ids.name_run(run, query_ids, item_ids, groups)
    return named


def _recognize_run(given: Any, reading: ReadOptions, qrels: QrelsInput | None) -> RunInput:
    if isinstance(given, RunInput):  # of read_run, or opened before
        return given
    if qrels is not None and qrels.lines is not None and _has_no_ids(given, qrels.lines):
        run: RunInput = _import_reader("letor").align_scores(qrels, given)
        return run
    given = _hold_records(given)
    for recognize, open_kind in RUNS:
        if recognize(given):
            return open_kind(given, qrels, reading)
    _refuse_empty_run(given)
    raise InputError(
        "a run is the path of a file, a frame, {query: {item: score}}, {query: [item, …]}, a list of "
        "ranked lists, rows that are namedtuples, an array of scores (Q, N), an array of the ids of the "
        "best k (Q, K), a pair of arrays (Q, K), which are scores and ids, or what read_run returns; "
        f"got {clip(given)}{_advise(given)}"
    )


def _refuse_empty_run(given: Any) -> None:
    if _is_empty(given):
        raise EmptyError("the run is empty: it has no queries.")


def _has_no_ids(run: Any, lines: Any) -> bool:
    """Are these scores that belong to the lines of the qrels' LETOR file, in their order?"""
    if not numbers.is_array(run):
        return False
    flat = len(run.shape) == 1 or run.shape[1:] == (1,)  # a column is refused later, with advice
    return flat or lines.items == "places"


def _is_empty(given: object) -> bool:
    return isinstance(given, (list, tuple)) and not given


def _advise(given: object) -> str:
    """Advice for an input that is nearly right."""
    if hasattr(given, "collect"):
        return "  collect() turns it into a frame."
    if numbers.is_sparse(given):
        return "  toarray() turns it into scores; cells that are not stored become 0."
    first = given[0] if isinstance(given, (list, tuple)) else None
    if numbers.is_array(first):
        return "  A list of arrays is a run only if it has two of shape (Q, K): the scores and the ids of a search."
    if isinstance(first, tuple):
        return "  Give ranked lists as lists, and rows of a frame as pandas.DataFrame(rows)."
    if isinstance(first, (int, float)):
        return "  Flat lists of grades and scores need group=…"
    return ""


# --- Both ------------------------------------------------------------------------------------------


def open_inputs(
    qrels: Any, run: Any, reading: ReadOptions = NOTHING_SAID
) -> tuple[QrelsInput, RunInput]:
    """Recognize judgments and a run.

    Raises InputError for columns that are missing or ambiguous, or where there are none to name, and
    for whole numbers that may be ids or scores; FormatError for arrays that do not fit each other.
    """
    if reading.group is not None and run is not None:
        numbers.refuse_nested(qrels, "qrels")
        numbers.refuse_nested(run, "run")
        grades, scores = _import_reader("arrays").group_arrays(qrels, run, reading.group)
        return open_qrels(_open_qrels_groups(grades), replace(reading, group=None)), scores
    refuse_ambiguous(qrels, run)
    _refuse_empty_run(run)
    if reading.collapse is not None:  # which both sides need, and a stream is read once
        groups = _import_reader("groups").open_groups(reading.collapse)
        reading = replace(reading, collapse=groups)
    judged = open_qrels(qrels, reading)
    found = open_run(run, reading, judged)
    named = judged.has_columns or (found.has_columns and found.has_header) or is_hits(run)
    others = (reading.exclude, reading.only, reading.catalogue, reading.seen, reading.distance)
    if reading.columns is not None and not named and all(one is None for one in others):
        raise InputError("columns= names the columns of frames and of files; there are none here.")
    if not judged.has_columns:
        _refuse_columns_of_qrels(reading.columns or ())
    return judged, found


def _refuse_columns_of_qrels(parts: Collection[str]) -> None:
    for part in ("relevance", "qrels"):
        if part in parts:
            raise InputError(
                f"columns= has {part!r}, which is for qrels with named columns; these qrels have none. Leave it out, or give qrels as "
                "a frame or a file with a header."
            )


def join_qrels(parts: Sequence[Qrels]) -> Qrels:
    """Join the judgments of several frames that have no query in common."""
    qrels: Qrels = _import_reader("frame_qrels").join_judgments(parts)
    return qrels


def accept_comments(qrels: Qrels, run: RunInput) -> Qrels:
    """Accept judgments of lines that begin with ``#`` where the run has their query."""
    if qrels.maybe_data is None:
        return qrels
    queries = run.find_queries(qrels.maybe_data.queries)
    if queries is None:
        return qrels
    accepted: Qrels = _import_reader("trec_files").accept_comments(qrels, queries)
    return accepted


def refuse_ambiguous(qrels: Any, run: Any) -> None:
    """Refuse rows that do not match, and whole numbers that may be ids or scores.

    Raises InputError that asks which.
    """
    if isinstance(qrels, dict) and isinstance(run, dict):
        return
    refuse_nested(qrels, "qrels")
    refuse_nested(run, "run")
    if is_rows(qrels) and (is_rows(run) or (is_array(run) and len(run.shape) == 2)):
        _check_rows(qrels, run)
    _refuse_grades(qrels, run)
    if is_whole(run) and is_array(qrels) and tuple(run.shape) == tuple(qrels.shape):
        raise InputError(
            f"the run is an array of whole numbers of the same shape as the qrels, {tuple(run.shape)}:"
            " ids or scores? Give scores as floating point, scores.astype(float); for ids, give the "
            "qrels as sets or as a CSR matrix."
        )


def _refuse_grades(qrels: Any, run: Any) -> None:
    """Refuse lists of 0 and 1, one for each column of a run: they look like grades, and lists hold ids."""
    shape = tuple(getattr(run, "shape", ()))
    if len(shape) != 2 or shape[1] < 2 or is_whole(run) or not isinstance(qrels, list):
        return
    rows = all(isinstance(row, list) and len(row) == shape[1] for row in qrels)
    numbers = (one for row in qrels for one in row)
    if rows and all(type(one) in (int, bool, float) and one in (0, 1) for one in numbers):
        raise InputError(
            f"the qrels are lists of {shape[1]} numbers 0 or 1, as many as the run has "
            "columns: grades or ids? Lists contain ids. Give grades as an array, numpy.array(…); give ids as sets."
        )


def _check_rows(qrels: Any, run: Any) -> None:
    """Refuse lists whose numbers differ, since they are matched by their place, and lists of scores."""
    if len(qrels) != len(run):
        raise InputError(
            f"the numbers of rows differ: the qrels have {len(qrels)}, the run has {len(run)}. Rows are "
            "matched by their place, so both have the same number; {query: …} matches them by their ids."
        )
    if not is_array(run):
        first = list_values(run[0])
        if not isinstance(first, Mapping) and any(map(_is_float, first)):
            raise InputError(
                f"a list of ranked lists holds ids, best first; got {clip(first)}. Scores and grades "
                "are arrays: numpy.array(…)."
            )


def _is_float(item: object) -> bool:
    return isinstance(item, float) and item == item  # NaN is an id that is missing
