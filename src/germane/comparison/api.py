"""Compare systems on the same queries, with honest statistics."""

from collections.abc import Mapping
from typing import Any, Unpack

from germane.comparison.comparing import compared
from germane.comparison.comparison import Comparison
from germane.comparison.settings import Settings
from germane.comparison.words import Correction, Family, TestName
from germane.core.progress import Progress
from germane.core.seed import Seed
from germane.errors import InputError
from germane.evaluation.api import evaluate_many
from germane.evaluation.choices import DEFAULT, Choices
from germane.measures.measure import Measures


def compare(
    qrels: Any,
    runs: Mapping[str, Any] | None = None,
    measures: "Measures | None" = None,
    *,
    baseline: str | None = None,
    test: TestName = "randomization",
    correction: Correction | None = None,
    family: Family = "measure",
    confidence: float = 0.95,
    equivalence: float | None = None,
    resamples: int = 10_000,
    rng: Seed = 0,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Comparison:
    """Compare systems query by query: mean differences, intervals, effect sizes and p-values.

    >>> runs = {"bm25": {"q": ["x", "d"], "p": ["e"]}, "dense": {"q": ["d"], "p": ["e"]}}
    >>> print(germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR").pairs[0])
    dense is ahead of bm25 by 0.250 RR, 95% interval [0.000, 0.500], inconclusive, p = 1.000 (randomization), 1 win 0 losses 1 tie; this test cannot reach p < 0.05 here: only 1 query differs, so that p cannot be below 1

    Either ``compare(qrels, runs, measures)`` with what ``evaluate_many`` takes, or
    ``compare(results)`` with what it returned, with single results in a list, or with several data
    sets, ``{"news": results, "web": others}``, which then weigh the same.

    Values are paired by query id, over the queries for which every run has one. All pairs are
    compared, or every run with the ``baseline``. ``test`` is randomization (of the signs of
    differences), t, wilcoxon, sign, or tukey (randomized Tukey HSD, for several systems).
    ``correction`` is holm, bonferroni, bh or none, over the ``family`` of the comparisons on one
    measure, or of all. A difference is significant where its corrected p is below 1 - confidence, and
    inconclusive where no outcome of the queries that differ could have been. Intervals are BCa
    bootstraps at the level that the correction leaves to a comparison. ``equivalence`` is the
    difference below which systems are as good as the same, tested with two one-sided t-tests. Only
    tukey and ``stability`` draw ``resamples``, with ``rng``, a seed or a NumPy generator: the same
    seed gives the same numbers, whatever the order of the queries.

    The tests t and wilcoxon, and ``equivalence``, need SciPy: ``pip install 'germane[stats]'``.
    Raises PolicyError, InputError, CoverageError, AbsentError and what ``evaluate`` raises.
    """
    settings = Settings(baseline, test, correction, family, confidence, equivalence, resamples)
    if runs is None:
        if policy:
            raise InputError(f"{next(iter(policy))}=… is for qrels and runs; these are evaluated.")
        return compared(qrels, measures, settings, rng)
    chosen = DEFAULT if measures is None else measures
    results = evaluate_many(qrels, runs, chosen, progress=progress, **policy)
    return compared(results, None, settings, rng)
