"""JSON files of nested objects: their numbers are in test_inputs.py; here are what is refused, and ids."""

import json
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import cli
from germane.errors import GermaneError

QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 2}}
RUN = {"1": {"b": 0.9, "a": 0.5}, "2": {"a": 0.1}}

BAD = {
    "nothing": ("", "x.json: the file is empty."),
    "blanks": (" \n", "x.json: the file is empty."),
    "no query": ("{}", "x.json: there are no queries."),
    "cut off": ('{"q": {', "x.json:1, column 8: this is not JSON"),
    "no colon": ('{"q": {"d": 1},\n "r": {"d" 3}}', "x.json:2, column 12: this is not JSON"),
    "lists, too deep": ("[" * 1_000_000, "x.json: the values are nested too deeply."),
    "objects, too deep": ('{"q":' * 1_000_000, "x.json: the values are nested too deeply."),
    "JSON Lines": ('{"q": {}}\n{"r": {}}', "Are these JSON Lines? input_format=jsonl reads them."),
    "rows": (
        '[{"query_id": "1"}]',
        "got a list.  Rows need a column of queries and one of items, such as query_id",
    ),
    "text": ('"q"', "got text, 'q'."),
    "a number for a query": ('{"q": 3}', "x.json, query 'q': "),
    "null for a query": ('{"q": null}', "got null."),
    "NaN": ('{"q": {"d": NaN}}', "x.json, query 'q', item 'd': "),
    "infinity": ('{"q": {"d": -Infinity}}', "must be a finite number; got -inf"),
    "beyond a double": ('{"q": {"d": 1e999}}', "must be a finite number; got inf"),
    "very many digits": ('{"q": {"d": %s}}' % ("9" * 5000), "must be a finite number; got inf"),
    "text for a number": ('{"q": {"d": "1"}}', "is a number; got text, '1'."),
    "truth for a number": ('{"q": {"d": true}}', "is a number; got a truth value, True."),
    "null for a number": ('{"q": {"d": null}}', "is a number; got null."),
    "one level more": ('{"q": {"d": {"x": {"y": 1}}}}', "a number; got an object."),
    "pairs": (
        '{"q": [["d", 1]]}',
        "a list contains items, which are text or integers; got a list.",
    ),
    "a float for an item": ('{"q": [1.5]}', "got a number, 1.5."),
    "an item twice": ('{"q": {"d": 1, "e": 2, "d": 3}}', "x.json, query 'q': duplicate item 'd'."),
    "a query twice": ('{"q": {"d": 1}, "q": {}}', "x.json: duplicate query 'q'."),
    "Latin-1": (b'{"1":\n{"caf\xe9": 1}}', "x.json:2: the file is not UTF-8: it has the byte 0xe9"),
    "UTF-16": ('{"1": {"a": 1}}'.encode("utf-16"), "x.json: the file is UTF-16; save it as UTF-8."),
}


@pytest.mark.parametrize("side", ["qrels", "run"])
@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name: str, side: str, tmp_path: Path) -> None:
    held, message = BAD[name]
    path = tmp_path / "x.json"
    path.write_bytes(held if isinstance(held, bytes) else held.encode())
    given = {"qrels": QRELS, "run": RUN, side: path}
    with pytest.raises(GermaneError) as error:
        germane.evaluate(given["qrels"], given["run"])
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_queries_of_two_shapes_are_refused_in_a_run_alone(tmp_path: Path) -> None:
    path = _store(tmp_path / "x.json", {"1": ["a"], "2": {"a": 1}})
    assert germane.evaluate(path, RUN, "RR")["RR"].per_query == {"1": 0.5, "2": 1.0}
    with pytest.raises(
        germane.errors.FormatError, match="query '2': the results are an object, but those"
    ):
        germane.evaluate(QRELS, path)


@pytest.mark.parametrize("qrels", [QRELS, {1: {"a": 1, "b": 0}, 2: {"a": 2}}, "file"])
@pytest.mark.parametrize("run", [RUN, {"1": ["b", "a"], "2": ["a"]}])
def test_integers_are_their_digits(qrels: Any, run: Any, tmp_path: Path) -> None:
    if qrels == "file":
        qrels = _store(tmp_path / "q.json", QRELS)
    found = germane.evaluate(qrels, _store(tmp_path / "r.json", run), "AP")
    assert list(found["AP"].per_query.values()) == [0.5, 1.0]
    whole = {1: {7: 1}}
    listed = _store(tmp_path / "l.json", {"1": [5, 7]})
    assert germane.evaluate(whole, listed, "RR")["RR"].mean == 0.5
    assert germane.evaluate(listed, {1: {7: 2.0, 9: 1.0}}, "P@1")["P@1"].mean == 1.0


def test_a_duplicate_in_a_list_is_for_the_policy(tmp_path: Path) -> None:
    listed = _store(tmp_path / "l.json", {"1": ["x", "x", "a"]})
    with pytest.raises(
        germane.errors.DuplicateError, match=r"l\.json, query '1': item 'x' is retrieved"
    ):
        germane.evaluate(QRELS, listed)
    found = germane.evaluate(QRELS, listed, "RR", duplicates="first", missing="skip")
    assert found["RR"].mean == 0.5


def test_every_command_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = _store(tmp_path / "q.json", QRELS), _store(tmp_path / "r.json", RUN)
    assert cli.main(["evaluate", qrels, run, "-m", "AP", "--format", "tsv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "r\t0.75"
    listed = _store(tmp_path / "l.json", {"1": ["a"], "2": ["a"]})
    page = ["-o", str(tmp_path / "page.html")]
    for command in (["check"], ["explain", "--query", "1"], ["compare", listed], ["report", *page]):
        assert cli.main([command[0], qrels, run, *command[1:]]) == 0, command
    other = tmp_path / "run.data"
    other.write_bytes(Path(run).read_bytes())
    assert cli.main(["evaluate", qrels, str(other), "--input-format", "run=json,qrels=json"]) == 0


def _store(path: Path, held: Any) -> str:
    path.write_text(json.dumps(held))
    return str(path)
