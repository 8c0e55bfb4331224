"""The command line of trec_eval, and text and numbers as it reads them."""

import getopt
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from germane.errors import GermaneError, suggest
from germane.output.tables import write_count
from germane.readers.files.line_blocks import BOM, Block, TextFile
from germane.readers.files.streams import find_compression
from germane.trec_eval.names import MEASURES, NICKNAMES

_Item = TypeVar("_Item")

_WHOLE = re.compile(rb"\s*+([+-]?\d++)")
_REAL = re.compile(
    rb"\s*+([+-]?)(0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*+|\.[0-9a-fA-F]++)(?:[pP][+-]?\d++)?"
    rb"|(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|inf(?:inity)?|nan)",
    re.IGNORECASE,
)
_LONGEST = 2**63
BLANKS = bytes.maketrans(b"\v\f\r", b"   ")  # that separate fields in C
_INT = 2**31


@lru_cache(4096)
def parse_whole(text: bytes) -> int:
    """Read a whole number as C's atol does; one that does not fit becomes the nearest that does."""
    match = _WHOLE.match(text)
    return max(-_LONGEST, min(int(match[1]), _LONGEST - 1)) if match else 0


def parse_real(text: bytes) -> float:
    """Read a number as C's atof does, with hexadecimal numbers, infinity and NaN."""
    match = _REAL.match(text)
    if match is None:
        return 0.0
    digits = match[2].decode().lower()
    try:
        number = float.fromhex(digits) if digits.startswith("0x") else float(digits)
    except OverflowError:
        number = math.inf
    return -number if match[1] == b"-" else number


def truncate(number: float) -> int:
    """Turn a double into 64 bits; as on x86-64, one that does not fit becomes the least."""
    return int(number) if abs(number) < _LONGEST else -_LONGEST


def merge_sort(items: list[_Item], difference: Callable[[_Item, _Item], float]) -> list[_Item]:
    """Sort as the C library's qsort does, by the difference as a whole number of 32 bits.

    Such differences need not make an order, and the result then depends on the method: a merge
    sort.
    """
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = merge_sort(items[:half], difference), merge_sort(items[half:], difference)
    out: list[_Item] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if 1 <= difference(left[i], right[j]) < _INT:
            out.append(right[j])
            j += 1
        else:
            out.append(left[i])
            i += 1
    return out + left[i:] + right[j:]


def compare_rows(
    row: tuple[Any, bytes, float], second_row: tuple[Any, bytes, float], id_sign: int = 1
) -> int:
    """Compare two rows by score and item id: below 0 if the first stands before the other."""
    (_, item, score), (_, other_item, other_score) = row, second_row
    by_score = (score < other_score) - (score > other_score)
    return by_score or id_sign * ((item < other_item) - (item > other_item))


_UNTAGGED = re.compile(rb"^[ \t]*(?!#)\S+(?:[ \t]+\S+){4}[ \t]+\r?$", re.MULTILINE)

_BLANK_END = np.frombuffer(b" \n", np.uint16)[0]


def read_bytes(path: str) -> bytes:
    """All bytes of a file, decompressed. Raises InputError for one that cannot be read."""
    with TextFile("./-" if path == "-" else path) as file:
        data = b"".join(block.data for block in file.read_blocks())
    return BOM + data if _read_start(path).startswith(BOM) else data


def find_oddity(path: str) -> str:
    """Find the first thing that germane reads differently from trec_eval; "" if there is none.

    A compressed file has none, since trec_eval cannot read it.
    """
    start = _read_start(path)
    if start.startswith(BOM):
        return "a byte-order mark, which is part of the first query's id to trec_eval"
    if find_compression(start):
        return ""
    with TextFile(path) as file:
        return next(filter(None, map(_find_oddity_in, file.read_blocks())), "")


def _find_oddity_in(block: Block) -> str:
    if b"\v" in block.data or b"\f" in block.data:
        return "a vertical tab or a form feed, which separates fields in trec_eval"
    if b"\r" in block.data and re.search(rb"\r(?!\n)", block.data):
        return "a carriage return within a line, which separates fields in trec_eval"
    if _has_trailing_blank(block) and (match := _UNTAGGED.search(block.data)):
        return f"a line without a tag: {match[0].decode('utf-8', 'replace').strip()!r}"
    return ""


def _has_trailing_blank(block: Block) -> bool:
    """Does a line end with a blank? Pairs of bytes are seven times as fast as a search."""
    codes = np.frombuffer(block.data, np.uint8)
    if block.data[-1:] in (b" ", b"\t"):  # the last line, without a line feed
        return True
    if b"\t" in block.data or b"\r" in block.data:
        after, before = codes[1:], codes[:-1]
        return bool(((after <= ord("\r")) & (before <= ord(" ")) & (before != ord("\n"))).any())
    pairs = (codes[start : start + (len(codes) - start) // 2 * 2] for start in (0, 1))
    return any((pair.view(np.uint16) == _BLANK_END).any() for pair in pairs)


def _read_start(path: str) -> bytes:
    """The first bytes of a file; of a pipe none, since it can be read only once."""
    if not os.path.isfile(path):
        return b""
    with open(path, "rb") as file:
        return file.read(6)


# --- The command line of trec_eval: its flags, and the choices that they make ---------------------

USAGE, INPUT, QUERY, NO_QUERY, ZSCORES = 1, 2, 4, 7, 255


class TrecEvalError(GermaneError):
    """The end of a run of trec_eval, with its exit status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


FORMATS = {
    "qrels": "qrels",
    "qrels_jg": "groups",
    "prefs": "preferences",
    "qrels_prefs": "preferences",
}
"""Formats of judgments (-R), and the kind of judgments in a file of that format."""

_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
_LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure=": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel=": "l",
    "nosummary": "n",
    "Debug_level=": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M",
    "Rel_info_format=": "R",
    "Results_format=": "T",
    "Output_old_results_format=": "o",
    "Zscore=": "Z",
}
_LETTERS = {f"--{name.rstrip('=')}": letter for name, letter in _LONG.items()}
USAGE_LINE = "trec_eval [-h] [-q] [-m MEASURE]… QRELS RUN"


@dataclass
class Options:
    """The choices of one command line of trec_eval."""

    qrels: str = ""
    run: str = ""
    wanted: str = "evaluation"  # or help, or version
    per_query: bool = False  # -q
    summary: bool = True  # not -n
    complete: bool = False  # -c: queries that the run lacks count too
    judged_only: bool = False  # -J
    level: int = 1  # -l: the lowest grade that counts as relevant
    documents: int = 0  # -N: in the collection
    depth: int | None = None  # -M
    format: str = "qrels"  # -R
    results: str = "trec_results"  # -T
    zscores: str | None = None  # -Z
    only: str | None = None  # -D level.query
    rounding: str = "nearest"  # of recall levels; trec9 in trec_eval up to 9
    marked: set[str] = field(default_factory=set)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def measures(self) -> list[str]:
        """The measures asked for, in trec_eval's order; by default the official ones."""
        marked = self.marked or set(NICKNAMES["official"])
        return [name for name in MEASURES if name in marked]

    @property
    def judgments(self) -> str:
        """The kind of judgments: qrels, groups or preferences."""
        return FORMATS[self.format]


def parse_arguments(arguments: Sequence[str]) -> Options:
    """Read the arguments. Raises TrecEvalError for an argument that trec_eval does not take."""
    flags, files, wrong = _split_flags(list(arguments))
    options = Options()
    for flag, value in flags:
        _set_option(options, _LETTERS.get(flag, flag.removeprefix("-")), value)
        if options.wanted == "version":
            return options
    if wrong is not None:
        near = suggest(f"--{wrong.opt}", _LETTERS) if len(wrong.opt) > 1 else ""
        raise TrecEvalError(USAGE, f"{wrong.msg}.{near}  Usage: {USAGE_LINE}")
    if options.wanted == "help":
        return options
    if len(files) != 2:
        count = write_count(len(files), "file")
        raise TrecEvalError(
            USAGE, f"takes two files, QRELS and RUN; got {count}.  Usage: {USAGE_LINE}"
        )
    options.qrels, options.run = files
    _check(options)
    return options


def _split_flags(
    arguments: list[str],
) -> tuple[list[tuple[str, str]], list[str], getopt.GetoptError | None]:
    """Split flags from files, up to a wrong flag: as in trec_eval, -v before it still counts."""
    try:
        return *getopt.gnu_getopt(arguments, _SHORT, list(_LONG)), None
    except getopt.GetoptError as error:
        flags, files, _ = _split_flags(arguments[:-1])
        return flags, files, error


_SWITCHES: dict[str, tuple[str, Any]] = {
    "h": ("wanted", "help"),
    "v": ("wanted", "version"),
    "q": ("per_query", True),
    "c": ("complete", True),
    "n": ("summary", False),
    "J": ("judged_only", True),
}
_NUMBERS = {"l": "level", "N": "documents", "M": "depth"}
_TEXTS = {"R": "format", "T": "results", "Z": "zscores"}


def _set_option(options: Options, letter: str, value: str) -> None:
    if letter in _SWITCHES:
        setattr(options, *_SWITCHES[letter])
    elif letter in _NUMBERS:
        setattr(options, _NUMBERS[letter], parse_whole(os.fsencode(value)))
    elif letter in _TEXTS:
        setattr(options, _TEXTS[letter], value)
    elif letter == "m":
        _mark_measure(options, value)
    elif letter == "D" and "." in value:
        options.only = value.partition(".")[2]


def _mark_measure(options: Options, written: str) -> None:
    """Read -m: a measure or a nickname, with parameters after a dot."""
    name, dot, parameters = written.partition(".")
    if name not in NICKNAMES and name not in MEASURES:
        near = suggest(name, (*NICKNAMES, *MEASURES))
        raise TrecEvalError(
            USAGE, f"there is no measure {name!r}.{near}  All of them: trec_eval -h"
        )
    if dot and not parameters:
        raise TrecEvalError(
            USAGE, f"-m {written} has nothing after the dot, where parameters belong."
        )
    if dot:
        options.parameters.setdefault(name, parameters)
    options.marked.update(NICKNAMES.get(name, (name,)))


def _check(options: Options) -> None:
    if options.format not in FORMATS:
        near = suggest(options.format, FORMATS)
        raise TrecEvalError(INPUT, f"-R takes {', '.join(FORMATS)}; got {options.format!r}.{near}")
    if options.results != "trec_results":
        raise TrecEvalError(INPUT, f"-T takes trec_results; got {options.results!r}.")
    if options.depth is not None and options.depth < 0:
        raise TrecEvalError(USAGE, f"-M takes a number of items from 0; got {options.depth}.")
