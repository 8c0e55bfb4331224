"""Ask a tool for every value of the suite: ``python run.py MODULE:FUNCTION``.

The function gets a definition, the conventions, judgments {query: {item: grade}} and results {query: [[item, score], …]}. It
returns {query: value}, or None for a definition or conventions that the tool does not have. The exit status is 1 if a value differs.
"""

import importlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SUITE = json.loads(Path(__file__).with_name("suite.json").read_text("utf-8"))


def run_suite(compute: Callable[..., dict[str, float] | None]) -> tuple[int, list[str]]:
    """Count the values that the tool has, and describe those that differ."""
    asked, differences = 0, []
    for case, conventions, name, wanted in list_values():
        definition = {"name": name, **SUITE["definitions"][name]}
        try:
            got = compute(definition, SUITE["defaults"] | conventions, case["qrels"], case["run"])
        except Exception as error:
            error.add_note(f"The case {case['name']}, {name}: {case['shows']}")
            raise
        if got is None:
            continue
        asked += 1
        if not is_equal(got, wanted):
            numbers = {query: value["double"] for query, value in wanted["queries"].items()}
            differences.append(
                f"{case['name']} {conventions or ''}: {name} is {got}, not {numbers}\n  {case['shows']}"
            )
    return asked, differences


def list_values() -> Iterator[tuple[Any, Any, str, Any]]:
    for case in SUITE["cases"]:
        for answer in case["answers"]:
            for name, wanted in answer["values"].items():
                yield case, answer["conventions"], name, wanted


def is_equal(got: dict[str, float], wanted: Any) -> bool:
    return got.keys() == wanted["queries"].keys() and all(
        got[query] is not None
        and math.isclose(got[query], value["double"], rel_tol=1e-9, abs_tol=1e-12)
        for query, value in wanted["queries"].items()
    )


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python run.py MODULE:FUNCTION; see README.md")
    sys.path.insert(0, "")
    module, _, function = sys.argv[1].partition(":")
    asked, differences = run_suite(getattr(importlib.import_module(module), function or "compute"))
    print("\n".join(differences))
    print(f"version {SUITE['version']}: {asked} values asked, {len(differences)} differ")
    sys.exit(1 if differences or not asked else 0)
