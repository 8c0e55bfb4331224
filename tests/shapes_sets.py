"""Make small sets of masks or keypoints in the form of COCO's JSON, drawn from a seed.

Sets have crowds, scores and overlaps that tie, empty images, annotations with the id 0, copies, polygons,
run lengths and compressed ones, and people without visible keypoints. pycocotools encodes masks.
"""

import copy
import math
import random
import warnings
from typing import Any

Data = dict[str, Any]


class _Drawer:
    def __init__(self, seed: int, kind: str, boxed: bool | None) -> None:
        self.rng, self.kind = random.Random(seed), kind
        self.tied = self.rng.random() < 0.5
        self.boxed = self.rng.random() < 0.4 if boxed is None else boxed
        self.width, self.height = 120 + self.rng.randrange(40), 100 + self.rng.randrange(60)

    def draw_polygon(self, x: float, y: float, size: float) -> list[float]:
        corners, digits = self.rng.randrange(3, 8), self.rng.choice([0, 2])
        angles = (2 * math.pi * i / corners for i in range(corners))
        return [
            round(one, digits)
            for angle in angles
            for one in (
                x + size * self.rng.uniform(0.5, 1) * math.cos(angle),
                y + size * self.rng.uniform(0.5, 1) * math.sin(angle),
            )
        ]

    def encode(self, polygons: list[list[float]], form: str) -> Any:
        """Encode as polygons, runs or compressed runs."""
        if form == "polygons":
            return polygons
        from pycocotools import mask

        code = mask.merge(mask.frPyObjects(polygons, self.height, self.width))
        if form == "compressed":
            return {"size": code["size"], "counts": code["counts"].decode()}
        counts, last, run = [], 0, 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pixels = mask.decode(code).flatten(order="F").tolist()
        for one in pixels:
            if one != last:
                counts.append(run)
                run, last = 0, one
            run += 1
        return {"size": code["size"], "counts": [*counts, run]}

    def draw_points(self, x: float, y: float, size: float, *, none: bool) -> list[int]:
        out = []
        for _ in range(17):
            seen = 0 if none else self.rng.choice([0, 1, 2, 2])
            spread = [round(one + self.rng.uniform(-size, size)) for one in (x, y)]
            out += [*spread, seen] if seen or self.rng.random() < 0.5 else [0, 0, 0]
        return out

    def draw_truth(self, image: int, label: int, at: int) -> tuple[Data, Any]:
        """Draw an annotation, and its polygons or keypoints."""
        rng = self.rng
        x, y = rng.uniform(0, self.width), rng.uniform(0, self.height)
        size = rng.choice([4, 10, 25, 45])
        crowd = int(rng.random() < 0.15)
        row = {
            "id": at, "image_id": image, "category_id": label, "iscrowd": crowd,
            "area": round(size * size * rng.uniform(0.5, 4), 2),
            "bbox": [round(x - size, 1), round(y - size, 1), 2 * size, 2 * size],
        }  # fmt: skip
        if self.kind == "segm":
            shape: Any = [self.draw_polygon(x, y, size) for _ in range(rng.choice([1, 1, 2]))]
            forms = (
                ["runs", "compressed"] if crowd else ["polygons", "polygons", "runs", "compressed"]
            )
            row["segmentation"] = self.encode(shape, rng.choice(forms))
        else:
            shape = self.draw_points(x, y, size, none=rng.random() < 0.2)
            row |= {"keypoints": shape, "num_keypoints": sum(one > 0 for one in shape[2::3])}
        return row, shape

    def draw_detection(self, truth: Data, shape: Any, classes: list[int]) -> Data:
        rng = self.rng
        far = rng.choice([0, 1, truth["bbox"][2] * 0.15])
        label = truth["category_id"] if rng.random() < 0.9 else rng.choice(classes)
        score = round(rng.random(), 1 if self.tied else 6)
        row = {"image_id": truth["image_id"], "category_id": label, "score": score}
        if self.boxed:
            row["bbox"] = truth["bbox"]
        if self.kind == "segm":
            moved = [[round(one + rng.uniform(-far, far), 2) for one in part] for part in shape]
            forms = ["compressed", "polygons", "runs"] if self.boxed else ["compressed"]
            return row | {"segmentation": self.encode(moved, rng.choice(forms))}
        moved = [
            one if i % 3 == 2 else round(one + rng.uniform(-far, far), 2)
            for i, one in enumerate(shape)
        ]
        return row | {"keypoints": moved}


def make_shapes(
    seed: int, kind: str, images: int = 8, boxed: bool | None = None
) -> tuple[Data, list[Data]]:
    """Make truths and detections; ``kind`` is segm or keypoints, ``boxed`` gives detections boxes, too."""
    drawer = _Drawer(seed, kind, boxed)
    rng = drawer.rng
    classes = [1, 2, 3] if kind == "segm" else rng.choice([[1], [1, 2]])
    annotations: list[Data] = []
    detections: list[Data] = []
    first = rng.choice([0, 1, 1, 1])
    for image in range(1, images + 1):
        for _ in range(rng.choice([0, 1, 4, 9])):
            row, shape = drawer.draw_truth(image, rng.choice(classes), first + len(annotations))
            annotations.append(row)
            for _ in range(rng.choice([0, 1, 1, 2, 3])):
                detections.append(drawer.draw_detection(row, shape, classes))
                if rng.random() < 0.1:
                    detections.append(copy.deepcopy(detections[-1]))
    rng.shuffle(detections)
    truth = {
        "images": [
            {"id": i, "width": drawer.width, "height": drawer.height} for i in range(1, images + 1)
        ],
        "categories": [{"id": one, "name": f"class {one}"} for one in classes],
        "annotations": annotations,
    }
    return truth, detections
