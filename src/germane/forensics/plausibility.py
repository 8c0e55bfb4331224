"""Plausibility: how likely chance finds a number, and slips that explain one."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.dialects.dialect import Limit
from germane.errors import GermaneError, list_choices
from germane.evaluation.special_queries import settle
from germane.forensics.reported import Reported, format_plain, read_reported
from germane.forensics.run_search import DECIMALS, Given, RunSearch, Terms
from germane.forensics.variations import Candidate, Search, Tried, V, Variation, vary_measure
from germane.measures.measure import Measure
from germane.output.tables import format_number, write_count


@dataclass(frozen=True)
class OffCell:
    """A cell that differs under the protocol of its table."""

    run: str
    column: str
    reported: str
    value: float
    """what the protocol gives, in the unit of the table: 41.3 where it has percentages"""
    slip: str = ""
    """how the number may have come about; "" where nothing explains it"""

    def write(self, digits: int | None = 4) -> str:
        """Write the cell, the number reported, the value with so many decimals, and the slip."""
        value = format_number(self.value, digits, nan="no value")
        text = f"{self.run}, {self.column}: {self.reported} reported, {value} computed"
        return f"{text}; {self.slip}" if self.slip else text

    def __str__(self) -> str:
        return self.write()


def write_other(name: str) -> str:
    """Write the slip of a cell that has the value of another run or column."""
    return f"it is the value of {name}"


Near = tuple[str, float]  # another value, and what it would mean


def explain_slip(number: Reported, value: float, near: Iterable[Near]) -> str:
    """Explain a number by a slip: of digits, of decimals, or by another value that it rounds to.

    ``value`` is what the protocol gives; ``near`` are values of other cells and cutoffs, the
    likeliest first.
    """
    return next(_find_slips(number, value, near), "")


def _find_slips(number: Reported, value: float, near: Iterable[Near]) -> Iterator[str]:
    if number.can_be_cut_from(value):
        yield "its decimals were cut off, not rounded"
    decimals = max(number.decimals, 0)
    right, reported = f"{value:.{decimals}f}", f"{number.value:.{decimals}f}"
    if _are_swapped(right, reported):
        yield f"two digits of {right} are swapped"
    for meaning, near_value in near:
        if number.gives(near_value):
            yield meaning
    if any(number.gives(value * factor) for factor in (10, 100, 0.1, 0.01)) and value:
        yield "its decimal point is in another place"
    if (
        len(right) == len(reported)
        and sum(a != b for a, b in zip(right, reported, strict=True)) == 1
    ):
        yield f"one digit differs from {right}"


def _are_swapped(right: str, reported: str) -> bool:
    """Does swapping two digits make one number of the other?"""
    if len(right) != len(reported):
        return False
    for i, j in combinations(range(len(right)), 2):
        swapped = list(right)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        if "".join(swapped) == reported and right != reported and "." not in (right[i], right[j]):
            return True
    return False


# --- Plausibility ---------------------------------------------------------------------------------
#
# The probability that a number is found by chance, and slips that explain a number.
#
# A wrong number may coincide with the value of a definition that was tried. Slips, such as a
# percentage without its sign, explain a number that no definition gives.

POSSIBLE = 0.05  # a chance above which a definition is possible, and no longer found

_ORDERS = 200  # random orders of the lists
_MOST = 100_000  # ranks in all orders together; the numbers of larger data hardly ever coincide
_SEED = 0


def estimate_chance(search: RunSearch, tried: Sequence[Given]) -> tuple[int, float]:
    """Count the different values tried until one fits; estimate the chance of a wrong number.

    Definitions are tried from the likeliest: what was asked for; what tools mean by it; one thing
    changed; two. This estimates how often one of the values so far would give a wrong number, which
    is taken to lie anywhere between the lowest and the highest value tried, or in 0…1 if the
    definition asked for gives it. Small data has few values, which coincide more often. So a wrong
    number may also be the value of the same lists in a random order, or of lists that find other
    items, as those of another run do. The chance is the highest of the three. It excludes wrong
    numbers that an earlier definition gives.
    """
    wrong = [partial(_compute_numbers, search, change) for change in (_shuffle_hits, _draw_hits)]
    different, likely = weigh_values(search, tried, wrong)
    single = math.prod(min(1.0, 2 * number.tolerance) for number in search.per_query.values())
    return different, min(likely, different * single) if search.per_query else likely


def weigh_values(
    search: Search[V], tried: Sequence[Tried[V]], wrong: Iterable[Callable[[], Floats]]
) -> tuple[int, float]:
    """Count different values up to the first fitting step; estimate the chance of a wrong one.

    ``wrong`` compute numbers that could have been reported.
    """
    reported = search.reported
    steps = [(_count_steps(search.measure, trial.candidate), trial) for trial in tried]
    first = min(step for step, trial in steps if search.gives(trial))
    numbered = [(step, trial.value) for step, trial in steps]
    values = [value for step, value in numbered if step <= first]
    before = [value for step, value in numbered if step < first]
    possible = [value for _, value in numbered] + [0.0, 1.0] * (first == 0)
    likely = _measure_coverage(values, reported.tolerance, min(possible), max(possible))
    for compute in wrong if first > 0 else ():
        likely = max(likely, _measure_share(compute(), values, before, reported))
    return len({round(value, 12) for value in values}), likely


def _count_steps(measure: Any, candidate: Variation[Any]) -> int:
    """Return 0 for the definition asked for, 1 for a tool's, 2 for one change, 3 for more."""
    if candidate.key == (measure, ()):
        return 0
    return 1 if candidate.tools else min(candidate.distance(measure) + 1, 3)


def describe_chance(values: int, chance: float) -> str:
    """Say how often a wrong number would match the values tried."""
    tried = "the one value" if values == 1 else f"one of the {values} different values"
    return (
        f"By chance alone, a wrong number would match {tried} tried so far in"
        f" {write_chance(chance)} of cases."
    )


def write_chance(chance: float) -> str:
    """Write a probability in percent."""
    if chance < 0.001:
        return "less than 0.1 %"
    return f"{100 * chance:.2g} %" if chance < 0.995 else "100 %"


def _measure_coverage(values: Iterable[float], tolerance: float, low: float, high: float) -> float:
    """Measure the share of the numbers from low to high that some value rounds to."""
    low, high = low - tolerance, high + tolerance
    end, covered = low, 0.0  # of intervals in ascending order, only what is above the end counts
    for value in sorted(values):
        covered += max(value + tolerance - max(value - tolerance, end), 0.0)
        end = max(end, value + tolerance)
    return min(covered / (high - low), 1.0)


def _measure_share(
    numbers: Floats, values: Sequence[float], before: Sequence[float], reported: Reported
) -> float:
    """Measure the share of numbers that one value gives, among those that none before gives."""
    if not len(numbers):
        return 0.0
    unit = 2 * reported.tolerance
    written = np.round(numbers / unit) * unit

    def find_given(candidates: Sequence[float]) -> Floats:
        gaps = np.abs(np.subtract.outer(written, np.array(candidates)))
        slack = reported.tolerance + 1e-12
        return np.asarray((gaps <= slack).any(axis=1))

    left = ~find_given(before)
    return float(find_given(values)[left].mean()) if left.any() else 0.0


def _compute_numbers(search: RunSearch, change: Callable[[Ranking], Ranking]) -> Floats:
    """Compute the measure on changed lists; none where data is large or has no value."""
    none = np.zeros(0)
    measure, policy = search.measure, Policy(no_relevant=search.conventions.no_relevant)
    try:
        ranking, _ = search.compute_terms(Candidate(measure))
        if int(ranking.retrieved.sum()) * _ORDERS > _MOST or not len(ranking):
            return none
        changed = change(ranking)
        size = _ORDERS, len(ranking)
        result = settle(measure, changed, policy, None)
    except GermaneError:
        return none
    copies = np.arange(len(changed)).reshape(size)
    return np.array([result.take(row).mean for row in copies])


def _shuffle_hits(ranking: Ranking) -> Ranking:
    """Make many copies of a ranking, with the hits of each query at random ranks."""
    rng = np.random.default_rng(_SEED)
    hits = np.diff(ranking.offsets)
    ranks = [
        np.sort(rng.choice(size, n_hits, replace=False)) + 1
        for _ in range(_ORDERS)
        for size, n_hits in zip(ranking.retrieved.tolist(), hits.tolist(), strict=True)
    ]
    # the order of the hits is random, too
    owner = np.repeat(np.arange(_ORDERS * len(ranking)), np.tile(hits, _ORDERS))
    order = np.lexsort((rng.random(len(owner)), owner))
    rank = np.concatenate(ranks) if ranks else np.zeros(0, np.int64)
    return _copy_ranking(ranking, owner, rank, np.tile(ranking.relevance, _ORDERS)[order])


def _draw_hits(ranking: Ranking) -> Ranking:
    """Copy a ranking many times, finding each judged item with a probability of at most .5."""
    rng = np.random.default_rng(_SEED)
    sizes = zip(ranking.retrieved.tolist(), np.diff(ranking.ideal_offsets).tolist(), strict=True)
    starts = ranking.ideal_offsets.tolist()
    owners, ranks, grades = [], [], []
    for place, (size, judged) in enumerate([*sizes] * _ORDERS):
        # ranks without repeats, in twice as long a list: a judged item beyond the end is not found
        drawn = rng.choice(2 * max(size, judged, 1), judged, replace=False) + 1
        hit_items = np.flatnonzero(drawn <= size)
        hit_items = hit_items[np.argsort(drawn[hit_items])]
        owners.append(np.full(len(hit_items), place))
        ranks.append(drawn[hit_items])
        grades.append(ranking.ideal[starts[place % len(ranking)] + hit_items])
    return _copy_ranking(ranking, *map(np.concatenate, (owners, ranks, grades)))


def _copy_ranking(ranking: Ranking, owner: Ints, rank: Ints, relevance: Floats) -> Ranking:
    """Make many copies of a ranking, with these hits."""
    return replace(
        ranking,
        queries=list(range(_ORDERS * len(ranking))),
        owner=owner,
        rank=rank,
        relevance=relevance,
        retrieved=np.tile(ranking.retrieved, _ORDERS),
        ideal_offsets=ragged.make_offsets(np.tile(np.diff(ranking.ideal_offsets), _ORDERS)),
        ideal=np.tile(ranking.ideal, _ORDERS),
        tied_from=rank,
        tied_to=rank,
        ties="ordered",
        judgment=None,
        subtopics=None,  # which a changed list does not keep: their measures have no such numbers
    )


_USUAL = (None, 1, 3, 5, 10, 20, 50, 100, 1000)  # cutoffs, first the whole list
_CUTOFFS = (*range(1, 101), 200, 500)  # further ones, for the measure as asked
_MOST_HINTS = 3  # definitions that are named


def find_hints(search: RunSearch, tried: Sequence[Given]) -> tuple[str, ...]:
    """Write a sentence for each slip that explains a number that no definition gives."""
    reported = search.reported
    if any(reported.gives(trial.value) for trial in tried):
        return ()
    other_cutoffs = search.evaluate_all(_vary_cutoffs(search.measure))
    slips = {
        "Cut off instead of rounded, it": [
            trial for trial in tried if reported.can_be_cut_from(trial.value)
        ],
        "With another cutoff, it": [
            trial for trial in other_cutoffs if reported.gives(trial.value)
        ],
    }
    if abs(reported.value) > 1:
        percent = read_reported(reported.text + "%")
        number = f"{format_plain(percent.value)} (±{format_plain(percent.tolerance)})"
        trials = [trial for trial in tried if percent.gives(trial.value)]
        slips = {f"In percent, {reported.text} is {number}, which": trials, **slips}

    def order(trial: Given) -> tuple[int, bool, int]:
        k = trial.candidate.measure.k
        return trial.candidate.distance(search.measure), k not in _USUAL, k or 0

    hints = []
    for slip, trials in slips.items():
        by_value: dict[float, Given] = {}  # fewest changes and usual cutoffs first
        for trial in sorted(search.simplify(trials), key=order):
            by_value.setdefault(round(trial.value, 9), trial)
        if by_value:
            named = [f"{trial} ({trial.value:.4f})" for trial in by_value.values()]
            hidden = len(named) - _MOST_HINTS
            rest = f" and {hidden} more" if hidden > 0 else ""
            hints.append(f"{slip} is given by {', '.join(named[:_MOST_HINTS])}{rest}.")
    rounded = _try_rounded_terms(search, tried[0]) if tried else []
    return (*hints, *rounded, *_try_mistakes(search))


def explain_by_ties(
    search: RunSearch, limits: Iterable[tuple[Candidate, Limit | None]]
) -> Iterator[str]:
    """Explain the number by an order of equal scores that no convention has.

    ``limits`` are of the candidates of tools, some of which leave that order open.
    """
    reported = search.reported
    open_orders = [candidate for candidate, limit in limits if limit and limit.order]
    alike: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in (Candidate(search.measure), *open_orders):
        result = search.find_result(candidate)
        if result is None:
            continue
        low, high = sorted((result.worst, result.best))
        if low < high and low - reported.tolerance <= reported.value <= high + reported.tolerance:
            alike.setdefault((f"{low:.4f}", f"{high:.4f}"), []).append(candidate)
    for (lowest, highest), candidates in [*alike.items()][:1]:
        tools = {tool.partition(":")[0]: None for like in candidates for tool in like.tools[:1]}
        named = f", such as {list_choices(tools)}," if tools else ""
        yield (
            f"Depending on the order of equal scores, {candidates[0].measure} is anywhere from"
            f" {lowest} to {highest}, so a tool that leaves this order open{named} can give it."
        )


def _vary_cutoffs(base: Measure) -> Iterable[Candidate]:
    """Yield the measure at other cutoffs; at the usual ones, also with one parameter changed."""
    if not base.row.cutoff:
        return
    for k in dict.fromkeys((*_USUAL, *_CUTOFFS)):
        if k != base.k:
            measure = Measure(base.name, base.parameters, k)
            yield Candidate(measure)
            if k in _USUAL:
                yield from map(Candidate, vary_measure(measure, ()))


_BY_CHANCE = 0.02  # how often some mistake may give a number from 0 to 1 that is drawn at random


def _try_mistakes(search: RunSearch) -> Iterator[str]:
    """Explain the number by formulas that are no definition, but that people write."""
    from germane.forensics.mistakes import MISTAKES, View  # which few numbers need

    measure, conventions = search.measure, search.conventions
    fitting = [  # percents are said before
        mistake for mistake in MISTAKES if measure.name in mistake.measures and mistake.factor == 1
    ]
    reported = search.reported
    if reported.value <= 1 and 2 * reported.tolerance * len(fitting) > _BY_CHANCE:
        return
    usual = search.find_result(Candidate(measure)) if fitting else None
    if usual is None:
        return
    judged = search.values.judge(conventions, (measure,))
    view = View(judged.rank(conventions.ties), measure.k, judged.qrels.grades)
    for mistake in fitting:
        try:
            values = mistake.compute(measure, view)
        except (
            GermaneError,
            IndexError,
        ):  # as in orders of ties in which single items have no rank
            continue
        mean = replace(usual, values=values, norm=None).mean
        if reported.gives(mean):
            yield f"{measure} gives {mean:.4f} with a mistake: {mistake.name}."


def _try_rounded_terms(search: RunSearch, trial: Given) -> list[str]:
    """Explain the number by terms that were rounded before they were added."""
    measure = search.measure
    if measure.row.aggregate == "mean" and ("mean", "arithmetic") in measure.parameters:
        terms = Terms(search, trial)
        for decimals in DECIMALS:
            values = terms.round(decimals)
            mean = math.fsum(values.tolist()) / len(values)
            if search.reported.gives(mean):
                unit = write_count(decimals, "decimal")
                return [f"If every term is rounded to {unit}, {trial} gives {mean:.4f}."]
    return []
