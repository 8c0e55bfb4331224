"""Write docs/measures.md, and the tables of docs/conventions.md, from the table of measures:
``python docs/generate.py``.
"""

from pathlib import Path

from formula import write_latex

from germane.evaluation.special_queries import find_worst
from germane.measures import CATALOGUE, TABLE, Definition, Parameter
from germane.measures.measure import NOTATION, OF_LISTS, Measure, describe_direction, describe_ties
from germane.readers.objects.relevance import make_ranking

TARGET = Path(__file__).parent / "measures.md"
CONVENTIONS = Path(__file__).parent / "conventions.md"

NOTATION_LINES = "".join(
    f"- `{sign}`: {meaning}\n"
    for sign, _, meaning in (part.partition(": ") for part in NOTATION.split(". ")[0].split("; "))
)
INTRODUCTION = f"""\
# Measures

<!-- python docs/generate.py writes this page from the definitions in src/germane/measures/. -->

This page lists every measure that germane computes, with its formula, its parameters and an example. `germane measures NAME`
prints one of them with your parameters in the formula. [Which measure?](which-measure.md) helps you choose.

The formulas use these signs:

{NOTATION_LINES}
{NOTATION.partition(". ")[2]}. A measure without a cutoff looks at all retrieved items.

The measures from {CATALOGUE[0].name} on describe all lists of a run together, whether they are judged or not.
[Which novelty?](which-novelty.md) is the guide to them. The examples run after `from germane import evaluate, score` and `from math import log2`.

"""


def page() -> str:
    return INTRODUCTION + contents() + "".join(map(section, (*TABLE, *CATALOGUE)))


def contents() -> str:
    rows = "".join(
        f"| [`{Measure(row.name)}`](#{anchor(row)}) | {cell(row.title)} |\n"
        for row in (*TABLE, *CATALOGUE)
    )
    return f"| measure | meaning |\n|---|---|\n{rows}"


def anchor(row: Definition) -> str:
    return row.name.lower()


def section(row: Definition) -> str:
    entries = {
        "Formula": formula(row),
        "Parameters": parameters(row),
        "Conventions": " ".join(
            filter(
                None,
                (
                    describe_direction(row),
                    row.conventions,
                    f"Ties: {describe_ties(row) if row in TABLE else OF_LISTS}",
                ),
            )
        ),
        "Undefined": row.undefined or "Never.",
        "Example": f"\n\n```python\n{row.example}\n```",
        "Cite": row.cite,
    }
    parts = [
        f"**{label}.** {text}".replace(".** \n", ".**\n") for label, text in entries.items() if text
    ]
    aliases = ", ".join(f"`{alias}`" for alias in row.aliases)
    also = f" You can also write {aliases}." if aliases else ""
    return (
        "\n\n".join(
            [
                f"\n## {row.name}",
                f"{row.title}{'' if row.title.endswith('?') else '.'}{also}",
                *parts,
            ]
        )
        + "\n"
    )


def formula(row: Definition) -> str:
    """The formula at 10, set; and lines without a cutoff, at 10, and for each word of each parameter that changes it."""
    shown = [Measure(row.name)]
    k = 10 if row.cutoff else None
    if k:
        shown.append(Measure(row.name, (), k))
    for parameter in row.parameters:
        if parameter.name not in ("mean", "rounding"):
            shown += [Measure(row.name, ((parameter.name, word),), k) for word in parameter.words]
    rows = "".join(f"| `{m}` | {cell(m.definition)} |\n" for m in dict.fromkeys(shown))
    table = f"\n\n| measure | value |\n|---|---|\n{rows}".rstrip("\n")
    line = shown[min(1, len(shown) - 1) if k else 0].definition
    return f"\n\n$$\n{write_latex(line)}\n$$" + table if set(line) & set("Σ÷≥") else table


def parameters(row: Definition) -> str:
    if not row.parameters:
        return ""
    return "\n\n" + "\n".join(map(parameter_line, row.parameters))


def parameter_line(parameter: Parameter) -> str:
    default = parameter.default
    shown = f"{default:g}" if isinstance(default, float) else default
    return (
        f"- `{parameter.name}={shown}`: {parameter.says}. It takes {parameter.describe_values()}."
    )


def cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


def conventions(page: str) -> str:
    """The page of conventions, with its tables made anew."""
    for column, rows in (
        ("value of a missing query", list_missing()),
        ("without effect", list_unchanged()),
    ):
        head = f"| measures | {column} |\n|---|---|\n"
        before, after = page.split(head)
        _, _, rest = f"\n{after}".partition("\n\n")
        lines = "".join(
            f"| {', '.join(f'`{one}`' for one in names)} | {says} |\n"
            for says, names in rows.items()
        )
        page = f"{before}{head}{lines}\n{rest}"
    return page


def list_missing() -> dict[str, list[Measure]]:
    """The measures by the value of a query that the run lacks, those of 0 last."""
    found: dict[str, list[Measure]] = {}
    for row in TABLE:
        for measure in unlike(row):
            worst = find_worst(measure)
            says = row.unanswered(measure.k, dict(measure.parameters))
            if row.better == "low":
                says = (
                    f"{says}; comparisons refuse it" if worst is None else f"{worst:g}, the worst"
                )
            found.setdefault(says, []).append(measure)
    zero = found.pop("0")
    return found | {"0": zero}


def unlike(row: Definition) -> list[Measure]:
    """A measure with its defaults, and with parameters under which an empty list has another value."""
    numbers = {"items": 1000.0, "miss": -2.0, "missed": 1001.0}
    several = [Measure(row.name)]
    for parameter in row.parameters:
        if parameter.name in numbers:
            varied = ((parameter.name, numbers[parameter.name]),)
            several += [
                Measure(row.name, varied, k) for k in ((None, 10) if row.cutoff else (None,))
            ]
    written = {row.unanswered(one.k, dict(one.parameters)): one for one in reversed(several)}
    return list(reversed(written.values()))


def list_unchanged() -> dict[str, list[str]]:
    """The measures by the conventions that have no effect on them."""
    found: dict[str, list[str]] = {}
    for row in TABLE:
        without = list_ineffective(row)
        if without and row.aggregate != "sum":
            found.setdefault(", ".join(f"`{one}`" for one in without), []).append(row.name)
    return found


def list_ineffective(row: Definition) -> list[str]:
    """The conventions about the relevant items that a query has or finds, which a measure does not need."""
    ranking = make_ranking([{"a"}] if row.subtopics else [1], None, 1.0, covers=row.subtopics)
    if row.kernel(ranking, None, **Measure(row.name).arguments).relevant is None:
        return ["no_relevant", "no_hit", "all_relevant"]
    if row.omits:
        return ["no_relevant", "no_hit", "all_relevant"]
    return ["no_hit"] * (not row.finds) + ["all_relevant"] * (row.better != "high")


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
    CONVENTIONS.write_text(conventions(CONVENTIONS.read_text("utf-8")), "utf-8")
