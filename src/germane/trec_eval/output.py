"""trec_eval's output: a line a value, measure, query and value separated by tabs."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from germane.trec_eval.columns import Column


def per_query(
    columns: Sequence[Column], queries: Sequence[str], values: Sequence[list[Any]], z: str
) -> Iterator[str]:
    """The lines of every query. ``values`` has a list for each column; ``z`` is Z for standard scores.

    The measures of one query are one format, made once: only its name is put in for each.
    """
    shown = [
        (column, kept)
        for column, kept in zip(columns, values, strict=True)
        if column.row.shown not in ("id", "geometric") and column.measure != "num_q"
    ]
    if not shown:
        return
    template = "".join(_line(column, "\0", z) for column, _ in shown)
    rows = zip(*(kept for _, kept in shown), strict=True)
    for query, row in zip(queries, rows, strict=True):
        yield _as_c(template.replace("\0", query.replace("%", "%%")) % row)


def summary(columns: Sequence[Column], values: Sequence[Any], z: str) -> Iterator[str]:
    """The lines for all queries together."""
    for column, value in zip(columns, values, strict=True):
        if column.row.shown != "string":
            yield _as_c(_line(column, "all", z) % (value,))


def _line(column: Column, query: str, z: str) -> str:
    form = "%d" if column.row.shown == "count" and not z else _FORMS.get(column.row.shown, "%6.4f")
    prefix = z if form == "%6.4f" else ""
    blanks = " " * (22 - len(os.fsencode(column.name)))
    name = column.name.replace("%", "%%")
    return f"{prefix}{name}{blanks}\t{query}\t{form}\n"


_FORMS = {"string": "'%s'", "id": "%s"}


def _as_c(text: str) -> str:
    """0/0 is a negative NaN on the processors that trec_eval runs on."""
    return text.replace("\t   nan\n", "\t  -nan\n")
