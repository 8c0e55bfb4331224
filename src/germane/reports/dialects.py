"""Dialects: each measure as every other tool would report it, and the stage in which it differs."""

import math
from collections.abc import Iterator, Sequence

from germane.dialects.dialect import STAGE_NAMES
from germane.evaluation.layout import format_value
from germane.forensics.spread import LIST_ALONE, NOT_COUNTED, DialectValue, Spread, order_descending
from germane.output.tables import escape_html
from germane.reports.findings import Findings
from germane.reports.markup import isolate_text, make_scrollable, write_table

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
        '<p class="small">Stages: reading, judging (ties, missing queries, depth), measuring (norm,'
        " gain, cutoff), averaging. germane dialects says more about each tool.</p>"
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
