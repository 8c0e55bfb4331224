"""trec_eval's command line: what its flags ask for."""

import getopt
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from germane.errors import GermaneError, suggest
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
"""Formats of judgments, and what is in a file of each."""

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
    complete: bool = False  # -c: queries that the run lacks count, too
    judged_only: bool = False  # -J
    level: int = 1  # -l: the lowest grade that counts as relevant
    documents: int = 0  # -N: in the collection
    depth: int | None = None  # -M
    format: str = "qrels"  # -R
    results: str = "trec_results"  # -T
    zscores: str | None = None  # -Z
    only: str | None = None  # -D level.query
    marked: set[str] = field(default_factory=set)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def measures(self) -> list[str]:
        """The measures asked for, in trec_eval's order; the official ones where none are."""
        marked = self.marked or set(NICKNAMES["official"])
        return [name for name in MEASURES if name in marked]

    @property
    def judgments(self) -> str:
        """The content of the file of judgments: qrels, groups or preferences."""
        return FORMATS[self.format]


def parse_arguments(arguments: Sequence[str]) -> Options:
    """Read the arguments. Raises TrecEvalError for what trec_eval does not take."""
    flags, files, wrong = _split_flags(list(arguments))
    options = Options()
    for flag, value in flags:
        _set(options, _LETTERS.get(flag, flag.removeprefix("-")), value)
        if options.wanted == "version":
            return options
    if wrong is not None:
        near = suggest(f"--{wrong.opt}", _LETTERS) if len(wrong.opt) > 1 else ""
        raise TrecEvalError(USAGE, f"{wrong.msg}.{near}  Usage: {USAGE_LINE}")
    if options.wanted == "help":
        return options
    if len(files) != 2:
        given = f"{len(files)} file{'' if len(files) == 1 else 's'}"
        raise TrecEvalError(
            USAGE, f"takes two files, QRELS and RUN; got {given}.  Usage: {USAGE_LINE}"
        )
    options.qrels, options.run = files
    _check(options)
    return options


def _split_flags(
    arguments: list[str],
) -> tuple[list[tuple[str, str]], list[str], getopt.GetoptError | None]:
    """Flags and files, up to a flag that is wrong: -v before it still counts, as in trec_eval."""
    try:
        return *getopt.gnu_getopt(arguments, _SHORT, list(_LONG)), None
    except getopt.GetoptError as error:
        flags, files, _ = _split_flags(arguments[:-1])
        return flags, files, error


def _set(options: Options, letter: str, value: str) -> None:
    match letter:
        case "h":
            options.wanted = "help"
        case "v":
            options.wanted = "version"
        case "q":
            options.per_query = True
        case "m":
            _mark(options, value)
        case "c":
            options.complete = True
        case "l":
            options.level = _parse_whole(value)
        case "n":
            options.summary = False
        case "D":
            _, dot, query = value.partition(".")
            options.only = query if dot else options.only
        case "J":
            options.judged_only = True
        case "N":
            options.documents = _parse_whole(value)
        case "M":
            options.depth = _parse_whole(value)
        case "R":
            options.format = value
        case "T":
            options.results = value
        case "Z":
            options.zscores = value


def _parse_whole(text: str) -> int:
    return parse_whole(os.fsencode(text))


def _mark(options: Options, written: str) -> None:
    """-m: a measure or a nickname, with parameters after a dot."""
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
