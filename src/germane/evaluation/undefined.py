"""Undefined values: the values of special queries, as a policy amends them."""

import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Bools, Floats
from germane.core.ranking import Ranking
from germane.errors import CoverageError, list_some
from germane.measures.averaging import QueryValues, list_queries
from germane.measures.measure import Measure

Amend: TypeAlias = Callable[[Measure, Ranking, Floats], Floats]


def make_amendment(policy: Policy) -> Amend | None:
    """Make the function that amends values under a policy; None where it changes nothing."""
    usual = (
        policy.no_hit == "zero"
        and policy.all_relevant == "answer"
        and policy.empty != "nan"
        and policy.short == "answer"
        and policy.constant == "answer"
    )
    return None if usual else partial(_amend, policy)


def _amend(policy: Policy, measure: Measure, ranking: Ranking, values: Floats) -> Floats:
    rel = measure.rel or 1.0
    out = values.copy()
    out[_find_missed(policy, measure, ranking, values)] = (
        1.0 if policy.no_hit == "one" else math.nan
    )
    if policy.all_relevant != "answer":
        pure = _find_pure(measure, ranking, rel) & (values > 0)
        out[pure] = 0.0 if policy.all_relevant == "zero" else math.nan
    if policy.empty == "nan":
        out[ranking.retrieved == 0] = math.nan
    if policy.short != "answer" and measure.k is not None:
        out[_find_short(policy, measure, measure.k, ranking)] = math.nan
    if policy.constant == "nan":
        constant = (ranking.tied_from == 1) & (ranking.tied_to == ranking.retrieved[ranking.owner])
        out[ranking.owner[constant]] = math.nan
    return out


def _find_short(policy: Policy, measure: Measure, k: int, ranking: Ranking) -> Bools:
    """Q: is the query NaN for having no more results than the cutoff? Fewer may be refused."""
    if policy.short == "nan":
        return ranking.retrieved <= k
    fewer: Bools = ranking.retrieved < k
    if fewer.any() if policy.short == "error" else fewer.all():
        raise CoverageError(
            f"{measure}: fewer than {k} results: {list_queries(ranking, fewer)}. short=answer takes"
            " them."
        )
    return np.zeros(len(ranking), bool)


def refuse_undefined(result: QueryValues) -> None:
    """Raise CoverageError for a mean that is NaN."""
    if math.isnan(result.mean):
        which = [query for query, value in result.per_query.items() if math.isnan(value)]
        why = f"NaN for {list_some(which)}" if which else "no query counts"
        raise CoverageError(
            f"{result.measure}: {why}. undefined=nan makes the mean NaN, undefined=zero counts that"
            " as 0."
        )


def _find_pure(measure: Measure, ranking: Ranking, rel: float) -> Bools:
    """Q: is every item relevant? Unjudged results are not, except to measures that skip them."""
    pure = np.ones(len(ranking), bool)
    pure[ranking.ideal_owner[ranking.ideal < rel]] = False
    if not measure.nonrelevant:
        pure &= ranking.retrieved == ranking.count_found(rel, None)
    return pure


def _find_missed(policy: Policy, measure: Measure, ranking: Ranking, values: Floats) -> Bools:
    """Q: does the policy amend the query, since none of its relevant items was found?"""
    if policy.no_hit == "zero":
        return np.zeros(len(ranking), bool)
    missed: Bools = (ranking.total(measure.rel or 1.0) > 0) & (values == 0)
    if policy.no_hit == "error" and missed.any():
        raise CoverageError(
            f"{measure}: nothing relevant found: {list_queries(ranking, missed)}. no_hit=zero"
            " counts them as 0, skip leaves them out."
        )
    return missed
