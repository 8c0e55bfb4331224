"""The words for limits hold on the data they are about, counted once more from the dicts."""

import itertools

import pytest

import germane
from conformance_given import Given
from germane.core.policy import Policy
from germane.dialects import resolve_dialect
from germane.dialects.dialect import Entry
from germane.dialects.families import DIALECTS
from germane.evaluation.bounds import _WHEN, list_limits
from germane.evaluation.collection import Collection
from germane.evaluation.evaluate import compute_measures
from germane.readers import Needs, open_qrels, open_run

import conformance
from test_live import drawn

WORDS = sorted({limit.when for one in DIALECTS for limit in one.limits})


def test_every_limit_has_a_meaning() -> None:
    assert set(WORDS) == set(_WHEN)


def holds(when: str, given: Given, k: int | None) -> bool:
    """As germane counts it, of what it judged."""
    policy = Policy(duplicates="recount", repeated="once", ties="given")
    judged = Collection(open_qrels(given.qrels), open_run(given.run), Needs("test")).judge(policy)
    return _WHEN[when](judged, germane.AP @ k if k else germane.AP)


@pytest.mark.parametrize(
    "when", [word for word in WORDS if word not in ("tied", "level", "unordered")]
)
def test_limits_on_random_data(when: str) -> None:
    """The same is said of dicts, in plain Python; data of both kinds is met."""
    seen = set()
    for seed, k in itertools.product(range(60), (None, 1, 3)):
        given = drawn(seed)
        if not set(given.qrels) & {q for q, scores in given.run.items() if scores}:
            continue
        plain = conformance.holds(when, given, k, {})
        if when in ("missed", "early", "all_relevant", "all_within", "uneven", "single", "short"):
            given = Given(given.qrels, {q: one for q, one in given.run.items() if q in given.qrels})
            untied = all(len(set(one.values())) == len(one) for one in given.run.values())
            plain = conformance.holds(when, given, k, {})
            if not untied or set(given.run) != set(given.qrels):
                continue
        assert holds(when, given, k) == plain, (seed, k, given)
        seen.add(plain)
    rare = when in (
        "all_relevant",
        "all_within",
        "repeated",
        "named",
        "tied_long",
    )  # these have a test of their own
    assert seen == ({False} if rare else {False, True})


def test_all_relevant() -> None:
    assert holds("all_relevant", Given({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}), None)
    assert not holds("all_relevant", Given({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}), None)
    assert not holds("all_relevant", Given({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 0.5}}), None)
    two = Given({"q": ["a", "b"]}, {"q": {"a": 1.0, "b": 0.5}})
    assert [holds("all_within", two, k) for k in (None, 1, 2, 3)] == [False, False, True, True]


def test_named() -> None:
    assert holds("named", Given({"q": {"a": 1}}, {"q": {"a": 1.0}}), None)
    assert not holds("named", Given({"17": {"a": 1}}, {"17": {"a": 1.0}}), None)


def test_tied() -> None:
    """Ties matter where one of the tied items was judged."""
    qrels = {"q": {"a": 1}}
    assert holds("tied", Given(qrels, {"q": {"a": 1.0, "x": 1.0}}), None)
    assert not holds("tied", Given(qrels, {"q": {"a": 2.0, "x": 1.0, "y": 1.0}}), None)


def test_tied_long() -> None:
    """An insertion sort keeps the order of up to 15 items."""
    for length, long in ((15, False), (16, True)):
        run = {"q": {f"d{i}": 1.0 for i in range(length)}}
        assert holds("tied_long", Given({"q": {"d0": 1}}, run), None) == long


def test_repeated() -> None:
    assert holds("repeated", Given({"q": ["a"]}, {"q": ["a", "a"]}), None)
    assert not holds("repeated", Given({"q": ["a", "b", "a"]}, {"q": ["a"]}), None)  # once
    assert not holds("repeated", Given({"q": ["a", "b"]}, {"q": ["a", "b"]}), None)


def test_a_limit_of_one_measure() -> None:
    dialect = resolve_dialect("trectools")
    judged = Collection(
        open_qrels({"q": {"a": 1, "b": -1}}), open_run({"q": {"a": 1.0}}), Needs("test")
    ).judge(Policy())
    bpref, ap = compute_measures((germane.bpref, germane.AP), judged).values()
    says = [one.says for one in list_limits(dialect, Entry("bpref", "bpref"), bpref, judged)]
    assert says == ["An item with a grade below 0 has a gain, but is not relevant."]
    assert not list(list_limits(dialect, Entry("map", "AP"), ap, judged))
