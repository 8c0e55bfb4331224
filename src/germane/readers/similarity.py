"""Computes similarities of vectors in double precision; each depends on its two vectors alone.

Products of matrices give fast approximations, with a bound on their errors.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.core.ragged import Floats, Ints

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
