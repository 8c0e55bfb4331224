"""Opens judgments and runs: recognizes once which kind of input was given.

``QRELS`` and ``RUNS`` are the tables of kinds, tried in order.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from germane.core.arguments import list_values
from germane.core.qrels import Qrels
from germane.errors import EmptyError, InputError, clip
from germane.readers import formats, mappings, numbers
from germane.readers.formats import InputFormat, find_name
from germane.readers.headings import JUDGES
from germane.readers.hits import is_hits, read_hits, refuse_response
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.labels import Labels
from germane.readers.mappings import is_rows
from germane.readers.numbers import is_array, is_whole, refuse_nested
from germane.readers.paths import is_path, limit_path, name_file
from germane.readers.recognition import (
    NOTHING_SAID,
    QRELS,
    Recognize,
    advise,
    hold_records,
    import_reader,
    is_empty,
    is_frame,
    is_records,
    is_searched,
    open_columns,
    open_qrels_groups,
    recognize_qrels,
)

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
    "open_inputs",
    "open_judges",
    "open_qrels",
    "open_run",
    "refuse_ambiguous",
]


def open_judges(given: Any, reading: ReadOptions = NOTHING_SAID) -> Mapping[str, Any]:
    """Open judgments with a column that names the judge, as those of each judge.

    Raises FormatError where no column is the judge, and InputError for anything without named
    columns.
    """
    given = hold_records(given)
    frame = None
    if is_path(given):
        path = limit_path(given, reading.max_expansion, reading.max_line)
        chosen = formats.find_format(path, "qrels", reading.input_format)
        frame = formats.open_columns(path, JUDGES, chosen, reading.columns)
    elif is_frame(given) or is_records(given):
        frame = open_columns(given, JUDGES, reading)
    if frame is None:
        raise InputError(
            f"{clip(given)} has no column that names the judge. For several judges give two or more"
            " qrels by name, or one frame or file (CSV, TSV, JSON Lines, Parquet, Arrow) with such"
            " a column."
        )
    parts: Mapping[str, Any] = import_reader("frame_qrels").split_by_judge(frame)
    return parts


def open_qrels(given: Any, reading: ReadOptions = NOTHING_SAID) -> QrelsInput:
    """Recognize judgments. Their candidates and weights are attached when they are read.

    Raises InputError for anything else, and for columns that do not fit.
    """
    judged = recognize_qrels(given, reading)
    if reading.catalogue is not None:
        judged = replace(judged, catalogue=reading.catalogue)
    if reading.subtopic_weights is not None:
        attach = import_reader("subtopic_weights").attach_weights
        read, weights = judged.read, reading.subtopic_weights
        judged = replace(judged, read=lambda *how: attach(read(*how), weights, how[-1]))
    if reading.exclude is None and reading.only is None:
        return judged
    candidates = import_reader("candidates").Candidates(reading.exclude, reading.only)
    return replace(judged, read=lambda *how: candidates.attach(judged.read(*how)))


# --- Runs -------------------------------------------------------------------------------------


def _open_run_file(path: Any, reading: ReadOptions) -> RunInput:
    chosen = formats.find_format(path, "run", reading.input_format)
    if chosen == "json":
        given = import_reader("nested_json").read_nested(path, "run")
        kind = mappings.ScoredMapping if mappings.is_scores(given) else mappings.RankedLists
        return kind(given, find_name(path), name_file(path), "text")
    run: RunInput | None = formats.open_columns(path, "run", chosen, reading.columns)
    return run or import_reader("trec_files").TrecFile(path)


RUNS: tuple[tuple[Recognize, Callable[[Any, ReadOptions], RunInput]], ...] = (
    (mappings.is_scores, lambda given, reading: mappings.ScoredMapping(given)),
    (mappings.is_mapping, lambda given, reading: mappings.RankedLists(given)),
    (is_path, _open_run_file),
    (is_frame, lambda given, reading: open_columns(given, "run", reading)),
    (is_rows, lambda given, reading: mappings.RankedLists(dict(enumerate(given)))),
    (numbers.is_whole, lambda given, reading: import_reader("top_ids").open_ids(given)),
    (numbers.is_pair, lambda given, reading: import_reader("top_ids").open_pair(given)),
    (
        numbers.is_text_array,
        lambda given, reading: mappings.RankedLists(dict(enumerate(given.tolist()))),
    ),
    (numbers.is_array, lambda given, reading: import_reader("arrays").open_scores(given)),
    (is_records, lambda given, reading: open_columns(given, "run", reading)),
)


def open_run(
    given: Any, reading: ReadOptions = NOTHING_SAID, qrels: QrelsInput | None = None
) -> RunInput:
    """Recognize a run, beside the judgments that it is compared with where these are known.

    Raises InputError for anything else, and for columns that do not fit.
    """
    if is_hits(given):
        given = read_hits(given, reading.columns, lowest=reading.lowest)
    else:
        refuse_response(given)
    if reading.collapse is reading.query_ids is reading.item_ids is None:
        return _recognize_run(given, reading, qrels)
    array_ids = import_reader("array_ids")
    query_ids, item_ids = array_ids.read_both(reading)
    groups = reading.collapse
    if isinstance(given, RunInput) and not given.is_array:
        return given if groups is None else given.collapse(groups)
    if numbers.is_text_array(given):
        given = given.tolist()
    if is_rows(given):
        given = array_ids.name_rows(given, query_ids, "run")
        query_ids = None
        if item_ids is not None:
            raise InputError("item_ids= names the columns of arrays; these lists hold ids.")
    run = _recognize_run(given, reading, qrels)
    named: RunInput = array_ids.name_run(run, query_ids, item_ids)
    return named if groups is None else named.collapse(groups)


def _recognize_run(given: Any, reading: ReadOptions, qrels: QrelsInput | None) -> RunInput:
    if isinstance(given, RunInput):  # of read_run, or opened before
        return given
    if is_path(given):
        given = limit_path(given, reading.max_expansion, reading.max_line)
    if _are_of_lines(given, reading, qrels):
        run: RunInput = import_reader("letor").align_scores(qrels, given)
        return run
    given = hold_records(given)
    for recognize, open_kind in RUNS:
        if recognize(given):
            return open_kind(given, reading)
    _refuse_empty_run(given)
    raise InputError(
        "a run is the path of a file, a frame, {query: {item: score}}, {query: [item, …]}, a"
        " list of ranked lists, rows that are namedtuples, an array of scores (Q, N), an array of"
        " the ids of the best k (Q, K), a pair of arrays (Q, K), which are scores and ids, or what"
        f" read_run returns; got {clip(given)}{advise(given)}"
    )


def _refuse_empty_run(given: Any) -> None:
    if is_empty(given):
        raise EmptyError("the run is empty: it has no queries.")


def _are_of_lines(run: Any, reading: ReadOptions, qrels: QrelsInput | None) -> bool:
    """Are these scores that belong to the lines of the qrels' LETOR file, in their order?"""
    if is_path(run):
        return formats.choose_format("run", reading.input_format) == "scores"
    lines = None if qrels is None else qrels.lines
    if lines is None or not is_array(run):
        return False
    flat = len(run.shape) == 1 or run.shape[1:] == (1,)  # a column is refused later, with advice
    return flat or lines.items == "places"


# --- Both -------------------------------------------------------------------------------------


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
        numbers.refuse_nested(qrels, "qrels")
        numbers.refuse_nested(run, "run")
        flat = None if isinstance(qrels, Qrels) else qrels
        grades, scores = import_reader("flat_arrays").group_arrays(flat, run, reading.group)
        if judged is None:
            given = qrels if flat is None else open_qrels_groups(grades)
            judged = open_qrels(given, replace(reading, group=None))
        return judged, scores
    refuse_ambiguous(qrels, run)
    _refuse_empty_run(run)
    if judged is None:
        judged = open_qrels(qrels, reading)
    found = open_run(run, reading, judged)
    if reading.columns is not None:
        _refuse_columns(reading, judged, (found.has_columns and found.has_header) or is_hits(run))
    return judged, found


def _refuse_columns(reading: ReadOptions, judged: QrelsInput, is_named: bool) -> None:
    """Refuse names of columns where there are none."""
    if judged.has_columns:
        return
    others = (reading.exclude, reading.only, reading.catalogue, reading.seen, reading.distance)
    if not is_named and all(one is None for one in others):
        raise InputError("columns= names the columns of frames and of files; there are none here.")
    for part in ("relevance", "qrels"):
        if part in (reading.columns or ()):
            raise InputError(
                f"columns= has {part!r}, which is for qrels with named columns; these qrels have"
                " none. Leave it out, or give qrels as a frame or a file with a header."
            )


def accept_comments(qrels: Qrels, run: RunInput) -> Qrels:
    """Accept judgments of lines that begin with ``#`` where the run has their query."""
    if qrels.maybe_data is None:
        return qrels
    queries = run.find_queries(qrels.maybe_data.queries)
    accepted: Qrels = import_reader("trec_files").accept_comments(qrels, queries)
    return accepted


def refuse_ambiguous(qrels: Any, run: Any) -> None:
    """Refuse rows that do not match, and whole numbers that may be ids or scores."""
    if isinstance(qrels, dict) and isinstance(run, dict):
        return
    refuse_nested(qrels, "qrels")
    refuse_nested(run, "run")
    if is_rows(qrels) and (is_rows(run) or (is_array(run) and len(run.shape) == 2)):
        _check_rows(qrels, run)
    _refuse_grades(qrels, run)
    if is_whole(run) and is_array(qrels) and tuple(run.shape) == tuple(qrels.shape):
        raise InputError(
            "the run is an array of whole numbers of the same shape as the qrels,"
            f" {tuple(run.shape)}: ids or scores? Give scores as floating point,"
            " scores.astype(float); for ids, give the qrels as sets or as a CSR matrix."
        )


def _refuse_grades(qrels: Any, run: Any) -> None:
    """Refuse lists of 0 and 1, one for each column: they look like grades, and lists hold ids."""
    shape = tuple(getattr(run, "shape", ()))
    if len(shape) != 2 or shape[1] < 2 or is_whole(run) or not isinstance(qrels, list):
        return
    rows = all(isinstance(row, list) and len(row) == shape[1] for row in qrels)
    numbers = (one for row in qrels for one in row)
    if rows and all(type(one) in (int, bool, float) and one in (0, 1) for one in numbers):
        raise InputError(
            f"the qrels are lists of {shape[1]} numbers 0 or 1, as many as the run has columns:"
            " grades or ids? Lists contain ids. Give grades as an array, numpy.array(…); give ids"
            " as sets."
        )


def _check_rows(qrels: Any, run: Any) -> None:
    """Refuse lists of different numbers, which are matched by their place, and lists of scores."""
    if len(qrels) != len(run):
        raise InputError(
            f"the numbers of rows differ: the qrels have {len(qrels)}, the run has {len(run)}. Rows"
            " are matched by their place, so both have the same number; {query: …} matches them"
            " by their ids."
        )
    if not is_array(run):
        first = list_values(run[0])
        floats = (one for one in first if isinstance(one, float) and one == one)  # NaN is missing
        if not isinstance(first, Mapping) and next(floats, None) is not None:
            raise InputError(
                f"a list of ranked lists holds ids, best first; got {clip(first)}. Scores and"
                " grades are arrays: numpy.array(…)."
            )
