"""Write docs/dialects.md and a page of each tool: ``python docs/generate_dialects.py``."""

import math
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import germane
from germane.dialects.dialect import Dialect, Entry, Limit
from germane.dialects.families import DIALECTS
from germane.forensics.variations import STAGE_NAMES

TARGET = Path(__file__).parent / "dialects.md"
FOLDER = Path(__file__).parent / "dialects"

# Small data on which definitions differ: in what, and what it is called on the page.
DATA: dict[str, tuple[str, str]] = {
    "norm": ('{"q": ["a", "b", "c"]}, {"q": {"a": 9.0, "x": 8.0, "y": 7.0}}', "Three relevant items, one found"),
    "short": ('{"q": ["a", "b", "c"]}, {"q": {"a": 9.0}}', "A list shorter than k"),
    "tied": ('{"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}', "Equal scores"),
    "single": ('{"q": ["a"]}, {"q": {"a": 16777217.0, "b": 16777216.0}}', "Equal in single precision only"),
    "negative": ('{"q": ["a"]}, {"q": {"a": -1.0, "b": -2.0}}', "Scores below 0"),
    "missing": ('{"q": ["a"], "r": ["a"]}, {"q": {"a": 1.0, "x": 0.5}}', "A judged query that is missing from the run"),
    "unknown": ('{"q": ["a"]}, {"q": {"a": 1.0, "x": 0.5}, "z": {"a": 1.0, "x": 0.5}}', "A query that nobody judged"),
    "empty": ('{"q": ["a"], "r": ["a"]}, {"q": {"a": 1.0, "x": 0.5}, "r": {}}', "An empty list"),
    "irrelevant": ('{"q": {"a": 1}, "r": {"a": 0}}, {"q": {"a": 1.0, "x": 0.5}, "r": {"a": 1.0, "x": 0.5}}', "A query without relevant items"),
    "own": ('{"q": ["a"]}, {"q": {"q": 2.0, "a": 1.0}}', "An item with the id of the query"),
    "copies": ('{"q": ["a", "b"]}, {"q": ["a", "a", "b"]}', "A repeated result"),
    "rated": ('{"u": {"a": 5, "b": 3}}, {"u": {"a": 4.5, "b": 4.0}}', "Ratings and their estimates"),
    "ratings": ('{"u": {"a": 5, "b": 4, "c": 4}}, {"u": {"a": 4.5, "x": 4.0, "y": 3.0}}', "Three relevant items, one found"),
    "thirds": ('{"q": ["c"]}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}', "A value with many decimals"),
}  # fmt: skip

READINGS = """\
The tool receives the labels and scores of one list at a time, and treats the relevant items in the list as all relevant items.
Its numbers can therefore be read in two ways:

- All judged items count, as is usual in germane. To make the tool count them, append the relevant items that were not retrieved to the
  list, with scores below all others. This works for cutoffs within the retrieved list.
- Only the list counts (`relevant=listed`). This is what the tool prints if you pass it only the retrieved items. Relevant items that were not
  retrieved do not count, so recall is too high.

If the two differ, `germane.spread` and `reconcile` show both."""

INTRODUCTION = """\
# Other tools

<!-- python docs/generate_dialects.py writes this page and the pages of the tools from src/germane/dialects/. -->

A *dialect* describes how another tool defines its measures: how it reads data, which items count as relevant, what it divides by, and how it averages. With `dialect=`,
germane evaluates as that tool does. Each dialect was recorded from a named version of the tool, and the tests compare germane with the recorded answers.
To translate names and calls, see [Coming from another tool](coming-from.md).

```python
import germane

qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "x": 1.0}}
germane.evaluate(qrels, run, "map_cut_1", dialect="trec_eval-9")["AP(norm=R)@1"].mean  # 0.5
germane.parse("ml_metrics:mapk@10")  # AP@10
germane.spread(qrels, run, "AP@1").range  # (0.5, 1.0)
```

## Names of measures

In a dialect, you can use the tool's names of measures, and germane's own names in their exact spelling (`nDCG@3`, not `ndcg@3`). If the tool has the measure,
it is evaluated as the tool does. Otherwise you get germane's own measure under the tool's other conventions, and the
result says so. If the tool has a measure of that name with other defaults, the name is ambiguous, and the error gives both meanings. In
trec_eval, for example, `AP@10` could mean `AP(norm=R)@10`, which trec_eval calls `map_cut_10`. To get germane's own measure, write `germane:AP@10`, or `germane.AP @ 10` in
Python. If you name no measures, you get those of `AP P@10 R@100 RR nDCG@10` that the tool has, as the tool defines them.

```python
asked = germane.evaluate(qrels, run, "map@2 germane:nDCG@2", dialect="lightgbm")
asked.own  # (nDCG@2,)
germane.evaluate(qrels, run, dialect="voc2007").measures  # (IAP(rounding=double),)
```

## Choices and limits

Every function and command that computes values takes a dialect, except for `reconcile`, `spread` and `identify`, which try all of them.

If you set a convention together with `dialect`, yours wins, just as options of the tool would: trec_eval's `-c` is
`missing="zero"`, its `-M 100` is `depth=100`, `-J` is `unjudged="remove"`, and `-l 2` is `rel=2` in the name of the measure.

Some behavior of tools is random, or a bug, and cannot be reproduced. The tool's page describes it as a limit, and
`spread` marks a tool if a limit matters for your data.

## Tools that see one list

Some tools receive the labels and scores of one list at a time, and treat the relevant items in it as all relevant items. A dialect
counts all judged items. With `relevant="listed"`, you get the tool's value for the list alone. If the two differ, `spread` shows both:

```python
recall = {"q": ["a", "b", "c"]}, {"q": {"a": 9.0, "x": 8.0, "b": 7.0}}
said = {tool.dialect: tool for tool in germane.spread(*recall, "R@2")}["torchmetrics"]
said.value, said.listed.value  # (0.3333333333333333, 0.5)
```

## All tools

"""


CONVENTIONS = "\nThe conventions of each tool. The column *fewer than k* shows how AP and precision at k count the ranks beyond a short list.\n\n"


def data(name: str) -> tuple[Any, Any]:
    pair: tuple[Any, Any] = eval(DATA[name][0])
    return pair


def page() -> str:
    return formatted(INTRODUCTION + kinds() + CONVENTIONS + table())


def formatted(text: str) -> str:
    """The page with its code as the formatter writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, check=True, text=True).stdout


def table() -> str:
    heads = (
        "dialect",
        "ties",
        "missing",
        "no relevant",
        "empty list",
        "fewer than k",
        "duplicates",
        "relevant",
    )
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in DIALECTS:
        choices = {**germane.Policy().to_dict(), "empty": "answer", **one.choices}
        rel = {"whole": "≥ 1, cut to whole", "binary": "1 of 0 and 1"}.get(
            choices.get("grades", ""), f"≥ {max(level(asked(one)[0]), 1):g}"
        )
        cells = (
            f"[{one.name}](dialects/{one.name}.md)", choices["ties"],
            choices["missing"], choices["no_relevant"], choices["empty"], filled(one), choices["duplicates"], rel,
        )  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n\n"


def filled(dialect: Dialect) -> str:
    """What ranks count as that a list shorter than k does not have, in AP and in precision."""
    says = {name: filled_in(dialect, germane.parse(name)) for name in ("AP@2", "P@2")}
    said = {name: word for name, word in says.items() if word}
    if len(set(said.values())) < 2:
        return next(iter(said.values()), "–")
    return ", ".join(f"{name.removesuffix('@2')}: {word}" for name, word in said.items())


def filled_in(dialect: Dialect, kind: germane.types.Measure) -> str:
    """The same in one measure; "" where the tool has none, or no number for it."""
    foreign = dialect.find_same_kind(kind)
    if foreign is None:
        return ""
    grade = 5 if level(foreign) > 1 else 1
    judged = {"a": grade, "b": grade, "c": grade, "d": 0}
    longer = {"a": 9.0, "x": 8.0, "d": 7.0}
    short, whole = (
        evaluated(
            ({"q": judged, "r": judged}, {"q": run, "r": longer}), foreign.write_name(2), dialect
        )
        for run in ({"a": 9.0}, longer)
    )
    if whole is None:
        return ""
    if short is None or math.isnan(short):
        return "error" if short is None else "nan"
    return "misses" if same(short, whole) else "left out"


def kinds() -> str:
    """Measure by tool: what each tool calls by the names that are best known."""
    names = ("AP@10", "P@10", "R@10", "RR@10", "Success@10", "nDCG@10")
    lines = ["| dialect | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for one in DIALECTS:
        cells = [f"[{one.name}](dialects/{one.name}.md)", *(called(one, name) for name in names)]
        lines.append("| " + " | ".join(cells) + " |")
    return (
        "The tool's definition of each name, or of the name without a cutoff if the tool has only that:\n\n"
        + "\n".join(lines)
        + "\n"
    )


def called(dialect: Dialect, measure: str) -> str:
    foreign = dialect.find_same_kind(germane.parse(measure)) or dialect.find_same_kind(
        germane.parse(measure[:-3])
    )
    return "–" if foreign is None else f"`{foreign.write_measure(10)}`"


def page_of(dialect: Dialect) -> str:
    parts = [
        f"# {dialect.name}",
        f"This dialect describes {dialect.tool} ({dialect.version}). {dialect.why}",
    ]
    if dialect.same:
        parts.append(f"The same dialect is valid for {', '.join(dialect.same)}.")
    words = [
        f"- {stage}: {', '.join(f'`{n}={w}`' for n, w in getattr(dialect, stage).items())}"
        for stage in STAGE_NAMES
        if stage != "measuring" and getattr(dialect, stage)
    ]
    if words:
        parts.append("Its [conventions](../conventions.md), stage by stage:\n\n" + "\n".join(words))
    parts += [
        "## Names of its measures",
        measures(dialect),
        *unlike(dialect),
        *absent(dialect),
        "## Where its values differ",
        *shown(dialect),
    ]
    if dialect.sees == "list":
        parts += ["## What it is given", *readings(dialect)]
    if dialect.limits:
        rows = [f"- {limit(one)}" for one in dialect.limits]
        parts += ["## What is not reproduced", "\n".join(dict.fromkeys(rows))]
    if dialect.source:
        where = f"The tool computes its measures in `{dialect.source}`."
        if dialect.name == "mean-of-precisions":  # which is no tool
            where = f"This definition is found in {dialect.source}."
        parts.append(f"{where} [All other tools](../dialects.md)")
    return formatted("\n\n".join(parts) + "\n")


def measures(dialect: Dialect) -> str:
    rows = ["| the tool's name | germane's | other choices |", "|---|---|---|"]
    for one in dialect.measuring:
        words = ", ".join(f"`{name}={word}`" for name, word in one.choices.items())
        names = ", ".join(f"`{name}`" for name in (one.name, *one.also))
        rows.append(f"| {names} | `{one.measure}` | {words} |")
    return "\n".join(rows)


def unlike(dialect: Dialect) -> Iterator[str]:
    """What the tool has besides, and defines otherwise than germane."""
    if dialect.unlike:
        rows = [
            f"- `{one.name}`: "
            + (one.says or f"`{one.measure}`, where germane's own is `{one.kind}`")
            + "."
            for one in dialect.unlike
        ]
        yield (
            "The tool also has the following measures. They are not part of the dialect, and they differ from germane's "
            "measures of the same name, which you get with `germane:NAME`.\n\n" + "\n".join(rows)
        )


def absent(dialect: Dialect) -> Iterator[str]:
    """What the tool has besides, and germane does not evaluate."""
    if dialect.absent:
        rows = [
            f"- {', '.join(f'`{name}`' for name in one.names)}: "
            + (one.says if len(one.names) == 1 else f"each {one.says.removeprefix('it ')}")
            for one in dialect.absent
        ]
        yield "The following names of the tool are not supported:\n\n" + "\n".join(rows)


def limit(one: Limit) -> str:
    names = ", ".join(f"`{name}`" for name in one.only)
    return f"{names}: {one.says}" if names else one.says


def shown(dialect: Dialect) -> Iterator[str]:
    """Each difference, with the data that shows it."""
    found = False
    for name, lines in differences(dialect):
        given, says = DATA[name]
        code = [f"{name} = {given}", *lines]
        if not found:
            code.insert(0, "import germane\n")
        yield f"{says}:\n\n```python\n" + "\n".join(code) + "\n```"
        found = True
    if not found:
        yield "On small data, its values are the same as germane's."


def readings(dialect: Dialect) -> Iterator[str]:
    """Both readings of what a query's relevant items are, with data on which they differ."""
    yield READINGS
    for name in ("R@2", "AP@2", "AP", "nDCG@2", "R", "AUPR", "P(norm=retrieved)@2"):
        foreign = dialect.find_same_kind(germane.parse(name))
        if foreign is None:
            continue
        given = "ratings" if level(foreign) > 1 else "norm"
        judged, listed = (
            evaluated(data(given), foreign.write_name(2), dialect, **choice)
            for choice in ({}, {"relevant": "listed"})
        )
        if judged is not None and listed is not None and not same(judged, listed):
            more = f', dialect="{dialect.name}"'
            called = foreign.write_name(2), more, str(germane.parse(foreign.write_measure(2)))
            lines = [
                f"{given} = {DATA[given][0]}",
                line(given, *called, judged),
                line(given, called[0], f'{more}, relevant="listed"', called[2], listed),
            ]
            code = "\n".join(("import germane\n", *lines))
            yield f"{DATA[given][1]}:\n\n```python\n{code}\n```"
            return
    yield "None of the measures above counts relevant items outside the list, so the two readings are the same."


def differences(dialect: Dialect) -> Iterator[tuple[str, list[str]]]:
    """Two lines where the dialect and germane differ: what the tool says, and what germane says."""
    foreign, own = asked(dialect)
    rated = level(foreign) > 1
    for name in (one for one in DATA if one.startswith("rat") == rated):
        theirs, mine = value(name, foreign, dialect), value(name, own, None)
        if theirs is not None and mine is not None and not same(theirs, mine):
            measure = germane.parse(foreign.write_measure(2))
            more = f', dialect="{dialect.name}"'
            said = line(name, foreign.write_name(2), more, str(measure), theirs)
            yield name, [said, line(name, str(own), "", str(own), mine)]


def asked(dialect: Dialect) -> tuple[Entry, germane.types.Measure]:
    """The dialect's AP@2, or its AP, or what it has; and germane's own of the same kind."""
    for name in ("AP@2", "AP", "P@2", "P"):
        foreign = dialect.find_same_kind(germane.parse(name))
        if foreign is not None:
            return foreign, germane.parse(name)
    first = dialect.measuring[0]
    translated = germane.parse(first.write_measure(2))
    return first, germane.types.Measure(translated.name, k=translated.k)


def level(foreign: Entry) -> float:
    """The lowest relevant grade of a tool's measure."""
    return germane.parse(foreign.write_measure(2)).rel or 0


def value(name: str, measure: Any, dialect: Dialect | None) -> float | None:
    written = measure.write_name(2) if isinstance(measure, Entry) else measure
    return evaluated(data(name), written, dialect)


def evaluated(
    given: tuple[Any, Any], measure: Any, dialect: Dialect | None, **policy: Any
) -> float | None:
    try:
        result = germane.evaluate(*given, [measure], dialect=dialect, **policy)
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
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        path.unlink()
    for dialect in DIALECTS:
        (FOLDER / f"{dialect.name}.md").write_text(page_of(dialect), "utf-8")
