"""Applies a function to pieces of data in threads, on as many cores as the process may use."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

VARIABLES = ("GERMANE_THREADS", "OMP_NUM_THREADS")  # joblib sets the latter for its workers


def count_threads() -> int:
    """The number of threads to use: an environment variable's, and at most the process's cores."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux alone
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    for name in VARIABLES:
        first = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP: one number a level
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
