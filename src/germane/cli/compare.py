"""germane compare: systems on the same queries, with statistics of their differences."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.cli.terminal import as_json, make_progress_line
from germane.comparison.significance import WORDS
from germane.errors import InputError, NotFoundError
from germane.evaluation.api import evaluate_many
from germane.evaluation.bounds import BoundsOfRuns
from germane.evaluation.choices import DEFAULT
from germane.evaluation.layout import name_measures
from germane.evaluation.opening import open_data
from germane.evaluation.result import Results
from germane.output import pictures, writing
from germane.output.tables import Table, stack_tables

if TYPE_CHECKING:
    from germane.comparison.comparison import Comparison
    from germane.comparison.query_differences import QueryDifferences

VIEWS = ("leaderboard", "pairs", "queries", "stability")
SAYS = {
    "test": "test of significance (default: randomization); t needs germane[stats]",
    "correction": "correction for the number of comparisons (default: holm)",
    "family": (
        "the comparisons that are corrected together: those of one measure, or all (default:"
        " measure)"
    ),
}


def add(commands: Any) -> None:
    command = commands.add_parser(
        "compare",
        help="compare runs on the same queries: differences, intervals, significance",
        description=(
            "Compare runs query by query: mean differences with confidence intervals, effect "
            "sizes and significance. Draw the differences with -o FILE.svg, .png or .pdf."
        ),
    )
    command.set_defaults(run=run)
    arguments.add_files(command, "two runs or more")
    command.add_argument(
        "--dataset",
        metavar="FILE",
        type=InputPath,
        nargs="+",
        action="append",
        default=[],
        help="QRELS RUN RUN... of a further data set, whose runs have the same file names",
    )
    arguments.add_measures(command, DEFAULT)
    add_statistics(command)
    text = (
        "a single table; queries shows where two runs differ (default: the leaderboard, with a "
        "sentence for each pair of up to three runs; for csv and tsv the pairs)"
    )
    arguments.add_choice(command, "--view", VIEWS, text)
    text = "number of queries in a view"
    arguments.add_number(command, "--most", "N", arguments.read_whole, text, 10)
    arguments.add_signature(command)
    arguments.add_bounds(command)
    arguments.add_rename(command)
    arguments.add_shared(command, pictures=pictures.FORMATS)
    arguments.add_catalogue(command)


def add_statistics(
    command: argparse.ArgumentParser, words: Mapping[str, Sequence[str]] = WORDS
) -> None:
    """Add the statistics; ``words`` are those settings of which one takes a word."""
    statistics = command.add_argument_group("statistics")
    statistics.add_argument(
        "--baseline", metavar="NAME", help="compare every run with this one (default: all pairs)"
    )
    for name, choices in words.items():
        statistics.add_argument(f"--{name}", metavar="|".join(choices), help=SAYS[name])
    add, count, fraction = arguments.add_number, arguments.read_whole, arguments.read_fraction
    add(statistics, "--confidence", "P", fraction, default=0.95)
    text = "also test whether runs are within D of each other (needs germane[stats])"
    add(statistics, "--equivalence", "D", fraction, text)
    text = "number of resamples for tukey and for stability"
    add(statistics, "--resamples", "N", count, text, 10_000)
    arguments.add_seed(statistics)


def collect_statistics(options: argparse.Namespace) -> dict[str, Any]:
    """The statistics asked for, as arguments of ``compare`` and ``report``."""
    words = arguments.collect_given(options, WORDS)
    names = ("baseline", "confidence", "equivalence", "resamples")
    return {**words, **{name: getattr(options, name) for name in names}, "rng": options.seed}


def run(options: argparse.Namespace) -> None:
    from germane.comparison.compare import compare

    datasets = [[options.qrels, *options.runs], *options.dataset]
    rename = arguments.read_rename(options)
    name_measures(arguments.parse_measures(options), rename)
    if rename and options.view in ("queries", "stability"):
        raise InputError(f"--rename is for --view leaderboard or pairs; got {options.view}.")
    picture = arguments.is_picture(options)
    if options.bounds and (picture or options.format in ("csv", "tsv")):
        raise InputError(
            "--bounds adds a second table, for --format table, markdown, html or json."
        )
    if picture:
        _check_picture(options)
    comparison = compare(_evaluate(options, datasets), **collect_statistics(options))
    signatures = comparison.signatures if options.signature else ()
    if picture:
        _choose_drawn(comparison, options).save(options.output)
        return
    if options.format == "json":
        text = as_json(_as_dict(comparison, options))
    elif options.view is None and options.format == "table":
        text = comparison.text(rename=rename)
        text = "\n".join([text.rstrip("\n"), *(("", *signatures) if signatures else ()), ""])
    else:
        digits = arguments.choose_digits(options)
        view = arguments.add_lines(_make_view(comparison, options, digits, rename), signatures)
        text = arguments.format_table(view, options, arguments.FOR_PAPERS)
    writing.write(options.output, text + _write_bounds(comparison, options))


def _write_bounds(comparison: "Comparison", options: argparse.Namespace) -> str:
    """Write the bounds of every data set below the comparison, if they are asked for."""
    if not options.bounds or options.format == "json":
        return ""
    tables = {name: BoundsOfRuns(runs).table() for name, runs in comparison.datasets.items()}
    return f"\n{arguments.format_table(stack_tables('data set', tables), options)}"


def _check_picture(options: argparse.Namespace) -> None:
    """Refuse what cannot be drawn before the work is done."""
    pictures.import_matplotlib()
    measures = arguments.parse_measures(options)
    if len(measures) > 1:
        listed = ", ".join(map(str, measures))
        raise InputError(
            f"{options.output}: a picture has one measure; got {listed}. Name it with -m."
        )
    if (
        options.format != "table"
        or options.rename
        or options.signature
        or options.view not in (None, "pairs", "queries")
    ):
        raise InputError(
            f"{options.output}: a picture is of the pairs, or of --view queries; it has no --format"
            " and neither --rename nor --signature."
        )


def _choose_drawn(
    comparison: "Comparison", options: argparse.Namespace
) -> "Comparison | QueryDifferences":
    if options.view != "queries":
        return comparison
    [measure] = comparison.measures
    return comparison.queries(measure, *_find_only_pair(comparison))


def _find_only_pair(comparison: "Comparison") -> tuple[str, str]:
    if len(comparison.pairs) > len(comparison.measures):
        raise NotFoundError("--view queries shows two runs; give only two.")
    return comparison.pairs[0].system, comparison.pairs[0].baseline


def _evaluate(options: argparse.Namespace, raw: list[list[str]]) -> Results | dict[str, Results]:
    """Evaluate the runs of each data set."""
    measures, policy = arguments.read_measures(options), arguments.collect_policy(options)
    results = {}
    with make_progress_line() as progress:
        for qrels, *paths in raw:
            if qrels in results:
                raise InputError(f"the data set {qrels} is given twice.")
            runs = arguments.read_runs(qrels, paths)
            data = open_data(qrels, policy)
            data.signs = arguments.is_signed(options)
            results[qrels] = evaluate_many(data, runs, measures, progress=progress)
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
    if options.bounds:
        bounds = {name: BoundsOfRuns(runs) for name, runs in comparison.datasets.items()}
        plain["bounds"] = {name: bound.to_dict() for name, bound in bounds.items()}
    return plain


def _make_view(
    comparison: "Comparison",
    options: argparse.Namespace,
    digits: int | None,
    rename: Mapping[str, str],
) -> Table:
    match options.view or ("pairs" if options.format in ("csv", "tsv") else "leaderboard"):
        case "leaderboard":
            return comparison.leaderboard(digits=digits, rename=rename)
        case "pairs":
            return comparison.table(digits=digits, rename=rename)
        case "stability":
            tables = {
                str(m): comparison.stability(m).table(digits=digits) for m in comparison.measures
            }
            return stack_tables("measure", tables)
    system, baseline = _find_only_pair(comparison)
    tables = {
        str(m): comparison.queries(m, system, baseline).table(most=options.most, digits=digits)
        for m in comparison.measures
    }
    return stack_tables("measure", tables)
