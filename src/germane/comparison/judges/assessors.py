"""Assessors: a run's numbers by each of several judges, and by their grades merged."""

import math
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from germane.comparison.judges.agreement import compute_alpha
from germane.comparison.judges.sampling import list_judged, spell_alike
from germane.core.finding import Finding, warn
from germane.core.qrels import Qrels
from germane.dialects.parsing import parse
from germane.errors import CoverageError, EmptyError, GermaneWarning, InputError, clip
from germane.evaluation.accepted import Judges, Run
from germane.evaluation.api import evaluate
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.opening import Held, Inputs, Options, open_data
from germane.evaluation.result import Result
from germane.kernel.columns import read_python_ids
from germane.measures.measure import Measure, Measures
from germane.output.formatting import add_schema, format_number, to_json_number, write_count
from germane.output.frames import Tabular
from germane.output.tables import Table
from germane.readers import open_judges
from germane.readers.objects.mapped_qrels import read_qrels as read_mapping

Merging: TypeAlias = Literal["majority", "mean"]
MERGED: tuple[Merging, ...] = ("majority", "mean")


@dataclass(frozen=True, eq=False, repr=False)
class JudgedByMany(Tabular):
    """A run's numbers by each judge, by the majority of them and by their mean grade.

    >>> judges = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 0, "b": 0}}}
    >>> germane.evaluate_judges(judges, {"q": ["a", "b"]}, "P@2").spread("P@2")
    0.5

    ``results`` maps each judge, and ``majority`` and ``mean``, to a ``Result``.
    """

    results: Mapping[str, Result]
    judges: tuple[str, ...]
    alpha: float
    """Krippendorff's α of all judges, of unordered grades"""
    alpha_ordinal: float
    pairs: int
    """pairs of query and item that two judges or more judged"""
    left_out: int
    """queries that not every judge judged"""
    findings: tuple[Finding, ...] = ()
    """what can distort the numbers, once for all judges"""

    def __repr__(self) -> str:
        return (
            f"<JudgedByMany: {write_count(len(self.judges), 'judge')},"
            f" {', '.join(map(str, self.measures))}>"
        )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return next(iter(self.results.values())).measures

    def spread(self, measure: str | Measure) -> float:
        """The largest mean by a judge less the smallest."""
        key = parse(measure)
        means = [self.results[judge][key].mean for judge in self.judges]
        return max(means) - min(means)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a judge, one for each way to merge their grades, and the spread of the judges."""
        number = partial(format_number, digits=digits)
        names = {name: f"{name} grade" if name in MERGED else name for name in self.results}
        rows = [
            (names[name], *(number(result[measure].mean) for measure in self.measures))
            for name, result in self.results.items()
        ]
        rows.append(
            ("spread of judges", *(number(self.spread(measure)) for measure in self.measures))
        )
        notes = [f"{measure}: {measure.definition}" for measure in self.measures]
        queries = len(next(iter(self.results.values())).queries)
        left = f"; {self.left_out:,} left out" if self.left_out else ""
        alphas = f"α {number(self.alpha)}, α ordinal {number(self.alpha_ordinal)} (Krippendorff)"
        notes += [
            (
                "majority grade: the most frequent one, the lowest of several; mean grade: of all"
                " who judged the item"
            ),
            f"{write_count(queries, 'query')} that every judge judged{left}",
            f"agreement of all on {write_count(self.pairs, 'pair')}: {alphas}",
            f"policy: {next(iter(self.results.values())).policy}",
        ]
        return Table(("judge", *map(str, self.measures)), tuple(rows), tuple(notes))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        means = {
            name: {str(measure): to_json_number(result[measure].mean) for measure in self.measures}
            for name, result in self.results.items()
        }
        alphas = {"alpha": self.alpha, "alpha_ordinal": self.alpha_ordinal}
        return add_schema({
            "judges": list(self.judges), "means": means,
            **{name: to_json_number(alpha) for name, alpha in alphas.items()},
            "spread": {str(measure): self.spread(measure) for measure in self.measures},
            "pairs": self.pairs, "left_out": self.left_out,
            "findings": [finding.to_dict() for finding in self.findings],
        })  # fmt: skip


def evaluate_judges(
    judges: Judges, run: Run, measures: Measures = DEFAULT, **policy: Unpack[Choices]
) -> JudgedByMany:
    """Evaluate a run by each of several judges, by their majority grade and by their mean grade.

    >>> judges = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 0, "b": 0}},
    ...     "eve": {"q": {"a": 1, "b": 1}}}
    >>> found = germane.evaluate_judges(judges, {"q": ["a", "b"]}, "P@2")
    >>> [result["P@2"].mean for result in found.results.values()]
    [0.5, 0.0, 1.0, 0.5, 0.0]

    ``judges`` maps each name to qrels, or is one frame or file with a column that names the judge.
    Queries that some judge did not judge are left out. ``P@2`` of mean grades is 0 here, since 2/3
    is below ``rel=1``. Raises InputError for the names majority and mean, and CoverageError if no
    query has all judges.
    """
    options = open_data(None, policy).options
    read, opened = _read_judges(judges, run, options)
    first, *rest = read.values()
    queries = [query for query in first.queries if all(query in qrels.position for qrels in rest)]
    if not queries:
        raise CoverageError("no query has the judgments of every judge. Are these the same ids?")
    pooled = _pool_grades(read.values(), queries)
    judgments = {
        name: qrels.some(np.array([qrels.position[query] for query in queries]))
        for name, qrels in read.items()
    }
    judgments |= {name: _make_qrels(_merge(pooled, name), first) for name in MERGED}
    with warnings.catch_warnings():  # each finding is said once below, and not by every judge
        warnings.simplefilter("ignore", GermaneWarning)
        results = {
            name: evaluate(Inputs(graded, options), opened, measures, name=name)
            for name, graded in judgments.items()
        }
    units = [(Counter(grades), 1.0) for items in pooled.values() for grades in items.values()]
    alpha, ordinal = (compute_alpha(units, ordered=ordered) for ordered in (False, True))
    pairs = sum(counts.total() > 1 for counts, _ in units)
    left_out = len({query for qrels in read.values() for query in qrels.queries}) - len(queries)
    findings = _list_findings(results, left_out)
    warn("judges", findings)
    return JudgedByMany(results, tuple(read), alpha, ordinal, pairs, left_out, findings)


def _read_judges(judges: Any, run: Any, options: Options) -> tuple[dict[str, Qrels], Held]:
    """Read the judgments of each judge, beside a run, which is opened once."""
    if not isinstance(judges, Mapping):
        judges = open_judges(judges, options.held)
    if len(judges) < 2:
        only = f"; there is only {clip(next(iter(judges)))}" if judges else ""
        raise EmptyError(f"give two or more judges{only}.")
    read: dict[str, Qrels] = {}
    opened: Held | None = None
    for name, judgments in judges.items():
        if not isinstance(name, str) or name in MERGED:
            raise InputError(
                f"the name of a judge is text other than majority and mean; got {clip(name)}"
            )
        inputs = Inputs(judgments, options.leave_attached())
        if opened is None:
            opened = inputs.open_runs({"run": run})["run"]
        read[name] = inputs.read_judge(runs=[opened.run])
    assert opened is not None  # there are two judges or more
    return dict(zip(read, spell_alike(*read.values()), strict=True)), opened


def _make_qrels(merged: Mapping[Hashable, Any], like: Qrels) -> Qrels:
    """Make judgments of merged grades, with ids as those of a judge have them."""
    qrels = read_mapping(merged, "error")
    columns = read_python_ids(qrels.queries), read_python_ids(qrels.items)
    return replace(qrels, ids=like.ids, columns=columns if like.columns else None)


def _list_findings(results: Mapping[str, Result], left_out: int) -> tuple[Finding, ...]:
    """List each finding once, with its judges unless all have it; queries left out are none."""
    whose: dict[Finding, list[str]] = {}
    for name, result in results.items():
        for finding in result.findings:
            if finding.what != "queries not judged" or finding.count > left_out:
                whose.setdefault(replace(finding, where=""), []).append(name)
    return tuple(
        finding
        if len(names) == len(results)
        else replace(finding, where=", ".join(map(clip, names)))
        for finding, names in whose.items()
    )


Pooled: TypeAlias = dict[Hashable, dict[Hashable, list[float]]]


def _pool_grades(judges: Iterable[Qrels], queries: list[Hashable]) -> Pooled:
    """Collect the grades of all judges for every item."""
    pooled: Pooled = {query: {} for query in queries}
    for judge in judges:
        for query, items in pooled.items():
            for item, grade in list_judged(judge, query).items():
                items.setdefault(item, []).append(grade)
    return pooled


def _merge(pooled: Pooled, how: Merging) -> dict[Hashable, dict[Hashable, float]]:
    """Merge the grades of each item: the most frequent one, the lowest of several, or the mean."""
    choose = _choose_majority if how == "majority" else _average
    return {
        query: {item: choose(grades) for item, grades in items.items()}
        for query, items in pooled.items()
    }


def _choose_majority(grades: list[float]) -> float:
    counts = Counter(grades)
    top_count = max(counts.values())
    return min(grade for grade, count in counts.items() if count == top_count)


def _average(grades: list[float]) -> float:
    """Average grades without rounding that moves equal ones below a threshold of relevance."""
    mean = math.fsum(grades) / len(grades)
    return min(max(mean, min(grades)), max(grades))
