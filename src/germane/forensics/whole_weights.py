"""How many queries have each list, so that the means of all are within given bounds."""

from collections.abc import Iterator, Sequence

import numpy as np

from germane.core.ragged import Floats, Ints

_COLUMNS = 300  # lists of an integer program
_SECONDS = 0.5
_FEW = 50  # queries up to which it is tried

_SPREADS = 8  # mixtures whose mean is rounded
_BASIS = 30  # lists that are exchanged for each other
_REDUCED = 0.99
_CHANGE = 0.1  # what one query more of a list counts, beside half a unit of the last decimal
_WHOLE = 1000.0  # and one query too many or too few in all
_LEAST = 0.1  # queries that have a list which is exchanged
_TRIES = 3
_ROUNDING = 1e-12  # of floating point


def list_counts(
    values: Floats, low: Floats, high: Floats, sizes: tuple[int, ...], rng: np.random.Generator
) -> Iterator[Ints]:
    """List how often each list occurs among so many queries, if that is found in time.

    ``values`` has a row for each list, ``low`` and ``high`` bound the means of its columns.
    """
    mixtures = [mix for _ in range(_TRIES) if (mix := _mix(values, low, high, rng)) is not None]
    for queries in sizes:
        found = [_round(values, low, high, queries, mixture) for mixture in mixtures]
        if queries <= _FEW or len(sizes) == 1:
            found.append(_solve(values, low, high, queries, mixtures))
        for counts in found:
            if counts is not None and _fits(values, low, high, counts):
                yield counts


def _fits(values: Floats, low: Floats, high: Floats, counts: Ints) -> bool:
    means = counts @ values / counts.sum()
    within = (low - _ROUNDING <= means) & (means <= high + _ROUNDING)
    return bool(counts.min() >= 0 and within.all())


def _mix(values: Floats, low: Floats, high: Floats, rng: np.random.Generator) -> Floats | None:
    """Find shares of many lists whose means are within bounds: the mean of random corners.

    First, how far from the bounds means can be; then corners that are nearly as far from them.
    """
    count, half = len(values), (high - low) / 2
    slack = _share(values, low, high, half, [*np.zeros(count), -1.0])
    if slack is None:
        return None
    margin = 0.8 * slack[-1] * half
    corners = [
        corner[:-1]
        for _ in range(_SPREADS)
        if (corner := _share(values, low + margin, high - margin, 0 * half,
            [*rng.standard_normal(count), 0.0])) is not None
    ]  # fmt: skip
    shares: Floats = np.mean(corners or [slack[:-1]], axis=0)
    return shares


def _share(
    values: Floats, low: Floats, high: Floats, half: Floats, goal: Sequence[float]
) -> Floats | None:
    """Find shares of lists whose means are within bounds, narrowed by a share of ``half``."""
    from scipy.optimize import linprog

    count = len(values)
    solved = linprog(
        goal,
        A_ub=np.hstack([np.vstack([values.T, -values.T]), np.tile(half, 2)[:, None]]),
        b_ub=np.concatenate([high, -low]), A_eq=np.array([[1.0] * count + [0.0]]), b_eq=[1.0],
        bounds=[(0, None)] * count + [(0, 1)], method="highs",
    )  # fmt: skip
    return np.asarray(solved.x) if solved.status == 0 else None


def _round(values: Floats, low: Floats, high: Floats, queries: int, mixture: Floats) -> Ints | None:
    """Round shares of lists to whole queries, keeping the means: the closest vector of a lattice.

    One query more of a list and one less of another moves all means by a little. Some few such
    exchanges together move them by next to nothing, and a reduced basis of the lattice (Lenstra,
    Lenstra & Lovász 1982) is made of those. The nearest plane (Babai 1986) then has an exchange
    that makes up for the rounding.
    """
    counts: Ints = np.rint(mixture * queries).astype(int)
    off = mixture[:, None] * (values - mixture @ values)
    ends = np.concatenate([off.argmax(axis=0), off.argmin(axis=0)])  # of each column
    places = np.unique([*ends, *np.argsort(-mixture, kind="stable")[:_BASIS]])
    places = places[mixture[places] * queries > _LEAST]
    for _ in range(_TRIES):
        if not len(places):
            break
        changed = counts.copy()
        missing = mixture * queries - counts
        changed[places] += _exchange(values, (high - low) / 2, missing, places, queries)
        if changed.min() >= 0:
            return changed
        counts[changed < 0] = 0  # too few to give any away
        places = places[changed[places] >= 0]
    return None


def _exchange(values: Floats, half: Floats, missing: Floats, places: Ints, queries: int) -> Ints:
    """Find how many queries more, or fewer, of each list make up for what is missing."""
    scale, total = 1 / (queries * np.maximum(half, 1e-9)), len(places)
    basis = np.hstack(
        [np.eye(total) * _CHANGE, np.full((total, 1), _WHOLE), values[places] * scale]
    )
    wanted = [_WHOLE * np.rint(missing.sum()), *(missing @ values * scale)]
    rows = np.vstack([_reduce(basis), [*np.zeros(total), *wanted]])
    _subtract(rows, total)
    return -np.rint(rows[-1, :total] / _CHANGE).astype(int)


def _reduce(basis: Floats) -> Floats:
    """Reduce a basis of a lattice: short vectors, nearly at right angles."""
    k = 1
    while k < len(basis):
        corner = _subtract(basis, k)
        if corner[1, 1] ** 2 >= _REDUCED * corner[0, 0] ** 2 - corner[0, 1] ** 2:
            k += 1
        else:
            basis[[k - 1, k]] = basis[[k, k - 1]]
            k = max(k - 1, 1)
    return basis


def _subtract(rows: Floats, k: int) -> Floats:
    """Subtract whole multiples of the rows before from row k; return the last corner of QR."""
    triangle: Floats = np.linalg.qr(rows[: k + 1].T, mode="r")  # type: ignore[assignment]
    for j in range(k - 1, -1, -1):
        multiple = np.rint(triangle[j, k] / triangle[j, j])
        if multiple:
            rows[k] -= multiple * rows[j]
            triangle[:, k] -= multiple * triangle[:, j]
    return triangle[k - 1 :, k - 1 :]


def _solve(
    values: Floats, low: Floats, high: Floats, queries: int, mixtures: list[Floats]
) -> Ints | None:
    """Solve the integer program of the lists with the largest shares; None if it takes too long."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    shares = np.sum(mixtures, axis=0) if mixtures else np.zeros(len(values))
    places = np.argsort(-shares, kind="stable")[:_COLUMNS]
    table, margin = values[places].T, (high - low) / 1000
    solved = milp(
        np.zeros(len(places)), integrality=np.ones(len(places)), bounds=Bounds(0, queries),
        constraints=[
            LinearConstraint(np.ones((1, len(places))), queries, queries),
            LinearConstraint(table, (low + margin) * queries, (high - margin) * queries),
        ],
        options={"time_limit": _SECONDS},
    )  # fmt: skip
    if solved.x is None:
        return None
    counts: Ints = np.zeros(len(values), int)
    counts[places] = np.rint(solved.x).astype(int)
    return counts
