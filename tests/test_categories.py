"""--by FILE: the categories of queries from files, as Result.by() takes them from Python."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import germane
from germane import cli
from germane.errors import GermaneError

QRELS = "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n"
RUN = "q1 Q0 a 1 1 t\nq2 Q0 x 1 2 t\nq2 Q0 a 2 1 t\nq3 Q0 a 1 1 t\n"
CATEGORIES = {"q1": "cats", "q2": "dogs", "q3": "cats"}
EXPECTED = ["run\tcategory\tqueries\tRR", "r\tcats\t2\t1.0", "r\tdogs\t1\t0.5"]

FILES = {
    "c.csv": "query,category\nq1,cats\nq2,dogs\nq3,cats\n",
    "reversed.csv": "category,query\ncats,q1\ndogs,q2\ncats,q3\n",
    "any_name.csv": "qid,kind of pet\nq1,cats\nq2,dogs\nq3,cats\n",
    "more.csv": "qid,length,class\nq1,1,cats\nq2,2,dogs\nq3,3,cats\n",
    "no_header.tsv": "q1\tcats\nq2\tdogs\nq3\tcats\n",
    "other_suffix.txt": "q1\tcats\nq2\tdogs\nq3\tcats\nq3\tcats\nq9\tbirds\n",
    "c.json": json.dumps(CATEGORIES),
    "c.jsonl": "".join(json.dumps({"qid": q, "type": c}) + "\n" for q, c in CATEGORIES.items()),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text(QRELS)
    Path("r.run").write_text(RUN)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_every_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        cli.main(["evaluate", "q.txt", "r.run", "-m", "RR", "--by", name, "--format", "tsv"]) == 0
    )
    macro, micro = (1.0 + 0.5) / 2, (1.0 + 0.5 + 1.0) / 3
    rows = [f"r\tmacro\t3\t{macro}", f"r\tmicro\t3\t{micro}"]
    assert capsys.readouterr().out.splitlines() == [*EXPECTED, *rows]


def test_in_python() -> None:
    result = germane.evaluate("q.txt", "r.run", "RR")
    assert result.by("c.csv")["dogs"]["RR"].mean == 0.5
    several = germane.evaluate_many("q.txt", {"a": "r.run", "b": "r.run"}, "RR").by(CATEGORIES)
    assert several["b"].macro["RR"] == 0.75
    assert [run["name"] for run in several.to_dict()["runs"]] == ["a", "b"]
    pa.parquet.write_table(pa.table({"user": [1, 2], "segment": ["new", "old"]}), "c.parquet")
    whole = germane.evaluate({1: ["a"], 2: ["a"]}, {1: ["a"], 2: ["b"]}, "RR")
    assert whole.by(Path("c.parquet"))["old"]["RR"].mean == 0.0
    Path("c.tsv").write_text("1\tnew\n2\told\n")
    assert whole.by("c.tsv")["new"]["RR"].mean == 1.0


@pytest.mark.parametrize("library", ["pyarrow.table", "pandas.DataFrame", "polars.DataFrame"])
def test_frames(library: str) -> None:
    module, name = library.split(".")
    make: Callable[[dict[str, list[Any]]], Any] = getattr(pytest.importorskip(module), name)
    users = {1: ["a"], 2: ["a"]}
    results = germane.evaluate_many(users, {"r": {1: ["a"], 2: ["b"]}}, "RR")
    frame = make({"age": [30, 40, 50], "user_id": [1, 2, 3], "segment": ["new", "old", "old"]})
    assert results["r"].by(frame).counts == results.by(frame)["r"].counts == {"new": 1, "old": 1}
    assert results["r"].by(frame)["old"]["RR"].mean == 0.0
    with pytest.raises(GermaneError, match="no category for 1, 2"):
        results.by(make({"user_id": ["1", "2"], "segment": ["new", "old"]}))
    with pytest.raises(GermaneError, match="query 1 has two categories, 'new' and 'old'"):
        results.by(make({"user_id": [1, 1], "segment": ["new", "old"]}))


WRONG = {
    "query,category\nq1,cats\nq1,dogs\n": "query 'q1' has two categories, 'cats' and 'dogs'.",
    "query,category\nq1,cats\n": "no category for 'q2', 'q3' (2 of 3 queries).",
    "qid,a,b\nq1,1,2\n": "two columns are needed, a query and its category; found 'qid', 'a', 'b'.",
    "qid,a,b\nq2,1,2\n": "any where there are two columns. Leave out the other columns.",
    "": "the file is empty",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_refused(text: str) -> None:
    Path("c.csv").write_text(text)
    with pytest.raises(GermaneError) as error:
        germane.evaluate("q.txt", "r.run", "RR").by("c.csv")
    assert WRONG[text] in str(error.value)


def test_options_that_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", "q.txt", "r.run", "--by", "c.csv", "--per-query"]) == 2
    assert "--by is for means of categories; leave out --per-query." in capsys.readouterr().err


def test_names_of_recommenders(capsys: pytest.CaptureFixture[str]) -> None:
    names = "HR@10 HitRate@10 Recall@10 NDCG@10 MRR@10 MAP@10"
    assert cli.main(["evaluate", "q.txt", "r.run", "-m", names]) == 0
    out = capsys.readouterr().out
    assert "HR@10 is Success@10\nHitRate@10 is Success@10\nRecall@10 is R@10\n" in out
    assert "MRR@10 is RR@10\nMAP@10 is AP@10\n" in out
    assert "NDCG@10 is" not in out
    result = germane.evaluate("q.txt", "r.run", ["MAP@2", germane.RR])
    assert result.to_dict()["runs"][0]["measures"][0]["asked_as"] == ["MAP@2"]
    assert result["MAP@2"].mean == result["AP@2"].mean


def test_candidates_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("seen.csv").write_text("user,item\nq2,x\n")
    command = ["evaluate", "q.txt", "r.run", "-m", "RR", "--exclude", "seen.csv"]
    assert cli.main([*command, "--format", "tsv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "r\t1.0"
    assert cli.main(command) == 0
    assert "1 result excluded" in capsys.readouterr().out
    Path("only.json").write_text(json.dumps({"q1": ["a"], "q2": ["x", "a"], "q3": []}))
    assert cli.main([*command[:-2], "--only", "only.json", "--format", "tsv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "r\t0.5"
    assert cli.main(["explain", "q.txt", "r.run", "--query", "q2", "--exclude", "seen.csv"]) == 0
    assert cli.main(["report", "q.txt", "r.run", "--exclude", "seen.csv"]) == 0
