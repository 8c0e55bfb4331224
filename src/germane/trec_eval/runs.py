"""Runs as trec_eval reads them: by germane's reader, and if that refuses, row by row."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from germane.core.qrels import Qrels
from germane.core.retrieved import BY_ID, Retrieved
from germane.errors import DuplicateError, FormatError, InputError
from germane.kernel.ids import show_id, to_text
from germane.readers.files import trec, trec_files
from germane.readers.files.streams import find_compression
from germane.trec_eval import text
from germane.trec_eval.options import INPUT, Options, TrecEvalError
from germane.trec_eval.text import compare_rows, merge_sort, parse_real

Note: TypeAlias = Callable[[str], None]
"""Called with a sentence on what is odd in the run, but no error in trec_eval."""

_Row: TypeAlias = tuple[bytes, bytes, float]  # query, item, score
_FIELDS = "query Q0 item rank score tag"
_END = 1 << 16  # bytes in which the last line is looked for first


@contextmanager
def open_copy(name: str) -> Iterator[str]:
    """Open a run so that it can be read twice: standard input and pipes are copied to a file.

    As in trec_eval, every name that begins with - is standard input.
    """
    if not name.startswith("-") and (os.path.isfile(name) or not os.path.exists(name)):
        yield name
        return
    import shutil  # which files do not need
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="germane-") as copy:
        try:
            stdin = nullcontext(sys.stdin.buffer)
            with stdin if name.startswith("-") else open(name, "rb") as source:
                shutil.copyfileobj(source, copy)
        except OSError as error:
            raise TrecEvalError(INPUT, f"{name}: cannot be read ({error.strerror}).") from None
        copy.flush()
        yield copy.name


def retrieve(
    qrels: Qrels, path: str, options: Options, note: Note
) -> tuple[Retrieved, dict[int, bytes]]:
    """Find the judged items that were retrieved; and by query, one retrieved twice."""
    try:
        if oddity := text.find_oddity(path):
            raise FormatError(f"{options.run}: the file has {oddity}.")
        return trec_files.TrecFile(path).retrieve(qrels, "error", BY_ID), {}
    except DuplicateError:
        rows = _read_rows(path, options.run)
    except InputError as error:
        rows = _read_rows(path, options.run)
        note(
            f"{error}  It is read as trec_eval reads it: a score is the number that its field"
            " begins with, or 0."
        )
    return _retrieve_carefully(qrels, rows, options)


def read_tag(path: str) -> str:
    """The tag of the run's last line."""
    last = next(line for line in _read_backwards(path) if line.strip() and not _is_comment(line))
    return last.split(None, 6)[5].decode("utf-8", "surrogateescape")


def _read_backwards(path: str) -> Iterator[bytes]:
    """The lines of the file from the last to the first; its end is read alone at first."""
    with open(path, "rb") as file:
        compressed = find_compression(file.read(6))
        start = max(file.seek(0, os.SEEK_END) - _END, 0)
        file.seek(start)
        end = file.read().split(b"\n")
    if not compressed:
        yield from reversed(end[1:] if start else end)
    yield from reversed(text.read_bytes(path).split(b"\n"))


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


# --- Runs that germane's reader refuses -------------------------------------------------------


def _read_rows(path: str, name: str) -> list[_Row]:
    """Read query, item and score of every line; a score is as much of its field as is a number."""
    try:
        data = text.read_bytes(path)
    except InputError as error:
        raise TrecEvalError(INPUT, str(error)) from None

    def read_odd(line: bytes, row: int) -> _Row | None:
        if not line.strip() or _is_comment(line):
            return None
        fields = line.split(None, 6)
        if len(fields) < 6:
            number = data.count(b"\n", 0, row) + 1
            raise TrecEvalError(
                INPUT,
                f"{name}:{number}: {len(fields)} fields where a run line has 6 "
                f"({_FIELDS}): {show_id(line)}",
            )
        return fields[0], fields[2], parse_real(fields[4])

    lines = trec.split_lines(data.translate(text.BLANKS), trec.RUN, read_odd)
    queries = np.repeat(np.arange(len(lines.queries)), np.diff(lines.offsets)).tolist()
    columns = queries, lines.items.to_bytes(), lines.number.tolist()
    rows = [(lines.queries[s], item, score) for s, item, score in zip(*columns, strict=True)]
    if not rows:
        raise TrecEvalError(INPUT, f"{name}: the file is empty: it has no run lines.")
    return rows


def _retrieve_carefully(
    qrels: Qrels, rows: list[_Row], options: Options
) -> tuple[Retrieved, dict[int, bytes]]:
    """Find the retrieved items, and the queries with an item twice among the first -M results."""
    hits: list[tuple[int, ...]] = []
    retrieved = np.zeros(len(qrels), np.int64)
    answered = np.zeros(len(qrels), bool)
    twice: dict[int, bytes] = {}
    unknown: list[Any] = []
    for query, group in groupby(sorted(rows, key=itemgetter(0)), key=itemgetter(0)):
        q = qrels.position.get(query)
        if q is None:
            unknown.append(query)
            continue
        ranked = _select_first(list(group), options)
        answered[q], retrieved[q] = True, len(ranked)
        counts = Counter(item for _, item, _ in ranked)
        if len(counts) < len(ranked):
            twice[q] = next(item for item, count in counts.items() if count > 1)
        else:
            hits += _find_hits(q, ranked, qrels.judged[q])
    columns = np.array(sorted(hits), np.int64).reshape(-1, 5).T
    owner, rank, judgment, first, last = columns
    return Retrieved(judgment, owner, rank, first, last, retrieved, answered, unknown), twice


def _select_first(rows: list[_Row], options: Options) -> list[_Row]:
    """Select the first -M rows of a query, in the order of ranks.

    With preferences, trec_eval orders equal scores by item id from the first to the last. The cut
    takes that into account; the ranks are turned round later, when they become places. A NaN equals
    every other score. That makes no order, and the result depends on how trec_eval sorts.
    """
    forward = options.judgments == "preferences"
    rows = sorted(rows, key=itemgetter(1))
    if any(map(math.isnan, map(itemgetter(2), rows))):
        ranked = merge_sort(rows, partial(compare_rows, id_sign=-1 if forward else 1))
        return ranked[: options.depth]
    ranked = sorted(rows, key=itemgetter(2, 1), reverse=True)
    if not forward or options.depth is None:
        return ranked[: options.depth]
    cut = sorted(rows, key=itemgetter(2), reverse=True)[: options.depth]
    return sorted(cut, key=itemgetter(2, 1), reverse=True)


def _find_hits(q: int, ranked: list[_Row], judged: dict[Any, int]) -> Iterator[tuple[int, ...]]:
    """Find the judged rows of a query: query, rank, judgment, first and last rank of the tie."""
    end = 0
    tells_ties = not any(math.isnan(score) for *_, score in ranked)
    for _, tie in groupby(ranked, key=itemgetter(2) if tells_ties else itemgetter(1)):
        tied = list(tie)
        start, end = end + 1, end + len(tied)
        for rank, (_, item, _) in enumerate(tied, start):
            judgment = judged.get(to_text(item))
            if judgment is not None:
                yield q, rank, judgment, start, end
