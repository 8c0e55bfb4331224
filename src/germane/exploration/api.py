"""The verb explorer: one page on which a list, or boxes, are moved and every definition follows."""

from germane.exploration.explorer_data import collect_data
from germane.reports.api import Report
from germane.reports.page import END, read_package_file, read_script, write_head
from germane.reports.page_data import write_json

__all__ = ["explorer"]

TITLE = "Which definition?"
SCRIPTS = ("measures.js", "matching.js", "list.js", "boxes.js", "page.js")


def explorer() -> Report:
    """Write the explorer: one HTML page with measures side by side on one list.

    >>> page = germane.explorer()
    >>> page.html[:15]
    '<!DOCTYPE html>'

    ``save`` writes it. A reader moves, grades and ties up to 30 items, and sees each value, its
    calculation, and the tools that report it. On a second tab, the reader moves the boxes of an
    image. The address of the page contains the list or the boxes. The numbers equal those of
    ``evaluate`` and ``germane.boxes.evaluate``.
    """
    script = read_script(SCRIPTS, __package__)
    style = read_package_file("style.css", __package__)
    body = read_package_file("body.html", __package__)
    head = write_head("Explorer", TITLE, LEAD, (), script, style=style)
    data = write_json(collect_data())
    lines = [*head, body, f'<script type="application/json" id="data">{data}</script>']
    return Report(TITLE, "\n".join([*lines, f"<script>{script}</script>", END]))


LEAD = (
    "Move the items of one list, or the boxes of one image, and see what each definition makes of"
    " them. The address of this page holds what you see: copy it to show others."
)
