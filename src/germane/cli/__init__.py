"""The command line: arguments in, germane's functions, text out. One module per command."""

import argparse
import contextlib
import errno
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from germane._version import VERSION
from germane.cli.terminal import say, warn_in_lines
from germane.core.policy import RARE
from germane.errors import GermaneError, speak_as_command, suggest

DONE, WRONG, UNREAD = 0, 2, 128 + 13  # the last as if by SIGPIPE

GROUPS = {
    "every day": (
        *("evaluate", "score", "explain", "compare", "report", "gate", "check", "curve", "boxes"),
        "trec_eval",
    ),
    "check a number": ("reconcile", "identify", "audit", "verify", "dialects", "measures"),
    "judgments": ("trust", "judges", "next"),
    "teach": ("explorer", "simulate"),
}
COMMANDS = tuple(command for commands in GROUPS.values() for command in commands)
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
    from germane.cli.paths import check_paths

    if arguments[:1] == ["boxes"]:  # its verbs are commands
        from germane.cli.boxes import name_verb

        arguments = name_verb(arguments)
    parser = _make_parser(arguments)
    with speak_as_command(list(_list_options(parser))):
        options = parser.parse_args(arguments)
        check_paths(options)
        choose_output(options)
        status: int | None = options.run(options)
    return status or DONE


def _list_options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """List the options of a parser and of its commands, as they are typed."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield from _list_options(command)


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


RARE_OPTIONS = {
    *("input_format", "max_expansion", "max_line", "only", "ignore", "subtopic_weights"),
    *("duplicates", "missing", "unjudged", "relevant", "scores", "min_score", "max_distance"),
    *("catalogue", "seen", "distance", "checkpoint", "signature", "bounds", "rename", *RARE),
    *("spreadsheet", "record", "confidence", "family", "equivalence", "resamples", "seed", "most"),
    *(
        "max_size",
        "start",
        "dataset",
        "collapse",
        "depth",
        "iou",
        "images",
        "view",
        "judge_family",
        "detect",
        "strata",
        "title",
        "tolerance",
    ),
    # of boxes
    *("coordinates", "candidate", "reach", "equal_overlaps", "crowds", "difficult", "depth_of"),
    *("area_of", "found_area", "classes", "no_truth", "precision", "thresholds", "unverified"),
    *("flagged", "id_zero", "ap_depth", "sigmas", "areas"),
}
"""Options that --help leaves to --help-all."""
MOST_OPTIONS = 14  # of a command whose help shows them all


class _HelpAll(argparse.Action):
    """Prints the help with all options."""

    def __call__(self, parser: Any, *_: object) -> None:
        parser.show_all()
        parser.print_help()
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line, and takes no abbreviated options."""

    command = ""
    """The command that is run; the parser has all verbs of its module."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self._shows_all = False

    @property
    def _rare(self) -> list[argparse.Action]:
        """The options that --help leaves to --help-all."""
        optional = [action for action in self._actions if not action.required]
        rare = [action for action in optional if action.dest in RARE_OPTIONS]
        return rare if len(optional) > MOST_OPTIONS else []

    def add_help_for_all(self) -> None:
        """Add --help-all, once the parser has its options and where some of them are rare."""
        if self._rare:
            text = "show all options, with those that few people need"
            self.add_argument("--help-all", action=_HelpAll, nargs=0, help=text)

    def show_all(self) -> None:
        self._shows_all = True

    def format_help(self) -> str:
        """Format the help: the options that people use, or all of them."""
        if self._shows_all or not self._rare:
            return super().format_help()
        texts = [(action, action.help) for action in self._rare]
        titles = [(group, group.title) for group in self._action_groups[2:]]
        usage, self.usage = self.usage, self.usage or self._write_usage()
        for action, _ in texts:
            action.help = argparse.SUPPRESS
        for group, _ in titles:
            group.title = None
        try:
            return re.sub(r"\n\n(?=  -)", "\n", super().format_help())
        finally:
            self.usage = usage
            for action, text in texts:
                action.help = text
            for group, title in titles:
                group.title = title

    def _write_usage(self) -> str:
        """Write the usage with the arguments that a call needs."""
        needed = [
            action for action in self._actions if action.required or not action.option_strings
        ]
        formatter = self._get_formatter()
        formatter.add_usage(None, needed, [], prefix="")
        usage = formatter.format_help().strip().replace("%", "%%")
        return usage.replace(self.prog, "%(prog)s [options]", 1)

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
            parsers = {name: parser for choices in commands for name, parser in choices.items()}
            near = _advise(message.split()[2:], parsers, self.command)
            message += "." + (near or " Words that belong together need quotes, as in '0 0 1'.")
        say(f"{self.prog}: {message}  See: {self.prog} --help")
        self.exit(WRONG)


def _advise(
    unknown: list[str], parsers: Mapping[str, argparse.ArgumentParser], command: str
) -> str:
    """Say how an unknown option, whose value may follow it, is given here: that of a verb, of
    another tool, or one alike.
    """
    option, equals, value = unknown[0].partition("=")
    if not option.startswith("-"):
        return ""
    names = {name: set(_list_options(parser)) for name, parser in parsers.items()}
    if having := [name for name, options in names.items() if option in options]:
        return f" {option} is an option of {parsers[having[0]].prog}."
    options = names.get(command) or set().union(*names.values())
    if command.startswith("boxes"):
        from germane.boxes.foreign_options import translate_option

        for verb in (command, "boxes"):
            spellings = [name.removeprefix("--").replace("-", "_") for name in names[verb]]
            advice = translate_option(
                option, spellings, lambda name: f"--{name.replace('_', '-')} "
            )
            if advice:
                return f" {advice}" if verb == command else f" germane boxes has it: {advice}"
        return suggest(option, options)
    value = value if equals else "".join(unknown[1:2])
    return _suggest_argument(option, value, options) or suggest(option, options)


def _suggest_argument(option: str, value: str, options: Collection[str]) -> str:
    """Suggest the option that a usual name of other tools stands for, with its value."""
    from germane.evaluation.choices import advise_argument

    def write(argument: str) -> str | None:
        """Write the option of an argument, or of a single measure."""
        name = f"--{argument.replace('_', '-')}"
        has = [spelling for spelling in (name, name.removesuffix("s")) if spelling in options]
        return f"{has[0]} " if has else None

    number = float(value) if re.fullmatch(r"-?\d{0,9}\.?\d{1,9}", value, re.ASCII) else None
    plain = int(number) if number is not None and number.is_integer() else number
    return advise_argument(option.lstrip("-").replace("-", "_"), plain, write=write)


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
    parser.command = arguments[0] if arguments else ""
    verb = parser.command.partition(" ")[0]
    for name in (verb,) if verb in COMMANDS else COMMANDS:
        import_module(f"germane.cli.{name}").add(commands)
    for command in commands.choices.values():
        command.add_help_for_all()
    return parser
