"""Opens judgments and runs: recognizes once which kind of input was given.

``QRELS`` and ``RUNS`` are the tables of kinds, tried in order.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from germane.core.calls import list_values
from germane.core.qrels import Qrels
from germane.errors import EmptyError, InputError, clip, write_option
from germane.readers.files import formats
from germane.readers.files.formats import (
    CANDIDATES,
    InputFormat,
    find_name,
    is_path,
    limit_path,
    name_file,
)
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.objects import mappings, numbers
from germane.readers.objects.headings import JUDGES
from germane.readers.objects.hits import is_hits, read_hits, refuse_response
from germane.readers.objects.mappings import is_rows
from germane.readers.objects.numbers import is_array, is_whole, refuse_nested
from germane.readers.objects.relevance import Labels
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
    open_run_columns,
    recognize_qrels,
)

__all__ = [
    "CANDIDATES",
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
    "find_candidates",
    "find_name",
    "is_path",
    "is_searched",
    "open_inputs",
    "open_judges",
    "open_qrels",
    "open_run",
    "refuse_ambiguous",
]


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
    elif is_frame(raw) or is_records(raw):
        frame = open_columns(raw, JUDGES, reading)
    if frame is None:
        raise InputError(
            f"{clip(raw)} has no column that names the judge. For several judges give two or more"
            " qrels by name, or one frame or file (CSV, TSV, JSON Lines, Parquet, Arrow) with such"
            " a column."
        )
    parts: Mapping[str, Any] = import_reader("objects.frame_qrels").split_by_judge(frame)
    return parts


def open_qrels(raw: Any, reading: ReadOptions = NOTHING_SAID) -> QrelsInput:
    """Recognize judgments. Their candidates and weights are attached when they are read.

    Raises InputError for anything else, and for columns that do not fit.
    """
    judged = recognize_qrels(raw, reading)
    if reading.catalogue is not None:
        judged = replace(judged, catalogue=reading.catalogue)
    if reading.subtopic_weights is not None:
        attach = import_reader("options.pairs").attach_weights
        read, weights = judged.read, reading.subtopic_weights
        judged = replace(judged, read=lambda *how: attach(read(*how), weights, how[-1]))
    candidates = find_candidates(raw, reading)
    if candidates is None:
        return judged
    return replace(judged, read=lambda *how: candidates.attach(judged.read(*how)))


def find_candidates(raw: Any, reading: ReadOptions) -> Any:
    """Find the pairs that select results, with the junk of labels; None where all items count."""
    junk = raw.junk if isinstance(raw, Labels) else None
    if junk is None and not reading.has_candidates:
        return None
    candidates = import_reader("options.candidates")
    if junk is not None:
        array_ids = import_reader("objects.item_ids")
        junk = array_ids.name_judgments(junk, *array_ids.read_both(reading), "the labels")
    found = {name: getattr(reading, name) for name in formats.CANDIDATES}
    found["ignore"] = candidates.join_pairs(found["ignore"], junk)
    return candidates.Candidates(**found)


# --- Runs -------------------------------------------------------------------------------------


def _open_run_file(path: Any, reading: ReadOptions) -> RunInput:
    chosen = formats.find_format(path, "run", reading.input_format)
    if chosen == "json":
        nested = import_reader("files.json_files").read_nested(path, "run")
        kind = mappings.ScoredMapping if mappings.is_scores(nested) else mappings.RankedLists
        return kind(nested, find_name(path), name_file(path), "text")
    frame = formats.open_columns(path, "run", chosen, reading.columns)
    if frame is None:
        run: RunInput = import_reader("files.trec_files").TrecFile(path)
        return run
    return open_run_columns(frame, reading)


RUNS: tuple[tuple[Recognize, Callable[[Any, ReadOptions], RunInput]], ...] = (
    (mappings.is_mapping, lambda raw, reading: mappings.open_mapping(raw)),
    (is_path, _open_run_file),
    (is_frame, open_run_columns),
    (is_rows, lambda raw, reading: mappings.RankedLists(dict(enumerate(raw)))),
    (numbers.is_whole, lambda raw, reading: import_reader("objects.top_ids").open_ids(raw)),
    (numbers.is_pair, lambda raw, reading: import_reader("objects.top_ids").open_pair(raw)),
    (
        numbers.is_text_array,
        lambda raw, reading: mappings.RankedLists(dict(enumerate(raw.tolist()))),
    ),
    (numbers.is_array, lambda raw, reading: import_reader("objects.arrays").open_scores(raw)),
    (is_records, open_run_columns),
)


def open_run(
    raw: Any, reading: ReadOptions = NOTHING_SAID, qrels: QrelsInput | None = None
) -> RunInput:
    """Recognize a run, beside the judgments that it is compared with where these are known.

    Raises InputError for anything else, and for columns that do not fit.
    """
    if is_hits(raw):
        raw = read_hits(raw, reading.columns, lowest=reading.lowest)
    else:
        refuse_response(raw)
    if reading.collapse is reading.query_ids is reading.item_ids is None:
        return _recognize_run(raw, reading, qrels)
    array_ids = import_reader("objects.item_ids")
    query_ids, item_ids = array_ids.read_both(reading)
    groups = reading.collapse
    if isinstance(raw, RunInput) and not raw.is_array:
        return raw if groups is None else raw.collapse(groups)
    if numbers.is_text_array(raw):
        raw = raw.tolist()
    if is_rows(raw):
        raw = array_ids.name_rows(raw, query_ids, "run")
        query_ids = None
        if item_ids is not None:
            raise InputError("item_ids= names the columns of arrays; these lists hold ids.")
    run = _recognize_run(raw, reading, qrels)
    named: RunInput = array_ids.name_run(run, query_ids, item_ids)
    return named if groups is None else named.collapse(groups)


def _recognize_run(raw: Any, reading: ReadOptions, qrels: QrelsInput | None) -> RunInput:
    if isinstance(raw, RunInput):  # of read_run, or opened before
        return raw
    if is_path(raw):
        raw = limit_path(raw, reading.max_expansion, reading.max_line)
    if _are_of_lines(raw, reading, qrels):
        run: RunInput = import_reader("files.letor").align_scores(qrels, raw)
        return run
    raw = hold_records(raw)
    for recognize, open_kind in RUNS:
        if recognize(raw):
            return open_kind(raw, reading)
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
        grades, scores = import_reader("objects.arrays").group_arrays(flat, run, reading.group)
        if judged is None:
            qrels_input = qrels if flat is None else open_qrels_groups(grades)
            judged = open_qrels(qrels_input, replace(reading, group=None))
        return judged, scores
    refuse_ambiguous(qrels, run)
    _refuse_empty_run(run)
    if judged is None:
        judged = open_qrels(qrels, reading)
    run_input = open_run(run, reading, judged)
    if reading.columns is not None:
        is_named = (
            run_input.is_named or (run_input.has_columns and run_input.has_header) or is_hits(run)
        )
        _refuse_columns(reading, judged, is_named)
    return judged, run_input


def _refuse_columns(reading: ReadOptions, judged: QrelsInput, is_named: bool) -> None:
    """Refuse names of columns where there are none."""
    if judged.has_columns:
        return
    options = (reading.catalogue, reading.seen, reading.distance)
    if not (is_named or reading.has_candidates) and all(option is None for option in options):
        raise InputError(
            f"{write_option('columns')} names the columns of frames and of files; there are"
            " none here."
        )
    for part in ("relevance", "qrels"):
        if part in (reading.columns or ()):
            raise InputError(
                f"{write_option('columns')} has {part!r}, which is for qrels with named columns;"
                " these qrels have none. Leave it out, or give qrels as a frame or a file with a"
                " header."
            )


def accept_comments(qrels: Qrels, run: RunInput) -> Qrels:
    """Accept judgments of lines that begin with ``#`` where the run has their query."""
    if qrels.maybe_data is None:
        return qrels
    queries = run.find_queries(qrels.maybe_data.queries)
    accepted: Qrels = import_reader("files.trec_files").accept_comments(qrels, queries)
    return accepted


def refuse_ambiguous(qrels: Any, run: Any) -> None:
    """Refuse rows that do not match, and whole numbers that may be ids or scores."""
    if isinstance(qrels, dict) and isinstance(run, dict):
        _refuse_scores(qrels, run)
        return
    refuse_nested(qrels, "qrels")
    refuse_nested(run, "run")
    numbers.refuse_classes(qrels, run)
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
    numbers = (number for row in qrels for number in row)
    if rows and all(type(number) in (int, bool, float) and number in (0, 1) for number in numbers):
        raise InputError(
            f"the qrels are lists of {shape[1]} numbers 0 or 1, as many as the run has columns:"
            " grades or ids? Lists contain ids. Give grades as an array, numpy.array(…); give ids"
            " as sets."
        )


def _refuse_scores(qrels: dict[Any, Any], run: dict[Any, Any]) -> None:
    """Refuse lists of scores beside lists of as many grades, since lists hold ids."""
    query, scores = next(iter(run.items()), (None, None))
    grades = qrels.get(query)
    if not (isinstance(scores, list) and isinstance(grades, list) and scores and grades):
        return
    if len(scores) == len(grades) and {type(scores[0]), type(scores[-1])} == {float}:
        raise InputError(
            f"run, query {clip(query)}: a ranked list holds ids, best first; got {clip(scores)}. If"
            " grades and scores stand at the same places, number the items of both sides: {query:"
            " dict(enumerate(row)) for query, row in run.items()}, and the qrels likewise."
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
        floats = (
            value for value in first if isinstance(value, float) and value == value
        )  # NaN is missing
        if not isinstance(first, Mapping) and next(floats, None) is not None:
            raise InputError(
                f"a list of ranked lists holds ids, best first; got {clip(first)}."
                f" {_advise_scores(qrels, run)}"
            )


def _advise_scores(qrels: Any, run: Any) -> str:
    """Advise what to give in the place of lists of scores."""
    lengths = [len(list_values(row)) for row in run]
    if [len(list_values(row)) for row in qrels] != lengths:
        return "Scores go with their items: {item: score} for each query."
    if len(set(lengths)) == 1:
        return "Scores and grades are arrays: numpy.array(qrels) and numpy.array(run)."
    group = lengths if len(lengths) < _SHOWN else "[len(row) for row in run]"
    return (
        "Rows of different lengths are given flat: [number for row in run for number in row], the"
        f" qrels likewise, and group={group}."
    )


_SHOWN = 10  # lengths of rows
