"""Result: the measures of a run, with the conventions and counts that its numbers rest on."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, ValuesView
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from germane._version import VERSION
from germane.core.finding import Finding
from germane.core.policy import Policy
from germane.errors import InputError, MeasureError, NotFoundError, clip, list_some, suggest
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure, parse
from germane.output.formatting import add_schema, format_number, to_json_number
from germane.output.tables import Table, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from germane.dialects.dialect import Dialect
    from germane.evaluation.groups import Groups
    from germane.evaluation.judging import Placement

# Tables and groups are imported where they are made: most programs read only a mean or two.


@dataclass(frozen=True)
class Counts:
    """How many queries and items the numbers rest on."""

    judged: int
    """queries with judgments"""
    answered: int
    """of these, queries that the run has"""
    missing: int
    """of these, queries that the run does not have"""
    without_relevant: int
    """judged queries with no item of grade 1 or higher"""
    unjudged_queries: int
    """queries of the run that nobody judged; they are left out"""
    judged_items_retrieved: int
    """judged items among the results"""
    tied: int
    """of these, items that share their score with another item"""
    comments: int = 0
    """lines of both files that begin with # and are no data"""

    @property
    def tied_share(self) -> float:
        """The share of judged items retrieved that are in a tie."""
        return self.tied / self.judged_items_retrieved if self.judged_items_retrieved else 0.0


class Result(Tabular, Mapping[str, MeasureResult]):
    """The measures of one run.

    >>> result = germane.evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 0.9, "d1": 0.8}}, "AP RR")
    >>> result["AP"].mean
    0.5
    >>> result["AP"].per_query["q1"]
    0.5

    A mapping from measures (``"AP@10"`` or ``AP @ 10``) to their values; ``name``, ``counts`` and
    ``policy`` say what was evaluated and how. ``findings`` are problems that can distort the numbers, and
    ``limits`` those of a dialect that matter on this data. Prints as a table with definitions.
    """

    def __init__(
        self,
        name: str,
        measures: Mapping[Measure, MeasureResult],
        counts: Callable[[], Counts],
        policy: Policy,
        placement: "Placement | None" = None,
        findings: tuple[Finding, ...] = (),
        *,
        dialect: "Dialect | None" = None,
        policies: Mapping[Measure, Policy] | None = None,
        limits: Mapping[str, tuple[Measure, ...]] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self.name = name
        self.findings = findings
        self.measures = tuple(measures)
        self._counts = counts
        self.policy = policy
        self.placement = placement  # None for a result that was read from a file
        self.dialect = dialect
        self.policies = dict(policies or {})  # of measures that have their own
        self.limits = dict(
            limits or {}
        )  # of the dialect that matter on the data, with their measures
        self._by_measure = dict(measures)
        self._fingerprint = fingerprint  # of a result that was read from a file

    @cached_property
    def fingerprint(self) -> str | None:
        """A text that is the same for results of the same judgments; None if a file does not hold it."""
        if self.placement is None:
            return self._fingerprint
        from germane.evaluation.fingerprint import make_fingerprint

        return make_fingerprint(self.placement.qrels)

    @cached_property
    def counts(self) -> Counts:
        """How many queries and items the numbers rest on."""
        return self._counts()

    @cached_property
    def own(self) -> tuple[Measure, ...]:
        """The measures that are germane's own, since the tool of the dialect does not have them."""
        if self.dialect is None:
            return ()
        from germane.dialects.names import find_entry

        return tuple(one for one in self.measures if find_entry(self.dialect, one) is None)

    def __getitem__(self, measure: str | Measure) -> MeasureResult:
        key = measure if isinstance(measure, Measure) else parse(measure)
        try:
            return self._by_measure[key]
        except KeyError:
            names = list(map(str, self.measures))
            raise NotFoundError(
                f"{key} was not evaluated.{suggest(str(key), names)}  There are: {', '.join(names)}"
            ) from None

    def __contains__(self, measure: object) -> bool:
        try:
            return (measure if isinstance(measure, Measure) else parse(measure)) in self._by_measure  # type: ignore[arg-type]
        except MeasureError:
            return False

    def __iter__(self) -> Iterator[str]:
        return map(str, self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def values(self) -> ValuesView[MeasureResult]:
        """The measures' results, in the order asked for."""
        return self._by_measure.values()

    def spell_queries(self) -> "Result":
        """Write query ids as text, as files have them. The result has no ranks of items any more."""
        if all(isinstance(query, str) for query in next(iter(self.values())).queries):
            return self
        spelled = {
            measure: replace(one, queries=list(map(str, one.queries)))
            for measure, one in self._by_measure.items()
        }
        return Result(
            self.name,
            spelled,
            self._counts,
            self.policy,
            None,
            self.findings,
            dialect=self.dialect,
            policies=self.policies,
            limits=self.limits,
            fingerprint=self.fingerprint,
        )

    def by(self, category: Any) -> "Groups":
        """The measures per category of query: per-class mAP, and its macro and micro mean.

        ``category`` is a mapping of query to category, a function of the query, or one value a
        query, in the order of ``per_query``; a pandas Series is looked up by its index, unless that just
        counts from 0. Raises NotFoundError for a query without a category.
        """
        from germane.evaluation.groups import group_measures

        return group_measures(self._by_measure, category)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row; definitions, counts and policy as notes. ``digits=None``: all of them."""
        return Results({self.name: self}).table(digits=digits)

    def __repr__(self) -> str:
        means = ", ".join(f"{m}={format_value(self[m].mean, m, 4)}" for m in self.measures)
        return f"<Result {self.name}: {means}>"

    def to_dict(self, *, queries: bool = False) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        return Results({self.name: self}).to_dict(queries=queries)

    def flat(self, *, prefix: str = "") -> dict[str, float]:
        """Measure → mean, under names that experiment trackers accept: MLflow refuses ``@``.

        >>> runs = {"q1": ["d1"]}
        >>> germane.evaluate({"q1": ["d1"]}, runs, "AP(norm=R)@10 RR").flat(prefix="test/")
        {'test/AP_norm-R_at_10': 1.0, 'test/RR': 1.0}
        """
        return {prefix + _replace_odd_letters(measure): self[measure].mean for measure in self}

    def to_arrow(self) -> "pa.Table":
        """A ``pyarrow.Table`` with a column ``query`` and one column a measure, one row a query."""
        import pyarrow as pa

        queries = next(iter(self.values())).queries
        columns = {str(measure): self[measure].values for measure in self.measures}
        return pa.table({"query": pa.array(map(_make_printable, queries)), **columns})


class Results(Tabular, Mapping[str, Result]):
    """Several runs evaluated on the same judgments: a mapping of name to Result.

    >>> runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}
    >>> results = germane.evaluate_many({"q": {"d": 1}}, runs, "RR")
    >>> results["a"]["RR"].mean, results["b"]["RR"].mean
    (1.0, 0.0)
    """

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = dict(results)

    def __getitem__(self, name: str) -> Result:
        try:
            return self._results[name]
        except KeyError:
            near = suggest(str(name), self._results)
            raise NotFoundError(
                f"no run {clip(name)}.{near}  There are: {list_some(self._results)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<Results {', '.join(self._results)}>"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that every run was evaluated with."""
        return next(iter(self._results.values())).measures

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a run; definitions, counts and policy as notes. ``digits=None``: all of them."""
        rows = [(name, *_write_means(result, digits)) for name, result in self._results.items()]
        return Table(("run", *map(str, self.measures)), tuple(rows), tuple(self._notes()))

    def table_per_query(self, *, digits: int | None = 4) -> Table:
        """One row a query and run, and one row ``all`` a run."""
        rows = []
        for name, result in self._results.items():
            columns = [(result[m].per_query, m) for m in self.measures]
            for query in next(iter(result.values())).queries:
                cells = [
                    format_value(values[query], m, digits) if query in values else ""
                    for values, m in columns
                ]
                rows.append((name, str(query), *cells))
            rows.append((name, "all", *_write_means(result, digits)))
        return Table(("run", "query", *map(str, self.measures)), tuple(rows), tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        measures = list(map(str, self.measures))
        longest = max(map(len, measures))
        for measure, name in zip(self.measures, measures, strict=True):
            yield f"{name:<{longest}}  {measure.definition}"
        yield ""
        for write in (_write_counts, lambda result: f"policy: {result.policy}"):
            yield from _share_lines({name: write(one) for name, one in self._results.items()})
        result = next(iter(self._results.values()))
        for measure, own in result.policies.items():
            yield f"policy of {measure}: {own}"
        if result.dialect is not None:
            yield f"dialect: {result.dialect.name} ({result.dialect.tool} {result.dialect.version})"
            lines = {name: _write_limits(result) for name, result in self._results.items()}
            yield from filter(None, _share_lines(lines))
            if result.own:
                names = ", ".join(map(str, result.own))
                yield f"germane's own measures, not {result.dialect.tool}'s: {names}"

    def to_dict(self, *, queries: bool = False) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        policy = next(iter(self._results.values())).policy.to_dict()
        runs = [_make_run_dict(result, queries, policy) for result in self._results.values()]
        return add_schema({"germane": VERSION, "policy": policy, "runs": runs})


def _make_run_dict(result: Result, queries: bool, policy: Mapping[str, Any]) -> dict[str, Any]:
    run: dict[str, Any] = {"name": result.name, "counts": asdict(result.counts)}
    run["measures"] = [
        {
            "measure": str(measure),
            "definition": measure.definition,
            "mean": to_json_number(result[measure].mean),
            "best": to_json_number(result[measure].best),
            "worst": to_json_number(result[measure].worst),
        }
        for measure in result.measures
    ]
    if result.dialect is not None:
        run["dialect"] = {
            "name": result.dialect.name,
            "own": list(map(str, result.own)),
            "limits": [
                {"says": says, "measures": list(map(str, measures))}
                for says, measures in result.limits.items()
            ],
        }
    if result.findings:
        run["findings"] = [finding.to_dict() for finding in result.findings]
    if result.policy.to_dict() != policy:  # ranked lists beside scores
        run["policy"] = result.policy.to_dict()
    if queries:
        if result.fingerprint is not None:
            run["judgments"] = result.fingerprint
        ids = next(iter(result.values())).queries
        if len(set(map(str, ids))) < len(ids):
            raise InputError("two query ids have the same text; JSON cannot tell them apart.")
        run["queries"] = {
            str(query): {
                str(m): to_json_number(result[m].per_query[query])
                for m in result.measures
                if query in result[m].per_query
            }
            for query in ids
        }
    return run


def write_warnings(results: Results) -> Iterator[str]:
    """Write the findings, one line for each run, or one line if all runs have the same."""
    lines = {name: " ".join(map(str, result.findings)) for name, result in results.items()}
    yield from filter(None, _share_lines(lines) if any(lines.values()) else ())


def _share_lines(lines: Mapping[str, str]) -> Iterator[str]:
    """Yield the line that all runs share, or one line for each run where they differ."""
    if len(set(lines.values())) == 1:
        yield next(iter(lines.values()))
    else:
        yield from (f"{name}: {line}" for name, line in lines.items())


def _write_limits(result: Result) -> str:
    limits = [f"{', '.join(map(str, of))}: {says}" for says, of in result.limits.items()]
    return f"limits of the dialect: {' '.join(limits)}" if limits else ""


def _write_counts(result: Result) -> str:
    counts = result.counts
    parts = [f"{counts.judged:,} queries judged", f"{counts.answered:,} answered"]
    if counts.missing:
        parts.append(f"{counts.missing:,} missing")
    if counts.without_relevant:
        parts.append(f"{counts.without_relevant:,} without relevant items")
    if counts.unjudged_queries:
        parts.append(f"{counts.unjudged_queries:,} more in the run, not judged")
    if counts.comments:
        parts.append(f"{counts.comments:,} comment line{'s' * (counts.comments > 1)}")
    if counts.tied:
        parts.append(f"{counts.tied_share:.1%} of judged items retrieved are tied")
    if bands := [f"{one.measure} {low}…{high}" for one, low, high in find_bands(result)]:
        parts.append("tie band " + ", ".join(bands))
    return "; ".join(parts)


def find_bands(result: Result) -> Iterator[tuple[MeasureResult, str, str]]:
    """Find the measures that depend on the order of ties, with the ends of their bands, lowest first.

    ``best`` is the lower end of some measures: relevant items come first there, which does not raise
    every measure. Bands that are too narrow to show in a table are left out.
    """
    for one in result.values():
        ends = sorted((one.worst, one.best))
        low, high = (format_value(value, one.measure, 4) for value in ends)
        if low != high:
            yield one, low, high


def format_value(value: float, measure: Measure, digits: int | None) -> str:
    """Write a value: counts as whole numbers, others with so many decimals, or with all (None)."""
    if measure.row.aggregate == "sum" and math.isfinite(value) and value == int(value):
        return str(int(value))
    return format_number(value, digits)


def _write_means(result: Result, digits: int | None) -> Iterator[str]:
    return (format_value(result[m].mean, m, digits) for m in result.measures)


def _replace_odd_letters(name: str) -> str:
    """Replace all but letters, digits, ``_``, ``-`` and ``.``."""
    words = name.replace("@", "_at_").replace("=", "-")
    return re.sub(r"_+", "_", re.sub(r"[^\w.-]", "_", words)).strip("_")


def _make_printable(identifier: object) -> str:
    text = str(identifier)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
