"""Small collections and measures: what the tests of laws, of the oracle and of sources draw from.

Everything that has to cover every measure is derived from ``germane.measures.TABLE``; a parameter
without samples here is a KeyError.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from hypothesis import strategies as st

from germane.boxes.box_measures import parse_measure as parse_box_measure
from germane.boxes.checks.matches import TABLE as BOX_CHECKS
from germane.boxes.conventions import TABLE as BOX_FOREIGN
from germane.boxes.conventions import WORDS as BOX_WORDS
from germane.checks.table import TABLE as CHECKS
from germane.cli.boxes import VERBS as BOX_VERBS
from germane.core.policy import Policy
from germane.measures import CATALOGUE, Definition, Parameter
from germane.measures import TABLE as ALL
from germane.measures.box_names import POINTS as BOX_POINTS
from germane.teaching.experiments import EXPERIMENTS
from germane.types import Measure

__all__ = [
    "ALL",
    "BOX_CHECKS",
    "BOX_FOREIGN",
    "BOX_POINTS",
    "BOX_VERBS",
    "BOX_WORDS",
    "CATALOGUE",
    "CHECKS",
    "EXPERIMENTS",
    "RARE_WORDS",
    "STAGES",
    "TABLE",
    "WORDS",
    "Definition",
    "Parameter",
    "parse_box_measure",
]
"""What tests derive their cases from: every measure with its parameters, every convention with its words, and so on."""

STAGES, WORDS, RARE_WORDS = Policy.STAGES, Policy.WORDS, Policy.RARE_WORDS

TABLE = tuple(row for row in ALL if not row.subtopics)
"""The measures of judgments without subtopics."""

Judgments = dict[str, float]
Nested = dict[str, dict[str, float]]
Scores = dict[str, float]

GRADES = (-2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
CUTOFFS = (1, 2, 3, 5, 10)

ITEMS = ("a", "b", "B", "z", "é", "e\u0301", "漢", "10", "9", "_", "\uffee", "😀")
"""Ids whose order differs between UTF-8 bytes, UTF-16 units, numbers and alphabets."""

SCORES = (1.0, 0.5, 2.0, 0.0, -0.0, -3.0, 0.1, 0.1 + 2**-56, 1e300, -1e-300)
"""Few enough that ties abound, and near enough that reading them as singles would make more."""

GAIN_MAP = {0.5: 1.0, 1.0: 1.0, 1.5: 2.0, 2.0: 3.0, 3.0: 3.0, 4.0: 10.0}
UNEVEN_MAP = {-1.0: 0.0, 0.0: 0.25, 0.5: 2.0, 1.0: 5.0, 1.5: 0.0, 2.0: 1.0, 3.0: 0.5, 4.0: 10.0}
"""Gains that do not grow with the grade."""

SAMPLES: dict[str, tuple[Any, ...]] = {
    "rel": (1.0, 0.0, 0.5, 1.5, 2.0, 5.0),
    "beta": (1.0, 0.0, 0.5, 2.0, 0.8),
    "alpha": (0.5, 0.0, 0.25, 1.0, 0.3),
    "gamma": (0.5, 0.0, 1.0),
    "mult": (1.0, 0.2, 0.28, 0.5, 1.5, 2.0, 3.3),
    "hit": (1.0, 3.0, 0.5),
    "noise": (-1.0, -0.25, 0.0),
    "miss": (0.0, -2.0),
    "gain": ("linear", "exp", GAIN_MAP),
    "max": (4.0, 5.0, 10.0),
    "p": (0.8, 0.01, 0.5, 0.95),
    "base": (2.0, 10.0),
    "least": (0.0, 1.5),
    "goal": (1.0, 0.5, 3.0),
    "min": (0.0, 0.5),
    "items": ("retrieved", 40.0),
    "missed": ("next", 40.0),
    "length": ("retrieved", 40.0),
    "negatives": ("all", 1.0, 3.0),
    "precision": (0.5, 0.0, 0.34, 1.0),
    "recall": (0.0, 0.1, 0.21, 0.5, 0.7, 1.0),
}
"""Values of the parameters that take numbers."""


def samples(parameter: Parameter) -> tuple[Any, ...]:
    """Values for a parameter: all its words and numbers, or a few of a range."""
    listed = (*parameter.words, *parameter.numbers)
    if parameter.name == "weights":  # given beside the judgments: tests/test_subtopic_weights.py
        return ("equal",)
    if parameter.low is None and not parameter.grades:
        return listed
    return tuple(one for one in SAMPLES[parameter.name] if is_allowed(parameter, one))


def is_allowed(parameter: Parameter, value: Any) -> bool:
    """Is a number within the bounds of a parameter?"""
    if parameter.low is None or not isinstance(value, float):
        return True
    at_end = parameter.open_ends and value in (parameter.low, parameter.high)
    return parameter.low <= value <= parameter.high and not at_end


def variants(row: Definition) -> Iterator[Measure]:
    """A row of the table with its defaults and with every other sample, at every cutoff."""
    choices: list[dict[str, Any]] = [{}]
    for parameter in row.parameters:
        choices += [
            {parameter.name: value} for value in samples(parameter) if value != parameter.default
        ]
    for choice in choices:
        yield Measure(row.name, tuple(choice.items()))
        if row.cutoff:
            yield from (Measure(row.name, tuple(choice.items()), k) for k in CUTOFFS)


def oracle_parameters(measure: Measure) -> dict[str, Any]:
    """A measure's parameters as the oracle takes them."""
    given = dict(measure.parameters)
    return {
        name: dict(value) if isinstance(value, tuple) else value for name, value in given.items()
    }


# ------------------------------------------------------------------------------- random worlds


@dataclass(frozen=True, eq=False)
class Listed:
    """One query: what is judged, and what was retrieved, in order."""

    judged: Judgments
    ranked: tuple[str, ...]


def world(seed: int, queries: int = 60, longest: int = 9) -> tuple[Listed, ...]:
    """Random ranked lists, with unjudged items, missed relevant ones, and every corner."""
    rng = random.Random(seed)
    out = []
    for _ in range(queries):
        size = rng.randint(1, longest)
        items = [f"d{i}" for i in range(size)]
        weights = rng.choice(((1, 1, 5, 1, 3, 1, 2, 1, 1), (0, 0, 1, 0, 1, 0, 0, 0, 0), (1,) * 9))
        grades = rng.choices(GRADES, weights, k=size)
        judged = dict(zip(items, grades, strict=True))
        pool = items + [f"u{i}" for i in range(rng.randint(0, 4))]
        out.append(Listed(judged, tuple(rng.sample(pool, rng.randint(0, len(pool))))))
    out += [
        Listed({"d0": 1.0}, ("d0",)),
        Listed({"d0": 1.0}, ()),
        Listed({"d0": 0.0, "d1": -1.0}, ("d1", "d0")),
        Listed({"d0": 4.0, "d1": 4.0, "d2": 4.0}, ("d2", "u0", "d0", "d1")),
        Listed({"d0": 1.0}, tuple(f"u{i}" for i in range(12))),
        Listed({"d0": 1.0, "d1": 3.0, "d2": 4.0}, ("d0", "d1", "d2")),
    ]
    return tuple(out)


SUBTOPICS = ("s1", "s2", "s3")


def with_subtopics(judged: Judgments) -> Nested:
    """Judge each item for some subtopics: for one of them with its grade, and with lower ones for others."""
    out = {}
    for item, grade in judged.items():
        rng = random.Random(f"{item} {grade}")
        some = rng.sample(SUBTOPICS, rng.randint(1, len(SUBTOPICS)))
        lower = [one for one in GRADES if one <= grade]
        out[item] = {one: rng.choice((grade, *lower)) for one in some} | {some[0]: grade}
    return out


# ------------------------------------------------------------------------- Hypothesis strategies


def judgments(most: int = 8, grades: tuple[float, ...] = GRADES) -> st.SearchStrategy[Judgments]:
    """Grades of a few items, at least one."""
    grade = st.sampled_from(grades)
    return st.dictionaries(st.sampled_from(ITEMS), grade, min_size=1, max_size=most)


def scores(most: int = 8) -> st.SearchStrategy[Scores]:
    """Scores of a few items, many of them tied."""
    few = st.sampled_from(SCORES[:3])
    return st.one_of(
        st.dictionaries(st.sampled_from(ITEMS), few, max_size=most),
        st.dictionaries(st.sampled_from(ITEMS), st.sampled_from(SCORES), max_size=most),
    )


@st.composite
def collections(
    draw: st.DrawFn, most: int = 8, queries: int = 3
) -> tuple[dict[str, Judgments], dict[str, Scores]]:
    """Qrels, and a run that has at least one of their queries."""
    names = [f"q{i}" for i in range(draw(st.integers(1, queries)))]
    qrels = {name: draw(judgments(most)) for name in names}
    run = {name: draw(scores(most)) for name in names if draw(st.integers(0, 9))}
    return qrels, run or {names[-1]: draw(scores(most))}


def every(row: Definition, most: int = 12) -> list[Measure]:
    """A row of the table with all its samples in all combinations, at every small cutoff."""
    sampled = (
        [(parameter.name, value) for value in (*samples(parameter), *_uneven(parameter))]
        for parameter in row.parameters
    )
    cutoffs = (None, None, *range(1, most + 1)) if row.cutoff else (None,)
    endless = [("alpha", 0.0), ("beta", 1.0)]  # an NRBP that has no sum
    choices = [one for one in product(*sampled) if not all(pair in one for pair in endless)]
    return [Measure(row.name, chosen, k) for chosen in choices for k in cutoffs]


def _uneven(parameter: Parameter) -> tuple[Any, ...]:
    return (UNEVEN_MAP,) if parameter.grades else ()


EVERY = {row.name: every(row) for row in ALL}


def one_of_each(rows: Iterable[Definition]) -> st.SearchStrategy[tuple[Measure, ...]]:
    """One measure of each row, with any parameters: together, because collections cost more."""

    def chosen(seed: int) -> tuple[Measure, ...]:
        rng = random.Random(seed)
        return tuple(rng.choice(EVERY[row.name]) for row in rows)

    return st.builds(chosen, st.integers(0, 2**32))


def counted_once(ranked: list[str]) -> list[str]:
    """A list whose further copies of an item are fillers that nobody judged: duplicates=keep."""
    return [f"copy {i}" if item in ranked[:i] else item for i, item in enumerate(ranked)]
