"""Arguments that several commands share, how their values are read, and how results are written."""

import argparse
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from germane.cli.paths import InputPath, OutputPath
from germane.cli.terminal import as_json, say
from germane.core.arguments import read_decimal
from germane.core.policy import DEFAULTS, RARE, RARE_WORDS, WORDS
from germane.dialects.names import parse_all
from germane.errors import InputError, check_choice, clip, list_choices
from germane.evaluation.opening import CATALOGUE, open_options
from germane.measures.measure import Measure
from germane.output import writing
from germane.output.tables import FORMATS, Table
from germane.readers import CANDIDATES, find_name
from germane.readers.files.formats import FORMATS as FILE_FORMATS
from germane.readers.objects.relevance import read_typed

_FORMATS = (*FORMATS, "json")
FOR_PAPERS = {**FORMATS, "latex": Table.latex_float}
SEPARATED = {"csv": Table.csv, "tsv": Table.tsv}
BESIDE = (*CANDIDATES, "subtopic_weights")  # files that judgments are read with
READING = ("columns", "input_format", "max_expansion", "max_line")
SCORES = ("scores", "min_score", "max_distance")
_LISTS = {
    "unknown": "queries of the run that nobody judged",
    "empty": "queries whose list of results is empty",
}
POLICY = (
    "dialect", *WORDS, *RARE, "depth", "relevant", *SCORES, "collapse", *BESIDE, *CATALOGUE,
    *READING,
)  # fmt: skip


def add_files(command: argparse.ArgumentParser, runs: str) -> None:
    """Add QRELS and RUN...; ``runs`` is the help on the runs."""
    command.add_argument(
        "qrels", metavar="QRELS", type=InputPath, help="lines 'query 0 item grade', or columns"
    )
    command.add_argument("runs", metavar="RUN", type=InputPath, nargs="+", help=runs)


def add_files_or_list(command: argparse.ArgumentParser) -> None:
    """Add QRELS RUN, or a LIST in their place."""
    command.add_argument(
        "given",
        metavar="QRELS RUN | LIST",
        type=InputPath,
        nargs="+",
        help="two files, or grades such as '0 0 1'",
    )


def add_seed(command: Any) -> None:
    add_number(command, "--seed", "N", read_whole, "seed of the random numbers", 0)


def add_number(
    command: Any,
    names: str,
    metavar: str,
    read: Callable[[str], float],
    purpose: str = "",
    default: float | None = None,
) -> None:
    """Add an option that takes a number; its help ends with the default, where there is one."""
    ending = "" if default is None else f" (default: {default:g})"
    text = f"{purpose}{ending}".lstrip()
    command.add_argument(*names.split(), metavar=metavar, type=read, default=default, help=text)


def add_choice(
    command: Any, name: str, words: Sequence[str], text: str, default: str | None = None
) -> None:
    """Add an option that takes one of these words."""
    read = choose_from(words)
    command.add_argument(name, metavar="|".join(words), type=read, default=default, help=text)


def add_shared(
    command: argparse.ArgumentParser,
    *,
    lists: bool = False,
    dialect: bool = True,
    pictures: Sequence[str] = (),
) -> None:
    """Add the output, how files are read, and the conventions, as ``add_policy`` does."""
    add_output(command, pictures)
    add_reading(command)
    add_candidates(command)
    add_subtopic_weights(command)
    add_policy(command, lists=lists, dialect=dialect)


def add_measures(command: argparse.ArgumentParser, default: str) -> None:
    text = f"names such as 'AP@10 nDCG@10 P(rel=2)@5'; may be repeated (default: '{default}')"
    command.add_argument("-m", "--measures", metavar="MEASURES", action="append", help=text)
    command.set_defaults(default_measures=default)


def add_policy(
    command: argparse.ArgumentParser, *, lists: bool = False, dialect: bool = True
) -> None:
    """Add the conventions, and those of a ``dialect`` in one word.

    With ``lists``, --relevant takes the number of a LIST, too.
    """
    policy = command.add_argument_group("conventions (germane's own are the defaults)")
    if dialect:
        add_dialect(policy)
    text = {
        "ties": "order of equal scores",
        "missing": "judged queries that a run does not have",
        "no_relevant": "queries without relevant items",
        "duplicates": "items retrieved twice for a query",
        "unjudged": "items without a judgment",
    }
    for name, help_text in (text | _LISTS).items():
        policy.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="|".join((WORDS | RARE_WORDS)[name]),
            help=f"{help_text} (default: {_DEFAULTS.get(name, DEFAULTS[name])})",
        )
    add_number(policy, "--depth", "N", read_whole, "use only the first N results of each query")
    words = "|".join(RARE_WORDS["relevant"])
    policy.add_argument(
        "--relevant",
        metavar=f"{words}|R" if lists else words,
        type=_read_relevant if lists else str,
        help=(
            "relevant items that count: all judged ones, or only those in the list of results"
            " (default: judged)"
        )
        + "; for a LIST, their number" * lists,
    )
    add_scores(policy)
    _add_rare(policy, {*_LISTS, "ranks", "padding"})


def _add_rare(policy: Any, present: Collection[str]) -> None:
    """Add the conventions of single tools that are not there yet; docs/conventions.md has them."""
    for name in (name for name in RARE if name not in present):
        option, default = f"--{name.replace('_', '-')}", DEFAULTS[name]
        if name in RARE_WORDS:
            words = "|".join(map(str, RARE_WORDS[name]))
            policy.add_argument(option, metavar=words, help=f"(default: {default})")
        else:
            add_number(policy, option, "N", read_whole, "decimals to which values are rounded")


def add_dialect(command: Any) -> None:
    text = "the conventions of another tool, and its names of measures; see germane dialects"
    command.add_argument("--dialect", metavar="NAME", help=text)


def add_scores(command: Any) -> None:
    """Add how the numbers of rows are read."""
    text = "how scores are compared; with distances, lower is better (default: double)"
    command.add_argument("--scores", metavar="|".join(RARE_WORDS["scores"]), help=text)
    text = "ranks without scores are an order, or places in a longer list (default: order)"
    command.add_argument("--ranks", metavar="|".join(RARE_WORDS["ranks"]), help=text)
    text = "leave out items with a lower score"
    add_number(command, "--min-score", "S", read_fraction, text)
    text = "leave out items that are farther away, with --scores distances"
    add_number(command, "--max-distance", "D", read_fraction, text)
    text = "the id -1, with which lists of a fixed length are padded (default: keep)"
    command.add_argument("--padding", metavar="keep|drop", help=text)


_DEFAULTS = {"ties": "trec; given if items have no ids"}  # decided by the run itself


def add_candidates(command: argparse.ArgumentParser) -> None:
    candidates = command.add_argument_group(
        "candidates: files with a query and an item in each row"
    )
    text = "items to remove before ranks are counted, such as those that a user has seen"
    candidates.add_argument("--exclude", metavar="FILE", type=InputPath, help=text)
    candidates.add_argument(
        "--only", metavar="FILE", type=InputPath, help="items to keep; all others are removed"
    )
    text = "junk, neither right nor wrong: it leaves the list and the relevant items"
    candidates.add_argument("--ignore", metavar="FILE", type=InputPath, help=text)


def add_catalogue(command: argparse.ArgumentParser) -> None:
    """Add what measures of the catalogue need, such as Coverage and Novelty."""
    catalogue = command.add_argument_group("measures of the catalogue")
    text = "the items that could be recommended: a file, their number, or the items of --seen"
    catalogue.add_argument("--catalogue", metavar="FILE|N|seen", type=InputPath, help=text)
    text = "what users chose before: a file with a user and an item in each row"
    catalogue.add_argument("--seen", metavar="FILE", type=InputPath, help=text)
    text = (
        "vectors of items, for their distances: a file with an item and its vector in each row,"
        " or an .npz file with both as arrays"
    )
    catalogue.add_argument("--distance", metavar="FILE", type=InputPath, help=text)


def add_subtopic_weights(command: argparse.ArgumentParser) -> None:
    text = (
        "a query, a subtopic and its weight in each row, for measures such as"
        " 'ERR_IA(weights=given)@20'"
    )
    command.add_argument("--subtopic-weights", metavar="FILE", type=InputPath, help=text)


def add_reading(command: argparse.ArgumentParser) -> None:
    reading = command.add_argument_group("reading (default: by the suffix of each file)")
    reading.add_argument(
        "--input-format",
        metavar="|".join(FILE_FORMATS),
        type=read_sides,
        help="the format of both files, or of one, as in run=jsonl (for an unknown suffix: trec)",
    )
    text = (
        "names of columns that are not recognized, such as 'query=user,item=film'; "
        "'rank=' ignores a column"
    )
    reading.add_argument("--columns", metavar="PART=NAME,…", type=read_columns, help=text)
    text = (
        "rank groups instead of items, such as the documents "
        "of chunks: a file with two columns, item and group"
    )
    reading.add_argument("--collapse", metavar="FILE", type=InputPath, help=text)
    text = "allow a file to be N times its compressed size, above 256 MB (default: 1000)"
    reading.add_argument("--max-expansion", metavar="N|none", type=_read_limit, help=text)
    text = "allow lines of up to this size in TREC files (default: 1048576)"
    reading.add_argument("--max-line", metavar="BYTES|none", type=_read_limit, help=text)


def add_texts(command: argparse.ArgumentParser, purpose: str = "to show them") -> None:
    """The files that say what stands behind the ids."""
    texts = command.add_argument_group("texts (TSV, JSON Lines or Parquet, by the suffix)")
    texts.add_argument(
        "--queries",
        metavar="FILE",
        type=InputPath,
        help=f"ids of queries and their texts, {purpose}",
    )
    text = f"ids of items with their titles, texts, addresses or the paths of images, {purpose}"
    texts.add_argument("--items", metavar="FILE", type=InputPath, help=text)


def _read_relevant(text: str) -> str | int:
    return text if text in RARE_WORDS["relevant"] else read_whole(text)


def _read_limit(text: str) -> float | str:
    return text if text == "none" else read_fraction(text)


def read_sides(text: str) -> str | dict[str, str]:
    if "=" not in text:
        return text
    pairs = (pair.partition("=") for pair in text.split(","))
    named: dict[str, str] = {}
    for side, _, name in pairs:
        _refuse_second(named, side.strip(), name.strip())
        named[side.strip()] = name.strip()
    return named


def read_columns(text: str) -> dict[str, str | None]:
    named: dict[str, str | None] = {}
    for pair in text.split(","):
        part, equals, name = pair.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"takes PART=NAME, such as query=user; got {pair!r}.")
        _refuse_second(named, part.strip(), name.strip())
        named[part.strip()] = name.strip() or None
    return named


def _refuse_second(named: Mapping[str, str | None], part: str, name: str) -> None:
    """Refuse a part that is named twice, since only one of the names can hold."""
    if part in named:
        raise argparse.ArgumentTypeError(
            f"names {part} twice: {part}={named[part] or ''} and {part}={name}. Keep one of them."
        )


def add_output(command: argparse.ArgumentParser, pictures: Sequence[str] = ()) -> None:
    """Add where and how to write; ``pictures`` are the suffixes of those that are drawn."""
    add_format(command, _FORMATS)
    text = "with csv or tsv: put ' before ids that a spreadsheet would take for formulas"
    command.add_argument("--spreadsheet", action="store_true", help=text)
    add_output_file(command)
    command.set_defaults(pictures=pictures)


def add_bounds(command: argparse.ArgumentParser) -> None:
    text = (
        "also print how far unjudged items could move the means, and which orders of runs"
        " remain open"
    )
    command.add_argument("--bounds", action="store_true", help=text)


def add_format(command: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add --format; the first format is the default."""
    text = f"(default: as the suffix of FILE says, else {formats[0]})"
    add_choice(command, "--format", formats, text)
    command.set_defaults(formats=formats)


def add_rename(command: argparse.ArgumentParser) -> None:
    text = "show a measure by another name, as in 'AP=MAP'; may be repeated"
    command.add_argument("--rename", metavar="MEASURE=NAME", action="append", default=[], help=text)


def read_rename(options: argparse.Namespace) -> dict[str, str]:
    """Read ``--rename`` as measure → name, in the formats that define what they show."""
    if options.rename:
        check_defined(options, "--rename")
    renamed = {}
    for pair in options.rename:
        measure, equals, name = pair.rpartition("=")
        if not equals or not name.strip() or measure.count("(") != measure.count(")"):
            raise InputError(f"--rename takes MEASURE=NAME, such as 'AP=MAP'; got {clip(pair)}.")
        renamed[measure.strip()] = name.strip()
    return renamed


def check_defined(options: argparse.Namespace, option: str) -> None:
    """Refuse an option with a format that has no definitions beside its numbers."""
    formats = [name for name in FORMATS if name not in SEPARATED]
    if options.format not in formats:
        raise InputError(
            f"{option} is for tables with definitions: --format {list_choices(formats)}; "
            f"got {options.format}."
        )


def add_output_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", metavar="FILE", type=OutputPath, help="write to FILE")


def choose_output(options: argparse.Namespace) -> None:
    """Choose the format that the suffix of the output file names, unless one is asked for.

    Raises InputError for the suffix of a format that the command does not write, and for
    --spreadsheet with a format that no spreadsheet opens.
    """
    path = getattr(options, "output", None) or ""
    formats, pictures = getattr(options, "formats", ("html",)), getattr(options, "pictures", ())
    suffix, has_format = writing.find_suffix(path), getattr(options, "format", None) is not None
    shown = ("table",) if formats[0] == "text" else ()  # as text, which is for people
    if not path.endswith(("/", os.sep)):
        texts = [name for name, form in writing.TEXTS.items() if form in (*formats, *shown)]
        drawn = f", and pictures as {list_choices(pictures)}" if pictures else ""
        writing.check_suffix(
            path,
            (*pictures, *(writing.TEXTS if has_format else texts)),
            f"this command writes {list_choices(formats)}{drawn}",
            _advise_suffix(suffix, options),
        )
    if "formats" in options and not has_format:
        named = writing.TEXTS.get(suffix)
        options.format = named if named in formats else formats[0]
    if getattr(options, "spreadsheet", False) and options.format not in SEPARATED:
        raise InputError(f"--spreadsheet is for --format csv or tsv; got {options.format}.")


def _advise_suffix(suffix: str, options: argparse.Namespace) -> str:
    """Advise what writes a file of that suffix."""
    if suffix in writing.TEXTS:
        return " --format overrides the suffix." if "formats" in options else ""
    if suffix not in writing.DRAWN or vars(options).get("pictures"):
        return ""
    if "truth" in options:
        return " germane boxes explain draws an image as svg."
    animated = " --animate FILE.gif writes an animation." if "animate" in options else ""
    return f"{animated} germane curve and germane compare draw pictures as svg, png or pdf."


def format_table(
    table: Table,
    options: argparse.Namespace,
    formats: Mapping[str, Callable[[Table], str]] = FORMATS,
) -> str:
    """Format the table as asked for; note ids that a spreadsheet takes for formulas."""
    if options.spreadsheet:
        return SEPARATED[options.format](table, reader="spreadsheet")
    if options.format in SEPARATED and (formulas := table.formulas()):
        say(
            f"germane: note: a spreadsheet would take {clip(formulas[0])} for a formula, as it does"
            " what begins with =, +, - or @; --spreadsheet protects it."
        )
    return formats[options.format](table)


def write_result(
    options: argparse.Namespace,
    table: Callable[[int | None], Table],
    as_dict: Callable[[], Any],
    formats: Mapping[str, Callable[[Table], str]] = FORMATS,
) -> None:
    """Write a result as JSON or as a table; ``table`` takes the number of decimals."""
    if options.format == "json":
        text = as_json(as_dict())
    else:
        text = format_table(table(choose_digits(options)), options, formats)
    writing.write(options.output, text)


def add_signature(command: argparse.ArgumentParser) -> None:
    """Add the option that prints signatures."""
    text = (
        "also print the signature of each mean: one line with the definition and fingerprints"
        " of the data"
    )
    command.add_argument("--signature", action="store_true", help=text)


def is_signed(options: argparse.Namespace) -> bool:
    """Are signatures printed, by option or in JSON? Raises InputError for values alone."""
    if options.signature and options.format in SEPARATED:
        raise InputError(
            f"--signature prints lines of text, and {options.format} has values alone. Choose"
            " --format table, markdown, latex, html or json, or write a record with --record."
        )
    return bool(options.signature or options.format == "json")


def add_lines(table: Table, lines: Sequence[str]) -> Table:
    """Add lines to the notes of a table, such as signatures."""
    return replace(table, notes=(*table.notes, "", *lines)) if lines else table


def write_found(
    options: argparse.Namespace,
    result: Any,
    formats: Mapping[str, Callable[[Table], str]] = FORMATS,
) -> None:
    """Write what a verb returned, which has a table and plain values of its own."""
    write_result(options, lambda digits: result.table(digits=digits), result.to_dict, formats)


def write_answer(options: argparse.Namespace, answer: Any) -> None:
    """Write an answer that has sentences beside its table, as text or in the format asked for."""
    match options.format:
        case "json":
            text = as_json(answer.to_dict())
        case "table":
            text = str(answer)
        case "markdown":
            text = str(answer.markdown())
        case "html":
            text = f"{answer._repr_html_()}\n"
        case _:
            text = format_table(answer.table(digits=choose_digits(options)), options)
    writing.write(options.output, text)


def parse_measures(options: argparse.Namespace) -> tuple[Measure, ...]:
    """Read the measures of a command: names of germane, or of the dialect."""
    names = options.measures or options.default_measures
    if getattr(options, "dialect", None) is None:
        return parse_all(names)
    return open_options({"dialect": options.dialect}).read_measures(names)


def read_measures(options: argparse.Namespace) -> Any:
    """Read the measures of a command for a function that takes a dialect.

    A dialect may have several names for one measure, each with conventions of its own, so that
    there the function gets the names.
    """
    if getattr(options, "dialect", None) is None:
        return parse_measures(options)
    return options.measures or options.default_measures


def collect_given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Collect the options of these names that a command has and that were given."""
    values = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def collect_policy(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the conventions and how files are read, as far as they were given."""
    return collect_given(options, POLICY)


def choose_digits(options: argparse.Namespace) -> int | None:
    """Choose the number of decimals: all of them (None) in formats that programs read."""
    return None if options.format in ("tsv", "csv") else 4


def check_list(options: argparse.Namespace) -> None:
    """Refuse options that a LIST does not take: a query, and conventions of judging."""
    for name in ("query", *POLICY):
        value = getattr(options, name, None)
        if name not in ("relevant", "dialect") and value is not None:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for QRELS and RUN; a LIST stands in its order.")
    if isinstance(options.relevant, str):
        raise InputError(
            f"--relevant {options.relevant} is for QRELS and RUN; of a LIST it takes the number of"
            " relevant items."
        )


def read_grades(listed: str) -> list[Any]:
    if os.path.exists(listed):
        raise InputError(f"{listed} is a file; give QRELS and RUN, or a LIST such as '0 0 1'.")
    return [*read_typed(listed)]


def name_relevant(answer: Any) -> Any:
    """Name the option that gives R in the place of the argument, where R was counted."""
    counted = answer.counted and replace(answer.counted, argument="--relevant")
    return replace(answer, counted=counted)


def choose_from(words: Sequence[str]) -> Callable[[str], str]:
    """Make a type of argparse that takes one of these words."""

    def read(text: str) -> str:
        check_choice("", text, words, argparse.ArgumentTypeError)
        return text

    return read


def read_whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise argparse.ArgumentTypeError(
            f"invalid value {clip(text)}: it takes a whole number from 0 on."
        )
    return int(text)


def read_fraction(text: str) -> float:
    try:
        number = read_decimal(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"takes a number; got {clip(text)}.")
    return number


def read_size(text: str) -> int:
    """Read a number of bytes, such as 5MB, 800KB or 500000."""
    match = re.fullmatch(r"([0-9]{1,12})(\.[0-9]{1,6})?([KMG]B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"takes a size such as 5MB or 800KB; got {clip(text)}.")
    unit = {"KB": 1e3, "MB": 1e6, "GB": 1e9}[match[3].upper()] if match[3] else 1
    return int(float(match[1] + (match[2] or "")) * unit)


def read_runs(qrels: str, paths: Sequence[str]) -> dict[str, str]:
    """Give each path its short name, or the path as its name if two have the same file name."""
    if [qrels, *paths].count("-") > 1:
        raise InputError("standard input (-) is given twice, but can be read only once.")
    names = [find_name(path) for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        twice = next(path for path in paths if list(paths).count(path) > 1)
        raise InputError(f"the run {twice} is given twice.")
    return dict(zip(names, paths, strict=True))


def read_pair(pair: str) -> tuple[str, str]:
    """Read NAME=MEASURE."""
    name, equals, measure = pair.partition("=")
    if not equals or not name.strip() or not measure.strip():
        raise InputError(f"names are given as NAME=MEASURE, such as 'MAP=AP@10'; got {clip(pair)}.")
    return name.strip(), measure.strip()


def is_picture(options: argparse.Namespace) -> bool:
    """Is the output a picture of those that the command draws?"""
    return writing.find_suffix(options.output) in options.pictures
