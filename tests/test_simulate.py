"""Experiments on the measures: what each claims holds for any seed, and a seed repeats."""

import json
import re
from functools import cache
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")
from matplotlib import pyplot as plt

import germane

from strategies import EXPERIMENTS

NAMES = [design.name for design in EXPERIMENTS]
LISTS = [name for name in NAMES if name not in ("ties", "relevant_items")]
EARLY = ["early_precision", "early_precision_50"]
SEEDS = range(8)


@cache
def made(name: str, seed: int = 0) -> Any:
    """Each one once: a test reads it and leaves it as it is."""
    return germane.simulate(name, rng=seed)


def values(name: str, column: str, seed: int = 0) -> list[float]:
    return list(made(name, seed)[column].values())


def rises(numbers: list[float]) -> bool:
    return all(a < b for a, b in pairwise(numbers))


# --- What each shows -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "first"), [*zip(EARLY, (10, 50), strict=True)])
def test_early_precision(name: str, first: int, seed: int) -> None:
    """Nothing but the place of the relevant items moves AP, up with their share among the first 250."""
    experiment = made(name, seed)
    for early, grades in experiment.rankings.items():
        assert (len(grades), sum(grades), experiment.relevant) == (1000, 500, 500)
        assert grades[:first] == (1,) * first
        assert sum(grades[:250]) == early
    assert rises(values(name, "AP", seed))
    assert values(name, "R@250", seed) == [n / 500 for n in experiment.settings]
    fewest = experiment.curves[50].precision
    assert fewest[first - 1] == 1
    assert fewest[249] == 50 / 250  # the sharp drop
    most = experiment.curves[250].precision
    assert most[249] == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_late_precision(seed: int) -> None:
    """Late items move AP less than early ones do, and missing them costs less."""
    experiment = made("late_precision", seed)
    for late, grades in experiment.rankings.items():
        assert (len(grades), sum(grades), sum(grades[750:])) == (1000, 500, late)
    ap = np.array(values("late_precision", "AP", seed))
    assert rises(ap[::-1].tolist())
    for name in EARLY:
        early = np.array(values(name, "AP", seed))
        assert np.ptp(early) / 200 > 1.2 * np.ptp(ap) / 250  # for each item that is moved
    last = ap - values("late_precision", "last missed", seed)
    first = ap - values("late_precision", "first missed", seed)
    assert last[0] == first[0] == 0
    assert (first[1:] > 1.3 * last[1:]).all()
    assert first[1] > 3 * last[1]


def test_missed_items_are_not_retrieved() -> None:
    """The columns of what is missed are AP with R unchanged: a measure that stops at 750, or shifts."""
    experiment = made("late_precision")
    for late, grades in experiment.rankings.items():
        cut = germane.score(grades, "AP(norm=R)@750", relevant=500)
        assert experiment["last missed"][late] == cut
        left = list(grades)
        for _ in range(late):
            left[left.index(1)] = 0
        assert experiment["first missed"][late] == germane.score(left, relevant=500)


@pytest.mark.parametrize("seed", SEEDS)
def test_recall(seed: int) -> None:
    """Curves reach as far to the right as items are found."""
    experiment = made("recall", seed)
    ends = [float(curve.recall[-1]) for curve in experiment.curves.values()]
    assert ends == values("recall", "R", seed) == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert values("recall", "P", seed) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert rises(values("recall", "AP", seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_cheating(seed: int) -> None:
    """The fewer of its items a system keeps, the higher its AP(norm=found), and only that."""
    found, textbook, least, k = (
        values("cheating", name, seed)
        for name in ("AP(norm=found)@1000", "AP(norm=R)@1000", "AP@1000", "AP(norm=k)@1000")
    )
    assert rises(found)
    assert found[-1] == 1
    assert rises(textbook[::-1])
    assert textbook == least
    assert textbook[0] == found[0]
    assert k == pytest.approx([value / 2 for value in textbook])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_ties(seed: int) -> None:
    """The fewer digits, the wider the band; the order by id and random order are inside."""
    experiment = made("ties", seed)
    low, expected, trec, high = (
        np.array(values("ties", name, seed)) for name in ("worst", "expected", "trec", "best")
    )
    rounding = 1e-12
    for between in (expected, trec):
        assert (low - rounding <= between).all()
        assert (between <= high + rounding).all()
    band = (high - low).tolist()
    assert all(a <= b + rounding for a, b in pairwise(band))
    assert band[0] < 1e-4 < 0.1 < band[-1]
    tied = values("ties", "tied", seed)
    assert all(a <= b for a, b in pairwise(tied))
    for digits, run in experiment.rankings.items():
        assert {score for row in run.values() for score in row.values()} == {
            round(score, digits) for row in run.values() for score in row.values()
        }


def test_ties_are_what_evaluate_says() -> None:
    experiment = made("ties")
    run = experiment.rankings[1]
    for order in ("worst", "expected", "trec", "best"):
        result = germane.evaluate(experiment.qrels, run, "AP", ties=order)  # type: ignore[arg-type]
        assert experiment[order][1] == result["AP"].mean


@pytest.mark.parametrize("name", LISTS)
def test_ap_is_the_area_by_steps(name: str) -> None:
    """Exactly by germane's own rule, and to rounding by adding up rectangles of the curve."""
    experiment = made(name)
    for setting, curve in experiment.curves.items():
        ap = germane.score(experiment.rankings[setting], "AP", relevant=500)
        assert curve.area("step") == ap
        steps = np.diff(curve.recall, prepend=0) * curve.precision
        assert steps.sum() == pytest.approx(ap, abs=1e-12)
        assert curve.area("trapezoid") == pytest.approx(ap, abs=0.005)
        assert curve.area("interpolated") >= ap


@pytest.mark.parametrize("name", ["early_precision", "early_precision_50", "recall"])
def test_areas_stand_beside_ap(name: str) -> None:
    experiment = made(name)
    rows = zip(
        experiment.settings,
        values(name, "AP"),
        values(name, "AUPR(rule=trapezoid)"),
        values(name, "AUPR(rule=interpolated)"),
        strict=True,
    )
    for setting, ap, trapezoid, interpolated in rows:
        curve = experiment.curves[setting]
        assert (ap, trapezoid, interpolated) == (
            curve.area("step"),
            curve.area("trapezoid"),
            curve.area("interpolated"),
        )
        assert ap < interpolated
    assert max(values(name, "AUPR(rule=interpolated)")) > max(values(name, "AP"))


@pytest.mark.parametrize("name", [*EARLY, "late_precision"])
def test_all_curves_end_where_everything_is_retrieved(name: str) -> None:
    for curve in made(name).curves.values():
        assert (curve.recall[-1], curve.precision[-1]) == (1, 0.5)


# --- Other sizes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(("ranks", "relevant"), [(40, 10), (40, 20), (101, 23), (3000, 100)])
def test_sizes(name: str, ranks: int, relevant: int) -> None:
    """Lists of any length: their relevant items are where the description says."""
    experiment = germane.simulate(name, ranks=ranks, relevant=relevant)
    most = max(experiment.settings)
    for setting, grades in experiment.rankings.items():
        assert len(grades) == ranks
        assert sum(grades) == (setting if most == relevant else relevant)
    assert experiment.relevant == relevant
    assert (
        f"{ranks:,} rank" in experiment.design.line or f"among {ranks:,}" in experiment.design.line
    )
    experiment.plot()
    plt.close("all")


def test_first_ranks_that_always_have_a_relevant_item() -> None:
    experiment = germane.simulate("early_precision", fixed=3)
    assert {grades[:3] for grades in experiment.rankings.values()} == {(1, 1, 1)}
    assert "3 of them first" in experiment.design.line
    assert (
        germane.simulate("early_precision", fixed=50).rankings
        == made("early_precision_50").rankings
    )
    none = germane.simulate("early_precision", fixed=0)
    assert len(none.claims) == len(made("early_precision").claims) - 1


@pytest.mark.parametrize("seed", range(3))
def test_relevant_items(seed: int) -> None:
    """By chance, AP@1 … hardly depends on their number; the mean of P@i is proportional to it.

    The expected P@i of a random order is R/N at every rank.
    """
    experiment = made("relevant_items", seed)
    assert experiment.settings == (1, 2, 3, 4, 5)
    for relevant, value in experiment["MeanP@10"].items():
        assert value == pytest.approx(relevant / 100, abs=0.004)
    for relevant, rows in experiment.rankings.items():
        assert {sum(row) for row in rows} == {relevant}
        assert {len(row) for row in rows} == {100}
    ap = values("relevant_items", "AP@10", seed)
    harmonic = sum(1 / rank for rank in range(1, 11))
    assert ap[0] == pytest.approx(harmonic / 100, abs=0.006)  # of one item, at a random rank
    assert max(ap) < 1.5 * min(ap)
    some = experiment.rankings[3][:50]
    single = [germane.score(row, "AP@10", relevant=3) for row in some]
    qrels = {str(q): {str(i): grade for i, grade in enumerate(row)} for q, row in enumerate(some)}
    run = {str(q): {str(i): -float(i) for i in range(100)} for q in range(50)}
    assert germane.evaluate(qrels, run, "AP@10")["AP@10"].mean == pytest.approx(np.mean(single))


@pytest.mark.parametrize(
    ("name", "numbers", "message"),
    [
        ("recall", {"ranks": 39}, "ranks= takes a whole number from 40 to 100,000; got 39"),
        ("recall", {"relevant": 501}, "relevant= takes a whole number from 10 to 500; got 501"),
        ("recall", {"ranks": 100, "relevant": 51}, "relevant= takes a whole number from 10 to 50;"),
        ("recall", {"fixed": 1}, "recall takes no fixed=; of the numbers it takes ranks= and"),
        ("cheating", {"fixed": 51}, "fixed= takes a whole number from 0 to 50; got 51"),
        ("cheating", {"ranks": True}, "ranks= takes a whole number from 40 to 100,000; got True"),
        ("ties", {"relevant": 3}, "ties takes no relevant=; of the numbers it takes ranks="),
        ("relevant_items", {"relevant": 51}, "relevant= takes a whole number from 1 to 50; got 51"),
    ],
)
def test_numbers_that_do_not_fit(name: str, numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(germane.errors.InputError, match=re.escape(message)):
        germane.simulate(name, **numbers)


# --- The same seed is the same experiment ----------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_repeats(name: str) -> None:
    once, again = made(name, 1), germane.simulate(name, rng=np.random.default_rng(1))
    assert once.rankings == again.rankings
    assert once.to_dict() == again.to_dict()
    assert str(once) == str(again)
    assert made(name, 0).rankings != once.rankings


def test_without_a_seed_it_is_zero() -> None:
    assert germane.simulate("recall").rankings == made("recall", 0).rankings


# --- How it is written -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_of_the_sentences_are_computed(name: str) -> None:
    """Another seed, other numbers; and every AP in a sentence is one of the table."""
    one, other = made(name, 0), made(name, 1)
    assert one.shows != other.shows
    cells = {cell for row in one.table().rows for cell in row}
    stated = re.findall(r"(\d\.\d{3,4}) (?:to|and) (\d\.\d{3,4})", one.shows)
    assert stated
    for number in (number for pair in stated for number in pair):
        digits = len(number) - 2
        assert number in {f"{float(c):.{digits}f}" for c in cells if c.startswith(("0.", "1."))}


@pytest.mark.parametrize("name", NAMES)
def test_a_table_with_its_definitions(name: str) -> None:
    experiment = made(name)
    table = experiment.table()
    assert len(table.rows) == len(experiment.settings) == len(experiment.rankings)
    assert table.columns == (experiment.design.swept, *(c.name for c in experiment.columns))
    for claim in experiment.claims:
        assert claim in table.notes
    for column in experiment.columns:
        assert any(
            note.startswith(column.name) and column.definition in note for note in table.notes
        )
    assert str(experiment).startswith(f"{experiment.title}\n{experiment.design.line}\n\n")
    assert "<table " in experiment._repr_html_()
    assert name in repr(experiment)


@pytest.mark.parametrize("name", NAMES)
def test_json(name: str) -> None:
    experiment = made(name)
    plain = json.loads(json.dumps(experiment.to_dict(), allow_nan=False))
    assert plain["name"] == experiment.name == name
    assert plain["shows"] == list(experiment.claims)
    for column, written in zip(experiment.columns, plain["columns"], strict=True):
        assert written == {
            "name": column.name,
            "definition": column.definition,
            "values": list(column.values),
        }
    for setting, ranks in plain["relevant_ranks"].items():
        grades = experiment.rankings[int(setting)]
        assert [grades[rank - 1] for rank in ranks] == [1] * sum(grades)
    assert bool(plain["relevant_ranks"]) == bool(experiment.curves) == (name in LISTS)


# --- Names and errors ------------------------------------------------------------------------------


def test_names() -> None:
    assert made("Early precision").name == made("early-precision").name == "early_precision"
    with pytest.raises(germane.errors.InputError, match=r"'cheeting'\. Did you mean 'cheating'\?"):
        germane.simulate("cheeting")
    with pytest.raises(
        germane.errors.InputError, match="There are: early_precision, early_precision_50,"
    ):
        germane.simulate(10)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_seeds_that_are_none(seed: object) -> None:
    with pytest.raises(germane.errors.InputError, match="rng takes a seed"):
        germane.simulate("recall", rng=seed)  # type: ignore[arg-type]


def test_columns_that_are_none() -> None:
    with pytest.raises(germane.errors.NotFoundError, match=r"no column .APP.\. Did you mean .AP."):
        made("recall")["APP"]
