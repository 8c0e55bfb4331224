"""Runs as trec_eval and pytrec_eval read them, and the ranking of every judged query."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy
from germane.core.qrels import Order, Qrels, Retrieved
from germane.core.ranking import Ranking
from germane.errors import DuplicateError, FormatError, InputError
from germane.evaluation.judging import JudgedRun
from germane.kernel.ids import show_id, to_text
from germane.readers.files import trec, trec_files
from germane.readers.files.streams import find_compression
from germane.trec_eval import command_line
from germane.trec_eval.command_line import (
    INPUT,
    Options,
    TrecEvalError,
    compare_rows,
    merge_sort,
    parse_real,
)

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
        if oddity := command_line.find_oddity(path):
            raise FormatError(f"{options.run}: the file has {oddity}.")
        return trec_files.TrecFile(path).retrieve(qrels, "error", Order()), {}
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
        compression = find_compression(file.read(6))
        start = max(file.seek(0, os.SEEK_END) - _END, 0)
        file.seek(start)
        end = file.read().split(b"\n")
    if not compression:
        yield from reversed(end[1:] if start else end)
    yield from reversed(command_line.read_bytes(path).split(b"\n"))


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


# --- Runs that germane's reader refuses -------------------------------------------------------


def _read_rows(path: str, name: str) -> list[_Row]:
    """Read query, item and score of every line; a score is as much of its field as is a number."""
    try:
        data = command_line.read_bytes(path)
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

    lines = trec.Lines.of_run(data.translate(command_line.BLANKS), read_odd)
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


# --- A run under trec_eval's conventions: the ranking of every judged query -----------------------
#
# With -l -1 items without a judgment are relevant, and with -l -2 also items that were only
# pooled. But trec_eval still counts only judgments from 0, both those that exist and those
# retrieved. So measures that go down the list find more relevant items than exist; measures that
# come up from its end stop after as many as were retrieved; and measures of counts or of judged
# items find no further ones.

UNJUDGED, POOLED = -1, -2
"""trec_eval's grades for an item without a judgment, and for one whose judgment is negative."""


def make_ranking(qrels: Qrels, retrieved: Retrieved, options: Options) -> Ranking:
    """Make the ranking of all judged queries.

    With -c trec_eval gives a query that the run lacks one made-up item without a judgment, and
    corrects some measures for it later. -J and -M0 remove the item.
    """
    policy = _make_policy(options.judged_only, options.depth)
    judged = JudgedRun(qrels, retrieved, policy, retrieved.answered)
    ranking = _drop_negative(judged.rank("trec"))
    if options.depth == 0:
        none = ranking.select_hits(np.zeros(len(ranking.rank), bool))
        ranking = replace(none, retrieved=np.zeros_like(ranking.retrieved))
    elif not options.judged_only and not retrieved.answered.all():
        made_up = np.where(retrieved.answered, ranking.retrieved, 1)
        ranking = replace(ranking, retrieved=made_up)
    return ranking


@cache
def _make_policy(judged_only: bool, depth: int | None) -> Policy:
    return Policy(unjudged="remove" if judged_only else "nonrelevant", depth=depth or None)


def list_all(ranking: Ranking) -> Ranking:
    """Make every retrieved item a hit, judged or not."""
    offsets = ragged.make_offsets(ranking.retrieved)
    relevance = np.full(offsets[-1], float(UNJUDGED))
    relevance[offsets[ranking.owner] + ranking.rank - 1] = ranking.relevance
    owner = np.repeat(np.arange(len(ranking)), ranking.retrieved)
    rank = np.arange(1, len(owner) + 1) - offsets[owner]
    return replace(
        ranking,
        owner=owner,
        rank=rank,
        relevance=relevance,
        tied_from=rank,
        tied_to=rank,
        judgment=None,
    )


def _drop_negative(ranking: Ranking) -> Ranking:
    """Give all negative judgments one grade, and drop them from the ideal ranking."""
    if not (ranking.ideal < 0).any():
        return ranking
    nonnegative = ranking.ideal >= 0
    counts = ranking.count_judged(nonnegative)
    return replace(
        ranking,
        relevance=np.where(ranking.relevance < 0, POOLED, ranking.relevance),
        ideal=ranking.ideal[nonnegative],
        ideal_offsets=ragged.make_offsets(counts),
    )


DOWN = (
    "map", "gm_map", "Rprec", "recip_rank", "P", "recall", "binG", "map_cut", "relative_P",
    "success", "yaap", "map_avgjg", "P_avgjg",
)  # fmt: skip
"""Measures that go down the list."""
UP = ("iprec_at_recall", "Rprec_mult", "11pt_avg", "Rprec_mult_avgjg")
"""Measures that come up from the end of the list."""


def list_from_top(ranking: Ranking, level: int) -> Ranking:
    """Keep the results that reach the level, and give them and all judgments from 0 the grade 1."""
    listed = list_all(ranking)
    reached = listed.select_hits(listed.relevance >= level)
    return replace(reached, relevance=np.ones(len(reached.rank)), ideal=np.ones(len(ranking.ideal)))


def list_from_end(ranking: Ranking, level: int) -> Ranking:
    """Keep the last results that reach the level, as many as judged items were retrieved."""
    reached = list_from_top(ranking, level)
    counted = ranking.count_found(0.0, None)
    place = np.arange(len(reached.rank)) - reached.offsets[reached.owner]
    left = np.diff(reached.offsets)[reached.owner] - place
    return reached.select_hits(left <= counted[reached.owner])


# --- The order of results with a NaN among their scores, as pytrec_eval's two sorts leave it ------
#
# A NaN is neither above nor below another score, so that only the ids decide. That is no order,
# and the outcome depends on how the sorts work: that of libstdc++ first, and then that of the C
# library.

_UnorderedRow: TypeAlias = tuple[str, bytes, float]  # the id, the id as C compares it, the score
_FEW = 16  # rows that libstdc++ sorts by insertion


def rank_unordered(rows: list[tuple[str, float]]) -> list[str]:
    """Rank items with single-precision scores, of which some are NaN: from the best to the last."""
    keyed = [(item, item.encode(), score) for item, score in rows]
    _sort_as_cpp(keyed, 0, len(keyed), 2 * (max(len(keyed), 1).bit_length() - 1))
    _insert(keyed, 0, min(len(keyed), _FEW))
    for place in range(_FEW, len(keyed)):
        _place(keyed, place)
    return [item for item, _, _ in merge_sort(keyed, compare_rows)]


def _precedes(first: _UnorderedRow, second: _UnorderedRow) -> bool:
    """Does a row stand before another in pytrec_eval: equal scores by ascending ids?"""
    if first[2] < second[2] or first[2] > second[2]:
        return first[2] > second[2]
    return first[1] < second[1]


def _sort_as_cpp(rows: list[_UnorderedRow], start: int, end: int, depth: int) -> None:
    """Partition rows until at most 16 are left between two that are in place: introsort."""
    while end - start > _FEW:
        if depth == 0:
            _sort_heap(rows, start, end)
            return
        depth -= 1
        _move_median(rows, start, end)
        cut = _partition(rows, start + 1, end, start)
        _sort_as_cpp(rows, cut, end, depth)
        end = cut


def _move_median(rows: list[_UnorderedRow], start: int, end: int) -> None:
    """Swap the median of three rows to the start."""
    a, b, c = start + 1, start + (end - start) // 2, end - 1

    def before(first: int, second: int) -> bool:
        return _precedes(rows[first], rows[second])

    if before(a, b):
        median = b if before(b, c) else c if before(a, c) else a
    else:
        median = a if before(a, c) else c if before(b, c) else b
    rows[start], rows[median] = rows[median], rows[start]


def _partition(rows: list[_UnorderedRow], low: int, high: int, pivot: int) -> int:
    """Exchange rows until those before the pivot stand first; return where the others begin."""
    while True:
        while _precedes(rows[low], rows[pivot]):
            low += 1
        high -= 1
        while _precedes(rows[pivot], rows[high]):
            high -= 1
        if not low < high:
            return low
        rows[low], rows[high] = rows[high], rows[low]
        low += 1


def _insert(rows: list[_UnorderedRow], start: int, end: int) -> None:
    """Sort some rows by insertion; one that precedes the first goes to the start at once."""
    for place in range(start + 1, end):
        if _precedes(rows[place], rows[start]):
            rows.insert(start, rows.pop(place))
        else:
            _place(rows, place)


def _place(rows: list[_UnorderedRow], row: int) -> None:
    """Move a row up past those that it precedes."""
    to = row
    while to > 0 and _precedes(rows[row], rows[to - 1]):
        to -= 1
    rows.insert(to, rows.pop(row))


def _sort_heap(rows: list[_UnorderedRow], start: int, end: int) -> None:
    """Sort by a heap, in the rare case that partitions do not halve the rows."""
    heap = rows[start:end]
    sift: Callable[[int, int], None] = partial(_sift, heap)
    for root in range((len(heap) - 2) // 2, -1, -1):
        sift(root, len(heap))
    for last in range(len(heap) - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        sift(0, last)
    rows[start:end] = heap


def _sift(heap: list[_UnorderedRow], root: int, length: int) -> None:
    """Sink a row to the bottom of the heap, and lift it to its place."""
    row, hole = heap[root], root
    while (child := 2 * hole + 2) <= length:
        if child == length or _precedes(heap[child], heap[child - 1]):
            child -= 1
        heap[hole], hole = heap[child], child
    while hole > root and _precedes(heap[(hole - 1) // 2], row):
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = row
