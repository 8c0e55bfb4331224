"""Loads the compiled kernel and calls it with arrays, in as many threads as there are cores."""

from __future__ import annotations

import ctypes
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from germane.errors import PolicyError

T = TypeVar("T")
R = TypeVar("R")

VARIABLES = ("GERMANE_THREADS", "OMP_NUM_THREADS")  # joblib sets the latter for its workers


def count_threads() -> int:
    """The number of threads to use: an environment variable's, and at most the process's cores."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux alone
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    for name in VARIABLES:
        first = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP: one number per level
        if first.isdecimal() and int(first):
            return min(cores, int(first))
    return cores


def map_in_threads(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Apply a function to items. Yields the results in their order, up to the first error.

    It saves time if the function lets other threads run. Only a few items are held at a time.
    """
    raised: list[Exception] = []
    yield from _map(function, _stop_at_error(items, raised))
    if raised:
        raise raised[0]


def _stop_at_error(items: Iterable[T], raised: list[Exception]) -> Iterator[T]:
    """Yield items up to an error, which is raised after the results of these items."""
    try:
        yield from items
    except Exception as error:
        raised.append(error)


def _map(function: Callable[[T], R], items: Iterator[T]) -> Iterator[R]:
    threads = count_threads()
    first = list(islice(items, 2)) if threads > 1 else []
    are_several = len(first) == 2
    items = chain(first, items)
    del first  # so that nothing else holds these two
    if not are_several:
        yield from map(function, items)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # as slow to import as germane

    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                del item
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


# --- Loads the compiled kernel and calls it with NumPy arrays -------------------------------------
#
# The library is compiled when germane is installed, where there is a C compiler.
# ``GERMANE_KERNEL=0`` ignores it, ``GERMANE_KERNEL=1`` requires it, and a path names another build
# of it. Other threads run during a call.

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_OK, _NO_MEMORY, _FULL, _STOPPED, _REPEATED, _NOT_FINITE, _BROKEN = range(7)
_SPANS, _INT64, _UINT64, _CODES = range(4)


def is_loaded() -> bool:
    """Say if the compiled kernel is in use."""
    return load_library() is not None


def name_kernel() -> Literal["compiled", "plain"]:
    """Say which path reduces ranked lists: the compiled kernel or plain NumPy."""
    return "compiled" if is_loaded() else "plain"


@cache
def load_library() -> Any:
    """Load the kernel; None if there is none, or if it is not wanted.

    Raises PolicyError if GERMANE_KERNEL asks for a library that cannot be loaded.
    """
    wanted = os.environ.get("GERMANE_KERNEL", "")
    if wanted == "0":
        return None
    path = _find_library() if wanted in ("", "1") else wanted
    try:
        library = ctypes.CDLL(path) if path else None  # lets other threads run during a call
    except OSError as error:
        if not wanted:
            return None  # compiled for another machine
        raise PolicyError(
            f"GERMANE_KERNEL={wanted}: {path} cannot be loaded ({error}). The variable takes 0, 1"
            " or the path of a compiled kernel."
        ) from None
    if library is None and wanted:
        raise PolicyError(
            "GERMANE_KERNEL=1 requires the compiled kernel, but germane was installed without it. "
            "Install a C compiler and then germane again, or unset GERMANE_KERNEL."
        )
    if library is not None:
        for name, kinds in _ARGUMENTS.items():
            getattr(library, name).argtypes = [_KINDS[kind] for kind in kinds]
    return library


_KINDS = {"p": ctypes.c_void_p, "n": ctypes.c_int64}  # an address, a number
_ARGUMENTS = {
    "find_changes": "ppnp",
    "index_rows": "pppnp",
    "find_rows": "ppppp",
    "hash_rows": "p",
    "read_objects": "p",
    "reduce_rows": "p",
    "split_lines": "p",
}


def _find_library() -> str | None:
    """Find the library by the checksum of its source: one of another source is never loaded."""
    folder = os.path.dirname(__file__)
    try:
        with open(os.path.join(folder, "reduce.c"), "rb") as source:
            checksum = zlib.crc32(source.read())
    except OSError:
        return None
    library = os.path.join(folder, f"reduce-{checksum:08x}.library")
    return library if os.path.exists(library) else None


# --- Columns of ids ---------------------------------------------------------------------------


class _Column(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int64),
        ("length", ctypes.c_int64),
        ("rows", ctypes.c_void_p),
        ("sizes", ctypes.c_void_p),
        ("text", ctypes.c_void_p),
        ("text_size", ctypes.c_int64),
        ("entries", ctypes.c_void_p),
        ("meant", ctypes.c_void_p),
    ]


class Column:
    """The addresses of ids in memory. Make one with a class method. It keeps its arrays alive."""

    __slots__ = ("_kept", "address", "codes", "entries", "kind", "matched", "struct")

    def __init__(self, kind: int, length: int, buffers: object, **fields: int) -> None:
        self.entries: Column | None = None
        self.codes: Any = None  # of the entries
        self.matched: tuple[Column, Column] | None = None  # judged items, and their codes
        self.struct = _Column(kind=kind, length=length, **fields)
        self.address = ctypes.addressof(self.struct)
        self.kind = kind
        self._kept = buffers

    def __len__(self) -> int:
        return int(self.struct.length)

    @classmethod
    def of_spans(cls, text: Any, starts: Any, sizes: Any) -> Column:
        """Texts that lie anywhere in some bytes."""
        text, starts, sizes = _view_bytes(text), _convert(starts, np.int64), _narrow_sizes(sizes)
        _check_length("sizes", sizes, len(starts))
        fields = {"rows": _find_address(starts), "sizes": _find_address(sizes)}
        buffers = text, starts, sizes
        return cls(
            _SPANS, len(starts), buffers, text=_find_address(text), text_size=len(text), **fields
        )

    @classmethod
    def of_integers(cls, values: Any) -> Column:
        """Integers of 64 bits, with a sign or without."""
        unsigned = values.dtype == np.uint64
        values = _convert(values, np.uint64 if unsigned else np.int64)
        return cls(_UINT64 if unsigned else _INT64, len(values), values, rows=_find_address(values))

    @classmethod
    def of_codes(cls, codes: Any, entries: Column | None, *, meant: Any = None) -> Column:
        """Categories, and the distinct texts they stand for.

        Without entries, codes match the codes of another column; with ``meant``, a code stands for
        ``meant[code]``, or for no id where that is -1.
        """
        codes = _convert(codes, np.int32)
        if entries is not None and entries.kind in (_CODES, _INT64, _UINT64):
            raise ValueError("the entries of codes are texts")
        fields = {"rows": _find_address(codes)}
        if entries is not None:
            fields["entries"] = entries.address
        if meant is not None:
            meant = _convert(meant, np.int32)
            fields.update(meant=_find_address(meant), text_size=len(meant))
        column = cls(_CODES, len(codes), (codes, meant), **fields)
        column.entries, column.codes = entries, codes
        return column


def _view_bytes(buffer: Any) -> NDArray[np.uint8]:
    if isinstance(buffer, np.ndarray) and buffer.dtype == np.uint8:
        return np.ascontiguousarray(buffer)
    return np.frombuffer(buffer, np.uint8)


def _convert(array: Any, dtype: Any) -> Any:
    """Convert to a contiguous array. Raises TypeError if another type could change a value."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        array = np.asarray(array).astype(dtype, casting="safe" if len(array) else "unsafe")
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.require(array, None, ["C", "A"])


def _narrow_sizes(sizes: Any) -> Any:
    if sizes.dtype == np.int32:
        return np.ascontiguousarray(sizes)
    if sizes.max(initial=0) > np.iinfo(np.int32).max:
        raise ValueError("an id must be shorter than 2 GiB")
    return sizes.astype(np.int32)


def _find_address(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _check_length(name: str, array: Any, wanted: int) -> None:
    if len(array) != wanted:
        raise ValueError(f"{name} must have {wanted} values; got {len(array)}")


def _check(status: int) -> None:
    if status == _NO_MEMORY:
        raise MemoryError
    if status:
        raise ValueError("offsets, codes or lengths do not fit the data that they describe")


_SEED = (ctypes.c_uint64 * 2).from_buffer_copy(os.urandom(16))
"""The seed of hashes, so that nobody can make ids that collide. No result depends on it."""


def find_changes(column: Column) -> Ints:
    """Find the rows whose id differs from that of the row before, the first row included."""
    starts, count = np.empty(len(column), np.int64), ctypes.c_int64(0)
    address, number = _find_address(starts), ctypes.byref(count)
    _check(load_library().find_changes(column.address, address, len(starts), number))
    return starts[: count.value].copy()


class Index:
    """A hash table of a column's rows; any number of threads may look ids up."""

    def __init__(self, among: Column) -> None:
        self._among = among
        size = max(8, 1 << (2 * len(among) - 1).bit_length()) if len(among) else 8
        self._slots = np.empty(size, np.uint64)
        distinct = ctypes.c_int64(0)
        slots, seed = _find_address(self._slots), ctypes.byref(_SEED)
        count = ctypes.byref(distinct)
        _check(load_library().index_rows(among.address, seed, slots, size, count))
        self.distinct = distinct.value  # the number of different ids

    def find(self, wanted: Column) -> Ints:
        """Find the first row with the id of each row wanted; -1 where there is none."""
        places = np.empty(len(wanted), np.int64)
        slots, seed = _find_address(self._slots), ctypes.byref(_SEED)
        address, among = _find_address(places), self._among.address
        _check(load_library().find_rows(among, seed, slots, wanted.address, address))
        return places


# --- Ranks ------------------------------------------------------------------------------------


class RepeatedRowError(ValueError):
    """Two rows of a query have the same item."""

    def __init__(self, row: int, earlier: int) -> None:
        super().__init__(f"rows {earlier} and {row} of one query have the same item")
        self.row, self.other = row, earlier


class Hits(NamedTuple):
    """The judged rows of a batch, group by group, in the order of their ranks."""

    row: Ints
    judgment: Ints
    group: Ints
    rank: Ints  # from 1
    tied_from: Ints  # the first and the last rank of the rows with the same score
    tied_to: Ints


class _Reduction(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("items", "judged", "scores", "offsets", "queries")),
        ("groups", ctypes.c_int64),
        ("judged_offsets", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("judged_queries", "by_place", "keep_repeats")),
        ("seed", ctypes.c_uint64 * 2),
        ("capacity", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("hit_row", *Hits._fields[1:])),
        *((name, ctypes.c_int64) for name in ("hits", "row", "other")),
    ]


TIES = ("id", "given")  # the orders of equal scores that the kernel has


def reduce_rows(
    items: Column,
    scores: Any,
    offsets: Any,
    queries: Any,
    judged: Column,
    judged_offsets: Any,
    *,
    ties: str = "id",
    repeats: Literal["refuse", "keep"] = "refuse",
) -> Hits:
    """Rank the judged items of a batch of whole queries.

    Group g has the rows from offsets[g] to offsets[g + 1] and is query queries[g] of the judgments,
    or -1 for a query without any, which is skipped. Without scores the rows are in the order of
    their ranks. Raises RepeatedRowError, and ValueError for a score that is not finite.
    """
    offsets, queries = _convert(offsets, np.int64), _convert(queries, np.int64)
    judged_offsets = _convert(judged_offsets, np.int64)
    _check_length("offsets", offsets, len(queries) + 1)
    if scores is not None:
        scores = _convert(scores, np.float64)
        _check_length("scores", scores, len(items))
    if not len(judged_offsets):
        raise ValueError("judged_offsets must not be empty")
    if items.entries is not None:
        judged = _match_entries(items.entries, judged)
    arguments = _Reduction(
        items=items.address,
        judged=judged.address,
        scores=0 if scores is None else _find_address(scores),
        offsets=_find_address(offsets),
        queries=_find_address(queries),
        groups=len(queries),
        judged_offsets=_find_address(judged_offsets),
        judged_queries=len(judged_offsets) - 1,
        by_place=ties == "given",
        keep_repeats=repeats == "keep",
        seed=_SEED,
    )
    status, hits = _reduce(arguments, min(len(items), len(judged)))
    if status == _FULL:  # a query with several groups, or an item with several copies
        status, hits = _reduce(arguments, arguments.hits)
    if status == _REPEATED:
        raise RepeatedRowError(arguments.row, arguments.other)
    if status == _NOT_FINITE:
        raise ValueError(f"the score of row {arguments.row} is not a finite number")
    _check(status)
    return Hits(*hits[:, : arguments.hits].copy())  # the copy does not keep the room for more


def _match_entries(entries: Column, judged: Column) -> Column:
    """Convert the judged items to codes of the entries, and keep them for the next batch."""
    matched = entries.matched
    if matched is None or matched[0] is not judged:
        if judged.entries is None:
            matches = Column.of_codes(Index(entries).find(judged).astype(np.int32), None)
        else:
            meant = Index(entries).find(judged.entries).astype(np.int32)
            matches = Column.of_codes(judged.codes, None, meant=meant)
        matched = entries.matched = judged, matches
    return matched[1]


def _reduce(arguments: _Reduction, capacity: int) -> tuple[int, NDArray[np.int64]]:
    hits = np.empty((6, capacity), np.int64)
    arguments.capacity = capacity
    for name, column in zip(("hit_row", *Hits._fields[1:]), hits, strict=True):
        setattr(arguments, name, _find_address(column))
    return load_library().reduce_rows(ctypes.byref(arguments)), hits


# --- Content ----------------------------------------------------------------------------------


class _Content(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("items", "numbers", "offsets", "queries")),
        ("groups", ctypes.c_int64),
        ("role", ctypes.c_uint64),
        ("sums", ctypes.c_uint64 * 2),
    ]


def hash_rows(items: Column, numbers: Any, offsets: Any, queries: Any, role: int) -> Any:
    """Add up the hashes of rows, by lane; offsets[g]:offsets[g + 1] have queries[:, g]."""
    numbers, offsets = _convert(numbers, np.float64), _convert(offsets, np.int64)
    queries = _convert(queries, np.uint64)
    _check_length("numbers", numbers, len(items))
    _check_length("offsets", offsets, queries.shape[1] + 1)
    arguments = _Content(
        items=items.address,
        numbers=_find_address(numbers),
        offsets=_find_address(offsets),
        queries=_find_address(queries),
        groups=len(offsets) - 1,
        role=role,
    )
    _check(load_library().hash_rows(ctypes.byref(arguments)))
    return list(arguments.sums)


# --- Lines of TREC files ----------------------------------------------------------------------


class Lines(NamedTuple):
    """Lines of a run or of qrels. A stretch is lines in a row with the same query."""

    starts: Ints  # of the items, in the text
    sizes: NDArray[np.int32]
    numbers: Floats
    stretches: Ints  # the first row of each
    query_starts: Ints
    query_sizes: NDArray[np.int32]
    read: int  # the start of the first line that was not read; the text's size if all were


class _Lines(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("size", "fields", "item", "number", "more")),
        ("largest", ctypes.c_double),
        ("capacity", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in Lines._fields[:6]),
        *((name, ctypes.c_int64) for name in ("rows", "stretch_count", "read")),
    ]


def split_lines(
    text: Any,
    *,
    start: int = 0,
    fields: int,
    item: int,
    number: int,
    more: bool,
    largest: float,
) -> Lines:
    """Split plain lines, from a byte on, up to the first line that is not plain.

    A line has so many ``fields``, and with ``more`` maybe further ones; ``item`` and ``number`` are
    the positions of the item and of the number. Numbers are plain decimals of at most the
    ``largest`` size. Blank lines are skipped.
    """
    text = _view_bytes(text)
    if not 0 <= start <= len(text):
        raise ValueError(f"start must be from 0 to {len(text)}; got {start}")
    room = (len(text) - start) // (2 * fields) + 1  # a field has a byte, and one behind it
    starts, stretches, query_starts = np.empty((3, room), np.int64)
    sizes, query_sizes = np.empty((2, room), np.int32)
    numbers = np.empty(room)
    columns: list[Any] = [starts, sizes, numbers, stretches, query_starts, query_sizes]
    lines = _Lines(
        text=_find_address(text),
        size=len(text),
        fields=fields,
        item=item,
        number=number,
        more=more,
        largest=largest,
        capacity=room,
        read=start,
        **dict(zip(Lines._fields, map(_find_address, columns), strict=False)),
    )
    status = load_library().split_lines(ctypes.byref(lines))
    if status != _STOPPED:
        _check(status)
    filled = [column[: lines.rows] for column in columns[:3]]
    filled += [column[: lines.stretch_count] for column in columns[3:]]
    return Lines._make([*filled, lines.read])


# --- Lists of JSON's objects ------------------------------------------------------------------


class _Objects(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("keys", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("keys_size", "key_count")),
        *((name, ctypes.c_void_p) for name in ("key_sizes", "widths")),
        *((name, ctypes.c_int64) for name in ("width", "capacity")),
        ("numbers", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
    ]


def read_objects(text: bytes, widths: Mapping[str, int]) -> Floats | None:
    """Read the numbers of a list of JSON's objects, a row of the result for each number (W, N).

    Every object has all keys: one number, or a list of as many as ``widths`` says. None for what
    has another form, or has a key twice, and where there is no compiled kernel.
    """
    if not is_loaded():
        return None
    names, numbers = [key.encode() for key in widths], sum(widths.values())
    # a key has two quotes, a colon and a comma or brace; a number a digit and a comma or bracket
    room = len(text) // (sum(len(name) + 4 for name in names) + 2 * numbers) + 1
    columns = np.empty((numbers, room))
    view, keys = _view_bytes(text), _view_bytes(b"".join(names))
    sizes, counts = np.array([*map(len, names)], np.int64), np.array([*widths.values()], np.int64)
    arguments = _Objects(
        text=_find_address(view),
        size=len(view),
        keys=_find_address(keys),
        keys_size=len(keys),
        key_count=len(names),
        key_sizes=_find_address(sizes),
        widths=_find_address(counts),
        width=numbers,
        capacity=room,
        numbers=_find_address(columns),
    )
    status = load_library().read_objects(ctypes.byref(arguments))
    if status == _STOPPED:
        return None
    _check(status)
    return columns[:, : arguments.rows]
