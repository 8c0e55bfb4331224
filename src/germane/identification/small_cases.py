"""Small cases: short lists, shortest first, among which the smallest counterexample is looked
for.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from germane.identification.cases import Case, Shape, make_case


def list_small(shape: Shape, levels: Sequence[float]) -> Iterator[Case]:
    """List small queries, shortest first: every list of these grades, and relevant items that are
    missed.
    """
    for length in range(1, 6 if len(levels) < 3 else 5):
        for listed in product(sorted(levels), repeat=length):
            missing = [0]
            if "missed" in shape.shows:
                missing = sorted(
                    {0, 1, 2, *((shape.k + 2,) if shape.k and shape.k <= 1000 else ())}
                )
            for missed in missing:
                if any(grade > 0 for grade in listed) or missed:
                    yield make_case(listed, missed, shape)


def list_around(shape: Shape) -> Iterator[Case]:
    """List queries with relevant items on both sides of the cutoff, for what small lists cannot
    show.
    """
    k = shape.k
    if k is None or not 2 < k <= 1000:
        return
    none, high = [0.0] * k, max(shape.grades[:2])
    for listed in (
        [*none, 1.0],
        [1.0, *none[1:], 1.0],
        [*none[1:], 1.0, 1.0],
        [1.0, *none[1:], high],
        [1.0, 1.0, *none[2:], 1.0, 1.0],
        [1.0] * (k + 1),
        [1.0] * (k - 1),
        [1.0, *none[1:], 0.0, 1.0],
    ):
        yield make_case(listed, 0, shape)
