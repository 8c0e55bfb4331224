"""The protocol of a reported table, and the cells that differ under it."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import germane

Table = dict[str, dict[str, str]]


def draw(seed: int, runs: int = 3, queries: int = 30) -> tuple[Any, Any]:
    """Graded judgments, and runs with ties, of which some lack a query."""
    rng = random.Random(seed)
    items = [f"d{i}" for i in range(60)]
    qrels = {
        f"q{q}": {d: rng.choice((0, 0, 1, 2)) for d in rng.sample(items, 25)}
        for q in range(queries)
    }
    qrels["none"] = dict.fromkeys(items[:5], 0)
    found = {
        name: {
            q: {
                d: round(rng.gauss(skill * (grades.get(d, 0) > 0), 1), 1)
                for d in rng.sample(items, 30)
            }
            for q, grades in qrels.items()
            if rng.random() > 0.07
        }
        for name, skill in list(
            {"ours": 1.5, "bm25": 0.7, "dense": 1.0, "tf": 0.3, "x": 0.5, "y": 0.9}.items()
        )[:runs]
    }
    return qrels, found


def publish(
    qrels: Any, runs: Any, names: dict[str, str], decimals: int = 3, **options: Any
) -> Table:
    """Write the means of some measures, each under a label."""
    table: Table = {}
    for name, run in runs.items():
        result = germane.evaluate(qrels, run, list(names.values()), **options)
        table[name] = {
            label: f"{one.mean:.{decimals}f}"
            for label, one in zip(names, result.values(), strict=True)
        }
    return table


SETS = draw(1)
TREC = {name: name for name in ("map", "ndcg_cut_10", "recip_rank")}


def test_a_table_of_zeros_has_no_protocol() -> None:
    # no grade is 3, and no score 3.5: several protocols give 0 in every cell
    table = {name: {"recall@10": "0.000", "P@5": "0.000"} for name in SETS[1]}
    found = germane.reconcile_table(*SETS, table)
    assert not found
    assert not found.off
    assert found.verdict.startswith("no protocol is certain. One gives all 6 cells: ")


def test_the_nearest_protocol_of_one_cell_is_counted_in_words() -> None:
    ours = {"ours": SETS[1]["ours"]}
    found = germane.reconcile_table(SETS[0], ours, {"ours": {"MAP": "0.999"}})
    assert not found
    assert " gives 0 of 1 cell. " in found.verdict


def test_a_tools_table_is_named_and_nothing_is_off() -> None:
    table = publish(*SETS, TREC, dialect="trec_eval-9")
    found = germane.reconcile_table(*SETS, table)
    assert found
    assert not found.off
    assert found.tools[0] == "trec_eval-9"
    assert found.verdict.startswith(
        "all 9 cells are trec_eval-9's `map`, `ndcg_cut_10`, `recip_rank`"
    )
    assert str(found.definitions["map"].measure) == "AP(norm=R)"
    assert found.chance < 1e-6


def test_spoilt_cells_are_named_with_their_slips() -> None:
    table = publish(*SETS, TREC, 4, dialect="trec_eval-9")
    right = {run: dict(row) for run, row in table.items()}
    whole, point, digits = table["ours"]["map"].partition(".")
    table["ours"]["map"] = whole + point + digits[1] + digits[0] + digits[2:]
    table["bm25"]["ndcg_cut_10"] = right["dense"]["ndcg_cut_10"]
    found = germane.reconcile_table(*SETS, table)
    assert found
    assert {(one.run, one.column) for one in found} == {("ours", "map"), ("bm25", "ndcg_cut_10")}
    swapped, other = sorted(found.off, key=lambda one: one.column)
    assert swapped.slip == f"two digits of {right['ours']['map']} are swapped"
    assert other.slip == "it is the value of dense"
    assert f"{swapped.value:.4f}" == right["ours"]["map"]


@pytest.mark.parametrize(
    ("options", "column", "measure"),
    [
        ({"missing": "skip", "no_relevant": "skip"}, "MAP", "AP"),
        ({"unjudged": "remove", "ties": "worst"}, "nDCG@10", "nDCG@10"),
        pytest.param({"depth": 20}, "MAP", "AP", marks=pytest.mark.long),
        ({"missing": "skip"}, "nDCG@10", "nDCG(gain=exp)@10"),
    ],
)
def test_changed_conventions_hold_for_the_whole_table(
    options: dict[str, Any], column: str, measure: str
) -> None:
    names = {"MAP": "AP", "nDCG@10": "nDCG@10", "P@5": "P@5", column: measure}
    table = publish(*SETS, names, 4, **options)
    found = germane.reconcile_table(*SETS, table)
    assert found
    assert not found.off
    kept = {dict(one.choices).get(name) for one in found.definitions.values() for name in options}
    assert kept >= set(options.values()) or found.tools  # every column has the same conventions
    for name, word in options.items():
        assert all(dict(one.choices).get(name) == word for one in found.definitions.values())


def test_a_mean_over_each_runs_own_queries_is_one_change_of_a_table() -> None:
    qrels, runs = SETS
    judged = {query: grades for place, (query, grades) in enumerate(qrels.items()) if place % 3}
    names = {"MAP": "AP(norm=found)", "P@5": "P@5"}
    table = publish(judged, runs, names, 4, missing="skip", unknown="zero")
    found = germane.reconcile_table(judged, runs, table)
    assert found
    assert found.conventions == ("missing=skip", "unknown=zero")
    assert not found.off
    decision = "With missing=skip and unknown=zero, the mean is over the run's own queries."
    assert found.common == (decision,)


def test_nothing_is_claimed_of_random_numbers() -> None:
    for seed in range(3):
        rng = random.Random(seed)
        table = publish(*SETS, {"MAP": "AP", "P@5": "P@5"})
        wrong = {
            run: {name: f"{float(text) + rng.gauss(0, 0.05):.3f}" for name, text in row.items()}
            for run, row in table.items()
        }
        found = germane.reconcile_table(*SETS, wrong)
        assert not found
        assert found.answer == "none"
        assert found.verdict.startswith("no protocol gives the table. The nearest one, ")


def swap(table: Table, one: str, other: str) -> Table:
    """Exchange two rows, or two columns."""
    moved = {one: other, other: one}
    return {
        run: {name: table[moved.get(run, run)][moved.get(name, name)] for name in row}
        for run, row in table.items()
    }


@pytest.mark.parametrize(
    ("names", "one", "other", "says"),
    [
        ({"MAP": "AP", "nDCG@10": "nDCG@10"}, "MAP", "nDCG@10", "It looks as if the columns MAP and nDCG@10 were exchanged: 6 of 6 cells would then fit"),
        ({"MAP": "AP", "P@5": "P@5"}, "ours", "bm25", "It looks as if the rows of ours and bm25 were exchanged: 6 of 6 cells would then fit"),
        ({"MAP": "AP", "P@5": "P@5", "nDCG@5": "nDCG@5", "R@5": "R@5"}, "MAP", "P@5", "The columns MAP and P@5 were exchanged."),
    ],
)  # fmt: skip
def test_exchanged_rows_and_columns_are_said(
    names: dict[str, str], one: str, other: str, says: str
) -> None:
    found = germane.reconcile_table(*SETS, swap(publish(*SETS, names, 4), one, other))
    assert len(found.common) == 1
    assert found.common[0].startswith(says)
    assert found.common[0] in str(found)
    assert bool(found) is (len(names) == 4)


def test_what_is_off_everywhere_is_said() -> None:
    """Numbers near those of runs that were cut at 10, and numbers of another collection's size."""
    rng = random.Random(2)
    cut = publish(*SETS, {"MAP": "AP", "R@20": "R@20"}, 4, depth=10)
    near = {r: {c: f"{float(t) + rng.gauss(0, 0.001):.4f}" for c, t in row.items()} for r, row in cut.items()}  # fmt: skip
    found = germane.reconcile_table(*SETS, near)
    assert not found
    assert found.common[0].startswith("Nearest as if the runs were cut at 10 (depth=10): 0.00")
    assert found.common[1].startswith("All 6 numbers are lower than those computed, by ")
    right = publish(*SETS, {"MAP": "AP", "nDCG@10": "nDCG@10"}, 4)
    small = {r: {c: f"{0.83 * float(t):.4f}" for c, t in row.items()} for r, row in right.items()}
    assert germane.reconcile_table(*SETS, small).common == (
        "All numbers are 0.83 times those computed.",
    )


def test_a_change_that_rests_on_one_cell_is_said() -> None:
    table = publish(*SETS, {"MAP": "AP", "P@5": "P@5"}, 4)
    table["ours"]["MAP"] = publish(*SETS, {"MAP": "AP"}, 4, depth=20)["ours"]["MAP"]
    table["bm25"]["MAP"] = table["dense"]["MAP"] = "0.0123"
    found = germane.reconcile_table(*SETS, table)
    assert found.conventions == ("depth=20",)
    assert found.common == ("depth=20 rests on one cell: without it, 3 are equal.",)


def test_a_level_that_nobody_has_makes_a_column_zero() -> None:
    graded, runs = draw(1, runs=5)
    qrels = {q: {d: min(grade, 1) for d, grade in one.items()} for q, one in graded.items()}
    table = publish(qrels, runs, {"P@5": "P@5", "MAP@10": "AP(rel=2)@10"}, 4)
    table["bm25"]["MAP@10"] = "0.0891"
    found = germane.reconcile_table(qrels, runs, table)
    assert found
    assert str(found.definitions["MAP@10"].measure) == "AP(rel=2)@10"
    assert [(one.run, one.column) for one in found.off] == [("bm25", "MAP@10")]


def test_percentages_bold_numbers_and_marks_are_understood(tmp_path: Path) -> None:
    table = publish(*SETS, {"MAP": "AP", "P@5": "P@5", "MRR": "RR"}, 4)
    rows = [
        f"{run} & \\textbf{{{100 * float(row['MAP']):.2f}}} & {row['P@5']}$^{{\\dagger}}$ & {100 * float(row['MRR']):.2f}\\% \\\\"
        for run, row in table.items()
    ]
    path = tmp_path / "table.tex"
    path.write_text(
        "\\begin{tabular}{lrrr}\nrun & MAP & P@5 & MRR \\\\\n\\midrule\n"
        + "\n".join(rows)
        + "\n\\end{tabular}\n"
    )
    found = germane.reconcile_table(*SETS, path)
    assert found
    assert not found.off
    assert any("percent sign" in one for one in found.notes)
    assert any("marks" in one for one in found.notes)
    assert found.percent == {"MAP"}


def test_dcg_does_not_show_that_a_table_has_percentages() -> None:
    table = publish(*SETS, {"DCG@5": "DCG@5", "P@5": "P@5", "MAP": "AP"}, 4)
    table["bm25"]["P@5"] = "1.5000"
    found = germane.reconcile_table(*SETS, table)
    assert not found.percent
    assert ("bm25", "P@5") in [(cell.run, cell.column) for cell in found.off]


def test_runs_are_matched_by_name() -> None:
    qrels, runs = SETS
    table = publish(qrels, runs, {"MAP": "AP"})
    table = {"BM-25": table["bm25"], "Ours": table["ours"], "other": {"MAP": "0.1"}}
    some = {"ours": runs["ours"], "bm25": runs["bm25"]}
    found = germane.reconcile_table(qrels, some, table)
    assert found.rows == ("Ours", "BM-25")
    assert "other" in found.ignored
    with pytest.raises(
        germane.errors.InputError, match=r"no row for the run 'orus'. Did you mean 'Ours'\?"
    ):
        germane.reconcile_table(qrels, {"orus": runs["ours"]}, table)


@pytest.mark.parametrize(
    ("runs", "table", "error", "says"),
    [
        ([], {"a": {"MAP": 0.1}}, germane.errors.InputError, "runs are a mapping"),
        ({}, {"a": {"MAP": 0.1}}, germane.errors.EmptyError, "no runs"),
        ({"a": {}}, {"a": {"colour": 0.1}}, germane.errors.MeasureError, "no column of the table"),
        ({"a": {}}, {"a": {"MAP": "x"}}, germane.errors.InputError, "a number such as 0.412"),
    ],
)
def test_errors_say_what_is_wrong(runs: Any, table: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        germane.reconcile_table({"q": {"d": 1}}, runs, table)


def test_it_prints_like_the_reported_table() -> None:
    table = publish(*SETS, {"MAP": "AP", "P@5": "P@5"})
    table["ours"]["MAP"] = "0.900"
    found = germane.reconcile_table(*SETS, table)
    text = str(found)
    assert "0.900ᵃ" in text
    assert "a) ours, MAP: 0.900 reported, " in text
    assert "<sup>a</sup>" in found.markdown()
    assert "\\textsuperscript{a}" in found.latex()
    assert "<table" in found._repr_html_()
    plain = found.to_dict()
    assert json.loads(json.dumps(plain))["off"][0]["column"] == "MAP"


def test_the_command_reconciles_a_table(tmp_path: Path) -> None:
    qrels, runs = SETS
    (tmp_path / "qrels").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, row in qrels.items() for d, g in row.items())
    )
    for name, run in runs.items():
        (tmp_path / f"{name}.run").write_text(
            "".join(f"{q} Q0 {d} 0 {s} x\n" for q, row in run.items() for d, s in row.items())
        )
    table = publish(qrels, runs, {"MAP": "AP", "P@5": "P@5"})
    lines = [f"{run},{row['MAP']},{row['P@5']}" for run, row in table.items()]
    (tmp_path / "table.csv").write_text("run,MAP,P@5\n" + "\n".join(lines) + "\n")
    files = [str(tmp_path / f"{name}.run") for name in runs]
    command = [sys.executable, "-m", "germane", "reconcile", str(tmp_path / "qrels"), *files]
    done = subprocess.run(
        [*command, "--table", str(tmp_path / "table.csv")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "All 6 cells are" in done.stdout
    both = subprocess.run(command, capture_output=True, text=True)
    assert both.returncode == 2
    assert "--reported NUMBER or --table TABLE" in both.stderr


# --- Detectors --------------------------------------------------------------------------------------


def _draw_boxes(seed: int) -> tuple[Any, Any]:
    rng = random.Random(seed)
    truth, found = [], {"a": [], "b": []}  # type: ignore[var-annotated]
    for _ in range(8):
        corners = [
            (rng.uniform(0, 200), rng.uniform(0, 200), rng.uniform(10, 130)) for _ in range(6)
        ]
        boxes = [[x, y, x + w, y + w] for x, y, w in corners]
        labels = [rng.choice((1, 2)) for _ in boxes]
        truth.append({"boxes": boxes, "labels": labels})
        for name, noise in (("a", 6.0), ("b", 14.0)):
            moved = [[one + rng.gauss(0, noise) for one in box] for box in boxes]
            moved = [[min(x, u), min(y, v), max(x, u), max(y, v)] for x, y, u, v in moved]
            scores = [rng.random() for _ in boxes]
            found[name].append({"boxes": moved, "labels": labels, "scores": scores})
    return truth, found


def test_a_table_of_detectors_has_one_set_of_conventions() -> None:
    truth, found = _draw_boxes(3)
    measures = {"AP": "AP", "AP50": "AP50", "AP75": "AP75", "APm": "AP(area=medium)"}
    table = {}
    for name, one in found.items():
        result = germane.boxes.evaluate(truth, one, list(measures.values()), candidate="best")
        values = [result[measure].mean for measure in measures.values()]
        table[name] = {c: f"{100 * v:.2f}" for c, v in zip(measures, values, strict=True)}
    right = table["b"]["AP50"]
    table["b"]["AP50"] = f"{float(right) - 3:.2f}"
    said = germane.boxes.reconcile_table(truth, found, table)
    assert said
    assert [(one.run, one.column) for one in said.off] == [("b", "AP50")]
    assert f"{said.off[0].value:.2f}" == right


def test_the_command_reconciles_a_table_of_detectors(tmp_path: Path) -> None:
    box = {"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40]}
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, **box, "area": 1600}],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    for name, y in (("a", 12), ("b", 16)):
        found = [{**box, "bbox": [10, y, 40, 40], "score": 0.9}]
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    # IoU is 38/42 for a (nine thresholds of ten), and 34/46 for b (five)
    (tmp_path / "t.csv").write_text("run,AP,AP50,AP75\na,90.0,100.0,100.0\nb,50.0,100.0,0.0\n")
    command = [sys.executable, "-m", "germane", "boxes", "reconcile", str(tmp_path / "truth.json")]
    command += [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    done = subprocess.run(
        [*command, "--table", str(tmp_path / "t.csv")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "6 equal." in done.stdout
    one = subprocess.run([*command, "--reported", "90.0"], capture_output=True, text=True)
    assert one.returncode == 2
    assert "for several files, use --table" in one.stderr


def test_columns_of_boxes_and_of_masks_stand_in_one_table(tmp_path: Path) -> None:
    pytest.importorskip("pycocotools")
    from shapes_sets import make_shapes

    truth, ours = make_shapes(5, "segm", images=15, boxed=True)
    rng = random.Random(1)
    runs = {"A": ours, "B": [one | {"score": rng.random()} for one in ours if rng.random() < 0.8]}
    rows, columns = (
        [],
        ("AP$^{\\text{box}}$", "AP$^{\\text{box}}_{50}$", "AP$^{m}$", "AP$_{50}^{mask}$"),
    )
    for name, found in runs.items():
        cells = [
            f"{100 * germane.boxes.evaluate(truth, found, measure, dialect=tool)[measure].mean:.2f}"
            for tool in ("pycocotools", "pycocotools-segm")
            for measure in ("AP", "AP50")
        ]
        if name == "B":
            cells[2] = "12.34"
        rows.append(" & ".join([name, *(f"\\textbf{{{cell}}}" for cell in cells)]))
    table = "\\begin{tabular}{lcccc}\n" + " \\\\\n".join([" & ".join(["Model", *columns]), *rows])
    (tmp_path / "t.tex").write_text(table + " \\\\\n\\end{tabular}\n", "utf-8")
    said = germane.boxes.reconcile_table(truth, runs, tmp_path / "t.tex")
    assert said
    assert said.columns == ("AP box", "AP box50", "AP mask", "AP50 mask")
    assert [(one.run, one.column) for one in said.off] == [("B", "AP mask")]
    assert said.tools[0] == "pycocotools"
    boxes = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    with pytest.raises(
        germane.errors.InputError, match="columns of mask, and the truths or the detections"
    ):
        germane.boxes.reconcile_table(
            boxes, {"a": [boxes[0] | {"scores": [0.5]}]}, {"a": {"AP": "90", "mask AP": "80"}}
        )
