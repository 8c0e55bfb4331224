"""Opens judgments and runs: recognizes once which kind of input was given.

``QRELS`` and ``RUNS`` are the tables of kinds, tried in order. Most modules are imported for the
first input that needs them, since importing Arrow takes as long as importing NumPy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from germane.core.arguments import list_values
from germane.core.qrels import Qrels
from germane.errors import EmptyError, InputError, clip
from germane.readers import formats, mappings, numbers
from germane.readers.formats import InputFormat, find_name, is_path
from germane.readers.headings import JUDGES
from germane.readers.hits import is_hits, read_hits
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.labels import Labels
from germane.readers.mappings import is_rows
from germane.readers.numbers import is_array, is_whole, refuse_nested
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
    limit,
    open_columns,
    open_qrels_groups,
    open_records,
    recognize_qrels,
)
from germane.readers.responses import refuse_response

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


def open_judges(given: Any, reading: ReadOptions = NOTHING_SAID) -> Mapping[str, Any]:
    """Open judgments with a column that names the judge, as those of each judge.

    Raises FormatError where no column is the judge, and InputError for anything without named
    columns.
    """
    given = hold_records(given)
    frame = None
    if is_path(given):
        path = limit(given, reading)
        chosen = formats.find_format(path, "qrels", reading.input_format)
        frame = formats.open_columns(path, JUDGES, chosen, reading.columns)
    elif is_frame(given):
        frame = open_columns(given, JUDGES, reading)
    elif is_records(given):
        frame = open_records(given, JUDGES, reading)
    if frame is None:
        raise InputError(
            f"{clip(given)} has no column that names the judge. For several judges give two or more"
            " qrels by name, or one frame or file (CSV, TSV, JSON Lines, Parquet, Arrow) with such"
            " a column."
        )
    parts: Mapping[str, Any] = import_reader("judges").split_by_judge(frame)
    return parts


def open_qrels(given: Any, reading: ReadOptions = NOTHING_SAID) -> QrelsInput:
    """Recognize judgments, and read the candidates and weights that were asked for with them.

    Raises InputError for anything else, and for columns that do not fit.
    """
    judged = _weigh_subtopics(recognize_qrels(given, reading), reading)
    if any(one is not None for one in (reading.catalogue, reading.seen, reading.distance)):
        options = import_reader("catalogues").read_options(reading)
        judged = replace(judged, catalogue=options)
    if reading.exclude is None and reading.only is None:
        return judged
    candidates = import_reader("candidate_pairs").open_candidates(reading)
    return replace(judged, read=lambda *how: candidates.attach(judged.read(*how)))


def _weigh_subtopics(judged: QrelsInput, reading: ReadOptions) -> QrelsInput:
    """Attach the weights of subtopics, if there are any, to judgments when these are read."""
    if reading.subtopic_weights is None:
        return judged
    reader = import_reader("subtopic_weights")
    weights = reader.open_weights(reading)

    def read(duplicates: str, progress: Any, needs: Needs) -> Qrels:
        qrels: Qrels = reader.attach_weights(
            judged.read(duplicates, progress, needs), weights, needs
        )
        return qrels

    return replace(judged, read=read)


# --- Runs -------------------------------------------------------------------------------------


def _open_nested_run(path: Any) -> RunInput:
    nested_json = import_reader("nested_json")
    given = nested_json.read_nested(path, "run")
    kind = mappings.ScoredMapping if mappings.is_scores(given) else mappings.RankedLists
    return kind(given, find_name(path), nested_json.name_file(path), "text")


def _open_run_file(given: Any, qrels: QrelsInput | None, reading: ReadOptions) -> RunInput:
    path = limit(given, reading)
    run: RunInput | None
    if formats.choose_format("run", reading.input_format) == "scores":
        run = import_reader("letor").align_scores(qrels, path)
    elif (chosen := formats.find_format(path, "run", reading.input_format)) == "json":
        run = _open_nested_run(path)
    else:
        run = formats.open_columns(path, "run", chosen, reading.columns)
    return run or import_reader("trec_files").TrecFile(path)


RUNS: tuple[tuple[Recognize, Callable[[Any, QrelsInput | None, ReadOptions], RunInput]], ...] = (
    (
        mappings.is_scores,
        lambda given, qrels, reading: mappings.ScoredMapping(given),
    ),
    (
        mappings.is_mapping,
        lambda given, qrels, reading: mappings.RankedLists(given),
    ),
    (is_path, _open_run_file),
    (is_frame, lambda given, qrels, reading: open_columns(given, "run", reading)),
    (
        mappings.is_rows,
        lambda given, qrels, reading: mappings.RankedLists(dict(enumerate(given))),
    ),
    (numbers.is_whole, lambda given, qrels, reading: import_reader("top_ids").open_ids(given)),
    (numbers.is_pair, lambda given, qrels, reading: import_reader("top_ids").open_pair(given)),
    (
        numbers.is_text_array,
        lambda given, qrels, reading: mappings.RankedLists(dict(enumerate(given.tolist()))),
    ),
    (numbers.is_array, lambda given, qrels, reading: import_reader("arrays").open_scores(given)),
    (is_records, lambda given, qrels, reading: open_records(given, "run", reading)),
)


def open_run(
    given: Any, reading: ReadOptions = NOTHING_SAID, qrels: QrelsInput | None = None
) -> RunInput:
    """Recognize a run, beside the judgments that it is compared with where these are known.

    Raises InputError for anything else, and for columns that do not fit.
    """
    if not (reading.group is None or given is None or isinstance(given, RunInput)):
        flat: RunInput = import_reader("flat_arrays").group_arrays(None, given, reading.group)[1]
        return flat
    if is_hits(given):
        given = read_hits(given, reading.columns, lowest=reading.lowest)
    else:
        refuse_response(given)
    if reading.collapse is reading.query_ids is reading.item_ids is None:
        return _recognize_run(given, reading, qrels)
    array_ids = import_reader("array_ids")
    query_ids, item_ids = array_ids.read_both(reading)
    groups = reading.collapse
    if groups is not None:
        groups = import_reader("item_groups").open_groups(groups)
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
    if qrels is not None and qrels.lines is not None and _has_no_ids(given, qrels.lines):
        run: RunInput = import_reader("letor").align_scores(qrels, given)
        return run
    given = hold_records(given)
    for recognize, open_kind in RUNS:
        if recognize(given):
            return open_kind(given, qrels, reading)
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


def _has_no_ids(run: Any, lines: Any) -> bool:
    """Are these scores that belong to the lines of the qrels' LETOR file, in their order?"""
    if not numbers.is_array(run):
        return False
    flat = len(run.shape) == 1 or run.shape[1:] == (1,)  # a column is refused later, with advice
    return flat or lines.items == "places"


# --- Both -------------------------------------------------------------------------------------


def open_inputs(
    qrels: Any,
    run: Any,
    reading: ReadOptions = NOTHING_SAID,
    judged: QrelsInput | None = None,
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
    if reading.collapse is not None:  # which both sides need, and a stream is read once
        groups = import_reader("item_groups").open_groups(reading.collapse)
        reading = replace(reading, collapse=groups)
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


def join_qrels(parts: Sequence[Qrels]) -> Qrels:
    """Join the judgments of several frames that have no query in common."""
    qrels: Qrels = import_reader("frame_qrels").join_judgments(parts)
    return qrels


def accept_comments(qrels: Qrels, run: RunInput) -> Qrels:
    """Accept judgments of lines that begin with ``#`` where the run has their query."""
    if qrels.maybe_data is None:
        return qrels
    queries = run.find_queries(qrels.maybe_data.queries)
    if queries is None:
        return qrels
    accepted: Qrels = import_reader("trec_files").accept_comments(qrels, queries)
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
        if not isinstance(first, Mapping) and any(map(_is_float, first)):
            raise InputError(
                f"a list of ranked lists holds ids, best first; got {clip(first)}. Scores and"
                " grades are arrays: numpy.array(…)."
            )


def _is_float(item: object) -> bool:
    return isinstance(item, float) and item == item  # NaN is an id that is missing
