"""Write docs/check.md from the table of checks: ``python docs/generate_check.py``."""

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
TARGET = ROOT / "docs/check.md"
sys.path.insert(0, str(ROOT / "tests"))

import check_boxes_examples  # noqa: E402
import check_examples  # noqa: E402  (it lies beside the tests, which see that each example is found)

INTRODUCTION = """\
# Check your data

`germane check` finds problems in your data that can distort the results. For each problem, it prints how many cases there are, where they are,
and what you can do about them.

```console
$ germane check examples/digits/qrels.txt examples/digits/pixels.run examples/digits/lda.run -m AP@10
2 notes

note: only relevant items judged
  examples/digits/qrels.txt: all 31,940 judgments have the grade 1: nothing is judged not relevant.
  Measures that need nonrelevant judgments, such as bpref, are meaningless here.

note: differences too small to show
  examples/digits/lda.run: the differences from examples/digits/pixels.run are too small to be detected with 200 queries (at a power of 80%): AP@10 by 0.0109 (detectable: 0.0274).
  Judge more queries; germane compare prints the intervals.
```

`check` does not stop at errors. It counts all bad lines of a file, shows the first of them, and goes on with the others. Examples start with
their line, as in `run.txt:17: query 'q1' item 'd5'`, or with their row in Parquet, Arrow and frames, counted from 0.
With `-m`, you name the measures that you are going to use, because some problems depend on their cutoffs. The exit status is 0. With
`--strict`, it is 1 if a finding is serious, and it is 2 if a file cannot be read at all.

Programs can use `--format json`, or `to_dict()` in Python. Names of findings and fields do not change within a schema, but new
findings may be added:

| field | content |
|---|---|
| `schema` | 1 |
| `runs` | the names of the runs |
| `findings` | a list, serious findings first |
| `findings[].severity` | `serious`, `doubtful` or `note` |
| `findings[].what` | the kind of finding, as in the tables below |
| `findings[].says` | the finding in a sentence |
| `findings[].count` | the number of queries, items, lines or pairs concerned |
| `findings[].examples` | the first few of these |
| `findings[].advice` | the remedy |
| `findings[].where` | the file, the name of the run, `run` or `qrels` |

In Python, the findings are a sequence, serious ones first:

```python
import germane

qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
found = germane.check(qrels, {"q1": {"d1": 2.0, "d2": 1.0}, "Q2": {"d3": 1.0}})
found.serious[0].what  # 'missing queries'
found.serious[0].advice  # "The run has 'Q2', which differs in letter case."
```

With `--train QRELS` (`train=`), you can pass the judgments that the system learned from. `check` then reports judgments and queries that occur in
both, and results that a user has already seen. `--collapse`, `--exclude`, `--only` and `--scores distances` work as in `evaluate`.

```python
learned = {"q2": {"d3": 1}}
leaks = germane.check(qrels, {"q1": {"d1": 2.0}, "q2": {"d3": 1.0}}, train=learned)
leaks.serious[0].what  # 'judgments of the training data'
```

With `--queries FILE` and `--items FILE` (`queries=`, `items=`), you can pass the texts of queries and items, in the same files as for
[`report`](report.md) and `explain`. `check` then reports queries that have the same text as an item, and judged items with
the same text. Letter case and white space are ignored.

```python
texts = {"d1": "Blue whale", "d9": "why is the sky blue?"}
said = {"q1": "Why is the sky blue?"}
asked = germane.check(qrels, {"q1": {"d1": 2.0}}, queries=said, items=texts)
[one.examples for one in asked if "text" in one.what]
# [("query 'q1' item 'd9': 'why is the sky blue?'",)]
```

`check` takes the same qrels and runs as `evaluate`, and several runs as `{name: run}`. It holds all rows in memory, which takes about 200 bytes for each. A
run of 7 million lines takes 1.5 GB, and about five times the CPU time of `evaluate`.

## Findings of evaluate

`evaluate` warns you of most serious findings in one line each, and keeps them in the `findings` of the result. Other
serious findings are errors. To stay fast, it looks only at the counts, the hits and a sample of up to 2,000 rows. Problems that
begin late in a run, single ids with another spelling, and nearly all doubtful findings are found only by `germane check`. The column *evaluate* below shows what
`evaluate` does: it raises an **error**, gives a **warning**, gives a warning based on a **sample**, which may miss the problem, or is **silent**.

## Small data

Little data is enough to suspect a wrong order:

- if scores rise, or ranks fall, in the order given, five results of a query or seven pairs are enough;
- if all relevant results come last, there must be so many of them that a random order would put them all last with a probability below 1/1,000.

Nothing is reported if the relevant results show that the order is right. A run with a single result for each query is reported if there are at least ten queries.

## The list of findings

If a finding is *serious*, the number is probably wrong. If it is *doubtful*, the number may be wrong. A *note* is good to know. The examples are germane's own output, on test data
for each finding.

<!-- python docs/generate_check.py writes this list from src/germane/checks/table.py. -->
"""


BOXES = """
## Boxes

`germane.boxes.check(truth, detections)` checks annotated boxes and a detector's boxes, from any of the [sources of boxes](sources.md#boxes).
Like `check`, it does not stop at errors, and it returns findings.

```python
truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
found = [{"boxes": [[50, 50, 10, 10]], "labels": [1], "scores": [0.9]}]
boxes = germane.boxes.check(truth, found)
boxes.serious[0].what  # 'swapped corners'
boxes.serious[0].examples  # ('detections, image 0, box 0',)
```

The last column shows which of them the other functions of `germane.boxes` raise as errors or give as warnings; the warnings are in `result.findings`. Wrong formats, scores, classes and
images are recognized by how well detections and truths overlap, in up to 200 images. If both sides have the same wrong format, the sizes of the images reveal it. Without these, centers that
are read as corners on both sides go unnoticed, but then the overlaps are right. [bench/BOXES.md](../bench/BOXES.md#findings) shows how often each mistake is found in random data sets, and that
sound data sets have no finding.
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
