"""The commands that check a number, speak of judgments, or teach."""

import argparse
import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import germane
from germane.cli import parser
from germane.cli.arguments import read_arguments, read_pairs
from germane.cli.parser import PICTURES, Command, call
from germane.cli.terminal import (
    as_json,
    choose_digits,
    format_table,
    is_picture,
    make_progress_line,
    name_relevant,
    say,
    write_answer,
    write_found,
    write_result,
)
from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import Dialect
from germane.errors import GermaneWarning, InputError, MeasureError, clip, offer
from germane.forensics.asking import write_error
from germane.forensics.variations import STAGE_NAMES
from germane.measures.measure import Measure
from germane.output.documents import make_document
from germane.output.tables import FORMATS, Table, stack_tables
from germane.presentation import writing
from germane.teaching.experiments import ALL, EXPERIMENTS, Design, Experiment, find_design, simulate

if TYPE_CHECKING:
    from germane.types import Trusts


DIFFERS = 1
"""The exit status if a record differs, numbers contradict each other, or nothing was identified."""

# --- reconcile ------------------------------------------------------------------------------------


def _run_reconcile(options: argparse.Namespace) -> None:
    if (options.table is None) == (options.reported is None):
        raise InputError("reconcile takes either --reported NUMBER or --table TABLE.")
    if options.table is not None:
        write_answer(options, _reconcile_table(options))
        return
    match options.data:
        case [_]:
            reconciliation = call(germane.reconcile, options, qrels=parser.read_list(options))
        case [qrels, ranked]:
            with make_progress_line("reconcile:") as progress:
                reconciliation = call(
                    germane.reconcile, options, qrels=qrels, run=ranked, progress=progress
                )
        case _:
            raise InputError("reconcile takes QRELS and RUN, or one LIST.")
    write_answer(options, name_relevant(reconciliation))


def _reconcile_table(options: argparse.Namespace) -> Any:
    if options.reported_per_query:
        raise InputError(
            "--reported-per-query goes with --reported; a table contains the means of runs."
        )
    if len(options.data) < 2:
        raise InputError("reconcile --table takes QRELS and at least one RUN.")
    qrels, *paths = options.data
    runs, measures = parser.read_runs(qrels, paths), read_pairs(options.names)
    with make_progress_line("reconcile:") as progress:
        return call(
            germane.reconcile_table,
            options,
            qrels=qrels,
            runs=runs,
            reported=options.table,
            measures=measures,
            progress=progress,
        )


# --- identify -------------------------------------------------------------------------------------


def _run_identify(options: argparse.Namespace) -> int:
    function, takes = _find_function(options)
    arguments = read_arguments(options.call)
    identification = call(germane.identify, options, function=function, **takes, call=arguments)
    if options.function is not None:
        writing.check(options.output, _list_modules(options.function))
    write_answer(options, identification)
    wrong = options.asserts and identification.holds is False
    return 0 if identification and not wrong else DIFFERS


def _find_function(options: argparse.Namespace) -> tuple[Any, dict[str, str]]:
    """Find the function, or make one of the program, whose data are files."""
    from germane.forensics.asking import Program

    if options.asserts and options.measure is None:
        raise InputError("--assert needs the measure to assert: -m MEASURE.")
    if (options.function is None) == (options.command is None):
        raise InputError("identify takes MODULE:FUNCTION, or --command 'PROGRAM {qrels} {run}'.")
    if options.command is not None:
        seconds = 60.0 if options.time_limit is None else options.time_limit
        if options.takes not in (None, "trec"):
            raise InputError(
                f"a program takes files, so that --takes can only be trec; got {options.takes}."
            )
        if seconds <= 0:
            raise InputError(f"--time-limit takes seconds, above 0; got {seconds:g}")
        return Program(options.command, options.pattern, seconds), {"takes": "trec"}
    if options.pattern is not None:
        raise InputError("--pattern is for the output of --command.")
    return import_function(options.function), {}


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


# --- audit, plan and verify -----------------------------------------------------------------------


def _run_audit(options: argparse.Namespace) -> int:
    contradictions = call(germane.audit, options, columns=read_pairs(options.columns))
    write_answer(options, contradictions)
    return DIFFERS if contradictions else 0


def _run_plan(options: argparse.Namespace) -> None:
    write_found(options, call(germane.plan, options, measures=parser.read_measures(options)))


def _run_verify(options: argparse.Namespace) -> int:
    runs = parser.read_runs(options.qrels, options.runs)
    inputs = next(iter(runs.values())) if len(runs) == 1 else runs
    verification = call(germane.verify, options, runs=inputs)
    write_found(options, verification)
    return 0 if verification.same else DIFFERS


# --- dialects -------------------------------------------------------------------------------------


def _run_dialects(options: argparse.Namespace) -> None:
    match options.data:
        case [qrels, ranked]:
            with make_progress_line() as progress:
                values = call(germane.spread, options, qrels=qrels, run=ranked, progress=progress)
            write_spread(options, values)
        case [listed] if parser.is_typed(listed):
            values = call(germane.spread, options, qrels=parser.read_list(options))
            write_spread(options, name_relevant(values))
        case []:
            write_table(options, list_dialects(dialects(), "germane dialects"))
        case [name] if not os.path.exists(name):
            write_table(options, define_dialect(resolve_dialect(name)))
        case _:
            raise InputError(
                "germane dialects takes nothing, the NAME of a dialect, QRELS and RUN, or one LIST."
            )


def write_spread(options: argparse.Namespace, values: Any) -> None:
    """Write the values of dialects on a run, or on detections."""
    write_result(
        options, lambda digits: values.table(digits=digits), lambda: make_document(values.to_dict())
    )


def write_table(options: argparse.Namespace, table: Table) -> None:
    if options.format == "json":
        raise InputError("--format json is for QRELS and RUN.")
    writing.write(options.output, format_table(table, options))


def list_dialects(by_name: Mapping[str, Dialect], command: str) -> Table:
    """List dialects with their tools; ``command`` is the one that defines them."""
    rows = tuple((dialect.name, dialect.tool, dialect.version) for dialect in by_name.values())
    notes = (
        f"{command} NAME says where a tool differs from germane, and how it names its measures.",
    )
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


# --- measures -------------------------------------------------------------------------------------


def _run_measures(options: argparse.Namespace) -> None:
    from germane.measures import CATALOGUE, TABLE

    if options.name is None:
        cells = tuple((str(Measure(row.name)), row.title) for row in (*TABLE, *CATALOGUE))
        table = Table(
            ("measure", "is"),
            cells,
            ("germane measures NAME gives the full definition, of boxes, too: AP50",),
            left=(1,),
        )
        print(table.text(), end="")
    else:
        print(_define(options.name), end="")


def _define(name: str) -> str:
    """Define a measure of ranked lists or, if the name is one of these, of detected boxes."""
    from germane.measures.box_names import is_of_boxes

    try:
        return germane.parse(name).explanation
    except MeasureError:
        if not is_of_boxes(name):
            raise
    from germane.boxes.box_measures import parse_measure  # imported late: few ask for one

    return parse_measure(name).explanation


# --- The commands ---------------------------------------------------------------------------------

CHECKING = {
    "reconcile": Command(
        _run_reconcile,
        "Find the definitions that give a reported number on the same data, or the nearest"
        " ones if none does.",
        "data+",
        "table names format spreadsheet output",
        verbs=("reconcile", "reconcile_table"),
        usage="%(prog)s QRELS RUN --reported NUMBER [options]\n"
        "       %(prog)s QRELS RUN... --table TABLE [options]\n"
        "       %(prog)s LIST [--relevant R] --reported NUMBER [options]",
    ),
    "identify": Command(
        _run_identify,
        "Call a function, or a program in any language, on small data sets, and name the"
        " definition that gives all of its values. The exit status is 0 if one was found, 1 if"
        " none was, and 2 if the function could not be called.",
        "function?",
        "command pattern time_limit asserts format spreadsheet output",
        conventions="conventions that the definition has to have (default: any)",
        usage="%(prog)s MODULE:FUNCTION [-m MEASURE] [--takes FORM] [options]\n"
        "       %(prog)s --command 'PROGRAM {qrels} {run}' [-m MEASURE] [options]",
    ),
    "audit": Command(
        _run_audit,
        "Find numbers in a table that no run can have, without any data: values above 1, recall"
        " that falls as k grows, an RR@1 that differs from P@1. The exit status is 1 if numbers"
        " contradict each other under every definition, 0 if none do, and 2 if the table cannot be"
        " read.",
        "table",
        "format spreadsheet output",
    ),
    "plan": Command(
        _run_plan,
        "Say which differences of two runs the queries of a collection can show: from the judgments"
        " alone, from a RUN, or from a pilot of two runs.",
        "qrels run?",
        "format spreadsheet output",
    ),
    "verify": Command(
        _run_verify,
        "Recompute the numbers of a record or a signature. The exit status is 0 if values, data"
        " and definitions are the same, 1 if something differs, and 2 for wrong usage or bad"
        " input.",
        "record qrels runs+",
        "format spreadsheet output",
    ),
    "dialects": Command(
        _run_dialects,
        "List the dialects. With a NAME, define one of them. With QRELS and RUN, or with a LIST of"
        " grades, print the value that a measure has in every dialect.",
        "data*",
        "format spreadsheet output",
    ),
    "measures": Command(
        _run_measures, "List every measure, or give the full definition of one.", "name?", verbs=()
    ),
}


# --- The commands about judgments: trust, judges and next -----------------------------------------

# --- trust ----------------------------------------------------------------------------------------


def _run_trust(options: argparse.Namespace) -> None:
    if options.detect is not None and len(options.runs) < 2:
        raise InputError(
            "--detect plans for a difference between two runs; give at least two runs."
        )
    runs = parser.read_runs(options.people, options.runs)
    measures = parser.read_measures(options)
    with make_progress_line() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)  # they stand below the table
        trusts = call(germane.trust_many, options, runs=runs, measures=measures, progress=progress)
    if options.format in ("csv", "tsv"):  # which have no notes
        for line in map(str, trusts.findings):
            say(f"germane: {line}")
    writing.write(options.output, _format(trusts, options))


def _format(trusts: "Trusts", options: argparse.Namespace) -> str:
    from germane.judges.assessors import DEFINITIONS

    plans = {}
    if options.detect is not None:
        plans = {
            f"{difference.title}, {difference.measure}": difference.plan(options.detect)
            for difference in trusts.differences
        }
    if options.format == "json":
        planned = {"plans": {name: vars(plan) for name, plan in plans.items()}} if plans else {}
        return as_json({**trusts.to_dict(), **planned})
    digits = choose_digits(options)
    text = format_table(trusts.table(digits=digits), options)
    if options.format in ("csv", "tsv"):
        return text
    agreement = next(iter(trusts.values())).agreement.table(digits=digits)
    tables = [replace(agreement, notes=DEFINITIONS)]  # the statistics stand below the numbers
    if plans:
        tables.append(
            stack_tables("difference", {n: p.table(digits=digits) for n, p in plans.items()})
        )
    return "\n".join([text, *(format_table(table, options) for table in tables)])


# --- judges and next ------------------------------------------------------------------------------


def _run_judges(options: argparse.Namespace) -> None:
    if "-" in [options.run, *options.judges]:
        raise InputError(
            "the run is read once for each judge, but standard input (-) can be read only"
            " once. Give a file."
        )
    if len(set(options.judges)) < len(options.judges):
        twice = next(path for path in options.judges if options.judges.count(path) > 1)
        raise InputError(f"the judgments {twice} are given twice.")
    judges: Any = parser.read_runs(options.run, options.judges)
    if len(judges) == 1:
        judges = options.judges[0]
    judged = call(
        germane.evaluate_judges, options, judges=judges, measures=parser.read_measures(options)
    )
    write_found(options, judged)


def _run_next(options: argparse.Namespace) -> None:
    measures = parser.parse_measures(options)
    if len(measures) > 1:
        raise InputError(f"next takes one measure; got {', '.join(map(str, measures))}.")
    runs = parser.read_runs(options.qrels, options.runs)
    with make_progress_line() as progress:
        judgments = call(
            germane.choose_judgments, options, runs=runs, measure=measures[0], progress=progress
        )
    write_found(options, judgments)


JUDGING = {
    "trust": Command(
        _run_trust,
        "Compute the means of runs and their differences from a model's judgments, correct them"
        " with people's judgments of some of the queries, and measure how far the two agree.",
        "runs+",
        "detect format spreadsheet output",
    ),
    "judges": Command(
        _run_judges,
        "Evaluate a run with the judgments of each of several judges, with their majority grades"
        " and with their mean grades, and measure how far the judges agree. Queries that some"
        " judge did not judge are left out.",
        "run judges+",
        "format spreadsheet output",
    ),
    "next": Command(
        _run_next,
        "Choose the unjudged pairs of query and item that have the largest weight in a measure."
        " Write them with --format csv -o FILE and fill in the column grade: FILE then contains"
        " qrels.",
        "qrels runs+",
        "format spreadsheet output",
    ),
}


# --- The commands that teach: simulate and explorer -----------------------------------------------


def _run_simulate(options: argparse.Namespace) -> None:
    path = options.output
    designs = EXPERIMENTS if options.name == ALL else (find_design(options.name),)
    numbers = parser.collect_given(options, ("ranks", "relevant", "fixed", "rng"))
    if len(designs) > 1 and (chosen := [name for name in numbers if name != "rng"]):
        raise InputError(
            f"--{chosen[0]} is for one experiment; with all, each experiment has numbers of"
            " its own."
        )
    picture = is_picture(options)
    if picture and len(designs) > 1:
        raise InputError(f"{path}: all experiments are written to a folder, as in -o gallery/")
    folder = path not in (None, "-") and not picture and _is_folder(path, designs)
    if (picture or folder) and options.format != "table":
        raise InputError(f"{path}: a picture has no --format; leave out -o or --format.")
    if picture:
        from germane.teaching.experiment_figures import ExperimentDisplay

        ExperimentDisplay(simulate(designs[0].name, **numbers)).save(path)
    elif folder:
        from germane.teaching.experiments import write_gallery

        with make_progress_line("drawing", after=1.0) as progress:
            write_gallery(path, designs, numbers, progress=progress)
    else:
        experiments = [simulate(design.name, **numbers) for design in designs]
        writing.write(path, _write(experiments, options))


def _is_folder(path: str, designs: Sequence[Design]) -> bool:
    return len(designs) > 1 or path.endswith(("/", os.sep)) or os.path.isdir(path)


def _write(experiments: Sequence[Experiment], options: argparse.Namespace) -> str:
    match form := options.format:
        case "json":
            return as_json(
                make_document({"experiments": [experiment.to_dict() for experiment in experiments]})
            )
        case "table":
            return "\n\n".join(map(str, experiments))
        case "csv" | "tsv":
            if len(experiments) > 1:
                raise InputError(f"--format {form} is one table; name one experiment.")
            return format_table(experiments[0].table(digits=None), options)
        case "markdown":
            return "\n".join(
                f"## {shown.title}\n\n{shown.design.line}\n\n{shown.table().markdown()}"
                for shown in experiments
            )
        case _:
            return "\n".join(FORMATS[form](experiment.table()) for experiment in experiments)


def _list_experiments() -> str:
    names = [*(design.name for design in EXPERIMENTS), ALL]
    lines = [*(design.describe(design.setup).line for design in EXPERIMENTS), "All of them."]
    widest = max(map(len, names))
    listed = (f"  {name:<{widest}}  {line}" for name, line in zip(names, lines, strict=True))
    return "experiments:\n" + "\n".join(listed)


def _run_explorer(options: argparse.Namespace) -> None:
    writing.write(options.output, germane.explorer().html)


TEACHING = {
    "explorer": Command(
        _run_explorer,
        "Write an HTML page, which needs no network, on which to move, grade and tie the items of"
        " a list, or move the boxes of an image, and see each measure's terms, value and"
        " calculation.",
        extra="output",
    ),
    "simulate": Command(
        _run_simulate,
        "Change one quantity, such as the ranks of the relevant items, and show how the measures"
        " respond.\nDraw an experiment with -o FILE.svg, .png or .pdf, or draw it and describe it"
        " with -o FOLDER/.",
        "name",
        "format spreadsheet output",
        pictures=PICTURES,
        epilog=_list_experiments(),
    ),
}

COMMANDS = CHECKING | JUDGING | TEACHING
