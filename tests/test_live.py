"""The dialects beside the tools themselves, those that are installed here.

    pytest -m live                        all of them
    pytest -m live -k 'ranx or beir'      some

They are asked on the recorded cases and on random data, with ties, graded and negative judgments,
unjudged items, and queries that one side lacks.
"""

import random
import warnings
from typing import Any

import pytest

from conformance_given import Given
from live_tools import TOOLS, Told, Tool

import conformance

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

CASES, _ = conformance.fixture()
RECORDED = [
    pytest.param(Given(case["qrels"], case["run"]), id=name)
    for name, case in CASES.items()
    if case["kind"] == "ir"
]


def drawn(seed: int) -> Given:
    """Random qrels and a run; every third time no scores are tied."""
    rng = random.Random(seed)
    items = [f"{stem}{i}" for stem in "dD" for i in (1, 2, 3, 9, 10, 20, 100)]
    tied = seed % 3 > 0
    score: Any = (lambda: float(rng.randint(-2, 4))) if tied else lambda: rng.uniform(-1, 3)
    grades = (-1, 0, 0, 1, 1, 2, 3) if seed % 2 else (0, 1)
    queries = [str(q) for q in range(1, rng.randint(2, 6))]
    qrels = {
        q: {d: rng.choice(grades) for d in rng.sample(items, rng.randint(1, 9))} for q in queries
    }
    run = {
        q: {d: score() for d in rng.sample(items, rng.randint(0 if rng.random() < 0.2 else 1, 14))}
        for q in [*queries, "77"]
        if rng.random() < 0.85
    }
    return Given(qrels, run or {queries[0]: {items[0]: 1.0}})


def check(tool: Tool, given: Given) -> int:
    """Everything that the tool says of this data, beside its dialect; the number of answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answers = list(tool(given))
        except ImportError as error:
            pytest.skip(str(error))
    wrong = [text for one in answers if (text := _wrong(one))]
    assert not wrong, (len(wrong), wrong[:3], given)
    return len(answers)


def _wrong(told: Told) -> str:
    outcome = conformance.compared(
        told.given, told.ask, told.answer, conformance.TOLERANCE.get(told.ask.dialect, 1e-9)
    )
    return outcome.says if outcome.word == "failed" else ""


@pytest.mark.parametrize("given", RECORDED)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_on_recorded_cases(tool: Tool, given: Given) -> None:
    check(tool, given)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_on_random_data(tool: Tool) -> None:
    assert sum(check(tool, drawn(seed)) for seed in range(60)) > 60
