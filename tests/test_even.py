"""Texts of one length: the same as of texts of any length."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.sources import binary, even

WIDTHS = (4, 5, 7, 8, 9, 11, 12, 13, 16, 20, 36, 1024)


def texts(width: int, numbers: list[int]) -> pa.BinaryArray:
    """Texts that differ at their begin, at their end, or in the middle."""
    middle = [f"{n % 3}".center(width - 2, "-") for n in numbers]
    return pa.array(
        [f"{n % 2}{m}{n // 9}"[:width].encode() for n, m in zip(numbers, middle, strict=True)]
    )


numbers = st.lists(st.integers(0, 40), min_size=1, max_size=20)


@pytest.mark.parametrize("width", WIDTHS)
@given(some=numbers, start=st.integers(0, 5))
def test_hashes_and_changes(width: int, some: list[int], start: int) -> None:
    array = texts(width, some)[min(start, len(some) - 1) :]
    spans = binary.of_array(array)
    found = even.of(spans)
    assert found is not None
    assert even.hashes(found).tolist() == binary.hashes(spans).tolist()
    assert even.changes(found).tolist() == binary.changes(spans).tolist()


@pytest.mark.parametrize("width", WIDTHS)
@given(some=numbers, others=numbers, size=st.integers(0, 60), seed=st.integers(0, 99))
def test_equal(width: int, some: list[int], others: list[int], size: int, seed: int) -> None:
    one, other = texts(width, some), texts(width, others)
    rng = np.random.default_rng(seed)
    rows, other_rows = (rng.integers(len(ids), size=size) for ids in (one, other))
    mine, theirs = even.of(binary.of_array(one)), even.of(binary.of_array(other))
    assert mine is not None
    assert theirs is not None
    expected = [one[i] == other[j] for i, j in zip(rows.tolist(), other_rows.tolist(), strict=True)]
    assert even.equal(mine, rows, theirs, other_rows).tolist() == expected


def test_texts_of_other_lengths_are_not_equal() -> None:
    short, long = (even.of(binary.of_array(pa.array([b"abcd" * n]))) for n in (1, 2))
    assert short is not None
    assert long is not None
    assert not even.equal(short, np.array([0]), long, np.array([0])).any()


@pytest.mark.parametrize("given", [[], [b"abc"], [b"abcd", b"abcde"], [b"", b""], [b"x" * 1025]])
def test_what_is_left_to_the_general_way(given: list[bytes]) -> None:
    assert even.of(binary.of_array(pa.array(given, pa.binary()))) is None
