"""The format of a file, by its suffix or as the caller says; paths, and their limits."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from germane.core.calls import is_number
from germane.errors import InputError, PolicyError, check_choice, clip, list_choices, write_option

Path: TypeAlias = str | os.PathLike[str]


def is_path(raw: object) -> bool:
    return isinstance(raw, str) or hasattr(type(raw), "__fspath__")


def check_path(raw: object) -> None:
    """Raise InputError unless this is a path."""
    if not is_path(raw):
        raise InputError(f"a file is named by its path; got {clip(raw)}")


def refuse_device(path: Path) -> None:
    """Raise InputError for a device or a socket, which has no end or no content."""
    mode = os.stat(path).st_mode
    is_pipe = stat.S_ISFIFO(mode) or os.path.samefile(path, os.devnull)
    if not (is_pipe or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{os.fsdecode(path)}: this is a device, not a file.")


def refuse_special(path: Path) -> None:
    """Raise InputError for what is no ordinary file, such as a pipe, where files are read by name.

    Whoever reads a folder would wait for a pipe in it without an end.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"{os.fsdecode(path)}: this is a pipe or a device, not a file.")


EXPANSION = 1000  # times its size: what a compressed file may become, unless more is allowed
LINE = 1 << 20  # bytes that a line may have, unless more is allowed


class LimitedPath(str):
    """A path whose file has limits of its own."""

    max_expansion: float = EXPANSION
    max_line: float = LINE


class KeptPath(LimitedPath):
    """The path of what comes once, such as a pipe, of which there is a copy."""

    copy: Any


def limit_path(path: Path, max_expansion: object, max_line: object) -> Path:
    """Attach limits to a path, if given. Raises PolicyError for one that is no number from 1."""
    if max_expansion is max_line is None:
        return path
    limited = LimitedPath(os.fsdecode(path))
    if max_expansion is not None:
        text = "It limits how many times larger than a compressed file its content may be."
        limited.max_expansion = _read_limit("max_expansion", max_expansion, text)
    if max_line is not None:
        text = "It limits how many bytes a line may have."
        limited.max_line = _read_limit("max_line", max_line, text)
    return limited


def _read_limit(name: str, raw: object, noun: str) -> float:
    number = math.inf if isinstance(raw, str) and raw == "none" else raw
    if not is_number(number) or not number >= 1:
        raise PolicyError(f"{name} takes a number from 1, or none; got {clip(raw)}.  {noun}")
    return number


def name_file(path: Path) -> str:
    """Name a file in errors."""
    named = os.fsdecode(path)
    return "standard input" if named == "-" else named


_SUFFIXES = (".tsv", ".jsonl", ".parquet", ".csv")


def find_file(path: Path) -> Path:
    """Find the judgments of a folder with ``qrels/test.tsv``, as BEIR and MTEB have; else the path.

    Raises InputError for a folder with judgments of several splits.
    """
    inside = os.path.join(os.fsdecode(path), "qrels")
    if not os.path.isdir(inside):
        return path
    from germane.readers.files.streams import explain_os_error  # which imports compression

    with explain_os_error(inside):
        names = sorted(os.listdir(inside))
    files = [os.path.join(inside, name) for name in names if name.casefold().endswith(_SUFFIXES)]
    if len(files) > 1:
        raise InputError(
            f"{os.fsdecode(path)}: the folder has judgments of several splits. Give"
            f" {list_choices(map(repr, files))}."
        )
    return files[0] if files else path


# --- The format of a file: by its suffix, or as the caller says -----------------------------------

BATCH = 1 << 22  # rows, at least, after which a long evaluation can be taken up again


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
    has_columns: bool = True  # is it opened as a frame, by ``OPENERS`` of ``column_files``?
    lines_above: int | None = None  # above the first row, where a row is a line
    qrels: str = ""  # the format that it stands for, if it is asked for qrels
    run: str = ""  # or for a run


class Lined(NamedTuple):
    """A file in which each row of a frame has a line of its own."""

    path: Path
    above: int  # lines above the first row


FORMATS: dict[str, Format] = {
    "trec": Format(("txt", "run", "trec", "res", "qrels"), has_columns=False),
    "parquet": Format(("parquet",)),
    "arrow": Format(("arrow", "feather")),
    "csv": Format(("csv",), lines_above=1),
    "tsv": Format(("tsv", "inter"), lines_above=1),
    "json": Format(("json",), has_columns=False),
    "jsonl": Format(("jsonl", "ndjson"), lines_above=0),
    "msmarco": Format(lines_above=0, qrels="trec"),
    "movielens": Format(lines_above=0),
    "letor": Format(("letor", "svmlight", "libsvm")),
    "svmlight": Format(has_columns=False, qrels="letor", run="letor"),
    "scores": Format(has_columns=False, qrels="letor"),
}
"""Every format, in the order of help texts. One of columns has an opener, too."""

_COMPRESSIONS = ("gz", "bz2", "xz", "zst")
_BY_SUFFIX = {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}


def open_columns(path: Path, kind: str, name: str, columns: Any = None) -> Any:
    """Open a file of a format as a Frame; None if the format does not have columns."""
    if not FORMATS[name].has_columns:
        return None
    from germane.readers.files.column_files import OPENERS

    frame, above = OPENERS[name](path, kind, columns), FORMATS[name].lines_above
    return frame if above is None else replace(frame, lined=Lined(path, above))


CANDIDATES = ("exclude", "only", "ignore")
"""Arguments whose pairs of query and item select the results that count."""
PAIRS: dict[str, tuple[str, str]] = {
    "groups": ("item", "group"),
    "by": ("query", "category"),
    **dict.fromkeys((*CANDIDATES, "seen", "train"), ("query", "item")),
}
"""Files of two columns, or of lines of two fields, and the names of the columns."""


def open_pairs(path: Path, kind: str, name: str, columns: Any = None) -> Any:
    """Open a file of two columns as a Frame. Raises InputError for a format without columns."""
    frame = open_columns(path, kind, name, columns)
    if frame is None:
        pairs = " and ".join(PAIRS.get(kind, ("query", "item")))
        opened = (
            f" Choose another: {write_option('input_format', {kind: 'csv'})}."
            if kind in _SIDES
            else ""
        )
        raise InputError(
            f"{clip(os.fspath(path))}: {pairs} are two columns, and the format {name} has"
            f" none.{opened}"
        )
    return frame


_SIDES = {
    "qrels", "run", *CANDIDATES, "seen", "train", "catalogue", "distance", "subtopic_weights",
}  # fmt: skip


def check_format(input_format: Any) -> None:
    """Refuse a format that does not exist."""
    if input_format is None:
        return
    names = input_format.values() if isinstance(input_format, Mapping) else [input_format]
    for name in names:
        check_choice("input_format", name, tuple(FORMATS), InputError)
    unknown = set(input_format) - _SIDES if isinstance(input_format, Mapping) else ()
    if unknown:
        raise InputError(
            f"input_format is one format, or one for qrels and one for run; got"
            f" {clip(unknown.pop())}."
        )


def choose_format(kind: str, input_format: InputFormat) -> str | None:
    """Choose what the caller asked for: the format of a run or of qrels."""
    return input_format.get(kind) if isinstance(input_format, Mapping) else input_format


def find_format(path: Path, kind: str, input_format: InputFormat = None) -> str:
    """Find the format: what the caller asked for, else by the suffix of the path, else TREC."""
    wanted = choose_format(kind, input_format)
    if wanted is not None:
        wanted_format = FORMATS[wanted]
        return {"qrels": wanted_format.qrels, "run": wanted_format.run}.get(kind) or wanted
    if os.path.isdir(path):
        return "parquet"
    suffix = os.path.splitext(strip_compression(path))[1][1:]
    name = _BY_SUFFIX.get(suffix, "trec")
    if kind != "run" and suffix in ("", "txt", "tsv", *{suffix} - _BY_SUFFIX.keys()):
        name = _find_ratings(path) or name
    if name == "movielens":
        return name
    if kind in ("groups", "by") and name == "trec":  # item and group, or query and category
        return "tsv"
    if kind in ("catalogue", "distance"):
        return name
    if kind in PAIRS:
        is_text = name in _LINES and _has_two_fields(path, is_json=name != "trec")
        return "tsv" if is_text else name
    return _find_format_of_lines(path, kind) if name == "tsv" else name


def strip_compression(path: Path) -> str:
    """Fold the case of a file's name, and remove the suffix of its compression."""
    name = os.fspath(path).casefold()
    for suffix in _COMPRESSIONS:
        name = name.removesuffix(f".{suffix}")
    return name


def _find_ratings(path: Path) -> str | None:
    """Recognize ratings that would pass for TREC's lines: of MovieLens, or RecBole's atomic files.

    Four fields of which the last is a time stamp are no judgments: no grade is that high.
    """
    lines = [fields for fields in _peek(path) if any(map(str.strip, fields))]
    if lines and has_types(lines[0]):
        return "tsv"
    split = (fields if len(fields) > 1 else fields[0].split("::") for fields in lines)
    return "movielens" if lines and all(map(is_rating, split)) else None


def has_types(fields: Sequence[str]) -> bool:
    """Do all names of a header have types, as those of RecBole: ``user_id:token``?"""
    return all(map(re.compile(r".+:(token|float)(_seq)?").fullmatch, fields))


STAMP = 1e8  # seconds: March 1973
MOST_STARS = 10


def is_rating(fields: Sequence[str]) -> bool:
    """Are these fields user, item, rating and the time of a rating?"""
    if len(fields) != 4 or not fields[3].strip().isdecimal():
        return False
    with suppress(ValueError):
        return 0 <= float(fields[2]) <= MOST_STARS and float(fields[3]) >= STAMP
    return False


_LINES = ("trec", "json", "jsonl")


def _has_two_fields(path: Path, *, is_json: bool) -> bool:
    """Are these lines of two fields? Those of qrels have four; JSON has brackets."""
    first = next((line for line in _peek(path) if any(map(str.split, line))), [])
    fields = " ".join(first).split()
    if len(fields) != 2 or (is_json and fields[0][0] in "{["):
        return False
    return all(map(str.isprintable, fields))


def _find_format_of_lines(path: Path, kind: str) -> str:
    """Tell apart files named .tsv: MS MARCO's lists and TREC's lines have no header."""
    lines = _peek(path)
    fields = lines[0] if lines else []
    if len(fields) == _TREC_FIELDS.get(kind, _TREC_FIELDS["qrels"]):
        with suppress(ValueError):
            float(fields[-2 if kind == "run" else -1])
            return "trec"
    if kind == "run" and _are_ranked(lines):
        return "msmarco"
    return "tsv"


_TREC_FIELDS = {"qrels": 4, "run": 6}


def _peek(path: Path) -> list[list[str]]:
    """Split the first lines at tabs, without a last line that may be cut off.

    A pipe that was not copied is read once, and gives nothing.
    """
    if not (isinstance(path, KeptPath) or os.path.isfile(path)):
        return []
    from germane.readers.files.line_blocks import TextFile

    with TextFile(path) as file:
        for block in file.read_blocks("lines"):
            lines = block.data[:_LOOK].splitlines()
            whole_lines = lines[:-1] if len(block.data) > _LOOK and len(lines) > 1 else lines
            return [line.decode("utf-8", "replace").split("\t") for line in whole_lines]
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
