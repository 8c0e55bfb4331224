"""Record the precision–recall curves that scikit-learn answers for small random lists.

    python tests/data/record_curves.py

writes curves.json beside this file. Needs scikit-learn. It is given nothing but scores and labels,
so every relevant item is in the list, and at least one is: it knows neither items that were missed
nor a curve without relevant items.
"""

import importlib
import importlib.metadata
import json
import platform
import random
from pathlib import Path
from typing import Any

JSON = Path(__file__).with_name("curves.json")
SEED = 20240607

Labels = list[int]
Scores = list[int]


def lists(rng: random.Random) -> list[tuple[Labels, Scores]]:
    """Labels and scores of 1 to 60 items: half of the lists without ties, half with many."""
    out: list[tuple[Labels, Scores]] = []
    for i in range(64):
        length = (1, 2, 3, 60)[i // 2] if i < 8 else rng.randint(1, 60)
        share = rng.choice((0.05, 0.3, 0.5, 0.9))
        labels = [int(rng.random() < share) for _ in range(length)]
        labels[rng.randrange(length)] = 1
        different = rng.randint(1, 12)
        tied = [rng.randint(1, different) for _ in range(length)]
        out.append((labels, tied if i % 2 else rng.sample(range(1000), length)))
    corners: list[tuple[Labels, Scores]] = [
        ([1, 0, 1, 0], [1, 1, 1, 1]),
        ([1, 1, 1, 1], [1, 1, 1, 1]),
        ([1, 1, 0, 0], [2, 2, 1, 1]),
        ([0, 0, 1, 1], [2, 2, 1, 1]),
        ([0, 0, 0, 1], [4, 3, 2, 1]),
        ([1, 0, 0, 0], [4, 3, 2, 1]),
    ]
    return out + corners


def answer(labels: Labels, scores: Scores) -> dict[str, Any]:
    """What scikit-learn says of one list; the points in its own order, from the end to the start."""
    metrics: Any = importlib.import_module("sklearn.metrics")
    precision, recall, _ = metrics.precision_recall_curve(labels, scores, drop_intermediate=False)
    return {
        "labels": labels,
        "scores": scores,
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "average_precision_score": float(metrics.average_precision_score(labels, scores)),
        "auc": float(metrics.auc(recall, precision)),
    }


def main() -> None:
    """Record, and write the file."""
    recorded = {
        "tool": "scikit-learn",
        "version": importlib.metadata.version("scikit-learn"),
        "python": platform.python_version(),
        "seed": SEED,
        "curves": [answer(labels, scores) for labels, scores in lists(random.Random(SEED))],
    }
    text = json.dumps(recorded, allow_nan=False)
    JSON.write_text(text.replace('}, {"', '},\n{"') + "\n", "utf-8")


if __name__ == "__main__":
    main()
