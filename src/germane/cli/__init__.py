"""The command line: arguments in, germane's functions, text out.

``options`` has a row for each argument, ``parser`` makes the commands' arguments from the functions
and these rows, ``terminal`` writes what comes out, and a module for each group has its commands.
"""

import argparse
import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from germane._version import VERSION
from germane.cli.terminal import check_paths, choose_output, say, warn_in_lines
from germane.errors import GermaneError, speak_as_command

if TYPE_CHECKING:
    from germane.cli.parser import Parser

DONE, WRONG, UNREAD = 0, 2, 128 + 13  # the last as if by SIGPIPE

GROUPS: dict[str, dict[str, str]] = {
    "every day": {
        "evaluate": "evaluate runs",
        "score": "evaluate one list that you type",
        "explain": "show where a number comes from, rank by rank",
        "compare": "compare runs on the same queries: differences, intervals, significance",
        "report": "write an HTML page about runs",
        "gate": "exit with status 1 if a run is worse than its baseline",
        "check": "find problems that can distort results: ids, duplicates, ties, coverage, grades",
        "curve": "draw or print precision-recall curves",
        "boxes": "evaluate object detectors",
        "trec_eval": "a drop-in for NIST's trec_eval, with its flags and its output",
    },
    "check a number": {
        "reconcile": "find the definition behind a reported number",
        "identify": "find the definition that a function or a program computes",
        "audit": "find numbers in a published table that contradict each other",
        "plan": "say which differences the queries of a collection can show",
        "verify": "recompute the numbers of a record, and say what differs",
        "dialects": "list the conventions of other tools, or compare their values on a run",
        "measures": "list the measures, or define one",
    },
    "judgments": {
        "trust": "correct numbers from a model's judgments by means of people's judgments",
        "judges": "evaluate a run by several judges, and measure their agreement",
        "next": "choose the items to judge next",
    },
    "teach": {
        "explorer": "write an HTML page on which to try every definition on a list or an image",
        "simulate": "run experiments on the measures themselves",
    },
}
COMMANDS = {command: summary for group in GROUPS.values() for command, summary in group.items()}
_MODULES = {
    **{
        command: module
        for group, module in zip(
            GROUPS.values(), ("everyday", "occasional", "occasional", "occasional"), strict=True
        )
        for command in group
        if command != "trec_eval"  # it reads its arguments itself
    },
    "boxes": "boxes",
}
"""The module of each command, imported when it is needed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0: done; 1: a gate did not pass, or a record differs; 2: bad input, or output that cannot be
    written; 141: the reader of its output closed it. ``trec_eval`` reads its own arguments and has
    its own exit statuses.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with _stop_on_signals(), warn_in_lines():
        return _run_guarded(lambda: _run_command(arguments))


def _run_command(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["trec_eval"]:
        return _run_trec_eval(arguments[1:])
    if arguments[:1] == ["boxes"]:  # its verbs are commands
        from germane.cli.boxes import name_verb

        arguments = name_verb(arguments)
    from germane.cli.parser import list_options

    parser = _make_parser(arguments)
    with speak_as_command(list(list_options(parser))):
        options = parser.parse_args(arguments)
        check_paths(options)
        choose_output(options)
        status: int | None = options.perform(options)
    return status or DONE


def _run_guarded(run: Callable[[], int]) -> int:
    """Run with output in UTF-8, and print every error that a user can cause as one line."""
    if sys.stdout is None:  # closed by the shell: writing must fail, not be lost
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # definitions hold Σ and ÷, whatever the locale
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = run()
        sys.stdout.flush()
    except GermaneError as error:
        say(f"germane: {error}")
        return WRONG
    except BrokenPipeError:  # the reader (head, less) has closed it
        _discard_output()
        return UNREAD
    except OSError as error:
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        say(f"germane: standard output cannot be written ({reason}).")
        _discard_output()
        return WRONG
    except MemoryError:
        say("germane: there is not enough memory for this data.")
        return WRONG
    except KeyboardInterrupt:
        say("germane: interrupted.")
        return 130
    else:
        return status


def _discard_output() -> None:
    """Discard buffered output, so that it does not fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[None]:
    """Turn signals that end the process into SystemExit, so that nothing is left half done."""

    def stop(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    ends = []
    if threading.current_thread() is threading.main_thread():  # no other thread may set handlers
        ends = [number for number in _ENDS if signal.getsignal(number) == signal.SIG_DFL]
    for number in ends:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ends:
            signal.signal(number, signal.SIG_DFL)


_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the longest command and its help on one line; argparse does not count their indent."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 4 + max(map(len, COMMANDS))

    def _format_action(self, action: argparse.Action) -> str:
        """Put the commands under the headings of their groups."""
        text = super()._format_action(action)
        if isinstance(action.choices, dict) and set(COMMANDS) <= set(action.choices):
            for heading, (first, *_) in GROUPS.items():
                text = text.replace(f"\n    {first} ", f"\n  {heading}:\n    {first} ", 1)
        return text


class _Version(argparse.Action):
    """Prints the version, and the kernel in use."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from germane.kernel.library import name_kernel

        print(f"germane {VERSION}\nkernel: {name_kernel()}", flush=True)
        parser.exit()


def _make_parser(arguments: Sequence[str]) -> "Parser":
    """Make the parser of the command that is run, or of all commands; without one, list them."""
    from germane.cli.parser import Parser

    parser = Parser(
        prog="germane",
        description="Evaluate ranked lists, with the definition of every number.",
        formatter_class=_Formatter,
        epilog=(
            "examples:\n"
            "  germane evaluate qrels.txt bm25.run dense.run -m 'AP@10 nDCG@10'\n"
            "  germane score '0 0 1 0 1 0 0 1 0 0' --relevant 3 -m 'AP@10 AP(norm=found)@10'\n"
            "  germane explain '0 0 1 0 1 0 0 1 0 0' --relevant 3 -m AP@10\n"
            "  germane measures AP"
        ),
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parser.command, parser.advise_command = arguments[0] if arguments else "", advise_command
    name = parser.command.partition(" ")[0]
    if name in COMMANDS:
        add = partial(_add_commands, commands, name)
        add(parser.command)
        parser.add_siblings = add
        return parser
    is_needed = bool({*COMMANDS} & {*arguments})  # an option before the command is one of which?
    for name, summary in COMMANDS.items():
        if is_needed and name in _MODULES:
            _add_commands(commands, name)
        else:
            commands.add_parser(name, help=summary)
    return parser


def _add_commands(commands: Any, name: str, only: str = "") -> None:
    """Add the commands of a name, which are several for boxes, or ``only`` one of them."""
    from germane.cli.parser import add_command

    for command, row in import_module(f"germane.cli.{_MODULES[name]}").COMMANDS.items():
        is_wanted = command == only or not only
        if command.partition(" ")[0] == name and is_wanted and command not in commands.choices:
            add_command(commands, command, row, COMMANDS.get(command))


def advise_command(word: str, group: str = "") -> str:
    """Advise what to type instead of a word that is no command, or no verb of ``boxes``.

    That is the command of a function, that of the other group, or the nearest one.

    >>> from germane.cli import advise_command
    >>> advise_command("confusion"), advise_command("spread", "boxes")
    (" Type 'germane boxes confusion'.", " Type 'germane boxes dialects'.")
    """
    from difflib import get_close_matches

    from germane.cli.parser import list_paths

    commands: dict[str, dict[str, str]] = {"": {name: name for name in COMMANDS}, "boxes": {}}
    for module in dict.fromkeys(_MODULES.values()):
        for command, row in import_module(f"germane.cli.{module}").COMMANDS.items():
            words = [path.rpartition(".")[2] for path in list_paths(command, row)]
            for name in (*words, command.rpartition(" ")[2]):
                commands["boxes" if module == "boxes" else ""].setdefault(name, command)
    own, other = commands[group], commands["" if group else "boxes"]
    name = word.replace("-", "_")
    if command := own.get(name) or other.get(name):
        return f" Type 'germane {command}'."
    near = get_close_matches(name, own, 1) or get_close_matches(name, () if group else other, 1)
    command = own.get(near[0]) or other[near[0]] if near else ""
    return f" Did you mean '{'germane ' * bool(group)}{command}'?" if command else ""


def _run_trec_eval(arguments: Sequence[str]) -> int:
    """Do what NIST's trec_eval does with the arguments, and return its exit status."""
    from germane.trec_eval import TrecEvalError, command_line, evaluate
    from germane.trec_eval.command_line import parse_arguments

    def note(text: str) -> None:
        say(f"germane trec_eval: {text}")

    try:
        request = parse_arguments(arguments)
        if request.wanted == "version":
            say(f"germane {VERSION}, as trec_eval 10.0")
        elif request.wanted == "help":
            sys.stdout.write(command_line.write_help(request))
        else:
            sys.stdout.flush()
            for text in evaluate(request, note=note):  # an id that is not UTF-8 stays as it is
                sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    except TrecEvalError as stop:
        note(str(stop))
        return stop.status
    return 0
