"""The table of all checks of boxes."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from germane.boxes.checks import matches, values
from germane.boxes.checks.data import BoxData
from germane.boxes.sources import Sheet
from germane.checks.rows import Sees, make_findings
from germane.core.finding import Finding, Severity
from germane.errors import write_option


class BoxCheck(NamedTuple):
    """One kind of finding, in truths, detections, or both."""

    name: str
    severity: Severity
    sides: tuple[str, ...]
    find_problems: Callable[[Sheet, BoxData], Sees]
    remedy: str
    evaluate: Literal["error", "warning", "silent"] = "silent"
    """The reaction of evaluate: an error, a warning, or none."""

    follows: tuple[str, ...] = ()
    """Findings of which this one is a consequence; it is not looked for beside them."""


_BOTH = ("truth", "detections")
_FORMS = (
    "relative numbers taken for pixels", "pixels taken for relative numbers",
    "another format of boxes",
)  # fmt: skip
_ELSEWHERE = (*_FORMS, "images mixed up", "hardly any detection on a truth")
TABLE = (
    BoxCheck("malformed boxes", "serious", _BOTH, values.find_malformed,
             "Correct or delete them; until then evaluate refuses them.", "error"),
    BoxCheck("repeated ids", "serious", ("truth",), values.find_repeated_ids,
             "Give each entry an id of its own.", "error"),
    BoxCheck("swapped corners", "serious", _BOTH, values.find_swapped,
             ("Write the left and upper corner first, or name the format:"
             f" {write_option('box_format', 'xywh')}."),
             "error"),
    BoxCheck("negative sizes", "serious", _BOTH, values.find_negative,
             (f"If it is another format, choose {write_option('box_format', 'xywh')}, xyxy or"
             " cxcywh."), "error"),
    BoxCheck("negative areas", "serious", ("truth",), values.find_negative_areas,
             "Correct them, or leave out all areas for those of the boxes.", "error"),
    BoxCheck("ids of another type", "serious", _BOTH, values.find_mistyped,
             "Write the ids of both sides as numbers, or as text.", "error"),
    BoxCheck("unknown images", "serious", _BOTH, values.find_unknown_images,
             ("Write ids as the truth does, or list all images with"
             f" {write_option('images')}."), "error"),
    BoxCheck("unknown classes", "serious", _BOTH, values.find_unknown_classes,
             (f"Name classes with {write_option('class_names')}, or leave such detections out"
             f" with {write_option('unknown', 'ignore')}."),
             "error"),
    BoxCheck("scores that are no numbers", "serious", ("detections",), values.find_odd_scores,
             "Write a finite number.", "error"),
    BoxCheck("relative numbers taken for pixels", "serious", _BOTH, values.find_relative,
             (f"Use {write_option('coordinates', 'relative')}, and give the sizes of images with"
             f" {write_option('images')}."), "warning"),
    BoxCheck("pixels taken for relative numbers", "serious", _BOTH, values.find_pixels,
             f"Use {write_option('coordinates', 'pixels')}.", "warning"),
    BoxCheck("another format of boxes", "serious", _BOTH, values.find_other_format,
             (f"Choose {write_option('box_format', 'xywh')}, xyxy or"
             " cxcywh."), "warning", _FORMS[:2]),
    BoxCheck("images mixed up", "serious", ("detections",), matches.find_other_images,
             "Are images in the same order, and numbered alike, on both sides?", "warning", _FORMS),
    BoxCheck("hardly any detection on a truth", "serious", ("detections",),
             matches.find_strangers,
             "Are both sides of the same images, numbered alike, and of one size?", "warning",
             (*_FORMS, "images mixed up")),
    BoxCheck("classes that nobody looked for", "serious", ("detections",), matches.find_federated,
             f"{write_option('dialect', 'lvis')} evaluates them by LVIS's rules.", "warning"),
    BoxCheck("sides beyond any image", "serious", _BOTH, values.find_huge,
             "Correct them: such a box overlaps nothing else.", "warning",
             _ELSEWHERE),
    BoxCheck("boxes apart from their image", "serious", _BOTH, values.find_apart,
             "Do boxes and images belong together? A truth there is missed, and a detection is "
             "false.", "warning", _ELSEWHERE),
    BoxCheck("boxes without size", "serious", _BOTH, values.find_empty,
             "They overlap nothing: a truth is missed, and a detection is false.", "warning",
             _FORMS),
    BoxCheck("masks without pixels", "serious", _BOTH, values.find_empty_masks,
             "They overlap nothing: a truth is missed, and a detection is false.", "warning"),
    BoxCheck("masks or keypoints apart from their boxes", "serious", _BOTH, values.find_elsewhere,
             "Are they in pixels of the image, and x before y?", "warning", _FORMS),
    BoxCheck("areas far from the boxes", "serious", ("truth",), values.find_odd_areas,
             ("Small, medium and large rest on them. Correct them, or use"
             f" {write_option('area_of', 'box')}."), "warning",
             _FORMS),
    BoxCheck("most truths given twice", "serious", ("truth",), values.find_all_repeated,
             "Delete the copies: one of two cannot be found.", "warning"),
    BoxCheck("most detections given twice", "serious", ("detections",), values.find_all_repeated,
             "Delete the copies: the second is a false positive.", "warning"),
    BoxCheck("hardly any image with detections", "serious", ("detections",),
             values.find_most_without,
             "Did the detector see all images, and is each detection given its image?", "warning"),
    BoxCheck("images emptied by an option", "serious", ("detections",), values.find_emptied,
             "Check what the option leaves out.", "warning"),
    BoxCheck("constant scores", "serious", ("detections",), values.find_constant,
             "The order of the file then decides precision at every recall.", "warning"),
    BoxCheck("scores fall as matches rise", "serious", ("detections",), matches.find_turned,
             "Are they distances, or errors? Higher is better: negate them.", "warning", _FORMS),
    BoxCheck("classes mixed up", "serious", ("detections",), matches.find_other_classes,
             f"Do both sides number classes alike, from 0 or from 1? {write_option('class_names')}"
             " names those of a "
             "side.", "warning", _FORMS),
    BoxCheck("boxes outside their image", "doubtful", _BOTH, values.find_outside,
             "Clip them, or check the sizes of the images."),
    BoxCheck("truths given twice", "doubtful", ("truth",), values.find_repeated,
             "Delete the copies: one of two cannot be found.",
             follows=("most truths given twice",)),
    BoxCheck("detections given twice", "doubtful", ("detections",), values.find_repeated,
             "Delete the copies: the second is a false positive.",
             follows=("most detections given twice",)),
    BoxCheck("images without detections", "note", ("detections",), values.find_images_without,
             "Did the detector see them?", follows=("hardly any image with detections",)),
    BoxCheck("classes without detections", "note", ("detections",), values.find_classes_without,
             "Their AP is 0."),
    BoxCheck("images without truths", "note", ("truth",), values.find_images_without,
             "All detections there are false positives."),
    BoxCheck("classes without truths", "note", ("truth",), values.find_classes_without,
             (f"{write_option('no_truth', 'skip')} leaves them out of means; zero counts them as"
             " 0.")),
    BoxCheck("scores beyond 0 to 1", "note", ("detections",), values.find_scores_beyond,
             f"Only their order counts, except for {write_option('confidence')}."),
)  # fmt: skip
"""Findings of the same severity are reported in this order."""


def find_all(data: BoxData, evaluate: str | None = None) -> Iterator[Finding]:
    """Run all checks, or those to which evaluate reacts in one way."""
    reported: set[str] = set()
    for check in TABLE:
        if evaluate not in (None, check.evaluate) or not reported.isdisjoint(check.follows):
            continue
        for side in check.sides:
            sheet: Sheet = getattr(data, side)
            for finding in make_findings(check, check.find_problems(sheet, data), sheet.where):
                reported.add(check.name)
                yield finding
