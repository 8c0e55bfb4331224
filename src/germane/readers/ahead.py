"""Reading ahead: what comes next is read, or computed, by another thread while this one is used."""

from collections.abc import Generator, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_END: Any = object()


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """The same items, or the error that ends them.

    It pays where making an item holds no other thread up, as decoding Parquet and products of matrices.
    """
    from concurrent.futures import ThreadPoolExecutor  # takes as long to import as germane

    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, items, _END)
        while (item := following.result()) is not _END:
            following = reader.submit(next, items, _END)
            yield item
            del item  # before the next one is waited for
