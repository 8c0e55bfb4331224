"""germane verify: exit with status 1 if the numbers of a record are not those of the data."""

import argparse
from typing import Any

from germane.cli import arguments
from germane.cli.paths import InputPath

DIFFERS = 1


def add(commands: Any) -> None:
    command = commands.add_parser(
        "verify",
        help="compute the numbers of a record again, and say what differs",
        description=(
            "Compute the numbers of a record or a signature again. The exit status is 0 if values,"
            " data and definitions are the same, 1 if something differs, and 2 for wrong usage or"
            " bad input."
        ),
    )
    command.set_defaults(run=run)
    text = "a file of evaluate --record or --format json, or a signature in quotes"
    command.add_argument("record", metavar="RECORD", type=InputPath, help=text)
    arguments.add_files(command, "the runs, named or ordered as in the record")
    arguments.add_shared(command, dialect=False)
    arguments.add_catalogue(command)


def run(options: argparse.Namespace) -> int:
    from germane.records.verification import verify

    runs = arguments.read_runs(options.qrels, options.runs)
    inputs = next(iter(runs.values())) if len(runs) == 1 else runs
    verification = verify(
        options.record, options.qrels, inputs, **arguments.collect_policy(options)
    )
    arguments.write_found(options, verification)
    return 0 if verification.same else DIFFERS
