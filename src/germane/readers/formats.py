"""Paths of files, and the format of a file: by its suffix, or as the caller says."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from germane.core.arguments import is_number
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


class KeptPath(LimitedPath):
    """The path of what comes once, such as a pipe, of which there is a copy."""

    copy: Any


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
    number = math.inf if isinstance(given, str) and given == "none" else given
    if not is_number(number) or not number >= 1:
        raise PolicyError(f"{name} takes a number from 1, or none; got {clip(given)}.  {says}")
    return number


def find_name(path: Path) -> str:
    """Name a run after its file: ``runs/bm25.run.gz`` → ``bm25``."""
    if os.fspath(path) == "-":
        return "standard input"
    name = os.path.basename(os.fspath(path))
    for _ in range(2):
        stem, _, suffix = name.rpartition(".")
        if stem and (suffix in _BY_SUFFIX or suffix in _COMPRESSIONS):
            name = stem
    return name


InputFormat: TypeAlias = str | Mapping[str, str] | None
"""The format of qrels and run, or of one: ``{"run": "jsonl"}``."""


class Format(NamedTuple):
    """A format of files."""

    suffixes: tuple[str, ...] = ()
    # "module:function" of this folder, which takes path, kind and columns, and returns a Frame
    opener: str = ""
    lines_above: int | None = None  # above the first row, where a row is a line
    qrels: str = ""  # the format that it stands for, if it is asked for qrels
    run: str = ""  # or for a run


FORMATS: dict[str, Format] = {
    "trec": Format(("txt", "run", "trec", "res", "qrels")),
    "parquet": Format(("parquet",), "parquet_files:open_parquet"),
    "arrow": Format(("arrow", "feather"), "column_files:open_arrow"),
    "csv": Format(("csv",), "column_files:open_csv", 1),
    "tsv": Format(("tsv",), "column_files:open_tsv", 1),
    "json": Format(("json",)),
    "jsonl": Format(("jsonl", "ndjson"), "column_files:open_jsonl", 0),
    "msmarco": Format((), "column_files:open_msmarco", 0, qrels="trec"),
    "letor": Format(("letor", "svmlight", "libsvm"), "letor:open_letor"),
    "svmlight": Format((), qrels="letor", run="letor"),
    "scores": Format((), qrels="letor"),
}
"""Every format, in the order of help texts. A format of columns needs no more than its row here and
its opener.
"""

_COMPRESSIONS = ("gz", "bz2", "xz", "zst")
_BY_SUFFIX = {suffix: name for name, one in FORMATS.items() for suffix in one.suffixes}


def open_columns(path: Path, kind: str, name: str, columns: Any = None) -> Any:
    """Open a file of a format as a Frame; None if the format does not have columns."""
    module, _, function = FORMATS[name].opener.partition(":")
    if not module:
        return None
    return getattr(import_module(f"germane.readers.{module}"), function)(path, kind, columns)


PAIRS: dict[str, tuple[str, str]] = {
    "groups": ("item", "group"),
    "by": ("query", "category"),
    **dict.fromkeys(("exclude", "only", "seen"), ("query", "item")),
}
"""Files of two columns, which may also be lines of two fields separated by blanks: the names of the
columns.
"""


def open_pairs(path: Path, kind: str, name: str, columns: Any = None) -> Any:
    """Open a file of two columns as a Frame. Raises InputError for a format without columns."""
    frame = open_columns(path, kind, name, columns)
    if frame is None:
        pairs = " and ".join(PAIRS.get(kind, ("query", "item")))
        other = f" Choose another: input_format={{{kind!r}: 'csv'}}." if kind in _SIDES else ""
        raise InputError(
            f"{clip(os.fspath(path))}: {pairs} are two columns, and the format {name} has"
            f" none.{other}"
        )
    return frame


_SIDES = {
    "qrels", "run", "exclude", "only", "seen", "catalogue", "distance", "subtopic_weights",
}  # fmt: skip


def check_format(input_format: Any) -> None:
    """Refuse a format that does not exist."""
    if input_format is None:
        return
    each = input_format.values() if isinstance(input_format, Mapping) else [input_format]
    for one in each:
        check_choice("input_format", one, tuple(FORMATS), InputError)
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
        asked = FORMATS[wanted]
        return {"qrels": asked.qrels, "run": asked.run}.get(kind) or wanted
    if os.path.isdir(path):
        return "parquet"
    name = os.fspath(path).casefold()
    for suffix in _COMPRESSIONS:
        name = name.removesuffix(f".{suffix}")
    found = _BY_SUFFIX.get(os.path.splitext(name)[1][1:], "trec")
    if kind in ("groups", "by") and found == "trec":  # item and group, or query and category
        return "tsv"
    if kind in ("catalogue", "distance"):
        return found
    if kind in PAIRS:
        is_text = found in _LINES and _has_two_fields(path, is_json=found != "trec")
        return "tsv" if is_text else found
    return _find_format_of_lines(path, kind) if found == "tsv" else found


_LINES = ("trec", "json", "jsonl")


def _has_two_fields(path: Path, *, is_json: bool) -> bool:
    """Are these lines of two fields, as files of pairs have? Those of qrels have four; JSON has
    brackets.
    """
    again = isinstance(path, KeptPath) or os.path.isfile(path)  # another pipe is read once
    lines = _read_first_lines(path) if again else []
    first = next((line for line in lines if any(map(str.split, line))), [])
    fields = " ".join(first).split()
    if len(fields) != 2 or (is_json and fields[0][0] in "{["):
        return False
    return all(map(str.isprintable, fields))


def _find_format_of_lines(path: Path, kind: str) -> str:
    """Tell apart files named .tsv: TSV has a header; MS MARCO's lists and TREC's lines have
    none.
    """
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
