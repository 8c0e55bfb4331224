"""germane identify: find the definition that a function or a program computes."""

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any

from germane.cli import arguments
from germane.cli.paths import CommandLine
from germane.core.policy import RARE_WORDS, WORDS
from germane.errors import InputError, clip, offer, write_error
from germane.output import writing

NONE = 1
_FORMS = "grades|ids|graded|lists|arrays|matrix|dicts|frames|trec"
_POLICY = ("ties", "missing", "no_relevant", "duplicates", "repeated")


def add(commands: Any) -> None:
    command = commands.add_parser(
        "identify",
        help="find the definition that a function or a program computes",
        description=(
            "Ask a function, or a program in any language, about small, chosen data, and name the"
            " definition that gives all of its values. The exit status is 0 if one was found, 1 if"
            " none was, and 2 if the function could not be asked."
        ),
        usage=(
            "%(prog)s MODULE:FUNCTION --takes FORM [-m MEASURE] [options]\n"
            "       %(prog)s --command 'PROGRAM {qrels} {run}' [-m MEASURE] [options]"
        ),
    )
    command.set_defaults(run=run)
    text = "a function of a module, or of a file as in metrics.py:my_map"
    command.add_argument("function", metavar="MODULE:FUNCTION", nargs="?", help=text)
    text = (
        "a program and its arguments, with {qrels} and {run} for the paths of two files; it is"
        " run without a shell"
    )
    command.add_argument("--command", metavar="COMMAND", type=CommandLine, help=text)
    text = "what it is said to compute, such as AP@10 (default: any measure is tried)"
    command.add_argument("-m", "--measure", help=text)
    command.add_argument("--takes", metavar=_FORMS, help="the form of the function's data")
    text = (
        r"where the number stands in the program's output: 'map\s+all\s+(\S+)'; with the groups"
        r" query and value, "
        "the number of each query"
    )
    command.add_argument("--pattern", metavar="REGEX", help=text)
    text = (
        "values are rounded to so many decimals (default: as many as a program prints; none for"
        " a function)"
    )
    arguments.add_number(command, "--decimals", "N", arguments.read_whole, text)
    command.add_argument(
        "--tolerance",
        metavar="T",
        type=arguments.read_fraction,
        default=1e-9,
        help="largest relative difference of equal values (default: 1e-9)",
    )
    text = "seconds for a call of a program"
    arguments.add_number(command, "--time-limit", "S", arguments.read_fraction, text, 60.0)
    text = "exit with status 1, too, if a definition was found that is not the one of -m"
    command.add_argument("--assert", dest="asserts", action="store_true", help=text)
    text = "names of the columns of frames"
    command.add_argument("--columns", metavar="PART=NAME,…", type=arguments.read_columns, help=text)
    arguments.add_seed(command)
    policy = command.add_argument_group(
        "conventions that the definition has to have (default: any)"
    )
    for name in _POLICY:
        words = {**WORDS, **RARE_WORDS}[name]
        policy.add_argument(f"--{name.replace('_', '-')}", metavar="|".join(words))
    arguments.add_output(command)


def run(options: argparse.Namespace) -> int:
    from germane.forensics.identify import identify  # its import takes long

    function, takes = _find_function(options)
    identification = identify(
        function,
        options.measure,
        takes=takes,
        tolerance=options.tolerance,
        decimals=options.decimals,
        columns=options.columns,
        rng=options.seed,
        **arguments.collect_given(options, _POLICY),
    )
    if options.function is not None:
        writing.check(options.output, _list_modules(options.function))
    arguments.write_answer(options, identification)
    wrong = options.asserts and identification.holds is False
    return 0 if identification and not wrong else NONE


def _find_function(options: argparse.Namespace) -> tuple[Any, str]:
    """Find the function, or make one of the program."""
    from germane.forensics.asking import Program

    if options.asserts and options.measure is None:
        raise InputError("--assert needs -m MEASURE, which is asserted.")
    if (options.function is None) == (options.command is None):
        raise InputError("identify takes MODULE:FUNCTION, or --command 'PROGRAM {qrels} {run}'.")
    if options.command is not None:
        if options.takes not in (None, "trec"):
            raise InputError(f"a program takes files: --takes trec; got {options.takes}.")
        if options.time_limit <= 0:
            raise InputError(f"--time-limit takes seconds, above 0; got {options.time_limit:g}")
        return Program(options.command, options.pattern, options.time_limit), "trec"
    if options.pattern is not None:
        raise InputError("--pattern is for the output of --command.")
    if options.takes is None:
        raise InputError(f"--takes says in which form the function takes its data: {_FORMS}.")
    return import_function(options.function), options.takes


def _list_modules(name: str) -> Iterator[str]:
    """List the files of the function's module and of whatever that imports."""
    yield name.rpartition(":")[0]
    for module in list(sys.modules.values()):
        if isinstance(path := getattr(module, "__file__", None), str):
            yield path


def import_function(name: str) -> Any:
    """Import ``module:function`` or ``file.py:function``. Raises InputError."""
    place, colon, path = name.rpartition(":")
    if not colon or not path:
        raise InputError(f"a function is MODULE:FUNCTION, such as metrics:my_map; got {clip(name)}")
    target = _import_module(place)
    for part in path.split("."):
        if not hasattr(target, part):
            public = [
                attribute
                for attribute in dir(target)
                if callable(getattr(target, attribute)) and attribute[0] != "_"
            ]
            raise InputError(f"{place} has no function {clip(path)}.{offer(part, public)}")
        target = getattr(target, part)
    return target


def _import_module(place: str) -> Any:
    """Import the user's module, and leave no compiled copy in the user's folder."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, os.getcwd())
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        spec = importlib.util.spec_from_file_location("germane_identified", place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever happens in a module that is not ours
        raise InputError(f"{place} cannot be imported: {write_error(error)}") from None
    finally:
        sys.path.remove(os.getcwd())
        sys.dont_write_bytecode = before
    return module
