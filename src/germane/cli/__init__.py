"""The command line: arguments in, the same verbs, text out. One module a command."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from germane._version import VERSION
from germane.cli import compare, curve, evaluate, explain, gate, measures, score, simulate
from germane.cli.terminal import say
from germane.errors import GermaneError, suggestion

DONE, WRONG = 0, 2

COMMANDS: dict[str, Callable[[Any], None]] = {
    "evaluate": evaluate.add,
    "score": score.add,
    "explain": explain.add,
    "curve": curve.add,
    "compare": compare.add,
    "gate": gate.add,
    "simulate": simulate.add,
    "measures": measures.add,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0 done, 1 a gate did not pass, 2 bad input."""
    if sys.stdout is None:  # closed by the shell
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # definitions hold Σ and ÷, whatever the locale
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = _parser().parse_args(arguments)
    status: int | None = DONE
    try:
        status = options.run(options)
        sys.stdout.flush()
    except GermaneError as error:
        say(f"germane: {error}")
        return WRONG
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(f"germane: standard output cannot be written ({error.strerror}).")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG
    except KeyboardInterrupt:
        say("germane: interrupted.")
        return 130
    return status or DONE


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line too, and options are written in full."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        if unknown := re.match(r"argument COMMAND: invalid choice: '([^']*)'", message):
            message = f"no command '{unknown[1]}'.{suggestion(unknown[1], COMMANDS)}"
        elif unknown := re.match(r"unrecognized arguments: (\S+)", message):
            options = {name for action in self._subcommand_options() for name in action}
            near = suggestion(unknown[1], options) if unknown[1].startswith("-") else ""
            message += "." + (near or " Words that belong together need quotes, as in '0 0 1'.")
        say(f"{self.prog}: {message}  See: {self.prog} --help")
        self.exit(WRONG)

    def _subcommand_options(self) -> list[list[str]]:
        commands = [a.choices for a in self._actions if isinstance(a.choices, dict)]
        parsers = [parser for choices in commands for parser in choices.values()]
        return [list(action.option_strings) for parser in parsers for action in parser._actions]


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="germane",
        description="Evaluate ranked lists, with the definition of every number.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n"
        "  germane evaluate qrels.txt bm25.run dense.run -m 'AP@10 nDCG@10'\n"
        "  germane score '0 0 1 0 1 0 0 1 0 0' --relevant 3 -m 'AP@10 AP(norm=found)@10'\n"
        "  germane explain '0 0 1 0 1 0 0 1 0 0' --relevant 3 -m AP@10\n"
        "  germane measures AP",
    )
    parser.add_argument("--version", action="version", version=f"germane {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in COMMANDS.values():
        add(commands)
    return parser
