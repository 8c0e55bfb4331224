"""The laws of audit, on random runs."""

import random

import pytest

import germane
from germane.dialects.names import parse
from germane.forensics.laws import PAIRS
from germane.forensics.reported import Reading

NAMES = (
    "P",
    "R",
    "RR",
    "Success",
    "AP",
    "AP(norm=R)",
    "AP(norm=k)",
    "P(norm=retrieved)",
    "F",
    "DCG",
)
MEASURES = [parse(name + cut) for name in NAMES for cut in ("@1", "@2", "@3", "@5", "@10")]
MEASURES += [parse(name) for name in ("RR", "P", "R", "AP", "Success")]


@pytest.mark.filterwarnings("ignore")
def test_every_law_holds_for_every_run() -> None:
    """Some 1,500 inequalities on each run; each law but those of F and DCG is tight somewhere."""
    tight = set()
    for seed in range(20):
        rng = random.Random(seed)
        docs = [f"d{i}" for i in range(15)]
        qrels = {
            f"q{i}": {d: rng.choice((0, 1, 1, 2)) for d in docs[: rng.randint(1, 12)]}
            for i in range(rng.randint(1, 3))
        }
        run = {
            q: {d: rng.random() for d in rng.sample(docs, rng.choice((3, 8, 15)))} for q in qrels
        }
        result = germane.evaluate(qrels, run, MEASURES)
        values = [
            (one, Reading(one), value.mean)
            for one, value in zip(MEASURES, result.values(), strict=True)
        ]
        for a, x, low in values:
            for b, y, high in values:
                for law in (law for law in PAIRS if (law.first, law.second) == (a.name, b.name)):
                    line = law.bound(x, y)
                    if line is not None:
                        most = line.factor * high + line.offset
                        assert low <= most + 1e-9, (seed, a, b, law.says, low, high)
                        if low and abs(low - most) < 1e-9:
                            tight.add(law.says + law.first + law.second)
    every = {law.says + law.first + law.second for law in PAIRS}
    assert len(tight) > 0.8 * len(every)
