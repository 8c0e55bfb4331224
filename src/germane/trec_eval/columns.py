"""Columns, one for each value that the measures asked for print; their lines; and the help."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from germane.dialects.names import parse
from germane.trec_eval.command_line import INPUT, Options, TrecEvalError, parse_real, parse_whole
from germane.trec_eval.names import MEASURES, NICKNAMES, Row

_SHARED = ("dcg", "ideal_dcg", "ndcg")
"""These measures share their gains in trec_eval: the last gains given are those of all three. The
name of each has the last gains given up to it."""


@dataclass(frozen=True)
class Column:
    """A value: its printed name, its measure, and the cutoff, level, numbers or gains it takes."""

    name: str
    measure: str
    argument: Any = None
    parameters: str = ""  # as they were written

    @property
    def row(self) -> Row:
        return MEASURES[self.measure]


def make_columns(options: Options) -> list[Column]:
    """Make the columns of the measures asked for. Raises TrecEvalError for wrong parameters."""
    out: list[Column] = []
    last = ""
    for name in options.measures:
        argument = options.parameters.get(name, "")
        if name in _SHARED:
            argument = last = argument or last
        out += _EXPAND[MEASURES[name].takes](name, argument)
    shared = {column.measure: column.argument for column in out if column.measure in _SHARED}
    return [
        replace(column, argument=[*shared.values()][-1]) if column.measure in shared else column
        for column in out
    ]


def _take_cutoffs(name: str, raw: str) -> list[Column]:
    cutoffs = _sort(name, list(map(parse_whole, _split(raw))), raw)
    if cutoffs and cutoffs[0] <= 0:
        raise TrecEvalError(INPUT, f"-m {name}.{raw}: a cutoff is a whole number from 1.")
    return [Column(f"{name}_{k}", name, int(k)) for k in cutoffs or MEASURES[name].default]


def _take_levels(name: str, raw: str) -> list[Column]:
    levels = _sort(name, list(map(parse_real, _split(raw))), raw)
    # trec_eval's name has room for eight characters
    return [
        Column(f"{name}_{_show(level)[:8]}", name, level)
        for level in levels or MEASURES[name].default
    ]


def _take_numbers(name: str, raw: str) -> list[Column]:
    numbers = tuple(map(parse_real, _split(raw))) or MEASURES[name].default
    return [Column(_write(name, raw), name, numbers, raw)]


def _take_gains(name: str, raw: str) -> list[Column]:
    pairs = []
    for part in raw.split(",") if raw else []:
        key, _, value = part.partition("=")
        if part.count("=") != 1:
            raise TrecEvalError(
                INPUT, f"-m {name}.{raw} takes pairs such as 1=3,2=9; got {part!r}."
            )
        pairs.append((key, parse_real(os.fsencode(value))))
    return [Column(_write(name, raw), name, tuple(pairs), raw)]


_EXPAND: dict[str, Callable[[str, str], list[Column]]] = {
    "nothing": lambda name, _: [Column(name, name)],
    "cutoffs": _take_cutoffs,
    "levels": _take_levels,
    "numbers": _take_numbers,
    "gains": _take_gains,
}


def _show(level: float) -> str:
    sign = "-" if math.isnan(level) and math.copysign(1.0, level) < 0 else ""
    return f"{sign}{level:3.2f}"


def _write(name: str, raw: str) -> str:
    return f"{name}_{raw}" if raw else name


def _split(raw: str) -> list[bytes]:
    return os.fsencode(raw).split(b",") if raw else []


def _sort(name: str, numbers: list[Any], raw: str) -> list[Any]:
    if len(set(numbers)) < len(numbers):
        raise TrecEvalError(INPUT, f"-m {name}.{raw} gives a value twice.")
    return sorted(numbers)


def format_queries(
    columns: Sequence[Column], queries: Sequence[str], values: Sequence[list[Any]], z: str
) -> Iterator[str]:
    """Format the lines of every query. ``values`` has a list for each column; ``z`` is Z for
    standard scores.

    One template has the lines of all measures; each query fills it with its name and values.
    """
    shown = [
        (column, column_values)
        for column, column_values in zip(columns, values, strict=True)
        if column.row.shown not in ("id", "geometric") and column.measure != "num_q"
    ]
    if not shown:
        return
    template = "".join(_format_line(column, "\0", z) for column, _ in shown)
    rows = zip(*(column_values for _, column_values in shown), strict=True)
    for query, row in zip(queries, rows, strict=True):
        yield _write_nan_as_c(template.replace("\0", query.replace("%", "%%")) % row)


def format_summary(columns: Sequence[Column], values: Sequence[Any], z: str) -> Iterator[str]:
    """Format the lines for all queries together."""
    for column, value in zip(columns, values, strict=True):
        if column.row.shown != "string":
            yield _write_nan_as_c(_format_line(column, "all", z) % (value,))


def _format_line(column: Column, query: str, z: str) -> str:
    form = "%d" if column.row.shown == "count" and not z else _FORMS.get(column.row.shown, "%6.4f")
    prefix = z if form == "%6.4f" else ""
    blanks = " " * (22 - len(os.fsencode(column.name)))
    name = column.name.replace("%", "%%")
    return f"{prefix}{name}{blanks}\t{query}\t{form}\n"


_FORMS = {"string": "'%s'", "id": "%s"}


def _write_nan_as_c(text: str) -> str:
    """Write NaN with its sign: 0/0 is negative on the processors that trec_eval runs on."""
    return text.replace("\t   nan\n", "\t  -nan\n")


_FLAGS = """\
Evaluate RUN against QRELS, with the flags and the output of NIST's trec_eval 10.0.

usage: trec_eval [flags] QRELS RUN        (RUN - is standard input)

  -q             also print every query's values
  -n             do not print the values over all queries
  -c             average over all judged queries; those that RUN lacks count as 0
  -m MEASURE     a measure or a nickname, with parameters after a dot; may be repeated
  -l GRADE       the lowest grade that counts as relevant (1)
  -M N           use only the first N results of each query
  -J             remove unjudged items first
  -N N           documents in the collection, for utility (0)
  -R FORMAT      QRELS holds qrels, qrels_jg, prefs or qrels_prefs (qrels)
  -Z FILE        print standard scores, from lines "query measure mean deviation"
  -D L.QUERY     look at one query only; trec_eval's debugging output is not printed
  -h, -v         this help, with the measures of -m; the version

"""
_ON = {
    "any": "from the files",
    "qrels": "of trec_eval alone",
    "preferences": "of preferences",
    "groups": "of groups of judgments",
}
_TAKES = {
    "nothing": "",
    "cutoffs": ".5,10: ranks",
    "levels": "..1,.25: levels",
    "numbers": ".1,-1: numbers",
    "gains": ".1=3,2=9: what grades are worth",
}


def write_help(options: Options) -> str:
    """Write the help, with the definitions of the measures asked for, or with a list of all."""
    if options.marked:
        return _FLAGS + "".join(map(_define, options.measures))
    nicknames = "".join(
        f"  {name:<24}{len(names)} measures: {', '.join(names[2:5])}, …\n"
        for name, names in NICKNAMES.items()
    )
    listed = "".join(
        f"  {name + _TAKES[row.takes].partition(':')[0]:<24}{_describe_row(row)}\n"
        for name, row in MEASURES.items()
    )
    return f"{_FLAGS}nicknames:\n{nicknames}\nmeasures, with their parameters:\n{listed}"


def _describe_row(row: Row) -> str:
    ours = row.germane.format("k" if row.takes == "cutoffs" else "x")
    return f"germane's {ours}" if ours else _ON[row.judgments]


def _define(name: str) -> str:
    row = MEASURES[name]
    if not row.germane:
        return f"{name}: {_ON[row.judgments]}; germane has no measure of its own for it.\n"
    example = make_columns(Options(marked={name}))[0]
    measure = parse(row.germane.format(example.argument))
    return (
        f"{name}{_TAKES[row.takes].partition(':')[0]}: as germane's {measure}:"
        f" {measure.definition}\n"
    )
