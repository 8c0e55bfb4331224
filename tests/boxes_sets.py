"""Make small sets of truths and detections on which evaluators of boxes disagree.

A set is drawn from a seed and from traits, words that add one difficulty each. It is a dict of truths
and a list of detections in the form of COCO's JSON. `random.Random.random` is the only source of chance:
its numbers are the same in every Python, and recorded answers name a set by its seed and traits.

    truth, detections = make_boxes(7, "tied scores, crowds")
    truth, detections = make_boxes(7, draw_traits(7))
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Truth = dict[str, Any]
Detections = list[dict[str, Any]]
Box = list[float]

TRAITS = {
    "dyadic": "coordinates are multiples of 1/8, so that arithmetic is exact, but not whole",
    "floats": "coordinates are any numbers with two decimals",
    "tied scores": "scores are multiples of 1/8",
    "equal scores": "all scores are the same",
    "low scores": "a fifth of the scores are below 0.001",
    "crowds": "a fifth of the truths are crowds, with several detections inside",
    "ignored": "truths with the key ignore, which is 1 for some",
    "difficult": "truths with the key difficult, which is 1 for some",
    "own areas": "the area of a truth is not that of its box",
    "area borders": "areas of exactly 32² and 96², and next to them",
    "id zero": "annotations are numbered from 0",
    "no size": "some truths and detections have no width, no height, or neither",
    "empty images": "an image with detections alone, and an image with nothing",
    "truthless class": "a class with detections alone, and a class with nothing",
    "missed class": "a class with truths alone",
    "deep": "more than 100 detections of a class in an image, and more than 300 in the image",
    "many truths": "45 truths of one class in one image",
    "shuffled": "images, truths, detections and categories in no order",
    "unknown class": "detections of a class that is no category",
    "unknown image": "detections of an image that the truths do not list",
    "no truths": "no annotation at all",
    "no detections": "no detection at all",
}
"""What each trait adds. A set without traits has whole coordinates and scores without ties."""

RARE = ("equal scores", "unknown class", "unknown image", "no truths", "no detections")
IMAGES = (3, 8, 17, 25, 40)
CLASSES = (2, 5, 7)
SIZES = (8, 20, 32, 40, 64, 96, 100, 160)
BORDERS = (
    (32, 32),
    (16, 64),
    (31, 33),
    (33, 31),
    (96, 96),
    (48, 192),
    (64, 144),
    (95, 97),
    (20, 20),
)
FRACTIONS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass
class Chance:
    """Choices made with random numbers between 0 and 1."""

    rng: random.Random

    def below(self, end: int) -> int:
        return int(self.rng.random() * end)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def happens(self, probability: float) -> bool:
        return self.rng.random() < probability

    def shuffle(self, items: Sequence[T]) -> list[T]:
        keys = [self.rng.random() for _ in items]
        return [items[i] for i in sorted(range(len(items)), key=keys.__getitem__)]


@dataclass
class Scene:
    """The boxes of a set while it is drawn."""

    chance: Chance
    traits: frozenset[str]
    truths: list[dict[str, Any]] = field(default_factory=list)
    detections: Detections = field(default_factory=list)
    luck: list[float] = field(default_factory=list)  # decides the order of the scores

    @property
    def unit(self) -> float:
        return 0.125 if "dyadic" in self.traits else 1.0

    def round(self, box: Sequence[float]) -> Box:
        """Coordinates as the traits have them; whole numbers are floats too."""
        if "floats" in self.traits:
            return [round(number + self.chance.rng.random(), 2) for number in box]
        return [float(round(number / self.unit)) * self.unit for number in box]

    def draw_box(self) -> Box:
        """A box somewhere in the image, near others, since places are few."""
        size = self.chance.pick(SIZES), self.chance.pick(SIZES)
        if "area borders" in self.traits:
            size = self.chance.pick(BORDERS)
        place = [self.chance.pick(range(0, 400, 40)), self.chance.pick(range(0, 320, 40))]
        box = self.round([*place, *size])
        if "dyadic" in self.traits:
            box[:2] = [number + self.chance.below(8) * self.unit for number in box[:2]]
        return self.flatten_box(box)

    def flatten_box(self, box: Box) -> Box:
        """The box without its width, its height or both, if the traits want that."""
        if "no size" in self.traits and self.chance.happens(0.12):
            for side in self.chance.pick(((2,), (3,), (2, 3))):
                box[side] = 0.0
        return box

    def move_box(self, box: Box) -> Box:
        """A box that overlaps the other one: the same, beside it, larger, or exactly a fraction of it."""
        x, y, w, h = box
        step = self.unit * (1 + self.chance.below(12)) * self.chance.pick((-1, 1))
        moved: Box = self.chance.pick(
            (
                [x, y, w, h],
                [x + step, y, w, h],
                [x, y + step, w, h],
                [x, y, abs(w + step) or self.unit, abs(h + step) or self.unit],
                [x, y, w * self.chance.pick(FRACTIONS), h],
                [x, y, w, h * self.chance.pick(FRACTIONS)],
                [x, y, w * 2, h],
            )
        )
        if "floats" in self.traits:
            moved = [round(number + (self.chance.rng.random() - 0.5) * 4, 2) for number in moved]
            return [moved[0], moved[1], abs(moved[2]), abs(moved[3])]
        return self.round(moved)

    def add_truth(self, image: int, category: int, box: Box) -> None:
        truth = {"image_id": image, "category_id": category, "bbox": box, "area": box[2] * box[3]}
        truth["iscrowd"] = 0
        if "own areas" in self.traits:
            truth["area"] = self.chance.pick(
                (0.6 * box[2] * box[3], 1024.0, 9216.0, 1023.5, 9216.5)
            )
        if "crowds" in self.traits and self.chance.happens(0.2):
            truth["iscrowd"] = 1
        for trait in ("ignore", "difficult"):
            if {"ignore": "ignored"}.get(trait, trait) in self.traits:
                truth[trait] = int(self.chance.happens(0.2))
        self.truths.append(truth)

    def add_detection(self, image: int, category: int, box: Box, bonus: float = 0.0) -> None:
        self.luck.append(self.chance.rng.random() + bonus)
        self.detections.append({"image_id": image, "category_id": category, "bbox": box})


def make_boxes(seed: int, traits: str | Sequence[str] = ()) -> tuple[Truth, Detections]:
    """Draw a set; traits are names of TRAITS, in a sequence or separated by commas."""
    names = [name.strip() for name in traits.split(",")] if isinstance(traits, str) else traits
    wanted = frozenset(names) - {""}
    if unknown := wanted - TRAITS.keys():
        raise ValueError(f"no such traits: {sorted(unknown)}")
    scene = Scene(Chance(random.Random(seed)), wanted)
    _add_usual_boxes(scene)
    _add_special_boxes(scene)
    _remove_boxes(scene)
    _add_scores(scene)
    return _write_set(scene)


def draw_traits(seed: int) -> list[str]:
    """The traits of one of many random sets: about a third of them, never two kinds of coordinates."""
    chance = Chance(random.Random(seed + 1_000_000))
    chosen = [trait for trait in TRAITS if trait not in RARE and chance.happens(0.35)]
    if "floats" in chosen and "dyadic" in chosen:
        chosen.remove("dyadic")
    return chosen + [trait for trait in ("unknown class", "equal scores") if chance.happens(0.1)]


def _add_usual_boxes(scene: Scene) -> None:
    """Up to five truths of each class in each image, detections of them, and false detections."""
    for image in IMAGES:
        for category in CLASSES:
            for _ in range(scene.chance.pick((0, 0, 1, 1, 2, 3, 5))):
                _add_found_truth(scene, image, category)
            for _ in range(scene.chance.below(3)):
                scene.add_detection(image, category, scene.draw_box())


def _add_found_truth(scene: Scene, image: int, category: int) -> None:
    """A truth, sometimes a copy beside it, and up to four detections, a few of another class."""
    box = scene.draw_box()
    scene.add_truth(image, category, box)
    if scene.chance.happens(0.25):
        scene.add_truth(image, category, scene.move_box(box))
    for _ in range(scene.chance.pick((0, 1, 1, 2, 4))):
        named = scene.chance.pick(CLASSES) if scene.chance.happens(0.1) else category
        scene.add_detection(image, named, scene.move_box(box), bonus=0.4)


def _add_special_boxes(scene: Scene) -> None:
    traits, chance = scene.traits, scene.chance
    if "empty images" in traits:
        for _ in range(6):
            scene.add_detection(60, chance.pick(CLASSES), scene.draw_box())
    for trait, place in (("truthless class", (11, 8)), ("unknown class", (99, 17))):
        for _ in range(5 if trait in traits else 0):
            scene.add_detection(place[1], place[0], scene.draw_box())
    if "missed class" in traits:
        for image in IMAGES[:3]:
            scene.add_truth(image, 13, scene.draw_box())
    if "many truths" in traits:
        for _ in range(45):
            _add_found_truth(scene, 25, 5)
    if "deep" in traits:
        boxes = [t["bbox"] for t in scene.truths if t["image_id"] == 17] or [scene.draw_box()]
        for number in range(340):
            box = scene.move_box(chance.pick(boxes)) if number % 2 else scene.draw_box()
            scene.add_detection(17, CLASSES[number % 5 // 3], box)
    for _ in range(4 if "unknown image" in traits else 0):
        scene.add_detection(999, chance.pick(CLASSES), scene.draw_box())


def _remove_boxes(scene: Scene) -> None:
    if "no truths" in scene.traits:
        scene.truths = []
    if "no detections" in scene.traits:
        scene.detections = []


def _add_scores(scene: Scene) -> None:
    """Scores are multiples of a power of two, which single precision holds exactly."""
    traits, chance = scene.traits, scene.chance
    order = sorted(range(len(scene.detections)), key=scene.luck.__getitem__)
    scale = 2.0 ** -len(scene.detections).bit_length()
    for rank, i in enumerate(order, 1):
        score = rank * scale
        if "tied scores" in traits:
            score = min(int(score * 10 + 1), 8) / 8
        if "low scores" in traits and chance.happens(0.2):
            score /= 1024
        scene.detections[i]["score"] = 0.5 if "equal scores" in traits else score


def _write_set(scene: Scene) -> tuple[Truth, Detections]:
    traits = scene.traits
    images = [*IMAGES, *((60, 61) if "empty images" in traits else ())]
    classes = [*CLASSES, *((11, 12) if "truthless class" in traits else ())]
    classes += [13] if "missed class" in traits else []
    first = 0 if "id zero" in traits else 1
    truths = [{"id": i, **truth} for i, truth in enumerate(scene.truths, first)]
    truth: Truth = {
        "images": [{"id": i, "width": 640, "height": 480} for i in images],
        "annotations": truths,
        "categories": [{"id": i, "name": f"class {i}"} for i in classes],
    }
    if "shuffled" not in traits:
        return truth, scene.detections
    return {key: scene.chance.shuffle(rows) for key, rows in truth.items()}, scene.chance.shuffle(
        scene.detections
    )


# --- Images of which not all classes are annotated ------------------------------------------------


def make_federated(seed: int) -> tuple[Truth, Detections]:
    """Draw a set as LVIS has them: images say which classes were looked for, and classes how rare they are."""
    truth, detections = make_boxes(seed, draw_traits(seed))
    chance = Chance(random.Random(seed + 2_000_000))
    classes = [one["id"] for one in truth["categories"]]
    for category in truth["categories"]:
        category["frequency"] = chance.pick("rcf")
    for image in truth["images"]:
        inside = {
            row["category_id"] for row in truth["annotations"] if row["image_id"] == image["id"]
        }
        absent = [one for one in classes if one not in inside and chance.happens(0.5)]
        image["neg_category_ids"] = [*absent, *(inside if chance.happens(0.05) else ())]
        partial = [one for one in classes if chance.happens(0.4 if one in inside else 0.05)]
        image["not_exhaustive_category_ids"] = partial
    for row in truth["annotations"]:
        if chance.happens(0.1):
            row["ignore"] = 1
        if chance.happens(0.05):
            row["area"] = 0.0
    return truth, detections


def outline_boxes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the polygon of each box as its mask."""
    out = []
    for row in rows:
        x, y, w, h = row["bbox"]
        out.append({**row, "segmentation": [[x, y, x + w, y, x + w, y + h, x, y + h]]})
    return out
