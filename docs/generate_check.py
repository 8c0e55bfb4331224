"""Write docs/check.md from the table of checks: ``python docs/generate_check.py``."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from germane.checks.table import TABLE, Check
from germane.core.finding import SEVERITIES, Finding

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs/check.md"
sys.path.insert(0, str(ROOT / "tests"))

import check_examples  # noqa: E402  (it lies beside the tests, which see that each example is found)

INTRODUCTION = """\
# Check

`germane check` looks at qrels and runs as an experienced evaluator does, and reports problems that can distort
the numbers: what they are, how often, where, and what to do.

```console
$ germane check examples/digits/qrels.txt examples/digits/pixels.run examples/digits/lda.run -m AP@10
2 notes

note: only relevant items judged
  examples/digits/qrels.txt: 31,940 judgments of grade 1 and no other: nothing is judged not relevant.
  Measures of what is judged, such as bpref and Judged, say nothing here.

note: differences too small to show
  examples/digits/lda.run: differences from examples/digits/pixels.run are smaller than what 200 queries show in 4 of 5 cases: AP@10 by 0.0109 where 0.0274 shows.
  Judge more queries, or claim less: germane compare.
```

Nothing stops it: of a file with bad lines it counts them all, names the first, and looks at the others. Examples begin
with the line where they stand, as in `run.txt:17: query 'q1' item 'd5'`; in Parquet, Arrow and frames with the row,
counted from 0 as in errors. `-m` says which cutoffs matter. The exit status is 0; with `--strict` it is 1 where a finding
is serious. It is 2 for what cannot be read at all.

`--format json` is for programs, as is `to_dict()` in Python. Names of findings and fields stay within a schema; new
findings may come:

| field | is |
|---|---|
| `schema` | 1 |
| `runs` | the names of the runs |
| `findings` | a list, the serious ones first |
| `findings[].severity` | `serious`, `doubtful` or `note` |
| `findings[].what` | the kind of finding, as in the tables below |
| `findings[].says` | what was found, in a sentence |
| `findings[].count` | how many queries, items, lines or pairs it concerns |
| `findings[].examples` | the first few of them |
| `findings[].advice` | what to do |
| `findings[].where` | the file, the name of the run, `run` or `qrels` |

In Python the same is a sequence of findings, the serious ones first:

```python
import germane

qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
found = germane.check(qrels, {"q1": {"d1": 2.0, "d2": 1.0}, "Q2": {"d3": 1.0}})
found.serious[0].what  # 'missing queries'
found.serious[0].advice  # "The run has 'Q2': it differs in letter case."
```

Qrels and runs are whatever `evaluate` takes, and several runs are `{name: run}`. Rows are held in memory, some 200 bytes
each: a run of 7 million lines takes 1.5 GB and about five times the CPU time of `evaluate`, one of a million queries ×
10 results 1.4 GB and one and a half times. A terminal shows how far it is.

`evaluate` tells most of the serious findings by itself, all of them in one line, and keeps them as `findings` of the
result; others make it stop. It uses the same checks, but looks only at what costs it little: the counts and hits that it
has, and the first rows of up to 200 queries (one row in 128, at least 32 and at most 2,000; all of the 2,000 where the
first ones arouse suspicion). So problems that begin late in a run, single ids that are spelled differently, and nearly
all that is doubtful are for `germane check` alone. The column *evaluate* says whether each finding is an **error**, a
**warning**, a warning of a **sample**, which may miss it, or **silent**. Sides that are swapped are an error where lines
show it, or in dicts of which one has decimals, and a warning of a sample otherwise. Of arrays of scores `evaluate` knows
counts and hits, and no order but that of the scores.

Few results are enough where all of them say the same: five results of a query, or seven pairs, whose scores rise or whose
ranks fall in the order given, or relevant results that all stand last where a random order does that in less than one case
of 1,000. None of these is reported where relevance says that the order is
right. One result per query is reported from ten queries on: less is an example that somebody typed. An empty list is an
answer to `evaluate`; `check` asks about it.

## What is looked for

This list is generated from the table in `src/germane/checks/table.py` by `python docs/generate_check.py`. *Serious*: the
number is likely not what was meant. *Doubtful*: it may be. *Note*: good to know. The
examples are what germane says of data that the tests make for each finding.
"""


def page() -> str:
    return INTRODUCTION + "".join(
        f"\n### {severity.capitalize()}\n\n{''.join(rows(severity))}" for severity in SEVERITIES
    )


def rows(severity: str) -> Iterator[str]:
    yield "| finding | is | example | what to do | evaluate |\n|---|---|---|---|---|\n"
    for row in TABLE:
        if row.severity == severity:
            does = (row.find_problems.__doc__ or "").strip().removesuffix(".")
            does = re.sub("^(Find( that)?|Report) ", "", does)
            does = does[:1].upper() + does[1:]
            cells = (row.name, does, said(row), row.remedy, row.evaluate)
            yield "| " + " | ".join(map(cell, cells)) + " |\n"


def said(row: Check) -> str:
    """What germane says of the example."""
    finding = found(row.name)
    return finding.says + (f": {finding.examples[0]}" if finding.examples else "")


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
