"""Similarities of vectors in double precision: each is a function of its two vectors alone.

Products of matrices are faster, but their last bits depend on the library, on its threads and on where
a vector stands. Here the terms of a sum are added in one order, so that equal vectors have equal scores.
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
        """The type in which similarities are computed: double, or wider where the vectors are."""
        return np.result_type(np.float64, self.gallery)

    def scores(self, query: int, columns: Ints) -> Floats:
        """The similarities of a query and some of the gallery."""
        vector = self.queries[query].astype(self.wide)
        step = max(1, ROWS // len(vector))
        parts = (columns[at : at + step] for at in range(0, len(columns), step))
        found = [
            self._scores(self.gallery[at].astype(self.wide), query, vector, at) for at in parts
        ]
        return np.concatenate(found)

    def block(self, queries: Ints) -> Floats:
        """The similarities of some queries and all of the gallery."""
        out = np.empty((len(queries), len(self.gallery)), self.wide)
        vectors = self.queries[queries].astype(self.wide)
        step = max(1, ROWS // vectors.shape[1])
        for start in range(0, len(self.gallery), step):
            at = slice(start, start + step)
            part = self.gallery[at].astype(self.wide)
            for row, query in enumerate(queries.tolist()):
                out[row, at] = self._scores(part, query, vectors[row], at)
        return out

    def _scores(self, part: Any, query: int, vector: Any, at: Any) -> Floats:
        """The similarities of a query and a part of the gallery, both in the wide type."""
        if self.similarity == "euclidean":
            apart = 0.5 * (part - vector)  # half of it, so that no square overflows
            return np.negative(sums_of_products(apart, apart))
        scores = sums_of_products(part, vector)
        if self.similarity == "cosine":
            scores /= self.query_lengths[query] * self.gallery_lengths[at]
        return scores


def sums_of_products(rows: Any, other: Any) -> Floats:
    """The product of each row with the other side's row, or with the other side, which is one vector.

    einsum adds long rows in an order that depends on their number, hence the pieces.
    """
    terms = "nd,nd->n" if other.ndim == 2 else "nd,d->n"
    total: Floats = np.einsum(terms, rows[:, :PIECE], other[..., :PIECE])
    for at in range(PIECE, rows.shape[1], PIECE):
        piece = slice(at, at + PIECE)
        total += np.einsum(terms, rows[:, piece], other[..., piece])
    return total


def squared_lengths(vectors: Any) -> Floats:
    """(rows): summed as doubles, some rows at a time."""
    wide, step = np.result_type(np.float64, vectors), max(1, ROWS // 2 // vectors.shape[1])
    parts = (vectors[at : at + step].astype(wide) for at in range(0, len(vectors), step))
    return np.concatenate([sums_of_products(part, part) for part in parts])
