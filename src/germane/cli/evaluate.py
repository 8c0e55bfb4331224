"""germane evaluate: evaluate runs."""

import argparse
import os
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from germane.cli import arguments
from germane.cli.paths import InputPath, OutputPath
from germane.cli.terminal import as_json, make_progress_line, say
from germane.core.mean_intervals import check_confidence
from germane.errors import GermaneWarning, InputError
from germane.evaluation.api import evaluate_many
from germane.evaluation.choices import DEFAULT
from germane.evaluation.layout import name_measures, write_warnings
from germane.evaluation.opening import open_data
from germane.evaluation.result import Results
from germane.evaluation.signature_line import write_signatures
from germane.output import writing
from germane.output.tables import Table
from germane.readers import find_name


def add(commands: Any) -> None:
    command = commands.add_parser(
        "evaluate",
        help="evaluate runs",
        description=(
            "Evaluate runs with qrels, and print measures with their definitions. By their "
            "suffix, files are TREC, Parquet, Arrow, CSV, TSV, JSON or JSON Lines."
        ),
    )
    command.set_defaults(run=run)
    arguments.add_files(
        command, "lines 'query Q0 item rank score tag', or columns; - is standard input"
    )
    arguments.add_measures(command, DEFAULT)
    text = "also print the value of every query; 'all' is the mean"
    command.add_argument("--per-query", action="store_true", help=text)
    text = (
        "also print the means of each category of queries; FILE "
        "has the columns query and category, or is JSON {query: category}"
    )
    command.add_argument("--by", metavar="FILE", type=InputPath, help=text)
    text = "also print confidence intervals of means, for instance at level 0.95"
    arguments.add_number(command, "--confidence", "P", arguments.read_fraction, text)
    arguments.add_signature(command)
    text = (
        "also write a record as JSON, with the values of queries if --per-query is given;"
        " germane verify reads it"
    )
    command.add_argument("--record", metavar="FILE", type=OutputPath, help=text)
    arguments.add_bounds(command)
    arguments.add_rename(command)
    arguments.add_shared(command)
    arguments.add_catalogue(command)
    text = "save progress in DIR, and resume from there after an interruption"
    command.add_argument("--checkpoint", metavar="DIR", type=InputPath, help=text)


def run(options: argparse.Namespace) -> None:
    measures: Any = options.measures or options.default_measures
    policy = arguments.collect_policy(options)
    rename = arguments.read_rename(options)
    _check_shown(options, rename)
    runs = arguments.read_runs(options.qrels, options.runs)
    writing.check_suffix(options.record or "", ("json",), "a record is JSON")
    with make_progress_line() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)  # said below, in the manner of a terminal
        if options.checkpoint is None:
            data = open_data(options.qrels, policy)
            data.signs = arguments.is_signed(options) or options.record is not None
            results = evaluate_many(data, runs, measures, progress=progress)
        else:
            results = _evaluate_kept(
                options.qrels, runs, measures, options.checkpoint, {"progress": progress, **policy}
            )
    for line in write_warnings(results):
        say(f"germane: {line}")
    if options.record is not None:
        writing.write(options.record, as_json(results.to_dict(queries=options.per_query)))
    if options.by is not None:
        arguments.write_found(options, results.by(options.by))
        return
    if options.bounds:
        arguments.write_found(options, results.bounds())
        return
    signatures = write_signatures(results) if options.signature else ()
    table: Callable[..., Table] = partial(results.table, confidence=options.confidence)
    if options.per_query:
        table = results.table_per_query
    arguments.write_result(
        options,
        lambda digits: arguments.add_lines(table(digits=digits, rename=rename), signatures),
        lambda: results.to_dict(queries=options.per_query),
        arguments.FOR_PAPERS,
    )


def _check_shown(options: argparse.Namespace, rename: Mapping[str, str]) -> None:
    """Refuse before the work is done what cannot be shown after it."""
    arguments.is_signed(options)
    if options.dialect is None:
        name_measures(arguments.parse_measures(options), rename)
    display = ("per_query", "confidence", "rename", "signature")
    for option, purpose, excluded in (
        ("bounds", "prints bounds of means", ("per_query", "by", *display[1:])),
        ("by", "is for means of categories", display),
    ):
        for name in excluded if getattr(options, option) not in (None, False) else ():
            if getattr(options, name):
                shown = name.replace("_", "-")
                raise InputError(f"--{option} {purpose}; leave out --{shown}.")
    if options.confidence is not None:
        check_confidence(options.confidence)
        arguments.check_defined(options, "--confidence")
        if options.per_query:
            raise InputError("--confidence is for means; leave out --per-query.")


def _evaluate_kept(
    qrels: str, runs: Mapping[str, str], measures: Any, folder: str, raw: Mapping[str, Any]
) -> Results:
    """Evaluate each run with a checkpoint of its own, in a folder inside ``folder``."""
    from germane.records.storage import evaluate_kept

    results = {}
    for number, (name, run) in enumerate(runs.items(), 1):
        checkpoint = os.path.join(folder, f"{number}-{find_name(run)}")
        results[name] = evaluate_kept(qrels, run, measures, name=name, checkpoint=checkpoint, **raw)
    return Results(results)
