"""Experiments on one list of 1,000 items, 500 of them relevant: where they stand, and how many."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from germane.core.ragged import Ints
from germane.evaluation.api import score
from germane.explanation.curves import pr_curve
from germane.explanation.precision_recall import PRCurve
from germane.explanation.simulation.experiment import Column, Design, Experiment, Grades
from germane.measures.measure import Measure, parse, parse_all

LENGTH, RELEVANT = 1000, 500
FRONT, LAST = 250, 750  # the first ranks end at FRONT, the last begin after LAST
EARLY = (50, 100, 150, 200, 250)
LATE = (0, 50, 100, 150, 200, 250)
FOUND = (100, 200, 300, 400, 500)
KEPT = (500, 400, 300, 200, 100, 50, 10)
AREAS = parse_all("AP AUPR(rule=trapezoid) AUPR(rule=interpolated)")


def early_precision(first: int) -> Callable[[Design, np.random.Generator], Experiment]:
    """The experiment in which the first so many ranks are relevant in every list."""

    def make(design: Design, rng: np.random.Generator) -> Experiment:
        always = np.arange(1, first + 1)
        front = np.append(always, rng.permutation(np.arange(first + 1, FRONT + 1)))
        behind = rng.permutation(np.arange(FRONT + 1, LENGTH + 1))
        lists = {n: _listed(front[:n], behind[: RELEVANT - n]) for n in EARLY}
        curves = _curves(lists)
        columns = (_measured(parse(f"R@{FRONT}"), lists), *_areas(lists))
        claims = (
            *_early_claims(first, columns[1].values, curves[EARLY[0]]),
            _ends(curves),
            _compared(lists, columns[1:]),
        )
        return Experiment(design, EARLY, lists, columns, claims, curves, RELEVANT)

    return make


def _early_claims(first: int, ap: Sequence[float], fewest: PRCurve) -> Iterator[str]:
    yield (
        f"AP rises from {ap[0]:.4f} to {ap[-1]:.4f} as the relevant items in the first {FRONT} ranks "
        f"go from {EARLY[0]} to {EARLY[-1]} of {RELEVANT}: "
        f"{(ap[-1] - ap[0]) / (EARLY[-1] - EARLY[0]):.4f} for each item moved to the front."
    )
    lowest = int(fewest.precision.argmin())
    yield (
        f"With {EARLY[0]} there, precision falls from {fewest.precision[first - 1]:.4g} at rank "
        f"{first} to {fewest.precision[lowest]:.4f} at rank {fewest.rank[lowest]}."
    )


def late_precision(design: Design, rng: np.random.Generator) -> Experiment:
    """The experiment in which more and more relevant items stand in the last ranks."""
    front = rng.permutation(np.arange(1, LAST + 1))
    behind = rng.permutation(np.arange(LAST + 1, LENGTH + 1))
    lists = {n: _listed(front[: RELEVANT - n], behind[:n]) for n in LATE}
    without_last = {n: _kept(grades, 0, RELEVANT - n) for n, grades in lists.items()}
    without_first = {n: _kept(grades, n, RELEVANT) for n, grades in lists.items()}
    ap = parse("AP")
    columns = (
        _measured(ap, lists),
        _measured(
            ap,
            without_last,
            "last missed",
            f"AP if the relevant items after rank {LAST} are not retrieved",
        ),
        _measured(
            ap,
            without_first,
            "first missed",
            "AP if as many from the first one on are not retrieved instead",
        ),
    )
    claims = tuple(_late_claims(*(column.values for column in columns)))
    return Experiment(design, LATE, lists, columns, claims, _curves(lists), RELEVANT)


def _late_claims(
    ap: Sequence[float], without_last: Sequence[float], without_first: Sequence[float]
) -> Iterator[str]:
    yield (
        f"AP falls from {ap[0]:.4f} to {ap[-1]:.4f} as {LATE[-1]} of {RELEVANT} relevant items move "
        f"from the first {LAST} ranks to the last {LENGTH - LAST}: "
        f"{(ap[0] - ap[-1]) / LATE[-1]:.4f} for each item moved."
    )
    last, first = ap[1] - without_last[1], ap[1] - without_first[1]
    yield (
        f"Missing the {LATE[1]} in the last ranks costs {last:.4f} of an AP of {ap[1]:.4f}; missing "
        f"the first {LATE[1]} instead costs {first:.4f}, {first / last:.1f} times as much: an early "
        "item also raises the precision at every relevant item after it."
    )


def recall(design: Design, rng: np.random.Generator) -> Experiment:
    """The experiment in which more and more of the relevant items are retrieved."""
    ranks = rng.permutation(np.arange(1, LENGTH + 1))
    lists = {n: _listed(ranks[:n]) for n in FOUND}
    curves = _curves(lists)
    columns = (*(_measured(measure, lists) for measure in parse_all("R P")), *_areas(lists))
    claims = (*_recall_claims(*(c.values for c in columns[:3])), _compared(lists, columns[2:]))
    return Experiment(design, FOUND, lists, columns, claims, curves, RELEVANT)


def _recall_claims(
    recall: Sequence[float], precision: Sequence[float], ap: Sequence[float]
) -> Iterator[str]:
    yield (
        f"The curves end at recall {', '.join(f'{end:g}' for end in recall)}; what is not retrieved "
        "is where a curve does not go."
    )
    yield (
        f"AP rises from {ap[0]:.4f} to {ap[-1]:.4f}: {ap[-1] / ap[0]:.0f} times as much for "
        f"{recall[-1] / recall[0]:.0f} times the recall, because items missed anywhere also lower the "
        f"precision at those found, to {precision[0]:g} at the end of the list in place of "
        f"{precision[-1]:g}."
    )


def cheating(design: Design, rng: np.random.Generator) -> Experiment:
    """The experiment in which one system keeps fewer and fewer of its relevant items."""
    front = np.append(np.arange(1, 11), rng.permutation(np.arange(11, FRONT + 1))[:190])
    whole = _listed(front, rng.permutation(np.arange(FRONT + 1, LENGTH + 1))[:300])
    lists = {n: _kept(whole, 0, n) for n in KEPT}
    named = [parse(f"AP(norm={norm})@{LENGTH}") for norm in ("found", "R", "min", "k")]
    columns = tuple(_measured(measure, lists) for measure in named)
    claims = tuple(_cheating_claims(*columns[:2]))
    return Experiment(design, KEPT, lists, columns, claims, _curves(lists), RELEVANT)


def _cheating_claims(found: Column, textbook: Column) -> Iterator[str]:
    yield (
        f"A system that keeps only the first {KEPT[-1]} of its {KEPT[0]} relevant items raises its "
        f"{found.name} from {found.values[0]:.4f} to {found.values[-1]:.4f}: what it drops, it is "
        "not divided by."
    )
    yield (
        f"Its {textbook.name} falls from {textbook.values[0]:.4f} to {textbook.values[-1]:.4f}, since "
        "R stays what it is."
    )
    yield (
        f"While everything is found, both are the same number. min(R,k) is R throughout, "
        f"as R = {RELEVANT} is less than k = {LENGTH}."
    )


def _listed(*ranks: Ints) -> Grades:
    """A list with relevant items at these ranks."""
    grades = np.zeros(LENGTH + 1, int)
    grades[np.concatenate(ranks)] = 1
    return tuple(grades[1:].tolist())


def _kept(grades: Grades, start: int, stop: int) -> Grades:
    """The list with its relevant items from ``start`` to ``stop`` alone, the others not relevant."""
    return _listed((np.flatnonzero(grades) + 1)[start:stop])


def _curves(lists: Mapping[int, Grades]) -> dict[int, PRCurve]:
    return {n: pr_curve(grades, relevant=RELEVANT) for n, grades in lists.items()}


def _measured(
    measure: Measure, lists: Mapping[int, Grades], name: str = "", definition: str = ""
) -> Column:
    values = (score(grades, measure, relevant=RELEVANT) for grades in lists.values())
    return Column(name or str(measure), definition or measure.definition, tuple(values))


def _areas(lists: Mapping[int, Grades]) -> tuple[Column, ...]:
    return tuple(_measured(measure, lists) for measure in AREAS)


def _ends(curves: Mapping[int, PRCurve]) -> str:
    """The one point where all curves end, since every list holds every relevant item."""
    ((recall, precision),) = {(c.recall[-1], c.precision[-1]) for c in curves.values()}
    return f"All {len(curves)} curves end at recall {recall:g}, precision {precision:g}."


def _compared(lists: Mapping[int, Grades], areas: tuple[Column, ...]) -> str:
    """AP beside the areas by other rules."""
    ap, trapezoid, interpolated = (np.array(column.values) for column in areas)
    step = np.array(_measured(parse("AUPR(rule=step)"), lists).values)
    return (
        f"AP is the area by the step rule (largest difference {np.abs(ap - step).max():g}), within "
        f"{np.abs(ap - trapezoid).max():.4f} of the trapezoids', and up to "
        f"{(interpolated - ap).max():.4f} below the area under the interpolated curve."
    )
