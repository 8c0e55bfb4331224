"""germane explorer: one HTML page to try every definition on a list, or on boxes."""

import argparse
from typing import Any

from germane.cli.paths import OutputPath
from germane.output import writing


def add(commands: Any) -> None:
    command = commands.add_parser(
        "explorer",
        help="write one HTML page to try every definition on a list or an image",
        description=(
            "Write one HTML page that needs no network: move, grade and tie the items of a list, or"
            " the boxes of an image, and see each measure's terms, value and calculation."
        ),
    )
    command.set_defaults(run=run)
    text = "the file to write (default: explorer.html)"
    command.add_argument(
        "-o", "--output", metavar="FILE", type=OutputPath, default="explorer.html", help=text
    )


def run(options: argparse.Namespace) -> None:
    from germane.teaching.explorer import explorer  # its import takes long

    writing.write(options.output, explorer().html)
