"""Reading ahead: the same items and errors, at most one of them before it is asked for."""

import threading
from collections.abc import Iterator

import pytest

from germane.readers.ahead import ahead


def counted(made: list[int], error_at: int | None = None) -> Iterator[int]:
    for number in range(5):
        if number == error_at:
            raise EOFError("no more")
        made.append(threading.get_ident() == threading.main_thread().ident)
        yield number


def test_the_items_in_their_order() -> None:
    made: list[int] = []
    assert list(ahead(counted(made))) == [0, 1, 2, 3, 4]
    assert made == [False] * 5  # by another thread
    assert list(ahead(iter(()))) == []


def test_one_item_is_made_before_it_is_asked_for() -> None:
    made: list[int] = []
    items = ahead(counted(made))
    assert not made
    assert next(items) == 0
    items.close()  # waits for the one that is being made
    assert len(made) == 2


def test_an_error_comes_where_the_item_would() -> None:
    items = ahead(counted([], error_at=2))
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(EOFError, match="no more"):
        next(items)
