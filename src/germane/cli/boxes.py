"""germane boxes: object detection. Each verb is a command; evaluate is the default."""

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from germane import boxes as verbs
from germane.boxes.box_tables import Part
from germane.cli import parser
from germane.cli.arguments import read_pairs
from germane.cli.everyday import report_to_github, write_checkup, write_command_line, write_gate
from germane.cli.parser import Command, call
from germane.cli.terminal import (
    FOR_PAPERS,
    as_json,
    is_picture,
    write_answer,
    write_found,
    write_result,
)
from germane.errors import InputError
from germane.output.documents import make_document
from germane.output.tables import stack_tables
from germane.presentation import writing
from germane.presentation.pictures import FORMATS, import_matplotlib


def name_verb(words: Sequence[str]) -> list[str]:
    """Make the verb part of the command: ``boxes explain``, or ``boxes`` alone for evaluate."""
    command, *rest = words
    if rest[:1] == ["evaluate"]:
        return [command, *rest[1:]]
    if rest[:1] and rest[0] in VERBS:
        return [f"{command} {rest[0]}", *rest[1:]]
    if rest[:1] and re.fullmatch(r"[a-z]\w*(-\w+)*", rest[0]) and not os.path.exists(rest[0]):
        from germane.cli import advise_command  # which imports this module

        if advice := advise_command(rest[0], command):
            raise InputError(
                f"germane boxes has no verb '{rest[0]}', and there is no such file.{advice}"
            )
    return [command, *rest]


def _open_paths(options: argparse.Namespace) -> Mapping[str, str]:
    """Name the files of detections."""
    paths = options.detections
    return parser.read_runs(options.truth, paths if isinstance(paths, list) else [paths])


def _run_evaluate(options: argparse.Namespace) -> None:
    writing.check_suffix(options.record or "", ("json",), "a record is JSON")
    results = call(verbs.evaluate_many, options, detections=_open_paths(options))
    if options.record is not None:
        writing.write(options.record, as_json(results.to_dict(images=True)))
    if options.by is None:
        write_found(options, results, FOR_PAPERS)
        return
    groups = {name: result.by(options.by) for name, result in results.items()}
    write_result(
        options,
        lambda digits: stack_tables(
            "detections", {name: group.table(digits=digits) for name, group in groups.items()}
        ),
        lambda: make_document(
            {"groups": [{"name": name, **group.to_dict()} for name, group in groups.items()]}
        ),
    )


def _run_explain(options: argparse.Namespace) -> None:
    [(name, path)] = _open_paths(options).items()
    picture = is_picture(options)
    if picture and options.errors:
        raise InputError(f"{options.output}: --errors writes a table; there is no picture of it.")
    if options.worst is not None and (picture or options.errors):
        raise InputError("--worst lists images; leave out --errors, and pictures.")
    explanation = call(verbs.explain, options, detections=path, name=name)
    if picture:
        explanation.save(options.output)
        return
    if options.worst is not None:
        write_found(options, explanation.rank_images(options.worst))
    else:
        write_found(options, explanation.errors if options.errors else explanation)


def _run_confusion(options: argparse.Namespace) -> None:
    [(name, path)] = _open_paths(options).items()
    picture = is_picture(options)
    if picture and options.cell:
        raise InputError(f"{options.output}: --cell lists images, and draws no picture.")
    matrix = call(verbs.confusion, options, detections=path, name=name)
    show = "shares" if options.shares else "counts"
    if options.cell:
        write_found(options, matrix.cell(*options.cell))
    elif picture:
        matrix.save(options.output, show=show)
    elif options.format == "table" and not options.shares:
        writing.write(options.output, str(matrix))
    else:
        write_result(options, lambda digits: matrix.table(digits=digits, show=show), matrix.to_dict)


def _run_curve(options: argparse.Namespace) -> None:
    [(name, path)] = _open_paths(options).items()
    picture = is_picture(options)
    if picture:
        import_matplotlib()
    curves = call(verbs.curve, options, detections=path, name=name)
    if picture:
        curves.save(options.output)
    else:
        write_found(options, curves)


def _run_check(options: argparse.Namespace) -> int:
    [path] = _open_paths(options).values()
    return write_checkup(options, call(verbs.check, options, detections=path))


def _run_dialects(options: argparse.Namespace) -> None:
    from germane.boxes.dialect_table import dialects, resolve_box_dialect
    from germane.cli.occasional import define_dialect, list_dialects, write_spread, write_table

    match options.data:
        case []:
            write_table(options, list_dialects(dialects(), "germane boxes dialects"))
        case [name] if not os.path.exists(name):
            write_table(options, define_dialect(resolve_box_dialect(name)))
        case [truth, detections]:
            write_spread(options, call(verbs.spread, options, truth=truth, detections=detections))
        case _:
            raise InputError(
                "germane boxes dialects takes no argument, the NAME of a dialect, or TRUTH and"
                " DETECTIONS."
            )


def _run_reconcile(options: argparse.Namespace) -> None:
    if (options.table is None) == (options.reported is None):
        raise InputError("germane boxes reconcile takes either --reported NUMBER or --table TABLE.")
    if options.table is not None:
        write_answer(options, _reconcile_table(options))
        return
    if options.names:
        raise InputError("--names goes with --table; -m names the measure of --reported.")
    if len(options.detections) > 1:
        raise InputError(
            "--reported is the number of one file of detections; for several files, use --table."
        )
    [(name, path)] = _open_paths(options).items()
    write_answer(options, call(verbs.reconcile, options, detections=path, name=name))


def _reconcile_table(options: argparse.Namespace) -> Any:
    if options.measure is not None or options.dialect is not None:
        raise InputError(
            "--measure and --dialect go with --reported; a table names its own measures."
        )
    return call(
        verbs.reconcile_table,
        options,
        detections=_open_paths(options),
        reported=options.table,
        measures=read_pairs(options.names),
    )


def _run_compare(options: argparse.Namespace) -> None:
    comparison = call(verbs.compare, options, detections=_open_paths(options))
    if options.view is None and options.format == "table":
        writing.write(options.output, comparison.text())
        return
    if options.view == "segments" or (options.by and options.format in ("csv", "tsv")):
        if comparison.segments is None:
            raise InputError("--view segments shows those of --by class; give that, too.")
        write_found(options, comparison.segments, FOR_PAPERS)
        return
    pairs = options.view == "pairs" or (options.view is None and options.format in ("csv", "tsv"))
    table = comparison.table if pairs else comparison.leaderboard
    write_result(options, lambda digits: table(digits=digits), comparison.to_dict, FOR_PAPERS)


def _run_gate(options: argparse.Namespace) -> int:
    [path] = _open_paths(options).values()
    decision = call(verbs.gate, options, detections=path)
    status = write_gate(options, decision)
    if options.github:
        report_to_github(decision)
    return status


def _run_report(options: argparse.Namespace) -> None:
    page = call(
        verbs.report, options, detections=_open_paths(options), command=write_command_line()
    )
    writing.write(options.output, page.html)


_SHOWN = "format spreadsheet output"
SUMMARIES = {
    "evaluate": "match the boxes of detectors with annotated boxes, and print measures with"
    " definitions",
    "explain": "show the outcome of every detection, in all images or in one image or class; the"
    " cost of each kind of error; or the worst images",
    "check": "find problems that can distort the numbers",
    "confusion": "count the truths of each class by the class of the detection on them",
    "curve": "print the best confidence of each class; draw precision, recall and F1",
    "dialects": "print the value that every tool reports, or define one tool by its NAME",
    "reconcile": "find the conventions that give a reported number or a reported table",
    "compare": "compare detectors on the same images: differences, intervals, significance",
    "gate": "exit with status 1 if a detector is worse than its baseline, or below a floor",
    "report": "write an HTML page about detectors",
}
_VERBS = "\n".join(
    f"  {name:<10}{summary}" for name, summary in SUMMARIES.items() if name != "evaluate"
)


def _make(run: Any, verb: str, usage: str, extra: str = _SHOWN, **command_fields: Any) -> Command:
    """Make the command of a verb; that of evaluate lists the others."""
    summary, implied = SUMMARIES[verb], verb == "evaluate"
    places = f"truth detections{'+' if 'DETECTIONS...' in usage else ''}"
    return Command(
        run,
        f"{summary[0].upper()}{summary[1:]}.",
        **{"places": places, "extra": extra, **command_fields},
        usage=f"%(prog)s {usage} [options]"
        + "\n       %(prog)s VERB TRUTH DETECTIONS... [options]" * implied,
        epilog="verbs, each with a --help (for a file that is called like a verb, write ./check):\n"
        + _VERBS
        if implied
        else None,
    )


VERBS = {
    "evaluate": _make(
        _run_evaluate, "evaluate", "TRUTH DETECTIONS...", f"by record {_SHOWN}",
        words={"by": get_args(Part)},
    ),
    "explain": _make(
        _run_explain, "explain", "TRUTH DETECTIONS [--image ID|--class NAME|--errors|--worst N]",
        f"errors worst {_SHOWN}", pictures=FORMATS,
    ),
    "confusion": _make(
        _run_confusion, "confusion", "TRUTH DETECTIONS", f"shares cell {_SHOWN}", pictures=FORMATS
    ),
    "curve": _make(_run_curve, "curve", "TRUTH DETECTIONS", pictures=FORMATS),
    "check": _make(
        _run_check, "check", "TRUTH DETECTIONS", "strict format output", formats=("text", "json")
    ),
    "dialects": _make(
        _run_dialects, "dialects", "[NAME | TRUTH DETECTIONS]", places="data*",
        verbs=("boxes.spread",),
    ),
    "reconcile": _make(
        _run_reconcile, "reconcile",
        "TRUTH DETECTIONS... --reported NUMBER | --table TABLE", f"table names {_SHOWN}",
        verbs=("boxes.reconcile", "boxes.reconcile_table"),
    ),
    "compare": _make(
        _run_compare, "compare", "TRUTH DETECTIONS DETECTIONS...", f"view {_SHOWN}",
        words={"view": ("leaderboard", "pairs", "segments")},
    ),
    "gate": _make(_run_gate, "gate", "TRUTH DETECTIONS --baseline FILE|--floor FLOOR",
                  f"github {_SHOWN}"),
    "report": _make(_run_report, "report", "TRUTH DETECTIONS...", "output"),
}  # fmt: skip
COMMANDS = {
    "boxes" if verb == "evaluate" else f"boxes {verb}": command for verb, command in VERBS.items()
}
