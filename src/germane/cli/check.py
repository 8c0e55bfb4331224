"""germane check: what would bend the numbers, before there are any."""

import argparse
from typing import Any

from germane.cli.arguments import add_measures, add_reading, parse_measures, read_runs
from germane.cli.terminal import as_json, make_progress_line
from germane.evaluation.choices import DEFAULT
from germane.output import writing

FOUND = 1


def add(commands: Any) -> None:
    command = commands.add_parser(
        "check",
        help="find what would bend the numbers: ids, duplicates, ties, coverage, grades",
        description="Look at qrels and runs for what would bend a number: what it is, how often, where, and "
        "what to do. Lines that cannot be read are counted, and the others looked at. Exit status 0, or 1 "
        "with --strict where a finding is serious; 2 for files that cannot be read at all.",
    )
    command.set_defaults(run=run)
    command.add_argument("qrels", metavar="QRELS", help="lines 'query 0 item grade', or columns")
    command.add_argument(
        "runs", metavar="RUN", nargs="+", help="lines 'query Q0 item rank score tag', or columns"
    )
    add_measures(command, DEFAULT)
    command.add_argument(
        "--strict", action="store_true", help="exit status 1 where a finding is serious"
    )
    command.add_argument(
        "--format",
        metavar="text|json",
        choices=("text", "json"),
        default="text",
        help="(default: text)",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE, whole or not at all"
    )
    add_reading(command)


def run(options: argparse.Namespace) -> int:
    from germane.evaluation.checkup import (
        check,  # costs time, which the other commands need not take
    )

    runs = read_runs(options.qrels, options.runs)
    writing.check(options.output, [options.qrels, *options.runs])
    with make_progress_line("looking at") as progress:
        found = check(
            options.qrels,
            runs,
            parse_measures(options),
            columns=options.columns,
            input_format=options.input_format,
            max_expansion=options.max_expansion,
            max_line=options.max_line,
            progress=progress,
        )
    text = as_json(found.to_dict()) if options.format == "json" else f"{found}\n"
    writing.write(options.output, text)
    return FOUND if options.strict and found.serious else 0
