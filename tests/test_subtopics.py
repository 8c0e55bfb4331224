"""Measures of subtopics: the oracle, recorded answers of pyndeval, every source, and what is refused."""

import io
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import germane
from germane import GermaneWarning
from germane.errors import DuplicateError, FormatError, GradeError, InputError, MeasureError
from germane.types import Measure

import oracle
from strategies import ALL, ITEMS, collections, one_of_each, oracle_parameters, with_subtopics

SUBTOPICS = tuple(row for row in ALL if row.subtopics)
ANSWERS = json.loads(Path(__file__).with_name("data").joinpath("subtopics.json").read_text("utf-8"))

Rows = list[tuple[str, str, str, float]]  # query, subtopic, item, grade


# ------------------------------------------------------------------------------------ the oracle

Nested = dict[str, dict[str, dict[str, float]]]
GRADES = (-1.0, 0.0, 0.5, 1.0, 1.0, 2.0, 4.0)


@st.composite
def nested(draw: st.DrawFn, most: int = 5) -> dict[str, dict[str, float]]:
    held = st.dictionaries(st.sampled_from("stuv"), st.sampled_from(GRADES), max_size=4)
    return draw(st.dictionaries(st.sampled_from(ITEMS), held, min_size=1, max_size=most))


def same(found: float, expected: float) -> bool:
    both_open = math.isnan(found) and math.isnan(expected)
    return both_open or math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@given(
    st.lists(nested(), min_size=1, max_size=3),
    st.lists(st.sampled_from(ITEMS), unique=True, max_size=8),
    one_of_each(SUBTOPICS),
)
def test_measures_of_subtopics_against_the_oracle(
    several: list[dict[str, dict[str, float]]], ranked: list[str], measures: tuple[Measure, ...]
) -> None:
    qrels = {f"q{i}": judged for i, judged in enumerate(several)}
    result = germane.evaluate(qrels, dict.fromkeys(qrels, ranked), measures)
    for measure in measures:
        for query, judged in qrels.items():
            expected = oracle.value(
                measure.name, oracle_parameters(measure), measure.k, ranked, judged
            )
            found = result[measure].per_query[query]
            assert same(found, expected), (measure, query, found, expected)


@pytest.mark.slow
@given(collections(), one_of_each(ALL), st.one_of(st.none(), st.integers(1, 5)))
def test_every_measure_of_judgments_with_subtopics(
    collection: tuple[dict[str, Any], dict[str, Any]],
    measures: tuple[Measure, ...],
    depth: int | None,
) -> None:
    """Measures that look at no subtopics take an item's highest grade."""
    flat, run = collection
    qrels = {query: with_subtopics(judged) for query, judged in flat.items()}
    for ties, arrange in (("trec", oracle.trec_order), ("given", oracle.given_order)):
        relevant = "listed" if ties == "given" else "judged"
        result = germane.evaluate(qrels, run, measures, ties=ties, depth=depth, relevant=relevant)  # type: ignore[arg-type]
        for query, judged in qrels.items():
            scores = run.get(query, {})
            ranked = arrange(scores)[:depth]
            listed = {item: held for item, held in judged.items() if item in scores}
            seen = listed if relevant == "listed" and query in run else judged
            for measure in measures:
                parameters = oracle_parameters(measure)
                if query in run:
                    expected = oracle.value(measure.name, parameters, measure.k, ranked, seen)
                else:
                    expected = oracle.missing_value(measure.name, parameters, measure.k, seen)
                found = result[measure].per_query.get(query, math.nan)  # left out: no value
                assert same(found, expected), (measure, ties, query, found, expected)


@given(collections(most=4, queries=2))
def test_the_mean_over_all_orders_of_ties(
    collection: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    flat, run = collection
    qrels = {query: with_subtopics(judged) for query, judged in flat.items()}
    for name in ("P_IA", "P_IA@2"):
        measure = germane.parse(name)
        result = germane.evaluate(qrels, run, measure, ties="expected")
        for query, judged in qrels.items():
            expected = oracle.expected("P_IA", {}, measure.k, run.get(query, {}), judged)  # type: ignore[arg-type]
            assert same(result[measure].per_query[query], expected)


# ------------------------------------------------------------------------------ recorded answers


def table(rows: Rows) -> pa.Table:
    query, subtopic, item, grade = zip(*rows, strict=True)
    return pa.table({"query": query, "subtopic": subtopic, "item": item, "relevance": grade})


def scores_of(rows: list[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for query, item, score in rows:
        run[query][item] = score
    return dict(run)


def agrees(found: float, answer: float | None) -> bool:
    """Do six digits agree? None is NaN."""
    return math.isnan(found) if answer is None else abs(found - answer) < 5e-7


def spell(name: str, way: dict[str, Any]) -> str:
    """A name of ndeval's with the options that its caller gave beside it."""
    measure = germane.parse(f"ndeval:{name}")
    known = {parameter.name for parameter in measure.row.parameters}
    return str(measure(**{one: way[one] for one in ("alpha", "beta", "rel") if one in known}))


@pytest.mark.parametrize("number", range(len(ANSWERS["cases"])))
def test_answers_of_pyndeval(number: int) -> None:
    case = ANSWERS["cases"][number]
    qrels, run = table(case["qrels"]), scores_of(case["run"])
    for way in case["pyndeval"] if case["pyndeval"][0]["values"] else ():
        for at, name in enumerate(ANSWERS["names"]):
            options = {"no_relevant": "nan"} if name == "nNRBP" else {}
            asked = f"germane:{spell(name, way)}"
            result = germane.evaluate(qrels, run, asked, dialect="ndeval", **options)  # type: ignore[arg-type]
            found = next(iter(result.values())).per_query
            assert found.keys() == way["values"].keys()
            for query, answers in way["values"].items():
                assert agrees(found[query], answers[at]), (name, asked, query, found[query])


PARAMETERS_OF_IR_MEASURES = {  # of ir_measures 0.4.3 with pyndeval 0.0.8
    "ERR_IA(rel=2)@1": 1.0,
    "alpha_DCG(rel=2)@1": 1.0,
    "alpha_DCG(alpha=0.3)@1": 2.0,
    "alpha_DCG(rel=2,alpha=0.3)@3": 0.28491390630366514,
    "alpha_nDCG(alpha=0.7,rel=2)@3": 0.5581032993125161,
    "NRBP(alpha=0.2,beta=0.8)": 0.4619519999999999,
    "NRBP(rel=2,alpha=0.2,beta=0.8)": 0.2582399999999999,
    "nNRBP(rel=2,alpha=0.2)": 0.8243243243243241,
}


@pytest.mark.parametrize("name", PARAMETERS_OF_IR_MEASURES)
def test_every_selection_of_parameters_is_that_of_ir_measures(name: str) -> None:
    qrels = {"1": {"a": {"s": 2, "t": 1}, "b": {"t": 2}, "c": {"s": 3, "u": 1}, "e": {"u": 2}}}
    run = {"1": {"c": 3.0, "x": 2.0, "a": 2.0, "b": 1.0}}
    (found,) = germane.evaluate(qrels, run, name, dialect="ir_measures").values()
    assert found.mean == pytest.approx(PARAMETERS_OF_IR_MEASURES[name], abs=1e-12)


@pytest.mark.parametrize("number", range(6))
def test_answers_of_ir_measures(number: int) -> None:
    """A query without relevant items that the run lacks is 0 there, and NaN here."""
    case = ANSWERS["cases"][number]
    qrels, run = table(case["qrels"]), scores_of(case["run"])
    for name, answers in case["ir_measures"].items():
        result = germane.evaluate(qrels, run, name, dialect="ir_measures")
        found = next(iter(result.values())).per_query
        for query, answer in answers.items():
            if name == "nNRBP" and query not in run:
                continue
            assert agrees(found[query], answer), (name, query, found[query], answer)


def test_names_of_ndeval() -> None:
    names = {
        "alpha-nDCG@10": "alpha_nDCG(ideal=rounded)@10",
        "alpha-DCG@10": "alpha_DCG(norm=full)@10",
        "alpha-DCG@1": "alpha_DCG@1",
        "ERR-IA@10": "ERR_IA(norm=full)@10",
        "ERR-IA@1": "ERR_IA(norm=none)@1",
        "nERR-IA@5": "nERR_IA(ideal=rounded)@5",
        "strec@10": "StRecall@10",
        "NRBP": "NRBP",
        "nNRBP": "nNRBP(ideal=rounded)",
        "P-IA@10": "P_IA@10",
        "MAP-IA": "AP_IA",
        "α_nDCG@5": "alpha_nDCG(ideal=rounded)@5",
    }
    for name, own in names.items():
        assert str(germane.parse(f"ndeval:{name}")) == own
    measure = germane.parse("ir_measures:alpha_nDCG(alpha=0.3)@10")
    assert str(measure) == "alpha_nDCG(alpha=0.3,ideal=rounded)@10"
    assert germane.parse("SubtopicCoverage@20") == germane.StRecall @ 20


# ---------------------------------------------------------------------------- definitions by hand

JUDGED = {"q": {"a": {"1": 1, "2": 1}, "b": {"1": 2}, "c": {"3": 1}, "d": {"2": 0}}}
RUN = {"q": {"b": 3.0, "a": 2.0, "u": 1.5, "d": 1.0}}


def value(name: str, qrels: Any = JUDGED, run: Any = RUN, **options: Any) -> float:
    return germane.evaluate(qrels, run, name, **options)[name].mean


def test_values_by_hand() -> None:
    assert value("StRecall@1") == 1 / 3
    assert value("StRecall@2") == 2 / 3
    assert value("P_IA@5") == (1 + 2) / (5 * 3)
    assert value("AP_IA") == pytest.approx(((1 + 2 / 2) / 2 + 1 / 2 + 0) / 3)
    assert value("alpha_DCG@2") == 1 + (1 / 2 + 1) / log2(3)
    assert value("alpha_DCG(norm=full)@2") == pytest.approx(
        (1 + 1.5 / log2(3)) / (3 + 3 / 2 / log2(3))
    )
    assert value("ERR_IA@2") == (1 / 2 + (1 / 4 + 1 / 2) / 2) / 3
    ideal = 2 + 1 / log2(3) + 1 / 2 / log2(4)  # a, then c, which gains more than b
    assert value("alpha_nDCG@3") == pytest.approx((1 + 1.5 / log2(3)) / ideal)
    assert value("NRBP") == pytest.approx((1 + 1.5 / 2) * (1 - 1 / 4) / 3)
    assert value("nNRBP") == pytest.approx((1 + 1.5 / 2) / (2 + 1 / 2 + 1 / 2 / 4))
    gains = (2 + 2 / log2(3)) / (2 + 2 / log2(3))  # a and b gain 2 each, c 1
    assert value("Dsharp_nDCG@2") == pytest.approx((2 / 3 + gains) / 2)


def test_ndeval_s_alpha_dcg_falls_where_k_grows() -> None:
    assert value("alpha_DCG(norm=full)@3") < value("alpha_DCG(norm=full)@2")
    assert value("alpha_DCG@3") == value("alpha_DCG@2")


def test_greedy_is_not_always_ideal() -> None:
    """x has most subtopics; y and z together have all of them, with nothing twice."""
    judged = {"q": {"x": ["1", "2", "3", "4"], "y": ["1", "2", "5"], "z": ["3", "4", "6"]}}
    best = {"q": ["y", "z"]}
    greedy, exact = "alpha_nDCG(alpha=1)@2", "alpha_nDCG(alpha=1,ideal=exact)@2"
    assert value(exact, judged, best) == 1.0
    assert value(greedy, judged, best) == pytest.approx((3 + 3 / log2(3)) / (4 + 1 / log2(3)))
    assert value(greedy, judged, best) > 1


@pytest.mark.slow
def test_an_exact_search_that_would_take_too_long_is_refused() -> None:
    rng = random.Random(1)
    items = {f"d{i}": [str(s) for s in range(20) if rng.random() < 0.5] for i in range(40)}
    with pytest.raises(
        MeasureError, match=r"query 'q': \d+ relevant items of \d+ kinds are too many"
    ):
        value("alpha_nDCG(ideal=exact)@20", {"q": items}, {"q": ["d1"]})
    same_kind = {"q": {f"d{i:03}": ["1", "2"] for i in range(200)}}
    assert value("alpha_nDCG(ideal=exact)", same_kind, {"q": list(same_kind["q"])}) == 1.0


@pytest.mark.parametrize("name", ["alpha_nDCG", "nERR_IA", "nNRBP"])
def test_the_greedy_ranking_is_worth_1(name: str) -> None:
    for seed in range(20):
        rng = random.Random(seed)
        judged = {f"d{i}": {s: rng.choice((0, 1)) for s in "abcd"} for i in range(8)}
        ideal = oracle.greedy(oracle.Covering([], judged, None), 1, 0.5)
        if any(map(any, (held.values() for held in judged.values()))):
            assert value(name, {"q": judged}, {"q": ideal}) == pytest.approx(1)


@pytest.mark.slow
def test_an_item_with_more_subtopics_further_up_lowers_nothing() -> None:
    """The law of swaps for subtopics: an item moves before one all of whose subtopics it has."""
    rng = random.Random(3)
    rises = 0
    for _ in range(200):
        judged = {f"d{i}": set(rng.sample("abcd", rng.randint(0, 4))) for i in range(5)}
        ranked = rng.sample([*judged, "u"], 5)
        for i in range(4):
            less, more = (judged.get(item, set()) for item in ranked[i : i + 2])
            if less < more and any(judged.values()):
                swapped = [*ranked[:i], ranked[i + 1], ranked[i], *ranked[i + 2 :]]
                for row in SUBTOPICS:
                    before, after = (
                        value(row.name, {"q": judged}, {"q": r}) for r in (ranked, swapped)
                    )
                    assert after >= before - 1e-12, row.name
                rises += 1
    assert rises > 50


def test_huge_cutoffs() -> None:
    for row in SUBTOPICS:
        if row.cutoff:
            assert 0 <= value(f"{row.name}@1000000000000") < 10
    with pytest.raises(
        MeasureError, match="norm=full with alpha=0 adds up at most 10,000,000 ranks"
    ):
        value("alpha_DCG(alpha=0,norm=full)@1000000000000")


def test_the_bounds_of_beta() -> None:
    assert value("NRBP(beta=0)") == 1 / 3
    assert value("nNRBP(beta=0)") == 1 / 2
    assert value("NRBP(beta=1)") == pytest.approx(2.5 / (3 / 0.5))
    assert value("nNRBP(beta=1)") == pytest.approx(2.5 / 3.5)
    assert value("nNRBP(beta=0.999)") == pytest.approx(
        (1 + 1.5 * 0.999) / (2 + 0.999 + 0.5 * 0.999**2)
    )
    with pytest.raises(MeasureError, match="an endless list has no sum"):
        value("NRBP(alpha=0,beta=1)")


# -------------------------------------------------------------------------------------- sources

ROWS: Rows = [
    ("1", "2", "b", 1), ("1", "1", "a", 1), ("1", "2", "a", 2), ("1", "1", "c", 0),
    ("2", "1", "a", 1), ("2", "3", "z", 1), ("2", "1", "z", -1), ("1", "7", "c", 3),
]  # fmt: skip
LISTS = {"1": {"c": 3.0, "u": 2.0, "a": 1.0}, "2": {"z": 2.0, "a": 2.0}}
MEASURES = "alpha_nDCG@5 StRecall@2 ERR_IA AP_IA nNRBP Dsharp_nDCG@3 AP nDCG@5"


def nest(rows: Rows) -> Nested:
    out: Nested = defaultdict(lambda: defaultdict(dict))
    for query, subtopic, item, grade in rows:
        out[query][item][subtopic] = grade
    return {query: dict(items) for query, items in out.items()}


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: float
    iteration: str


class SubtopicQrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: float
    subtopic_id: str


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def trec(rows: Rows) -> str:
    return "".join(f"{query} {subtopic} {item} {grade}\n" for query, subtopic, item, grade in rows)


def write_table(path: Path) -> Path:
    parquet.write_table(table(ROWS), path)
    return path


def csv_text(rows: Rows, name: str = "subtopic") -> str:
    lines = (f"{query},{subtopic},{item},{grade}\n" for query, subtopic, item, grade in rows)
    return f"topic,{name},docno,rel\n" + "".join(lines)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dict": lambda folder: nest(ROWS),
    "frame": lambda folder: table(ROWS),
    "TREC": lambda folder: write(folder / "qrels.txt", trec(ROWS)),
    "CSV": lambda folder: write(folder / "qrels.csv", csv_text(ROWS)),
    "CSV, iteration": lambda folder: write(folder / "qrels.csv", csv_text(ROWS, "iteration")),
    "JSON": lambda folder: write(folder / "qrels.json", json.dumps(nest(ROWS))),
    "JSON Lines": lambda folder: write(
        folder / "qrels.jsonl",
        "".join(json.dumps(row) + "\n" for row in table(ROWS).to_pylist()),
    ),
    "Parquet": lambda folder: write_table(folder / "qrels.parquet"),
    "records": lambda folder: [SubtopicQrel(q, d, g, s) for q, s, d, g in ROWS],
    "records, iteration": lambda folder: [Qrel(q, d, g, s) for q, s, d, g in ROWS],
    "scattered": lambda folder: write(folder / "qrels.txt", trec(sorted(ROWS, key=lambda r: r[2]))),
    "read before": lambda folder: germane.read_qrels(
        write(folder / "qrels.txt", trec(ROWS)), second_column="subtopic"
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same(name: str, tmp_path: Path) -> None:
    result = germane.evaluate(SOURCES[name](tmp_path), LISTS, MEASURES)
    judged = nest(ROWS)
    for measure in result.measures:
        for query, held in judged.items():
            ranked = oracle.trec_order(LISTS[query])
            parameters = oracle_parameters(measure)
            expected = oracle.value(measure.name, parameters, measure.k, ranked, held)
            assert same(result[measure].per_query[query], expected), (measure, query)
    assert result.counts.subtopics == 5


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(trec(ROWS).encode())

    monkeypatch.setattr("sys.stdin", Stdin())
    assert germane.evaluate("-", LISTS, "StRecall@2")["StRecall@2"].mean > 0


def test_batches_give_the_same(tmp_path: Path) -> None:
    whole = germane.evaluate(nest(ROWS), LISTS, MEASURES)
    evaluator = germane.Evaluator(nest(ROWS), MEASURES)
    for query in reversed(LISTS):
        evaluator.update({query: LISTS[query]})
    result = evaluator.result()
    for measure in whole.measures:
        assert result[measure].per_query == whole[measure].per_query


def test_evaluators_of_other_subtopics_do_not_merge() -> None:
    other = nest(
        [(q, "9", d, g) for q, _, d, g in dict.fromkeys((r[0], "", r[2], r[3]) for r in ROWS)]
    )
    highest = {
        q: {d: {"9": max(nest(ROWS)[q][d].values())} for d in held} for q, held in other.items()
    }
    one, two = (germane.Evaluator(judged, "StRecall") for judged in (nest(ROWS), highest))
    two.update({"1": LISTS["1"]})
    with pytest.raises(InputError, match="different qrels"):
        one.merge(two)


def test_conventions_of_grades_hold_for_subtopics() -> None:
    judged = {"q": {"a": {"1": 1.5, "2": 0.5}, "b": {"1": 0.9}}}
    assert value("Dsharp_nDCG(gamma=0)@1", judged, {"q": ["b"]}, grades="whole") == 0
    assert value("Dsharp_nDCG(gamma=0)@1", judged, {"q": ["b"]}) == pytest.approx(0.9 / 2)
    with pytest.raises(GradeError, match=r"grades=binary takes only 0 and 1; got 1\.5"):
        value("StRecall", judged, {"q": ["b"]}, grades="binary")


def test_queries_that_the_run_lacks() -> None:
    for missing, expected in (("zero", {"1": 1 / 3, "2": 0.0}), ("skip", {"1": 1 / 3})):
        result = germane.evaluate(nest(ROWS), {"1": ["c"]}, "StRecall@1", missing=missing)
        assert result["StRecall@1"].per_query == expected
    unknown = {"0": ["x"], **{query: list(held) for query, held in LISTS.items()}}
    result = germane.evaluate(nest(ROWS), unknown, "StRecall@9", unknown="zero")
    assert result["StRecall@9"].per_query == {"1": 1.0, "2": 1.0, "0": 0.0}


def test_unjudged_items_removed() -> None:
    assert value("StRecall@2", nest(ROWS), {"1": ["u", "v", "a"]}, missing="skip") == 0
    judged_only = value(
        "StRecall@2", nest(ROWS), {"1": ["u", "v", "a"]}, missing="skip", unjudged="remove"
    )
    assert judged_only == 2 / 3


# -------------------------------------------------------------------- what is no subtopic, is said


def test_a_second_column_is_read_only_where_a_measure_needs_it(tmp_path: Path) -> None:
    plain = write(tmp_path / "q.txt", "1 0 a 1\n1 0 b 0\n")
    assert germane.evaluate(plain, LISTS, "AP")["AP"].mean > 0
    with pytest.raises(MeasureError, match=r"StRecall@2: the judgments have no subtopics\. Give"):
        germane.evaluate(plain, LISTS, "StRecall@2")
    rounds = write(tmp_path / "rounds.txt", "1 0.5 a 1\n1 1 b 0\n1 2 c 1\n")
    assert not germane.evaluate(rounds, LISTS, "AP").counts.subtopics
    with pytest.warns(GermaneWarning, match="no item is judged for two subtopics"):
        germane.evaluate(rounds, {"1": LISTS["1"]}, "StRecall@2")
    named = {"1": {"a": {"x": 1}, "b": {"y": 1}}}
    assert not germane.evaluate(named, {"1": ["a"]}, "StRecall@2").findings


def test_a_column_iteration_is_read_only_where_a_measure_needs_it() -> None:
    frame = table(ROWS).rename_columns(["query", "iteration", "item", "relevance"])
    with pytest.raises(DuplicateError, match="is judged twice"):
        germane.evaluate(frame, LISTS, "AP")
    assert germane.evaluate(frame, LISTS, "AP StRecall@2").counts.subtopics == 5
    zeros = [Qrel(query, item, grade, "0") for query, item, grade in (("1", "a", 1), ("2", "z", 0))]
    with pytest.raises(MeasureError, match="have no subtopics"):
        germane.evaluate(zeros, LISTS, "StRecall@2")
    columns = {"qrels": {"subtopic": None}}
    with pytest.raises(DuplicateError):
        germane.evaluate(frame, LISTS, "AP StRecall@2", columns=columns)
    named = germane.evaluate(frame, LISTS, "AP", columns={"qrels": {"subtopic": "iteration"}})
    assert named.counts.subtopics == 5


def test_ordinary_measures_alone_refuse_repeated_items_of_a_file_and_say_why(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "q.txt", trec(ROWS))
    with pytest.raises(
        DuplicateError, match=r"q\.txt:3: item 'a' is judged twice for query '1'"
    ) as error:
        germane.evaluate(path, LISTS, "AP")
    assert "The second column differs. If it names subtopics, measures such as alpha_nDCG" in str(
        error.value
    )
    beside = germane.evaluate(path, LISTS, "AP StRecall")["AP"].mean
    assert germane.evaluate(path, LISTS, "AP", duplicates="max")["AP"].mean == beside


def test_a_result_says_what_other_measures_take() -> None:
    says = str(germane.evaluate(nest(ROWS), LISTS, "AP nDCG StRecall@2"))
    assert "5 subtopics judged, of which AP, nDCG take an item's highest grade" in says
    assert "highest" not in str(germane.evaluate(nest(ROWS), LISTS, "StRecall@2"))
    assert germane.evaluate(nest(ROWS), LISTS, "AP StRecall").counts.subtopics == 5


@pytest.mark.parametrize("held", [{"grade": 1}, ["s"], {"s"}, (1, 0)])
def test_nested_grades_are_for_measures_of_subtopics(held: Any, tmp_path: Path) -> None:
    """{"grade": 1} and a row of grades look like subtopics; a measure of these has to be asked for."""
    says = r"query 'q', item 'd': a relevance grade is a number; got .*Are these grades or subtopics\? Pass grades as"
    judged, run = {"q": {"d": held}}, {"q": {"d": 1.0}}
    for ask in (
        lambda: germane.evaluate(judged, run, "AP"),
        lambda: germane.evaluate([{"d": held}], [["d"]], "AP"),
        lambda: germane.explain(judged, run, "AP"),
        lambda: germane.spread(judged, run, "AP"),
        lambda: germane.reconcile(judged, run, reported=1.0, measure="AP"),
        lambda: germane.Evaluator(judged, "AP").add(run),
    ):
        with pytest.raises(GradeError, match=says.replace("'q'", "('q'|0)")):
            ask()
    assert "Are these grades or subtopics?" in str(germane.check(judged, run, "AP"))
    assert "Are these grades or subtopics?" not in str(germane.check(judged, run, "StRecall"))
    assert germane.evaluate(judged, run, "AP StRecall")["AP"].mean == 1
    for listed in ([held], [0, held], np.array([[1, 0], [0, 1]])):
        with pytest.raises(
            GradeError, match=r"^the list, rank \d: .* Are these grades or subtopics\? Pass grades"
        ):
            germane.score(listed, "AP")
    assert germane.score([held, held], "StRecall@1") == 1
    path = write(tmp_path / "q.json", '{"q": {"d": {"s": 1}}}')  # a format says what it holds
    assert germane.evaluate(path, run, "AP")["AP"].mean == 1


REPEATED = [*ROWS[:3], ("1", "2", "b", 0), *ROWS[3:]]


def test_repeated_judgments_of_a_subtopic(tmp_path: Path) -> None:
    message = "item 'b' is judged twice for subtopic '2' of query '1'"
    with pytest.raises(DuplicateError, match=f"qrels: {message}. duplicates=first"):
        germane.evaluate(table(REPEATED), LISTS, "StRecall")
    path = write(tmp_path / "q.txt", trec(REPEATED))
    with pytest.raises(DuplicateError, match=rf"q\.txt:4: {message}, as on line 1\. duplicates="):
        germane.evaluate(path, LISTS, "StRecall")
    for duplicates, expected in (("first", 1.0), ("last", 0.0), ("max", 1.0)):
        for judged in (table(REPEATED), path):
            found = germane.evaluate(
                judged, {"1": ["b"]}, "P_IA@1", duplicates=duplicates, missing="skip"
            )
            assert found["P_IA@1"].mean == expected / 3


@pytest.mark.parametrize(
    ("judged", "error", "message"),
    [
        ({"a": {"1": 1}, "b": 2}, FormatError, "item 'b': other items have {subtopic: grade}"),
        ({"a": {"1": math.nan}}, GradeError, "item 'a', subtopic '1': a relevance grade must be"),
        ({"a": {"1": 2.0**60}}, GradeError, "item 'a', subtopic '1'"),
        ({"a": {"1": "1"}}, GradeError, "item 'a', subtopic '1'"),
        ({"a": {None: 1}}, FormatError, "a subtopic is text or a number; got None"),
        ({"a": [["1"]]}, FormatError, "a subtopic is text or a number"),
    ],
)
def test_bad_subtopics(judged: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        germane.evaluate({"q": judged}, {"q": ["a"]}, "StRecall")
    assert "qrels, query 'q'" in str(found.value)
    assert message in str(found.value)


def test_bad_subtopics_of_a_json_file(tmp_path: Path) -> None:
    for text, message in (
        ('{"q": {"a": {"1": 1, "1": 2}}}', "item 'a': duplicate subtopic '1'."),
        ('{"q": {"a": {"1": "x"}}}', "subtopic '1': a relevance grade is a number; got text, 'x'."),
    ):
        path = write(tmp_path / "q.json", text)
        with pytest.raises((FormatError, GradeError)) as error:
            germane.evaluate(path, {"q": ["a"]}, "StRecall")
        assert "q.json, query 'q', item 'a'" in str(error.value)
        assert message in str(error.value)
    listed = write(tmp_path / "q.json", '{"q": {"a": [1, "2"], "b": []}}')
    assert germane.evaluate(listed, {"q": ["b", "a"]}, "StRecall@2")["StRecall@2"].mean == 1


def test_a_query_with_a_number_sign_is_refused_with_subtopics(tmp_path: Path) -> None:
    path = write(tmp_path / "q.txt", "#x 1 a 1\n1 1 a 1\n1 2 a 1\n")
    with pytest.raises(
        FormatError, match=r"with subtopics, queries that begin with # are not read"
    ):
        germane.evaluate(path, {"#x": ["a"], "1": ["a"]}, "StRecall")
    assert germane.evaluate(path, {"1": ["a"]}, "StRecall").counts.comments == 1


# ------------------------------------------------------------------------------ lists and explain


def test_lists_of_subtopics() -> None:
    assert germane.score([{"a"}, {"a", "b"}, set()], "StRecall@3", relevant=[["c"]]) == 2 / 3
    assert germane.score([{"a": 2, "b": 0}, {"b": 1}], "StRecall(rel=2)@2") == 1
    with pytest.raises(InputError, match="relevant= lists the subtopics of the items"):
        germane.score([{"a"}], "StRecall", relevant=3)
    with pytest.raises(MeasureError, match="the judgments have no subtopics"):
        germane.score([1, 0], "StRecall")


def test_explain_shows_which_subtopic_is_new_at_each_rank() -> None:
    shown = germane.explain(JUDGED, RUN, "alpha_nDCG@3")
    assert [one.new for one in shown.coverage] == [("1",), ("2",), (), ()]
    assert [one.again for one in shown.coverage] == [(), ("1",), (), ()]
    says = [line.split() for line in str(shown).splitlines()]
    assert says[3][-5:] == ["2", "1", "0.9464", "1.9464"][-5:] or "2" in says[3]
    assert shown.to_dict()["ranks"][1]["new"] == ["2"]
    plain = {query: dict.fromkeys(items, 1) for query, items in JUDGED.items()}
    assert "new" not in germane.explain(plain, RUN, "AP").to_dict()["ranks"][1]
    listed = germane.explain([{"a"}, {"a", "b"}], "ERR_IA@2")
    assert [one.again for one in listed.coverage] == [(), ("a",)]
    lacking = germane.explain({**JUDGED, "r": {"x": {"1": 1}}}, RUN, "StRecall", query="r")
    assert lacking.readings[0].value == 0


def test_every_measure_of_subtopics_is_explained() -> None:
    for row in SUBTOPICS:
        reading = germane.explain(JUDGED, RUN, row.name).readings[0]
        assert reading.value == pytest.approx((sum(reading.terms) + reading.rest) / reading.norm)


def test_spread_finds_ndeval() -> None:
    spread = germane.spread(JUDGED, RUN, "alpha_DCG@5")
    stated = {one.dialect: one.value for one in spread}
    assert stated["ndeval"] == pytest.approx(value("alpha_DCG(norm=full)@5"))
    assert spread.own.value == value("alpha_DCG@5")


def test_reconcile_finds_the_norm() -> None:
    reported = f"{value('alpha_DCG(norm=full)@5'):.4f}"
    found = germane.reconcile(JUDGED, RUN, reported=reported, measure="alpha_DCG@5")
    assert "norm=full" in str(found)


def test_the_best_of_tied_items_has_more_subtopics() -> None:
    judged = {"q": {"a": {"s": 1, "t": 1}, "b": {"s": 1}, "c": {"t": 1, "u": 1, "v": 0}}}
    for run in ({"b": 0.5, "a": 0.5, "x": 0.5}, {"x": 0.5, "a": 0.5, "b": 0.5}):
        best, worst = (
            germane.evaluate(judged, {"q": run}, "StRecall@1", ties=ties)
            for ties in ("best", "worst")
        )
        assert best["StRecall@1"].mean == 2 / 3
        assert worst["StRecall@1"].mean == 0
        depth = germane.evaluate(judged, {"q": {"b": 0.5, "a": 0.5}}, "StRecall@1", ties="worst")
        assert depth["StRecall@1"].mean == 1 / 3
