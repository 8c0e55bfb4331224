"""The verb report: one or more runs on the same judgments as one page."""

import math
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar, Unpack, get_args

import numpy as np

from germane.comparison.compare import compare
from germane.comparison.significance import Correction, Family, Settings, TestName
from germane.core.calls import Progress, make_progress, parse_whole
from germane.core.finding import Finding, warn
from germane.core.policy import Policy
from germane.core.ranking import Ranking
from germane.errors import (
    InputError,
    MeasureError,
    NotFoundError,
    check_choice,
    clip,
    list_choices,
    make_visible,
)
from germane.evaluation.choices import DEFAULT, Choices, Judgments, Record, Run, Texts, Values
from germane.evaluation.evaluate import evaluate_many
from germane.evaluation.layout import estimate_intervals, name_measures
from germane.evaluation.opening import Inputs, open_data
from germane.evaluation.result import Result, Results
from germane.explanation.curves import MeanPRCurve
from germane.explanation.explain import average_curve, explain_result
from germane.explanation.explanation import Explanation
from germane.explanation.single_query import find_placement
from germane.judges.trust import trust_many
from germane.measures import find_merits
from germane.measures.measure import Measure, Measures
from germane.output.named_columns import Named
from germane.output.tables import Table, write_count
from germane.presentation import writing
from germane.readers.options.texts import open_texts
from germane.reports.findings import (
    Findings,
    Layout,
    compare_with_previous,
    describe_origin,
    open_by_query,
    read_previous,
    select_judged,
    select_runs,
    spread_runs,
)
from germane.reports.page import write_page
from germane.reports.sections import BANDED

__all__ = [
    "Report",
    "report",
]


R = TypeVar("R", bound=Named[Any])

NAMED = 4  # runs that a title names
FIRST = 10  # results whose judged share is reported, and which are shown one by one


@dataclass(frozen=True, repr=False)
class Report:
    """A finished page: ``html`` is its text, and ``save`` writes it.

    >>> germane.report({"q": ["d"]}, {"bm25": {"q": ["d"]}}, "RR").html[:15]
    '<!DOCTYPE html>'

    If the report is a folder, ``files`` holds its other files by their names.
    """

    title: str
    html: str
    files: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page whole or not at all; with ``layout="folder"``, a folder with
        ``index.html``.

        Raises InputError if it cannot be written, and for a suffix of another format than HTML.
        """
        place = os.fspath(path)
        if not self.files:
            writing.check_suffix(place, ("html", "htm"), "a report is a page of HTML")
            writing.check(place)
            writing.replace(place, self.html.encode())
            return
        writing.check_folder(place, {"index.html", *self.files})
        writing.make_folders(place, sorted({os.path.dirname(name) for name in self.files}))
        for name, text in self.files.items():
            writing.replace(os.path.join(place, name), text.encode())
        writing.replace(os.path.join(place, "index.html"), self.html.encode())

    def __repr__(self) -> str:
        size = len(self.html.encode()) + sum(len(text.encode()) for text in self.files.values())
        return f"<Report {make_visible(self.title)}: {size:,} bytes>"


def report(
    qrels: Judgments,
    runs: Mapping[str, Run],
    measures: Measures = DEFAULT,
    *,
    title: str | None = None,
    baseline: str | None = None,
    test: TestName = "randomization",
    correction: Correction | None = None,
    family: Family = "measure",
    confidence: float = 0.95,
    equivalence: float | None = None,
    resamples: int = 10_000,
    rng: int = 0,
    queries: Texts | None = None,
    items: Texts | None = None,
    max_size: int | None = None,
    layout: Layout = "page",
    bounds: bool = False,
    sort: str | None = None,
    previous: Record | None = None,
    command: str | None = None,
    by: Values | None = None,
    rename: Mapping[str, str] | None = None,
    people: Judgments | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Report:
    """Evaluate one or more runs, and report them as an HTML page that needs no network.

    >>> runs = {"bm25": {"q": ["x", "d"], "p": ["e"]}, "dense": {"q": ["d"], "p": ["e"]}}
    >>> germane.report({"q": ["d"], "p": ["e"]}, runs, "RR").title
    'bm25 and dense'

    The page has every mean with its interval and definition, problems in the data, precision–recall
    curves, a table of all queries, their rankings, and the conventions, inputs and versions. If the
    page would exceed ``max_size`` bytes, by default 2 MB, some rankings are left out; those with
    the largest differences and the lowest values of the first measure are kept first.
    ``layout="folder"`` writes all rankings into a folder, with one file for every hundred queries.

    ``queries`` and ``items`` show the texts or images behind the ids: each is the path of a TSV,
    JSON or Parquet file, a frame, a mapping of id to text, or a function. The path of an image
    becomes a thumbnail, and an address becomes a link.

    ``bounds=True`` adds how far unjudged items could move each mean (``Results.bounds``). ``sort``
    is the measure by which runs are ordered, or ``"given"``. With ``previous``, a record or the
    results of an earlier evaluation, each mean has its change since then; ``report.record`` is what
    the next report takes.

    ``by`` adds the means of each segment of the queries or users, and the comparisons there, as
    ``compare`` makes them. Measures of the catalogue, such as Coverage, appear next to the others;
    if there are several runs, a chart shows them against the first other measure. ``rename`` gives
    measures other names, as in ``{"R@20": "Recall@20"}``. If ``qrels`` are a model's judgments,
    ``people`` are people's judgments of some of the queries, and the page has the means and
    differences that these correct, as ``trust_many`` makes them.

    ``qrels``, ``runs`` and the conventions are the same as for ``evaluate_many``, and ``baseline``
    to ``resamples`` the same as for ``compare``; ``rng`` is a seed. The page shows ``command`` as
    the command that made it. Raises the errors of ``evaluate_many`` and ``compare``.
    """
    progress = make_progress(progress)
    settings = Settings(baseline, test, correction, family, confidence, equivalence, resamples)
    seed = _read_whole(rng, "rng takes a seed, which is a whole number from 0")
    if max_size is not None:
        _read_whole(max_size, "max_size takes a number of bytes")
    check_choice("layout", layout, get_args(Layout), InputError)
    query_texts, item_texts = open_texts(queries, "queries"), open_texts(items, "items")
    data = open_data(qrels, policy, signs=True)
    read_measures = data.options.read_measures(measures)
    if not select_judged(read_measures):
        raise MeasureError(
            f"{read_measures[0]} is about whole lists, and a report shows judged items, too; add a"
            " measure of these, such as nDCG@10."
        )
    names = name_measures(read_measures, rename)
    order = _read_order(sort, measures, data)
    before = None if previous is None else read_previous(previous)
    results = evaluate_many(data, runs, measures, progress=progress)
    if baseline is not None:
        results[baseline]  # one run alone is compared with nothing, but its name is checked
    origin = describe_origin(qrels, runs, command, progress)
    readable = select_runs(runs, results, data)
    spreads = spread_runs(data, readable, results, progress)
    by_query = open_by_query(data, readable, results)
    ordered_runs = results if sort == "given" else order_results(results, order)
    explained = count()
    queries_of_runs = sum(len(result.queries) for result in results.values())

    def explain(query: Hashable, name: str) -> tuple[Explanation, ...]:
        if progress is not None:
            progress("rankings", next(explained), queries_of_runs)
        return tuple(_explain_query(results[name], query, by_query.get(name)))

    means = _select_means(results)
    has_pairs = len(results) > 1 and bool(means)
    trusts = None
    if people is not None:
        corrected = _select_corrected(results)
        trusts = trust_many(
            runs, people=people, model=data, measures=corrected, confidence=settings.confidence
        )
    placements = {name: find_placement(result) for name, result in results.items()}
    ties = next(iter(results.values())).policy.ties
    ordered = ties not in Policy.UNORDERED
    judgments = next(iter(placements.values())).qrels
    findings = Findings(
        title=title or make_title(list(results)),
        results=ordered_runs,
        pair=_choose_pair(ordered_runs, baseline),
        intervals=estimate_intervals(results, settings.confidence),
        confidence=settings.confidence,
        comparison=(
            compare(results, None, means, **vars(settings), rng=seed, by=by, progress=progress)
            if has_pairs
            else None
        ),
        groups=None if by is None else _tabulate_groups(ordered_runs, by, confidence, names),
        trusts=trusts,
        names=names,
        curves=_average_curves(ordered_runs, confidence) if ordered else {},
        bounds=ordered_runs.bounds() if bounds else None,
        spreads={name: spreads[name] for name in ordered_runs if name in spreads},
        explain=explain if ordered else None,
        queries=query_texts,
        items=item_texts,
        layout=layout,
        max_size=max_size,
        judgments=len(judgments.items),
        only_relevant=not bool((judgments.grades < 1).any()),
        judged_share={
            name: _share_judged(placements[name].ranking) for name in ordered_runs if ordered
        },
        left_out=(
            () if ordered else (f"ties={ties} does not order equal scores: no rankings here.",)
        ),
        origin=origin,
        sorted_by=None if sort == "given" else order or results.measures[0],
        baseline=baseline,
        previous=None if before is None else compare_with_previous(before, results),
    )
    html, files = write_page(findings)
    if layout == "page":
        _warn_of_size(len(html.encode()), max_size)
    return Report(findings.title, html, files, results.to_dict())


def _tabulate_groups(
    results: Results, by: Any, confidence: float, names: Mapping[Measure, str]
) -> Table:
    rename = {str(measure): name for measure, name in names.items()}
    return results.by(by).table(confidence=confidence, rename=rename)


def _warn_of_size(size: int, max_size: int | None) -> None:
    """Warn of a page that is larger than asked for, since only rankings can be left out."""
    if max_size is not None and size > max_size:
        text = f"the page has {size / 1e3:,.0f} KB, and max_size is {write_count(max_size, 'byte')}"
        advice = (
            "Everything but the rankings is always included. max_size is a number of bytes; on the"
            " command line, you can also write 3MB."
        )
        warn("report", [Finding("doubtful", "large page", text, 1, advice=advice)])


def _read_whole(raw: object, text: str) -> int:
    number = parse_whole(raw)
    if number is None or number < 0:
        raise InputError(f"{text}; got {clip(raw)}")
    return number


def _average_curves(runs: Results, confidence: float) -> dict[str, MeanPRCurve]:
    """Average the curves of each run, with bands if there are few runs."""
    rel = next((m.rel for m in runs.measures if m.rel is not None), 1.0)
    return {
        name: average_curve(
            result,
            rel=rel,
            confidence=confidence,
            band="compute" if len(runs) <= BANDED else "skip",
        )
        for name, result in runs.items()
    }


def make_title(names: list[str]) -> str:
    if len(names) > NAMED:
        return f"{', '.join(names[: NAMED - 1])} and {len(names) - NAMED + 1} more runs"
    return list_choices(names, "and")


def _select_means(results: Results) -> tuple[Measure, ...]:
    """Select the measures whose number is a mean of the queries' values."""
    return tuple(
        measure
        for measure in results.measures
        if (
            measure.row.of_catalogue
            and not any(math.isnan(result[measure].mean) for result in results.values())
        )
        or (
            measure.row.aggregate == "mean"
            and dict(measure.parameters).get("mean", "arithmetic") in ("arithmetic", "micro")
        )
    )


def _select_corrected(results: Results) -> Sequence[Measure]:
    """Select the measures whose means people's judgments correct."""
    first = next(iter(results.values()))
    measures = select_judged(results.measures)
    return [measure for measure in measures if first[measure].is_arithmetic] or measures


def _share_judged(ranking: Ranking) -> float:
    """Compute the share of the first ten results that is judged."""
    judged = np.count_nonzero((ranking.rank <= FIRST) & (ranking.relevance >= 0))
    return judged / max(1, int(np.minimum(ranking.retrieved, FIRST).sum()))


def _explain_query(result: Result, query: Hashable, run: Any) -> Iterator[Explanation]:
    """Explain a query once for all measures that agree on which items are hits."""
    levels: dict[float | None, list[Measure]] = {}
    common = next((m.rel for m in result.measures if m.rel is not None), None)
    for measure in select_judged(result.measures):
        levels.setdefault(common if measure.rel is None else measure.rel, []).append(measure)
    for measures in levels.values():
        yield explain_result(result, query, tuple(measures), run, FIRST)


def _read_order(sort: Any, measures: Measures, data: Inputs) -> Measure | None:
    """Read the measure by which runs are ordered; None for the first, or for the order given."""
    if sort is None or sort == "given":
        return None
    known, wanted = data.options.read_measures(measures), data.options.read_measure(sort)
    if wanted not in known:
        raise NotFoundError(
            f"sort takes given or a measure of the report: {list_choices(map(str, known))}; got"
            f" {clip(str(sort))}"
        )
    return wanted


def order_results(results: R, measure: Any = None) -> R:
    """Order runs, or detectors, by a measure or the first one, the best first."""
    names, results_in_order = list(results), list(results.values())
    first = [
        next(iter(result.values())) if measure is None else result[measure]
        for result in results_in_order
    ]
    means = np.array([value.mean for value in first], float)
    merits = np.array(find_merits(first[0].measure.name, means) or means)
    order = np.argsort(-merits, kind="stable")  # NaN is last
    return type(results)({names[row]: results[names[row]] for row in order.tolist()})


def _choose_pair(ordered: Results, baseline: str | None) -> tuple[str, ...]:
    """Choose the runs that are compared first: the best two, or the best one and the baseline."""
    names = list(ordered)
    if baseline is None or len(names) < 2:
        return tuple(names[:2])
    return next(name for name in names if name != baseline), baseline
