"""Time the evaluation of boxes beside COCO's evaluators, and check that the values agree.

    python bench/boxes.py [--repeats N] [--quick] [--only dense detector masks keypoints] [--tools NAME …]

5,000 images, 80 classes and 100 detections an image, as COCO's JSON. In `dense`, every truth has many
detections of its class nearby, which is the most work. In `detector`, most truths have one detection
and the others are spread over all classes, as a detector leaves them after its suppression.
`masks` and `keypoints` are 2,000 crowded images with 200,000 truths and as many detections.

Every measurement is a process of its own, and the tools take turns; the table shows medians. Loading
files and evaluating are timed apart, imports are not. germane loads, and looks for problems, in the
call of `evaluate`, and computes the arrays when they are asked for; "germane, loaded" is given what
`json.load` makes of the files, so that its evaluation is all of it. CPU is summed over all threads.
The arrays of precision and recall are compared with those of pycocotools, cell by cell, or with
those of the first tool where pycocotools is left out.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from shapes import draw_shapes

QUICK, CLASSES, FOUND = 20, 80, 100
KINDS = {"dense": "bbox", "detector": "bbox", "masks": "segm", "keypoints": "keypoints"}
IMAGES = {"dense": 5_000, "detector": 5_000, "masks": 2_000, "keypoints": 2_000}
SEED = 20261123
FOLDER = Path(__file__).parent / "data" / "boxes"
Array = np.ndarray
COLUMNS = ("load cpu", "evaluate cpu", "load wall", "evaluate wall")


# --- Data ------------------------------------------------------------------------------------------


def make_files(workload: str, folder: Path, images: int) -> None:
    """Write truth.json and detections.json, drawn with a fixed seed."""
    rng = np.random.default_rng((SEED, len(workload)))
    if KINDS[workload] != "bbox":
        write_files(folder, *draw_shapes(rng, KINDS[workload], images))
        return
    owner = np.repeat(np.arange(images), rng.poisson(7, images))
    classes = (
        np.minimum(rng.zipf(1.3, len(owner)) - 1, CLASSES - 1) if workload == "dense" else None
    )
    if classes is None:
        classes = rng.integers(0, CLASSES, len(owner))
    boxes = draw_boxes(rng, len(owner))
    crowd = rng.random(len(owner)) < 0.01
    found = {"dense": draw_dense, "detector": draw_detector}[workload](
        rng, owner, classes, boxes, images
    )
    annotations = [
        {"id": i, "image_id": image, "category_id": label, "bbox": box, "iscrowd": int(c),
         "area": round(box[2] * box[3] * 0.7, 2)}
        for i, (image, label, box, c) in enumerate(
            zip((owner + 1).tolist(), (classes + 1).tolist(), boxes.tolist(), crowd, strict=True), 1
        )
    ]  # fmt: skip
    truth = {
        "images": [{"id": i + 1, "width": 640, "height": 480} for i in range(images)],
        "annotations": annotations,
        "categories": [{"id": i + 1, "name": f"class {i}"} for i in range(CLASSES)],
    }
    rows = zip(*(column.tolist() for column in found), strict=True)
    names = ("image_id", "category_id", "bbox", "score")
    write_files(folder, truth, [dict(zip(names, row, strict=True)) for row in rows])


def write_files(folder: Path, truth: Any, detections: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, given in (("truth", truth), ("detections", detections)):
        (folder / f"{name}.json").write_text(json.dumps(given), "utf-8")


def draw_boxes(rng: np.random.Generator, count: int) -> Array:
    """Boxes of 8 to 400 pixels, two decimals."""
    size = np.exp(rng.uniform(np.log(8), np.log(400), (count, 2)))
    return np.round(np.column_stack([rng.random((count, 2)) * (640, 480), size]), 2)


def move_boxes(rng: np.random.Generator, boxes: Array, share: float) -> Array:
    """Boxes that miss their truth by about this share of its size."""
    moved = boxes + rng.normal(0, share, boxes.shape) * np.tile(boxes[:, 2:], 2)
    moved[:, 2:] = np.maximum(np.abs(moved[:, 2:]), 1)
    return np.round(moved, 2)


def draw_dense(
    rng: np.random.Generator, owner: Array, classes: Array, boxes: Array, images: int
) -> tuple[Array, ...]:
    """100 detections an image, each near one of its truths; half a dozen boxes of an image without truths."""
    first = np.searchsorted(owner, np.arange(images))
    count = np.diff(np.append(first, len(owner)))
    image = np.repeat(np.arange(images)[count > 0], FOUND)
    near = first[image] + (rng.random(len(image)) * count[image]).astype(int)
    scores = np.round(rng.random(len(image)), 5)
    return image + 1, classes[near] + 1, move_boxes(rng, boxes[near], 0.15), scores


def draw_detector(
    rng: np.random.Generator, owner: Array, classes: Array, boxes: Array, images: int
) -> tuple[Array, ...]:
    """Three quarters of the truths found once, some twice; the rest of 100 are weak and anywhere."""
    hit = np.flatnonzero(rng.random(len(owner)) < 0.75)
    hit = np.concatenate([hit, hit[rng.random(len(hit)) < 0.15]])
    near = (owner[hit], classes[hit], move_boxes(rng, boxes[hit], 0.07), rng.beta(4, 2, len(hit)))
    rest = np.repeat(
        np.arange(images), np.maximum(FOUND - np.bincount(owner[hit], minlength=images), 0)
    )
    label = rng.integers(0, CLASSES, len(rest))
    far = (rest, label, draw_boxes(rng, len(rest)), rng.beta(0.5, 6, len(rest)))
    image, label, found, scores = (np.concatenate(both) for both in zip(near, far, strict=True))
    order = np.lexsort((-scores, image))
    return image[order] + 1, label[order] + 1, found[order], np.round(scores[order], 5)


# --- Tools: a function that loads and one that evaluates ----------------------------------------------

Loaded = tuple[Any, Any]
Values = tuple[Array, Array, Array]


def list_values(evaluator: Any) -> Values:
    evaluator.evaluate()
    evaluator.accumulate()
    evaluator.summarize()
    arrays = (np.asarray(evaluator.eval[name]) for name in ("precision", "recall"))
    return (np.asarray(evaluator.stats)[:12], *arrays)


def load_pycocotools(truth: str, detections: str, kind: str) -> Loaded:
    from pycocotools.coco import COCO

    known = COCO(truth)
    return known, known.loadRes(detections)


def evaluate_pycocotools(truth: Any, detections: Any, kind: str) -> Values:
    from pycocotools.cocoeval import COCOeval

    return list_values(COCOeval(truth, detections, kind))


def load_faster(truth: str, detections: str, kind: str) -> Loaded:
    from faster_coco_eval import COCO

    known = COCO(truth)
    return known, known.loadRes(detections)


def evaluate_faster(truth: Any, detections: Any, kind: str) -> Values:
    from faster_coco_eval import COCOeval_faster

    return list_values(COCOeval_faster(truth, detections, kind))


def load_hotcoco(truth: str, detections: str, kind: str) -> Loaded:
    from hotcoco import COCO

    known = COCO(truth)
    return known, known.load_res(detections)


def evaluate_hotcoco(truth: Any, detections: Any, kind: str) -> Values:
    from hotcoco import COCOeval

    return list_values(COCOeval(truth, detections, kind))


def load_json(truth: str, detections: str, kind: str) -> Loaded:
    return json.loads(Path(truth).read_bytes()), json.loads(Path(detections).read_bytes())


def load_germane(truth: Any, detections: Any, kind: str) -> Loaded:
    import germane

    dialect = None if kind == "bbox" else f"pycocotools-{kind}"
    return germane.boxes.evaluate(truth, detections, dialect=dialect), None


def evaluate_germane(result: Any, nothing: None, kind: str) -> Values:
    stats = [float(value) for value in result.stats]
    return np.array(stats), np.asarray(result.precision), np.asarray(result.recall)


def evaluate_loaded(truth: Any, detections: Any, kind: str) -> Values:
    return evaluate_germane(*load_germane(truth, detections, kind), kind)


TOOLS: dict[
    str, tuple[str, Callable[[str, str, str], Loaded], Callable[[Any, Any, str], Values]]
] = {
    "pycocotools": ("pycocotools", load_pycocotools, evaluate_pycocotools),
    "faster-coco-eval": ("faster_coco_eval", load_faster, evaluate_faster),
    "hotcoco": ("hotcoco", load_hotcoco, evaluate_hotcoco),
    "hotcoco, one thread": ("hotcoco", load_hotcoco, evaluate_hotcoco),
    "germane": ("germane", load_germane, evaluate_germane),
    "germane, loaded": ("germane", load_json, evaluate_loaded),
}


def find_tools() -> list[str]:
    here = [name for name, (module, *_) in TOOLS.items() if importlib.util.find_spec(module)]
    try:
        import germane

        has_boxes = hasattr(germane, "boxes")
    except ImportError:
        has_boxes = False
    return [name for name in here if has_boxes or not name.startswith("germane")]


# --- Measuring --------------------------------------------------------------------------------------


def measure(tool: str, workload: str, folder: Path, out: Path) -> dict[str, float]:
    """In this process: import on a tiny set, then load and evaluate."""
    _, load, evaluate = TOOLS[tool]
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as tiny:
        make_files(workload, Path(tiny), 3)
        evaluate(*load(*list_files(Path(tiny)), KINDS[workload]), KINDS[workload])
        clock = [(time.process_time(), time.perf_counter())]
        loaded = load(*list_files(folder), KINDS[workload])
        clock.append((time.process_time(), time.perf_counter()))
        values = evaluate(*loaded, KINDS[workload])
        clock.append((time.process_time(), time.perf_counter()))
    np.savez(out, stats=values[0], precision=values[1], recall=values[2])
    (load_cpu, load_wall), (cpu, wall) = np.diff(clock, axis=0).tolist()
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    costs = dict(zip(COLUMNS, (load_cpu, cpu, load_wall, wall), strict=True))
    return costs | {"MB": peak, "AP": float(values[0][0])}


def list_files(folder: Path) -> tuple[str, str]:
    return str(folder / "truth.json"), str(folder / "detections.json")


def run_tool(tool: str, workload: str, folder: Path, out: Path) -> dict[str, float]:
    """The same in a process of its own."""
    environment = dict(os.environ)
    if "one thread" in tool:
        environment |= {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--one", tool, workload, str(folder), str(out)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    costs: dict[str, float] = json.loads(done.stdout)
    return costs


def measure_all(workload: str, tools: list[str], images: int, repeats: int) -> None:
    folder = FOLDER / f"{workload} {images}"
    if not (
        folder / "detections.json"
    ).exists():  # elsewhere, as a process inherits its parent's peak
        maker = get_context("spawn").Process(target=make_files, args=(workload, folder, images))
        maker.start()
        maker.join()
    taken: dict[str, list[dict[str, float]]] = {tool: [] for tool in tools}
    for _ in range(repeats):
        for tool in tools:
            taken[tool].append(run_tool(tool, workload, folder, folder / f"{tool}.npz"))
    for tool in tools:
        one = {name: median(costs[name] for costs in taken[tool]) for name in taken[tool][0]}
        cells = [f"{one[name]:.2f}" for name in COLUMNS]
        cells.insert(2, f"{one['load cpu'] + one['evaluate cpu']:.2f}")
        far = compare_values(folder / f"{tool}.npz", folder / f"{tools[0]}.npz")
        print(
            f"| {workload} | {tool} | {' | '.join(cells)} | {one['MB']:.0f} | {one['AP']:.12f} | {far} |"
        )


def compare_values(one: Path, other: Path) -> str:
    """The largest difference of a cell of precision or recall."""
    with np.load(one) as mine, np.load(other) as theirs:
        if mine["precision"].shape != theirs["precision"].shape:
            return "other shape"
        far = max(float(np.abs(mine[x] - theirs[x]).max()) for x in ("precision", "recall"))
    return f"{far:.1e}" if far else "0"


def main() -> None:
    """Measure all tools in turns, and print a table."""
    parser = argparse.ArgumentParser(description="Time the evaluation of boxes.")
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the images")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        tool, workload, folder, out = asked.one
        print(json.dumps(measure(tool, workload, Path(folder), Path(out))))
        return
    print(
        "| data | tool | load CPU s | evaluate CPU s | both | load wall s | evaluate wall s | peak MB | AP"
        " | largest difference |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    for workload in asked.only:
        images = IMAGES[workload] // (QUICK if asked.quick else 1)
        measure_all(workload, asked.tools or find_tools(), images, asked.repeats)


if __name__ == "__main__":
    main()
