"""Files of judgments as trec_eval reads them: every line of the same number of fields.

They are small beside runs, and read whole; where all lines are alike, as columns. Lines that trec_eval
does not accept are refused, a blank line too, and lines that it does accept are read as it reads
them: a grade is as much of its field as is a number.
"""

import re
from collections.abc import Callable
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.errors import GermaneError
from germane.kernel.columns import read_bytes
from germane.kernel.ids import show_id
from germane.kernel.reduction import Batch, find_repeat
from germane.readers import trec
from germane.readers.files import BOM
from germane.trec_eval import text
from germane.trec_eval.options import INPUT, Options, TrecEvalError
from germane.trec_eval.text import parse_real, parse_whole

Line: TypeAlias = tuple[bytes, bytes, bytes, bytes, float]
"""Query, group, subgroup, item and grade."""

# format: the fields of a line, where group, subgroup, item and grade stand, and how that is read
_FIELDS: dict[
    str, tuple[str, tuple[int | None, int | None, int, int], Callable[[bytes], float]]
] = {
    "qrels": ("query 0 item grade", (None, None, 2, 3), parse_whole),
    "qrels_jg": ("query group item grade", (1, None, 2, 3), parse_whole),
    "prefs": ("query group subgroup item level", (1, 2, 3, 4), parse_real),
    "qrels_prefs": ("query group item level", (1, None, 2, 3), parse_real),
}


def read_lines(options: Options) -> list[Line]:
    """The lines of the file of judgments, by query, group and item.

    Raises TrecEvalError for a file that cannot be read, and for a line that is not of its format.
    """
    says, (group, subgroup, item, grade), number = _FIELDS[options.format]
    lines = [
        (
            fields[0],
            fields[group] if group else b"",
            fields[subgroup] if subgroup else b"",
            fields[item],
            number(fields[grade]),
        )
        for fields in _split_fields(options.qrels, says)
    ]
    if not lines:
        raise TrecEvalError(INPUT, f"{options.qrels}: the file is empty: it has no judgments.")
    lines.sort(key=itemgetter(0, 1, 3))
    if options.format == "qrels_jg":
        _check_once(lines, options.qrels)
    return lines


def read_grades(options: Options) -> tuple[Qrels, dict[int, bytes]]:
    """The grades by query and item; and by query, an item that is judged twice.

    Raises TrecEvalError as ``read`` does.
    """
    alike = read_plain(_read_data(options.qrels))
    if alike is not None:
        return alike, {}
    lines = read_lines(options)
    qrels = make_qrels(lines)
    return qrels, {
        qrels.position[query]: item
        for (query, *_, item, _), other in pairwise(lines)
        if (query, item) == (other[0], other[3])
    }


_EXPONENT = re.compile(rb"[0-9.][eE][-+]?[0-9]+[ \t]*$", re.MULTILINE)
_LARGEST = 2**31 - 1  # grade that every C compiler's long holds


class _Odd(Exception):  # noqa: N818  (not an error: the lines are then read one by one)
    """A line is not plain."""


def _refuse_odd(line: bytes, at: int) -> None:
    raise _Odd


def read_plain(written: bytes) -> Qrels | None:
    """The judgments of lines that are all plain, each item judged once; None where they are not."""
    data = written.replace(b"\r\n", b"\n")
    if any(byte in data for byte in (b"\r", b"\v", b"\f")) or data.startswith(BOM):
        return None  # which separate fields in C, or belong to them
    if _EXPONENT.search(data):  # which is no part of a whole number
        return None
    try:
        lines = trec.split_lines(data, trec.QRELS, _refuse_odd)
    except _Odd:
        return None
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    grades = lines.number
    if len(lines) < count or (grades != np.floor(grades)).any() or np.abs(grades).max() > _LARGEST:
        return None
    queries: list[Any] = sorted(set(lines.queries))
    place = {query: q for q, query in enumerate(queries)}
    code = np.array([place[query] for query in lines.queries], np.int64)
    owner = np.repeat(code, np.diff(lines.offsets))
    items = lines.items
    if (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable")
        owner, items, grades = owner[order], items.take(order), grades[order]
    offsets = ragged.make_offsets(np.bincount(owner))
    if find_repeat(Batch(np.arange(len(queries)), offsets, items, grades)) is not None:
        return None
    return Qrels(queries, offsets, items, grades)


def _check_once(lines: list[Line], path: str) -> None:
    """Groups judge an item once; of other judgments, trec_eval finds repeats at their query."""
    for (query, group, _, item, _), other in pairwise(lines):
        if (query, group, item) == (other[0], other[1], other[3]):
            shown = map(show_id, (group, item, query))
            raise TrecEvalError(
                INPUT, "{}: group {} judges item {} of query {} twice.".format(path, *shown)
            )


def _split_fields(path: str, says: str) -> list[list[bytes]]:
    """The fields of every line. A comment is one line: what follows it is data, comment or not."""
    wanted = len(says.split())
    out = []
    after_comment = False
    for count, line in enumerate(_split_lines(path), 1):
        if line.startswith(b"#") and not after_comment:
            after_comment = True
            continue
        after_comment = False
        fields = line.split()
        if len(fields) != wanted:
            raise TrecEvalError(
                INPUT,
                f"{path}:{count}: {len(fields)} fields where a line has {wanted} ({says}): "
                f"{show_id(line)}{_guess(line, fields)}",
            )
        out.append(fields)
    return out


def _guess(line: bytes, fields: list[bytes]) -> str:
    if not fields:
        return "  A blank line ends trec_eval, too."
    if line.startswith(b"#"):
        return "  Of two comments in a row, trec_eval reads the second as data."
    return "  This looks like a run; are the two files swapped?" if len(fields) == 6 else ""


def _split_lines(path: str) -> list[bytes]:
    lines = _read_data(path).split(b"\n")
    return lines if lines[-1] else lines[:-1]


def _read_data(path: str) -> bytes:
    try:
        return text.read_bytes(path)
    except GermaneError as error:
        raise TrecEvalError(INPUT, str(error)) from None


def make_qrels(lines: list[Line]) -> Qrels:
    """The grades by query and item; where an item is judged twice, all of its judgments."""
    queries = [query for query, _ in groupby(lines, key=itemgetter(0))]
    return _build_qrels(queries, list(map(itemgetter(0), lines)), lines)


def make_item_qrels(lines: list[Line]) -> Qrels:
    """The judged items of each query, each once, whoever judged it; grades are left out."""
    pairs = sorted({(line[0], line[3]) for line in lines})
    once: list[Any] = [(query, b"", b"", item, 0.0) for query, item in pairs]
    return make_qrels(once)


def _build_qrels(queries: list[Any], owners: list[Any], lines: list[Line]) -> Qrels:
    place = {query: q for q, query in enumerate(queries)}
    counts = np.bincount([place[owner] for owner in owners], minlength=len(queries))
    grades = np.array([line[4] for line in lines], float)
    return Qrels(
        queries, ragged.make_offsets(counts), read_bytes([line[3] for line in lines]), grades
    )


def make_group_qrels(lines: list[Line]) -> tuple[Qrels, np.ndarray]:
    """The grades by query and group of judgments, as if each pair were a query; and its query."""
    keys = [(line[0], line[1]) for line in lines]
    pairs = list(dict.fromkeys(keys))
    queries = {query: q for q, query in enumerate(dict.fromkeys(key[0] for key in pairs))}
    return _build_qrels(pairs, keys, lines), np.array([queries[query] for query, _ in pairs])
