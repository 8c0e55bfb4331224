"""Paths of files, and the format of a file: by its suffix, or as the caller says."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from typing import Any, TypeAlias

from germane.core.progress import Progress
from germane.errors import InputError, PolicyError, check_choice, clip

Path: TypeAlias = str | os.PathLike[str]

BATCH = 1 << 22  # rows, at least, after which a long evaluation can be taken up again


class ProgressNote:
    """Progress with a note on how the file is read, which may change while it is read."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.note = ""

    def __call__(self, name: str, done: int, size: int | None) -> None:
        if self._progress is not None:
            self._progress(name + self.note, done, size)


def is_path(given: object) -> bool:
    return isinstance(given, str) or hasattr(type(given), "__fspath__")


def check_path(given: object) -> None:
    """Raise InputError unless this is a path."""
    if not is_path(given):
        raise InputError(f"a file is named by its path; got {clip(given)}")


EXPANSION = 1000  # times its size: what a compressed file may become, unless more is allowed
LINE = 1 << 20  # bytes that a line may have, unless more is allowed


class LimitedPath(str):
    """A path whose file has limits of its own."""

    max_expansion: float = EXPANSION
    max_line: float = LINE


def limit_path(path: Path, max_expansion: object = None, max_line: object = None) -> Path:
    """Attach limits to a path. Raises PolicyError for a limit that is not a number from 1."""
    limited = LimitedPath(os.fsdecode(path))
    if max_expansion is not None:
        says = "It is how many times larger than a compressed file its content may be."
        limited.max_expansion = _read_limit("max_expansion", max_expansion, says)
    if max_line is not None:
        says = "It is how many bytes a line may have."
        limited.max_line = _read_limit("max_line", max_line, says)
    return limited


def _read_limit(name: str, given: object, says: str) -> float:
    number = math.inf if given == "none" else given
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not number >= 1:
        raise PolicyError(f"{name} takes a number from 1, or none; got {clip(given)}.  {says}")
    return number


def find_name(path: Path) -> str:
    """Name a run after its file: ``runs/bm25.run.gz`` → ``bm25``."""
    if os.fspath(path) == "-":
        return "standard input"
    name = os.path.basename(os.fspath(path))
    for _ in range(2):
        stem, _, suffix = name.rpartition(".")
        if stem and suffix in _DATA_SUFFIXES:
            name = stem
    return name


_DATA_SUFFIXES = {
    "gz", "bz2", "xz", "zst", "txt", "run", "trec", "res", "qrels", "tsv", "csv", "parquet", "arrow",
    "feather", "json", "jsonl", "ndjson", "letor", "svmlight", "libsvm",
}  # fmt: skip


InputFormat: TypeAlias = str | Mapping[str, str] | None
"""The format of qrels and run, or of one: ``{"run": "jsonl"}``."""

FORMATS = (
    "trec", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "msmarco", "letor", "svmlight", "scores",
)  # fmt: skip

_SUFFIXES = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".letor": "letor",
    ".svmlight": "letor",
    ".libsvm": "letor",
}
# a format that was asked for stands for another one on that side
_MEANS = {
    ("qrels", "msmarco"): "trec",
    ("qrels", "scores"): "letor",
    ("qrels", "svmlight"): "letor",
    ("run", "svmlight"): "letor",
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


_SIDES = {"qrels", "run", "exclude", "only"}


def check_format(input_format: Any) -> None:
    """Refuse a format that does not exist."""
    if input_format is None:
        return
    each = input_format.values() if isinstance(input_format, Mapping) else [input_format]
    for one in each:
        check_choice("input_format", one, FORMATS, InputError)
    odd = set(input_format) - _SIDES if isinstance(input_format, Mapping) else ()
    if odd:
        raise InputError(
            f"input_format is one format, or one for qrels and one for run; got {clip(odd.pop())}."
        )


def choose_format(kind: str, input_format: InputFormat) -> str | None:
    """Choose what the caller asked for: the format of a run or of qrels."""
    return input_format.get(kind) if isinstance(input_format, Mapping) else input_format


def find_format(path: Path, kind: str, input_format: InputFormat = None) -> str:
    """Find the format: what the caller asked for, else by the suffix of the path, else TREC.

    A folder holds Parquet files.
    """
    wanted = choose_format(kind, input_format)
    if wanted is not None:
        return _MEANS.get((kind, wanted), wanted)
    if os.path.isdir(path):
        return "parquet"
    name = os.fspath(path).casefold()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    found = _SUFFIXES.get(os.path.splitext(name)[1], "trec")
    if kind in ("groups", "by"):  # lines of item and group, or of query and category
        return "tsv" if found == "trec" else found
    return _find_format_of_lines(path, kind) if found == "tsv" else found


def _find_format_of_lines(path: Path, kind: str) -> str:
    """Tell apart files named .tsv: TSV has a header; MS MARCO's lists and TREC's lines have none."""
    if not os.path.isfile(path):  # a pipe is read once
        return "tsv"
    lines = _read_first_lines(path)
    fields = lines[0] if lines else []
    if len(fields) == _TREC_FIELDS.get(kind, _TREC_FIELDS["qrels"]):
        with suppress(ValueError):
            float(fields[-2 if kind == "run" else -1])
            return "trec"
    if kind == "run" and _are_ranked(lines):
        return "msmarco"
    return "tsv"


_TREC_FIELDS = {"qrels": 4, "run": 6}


def _read_first_lines(path: Path) -> list[list[str]]:
    """Split the first lines into fields, without a last line that may be cut off."""
    from germane.readers.files import TextFile

    with TextFile(path) as file:
        for block in file.read_blocks("lines"):
            lines = block.data[:_LOOK].splitlines()
            whole = lines[:-1] if len(block.data) > _LOOK and len(lines) > 1 else lines
            return [line.decode("utf-8", "replace").split("\t") for line in whole]
    return []


_LOOK = 1 << 16  # bytes of a file whose lines are looked at


def _are_ranked(lines: list[list[str]]) -> bool:
    """Are these MS MARCO's lines of query, item and rank, the first query's ranks 1 to n?"""
    mine = takewhile(lambda fields: len(fields) == 3 and fields[0] == lines[0][0], lines)
    first = [rank for _, _, rank in mine]
    if not first or not all(rank.isascii() and rank.isdigit() for rank in first):
        return False
    ranks = sorted(map(int, first))
    if len(first) == len(lines):  # there may be more of the query
        return ranks[0] == 1 and len(set(ranks)) == len(ranks)
    return ranks == list(range(1, len(ranks) + 1))
