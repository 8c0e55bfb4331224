"""germane report: runs on the same judgments as one page to send."""

import argparse
import shlex
import sys
from typing import Any

from germane.cli.arguments import (
    add_measures,
    add_policy,
    add_reading,
    collect_given_policy,
    parse_measures,
    read_runs,
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
        "-o", "--output", metavar="FILE", default="report.html", help="(default: report.html)"
    )
    command.add_argument("--title", metavar="TEXT", help="(default: the names of the runs)")
    add_measures(command, DEFAULT)
    add_statistics(command)
    add_reading(command)
    add_policy(command)


def run(options: argparse.Namespace) -> None:
    writing.check(options.output, [options.qrels, *options.runs])
    from germane.reports.api import report  # costs time, which the other commands need not take

    runs = read_runs(options.qrels, options.runs)
    words = {name: getattr(options, name) for name in WORDS if getattr(options, name) is not None}
    with make_progress_line("report:") as progress:
        made = report(
            options.qrels,
            runs,
            parse_measures(options),
            title=options.title,
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
    writing.write(options.output, made.html)
