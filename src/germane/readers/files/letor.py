"""Reads LETOR files, which are SVMlight files with ``qid:``, and scores for their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from germane.core.ragged import Bools, Floats
from germane.errors import (
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    ScoreError,
    clip,
    explain_not_finite,
    write_option,
)
from germane.kernel.ids import read_bytes, show_id
from germane.readers.files.formats import Path, find_name, is_path
from germane.readers.files.line_blocks import TextFile
from germane.readers.objects import arrow, headings, numbers
from germane.readers.objects.arrow import Place
from germane.readers.objects.frames import Frame
from germane.readers.objects.headings import Headings
from germane.readers.objects.numbers import PLAIN
from germane.readers.objects.records import Column, Record, join_records

_LINE = re.compile(rb"[ \t]*+(" + PLAIN.pattern + rb")[ \t]++qid:([^\s#]++)([^#]*+)(?:#(.*))?")
_FEATURES = re.compile(rb"(?:[ \t]+\d+:\S+)*+")
_OF_NUMBERS = b"0123456789.eE+-"
_DOCID = re.compile(rb"\bdocid\s*[=:]\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True, eq=False, repr=False)
class Lines(Frame):
    """The lines of a LETOR file in order, with which scores without ids may be matched."""

    items: str = "ids"  # or places: the numbers of their lines

    @property
    def lines(self) -> Lines:
        return self

    @property
    def id_names(self) -> None:  # type: ignore[override]
        """None: its fields have no names."""

    @property
    def has_ids(self) -> bool:
        return self.items == "ids"

    @property
    def ties(self) -> str:
        """The order of ties. Without ids, tied lines stay in their order."""
        return "trec" if self.items == "ids" else "given"


def open_letor(path: Path, kind: str, columns: Any = None) -> Lines:
    """Open qrels whose grades are the labels, or a run whose scores are the named feature."""
    with TextFile(path) as file:
        feature = _find_feature(file.name, columns) if kind == "run" else None
        names = ["qid", "docid", "label", *([feature] if feature else [])]
        columns_read = Headings.resolve(names, kind, file.name, columns)
        read = _read(file, feature)
    numbers = {"label": read.labels} if feature is None else {feature: read.values}
    columns_of_file = {
        "qid": Column(read_bytes(read.queries), "binary"),
        "docid": Column(read_bytes(read.items), "binary"),
        **{name: Column(np.array(values), "double") for name, values in numbers.items()},
    }
    record = Record(columns_of_file, len(read.queries))
    return _make_lines(file.name, find_name(path), columns_read, record, read.kind)


def _make_lines(where: str, name: str, headings: Headings, record: Record, items: str) -> Lines:
    records = [record.select(headings.all)]
    return Lines(where, name, headings, partial(iter, records), ids="text", items=items)


def _find_feature(where: str, columns: Any) -> str:
    """Find the feature that the caller names as the score."""
    feature = headings.choose_names(columns, "run").get("score")
    if feature is None:
        raise FormatError(
            f"{where}: a LETOR file has no scores. {write_option('columns', {'score': '25'})}"
            " takes feature 25; for a file with one score on each line, use input_format='scores'."
        )
    if not (feature.isascii() and feature.isdigit()):
        raise FormatError(f"{where}: a feature is named by its number; got {clip(feature)}.")
    return str(feature)


# --- Lines ------------------------------------------------------------------------------------


class _Columns(NamedTuple):
    queries: list[bytes]
    items: list[bytes]
    kind: str  # of the items: ids or places
    labels: list[float]
    values: list[float]  # of the feature


def _read(file: TextFile, feature: str | None) -> _Columns:
    """Read the file's lines as columns. Raises InputError that names file and line."""
    wanted = re.compile(rb"[ \t]" + (feature or "").encode() + rb":([^\s#]+)")
    queries: list[bytes] = []
    items: list[bytes | None] = []
    numbers: list[int] = []
    labels: list[float] = []
    values: list[float] = []
    for number, line in _read_lines(file):
        try:
            match = _LINE.fullmatch(line)
            if match is None or not _are_features(match[3].rstrip()):
                raise _explain_malformed(line)
            label, query, features, comment = match.groups()
            labels.append(_check_finite(label, "relevance grade", GradeError))
            if feature is not None:
                values.append(_read_value(wanted.findall(features), feature, features))
        except InputError as error:
            raise type(error)(f"{file.name}:{number}: {error}") from None
        queries.append(query)
        items.append(_find_docid(comment))
        numbers.append(number)
    if not queries:
        raise EmptyError(f"{file.name}: the file is empty: it has no lines with labels.")
    return _Columns(queries, *_name_ids(file.name, items, numbers), labels, values)


def _read_lines(file: TextFile) -> Iterator[tuple[int, bytes]]:
    """Read the lines that are neither blank nor comments, with their numbers from 1."""
    before = 1
    for block in file.read_blocks("lines"):
        lines = block.data.split(b"\n")
        for number, line in enumerate(lines, before):
            if line and not line.isspace() and not line.lstrip().startswith(b"#"):
                yield number, line
        before += len(lines) - 1


def _are_features(written: bytes) -> bool:
    """Is this a list of ``number:value``? First a fast check of what is left without the digits."""
    left = written.translate(None, _OF_NUMBERS)
    plain = left == b" :" * (len(left) // 2) and b": " not in written and b" :" not in written
    return plain or _FEATURES.fullmatch(written) is not None


def _find_docid(comment: bytes | None) -> bytes | None:
    """Find the item that a comment names: the word after ``docid =``, or its only word."""
    if comment is None:
        return None
    if match := _DOCID.search(comment):
        return match[1]
    words = comment.split()
    return words[0] if len(words) == 1 else None


def _name_ids(where: str, items: list[bytes | None], numbers: list[int]) -> tuple[list[bytes], str]:
    """Name the items by their comments, or by the numbers of their lines if none has a name."""
    named = [item for item in items if item is not None]
    if not named:
        return [b"%d" % number for number in numbers], "places"
    if len(named) < len(items):
        without, with_one = (
            numbers[next(i for i, item in enumerate(items) if (item is None) == absent)]
            for absent in (True, False)
        )
        raise FormatError(
            f"{where}:{without}: there is no docid in the comment, but line {with_one} has one."
        )
    return named, "ids"


def _read_value(values: list[bytes], feature: str, features: bytes) -> float:
    if len(values) > 1:
        written = " and ".join(f"{feature}:{show_id(value)}" for value in values[:2])
        raise ScoreError(f"feature {feature} is written twice: {written}. Keep one.")
    if not values:
        names = [name.partition(b":")[0].decode() for name in features.split()]
        shown = ", ".join(names if len(names) < 6 else [*names[:3], "…", names[-1]]) or "none"
        raise ScoreError(
            f"there is no feature {feature} (there are: {shown}). Tools differ in whether a"
            " missing feature is 0; write its value."
        )
    return _check_finite(values[0], "score", ScoreError)


def _check_finite(written: bytes, noun: str, error: type[InputError]) -> float:
    if PLAIN.fullmatch(written):
        number = float(written)
        if np.isfinite(number):
            return number
    raise error(explain_not_finite(noun, f"got {show_id(written)}"))


def _explain_malformed(line: bytes) -> InputError:
    stripped = line.strip()
    why = ""
    if PLAIN.fullmatch(stripped):
        why = "  This looks like one score on each line; use input_format='scores'."
    elif b"qid:" not in line:
        why = "  If there is no qid:, pass labels and scores as arrays, with group=."
    return FormatError(
        "a LETOR line is 'label qid:query 1:value 2:value … # docid = item'; got "
        f"{show_id(stripped)}{why}"
    )


# --- Scores beside the lines ------------------------------------------------------------------


def align_scores(qrels: Any, run: Any) -> Lines:
    """Make a run of scores without ids, one for each line of the LETOR file of the qrels."""
    lines = getattr(qrels, "lines", None)
    if lines is None:
        raise InputError(
            "scores without ids belong to the lines of a LETOR file, but these qrels are not from"
            " one."
        )
    record = join_records([*lines.records()])
    where, is_present = "run", None
    if is_path(run):
        with TextFile(run) as file:
            where, queries = (
                file.name,
                arrow.read_ids(record.column("qid"), Place("", "")).as_text(),
            )
            scores = _read_scores(file, queries.to_bytes(), lines.where)
    else:
        scores, is_present = _flatten(run)
    if len(scores) != record.num_rows:
        raise FormatError(
            f"{where}: {len(scores)} scores for {record.num_rows} lines of {lines.where}."
        )
    named = {name: record.column(name) for name in ("qid", "docid")}
    scored = Record({**named, "score": Column(scores, "double")}, len(scores))
    scored = scored if is_present is None else scored.filter(is_present)
    name = find_name(run) if is_path(run) else "run"
    return _make_lines(where, name, Headings("qid", "docid", "score"), scored, lines.items)


def _flatten(run: Any) -> tuple[Floats, Bools]:
    """Read the scores of the lines, and the flags of the lines that are not masked."""
    array = numbers.to_numpy(run, "scores")
    if array.ndim != 1:
        flat = ", as scores.ravel() is" if array.dtype.kind == "f" else ""
        raise FormatError(
            f"the lines of a LETOR file have one score each, in a flat array{flat}; got shape"
            f" {array.shape}"
        )
    scores = array.astype(float)
    numbers.check_finite(scores, "scores")
    return np.ma.getdata(scores), ~np.ma.getmaskarray(scores)


def _read_scores(file: TextFile, queries: list[bytes], judged: str) -> Floats:
    """Read one score from each line, or RankLib's three fields, whose first must be the query."""
    scores: list[float] = []
    for number, line in _read_lines(file):
        fields = line.split()
        try:
            if len(fields) not in (1, 3):
                raise FormatError(
                    "a line is a score, or RankLib's 'query place score'; got "
                    f"{show_id(line.strip())}"
                )
            place = len(scores)
            if len(fields) == 3 and place < len(queries) and fields[0] != queries[place]:
                raise FormatError(
                    f"query {show_id(fields[0])}, where {judged} has {show_id(queries[place])}."
                )
            scores.append(_check_finite(fields[-1], "score", ScoreError))
        except InputError as error:
            raise type(error)(f"{file.name}:{number}: {error}") from None
    return np.array(scores, float)
