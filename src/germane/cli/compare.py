"""germane compare: systems on the same queries, with honest statistics."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from germane.cli.arguments import (
    READING,
    add_measures,
    add_output,
    add_policy,
    add_reading,
    choose_digits,
    collect_policy,
    format_table,
    parse_measures,
    read_fraction,
    read_runs,
    read_whole,
)
from germane.cli.terminal import as_json, make_progress_line
from germane.comparison.settings import WORDS
from germane.errors import InputError, NotFoundError, check_choice
from germane.evaluation.api import evaluate_many, read_qrels
from germane.evaluation.choices import DEFAULT
from germane.evaluation.result import Results
from germane.output import writing
from germane.output.tables import FORMATS, Table, stack_tables

if TYPE_CHECKING:
    from germane.comparison.comparison import Comparison

VIEWS = ("leaderboard", "pairs", "queries", "stability")
SAYS = {
    "test": "of significance (default: randomization); t and wilcoxon need germane[stats]",
    "correction": "for the number of comparisons (default: holm)",
    "family": "what is corrected together: the comparisons of one measure, or all (default: measure)",
}


def add(commands: Any) -> None:
    command = commands.add_parser(
        "compare",
        help="compare runs on the same queries: differences, intervals, significance",
        description="Compare runs query by query: mean differences with confidence intervals, effect "
        "sizes, significance, and what moved.",
    )
    command.set_defaults(run=run)
    command.add_argument("qrels", metavar="QRELS", help="lines 'query 0 item grade', or columns")
    command.add_argument("runs", metavar="RUN", nargs="+", help="two runs or more")
    command.add_argument(
        "--dataset",
        metavar="FILE",
        nargs="+",
        action="append",
        default=[],
        help="QRELS RUN RUN... of a further data set, whose runs have the same file names",
    )
    add_measures(command, DEFAULT)
    add_statistics(command)
    command.add_argument(
        "--view",
        metavar="|".join(VIEWS),
        type=_view,
        help="one table alone; queries is where two runs differ (default: the leaderboard, with a "
        "sentence for each pair of up to three runs; for csv and tsv the pairs)",
    )
    command.add_argument(
        "--most", metavar="N", type=read_whole, default=10, help="queries of a view (default: 10)"
    )
    add_output(command)
    add_reading(command)
    add_policy(command)


def add_statistics(command: argparse.ArgumentParser) -> None:
    statistics = command.add_argument_group("statistics")
    statistics.add_argument(
        "--baseline", metavar="NAME", help="compare every run with this one (default: all pairs)"
    )
    for name, words in WORDS.items():
        statistics.add_argument(f"--{name}", metavar="|".join(words), help=SAYS[name])
    statistics.add_argument(
        "--confidence", metavar="P", type=read_fraction, default=0.95, help="(default: 0.95)"
    )
    statistics.add_argument(
        "--equivalence",
        metavar="D",
        type=read_fraction,
        help="also test whether runs are within D of each other (needs germane[stats])",
    )
    statistics.add_argument(
        "--resamples",
        metavar="N",
        type=read_whole,
        default=10_000,
        help="of tukey and of the stability of an order (default: 10000)",
    )
    statistics.add_argument(
        "--seed", metavar="N", type=read_whole, default=0, help="of the random numbers (default: 0)"
    )


def run(options: argparse.Namespace) -> None:
    given = [[options.qrels, *options.runs], *options.dataset]
    writing.check(options.output, [path for paths in given for path in paths])
    comparison = _compare(options, _make_results(options, given))
    if options.format == "json":
        text = as_json(_as_dict(comparison, options))
    elif options.view is None and options.format == "table":
        text = str(comparison)
    else:
        text = format_table(_VIEWS[_choose_view(options)](comparison, options), options, _FORMATS)
    writing.write(options.output, text)


def _make_results(
    options: argparse.Namespace, given: list[list[str]]
) -> Results | dict[str, Results]:
    measures, policy = parse_measures(options), collect_policy(options)
    told = {name: policy[name] for name in ("duplicates", *READING)}
    results = {}
    with make_progress_line() as progress:
        for qrels, *paths in given:
            if qrels in results:
                raise InputError(f"the data set {qrels} is given twice.")
            runs = read_runs(qrels, paths)
            judgments = read_qrels(qrels, **told, progress=progress)
            results[qrels] = evaluate_many(judgments, runs, measures, progress=progress, **policy)
    return results if len(results) > 1 else next(iter(results.values()))


def _compare(options: argparse.Namespace, results: Any) -> "Comparison":
    from germane.comparison.api import compare

    words = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    return compare(
        results,
        baseline=options.baseline,
        confidence=options.confidence,
        equivalence=options.equivalence,
        resamples=options.resamples,
        rng=options.seed,
        **words,
    )


def _choose_view(options: argparse.Namespace) -> str:
    if options.view is not None:
        return str(options.view)
    return "pairs" if options.format in ("csv", "tsv") else "leaderboard"


def _as_dict(comparison: "Comparison", options: argparse.Namespace) -> dict[str, Any]:
    plain = comparison.to_dict()
    if options.view == "stability":
        plain["stability"] = [comparison.stability(m).to_dict() for m in comparison.measures]
    if options.view == "queries":
        plain["queries"] = [
            comparison.queries(pair.measure, pair.system, pair.baseline).to_dict()
            for pair in comparison.pairs
        ]
    return plain


def _list_queries(comparison: "Comparison", options: argparse.Namespace) -> Table:
    system, baseline = comparison.pairs[0].system, comparison.pairs[0].baseline
    if len(comparison.pairs) > len(comparison.measures):
        raise NotFoundError("--view queries shows two runs; give only two.")
    return stack_tables(
        "measure",
        {
            str(measure): comparison.queries(measure, system, baseline).table(
                most=options.most, digits=choose_digits(options)
            )
            for measure in comparison.measures
        },
    )


def _make_stability_table(comparison: "Comparison", options: argparse.Namespace) -> Table:
    tables = {
        str(measure): comparison.stability(measure).table(digits=choose_digits(options))
        for measure in comparison.measures
    }
    return stack_tables("measure", tables)


_VIEWS: dict[str, Callable[["Comparison", argparse.Namespace], Table]] = {
    "leaderboard": lambda comparison, options: comparison.leaderboard(
        digits=choose_digits(options)
    ),
    "pairs": lambda comparison, options: comparison.table(digits=choose_digits(options)),
    "queries": _list_queries,
    "stability": _make_stability_table,
}
_FORMATS = {**FORMATS, "latex": Table.latex_float}


def _view(text: str) -> str:
    check_choice("", text, VIEWS, argparse.ArgumentTypeError)
    return text
