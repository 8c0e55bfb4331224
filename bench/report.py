"""The Markdown that run.py prints, made from raw measurements."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from tools import MEASURES
from workloads import QUICK, WORKLOADS

Section = dict[str, Any]

PRINTED = 1e-4  # trec_eval prints four decimals
EXACT = 1e-9
NAMES = {
    "germane plain": "germane without its compiled kernel",
    "pytrec_eval": "pytrec_eval-terrier",
    "trec_eval": "trec_eval (C)",
    "polars": "Polars, hand-written",
    "polars strict": "the same, ties ordered and repeated items refused",
    "polars refusing": "the same, repeated items refused",
    "duckdb": "DuckDB, hand-written",
    "pandas": "pandas, hand-written",
    "rectools": "RecTools",
}
HEAD = f"""\
# Results

Measures: {", ".join(MEASURES)} (AP divided by R), but for recommendations. Medians; × is times germane, given
the same frames where there are several. CPU is user and system time over all threads. How each number is taken: [README.md](README.md).
"""


def render(sections: list[Section]) -> str:
    """All sections, one table each."""
    return "\n".join([HEAD, *("\n".join(section_lines(section)) + "\n" for section in sections)])


def section_lines(section: Section) -> Iterator[str]:
    """A heading, a table, whether the values agree, and where it was measured."""
    small = f" (at 1/{QUICK} of the size)" if section["quick"] else ""
    yield f"## {WORKLOADS[section['workload']].title}{small}"
    yield ""
    yield from table(section)
    yield ""
    yield from agreement(section["values"])
    yield ""
    yield f"{section['date']}; {section['machine']}; {section['repeats']} processes per tool."


def table(section: Section) -> Iterator[str]:
    """A row per tool: each cost, and how many times germane's it is."""
    samples = section["samples"]
    whole = section["workload"] == "files"
    costs = ["cpu", "wall", "bytes", "startup"] if whole else ["cpu", "wall"]
    units = columns(section["workload"])
    medians = {
        tool: {cost: median(sample[cost] for sample in taken) for cost in costs}
        for tool, taken in samples.items()
    }
    yield "| tool | version |" + "".join(f" {units[cost][0]} | × |" for cost in costs)
    yield "|---|---|" + "---:|---:|" * len(costs)
    for tool, found in medians.items():
        cells = [named(tool), section["versions"][tool]]
        for cost in costs:
            own = medians.get(germane_beside(tool), {}).get(cost)
            cells += [number(found[cost] * units[cost][1]), times(found[cost], own)]
        yield f"| {' | '.join(cells)} |"


def named(tool: str) -> str:
    """A tool, what is done with it, and the frames that it is given."""
    name, _, frames = tool.partition(" from ")
    return NAMES.get(name, name) + (f", from {frames}" if frames else "")


def germane_beside(tool: str) -> str:
    """germane on the frames that a tool is given."""
    _, given, frames = tool.partition(" from ")
    return "germane" + given + frames


def columns(workload: str) -> dict[str, tuple[str, float]]:
    """The heading of each cost and what one unit of it is multiplied by."""
    if workload == "small":
        return {"cpu": ("CPU µs", 1e6), "wall": ("wall µs", 1e6)}
    if workload in ("judged", "tied"):
        return {"cpu": ("CPU ms", 1e3), "wall": ("wall ms", 1e3)}
    return {
        "cpu": ("CPU s", 1),
        "wall": ("wall s", 1),
        "bytes": ("peak MB", 1e-6),
        "startup": ("CPU s on 10 results", 1),
    }


def number(value: float) -> str:
    """Three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(value: float, own: float | None) -> str:
    """A ratio to germane; a dash where germane was not measured."""
    return number(value / own) if own else "–"


def agreement(values: dict[str, dict[str, float]]) -> Iterator[str]:
    """Which tools agree with the reference, and by how much the others differ."""
    reference = next(
        (t for t in ("pytrec_eval", "trec_eval", "germane", "germane from Arrow") if t in values),
        None,
    )
    if reference is None:
        return
    expected = values[reference]
    worst: list[float] = []
    for tool in [tool for tool in values if tool != reference]:
        allowed = PRINTED if "trec_eval" in (tool, reference) else EXACT
        differences = {name: abs(values[tool][name] - expected[name]) for name in expected}
        apart = {name: value for name, value in differences.items() if not value <= allowed}
        if apart:
            found = ", ".join(
                f"{name} {values[tool][name]:.9f} not {expected[name]:.9f}" for name in apart
            )
            yield f"- **{tool} differs** from {reference}: {found}."
        elif allowed == EXACT:
            worst.append(max(differences.values()))
    agreed = f" The largest difference of the agreeing tools is {max(worst):.0e}." if worst else ""
    shown = ", ".join(f"{name} {expected[name]:.4f}" for name in expected)
    yield f"- Values of {reference}: {shown}.{agreed}"
