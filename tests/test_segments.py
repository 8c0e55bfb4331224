"""Runs compared in each segment of the queries or users, and numbers of all lists in comparisons."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli
from germane.errors import GermaneError

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
USERS = [f"u{n:02}" for n in range(60)]
AGES = {user: ("new", "old", "lapsed")[n % 3] for n, user in enumerate(USERS)}
ITEMS = [f"i{n:02}" for n in range(40)]


def draw_lists(seed: int, power: float) -> dict[str, list[str]]:
    """Lists of five items, the first ones more often."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, len(ITEMS) + 1) ** power
    chances /= chances.sum()
    return {
        u: [ITEMS[i] for i in rng.choice(len(ITEMS), 5, replace=False, p=chances)] for u in USERS
    }


RUNS = {"popular": draw_lists(1, 2.0), "broad": draw_lists(2, 0.5), "third": draw_lists(3, 1.0)}
LIKED = {u: random.Random(u).sample(ITEMS[:15], 3) for u in USERS}
GIVEN: dict[str, Any] = {"catalogue": len(ITEMS), "seen": draw_lists(4, 1.0)}


def test_segments_are_the_comparisons_of_their_queries() -> None:
    """But for the correction: differences, means and p-values are those of the queries alone."""
    names = "nDCG@5 Coverage@5 Novelty@5 Entropy@5"
    comparison = germane.compare(LIKED, RUNS, names, by=AGES, correction="none", **GIVEN)
    segments = comparison.segments
    assert segments is not None
    assert list(segments) == ["lapsed", "new", "old"]
    assert segments.counts == dict.fromkeys(["lapsed", "new", "old"], 20)
    for name, segment in segments.items():
        mine = [user for user in USERS if AGES[user] == name]
        runs = {run: {user: lists[user] for user in mine} for run, lists in RUNS.items()}
        alone = germane.compare(
            {user: LIKED[user] for user in mine}, runs, names, correction="none", **GIVEN
        )
        assert alone.means == segment.means
        for pair, whole in zip(segment.pairs, alone.pairs, strict=True):
            assert (pair.difference, pair.p, pair.queries) == pytest.approx(
                (whole.difference, whole.p, whole.queries)
            )
    assert comparison.pairs == germane.compare(LIKED, RUNS, names, correction="none", **GIVEN).pairs


@pytest.mark.parametrize("family", ["measure", "all"])
def test_all_segments_are_corrected_together(family: Any) -> None:
    comparison = germane.compare(
        LIKED, RUNS, "nDCG@5 RR", by=AGES, family=family, correction="bonferroni"
    )
    segments = comparison.segments
    assert segments is not None
    tests = 3 * 3 if family == "measure" else 3 * 3 * 2  # pairs × segments, × measures
    for _, pair in segments.pairs:
        assert pair.p_adjusted == pytest.approx(min(1.0, pair.p * tests))
        assert pair.interval is not None
        assert 1 - pair.interval.confidence == pytest.approx(0.05 / tests)
    assert f"Bonferroni over the {tests} comparisons" in segments.describe_correction()
    tukey = germane.compare(LIKED, RUNS, "RR", by=AGES, test="tukey").segments
    assert tukey is not None
    for _, pair in tukey.pairs:
        assert pair.p_adjusted == pytest.approx(min(1.0, pair.p * 3))


def test_a_number_of_all_lists_is_compared_by_the_jackknife() -> None:
    """Leave out each user of both runs; 60 users are 60 groups."""
    pair = germane.compare(LIKED, RUNS, "Coverage@5", baseline="popular", **GIVEN).between(
        "broad", "popular", "Coverage@5"
    )

    def differ(users: list[str]) -> float:
        covered = [len({i for u in users for i in RUNS[run][u]}) for run in ("popular", "broad")]
        return (covered[1] - covered[0]) / len(ITEMS)

    without = np.array([differ([u for u in USERS if u != user]) for user in USERS])
    error = np.sqrt(59 / 60 * ((without - without.mean()) ** 2).sum())
    assert pair.difference == pytest.approx(differ(USERS))
    assert (pair.queries, pair.wins, pair.improvement, pair.unit) == (60, None, None, "user")
    assert pair.interval is not None
    assert pair.interval.high - pair.interval.low == pytest.approx(
        2 * 2.3 * error, rel=0.15
    )  # 97.5 %
    assert pair.significant is (pair.p_adjusted < 0.05)
    student = germane.compare(
        LIKED, RUNS, "Coverage@5", baseline="popular", test="t", correction="none", **GIVEN
    )
    stats = pytest.importorskip("scipy.stats")
    p = 2 * stats.t.sf(abs(pair.difference) / error, 59)
    assert student.between("broad", "popular", "Coverage@5").p == pytest.approx(p)


def test_users_whom_one_run_lacks_count_for_neither() -> None:
    fewer = {user: RUNS["broad"][user] for user in USERS[:30]}
    comparison = germane.compare(
        LIKED, {"all": RUNS["popular"], "half": fewer}, "Coverage@5", **GIVEN
    )
    shared = {item for user in USERS[:30] for item in RUNS["popular"][user]}
    assert comparison.means["Coverage@5"]["all"] == len(shared) / len(ITEMS)
    assert "30 users with a list in every run; 30 left out" in comparison.notes[2]


def test_a_gate_guards_segments_and_variety() -> None:
    worse = {u: RUNS["broad"][u] if AGES[u] != "new" else RUNS["popular"]["u00"] for u in USERS}
    decision = germane.gate(LIKED, worse, "Coverage@5", baseline=RUNS["broad"], by=AGES, **GIVEN)
    fallen = {str(name): verdict for name, _, verdict in decision.segments}
    assert fallen == {"lapsed": "passed", "new": "fell", "old": "passed"}
    assert not decision.passed
    assert any(sentence.startswith("new: Coverage@5 fell by") for sentence in decision.sentences)
    assert [row[1] for row in decision.table().rows] == ["all", "lapsed", "new", "old"]
    without = germane.gate(
        LIKED, worse, "Coverage@5", baseline=RUNS["broad"], max_drop=0.1, **GIVEN
    )
    assert without.segments == ()
    assert without.passed is (without.comparison.pairs[0].difference >= -0.1)


def test_saved_results_have_no_lists(tmp_path: Path) -> None:
    baseline = germane.evaluate(LIKED, RUNS["broad"], "Coverage@5", **GIVEN)
    (tmp_path / "b.json").write_text(json.dumps(baseline.to_dict(queries=True)))
    with pytest.raises(
        GermaneError, match="is about all lists, judged or not, which the file does not"
    ):
        germane.gate(LIKED, RUNS["broad"], "Coverage@5", baseline=tmp_path / "b.json", **GIVEN)


def test_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lists in {"liked": LIKED, **RUNS}.items():
        rows = (f"{u},{i},{r}\n" for u, items in lists.items() for r, i in enumerate(items))
        Path(f"{name}.csv").write_text("user,item,rank\n" + "".join(rows))
    rows = (f"{user},{age}\n" for user, age in AGES.items())
    Path("ages.csv").write_text("user_id,segment\n" + "".join(rows))
    data = [
        "liked.csv",
        "popular.csv",
        "broad.csv",
        "-m",
        "nDCG@5",
        "-m",
        "Coverage@5",
        "--catalogue",
        "40",
        "--by",
        "ages.csv",
    ]
    assert cli.main(["compare", *data]) == 0
    text = capsys.readouterr().out
    assert "measure     system  baseline  segment  queries" in text
    assert cli.main(["compare", *data, "--view", "segments", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 2 * 3
    comparison = germane.compare(
        LIKED,
        {"popular": RUNS["popular"], "broad": RUNS["broad"]},
        "nDCG@5 Coverage@5",
        catalogue=40,
        by=AGES,
    )
    assert comparison.segments is not None
    assert lines == comparison.segments.table(digits=None).csv().splitlines()
    assert cli.main(["compare", *data, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [part["segment"] for part in document["segments"]] == ["lapsed", "new", "old"]
    assert (
        cli.main(
            [
                "gate",
                "liked.csv",
                "popular.csv",
                "--baseline",
                "broad.csv",
                *data[3:],
                "--format",
                "json",
            ]
        )
        == 1
    )
    assert set(json.loads(capsys.readouterr().out)["segment_verdicts"]) == {"lapsed", "new", "old"}
    assert cli.main(["compare", *data[:-2], "--view", "segments"]) == 2
    assert "give that, too" in capsys.readouterr().err


def test_a_report_has_segments_names_and_variety() -> None:
    names = ["Recall@5", "Coverage@5", "Novelty@5"]
    page = germane.report(LIKED, RUNS, names, by=AGES, rename={"R@5": "Hits"}, **GIVEN).html
    results = germane.evaluate_many(LIKED, RUNS, names, **GIVEN)
    table = results.by(AGES).table(confidence=0.95)
    assert all(f"<td>{cell}</td>" in page for row in table.rows for cell in row[3:])
    interval = results["broad"]["Coverage@5"].interval()
    assert interval is not None
    assert f"{interval.low:.3f} – {interval.high:.3f}" in page
    assert "Recall@5 is R@5" in page
    assert ">Hits ↓</th>" in page
    segments = germane.compare(results, by=AGES).segments
    assert segments is not None
    assert f"{len(segments.pairs)} comparisons in segments" in page
    for row in segments.table().rows:
        assert "".join(f"<td>{cell}</td>" for cell in row[5:8]) in page
    assert page.count('<circle class="bar') == 2 * len(RUNS)  # coverage and novelty
    for name in RUNS:
        assert (
            f"{name}: {results[name]['Coverage@5'].mean:.3g} and {results[name]['R@5'].mean:.3g}"
            in page
        )
    with pytest.raises(GermaneError, match="Coverage@5 is about whole lists, and a report shows"):
        germane.report(LIKED, RUNS, "Coverage@5", **GIVEN)
    assert "Accuracy and variety" not in germane.report(LIKED, RUNS, "R@5").html


def test_frames_of_means() -> None:
    results = germane.evaluate_many(LIKED, RUNS, "Recall@5 Coverage@5", **GIVEN)
    wide = results.frame(rename={"R@5": "Recall@5"})
    assert [*wide] == ["run", "Recall@5", "Coverage@5"]
    assert wide["Recall@5"] == [results[name]["R@5"].mean for name in RUNS]
    long = results.frame(shape="long", confidence=0.9)
    assert long["run"][:2] == ["popular", "popular"]
    interval = results["popular"]["Coverage@5"].interval(confidence=0.9)
    assert interval is not None
    assert (long["low"][1], long["high"][1]) == (interval.low, interval.high)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert len(pandas.DataFrame(long)) == len(polars.DataFrame(long)) == 6
    with pytest.raises(GermaneError, match="shape"):
        results.frame(shape="tall")  # type: ignore[arg-type]


def test_a_picture_of_means_has_the_best_run_on_top() -> None:
    pytest.importorskip("matplotlib")
    results = germane.evaluate_many(LIKED, RUNS, "Recall@5 Coverage@5", **GIVEN)
    display = results.plot(measure="Coverage@5")
    assert list(display.means_) == ["broad", "third", "popular"]
    assert display.intervals_["broad"] == results["broad"]["Coverage@5"].interval()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [*display.means_]


@pytest.mark.parametrize(
    "name", ["train", "x_train", "history", "filter_already_liked", "user_items"]
)
def test_names_of_seen_items_lead_to_exclude(name: str) -> None:
    with pytest.raises(GermaneError, match="exclude= removes the items that users have seen"):
        germane.evaluate(LIKED, RUNS["broad"], "RR", **{name: LIKED})  # type: ignore[arg-type]
    germane.evaluate(LIKED, RUNS["broad"], "RR", exclude=RUNS["third"])


def test_seen_without_a_use_is_refused() -> None:
    with pytest.raises(
        GermaneError, match=r"seen= is for measures of the catalogue.* exclude= rem"
    ):
        germane.evaluate_many(LIKED, RUNS, "RR", seen=GIVEN["seen"])


def test_curves_of_segments_are_those_of_their_queries() -> None:
    curve = germane.mean_pr_curve(LIKED, RUNS["broad"])
    parts = curve.by(AGES)
    assert list(parts) == ["lapsed", "new", "old"]
    for name, part in parts.items():
        mine = {user: items for user, items in LIKED.items() if AGES[user] == name}
        alone = germane.mean_pr_curve(mine, {user: RUNS["broad"][user] for user in mine})
        assert part.precision.tolist() == alone.precision.tolist()
        assert part.low.tolist() == pytest.approx(alone.low.tolist(), nan_ok=True)
        assert (part.queries, part.area(), part.area(11)) == (20, alone.area(), alone.area(11))
