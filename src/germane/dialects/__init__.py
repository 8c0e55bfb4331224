"""Dialects: the conventions of other tools.

Each file is one family: tools for one task, with input of one kind, which share conventions. A tool
with more than 25 measures has a file of its own. A file lists its dialects in ``DIALECTS``.
Conventions of several dialects are at the top of the file, those of several families in
``dialect``. ``table`` puts the families together, in print order.

A new dialect is an entry in its family's file. Its answers are recorded in
``tests/data/conformance.json``, and ``python docs/generate_dialects.py`` writes its page.
"""

from typing import TYPE_CHECKING

from germane.errors import PolicyError, clip, suggest

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect


def dialects() -> "dict[str, Dialect]":
    """Every dialect by its name.

    >>> germane.dialects()["ml_metrics"].version
    '0.1.4'
    """
    from germane.dialects.table import BY_NAME  # imported late: most evaluations need none

    return dict(BY_NAME)


def resolve_dialect(name: object, boxes: "tuple[Dialect, ...] | None" = None) -> "Dialect":
    """Return a dialect by its name, or as it is. Raises PolicyError with the nearest name.

    ``boxes`` are the dialects of object detection, where one of them is meant.
    """
    from germane.dialects.dialect import Dialect

    if isinstance(name, Dialect):
        return name
    from germane.dialects.table import DIALECTS

    known = {key: one for one in boxes or DIALECTS for key in (one.name, *one.aliases)}
    if isinstance(name, str) and (found := known.get(name.casefold())) is not None:
        return found
    near = suggest(name, known) if isinstance(name, str) else ""
    command = "dialects" if boxes is None else "boxes dialects"
    raise PolicyError(f"no dialect {clip(name)}.{near}  All of them: germane {command}")


def find_speakers(name: str) -> "dict[str, str]":
    """Find the dialects that have a measure of this name, and germane's name of it."""
    from germane.dialects.dialect import LONGEST
    from germane.dialects.table import DIALECTS

    if len(name) > LONGEST:
        return {}
    return {one.name: one.measure(name) for one in DIALECTS if one.find(name)}
