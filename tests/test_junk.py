"""Items that are neither right nor wrong: what tools answered that take them out, and every way to name them."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import germane
from germane import cli

RECORDED = json.loads((Path(__file__).parent / "data" / "junk.json").read_text("utf-8"))
MIDDLE = json.loads((Path(__file__).parent / "data" / "middle_ranks.json").read_text("utf-8"))


def _measure(case: dict[str, Any], judged: Any, **options: Any) -> germane.types.Result:
    return germane.evaluate(
        judged, np.array(case["distances"]), ["mAP", "Rank-1", "Rank-2", "Rank-3"],
        dialect="torchreid", scores="distances", **options,
    )  # fmt: skip


def _list_answers(result: germane.types.Result) -> list[float]:
    return [one.mean for one in result.values()]


@pytest.mark.filterwarnings("ignore::germane.errors.GermaneWarning")
@pytest.mark.parametrize("number", range(len(RECORDED["torchreid"])))
def test_torchreid(number: int) -> None:
    """Images of the query's person and camera are junk: by cameras, by pairs, and by a mask."""
    case = RECORDED["torchreid"][number]
    sides = case["queries"], case["gallery"]
    persons, cameras = ([side[name] for side in sides] for name in ("persons", "cameras"))
    labels = germane.Labels(*persons, cameras=tuple(cameras))
    same = [[np.equal.outer(*side) for side in (persons, cameras)]]
    junk = same[0][0] & same[0][1]
    if "error" in case["answer"]:
        assert not (same[0][0] & ~junk).any()
        return
    expected = [case["answer"]["mAP"], *case["answer"]["cmc"]]
    plain = germane.Labels(*persons)
    pairs = {q: np.flatnonzero(row).tolist() for q, row in enumerate(junk)}
    for judged, options in (
        (labels, {}),
        (plain, {"ignore": junk}),
        (plain, {"ignore": pairs}),
        (plain, {"ignore": [set(one) for one in pairs.values()]}),
        (same[0][0].astype(float), {"ignore": pairs}),
    ):
        assert _list_answers(_measure(case, judged, **options)) == pytest.approx(expected, abs=1e-6)


def test_excluded_items_stay_relevant() -> None:
    """The rule of torchreid is not that of exclude=, which gives lower numbers and says so."""
    lower = 0
    for case in RECORDED["torchreid"]:
        if "error" in case["answer"]:
            continue
        persons, cameras = (
            [np.array(case[side][name]) for side in ("queries", "gallery")]
            for name in ("persons", "cameras")
        )
        junk = np.equal.outer(*persons) & np.equal.outer(*cameras)
        if not junk.any():
            continue
        with pytest.warns(germane.GermaneWarning, match="ignore= takes them out of R"):
            result = _measure(case, germane.Labels(*persons), exclude=junk)
        lower += result["AP(norm=R)"].mean < case["answer"]["mAP"] - 1e-6
    assert lower > 20


@pytest.mark.filterwarnings("ignore::germane.errors.GermaneWarning")
@pytest.mark.parametrize("protocol", ["easy", "medium", "hard"])
def test_revisited_oxford_and_paris(protocol: str) -> None:
    parts = {
        "easy": (("easy",), ("junk", "hard")),
        "medium": (("easy", "hard"), ("junk",)),
        "hard": (("hard",), ("junk", "easy")),
    }
    right, junk = parts[protocol]
    for case in RECORDED["revisitop"]:
        qrels, ignore = (
            {
                q: [image for name in names for image in one[name]]
                for q, one in enumerate(case["judged"])
            }
            for names in (right, junk)
        )
        run = dict(enumerate(case["order"]))
        answer = case["answers"][protocol]
        result = germane.evaluate(qrels, run, ["compute_map"], dialect="revisitop", ignore=ignore)
        found = result["AUPR(rule=trapezoid)"]
        assert found.mean == pytest.approx(answer["mAP"], abs=1e-9)
        assert [found.per_query[q] for q in run] == pytest.approx(answer["aps"], abs=1e-9)


def _list_middle() -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    for case in MIDDLE["lists"]:
        run = {
            f"q{q}": {"true": one, **{f"other{i}": score for i, score in enumerate(others)}}
            for q, (one, others) in enumerate(zip(case["true"], case["false"], strict=True))
        }
        yield {query: {"true": 1} for query in run}, run, case


@pytest.mark.filterwarnings("ignore::germane.errors.GermaneWarning")
def test_ogb_and_pykeen() -> None:
    """The middle rank of ties, and the first and the last, as both tools answer."""
    for qrels, run, case in _list_middle():
        for name, expected in case["ogb"].items():
            result = germane.evaluate(qrels, run, [name], dialect="ogb")
            assert next(iter(result.values())).mean == pytest.approx(expected, abs=1e-6), name
        for name, expected in case["pykeen"].items():
            asked = name.removeprefix("realistic.")
            result = germane.evaluate(qrels, run, [asked], dialect="pykeen")
            assert next(iter(result.values())).mean == pytest.approx(expected, abs=1e-9), name


def test_the_middle_of_ties_by_hand() -> None:
    """Two of three tied items are relevant: each stands at rank 3, the middle of 2 to 4."""
    run = {"q": {"a": 0.9, "x": 0.5, "y": 0.5, "b": 0.5, "z": 0.1}}
    result = germane.evaluate(
        {"q": ["x", "y", "z"]},
        run,
        "RR Success@2 Success@3 R@2 R@3 R@5 LastRank MeanRank MeanRank(of=all) PercentileRank",
        ties="middle",
    )
    assert [one.mean for one in result.values()] == [
        1 / 3, 0, 1, 0, 2 / 3, 1, 5, 3, (3 + 3 + 5) / 3, (2 / 4 + 2 / 4 + 4 / 4) / 3,
    ]  # fmt: skip
    result = germane.evaluate(
        {"q": ["y"]}, {"q": {"x": 0.5, "y": 0.5}}, "RR R@1 Success@1", ties="middle"
    )
    assert [one.mean for one in result.values()] == [1 / 1.5, 0, 0]
    low, high = result["RR"].worst, result["RR"].best
    assert (low, high) == (1 / 2, 1)
    for name in ("AP", "P@2", "nDCG@3", "R(norm=min)@2", "AUROC"):
        with pytest.raises(
            germane.errors.MeasureError, match=r"ties=middle .* RR, Success, R, LastRank, MeanRank"
        ):
            germane.evaluate({"q": ["x"]}, run, name, ties="middle")


# --- Ranks as places ----------------------------------------------------------------------------


def _frame(ranks: dict[str, list[tuple[str, int]]]) -> pd.DataFrame:
    rows = [(query, item, rank) for query, got in ranks.items() for item, rank in got]
    return pd.DataFrame(rows, columns=["query", "item", "rank"])


def test_ranks_are_places() -> None:
    """Ranks of the true entities of a knowledge graph: 91781, 57 and 7."""
    qrels = {"a": ["x"], "b": ["y"], "c": ["z"]}
    frame = _frame({"a": [("x", 91781)], "b": [("y", 57)], "c": [("z", 7)]})
    with pytest.warns(
        germane.GermaneWarning, match=r"taken as an order: 1, 2, 3, …\. .* use ranks=places"
    ):
        assert germane.evaluate(qrels, frame, "RR")["RR"].mean == 1
    result = germane.evaluate(qrels, frame, "RR R@10 P@10 AP(norm=R)", ranks="places")
    expected = [(1 / 91781 + 1 / 57 + 1 / 7) / 3, 1 / 3, 1 / 30, (1 / 91781 + 1 / 57 + 1 / 7) / 3]
    assert [one.mean for one in result.values()] == pytest.approx(expected, abs=1e-15)
    assert result.findings == ()
    assert "ranks=places" in str(result.signature("RR"))


def test_places_close_up_where_items_are_left_out() -> None:
    """Filtered ranks: other true entities above do not count."""
    qrels = {"q": ["x", "z", "w"]}
    frame = _frame({"q": [("w", 11), ("x", 2), ("y", 5), ("z", 9)]})
    for option in ({"exclude": {"q": ["y"]}}, {"ignore": {"q": ["y"]}}):
        result = germane.evaluate(qrels, frame, "AP RR", ranks="places", **option)
        assert result["AP"].mean == pytest.approx((1 / 2 + 2 / 8 + 3 / 10) / 3)
    result = germane.evaluate(qrels, frame, "AP", ranks="places", ignore={"q": ["x"]})
    assert result["AP"].mean == pytest.approx((1 / 8 + 2 / 10) / 2)
    shown = germane.explain(qrels, frame, "AP", query="q", ranks="places")
    assert [row.rank for row in shown.rows if row.hit] == [2, 9, 11]
    assert next(row.rank for row in shown.rows if row.item == "y") == 5


@pytest.mark.parametrize("ranks", [[1, 2, 3], [0, 1, 2], [3, 1, 2]])
def test_ranks_without_gaps_are_an_order(ranks: list[int]) -> None:
    frame = _frame({f"q{q}": list(zip("xyz", ranks, strict=True)) for q in range(12)})
    result = germane.evaluate({f"q{q}": ["x", "w"] for q in range(12)}, frame, "RR")
    assert not any("ranks taken" in one.what for one in result.findings)
    if min(ranks):
        assert (
            germane.evaluate({f"q{q}": ["x", "w"] for q in range(12)}, frame, "RR", ranks="places")[
                "RR"
            ].mean
            == result["RR"].mean
        )
    else:
        with pytest.raises(germane.errors.FormatError, match=r"item 'x' has rank 0, .* add 1"):
            germane.evaluate({f"q{q}": ["x", "w"] for q in range(12)}, frame, "RR", ranks="places")


def test_places_need_ranks() -> None:
    qrels = {"q": ["x"]}
    with pytest.raises(germane.errors.PolicyError, match="the run has scores"):
        germane.evaluate(qrels, {"q": {"x": 0.5}}, "RR", ranks="places")
    with pytest.raises(germane.errors.PolicyError, match="whole lists"):
        germane.evaluate(
            qrels, _frame({"q": [("x", 9)]}), "Coverage@2", catalogue=5, ranks="places"
        )
    assert germane.evaluate(qrels, {"q": ["y", "x"]}, "RR", ranks="places")["RR"].mean == 1 / 2


def test_a_file_of_query_item_and_rank(tmp_path: Path) -> None:
    """MS MARCO's files, of which some rows are left."""
    path = tmp_path / "run.tsv"
    path.write_text("1\t7\t3\n1\t8\t10\n2\t9\t4\n")
    options: dict[str, Any] = {"input_format": {"run": "msmarco"}, "ranks": "places"}
    result = germane.evaluate({"1": ["7", "8"], "2": ["9"]}, str(path), "RR@10 R@10", **options)
    assert [one.mean for one in result.values()] == pytest.approx([(1 / 3 + 1 / 4) / 2, 1])


# --- Junk of labels -----------------------------------------------------------------------------


def test_cameras_of_embeddings() -> None:
    rng = np.random.default_rng(5)
    queries, gallery = rng.normal(size=(5, 4)), rng.normal(size=(30, 4))
    persons, cameras = (
        (rng.integers(0, n, 5) for n in (3, 2)),
        (rng.integers(0, n, 30) for n in (3, 2)),
    )
    (q_persons, q_cameras), (g_persons, g_cameras) = persons, cameras
    result = germane.evaluate_embeddings(
        queries, gallery, "AP", query_labels=q_persons, gallery_labels=g_persons, cameras=(q_cameras, g_cameras)
    )  # fmt: skip
    unit = [side / np.linalg.norm(side, axis=1)[:, None] for side in (queries, gallery)]
    scores = unit[0] @ unit[1].T
    for q in range(5):
        right = g_persons == q_persons[q]
        junk = right & (g_cameras == q_cameras[q])
        order = [i for i in np.argsort(-scores[q]) if not junk[i]]
        hits = [n for n, i in enumerate(order, 1) if right[i]]
        expected = math.fsum(at / n for at, n in enumerate(hits, 1)) / len(hits)
        assert result["AP"].per_query[q] == pytest.approx(expected)
    assert result.counts.ignored == result.counts.excluded > 0
    assert "ignore " in str(result.signature("AP"))


def test_cameras_that_do_not_fit() -> None:
    for cameras, says in (
        ([1, 2], "is a pair|one camera|one label"),
        (([1], [1, 2]), "has 2 cameras, but there are 3 labels"),
        (([1], [1, None, 2]), "missing|text or a number"),
        (3, "is a pair"),
    ):
        with pytest.raises(germane.errors.FormatError, match=says):
            germane.Labels(["a"], ["a", "b", "a"], cameras=cameras)
    with pytest.raises(germane.errors.InputError, match="cameras= go with"):
        germane.evaluate_embeddings(
            np.eye(2), np.eye(2), "AP", qrels=np.eye(2), cameras=([1, 2], [1, 2])
        )


def test_named_labels_with_cameras_and_more_junk() -> None:
    labels = germane.Labels(["ann"], ["ann", "bob", "ann", "ann"], cameras=([1], [1, 1, 2, 2]))
    scores = np.array([[0.9, 0.8, 0.7, 0.6]])
    ids = {"query_ids": ["q"], "item_ids": ["a", "b", "c", "d"]}
    result = germane.evaluate(labels, scores, "AP", **ids)
    assert result["AP"].mean == pytest.approx((1 / 2 + 2 / 3) / 2)
    result = germane.evaluate(labels, scores, "AP", ignore={"q": ["d"]}, **ids)
    assert (result["AP"].mean, result.counts.ignored, result.counts.excluded) == (1 / 2, 2, 2)
    found = germane.check(labels, scores, "AP", ignore={"q": ["d"]}, **ids)
    assert not any(one.severity == "serious" for one in found)


def test_ignored_items_in_records() -> None:
    qrels, run = {"q": {"a": 1, "b": 1, "c": 0}}, {"q": {"c": 0.9, "b": 0.5, "a": 0.4}}
    plain = germane.evaluate(qrels, run, "AP")
    junk = germane.evaluate(qrels, run, "AP", name="junk", ignore={"q": ["b"]})
    assert junk["AP"].mean == 1 / 2
    assert junk.fingerprint == plain.fingerprint  # of the judgments as they were written
    assert junk.option_fingerprints.keys() == {"ignore"}
    signature = str(junk.signature("AP"))
    assert dict(germane.types.Signature.read(signature).options).keys() == {"ignore"}
    assert germane.verify(signature, qrels, run, ignore={"q": ["b"]}).same
    assert not germane.verify(signature, qrels, run).same
    assert not germane.verify(signature, qrels, run, ignore={"q": ["a"]}).same
    with pytest.raises(germane.errors.InputError, match="Evaluate both runs with the same ignore="):
        germane.compare([plain, junk])


def test_the_command_line_ignores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 1\nq 0 c 0\n")
    (tmp_path / "run.txt").write_text("q Q0 c 1 3 x\nq Q0 b 2 2 x\nq Q0 a 3 1 x\n")
    (tmp_path / "junk.csv").write_text("query,item\nq,b\n")
    paths = [str(tmp_path / name) for name in ("qrels.txt", "run.txt")]
    assert cli.main(["evaluate", *paths, "-m", "AP", "--ignore", str(tmp_path / "junk.csv")]) == 0
    printed = capsys.readouterr().out
    assert "0.5000" in printed
    assert "1 judgment ignored" in printed


def test_cameras_and_a_file_of_junk(tmp_path: Path) -> None:
    """Numbers of rows and columns, and their digits in a file."""
    labels = germane.Labels(["ann"], ["ann", "bob", "ann", "ann"], cameras=([1], [1, 1, 2, 2]))
    (tmp_path / "junk.txt").write_text("0 3\n")
    scores = np.array([[0.9, 0.8, 0.7, 0.6]])
    result = germane.evaluate(labels, scores, "AP", ignore=tmp_path / "junk.txt")
    assert (result["AP"].mean, result.counts.ignored, result.counts.excluded) == (1 / 2, 2, 2)
