"""Draw masks and keypoints for bench/boxes.py: crowded images, 100 objects and 100 detections in each."""

from typing import Any

import numpy as np

OBJECTS, CLASSES, CORNERS = 100, 10, 12
WIDTH, HEIGHT = 640, 480
Array = np.ndarray
Rows = list[dict[str, Any]]


def draw_shapes(rng: np.random.Generator, kind: str, images: int) -> tuple[dict[str, Any], Rows]:
    """Draw truths and detections with masks (segm) or keypoints, in the form of COCO's JSON."""
    count = images * OBJECTS
    owner = np.repeat(np.arange(1, images + 1), OBJECTS)
    classes = rng.integers(1, CLASSES + 1, count) if kind == "segm" else np.ones(count, int)
    center = rng.random((count, 2)) * (WIDTH, HEIGHT)
    size = np.exp(rng.uniform(np.log(8), np.log(80), count))
    crowd = rng.random(count) < 0.01
    annotations: Rows = []
    detections: Rows = []
    scores = np.round(rng.random(count), 5).tolist()
    for i in range(count):
        shape = draw_shape(rng, kind, center[i], size[i])
        corner = center[i] - size[i]
        row = {"image_id": int(owner[i]), "category_id": int(classes[i])}
        box = [*np.round(corner, 2).tolist(), *[round(2 * float(size[i]), 2)] * 2]
        annotations.append(
            {**row, "id": i + 1, "iscrowd": int(crowd[i]), "bbox": box,
             "area": round(2 * float(size[i]) ** 2, 2), **write_truth(kind, shape)}
        )  # fmt: skip
        moved = shape + rng.normal(0, 0.08 * size[i], shape.shape)
        detections.append({**row, "score": scores[i], **write_found(kind, moved)})
    truth = {
        "images": [{"id": i, "width": WIDTH, "height": HEIGHT} for i in range(1, images + 1)],
        "annotations": annotations,
        "categories": [{"id": i, "name": f"class {i}"} for i in range(1, CLASSES + 1)],
    }
    return truth, detections


def draw_shape(rng: np.random.Generator, kind: str, center: Array, size: float) -> Array:
    """Draw corners or keypoints (N, 2)."""
    if kind == "segm":
        angle = np.arange(CORNERS) * 2 * np.pi / CORNERS
        far = size * rng.uniform(0.6, 1, CORNERS)
        return center + far[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return center + rng.uniform(-size, size, (17, 2))


def write_truth(kind: str, shape: Array) -> dict[str, Any]:
    if kind == "segm":
        return {"segmentation": [np.round(shape, 2).ravel().tolist()]}
    points = [one for x, y in shape.tolist() for one in (round(x, 1), round(y, 1), 2)]
    return {"keypoints": points, "num_keypoints": 17}


def write_found(kind: str, shape: Array) -> dict[str, Any]:
    if kind == "segm":
        from pycocotools import mask

        code = mask.frPyObjects([shape.ravel().tolist()], HEIGHT, WIDTH)[0]
        return {"segmentation": {"size": code["size"], "counts": code["counts"].decode()}}
    return {"keypoints": [one for x, y in shape.tolist() for one in (round(x, 1), round(y, 1), 1)]}
