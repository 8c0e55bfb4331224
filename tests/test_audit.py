"""Audit: published tables that contradict themselves, and tables that do not."""

import json
import random
import re
from math import lcm
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import cli

MTEB = {
    "dataset_revision": "1",
    "task_name": "Some",
    "scores": {
        "test": [
            {
                "mrr_at_1": 0.859,
                "precision_at_1": 0.179,
                "ndcg_at_10": 0.41,
                "recall_at_10": 0.5,
                "recall_at_100": 0.61234,
                "main_score": 0.41,
                "hf_subset": "default",
                "languages": ["eng-Latn"],
            }
        ]
    },
}


def laws(found: germane.types.Audit) -> list[str]:
    return [one.law for one in found.contradictions]


@pytest.mark.parametrize(
    ("row", "law"),
    [
        ({"MRR@1": "0.859", "P@1": "0.179"}, "MRR@1 = P@1"),
        ({"Hit@1": "0.400", "P@1": "0.179"}, "Hit@1 = P@1"),
        ({"P@5": "0.400", "P@10": "0.100"}, "5·P@5 ≤ 10·P@10"),
        ({"P@5": "0.000", "P@10": "0.700"}, "10·P@10 ≤ 5·P@5 + 10 − 5"),
        ({"MRR@10": "0.600", "Success@10": "0.400"}, "MRR@10 ≤ Success@10"),
        ({"MRR@2": "0.300", "Success@2": "0.800"}, "Success@2 ≤ 2·MRR@2"),
        ({"MRR": "0.200", "MRR@10": "0.400"}, "MRR@10 ≤ MRR"),
        ({"P@3": "0.100", "Hit@3": "0.700"}, "Hit@3 ≤ 3·P@3"),
        ({"P@3": "0.500", "Hit@3": "0.100"}, "P@3 ≤ Hit@3"),
        ({"F1@10": "0.500", "P@10": "0.400", "R@10": "0.400"}, "F1@10 ≤ (P@10 + R@10) ÷ 2"),
        ({"nDCG@10": "1.310", "MRR": "0.400"}, "nDCG@10 ≤ 1"),
        ({"Recall@10": "-0.310", "MRR": "0.400"}, "Recall@10 ≥ 0"),
        ({"AP": "0.500", "AP50": "0.400"}, "AP ≤ AP50"),
        ({"mAP": "0.300", "AP50": "0.400", "AP75": "0.450"}, "AP75 ≤ AP50"),
        ({"AP50": "0.900", "AP": "0.200", "AP75": "0.500"}, "0.6·AP75 ≤ AP"),
        ({"AP50": "0.900", "AR1": "0.500", "AR10": "0.400"}, "AR1 ≤ AR10"),
    ],
)
def test_numbers_that_no_run_can_have(row: dict[str, str], law: str) -> None:
    found = germane.audit({"ours": row})
    assert found
    assert {law, " = ".join(law.split(" = ")[::-1])} & set(laws(found))
    assert all(one.excess > 0 for one in found.contradictions)


def test_a_definition_that_is_open_is_a_restriction() -> None:
    """MAP@10 above Recall@10 cannot be divided by R; the mean of P at the items found can be."""
    found = germane.audit({"ours": {"MAP@10": "0.612", "Recall@10": "0.300", "P@10": "0.030"}})
    assert not any(set(one.columns) == {"MAP@10", "Recall@10"} for one in found.contradictions)
    fixed = germane.audit(
        {"ours": {"map_cut_10": "0.612", "recall_10": "0.300"}}, dialect="trec_eval"
    )
    assert laws(fixed) == ["map_cut_10 ≤ recall_10"]


def test_recall_that_falls_is_possible_with_another_norm_only() -> None:
    row = {"Recall@10": "0.859", "Recall@100": "0.579"}
    found = germane.audit({"ours": row})
    assert not found
    (one,) = found.restrictions
    assert one.possible.startswith("Not with the usual definition; possible with ")
    assert laws(germane.audit({"ours": row}, dialect="beir")) == ["Recall@10 ≤ Recall@100"]


@pytest.mark.parametrize(
    ("row", "tool"),
    [
        ({"Hit@1": "0.300", "P@1": "0.179"}, "beir"),  # its MRR and Accuracy order ties otherwise
        ({"MRR@10": "0.500", "Success@10": "0.400"}, "ir_measures"),  # and so does MRR@k here
        ({"R@5": "0.500", "Hit@5": "0.400"}, "rectools"),  # a repeated result is a hit again
    ],
)
def test_what_a_tool_allows_accuses_nobody(row: dict[str, str], tool: str) -> None:
    found = germane.audit({"ours": row})
    assert not found
    assert tool in found.restrictions[0].possible


def test_rounding_is_taken_into_account() -> None:
    assert not germane.audit({"a": {"MRR@1": "0.41", "P@1": "0.40"}})  # 0.405 is both
    assert germane.audit({"a": {"MRR@1": "0.412", "P@1": "0.400"}}, dialect="ranx")
    cut = germane.audit({"a": {"hit_rate@10": "0.208", "precision@10": "0.020"}}, dialect="ranx")
    assert not cut
    assert cut.restrictions[0].possible == "Possible if decimals were cut off, not rounded."


def test_granularity() -> None:
    """50 queries: a mean of Success is a multiple of .02, and P@5 of .004."""
    assert laws(germane.audit({"a": {"Hit@10": "0.855"}}, queries=50)) == [
        "Hit@10 of 50 queries is a multiple of 1/50"
    ]
    assert not germane.audit({"a": {"Hit@10": "0.86"}}, queries=50)
    assert germane.audit({"a": {"P@5": "0.5555"}}, queries=50)
    assert not germane.audit({"a": {"P@5": "0.556"}}, queries=50)


def test_percentages_are_read_as_shares() -> None:
    whole = {
        "a": {"R@1": "41.2", "R@10": "60.1", "MRR": "45.0"},
        "b": {"R@1": "0.900", "R@10": "62.0", "MRR": "30"},
    }
    found = germane.audit(whole)
    assert not found
    assert found.notes[0].startswith("Read as percentages")
    one = germane.audit({"a": {"R@1": "0.412", "R@10": "0.500", "nDCG@10": "23.0"}})
    assert "0.23 would be possible (×100)" in one.contradictions[0].proof
    assert not germane.audit({"a": {"R@1": "41.2%", "R@10": "60.1%"}})


def test_small_percentages_have_one_decimal() -> None:
    """Two numbers above 1 are few, but shares have more decimals."""
    row = {"P@1": "2.0", "P@10": "1.2", "R@1": "0.1", "R@10": "0.9", "R@100": "0.9", "F@10": "0.8"}
    rows = {"a": row, "b": dict.fromkeys(row, "0.0")}
    assert not germane.audit(rows)
    assert germane.audit({run: {n: t + "00" for n, t in one.items()} for run, one in rows.items()})


def test_zeros_do_not_show_the_scale() -> None:
    """Zeros are shares as well as percentages: the other numbers tell which."""
    zeros = dict.fromkeys(("P@2", "R@2", "RR@2", "F@2", "AP@2", "Success@2"), "0.000")
    for numbers in ({"RR": "5.556"}, {"RR@7": "5.556", "AP@7": "5.556"}):
        assert not germane.audit({"one hit in 18 queries": zeros | numbers})
    assert germane.audit({"a": zeros | {"RR": "5.556", "P@1": "0.050"}})


def test_precision_by_the_number_of_results_counts_in_other_steps() -> None:
    """One hit in three results is 0.3333, though no multiple of 1/20."""
    found = germane.audit({"a": {"P@20": "0.3333"}}, queries=1)
    assert not found
    assert "number of results" in found.restrictions[0].possible
    assert germane.audit({"a": {"P@20": "0.3333"}}, queries=1, dialect="trec_eval-10")


def test_columns_may_come_from_several_tools() -> None:
    """LensKit's recall has the divisor min(R, k), and its users compute F elsewhere."""
    pytest.importorskip("scipy")  # 3 hits in 3 results, and 30 relevant items: F is 2·3 ÷ (3 + 30)
    found = germane.audit({"a": {"R@3": "1.0000", "F@3": "0.1818", "Success@3": "1.0000"}})
    assert not found
    assert "R(norm=min)@3" in found.restrictions[0].possible
    assert germane.audit({"a": {"R@3": "1.0000", "F@3": "0.1818", "RR@3": "0.3333"}})


def test_columns_that_were_exchanged() -> None:
    row = {
        "P@1": "0.900",
        "P@5": "0.18",
        "P@10": "0.500",
        "Hit@1": "0.500",
        "Hit@5": "0.700",
        "Hit@10": "0.900",
    }
    found = germane.audit({"a": row, "b": row | {"P@5": "0.19"}})
    assert found
    assert (
        "There would be no contradiction if P@1 and P@10 were exchanged."
        in germane.audit(
            {
                "a": {
                    "P@1": "0.11",
                    "P@5": "0.200",
                    "P@10": "0.500",
                    "Hit@1": "0.500",
                    "Hit@5": "0.700",
                    "Hit@10": "0.900",
                }
            }
        ).explanations
    )


# --- files ------------------------------------------------------------------------------------------


TABLES = {
    "a.csv": "model,MRR@1,P@1\nours,0.859,0.179\n",
    "a.tsv": "model\tMRR@1\tP@1\nours\t0.859\t0.179\n",
    "a.md": "| Model | MRR@1 | P@1 |\n|:--|--:|--:|\n| ours | **0.859**† | .179 |\n",
    "a.tex": "\\begin{tabular}{lcc}\n\\toprule\nModel & MRR@1 & P@1 \\\\\n\\midrule % a rule\n"
    "ours & \\textbf{0.859}$^{\\dagger}$ & 17.9\\% \\\\\n\\bottomrule\n\\end{tabular}\n",
    "a.json": json.dumps({"ours": {"MRR@1": 0.859, "P@1": 0.179}}),
    "records.json": json.dumps([{"model": "ours", "MRR@1": 0.859, "P@1": 0.179}]),
    "trec.txt": "runid\tall\tours\nrecip_rank\tall\t0.9\nP_1\tall\t0.1790\nsuccess_1\tall\t0.859\n",
    "mteb.json": json.dumps(MTEB),
}


HEADED = r"""\begin{tabular}{lcccc}
\toprule
 & \multicolumn{2}{c}{\textbf{NFCorpus}} & \multicolumn{2}{c}{SciFact} \\
\cmidrule(lr){2-3}\cmidrule(lr){4-5}
Model & MRR@10 & Hit$_{10}$ & MRR$@$10 & Hit@10 \\ \midrule
\multirow{1}{*}{BM25} & 0.5 & 0.8 & .3 & .5 \\
DPR & 0.3 & \textbf{0.4}$^\dagger$ & .6 & .2 \\
\end{tabular}"""


def test_headings_of_several_columns_are_kept_apart(tmp_path: Path) -> None:
    """MRR@10 of SciFact is beside Hit@10 of SciFact, and beside nothing of NFCorpus."""
    path = tmp_path / "t.tex"
    path.write_text(HEADED, "utf-8")
    found = germane.audit(path)
    assert list(found.columns) == [
        "NFCorpus / MRR@10", "NFCorpus / Hit@10", "SciFact / MRR@10", "SciFact / Hit@10",
    ]  # fmt: skip
    assert [(one.row, one.columns) for one in found.contradictions] == [
        ("DPR", ("SciFact / MRR@10", "SciFact / Hit@10"))
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model,MRR@1,P@1\na,0.5,0.5\nb,inf,0.2\n", "column 'MRR@1': a number such as 0.412 or 41.2%, or nothing; got 'inf'"),
        ("", "a table has a row of names and a row of numbers"),
        ('{"runs": 5, "schema": 1}', "saved results have a list 'runs', each with a name"),
        ("model,MRR@1,P@1\na,0.5\n", "2 cells under 3 names"),
        ("\0\1\xff", "a table has a row of names and a row of numbers"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_said(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text(text, "utf-8")
    with pytest.raises(germane.errors.FormatError, match=re.escape(says)):
        germane.audit(path)


def test_numbers_of_other_spellings(tmp_path: Path) -> None:
    """A comma before the decimals, and intervals in brackets."""
    path = tmp_path / "t.csv"
    path.write_text("model;MRR@1;P@1\nours;0,859 [0,81-0,90];17,9%\n", "utf-8")
    assert germane.audit(path).contradictions[0].excess == pytest.approx(0.68, abs=0.0011)


def test_a_table_of_many_columns_takes_a_while_and_no_more() -> None:
    """120 cutoffs make 14,000 pairs; only neighbors are compared."""
    row = {f"P@{k}": "0.5" for k in range(1, 121)} | {"Success@120": "0.02"}
    found = germane.audit({"ours": row})
    assert ("P@120", "Success@120") in {one.columns for one in found.contradictions}
    assert found.checked < 1000


@pytest.mark.parametrize(
    ("version", "tool"),
    [("1.12.75", "beir"), ("2.18.18", "mteb-2.18.18"), ("2.18.19", ""), ("2.26.24", "")],
)
def test_a_file_of_mteb_is_read_as_its_version(version: str, tool: str, tmp_path: Path) -> None:
    """Before 2.18.19 its MRR and its precision order tied results differently."""
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**MTEB, "mteb_version": version}), "utf-8")
    found = germane.audit(path)
    assert found
    said = [one.partition(" ")[0] for one in found.explanations if "equal scores" in one]
    assert said == [tool] * bool(tool)
    assert f"Computed by MTEB {version}." in found.notes


@pytest.mark.parametrize("name", TABLES)
def test_every_format(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_text(TABLES[name], "utf-8")
    found = germane.audit(path)
    assert len({frozenset(one.columns) for one in found.contradictions}) == 1, str(found)
    assert found.contradictions[0].excess == pytest.approx(0.68, abs=0.0011)
    assert cli.main(["audit", str(path)]) == 1
    assert "off by 0.68" in capsys.readouterr().out


def test_frames_and_kept_results(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    frame = pandas.DataFrame({"MRR@1": [0.859], "P@1": [0.179]}, index=["ours"])
    assert germane.audit(frame).contradictions[0].row == "ours"
    assert germane.audit(polars.DataFrame({"run": ["ours"], "MRR@1": [0.859], "P@1": [0.179]}))
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"x": 2.0, "b": 1.0}}
    results = germane.evaluate_many(qrels, {"ours": run}, "RR@1 P@1 Success@1 AP")
    path = tmp_path / "kept.json"
    kept = results.to_dict(queries=True)
    path.write_text(json.dumps(kept))
    assert not germane.audit(path)
    kept["runs"][0]["measures"][0]["mean"] = 0.9
    path.write_text(json.dumps(kept))
    assert "the mean is that of the queries" in laws(germane.audit(path))
    kept["runs"][0]["queries"]["q"]["P@1"] = 0.5
    path.write_text(json.dumps(kept))
    assert "P@1 of 1 query is a multiple of 1/1" in laws(germane.audit(path))


def test_columns_of_the_author(tmp_path: Path) -> None:
    row = {"ours": {"first": "0.859", "second": "0.179"}}
    found = germane.audit(row, columns={"first": "RR@1", "second": "P@1"})
    assert found.columns == {"first": "RR@1", "second": "P@1"}
    assert len(found) > 0
    with pytest.raises(
        germane.errors.InputError, match=r"columns names 'x'; the table has 'first', 'second'"
    ):
        germane.audit(row, columns={"x": "RR@1"})
    with pytest.raises(germane.errors.MeasureError, match="unknown measure 'nonsense'"):
        germane.audit(row, columns={"first": "nonsense"})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "a table is"),
        (
            {"a": {"MRR": "much"}},
            r"the table, 'a', column 'MRR': a number such as 0.412 or 41.2%; got 'much'",
        ),
        ({"a": {"color": "1"}}, "no column of the table is a measure: 'color'"),
        (3, "a published table is a file, a frame"),
        ({"a": {"MRR": None}}, "the table has no numbers"),
        ({"a": {"MRR": "1"}, "b": 3}, "a row is {column: number}"),
        ("no such file", "there is no such file|No such file|cannot be read"),
    ],
)
def test_what_is_no_table(given: Any, says: str) -> None:
    with pytest.raises(germane.GermaneError, match=says):
        germane.audit(given)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model,MRR\nours,0.5,0.6\n", "row 2: 3 cells under 2 names"),
        ("model,MRR\nours,0.5\nours,0.6\n", "two rows are called 'ours'"),
        ("{", r"this is not JSON \(Expecting"),
        ("model,MRR,MRR\nours,0.5,0.6\n", "two columns are called 'MRR'"),
        ("", "a table has a row of names"),
    ],
)
def test_files_that_cannot_be_read(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(germane.GermaneError, match=says):
        germane.audit(path)
    assert cli.main(["audit", str(path)]) == 2
    assert "germane: " in capsys.readouterr().err


def test_a_column_without_any_number_is_no_column(tmp_path: Path) -> None:
    """Authors leave out what they did not measure, for all runs or for one."""
    path = tmp_path / "table.csv"
    path.write_text("Model,MAP,P@1\nours,0.3,n/a\ntheirs,0.4,—\n", encoding="utf-8")
    assert dict(germane.audit(path).columns) == {"MAP": "AP"}


def test_the_answer_counts_restrictions_beside_contradictions() -> None:
    row = {"P@1": "0.500", "MRR@10": "0.480"}
    lines = str(germane.audit({"ours": row})).splitlines()
    assert lines[0].startswith("○ ours: ")
    assert "0 contradictions (●) and 1 restriction (○) in 1 row; 3 comparisons." in lines


def test_the_command_writes_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("model,MRR@1,P@1\nours,0.4,0.4\n")
    assert cli.main(["audit", str(path)]) == 0
    assert capsys.readouterr().out.startswith("0 contradictions in 1 row")
    for form in ("json", "markdown", "latex", "html", "csv"):
        assert cli.main(["audit", str(path), "--format", form, "--queries", "10"]) == 0
    assert cli.main(["audit", str(path), "--columns", "MRR@1"]) == 2


def test_a_table_of_many_random_runs_has_no_contradiction() -> None:
    rng = random.Random(5)
    queries = [f"q{i}" for i in range(20)]
    for _ in range(10):
        qrels = {q: {f"d{i}": rng.randint(0, 1) for i in range(12)} for q in queries}
        run = {q: {f"d{i}": rng.random() for i in rng.sample(range(30), 15)} for q in queries[:18]}
        names = "MAP MAP@5 P@1 P@5 P@10 R@5 R@10 MRR MRR@5 Success@1 Success@5 nDCG@10 F@5 F@10"
        result = germane.evaluate(qrels, run, names)
        row = {name: f"{result[name].mean:.4f}" for name in names.split()}
        found = germane.audit({"random": row}, queries=20)
        assert not found, str(found)
        assert not found.restrictions
        assert lcm(5, 4) == found.rows * 20  # one row


def test_a_measure_that_gives_one_without_relevant_items_is_one_reading_of_a_name() -> None:
    """recmetrics has two measures that papers call MAP; one of them counts 1 for a query without relevant items."""
    table = {"bm25": {"MAP@1": "0.1443", "MAP@20": "0.1365", "P(norm=retrieved)@1": "0.0515"}}
    assert not germane.audit(table, dialect="recmetrics")
    table["bm25"]["MAP@1"] = "0.9443"
    assert germane.audit(table, dialect="recmetrics")


def test_the_scale_of_a_row_is_that_of_all_its_numbers() -> None:
    """A column whose name is not read shows percentages, too, if it is written like them."""
    for row in ({"EER": "64.8", "mAP": "84.9"}, {"mAP": "84.9", "score at best": "94.8"}):
        found = germane.audit({"ours": row})
        assert not found.contradictions
        assert "Read as percentages: 'mAP'" in str(found)
    for row in ({"Params": "25", "mAP": "84.9"}, {"size": "250.5", "mAP": "84.9"}, {"mAP": "84.9"}):
        assert germane.audit({"ours": row}).contradictions, row


def test_a_measure_without_a_number_is_named(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("run,P@1,R@5,RR,note\na,0.5,inf,0.6,x\nb,0.4,Infinity,0.5,y\n")
    assert germane.audit(table).notes[0] == "Left out, as no cell is a number: 'R@5'."
    assert germane.audit({"a": {"P@1": "–", "RR": 0.5}}).notes[0].endswith("number: 'P@1'.")


@pytest.mark.parametrize("option", ["queries", "grades", "relevant"])
def test_a_number_of_things_is_one_or_more(
    option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("run,P@1,RR\na,0.5,0.6\n")
    for typed, message in (("nan", "a whole number from 1 on"), ("0", "1"), ("1.5", "from 1 on")):
        with pytest.raises(SystemExit):
            raise SystemExit(cli.main(["audit", str(table), f"--{option}", typed]))
        assert message in capsys.readouterr().err


def test_dcg_does_not_show_that_a_table_has_percentages() -> None:
    """A recall above 1 is wrong, however high DCG is."""
    row = {"R@10": "1.6000", "P@5": "0.1800", "DCG@5": "3.4020", "RR": "0.6500"}
    found = germane.audit({"ours": row}, columns={name: name for name in row})
    assert [one.law for one in found.contradictions] == ["R@10 ≤ 1"]


def test_an_escaped_line_of_latex_is_no_subscript(tmp_path: Path) -> None:
    r"""``recall\_50`` is a name of trec_eval, and in AP$_{50}$ the number is a threshold."""
    table = tmp_path / "t.tex"
    table.write_text(
        "\\begin{tabular}{lrr}\nrun & recall\\_50 & P\\_50 \\\\\na & 0.5 & 0.1 \\\\\n\\end{tabular}\n"
    )
    assert "recall_50 as R@50, P_50 as P@50" in str(germane.audit(table))
