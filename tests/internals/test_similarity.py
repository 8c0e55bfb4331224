"""Embeddings: ranks are those of exact similarities, whatever multiplied the vectors."""

import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import germane
from germane.readers.objects import embeddings, margins

from sizes import set_sizes

Array = Any
SIMILARITIES = ["cosine", "dot", "euclidean"]
MEASURES = "AP nDCG P@1 RR NumRelRet"


def world(
    kind: str, seed: int = 0, size: tuple[int, int, int] = (12, 150, 70)
) -> tuple[Array, Array]:
    """Queries and gallery."""
    rng = np.random.default_rng(seed)
    count, items, dimensions = size
    queries, gallery = (rng.standard_normal((rows, dimensions)) for rows in (count, items))
    match kind:
        case "copies":
            gallery = gallery[rng.integers(0, items // 5, items)]
        case "last bits":
            gallery = gallery[0] * (1 + rng.integers(-2, 3, gallery.shape) * 2.0**-23)
        case "equal":
            gallery[:] = gallery[0]
        case "offset":
            queries, gallery = queries + 3000, gallery + 3000
        case "long and short":
            gallery *= np.exp(rng.normal(0, 5, (items, 1)))
            gallery[0] *= 1e9
        case "short":
            queries, gallery = queries * 1e-22, gallery * 1e-22
        case "whole":
            queries, gallery = (rng.integers(1, 3, side.shape) for side in (queries, gallery))
    return queries.astype("f4"), gallery.astype("f4")


KINDS = ["ordinary", "copies", "last bits", "equal", "offset", "long and short", "short", "whole"]


def judged(queries: int, items: int, share: float = 0.3) -> list[set[int]]:
    rng = np.random.default_rng(5)
    return [set(np.flatnonzero(rng.random(items) < share).tolist()) for _ in range(queries)]


def by_force(queries: Array, gallery: Array, kind: str) -> Array:
    """In extended precision, so that a double's rounding shows."""
    queries, gallery = queries.astype(np.longdouble), gallery.astype(np.longdouble)
    if kind == "euclidean":
        return -((queries[:, None] - gallery) ** 2).sum(axis=2) / 4
    products = (queries[:, None] * gallery).sum(axis=2)
    if kind == "dot":
        return products
    return products / np.sqrt((queries**2).sum(axis=1)[:, None] * (gallery**2).sum(axis=1))


def evaluated(queries: Array, gallery: Array, kind: Any, **given: Any) -> dict[str, Any]:
    given.setdefault("qrels", judged(len(queries), len(gallery)))
    result = germane.evaluate_embeddings(queries, gallery, MEASURES, similarity=kind, **given)
    return told(result)


def told(result: germane.types.Result) -> dict[str, Any]:
    return {str(name): (one.per_query, one.best, one.worst) for name, one in result.items()}


# -------------------------------------------------------------------------- exact similarities


@pytest.mark.parametrize("kind", SIMILARITIES)
@pytest.mark.parametrize("data", KINDS)
def test_similarities_are_right_to_a_double(data: str, kind: Any) -> None:
    queries, gallery = world(data)
    vectors = embeddings.read_embeddings(queries, gallery, kind, False, "run").vectors
    expected = by_force(queries, gallery, kind)
    long = np.linalg.norm(queries.astype(float), axis=1)[:, None]
    reach = (
        long * np.linalg.norm(gallery.astype(float), axis=1) if kind == "dot" else np.abs(expected)
    )
    found = vectors.compute_block(np.arange(len(queries)))
    assert (np.abs(found - expected) <= 1e-14 * np.maximum(reach, kind == "cosine")).all()
    some = np.array([149, 3, 3, 70])
    assert (vectors.compute_scores(7, some) == found[7, some]).all()


@pytest.mark.parametrize("size", [1, 3, 63, 4096, 4097, 8193, 20_000])
def test_a_sum_does_not_depend_on_the_other_rows(size: int) -> None:
    """As einsum's does, where rows are longer than its buffer."""
    rows, other = np.random.default_rng(1).standard_normal((2, 40, size))
    whole = embeddings.sum_products(rows, other[0])
    squares = embeddings.sum_products(rows, rows)
    for step in (1, 2, 7):
        for start in range(0, 40, step):
            part = slice(start, start + step)
            some = rows[part].copy()
            assert (embeddings.sum_products(some, other[0]) == whole[part]).all()
            assert (embeddings.sum_products(some, some) == squares[part]).all()


@pytest.mark.parametrize("kind", SIMILARITIES)
@pytest.mark.parametrize("data", KINDS)
@pytest.mark.parametrize("of", [np.float32, np.float64])
def test_products_are_within_their_margin(data: str, kind: Any, of: Any) -> None:
    """They differ from the similarities by one number a query, and by half of the margin at most."""
    queries, gallery = world(data)
    vectors = embeddings.read_embeddings(queries, gallery, kind, False, "run").vectors
    expected = by_force(queries, gallery, "dot" if kind == "cosine" else kind)
    if kind == "cosine":
        expected /= np.sqrt((gallery.astype(np.longdouble) ** 2).sum(axis=1))
    if kind == "euclidean":
        expected *= 2
    factors = embeddings.prepare_factors(vectors, of)
    out = np.empty((len(queries), len(gallery)), of)
    embeddings.multiply_block(factors, factors.queries, out)
    apart = out - expected
    assert (apart.max(axis=1) - apart.min(axis=1) <= factors.margin).all()


# ------------------------------------------------------------------------------ ranks by them


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIMILARITIES)
@pytest.mark.parametrize("data", KINDS)
def test_ranks_are_those_of_exact_similarities(
    data: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever way the ranks are found, in blocks of any size, in singles and in doubles."""
    queries, gallery = world(data, size=(70, 150, 70))
    vectors = embeddings.read_embeddings(queries, gallery, kind, False, "run").vectors
    exact = vectors.compute_block(np.arange(len(queries)))
    expected = told(germane.evaluate(judged(70, 150), exact, MEASURES))
    assert evaluated(queries, gallery, kind) == expected
    for short, top, bins, cost, cells in (
        (0, 4, margins.BINS, 0, 1 << 24),
        (0, 1 << 20, margins.BINS, 0, 1000),
        (0, 1 << 20, 9, 1 << 40, 1),
        (8192, 4, margins.BINS, 1 << 40, 1000),
    ):
        monkeypatch.setattr(margins, "SHORT", short)
        monkeypatch.setattr(margins, "TOP", top)
        monkeypatch.setattr(margins, "BINS", bins)
        monkeypatch.setattr(embeddings, "COST", cost)
        set_sizes(monkeypatch, product_cells=cells)
        assert evaluated(queries, gallery, kind) == expected


def test_crowded_singles_are_multiplied_as_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = []
    prepare = embeddings.prepare_factors

    def spied(vectors: Any, kind: Any) -> Any:
        kinds.append(np.dtype(kind).name)
        return prepare(vectors, kind)

    monkeypatch.setattr(embeddings, "prepare_factors", spied)
    for data in ("ordinary", "whole"):
        evaluated(*world(data, size=(70, 150, 8)), "cosine")
    assert kinds == ["float32", "float32", "float64"]


@pytest.mark.parametrize("kind", SIMILARITIES)
def test_two_identical_sets_are_tied(kind: Any) -> None:
    """Query i is item i, and item 500 + i. Products gave P@1 = .95, and down to .04 at worst."""
    some = np.random.default_rng(0).standard_normal((500, 128)).astype("f4")
    result = germane.evaluate_embeddings(
        some,
        np.concatenate([some, some]),
        "P@1 RR",
        qrels=[{i} for i in range(500)],
        similarity=kind,
    )
    assert (result["P@1"].mean, result["P@1"].best, result["P@1"].worst) == (1, 1, 0)
    assert (result["RR"].mean, result["RR"].best, result["RR"].worst) == (1, 1, 1 / 2)
    assert result.counts.tied == 500


@pytest.mark.parametrize("kind", SIMILARITIES)
@pytest.mark.parametrize("data", KINDS)
def test_the_order_of_the_gallery_does_not_matter(data: str, kind: Any) -> None:
    queries, gallery = world(data)
    relevant = judged(len(queries), len(gallery))
    one = evaluated(queries, gallery, kind, qrels=relevant, ties="expected")
    order = np.random.default_rng(3).permutation(len(gallery))
    place = np.argsort(order)
    moved = [set(place[list(items)].tolist()) for items in relevant]
    other = evaluated(queries, gallery[order], kind, qrels=moved, ties="expected")
    for name, (values, best, worst) in one.items():
        assert other[name][0] == pytest.approx(values, rel=1e-12)
        assert other[name][1:] == pytest.approx((best, worst), rel=1e-12)


THREADS = """
import sys
import numpy as np, germane
rng = np.random.default_rng(0)
some = rng.standard_normal((1500, 96)).astype("f4")
gallery = np.concatenate([some, some[::3], some[::-1]])
label = np.arange(1500) % 7
labels = np.concatenate([label, label[::3], label[::-1]])
for similarity in ("cosine", "dot", "euclidean"):
    result = germane.evaluate_embeddings(
        some, gallery, "AP", query_labels=label, gallery_labels=labels, similarity=similarity
    )["AP"]
    print(result.mean.hex(), result.best.hex(), result.worst.hex(), hash(tuple(result.per_query.values())))
"""


@pytest.mark.slow
def test_the_threads_of_the_matrix_library_do_not_matter() -> None:
    printed = set()
    for library, own in (("1", "1"), ("2", "1"), ("1", "2")):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": library, "OMP_NUM_THREADS": own}
        command = [sys.executable, "-c", THREADS]
        printed.add(
            subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            ).stdout
        )
    assert len(printed) == 1


@pytest.mark.parametrize("kind", ["dot", "euclidean"])
def test_last_bits_are_told_apart(kind: Any) -> None:
    """Against fractions, in which nothing is rounded."""
    queries, gallery = world("last bits", size=(3, 60, 5))
    exact = [
        [
            -sum((x - y) ** 2 for x, y in zip(q, g, strict=True))
            if kind == "euclidean"
            else sum(x * y for x, y in zip(q, g, strict=True))
            for g in [list(map(Fraction, row)) for row in gallery.tolist()]
        ]
        for q in [list(map(Fraction, row)) for row in queries.tolist()]
    ]
    places = [{score: float(i) for i, score in enumerate(sorted(set(row)))} for row in exact]
    ranked = np.array(
        [[place[score] for score in row] for row, place in zip(exact, places, strict=True)]
    )
    assert len(places[0]) > 40  # all of which are equal in singles, or nearly so
    expected = told(germane.evaluate(judged(3, 60), ranked, MEASURES))
    assert evaluated(queries, gallery, kind) == expected


@pytest.mark.parametrize("offset", [0, 1000, 3000])
def test_distances_far_from_the_origin(offset: int) -> None:
    """Singles around 3000 lost a third of their AP."""
    rng = np.random.default_rng(2)
    label = np.arange(600) % 6
    centres = 0.35 * rng.standard_normal((6, 32))
    some = (centres[label] + rng.standard_normal((600, 32)) + offset).astype("f4")
    result = germane.evaluate_embeddings(
        some,
        some,
        "AP",
        query_labels=label,
        gallery_labels=label,
        similarity="euclidean",
        exclude_self=True,
    )
    wide = some.astype(float)
    distance = ((wide[:, None] - wide) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    precise = []
    for q, row in enumerate(distance):
        hits = label[np.argsort(row, kind="stable")[:-1]] == label[q]
        at = np.flatnonzero(hits) + 1
        precise.append(float((np.cumsum(hits)[at - 1] / at).mean()))
    assert result["AP"].mean == pytest.approx(np.mean(precise), rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("dot", {0: 1 / 2, 1: 1 / 2}),  # item 3 is above the others for query 0, all are tied for 1
        ("euclidean", {0: 1.0, 1: 1 / 2}),  # all are as far from query 0, item 3 is behind for 1
    ],
)
def test_zeros_are_tied(kind: Any, values: dict[int, float]) -> None:
    queries, gallery = np.array([[1, 1, 0, 0], [0, 0, 0, 0]], "f4"), np.zeros((5, 4), "f4")
    gallery[3] = 1e-30
    result = germane.evaluate_embeddings(queries, gallery, "RR", qrels=[{0}, {1}], similarity=kind)
    assert result["RR"].per_query == values
    assert result.counts.tied == 2


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_min_score_keeps_all_of_equal_vectors(dtype: str) -> None:
    """Where scores are looked at themselves, all of them are exact."""
    some = np.random.default_rng(4).standard_normal((40, 33)).astype(dtype)
    gallery = np.concatenate([some] * 3)
    vectors = embeddings.read_embeddings(some[:1], gallery, "cosine", False, "run").vectors
    scores = vectors.compute_block(np.array([0]))[0]
    for place in (0, 1, 17):
        result = germane.evaluate_embeddings(
            some[:1], gallery, "NumRet", qrels=[{0}], min_score=float(scores[place])
        )
        expected = np.count_nonzero(scores >= scores[place])
        assert expected % 3 == 0
        assert result["NumRet"].mean == expected


# ------------------------------------------------------------------------- margins by themselves


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("margin", [0.0, 1e-3, 0.1, 100.0])
@pytest.mark.parametrize(
    ("top", "bins"), [(4, margins.BINS), (1 << 20, margins.BINS), (1 << 20, 5)]
)
def test_only_who_is_near_is_asked_for(
    kind: str, margin: float, top: int, bins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(margins, "SHORT", 0)
    monkeypatch.setattr(margins, "TOP", top)
    monkeypatch.setattr(margins, "BINS", bins)
    rng = np.random.default_rng(7)
    exact = rng.integers(0, 300, (9, 400)).astype(kind) / 64
    exact[2] = 1.5
    scores = (exact + rng.uniform(-0.49, 0.49, exact.shape) * margin).astype(kind)
    scores[4, 5] = -np.inf
    wanted = [
        rng.choice(np.arange(6, 400), size, replace=False)
        for size in (0, 1, 2, 8, 60, 300, 3, 20, 0)
    ]
    asked: dict[int, Array] = {}

    def tell(b: int, columns: Array) -> tuple[Array, None]:
        asked[b] = columns
        return exact[b, columns].astype(float), None

    offsets = np.cumsum([0, *map(len, wanted)])
    found = margins.rank_exactly(
        scores, offsets, np.concatenate(wanted), np.full(9, margin * 1.01 + 1e-6), tell
    )
    first, last = found.tied_from, found.tied_to
    for b, own in enumerate(wanted):
        here = slice(offsets[b], offsets[b + 1])
        columns = np.concatenate(wanted)[found.order[here]]
        assert sorted(columns.tolist()) == sorted(own.tolist())
        row = np.where(np.isfinite(scores[b]), exact[b], -np.inf)
        place = np.argsort(np.argsort(-row, kind="stable"), kind="stable")
        assert (found.rank[here] == place[columns] + 1).all()
        assert (np.diff(found.rank[here]) > 0).all()
        above = row > row[columns, None]
        assert (first[here] == above.sum(axis=1) + 1).all()
        assert (last[here] == (row >= row[columns, None]).sum(axis=1)).all()
        reach = 2 * margin + 1e-5
        close = np.abs(scores[b][:, None] - scores[b][own]).min(axis=1, initial=np.inf) <= reach
        assert close[asked.get(b, np.empty(0, int))].all()
