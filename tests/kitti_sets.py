"""Make random sets in KITTI's 2D format: folders of labels and of results.

    truth, found = write_random(tmp_path, seed=1, images=40, traits="regions, neighbors, levels")

Scores are unlike each other. ``low`` boxes are of any height down to 12 pixels; without it all are at least 45
pixels high.
"""

import random
from pathlib import Path

KINDS = ("Car", "Pedestrian", "Cyclist")
NEAR = {"Car": "Van", "Pedestrian": "Person_sitting"}


def write_random(folder: Path, *, seed: int, images: int, traits: str = "") -> tuple[Path, Path]:
    rng = random.Random(seed)
    truth, found = folder / "label_2", folder / "data"
    for made in (truth, found):
        made.mkdir(parents=True)
    scores = [place / 100_000 for place in range(1, 100_000)]
    rng.shuffle(scores)
    for image in range(images):
        labels, results = [], []
        for _ in range(rng.randrange(12)):
            kind, box = rng.choice(KINDS), _draw_box(rng, traits)
            near = "neighbors" in traits and kind in NEAR and rng.random() < 0.15
            occluded, truncated = 0, 0.0
            if "levels" in traits:
                occluded, truncated = (
                    rng.choice((0, 0, 1, 2, 3)),
                    rng.choice((0.0, 0.1, 0.2, 0.4, 0.6)),
                )
            labels.append((NEAR[kind] if near else kind, truncated, occluded, box))
            for _ in range(rng.choice((0, 1, 1, 1, 2))):
                moved = [round(side + rng.gauss(0, 0.05) * (box[3] - box[1]), 2) for side in box]
                found_kind = kind if rng.random() < 0.9 else rng.choice(KINDS)
                results.append((found_kind, moved, scores.pop()))
        results += [
            (rng.choice(KINDS), _draw_box(rng, traits), scores.pop())
            for _ in range(rng.randrange(4))
        ]
        if "regions" in traits and rng.random() < 0.4:
            labels.append(("DontCare", -1.0, -1, _draw_box(rng, traits)))
        (truth / f"{image:06}.txt").write_text(
            "".join(
                f"{kind} {cut} {hidden} 0 {_join(box)}{' -1' * 7}\n"
                for kind, cut, hidden, box in labels
            )
        )
        (found / f"{image:06}.txt").write_text(
            "".join(
                f"{kind} -1 -1 0 {_join(box)}{' -1' * 7} {score}\n" for kind, box, score in results
            )
        )
    return truth, found


def _draw_box(rng: random.Random, traits: str) -> list[float]:
    low = 12.0 if "low" in traits else 45.0
    height = round(rng.uniform(low, 130), 2)
    x, y = round(rng.uniform(0, 1100), 2), round(rng.uniform(0, 240), 2)
    return [x, y, round(x + height * rng.uniform(0.4, 2.2), 2), round(y + height, 2)]


def _join(box: list[float]) -> str:
    return " ".join(map(str, box))
