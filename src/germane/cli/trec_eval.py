"""germane trec_eval, or germane-trec-eval: NIST's program, its flags and its output."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from germane._version import VERSION
from germane.cli.terminal import say
from germane.trec_eval import TrecEvalError, columns, evaluate, options

NAME = "trec_eval"


def add(commands: Any) -> None:
    """List the command in germane's help; ``run`` reads its arguments."""
    command = commands.add_parser(
        NAME, help="replace NIST's trec_eval: its flags, its output", add_help=False
    )
    command.add_argument("arguments", nargs=argparse.REMAINDER)


def run(arguments: Sequence[str]) -> int:
    """Do what trec_eval does with the arguments, and return its exit status."""
    try:
        request = options.parse_arguments(arguments)
        if request.wanted == "version":
            say(f"germane {VERSION}, as trec_eval 10.0")
        elif request.wanted == "help":
            sys.stdout.write(columns.write_help(request))
        else:
            sys.stdout.flush()
            for text in evaluate(request, note=_say):  # an id that is not UTF-8 stays as it is
                sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    except TrecEvalError as stop:
        _say(str(stop))
        return stop.status
    return 0


def _say(text: str) -> None:
    say(f"germane {NAME}: {text}")
