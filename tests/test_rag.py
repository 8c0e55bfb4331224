"""Vector search: ids of both sides, chunks that become documents, distances, and leaks."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import germane
from germane import cli
from results import values

import inputs
from report_page import HOSTILE

MEASURES = "AP nDCG@10 RR R@5 NumRet"
Scores = dict[str, dict[str, float]]


def document(chunk: str) -> str:
    return chunk.split("#")[0]


def world() -> tuple[Scores, Scores]:
    """Judgments of documents, and a run of chunks of which many are tied."""
    rng = random.Random(1)
    run = {
        f"q{i}": {
            f"d{rng.randrange(30)}#{rng.randrange(9)}": rng.choice([rng.random(), 0.5, 0.25])
            for _ in range(60)
        }
        for i in range(12)
    }
    return {f"q{i}": {f"d{rng.randrange(33)}": 1.0 for _ in range(5)} for i in range(12)}, run


QRELS, RUN = world()
CHUNKS = sorted({chunk for got in RUN.values() for chunk in got})
ROWS = sum(map(len, RUN.values()))


def collapsed(run: Scores, best: Callable[..., float] = max) -> Scores:
    """Each document once a query, with its best score."""
    found: Scores = {}
    for query, got in run.items():
        mine = found.setdefault(query, {})
        for chunk, score in got.items():
            mine[document(chunk)] = best(mine.get(document(chunk), score), score)
    return found


def groups(form: str, folder: Path) -> Any:
    """The groups of the chunks in one of the forms that collapse= takes."""
    table = pa.table({"item": CHUNKS, "group": list(map(document, CHUNKS))})
    path = folder / f"groups{form}"
    match form:
        case "function":
            return document
        case "mapping":
            return dict(zip(CHUNKS, map(document, CHUNKS), strict=True))
        case "frame":
            return table.rename_columns(["chunk", "doc"])
        case ".parquet":
            pyarrow.parquet.write_table(table, path)
        case ".csv":
            path.write_text("".join(f"{chunk},{document(chunk)}\n" for chunk in CHUNKS))
        case ".jsonl":
            rows = (json.dumps({"item": one, "group": document(one)}) + "\n" for one in CHUNKS)
            path.write_text("".join(rows))
        case _:  # a header does no harm, and neither does a repeated row
            rows = (f"{chunk}\t{document(chunk)}\n" for chunk in ["chunk", *CHUNKS, CHUNKS[0]])
            path.write_text("".join(rows))
    return path


FORMS = ("function", "mapping", "frame", ".tsv", ".txt", ".csv", ".jsonl", ".parquet")


@pytest.mark.parametrize("distances", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_groups(form: str, distances: bool, tmp_path: Path) -> None:
    key, best = groups(form, tmp_path), min if distances else max
    better = {
        query: {item: -score if distances else score for item, score in got.items()}
        for query, got in collapsed(RUN, best).items()
    }
    expected = values(germane.evaluate(QRELS, better, MEASURES))
    rows = inputs.rows(RUN)
    shuffled, sorted_rows = tmp_path / "shuffled.run", tmp_path / "sorted.run"
    shuffled.write_text(inputs.run_text(inputs.shuffled(rows)))
    sorted_rows.write_text(inputs.run_text(rows))
    table = inputs.table(rows)
    scores: dict[str, Any] = {"scores": "distances"} if distances else {}
    for run in (RUN, table, shuffled, sorted_rows, germane.read_run(shuffled)):
        got = germane.evaluate(QRELS, run, MEASURES, collapse=key, **scores)
        assert values(got) == expected, type(run)
        assert (got.counts.collapsed, got.counts.groups) == (ROWS, sum(map(len, better.values())))
    evaluator = germane.Evaluator(QRELS, MEASURES, collapse=key, **scores)
    for query, held in RUN.items():
        evaluator.update({query: held})
    assert values(evaluator.result()) == expected
    assert evaluator.result().counts.collapsed == ROWS


def test_ranked_lists_keep_the_first_place_of_a_group() -> None:
    lists = {query: list(got) for query, got in RUN.items()}
    got = germane.evaluate(QRELS, lists, MEASURES, collapse=document)
    expected = germane.evaluate(QRELS, germane.collapse(lists, document), MEASURES)
    assert values(got) == values(expected)
    query, item = (
        list(side) for side in zip(*((q, i) for q in lists for i in lists[q]), strict=True)
    )
    rank = [place for got in lists.values() for place in range(len(got))]
    ranked = pa.table({"query": query, "item": item, "rank": rank})
    assert values(germane.evaluate(QRELS, ranked, MEASURES, collapse=document)) == values(expected)


def test_functions_that_start_from_the_same_data(tmp_path: Path) -> None:
    key = groups(".tsv", tmp_path)
    file = tmp_path / "chunks.run"
    file.write_text(inputs.run_text(inputs.rows(RUN)))
    plain, run = collapsed(RUN), {"chunks": file}
    many = germane.evaluate_many(QRELS, {"a": file, "b": RUN}, "AP", collapse=key)
    assert many["a"]["AP"].per_query == many["b"]["AP"].per_query
    ours = germane.explain(QRELS, file, "AP@5", query="q1", collapse=key)
    theirs = germane.explain(QRELS, plain, "AP@5", query="q1")
    assert str(ours).partition("policy")[0] == str(theirs).partition("policy")[0]
    gate = germane.mean_pr_curve(QRELS, file, collapse=key)
    assert gate.precision.tolist() == germane.mean_pr_curve(QRELS, plain).precision.tolist()
    page = germane.report(QRELS, run | {"dict": RUN}, "AP", collapse=key).html
    assert "d1" in page
    assert "d1#" not in page


def test_ids_of_different_types_in_files_of_text(tmp_path: Path) -> None:
    """In a file of text, an integer is its digits; so a mapping of integers fits a TREC file."""
    file = tmp_path / "x.run"
    file.write_text("1 Q0 71 1 0.9 t\n1 Q0 72 2 0.8 t\n1 Q0 81 3 0.7 t\n")
    for key in ({71: 7, 72: 7, 81: 8}, {"71": "7", "72": "7", "81": "8"}):
        got = germane.evaluate({1: {8: 1}}, file, "RR", collapse=key)
        assert got["RR"].per_query == {1: 0.5}
    listed = tmp_path / "groups.tsv"
    listed.write_text("71\t7\n72\t7\n81\t8\n")
    frame = pa.table({"query": [1, 1, 1], "item": [71, 72, 81], "score": [0.9, 0.8, 0.7]})
    for run in (frame, file, {"1": {"71": 0.9, "72": 0.8, "81": 0.7}}):
        assert germane.evaluate({"1": {"8": 1}}, run, "RR", collapse=listed)["RR"].mean == 0.5


def refuse(says: str, error: type[Exception], *given: Any, **options: Any) -> None:
    with pytest.raises(error, match=re.escape(says)):
        germane.evaluate(*given, "RR", **options)


def test_what_is_no_group(tmp_path: Path) -> None:
    qrels, run = {"q": ["d"]}, {"q": {"c1": 1.0, "c2": 0.5}}
    refuse(
        "query 'q': item 'c2' has no group. Groups are known for 'c1'",
        germane.errors.NotFoundError,
        qrels,
        run,
        collapse={"c1": "d"},
    )
    refuse(
        "The item is str, and these are int",
        germane.errors.NotFoundError,
        qrels,
        run,
        collapse={1: "d"},
    )
    refuse(
        "one group for each column of an array",
        germane.errors.InputError,
        qrels,
        run,
        collapse=["d", "d"],
    )
    refuse(
        "there is no such file",
        germane.errors.InputError,
        qrels,
        run,
        collapse=str(tmp_path / "none.tsv"),
    )
    refuse(
        "collapse= is a mapping {item: group}", germane.errors.InputError, qrels, run, collapse=3
    )
    refuse("a group is an id", germane.errors.InputError, qrels, run, collapse=lambda chunk: ["d"])
    refuse(
        "raises KeyError",
        germane.errors.NotFoundError,
        qrels,
        run,
        collapse={"c1": "d"}.__getitem__,
    )
    listed = tmp_path / "groups.tsv"
    listed.write_text("c1\td\nc1\te\n")
    refuse(
        "item 'c1' is in two groups, 'd' and 'e'",
        germane.errors.DuplicateError,
        qrels,
        run,
        collapse=listed,
    )
    listed.write_text("c1\td\tx\n")
    refuse(
        ":1: 3 fields where the file has 2 columns (item, group)",
        germane.errors.FormatError,
        qrels,
        run,
        collapse=listed,
    )
    frame = pa.table({"a": ["c1"], "b": ["d"], "c": [1]})
    refuse(
        "two columns are needed, item and group; found 'a', 'b', 'c'",
        germane.errors.FormatError,
        qrels,
        run,
        collapse=frame,
    )
    refuse(
        "do not work for flat arrays",
        germane.errors.InputError,
        [1, 0],
        [0.5, 0.4],
        group=[2],
        collapse=["a", "b"],
    )


# --- Arrays and embeddings -------------------------------------------------------------------------

Q, N = 20, 300
IDS, GALLERY = [f"q{i}" for i in range(Q)], [f"c{i}" for i in range(N)]


def vectors() -> tuple[Any, Any, list[str], Scores]:
    """Small whole numbers, so that many similarities are equal."""
    rng = np.random.default_rng(3)
    queries, gallery = (rng.integers(-3, 4, (size, 6)).astype(np.float32) for size in (Q, N))
    for side in (queries, gallery):
        side[(side == 0).all(axis=1)] = 1
    documents = [f"doc{d}" for d in rng.integers(0, 50, N)]
    qrels = {
        query: {f"doc{d}": float(rng.integers(1, 3)) for d in rng.choice(60, 6, replace=False)}
        for query in IDS
    }
    return queries, gallery, documents, qrels


def best_documents(scores: Any, documents: list[str]) -> Scores:
    """The best chunk's score of each document, in the order of these chunks."""
    run: Scores = {}
    for query, row in zip(IDS, scores.tolist(), strict=True):
        mine = run.setdefault(query, {})
        for one, score in zip(documents, row, strict=True):
            if score > mine.get(one, -np.inf):
                mine.pop(one, None)
                mine[one] = score
    return run


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean"])
def test_documents_of_embeddings(similarity: Any) -> None:
    queries, gallery, documents, qrels = vectors()
    scores = inputs.compute_similarities(queries, gallery, similarity)
    wanted = germane.evaluate(qrels, best_documents(scores, documents), MEASURES, ties="given")
    by_id = dict(zip(GALLERY, documents, strict=True))
    for key, ids in (
        (documents, None), (np.array(documents), GALLERY), (by_id, np.array(GALLERY)),
        (by_id.__getitem__, GALLERY), (documents.__getitem__, None), (dict(enumerate(documents)), None),
    ):  # fmt: skip
        got = germane.evaluate_embeddings(
            queries, gallery, MEASURES, qrels=qrels, query_ids=IDS, gallery_ids=ids, collapse=key,
            similarity=similarity,
        )  # fmt: skip
        assert values(got) == values(wanted)
        assert (got.counts.collapsed, got.counts.groups) == (Q * N, Q * len(set(documents)))
    named: dict[str, Any] = {"query_ids": IDS, "item_ids": GALLERY, "collapse": by_id}
    assert values(germane.evaluate(qrels, scores, MEASURES, **named)) == values(wanted)
    turned = germane.evaluate(qrels, -scores, MEASURES, scores="distances", **named)
    assert values(turned) == values(wanted)


def test_the_order_of_the_gallery_does_not_matter_to_documents() -> None:
    queries, gallery, documents, qrels = vectors()
    order = np.random.default_rng(1).permutation(N)
    given, shuffled = (
        germane.evaluate_embeddings(
            queries, gallery[at], MEASURES, qrels=qrels, query_ids=IDS, ties="expected",
            collapse=np.array(documents)[at],
        )
        for at in (np.arange(N), order)
    )  # fmt: skip
    assert values(given) == values(shuffled)


@pytest.mark.parametrize("options", [{}, {"nonpositive": "miss"}])
def test_the_query_itself_is_no_chunk_of_its_document(options: dict[str, Any]) -> None:
    x = np.random.default_rng(2).normal(size=(40, 5)).astype(np.float32)
    ids = [f"c{i}" for i in range(40)]
    own = [f"d{i // 2 if i < 30 else i}" for i in range(40)]  # the last ten have one chunk each
    qrels = {one: {own[(k + 7) % 40]: 1.0, own[k]: 2.0} for k, one in enumerate(ids)}
    scores = inputs.compute_similarities(x, x, "cosine")
    run: Scores = {}
    for i, one in enumerate(ids):
        mine = run.setdefault(one, {})
        for j, group in enumerate(own):
            if i != j:
                mine[group] = max(mine.get(group, -9.0), scores[i, j])
    judged = {q: {d: g for d, g in held.items() if d in run[q]} for q, held in qrels.items()}
    wanted = germane.evaluate(judged, run, MEASURES, **options)
    sample = np.random.default_rng(4).permutation(40)
    for at in (np.arange(40), sample):  # by ids, the query may be anywhere in the gallery
        got = germane.evaluate_embeddings(
            x, x[at], MEASURES, qrels=qrels, query_ids=ids, gallery_ids=[ids[j] for j in at],
            collapse=[own[j] for j in at], exclude_self=True, **options,
        )  # fmt: skip
        assert values(got) == values(wanted)
        assert got.counts.collapsed == 40 * 39


def test_ids_name_what_is_numbered() -> None:
    queries, gallery, _, _ = vectors()
    labels, others = [i % 3 for i in range(Q)], [i % 3 for i in range(N)]
    shared: dict[str, Any] = {"query_labels": labels, "gallery_labels": others}
    plain = germane.evaluate_embeddings(queries, gallery, MEASURES, **shared)
    for ids in ({}, {"gallery_ids": GALLERY}):
        named = germane.evaluate_embeddings(
            queries, gallery, MEASURES, query_ids=IDS, **ids, **shared
        )
        assert list(named["AP"].per_query) == IDS
        assert list(named["AP"].per_query.values()) == list(plain["AP"].per_query.values())
    grades = np.equal.outer(labels, others).astype(float)
    dense = germane.evaluate_embeddings(
        queries, gallery, MEASURES, qrels=grades, query_ids=IDS, gallery_ids=GALLERY
    )
    assert values(dense) == values(named)


SCORES = np.array([[0.9, 0.8, 0.7], [0.9, 0.5, 0.1]])
TOP = np.array([[3, 1, 0], [2, 3, -1]])
ITEMS = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("run", "options"),
    [
        (TOP, {}),
        ((SCORES, TOP), {}),
        ([TOP, SCORES], {}),
        ((1 - SCORES, TOP), {"scores": "distances"}),
        ((1 - SCORES.astype(np.float32), TOP.astype(np.int32)), {"scores": "distances"}),
    ],
)
def test_top_ids(run: Any, options: dict[str, Any]) -> None:
    qrels = {"x": {"a": 1, "d": 1}, "y": {"d": 1}, "z": {"a": 1}}
    named = {"query_ids": ["x", "y"], "item_ids": ITEMS, **options}
    result = germane.evaluate(qrels, run, "AP@3 RR", **named)
    assert result["RR"].per_query == {"x": 1.0, "y": 0.5, "z": 0.0}
    assert result["AP@3"].per_query == {"x": (1 + 2 / 3) / 2, "y": 0.5, "z": 0.0}
    assert result.counts.missing == 1
    halves = germane.evaluate(
        {"x": ["A"], "y": ["B"]}, run, "RR NumRet", collapse=["A", "A", "B", "B"], **named
    )
    assert halves["RR"].per_query == {"x": 0.5, "y": 1.0}
    assert halves["NumRet"].per_query == {"x": 2.0, "y": 1.0}
    assert (halves.counts.collapsed, halves.counts.groups) == (5, 3)
    shown = germane.explain(qrels, run, "AP", query="x", **named)
    assert [row.item for row in shown.rows] == ["d", "b", "a"]


def test_lists_and_text_arrays_with_query_ids() -> None:
    lists = [["d", "b", "a"], ["c", "d"]]
    qrels: Any
    for qrels in ({"x": ["a", "d"], "y": ["d"]}, [{"a", "d"}, {"d"}]):
        got = germane.evaluate(qrels, lists, "RR", query_ids=["x", "y"])
        assert got["RR"].per_query == {"x": 1.0, "y": 0.5}
    array = np.array([["d", "b"], ["c", "d"]])
    got = germane.evaluate({"x": ["a", "d"], "y": ["d"]}, array, "RR", query_ids=["x", "y"])
    assert got["RR"].per_query == {"x": 1.0, "y": 0.5}
    assert germane.evaluate([["d"], ["d"]], array, "RR")["RR"].mean == 0.75


def test_ids_that_do_not_fit() -> None:
    qrels = {"x": ["a"]}
    one = np.array([[1, 0]])
    for run in (one, np.array([[0.5, 0.2]])):
        asks = "judge item 'a'. item_ids= gives the id of each column. If columns are chunks, collapse="
        refuse(asks, germane.errors.CoverageError, qrels, run, query_ids=["x"])
        asks = "'a' is at places 0 and 1; give each an id of its own. If these are the documents of chunks, pass them as collapse="
        refuse(asks, germane.errors.FormatError, qrels, run, item_ids=["a", "a"])
    refuse(
        "query_ids has 2 ids for 1 queries",
        germane.errors.FormatError,
        qrels,
        one,
        query_ids=["x", "y"],
    )
    refuse(
        "'x' is at places 0 and 1; give each an id of its own.",
        germane.errors.FormatError,
        qrels,
        TOP,
        query_ids=["x", "x"],
    )
    refuse(
        "place 0: an id is text or a whole number; got 1.5",
        germane.errors.FormatError,
        qrels,
        one,
        query_ids=[1.5],
    )
    refuse(
        "query_ids has an id for each row, or is a file of them; there is no file 'xy'",
        germane.errors.FormatError,
        qrels,
        one,
        query_ids="xy",
    )
    refuse(
        "row 0, rank 1: 3 is not a place in item_ids, which has 2 ids",
        germane.errors.FormatError,
        qrels,
        TOP,
        query_ids=["x", "y"],
        item_ids=["a", "b"],
    )
    refuse(
        "item_ids has 2 ids for 3 items",
        germane.errors.FormatError,
        qrels,
        SCORES,
        query_ids=["x", "y"],
        item_ids=["a", "b"],
    )
    refuse(
        "those of the qrels are int (1), these are str ('x')",
        germane.errors.CoverageError,
        {1: ["a"]},
        one,
        query_ids=["x"],
        item_ids=ITEMS,
    )
    refuse(
        "this run has ids of its own",
        germane.errors.InputError,
        qrels,
        {"x": ["a"]},
        query_ids=["x"],
    )
    refuse(
        "but these lists contain ids",
        germane.errors.InputError,
        qrels,
        [["a"]],
        query_ids=["x"],
        item_ids=ITEMS,
    )
    refuse(
        "with collapse= they must be about groups",
        germane.errors.InputError,
        np.ones((2, 3)),
        SCORES,
        collapse=["a"] * 3,
    )
    refuse(
        "collapse= has 2 groups for 3 items",
        germane.errors.FormatError,
        qrels,
        SCORES,
        query_ids=["x", "y"],
        collapse=["a"] * 2,
    )
    with pytest.raises(germane.errors.FormatError, match="gallery_ids has 3 ids for 2 items"):
        germane.evaluate_embeddings(np.eye(2), np.eye(2), qrels=qrels, gallery_ids=[1, 2, 3])
    with pytest.raises(germane.errors.InputError, match="no query_ids are in gallery_ids"):
        germane.evaluate_embeddings(
            np.eye(2), np.eye(2), qrels=qrels, query_ids=["xy", "z"], gallery_ids=["a", "b"],
            exclude_self=True,
        )  # fmt: skip


# --- Distances -------------------------------------------------------------------------------------


def test_the_lowest_distance_is_the_best_in_every_input(tmp_path: Path) -> None:
    near = {q: {item: -score for item, score in got.items()} for q, got in collapsed(RUN).items()}
    wanted = values(germane.evaluate(QRELS, collapsed(RUN), MEASURES))
    given = inputs.COLUMNS["PyArrow table"](inputs.table(inputs.rows(near)), tmp_path)
    file = tmp_path / "near.run"
    file.write_text(inputs.run_text(inputs.shuffled(inputs.rows(near))))
    for run in (near, given, file):
        assert values(germane.evaluate(QRELS, run, MEASURES, scores="distances")) == wanted
    flat = germane.evaluate([1, 0, 1], [3.0, 1.0, 2.0], "AP", group=["a"] * 3, scores="distances")
    assert flat["AP"].mean == (1 / 2 + 2 / 3) / 2
    masked = np.ma.masked_array([[0.1, 0.2, 0.3]], [[True, False, False]])
    got = germane.evaluate([{0, 2}], masked, "AP NumRet", scores="distances")
    assert (got["AP"].mean, got["NumRet"].mean) == (1 / 2 / 2, 2)
    got = germane.evaluate([{0, 2}], masked, "NumRet", scores="distances", max_distance=0.2)
    assert got["NumRet"].mean == 1
    with pytest.raises(germane.errors.PolicyError, match="nonpositive=miss is for scores"):
        germane.Policy(scores="distances", nonpositive="miss")
    with pytest.raises(germane.errors.PolicyError, match="use similarity=euclidean"):
        germane.evaluate_embeddings(np.eye(2), np.eye(2), qrels=[{0}, {1}], scores="distances")


def test_findings_recommend_the_word() -> None:
    near = {f"q{i}": {f"d{j}": j / 10 for j in range(10)} for i in range(20)}
    qrels = {f"q{i}": {"d5": 1} for i in range(20)}
    with pytest.warns(germane.GermaneWarning, match="If they are distances, use scores=distances"):
        germane.evaluate(qrels, near, "RR")
    assert germane.evaluate(qrels, near, "RR", scores="distances").findings == ()
    far = {q: {item: 1 - score for item, score in got.items()} for q, got in near.items()}
    with pytest.warns(
        germane.GermaneWarning, match="distances of every query fall .* leave out scores=distances"
    ):
        germane.evaluate(qrels, far, "RR", scores="distances")


# --- Check and the command line --------------------------------------------------------------------


def test_check_collapses_and_takes_distances() -> None:
    near = {
        f"q{i}": {f"d{j}#{k}": j + k / 9 for j in range(9) for k in range(2)} for i in range(20)
    }
    qrels = {f"q{i}": {"d0": 1, "d5": 0} for i in range(20)}
    whats = [one.what for one in germane.check(qrels, near, "RR")]
    assert "nothing judged was found" in whats
    found = germane.check(qrels, near, "RR", collapse=document, scores="distances")
    assert not found.serious
    assert "scores rise as given" in [
        one.what for one in germane.check(qrels, near, "RR", collapse=document)
    ]


def test_leaks() -> None:
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
    run = {"q1": {"d1": 1.0, "q2": 0.5}, "q2": {"d3": 1.0, "d1": 0.5}}
    train = {"q2": {"d3": 0, "d9": 1}, "q3": {"d1": 1}}
    found = {one.what: one for one in germane.check(qrels, run, "RR", train=train)}
    assert found["judgments of the training data"].count == 1
    assert found["judgments of the training data"].examples == ("query 'q2' item 'd3'",)
    assert found["queries of the training data"].says == (
        "1 of 2 judged queries is also in the training judgments"
    )
    assert (
        found["queries among the items"].says
        == "1 of 2 queries is among the items, judging by their ids"
    )
    assert "results of the training data" in found  # d3, which is in the test, too
    numbers = germane.check(
        {1: {2: 1}, 2: {3: 1}}, {1: {2: 1.0}, 2: {3: 1.0}}, "RR", train={5: {2: 1}}
    )
    assert not {one.what for one in numbers if "training" in one.what or "among" in one.what}


def test_results_that_a_user_has_seen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Two of five results, in one of two lists, are excluded by the option that is named."""
    test, train = (
        "user_id,item_id\n1,11\n2,12\n",
        "user_id,item_id,rating,timestamp\n1,13,4,9\n1,14,1,8\n1,13,5,7\n3,12,5,8\n",
    )
    run = "user_id,item_id,rank\n1,13,1\n1,11,2\n1,14,3\n2,13,1\n2,12,2\n"
    paths = {name: tmp_path / f"{name}.csv" for name in ("test", "run", "train")}
    for path, text in zip(paths.values(), (test, run, train), strict=True):
        path.write_text(text)
    seen = f"--train {paths['train']}"
    cli.main(["check", str(paths["test"]), str(paths["run"]), "-m", "RR", *seen.split()])
    out = capsys.readouterr().out
    assert (
        "2 of 5 results are in the training judgments of the same query, in 1 of 2 queries" in out
    )
    assert "run.csv:2: query '1' item '13'" in out
    assert "--exclude" in out
    data = str(paths["test"]), str(paths["run"]), "RR"
    found = germane.check(*data, train=paths["train"], exclude=paths["train"])
    assert not [one for one in found if one.what == "results of the training data"]


TEXTS: dict[str, Any] = {
    "queries": {"q1": "Who  wrote\nit?", "q2": "when was it"},
    "items": {
        "d1": {"title": "Who wrote it?", "text": "Nobody knows."},  # a title alone is no leak
        "d9": "who wrote IT?",
        "x": {"title": "", "text": "when was it, and where"},
    },
}
JUDGED = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
RETRIEVED = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0, "d1": 0.5}}
LEAK, COPIES = "queries with the text of an item", "judged items with the same text"


def find_leaks(qrels: Any = JUDGED, run: Any = RETRIEVED, **given: Any) -> dict[str, Any]:
    found = germane.check(qrels, run, "RR", **{**TEXTS, **given})
    return {one.what: one for one in found if one.what in (LEAK, COPIES)}


def test_queries_with_the_text_of_an_item() -> None:
    found = find_leaks()[LEAK]
    assert (found.severity, found.count, found.where) == ("doubtful", 1, "qrels")
    assert found.says == "1 of 2 queries has exactly the text of an item"
    assert found.examples == ("query 'q1' item 'd9': 'who wrote IT?'",)
    assert not find_leaks({"q1": {"d1": 1, "d9": 1}, "q2": {"d3": 1}}), "a judged one is meant"
    assert not find_leaks(exclude={"q1": ["d9"]})
    assert not find_leaks(only={"q1": ["d1"], "q2": []})
    assert find_leaks(exclude={"q2": ["d9"]})
    twice = germane.check(JUDGED, {"a": RETRIEVED, "b": {"q1": {"z": 1.0}}}, "RR", **TEXTS)
    assert [one.what for one in twice].count(LEAK) == 1
    lookup = TEXTS["items"].get
    assert not find_leaks(items=lookup), "a function has no list of items"
    assert find_leaks(run={"q1": {"d9": 1.0}, "q2": {"d3": 1.0}}, items=lookup)
    titled = {"d9": {"title": "Who", "text": "wrote it?"}}
    assert find_leaks(items=titled)
    assert not find_leaks(
        items={"d9": "", "d8": {"url": "https://example.org"}}, queries={"q1": ""}
    )
    with pytest.raises(germane.errors.InputError, match=r"give items=…, too"):
        germane.check(JUDGED, RETRIEVED, queries=TEXTS["queries"])


def test_ids_that_are_numbers_have_texts() -> None:
    qrels, run = {1: {2: 1}, 2: {3: 1}}, {1: {2: 1.0}, 2: {3: 1.0}}
    assert find_leaks(qrels, run, queries={1: "why"}, items={7: "Why"})[LEAK].examples == (
        "query 1 item '7': 'Why'",
    )
    assert not find_leaks(qrels, run, queries={1: "why"}, items={2: "Why"})


def test_judged_items_with_the_same_text() -> None:
    items = {"d1": "one", "d2": "two", "d3": "Two", "z": "two"}
    found = find_leaks(items=items, queries=None)
    assert [*found] == [COPIES]
    assert found[COPIES].examples == ("item 'd3' and item 'd2': 'Two'",)
    assert found[COPIES].says == "1 of 3 judged items has the text of another"


def test_texts_are_shown_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "a.run"
    qrels.write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(3)))
    run.write_text("".join(f"q{n} Q0 d{n} 1 2 t\n" for n in range(3)))
    asked, held = tmp_path / "queries.jsonl", tmp_path / "items.jsonl"
    given = ["check", str(qrels), str(run), "--queries", str(asked), "--items", str(held)]
    texts = [text for text in HOSTILE if text.strip()]
    for three in zip(*[iter(texts)] * 3, strict=False):  # as many as a finding shows
        rows = [{"id": f"q{n}", "text": text} for n, text in enumerate(three)]
        asked.write_text("\n".join(map(json.dumps, rows)))
        rows = [{"id": f"x{text}", "text": text} for text in three]
        rows += [{"id": f"d{n}", "text": three[0]} for n in range(3)]
        held.write_text("\n".join(map(json.dumps, rows)))
        for form in ("text", "json"):
            assert cli.main([*given, "--format", form]) == 0
            shown = capsys.readouterr().out
            assert "3 of 3 queries have exactly the text of an item" in shown
            assert COPIES in shown
            assert shown.replace("\n", "").isprintable()
            assert len(shown) < 5000
    assert cli.main([*given, "-o", str(held)]) == 2
    assert held.read_text().startswith("{")


def test_check_removes_what_evaluate_removes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
    run = {"q1": {"q1": 9.0, "d1": 1.0, "d2": 0.5}, "q2": {"q2": 9.0, "d3": 1.0}, "z": {"z": 1.0}}
    own = {"q1": ["q1"], "q2": {"q2"}}
    kept = {"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d3": 1.0}, "z": {"z": 1.0}}
    found = [one.what for one in germane.check(qrels, run, "RR")]
    assert "the query is its first result" in found
    clean = germane.check(qrels, kept, "RR")
    assert [*germane.check(qrels, run, "RR", exclude=own)] == [*clean]
    candidates = {"q1": ["d1", "d2"], "q2": ["d3"]}
    assert [*germane.check(qrels, run, "RR", only=candidates)] == [*clean]
    emptied = germane.check(qrels, run, "RR", only=candidates | {"q2": []})
    assert "lists emptied by an option" in [one.what for one in emptied]
    with pytest.raises(germane.errors.CoverageError, match="only= has no candidates for 'q2'"):
        germane.check(qrels, run, "RR", only={"q1": ["d1"]})
    paths = [str(tmp_path / name) for name in ("qrels", "a.run", "seen.tsv")]
    Path(paths[0]).write_text("1 0 2 1\n2 0 3 1\n")
    Path(paths[1]).write_text("1 Q0 1 1 9 t\n1 Q0 2 2 5 t\n2 Q0 2 1 9 t\n2 Q0 3 2 5 t\n")
    Path(paths[2]).write_text("query\titem\n1\t1\n2\t2\n")
    assert cli.main(["check", *paths[:2]]) == 0
    assert "the query is its first result" in capsys.readouterr().out
    assert cli.main(["check", *paths[:2], "--exclude", paths[2]]) == 0
    assert "the query is its first result" not in capsys.readouterr().out
    Path(paths[1]).write_text("1 Q0 1 1 nan t\n")
    assert cli.main(["check", *paths[:2], "--exclude", paths[2]]) == 0
    assert "malformed results" in capsys.readouterr().out
    scores = np.array([[9.0, 1.0, 0.5], [1.0, 9.0, 1.0]])
    grades = np.array([[0, 1, 0], [0, 0, 1]])
    tied = [one.what for one in germane.check(grades, scores, "RR")]
    assert "tied scores" in tied
    found = [one.what for one in germane.check(grades, scores, "RR", exclude={1: [0]})]
    assert "tied scores" not in found


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = groups(".tsv", tmp_path)
    qrels, run = tmp_path / "qrels", tmp_path / "chunks.run"
    qrels.write_text("".join(f"{q} 0 {i} {g:g}\n" for q, i, g in inputs.rows(QRELS)))
    run.write_text(inputs.run_text(inputs.rows(RUN)))
    options = ["--collapse", str(key), "--scores", "distances", "--format", "json"]
    assert cli.main(["evaluate", str(qrels), str(run), "-m", "AP", *options]) == 0
    written = json.loads(capsys.readouterr().out)
    wanted = germane.evaluate(QRELS, RUN, "AP", collapse=document, scores="distances")
    assert written["runs"][0]["measures"][0]["mean"] == wanted["AP"].mean
    assert written["runs"][0]["counts"]["collapsed"] == ROWS
    assert written["policy"]["scores"] == "distances"
    keep = ["--checkpoint", str(tmp_path / "kept")]
    for _ in range(2):
        assert cli.main(["evaluate", str(qrels), str(run), "-m", "AP", *options, *keep]) == 0
        assert json.loads(capsys.readouterr().out)["runs"] == written["runs"]
    for command in ("explain", "compare", "dialects", "report"):
        more = {"explain": ["--query", "q1"], "report": ["-o", str(tmp_path / "r.html")]}
        runs = [str(run)]
        if command == "compare":
            runs.append(str(run) + "2")
            Path(runs[1]).write_text(run.read_text())
        given = [command, str(qrels), *runs, *more.get(command, []), *options[:4]]
        assert cli.main(given) == 0, command
    assert cli.main(["check", str(qrels), str(run), *options[:4], "--train", str(qrels)]) == 0
    assert "judgments of the training data" in capsys.readouterr().out


def test_a_json_file_collapses_and_takes_candidates(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"q": {"c1": 0.9, "c2": 0.8, "c3": 0.7}}', "utf-8")
    qrels, groups = {"q": {"d1": 1, "d2": 1}}, {"c1": "d1", "c2": "d3", "c3": "d2"}
    assert germane.evaluate(qrels, path, "AP", collapse=groups)["AP"].mean == (1 + 2 / 3) / 2
    found = germane.evaluate(qrels, path, "AP", collapse=groups, exclude={"q": ["d3"]})
    assert found["AP"].mean == 1
