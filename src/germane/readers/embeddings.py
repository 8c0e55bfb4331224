"""Embeddings: every query against the whole gallery, a block of queries at a time."""

from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np

from germane.core import ragged
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.core.retrieved import Order, Retrieved
from germane.errors import (
    EmptyError,
    FormatError,
    InputError,
    PolicyError,
    check_choice,
)
from germane.readers import grid, margins, matrix, numbers
from germane.readers.arrays import NumberedRun
from germane.readers.similarity import (
    Factors,
    Similarity,
    Vectors,
    multiply_block,
    prepare_factors,
    square_lengths,
)

CELLS = 1 << 24  # similarities of a block, two of which are held: few rows multiply slowly
LARGE = 2.0**200  # a squared length; up to it, and down to its inverse, no type loses digits
TRIED = 8  # queries that tell how many scores are near
COST = 64  # of a similarity that is computed alone, when doubles are multiplied for 1 each
ROOM = 8  # times the largest square: no similarity on the way overflows


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings(NumberedRun):
    """Vectors of queries and gallery, and who is no candidate for whom."""

    vectors: Vectors
    excluded: Ints | None  # (Q), the column that is no candidate for a query; -1: none
    name: str

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.vectors.queries), len(self.vectors.gallery)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        return retrieve_neighbors(qrels, self, order, progress)


def read_embeddings(
    queries: Any, gallery: Any, similarity: Similarity, exclude_self: Any, name: str
) -> Embeddings:
    """Check and prepare vectors: (Q, D) and (N, D)."""
    check_choice("similarity", similarity, get_args(Similarity), InputError)
    left, right = _read_vectors(queries, "queries"), _read_vectors(gallery, "gallery")
    if left.shape[1] != right.shape[1]:
        raise FormatError(
            f"queries have {left.shape[1]} dimensions, the gallery has {right.shape[1]}."
        )
    dtype = np.result_type(left, right)
    left, right = left.astype(dtype, copy=False), right.astype(dtype, copy=False)
    excluded = _find_excluded(exclude_self, len(left), len(right))
    squares = [_square_lengths(left, "queries"), _square_lengths(right, "gallery")]
    if similarity == "cosine":
        left, right = _scale(left, squares[0], "queries"), _scale(right, squares[1], "gallery")
    else:
        _refuse_overflow(squares, dtype)
    vectors = Vectors(left, right, np.sqrt(squares[0]), np.sqrt(squares[1]), similarity)
    return Embeddings(vectors, excluded, name)


def retrieve_neighbors(
    qrels: Qrels, run: Embeddings, order: Order, progress: Progress | None
) -> Retrieved:
    """The ranks of the judged items of each query among the whole gallery."""
    if run.vectors.similarity == "euclidean" and not order.plain:
        raise PolicyError(
            "euclidean orders the gallery by distance, which is no score; scores, threshold and "
            "nonpositive are for cosine and dot."
        )
    size, width = run.shape

    def done(queries: int) -> None:
        if progress is not None:
            progress(run.name, queries, size)

    step = max(1, min(size, CELLS // width))
    reduced = partial(grid.reduce_grid, qrels, run.shape, order=order, what="gallery", done=done)
    if not order.plain:  # the scores themselves matter, each of them
        return reduced(lambda asked: _drop(run, asked, run.vectors.block(asked)))
    factors = _prepare_factors(qrels, run)
    step = max(1, step * run.vectors.gallery.itemsize // factors.gallery.itemsize)
    held = np.empty((step, width), factors.gallery.dtype)

    def rank(rows: Ints, scores: Any, offsets: Ints, columns: Ints) -> matrix.Ranks:
        def exact(b: int, near: Ints) -> Floats:
            return run.vectors.scores(int(rows[b]), near)

        return margins.rank_exactly(scores, offsets, columns, factors.margin[rows], exact)

    def block(asked: Ints) -> grid.Scores:
        scores = held[: len(asked)]
        multiply_block(factors, factors.queries[ragged.as_slice(asked)], scores)
        return _drop(run, asked, scores)

    return reduced(block, cells=step * width, rank=rank)


def _prepare_factors(qrels: Qrels, run: Embeddings) -> Factors:
    """Singles where the vectors are, unless these leave so many near that doubles are faster.

    A few queries tell.
    """
    vectors = run.vectors
    factors = prepare_factors(vectors, vectors.gallery.dtype)
    rows = grid.find_rows(qrels, run.shape[0])
    asked = np.flatnonzero(rows >= 0)
    some = asked[:: max(1, len(asked) // TRIED)]
    if factors.gallery.dtype == vectors.wide or len(asked) < TRIED * TRIED:
        return factors
    scores = np.empty((len(some), run.shape[1]), factors.gallery.dtype)
    multiply_block(factors, factors.queries[rows[some]], scores)
    scores, _ = _drop(run, rows[some], scores)
    judgments, sizes = grid.find_judgments(qrels, some)
    columns = grid.find_columns(qrels, run.shape[1], "gallery")[judgments]
    near = margins.count_near(
        scores, ragged.make_offsets(sizes), columns, factors.margin[rows[some]]
    )
    return prepare_factors(vectors, vectors.wide) if near * COST > scores.size else factors


def _drop(run: Embeddings, asked: Ints, scores: Any) -> grid.Scores:
    """The scores of some queries without those of items that are no candidates."""
    if run.excluded is None:
        return scores, None
    excluded = run.excluded[asked]
    inside = np.flatnonzero(excluded >= 0)
    scores[inside, excluded[inside]] = -np.inf
    return scores, (excluded >= 0).astype(np.int64)


def drop_excluded(qrels: Qrels, run: Embeddings) -> Qrels:
    """The qrels without the judgments of items that are no candidates for their query."""
    if run.excluded is None:
        return qrels
    row = grid.find_rows(qrels, run.shape[0])
    owner = np.repeat(row, np.diff(qrels.offsets))
    kept = (owner < 0) | (grid.find_columns(qrels, run.shape[1], "gallery") != run.excluded[owner])
    return grid.find_some_judgments(qrels, kept)


def _read_vectors(given: Any, what: str) -> Any:
    """(rows, D) floating-point numbers: halves become singles and whole numbers doubles."""
    vectors = numbers.to_numpy(given, what)
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


def _square_lengths(vectors: Any, what: str) -> Floats:
    """(rows). A number that is none shows in its row's sum, so that only then every number is looked at."""
    squares = square_lengths(vectors)
    if not np.isfinite(squares).all() and (odd := np.argwhere(~np.isfinite(vectors))).size:
        row, column = odd[0].tolist()
        raise InputError(
            f"{what}, row {row}, column {column}: a number is needed; got {vectors[row, column]}"
        )
    return squares


def _refuse_overflow(squares: list[Floats], kind: Any) -> None:
    """A similarity is at most the product of two lengths, or the square of their sum."""
    largest = max(float(side.max()) for side in squares)
    if largest > float(np.finfo(kind).max) / ROOM:
        raise InputError(
            f"the longest vector has length {largest**0.5:.3g}, whose square is too large for "
            f"{np.dtype(kind)}. Scale all vectors down alike."
        )


def _scale(vectors: Any, squares: Floats, what: str) -> Any:
    """The vectors, those scaled whose squares overflow or lose digits; their squares become the new ones.

    They are scaled by powers of two, which loses none.
    """
    extreme = np.flatnonzero((squares < 1 / LARGE) | (squares > LARGE))
    if not len(extreme):
        return vectors
    largest = np.abs(vectors[extreme]).max(axis=1)
    zero = extreme[largest == 0]
    if len(zero):
        raise InputError(
            f"{what}, row {zero[0]}: a vector of zeros has no direction, so that its cosine is not "
            f"defined ({len(zero)} of {len(vectors)} rows). Leave these rows out, or use "
            "similarity=dot or euclidean."
        )
    vectors = vectors.copy()
    vectors[extreme] = np.ldexp(vectors[extreme], -np.frexp(largest)[1][:, None])
    squares[extreme] = square_lengths(vectors[extreme])
    return vectors


def _find_excluded(given: Any, queries: int, gallery: int) -> Ints | None:
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
    positions = numbers.to_numpy(given, "exclude_self")
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
