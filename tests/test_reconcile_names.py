"""A reported name is what the tool calls so, in whatever family, for every verb that searches."""

import math
import random
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

import germane
from boxes_sets import make_boxes, make_federated
from germane import cli
from germane.types import Dialect

DIALECTS = tuple(germane.dialects().values())
BOX_DIALECTS = tuple(
    one for one in germane.boxes.dialects().values()
    if "areas" not in one.choices and ("overlap" not in one.choices or "iou+1" in one.choices.values())
)  # fmt: skip

# --- Data on which tools have a value, and few of them the same -------------------------------------

_RNG = random.Random(5)
_QUERIES, _ITEMS = [f"{n}" for n in range(1, 5)], [f"d{n:02}" for n in range(12)]
RUN: dict[str, dict[str, float]] = {}
QRELS: dict[str, dict[str, int]] = {}
for _query in _QUERIES:
    _listed = _RNG.sample(_ITEMS, 9)
    RUN[_query] = {d: round(1 - 0.07 * at - _RNG.random() / 100, 4) for at, d in enumerate(_listed)}
    QRELS[_query] = {
        d: int(_query > "2" and _RNG.random() < 0.4) for d in _ITEMS
    }  # 1 and 2 have two
    QRELS[_query] |= {_listed[_RNG.randrange(4)]: 1, _listed[7]: 0, _listed[8]: 1}
ASPECTS = {
    query: {d: {f"s{n}": grade * int(_RNG.random() < 0.6) for n in range(3)} for d, grade in judged.items()}
    for query, judged in QRELS.items()
}  # fmt: skip
RATINGS = {
    query: {d: _RNG.randint(2, 10) / 2 for d in (*found, _ITEMS[0])} for query, found in RUN.items()
}
ESTIMATES = {query: {d: 5 * score for d, score in found.items()} for query, found in RUN.items()}
CATALOGUE = {
    "seen": {**{query: _RNG.sample(_ITEMS, 4) for query in _QUERIES}, "other": _ITEMS},
    "catalogue": _ITEMS,
    "distance": {d: [*(_RNG.randint(0, 1) for _ in range(4)), 1] for d in _ITEMS},
}


def read(name: str) -> germane.types.Measure | None:
    """germane's own measure of a name."""
    try:
        return germane.parse(name)
    except germane.GermaneError:
        return None


def list_names(dialect: Dialect) -> Iterator[str]:
    """The names of a dialect that are not germane's own of the same measure, one of each definition."""
    seen = set()
    for entry in dialect.measuring:
        for written in entry.write_names(3, 1):
            name = written.replace("max_rel=1", "max_rel=2").replace("catalog=1", "catalog=40")
            theirs, own = germane.parse(f"{dialect.name}:{name}"), read(name)
            if theirs != own and (theirs, own is None) not in seen:
                seen.add((theirs, own is None))
                yield name


def give(
    dialect: Dialect, measure: germane.types.Measure
) -> tuple[tuple[Any, Any], dict[str, Any]]:
    if dialect.name == "surprise":
        return (RATINGS, ESTIMATES), {}
    if measure.row.subtopics:
        return (ASPECTS, RUN), {}
    return (QRELS, RUN), CATALOGUE if hasattr(measure.row, "of_lists") else {}


def find_again(dialect: Dialect, name: str) -> str | None:
    """What reconcile says of a tool's value under the tool's name, if it does not name the tool."""
    data, more = give(dialect, germane.parse(f"{dialect.name}:{name}"))
    [result] = germane.evaluate(*data, [name], dialect=dialect, **more).values()
    if math.isnan(result.mean):
        return None
    found = germane.reconcile(*data, reported=f"{result.mean:.9f}", measure=name, **more)
    tools = {tool for one in found for tool in one.candidate.tools}
    if f"{dialect.name}:{name}" in tools or dialect.name in found.unsure:
        return None
    return f"{dialect.name}:{name} is {result.measure}: {found.verdict}"


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_a_name_of_another_family_is_found() -> None:
    """precision of implicit is a recall, Accuracy of ir_measures an AUROC, MAP of Elliot a mean of P."""
    of_other_families = [
        (dialect, name)
        for dialect in DIALECTS
        for name in list_names(dialect)
        if (own := read(name)) is not None
        and own.name != germane.parse(f"{dialect.name}:{name}").name
    ]
    names = {(dialect.name, name) for dialect, name in of_other_families}
    assert names >= {
        ("implicit", "precision@3"),
        ("ir_measures", "Accuracy@3"),
        ("elliot", "MAP@3"),
    }
    assert [*filter(None, (find_again(*one) for one in of_other_families))] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_every_name_of_a_tool_is_found(dialect: Dialect, every: int) -> None:
    names = [*list_names(dialect)][::every]
    assert [*filter(None, (find_again(dialect, name) for name in names))] == []


def test_a_name_that_only_tools_have_is_asked_for() -> None:
    """The first, the longest, and one with a colon of its own."""
    for name, own in (
        ("recip_rank", "RR"),
        ("map_cut_2", "AP(norm=R)@2"),
        ("MAP:top=2", "AP(norm=possible)@2"),
    ):
        found = germane.reconcile(QRELS, RUN, reported="0.5", measure=name)
        assert str(found.measure) == own
        assert str(germane.spread(QRELS, RUN, name).own.measure) == own
    for verb in (germane.reconcile, germane.spread):
        given = {"reported": "0.5"} if verb is germane.reconcile else {}
        with pytest.raises(germane.errors.MeasureError, match="Did you mean 'AP@2'"):
            verb(QRELS, RUN, measure="APP@2", **given)


# --- The same in the other verbs --------------------------------------------------------------------


def test_spread_shows_what_the_tool_calls_so() -> None:
    spread = {one.dialect: one for one in germane.spread(QRELS, RUN, "precision@3")}
    assert str(spread["implicit"].measure) == "R(norm=min,mean=micro)@3"
    assert spread["implicit"].name == "precision@3"
    assert str(spread["recommenders"].measure) == "P@3"
    assert "implicit" in germane.spread(QRELS, RUN, germane.P @ 3).without  # a measure has no name


def test_a_table_tries_it_too() -> None:
    value = germane.evaluate(QRELS, RUN, "implicit:precision@3")["R(norm=min,mean=micro)@3"].mean
    ranked = germane.evaluate(QRELS, RUN, "implicit:ndcg@3")["nDCG@3"].mean
    less = {query: dict(list(found.items())[3:]) for query, found in RUN.items()}
    rows = {"a": {"precision@3": f"{value:.6f}", "ndcg@3": f"{ranked:.6f}"}}
    result = germane.evaluate(QRELS, less, ["precision@3", "ndcg@3"], dialect="implicit")
    rows["b"] = dict(zip(rows["a"], (f"{one.mean:.6f}" for one in result.values()), strict=True))
    found = germane.reconcile_table(QRELS, {"a": RUN, "b": less}, rows)
    assert str(found.definitions["precision@3"].measure) == "R(norm=min,mean=micro)@3"
    assert found.tools == ("implicit",)


@pytest.mark.parametrize(
    ("name", "tool"),
    [("precision@10", "implicit (R(norm=min,mean=micro)@10)"), ("Accuracy@10", "ir_measures (AUROC@10)")],
)  # fmt: skip
def test_audit_accuses_nobody_whose_tool_calls_another_measure_so(name: str, tool: str) -> None:
    """A mean weighted by R is no multiple of 1/1000 (nor is P divided by the number of results)."""
    found = germane.audit({"ours": {name: "0.33337"}}, queries=100)
    assert not found
    assert found.restrictions[0].possible.endswith(f"another measure: {tool}.")
    assert germane.audit({"ours": {"Success@10": "0.33337"}}, queries=100)
    assert germane.audit({"ours": {name: "0.33337"}}, queries=100, columns={name: "P@10"})


def test_identify_reads_the_claim_as_a_tool_does() -> None:
    def compute(grades: list[float]) -> float:
        return next((1 / rank for rank, grade in enumerate(grades, 1) if grade >= 1), 0.0)

    assert germane.identify(compute, "recip_rank", takes="grades").holds


def test_the_command_line_finds_it(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    rows = ((q, d, g) for q, judged in QRELS.items() for d, g in judged.items())
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in rows))
    found = ((q, d, s) for q, listed in RUN.items() for d, s in listed.items())
    run.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in found))
    [result] = germane.evaluate(qrels, run, ["precision@3"], dialect="implicit").values()
    given = [f"{qrels}", f"{run}", "-m", "precision@3"]
    assert cli.main(["reconcile", *given, "--reported", f"{result.mean:.6f}"]) == 0
    assert "R(norm=min,mean=micro)@3" in capsys.readouterr().out
    assert cli.main(["dialects", *given]) == 0
    assert "R(norm=min,mean=micro)@3" in capsys.readouterr().out


# --- Boxes -----------------------------------------------------------------------------------------

TRUTH, FOUND = make_boxes(3, "")
FEDERATED = make_federated(3)


def list_box_names(dialect: Dialect) -> Iterator[str]:
    yield from chain.from_iterable(entry.write_names(10, 1) for entry in dialect.measuring)


def find_boxes_again(dialect: Dialect, name: str) -> str | None:
    data = FEDERATED if "unverified" in dialect.choices else (TRUTH, FOUND)
    [value] = germane.boxes.evaluate(*data, [name], dialect=dialect).values()
    found = germane.boxes.reconcile(*data, reported=f"{value.mean:.9f}", measure=name)
    tools = {tool.partition(":")[0] for one in found for tool in one.candidate.tools}
    return None if dialect.name in tools else f"{dialect.name}:{name}: {found.verdict}"


def test_map_of_pascal_voc_is_at_half_an_overlap() -> None:
    [value] = germane.boxes.evaluate(TRUTH, FOUND, dialect="voc2007").values()
    found = germane.boxes.reconcile(TRUTH, FOUND, reported=f"{value.mean:.9f}", measure="mAP")
    [first, *_] = found
    assert (str(first.candidate.measure), first.candidate.tools[0]) == ("AP50", "voc2007:mAP")
    assert found.path[1].change == "AP50"
    assert found.path[-1].value == pytest.approx(value.mean)
    assert found.to_dict()["found"][0]["measure"] == "AP50"
    spread = {one.dialect: one for one in germane.boxes.spread(TRUTH, FOUND, "mAP")}
    assert spread["voc2007"].value == pytest.approx(value.mean)
    assert spread["pycocotools"].value == spread["detectron2"].value
    table = {"ours": {"mAP": f"{value.mean:.9f}"}}
    told = germane.boxes.reconcile_table(TRUTH, {"ours": FOUND}, table)
    assert "voc2007" in told.tools


def test_a_name_that_only_tools_of_boxes_have() -> None:
    found = germane.boxes.reconcile(TRUTH, FOUND, reported="0.5", measure="AR_second")
    assert str(found.measure) == "AR@10"
    assert str(germane.boxes.spread(TRUTH, FOUND, "map_75").own.measure) == "AP75"
    with pytest.raises(germane.errors.MeasureError, match="is not a measure of detections"):
        germane.boxes.reconcile(TRUTH, FOUND, reported="0.5", measure="AR_fourth")


@pytest.mark.parametrize("name", ["P", "R", "recall"])
def test_a_name_of_a_tool_at_its_best_confidence(name: str) -> None:
    assert find_boxes_again(germane.boxes.dialects()["ultralytics"], name) is None


@pytest.mark.slow
@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("dialect", BOX_DIALECTS, ids=lambda one: one.name)
def test_every_name_of_a_tool_of_boxes_is_found(dialect: Dialect, every: int) -> None:
    names = [*list_box_names(dialect)][::every]
    missed = (find_boxes_again(dialect, name) for name in names)
    assert [*filter(None, missed)] == []
