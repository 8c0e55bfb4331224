"""Selection: evaluate some images or classes alone, as if the others were in no file."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane.boxes.conventions import Reading
from germane.boxes.detections import Detections, Truths
from germane.boxes.image_ids import find_id
from germane.core.ragged import Ints
from germane.errors import InputError, clip, write_option


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The truths of the chosen images and classes, and the rows that they had before."""

    truths: Truths
    rows: Ints  # G
    image: Ints  # I, of all images: the new position, or -1
    label: Ints  # K
    by_class: bool

    def take(self, detections: Detections) -> tuple[Detections, Ints]:
        """Take the detections of the same images and classes, and the rows that they had."""
        kept = self.image[detections.image] >= 0
        # the last of the labels is that of classes which the truths do not list
        label = np.append(self.label, -1)[detections.label]
        kept &= (label >= 0) | (not self.by_class)
        rows = np.flatnonzero(kept)
        chosen = replace(
            detections.take(rows), image=self.image[detections.image[rows]], label=label[rows]
        )
        return replace(chosen, unknown=() if self.by_class else chosen.unknown), rows


def select(truths: Truths, reading: Reading) -> Selection | None:
    """Select images and classes, where ``only_images`` or ``only_classes`` names some.

    They stay in the order of the truths. Raises NotFoundError for one that is not there, and
    InputError for none.
    """
    if reading.only_images is None and reading.only_classes is None:
        return None
    images = place_chosen(
        "only_images", reading.only_images, "image", truths.images, (), truths.files
    )
    classes = place_chosen(
        "only_classes", reading.only_classes, "class", truths.classes, truths.names
    )
    rows = np.flatnonzero((images[truths.image] >= 0) & (classes[truths.label] >= 0))
    chosen = truths.take(rows)
    return Selection(
        replace(
            chosen,
            images=_keep(truths.images, images),
            classes=_keep(truths.classes, classes),
            names=_keep(truths.names, classes),
            files=_keep(truths.files, images),
            frequencies=_keep(truths.frequencies, classes),
            sizes=None if truths.sizes is None else truths.sizes[images >= 0],
            image=images[chosen.image],
            label=classes[chosen.label],
            verified=_renumber(truths, images, classes),
        ),
        rows,
        images,
        classes,
        reading.only_classes is not None,
    )


def place_chosen(
    option: str,
    raw: Any,
    noun: str,
    ids: Sequence[Hashable],
    names: Sequence[str],
    files: Sequence[str] = (),
) -> Ints:
    """Give each id its place among those that an option chooses, or -1.

    Raises NotFoundError for one that is not there, and InputError for none.
    """
    chosen = np.ones(len(ids), bool)
    if raw is not None:
        single = isinstance(raw, (str, bytes)) or not isinstance(raw, Iterable)
        listed = [raw] if single else list(raw)
        if isinstance(raw, Mapping) or not listed:
            raise InputError(f"{write_option(option)} lists ids or names; got {clip(raw)}")
        chosen[:] = False
        chosen[[find_id(label, ids, names, noun, files) for label in listed]] = True
    return np.where(chosen, np.cumsum(chosen) - 1, -1)


def _keep(listed: Sequence[Any], place: Ints) -> Sequence[Any]:
    return [item for item, position in zip(listed, place.tolist(), strict=False) if position >= 0]


def _renumber(truths: Truths, images: Ints, classes: Ints) -> Any:
    """Number anew the groups of which LVIS's images say something."""
    if truths.verified is None:
        return None
    kept = int((images >= 0).sum())

    def number(groups: Ints) -> Ints:
        label, image = classes[groups // len(images)], images[groups % len(images)]
        renumbered: Ints = (label * kept + image)[(label >= 0) & (image >= 0)]
        return renumbered

    verified = truths.verified
    return replace(verified, absent=number(verified.absent), partial=number(verified.partial))
