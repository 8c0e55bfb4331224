"""Ranks of dense scores are those that one finds by looking at every pair of cells."""

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from germane.kernel.library import count_threads
from germane.readers.objects import embeddings, margins, numbers, top_ids

Array = Any


def list_ranks(found: margins.Ranks) -> list[tuple[int, ...]]:
    return list(zip(*found[1:], strict=True))


def by_force(scores: Array, wanted: list[list[int]], present: Array) -> list[tuple[int, ...]]:
    out = []
    for row, columns, there in zip(scores.tolist(), wanted, present.tolist(), strict=True):
        kept = [i for i, is_there in enumerate(there) if is_there]
        for c in columns:
            higher = sum(row[i] > row[c] for i in kept)
            equal = [i for i in kept if row[i] == row[c]]
            out.append((higher + 1 + equal.index(c), higher + 1, higher + len(equal)))
    return out


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("levels", [40, 1000])
def test_wanted_columns_that_are_among_the_first(
    dtype: str, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(margins, "SHORT", 0)
    rng = np.random.default_rng(levels)
    scores = rng.integers(0, levels, (6, 300)).astype(dtype)
    best = np.argsort(-scores, axis=1)[:, :40]
    wanted = [sorted(rng.choice(row, 20, replace=False).tolist()) for row in best]
    found = margins.rank_columns(scores, np.arange(7) * 20, np.concatenate(wanted))
    expected = by_force(scores, wanted, np.ones(scores.shape, bool))
    assert list_ranks(found) == [expected[at] for at in found.order]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "?"])
@pytest.mark.parametrize(
    "way",
    ["all at once", "compared", "by row", "by row, counted", "by row, columns too", "in threads"],
)
def test_ranks(dtype: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way != "all at once":
        monkeypatch.setattr(margins, "WIDE", 0)
    if way not in ("all at once", "compared"):
        monkeypatch.setattr(margins, "SHORT", 0)
    if way == "by row, columns too":
        monkeypatch.setattr(margins, "SPREAD", 0)
        monkeypatch.setattr(margins, "FEW", 0)
    if way == "by row, counted":
        monkeypatch.setattr(margins, "FEW", 10**6)
    if way == "in threads":
        monkeypatch.setattr(margins, "ALONE", 1)
        monkeypatch.setattr(margins, "count_threads", lambda: 3)
    monkeypatch.setattr(margins, "BLOCK", 50)
    rng = np.random.default_rng(len(dtype) + len(way))
    for size in (1, 2, 9, 60, 300):
        for levels in (2, 9, 100):
            scores = rng.integers(0, levels, (4, size))
            scores = (scores - levels // 2).astype(dtype)
            if dtype != "?":
                scores[(scores == 0) & (rng.random(scores.shape) < 0.5)] = -0.0
                scores[rng.random(scores.shape) < 0.1] *= np.dtype(dtype).type(1e-3)
            for present in (np.ones(scores.shape, bool), rng.random(scores.shape) < 0.7):
                if dtype != "?":
                    scores[~present] = -np.inf
                elif not present.all():
                    continue
                most = rng.integers(1, size + 1)
                wanted = [rng.permutation(np.flatnonzero(there))[:most] for there in present]
                offsets = np.cumsum([0, *map(len, wanted)])
                found = margins.rank_columns(scores, offsets, np.concatenate(wanted))
                expected = by_force(scores, [one.tolist() for one in wanted], present)
                assert list_ranks(found) == [expected[i] for i in found.order]


def test_ranks_compare_singles_as_singles() -> None:
    """Neighbouring numbers stay apart, also where a single cannot tell them."""
    near = np.array([[1.0, 1.0 + 2**-52, 1.0 - 2**-53]])
    found = margins.rank_columns(near, np.array([0, 3]), np.arange(3))
    assert found.rank[np.argsort(found.order)].tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("said", "most"), [("1", 1), ("2", 2), (" 2,1", 2), ("4", 3), ("0", 3), ("-1", 3), ("all", 3), ("", 3)]
)  # fmt: skip
def test_cores_are_no_more_than_what_openmp_may_use(
    said: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert count_threads() == most


@pytest.mark.parametrize(
    ("dtype", "exponent"), [("f4", 120), ("f4", -140), ("f8", 1010), ("f8", -1060)]
)
def test_a_cosine_does_not_depend_on_lengths(dtype: str, exponent: int) -> None:
    """Also where a square is 0, infinite, or has lost digits: not a bit differs."""
    rng = np.random.default_rng(3)
    vectors = rng.integers(1, 9, (40, 6)).astype(dtype)
    others = np.ldexp(vectors, np.where(rng.random((40, 1)) < 0.5, exponent, 0))
    assert np.isfinite(others).all()
    assert (others != vectors).any()
    assert (
        np.ldexp(others, np.where(others[:, :1] == vectors[:, :1], 0, -exponent)) == vectors
    ).all()
    rows = np.arange(len(vectors))
    one, other = (
        embeddings.read_embeddings(some, some, "cosine", False, "run").vectors.compute_block(rows)
        for some in (vectors, others)
    )
    assert (one == other).all()


def test_host_takes_frames_for_frames() -> None:
    assert not numbers.is_array(SimpleNamespace(columns=["a"], shape=(1, 1), __array__=None))
    assert not numbers.is_array(np.float64(1))
    assert not numbers.is_array([[1.0]])


def test_masked_ids_are_no_items() -> None:
    ids = np.ma.masked_array([[7, 5, 8, 1]], mask=[[0, 0, 0, 1]])
    assert [part.items.python for part in top_ids.open_ids(ids).read_rows()] == [[7, 5, 8]]
