"""germane boxes: object detection. Each verb is a command; evaluate is the default."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

from germane.boxes.box_tables import Part
from germane.boxes.verbs import evaluate_many, explain
from germane.cli import arguments, box_arguments
from germane.cli.check import write_checkup
from germane.cli.compare import add_statistics, collect_statistics
from germane.cli.gate import add_limits, write_gate
from germane.cli.paths import InputPath, OutputPath
from germane.comparison.significance import WORDS as STATISTICS
from germane.errors import InputError
from germane.output import writing
from germane.output.tables import add_schema, stack_tables


def name_verb(raw: Sequence[str]) -> list[str]:
    """Make the verb part of the command: ``boxes explain``, or ``boxes`` alone for evaluate."""
    command, *rest = raw
    if rest[:1] == ["evaluate"]:
        return [command, *rest[1:]]
    return (
        [f"{command} {rest[0]}", *rest[1:]] if rest[:1] and rest[0] in VERBS else [command, *rest]
    )


def add(commands: Any) -> None:
    for verb, row in VERBS.items():
        command = _add_verb(commands, verb, row)
        if row.files is not None:
            box_arguments.add_files(command, row.files)
        for names, how in row.options.items():
            command.add_argument(*names.split(), **how)
        if row.measures:
            box_arguments.add_measures(command, row.measures)
        for add_options in row.additions:
            add_options(command)
        if row.conventions is None:
            box_arguments.add_reading(command)
            box_arguments.add_words(command, ("overlap",))
            box_arguments.add_confidence(command)
        else:
            box_arguments.add_conventions(command, **row.conventions)


def _add_verb(commands: Any, verb: str, row: "Verb") -> argparse.ArgumentParser:
    """Add the command of a verb; that of evaluate lists the others."""
    implied = verb == "evaluate"
    verbs = "\n".join(
        f"  {name:<10}{listed.summary}" for name, listed in VERBS.items() if name != verb
    )
    command: argparse.ArgumentParser = commands.add_parser(
        "boxes" if implied else f"boxes {verb}",
        **({"help": "evaluate object detectors"} if implied else {}),
        description=f"{row.summary[0].upper()}{row.summary[1:]}.",
        usage=f"%(prog)s {row.usage} [options]"
        + "\n       %(prog)s VERB TRUTH DETECTIONS... [options]" * implied,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=(
            f"verbs (for a file with such a name, write ./check):\n{verbs}\n"
            "See: germane boxes VERB --help"
            if implied
            else None
        ),
    )
    command.set_defaults(run=row.run)
    return command


def run(options: argparse.Namespace) -> None:
    results = evaluate_many(
        options.truth, _open_paths(options), options.measures, **box_arguments.collect(options)
    )
    if options.by is None:
        arguments.write_found(options, results, arguments.FOR_PAPERS)
        return
    groups = {name: result.by(options.by) for name, result in results.items()}
    arguments.write_result(
        options,
        lambda digits: stack_tables(
            "detections", {name: group.table(digits=digits) for name, group in groups.items()}
        ),
        lambda: add_schema(
            {"groups": [{"name": name, **group.to_dict()} for name, group in groups.items()]}
        ),
    )


def run_explain(options: argparse.Namespace) -> None:
    [(name, path)] = _open_paths(options).items()
    picture = arguments.is_picture(options)
    if picture and options.errors:
        raise InputError(f"{options.output}: --errors writes a table, and no picture.")
    explanation = explain(
        options.truth,
        path,
        options.measures or "AP50",
        image=options.image,
        label=options.label,
        name=name,
        **box_arguments.collect(options),
    )
    if picture:
        writing.write(options.output, explanation.svg())
        return
    arguments.write_found(options, explanation.errors if options.errors else explanation)


def run_check(options: argparse.Namespace) -> int:
    from germane.boxes.verbs import check

    [path] = _open_paths(options).values()
    checkup = check(
        options.truth, path, **box_arguments.collect_reading(options, "overlap", "confidence")
    )
    return write_checkup(options, checkup)


def run_dialects(options: argparse.Namespace) -> None:
    from germane.boxes.conventions_search import spread
    from germane.boxes.dialect_table import dialects, resolve_box_dialect
    from germane.cli.dialects import define_dialect, list_dialects, write_spread, write_table

    match options.given:
        case []:
            write_table(options, list_dialects(dialects(), "germane boxes dialects"))
        case [name] if not os.path.exists(name):
            write_table(options, define_dialect(resolve_box_dialect(name)))
        case [truth, detections]:
            values = spread(truth, detections, options.measure, **box_arguments.collect(options))
            write_spread(options, values)
        case _:
            raise InputError(
                "germane boxes dialects takes nothing, the NAME of a dialect, or TRUTH and"
                " DETECTIONS."
            )


def run_reconcile(options: argparse.Namespace) -> None:
    from germane.boxes.reconciliation import reconcile

    if (options.table is None) == (options.reported is None):
        raise InputError("germane boxes reconcile takes --reported NUMBER, or --table TABLE.")
    if options.table is not None:
        arguments.write_answer(options, _reconcile_table(options))
        return
    if len(options.detections) > 1:
        raise InputError("--reported is the number of one file of detections; --table is for more.")
    [(name, path)] = _open_paths(options).items()
    reconciliation = reconcile(
        options.truth,
        path,
        reported=options.reported,
        measure=options.measure,
        name=name,
        **box_arguments.collect(options),
    )
    arguments.write_answer(options, reconciliation)


def _reconcile_table(options: argparse.Namespace) -> Any:
    from germane.boxes.reconciliation import reconcile_table

    choices = box_arguments.collect(options)
    if options.measure is not None or choices.pop("dialect", None) is not None:
        raise InputError(
            "--measure and --dialect go with --reported; a table names its own measures."
        )
    return reconcile_table(options.truth, _open_paths(options), options.table, **choices)


def run_compare(options: argparse.Namespace) -> None:
    from germane.boxes.comparison import COMPARED, compare  # its import takes long

    comparison = compare(
        options.truth,
        _open_paths(options),
        options.measures or COMPARED,
        **collect_statistics(options),
        **box_arguments.collect(options, confidence=False),
    )
    if options.view is None and options.format == "table":
        writing.write(options.output, comparison.text())
        return
    pairs = options.view == "pairs" or (options.view is None and options.format in ("csv", "tsv"))
    table = comparison.table if pairs else comparison.leaderboard
    arguments.write_result(
        options,
        lambda digits: table(digits=digits),
        comparison.to_dict,
        arguments.FOR_PAPERS,
    )


def run_gate(options: argparse.Namespace) -> int:
    from germane.boxes.comparison import COMPARED, gate

    [(_, path)] = _open_paths(options).items()
    decision = gate(
        options.truth,
        path,
        options.measures or COMPARED,
        baseline=options.baseline,
        max_drop=options.max_drop,
        alpha=options.alpha,
        rng=options.seed,
        **box_arguments.collect(options),
    )
    return write_gate(options, decision)


def run_report(options: argparse.Namespace) -> None:
    from germane.boxes.box_report import REPORTED, report

    page = report(
        options.truth,
        _open_paths(options),
        options.measures or REPORTED,
        title=options.title,
        baseline=options.baseline,
        command=shlex.join(["germane", *sys.argv[1:]]),
        **box_arguments.collect(options),
    )
    writing.write(options.output, page.html)


def _open_paths(options: argparse.Namespace) -> Mapping[str, str]:
    """Name the files of detections."""
    return arguments.read_runs(options.truth, options.detections)


# --- The verbs --------------------------------------------------------------------------------


class Verb(NamedTuple):
    """A command: what it does, how it is used, and its arguments."""

    summary: str
    usage: str
    run: Callable[[argparse.Namespace], int | None]
    files: int | str | None  # of detections
    options: Mapping[str, Mapping[str, Any]] = {}
    """Arguments of this verb alone, by name."""

    measures: str = ""
    """The measures that are computed if none are named."""

    additions: tuple[Callable[[argparse.ArgumentParser], None], ...] = (arguments.add_output,)
    conventions: Mapping[str, bool] | None = {}
    """Arguments of ``add_conventions``; None: the verb has no conventions."""


def _add_checkup(command: argparse.ArgumentParser) -> None:
    arguments.add_format(command, ("text", "json"))
    arguments.add_output_file(command)


_VIEWS = ("leaderboard", "pairs")
_COMPARED = "AP AP50"
_STATISTICS = {name: words for name, words in STATISTICS.items() if name != "family"}
VERBS = {
    "evaluate": Verb(
        "match the boxes of detectors with annotated boxes, and print measures with definitions",
        "TRUTH DETECTIONS...", run, "+",
        {"--by": {
            "metavar": "|".join(get_args(Part)), "type": arguments.choose_from(get_args(Part)),
            "help": "a row for each class, range of areas, frequency of classes (LVIS) or image",
        }},
        "COCO's summary of 12 numbers, or the dialect's",
    ),
    "explain": Verb(
        "show the outcome of every detection of an image or a class, or the cost of each kind of "
        "error",
        "TRUTH DETECTIONS --image ID|--class NAME|--errors", run_explain, 1,
        {
            "--image": {"metavar": "ID", "help": "the image to explain"},
            "--class": {"metavar": "NAME", "dest": "label", "help": "the class to explain"},
            "--errors": {
                "action": "store_true",
                "help": "print how much AP each kind of error costs, of all images, or of --image "
                        "or --class",
            },
        },
        "AP50",
        (partial(arguments.add_output, pictures=("svg",)),),
    ),
    "check": Verb(
        "find problems that can distort the numbers", "TRUTH DETECTIONS", run_check, 1,
        {"--strict": {"action": "store_true",
                "help": "exit with status 1 if a finding is serious"}},
        additions=(_add_checkup,), conventions=None,
    ),
    "dialects": Verb(
        "print the value that every tool gives; or define one tool by its NAME",
        "[NAME | TRUTH DETECTIONS]", run_dialects, None,
        {
            "given": {"metavar": "NAME | TRUTH DETECTIONS", "type": InputPath, "nargs": "*"},
            "-m --measure": {"default": "AP", "help": "(default: AP)"},
        },
        conventions={"dialect": False},
    ),
    "reconcile": Verb(
        "find the conventions that give a reported number, or a reported table",
        "TRUTH DETECTIONS... --reported NUMBER | --table TABLE",
        run_reconcile, "+",
        {
            "--table": {
                "metavar": "TABLE", "type": InputPath,
                "help": "a reported table with a row for each file of detections: CSV, TSV, JSON, "
                        "Markdown or LaTeX",
            },
            "--reported": {
                "metavar": "NUMBER",
                "help": "the number as it was written: .51 is less precise than .510; 51%% and "
                        "51.0 are percent",
            },
            "-m --measure": {"help": "(default: AP, or the dialect's first)"},
        },
    ),
    "compare": Verb(
        "compute differences of detectors on the same images, with intervals and significance",
        "TRUTH DETECTIONS DETECTIONS...", run_compare, "+",
        {"--view": {
            "metavar": "|".join(_VIEWS), "type": arguments.choose_from(_VIEWS),
            "help": "one table alone",
        }},
        _COMPARED, (partial(add_statistics, words=_STATISTICS), arguments.add_output),
        {"confidence": False},  # it is that of the intervals
    ),
    "gate": Verb(
        "exit with status 1 if a detector is worse than its baseline",
        "TRUTH DETECTIONS --baseline FILE", run_gate, 1,
        {
            "--baseline": {
                "metavar": "FILE", "type": InputPath, "required": True, "help": "detections, too",
            }
        },
        _COMPARED, (add_limits, arguments.add_seed, arguments.add_output),
    ),
    "report": Verb(
        "write one HTML page about detectors", "TRUTH DETECTIONS...", run_report, "+",
        {
            "-o --output": {"metavar": "FILE", "type": OutputPath, "default": "report.html",
                "help": "(default: report.html)"},
            "--title": {"metavar": "TEXT", "help": "(default: the names of the detectors)"},
            "--baseline": {"metavar": "NAME", "help": "compare every detector with this one"},
        },
        "AP AP50 AP75, AP of three areas, AR@100", (),
    ),
}  # fmt: skip
