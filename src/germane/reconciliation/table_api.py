"""Reconcile a table: find the protocol behind the numbers that were reported of several runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from germane.core.policy import Policy
from germane.core.progress import Progress, make_progress
from germane.errors import InputError, MeasureError, list_some, write_option
from germane.evaluation.accepted import Judgments, PublishedTable, Run
from germane.evaluation.choices import Choices
from germane.evaluation.collection import find_all_needs
from germane.evaluation.opening import Inputs, open_data, refuse_dialect
from germane.measures.measure import Measure
from germane.reconciliation.column_names import read_columns
from germane.reconciliation.identities import find_highest
from germane.reconciliation.published import Published, read_published
from germane.reconciliation.spread import Values
from germane.reconciliation.table_reconciliation import TableReconciliation
from germane.reconciliation.table_search import TableSearch
from germane.reconciliation.table_writing import TableWriter, check_runs

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
    """Find the protocol behind a reported table: conventions, and each column's definition.

    >>> qrels = {"q1": ["a", "b"], "q2": ["c"]}
    >>> runs = {"ours": {"q1": ["a", "x", "b"], "q2": ["y", "c"]},
    ...     "bm25": {"q1": ["x", "a"], "q2": ["y"]}}
    >>> table = {"ours": {"map": "0.6667", "recip_rank": "0.7500"},
    ...     "bm25": {"map": "0.1250", "recip_rank": "0.5200"}}
    >>> found = germane.reconcile_table(qrels, runs, table)
    >>> [(one.run, one.column, one.value, one.slip) for one in found.off]
    [('bm25', 'recip_rank', 0.25, 'two digits of 0.2500 are swapped')]

    ``qrels`` and each of ``runs`` are those of ``evaluate_many``. ``reported`` is
    ``{run: {column: "0.412"}}``, a frame, or a file: CSV, TSV, JSON, Markdown or LaTeX. Its rows
    are found by the runs' names. Names of columns are measures in any tool's spelling;
    ``measures={"MAP": "AP@10"}`` says what other names stand for. Numbers are as precise as their
    text; percentages, bold numbers and marks are understood.

    It tries the dialects of all tools, germane's own conventions, and one or two changes of either.
    A convention that you give, such as ``missing="skip"``, holds in all of them. Nothing is claimed
    where wrong numbers would fit as well in more than 1 % of cases, or where fewer than half of the
    cells fit.

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
            f"the table has {len(by_column):,} columns of measures; at most {_MOST} can be"
            " compared. Give some of them."
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
    needs = find_all_needs(*run_measures)
    for run in runs.values():
        opened_run, conventions = data.open_run(run)
        yield Values(data.collect(opened_run.load(progress), needs, progress)), conventions
