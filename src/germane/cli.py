"""The command line: arguments in, the same verbs, text out."""

import argparse
import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from germane import judging, output
from germane._version import VERSION
from germane.animate import animate
from germane.animate import check as check_animation
from germane.errors import EmptyError, GermaneError, InputError, choices, clip, suggestion
from germane.evaluate import DEFAULT, evaluate_many, score
from germane.explain import explain
from germane.measure import Measure, parse, parse_all
from germane.measures import TABLE
from germane.result import number
from germane.sources import name_of
from germane.tables import FORMATS, Table, visible

DONE, WRONG = 0, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0 done, 2 wrong usage or bad input."""
    if sys.stdout is None:  # closed by the shell
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # definitions hold Σ and ÷, whatever the locale
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except GermaneError as error:
        _say(f"germane: {error}")
        return WRONG
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        _say(f"germane: standard output cannot be written ({error.strerror}).")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG
    except KeyboardInterrupt:
        _say("germane: interrupted.")
        return 130
    return DONE


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
        _say(f"{self.prog}: {message}  See: {self.prog} --help")
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


def _add_evaluate(commands: Any) -> None:
    command = commands.add_parser(
        "evaluate",
        help="judge runs against qrels",
        description="Judge TREC runs against TREC qrels and print measures with their definitions.",
    )
    command.set_defaults(run=_evaluate)
    command.add_argument("qrels", metavar="QRELS", help="lines 'query 0 item grade'")
    command.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="lines 'query Q0 item rank score tag'; - is standard input",
    )
    _add_measure_option(command, DEFAULT)
    command.add_argument(
        "--per-query", action="store_true", help="also every query's value, and 'all' for the mean"
    )
    _add_output_options(command)
    _add_policy_options(command)


def _add_policy_options(command: argparse.ArgumentParser) -> None:
    policy = command.add_argument_group("conventions (germane's own are the defaults)")
    says = {
        "ties": "order of equal scores",
        "missing": "judged queries that a run does not have",
        "no_relevant": "queries without relevant items",
        "duplicates": "items retrieved twice for a query",
        "unjudged": "items without a judgment",
    }
    for name, help_text in says.items():
        policy.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="|".join(judging.WORDS[name]),
            help=f"{help_text} (default: {getattr(judging.Policy, name)})",
            default=getattr(judging.Policy, name),
        )
    policy.add_argument(
        "--depth", metavar="N", type=_whole, help="look at the first N results of each query only"
    )


def _add_score(commands: Any) -> None:
    command = commands.add_parser(
        "score",
        help="measure one list typed at the prompt",
        description="Measure one list, given as the relevance grades of its items in rank order.",
    )
    command.set_defaults(run=_score)
    command.add_argument("relevance", metavar="LIST", help="grades such as '0 0 1 0 1'")
    _add_relevant_option(command)
    _add_measure_option(command, "AP")
    _add_output_options(command)


def _add_relevant_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--relevant",
        metavar="R",
        type=_whole,
        help="relevant items that exist (default: those in the list)",
    )


def _add_explain(commands: Any) -> None:
    command = commands.add_parser(
        "explain",
        help="show where a number comes from, rank by rank",
        description="Show rank by rank how measures of one query, or of one list, come about.",
        usage="%(prog)s QRELS RUN --query ID [options]\n       %(prog)s LIST [--relevant R] [options]",
    )
    command.set_defaults(run=_explain)
    command.add_argument(
        "given", metavar="QRELS RUN | LIST", nargs="+", help="two files, or grades such as '0 0 1'"
    )
    command.add_argument("--query", metavar="ID", help="the query to explain")
    _add_relevant_option(command)
    _add_measure_option(command, "AP")
    _add_output_options(command)
    command.add_argument(
        "--animate",
        metavar="FILE",
        help="also write it as an animation: a .gif, .svg or .html file",
    )
    _add_policy_options(command)


def _add_measures(commands: Any) -> None:
    command = commands.add_parser(
        "measures",
        help="list the measures, or define one",
        description="List every measure, or give the full definition of one.",
    )
    command.set_defaults(run=_measures)
    command.add_argument("name", metavar="NAME", nargs="?", help="such as AP or 'AP(norm=R)@10'")


COMMANDS: dict[str, Callable[[Any], None]] = {
    "evaluate": _add_evaluate,
    "score": _add_score,
    "explain": _add_explain,
    "measures": _add_measures,
}


def _add_measure_option(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument(
        "-m",
        "--measures",
        metavar="MEASURES",
        action="append",
        help=f"names such as 'AP@10 nDCG@10 P(rel=2)@5'; may be repeated (default: '{default}')",
    )
    command.set_defaults(default_measures=default)


def _add_output_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--format",
        metavar="|".join(_FORMATS),
        type=_format,
        default="table",
        help="(default: table)",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE, whole or not at all"
    )


_FORMATS = (*FORMATS, "json")


def _format(text: str) -> str:
    if text not in _FORMATS:
        near = suggestion(text, _FORMATS)
        raise argparse.ArgumentTypeError(f"takes {choices(_FORMATS)}; got {text!r}.{near}")
    return text


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"takes a whole number; got {clip(text)}.")
    return int(text)


# --- The commands ----------------------------------------------------------------------------------


def _evaluate(options: argparse.Namespace) -> None:
    measures, policy = _chosen(options), _policy(options)
    runs = dict(zip(_names(options.runs), options.runs, strict=True))
    if [options.qrels, *options.runs].count("-") > 1:
        raise InputError("standard input (-) is asked for twice; it can be read only once.")
    output.check(options.output, [options.qrels, *options.runs])
    with _progress() as progress:
        results = evaluate_many(options.qrels, runs, measures, progress=progress, **policy)
    if options.format == "json":
        output.write(options.output, _json(results.to_dict(queries=options.per_query)))
        return
    digits = None if options.format in ("tsv", "csv") else 4
    table = (
        results.table_per_query(digits=digits)
        if options.per_query
        else results.table(digits=digits)
    )
    output.write(options.output, FORMATS[options.format](table))


def _explain(options: argparse.Namespace) -> None:
    measures = _chosen(options)
    inputs = options.given if len(options.given) > 1 else []
    output.check(options.output, inputs)
    if options.animate is not None:
        check_animation(options.animate, inputs)
        if options.output and os.path.realpath(options.output) == os.path.realpath(options.animate):
            raise InputError(f"{options.animate}: -o and --animate name the same file.")
    match options.given:
        case [listed]:
            explanation = explain(_grades(listed), measures, relevant=options.relevant)
        case [qrels, run]:
            explanation = explain(qrels, run, measures, query=options.query, **_policy(options))
        case _:
            raise InputError("explain takes QRELS and RUN, or one LIST.")
    if options.animate is not None:
        animate(explanation, options.animate)
    if options.format == "json":
        output.write(options.output, _json(explanation.to_dict()))
    else:
        output.write(options.output, FORMATS[options.format](explanation.table()))


def _policy(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in (*judging.WORDS, "depth")}


def _score(options: argparse.Namespace) -> None:
    grades = _grades(options.relevance)
    output.check(options.output)
    values = [(m, score(grades, m, relevant=options.relevant)) for m in _chosen(options)]
    if options.format == "json":
        rows = [{"measure": str(m), "value": v, "definition": m.definition} for m, v in values]
        output.write(options.output, _json({"schema": 1, "germane": VERSION, "measures": rows}))
        return
    digits = None if options.format in ("tsv", "csv") else 4
    cells = tuple((str(m), number(v, m, digits), m.definition) for m, v in values)
    output.write(
        options.output,
        FORMATS[options.format](Table(("measure", "value", "definition"), cells, left=(2,))),
    )


def _measures(options: argparse.Namespace) -> None:
    if options.name is None:
        cells = tuple((str(Measure(row.name)), row.title) for row in TABLE)
        table = Table(
            ("measure", "is"),
            cells,
            ("germane measures NAME gives the full definition.",),
            left=(1,),
        )
        print(table.text(), end="")
    else:
        print(parse(options.name).explanation, end="")


def _chosen(options: argparse.Namespace) -> tuple[Measure, ...]:
    return parse_all(options.measures or options.default_measures)


def _grades(listed: str) -> list[Any]:
    grades = [_grade(word) for word in listed.replace(",", " ").split()]
    if not grades:
        raise EmptyError("the list is empty: there are no relevance grades.")
    return grades


def _grade(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word  # refused further on, with its rank


def _names(paths: Sequence[str]) -> list[str]:
    """Short names for runs; their paths where two have the same file name."""
    names = [name_of(path) for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        twice = next(path for path in paths if list(paths).count(path) > 1)
        raise InputError(f"the run {twice} is given twice.")
    return names


# --- Output ----------------------------------------------------------------------------------------


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _say(text: str) -> None:
    """One line on standard error, whatever bytes an id in it holds."""
    with contextlib.suppress(OSError):
        print(visible(" ".join(text.splitlines())), file=sys.stderr)


@contextlib.contextmanager
def _progress() -> Any:
    """A progress line on standard error for long reads, only where a person looks at it."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    started = time.monotonic()
    shown = 0.0

    def show(name: str, done: int, size: int | None) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - started < 0.5 or now - shown < 0.1:
            return
        shown = now
        part = f"{done / size:4.0%}" if size else f"{done / 1e6:,.0f} MB"
        sys.stderr.write(f"\r\x1b[Kreading {visible(name[-50:])}: {part}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
