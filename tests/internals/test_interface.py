"""The inner interface: what the upper half of germane may import of the lower half.

``[tool.germane.interface]`` in pyproject.toml lists it, by module. Names that users have anyway
(``germane.__all__``, ``germane.types``, the errors) need no place there, and neither do methods
and attributes of a type that has one.
"""

import ast
import tomllib
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path

from germane import types
from germane.evaluation import choices

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "germane"
LOWER = {
    "_version", "errors", "output", "core", "measures", "kernel", "readers", "dialects", "checks", "evaluation",
}  # fmt: skip
DOORS = {"", "types", "cli", "__main__"}  # what users call, of neither half
MODULES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}

Name = tuple[str, str]  # of a module below germane, and in it


@cache
def parse(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text("utf-8"))


def is_lower(module: str) -> bool:
    return find_folder(module) in LOWER


def is_upper(module: str) -> bool:
    return find_folder(module) not in LOWER | DOORS


def find_folder(module: str) -> str:
    return f"{module}.".split(".")[1]


def find_imports(tree: ast.Module) -> Iterator[Name]:
    """Names imported from modules of germane; those of an imported module where it is used."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("germane"):
            for alias in node.names:
                path = f"{node.module}.{alias.name}"
                if path in MODULES:
                    modules[alias.asname or alias.name] = path
                else:
                    yield str(node.module), alias.name
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith("germane.") for alias in node.names), (
                "from, please"
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in modules:
            yield modules[node.value.id], node.attr


def find_public_names() -> Set[Name]:
    """Names that users import: where the front doors have them from, and all errors."""
    names = {name for door in ("germane", "germane.types") for name in find_imports(parse(door))}
    errors = {
        ("germane.errors", node.name)
        for node in parse("germane.errors").body
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Error", "Warning"))
    }
    return names | errors


def find_used_names() -> dict[Name, set[str]]:
    """Names of the lower half that the upper half uses, with the modules that do."""
    public = find_public_names()
    used: dict[Name, set[str]] = {}
    for module in filter(is_upper, MODULES):
        for source, name in find_imports(parse(module)):
            if is_lower(source) and (source, name) not in public:
                used.setdefault((source.removeprefix("germane."), name), set()).add(module)
    return used


def read_declared_names() -> set[Name]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["germane"]
    return {(module, name) for module, names in table["interface"].items() for name in names}


def test_the_upper_half_uses_declared_names_only() -> None:
    declared = read_declared_names()
    undeclared = {
        f"{module}.{name} in {', '.join(sorted(users))}"
        for (module, name), users in find_used_names().items()
        if (module, name) not in declared
    }
    assert not undeclared


def test_every_declared_name_is_used() -> None:
    assert not read_declared_names() - find_used_names().keys()


def test_every_name_in_signatures_can_be_imported() -> None:
    assert {given.name for given in choices.list_names(vars(choices))} < set(types.__all__)


def test_the_interface_does_not_grow() -> None:
    assert len(read_declared_names()) <= 176
