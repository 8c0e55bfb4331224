"""compare: pairing, the values that come out, and clear answers where there is little to say."""

import html
import json
import math
import random
import re
from typing import Any

import numpy as np
import pytest

import germane
from germane.types import Comparison

QUERIES = [f"q{number}" for number in range(40)]
QRELS = {query: ["d"] for query in QUERIES}


def run(seed: int, length: int = 6) -> dict[str, list[str]]:
    """A ranked list a query, with the relevant item at a random rank, or none."""
    chance = random.Random(seed)
    ranks = {query: chance.randint(1, length + 1) for query in QUERIES}
    return {q: [f"x{i}" for i in range(1, r)] + ["d"] * (r <= length) for q, r in ranks.items()}


RUNS = {"one": run(1), "two": run(2), "three": run(3)}


def compare(runs: Any = RUNS, measures: str = "RR P@1", **options: Any) -> Comparison:
    return germane.compare(QRELS, runs, measures, resamples=1000, **options)


# --- Pairing ---------------------------------------------------------------------------------------


def test_values_are_paired_by_query_id_never_by_position() -> None:
    """Neither the order of qrels nor that of a run's queries moves a digit."""
    turned = {name: dict(reversed(one.items())) for name, one in RUNS.items()}
    qrels = dict(sorted(QRELS.items(), key=lambda pair: hash(pair[0])))
    shuffled = germane.compare(qrels, turned, "RR P@1", resamples=1000)
    assert shuffled.to_dict() == compare().to_dict()


def test_differences_by_hand() -> None:
    results = germane.evaluate_many(QRELS, RUNS, "RR")
    one, two = (results[name]["RR"].per_query for name in ("one", "two"))
    differences = [two[query] - one[query] for query in QUERIES]
    mean = sum(differences) / 40
    deviation = math.sqrt(sum((d - mean) ** 2 for d in differences) / 39)
    pair = compare().between("two", "one", "RR")
    assert pair.difference == pytest.approx(mean)
    assert pair.d_z == pytest.approx(mean / deviation)
    wins, losses = (sum(sign * d > 0 for d in differences) for sign in (1, -1))
    assert (pair.wins, pair.losses, pair.ties) == (wins, losses, 40 - wins - losses)
    assert pair.improvement == (wins + pair.ties / 2) / 40
    assert pair.interval is not None
    assert pair.interval.low < pair.difference < pair.interval.high


def test_a_caption_has_the_policy_of_the_numbers() -> None:
    """It is that of the results, once, and with the dialect that chose it."""
    comparison = compare(RUNS, "RR", missing="skip", ties="expected")
    policies = [note for note in comparison.notes if note.startswith("policy")]
    result = comparison.datasets[""]["one"]
    assert policies == [f"policy: {result.policy}"]
    assert "ties=expected, missing=skip" in policies[0]
    spoken = compare(RUNS, "recip_rank", dialect="trec_eval-9")
    assert any(note.startswith("dialect: trec_eval-9 (") for note in spoken.notes)


def test_only_queries_with_a_value_for_every_run_are_compared() -> None:
    """A system that skips what it finds hard gains nothing by it."""
    part = {"one": RUNS["one"], "two": {q: RUNS["two"][q] for q in QUERIES[:30]}}
    comparison = compare(part, "RR", missing="skip")
    assert comparison.pairs[0].queries == 30
    assert "30 queries with a value for every run; 10 left out" in comparison.notes
    full = germane.compare(
        {q: ["d"] for q in QUERIES[:30]}, {n: RUNS[n] for n in part}, "RR", resamples=1000
    )
    assert comparison.pairs == full.pairs
    assert comparison.queries("RR", "one", "two").only_system == tuple(sorted(QUERIES[30:]))


def test_a_missing_query_counts_as_0_where_the_policy_says_so() -> None:
    part = {"one": RUNS["one"], "two": {q: RUNS["two"][q] for q in QUERIES[:30]}}
    assert compare(part, "RR").pairs[0].queries == 40


def test_values_that_are_not_defined_are_left_out() -> None:
    """no_relevant=nan makes a mean NaN; a comparison goes without these queries, and says so."""
    qrels = {**QRELS, "q0": {"d": 0}}
    comparison = germane.compare(qrels, RUNS, "RR", no_relevant="nan", resamples=1000)
    assert comparison.pairs[0].queries == 39
    assert all(math.isfinite(mean) for mean in comparison.means["RR"].values())


def test_measures_with_values_for_different_queries_stand_side_by_side() -> None:
    qrels = {**{q: {"d": 1} for q in QUERIES[:20]}, **{q: {"d": 2} for q in QUERIES[20:]}}
    comparison = germane.compare(
        qrels, RUNS, "RR RR(rel=2) P@1", no_relevant="skip", resamples=1000
    )
    queries = {str(pair.measure): pair.queries for pair in comparison.pairs}
    assert queries == {"RR": 40, "P@1": 40, "RR(rel=2)": 20}
    assert comparison.stability("RR(rel=2)").standings[0].mean == max(
        comparison.means["RR(rel=2)"].values()
    )


def test_runs_without_a_query_in_common() -> None:
    apart = {"one": {"q1": ["d"]}, "two": {"q2": ["d"]}}
    with pytest.raises(
        germane.errors.CoverageError, match=r"no query has a value for every run\. one: 'q1'"
    ):
        compare(apart, "RR", missing="skip")


# --- Little to say ---------------------------------------------------------------------------------


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "tukey"])
def test_identical_systems(test: Any) -> None:
    pytest.importorskip("scipy")
    pair = compare({"a": RUNS["one"], "b": RUNS["one"]}, "RR", test=test).pairs[0]
    assert pair.sentence == "b and a have the same RR on all 40 queries"
    assert (pair.difference, pair.p, pair.p_adjusted, pair.improvement) == (0, 1, 1, 0.5)
    assert pair.interval is not None
    # one more query may differ by 1, with the weight of the first of 40 draws
    least = 1 - 0.025 ** (1 / 40)
    assert (pair.interval.low, pair.interval.high) == pytest.approx((-least, least), abs=1e-6)
    assert (pair.interval.basis, pair.d_z, pair.detectable) == ("range", None, None)
    assert not pair.significant


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "tukey"])
def test_one_query(test: Any) -> None:
    pytest.importorskip("scipy")
    runs = {"a": {"q": ["x", "d"]}, "b": {"q": ["d"]}}
    pair = germane.compare({"q": ["d"]}, runs, "RR", test=test, resamples=1000).pairs[0]
    assert pair.difference == 0.5
    assert (pair.interval, pair.d_z, pair.detectable) == (None, None, None)
    assert pair.p == pytest.approx(0.5 if test == "sign" else 1, abs=0.01)
    assert pair.sentence.startswith("b is ahead of a by 0.500 RR, inconclusive, p = ")
    assert pair.sentence.endswith("1 win 0 losses 0 ties; one query tells nothing about others")
    assert pair.limit is not None


@pytest.mark.parametrize("queries", [2, 4])
def test_fewer_than_five_queries_have_no_interval(queries: int) -> None:
    judged = {f"q{i}": ["d"] for i in range(queries)}
    runs = {"a": {q: ["x", "d"] for q in judged}, "b": {q: ["d"] for q in judged}}
    comparison = germane.compare(judged, runs, "RR")
    pair = comparison.pairs[0]
    assert pair.interval is None
    assert f"no interval: {queries} queries tell too little about others" in pair.sentence
    assert "intervals: none, as fewer than 5 queries tell too little" in str(comparison)
    assert (
        germane.compare({**judged, **{f"p{i}": ["d"] for i in range(3)}}, runs, "RR")
        .pairs[0]
        .interval
    )


def test_intervals_of_few_differences_are_never_empty() -> None:
    """A tie on every query but one: the interval holds 0 and the differences that five queries may hide."""
    judged = {f"q{i}": ["d"] for i in range(8)}
    runs = {"a": {q: ["d"] for q in judged}, "b": {**{q: ["d"] for q in judged}, "q0": ["x", "d"]}}
    comparison = germane.compare(judged, runs, "RR DCG")
    for pair in comparison.pairs:
        assert pair.interval is not None
        assert pair.interval.low < pair.difference < pair.interval.high
    assert "from the range of the measure (Gaffke 2005)" in str(comparison)


def test_a_notebook_shows_what_is_printed() -> None:
    runs = {"<b>a": {"q": ["x", "d"]}, "b\x1b[31m": {"q": ["d"]}}
    comparison = germane.compare({"q": ["d"]}, runs, "RR AP")
    shown = comparison._repr_html_()
    assert html.unescape(shown).count(comparison.pairs[0].sentence.replace("\x1b", "\\x1b")) == 1
    assert shown.count("<li>") == len(comparison.pairs) == 2
    assert "<b>" not in shown
    assert "\x1b" not in shown


def test_runs_are_named_by_text() -> None:
    with pytest.raises(germane.errors.InputError, match="runs are named by text; got 2"):
        germane.compare({"q": ["d"]}, {"a": {"q": ["d"]}, 2: {"q": ["d"]}}, "RR")  # type: ignore[dict-item]


def test_the_same_difference_on_every_query() -> None:
    """Nothing varies: the interval comes from the range of differences, and no effect size has a meaning."""
    runs = {"a": {q: ["x", "d"] for q in QUERIES}, "b": {q: ["d"] for q in QUERIES}}
    pair = compare(runs, "RR").pairs[0]
    assert pair.interval is not None
    weight = 1 - 0.025 ** (1 / 40)  # of one more query, whose difference is -1 or 1
    ends = (0.5 - 1.5 * weight, 0.5 + 0.5 * weight)
    assert (pair.interval.low, pair.interval.high) == pytest.approx(ends, abs=1e-6)
    assert pair.d_z is None
    assert pair.p == 2 / 2**40
    assert pair.sentence.startswith(
        "b is significantly better than a by 0.500 RR, 95% interval [0.368, 0.544], p < 1e-6 "
    )


@pytest.mark.parametrize("queries", [1, 2, 3, 5])
@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "tukey"])
def test_no_number_is_nan(queries: int, test: Any) -> None:
    pytest.importorskip("scipy")
    few = {query: ["d"] for query in QUERIES[:queries]}
    comparison = germane.compare(
        few, RUNS, "RR P@1 AP NumRel", test=test, equivalence=0.1, resamples=200
    )
    text = json.dumps(comparison.to_dict(), allow_nan=False)
    assert "few queries" in text
    assert "nan" not in str(comparison) + comparison.html() + comparison.csv() + comparison.latex()
    assert all(0 < pair.p_adjusted <= 1 for pair in comparison.pairs if test != "t")
    for measure in comparison.measures:
        str(comparison.stability(measure))


# --- Choices ---------------------------------------------------------------------------------------


def test_all_pairs_or_a_baseline() -> None:
    pairs = [(pair.baseline, pair.system) for pair in compare(measures="RR").pairs]
    assert pairs == [("one", "two"), ("one", "three"), ("two", "three")]
    pairs = [(pair.baseline, pair.system) for pair in compare(measures="RR", baseline="two").pairs]
    assert pairs == [("two", "one"), ("two", "three")]


def test_the_family_is_named_and_corrected_over() -> None:
    """Six comparisons in all, three for each measure."""
    for family, size in (("all", 6), ("measure", 3)):
        pairs = compare(family=family, correction="bonferroni").pairs
        for pair in pairs:
            assert pair.p_adjusted == pytest.approx(min(1, pair.p * size))
            assert pair.test == f"randomization, Bonferroni over {size}"


def test_turning_a_pair_around_turns_its_numbers_around() -> None:
    one = compare(measures="RR").between("two", "one", "RR")
    turned = compare(dict(reversed(RUNS.items())), "RR").between("one", "two", "RR")
    assert turned.difference == -one.difference
    assert (turned.wins, turned.losses, turned.p) == (one.losses, one.wins, one.p)
    assert one.interval is not None
    assert turned.interval is not None
    assert turned.interval.low == pytest.approx(-one.interval.high, abs=1e-3)
    assert turned.sentence.split(" [")[0] == one.sentence.split(" [")[0]


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert compare(rng=7, test="tukey").pairs == compare(rng=7, test="tukey").pairs
    assert compare(rng=7, test="tukey").pairs != compare(rng=8, test="tukey").pairs
    assert compare(rng=7).pairs == compare(rng=8).pairs  # the randomization test draws nothing
    one, again, other = (compare(rng=rng).stability("RR") for rng in (7, 7, 8))
    assert str(one) == str(again) != str(other)


def test_results_may_be_given() -> None:
    results = germane.evaluate_many(QRELS, RUNS, "RR P@1")
    expected = compare().pairs
    assert germane.compare(results, resamples=1000).pairs == expected
    singles = [germane.evaluate(QRELS, one, "RR P@1", name=name) for name, one in RUNS.items()]
    assert germane.compare(singles, resamples=1000).pairs == expected
    some = germane.compare(results, measures="P@1", resamples=1000)
    assert list(map(str, some.measures)) == ["P@1"]


def test_data_sets_weigh_the_same() -> None:
    """30 queries of one and 10 of the other: the mean difference is that of the two means."""
    parts = {"large": QUERIES[:30], "small": QUERIES[30:]}
    results = {
        name: germane.evaluate_many({q: ["d"] for q in part}, RUNS, "RR")
        for name, part in parts.items()
    }
    apart = [
        germane.compare(one, resamples=1000).between("two", "one", "RR") for one in results.values()
    ]
    both = germane.compare(results, resamples=1000)
    pair = both.between("two", "one", "RR")
    assert pair.queries == 40
    assert pair.difference == pytest.approx(sum(one.difference for one in apart) / 2)
    assert "data sets large, small: the means of their means; resampled within each" in both.notes
    assert len(both.queries("RR", "two", "one").rows) == 40
    assert germane.compare(results, resamples=1000, test="tukey").pairs[0].queries == 40


def test_the_same_query_id_in_two_data_sets_is_two_queries() -> None:
    one = germane.evaluate_many(QRELS, RUNS, "RR")
    both = germane.compare({"a": one, "b": one}, resamples=1000).between("two", "one", "RR")
    assert both.queries == 80
    assert both.difference == pytest.approx(compare(measures="RR").pairs[0].difference)


def test_equivalence() -> None:
    pytest.importorskip("scipy")
    pair = compare({"a": RUNS["one"], "b": RUNS["two"]}, "RR", equivalence=0.9).pairs[0]
    assert pair.equivalence is not None
    assert pair.equivalence.p < 0.001
    assert "; equivalent within ±0.9 (TOST, p < 1e-6)" in pair.sentence
    pair = compare({"a": RUNS["one"], "b": RUNS["two"]}, "RR", equivalence=0.001).pairs[0]
    assert "; not shown to be equivalent within ±0.001" in pair.sentence


def test_wilcoxon_is_flagged_where_it_rejects_almost_everything() -> None:
    pytest.importorskip("scipy")
    many = {f"q{i}": ["d"] for i in range(2500)}
    runs = {
        name: {q: ["x"] * (int(q[1:]) % k == 0) + ["d"] for q in many}
        for name, k in (("a", 2), ("b", 3))
    }
    flagged = germane.compare(many, runs, "RR", test="wilcoxon", resamples=100)
    assert any("Wilcoxon's test asks" in note for note in flagged.notes)
    assert not any("Wilcoxon" in note for note in compare(test="sign").notes)


# --- Queries and stability -------------------------------------------------------------------------


def test_gains_and_losses_name_the_items_that_moved() -> None:
    qrels = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"e": 1}}
    old = {"q1": ["x", "a", "y", "b"], "q2": ["c"], "q3": ["e"]}
    new = {"q1": ["b", "a"], "q2": ["x", "y"], "q3": ["e"]}
    views = germane.compare(qrels, {"old": old, "new": new}, "AP", resamples=100).queries(
        "AP", "new", "old"
    )
    assert [row.query for row in views.gains()] == ["q1"]
    assert [row.query for row in views.losses()] == ["q2"]
    assert [str(move) for move in views.gains()[0].moved] == ["b (2): 4 → 1"]
    assert [str(move) for move in views.losses()[0].moved] == ["c (1): 1 → –"]
    assert views.rows[1].moved == ()
    slices = {
        s.name: (s.queries, s.wins, s.losses, s.ties)
        for s in views.by({"q1": "x", "q2": "x", "q3": "y"}).slices
    }
    assert slices == {"x": (2, 1, 1, 0), "y": (1, 0, 0, 1)}
    with pytest.raises(germane.errors.NotFoundError, match="no category for 'q"):
        views.by({"q1": "x"})
    with pytest.raises(germane.errors.InputError, match="by takes a mapping"):
        views.by(["x", "x", "y"])


def test_the_items_of_text_files_move_too() -> None:
    runs = {"pixels": "examples/digits/pixels.run", "lda": "examples/digits/lda.run"}
    views = germane.compare("examples/digits/qrels.txt", runs, "AP@10", resamples=100).queries(
        "AP@10", "lda", "pixels"
    )
    largest = views.gains(1)[0]
    explained = {
        name: germane.explain("examples/digits/qrels.txt", path, "AP", query=largest.query)
        for name, path in runs.items()
    }
    move = largest.moved[0]  # of equal grades, the longest way where it counts: near the top
    assert str(move) == "d1363 (1): 47 → 2"
    for name, rank in (("pixels", move.before), ("lda", move.after)):
        ranks = {row.item: row.rank for row in explained[name].rows}
        assert ranks.get(move.item) == rank


def test_stability_by_hand() -> None:
    """One query decides: the order holds where it is drawn, or everything else ties."""
    queries = ["q0", "q1", "q2"]
    qrels = {query: ["d"] for query in queries}
    runs = {"a": {q: ["d"] for q in queries}, "b": {**{q: ["d"] for q in queries}, "q0": ["x"]}}
    stable = germane.compare(qrels, runs, "RR").stability("RR")
    assert stable.whole == 1.0  # a is never behind
    assert stable.neighbors[0] == pytest.approx(1 - (2 / 3) ** 3, abs=0.02)  # and ahead with q0
    assert [standing.rank for standing in stable.standings] == [1, 2]
    assert stable.standings[1].first == pytest.approx((2 / 3) ** 3, abs=0.02)


def test_equal_systems_share_a_rank() -> None:
    stable = compare({"a": RUNS["one"], "b": RUNS["one"], "c": RUNS["two"]}, "RR").stability("RR")
    ranks = {standing.system: standing.rank for standing in stable.standings}
    assert ranks["a"] == ranks["b"]
    assert sorted(ranks.values()) in ([1, 1, 3], [1, 2, 2])


# --- Refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"test": "anova"}, germane.errors.PolicyError, "test takes randomization, t, wilcoxon, sign or tukey"),
        ({"correction": "holms"}, germane.errors.PolicyError, "Did you mean 'holm'?"),
        ({"test": "tukey", "correction": "holm"}, germane.errors.PolicyError, "corrects for the number"),
        ({"family": "pairs"}, germane.errors.PolicyError, "family takes measure or all"),
        ({"confidence": 95}, germane.errors.InputError, "confidence takes a number between 0 and 1; got 95"),
        ({"equivalence": 0}, germane.errors.InputError, "equivalence takes a number above 0; got 0"),
        ({"resamples": 10}, germane.errors.InputError, "resamples takes a whole number from 100 to 10,000,000; got 10"),
        ({"baseline": "on"}, germane.errors.NotFoundError, "there is no baseline 'on'. Did you mean 'one'?"),
        ({"rng": "x"}, germane.errors.InputError, "rng takes a seed"),
        ({"tie": "trec"}, germane.errors.PolicyError, "no convention 'tie'. Did you mean 'ties'?"),
    ],
)  # fmt: skip
def test_choices_that_do_not_exist(options: dict[str, Any], error: type, says: str) -> None:
    with pytest.raises(error) as raised:
        germane.compare(QRELS, RUNS, "RR", **options)
    assert says in str(raised.value)


def test_what_cannot_be_compared() -> None:
    result = germane.evaluate(QRELS, RUNS["one"], "RR")
    with pytest.raises(germane.errors.DuplicateError, match="2 runs are named 'run'"):
        germane.compare([result, result])
    with pytest.raises(germane.errors.EmptyError, match="compare needs at least two runs"):
        germane.compare(result)
    with pytest.raises(germane.errors.EmptyError, match="compare needs at least two runs"):
        germane.compare(QRELS, {"one": RUNS["one"]}, "RR")
    with pytest.raises(germane.errors.InputError, match="compare takes qrels and"):
        germane.compare(QRELS)
    with pytest.raises(germane.errors.InputError, match="ties=… is for qrels and runs"):
        germane.compare([result, result], ties="best")
    with pytest.raises(germane.errors.MeasureError, match="compare AP"):
        compare(measures="AP(mean=geometric)")
    two, three = (germane.evaluate_many(QRELS, dict(list(RUNS.items())[:n]), "RR") for n in (2, 3))
    with pytest.raises(
        germane.errors.NotFoundError, match="every data set must have the same runs"
    ):
        germane.compare({"x": two, "y": three})
    comparison = compare(baseline="one")
    with pytest.raises(germane.errors.NotFoundError, match="There is \\('two', 'one'\\)"):
        comparison.between("one", "two", "RR")
    with pytest.raises(germane.errors.NotFoundError, match="no run 'four'"):
        comparison.queries("RR", "four", "one")
    with pytest.raises(germane.errors.NotFoundError, match="AP was not compared"):
        comparison.stability("AP")


def test_scipy_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(germane.errors.InputError, match=r"pip install 'germane\[stats\]'"):
        compare(test="t")
    assert compare().pairs  # the default does without


# --- Tables ----------------------------------------------------------------------------------------


def test_the_leaderboard_marks_the_best_and_what_it_beats() -> None:
    good = {query: ["d"] for query in QUERIES}
    comparison = compare({"bad": run(3), "good": good}, "RR")
    assert "& \\textbf{1.0000}\\textsuperscript{a} \\\\" in comparison.latex()
    assert "**1.0000**<sup>a</sup>" in comparison.markdown()
    assert "<strong>1.0000</strong><sup>a</sup>" in comparison.html()
    assert "1.0000ᵃ" in str(comparison)
    for text in (comparison.markdown(), comparison.html(), str(comparison), comparison.latex()):
        for said in ("paired randomization test", "two-sided", "range of the measure", "RR:"):
            assert said in text


def test_a_quantity_has_no_best() -> None:
    """More unjudged items are not better."""
    comparison = compare({"a": RUNS["one"], "b": RUNS["two"]}, "NumNonrelRet Unjudged")
    assert "textbf" not in comparison.latex()
    assert all("beats" not in pair.sentence for pair in comparison.pairs)


# --- Verdicts --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_difference_is_significant_however_many_comparisons() -> None:
    """10 runs on 12 measures are 540 comparisons, of which no correction hides a gain of a third."""
    queries = {f"q{i}": ["d"] for i in range(500)}
    runs = {
        f"run{r}": {
            q: [*"abcefghijklm"[: (i * 7 + r) % (12 - r)], "d"] for i, q in enumerate(queries)
        }
        for r in range(10)
    }
    measures = "AP RR AP@3 RR@3 P@1 P@3 P@5 nDCG nDCG@3 nDCG@5 Success@1 Success@3"
    for family in ("measure", "all"):
        comparison = germane.compare(queries, runs, measures, family=family)  # type: ignore[arg-type]
        pair = comparison.between("run9", "run0", "RR")
        assert (pair.verdict, pair.p_adjusted < 1e-6) == ("significant", True)
        assert ", p < 1e-6 (randomization, Holm over " in pair.sentence
    printed = str(comparison)
    assert len(printed.splitlines()) <= 60
    assert printed.splitlines()[2].startswith("a  run0")
    assert "540 comparisons: " in printed
    assert (
        "A run's superscripts mark the runs that it significantly beats: p < 0.05, and the interval of"
        " the difference excludes 0" in printed
    )
    assert pair.sentence not in printed
    assert len(comparison.table().rows) == len(comparison.to_dict()["pairs"]) == 540


def test_one_measure_is_one_family() -> None:
    """What holds for a measure does not depend on what else was asked for."""
    alone, beside = compare(measures="RR"), compare(measures="RR P@1 AP NumRel")
    assert alone.pairs == tuple(pair for pair in beside.pairs if str(pair.measure) == "RR")
    assert "Holm over the 3 pairs of each measure" in str(beside)


def test_a_comparison_that_cannot_reach_alpha_is_inconclusive() -> None:
    """Only queries that differ count: 4 of 300 give 2 ÷ 2^4 at the least."""
    many = {f"q{i}": ["d"] for i in range(300)}
    worse = {**many, **{f"q{i}": ["x", "d"] for i in range(4)}}
    pair = germane.compare(many, {"good": many, "bad": worse}, "RR").pairs[0]
    assert (pair.verdict, pair.significant, pair.p) == ("inconclusive", False, 0.125)
    assert pair.to_dict()["limit"] == {
        "cause": "queries", "count": 4, "smallest_p": 0.125, "corrected": False,
    }  # fmt: skip
    assert pair.sentence.endswith(
        "inconclusive, p = 0.125 (randomization), 4 wins 0 losses 296 ties; this test cannot reach "
        "p < 0.05 here: only 4 queries differ, so that p cannot be below 0.125"
    )
    same = germane.compare(many, {"good": many, "again": many}, "RR").pairs[0]
    assert (same.verdict, same.limit) == ("not significant", None)


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "tukey"])
@pytest.mark.parametrize("queries", [1, 2, 3, 5, 8])
def test_what_is_significant_could_have_been(queries: int, test: Any) -> None:
    pytest.importorskip("scipy")
    few = {query: ["d"] for query in QUERIES[:queries]}
    runs = {
        "good": few,
        "bad": {q: ["x", "d"] for q in few},
        "one": RUNS["one"],
        "two": RUNS["two"],
    }
    comparison = germane.compare(few, runs, "RR P@1", test=test, resamples=200)
    for pair in comparison.pairs:
        assert pair.limit is None or pair.verdict == "inconclusive"
        assert pair.limit is None or pair.limit.smallest_p >= pair.alpha
        assert pair.limit is None or pair.p_adjusted >= pair.limit.smallest_p - 2 / 200
    said = {pair.verdict for pair in comparison.pairs}
    assert ("inconclusive" in said) == ("Inconclusive: " in str(comparison))


def test_advice_names_the_cause() -> None:
    def advice(differing: int, runs: int = 2, **options: Any) -> str:
        worse = {q: ["x"] * (i < differing) + ["d"] for i, q in enumerate(QUERIES)}
        named = {f"run{r}": worse for r in range(1, runs)} | {"good": QRELS}
        notes = germane.compare(QRELS, named, "RR", **options).notes
        return next((note.split(". ")[1] for note in notes if note.startswith("Inconclusive")), "")

    more = "more queries on which the runs differ"
    assert advice(4) == f"It takes {more}."
    assert advice(6) == ""
    assert advice(6, 4, baseline="good") == f"It takes {more} or fewer comparisons."
    assert advice(30, test="tukey", resamples=100, confidence=0.999) == "It takes more resamples."
    assert advice(30, confidence=0.999) == advice(30, 40, baseline="good") == ""


def test_intervals_are_at_the_level_of_the_correction() -> None:
    one = compare(measures="RR", correction="bonferroni")
    assert {pair.interval.confidence for pair in one.pairs if pair.interval} == {1 - 0.05 / 3}
    assert ", 98.3% interval [" in one.pairs[0].sentence
    assert "each at the level of its corrected p-value: 98.3%" in str(one)
    plain = compare(measures="RR", correction="none")
    assert ", 95% interval [" in plain.pairs[0].sentence
    assert "intervals: BCa bootstrap of the queries, 95%\n" in str(plain)
    for wide, narrow in zip(one.pairs, plain.pairs, strict=True):
        assert wide.interval is not None
        assert narrow.interval is not None
        assert wide.interval.low < narrow.interval.low < narrow.interval.high < wide.interval.high


def test_csv_has_all_digits() -> None:
    import csv
    import io

    comparison = compare()
    rows = list(csv.DictReader(io.StringIO(comparison.csv())))
    assert [float(row["difference"]) for row in rows] == [p.difference for p in comparison.pairs]
    assert [float(row["p adjusted"]) for row in rows] == [p.p_adjusted for p in comparison.pairs]


def test_letters_go_on_after_z() -> None:
    runs = {f"run{i}": RUNS["one"] for i in range(26)} | {"last": {q: ["d"] for q in QUERIES}}
    board = compare(runs, "RR", baseline="last").leaderboard()
    assert [row[0] for row in board.rows][23:] == ["y", "z", "aa", "ab"]
    assert board.marks[26, 2].split() == [row[0] for row in board.rows][:26]


def test_medians_are_refused_for_their_differences_are_no_mean() -> None:
    runs = {"a": {"q": ["x"], "p": ["y"]}, "b": {"q": ["y"], "p": ["x"]}}
    with pytest.raises(
        germane.errors.MeasureError,
        match=r"difference of median means .* compare MeanRank instead\.",
    ):
        germane.compare({"q": ["x"], "p": ["y"]}, runs, "MeanRank(mean=median)")


def test_micro_means_are_spread_over_queries() -> None:
    """Weights that are all the same make one mean of both, and a jackknife leaves out each query."""
    qrels = {i: {"a": 1, "b": int(i % 3 == 0), "c": 0, "d": 0} for i in range(40)}
    runs: dict[str, Any] = {
        "one": {i: [*"abcd"][: 3 + i % 2][:: 1 if i % 5 else -1] for i in qrels},
        "two": {i: [*"abcd"][:: 1 if i % 4 else -1] for i in qrels},
    }
    micro, plain = (
        germane.compare(qrels, runs, name).pairs[0] for name in ("P(mean=micro)@2", "P@2")
    )
    assert micro.difference == pytest.approx(plain.difference, abs=1e-12)
    assert micro.p == pytest.approx(plain.p, rel=1e-6)
    assert (micro.wins, micro.queries) == (None, 40)
    results = germane.evaluate_many(qrels, runs, "GAUC")
    compared = germane.compare(results)
    pair = compared.pairs[0]
    assert pair.difference == pytest.approx(
        results["two"]["GAUC"].mean - results["one"]["GAUC"].mean
    )
    shared = sorted(set(results["one"]["GAUC"].per_query) & set(results["two"]["GAUC"].per_query))
    means = {
        name: [
            germane.evaluate({i: qrels[i] for i in shared if i != left}, run, "GAUC")["GAUC"].mean
            for left in shared
        ]
        for name, run in runs.items()
    }
    changes = np.subtract(means["two"], means["one"])
    error = np.sqrt((len(shared) - 1) / len(shared) * np.sum((changes - changes.mean()) ** 2))
    assert pair.interval is not None
    assert pair.interval.high - pair.interval.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert "weighted means, spread over 40 groups of queries" in str(compared)
    with pytest.raises(germane.errors.MeasureError, match="not compared one by one"):
        compared.queries("GAUC", "two", "one")


# --- Results that do not belong together --------------------------------------------------------------


def test_results_of_different_judgments_are_refused() -> None:
    qrels, opposite = ({f"q{i}": {"a": good, "b": 1 - good} for i in range(20)} for good in (1, 0))
    run = {query: ["a", "b"] for query in qrels}
    one = germane.evaluate(qrels, run, "RR", name="one")
    two = germane.evaluate(opposite, run, "RR", name="two")
    says = r"'one' and 'two' were evaluated with different judgments \(20 queries, qrels \w{16}; 20 queries, qrels \w{16}\)"
    with pytest.raises(germane.errors.InputError, match=says):
        germane.compare([one, two])
    with pytest.raises(germane.errors.InputError, match="data set web: 'one' and 'two'"):
        germane.compare(
            {"news": [one, germane.evaluate(dict(qrels), run, "RR", name="two")], "web": [one, two]}
        )


def test_results_under_different_conventions_are_refused() -> None:
    qrels = {f"q{i}": ["a"] for i in range(20)}
    scored = {query: {"a": 1.0, "b": 1.0} for query in qrels}
    one = germane.evaluate(qrels, scored, "RR", name="one")
    two = germane.evaluate(qrels, scored, "RR", name="two", missing="skip", ties="best")
    says = (
        "'one' was evaluated with missing=zero, ties=trec, but 'two' with missing=skip, ties=best. "
        "Numbers under different conventions cannot be compared"
    )
    with pytest.raises(germane.errors.PolicyError, match=re.escape(says)):
        germane.compare([one, two])


def test_ranked_lists_beside_scores_are_compared() -> None:
    """A ranked list has no ties, so that the order of ties is no difference."""
    qrels = {f"q{i}": ["a"] for i in range(20)}
    scored = germane.evaluate(
        qrels, {query: {"a": 1.0, "b": 1.0} for query in qrels}, "RR", name="one"
    )
    ranked = germane.evaluate(qrels, {query: ["a", "b"] for query in qrels}, "RR", name="two")
    assert germane.compare([scored, ranked]).pairs[0].difference == 0.5


def test_typed_names_stay_beside_the_names_of_measures() -> None:
    qrels = {f"q{i}": ["d"] for i in range(8)}
    runs = {"a": dict(qrels), "b": {query: ["x", "d"] for query in qrels}}
    compared = germane.compare(qrels, runs, "Recall@1 RR")
    for table in (compared.leaderboard(), compared.table()):
        assert "Recall@1 is R@1" in table.notes
    renamed = compared.leaderboard(rename={"R@1": "Recall@1"})
    assert not any(" is R@1" in note for note in renamed.notes), "the table has the name"
    gate = germane.gate(qrels, runs["a"], "Recall@1", baseline=runs["b"])
    assert "Recall@1 is R@1" in gate.table().notes
    plain = gate.to_dict()
    assert (plain["verdicts"], plain["passed"]) == ({"R@1": "passed"}, True)


def test_the_run_with_lower_values_wins_where_lower_is_better() -> None:
    qrels = {f"q{i}": ["d"] for i in range(8)}
    late = {query: ["x", "d"] for query in qrels} | {"q0": ["d", "x"]}
    compared = germane.compare(
        qrels, {"early": {q: ["d", "x"] for q in qrels}, "late": late}, "MeanRank"
    )
    [pair] = compared.pairs
    assert (pair.system, pair.difference, pair.wins, pair.losses) == ("late", 7 / 8, 0, 7)
    assert pair.sentence.startswith("late is behind early by 0.875 MeanRank")
    queries = compared.queries("MeanRank", "early", "late")
    assert len(queries.gains()) == 7
    assert not queries.losses()
    [segment] = queries.by(lambda query: "all").slices
    assert (segment.wins, segment.losses, segment.ties) == (7, 0, 1)


def test_progress_tells_of_runs_and_pairs() -> None:
    told: list[tuple[str, int, int | None]] = []
    qrels = {f"q{i}": ["d"] for i in range(8)}
    runs = {name: {query: ["x" * i, "d"] for i, query in enumerate(qrels)} for name in "abc"}
    germane.compare(qrels, runs, "RR AP", progress=lambda *step: told.append(step))
    assert [step for step in told if step[0] == "runs"] == [("runs", i, 3) for i in range(3)]
    pairs = [step for step in told if step[0] == "pairs of runs"]
    assert pairs == [("pairs of runs", i, 6) for i in range(6)], "three pairs on two measures"
