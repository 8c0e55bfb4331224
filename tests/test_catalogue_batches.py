"""Measures of the catalogue in batches, from several evaluators and on Spark: the numbers of one evaluation."""

import pickle
import random
import subprocess
import sys
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

import germane
import germane.spark
from germane import Evaluator

from spark_stub import Session

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
ITEMS = [f"i{n}" for n in range(30)]
NAMES = (
    "AP Coverage@3 Coverage(norm=seen,unseen=drop) Gini@3 Gini(norm=n-1) Entropy Entropy(lists=equal)@5 "
    "Personalization@4 Personalization(norm=k)@3 Novelty@3 Novelty(mean=micro) ARP@3 ARP(norm=rank)@3 TailShare@3 "
    "PopularityLift@3 ILD@3 Serendipity@4 Serendipity(against=history)@4"
)


def draw(seed: int) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, Any]]:
    """Lists, some of them empty, judgments of a third of the users, and what measures of the catalogue need."""
    rng = random.Random(seed)
    lists = {f"u{u}": rng.sample(ITEMS, rng.randint(0, 7)) for u in range(40)}
    lists["u0"] = ["i3", "i4"]
    qrels = {f"u{u}": rng.sample(ITEMS, 3) for u in range(0, 40, 3)}
    seen = {f"u{u}": rng.choices(ITEMS[:20], k=4) for u in range(0, 50, 2)}
    vectors = {item: [rng.random() for _ in range(3)] for item in ITEMS}
    given = {"catalogue": [*ITEMS[::-1], "x"], "seen": seen, "distance": vectors}
    return lists, qrels, given


def show(result: germane.types.Result) -> dict[str, tuple[str, Any]]:
    """Every number, to the last bit."""
    return {str(m): (repr(one.mean), sorted(one.per_query.items())) for m, one in result.items()}


def split(lists: dict[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """The lists in batches, in another order."""
    users = rng.sample(list(lists), len(lists))
    cuts = sorted(rng.sample(range(1, len(users)), rng.randint(1, 9)))
    pairs = zip([0, *cuts], [*cuts, len(users)], strict=True)
    return [{user: lists[user] for user in users[start:end]} for start, end in pairs]


@pytest.mark.parametrize("seed", range(8))
def test_batches_in_any_order_are_the_whole(seed: int) -> None:
    lists, qrels, given = draw(seed)
    expected = show(germane.evaluate(qrels, lists, NAMES, **given))
    rng = random.Random(seed)
    several = [Evaluator(qrels, NAMES, **given) for _ in range(3)]
    for batch in split(lists, rng):
        one = rng.choice(several)
        one.add(pickle.loads(pickle.dumps(one.reduce(batch))))
    several = [pickle.loads(pickle.dumps(one)) for one in several]
    whole = reduce(Evaluator.merge, several)
    assert show(whole.result()) == expected
    assert show(pickle.loads(pickle.dumps(whole)).result()) == expected


@pytest.mark.parametrize("known", [1, 2, 5, 12, 29])
def test_few_or_many_items_were_seen_before(known: int) -> None:
    """The items of seen= have numbers before a batch comes; the others get theirs from it."""
    lists, qrels, _ = draw(known)
    seen = {f"u{u}": [ITEMS[u % known], ITEMS[u // 2 % known]] for u in range(30)}
    given: dict[str, Any] = {"catalogue": 31, "seen": seen, "missing": "skip"}
    names = "AP Coverage@3 Gini@3 Novelty@3 ARP@3 Personalization@4"
    expected = show(germane.evaluate(qrels, lists, names, **given))
    evaluator = Evaluator(qrels, names, **given)
    for batch in split(lists, random.Random(known)):
        evaluator.update(batch)
    assert show(evaluator.result()) == expected


def test_items_have_other_numbers_elsewhere() -> None:
    """Without a catalogue, each evaluator numbers the items as they come."""
    names = "Coverage(norm=none)@2 Gini(over=recommended)@2 Entropy@2 Personalization@2"
    one, other = Evaluator({"u": ["a"]}, names), Evaluator({"u": ["a"]}, names)
    one.update({"u": ["a", "b"]})
    other.update({"v": ["c", "b"], "w": ["d"]})
    expected = {"u": ["a", "b"], "v": ["c", "b"], "w": ["d"]}
    merged = one.merge(other).result()
    assert show(merged) == show(germane.evaluate({"u": ["a"]}, expected, names))
    explained = merged["Entropy@2"].explain()  # type: ignore[attr-defined]
    assert explained.items[0] == ("b", 2)
    assert one.result()["Coverage(norm=none)@2"].mean == 4


def test_a_result_stays_as_it_was() -> None:
    one = Evaluator({"u": ["a"]}, "Gini@2", catalogue=5)
    one.update({"u": ["a"]})
    before = one.result()
    one.update({"v": ["a"], "w": ["a", "b"]})
    assert before["Gini@2"].mean == 4 / 5
    assert before["Gini@2"].list_count == 1


def test_a_bad_batch_is_left_out_whole() -> None:
    one = Evaluator({"u": ["a"]}, "AP Gini@2", catalogue=["a", "b"])
    one.update({"u": ["a"]})
    expected = show(one.result())
    for batch, says in (
        ({"v": ["b"], "w": ["c"]}, "'c'. Add them"),
        ({"x": ["b"], "u": ["b"]}, "'u' arrived before"),
        ({"x": ["b", "b"]}, "twice"),
        ({"x": [1]}, "types"),
    ):
        with pytest.raises(germane.GermaneError, match=says):
            one.update(batch)
        assert show(one.result()) == expected
    one.update({"v": ["b"]})  # whom nobody judged
    with pytest.raises(germane.errors.DuplicateError, match="query 'v' arrived before"):
        one.update({"v": ["b"]})


def test_explain_names_the_same_items_in_any_order_of_batches() -> None:
    lists = {"u": ["i9", "i2"], "v": ["i9", "i10"], "w": [], "x": ["i1", "i3"]}
    shown = []
    for users in ("uvwx", "xwvu"):
        one = Evaluator({"u": ["i9"]}, "Gini@2", catalogue=7)
        for user in users:
            one.update({user: lists[user]})
        shown.append(one.result()["Gini@2"].explain(3).items)
    assert shown == [(("i9", 2), ("i1", 1), ("i10", 1))] * 2


def test_evaluators_of_another_catalogue_are_not_merged() -> None:
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"catalogue": 5}, {"catalogue": 6}),
        ({"catalogue": ["a", "b"]}, {"catalogue": ["a", "c"]}),
        ({"catalogue": 5, "seen": {"u": ["a"]}}, {"catalogue": 5, "seen": {"u": ["b"]}}),
    ]
    for given, others in pairs:
        one, other = (Evaluator({"u": ["a"]}, "Gini@2", **each) for each in (given, others))
        with pytest.raises(germane.errors.PolicyError, match=r"differ in (catalogue|seen)"):
            one.merge(other)


def test_batches_of_empty_lists_have_no_type_of_ids() -> None:
    one, other = (Evaluator({1: [7]}, "Coverage@2", catalogue=2) for _ in range(2))
    one.update({1: {7: 1.0}})
    other.update({2: {}})
    assert one.merge(other).result()["Coverage@2"].mean == 1 / 2


def test_lists_are_counted_once() -> None:
    for twice in ("same", "first"):
        with pytest.raises(germane.errors.MeasureError, match="twice=error"):
            Evaluator({"u": ["a"]}, "Gini@2", catalogue=5, twice=twice)  # type: ignore[arg-type]


def test_a_checkpoint_refuses(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("u 0 a 1\n")
    (tmp_path / "r").write_text("u Q0 a 1 1 t\n")
    words = ["evaluate", "q", "r", "-m", "Gini@2", "--catalogue", "3", "--checkpoint", "c"]
    command = [sys.executable, "-m", "germane", *words]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "a checkpoint keeps only judged items" in found.stderr
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("rows", ["scattered", "together"])
def test_spark_gives_the_same(rows: Literal["scattered", "together"]) -> None:
    lists, qrels, given = draw(1)
    pairs = [
        (user, item, len(got) - n) for user, got in lists.items() for n, item in enumerate(got)
    ]
    judged = [(user, item, 1) for user, got in qrels.items() for item in got]
    run, relevant = (
        pa.table(dict(zip(("query", "item", name), zip(*rows_of, strict=True), strict=True)))
        for rows_of, name in ((pairs, "score"), (judged, "relevance"))
    )
    expected = show(germane.evaluate(relevant, run, NAMES, **given))
    session: Any = Session()
    frame = session.createDataFrame(run)
    if rows == "together":
        frame = frame.repartition("query")
    found = germane.spark.evaluate(
        session.createDataFrame(relevant), frame, NAMES, rows=rows, **given
    )
    assert show(found.result) == expected


def test_files_and_frames_are_batches_of_one_run(tmp_path: Path) -> None:
    """Whole numbers of a frame match the digits of files of text, whichever comes first."""
    rng = random.Random(1)
    items = [str(n) for n in range(1, 30)]
    lists = {str(user): rng.sample(items, 5) for user in range(12)}
    lines = [(user, item, 9 - n) for user, got in lists.items() for n, item in enumerate(got)]
    (tmp_path / "whole.run").write_text("".join(f"{u} Q0 {i} 1 {s} t\n" for u, i, s in lines))
    (tmp_path / "first.run").write_text("".join(f"{u} Q0 {i} 1 {s} t\n" for u, i, s in lines[:30]))
    (tmp_path / "q.txt").write_text(
        "".join(f"{user} 0 {got[1]} 1\n" for user, got in lists.items())
    )
    (tmp_path / "items.txt").write_text("\n".join(items))
    (tmp_path / "saw.csv").write_text("user,item\n" + "".join(f"1,{i}\n3,{i}\n" for i in items[:9]))
    rest = [(int(u), int(i), s) for u, i, s in lines[30:]]
    frame = pa.table(dict(zip(("user", "item", "score"), zip(*rest, strict=True), strict=True)))
    names = "AP Gini@3 Coverage@3 Novelty@3 Serendipity@4 Personalization@5"
    given = {"catalogue": tmp_path / "items.txt", "seen": tmp_path / "saw.csv"}
    whole = germane.evaluate(tmp_path / "q.txt", tmp_path / "whole.run", names, **given)
    for batches in ([tmp_path / "first.run", frame], [frame, tmp_path / "first.run"]):
        one = Evaluator(tmp_path / "q.txt", names, **given)
        for batch in batches:
            one.update(batch)
        assert one.result().flat() == whole.flat()
