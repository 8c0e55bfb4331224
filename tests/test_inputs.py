"""Every input gives the numbers of the same dicts, and those of the oracle on random collections."""

import tempfile
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import germane

import oracle
from inputs import INPUTS, TOY_QRELS, TOY_RUN, Qrels, Scores, all_kinds
from strategies import TABLE, collections, one_of_each, oracle_parameters

MEASURES = "AP AP(norm=found)@2 nDCG P@2 R@3 RR bpref infAP Judged@3 NumRet RBP Rprec"
KINDS = sorted({one.kind for one in INPUTS.values()}, key=lambda kind: kind.__name__)


def test_no_kind_of_run_is_forgotten() -> None:
    assert set(KINDS) == all_kinds()


@pytest.mark.parametrize("name", INPUTS)
def test_every_input(name: str, tmp_path: Path) -> None:
    one = INPUTS[name]
    run = one.prepare(TOY_QRELS, TOY_RUN)
    assert issubclass(one.make(TOY_QRELS, run, tmp_path).kind, one.kind)
    given = one.make(TOY_QRELS, run, tmp_path)  # made anew: some inputs can be read once
    found = given.per_query(MEASURES)
    expected = germane.evaluate(TOY_QRELS, run, MEASURES)
    for measure, values in found.items():
        # an array has a row for a query that nobody judged
        values = {query: value for query, value in values.items() if query in TOY_QRELS}
        assert values == expected[measure].per_query


def compute_expected(measure: germane.types.Measure, qrels: Qrels, run: Scores) -> Iterator[float]:
    for query, judged in qrels.items():
        given = measure.name, oracle_parameters(measure), measure.k
        if query in run:
            yield oracle.value(*given, oracle.trec_order(run[query]), judged)
        else:
            yield oracle.missing_value(*given, judged)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), collection=collections(most=6), measures=one_of_each(TABLE))
def test_every_kind_against_the_oracle(
    kind: Any, data: st.DataObject, collection: tuple[Qrels, Scores], measures: Any
) -> None:
    names = [
        name
        for name, one in INPUTS.items()
        if one.kind is kind and "a part of" not in name  # which holds a table twice
    ]
    one = INPUTS[data.draw(st.sampled_from(names))]
    qrels, run = collection
    run = {query: got for query, got in run.items() if got}  # rows hold no empty query
    assume(any(qrels[query].keys() & got.keys() for query, got in run.items()))
    run = one.prepare(qrels, run)
    with tempfile.TemporaryDirectory() as folder:
        try:
            given = one.make(qrels, run, Path(folder))
        except pytest.skip.Exception:  # its library is not installed
            assume(False)
        if kind.__name__ == "TopIds":  # refused if they could be scores; test_arrays looks at that
            assume(getattr(given.qrels, "shape", None) != getattr(given.run, "shape", ()))
        found = given.per_query(measures, empty="missing")  # arrays have a row for every query
    for measure in measures:
        pairs = zip(qrels, compute_expected(measure, qrels, run), strict=True)
        right = {query: value for query, value in pairs if not isnan(value)}  # nan: left out
        assert found[str(measure)] == pytest.approx(right, rel=1e-12, abs=1e-12), measure
