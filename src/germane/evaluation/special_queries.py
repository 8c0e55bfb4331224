"""Special queries: the values that conventions give to queries that are missing, empty etc."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Bools, Floats
from germane.core.ranking import Ranking
from germane.errors import CoverageError, list_some, write_option
from germane.measures import Scored
from germane.measures.averaging import (
    BEYOND,
    MeasureResult,
    QueryValues,
    compute_finite,
    compute_terms,
    find_weights,
    list_queries,
)
from germane.measures.definition import compute_gains
from germane.measures.measure import Measure

# --- Special queries ------------------------------------------------------------------------------
#
# The values that conventions give to queries that are missing, empty and so on.
#
# Conventions decide in the order of ``_list_changes``, each on the values that those before it
# left. A query that one of them leaves out stays out. None of them changes a count, and those
# about the items of a list say nothing of a query that the run lacks.


@dataclass(frozen=True, eq=False)
class Kinds:
    """The special queries of a ranking, as far as its ranks do not show them (Q each)."""

    missing: Bools  # judged, and not in the run
    empty: Bools  # in the run, with an empty list
    unknown: Bools  # in the run, and not judged

    @property
    def key(self) -> tuple[bytes, ...]:
        """All of it, as a key."""
        return tuple(marks.tobytes() for marks in (self.missing, self.empty, self.unknown))

    @classmethod
    def ordinary(cls, queries: int) -> "Kinds":
        """Make the kinds of queries of which none is special."""
        none = np.zeros(queries, bool)
        return cls(none, none, none)


class Change(NamedTuple):
    """The value that a convention gives to some queries."""

    convention: str
    queries: Bools  # Q
    value: float | None  # None: they are left out


@BEYOND
def settle(
    measure: Measure,
    ranking: Ranking,
    policy: Policy,
    kinds: Kinds | None,
    under: Callable[[str], QueryValues | None] | None = None,
) -> MeasureResult:
    """Compute the value of every query, of special ones by the policy.

    ``kinds`` are those of the ranking's queries, or None where all are ordinary; ``under`` is that
    of the result. Raises CoverageError for a query that the policy refuses.
    """
    scored = compute_terms(measure, ranking)
    values, left_out = compute_finite(measure, ranking, scored), None
    changes: Iterable[Change] = ()
    if kinds is not None or not policy.follows_formula or measure.row.omits:
        changes = _list_changes(measure, ranking, scored, values.copy(), policy, kinds)
    for change in changes:
        values[change.queries] = math.nan if change.value is None else change.value
        if change.value is None and change.queries.any():
            left_out = change.queries if left_out is None else left_out | change.queries
    if left_out is not None:
        values[left_out] = math.nan
    weights = find_weights(measure, scored)
    return MeasureResult(
        measure, ranking.queries, values, left_out, policy.digits, policy.query_digits,
        policy.undefined, weights, under, policy.knows_extremes(measure.extremes),
        halves=policy.halves,
        unanswered=0 if kinds is None else int(np.count_nonzero(kinds.missing)),
    )  # fmt: skip


def find_convention(measure: Measure, ranking: Ranking, policy: Policy, kinds: Kinds | None) -> str:
    """Find the convention that decides on the value of a single query; "" if none does."""
    scored = compute_terms(measure, ranking)
    values, convention = compute_finite(measure, ranking, scored), ""
    for change in _list_changes(measure, ranking, scored, values, policy, kinds):
        if change.queries[0]:
            convention = change.convention
            if change.value is None:
                break
    return convention


_VALUES = {"zero": 0.0, "one": 1.0, "nan": math.nan, "skip": None}


def _list_changes(
    measure: Measure,
    ranking: Ranking,
    scored: Scored,
    values: Floats,
    policy: Policy,
    kinds: Kinds | None,
) -> Iterator[Change]:
    """List what conventions change of the values of a measure's formula, one after the other."""
    row = measure.row
    if row.aggregate == "sum":
        return
    kinds = kinds or Kinds.ordinary(len(ranking))
    listed = ~(kinds.missing | kinds.unknown)
    defined = np.ones(len(ranking), bool)
    if scored.relevant is not None:
        judged = scored.relevant if scored.judged is None else scored.judged
        defined = np.where(kinds.missing, judged, scored.relevant) > 0
        worst = find_worst(measure) if row.better == "low" else None
        if worst is not None and policy.missing == "zero":
            yield Change("missing=zero", kinds.missing & defined, worst)
        word = "skip" if row.omits and policy.no_relevant != "error" else policy.no_relevant
        yield _decide(measure, ranking, "no_relevant", word, ~defined)
        if row.finds and policy.no_hit != "zero":
            missed = listed & defined & (values == 0)
            yield _decide(measure, ranking, "no_hit", policy.no_hit, missed)
        if policy.all_relevant != "answer" and row.better == "high":
            pure = listed & defined & _find_pure(measure, ranking)
            yield Change(f"all_relevant={policy.all_relevant}", pure, _VALUES[policy.all_relevant])
    if policy.missing == "nan":
        yield Change("missing=nan", kinds.missing, math.nan)
    if policy.empty == "nan":
        yield Change("empty=nan", kinds.empty, math.nan)
    if policy.short != "answer" and measure.k is not None:
        short = listed & _find_short(policy, measure, measure.k, ranking, listed)
        yield Change("short=nan", short, math.nan)
    if policy.constant == "nan":
        at_ends = (ranking.tied_from == 1) & (ranking.tied_to >= ranking.retrieved[ranking.owner])
        constant = np.zeros(len(ranking), bool)
        constant[ranking.owner[at_ends]] = True
        yield Change("constant=nan", constant, math.nan)


def find_worst(measure: Measure) -> float | None:
    """Find the worst value of a measure whose low values are good; None if it has no limit."""
    return None if measure.range is None else measure.range[1]


def refuse_undefined(result: QueryValues) -> None:
    """Raise CoverageError for a mean that is NaN."""
    if math.isnan(result.mean):
        undefined = [query for query, value in result.per_query.items() if math.isnan(value)]
        why = f"NaN for {list_some(undefined)}" if undefined else "no query counts"
        raise CoverageError(
            f"{result.measure}: {why}. undefined=nan makes the mean NaN, and undefined=zero counts"
            " such values as 0."
        )


_REFUSED = {
    "no_relevant": "without a relevant item",
    "no_hit": "nothing relevant found",
}


def _decide(
    measure: Measure, ranking: Ranking, convention: str, word: str, queries: Bools
) -> Change:
    """Give queries the value that the word of a convention names, or refuse them."""
    if word == "error" and queries.any():
        raise CoverageError(
            f"{measure}: {_REFUSED[convention]}: {list_queries(ranking, queries)}."
            f" {write_option(convention, 'zero')} counts them as 0, skip leaves them out."
        )
    return Change(f"{convention}={word}", queries, _VALUES.get(word))


def _find_short(policy: Policy, measure: Measure, k: int, ranking: Ranking, listed: Bools) -> Bools:
    """Q: is the query NaN for having no more results than the cutoff? Fewer may be refused."""
    if policy.short == "nan":
        return ranking.retrieved <= k
    fewer: Bools = listed & (ranking.retrieved < k)
    if fewer.any() if policy.short == "error" else listed.any() and fewer[listed].all():
        raise CoverageError(
            f"{measure}: fewer than {k} results: {list_queries(ranking, fewer)}. short=answer takes"
            " them."
        )
    return np.zeros(len(ranking), bool)


def _find_pure(measure: Measure, ranking: Ranking) -> Bools:
    """Q: is something found, and every item relevant?

    Unjudged results are not relevant, except to measures that skip them.
    """
    relevant = _mark_relevant(measure, ranking.relevance)
    hits = ranking.sum_hits(relevant)
    pure: Bools = hits > 0
    pure[ranking.ideal_owner[~_mark_relevant(measure, ranking.ideal)]] = False
    return pure if measure.row.nonrelevant else pure & (ranking.retrieved == hits)


def _mark_relevant(measure: Measure, grades: Floats) -> Bools:
    """Mark the grades that count as relevant, or that gain something."""
    arguments = measure.arguments
    if measure.rel is not None:
        return grades >= measure.rel
    if "gain" in arguments:
        return compute_gains(grades, arguments["gain"], arguments.get("least", 0.0)) > 0
    marked: Bools = grades > arguments.get("min", 0.0)
    return marked
