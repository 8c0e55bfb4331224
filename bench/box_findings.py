"""Calibrate the findings of boxes: what do they say of sound sets, and do they find what is wrong?

    python bench/box_findings.py [SETS]

Sets are random: their images, objects and classes, and detectors from good to useless. Each is written in
every form that germane reads. Sound sets must have no finding. Each spoilt set has one mistake, which
must be an error or a finding.
"""

import json
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas

import germane

FORMS = ("coco", "coco file", "dicts", "frame", "voc", "yolo")
NATIVE = {
    "coco": "xywh",
    "coco file": "xywh",
    "dicts": "xyxy",
    "frame": "xywh",
    "voc": "xyxy",
    "yolo": "cxcywh",
}


@dataclass
class Side:
    image: np.ndarray
    label: np.ndarray
    box: np.ndarray  # xywh
    score: np.ndarray | None = None
    area: np.ndarray | None = None
    crowd: np.ndarray | None = None
    form: str | None = None  # the format that is written in place of the form's own
    scale: bool = False  # are shares written in place of pixels, or the reverse?
    turned: bool = False  # are y and x written in the place of x and y?
    first: bool = False  # is the score written before the box, in YOLO's lines?

    def take(self, at):
        columns = ("image", "label", "box", "score", "area", "crowd")
        held = {name: getattr(self, name) for name in columns}
        return replace(self, **{name: one[at] for name, one in held.items() if one is not None})


@dataclass
class World:
    sizes: np.ndarray
    classes: int
    truth: Side
    found: Side
    traits: dict = field(default_factory=dict)


# --- Sound sets ----------------------------------------------------------------------------------


def draw_world(rng, images=40, good=False):
    """Draw images, objects, and a detector; of a good one, most detections are right."""
    sizes = np.tile(rng.choice([[640, 480], [512, 512], [1920, 1080]]), (images, 1))
    if rng.random() < 0.5:
        sizes = rng.integers(200, 900, (images, 2))
    classes = 1 if rng.random() < 0.15 and not good else int(rng.integers(2, 11))
    shares = rng.dirichlet(np.full(classes, 2.0 if good else rng.choice([0.5, 2, 50])))
    spread = rng.choice([0.05, 0.15, 0.3]) if not good else rng.choice([0.08, 0.15, 0.25])
    count = rng.negative_binomial(2, 2 / (2 + rng.uniform(2, 6)), images)
    image = np.repeat(np.arange(images), count)
    box = draw_boxes(rng, sizes[image], spread)
    whole = rng.random() < 0.4
    box = clip_boxes(np.round(box) if whole else box, sizes[image], rng)
    label = rng.choice(classes, len(image), p=shares)
    area = {0: None, 1: 1.0, 2: rng.uniform(0.3, 0.95, len(image))}[int(rng.integers(3))]
    area = None if area is None else area * box[:, 2] * box[:, 3]
    crowd = rng.random(len(image)) < rng.choice([0, 0.05, 0.15])
    label[:classes] = np.arange(classes)[: len(label)]  # all classes have a truth
    truth = Side(image, label, box, area=area, crowd=crowd)
    found = detect(rng, truth, sizes, classes, shares, spread, good)
    if whole and rng.random() < 0.5:
        found.box = np.round(found.box)
    found.box[:, 2:] = found.box[:, 2:].clip(1)
    return World(sizes, classes, truth, found)


def list_true(world):
    """Findings that are true of a sound set: its detector has a box in hardly any image, or on hardly any truth."""
    sought = np.unique(world.truth.image)
    lost = np.setdiff1d(sought, world.found.image)
    few = len(sought) >= 10 and len(lost) >= 0.9 * len(sought)
    useless = measure_share(world) < 0.1
    return {*["hardly any image with detections"] * few, *[NOT_ON] * useless}


def measure_share(world):
    """The share of detections that overlap a truth of their image by .5 or more."""
    near = 0
    for image, (x, y, w, h) in zip(world.found.image, world.found.box, strict=True):
        left, top, wide, high = world.truth.box[world.truth.image == image].T
        across = np.minimum(x + w, left + wide) - np.maximum(x, left)
        along = np.minimum(y + h, top + high) - np.maximum(y, top)
        shared = across.clip(0) * along.clip(0)
        near += bool((shared >= 0.5 * (w * h + wide * high - shared)).any())
    return near / max(len(world.found.image), 1)


def draw_boxes(rng, sizes, spread):
    """Boxes of any place and of sizes between a few pixels and most of the image."""
    side = np.exp(rng.normal(np.log(spread), 0.7, (len(sizes), 2))).clip(0.01, 0.95)
    wide = (side * sizes).clip(4)
    corner = rng.uniform(0, 1, (len(sizes), 2)) * (sizes - wide).clip(0)
    return np.column_stack((corner, wide))


def clip_boxes(box, sizes, rng):
    """Clip boxes to their image; by some conventions they leave it by a pixel."""
    low = np.maximum(box[:, :2], 0)
    high = np.minimum(box[:, :2] + box[:, 2:], sizes)
    slack = rng.choice([0.0, 1.0])
    low, high = low - slack * (low == 0), high + slack * (high == sizes)
    return np.column_stack((low, (high - low).clip(1)))


def detect(rng, truth, sizes, classes, shares, spread, good):
    """Draw a detector: finds some objects, with noise, copies, other classes and false detections."""
    recall = rng.uniform(0.6, 0.95) if good else rng.uniform(0.02, 0.95)
    noise = rng.uniform(0.01, 0.08) if good else rng.choice([0.02, 0.1, 0.3, 1.0])
    hits = np.flatnonzero(rng.random(len(truth.image)) < recall)
    copies = (
        rng.poisson(rng.choice([0, 0.3, 2]), len(hits)) if not good else rng.poisson(0.2, len(hits))
    )
    hits = np.repeat(hits, 1 + copies)
    box = truth.box[hits]
    box = box + rng.normal(0, noise, box.shape) * box[:, [2, 3, 2, 3]]
    wrong = rng.random(len(hits)) < (
        rng.uniform(0, 0.1) if good else rng.choice([0, 0.1, 0.5, 1.0])
    )
    label = np.where(wrong, rng.choice(classes, len(hits), p=shares), truth.label[hits])
    per_image = rng.uniform(1, 4) if good else rng.choice([0, 1, 5, 20])
    image = rng.integers(0, len(sizes), rng.poisson(per_image * len(sizes)))
    others = draw_boxes(rng, sizes[image], spread)
    power = rng.uniform(1.5, 4) if good else rng.choice([0, 0.5, 2])
    right = rng.normal(0, 1, len(hits)) + power
    score = 1 / (1 + np.exp(-np.append(right, rng.normal(0, 1, len(image)))))
    found = Side(
        np.append(truth.image[hits], image),
        np.append(label, rng.choice(classes, len(image), p=shares)),
        np.vstack((box, others)),
        score,
    )
    found.box[:, 2:] = np.abs(found.box[:, 2:]).clip(1)
    lost = (
        (found.box[:, :2] > sizes[found.image]) | (found.box[:, :2] + found.box[:, 2:] < 0)
    ).any(axis=1)
    if good or rng.random() < 0.7:  # most detectors clip their boxes
        found.box = clip_boxes(found.box, sizes[found.image], rng)
    found = found.take(np.flatnonzero(~lost))
    if not good:
        found = thin_out(rng, found)
    if rng.random() < 0.3:
        found.score = np.round(found.score, 2)
    found = found.take(np.flatnonzero(np.isin(found.label, truth.label)))
    order = np.argsort(-found.score) if rng.random() < 0.5 else rng.permutation(len(found.score))
    return found.take(order)


def thin_out(rng, found):
    """Keep one class, few detections, or all."""
    kind = rng.integers(6)
    if kind == 0:
        return found.take(np.flatnonzero(found.label == np.bincount(found.label).argmax()))
    if kind == 1:
        return found.take(rng.permutation(len(found.score))[: int(rng.integers(1, 30))])
    return found


# --- Forms ----------------------------------------------------------------------------------------


def write_numbers(side, world, form):
    """The four numbers of each box as the form has them, or as the side's mistake has them."""
    x, y, w, h = side.box.T
    box_format = side.form or NATIVE[form]
    numbers = {
        "xywh": (x, y, w, h),
        "xyxy": (x, y, x + w, y + h),
        "cxcywh": (x + w / 2, y + h / 2, w, h),
    }
    out = np.column_stack(numbers[box_format])
    if side.scale != (form == "yolo"):
        out = out / np.tile(world.sizes[side.image], 2)
    return out[:, [1, 0, 3, 2]] if side.turned else out


def write(world, form, folder, sized=True):
    """Write a set in a form: the truth, the detections, and the options that read them."""
    truth, found = (write_numbers(side, world, form) for side in (world.truth, world.found))
    rng = np.random.default_rng(len(truth))
    names = [f"class{i}" for i in range(world.classes)]
    sizes = {f"im{i:03}": tuple(size) for i, size in enumerate(world.sizes.tolist())}
    if form.startswith("coco"):
        made = write_coco(world, truth, found, names, sized)
        if form == "coco":
            return *made, {}
        for name, held in zip(("truth.json", "found.json"), made, strict=True):
            (folder / name).write_text(json.dumps(held))
        return folder / "truth.json", folder / "found.json", {}
    if form == "dicts":
        sides = (
            write_dicts(side, numbers, len(world.sizes))
            for side, numbers in ((world.truth, truth), (world.found, found))
        )
        return *sides, {"images": dict(enumerate(sizes.values()))} if sized else {}
    if form == "frame":
        frames = (
            write_frame(side, numbers)
            for side, numbers in ((world.truth, truth), (world.found, found))
        )
        options = {"images": sizes if sized else list(sizes)}
        return *frames, options
    write_files = write_voc if form == "voc" else write_yolo
    return write_files(world, truth, found, names, folder, rng)


def write_coco(world, truth, found, names, sized):
    side = world.truth
    rows = [
        {
            "id": n + 1,
            "image_id": int(i),
            "category_id": int(c) + 1,
            "bbox": b.tolist(),
            "iscrowd": int(k),
        }
        for n, (i, c, b, k) in enumerate(
            zip(side.image, side.label, truth, side.crowd, strict=True)
        )
    ]
    if side.area is not None:
        rows = [{**row, "area": float(a)} for row, a in zip(rows, side.area, strict=True)]
    images = [
        {"id": i, **({"width": w, "height": h} if sized else {})}
        for i, (w, h) in enumerate(world.sizes.tolist())
    ]
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(names)]
    side = world.found
    results = [
        {"image_id": int(i), "category_id": int(c) + 1, "bbox": b.tolist(), "score": float(s)}
        for i, c, b, s in zip(side.image, side.label, found, side.score, strict=True)
    ]
    return {"images": images, "annotations": rows, "categories": categories}, results


def write_dicts(side, numbers, images):
    out = []
    for i in range(images):
        at = side.image == i
        held = {
            "boxes": numbers[at].astype(
                np.float32 if np.abs(numbers[at]).max(initial=0) < 1e30 else float
            ),
            "labels": side.label[at],
        }
        if side.score is None:
            held["iscrowd"] = side.crowd[at]
            if side.area is not None:
                held["area"] = side.area[at]
        else:
            held["scores"] = side.score[at]
        out.append(held)
    return out


def write_frame(side, numbers):
    columns = {"image": [f"im{i:03}" for i in side.image.tolist()], "class": side.label}
    columns |= dict(zip(("x", "y", "width", "height"), numbers.T, strict=True))
    if side.score is not None:
        columns["score"] = side.score
    elif side.area is not None:
        columns["area"] = side.area
    return pandas.DataFrame(columns)


def write_voc(world, truth, found, names, folder, rng):
    notes, results = folder / "Annotations", folder / "results"
    notes.mkdir(), results.mkdir()
    for i, (w, h) in enumerate(world.sizes.tolist()):
        objects = "".join(
            f"<object><name>{names[c]}</name><difficult>{int(k)}</difficult><bndbox>"
            + "".join(
                f"<{side}>{float(v)}</{side}>"
                for side, v in zip(("xmin", "ymin", "xmax", "ymax"), b, strict=True)
            )
            + "</bndbox></object>"
            for c, b, k, at in zip(
                world.truth.label, truth, world.truth.crowd, world.truth.image, strict=True
            )
            if at == i
        )
        size = f"<size><width>{w}</width><height>{h}</height></size>"
        (notes / f"im{i:03}.xml").write_text(f"<annotation>{size}{objects}</annotation>")
    side = world.found
    for c, name in enumerate(names):
        lines = [
            f"im{i:03} {s!r} " + " ".join(map(repr, b))
            for i, b, s in zip(
                side.image[side.label == c],
                found[side.label == c].tolist(),
                side.score[side.label == c].tolist(),
                strict=True,
            )
        ]
        (results / f"comp4_det_test_{name}.txt").write_text("\n".join(lines))
    return notes, results, {"class_names": names}


def write_yolo(world, truth, found, names, folder, rng):
    paths = []
    for kind, side, numbers in (("gt", world.truth, truth), ("found", world.found, found)):
        path = folder / kind
        path.mkdir()
        for i in range(len(world.sizes)):
            at = np.flatnonzero(side.image == i)
            lines = [" ".join(map(repr, write_line(side, numbers, n))) for n in at]
            (path / f"im{i:03}.txt").write_text("\n".join(lines))
        paths.append(path)
    sizes = {f"im{i:03}": tuple(size) for i, size in enumerate(world.sizes.tolist())}
    return *paths, {"images": sizes, "class_names": names}


def write_line(side, numbers, n):
    """The class, the box, and the score at the end, or before the box by mistake."""
    box, score = numbers[n].tolist(), [] if side.score is None else [float(side.score[n])]
    return [int(side.label[n]), *(score + box if side.first else box + score)]


# --- Mistakes -------------------------------------------------------------------------------------


def spoil_format(box_format, *sides):
    def spoil(world, rng):
        for side in sides:
            getattr(world, side).form = box_format

    return spoil


def spoil_scale(*sides):
    def spoil(world, rng):
        for side in sides:
            getattr(world, side).scale = True

    return spoil


def spoil_boxes(side, change):
    def spoil(world, rng):
        one = getattr(world, side)
        at = int(rng.integers(len(one.box)))
        one.box[at] = change(one.box[at], world.sizes[one.image[at]])

    return spoil


def spoil_areas(change):
    def spoil(world, rng):
        box = world.truth.box
        world.truth.area = change(box[:, 2] * box[:, 3], rng)

    return spoil


def spoil_scores(change):
    def spoil(world, rng):
        world.found.score = change(world.found.score)

    return spoil


def repeat(side):
    def spoil(world, rng):
        one = getattr(world, side)
        at = np.arange(len(one.image))
        at = np.append(at, at) if rng.random() < 0.5 else np.repeat(at, 2)
        setattr(world, side, one.take(at))

    return spoil


def shift_classes(by):
    def spoil(world, rng):
        label = world.found.label + by
        if rng.random() < 0.5:
            world.found.label = label % world.classes
        else:
            world.found = world.found.take((label >= 0) & (label < world.classes))
            world.found.label = world.found.label + by

    return spoil


def shift_images(by):
    def spoil(world, rng):
        count = len(world.sizes)
        image = world.found.image + by
        if rng.random() < 0.5:
            world.found.image = image % count
        else:
            kept = (image >= 0) & (image < count)
            world.found = world.found.take(kept)
            world.found.image = world.found.image + by

    return spoil


def mix_images(order):
    """Number the images of the detections otherwise."""

    def spoil(world, rng):
        world.found.image = order(len(world.sizes), rng)[world.found.image]

    return spoil


def resize(factor):
    """Take detections from resized images: the factor of each image, or of its sides."""

    def spoil(world, rng):
        by = np.broadcast_to(factor(world.sizes, rng), world.sizes.shape)
        world.found.box = world.found.box * np.tile(by[world.found.image], 2)

    return spoil


def mirror(world, rng):
    left, wide = world.found.box[:, 0], world.found.box[:, 2]
    world.found.box[:, 0] = world.sizes[world.found.image, 0] - left - wide


def pad(world, rng):
    """Take detections from images with a border above."""
    world.found.box[:, 1] += rng.choice([40, 80, 140])


def exchange(box_format=None):
    def spoil(world, rng):
        world.found.turned, world.found.form = True, box_format

    return spoil


def move_score(world, rng):
    world.found.first = True


def take_strangers(world, rng):
    """Take the detections of another data set."""
    other = draw_world(rng, len(world.sizes), good=True)
    kept = np.flatnonzero(other.found.label < world.classes)
    world.found = other.found.take(kept)


FORMATS = "another format of boxes"
IMAGES = "images mixed up"
NOT_ON = "hardly any detection on a truth"
SHARES = "relative numbers taken for pixels"
SPOILT = {
    **{
        f"{box_format} in {' and '.join(sides)}": (spoil_format(box_format, *sides), {FORMATS})
        for box_format in ("xywh", "xyxy", "cxcywh")
        for sides in (("truth",), ("found",), ("truth", "found"))
    },
    "shares in truth": (spoil_scale("truth"), {SHARES}),
    "shares in found": (spoil_scale("found"), {SHARES}),
    "shares in both": (spoil_scale("truth", "found"), {SHARES}),
    "no width": (spoil_boxes("found", lambda b, s: [b[0], b[1], 0, b[3]]), {"boxes without size"}),
    "no size in truth": (spoil_boxes("truth", lambda b, s: [b[0], b[1], 0, 0]), {"boxes without size"}),
    "apart": (spoil_boxes("found", lambda b, s: [s[0] + 20, b[1], b[2], b[3]]), {"boxes apart from their image"}),
    "apart in truth": (spoil_boxes("truth", lambda b, s: [b[0], -b[3] - 20, b[2], b[3]]), {"boxes apart from their image"}),
    "huge": (spoil_boxes("found", lambda b, s: [b[0], b[1], 1e308, 1e308]), {"sides beyond any image"}),
    "huge in truth": (spoil_boxes("truth", lambda b, s: [b[0], b[1], b[2], 1e308]), {"sides beyond any image"}),
    "negative area": (spoil_areas(lambda a, rng: np.where(np.arange(len(a)) == 3, -a, a)), set()),
    "areas 100 times": (spoil_areas(lambda a, rng: 100 * a), {"areas far from the boxes"}),
    "areas of 1": (spoil_areas(lambda a, rng: np.ones_like(a)), {"areas far from the boxes"}),
    "areas in shares": (spoil_areas(lambda a, rng: a / 640 / 480), {"areas far from the boxes"}),
    "areas mixed": (spoil_areas(lambda a, rng: rng.permutation(a)), {"areas far from the boxes"}),
    "constant scores": (spoil_scores(lambda s: np.ones_like(s)), {"constant scores"}),
    "turned scores": (spoil_scores(lambda s: 1 - s), {"scores fall as matches rise"}),
    "negated scores": (spoil_scores(lambda s: -s), {"scores fall as matches rise"}),
    "detections twice": (repeat("found"), {"most detections given twice"}),
    "truths twice": (repeat("truth"), {"most truths given twice"}),
    "next class": (shift_classes(1), {"classes mixed up"}),
    "class before": (shift_classes(-1), {"classes mixed up"}),
    "half the size": (resize(lambda sizes, rng: 0.5), {NOT_ON}),
    "another size": (resize(lambda sizes, rng: rng.choice([0.25, 0.4, 0.6, 1.6, 2.5, 4])), {NOT_ON}),
    "resized to 640 × 640": (resize(lambda sizes, rng: 640 / sizes), {NOT_ON}),
    "longer side resized": (resize(lambda sizes, rng: 416 / sizes.max(axis=1, keepdims=True)), {NOT_ON}),
    "x and y exchanged": (exchange(), {NOT_ON}),
    "mirrored": (mirror, {NOT_ON}),
    "padded": (pad, {NOT_ON, "boxes apart from their image"}),
    "y1 x1 y2 x2": (exchange("xyxy"), {NOT_ON, FORMATS}),
    "score before the box": (move_score, {NOT_ON}),
    "images in another order": (mix_images(lambda count, rng: rng.permutation(count)), {IMAGES}),
    "images five further": (mix_images(lambda count, rng: (np.arange(count) + 5) % count), {IMAGES}),
    "another data set": (take_strangers, {NOT_ON, IMAGES}),
    "next image": (shift_images(1), {"images mixed up"}),
    "image before": (shift_images(-1), {"images mixed up"}),
}  # fmt: skip
"""Each mistake, and the findings that name it; where there is none, it is an error."""


def look(world, form, sized=True, *, sound=True):
    """Evaluate a set; return what was said: the kinds of findings, or the error.

    Of a sound set, findings that are true of it are left out.
    """
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        warnings.simplefilter("error", RuntimeWarning)
        truth, found, options = write(world, form, Path(folder), sized)
        try:
            result = germane.boxes.evaluate(truth, found, "AP50", **options)
        except germane.GermaneError as error:
            return {"error"}, str(error)
    said = {one.what for one in result.findings}
    return said - list_true(world) if sound else said, " ".join(map(str, result.findings))


def is_idle(name, form, world):
    """Does the form not have what the mistake changes?"""
    if name.split(" ")[0] == NATIVE[form]:
        return True
    if name.startswith(("area", "negative area")) and form in ("voc", "yolo"):
        return True
    if name.startswith("shares") and form == "yolo":
        return True
    if name == "score before the box":
        return form != "yolo"
    if "resized" in name and form == "yolo":  # shares are of any size
        return True
    return "class" in name and len(np.unique(world.truth.label)) < 3


def run(count, forms, names, verbose=False):
    for form in forms:
        wrong, true = Counter(), Counter()
        for seed in range(count):
            world = draw_world(
                np.random.default_rng(seed), int(np.random.default_rng(seed).choice([12, 40, 40]))
            )
            sized = seed % 2 == 0 or form == "yolo"
            said, text = look(world, form, sized, sound=False)
            if said and len(world.truth.image) and len(world.found.image):
                wrong.update(said - list_true(world))
                true.update(said & list_true(world))
                if verbose:
                    print(form, seed, text[:300])
        print(
            f"sound   {form:10} {count:5} sets, with a finding: {dict(wrong) or 0}; with one that is true: {dict(true) or 0}",
            flush=True,
        )
    for name in names:
        spoil, kinds = SPOILT[name]
        row = []
        for form in forms:
            found, named, tried = 0, 0, 0
            for seed in range(count):
                rng = np.random.default_rng(seed + 1_000_000)
                world = draw_world(rng, 40, good=True)
                if is_idle(name, form, world):
                    continue
                spoil(world, rng)
                sized = seed % 2 == 0 or form == "yolo" or name == "apart"
                said, text = look(world, form, sized, sound=False)
                tried += 1
                found += bool(said)
                named += bool(said & (kinds | {"error"}))
                if verbose and not said & (kinds | {"error"}):
                    print(name, form, seed, said, text[:200])
            row.append(
                f"{form} {named / tried:.3f} ({found / tried:.3f})" if tried else f"{form} –"
            )
        print(f"spoilt  {name:26} " + "  ".join(row), flush=True)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    forms = sys.argv[2].split(",") if len(sys.argv) > 2 else FORMS
    names = [n for n in SPOILT if len(sys.argv) < 4 or sys.argv[3] in n]
    run(count, forms, names, verbose=len(sys.argv) > 4)
