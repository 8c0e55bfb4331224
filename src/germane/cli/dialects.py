"""germane dialects: list the dialects, define one, or compare all of them on a run."""

import argparse
import os
from collections.abc import Mapping
from typing import Any

from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.cli.terminal import make_progress_line
from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import STAGE_NAMES, Dialect
from germane.errors import InputError
from germane.forensics.spread import spread
from germane.output import writing
from germane.output.tables import Table, add_schema


def add(commands: Any) -> None:
    command = commands.add_parser(
        "dialects",
        help="list the conventions of other tools, or compare their values on a run",
        description=(
            "List the dialects; with a NAME, define one; with "
            "QRELS and RUN, print the value in every dialect."
        ),
    )
    command.set_defaults(run=run)
    command.add_argument("given", metavar="NAME | QRELS RUN", type=InputPath, nargs="*")
    command.add_argument("-m", "--measure", default="AP@10", help="(default: AP@10)")
    arguments.add_shared(command, dialect=False)
    arguments.add_catalogue(command)


def run(options: argparse.Namespace) -> None:
    words: list[str] = options.given
    if len(words) == 2:
        policy = arguments.collect_policy(options)
        with make_progress_line() as progress:
            qrels, ranked = words
            values = spread(qrels, ranked, options.measure, progress=progress, **policy)
        write_spread(options, values)
    elif not words:
        write_table(options, list_dialects(dialects(), "germane dialects"))
    elif len(words) == 1 and not os.path.exists(words[0]):
        write_table(options, define_dialect(resolve_dialect(words[0])))
    else:
        raise InputError("germane dialects takes nothing, the NAME of a dialect, or QRELS and RUN.")


def write_spread(options: argparse.Namespace, values: Any) -> None:
    """Write the values of dialects on a run, or on detections."""
    arguments.write_result(
        options, lambda digits: values.table(digits=digits), lambda: add_schema(values.to_dict())
    )


def write_table(options: argparse.Namespace, table: Table) -> None:
    if options.format == "json":
        raise InputError("--format json is for QRELS and RUN.")
    writing.write(options.output, arguments.format_table(table, options))


def list_dialects(by_name: Mapping[str, Dialect], command: str) -> Table:
    """List dialects with their tools; ``command`` is the one that defines them."""
    rows = tuple((dialect.name, dialect.tool, dialect.version) for dialect in by_name.values())
    notes = (f"{command} NAME says what a tool decides otherwise, and what it calls measures.",)
    return Table(("dialect", "tool", "recorded from"), rows, notes, left=(1, 2))


def define_dialect(dialect: Dialect) -> Table:
    """Define a dialect: its conventions by stage, its names of measures, and its reasons."""
    rows: list[tuple[str, str, str]] = [
        (stage, f"{name}={_write_word(word)}", "")
        for stage in ("matching", *STAGE_NAMES)
        if stage != "measuring"
        for name, word in getattr(dialect, stage).items()
    ]
    rows += [
        ("measuring", " = ".join((name.name, *name.also, name.measure)), _join_words(name.choices))
        for name in dialect.measuring
    ]
    notes = [f"{dialect.tool} {dialect.version}", dialect.why, f"source: {dialect.source}"]
    notes += [f"the same: {', '.join(dialect.same)}"] if dialect.same else []
    notes += [
        f"not evaluated: {', '.join(absent.names)}: {absent.says}" for absent in dialect.absent
    ]
    notes += [f"not reproduced: {limit.says}" for limit in dialect.limits]
    return Table(("stage", dialect.name, "with"), tuple(rows), tuple(filter(None, notes)), (1, 2))


def _write_word(word: Any) -> str:
    if isinstance(word, tuple):
        return "+".join(map(str, word))
    return "none" if word is None else str(word)


def _join_words(choices: Any) -> str:
    return ", ".join(f"{name}={word}" for name, word in choices.items())
