"""Limits hold on the data they are about; what holds is counted once more from the dicts."""

import itertools

import pytest

import germane
from conformance_given import Given
from germane.collection import Collection
from germane.dialects import Foreign, named
from germane.dialects.table import DIALECTS
from germane.limits import _WHEN, holding
from germane.policy import Policy
from test_live import drawn

import conformance

WORDS = sorted({limit.when for one in DIALECTS for limit in one.limits})


def test_every_limit_has_a_meaning() -> None:
    assert set(WORDS) == set(_WHEN)


def holds(when: str, given: Given, k: int | None) -> bool:
    """As germane counts it, of what it judged."""
    policy = Policy(duplicates="again", repeated="once", ties="given")
    judged = Collection(given.qrels, given.run, "test").judged(policy)
    return _WHEN[when](judged, germane.AP @ k if k else germane.AP)


@pytest.mark.parametrize("when", [word for word in WORDS if word not in ("tied", "level")])
def test_limits_on_random_data(when: str) -> None:
    """The same is said of dicts, in plain Python; data of both kinds is met."""
    seen = set()
    for seed, k in itertools.product(range(60), (None, 1, 3)):
        given = drawn(seed)
        if not set(given.qrels) & {q for q, scores in given.run.items() if scores}:
            continue
        plain = conformance.holds(when, given, k, {})
        if when in ("missed", "early", "all_relevant", "uneven", "single", "short", "small"):
            given = Given(given.qrels, {q: one for q, one in given.run.items() if q in given.qrels})
            untied = all(len(set(one.values())) == len(one) for one in given.run.values())
            plain = conformance.holds(when, given, k, {})
            if not untied or set(given.run) != set(given.qrels):
                continue
        assert holds(when, given, k) == plain, (seed, k, given)
        seen.add(plain)
    rare = when in ("all_relevant", "repeated", "named")  # these have a test of their own
    assert seen == ({False} if rare else {False, True})


def test_all_relevant() -> None:
    assert holds("all_relevant", Given({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}), None)
    assert not holds("all_relevant", Given({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}), None)
    assert not holds("all_relevant", Given({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 0.5}}), None)


def test_named() -> None:
    assert holds("named", Given({"q": {"a": 1}}, {"q": {"a": 1.0}}), None)
    assert not holds("named", Given({"17": {"a": 1}}, {"17": {"a": 1.0}}), None)


def test_tied() -> None:
    """Ties matter where one of the tied items was judged."""
    qrels = {"q": {"a": 1}}
    assert holds("tied", Given(qrels, {"q": {"a": 1.0, "x": 1.0}}), None)
    assert not holds("tied", Given(qrels, {"q": {"a": 2.0, "x": 1.0, "y": 1.0}}), None)


def test_repeated() -> None:
    assert holds("repeated", Given({"q": ["a"]}, {"q": ["a", "a"]}), None)
    assert not holds("repeated", Given({"q": ["a", "b", "a"]}, {"q": ["a"]}), None)  # once
    assert not holds("repeated", Given({"q": ["a", "b"]}, {"q": ["a", "b"]}), None)


def test_a_limit_of_one_measure() -> None:
    dialect = named("trectools")
    judged = Collection({"q": {"a": 1, "b": -1}}, {"q": {"a": 1.0}}, "test").judged(Policy())
    says = [one.says for one in holding(dialect, Foreign("bpref", "bpref"), germane.bpref, judged)]
    assert says == ["A grade below 0 gains, and is no relevant item."]
    assert not list(holding(dialect, Foreign("map", "AP"), germane.AP, judged))


# --- What spread and reconcile say of them ---------------------------------------------------------

QRELS, RUN = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "x": 1.0, "b": 0.5}}


def test_spread_says_of_which_tools_it_is_not_sure() -> None:
    stated = {one.dialect: one for one in germane.spread(QRELS, RUN, "AP@2")}
    assert stated["keras-rs"].unsure == "Equal scores are shuffled."
    assert stated["trec_eval-9"].unsure == ""
    assert "(unsure: Equal scores are shuffled.)" in str(germane.spread(QRELS, RUN, "AP@2"))
    untied = {"q": {"a": 2.0, "x": 1.0, "b": 0.5}}
    assert not any("shuffled" in one.unsure for one in germane.spread(QRELS, untied, "AP@2"))


def test_reconcile_names_no_tool_that_may_say_something_else() -> None:
    found = germane.reconcile(QRELS, RUN, reported="0.5", measure="AP@2")
    tools = {tool.partition(":")[0] for one in found for tool in one.candidate.tools}
    assert "ml_metrics" in tools
    assert not tools & set(found.unsure)
    assert found.unsure["keras-rs"] == "Equal scores are shuffled."
    assert "trec_eval-9" not in found.unsure  # gives 0.25 here
    assert "Their definitions give it, their programs may not: ranx (" in str(found)
