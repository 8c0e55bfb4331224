"""TREC files read past what is wrong in them: every bad line is a fault, and has a number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from germane._ragged import Floats, Ints
from germane.checks.side import Faults, Side
from germane.checks.words import coded
from germane.errors import EmptyError, InputError
from germane.sources import trec
from germane.sources.files import TextFile, ends_of_lines
from germane.sources.numbers import EXACT
from germane.sources.paths import Path, Progress

if TYPE_CHECKING:
    import pyarrow as pa

_ENDS = re.compile(rb"\r\n|\r|\n")


class _Part(NamedTuple):
    """The rows of some lines."""

    query: pa.Array
    item: pa.Array
    number: Floats
    rank: Floats
    line: Ints


def read(path: Path, kind: Literal["qrels", "run"], progress: Progress | None = None) -> Side:
    """All rows that can be read. Raises InputError for a file that cannot, or has no lines."""
    layout = {"qrels": trec.QRELS, "run": trec.RUN}[kind]
    faults, parts, line = Faults(), [], 1
    whole: dict[bytes, set[int]] = {}
    with TextFile(path, progress) as file:
        for block in file.blocks("lines"):
            data = block.data
            part = _plain(data, line, layout)
            if part is None:
                part = _careful(data, line, layout, faults, file.name)
            parts.append(part)
            if kind == "run" and np.abs(part.number).max(initial=0) >= EXACT:
                _note_whole(data, whole)
            line += ends_of_lines(data)
        if not faults.count and not any(len(part.line) for part in parts):
            raise EmptyError(f"{file.name}: the file is empty: it has no {kind} lines.")
        number, rank, at = map(np.concatenate, list(zip(*parts, strict=True))[2:])
        queries, query = coded([part.query for part in parts])
        items, item = coded([part.item for part in parts])
        return Side(
            kind, file.name, queries, items, query, item, number,
            rank=rank if kind == "run" else None, line=at, faults=faults, text=True,
            rounded=sum(len(one) - len(set(map(float, one))) for one in whole.values()),
        )  # fmt: skip


def _note_whole(data: bytes, whole: dict[bytes, set[int]]) -> None:
    """The whole scores of each query as they are written, which doubles may round."""
    for line in _ENDS.split(data):
        fields = line.split()
        written = fields[trec.RUN.number] if len(fields) > trec.RUN.number else b""
        if written.lstrip(b"+-").isdigit() and len(written) < _DIGITS:
            whole.setdefault(fields[0], set()).add(int(written))


_DIGITS = 100  # beyond which Python may refuse to make an integer


def _plain(data: bytes, line: int, layout: trec.Layout) -> _Part | None:
    """The rows of lines that Arrow reads; None where one is anything but plain."""
    import pyarrow as pa
    from pyarrow import compute, csv

    data = data.replace(b"\t", b" ").replace(b"\r\n", b"\n")
    odd = (b"\0", b"\r", b"\n#", b"  ", b"\n ", b" \n")
    if any(one in data for one in odd) or data.startswith((b" ", b"#", b"\xef\xbb\xbf")):
        return None
    try:
        table = csv.read_csv(pa.py_buffer(data), *_options(layout, len(data)))
    except pa.ArrowInvalid:
        return None
    number = table["number"].to_numpy()
    if not (np.isfinite(number) & (np.abs(number) <= layout.largest)).all():
        return None
    query, item = table["query"].combine_chunks(), table["item"].combine_chunks()
    if not all(compute.min(compute.binary_length(ids)).as_py() for ids in (query, item)):
        return None
    ranks = table["rank"].to_numpy() if layout is trec.RUN else np.zeros(0)
    return _Part(query, item, number, ranks, np.arange(line, line + len(number)))


def _options(layout: trec.Layout, size: int) -> tuple[Any, Any, Any]:
    import pyarrow as pa
    from pyarrow import csv

    names = [f"unread {i}" for i in range(len(layout.columns))]
    types = {"query": pa.binary(), "item": pa.binary(), "number": pa.float64()}
    names[0], names[layout.item], names[layout.number] = types
    if layout is trec.RUN:
        names[layout.number - 1], types["rank"] = "rank", pa.float64()
    return (
        csv.ReadOptions(column_names=names, block_size=size + 1, use_threads=False),
        csv.ParseOptions(
            delimiter=" ", quote_char=False, double_quote=False, escape_char=False,
            ignore_empty_lines=False,
        ),
        csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[], check_utf8=False
        ),
    )  # fmt: skip


def _careful(data: bytes, first: int, layout: trec.Layout, faults: Faults, name: str) -> _Part:
    """The rows of any lines, one by one."""
    import pyarrow as pa

    rows = list(_rows(data, first, layout, faults, name))
    queries, items, numbers, ranks, lines = zip(*rows, strict=True) if rows else ([],) * 5
    return _Part(
        pa.array(queries, pa.binary()),
        pa.array(items, pa.binary()),
        np.array(numbers, float),
        np.array(ranks if layout is trec.RUN else [], float),
        np.array(lines, np.int64),
    )


def _rows(
    data: bytes, first: int, layout: trec.Layout, faults: Faults, name: str
) -> Iterator[tuple[bytes, bytes, float, float, int]]:
    for number, line in enumerate(_ENDS.split(data), first):
        try:
            found = trec.row(line, layout)
        except InputError as error:
            faults.add(f"{name}:{number}: {error}", len(line.split()))
            continue
        if found is not None:
            fields, score = found
            rank = _rank(fields[layout.number - 1]) if layout is trec.RUN else math.nan
            yield fields[0], fields[layout.item], score, rank, number


def _rank(field: bytes) -> float:
    try:
        return float(field)
    except ValueError:
        return math.nan
