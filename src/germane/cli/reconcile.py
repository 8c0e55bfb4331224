"""germane reconcile: find the definition behind a reported number."""

import argparse
from collections.abc import Callable
from typing import Any

from germane.cli.arguments import (
    add_output,
    add_policy,
    add_reading,
    check_list,
    choose_digits,
    collect_given_policy,
    format_table,
    read_grades,
)
from germane.cli.terminal import as_json, make_progress_line
from germane.errors import InputError
from germane.output import writing


def add(commands: Any) -> None:
    command = commands.add_parser(
        "reconcile",
        help="find the definition behind a reported number",
        description="Find the definitions that give a reported number on the same data, or say that "
        "none does and what comes nearest.",
        usage="%(prog)s QRELS RUN --reported NUMBER [options]\n"
        "       %(prog)s LIST [--relevant R] --reported NUMBER [options]",
    )
    command.set_defaults(run=run, query=None)  # check_list looks for a query
    command.add_argument(
        "given", metavar="QRELS RUN | LIST", nargs="+", help="two files, or grades such as '0 0 1'"
    )
    command.add_argument(
        "--reported",
        metavar="NUMBER",
        required=True,
        help="as it is written, since 0.62 is less precise than 0.620; 62%% is 0.62",
    )
    command.add_argument(
        "-m", "--measure", default="AP@10", help="what it is said to be (default: AP@10)"
    )
    command.add_argument(
        "--reported-per-query",
        metavar="FILE",
        help="lines 'query value', or what trec_eval -q prints of one measure",
    )
    add_output(command)
    add_reading(command)
    add_policy(command, lists=True)


def run(options: argparse.Namespace) -> None:
    from germane.reconciliation.api import (
        reconcile,  # costs time, which the other commands need not take
    )

    asked = {"reported": options.reported, "measure": options.measure}
    per_query = options.reported_per_query
    inputs = [
        *(options.given if len(options.given) > 1 else []),
        *([per_query] if per_query else []),
    ]
    writing.check(options.output, inputs)
    match options.given:
        case [listed]:
            check_list(options)
            found = reconcile(
                read_grades(listed),
                **asked,
                relevant=options.relevant,
                reported_per_query=per_query,
            )
        case [qrels, ranked]:
            with make_progress_line("reconcile:") as progress:
                found = reconcile(
                    qrels, ranked, **asked,
                    reported_per_query=per_query, progress=progress, **collect_given_policy(options),
                )  # fmt: skip
        case _:
            raise InputError("reconcile takes QRELS and RUN, or one LIST.")
    writing.write(options.output, _write(found, options))


def _write(found: Any, options: argparse.Namespace) -> str:
    whole: dict[str, Callable[[], str]] = {
        "json": lambda: as_json(found.to_dict()),
        "table": lambda: str(found),
        "markdown": found.markdown,
        "html": lambda: found._repr_html_() + "\n",
    }
    if options.format in whole:
        return whole[options.format]()
    return format_table(found.table(digits=choose_digits(options)), options)
