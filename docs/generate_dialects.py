"""Write docs/dialects.md from the dialects: ``python docs/generate_dialects.py``."""

import math
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import germane
from germane.dialects import SEAMS, Dialect, Foreign
from germane.dialects.table import DIALECTS
from germane.spread import meant

TARGET = Path(__file__).parent / "dialects.md"

# Small data on which definitions differ: in what, and what it is called on the page.
DATA: dict[str, tuple[str, str]] = {
    "norm": ('{"q": ["a", "b", "c"]}, {"q": {"a": 9.0, "x": 8.0, "y": 7.0}}', "Three relevant items, one found"),
    "short": ('{"q": ["a", "b", "c"]}, {"q": {"a": 9.0}}', "A list shorter than k"),
    "tied": ('{"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}', "Equal scores"),
    "single": ('{"q": ["a"]}, {"q": {"a": 16777217.0, "b": 16777216.0}}', "Equal in single precision only"),
    "negative": ('{"q": ["a"]}, {"q": {"a": -1.0, "b": -2.0}}', "Scores below 0"),
    "missing": ('{"q": ["a"], "r": ["a"]}, {"q": {"a": 1.0}}', "A judged query that the run lacks"),
    "unknown": ('{"q": ["a"]}, {"q": {"a": 1.0}, "z": {"a": 1.0}}', "A query that nobody judged"),
    "empty": ('{"q": ["a"], "r": ["a"]}, {"q": {"a": 1.0}, "r": {}}', "An empty list"),
    "irrelevant": ('{"q": {"a": 1}, "r": {"a": 0}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}', "A query without relevant items"),
    "own": ('{"q": ["a"]}, {"q": {"q": 2.0, "a": 1.0}}', "An item with the id of the query"),
    "copies": ('{"q": ["a", "b"]}, {"q": ["a", "a", "b"]}', "A repeated result"),
    "thirds": ('{"q": ["c"]}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}', "A value with many decimals"),
}  # fmt: skip

INTRODUCTION = """\
# Dialects

A dialect is how another tool decides what germane calls seams: reading, judging, measuring, averaging. This
page is generated from `src/germane/dialects/`; `python docs/generate_dialects.py` writes it again, and the tests
run its examples. Each dialect was recorded from the version named, and is held to what the tool answered.

```python
import germane

qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "x": 1.0}}
germane.evaluate(qrels, run, "map_cut_1", dialect="trec_eval-9")["AP(norm=R)@1"].mean  # 0.5
germane.parse("ml_metrics:mapk@10")  # AP@10
germane.spread(qrels, run, "AP@1").range  # (0.5, 1.0)
```

A choice given beside `dialect` overrides it, as options of the tools do: trec_eval's `-c` is `missing="zero"`,
its `-M 100` is `depth=100`, `-J` is `unjudged="remove"`, and `-l 2` is `rel=2` in the measure's name.

"""


def data(name: str) -> tuple[Any, Any]:
    pair: tuple[Any, Any] = eval(DATA[name][0])
    return pair


def page() -> str:
    given = "\n".join(f"{name} = {text}  # {says}" for name, (text, says) in DATA.items())
    small = f"## Where they differ\n\nEach difference is shown on small data:\n\n```python\n{given}\n```\n"
    return formatted(INTRODUCTION + table() + small + "".join(map(section, DIALECTS)))


def formatted(text: str) -> str:
    """The page with its code as the formatter writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, check=True, text=True).stdout


def table() -> str:
    heads = (
        "dialect",
        "AP@k is",
        "P@k is",
        "ties",
        "missing",
        "no relevant",
        "empty list",
        "duplicates",
        "relevant",
    )
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in DIALECTS:
        words = {f.name: f for f in one.measuring}
        choices = {**germane.Policy().to_dict(), "empty": "answer", **one.choices}
        rel = {"whole": "≥ 1, cut to whole", "binary": "1 of 0 and 1"}.get(
            choices.get("grades", ""), "≥ 1"
        )
        cells = (
            f"[{one.name}](#{anchor(one)})", called(one, "AP@10"), called(one, "P@10"), choices["ties"],
            choices["missing"], choices["no_relevant"], choices["empty"], choices["duplicates"], rel,
        )  # fmt: skip
        assert words
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n\n"


def called(dialect: Dialect, measure: str) -> str:
    foreign = meant(dialect, germane.parse(measure)) or meant(dialect, germane.parse(measure[:-3]))
    return "–" if foreign is None else f"`{foreign.at(10)}`"


def anchor(dialect: Dialect) -> str:
    return "".join(c for c in dialect.name if c.isalnum() or c in "_- ").replace(" ", "-")


def section(dialect: Dialect) -> str:
    parts = [f"\n### {dialect.name}", f"{dialect.tool}, {dialect.version}. {dialect.why}"]
    if dialect.same:
        parts.append(f"The same: {', '.join(dialect.same)}.")
    words = [
        f"{seam}: {', '.join(f'`{n}={w}`' for n, w in getattr(dialect, seam).items())}"
        for seam in SEAMS
        if seam != "measuring" and getattr(dialect, seam)
    ]
    if words:
        parts.append("; ".join(words) + ".")
    shown = list(differences(dialect))
    if shown:
        parts.append("```python\n" + "\n".join(shown) + "\n```")
    if dialect.limits:
        parts.append("Not reproduced: " + " ".join(sorted({one.says for one in dialect.limits})))
    return "\n\n".join(parts) + "\n"


def differences(dialect: Dialect) -> Iterator[str]:
    """Two lines where the dialect and germane differ: what the tool says, and what germane says."""
    for name in DATA:
        foreign, own = asked(dialect)
        theirs, mine = value(name, foreign, dialect), value(name, own, None)
        if theirs is not None and mine is not None and not same(theirs, mine):
            measure = germane.parse(foreign.at(2))
            yield line(
                name, foreign.written(2), f', dialect="{dialect.name}"', str(measure), theirs
            )
            yield line(name, str(own), "", str(own), mine)


def asked(dialect: Dialect) -> tuple[Foreign, germane.Measure]:
    """The dialect's AP@2, or its AP, or what it has; and germane's own of the same kind."""
    for name in ("AP@2", "AP", "P@2", "P"):
        foreign = meant(dialect, germane.parse(name))
        if foreign is not None:
            return foreign, germane.parse(name)
    first = dialect.measuring[0]
    return first, germane.Measure(germane.parse(first.at(2)).name)


def value(name: str, measure: Any, dialect: Dialect | None) -> float | None:
    written = measure.written(2) if isinstance(measure, Foreign) else measure
    try:
        result = germane.evaluate(*data(name), [written], dialect=dialect)
    except germane.GermaneError:
        return None
    return next(iter(result.values())).mean


def same(one: float, other: float) -> bool:
    return abs(one - other) < 1e-12 or (math.isnan(one) and math.isnan(other))


def line(name: str, asked: str, more: str, key: str, value: float) -> str:
    return f'germane.evaluate(*{name}, ["{asked}"]{more})["{key}"].mean  # {value!r}'


if __name__ == "__main__":
    warnings.simplefilter("ignore", germane.GermaneWarning)  # the data is small on purpose
    TARGET.write_text(page(), "utf-8")
