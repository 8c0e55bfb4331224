"""Advice works: options that messages name are taken from the messages, and applied to what raised
them. Neither is the option unknown then, nor is the same said again.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from check_boxes_examples import EXAMPLES as OF_BOXES
from check_examples import EXAMPLES, given_in
from germane import errors

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")

Named = tuple[str, str]
"""The name of an option, and the whole of it as Python writes it."""


@contextmanager
def record_options(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Named]]:
    """Record the options that messages name."""
    named: list[Named] = []
    spell = errors._spell_option

    def record(found: Any) -> str:
        named.append((found[1], found[2]))
        return spell(found)

    with monkeypatch.context() as patch:
        patch.setattr(errors, "_spell_option", record)
        yield named


def read_value(name: str, written: str) -> Any:
    """Read the value that a message gives; None where it leaves it to the reader."""
    text = written.removeprefix(name).removeprefix("=")
    if not text or "…" in text or ": name" in text:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def takes(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or ("conventions" in parameters and hasattr(germane.Policy, name))


SETTLES_NOTHING = {("some ranks against scores", "ties")}
"""Findings that name an option to say what it does not do."""


@pytest.mark.parametrize("what", EXAMPLES)
def test_advice_of_a_finding(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = EXAMPLES[what]
    qrels, run = given_in(example, tmp_path)
    beside = {"train": example.train, "queries": example.queries, "items": example.items}

    def check(**options: Any) -> list[germane.types.Finding]:
        given = {**example.options, **options}
        return [*germane.check(qrels, run, example.measures, **beside, **given)]

    with record_options(monkeypatch) as named:
        findings = [one for one in check() if one.what == what]
    for finding in findings:
        for name, written in set(named):
            if written not in f"{finding.says} {finding.advice}":
                continue
            assert takes(germane.check, name), (finding, written)
            value = read_value(name, written)
            if value is None or (what, name) in SETTLES_NOTHING:
                continue
            if example.options.get(name) == value:  # what the finding is about
                continue
            again = [one for one in check(**{name: value}) if one.what == what]
            assert finding not in again, (written, finding)


@pytest.mark.parametrize("what", OF_BOXES)
def test_advice_of_a_finding_about_boxes(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found, options = OF_BOXES[what]
    with record_options(monkeypatch) as named:
        findings = [one for one in germane.boxes.check(truth, found, **options) if one.what == what]
    for finding in findings:
        for name, written in set(named):
            if written in f"{finding.says} {finding.advice}":
                assert takes(germane.boxes.check, name) or takes(germane.boxes.evaluate, name)


QRELS: Any = {"q": {"a": 1, "b": 0}, "p": {"c": 1}, "z": {"d": 0}}
RUN: Any = {"q": {"a": 0.5, "b": 0.5}, "x": {"c": 1.0}}
TWICE: Any = {"q": ["a", "b", "a"], "p": ["c"], "z": ["d"]}
GRADES, SCORES = np.array([[1, 0, 1]]), np.array([[0.5, 0.5, 0.1]])
ERRORS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "missing": (lambda **o: germane.evaluate(QRELS, RUN, "AP", **o), {"missing": "error"}),
    "no relevant": (lambda **o: germane.evaluate(QRELS, RUN, "AP", **o), {"no_relevant": "error"}),
    "no hit": (lambda **o: germane.evaluate(QRELS, {"q": ["b"]}, "AP", **o), {"no_hit": "error"}),
    "undefined": (
        lambda **o: germane.evaluate(QRELS, RUN, "AP", **o),
        {"no_relevant": "nan", "undefined": "error"},
    ),
    "short": (lambda **o: germane.evaluate(QRELS, TWICE, "P@5", **o),
              {"short": "error", "duplicates": "first"}),
    "twice": (lambda **o: germane.evaluate(QRELS, TWICE, "AP", **o), {}),
    "judged twice": (
        lambda **o: germane.evaluate({"q": [("a", 1), ("a", 0)]}, {"q": ["a"]}, "AP", **o), {}
    ),
    "ids of columns": (
        lambda **o: germane.evaluate(GRADES, SCORES, "AP", **o), {"ties": "trec"}
    ),
    "order of ties": (lambda **o: germane.evaluate(QRELS, RUN, "MCC", **o),
                      {"ties": "expected", "depth": 1, "unjudged": "remove"}),
    "explain": (
        lambda **o: germane.explain(QRELS, RUN, "AP", query="q", **o), {"ties": "expected"}
    ),
    "not answered": (lambda **o: germane.explain(QRELS, RUN, "AP", query="p", **o),
                     {"missing": "skip"}),
    "hits": (lambda **o: germane.evaluate(
        QRELS, {"q": [{"id": "a", "score": 1.0}, {"id": "b"}]}, "AP", **o), {}),
    "hits twice": (lambda **o: germane.evaluate(
        QRELS, {"q": [{"id": "a", "score": 1.0}, {"id": "a", "score": 2.0}]}, "AP", **o), {}),
    "swapped ranks": (lambda **o: germane.evaluate(
        QRELS, {"q": [{"id": "a", "rank": 1}, {"id": "b"}]}, "AP", **o), {}),
    "boxes": (lambda **o: germane.boxes.evaluate(
        [{"boxes": [[1, 1, 9, 9]], "labels": [1]}],
        [{"boxes": [[1, 1, 9, 9]], "labels": [2], "scores": [0.5]}], "AP50", **o), {}),
}  # fmt: skip


def find_error(call: Callable[..., Any], options: dict[str, Any]) -> str | None:
    """Call, and return the message of the error, if there is one."""
    try:
        call(**options)
    except germane.GermaneError as error:
        return str(error)
    return None


@pytest.mark.parametrize("what", ERRORS)
def test_advice_of_an_error(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the options that an error names settles it, and each is one that there is."""
    call, options = ERRORS[what]
    with (
        record_options(monkeypatch) as named,
        pytest.raises(germane.GermaneError) as error,
    ):
        call(**options)
    values = [(name, read_value(name, written)) for name, written in named]
    tried, settled = 0, 0
    for name, value in values:
        if value is None or options.get(name) == value:
            continue
        tried += 1
        again = find_error(call, {**options, name: value})
        settled += again is None
        assert "there is no" not in (again or ""), again
        assert again != str(error.value), (name, value)
    assert settled or not tried, (str(error.value), values)


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_words_of_other_libraries_lead_to_what_is_meant() -> None:
    """``weights`` led to digits=, ``ties="first"`` to the worst order, a metric of vectors to names of measures."""
    qrels, run = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}, {"q1": ["x", "a"], "q2": ["c"]}

    def refuse(**choices: Any) -> str:
        with pytest.raises(germane.errors.PolicyError) as raised:
            germane.evaluate(qrels, run, "AP", **choices)
        return str(raised.value)

    for name in ("weights", "query_weights", "sample_weight"):
        assert "evaluate(…)['AP'].weigh({query: weight})" in refuse(**{name: {"q1": 2, "q2": 1}})
    weighed = germane.evaluate(qrels, run, "AP")["AP"].weigh({"q1": 2, "q2": 1})
    assert weighed.mean == pytest.approx((2 * (1 / 2) / 2 + 1) / 3)
    assert "evaluate(…).by(categories)" in refuse(by={"q1": "en", "q2": "de"})
    assert str(germane.evaluate(qrels, run, "AP").by({"q1": "en", "q2": "de"}))
    assert "'P(mean=micro)@10'" in refuse(average="micro")
    assert germane.evaluate(qrels, run, "P(mean=micro)@10")
    assert "Did you mean" not in refuse(ties="first")
    vectors = np.eye(3)
    labels = {"query_labels": [0, 1, 2], "gallery_labels": [0, 1, 2]}
    for metric, similarity in (("cosine", "cosine"), ("l2", "euclidean"), ("ip", "dot")):
        with pytest.raises(germane.errors.PolicyError, match=f"similarity='{similarity}'"):
            germane.evaluate_embeddings(vectors, vectors, "AP", **labels, metric=metric)
        assert germane.evaluate_embeddings(vectors, vectors, "AP", **labels, similarity=similarity)
