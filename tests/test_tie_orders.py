"""best and worst against every order of ties: they are the ends, wherever germane says so."""

from collections.abc import Iterator
from functools import cache
from math import nan
from pathlib import Path
from typing import Any

import pytest

import germane
from germane.types import Measure

import oracle
from strategies import ALL, UNEVEN_MAP, Definition, Judgments, variants, with_subtopics, world
from test_laws import MODELS

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
ROWS = pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)

CONVENTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "depth=2": {"depth": 2},
    "depth=3": {"depth": 3},
    "unjudged=remove": {"unjudged": "remove"},
    "unjudged=remove, depth=2": {"unjudged": "remove", "depth": 2},
    "relevant=listed, depth=2": {"relevant": "listed", "depth": 2},
    "no_hit=one": {"no_hit": "one"},
}
"""Under which other orders could have other values."""

ODD = (
    "AP(norm=found)@3",
    "Utility(hit=-1)@2",
    "Utility(hit=0.5,noise=1,miss=2)",
    "RBP(gain=exp,norm=possible)@2",
)
TINY = 1e-9


@cache
def draw_ties() -> dict[str, tuple[Judgments, dict[str, float]]]:
    """Judgments and scores of short lists, in which some or all scores are tied."""
    drawn = {}
    for n, one in enumerate((*world(seed=2, queries=22, longest=5), *world(5, 10, 4))):
        some = {item: float((i * 7 + n) // 4 % 3) for i, item in enumerate(one.ranked[:5])}
        for tied in (some, dict.fromkeys(one.ranked[:4], 1.0)):
            if 1 < len(list(oracle.orders(tied))) <= 24:
                drawn[f"q{len(drawn)}"] = one.judged, tied
    drawn["stops earlier"] = {"d0": 4.0, "d2": 3.0}, dict.fromkeys(("d3", "d2", "d0"), 1.0)
    drawn["cut off"] = {"d0": 1.0, "d1": 1.0}, {"d0": 2.0, "u0": 1.0, "d1": 1.0, "u1": 1.0}
    return drawn


def judge(judged: Judgments, row: Definition) -> Any:
    return with_subtopics(judged) if row.subtopics else judged


def list_measures(row: Definition) -> list[Measure]:
    cutoffs = (1, 3) if row.name in MODELS else (None, 1, 2, 3)
    found = [measure for measure in variants(row) if measure.k in cutoffs]
    found = [*found[:4], *found[4::3]]
    if any(parameter.grades for parameter in row.parameters):
        found += [measure(gain=UNEVEN_MAP) for measure in found[:4]]
    return [*found, *(one for one in map(germane.parse, ODD) if one.row is row)]


def find_beyond(row: Definition, words: str) -> Iterator[tuple[Measure, bool, str]]:
    """For each measure: are the two orders said to be the ends, and what is beyond them?

    The value of the first order is either never below the others, or never above them: for other
    measures the mean of two queries has no end at either order.
    """
    choices, measures = CONVENTIONS[words], list_measures(row)
    qrels = {query: judge(judged, row) for query, (judged, _) in draw_ties().items()}
    run = {query: tied for query, (_, tied) in draw_ties().items()}
    first, last = (
        germane.evaluate(qrels, run, measures, ties=ties, **choices) for ties in ("best", "worst")
    )
    orders = {
        f"{query} {n}": (query, list(order))
        for query, tied in run.items()
        for n, order in enumerate(oracle.orders(tied))
    }
    every = germane.evaluate(
        {name: qrels[query] for name, (query, _) in orders.items()},
        {name: order for name, (_, order) in orders.items()},
        measures,
        **choices,
    )
    for measure in measures:
        above = below = ""
        for name, value in every[measure].per_query.items():
            query, order = orders[name]
            # A query that does not count at an end, as for GAUC, is not bounded by it:
            ends = [end[measure].per_query.get(query, nan) for end in (last, first)]
            told = f"{measure} {words}: {value} for {order} of {qrels[query]}, and {ends}"
            if not ends[0] - TINY <= value <= ends[1] + TINY:
                above = told
            if not ends[1] - TINY <= value <= ends[0] + TINY:
                below = told
        yield measure, first[measure].are_extremes, above and below


EXCEEDING = ("", "depth=2", "depth=3")
"""Conventions under which a page speaks of other orders."""


@ROWS
def test_best_and_worst_are_the_ends_where_a_row_says_so(row: Definition) -> None:
    """A page that says "other orders can have a higher or a lower value" knows of one."""
    exceeded = []
    others = [words for words in CONVENTIONS if words not in EXCEEDING]
    for words in (*EXCEEDING, others[len(row.name) % len(others)]):  # the others in turns
        for _, known, beyond in find_beyond(row, words):
            assert not (known and beyond), beyond
            exceeded += [beyond] * (words in EXCEEDING)
    of_gains = row.extremes is None and any(parameter.grades for parameter in row.parameters)
    assert any(exceeded) == bool(row.beyond or of_gains)


@pytest.mark.parametrize("words", ["unjudged=remove, depth=2", "no_hit=one"])
def test_other_orders_go_beyond_under_some_conventions(words: str) -> None:
    row = germane.P.row
    assert any(beyond for _, known, beyond in find_beyond(row, words) if not known)
    assert all(known for _, known, _ in find_beyond(row, ""))


@ROWS
def test_the_expected_value_is_between_the_ends(row: Definition) -> None:
    if not row.expected:
        return
    qrels = {query: judge(judged, row) for query, (judged, _) in draw_ties().items()}
    run = {query: tied for query, (_, tied) in draw_ties().items()}
    measures = list_measures(row)
    result = germane.evaluate(qrels, run, measures, ties="expected")
    for measure, values in result.items():
        low, high = sorted((values.worst, values.best))
        within = low - TINY <= values.mean <= high + TINY
        assert within or not values.are_extremes, measure


def test_copies_that_keep_their_ranks(tmp_path: Path) -> None:
    """d, d, a, b has AP (1 + 2/3 + 3/4)/4; in the worst order of grades, a is at rank 2."""
    judged = {"q": {"a": 1, "b": 2, "c": 1, "d": 2}}
    tied, given = tmp_path / "tied", tmp_path / "given"
    tied.write_text("".join(f"q Q0 {item} 1 1.0 x\n" for item in "dadb"))
    given.write_text("".join(f"q Q0 {item} 1 {9 - i} x\n" for i, item in enumerate("ddab")))
    result, lowest = (
        germane.evaluate(judged, path, "AP", duplicates="keep")["AP"] for path in (tied, given)
    )
    assert lowest.mean == (1 + 2 / 3 + 3 / 4) / 4 < result.worst
    assert not result.are_extremes


def test_a_band_that_is_not_known_is_a_least_one() -> None:
    """MCC@1 of a, c is 1; with relevant items first there is no other item, and it is 0."""
    judged, tied = {"q": {"a": 4, "b": 3}}, {"q": dict.fromkeys("abc", 1.0)}
    result = germane.evaluate(judged, tied, "MCC@1 P@1", depth=2)
    assert (result["MCC@1"].best, result["MCC@1"].worst) == (0, -1)
    bands = "tie band MCC@1 at least -1.0000…0.0000, P@1 0.0000…1.0000"
    assert bands in str(result)
    page = germane.report(judged, {"run": tied}, "MCC@1 P@1", depth=2).html
    assert "For MCC@1, other orders may give lower or higher ones." in page
    assert "or beyond" not in germane.report(judged, {"run": tied}, "P@1", depth=2).html
    with pytest.warns(germane.GermaneWarning, match=r"MCC@1 .* to 0\.0000 or beyond"):
        germane.evaluate(judged, tied, "MCC@1", depth=2)
