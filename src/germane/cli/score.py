"""germane score: measure one list typed at the prompt."""

import argparse
from typing import Any

from germane._version import VERSION
from germane.cli.arguments import (
    add_measures,
    add_output,
    add_relevant,
    choose_digits,
    format_table,
    parse_measures,
    read_grades,
)
from germane.cli.terminal import as_json
from germane.evaluation.api import score
from germane.evaluation.result import format_value
from germane.output import writing
from germane.output.formatting import add_schema
from germane.output.tables import Table


def add(commands: Any) -> None:
    command = commands.add_parser(
        "score",
        help="measure one list typed at the prompt",
        description="Measure one list, given as the relevance grades of its items in rank order.",
    )
    command.set_defaults(run=run)
    command.add_argument("relevance", metavar="LIST", help="grades such as '0 0 1 0 1'")
    add_relevant(command)
    add_measures(command, "AP")
    add_output(command)


def run(options: argparse.Namespace) -> None:
    grades = read_grades(options.relevance)
    writing.check(options.output)
    values = [(m, score(grades, m, relevant=options.relevant)) for m in parse_measures(options)]
    if options.format == "json":
        rows = [{"measure": str(m), "value": v, "definition": m.definition} for m, v in values]
        writing.write(options.output, as_json(add_schema({"germane": VERSION, "measures": rows})))
        return
    digits = choose_digits(options)
    cells = tuple((str(m), format_value(v, m, digits), m.definition) for m, v in values)
    writing.write(
        options.output,
        format_table(Table(("measure", "value", "definition"), cells, left=(2,)), options),
    )
