"""Reads the whole lists of a run, judged or not, for the measures of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.progress import Progress
from germane.errors import EmptyError, FormatError, InputError, show_typed
from germane.kernel.columns import read_python_ids
from germane.kernel.reduction import Scattered, find_distinct
from germane.kernel.threads import map_in_threads
from germane.readers.arrays import ArrayRun
from germane.readers.flat_arrays import FlatArray
from germane.readers.frames import Frame
from germane.readers.inputs import RunInput
from germane.readers.mappings import (
    MappedRun,
    RankedLists,
    ScoredMapping,
    check_named,
    check_scores,
    list_ranked,
)
from germane.readers.rows import STEP, Rows, cut_pieces, join_rows, read_piece
from germane.readers.trec_files import Run, TrecFile

SEVERAL = 1 << 14  # lists of a mapping that are read at once


def read_lists(run: RunInput, progress: Progress | None = None) -> Iterator[Rows]:
    """Read the rows of a run in parts of whole queries, as long as the rows of each query stand together.

    Raises InputError for a kind of run whose lists cannot be read.
    """
    match run:
        case Frame():
            frame = run.report_to(progress)
            yield from map_in_threads(lambda piece: read_piece(frame, piece), cut_pieces(frame))
        case TrecFile():
            if run.path == "-":
                raise InputError(
                    "standard input is read once, and measures of the catalogue read the run a second time; "
                    "give a file."
                )
            for _, part in run.read_batches(0, progress):
                assert isinstance(part, Run)
                yield from part.rows.split()
        case Run():
            yield from run.rows.split()
        case ScoredMapping() | RankedLists():
            yield from _read_mapping(run)
        case FlatArray():
            raise InputError(
                "measures of the catalogue do not read flat arrays with group=, whose items have no ids; give "
                "a frame, a file, a dict, or an array of the ids of each query's best items."
            )
        case ArrayRun():
            yield from run.read_rows(progress=progress)


def gather_lists(run: RunInput, progress: Progress | None = None) -> Iterator[Rows]:
    """Read all rows of a run whose queries are scattered, sorted by query."""
    rows = join_rows(list(read_lists(run, progress)))
    if not len(rows.items):
        raise EmptyError("the run is empty: it has no results.")
    queries = read_python_ids(rows.queries)
    first, place = find_distinct(queries)
    owner = np.repeat(place, ragged.find_lengths(rows.offsets))
    order = ragged.order_stably(owner)
    score, rank = (None if one is None else one[order] for one in (rows.score, rows.rank))
    offsets = ragged.make_offsets(np.bincount(owner, minlength=len(first)))
    whole = Rows(queries.take(first), offsets, rows.items.take(order), score, rank)
    yield from whole.split() if len(rows.items) > STEP else [whole]


def refuse_scattered(queries: int, distinct: int) -> None:
    """Raise Scattered where a query comes a second time."""
    if distinct < queries:
        raise Scattered


def _read_mapping(run: MappedRun) -> Iterator[Rows]:
    given = list(run.mapping.items())
    for start in range(0, len(given), SEVERAL):
        items: list[Any] = []
        scores: list[Any] = []
        sizes = []
        for query, got in given[start : start + SEVERAL]:
            where = f"{run.where}, query {query!r}"
            if isinstance(run, ScoredMapping):
                if not isinstance(got, Mapping):
                    raise FormatError(
                        f"{where}: results are {{item: score}}; got {show_typed(got)}"
                    )
                scores.append(check_scores(run.where, query, got))
            else:
                got = list_ranked(run.where, query, got)
            check_named(where, got)
            items += got
            sizes.append(len(got))
        queries = read_python_ids([query for query, _ in given[start : start + SEVERAL]])
        score = np.concatenate(scores) if scores else None
        yield Rows(queries, ragged.make_offsets(sizes), read_python_ids(items), score)
