"""Result: the measures of a run, with the conventions and counts that its numbers rest on."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, ValuesView
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from germane._version import VERSION
from germane.core.finding import Finding
from germane.core.policy import Policy
from germane.core.qrels import IdNames
from germane.dialects.names import parse
from germane.errors import (
    InputError,
    MeasureError,
    NotFoundError,
    check_choice,
    make_visible,
    offer,
)
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure
from germane.measures.own import OwnMeasure
from germane.output.attributes import AttributeAdvice
from germane.output.documents import IF_ANY, make_document
from germane.output.named_columns import Lookup, Named, Tabular, make_ids, make_texts
from germane.output.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from germane.dialects.dialect import Dialect
    from germane.evaluation.bounds import Bounds, BoundsOfRuns
    from germane.evaluation.judging import Placement
    from germane.evaluation.layout import Groups, GroupsOfRuns
    from germane.evaluation.signature_line import Signature

# Tables and groups are imported where they are made: most programs read only a mean or two.


@dataclass(frozen=True)
class Counts(AttributeAdvice):
    """How many queries and items the numbers rest on.

    >>> counts = germane.evaluate({"q1": ["a"], "q2": ["b"]}, {"q1": ["a"]}, "RR").counts
    >>> counts.judged, counts.answered, counts.missing
    (2, 1, 1)
    """

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
    collapsed: int = field(default=0, metadata=IF_ANY)
    """results of judged queries, with collapse=…, before groups took their place"""
    groups: int = field(default=0, metadata=IF_ANY)
    """groups that took the place of these results"""
    excluded: int = 0
    """results of judged queries that exclude=…, only=… and ignore=… removed before ranks were
    counted"""
    ignored: int = 0
    """judgments that ignore=… took out: these items are neither right nor wrong"""
    subtopics: int = field(default=0, metadata=IF_ANY)
    """subtopics for which items are judged, added up over queries"""

    @property
    def tied_share(self) -> float:
        """The share of judged items retrieved that are in a tie."""
        return self.tied / self.judged_items_retrieved if self.judged_items_retrieved else 0.0


def _know_nothing() -> None:
    """Return no fingerprint."""


class Result(Lookup[MeasureResult], Tabular):
    """The measures of one run.

    >>> result = germane.evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 0.9, "d1": 0.8}},
    ...     "AP RR")
    >>> result["AP"].mean
    0.5
    >>> result["AP"].per_query["q1"]
    0.5

    A result maps measures (``"AP@10"`` or ``AP @ 10``) to their values, as a dict does; ``name``,
    ``counts`` and ``policy`` tell what was evaluated and how. ``findings`` are problems that can
    distort the numbers, and ``limits`` those of a dialect that matter on these data. It prints as a
    table with definitions. As a frame (``pl.DataFrame(result)``, ``pa.table(result)``,
    ``result.to_pandas()``), it has one row per query, with a column of ids, which is called
    ``query`` or as in your data, and a column of numbers for each measure.
    """

    def __init__(
        self,
        name: str,
        measures: Mapping[Measure, MeasureResult],
        counts: Callable[[], Counts],
        policy: Policy,
        placement: "Callable[[], Placement | None]" = _know_nothing,
        findings: tuple[Finding, ...] = (),
        *,
        dialect: "Dialect | None" = None,
        policies: Mapping[Measure, Policy] | None = None,
        limits: Mapping[str, tuple[Measure, ...]] | None = None,
        fingerprint: Callable[[], str | None] = _know_nothing,
        run_fingerprint: Callable[[], str | None] = _know_nothing,
        option_fingerprints: Callable[[], Mapping[str, str | None]] = dict,
        renamed: Mapping[str, Measure] | None = None,
        id_names: IdNames | None = None,
    ) -> None:
        self.name = name
        self.findings = findings
        self.measures = tuple(measures)
        self._counts = counts
        self.policy = policy
        self._place = placement
        self.dialect = dialect
        self.policies = dict(policies or {})  # of measures that have their own
        self.limits = dict(limits or {})  # of the dialect, with the measures that they matter to
        self.renamed = dict(renamed or {})  # names that were asked for → measures of another name
        self._by_measure = dict(measures)
        self.id_names = id_names or IdNames()  # columns of query and item in the data
        self._fingerprint, self._run_fingerprint = fingerprint, run_fingerprint
        self._option_fingerprints = option_fingerprints

    @cached_property
    def fingerprint(self) -> str | None:
        """A text that is the same for results of the same judgments; None if unknown."""
        return self._fingerprint()

    @cached_property
    def placement(self) -> "Placement | None":
        """The judged items at their ranks; None for a result that was read from a file."""
        return self._place()

    @cached_property
    def run_fingerprint(self) -> str | None:
        """A text that is the same for results of the same run: queries, items and scores.

        It is None where the run cannot be read a second time, such as standard input or a file that
        has changed, and if a file of results does not hold it. Both are made when they are first
        asked for.
        """
        return self._run_fingerprint()

    @cached_property
    def option_fingerprints(self) -> Mapping[str, str | None]:
        """Option → a text that is the same for equal data, for each of exclude, only, collapse,
        catalogue, seen and distance that was given; None for a function."""
        return self._option_fingerprints()

    @cached_property
    def metadata(self) -> str | None:
        """The fields of ir_metadata at the head of a run file, as YAML; None without them."""
        read = getattr(self._run_fingerprint, "read_metadata", None)
        return None if read is None else read()

    def signature(
        self,
        measure: str | Measure,
        *,
        digits: int = 4,
        tools: Literal["none", "same"] = "none",
    ) -> "Signature":
        """Make the line that states a mean with its definition and the data behind it.

        >>> result = germane.evaluate({"q": {"d": 1}}, {"q": {"d": 0.9}}, "AP@10")
        >>> print(result.signature("AP@10"))
        AP@10 = 1.0000 | rel=1 norm=min mean=arithmetic duplicates=error ... | 1 query, qrels ...

        ``str`` makes text of it, and ``germane.types.Signature.read`` a type. ``tools="same"`` adds
        the tools that compute the same number by their definition, with their names for it. A run
        in memory is hashed when this is first called, and a file is read again. Raises
        NotFoundError for a measure that was not evaluated.
        """
        from germane.evaluation.signature_line import make_signature

        check_choice("tools", tools, ("none", "same"), InputError)
        return make_signature(self, self[measure].measure, digits, tools)

    @cached_property
    def counts(self) -> Counts:
        """How many queries and items the numbers rest on."""
        return self._counts()

    @cached_property
    def own(self) -> tuple[Measure, ...]:
        """The measures that are germane's own, since the tool of the dialect does not have them."""
        if self.dialect is None:
            return ()
        return tuple(
            measure for measure in self.measures if self.dialect.find_entry(measure) is None
        )

    def __getitem__(self, measure: str | Measure) -> MeasureResult:
        key = self._read_name(measure)
        try:
            return self._by_measure[key]
        except KeyError:
            raise NotFoundError(f"{key} was not evaluated.{offer(key, self.measures)}") from None

    def __contains__(self, measure: object) -> bool:
        try:
            return self._read_name(measure) in self._by_measure
        except MeasureError:
            return False

    def explain_names(self, shown: Iterable[str] = ()) -> Iterator[str]:
        """Say which measures the names stand for that were asked for, unless a table shows them.

        >>> result = germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "Recall@20")
        >>> list(result.explain_names())
        ['Recall@20 is R@20']
        """
        columns = set(shown)
        for written, measure in self.renamed.items():
            if written not in columns:
                yield f"{written} is {measure}"

    def _read_name(self, measure: Any) -> Measure:
        """Read a name as the dialect does that the measures were asked for in."""
        if self.dialect is not None and isinstance(measure, str):
            tool_measure = self.dialect.find_named(measure)
            if tool_measure is not None and tool_measure.measure in self._by_measure:
                return tool_measure.measure
        if isinstance(measure, str):
            own = (kept for kept in self._by_measure if isinstance(kept, OwnMeasure))
            if named := next((kept for kept in own if kept.name == measure), None):
                return named  # though another one may have the name by now
        return parse(measure)

    def __iter__(self) -> Iterator[str]:
        return map(str, self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def values(self) -> ValuesView[MeasureResult]:
        """The results of the measures, in the order in which you asked for them."""
        return self._by_measure.values()

    def spell_queries(self) -> "Result":
        """Copy the result with query ids as text, as in files, and without ranks of items."""
        if all(isinstance(query, str) for query in next(iter(self.values())).queries):
            return self
        spelled = copy(self)
        spelled.placement = None
        spelled._by_measure = {
            measure: replace(values, queries=list(map(str, values.queries)))
            for measure, values in self._by_measure.items()
        }
        return spelled

    def by(self, category: Any) -> "Groups":
        """The measures for each category of queries: per-class mAP, with macro and micro mean.

        ``category`` is a mapping of query to category, a function of the query, or one value per
        query, in the order of ``per_query``. A pandas Series is looked up by its index, unless that
        just counts from 0. A frame with the columns query and category, the path of a file with
        them, or of JSON ``{query: category}``, is read. Raises NotFoundError for a query without a
        category.
        """
        from germane.evaluation.layout import group_measures

        return group_measures(self._by_measure, category)

    def bounds(self, measure: str | Measure) -> "Bounds":
        """Bound a mean, as if every unjudged item were worthless, or as good as the best.

        >>> result = germane.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["x", "a", "b", "y"]}, "P@4")
        >>> bounds = result.bounds("P@4")
        >>> bounds.low, bounds.high, bounds.judged
        (0.25, 0.75, 0.5)

        ``judged`` is the share of the results that were judged. Raises MeasureError for a measure
        whose norm counts relevant items, such as nDCG, and NotFoundError for one that was not
        evaluated.
        """
        from germane.evaluation.bounds import bound_measure

        return bound_measure(self, self[measure].measure)

    def table(
        self,
        *,
        digits: int | None = 4,
        rename: Mapping[str, str] | None = None,
        confidence: float | None = None,
    ) -> Table:
        """One row; definitions, counts and policy are notes, as in ``Results.table``."""
        results = Results({self.name: self})
        return results.table(digits=digits, rename=rename, confidence=confidence)

    def latex(
        self,
        *,
        caption: str = "",
        label: str = Table.LABEL,
        rename: Mapping[str, str] | None = None,
    ) -> str:
        """Write the table for a paper; the arguments are the same as for ``Results.latex``."""
        return Results({self.name: self}).latex(caption=caption, label=label, rename=rename)

    def __repr__(self) -> str:
        from germane.evaluation.layout import format_value

        means = ", ".join(f"{m}={format_value(self[m].mean, m, 4)}" for m in self.measures)
        return f"<Result {make_visible(self.name)}: {means}>"

    def to_dict(self, *, queries: bool = False, flat: bool = False) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None.

        ``flat=True`` gives only the means, under the names of ``flat()``, for experiment trackers.

        >>> result = germane.evaluate({"q1": ["d1"]}, {"q1": ["d1"]}, "AP(norm=R)@10 RR")
        >>> result.to_dict(flat=True)
        {'AP_norm-R_at_10': 1.0, 'RR': 1.0}

        Raises InputError if ``queries`` and ``flat`` are used together.
        """
        if not flat:
            return Results({self.name: self}).to_dict(queries=queries)
        if queries:
            raise InputError("flat=True gives only the means; leave out queries or flat.")
        return self.flat()

    def flat(self, *, prefix: str = "") -> dict[str, float]:
        """Measure → mean, under names that experiment trackers accept: MLflow refuses ``@``.

        Letters, digits, ``_``, ``-`` and ``.`` stay; ``@`` becomes ``_at_``, ``=`` becomes ``-``,
        and everything else becomes ``_``.

        >>> runs = {"q1": ["d1"]}
        >>> germane.evaluate({"q1": ["d1"]}, runs, "AP(norm=R)@10 RR").flat(prefix="test/")
        {'test/AP_norm-R_at_10': 1.0, 'test/RR': 1.0}
        """
        return {prefix + _replace_odd_letters(measure): self[measure].mean for measure in self}

    def definitions(self, *, prefix: str = "") -> dict[str, str]:
        """Measure → definition, under the names of ``flat()``, to be logged beside the means.

        >>> germane.evaluate({"q1": ["d1"]}, {"q1": ["d1"]}, "RR@10").definitions(prefix="test/")
        {'test/RR_at_10': '1 ÷ rank of the first relevant item, i ≤ 10'}
        """
        return dict(
            zip(
                self.flat(prefix=prefix),
                (measure.definition for measure in self.measures),
                strict=True,
            )
        )

    @property
    def queries(self) -> list[Hashable]:
        """The queries, in the order of ``values``."""
        return next(iter(self.values())).queries

    def _list_columns(self) -> dict[str, Any]:
        values = {str(measure): self[measure].values for measure in self.measures}
        return {self.id_names.avoid(values).query: make_ids(self.queries), **values}


class Results(Named[Result], Tabular):
    """Several runs evaluated on the same judgments: the name of each with its Result.

    >>> runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}
    >>> results = germane.evaluate_many({"q": {"d": 1}}, runs, "RR")
    >>> results["a"]["RR"].mean, results["b"]["RR"].mean
    (1.0, 0.0)

    As a frame, it has a row for each run and query: ``run``, ``query`` and the measures.
    """

    _noun = "run"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that every run was evaluated with."""
        return next(iter(self.values())).measures

    @property
    def id_names(self) -> IdNames:
        """The columns of query and item, as the data of the first run call them."""
        return next(iter(self.values())).id_names

    def table(
        self,
        *,
        digits: int | None = 4,
        rename: Mapping[str, str] | None = None,
        confidence: float | None = None,
    ) -> Table:
        """One row per run; definitions, counts and policy are notes. ``digits=None``: all digits.

        ``rename`` gives measures other names, as in ``{"AP": "MAP"}``; the note with the definition
        has both. ``confidence`` adds the interval of each mean that has one, as
        ``MeasureResult.interval`` does. The best of several runs is highlighted in formats that
        allow it. Raises NotFoundError for a measure that was not evaluated, and InputError if two
        measures get the same name.
        """
        from germane.evaluation.layout import make_table

        return make_table(self, digits, rename, confidence)

    def latex(
        self,
        *,
        caption: str = "",
        label: str = Table.LABEL,
        rename: Mapping[str, str] | None = None,
    ) -> str:
        r"""Write the table for a paper, with booktabs and with the definitions as notes below it.

        ``caption`` and ``label`` are those of ``Table.latex_float``, and ``rename`` is that of
        ``table``.
        """
        return self.table(rename=rename).latex_float(caption=caption, label=label)

    def frame(
        self,
        *,
        shape: Literal["wide", "long"] = "wide",
        confidence: float = 0.95,
        rename: Mapping[str, str] | None = None,
    ) -> dict[str, list[Any]]:
        """Make columns of the means, for ``pandas.DataFrame`` and ``polars.DataFrame``.

        >>> runs = {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}
        >>> results = germane.evaluate_many({"q": ["d"]}, runs, "RR Recall@5")
        >>> results.frame(rename={"R@5": "Recall@5"})
        {'run': ['a', 'b'], 'RR': [1.0, 0.5], 'Recall@5': [1.0, 1.0]}

        There is a row for each run, and with ``shape="long"`` one for each run and measure: its
        mean, and the ends of its interval, or None. ``rename`` gives measures other names. Raises
        NotFoundError for a measure that was not evaluated.
        """
        from germane.evaluation.layout import estimate_intervals, name_measures

        check_choice("shape", shape, ("wide", "long"), InputError)
        names = name_measures(self.measures, rename)
        if shape == "wide":
            means = {
                name: [result[m].mean for result in self.values()] for m, name in names.items()
            }
            return {"run": [*self], **means}
        intervals = estimate_intervals(self, confidence)
        rows = [(run, m, intervals[run].get(m)) for run in self for m in names]
        return {
            "run": [run for run, _, _ in rows],
            "measure": [names[m] for _, m, _ in rows],
            "mean": [self[run][m].mean for run, m, _ in rows],
            "low": [None if interval is None else interval.low for *_, interval in rows],
            "high": [None if interval is None else interval.high for *_, interval in rows],
        }

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        measure: str | Measure | None = None,
        confidence: float = 0.95,
        paper: Literal["light", "dark"] = "light",
    ) -> Any:
        """Draw the means of the runs on a measure with their intervals: ``plot.MeansDisplay``.

        ``measure`` is the first one unless it is given. Needs Matplotlib.
        """
        pictures = import_module("germane.plot")  # which only those load who draw
        display = pictures.MeansDisplay(self, measure=measure, confidence=confidence)
        return display.plot(ax, paper=paper)

    def bounds(self) -> "BoundsOfRuns":
        """The bounds of every run and measure that has them, and the orders they leave open."""
        from germane.evaluation.bounds import BoundsOfRuns

        return BoundsOfRuns(self)

    def _list_columns(self) -> dict[str, Any]:
        queries = {name: result.queries for name, result in self.items()}
        names = self.id_names.avoid(["run", *map(str, self.measures)])
        values = {
            str(measure): np.concatenate([result[measure].values for result in self.values()])
            for measure in self.measures
        }
        return {
            "run": make_texts(name for name, ids in queries.items() for _ in ids),
            names.query: make_ids(query for ids in queries.values() for query in ids),
            **values,
        }

    def by(self, category: Any) -> "GroupsOfRuns":
        """The measures of each run by category of queries; ``category`` as in ``Result.by``."""
        from germane.evaluation.layout import GroupsOfRuns, read_category

        category = read_category(category)
        return GroupsOfRuns({name: result.by(category) for name, result in self.items()})

    def table_per_query(
        self, *, digits: int | None = 4, rename: Mapping[str, str] | None = None
    ) -> Table:
        """One row per query and run, and one row ``all`` per run."""
        from germane.evaluation.layout import make_table_per_query

        return make_table_per_query(self, digits, rename)

    def to_dict(self, *, queries: bool = False) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        policy = next(iter(self.values())).policy
        runs = [_make_run_dict(result, queries, policy) for result in self.values()]
        return make_document({"germane": VERSION, "policy": policy, "runs": runs})


def _make_run_dict(result: Result, queries: bool, policy: Policy) -> dict[str, Any]:
    run: dict[str, Any] = {"name": result.name, "counts": result.counts}
    run["measures"] = [
        {
            "measure": measure,
            "definition": measure.definition,
            "parameters": measure.write_parameters(),
            "mean": result[measure].mean,
            "best": result[measure].best,
            "worst": result[measure].worst,
            "signature": str(result.signature(measure)),
        }
        for measure in result.measures
    ]
    for row, measure in zip(run["measures"], result.measures, strict=True):
        if names := [name for name, meant in result.renamed.items() if meant == measure]:
            row["asked_as"] = names
        if measure in result.policies:
            row["policy"] = result.policies[measure]
    run["fingerprints"] = {
        "judgments": result.fingerprint,
        "run": result.run_fingerprint,
        **result.option_fingerprints,
    }
    if result.metadata is not None:
        run["ir_metadata"] = result.metadata
    if result.dialect is not None:
        run["dialect"] = {
            "name": result.dialect.name,
            "own": result.own,
            "limits": [
                {"says": text, "measures": measures} for text, measures in result.limits.items()
            ],
        }
    if result.findings:
        run["findings"] = result.findings
    if result.policy != policy:  # ranked lists beside scores
        run["policy"] = result.policy
    if queries:
        ids = list(dict.fromkeys(query for values in result.values() for query in values.queries))
        if len(set(map(str, ids))) < len(ids):
            raise InputError("two query ids have the same text, and JSON cannot tell them apart.")
        run["queries"] = {
            str(query): {
                str(m): result[m].per_query[query]
                for m in result.measures
                if query in result[m].per_query
            }
            for query in ids
        }
    return run


def _replace_odd_letters(name: str) -> str:
    """Replace all but letters, digits, ``_``, ``-`` and ``.``."""
    words = name.replace("@", "_at_").replace("=", "-")
    return re.sub(r"_+", "_", re.sub(r"[^\w.-]", "_", words)).strip("_")
