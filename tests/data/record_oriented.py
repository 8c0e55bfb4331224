"""Record what evaluators of oriented boxes answer on the sets of oriented_sets.py.

    python tests/data/record_oriented.py SOURCES

writes oriented.json beside this file. Answers of tools that are not there stay as they are. SOURCES is a folder
with checkouts: DOTA_devkit, whose polyiou.cpp is compiled with g++; mmrotate's mean_ap.py and
rotated_coco_metric.py of its branch 1.x, and mmdetection's mean_ap.py, which mmrotate calls. Each has a file
COMMIT. mmcv's box_iou_rotated, which is compiled code, is replaced by shapely on numbers in single precision;
all else is the tools' own. Ultralytics is the package, whose minAreaRect makes boxes of corners.

Sorts are stable, and DOTA's devkit, which asks for files, gets them.
"""

import ast
import contextlib
import ctypes
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from record_boxes import (
    ask_safely,
    column,
    list_classes,
    list_images,
    mean,
    rows_of,
    sort_overlaps_stably,
    sort_stably,
    write_plainly,
)

from oriented_sets import list_corners, list_pairs, make_oriented, read_corners

JSON = Path(__file__).with_name("oriented.json")
SETS = {
    "floats": (4, "floats", ""),
    "floats, shuffled": (5, "floats, shuffled", ""),
    "whole": (1, "", ""),
    "difficult": (11, "floats, difficult", ""),
    "tied scores": (6, "floats, tied scores", ""),
    "classes": (17, "floats, truthless class, missed class", ""),
    "many truths": (19, "floats, many truths", ""),
    "deep": (18, "floats, deep", ""),
    "corners": (24, "floats", "moved"),
    "corners, shuffled": (25, "floats, shuffled", "moved"),
    "corners, difficult": (26, "floats, difficult", "moved"),
    "corners, many truths": (27, "floats, many truths", "moved"),
    "whole corners": (28, "floats", "whole"),
    "whole corners, difficult": (29, "floats, difficult", "whole"),
}
MMROTATE_NAMES = (
    "mAP", "mAP_50", "mAP_75", "mAP_s", "mAP_m", "mAP_l", "AR@100", "AR@300", "AR@1000", "AR_s@1000",
    "AR_m@1000", "AR_l@1000",
)  # fmt: skip
"""As coco_metric_names of the tool."""
Data = dict[str, Any]


# --- DOTA's devkit ----------------------------------------------------------------------------------


def load_polyiou(folder: Path) -> Any:
    """Its polyiou.cpp, compiled; the devkit calls it through SWIG, this through C."""
    target = Path(tempfile.mkdtemp()) / "polyiou.so"
    call = (
        '#include "polyiou.h"\n'
        'extern "C" double overlap(double* p, double* q)'
        " {return iou_poly(std::vector<double>(p, p + 8), std::vector<double>(q, q + 8));}\n"
    )
    source = target.with_name("call.cpp")
    source.write_text(call)
    files = [str(source), str(folder / "polyiou.cpp")]
    subprocess.run(
        ["g++", "-O2", "-shared", "-fPIC", f"-I{folder}", *files, "-o", target], check=True
    )
    overlap = ctypes.CDLL(str(target)).overlap
    overlap.restype = ctypes.c_double
    eight = ctypes.c_double * 8
    return types.SimpleNamespace(
        VectorDouble=list, iou_poly=lambda p, q: overlap(eight(*p), eight(*q))
    )


def make_dota(sources: Path) -> Any:
    polyiou: Any = load_polyiou(sources / "DOTA_devkit")
    plot: Any = types.SimpleNamespace(pyplot=None)
    modules = {"polyiou": polyiou, "matplotlib": plot, "matplotlib.pyplot": plot}
    path = sources / "DOTA_devkit" / "dota_evaluation_task1.py"
    devkit = types.ModuleType("devkit")
    with mock.patch.dict(sys.modules, modules), mock.patch.object(np, "bool", bool, create=True):
        exec(compile(path.read_text("utf-8"), str(path), "exec"), devkit.__dict__)

    def ask(truth: Data, detections: list[Data]) -> Data:
        pairs = list_pairs(truth, detections)
        answer: Data = {
            "overlaps": [polyiou.iou_poly(read_corners(b), read_corners(a)) for a, b in pairs]
        }
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for image in list_images(truth):
                lines = [
                    " ".join([*map(repr, read_corners(row)), f"c{row['category_id']}"])
                    + f" {row.get('difficult', 0)}"
                    for row in rows_of(truth["annotations"], image)
                ]
                (folder / f"{image}.txt").write_text("\n".join(lines))
            (folder / "set.txt").write_text("\n".join(map(str, list_images(truth))))
            for label in list_classes(truth):
                lines = [
                    " ".join([str(row["image_id"]), *map(repr, (row["score"], *read_corners(row)))])
                    for row in detections
                    if row["category_id"] == label
                ]
                (folder / f"Task1_c{label}.txt").write_text("\n".join(lines))
            for year, is_2007 in (("2007", True), ("2012", False)):
                answer[year] = {}
                for label in list_classes(truth):
                    with contextlib.redirect_stdout(io.StringIO()), sort_stably():
                        try:
                            out = devkit.voc_eval(
                                f"{folder}/Task1_{{:s}}.txt", f"{folder}/{{:s}}.txt",
                                str(folder / "set.txt"), f"c{label}", use_07_metric=is_2007,
                            )  # fmt: skip
                            answer[year][f"class {label}"] = float(out[2])
                        except (IndexError, ZeroDivisionError) as error:
                            answer[year][f"class {label}"] = f"ERROR {type(error).__name__}"
        return answer

    return ask


# --- Ultralytics ------------------------------------------------------------------------------------


def read_rectangles(rows: list[Data]) -> Any:
    """Center, width, height and radians in single precision; of corners by OpenCV's minAreaRect."""
    import torch
    from ultralytics.utils.ops import xyxyxyxy2xywhr

    boxes = np.array([row["bbox"] for row in rows], np.float64)
    if boxes.size and boxes.shape[1] == 8:
        return torch.as_tensor(np.asarray(xyxyxyxy2xywhr(boxes.astype(np.float32)))).float()
    boxes = boxes.reshape(-1, 5)
    boxes[:, 4] = np.deg2rad(boxes[:, 4])
    return torch.tensor(boxes, dtype=torch.float32)


def ask_ultralytics(truth: Data, detections: list[Data]) -> Data:
    """As its validation does: scores above 0.001, the best 300 of an image."""
    import torch
    from ultralytics.engine.validator import BaseValidator
    from ultralytics.utils.metrics import ap_per_class, batch_probiou

    validator: Any = types.SimpleNamespace(iouv=torch.linspace(0.5, 0.95, 10))
    correct, scores, found_classes, known_classes = [], [], [], []
    for image in list_images(truth):
        known = rows_of(truth["annotations"], image)
        found = [row for row in rows_of(detections, image) if row["score"] > 0.001]
        found = sorted(found, key=lambda row: -row["score"])[:300]
        labels = [torch.tensor(column(rows, "category_id")).float() for rows in (found, known)]
        matched = np.zeros((len(found), 10), bool)
        if found and known:
            overlaps = batch_probiou(read_rectangles(known), read_rectangles(found))
            with sort_stably(), sort_overlaps_stably():
                found_true = BaseValidator.match_predictions(validator, *labels, overlaps)
            matched = found_true.cpu().numpy()
        correct.append(matched)
        scores.append(column(found, "score").astype(np.float32))
        found_classes.append(labels[0].numpy())
        known_classes.append(labels[1].numpy())
    stats = [np.concatenate(one) for one in (correct, scores, found_classes, known_classes)]
    with sort_stably():
        _, _, p, r, _, ap, classes, *_ = ap_per_class(*stats)
    pairs = list_pairs(truth, detections)
    overlaps = [
        float(batch_probiou(read_rectangles([b]), read_rectangles([a]))[0, 0]) for a, b in pairs
    ]
    return {
        "overlaps": overlaps,
        "mAP50": mean(ap[:, 0]),
        "mAP75": mean(ap[:, 5]),
        "mAP50-95": mean(ap.reshape(-1)),
        "P": mean(p),
        "R": mean(r),
        "ap": {
            f"class {int(label)}": float(value)
            for label, value in zip(classes, ap.mean(1), strict=True)
        },
    }


# --- MMRotate ---------------------------------------------------------------------------------------


def intersect_rotated(first: Any, second: Any) -> Any:
    """box_iou_rotated by shapely: boxes of center, width, height and radians, in single precision."""
    import shapely
    import torch

    sides = []
    for boxes in (first, second):
        rows = boxes.double().numpy()[:, :5].tolist() if len(boxes) else []
        rows = [[*row[:4], float(np.rad2deg(row[4]))] for row in rows]
        corners = np.array([list_corners(row) for row in rows]).reshape(-1, 4, 2)
        sides.append(shapely.polygons(corners) if len(corners) else np.zeros(0, object))
    shared = shapely.area(shapely.intersection(sides[0][:, None], sides[1][None]))
    covered = shapely.area(sides[0])[:, None] + shapely.area(sides[1])[None] - shared
    return torch.tensor(shared / covered, dtype=torch.float32)


def load_functions(path: Path, names: tuple[str, ...], known: Data) -> Any:
    """Run only these functions and classes of a file."""
    nodes = [
        node
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names
    ]
    module = types.ModuleType(path.stem)
    module.__dict__.update(known)
    exec(compile(ast.Module(nodes, []), str(path), "exec"), module.__dict__)
    return module


class OwnPool:
    """A pool that is this process."""

    def starmap(self, function: Any, arguments: Any) -> list[Any]:
        return [function(*row) for row in arguments]

    def close(self) -> None:
        pass


def make_mmrotate(sources: Path) -> Any:
    import torch
    from pycocotools import mask as mask_code
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    average = load_functions(
        sources / "mmdetection" / "mean_ap.py", ("average_precision",), {"np": np}
    )
    known = {
        "np": np, "torch": torch, "box_iou_rotated": intersect_rotated,
        "get_context": lambda _: types.SimpleNamespace(Pool=lambda _: OwnPool()),
        "average_precision": average.average_precision, "print_map_summary": lambda *_, **__: None,
    }  # fmt: skip
    wanted = ("tpfp_default", "get_cls_results", "eval_rbbox_map")
    functions = load_functions(sources / "mmrotate" / "mean_ap.py", wanted, known)
    coco = load_functions(
        sources / "mmrotate" / "rotated_coco_metric.py",
        ("RotatedCocoEval",),
        {
            "np": np, "COCOeval": COCOeval, "maskUtils": mask_code,
            "RotatedBoxes": lambda rows: types.SimpleNamespace(tensor=torch.tensor(rows).float()),
            "box_iou_rotated": lambda a, b: intersect_rotated(a, b).numpy(),
        },
    )  # fmt: skip

    def ask(truth: Data, detections: list[Data]) -> Data:
        labels = list_classes(truth)
        found, known = [], []
        for image in list_images(truth):
            here = rows_of(detections, image)
            boxes = [[row for row in here if row["category_id"] == label] for label in labels]
            found.append([
                np.concatenate((read_rectangles(rows).numpy(), column(rows, "score").astype(np.float32).reshape(-1, 1)), 1)
                for rows in boxes
            ])  # fmt: skip
            rows = rows_of(truth["annotations"], image)
            places = np.array([labels.index(row["category_id"]) for row in rows], int)
            known.append({
                "bboxes": read_rectangles(rows).numpy(), "labels": places,
                "bboxes_ignore": np.zeros((0, 5), np.float32), "labels_ignore": np.zeros(0, int),
            })  # fmt: skip
        answer: Data = {}
        for name, is_2007 in (("11points", True), ("area", False)):
            with sort_stably():
                value, classes = functions.eval_rbbox_map(
                    found, known, use_07_metric=is_2007, nproc=1
                )
            each = {
                f"class {label}": float(one["ap"])
                for label, one in zip(labels, classes, strict=True)
            }
            answer[name] = {"mAP": float(value), "classes": each}
        answer["coco"] = ask_coco(truth, detections)
        return answer

    def ask_coco(truth: Data, detections: list[Data]) -> Data:
        rows = []
        for row in truth["annotations"]:
            box = read_rectangles([row])[0].tolist()
            rows.append({**row, "bbox": box, "iscrowd": 0, "area": box[2] * box[3]})
        truths = COCO()
        truths.dataset = {**truth, "annotations": rows}
        truths.createIndex()
        results = truths.loadRes([
            {**row, "bbox": read_rectangles([row])[0].tolist()} for row in detections
        ])  # fmt: skip
        evaluator = coco.RotatedCocoEval(truths, results, "bbox")
        evaluator.params.maxDets = [100, 300, 1000]  # proposal_nums
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
        return dict(zip(MMROTATE_NAMES, map(float, evaluator.stats[:12]), strict=True))

    return ask


def find_tools(sources: Path) -> dict[str, tuple[str, Any]]:
    tools: dict[str, tuple[str, Any]] = {}
    for name, make in (("DOTA_devkit", make_dota), ("mmrotate", make_mmrotate)):
        if (sources / name).is_dir():
            tools[name] = ((sources / name / "COMMIT").read_text("utf-8").strip(), make(sources))
    if importlib.util.find_spec("ultralytics"):
        import ultralytics

        tools["ultralytics"] = (str(ultralytics.__version__), ask_ultralytics)
    return tools


def main() -> None:
    recorded: Data = json.loads(JSON.read_text("utf-8")) if JSON.exists() else {}
    recorded.setdefault("versions", {})
    sets = recorded.setdefault("sets", {})
    for name in sets.keys() - SETS.keys():
        del sets[name]
    tools = find_tools(Path(sys.argv[1]))
    for name, (seed, traits, corners) in SETS.items():
        held = sets.setdefault(name, {"answers": {}})
        held |= {"seed": seed, "traits": traits, "corners": corners}
        truth, detections = make_oriented(seed, traits, corners=corners)
        for tool, (version, ask) in tools.items():
            recorded["versions"][tool] = version
            held["answers"][tool] = write_plainly(ask_safely(ask, truth, detections))
    JSON.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
