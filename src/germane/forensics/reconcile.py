"""Reconcile: find the definitions behind a reported number, or the protocol of a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

from germane.core.calls import Progress, make_progress
from germane.core.policy import Policy, Relevant
from germane.dialects.names import parse_any
from germane.errors import DuplicateError, InputError, MeasureError, list_some, write_option
from germane.evaluation.choices import (
    Choices,
    Judgments,
    OtherChoices,
    PublishedTable,
    Reported,
    Run,
)
from germane.evaluation.opening import Inputs, open_data
from germane.explanation.single_query import Counted, check_list, check_run, hold_rows, is_list
from germane.forensics.laws import find_highest
from germane.forensics.plausibility import estimate_chance, explain_by_ties, find_hints
from germane.forensics.published import Published, read_published
from germane.forensics.reconciliation import SHOWN, Reconciliation
from germane.forensics.reported import ReportedQueries, read_columns, read_queries, read_reported
from germane.forensics.run_search import Given, RunSearch, match_names, measure_agreement
from germane.forensics.spread import Example, Values, find_examples
from germane.forensics.table_answer import TableReconciliation, TableWriter, check_runs
from germane.forensics.table_search import TableSearch
from germane.forensics.variations import (
    Candidate,
    list_dialect_candidates,
    refuse_dialect,
    vary_once,
    vary_twice,
)
from germane.measures.measure import Measure
from germane.readers.objects.relevance import make_collection

__all__ = [
    "Reconciliation",
    "reconcile",
]


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
    """Find the definitions that give a reported number on the same data, or show that none does.

    >>> found = germane.reconcile([1, 0, 1], relevant=20, reported=0.83, measure="AP@10")
    >>> [str(one) for one in found]
    ['AP(norm=found)@10', 'AP@10, relevant=listed']
    >>> found.found[0].candidate.tools[-1]
    'deepeval:ContextualPrecision@10'

    ``qrels`` and ``run`` are the same as for ``evaluate``, or ``qrels`` is one list of grades and
    ``relevant`` the number of relevant items. ``measure`` is the kind of number, by germane's name
    or any tool's: whatever a tool calls by this name is tried, even if it belongs to another
    family.

    The number is as precise as it is written: ``0.62`` stands for anything from 0.615 to 0.625,
    ``"0.620"`` for 0.620 ± 0.0005, and ``"62%"`` for 0.62 ± 0.005. A float has the decimals that
    Python prints.

    It tries the dialects of all tools, and germane's own definition with one change, or with two if
    nothing else gives the number. A convention that you give, such as ``missing="skip"``, holds in
    all of them. ``reported_per_query`` is ``{query: value}``, a file with lines of ``query value``,
    or the output of trec_eval -q: a definition must then give these values, too.

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
    if definition.row.of_catalogue:  # which judgments do not change
        fixed = {n: getattr(conventions, n) for n in Policy.DEFAULTS if n not in OF_LISTS} | fixed
    values = Values(data.collect(opened_run.load(progress), (definition,), progress=progress))
    per_query = None if reported_per_query is None else read_queries(reported_per_query)
    search = RunSearch(values, conventions, definition, number, progress)
    answer = _make_answer(search, fixed, per_query, measure if isinstance(measure, str) else "")
    return replace(answer, counted=counted)


def _make_answer(
    search: RunSearch, fixed: Mapping[str, Any], queries: ReportedQueries | None, name: str
) -> Reconciliation:
    measure, conventions, reported = search.measure, search.conventions, search.reported
    own_result = _evaluate_as_asked(search)
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
    if not matches:
        hints = (*hints, *explain_by_ties(search, limits))
    missed = queries is not None and not matches
    of_mean = (
        search.simplify(trial for trial in tried if reported.gives(trial.value)) if missed else ()
    )
    agreement = measure_agreement(search, nearest[0]) if missed else None
    unsure = {
        candidate.tools[0].partition(":")[0]: limit.says
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


def _evaluate_as_asked(search: RunSearch) -> Given | DuplicateError:
    """Evaluate what was asked for; the error where only other tools accept repeated items."""
    candidate = Candidate(search.measure)
    try:
        return Given(candidate, search.evaluate(candidate).mean)
    except DuplicateError as error:
        return error


def _find_examples(
    search: RunSearch, trials: Sequence[Given]
) -> tuple[tuple[tuple[str, ...], Example | None], ...]:
    """Find, for each group of definitions that coincide on this data, data on which they differ."""
    if search.measure.row.of_catalogue:  # small data have no catalogue
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


# --- The verb reconcile_table ---------------------------------------------------------------------
#
# Reconcile a table: find the protocol behind the numbers that were reported of several runs.

_MOST = 100  # columns


def reconcile_table(
    qrels: Judgments,
    runs: Mapping[str, Run],
    reported: PublishedTable,
    *,
    measures: Mapping[str, str] | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> TableReconciliation:
    """Find the protocol behind a reported table: its conventions and the definition of each column.

    >>> qrels = {"q1": ["a", "b"], "q2": ["c"]}
    >>> runs = {"ours": {"q1": ["a", "x", "b"], "q2": ["y", "c"]},
    ...     "bm25": {"q1": ["x", "a"], "q2": ["y"]}}
    >>> table = {"ours": {"map": "0.6667", "recip_rank": "0.7500"},
    ...     "bm25": {"map": "0.1250", "recip_rank": "0.5200"}}
    >>> found = germane.reconcile_table(qrels, runs, table)
    >>> [(one.run, one.column, one.value, one.slip) for one in found.off]
    [('bm25', 'recip_rank', 0.25, 'two digits of 0.2500 are swapped')]

    ``qrels`` and ``runs`` are the same as for ``evaluate_many``. ``reported`` is ``{run: {column:
    "0.412"}}``, a frame, or a file: CSV, TSV, JSON, Markdown or LaTeX. Its rows are matched by the
    names of the runs. The names of columns are measures in any tool's spelling; for other names,
    ``measures={"MAP": "AP@10"}`` gives the measure they stand for. Numbers are as precise as they
    are written; percentages, bold numbers and marks are understood.

    It tries the dialects of all tools, germane's own conventions, and one or two changes of either.
    A convention that you give, such as ``missing="skip"``, holds in all of them. No protocol is
    claimed if wrong numbers would fit as well in more than 1 % of cases, or if fewer than half of
    the cells fit.

    Raises InputError for a run without a row, MeasureError for a table without a measure, and what
    ``evaluate_many`` raises.
    """
    progress = make_progress(progress)
    check_runs(runs, "runs")
    published = read_published(reported)
    if published.of_queries:
        raise InputError(
            "the rows of this table are queries; give a table of runs, or the values of one run's"
            f" queries to reconcile: {write_option('reported_per_query', '…')}"
        )
    measure_by_column = _read_measures(published, measures)
    shares = [
        find_highest(measure.name, None) is not None for measure in measure_by_column.values()
    ]
    writer = TableWriter(published, list(runs), list(measure_by_column), shares)
    refuse_dialect(policy, "reconcile_table")
    data = open_data(qrels, policy)
    values = list(_open_runs(data, runs, list(measure_by_column.values()), progress))
    search = TableSearch(
        [run_values for run_values, _ in values],
        values[0][1],
        dict(data.options.asked),
        writer.labels,
        list(measure_by_column.values()),
        writer.sheet,
    )
    return _search(search, writer, published.dialect)


def _read_measures(published: Published, measures: Mapping[str, str] | None) -> dict[int, Measure]:
    """Read the columns that are measures, by their place."""
    read = read_columns(published.columns, measures, published.dialect)
    by_column = {
        c: column.measure for c, column in enumerate(read) if column is not None and column.measure
    }
    if not by_column:
        raise MeasureError(
            f"no column of the table is a measure of ranked lists: {list_some(published.columns)}."
            " measures={'their name': 'AP@10'} says what a name stands for.  All measures:"
            " germane measures"
        )
    if len(by_column) > _MOST:
        raise InputError(
            f"the table has {len(by_column):,} columns of measures, but at most {_MOST} can be"
            " compared. Give only some of them."
        )
    return by_column


def _search(search: TableSearch, writer: TableWriter, tool: str | None) -> TableReconciliation:
    """Search for the protocol, and write the answer; ``tool`` is the one that wrote the table."""
    fit, fits = search.search()
    equal = search.list_equal_tools(fit, fits, tool)
    fit = search.simplify(fit)
    if equal:
        fit = replace(fit, options=tuple(options[0] for options in equal[0].columns))
    return writer.write(search, fit, fits, tuple(protocol.tool for protocol in equal))


def _open_runs(
    data: Inputs,
    runs: Mapping[str, Any],
    run_measures: Sequence[Measure],
    progress: Progress | None,
) -> Iterator[tuple[Values, Policy]]:
    for run in runs.values():
        opened_run, conventions = data.open_run(run)
        collection = data.collect(opened_run.load(progress), run_measures, progress=progress)
        yield Values(collection), conventions
