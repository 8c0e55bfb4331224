"""Arguments that several commands share, how their values are read, and how results are written."""

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from germane.cli.terminal import as_json, say
from germane.core.policy import DEFAULTS, RARE_WORDS, WORDS
from germane.dialects.parsing import parse_all
from germane.errors import EmptyError, InputError, check_choice, clip, list_choices
from germane.evaluation.opening import CATALOGUE
from germane.measures.measure import Measure
from germane.output import writing
from germane.output.tables import FORMATS, Table
from germane.readers import find_name
from germane.readers.formats import FORMATS as FILE_FORMATS

_FORMATS = (*FORMATS, "json")
FOR_PAPERS = {**FORMATS, "latex": Table.latex_float}
SEPARATED = {"csv": Table.csv, "tsv": Table.tsv}
_IMAGES = ("svg", "png", "pdf", "jpg", "jpeg", "gif", "webp", "eps", "tif", "tiff", "bmp")
CANDIDATES = ("exclude", "only")
BESIDE = (*CANDIDATES, "subtopic_weights")  # files that judgments are read with
READING = ("columns", "input_format", "max_expansion", "max_line")
POLICY = (*WORDS, "depth", "relevant", "scores", "collapse", *BESIDE, *CATALOGUE, *READING)


def add_files(command: argparse.ArgumentParser, runs: str) -> None:
    """Add QRELS and RUN...; ``runs`` is the help on the runs."""
    command.add_argument("qrels", metavar="QRELS", help="lines 'query 0 item grade', or columns")
    command.add_argument("runs", metavar="RUN", nargs="+", help=runs)


def add_files_or_list(command: argparse.ArgumentParser) -> None:
    """Add QRELS RUN, or a LIST in their place."""
    command.add_argument(
        "given", metavar="QRELS RUN | LIST", nargs="+", help="two files, or grades such as '0 0 1'"
    )


def add_seed(command: Any) -> None:
    add_number(command, "--seed", "N", read_whole, "seed of the random numbers", 0)


def add_number(
    command: Any,
    names: str,
    metavar: str,
    read: Callable[[str], float],
    says: str = "",
    default: float | None = None,
) -> None:
    """Add an option that takes a number; its help ends with the default, where there is one."""
    ending = "" if default is None else f" (default: {default:g})"
    text = f"{says}{ending}".lstrip()
    command.add_argument(*names.split(), metavar=metavar, type=read, default=default, help=text)


def add_choice(
    command: Any, name: str, words: Sequence[str], says: str, default: str | None = None
) -> None:
    """Add an option that takes one of these words."""
    read = choose_from(words)
    command.add_argument(name, metavar="|".join(words), type=read, default=default, help=says)


def add_shared(command: argparse.ArgumentParser, *, lists: bool = False) -> None:
    """Add the output, how files are read, and the conventions; ``lists`` as in ``add_policy``."""
    add_output(command)
    add_reading(command)
    add_candidates(command)
    add_subtopic_weights(command)
    add_policy(command, lists=lists)


def add_measures(command: argparse.ArgumentParser, default: str) -> None:
    says = f"names such as 'AP@10 nDCG@10 P(rel=2)@5'; may be repeated (default: '{default}')"
    command.add_argument("-m", "--measures", metavar="MEASURES", action="append", help=says)
    command.set_defaults(default_measures=default)


def add_policy(command: argparse.ArgumentParser, *, lists: bool = False) -> None:
    """Add the conventions. With ``lists``, --relevant takes the number of a LIST, too."""
    policy = command.add_argument_group("conventions (germane's own are the defaults)")
    says = {
        "ties": "order of equal scores",
        "missing": "judged queries that a run does not have",
        "no_relevant": "queries without relevant items",
        "duplicates": "items retrieved twice for a query",
        "unjudged": "items without a judgment",
    }
    for name, help_text in says.items():
        policy.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="|".join(WORDS[name]),
            help=f"{help_text} (default: {_DEFAULTS.get(name, DEFAULTS[name])})",
            default=None if name in _DEFAULTS else DEFAULTS[name],
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


def add_scores(command: Any) -> None:
    says = "how scores are compared; with distances, lower is better (default: double)"
    command.add_argument("--scores", metavar="|".join(RARE_WORDS["scores"]), help=says)


_DEFAULTS = {"ties": "trec; given if items have no ids"}  # decided by the run itself


def add_candidates(command: argparse.ArgumentParser) -> None:
    candidates = command.add_argument_group(
        "candidates: files with a query and an item in each row"
    )
    says = "items to remove before ranks are counted, such as those that a user has seen"
    candidates.add_argument("--exclude", metavar="FILE", help=says)
    candidates.add_argument("--only", metavar="FILE", help="items to keep; all others are removed")


def add_catalogue(command: argparse.ArgumentParser) -> None:
    """Add what measures of the catalogue need, such as Coverage and Novelty."""
    catalogue = command.add_argument_group("measures of the catalogue")
    says = "the items that could be recommended: a file, their number, or the items of --seen"
    catalogue.add_argument("--catalogue", metavar="FILE|N|seen", help=says)
    says = "what users chose before: a file with a user and an item in each row"
    catalogue.add_argument("--seen", metavar="FILE", help=says)
    says = (
        "vectors of items, for their distances: a file with an item and its vector in each row,"
        " or an .npz file with both as arrays"
    )
    catalogue.add_argument("--distance", metavar="FILE", help=says)


def add_subtopic_weights(command: argparse.ArgumentParser) -> None:
    says = (
        "a query, a subtopic and its weight in each row, for measures such as"
        " 'ERR_IA(weights=given)@20'"
    )
    command.add_argument("--subtopic-weights", metavar="FILE", help=says)


def add_reading(command: argparse.ArgumentParser) -> None:
    reading = command.add_argument_group("reading (default: by the suffix of each file)")
    reading.add_argument(
        "--input-format",
        metavar="|".join(FILE_FORMATS),
        type=read_sides,
        help="the format of both files, or of one, as in run=jsonl (for an unknown suffix: trec)",
    )
    says = (
        "names of columns that are not recognized, such as 'query=user,item=film'; "
        "'rank=' ignores a column"
    )
    reading.add_argument("--columns", metavar="PART=NAME,…", type=read_columns, help=says)
    says = (
        "rank groups instead of items, such as the documents "
        "of chunks: a file with two columns, item and group"
    )
    reading.add_argument("--collapse", metavar="FILE", help=says)
    says = "allow a file to be N times its compressed size, above 256 MB (default: 1000)"
    reading.add_argument("--max-expansion", metavar="N|none", type=_read_limit, help=says)
    says = "allow lines of up to this size in TREC files (default: 1048576)"
    reading.add_argument("--max-line", metavar="BYTES|none", type=_read_limit, help=says)


def add_texts(command: argparse.ArgumentParser, purpose: str = "to show them") -> None:
    """The files that say what stands behind the ids."""
    texts = command.add_argument_group("texts (TSV, JSON Lines or Parquet, by the suffix)")
    texts.add_argument(
        "--queries", metavar="FILE", help=f"ids of queries and their texts, {purpose}"
    )
    says = f"ids of items with their titles, texts, addresses or the paths of images, {purpose}"
    texts.add_argument("--items", metavar="FILE", help=says)


def list_texts(options: argparse.Namespace) -> list[str]:
    """List the files of texts that were given, which no output may overwrite."""
    return [path for path in (options.queries, options.items) if path is not None]


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


def add_output(command: argparse.ArgumentParser) -> None:
    add_format(command, _FORMATS)
    says = "with csv or tsv: put ' before ids that a spreadsheet would take for formulas"
    command.add_argument("--spreadsheet", action="store_true", help=says)
    add_output_file(command)


def add_bounds(command: argparse.ArgumentParser) -> None:
    says = (
        "also print how far unjudged items could move the means, and which orders of runs"
        " remain open"
    )
    command.add_argument("--bounds", action="store_true", help=says)


def add_format(command: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add --format; the first format is the default."""
    says = f"(default: as the suffix of FILE says, else {formats[0]})"
    add_choice(command, "--format", formats, says)
    command.set_defaults(formats=formats)


def add_rename(command: argparse.ArgumentParser) -> None:
    says = "show a measure by another name, as in 'AP=MAP'; may be repeated"
    command.add_argument("--rename", metavar="MEASURE=NAME", action="append", default=[], help=says)


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
    command.add_argument("-o", "--output", metavar="FILE", help="write to FILE")


_SUFFIXES = {
    "md": "markdown",
    "tex": "latex",
    "htm": "html",
    **{name: name for name in _FORMATS[1:]},
}


def choose_output(options: argparse.Namespace) -> None:
    """Choose the format that the suffix of the output file names, unless one is asked for.

    Raises InputError for a format that the command does not have, and for --spreadsheet with a
    format that no spreadsheet opens.
    """
    if "formats" in options and options.format is None:
        suffix = os.path.splitext(options.output or "")[1][1:].casefold()
        options.format = _SUFFIXES.get(suffix, options.formats[0])
        if options.format not in options.formats:
            raise InputError(
                f"{options.output}: this command writes {list_choices(options.formats)}, not "
                f"{options.format}. --format overrides the suffix."
            )
    if getattr(options, "spreadsheet", False) and options.format not in SEPARATED:
        raise InputError(f"--spreadsheet is for --format csv or tsv; got {options.format}.")


def format_table(
    table: Table,
    options: argparse.Namespace,
    formats: Mapping[str, Callable[[Table], str]] = FORMATS,
) -> str:
    """Format the table as asked for; note ids that a spreadsheet takes for formulas."""
    if options.spreadsheet:
        return SEPARATED[options.format](table, reader="spreadsheet")
    if options.format in SEPARATED and (found := table.formulas()):
        say(
            f"germane: note: a spreadsheet would take {clip(found[0])} for a formula, as it does"
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
    says = (
        "also print the signature of each mean: one line with the definition and fingerprints"
        " of the data"
    )
    command.add_argument("--signature", action="store_true", help=says)


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
    options: argparse.Namespace, found: Any, formats: Mapping[str, Callable[[Table], str]] = FORMATS
) -> None:
    """Write what a verb returned, which has a table and plain values of its own."""
    write_result(options, lambda digits: found.table(digits=digits), found.to_dict, formats)


def write_answer(options: argparse.Namespace, found: Any) -> None:
    """Write an answer that has sentences beside its table, as text or in the format asked for."""
    match options.format:
        case "json":
            text = as_json(found.to_dict())
        case "table":
            text = str(found)
        case "markdown":
            text = str(found.markdown())
        case "html":
            text = f"{found._repr_html_()}\n"
        case _:
            text = format_table(found.table(digits=choose_digits(options)), options)
    writing.write(options.output, text)


def parse_measures(options: argparse.Namespace) -> tuple[Measure, ...]:
    return parse_all(options.measures or options.default_measures)


def collect_given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Collect the options of these names that a command has and that were given."""
    given = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def collect_policy(options: argparse.Namespace) -> dict[str, Any]:
    """The conventions and how files are read, without the choices that are left to the run."""
    return collect_given(options, POLICY)


def collect_given_policy(options: argparse.Namespace) -> dict[str, Any]:
    """The conventions that differ from the defaults."""
    return {
        name: choice
        for name, choice in collect_policy(options).items()
        if choice != DEFAULTS.get(name)
    }


def choose_digits(options: argparse.Namespace) -> int | None:
    """Choose the number of decimals: all of them (None) in formats that programs read."""
    return None if options.format in ("tsv", "csv") else 4


def check_list(options: argparse.Namespace) -> None:
    """Refuse options that a LIST does not take: a query, and conventions of judging."""
    for name in ("query", *POLICY):
        given = getattr(options, name, None)
        if name != "relevant" and given not in (None, DEFAULTS.get(name)):
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
    grades = [_read_grade(word) for word in listed.replace(",", " ").split()]
    if not grades:
        raise EmptyError("the list is empty: there are no relevance grades.")
    return grades


def _read_grade(word: str) -> float | str:
    try:
        return _read_float(word)
    except ValueError:
        return word  # evaluation refuses it, with its rank


def _read_float(text: str) -> float:
    """Read a number as in a file; float() alone would accept other digits, and 1_0 as 10."""
    if not text.isascii() or "_" in text:
        raise ValueError
    return float(text)


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
        return _read_float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes a number; got {clip(text)}.") from None


def read_size(text: str) -> int:
    """Read a number of bytes, such as 5MB, 800KB or 500000."""
    found = re.fullmatch(r"([0-9]{1,12})(\.[0-9]{1,6})?([KMG]B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise argparse.ArgumentTypeError(f"takes a size such as 5MB or 800KB; got {clip(text)}.")
    unit = {"KB": 1e3, "MB": 1e6, "GB": 1e9}[found[3].upper()] if found[3] else 1
    return int(float(found[1] + (found[2] or "")) * unit)


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


def is_picture(path: str | None) -> bool:
    """Is the file a picture, whether or not one of its kind can be drawn?"""
    return (path or "").lower().rpartition(".")[2] in _IMAGES
