"""Edge: what a query counts as whose value a tool does not take as it is."""

import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from germane._ragged import Bools, Floats
from germane.errors import CoverageError, some
from germane.measure import Measure
from germane.policy import Policy
from germane.ranking import Ranking

Amend: TypeAlias = Callable[[Measure, Ranking, Floats], Floats]


def amended(policy: Policy) -> Amend | None:
    """What a policy makes of a measure's values, query by query; None where it takes them as they are."""
    if policy.no_hit == "zero" and policy.all_relevant == "answer" and policy.empty != "nan":
        return None
    return partial(_amended, policy)


def _amended(policy: Policy, measure: Measure, ranking: Ranking, values: Floats) -> Floats:
    rel = measure.rel or 1.0
    out = values.copy()
    out[_missed(policy, measure, ranking, values)] = 1.0 if policy.no_hit == "one" else math.nan
    if policy.all_relevant != "answer":
        alone = _alone(measure, ranking, rel) & (values > 0)
        out[alone] = 0.0 if policy.all_relevant == "zero" else math.nan
    if policy.empty == "nan":
        out[ranking.retrieved == 0] = math.nan
    return out


def _alone(measure: Measure, ranking: Ranking, rel: float) -> Bools:
    """Q: is every item relevant? An unjudged result is not, but to measures that see none."""
    alone = np.ones(len(ranking), bool)
    alone[ranking.ideal_owner[ranking.ideal < rel]] = False
    if not measure.nonrelevant:
        alone &= ranking.retrieved == ranking.found(rel, None)
    return alone


def _missed(policy: Policy, measure: Measure, ranking: Ranking, values: Floats) -> Bools:
    """Q: has the query relevant items of which none was found, and does that change anything?"""
    if policy.no_hit == "zero":
        return np.zeros(len(ranking), bool)
    missed: Bools = (ranking.total(measure.rel or 1.0) > 0) & (values == 0)
    if policy.no_hit == "error" and missed.any():
        which = [ranking.queries[q] for q in np.flatnonzero(missed)]
        raise CoverageError(
            f"{measure}: nothing relevant found: {some(which)} ({len(which)} of {len(missed)} "
            "queries). no_hit=zero counts them as 0, skip leaves them out."
        )
    return missed
