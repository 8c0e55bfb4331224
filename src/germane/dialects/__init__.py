"""Dialects: the conventions of other tools.

A family is a tuple of dialects: tools for one task, with input of one kind, which share
conventions. A file has the families of one field. Conventions of several dialects are at the top
of a file or section, those of several files in ``dialect``. ``families`` puts all of them together,
in print order.

A new dialect is an entry in its family's file. Its answers are recorded in
``tests/data/conformance.json``, and ``python docs/generate_dialects.py`` writes its page.
"""

from functools import cache
from typing import TYPE_CHECKING

from germane.errors import PolicyError, clip, suggest

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect
    from germane.measures.spelling import Spelled


def dialects() -> "dict[str, Dialect]":
    """Return every dialect by its name.

    >>> germane.dialects()["ml_metrics"].version
    '0.1.4'
    """
    from germane.dialects.families import BY_NAME  # imported late: most evaluations need none

    return dict(BY_NAME)


def resolve_dialect(name: object, boxes: "tuple[Dialect, ...] | None" = None) -> "Dialect":
    """Return a dialect by its name, or as it is. Raises PolicyError with the nearest name.

    ``boxes`` are the dialects of object detection, where one of them is meant.
    """
    from germane.dialects.dialect import Dialect

    if isinstance(name, Dialect):
        return name
    from germane.dialects.families import DIALECTS

    dialect_by_name = {
        key: dialect for dialect in boxes or DIALECTS for key in (dialect.name, *dialect.aliases)
    }
    if isinstance(name, str) and (dialect := dialect_by_name.get(name.casefold())) is not None:
        return dialect
    near = suggest(name, dialect_by_name) if isinstance(name, str) else ""
    command = "dialects" if boxes is None else "boxes dialects"
    raise PolicyError(f"no dialect {clip(name)}.{near}  All of them: germane {command}")


def find_speakers(name: str) -> "dict[str, str]":
    """Find the dialects that have a measure of this name, and germane's name of it."""
    from germane.dialects.dialect import LONGEST
    from germane.dialects.families import DIALECTS

    if len(name) > LONGEST:
        return {}
    return {dialect.name: dialect.measure(name) for dialect in DIALECTS if dialect.find(name)}


@cache
def list_tool_names() -> "dict[str, Spelled]":
    """List the tools' names that are a single measure wherever a tool has them, by their letters.

    Names that are germane's own, too, and names of up to three letters are left out.
    """
    from germane.dialects.families import DIALECTS
    from germane.measures.spelling import Spelled, is_known, list_letters

    families_by_letters: dict[str, dict[str, Spelled]] = {}
    for dialect in DIALECTS:
        for entry in dialect.measuring:
            means = entry.write_measure(None).replace("{k}", "k")
            for name in (entry.name, *entry.also):
                shown = name.replace("{k}", "10")
                named = Spelled(shown, means, tool=f"{shown} in {dialect.name}")
                for letters in list_letters(shown):
                    families_by_letters.setdefault(letters, {}).setdefault(named.family, named)
    return {
        letters: next(iter(families.values()))
        for letters, families in families_by_letters.items()
        if len(families) == 1 and len(letters) > 3 and not is_known(letters)
    }
