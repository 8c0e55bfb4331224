"""Judges: corrected means, agreement and what to judge next, against other tools and simulation."""

import json
import math
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli

RECORDED = json.loads((Path(__file__).parent / "data" / "judges.json").read_text("utf-8"))
N = 80


def make_worlds(rows: Any, queries: Any = None) -> dict[str, dict[str, int]]:
    """Qrels of an array of grades: queries × items."""
    places = range(len(rows)) if queries is None else queries
    return {f"q{q}": {f"d{i}": int(grade) for i, grade in enumerate(rows[q])} for q in places}


def make_runs(seed: int = 2) -> tuple[Any, Any, dict[str, Any]]:
    """True grades, a lenient model's grades, and two runs."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((N, 12)) < rng.beta(1, 2, N)[:, None]).astype(int)
    model = np.maximum(truth, rng.random(truth.shape) < 0.15)
    scores = {
        name: truth * skill + rng.normal(0, 1, truth.shape)
        for name, skill in (("a", 0.5), ("b", 1.5))
    }
    runs = {
        name: {
            f"q{q}": {f"d{i}": float(s) for i, s in enumerate(row)} for q, row in enumerate(rows)
        }
        for name, rows in scores.items()
    }
    return truth, model, runs


TRUTH, MODEL, RUNS = make_runs()
DRAWN = list(range(0, N, 4))
PEOPLE, JUDGED = make_worlds(TRUTH, DRAWN), make_worlds(MODEL)


def trust(**changes: Any) -> Any:
    given = {"people": PEOPLE, "model": JUDGED, "measures": "nDCG@10 P@5", **changes}
    return germane.trust_many(RUNS, **given)


# --- Agreement -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", RECORDED["pairs"])
def test_agreement_is_that_of_other_tools(case: dict[str, Any]) -> None:
    first, second = ({"q": dict(enumerate(grades))} for grades in case["both"])
    found = germane.compare_judges(first, second)
    for name in (
        "raw",
        "kappa",
        "kappa_linear",
        "kappa_quadratic",
        "alpha",
        "alpha_ordinal",
        "ac1",
        "ac2",
    ):
        assert getattr(found, name) == pytest.approx(case[name], abs=1e-9), name


def test_one_grade_leaves_chance_undefined() -> None:
    found = germane.compare_judges({"q": {"a": 0, "b": 0}}, {"q": {"a": 0, "b": 0}})
    assert found.raw == 1
    assert all(math.isnan(one) for one in (found.kappa, found.alpha, found.ac1, found.ac2))
    assert "nan" in str(found)


def test_skewed_grades_are_warned_of() -> None:
    first = {"q": {i: int(i == 0) for i in range(50)}}
    second = {"q": {i: int(i == 1) for i in range(50)}}
    found = germane.compare_judges(first, second)
    assert found.raw == 0.96
    assert found.kappa < 0 < 0.9 < found.ac1
    assert "grades are skewed" in str(found)


def test_judges_without_a_common_item() -> None:
    with pytest.raises(germane.errors.CoverageError, match="no item was judged by both"):
        germane.compare_judges({"q": {"a": 1}}, {"q": {"b": 1}})


# --- Corrected means -------------------------------------------------------------------------------


def test_values_are_those_of_evaluate() -> None:
    found = trust()["a"]["nDCG@10"]
    people = germane.evaluate(PEOPLE, RUNS["a"], "nDCG@10")["nDCG@10"]
    model = germane.evaluate(JUDGED, RUNS["a"], "nDCG@10")["nDCG@10"]
    assert found.people_mean == pytest.approx(people.mean)
    assert found.naive_mean == pytest.approx(model.mean, abs=1e-12)
    assert found.naive_interval == model.interval()
    assert (found.judged, found.queries) == (len(DRAWN), N)
    assert found.interval.low < found.mean < found.interval.high
    assert found.narrower > 0


def test_strata_weigh_by_their_size() -> None:
    strata = {query: "hard" if q < 20 else "easy" for q, query in enumerate(JUDGED)}
    drawn = [*range(0, 20, 2), *range(20, N, 6)]  # 10 of 20, and 10 of 60
    people = make_worlds(TRUTH, drawn)
    found = trust(people=people, strata=strata)["a"]["P@5"]
    values = germane.evaluate(people, RUNS["a"], "P@5")["P@5"].values
    assert found.people_mean == pytest.approx(
        values[:10].mean() * 20 / N + values[10:].mean() * 60 / N
    )
    weights = {f"q{q}": 2 if q < 20 else 6 for q in drawn}
    weighted = trust(people=people, weights=weights)["a"]["P@5"]
    assert weighted.people_mean == pytest.approx(found.people_mean)


def test_all_queries_judged_by_people_leave_nothing_open() -> None:
    found = trust(people=make_worlds(TRUTH), about="queries")["a"]["nDCG@10"]
    assert found.mean == pytest.approx(found.people_mean)
    assert found.interval.low == found.interval.high == found.mean
    population = trust(people=make_worlds(TRUTH))["a"]["nDCG@10"]
    assert population.interval.low < found.mean < population.interval.high


@pytest.mark.parametrize("runs", [["x.run"], "x.run", None, {}, {0: ["a"]}])
def test_runs_are_named(runs: Any) -> None:
    judged = {q: {"a": 1} for q in range(5)}
    with pytest.raises(germane.errors.InputError, match=r"runs are|no runs"):
        germane.trust_many(runs, people=judged, model=judged)


def test_measures_of_whole_lists_are_refused() -> None:
    with pytest.raises(
        germane.errors.MeasureError, match="a correction is of a mean over judged queries"
    ):
        trust(measures="Coverage@5", catalogue=1000)


def test_a_constant_model_changes_nothing() -> None:
    found = trust(model=make_worlds(np.ones_like(MODEL)), measures="P@5")["a"]["P@5"]
    assert found.tuning == 0
    assert (found.mean, found.interval) == (found.people_mean, found.people_interval)


def test_differences_are_those_of_means() -> None:
    found = trust(tuning="full")
    difference = found.between("b", "a", "P@5")
    assert difference.mean == pytest.approx(found["b"]["P@5"].mean - found["a"]["P@5"].mean)
    assert "within" in difference.reason or "outside" in difference.reason
    with pytest.raises(germane.errors.NotFoundError, match="no run 'c'"):
        found["c"]
    with pytest.raises(germane.errors.NotFoundError, match="There is"):
        found.between("a", "b", "P@5")


def test_a_plan_shows_the_difference_that_it_is_for() -> None:
    """So many queries as planned show the difference in about 80% of simulated experiments."""
    rng = np.random.default_rng(1)

    def experiment(queries: int) -> germane.types.CorrectedMean:
        better = (
            rng.random(queries) < 0.65
        ).tolist()  # RR of b less that of a: 0.5 or -0.5, 0.15 on average
        judged = {q: {"y": int(one), "x": int(not one)} for q, one in enumerate(better)}
        runs = {
            name: dict.fromkeys(judged, ids) for name, ids in (("a", ["x", "y"]), ("b", ["y", "x"]))
        }
        found = germane.trust_many(runs, people=judged, model=judged, measures="RR")
        return found.between("b", "a", "RR")

    pilot = experiment(1000)
    plan = pilot.plan(0.15)
    lows = [experiment(plan.people_alone).people_interval.low for _ in range(300)]
    assert np.mean(np.array(lows) > 0) == pytest.approx(0.8, abs=0.07)
    assert all(n is None or n <= plan.people_alone + 2 for n in plan.people.values())
    for wrong in (0, -1, "x"):
        with pytest.raises(germane.errors.InputError, match="difference takes"):
            pilot.plan(wrong)


# --- Findings and errors ---------------------------------------------------------------------------


def test_circular_judges_are_warned_of() -> None:
    found = trust(judge_family="B")
    assert [one.what for one in found["b"].findings if one.severity == "serious"] == [
        "circular judge"
    ]
    assert not [one for one in found["a"].findings if one.severity == "serious"]
    assert "Clarke and Dietz" in str(found)


def test_queries_that_were_not_drawn_at_random_are_found() -> None:
    worst = np.argsort(MODEL.sum(axis=1))[:20].tolist()
    found = trust(people=make_worlds(TRUTH, worst))
    assert any(one.what == "sampled queries differ" for one in found["a"].findings)
    assert not any(one.what == "sampled queries differ" for one in trust()["a"].findings)


def test_rare_disagreement_is_noted() -> None:
    found = trust(model=make_worlds(TRUTH))
    assert any(one.what == "rare disagreement" for one in found["a"].findings)


def test_values_that_hardly_differ_are_cautioned_of() -> None:
    """All differences are 0 where people judged; those of other queries may be from -1 to 1."""
    runs = {"a": RUNS["a"], "b": {**RUNS["a"], "q4": RUNS["b"]["q4"]}}
    found = germane.trust_many(runs, people=PEOPLE, model=JUDGED, measures="P@1")
    number = found.differences[0]
    assert "differ on only 0 of 20 queries" in number.caution
    assert number.interval.basis == "range"
    low, high = number.people_interval.low, number.people_interval.high
    # a query that was not drawn has the weight 1 - 0.025^(1/20); it may differ as the runs' values do among themselves
    values = germane.evaluate(PEOPLE, runs["a"], "P@1")["P@1"].values
    deviations = (values - values.mean()) ** 2 * 20 / 19
    apart = 2 * float((deviations**2).sum() / deviations.sum())  # both runs have these values
    reach = (1 - 0.025 ** (1 / 20)) * math.sqrt(apart)
    assert (low, high) == pytest.approx((-reach, reach), abs=1e-6)
    assert number.caution in str(found)
    assert not found["a"]["P@1"].caution
    assert "probably more are needed" in str(number.plan(0.05))
    assert "likely" not in str(found["a"]["P@1"].plan(0.05))


STRONG = {q: ["a", "b"] for q in range(300)}  # always right, as far as people judged
SURE = {q: {"a": 1, "b": 0} for q in STRONG}


@pytest.mark.parametrize("about", ["population", "queries"])
@pytest.mark.parametrize("people", [5, 10, 80])
@pytest.mark.parametrize("measure", ["RR", "Success@1", "nDCG@10", "DCG"])
def test_no_interval_from_a_sample_has_a_width_of_0(about: Any, people: int, measure: str) -> None:
    judged = dict(list(SURE.items())[:people])
    runs = {"one": STRONG, "two": STRONG}
    found = germane.trust_many(runs, people=judged, model=SURE, measures=measure, about=about)
    for number in found.numbers:
        for interval in (number.interval, number.people_interval):
            assert interval.high - interval.low > 0.005
    if measure == "Success@1" and about == "population":  # Clopper and Pearson
        ends = found["one"][measure].people_interval
        assert (ends.low, ends.high) == (pytest.approx(0.025 ** (1 / people)), 1)


def make_graded(seed: int, total: int = 400) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run that finds a part of ten relevant items, and judgments of all its results."""
    rng = np.random.default_rng(seed)
    hits = rng.random((total, 10)) < rng.beta(1.2, 1.2, total)[:, None]
    run = {f"q{q}": [f"d{i}" for i in range(10)] for q in range(total)}
    return run, make_worlds(hits.astype(int))


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10", "RR", "AP@10"])
def test_a_model_that_equals_people_helps(measure: str) -> None:
    """For every number of people's queries, in every sample, and the more of them, the more; it does not hang on a seed."""
    widths: dict[int, list[float]] = {}
    shares: dict[int, list[float]] = {}
    for seed, n in product(range(6), (5, 10, 20, 40, 80)):
        run, judged = make_graded(seed)
        people = dict(list(judged.items())[:n])
        number = germane.trust(run, people=people, model=judged, measures=measure)[measure]
        both = [one.high - one.low for one in (number.interval, number.people_interval)]
        assert both[0] < both[1]
        shares.setdefault(n, []).append(both[0] / both[1])
        assert number.shown == "corrected"
        widths.setdefault(n, []).append(both[0])
    for few, many in pairwise(widths.values()):
        assert np.mean(many) < np.mean(few)
    assert max(map(np.mean, shares.values())) < 0.9
    assert all(max(found) < 2 * min(found) for n, found in widths.items() if n >= 20)


def test_values_that_differ_by_rounding_only_are_equal() -> None:
    number = trust(measures="P@5")["a"]["P@5"]
    same = replace(number.sample, people=np.where(np.arange(20) < 17, 0.3, number.sample.people))
    noise = np.spacing(0.3) * np.random.default_rng(1).integers(-2, 3, 20)
    spoiled = replace(same, people=same.people + noise)
    cautions = [replace(number, sample=sample).caution for sample in (same, spoiled)]
    assert cautions[0] == cautions[1] != ""


def test_peoples_number_comes_first_where_the_corrected_interval_is_much_wider() -> None:
    """People's values hardly vary, but the model's do, at random: full correction only adds their errors."""
    rng = np.random.default_rng(3)
    model = {q: {"a": int(one), "b": 0} for q, one in enumerate(rng.random(300) < 0.5)}
    people = {q: {"a": int(q != 7), "b": 0} for q in range(60)}
    found = germane.trust(
        STRONG, people=people, model=model, measures="P@1", about="queries", tuning="full"
    )
    number = found["P@1"]
    widths = [one.high - one.low for one in (number.interval, number.people_interval)]
    assert widths[0] > 1.35 * widths[1]
    assert (number.shown, number.to_dict()["shown"]) == ("people", "people")
    assert f"{number.people_mean:.4f} (people alone)" in str(number)
    assert found.table().columns[2:5] == ("people", "people low", "people high")
    assert "Report the number from people's judgments alone." in str(found)
    assert trust()["a"]["nDCG@10"].shown == "corrected"


def test_items_whose_weights_differ_by_rounding_are_ordered_by_their_ids() -> None:
    """1/2 + 1/3 + 1/6 is 1, but 0.9999999999999999 in floating point; in another order it is 1."""
    assert 1 / 2 + 1 / 3 + 1 / 6 < 1 / 3 + 1 / 6 + 1 / 2
    places = {"a": {2: "x", 3: "y"}, "b": {3: "x", 6: "y"}, "c": {6: "x", 2: "y"}}
    runs = {
        name: {"q": [of_run.get(rank, f"d{rank}") for rank in range(1, 7)]}
        for name, of_run in places.items()
    }
    qrels = {"q": {f"d{rank}": rank % 2 for rank in range(1, 7)}}
    chosen = germane.choose_judgments(qrels, runs, "RR")
    assert [one.item for one in chosen] == ["x", "y"]
    assert len({one.weight for one in chosen}) == 1


def test_findings_are_warnings() -> None:
    worst = np.argsort(MODEL.sum(axis=1))[:20].tolist()
    with pytest.warns(germane.GermaneWarning, match="differ from all queries more than a random"):
        found = trust(people=make_worlds(TRUTH, worst))
    assert any(one.what == "sampled queries differ" for one in found.findings)
    grades = {"q": {i: int(i == 0) for i in range(50)}}
    with pytest.warns(germane.GermaneWarning, match="grades are skewed"):
        agreement = germane.compare_judges(grades, grades)
    assert [one.what for one in agreement.findings] == ["skewed grades"]
    runs = {"a": {"q": {"x": 1.0, "y": 1.0}, "p": {"x": 1.0}}}
    with pytest.warns(germane.GermaneWarning, match="1 of 2 judged queries is missing"):
        chosen = germane.choose_judgments({"q": {"x": 1}, "r": {"x": 1}}, runs, "RR")
    assert "missing queries" in [one.what for one in chosen.findings]
    assert "queries not judged" not in [one.what for one in chosen.findings]


def remove(qrels: Any, query: str, item: str | None) -> Any:
    changed = {q: dict(items) for q, items in qrels.items()}
    if item is None:
        del changed[query]
    else:
        del changed[query][item]
    return changed


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"people": remove(PEOPLE, "q8", "d3")}, "query 'q8': people did not judge 'd3'"),
        ({"people": {**PEOPLE, "q8": {**PEOPLE["q8"], "d3": -1}}}, "query 'q8': people did not judge 'd3'"),
        ({"model": remove(JUDGED, "q8", None)}, "the model did not judge 'q8'"),
        ({"people": dict(list(PEOPLE.items())[:4])}, "needs at least 5"),
        ({"weights": dict.fromkeys(PEOPLE, 0)}, "a weight is a number above 0"),
        ({"strata": {q: q == "q0" for q in JUDGED}}, "each stratum needs at least 2"),
        ({"weights": {"q8": 1}}, "weights: no weight for"),
        ({"weights": {**dict.fromkeys(PEOPLE, 4), "q8": 1e308}}, "'q8' and a few others outweigh the rest"),
        ({"strata": 5}, "strata: strata are a mapping"),
        ({"judge_family": 5}, "judge_family takes words"),
        ({"measures": "AP(mean=geometric)"}, "not an arithmetic mean"),
        ({"measures": "NumRelRet"}, "not an arithmetic mean"),
        ({"missing": "skip"}, "leaves out queries"),
        ({"about": "world"}, "about takes population or queries"),
        ({"confidence": 95}, "confidence takes a number between 0 and 1"),
    ],
)  # fmt: skip
def test_errors(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(germane.GermaneError, match=says):
        trust(**changes)


# --- Command line ----------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    paths = {}
    for name, qrels in (("people", PEOPLE), ("model", JUDGED)):
        lines = (f"{q} 0 {d} {grade}\n" for q, items in qrels.items() for d, grade in items.items())
        paths[name] = str(tmp_path / f"{name}.txt")
        Path(paths[name]).write_text("".join(lines), "utf-8")
    for name, run in RUNS.items():
        lines = (
            f"{q} Q0 {d} 1 {score} x\n" for q, items in run.items() for d, score in items.items()
        )
        paths[name] = str(tmp_path / f"{name}.run")
        Path(paths[name]).write_text("".join(lines), "utf-8")
    return paths


def test_command(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    judges = ["--people", files["people"], "--model", files["model"], "-m", "P@5"]
    assert cli.main(["trust", files["a"], files["b"], *judges, "--detect", "0.1"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "Assumptions:",
        "Why the numbers differ:",
        "people \\ model",
        "people's queries",
        "b - a",
    ):
        assert words in shown
    assert cli.main(["trust", files["a"], *judges, "--format", "json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (
        plain["numbers"][0]["mean"]
        == germane.trust(RUNS["a"], people=PEOPLE, model=JUDGED, measures="P@5")["P@5"].mean
    )
    assert cli.main(["trust", files["a"], *judges, "--format", "csv", "--judge-family", "a"]) == 0
    printed = capsys.readouterr()
    assert "the judge is related to this run" in printed.err
    assert printed.out.startswith("measure,run,corrected,low,high")
    assert cli.main(["trust", files["a"], *judges, "--detect", "0.1"]) == 2
    assert cli.main(["trust", "-", *judges]) == 2


def test_files_of_weights_and_strata(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = [
        "--people",
        files["people"],
        "--model",
        files["model"],
        "-m",
        "P@5",
        "--format",
        "json",
    ]
    weights, strata = tmp_path / "weights.csv", tmp_path / "strata.json"
    weights.write_text(
        "query,weight\n" + "".join(f"{q},{1 + i % 3}\n" for i, q in enumerate(PEOPLE)), "utf-8"
    )
    strata.write_text(json.dumps({q: i % 8 // 4 for i, q in enumerate(JUDGED)}), "utf-8")
    for option, path, given in (
        ("weights", weights, {q: 1 + i % 3 for i, q in enumerate(PEOPLE)}),
        ("strata", strata, {q: i % 8 // 4 for i, q in enumerate(JUDGED)}),
    ):
        assert cli.main(["trust", files["a"], *judges, f"--{option}", str(path)]) == 0
        plain = json.loads(capsys.readouterr().out)
        assert (
            plain["numbers"][0]["mean"] == trust(measures="P@5", **{option: given})["a"]["P@5"].mean
        )


def test_frames_are_read_as_by_evaluate() -> None:
    pandas = pytest.importorskip("pandas")

    def frame(rows: Any, value: str) -> Any:
        return pandas.DataFrame(
            [(q, d, v) for q, items in rows.items() for d, v in items.items()],
            columns=["query", "item", value],
        )

    framed = germane.trust(
        frame(RUNS["a"], "score"),
        people=frame(PEOPLE, "grade"),
        model=frame(JUDGED, "grade"),
        measures="P@5",
    )
    assert framed["P@5"].interval == trust(measures="P@5")["a"]["P@5"].interval


@pytest.mark.parametrize("kind", ["parquet", "pandas", "polars", "integers"])
def test_columns_of_weights(kind: str, tmp_path: Path) -> None:
    """Weights are numbers in columns, of floats or of integers; the number is that of a mapping."""
    weights = {q: 1 + i % 3 for i, q in enumerate(PEOPLE)}
    if kind != "integers":
        weights = {q: weight + 0.5 for q, weight in weights.items()}
    columns = {"query": list(weights), "weight": list(weights.values())}
    given: Any
    if kind in ("pandas", "polars"):
        given = pytest.importorskip(kind).DataFrame(columns)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        given = tmp_path / "weights.parquet"
        parquet.write_table(pyarrow.table(columns), given)
    expected = trust(measures="P@5", weights=weights)["a"]["P@5"]
    assert trust(measures="P@5", weights=given)["a"]["P@5"].interval == expected.interval
    assert expected.mean != trust(measures="P@5")["a"]["P@5"].mean


def test_few_differences_of_yes_and_no_are_cautioned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hardly any query shows a difference: the interval comes from the range of the measure."""
    first, second = tmp_path / "first.run", tmp_path / "second.run"
    first.write_text("".join(f"q{q} Q0 x 1 1 r\n" for q in range(90)), "utf-8")
    second.write_text("".join(f"q{q} Q0 y 1 1 r\n" for q in range(90)), "utf-8")
    paths = {}
    for name, count, apart in (("people", 40, 2), ("model", 90, 5)):
        paths[name] = str(tmp_path / f"{name}.qrels")
        lines = (f"q{q} 0 x {q % 2}\nq{q} 0 y {q % 2 or int(q < apart)}\n" for q in range(count))
        Path(paths[name]).write_text("".join(lines), "utf-8")
    words = [
        "trust",
        str(first),
        str(second),
        "--people",
        paths["people"],
        "--model",
        paths["model"],
    ]
    assert cli.main([*words, "-m", "Success@10", "--format", "json"]) == 0
    numbers = json.loads(capsys.readouterr().out)["numbers"]
    assert [bool(one["caution"]) for one in numbers] == [False, False, True]
    assert cli.main([*words, "-m", "Success@10", "--format", "csv"]) == 0
    assert "differ on only 1 of 40 queries" in capsys.readouterr().err
