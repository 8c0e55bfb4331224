"""TREC files read past what is wrong in them: every bad line is a fault, and has a number."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from germane.checks.side import DIGITS, Faults, Side, number_columns
from germane.core.progress import Progress
from germane.errors import InputError
from germane.kernel.columns import Text, text_of_bytes
from germane.readers import trec
from germane.readers.files import TextFile, ends_of_lines
from germane.readers.numbers import EXACT, count_rounded
from germane.readers.paths import Path

_ENDS = re.compile(rb"\r\n|\r|\n")


def read(path: Path, kind: Literal["qrels", "run"], progress: Progress | None = None) -> Side:
    """All rows that can be read. Raises InputError for a file that cannot, or has no lines."""
    layout = {"qrels": trec.QRELS, "run": trec.RUN}[kind]
    faults, parts, first = Faults(), [], 1
    whole: dict[bytes, set[int]] = {}
    with TextFile(path, progress) as file:
        for block in file.blocks("lines"):
            read_odd = partial(_read_odd, block.data, first, layout, faults, file.name)
            lines = trec.split_lines(block.data, layout, read_odd, detailed=True)
            assert lines.line is not None  # asked for
            parts.append(replace(lines, items=lines.items.compact(), line=lines.line + first))
            if kind == "run" and np.abs(lines.number).max(initial=0) >= EXACT:
                _note_whole(block.data, whole)
            first += ends_of_lines(block.data)
        if not faults.count and not any(map(len, parts)):
            raise trec.explain_empty(file, layout)
        queries, query = number_columns([_repeat_queries(lines) for lines in parts])
        items, item = number_columns([lines.items for lines in parts])
        number, line = (
            np.concatenate([getattr(lines, name) for lines in parts]) for name in ("number", "line")
        )
        ranks = [lines.rank for lines in parts if lines.rank is not None]
        return Side(
            kind, file.name, queries, items, query, item, number,
            rank=np.concatenate(ranks) if ranks else None, line=line, faults=faults, text=True,
            rounded=sum(count_rounded([*one], np.array([*one], float)) for one in whole.values()),
        )  # fmt: skip


def _repeat_queries(lines: trec.Lines) -> Text:
    """The query of each line."""
    owner = np.repeat(np.arange(len(lines.queries)), np.diff(lines.offsets))
    return text_of_bytes(lines.queries).take(owner)


def _read_odd(
    data: bytes, first: int, layout: trec.Layout, faults: Faults, name: str, line: bytes, at: int
) -> tuple[bytes, bytes, float] | None:
    """Read a line that is not plain; note a wrong one as a fault, and pass over it."""
    try:
        return trec.parse_line(line, layout)
    except InputError as error:
        faults.add(f"{name}:{first + ends_of_lines(data, at)}: {error}", len(line.split()))
        return None


def _note_whole(data: bytes, whole: dict[bytes, set[int]]) -> None:
    """The whole scores of each query as they are written, which doubles may round."""
    for line in _ENDS.split(data):
        fields = line.split()
        written = fields[trec.RUN.number] if len(fields) > trec.RUN.number else b""
        if written.lstrip(b"+-").isdigit() and len(written) < DIGITS:
            whole.setdefault(fields[0], set()).add(int(written))
