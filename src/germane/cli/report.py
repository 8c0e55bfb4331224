"""germane report: runs on the same judgments as one page to send."""

import argparse
import os
import shlex
import sys
from typing import Any

from germane.cli.arguments import (
    add_measures,
    add_policy,
    add_reading,
    add_texts,
    collect_given_policy,
    list_texts,
    parse_measures,
    read_runs,
    read_size,
)
from germane.cli.compare import add_statistics
from germane.cli.terminal import make_progress_line
from germane.comparison.settings import WORDS
from germane.evaluation.choices import DEFAULT
from germane.output import writing


def add(commands: Any) -> None:
    command = commands.add_parser(
        "report",
        help="one HTML page about runs, for somebody who was not there",
        description="Evaluate and compare runs, and write one HTML page that needs no network: means "
        "with intervals, what stands out in the data, curves, every query, and where it all comes from.",
    )
    command.set_defaults(run=run)
    command.add_argument("qrels", metavar="QRELS", help="lines 'query 0 item grade', or columns")
    command.add_argument("runs", metavar="RUN", nargs="+", help="one run or more")
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE|FOLDER/",
        default="report.html",
        help="a page, or a folder that has the rankings of all queries (default: report.html)",
    )
    command.add_argument(
        "--max-size",
        metavar="SIZE",
        type=read_size,
        help="of the page, such as 5MB: how many rankings it has (default: 2MB)",
    )
    command.add_argument("--title", metavar="TEXT", help="(default: the names of the runs)")
    add_measures(command, DEFAULT)
    add_statistics(command)
    add_texts(command)
    add_reading(command)
    add_policy(command)


def run(options: argparse.Namespace) -> None:
    folder = options.output.endswith("/") or os.path.isdir(options.output)
    given = [options.qrels, *options.runs, *list_texts(options)]
    writing.check(options.output.rstrip("/") if folder else options.output, given)
    from germane.reports.api import report  # costs time, which the other commands need not take

    runs = read_runs(options.qrels, options.runs)
    words = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    with make_progress_line("report:") as progress:
        made = report(
            options.qrels,
            runs,
            parse_measures(options),
            title=options.title,
            queries=options.queries,
            items=options.items,
            max_size=options.max_size,
            layout="folder" if folder else "page",
            baseline=options.baseline,
            confidence=options.confidence,
            equivalence=options.equivalence,
            resamples=options.resamples,
            rng=options.seed,
            command=shlex.join(["germane", *sys.argv[1:]]),
            progress=progress,
            **words,
            **collect_given_policy(options),
        )
    if folder:
        made.save(options.output)
    else:
        writing.write(options.output, made.html)
