"""Evaluator: batches in any order, from threads and processes, are the whole, bit for bit."""

import math
import pickle
import random
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial, reduce
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import germane
from germane import Evaluator
from germane.types import Result
from results import fitting, outcome, same

from strategies import RARE_WORDS, TABLE, WORDS, variants, world

Run = dict[str, dict[str, float]]


def collection(seed: int = 3, queries: int = 40) -> tuple[dict[str, dict[str, float]], Run]:
    """Judgments and scores, many of them tied; some queries are missing and some are not judged."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for number, one in enumerate(world(seed, queries)):
        scores = {item: float(rng.randint(0, 3)) for item in one.ranked}
        if number % 9:
            qrels[f"q{number}"] = one.judged
        if number % 7:
            run[f"q{number}"] = scores
    return qrels, run


QRELS, RUN = collection()
CHOICES: list[dict[str, Any]] = [
    {name: word} for name, words in (WORDS | RARE_WORDS).items() for word in words
]
CHOICES += [{"depth": 3}, {"min_score": 1.0}, {"digits": 2}, {"query_digits": 1}]
CHOICES += [{"depth": 2, "unjudged": "remove", "ties": ties} for ties in ("given", "best", "worst")]


def parts(run: Run, seed: int = 0, most: int = 9) -> list[Run]:
    """Batches of some queries, in any order."""
    rng = random.Random(seed)
    queries = rng.sample(list(run), len(run))
    out = []
    while queries:
        size = rng.randint(1, most)
        out.append({query: run[query] for query in queries[:size]})
        queries = queries[size:]
    return out


def updated(batches: list[Any], *given: Any, **choices: Any) -> Evaluator:
    evaluator = Evaluator(*given, **choices)
    for batch in batches:
        evaluator.update(batch)
    return evaluator


# --- Parts are the whole ---------------------------------------------------------------------------


def compared(measures: list[germane.types.Measure], seeds: range, **choices: Any) -> bool:
    """Is there a result? It must then be that of the parts, and otherwise the same error."""
    allowed = fitting(measures, choices.get("ties"))
    whole = outcome(lambda: germane.evaluate(QRELS, RUN, allowed, **choices))
    for seed in seeds:
        batches = parts(RUN, seed)
        here = outcome(partial(in_batches, batches, allowed, choices))
        if isinstance(whole, str) or isinstance(here, str):
            assert whole == here
        else:
            same(whole, here)
    return not isinstance(whole, str)


def in_batches(batches: list[Run], measures: list[germane.types.Measure], choices: Any) -> Result:
    return updated(batches, QRELS, measures, **choices).result()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_parts_are_the_whole_for_every_measure(row: Any) -> None:
    assert compared(list(variants(row)), range(2))


@pytest.mark.slow
@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_parts_are_the_whole_under_every_convention(choices: dict[str, Any]) -> None:
    errors = ("missing", "no_relevant", "unknown", "empty", "no_hit")
    refused = [{"grades": "binary"}, {"ranks": "places"}]  # which are for ranks without scores
    refused += [{name: "error"} for name in errors]
    got = compared([germane.types.Measure(row.name) for row in TABLE], range(2), **choices)
    assert got != (choices in refused)


@pytest.mark.parametrize("dialect", list(germane.dialects()))
def test_parts_are_the_whole_in_every_dialect(dialect: str) -> None:
    def whole() -> Result:
        return germane.evaluate(QRELS, RUN, "AP P@2 RR", dialect=dialect)

    def in_parts() -> Result:
        evaluator = updated(parts(RUN), QRELS, "AP P@2 RR", dialect=dialect)
        return pickle.loads(pickle.dumps(evaluator)).result()  # type: ignore[no-any-return]

    one, other = outcome(whole), outcome(in_parts)
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
    else:
        same(one, other)


def test_reduced_batches_are_added_where_nothing_of_the_run_is() -> None:
    """What ``reduce`` makes is small, says nothing of the judgments, and changes nothing by itself."""
    worker, whole = Evaluator(QRELS, "AP nDCG@10"), Evaluator(QRELS, "AP nDCG@10")
    for batch in parts(RUN):
        reduced = pickle.dumps(worker.reduce(batch))
        assert b"u1" not in reduced
        whole.add(pickle.loads(reduced))
    whole.add(worker.reduce({}))
    same(whole.result(), germane.evaluate(QRELS, RUN, "AP nDCG@10"))
    with pytest.raises(germane.GermaneError, match="there is no batch yet"):
        worker.result()


def test_a_batch_without_hits_is_not_odd() -> None:
    """Ids that nothing of the judgments has are told of where they are all that there is."""
    qrels = {f"q{n}": {f"{n}": 1} for n in range(40)}
    run = {f"q{n}": {f"{n}" if n % 2 else f"x{n}": 1.0} for n in range(40)}
    evaluator = updated([{query: run[query]} for query in run], qrels, "AP")
    assert "nothing judged was found" not in {one.what for one in evaluator.result().findings}
    none = updated([{query: run[query]} for query in list(run)[::2]], qrels, "AP")
    advice = {one.what: one.advice for one in none.result().findings}["nothing judged was found"]
    assert advice.startswith("The run's ids have the prefix 'x'")


# --- Batches of every kind -------------------------------------------------------------------------


def lines(run: Run) -> str:
    return "".join(
        f"{query} Q0 {item} 0 {score!r} tag\n"
        for query, got in run.items()
        for item, score in got.items()
    )


def as_table(run: Run) -> pa.Table:
    rows = [(query, item, score) for query, got in run.items() for item, score in got.items()]
    query, item, score = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table({
        "query_id": pa.array(query, pa.string()),
        "doc_id": pa.array(item, pa.string()),
        "score": pa.array(score, pa.float64()),
    })  # fmt: skip


def as_trec(run: Run, path: Path) -> Path:
    path.write_text(lines(run), "utf-8")
    return path


def as_parquet(run: Run, path: Path) -> Path:
    pa.parquet.write_table(as_table(run), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


KINDS: dict[str, Callable[[Run, Path], Any]] = {
    "mapping": lambda run, path: run,
    "table": lambda run, path: as_table(run),
    "categories": lambda run, path: as_table(run).set_column(
        0, "query_id", as_table(run).column(0).dictionary_encode()
    ),
    "TREC file": as_trec,
    "Parquet file": as_parquet,
    "read": lambda run, path: germane.read_run(as_trec(run, path)),
}
FULL = {query: got for query, got in RUN.items() if got}  # rows cannot say that a list is empty


@pytest.mark.parametrize("judged", ["mapping", "file", "frame"])
@pytest.mark.parametrize("kind", [*KINDS, "any of them"])
def test_batches_of_every_kind(kind: str, judged: str, tmp_path: Path) -> None:
    chosen = list(KINDS.values()) if kind == "any of them" else [KINDS[kind]]
    batches = [
        chosen[i % len(chosen)](part, tmp_path / f"{i}.run") for i, part in enumerate(parts(FULL))
    ]
    qrels: Any = QRELS
    if judged != "mapping":
        path = tmp_path / "qrels.txt"
        rows = [(q, item, grade) for q, one in QRELS.items() for item, grade in one.items()]
        path.write_text("".join(f"{q} 0 {item} {grade!r}\n" for q, item, grade in rows))
        qrels = path
        if judged == "frame":
            query, item, grade = (list(column) for column in zip(*rows, strict=True))
            qrels = pa.table({"query": query, "item": item, "grade": grade})
    got = updated(batches, qrels, "AP nDCG@5 bpref P@3", unjudged="remove").result()
    same(germane.evaluate(QRELS, FULL, "AP nDCG@5 bpref P@3", unjudged="remove"), got)


def test_ranked_lists() -> None:
    lists = {query: list(got) for query, got in RUN.items()}
    batches = [{query: lists[query] for query in part} for part in parts(RUN)]
    got = updated(batches, QRELS, "AP RR").result()
    same(germane.evaluate(QRELS, lists, "AP RR"), got)
    assert got.policy.ties == "given"


def test_ids_of_the_best_as_a_model_returns_them() -> None:
    """Rows of an array beside the ids of their queries."""
    best = np.array([[3, 1, 2], [9, 8, 7], [1, 9, 3], [1, 2, 3]])
    queries, qrels = [10, 20, 30, 40], {10: [1], 20: [7, 9], 30: [3], 40: [8]}
    evaluator = Evaluator(qrels, "AP@3")
    for at in range(4):
        evaluator.update(dict(zip(queries[at : at + 1], best[at : at + 1], strict=True)))
    assert evaluator.result()["AP@3"].per_query == {
        10: 1 / 2, 20: (1 + 2 / 3) / 2, 30: 1 / 3, 40: 0
    }  # fmt: skip


def test_lists_beside_scores_are_refused() -> None:
    evaluator = updated([{"q1": {"a": 1.0}}], {"q1": ["a"], "q2": ["b"]}, "AP")
    with pytest.raises(germane.errors.PolicyError, match=r"batch 2: .*ties=given.*ties=trec"):
        evaluator.update({"q2": ["b"]})
    chosen = updated(
        [{"q1": {"a": 1.0}}, {"q2": ["b"]}], {"q1": ["a"], "q2": ["b"]}, "AP", ties="trec"
    )
    assert chosen.result()["AP"].mean == 1


def test_nothing_in_a_batch_is_judged() -> None:
    evaluator = updated([{"x": {"a": 1.0}}, as_table({"y": {"a": 1.0}})], {"q": ["a"]}, "AP")
    with pytest.raises(germane.errors.CoverageError, match="run: 'x', 'y'; qrels: 'q'"):
        evaluator.result()
    evaluator.update({"q": {"b": 2.0, "a": 1.0}})
    assert evaluator.result()["AP"].mean == 1 / 2
    assert evaluator.result().counts.unjudged_queries == 2


@pytest.mark.parametrize("empty", [{}, as_table({})], ids=["mapping", "table"])
def test_an_empty_batch_adds_nothing(empty: Any) -> None:
    """A partition of a distributed run may have no rows."""
    evaluator = updated([empty, {"q": {"a": 1.0}}, empty], {"q": ["a"]}, "AP")
    assert evaluator.result()["AP"].mean == 1
    with pytest.raises(germane.errors.EmptyError, match="all batches so far were empty"):
        updated([empty], {"q": ["a"]}, "AP").result()


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    """Somebody meant to write something."""
    (tmp_path / "empty.run").touch()
    with pytest.raises(germane.errors.EmptyError, match=r"empty\.run"):
        updated([tmp_path / "empty.run"], {"q": ["a"]}, "AP")


# --- Queries that arrive twice ---------------------------------------------------------------------

ONE = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}
LIKE_ONE = {"q1": {"a": 30.0, "b": 20.0, "c": 10.0}}
OTHER = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}}
LONGER = {"q1": {**ONE["q1"], "d": 0.0}}
BOTH = {"q1": ["a"], "q2": ["b"]}


def test_a_query_that_arrives_twice_is_an_error() -> None:
    evaluator = updated([ONE], BOTH, "AP")
    before = evaluator.result()
    with pytest.raises(germane.errors.DuplicateError, match="batch 2: query 'q1' arrived before"):
        evaluator.update({**ONE, "q2": {"b": 1.0}})
    same(before, evaluator.result())
    evaluator.update({"q2": {"b": 1.0}})
    assert evaluator.result()["AP"].per_query == {"q1": 1, "q2": 1}


@pytest.mark.parametrize("again", [ONE, LIKE_ONE], ids=["copy", "same ranks"])
def test_copies_count_once(again: Run) -> None:
    for twice in ("same", "first"):
        evaluator = updated([ONE, {**again, "q2": {"b": 1.0}}], BOTH, "AP NumRet", twice=twice)
        same(germane.evaluate(BOTH, {**ONE, "q2": {"b": 1.0}}, "AP NumRet"), evaluator.result())


@pytest.mark.parametrize("again", [OTHER, LONGER], ids=["other ranks", "more results"])
def test_what_is_not_the_same_is_refused(again: Run) -> None:
    evaluator = updated([ONE, {"q2": {"b": 1.0}}], BOTH, "AP NumRet", twice="same")
    with pytest.raises(
        germane.errors.DuplicateError, match="query 'q1' arrived before with different results"
    ):
        evaluator.update(again)
    first = updated([ONE, again], BOTH, "AP NumRet", twice="first")
    assert first.result()["NumRet"].mean == 3


def test_twice_is_a_word() -> None:
    with pytest.raises(
        germane.errors.PolicyError, match=r"twice takes error, same or first; got 'frist'. Did"
    ):
        Evaluator(BOTH, "AP", twice="frist")  # type: ignore[arg-type]


def test_halves_of_a_query_are_never_a_number(tmp_path: Path) -> None:
    """A query whose rows stand in two batches is refused under the choice for padded samplers."""
    halves = [
        as_trec({"q1": {"a": 2.0}}, tmp_path / "1"),
        as_trec({"q1": {"b": 1.0}}, tmp_path / "2"),
    ]
    for twice in ("error", "same"):
        with pytest.raises(germane.errors.DuplicateError, match="'q1' arrived before"):
            updated(halves, {"q1": ["b"]}, "AP", twice=twice)


# --- Many evaluators -------------------------------------------------------------------------------


def test_merging_is_adding() -> None:
    whole = germane.evaluate(QRELS, RUN, "AP nDCG@5")
    for seed in range(3):
        some = [updated([part], QRELS, "AP nDCG@5") for part in parts(RUN, seed)]
        same(whole, reduce(Evaluator.merge, [Evaluator(QRELS, "AP nDCG@5"), *some]).result())
        same(whole, reduce(Evaluator.merge, some[::-1]).result())


def test_a_merge_that_fails_changes_nothing() -> None:
    one, other = updated([ONE], BOTH, "AP"), updated([ONE, {"q2": {"b": 1.0}}], BOTH, "AP")
    with pytest.raises(germane.errors.DuplicateError, match="query 'q1' arrived before"):
        one.merge(other)
    assert one.result().counts.answered == 1
    with pytest.raises(germane.errors.DuplicateError):
        one.merge(one)


DIFFERENT: dict[str, tuple[Callable[[], Evaluator], type[germane.GermaneError], str]] = {
    "measures": (lambda: Evaluator(BOTH, "AP RR"), germane.errors.PolicyError, r"measures: \['AP'\]"),
    "a convention": (lambda: Evaluator(BOTH, "AP", depth=3), germane.errors.PolicyError, "depth: None and 3"),
    "the order of ties": (
        lambda: updated([{"q2": ["b"]}], BOTH, "AP"), germane.errors.PolicyError, "ties=given",
    ),
    "twice": (lambda: Evaluator(BOTH, "AP", twice="first"), germane.errors.PolicyError, "twice: 'error'"),
    "dialect": (lambda: Evaluator(BOTH, "AP", dialect="ranx"), germane.errors.PolicyError, "dialect"),
    "queries": (
        lambda: Evaluator({**BOTH, "q3": ["a"]}, "AP"), germane.errors.InputError, "in only one of them: 'q3'",
    ),
    "the order of queries": (
        lambda: Evaluator(dict([*BOTH.items()][::-1]), "AP"), germane.errors.InputError, "different orders",
    ),
    "items": (
        lambda: Evaluator({"q1": ["a"], "q2": ["c"]}, "AP"), germane.errors.InputError, "differently: 'q2'",
    ),
    "grades": (
        lambda: Evaluator({"q1": {"a": 1}, "q2": {"b": 2}}, "AP"), germane.errors.InputError, "differently: 'q2'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_evaluators_that_differ_are_not_merged(what: str) -> None:
    make, error, says = DIFFERENT[what]
    with pytest.raises(error, match=says):
        updated([ONE], BOTH, "AP").merge(make())


def test_only_evaluators_are_merged() -> None:
    with pytest.raises(germane.errors.InputError, match=r"merge takes an Evaluator; got \{\}"):
        Evaluator(BOTH, "AP").merge({})  # type: ignore[arg-type]


def test_qrels_that_were_read_apart_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 a 1\nq2 0 b 1\n")
    one, other = updated([ONE], path, "AP"), updated([{"q2": {"b": 1.0}}], path, "AP")
    assert one.merge(other).result()["AP"].mean == 1


@pytest.mark.slow
def test_threads_share_one() -> None:
    """Every batch is added once, whichever thread comes first."""
    qrels, run = collection(5, 400)
    whole = germane.evaluate(qrels, run, "AP nDCG@5 P@3")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for seed in range(5):
            evaluator = Evaluator(qrels, "AP nDCG@5 P@3")
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(evaluator.update, parts(run, seed, 3)))
            same(whole, evaluator.result())
    finally:
        sys.setswitchinterval(interval)


def evaluated_apart(evaluator: Evaluator, part: Run) -> Evaluator:
    evaluator.update(part)
    return evaluator


@pytest.mark.slow
def test_processes() -> None:
    """Each gets an Evaluator, and hands it back with its batch."""
    start = Evaluator(QRELS, "AP nDCG@5")
    batches = parts(RUN)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        some = list(pool.map(evaluated_apart, [start] * len(batches), batches))
    same(germane.evaluate(QRELS, RUN, "AP nDCG@5"), reduce(Evaluator.merge, some, start).result())


# --- Size ------------------------------------------------------------------------------------------


def many(queries: int, judged: int) -> tuple[dict[str, dict[str, int]], Run]:
    names = [f"query-{q:07}" for q in range(queries)]
    items = [f"item-{i:09}" for i in range(judged)]
    return (
        {query: dict.fromkeys(items, 1) for query in names},
        {query: {item: float(i) for i, item in enumerate(items)} for query in names},
    )


def test_an_evaluator_is_small() -> None:
    """What a process sends: below 100 bytes a judged item that was found, whatever else was retrieved."""
    qrels, run = many(500, 20)
    evaluator = Evaluator(qrels, "AP")
    empty = len(pickle.dumps(evaluator))
    for query, got in run.items():
        evaluator.update({query: {**got, **{f"unjudged {i}": -float(i) for i in range(100)}}})
    full = len(pickle.dumps(evaluator))
    assert full < 100 * 500 * 20
    assert full - empty < 50 * 500 * 20
    evaluator.result()
    assert len(pickle.dumps(evaluator)) <= full, "what was computed meanwhile is not sent"


def test_judgments_of_a_file_are_as_small(tmp_path: Path) -> None:
    """Whatever they were compared with: text of a file, or columns."""
    qrels, run = many(500, 20)
    lines = (f"{query} 0 {item} 1\n" for query, items in qrels.items() for item in items)
    (tmp_path / "qrels.txt").write_text("".join(lines))
    evaluator = Evaluator(tmp_path / "qrels.txt", "AP")
    rows = [(query, *one) for query, items in run.items() for one in items.items()]
    batch = pa.table(dict(zip(("query", "item", "score"), zip(*rows, strict=True), strict=True)))
    evaluator.update(batch)
    sent = pickle.dumps(evaluator)
    assert len(sent) < 100 * 500 * 20
    received = pickle.loads(sent)
    assert list(received.qrels.items) == list(evaluator.qrels.items)
    again = Evaluator(received.qrels, "AP")
    again.update(batch)
    for other in (received, again):
        assert other.result()["AP"].values.tobytes() == evaluator.result()["AP"].values.tobytes()


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (Evaluator({"q": {"a": 1, "b": 2}}, "AP RR"), "measures"),
        (Evaluator({"q": {"a": 1, "b": 2}}, "AP", ties="best"), "ties"),
        (Evaluator({"q": {"a": 1, "b": 1}}, "AP"), "qrels"),
        (Evaluator({"r": {"a": 1, "b": 2}}, "AP"), "qrels"),
        (Evaluator({"q": {"a": 1, "c": 2}}, "AP"), "qrels"),
        (Evaluator({"q": {"a": 1, "b": 2}}, "map", dialect="trec_eval"), "dialect"),
    ],
)
def test_a_batch_that_was_reduced_for_something_else(other: Evaluator, what: str) -> None:
    mine = Evaluator({"q": {"a": 1, "b": 2}}, "AP", ties="trec")
    reduced = other.reduce({next(iter(other.qrels.queries)): {"a": 0.5, "c": 0.5}})
    with pytest.raises(germane.errors.PolicyError, match=f"an Evaluator that differs in {what}: "):
        mine.add(reduced)
    mine.add(pickle.loads(pickle.dumps(Evaluator(mine.qrels, "AP"))).reduce({"q": {"a": 1}}))
    assert mine.result()["AP"].mean == 0.5


def test_only_what_reduce_made_is_added() -> None:
    with pytest.raises(germane.errors.InputError, match="add takes what reduce returned; got 'x'"):
        Evaluator({"q": ["d"]}, "AP").add("x")  # type: ignore[arg-type]


def test_small_batches_look_up_their_own_queries_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that an epoch of batches costs as much as one reading, however many judgments there are."""
    looked_at: list[int] = []
    some = germane.types.Qrels.some

    def counted(self: germane.types.Qrels, places: Any) -> germane.types.Qrels:
        looked_at.append(len(places))
        return some(self, places)

    monkeypatch.setattr(germane.types.Qrels, "some", counted)
    for kind in ("mapping", "table"):
        looked_at.clear()
        updated([KINDS[kind](part, Path()) for part in parts(FULL)], QRELS, "AP")
        assert sum(looked_at) == len(FULL.keys() & QRELS.keys())


# --- Errors ----------------------------------------------------------------------------------------


def wrong_batches(folder: Path) -> Iterator[tuple[Any, str | None, str]]:
    """A batch, the name it is given, and what the error says."""
    table = as_table(FULL)
    yield table.drop_columns(["score"]), None, "^batch 2: run: "
    yield table.drop_columns(["doc_id"]), "partition 17", "^partition 17: run: "
    text = pa.array(["x"] * table.num_rows)
    yield table.set_column(2, "score", text), "partition 17", "^partition 17: run, column 'score'"
    yield (
        {"q1": {"a": math.nan}},
        None,
        "^batch 2: run, query 'q1', item 'a': a score must be a finite",
    )
    path = folder / "wrong.parquet"
    pa.parquet.write_table(table.rename_columns(["query_id", "thing", "score"]), path)
    yield path, None, f"^{path}: "
    yield path, "partition 17", f"^partition 17: {path}: "
    yield 7, None, "^batch 2: a run is the path"


def test_errors_name_the_batch_and_leave_it_out(tmp_path: Path) -> None:
    evaluator = updated([ONE], {**QRELS, **BOTH}, "AP")
    before = evaluator.result()
    for batch, name, says in wrong_batches(tmp_path):
        with pytest.raises(germane.GermaneError, match=says):
            evaluator.update(batch, name=name)
        same(before, evaluator.result())


def test_flat_arrays_have_no_queries() -> None:
    with pytest.raises(germane.errors.InputError, match="group= is for a single flat array"):
        Evaluator(BOTH, "AP", group=[1, 2])


def test_it_says_what_it_has() -> None:
    evaluator = Evaluator(BOTH, "AP")
    assert repr(evaluator) == "<Evaluator: 0 batches, 0 judged queries>"
    evaluator.update(ONE)
    assert repr(evaluator) == "<Evaluator: 1 batches, 1 judged queries>"


def test_the_recipe_of_the_documents_is_the_example() -> None:
    """``tests/test_distributed.py`` runs it where PyTorch is installed."""
    root = Path(__file__).parents[1]
    (recipe,) = re.findall(
        r"^```py\n(.*?)^```", (root / "docs/scale.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert recipe in (root / "examples/distributed.py").read_text("utf-8")
