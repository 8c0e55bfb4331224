"""Fingerprints: short texts that are the same for the same judgments, or for the same run.

They are of the content: queries, items, and grades or scores, in whatever form and order they were read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.errors import EmptyError, InputError
from germane.kernel.columns import Ids, read_python_ids
from germane.kernel.content import Content, add_all, hash_rows
from germane.readers import RunInput, is_path

SHOWN = 16
"""Digits of a fingerprint in a signature: 64 of its 128 bits."""


def hash_qrels(qrels: Qrels) -> Content:
    """Hash judgments as they were written: queries, items and grades, and those of subtopics.

    Of an array, only the items of grades above 0 count: the others are read only if a measure needs them.
    """
    qrels = qrels.written or qrels
    items, grades, offsets = read_python_ids(qrels.items), qrels.grades, qrels.offsets
    if qrels.width is not None or qrels.is_array:
        kept = np.flatnonzero(grades > 0)
        items, grades, offsets = items.take(kept), grades[kept], np.searchsorted(kept, offsets)
    content = hash_rows(qrels.queries, offsets, items, grades)
    return content if qrels.subtopics is None else content + _hash_subtopics(qrels)


def _hash_subtopics(qrels: Qrels) -> Content:
    """Hash the grade of every item for every subtopic, and the weights of subtopics."""
    judged: Any = qrels.subtopics
    names = read_python_ids(judged.names).take(judged.code)
    judgment = ragged.find_owners(judged.starts)
    items = read_python_ids(qrels.items).take(judgment)
    offsets = judged.starts[qrels.offsets]
    content = hash_rows(qrels.queries, offsets, items, judged.grades, subtopics=names)
    if judged.weights is None:
        return content
    key = ragged.find_owners(qrels.offsets)[judgment] * (len(judged.names) + 1) + judged.code
    once = np.unique(key, return_index=True)[1]  # each subtopic of a query has one weight
    owner = key[once] // (len(judged.names) + 1)
    ends = np.searchsorted(owner, np.arange(len(qrels.queries) + 1))
    weights = judged.weights[once]
    return content + hash_rows(qrels.queries, ends, names.take(once), weights, ranked=True)


def hash_run(run: RunInput) -> Content:
    """Hash a run: queries, items and scores, or the ranks of lists without scores.

    Raises InputError for a run that cannot be read a second time.
    """
    if run.hasher is not None and run.hasher.content is not None:
        return run.hasher.content
    return add_all(_hash_parts(run))


def _hash_parts(run: RunInput) -> Iterator[Content]:
    from germane.readers.ranked_rows import gather_rows  # which few evaluations need
    from germane.readers.rows import Rows

    ranked: list[Rows] = []
    for rows in run.read_rows():
        if rows.score is None:
            ranked.append(rows)
        elif len(rows.items):
            yield hash_rows(rows.queries, rows.offsets, rows.items, rows.score)
    if ranked and any(len(rows.items) for rows in ranked):
        whole = ranked[0] if len(ranked) == 1 and ranked[0].rank is None else gather_rows(ranked)
        yield _hash_ranked(whole.queries, whole.offsets, whole.items, whole.rank)


def _hash_ranked(queries: Any, offsets: Any, items: Ids, rank: Any) -> Content:
    """Hash lists without scores: the place of each item is its number."""
    owner = ragged.find_owners(offsets)
    place = np.arange(len(items))
    if rank is not None:
        place = np.empty(len(items), np.int64)
        place[np.lexsort((rank, owner))] = np.arange(len(items))
    return hash_rows(queries, offsets, items, place - offsets[owner] + 1.0, ranked=True)


class RunFingerprint:
    """The fingerprint of a run, which is read for it when it is first asked for.

    It is None for a run that can be read once, such as standard input, and for a file that has changed.
    """

    def __init__(self, run: RunInput, given: Any = None) -> None:
        self._run: RunInput | None = run
        self._path = given if is_path(given) else None
        self._state = _find_state(self._path)

    def __call__(self) -> str | None:
        return self._found

    @cached_property
    def _found(self) -> str | None:
        run, self._run = self._run, None  # which is not needed any more
        is_kept = run is not None and run.hasher is not None and run.hasher.content is not None
        if run is None or not (is_kept or self._is_unchanged()):
            return None
        try:
            return str(hash_run(run))
        except EmptyError:
            return str(Content())
        except InputError:
            return None

    def read_metadata(self) -> str | None:
        """Read what the header of a run file says about the run; None where it says nothing."""
        if self._path is None or not self._is_unchanged():
            return None
        from germane.readers.metadata import read_metadata  # which few evaluations need

        return read_metadata(os.fspath(self._path))

    def _is_unchanged(self) -> bool:
        """Can the run be read again, as it was? A file that changed cannot, nor can a pipe, which would wait forever."""
        if self._path is None:
            return True
        return self._state is not None and _find_state(self._path) == self._state

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the run, which may be large."""
        return {**vars(self), "_run": None}


class KeptFingerprint:
    """The fingerprint of a run, and its metadata, as a file of results holds them."""

    def __init__(self, fingerprint: str | None, metadata: str | None = None) -> None:
        self._fingerprint, self._metadata = fingerprint, metadata

    def __call__(self) -> str | None:
        return self._fingerprint

    def read_metadata(self) -> str | None:
        """Return the metadata of the run."""
        return self._metadata


def _find_state(path: Any) -> tuple[int, int] | None:
    """Find the size and the time of a file or a folder, to detect a change; None for what is read once."""
    if (
        path is None
        or not os.path.exists(path)
        or not (os.path.isfile(path) or os.path.isdir(path))
    ):
        return None
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def make_fingerprint(qrels: Qrels) -> str:
    """Make the fingerprint of judgments."""
    return str(hash_qrels(qrels))
