"""Audit claims nothing of what a tool computes: each dialect, each pair of its measures, under each kind of name."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest

import germane
from germane.dialects.dialect import Entry
from germane.dialects.names import parse
from germane.errors import GermaneError
from germane.types import Dialect, Measure

RELATED = {"P", "R", "RR", "Success", "AP", "MeanP", "APR", "F", "DCG"}
PAPER = {"AP": "MAP", "RR": "MRR", "R": "Recall", "Success": "Hit", "F": "F1"}
OF_RESULTS = ("unjudged", "min_score", "nonpositive", "depth", "own", "grades")
CUTOFFS = (1, 2, 10)
SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"graded": True, "lengths": (2, 5, 16)},
    {"levels": 8},
    {"missing": 0.06, "empty": 0.06, "lengths": (2, 5, 16)},
    {"barren": 0.2, "graded": True},
    {"levels": 8, "missing": 0.06, "barren": 0.2, "empty": 0.06, "lengths": (2, 16)},
    {"copies": 0.1, "barren": 0.1},
    {"around": 0.0, "lengths": (5, 16)},
)
"""What is unusual of a collection; shares are of queries, and of results for copies."""


def draw(
    rng: random.Random,
    *,
    levels: int = 0,
    missing: float = 0.0,
    barren: float = 0.0,
    empty: float = 0.0,
    copies: float = 0.0,
    graded: bool = False,
    lengths: tuple[int, ...] = (16,),
    around: float = 5.0,
) -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """Draw judgments and a run of 60 queries; with copies, of ranked lists that repeat results."""
    docs = [f"d{i:02}" for i in range(24)]
    skill, share = rng.uniform(0, 2), rng.choice((0.08, 0.3, 0.8))
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, Any] = {}
    for q in (f"q{i}" for i in range(60)):
        judged = rng.sample(docs, 16)
        grades = {d: rng.randint(1, 3 if graded else 1) * (rng.random() < share) for d in judged}
        grades[judged[0]] = max(grades[judged[0]], 1)
        qrels[q] = dict.fromkeys(judged, 0) if rng.random() < barren else grades
        if rng.random() < missing:
            continue
        scores = {
            d: rng.gauss(skill * (qrels[q].get(d, 0) > 0), 1) + around
            for d in rng.sample(docs, 0 if rng.random() < empty else rng.choice(lengths))
        }
        run[q] = {d: round(s * levels) / levels if levels else s for d, s in scores.items()}
        if copies:
            ranked = sorted(scores, key=scores.__getitem__, reverse=True)
            run[q] = [d for d in ranked for _ in range(1 + (rng.random() < copies))]
    return qrels, run


COLLECTIONS = {
    f"{at}/{seed}": draw(random.Random(f"{at}/{seed}"), **shape)
    for at, shape in enumerate(SHAPES)
    for seed in range(3)
}


@dataclass(frozen=True)
class Computed:
    """A measure of a tool at one cutoff: its names, its conventions, and its means as printed."""

    entry: Entry
    name: str
    measure: Measure
    choices: Mapping[str, Any]
    means: Mapping[str, str]

    @property
    def label(self) -> str:
        """The name in a paper, which leaves out the norm of AP, and nothing else."""
        plain = self.measure(norm="min") if self.measure.name == "AP" else self.measure
        name = self.measure.name
        return str(plain).replace(name, PAPER.get(name, name), 1)


def compute(tool: Dialect) -> Iterator[Computed]:
    """Evaluate the tool's measures that have laws, on every collection that it takes."""
    seen: list[tuple[Measure, Mapping[str, Any]]] = []
    for entry in tool.measuring:
        for k in CUTOFFS if "{k}" in entry.name else (None,):
            name = entry.write_name(k)
            measure = parse(tool.measure(name))
            arithmetic = dict(measure.parameters).get("mean", "arithmetic") == "arithmetic"
            if measure.name not in RELATED or not arithmetic or measure.rel not in (None, 1.0):
                continue
            choices = {**tool.choices, **entry.fill_choices(k, measure.rel)}
            if (measure, choices) in seen:
                continue  # by another name
            seen.append((measure, choices))
            means = {}
            for at, (qrels, run) in COLLECTIONS.items():
                try:
                    (result,) = germane.evaluate(qrels, run, name, dialect=tool).values()
                except GermaneError:
                    continue
                if result.mean == result.mean:
                    means[at] = f"{result.mean:.5f}"
            if means:
                yield Computed(entry, name, measure, choices, means)


def is_plain(tool: Dialect, one: Computed) -> bool:
    """Is the name in papers not the tool's own name of another measure?"""
    entry = tool.find(one.label)
    return entry is None or parse(tool.measure(one.label)) == one.measure


def audit(columns: Mapping[str, Computed], dialect: str | None) -> germane.types.Audit:
    rows: dict[str, dict[str, str]] = {}
    for label, one in columns.items():
        for at, mean in one.means.items():
            rows.setdefault(at, {})[label] = mean
    return germane.audit(rows, dialect=dialect)


TOOLS = [name for name, dialect in germane.dialects().items() if not dialect.summary]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] if place % 12 else [])
        for place, name in enumerate(TOOLS)
    ],
)
def test_nothing_is_claimed_of_a_tool(name: str) -> None:
    """Under the tool's names, and under those of papers, whether or not the tool is told.

    A paper has one definition of a name, and takes the same results for all of its columns.
    """
    tool = germane.dialects()[name]
    found = list(compute(tool))
    for entries in combinations(dict.fromkeys(one.entry.name for one in found), 2):
        pair = [one for one in found if one.entry.name in entries]
        named = {one.name: one for one in pair}
        for dialect in (name, None):
            said = audit(named, dialect)
            assert not said, f"{dialect}: {said}"
        papers = {one.label: one for one in pair if is_plain(tool, one)}
        alike = len({tuple(one.choices.get(n) for n in OF_RESULTS) for one in pair}) == 1
        if not alike or len(papers) < len(pair):
            continue
        said = audit(papers, name)
        assert not said, str(said)
        same = all(one.choices == pair[0].choices for one in pair)
        if same or any(tool.find(label) for label in papers):
            said = audit(papers, None)
            assert not said, str(said)
