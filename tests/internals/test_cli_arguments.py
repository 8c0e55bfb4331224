"""Every argument of a function is one of its command, and the other way round, or a reason is stated."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pytest

import germane
from germane import cli
from germane.cli import boxes, everyday, occasional, parser
from germane.cli.arguments import InputPath
from germane.cli.options import LEFT_OUT, OPTIONS, PATHS, RARE, find_row
from germane.cli.parser import STAND_FOR, Command, call, find_verbs
from germane.evaluation.choices import COMMANDS as PAIRS

ROWS: dict[str, Command] = {
    name: row
    for module in (everyday, occasional, occasional, occasional, boxes)
    for name, row in module.COMMANDS.items()
}
[PARSERS] = [
    action.choices
    for action in cli._make_parser(["", *cli.COMMANDS])._actions
    if isinstance(action.choices, dict)
]

ALONE = {
    "help": "help(function)",
    "help_all": "help(function)",
    "output": "open(path, 'w')",
    "format": "a method of the result: table().csv(), to_dict()",
    "spreadsheet": "table().csv(reader='spreadsheet')",
    "per_query": "result.table_per_query()",
    "evaluate by": "result.by(groups)",
    "boxes by": "result.by(part)",
    "boxes explain worst": "explanation.rank_images(most)",
    "curve by": "mean_pr_curve(…).by(groups)",
    "evaluate confidence": "result.table(confidence=)",
    "evaluate bounds": "result.bounds()",
    "compare bounds": "result.bounds()",
    "rename": "result.table(rename=)",
    "signature": "result.signature(measure)",
    "record": "result.to_dict()",
    "checkpoint": "Evaluator",
    "animate": "animate(explanation, path)",
    "dataset": "compare({name: results})",
    "view": "a method of the comparison",
    "shares": "matrix.shares, table(show=)",
    "cell": "matrix.cell(truth, detection)",
    "most": "comparison.queries(…).table(most=)",
    "github": "of the place where a command runs",
    "strict": "checkup.serious",
    "rule": "curve.area(rule)",
    "table": "reconcile_table(reported=)",
    "names": "reconcile_table(measures=)",
    "command": "a function that starts the program",
    "pattern": "a function that reads its output",
    "time_limit": "a function that stops it",
    "asserts": "assert_computes",
    "detect": "difference.plan(difference)",
    "errors": "explanation.errors",
    "measures name": "parse(name).explanation",
}
"""Arguments that commands have alone, with what takes their place in Python."""
WITHOUT_FUNCTION = {"trec_eval"}  # it has the arguments of NIST's program
SAID_OTHERWISE = {"ties", "boxes report measures", "boxes measures", "boxes depth", "boxes iou"}
"""Options whose help says the default in other words."""


def list_dests(command: str) -> set[str]:
    """The arguments of a command by their names in Python."""
    dests = {action.dest for action in PARSERS[command]._actions}
    for place, names in STAND_FOR.items():
        if place in dests:
            dests = dests - {place} | names
    return dests


def list_parameters(command: str) -> set[str]:
    """The arguments of the functions behind a command, as their signatures show them."""
    shown: set[str] = set()
    for verb in find_verbs(command, ROWS[command]):
        parameters = dict(inspect.signature(verb).parameters)
        if rare := parameters.pop("conventions", None):
            shown |= {*rare.annotation.words}
        shown |= {*parameters}
    return shown


def find_missing() -> Iterator[tuple[str, str]]:
    for command in ROWS:
        for name in sorted(list_parameters(command) - list_dests(command)):
            yield command, name


def find_surplus() -> Iterator[tuple[str, str]]:
    for command in ROWS:
        stands = set().union(*STAND_FOR.values()) if "data" in ROWS[command].places else set()
        for name in sorted(list_dests(command) - list_parameters(command) - stands):
            yield command, name


def test_every_command_is_here() -> None:
    assert {*ROWS} == {*PARSERS} - WITHOUT_FUNCTION
    assert {command.partition(" ")[0] for command in ROWS} | WITHOUT_FUNCTION == {*cli.COMMANDS}


def test_no_argument_is_missing_on_the_command_line() -> None:
    missing = [pair for pair in find_missing() if find_row(*pair, LEFT_OUT) is None]
    assert not missing


def test_no_argument_is_missing_in_python() -> None:
    surplus = [pair for pair in find_surplus() if find_row(*pair, ALONE) is None]
    assert not surplus


def test_every_reason_is_needed() -> None:
    used = {find_row(command, name, LEFT_OUT) for command, name in find_missing()}
    assert {*LEFT_OUT} - used == set()
    assert {*ALONE} - {find_row(*pair, ALONE) for pair in find_surplus()} == set()


def test_every_row_of_the_table_is_used() -> None:
    used = {
        find_row(command, action.dest) for command in ROWS for action in PARSERS[command]._actions
    }
    assert {*OPTIONS} - used == set()
    assert RARE.keys() < OPTIONS.keys()


@pytest.mark.parametrize("command", ROWS)
def test_every_argument_has_a_sentence(command: str) -> None:
    for action in PARSERS[command]._actions:
        assert action.help, action.dest
        assert action.nargs == 0 or action.metavar, action.dest


@pytest.mark.parametrize("command", ROWS)
def test_arguments_by_place_stand_in_the_order_of_the_function(command: str) -> None:
    places = [action.dest for action in PARSERS[command]._actions if not action.option_strings]
    for verb in find_verbs(command, ROWS[command]):
        names = [name for name in inspect.signature(verb).parameters if name in places]
        assert names == [place for place in places if place in names]
        if "data" not in places:
            assert names == [*inspect.signature(verb).parameters][: len(names)]


@pytest.mark.parametrize("command", ROWS)
def test_words_and_defaults_are_those_of_the_function(command: str) -> None:
    for verb in reversed(find_verbs(command, ROWS[command])):
        for name, parameter in inspect.signature(verb).parameters.items():
            key, default = find_row(command, name), parameter.default
            actions = [action for action in PARSERS[command]._actions if action.dest == name]
            if not actions or not actions[0].option_strings or ROWS[command].conventions:
                continue
            metavar, says = str(actions[0].metavar), str(actions[0].help)
            kind = str(parameter.annotation)
            literal = re.match(r"Literal\[(.*?)\]", kind)
            words = getattr(parameter.annotation, "words", ()) or (
                ast.literal_eval(f"({literal[1]},)") if literal else ()
            )
            assert not words or metavar.removesuffix("|R") == "|".join(map(str, words)), name
            if isinstance(default, (str, int, float)) and not isinstance(default, bool):
                text = f"{default:g}" if isinstance(default, float) else str(default)
                assert f"(default: {text}" in says.replace("'", "") or key in SAID_OTHERWISE, name


@pytest.mark.parametrize(("command", "function"), PAIRS.items())
def test_each_of_a_pair_names_the_other(
    command: str, function: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    assert re.search(
        rf"In\s+Python:\s+germane\.{re.escape(function)}$", capsys.readouterr().out, re.MULTILINE
    )
    verb: Any = germane
    for part in function.split("."):
        verb = getattr(verb, part)
    assert str(inspect.getdoc(verb)).endswith(f"``germane {command}``")


def test_the_pairs_are_those_whose_names_differ() -> None:
    for command, row in ROWS.items():
        verbs = find_verbs(command, row)
        name = PAIRS.get(command, command).split(".")[-1].split()[-1]
        assert not verbs or name in [verb.__name__ for verb in verbs], command


@pytest.mark.parametrize("command", [*ROWS])
def test_the_help_is_a_page(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    assert len(capsys.readouterr().out.splitlines()) <= 40


def test_pictures_are_those_that_are_drawn() -> None:
    from germane.presentation import pictures

    assert parser.PICTURES == pictures.FORMATS


def test_paths_are_read_as_paths() -> None:
    for command in ROWS:
        for action in PARSERS[command]._actions:
            if action.metavar in PATHS and "--output" not in action.option_strings:
                assert isinstance(action.type, type), (command, action.dest)


def test_a_new_argument_is_an_option_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs no row: it has its words, its type and its default."""

    def verb(
        qrels: Any,
        *,
        color: Literal["red", "blue"] = "red",
        share: float = 0.5,
        amount: int | None = None,
        other: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        return locals()

    monkeypatch.setattr(parser, "find_verbs", lambda *_: [verb])
    commands = parser.Parser(prog="germane").add_subparsers()
    parser.add_command(commands, "new", Command(lambda _: None, "", "qrels"), None)
    new = commands.choices["new"]
    given = new.parse_args(
        ["q.txt", "--color", "blue", "--share", ".25", "--amount", "3", "--other", "x.txt"]
    )
    assert call(verb, given) == {
        "qrels": "q.txt", "color": "blue", "share": 0.25, "amount": 3, "other": "x.txt"
    }  # fmt: skip
    assert isinstance(given.other, InputPath)
    assert "--color red|blue" in new.format_help()
    assert "(default: 0.5)" in new.format_help()
    with pytest.raises(SystemExit):
        new.parse_args(["q.txt", "--color", "green"])


def test_the_list_of_commands_imports_none_of_them() -> None:
    """``germane --help`` is the first thing that a stranger waits for."""
    code = (
        "import sys\nfrom germane.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {*done.stdout.split()}
    assert "germane.cli.parser" in loaded
    assert not {f"germane.cli.{module}" for module in ("everyday", "occasional", "boxes")} & loaded
