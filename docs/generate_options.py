"""Write docs/options.md from the table of tests/crossings/: ``python docs/generate_options.py``."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from germane.cli.options import OPTIONS as SENTENCES  # noqa: E402
from germane.evaluation.choices import RARE  # noqa: E402

from crossings.cells import Cell, list_cells  # noqa: E402
from crossings.kinds import KINDS  # noqa: E402
from crossings.options import OPTIONS  # noqa: E402
from crossings.refusals import EVALUATING, REFUSED, UNCHANGED, Refusal  # noqa: E402
from crossings.verbs import VERBS  # noqa: E402

TARGET = ROOT / "docs" / "options.md"

INTRODUCTION = """\
# What works on what

<!-- python docs/generate_options.py writes this page from the tables of tests/crossings. -->

Every function works with every kind of input and with every option about rows, and gives the same values, counts and findings as for dicts with
the same data. The tests run {cells:,} combinations of {verbs} functions, {kinds} kinds of input and {options} options. A few combinations have no meaning; they are listed here, with the
reason that the error message gives.

The functions are {names}.
Embeddings are passed to `evaluate_embeddings`, whose results you can pass to `compare`. `check` reports a combination without meaning as a finding.

Findings about single results come from a sample. There is none for arrays of scores and embeddings, and for dicts it contains only judged
queries, while `check` reads everything.
"""


def page() -> str:
    return "\n".join([introduction(), options(), unchanged(), functions(), kinds(), rare()])


def introduction() -> str:
    return INTRODUCTION.format(
        cells=len(list_cells()), verbs=len(VERBS), kinds=len(KINDS), options=len(OPTIONS),
        names=", ".join(f"`{verb}`" for verb in VERBS),
    )  # fmt: skip


def find(verb: str, kind: str, option: str) -> Refusal | None:
    return next((one for one in REFUSED if one.covers(Cell(verb, kind, option))), None)


def options() -> str:
    """Options by kinds; kinds with the same refusals share a column."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for kind in KINDS:
        refused = (find("evaluate", kind, option) for option in OPTIONS)
        groups.setdefault(tuple("" if one is None else one.why for one in refused), []).append(kind)
    reasons = list(dict.fromkeys(why for column in groups for why in column if why))
    names = [", ".join(group) for group in groups.values()]
    names[0] = "dicts, frames, files, scores (Q, N) with ids, pairs (Q, K) with ids"
    lines = [
        "## Options and inputs\n",
        '✓ means that the combination works, and a number refers to the reason why it does not. "Whole lists" stands for the measures Coverage and Novelty,',
        "which look at all results. With `collapse=`, judgments are about groups, so they have to be `{query: {group: grade}}`, a frame or a file; grades in an",
        "array, a CSR matrix and labels are about items, and are refused.\n",
        f"| option | {' | '.join(names)} |",
        f"|---|{'---|' * len(names)}",
    ]
    for at, option in enumerate(OPTIONS):
        cells = (str(reasons.index(column[at]) + 1) if column[at] else "✓" for column in groups)
        lines.append(f"| {write(option)} | {' | '.join(cells)} |")
    lines += ["", *(f"{number}. {say(why)}" for number, why in enumerate(reasons, 1)), ""]
    return "\n".join(lines)


def unchanged() -> str:
    """The options that are taken and change nothing."""
    lines = [
        "Some options are accepted but have no effect, whatever the data. Every other ✓ changes a number on some data.\n",
        "| option | inputs | why it changes nothing |",
        "|---|---|---|",
    ]
    for why, kinds, options in UNCHANGED:
        named = ", ".join(write(option) for option in options)
        lines.append(f"| {named} | {', '.join(kinds)} | {say(why)} |")
    return "\n".join([*lines, ""])


def functions() -> str:
    """The refusals of single functions."""
    lines = [
        "## Functions\n",
        "Some options have no meaning for one function, whatever the input.\n",
        "| function | option | why not |",
        "|---|---|---|",
    ]
    for one in REFUSED:
        verbs = [verb for verb in VERBS if verb in one.verbs]
        if len(verbs) < len(EVALUATING) - 1:
            listed = "any" if set(one.options) == set(OPTIONS) else shorten(one)
            inputs = "" if set(one.kinds) == set(KINDS) else f" ({', '.join(one.kinds)})"
            lines.append(
                f"| {', '.join(f'`{verb}`' for verb in verbs)} | {listed}{inputs} | {say(one.why)} |"
            )
    return "\n".join([*lines, ""])


def shorten(one: Refusal) -> str:
    listed = [option for option in OPTIONS if option in one.options]
    whole = all(option.startswith("whole lists") for option in listed)
    return "measures of whole lists" if whole else ", ".join(map(write, listed))


def kinds() -> str:
    lines = ["## Inputs\n", "| input | meaning |", "|---|---|"]
    lines += [f"| {kind} | {one.says} |" for kind, one in KINDS.items()]
    return "\n".join(
        [*lines, "", "[Sources](sources.md) and [arrays](arrays.md) explain them.", ""]
    )


def rare() -> str:
    """The options that signatures leave out."""
    lines = [
        "## Rare options\n",
        "Signatures show these as `**conventions`, and `--help-all` lists them. They are options like any other:",
        '`germane.evaluate(qrels, run, no_hit="skip")`, `--no-hit skip`.\n',
        "| option | is about |",
        "|---|---|",
    ]
    lines += [f"| `{name}=` | {SENTENCES[name].sentence} |" for name in RARE]
    return "\n".join([*lines, "", "[Conventions](conventions.md) explains their words.", ""])


def write(option: str) -> str:
    """Write an option, with what is typed as code."""
    return " ".join(f"`{word}`" if "=" in word else word for word in option.split())


def say(why: str) -> str:
    return f"{why[0].upper()}{why[1:]}."


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
