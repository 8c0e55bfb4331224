"""The rarer conventions are decided alike wherever scores and grades come from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane

Q, N = 6, 30
MEASURES = "AP AP@5 nDCG@10 P@5 P RR NumRet NumRelRet R@20"
WORDS: list[dict[str, Any]] = [
    {"min_score": 0.25},
    {"min_score": -1.0},
    {"nonpositive": "miss"},
    {"nonpositive": "miss", "unjudged": "remove"},
    {"nonpositive": "miss", "unjudged": "remove", "depth": 18},
    {"scores": "single"},
    {"scores": "sigmoid"},
    {"scores": "sigmoid", "min_score": 0.6},
    {"scores": "distances"},
    {"scores": "distances", "max_distance": -0.25},
    {"grades": "whole"},
    {"grades": "ones"},
    {"grades": "nonnegative"},
    {"nonpositive": "miss", "min_score": -0.5, "grades": "ones", "scores": "single"},
]


def world() -> tuple[Any, Any]:
    """Grades with decimals and below 0, and scores that are tied in single precision alone, and below 0."""
    rng = np.random.default_rng(5)
    grades = rng.choice([-1, 0, 0, 0, 0.5, 1, 1.75, 2], (Q, N))
    scores = rng.integers(-8, 9, (Q, N)) / 8 + rng.integers(0, 3, (Q, N)) * 1e-12
    return grades, scores


GRADES, SCORES = world()
JUDGED = {q: dict(enumerate(row)) for q, row in enumerate(GRADES.tolist())}
RUN = {q: dict(enumerate(row)) for q, row in enumerate(SCORES.tolist())}


def columns(value: str, array: Any) -> pa.Table:
    at = np.arange(array.size)
    return pa.table({"query": at // N, "item": at % N, value: array.ravel()})


def svmlight(tmp_path: Path) -> Path:
    path = tmp_path / "judged.letor"
    lines = zip(np.repeat(np.arange(Q), N), GRADES.ravel(), strict=True)
    path.write_text("".join(f"{grade} qid:{query} 1:0\n" for query, grade in lines))
    return path


def doors(tmp_path: Path) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    sets = list(map(dict, JUDGED.values()))
    shuffled = np.random.default_rng(1).permutation(Q * N)
    sizes = {"group": [N] * Q}
    return {
        "arrays": (GRADES, SCORES, {}),
        "masked arrays": (np.ma.masked_array(GRADES, GRADES == 9), np.ma.masked_array(SCORES), {}),
        "lists and an array": (sets, SCORES, {}),
        "flat arrays": (GRADES.ravel(), SCORES.ravel(), sizes),
        "frames": (columns("relevance", GRADES), columns("score", SCORES), {}),
        "scattered frames": (
            columns("relevance", GRADES),
            columns("score", SCORES).take(np.sort(shuffled % Q * N + shuffled // Q, kind="stable")),
            {},
        ),
        "LETOR": (svmlight(tmp_path), SCORES.ravel(), {"input_format": "letor"}),
    }


@pytest.mark.parametrize("words", WORDS, ids=str)
def test_every_word_at_every_door(words: dict[str, Any], tmp_path: Path) -> None:
    expected = germane.evaluate(JUDGED, RUN, MEASURES, ties="given", **words)
    for door, (qrels, run, how) in doors(tmp_path).items():
        got = germane.evaluate(qrels, run, MEASURES, ties="given", **words, **how)
        for name in expected:
            means = [one[name].mean for one in (got, expected)]
            assert means[0] == pytest.approx(means[1], rel=1e-12), (door, name)


@pytest.mark.parametrize("words", WORDS, ids=str)
def test_every_word_changes_something(words: dict[str, Any]) -> None:
    """Else the test above would tell nothing."""
    measures = f"{MEASURES} P(rel=0)@5"
    plain, worded = (
        germane.evaluate(JUDGED, RUN, measures, ties="given", **one) for one in ({}, words)
    )
    if words != {"min_score": -1.0}:
        assert any(plain[name].mean != worded[name].mean for name in plain)


OF_SCORES = [words for words in WORDS if words.get("scores") != "distances"]  # embeddings have none


@pytest.mark.parametrize("words", OF_SCORES, ids=str)
def test_every_word_with_embeddings(words: dict[str, Any]) -> None:
    """The similarities are sums of few halves, which no order of adding rounds."""
    rng = np.random.default_rng(2)
    asked, gallery = rng.integers(-2, 3, (Q, 4)) / 2, rng.integers(-2, 3, (N, 4)) / 4
    run = {q: dict(enumerate(row)) for q, row in enumerate((asked @ gallery.T).tolist())}
    expected = germane.evaluate(JUDGED, run, MEASURES, ties="given", **words)
    got = germane.evaluate_embeddings(
        asked, gallery, MEASURES, qrels=GRADES, similarity="dot", **words
    )
    for name in expected:
        assert got[name].mean == pytest.approx(expected[name].mean, rel=1e-12), name


@pytest.mark.parametrize("run", [SCORES, np.argsort(-SCORES, axis=1)])
def test_an_item_that_is_its_own_query_has_an_id(run: Any) -> None:
    with pytest.raises(germane.errors.PolicyError, match="own=drop"):
        germane.evaluate([{1}] * Q, run, "AP", own="drop")


def test_own_items_of_frames_and_mappings() -> None:
    expected = germane.evaluate(JUDGED, RUN, MEASURES, ties="given", own="drop")
    qrels, run = columns("relevance", GRADES), columns("score", SCORES)
    got = germane.evaluate(qrels, run, MEASURES, ties="given", own="drop")
    assert expected["NumRet"].mean == Q * (N - 1), "a sum, as the field has it"
    for name in expected:
        assert got[name].mean == pytest.approx(expected[name].mean, rel=1e-12), name


def test_ids_have_no_scores_to_be_above() -> None:
    with pytest.raises(germane.errors.PolicyError, match="min_score"):
        germane.evaluate([{1}, {2}], np.array([[1, 2], [2, 1]]), "AP", min_score=0.5)


# --- Whole numbers of any size ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int32", "uint32", "uint64"])
def test_ids_of_any_width(kind: str) -> None:
    """They are the same ids, on either side."""
    plain = columns("relevance", GRADES), columns("score", SCORES)
    expected = germane.evaluate(*plain, MEASURES)

    def cast(table: pa.Table) -> pa.Table:
        for at, name in enumerate(("query", "item")):
            table = table.set_column(at, name, table.column(name).cast(kind))
        return table

    for qrels, run in (map(cast, plain), (plain[0], cast(plain[1])), (cast(plain[0]), plain[1])):
        got = germane.evaluate(qrels, run, MEASURES)
        assert [got[name].mean for name in expected] == [expected[n].mean for n in expected]


def test_ids_beyond_64_bits_with_a_sign() -> None:
    """As unsigned they are other ids than the negative ones with the same bits."""
    far = 1 << 63
    qrels = pa.table({"query": [1, 1], "item": pa.array([far + 1, far + 2], "uint64")})
    run = {"query": [1, 1, 1], "score": [3.0, 2.0, 1.0]}
    ids = [far + 3, far + 2, far + 1]
    result = germane.evaluate(qrels, pa.table({**run, "item": pa.array(ids, "uint64")}), "AP")
    assert result["AP"].mean == (1 / 2 + 2 / 3) / 2
    mapped = germane.evaluate({1: {far + 1, far + 2}}, {1: ids}, "AP")
    assert mapped["AP"].mean == result["AP"].mean
    absent = {"columns": {"qrels": {"relevance": None}}}
    signed = pa.table({**run, "item": pa.array([i - 2 * far for i in ids], "int64")})
    unsigned = pa.table({**run, "item": pa.array(ids, "uint64")})
    assert germane.evaluate(qrels, signed, "NumRelRet")["NumRelRet"].mean == 0
    assert germane.evaluate(signed, unsigned, "NumRelRet", **absent)["NumRelRet"].mean == 0
