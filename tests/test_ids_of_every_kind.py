"""Equal numbers are one id, whatever holds them, wherever ids are given: equal results, or a clear refusal."""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import germane


class Tensor:
    """A tensor as of PyTorch: its hash and its equality are those of the object."""

    def __init__(self, value: Any, shape: tuple[int, ...] = ()) -> None:
        self._value, self.shape = value, shape

    def item(self) -> Any:
        return self._value

    def __repr__(self) -> str:
        return f"tensor({self._value})"


class Eager:
    """A tensor as of TensorFlow: without a hash, and without ``item``."""

    shape = ()
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: int) -> None:
        self._value = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._value)


HOLDERS: dict[str, Callable[[int], Any]] = {
    "int64": np.int64,
    "int32": np.int32,
    "uint8": np.uint8,
    "float": float,
    "float32": np.float32,
    "Decimal": Decimal,
    "Fraction": Fraction,
    "array": np.array,
    "array of floats": lambda number: np.array(float(number)),
    "tensor": Tensor,
    "tensor without hash": Eager,
    "Arrow scalar": pa.scalar,
    "text": str,
}
"""What may hold a number."""
UNHASHED = ("array", "array of floats", "tensor without hash")
"""Holders that Python does not take for the key of a dict."""
QUERIES, ITEMS = range(1, 5), range(10, 19)
Hold = Callable[[int], Any]


def _keep(number: int) -> int:
    return number


QRELS = {q: {i: float(i % 3) for i in ITEMS if (i + q) % 2} for q in QUERIES}
RUN = {q: {i: 1 / (1 + (i * 7 + q * 3) % 11) for i in ITEMS if (i * q) % 5} for q in QUERIES}
LISTS = {q: sorted(got, key=lambda i: -got[i]) for q, got in RUN.items()}


def _nest(given: Mapping[int, Iterable[int]], hold: Hold, query: Hold = _keep) -> dict[Any, Any]:
    """Hold the items of each query, which are keys of a dict or in a list, and queries."""
    return {
        query(q): {hold(i): grade for i, grade in got.items()}
        if isinstance(got, Mapping)
        else [hold(i) for i in got]
        for q, got in given.items()
    }


def _show(result: germane.types.Result) -> Any:
    return {name: sorted(one.per_query.items()) for name, one in result.items()}


def _evaluate(**options: Any) -> Any:
    qrels, run = options.pop("qrels", QRELS), options.pop("run", RUN)
    return _show(germane.evaluate(qrels, run, options.pop("measures", "AP nDCG@3"), **options))


PAIRS = {q: [i for i in ITEMS if (i + q) % 4 < 2] for q in QUERIES}
SCORES = np.array([[RUN[q].get(i, -1.0) for i in ITEMS] for q in QUERIES])
GRADES = np.array([[QRELS[q].get(i, 0.0) for i in ITEMS] for q in QUERIES])
GROUP_OF = {i: i // 2 for i in ITEMS}
OF_GROUPS = {q: {i // 2: grade for i, grade in got.items()} for q, got in QRELS.items()}
CELLS = [
    (g, s, q)
    for q, grades, scores in zip(QUERIES, GRADES, SCORES, strict=True)
    for g, s in zip(grades, scores, strict=True)
]
RESULT = germane.evaluate(QRELS, RUN, "AP nDCG@3")
ABOUT = {i: {i % 3: 1.0, 7: 2.0} for i in ITEMS}
WEIGHTS = {q: {name: 1.0 + name for name in (0, 1, 2, 7)} for q in QUERIES}
VECTORS = {i: [1.0, float(i), float(i % 4)] for i in ITEMS}


def _measure_lists(measures: str, **options: Any) -> Any:
    result = germane.evaluate(QRELS, LISTS, measures, **options)
    return {name: one.mean for name, one in result.items()}


def _judge_subtopics(hold: Hold, weigh: Hold = _keep) -> Any:
    qrels = {
        q: {i: {hold(name): grade for name, grade in ABOUT[i].items()} for i in got}
        for q, got in QRELS.items()
    }
    weights = {
        q: {weigh(name): weight for name, weight in got.items()} for q, got in WEIGHTS.items()
    }
    return _evaluate(
        qrels=qrels, measures="alpha_nDCG@3 ERR_IA(weights=given)@3", subtopic_weights=weights
    )


def _show_names(**texts: Any) -> Any:
    shown = germane.explain(QRELS, RUN, "AP", query=1, **texts)
    return re.findall(r"(?:name|question) \d+", str(shown))


class Place(NamedTuple):
    """A place where ids are given: a call with ids that something holds."""

    call: Callable[[Hold], Any]
    are_keys: bool = False


PLACES: dict[str, Place] = {
    "items of qrels": Place(lambda hold: _evaluate(qrels=_nest(QRELS, hold)), True),
    "relevant items": Place(lambda hold: _evaluate(qrels=_nest({q: list(got) for q, got in QRELS.items()}, hold))),
    "queries of qrels": Place(lambda hold: _evaluate(qrels=_nest(QRELS, _keep, hold)), True),
    "items of a run": Place(lambda hold: _evaluate(run=_nest(RUN, hold)), True),
    "items of lists": Place(lambda hold: _evaluate(run=_nest(LISTS, hold))),
    "lists of lists": Place(lambda hold: _evaluate(
        qrels=[[*QRELS[q]] for q in QUERIES], run=[[hold(i) for i in LISTS[q]] for q in QUERIES])),
    "queries of a run": Place(lambda hold: _evaluate(run=_nest(RUN, _keep, hold)), True),
    "hits": Place(lambda hold: _evaluate(run={q: [{"id": hold(i), "score": s} for i, s in got.items()] for q, got in RUN.items()})),
    "exclude=": Place(lambda hold: _evaluate(exclude=_nest(PAIRS, hold))),
    "exclude=, queries": Place(lambda hold: _evaluate(exclude=_nest(PAIRS, _keep, hold)), True),
    "only=": Place(lambda hold: _evaluate(only=_nest(PAIRS, hold))),
    "only= as sets": Place(lambda hold: _evaluate(only={q: {hold(i) for i in got} for q, got in PAIRS.items()}), True),
    "exclude= beside an array": Place(lambda hold: _evaluate(
        qrels=GRADES, run=SCORES, query_ids=[*QUERIES], item_ids=[*ITEMS], exclude=_nest(PAIRS, hold))),
    "query_ids=": Place(lambda hold: _evaluate(run=SCORES, query_ids=[hold(q) for q in QUERIES], item_ids=[*ITEMS])),
    "item_ids=": Place(lambda hold: _evaluate(run=SCORES, query_ids=[*QUERIES], item_ids=[hold(i) for i in ITEMS])),
    "gallery_ids=": Place(lambda hold: _show(germane.evaluate_embeddings(
        np.eye(4)[:, :3] + 0.1, np.array([*VECTORS.values()]), "AP", qrels=QRELS, query_ids=[*QUERIES],
        gallery_ids=[hold(i) for i in ITEMS]))),
    "labels": Place(lambda hold: _evaluate(
        qrels=germane.Labels([hold(q % 3) for q in QUERIES], [i % 3 for i in ITEMS]), run=SCORES)),
    "labels of the gallery": Place(lambda hold: _evaluate(
        qrels=germane.Labels([q % 3 for q in QUERIES], [hold(i % 3) for i in ITEMS]), run=SCORES)),
    "sets of labels": Place(lambda hold: _evaluate(
        qrels=germane.Labels([{q % 3, 5} for q in QUERIES], [{hold(i % 3), hold(6)} for i in ITEMS]), run=SCORES), True),
    "group=": Place(lambda hold: _evaluate(
        qrels=np.array([g for g, _, _ in CELLS]), run=np.array([s for _, s, _ in CELLS]),
        group=[hold(q) for _, _, q in CELLS])),
    "sizes of group=": Place(lambda hold: _evaluate(
        qrels=np.array([g for g, _, _ in CELLS]), run=np.array([s for _, s, _ in CELLS]),
        group=[hold(len(ITEMS)) for _ in QUERIES])),
    "collapse=, items": Place(lambda hold: _evaluate(qrels=OF_GROUPS, collapse={hold(i): g for i, g in GROUP_OF.items()}), True),
    "collapse=, groups": Place(lambda hold: _evaluate(qrels=OF_GROUPS, collapse={i: hold(g) for i, g in GROUP_OF.items()})),
    "collapse=, a function": Place(lambda hold: _evaluate(qrels=OF_GROUPS, collapse=lambda i: hold(i // 2))),
    "collapse= of columns": Place(lambda hold: _evaluate(
        qrels=OF_GROUPS, run=SCORES, query_ids=[*QUERIES], collapse=[hold(g) for g in GROUP_OF.values()])),
    "germane.collapse": Place(lambda hold: _evaluate(qrels=OF_GROUPS, run=germane.collapse(_nest(RUN, hold), GROUP_OF)), True),
    "seen=": Place(lambda hold: _measure_lists("Novelty@2", seen=_nest(PAIRS, hold))),
    "seen=, users": Place(lambda hold: _measure_lists("Serendipity@2", catalogue=[*ITEMS], seen=_nest(PAIRS, _keep, hold)), True),
    "catalogue=": Place(lambda hold: _measure_lists("Coverage@2", catalogue=[hold(i) for i in ITEMS])),
    "distance=": Place(lambda hold: _measure_lists("ILD@3", distance={hold(i): VECTORS[i] for i in ITEMS}), True),
    "train=": Place(lambda hold: [one.says for one in germane.check(QRELS, RUN, "AP", train=_nest(QRELS, hold, hold))], True),
    "by=": Place(lambda hold: {name: one.queries for name, one in RESULT.by({hold(q): q % 2 for q in QUERIES}).items()}, True),
    "by=, categories": Place(lambda hold: {name: one.queries for name, one in RESULT.by([hold(q % 2) for q in QUERIES]).items()}),
    "by=, a function": Place(lambda hold: {name: one.queries for name, one in RESULT.by(lambda q: hold(q % 2)).items()}),
    "weights of queries": Place(lambda hold: RESULT["AP"].weigh({hold(q): q for q in QUERIES}).mean, True),
    "query=": Place(lambda hold: germane.explain(QRELS, RUN, "AP", query=hold(2)).readings[0].value),
    "subtopics": Place(_judge_subtopics, True),
    "weights of subtopics": Place(lambda hold: _judge_subtopics(_keep, hold), True),
    "texts of items": Place(lambda hold: _show_names(items={hold(i): f"name {i}" for i in ITEMS}), True),
    "texts of queries": Place(lambda hold: _show_names(queries={hold(q): f"question {q}" for q in QUERIES}), True),
    "reported per query": Place(lambda hold: str(germane.reconcile(
        QRELS, RUN, reported=RESULT["AP"].mean, measure="AP", reported_per_query={hold(q): v for q, v in RESULT["AP"].per_query.items()})), True),
    "rbo": Place(lambda hold: germane.rbo([*ITEMS], [hold(i) for i in reversed(ITEMS)])),
    "rankings of tau": Place(lambda hold: germane.kendall_tau({i: i % 4 for i in ITEMS}, {hold(i): i % 3 for i in ITEMS}), True),
    "Evaluator": Place(lambda hold: _add_batches(hold)),
    "classes of boxes": Place(lambda hold: germane.boxes.evaluate(*_make_boxes(hold, _keep), "AP")["AP"].mean),
    "images of boxes": Place(lambda hold: germane.boxes.evaluate(*_make_boxes(_keep, hold), "AP")["AP"].mean, True),
}  # fmt: skip


def _add_batches(hold: Hold) -> Any:
    evaluator = germane.Evaluator(QRELS, "AP nDCG@3")
    for q in QUERIES:
        evaluator.update(_nest({q: LISTS[q]}, hold))
    return _show(evaluator.result())


def _make_boxes(label: Hold, image: Hold) -> tuple[Any, Any]:
    boxes = {q: [[10.0 * q, 5, 60, 40], [50, 60, 70.0 + q, 90]] for q in QUERIES}
    truths = {q: {"boxes": boxes[q], "labels": [q % 2, 1]} for q in QUERIES}
    found = {
        image(q): {"boxes": boxes[q], "labels": [label(1), label(q % 2)], "scores": [0.9, 0.1 * q]}
        for q in QUERIES
    }
    return truths, found


CASES = [
    (place, holder)
    for place, one in PLACES.items()
    for holder in HOLDERS
    if not (one.are_keys and holder in UNHASHED)
]


NO_DIGITS = ("float", "float32", "Decimal", "Fraction", "array of floats", "text")
"""Holders that may be refused, since a column of ids has digits or text."""
TEXT_IS_ANOTHER = ("rbo", "group=", "by=, categories", "by=, a function", "train=")
"""Places where text beside numbers has no judgment to match, or no way to be told from others."""


@pytest.mark.parametrize(("place", "holder"), CASES)
def test_equal_numbers_are_one_id(place: str, holder: str) -> None:
    call = PLACES[place].call
    expected = call(_keep)
    try:
        found = call(HOLDERS[holder])
    except germane.GermaneError as error:
        if holder in NO_DIGITS:
            return
        raise AssertionError(f"{holder} is refused") from error
    if holder == "text" and found != expected:  # text is another id, and its lack is a finding
        assert place in TEXT_IS_ANOTHER, (found, expected)
        return
    assert found == expected


@pytest.mark.parametrize("place", [name for name in PLACES if name not in ("query=", "train=")])
def test_a_tensor_with_a_dimension_is_no_id(place: str) -> None:
    with pytest.raises(germane.GermaneError):
        PLACES[place].call(lambda number: Tensor(number, (1,)))


@pytest.mark.parametrize(
    "place",
    ["items of qrels", "relevant items", "exclude=", "only=", "seen=", "catalogue=", "item_ids="],
)
def test_a_truth_value_is_no_id(place: str) -> None:
    """Marks in the place of items are not items 1 and 0."""
    with pytest.raises(
        germane.GermaneError, match=r"truth value|whole number; got|False is judged twice"
    ):
        PLACES[place].call(lambda number: bool(number % 2))


def test_two_keys_of_one_number_are_refused() -> None:
    with pytest.raises(
        germane.errors.DuplicateError, match="two of the keys are spelled as the id 3"
    ):
        germane.evaluate({1: {Tensor(3): 1, Tensor(3): 2}}, {1: [3]})


def test_torch_where_it_is_installed() -> None:
    torch = pytest.importorskip("torch")
    labels: list[Any] = []
    for batch in torch.tensor([q % 3 for q in QUERIES]).split(2):
        labels.extend(batch)
    judged = germane.Labels(labels, [i % 3 for i in ITEMS])
    expected = germane.Labels([q % 3 for q in QUERIES], [i % 3 for i in ITEMS])
    assert _evaluate(qrels=judged, run=SCORES) == _evaluate(qrels=expected, run=SCORES)
