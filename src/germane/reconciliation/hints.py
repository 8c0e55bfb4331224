"""Hints: slips that explain a number which no definition gives as it stands."""

import math
from collections.abc import Iterable, Sequence

from germane.measures.measure import Measure
from germane.reconciliation.candidates import Candidate, variants
from germane.reconciliation.queries import DECIMALS, Terms
from germane.reconciliation.reported import Reported, plain
from germane.reconciliation.search import Given, Search

_USUAL = (None, 1, 3, 5, 10, 20, 50, 100, 1000)  # cutoffs, first the whole list
_CUTOFFS = (*range(1, 101), 200, 500)  # further ones, for what was asked as it stands
_MOST = 3  # definitions that are named


def hints(search: Search, tried: Sequence[Given], reported: Reported) -> tuple[str, ...]:
    """A sentence for each slip that would explain the number; none where a definition does."""
    if any(reported.gives(one.value) for one in tried):
        return ()
    found = []
    if abs(reported.value) > 1:
        percent = reported.in_percent()
        found += _given_by(
            search,
            f"In percent, {reported.text} is {plain(percent.value)} (±{plain(percent.tolerance)}), which",
            [one for one in tried if percent.gives(one.value)],
        )
    cut = [one for one in tried if reported.cuts(one.value)]
    found += _given_by(search, "Cut off after its last decimal, not rounded, it", cut)
    others = search.all(_at_other_cutoffs(search.asked))
    matching = [one for one in others if reported.gives(one.value)]
    found += _given_by(search, "With another cutoff, it", matching)
    return (*found, *_by_hand(search, tried[:1], reported))


def _given_by(search: Search, says: str, given: Iterable[Given]) -> list[str]:
    by_value: dict[float, Given] = {}
    for one in sorted(search.reduced(given), key=lambda one: _plainness(search.asked, one)):
        by_value.setdefault(round(one.value, 9), one)
    simplest = list(by_value.values())
    if not simplest:
        return []
    named = ", ".join(f"{one} ({one.value:.4f})" for one in simplest[:_MOST])
    more = f" and {len(simplest) - _MOST} more" if len(simplest) > _MOST else ""
    return [f"{says} is given by {named}{more}."]


def _plainness(asked: Measure, given: Given) -> tuple[int, bool, int]:
    """Sorts by what is otherwise, then the usual cutoffs before others."""
    k = given.candidate.measure.k
    return given.candidate.distance(asked), k not in _USUAL, k or 0


def _at_other_cutoffs(asked: Measure) -> Iterable[Candidate]:
    """What was asked at every cutoff that is tried, and one thing otherwise at the usual ones."""
    if not asked.row.cutoff:
        return
    for k in dict.fromkeys((*_USUAL, *_CUTOFFS)):
        if k != asked.k:
            measure = Measure(asked.name, asked.parameters, k)
            yield Candidate(measure)
            if k in _USUAL:
                yield from map(Candidate, variants(measure, ()))


def _by_hand(search: Search, own: Iterable[Given], reported: Reported) -> list[str]:
    """Terms that were rounded on the way: the mean of what is then each query's value."""
    row = search.asked.row
    if row.aggregate != "mean" or ("mean", "arithmetic") not in search.asked.parameters:
        return []
    for one in own:
        terms = Terms(search, one)
        for decimals in DECIMALS:
            values = terms.rounded(decimals)
            mean = math.fsum(values.tolist()) / len(values)
            if reported.gives(mean):
                unit = f"decimal{'s' * (decimals > 1)}"
                return [f"With every term rounded to {decimals} {unit}, {one} gives {mean:.4f}."]
    return []
