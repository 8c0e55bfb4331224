"""Frames: results read by Polars, PyArrow and pandas, with a row for each of many and numbers as numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, 3: {"d": 1}}
RUNS = {
    "one": {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"x": 2.0, "c": 1.0}},
    "two": {"q1": {"b": 2.0}, "q2": {"c": 2.0}, 3: {"d": 1.0}},
}
MEASURES = "AP@10 nDCG@10 P(rel=2)@5"
NAMES = ["AP@10", "nDCG@10", "P(rel=2)@5"]
RESULTS = germane.evaluate_many(QRELS, RUNS, MEASURES)
COMPARED = germane.compare(RESULTS)
SPREAD = germane.spread(QRELS, RUNS["one"], "AP@10")
EXPLAINED = germane.explain(QRELS, RUNS["one"], "AP@10 RR", query="q1")
FOUND = germane.check(QRELS, RUNS)
CURVE = germane.pr_curve(QRELS, RUNS["one"], query="q1")
MEAN = germane.mean_pr_curve(QRELS, RUNS["one"])
PAIR = COMPARED.queries("AP@10", "two", "one")
EXPERIMENT = germane.simulate("recall")
CATEGORIES = {"q1": "long", "q2": "short", 3: "long"}


def list_pairs() -> Iterator[dict[str, Any]]:
    for one in COMPARED.pairs:
        assert one.interval is None  # three queries have none
        names = ("system", "baseline", "queries", "difference")
        yield {
            "measure": str(one.measure),
            **{name: getattr(one, name) for name in names},
            "low": None, "high": None, "confidence": None, "d_z": one.d_z, "improvement": one.improvement,
            "wins": one.wins, "losses": one.losses, "ties": one.ties, "p": one.p,
            "p_adjusted": one.p_adjusted, "detectable": one.detectable, "verdict": one.verdict,
            "test": one.test,
        }  # fmt: skip


def list_values(result: germane.types.Result) -> Iterator[dict[str, Any]]:
    for query in QRELS:
        values = {name: result[name].per_query[query] for name in NAMES}
        yield {"query": str(query), **values}


def list_categories(run: str) -> Iterator[dict[str, Any]]:
    for category in ("long", "short"):
        queries = [query for query, name in CATEGORIES.items() if name == category]
        means = {
            name: sum(RESULTS[run][name].per_query[query] for query in queries) / len(queries)
            for name in NAMES
        }
        yield {"category": category, "queries": len(queries), **means}


# name → the value, and its rows from its other attributes
FRAMES: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "result": (RESULTS["one"], [*list_values(RESULTS["one"])]),
    "results": (
        RESULTS,
        [{"run": name, **row} for name in RUNS for row in list_values(RESULTS[name])],
    ),
    "categories": (RESULTS["one"].by(CATEGORIES), [*list_categories("one")]),
    "categories of runs": (
        RESULTS.by(CATEGORIES),
        [{"run": name, **row} for name in RUNS for row in list_categories(name)],
    ),
    "comparison": (COMPARED, [*list_pairs()]),
    "spread": (
        SPREAD,
        [
            {"dialect": row.dialect, "value": row.value, "name": row.name, "measure": str(row.measure),
             "differs in": ", ".join(row.stages), "says": row.says, "unsure": row.unsure}
            for one in (SPREAD.own, *SPREAD.stated) for row in one.rows
        ],
    ),
    "explanation": (
        EXPLAINED,
        [
            {"rank": row.rank, "upto": row.upto, "item": row.item, "relevance": row.relevance,
             "hit": row.hit, "precision": row.precision, "recall": row.recall,
             **{f"{word} of {one.measure}": values[i] for one in EXPLAINED.readings
                for word, values in (("term", one.terms), ("sum", one.sums))}}
            for i, row in enumerate(EXPLAINED.rows)
        ],
    ),
    "checkup": (
        FOUND,
        [
            {"severity": one.severity, "finding": one.what, "where": one.where, "count": one.count,
             "says": one.says, "examples": "\n".join(one.examples), "advice": one.advice}
            for one in FOUND
        ],
    ),
    "curve": (
        CURVE,
        [
            dict(zip(("rank", "recall", "precision", "interpolated", "hit"), row, strict=True))
            for row in zip(CURVE.rank.tolist(), CURVE.recall.tolist(), CURVE.precision.tolist(),
                           CURVE.interpolated.tolist(), CURVE.hits.tolist(), strict=True)
        ],
    ),
    "mean curve": (
        MEAN,
        [
            dict(zip(("recall", "precision", "low", "high"), row, strict=True))
            for row in zip(MEAN.recall.tolist(), MEAN.precision.tolist(), MEAN.low.tolist(),
                           MEAN.high.tolist(), strict=True)
        ],
    ),
    "queries of a pair": (
        PAIR,
        [
            {"data set": "", "query": str(row.query), "baseline": row.baseline, "system": row.system,
             "difference": row.difference}
            for row in PAIR.rows
        ],
    ),
    "experiment": (
        EXPERIMENT,
        [
            {EXPERIMENT.design.swept: setting,
             **{column.name: column.values[i] for column in EXPERIMENT.columns}}
            for i, setting in enumerate(EXPERIMENT.settings)
        ],
    ),
}  # fmt: skip


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(str, rows))  # as text, in which NaN is equal to NaN


@pytest.mark.parametrize("name", FRAMES)
def test_every_reader_of_arrow_streams(name: str) -> None:
    value, rows = FRAMES[name]
    table = pa.table(value)
    assert in_order(table.to_pylist()) == in_order(rows)
    assert in_order(value.to_arrow().to_pylist()) == in_order(rows)
    for column, one in zip(table.columns, rows[0].values(), strict=True):
        number = isinstance(one, (int, float)) or one is None
        assert pa.types.is_string(column.type) != number


@pytest.mark.parametrize("name", FRAMES)
def test_polars(name: str) -> None:
    polars = pytest.importorskip("polars")
    value, rows = FRAMES[name]
    frame = polars.DataFrame(value)
    assert frame.columns == list(rows[0])
    assert in_order(frame.to_dicts()) == in_order(rows)


@pytest.mark.parametrize("name", FRAMES)
def test_pandas(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    value, rows = FRAMES[name]
    frame = value.to_pandas()
    assert list(frame.columns) == list(rows[0])
    assert len(frame) == len(rows)
    if hasattr(pandas.DataFrame, "from_arrow"):
        pandas.testing.assert_frame_equal(pandas.DataFrame.from_arrow(value), frame)
    numbers = [key for key, one in rows[0].items() if isinstance(one, (int, float))]
    assert set(numbers) <= set(frame.select_dtypes(["number", "bool"]).columns)


# --- Everything that a user can hold -----------------------------------------------------------------

TRUTH, DETECTIONS = "examples/boxes/truth.json", "examples/boxes/detections.json"
FULL = {f"q{at}": {"a": 1, "b": 2, "c": 0} for at in range(8)}
BOTH = {
    "one": {query: ["a", "x", "b"][at % 2 :] for at, query in enumerate(FULL)},
    "two": {query: ["b", "a"] for query in FULL},
}


def hold_all() -> dict[str, Any]:
    """A value of every type that verbs return, and that is no single number."""
    boxes = germane.boxes
    runs = germane.evaluate_many(FULL, BOTH, "AP@10 nDCG@10 P@2")
    compared = germane.compare(runs)
    detected = boxes.evaluate(TRUTH, DETECTIONS)
    explained = boxes.explain(TRUTH, DETECTIONS, "AP50", image=1)
    groups = dict.fromkeys(FULL, "all")
    lists = germane.evaluate(FULL, BOTH["one"], "Coverage@2", catalogue=["a", "b", "c", "x"])
    published = {"lda": {"P@1": 0.5, "R@10": 0.2}}
    return {
        **{name: value for name, (value, _) in FRAMES.items()},
        "bounds of runs": runs.bounds(),
        "explanation of lists": lists["Coverage@2"].explain(),
        "stability": compared.stability("AP@10"),
        "slices": compared.queries("AP@10", "two", "one").by(groups),
        "gate": germane.gate(FULL, BOTH["one"], "AP", baseline=BOTH["two"]),
        "reconciliation": germane.reconcile(FULL, BOTH["one"], reported=0.5),
        "reconciliation of a table": germane.reconcile_table(
            FULL, BOTH, {"one": {"P@2": 0.5}, "two": {"P@2": 1.0}}
        ),
        "audit": germane.audit({"a": {"P@1": 0.5, "Success@1": 0.2}}),
        "audit of nothing wrong": germane.audit(published),
        "verification": germane.verify(runs["one"], FULL, BOTH["one"]),
        "several judges": germane.evaluate_judges(BOTH["one"], {"x": FULL, "y": FULL}, "AP"),
        "agreement": germane.compare_judges(FULL, FULL),
        "items to judge": germane.choose_judgments(FULL, BOTH),
        "trust": germane.trust(BOTH["one"], people=FULL, model=FULL, measures="AP"),
        "trusts": germane.trust_many(BOTH, people=FULL, model=FULL, measures="AP"),
        "plan of queries": germane.plan(FULL, measures="P@2 RR"),
        "plan": germane.trust(BOTH["one"], people=FULL, model=FULL, measures="AP")["AP"].plan(0.1),
        "boxes": detected,
        "boxes of runs": boxes.evaluate_many(TRUTH, {"a": DETECTIONS, "b": DETECTIONS}),
        "boxes of classes": detected.by("class"),
        "boxes of an image": explained,
        "costs of errors": explained.errors,
        "confusion of boxes": boxes.confusion(TRUTH, DETECTIONS),
        "curves of boxes": boxes.curve(TRUTH, DETECTIONS),
        "boxes by tools": boxes.spread(TRUTH, DETECTIONS, "AP"),
        "reconciled boxes": boxes.reconcile(TRUTH, DETECTIONS, reported=0.5),
    }


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_everything_that_has_a_table_is_a_frame_or_names_what_makes_one() -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for name, value in hold_all().items():
        frame, table = polars.DataFrame(value), pa.table(value)
        assert frame.columns == table.column_names, name
        assert frame.to_dicts() == table.to_pylist() or "nan" in str(frame.to_dicts()), name
        read = value.to_pandas()
        if hasattr(value, "__array__"):
            for call in (pandas.DataFrame, np.asarray):
                with pytest.raises(
                    germane.errors.InputError, match=rf"{type(value).__name__}.*to_pandas\(\)"
                ):
                    call(value)
        else:
            given = pandas.DataFrame(value)
            if len(read):
                assert given.columns.tolist() == read.columns.tolist(), name
                pandas.testing.assert_frame_equal(given, read, check_dtype=False, obj=name)
            assert len(given) == len(read)


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_every_type_with_a_table_is_here() -> None:
    held = {type(value) for value in hold_all().values()}
    public = {
        found
        for module in (germane.types, germane.boxes)
        for name in module.__all__
        if isinstance(found := getattr(module, name), type) and hasattr(found, "__arrow_c_stream__")
    }
    assert public <= held


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_a_table_of_numbers_is_a_frame_of_numbers() -> None:
    """The columns of the tables that frames are made of: numbers with all their digits."""
    runs = germane.evaluate_many(FULL, BOTH, "AP@10")
    frame = pa.table(germane.compare(runs).stability("AP@10"))
    assert frame["AP@10"].to_pylist() == [runs[name]["AP@10"].mean for name in ("two", "one")]
    boxes = germane.boxes.evaluate(TRUTH, DETECTIONS)
    row = pa.table(boxes).to_pylist()[0]
    assert {name: row[name] for name in ("AP", "AP50")} == {
        name: float(boxes[name]) for name in ("AP", "AP50")
    }
    gate = germane.gate(FULL, BOTH["one"], "AP", baseline=BOTH["one"])
    assert pa.table(gate)["change"].to_pylist() == [0.0]
    assert pa.table(germane.compare_judges(FULL, FULL))["1"].to_pylist() == [0, 8, 0]


def test_means_of_a_frame_are_the_means() -> None:
    pytest.importorskip("pandas")
    means = RESULTS.to_pandas().groupby("run").mean(numeric_only=True)
    for run, name in ((run, name) for run in RUNS for name in NAMES):
        assert means.loc[run, name] == pytest.approx(RESULTS[run][name].mean)


def test_a_requested_schema_is_passed_on() -> None:
    schema = pa.schema({"query": pa.large_string(), "AP": pa.float64()})
    result = germane.evaluate({"q": ["a"]}, {"q": ["a"]}, "AP")
    reader = pa.RecordBatchReader.from_stream(result, schema)
    assert reader.schema.field("query").type == pa.large_string()


def test_odd_ids_and_frames_without_rows() -> None:
    result = germane.evaluate({"a\udc80b": ["x"]}, {"a\udc80b": ["x"]}, "AP")
    assert pa.table(result)["query"].to_pylist() == ["a\\udc80b"]
    empty = type(FOUND)([], ["run"])
    assert pa.table(empty).schema == pa.table(FOUND).schema
    assert pa.table(empty).num_rows == 0
    skipped = germane.evaluate({"q": {"a": 0}, "p": ["a"]}, {"q": ["a"]}, "AP", no_relevant="skip")
    values = pa.table(skipped)["AP"].to_pylist()
    assert values[0] != values[0], "a query that is left out has no number"


def test_queries_that_are_integers_are_a_column_of_integers() -> None:
    qrels = {7: ["a"], 2**40: ["b"], -3: ["c"]}
    results = germane.evaluate_many(qrels, {"x": qrels, "y": {7: ["b", "a"]}}, "RR")
    pair = germane.compare(results).queries("RR", "x", "y")
    for value in (results, results["x"], pair):
        column = pa.table(value)["query"]
        assert column.type == pa.int64()
        assert set(column.to_pylist()) == set(qrels)
    for odd in (2**64, "7"):
        text = germane.evaluate({7: ["a"], odd: ["b"]}, {7: ["a"], odd: ["b"]}, "RR")
        assert pa.table(text)["query"].to_pylist() == ["7", str(odd)]


# --- As in a dict, and no Mapping --------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [RESULTS, RESULTS["one"], RESULTS["one"].by(CATEGORIES), RESULTS.by(CATEGORIES)],
    ids=["results", "result", "categories", "categories of runs"],
)
def test_results_are_read_as_dicts(value: Any) -> None:
    assert not isinstance(value, (Mapping, Sequence))
    plain = dict(value)
    assert plain == dict(value.items()) == dict(zip(value.keys(), value.values(), strict=True))
    assert list(value) == list(plain) == list(value.keys())
    assert len(value) == len(plain) == len(value.keys()) == len(value.values())
    for name, one in plain.items():
        assert name in value
        assert name in value.keys()  # noqa: SIM118
        assert (name, one) in value.items()
        assert one in value.values()
        assert value[name] is value.get(name) is one
    assert "P@77" not in value
    assert value.get("P@77") is None
    assert value.get("P@77", 5) == 5
    assert {**value} == plain


def test_findings_are_read_as_a_list() -> None:
    assert not isinstance(FOUND, Sequence)
    listed = list(FOUND)
    assert listed == [FOUND[i] for i in range(len(FOUND))] == list(FOUND[:])
    assert listed[-1] == FOUND[-1]
    assert listed[0] in FOUND
    assert list(reversed(FOUND)) == listed[::-1]


def test_compare_takes_results_and_dicts_of_results() -> None:
    for given in (RESULTS, dict(RESULTS), list(RESULTS.values())):
        assert germane.compare(given).pairs == COMPARED.pairs
    both = germane.compare({"news": RESULTS, "web": dict(RESULTS)})
    assert set(both.datasets) == {"news", "web"}


# --- Numbers -----------------------------------------------------------------------------------------


def test_a_value_is_a_number() -> None:
    value = RESULTS["one"]["AP@10"]
    mean = (1 + 2 / 3) / 2 / 3 + 1 / 2 / 3
    assert float(value) == pytest.approx(mean)
    assert f"{value:.3f}" == f"{mean:.3f}"
    assert f"{value:8.1%}" == f"{mean:8.1%}"
    assert f"{value}" == str(value)
    assert float(RESULTS["one"].by(dict.fromkeys(QRELS, "all"))["all"]["AP@10"]) == float(value)


def test_the_interval_of_a_mean_is_that_of_its_difference_from_nothing() -> None:
    """A system that finds nothing has 0 in every query: both are of one mean."""
    queries = {f"q{i}": ["a"] for i in range(12)}
    run = {query: [*"wxyz"[: i % 3 and 4], "a"] for i, query in enumerate(queries)}
    none = dict.fromkeys(queries, ("x",))
    results = germane.evaluate_many(queries, {"some": run, "none": none}, "RR")
    for confidence in (0.8, 0.95, 0.99):
        [pair] = germane.compare(results, confidence=confidence, baseline="none").pairs
        interval = results["some"]["RR"].interval(confidence=confidence)
        assert interval is not None
        assert pair.interval is not None
        both = (interval.low, interval.high), (pair.interval.low, pair.interval.high)
        assert both[0] == pytest.approx(both[1], abs=1e-12)
        assert interval.confidence == confidence
        assert (interval.basis, pair.interval.basis) == ("spread", "spread")
        assert interval.low < results["some"]["RR"].mean < interval.high
    zero = results["none"]["RR"].interval()
    assert zero is not None
    high = 1 - 0.025 ** (1 / 12)  # of yes and no, in 12 queries (Clopper and Pearson 1934)
    assert (zero.low, zero.high) == pytest.approx((0, high), abs=1e-6)
    assert zero.basis == "range"


@pytest.mark.parametrize("queries", [1, 2, 4, 5])
def test_fewer_than_five_queries_have_no_interval(queries: int) -> None:
    """As in compare. Others have one, even if all values are equal."""
    judged = {f"q{i}": ["a"] for i in range(queries)}
    result = germane.evaluate(judged, judged, "RR DCG")
    says = "fewer than 5 queries tell too little about others for an interval"
    table = result.table(confidence=0.95)
    if queries < 5:
        assert result["RR"].interval() is result["DCG"].interval() is None
        assert says in table.notes
        assert "[" not in table.rows[0][1]
        return
    assert says not in table.notes
    known, unknown = result["RR"].interval(), result["DCG"].interval()
    assert known is not None
    assert unknown is not None
    assert (known.low, known.high) == pytest.approx((0.025**0.2, 1), abs=1e-6)
    # the range of DCG is not known: from 0 to as much again as was seen
    assert (unknown.low, unknown.high) == pytest.approx((0.025**0.2, 2 - 0.025**0.2), abs=1e-6)


def test_intervals_of_micro_means_know_the_weights() -> None:
    qrels = {i: {"a": 1, "b": 0, "c": 0} for i in range(30)}
    run = {i: [*"bxacy"][: 3 + i % 3][:: 1 if i % 4 else -1] for i in qrels}
    result = germane.evaluate(qrels, run, "GAUC AUROC")
    weighed = result["AUROC"].weigh({i: len(items) for i, items in run.items()})
    assert result["GAUC"].mean == pytest.approx(weighed.mean)
    assert result["GAUC"].interval() == weighed.interval()


def test_an_interval_where_there_is_none() -> None:
    one = germane.evaluate(
        {"q": ["a"]}, {"q": ["a"]}, "AP NumRet AP(mean=micro) MeanRank(mean=median)"
    )
    assert one["AP"].interval() is None
    assert one["AP(mean=micro)"].interval() is None
    for name in ("NumRet", "MeanRank(mean=median)"):
        with pytest.raises(germane.errors.MeasureError, match="not a mean over queries"):
            one[name].interval()
    for confidence in (0, 1, 95, True, "high"):
        with pytest.raises(germane.errors.InputError, match="between 0 and 1"):
            one["AP"].interval(confidence=confidence)
    nan = germane.evaluate({"q": {"a": 0}, "p": ["a"]}, {"q": ["a"]}, "AP", no_relevant="nan")
    assert nan["AP"].interval() is None
    skip = germane.evaluate({"q": {"a": 0}, "p": ["a"]}, {"q": ["a"]}, "AP", no_relevant="skip")
    assert skip["AP"].interval() is None, "one query counts"


def test_the_interval_of_a_geometric_mean_is_that_of_logarithms() -> None:
    queries = {f"q{i}": ["a"] for i in range(6)}
    run = {query: [*(f"x{j}" for j in range(i)), "a"] for i, query in enumerate(queries)}
    result = germane.evaluate(queries, run, "RR(mean=geometric) RR")
    one = result["RR(mean=geometric)"].interval()
    assert one is not None
    assert one.low < result["RR(mean=geometric)"].mean < one.high <= 1
    least = germane.evaluate(queries, dict.fromkeys(queries, ("x",)), "RR(mean=geometric)")
    none = least["RR(mean=geometric)"].interval()
    assert none is not None
    assert none.low == pytest.approx(1e-5), "the floor of a geometric mean"
    assert none.high > 1e-5


def test_a_table_shows_intervals_on_request() -> None:
    queries = {f"q{i}": ["a"] for i in range(12)}
    run = {query: [*"xyz"[: i % 4], "a"] for i, query in enumerate(queries)}
    result = germane.evaluate(queries, run, "RR NumRet")
    interval = result["RR"].interval(confidence=0.9)
    assert interval is not None
    table = result.table(confidence=0.9)
    mean = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4
    ends = f"[{interval.low:.4f}, {interval.high:.4f}]"
    assert table.rows == (("run", f"{mean:.4f} {ends}", "30"),)
    assert "[low, high]: 90% interval of the mean, BCa bootstrap of the queries" in table.notes
    assert "[" not in str(result)


# --- Experiment trackers -----------------------------------------------------------------------------


def test_a_flat_dict_has_means_under_names_that_trackers_accept() -> None:
    flat = RESULTS["one"].to_dict(flat=True)
    assert flat == {
        "AP_at_10": RESULTS["one"]["AP@10"].mean,
        "nDCG_at_10": RESULTS["one"]["nDCG@10"].mean,
        "P_rel-2_at_5": RESULTS["one"]["P(rel=2)@5"].mean,
    }
    odd = "AP(norm=R)@10 nDCG(gain=1:1_2:3)@5 IPrec(recall=0.5) AUPR(rule=11) RBP(p=0.8,rel=2)"
    every = germane.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, odd).to_dict(flat=True)
    assert len(every) == 5
    allowed = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. :/")
    assert all(set(name) <= allowed for name in every), "what MLflow allows"
    with pytest.raises(germane.errors.InputError, match="leave out queries or flat"):
        RESULTS["one"].to_dict(flat=True, queries=True)
