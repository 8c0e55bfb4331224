"""Files of judgments as trec_eval reads them.

They are small beside runs, and are read whole. ``readers.trec`` splits their lines; a line that is
not plain is read here as C reads it: a grade is as much of its field as is a number. Lines that
trec_eval does not accept are refused, a blank line too.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.core.ragged import Floats
from germane.errors import GermaneError, GradeError
from germane.kernel.columns import read_bytes
from germane.kernel.ids import show_id
from germane.kernel.reduction import Batch, find_repeat
from germane.readers.files import trec
from germane.readers.objects.numbers import EXACT
from germane.trec_eval import text
from germane.trec_eval.options import INPUT, Options, TrecEvalError
from germane.trec_eval.text import parse_real, parse_whole

Line: TypeAlias = tuple[bytes, bytes, bytes, bytes, float]
"""Query, group, subgroup, item and grade."""

# format: the fields of a line; which of them are group, subgroup and item; how the last is read
_FIELDS: dict[str, tuple[str, tuple[int, ...], Callable[[bytes], float]]] = {
    "qrels": ("query 0 item grade", (2,), parse_whole),
    "qrels_jg": ("query group item grade", (1, 2), parse_whole),
    "prefs": ("query group subgroup item level", (1, 2, 3), parse_real),
    "qrels_prefs": ("query group item level", (1, 2), parse_real),
}


def read_grades(options: Options) -> tuple[Qrels, dict[int, bytes]]:
    """The grades by query and item; and by query, an item that is judged twice.

    Raises TrecEvalError for a file that cannot be read, and for a line that is not of its format.
    """
    [lines], grades = _read_columns(options)
    queries: list[Any] = sorted(set(lines.queries))
    place = {query: q for q, query in enumerate(queries)}
    code = np.array([place[query] for query in lines.queries], np.int64)
    owner = np.repeat(code, np.diff(lines.offsets))
    items = lines.items
    if (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable")
        owner, items, grades = owner[order], items.take(order), grades[order]
    offsets = ragged.make_offsets(np.bincount(owner))
    twice: dict[int, bytes] = {}
    if find_repeat(Batch(np.arange(len(queries)), offsets, items, grades)) is not None:
        counts = Counter(zip(owner.tolist(), items.to_bytes(), strict=True))
        twice = {q: item for (q, item), count in counts.items() if count > 1}
    return Qrels(queries, offsets, items, grades), twice


def read_lines(options: Options) -> list[Line]:
    """The lines of the judgments, by query, group and item. Raises TrecEvalError."""
    columns, grades = _read_columns(options)
    owner = np.repeat(np.arange(len(columns[0].queries)), np.diff(columns[0].offsets))
    queries = [columns[0].queries[stretch] for stretch in owner.tolist()]
    group, *subgroup, item = (lines.items.to_bytes() for lines in columns)
    subgroups = subgroup[0] if subgroup else [b""] * len(item)
    lines = sorted(
        zip(queries, group, subgroups, item, grades.tolist(), strict=True), key=itemgetter(0, 1, 3)
    )
    if options.format == "qrels_jg":
        _check_once(lines, options.qrels)
    return lines


def _read_columns(options: Options) -> tuple[list[trec.Lines], Floats]:
    """The lines with the ids of each column of ids, and their grades."""
    path = options.qrels
    try:
        data = text.read_bytes(path).translate(text.BLANKS)
    except GermaneError as error:
        raise TrecEvalError(INPUT, str(error)) from None
    form, ids, parse_number = _FIELDS[options.format]
    columns = [_split_lines(data, options, place) for place in ids]
    grades = columns[0].number
    if len(grades) < data.count(b"\n") + (not data.endswith(b"\n")):
        _refuse_blank_line(data, path, form)
    if not len(grades):
        raise TrecEvalError(INPUT, f"{path}: the file is empty: it has no judgments.")
    if parse_number is parse_whole and _EXPONENT.search(data):
        written = _split_lines(data, options, len(form.split()) - 1).items.to_bytes()
        grades = np.array(list(map(parse_number, written)), float)
    return columns, np.trunc(grades) if parse_number is parse_whole else grades


_EXPONENT = re.compile(rb"[eE][-+]?[0-9]+[ \t]*$", re.MULTILINE)
"""An exponent, which is no part of a whole number."""


def _split_lines(data: bytes, options: Options, place: int) -> trec.Lines:
    """The lines, with the field at a place as item. The line after a comment is data."""
    form, _, parse_number = _FIELDS[options.format]
    names = tuple(form.split())
    layout = trec.Layout(
        "qrels", names, place, len(names) - 1, names[-1], GradeError, more=False, largest=EXACT
    )
    after_comment = -1

    def read_odd(line: bytes, row: int) -> tuple[bytes, bytes, float] | None:
        nonlocal after_comment
        if line.startswith(b"#") and row != after_comment:
            after_comment = row + len(line) + 1
            return None
        fields = line.split()
        if len(fields) != len(names):
            number = data.count(b"\n", 0, row) + 1
            raise TrecEvalError(
                INPUT,
                f"{options.qrels}:{number}: {len(fields)} fields where a line has {len(names)} "
                f"({form}): {show_id(line)}{_guess_reason(line, fields)}",
            )
        return fields[0], fields[place], parse_number(fields[-1])

    return trec.split_lines(data, layout, read_odd)


def _guess_reason(line: bytes, fields: list[bytes]) -> str:
    if line.startswith(b"#"):
        return "  Of two comments in a row, trec_eval reads the second as data."
    return "  This looks like a run; are the two files swapped?" if len(fields) == 6 else ""


def _refuse_blank_line(data: bytes, path: str, text: str) -> None:
    """Refuse a blank line, if there is one: fewer rows than lines can be due to comments."""
    blank = re.search(rb"^[ \t]*$", data.removesuffix(b"\n"), re.MULTILINE) if data else None
    if blank:
        number = data.count(b"\n", 0, blank.start()) + 1
        raise TrecEvalError(
            INPUT,
            f"{path}:{number}: a blank line, which ends trec_eval, too; a line has "
            f"{len(text.split())} fields ({text}).",
        )


def _check_once(lines: list[Line], path: str) -> None:
    """Groups judge an item once; of other judgments, trec_eval finds repeats at their query."""
    for (query, group, _, item, _), following in pairwise(lines):
        if (query, group, item) == (following[0], following[1], following[3]):
            shown = map(show_id, (group, item, query))
            raise TrecEvalError(
                INPUT, "{}: group {} judges item {} of query {} twice.".format(path, *shown)
            )


def make_item_qrels(lines: list[Line]) -> Qrels:
    """The judged items of each query, each once, whoever judged it; grades are left out."""
    pairs = sorted({(query, item) for query, _, _, item, _ in lines})
    owners, items = zip(*pairs, strict=True)
    return _make_qrels(list(owners), list(items), np.zeros(len(pairs)))


def make_group_qrels(lines: list[Line]) -> tuple[Qrels, np.ndarray]:
    """The grades by query and group of judgments, as if each pair were a query; and its query."""
    owners = [(query, group) for query, group, *_ in lines]
    grades = np.array([grade for *_, grade in lines], float)
    qrels = _make_qrels(owners, [item for *_, item, _ in lines], grades)
    queries = {query: q for q, query in enumerate(dict.fromkeys(query for query, _ in owners))}
    return qrels, np.array([queries[query] for query, _ in dict.fromkeys(owners)])


def _make_qrels(owners: list[Any], items: list[bytes], grades: Floats) -> Qrels:
    """The judgments by owner; those of one owner stand together."""
    counts = Counter(owners)  # in their order
    offsets = ragged.make_offsets(list(counts.values()))
    return Qrels(list(counts), offsets, read_bytes(items), grades)
