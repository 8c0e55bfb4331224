"""germane trust: numbers that rest on a model's judgments, corrected by people's."""

import argparse
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.cli.terminal import as_json, make_progress_line, say
from germane.errors import GermaneWarning, InputError
from germane.evaluation.choices import DEFAULT
from germane.output import writing
from germane.output.tables import stack_tables

if TYPE_CHECKING:
    from germane.judges.trust import Trusts


def add(commands: Any) -> None:
    command = commands.add_parser(
        "trust",
        help="correct numbers from a model's judgments, with people's judgments",
        description=(
            "Correct the means of runs, and their differences, from a model's judgments "
            "with people's judgments of some queries. Also measure the agreement of both judges."
        ),
    )
    command.set_defaults(run=run)
    command.add_argument("runs", metavar="RUN", type=InputPath, nargs="+", help="one run or more")
    text = "people's judgments of some queries; in each, all items that the model judged"
    command.add_argument("--people", metavar="QRELS", type=InputPath, required=True, help=text)
    text = "the model's judgments of all queries"
    command.add_argument("--model", metavar="QRELS", type=InputPath, required=True, help=text)
    arguments.add_measures(command, DEFAULT)
    drawn = command.add_argument_group(
        "how the queries with people's judgments were drawn (default: at random)"
    )
    text = (
        "the numbers are about the population that the queries come from, or about these"
        " queries (default: population)"
    )
    arguments.add_choice(drawn, "--about", ("population", "queries"), text, "population")
    text = (
        "weights of these queries, 1 / the probability to be drawn: a file with two columns, or"
        " JSON"
    )
    drawn.add_argument("--weights", metavar="FILE", type=InputPath, help=text)
    text = "the stratum of every query: a file with two columns, or JSON"
    drawn.add_argument("--strata", metavar="FILE", type=InputPath, help=text)
    text = (
        "warn of runs with this word in their names, because the judge is related to them; may"
        " be repeated"
    )
    command.add_argument("--judge-family", metavar="WORD", action="append", default=[], help=text)
    text = "also print how many queries are needed to detect a difference of D between two runs"
    arguments.add_number(command, "--detect", "D", arguments.read_fraction, text)
    arguments.add_number(command, "--confidence", "P", arguments.read_fraction, default=0.95)
    arguments.add_shared(command)


def run(options: argparse.Namespace) -> None:
    from germane.judges.api import trust_many

    if options.detect is not None and len(options.runs) < 2:
        raise InputError("--detect plans for a difference of two runs; give two or more.")
    if "-" in options.runs or options.people == options.model == "-":
        raise InputError(
            "each run is read once for each judge, and standard input (-) only once. Give files."
        )
    runs = arguments.read_runs(options.people, options.runs)
    with make_progress_line() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)  # they stand below the table
        trusts = trust_many(
            runs, people=options.people, model=options.model,
            measures=arguments.read_measures(options), about=options.about,
            weights=options.weights,
            strata=options.strata, confidence=options.confidence, judge_family=options.judge_family,
            progress=progress, **arguments.collect_policy(options),
        )  # fmt: skip
    if options.format in ("csv", "tsv"):  # which have no notes
        for line in map(str, trusts.findings):
            say(f"germane: {line}")
    writing.write(options.output, _format(trusts, options))


def _format(trusts: "Trusts", options: argparse.Namespace) -> str:
    from germane.judges.assessors import DEFINITIONS

    plans = {}
    if options.detect is not None:
        plans = {
            f"{difference.title}, {difference.measure}": difference.plan(options.detect)
            for difference in trusts.differences
        }
    if options.format == "json":
        planned = {"plans": {name: vars(plan) for name, plan in plans.items()}} if plans else {}
        return as_json({**trusts.to_dict(), **planned})
    digits = arguments.choose_digits(options)
    text = arguments.format_table(trusts.table(digits=digits), options)
    if options.format in ("csv", "tsv"):
        return text
    agreement = next(iter(trusts.values())).agreement.table(digits=digits)
    tables = [replace(agreement, notes=DEFINITIONS)]  # the statistics stand below the numbers
    if plans:
        tables.append(
            stack_tables("difference", {n: p.table(digits=digits) for n, p in plans.items()})
        )
    return "\n".join([text, *(arguments.format_table(table, options) for table in tables)])
