"""The order of results with a NaN among their scores, as pytrec_eval's two sorts leave it.

A NaN is neither above nor below another score, so that only the ids decide. That is no order, and
the outcome depends on how the sorts work: that of libstdc++ first, and then that of the C library.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from germane.trec_eval.text import compare_rows, merge_sort

_Row: TypeAlias = tuple[str, bytes, float]  # the id, the id as C compares it, the score
_FEW = 16  # rows that libstdc++ sorts by insertion


def rank_unordered(rows: list[tuple[str, float]]) -> list[str]:
    """Rank items with single-precision scores, of which some are NaN: from the best to the last."""
    keyed = [(item, item.encode(), score) for item, score in rows]
    _sort_as_cpp(keyed, 0, len(keyed), 2 * (max(len(keyed), 1).bit_length() - 1))
    _insert(keyed, 0, min(len(keyed), _FEW))
    for place in range(_FEW, len(keyed)):
        _place(keyed, place)
    return [item for item, _, _ in merge_sort(keyed, compare_rows)]


def _precedes(first: _Row, second: _Row) -> bool:
    """Does a row stand before another in pytrec_eval: equal scores by ascending ids?"""
    if first[2] < second[2] or first[2] > second[2]:
        return first[2] > second[2]
    return first[1] < second[1]


def _sort_as_cpp(rows: list[_Row], start: int, end: int, depth: int) -> None:
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


def _move_median(rows: list[_Row], start: int, end: int) -> None:
    """Swap the median of three rows to the start."""
    a, b, c = start + 1, start + (end - start) // 2, end - 1

    def before(first: int, second: int) -> bool:
        return _precedes(rows[first], rows[second])

    if before(a, b):
        median = b if before(b, c) else c if before(a, c) else a
    else:
        median = a if before(a, c) else c if before(b, c) else b
    rows[start], rows[median] = rows[median], rows[start]


def _partition(rows: list[_Row], low: int, high: int, pivot: int) -> int:
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


def _insert(rows: list[_Row], start: int, end: int) -> None:
    """Sort some rows by insertion; one that precedes the first goes to the start at once."""
    for place in range(start + 1, end):
        if _precedes(rows[place], rows[start]):
            rows.insert(start, rows.pop(place))
        else:
            _place(rows, place)


def _place(rows: list[_Row], row: int) -> None:
    """Move a row up past those that it precedes."""
    to = row
    while to > 0 and _precedes(rows[row], rows[to - 1]):
        to -= 1
    rows.insert(to, rows.pop(row))


def _sort_heap(rows: list[_Row], start: int, end: int) -> None:
    """Sort by a heap, in the rare case that partitions do not halve the rows."""
    heap = rows[start:end]
    sift: Callable[[int, int], None] = partial(_sift, heap)
    for root in range((len(heap) - 2) // 2, -1, -1):
        sift(root, len(heap))
    for last in range(len(heap) - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        sift(0, last)
    rows[start:end] = heap


def _sift(heap: list[_Row], root: int, length: int) -> None:
    """Sink a row to the bottom of the heap, and lift it to its place."""
    row, hole = heap[root], root
    while (child := 2 * hole + 2) <= length:
        if child == length or _precedes(heap[child], heap[child - 1]):
            child -= 1
        heap[hole], hole = heap[child], child
    while hole > root and _precedes(heap[(hole - 1) // 2], row):
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = row
