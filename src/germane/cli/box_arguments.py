"""Arguments that the verbs of ``germane boxes`` share: files, reading, dialect and conventions."""

import argparse
from typing import Any, get_args

from germane.boxes.conventions import WORDS
from germane.boxes.detections import BOX_FORMATS
from germane.boxes.options import Coordinates
from germane.boxes.sources import KINDS
from germane.cli import arguments
from germane.cli.paths import InputPath

_SAYS = {
    "overlap": (
        "shared area ÷ covered area of boxes; iou+1 adds one pixel to widths and heights; mask"
        " takes masks (germane[masks]); oks takes keypoints"
    ),
    "candidate": "if the best truth is taken, a detection tries the next best, or is false",
    "reach": "an overlap is at least the threshold, or above it",
    "equal_overlaps": "the truth that counts among equal overlaps",
    "crowds": "boxes around many objects",
    "difficult": "truths marked as difficult",
    "depth_of": (
        "whether --depth counts the scores of each class in an image, or of the whole image"
    ),
    "area_of": "the area that puts a truth into a range",
    "found_area": (
        "the area of a detected mask: its own, or that of its box where results have boxes, too"
    ),
    "ties": "the order of equal scores: by image, or as given",
    "classes": "detections match their own class, or all classes are one",
    "no_truth": "classes without truths: left out of means, or 0",
    "unknown": "detections of classes that the truth does not list",
    "precision": "precision of boxes and scores: as given, or rounded to single",
    "thresholds": "precision of the thresholds of overlap",
    "unverified": (
        "detections of classes that nobody looked for in the image, or of which it has more than"
        " are annotated, as LVIS lists them"
    ),
    "flagged": "truths with the key ignore",
    "empty": "truths and detections without an area",
    "id_zero": "truths with the id 0; unmatched reproduces a mistake of pycocotools",
    "ap_depth": (
        "AP has a value at any depth, or only at 100, which reproduces a mistake of pycocotools"
    ),
}

_READING = {
    "box_format": (BOX_FORMATS, "the four numbers of a box"),
    "coordinates": (get_args(Coordinates), "relative coordinates are shares of the image"),
    "input_format": (KINDS, "the format of the files"),
}


def add_files(command: argparse.ArgumentParser, count: int | str) -> None:
    """Add TRUTH and DETECTIONS, one or several."""
    text = "annotated boxes: COCO's JSON, or a folder or file of another format"
    command.add_argument("truth", metavar="TRUTH", type=InputPath, help=text)
    text = "boxes of a detector, in any of these formats"
    command.add_argument("detections", metavar="DETECTIONS", type=InputPath, nargs=count, help=text)


def add_measures(command: argparse.ArgumentParser, default: str) -> None:
    """Add the measures; ``default`` says which ones are computed otherwise."""
    text = f"names such as 'AP AP50 AP(area=small) AR@10 P(confidence=.25)' (default: {default})"
    command.add_argument("-m", "--measures", metavar="MEASURES", action="append", help=text)


def add_reading(command: argparse.ArgumentParser) -> None:
    """Add how files are read."""
    reading = command.add_argument_group("reading (default: recognized)")
    for name, (words, text) in _READING.items():
        reading.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="|".join(words),
            type=arguments.read_sides,
            help=f"{text}, for both sides or for one, as in truth={words[0]}",
        )
    text = "names of columns that are not recognized, such as 'class=kind,x=left'"
    reading.add_argument("--columns", metavar="PART=NAME,…", type=arguments.read_columns, help=text)
    text = "all images: a folder of pictures, or a file with their sizes"
    reading.add_argument("--images", metavar="PATH", type=InputPath, help=text)
    reading.add_argument(
        "--class-names",
        metavar="FILE",
        type=InputPath,
        help="the names of classes that are numbers",
    )


def add_conventions(
    command: argparse.ArgumentParser, *, confidence: bool = True, dialect: bool = True
) -> None:
    """Add how files are read, the dialect and the conventions."""
    add_reading(command)
    if dialect:
        command.add_argument("--dialect", metavar="NAME", help="the conventions of another tool")
    group = command.add_argument_group("conventions (COCO's are the defaults)")
    add_words(group, tuple(WORDS))
    group.add_argument(
        "--iou", metavar="THRESHOLDS", help="such as .5, .5,.75 or .5:.95:.05 (default: .5:.95)"
    )
    text = "of overlap=oks: the half width of each keypoint (default: COCO's 17 of a person)"
    group.add_argument("--sigmas", metavar="S,…", help=text)
    text = "use only the N highest scores (default: 100; of overlap=oks, 20)"
    group.add_argument("--depth", metavar="N|none", type=_read_depth, default=_NOT_GIVEN, help=text)
    if confidence:
        add_confidence(group)
    text = "ranges of areas in square pixels, such as all=0-1e10,tiny=0-256"
    group.add_argument("--areas", metavar="NAME=LOW-HIGH,…", type=_read_areas, help=text)


def add_confidence(group: Any) -> None:
    """Add the lowest score that counts."""
    text = "drop detections with a lower score"
    arguments.add_number(group, "--confidence", "P", arguments.read_fraction, text)


def add_words(group: Any, names: tuple[str, ...]) -> None:
    """Add conventions that take a word."""
    for name in names:
        text = f"{_SAYS[name]} (default: {WORDS[name][0]})"
        arguments.add_choice(group, f"--{name.replace('_', '-')}", WORDS[name], text)


_NOT_GIVEN = -1


def _read_depth(text: str) -> int | None:
    return None if text == "none" else arguments.read_whole(text)


def _read_areas(text: str) -> dict[str, tuple[float, float]]:
    areas = {}
    for part in text.split(","):
        name, _, ends = part.partition("=")
        low, dash, high = ends.partition("-")
        if not name or not dash:
            raise argparse.ArgumentTypeError(
                f"takes NAME=LOW-HIGH, such as tiny=0-256; got {part!r}."
            )
        areas[name] = (arguments.read_fraction(low), arguments.read_fraction(high))
    return areas


def collect_reading(options: argparse.Namespace, *extra: str) -> dict[str, Any]:
    """Collect how files are read, and more options, as far as they were given."""
    names = (*_READING, "columns", "images", "class_names", *extra)
    return arguments.collect_given(options, names)


def collect(options: argparse.Namespace, *, confidence: bool = True) -> dict[str, Any]:
    """Collect how files are read, the dialect, and the conventions, as far as they were given."""
    names = ("dialect", *WORDS, "iou", "sigmas", "areas", *("confidence",) * confidence)
    reading = collect_reading(options, *names)
    return reading if options.depth == _NOT_GIVEN else {**reading, "depth": options.depth}
