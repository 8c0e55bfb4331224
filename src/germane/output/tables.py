"""Table: rows of text with a heading and notes, and the ways to write it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from germane.errors import check_choice

Row = tuple[str, ...]
Reader: TypeAlias = Literal["program", "spreadsheet"]
READERS = get_args(Reader)


@dataclass(frozen=True)
class Table:
    """A finished table. The first column is text, the others are numbers unless ``left`` says so."""

    columns: Row
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    left: tuple[int, ...] = ()  # further columns of text, set to the left
    strong: frozenset[tuple[int, int]] = frozenset()  # row and column of cells to stress
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)  # superscripts of cells

    def text(self) -> str:
        """Aligned columns for a terminal; control characters in ids are made visible."""
        longest = [max(map(len, column)) for column in zip(*self._marks(), strict=True)]
        lines = [tuple(map(make_visible, self.columns))]
        for row, marks in zip(self.rows, self._marks(), strict=False):
            raised = (make_visible(mark).translate(_RAISED) for mark in marks)
            cells = zip(map(make_visible, row), raised, longest, strict=True)
            lines.append(tuple(cell + mark + " " * (w - len(mark)) for cell, mark, w in cells))
        lines[0] = tuple(name + " " * w for name, w in zip(lines[0], longest, strict=True))
        widths = [max(map(measure_width, column)) for column in zip(*lines, strict=True)]
        out = [_align(line, widths, self._left()) for line in lines]
        out.insert(1, "  ".join("─" * w for w in widths))
        if self.notes:
            out += ["", *map(make_visible, self.notes)]
        return "\n".join(out) + "\n"

    def markdown(self) -> str:
        """A GitHub table; ids cannot end a cell or start markup."""
        lines = self._marked(_escape_markdown, "**{}**", "<sup>{}</sup>")
        rule = [":--" if i in self._left() else "--:" for i in range(len(self.columns))]
        out = ["| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:])]
        if self.notes:
            out += ["", *(f"{_escape_markdown(note)}  " for note in self.notes)]
        return "\n".join(out) + "\n"

    def latex(self) -> str:
        """A booktabs table; ids are escaped."""
        marked = self._marked(_escape_latex, r"\textbf{{{}}}", r"\textsuperscript{{{}}}")
        lines = [_protect_argument(" & ".join(row)) + r" \\" for row in marked]
        out = [
            r"\begin{tabular}{"
            + "".join("l" if i in self._left() else "r" for i in range(len(self.columns)))
            + "}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
        out += [f"% {make_visible(note)}" for note in self.notes]
        return "\n".join(out) + "\n"

    def latex_float(self) -> str:
        """A ``table`` environment: the booktabs table, with the notes as its caption."""
        table = Table(self.columns, self.rows, (), self.left, self.strong, self.marks).latex()
        sentences = (" ".join(note.split()).rstrip(".") + "." for note in self.notes if note)
        caption = " ".join(map(_escape_latex, sentences))
        return f"\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n{table}\\end{{table}}\n"

    def csv(self, *, reader: "Reader" = "program") -> str:
        """Comma-separated values (RFC 4180), every cell exactly as it is.

        ``reader="spreadsheet"`` puts a quotation mark before a cell that a spreadsheet would take for a
        formula, and writes control characters out. Raises PolicyError for another reader.
        """
        return self._separated(",", "\r\n", reader)

    def tsv(self, *, reader: "Reader" = "program") -> str:
        """Tab-separated values; see ``csv``."""
        return self._separated("\t", "\n", reader)

    def html(self) -> str:
        """A table element with its notes; everything is escaped."""
        first, *others = self._marked(escape_html, "<strong>{}</strong>", "<sup>{}</sup>")
        heading = self._html_row("th", first)
        body = "".join(self._html_row("td", row) for row in others)
        notes = "\n".join(map(escape_html, self.notes))
        caption = f"<div style='{_NOTES}'>{notes}</div>" if notes else ""
        return (
            "<div class='germane' style='overflow-x:auto'><table style='border-collapse:collapse;white-space:nowrap'>"
            f"<thead>{heading}</thead><tbody>{body}</tbody></table>{caption}</div>"
        )

    def _marks(self) -> list[list[str]]:
        """Each cell's superscript; one row without, for a table of no rows."""
        places = [[(r, c) for c in range(len(self.columns))] for r in range(len(self.rows) or 1)]
        return [[self.marks.get(place, "") for place in row] for row in places]

    def _marked(self, escape: Callable[[str], str], strong: str, mark: str) -> list[Row]:
        """Heading and rows, escaped, in the markup of strong cells and superscripts."""
        lines = [tuple(map(escape, self.columns))]
        for r, row in enumerate(self.rows):
            cells = []
            for c, cell in enumerate(row):
                text = strong.format(escape(cell)) if (r, c) in self.strong else escape(cell)
                raised = self.marks.get((r, c))
                cells.append(text + mark.format(escape(raised)) if raised else text)
            lines.append(tuple(cells))
        return lines

    def _html_row(self, tag: str, row: Row) -> str:
        sides = ("left" if i in self._left() else "right" for i in range(len(row)))
        cells = (
            f"<{tag} style='text-align:{side};padding:2px 10px'>{cell}</{tag}>"
            for side, cell in zip(sides, row, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    def _left(self) -> set[int]:
        return {0, *self.left}

    def _separated(self, delimiter: str, end: str, reader: "Reader") -> str:
        check_choice("reader", reader, READERS)
        lines = (self.columns, *self.rows)
        if reader == "spreadsheet":
            lines = tuple(tuple(make_inert(make_visible(cell)) for cell in line) for line in lines)
        special = re.compile(f'[{delimiter}"\r\n]')
        rows = (delimiter.join(_quote(cell, special) for cell in line) for line in lines)
        return "".join(row + end for row in rows)

    def formulas(self) -> list[str]:
        """The cells that a spreadsheet would take for formulas."""
        return [
            cell for row in (self.columns, *self.rows) for cell in row if make_inert(cell) != cell
        ]


def stack_tables(name: str, tables: Mapping[str, Table]) -> Table:
    """Tables of the same columns as one, with a column that says which; notes likewise."""
    if len(tables) == 1:
        return next(iter(tables.values()))
    rows = tuple((which, *row) for which, table in tables.items() for row in table.rows)
    notes = tuple(
        note for which, table in tables.items() for note in ("", f"{which}:", *table.notes)
    )
    one = next(iter(tables.values()))
    left = tuple(column + 1 for column in (0, *one.left))
    return Table((name, *one.columns), rows, notes[1:], left)


FORMATS: dict[str, Callable[[Table], str]] = {
    "table": Table.text,
    "tsv": Table.tsv,
    "csv": Table.csv,
    "markdown": Table.markdown,
    "latex": Table.latex,
    "html": lambda table: table.html() + "\n",
}

# Superscripts of a terminal: letters but q, which Unicode came to late, and blanks between words.
LETTERS = "abcdefghijklmnoprstuvwxyz"
_RAISED = str.maketrans(LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


def make_visible(text: str) -> str:
    """Control characters and broken bytes written out: an id may hold a terminal's commands."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _make_harmless(c) else repr(c)[1:-1] for c in text)


def show_lines(text: str) -> str:
    """Lines for a terminal, with tabs between cells; everything else that is not printed written out."""
    text = text.replace("\r\n", "\n")
    return "".join(c if c in "\n\t" else make_visible(c) for c in text)


def _make_harmless(character: str) -> bool:
    return character == " " or character.isprintable()


def measure_width(text: str) -> int:
    """The columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def make_inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay as they are."""
    begins = cell[:1] != "" and cell[0] in _BEGINNINGS
    return "'" + cell if begins and not _SIGNED.fullmatch(cell) else cell


_BEGINNINGS = "=+-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
"""What a spreadsheet begins a formula with; wide and small letters are the same to some."""
_SIGNED = re.compile(r"[+-][0-9.]+(e[+-][0-9]+)?")


def _quote(cell: str, special: re.Pattern[str]) -> str:
    """A cell of separated values, in quotes where it holds a delimiter, a quote or the end of a line."""
    return '"' + cell.replace('"', '""') + '"' if special.search(cell) else cell


def _align(cells: Row, widths: list[int], left: set[int]) -> str:
    padded = []
    for i, (cell, most) in enumerate(zip(cells, widths, strict=True)):
        blanks = " " * (most - measure_width(cell))
        padded.append(cell + blanks if i in left else blanks + cell)
    return "  ".join(padded).rstrip()


def _escape_markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", make_visible(text))


_MARKUP = re.compile(
    r"[\\`*_{}\[\]<>|#~$&]"
    r"|(?i::(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.)"  # what GitHub makes links of
)


_LATEX = {
    **{c: "\\" + c for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "τ": r"\ensuremath{\tau}",
    "Σ": r"\ensuremath{\Sigma}",
    "Π": r"\ensuremath{\Pi}",
    "β": r"\ensuremath{\beta}",
    "ε": r"\ensuremath{\varepsilon}",
    "·": r"\ensuremath{\cdot}",
    "÷": r"\ensuremath{\div}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "²": r"\textsuperscript{2}",
    "→": r"\ensuremath{\to}",
    "…": r"\ldots{}",
    "–": "--",
}


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in make_visible(text))


def _protect_argument(row: str) -> str:
    """A row whose first cell no command before it, such as ``\\\\``, takes for its argument."""
    return "{}" + row if row.lstrip()[:1] in ("[", "*") else row


_NOTES = "font-family:monospace;font-size:smaller;white-space:pre-wrap;padding:6px 10px"


def escape_html(text: str) -> str:
    """Escape text for the content of HTML and SVG; control characters are made visible."""
    from html import escape

    return escape(make_visible(text), quote=False)
