"""Orders that were not meant, in every source: what evaluating tells of them, and check."""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane
from check_examples import noticed

LONG_QRELS = {f"q{n}": {f"d{n}-{i}": int(i < 4) for i in range(20)} for n in range(30)}
LONG_RUN = {
    query: {item: 20.0 - place + n / 100 for place, item in enumerate(held)}
    for n, (query, held) in enumerate(LONG_QRELS.items())
}


def sources_of(run: Any, folder: Path) -> dict[str, Any]:
    """A run in every form in which its rows have an order, and no ranks."""
    rows = [(q, item, float(s)) for q, held in run.items() for item, s in held.items()]
    (folder / "run").write_text("".join(f"{q} Q0 {item} 0 {s} t\n" for q, item, s in rows))
    columns = zip(("query", "item", "score"), map(list, zip(*rows, strict=True)), strict=True)
    frame = pa.table(dict(columns))
    csv = "".join(f"{q},{item},{s}\n" for q, item, s in rows)
    (folder / "run.csv").write_text(f"query,item,score\n{csv}")
    return {
        "mapping": run,
        "file": folder / "run",
        "read": germane.read_run(folder / "run"),
        "frame": frame,
        "csv": folder / "run.csv",
    }


def turned(run: Any) -> Any:
    """Distances, the nearest first."""
    return {q: {item: 99 - s for item, s in held.items()} for q, held in run.items()}


def test_distances_in_every_source(tmp_path: Path) -> None:
    for name, run in sources_of(turned(LONG_RUN), tmp_path).items():
        told = noticed(LONG_QRELS, run)
        assert list(told) == ["scores rise as given"], name
        assert "over the first" in told["scores rise as given"].says


def test_ranks_as_scores_in_every_source(tmp_path: Path) -> None:
    ranks = {q: {item: n for n, item in enumerate(held, 1)} for q, held in LONG_RUN.items()}
    for name, run in sources_of(ranks, tmp_path).items():
        assert list(noticed(LONG_QRELS, run)) == ["ranks given as scores"], name
    lines = (f"{q} Q0 {item} {s} {n} t\n" for q in LONG_RUN for n, (item, s) in _numbered(q))
    (tmp_path / "run").write_text("".join(lines))
    told = noticed(LONG_QRELS, tmp_path / "run")["ranks given as scores"]
    assert told.advice.startswith("Are rank and score swapped?")
    lines = (f"{q} Q0 {item} {n} {n} t\n" for q in LONG_RUN for n, (item, _) in _numbered(q))
    (tmp_path / "run").write_text("".join(lines))
    for said in (noticed(LONG_QRELS, tmp_path / "run"), _checked(tmp_path / "run")):
        assert list(said) == ["ranks given as scores"], "and not that they contradict each other"


def _checked(run: Path) -> list[str]:
    return [one.what for one in germane.check(LONG_QRELS, run, "AP").serious]


def _numbered(query: str) -> Any:
    return enumerate(LONG_RUN[query].items(), 1)


def test_an_ascending_order_that_relevance_bears_out_is_meant(tmp_path: Path) -> None:
    """As argsort gives it, or a heap: the best stands last."""
    ascending = {q: dict(reversed(held.items())) for q, held in LONG_RUN.items()}
    counted = {q: {i: n for n, i in enumerate(reversed(held))} for q, held in LONG_RUN.items()}
    for meant in (ascending, counted):
        for name, run in sources_of(meant, tmp_path).items():
            assert noticed(LONG_QRELS, run) == {}, name
            assert germane.check(LONG_QRELS, run, "AP").serious == (), name
    lines = (f"{q} Q0 {i} {21 - n} {n} t\n" for q, held in counted.items() for i, n in held.items())
    (tmp_path / "run").write_text("".join(lines))
    assert noticed(LONG_QRELS, tmp_path / "run") == {}, "ranks and scores agree"


def test_scores_that_count_from_elsewhere_are_no_ranks() -> None:
    run = {q: {item: n for n, item in enumerate(held, 7)} for q, held in LONG_RUN.items()}
    assert list(noticed(LONG_QRELS, run)) == ["scores rise as given"]
    (serious,) = germane.check(LONG_QRELS, run, "AP").serious
    assert serious.what == "scores rise as given"


def test_distances_of_queries_whose_lines_are_scattered(tmp_path: Path) -> None:
    """Each query's scores rise, and none from line to line."""
    run = turned(LONG_RUN)
    lines = [[f"{q} Q0 {i} 0 {s} t\n" for i, s in held.items()] for q, held in run.items()]
    (tmp_path / "run").write_text("".join(map("".join, zip(*lines[::-1], strict=True))))
    (serious,) = germane.check(LONG_QRELS, tmp_path / "run", "AP").serious
    assert serious.what == "scores rise as given"
    assert "over 570 steps" in serious.says
    assert list(noticed(LONG_QRELS, tmp_path / "run")) == ["scores rise as given"]


def test_few_scores_may_rise_by_chance() -> None:
    """Five results stand in ascending order in one of 5! = 120 cases, and seven pairs in one of 2^7 = 128."""
    qrels = {f"q{n}": {"d0": 1, "x": 1} for n in range(7)}
    for sizes, told in (([4], False), ([5], True), ([2] * 6, False), ([2] * 7, True)):
        run = {
            f"q{n}": {f"d{i}": i / 10 for i in range(1, size + 1)} for n, size in enumerate(sizes)
        }
        assert ("scores rise as given" in noticed(qrels, run)) == told, sizes
        whats = [one.what for one in germane.check(qrels, run, "AP").serious]
        assert ("scores rise as given" in whats) == told, sizes
    one_falls = {"q0": {f"d{i}": abs(i - 0.5) for i in range(9, -9, -1)}}
    assert "scores rise as given" not in noticed(qrels, one_falls)
    borne_out = {"q0": {f"d{i}": -i for i in range(5, -1, -1)}}
    assert "scores rise as given" not in noticed(qrels, borne_out), "the relevant item is the first"


@pytest.mark.parametrize("size", [5, 30])
def test_ranks_that_fall_from_row_to_row(size: int) -> None:
    columns = {"query": ["q"] * size, "item": [f"d{i}" for i in range(size)]}
    table = pa.table(columns | {"rank": list(range(size, 0, -1))})
    qrels = {"q": {"d0": 1}}
    told = noticed(qrels, table)["ranks fall as given"]
    says = f"the ranks of every query fall in the order given, over the first {size - 1} steps"
    assert told.says.startswith(says)
    (serious,) = germane.check(qrels, table, "AP").serious
    assert serious.what == told.what
    ascending = pa.table(columns | {"rank": list(range(1, size + 1))})
    assert noticed(qrels, ascending) == {}


@pytest.mark.slow
@pytest.mark.parametrize("column", ["rank", pytest.param("score", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "sizes", [[2, 2], [3], [4], [5], [3, 2], [2] * 7, [3, 3, 3], [4, 3], [6, 6]]
)
def test_chance_seldom_turns_an_order(sizes: list[int], column: str) -> None:
    """Of 240 random orders some 2 may look turned, one of 120; turned ones of that size always do."""
    rng = np.random.default_rng(0)
    wrong = {"rank": -1, "score": 1}[column]  # the direction from row to row
    turns = math.prod(map(math.factorial, sizes)) >= 120
    qrels = {f"q{n}": {"x": 1} for n in range(len(sizes))}
    query = [f"q{n}" for n, size in enumerate(sizes) for _ in range(size)]
    items = [f"d{i}" for i in range(len(query))]

    def is_told(lists: list[Any]) -> bool:
        numbers = np.concatenate(lists) + (100.5 if column == "score" else 0)
        run = pa.table({"query": query, "item": items, column: numbers})
        whats = {one.what for one in germane.check(qrels, run, "AP").serious}
        told = bool(whats & {"ranks fall as given", "scores rise as given"})
        hits = dict(zip(query, items, strict=True)).items()  # one of each query
        judged = {q: {"x": 1, item: 0} for q, item in hits}
        assert bool(noticed(judged, run).keys() & whats) == told
        return told

    shuffled = [[rng.permutation(size) + 1 for size in sizes] for _ in range(240)]
    assert sum(map(is_told, shuffled)) <= 8
    assert is_told([np.arange(1, size + 1)[::wrong] for size in sizes]) == turns


def test_relevant_results_that_stand_last(tmp_path: Path) -> None:
    """Distances in an order that tells nothing: relevance does."""
    shuffled = {q: dict(sorted(held.items())) for q, held in turned(LONG_RUN).items()}
    lists = {q: list(held)[::-1] for q, held in LONG_RUN.items()}
    for name, run in (*sources_of(shuffled, tmp_path).items(), ("lists", lists)):
        told = noticed(LONG_QRELS, run)["relevant results stand last"]
        assert told.severity == "serious", name
        assert "in 0% of all pairs" in told.says
        assert told.count == 30 * 4 * 16
        (serious,) = germane.check(LONG_QRELS, run, "AP").serious
        assert (serious.what, serious.says) == (told.what, told.says), name


@pytest.mark.parametrize(("queries", "told"), [(1, False), (2, False), (3, True)])
def test_few_relevant_results_that_all_stand_last(queries: int, told: bool) -> None:
    """By chance one relevant result of ten is the last in one case of 10, and three in one of 1,000."""
    qrels = {f"q{n}": {"d1": 1} for n in range(queries)}
    run = {q: [*(f"x{i}" for i in range(9)), "d1"] for q in qrels}
    assert ("relevant results stand last" in noticed(qrels, run)) == told
    whats = [one.what for one in germane.check(qrels, run, "AP").serious]
    assert ("relevant results stand last" in whats) == told


def test_the_query_as_its_own_first_result(tmp_path: Path) -> None:
    own = {q: {q: 99.0, **held} for q, held in LONG_RUN.items()}
    runs = sources_of(own, tmp_path) | {"lists": {q: list(held) for q, held in own.items()}}
    judged = {q: {q: 1, **held} for q, held in LONG_QRELS.items()}
    for name, run in runs.items():
        told = noticed(LONG_QRELS, run)["the query is its first result"]
        assert (told.count, told.examples[0]) == (30, "query 'q0' item 'q0'"), name
        assert "of the first 30 is the query itself" in told.says
        assert noticed(LONG_QRELS, run, own="drop") == {}, name
        assert noticed(judged, run) == {}, "it is judged relevant"
    second = {q: {**held, q: 18.5} for q, held in LONG_RUN.items()}
    assert noticed(LONG_QRELS, second) == {}, "it is not the first"


def test_ids_of_the_best_with_each_row_first() -> None:
    """As a nearest-neighbor library gives them where the queries are in the index."""
    ids = (np.arange(40)[:, None] + np.arange(10)) % 40
    relevant = [{(row + 1) % 40, (row + 3) % 40} for row in range(40)]
    told = noticed(relevant, ids)["the query is its first result"]
    (serious,) = germane.check(relevant, ids, "AP@10").serious
    assert (told.count, told.what, told.advice) == (40, serious.what, serious.advice)
    assert "ids[:, 1:]" in told.advice
    assert noticed(relevant, ids[:, 1:]) == {}
    scores = np.tile(np.linspace(1, 0, 10), (40, 1))
    for run in (ids, (scores, ids)):
        assert [one.what for one in germane.check(relevant, run, "AP@10").serious] == [told.what]
        assert told.what in noticed(relevant, run)


def test_numbers_of_rows_that_are_results_by_chance() -> None:
    """Row n has result n first with 1 in 4: 3 of 5 rows are no sign that item n is query n."""
    ids = np.array([[0, 1], [1, 2], [2, 3], [0, 2], [1, 0]])
    relevant = [{1}, {2}, {3}, {2}, {0}]
    scores = np.tile([1.0, 0.5], (5, 1))
    named = [f"q{n}" for n in range(5)]
    judged = {q: {f"d{i}": 1 for i in held} for q, held in zip(named, relevant, strict=True)}
    run = {q: [f"d{i}" for i in held] for q, held in zip(named, ids.tolist(), strict=True)}
    for qrels, one in ((judged, run), (relevant, ids), (relevant, (scores, ids))):
        found = str(germane.check(qrels, one, "AP@2"))
        assert "the query is its first" not in found
        assert "the query among its" not in found
        assert "the query is its first result" not in noticed(qrels, one)


@pytest.mark.parametrize(
    ("queries", "measures", "told"),
    [(10, "AP", True), (9, "AP", False), (10, "P@1", False), (10, "P@1 RR", False)],
)
def test_one_result_per_query(queries: int, measures: str, told: bool) -> None:
    """The results of a loop that keeps the last; or what somebody typed, or wants."""
    some = [f"q{n}" for n in range(queries)]
    run = {q: dict([*LONG_RUN[q].items()][-1:]) for q in some}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        qrels = {q: LONG_QRELS[q] for q in some}
        findings = germane.evaluate(qrels, run, measures).findings
        deep = germane.evaluate(qrels, run, measures, depth=1).findings
    assert [one.what for one in findings] == ["one result per query"] * told
    assert deep == ()


def test_one_result_is_enough_where_nothing_else_is_relevant() -> None:
    qrels = {f"q{n}": {f"d{n}": 1} for n in range(20)}
    right = {q: dict.fromkeys(held, 1.0) for q, held in qrels.items()}
    assert noticed(qrels, right) == {}
    assert germane.check(qrels, right, "AP").serious == ()
    assert "one result per query" in noticed(qrels, right | {"q7": {"d8": 1.0}})


@pytest.mark.parametrize(
    ("grades", "measures", "told"),
    [
        (
            (0.5, 0.2),
            "AP",
            "none of the 2 judgments has a grade of 1 or higher: the highest is 0.5",
        ),
        ((0.5, 0.2), "P(rel=0.5)@5 nDCG@10", ""),
        ((0, 0), "nDCG@10", "none of the 2 judgments has a grade of 1 or higher: the highest is 0"),
        ((-2, -1), "AP", "none of the 2 judgments has a grade of 1 or higher: the highest is -1"),
        (
            (1, 0),
            "AP P(rel=2)@5",
            "none of the 2 judgments has a grade of 2 or higher: the highest is 1",
        ),
        ((2, 0), "AP P(rel=2)@5", ""),
    ],
)
def test_grades_of_which_none_is_relevant(grades: Any, measures: str, told: str) -> None:
    qrels = {"q": dict(zip("ab", grades, strict=True))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        findings = germane.evaluate(qrels, {"q": ["a", "b"]}, measures).findings
    assert [one.says for one in findings] == [told] * bool(told)
    serious = germane.check(qrels, {"q": ["a", "b"]}, measures).serious
    assert [one.says for one in serious] == [told] * bool(told)


def test_swapped_sides_are_the_one_thing_that_is_told(tmp_path: Path) -> None:
    scores = {q: {item: s - 50 for item, s in held.items()} for q, held in LONG_RUN.items()}
    frame = sources_of(scores, tmp_path)["frame"].rename_columns(["query", "item", "grade"])
    for qrels in (scores, frame):  # none is relevant, which is not told
        for name, run in sources_of(LONG_QRELS, tmp_path).items():
            if name == "mapping":  # where grades with decimals are an error
                with pytest.raises(germane.errors.InputError, match="Are the two swapped"):
                    germane.evaluate(qrels, run, "AP")
            else:
                assert list(noticed(qrels, run)) == ["swapped files"], name


def test_an_order_is_borne_out_by_all_batches(tmp_path: Path) -> None:
    """In one batch of two queries, relevance says too little."""
    ascending = {
        q: dict(sorted(held.items(), key=lambda pair: pair[1])) for q, held in MIXED.items()
    }
    for run, expected in ((ascending, ()), (turned(MIXED), ("scores rise as given",))):
        evaluator = germane.Evaluator(LONG_QRELS, "AP")
        for start in range(0, 30, 2):
            evaluator.update({q: run[q] for q in [*run][start : start + 2]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert tuple(one.what for one in evaluator.result().findings) == expected


MIXED = {  # two of four relevant items first, one in the middle and one last
    query: dict(
        zip(
            [held[i] for i in (0, 1, *range(4, 10), 2, *range(10, 20), 3)],
            range(20, 0, -1),
            strict=True,
        )
    )
    for query, held in ((query, [*judged]) for query, judged in LONG_QRELS.items())
}
