"""germane curve: precision and recall, as numbers or as a picture."""

import argparse
from collections.abc import Mapping
from typing import Any, get_args

from germane import plot
from germane.cli.arguments import (
    READING,
    add_output,
    add_policy,
    add_reading,
    check_list,
    choose_digits,
    collect_policy,
    format_table,
    is_picture,
    read_grades,
    read_runs,
)
from germane.cli.terminal import as_json, make_progress_line
from germane.errors import InputError
from germane.evaluation.api import read_qrels
from germane.explanation.curves import mean_pr_curve, pr_curve
from germane.explanation.precision_recall import RULES, MeanPRCurve, PRCurve, Start, check_rule
from germane.output import pictures, writing
from germane.output.formatting import add_schema
from germane.output.tables import stack_tables


def add(commands: Any) -> None:
    command = commands.add_parser(
        "curve",
        help="precision and recall of one query, or averaged, as numbers or as a picture",
        description="The precision-recall curve of one query, of one list, or averaged over queries, "
        "and the area under it. With -o FILE.svg, .png or .pdf it is drawn.",
        usage="%(prog)s QRELS RUN... [--query ID] [options]\n"
        "       %(prog)s LIST [--relevant R] [options]",
    )
    command.set_defaults(run=run)
    command.add_argument(
        "given", metavar="QRELS RUN... | LIST", nargs="+", help="files, or grades such as '0 0 1'"
    )
    command.add_argument(
        "--query", metavar="ID", help="one query's curve (default: the mean over queries)"
    )
    command.add_argument(
        "--rule",
        metavar="|".join(map(str, RULES)),
        default="step",
        help="how the area is taken (default: step, which is AP)",
    )
    command.add_argument(
        "--start",
        metavar="POINT",
        default="(0,1)",
        help=f"where one query's curve starts: {', '.join(get_args(Start))} (default: (0,1))",
    )
    command.add_argument(
        "--points",
        metavar="11|101",
        type=int,
        default=11,
        help="recall levels of a mean curve (default: 11)",
    )
    command.add_argument(
        "--rel",
        metavar="GRADE",
        type=float,
        default=1.0,
        help="the lowest grade that counts as relevant (default: 1)",
    )
    add_output(command)
    add_reading(command)
    add_policy(command, lists=True)


def run(options: argparse.Namespace) -> None:
    rule = check_rule(int(options.rule) if options.rule.isdigit() else options.rule)
    writing.check(options.output, options.given if len(options.given) > 1 else ())
    picture = is_picture(options.output)
    if picture:
        pictures.check_suffix(options.output)
    curves = _make_curves(options)
    if picture:
        only = next(iter(curves.values()))
        if len(curves) == 1 and isinstance(only, PRCurve):
            plot.PRCurveDisplay(only, rule=rule).save(options.output)
        else:
            plot.PRCurvesDisplay(curves, rule=rule).save(options.output)
    elif options.format == "json":
        runs = [{"name": name, **curve.to_dict()} for name, curve in curves.items()]
        writing.write(options.output, as_json(add_schema({"curves": runs})))
    else:
        tables = {
            name: curve.table(digits=choose_digits(options)) for name, curve in curves.items()
        }
        writing.write(options.output, format_table(stack_tables("run", tables), options))


def _make_curves(options: argparse.Namespace) -> Mapping[str, PRCurve | MeanPRCurve]:
    rel, start, policy = options.rel, options.start, collect_policy(options)
    if len(options.given) == 1:
        check_list(options)
        grades = read_grades(options.given[0])
        return {"list": pr_curve(grades, relevant=options.relevant, rel=rel, start=start)}
    if isinstance(options.relevant, int):
        raise InputError("--relevant is for the grades of one list; qrels say what is relevant.")
    path, *paths = options.given
    runs = read_runs(path, paths)
    with make_progress_line() as progress:
        told = {name: policy[name] for name in ("duplicates", *READING)}
        qrels = read_qrels(path, **told, progress=progress)
        if options.query is not None:
            return {
                name: pr_curve(
                    qrels, path, query=options.query, rel=rel, start=start,
                    progress=progress, **policy,
                )
                for name, path in runs.items()
            }  # fmt: skip
        return {
            name: mean_pr_curve(
                qrels, path, points=options.points, rel=rel, progress=progress, **policy
            )
            for name, path in runs.items()
        }
