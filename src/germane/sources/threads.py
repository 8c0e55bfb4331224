"""Threads of our own, and the matrix library held to one of its own."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Held:
    """The limit that all who ask for it share: the first sets it, and the last lifts it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limits: Any = None

    def take(self) -> None:
        from threadpoolctl import threadpool_limits

        with self.lock:
            if not self.users:
                self.limits = threadpool_limits(1, "blas")
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                self.limits.restore_original_limits()


_held = _Held()


@contextmanager
def single_products() -> Iterator[None]:
    """Products of matrices, of the whole process, use the thread that asks for them and no other.

    The threads of a matrix library wait for the next product by spinning, and take the cores from
    whoever works between two products.
    """
    _held.take()
    try:
        yield
    finally:
        _held.leave()
