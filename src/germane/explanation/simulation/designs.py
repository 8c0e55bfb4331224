"""The designs of the experiments: what is varied, and what the measures say of it.

Four are of one list of 1,000 items, 500 of them relevant: where they stand, and how many. The fifth rounds
scores: the more of them are equal, the less a number says.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from germane.core.ragged import Ints
from germane.evaluation.api import evaluate_many, score
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


def vary_early_precision(first: int) -> Callable[[Design, np.random.Generator], Experiment]:
    """The experiment in which the first so many ranks are relevant in every list."""

    def make(design: Design, rng: np.random.Generator) -> Experiment:
        always = np.arange(1, first + 1)
        front = np.append(always, rng.permutation(np.arange(first + 1, FRONT + 1)))
        behind = rng.permutation(np.arange(FRONT + 1, LENGTH + 1))
        lists = {n: _make_list(front[:n], behind[: RELEVANT - n]) for n in EARLY}
        curves = _make_curves(lists)
        columns = (_measure(parse(f"R@{FRONT}"), lists), *_measure_areas(lists))
        claims = (
            *_claim_early(first, columns[1].values, curves[EARLY[0]]),
            _describe_ends(curves),
            _compare_areas(lists, columns[1:]),
        )
        return Experiment(design, EARLY, lists, columns, claims, curves, RELEVANT)

    return make


def _claim_early(first: int, ap: Sequence[float], fewest: PRCurve) -> Iterator[str]:
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


def vary_late_precision(design: Design, rng: np.random.Generator) -> Experiment:
    """The experiment in which more and more relevant items stand in the last ranks."""
    front = rng.permutation(np.arange(1, LAST + 1))
    behind = rng.permutation(np.arange(LAST + 1, LENGTH + 1))
    lists = {n: _make_list(front[: RELEVANT - n], behind[:n]) for n in LATE}
    without_last = {n: _keep(grades, 0, RELEVANT - n) for n, grades in lists.items()}
    without_first = {n: _keep(grades, n, RELEVANT) for n, grades in lists.items()}
    ap = parse("AP")
    columns = (
        _measure(ap, lists),
        _measure(
            ap,
            without_last,
            "last missed",
            f"AP if the relevant items after rank {LAST} are not retrieved",
        ),
        _measure(
            ap,
            without_first,
            "first missed",
            "AP if as many from the first one on are not retrieved instead",
        ),
    )
    claims = tuple(_claim_late(*(column.values for column in columns)))
    return Experiment(design, LATE, lists, columns, claims, _make_curves(lists), RELEVANT)


def _claim_late(
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


def vary_recall(design: Design, rng: np.random.Generator) -> Experiment:
    """The experiment in which more and more of the relevant items are retrieved."""
    ranks = rng.permutation(np.arange(1, LENGTH + 1))
    lists = {n: _make_list(ranks[:n]) for n in FOUND}
    curves = _make_curves(lists)
    columns = (*(_measure(measure, lists) for measure in parse_all("R P")), *_measure_areas(lists))
    claims = (*_claim_recall(*(c.values for c in columns[:3])), _compare_areas(lists, columns[2:]))
    return Experiment(design, FOUND, lists, columns, claims, curves, RELEVANT)


def _claim_recall(
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


def vary_cheating(design: Design, rng: np.random.Generator) -> Experiment:
    """The experiment in which one system keeps fewer and fewer of its relevant items."""
    front = np.append(np.arange(1, 11), rng.permutation(np.arange(11, FRONT + 1))[:190])
    whole = _make_list(front, rng.permutation(np.arange(FRONT + 1, LENGTH + 1))[:300])
    lists = {n: _keep(whole, 0, n) for n in KEPT}
    named = [parse(f"AP(norm={norm})@{LENGTH}") for norm in ("found", "R", "min", "k")]
    columns = tuple(_measure(measure, lists) for measure in named)
    claims = tuple(_claim_cheating(*columns[:2]))
    return Experiment(design, KEPT, lists, columns, claims, _make_curves(lists), RELEVANT)


def _claim_cheating(found: Column, textbook: Column) -> Iterator[str]:
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


def _make_list(*ranks: Ints) -> Grades:
    """A list with relevant items at these ranks."""
    grades = np.zeros(LENGTH + 1, int)
    grades[np.concatenate(ranks)] = 1
    return tuple(grades[1:].tolist())


def _keep(grades: Grades, start: int, stop: int) -> Grades:
    """The list with its relevant items from ``start`` to ``stop`` alone, the others not relevant."""
    return _make_list((np.flatnonzero(grades) + 1)[start:stop])


def _make_curves(lists: Mapping[int, Grades]) -> dict[int, PRCurve]:
    return {n: pr_curve(grades, relevant=RELEVANT) for n, grades in lists.items()}


def _measure(
    measure: Measure, lists: Mapping[int, Grades], name: str = "", definition: str = ""
) -> Column:
    values = (score(grades, measure, relevant=RELEVANT) for grades in lists.values())
    return Column(name or str(measure), definition or measure.definition, tuple(values))


def _measure_areas(lists: Mapping[int, Grades]) -> tuple[Column, ...]:
    return tuple(_measure(measure, lists) for measure in AREAS)


def _describe_ends(curves: Mapping[int, PRCurve]) -> str:
    """The one point where all curves end, since every list holds every relevant item."""
    ((recall, precision),) = {(c.recall[-1], c.precision[-1]) for c in curves.values()}
    return f"All {len(curves)} curves end at recall {recall:g}, precision {precision:g}."


def _compare_areas(lists: Mapping[int, Grades], areas: tuple[Column, ...]) -> str:
    """AP beside the areas by other rules."""
    ap, trapezoid, interpolated = (np.array(column.values) for column in areas)
    step = np.array(_measure(parse("AUPR(rule=step)"), lists).values)
    return (
        f"AP is the area by the step rule (largest difference {np.abs(ap - step).max():g}), within "
        f"{np.abs(ap - trapezoid).max():.4f} of the trapezoids', and up to "
        f"{(interpolated - ap).max():.4f} below the area under the interpolated curve."
    )


QUERIES, ITEMS = 100, 200
SHARE = 0.2  # of the items that are relevant
LEAD = 1.0  # by how much a relevant item scores higher, in standard deviations
DIGITS = (6, 5, 4, 3, 2, 1, 0)

Run = Mapping[str, Mapping[str, float]]


def vary_ties(design: Design, rng: np.random.Generator) -> Experiment:
    grades = (rng.random((QUERIES, ITEMS)) < SHARE).astype(int)
    scores = LEAD * grades + rng.standard_normal((QUERIES, ITEMS))
    runs = {digits: _group_by_query(scores.round(digits)) for digits in DIGITS}
    qrels = _group_by_query(grades)
    columns = _make_columns(qrels, runs)
    claims = tuple(_ties_claims(columns))
    return Experiment(design, DIGITS, runs, columns, claims, qrels=qrels)


def _group_by_query(values: Any) -> dict[str, dict[str, Any]]:
    items = [f"d{i:03}" for i in range(1, ITEMS + 1)]
    return {
        f"q{q:03}": dict(zip(items, row, strict=True)) for q, row in enumerate(values.tolist(), 1)
    }


def _make_columns(
    qrels: Mapping[str, Mapping[str, int]], runs: Mapping[int, Run]
) -> tuple[Column, ...]:
    ap = parse("AP")
    named = {str(digits): run for digits, run in runs.items()}
    results = evaluate_many(qrels, named, ap).values()
    expected = [one[ap].mean for one in evaluate_many(qrels, named, ap, ties="expected").values()]
    mean = f"mean AP over {QUERIES} queries ({ap.definition}), equal scores"
    return (
        Column(
            "tied",
            "share of the judged items whose score another item of the query has too",
            tuple(result.counts.tied_share for result in results),
        ),
        Column(
            "worst", f"{mean} in the worst order", tuple(result[ap].worst for result in results)
        ),
        Column("expected", f"{mean} in random order, exactly", tuple(expected)),
        Column("trec", f"{mean} by item id, from the last", tuple(r[ap].mean for r in results)),
        Column("best", f"{mean} in the best order", tuple(r[ap].best for r in results)),
    )


def _ties_claims(columns: tuple[Column, ...]) -> Iterator[str]:
    tied, worst, expected, trec, best = (column.values for column in columns)
    yield (
        f"With {DIGITS[0]} digits {tied[0]:.2%} of the items are tied, and AP is {expected[0]:.4f} "
        f"in whatever order (best − worst is {best[0] - worst[0]:.1g}); with {DIGITS[-1]} digits "
        f"{tied[-1]:.1%} are, and the "
        f"order of equal scores decides between {worst[-1]:.4f} and {best[-1]:.4f}."
    )
    bands = ", ".join(f"{high - low:.4f}" for low, high in zip(worst, best, strict=True))
    yield f"From {DIGITS[0]} digits to {DIGITS[-1]}, best − worst is {bands}."
    yield (
        f"At {DIGITS[-1]} digits random order is expected to give {expected[-1]:.4f}, and order by "
        f"item id gives {trec[-1]:.4f}: an id says nothing about relevance here."
    )
