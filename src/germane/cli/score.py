"""germane score: evaluate one list that you type."""

import argparse
from typing import Any

from germane._version import VERSION
from germane.cli import arguments
from germane.evaluation.api import score
from germane.evaluation.layout import format_value
from germane.output import writing
from germane.output.formatting import add_schema
from germane.output.tables import Table


def add(commands: Any) -> None:
    command = commands.add_parser(
        "score",
        help="evaluate one list that you type",
        description=(
            "Evaluate one list, given as the grades of its items in the order of their ranks."
        ),
    )
    command.set_defaults(run=run)
    command.add_argument("relevance", metavar="LIST", help="grades such as '0 0 1 0 1'")
    says = "number of all relevant items (default: those in the list)"
    arguments.add_number(command, "--relevant", "R", arguments.read_whole, says)
    arguments.add_measures(command, "AP")
    arguments.add_output(command)


def run(options: argparse.Namespace) -> None:
    grades, measures = arguments.read_grades(options.relevance), arguments.parse_measures(options)
    writing.check(options.output)
    values = [(m, score(grades, m, relevant=options.relevant)) for m in measures]

    def make_table(digits: int | None) -> Table:
        cells = tuple((str(m), format_value(v, m, digits), m.definition) for m, v in values)
        return Table(("measure", "value", "definition"), cells, left=(2,))

    def as_dict() -> dict[str, Any]:
        rows = [{"measure": str(m), "value": v, "definition": m.definition} for m, v in values]
        return add_schema({"germane": VERSION, "measures": rows})

    arguments.write_result(options, make_table, as_dict)
