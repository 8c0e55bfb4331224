"""Worked examples that people published, each under the definition it belongs to.

A list is the relevance of the items in rank order; R is the number of relevant items that exist.
The expected values are the arithmetic; ``printed`` is what the publication prints.
"""

from math import isclose

import pytest

import germane

ONE = "0 0 1 0 1 0 0 1 0 0"
FRONT = "1 1 0 0 0 0 0 0 0 0"
SIX = "1 1 0 1 0 1 0 0 0 0 0 1 0 0"
TRAP = "1 0 1 0 0 0 0 0 0 0"

EXAMPLES: list[tuple[str, int, str, float, str]] = [
    # list, R, measure, arithmetic, as printed
    *((ONE, 3, f"AP{norm}{k}", (1 / 3 + 2 / 5 + 3 / 8) / 3, "0.369")
      for norm in ("(norm=R)", "", "(norm=found)") for k in ("", "@10")),
    (FRONT, 6, "AP(norm=found)@10", (1 / 1 + 2 / 2) / 2, "1.0"),
    (FRONT, 6, "AP(norm=min)@10", (1 / 1 + 2 / 2) / 6, "0.333"),
    ("1 1 1 1 1 1 0 0 0 0", 6, "AP(norm=found)@10", 6 / 6, "1.0"),
    ("1 1 1 1 1 1 0 0 0 0", 6, "AP(norm=min)@10", 6 / 6, "1.0"),
    ("1 0 0 0 0", 2, "AP(norm=found)@5", (1 / 1) / 1, "1.0"),
    ("1 0 0 0 0", 2, "AP(norm=min)@5", (1 / 1) / 2, "0.5"),
    ("1 0 0 0 1", 2, "AP(norm=found)@5", (1 / 1 + 2 / 5) / 2, "0.7"),
    ("1 0 0 0 1", 2, "AP(norm=min)@5", (1 / 1 + 2 / 5) / 2, "0.7"),
    (SIX, 8, "AP", (1 + 1 + 3 / 4 + 4 / 6 + 5 / 12) / 8, "0.479"),
    ("1 0 1 0 0 1 0 0 1 1", 5, "AP@10", (1 + 2 / 3 + 3 / 6 + 4 / 9 + 5 / 10) / 5, "0.62"),
    ("0 1 0 0 1 0 1 0 0 0", 3, "AP@10", (1 / 2 + 2 / 5 + 3 / 7) / 3, "0.44"),
    ("1 0 0 0 0 1 1", 8, "AP(norm=min)@7", (1 + 2 / 6 + 3 / 7) / 7, "0.25"),
    ("1 1 1 0 0 0 0", 8, "AP(norm=min)@7", (1 + 1 + 1) / 7, "0.43"),
    # one list under four norms
    (TRAP, 20, "AP(norm=R)@10", (1 + 2 / 3) / 20, "0.083"),
    (TRAP, 20, "AP(norm=min)@10", (1 + 2 / 3) / min(20, 10), "0.167"),
    (TRAP, 20, "AP(norm=found)@10", (1 + 2 / 3) / 2, "0.833"),
    (TRAP, 20, "AP(norm=k)@10", (1 + 2 / 3) / 10, "0.167"),
    # what holds of example 1 and 6 besides: precision and recall at their ranks
    (ONE, 3, "P@3", 1 / 3, "0.333"),
    (ONE, 3, "P@5", 2 / 5, "0.4"),
    (ONE, 3, "P@8", 3 / 8, "0.375"),
    (ONE, 3, "R@3", 1 / 3, "0.333"),
    (ONE, 3, "R@5", 2 / 3, "0.667"),
    (ONE, 3, "R@8", 3 / 3, "1"),
    (ONE, 3, "IPrec(recall=0)", 2 / 5, "0.4"),
    (ONE, 3, "IPrec(recall=0.6)", 2 / 5, "0.4"),
    (ONE, 3, "IPrec(recall=0.7)", 3 / 8, "0.375"),
    (ONE, 3, "IPrec(recall=1)", 3 / 8, "0.375"),
    (SIX, 8, "R", 5 / 8, "0.625"),
    # a list of 1,000 with 500 relevant items, all retrieved, ends at recall 1, precision 0.5
    ("1 0 " * 500, 500, "R", 500 / 500, "1"),
    ("1 0 " * 500, 500, "P", 500 / 1000, "0.5"),
    # recorded of torchmetrics: it divides by the relevant items found, not by min(K, R)
    (FRONT, 6, "AP(norm=found)@10", 1.0, "1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("listed", "R", "measure", "value", "printed"), EXAMPLES)
def test_example(listed: str, R: int, measure: str, value: float, printed: str) -> None:
    relevance = [int(grade) for grade in listed.split()]
    assert isclose(germane.score(relevance, measure, relevant=R), value, rel_tol=1e-15)
    assert evaluated(listed, R, measure) == germane.score(relevance, measure, relevant=R)
    decimals = len(printed.partition(".")[2])
    assert abs(value - float(printed)) <= 0.5 * 10**-decimals


def evaluated(listed: str, R: int, measure: str) -> float:
    """The same through qrels and a ranked list."""
    items = [f"item{rank}" for rank, _ in enumerate(listed.split())]
    relevant = [item for item, grade in zip(items, listed.split(), strict=True) if grade == "1"]
    relevant += [f"missed{i}" for i in range(R - len(relevant))]
    return germane.evaluate({"q": relevant}, {"q": items}, measure)[measure].mean


@pytest.mark.parametrize(
    ("listed", "total", "printed"),
    [("1 0 0 0 0 1 1", 1 + 2 / 6 + 3 / 7, 1.76), ("1 1 1 0 0 0 0", 1 + 1 + 1, 3)],
)
def test_the_sum_alone(listed: str, total: float, printed: float) -> None:
    """Two lists of seven with the same three hits: AP tells their order apart."""
    relevance = [int(grade) for grade in listed.split()]
    sum_alone = germane.score(relevance, "AP(norm=k)@7", relevant=8) * 7
    assert isclose(sum_alone, total, rel_tol=1e-15)
    assert abs(sum_alone - printed) < 0.005


def test_a_mean_that_is_wrong_in_print() -> None:
    """Published as 0.5, 0.835, 0.567 and 0.634: "P(4) = 0.6" stands where 2 of 4 are relevant."""
    lists = {"q1": "0 1 0 1", "q2": "1 0 1", "q3": "0 1 0 1 1"}
    run = {q: [f"{q}{i}" for i, _ in enumerate(text.split())] for q, text in lists.items()}
    qrels = {
        q: [item for item, grade in zip(run[q], text.split(), strict=True) if grade == "1"]
        for q, text in lists.items()
    }
    third = (1 / 2 + 2 / 4 + 3 / 5) / 3
    result = germane.evaluate(qrels, run, "AP")["AP"]
    assert result.per_query == pytest.approx({"q1": 1 / 2, "q2": 5 / 6, "q3": third}, rel=1e-15)
    assert result.mean == pytest.approx((1 / 2 + 5 / 6 + third) / 3, rel=1e-15)
    assert round(result.mean, 4) == 0.6222
    assert round(result.mean, 3) != 0.634
    wrong = (1 / 2 + 0.6 + 3 / 5) / 3  # with the misprinted P(4)
    assert round(wrong, 3) == 0.567
    assert round((0.5 + 0.835 + 0.567) / 3, 3) == 0.634


def test_missing_relevant_items_early_costs_more_than_missing_them_late() -> None:
    early, late = [0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]
    assert germane.score(early, "AP", relevant=6) == pytest.approx(
        (1 / 3 + 2 / 4 + 3 / 5 + 4 / 6) / 6, rel=1e-15
    )
    assert germane.score(late, "AP", relevant=6) == 4 / 6
    assert germane.score(late, "AP") > 1.5 * germane.score(early, "AP", relevant=4)


def test_top_k_accuracy_is_success() -> None:
    """Retrieval of images: is any of the first K results relevant?"""
    assert germane.score([0, 0, 1, 0], "Accuracy@2") == 0
    assert germane.score([0, 0, 1, 0], "Accuracy@3") == 1


def test_an_item_that_is_recommended_twice_counts_once_and_keeps_its_rank() -> None:
    value = germane.evaluate({"q": ["a", "b"]}, {"q": ["a", "a", "b"]}, "AP@3", duplicates="keep")[
        "AP@3"
    ].mean
    assert value == pytest.approx((1 / 1 + 2 / 3) / 2, rel=1e-15)
