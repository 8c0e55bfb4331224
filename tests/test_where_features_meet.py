"""Inputs that two features read in two ways: each is refused, or read in the way that its container says."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import germane
from germane import cli

QRELS = {"q": ["a"], "p": ["b"]}


@pytest.mark.parametrize("rows", [[[1, 0], [0, 1]], [(1.0, 0.0), (0.0, 1.0)], [[True, False]] * 2])
def test_lists_of_0_and_1_are_no_labels(rows: Any) -> None:
    with pytest.raises(
        germane.errors.FormatError, match=r"query_labels: lists of 0 and 1, .* in two ways"
    ):
        germane.Labels(rows, rows)
    assert germane.Labels(np.array(rows), np.array(rows)).shape == (2, 2)
    assert germane.Labels([set(row) for row in rows], [{1}, {0}]).shape == (2, 2)


def test_lists_of_labels_are_labels() -> None:
    for rows in ([[1], [0, 1]], [[1, 2], [0, 1]], [["a"], ["b"]], [[0], [1]]):
        assert germane.Labels(rows, rows).shape == (2, 2)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "0.5", None])
@pytest.mark.parametrize("keep", ["max", "first", "sum"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_collapsed_scores_are_finite(bad: object, keep: Any, place: int) -> None:
    scores: list[Any] = [0.9, 0.8]
    scores.insert(place, bad)
    run = {"q": dict(zip(["a1", "a2", "b1"], scores, strict=True))}
    with pytest.raises(
        germane.errors.ScoreError, match=r"run, query 'q', item .* a score must be a finite"
    ):
        germane.collapse(run, lambda item: item[0], keep=keep)


def test_a_column_that_is_named_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run.csv"
    run.write_text("u,i,s,z\nq,a,1,2\np,b,1,2\n")
    named = {"query": "u", "item": "u", "score": "s"}
    with pytest.raises(
        germane.errors.FormatError, match="column 'u' is named as the query and as the item"
    ):
        germane.evaluate(QRELS, str(run), "RR", columns=named)
    with pytest.raises(SystemExit):
        cli.main(["evaluate", "qrels", str(run), "--columns", "query=u,item=i,score=s,score=z"])
    assert "names score twice: score=s and score=z" in capsys.readouterr().err


def test_a_feature_that_is_written_twice(tmp_path: Path) -> None:
    run = tmp_path / "run.letor"
    run.write_text("1 qid:q 1:3 11:7 1:9 # docid = a\n0 qid:p 1:4 # docid = b\n")
    with pytest.raises(germane.errors.ScoreError, match=r"run.letor:1: feature 1 is written twice"):
        germane.evaluate(QRELS, str(run), "RR", columns={"run": {"score": "1"}})


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ((-1, -2, -3), "a rank is 0 or more"),
        ((90, 50, 20), "the ranks of each query fall from line to line .90, 50,"),
        ((2, 2, 3), "run.tsv, query 'q': items 'a' and 'b' have the same rank"),
    ],
)
def test_ranks_that_are_none(tmp_path: Path, ranks: tuple[int, ...], says: str) -> None:
    run = tmp_path / "run.tsv"
    lines = [f"{q}\t{i}\t{rank}\n" for q in QRELS for i, rank in zip("abc", ranks, strict=True)]
    run.write_text("".join(lines))
    with pytest.raises(germane.errors.FormatError, match=says):
        germane.evaluate(QRELS, str(run), "RR", input_format={"run": "msmarco"})


def test_ranks_may_be_in_any_order(tmp_path: Path) -> None:
    run = tmp_path / "run.tsv"
    for ranks, mean in (((3, 2, 1), 5 / 12), ((2, 9, 1), 11 / 36), ((1, 5, 9), 0.75)):
        lines = [f"{q}\t{i}\t{rank}\n" for q in QRELS for i, rank in zip("abc", ranks, strict=True)]
        run.write_text("".join(lines))
        place = sorted(ranks)
        mean = np.mean([1 / (place.index(ranks[i]) + 1) for i in (0, 1)])
        got = germane.evaluate(QRELS, str(run), "RR", input_format={"run": "msmarco"})
        assert got["RR"].mean == pytest.approx(mean)


@pytest.mark.parametrize(("queries", "seen"), [(1, False), (2, False), (3, True)])
def test_ranks_that_fall_by_one(queries: int, seen: bool, tmp_path: Path) -> None:
    """Three ranks of one query fall by chance in 1 of 6 cases, and those of three queries in 1 of 216."""
    run = tmp_path / "run.tsv"
    ranks = [(f"q{q}", item, 10 - at) for q in range(queries) for at, item in enumerate("abc")]
    run.write_text("".join(f"{q}\t{item}\t{rank}\n" for q, item, rank in ranks))
    qrels = {f"q{q}": ["a"] for q in range(queries)}
    given: dict[str, Any] = {"input_format": {"run": "msmarco"}}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert germane.evaluate(qrels, run, "RR", **given)["RR"].mean == pytest.approx(1 / 3)
    told = [str(one.message) for one in warned]
    assert [("ranks of every query fall" in one, "taken as an order" in one) for one in told] == [
        (seen, not seen)
    ]
    found = [one.what for one in germane.check(qrels, run, "RR", **given)]
    assert ("ranks fall as given" in found) == seen


LISTS: dict[str, Any] = {
    "Series": pd.Series(["b", "a"], index=[2, 1]),
    "Index": pd.Index(["b", "a"]),
    "Categorical": pd.Categorical(["b", "a"]),
    "array": np.array(["b", "a"]),
    "polars": pl.Series(["b", "a"]),
    "arrow": pa.array(["b", "a"]),
    "chunked": pa.chunked_array([["b", "a"]]),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("own", ["keep", "drop"])
def test_columns_in_dicts_and_lists_are_read_by_position(name: str, own: Any) -> None:
    held = LISTS[name]
    named = {"q": held, "p": held}
    assert germane.evaluate(QRELS, named, "RR", own=own)["RR"].mean == 0.75
    assert germane.evaluate([["a"], ["b"]], [held, held], "RR")["RR"].mean == 0.75
    assert germane.evaluate(named, {"q": ["x", "a"], "p": ["b"]}, "RR")["RR"].mean == 0.75
    assert germane.collapse(named, str) == {"q": ["b", "a"], "p": ["b", "a"]}
    assert "malformed results" not in {one.what for one in germane.check(QRELS, named)}


OTHERS: dict[str, Any] = {
    "set": {"a", "b"},
    "frame": pd.DataFrame({"x": ["b", "a"]}),
    "table": np.array([["b", "a"]]),
    "scalar": np.array("a"),
    "generator": (item for item in "ba"),
    "series of scores": pd.Series([2.0, 1.0], index=["a", "b"]),
    "series in a list": [pd.Series(["b", "a"])],
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("own", ["keep", "drop"])
def test_other_containers_are_refused(name: str, own: Any) -> None:
    with pytest.raises(germane.errors.FormatError, match="query 'q'"):
        germane.evaluate(QRELS, {"q": OTHERS[name], "p": OTHERS[name]}, "RR", own=own)


def test_sets_are_not_collapsed() -> None:
    with pytest.raises(germane.errors.FormatError, match="a list of items, best first; got"):
        germane.collapse({"q": {"a1", "a2"}}, lambda item: item[0])


def test_an_evaluator_says_that_its_batches_were_empty() -> None:
    one, other = germane.Evaluator(QRELS, "RR"), germane.Evaluator(QRELS, "RR")
    with pytest.raises(germane.errors.EmptyError, match="there is no batch yet"):
        one.result()
    empty = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]}).head(0)
    one.update(empty)
    other.update(empty)
    with pytest.raises(germane.errors.EmptyError, match=r"all batches so far were empty \(2\)"):
        one.merge(other).result()


ODD = ['"x"', "3", '{"x": 1}', "[1]", "null", "1.5", "true"]


@pytest.mark.parametrize("second", ODD[1:])
@pytest.mark.parametrize("before", [1, pytest.param(60_000, marks=pytest.mark.slow)])
def test_json_keys_that_are_not_read_may_have_values_of_any_type(
    second: str, before: int, tmp_path: Path
) -> None:
    run = tmp_path / "run.jsonl"
    lines = [
        f'{{"query": "q", "item": "b{at}", "score": 9, "note": {ODD[0]}}}' for at in range(before)
    ]
    lines += [
        f'{{"query": "q", "item": "2024-01-01", "note": {second}, "score": 1.5}}',
        '{"query": "p", "item": "b", "score": 1}',
    ]
    run.write_text("\n".join(lines))
    qrels = {"q": ["2024-01-01"], "p": ["b"]}
    found = germane.evaluate(qrels, run, "RR")
    assert found["RR"].per_query == {"q": 1 / (before + 1), "p": 1}
    assert "malformed results" not in {one.what for one in germane.check(qrels, run)}
    run.write_text("\n".join([*lines, '{"query": "p", "item": "c", "score": "1"}']))
    says = rf"run.jsonl:{before + 3}: .* one type; 'score' is '1' \(str\) here, but 9 before"
    with pytest.raises(germane.errors.FormatError, match=says):
        germane.evaluate(qrels, run, "RR")


NEAR = [2**53 + 1, 2**53]
FINE = pa.array(["0.12345678901234567891", "0.12345678901234567890"]).cast(pa.decimal128(38, 20))


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow", "parquet", "feather", "jsonl"])
@pytest.mark.parametrize("scores", [NEAR, FINE], ids=["whole", "decimal"])
def test_check_finds_scores_that_doubles_round(scores: Any, kind: str, tmp_path: Path) -> None:
    table = pa.table({"query": ["q", "q"], "item": ["a", "c"], "score": scores})
    path = tmp_path / f"run.{kind}"
    match kind:
        case "polars":
            run: Any = pl.DataFrame(table)
        case "pandas":
            run = table.to_pandas(types_mapper=pd.ArrowDtype)
        case "arrow":
            run = table
        case "parquet":
            pq.write_table(table, path)
            run = path
        case "feather":
            feather.write_feather(table, path)
            run = path
        case "jsonl":
            rows = table.to_pylist()
            path.write_text(
                "".join(
                    f'{{"query": "q", "item": "{row["item"]}", "score": {row["score"]}}}\n'
                    for row in rows
                )
            )
            run = path
    found = {one.what: one for one in germane.check(QRELS, run, "RR")}
    if kind == "jsonl" and scores is FINE:  # JSON has no decimals
        assert "scores lose precision" not in found
    else:
        assert found["scores lose precision"].count == 1
    exact = pa.table({"query": ["q", "q"], "item": ["a", "c"], "score": [2**53 + 2, 2**53]})
    assert "scores lose precision" not in {one.what for one in germane.check(QRELS, exact, "RR")}


def as_kinds(run: dict[str, dict[str, float]], folder: Path) -> dict[str, Any]:
    """The same results in every form that contains ids, best first."""
    rows = [(query, item, score) for query, got in run.items() for item, score in got.items()]
    columns = dict(zip(("query", "item", "score"), zip(*rows, strict=True), strict=True))
    path = folder / "run.txt"
    path.write_text("".join(f"{q} Q0 {d} {n} {s} t\n" for n, (q, d, s) in enumerate(rows)))
    return {
        "dict": run,
        "lists": {query: list(got) for query, got in run.items()},
        "frame": pa.table({name: list(values) for name, values in columns.items()}),
        "file": path,
        "read run": germane.read_run(path),
    }


CHUNKS = {"a": {"a1": 5.0, "x1": 4.0, "x2": 3.0, "b1": 2.0, "a2": 1.0}, "b": {"b1": 2.0, "a1": 1.0}}
CHOICES: list[dict[str, Any]] = [
    {"exclude": {"a": ["x"]}},
    {"only": {"a": ["a", "b"], "b": ["a", "b"]}},
    {"own": "drop"},
    {"own": "drop", "exclude": {"a": ["x"]}},
    {"depth": 2},
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_groups_and_candidates_are_counted_as_rows_are(choice: Any, tmp_path: Path) -> None:
    """Of five chunks of query a, two are of the excluded document x."""
    qrels = {"a": {"a": 1, "b": 1}, "b": {"a": 1}}
    kinds = as_kinds(CHUNKS, tmp_path)
    found = {
        name: germane.evaluate(qrels, run, "AP", collapse=lambda chunk: chunk[0], **choice)
        for name, run in kinds.items()
    }
    counts = {result.counts for result in found.values()}
    assert len(counts) == 1
    count = counts.pop()
    assert count.collapsed == 7
    assert count.excluded == (2 if "exclude" in choice or "only" in choice else 0)
    assert count.groups == 5 - ("exclude" in choice or "only" in choice) - 2 * ("own" in choice)
    assert len({str(result["AP"].per_query) for result in found.values()}) == 1


def test_excluded_lists_count_beside_their_own_items(tmp_path: Path) -> None:
    run = {"a": {"a": 3.0, "x": 2.0, "b": 1.0}}
    for given in as_kinds(run, tmp_path).values():
        result = germane.evaluate({"a": ["b"]}, given, "RR", own="drop", exclude={"a": ["a", "x"]})
        assert result.counts.excluded == 2
        assert result["RR"].mean == 1.0


def test_scores_that_are_distances_collapse_to_the_nearest(tmp_path: Path) -> None:
    run = {"q": {"a1": 9.0, "b1": 2.0, "a2": 1.0, "c1": 3.0}}
    kinds = as_kinds(run, tmp_path)
    del kinds["lists"]
    for given in kinds.values():
        result = germane.evaluate(
            {"q": ["c"]}, given, "RR", collapse=lambda chunk: chunk[0], scores="distances"
        )
        assert result["RR"].mean == 1 / 3


def test_candidates_of_integers_beside_a_nested_run(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"1": {"6": 2.0, "7": 1.0}}')
    result = germane.evaluate({1: [7]}, path, "RR", exclude={1: [6]})
    assert result["RR"].mean == 1.0
    assert result.counts.excluded == 1


def as_numbered(run: dict[int, dict[int, float]], folder: Path) -> dict[str, tuple[Any, Any]]:
    """A run with integers as ids, in containers that have integers, and the options of arrays."""
    rows = [(query, item, score) for query, got in run.items() for item, score in got.items()]
    frame = pd.DataFrame(rows, columns=["query", "item", "score"])
    frame.to_parquet(folder / "run.parquet")
    items = list(dict.fromkeys(item for _, item, _ in rows))
    scores = np.ma.masked_all((len(run), len(items)))
    for row, got in enumerate(run.values()):
        for item, score in got.items():
            scores[row, items.index(item)] = score
    best = np.array([[items.index(item) for item in got] for got in run.values()])
    falling = np.array([list(got.values()) for got in run.values()])
    named = {"query_ids": list(run), "item_ids": items}
    return {
        "dict": (run, {}),
        "frame": (frame, {}),
        "categories": (frame.astype({"item": "category"}), {}),
        "scattered": (frame.iloc[[0, 4, 1, 5, 2, 6, 3, 7]], {}),
        "parquet": (folder / "run.parquet", {}),
        "scores": (scores, named),
        "pair": ((falling, best), named),
    }


ITEMS = {1: [8], 3: [2]}
GROUPS = {1: 1, 8: 3, 2: 2, 7: 8, 3: 3}


@pytest.mark.parametrize("own", ["keep", "drop"])
@pytest.mark.parametrize(
    "names",
    [["exclude"], ["only"], ["collapse"], ["collapse", "exclude"], ["collapse", "only"]],
    ids="-".join,
)
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_digits_of_a_text_file_are_integers(names: list[str], own: Any, tmp_path: Path) -> None:
    """A file of candidates or groups is text; the judgments, the run and the catalogue have
    integers.
    """
    qrels = {1: {2: 1, 7: 1}, 3: {8: 1, 2: 1}}
    run = {1: {1: 3.0, 8: 2.5, 2: 2.0, 7: 1.5}, 3: {3: 3.0, 2: 2.5, 8: 1.0, 1: 0.5}}
    typed: dict[str, Any] = {name: GROUPS if name == "collapse" else ITEMS for name in names}
    files = {}
    for name in names:
        pairs = GROUPS if name == "collapse" else {query: one for query, [one] in ITEMS.items()}
        files[name] = tmp_path / f"{name}.csv"
        head = "item,group\n" if name == "collapse" else "query,item\n"
        files[name].write_text(head + "".join(f"{a},{b}\n" for a, b in pairs.items()))
    lists = {"catalogue": [1, 2, 3, 7, 8], "seen": {1: [1, 2], 3: [2, 8], 9: [3]}}
    for measures in ("AP RR NumRet", "Coverage@2 Novelty@2 Gini@1"):
        options = lists if "Gini" in measures else {}
        say = germane.evaluate(qrels, run, measures, own=own, **typed, **options)
        for kind, (given, named) in as_numbered(run, tmp_path).items():
            answer = germane.evaluate(qrels, given, measures, own=own, **files, **options, **named)
            assert answer.flat() == say.flat(), kind
            assert answer.counts == say.counts, kind
            if kind != "scores":  # which have no sample of rows
                assert [one.what for one in answer.findings] == [
                    one.what for one in say.findings
                ], kind
            if not named:
                found = germane.check(qrels, given, measures, own=own, **files, **options)
                told = germane.check(qrels, run, measures, own=own, **typed, **options)
                assert [one.what for one in found] == [one.what for one in told], kind


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_judgments_to_choose_beside_groups_of_a_text_file(tmp_path: Path) -> None:
    groups = tmp_path / "groups.csv"
    groups.write_text("item,group\n" + "".join(f"{a},{b}\n" for a, b in GROUPS.items()))
    runs = {"one": {1: {1: 2.0, 7: 1.0}}, "two": {1: {8: 2.0, 2: 1.0}}}
    chosen = germane.choose_judgments({1: {2: 1}}, runs, "nDCG@3", collapse=groups)
    typed = germane.choose_judgments({1: {2: 1}}, runs, "nDCG@3", collapse=GROUPS)
    assert [(str(one.item), one.weight) for one in chosen] == [
        (str(one.item), one.weight) for one in typed
    ]
