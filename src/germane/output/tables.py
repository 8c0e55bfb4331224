"""Tables: rows of text with a heading and notes, the ways to write them, and numbers as text."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias, TypeVar, get_args

from germane.errors import InputError, check_choice, clip, make_visible
from germane.output.attributes import AttributeAdvice


def format_number(
    value: float | None,
    digits: int | None,
    *,
    sign: Literal["", "+", "z"] = "",
    nan: str = "nan",
) -> str:
    """Write a number with ``digits`` decimals, or with all of them for None; no number is empty
    text.

    ``sign`` is an option of format strings: ``+`` shows the sign of positive numbers too, ``z``
    writes no sign before a number that rounds to 0. A negative zero is written as 0.
    """
    if value is None:
        return ""
    if math.isnan(value):
        return nan
    value = float(value) + 0.0  # no -0.0000
    return repr(value) if digits is None else f"{value:{sign}.{digits}f}"


def write_count(count: int, singular: str, plural: str | None = None) -> str:
    """Write a number of things: ``1 query``, ``2,000 queries``; the plural may be given."""
    return f"{count:,} {singular if count == 1 else plural or pluralize(singular)}"


def pluralize(word: str) -> str:
    """Write the plural of a word: queries, boxes, images."""
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x")) else "s")


# --- Tables: rows of text with a heading and notes, and the ways to write them --------------------

V = TypeVar("V")
Row = tuple[str, ...]
Reader: TypeAlias = Literal["program", "spreadsheet"]


@dataclass(frozen=True)
class Table(AttributeAdvice):
    """A finished table. Columns but the first are numbers, unless ``left`` has them as text.

    >>> table = germane.evaluate({"q": ["a"]}, {"q": ["b", "a"]}, "RR").table()
    >>> table.columns, table.rows
    (('run', 'RR'), (('run', '0.5000'),))

    ``text()``, ``markdown()``, ``latex()``, ``csv()`` and ``html()`` write it.
    """

    LABEL: ClassVar = "tab:germane"  # the key of a LaTeX table that is given no other
    LETTERS: ClassVar = "abcdefghijklmnoprstuvwxyz"  # that can be raised: all but q

    columns: Row
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    left: tuple[int, ...] = ()  # further columns of text, set to the left
    strong: frozenset[tuple[int, int]] = frozenset()  # row and column of cells to stress
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)  # superscripts of cells

    def text(self) -> str:
        """Write aligned columns for a terminal; control characters in ids are made visible."""
        longest = [0] * len(self.columns)
        for (_, c), mark in self.marks.items():
            longest[c] = max(longest[c], len(mark))

        def write_cell(r: int, c: int, cell: str) -> str:
            mark = self.marks.get((r, c), "")
            raised = make_visible(mark).translate(_SUPERSCRIPTS)
            return make_visible(cell) + raised + " " * (longest[c] - len(mark))

        lines = self._write_cells(write_cell)
        widths = [max(map(measure_width, column)) for column in zip(*lines, strict=True)]
        sides = self._choose_sides("<", ">")
        out = [_align(line, sides, widths) for line in lines]
        out.insert(1, "  ".join("─" * width for width in widths))
        if self.notes:
            out += ["", *map(make_visible, self.notes)]
        return "\n".join(out) + "\n"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def markdown(self) -> str:
        """Write a GitHub table; ids cannot end a cell or start markup."""
        heading, *rows = self._write_markup(_escape_markdown, "**{}**", "<sup>{}</sup>")
        rule = self._choose_sides(":--", "--:")
        out = ["| " + " | ".join(line) + " |" for line in (heading, rule, *rows)]
        if self.notes:
            out += ["", *(f"{_escape_markdown(note)}  " for note in self.notes)]
        return "\n".join(out) + "\n"

    def latex(self) -> str:
        """Write a booktabs table; ids are escaped."""
        marked = self._write_markup(_escape_latex, r"\textbf{{{}}}", r"\textsuperscript{{{}}}")
        heading, *rows = (_protect_argument(" & ".join(row)) + r" \\" for row in marked)
        begin = rf"\begin{{tabular}}{{{''.join(self._choose_sides('l', 'r'))}}}"
        notes = (f"% {make_visible(note)}" for note in self.notes)
        out = [begin, r"\toprule", heading, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
        return "\n".join([*out, *notes]) + "\n"

    def latex_float(self, *, caption: str = "", label: str = LABEL) -> str:
        """Write a ``table`` environment for a paper: a booktabs table with its notes below it.

        The caption is escaped, and says which columns the table has unless it is given. ``label``
        is the key for references. Raises InputError for a label that LaTeX cannot read.
        """
        if not _LABEL.fullmatch(label):
            raise InputError(
                f"a label contains only letters, digits and : . / - _, such as {Table.LABEL}; got"
                f" {clip(label)}"
            )
        notes = [_JUST.sub(": ", note).rstrip(".") + "." for note in self.notes if note]
        if self.strong:
            notes.append("Bold: the best of the column.")
        out = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape_latex(caption or self._describe_columns())}}}",
            rf"\label{{{label}}}",
            replace(self, notes=()).latex().rstrip(),
        ]
        if notes:
            lines = (_protect_argument(_escape_latex(note)) + r"\par" for note in notes)
            box = r"\begin{minipage}{\linewidth}"
            out += [r"\par\medskip", box, r"\footnotesize\raggedright", *lines, r"\end{minipage}"]
        return "\n".join([*out, r"\end{table}"]) + "\n"

    def _describe_columns(self) -> str:
        of_text = {0, *self.left}
        numbers = [name for c, name in enumerate(self.columns) if c not in of_text and name]
        rows = [name for c, name in enumerate(self.columns) if c in of_text and name]
        return f"{', '.join(numbers)} by {' and '.join(rows)}."

    def csv(self, *, reader: Reader = "program") -> str:
        """Write comma-separated values (RFC 4180), every cell exactly as it is.

        ``reader="spreadsheet"`` puts a quotation mark before a cell that a spreadsheet would take
        for a formula, and writes control characters out. Raises PolicyError for another reader.
        """
        return self._separate(",", "\r\n", reader)

    def tsv(self, *, reader: Reader = "program") -> str:
        """Write tab-separated values; see ``csv``."""
        return self._separate("\t", "\n", reader)

    def html(self) -> str:
        """Write a table element with its notes; everything is escaped."""
        lines = self._write_markup(escape_html, "<strong>{}</strong>", "<sup>{}</sup>")
        sides = self._choose_sides("left", "right")

        def write_row(tag: str, row: Row) -> str:
            cells = (
                f"<{tag} style='text-align:{side};padding:2px 10px'>{cell}</{tag}>"
                for side, cell in zip(sides, row, strict=True)
            )
            return f"<tr>{''.join(cells)}</tr>"

        body = "".join(write_row("td", row) for row in lines[1:])
        notes = "\n".join(map(escape_html, self.notes))
        caption = f"<div style='{_NOTES}'>{notes}</div>" if notes else ""
        return (
            "<div class='germane' style='overflow-x:auto'><table"
            " style='border-collapse:collapse;white-space:nowrap'>"
            f"<thead>{write_row('th', lines[0])}</thead>"
            f"<tbody>{body}</tbody></table>{caption}</div>"
        )

    def formulas(self) -> list[str]:
        """List the cells that a spreadsheet would take for formulas."""
        return [
            cell for row in (self.columns, *self.rows) for cell in row if make_inert(cell) != cell
        ]

    def _write_cells(self, write: Callable[[int, int, str], str]) -> list[Row]:
        """Write every cell, given its row and column; the heading is row -1."""
        return [
            tuple(write(r, c, cell) for c, cell in enumerate(row))
            for r, row in enumerate((self.columns, *self.rows), -1)
        ]

    def _write_markup(self, escape: Callable[[str], str], strong: str, raised: str) -> list[Row]:
        """Escape every cell, and put strong cells and superscripts into their markup."""

        def write_cell(r: int, c: int, cell: str) -> str:
            text, place = escape(cell), (r, c)
            if place in self.strong:
                text = strong.format(text)
            mark = self.marks.get(place)
            return text + raised.format(escape(mark)) if mark else text

        return self._write_cells(write_cell)

    def _choose_sides(self, left: str, right: str) -> Row:
        """Choose a word for each column, by the side that its cells are set to."""
        of_text = {0, *self.left}
        return tuple(left if c in of_text else right for c in range(len(self.columns)))

    def _separate(self, delimiter: str, end: str, reader: Reader) -> str:
        check_choice("reader", reader, get_args(Reader))
        special = re.compile(f'[{delimiter}"\r\n]')

        def write_cell(cell: str) -> str:
            cell = make_inert(make_visible(cell)) if reader == "spreadsheet" else cell
            return '"' + cell.replace('"', '""') + '"' if special.search(cell) else cell

        lines = (self.columns, *self.rows)
        return "".join(delimiter.join(map(write_cell, line)) + end for line in lines)


class Sheet:
    """Sentences and tables in the order in which they are read."""

    def __init__(self, *parts: str | Table) -> None:
        self.parts = parts

    def text(self) -> str:
        """Write lines and tables for a terminal; control characters are made visible."""
        return self._write(make_visible, Table.text)

    def markdown(self) -> str:
        """Write sentences, a paragraph each, and tables for GitHub; ids cannot start markup."""
        return self._write(lambda sentence: f"{_escape_markdown(sentence)}\n", Table.markdown)

    def html(self) -> str:
        """Write sentences, a paragraph each, and tables as HTML; everything is escaped."""
        return self._write(lambda sentence: f"<p>{escape_html(sentence)}</p>", Table.html)

    def _write(self, write: Callable[[str], str], write_table: Callable[[Table], str]) -> str:
        return "\n".join(
            write(part) if isinstance(part, str) else write_table(part) for part in self.parts
        )


def find_highest(columns: Iterable[Sequence[float]]) -> Iterator[tuple[int, int]]:
    """Find the highest number of each column of several, behind a column of names; NaN is none."""
    for c, numbers in enumerate(columns, 1):
        highest = max((number for number in numbers if number == number), default=math.nan)
        if len(numbers) > 1:
            yield from ((r, c) for r, number in enumerate(numbers) if number == highest)


def share_lines(named: Iterable[tuple[str, V]], write: Callable[[V], str]) -> Iterator[str]:
    """Write a line for each value with its name, or once if all share it; none if empty."""
    lines = {name: write(value) for name, value in named}
    if len(different := set(lines.values())) == 1:
        yield from filter(None, different)
    else:
        yield from (f"{name}: {line}" for name, line in lines.items() if line)


def stack_tables(name: str, tables: Mapping[str, Table]) -> Table:
    """Stack tables of the same columns; a first column, ``name``, says which table it is."""
    first = next(iter(tables.values()))
    if len(tables) == 1:
        return first
    rows = tuple((title, *row) for title, table in tables.items() for row in table.rows)
    notes = tuple(
        note for title, table in tables.items() for note in ("", f"{title}:", *table.notes)
    )
    left = tuple(column + 1 for column in (0, *first.left))
    return Table((name, *first.columns), rows, notes[1:], left)


FORMATS: dict[str, Callable[[Table], str]] = {
    "table": Table.text,
    "tsv": Table.tsv,
    "csv": Table.csv,
    "markdown": Table.markdown,
    "latex": Table.latex,
    "html": lambda table: table.html() + "\n",
}

# Letters that a terminal can raise: without q, which few fonts have.
_SUPERSCRIPTS = str.maketrans(Table.LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


def measure_width(text: str) -> int:
    """Count the columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def make_inert(cell: str) -> str:
    """Quote a cell that a spreadsheet would take for a formula; numbers stay as they are."""
    begins = cell[:1] != "" and cell[0] in _FORMULA_STARTS
    return "'" + cell if begins and not _SIGNED.fullmatch(cell) else cell


# Some spreadsheets take wide and small letters for the usual ones.
_FORMULA_STARTS = "=+-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
_SIGNED = re.compile(r"[+-][0-9.]+(e[+-][0-9]+)?")


def _align(row: Row, sides: Row, widths: list[int]) -> str:
    cells = []
    for cell, side, width in zip(row, sides, widths, strict=True):
        blanks = " " * (width - measure_width(cell))
        cells.append(cell + blanks if side == "<" else blanks + cell)
    return "  ".join(cells).rstrip()


def _escape_markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", make_visible(text))


_MARKUP = re.compile(
    r"[\\`*_{}\[\]<>|#~$&]"
    r"|(?i::(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.)"  # text that GitHub makes a link of
)


def _escape_latex(text: str) -> str:
    return make_visible(text).replace("--", "-\0-").translate(_LATEX)


_LATEX = str.maketrans({
    **{c: "\\" + c for c in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
    "τ": r"\ensuremath{\tau}", "Σ": r"\ensuremath{\Sigma}", "Π": r"\ensuremath{\Pi}",
    "β": r"\ensuremath{\beta}", "ε": r"\ensuremath{\varepsilon}",
    "·": r"\ensuremath{\cdot}", "÷": r"\ensuremath{\div}", "±": r"\ensuremath{\pm}",
    "●": r"\ensuremath{\bullet}", "×": r"\ensuremath{\times}", "−": r"\ensuremath{-}",
    "√": r"\ensuremath{\surd}", "ρ": r"\ensuremath{\rho}", "⌊": r"\ensuremath{\lfloor}",
    "⌋": r"\ensuremath{\rfloor}",
    "⌈": r"\ensuremath{\lceil}", "⌉": r"\ensuremath{\rceil}",
    "≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}", "→": r"\ensuremath{\to}",
    "²": r"\textsuperscript{2}", "…": r"\ldots{}", "–": "--",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "\0": "{}",  # -- is a dash
})  # fmt: skip


_JUST = re.compile(r"(?<!^)  +")  # blanks that align definitions
_LABEL = re.compile(r"[\w:./-]+", re.ASCII)


def _protect_argument(row: str) -> str:
    """Protect a row whose first cell a command before it, such as ``\\\\``, would take for its
    argument.
    """
    return "{}" + row if row.lstrip()[:1] in ("[", "*") else row


_NOTES = "font-family:monospace;font-size:smaller;white-space:pre-wrap;padding:6px 10px"


def escape_html(text: str) -> str:
    """Escape text for the content of HTML and SVG; control characters are made visible."""
    from html import escape

    return escape(make_visible(text), quote=False)
