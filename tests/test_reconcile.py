"""reconcile: it finds the definition that made a number, and says when none did."""

import json
import math
import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane import cli
from germane.errors import DuplicateError

# Published as the average precision of three queries, 0.5, 0.835 and 0.567, and their mean 0.634;
# "P(4) = 0.6" stands where 2 of 4 are relevant.
LISTS = {"q1": "0 1 0 1", "q2": "1 0 1", "q3": "0 1 0 1 1"}
PUBLISHED = {"q1": 0.5, "q2": 0.835, "q3": 0.567}
RUN = {query: [f"{query}{i}" for i, _ in enumerate(text.split())] for query, text in LISTS.items()}
QRELS = {
    query: [item for item, grade in zip(RUN[query], text.split(), strict=True) if grade == "1"]
    for query, text in LISTS.items()
}
# Everything on which tools differ: ties, a missing query, an empty one, one without relevant items,
# grades, scores below 0, an unjudged item.
GRADED = {
    "q1": {"a": 2, "b": 0, "c": 1, "d": 3},
    "q2": {"e": 1, "f": 2},
    "q3": {"g": 0},
    "q4": {"h": 1},
    "q5": {"i": 1},
}
SCORED = {
    "q1": {"x": 2.0, "a": 2.0, "c": 1.0, "b": 0.5, "d": -1.0},
    "q2": {"y": 1.0, "f": 0.5, "e": 0.25},
    "q3": {"g": 1.0},
    "q5": {},
}


# --- It finds what made the number -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    [
        *("AP@2", "nDCG@2", "R@2", "RR"),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("AP", "P@3", "F@2", "Success@1")),
    ],
)
def test_every_dialect_is_found_again(measure: str) -> None:
    """Whatever spread says a tool gives is found, under a definition that names the tool if it is sure."""
    for stated in germane.spread(GRADED, SCORED, measure):
        if math.isnan(stated.value):
            continue
        found = germane.reconcile(GRADED, SCORED, reported=f"{stated.value:.9f}", measure=measure)
        tools = {tool for one in found for tool in one.candidate.tools}
        sure = f"{stated.dialect}:{stated.name}" in tools
        assert sure != (stated.dialect in found.unsure), stated
        assert sure == (not stated.unsure), stated
        assert len(found) > 0


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["AP@2", "nDCG@3", "P@2", "F@2"])
@pytest.mark.parametrize("reported", ["0.5", "0.31", "0.415"])
def test_what_is_found_is_what_evaluate_says(measure: str, reported: str) -> None:
    """Each row can be reproduced by its name and its conventions alone."""
    result = germane.reconcile(GRADED, SCORED, reported=reported, measure=measure)
    for one in (*result.found, *result.nearest):
        again = germane.evaluate(
            GRADED, SCORED, str(one.candidate.measure), **dict(one.candidate.choices)
        )
        assert again[one.candidate.measure].mean == one.value
    for one in result.found:
        assert abs(one.value - float(reported)) <= 0.5 * 10.0 ** -len(reported[2:]) + 1e-12
    if not result.found:
        off = min(abs(one.value - float(reported)) for one in result.tried)
        assert abs(result.nearest[0].value - float(reported)) == pytest.approx(off, abs=1e-12)
        assert off > 0.5 * 10.0 ** -len(reported[2:])


def test_simplest_first() -> None:
    asked = germane.parse("AP@2")
    found = germane.reconcile(GRADED, SCORED, reported="0", measure=asked).found
    distances = [one.candidate.distance(asked) for one in found]
    assert distances == sorted(distances)
    assert len(set(distances)) >= 3


def test_nothing_idle_is_named() -> None:
    """A convention is named only where the number is another without it."""
    result = germane.reconcile(GRADED, SCORED, reported="0.3", measure="AP@2")
    for one in result.found:
        for name, _ in one.candidate.choices:
            less = one.candidate.drop(name)
            try:
                mean = germane.evaluate(GRADED, SCORED, less.measure, **dict(less.choices))
            except germane.GermaneError:
                continue
            full = germane.evaluate(
                GRADED, SCORED, one.candidate.measure, **dict(one.candidate.choices)
            )
            before, after = (r[less.measure] for r in (full, mean))
            assert before.per_query != after.per_query or before.mean != after.mean, (one, name)


@pytest.mark.parametrize(
    ("grades", "reported", "measure"),
    [([3, 0, 1, 2], "0.9", "nDCG@4"), ([0, 0], "0.0", "AP@4"), ([1, 0, 1], "0.8", "AP@10")],
)
def test_two_changes_are_named_for_a_tool_or_where_nothing_simpler_is(
    grades: list[int], reported: str, measure: str
) -> None:
    """A program that may say something else, as gdeval with ids that are no numbers, vouches for none."""
    asked = germane.parse(measure)
    found = germane.reconcile(grades, reported=reported, measure=measure)
    assert min(one.candidate.distance(asked) for one in found.found) < 2
    assert all(one.candidate.tools or one.candidate.distance(asked) < 2 for one in found.found)
    assert found.unsure or not any(grades)  # without relevant items tools say 0, or nothing


def test_a_mean_over_the_runs_own_queries_is_one_change(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A left join of the run with the qrels drops one query and adds others, by one decision."""
    qrels = {"q1": ["a", "b", "c"], "q2": ["a", "d"], "q3": ["e"], "q4": ["f"]}
    run = {"q1": ["a", "z", "b"], "q2": ["z", "y", "a"], "q3": ["z", "y", "w", "e"]}
    run |= {"u1": ["a", "b"], "u2": ["c"], "u3": ["c"]}
    reported = f"{((1 + 2 / 3) / 2 + 1 / 3 + 1 / 4) / 6:.5f}"
    found = germane.reconcile(qrels, run, reported=reported)
    assert str(found.found[0]) == "AP(norm=found)@10, missing=skip, unknown=zero"
    assert found.found[0].candidate.distance(found.measure) == 2
    decision = "With missing=skip and unknown=zero, the mean is over the run's own queries."
    assert decision in found.notes
    paths = tmp_path / "qrels.json", tmp_path / "run.json"
    for path, data in zip(paths, (qrels, run), strict=True):
        path.write_text(json.dumps(data))
    cli.main(["reconcile", *map(str, paths), "--reported", reported])
    assert decision in capsys.readouterr().out
    fixed = germane.reconcile(qrels, run, reported=reported, unknown="ignore")
    assert not any(("unknown", "zero") in trial.candidate.choices for trial in fixed.tried)


def test_an_order_of_ties_that_no_convention_has_can_explain_a_number() -> None:
    """ranx sorts more than 15 equal scores in an order of its own: any rank is possible for each."""
    items = [f"d{i:02d}" for i in range(20)]
    qrels = {f"q{n}": {items[place]: 1} for n, place in enumerate((1, 4, 11, 17))}
    run = {query: dict.fromkeys(items, 1.0) for query in qrels}
    reported = (1 / 3 + 1 / 4 + 1 / 6 + 1 / 7) / 4  # relevant items at the ranks 3, 4, 6 and 7
    found = germane.reconcile(qrels, run, reported=f"{reported:.6f}", measure="MAP")
    assert not found
    assert "AP is anywhere from 0.0500 to 1.0000" in found.verdict  # ranks 20 and 1
    assert "such as ranx, " in found.verdict
    outside = germane.reconcile(qrels, run, reported="0.0123", measure="MAP")
    assert "order of equal scores" not in outside.verdict


def test_a_convention_that_is_given_holds() -> None:
    result = germane.reconcile(GRADED, SCORED, reported="0.3", measure="AP@2", missing="skip")
    assert all("missing" not in dict(one.candidate.choices) for one in result.tried)
    assert result.policy.missing == "skip"
    assert "missing" not in [one.convention for one in result.undecided]


def test_one_list_is_a_collection_of_one_query() -> None:
    """The same values as score, whatever is missed."""
    listed = [2, 0, 1, 0, 3]
    for relevant in (None, 5, [3, 3, 2, 1, 1]):
        for measure in ("AP@3", "nDCG@3", "R@4", "AP(rel=2)@5"):
            result = germane.reconcile(listed, relevant=relevant, reported="0.5", measure=measure)
            score = germane.score(listed, measure, relevant=relevant)
            assert result.own.value == pytest.approx(score, rel=1e-15)


# --- It claims no more than the data tells ---------------------------------------------------------


def test_definitions_that_coincide_are_all_listed_and_told_apart() -> None:
    found = germane.reconcile([1, 0, 1, 0, 0, 1, 0, 0, 1, 1], relevant=5, reported=0.62)
    names = [str(one) for one in found]
    norms = ["AP@10", *(f"AP(norm={norm})@10" for norm in ("R", "found", "possible"))]
    assert names[:4] == norms
    assert all(
        one.value == pytest.approx((1 + 2 / 3 + 3 / 6 + 4 / 9 + 5 / 10) / 5)
        for one in found.found[:4]
    )
    ((alike, apart),) = found.examples
    assert list(alike) == norms
    assert apart is not None
    listed, relevant = apart.data
    assert listed.split() == ["1", "0"]
    assert dict(apart.values) == {
        "AP@10": 1 / 10,
        "AP(norm=R)@10": 1 / 12,
        "AP(norm=found)@10": 1 / 1,
        "AP(norm=possible)@10": 1 / 2,
    }
    assert relevant == 12


@pytest.mark.parametrize(
    ("grades", "relevant", "reported", "measure"),
    [
        ([1, 0, 1], 3, "0.56", "AP(norm=R)@3"),  # R ≤ k here, R ≥ k there: no list serves both
        ([1, 1, 1, 1], None, "1.000", "AP@4"),
        ([0, 0], None, "0.000", "AP@4"),
        ([1, 1], 2, "1.000", "nDCG@3"),  # at 2 some discounts cannot be distinguished
    ],
)
def test_what_coincides_is_told_apart_two_by_two(
    grades: list[int], relevant: int | None, reported: str, measure: str
) -> None:
    """Each pair that is alike differs on some example, and is named as alike on those before it."""
    found = germane.reconcile(grades, relevant=relevant, reported=reported, measure=measure)
    together: set[frozenset[str]] = set()
    apart: set[frozenset[str]] = set()
    for names, one in found.examples:
        together |= {frozenset(pair) for pair in combinations(names, 2)}
        values = dict(one.values if one else ())
        apart |= {frozenset((a, b)) for a, b in combinations(values, 2)
                  if f"{values[a]:.9f}" != f"{values[b]:.9f}"}  # fmt: skip
    assert together
    assert together == apart


def test_words_that_make_no_difference_are_named() -> None:
    """a stands second by its id, and so it does at worst."""
    result = germane.reconcile(
        {"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}, reported="0.50", measure="RR"
    )
    ties = next(one for one in result.undecided if one.convention == "ties")
    assert str(ties) == "ties=worst"
    assert ties.moving == ("ascending", "given", "expected", "best", "middle")
    assert "undecided: duplicates, ties=worst, missing," in str(result)
    assert "with the score of another (ties)" not in str(result)


# --- Queries ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_published_mean_that_no_definition_gives() -> None:
    """The third query is off: with P(4) = 0.6 for 2/4, (1/2 + 0.6 + 3/5)/3 is 0.567."""
    third = (1 / 2 + 2 / 4 + 3 / 5) / 3
    mean = (1 / 2 + 5 / 6 + third) / 3
    assert round(mean, 4) == 0.6222
    assert round(sum(PUBLISHED.values()) / 3, 3) == 0.634
    alone = germane.reconcile(QRELS, RUN, reported="0.634", measure="MAP")
    assert not alone.found
    assert len(alone.tried) > 500
    assert all(abs(one.value - 0.634) > 0.0005 for one in alone.tried)

    result = germane.reconcile(
        QRELS, RUN, reported="0.634", measure="MAP", reported_per_query=PUBLISHED
    )
    assert not result.found
    assert str(result.nearest[0]) == "AP"
    assert result.nearest[0].value == pytest.approx(mean)
    agreement = result.agreement
    assert agreement is not None
    worst, other = agreement.off
    assert worst.query == "q3"
    assert worst.value == pytest.approx(third)
    assert worst.difference == pytest.approx(0.567 - third)
    assert worst.moves == pytest.approx((0.567 - third) / 3)
    assert worst.says == (
        f"terms add up to {3 * third:.4g}; for 0.567, they would have to add up to {3 * 0.567:.4g}"
    )
    # the second is 0.835 because 2/3 was written as 0.67 on the way
    assert other.query == "q2"
    assert (1 + 0.67) / 2 == 0.835
    assert other.says == "every term rounded to 2 decimals"
    assert worst.moves + other.moves == pytest.approx(0.634 - mean, abs=0.0005)
    assert agreement.agree == 1
    assert "Query 'q3' is off the most: 0.567, where AP gives 0.53333." in result.verdict
    assert "the averaging is right, but the values are not" in str(result)


@pytest.mark.slow
def test_queries_decide_between_definitions_with_one_mean() -> None:
    """Both means are 0.5; the values of the queries are exchanged."""
    qrels = {"q": {"a": 1, "x": 0}, "r": {"c": 1, "d": 1, "x": 0}}
    run = {"q": ["a", "x"], "r": ["x", "y"]}
    both = germane.reconcile(qrels, run, reported="0.50", measure="AP@2")
    assert len(both) > 1
    same = {"q": "1.00", "r": "0.00"}
    found = germane.reconcile(qrels, run, reported="0.50", measure="AP@2", reported_per_query=same)
    assert [str(one) for one in found] == [str(one) for one in both]
    swapped = {"q": "0.00", "r": "1.00"}
    found = germane.reconcile(
        qrels, run, reported="0.50", measure="AP@2", reported_per_query=swapped
    )
    assert not found
    assert found.agreement is not None
    assert {one.query for one in found.agreement.off} <= {"q", "r"}


def test_a_mean_that_its_own_queries_do_not_have() -> None:
    values = {"q1": "0.500", "q2": "0.833", "q3": "0.533"}
    result = germane.reconcile(
        QRELS, RUN, reported="0.634", measure="AP", reported_per_query=values
    )
    assert not result.found
    assert result.agreement is not None
    assert result.agreement.off == ()
    assert "The reported values have the mean 0.62200, not 0.634." in str(result)
    assert (
        "The values of the queries are given by AP, whose mean is 0.62222, 0.01178 below."
        in result.verdict
    )
    assert result.queries() is None  # there is nothing to list
    assert "moves mean by" not in str(result)


@pytest.mark.slow
def test_a_mean_whose_queries_are_off() -> None:
    """AP gives the mean, (1/2 + 5/6 + 8/15)/3, but neither 0.835 nor 0.567."""
    mean = (1 / 2 + 5 / 6 + 8 / 15) / 3
    result = germane.reconcile(
        QRELS, RUN, reported=f"{mean:.4f}", measure="AP", reported_per_query=PUBLISHED
    )
    assert not result.found
    assert (
        "no definition gives both. AP gives the mean (0.622222), but not 2 of the 3 queries."
        in (result.verdict)
    )
    assert str(result.of_mean[0]) == "AP"
    assert result.hints == ()  # the mean needs no slip
    table = result.queries(digits=4)
    assert table is not None
    assert [row[:3] for row in table.rows] == [
        ("q3", "0.567", f"{8 / 15:.4f}"),
        ("q2", "0.835", f"{5 / 6:.4f}"),
    ]
    assert "The reported values have the mean 0.634000, not 0.6222." in table.notes


def test_the_mean_of_one_definition_and_the_queries_of_another() -> None:
    """Zeros and ones: AP(norm=found)@2 has the mean (1/1 + 0)/2; germane's AP@2 has 1/2 for the first."""
    qrels, run = {"q": ["a", "b"], "r": ["c"]}, {"q": ["a", "x"], "r": ["x"]}
    values = {"q": "0.5000", "r": "0.0000"}
    result = germane.reconcile(
        qrels, run, reported="0.5000", measure="AP@2", reported_per_query=values, missing="zero"
    )
    assert len(result.of_mean) > 0
    assert all(one.value == 0.5 for one in result.of_mean)
    assert "gives the mean (0.500000), and AP@2 gives 2 of the 2 queries." in result.verdict


@pytest.mark.slow
def test_a_mean_beside_the_values_that_is_another(tmp_path: Path) -> None:
    """What trec_eval -q prints of all queries is compared with what is reported."""
    path = tmp_path / "values.txt"
    path.write_text("map q1 0.5000\nmap q2 0.8333\nmap q3 0.5333\nmap all 0.6222\n")
    says = "The mean in the file of values ('all') is 0.6222, not 0.634."
    for reported, said in (("0.634", True), ("0.622", False)):
        result = germane.reconcile(
            QRELS, RUN, reported=reported, measure="AP", reported_per_query=path
        )
        assert (says in str(result)) == said
        assert bool(result.found) != said


def test_queries_that_were_not_reported() -> None:
    values = {"q1": "0.500", "q3": "0.533"}
    result = germane.reconcile(
        QRELS, RUN, reported="0.634", measure="AP", reported_per_query=values
    )
    assert result.agreement is not None
    assert result.agreement.without == ("q2",)
    assert "Not reported: 'q2' (1)." in str(result)


@pytest.mark.slow
def test_a_query_that_a_tool_leaves_out() -> None:
    """trec_eval 9 does not count a query that the run lacks."""
    values = {"q1": "1.0", "q2": "1.0"}
    result = germane.reconcile(
        {"q1": ["a"], "q2": ["b"]}, {"q1": ["a"]}, reported="0.50", measure="AP",
        reported_per_query=values,
    )  # fmt: skip
    assert result.agreement is not None
    assert [one.query for one in result.agreement.off] == ["q2"]
    result = germane.reconcile(
        {"q1": ["a"], "q2": ["b"]}, {"q1": ["a"]}, reported="1.00", measure="AP",
        reported_per_query={"q1": "1.0"},
    )  # fmt: skip
    assert [str(one) for one in result][:1] == ["AP, missing=skip"]


def test_ids_of_a_file_are_text(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text("1 1.0\n2 0.5\n")
    result = germane.reconcile(
        {1: ["a"], 2: ["b"]}, {1: ["a"], 2: ["x", "b"]}, reported="0.75", measure="AP",
        reported_per_query=path,
    )  # fmt: skip
    assert str(result.found[0]) == "AP"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("q1 0.5\nq1 0.6\n", DuplicateError, "values.txt:2: query 'q1' already has a value."),
        ("q1 half\n", germane.errors.InputError, "values.txt:1 takes a number such as 0.62 or 62%; got 'half'."),
        ("q1\n", germane.errors.FormatError, "values.txt:1: 1 fields where a line has 2 (query value)"),
        ("map q1 0.5\nP_5 q1 0.2\n", germane.errors.FormatError, "values.txt:2: this line has P_5, but the lines above have map; keep only the lines of one measure."),
        ("\n", germane.errors.EmptyError, "contains no query"),
        ("q11 0.5\n", germane.errors.CoverageError, "reported for query 'q11', which is not in the data. Did you mean 'q1'?"),
    ],
)  # fmt: skip
def test_files_of_queries_that_are_wrong(
    text: str, error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("values.txt").write_text(text)
    with pytest.raises(error) as caught:
        germane.reconcile(QRELS, RUN, reported="0.6", reported_per_query="values.txt")
    assert message in str(caught.value)


# --- Slips -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reported", "hint"),
    [
        ("62.2", "In percent, 62.2 is 0.622 (±0.0005), which is given by AP@10 (0.6222)"),
        ("0.62228", "If every term is rounded to 3 decimals"),
        ("0.4167", "With another cutoff, it is given by"),
    ],
)
def test_hints(reported: str, hint: str) -> None:
    result = germane.reconcile(QRELS, RUN, reported=reported, measure="AP@10")
    assert any(one.startswith(hint) for one in result.hints), (result.hints, result)
    assert hint in str(result)


@pytest.mark.slow
def test_a_number_that_was_cut_off() -> None:
    """(1 + 1 + 1)/7 = 0.4286, printed as 0.42."""
    result = germane.reconcile([1, 1, 1, 0, 0, 0, 0], relevant=8, reported="0.42", measure="AP@7")
    assert not result.found
    assert any("Cut off instead of rounded, it is given by AP@7 (0.4286)" in one
               for one in result.hints)  # fmt: skip


def test_hints_are_true() -> None:
    """The cutoffs that a hint names give the number."""
    result = germane.reconcile(QRELS, RUN, reported="0.4167", measure="AP@10")
    (hint,) = (one for one in result.hints if one.startswith("With another cutoff"))
    named = hint.split("given by ")[1].split(" (")[0]
    assert germane.evaluate(QRELS, RUN, named)[named].mean == pytest.approx(0.4167, abs=0.00005)


@pytest.mark.parametrize(
    "k", [3, *(pytest.param(k, marks=pytest.mark.slow) for k in (4, 6, 7, 13, 37, 99, 500))]
)
def test_every_cutoff_up_to_100_is_tried(k: int) -> None:
    """One of two items is relevant, the first: P@k is 1/k."""
    result = germane.reconcile([1, 0], reported=f"{1 / k:.6f}", measure="P@10")
    assert f"With another cutoff, it is given by P@{k} (" in str(result)


def test_the_plainest_cutoff_is_named() -> None:
    """From the end of the list on, all cutoffs give the same."""
    result = germane.reconcile([0, 1, 0], reported="0.5000", measure="AP@1")
    assert "With another cutoff, it is given by AP (0.5000)." in str(result)


def test_progress_is_told() -> None:
    seen: list[tuple[str, int, int | None]] = []
    germane.reconcile(
        QRELS, RUN, reported="0.77", measure="AP", progress=lambda *told: seen.append(told)
    )
    counts = [(done, size) for name, done, size in seen if name == "definitions"]
    assert len(counts) > 500
    assert all(size is not None and 0 <= done < size for done, size in counts)


# --- Data that germane refuses ---------------------------------------------------------------------


def test_duplicates_that_only_other_tools_take() -> None:
    """ml_metrics counts the first copy: (1 + 2/3)/2; germane itself has no number."""
    result = germane.reconcile(
        {"q": ["a", "b"]}, {"q": ["a", "a", "b"]}, reported="0.833", measure="AP@3"
    )
    assert pytest.approx(0.8333, abs=1e-4) == (1 + 2 / 3) / 2
    assert isinstance(result.own, DuplicateError)
    assert "ml_metrics:mapk@3" in {tool for one in result for tool in one.candidate.tools}
    assert "germane's own AP@3 has no value: " in str(result)
    with pytest.raises(DuplicateError):
        germane.reconcile(
            {"q": ["a", "b"]}, {"q": ["a", "a", "b"]}, reported="0.8", duplicates="error"
        )


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: germane.reconcile(QRELS, reported=0.5), germane.errors.InputError, "the run is missing"),
        (lambda: germane.reconcile(QRELS, RUN, reported=0.5, relevant=3), germane.errors.InputError, "relevant=… is for the grades of one list"),
        (lambda: germane.reconcile([1, 0], RUN, reported=0.5), germane.errors.InputError, "needs no run"),
        (lambda: germane.reconcile([1, 0], reported=0.5, missing="skip"), germane.errors.InputError, "missing=… is for qrels and a run"),
        (lambda: germane.reconcile([1, 0], reported=0.5, reported_per_query={"q": 1}), germane.errors.InputError, "the grades of one list belong to one query"),
        (lambda: germane.reconcile([1, 0], reported=0.5, measure="APP"), germane.errors.MeasureError, "unknown measure 'APP'"),
        (lambda: germane.reconcile([1, "x"], reported=0.5), germane.errors.GradeError, "rank 2"),
        (lambda: germane.reconcile(QRELS, {"z": ["a"]}, reported=0.5), germane.errors.CoverageError, "no query of the run is in the qrels"),
        (lambda: germane.reconcile(QRELS, RUN, reported=0.5, ties="none"), germane.errors.PolicyError, "ties takes"),
        (lambda: germane.reconcile(QRELS, RUN, reported=0.5, reported_per_query=[0.5]), germane.errors.InputError, "reported_per_query is {query: value}"),
        (lambda: germane.reconcile("no.qrels", "no.run", reported=0.5), germane.errors.InputError, "no.run"),
    ],
)  # fmt: skip
def test_errors(ask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        ask()
    assert message in str(caught.value)


# --- What is printed -------------------------------------------------------------------------------


def every_form() -> Iterator[germane.types.Reconciliation]:
    yield germane.reconcile([1, 0, 1], relevant=20, reported="0.167")
    yield germane.reconcile([1, 0, 1], relevant=20, reported="0.5")
    yield germane.reconcile(QRELS, RUN, reported=0.634, measure="AP", reported_per_query=PUBLISHED)


@pytest.mark.slow
def test_every_form_says_the_same() -> None:
    for result in every_form():
        rows = result.found or result.nearest
        plain = result.to_dict()
        assert json.loads(json.dumps(plain)) == plain
        assert plain["verdict"] in str(result)
        assert [one["value"] for one in plain["found"] or plain["nearest"]] == [
            r.value for r in rows
        ]
        for text in (str(result), result._repr_html_()):
            assert all(str(one) in text for one in rows)
        assert result.markdown().count("\n| ") >= len(rows) + 2
        assert bool(result) == bool(result.found)


def test_ids_are_inert_in_a_page() -> None:
    result = germane.reconcile(
        {"<b>": ["a"]}, {"<b>": ["a"]}, reported="0.3", measure="AP",
        reported_per_query={"<b>": "0.3"},
    )  # fmt: skip
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result._repr_html_()
    assert "\x1b" not in str(
        germane.reconcile(
            {"\x1b": ["a"]}, {"\x1b": ["a"]}, reported="0.3", reported_per_query={"\x1b": "0.3"}
        )
    )


def test_many_definitions_are_counted() -> None:
    """A table for people is short; CSV and JSON have everything."""
    result = germane.reconcile(GRADED, SCORED, reported="0", measure="AP@2")
    assert len(result) > 12
    assert f"… and {len(result) - 12} definitions more" in str(result)
    assert result.table(digits=None).csv().count("\r\n") == len(result) + 1
    assert len(result.to_dict()["found"]) == len(result)


def test_a_whole_number_tells_little() -> None:
    """1 is ±0.5: of measures that are means, most values round to it. Counts are whole."""
    says = "1 is a whole number, which excludes few definitions"
    assert says in str(germane.reconcile([1, 0, 1], reported=1))
    assert says not in str(germane.reconcile([1, 0, 1], reported="1.0"))
    assert "whole number" not in str(germane.reconcile([1, 0, 1], reported=2, measure="NumRelRet"))


def test_no_zero_is_negative() -> None:
    result = germane.reconcile([1, 1, 1, 1], reported="1.000", measure="AP@4")
    assert any(0 < abs(one.value - 1) < 1e-12 for one in result)
    assert "-0.00000" not in str(result)
    assert "+0.00000" not in str(result)


def test_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The number keeps its zeros, and -o is no input."""
    assert cli.main(["reconcile", "1 0 1", "--relevant", "20", "--reported", "0.1670"]) == 0
    assert capsys.readouterr().out.startswith("0.1670 (±0.00005) as AP@10: no definition")
    path = tmp_path / "values.txt"
    path.write_text("q1 1\n")
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 d1 1\n")
    run.write_text("q1 Q0 d1 1 1.0 t\n")
    asked = ["reconcile", str(qrels), str(run), "--reported", "1.00"]
    assert cli.main([*asked, "--reported-per-query", str(path), "-o", str(path)]) == 2
    assert path.read_text() == "q1 1\n"
    assert "this is an input" in capsys.readouterr().err
    assert cli.main([*asked, "--reported-per-query", str(path), "--missing", "skip"]) == 0


# --- The search ------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.integers(0, 3), st.integers(1, 4))
def test_germanes_own_number_is_always_found(grades: list[int], more: int, decimals: int) -> None:
    relevant = sum(grade >= 1 for grade in grades) + more
    value = germane.score(grades, "AP@5", relevant=relevant)
    found = germane.reconcile(
        grades, relevant=relevant, reported=f"{value:.{decimals}f}", measure="AP@5"
    )
    assert str(found.found[0]) == "AP@5"
    assert found.hints == ()


def test_values_where_the_nearest_definition_averages_no_query() -> None:
    """No query has a relevant item, and these are skipped."""
    found = germane.reconcile(
        {"q": {"a": 0}}, {"q": ["b"]}, reported="0.5", measure="AP@3", no_relevant="skip",
        reported_per_query={"q": "0.5"},
    )  # fmt: skip
    assert found.agreement is not None
    (off,) = found.agreement.off
    assert math.isnan(off.value)
    assert math.isnan(off.moves)
    assert "none" in str(found.queries())


def test_what_a_tool_says_of_the_list_alone_is_found() -> None:
    """torchmetrics' RetrievalRecall(top_k=2), fed with these two lists and nothing else: 5/12."""
    qrels = {"p": ["a", "b", "c"], "r": ["d", "e", "f", "g"]}
    run = {
        "p": {"a": 0.9, "x": 0.8, "b": 0.7},
        "r": {"d": 0.9, "y": 0.8, "e": 0.7, "f": 0.6},
    }
    found = germane.reconcile(qrels, run, reported="0.4167", measure="R@2")
    assert str(found.found[0]) == "R@2, relevant=listed"
    assert "torchmetrics:RetrievalRecall(top_k=2)" in found.found[0].candidate.tools
    assert found.found[0].value == (1 / 2 + 1 / 3) / 2
    assert "With relevant=listed, relevant items that are not in the list were not" in str(found)
    both = germane.reconcile(qrels, run, reported="0.2917", measure="R@2")
    assert both.found[0].candidate.key == (germane.R @ 2, ())
    assert "torchmetrics:RetrievalRecall(top_k=2)" in both.found[0].candidate.tools


# --- Chance ----------------------------------------------------------------------------------------


def test_what_was_asked_for_is_one_value_of_those_from_0_to_1() -> None:
    """±0.005 about one value: 0.01 of the numbers from -0.005 to 1.005."""
    found = germane.reconcile([0, 0, 1], reported="0.33", measure="RR")
    assert found.answer == "found"
    assert found.values == 1
    assert found.chance == pytest.approx(0.01 / 1.01)
    says = (
        "By chance alone, a wrong number would match the one value tried so far in 0.99 % of cases."
    )
    assert says in str(found)
    assert found.to_dict()["answer"] == "found"


def test_a_number_of_one_decimal_is_possible() -> None:
    found = germane.reconcile([1, 0, 1], relevant=20, reported="0.2", measure="AP@10")
    assert found.answer == "possible"
    assert found.chance == pytest.approx(0.1 / 1.1)
    assert "2 definitions give it; possible, not certain." in found.verdict
    assert found.to_dict()["chance"] == found.chance


def test_no_definition_is_no_chance() -> None:
    nothing = germane.reconcile([1, 0, 1], relevant=20, reported="0.5", measure="AP@10")
    assert (nothing.answer, nothing.values, nothing.chance) == ("none", 0, 0.0)
    assert "wrong number" not in str(nothing)


def test_values_of_queries_leave_less_to_chance() -> None:
    qrels, run = {"q1": ["a", "b"], "q2": ["c"], "q3": ["d"]}, {"q1": ["a", "x"], "q2": ["y", "c"]}
    alone = germane.reconcile(qrels, run, reported="0.75", measure="AP@2")
    assert alone.answer == "possible"
    values = {"q1": "1.00", "q2": "0.50"}
    both = germane.reconcile(qrels, run, reported="0.75", measure="AP@2", reported_per_query=values)
    assert both.answer == "found"
    assert both.chance == pytest.approx(both.values * 0.01 * 0.01)


def few_lists(seed: int) -> tuple[Any, Any, Any]:
    """Two lists of ten with graded judgments, and the same lists shuffled."""
    rng = random.Random(seed)
    grades = {f"q{q}": [rng.choice((0, 0, 1, 2, 3)) for _ in range(10)] for q in range(2)}
    qrels = {q: {f"d{i}": grade for i, grade in enumerate(of)} for q, of in grades.items()}
    run, other = ({q: rng.sample(sorted(one), 8) for q, one in qrels.items()} for _ in range(2))
    return qrels, run, other


@pytest.mark.slow
def test_a_wrong_number_is_seldom_found() -> None:
    """The mean of the same lists in another order coincides with some definition now and then, which is chance."""
    said = []
    for seed in range(20):
        qrels, run, other = few_lists(seed)
        measure = ("R@5", "P@5", "RR@5")[seed % 3]
        right, wrong = (germane.evaluate(qrels, one, measure)[measure].mean for one in (run, other))
        if f"{wrong:.4f}" != f"{right:.4f}":
            said.append(germane.reconcile(qrels, run, reported=f"{wrong:.4f}", measure=measure))
            exact = germane.reconcile(qrels, run, reported=f"{right:.4f}", measure=measure)
            assert exact.answer == "found"
    answers = [one.answer for one in said]
    assert answers.count("possible") >= 2  # R(rel=3,mean=micro)@5, of all definitions the only one
    assert answers.count("found") <= 0.05 * len(answers)


def test_mistakes_in_a_formula_are_said() -> None:
    """Where no definition gives a number, formulas that people write are tried."""
    qrels = {"q1": {"a": 1, "b": 1, "c": 1, "d": 1}, "q2": {"a": 1, "b": 1, "c": 1}}
    run = {"q1": ["a", "x", "b"], "q2": ["x", "a", "b", "y"]}
    added = ((1 + 2 / 3) + (1 / 2 + 2 / 3)) / 2  # never divided
    found = germane.reconcile(qrels, run, reported=f"{added:.4f}", measure="AP")
    assert not found.found
    assert "AP gives 1.4167 with a mistake: not divided: the precisions at the hits" in str(found)
    gains = [1 / math.log2(rank + 1) for rank in range(1, 5)]
    # the ideal ranking of q1 has 3 items, since there are 3 results; that of q2 has 3 in any case
    first = (gains[0] + gains[2]) / sum(gains[:3])
    second = (gains[1] + gains[2]) / sum(gains[:3])
    cut = (first + second) / 2
    found = germane.reconcile(qrels, run, reported=f"{cut:.5f}", measure="nDCG")
    assert "with a mistake: the ideal ranking is cut off at the number of results" in str(found)
    # of two decimals, one of these formulas would give every tenth number
    assert "with a mistake" not in str(germane.reconcile(qrels, run, reported="0.31", measure="AP"))
    assert "with a mistake" in str(germane.reconcile(qrels, run, reported="1.42", measure="AP"))
