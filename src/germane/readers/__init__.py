"""Everything that comes in: one literal table of doors, tried in order."""

import os
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np

from germane._ragged import Ints
from germane.errors import EmptyError, InputError, clip
from germane.kernel.ids import as_integer, to_bytes, to_text
from germane.readers import formats, headings, host, mappings
from germane.readers.formats import InputFormat
from germane.readers.labels import Labels
from germane.readers.paths import Progress, check_path, is_path, limit_path, name_of
from germane.retrieval import Order, Qrels, Retrieved

__all__ = [
    "SOURCES",
    "InputFormat",
    "Labels",
    "Progress",
    "Source",
    "accept_comments",
    "batches",
    "check_path",
    "has_columns",
    "has_places",
    "is_path",
    "is_rows",
    "is_searched",
    "joined_qrels",
    "judged_in",
    "loaded",
    "name_of",
    "only",
    "opened",
    "prepared",
    "read_qrels",
    "refuse_ambiguous",
    "run_name",
    "source_of",
    "spelled",
    "where",
]

Retrieve: TypeAlias = Callable[[Qrels, Any, str, Order, Progress | None], Retrieved]


@dataclass(frozen=True, eq=False)
class Source:
    """A kind of run: how it is recognised, how it is read, and its own order of tied items."""

    name: str
    recognises: Callable[[object], bool]
    retrieve: Retrieve
    ties: str | None = "trec"  # None: the run says
    ids: Literal["any", "places"] = "any"  # places: an item is known by its place alone


# Most modules are imported for the first run that needs them: Arrow takes as long as NumPy.


def _module(name: str) -> Any:
    return import_module(f"germane.readers.{name}")


def _retrieve(module: str, function: str = "retrieve") -> Retrieve:
    return lambda qrels, given, duplicates, order, progress: getattr(_module(module), function)(
        qrels, given, duplicates, order, progress
    )


def _is(module: str, kind: str) -> Callable[[object], bool]:
    """Is it of a type that there can be only where the type's module is imported?"""
    name = f"germane.readers.{module}"

    def recognises(given: object) -> bool:
        loaded = sys.modules.get(name)
        return loaded is not None and isinstance(given, getattr(loaded, kind))

    return recognises


def _is_frame(given: object) -> bool:
    """Anything that hands out Arrow columns, or is a data set of the library of that name."""
    if hasattr(given, "__arrow_c_stream__"):
        return not isinstance(given, type)
    return host.is_dataset(given)


has_columns = _is("frames", "Frame")  # a frame or a file that ``opened`` has opened
_is_run = _is("trec_files", "Run")
_is_grouped = _is("arrays", "Grouped")
_is_spelled = _is("spelling", "Spelled")


def is_rows(given: object) -> bool:
    """Lists, sets or mappings of items in a list, one a query; tuples are taken for records."""
    if not isinstance(given, (list, tuple)) or not given:
        return False
    first = given[0]
    return isinstance(first, (list, Set, Mapping)) or (
        host.is_array(first) and len(first.shape) == 1
    )


def _rows(
    qrels: Qrels, given: Any, duplicates: str, order: Order, progress: Progress | None
) -> Retrieved:
    return mappings.retrieve_lists(qrels, dict(enumerate(given)), duplicates, order)


SOURCES: tuple[Source, ...] = (
    Source("scores", mappings.is_scores, mappings.retrieve_scores),
    Source("lists", mappings.is_mapping, mappings.retrieve_lists, ties="given"),
    Source("file", is_path, _retrieve("trec_files")),
    Source("read", _is_run, _retrieve("trec_files", "retrieve_read")),
    Source("columns", has_columns, _retrieve("frames"), ties=None),
    Source("rows of lists", is_rows, _rows, ties="given"),
    Source("groups", _is_grouped, _retrieve("arrays", "retrieve_grouped"), "given", "places"),
    Source(
        "embeddings", _is("embeddings", "Embeddings"), _retrieve("embeddings"), "given", "places"
    ),
    Source("top-k ids", host.is_whole, _retrieve("topk"), "given", "places"),
    Source("array of scores", host.is_array, _retrieve("arrays"), "given", "places"),
)


def opened(
    qrels: Any,
    run: Any,
    columns: Mapping[str, Any] | None = None,
    input_format: InputFormat = None,
    group: Any = None,
    max_expansion: object = None,
    max_line: object = None,
) -> tuple[Any, Any]:
    """Frames and files of columns with their columns found, flat arrays grouped; others as they are.

    Raises InputError for columns that are missing or ambiguous, or where there are none to name, and
    for whole numbers that may be ids or scores; FormatError for arrays that do not fit each other.
    """
    if max_expansion is not None or max_line is not None:
        qrels, run = (
            limit_path(one, max_expansion, max_line) if is_path(one) else one
            for one in (qrels, run)
        )
    _refuse_nested(qrels, run)
    plain = columns is None and input_format is None and group is None
    if plain and mappings.is_mapping(qrels):
        return qrels, run if mappings.is_mapping(run) else _opened(run, "run", None, None)
    if group is not None:
        if columns is not None or input_format is not None:
            raise InputError("group= is for flat arrays, which have neither columns nor a format.")
        grouped: tuple[Any, Any] = _module("arrays").grouped(qrels, run, group)
        return grouped
    formats.check(input_format)
    headings.check(columns)
    judged = _opened(qrels, "qrels", columns, input_format)
    if _has_no_ids(run, judged, input_format):
        return judged, _module("letor").aligned(judged, run)
    run = spelled(judged, run)
    got = judged, _opened(run, "run", columns, input_format)
    if columns is not None and run is not None and not any(map(_had_columns, got)):
        raise InputError("columns= names the columns of frames and of files; there are none here.")
    refuse_ambiguous(*got)
    return got


def _had_columns(given: Any) -> bool:
    return has_columns(given) or (isinstance(given, Qrels) and given.columns is not None)


def spelled(qrels: Any, run: Any) -> Any:
    """A run of Python ids as it is compared with the qrels: these may be a file of text."""
    if not is_path(qrels) and getattr(qrels, "ids", "typed") != "text":
        return run
    if is_rows(run):
        run = dict(enumerate(run))
    if not mappings.is_mapping(run) or _is_spelled(run):
        return run
    return _module("spelling").Spelled(run)


def _opened(
    given: Any, kind: str, columns: Mapping[str, Any] | None, input_format: InputFormat
) -> Any:
    if _is_frame(given):
        return _module("frames").opened(given, kind, columns)
    if is_path(given):
        chosen = formats.format_of(given, kind, input_format)
        if chosen == "letor":
            return _module("letor").opened(given, kind, columns)
        if chosen != "trec":
            return _module("column_files").opened(given, kind, chosen, columns)
    return given


def _has_no_ids(run: Any, qrels: Any, input_format: InputFormat) -> bool:
    """Are these scores whose items are known by the lines of the qrels alone?"""
    if is_path(run):
        return formats.asked("run", input_format) == "scores"
    lines = getattr(qrels, "lines", None)
    if lines is None or not host.is_array(run):
        return False
    flat = len(run.shape) == 1 or run.shape[1:] == (1,)  # the latter is told to be flat
    return flat or lines.items == "places"


def refuse_ambiguous(qrels: Any, run: Any) -> None:
    """Refuse rows that do not match, and whole numbers that may be ids or scores.

    Raises InputError that asks which.
    """
    _refuse_nested(qrels, run)
    if is_rows(qrels) and (is_rows(run) or (host.is_array(run) and len(run.shape) == 2)):
        _check_rows(qrels, run)
    _refuse_grades(qrels, run)
    if host.is_whole(run) and host.is_array(qrels) and tuple(run.shape) == tuple(qrels.shape):
        raise InputError(
            f"the run is an array of whole numbers of the same shape as the qrels, {tuple(run.shape)}:"
            " ids or scores? Give scores as floating point, scores.astype(float); for ids, give the "
            "qrels as sets or as a CSR matrix."
        )


def _refuse_nested(qrels: Any, run: Any) -> None:
    host.refuse_nested(qrels, "qrels")
    host.refuse_nested(run, "run")


def _refuse_grades(qrels: Any, run: Any) -> None:
    """Refuse lists of 0 and 1, one for each column of a run: as ids they would be all of two, or repeated."""
    shape = tuple(getattr(run, "shape", ()))
    if len(shape) != 2 or shape[1] < 2 or host.is_whole(run) or not isinstance(qrels, list):
        return
    rows = all(isinstance(row, list) and len(row) == shape[1] for row in qrels)
    numbers = (one for row in qrels for one in row)
    if rows and all(type(one) in (int, bool, float) and one in (0, 1) for one in numbers):
        raise InputError(
            f"the qrels are lists of {shape[1]} numbers 0 or 1, as many as the run has columns: grades or "
            "ids? Lists hold ids. Give grades as an array, numpy.array(…); give ids as sets."
        )


def _check_rows(qrels: Any, run: Any) -> None:
    """Lists of both sides are matched by their place, and hold ids."""
    if len(qrels) != len(run):
        raise InputError(
            f"the numbers of rows differ: the qrels have {len(qrels)}, the run has {len(run)}. Rows are "
            "matched by their place, so both have the same number; {query: …} matches them by their ids."
        )
    if not host.is_array(run):
        first = run[0].tolist() if hasattr(run[0], "tolist") else run[0]
        if not isinstance(first, Mapping) and any(map(_is_float, first)):
            raise InputError(
                f"a list of ranked lists holds ids, best first; got {clip(first)}. Scores and grades "
                "are arrays: numpy.array(…)."
            )


def _is_float(item: object) -> bool:
    return isinstance(item, float) and item == item  # NaN is an id that is missing


def source_of(run: object) -> Source:
    """The first source that recognises a run. Raises InputError for what none does."""
    for source in SOURCES:
        if source.recognises(run):
            return source
    if _is_empty(run):
        raise EmptyError("the run is empty: it has no queries.")
    raise InputError(
        "a run is the path of a file, a frame, {query: {item: score}}, {query: [item, …]}, a list of "
        "ranked lists, an array of scores (Q, N), an array of the ids of the best k (Q, K), or what "
        f"read_run returns; got {clip(run)}{_advice(run)}"
    )


def _is_nothing(judged: object) -> bool:
    """Does a row judge nothing? An empty dict is one of grades."""
    return isinstance(judged, Mapping) and not judged


def _is_empty(given: object) -> bool:
    return isinstance(given, (list, tuple)) and not given


def _advice(given: object) -> str:
    """What to do with what is nearly right."""
    if hasattr(given, "collect"):
        return "  collect() makes a frame of it."
    if host.is_sparse(given):
        return "  toarray() makes scores of it; cells that are not stored are 0 then."
    first = given[0] if isinstance(given, (list, tuple)) else None
    if host.is_array(first):
        return "  One array is needed: of the distances and ids that a search of FAISS returns, the ids."
    if isinstance(first, tuple):
        return "  Ranked lists are lists; tuples look like rows of a frame, as pandas.DataFrame(rows) is."
    if isinstance(first, (int, float)):
        return "  Flat lists of grades and scores need group=…"
    return ""


def is_searched(run: object) -> bool:
    """Have all rows of a run to be looked at to find those of a query?"""
    return is_path(run) or has_columns(run) or _is_frame(run)


def only(
    judgments: Qrels, run: Any, duplicates: str, progress: Progress | None = None
) -> tuple[Any, list[Hashable], list[Any]]:
    """The run of the one query that is judged, its items in the order given, and their scores.

    There are no scores where the order given is that of the ranks. The run is None where it does not
    have the query.
    """
    query = judgments.queries[0]
    if has_columns(run):
        from germane.readers import frames

        return frames.only(judgments, run)
    if is_path(run):
        run = _module("trec_files").read_query(run, to_text(to_bytes(query)), duplicates, progress)
    run = spelled(judgments, run)
    if is_rows(run):
        run = dict(enumerate(run))
    if mappings.is_mapping(run):
        got = run.get(query)
        if not isinstance(got, Mapping):
            return run if query in run else None, [] if got is None else list(got), []
        return {query: got}, list(got), list(got.values())
    if _is_run(run):
        run = run.only(to_text(to_bytes(query)))
        ids: list[Hashable] = list(run.rows.items)
        return run if len(run) else None, ids, run.rows.score.tolist()
    if judgments.ids == "text":
        query = as_integer(query)
    items, scores = _module("arrays").listed(run, query) if has_places(run) else ([], [])
    return run, items, scores


def prepared(qrels: Qrels, run: Any) -> Qrels:
    """The judgments as runs of this kind look them up, once for many of them."""
    return _module("judged_frames").prepared(qrels) if has_columns(run) else qrels


def joined_qrels(parts: Sequence[Qrels]) -> Qrels:
    """The judgments of several frames that have no query in common."""
    qrels: Qrels = _module("judged_frames").joined(parts)
    return qrels


def judged_in(qrels: Qrels, run: Any) -> Ints | None:
    """The places of the judged queries that a run has, ascending; None where only reading it tells."""
    if mappings.is_mapping(run):
        found = (qrels.position.get(query) for query in run)
        return np.array(sorted(q for q in found if q is not None), np.int64)
    if _is_run(run):
        places = {to_text(to_bytes(query)): q for q, query in enumerate(qrels.queries)}
        return np.unique([places[query] for query in run.rows.queries if query in places]).astype(
            int
        )
    return _module("frames").judged_in(qrels, run) if has_columns(run) else None


def accept_comments(qrels: Qrels, run: Any) -> Qrels:
    """The judgments with those of lines that begin with ``#`` where the run has their query."""
    if qrels.maybe_data is None:
        return qrels
    queries: Any = ()
    if is_path(run):
        if run == "-":  # which is read once
            return qrels
        queries = _module("trec_files").find_queries(run, qrels.maybe_data.queries)
    elif mappings.is_mapping(run):
        queries = {to_text(to_bytes(query)) for query in run}
    elif _is_run(run):
        queries = set(run.rows.queries)
    elif has_columns(run):
        queries = _module("frames").find_queries(run)
    accepted: Qrels = _module("trec_files").accept_comments(qrels, queries)
    return accepted


def batches(run: Any, start: int, progress: Progress | None) -> Iterator[tuple[int, Any]]:
    """A file's rows from a place on in runs of whole queries, and the place at which each ends."""
    if has_columns(run):
        return _module("frames").batches(run.reported(progress), start)  # type: ignore[no-any-return]
    return _module("trec_files").batches(run, start, progress)  # type: ignore[no-any-return]


def loaded(run: Any, progress: Progress | None = None) -> Any:
    """A run that is read more than once: a file of lines is read into memory, others are as they are."""
    if not is_path(run):
        return run
    return _module("trec_files").read_run(run, progress)


def has_places(run: Any) -> bool:
    """Are the items of a run known by their place alone, so that they have no ids to compare?"""
    return source_of(run).ids == "places" or getattr(run, "items", "ids") == "places"


def read_qrels(
    given: Any,
    duplicates: str = "error",
    progress: Progress | None = None,
    complete: str = "what is asked for",
) -> Qrels:
    """Judgments from a path, a frame, a mapping, an array or labels, or Qrels as they are.

    ``complete`` names what looks at items judged not relevant; where nothing does, "", arrays and
    labels, which judge every item, keep the relevant ones alone.
    """
    if isinstance(given, Qrels):
        return given
    if is_rows(given):
        given = {q: [] if _is_nothing(row) else row for q, row in enumerate(given)}
    if mappings.is_mapping(given):
        return mappings.read_qrels(given, duplicates)
    if has_columns(given):
        read: Any = _module("judged_frames").read_qrels(given, duplicates)
    elif is_path(given):
        read = _module("trec_files").read_qrels(given, duplicates, progress)
    elif isinstance(given, Labels):
        read = given.qrels(complete)
    elif _is_grouped(given):
        read = _module("arrays").read_grouped(given, complete)
    elif host.is_sparse(given):
        read = _module("relevance").read_csr(given)
    elif host.is_array(given):
        read = _module("relevance").read_dense(given, complete)
    else:
        if _is_empty(given):
            raise EmptyError("the qrels are empty: there are no judgments.")
        raise InputError(
            "qrels are the path of a file, a frame, {query: {item: grade}}, {query: relevant items}, "
            "a list of either, an array of grades (Q, N), a CSR matrix, germane.Labels, or what "
            f"read_qrels returns; got {clip(given)}{_advice(given)}"
        )
    qrels: Qrels = read
    return qrels


def where(run: object) -> str:
    """What errors call a run: the path of a file."""
    if is_path(run):
        return "standard input" if run == "-" else os.fsdecode(run)  # type: ignore[arg-type]
    return run.where if has_columns(run) and run.where != "run" else "the run"  # type: ignore[attr-defined]


def run_name(run: object) -> str:
    """What to call a run that was given no name."""
    if is_path(run):
        return name_of(run)  # type: ignore[arg-type]
    name = getattr(run, "name", None)
    return name if isinstance(name, str) else "run"
