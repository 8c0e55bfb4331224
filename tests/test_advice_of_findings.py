"""What findings say and advise is made of the data: grades, ids and conventions that are there."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import germane

SCALES: dict[str, tuple[float, ...]] = {
    "binary": (0, 1),
    "1…3": (1, 2, 3),
    "1…5": (1, 2, 3, 4, 5),
    "two grades": (1, 2),
    "0…4": (0, 1, 2, 3, 4),
    "halves": (0.5, 1, 1.5, 2, 2.5),
    "below 1": (0, 0.25, 0.5),
    "thirds": (0, 1 / 3, 2 / 3),
    "0…10": (0, 3, 7, 10),
    "negative": (-1, 0, 1),
    "one grade": (2,),
}
SCORES = {
    "tied": lambda q, i: float((q * i) % 3),
    "constant": lambda q, i: 0.5,
    "different": lambda q, i: 1 / (1 + (7 * q + 3 * i) % 23),
    "rounded": lambda q, i: round(1 / (1 + (7 * q + 3 * i) % 23), 1),
}
QUERIES, ITEMS = 12, 20
FORMS = ("dicts", "lists", "scores", "scores with ids", "top ids")
TIES = (None, "trec", "ascending", "given", "expected", "best", "worst")


def _make(scale: str, scores: str, form: str) -> tuple[Any, Any, dict[str, Any]]:
    grades = SCALES[scale]
    judged = np.array(
        [[grades[(3 * q + 5 * i) % len(grades)] for i in range(ITEMS)] for q in range(QUERIES)],
        float,
    )
    found = np.array([[SCORES[scores](q, i) for i in range(ITEMS)] for q in range(QUERIES)])
    queries, items = [f"q{q}" for q in range(QUERIES)], [f"d{i}" for i in range(ITEMS)]
    if form == "scores":
        return judged, found, {}
    if form == "scores with ids":
        return judged, found, {"query_ids": queries, "item_ids": items}
    order = np.argsort(-found, axis=1, kind="stable")
    if form == "top ids":
        return {q: dict(enumerate(row)) for q, row in enumerate(judged.tolist())}, order[:, :15], {}
    qrels = {
        query: dict(zip(items, row, strict=True))
        for query, row in zip(queries, judged.tolist(), strict=True)
    }
    if form == "lists":
        return (
            qrels,
            {
                query: [items[i] for i in row]
                for query, row in zip(queries, order.tolist(), strict=True)
            },
            {},
        )
    return (
        qrels,
        {
            query: dict(zip(items, row, strict=True))
            for query, row in zip(queries, found.tolist(), strict=True)
        },
        {},
    )


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"min_score": 0.4},
    {"exclude": "some"},
    {"only": "few"},
    {"ignore": "some"},
    {"nonpositive": "miss"},
    {"unjudged": "remove"},
)


def _list_cases() -> Iterator[tuple[str, str, str, str | None, dict[str, Any]]]:
    for number, (scale, scores, form, ties) in enumerate(
        itertools.product(SCALES, SCORES, FORMS, TIES)
    ):
        yield scale, scores, form, ties, OPTIONS[number % len(OPTIONS)]


def _pair(form: str, which: str) -> dict[Any, list[Any]]:
    items = range(0, ITEMS, 1 if which == "all" else 2 if which == "some" else 9)
    named = form in ("dicts", "lists", "scores with ids")
    return {
        f"q{q}" if named else q: [f"d{i}" if named else i for i in items] for q in range(QUERIES)
    }


def _find(
    case: tuple[str, str, str, str | None, dict[str, Any]],
) -> tuple[list[germane.types.Finding], Any, Any, dict[str, Any]]:
    scale, scores, form, ties, more = case
    qrels, run, options = _make(scale, scores, form)
    options |= {
        name: _pair(form, one)
        if isinstance(one, str) and name in ("exclude", "only", "ignore")
        else one
        for name, one in more.items()
    }
    if ties is not None:
        options["ties"] = ties
    try:
        found = [*germane.evaluate(qrels, run, "P@10 nDCG@10 RR", **options).findings]
    except germane.GermaneError:
        return [], qrels, run, options
    return [*found, *germane.check(qrels, run, "P@10 nDCG@10 RR", **options)], qrels, run, options


CASES = list(_list_cases())


@pytest.mark.parametrize("part", range(8))
def test_findings_name_what_is_there(part: int) -> None:
    seen = set()
    for case in CASES[part::8]:
        scale, _, form, ties, _ = case
        found, qrels, run, options = _find(case)
        for one in found:
            text = f"{one.says}. {one.advice}"
            seen.add(one.what)
            _check_grades(text, SCALES[scale], case)
            if form in ("scores", "top ids"):  # whose items and queries are numbered
                assert not re.search(r"\bids?\b", text.replace("ids[:, 1:]", "")), (case, text)
            order = ties or ("trec" if form == "dicts" else "given")
            if "as given" in one.advice:
                assert order == "given", (case, text)
            if "ids decide" in one.advice:
                assert order in ("trec", "ascending"), (case, text)
            for name, word in re.findall(r"\b([a-z_]+)=([a-z]+)\b", one.advice):
                if name not in ("gain", "rel"):
                    _follow(qrels, run, {**options, name: word}, (case, text))
            known = {f"q{q}" for q in range(QUERIES)} | {f"d{i}" for i in range(ITEMS)}
            for quoted in re.findall(r"'([^']*)'", text + " ".join(one.examples)):
                assert quoted in known, (case, text)
    assert len(seen) >= 8


def _check_grades(text: str, scale: tuple[float, ...], case: Any) -> None:
    """A lowest grade that is named exists, and leaves relevant items; a highest one suffices."""
    for written in re.findall(r"rel=([0-9.e-]+)", text):
        lowest = float(written.rstrip("."))
        assert lowest in scale, (case, text)
        assert max(scale) >= lowest > 0, (case, text)
    for written in re.findall(r"max=([0-9.]+)\)", text):
        assert float(written) == max(scale), (case, text)


def _follow(qrels: Any, run: Any, options: dict[str, Any], told: Any) -> None:
    """An option that is advised is one, and its word is one of its words."""
    try:
        germane.evaluate(qrels, run, "P@10 nDCG@10 RR", **options)
    except germane.GermaneError as error:
        raise AssertionError(f"{told}: {error}") from error


def test_following_the_advice_on_ratings() -> None:
    """Grades of 1 to 3: the advice once named grade 4, which gives 0."""
    qrels, run, _ = _make("1…3", "different", "dicts")
    ratings = next(one for one in germane.check(qrels, run) if one.what == "ratings")
    measure = re.search(r"P\(rel=\d+\)@10", ratings.advice)
    assert measure is not None
    assert 0 < germane.evaluate(qrels, run, measure[0])[measure[0]].mean < 1


def test_an_option_that_empties_lists_is_told() -> None:
    qrels, run, _ = _make("1…5", "different", "dicts")
    with pytest.warns(
        germane.GermaneWarning, match=r"min_score=4 leaves 12 queries without results"
    ):
        result = germane.evaluate(qrels, run, "P@10", min_score=4)
    found = next(one for one in result.findings if one.what == "lists emptied by an option")
    assert found.count == 12
    assert "P(rel=4)@10" in found.advice
    emptied = {"q0": [*run["q0"]]}
    names = [one.what for one in germane.evaluate(qrels, run, "P@10", exclude=emptied).findings]
    assert "lists emptied by an option" not in names  # one of twelve: less than a tenth
    emptied |= {"q1": [*run["q1"]]}
    found = germane.evaluate(qrels, run, "P@10", exclude=emptied).findings
    assert next(one.count for one in found if one.what == "lists emptied by an option") == 2


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"own": "drop"}, "own=drop leaves 5 queries"),
        ({"nonpositive": "miss"}, "nonpositive=miss leaves 5 queries without a relevant result"),
        ({"unjudged": "remove"}, "unjudged=remove leaves 5 queries"),
        ({"exclude": {f"q{q}": [f"q{q}"] for q in range(5)}}, "exclude= leaves 5 queries"),
        ({"ignore": {f"q{q}": [f"q{q}"] for q in range(5)}}, "ignore= leaves 5 queries"),
        ({"only": {f"q{q}": [] if q < 5 else ["a"] for q in range(10)}}, "only= leaves 5 queries"),
        ({"min_score": 0.5}, "min_score=0.5 leaves 5 queries"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)  # fmt: skip
def test_every_option_that_can_empty_lists(option: dict[str, Any], words: str) -> None:
    """Five lists hold the query alone, with a low score; others that were empty before do not count."""
    first = "q{}" if "unjudged" not in option else "nobody judged {}"
    run: dict[str, Any] = {
        f"q{q}": {first.format(q): -0.1} if q < 5 else {"a": 0.9} for q in range(10)
    }
    run |= {f"empty {q}": {} for q in range(30)}
    qrels = {
        query: {"a": 1, **dict.fromkeys(got, 1)} if "unjudged" not in option else {"a": 1}
        for query, got in run.items()
    }
    if "only" in option:
        option = {"only": {**{query: [] for query in run}, **option["only"]}}
    found = [
        one
        for one in germane.evaluate(qrels, run, "AP", **option).findings
        if "emptied" in one.what
    ]
    assert [one.count for one in found] == [5]
    assert words in found[0].says
    assert " of 10 " in found[0].says
    plain = germane.evaluate(qrels, run, "AP").findings
    assert not any("emptied" in one.what for one in plain)


def test_batches_tell_it_too() -> None:
    qrels, run, _ = _make("1…5", "different", "dicts")
    evaluator = germane.Evaluator(qrels, "P@10", min_score=4)
    for query, got in run.items():
        evaluator.update({query: got})
    found = [one for one in evaluator.result().findings if "emptied" in one.what]
    assert [one.count for one in found] == [12]


def test_relevant_items_that_are_no_candidates() -> None:
    qrels = {"a": {"x": 1, "y": 1, "z": 0}, "b": {"x": 1}}
    run = {"a": ["x", "y", "z"], "b": ["x", "w"]}
    found = germane.evaluate(qrels, run, "AP", exclude={"a": ["x"]}).findings
    assert [(one.what, one.count) for one in found] == [
        ("relevant items that are no candidates", 1)
    ]
    found = germane.evaluate(qrels, run, "AP", exclude={"a": ["x", "y"], "b": ["x"]}).findings
    assert [(one.what, one.count) for one in found if "candidates" in one.what] == [
        ("relevant items that are no candidates", 3)
    ]
    assert not any("same?" in str(one) for one in found)
    found = germane.evaluate(qrels, run, "AP", only={"a": ["x", "z"], "b": ["x"]}).findings
    assert [(one.what, one.count) for one in found] == [
        ("relevant items that are no candidates", 1)
    ]
    assert germane.evaluate(qrels, run, "AP", ignore={"a": ["x"]}).findings == ()
