"""Lists of a fixed length that are padded with -1: told as what it is, and taken out by the option that the message names."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane

from test_cli import run as call

pandas = pytest.importorskip("pandas")
import polars  # noqa: E402

IDS = np.array(
    [[3, 1, 2], [5, -1, -1], [-1, -1, -1]]
)  # of users 10, 11 and 12, as implicit returns them
SCORES = np.array([[0.9, 0.5, 0.4], [0.7, -3.4e38, -3.4e38], [-3.4e38] * 3])
USERS = [10, 11, 12]
QRELS = {10: {1: 1}, 11: {5: 1, 6: 1}, 12: {7: 1}}
LISTS = dict(zip(USERS, IDS.tolist(), strict=True))
ROWS = {
    "query": np.repeat(USERS, 3),
    "item": IDS.ravel(),
    "score": SCORES.ravel(),
    "rank": np.tile([1, 2, 3], 3),
}
MEASURES = "RR P@2 R NumRet"


def make_rows(*names: str) -> dict[str, Any]:
    return {name: ROWS[name] for name in names}


def write_csv(folder: Path, *names: str) -> Path:
    path = folder / "run.csv"
    pandas.DataFrame(make_rows(*names)).to_csv(path, index=False)
    return path


def write_trec(folder: Path) -> Path:
    path = folder / "padded.run"
    rows = zip(*(ROWS[name].tolist() for name in ("query", "item", "rank", "score")), strict=True)
    path.write_text("".join(f"{q} Q0 {item} {rank} {score} tag\n" for q, item, rank, score in rows))
    return path


RUNS = {
    "pandas": lambda folder: pandas.DataFrame(make_rows("query", "item", "score")),
    "pandas with ranks": lambda folder: pandas.DataFrame(make_rows("query", "item", "rank")),
    "pandas of text": lambda folder: pandas.DataFrame(make_rows("query", "item", "score")).astype({"item": str, "query": str}),
    "pandas categories": lambda folder: pandas.DataFrame(make_rows("query", "item", "score")).astype({"item": str, "query": str}).astype({"item": "category"}),
    "Polars": lambda folder: polars.DataFrame(make_rows("query", "item", "score")),
    "lists": lambda folder: LISTS,
    "lists of floats": lambda folder: {user: [*map(float, row)] for user, row in LISTS.items()},
    "text of floats": lambda folder: {
        str(user): [str(float(item)) for item in row] for user, row in LISTS.items()
    },
    "hits": lambda folder: {
        user: [{"id": item, "score": score} for item, score in zip(*row, strict=True)]
        for user, row in zip(USERS, zip(IDS.tolist(), SCORES.tolist(), strict=True), strict=True)
    },
    "CSV": lambda folder: write_csv(folder, "query", "item", "score"),
    "CSV with ranks": lambda folder: write_csv(folder, "query", "item", "rank"),
    "TREC": write_trec,
}  # fmt: skip


def read_qrels(name: str) -> dict[Any, Any]:
    if name == "text of floats":
        return {
            str(user): {str(float(item)): 1 for item in judged} for user, judged in QRELS.items()
        }
    if "text" in name or "categories" in name:
        return {str(user): {str(item): 1 for item in judged} for user, judged in QRELS.items()}
    return QRELS


def evaluate(name: str, run: Any, **choices: Any) -> dict[str, list[float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        result = germane.evaluate(read_qrels(name), run, MEASURES, **choices)
    assert result.counts.answered == 3
    return {measure: list(one.per_query.values()) for measure, one in result.items()}


# user 10: item 1 at rank 2 of 3; user 11: item 5 at rank 1 of 1, of two relevant; user 12: nothing
EXPECTED = {"RR": [1 / 2, 1, 0], "P@2": [1 / 2, 1 / 2, 0], "R": [1, 1 / 2, 0], "NumRet": [3, 1, 0]}


@pytest.mark.parametrize("name", RUNS)
def test_padding_is_named_and_the_option_takes_it_out(name: str, tmp_path: Path) -> None:
    run = RUNS[name](tmp_path)
    with pytest.raises(
        germane.errors.DuplicateError, match="It pads lists of a fixed length"
    ) as error:
        evaluate(name, run)
    assert "-1" in str(error.value)
    advised = dict(re.findall(r"(\w+)=(\w+) takes it out", str(error.value)))
    assert advised == {"padding": "drop"}
    assert "duplicates=" not in str(error.value)
    assert evaluate(name, run, **advised) == EXPECTED
    run = RUNS[name](tmp_path)
    [repeated] = [one for one in germane.check(read_qrels(name), run) if "repeated" in one.what]
    assert "the id -1" in repeated.says
    assert dict(re.findall(r"(\w+)=(\w+)", repeated.advice)) == advised
    found = germane.check(read_qrels(name), RUNS[name](tmp_path), padding="drop")
    assert not [one for one in found if "repeated" in one.what or "padding" in one.what]


@pytest.mark.parametrize("item", [-1, -1.0, "-1", "-1.0", np.int32(-1), np.float32(-1)])
def test_a_single_row_of_padding_is_a_finding(item: Any) -> None:
    judged = "a" if isinstance(item, str) else 7
    for run in ([judged, item], {judged: 0.5, item: 0.1}):
        with pytest.warns(germane.GermaneWarning, match="1 result in 1 query has the id -1"):
            germane.evaluate({"q": {judged: 1}}, {"q": run}, "NumRet")
        result = germane.evaluate({"q": {judged: 1}}, {"q": run}, "NumRet", padding="drop")
        assert result["NumRet"].mean == 1


def test_arrays_have_the_same_numbers_without_the_option() -> None:
    places = np.where(IDS < 0, -1, IDS)
    qrels = [set(judged) for judged in QRELS.values()]
    result = germane.evaluate(qrels, places, MEASURES)
    assert {measure: list(one.per_query.values()) for measure, one in result.items()} == EXPECTED
    same = germane.evaluate(qrels, places, MEASURES, padding="drop")
    assert {measure: list(one.per_query.values()) for measure, one in same.items()} == EXPECTED


@pytest.mark.parametrize("duplicates", ["first", "last", "keep"])
def test_padding_is_a_finding_where_repeated_items_are_no_error(duplicates: str) -> None:
    """Users without recommendations would count as answered, with the item -1."""
    run = pandas.DataFrame(make_rows("query", "item", "score"))
    with pytest.warns(germane.GermaneWarning, match="id -1"):
        result = germane.evaluate(QRELS, run, "NumRet", duplicates=duplicates)
    [finding] = [one for one in result.findings if one.what == "padding among the results"]
    assert finding.severity == "serious"
    assert "in 2 queries" in finding.says
    [(name, word)] = re.findall(r"(\w+)=(\w+)", finding.advice)
    fixed = germane.evaluate(QRELS, run, "NumRet", duplicates=duplicates, **{name: word})
    assert fixed["NumRet"].mean == 4
    assert not [one for one in fixed.findings if one.what == "padding among the results"]
    found = germane.check(QRELS, run, duplicates=duplicates)
    assert [one.count for one in found if one.what == "padding among the results"] == [
        5 if duplicates == "keep" else 2
    ]
    fixed = germane.check(QRELS, run, duplicates=duplicates, padding="drop")
    assert not [one for one in fixed if "padding" in one.what or "repeat" in one.what]


def test_a_judged_item_of_that_id_is_an_item() -> None:
    run = {"q": [-1, 2]}
    result = germane.evaluate({"q": {-1: 1, 2: 0}}, run, "RR")
    assert result["RR"].mean == 1
    assert not [one for one in result.findings if "padding" in one.what]


def test_documents_of_padded_chunks(tmp_path: Path) -> None:
    groups = {1: "a", 2: "a", 3: "b", 5: "c"}
    qrels = {10: {"a": 1}, 11: {"c": 1}, 12: {"b": 1}}
    for name in ("pandas", "lists", "hits"):
        result = germane.evaluate(
            qrels, RUNS[name](tmp_path), "RR NumRet", collapse=groups, padding="drop"
        )
        assert list(result["RR"].per_query.values()) == [1 / 2, 1, 0]
        assert list(result["NumRet"].per_query.values()) == [2, 1, 0]
        assert result.counts.collapsed == 4


def test_on_the_command_line(tmp_path: Path) -> None:
    lines = (f"{user} 0 {item} 1" for user, judged in QRELS.items() for item in judged)
    (tmp_path / "qrels.txt").write_text("\n".join(lines) + "\n")
    write_trec(tmp_path)
    done = call(tmp_path, "evaluate", "qrels.txt", "padded.run", "-m", "RR")
    assert done.returncode == 2
    assert b"It pads lists of a fixed length" in done.stderr
    advised = re.findall(r"(--\w+) (\w+) takes it out", done.stderr.decode())
    assert advised == [("--padding", "drop")]
    words = ("evaluate", "qrels.txt", "padded.run", "-m", "RR", *advised[0], "--format", "csv")
    done = call(tmp_path, *words)
    assert float(done.stdout.decode().split(",")[-1]) == 0.5
    for verb in (
        ("explain", "--query", "11"),
        ("check",),
        ("compare", "padded.run.copy"),
        ("curve", "--query", "11"),
    ):
        if verb[0] == "compare":
            (tmp_path / "padded.run.copy").write_text((tmp_path / "padded.run").read_text())
        words = [verb[0], "qrels.txt", "padded.run", *verb[1:], "--padding", "drop"]
        assert call(tmp_path, *words).returncode == 0, words
