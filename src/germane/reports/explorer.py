"""The verb explorer: one page on which a list is rearranged and every definition follows."""

import json
from collections.abc import Iterator
from functools import cache

from germane.dialects.table import DIALECTS
from germane.errors import MeasureError
from germane.measures.measure import parse
from germane.reports.api import Report
from germane.reports.page import END, read_package_file, read_script, write_head

__all__ = ["explorer"]

TITLE = "Which definition?"
SCRIPTS = ("explorer_measures.js", "explorer_page.js")
NAMES = (
    "AP(norm=R)@k", "AP@k", "AP(norm=possible)@k", "AP(norm=found)@k", "AP(norm=k)@k", "MeanP@k",
    "AUPR(rule=interpolated)@k", "AUPR(rule=trapezoid)@k", "IAP", "IAP(points=101)",
    "nDCG@k", "nDCG(gain=exp)@k", "nDCG(norm=k)@k", "DCG@k", "DCG(gain=exp)@k",
    "P@k", "R@k", "F@k", "RR@k", "Success@k", "Rprec", "RBP@k", "ERR@k", "bpref", "Judged@k",
)  # fmt: skip
PRESETS = (  # lists of docs/which-ap.md: grades, relevant items, cutoff
    ("Three of ten, all found", "0 0 1 0 1 0 0 1 0 0", 3, 10),
    ("Ranks 1 and 3, of twenty relevant", "1 0 1 0 0 0 0 0 0 0", 20, 10),
    ("Found is cheated: the honest list", "1 1 0 0 0 0 0 0 1 0", 6, 10),
    ("Found is cheated: the third item left out", "1 1 0 0 0 0 0 0 0 0", 6, 10),
    ("Four norms", "1 1 0 0 0", 4, 5),
    ("A perfect list of ten, of twenty relevant", "1 1 1 1 1 1 1 1 1 1", 20, 10),
    ("The mean of precisions is not AP", "1 1 0 0 0", 2, 5),
    ("Eight relevant, six found", "1 1 0 1 0 1 0 0 0 0 0 1 0 0", 8, 0),
)
STAND_IN = 7919  # a cutoff that no definition has in another place


def explorer() -> Report:
    """Write the explorer: one HTML page that loads nothing, with measures side by side on one list.

    >>> page = germane.explorer()
    >>> page.html[:15]
    '<!DOCTYPE html>'

    ``save`` writes it. A reader moves, grades and ties up to 30 items, and sees each value, its terms and
    its calculation, the values under the best and worst order of ties, and the tools that report it. The
    address of the page holds the list. Its numbers are those of ``evaluate``.
    """
    script = read_script(SCRIPTS)
    style = read_package_file("explorer.css")
    head = write_head("Explorer", TITLE, LEAD, SECTIONS, script, style=style)
    data = json.dumps(_collect_data(), ensure_ascii=False, separators=(",", ":"))
    written = data.replace("<", "\\u003c")
    lines = [*head, f'<script type="application/json" id="data">{written}</script>']
    return Report(TITLE, "\n".join([*lines, f"<script>{script}</script>", END]))


def _collect_data() -> dict[str, object]:
    presets = [
        {"name": name, "list": listed, "total": total, "k": k} for name, listed, total, k in PRESETS
    ]
    return {"measures": [_describe(name) for name in NAMES], "presets": presets}


def _describe(name: str) -> dict[str, object]:
    measure = parse(name.replace("@k", f"@{STAND_IN}"))
    formula = measure.definition.replace(str(STAND_IN), "k")
    whole = parse(name.removesuffix("@k"))
    tools, others = ([*_find_tools().get(str(one), {}).items()] for one in (measure, whole))
    found = {"tools": tools} if measure == whole else {"tools": tools, "whole": others}
    return {"name": name, "title": measure.row.title, "formula": formula, **found}


@cache
def _find_tools() -> dict[str, dict[str, str]]:
    """Find the tools that report each measure, with their name of it."""
    found: dict[str, dict[str, str]] = {}
    for dialect, name, measure in _list_entries():
        found.setdefault(measure, {}).setdefault(dialect, name)
    return found


def _list_entries() -> Iterator[tuple[str, str, str]]:
    """List dialects, their names of measures, and germane's, as far as an example can be parsed."""
    for dialect in DIALECTS:
        for entry in dialect.measuring:
            try:
                measure = parse(entry.write_measure(STAND_IN))
            except MeasureError:  # an entry for a number that the example does not have
                continue
            yield dialect.name, entry.name.replace("{k}", "k"), str(measure)


LEAD = (
    "Move the items of one list, and see what each definition makes of it. The address of this page holds "
    "the list: copy it to show others what you see."
)
SECTIONS = (
    (
        "list",
        "The list",
        (
            "<noscript><p>Turn on JavaScript to move items.</p></noscript>",
            '<div id="explorer" hidden><div class="controls">',
            '<label>example <select id="preset"></select></label>',
            '<label>R, all relevant items <input id="total" type="number" min="0" max="1000"></label>',
            '<label>k, the cutoff <input id="k" type="number" min="0" max="1000" placeholder="none"></label></div>',
            (
                '<div class="controls"><label class="grow">a list of your own: grades, JSON, or lines of a run '
                '<textarea id="text" rows="2" spellcheck="false" placeholder="0 0 1 0 1"></textarea></label>'
                '<button type="button" id="paste">read it</button></div>'
            ),
            (
                '<p class="hint">Drag an item, use its buttons, or press Alt and an arrow key. Grades from 1 are '
                "relevant. Missed items have grade 1. Tied items have the score of the item above.</p>"
            ),
            '<p id="says" role="status"></p><ol id="items"></ol>',
            '<button type="button" id="add">add an item</button> <span id="looked" class="small"></span></div>',
        ),
    ),
    ("measures", "Every definition", ('<div id="cards"></div>',)),
    (
        "pr",
        "Precision and recall",
        (
            (
                '<figure id="curve"></figure><p class="small">Solid: precision at each rank. Dashed: the '
                "best precision at this recall or beyond.</p>"
            ),
        ),
    ),
)
