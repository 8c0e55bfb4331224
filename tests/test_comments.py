"""Lines of TREC files that begin with ``#``: data where the other side has their query, else comments."""

import io
import os
import threading
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
    with pytest.raises(germane.errors.FormatError, match="data or a comment"):
        germane.evaluate(*files, "RR")
    with pytest.raises(germane.errors.FormatError, match=r"a\.run:1: .*data or a comment"):
        germane.evaluate({"q": {"d": 1}, "#q": {"d": 1}}, files[1], "RR")


def test_qrels_of_comments_alone_are_empty(tmp_path: Path) -> None:
    files = _write(tmp_path, "#q 0 d 1\n", "q Q0 d 1 1 t\n")
    with pytest.raises(germane.errors.EmptyError):
        germane.evaluate(*files, "RR")
    files = _write(tmp_path, "#q 0 d 1\n", "#q Q0 d 1 1 t\n")
    assert germane.evaluate(*files, "RR")["RR"].mean == 1.0


def test_repeated_judgments_are_an_error_once_they_are_data(tmp_path: Path) -> None:
    qrels = "#q 0 d1 1\n#q 0 d1 0\np 0 d 1\n"
    files = _write(tmp_path, qrels, "#q Q0 d1 1 1 t\np Q0 d 1 1 t\n")
    with pytest.raises(germane.errors.DuplicateError, match="'d1' is judged twice for query '#q'"):
        germane.evaluate(*files, "RR")
    grades = {"first": 1.0, "last": 0.0, "max": 1.0}
    for duplicates, value in grades.items():
        result = germane.evaluate(*files, "RR", duplicates=duplicates)
        assert result["RR"].per_query == {"p": 1.0, "#q": value}
    files = _write(tmp_path, qrels, "p Q0 d 1 1 t\n")
    assert germane.evaluate(*files, "RR").counts.comments == 2


def test_a_bad_score_of_data_is_an_error(tmp_path: Path) -> None:
    files = _write(tmp_path, "p 0 d 1\n", "#q Q0 d1 1 nan t\n#q Q0 d2 2 1 t\n")
    with pytest.raises(germane.errors.ScoreError, match=r"a\.run:1: .*'nan'"):
        germane.evaluate({"#q": {"d1": 1}}, files[1], "RR")


@pytest.mark.parametrize("text", [RUN, "query,item,score\n#covid,d1,2\n#covid,d0,1\nq,d2,1\n"])
def test_runs_that_can_be_read_once(text: str, tmp_path: Path, start_pipe: Any) -> None:
    """The run is looked at for queries with ``#`` before it is reduced."""
    files = _write(tmp_path, QRELS, RUN)
    path = start_pipe(text)
    input_format = {"run": "csv"} if "," in text else None
    result = germane.evaluate(files[0], path, "RR", input_format=input_format)
    assert result["RR"].per_query == {"q": 1.0, "#covid": 1.0}


def test_standard_input(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    result = germane.evaluate(files[0], "-", "RR")
    assert result["RR"].per_query == {"q": 1.0, "#covid": 1.0}


@pytest.fixture
def start_pipe(tmp_path: Path) -> Any:
    """Makes a pipe that holds a text, once."""

    def start(text: str) -> str:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        threading.Thread(target=path.write_text, args=(text,), daemon=True).start()
        return str(path)

    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names")
    return start


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_whole_lists_and_arrays_have_such_a_query(files: tuple[str, str]) -> None:
    qrels, run = files
    dicts = {"#covid": {"d1": 2.0, "d0": 1.0}, "q": {"d2": 1.0}}
    for given in (dicts, run, germane.read_run(run)):
        result = germane.evaluate(qrels, given, "Coverage@1", catalogue=["d0", "d1", "d2"])
        assert result["Coverage@1"].mean == 2 / 3
    numpy = pytest.importorskip("numpy")
    scores = numpy.array([[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    rows, items = ["#covid", "q"], ["d1", "d0", "d2"]
    array = germane.evaluate(qrels, scores, "RR", query_ids=rows, item_ids=items)
    vectors = germane.evaluate_embeddings(
        numpy.eye(2), scores.T, "RR", qrels=qrels, query_ids=rows, gallery_ids=items,
        similarity="dot",
    )  # fmt: skip
    for one in (array, vectors):
        assert one["RR"].per_query == {"q": 1.0, "#covid": 1.0}


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_every_verb_with_a_run_has_such_a_query(tmp_path: Path) -> None:
    others = {f"q{n}": {"a": 1, "b": 0} for n in range(5)}
    judged: dict[str, dict[str, float]] = {"#c": {"b": 1, "a": 0}, **others}
    lines = [f"{q} 0 {i} {grade}\n" for q, items in judged.items() for i, grade in items.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    run = {q: {"a": 1.0, "z": 0.5} for q in others} | {"#c": {"a": 2.0, "b": 1.0}}
    runs = {"one": run, "other": {"#c": {"b": 2.0, "y": 1.0}}}
    say = [
        (
            germane.explain(qrels, run, "AP", query="#c").retrieved,
            germane.pr_curve(qrels, run, query="#c").area("step"),
            germane.mean_pr_curve(qrels, run).area("step"),
            {(one.query, one.item, one.weight) for one in germane.choose_judgments(qrels, runs)},
            round(germane.trust(run, people=qrels, model=qrels, measures="AP")["AP"].mean, 12),
            germane.evaluate_judges(run, {"a": qrels, "b": qrels}, "AP").pairs,
        )
        for qrels in (judged, tmp_path / "qrels.txt", germane.read_qrels(tmp_path / "qrels.txt"))
    ]
    assert say[0] == say[1] == say[2]
