"""Findings: everything that a report shows, as finished values."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from germane.comparison.comparison import Comparison
from germane.comparison.means import Means
from germane.evaluation.result import Result
from germane.explanation.explanation import Explanation
from germane.explanation.precision_recall import MeanPRCurve
from germane.measures.measure import Measure
from germane.reconciliation.spread import Spread
from germane.reports.origin import Origin

Spreads = Mapping[str, tuple[Spread, ...]]
Explained = tuple[Hashable, Mapping[str, tuple[Explanation, ...]]]


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What was found of one or more runs on the same judgments."""

    title: str
    results: Mapping[str, Result]
    intervals: Means
    confidence: float
    comparison: Comparison | None  # None for one run
    curves: Mapping[str, MeanPRCurve]
    spreads: Spreads  # of each run that was read again, all measures
    explanations: Iterable[
        Explained
    ]  # a query and each run's explanations, what matters most first
    judgments: int
    only_relevant: bool  # is nothing judged not relevant?
    judged_share: Mapping[str, float]  # of each run's first ten results
    left_out: tuple[str, ...]  # what the page does not show, and why
    origin: Origin

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.results)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of every run."""
        return next(iter(self.results.values())).measures
