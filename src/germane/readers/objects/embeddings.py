"""Runs that are embeddings: ranks the whole gallery for each query, in blocks of queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args

import numpy as np

from germane.core import ragged
from germane.core.qrels import Order, Qrels
from germane.core.ragged import Floats, Ints
from germane.errors import (
    EmptyError,
    FormatError,
    InputError,
    PolicyError,
    check_choice,
    write_option,
)
from germane.kernel.reduction import Batch, Results
from germane.readers.objects import arrays, margins, numbers
from germane.readers.objects.arrays import ArrayRun, Asked, Read, make_batch
from germane.readers.objects.item_ids import Axis
from germane.readers.objects.margins import Grid, GroupedColumns, Rank, Ranks, rank_columns

if TYPE_CHECKING:
    from germane.readers.options.item_groups import Groups


Similarity: TypeAlias = Literal["cosine", "dot", "euclidean"]

PIECE = 1 << 12  # terms of a sum that einsum adds in one order, however many rows there are
ROWS = 1 << 15  # numbers that are converted at once; they stay in the processor's cache


@dataclass(frozen=True, eq=False, repr=False)
class Vectors:
    """Vectors of queries and gallery, and their lengths."""

    queries: Any  # (Q, D)
    gallery: Any  # (N, D)
    query_lengths: Floats  # (Q)
    gallery_lengths: Floats  # (N)
    similarity: Similarity

    @property
    def wide(self) -> Any:
        """The type of similarities: double, or that of the vectors if it is wider."""
        return np.result_type(np.float64, self.gallery)

    def compute_scores(self, query: int, columns: Ints) -> Floats:
        """Compute the similarities of a query and some of the gallery."""
        vector = self.queries[query].astype(self.wide)
        step = max(1, ROWS // len(vector))
        parts = (columns[start : start + step] for start in range(0, len(columns), step))
        scores = [
            self._compare(self.gallery[rows].astype(self.wide), query, vector, rows)
            for rows in parts
        ]
        return np.concatenate(scores)

    def compute_block(self, queries: Ints) -> Floats:
        """Compute the similarities of some queries and all of the gallery."""
        out = np.empty((len(queries), len(self.gallery)), self.wide)
        vectors = self.queries[queries].astype(self.wide)
        step = max(1, ROWS // vectors.shape[1])
        for start in range(0, len(self.gallery), step):
            block = slice(start, start + step)
            part = self.gallery[block].astype(self.wide)
            for row, query in enumerate(queries.tolist()):
                out[row, block] = self._compare(part, query, vectors[row], block)
        return out

    def _compare(self, part: Any, query: int, vector: Any, rows: Any) -> Floats:
        """Compute the similarities of a query and a part of the gallery, both in the wide type."""
        if self.similarity == "euclidean":
            apart = 0.5 * (part - vector)  # half of it, so that no square overflows
            return np.negative(sum_products(apart, apart))
        scores = sum_products(part, vector)
        if self.similarity == "cosine":
            scores /= self.query_lengths[query] * self.gallery_lengths[rows]
        return scores


def sum_products(rows: Any, columns: Any) -> Floats:
    """Multiply each row with the same row of the other side, or with its one vector.

    Rows are summed in pieces, since einsum sums long rows in an order that depends on their number.
    """
    terms = "nd,nd->n" if columns.ndim == 2 else "nd,d->n"
    total: Floats = np.einsum(terms, rows[:, :PIECE], columns[..., :PIECE])
    for start in range(PIECE, rows.shape[1], PIECE):
        piece = slice(start, start + PIECE)
        total += np.einsum(terms, rows[:, piece], columns[..., piece])
    return total


def square_lengths(vectors: Any) -> Floats:
    """Square the length of each row, in doubles."""
    wide, step = np.result_type(np.float64, vectors), max(1, ROWS // 2 // vectors.shape[1])
    parts = (vectors[start : start + step].astype(wide) for start in range(0, len(vectors), step))
    return np.concatenate([sum_products(part, part) for part in parts])


CENTRED = 1 << 14  # numbers that are centred at once; they stay in the processor's cache
SAMPLE = 1 << 12  # vectors whose mean is subtracted
SLACK = 1.01  # for the products of roundings, which are far smaller


@dataclass(frozen=True, eq=False, repr=False)
class Factors:
    """Queries and gallery, prepared for multiplication."""

    queries: Any  # (Q, D)
    gallery: Any  # (N, D), less the mean
    offset: Any  # (N), added to each column, or None
    margin: Floats  # (Q): scores that differ by more are in the order of the exact ones


def prepare_factors(vectors: Vectors, kind: Any) -> Factors:
    """Make factors of a type; products order the gallery as similarities do, but for the margin."""
    cosine, euclidean = (vectors.similarity == kind for kind in ("cosine", "euclidean"))
    lengths = vectors.gallery_lengths if cosine else None
    mean = _average(vectors.gallery, lengths, vectors.wide)
    gallery = _center(vectors.gallery, lengths, mean, kind)
    squares = square_lengths(gallery)
    short = float(np.sqrt(squares.max()))
    offset: Any = None
    added: Any = 0.0
    if euclidean:
        queries, offset = _center(vectors.queries, None, mean, kind), (-0.5 * squares).astype(kind)
        long = np.sqrt(square_lengths(queries))
        reach, added = (long + short) ** 2, 4 * short**2 + long * short
    else:
        queries, long = vectors.queries.astype(kind, copy=False), vectors.query_lengths
        reach = long * (1.0 if cosine else float(vectors.gallery_lengths.max()))
    size = gallery.shape[1]
    unit, exact = (float(np.finfo(dtype).eps) / 2 for dtype in (kind, vectors.wide))
    error: Floats = (
        unit * ((size + 4) * long * short + added)  # 2 for each side's rounding to this type
        + exact * (3 * size + 16) * reach  # lengths, the mean, and the exact similarity itself
        + float(np.finfo(kind).tiny) * size * (1 + long + short)  # where products underflow
    )
    return Factors(queries, gallery, offset, SLACK * 2 * error)


def _average(vectors: Any, lengths: Floats | None, wide: Any) -> Any:
    """Average a sample of the gallery. Any vector near the mean would do."""
    chosen = slice(None, None, -(-len(vectors) // SAMPLE))
    sample = vectors[chosen].astype(wide)
    return (sample if lengths is None else sample / lengths[chosen, None]).mean(axis=0)


def _center(vectors: Any, lengths: Floats | None, mean: Any, kind: Any) -> Any:
    """Divide the vectors by their lengths, if given, and subtract the mean, in the wide type."""
    out, step = np.empty(vectors.shape, kind), max(1, CENTRED // vectors.shape[1])
    for start in range(0, len(vectors), step):
        block = slice(start, start + step)
        part = vectors[block].astype(mean.dtype)
        if lengths is not None:
            part /= lengths[block, None]
        np.subtract(part, mean, out=out[block], casting="same_kind")
    return out


def multiply_block(factors: Factors, vectors: Any, out: Any) -> None:
    """Multiply some queries with the gallery."""
    np.matmul(vectors, factors.gallery.T, out=out)
    if factors.offset is not None:
        out += factors.offset


# --- Runs that are embeddings: ranks the whole gallery for each query, in blocks of queries -------

CELLS = 1 << 24  # similarities of a block, two of which are held; small blocks multiply slowly
LARGE = 2.0**200  # a squared length; up to it, and down to its inverse, no type loses digits
TRIED = 8  # queries for which near scores are counted
COST = 64  # of a similarity that is computed alone, when doubles are multiplied for 1 each
ROOM = 8  # times the largest square: no similarity on the way overflows


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Embeddings(ArrayRun):
    """Vectors of queries and gallery."""

    vectors: Vectors
    excluded: Ints | None  # (Q), the item that is no candidate for a query; -1: none
    columns: GroupedColumns | None = None  # the groups that stand for items

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.vectors.queries), len(self.vectors.gallery)

    @property
    def width(self) -> int:
        return len(self.vectors.gallery)

    def count_rows(self) -> Ints:
        left_out = 0 if self.excluded is None else self.excluded >= 0
        return np.full(self.shape[0], self.width) - left_out

    def collapse_items(self, groups: Groups) -> tuple[Self, list[Any]]:
        """The items of a group then stand together in the gallery."""
        codes, names = groups.number_columns(self.items.ids, self.width)
        order = np.argsort(codes, kind="stable")
        vectors, excluded = self.vectors, self.excluded
        if not np.array_equal(order, np.arange(len(order))):
            gallery, lengths = vectors.gallery[order], vectors.gallery_lengths[order]
            vectors = replace(vectors, gallery=gallery, gallery_lengths=lengths)
            if excluded is not None:
                excluded = np.append(np.argsort(order), -1)[excluded]  # the last for -1
        columns = GroupedColumns(codes[order], len(names), order)
        return replace(self, vectors=vectors, excluded=excluded, columns=columns), names

    def split(self, rows: Ints, cells: int) -> Iterator[Ints]:
        """Divide rows into blocks; larger ones multiply faster."""
        yield from super().split(rows, min(cells * CELLS // arrays.CELLS, CELLS))

    def drop_excluded(self, qrels: Qrels) -> Qrels:
        """Drop the judgments of items that are excluded; a query may lose all of them."""
        excluded = self.excluded
        if excluded is None:
            return qrels
        if self.columns is not None:  # a group is excluded if it has no other item
            group = np.where(excluded >= 0, self.columns.codes[excluded], -1)
            is_last = np.append(np.diff(self.columns.offsets) == 1, False)
            excluded = np.where(is_last[group], group, -1)
        item = self.items.find_judged(qrels)
        owner = ragged.find_owners(qrels.offsets)
        row = self.queries.find_rows(qrels)[owner]
        is_candidate = (row < 0) | (item < 0) | (item != excluded[row])
        return qrels.keep(is_candidate)

    def open_blocks(self, wanted: Asked | None) -> Read:
        vectors, euclidean = self.vectors, self.vectors.similarity == "euclidean"
        if wanted is not None:
            _check_order(wanted.order, euclidean)
        by_ids = wanted is not None and self.has_ids and wanted.order.equal != "given"
        if wanted is None or by_ids or not wanted.order.plain:  # each of the scores matters
            return lambda rows, code: self._list_scores(rows, code, vectors.compute_block(rows))
        factors = self._choose_factors(wanted)
        block = np.empty((0, self.width), factors.gallery.dtype)

        def read(rows: Ints, code: Ints) -> Results:
            nonlocal block
            if len(block) < len(rows):
                block = np.empty((len(rows), self.width), factors.gallery.dtype)
            scores = block[: len(rows)]
            multiply_block(factors, factors.queries[ragged.as_slice(rows)], scores)

            def rank(scores: Any, offsets: Ints, items: Ints) -> Ranks:
                def compute(b: int, near: Ints) -> tuple[Floats, Ints | None]:
                    return self._compute_scores(int(rows[b]), near)

                return margins.rank_exactly(scores, offsets, items, factors.margin[rows], compute)

            return self._make_grid(rows, code, scores, rank)

        return read

    def _list_scores(self, rows: Ints, code: Ints, scores: Any) -> Batch:
        """List all similarities of some queries, in the order of the gallery as it was given."""
        is_present = None
        if self.excluded is not None:
            is_present = np.arange(self.width) != self.excluded[rows][:, None]
        if self.columns is None:
            return make_batch(code, scores, is_present, None)
        order = np.argsort(self.columns.places)
        if is_present is not None:
            is_present = is_present[:, order]
        return make_batch(code, scores[:, order], is_present, self.columns.codes[order])

    def _make_grid(self, rows: Ints, code: Ints, scores: Any, rank: Rank) -> Grid:
        """Make a grid without the items that are excluded."""
        if self.excluded is None:
            return Grid(code, scores, rank, columns=self.columns)
        excluded = self.excluded[rows]
        inside = np.flatnonzero(excluded >= 0)
        scores[inside, excluded[inside]] = -np.inf
        return Grid(code, scores, rank, (excluded >= 0).astype(np.int64), self.columns)

    def _compute_scores(self, query: int, items: Ints) -> tuple[Floats, Ints | None]:
        """Compute the similarities of a query and items, or groups of these with their places."""
        if self.columns is None:
            return self.vectors.compute_scores(query, items), None
        starts, lengths = self.columns.offsets[items], np.diff(self.columns.offsets)[items]
        places = ragged.list_stretches(starts, lengths)
        scores = self.vectors.compute_scores(query, places)
        if self.excluded is not None:
            scores[places == self.excluded[query]] = -np.inf
        starts = ragged.make_offsets(lengths)[:-1]
        best: Floats = np.maximum.reduceat(scores, starts)
        places_of_best = np.where(
            scores == np.repeat(best, lengths), self.columns.places[places], self.width
        )
        return best, np.minimum.reduceat(places_of_best, starts)

    def _choose_factors(self, wanted: Asked) -> Factors:
        """Choose the type of factors: that of the vectors, or doubles if they are faster.

        Singles leave more scores within the margin, each of which is computed again. A few queries
        are tried.
        """
        vectors = self.vectors
        factors = prepare_factors(vectors, vectors.gallery.dtype)
        places = np.flatnonzero(wanted.rows >= 0)
        if factors.gallery.dtype == vectors.wide or len(places) < TRIED * TRIED:
            return factors
        sample = places[:: len(places) // TRIED]
        rows = wanted.rows[sample]
        scores = np.empty((len(sample), self.width), factors.gallery.dtype)
        multiply_block(factors, factors.queries[rows], scores)
        grid = self._make_grid(rows, sample, scores, rank_columns).collapse()
        _, group, items = grid.list_pairs(wanted.judged)
        group, items = group[items >= 0], items[items >= 0]
        offsets = ragged.make_offsets(np.bincount(group, minlength=len(sample)))
        near = margins.count_near(grid.scores, offsets, items, factors.margin[rows])
        return prepare_factors(vectors, vectors.wide) if near * COST > grid.size else factors


def _check_order(order: Order, euclidean: bool) -> None:
    if order.scores == "distances":
        raise PolicyError(
            f"{write_option('scores', 'distances')} is for distances that you pass; to rank"
            " embeddings by their distance, use similarity=euclidean."
        )
    reads_scores = order.scores != "double" or order.least is not None
    if euclidean and (reads_scores or order.nonpositive == "miss"):
        raise PolicyError(
            "euclidean orders the gallery by distance, which is not a score; scores, min_score and"
            " nonpositive are for cosine and dot."
        )


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
    return Embeddings(
        queries=Axis("query_ids", len(left)),
        items=Axis("item_ids", len(right), what="gallery"),
        name=name,
        vectors=vectors,
        excluded=excluded,
    )


def _read_vectors(raw: Any, noun: str) -> Any:
    """Read (rows, D) floating-point numbers: halves become singles, and whole numbers doubles."""
    vectors = numbers.to_numpy(raw, noun)
    if vectors.ndim != 2:
        raise FormatError(f"{noun}: vectors have shape (rows, dimensions); got {vectors.shape}")
    if not vectors.size:
        raise EmptyError(f"{noun}: there are no vectors; the shape is {vectors.shape}.")
    if np.ma.is_masked(vectors):
        row, column = np.argwhere(np.ma.getmaskarray(vectors))[0].tolist()
        raise InputError(
            f"{noun}, row {row}, column {column}: a number is needed; got a masked cell"
        )
    if vectors.dtype.kind != "f":
        return vectors.astype(np.float64)
    return vectors.astype(np.float32) if vectors.dtype.itemsize == 2 else vectors


def _square_lengths(vectors: Any, noun: str) -> Floats:
    """Square the lengths. Refuses NaN and infinity, which show in the squares."""
    squares = square_lengths(vectors)
    if (
        not np.isfinite(squares).all()
        and (nonfinite_cells := np.argwhere(~np.isfinite(vectors))).size
    ):
        row, column = nonfinite_cells[0].tolist()
        raise InputError(
            f"{noun}, row {row}, column {column}: a number is needed; got {vectors[row, column]}"
        )
    return squares


def _refuse_overflow(squares: list[Floats], kind: Any) -> None:
    """Refuse vectors of which a similarity may overflow: the square of the sum of two lengths."""
    largest = max(float(side.max()) for side in squares)
    if largest > float(np.finfo(kind).max) / ROOM:
        raise InputError(
            f"the longest vector has length {largest**0.5:.3g}, whose square is too large for "
            f"{np.dtype(kind)}. Divide all vectors by the same number."
        )


def _scale(vectors: Any, squares: Floats, noun: str) -> Any:
    """Scale vectors whose squares overflow or lose digits by powers of two, and their squares."""
    extreme = np.flatnonzero((squares < 1 / LARGE) | (squares > LARGE))
    if not len(extreme):
        return vectors
    largest = np.abs(vectors[extreme]).max(axis=1)
    zero = extreme[largest == 0]
    if len(zero):
        raise InputError(
            f"{noun}, row {zero[0]}: a vector of zeros has no cosine ({len(zero)} of {len(vectors)}"
            " rows). Leave these rows out, or use similarity=dot or euclidean."
        )
    vectors = vectors.copy()
    vectors[extreme] = np.ldexp(vectors[extreme], -np.frexp(largest)[1][:, None])
    squares[extreme] = square_lengths(vectors[extreme])
    return vectors


def _find_excluded(raw: Any, queries: int, gallery: int) -> Ints | None:
    if raw is False or raw is None:
        return None
    if raw is True:
        if queries != gallery:
            raise InputError(
                "exclude_self=True means that query i is item i of the gallery, but there are"
                f" {queries} queries and {gallery} items; give the position of each query in the"
                " gallery (-1: not in it)."
            )
        return np.arange(queries)
    positions = numbers.to_numpy(raw, "exclude_self")
    if positions.shape != (queries,) or positions.dtype.kind not in "iu":
        raise FormatError(
            f"exclude_self is True, or {queries} positions in the gallery, one per query; got"
            f" {positions.dtype} of shape {positions.shape}"
        )
    outside = np.flatnonzero((positions < -1) | (positions >= gallery))
    if len(outside):
        raise InputError(
            f"exclude_self, query {outside[0]}: {positions[outside[0]]} is not a position in a"
            f" gallery of {gallery} items."
        )
    excluded: Ints = positions.astype(np.int64)
    return excluded
