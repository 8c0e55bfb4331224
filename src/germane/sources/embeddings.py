"""Embeddings: every query against the whole gallery, a block of queries at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from germane import _ragged
from germane._ragged import Floats, Ints
from germane.errors import (
    EmptyError,
    FormatError,
    InputError,
    PolicyError,
    choices,
    clip,
    suggestion,
)
from germane.retrieval import Order, Qrels, Retrieved
from germane.sources import grid, host, threads
from germane.sources.ahead import ahead
from germane.sources.paths import Progress

Similarity: TypeAlias = Literal["cosine", "dot", "euclidean"]
Product: TypeAlias = Callable[[Any, Any, Any], None]
"""Some vectors, all of a gallery, and where their products go."""

CELLS = 1 << 24  # similarities of a block, two of which are held: few rows multiply slowly
SHARED = 1 << 27  # multiplications of a product that is worth sharing out
LARGE = 2.0**200  # a squared length; up to it, and down to its inverse, no type loses digits
SQUARED = 1 << 14  # numbers that are squared at once; they stay in the processor's cache


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings:
    """Vectors of queries and gallery, ready to be multiplied: row by column is the similarity."""

    queries: Any  # (Q, D)
    gallery: Any  # (N, D)
    offset: Any  # (N), added to each column, or None
    excluded: Ints | None  # (Q), the column that is no candidate for a query; -1: none
    name: str

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.queries), len(self.gallery)


def read(
    queries: Any, gallery: Any, similarity: Similarity, exclude_self: Any, name: str
) -> Embeddings:
    """Check and prepare vectors: (Q, D) and (N, D)."""
    words = get_args(Similarity)
    if similarity not in words:
        near = suggestion(similarity, words) if isinstance(similarity, str) else ""
        raise InputError(f"similarity takes {choices(words)}; got {clip(similarity)}.{near}")
    left, right = _vectors(queries, "queries"), _vectors(gallery, "gallery")
    if left.shape[1] != right.shape[1]:
        raise FormatError(
            f"queries have {left.shape[1]} dimensions, the gallery has {right.shape[1]}."
        )
    dtype = np.result_type(left, right)
    left, right = left.astype(dtype, copy=False), right.astype(dtype, copy=False)
    excluded = _excluded(exclude_self, len(left), len(right))
    squares = [_squared_lengths(left, "queries"), _squared_lengths(right, "gallery")]
    offset = None
    if similarity == "cosine":
        left, right = _unit(left, squares[0], "queries"), _unit(right, squares[1], "gallery")
    else:
        _refuse_overflow(squares, dtype)
        if similarity == "euclidean":  # |q - g|² = |q|² - 2(q·g - |g|²/2)
            offset = (-0.5 * squares[1]).astype(dtype)
    return Embeddings(left, right, offset, excluded, name)


def retrieve(
    qrels: Qrels, run: Embeddings, duplicates: str, order: Order, progress: Progress | None
) -> Retrieved:
    """The ranks of the judged items of each query among the whole gallery."""
    if run.offset is not None and not order.plain:
        raise PolicyError(
            "euclidean similarities are q·g - |g|²/2, which orders the gallery by distance but is no "
            "number of its own; scores, threshold and nonpositive are for cosine and dot."
        )
    size, width = run.shape
    step = max(1, min(size, CELLS // width))
    held = [np.empty((step, width), run.gallery.dtype) for _ in range(min(2, -(-size // step)))]

    def done(queries: int) -> None:
        if progress is not None:
            progress(run.name, queries, size)

    taken = iter if len(held) == 1 else ahead  # the next product is made while one is ranked
    with _products(step * run.gallery.size) as multiply:
        return grid.reduced(
            qrels,
            run.shape,
            _blocks(run, held, multiply),
            order,
            what="gallery",
            cells=step * width,
            taken=taken,
            done=done,
        )


def _blocks(run: Embeddings, held: list[Any], multiply: Product) -> grid.Block:
    """What makes the similarities of some queries, in the held arrays by turns."""

    def block(asked: Ints) -> grid.Scores:
        vectors = run.queries[_ragged.as_slice(asked)]
        held.reverse()
        scores = held[0][: len(vectors)]
        multiply(vectors, run.gallery, scores)
        if run.offset is not None:
            scores += run.offset
        if run.excluded is None:
            return scores, None
        excluded = run.excluded[asked]
        inside = np.flatnonzero(excluded >= 0)
        scores[inside, excluded[inside]] = -np.inf
        return scores, (excluded >= 0).astype(np.int64)

    return block


@contextmanager
def _products(multiplications: int) -> Iterator[Product]:
    """What multiplies some vectors with all of a gallery: a product is so many multiplications.

    Large products are shared out by columns, a part of the gallery to each thread.
    """
    if threads.cores() == 1 or multiplications < SHARED:
        yield lambda vectors, gallery, out: np.matmul(vectors, gallery.T, out=out)
        return
    from concurrent.futures import ThreadPoolExecutor  # takes as long to import as germane

    with threads.single_products() as count, ThreadPoolExecutor(count) as pool:

        def multiply(vectors: Any, gallery: Any, out: Any) -> None:
            step = -(-len(gallery) // count)
            parts = [slice(at, at + step) for at in range(0, len(gallery), step)]
            list(pool.map(lambda p: np.matmul(vectors, gallery[p].T, out=out[:, p]), parts))

        yield multiply


def without_excluded(qrels: Qrels, run: Embeddings) -> Qrels:
    """The qrels without the judgments of items that are no candidates for their query."""
    if run.excluded is None:
        return qrels
    row = grid.rows_of(qrels, len(run.queries))
    owner = np.repeat(row, np.diff(qrels.offsets))
    kept = (owner < 0) | (
        grid.columns_of(qrels, len(run.gallery), "gallery") != run.excluded[owner]
    )
    return grid.some_judgments(qrels, kept)


def _vectors(given: Any, what: str) -> Any:
    """(rows, D) floating-point numbers: halves become singles and whole numbers doubles."""
    vectors = host.to_numpy(given, what)
    if vectors.ndim != 2:
        raise FormatError(f"{what}: vectors have shape (rows, dimensions); got {vectors.shape}")
    if not vectors.size:
        raise EmptyError(f"{what}: there are no vectors; the shape is {vectors.shape}.")
    if np.ma.is_masked(vectors):
        row, column = np.argwhere(np.ma.getmaskarray(vectors))[0].tolist()
        raise InputError(
            f"{what}, row {row}, column {column}: a number is needed; got a masked cell"
        )
    if vectors.dtype.kind != "f":
        return vectors.astype(np.float64)
    return vectors.astype(np.float32) if vectors.dtype.itemsize == 2 else vectors


def _squared_lengths(vectors: Any, what: str) -> Floats:
    """(rows): summed as doubles, some rows at a time, which stay in the processor's cache.

    A number that is none shows in its row's sum, so that only then every number is looked at.
    """
    step = max(1, SQUARED // vectors.shape[1])
    parts = (vectors[at : at + step].astype(float) for at in range(0, len(vectors), step))
    squares = np.concatenate([np.einsum("nd,nd->n", part, part) for part in parts])
    if not np.isfinite(squares).all() and (odd := np.argwhere(~np.isfinite(vectors))).size:
        row, column = odd[0].tolist()
        raise InputError(
            f"{what}, row {row}, column {column}: a number is needed; got {vectors[row, column]}"
        )
    return squares


def _refuse_overflow(squares: list[Floats], kind: Any) -> None:
    """A similarity is at most the product of two lengths, which must be a number of this kind."""
    largest = max(float(side.max()) for side in squares)
    if largest > float(np.finfo(kind).max):
        raise InputError(
            f"the longest vector has length {largest**0.5:.3g}, whose square is no number of "
            f"{np.dtype(kind)}. Scale all vectors down alike."
        )


def _unit(vectors: Any, squares: Floats, what: str) -> Any:
    """The vectors at length 1; those whose squares overflow or lose digits are scaled before.

    They are scaled by powers of two, which loses none.
    """
    extreme = np.flatnonzero((squares < 1 / LARGE) | (squares > LARGE))
    squares[extreme] = 1
    unit = vectors / np.sqrt(squares).astype(vectors.dtype)[:, None]
    if len(extreme):
        largest = np.abs(vectors[extreme]).max(axis=1)
        zero = extreme[largest == 0]
        if len(zero):
            raise InputError(
                f"{what}, row {zero[0]}: a vector of zeros has no direction, so that its cosine is not "
                f"defined ({len(zero)} of {len(vectors)} rows). Leave these rows out, or use "
                "similarity=dot or euclidean."
            )
        scaled = np.ldexp(vectors[extreme], -np.frexp(largest)[1][:, None])
        unit[extreme] = _unit(scaled, _squared_lengths(scaled, what), what)
    return unit


def _excluded(given: Any, queries: int, gallery: int) -> Ints | None:
    if given is False or given is None:
        return None
    if given is True:
        if queries != gallery:
            raise InputError(
                f"exclude_self=True takes query i for item i of the gallery, but there are {queries} "
                f"queries and {gallery} items; give the position of each query in the gallery "
                "(-1: not in it)."
            )
        return np.arange(queries)
    positions = host.to_numpy(given, "exclude_self")
    if positions.shape != (queries,) or positions.dtype.kind not in "iu":
        raise FormatError(
            f"exclude_self is True, or {queries} positions in the gallery, one a query; got "
            f"{positions.dtype} of shape {positions.shape}"
        )
    outside = np.flatnonzero((positions < -1) | (positions >= gallery))
    if len(outside):
        raise InputError(
            f"exclude_self, query {outside[0]}: {positions[outside[0]]} is no position in a gallery "
            f"of {gallery} items."
        )
    found: Ints = positions.astype(np.int64)
    return found
