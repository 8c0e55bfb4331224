"""Text for a terminal: messages in the words of the command line, and hostile ids that stay text."""

from typing import Any

import pytest

import germane
from germane.cli import terminal
from germane.core.finding import Finding
from germane.errors import speak_as_command, write_option

from test_hostile import HOSTILE, check_json, judged, one_line

MESSAGES: tuple[tuple[str, Any, str, str], ...] = (
    ("ties", "given", "ties=given", "--ties given"),
    ("no_relevant", "skip", "no_relevant=skip", "--no-relevant skip"),
    ("columns", "", "columns=", "--columns"),
    ("columns", {"query": "name"}, "columns={'query': name}", "--columns query=name"),
    ("columns", {"rank": None}, "columns={'rank': None}", "--columns rank="),
    ("columns", {"score": "25"}, "columns={'score': '25'}", "--columns score=25"),
    ("columns", {"query": "…"}, "columns={'query': …}", "--columns query=…"),
    ("columns", {"score": "name", "rank": None}, "columns={'score': name, 'rank': None}",
     "--columns score=name,rank="),
    ("input_format", {"run": "jsonl"}, "input_format={'run': 'jsonl'}", "--input-format run=jsonl"),
    ("group", "[3, 2]", "group=[3, 2]", "group=[3, 2]"),  # which no command has
)  # fmt: skip


@pytest.mark.parametrize(("name", "value", "python", "command"), MESSAGES)
def test_an_option_is_spelled_for_its_reader(
    name: str, value: Any, python: str, command: str
) -> None:
    message = f"Use {write_option(name, value)}, and not {{'columns={{}}'}}."
    expected = "Use {}, and not {{'columns={{}}'}}."
    assert str(germane.errors.InputError(message)) == expected.format(python)
    has = {"--ties", "--no-relevant", "--columns", "--input-format"}
    with speak_as_command(has):
        assert str(germane.errors.InputError(message)) == expected.format(command)
        finding = Finding("note", "kind", message, 1, advice=message)
    assert finding.says == finding.advice == expected.format(command)
    assert str(germane.errors.InputError(message)) == expected.format(python)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_message_is_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = HOSTILE[name]
    for wrong in (
        {named: {named: "x"}},
        {named: {named: float("nan")}},
        {named: [named, named]},
        {named: 3},
    ):
        with pytest.raises(germane.GermaneError) as error:
            germane.evaluate({named: {named: 1}}, wrong, "AP")
        terminal.say(str(error.value))
    one_line(capsys.readouterr().err)


@pytest.mark.parametrize("name", HOSTILE)
def test_json_keeps_ids_exactly(name: str) -> None:
    named = HOSTILE[name]
    qrels, run, _ = judged(named)
    results = germane.evaluate_many(qrels, {named: run}, "AP")
    read = check_json(terminal.as_json(results.to_dict(queries=True)))
    (one,) = read["runs"]
    assert one["name"] == named
    assert named in one["queries"]
    explained = germane.explain(qrels, run, "AP", query=named)
    assert check_json(terminal.as_json(explained.to_dict()))["query"] == named
