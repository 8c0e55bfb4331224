"""The commands of every day: evaluate, score, explain, compare, report, gate, check and curve."""

import argparse
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import germane
from germane._version import VERSION
from germane.cli import parser
from germane.cli.parser import PICTURES, Command, call, collect_policy
from germane.cli.terminal import (
    FOR_PAPERS,
    add_lines,
    as_json,
    check_defined,
    choose_digits,
    format_table,
    is_picture,
    is_signed,
    make_progress_line,
    name_relevant,
    read_rename,
    say,
    write_found,
    write_result,
)
from germane.core.mean_intervals import Interval
from germane.errors import GermaneWarning, InputError, NotFoundError, make_visible
from germane.evaluation.layout import format_value, name_measures, write_warnings
from germane.evaluation.opening import open_data
from germane.evaluation.result import Results
from germane.output.documents import make_document
from germane.output.tables import Table, stack_tables
from germane.presentation import writing
from germane.readers import find_name

if TYPE_CHECKING:
    from germane.explanation.explanation import Explanation
    from germane.measures.measure import Measure
    from germane.types import Checkup, Comparison, Gate, MeanPRCurve, PRCurve, QueryDifferences

FAILED = 1
VIEWS = ("leaderboard", "pairs", "segments", "queries", "stability")
_SUMMARIES = {
    "fell": "fell behind its baseline",
    "lost": "lost queries of its baseline",
    "below": "is below a floor",
}

# --- evaluate -------------------------------------------------------------------------------------


def _run_evaluate(options: argparse.Namespace) -> None:
    from germane.comparison.comparison import write_signatures

    measures, policy = parser.name_measures(options), collect_policy(options)
    rename = read_rename(options)
    _check_shown(options, rename)
    picture = is_picture(options)
    if picture:
        _check_picture(options, "per_query by bounds signature")
    runs = parser.read_runs(options.qrels, options.runs)
    writing.check_suffix(options.record or "", ("json",), "a record is JSON")
    with make_progress_line() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)  # said below, in the manner of a terminal
        if options.checkpoint is None:
            signs = is_signed(options) or options.record is not None
            data = open_data(options.qrels, policy, signs=signs)
            results = germane.evaluate_many(data, runs, measures, progress=progress)
        else:
            results = _evaluate_kept(
                options.qrels, runs, measures, options.checkpoint, {"progress": progress, **policy}
            )
    for line in write_warnings(results):
        say(f"germane: {line}")
    if options.record is not None:
        writing.write(options.record, as_json(results.to_dict(queries=options.per_query)))
    if picture:
        _draw_means(results, options, rename)
        return
    if options.by is not None:
        groups = results.by(options.by)
        groups_table = partial(groups.table, confidence=options.confidence, rename=rename)
        write_result(options, lambda digits: groups_table(digits=digits), groups.to_dict)
        return
    if options.bounds:
        write_found(options, results.bounds())
        return
    signatures = write_signatures(results) if options.signature else ()
    table: Callable[..., Table] = partial(results.table, confidence=options.confidence)
    if options.per_query:
        table = results.table_per_query
    write_result(
        options,
        lambda digits: add_lines(table(digits=digits, rename=rename), signatures),
        lambda: results.to_dict(queries=options.per_query),
        FOR_PAPERS,
    )


def _draw_means(results: Results, options: argparse.Namespace, rename: Mapping[str, str]) -> None:
    """Draw the means of the runs with their intervals."""
    from germane.plot import MeansDisplay

    [measure] = results.measures
    name = name_measures([measure], rename)[measure]
    level = {} if options.confidence is None else {"confidence": options.confidence}
    MeansDisplay(results, measure=measure, name=name, **level).save(options.output)


def _check_shown(options: argparse.Namespace, rename: Mapping[str, str]) -> None:
    """Refuse before the work is done what cannot be shown after it."""
    is_signed(options)
    if options.dialect is None:
        name_measures(parser.parse_measures(options), rename)
    display = ("per_query", "confidence", "rename", "signature")
    for option, purpose, excluded in (
        ("bounds", "prints bounds of means", ("per_query", "by", *display[1:])),
        ("by", "is for means of categories", ("per_query", "signature")),
    ):
        for name in excluded if getattr(options, option) not in (None, False) else ():
            if getattr(options, name):
                shown = name.replace("_", "-")
                raise InputError(f"--{option} {purpose}; leave out --{shown}.")
    if options.confidence is not None:
        Interval.check_confidence(options.confidence)
        check_defined(options, "--confidence")
        if options.per_query:
            raise InputError("--confidence is for means; leave out --per-query.")


def _evaluate_kept(
    qrels: str, runs: Mapping[str, str], measures: Any, folder: str, choices: Mapping[str, Any]
) -> Results:
    """Evaluate each run with a checkpoint of its own, in a folder inside ``folder``."""
    from germane.records.checkpoint import evaluate_kept

    results = {}
    for number, (name, run) in enumerate(runs.items(), 1):
        checkpoint = os.path.join(folder, f"{number}-{find_name(run)}")
        results[name] = evaluate_kept(
            qrels, run, measures, name=name, checkpoint=checkpoint, **choices
        )
    return Results(results)


# --- score ----------------------------------------------------------------------------------------


def _run_score(options: argparse.Namespace) -> None:
    grades, measures = parser.read_grades(options.relevance), parser.parse_measures(options)
    choices = parser.collect_given(options, ("relevant", "dialect"))
    values = [(m, germane.score(grades, m, **choices)) for m in measures]
    notes = _count_relevant(grades, measures) if options.relevant is None else ()

    def make_table(digits: int | None) -> Table:
        cells = tuple((str(m), format_value(v, m, digits), m.definition) for m, v in values)
        return Table(("measure", "value", "definition"), cells, notes, left=(2,))

    def as_dict() -> dict[str, Any]:
        rows = [{"measure": str(m), "value": v, "definition": m.definition} for m, v in values]
        return make_document({"germane": VERSION, "measures": rows})

    write_result(options, make_table, as_dict)


def _count_relevant(grades: list[Any], measures: tuple["Measure", ...]) -> tuple[str, ...]:
    """Say how many items are relevant in the list, at each level that a measure has."""
    from germane.explanation.single_query import Counted

    levels = sorted({1.0 if measure.rel is None else measure.rel for measure in measures})
    counts = (sum(grade >= level for grade in grades) for level in levels)
    texts = [str(Counted(count, "--relevant")) for count in counts]
    if len(texts) == 1:
        return (texts[0],)
    return tuple(f"rel={level:g}: {text}" for level, text in zip(levels, texts, strict=True))


# --- explain --------------------------------------------------------------------------------------


def _run_explain(options: argparse.Namespace) -> None:
    from germane.measures import CATALOGUE
    from germane.teaching.animation import animate
    from germane.teaching.animation import check as check_animation

    measures = parser.parse_measures(options)
    if len(options.data) == 2 and {measure.name for measure in measures} <= {
        row.name for row in CATALOGUE
    }:
        _explain_catalogue(options, measures)
        return
    if options.animate is not None:
        check_animation(options.animate, measures=len(measures))
    explain = partial(call, germane.explain, options, measures=parser.read_measures(options))
    match options.data:
        case [_]:
            explanation = explain(qrels=parser.read_list(options))
        case [first, second] if parser.is_typed(first) and parser.is_typed(second):
            _explain_both(options, explain)
            return
        case [qrels, run]:
            [run] = parser.read_runs(qrels, [run]).values()  # of standard input there is one
            with make_progress_line() as progress:
                explanation = explain(qrels=qrels, run=run, progress=progress)
        case _:
            raise InputError(
                "explain takes QRELS and RUN, or one LIST or two in quotes, such as '0 0 1'; "
                f"got {len(options.data)} arguments."
            )
    if options.animate is not None:
        animate(explanation, options.animate)
    write_found(options, name_relevant(explanation))


def _explain_both(options: argparse.Namespace, explain: Callable[..., "Explanation"]) -> None:
    """Lay two lists side by side."""
    if options.animate is not None or options.format == "json":
        raise InputError("two lists make a table, which has no animation and no JSON.")
    first, second = (
        explain(qrels=parser.read_list(options, place)) for place in range(len(options.data))
    )
    writing.write(options.output, format_table(first.beside(second), options))


def _explain_catalogue(options: argparse.Namespace, measures: tuple["Measure", ...]) -> None:
    """Show which items make measures of all lists."""
    from germane.evaluation.whole_lists import CatalogueResult

    if options.query is not None or options.animate is not None:
        raise InputError(
            f"{measures[0]} is about all lists at once; leave out --query and --animate."
        )
    with make_progress_line() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)
        qrels, run = options.data
        result = germane.evaluate(
            qrels, run, measures, progress=progress, **collect_policy(options)
        )
    explanations = [
        value.explain() for value in result.values() if isinstance(value, CatalogueResult)
    ]
    if options.format == "json":
        text = as_json([explanation.to_dict() for explanation in explanations])
    else:
        digits = choose_digits(options)
        tables = (explanation.table(digits=digits) for explanation in explanations)
        text = "\n".join(format_table(table, options) for table in tables)
    writing.write(options.output, text)


# --- compare --------------------------------------------------------------------------------------


def _run_compare(options: argparse.Namespace) -> None:
    datasets = [[options.qrels, *options.runs], *(options.dataset or ())]
    rename = read_rename(options)
    name_measures(parser.parse_measures(options), rename)
    if rename and options.view in ("queries", "stability"):
        raise InputError(f"--rename is for --view leaderboard or pairs; got {options.view}.")
    if options.view == "segments" and options.by is None:
        raise InputError("--view segments shows those of --by FILE; give that, too.")
    picture = is_picture(options)
    if options.bounds and (picture or options.format in ("csv", "tsv")):
        raise InputError(
            "--bounds adds a second table, for --format table, markdown, html or json."
        )
    if picture:
        _check_picture(options, "rename signature")
        if options.view not in (None, "pairs", "queries"):
            raise InputError(f"{options.output}: a picture is of the pairs, or of --view queries.")
    results, statistics = _evaluate_datasets(options, datasets), collect_statistics(options)
    with make_progress_line("comparing") as progress:
        comparison = germane.compare(results, by=options.by, progress=progress, **statistics)
    signatures = comparison.signatures if options.signature else ()
    if picture:
        _choose_drawn(comparison, options).save(options.output)
        return
    if options.format == "json":
        text = as_json(_as_dict(comparison, options))
    elif options.view is None and options.format == "table":
        text = comparison.text(rename=rename)
        text = "\n".join([text.rstrip("\n"), *(("", *signatures) if signatures else ()), ""])
    else:
        view = _make_view(comparison, options, choose_digits(options), rename)
        text = format_table(add_lines(view, signatures), options, FOR_PAPERS)
    writing.write(options.output, text + _write_bounds(comparison, options))


def collect_statistics(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the statistics that were given, as arguments of ``compare`` and ``report``."""
    names = "baseline test correction family confidence equivalence resamples sequential rng"
    return parser.collect_given(options, names.split())


def _write_bounds(comparison: "Comparison", options: argparse.Namespace) -> str:
    """Write the bounds of every data set below the comparison, if they are asked for."""
    from germane.evaluation.bounds import BoundsOfRuns

    if not options.bounds or options.format == "json":
        return ""
    tables = {name: BoundsOfRuns(runs).table() for name, runs in comparison.datasets.items()}
    return f"\n{format_table(stack_tables('data set', tables), options)}"


def _check_picture(options: argparse.Namespace, excluded: str) -> None:
    """Refuse what cannot be drawn before the work is done; ``excluded`` are options of tables."""
    from germane.presentation.pictures import import_matplotlib

    import_matplotlib()
    measures = parser.parse_measures(options)
    if len(measures) > 1:
        listed = ", ".join(map(str, measures))
        raise InputError(
            f"{options.output}: a picture has one measure; got {listed}. Name it with -m."
        )
    for name in ("format", *excluded.split()):
        value = getattr(options, name)
        if value and not (name == "format" and value == "table"):
            raise InputError(
                f"{options.output}: --{name.replace('_', '-')} is for tables; leave it out for a"
                " picture."
            )


def _choose_drawn(
    comparison: "Comparison", options: argparse.Namespace
) -> "Comparison | QueryDifferences":
    if options.view != "queries":
        return comparison
    [measure] = comparison.measures
    return comparison.queries(measure, *_find_only_pair(comparison))


def _find_only_pair(comparison: "Comparison") -> tuple[str, str]:
    if len(comparison.pairs) > len(comparison.measures):
        raise NotFoundError("--view queries shows two runs; give only two.")
    return comparison.pairs[0].system, comparison.pairs[0].baseline


def _evaluate_datasets(
    options: argparse.Namespace, datasets: list[list[str]]
) -> Results | dict[str, Results]:
    """Evaluate the runs of each data set."""
    measures, policy = parser.read_measures(options), collect_policy(options)
    results = {}
    with make_progress_line() as progress:
        for qrels, *paths in datasets:
            if qrels in results:
                raise InputError(f"the data set {qrels} is given twice.")
            runs = parser.read_runs(qrels, paths)
            data = open_data(qrels, policy, signs=is_signed(options))
            results[qrels] = germane.evaluate_many(data, runs, measures, progress=progress)
    return results if len(results) > 1 else next(iter(results.values()))


def _as_dict(comparison: "Comparison", options: argparse.Namespace) -> dict[str, Any]:
    from germane.evaluation.bounds import BoundsOfRuns

    plain = comparison.to_dict()
    if options.view == "stability":
        plain["stability"] = [comparison.stability(m).to_dict() for m in comparison.measures]
    if options.view == "queries":
        plain["queries"] = [
            comparison.queries(pair.measure, pair.system, pair.baseline).to_dict()
            for pair in comparison.pairs
        ]
    if options.bounds:
        bounds = {name: BoundsOfRuns(runs) for name, runs in comparison.datasets.items()}
        plain["bounds"] = {name: bound.to_dict() for name, bound in bounds.items()}
    return plain


def _make_view(
    comparison: "Comparison",
    options: argparse.Namespace,
    digits: int | None,
    rename: Mapping[str, str],
) -> Table:
    match options.view or ("pairs" if options.format in ("csv", "tsv") else "leaderboard"):
        case "leaderboard":
            return comparison.leaderboard(digits=digits, rename=rename)
        case "pairs":
            return comparison.table(digits=digits, rename=rename)
        case "segments":
            assert comparison.segments is not None  # which --by gives
            return comparison.segments.table(digits=digits, rename=rename)
        case "stability":
            tables = {
                str(m): comparison.stability(m).table(digits=digits) for m in comparison.measures
            }
            return stack_tables("measure", tables)
    system, baseline = _find_only_pair(comparison)
    tables = {
        str(m): comparison.queries(m, system, baseline).table(most=options.most, digits=digits)
        for m in comparison.measures
    }
    return stack_tables("measure", tables)


# --- report ---------------------------------------------------------------------------------------


def _run_report(options: argparse.Namespace) -> None:
    folder = options.output.endswith("/") or os.path.isdir(options.output)
    if folder:
        writing.check_folder(options.output, ["rankings"])
    runs = parser.read_runs(options.qrels, options.runs)
    writing.check_suffix(options.record or "", ("json",), "a record is JSON")
    with make_progress_line("report:") as progress:
        page = call(
            germane.report,
            options,
            runs=runs,
            measures=parser.read_measures(options),
            layout="folder" if folder else "page",
            rename=read_rename(options) or None,
            command=write_command_line(),
            progress=progress,
        )
    if folder:
        page.save(options.output)
    else:
        writing.write(options.output, page.html)
    if options.record is not None:
        writing.write(options.record, as_json(page.record))


def write_command_line() -> str:
    """Write the command that runs, for a page to show."""
    return shlex.join(["germane", *sys.argv[1:]])


# --- gate -----------------------------------------------------------------------------------------


def _run_gate(options: argparse.Namespace) -> int:
    data = open_data(options.qrels, collect_policy(options), signs=is_signed(options))
    named = options.measures is not None or options.baseline is not None
    measures = parser.name_measures(options) if named else None
    decision = call(germane.gate, options, without=parser.POLICY, qrels=data, measures=measures)
    compared = decision.comparison
    signatures = compared.signatures if options.signature and compared is not None else ()
    status = write_gate(options, decision, signatures)
    if options.github:
        report_to_github(decision)
    return status


def write_gate(
    options: argparse.Namespace, decision: "Gate", signatures: Sequence[str] = ()
) -> int:
    """Write the table of a gate, or its comparison and verdicts as JSON; return the exit status.

    What goes to a file is printed as a table, too.
    """
    write_result(
        options,
        lambda digits: add_lines(decision.table(digits=digits), signatures),
        decision.to_dict,
    )
    if options.output not in (None, "-"):  # so that the log of a job has it, too
        writing.write(None, f"{decision.table()}\n")
    return 0 if decision.passed else FAILED


def report_to_github(decision: "Gate") -> None:
    """Write workflow commands to standard output, and the table to the job's summary."""
    for sentence in decision.sentences:
        text = make_visible(sentence).replace("%", "%25")
        print(f"::error title=germane gate::{text}")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    worst = next((word for word in _SUMMARIES if word in decision.verdicts.values()), "")
    verdict = "passed" if decision.passed else _SUMMARIES.get(worst, "is inconclusive")
    writing.append(
        summary, f"### germane gate: the run {verdict}\n\n{decision.table().markdown()}\n"
    )


# --- check ----------------------------------------------------------------------------------------


def _run_check(options: argparse.Namespace) -> int:
    runs, measures = parser.read_runs(options.qrels, options.run), parser.read_measures(options)
    with make_progress_line("looking at") as progress:
        checkup = call(germane.check, options, run=runs, measures=measures, progress=progress)
    return write_checkup(options, checkup)


def write_checkup(options: argparse.Namespace, checkup: "Checkup") -> int:
    """Write the findings as text or JSON; return the exit status."""
    text = as_json(checkup.to_dict()) if options.format == "json" else f"{checkup}\n"
    writing.write(options.output, text)
    return FAILED if options.strict and checkup.serious else 0


# --- curve ----------------------------------------------------------------------------------------


def _run_curve(options: argparse.Namespace) -> None:
    from germane import plot
    from germane.explanation.curves import PRCurve, check_rule
    from germane.presentation.pictures import import_matplotlib

    rule = check_rule(options.rule or "step")
    picture = is_picture(options)
    if picture:
        import_matplotlib()
    curves = _make_curves(options)
    only = next(iter(curves.values()))
    if picture and len(curves) == 1 and isinstance(only, PRCurve):
        plot.PRCurveDisplay(only, rule=rule).save(options.output)
    elif picture:
        plot.PRCurvesDisplay(curves, rule=rule).save(options.output)
    else:
        write_result(
            options,
            lambda digits: stack_tables(
                "run", {name: curve.table(digits=digits) for name, curve in curves.items()}
            ),
            lambda: make_document(
                {"curves": [{"name": name, **curve.to_dict()} for name, curve in curves.items()]}
            ),
        )


def _make_curves(options: argparse.Namespace) -> Mapping[str, "PRCurve | MeanPRCurve"]:
    is_single = options.query is not None or len(options.data) == 1
    verb: Any = germane.pr_curve if is_single else germane.mean_pr_curve
    if is_single and options.by is not None:
        raise InputError("--by is for the mean curves of segments of queries; leave it out.")
    if is_single and options.confidence is not None:
        raise InputError("--confidence is for the mean curve of all queries; leave it out.")
    if len(options.data) == 1:
        grades = parser.read_list(options)
        curve = call(verb, options, without=("dialect",), qrels=grades)
        return {"list": name_relevant(curve)}
    if isinstance(options.relevant, int):
        raise InputError("--relevant is for the grades of one list; qrels say what is relevant.")
    path, *paths = options.data
    runs, data = parser.read_runs(path, paths), open_data(path, collect_policy(options))
    draw = partial(call, verb, options, without=parser.POLICY, qrels=data)
    with make_progress_line() as progress:
        curves = {name: draw(run=run, progress=progress) for name, run in runs.items()}
    if options.by is None:
        return curves
    return {
        f"{name}, {segment}": part
        for name, curve in curves.items()
        for segment, part in curve.by(options.by).items()
    }


# --- The commands ---------------------------------------------------------------------------------

COMMANDS = {
    "evaluate": Command(
        _run_evaluate,
        "Evaluate runs with qrels, and print measures with their definitions. Files are read by"
        " their suffix: TREC, Parquet, Arrow, CSV, TSV, JSON or JSON Lines. Draw the means of one"
        " measure with -o FILE.svg, .png or .pdf.",
        "qrels runs+",
        "per_query by confidence signature record bounds rename format spreadsheet output"
        " checkpoint",
        pictures=PICTURES,
    ),
    "score": Command(
        _run_score,
        "Evaluate one list, given as the grades of its items in the order of their ranks.",
        "relevance",
        "format spreadsheet output",
    ),
    "explain": Command(
        _run_explain,
        "Show where the numbers of one query, or of one list, come from, rank by rank.",
        "data+",
        "format spreadsheet output animate",
        usage="%(prog)s QRELS RUN --query ID [options]\n"
        "       %(prog)s LIST [--relevant R] [options]",
    ),
    "compare": Command(
        _run_compare,
        "Compare runs query by query: mean differences with confidence intervals, effect sizes and"
        " significance. Draw the differences with -o FILE.svg, .png or .pdf.",
        "qrels runs+",
        "dataset view most signature bounds rename format spreadsheet output",
        words={"view": VIEWS},
        pictures=PICTURES,
    ),
    "report": Command(
        _run_report,
        "Evaluate and compare runs, and write one HTML page that needs no network: means with"
        " intervals, problems in the data, curves, and every query.",
        "qrels runs+",
        "record output",
    ),
    "gate": Command(
        _run_gate,
        "Compare a run with its baseline, or with floors. The exit status is 1 if a measure fell by"
        " more than --max-drop with p below --alpha, if too few queries differ to test it, or if it"
        " is below its floor; 2 for bad input; 0 otherwise.",
        "qrels run",
        "signature github format spreadsheet output",
    ),
    "check": Command(
        _run_check,
        "Find problems in qrels and runs that can distort your results. Each finding says how"
        " often the problem occurs, where, and what to do. Lines that cannot be read are counted,"
        " and all others are checked. The exit status is 0; with --strict it is 1 if a finding is"
        " serious. It is 2 if a file cannot be read at all.",
        "qrels run+",
        "strict format output",
        formats=("text", "json"),
    ),
    "curve": Command(
        _run_curve,
        "Print the precision-recall curve of one query, of one list, or averaged over queries, and"
        " the area under it. Draw it with -o FILE.svg, .png or .pdf.",
        "data+",
        "rule by format spreadsheet output",
        verbs=("mean_pr_curve", "pr_curve"),
        words={"rule": ("step", "trapezoid", "interpolated", 11, 101)},
        pictures=PICTURES,
        usage="%(prog)s QRELS RUN... [--query ID] [options]\n"
        "       %(prog)s LIST [--relevant R] [options]",
    ),
}
