"""Write docs/findings.md from the table of checks: ``python docs/generate_findings.py``."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from germane.boxes.checks.matches import TABLE as BOX_TABLE
from germane.checks.table import TABLE, Check
from germane.core.finding import SEVERITIES, Finding
from germane.errors import spell_options

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs/findings.md"
sys.path.insert(0, str(ROOT / "tests"))

import check_boxes_examples  # noqa: E402
import check_examples  # noqa: E402  (it lies beside the tests, which see that each example is found)

INTRODUCTION = """\
# The list of findings

`germane check` and `germane.boxes.check` look for these problems in your data; [Check your data](check.md) shows how to use them. The examples are germane's own output, on test data
for each finding.

The column *evaluate* shows what `evaluate` does about a finding: it raises an **error**, gives a **warning**, gives a warning based on a **sample**, which may miss the problem, or is **silent**.

<!-- python docs/generate_findings.py writes this page from src/germane/checks/table.py. -->

## How much data it takes

Little data is enough to suspect a wrong order:

- if scores rise, or ranks fall, in the order given, five results of a query or seven pairs are enough;
- if all relevant results come last, there must be so many of them that a random order would put them all last with a probability below 1/1,000.

Nothing is reported if the relevant results show that the order is right. A run with a single result for each query is reported if there are at least ten queries.

## Lists
"""


BOXES = """
## Boxes

The column *evaluate* shows what the other functions of `germane.boxes` do about a finding.
"""


def page() -> str:
    return (
        INTRODUCTION
        + "".join(
            f"\n### {severity.capitalize()}\n\n{''.join(rows(TABLE, severity))}"
            for severity in SEVERITIES
        )
        + BOXES
        + "".join(
            f"\n### {severity.capitalize()} for boxes\n\n{''.join(rows(BOX_TABLE, severity))}"
            for severity in SEVERITIES
        )
    )


def rows(table: Sequence[Any], severity: str) -> Iterator[str]:
    yield "| finding | meaning | example | what to do | evaluate |\n|---|---|---|---|---|\n"
    for row in table:
        if row.severity == severity:
            does = " ".join((row.find_problems.__doc__ or "").split()).removesuffix(".")
            does = re.sub("^(Find( that)?|Report) ", "", does)
            does = does[:1].upper() + does[1:]
            cells = (row.name, does, said(row), spell_options(row.remedy), row.evaluate)
            yield "| " + " | ".join(map(cell, cells)) + " |\n"


def said(row: Any) -> str:
    """What germane says of the example."""
    find = found if isinstance(row, Check) else found_in_boxes
    finding = find(row.name)
    return finding.says + (f": {finding.examples[0]}" if finding.examples else "")


def found_in_boxes(name: str) -> Finding:
    return next(one for one in check_boxes_examples.find_all(name) if one.what == name)


def found(name: str) -> Finding:
    with TemporaryDirectory() as folder:
        findings = check_examples.found_in(check_examples.EXAMPLES[name], Path(folder))
        (one,) = [finding for finding in findings if finding.what == name]
        says, examples = (
            str(text).replace(f"{folder}/", "") for text in (one.says, "\n".join(one.examples))
        )
    return Finding(
        one.severity, one.what, says, one.count, tuple(examples.split("\n")[:1] if examples else ())
    )


def cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("_", r"\_").replace("<", r"\<")


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
