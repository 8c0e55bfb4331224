"""Record what OGB and PyKEEN answer for true links whose scores others share.

    python tests/data/record_middle_ranks.py

writes middle_ranks.json beside this file. Needs ogb, pykeen and PyTorch.
"""

import importlib
import json
import random
from importlib.metadata import version
from pathlib import Path
from typing import Any

JSON = Path(__file__).with_name("middle_ranks.json")
SEED = 20261128
LEVELS = (1, 2, 4, 8, 100)  # different scores


def ask(rng: random.Random) -> dict[str, Any]:
    """Draw scores of true links and of others, and ask both tools."""
    torch: Any = importlib.import_module("torch")
    links, others, levels = rng.randint(1, 8), rng.randint(1, 25), rng.choice(LEVELS)
    true = [float(rng.randrange(levels)) for _ in range(links)]
    false = [[float(rng.randrange(levels)) for _ in range(others)] for _ in range(links)]
    evaluator = importlib.import_module("ogb.linkproppred").Evaluator(name="ogbl-citation2")
    scores = {"y_pred_pos": torch.tensor(true), "y_pred_neg": torch.tensor(false)}
    means = {name: float(one.mean()) for name, one in evaluator.eval(scores).items()}
    ranks = importlib.import_module("pykeen.evaluation.ranks").Ranks
    metrics: Any = importlib.import_module("pykeen.metrics.ranking")
    whole = torch.tensor([[one, *rest] for one, rest in zip(true, false, strict=True)])
    found = ranks.from_scores(true_score=whole[:, :1], all_scores=whole)
    answers = {}
    for kind, rank in found.items():
        numbers = rank.double().numpy()
        for metric in (
            metrics.InverseHarmonicMeanRank(),
            metrics.ArithmeticMeanRank(),
            metrics.MedianRank(),
            metrics.GeometricMeanRank(),
            metrics.HitsAtK(k=1),
            metrics.HitsAtK(k=3),
        ):
            answers[f"{kind}.{metric.key}"] = float(metric(numbers))
    return {"true": true, "false": false, "ogb": means, "pykeen": answers}


def main() -> None:
    rng = random.Random(SEED)
    recorded = {
        "ogb": version("ogb"),
        "pykeen": version("pykeen"),
        "seed": SEED,
        "lists": [ask(rng) for _ in range(60)],
    }
    JSON.write_text(json.dumps(recorded).replace('}}, {"', '}},\n{"') + "\n", "utf-8")


if __name__ == "__main__":
    main()
