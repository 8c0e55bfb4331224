"""Draws: ordinary queries, drawn at random around a cutoff, on which definitions differ."""

from collections.abc import Sequence

import numpy as np

from germane.identification.cases import WIDTH, Case, Question, Shape, rank_items

Rng = np.random.Generator


def draw_case(
    rng: Rng,
    shape: Shape,
    *,
    length: int | None = None,
    hits: Sequence[bool] | None = None,
    missed: int | None = None,
) -> Case:
    """Draw a query with a hit within the cutoff, another item, and relevant items that are missed.

    ``hits`` says which ranks are relevant, and ``missed`` how many relevant items are not in the
    list.
    """
    if hits is None:
        hits = _draw_hits(rng, draw_length(rng, shape) if length is None else length, shape.k)
    if missed is None:
        missed = int(rng.choice([0, 0, 1, 2, 3, (shape.k or 4) + 2, 2 * (shape.k or 4)]))
    if "missed" not in shape.shows:
        missed = 0
    unfound = int(rng.integers(0, 4)) if "missed" in shape.shows and shape.has_zeros else 0
    items = [f"d{number:0{WIDTH}}" for number in rng.permutation(len(hits) + missed + unfound)]
    graded = {
        item: float(rng.choice(shape.grades)) for item, hit in zip(items, hits, strict=False) if hit
    }
    first, last = len(hits), len(hits) + missed
    graded |= {item: float(rng.choice(shape.grades)) for item in items[first:last]}
    if shape.has_zeros:
        ungraded = [item for item in items if item not in graded]
        judged = len(ungraded) if "all judged" in shape.shows else rng.binomial(len(ungraded), 0.6)
        graded |= dict.fromkeys(rng.permutation(np.array(ungraded, str)).tolist()[:judged], 0.0)
    order = rng.permutation(len(graded)).tolist()
    listed = list(graded.items())
    return Case(tuple(listed[i] for i in order), rank_items(items[:first]))


def draw_length(rng: Rng, shape: Shape) -> int:
    if shape.k is None:
        return int(rng.integers(3, 15))
    return shape.k + int(rng.integers(1 if shape.k == 1 else 0, 7))


def _draw_hits(rng: Rng, length: int, k: int | None) -> list[bool]:
    """Draw the relevant ranks: one within the cutoff, and not all of the list."""
    hits: list[bool] = (rng.random(length) < rng.choice([0.15, 0.4, 0.7])).tolist()
    within = min(k or length, length)
    if within == 1:
        hits[0] = bool(rng.random() < 0.6)
        if not hits[0]:
            hits[-1] = True
        return hits
    kind = rng.random()
    if k is not None and kind < 0.15:  # the last rank that counts is the only hit within it
        hits[:within] = [False] * (within - 1) + [True]
    if k is not None and length > k and kind > 0.9:  # all ranks that count are hits
        hits[:within] = [True] * within
    if not any(hits[:within]):
        hits[int(rng.integers(within))] = True
    if all(hits):
        hits[int(rng.integers(1, length))] = False
    return hits


def draw_single(rng: Rng, shape: Shape) -> Question:
    """Draw a question of one ordinary query."""
    return Question((draw_case(rng, shape),))


def draw_several(rng: Rng, shape: Shape, queries: int = 3) -> Question:
    """Draw a question of several ordinary queries, whose lists are equally long."""
    length = draw_length(rng, shape)
    return Question(tuple(draw_case(rng, shape, length=length) for _ in range(queries)))


def draw_many(rng: Rng, shape: Shape, queries: int) -> Question:
    """Draw a question of many ordinary queries, with lists of every length."""
    lengths = [
        draw_length(rng, shape) if q % 4 else int(rng.integers(2, 40)) for q in range(queries)
    ]
    return Question(tuple(draw_case(rng, shape, length=length) for length in lengths))
