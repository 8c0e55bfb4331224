"""The cells: every verb with every kind of input and every option."""

from collections.abc import Iterable
from typing import NamedTuple

from crossings.kinds import KINDS
from crossings.options import OPTIONS, WHOLE_LISTS
from crossings.verbs import OF_VECTORS, VERBS


class Cell(NamedTuple):
    verb: str
    kind: str
    option: str


def list_cells(options: Iterable[str] = (), verbs: Iterable[str] = ()) -> list[Cell]:
    """List all cells that exist: vectors have two verbs, and curves are not about whole lists."""
    return [
        Cell(verb, kind, option)
        for option in options or OPTIONS
        for kind in KINDS
        for verb in verbs or VERBS
        if (VERBS[verb].of_lists or not option.startswith(WHOLE_LISTS))
        and (verb in OF_VECTORS or not kind.startswith("embeddings"))
    ]
