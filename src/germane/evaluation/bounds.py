"""How far a number can be off: items without a judgment, data on which a dialect is not sure."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core import ragged
from germane.core.finding import Finding
from germane.core.policy import Policy
from germane.core.ragged import Bools, Ints
from germane.core.ranking import Ranking
from germane.dialects.dialect import Dialect, Entry, Limit
from germane.errors import InputError, MeasureError, write_option
from germane.evaluation.judging import JudgedRun
from germane.measures.averaging import MeasureResult, evaluate_measure
from germane.measures.definition import refuse_lists
from germane.measures.measure import Measure
from germane.output.documents import make_document
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number

if TYPE_CHECKING:
    from germane.evaluation.result import Result, Results


CLOSED = ("P", "Success", "RR", "DCG", "ERR", "RBP", "MeanP")
"""Measures that never fall if a grade rises, and whose norm does not depend on judgments."""


@dataclass(frozen=True)
class Bounds:
    """The means of a run if all items without a judgment were worthless, and if all were best."""

    measure: Measure
    low: float
    high: float
    mean: float
    """under the run's own convention for items without a judgment"""
    judged: float
    """the share of the results, down to the measure's cutoff, that were judged"""


def has_bounds(measure: Measure) -> bool:
    """Has the measure a closed form of its bounds?"""
    return not _find_obstacle(measure)


def _find_obstacle(measure: Measure) -> str:
    """Find out why a measure has no bounds; "" if it has some."""
    if measure.row.of_catalogue:
        return "they are about whole lists"
    norm = measure.arguments.get("norm", "all")
    if measure.name not in (*CLOSED, "AP") or norm not in ("all", "k", "retrieved"):
        return "the norm counts relevant items"
    if measure.nonrelevant:
        return "items of grade 0 count"
    return "" if measure.extremes == "always" else "gains do not grow with the grade"


def bound_measure(result: "Result", measure: Measure) -> Bounds:
    """Bound one measure of a result. Raises MeasureError without a closed form, and InputError."""
    refuse_lists([measure], f"and bounds exist for {', '.join(CLOSED)} and AP(norm=k).")
    if obstacle := _find_obstacle(measure):
        raise MeasureError(
            f"{measure} has no closed form of its bounds, because {obstacle}. Bounds exist for"
            f" {', '.join(CLOSED)} and AP(norm=k)."
        )
    if result.placement is None:
        raise InputError("a result that was read from a file has no ranks; evaluate the run again.")
    policy, ranking = result.policies.get(measure, result.policy), result.placement.ranking
    _check_policy(policy, ranking)
    best = max(1.0, measure.rel or 1.0, float(ranking.ideal.max(initial=1.0)))
    if measure.name == "ERR":
        best = float(measure.arguments["max"])
    low, high = (
        evaluate_measure(measure, _grade_unjudged(ranking, measure.k, grade)).mean
        for grade in (0.0, best)
    )
    shown = int(ranking.last(measure.k).sum())
    judged = int(np.count_nonzero(ranking.within(measure.k) & (ranking.relevance >= 0)))
    share = judged / shown if shown else math.nan
    return Bounds(measure, low, high, result[measure].mean, share)


def _check_policy(policy: Policy, ranking: Ranking) -> None:
    if policy.unjudged == "remove":
        raise InputError(
            f"{write_option('unjudged', 'remove')} has removed the items that bounds are about;"
            " leave it out."
        )
    if ranking.ties != "ordered" or policy.duplicates in ("keep", "recount"):
        raise InputError("bounds need an order of tied items, and no duplicates.")
    if policy.no_relevant != "zero":
        raise InputError("bounds are over all queries, so no_relevant has to be zero here.")


def _grade_unjudged(ranking: Ranking, k: int | None, grade: float) -> Ranking:
    """Give a grade to every retrieved item without a judgment, down to rank k."""
    last = ranking.last(k)
    ends = ragged.make_offsets(last)
    is_judged = ranking.within(k)
    place = (ends[ranking.owner] + ranking.rank - 1)[is_judged]
    grades = np.full(int(ends[-1]), grade)
    given = ranking.relevance[is_judged]
    grades[place] = np.where(given < 0, grade, given)
    owner: Ints = ragged.find_owners(ends)
    rank = np.arange(len(grades)) - ends[owner] + 1
    return replace(
        ranking, owner=owner, rank=rank, relevance=grades, retrieved=last,
        tied_from=rank, tied_to=rank, judgment=None,
    )  # fmt: skip


class BoundsOfRuns(Tabular):
    """The bounds of several runs: a row for each run and measure.

    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["z", "x"]}}
    >>> bounds = germane.evaluate_many({"q": {"x": 1}}, runs, "P@2").bounds()
    >>> [(str(measure), *names) for measure, *names in bounds.open]
    [('P@2', 'a', 'b')]

    ``open`` lists the pairs of runs whose order unjudged items could reverse.
    """

    def __init__(self, results: "Mapping[str, Result] | Results") -> None:
        measures = next(iter(results.values())).measures
        self.without = tuple(measure for measure in measures if not has_bounds(measure))
        self.bounds = {
            (name, measure): bound_measure(result, measure)
            for name, result in results.items()
            for measure in measures
            if has_bounds(measure)
        }
        if not self.bounds:
            bound_measure(next(iter(results.values())), measures[0])  # says why

    @property
    def open(self) -> tuple[tuple[Measure, str, str], ...]:
        """Measure and two runs whose order items without a judgment could turn."""
        open_pairs = []
        for (name, measure), (second, same) in combinations(self.bounds, 2):
            if measure == same:
                first_bounds, two = self.bounds[name, measure], self.bounds[second, measure]
                if first_bounds.high > two.low and two.high > first_bounds.low:
                    open_pairs.append((measure, name, second))
        return tuple(open_pairs)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per run and measure."""
        number = partial(format_number, digits=digits)
        rows = tuple(
            (name, str(measure), *map(number, (bound.mean, bound.low, bound.high, bound.judged)))
            for (name, measure), bound in self.bounds.items()
        )
        columns = ("run", "measure", "mean", "all worthless", "all best", "judged")
        return Table(columns, rows, tuple(self._write_notes()), (1,))

    def _write_notes(self) -> Iterator[str]:
        for measure in dict.fromkeys(measure for _, measure in self.bounds):
            yield f"{measure}: {measure.definition}"
        yield (
            "all worthless, all best: the mean if every retrieved item without a judgment had"
            " grade 0, or the highest grade; judged: the share of the results down to the cutoff"
            " that were judged"
        )
        obstacles = {measure: _find_obstacle(measure) for measure in self.without}
        for obstacle in dict.fromkeys(obstacles.values()):
            named = (str(measure) for measure, why in obstacles.items() if why == obstacle)
            yield f"no bounds, because {obstacle}: {', '.join(named)}"
        if self.open:
            yield (
                "open pairs follow from the bounds of each run alone: if both runs have the same"
                " unjudged items, an order that is called open may be settled; an order that is"
                " not called open is settled"
            )
        for measure, first, second in self.open:
            yield (
                f"open: items without a judgment could reverse the order of {first} and {second}"
                f" on {measure}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [
            {"run": name, "measure": measure, "mean": bound.mean, "low": bound.low,
                "high": bound.high, "judged": bound.judged}
            for (name, measure), bound in self.bounds.items()
        ]  # fmt: skip
        return make_document({"bounds": rows, "open": self.open})


# --- Limits: the data on which a dialect is not sure what its tool would say ----------------------

INSERTED = 15  # items that the usual quicksorts leave to an insertion sort


def list_limits(
    dialect: Dialect,
    foreign: Entry,
    result: MeasureResult,
    judged: JudgedRun,
    ordered: Callable[[], bool | None] = lambda: None,
) -> Iterator[Limit]:
    """List the limits of a tool's measure that this data is about, and that can change the number.

    ``judged`` is the data as the dialect judges it. ``ordered`` returns True where the rows stand
    in the order of their scores, and None if unknown.
    """
    measure = result.measure
    for limit in dialect.limits:
        of_lists = measure.row.of_catalogue  # whose limits are named
        if (limit.only or of_lists) and foreign.name not in limit.only:
            continue
        if limit.order and judged.policy.ties in Policy.UNORDERED:
            continue
        holds = _WHEN[limit.when](judged, measure)
        if not holds or (limit.when == "unordered" and ordered()):
            continue
        if _may_matter(limit, result, judged):
            yield limit


def find_limits(
    dialect: Dialect,
    evaluated: Iterable[tuple[MeasureResult, JudgedRun]],
    ordered: Callable[[], bool | None],
) -> dict[str, tuple[Measure, ...]]:
    """Map the sentence of each limit that matters on the data to the measures that it is about."""
    limits: dict[str, tuple[Measure, ...]] = {}
    for result, judged in evaluated:
        foreign = dialect.find_entry(result.measure, judged.policy)
        for limit in list_limits(dialect, foreign, result, judged, ordered) if foreign else ():
            limits[limit.says] = (*limits.get(limit.says, ()), result.measure)
    return limits


def _may_matter(limit: Limit, result: MeasureResult, judged: JudgedRun) -> bool:
    """Can the limit change the number? One of order cannot where all orders give the same."""
    if not limit.order or result.best != result.worst:
        return True
    return not result.are_extremes and _has_open_order(result.measure, judged)


def _has_open_order(measure: Measure, judged: JudgedRun) -> bool:
    """Are equal scores that begin within the cutoff those of unlike items?

    Another order may then give another value, although the best and the worst give the same: with
    one relevant item at rank 1 and one at rank 2 or 3, AP(norm=found)@3 is 1 or 5/6, and it is 1
    again where the latter drops out.
    """
    ranking = judged.reorder("best")
    if ranking is None:
        return False
    rel, k = measure.rel, measure.k
    worth = np.maximum(ranking.relevance, 0) if rel is None else ranking.relevant(rel)
    _, group = np.unique(np.stack([ranking.owner, ranking.tied_from]), axis=1, return_inverse=True)
    total = np.bincount(group.ravel(), worth)[group.ravel()]
    unlike = total != worth * (ranking.tied_to - ranking.tied_from + 1)
    return bool((unlike & (k is None or ranking.tied_from <= k)).any())


def make_findings(
    dialect: Dialect, limits: Mapping[str, tuple[Measure, ...]], queries: int
) -> Iterator[Finding]:
    """Make a finding of each limit."""
    for text, measures in limits.items():
        names = ", ".join(map(str, measures))
        unsure = f"{dialect.tool} itself may report something else for {names}: {text.rstrip('.')}"
        yield Finding("doubtful", "limit of the dialect", unsure, queries)


def _count_results(judged: JudgedRun) -> Ints:
    """Count the results of each judged query that the run answers."""
    return judged.retrieved.retrieved[judged.retrieved.answered]


def _find_pure(judged: JudgedRun) -> Bools:
    """Q: are the retrieved items exactly the relevant ones?"""
    hits = judged.retrieved.owner[judged.grades >= 1]
    n_hits = np.bincount(hits, minlength=len(judged.qrels))
    same: Bools = (n_hits == judged.retrieved.retrieved) & (judged.relevant == n_hits)
    return same


def _has_every_query(judged: JudgedRun, hits: Bools) -> bool:
    """Does every query have one of these hits?"""
    return len(np.unique(judged.retrieved.owner[hits])) == len(judged.qrels)


def _is_tied_long(judged: JudgedRun, _: Measure) -> bool:
    """Are items tied in a list that is too long for an insertion sort, which keeps their order?"""
    retrieved = judged.retrieved
    return bool((retrieved.retrieved[retrieved.owner[judged.tied]] > INSERTED).any())


def _is_empty(judged: JudgedRun, _: Measure) -> bool:
    """Is nothing left of the results of a query?"""
    if judged.policy.unjudged == "remove":
        return not _has_every_query(judged, judged.grades >= 0)
    return bool((judged.retrieved.retrieved == 0).any())


def _is_repeated(judged: JudgedRun, _: Measure) -> bool:
    """Does an item stand twice for a query, among the results or in lists of relevant items?"""
    hits, qrels = judged.retrieved.judgment, judged.qrels
    if len(np.unique(hits)) < len(hits):
        return True
    ends = zip(qrels.offsets, qrels.offsets[1:], strict=False)
    return judged.policy.repeated != "error" and any(
        len(set(qrels.items[start:end])) < end - start for start, end in ends
    )


def _is_early(judged: JudgedRun, measure: Measure) -> bool:
    """Does a query have nothing relevant from rank k on?"""
    k = measure.k or judged.policy.depth
    if k is None:
        return False
    late = judged.retrieved.rank >= k
    return not _has_every_query(judged, late & (judged.grades >= 1))


def _is_missed(judged: JudgedRun, measure: Measure) -> bool:
    """Does a query have nothing relevant up to rank k?"""
    k = measure.k or judged.policy.depth or np.iinfo(np.int64).max
    within = judged.retrieved.rank <= k
    return not _has_every_query(judged, within & (judged.grades >= 1))


_WHEN: Mapping[str, Callable[[JudgedRun, Measure], bool]] = {
    "tied": lambda judged, _: bool(judged.tied.any()),
    "tied_long": _is_tied_long,
    # several results may stand in another order than that of their scores
    "unordered": lambda judged, _: bool((judged.retrieved.retrieved > 1).any()),
    "no_relevant": lambda judged, _: bool((judged.relevant == 0).any()),
    "all_relevant": lambda judged, _: bool(_find_pure(judged).any()),
    "empty": _is_empty,
    "short": lambda judged, m: m.k is not None and bool((_count_results(judged) < m.k).any()),
    "all_within": lambda judged, m: (
        m.k is not None and bool((_find_pure(judged) & (judged.retrieved.retrieved <= m.k)).any())
    ),
    "shallow": lambda judged, m: m.k is not None and bool((judged.relevant > m.k).any()),
    "single": lambda judged, _: bool((_count_results(judged) == 1).any()),
    "uneven": lambda judged, _: len(np.unique(_count_results(judged))) > 1,
    "repeated": _is_repeated,
    "negative": lambda judged, _: bool((judged.qrels.grades < 0).any()),
    "early": _is_early,
    "several": lambda judged, _: bool((judged.relevant > 1).any()),
    "missed": _is_missed,
    "unknown": lambda judged, _: bool(judged.retrieved.unknown),
    "named": lambda judged, _: not all(str(q).isdecimal() for q in judged.qrels.queries),
    "level": lambda _, m: m.rel not in (None, 1.0),
}
"""The situations that a limit's ``when`` names, and the test for each on the data and a measure."""
