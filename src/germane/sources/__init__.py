"""Everything that comes in: one literal table of doors, tried in order."""

import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from germane.errors import InputError, clip
from germane.retrieval import Qrels, Retrieved
from germane.sources import formats, headings, mappings
from germane.sources.ids import to_bytes, to_text
from germane.sources.paths import Progress, check_path, is_path, name_of

__all__ = [
    "SOURCES",
    "Progress",
    "Source",
    "check_path",
    "has_columns",
    "name_of",
    "only",
    "opened",
    "read_qrels",
    "run_name",
    "source_of",
    "ties_of",
]


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A kind of run: how it is recognised, how it is read, and its own order of tied items."""

    name: str
    recognises: Callable[[object], bool]
    retrieve: Callable[[Qrels, Any, str, str, Progress | None], Retrieved]
    ties: str | None = "trec"  # None: the run says


# Files and frames need pyarrow, which takes as long to import as NumPy: only when there is one.


def _file(
    qrels: Qrels, given: Any, duplicates: str, order: str, progress: Progress | None
) -> Retrieved:
    from germane.sources import trec_files

    return trec_files.retrieve(qrels, given, duplicates, order, progress)


def _is_run(given: object) -> bool:
    columns = sys.modules.get("germane.sources.columns")
    return columns is not None and isinstance(given, columns.Run)


def _run(
    qrels: Qrels, given: Any, duplicates: str, order: str, progress: Progress | None
) -> Retrieved:
    from germane.sources import columns

    return columns.retrieve(qrels, given, duplicates, order)


def _is_frame(given: object) -> bool:
    """Anything that hands out Arrow columns, or is a data set of the library of that name."""
    if hasattr(given, "__arrow_c_stream__"):
        return not isinstance(given, type)
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(given, datasets.Dataset)


def has_columns(given: object) -> bool:
    """Is it a frame or a file that ``opened`` has opened?"""
    frames = sys.modules.get("germane.sources.frames")
    return frames is not None and isinstance(given, frames.Frame)


def _frame(
    qrels: Qrels, given: Any, duplicates: str, order: str, progress: Progress | None
) -> Retrieved:
    from germane.sources import frames

    return frames.retrieve(qrels, given, duplicates, order, progress)


SOURCES: tuple[Source, ...] = (
    Source("scores", mappings.is_scores, mappings.retrieve_scores),
    Source("lists", mappings.is_mapping, mappings.retrieve_lists, ties="given"),
    Source("file", is_path, _file),
    Source("read", _is_run, _run),
    Source("columns", has_columns, _frame, ties=None),
)


def opened(
    qrels: Any,
    run: Any,
    columns: Mapping[str, Any] | None = None,
    input_format: str | None = None,
) -> tuple[Any, Any]:
    """Frames and files of columns with their columns found; other qrels and runs as they are.

    Raises InputError for columns that are missing or ambiguous, or where there are none to name.
    """
    if columns is None and input_format is None and mappings.is_mapping(qrels):
        return qrels, run if mappings.is_mapping(run) else _opened(run, "run", None, None)
    formats.check(input_format)
    headings.check(columns)
    got = (
        _opened(qrels, "qrels", columns, input_format),
        _opened(run, "run", columns, input_format),
    )
    if columns is not None and not any(map(has_columns, got)) and not isinstance(qrels, Qrels):
        raise InputError("columns= names the columns of frames and of files; there are none here.")
    return got


def _opened(
    given: Any, kind: str, columns: Mapping[str, Any] | None, input_format: str | None
) -> Any:
    if _is_frame(given):
        from germane.sources import frames

        return frames.opened(given, kind, columns)
    if is_path(given):
        chosen = formats.format_of(given, kind, input_format)
        if chosen != "trec":
            from germane.sources import column_files

            return column_files.opened(given, kind, chosen, columns)
    return given


def source_of(run: object) -> Source:
    """The first source that recognises a run. Raises InputError for what none does."""
    for source in SOURCES:
        if source.recognises(run):
            return source
    raise InputError(
        "a run is the path of a file, a frame, {query: {item: score}}, {query: [item, …]} or what "
        f"read_run returns; got {clip(run)}"
    )


def only(
    run: Any, query: Hashable, duplicates: str, progress: Progress | None = None
) -> tuple[Any, list[Hashable], list[Any]]:
    """A run of one query, its items in the order given, and their scores: none in ranked lists.

    The run is None where it does not have the query.
    """
    if is_path(run):
        from germane.sources import trec_files

        run = trec_files.read_query(run, to_bytes(query), duplicates, progress)
    if mappings.is_mapping(run):
        got = run.get(query)
        if not isinstance(got, Mapping):
            return run if query in run else None, [] if got is None else list(got), []
        return {query: got}, list(got), list(got.values())
    if _is_run(run):
        run = run.only(to_bytes(query))
        items: list[Hashable] = [to_text(item) for item in run.rows.item.tolist()]
        return run if len(run) else None, items, run.rows.score.tolist()
    return run, [], []


def ties_of(run: Any) -> str:
    """The order of ties of a run for which none is asked."""
    return source_of(run).ties or run.ties


def read_qrels(given: Any, duplicates: str = "error", progress: Progress | None = None) -> Qrels:
    """Judgments from a path, a frame, a mapping, or Qrels as they are."""
    if isinstance(given, Qrels):
        return given
    if mappings.is_mapping(given):
        return mappings.read_qrels(given, duplicates)
    if has_columns(given):
        from germane.sources import frames

        return frames.read_qrels(given, duplicates)
    if is_path(given):
        from germane.sources import trec_files

        return trec_files.read_qrels(given, duplicates, progress)
    raise InputError(
        "qrels are the path of a file, a frame, {query: {item: grade}}, {query: relevant items} or "
        f"what read_qrels returns; got {clip(given)}"
    )


def run_name(run: object) -> str:
    """What to call a run that was given no name."""
    if is_path(run):
        return name_of(run)  # type: ignore[arg-type]
    return getattr(run, "name", "run")
