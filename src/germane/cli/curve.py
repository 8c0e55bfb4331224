"""germane curve: precision and recall, as numbers or as a picture."""

import argparse
from collections.abc import Mapping
from typing import Any, get_args

from germane import plot
from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.cli.terminal import make_progress_line
from germane.errors import InputError
from germane.evaluation.opening import open_data
from germane.explanation.curves import RULES, MeanPRCurve, PRCurve, Start, check_rule
from germane.explanation.explain import mean_pr_curve, pr_curve
from germane.output import pictures
from germane.output.tables import add_schema, stack_tables


def add(commands: Any) -> None:
    command = commands.add_parser(
        "curve",
        help="draw or print precision over recall",
        description=(
            "Print the precision-recall curve of one query, of one list, or averaged over "
            "queries, and the area under it. Draw it with -o FILE.svg, .png or .pdf."
        ),
        usage=(
            "%(prog)s QRELS RUN... [--query ID] [options]\n"
            "       %(prog)s LIST [--relevant R] [options]"
        ),
    )
    command.set_defaults(run=run)
    command.add_argument(
        "given",
        metavar="QRELS RUN... | LIST",
        type=InputPath,
        nargs="+",
        help="files, or grades such as '0 0 1'",
    )
    command.add_argument(
        "--query", metavar="ID", help="one query's curve (default: the mean over queries)"
    )
    text = "how the area is computed (default: step, which is AP)"
    command.add_argument("--rule", metavar="|".join(map(str, RULES)), default="step", help=text)
    text = f"where one query's curve starts: {', '.join(get_args(Start))} (default: (0,1))"
    command.add_argument("--start", metavar="POINT", default="(0,1)", help=text)
    arguments.add_number(command, "--points", "11|101", int, "recall levels of a mean curve", 11)
    text = "the lowest grade that counts as relevant"
    arguments.add_number(command, "--rel", "GRADE", float, text, 1.0)
    arguments.add_shared(command, lists=True, pictures=pictures.FORMATS)


def run(options: argparse.Namespace) -> None:
    rule = check_rule(int(options.rule) if options.rule.isdigit() else options.rule)
    picture = arguments.is_picture(options)
    if picture:
        pictures.import_matplotlib()
    curves = _make_curves(options)
    only = next(iter(curves.values()))
    if picture and len(curves) == 1 and isinstance(only, PRCurve):
        plot.PRCurveDisplay(only, rule=rule).save(options.output)
    elif picture:
        plot.PRCurvesDisplay(curves, rule=rule).save(options.output)
    else:
        arguments.write_result(
            options,
            lambda digits: stack_tables(
                "run", {name: curve.table(digits=digits) for name, curve in curves.items()}
            ),
            lambda: add_schema(
                {"curves": [{"name": name, **curve.to_dict()} for name, curve in curves.items()]}
            ),
        )


def _make_curves(options: argparse.Namespace) -> Mapping[str, PRCurve | MeanPRCurve]:
    rel, start, policy = options.rel, options.start, arguments.collect_policy(options)
    if len(options.given) == 1:
        arguments.check_list(options)
        grades = arguments.read_grades(options.given[0])
        curve = pr_curve(grades, relevant=options.relevant, rel=rel, start=start)
        return {"list": arguments.name_relevant(curve)}
    if isinstance(options.relevant, int):
        raise InputError("--relevant is for the grades of one list; qrels say what is relevant.")
    path, *paths = options.given
    runs = arguments.read_runs(path, paths)
    with make_progress_line() as progress:
        data, shared = open_data(path, policy), {"rel": rel, "progress": progress}
        if options.query is None:
            return {
                name: mean_pr_curve(data, run, points=options.points, **shared)
                for name, run in runs.items()
            }
        return {
            name: pr_curve(data, run, query=options.query, start=start, **shared)
            for name, run in runs.items()
        }
