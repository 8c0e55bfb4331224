"""germane compare: systems on the same queries, with statistics of their differences."""

import argparse
from typing import TYPE_CHECKING, Any

from germane.cli import arguments
from germane.cli.terminal import as_json, make_progress_line
from germane.comparison.settings import WORDS
from germane.errors import InputError, NotFoundError
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
    arguments.add_files(command, "two runs or more")
    command.add_argument(
        "--dataset",
        metavar="FILE",
        nargs="+",
        action="append",
        default=[],
        help="QRELS RUN RUN... of a further data set, whose runs have the same file names",
    )
    arguments.add_measures(command, DEFAULT)
    add_statistics(command)
    command.add_argument(
        "--view",
        metavar="|".join(VIEWS),
        type=arguments.choose_from(VIEWS),
        help="one table alone; queries is where two runs differ (default: the leaderboard, with a "
        "sentence for each pair of up to three runs; for csv and tsv the pairs)",
    )
    command.add_argument(
        "--most",
        metavar="N",
        type=arguments.read_whole,
        default=10,
        help="queries of a view (default: 10)",
    )
    arguments.add_shared(command)


def add_statistics(command: argparse.ArgumentParser) -> None:
    statistics = command.add_argument_group("statistics")
    statistics.add_argument(
        "--baseline", metavar="NAME", help="compare every run with this one (default: all pairs)"
    )
    for name, words in WORDS.items():
        statistics.add_argument(f"--{name}", metavar="|".join(words), help=SAYS[name])
    statistics.add_argument(
        "--confidence",
        metavar="P",
        type=arguments.read_fraction,
        default=0.95,
        help="(default: 0.95)",
    )
    statistics.add_argument(
        "--equivalence",
        metavar="D",
        type=arguments.read_fraction,
        help="also test whether runs are within D of each other (needs germane[stats])",
    )
    statistics.add_argument(
        "--resamples",
        metavar="N",
        type=arguments.read_whole,
        default=10_000,
        help="of tukey and of the stability of an order (default: 10000)",
    )
    arguments.add_seed(statistics)


def collect_statistics(options: argparse.Namespace) -> dict[str, Any]:
    """The statistics asked for, as arguments of ``compare`` and ``report``."""
    words = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    others = ("baseline", "confidence", "equivalence", "resamples")
    return {**words, **{name: getattr(options, name) for name in others}, "rng": options.seed}


def run(options: argparse.Namespace) -> None:
    from germane.comparison.api import compare

    given = [[options.qrels, *options.runs], *options.dataset]
    writing.check(options.output, [path for paths in given for path in paths])
    comparison = compare(_evaluate(options, given), **collect_statistics(options))
    if options.format == "json":
        text = as_json(_as_dict(comparison, options))
    elif options.view is None and options.format == "table":
        text = str(comparison)
    else:
        digits = arguments.choose_digits(options)
        text = arguments.format_table(_make_view(comparison, options, digits), options, _FORMATS)
    writing.write(options.output, text)


def _evaluate(options: argparse.Namespace, given: list[list[str]]) -> Results | dict[str, Results]:
    """Evaluate the runs of each data set."""
    measures, policy = arguments.parse_measures(options), arguments.collect_policy(options)
    reading = {name: policy[name] for name in ("duplicates", *arguments.READING)}
    results = {}
    with make_progress_line() as progress:
        for qrels, *paths in given:
            if qrels in results:
                raise InputError(f"the data set {qrels} is given twice.")
            runs = arguments.read_runs(qrels, paths)
            judgments = read_qrels(qrels, **reading, progress=progress)
            results[qrels] = evaluate_many(judgments, runs, measures, progress=progress, **policy)
    return results if len(results) > 1 else next(iter(results.values()))


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


def _make_view(comparison: "Comparison", options: argparse.Namespace, digits: int | None) -> Table:
    match options.view or ("pairs" if options.format in ("csv", "tsv") else "leaderboard"):
        case "leaderboard":
            return comparison.leaderboard(digits=digits)
        case "pairs":
            return comparison.table(digits=digits)
        case "stability":
            tables = {
                str(m): comparison.stability(m).table(digits=digits) for m in comparison.measures
            }
            return stack_tables("measure", tables)
    if len(comparison.pairs) > len(comparison.measures):
        raise NotFoundError("--view queries shows two runs; give only two.")
    system, baseline = comparison.pairs[0].system, comparison.pairs[0].baseline
    tables = {
        str(m): comparison.queries(m, system, baseline).table(most=options.most, digits=digits)
        for m in comparison.measures
    }
    return stack_tables("measure", tables)


_FORMATS = {**FORMATS, "latex": Table.latex_float}
