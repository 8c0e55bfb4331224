"""Products of matrices by threads of our own: the matrix library is held to one of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from germane.kernel.threads import count_threads


class _Held:
    """The limit that all who ask for it share: the first sets it, and the last lifts it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limits: Any = None
        self.before = 1  # threads that a product might use

    def take(self) -> int:
        from threadpoolctl import ThreadpoolController

        with self.lock:
            if not self.users:
                blas = ThreadpoolController().select(user_api="blas")
                counts = [one["num_threads"] or 1 for one in blas.info()]
                self.before = max(counts, default=count_threads())
                self.limits = blas.limit(limits=1)
            self.users += 1
            return self.before

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                self.limits.restore_original_limits()


_held = _Held()


@contextmanager
def single_products() -> Iterator[int]:
    """Products of matrices, of the whole process, use the thread that asks for them and no other.

    Yields how many threads may share a product out instead: as many as the matrix library used before,
    since workers of joblib and clusters limit these. Threads of its own wait for the next product by
    spinning, and take the cores from whoever works between two products.
    """
    before = _held.take()
    try:
        yield min(count_threads(), before)
    finally:
        _held.leave()
