"""germane measures: list the measures, or define one."""

import argparse
from typing import Any

from germane.dialects.names import parse
from germane.errors import MeasureError
from germane.measures import CATALOGUE, TABLE
from germane.measures.box_names import is_of_boxes
from germane.measures.measure import Measure
from germane.output.tables import Table


def add(commands: Any) -> None:
    command = commands.add_parser(
        "measures",
        help="list the measures, or define one",
        description="List every measure, or give the full definition of one.",
    )
    command.set_defaults(run=run)
    command.add_argument("name", metavar="NAME", nargs="?", help="such as AP or 'AP(norm=R)@10'")


def run(options: argparse.Namespace) -> None:
    if options.name is None:
        cells = tuple((str(Measure(row.name)), row.title) for row in (*TABLE, *CATALOGUE))
        table = Table(
            ("measure", "is"),
            cells,
            ("germane measures NAME gives the full definition, of boxes, too: AP50",),
            left=(1,),
        )
        print(table.text(), end="")
    else:
        print(_define(options.name), end="")


def _define(name: str) -> str:
    """Define a measure of ranked lists or, if the name is one of these, of detected boxes."""
    try:
        return parse(name).explanation
    except MeasureError:
        if not is_of_boxes(name):
            raise
    from germane.boxes.box_measures import parse_measure  # imported late: few ask for one

    return parse_measure(name).explanation
