"""Paths of files, before any is opened."""

import math
import os
from typing import TypeAlias

from germane.core.progress import Progress
from germane.errors import InputError, PolicyError, clip

Path: TypeAlias = str | os.PathLike[str]

BATCH = 1 << 22  # rows, at least, after which a long evaluation can be taken up again


class Noted:
    """Progress that also says how a file is read, where that has changed while it was."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.note = ""

    def __call__(self, name: str, done: int, size: int | None) -> None:
        if self._progress is not None:
            self._progress(name + self.note, done, size)


def is_path(given: object) -> bool:
    return isinstance(given, str) or hasattr(type(given), "__fspath__")


def check_path(given: object) -> None:
    """Refuse what is not the path of a file."""
    if not is_path(given):
        raise InputError(f"a file is named by its path; got {clip(given)}")


EXPANSION = 1000  # times its size: what a compressed file may become, unless more is allowed
LINE = 1 << 20  # bytes that a line may have, unless more is allowed


class LimitedPath(str):
    """A path whose file has limits of its own."""

    max_expansion: float = EXPANSION
    max_line: float = LINE


def limit_path(path: Path, max_expansion: object = None, max_line: object = None) -> Path:
    """The path with its file's limits. Raises PolicyError for a limit that is none."""
    limited = LimitedPath(os.fsdecode(path))
    if max_expansion is not None:
        says = "It is how many times larger than a compressed file its content may be."
        limited.max_expansion = _read_limit("max_expansion", max_expansion, says)
    if max_line is not None:
        limited.max_line = _read_limit(
            "max_line", max_line, "It is how many bytes a line may have."
        )
    return limited


def _read_limit(name: str, given: object, says: str) -> float:
    number = math.inf if given == "none" else given
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not number >= 1:
        raise PolicyError(f"{name} takes a number from 1, or none; got {clip(given)}.  {says}")
    return number


def name_of(path: Path) -> str:
    """What a run is called after its file: ``runs/bm25.run.gz`` → ``bm25``."""
    if os.fspath(path) == "-":
        return "standard input"
    name = os.path.basename(os.fspath(path))
    for _ in range(2):
        stem, _, suffix = name.rpartition(".")
        if stem and suffix in _SUFFIXES:
            name = stem
    return name


_SUFFIXES = {
    "gz", "bz2", "xz", "zst", "txt", "run", "trec", "res", "qrels", "tsv", "csv", "parquet", "arrow",
    "feather", "jsonl", "ndjson", "letor", "svmlight", "libsvm",
}  # fmt: skip
