"""The confidence below which detections were left out before a number was computed, searched."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from germane.boxes.conventions_search import BoxCandidate, BoxGiven, BoxSearch
from germane.boxes.score_curves import shorten
from germane.core.ragged import Floats

_BASES = 3  # definitions that are tried with a confidence
_PROBES = 24  # scores at which each of them is evaluated first
_STEPS = 16  # halvings between two of them
_WORK = 20_000_000  # detections in all evaluations together


def find_cuts(search: BoxSearch, tried: Sequence[BoxGiven]) -> list[BoxGiven]:
    """Evaluate what was asked for, and the nearest tools, without all low scores.

    Cut after cut is tried, and then halfway between two of them with the number in between.
    """
    values, variations = search.values, search.values.variations
    scores = np.unique(values.detections.score)
    if "confidence" in variations.fixed or len(scores) < 2:
        return []
    evaluations = max(int(_WORK / len(values.detections)), _PROBES)
    cuts: list[BoxGiven] = []
    for base in _choose_bases(search, tried):
        probes = min(_PROBES, evaluations)
        places = np.unique(np.linspace(1, len(scores) - 1, probes).astype(int)).tolist()
        made = {place: _evaluate(search, base, scores, place) for place in places}
        numbers = {0: base.value} | {place: trial.value for place, trial in made.items()}
        for first, last in zip(list(numbers), list(numbers)[1:], strict=False):
            for _ in range(_STEPS):
                ends = sorted((numbers[first], numbers[last]))
                middle = (first + last) // 2
                if not ends[0] <= search.reported.value <= ends[1] or middle in (first, last):
                    break
                made[middle] = _evaluate(search, base, scores, middle)
                numbers[middle] = made[middle].value
                below = min(numbers[first], numbers[middle]) <= search.reported.value
                above = search.reported.value <= max(numbers[first], numbers[middle])
                first, last = (first, middle) if below and above else (middle, last)
        cuts += made.values()
    return [trial for trial in cuts if not math.isnan(trial.value)]


def _choose_bases(search: BoxSearch, tried: Sequence[BoxGiven]) -> list[BoxGiven]:
    """Choose what was asked for, and the tools that are nearest to the number."""
    own = [trial for trial in tried if trial.candidate.key == (search.measure, ())]
    tools = [trial for trial in tried if trial.candidate.tools]
    tools.sort(key=lambda trial: abs(trial.value - search.reported.value))
    bases: dict[float, BoxGiven] = {}
    for trial in (*own[:1], *tools):
        if "confidence" not in dict(trial.candidate.choices):
            bases.setdefault(round(trial.value, 12), trial)
    return list(bases.values())[:_BASES]


def _evaluate(search: BoxSearch, base: BoxGiven, scores: Floats, place: int) -> BoxGiven:
    """Evaluate a candidate without the scores below one of them."""
    cut = shorten(float(scores[place - 1]), float(scores[place]))
    changed: dict[str, Any] = {**dict(base.candidate.choices), "confidence": cut}
    candidate = BoxCandidate(base.candidate.measure, tuple(sorted(changed.items())))
    return BoxGiven(candidate, search.find_value(candidate))


def weigh_cuts(
    search: BoxSearch, tried: Sequence[BoxGiven], different: int, chance: float
) -> tuple[int, float]:
    """Count the values of all cuts that could have been tried; estimate the chance of a wrong one.

    A wrong number lies between two values of neighboring cuts more often, the more there are.
    """
    cuts = len(np.unique(search.values.detections.score)) - 1
    numbers = [trial.value for trial in tried]
    width = 2 * search.reported.tolerance / (max(numbers) - min(numbers) or 1.0)
    likely = 1.0 - (1.0 - min(width, 1.0)) ** cuts
    return different + cuts, max(chance, likely)
