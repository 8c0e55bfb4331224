"""Record what the authors' implementation of rank-biased overlap with ties answers.

    PYTHONPATH=<sigir2024-rbo>/rbo/Python python tests/data/record_rbo.py

writes rbo.json beside this file. Needs rbo.py of github.com/julian-urbano/sigir2024-rbo, and NumPy.
Variant a is the mean over all orders of tied items. Where the longer list is tied beyond the end of
the shorter one, its extrapolation is no such mean; there are no such cases here.
"""

import importlib
import json
import random
from pathlib import Path
from typing import Any

JSON = Path(__file__).with_name("rbo.json")
ITEMS = [f"i{number}" for number in range(12)]


def ranking(rng: random.Random, length: int, tied: bool) -> list[list[str]]:
    """Groups of items, best first."""
    left = rng.sample(ITEMS, length)
    groups = []
    while left:
        size = rng.choice((1, 1, 2, 3)) if tied else 1
        groups.append(left[:size])
        left = left[size:]
    return groups


def cases() -> list[dict[str, Any]]:
    rng = random.Random(20240714)
    theirs: Any = importlib.import_module("rbo").rbo
    out = []
    for tied, longer in ((True, 0), (False, 0), (False, 4), (True, 4)):
        for _ in range(6):
            length = rng.randint(2, 7)
            first = ranking(rng, length, tied)
            second = ranking(rng, length + longer, tied and not longer)
            p = rng.choice((0.8, 0.9, 0.95, 0.98))
            given = [
                [group[0] if len(group) == 1 else set(group) for group in groups]
                for groups in (first, second)
            ]
            value = float(theirs(*given, p, ties="a", score=("ext",))["ext"])
            scores = {
                ties: {name: float(one) for name, one in theirs(*given, p, ties=ties).items()}
                for ties in "bw"
            }
            case = {"first": first, "second": second, "p": p, "rbo": value, "scores": scores}
            out.append(case)
    return out


if __name__ == "__main__":
    JSON.write_text(json.dumps(cases(), indent=1) + "\n", "utf-8")
