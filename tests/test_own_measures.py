"""Measures of users' own: functions that are evaluated, compared, gated, reported and explained."""

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import germane
from germane.errors import InputError, MeasureError, NotFoundError

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(8)}
RUN = {f"q{i}": ["x", *"abc"[: 1 + i % 3]] for i in range(8)}
BETTER = {f"q{i}": ["a", "b", "x"] for i in range(8)}


def first_three(grades: Sequence[float]) -> float:
    return sum(grade >= 1 for grade in grades[:3]) / 3


def on_odd_ranks(relevant: Sequence[int], ranked: Sequence[int]) -> float:
    return sum(item in set(relevant) for item in ranked[::2]) / max(1, len(relevant))


def share_of_grades(judged: Mapping[int, float], ranked: Sequence[int]) -> float:
    found = sum(max(judged.get(item, 0), 0) for item in ranked)
    return found / (sum(max(grade, 0) for grade in judged.values()) or 1)


@pytest.fixture(scope="module", autouse=True)
def mine() -> germane.types.Measure:
    return germane.measure(first_three, name="own_three")


@pytest.fixture(scope="module", autouse=True)
def odd() -> germane.types.Measure:
    return germane.measure(on_odd_ranks, name="odd_ranks", takes="ids")


@pytest.fixture(scope="module", autouse=True)
def share() -> germane.types.Measure:
    return germane.measure(share_of_grades, name="share_of_grades", takes="graded")


def test_values_are_the_function_s(
    mine: germane.types.Measure, odd: germane.types.Measure, share: germane.types.Measure
) -> None:
    result = germane.evaluate(QRELS, RUN, [mine, odd, share, "P@3"])
    assert result["own_three"].per_query == result["P@3"].per_query
    by_length = [0 / 2, 1 / 2, 1 / 2]  # x a · x a b · x a b c: of ranks 1 and 3, b alone
    assert list(result["odd_ranks"].per_query.values()) == [
        0, *by_length[1:], 0, *by_length[1:], 0, by_length[1]
    ]  # fmt: skip
    assert list(result[share].per_query.values())[:3] == [2 / 3, 1, 1]


def test_definitions_are_those_that_identify_finds_or_own(
    mine: germane.types.Measure, odd: germane.types.Measure
) -> None:
    assert mine.definition == "P@3, found by identify: Σ rel(i), i ≤ 3, ÷ 3"
    assert odd.definition == "own: on_odd_ranks, of ids"
    assert "own: on_odd_ranks, of ids" in str(germane.evaluate(QRELS, RUN, [odd]))


def test_the_name_is_read_like_any_other(mine: germane.types.Measure) -> None:
    assert germane.parse("own_three") == mine
    result = germane.evaluate(QRELS, RUN, "AP own_three, odd_ranks")
    assert [*result] == ["AP", "own_three", "odd_ranks"]


def test_verbs(tmp_path: Path, mine: germane.types.Measure) -> None:
    runs = {"run": RUN, "better": BETTER}
    [pair] = germane.compare(QRELS, runs, [mine]).pairs
    shares = (3 * 1 + 3 * 2 + 2 * 2) / 3 / 8
    assert pair.difference == pytest.approx(2 / 3 - shares) or pair.difference == pytest.approx(
        shares - 2 / 3
    )
    assert germane.gate(QRELS, BETTER, [mine], baseline=RUN)
    assert not germane.gate(QRELS, RUN, [mine], baseline=BETTER)
    explained = germane.explain(QRELS, RUN, mine, query="q2")
    assert "own_three = 0.6667" in str(explained)
    page = tmp_path / "page.html"
    germane.report(QRELS, runs, [mine, "AP"]).save(page)
    assert "own_three" in page.read_text("utf-8")
    assert "own_three = " in str(germane.evaluate(QRELS, RUN, [mine]).signature("own_three"))


def test_low_values_can_be_good() -> None:
    def first(grades: Sequence[float]) -> float:
        return next((i for i, grade in enumerate(grades, 1) if grade >= 1), len(grades) + 1)

    low = germane.measure(first, name="my_rank", better="low")
    assert low.definition == "own: first, of grades"
    compared = germane.compare(QRELS, {"run": RUN, "better": BETTER}, [low])
    assert "run is behind better by 1.000 my_rank" in str(compared)
    with pytest.raises(MeasureError, match="A lower my_rank is no regression"):
        germane.gate(QRELS, BETTER, [low], baseline=RUN)


def test_a_second_definition_by_the_same_name_replaces_the_first() -> None:
    once = germane.measure(lambda grades: 1.0, name="mine_again")
    assert germane.evaluate(QRELS, RUN, "mine_again")["mine_again"].mean == 1.0
    again = germane.measure(lambda grades: 0.5, name="mine_again")
    assert germane.evaluate(QRELS, RUN, "mine_again")["mine_again"].mean == 0.5
    first = germane.evaluate(QRELS, RUN, [once])
    assert (first["mine_again"].mean, once == again) == (1.0, False)


def test_it_is_sent_to_other_processes(mine: germane.types.Measure) -> None:
    assert pickle.loads(pickle.dumps(mine)) == mine


def test_a_function_alone_is_an_error_that_says_what_to_write() -> None:
    for given in ([first_three], first_three, ["AP", first_three]):
        with pytest.raises(
            MeasureError,
            match=r"as germane\.measure\(function, name='first_three', takes='grades'\)",
        ):
            germane.evaluate(QRELS, RUN, given)


@pytest.mark.parametrize(
    ("name", "says"),
    [("AP", "is already the name of AP"), ("map", "the name of AP"), ("1x", "name is a word"),
     ("recall_any", "the name of Success"), (7, "name is a word"), ("a b", "name is a word")],
)  # fmt: skip
def test_names_that_are_refused(name: str, says: str) -> None:
    with pytest.raises(MeasureError, match=says):
        germane.measure(first_three, name=name)


def test_functions_that_are_refused(mine: germane.types.Measure) -> None:
    with pytest.raises(InputError, match="measure takes a function"):
        germane.measure("AP", name="mine")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"takes .*grade"):
        germane.measure(first_three, name="mine", takes="grade")
    with pytest.raises(InputError, match="raised on all data"):
        germane.measure(lambda grades: grades[99], name="mine")
    broken = germane.measure(lambda grades: grades[0] / len(grades), name="broken")
    with pytest.raises(
        MeasureError, match=r"broken raised IndexError for query 'q9'.* function decides"
    ):
        germane.evaluate({"q9": {"a": 1}}, {"q9": []}, [broken])
    with pytest.raises(MeasureError, match=r"cut the list off inside it"):
        mine @ 5
    with pytest.raises(MeasureError, match="has no closed form"):
        germane.evaluate({"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}, [mine], ties="expected")
    with pytest.raises(NotFoundError):
        germane.evaluate(QRELS, RUN, "AP")["own_three"]


def test_no_number_is_no_value() -> None:
    for value in (float("nan"), "0.5", None):
        mine = germane.types.OwnMeasure(
            "no_number", function=lambda _, value=value: value, takes="grades"
        )
        with pytest.raises(MeasureError, match="no_number returns a finite number"):
            germane.evaluate(QRELS, RUN, [mine])


def test_a_definition_of_binary_grades_says_so() -> None:
    """A mean of grades is P@2 if they are 0 and 1, and nothing with a name otherwise."""
    mean = germane.measure(lambda grades: sum(grades[:2]) / 2, name="mean_of_two")
    assert mean.definition.startswith("P@2 of the grades 0 and 1, found by identify: ")
    share = germane.measure(lambda grades: sum(g >= 1 for g in grades[:2]) / 2, name="share_of_two")
    assert share.definition.startswith("P@2, found by identify: ")
