"""Published tables: numbers of runs by measure, from a file, a frame, a dict or typeset text."""

import csv
import math
import os
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from germane.core.calls import read_decimal
from germane.errors import DuplicateError, EmptyError, FormatError, InputError, clip, list_some
from germane.forensics.reported import (
    GROUPS,
    Reported,
    align_precision,
    read_columns,
    read_reported,
)
from germane.output.tables import write_count
from germane.readers.files.formats import refuse_special
from germane.readers.files.json_files import parse_unique
from germane.readers.files.streams import explain_os_error
from germane.readers.objects.frames import read_cells
from germane.records.record import read_runs

_EMPTY = {"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "/"}
_MARKUP = re.compile(
    r"\\(?:textbf|mathbf|underline|uline|emph|textit|mathit|text|textrm|boldmath|bm|bf|it|cellcolor(?:\[[^]]*\])?"
    r"|color|textcolor)\s*\{([^{}]*)\}"
)
_RAISED = re.compile(
    r"\\textsuperscript\{[^{}]*\}|\^\{[^{}]*\}|\^\\\w+|\^\S|\\(?:dagger|ddagger|ast|star)\b"
)
_COMMA = re.compile(r"^(-?0(?=,)|-?\d\d?(?=,\d\d?%?$)),(\d+%?)$")  # for the point
_SIGNS = "*_$†‡§¶✱★↑↓`~ \t\u00a0\u2009{}"


def clean_cell(value: Any) -> tuple[Reported | None, bool]:
    """Read a cell, and say whether it had marks beside the number."""
    if isinstance(value, bool) or value is None:
        return None, False
    text = repr(value) if isinstance(value, float) else str(value)
    bare = unmark(text)
    number = re.split(r"±|\\pm|\+/-|\(|\[", bare)[0].strip(_SIGNS)
    number = number.replace("\\%", "%").replace("−", "-")
    number = _COMMA.sub(r"\1.\2", number)
    try:
        return read_reported(number), number != text.strip()
    except InputError:
        return None, False


def is_empty(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or unmark(str(value)).casefold() in _EMPTY


def unmark_name(text: str) -> str:
    """Remove a name's markup; what is raised stays if it says that boxes or masks are matched."""
    raised = re.sub(
        r"\$?\^\s*\{?\s*(?:\\(?:text|mathrm|textrm|mathit|rm|mathbf)\b\s*\{?)?\s*(b?box|b|mask|m|segm?)\s*\}*\s*\$?(?=$|[^a-z])",
        lambda match: " mask" if match[1][0] in "ms" else " box",
        text,
    )
    lowered = re.sub(
        r"\$?(?<!\\)_\s*\{?(50|75)\}?\$?(?!\d)", r"\1", raised
    )  # thresholds of detectors
    lowered = re.sub(r"\$?_\s*\{@?(\d+)\}\$?", r"@\1", lowered)
    lowered = re.sub(r"\$?_\s*\{([^{}]*)\}\$?", r"\1", lowered)
    return re.sub(r"\s+", " ", unmark(lowered.replace("$@$", "@")))


def unmark(text: str) -> str:
    """Remove the markup and the signs of a cell or a name."""
    bare, before = text, None
    while bare != before:
        before, bare = bare, _MARKUP.sub(r"\1", bare)
    bare = re.sub(r"</?\w+[^>]*>", "", _RAISED.sub("", bare))
    return bare.replace("\\_", "_").replace("\\%", "%").replace("\\@", "@").strip(_SIGNS)


_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|cline\{[^}]*\}|cmidrule(?:\([^)]*\))?\{[^}]*\})"
)


def split_latex(text: str) -> Iterator[list[str]]:
    """Split the rows of a tabular; comments and rules are left out."""
    match = re.search(
        r"\\begin\{tabular[x*]?\}(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})*(.*?)\\end\{tabular",
        text,
        re.DOTALL,
    )
    body = match[1] if match else text
    body = re.sub(r"(?<!\\)%.*", "", body)
    for row in re.split(r"\\\\(?:\[[^]]*\])?", _RULES.sub("", body)):
        if row.strip():
            yield [
                text for cell in re.split(r"(?<!\\)&", row) for text in _spread_cell(cell.strip())
            ]


def _spread_cell(cell: str) -> list[str]:
    """Read \\multicolumn as a cell and blank ones beside it, and \\multirow as its text."""
    match = re.fullmatch(
        r"\\multicolumn\{(\d{1,3})\}\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*\{(.*)\}", cell, re.DOTALL
    )
    if match:
        return [match[2], *[""] * (int(match[1]) - 1)]
    return [re.sub(r"\\multirow\{[^{}]*\}(?:\[[^]]*\])?\{[^{}]*\}\s*\{([^{}]*)\}", r"\1", cell)]


def split_markdown(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split the rows of a Markdown table, but for the one below the names and other lines."""
    for line in lines:
        if "|" not in line or re.fullmatch(r"[\s|:\-]+", line):
            continue
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


# --- Published tables: numbers of runs by measure, from a file, a frame or a dict -----------------

MOST_CELLS = 100_000
_TOTAL = "all"  # the row of means in the output of trec_eval -q


@dataclass(frozen=True)
class Published:
    """A table of numbers as it was published: rows of runs or queries, columns of measures."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: Mapping[tuple[int, int], Reported]
    of_queries: bool = False  # each row is one query, but for the last, which is their mean
    dialect: str | None = None  # of the tool whose file it is
    exact: bool = False  # the columns are germane's own names, with every parameter
    notes: tuple[str, ...] = field(default=())

    def column(self, c: int) -> list[Reported]:
        """List the numbers of a column."""
        return [cell for (_, column), cell in self.cells.items() if column == c]


def read_published(raw: Any) -> Published:
    """Read a published table.

    ``raw`` is a path (CSV, TSV, JSON, Markdown, LaTeX, output of ``trec_eval -q``, kept results),
    a frame, ``{run: {column: number}}``, or ``{column: number}`` of one run. Numbers may be text
    such as "0.412" or "41.2%", with marks of bold or significance. Raises FormatError or InputError
    for anything else, and EmptyError without numbers.
    """
    if isinstance(raw, (str, os.PathLike)):
        table = _read_file(os.fspath(raw))
    elif isinstance(raw, Mapping):
        table = _read_mapping(raw, "the table")
    elif hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "iloc"):
        table = _read_frame(raw)
    else:
        raise InputError(
            f"a published table is a file, a frame, or {{run: {{column: number}}}}; got {clip(raw)}"
        )
    if not table.cells:
        raise EmptyError("the table has no numbers.")
    if len(table.columns) > WIDEST:
        raise InputError(
            f"a table has up to {WIDEST:,} columns; this one has {len(table.columns):,}. Leave out"
            " those that are not measures."
        )
    return table


def read_percentages(
    table: Published, shares: Sequence[int], beyond: Collection[int] = ()
) -> tuple[dict[tuple[int, int], Reported], list[int]]:
    """Read columns of percentages as shares; return the cells, and the columns that were read so.

    ``shares`` are the columns of measures that are at most 1, and ``beyond`` those of others, such
    as DCG. A column is one of percentages if all of its numbers are above 1, or if many numbers of
    the table are, or half of those that are not 0, and it has as many decimals as they: a 0 is a
    share as well as a percentage. Of numbers with one decimal, as percentages have and shares have
    not, two are enough, and of those with two decimals three. Columns whose names are not read
    count, too, if they are written like shares or percentages: ``Rank-1 94.8`` shows the scale of
    ``mAP 84.9``.
    """
    written = {cell.decimals for (_, c), cell in table.cells.items() if c in shares}
    alike = [
        c
        for c in range(len(table.columns))
        if c in shares or (c not in beyond and _is_alike(table, c, written))
    ]
    values = [cell.value for (_, c), cell in table.cells.items() if c in alike]
    above = sum(value > 1 for value in values)
    short = written <= {0, 1} or (written == {2} and above > 2)
    other_than_zero = sum(value != 0 for value in values)
    many = above * 4 >= len(values) or above * 2 >= other_than_zero
    several = above > 1 or above == other_than_zero < len(values)
    table_is_percent = above > 0 and several and (many or short)
    highest = {c: max((number.value for number in table.column(c)), default=0.0) for c in shares}
    chosen = []
    for c in shares:
        numbers = table.column(c)
        column_is_percent = len(numbers) > 2 and all(number.value > 1 for number in numbers)
        if highest[c] <= 100 and (column_is_percent or (table_is_percent and highest[c] > 1)):
            chosen.append(c)
    if table_is_percent and all(top <= 100 for top in highest.values()):
        decimals = {number.decimals for c in chosen for number in table.column(c)}
        chosen += [
            c
            for c in shares
            if c not in chosen and {number.decimals for number in table.column(c)} <= decimals
        ]
    cells = {
        position: (
            replace(cell, value=cell.value / 100, tolerance=cell.tolerance / 100)
            if position[1] in chosen and "%" not in cell.text
            else cell
        )
        for position, cell in table.cells.items()
    }
    return cells, chosen


def _is_alike(table: Published, column: int, written: set[int]) -> bool:
    """Are the numbers of a column written as those of shares are, and within 0 and 100?"""
    numbers = table.column(column)
    return bool(numbers) and all(
        0 <= number.value <= 100 and number.decimals in written - {0} for number in numbers
    )


WIDEST = 1000  # columns of a table, of which every two may be related


# --- files ------------------------------------------------------------------------------------


def _read_file(path: str) -> Published:
    refuse_special(path)
    with explain_os_error(path), open(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: this is not text in UTF-8 (byte {error.start}).") from None
    lines = text.splitlines()
    if text.lstrip()[:1] in ("{", "[") and not text.lstrip().startswith("\\"):
        return _read_json(path, text)
    if "\\begin{tabular" in text or ("\\\\" in text and "&" in text):
        return _read_grid(list(split_latex(text)), path, typed=True)
    if any(re.match(r"\s*\|?\s*:?-{2,}:?\s*(\||$)", line) and "|" in line for line in lines):
        return _read_grid(list(split_markdown(lines)), path, typed=True)
    if _is_trec_eval(lines):
        return _read_trec_eval(path, lines)
    separator = max("\t,;", key=lambda sign: lines[0].count(sign) if lines else 0)
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    return _read_grid(rows, path, typed=False)


def _is_trec_eval(lines: Sequence[str]) -> bool:
    fields = [line.split() for line in lines[:20] if line.strip()]
    return bool(fields) and all(
        len(field) == 3 and (_is_number(field[2]) or field[0] in ("runid", "relstring"))
        for field in fields
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(read_decimal(text))
    except ValueError:
        return False


def _read_trec_eval(path: str, lines: Sequence[str]) -> Published:
    """Read lines of measure, query and value; the row of means is the last one."""
    rows: dict[str, dict[str, Any]] = {}
    for place, line in enumerate(lines, 1):
        fields = line.split()
        if not fields or fields[0] in ("runid", "relstring"):
            continue
        if len(fields) != 3:
            raise FormatError(
                f"{path}:{place}: a line of trec_eval is 'measure query value'; got {clip(line)}"
            )
        measure, query, value = fields
        if measure in rows.setdefault(query, {}):
            raise DuplicateError(
                f"{path}:{place}: {clip(measure)} of query {clip(query)} was given before."
            )
        rows[query][measure] = value
    total = rows.pop(_TOTAL, None)
    of_queries = bool(rows)
    if total is not None:
        rows[_TOTAL] = total
    table = _read_mapping(rows, path, typed=True)
    return replace(table, of_queries=of_queries, dialect="trec_eval")


def _read_grid(rows: list[list[str]], where: str, *, typed: bool) -> Published:
    """Read rows of text, of which the first one has the names. Leading cells of text name a row."""
    if len(rows) < 2:
        raise FormatError(f"{where}: a table has a row of names and a row of numbers.")
    names, rows = _join_headings(rows)
    body = [row for row in rows if any(cell.strip() for cell in row)]
    for place, row in enumerate(body, 2):
        if len(row) != len(names):
            raise FormatError(
                f"{where}, row {place}: {write_count(len(row), 'cell')} under"
                f" {write_count(len(names), 'name')}: {clip(' | '.join(row))}"
            )
    numeric = [
        c
        for c in range(len(names))
        if any(clean_cell(row[c])[0] is not None for row in body)
        and all(clean_cell(row[c])[0] is not None or is_empty(row[c]) for row in body)
        and not (c == 0 and names[c].casefold() in _NAMES_OF_ROWS)
    ]
    _refuse_words(names, body, numeric, where)
    of_text = [c for c in range(len(names)) if c not in numeric]
    leading = [c for c in of_text if not numeric or c < numeric[0]] or of_text[:1]
    rows_by_name: dict[str, dict[str, Any]] = {}
    for place, row in enumerate(body, 1):
        name = " / ".join(unmark(row[c]) for c in leading) or f"row {place}"
        if name in rows_by_name:
            raise DuplicateError(f"{where}: two rows are called {clip(name)}.")
        rows_by_name[name] = {names[c]: row[c] for c in numeric}
    unread = [names[c] for c in of_text if c not in leading and read_columns((names[c],)) != [None]]
    repeated = [names[c] for c in numeric if [names[d] for d in numeric].count(names[c]) > 1]
    if repeated:
        raise DuplicateError(f"{where}: two columns are called {clip(repeated[0])}.")
    table = _read_mapping(rows_by_name, where, typed=typed)
    return replace(table, notes=(*table.notes, *_note_unread(unread)))


def _note_unread(names: Sequence[str]) -> Iterator[str]:
    """Say which columns of measures have no number."""
    if names:
        yield f"Left out, as no cell is a number: {list_some(names, 8)}."


def _refuse_words(
    names: Sequence[str], body: Sequence[Sequence[str]], numeric: Sequence[int], where: str
) -> None:
    """Refuse a column of a measure that has numbers and something else."""
    for c, label in enumerate(names):
        if c in numeric or read_columns((label,)) == [None]:
            continue
        wrong = [row[c] for row in body if clean_cell(row[c])[0] is None and not is_empty(row[c])]
        if wrong and len(wrong) < len(body):
            raise FormatError(
                f"{where}, column {clip(label)}: a number such as 0.412 or 41.2%, or nothing; got"
                f" {clip(wrong[0])}"
            )


def _join_headings(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Read the names of the columns, from one row or two; return the rows below."""
    first, second = ([unmark_name(name) for name in row] for row in rows[:2])
    spans = "" in first[1:] and len(rows) > 2 and len(first) == len(second)
    if not spans or any(clean_cell(cell)[0] is not None for cell in second):
        return first, rows[1:]
    groups, last = [], ""
    for name in first:
        last = name or last
        groups.append(last)
    repeated = {heading for heading in second if second.count(heading) > 1}
    names = [
        GROUPS.join((group, heading)) if heading in repeated and heading else heading or group
        for group, heading in zip(groups, second, strict=True)
    ]
    return names, rows[2:]


_NAMES_OF_ROWS = {"run", "model", "system", "method", "query", "qid", "topic", "id", "#", "index"}


# --- JSON -------------------------------------------------------------------------------------


def _read_json(path: str, text: str) -> Published:
    content = parse_unique(text, path)
    if isinstance(content, dict) and "runs" in content and "schema" in content:
        return _read_results(content, path)
    if isinstance(content, dict) and isinstance(content.get("scores"), dict):  # MTEB's result file
        return _read_mteb(content, path)
    if isinstance(content, list):
        content = _name_records(content, path)
    if isinstance(content, dict) and all(isinstance(row, list) for row in content.values()):
        raise FormatError(f"{path}: a table is {{run: {{column: number}}}}, or a list of records.")
    table = _read_mapping(content, path)
    beir = all(re.fullmatch(r"(NDCG|MAP|Recall|P|MRR)@\d+", name) for name in table.columns)
    return replace(table, dialect="beir") if beir else table


def _name_records(records: list[Any], where: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for place, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise FormatError(
                f"{where}, record {place}: a record is {{column: number}}; got {clip(record)}"
            )
        texts = [str(v) for v in record.values() if isinstance(v, str) and clean_cell(v)[0] is None]
        name = texts[0] if texts else f"row {place}"
        if name in rows:
            raise DuplicateError(f"{where}: two rows are called {clip(name)}.")
        rows[name] = {
            key: value for key, value in record.items() if clean_cell(value)[0] is not None
        }
    return rows


def _read_mteb(raw: Mapping[str, Any], path: str) -> Published:
    """Read a result file of MTEB: splits, and in each the scores of subsets."""
    rows: dict[str, dict[str, Any]] = {}
    for split, parts in raw["scores"].items():
        for part in parts if isinstance(parts, list) else [parts]:
            if not isinstance(part, dict):
                raise FormatError(f"{path}: the scores of split {clip(split)} are {clip(part)}")
            subset = str(part.get("hf_subset", "default"))
            name = split if subset == "default" else f"{split}, {subset}"
            skipped = ("main_score", "hf_subset", "languages")
            rows[name] = {
                key: value
                for key, value in part.items()
                if key not in skipped and isinstance(value, (int, float)) and "nauc" not in key
            }
    version = str(raw.get("mteb_version", ""))
    table = _read_mapping(rows, path)
    notes = (*table.notes, f"Computed by MTEB {version}.") if version else table.notes
    return replace(table, dialect=_find_mteb(version), notes=notes)


def _find_mteb(version: str) -> str:
    """Find the dialect of a version of MTEB."""
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    versions = ((1, 13), "beir"), ((2, 18, 19), "mteb-2.18.18")
    return next((name for before, name in versions if numbers and numbers < before), "mteb")


def _read_results(raw: Mapping[str, Any], path: str) -> Published:
    """Read kept results of germane: means, or one run's values of queries and their mean."""
    if "policy" in raw:  # of ranked lists
        read_runs(path, raw)
    try:
        runs = {
            run["name"]: {row["measure"]: row["mean"] for row in run["measures"]}
            for run in raw["runs"]
        }
        queries = raw["runs"][0].get("queries") if len(raw["runs"]) == 1 else None
        if queries:
            total = next(iter(runs.values()))
            runs = {**queries, _TOTAL: total}
    except (KeyError, TypeError, IndexError):
        raise FormatError(
            f"{path}: saved results have a list 'runs', each with a name and a list of measures"
            f" and their means; this has {clip(raw['runs'])}"
        ) from None
    return replace(_read_mapping(runs, path), of_queries=bool(queries), exact=True)


# --- objects ----------------------------------------------------------------------------------


def _read_frame(raw_frame: Any) -> Published:
    """Read a frame: the first column of text names the rows, or the index of pandas does."""
    if hasattr(raw_frame, "reset_index") and type(raw_frame.index).__name__ != "RangeIndex":
        raw_frame = raw_frame.reset_index()
    columns = read_cells(raw_frame, "the table")
    rows = [list(map(_spell, row)) for row in zip(*columns.values(), strict=True)]
    return _read_grid([list(columns), *rows], "the frame", typed=False)


def _spell(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _read_mapping(table: Any, where: str, *, typed: bool = False) -> Published:
    """Read ``{run: {column: number}}`` or ``{column: number}``; ``typed``: zeros were kept."""
    if not isinstance(table, Mapping) or not table:
        raise FormatError(f"{where}: a table is {{run: {{column: number}}}}; got {clip(table)}")
    if not any(isinstance(row, Mapping) for row in table.values()):
        table = {"the run": table}
    names: dict[str, int] = {}
    cells: dict[tuple[int, int], Reported] = {}
    marked = percent = 0
    for r, (run, row) in enumerate(table.items()):
        if not isinstance(row, Mapping):
            raise FormatError(f"{where}, {clip(run)}: a row is {{column: number}}; got {clip(row)}")
        for name, value in row.items():
            number, mark = clean_cell(value)
            if number is None:
                if not is_empty(value):
                    raise InputError(
                        f"{where}, {clip(run)}, column {clip(name)}: a number such as 0.412 or"
                        f" 41.2%; got {clip(value)}"
                    )
                continue
            marked += mark
            percent += "%" in number.text
            cells[r, names.setdefault(str(name), len(names))] = number
            if len(cells) > MOST_CELLS:
                raise InputError(f"{where}: a table has at most {MOST_CELLS:,} numbers.")
    if not typed:
        cells = _align_columns(cells, len(names))
    empty = dict.fromkeys(str(name) for row in table.values() for name in row if name not in names)
    notes = [
        f"{write_count(number, 'cell')} {'has' if number == 1 else 'have'} {feature}."
        for number, feature in ((marked, "marks, which were left out"), (percent, "a percent sign"))
        if number
    ]
    notes += _note_unread([*empty])
    return Published(tuple(names), tuple(map(str, table)), cells, notes=tuple(notes))


def _align_columns(
    cells: Mapping[tuple[int, int], Reported], columns: int
) -> dict[tuple[int, int], Reported]:
    """Give the numbers of a column one precision: programs leave zeros at the end off."""
    aligned = dict(cells)
    for c in range(columns):
        numbers: dict[Hashable, Reported] = {
            position: cell for position, cell in cells.items() if position[1] == c
        }
        if numbers:
            aligned.update(align_precision(numbers))  # type: ignore[arg-type]
    return aligned
