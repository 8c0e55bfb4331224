"""Records of detectors: their numbers with the share of every image, which a gate compares."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from germane.boxes.box_comparison import ImageShares, share_all
from germane.boxes.box_measures import BoxMeasure, parse_measure
from germane.boxes.box_result import Result, Results
from germane.boxes.box_tables import make_dict
from germane.boxes.detections import Truths
from germane.errors import (
    FormatError,
    InputError,
    NotFoundError,
    PolicyError,
    clip,
    list_some,
    write_option,
)
from germane.measures.averaging import QueryValues
from germane.output.documents import make_document
from germane.readers.files.formats import is_path
from germane.readers.files.json_files import read_json

MAKE = "germane boxes TRUTH DETECTIONS --record FILE"
_START = 64  # bytes in which a record says its schema


def make_record(results: Results) -> dict[str, Any]:
    """Make plain values for JSON: numbers, the share of each image in them, and the truths' hash.

    The number of a detector is the mean of its shares.
    """
    record, first = make_dict(results), next(iter(results.values()))
    for document, result in zip(record["detections"], results.values(), strict=True):
        shares = share_all(result, None, "left out")
        for row, name in zip(document["measures"], result, strict=True):
            values = shares.get(result.name_measure(name))
            row["shares"] = None if values is None else values.values.tolist()
    images = [str(image) for image in first.truths.images]
    return record | {"images": images, "truth": hash_truths(first.truths)}


def hash_truths(truths: Truths) -> str:
    """Hash what truths say, whatever the order of their files and annotations."""
    images, classes = [str(image) for image in truths.images], truths.class_names
    marks: tuple[Any, ...] = (
        truths.crowd, truths.difficult, truths.area, truths.unseen, truths.flagged, truths.levels,
        truths.keypoints, truths.corners,
    )  # fmt: skip
    columns = [mark.tolist() for mark in marks if mark is not None]
    if truths.masks is not None:
        columns.append(truths.masks.list_codes(np.arange(len(truths))))
    rows = sorted(
        repr((images[image], classes[label], *box, *columns_of_row))
        for image, label, box, *columns_of_row in zip(
            truths.image.tolist(),
            truths.label.tolist(),
            truths.boxes.as_array().tolist(),
            *columns,
            strict=True,
        )
    )
    kinds = [str(kind) for kind in truths.frequencies] or [""] * len(classes)
    parts = [sorted(images), sorted(map(repr, zip(classes, kinds, strict=True))), rows]
    if truths.verified is not None:
        for groups in (truths.verified.absent, truths.verified.partial):
            pairs = (divmod(group, len(images)) for group in groups.tolist())
            parts.append(sorted(repr((classes[label], images[image])) for label, image in pairs))
    text = "\n\n".join("\n".join(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Record(NamedTuple):
    """What a record says of one detector."""

    where: str
    conventions: Mapping[str, Any]
    images: Sequence[str]
    truth: str
    shares: Mapping[str, Sequence[float] | None]  # by measure


def find_record(raw: Any) -> Record | None:
    """Read a record from a file, or from its content; None for detections.

    Raises FormatError for a record that has no shares, and InputError for several detectors.
    """
    if isinstance(raw, Mapping) and "schema" in raw:
        return _read_record("the record", raw)
    if not is_path(raw) or not os.path.isfile(raw) or not os.fspath(raw).endswith(".json"):
        return None
    with open(raw, "rb") as file:
        start = file.read(_START).decode("utf-8", "replace").split()
    if "".join(start)[:10] != '{"schema":':
        return None
    return _read_record(os.fsdecode(raw), read_json(raw))


def _read_record(where: str, raw: Any) -> Record:
    detectors = raw.get("detections") if isinstance(raw, Mapping) else None
    if not isinstance(detectors, list) or not detectors:
        raise FormatError(f"{where} is no record of detections. Make it with: {MAKE}")
    if len(detectors) > 1:
        names = list_some([str(detector.get("name")) for detector in detectors])
        raise InputError(f"{where} has several detectors ({names}), but a baseline is one.")
    try:
        shares = {str(row["measure"]): row["shares"] for row in detectors[0]["measures"]}
        images = [str(image) for image in raw["images"]]
        record = Record(where, raw["conventions"], images, str(raw["truth"]), shares)
        lengths = {len(values) for values in shares.values() if values is not None}
    except (KeyError, TypeError, AttributeError):
        raise FormatError(
            f"{where}: the record does not say how much each image contributes. Make it with:"
            f" {MAKE}"
        ) from None
    if wrong := lengths - {len(images)}:
        raise FormatError(
            f"{where}: there are {len(images)} images, but contributions of {min(wrong)}."
        )
    return record


def read_shares(record: Record, result: Result, measures: Sequence[BoxMeasure]) -> ImageShares:
    """Read the shares of a record that was made on the truths and conventions of a result.

    Raises InputError for other truths, PolicyError for other conventions, and NotFoundError for
    measures that the record lacks.
    """
    truths, conventions = result.truths, make_document(result.conventions.to_dict())
    images = [str(image) for image in truths.images]
    if record.truth != hash_truths(truths) or sorted(images) != sorted(record.images):
        raise InputError(
            f"{record.where} was made with other truths ({len(record.images):,} images, hash"
            f" {record.truth[:8]}; here {len(images):,}, {hash_truths(truths)[:8]}). Numbers can be"
            f" compared only on the same truths. Make the record again with: {MAKE}"
        )
    del conventions["schema"]
    if dict(record.conventions) != json.loads(json.dumps(conventions)):
        differing = [
            f"{name}={clip(record.conventions.get(name))}"
            for name in sorted({*record.conventions, *conventions})
            if record.conventions.get(name) != conventions.get(name)
        ]
        raise PolicyError(
            f"{record.where} was made with other conventions ({', '.join(differing)}). Numbers"
            " under different conventions cannot be compared."
        )
    place = {image: position for position, image in enumerate(record.images)}
    order = np.array([place[image] for image in images], np.int64)
    stored = {result.complete(parse_measure(name)): name for name in record.shares}
    shares = ImageShares()
    shares.images = truths.images
    for measure in measures:
        name = stored.get(result.complete(measure))
        values = None if name is None else record.shares[name]
        if values is None:
            raise NotFoundError(
                f"{record.where} has no {measure}.  There are: {', '.join(record.shares)}. Choose"
                f" among them with {write_option('measures')}, or make the record again with:"
                f" {MAKE} -m '{' '.join(map(str, measures))}'"
            )
        numbers = np.array(values, float)[order]
        shares[measure] = QueryValues(cast(Any, measure), list(shares.images), numbers)
    return shares
