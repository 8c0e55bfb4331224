"""Fast similarities: products of matrices, and how far these may be from the exact similarities.

The gallery's mean is subtracted first. It changes all scores of a query alike and leaves short vectors,
whose products round less. Distances are compared as q·g - |g|²/2, which orders them alike.

The margin of error holds whatever the order in which a library adds: a sum of n products differs from
the exact one by at most n·u·|q|·|g|, where u is half the spacing of numbers at 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.readers.similarity import Vectors, squared_lengths

CENTRED = 1 << 14  # numbers that are centred at once; they stay in the processor's cache
SAMPLE = 1 << 12  # vectors whose mean is subtracted
SLACK = 1.01  # for the products of roundings, which are far smaller


@dataclass(frozen=True, eq=False, repr=False)
class Factors:
    """Queries and gallery, ready to be multiplied."""

    queries: Any  # (Q, D)
    gallery: Any  # (N, D), less the mean
    offset: Any  # (N), added to each column, or None
    margin: Floats  # (Q): scores of a query that differ by more are in the exact scores' order


def prepare(vectors: Vectors, kind: Any) -> Factors:
    """Numbers of this type whose products order the gallery as the similarities do, but for the margin."""
    cosine, euclidean = (vectors.similarity == kind for kind in ("cosine", "euclidean"))
    lengths = vectors.gallery_lengths if cosine else None
    mean = _mean(vectors.gallery, lengths, vectors.wide)
    gallery = _centred(vectors.gallery, lengths, mean, kind)
    queries = (
        _centred(vectors.queries, None, mean, kind)
        if euclidean
        else vectors.queries.astype(kind, copy=False)
    )
    squares = squared_lengths(gallery)
    long = np.sqrt(squared_lengths(queries)) if euclidean else vectors.query_lengths
    short = float(np.sqrt(squares.max()))
    added: Any = 0.0
    if euclidean:
        offset = (-0.5 * squares).astype(kind)
        reach, added = (long + short) ** 2, 4 * short**2 + long * short
    else:
        offset = None
        reach, added = long * (1.0 if cosine else float(vectors.gallery_lengths.max())), 0.0
    size = gallery.shape[1]
    unit, exact = (float(np.finfo(of).eps) / 2 for of in (kind, vectors.wide))
    error: Floats = (
        unit * ((size + 4) * long * short + added)  # 2 for each side's rounding to this type
        + exact * (3 * size + 16) * reach  # lengths, the mean, and the exact similarity itself
        + float(np.finfo(kind).tiny) * size * (1 + long + short)  # where products underflow
    )
    return Factors(queries, gallery, offset, SLACK * 2 * error)


def _mean(vectors: Any, lengths: Floats | None, wide: Any) -> Any:
    """The mean of vectors taken from all over the gallery. Any near it would do."""
    some = slice(None, None, -(-len(vectors) // SAMPLE))
    sample = vectors[some].astype(wide)
    return (sample if lengths is None else sample / lengths[some, None]).mean(axis=0)


def _centred(vectors: Any, lengths: Floats | None, mean: Any, kind: Any) -> Any:
    """The vectors, at length 1 if lengths are given, less the mean; subtracted in the wide type."""
    out, step = np.empty(vectors.shape, kind), max(1, CENTRED // vectors.shape[1])
    for start in range(0, len(vectors), step):
        at = slice(start, start + step)
        part = vectors[at].astype(mean.dtype)
        if lengths is not None:
            part /= lengths[at, None]
        np.subtract(part, mean, out=out[at], casting="same_kind")
    return out


def multiply(factors: Factors, vectors: Any, out: Any) -> None:
    """Multiply some queries with the gallery."""
    np.matmul(vectors, factors.gallery.T, out=out)
    if factors.offset is not None:
        out += factors.offset
