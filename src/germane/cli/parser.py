"""The generator: parsers of commands, made from the signatures of functions and rows of options."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import germane
from germane.cli.arguments import (
    COUNTED,
    NONE,
    InputPath,
    choose_from,
    merge_names,
    read_count,
    read_fraction,
    read_whole,
)
from germane.cli.options import (
    CHECKED,
    CONVENTIONS,
    LEFT_OUT,
    OPTIONS,
    PATHS,
    RARE,
    Option,
    find_row,
)
from germane.cli.terminal import say
from germane.core.policy import Policy
from germane.dialects.names import parse_all
from germane.errors import InputError, suggest
from germane.evaluation.choices import COMMANDS as PAIRS
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.opening import open_options
from germane.measures.measure import Measure
from germane.output.tables import FORMATS
from germane.readers import find_name
from germane.readers.objects.relevance import read_typed

TABLES = (*FORMATS, "json")
PICTURES = ("svg", "png", "pdf")
WRONG = 2
POLICY = tuple(Choices.__annotations__)
"""How data are read, and the conventions."""


class Command(NamedTuple):
    """A command: what it does, its arguments by place, and those that no function has."""

    run: Callable[[argparse.Namespace], int | None]
    description: str
    places: str = ""
    """The arguments by place, as in ``qrels runs+``."""

    extra: str = ""
    """The options that no function has, in the order of the help."""

    verbs: Sequence[str] | None = None
    """The functions that it calls, if not that of its name in PAIRS."""

    words: Mapping[str, Sequence[Any]] = {}
    """The words that options of its own take."""

    formats: Sequence[str] = TABLES
    pictures: Sequence[str] = ()
    conventions: str = ""
    """Another heading of the conventions, which then have no default."""

    usage: str | None = None
    epilog: str | None = None


# --- From a function to options -------------------------------------------------------------------


class Argument(NamedTuple):
    """An argument of a function: its type, and its default, which is ``...`` if it needs one."""

    kind: Any
    default: Any


def list_arguments(verb: Any) -> dict[str, Argument]:
    """List all arguments of a function: its own, and those that ``**policy`` stands for.

    It reads the function itself, since ``inspect.signature`` leaves out the rare conventions.
    """
    code, kinds = verb.__code__, verb.__annotations__
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    defaults = dict(zip(reversed(names[:count]), reversed(verb.__defaults__ or ()), strict=False))
    defaults |= verb.__kwdefaults__ or {}
    listed = {name: Argument(kinds[name], defaults.get(name, ...)) for name in names}
    for unpacked in get_args(kinds.get("policy") or kinds.get("options")):
        if not isinstance(unpacked, type):  # its name, in germane.boxes
            from germane.boxes import conventions

            more = get_type_hints(getattr(conventions, unpacked.__forward_arg__))
            usual = conventions.DEFAULTS
        else:
            more, usual = unpacked.__annotations__, Policy.DEFAULTS
        for name, kind in more.items():
            listed.setdefault(name, Argument(kind, usual.get(name)))
    return listed


def list_paths(name: str, command: Command) -> Sequence[str]:
    """List the functions behind a command, as they are called in Python."""
    return (PAIRS.get(name, name.replace(" ", ".")),) if command.verbs is None else command.verbs


def find_verbs(name: str, command: Command) -> list[Any]:
    """Find the functions behind a command."""
    verbs = []
    for path in list_paths(name, command):
        verb: Any = germane
        for part in path.split("."):
            verb = getattr(verb, part)
        verbs.append(verb)
    return verbs


def _list_alternatives(kind: Any) -> Iterator[Any]:
    """List the alternatives of a type."""
    if get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from _list_alternatives(part)
    elif get_origin(kind) is Annotated:
        yield from _list_alternatives(get_args(kind)[0])
    elif kind is not NoneType:
        yield kind


def add_command(commands: Any, name: str, command: Command, summary: str | None) -> None:
    """Add a command with all of its arguments; ``summary`` stands in the list of commands."""
    listed: dict[str, Argument] = {}
    for verb in find_verbs(name, command):
        listed |= {key: row for key, row in list_arguments(verb).items() if key not in listed}
    description = command.description
    if path := PAIRS.get(name):
        description += f"\nIn Python: germane.{path}"
    parser = commands.add_parser(
        name,
        **({} if summary is None else {"help": summary}),
        description=description,
        usage=command.usage,
        epilog=command.epilog,
        formatter_class=(
            argparse.RawDescriptionHelpFormatter if command.epilog else argparse.HelpFormatter
        ),
    )
    maker = _Maker(parser, name, command)
    places: list[tuple[str, str]] = re.findall(r"(\w+)([+*?]?)", command.places)
    for place, nargs in places:
        maker.add_place(place, nargs)
    placed = {place for place, _ in places} | STAND_FOR.get(places[0][0] if places else "", set())
    for option, argument in listed.items():
        if option not in placed and find_row(name, option, LEFT_OUT) is None:
            maker.add(option, argument)
    for option in command.extra.split():
        maker.add(option, Argument(Literal[tuple(command.words.get(option, ()))], None))
    measures = listed.get("measures") or listed.get("measure")
    parser.set_defaults(
        perform=command.run,
        pictures=command.pictures,
        default_measures=(measures and measures.default) or DEFAULT,
    )
    if "format" in command.extra.split():
        parser.set_defaults(formats=command.formats)
    parser.add_help_for_all()


STAND_FOR = {"data": {"qrels", "run", "runs", "truth", "detections"}}
"""Arguments by place that stand for several of functions."""


class _Maker:
    """Makes the arguments of a command, each in its group."""

    def __init__(self, parser: "Parser", name: str, command: Command) -> None:
        self.parser, self.name, self.command = parser, name, command
        self.groups: dict[str, Any] = {"": parser}

    def add_place(self, name: str, nargs: str) -> None:
        """Add an argument that has a place instead of a name."""
        row = OPTIONS[find_row(self.name, name) or name]
        action = self.parser.add_argument(
            name, metavar=row.metavar, nargs=nargs or None, help=row.sentence
        )
        action.type = InputPath if row.metavar in PATHS else None

    def add(self, name: str, argument: Argument) -> None:
        """Add an option: its words and default from the function, the rest from its row."""
        key = find_row(self.name, name)
        row = Option("") if key is None else OPTIONS[key]
        group = row.group
        if group not in self.groups:
            heading = self.command.conventions if group == CONVENTIONS else ""
            self.groups[group] = self.parser.add_argument_group(heading or group)
        flags = row.flags or f"--{name.replace('_', '-')}"
        kinds = list(_list_alternatives(argument.kind))
        words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
        if name == "format":
            words = list(self.command.formats)
        whole = read_count if name in COUNTED else read_whole
        number = None if str in kinds else whole if int in kinds else read_fraction
        if float not in kinds and int not in kinds:
            number = None
        if not (row.metavar or words or number or row.read or key is None):
            action = self.groups[group].add_argument(
                *flags.split(), dest=name, action="store_true", help=row.sentence
            )
        else:
            action = self.groups[group].add_argument(
                *flags.split(),
                dest=name,
                metavar=row.metavar or "|".join(map(str, words)) or ("N" if number else "FILE"),
                type=self._choose_type(row, words, number),
                required=argument.default is ... and not row.optional,
                default=row.default,
                nargs=row.nargs,
                help=self._write_help(row, argument.default),
                action="append" if row.repeats or argument.default == () else _Store,
            )
        if key in RARE:
            self.parser.rare.append(action)

    def _choose_type(
        self, row: Option, words: list[Any], number: Callable[[str], Any] | None
    ) -> Callable[[str], Any] | None:
        """Choose how the text of an option is read; what nobody described may be a path."""
        if row.read:
            return row.read
        if words and not row.metavar:
            return None if row.group in CHECKED else choose_from(words)
        return InputPath if row.metavar in PATHS or not (row.metavar or number) else number

    def _write_help(self, row: Option, default: Any) -> str:
        """Write the sentence of an option, with the default of the function."""
        sentence = row.sentence.replace("{}", self.command.formats[0])
        free = self.command.conventions and row.group == CONVENTIONS
        unsaid = free or any(default is nothing for nothing in (None, ..., (), False))
        if unsaid or "(default" in sentence:
            return sentence
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        return f"{sentence} (default: {repr(shown) if ' ' in shown else shown})".lstrip()


# --- What was given -------------------------------------------------------------------------------


def call(
    verb: Any, options: argparse.Namespace, /, *, without: Collection[str] = (), **arguments: Any
) -> Any:
    """Call a function with the options that were given, and with these arguments.

    ``without`` are options that are not passed on, such as those with which the data were opened.
    """
    names = [name for name in list_arguments(verb) if name not in without]
    return verb(**{**collect_given(options, names), **arguments})


def collect_policy(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the conventions and how data are read, as far as they were given."""
    return collect_given(options, POLICY)


def collect_given(options: argparse.Namespace, names: Collection[str]) -> dict[str, Any]:
    values = {name: getattr(options, name, None) for name in names}
    return {
        name: None if value is NONE else value
        for name, value in values.items()
        if value is not None
    }


def parse_measures(options: argparse.Namespace) -> tuple[Measure, ...]:
    """Read the measures of a command: names of germane, or of the dialect."""
    names = name_measures(options)
    if getattr(options, "dialect", None) is None:
        return parse_all(names)
    return open_options({"dialect": options.dialect}).read_measures(names)


def read_measures(options: argparse.Namespace) -> Any:
    """Read the measures of a command for a function that takes their names.

    It gets the names, which its tables explain, and of which a dialect may have several for one
    measure, each with conventions of its own. Raises MeasureError for those that are not there.
    """
    if getattr(options, "dialect", None) is None:
        parse_measures(options)
    return name_measures(options)


def name_measures(options: argparse.Namespace) -> Any:
    """Name the measures that are asked for, or those of the command."""
    chosen = vars(options)
    return chosen.get("measures") or chosen.get("measure") or options.default_measures


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


_TYPED = frozenset("0123456789.,;-[]() \t\n●○")


def is_typed(text: str) -> bool:
    """Is this a LIST of grades that somebody typed, and no file?"""
    has_grades = bool(text.strip(".,;-[]() \t\n"))
    return has_grades and _TYPED.issuperset(text) and not os.path.exists(text)


def read_list(options: argparse.Namespace, place: int = 0) -> list[Any]:
    """Read a LIST of grades. Raises InputError for options that it does not take."""
    for name in ("query", *POLICY):
        if name not in ("relevant", "dialect") and getattr(options, name, None) is not None:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for QRELS and RUN; a LIST is taken in the order given.")
    if isinstance(options.relevant, str):
        raise InputError(
            f"--relevant {options.relevant} is for QRELS and RUN; with a LIST, --relevant takes"
            " the number of relevant items."
        )
    return read_grades(options.data[place])


def read_grades(listed: str) -> list[Any]:
    if os.path.exists(listed):
        raise InputError(f"{listed} is a file; give QRELS and RUN, or a LIST such as '0 0 1'.")
    return [*read_typed(listed)]


# --- The parser -----------------------------------------------------------------------------------


class _Store(argparse.Action):
    """Stores a value; names such as those of columns are added to those before."""

    def __call__(self, _: object, namespace: Any, values: Any, *__: object) -> None:
        before = getattr(namespace, self.dest, None)
        if isinstance(values, dict) and isinstance(before, dict) and before is not self.default:
            try:
                values = merge_names(before, values)
            except argparse.ArgumentTypeError as error:
                raise argparse.ArgumentError(self, str(error)) from None
        setattr(namespace, self.dest, values)


class _HelpAll(argparse.Action):
    """Prints the help with all options."""

    def __call__(self, parser: Any, *_: object) -> None:
        parser.show_all()
        parser.print_help()
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line, and takes no abbreviated options."""

    most = 14
    """The most options of a command whose help shows them all."""

    command = ""
    """The command that is run."""

    advise_command: Callable[[str], str] | None = None
    """Advises what to type instead of a word that is no command."""

    add_siblings: Callable[[], None] | None = None
    """Adds the other commands of the same name, whose options a message may name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self.rare: list[argparse.Action] = []
        self._shows_all = False

    def _list_hidden(self) -> list[argparse.Action]:
        """List the options that --help leaves to --help-all."""
        optional = [action for action in self._actions if not action.required]
        return self.rare if len(optional) > self.most else []

    def add_help_for_all(self) -> None:
        """Add --help-all, once the parser has its options and where some of them are rare."""
        if self._list_hidden():
            text = "show all options, including those that few people need"
            self.add_argument("--help-all", action=_HelpAll, nargs=0, help=text)

    def show_all(self) -> None:
        self._shows_all = True

    def format_help(self) -> str:
        """Format the help: the options that people use, or all of them."""
        hidden = self._list_hidden()
        if self._shows_all or not hidden:
            return super().format_help()
        texts = [(action, action.help) for action in hidden]
        titles = [(group, group.title) for group in self._action_groups[2:]]
        usage, self.usage = self.usage, self.usage or self._write_usage()
        for action, _ in texts:
            action.help = argparse.SUPPRESS
        for group, _ in titles:
            group.title = None
        try:
            return re.sub(r"\n\n(?=  -)", "\n", super().format_help())
        finally:
            self.usage = usage
            for action, text in texts:
                action.help = text
            for group, title in titles:
                group.title = title

    def _write_usage(self) -> str:
        """Write the usage with the arguments that a call needs."""
        needed = [
            action for action in self._actions if action.required or not action.option_strings
        ]
        formatter = self._get_formatter()
        formatter.add_usage(None, needed, [], prefix="")
        usage = formatter.format_help().strip().replace("%", "%%")
        return usage.replace(self.prog, "%(prog)s [options]", 1)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help and version like other output; argparse would ignore a failed write."""
        if file is not sys.stdout:
            super()._print_message(message, file)
            return
        file.write(message)
        file.flush()

    def error(self, message: str) -> NoReturn:
        if unknown := re.match(r"argument COMMAND: invalid choice: '([^']*)'", message):
            advice = self.advise_command(unknown[1]) if self.advise_command else ""
            message = f"no command '{unknown[1]}'.{advice}"
        elif unknown := re.match(r"unrecognized arguments: (\S+)", message):
            if self.add_siblings:
                self.add_siblings()
            commands = [a.choices for a in self._actions if isinstance(a.choices, dict)]
            parsers = {name: parser for choices in commands for name, parser in choices.items()}
            near = _advise(message.split()[2:], parsers, self.command)
            message += "." + (near or f" {_advise_quotes(self.command)}")
        say(f"{self.prog}: {message}  See: {self.prog} --help")
        self.exit(WRONG)


def list_options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """List the options of a parser and of its commands, as they are typed."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield from list_options(command)


def _advise_quotes(command: str) -> str:
    """Say what to do with further words, which may be a second list or a second measure."""
    if command == "score":
        return (
            "Words that belong together need quotes, as in '0 0 1'. A second list is for explain."
        )
    return "Words that belong together need quotes, as in '0 0 1' or -m 'AP@10 nDCG@10'."


def _advise(
    unknown: list[str], parsers: Mapping[str, argparse.ArgumentParser], command: str
) -> str:
    """Say how an unknown option, whose value may follow it, is given here: that of a verb, of
    another tool, or one alike.
    """
    option, equals, value = unknown[0].partition("=")
    if not option.startswith("-"):
        return ""
    names = {name: set(list_options(parser)) for name, parser in parsers.items()}
    if having := [name for name, options in names.items() if option in options]:
        return f" {option} is an option of {parsers[having[0]].prog}."
    options = names.get(command) or set().union(*names.values())
    if command.startswith("boxes"):
        from germane.boxes.conventions import translate_option

        for verb in (command, "boxes"):
            spellings = [name.removeprefix("--").replace("-", "_") for name in names[verb]]
            advice = translate_option(
                option, spellings, lambda name: f"--{name.replace('_', '-')} "
            )
            if advice:
                return f" {advice}" if verb == command else f" germane boxes has it: {advice}"
        return suggest(option, options)
    value = value if equals else "".join(unknown[1:2])
    return _suggest_argument(option, value, options) or suggest(option, options)


def _suggest_argument(option: str, value: str, options: Collection[str]) -> str:
    """Suggest the option that a usual name of other tools stands for, with its value."""
    from germane.evaluation.choices import advise_argument

    def write(argument: str) -> str | None:
        """Write the option of an argument, or of a single measure."""
        name = f"--{argument.replace('_', '-')}"
        has = [spelling for spelling in (name, name.removesuffix("s")) if spelling in options]
        return f"{has[0]} " if has else None

    number = float(value) if re.fullmatch(r"-?\d{0,9}\.?\d{1,9}", value, re.ASCII) else None
    plain = int(number) if number is not None and number.is_integer() else number
    return advise_argument(option.lstrip("-").replace("-", "_"), plain, write=write)
