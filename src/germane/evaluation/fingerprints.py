"""Fingerprints: of judgments, runs and options; and how the judgments of evaluators differ."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.errors import EmptyError, InputError, clip, list_some
from germane.kernel.content import Content, hash_rows
from germane.kernel.ids import Ids, read_python_ids
from germane.readers import NOTHING_SAID, ReadOptions, RunInput, is_path

if TYPE_CHECKING:
    pass
from germane.evaluation.signature_line import Signature


def hash_qrels(qrels: Qrels) -> Content:
    """Hash judgments as they were written: queries, items and grades, and those of subtopics.

    Of an array, only the items of grades above 0 count: the others are read only if a measure needs
    them.
    """
    qrels = qrels.written or qrels
    items, grades, offsets = read_python_ids(qrels.items), qrels.grades, qrels.offsets
    if qrels.source.width is not None or qrels.source.is_array:
        places = np.flatnonzero(grades > 0)
        items, grades, offsets = (
            items.take(places),
            grades[places],
            np.searchsorted(places, offsets),
        )
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


def hash_run(run: RunInput, qrels: Qrels) -> Content:
    """Hash a run: queries, items and scores, or the ranks of lists without scores.

    The judgments decide which lines that begin with ``#`` are data.

    Raises InputError for a run that cannot be read a second time.
    """
    if run.hasher is not None and run.hasher.content is not None:
        return run.hasher.content
    return sum(_hash_parts(run, qrels), Content())


def _hash_parts(run: RunInput, qrels: Qrels) -> Iterator[Content]:
    from germane.readers.rows import (
        Rows,
        gather_rows,  # which few evaluations need
    )

    ranked: list[Rows] = []
    for rows in run.read_content(qrels):
        if rows.score is None:
            ranked.append(rows)
        elif len(rows.items):
            yield hash_rows(rows.queries, rows.offsets, rows.items, rows.score)
    if ranked and any(len(rows.items) for rows in ranked):
        single = ranked[0] if len(ranked) == 1 and ranked[0].rank is None else gather_rows(ranked)
        yield _hash_ranked(single.queries, single.offsets, single.items, single.rank)


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

    It is None for a run that can be read once, such as standard input, and for a file that has
    changed.
    """

    def __init__(self, run: RunInput, raw: Any, qrels: Qrels) -> None:
        self._run: RunInput | None = run
        self._qrels: Qrels | None = qrels
        self._path = raw if is_path(raw) else None
        self._state = _find_state(self._path)

    def __call__(self) -> str | None:
        return self._found

    @cached_property
    def _found(self) -> str | None:
        run, self._run = self._run, None  # which is not needed any more
        qrels, self._qrels = self._qrels, None
        is_kept = run is not None and run.hasher is not None and run.hasher.content is not None
        if run is None or qrels is None or not (is_kept or self._is_unchanged()):
            return None
        try:
            return str(hash_run(run, qrels))
        except EmptyError:
            return str(Content())
        except InputError:
            return None

    def read_metadata(self) -> str | None:
        """Read what the header of a run file says about the run; None where it says nothing."""
        if self._path is None or not self._is_unchanged():
            return None
        from germane.readers.files.line_blocks import read_metadata  # which few evaluations need

        return read_metadata(os.fspath(self._path))

    def _is_unchanged(self) -> bool:
        """Can the run be read again? A file that changed cannot, nor a pipe, which would wait."""
        if self._path is None:
            return True
        return self._state is not None and _find_state(self._path) == self._state

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the data, which may be large."""
        return {**vars(self), "_run": None, "_qrels": None}


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
    """Find the size and time of a file or a folder; None for what is read once."""
    if path is None or not (os.path.isfile(path) or os.path.isdir(path)):
        return None
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def make_fingerprint(qrels: Qrels) -> str:
    """Make the fingerprint of judgments."""
    return str(hash_qrels(qrels))


# --- Options ----------------------------------------------------------------------------------


def fingerprint_options(
    qrels: Qrels, reading: ReadOptions
) -> Callable[[], Mapping[str, str | None]]:
    """Make what makes the fingerprints of options; ``dict`` where none was given."""
    if reading is NOTHING_SAID and qrels.candidates is None:
        return dict
    return OptionFingerprints(qrels, reading)


class OptionFingerprints:
    """The fingerprints of the options that were given and are data, made when they are asked for.

    One that cannot be hashed, such as a function, is None.
    """

    def __init__(self, qrels: Qrels, reading: ReadOptions) -> None:
        self._candidates, self._reading = qrels.candidates, reading

    def __call__(self) -> dict[str, str | None]:
        return self._found

    @cached_property
    def _found(self) -> dict[str, str | None]:
        reading = self._reading
        pairs = () if self._candidates is None else self._candidates.arguments
        contents: dict[str, Content | None] = {name: _hash_pairs(one) for name, one in pairs}
        if reading.collapse is not None:
            contents["collapse"] = _hash_groups(reading.collapse)
        if reading.catalogue is not None:
            contents |= _hash_catalogue(reading.catalogue)
        return {
            name: None if content is None else str(content) for name, content in contents.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        """Keep the fingerprints alone: groups may be a function, which cannot be pickled."""
        return {"_found": self._found}


def _hash_pairs(pairs: Qrels) -> Content:
    """Hash pairs of query and item, whose grades mean nothing."""
    items = read_python_ids(pairs.items)
    return hash_rows(pairs.queries, pairs.offsets, items, np.ones(len(items)))


def _hash_groups(raw: Any) -> Content | None:
    """Hash the group of each item; None for a function."""
    columns = raw.list_columns()
    return None if columns is None else _hash_list(columns[0], subtopics=columns[1])


def _hash_catalogue(raw: Any) -> dict[str, Content | None]:
    """Hash what measures of the catalogue need: items, what users saw, and distances."""
    contents: dict[str, Content | None] = {}
    if raw.items is not None:
        contents["catalogue"] = _hash_list(raw.items)
    elif raw.size is not None:
        contents["catalogue"] = _hash_list(read_python_ids([raw.size]))
    if raw.seen is not None:
        contents["seen"] = _hash_pairs(raw.seen)
        if raw.of_seen:
            contents["catalogue"] = contents["seen"]
    if raw.distance is not None:
        contents["distance"] = _hash_vectors(raw.distance)
    return contents


def _hash_vectors(raw: Any) -> Content | None:
    """Hash the vectors of items, a row for each number; None for a function of two items."""
    if raw.ids is None:
        return None
    count, width = raw.unit.shape
    items = raw.ids.take(np.repeat(np.arange(count), width))
    return _hash_list(items, raw.unit.ravel(), read_python_ids([*range(width)] * count))


def _hash_list(items: Ids, numbers: Any = None, subtopics: Ids | None = None) -> Content:
    """Hash items of no query."""
    numbers = np.ones(len(items)) if numbers is None else numbers
    return hash_rows([""], np.array([0, len(items)]), items, numbers, subtopics=subtopics)


# --- Finds how the judgments of two evaluators differ ---------------------------------------------


def check_same(qrels: Qrels, other: Qrels) -> None:
    """Raise InputError for judgments that differ."""
    if qrels is other:
        return
    if qrels.queries != other.queries:
        only = set(qrels.queries) ^ set(other.queries)
        if only:
            raise _explain(
                qrels, other, f"judged in only one of them: {list_some(sorted(only, key=str))}"
            )
        raise InputError(
            "the qrels of the evaluators have their queries in different orders. Make the"
            " evaluators from the same qrels."
        )
    same = np.array_equal(qrels.offsets, other.offsets) and list(qrels.items) == list(other.items)
    if not same or not np.array_equal(qrels.grades, other.grades):
        differ = (
            q for q in qrels.queries if _list_judgments(qrels, q) != _list_judgments(other, q)
        )
        raise _explain(qrels, other, f"judged differently: {list_some(list(differ))}")
    if _list_subtopics(qrels) != _list_subtopics(other):
        raise _explain(qrels, other, "their subtopics differ")
    if _list_weights(qrels) != _list_weights(other):
        raise _explain(qrels, other, "the weights of their subtopics differ")


def _explain(qrels: Qrels, other: Qrels, how: str) -> InputError:
    """Make the error for judgments that differ, with their names and fingerprints."""
    names = " and ".join(
        f"{clip(judgments.name)} ({Signature.shorten(make_fingerprint(judgments))})"
        for judgments in (qrels, other)
    )
    return InputError(f"the evaluators have different qrels, {names}; {how}.")


def _list_subtopics(qrels: Qrels) -> list[Any]:
    return [] if qrels.subtopics is None else qrels.subtopics.entries


def _list_weights(qrels: Qrels) -> list[float] | None:
    weights = None if qrels.subtopics is None else qrels.subtopics.weights
    return None if weights is None else weights.tolist()


def _list_judgments(qrels: Qrels, query: Hashable) -> tuple[list[Hashable], list[float]]:
    only = qrels.only(query)
    return list(only.items), only.grades.tolist()
