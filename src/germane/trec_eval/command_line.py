"""The command line of trec_eval: its arguments and measures, the columns it prints, and help."""

import getopt
import math
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from germane.dialects.names import parse
from germane.errors import GermaneError, suggest
from germane.output.tables import write_count
from germane.readers.files.line_blocks import TextFile
from germane.readers.files.streams import find_compression


class Row(NamedTuple):
    """A measure of trec_eval 10."""

    germane: str
    """germane's name of it; {} stands for a cutoff or level. Empty: germane has no such measure."""
    takes: str = "nothing"
    """Each cutoff or level makes a value of its own; numbers and gains together make one value."""
    default: tuple[float, ...] = ()
    judgments: str = "qrels"
    """The kind of judgments it needs: qrels, groups, preferences or any."""
    shown: str = "value"
    """A value; a count, which is summed; a geometric mean; a string; or the run's id."""


_DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
_PREFERENCES = (
    "prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel",
    "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret",
    "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp",
)  # fmt: skip

MEASURES: dict[str, Row] = {
    "runid": Row("", judgments="any", shown="id"),
    "num_q": Row("NumQ", judgments="any", shown="count"),
    "num_ret": Row("NumRet", shown="count"),
    "num_rel": Row("NumRel", shown="count"),
    "num_rel_ret": Row("NumRelRet", shown="count"),
    "map": Row("AP(norm=R)"),
    "gm_map": Row("AP(norm=R,mean=geometric)", shown="geometric"),
    "Rprec": Row("Rprec"),
    "bpref": Row("bpref"),
    "recip_rank": Row("RR"),
    "iprec_at_recall": Row("IPrec(recall={},rounding=nearest)", "levels", _ELEVEN),
    "P": Row("P@{}", "cutoffs", _DEPTHS),
    "relstring": Row("", "numbers", (10.0,), shown="string"),
    "recall": Row("R@{}", "cutoffs", _DEPTHS),
    "infAP": Row("infAP"),
    "gm_bpref": Row("bpref(mean=geometric)", shown="geometric"),
    "Rprec_mult": Row("Rprec(mult={},rounding=trec9)", "levels", _MULTIPLES),
    "utility": Row("Utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    "11pt_avg": Row("IAP(points=11,rounding=nearest)", "numbers", _ELEVEN),
    "binG": Row("binG"),
    "G": Row("G", "gains"),
    "dcg": Row("DCG", "gains"),
    "ideal_dcg": Row("IDCG", "gains"),
    "ndcg": Row("nDCG", "gains"),
    "ndcg_rel": Row("nDCGrel", "gains"),
    "Rndcg": Row("RnDCG", "gains"),
    "ndcg_cut": Row("nDCG@{}", "cutoffs", _DEPTHS),
    "map_cut": Row("AP(norm=R)@{}", "cutoffs", _DEPTHS),
    "relative_P": Row("R(norm=min)@{}", "cutoffs", _DEPTHS),
    "success": Row("Success@{}", "cutoffs", (1, 5, 10)),
    "set_P": Row("P"),
    "set_relative_P": Row("R(norm=possible)"),
    "set_recall": Row("R"),
    "set_map": Row("SetAP"),
    "set_F": Row("F", "numbers", (1.0,)),
    "num_nonrel_judged_ret": Row("NumNonrelRet", shown="count"),
    "prefs_num_prefs_poss": Row("", judgments="preferences", shown="count"),
    "prefs_num_prefs_ful": Row("", judgments="preferences", shown="count"),
    "prefs_num_prefs_ful_ret": Row("", judgments="preferences", shown="count"),
    **dict.fromkeys(_PREFERENCES, Row("", judgments="preferences")),
    "map_avgjg": Row("AP(norm=R)", judgments="groups"),
    "P_avgjg": Row("P@{}", "cutoffs", _DEPTHS, judgments="groups"),
    "Rprec_mult_avgjg": Row(
        "Rprec(mult={},rounding=trec9)", "levels", _MULTIPLES, judgments="groups"
    ),
    "yaap": Row("YAAP"),
    "rbp": Row("", "gains"),
    "rbp_resid": Row("RBPResidual(p=0.9)", "gains"),
    "unj": Row("Unjudged@{}", "cutoffs", (5, 10, 20)),
}

NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": tuple(list(MEASURES)[:12]),
    "set": (
        "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall",
        "set_relative_P", "set_map", "set_F",
    ),
    "all_trec": tuple(
        name
        for name, row in MEASURES.items()
        if row.judgments in ("qrels", "any") and name not in ("dcg", "ideal_dcg", "yaap")
    ),
    "all_prefs": tuple(
        name for name, row in MEASURES.items() if row.judgments in ("preferences", "any")
    ),
    "prefs": (
        "runid", "num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret",
        "prefs_simp", "prefs_pair", "prefs_avgjg",
    ),
    "qrels_jg": tuple(
        name for name, row in MEASURES.items() if row.judgments in ("groups", "any")
    ),
}  # fmt: skip
"""Names of several measures at once."""


# --- Flags, and the choices that they make --------------------------------------------------------

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


# --- Text and numbers as C reads them -------------------------------------------------------------

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
    return BOM_UTF8 + data if _read_start(path).startswith(BOM_UTF8) else data


def find_oddity(path: str) -> str:
    """Find the first thing that germane reads differently from trec_eval; "" if there is none.

    A compressed file has none, since trec_eval cannot read it.
    """
    start = _read_start(path)
    if start.startswith(BOM_UTF8):
        return "a byte-order mark, which is part of the first query's id to trec_eval"
    if find_compression(start):
        return ""
    with TextFile(path) as file:
        return next(filter(None, (_find_oddity_in(block.data) for block in file.read_blocks())), "")


def _find_oddity_in(data: bytes) -> str:
    if b"\v" in data or b"\f" in data:
        return "a vertical tab or a form feed, which separates fields in trec_eval"
    if b"\r" in data and re.search(rb"\r(?!\n)", data):
        return "a carriage return within a line, which separates fields in trec_eval"
    if _has_trailing_blank(data) and (match := _UNTAGGED.search(data)):
        return f"a line without a tag: {match[0].decode('utf-8', 'replace').strip()!r}"
    return ""


def _has_trailing_blank(data: bytes) -> bool:
    """Does a line end with a blank? Pairs of bytes are seven times as fast as a search."""
    codes = np.frombuffer(data, np.uint8)
    if data[-1:] in (b" ", b"\t"):  # the last line, without a line feed
        return True
    if b"\t" in data or b"\r" in data:
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


# --- Columns, one for each value that is printed; their lines; and the help -----------------------

_SHARED = ("dcg", "ideal_dcg", "ndcg")
"""These measures share their gains in trec_eval: the last gains given are those of all three. The
name of each has the last gains given up to it."""


@dataclass(frozen=True)
class Column:
    """A value: its printed name, its measure, and the cutoff, level, numbers or gains it takes."""

    name: str
    measure: str
    argument: Any = None
    parameters: str = ""  # as they were written

    @property
    def row(self) -> Row:
        return MEASURES[self.measure]


def make_columns(options: Options) -> list[Column]:
    """Make the columns of the measures asked for. Raises TrecEvalError for wrong parameters."""
    out: list[Column] = []
    last = ""
    for name in options.measures:
        argument = options.parameters.get(name, "")
        if name in _SHARED:
            argument = last = argument or last
        out += _EXPAND[MEASURES[name].takes](name, argument)
    shared = {column.measure: column.argument for column in out if column.measure in _SHARED}
    return [
        replace(column, argument=[*shared.values()][-1]) if column.measure in shared else column
        for column in out
    ]


def _take_cutoffs(name: str, raw: str) -> list[Column]:
    cutoffs = _sort(name, list(map(parse_whole, _split(raw))), raw)
    if cutoffs and cutoffs[0] <= 0:
        raise TrecEvalError(INPUT, f"-m {name}.{raw}: a cutoff is a whole number from 1.")
    return [Column(f"{name}_{k}", name, int(k)) for k in cutoffs or MEASURES[name].default]


def _take_levels(name: str, raw: str) -> list[Column]:
    levels = _sort(name, list(map(parse_real, _split(raw))), raw)
    # trec_eval's name has room for eight characters
    return [
        Column(f"{name}_{_show(level)[:8]}", name, level)
        for level in levels or MEASURES[name].default
    ]


def _take_numbers(name: str, raw: str) -> list[Column]:
    numbers = tuple(map(parse_real, _split(raw))) or MEASURES[name].default
    return [Column(_write(name, raw), name, numbers, raw)]


def _take_gains(name: str, raw: str) -> list[Column]:
    pairs = []
    for part in raw.split(",") if raw else []:
        key, _, value = part.partition("=")
        if part.count("=") != 1:
            raise TrecEvalError(
                INPUT, f"-m {name}.{raw} takes pairs such as 1=3,2=9; got {part!r}."
            )
        pairs.append((key, parse_real(os.fsencode(value))))
    return [Column(_write(name, raw), name, tuple(pairs), raw)]


_EXPAND: dict[str, Callable[[str, str], list[Column]]] = {
    "nothing": lambda name, _: [Column(name, name)],
    "cutoffs": _take_cutoffs,
    "levels": _take_levels,
    "numbers": _take_numbers,
    "gains": _take_gains,
}


def _show(level: float) -> str:
    sign = "-" if math.isnan(level) and math.copysign(1.0, level) < 0 else ""
    return f"{sign}{level:3.2f}"


def _write(name: str, raw: str) -> str:
    return f"{name}_{raw}" if raw else name


def _split(raw: str) -> list[bytes]:
    return os.fsencode(raw).split(b",") if raw else []


def _sort(name: str, numbers: list[Any], raw: str) -> list[Any]:
    if len(set(numbers)) < len(numbers):
        raise TrecEvalError(INPUT, f"-m {name}.{raw} gives a value twice.")
    return sorted(numbers)


def format_queries(
    columns: Sequence[Column], queries: Sequence[str], values: Sequence[list[Any]], z: str
) -> Iterator[str]:
    """Format the lines of every query. ``values`` has a list for each column; ``z`` is Z for
    standard scores.

    One template has the lines of all measures; each query fills it with its name and values.
    """
    shown = [
        (column, column_values)
        for column, column_values in zip(columns, values, strict=True)
        if column.row.shown not in ("id", "geometric") and column.measure != "num_q"
    ]
    if not shown:
        return
    template = "".join(_format_line(column, "\0", z) for column, _ in shown)
    rows = zip(*(column_values for _, column_values in shown), strict=True)
    for query, row in zip(queries, rows, strict=True):
        yield _write_nan_as_c(template.replace("\0", query.replace("%", "%%")) % row)


def format_summary(columns: Sequence[Column], values: Sequence[Any], z: str) -> Iterator[str]:
    """Format the lines for all queries together."""
    for column, value in zip(columns, values, strict=True):
        if column.row.shown != "string":
            yield _write_nan_as_c(_format_line(column, "all", z) % (value,))


def _format_line(column: Column, query: str, z: str) -> str:
    form = "%d" if column.row.shown == "count" and not z else _FORMS.get(column.row.shown, "%6.4f")
    prefix = z if form == "%6.4f" else ""
    blanks = " " * (22 - len(os.fsencode(column.name)))
    name = column.name.replace("%", "%%")
    return f"{prefix}{name}{blanks}\t{query}\t{form}\n"


_FORMS = {"string": "'%s'", "id": "%s"}


def _write_nan_as_c(text: str) -> str:
    """Write NaN with its sign: 0/0 is negative on the processors that trec_eval runs on."""
    return text.replace("\t   nan\n", "\t  -nan\n")


_FLAGS = """\
Evaluate RUN against QRELS, with the flags and the output of NIST's trec_eval 10.0.

usage: trec_eval [flags] QRELS RUN        (RUN - is standard input)

  -q             also print every query's values
  -n             do not print the values over all queries
  -c             average over all judged queries; those that RUN lacks count as 0
  -m MEASURE     a measure or a nickname, with parameters after a dot; may be repeated
  -l GRADE       the lowest grade that counts as relevant (1)
  -M N           use only the first N results of each query
  -J             remove unjudged items first
  -N N           documents in the collection, for utility (0)
  -R FORMAT      QRELS holds qrels, qrels_jg, prefs or qrels_prefs (qrels)
  -Z FILE        print standard scores, from lines "query measure mean deviation"
  -D L.QUERY     look at one query only; trec_eval's debugging output is not printed
  -h, -v         this help, with the measures of -m; the version

"""
_ON = {
    "any": "from the files",
    "qrels": "of trec_eval alone",
    "preferences": "of preferences",
    "groups": "of groups of judgments",
}
_TAKES = {
    "nothing": "",
    "cutoffs": ".5,10: ranks",
    "levels": "..1,.25: levels",
    "numbers": ".1,-1: numbers",
    "gains": ".1=3,2=9: what grades are worth",
}


def write_help(options: Options) -> str:
    """Write the help, with the definitions of the measures asked for, or with a list of all."""
    if options.marked:
        return _FLAGS + "".join(map(_define, options.measures))
    nicknames = "".join(
        f"  {name:<24}{len(names)} measures: {', '.join(names[2:5])}, …\n"
        for name, names in NICKNAMES.items()
    )
    listed = "".join(
        f"  {name + _TAKES[row.takes].partition(':')[0]:<24}{_describe_row(row)}\n"
        for name, row in MEASURES.items()
    )
    return f"{_FLAGS}nicknames:\n{nicknames}\nmeasures, with their parameters:\n{listed}"


def _describe_row(row: Row) -> str:
    germane_name = row.germane.format("k" if row.takes == "cutoffs" else "x")
    return f"germane's {germane_name}" if germane_name else _ON[row.judgments]


def _define(name: str) -> str:
    row = MEASURES[name]
    if not row.germane:
        return f"{name}: {_ON[row.judgments]}; germane has no measure of its own for it.\n"
    example = make_columns(Options(marked={name}))[0]
    measure = parse(row.germane.format(example.argument))
    return (
        f"{name}{_TAKES[row.takes].partition(':')[0]}: as germane's {measure}:"
        f" {measure.definition}\n"
    )
