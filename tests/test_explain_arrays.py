"""Explanations of arrays name every item: by its column, its id, or its place."""

from typing import Any

import numpy as np
import pytest

import germane

SCORES = np.array([[0.1, 0.9, 0.5, 0.5, 0.8], [0.5, 0.4, 0.3, 0.2, 0.1]])
GRADES = np.array([[0, 0, 1, 0, 0], [1, 0, 0, 0, 0]])
IDS = np.array([[1, 4, 2, -1, -1], [0, 1, 2, 3, 4]])
NAMED = [1, 4, 2, 3, 0]  # the first query's columns, in the order of ranks


def items(*given: Any, **more: Any) -> list[Any]:
    return [row.item for row in germane.explain(*given, **more).rows]


def test_columns_of_scores() -> None:
    assert items(GRADES, SCORES, "AP", query=0) == NAMED
    assert items(GRADES, SCORES.astype(np.float16), "AP", query=0) == NAMED
    assert items([{2}, {0}], SCORES, "AP", query=1) == [0, 1, 2, 3, 4]


def test_columns_that_are_masked() -> None:
    masked = np.ma.masked_array(SCORES, SCORES == 0.9)
    assert items(GRADES, masked, "AP", query=0) == NAMED[1:]


def test_ids() -> None:
    assert items([{2}, {0}], IDS, "AP", query=0) == NAMED[:3]
    assert items([{2}, {0}], [[1, 4, 2], [0]], "AP", query=0) == NAMED[:3]


def test_places_in_flat_arrays() -> None:
    flat = {"group": ["b", "a"] * 5}
    grades, scores = GRADES.T.ravel(), SCORES.T.ravel()
    assert items(grades, scores, "AP", query="b", **flat) == [2 * item for item in NAMED]
    assert items(grades, scores, "AP", query="a", **flat) == [1, 3, 5, 7, 9]


def test_ties_name_the_ranks_they_could_have() -> None:
    tied = [
        row for row in germane.explain(GRADES, SCORES, "AP", query=0).rows if row.item in (2, 3)
    ]
    assert [row.tied for row in tied] == [(3, 4)] * 2


@pytest.mark.parametrize("run", [SCORES, IDS])
def test_a_query_that_the_array_does_not_have(run: Any) -> None:
    with pytest.raises(germane.errors.CoverageError):
        germane.explain({7: [1]}, run, "AP", query=7)
