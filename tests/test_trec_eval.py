"""germane against what trec_eval 9.0 (through pytrec_eval) and 10.0 answered.

Where they differ, ``trec_names.EXCEPTIONS`` says why and what they answer; the oracle is held to
the same table in test_oracle_itself.
"""

from functools import cache
from math import exp, nan
from typing import Any

import pytest

import germane
from germane.types import Result

import oracle
from trec_names import (
    EXCEPTIONS,
    NINE,
    TEN,
    TEN_EXCEPTIONS,
    TEN_PARAMETERS,
    TREC_10_NAMES,
    TREC_NAMES,
    at_level,
    floored_log,
)

TEN_NAMES = {**TREC_10_NAMES, **TEN_PARAMETERS}


@pytest.fixture(scope="module", params=["dicts", "files"])
def nine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Every measure at both levels, from dicts and from files."""
    measures = [at_level(name, level) for name in TREC_NAMES.values() for level in (1, 2)]
    qrels, run = NINE["qrels"], NINE["run"]
    if request.param == "files":
        folder = tmp_path_factory.mktemp("nine")
        lines = (f"{q} 0 {d} {g}\n" for q, judged in qrels.items() for d, g in judged.items())
        (folder / "qrels").write_text("".join(lines), "utf-8")
        lines = (f"{q} Q0 {d} 1 {s!r} x\n" for q, got in run.items() for d, s in got.items())
        (folder / "run").write_text("".join(lines), "utf-8")
        qrels, run = folder / "qrels", folder / "run"
    return germane.evaluate(qrels, run, measures)


@cache
def ten() -> Result:
    return germane.evaluate(TEN["qrels"], TEN["run"], list(TEN_NAMES.values()))


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("trec_name", TREC_NAMES)
def test_agrees_with_pytrec_eval(trec_name: str, level: int, nine: Result) -> None:
    """To 1e-9 for every query, but for what EXCEPTIONS says."""
    column = NINE["measures"].index(trec_name)
    _, rule = EXCEPTIONS.get(trec_name, ("", lambda value, *_: value))
    recorded = NINE["values by relevance_level"][str(level)]
    values = nine[at_level(TREC_NAMES[trec_name], level)].per_query
    assert values.keys() == recorded.keys() == NINE["qrels"].keys()
    for query, row in recorded.items():
        judged, ranked = NINE["qrels"][query], oracle.trec_order(NINE["run"][query])
        expected = nan if row[column] is None else row[column]
        said = rule(values[query], judged, ranked, level)
        assert said == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), query


@pytest.mark.parametrize("trec_name", TEN_NAMES)
def test_agrees_with_trec_eval_10(trec_name: str) -> None:
    """To the four decimals it prints, but for what TEN_EXCEPTIONS says."""
    _, rule = TEN_EXCEPTIONS.get(trec_name, ("", lambda value, *_: value))
    values = ten()[TEN_NAMES[trec_name]].per_query
    for query, recorded in TEN["values"].items():
        judged, ranked = TEN["qrels"][query], oracle.trec_order(TEN["run"].get(query, {}))
        said = rule(values[query], judged, ranked, 1)
        assert said == pytest.approx(recorded[trec_name], abs=0.50001e-4), query


@pytest.mark.parametrize(
    ("table", "names", "data", "levels"),
    [(EXCEPTIONS, TREC_NAMES, NINE, (1, 2)), (TEN_EXCEPTIONS, TEN_NAMES, TEN, (1,))],
    ids=["9", "10"],
)
def test_every_exception_is_really_one(
    table: dict[str, Any], names: dict[str, str], data: dict[str, Any], levels: tuple[int, ...]
) -> None:
    """A name in the table for which the two never differ would hide the next difference."""
    for name, (_, rule) in table.items():
        if name.startswith("iprec_at_recall_") and name != "iprec_at_recall_0.00":
            continue  # one rule for every level of recall; it speaks where 0 items are needed
        differing = []
        for level in levels:
            measure = at_level(names[name], level)
            values = germane.evaluate(data["qrels"], data["run"], measure)[measure].per_query
            for query, value in values.items():
                ranked = oracle.trec_order(data["run"].get(query, {}))
                if rule(value, data["qrels"][query], ranked, level) != value:
                    differing.append(query)
        assert differing, name


def test_geometric_means(nine: Result) -> None:
    """trec_eval's gm_map is the exponential of the mean of what it says per query."""
    column = NINE["measures"].index("gm_map")
    logs = [row[column] for row in NINE["values by relevance_level"]["1"].values()]
    mean = nine["AP(norm=R,mean=geometric)"].mean
    assert mean == pytest.approx(exp(sum(logs) / len(logs)), rel=1e-9)
    floored = [floored_log(value) for value in nine["AP(norm=R)"].per_query.values()]
    assert mean == pytest.approx(exp(sum(floored) / len(floored)), rel=1e-9)


@pytest.mark.parametrize("trec_name", ["map", "P_10", "ndcg", "recip_rank", "num_rel_ret"])
def test_totals(trec_name: str, nine: Result) -> None:
    """Means over all judged queries, sums for counts: trec_eval -c."""
    column = NINE["measures"].index(trec_name)
    recorded = [row[column] for row in NINE["values by relevance_level"]["1"].values()]
    total = sum(recorded) if trec_name.startswith("num_") else sum(recorded) / len(recorded)
    assert nine[TREC_NAMES[trec_name]].mean == pytest.approx(total, rel=1e-9)
