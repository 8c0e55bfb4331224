"""germane reconcile: find the definition behind a reported number."""

import argparse
from typing import Any

from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.cli.terminal import make_progress_line
from germane.errors import InputError


def add(commands: Any) -> None:
    command = commands.add_parser(
        "reconcile",
        help="find the definition behind a reported number",
        description=(
            "Find the definitions that give a reported number "
            "on the same data, or the nearest ones."
        ),
        usage=(
            "%(prog)s QRELS RUN --reported NUMBER [options]\n"
            "       %(prog)s QRELS RUN... --table TABLE [options]\n"
            "       %(prog)s LIST [--relevant R] --reported NUMBER [options]"
        ),
    )
    command.set_defaults(run=run, query=None)  # check_list looks for a query
    arguments.add_files_or_list(command)
    text = "the number as it was written: 0.62 is less precise than 0.620; 62%% is 0.62"
    command.add_argument("--reported", metavar="NUMBER", help=text)
    text = (
        "a reported table, whose rows are the runs, by the names of their files: CSV, TSV,"
        " JSON, Markdown or LaTeX"
    )
    command.add_argument("--table", metavar="TABLE", type=InputPath, help=text)
    text = "the measure that a column of the table stands for, as in 'MAP=AP@10'; may be repeated"
    command.add_argument("--names", metavar="NAME=MEASURE", action="append", default=[], help=text)
    text = "the measure that was reported (default: AP@10)"
    command.add_argument("-m", "--measure", default="AP@10", help=text)
    text = "lines 'query value', or the output of trec_eval -q for one measure"
    command.add_argument("--reported-per-query", metavar="FILE", type=InputPath, help=text)
    arguments.add_shared(command, lists=True, dialect=False)
    arguments.add_catalogue(command)


def run(options: argparse.Namespace) -> None:
    from germane.forensics.reconcile import reconcile  # its import takes long

    if (options.table is None) == (options.reported is None):
        raise InputError("reconcile takes --reported NUMBER, or --table TABLE.")
    if options.table is not None:
        arguments.write_answer(options, _reconcile_table(options))
        return
    per_query = options.reported_per_query
    reported = {
        "reported": options.reported,
        "measure": options.measure,
        "reported_per_query": per_query,
    }
    match options.given:
        case [listed]:
            arguments.check_list(options)
            reconciliation = reconcile(
                arguments.read_grades(listed), **reported, relevant=options.relevant
            )
        case [qrels, ranked]:
            policy = arguments.collect_policy(options)
            with make_progress_line("reconcile:") as progress:
                reconciliation = reconcile(qrels, ranked, **reported, progress=progress, **policy)
        case _:
            raise InputError("reconcile takes QRELS and RUN, or one LIST.")
    arguments.write_answer(options, arguments.name_relevant(reconciliation))


def _reconcile_table(options: argparse.Namespace) -> Any:
    from germane.forensics.reconcile import reconcile_table

    if options.reported_per_query:
        raise InputError(
            "--reported-per-query goes with --reported; a table has the means of runs."
        )
    if len(options.given) < 2:
        raise InputError("reconcile --table takes QRELS and one RUN or more.")
    qrels, *paths = options.given
    runs = arguments.read_runs(qrels, paths)
    policy = arguments.collect_policy(options)
    measures = dict(map(arguments.read_pair, options.names)) or None
    with make_progress_line("reconcile:") as progress:
        return reconcile_table(
            qrels, runs, options.table, measures=measures, progress=progress, **policy
        )
