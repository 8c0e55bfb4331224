"""Content: a hash of rows of query, item and number that does not depend on their order.

Every row has a hash of 128 bits, in two lanes of 64, and the content of several rows is the sum of
theirs. So the sums of parts add up to that of the whole. ``docs/signature.md`` writes the hash down
for other programs. It finds differences between data, and is no protection against somebody who
makes data of equal sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.kernel import library
from germane.kernel.ids import Categories, Ids, Integers, Text, read_bytes, read_python_ids

Words: TypeAlias = NDArray[np.uint64]

QUERY, ITEM, RANKED, SUBTOPIC = range(4)
"""The roles of a text. A ranked item is one of a list without scores."""

_SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
_FACTORS = (0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
_LAST = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
_SPARE = 8  # bytes behind a text, so that its last word can be loaded whole
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(8)] + [(1 << 64) - 1], np.uint64)


@dataclass(frozen=True)
class Content:
    """The sum of the hashes of rows."""

    first: int = 0
    second: int = 0

    def __add__(self, other: Content) -> Content:
        return Content((self.first + other.first) % 2**64, (self.second + other.second) % 2**64)

    def __str__(self) -> str:
        return f"{self.first:016x}{self.second:016x}"


class Hasher:
    """Adds up the content of a run while it is read; ``content`` is None until all of it is."""

    content: Content | None = None


def hash_rows(
    queries: Sequence[Any],
    offsets: Ints,
    items: Ids,
    numbers: Floats,
    *,
    ranked: bool = False,
    subtopics: Ids | None = None,
) -> Content:
    """Hash rows, of which ``offsets[s]:offsets[s + 1]`` have the query ``queries[s]``.

    The numbers are scores or grades, or with ``ranked`` the ranks of a list without scores.
    """
    if not len(items):
        return Content()
    numbers = np.asarray(numbers, np.float64)
    query = hash_ids(read_python_ids(queries), QUERY)
    role = RANKED if ranked else ITEM
    if items.kind == "python":
        items = read_python_ids(items.python)
    if subtopics is None and library.is_loaded():
        return Content(*library.hash_rows(items.column, numbers, offsets, query, role))
    owner = ragged.find_owners(offsets)
    item_words, bits = hash_ids(items, role), (numbers + 0.0).view(np.uint64)
    subtopic_words = None if subtopics is None else hash_ids(subtopics, SUBTOPIC)
    sums = []
    for lane in (0, 1):
        mixed = query[lane][owner] + item_words[lane]
        if subtopic_words is not None:
            mixed = _mix(mixed, lane) + subtopic_words[lane]
        mixed = _mix(_mix(mixed, lane) ^ bits, lane)
        sums.append(int(np.add.reduce(_finish(mixed))))
    return Content(*sums)


def hash_ids(ids: Ids, role: int) -> Words:
    """Hash ids as text. Returns both lanes, 2 × N."""
    if isinstance(ids, Categories):
        return hash_ids(ids.entries, role)[:, ids.codes]
    if isinstance(ids, Integers):
        distinct, places = np.unique(ids.values, return_inverse=True)
        texts = read_bytes([b"%d" % number for number in distinct.tolist()])
        return hash_ids(texts, role)[:, places]
    assert isinstance(ids, Text)
    data = np.zeros(len(ids.data) + _SPARE, np.uint8)
    data[: len(ids.data)] = ids.data
    words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))
    starts, sizes = ids.starts.astype(np.int64), ids.sizes.astype(np.int64)
    marks = (4 * sizes + role).astype(np.uint64)
    lanes = np.array(_SEEDS, np.uint64)[:, None] ^ marks
    rows = np.flatnonzero(sizes)
    for begin in range(0, int(sizes.max(initial=0)), 8):
        if begin:
            rows = rows[sizes[rows] > begin]
        word = words[starts[rows] + begin].astype(np.uint64)
        word &= _MASKS[np.minimum(sizes[rows] - begin, 8)]
        for lane in (0, 1):
            lanes[lane, rows] = _mix(lanes[lane, rows] ^ word, lane)
    return _finish(lanes)


def _mix(values: Words, lane: int) -> Words:
    values = values * np.uint64(_FACTORS[lane])
    return values ^ (values >> np.uint64(32))


def _finish(values: Words) -> Words:
    for shift, factor in zip((33, 29), _LAST, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(32))
