"""The verb explorer: one page on which a list, or boxes, are moved and every definition follows."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from germane.boxes.box_measures import CURVES, parse_measure
from germane.boxes.conventions import DEFAULTS
from germane.boxes.dialect_table import DIALECTS as BOX_DIALECTS
from germane.dialects import dialects
from germane.dialects.dialect import Dialect
from germane.dialects.names import parse
from germane.errors import MeasureError
from germane.reports.page import END, read_package_file, read_script, write_head
from germane.reports.page_data import write_json
from germane.reports.report import Report

__all__ = [
    "explorer",
]


NAMES = (
    "AP(norm=R)@k", "AP@k", "AP(norm=possible)@k", "AP(norm=found)@k", "AP(norm=k)@k", "MeanP@k",
    "AUPR(rule=interpolated)@k", "AUPR(rule=trapezoid)@k", "IAP", "IAP(points=101)",
    "nDCG@k", "nDCG(gain=exp)@k", "nDCG(norm=k)@k", "nDCG(gain=exp,norm=k)@k", "DCG@k",
    "DCG(gain=exp)@k",
    "P@k", "R@k", "F@k", "RR@k", "Success@k", "Rprec", "RBP@k", "ERR@k", "bpref", "Judged@k",
)  # fmt: skip
PRESETS: tuple[dict[str, Any], ...] = (  # the first has four different norms
    {"name": "Three of twenty found: the norms differ", "list": "1 0 1 0 0 1 0 0", "total": 20,
        "k": 10},
    {"name": "Three of ten, all found", "list": "0 0 1 0 1 0 0 1 0 0", "total": 3, "k": 10},
    {"name": "Ranks 1 and 3, of twenty relevant", "list": "1 0 1 0 0 0 0 0 0 0", "total": 20,
        "k": 10},
    {"name": "Found is cheated: the honest list", "list": "1 1 0 0 0 0 0 0 1 0", "total": 6,
        "k": 10},
    {"name": "Found is cheated: the third item left out", "list": "1 1 0 0 0 0 0 0 0 0", "total": 6,
        "k": 10},
    {"name": "Four norms", "list": "1 1 0 0 0", "total": 4, "k": 5},
    {"name": "A perfect list of ten, of twenty relevant", "list": "1 1 1 1 1 1 1 1 1 1",
        "total": 20, "k": 10},
    {"name": "The mean of precisions is not AP", "list": "1 1 0 0 0", "total": 2, "k": 5},
    {"name": "Eight relevant, six found", "list": "1 1 0 1 0 1 0 0 0 0 0 1 0 0", "total": 8,
        "k": 0},
    {"name": "Grades: the gain matters", "list": "3 2 3 0 0 1 2 2 3 0", "total": 7, "k": 10,
        "gain": 1},
    {"name": "Equal scores: their order matters", "list": "1 0 0t 1t u 1t", "total": 4, "k": 5},
)  # fmt: skip
_COCO = "&iou=.5&overlap=iou&candidate=fallback&reach=at_least&equal_overlaps=last"
_PEOPLE = (
    "t=100,90,160,320;145,90,160,320;20,200,50,110"
    "&d=104,90,164,320,.95;112,86,160,324,.88;24,206,46,110,.35;20,360,50,60,.22"
)
SCENES = (  # boxes of docs/which-map.md
    {"name": "Two people side by side: the next best truth", "address": _PEOPLE + _COCO},
    {
        "name": "Two people side by side: the best truth alone",
        "address": _PEOPLE + _COCO.replace("fallback", "best"),
    },
    {
        "name": "An overlap of exactly .5",
        "address": (
            "t=360,320,120,100;570,420,30,30"
            "&d=362,316,124,104,.91;360,330,110,90,.62;570,420,15,30,.37"
            + _COCO.replace("at_least", "above")
        ),
    },
)
WORDS = {  # where the title is that of several measures
    "AP(norm=R)@k": "Average precision, of all relevant items, found or not",
    "AP@k": "Average precision, of as many relevant items as k ranks can hold",
    "AP(norm=possible)@k": (
        "Average precision, of as many relevant items as the list's k ranks can hold"
    ),
    "AP(norm=found)@k": "Average precision, of the relevant items found; those missed cost nothing",
    "AP(norm=k)@k": "Average precision, of k items, even if fewer are relevant",
    "AUPR(rule=interpolated)@k": "Area under the best precision at each recall or beyond",
    "AUPR(rule=trapezoid)@k": "Area under straight lines from rank to rank of the curve",
    "IAP": "Mean of the best precision at 11 recalls or beyond",
    "IAP(points=101)": "Mean of the best precision at 101 recalls or beyond",
    "nDCG@k": "Discounted gain, as a share of that of the best order of all judged items",
    "nDCG(norm=k)@k": "Discounted gain, as a share of that of k items of gain 1",
}
STAND_IN = 7919  # a cutoff that no definition has in another place
_RULES = ("overlap", "candidate", "reach", "equal_overlaps")
_MORE = ("precision", "thresholds", "confidence")  # where they are not the default


def collect_data() -> dict[str, object]:
    """Collect all that the page's script looks up."""
    return {
        "measures": [_describe(name) for name in NAMES],
        "presets": PRESETS,
        "scenes": SCENES,
        "points": {points: parse_measure(f"AP(points={points})").formula for points in CURVES},
        "tools": [dialect.name for dialect in dialects().values()],
        "detection": [
            _describe_detection(dialect) for dialect in BOX_DIALECTS if _is_of_boxes(dialect)
        ],
    }


def _describe(name: str) -> dict[str, object]:
    measure = parse(name.replace("@k", f"@{STAND_IN}"))
    formula = measure.definition.replace(str(STAND_IN), "k")
    uncut = parse(name.removesuffix("@k"))
    tools, uncut_tools = (_find_tools().get(str(parsed), {}) for parsed in (measure, uncut))
    tool_names = {"tools": tools} if measure == uncut else {"tools": tools, "whole": uncut_tools}
    words = WORDS.get(name.replace("gain=exp,", "").replace("(gain=exp)", ""), measure.row.title)
    return {"name": name, "words": words, "formula": formula, **tool_names}


@cache
def _find_tools() -> dict[str, dict[str, list[int]]]:
    """Find the names of each measure in tools, and the places of these tools in the list of all."""
    names: dict[str, dict[str, list[int]]] = {}
    seen = set()
    for tool, name, measure in _list_entries():
        if (tool, measure) not in seen:
            seen.add((tool, measure))
            names.setdefault(measure, {}).setdefault(name, []).append(tool)
    return names


def _list_entries() -> Iterator[tuple[int, str, str]]:
    """List places of tools, their names of measures, and germane's, where an example has one."""
    for tool, dialect in enumerate(dialects().values()):
        for entry in dialect.measuring:
            try:
                measure = parse(entry.write_measure(STAND_IN))
            except MeasureError:  # an entry for a number that the example does not have
                continue
            name = entry.write_name(STAND_IN).replace(str(STAND_IN), "k")
            yield tool, name, str(measure)


def _is_of_boxes(dialect: Dialect) -> bool:
    """Does the tool compare upright boxes alone, without lists of classes or levels of objects?"""
    choices = {**DEFAULTS, **dialect.choices}
    is_plain = choices["unverified"] == "count" and choices["area_of"] != "height"
    return is_plain and choices["overlap"] in ("iou", "iou+1")


def _describe_detection(dialect: Dialect) -> dict[str, object]:
    """Describe a tool's AP at one threshold: its rules, and its name for each way to the area."""
    choices = {**DEFAULTS, **dialect.choices}
    extra = {name: choices[name] for name in _MORE if choices[name] != DEFAULTS[name]}
    names: dict[str, str] = {}
    for entry in dialect.measuring:
        if "{k}" in entry.measure:
            continue
        measure = parse_measure(entry.measure)
        is_single = measure.iou == (0.5,) or len(choices["iou"]) == 1
        if measure.name == "AP" and not (measure.area or measure.frequency) and is_single:
            names.setdefault(measure.points or "101", entry.name)
    words = [choices[name] for name in _RULES]
    return {
        "tool": dialect.name,
        "words": words,
        "names": names,
        **({"more": extra} if extra else {}),
    }


# --- The verb -------------------------------------------------------------------------------------
#
# The verb explorer: one page on which a list, or boxes, are moved and every definition follows.

TITLE = "Which definition?"
SCRIPTS = ("measures.js", "matching.js", "list.js", "boxes.js", "page.js")


DOCS = {  # pages of the site that the explorer links
    "ap": "AP explained",
    "which-map": "mAP of boxes",
    "measures": "Measures",
    "explorer": "About",
}


def explorer() -> Report:
    """Make the explorer: an HTML page that shows measures side by side on one list.

    >>> page = germane.explorer()
    >>> page.html[:15]
    '<!DOCTYPE html>'

    ``save`` writes it to a file. Readers can move, grade and tie up to 30 items, and see each
    value, its calculation, and the tools that report it. A second tab does the same for the boxes
    of an image. Every change can be undone. The address of the page contains the list or the boxes.
    The numbers equal those of ``evaluate`` and ``germane.boxes.evaluate``.
    """
    return write_explorer()


def write_explorer(docs: str = "") -> Report:
    """Write the page; with the address of the documentation's folder, it links back to it."""
    script = read_script(SCRIPTS, __package__)
    style = read_package_file("style.css", __package__)
    body = read_package_file("body.html", __package__)
    *head, end = write_head("Explorer", TITLE, LEAD, (), script, style=style)
    links = (f'<a href="{docs}{name}.html" target="_top">{text}</a>' for name, text in DOCS.items())
    nav = ['<nav aria-label="Documentation">', *links, "</nav>"] if docs else []
    data = write_json(collect_data())
    lines = [*head, *nav, end, body, f'<script type="application/json" id="data">{data}</script>']
    return Report(TITLE, "\n".join([*lines, f"<script>{script}</script>", END]))


LEAD = (
    "Change a list, or the boxes of an image, and see what each definition makes of it. The address"
    " of this page holds your example."
)
