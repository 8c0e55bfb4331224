"""Unjudged items: how far they could move the means of the page."""

from collections.abc import Iterator

from germane.reports.findings import Findings
from germane.reports.markup import make_scrollable, write_notes, write_table


def write_unjudged(findings: Findings) -> Iterator[str]:
    """Write the bounds of every run and measure, where they were asked for."""
    if findings.bounds is None:
        return
    table = findings.bounds.table()
    yield from make_scrollable(write_table(table.columns, table.rows, table.left))
    yield from write_notes(table.notes)
