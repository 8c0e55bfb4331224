"""The part of plain English that a machine can know: how functions and what they hold are named."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "germane"
MODULES = sorted(SOURCE.rglob("*.py"))
PARTICIPLE = re.compile(
    r"_?(told|meant|said|made|found|kept|drawn|written|given|shown|known|held|left|spelt|built|sent|taken|seen"
    r"|spoken|chosen|thrown|hidden|broken|[a-z]{2,}ed)(_(of|by|in|on|at|for|to|with|from|as|up|out))?"
)
VERBS = {"need", "feed", "seed", "embed", "exceed", "proceed", "shed", "speed"}


def find_participles(tree: ast.AST) -> Iterator[str]:
    """Functions and methods that are named by a bare participle; properties are adjectives."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        is_property = any(
            "property" in ast.unparse(one) or "setter" in ast.unparse(one)
            for one in node.decorator_list
        )
        if not is_property and PARTICIPLE.fullmatch(node.name) and node.name not in VERBS:
            yield f"{node.lineno}: {node.name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_are_verbs(path: Path) -> None:
    assert [*find_participles(ast.parse(path.read_text("utf-8")))] == []


def test_participles_are_noticed() -> None:
    assert [*find_participles(ast.parse("def told(): ..."))] == ["1: told"]
    fine = ast.parse('class A:\n    @property\n    def judged(self): "The judged items."\n')
    assert [*find_participles(fine)] == []


# --- Names of what functions hold ---------------------------------------------------------------

EMPTY_WORDS = {
    *("one", "its", "other", "others", "some", "both", "each", "found", "given", "held", "asked"),
    *("says", "said", "kept", "made", "known", "got", "of", "at", "here", "there", "own", "few"),
    *("several", "odd", "alone", "again", "whole", "which", "what", "many", "more", "most"),
}
"""Pronouns and participles: they do not say what a name holds."""
MOST, MOST_IN_A_FILE = 0.02, 0.1
"""The largest share of such names in all of the package, and in a file."""


def count_names(tree: ast.AST) -> tuple[int, int]:
    """Count the names that are bound, and those that are empty words."""
    bound = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    bound += [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    names = [name for name in bound if name not in ("self", "cls")]
    return len(names), sum(name in EMPTY_WORDS for name in names)


def test_names_say_what_they_hold() -> None:
    counts = {
        str(path.relative_to(SOURCE)): count_names(ast.parse(path.read_text("utf-8")))
        for path in MODULES
    }
    bound, empty = map(sum, zip(*counts.values(), strict=True))
    assert empty <= MOST * bound
    assert [path for path, (b, e) in counts.items() if e > MOST_IN_A_FILE * b] == []
    assert count_names(ast.parse("def f(given, *, path): one, query = given")) == (4, 2)


# --- Tests that a stranger can extend ---------------------------------------------------------------

PUBLIC = {"errors", "cli", "plot", "pytrec_eval", "sklearn", "spark", "types"}
INSIDE = {
    "test_laws.py",  # a law of hits, terms and norms needs the stages one by one
    "test_latex.py",  # odd headings and every definition in one table
    "test_site.py",  # types of rare options, which printed signatures leave out
}


def find_inner_imports(text: str) -> set[str]:
    """Modules of germane that are imported from and that users do not import from."""
    found = {
        node.module.split(".")[1]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("germane.")
    }
    return found - PUBLIC


def test_only_internals_and_three_others_import_what_is_inside() -> None:
    tests = Path(__file__).parent.glob("test_*.py")
    assert {path.name for path in tests if find_inner_imports(path.read_text("utf-8"))} == INSIDE
    assert find_inner_imports("from germane.readers import rows") == {"readers"}
