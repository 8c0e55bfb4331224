"""germane judges: a run's numbers by each of several judges, and by their grades merged."""

import argparse
from typing import Any

from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.errors import InputError
from germane.evaluation.choices import DEFAULT


def add(commands: Any) -> None:
    command = commands.add_parser(
        "judges",
        help="evaluate a run by several judges, and measure their agreement",
        description=(
            "Evaluate a run by each of several judges, by their majority grade and by their mean"
            " grade. Also measure their agreement. Queries that some judge did not judge are left"
            " out."
        ),
    )
    command.set_defaults(run=run)
    command.add_argument("run_file", metavar="RUN", type=InputPath, help="the run")
    text = (
        "the judgments of each judge: two files or more, or one with a column that names the judge"
    )
    command.add_argument("judges", metavar="QRELS", type=InputPath, nargs="+", help=text)
    arguments.add_measures(command, DEFAULT)
    arguments.add_shared(command)


def run(options: argparse.Namespace) -> None:
    from germane.judges.assessors import evaluate_judges

    if "-" in [options.run_file, *options.judges]:
        raise InputError(
            "the run is read once for each judge, and standard input (-) only once. Give a file."
        )
    if len(set(options.judges)) < len(options.judges):
        twice = next(path for path in options.judges if options.judges.count(path) > 1)
        raise InputError(f"the judgments {twice} are given twice.")
    judges: Any = arguments.read_runs(options.run_file, options.judges)
    if len(judges) == 1:
        judges = options.judges[0]
    judged = evaluate_judges(
        judges, options.run_file, arguments.read_measures(options),
        **arguments.collect_policy(options)
    )  # fmt: skip
    arguments.write_found(options, judged)
