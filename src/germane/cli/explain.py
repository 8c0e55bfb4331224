"""germane explain: show where a number comes from, rank by rank."""

import argparse
import os
from typing import Any

from germane.cli import arguments
from germane.cli.terminal import make_progress_line
from germane.errors import InputError
from germane.explanation.animation.api import MOST, animate
from germane.explanation.animation.api import check as check_animation
from germane.explanation.api import explain
from germane.output import writing


def add(commands: Any) -> None:
    command = commands.add_parser(
        "explain",
        help="show where a number comes from, rank by rank",
        description="Show rank by rank how measures of one query, or of one list, come about.",
        usage="%(prog)s QRELS RUN --query ID [options]\n       %(prog)s LIST [--relevant R] [options]",
    )
    command.set_defaults(run=run)
    arguments.add_files_or_list(command)
    command.add_argument("--query", metavar="ID", help="the query to explain")
    arguments.add_measures(command, "AP")
    arguments.add_texts(command)
    arguments.add_shared(command, lists=True)
    command.add_argument(
        "--animate",
        metavar="FILE",
        help=f"also write it as an animation of up to {MOST} measures: a .gif, .svg or .html file",
    )


def run(options: argparse.Namespace) -> None:
    measures = arguments.parse_measures(options)
    inputs = options.given if len(options.given) > 1 else []
    writing.check(options.output, [*inputs, *arguments.list_texts(options)])
    if options.animate is not None:
        check_animation(options.animate, inputs, measures=len(measures))
        if options.output and os.path.realpath(options.output) == os.path.realpath(options.animate):
            raise InputError(f"{options.animate}: -o and --animate name the same file.")
    match options.given:
        case [listed]:
            arguments.check_list(options)
            explanation = explain(
                arguments.read_grades(listed), measures, relevant=options.relevant,
                queries=options.queries, items=options.items,
            )  # fmt: skip
        case [qrels, run]:
            [run] = arguments.read_runs(qrels, [run]).values()  # of standard input there is one
            with make_progress_line() as progress:
                explanation = explain(
                    qrels, run, measures, query=options.query,
                    queries=options.queries, items=options.items,
                    progress=progress,
                    **arguments.collect_policy(options),
                )  # fmt: skip
        case _:
            raise InputError(
                "explain takes QRELS and RUN, or one LIST in quotes, such as '0 0 1'; "
                f"got {len(options.given)} arguments."
            )
    if options.animate is not None:
        animate(explanation, options.animate)
    arguments.write_result(
        options, lambda digits: explanation.table(digits=digits), explanation.to_dict
    )
