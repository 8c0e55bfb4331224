"""Page: findings as one HTML file that loads nothing; each measure in every dialect."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources

from germane.comparison.comparison import Comparison
from germane.comparison.comparison_tables import explain_printed
from germane.comparison.pair import Pair, format_p
from germane.evaluation.layout import find_bands, format_value, write_definition
from germane.forensics.spread import LIST_ALONE, NOT_COUNTED, DialectValue, Spread, order_descending
from germane.forensics.variations import STAGE_NAMES
from germane.measures import find_direction
from germane.measures.measure import Measure
from germane.output.tables import Table, escape_html, write_count
from germane.presentation.pictures import PAPERS, define_colors, format_short, write_content_policy
from germane.reports.findings import Findings, Origin, list_cautions
from germane.reports.page_data import write_data
from germane.reports.scatter import write_scatters
from germane.reports.sections import (
    BANDED,
    COLORS,
    draw_chart,
    draw_swatch,
    isolate_text,
    make_scrollable,
    write_cautions,
    write_definitions,
    write_ends,
    write_figure,
    write_headline,
    write_notes,
    write_table,
    write_whole_table,
)

Row = tuple[str, ...]


def write_dialects(findings: Findings) -> Iterator[str]:
    """Write a table for each measure; tools that agree on every run share a row."""
    shown = {
        str(spreads[0].own.measure): spreads
        for spreads in zip(*findings.spreads.values(), strict=True)
        if len(spreads[0]) and not math.isnan(spreads[0].range[0])
    }
    if not shown:
        return
    left = [name for name in findings.runs if name not in findings.spreads]
    yield (
        "<p>Each row has the numbers that these tools would report on the same data, under "
        "the name in the last column. The column before it names the stage of the difference.</p>"
    )
    for i, (name, spreads) in enumerate(shown.items()):
        low, high = (end(spread.range[e] for spread in spreads) for e, end in ((0, min), (1, max)))
        ends = f"{low:.4f}" if f"{low:.4f}" == f"{high:.4f}" else f"{low:.4f} to {high:.4f}"
        yield f"<details{' open' if not i else ''}><summary>{escape_html(name)}: {ends}"
        yield f" in {len(spreads[0])} dialects</summary>"
        columns = ("reported by", *findings.spreads, "differs in", "as")
        words = len(columns) - 2, len(columns) - 1
        yield from make_scrollable(write_table(columns, _make_rows(spreads), words, "dialects"))
        if any(stated.listed for spread in spreads for stated in spread.stated):
            yield f'<p class="small">{LIST_ALONE.strip()}: {NOT_COUNTED}.</p>'
        if spreads[0].without:
            absent = isolate_text(", ".join(spreads[0].without))
            yield f'<p class="small">No such measure: {absent}</p>'
        yield "</details>"
    if left:
        yield (
            f'<p class="small">Not here: {isolate_text(", ".join(left))}. The table has the first'
            " three runs, if they can be read again and are not large; germane dialects QRELS RUN"
            " shows any run.</p>"
        )
    yield (
        '<p class="small">Stages: reading, judging (ties, missing queries, depth), measuring'
        " (norm, gain, cutoff), averaging. germane dialects tells you more about each tool.</p>"
    )


def _make_rows(spreads: Sequence[Spread]) -> Iterator[Row]:
    """Make the rows, germane's own among them, by the first run's value, the highest first."""
    by_name = [
        {row.dialect: row for part in (spread.own, *spread.stated) for row in part.rows}
        for spread in spreads
    ]
    tools: dict[Row, list[str]] = {}
    labels = dict.fromkeys(name for names in by_name for name in names)
    by_label = {  # a run may have no row of its own for the list alone, if it changes nothing
        label: [names.get(label, names[label.removesuffix(LIST_ALONE)]) for names in by_name]
        for label in labels
    }
    for label, stated in sorted(by_label.items(), key=lambda pair: order_descending(pair[1][0])):
        values = map(_write_value, stated)
        tools.setdefault((*values, _explain(stated), str(stated[0].measure)), []).append(label)
    for cells, dialects in tools.items():
        yield (", ".join(dialects), *cells)


def _write_value(dialect_value: DialectValue) -> str:
    if math.isnan(dialect_value.value) or dialect_value.measure is None:
        return "none"
    return format_value(dialect_value.value, dialect_value.measure, 4)


def _explain(stated: Sequence[DialectValue]) -> str:
    """Name the stages in which some run's value differs, or say why there is no value."""
    if reason := next((value.says for value in stated if value.says), ""):
        return reason
    differing = {stage for value in stated for stage in value.stages}
    return ", ".join(stage for stage in STAGE_NAMES if stage in differing) or "–"


# --- Page: findings as one HTML file that loads nothing -------------------------------------------

SCRIPTS = ("page.js", "rankings.js", "charts.js", "controls.js")  # one function of four parts
SENTENCES = 8  # comparisons in words; a table has all of them


def write_page(findings: Findings) -> tuple[str, dict[str, str]]:
    """Write the page as one HTML file, and the files beside it where it is a folder."""
    script = read_script(SCRIPTS)
    sources = "; img-src data:" if findings.items is not None else ""
    sources = f" 'self' file:{sources}" if findings.layout == "folder" else sources
    sections = [(name, title, list(write(findings))) for name, title, write in SECTIONS]
    head = write_head(
        "Ranking report", findings.title, _write_lead(findings), sections, script, sources
    )
    foot = [f"<script>{script}</script>", END]
    size = sum(len(line.encode()) + 1 for line in (*head, *foot))
    written, files = write_data(findings, size)
    data = f'<script type="application/json" id="data">{written}</script>'
    return "\n".join([*head, data, *foot]), files


def write_still_page(
    kind: str,
    title: str,
    lead: str,
    sections: "Sections",
    notes: Iterable[str],
    origin: Origin,
    sources: str = "",
) -> str:
    """Write a page without a script: sections, and then the notes on conventions and the origin.

    ``sources`` extends its content policy, for pictures that the page itself holds.
    """
    ends = [
        ("conventions", "Conventions", [*write_notes(filter(None, notes)), _CHOSEN]),
        ("origin", "Origin", list(_write_origin(origin))),
    ]
    return "\n".join([*write_head(kind, title, lead, [*sections, *ends], "", sources), END])


Sections = Sequence[tuple[str, str, Sequence[str]]]  # the name, title and lines of each
END = "</main></body></html>\n"


def write_head(
    kind: str,
    title: str,
    lead: str,
    sections: Sections,
    script: str,
    sources: str = "",
    style: str | None = None,
) -> list[str]:
    """Write a page with its sections that have lines, without what follows these.

    ``sources`` extends its content policy. ``style`` follows the style of all pages: that of
    reports, with the colors of runs, if it is not given.
    """
    page_style = read_package_file("page.css") if style is None else style
    written = _SPACES.sub(r"\1", read_package_file("base.css") + page_style)
    head = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        (
            '<meta http-equiv="Content-Security-Policy"'
            f' content="{write_content_policy(script, sources)}">'
        ),
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape_html(title)}</title>",
        f"<style>{_define_colors(style is None)}{written}</style></head>",
        f'<body><main><header><p class="over">{kind}</p><h1>{isolate_text(title)}</h1>',
        f'<p class="lead">{lead}</p>',
    ]
    sections = [section for section in sections if section[2]]
    if sections:
        links = (f'<a href="#{name}">{heading}</a>' for name, heading, _ in sections)
        head += ['<nav aria-label="Sections">', *links, "</nav>"]
    head.append("</header>")
    for name, heading, lines in sections:
        head += [f'<section id="{name}"><h2>{heading}</h2>', *lines, "</section>"]
    return head


def read_package_file(name: str, package: str = "germane.reports") -> str:
    """Read a script or a style of a package."""
    return resources.files(package).joinpath(name).read_text("utf-8")


_COMMENT = re.compile(r"/\*\*.*?\*/ ?", re.DOTALL)
_SPACES = re.compile(r"\s*([{};,])\s*|(?<=:) ")  # of a style
_TEXT = re.compile(
    r'"(?:[^"\\]|\\.)*"|`(?:[^`$\\]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*`'
)
_SIGN = re.compile(r" ?([=<>?:,;&|{}()\[\]*!]+) ?| ([+/-]) (?![+/-])")


def read_script(names: Sequence[str], package: str = "germane.reports") -> str:
    """Read scripts without indentation, comments and some spaces, a fourth of them."""
    files = (_COMMENT.sub("", read_package_file(name, package)) for name in names)
    lines = (line.strip() for file in files for line in file.splitlines())
    return "\n".join(
        ["", *(_shorten(line) for line in lines if line and not line.startswith("//")), ""]
    )


def _shorten(line: str) -> str:
    """Leave out spaces around the signs of a line of script, if it is clear what is a text."""
    texts = [*_TEXT.findall(line), ""]
    signs = _TEXT.split(line)
    if any(quote in code for code in signs for quote in "\"'`"):
        return line
    pairs = zip((_SIGN.sub(r"\1\2", code) for code in signs), texts, strict=True)
    return "".join(part for pair in pairs for part in pair)


def _define_colors(with_runs: bool) -> str:
    """Define colors for light and for dark screens; print is always light."""
    lines = {f"c{run}": shades for run, shades in enumerate(COLORS) if with_runs}
    light, dark = (define_colors(paper) + define_colors(paper, lines) for paper in PAPERS)
    runs = "".join(f".r{run}{{--run:var(--c{run})}}" for run in range(len(lines)))
    return (
        f"\n:root{{{light}}}\n@media screen and"
        f" (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{runs}\n"
    )


def _write_lead(findings: Findings) -> str:
    counts = next(iter(findings.results.values())).counts
    runs, judgments = (
        write_count(len(findings.runs), "run"),
        write_count(findings.judgments, "judgment"),
    )
    return f"{runs} on {write_count(counts.judged, 'query')} with {judgments}."


# --- Result -----------------------------------------------------------------------------------


def _write_result(findings: Findings) -> Iterable[str]:
    comparison = findings.comparison
    yield f'<p class="answer">{isolate_text(_write_answer(findings))}</p>'
    board = None if comparison is None else comparison.leaderboard()
    yield from make_scrollable(_write_headline(findings, board))
    yield from _write_key(findings, board)
    if comparison is not None:
        pairs = _choose_pairs(findings, comparison)
        yield from write_comparisons(comparison, pairs, 4, findings.names)
    yield from write_scatters(findings)


def _write_segments(findings: Findings) -> Iterable[str]:
    """Write the means in each segment, and the comparisons there."""
    if findings.groups is None:
        return
    rename = {str(measure): name for measure, name in findings.names.items()}
    table, defined = findings.groups, len(findings.measures)
    columns = ("run", "segment", "queries", *table.columns[3:])
    yield from make_scrollable(write_table(columns, table.rows, (1,)))
    yield from write_notes(table.notes[defined:])
    segments = None if findings.comparison is None else findings.comparison.segments
    if segments is not None:
        shown = segments.table(rename=rename)
        yield f"<details open><summary>{len(segments.pairs):,} comparisons in segments</summary>"
        yield from make_scrollable(write_table(shown.columns, shown.rows, shown.left))
        yield from write_notes(shown.notes[len(segments.measures) :])
        yield "</details>"


def _write_corrected(findings: Findings) -> Iterable[str]:
    """Write the numbers as people's judgments correct them."""
    if findings.trusts is None:
        return
    first = next(iter(findings.trusts.numbers))
    yield (
        "<p>A model judged all queries, and the numbers above are from its judgments. People judged"
        f" {first.judged:,} of the {write_count(first.queries, 'query')}, and these judgments"
        " correct the means and the differences of the runs.</p>"
    )
    defined = {f"{measure}: {measure.definition}" for measure in findings.measures}
    table = findings.trusts.table()
    notes = tuple(note for note in table.notes if note not in defined)
    yield from write_whole_table(replace(table, notes=notes))


def write_comparisons(
    comparison: Comparison,
    pairs: Sequence[Pair],
    notes: int | None = None,
    names: Mapping[Measure, str] | None = None,
) -> Iterator[str]:
    """Write pairs in words, their evidence in small print, and below them the table of all pairs.

    The table is opened with a click; ``notes`` is how many of its notes are written.
    """
    rename = {str(measure): name for measure, name in (names or {}).items()}
    rename = {name: rename[name] for name in map(str, comparison.measures) if name in rename}
    shown, table = pairs[:SENTENCES], comparison.table(rename=rename or None)
    if shown:
        yield '<ul class="said">'
        for pair in shown:
            main, rest = pair.write_sentence((names or {}).get(pair.measure, str(pair.measure))), ""
            end = main.rfind("], ")  # of the interval; the evidence follows
            if end > 0:
                main, rest = main[: end + 1], main[end + 3 :]
            yield f'<li class="{"sure" if pair.significant else "noise"}">{isolate_text(main)}'
            yield f"<small>{isolate_text(rest)}</small></li>"
        yield "</ul>"
    if hidden := len(comparison.pairs) - len(shown):
        yield f"<p>{hidden:,} more comparisons are in the table below.</p>"
    yield f"<details><summary>All {len(comparison.pairs):,} comparisons</summary>"
    yield from write_whole_table(table, notes)
    yield "</details>"


def _write_answer(findings: Findings) -> str:
    """Write the answer in one sentence: the best run by the first measure, and its lead."""
    measure = findings.measures[0]
    best, *rest = findings.runs
    name = findings.names[measure]
    value = format_value(findings.results[best][measure].mean, measure, 4)
    if not rest:
        interval = findings.intervals.get(best, {}).get(measure)
        ends = (
            f", {interval.level} interval {interval.low:.3f} to {interval.high:.3f}"
            if interval
            else ""
        )
        return f"{best} has {name} {value}{ends}."
    comparison = findings.comparison
    pairs = comparison.pairs if comparison is not None else ()
    pair = next(
        (
            pair
            for runs in ({best, rest[0]}, set(findings.pair))
            for pair in pairs
            if pair.measure == measure and {pair.system, pair.baseline} == runs
        ),
        None,
    )
    is_low = find_direction(measure.name) < 0
    answer = f"{best} has the {'lowest' if is_low else 'highest'} {name}, {value}"
    if pair is None:
        return f"{answer}."
    ahead, behind = (
        (pair.system, pair.baseline)
        if (pair.difference >= 0) is not is_low
        else (pair.baseline, pair.system)
    )
    if not pair.difference:
        return f"{answer}, and so has {behind}." if best == ahead else f"{answer}."
    verdict = {
        "significant": "a statistically significant difference",
        "not significant": "not a statistically significant difference",
    }.get(pair.verdict, "which is inconclusive")
    who = "it" if ahead == best else ahead
    lead = format_short(abs(pair.difference))
    why = pair.explain_disagreement() or format_p(pair.p_adjusted, pair.alpha)
    return f"{answer}; {who} is {lead} ahead of {behind}, {verdict} ({why})."


def _choose_pairs(findings: Findings, comparison: Comparison) -> Sequence[Pair]:
    """Choose all pairs; of many, those of the first measure with its best run."""
    if len(comparison.pairs) <= SENTENCES:
        return comparison.pairs
    best, place = findings.runs[0], {name: r for r, name in enumerate(findings.runs)}
    of_best = [
        pair
        for pair in comparison.pairs
        if pair.measure == findings.measures[0] and best in (pair.system, pair.baseline)
    ]
    return sorted(of_best, key=lambda pair: place[pair.system] + place[pair.baseline])


def _write_headline(findings: Findings, board: Table | None) -> Iterator[str]:
    """Write one row per run, the best first: means with intervals, letters for runs it beats."""
    letters = {row[1]: row[0] for row in board.rows} if board else {}
    rows = {}
    for name in findings.runs:
        letter = f'<b class="letter">{letters[name]}</b> ' if letters else ""
        mark = '<small class="baseline">baseline</small>' if name == findings.baseline else ""
        rows[letter + isolate_text(name) + mark] = _write_cells(findings, board, name)
    longest = max(map(len, board.marks.values()), default=1) if board else 1
    names, order = findings.names, findings.sorted_by
    ordered = None if order is None else names[order]
    yield from write_headline("run", [*names.values()], rows, longest, sorted_by=ordered)


def _write_cells(findings: Findings, board: Table | None, name: str) -> Iterator[str]:
    rows = {row[1]: r for r, row in enumerate(board.rows)} if board else {}
    columns = {name: c for c, name in enumerate(board.columns)} if board else {}
    for measure in findings.measures:
        place = rows.get(name, -1), columns.get(str(measure), -1)
        value = escape_html(format_value(findings.results[name][measure].mean, measure, 4))
        strong = board is not None and place in board.strong
        mark = escape_html(board.marks.get(place, "")) if board else ""
        mean = f"<strong>{value}</strong>" if strong else f"<span>{value}</span>"
        ends = write_ends(findings.intervals.get(name, {}).get(measure))
        yield f"{mean}<sup>{mark}</sup>{ends}{_write_changes(findings, name, measure)}"


def _write_changes(findings: Findings, name: str, measure: Measure) -> str:
    """Write how far a mean is above or below the baseline, and its last value."""
    changes = []
    if findings.baseline is not None and findings.baseline != name:
        before = findings.results[findings.baseline][measure].mean
        changes.append((findings.results[name][measure].mean - before, "vs baseline"))
    if findings.previous is not None and (name, measure) in findings.previous.changes:
        changes.append((findings.previous.changes[name, measure], "since last"))
    return "".join(
        f'<small class="change">{_draw_change(change)} {since}</small>' for change, since in changes
    )


def _draw_change(change: float) -> str:
    """Write a change with an arrow, as it is printed: one of less than half a digit is none.

    >>> from germane.reports.page import _draw_change
    >>> _draw_change(0.01234), _draw_change(-0.5), _draw_change(0.00004)
    ('▲ 0.0123', '▼ 0.5000', '= 0.0000')
    """
    shown = f"{abs(change):.4f}"
    if not float(shown):
        return f"= {shown}"
    return f"{'▲' if change > 0 else '▼'} {shown}"


def _write_key(findings: Findings, board: Table | None) -> Iterator[str]:
    """Define the numbers of the headline."""
    yield from write_definitions(
        (name, write_definition(measure, name)) for measure, name in findings.names.items()
    )
    first = next(iter(findings.results.values()))
    written = list(first.explain_names(findings.names.values()))
    if written:
        yield f'<p class="small">{escape_html("; ".join(written))}.</p>'
    intervals = [interval for of_run in findings.intervals.values() for interval in of_run.values()]
    sentences = list(explain_printed(intervals, "mean", findings.confidence, "queries"))
    if board is not None:
        sentences.append("Bold: the best mean.")
    since = "the baseline" if findings.baseline in findings.runs and len(findings.runs) > 1 else ""
    if findings.previous is not None:
        last = f"the mean in {isolate_text(findings.previous.name)} (since last)"
        since = f"{since}, and {last}" if since else last
    if since:
        sentences.append(f"▲ and ▼: how far a mean is above or below {since}.")
    if sentences:
        yield f'<p class="small">{" ".join(sentences)}</p>'
    yield '<details class="signatures"><summary>Signatures</summary><pre>'
    for name, result in findings.results.items():
        for measure in findings.measures:
            yield f"{isolate_text(name)}: {escape_html(str(result.signature(measure)))}"
    yield "</pre></details>"
    if board is not None:
        elsewhere = {f"{measure}: {measure.definition}" for measure in findings.measures}
        elsewhere |= set(written)
        elsewhere |= {f"policy: {result.policy}" for result in findings.results.values()}
        yield from write_notes(note for note in board.notes if note and note not in elsewhere)


# --- Cautions, curves, ties -------------------------------------------------------------------


def _write_cautions(findings: Findings) -> Iterable[str]:
    cautions = list(list_cautions(findings))
    if not cautions:
        yield (
            "<p>Nothing in the data stands out: every judged query is answered and has a relevant "
            "item, no judged item is tied, and nearly all of the first ten results are judged.</p>"
        )
        return
    yield from write_cautions(cautions)


def _write_curves(findings: Findings) -> Iterable[str]:
    if not findings.curves:
        return
    legend = (
        f"{draw_swatch(r)} {isolate_text(name)} <span>area (AP) {curve.area():.4f}</span>"
        for r, (name, curve) in enumerate(findings.curves.items())
    )
    curve = next(iter(findings.curves.values()))
    caption = (
        f"Interpolated precision at 11 levels of recall, the mean over {curve.queries:,} queries"
        + (
            f"; shaded: {100 * curve.confidence:g}% intervals"
            if len(findings.curves) <= BANDED and curve.has_band
            else ""
        )
        + (f"; relevant: grade ≥ {curve.rel:g}" if curve.rel != 1 else "")
        + ". A query whose list does not reach a level of recall counts as 0 there."
    )
    yield from write_figure(draw_chart(findings.curves), legend, caption)
    levels = [f"{level:.1f}" for level in curve.recall.tolist()]
    values = (
        [f"{value:.4f}" for value in curve.precision.tolist()] for curve in findings.curves.values()
    )
    yield "<details><summary>The values of the curves</summary>"
    rows = zip(levels, *values, strict=True)
    yield from make_scrollable(write_table(("recall", *findings.curves), rows, (), "levels"))
    yield "</details>"


def _write_ties(findings: Findings) -> Iterable[str]:
    rows = [
        (name, str(value.measure), low, format_value(value.mean, value.measure, 4), high)
        for name, result in findings.results.items()
        for value, low, high in find_bands(result)
    ]
    if not rows:
        yield "<p>Ties do not change any number in this report.</p>"
        return
    yield (
        "<p>The order of tied items depends not on their scores but on the conventions below. The"
        " table shows the lowest and the highest numbers under other orders.</p>"
    )
    columns = ("run", "measure", "from", "reported", "to")
    yield from make_scrollable(write_table(columns, rows, (1,)))
    movable_results = [
        value for result in findings.results.values() for value, _, _ in find_bands(result)
    ]
    if beyond := dict.fromkeys(
        str(value.measure) for value in movable_results if not value.are_extremes
    ):
        yield (
            "<p>These are the numbers with relevant items first and last in each tie. For"
            f" {escape_html(', '.join(beyond))}, other orders may give lower or higher ones.</p>"
        )


def _write_unjudged(findings: Findings) -> Iterable[str]:
    """Write how far items without a judgment could move the means, where this was asked for."""
    return () if findings.bounds is None else write_whole_table(findings.bounds.table())


# --- Queries ----------------------------------------------------------------------------------


def _write_queries(findings: Findings) -> Iterable[str]:
    yield "<noscript><p>Turn on JavaScript to see the values of single queries.</p></noscript>"
    yield '<div id="app" hidden><div class="controls">'
    yield '<label>measure <select id="measure"></select></label>'
    if len(findings.runs) > 1:
        yield '<label>difference of <select id="system"></select></label>'
        yield '<label>from <select id="baseline"></select></label>'
    yield "</div>"
    yield '<div class="pair">'
    if len(findings.runs) > 1:
        yield '<figure id="differences"></figure>'
    yield '<figure id="spread"></figure></div>'
    yield (
        '<div class="controls"><label class="grow">find a query '
        '<input id="search" type="search" autocomplete="off" spellcheck="false"></label>'
        '<p id="count" role="status"></p></div>'
    )
    yield (
        '<p class="hint">Open a query to see the ranking of each run, and how its number comes'
        " about. Click on a heading to sort. The address of the page remembers your choices.</p>"
    )
    yield (
        '<div class="wide tall" tabindex="0"><table'
        ' id="rows"><thead></thead><tbody></tbody></table></div>'
    )
    yield '<button type="button" id="more"></button><p class="small" id="note"></p></div>'
    for note in findings.left_out:
        yield f"<p>{isolate_text(note)}</p>"


# --- Conventions and origin -------------------------------------------------------------------


_CHOSEN = (
    '<p class="small">Tools differ in these choices. They apply to every number in this report.</p>'
)


def _write_conventions(findings: Findings) -> Iterable[str]:
    policies = {name: result.policy for name, result in findings.results.items()}
    if len(set(policies.values())) == 1:
        policies = {"": next(iter(policies.values()))}
    for name, policy in policies.items():
        words = (f"{k}={v}" for k, v in policy.to_dict().items() if v is not None)
        chips = " ".join(f"<code>{escape_html(word)}</code>" for word in words)
        yield f"<p>{f'{isolate_text(name)}: ' if name else ''}{chips}</p>"
    yield _CHOSEN


def _write_origin(origin: Origin) -> Iterable[str]:
    """Write the inputs with their hashes, the versions and the command."""
    columns = ("input", "file", "bytes", "SHA-256")
    yield from make_scrollable(write_table(columns, origin.inputs, (1, 3), "origin"))
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    yield f"<p>Made with {escape_html(versions)}"
    yield f" by<br><code>{escape_html(origin.command)}</code></p>" if origin.command else ".</p>"


SECTIONS: tuple[tuple[str, str, Callable[[Findings], Iterable[str]]], ...] = (
    ("result", "Result", _write_result),
    ("people", "Corrected by people", _write_corrected),
    ("segments", "Segments", _write_segments),
    ("cautions", "Before relying on it", _write_cautions),
    ("curves", "Precision and recall", _write_curves),
    ("queries", "Query by query", _write_queries),
    ("ties", "Other orders of ties", _write_ties),
    ("unjudged", "Items without a judgment", _write_unjudged),
    ("dialects", "Other tools", write_dialects),
    ("conventions", "Conventions", _write_conventions),
    ("origin", "Origin", lambda findings: _write_origin(findings.origin)),
)
