"""germane audit: find numbers of a published table that no run can have."""

import argparse
from typing import Any

from germane.cli import arguments
from germane.cli.paths import InputPath

CONTRADICTED = 1


def add(commands: Any) -> None:
    command = commands.add_parser(
        "audit",
        help="find numbers of a published table that contradict each other",
        description=(
            "Find numbers of a table that no run can have, without any data: values above 1, recall"
            " that falls with k, RR@1 that is not P@1. The exit status is 1 if numbers contradict"
            " each other under every definition, 0 if none do, and 2 for a table that cannot be"
            " read."
        ),
    )
    command.set_defaults(run=run)
    text = (
        "CSV, TSV, JSON, Markdown, LaTeX, a result file of MTEB or BEIR, the output of"
        " trec_eval -q, or kept results"
    )
    command.add_argument("table", metavar="TABLE", type=InputPath, help=text)
    text = "the number of queries of each mean"
    arguments.add_number(command, "--queries", "N", arguments.read_whole, text)
    command.add_argument(
        "--dialect", metavar="NAME", help="the tool that computed the table: germane dialects"
    )
    command.add_argument(
        "--columns",
        metavar="NAME=MEASURE",
        action="append",
        default=[],
        help="the measure that a name of the table stands for, as in 'MAP=AP@10'; may be repeated",
    )
    arguments.add_output(command)


def run(options: argparse.Namespace) -> int:
    from germane.forensics.audit import audit  # its import takes long

    columns = dict(map(arguments.read_pair, options.columns))
    contradictions = audit(options.table, options.queries, options.dialect, columns=columns or None)
    arguments.write_answer(options, contradictions)
    return CONTRADICTED if contradictions else 0
