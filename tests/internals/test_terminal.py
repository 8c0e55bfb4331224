"""Text for a terminal: messages in the words of the command line, and hostile ids that stay text."""

import pytest

import germane
from germane.cli import terminal
from germane.cli.terminal import as_options

from test_hostile import HOSTILE, check_json, judged, one_line


@pytest.mark.parametrize(
    ("python", "spelled"),
    [
        ("a. columns={'query': name} names another.", "a. --columns query=name names another."),
        ("columns={'rank': None} does", "--columns rank= does"),
        ("columns={'score': '25'}", "--columns score=25"),
        (
            "by columns={'score': name, 'rank': None}.",
            "by --columns score=name,rank=.",
        ),
        ("columns={'relevance': 'score'} says so", "--columns relevance=score says so"),
        ("columns= names the columns", "--columns names the columns"),
        ("columns={'query': …} takes the name", "--columns query=… takes the name"),
        ("(input_format='parquet')", "(--input-format parquet)"),
        ("input_format takes trec", "--input-format takes trec"),
        ("max_expansion=none reads it", "--max-expansion none reads it"),
        ("are input_format={'run': 'jsonl'}.", "are --input-format run=jsonl."),
        ("the columns of input_formats", "the columns of input_formats"),
        ("columns=3/w.csv: no column", "columns=3/w.csv: no column"),
        ("input_format/w.csv: no", "input_format/w.csv: no"),
        ("found 'input_format', 'columns={x}'", "found 'input_format', 'columns={x}'"),
    ],
)
def test_errors_in_the_words_of_the_command_line(python: str, spelled: str) -> None:
    assert as_options(python) == spelled


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
