"""The command line: arguments in, germane's functions, text out. One module per command."""

import argparse
import contextlib
import errno
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

from germane._version import VERSION
from germane.cli.terminal import as_options, say, warn_in_lines
from germane.errors import GermaneError, suggest

DONE, WRONG, UNREAD = 0, 2, 128 + 13  # the last as if by SIGPIPE

COMMANDS = (
    "evaluate",
    "check",
    "score",
    "explain",
    "curve",
    "compare",
    "report",
    "explorer",
    "gate",
    "verify",
    "trust",
    "judges",
    "next",
    "simulate",
    "measures",
    "dialects",
    "reconcile",
    "audit",
    "identify",
    "boxes",
    "trec_eval",
)
"""Each command is a module of this package, imported when it is needed."""


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
        from germane.cli import trec_eval

        return trec_eval.run(arguments[1:])
    from germane.cli.arguments import choose_output

    if arguments[:1] == ["boxes"]:  # its verbs are commands
        from germane.cli.boxes import name_verb

        arguments = name_verb(arguments)
    options = _make_parser(arguments).parse_args(arguments)
    choose_output(options)
    status: int | None = options.run(options)
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
        say(f"germane: {as_options(str(error))}")
        return WRONG
    except BrokenPipeError:  # the reader (head, less) has closed it
        _discard_output()
        return UNREAD
    except OSError as error:
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        say(f"germane: standard output cannot be written ({reason}).")
        _discard_output()
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


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line, and takes no abbreviated options."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help and version like other output; argparse would ignore a failed write."""
        if file is not sys.stdout:
            super()._print_message(message, file)
            return
        file.write(message)
        file.flush()

    def error(self, message: str) -> NoReturn:
        if unknown := re.match(r"argument COMMAND: invalid choice: '([^']*)'", message):
            message = f"no command '{unknown[1]}'.{suggest(unknown[1], COMMANDS)}"
        elif unknown := re.match(r"unrecognized arguments: (\S+)", message):
            commands = [a.choices for a in self._actions if isinstance(a.choices, dict)]
            parsers = [parser for choices in commands for parser in choices.values()]
            options = {name for one in parsers for a in one._actions for name in a.option_strings}
            near = suggest(unknown[1], options) if unknown[1].startswith("-") else ""
            message += "." + (near or " Words that belong together need quotes, as in '0 0 1'.")
        say(f"{self.prog}: {message}  See: {self.prog} --help")
        self.exit(WRONG)


class _Version(argparse.Action):
    """Prints the version, and the kernel in use."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from germane.kernel.library import name_kernel

        print(f"germane {VERSION}\nkernel: {name_kernel()}", flush=True)
        parser.exit()


def _make_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Make the parser of the command asked for, or of all commands."""
    parser = _Parser(
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
    asked = arguments[0].partition(" ")[0] if arguments else ""
    for name in (asked,) if asked in COMMANDS else COMMANDS:
        import_module(f"germane.cli.{name}").add(commands)
    return parser
