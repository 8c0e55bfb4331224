"""Typesetting of published tables: rows in LaTeX and Markdown, and numbers with marks."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from germane.errors import InputError
from germane.reconciliation.reported import Reported, read_reported

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
    lowered = re.sub(r"\$?_\s*\{?(50|75)\}?\$?(?!\d)", r"\1", raised)  # thresholds of detectors
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
