"""Lines and rows: findings say where what they speak of stands."""

import gzip
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import germane
from check_examples import (
    EXAMPLES,
    MEASURES,
    QRELS,
    QUERIES,
    RUN,
    Example,
    check,
    found_in,
    only,
    qrels_lines,
    run_lines,
    whats,
    with_items,
)


def test_every_bad_line_is_counted_and_the_first_are_named(tmp_path: Path) -> None:
    lines = run_lines().splitlines()
    bad = {
        3: "q0 Q0 d",
        10: "q0 Q0 a 1 nan t",
        17: "q0 Q0 a 1 x t",
        40: "q1 Q0 a b 9 0.5 t",
        41: "{}",
    }
    for line, text in bad.items():
        lines.insert(line - 1, text)
    found = found_in(Example(qrels_lines(), "\n".join(lines)), tmp_path)
    finding = only(found, "malformed results")
    assert finding.count == len(bad)
    at = [
        example.removeprefix(f"{tmp_path}/run.txt:").split(":")[0] for example in finding.examples
    ]
    assert at == ["3", "10", "17"]
    assert "3 fields" in finding.examples[0]
    assert "got 'nan'" in finding.examples[1]
    assert "but 630 rows can" in finding.says
    assert whats(found) == ["malformed results"], (
        "the others are looked at as if these were not there"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", [" ", "\t", "  "])
def test_line_numbers_of_any_form(blank: str, end: str, tmp_path: Path) -> None:
    """Lines that Arrow reads and those read one by one; comments and blank lines count, too."""
    rows = run_lines().replace(" ", blank).splitlines()
    rows[3:3] = ["# a comment", ""]
    rows.append(rows[7])
    (tmp_path / "run").write_bytes((end.join(rows) + end).encode())
    finding = only(germane.check(QRELS, tmp_path / "run"), "repeated results")
    assert finding.examples[0].startswith(f"{tmp_path}/run:{len(rows)}: query 'q0' item 'q0d5'")


def test_lines_of_many_blocks_are_numbered(tmp_path: Path) -> None:
    """Blocks that are plain, and one that is not, far behind the first."""
    rows = [f"q{n // 1000} Q0 document-number-{n:09} {n % 1000} {-n} tag" for n in range(90_000)]
    rows[70_000] = rows[70_000].replace("-70000", "seventy")
    rows.append(rows[80_000])
    (tmp_path / "run").write_text("\n".join(rows))
    found = germane.check({"q3": {"document-number-000003000": 1}}, tmp_path / "run", "RR")
    assert f"{tmp_path}/run:70001: " in only(found, "malformed results").examples[0]
    assert f"{tmp_path}/run:90001: " in only(found, "repeated results").examples[0]


def test_findings_about_files_name_a_line(tmp_path: Path) -> None:
    """The line is looked up in the file, by what it must hold."""
    changes: dict[str, tuple[Any, Any]] = {
        "ids nearly the same": (lambda item: item.replace("q7d0", "Q7D0"), lambda place: place),
        "nothing judged was found": (lambda item: f"doc_{item}", lambda place: place),
        "ranks against scores": (lambda item: item, lambda place: 100 - place),
    }
    for what, (change, rank) in changes.items():
        (tmp_path / "run").write_text(run_lines(with_items(change), rank))
        finding = only(germane.check(QRELS, tmp_path / "run", MEASURES), what)
        at = re.match(rf"{tmp_path}/run:(\d+): query '(.+)' item '(.+)'$", finding.examples[0])
        assert at
        line = (tmp_path / "run").read_text().splitlines()[int(at[1]) - 1].split()
        assert [line[0], line[2]] == [at[2], at[3]]
        assert what != "ids nearly the same" or at[3] == "Q7D0"
        given = with_items(change)
        if what != "ranks against scores":
            assert only(germane.check(QRELS, given, MEASURES), what).examples == ()


def test_findings_about_queries_name_the_line_where_each_begins(tmp_path: Path) -> None:
    qrels = QRELS | {"q3": dict.fromkeys(QRELS["q3"], 0)}
    run = {q: dict(list(RUN[q].items())[: 5 if n % 3 else 21]) for n, q in enumerate(QUERIES[2:])}
    (tmp_path / "qrels").write_text(qrels_lines(qrels))
    (tmp_path / "run").write_text(run_lines(run | {"q99": {"x": 0.5}}))
    found = germane.check(tmp_path / "qrels", tmp_path / "run", "AP@10")
    lines = {name: (tmp_path / name).read_text().splitlines() for name in ("qrels", "run")}
    for what, query, name in (
        ("missing queries", "q1", "qrels"),
        ("nothing relevant", "q3", "qrels"),
        ("queries not judged", "q99", "run"),
        ("queries with few results", "q3", "run"),
    ):
        line = next(n for n, line in enumerate(lines[name], 1) if line.startswith(f"{query} "))
        told = f"{tmp_path}/{name}:{line}: query {query!r}"
        assert told in only(found, what).examples, what


def test_findings_about_results_name_lines(tmp_path: Path) -> None:
    """One with a file for each check whose finding is about lines."""
    about_all = {  # of no line more than of another
        "differences too small to show", "few queries", "only relevant items judged",
        "relevant results stand anywhere", "relevant results stand last", "refused by evaluate",
        "queries without a judgment", "queries without results", "mostly empty results",
        "one subtopic per item", "lists emptied by an option", "relevant items that are no candidates",
        "recall that no run can have", "candidates of other items",
    }  # fmt: skip
    for name, example in EXAMPLES.items():
        if name in about_all or isinstance(example.run, pa.Table):
            continue
        given = []
        for side, data, write in (
            ("qrels", example.qrels or QRELS, qrels_lines),
            ("run", example.run or RUN, written),
        ):
            (tmp_path / side).write_text(data if isinstance(data, str) else write(data))
            given.append(tmp_path / side)
        finding = only(check(example, *given), name)
        assert finding.examples, name
        assert re.match(rf"{tmp_path}/(qrels|run):\d+: ", finding.examples[0]), name


def written(run: Any) -> str:
    """A run with its scores as they are, and no ranks."""
    return "".join(f"{q} Q0 {i} 0 {s} t\n" for q, held in run.items() for i, s in held.items())


def test_rows_of_frames_are_numbered_as_errors_number_them(tmp_path: Path) -> None:
    rows = [(q, item, s) for q, held in RUN.items() for item, s in held.items()]
    rows[100:100] = [("q3", "q3d1", 0.1), ("q3", "z", float("nan"))]
    columns = zip(["query", "item", "score"], map(list, zip(*rows, strict=True)), strict=True)
    table = pa.table(dict(columns))
    parquet.write_table(table, tmp_path / "run.parquet")
    for run, where in ((table, "row"), (tmp_path / "run.parquet", f"{tmp_path}/run.parquet, row")):
        found = germane.check(QRELS, run, MEASURES)
        repeated = only(found, "repeated results").examples[0]
        assert repeated == f"{where} 100: query 'q3' item 'q3d1'"
        assert "row 101" in only(found, "malformed results").examples[0]
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, part in (("a", table.slice(0, 90)), ("b", table.slice(90, 11))):
        parquet.write_table(part, folder / f"{name}.parquet")
    finding = only(germane.check(QRELS, folder, MEASURES), "repeated results")
    assert finding.examples[0] == f"{folder}/b.parquet, row 10: query 'q3' item 'q3d1'"


@pytest.mark.parametrize(
    ("name", "write", "above"),
    [
        ("run.csv", lambda q, i, s: f"{q},{i},{s}", ["query,item,score"]),
        ("run.tsv", lambda q, i, s: f"{q}\t{i}\t{s}", ["query\titem\tscore"]),
        ("run.jsonl", lambda q, i, s: f'{{"query": "{q}", "item": "{i}", "score": {s}}}', []),
        ("run.csv.gz", lambda q, i, s: f"{q},{i},{s}", ["query,item,score"]),
    ],
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_rows_of_files_of_lines_are_told_by_their_lines(
    name: str, write: Any, above: list[str], end: str, tmp_path: Path
) -> None:
    """Where each row has one; otherwise by the number of the row, as in errors."""
    rows = [(q, item, s) for q, held in RUN.items() for item, s in held.items()]
    rows[100:100] = [("q3", "q3d1", 0.1)]
    lines = [*above, *(write(*row) for row in rows)]
    path = tmp_path / name
    opener: Any = gzip.open if name.endswith("gz") else open

    def example() -> str:
        with opener(path, "wt") as file:
            file.write("\n".join(lines) + end)
        return only(germane.check(QRELS, path, MEASURES), "repeated results").examples[0]

    again = lines.index(write(*rows[100])) + 1
    assert example() == f"{path}:{again}: query 'q3' item 'q3d1'"
    if name == "run.csv":
        lines.insert(5, "")
        assert example() == f"{path}, row 100: query 'q3' item 'q3d1'"


def test_progress_tells_of_reading_and_of_looking(tmp_path: Path) -> None:
    (tmp_path / "run").write_text(run_lines())
    seen: list[str] = []
    germane.check(QRELS, tmp_path / "run", progress=lambda name, done, size: seen.append(name))
    assert seen[0] == f"{tmp_path}/run"
    assert f"{tmp_path}/run for ids nearly the same" in seen
