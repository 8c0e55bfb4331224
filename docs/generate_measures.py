"""Write a page of each measure, which only the site has: ``make docs`` calls ``list_pages``.

The page has the section of docs/measures.md, the terms of one list, and the tools that report the measure.
"""

import base64
import warnings
from collections.abc import Iterator
from functools import cache

import generate
from generate_figures import PHONE, animate, make_narrow, make_still

import germane
from germane.measures import CATALOGUE, TABLE, Definition
from germane.measures.measure import Measure

GRADES, RELEVANT = [0, 2, 1, 0, 1, 0, 0, 1, 0, 0], 5
NAMES = [row.name for row in (*TABLE, *CATALOGUE)]
SHOWN = 4  # of a tool's names of one measure


def list_pages() -> Iterator[tuple[str, str]]:
    """List the pages by name, with their text."""
    for row in (*TABLE, *CATALOGUE):
        yield f"measures/{row.name}", write_page(row)


def write_page(row: Definition) -> str:
    section = generate.section(row).lstrip().replace(f"## {row.name}", f"# {row.name}", 1)
    parts = [section.rstrip(), *write_terms(row), *write_tools(row)]
    return "\n\n".join(parts) + "\n"


def write_terms(row: Definition) -> Iterator[str]:
    """Write the terms of one list, for measures of one list."""
    measure = Measure(row.name, (), 10 if row.cutoff else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        try:
            explained = germane.explain(GRADES, measures=[measure], relevant=RELEVANT)
        except germane.GermaneError:  # of subtopics, or of all lists
            return
    given = " ".join(map(str, GRADES))
    yield (
        f"## On one list\n\nThe grades of a list are {given}, and there are {RELEVANT} relevant items in all:\n\n"
        f"```sh\ngermane explain '{given}' --relevant {RELEVANT} -m '{measure}'\n```\n\n{explained.markdown().rstrip()}"
    )
    told = f"An animation: the list is read rank by rank, and the terms of {measure} add up."
    yield "".join(
        f'<picture><source media="{PHONE}" srcset="{narrow}">'
        f'<img class="{name}" alt="{told}" src="{wide}"></picture>'
        for name, (wide, narrow) in write_pictures(explained).items()
    )


def write_pictures(explained: germane.types.Explanation) -> dict[str, tuple[str, str]]:
    """Write the animation of a list, and its last frame, as addresses that hold them, both also for phones.

    The last frame is for paper, and for readers who prefer that nothing moves.
    """
    moving = animate(explained)
    pictures = {"moving": moving, "still": make_still(moving)}
    return {name: (_embed(text), _embed(make_narrow(text))) for name, text in pictures.items()}


def _embed(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def write_tools(row: Definition) -> Iterator[str]:
    """Write which tools have the measure, with their names of it and germane's."""
    tools = find_tools().get(row.name)
    if tools:
        lines = [
            f"| [{tool}](../../dialects/{tool}.md) | "
            + ", ".join(f"`{theirs}`" for theirs, _ in names[:SHOWN])
            + ", …" * (len(names) > SHOWN)
            + " | "
            + ", ".join(dict.fromkeys(f"`{ours}`" for _, ours in names[:SHOWN]))
            + " |"
            for tool, names in tools.items()
        ]
        head = "| tool | its names | germane's |\n|---|---|---|\n"
        yield "## Tools that report it\n\n" + head + "\n".join(lines)


@cache
def find_tools() -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Find the names of each measure, by tool: theirs and germane's."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for dialect in germane.dialects().values():
        for entry in dialect.measuring:
            name = germane.parse(entry.measure.partition("(")[0].partition("@")[0]).name
            found.setdefault(name, {}).setdefault(dialect.name, []).append(
                (entry.name, entry.measure)
            )
    return found
