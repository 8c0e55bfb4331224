"""germane explain: show where a number comes from, rank by rank."""

import argparse
import os
from typing import Any

from germane.cli.arguments import (
    add_measures,
    add_output,
    add_policy,
    add_reading,
    add_texts,
    check_list,
    choose_digits,
    collect_policy,
    format_table,
    list_texts,
    parse_measures,
    read_grades,
    read_runs,
)
from germane.cli.terminal import as_json, make_progress_line
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
    command.add_argument(
        "given", metavar="QRELS RUN | LIST", nargs="+", help="two files, or grades such as '0 0 1'"
    )
    command.add_argument("--query", metavar="ID", help="the query to explain")
    add_measures(command, "AP")
    add_output(command)
    command.add_argument(
        "--animate",
        metavar="FILE",
        help=f"also write it as an animation of up to {MOST} measures: a .gif, .svg or .html file",
    )
    add_texts(command)
    add_reading(command)
    add_policy(command, lists=True)


def run(options: argparse.Namespace) -> None:
    measures = parse_measures(options)
    inputs = options.given if len(options.given) > 1 else []
    writing.check(options.output, [*inputs, *list_texts(options)])
    if options.animate is not None:
        check_animation(options.animate, inputs, measures=len(measures))
        if options.output and os.path.realpath(options.output) == os.path.realpath(options.animate):
            raise InputError(f"{options.animate}: -o and --animate name the same file.")
    match options.given:
        case [listed]:
            check_list(options)
            explanation = explain(
                read_grades(listed), measures, relevant=options.relevant,
                queries=options.queries, items=options.items,
            )  # fmt: skip
        case [qrels, run]:
            [run] = read_runs(qrels, [run]).values()  # of standard input there is one
            with make_progress_line() as progress:
                explanation = explain(
                    qrels, run, measures, query=options.query,
                    queries=options.queries, items=options.items,
                    progress=progress,
                    **collect_policy(options),
                )  # fmt: skip
        case _:
            raise InputError(
                "explain takes QRELS and RUN, or one LIST in quotes, such as '0 0 1'; "
                f"got {len(options.given)} arguments."
            )
    if options.animate is not None:
        animate(explanation, options.animate)
    if options.format == "json":
        writing.write(options.output, as_json(explanation.to_dict()))
    else:
        writing.write(
            options.output, format_table(explanation.table(digits=choose_digits(options)), options)
        )
