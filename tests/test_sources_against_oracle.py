"""Every source against the oracle: random collections, every measure, whatever form they are given in."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import germane
from germane.measures import TABLE
from run_kinds import KINDS, kind_of

import array_doors
import column_doors
import oracle
from strategies import Judgments, Scores, collections, one_of_each, oracle_parameters

Run = dict[str, Scores]
Given = tuple[Any, Any, dict[str, Any]]
Make = Callable[[dict[str, Judgments], Run, Path], Given]


def lines(run: Run) -> str:
    rows = ((q, item, score) for q, got in run.items() for item, score in got.items())
    return "".join(f"{q} Q0 {item} 1 {score!r} tag\n" for q, item, score in rows)


def stored(run: Run, folder: Path) -> Path:
    path = folder / "toy.run"
    path.write_text(lines(run), "utf-8")
    return path


def table(run: Run) -> Any:
    return column_doors.table([(q, i, s) for q, got in run.items() for i, s in got.items()])


def ranked(run: Run) -> dict[str, list[str]]:
    return {query: oracle.trec_order(got) for query, got in run.items()}


DOORS: dict[str, dict[str, Make]] = {
    "scores": {"dicts": lambda qrels, run, folder: (qrels, run, {})},
    "lists": {"lists": lambda qrels, run, folder: (qrels, ranked(run), {})},
    "file": {"TREC": lambda qrels, run, folder: (qrels, stored(run, folder), {})},
    "read": {"TREC": lambda qrels, run, folder: (qrels, germane.read_run(stored(run, folder)), {})},
    "columns": {
        name: lambda qrels, run, folder, make=make: (qrels, make(table(run), folder), {})
        for name, make in column_doors.DOORS.items()
        if not name.startswith("a part of")  # which holds a table twice
    },
    **{
        source: {
            name: lambda qrels, run, folder, make=make: make(array_doors.Collection(qrels, run))
            for name, make in doors.items()
        }
        for source, doors in array_doors.DOORS.items()
    },
}
"""Qrels and a run in every form: those of numbers from 0 are of the queries and items in order."""


def test_no_source_is_forgotten() -> None:
    assert KINDS.keys() == DOORS.keys()


def complete(qrels: dict[str, Judgments], run: Run) -> Run:
    """Every item retrieved for every query, as it is by vectors; scores small and whole."""
    items = {item for side in (qrels, run) for got in side.values() for item in got}
    steps = {
        score: at for at, score in enumerate(sorted({s for r in run.values() for s in r.values()}))
    }
    return {q: {i: float(steps.get(run.get(q, {}).get(i), -1)) for i in items} for q in qrels}  # type: ignore[arg-type]


def expected(measure: germane.Measure, qrels: dict[str, Judgments], run: Run) -> Iterator[float]:
    for query, judged in qrels.items():
        order = oracle.trec_order(run.get(query, {}))
        yield oracle.value(measure.name, oracle_parameters(measure), measure.k, order, judged)


@pytest.mark.parametrize("source", DOORS)
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), collection=collections(most=6), measures=one_of_each(TABLE))
def test_every_source(
    source: str, data: st.DataObject, collection: tuple[dict[str, Judgments], Run], measures: Any
) -> None:
    door = data.draw(st.sampled_from(sorted(DOORS[source])))
    qrels, run = collection
    run = {query: got for query, got in run.items() if got}  # rows hold no empty query
    assume(any(qrels[query].keys() & got.keys() for query, got in run.items()))
    if source == "embeddings":
        run = complete(qrels, run)
    with tempfile.TemporaryDirectory() as folder:
        try:
            judged, retrieved, more = DOORS[source][door](qrels, run, Path(folder))
        except pytest.skip.Exception:  # its library is not installed; the other doors are looked at
            assume(False)
        if source == "top-k ids":  # refused where they could be scores as well: a test of its own
            assume(getattr(judged, "shape", None) != retrieved.shape)
        assert issubclass(kind_of(judged, retrieved, **more), KINDS[source])
        judged, retrieved, more = DOORS[source][door](
            qrels, run, Path(folder)
        )  # some are read once
        result = germane.evaluate(judged, retrieved, measures, **more)
    names = dict(enumerate(qrels))  # the run has no query that the qrels lack
    for measure in measures:
        found = {names.get(query, query): v for query, v in result[measure].per_query.items()}  # type: ignore[call-overload]
        right = dict(zip(qrels, expected(measure, qrels, run), strict=True))
        assert found == pytest.approx(right, rel=1e-12, abs=1e-12), measure
