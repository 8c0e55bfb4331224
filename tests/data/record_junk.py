"""Record answers of tools with junk: torchreid and the revisited Oxford and Paris benchmarks.

    python tests/data/record_junk.py RANK EVALUATE

RANK is torchreid's ``metrics/rank.py`` and EVALUATE the benchmarks' ``python/evaluate.py``; writes junk.json
beside this file. Images of the query's person and camera are junk in torchreid. The benchmarks are given
easy, hard and junk images, of which each protocol makes relevant ones and junk.
"""

import importlib.util
import json
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

JSON = Path(__file__).with_name("junk.json")
SEED = 20261128
KAPPAS = (1, 3, 5)


def load(path: str) -> Any:
    """Load a module from a file. One was written before NumPy 2."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    if not hasattr(np, "in1d"):
        np.in1d = np.isin
    return module


def ask_torchreid(rank: Any, rng: random.Random) -> dict[str, Any]:
    """Ask for mAP and the first ranks of some persons, seen by some cameras."""
    queries, gallery = rng.randint(2, 6), rng.randint(12, 24)
    persons, cameras = rng.randint(3, 5), rng.randint(1, 3)
    sides = [
        {
            "persons": [rng.randrange(persons) for _ in range(n)],
            "cameras": [rng.randrange(cameras) for _ in range(n)],
        }
        for n in (queries, gallery)
    ]
    places = rng.sample(range(1000), queries * gallery)
    distances = np.array(places, float).reshape(queries, gallery) / 1000
    arrays = [np.array(side[name]) for name in ("persons", "cameras") for side in sides]
    try:
        curve, mean = rank.eval_market1501(distances, *arrays, 3)
        answer: dict[str, Any] = {"mAP": float(mean), "cmc": [float(one) for one in curve]}
    except AssertionError as error:
        answer = {"error": str(error)}
    return {
        "queries": sides[0],
        "gallery": sides[1],
        "distances": distances.tolist(),
        "answer": answer,
    }


def ask_benchmark(evaluate: Any, rng: random.Random) -> dict[str, Any]:
    """Ask for the three protocols of some queries."""
    queries, images = rng.randint(2, 5), rng.randint(8, 30)
    judged = []
    for _ in range(queries):
        some = rng.sample(range(images), rng.randint(4, images))
        cuts = sorted(rng.sample(range(1, len(some)), 3))
        parts = [some[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]
        judged.append(dict(zip(("easy", "hard", "junk"), parts, strict=True)))
    order = [rng.sample(range(images), images) for _ in range(queries)]
    answers = {}
    for name, (right, junk) in PROTOCOLS.items():
        gnd = [
            {
                "ok": [image for part in right for image in one[part]],
                "junk": [image for part in junk for image in one[part]],
            }
            for one in judged
        ]
        mean, each, means, _ = evaluate.compute_map(np.array(order).T, gnd, list(KAPPAS))
        answers[name] = {
            "mAP": float(mean),
            "aps": [float(one) for one in each],
            "mP": [float(one) for one in means],
        }
    return {"judged": judged, "order": order, "answers": answers}


PROTOCOLS = {
    "easy": (("easy",), ("junk", "hard")),
    "medium": (("easy", "hard"), ("junk",)),
    "hard": (("hard",), ("junk", "easy")),
}
"""The relevant images of each protocol, and its junk."""


def main() -> None:
    rank, evaluate = map(load, sys.argv[1:3])
    rng = random.Random(SEED)
    recorded = {
        "torchreid": [ask_torchreid(rank, rng) for _ in range(40)],
        "revisitop": [ask_benchmark(evaluate, rng) for _ in range(25)],
        "kappas": KAPPAS,
        "seed": SEED,
    }
    JSON.write_text(json.dumps(recorded).replace('}}, {"', '}},\n{"') + "\n", "utf-8")


if __name__ == "__main__":
    main()
