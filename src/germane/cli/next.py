"""germane next: the pairs of query and item to judge next."""

import argparse
from typing import Any

from germane.cli import arguments
from germane.cli.terminal import make_progress_line
from germane.errors import InputError


def add(commands: Any) -> None:
    command = commands.add_parser(
        "next",
        help="choose the items to judge next",
        description=(
            "Choose the unjudged pairs of query and item with the largest weight in a measure."
            " Write them with --format csv -o FILE, and fill in the column grade: FILE is then"
            " qrels."
        ),
    )
    command.set_defaults(run=run)
    arguments.add_files(command, "the runs that will be compared")
    arguments.add_measures(command, "nDCG@10")
    arguments.add_number(command, "-n --budget", "N", arguments.read_whole, "pairs", 100)
    text = (
        "order by the weight of a pair, or by how much this weight differs between runs"
        " (default: weight)"
    )
    arguments.add_choice(command, "--by", ("weight", "difference"), text, "weight")
    arguments.add_shared(command)


def run(options: argparse.Namespace) -> None:
    from germane.judges.selection import choose_judgments

    measures = arguments.parse_measures(options)
    if len(measures) > 1:
        raise InputError(f"next takes one measure; got {', '.join(map(str, measures))}.")
    runs = arguments.read_runs(options.qrels, options.runs)
    with make_progress_line() as progress:
        judgments = choose_judgments(
            options.qrels, runs, measures[0], budget=options.budget, by=options.by,
            progress=progress,
            **arguments.collect_policy(options),
        )  # fmt: skip
    arguments.write_found(options, judgments)
