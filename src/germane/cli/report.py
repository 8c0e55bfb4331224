"""germane report: one HTML page about runs on the same judgments."""

import argparse
import os
import shlex
import sys
from typing import Any

from germane.cli import arguments
from germane.cli.compare import add_statistics, collect_statistics
from germane.cli.paths import OutputPath
from germane.cli.terminal import make_progress_line
from germane.evaluation.choices import DEFAULT
from germane.output import writing


def add(commands: Any) -> None:
    command = commands.add_parser(
        "report",
        help="write one HTML page about runs",
        description=(
            "Evaluate and compare runs, and write one HTML page that needs no "
            "network: means with intervals, problems in the data, curves, and every query."
        ),
    )
    command.set_defaults(run=run)
    arguments.add_files(command, "one run or more")
    text = "write one page, or a folder with the rankings of all queries (default: report.html)"
    command.add_argument(
        "-o", "--output", metavar="FILE|FOLDER/", type=OutputPath, default="report.html", help=text
    )
    text = (
        "largest size of the page, such as 5MB; rankings that do not fit are left out (default:"
        " 2MB)"
    )
    command.add_argument("--max-size", metavar="SIZE", type=arguments.read_size, help=text)
    command.add_argument(
        "--title", metavar="TEXT", help="title of the page (default: the names of the runs)"
    )
    arguments.add_measures(command, DEFAULT)
    add_statistics(command)
    arguments.add_bounds(command)
    arguments.add_texts(command)
    arguments.add_reading(command)
    arguments.add_candidates(command)
    arguments.add_subtopic_weights(command)
    arguments.add_policy(command)


def run(options: argparse.Namespace) -> None:
    folder = options.output.endswith("/") or os.path.isdir(options.output)
    if folder:
        writing.check_folder(options.output, ["rankings"])
    from germane.reports.report import report  # its import takes long

    runs = arguments.read_runs(options.qrels, options.runs)
    with make_progress_line("report:") as progress:
        page = report(
            options.qrels,
            runs,
            arguments.read_measures(options),
            title=options.title,
            queries=options.queries,
            items=options.items,
            max_size=options.max_size,
            bounds=options.bounds,
            layout="folder" if folder else "page",
            command=shlex.join(["germane", *sys.argv[1:]]),
            progress=progress,
            **collect_statistics(options),
            **arguments.collect_policy(options),
        )
    if folder:
        page.save(options.output)
    else:
        writing.write(options.output, page.html)
