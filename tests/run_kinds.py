"""The kinds of runs that the doors of the tests lead to, by the name of the door."""

from collections.abc import Iterator
from typing import Any

from germane.readers import ReadOptions, RunInput, open_inputs
from germane.readers.arrays import Grouped, ScoreArray, TopIds
from germane.readers.embeddings import Embeddings
from germane.readers.frames import Frame
from germane.readers.mappings import RankedLists, ScoredMapping
from germane.readers.trec_files import Run, TrecFile

KINDS: dict[str, type[RunInput]] = {
    "scores": ScoredMapping,
    "lists": RankedLists,
    "rows of lists": RankedLists,
    "file": TrecFile,
    "read": Run,
    "columns": Frame,
    "groups": Grouped,
    "embeddings": Embeddings,
    "top-k ids": TopIds,
    "array of scores": ScoreArray,
}


def all_kinds() -> set[type[RunInput]]:
    """Every class of runs that can be read."""

    def below(kind: type[RunInput]) -> Iterator[type[RunInput]]:
        for one in kind.__subclasses__():
            yield from below(one)
            if "retrieve" in vars(one):
                yield one

    return set(below(RunInput))


def kind_of(qrels: Any, run: Any, **how: Any) -> type[RunInput]:
    return type(open_inputs(qrels, run, ReadOptions(**how))[1])
