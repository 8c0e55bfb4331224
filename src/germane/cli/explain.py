"""germane explain: show where a number comes from, rank by rank."""

import argparse
import warnings
from typing import Any

from germane.cli import arguments
from germane.cli.paths import OutputPath
from germane.cli.terminal import as_json, make_progress_line
from germane.errors import GermaneWarning, InputError
from germane.evaluation.api import evaluate
from germane.evaluation.whole_lists import CatalogueResult
from germane.explanation.explain import explain
from germane.measures import CATALOGUE
from germane.measures.measure import Measure
from germane.output import writing
from germane.teaching.animation import MOST, animate
from germane.teaching.animation import check as check_animation


def add(commands: Any) -> None:
    command = commands.add_parser(
        "explain",
        help="show where a number comes from, rank by rank",
        description="Show where the numbers of one query, or of one list, come from, rank by rank.",
        usage=(
            "%(prog)s QRELS RUN --query ID [options]\n       %(prog)s LIST [--relevant R] [options]"
        ),
    )
    command.set_defaults(run=run)
    arguments.add_files_or_list(command)
    command.add_argument("--query", metavar="ID", help="the query to explain")
    arguments.add_measures(command, "AP")
    arguments.add_texts(command)
    arguments.add_shared(command, lists=True)
    arguments.add_catalogue(command)
    text = f"also write an animation of up to {MOST} measures: a .gif, .svg or .html file"
    command.add_argument("--animate", metavar="FILE", type=OutputPath, help=text)


def run(options: argparse.Namespace) -> None:
    measures, names = arguments.parse_measures(options), arguments.read_measures(options)
    if len(options.given) == 2 and {measure.name for measure in measures} <= {
        row.name for row in CATALOGUE
    }:
        _explain_catalogue(options, measures)
        return
    if options.animate is not None:
        check_animation(options.animate, measures=len(measures))
    match options.given:
        case [listed]:
            arguments.check_list(options)
            explanation = explain(
                arguments.read_grades(listed), names, relevant=options.relevant,
                **arguments.collect_given(options, ("dialect",)),
                queries=options.queries, items=options.items,
            )  # fmt: skip
        case [qrels, run]:
            [run] = arguments.read_runs(qrels, [run]).values()  # of standard input there is one
            with make_progress_line() as progress:
                explanation = explain(
                    qrels, run, names, query=options.query,
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
    arguments.write_found(options, arguments.name_relevant(explanation))


def _explain_catalogue(options: argparse.Namespace, measures: tuple[Measure, ...]) -> None:
    """Show which items make measures of all lists."""
    if options.query is not None or options.animate is not None:
        raise InputError(
            f"{measures[0]} is about all lists at once; leave out --query and --animate."
        )
    with make_progress_line() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)
        policy = arguments.collect_policy(options)
        qrels, run = options.given
        result = evaluate(qrels, run, measures, progress=progress, **policy)
    explanations = [
        value.explain() for value in result.values() if isinstance(value, CatalogueResult)
    ]
    if options.format == "json":
        writing.write(
            options.output, as_json([explanation.to_dict() for explanation in explanations])
        )
        return
    digits = arguments.choose_digits(options)
    text = "\n".join(
        arguments.format_table(explanation.table(digits=digits), options)
        for explanation in explanations
    )
    writing.write(options.output, text)
