"""Dialects: the conventions of other tools, one small file a tool; ``table`` lists them all."""

from typing import TYPE_CHECKING

from germane.errors import PolicyError, clip, suggestion

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect


def dialects() -> "dict[str, Dialect]":
    """Every dialect by its name.

    >>> germane.dialects()["ml_metrics"].version
    '0.1.4'
    """
    from germane.dialects.table import BY_NAME  # when asked for: most evaluations need none

    return dict(BY_NAME)


def named(name: object) -> "Dialect":
    """A dialect by its name, or itself. Raises PolicyError with the nearest name."""
    from germane.dialects.dialect import Dialect

    if isinstance(name, Dialect):
        return name
    from germane.dialects.table import ALIASES, BY_NAME

    if isinstance(name, str):
        folded = name.casefold()
        found = BY_NAME.get(ALIASES.get(folded, folded))
        if found is not None:
            return found
    near = suggestion(name, [*BY_NAME, *ALIASES]) if isinstance(name, str) else ""
    raise PolicyError(f"no dialect {clip(name)}.{near}  All of them: germane dialects")
