"""Lines of TREC files that begin with ``#``: data where the other side has their query, else comments."""

from pathlib import Path
from typing import Any

import pytest

import germane

QRELS = "#covid 0 d1 1\nq 0 d2 1\n# a comment\n"
RUN = "#covid Q0 d1 1 2.0 t\n#covid Q0 d0 2 1.0 t\nq Q0 d2 1 1.0 t\n# made in 2024 4 5\n"


def _write(folder: Path, qrels: str, run: str) -> tuple[str, str]:
    (folder / "a.qrels").write_text(qrels)
    (folder / "a.run").write_text(run)
    return str(folder / "a.qrels"), str(folder / "a.run")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return _write(tmp_path, QRELS, RUN)


def _frame(run: dict[str, dict[str, float]]) -> Any:
    pandas = pytest.importorskip("pandas")
    rows = [(q, d, s) for q, items in run.items() for d, s in items.items()]
    return pandas.DataFrame(rows, columns=["query", "item", "score"])


def test_a_line_is_data_where_the_other_side_has_its_query(files: tuple[str, str]) -> None:
    result = germane.evaluate(*files, "RR")
    assert result["RR"].per_query == {"q": 1.0, "#covid": 1.0}
    assert result.counts.comments == 2
    assert "2 comment lines" in str(result)


def test_every_kind_of_run_decides_alike(files: tuple[str, str]) -> None:
    run = {"#covid": {"d1": 2.0, "d0": 1.0}, "q": {"d2": 1.0}}
    lists = {query: list(items) for query, items in run.items()}
    for given in (run, lists, _frame(run), germane.read_run(files[1])):
        assert germane.evaluate(files[0], given, "RR")["RR"].per_query == {"q": 1.0, "#covid": 1.0}
    judged = {"#covid": {"d1": 1}, "q": {"d2": 1}}
    assert germane.evaluate(judged, files[1], "RR")["RR"].per_query == {"#covid": 1.0, "q": 1.0}


def test_other_lines_are_comments(tmp_path: Path) -> None:
    files = _write(tmp_path, QRELS, "q Q0 d2 1 1.0 t\n#q9 Q0 d2 1 1.0 t\n")
    result = germane.evaluate(*files, "RR")
    assert result["RR"].per_query == {"q": 1.0}
    assert result.counts.comments == 3
    assert result.counts.unjudged_queries == 0


def test_a_query_with_and_without_the_sign_asks(tmp_path: Path) -> None:
    files = _write(tmp_path, "q 0 d 1\n#q 0 d 1\n", "#q Q0 d 1 1 t\nq Q0 d 1 1 t\n")
    with pytest.raises(germane.FormatError, match="data or a comment"):
        germane.evaluate(*files, "RR")
    with pytest.raises(germane.FormatError, match=r"a\.run:1: .*data or a comment"):
        germane.evaluate({"q": {"d": 1}, "#q": {"d": 1}}, files[1], "RR")


def test_qrels_of_comments_alone_are_empty(tmp_path: Path) -> None:
    files = _write(tmp_path, "#q 0 d 1\n", "q Q0 d 1 1 t\n")
    with pytest.raises(germane.EmptyError):
        germane.evaluate(*files, "RR")
    files = _write(tmp_path, "#q 0 d 1\n", "#q Q0 d 1 1 t\n")
    assert germane.evaluate(*files, "RR")["RR"].mean == 1.0
