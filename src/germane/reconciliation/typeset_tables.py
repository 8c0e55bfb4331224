"""Rows of tables in LaTeX and Markdown."""

import re
from collections.abc import Iterable, Iterator

_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|cline\{[^}]*\}|cmidrule(?:\([^)]*\))?\{[^}]*\})"
)


def split_latex(text: str) -> Iterator[list[str]]:
    """Split the rows of a tabular; comments and rules are left out."""
    found = re.search(
        r"\\begin\{tabular[x*]?\}(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})*(.*?)\\end\{tabular",
        text,
        re.DOTALL,
    )
    body = found[1] if found else text
    body = re.sub(r"(?<!\\)%.*", "", body)
    for row in re.split(r"\\\\(?:\[[^]]*\])?", _RULES.sub("", body)):
        if row.strip():
            yield [one for cell in re.split(r"(?<!\\)&", row) for one in _spread_cell(cell.strip())]


def _spread_cell(cell: str) -> list[str]:
    """Read \\multicolumn as a cell and blank ones beside it, and \\multirow as its text."""
    found = re.fullmatch(
        r"\\multicolumn\{(\d{1,3})\}\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*\{(.*)\}", cell, re.DOTALL
    )
    if found:
        return [found[2], *[""] * (int(found[1]) - 1)]
    return [re.sub(r"\\multirow\{[^{}]*\}(?:\[[^]]*\])?\{[^{}]*\}\s*\{([^{}]*)\}", r"\1", cell)]


def split_markdown(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split the rows of a table in Markdown; other lines, and the one below the names, are left
    out.
    """
    for line in lines:
        if "|" not in line or re.fullmatch(r"[\s|:\-]+", line):
            continue
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
