"""Measures of the catalogue: against an oracle, laws, six tools' recorded answers, and bad input."""

import itertools
import json
import math
import pickle
import random
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import germane
from catalogue_oracle import ORACLE, World

from strategies import ALL, CATALOGUE

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
RECORDED = json.loads((Path(__file__).parent / "data" / "catalogues.json").read_text("utf-8"))
ROWS = pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)


def draw_world(seed: int) -> World:
    """Lists of 0 to 6 of 12 items, of which users saw some, repeatedly."""
    rng = random.Random(seed)
    items = [f"i{n}" for n in range(12)]
    lists = {f"u{u}": rng.sample(items, rng.randint(0, 6)) for u in range(rng.randint(2, 9))}
    lists["u0"] = ["i0", *(item for item in lists["u0"] if item != "i0")]
    seen = {
        f"u{u + 1}": rng.choices(items[: rng.randint(3, 12)], k=rng.randint(1, 5)) for u in range(6)
    }
    seen["u6"][0] = "i0"  # something in the lists was seen before
    vectors = {item: [rng.random() for _ in range(3)] for item in items}
    relevant = {user: rng.sample(items, rng.randint(1, 8)) for user in list(lists)[::2]}
    return World(lists, seen, rng.choice([12, 13, 40]), vectors, relevant)


def evaluate(world: World, names: Any, **choices: Any) -> germane.types.Result:
    qrels = {user: {"none": 1} for user in world.lists} | world.relevant
    given = {"seen": world.seen, "distance": world.vectors, "catalogue": world.size}
    return germane.evaluate(qrels, world.lists, names, **given | choices)


def vary(row: Any) -> list[germane.types.Measure]:
    """Every combination of a measure's words and usual numbers, with cutoffs and without."""
    values = [(*p.words, *p.numbers, *p.usual) for p in row.parameters]
    names = [p.name for p in row.parameters]
    return [
        germane.types.Measure(row.name, tuple(zip(names, chosen, strict=True)), k)
        for chosen in itertools.product(*values)
        for k in (1, 3, None)
    ]


# --- The oracle ------------------------------------------------------------------------------------


def agree(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or one == pytest.approx(
        other, rel=1e-9, abs=1e-9
    )


@ROWS
@pytest.mark.parametrize("seed", range(12))
def test_every_definition_is_the_oracles(row: Any, seed: int) -> None:
    world, measures = draw_world(seed), vary(row)
    result = evaluate(world, measures)
    for measure in measures:
        expected = ORACLE[row.name](world, measure.k, **dict(measure.parameters))
        assert agree(result[measure].mean, expected), (measure, result[measure].mean, expected)


def test_the_checker_sees_a_wrong_value() -> None:
    world = draw_world(3)
    right = ORACLE["Gini"](world, 3, over="catalogue", sign="unequal", norm="n")
    assert not agree(evaluate(world, "Gini(norm=n-1)@3")["Gini(norm=n-1)@3"].mean, right)


@ROWS
def test_a_list_has_its_own_value(row: Any) -> None:
    """The value of a user is that of a run with this user alone; other users' lists do not matter."""
    if row.of_lists is None or row.pooled:
        return
    world, name = draw_world(5), f"{row.name}@3"
    values = evaluate(world, name)[name].per_query
    for user, got in world.lists.items():
        if not any(set(got) & set(chosen) for chosen in world.seen.values()):
            continue  # an error: perhaps ids of another spelling
        alone = replace(world, lists={user: got})
        if user in values:
            assert agree(evaluate(alone, name)[name].mean, values[user])
        else:
            assert not got


# --- Laws ------------------------------------------------------------------------------------------


def measure(lists: Any, name: str, **given: Any) -> float:
    user, items = next(iter(lists.items()))
    return germane.evaluate({user: items[:1]}, lists, name, **given)[name].mean


def test_equal_exposure_has_no_inequality() -> None:
    lists = {"u": ["a", "b"], "v": ["c", "d"]}
    assert measure(lists, "Gini@2", catalogue=4) == 0
    assert measure(lists, "Gini(sign=equal)@2", catalogue=4) == 1
    assert measure(lists, "Entropy@2") == math.log2(4)
    assert measure(lists, "Entropy(norm=catalogue)@2", catalogue=4) == 1
    assert measure(lists, "Personalization@2") == 1
    assert measure(lists, "Coverage@2", catalogue=4) == 1


def test_one_item_for_everyone_is_the_other_end() -> None:
    lists = {"u": ["a"], "v": ["a"], "w": ["a"]}
    assert measure(lists, "Gini@1", catalogue=5) == pytest.approx(1 - 1 / 5)
    assert measure(lists, "Gini(norm=n-1)@1", catalogue=5) == pytest.approx(1)
    assert measure(lists, "Entropy@1") == 0
    assert measure(lists, "Personalization@1") == pytest.approx(0)
    assert measure(lists, "Coverage@1", catalogue=5) == 1 / 5


def test_the_two_signs_add_up_to_one() -> None:
    result = evaluate(draw_world(1), "Gini@3 Gini(sign=equal)@3")
    assert result["Gini@3"].mean + result["Gini(sign=equal)@3"].mean == pytest.approx(1)


@ROWS
@pytest.mark.parametrize("seed", range(4))
def test_neither_items_beyond_k_nor_the_order_of_users_matter(row: Any, seed: int) -> None:
    world, name = draw_world(seed), f"{row.name}@2"
    rng = random.Random(seed)
    users = list(world.lists)
    rng.shuffle(users)
    cut = replace(world, lists={u: world.lists[u][:2] for u in users})
    assert agree(evaluate(world, name)[name].mean, evaluate(cut, name)[name].mean)


@ROWS
def test_judgments_do_not_matter(row: Any) -> None:
    if row.of_judgments:
        return
    world, name = draw_world(2), f"{row.name}@3"
    value = evaluate(world, name)[name].mean
    few = germane.evaluate(
        {"u0": {"i1": 1}}, world.lists, [name, "AP"], catalogue=world.size, seen=world.seen,
        distance=world.vectors,
    )  # fmt: skip
    assert agree(few[name].mean, value)
    assert few.table().columns == ("run", name, "AP")


# --- Other tools -----------------------------------------------------------------------------------


def count_differing(features: Any) -> Any:
    """The distance that RecTools was given: the number of features that differ."""
    return lambda a, b: sum(x != y for x, y in zip(features[a], features[b], strict=True))


ANSWERS = [
    (name, tool, asked, value)
    for name, one in RECORDED["sets"].items()
    for tool, answers in one["answers"].items()
    for asked, value in answers.items()
]


def read_set(name: str) -> tuple[Any, ...]:
    one = RECORDED["sets"][name]
    parts = ("lists", "seen", "features", "liked")
    return tuple({int(key): got for key, got in one[part].items()} for part in parts)


@pytest.mark.parametrize(("name", "tool", "asked", "value"), ANSWERS)
def test_dialects_give_the_answers_of_their_tools(
    name: str, tool: str, asked: str, value: float
) -> None:
    lists, seen, features, liked = read_set(name)
    distance = count_differing(features) if tool == "rectools" else features
    found = germane.evaluate(
        {user: liked.get(user, [0]) for user in lists}, lists, asked, dialect=tool, seen=seen, distance=distance,
        catalogue=range(1, RECORDED["items"] + 1),
    )  # fmt: skip
    [result] = found.values()
    assert result.mean == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_every_tool_has_answers() -> None:
    assert {tool for _, tool, _, _ in ANSWERS} == {
        "recommenders", "rectools", "recbole", "lenskit-2025.8", "lenskit-2026.4", "evidently", "elliot",
    }  # fmt: skip


def test_reconcile_finds_which_gini_a_number_is() -> None:
    lists = read_set("all")[0]
    qrels = {user: [1] for user in lists}
    found = germane.reconcile(qrels, lists, reported="0.5335", measure="Gini@4", catalogue=24)
    assert [str(one) for one in found] == ["Gini(sign=equal,norm=n-1)@4"]
    assert found.found[0].candidate.tools == ("elliot:Gini@4",)
    assert not any(one.convention in ("missing", "unjudged") for one in found.undecided)


def test_spread_shows_the_signs() -> None:
    lists, seen, *_ = read_set("all")
    spread = germane.spread(
        {user: [1] for user in lists},
        lists,
        "Gini@4",
        catalogue="seen",
        seen=seen | {0: range(1, 25)},
    )
    values = {one.dialect: one.value for one in spread}
    assert values["recbole"] == values["lenskit-2026.4"] == spread.own.value
    assert values["elliot"] == pytest.approx(1 - spread.own.value * 24 / 23)
    assert not any(one.unsure for one in spread)


# --- Inputs ----------------------------------------------------------------------------------------

NAMES = "Coverage@2 Gini@2 Novelty@2 ARP@2 AP@2"
LISTS = {"u": ["a", "b"], "v": ["a", "c"], "w": ["d"]}
SAW = {"x": ["a", "b"], "y": ["a"], "z": ["a", "c"]}
ROWS_OF_LISTS = [(u, i, len(got) - n) for u, got in LISTS.items() for n, i in enumerate(got)]


def list_means(run: Any, **given: Any) -> list[float]:
    result = germane.evaluate({"u": ["a"], "v": ["c"]}, run, NAMES, **given)
    return [one.mean for one in result.values()]


EXPECTED = list_means(LISTS, catalogue=list("abcd"), seen=SAW)


def make_frame(rows: Any) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["user_id", "item_id", "score"])


def test_every_source_gives_the_same(tmp_path: Path) -> None:
    rows = make_frame(ROWS_OF_LISTS)
    scattered = make_frame(ROWS_OF_LISTS[::2] + ROWS_OF_LISTS[1::2])
    saw = pd.DataFrame(
        [(u, i) for u, got in SAW.items() for i in got], columns=["user_id", "item_id"]
    )
    rows.to_csv(tmp_path / "run.csv", index=False)
    rows.to_parquet(tmp_path / "run.parquet")
    saw.to_csv(tmp_path / "saw.csv", index=False)
    (tmp_path / "items.txt").write_text("a\nb\n\nc\nd\n")
    pd.DataFrame({"item_id": list("abcd")}).to_csv(tmp_path / "items.csv", index=False)
    lines = [f"{u} Q0 {i} 1 {s} t" for u, i, s in ROWS_OF_LISTS]
    (tmp_path / "run.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "mixed.txt").write_text("\n".join(lines[::2] + lines[1::2]) + "\n")
    runs = [rows, scattered, {u: {i: s for w, i, s in ROWS_OF_LISTS if w == u} for u in LISTS}]
    runs += [str(tmp_path / name) for name in ("run.csv", "run.parquet", "run.txt", "mixed.txt")]
    runs.append(germane.read_run(tmp_path / "run.txt"))
    for run in runs:
        assert list_means(run, catalogue=list("abcd"), seen=SAW) == pytest.approx(EXPECTED)
    catalogues = [set("abcd"), 4, "4", str(tmp_path / "items.txt"), str(tmp_path / "items.csv")]
    catalogues += [pd.DataFrame({"item": list("abcd")}), pd.Series(list("abcd"))]
    for catalogue in catalogues:
        assert list_means(LISTS, catalogue=catalogue, seen=SAW) == pytest.approx(EXPECTED)
    for seen in (saw, str(tmp_path / "saw.csv")):
        assert list_means(LISTS, catalogue=4, seen=seen) == pytest.approx(EXPECTED)


def test_integers_match_the_digits_of_files(tmp_path: Path) -> None:
    (tmp_path / "saw.csv").write_text("user,item\n9,1\n9,2\n8,1\n")
    frame = pd.DataFrame({"user_id": [5, 5, 6], "item_id": [1, 3, 2], "rank": [1, 2, 1]})
    name = "Novelty(unseen=drop)@2"
    of_file = germane.evaluate({5: [1]}, frame, name, seen=str(tmp_path / "saw.csv"))[name].mean
    assert (
        of_file
        == germane.evaluate({5: [1]}, frame, name, seen={9: [1, 2], 8: [1]})[name].mean
        == 0.5
    )


@pytest.mark.parametrize("apart", [1, -3, 10**12, 2**59])
def test_numbers_are_found_as_text_is(apart: int) -> None:
    """Whole numbers of a narrow range are found in a table, and others by hashing."""
    rng = random.Random(apart)
    lists = {u: [apart * n for n in rng.sample(range(-9, 15), 4)] for u in range(30)}
    seen = {u: [apart * n for n in rng.choices(range(-5, 12), k=5)] for u in range(20)}
    catalogue = [apart * n for n in range(-9, 16)]

    def spell(given: Any) -> Any:
        return {user: list(map(str, got)) for user, got in given.items()}

    names = "Coverage@3 Gini@3 Novelty@3 ARP@3 Serendipity@3"
    numbers = germane.evaluate({0: lists[0]}, lists, names, catalogue=catalogue, seen=seen)
    texts = germane.evaluate(
        {0: spell(lists)[0]},
        spell(lists),
        names,
        catalogue=list(map(str, catalogue)),
        seen=spell(seen),
    )
    assert numbers.flat() == texts.flat()


def test_arrays_have_lists_too() -> None:
    run = np.array([[1, 2], [2, 3]])
    result = germane.evaluate([{1}, {2}], run, "Coverage@2", catalogue=6)
    assert result["Coverage@2"].mean == 3 / 6


@pytest.mark.parametrize(
    ("choices", "queries"),
    [
        ({}, ["a", "b", "c"]),
        ({"missing": "skip"}, ["a", "b"]),
        ({"unknown": "zero"}, ["a", "b", "c", "d"]),
        ({"missing": "skip", "unknown": "zero"}, ["a", "b", "d"]),
    ],
    ids=str,
)
def test_tables_have_the_queries_that_are_evaluated(
    choices: dict[str, Any], queries: list[str]
) -> None:
    qrels = {"a": ["x"], "b": ["y"], "c": ["z"]}
    run = {"a": ["x", "w"], "b": ["w", "y"], "d": ["x"]}
    seen = {"a": ["x"], "b": ["w", "x"]}
    names = "AP@2 Coverage@2 ARP(seen=interactions)@2"
    values = {"a": 1.5, "b": 0.5, "d": 2.0}  # x was seen twice and w once
    evaluator = germane.Evaluator(qrels, names, catalogue=3, seen=seen, **choices)
    evaluator.update(run)
    for result in (
        germane.evaluate(qrels, run, names, catalogue=3, seen=seen, **choices),
        evaluator.result(),
    ):
        table = result.to_arrow().to_pydict()
        assert table["query"] == queries
        assert table["AP@2"] == [{"a": 1.0, "b": 0.5}.get(query, 0.0) for query in queries]
        expected = [values.get(query, math.nan) for query in queries]
        assert np.array_equal(table["ARP(seen=interactions)@2"], expected, equal_nan=True)


def test_ties_decide_what_stands_within_the_cutoff() -> None:
    run = {"u": {"a": 1.0, "b": 1.0}, "v": {"a": 1.0, "b": 1.0}}
    saw = {"x": ["a"], "y": ["a", "b"]}
    for ties, expected in (("trec", 1), ("given", 2)):  # trec puts b first
        result = germane.evaluate({"u": ["a"]}, run, "ARP@1", seen=saw, ties=ties)
        assert result["ARP@1"].mean == expected


def test_what_users_have_seen_is_not_recommended(tmp_path: Path) -> None:
    """The lists of users whom nobody judged lose their excluded items, too."""
    lists = {"u": ["a", "b", "c"], "v": ["a", "d", "b"], "w": ["e", "a", "b"]}
    seen = {"u": ["a"], "v": ["a", "d"], "w": ["a"], "x": ["e"]}
    rest = {u: [item for item in got if item not in seen[u]] for u, got in lists.items()}
    rows = [(u, item, 9.0 - n) for u, got in lists.items() for n, item in enumerate(got)]
    path = tmp_path / "run.txt"
    path.write_text("".join(f"{u} Q0 {item} 1 {score} t\n" for u, item, score in rows))
    frame = pd.DataFrame(rows, columns=["query", "item", "score"])
    scattered = frame.sort_values("score", ascending=False)
    scores = {u: {item: s for one, item, s in rows if one == u} for u in lists}
    numbers = {item: n for n, item in enumerate("abcde", 1)}
    of_numbers = frame.assign(item=frame["item"].map(numbers))
    asked = ["Coverage@1", "Coverage@2", "Gini@1", "Novelty@2"]
    judged, options = {"u": ["b"]}, {"catalogue": 8, "seen": {"z": ["a", "b", "c", "d", "e"]}}
    expected = germane.evaluate(judged, rest, asked, **options)
    left = {name: one.mean for name, one in expected.items()}
    for run in (lists, scores, frame, scattered, path, germane.read_run(path)):
        for choice in ({"exclude": seen}, {"only": rest}):
            found = germane.evaluate(judged, run, asked, **options, **choice)
            assert {name: one.mean for name, one in found.items()} == left
    named = {u: [numbers[item] for item in got] for u, got in seen.items()}
    digits = {u: [str(item) for item in got] for u, got in named.items()}
    (tmp_path / "seen.txt").write_text(
        "".join(f"{u} 0 {item} 1\n" for u, got in digits.items() for item in got)
    )
    for given in (named, tmp_path / "seen.txt"):
        found = germane.evaluate({"u": [2]}, of_numbers, "Coverage@2", catalogue=8, exclude=given)
        assert found["Coverage@2"].mean == left["Coverage@2"]
    with pytest.raises(germane.errors.CoverageError, match="no candidates for 'v', 'w'"):
        germane.evaluate(judged, lists, asked, **options, only={"u": ["b"]})


def test_ascending_ids_are_an_order_of_lists() -> None:
    run = {"u": {"b": 1.0, "a": 1.0}, "v": {"b": 1.0, "c": 1.0}}
    for ties, items in (("trec", 2), ("ascending", 2), ("given", 1)):
        found = germane.evaluate({"u": ["a"]}, run, "Coverage@1", catalogue=4, ties=ties)
        assert found["Coverage@1"].mean == items / 4
    one = {"u": {"b": 1.0, "a": 1.0}, "v": {"a": 1.0, "c": 1.0}}
    for ties, items in (("trec", 2), ("ascending", 1)):
        found = germane.evaluate({"u": ["a"]}, one, "Coverage@1", catalogue=4, ties=ties)
        assert found["Coverage@1"].mean == items / 4


def test_intervals_are_of_means_over_users_or_a_jackknife() -> None:
    """A number of all lists is computed again without each user; the mean of its spread is it."""
    world = replace(
        draw_world(0), lists={f"u{u}": [f"i{(u * u + j) % 12}" for j in range(3)] for u in range(9)}
    )
    names = "Novelty@3 Gini@3 Coverage@3 Entropy(lists=equal)@2 Personalization@3 Novelty(mean=micro)@3 PopularityLift"
    for value in evaluate(world, names).values():
        interval = value.interval()
        assert interval is not None
        assert interval.low <= value.mean <= interval.high
        if not value.of_lists.is_mean:  # type: ignore[attr-defined]
            without = np.array(
                [
                    evaluate(
                        replace(world, lists={u: world.lists[u] for u in world.lists if u != user}),
                        str(value.measure),
                    )[value.measure].mean
                    for user in world.lists
                ]
            )
            error = math.sqrt(
                8 / 9 * float(((without - without.mean()) ** 2).sum())
            )  # the jackknife's
            _, spread = value.spread_over(list(world.lists), np.arange(9), 9)  # type: ignore[attr-defined]
            assert spread.mean() == pytest.approx(value.mean)
            assert spread.std(ddof=1) / 3 == pytest.approx(error)


def test_a_number_that_no_user_changes_has_no_interval() -> None:
    lists = {f"u{n}": ["a", "b"] for n in range(9)}
    result = germane.evaluate({"u0": ["a"]}, lists, "Coverage@2", catalogue=2)
    assert result["Coverage@2"].mean == 1.0
    assert result["Coverage@2"].interval() is None


def test_explain_names_the_items() -> None:
    result = germane.evaluate({"u": ["a"]}, LISTS, "Gini@2", catalogue=5)
    explained = result["Gini@2"].explain()  # type: ignore[attr-defined]
    assert explained.items == (("a", 2), ("b", 1), ("c", 1), ("d", 1))
    assert explained.tail_share == 1 - 2 / 5  # the head is one of five items
    assert "5 recommendations of 4 of 5 items" in str(explained)
    assert explained.to_dict()["recommendations"] == 5


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("Coverage@2", {}, "needs the catalogue.*of subtopics is StRecall"),
    ("Novelty@2", {}, "needs what users saw"),
    ("ILD@2", {}, "needs to know how items differ"),
    ("Coverage@2", {"catalogue": 2}, "4 different ones are recommended"),
    ("Coverage@2", {"catalogue": ["a", "b"]}, "2 recommended items are not in the catalogue: 'c', 'd'"),
    ("Coverage@2", {"catalogue": "seen"}, "which is missing"),
    ("Coverage@2", {"catalogue": "seen", "seen": {"x": ["a"]}}, "not in the catalogue"),
    ("Coverage@2", {"catalogue": -1}, "at least 1"),
    ("Coverage@2", {"catalogue": []}, "no items"),
    ("Coverage@2", {"catalogue": [1, 2]}, "different types"),
    ("Coverage@2", {"catalogue": "none.txt"}, "no such file"),
    ("Novelty@2", {"seen": 3}, "seen= takes rows"),
    ("Novelty@2", {"seen": {}}, "seen= has no rows"),
    ("ILD@2", {"distance": {"a": [1]}}, "no vector for the item 'b'"),
    ("ILD@2", {"distance": {"a": [0, 0]}}, "zero or not finite"),
    ("ILD@2", {"distance": lambda a, b: math.nan}, "a finite number; got nan"),
    ("ILD@2", {"distance": 3}, "distance= takes"),
    ("ILD@2", {"distance": np.eye(4)}, r"dict\(zip\(items, array\)\)"),
    ("ILD@2", {"distance": {}}, "no vectors"),
    ("ILD@2", {"distance": dict.fromkeys("abcd", "x")}, "lists of numbers"),
    ("ILD@2", {"distance": {1: [1.0], "1": [1.0]}}, "two vectors"),
    ("ILD@2", {"distance": {1: [1.0], 2: [1.0]}}, "run and distance= have different types"),
    ("ILD@2", {"distance": lambda a, b: "x"}, "of 'a' and 'b' is a finite number; got 'x'"),
    ("ILD@2", {"distance": lambda a, b: "0.5"}, "finite number"),
    ("ILD@2", {"distance": lambda a, b: None}, "finite number"),
    ("ILD@2", {"distance": lambda a, b: np.ones(1)}, "finite number"),
    ("ILD@2", {"distance": lambda a, b: -1}, "0 or more"),
    ("ILD@2", {"distance": lambda a, b: float(a < b)}, "the same both ways"),
    ("ILD@2", {"distance": lambda a, b: {}[a]}, "raises KeyError"),
    ("ILD@2", {"distance": lambda a: 1}, r"of 'a' and 'b' is not known: the function raises TypeError"),
    ("ILD@2", {"distance": lambda a, b: 1e308}, "at most 1e"),
    ("ILD@2", {"distance": pd.DataFrame({"item": ["a"], "x": [1.0]})}, "no vector for the item 'b'"),
    ("ILD@2", {"distance": pd.DataFrame({"item": ["a"]})}, "no column is the vector"),
    ("Coverage@2", {"catalogue": "\u0664"}, "no such file"),
    ("Coverage@2", {"catalogue": True}, "catalogue= takes"),
    ("Coverage@2", {"catalogue": iter("abcd")}, "list"),
    ("Coverage@2", {"catalogue": ["a", None]}, "an id is missing"),
    ("Coverage@2", {"catalogue": pd.Series(["a", None])}, "an id is missing"),
    ("Coverage@2", {"catalogue": pd.Series([1.0, 2.0])}, "Integers become floats"),
    ("Coverage@2", {"catalogue": ["a", "b", "b"]}, "item 'b' is listed twice, as items 2 and 3"),
    ("Coverage@2", {"catalogue": pd.DataFrame({"item": [1, 2, 1]})}, "item 1 is listed twice, as items 1 and 3"),
    ("Coverage@2", {"catalogue": [["a"], ["b"]]}, "an item id is text or a number"),
    ("Coverage@2", {"catalogue": np.array([["a", "b"]])}, "an item id is text or a number"),
    ("Coverage@2", {"catalogue": pd.DataFrame({"name": [1], "price": [2]})}, "no column is the item"),
    ("Coverage@2", {"catalogue": ["a", "b", "c", "d", 5]}, "different types"),
    ("Novelty@2", {"seen": {"u": []}}, "no user has an item"),
    ("Novelty@2", {"seen": {"u": ["A"]}}, "no item of the lists is in seen=. run: 'a'.* seen: 'A'"),
    ("Novelty@2", {"seen": {"u": "ab"}}, "seen=, user 'u'"),
    ("Novelty@2", {"seen": {"u": ["a", None]}}, "seen=, user 'u': an id is missing"),
    ("Novelty@2", {"seen": {None: ["a"]}}, "seen=: an id is missing"),
    ("Novelty@2", {"seen": np.array([["u", "a"]])}, "seen: an array of numbers"),
    ("Novelty@2", {"seen": [("u", "a")]}, "makes a frame of rows"),
    ("Gini@2", {"catalogue": 9, "ties": "expected"}, "need one order: ties=trec, ascending or given"),
    ("Serendipity(against=history)@2", {"seen": {1: ["a"]}, "distance": len}, "users of the run in seen="),
    ("Personalization@2", {"duplicates": "keep"}, "lists as sets"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "says"), BAD)
def test_bad_input_is_an_error(name: str, given: dict[str, Any], says: str) -> None:
    with pytest.raises(germane.GermaneError, match=says):
        germane.evaluate({"u": ["a"]}, LISTS, name, **given)


CSV = [
    ('item_id,name\n"a,1",x\nb\n', "csv:3: 1 field"),
    ("a\nb\n", "is 'a' the name of the column, or an item"),
    ("item_id\n", "no items"),
    ("item_id\na\nb\na\n", r"items\.csv'?: item 'a' is listed twice, as items 1 and 3"),
    ("", "the file is empty"),
]


@pytest.mark.parametrize(("text", "says"), CSV)
def test_bad_files_of_items_are_errors(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "items.csv").write_text(text)
    with pytest.raises(germane.GermaneError, match=says):
        measure(LISTS, "Coverage@2", catalogue=tmp_path / "items.csv")


def test_files_of_items_have_columns(tmp_path: Path) -> None:
    names = ["a,1", 'b"', "c"]
    for name, write in (
        ("items.csv", lambda f: pd.DataFrame({"item_id": names, "n": 1}).to_csv(f, index=False)),
        ("items.tsv", lambda f: f.write_text('item\tn\na,1\t1\nb"\t1\nc\t2\n')),
        ("items.parquet", lambda f: pd.DataFrame({"n": [1, 2, 3], "item": names}).to_parquet(f)),
        (
            "items.jsonl",
            lambda f: f.write_text("".join(json.dumps({"item": n}) + "\n" for n in names)),
        ),
    ):
        write(tmp_path / name)
        assert measure({"u": ["a,1", 'b"']}, "Coverage@2", catalogue=tmp_path / name) == 2 / 3
    (tmp_path / "named.csv").write_text("ID\na\nb\n")
    said = {"catalogue": tmp_path / "named.csv", "columns": {"catalogue": {"item": "ID"}}}
    assert measure({"u": ["a"]}, "Coverage@2", **said) == 1 / 2


def test_types_of_one_run_are_not_mixed() -> None:
    with pytest.raises(germane.errors.FormatError, match="of several types"):
        germane.evaluate({"u": ["a"]}, {"u": ["a", "1"], "v": [1]}, "Gini@2", catalogue=4)


def test_repeated_interactions_count_again(tmp_path: Path) -> None:
    lists, seen = {"u": ["a", "b"], "v": ["a", "c"]}, {"x": ["a", "a", "b"], "y": ["c", "a"]}
    rows = [("x", "a"), ("y", "c"), ("x", "a"), ("y", "a"), ("x", "b")]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id"])
    frame.to_csv(tmp_path / "seen.csv", index=False)
    frame.to_parquet(tmp_path / "seen.parquet")
    (tmp_path / "seen.json").write_text(json.dumps(seen))
    (tmp_path / "seen.txt").write_text("".join(f"{user} 0 {item} 1\n" for user, item in rows))
    files = (tmp_path / f"seen.{suffix}" for suffix in ("csv", "parquet", "json", "txt"))
    for given in (seen, frame, *files):
        assert measure(lists, "ARP(seen=interactions)@2", seen=given) == 2
        assert measure(lists, "ARP@2", seen=given) == 1.5


def test_users_without_items_are_no_users() -> None:
    seen = {"x": ["a"], "y": []}
    assert measure({"u": ["a"]}, "Novelty@1", seen=seen) == 0


def test_lists_of_equal_weight_have_an_entropy_of_their_own() -> None:
    """Five items with p = 1/5/2 each and one with 1/2; Elliot's mean takes p = 1/6 for all six."""
    lists = {"u": [*"abcde"], "v": ["f"]}
    halves = -(5 * 0.1 * math.log2(0.1) + 0.5 * math.log2(0.5))
    assert measure(lists, "Entropy(lists=equal)") == pytest.approx(halves, rel=1e-12)
    assert measure(lists, "Entropy(lists=mean)") == pytest.approx(math.log2(6), rel=1e-12)


def test_popularity_is_divided_by_its_sum() -> None:
    """Of the items' users, a has two and b one, so that the shares of all items add up to 1."""
    seen = {"x": ["a", "b", "b"], "y": ["a"]}
    assert measure({"u": ["a"]}, "ARP(norm=total)", seen=seen) == 2 / 3
    assert measure({"u": ["a"]}, "ARP(seen=interactions,norm=total)", seen=seen) == 2 / 4


def test_a_lift_is_over_the_users_who_have_both() -> None:
    """u gets what u chose; neither the list of v, who chose nothing, nor the choices of w count."""
    lists = {"u": ["a", "b"], "v": ["c"]}
    seen = {"u": ["b", "a"], "w": ["a", "c"], "x": ["a"], "y": ["a"]}
    assert measure(lists, "PopularityLift", seen=seen) == 0
    assert measure(lists, "PopularityLift@1", seen=seen) == (4 - 5 / 2) / (5 / 2)
    assert math.isnan(measure({"v": ["c"]}, "PopularityLift", seen=seen))
    runs = {"one": {"v": ["c"]}, "two": {"v": ["c"]}}
    with pytest.raises(germane.errors.MeasureError, match="PopularityLift of one is undefined"):
        germane.compare({"v": ["a"]}, runs, "PopularityLift", seen=seen)
    assert (
        germane.evaluate({"u": ["a"]}, lists, "PopularityLift", seen=seen)[
            "PopularityLift"
        ].per_query
        == {}
    )


def test_the_tail_does_not_depend_on_the_order_of_rows() -> None:
    """Four items with one interaction each: those with the smaller ids are the tail, 9 before 10."""
    lists = {"u": ["9", "10"]}
    for items in itertools.permutations(["9", "10", "11", "12"]):
        assert measure(lists, "TailShare(tail=0.25)@2", seen={"x": items}) == 1 / 2
    assert measure({"u": [9]}, "TailShare(tail=0.1)@1", seen={"x": [10, 9, 11]}) == 1
    many = {"x": range(100)}
    assert measure({"u": [28]}, "TailShare(tail=0.29)@1", seen=many) == 1
    assert measure({"u": [29]}, "TailShare(tail=0.29)@1", seen=many) == 0


def test_personalization_of_short_lists_can_be_above_one() -> None:
    """Evidently 0.7.23 gives 1.3333333333333333 for these lists: it divides as if all had four items."""
    lists = {"u": ["a"], "v": ["b"], "w": ["c", "d"]}
    found = germane.evaluate({"u": ["a"]}, lists, "Personalization(norm=k)@4")
    [one] = found.values()
    assert one.mean == pytest.approx(4 / 3)
    assert "above 1 where lists are shorter" in one.measure.definition
    assert not found.findings or "no query counts" not in str(found.findings)


def make_vectors(folder: Path, vectors: Any) -> list[Any]:
    """The same vectors in every way to give them."""
    items, rows = list(vectors), np.array(list(vectors.values()), float)
    wide = pd.DataFrame(rows, columns=["x", "y"]).assign(item_id=items)
    long = pd.DataFrame({"item_id": items, "title": "t", "vector": rows.tolist()})
    wide.to_csv(folder / "wide.csv", index=False)
    long.to_parquet(folder / "long.parquet")
    wide.to_parquet(folder / "wide.parquet")
    long.to_json(folder / "long.jsonl", orient="records", lines=True)
    np.savez(folder / "both.npz", vectors=rows, ids=np.array(items))
    files = ("wide.csv", "long.parquet", "wide.parquet", "long.jsonl", "both.npz")
    return [vectors, wide, long, *(str(folder / name) for name in files)]


def test_every_source_of_vectors_gives_the_same(tmp_path: Path) -> None:
    vectors = {"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [0.0, 2.0], "d": [1e200, 1e200]}
    expected = (1 - math.sqrt(0.5) + 1 + 0) / 3
    for given in make_vectors(tmp_path, vectors):
        assert measure(LISTS, "ILD@2", distance=given) == pytest.approx(expected)
    digits = {1: [1.0, 0.0], 2: [0.0, 1.0]}
    for given in make_vectors(tmp_path, digits):
        assert (
            germane.evaluate({"u": [1]}, {"u": [1, 2]}, "ILD@2", distance=given)["ILD@2"].mean == 1
        )
    text = str(tmp_path / "wide.csv")
    assert measure({"u": ["1", "2"]}, "ILD@2", distance=text) == 1


def test_a_repeated_item_of_an_unjudged_user_is_an_error() -> None:
    with pytest.raises(
        germane.errors.DuplicateError, match="item 'c' is retrieved twice for query 'w'"
    ):
        germane.evaluate({"u": ["a"]}, {"u": ["a"], "w": ["c", "c"]}, "Coverage@1", catalogue=3)


def test_results_are_pickled() -> None:
    result = evaluate(draw_world(0), "AP Novelty@3 Gini@3 ILD@3")
    again = pickle.loads(pickle.dumps(result))
    assert again.flat() == result.flat()
    assert again["Gini@3"].explain().to_dict() == result["Gini@3"].explain().to_dict()  # type: ignore[attr-defined]
    assert again["ILD@3"].interval() == result["ILD@3"].interval()


def test_runs_without_ids_are_refused() -> None:
    with pytest.raises(germane.errors.InputError, match="flat arrays with group="):
        germane.evaluate(np.array([1, 0]), np.array([0.4, 0.3]), "Gini@2", group=[2], catalogue=3)


def test_embeddings_have_the_lists_of_their_similarities() -> None:
    rng = np.random.default_rng(3)
    queries, gallery = rng.standard_normal((6, 4)), rng.standard_normal((9, 4))
    judged = {0: [1], 3: [2, 5]}
    found = germane.evaluate_embeddings(
        queries, gallery, "Coverage@2 Gini@3", qrels=judged, similarity="dot", catalogue=9
    )
    expected = germane.evaluate(judged, queries @ gallery.T, "Coverage@2 Gini@3", catalogue=9)
    assert found.flat() == expected.flat()


def test_functions_that_know_judged_items_alone_refuse() -> None:
    with pytest.raises(germane.errors.MeasureError, match="whole lists"):
        germane.score([1, 0], "Gini@2")


def test_categories_have_the_numbers_of_their_users() -> None:
    """Judged or not: as if only these users had lists. The whole has those of all."""
    world = replace(
        draw_world(0), lists={f"u{u}": [f"i{(u * u + j) % 12}" for j in range(3)] for u in range(9)}
    )
    names = "AP Novelty@2 Gini@3 Coverage@3 Entropy(lists=equal)@2 PopularityLift"
    qrels = {user: world.relevant.get(user, ["none"]) for user in [*world.lists][:6]}
    given = {"seen": world.seen, "catalogue": world.size}
    result = germane.evaluate(qrels, world.lists, names, **given)
    groups = result.by({user: int(user[1:]) % 2 for user in world.lists})
    assert groups.counts == {0: 3, 1: 3}
    for name, group in groups.items():
        mine = {user: world.lists[user] for user in world.lists if int(user[1:]) % 2 == name}
        judged = {user: items for user, items in qrels.items() if user in mine}
        assert group.means == pytest.approx(
            {
                str(v.measure): v.mean
                for v in germane.evaluate(judged, mine, names, **given).values()
            }
        )
        assert group["Gini@3"].explain().lists == len(mine)  # type: ignore[attr-defined]
    with pytest.raises(germane.errors.NotFoundError, match="no category for 'u6', 'u7', 'u8'"):
        result.by(dict.fromkeys(qrels, 1))
    kept = pickle.loads(pickle.dumps(result))
    with pytest.raises(germane.errors.MeasureError, match="counted and not kept"):
        kept.by(dict.fromkeys(world.lists, 1))


def test_comparisons_say_what_they_cannot_compare() -> None:
    runs = {"one": LISTS, "other": {"u": ["c"], "v": ["d", "a"], "w": ["b"]}}
    qrels = {user: ["a"] for user in LISTS}
    found = germane.compare(qrels, runs, "Novelty@2", seen=SAW)
    assert len(found.pairs) == 1
    with pytest.raises(
        germane.errors.MeasureError, match="Gini@2 is one number of all queries, which are not"
    ):
        germane.compare(qrels, runs, "AP Gini@2", catalogue=4).queries("Gini@2", "one", "other")
    with pytest.raises(germane.errors.MeasureError, match="test=sign asks about the values of sin"):
        germane.compare(qrels, runs, "AP Gini@2", catalogue=4, test="sign")
    with pytest.raises(germane.errors.MeasureError, match="lower Gini@2 is no regression"):
        germane.gate(qrels, LISTS, "AP Gini@2", baseline=LISTS, catalogue=4)
    with pytest.raises(germane.errors.MeasureError, match="has no weights"):
        germane.evaluate(qrels, LISTS, "Novelty@2", seen=SAW)["Novelty@2"].weigh({"u": 1})


def test_a_difference_is_that_of_the_means_over_all_users() -> None:
    """Compare looks at the users whose lists evaluate counts, not only at those with judgments."""
    runs = {"one": LISTS, "other": {"u": ["c"], "v": ["d", "a"], "w": ["b"]}}
    qrels = {"v": ["a"], "nobody": ["b"]}
    results = germane.evaluate_many(qrels, runs, "AP Novelty@2", seen=SAW)
    means = [results[name]["Novelty@2"].mean for name in runs]
    assert results["one"]["Novelty@2"].per_list.keys() == LISTS.keys()  # type: ignore[attr-defined]
    found = germane.compare(results)
    pair = found.between("other", "one", "Novelty@2")
    assert pair.queries == 3
    assert pair.difference == pytest.approx(means[1] - means[0])
    assert {row.query for row in found.queries("Novelty@2", "other", "one").rows} == set(LISTS)
    assert found.between("other", "one", "AP").queries == 2
    assert f"{means[0]:.4f}" in str(found.leaderboard())


def test_names_belong_to_one_measure() -> None:
    names = [{n.casefold() for n in (row.name, *row.aliases)} for row in (*ALL, *CATALOGUE)]
    assert sum(map(len, names)) == len(set().union(*names))


@ROWS
def test_rows_define_themselves(row: Any) -> None:
    for one in vary(row):
        assert germane.parse(str(one)) == one
        assert "; " in one.definition, one  # says what a low or a high value means
    scope = {"evaluate": germane.evaluate, "log2": math.log2}
    assert eval(row.example, scope), row.example


@pytest.mark.slow
def test_the_command_line_takes_files(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("u 0 a 1\n")
    (tmp_path / "r.run").write_text("".join(f"{u} Q0 {i} 1 {s} t\n" for u, i, s in ROWS_OF_LISTS))
    (tmp_path / "items.txt").write_text("a\nb\nc\nd\n")
    (tmp_path / "saw.csv").write_text("user,item\nx,a\nx,b\ny,a\nz,a\nz,c\n")

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "germane", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    given = ["q.txt", "r.run", "--catalogue", "items.txt", "--seen", "saw.csv"]
    out = call("evaluate", *given, "-m", "AP@2 Gini@2 Novelty@2")
    assert out.returncode == 0, out.stderr
    assert "1.0000  0.1500     1.0566" in out.stdout
    assert "4 of 4 items" in call("explain", *given, "-m", "Gini@2").stdout
    assert "lenskit-2026.4" in call("dialects", *given, "-m", "Gini@2").stdout
    assert (
        "one definition" in call("reconcile", *given, "-m", "Gini@2", "--reported", "0.8000").stdout
    )
    assert call("evaluate", "q.txt", "r.run", "-m", "Gini@2").returncode == 2
    (tmp_path / "vectors.csv").write_text("item,x,y\na,1,0\nb,0,1\nc,1,1\nd,1,0\n")
    given = ["q.txt", "r.run", "--distance", "vectors.csv"]
    assert "0.4310" in call("evaluate", *given, "-m", "ILD@2").stdout
    assert (
        "--distance … takes a file of items and vectors"
        in call("evaluate", "q.txt", "r.run", "-m", "ILD@2").stderr
    )


def test_a_number_of_all_lists_is_not_called_uncounted() -> None:
    """Coverage has no value for a query, and its mean is no mean over queries."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = {"u": ["a", "b"]}
        result = germane.evaluate({"u": ["a"]}, run, "AP@2 Coverage@2 Gini@2", catalogue=2)
    assert result.findings == ()


def test_users_without_judgments_are_left_out_of_measures_of_judgments_alone() -> None:
    judged: dict[str, list[str]] = {"u": ["z"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = germane.evaluate(judged, LISTS, "Gini@2 Novelty@2", catalogue=9, seen=LISTS)
    assert result.findings == ()
    with pytest.warns(germane.GermaneWarning, match="not in the qrels, and left out"):
        germane.evaluate({"u": ["a"]}, LISTS, "AP@2 Gini@2", catalogue=9)


def test_a_difference_that_no_user_changes_has_no_interval_for_that_reason() -> None:
    """Both runs cover the catalogue, whoever is left out."""
    truth = {f"u{n}": ["a"] for n in range(40)}
    runs = {"one": {key: ["a", "b"] for key in truth}, "two": {key: ["b", "a"] for key in truth}}
    compared = germane.compare(truth, runs, "Coverage@2", catalogue=["a", "b"])
    assert "intervals: none, as leaving out some users changes no difference" in str(compared)
