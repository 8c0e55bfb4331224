"""germane measures: list the measures, or define one."""

import argparse
from typing import Any

from germane.dialects.parsing import parse
from germane.measures import CATALOGUE, TABLE
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
            ("germane measures NAME gives the full definition.",),
            left=(1,),
        )
        print(table.text(), end="")
    else:
        print(parse(options.name).explanation, end="")
