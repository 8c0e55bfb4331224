"""The commands about judgments: trust, judges and next."""

import argparse
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import germane
from germane.cli import parser
from germane.cli.parser import Command, call
from germane.cli.terminal import (
    as_json,
    choose_digits,
    format_table,
    make_progress_line,
    say,
    write_found,
)
from germane.errors import GermaneWarning, InputError
from germane.output import writing
from germane.output.tables import stack_tables

if TYPE_CHECKING:
    from germane.types import Trusts

# --- trust ----------------------------------------------------------------------------------------


def _run_trust(options: argparse.Namespace) -> None:
    if options.detect is not None and len(options.runs) < 2:
        raise InputError("--detect plans for a difference of two runs; give two or more.")
    if "-" in options.runs or options.people == options.model == "-":
        raise InputError(
            "each run is read once for each judge, and standard input (-) only once. Give files."
        )
    runs = parser.read_runs(options.people, options.runs)
    measures = parser.read_measures(options)
    with make_progress_line() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)  # they stand below the table
        trusts = call(germane.trust_many, options, runs=runs, measures=measures, progress=progress)
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
    digits = choose_digits(options)
    text = format_table(trusts.table(digits=digits), options)
    if options.format in ("csv", "tsv"):
        return text
    agreement = next(iter(trusts.values())).agreement.table(digits=digits)
    tables = [replace(agreement, notes=DEFINITIONS)]  # the statistics stand below the numbers
    if plans:
        tables.append(
            stack_tables("difference", {n: p.table(digits=digits) for n, p in plans.items()})
        )
    return "\n".join([text, *(format_table(table, options) for table in tables)])


# --- judges and next ------------------------------------------------------------------------------


def _run_judges(options: argparse.Namespace) -> None:
    if "-" in [options.run, *options.judges]:
        raise InputError(
            "the run is read once for each judge, and standard input (-) only once. Give a file."
        )
    if len(set(options.judges)) < len(options.judges):
        twice = next(path for path in options.judges if options.judges.count(path) > 1)
        raise InputError(f"the judgments {twice} are given twice.")
    judges: Any = parser.read_runs(options.run, options.judges)
    if len(judges) == 1:
        judges = options.judges[0]
    judged = call(
        germane.evaluate_judges, options, judges=judges, measures=parser.read_measures(options)
    )
    write_found(options, judged)


def _run_next(options: argparse.Namespace) -> None:
    measures = parser.parse_measures(options)
    if len(measures) > 1:
        raise InputError(f"next takes one measure; got {', '.join(map(str, measures))}.")
    runs = parser.read_runs(options.qrels, options.runs)
    with make_progress_line() as progress:
        judgments = call(
            germane.choose_judgments, options, runs=runs, measure=measures[0], progress=progress
        )
    write_found(options, judgments)


COMMANDS = {
    "trust": Command(
        _run_trust,
        "Correct the means of runs, and their differences, from a model's judgments with people's"
        " judgments of some queries. Also measure the agreement of both judges.",
        "runs+",
        "detect format spreadsheet output",
    ),
    "judges": Command(
        _run_judges,
        "Evaluate a run by each of several judges, by their majority grade and by their mean grade."
        " Also measure their agreement. Queries that some judge did not judge are left out.",
        "run judges+",
        "format spreadsheet output",
    ),
    "next": Command(
        _run_next,
        "Choose the unjudged pairs of query and item with the largest weight in a measure. Write"
        " them with --format csv -o FILE, and fill in the column grade: FILE is then qrels.",
        "qrels runs+",
        "format spreadsheet output",
    ),
}
