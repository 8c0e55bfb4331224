"""Which format a file has: by its suffix, or as the caller says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, TypeAlias

from germane.errors import InputError, check_choice, clip
from germane.readers.paths import Path

InputFormat: TypeAlias = str | Mapping[str, str] | None
"""The format of qrels and run, or of one: ``{"run": "jsonl"}``."""

FORMATS = (
    "trec", "parquet", "arrow", "csv", "tsv", "jsonl", "msmarco", "letor", "svmlight", "scores",
)  # fmt: skip

_SUFFIXES = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".letor": "letor",
    ".svmlight": "letor",
    ".libsvm": "letor",
}
# what is said of a run's file may say something else of its qrels
_MEANS = {
    ("qrels", "msmarco"): "trec",
    ("qrels", "scores"): "letor",
    ("qrels", "svmlight"): "letor",
    ("run", "svmlight"): "letor",
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def check(input_format: Any) -> None:
    """Refuse a format that does not exist."""
    if input_format is None:
        return
    each = input_format.values() if isinstance(input_format, Mapping) else [input_format]
    for one in each:
        check_choice("input_format", one, FORMATS, InputError)
    odd = set(input_format) - {"qrels", "run"} if isinstance(input_format, Mapping) else ()
    if odd:
        raise InputError(
            f"input_format is one format, or one for qrels and one for run; got {clip(odd.pop())}."
        )


def asked(kind: str, input_format: InputFormat) -> str | None:
    """The format that was asked for of a run or of qrels."""
    return input_format.get(kind) if isinstance(input_format, Mapping) else input_format


def format_of(path: Path, kind: str, input_format: InputFormat = None) -> str:
    """The format that was asked for, or that the suffix of a path says; TREC where it says none.

    A folder holds Parquet files.
    """
    wanted = asked(kind, input_format)
    if wanted is not None:
        return _MEANS.get((kind, wanted), wanted)
    if os.path.isdir(path):
        return "parquet"
    name = os.fspath(path).casefold()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    found = _SUFFIXES.get(os.path.splitext(name)[1], "trec")
    return _of_lines(path, kind) if found == "tsv" else found


def _of_lines(path: Path, kind: str) -> str:
    """What a .tsv is: with a header TSV; without one MS MARCO's lists, or TREC's fields and tabs."""
    if not os.path.isfile(path):  # a pipe is read once
        return "tsv"
    lines = _first_lines(path)
    fields = lines[0] if lines else []
    if len(fields) == _TREC_FIELDS[kind] and _is_number(fields[-2 if kind == "run" else -1]):
        return "trec"
    if kind == "run" and _are_ranked(lines):
        return "msmarco"
    return "tsv"


_TREC_FIELDS = {"qrels": 4, "run": 6}


def _first_lines(path: Path) -> list[list[str]]:
    """The fields of the first lines, without one that may go on."""
    from germane.readers.files import TextFile

    with TextFile(path) as file:
        for block in file.blocks("lines"):
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
