"""Write suite.json: ``python conformance/generate.py``. Values come from tests/oracle.py, which knows nothing of germane."""

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import oracle  # noqa: E402
from cases import CASES, CONVENTIONS, DEFAULTS, Case  # noqa: E402

VERSION = "1.1.0"
IRRATIONAL = ("DCG", "nDCG")  # their discounts are logarithms

Judged = dict[str, float]
Ranked = list[tuple[str, float]]


def write_suite() -> str:
    names = dict.fromkeys(name for case in CASES for name in case.definitions)
    suite = {
        "version": VERSION,
        "conventions": CONVENTIONS,
        "defaults": DEFAULTS,
        "definitions": {name: describe(name) for name in names},
        "cases": [write_case(case) for case in CASES],
    }
    return write_lines(suite) + "\n"


def write_lines(node: Any, depth: int = 0) -> str:
    """JSON with one value of a definition on a line, so that differences can be read."""
    if depth == 6 or not isinstance(node, (dict, list)) or not node:
        return json.dumps(node, ensure_ascii=False)
    of_list = isinstance(node, list)
    entries = node if of_list else node.items()
    lines = [
        write_lines(entry, depth + 1)
        if of_list
        else f"{json.dumps(entry[0], ensure_ascii=False)}: {write_lines(entry[1], depth + 1)}"
        for entry in entries
    ]
    pad = "\n" + " " * depth
    opening, closing = "[]" if of_list else "{}"
    return f"{opening}{pad} {f',{pad} '.join(lines)}{pad}{closing}"


def read_name(name: str) -> tuple[str, dict[str, Any], int | None]:
    """Split a name such as AP(norm=R)@5: the measure, its parameters, its cutoff."""
    head, _, k = name.partition("@")
    measure, _, inner = head.rstrip(")").partition("(")
    pairs = [part.split("=") for part in inner.split(",") if part]
    return measure, {key: read_value(text) for key, text in pairs}, int(k) if k else None


def read_value(text: str) -> float | str:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def describe(name: str) -> dict[str, Any]:
    """The definition in words, for people; a tool reads the name, the parameters and k."""
    import germane  # its definitions are text; no value is taken from it

    measure = germane.parse(name)
    return {
        "measure": measure.name,
        "parameters": {key: value for key, value in measure.parameters if key != "mean"},
        "k": measure.k,
        "formula": measure.definition,
    }


def write_case(case: Case) -> dict[str, Any]:
    answers = [
        {
            "conventions": conventions,
            "values": {
                name: write_values(compute(case, conventions, name), name)
                for name in case.definitions
            },
        }
        for conventions in case.conventions
    ]
    return {
        "name": case.name,
        "shows": case.shows,
        "qrels": case.qrels,
        "run": case.run,
        "answers": answers,
    }


def write_values(of_queries: dict[str, float], name: str) -> dict[str, Any]:
    values = list(of_queries.values())
    mean = fsum(values) / len(values)
    return {
        "mean": write_value(mean, name),
        "queries": {query: write_value(value, name) for query, value in of_queries.items()},
    }


def write_value(value: float, name: str) -> dict[str, Any]:
    """A double, and the fraction that it stands for, where that is known."""
    exact = Fraction(value).limit_denominator(10**6)
    logarithms = read_name(name)[0] in IRRATIONAL and value not in (0.0, 1.0)
    if logarithms or abs(float(exact) - value) > 4e-16 * abs(value):
        return {"double": value}
    return {"double": value, "fraction": str(exact)}


# --- conventions, one after the other ---------------------------------------------------------------


def compute(case: Case, conventions: dict[str, str], name: str) -> dict[str, float]:
    """The value of each query that counts."""
    chosen = DEFAULTS | conventions
    measure, parameters, k = read_name(name)
    found = {}
    for query, judged in case.qrels.items():
        if query not in case.run and chosen["missing"] == "skip":
            continue
        if not any(grade >= parameters.get("rel", 1) for grade in judged.values()):
            if chosen["no_relevant"] == "skip":
                continue
            if chosen["no_relevant"] == "one":
                found[query] = 1.0
                continue
        of_list = partial(oracle.value, measure, parameters, k)
        found[query] = average_orders(of_list, case.run.get(query, []), judged, chosen)
    return found


def average_orders(
    of_list: Callable[[list[str], Judged], float],
    rows: Ranked,
    judged: Judged,
    chosen: dict[str, str],
) -> float:
    orders = list(rank(rows, judged, chosen))
    return fsum(of_list(ranked, judged) for ranked in orders) / len(orders)


def rank(rows: Ranked, judged: Judged, chosen: dict[str, str]) -> Iterator[list[str]]:
    """Every list of items that the conventions make of the rows."""
    if chosen["duplicates"] in ("keep", "recount"):  # no case has ties and repeated items
        ordered = [item for item, _ in sorted(rows, key=lambda row: -row[1])]
        orders = [ordered if chosen["duplicates"] == "recount" else blank_copies(ordered)]
    else:
        scores = dict(keep_rows(rows, chosen["duplicates"]))
        orders = order(scores, judged, chosen["ties"])
    depth = None if chosen["depth"] == "all" else int(chosen["depth"])
    for ranked in orders:
        kept = [item for item in ranked if chosen["unjudged"] != "remove" or item in judged]
        yield kept[:depth]


def blank_copies(ordered: list[str]) -> list[str]:
    """Put an item that nobody judged in the place of each further copy."""
    first = {item: ordered.index(item) for item in ordered}
    return [item if first[item] == i else f"copy {i}" for i, item in enumerate(ordered)]


def keep_rows(rows: Ranked, duplicates: str) -> Iterator[tuple[str, float]]:
    for item in dict.fromkeys(item for item, _ in rows):
        scores = [score for each, score in rows if each == item]
        if duplicates == "error" and len(scores) > 1:
            raise ValueError(f"item {item} is listed twice.")
        choose = {"error": min, "first": lambda s: s[0], "last": lambda s: s[-1], "max": max}
        yield item, choose[duplicates](scores)


def order(scores: dict[str, float], judged: Judged, ties: str) -> list[list[str]]:
    if ties == "expected":
        return list(oracle.orders(scores))
    if ties in ("best", "worst"):
        return [(oracle.best_order if ties == "best" else oracle.worst_order)(scores, judged)]
    return [(oracle.trec_order if ties == "trec" else oracle.given_order)(scores)]


if __name__ == "__main__":
    (HERE / "suite.json").write_text(write_suite(), "utf-8")
