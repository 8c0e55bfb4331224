"""An explanation is the number's own terms and norm, shown rank by rank."""

import json
import math
import pickle
import random
from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import germane
from germane import cli

from strategies import TABLE

QRELS = {"q3": {"a": 2, "b": 0, "c": 1, "z": 1}, "other": {"a": 1}}
LACKING = {"other": {"a": 1.0}}
RUN = {"q3": {"a": 1.0, "b": 1.0, "c": 0.5, "u": 0.4}, "other": {"a": 1.0}}


def example(name: str) -> germane.types.Explanation:
    return germane.explain([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], name, relevant=3)


@pytest.mark.parametrize("norm", ["R", "min", "found"])
def test_the_example_of_three_relevant_items(norm: str) -> None:
    (reading,) = example(f"AP(norm={norm})@10").readings
    assert [t for t in reading.terms if t] == [1 / 3, 2 / 5, 3 / 8]
    assert reading.norm == 3
    assert reading.value == pytest.approx(float((Q(1, 3) + Q(2, 5) + Q(3, 8)) / 3))


def test_the_formula_has_the_numbers_put_in() -> None:
    assert example("AP@10").readings[0].formula == "AP@10 = (1/3 + 2/5 + 3/8) / min(3,10) = 0.3694"
    assert example("RR").readings[0].formula == "RR = 1/3 = 0.3333"
    assert example("DCG@5").readings[0].formula == "DCG@5 = 1/log2(4) + 1/log2(6) = 0.8869"


def test_a_shortened_list_under_norm_found() -> None:
    explanation = germane.explain([1, 1] + [0] * 8, "AP(norm=found)@10", relevant=6)
    reading = explanation.readings[0]
    assert reading.formula.startswith("AP(norm=found)@10 = (1 + 1) / 2 = 1.0")
    assert reading.divisor == "relevant items found in the first 10 = 2"
    assert len(explanation.missed) == 4


def test_the_measures_of_grades_may_be_named() -> None:
    by_place = germane.explain([0, 1], "RR").readings[0].formula
    assert (
        germane.explain([0, 1], measures="RR").readings[0].formula
        == by_place
        == "RR = 1/2 = 0.5000"
    )


def test_five_relevant_items() -> None:
    (reading,) = germane.explain([1, 0, 1, 0, 0, 1, 0, 0, 1, 1], "AP@10").readings
    assert reading.formula == "AP@10 = (1 + 2/3 + 3/6 + 4/9 + 5/10) / 5 = 0.6222".replace(
        "/ 5", "/ min(5,10)"
    )


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_terms_and_norm_are_the_value(row) -> None:  # type: ignore[no-untyped-def]
    """For every measure, on random lists: (sum of terms + rest) / norm is what evaluate says."""
    rng = random.Random(row.name)
    for _ in range(10):
        items = [f"d{i}" for i in range(rng.randrange(1, 60))]
        run = {"q": {item: rng.randrange(8) for item in items}}
        judged = rng.sample([*items, "x", "y"], min(len(items), 12))
        qrels = {"q": {item: rng.choice([-1, 0, 1, 1, 2, 3]) for item in judged}}
        measure = germane.types.Measure(row.name)
        explanation = germane.explain(qrels, run, measure, query="q")
        (reading,) = explanation.readings
        assert reading.value == germane.evaluate(qrels, run, measure)[measure].per_query["q"]
        total = math.fsum(reading.terms) + reading.rest
        if row.name != "YAAP":  # a logarithm of the sum
            quotient = total / reading.norm if reading.norm else 0.0
            assert quotient == pytest.approx(reading.value, abs=1e-12)
        retrieved = explanation.rows[-1].upto
        assert retrieved == len(items)
        assert [row.rank for row in explanation.rows[1:]] == [
            row.upto + 1 for row in explanation.rows[:-1]
        ]


def test_hits_are_those_of_the_measure() -> None:
    """P@rank, recall, hits and misses use the measure's own rel."""
    explanation = germane.explain([1, 3, 2], "AP(rel=2)", relevant=4)
    assert [row.hit for row in explanation.rows] == [False, True, True]
    assert [row.precision for row in explanation.rows] == [0, 1 / 2, 2 / 3]
    assert explanation.readings[0].terms == (0, 1 / 2, 2 / 3)
    assert (explanation.relevant, len(explanation.missed)) == (4, 2)
    assert germane.explain(QRELS, RUN, "P(rel=2) nDCG", query="q3").relevant == 1
    with pytest.raises(germane.errors.MeasureError, match="measures with different rel"):
        germane.explain(QRELS, RUN, "P(rel=2) AP", query="q3")


def test_ties_are_shown_with_what_other_orders_would_make_of_them() -> None:
    explanation = germane.explain(QRELS, RUN, "AP@10", query="q3")
    assert [row.item for row in explanation.rows] == ["b", "a", "c", "u"]
    assert [row.tied for row in explanation.rows] == [(1, 2), (1, 2), None, None]
    (reading,) = explanation.readings
    assert reading.value == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert reading.ties == {
        "expected": pytest.approx(((1 + 2 / 3) / 3 + (1 / 2 + 2 / 3) / 3) / 2),
        "best": pytest.approx((1 + 2 / 3) / 3),
        "worst": pytest.approx((1 / 2 + 2 / 3) / 3),
    }
    assert "1–2" in str(explanation)


def test_missed_items_are_named() -> None:
    explanation = germane.explain(QRELS, RUN, query="q3")
    assert explanation.missed == (("z", 1.0),)
    assert "3 relevant, 4 retrieved, 1 missed: z" in str(explanation)


def test_long_lists_are_folded_between_hits_and_beyond_the_cutoff() -> None:
    qrels = {"q": {"d10": 1, "d50": 1, "d900": 1}}
    run = {"q": [f"d{i}" for i in range(1, 1001)]}
    whole = germane.explain(qrels, run, "AP", query="q")
    assert [(row.rank, row.upto) for row in whole.rows] == [
        (1, 9),
        (10, 10),
        (11, 49),
        (50, 50),
        (51, 899),
        (900, 900),
        (901, 1000),
    ]
    cut = germane.explain(qrels, run, "AP@20", query="q")
    assert [(row.rank, row.upto) for row in cut.rows] == [(1, 9), (10, 10), (11, 20), (21, 1000)]


def test_several_measures_stand_side_by_side() -> None:
    names = "AP(norm=found)@5 AP@5 AP(norm=R)@5 AP(norm=k)@5"
    explanation = germane.explain([1, 0, 1, 0, 0], names, relevant=20)
    columns = [column for name in names.split() for column in (name, "sum")]
    assert explanation.table().columns[-8:] == tuple(columns)
    third = ("2/3", f"{1 + 2 / 3:.4f}")
    assert [row[-8:] for row in explanation.table().rows] == [
        ("1", "1.0000") * 4,
        ("",) * 8,
        third * 4,
        ("",) * 8,
        ("",) * 8,
    ]
    assert explanation.table(digits=None).columns[-2:] == ("AP(norm=k)@5", "sum of AP(norm=k)@5")
    sum_ = 1 + 2 / 3
    assert [reading.value for reading in explanation.readings] == pytest.approx(
        [sum_ / 2, sum_ / 5, sum_ / 20, sum_ / 5]
    )


def test_every_way_to_write_it() -> None:
    explanation = germane.explain(QRELS, RUN, "AP@10 nDCG", query="q3")
    assert "| rank | item |" in explanation.markdown()
    assert r"\begin{tabular}" in explanation.latex()
    assert "<table " in explanation._repr_html_()
    written = json.loads(json.dumps(explanation.to_dict()))
    assert written["ranks"][1] == {
        "rank": 2,
        "upto": 2,
        "item": "a",
        "relevance": 2.0,
        "hit": True,
        "precision": 0.5,
        "recall": 1 / 3,
        "tied": [1, 2],
    }
    assert written["measures"][0]["sums"] == [0, 1 / 2, 1 / 2 + 2 / 3, 1 / 2 + 2 / 3]
    assert written["measures"][0]["divisor"] == "min(R,10) = min(3,10) = 3"


def test_through_files() -> None:
    qrels, run = "examples/digits/qrels.txt", "examples/digits/lda.run"
    query = germane.read_qrels(qrels).queries[5]
    explanation = germane.explain(qrels, run, "AP nDCG@10", query=query)
    whole = germane.evaluate(qrels, run, "AP nDCG@10")
    for reading in explanation.readings:
        assert reading.value == whole[reading.measure].per_query[query]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "says"),
    [
        ((QRELS, RUN), {"query": "q33"}, germane.errors.NotFoundError, "no query 'q33' is judged. Did you mean 'q3'?"),
        ((QRELS, RUN), {}, germane.errors.NotFoundError, "2 queries are judged; choose one with query=… (--query)"),
        ((QRELS, LACKING), {"query": "q3", "missing": "skip"}, germane.errors.CoverageError, "'q3', and missing=skip leaves it out"),
        ((QRELS, LACKING), {"query": "q3", "missing": "error"}, germane.errors.CoverageError, "no results for query 'q3'."),
        (({"q3": ["a"]}, LACKING), {}, germane.errors.CoverageError, "no results for query 'q3'."),
        ((QRELS,), {}, germane.errors.InputError, "the run is missing: give qrels and a run"),
        ((QRELS, RUN), {"query": "q3", "ties": "expected"}, germane.errors.PolicyError, "does not order equal scores"),
        (([0, 1], "AQ"), {}, germane.errors.MeasureError, "unknown measure 'AQ'"),
    ],
)  # fmt: skip
def test_what_cannot_be_explained(arguments, options, error, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as raised:
        germane.explain(*arguments, **options)
    assert says in str(raised.value)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_query_that_the_run_lacks_counts_as_evaluate_counts_it(row, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """From every source, under missing=zero: an empty list, with what evaluate says of it."""
    path = tmp_path / "a.run"
    path.write_text("other Q0 a 1 1 t\n")
    measure = germane.types.Measure(row.name)
    expected = germane.evaluate(QRELS, LACKING, measure)[measure].per_query["q3"]
    for run in (LACKING, {"other": ["a"]}, path, germane.read_run(path)):
        explanation = germane.explain(QRELS, run, measure, query="q3")
        assert explanation.readings[0].value == expected
        assert (len(explanation.rows), explanation.retrieved, explanation.answered) == (0, 0, False)
        assert [item for item, _ in explanation.missed] == ["a", "c", "z"]
        assert "no results for query 'q3': missing=zero counts it as empty" in str(explanation)


def test_a_query_with_an_empty_list_is_answered() -> None:
    explanation = germane.explain(QRELS, {"q3": [], "other": ["a"]}, query="q3")
    assert explanation.answered
    assert "missing=zero counts" not in str(explanation)


def test_what_makes_several_measures_differ() -> None:
    names = "AP(norm=found)@5 AP@5 AP(norm=R)@5 AP(norm=k)@5 AP@2 RR"
    explanation = germane.explain([0, 1, 1, 0, 0], names, relevant=3)
    found = "relevant items found in the first 5 = 2"
    norms = {"AP@5": "min(R,5) = min(3,5) = 3", "AP(norm=R)@5": "R = 3", "AP(norm=k)@5": "5"}
    values = {"AP@5": (1 / 2 + 2 / 3) / 3, "AP(norm=R)@5": (1 / 2 + 2 / 3) / 3}
    values["AP(norm=k)@5"] = (1 / 2 + 2 / 3) / 5
    first = "AP(norm=found)@5 0.5833"
    assert explanation.differences == (
        *(
            f"{name} is {values[name]:.4f}, {first}: divided by {norm} instead of {found}"
            for name, norm in norms.items()
        ),
        f"AP@2 is 0.2500, {first}: rank 3 adds 0 instead of 2/3",
        f"RR is 0.5000, {first}: rank 3 adds 0 instead of 2/3; divided by 1 instead of {found}",
    )
    assert all(line in str(explanation) for line in explanation.differences)


def test_measures_that_do_not_differ_on_a_list() -> None:
    explanation = germane.explain([1, 0], "AP AP(norm=R)@2", relevant=2)
    (line,) = explanation.differences
    assert line.endswith("the same terms and norm on this list")
    assert germane.explain([1, 0], "AP").differences == ()


@pytest.mark.parametrize(
    ("no_relevant", "value", "says"),
    [("zero", 0.0, "zero: 0.0000"), ("one", 1.0, "one: 1.0000"), ("skip", None, "skip: left out")],
)
def test_a_query_without_relevant_items(no_relevant, value, says) -> None:  # type: ignore[no-untyped-def]
    explanation = germane.explain({"q": {"a": 0}}, {"q": ["a"]}, "AP", no_relevant=no_relevant)
    (reading,) = explanation.readings
    assert reading.formula == f"AP is not defined without relevant items; no_relevant={says}"
    assert reading.value == value or (value is None and math.isnan(reading.value))
    with pytest.raises(germane.errors.CoverageError, match="without a relevant item: 'q'"):
        germane.explain({"q": {"a": 0}}, {"q": ["a"]}, "AP", no_relevant="error")


def test_a_cutoff_beyond_the_end_of_the_list() -> None:
    assert "the list ends at rank 2, so nothing more is found up to rank 10" in str(
        germane.explain([0, 1], "AP@10", relevant=3)
    )


def test_a_formula_of_many_terms_is_cut_short_and_adds_up() -> None:
    (reading,) = germane.explain([1] * 30, "AP").readings
    assert reading.formula.startswith("AP = (1 + 1")
    assert "… 18 more that add 18.0000) / 30 = 1.0000" in reading.formula


def test_a_query_of_which_nothing_is_relevant() -> None:
    qrels = {"q": [], "r": {"a": 1}}
    explanation = germane.explain(qrels, {"q": {"a": 1.0}}, query="q")
    assert explanation.readings[0].formula.startswith("AP is not defined without relevant items")


def test_long_lists_are_folded_between_what_counts() -> None:
    """Judged or not: a row of its own has what is relevant, or what adds a term to a measure."""
    grades = [0.0] * 50
    grades[9] = grades[30] = 1
    grades[20] = 0.5
    rows = [(row.rank, row.upto) for row in germane.explain(grades, "AP").rows]
    assert rows == [(1, 9), (10, 10), (11, 30), (31, 31), (32, 50)]
    rows = [(row.rank, row.upto) for row in germane.explain(grades, "AP DCG").rows]
    assert rows == [(1, 9), (10, 10), (11, 20), (21, 21), (22, 30), (31, 31), (32, 50)]
    assert all(row.item is None for row in germane.explain(grades, "AP").rows)


def test_a_list_of_a_hundred_thousand() -> None:
    explanation = germane.explain([0] * 99_999 + [1], "AP")
    assert len(explanation.rows) == 2
    assert explanation.readings[0].value == 1e-5


def test_a_table_of_all_digits_leaves_nothing_out() -> None:
    explanation = germane.explain([1] * 1500, "P")
    assert len(explanation.table().rows) == 1001
    assert [row[0] for row in explanation.table(digits=None).rows] == [
        str(rank) for rank in range(1, 1501)
    ]


def test_rows_are_a_sequence() -> None:
    rows = germane.explain([1, 0, 1], "AP").rows
    assert rows[-1] == rows[2] == list(rows)[2]
    assert rows[1:] == (rows[1], rows[2])
    with pytest.raises(IndexError):
        rows[3]
    explanation = germane.explain(QRELS, RUN, query="q3")
    assert list(pickle.loads(pickle.dumps(explanation)).rows) == list(explanation.rows)


def test_csv_has_all_digits_and_terms_as_numbers() -> None:
    table = germane.explain([1, 0, 1], "AP").table(digits=None)
    assert table.rows[2] == ("3", "1", "●", repr(2 / 3), "1.0", repr(2 / 3), repr(1 + 2 / 3))


@pytest.mark.parametrize(
    ("measure", "formula"),
    [
        ("YAAP", "YAAP = ln((1 + S) ÷ (1 + 2 - S)) = 0.0000, S = 1"),
        ("IDCG", "IDCG = 1.6309"),
        ("NumRelRet", "NumRelRet = 1"),
        ("F", "F = (2) / (1·2 + 2) = 0.5000"),
        ("MeanP@2", "MeanP@2 = (1.5000) / 2 = 0.7500"),
    ],
)
def test_formulas_with_the_numbers_put_in(measure: str, formula: str) -> None:
    reading = germane.explain([1, 0], measure, relevant=2).readings[0]
    assert reading.formula == formula
    if measure == "F":
        assert reading.divisor == "(β²·R + N) = (1·2 + 2) = 4"


def test_what_fits_files_is_refused_for_a_list_and_the_other_way_round() -> None:
    with pytest.raises(germane.errors.InputError, match="ties=… is for qrels and a run"):
        germane.explain([1, 0], "AP", ties="best")
    with pytest.raises(germane.errors.InputError, match="query=… is for qrels and a run"):
        germane.explain([1, 0], "AP", query="q")
    with pytest.raises(germane.errors.InputError, match="relevant=… is for the grades of one list"):
        germane.explain(QRELS, RUN, query="q3", relevant=5)
    with pytest.raises(germane.errors.NotFoundError, match="no query"):
        germane.explain(QRELS, RUN, query=["q3"])  # type: ignore[arg-type]


def test_a_generator_of_grades() -> None:
    assert germane.explain(iter([1, 0]), "AP").readings[0].value == 1
    assert germane.pr_curve(grade for grade in [1, 0]).area() == 1


TIED = {"zzz": 1.0, "yyy": 1.0, "a": 0.5, "xxx": 0.5, "b": 0.1}


def ranks(explanation: germane.types.Explanation) -> list[tuple[object, object]]:
    return [(row.item, row.tied) for row in explanation.rows]


def columns_of(folder: Path) -> Iterator[object]:
    """The same run as a frame and as files of columns, its rows among those of another query."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rows = [("q", item, score) for item, score in TIED.items()]
    rows[2:2] = [("p", "a", 3.0)]
    table = pa.table(dict(zip(("query", "item", "score"), zip(*rows, strict=True), strict=True)))
    yield table
    yield pa.Table.from_batches(table.to_batches(max_chunksize=2))
    parquet.write_table(table, folder / "a.parquet", row_group_size=2)
    yield folder / "a.parquet"
    csv.write_csv(table, folder / "a.csv")
    yield folder / "a.csv"


@pytest.mark.parametrize("ties", ["trec", "given", "best", "worst"])
def test_unjudged_items_have_their_names_and_ties_too(ties, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """At the ranks that the judged items leave free, from every source."""
    path = tmp_path / "a.run"
    path.write_text("".join(f"q Q0 {item} 1 {score} t\n" for item, score in TIED.items()))
    third, fourth = {"trec": ("xxx", "a"), "worst": ("xxx", "a")}.get(ties, ("a", "xxx"))
    expected = [("zzz", (1, 2)), ("yyy", (1, 2)), (third, (3, 4)), (fourth, (3, 4)), ("b", None)]
    for run in ({"q": TIED}, path, germane.read_run(path), *columns_of(tmp_path)):
        explanation = germane.explain({"q": {"a": 1, "b": 0}}, run, ties=ties)
        assert ranks(explanation) == expected


def test_every_rank_names_the_item_that_stands_there(tmp_path: Path) -> None:
    """The list is that of the scores, sorted here; unjudged items share their scores with judged ones."""
    import pyarrow as pa

    rng = random.Random(7)
    for _ in range(60):
        items = rng.sample([f"{n:02}" for n in range(30)], rng.randint(2, 9))
        run = {item: float(rng.randint(0, 2)) for item in items}
        judged = dict.fromkeys(rng.sample(items, rng.randint(1, len(items))), 1)
        path = tmp_path / "a.run"
        path.write_text("".join(f"q Q0 {item} 1 {score} t\n" for item, score in run.items()))
        columns = {"query": ["q"] * len(run), "item": items, "score": list(run.values())}
        choice = rng.choice([{}, {"exclude": {"q": items[:1]}}, {"scores": "single"}])
        kept = [item for item in items if item not in choice.get("exclude", {}).get("q", [])]
        for ties, named in (
            ("trec", sorted(kept, reverse=True)), ("ascending", sorted(kept)), ("given", kept),
        ):  # fmt: skip
            falling = sorted({*run.values()}, reverse=True)
            expected = [item for score in falling for item in named if run[item] == score]
            for given in ({"q": run}, path, germane.read_run(path), pa.table(columns)):
                shown = germane.explain({"q": judged}, given, ties=ties, **choice)
                assert [row.item for row in shown.rows] == expected
                group = [
                    [n for n, other in enumerate(expected, 1) if run[other] == run[item]]
                    for item in expected
                ]
                tied = [(ranks[0], ranks[-1]) if ranks[1:] else None for ranks in group]
                assert [row.tied for row in shown.rows] == tied


def test_unjudged_items_of_ranked_lists_and_below_a_depth() -> None:
    explanation = germane.explain({"q": ["a"]}, {"q": ["x", "a", "y", "z"]}, depth=3)
    assert ranks(explanation) == [("x", None), ("a", None), ("y", None)]
    removed = germane.explain({"q": ["a"]}, {"q": ["x", "a"]}, unjudged="remove")
    assert ranks(removed) == [("a", None)]


def test_a_depth_that_cuts_through_a_tie_of_which_unjudged_items_are_removed() -> None:
    """The mean over all orders has no closed form there, and nobody asked for it."""
    qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"x": 3.0, "a": 2.0, "b": 2.0, "c": 2.0}}
    explanation = germane.explain(qrels, run, "AP", unjudged="remove", depth=2)
    [reading] = explanation.readings
    assert reading.value == 0.5
    assert reading.ties == {"best": 0.5, "worst": 0.0}
    runs = {"one": run, "other": run}
    assert germane.report(qrels, runs, "AP", unjudged="remove", depth=2).html


def test_ranks_and_ids_of_frames(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Without scores ranks are the order; integers keep their type, and in text are their digits."""
    import pyarrow as pa

    ranked = pa.table({"query": [7, 7, 7, 8], "item": [3, 1, 2, 9], "rank": [3, 1, 2, 1]})
    qrels = {7: {1: 1}, 8: {9: 1}}
    assert ranks(germane.explain(qrels, ranked, query=7)) == [(1, None), (2, None), (3, None)]
    path = tmp_path / "a.csv"
    path.write_text("query,item,score\n7,5,3\n7,1,2\n8,9,1\n")
    assert ranks(germane.explain(qrels, path, query="7")) == [("5", None), (1, None)]
    lacking = germane.explain({**qrels, 6: {1: 1}}, ranked, query=6)
    assert (lacking.answered, lacking.readings[0].value) == (False, 0)


def test_a_bad_score_is_named_by_its_row_in_the_whole_frame() -> None:
    import pyarrow as pa

    run = pa.table({"query": ["p", "q", "q"], "item": ["a", "b", "c"], "score": [1.0, 2, math.nan]})
    with pytest.raises(
        germane.errors.ScoreError, match="row 2: a score must be a finite number"
    ) as evaluated:
        germane.evaluate({"q": ["b"]}, run)
    with pytest.raises(germane.errors.ScoreError) as explained:
        germane.explain({"q": ["b"]}, run)
    assert str(explained.value) == str(evaluated.value)


def test_the_query_is_found_in_a_file_of_scattered_rows(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.run"
    lines = ["q Q0 u 1 3 t", "r Q0 x 1 9 t", "q Q0 a 2 2 t", "r Q0 y 1 8 t", "q Q0 v 3 1 t"]
    path.write_text("\n".join(lines) + "\n")
    explanation = germane.explain({"q": ["a"], "r": ["y"]}, path, query="q")
    assert ranks(explanation) == [("u", None), ("a", None), ("v", None)]


def test_an_item_that_stands_twice_in_a_file_is_named_with_its_lines(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    with pytest.raises(germane.errors.DuplicateError, match=r"a\.run:3: item 'a' .* as on line 1"):
        germane.explain({"q": ["a"]}, path)
    assert germane.explain({"q": ["a"]}, path, duplicates="first").readings[0].value == 1


class Judged(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int


@pytest.mark.parametrize("hold", [list, tuple, iter])
def test_judgments_may_be_namedtuples(hold: Callable[[list[Judged]], Any]) -> None:
    """Each of these verbs takes the grades of one list, too, and a namedtuple is a sequence."""
    rows = [Judged("q", "a", 1), Judged("q", "b", 0), Judged("q", "c", 1)]
    run = {"q": ["b", "a", "c"]}
    assert germane.explain(hold(rows), run, "RR").readings[0].value == 1 / 2
    assert germane.pr_curve(hold(rows), run).precision.tolist() == [0, 1 / 2, 2 / 3]
    found = germane.reconcile(hold(rows), run, measure="RR", reported="0.5000")
    assert found.tried[0].value == 1 / 2


def test_grades_may_come_from_an_iterator() -> None:
    assert germane.explain(iter([0, 1]), "RR").readings[0].value == 1 / 2
    assert germane.pr_curve(iter([0, 1])).precision.tolist() == [0, 1 / 2]


def test_two_lists_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    first = germane.explain([0, 0, 1, 0, 1], "AP@5", relevant=3)
    second = germane.explain([1, 0, 0, 0, 1, 1], "AP@5", relevant=3)
    table = first.beside(second, names=("old", "new"))
    assert table.columns == ("rank", "old", "new", "AP@5 of old", "AP@5 of new", "differs")
    assert [row[0] for row in table.rows] == list("123456")
    marked = {int(row[0]) for row in table.rows if row[-1]}
    assert marked == {1, 3}
    assert table.rows[2][3:5] == ("1/3", "")
    assert table.rows[5][1:3] == ("", "1")
    assert "AP@5 of old = (1/3 + 2/5) / min(3,5) = 0.2444" in table.notes
    with pytest.raises(germane.errors.InputError, match="the same measures"):
        first.beside(germane.explain([1], "nDCG"))
    lists = ["0 0 1 0 1", "1 0 0 0 1 1"]
    assert cli.main(["explain", *lists, "-m", "AP@5", "--relevant", "3"]) == 0
    assert capsys.readouterr().out == first.beside(second).text()
    assert cli.main(["explain", *lists, "--format", "json"]) == 2
    assert "two lists make a table" in capsys.readouterr().err
