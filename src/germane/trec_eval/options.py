"""The command line of trec_eval: its flags, and the choices that they make."""

import getopt
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from germane.errors import GermaneError, suggest
from germane.output.tables import write_count
from germane.trec_eval.names import MEASURES, NICKNAMES
from germane.trec_eval.text import parse_whole

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
