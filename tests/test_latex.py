"""LaTeX for a paper: what the table holds, what it says below, and that LaTeX reads it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import germane
from germane import cli
from germane.output.tables import Table  # odd headings and every definition in one table

DIGITS = Path(__file__).parent.parent / "examples" / "digits"
QRELS = {f"q{i}": ["a"] for i in range(20)}
RUNS = {
    "a_run & 50%": {query: ["a"] for query in QRELS},
    "b--c": {query: ["x", "a"] for query in QRELS},
}
COMPARED = germane.compare(QRELS, RUNS, "RR AP@10")
ENGINES = [engine for engine in ("pdflatex", "tectonic", "lualatex") if shutil.which(engine)]


def split(text: str) -> tuple[str, str, str]:
    """Before the table, the table, and the notes below it."""
    before, table = text.split(r"\begin{tabular}")
    table, notes = table.split(r"\end{tabular}")
    return before, table, notes


def test_a_comparison_for_a_paper() -> None:
    before, table, notes = split(COMPARED.latex(caption="Runs, 50% of all", label="tab:runs"))
    assert before == (
        "\\begin{table}\n\\centering\n\\caption{Runs, 50\\% of all}\n\\label{tab:runs}\n"
    )
    for rule in ("toprule", "midrule", "bottomrule"):
        assert f"\\{rule}\n" in table
    assert (
        r"a & a\_run \& 50\% & \textbf{1.0000}\textsuperscript{b} & \textbf{1.0000}\textsuperscript{b} \\"
        in table
    )
    assert r"b & b-{}-c & 0.5000 & 0.5000 \\" in table
    assert r"RR: 1 \ensuremath{\div} rank of the first relevant item" in notes
    assert (
        r"A run's superscripts mark the runs that it significantly beats: p \textless{} 0.05, and the"
        " interval of the difference excludes 0." in notes
    )
    assert "Bold: the best of the column." in notes
    assert notes.endswith("\\end{minipage}\n\\end{table}\n")


def test_results_for_a_paper() -> None:
    results = germane.evaluate_many(QRELS, RUNS, "AP@10 NumRet")
    before, table, notes = split(results.latex())
    assert "\\caption{AP@10, NumRet by run.}\n\\label{tab:germane}\n" in before
    assert r"a\_run \& 50\% & \textbf{1.0000} & 20 \\" in table, "more results are not better"
    assert r"AP@10: \ensuremath{\Sigma} P@i" in notes
    one = results["b--c"].latex(label="tab:one")
    assert "textbf" not in one
    assert r"\label{tab:one}" in one


@pytest.mark.parametrize("label", ["", "tab one", "a}b", "a%b", "a\\b", "tab:ä"])
def test_a_label_that_latex_cannot_read(label: str) -> None:
    with pytest.raises(
        germane.errors.InputError, match="a label contains only letters, digits and"
    ):
        COMPARED.latex(label=label)


# --- Other names -------------------------------------------------------------------------------------


def test_another_name_keeps_the_definition() -> None:
    rename = {"AP@10": "MAP"}
    definition = germane.parse("AP@10").definition
    results = germane.evaluate_many(QRELS, RUNS, "RR AP@10")
    for table in (results.table(rename=rename), results.table_per_query(rename=rename)):
        assert table.columns[-2:] == ("RR", "MAP")
        assert f"MAP  AP@10, {definition}" in table.notes
    board, pairs = COMPARED.leaderboard(rename=rename), COMPARED.table(rename=rename)
    assert board.columns == ("", "run", "RR", "MAP")
    assert {row[0] for row in pairs.rows} == {"RR", "MAP"}
    for table in (board, pairs):
        assert f"MAP: AP@10, {definition}" in table.notes
    assert " 0.500 MAP," in COMPARED.text(rename=rename)
    assert COMPARED.text() == str(COMPARED)
    assert r"MAP: AP@10, \ensuremath{\Sigma}" in COMPARED.latex(rename=rename)
    assert results["b--c"].table(rename=rename).columns == ("run", "RR", "MAP")
    assert COMPARED.to_dict()["pairs"][1]["measure"] == "AP@10", "JSON keeps the name"


@pytest.mark.parametrize(
    ("rename", "error", "says"),
    [
        (
            {"AP": "MAP"},
            germane.errors.NotFoundError,
            "AP was not evaluated.  There are: RR, AP@10",
        ),
        ({"RR": "AP@10"}, germane.errors.InputError, "RR and AP@10 would both be named 'AP@10'"),
        ({"RR": " "}, germane.errors.InputError, "rename takes a name, as text, for RR; got ' '"),
        ({"RR": 1}, germane.errors.InputError, "rename takes a name, as text, for RR; got 1"),
        ({"none": "x"}, germane.errors.MeasureError, "none"),
    ],
)
def test_a_name_that_cannot_be(rename, error, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=re.escape(says)):
        COMPARED.leaderboard(rename=rename)


RUN_FILES = [str(DIGITS / name) for name in ("qrels.txt", "lda.run", "pixels.run")]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_names_on_the_command_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["-m", "AP(norm=R)@10 RR", "--rename", "AP(norm=R)@10=MAP", "--rename", "RR = MRR"]
    assert cli.main([command, *RUN_FILES, *options]) == 0
    printed = capsys.readouterr().out
    definition = germane.parse("AP(norm=R)@10").definition
    assert printed.splitlines()[0].split()[-2:] == ["MAP", "MRR"]
    assert re.search(rf"^MAP:? +AP\(norm=R\)@10, {re.escape(definition)}$", printed, re.MULTILINE)
    assert cli.main([command, *RUN_FILES, *options, "--format", "latex"]) == 0
    assert r"& MAP & MRR \\" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--rename", "RR=MRR", "--format", "csv"], "--rename is for tables with definitions"),
        (["--rename", "RR=MRR", "--format", "json"], "--rename is for tables with definitions"),
        (["--rename", "MRR"], "--rename takes MEASURE=NAME, such as 'AP=MAP'; got 'MRR'."),
        (["--rename", "RR="], "--rename takes MEASURE=NAME, such as 'AP=MAP'; got 'RR='."),
        (["--rename", "AP(norm=R)@10"], "--rename takes MEASURE=NAME"),
        (["--rename", "AP=MAP"], "AP was not evaluated"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_names_that_a_command_refuses(
    command: str, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([command, *RUN_FILES, "-m", "RR", *options]) == 2
    assert says in capsys.readouterr().err


def test_views_without_names(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["-m", "RR", "--rename", "RR=MRR", "--view"]
    assert cli.main(["compare", *RUN_FILES, *options, "stability"]) == 2
    assert "--rename is for --view leaderboard or pairs; got stability." in capsys.readouterr().err
    assert cli.main(["compare", *RUN_FILES, *options, "pairs"]) == 0
    assert "\nMRR " in capsys.readouterr().out


def test_intervals_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", *RUN_FILES, "-m", "RR", "--confidence", "0.9"]) == 0
    result = germane.evaluate(*RUN_FILES[:2], "RR")
    interval = result["RR"].interval(confidence=0.9)
    assert interval is not None
    cell = f"{result['RR']:.4f} [{interval.low:.4f}, {interval.high:.4f}]"
    assert cell in capsys.readouterr().out
    for wrong in (["2"], ["0.9", "--per-query"], ["0.9", "--format", "json"]):
        assert cli.main(["evaluate", *RUN_FILES, "-m", "RR", "--confidence", *wrong]) == 2


# --- LaTeX reads it ----------------------------------------------------------------------------------


@pytest.mark.skipif(not ENGINES, reason="needs pdflatex, tectonic or lualatex")
def test_latex_reads_every_table(tmp_path: Path) -> None:
    """Tables of odd names, every symbol of every definition, and a reference to a label."""
    odd = "[x] * & % $ # _ { } ~ ^ \\ < > | ` \" ' -- \x1b[31m \x00"
    definitions = tuple(f"{m}: {m.definition}" for m in germane.measures())
    dialects = germane.spread(QRELS, RUNS["b--c"], "AP@10").table()
    tables = [
        COMPARED.latex(caption=odd, label="tab:first_one"),
        COMPARED.latex(rename={"RR": odd}, label="tab:second"),
        germane.evaluate_many({"q": ["a"]}, {odd: {"q": ["a"]}, "[b]": {"q": []}}, "AP").latex(),
        Table(("run", odd), ((odd, "1"), ("*", "2")), (odd, *definitions)).latex_float(),
        germane.explain(QRELS, RUNS["b--c"], "AP@10", query="q1").latex(),
        Table(dialects.columns, dialects.rows, (), dialects.left).latex(),
    ]
    body = "\n\\clearpage\n".join(tables)
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        f"Table~\\ref{{tab:first_one}}.\n{body}\n\\end{{document}}\n"
    )
    command = [ENGINES[0]]
    if ENGINES[0] != "tectonic":
        command += ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run(
        [*command, "paper.tex"], cwd=tmp_path, capture_output=True, text=True, errors="replace"
    )
    log = done.stdout + done.stderr
    assert done.returncode == 0, log[-3000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 1000
    assert "Missing character" not in log
