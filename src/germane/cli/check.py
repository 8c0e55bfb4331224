"""germane check: find problems that can distort results, before there are any results."""

import argparse
from typing import TYPE_CHECKING, Any

from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.cli.terminal import as_json, make_progress_line
from germane.evaluation.choices import DEFAULT
from germane.output import writing
from germane.readers import CANDIDATES

if TYPE_CHECKING:
    from germane.evaluation.checkup import Checkup

FOUND = 1


def add(commands: Any) -> None:
    command = commands.add_parser(
        "check",
        help="find problems that can distort results: ids, duplicates, ties, coverage, grades",
        description=(
            "Find problems in qrels and runs that can distort your results. Each finding says how"
            " often the problem occurs, where, and what to do. Lines that cannot be read are"
            " counted, and all others are checked. The exit status is 0; with --strict it is 1 if a"
            " finding is serious. It is 2 if a file cannot be read at all."
        ),
    )
    command.set_defaults(run=run)
    arguments.add_files(command, "lines 'query Q0 item rank score tag', or columns")
    arguments.add_measures(command, DEFAULT)
    command.add_argument(
        "--strict", action="store_true", help="exit status 1 if a finding is serious"
    )
    arguments.add_format(command, ("text", "json"))
    arguments.add_output_file(command)
    arguments.add_reading(command)
    arguments.add_candidates(command)
    arguments.add_scores(command)
    arguments.add_dialect(command)
    text = (
        "judgments that the system learned from: find judgments and queries that are also in QRELS"
    )
    command.add_argument("--train", metavar="QRELS", type=InputPath, help=text)
    arguments.add_texts(command, "to find queries among the items")


def run(options: argparse.Namespace) -> int:
    from germane.evaluation.checkup import check  # its import takes long

    runs = arguments.read_runs(options.qrels, options.runs)
    names = ("dialect", *arguments.READING, *CANDIDATES, "collapse", "train", "queries", "items")
    reading = arguments.collect_given(options, (*names, *arguments.SCORES, "ranks", "padding"))
    measures = arguments.read_measures(options)
    with make_progress_line("looking at") as progress:
        checkup = check(options.qrels, runs, measures, **reading, progress=progress)
    return write_checkup(options, checkup)


def write_checkup(options: argparse.Namespace, checkup: "Checkup") -> int:
    """Write the findings as text or JSON; return the exit status."""
    text = as_json(checkup.to_dict()) if options.format == "json" else f"{checkup}\n"
    writing.write(options.output, text)
    return FOUND if options.strict and checkup.serious else 0
