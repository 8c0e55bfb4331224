"""Runs that are embeddings: ranks the whole gallery for every query, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

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
from germane.kernel.columns import Ids
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

if TYPE_CHECKING:
    from germane.readers.groups import Groups

CELLS = 1 << 24  # similarities of a block, two of which are held; small blocks multiply slowly
LARGE = 2.0**200  # a squared length; up to it, and down to its inverse, no type loses digits
TRIED = 8  # queries for which near scores are counted
COST = 64  # of a similarity that is computed alone, when doubles are multiplied for 1 each
ROOM = 8  # times the largest square: no similarity on the way overflows


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings(NumberedRun):
    """Vectors of queries and gallery."""

    no_lists = "embeddings"

    vectors: Vectors
    excluded: Ints | None  # (Q), the column that is no candidate for a query; -1: none
    name: str
    columns: grid.ColumnGroups | None = None  # of the gallery, whose groups then stand together

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.vectors.queries), len(self.vectors.gallery)

    def find_shape(self) -> tuple[int, int]:
        return self.shape

    def count_rows(self) -> Ints:
        left_out = 0 if self.excluded is None else self.excluded >= 0
        return np.full(self.shape[0], self.shape[1]) - left_out

    def collapse_columns(
        self, groups: Groups, item_ids: Sequence[Hashable] | None
    ) -> tuple[NumberedRun, list[Any]]:
        codes, names = groups.number_columns(item_ids, self.shape[1])
        order = np.argsort(codes, kind="stable")
        vectors, excluded = self.vectors, self.excluded
        if not np.array_equal(order, np.arange(len(order))):
            vectors = replace(
                vectors,
                gallery=vectors.gallery[order],
                gallery_lengths=vectors.gallery_lengths[order],
            )
            if excluded is not None:
                place = np.append(np.argsort(order), -1)  # the last for queries without one
                excluded = place[excluded]
        columns = grid.ColumnGroups(codes[order], len(names))
        return replace(self, vectors=vectors, excluded=excluded, columns=columns), names

    @property
    def excluded_columns(self) -> Ints | None:
        """The column, or the group with no other column, that is excluded for each query; -1: none."""
        if self.excluded is None or self.columns is None:
            return self.excluded
        group = np.where(self.excluded >= 0, self.columns.codes[self.excluded], -1)
        alone = np.append(np.diff(self.columns.offsets) == 1, False)
        return np.where(alone[group], group, -1)

    def drop_excluded(
        self, qrels: Qrels, rows: Ints | None = None, columns: Ints | None = None
    ) -> Qrels:
        """Drop the judgments of items that are excluded for their query; a query may lose all of them.

        ``rows`` and ``columns`` are those of the queries and of the judged items, -1 for unknown ones;
        without them, ids number both.
        """
        excluded = self.excluded_columns
        if excluded is None:
            return qrels
        if rows is None or columns is None:
            rows = grid.find_rows(qrels, self.shape[0])
            columns = grid.find_columns(qrels, self.shape[1], "gallery")
        row = np.repeat(rows, np.diff(qrels.offsets))
        kept = (row < 0) | (columns < 0) | (columns != excluded[row])
        at = np.flatnonzero(kept)
        items = qrels.items
        left = ragged.count_flags(kept, ragged.find_owners(qrels.offsets), len(qrels))
        return replace(
            qrels,
            offsets=ragged.make_offsets(left),
            items=items.take(at) if isinstance(items, Ids) else [items[j] for j in at.tolist()],
            grades=qrels.grades[kept],
            columns=None,
        )

    def collapse_scores(self, scores: grid.Scores) -> grid.Scores:
        """Reduce a block of scores, with the numbers of absent cells, to groups of columns."""
        if self.columns is None:
            return scores
        best = self.columns.reduce(scores[0])
        absent = None if scores[1] is None else np.count_nonzero(best == -np.inf, axis=1)
        return best, absent

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        if order.scores == "distances":
            raise PolicyError(
                "scores=distances is for distances that you give; similarity=euclidean ranks embeddings by "
                "their distance."
            )
        if self.vectors.similarity == "euclidean" and not order.plain:
            raise PolicyError(
                "euclidean orders the gallery by distance, which is no score; scores, threshold and "
                "nonpositive are for cosine and dot."
            )
        size, width = self.shape
        count = width if self.columns is None else self.columns.count

        def report(queries: int) -> None:
            if progress is not None:
                progress(self.name, queries, size)

        reduce = partial(
            grid.reduce_grid, qrels, (size, count), order=order, what="gallery", report=report
        )
        if not order.plain:  # the scores themselves matter, each of them
            return reduce(
                lambda asked: self.collapse_scores(
                    _mask_excluded(self, asked, self.vectors.compute_block(asked))
                ),
                cells=max(1, grid.CELLS // width) * count,
            )
        factors = _prepare_factors(qrels, self)
        step = max(1, min(size, CELLS // width))
        step = max(1, step * self.vectors.gallery.itemsize // factors.gallery.itemsize)
        held = np.empty((step, width), factors.gallery.dtype)

        def rank(rows: Ints, scores: Any, offsets: Ints, columns: Ints) -> matrix.Ranks:
            def compute(b: int, near: Ints) -> Floats:
                return self.compute_scores(int(rows[b]), near)

            return margins.rank_exactly(scores, offsets, columns, factors.margin[rows], compute)

        def multiply(asked: Ints) -> grid.Scores:
            scores = held[: len(asked)]
            multiply_block(factors, factors.queries[ragged.as_slice(asked)], scores)
            return self.collapse_scores(_mask_excluded(self, asked, scores))

        return reduce(multiply, cells=step * count, rank=rank)

    def compute_scores(self, query: int, items: Ints) -> Floats:
        """Compute the similarities of a query and some items: columns, or groups of columns."""
        if self.columns is None:
            return self.vectors.compute_scores(query, items)
        starts, lengths = self.columns.offsets[items], np.diff(self.columns.offsets)[items]
        columns = ragged.list_stretches(starts, lengths)
        scores = self.vectors.compute_scores(query, columns)
        if self.excluded is not None:
            scores[columns == self.excluded[query]] = -np.inf
        best: Floats = np.maximum.reduceat(scores, ragged.make_offsets(lengths)[:-1])
        return best


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


def _prepare_factors(qrels: Qrels, run: Embeddings) -> Factors:
    """Choose the type of factors: that of the vectors, or doubles if they are faster.

    Singles leave more scores within the margin, each of which is computed again. A few queries are tried.
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
    scores, _ = run.collapse_scores(_mask_excluded(run, rows[some], scores))
    judgments, sizes = grid.find_judgments(qrels, some)
    columns = grid.find_columns(qrels, scores.shape[1], "gallery")[judgments]
    near = margins.count_near(
        scores, ragged.make_offsets(sizes), columns, factors.margin[rows[some]]
    )
    return prepare_factors(vectors, vectors.wide) if near * COST > scores.size else factors


def _mask_excluded(run: Embeddings, asked: Ints, scores: Any) -> grid.Scores:
    """Set the scores of excluded items to -inf."""
    if run.excluded is None:
        return scores, None
    excluded = run.excluded[asked]
    inside = np.flatnonzero(excluded >= 0)
    scores[inside, excluded[inside]] = -np.inf
    return scores, (excluded >= 0).astype(np.int64)


def _read_vectors(given: Any, what: str) -> Any:
    """Read (rows, D) floating-point numbers: halves become singles, and whole numbers doubles."""
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
    """Square the lengths. Refuses NaN and infinity, which show in the squares."""
    squares = square_lengths(vectors)
    if not np.isfinite(squares).all() and (odd := np.argwhere(~np.isfinite(vectors))).size:
        row, column = odd[0].tolist()
        raise InputError(
            f"{what}, row {row}, column {column}: a number is needed; got {vectors[row, column]}"
        )
    return squares


def _refuse_overflow(squares: list[Floats], kind: Any) -> None:
    """Refuse vectors so long that a similarity may overflow: the square of the sum of two lengths."""
    largest = max(float(side.max()) for side in squares)
    if largest > float(np.finfo(kind).max) / ROOM:
        raise InputError(
            f"the longest vector has length {largest**0.5:.3g}, whose square is too large for "
            f"{np.dtype(kind)}. Divide all vectors by the same number."
        )


def _scale(vectors: Any, squares: Floats, what: str) -> Any:
    """Scale the vectors whose squares overflow or lose digits by powers of two, which is exact.

    The squares of these vectors are replaced in place.
    """
    extreme = np.flatnonzero((squares < 1 / LARGE) | (squares > LARGE))
    if not len(extreme):
        return vectors
    largest = np.abs(vectors[extreme]).max(axis=1)
    zero = extreme[largest == 0]
    if len(zero):
        raise InputError(
            f"{what}, row {zero[0]}: a vector of zeros has no cosine ({len(zero)} of {len(vectors)} rows). Leave these rows out, or use "
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
                f"exclude_self=True means that query i is item i of the gallery, but there are {queries} "
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
