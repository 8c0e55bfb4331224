"""Reconcile: find the definitions behind a reported number."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

from germane.core.policy import DEFAULTS, Relevant
from germane.core.progress import Progress, make_progress
from germane.dialects.parsing import parse_any
from germane.errors import DuplicateError
from germane.evaluation.accepted import Judgments, Reported, Run
from germane.evaluation.choices import OtherChoices
from germane.evaluation.collection import find_all_needs
from germane.evaluation.opening import open_data, refuse_dialect
from germane.explanation.counted import Counted
from germane.explanation.single_query import check_list, check_run, hold_rows, is_list
from germane.measures.definition import CatalogueDefinition
from germane.measures.measure import Measure
from germane.readers.objects.relevance import make_collection
from germane.reconciliation.agreement import match_names, measure_agreement
from germane.reconciliation.answer import SHOWN
from germane.reconciliation.example import Example, find_examples
from germane.reconciliation.plausibility import estimate_chance, find_hints
from germane.reconciliation.reconciliation import Reconciliation
from germane.reconciliation.reported import ReportedQueries, read_queries, read_reported
from germane.reconciliation.run_search import Given, RunSearch
from germane.reconciliation.spread import Values
from germane.reconciliation.variations import (
    Candidate,
    list_dialect_candidates,
    vary_once,
    vary_twice,
)

__all__ = ["Reconciliation", "reconcile"]

OF_LISTS = ("duplicates", "ties", "scores", "own")
"""The conventions that change whole lists, and so the measures of the catalogue."""


def reconcile(
    qrels: Judgments,
    run: Run | None = None,
    *,
    reported: str | float,
    measure: str | Measure = "AP@10",
    relevant: int | Iterable[float] | Relevant | None = None,
    reported_per_query: Reported | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[OtherChoices],
) -> Reconciliation:
    """Find the definitions that give a reported number on the same data, or say that none does.

    >>> found = germane.reconcile([1, 0, 1], relevant=20, reported=0.83, measure="AP@10")
    >>> [str(one) for one in found]
    ['AP(norm=found)@10', 'AP@10, relevant=listed']
    >>> found.found[0].candidate.tools[-1]
    'continuous-eval:average_precision@10'

    ``qrels`` and ``run`` are those of ``evaluate``, or ``qrels`` is one list of grades and
    ``relevant`` the number of relevant items. ``measure`` names the kind of number, under germane's
    name or any tool's: what each tool calls so is tried, in whatever family.

    The number is as precise as its text: ``0.62`` is anything from 0.615 to 0.625, ``"0.620"`` is
    ±0.0005, ``"62%"`` is 0.62 ± 0.005. A float has the decimals that Python prints.

    It tries the dialects of all tools, and germane's own definition with one change, or with two if
    nothing else gives the number. A convention that you give, such as ``missing="skip"``, holds in
    all of them. ``reported_per_query`` is ``{query: value}``, or a file with lines ``query value``
    or the output of trec_eval -q: definitions must then give these values, too.

    Raises MeasureError, PolicyError, InputError or CoverageError, all of them GermaneError.
    """
    progress, qrels = make_progress(progress), hold_rows(qrels)
    choices: dict[str, Any] = {**policy}
    if isinstance(relevant, str):  # with qrels it is a convention
        choices["relevant"], relevant = relevant, None
    definition = parse_any(measure)
    number = read_reported(reported)
    counted = None
    if is_list(qrels, run, choices):
        check_list(run, [*(["reported_per_query"] if reported_per_query else []), *choices])
        qrels, run = make_collection(cast(Any, qrels), relevant, definition.rel or 1.0)
        has_relevant = relevant is not None
        counted = (
            None if has_relevant else Counted(int((qrels.grades >= (definition.rel or 1.0)).sum()))
        )
    else:
        check_run(run, relevant)
    refuse_dialect(choices, "reconcile")
    data = open_data(qrels, choices)
    opened_run, conventions = data.open_run(run)
    fixed = dict(data.options.asked)
    if isinstance(definition.row, CatalogueDefinition):  # which judgments do not change
        fixed = {n: getattr(conventions, n) for n in DEFAULTS if n not in OF_LISTS} | fixed
    values = Values(data.collect(opened_run.load(progress), find_all_needs(definition), progress))
    per_query = None if reported_per_query is None else read_queries(reported_per_query)
    search = RunSearch(values, conventions, definition, number, progress)
    answer = _make_answer(search, fixed, per_query, measure if isinstance(measure, str) else "")
    return replace(answer, counted=counted)


def _make_answer(
    search: RunSearch, fixed: Mapping[str, Any], queries: ReportedQueries | None, name: str
) -> Reconciliation:
    measure, conventions, reported = search.measure, search.conventions, search.reported
    own_result: Given | DuplicateError
    try:
        own_result = Given(Candidate(measure), search.evaluate(Candidate(measure)).mean)
    except DuplicateError as error:  # other tools accept items that are listed twice
        own_result = error
    grades = search.values.list_grades(conventions)
    of_tools = list(list_dialect_candidates(measure, conventions, fixed, name))
    limits = [(tool, search.find_limit(tool)) for tool in of_tools]
    of_tools = [replace(candidate, tools=()) if limit else candidate for candidate, limit in limits]
    # Where the tool may give another value, its definition counts as any other with as many
    # changes.
    simple = [tool for tool in of_tools if tool.tools or tool.distance(measure) < 2]
    once = vary_once(measure, conventions, fixed, grades)
    tried = search.evaluate_all([Candidate(measure), *simple, *once])
    if not tried and isinstance(own_result, DuplicateError):
        raise own_result
    if queries is not None:
        search.per_query = match_names(queries.values, search.list_queries(tried))
    hints = find_hints(search, tried)
    matches = search.simplify(filter(search.gives, tried))
    if not matches:
        rest = [tool for tool in of_tools if tool not in simple]
        tool_measures = (tool.measure for tool in of_tools)
        twice = vary_twice(measure, conventions, fixed, grades, tool_measures)
        tried += search.evaluate_all([*rest, *twice])
        matches = search.simplify(filter(search.gives, tried))
    values, chance = estimate_chance(search, tried) if matches else (0, 0.0)
    nearest = () if matches else search.find_nearest(tried)
    missed = queries is not None and not matches
    of_mean = (
        search.simplify(trial for trial in tried if reported.gives(trial.value)) if missed else ()
    )
    agreement = measure_agreement(search, nearest[0]) if missed else None
    unsure = {
        candidate.tools[0].partition(":")[0]: limit
        for candidate, limit in limits
        if limit and reported.gives(search.find_value(candidate))
    }
    return Reconciliation(
        reported,
        measure,
        conventions,
        own_result,
        tuple(matches),
        nearest,
        tried=tuple(tried),
        undecided=search.find_undecided(matches[:SHOWN], fixed),
        examples=_find_examples(search, matches[:SHOWN]),
        per_query=None if queries is None else search.per_query,
        stated=None if queries is None else queries.mean,
        of_mean=tuple(of_mean),
        agreement=agreement,
        hints=hints,
        values=values,
        chance=chance,
        unsure=unsure,
    )


def _find_examples(
    search: RunSearch, trials: Sequence[Given]
) -> tuple[tuple[tuple[str, ...], Example | None], ...]:
    """Find, for each group of definitions that coincide on this data, data on which they differ."""
    if isinstance(search.measure.row, CatalogueDefinition):  # small data have no catalogue
        return ()
    conventions, tolerance = search.conventions, search.reported.tolerance
    groups: list[list[Candidate]] = []
    for trial in trials:
        equal = (group for group in groups if search.coincide(group[0], trial.candidate))
        group = next(equal, None)
        if group is None:
            groups.append([trial.candidate])
        else:
            group.append(trial.candidate)
    return tuple(
        example
        for group in groups
        if len(group) > 1
        for example in find_examples(group, conventions, tolerance)
    )
