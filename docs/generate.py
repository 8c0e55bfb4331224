"""Write docs/measures.md from the table of measures: ``python docs/generate.py``."""

from pathlib import Path

from formula import write_latex

from germane.measures import CATALOGUE, TABLE, Definition, Parameter
from germane.measures.measure import NOTATION, OF_LISTS, Measure, describe_ties

TARGET = Path(__file__).parent / "measures.md"

INTRODUCTION = f"""\
# Measures

`python docs/generate.py` generates this page from the definitions in `src/germane/measures/`.
`germane measures NAME` prints one entry, with your parameters in the formula. The tests run each example
after `from germane import evaluate, score` and `from math import log2`.

In the formulas, {NOTATION}. A measure without a cutoff looks at all retrieved items.
The last ones, from {CATALOGUE[0].name} on, are measures of the catalogue: of all lists of a run, judged or not. [Which novelty?](which-novelty.md) is their guide.

"""


def page() -> str:
    return INTRODUCTION + contents() + "".join(map(section, (*TABLE, *CATALOGUE)))


def contents() -> str:
    rows = "".join(
        f"| [`{Measure(row.name)}`](#{anchor(row)}) | {cell(row.title)} |\n"
        for row in (*TABLE, *CATALOGUE)
    )
    return f"| measure | is |\n|---|---|\n{rows}"


def anchor(row: Definition) -> str:
    return row.name.lower()


def section(row: Definition) -> str:
    entries = {
        "Formula": formula(row),
        "Parameters": parameters(row),
        "Conventions": " ".join(
            filter(
                None, (row.conventions, f"Ties: {describe_ties(row) if row in TABLE else OF_LISTS}")
            )
        ),
        "Undefined": row.undefined or "Nowhere.",
        "Example": f"\n\n```python\n{row.example}\n```",
        "Cite": row.cite,
    }
    parts = [
        f"**{label}.** {text}".replace(".** \n", ".**\n") for label, text in entries.items() if text
    ]
    aliases = ", ".join(f"`{alias}`" for alias in row.aliases)
    also = f" Also read as {aliases}." if aliases else ""
    return "\n\n".join([f"\n## {row.name}", f"{row.title}.{also}", *parts]) + "\n"


def formula(row: Definition) -> str:
    """The formula at 10; and lines without a cutoff, at 10, and for each word of each parameter that changes it."""
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
    return f"${write_latex(line)}${table}" if row in TABLE and set(line) & set("Σ÷≥") else table


def parameters(row: Definition) -> str:
    if not row.parameters:
        return ""
    return "\n\n" + "\n".join(map(parameter_line, row.parameters))


def parameter_line(parameter: Parameter) -> str:
    default = parameter.default
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"- `{parameter.name}={shown}`: {parameter.says}; takes {parameter.describe_values()}."


def cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
