"""Which format a file has: by its suffix, or as the caller says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from germane.errors import InputError, choices, clip, suggestion
from germane.sources.paths import Path

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
        if one not in FORMATS:
            near = suggestion(one, FORMATS) if isinstance(one, str) else ""
            raise InputError(f"input_format takes {choices(FORMATS)}; got {clip(one)}.{near}")
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
    fields = _first_fields(path)
    if len(fields) == _TREC_FIELDS[kind] and _is_number(fields[-2 if kind == "run" else -1]):
        return "trec"
    if len(fields) == 3 and kind == "run" and fields[2].isascii() and fields[2].isdigit():
        return "msmarco"
    return "tsv"


_TREC_FIELDS = {"qrels": 4, "run": 6}


def _first_fields(path: Path) -> list[str]:
    from germane.sources.files import TextFile

    with TextFile(path) as file:
        for block in file.blocks():
            line = block.data.partition(b"\n")[0].rstrip(b"\r")
            return line.decode("utf-8", "replace").split("\t")
    return []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
