"""Record what evaluators of boxes answer on the sets of boxes_sets.py.

    python tests/data/record_boxes.py [SOURCES]
    python tests/data/record_boxes.py --random 2000

writes boxes.json beside this file; the second form adds checksums of pycocotools' arrays on random sets.
Answers of tools that are not installed stay as they are. SOURCES is a folder with checkouts of tools that are
no packages, each under its own name and with a file COMMIT: py-faster-rcnn, detectron2,
Object-Detection-Metrics and review_object_detection_metrics. mmdet runs without mmcv, and the last one
without PyQt5. To record an older Ultralytics, put it first in PYTHONPATH.

Each tool's function says how it is given the data. Tools that sort by np.argsort's unstable default are
run with a stable sort, since their answer on equal values depends on the processor.
"""

import contextlib
import copy
import functools
import hashlib
import importlib
import importlib.util
import io
import json
import math
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from boxes_sets import RARE, TRAITS, draw_traits, make_boxes

JSON = Path(__file__).with_name("boxes.json")
REST = {*RARE, "dyadic", "ignored"}
SETS = {
    "whole": (1, ""),
    "whole, another": (2, "shuffled"),
    "dyadic": (3, "dyadic"),
    "floats": (4, "floats"),
    "floats, shuffled": (5, "floats, shuffled"),
    "tied scores": (6, "tied scores, shuffled"),
    "equal scores": (7, "equal scores"),
    "low scores": (14, "low scores"),
    "crowds": (8, "crowds"),
    "crowds, floats": (9, "crowds, floats, own areas"),
    "ignored": (10, "ignored"),
    "difficult": (11, "difficult"),
    "own areas": (12, "own areas"),
    "area borders": (13, "area borders"),
    "id zero": (42, "id zero"),
    "no size": (15, "no size"),
    "empty images": (16, "empty images, shuffled"),
    "classes": (17, "truthless class, missed class"),
    "deep": (18, "deep"),
    "many truths": (19, "many truths, shuffled"),
    "everything": (20, ", ".join(trait for trait in TRAITS if trait not in REST)),
    "unknown class": (21, "unknown class"),
    "unknown image": (22, "unknown image"),
    "no truths": (23, "no truths"),
    "no detections": (24, "no detections"),
}
COCO_NAMES = (
    "AP",
    "AP50",
    "AP75",
    "APs",
    "APm",
    "APl",
    "AR1",
    "AR10",
    "AR100",
    "ARs",
    "ARm",
    "ARl",
)
BY_NAME = (
    "pycocotools",
    "faster-coco-eval",
    "hotcoco",
    "py-faster-rcnn",
    "Object-Detection-Metrics",
)
CELLS = ((0, 0, 0, 0, 2), (0, 20, 1, 0, 2), (5, 10, 0, 0, 2), (2, 30, 1, 3, 1), (0, 50, 2, 1, 2))

Data = dict[str, Any]
Answer = dict[str, Any]
Tool = Callable[[Data, list[Data]], Answer]


# --- The forms in which tools take boxes ------------------------------------------------------------


def list_images(truth: Data) -> list[int]:
    return [image["id"] for image in truth["images"]]


def list_classes(truth: Data) -> list[int]:
    return sorted(category["id"] for category in truth["categories"])


def corners(box: list[float]) -> list[float]:
    return [box[0], box[1], box[0] + box[2], box[1] + box[3]]


def rows_of(rows: list[Data], image: int) -> list[Data]:
    return [row for row in rows if row["image_id"] == image]


def boxes_of(rows: list[Data], form: Callable[[list[float]], list[float]] = corners) -> Any:
    return np.array([form(row["bbox"]) for row in rows], np.float64).reshape(-1, 4)


def column(rows: list[Data], name: str, missing: float = 0) -> Any:
    return np.array([row.get(name, missing) for row in rows])


@contextlib.contextmanager
def sort_stably() -> Iterator[None]:
    """np.argsort without a kind keeps the order of equal values."""
    argsort = np.argsort

    def stable(a: Any, axis: int = -1, kind: Any = "stable", **rest: Any) -> Any:
        return argsort(a, axis=axis, kind=kind, **rest)

    with mock.patch.object(np, "argsort", stable):
        yield


def mean(values: Any) -> float:
    values = [float(value) for value in values]
    return float(np.mean(values)) if values else 0.0


# --- COCO's own and its relatives -------------------------------------------------------------------


def ask_cocoeval(coco: Any, cocoeval: Any, truth: Data, detections: list[Data]) -> Any:
    truths = coco()
    truths.dataset = copy.deepcopy(truth)
    truths.createIndex()
    results = truths.loadRes(copy.deepcopy(detections))
    evaluator = cocoeval(truths, results, "bbox")
    evaluator.evaluate()
    evaluator.accumulate()
    evaluator.summarize()
    return evaluator


def describe(evaluator: Any) -> Answer:
    """The arrays by their checksum as little-endian doubles, and a few cells [t, r, k, a, m]."""
    arrays = {
        name: np.ascontiguousarray(evaluator.eval[name], "<f8") for name in ("precision", "recall")
    }
    answer: Answer = {"stats": dict(zip(COCO_NAMES, map(float, evaluator.stats[:12]), strict=True))}
    for name, array in arrays.items():
        answer[name] = {
            "shape": list(array.shape),
            "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
        }
    classes = arrays["precision"].shape[2]
    cells = {",".join(map(str, c)): arrays["precision"][c] for c in CELLS if c[2] < classes}
    answer["cells"] = {cell: float(value) for cell, value in cells.items()}
    return answer


def ask_pycocotools(truth: Data, detections: list[Data]) -> Answer:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    return describe(ask_cocoeval(COCO, COCOeval, truth, detections))


def ask_faster_coco_eval(truth: Data, detections: list[Data]) -> Answer:
    from faster_coco_eval import COCO, COCOeval_faster

    evaluator = ask_cocoeval(COCO, COCOeval_faster, truth, detections)
    answer = describe(evaluator)
    del answer["cells"]
    return answer | {"AR50": float(evaluator.all_stats[12]), "AR75": float(evaluator.all_stats[13])}


def ask_hotcoco(truth: Data, detections: list[Data]) -> Answer:
    from hotcoco import COCO, COCOeval

    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("truth.json", "detections.json")]
        for path, rows in zip(files, (truth, detections), strict=True):
            path.write_text(json.dumps(rows), "utf-8")
        truths = COCO(str(files[0]))
        evaluator = COCOeval(truths, truths.load_res(str(files[1])), "bbox")
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return {"stats": dict(zip(COCO_NAMES, map(float, evaluator.stats[:12]), strict=True))}


# --- torchmetrics -----------------------------------------------------------------------------------

FORMS: dict[str, Callable[[list[float]], list[float]]] = {
    "xywh": list,
    "xyxy": corners,
    "cxcywh": lambda b: [b[0] + b[2] / 2, b[1] + b[3] / 2, b[2], b[3]],
}


def ask_torchmetrics(truth: Data, detections: list[Data]) -> Answer:
    """Single-precision boxes, images in the order of the truths' JSON, areas and crowds given.

    "bare" has neither area nor iscrowd, as most code calls it.
    """
    ask = lambda **options: run_torchmetrics(truth, detections, **options)  # noqa: E731
    full = ask(class_metrics=True)
    answer = {"xywh": full, "depths 1 10 50": ask(max_detection_thresholds=[1, 10, 50])}
    answer["micro"] = ask(average="micro")
    others = {form: ask(box_format=form, class_metrics=True) for form in ("xyxy", "cxcywh")}
    others["bare"] = ask(keys=(), class_metrics=True)
    return answer | {name: other for name, other in others.items() if other != full}


def run_torchmetrics(
    truth: Data,
    detections: list[Data],
    box_format: str = "xywh",
    keys: tuple[str, ...] = ("area", "iscrowd"),
    **options: Any,
) -> Answer:
    import torch
    from torchmetrics.detection import MeanAveragePrecision

    def tensors(rows: list[Data], names: tuple[str, ...]) -> dict[str, Any]:
        boxes = torch.tensor(boxes_of(rows, FORMS[box_format]), dtype=torch.float32)
        more = {name: torch.tensor(column(rows, name), dtype=torch.float32) for name in names}
        if "iscrowd" in more:
            more["iscrowd"] = more["iscrowd"].int()
        return {"boxes": boxes, "labels": torch.tensor(column(rows, "category_id")).long()} | more

    metric = MeanAveragePrecision(box_format=box_format, **options)  # type: ignore[arg-type]
    metric.warn_on_many_detections = False
    for image in list_images(truth):
        found = tensors(rows_of(detections, image), ())
        scores = column(rows_of(detections, image), "score")
        found["scores"] = torch.tensor(scores, dtype=torch.float32)
        metric.update([found], [tensors(rows_of(truth["annotations"], image), keys)])
    lists = ("classes", "map_per_class", f"mar_{metric.max_detection_thresholds[-1]}_per_class")
    values = {
        name: [single(x) for x in value.reshape(-1)] for name, value in metric.compute().items()
    }
    return {name: value if name in lists else value[0] for name, value in values.items()}


def single(value: Any) -> float:
    """The shortest number that single precision reads as the same."""
    return float(f"{float(value):.9g}")


# --- supervision ------------------------------------------------------------------------------------


def ask_supervision(truth: Data, detections: list[Data]) -> Answer:
    """Single-precision corners, as its own reader of COCO makes them; area, iscrowd and ignore given."""
    from supervision import Detections
    from supervision.metrics import MeanAveragePrecision

    def make(rows: list[Data], keys: tuple[str, ...]) -> Any:
        if not rows:
            return Detections.empty()
        boxes = boxes_of(rows, list).astype(np.float32)
        boxes[:, 2:] += boxes[:, :2]
        known = {key: column(rows, key) for key in keys if any(key in row for row in rows)}
        scores = column(rows, "score") if "score" in rows[0] else None
        return Detections(
            boxes, class_id=column(rows, "category_id"), confidence=scores, data=known
        )

    metric = MeanAveragePrecision()
    keys = ("area", "iscrowd", "ignore")
    for image in list_images(truth):
        found, known = rows_of(detections, image), rows_of(truth["annotations"], image)
        metric.update(make(found, ()), make(known, keys))
    result = metric.compute()
    sizes = {"small": result.small_objects, "medium": result.medium_objects}
    sizes["large"] = result.large_objects
    return {
        "map50_95": result.map50_95,
        "map50": result.map50,
        "map75": result.map75,
        "sizes": {name: [one.map50_95, one.map50, one.map75] for name, one in sizes.items()},
        "classes": [int(one) for one in result.matched_classes],
        "ap50": [float(row[0]) for row in result.ap_per_class],
        "ap50_95": [float(row.mean()) for row in result.ap_per_class],
    }


# --- Ultralytics ------------------------------------------------------------------------------------


def ask_ultralytics(truth: Data, detections: list[Data]) -> Answer:
    """Crowds dropped, as its converter of COCO does; where there are some, also counted.

    As its validation does: scores above 0.001, the best 300 of an image, images in the JSON's order.
    """
    usual = [row for row in truth["annotations"] if not row["iscrowd"]]
    answer = run_ultralytics(list_images(truth), usual, detections)
    if len(usual) < len(truth["annotations"]):
        counted = run_ultralytics(list_images(truth), truth["annotations"], detections)
        answer["crowds counted"] = counted
    return answer


class StableArray(np.ndarray):
    """An array whose method argsort keeps the order of equal values."""

    def argsort(self) -> Any:  # type: ignore[override]
        return np.asarray(self).argsort(kind="stable")


@contextlib.contextmanager
def sort_overlaps_stably() -> Iterator[None]:
    """The same for the arrays that tensors become, which the older rule sorts by their own method."""
    import torch

    numpy = torch.Tensor.numpy
    with mock.patch.object(torch.Tensor, "numpy", lambda tensor: numpy(tensor).view(StableArray)):
        yield


def run_ultralytics(images: list[int], truths: list[Data], detections: list[Data]) -> Answer:
    import torch
    from ultralytics.engine.validator import BaseValidator
    from ultralytics.utils.metrics import ap_per_class, box_iou, smooth

    validator: Any = types.SimpleNamespace(iouv=torch.linspace(0.5, 0.95, 10))
    correct, scores, found_classes, known_classes = [], [], [], []
    for image in images:
        known = rows_of(truths, image)
        found = [row for row in rows_of(detections, image) if row["score"] > 0.001]
        found = sorted(found, key=lambda row: -row["score"])[:300]
        labels = [torch.tensor(column(rows, "category_id")).float() for rows in (found, known)]
        boxes = [torch.tensor(boxes_of(rows), dtype=torch.float32) for rows in (found, known)]
        matched = np.zeros((len(found), 10), bool)
        if found and known:
            overlaps = box_iou(boxes[1], boxes[0])
            with sort_stably(), sort_overlaps_stably():
                found_true = BaseValidator.match_predictions(validator, *labels, overlaps)
            matched = found_true.cpu().numpy()
        correct.append(matched)
        scores.append(column(found, "score").astype(np.float32))
        found_classes.append(labels[0].numpy())
        known_classes.append(labels[1].numpy())
    stats = [np.concatenate(one) for one in (correct, scores, found_classes, known_classes)]
    if not len(stats[3]):
        return {"mAP50": 0.0, "mAP50-95": 0.0, "P": 0.0, "R": 0.0, "classes": []}
    with sort_stably():
        _, _, p, r, f1, ap, classes, _, _, f1_curve, x, _ = ap_per_class(*stats)
    return {
        "mAP50": mean(ap[:, 0]),
        "mAP75": mean(ap[:, 5]),
        "mAP50-95": mean(ap.reshape(-1)),
        "P": mean(p),
        "R": mean(r),
        "confidence": float(x[smooth(f1_curve.mean(0), 0.1).argmax()]),
        "classes": [int(one) for one in classes],
        "ap50": [float(one) for one in ap[:, 0]],
        "ap": [float(one) for one in ap.mean(1)],
        "p": [float(one) for one in p],
        "r": [float(one) for one in r],
        "f1": [float(one) for one in f1],
    }


# --- VOC --------------------------------------------------------------------------------------------


def write_voc(folder: Path, truth: Data) -> None:
    """Corners are x, y, x + width, y + height, as they stand. VOC has no crowds: they are objects."""
    (folder / "ImageSets/Main").mkdir(parents=True)
    (folder / "Annotations").mkdir()
    images = list_images(truth)
    (folder / "ImageSets/Main/test.txt").write_text("\n".join(map(str, images)), "utf-8")
    for image in images:
        objects = [voc_object(row) for row in rows_of(truth["annotations"], image)]
        text = f"<annotation>{''.join(objects)}</annotation>"
        (folder / f"Annotations/{image}.xml").write_text(text, "utf-8")


def voc_object(row: Data) -> str:
    box = corners(row["bbox"])
    if any(number != int(number) for number in box):
        raise ValueError("VOC's coordinates are whole")
    sides = zip(("xmin", "ymin", "xmax", "ymax"), map(int, box), strict=True)
    places = "".join(f"<{name}>{number}</{name}>" for name, number in sides)
    return (
        f"<object><name>{row['category_id']}</name><pose>Left</pose><truncated>0</truncated>"
        f"<difficult>{row.get('difficult', 0)}</difficult><bndbox>{places}</bndbox></object>"
    )


def is_whole(truth: Data) -> bool:
    return all(x == int(x) for row in truth["annotations"] for x in row["bbox"])


def ask_voc(sources: Path) -> Tool:
    """py-faster-rcnn's voc_eval, translated to Python 3 by lib2to3; its cache is not written."""
    code = translate(sources / "py-faster-rcnn/lib/datasets/voc_eval.py")
    space: dict[str, Any] = {}
    exec(compile(code, "voc_eval.py", "exec"), space)
    space["pickle"] = types.SimpleNamespace(dump=lambda *a: None)

    def ask(truth: Data, detections: list[Data]) -> Answer:
        answer: Answer = {"classes": list_classes(truth), "2007": [], "2010": []}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_voc(folder, truth)
            for category in answer["classes"]:
                rows = [row for row in detections if row["category_id"] == category]
                lines = [[row["image_id"], row["score"], *corners(row["bbox"])] for row in rows]
                text = "\n".join(" ".join(map(repr, line)) for line in lines)
                (folder / f"{category}.txt").write_text(text, "utf-8")
                for year in ("2007", "2010"):
                    given = (f"{name}/{{}}.txt", f"{name}/Annotations/{{}}.xml")
                    given += (f"{name}/ImageSets/Main/test.txt", str(category))
                    given += (f"{name}/{category} {year}", 0.5, year == "2007")
                    answer[year].append(attempt(lambda given=given: space["voc_eval"](*given)[2]))
        return answer

    return ask


def translate(path: Path) -> str:
    """Python 2 as Python 3."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lib2to3.refactor import RefactoringTool, get_fixers_from_package

        tool = RefactoringTool(get_fixers_from_package("lib2to3.fixes"))
        return str(tool.refactor_string(path.read_text("utf-8") + "\n", str(path)))


def attempt(call: Callable[[], Any]) -> Any:
    try:
        with np.errstate(all="ignore"), sort_stably():
            return float(call())
    except (IndexError, KeyError, ZeroDivisionError) as error:
        return f"ERROR {type(error).__name__}"


def ask_detectron2(sources: Path) -> Tool:
    """PascalVOCDetectionEvaluator.evaluate and process; what it imports of detectron2 is replaced."""
    stubs = {name: types.ModuleType(name) for name in (
        "detectron2", "detectron2.data", "detectron2.utils", "detectron2.utils.comm",
        "detectron2.utils.file_io", "detectron2.evaluation", "detectron2.evaluation.evaluator",
    )}  # fmt: skip
    known: Any = types.SimpleNamespace()
    stubs["detectron2.data"].MetadataCatalog = types.SimpleNamespace(get=lambda name: known)  # type: ignore[attr-defined]
    comm: Any = stubs["detectron2.utils.comm"]
    comm.gather, comm.is_main_process = lambda one, dst: [one], lambda: True
    stubs["detectron2.utils"].comm = comm  # type: ignore[attr-defined]
    stubs["detectron2.utils.file_io"].PathManager = types.SimpleNamespace(  # type: ignore[attr-defined]
        open=open, get_local_path=lambda path: path
    )
    stubs["detectron2.evaluation.evaluator"].DatasetEvaluator = object  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, stubs):
        path = sources / "detectron2/detectron2/evaluation/pascal_voc_evaluation.py"
        module = load(path, "detectron2.evaluation.pascal_voc_evaluation")

    def ask(truth: Data, detections: list[Data]) -> Answer:
        import torch

        answer: Answer = {}
        classes = list_classes(truth)
        with tempfile.TemporaryDirectory() as name:
            write_voc(Path(name), truth)
            known.dirname, known.split, known.thing_classes = name, "test", list(map(str, classes))
            for year in (2007, 2012):
                known.year = year
                module.parse_rec.cache_clear()
                evaluator = module.PascalVOCDetectionEvaluator("set")
                evaluator.reset()
                for image in list_images(truth):
                    rows = [r for r in rows_of(detections, image) if r["category_id"] in classes]
                    boxes = types.SimpleNamespace(
                        tensor=torch.tensor(boxes_of(rows), dtype=torch.float32)
                    )
                    found: Any = types.SimpleNamespace(pred_boxes=boxes)
                    found.scores = torch.tensor(column(rows, "score"), dtype=torch.float32)
                    found.pred_classes = torch.tensor(
                        [classes.index(r["category_id"]) for r in rows]
                    )
                    found.to = lambda device, found=found: found
                    evaluator.process([{"image_id": str(image)}], [{"instances": found}])
                with np.errstate(all="ignore"), sort_stably():
                    answer[str(year)] = {
                        k: float(v) for k, v in evaluator.evaluate()["bbox"].items()
                    }
        return answer

    return ask


def load(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- Padilla's tools --------------------------------------------------------------------------------


def ask_padilla(sources: Path) -> Tool:
    """Object-Detection-Metrics: detections of all images in the order of the list; all flags ignored."""
    sys.path.insert(0, str(sources / "Object-Detection-Metrics/lib"))
    tool = importlib.import_module("Evaluator")

    def ask(truth: Data, detections: list[Data]) -> Answer:
        boxes = tool.BoundingBoxes()
        for rows, kind in ((truth["annotations"], "GroundTruth"), (detections, "Detected")):
            for row in rows:
                boxes.addBoundingBox(tool.BoundingBox(
                    str(row["image_id"]), row["category_id"], *corners(row["bbox"]),
                    bbType=tool.BBType[kind], classConfidence=row.get("score"),
                    format=tool.BBFormat.XYX2Y2,
                ))  # fmt: skip
        answer: Answer = {}
        for name in ("EveryPointInterpolation", "ElevenPointInterpolation"):
            method = tool.MethodAveragePrecision[name]
            with np.errstate(all="ignore"):
                found = tool.Evaluator().GetPascalVOCMetrics(boxes, 0.5, method)
            answer["classes"] = [one["class"] for one in found]
            answer[name] = [float(one["AP"]) for one in found]
            valid = [one["AP"] for one in found if one["total positives"] > 0]
            answer[f"mAP {name}"] = float(sum(valid) / len(valid)) if valid else "ERROR"
        return answer

    return ask


def ask_padilla_review(sources: Path) -> Tool:
    """review_object_detection_metrics: its VOC and COCO evaluators, without PyQt5; all flags ignored."""
    for name in ("PyQt5", "PyQt5.QtCore", "PyQt5.QtGui"):
        sys.modules.setdefault(name, mock.MagicMock())
    sys.path.insert(0, str(sources / "review_object_detection_metrics"))
    voc = importlib.import_module("src.evaluators.pascal_voc_evaluator")
    coco = importlib.import_module("src.evaluators.coco_evaluator")
    boxes = importlib.import_module("src.bounding_box")

    def make(rows: list[Data], kind: str) -> list[Any]:
        return [
            boxes.BoundingBox(
                str(row["image_id"]), row["category_id"], tuple(corners(row["bbox"])),
                bb_type=boxes.BBType[kind], confidence=row.get("score"),
                format=boxes.BBFormat.XYX2Y2,
            )
            for row in rows
        ]  # fmt: skip

    def ask(truth: Data, detections: list[Data]) -> Answer:
        given = make(truth["annotations"], "GROUND_TRUTH"), make(detections, "DETECTED")
        answer: Answer = {}
        with np.errstate(all="ignore"):
            for name in ("EVERY_POINT_INTERPOLATION", "ELEVEN_POINT_INTERPOLATION"):
                found = voc.get_pascalvoc_metrics(*given, 0.5, voc.MethodAveragePrecision[name])
                answer[name] = {str(c): float(one["AP"]) for c, one in found["per_class"].items()}
                answer[f"mAP {name}"] = float(found["mAP"])
            with contextlib.suppress(ZeroDivisionError):  # two boxes without size
                answer["coco"] = {k: float(v) for k, v in coco.get_coco_summary(*given).items()}
        return answer

    return ask


# --- mmdet ------------------------------------------------------------------------------------------


def ask_mmdet(truth: Data, detections: list[Data]) -> Answer:
    """eval_map with single-precision boxes. Crowds and difficult truths are the ignored ones.

    "voc" is what VOCMetric asks for: inclusive pixels. The other one is eval_map's own default.
    """
    eval_map, classes = import_eval_map(), list_classes(truth)
    found, known = [], []
    for image in list_images(truth):
        rows = rows_of(detections, image)
        each = [[row for row in rows if row["category_id"] == c] for c in classes]
        boxes = [np.column_stack([boxes_of(own), column(own, "score")]) for own in each]
        found.append([one.astype(np.float32).reshape(-1, 5) for one in boxes])
        known.append(write_mmdet(rows_of(truth["annotations"], image), classes))
    answer: Answer = {"classes": classes}
    for name, legacy in (("voc", True), ("plain", False)):
        for mode in ("area", "11points"):
            with sort_stably():
                value, each = eval_map(
                    found, known, logger="silent", nproc=1, dataset=list(map(str, classes)),
                    use_legacy_coordinate=legacy, eval_mode=mode,
                )  # fmt: skip
            own = [single(np.asarray(one["ap"]).reshape(-1)[0]) for one in each]
            answer[f"{name}, {mode}"] = {"mAP": value, "ap": own}
    return answer


def write_mmdet(rows: list[Data], classes: list[int]) -> Data:
    written: Data = {}
    for suffix, wanted in (("", False), ("_ignore", True)):
        own = [row for row in rows if bool(row["iscrowd"] or row.get("difficult", 0)) is wanted]
        written[f"bboxes{suffix}"] = boxes_of(own).astype(np.float32)
        labels = [classes.index(row["category_id"]) for row in own]
        written[f"labels{suffix}"] = np.array(labels, dtype=int)
    return written


@functools.cache
def import_eval_map() -> Any:
    """Without the package's own imports, which need mmcv."""
    spec = importlib.util.find_spec("mmdet")
    assert spec
    assert spec.submodule_search_locations
    root = Path(next(iter(spec.submodule_search_locations)))
    for name in ("mmdet", "mmdet.evaluation", "mmdet.evaluation.functional"):
        module = sys.modules.setdefault(name, types.ModuleType(name))
        module.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
    return importlib.import_module("mmdet.evaluation.functional.mean_ap").eval_map


# --- All of them ------------------------------------------------------------------------------------


def find_tools(sources: Path | None) -> dict[str, tuple[str, Tool]]:
    """Those that are here: name, version and function."""
    packages: dict[str, tuple[str, Tool]] = {
        "pycocotools": ("pycocotools", ask_pycocotools),
        "faster-coco-eval": ("faster_coco_eval", ask_faster_coco_eval),
        "hotcoco": ("hotcoco", ask_hotcoco),
        "torchmetrics": ("torchmetrics", ask_torchmetrics),
        "supervision": ("supervision", ask_supervision),
        "mmdet": ("mmdet", ask_mmdet),
        "ultralytics": ("ultralytics", ask_ultralytics),
    }
    tools = {}
    for name, (module, ask) in packages.items():
        if importlib.util.find_spec(module):
            tools[name] = (find_version(name), ask)
    if "ultralytics" in tools:  # its conventions changed twice, so several versions are recorded
        number, ask = tools.pop("ultralytics")
        tools[f"ultralytics {number}"] = (number, ask)
    checkouts = {
        "py-faster-rcnn": ask_voc,
        "detectron2": ask_detectron2,
        "Object-Detection-Metrics": ask_padilla,
        "review_object_detection_metrics": ask_padilla_review,
    }
    for name, make in checkouts.items():
        if sources and (sources / name).is_dir():
            commit = (sources / name / "COMMIT").read_text("utf-8").strip()
            tools[name] = (commit, make(sources))
    return tools


def find_version(name: str) -> str:
    return (
        str(importlib.import_module(name).__version__) if name == "ultralytics" else version(name)
    )


def ask_safely(tool: Tool, truth: Data, detections: list[Data]) -> Any:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return tool(copy.deepcopy(truth), copy.deepcopy(detections))
        except (AssertionError, IndexError, KeyError, ValueError, ZeroDivisionError) as error:
            return f"ERROR {type(error).__name__}"


def write_plainly(value: Any) -> Any:
    """What is no number becomes text, since JSON has no word for it."""
    if isinstance(value, dict):
        return {key: write_plainly(one) for key, one in value.items()}
    if isinstance(value, list):
        return [write_plainly(one) for one in value]
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def can_take(tool: str, truth: Data, detections: list[Data]) -> bool:
    """VOC has whole coordinates only; who takes a list of images has no place for another image."""
    if tool in ("py-faster-rcnn", "detectron2") and not is_whole(truth):
        return False
    images = set(list_images(truth))
    return tool in BY_NAME or all(row["image_id"] in images for row in detections)


def checksum(truth: Data, detections: list[Data]) -> str:
    return hashlib.sha256(json.dumps([truth, detections]).encode()).hexdigest()


def record_random(count: int) -> None:
    """Of each seed, 16 digits of the SHA-256 of precision and then recall, as in describe."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    digits = []
    for seed in range(count):
        with contextlib.redirect_stdout(io.StringIO()):
            evaluator = ask_cocoeval(COCO, COCOeval, *make_boxes(seed, draw_traits(seed)))
        digest = hashlib.sha256()
        for name in ("precision", "recall"):
            digest.update(np.ascontiguousarray(evaluator.eval[name], "<f8").tobytes())
        digits.append(digest.hexdigest()[:16])
    recorded = json.loads(JSON.read_text("utf-8"))
    recorded["random"] = digits
    write_json(recorded)


def write_json(recorded: Data) -> None:
    text = json.dumps(recorded, separators=(",", ":"))
    JSON.write_text(
        text.replace(',"answers"', ',\n"answers"').replace('},"', '},\n"') + "\n", "utf-8"
    )


def main(sources: Path | None) -> None:
    old = json.loads(JSON.read_text("utf-8")) if JSON.exists() else {"versions": {}, "sets": {}}
    tools = find_tools(sources)
    versions = old["versions"] | {name: number for name, (number, _) in tools.items()}
    recorded: dict[str, Any] = {"versions": versions | {"numpy": np.__version__}, "sets": {}}
    for name, (seed, traits) in SETS.items():
        data = make_boxes(seed, traits)
        entry: Data = {"seed": seed, "traits": traits, "sha256": checksum(*data)}
        kept = old["sets"].get(name, {})
        entry["answers"] = kept.get("answers", {}) if kept.get("sha256") == entry["sha256"] else {}
        for tool, (_, ask) in tools.items():
            if not can_take(tool, *data):
                continue
            entry["answers"][tool] = write_plainly(ask_safely(ask, *data))
        recorded["sets"][name] = entry
        print(name, {t: a for t, a in entry["answers"].items() if isinstance(a, str)})  # noqa: T201
    recorded["random"] = old.get("random", [])
    write_json(recorded)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--random"]:
        record_random(int(sys.argv[2]))
    else:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
