"""PASCAL VOC's annotations: an XML file an image."""

import os
import re
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from germane.boxes.columns import Columns
from germane.boxes.detections import Truths
from germane.boxes.images import UNKNOWN
from germane.boxes.reading_options import Reading
from germane.boxes.text_files import is_voc_results, list_files, read_lines, read_voc_results
from germane.core.arguments import read_decimal
from germane.errors import EmptyError, FormatError, InputError, clip
from germane.readers.files.formats import is_path
from germane.readers.files.line_blocks import read_file

CORNERS = ("xmin", "ymin", "xmax", "ymax")
_IMAGE_SET = re.compile(r"(.*)[/\\]ImageSets[/\\][^/\\]+[/\\][^/\\]+\.txt$")


def is_voc(raw: object) -> bool:
    """Is this VOC's results, an image set, or a folder of annotations or of a data set?"""
    return bool(is_path(raw) and _list_annotations(raw)) or is_voc_results(raw)


def _list_annotations(raw: Any) -> list[str]:
    """List the files of annotations: of an image set, a data set, a folder, or one file."""
    path = os.fspath(raw)
    if in_set := _IMAGE_SET.match(path):
        folder = os.path.join(in_set[1], "Annotations")
        return [os.path.join(folder, f"{fields[0]}.xml") for _, fields in read_lines(path)]
    inside = os.path.join(path, "Annotations")
    folder = inside if os.path.isdir(inside) else path
    return list_files(folder, ".xml") if os.path.isdir(folder) else [path] * path.endswith(".xml")


def read_voc(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read annotations or results. Raises FormatError for annotations in place of results."""
    if truths is None:
        return _read_annotations(raw)
    if _list_annotations(raw):
        raise FormatError(
            f"{os.fspath(raw)}: these are VOC's annotations, without scores, where detections are"
            " expected. Are truth and detections swapped?"
        )
    return read_voc_results(raw)


def _read_annotations(raw: Any) -> Columns:
    """Read annotations of objects: name, box, difficult; and the sizes of the images."""
    files = _list_annotations(raw)
    if not files:
        if os.path.isdir(raw) and not is_voc_results(raw):
            raise EmptyError(f"{os.fspath(raw)}: this folder has no file .xml.")
        raise FormatError(
            f"{os.fspath(raw)}: VOC's truth is a folder of XML files, or an image set beside one."
            " Are these detections? Give the truth first."
        )
    rows: list[_Object] = []
    sizes: dict[Hashable, tuple[float, float]] = {}
    faults: list[str] = []
    for path in files:
        image = os.path.splitext(os.path.basename(path))[0]
        root = parse_xml(path)
        if root.tag != "annotation":
            raise FormatError(
                f"{path}: VOC's annotations are <annotation>; got <{clip(root.tag)}>."
            )
        sizes[image] = _read_size(root)
        rows += _read_objects(root, path, image, faults)
    return Columns(
        image=[row.image for row in rows],
        label=[row.label for row in rows],
        boxes=[row.box for row in rows],
        locate=lambda place: rows[place].place,
        box_format="xyxy",
        difficult=[row.difficult for row in rows],
        images=list(sizes),
        sizes=sizes,
        faults=faults,
        where=os.fspath(raw),
        typed=False,
    )


class _Object(NamedTuple):
    image: str
    label: str
    box: list[float]
    difficult: bool
    place: str  # its file and line


def _read_objects(root: Element, path: str, image: str, faults: list[str]) -> Iterator[_Object]:
    """Read the objects of an image; those that cannot be read are faults."""
    for node in root.findall("object"):
        place = f"{path}:{node.attrib['line']}"
        name, difficult = _read_text(node, "name"), _read_text(node, "difficult")
        box = [_read_text(node, f"bndbox/{side}") for side in CORNERS]
        if fault := _find_fault(name, box, difficult):
            faults.append(f"{place}: the object {fault}.")
        else:
            sides = list(map(read_decimal, box))
            yield _Object(image, name, sides, difficult == "1", place)


def _read_text(node: Element, path: str) -> str:
    return (node.findtext(path) or "").strip()


def _find_fault(name: str, box: list[str], difficult: str) -> str:
    if not name:
        return "has no name"
    for side, text in zip(CORNERS, box, strict=True):
        try:
            read_decimal(text)
        except ValueError:
            return f"has no number as {side}: {clip(text)}" if text else f"has no {side}"
    return "" if difficult in ("", "0", "1") else f"has difficult {clip(difficult)}; it is 0 or 1"


def _read_size(root: Element) -> tuple[float, float]:
    """Read the size of the image; NaN where the file has none, or 0."""
    try:
        sides = (_read_text(root, f"size/{side}") for side in ("width", "height"))
        width, height = map(read_decimal, sides)
    except ValueError:
        return UNKNOWN
    return (width, height) if min(width, height) > 0 else UNKNOWN


class _EntityError(Exception):
    """The XML defines an entity."""


def parse_xml(path: str) -> Element:
    """Parse XML; each element has its line as an attribute.

    Entities are refused: with them a small file grows without bound, or reads other files.
    """
    builder, parser = TreeBuilder(), expat.ParserCreate()

    def refuse(*raw: object) -> None:
        raise _EntityError

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag, {**attributes, "line": str(parser.CurrentLineNumber)})

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse  # type: ignore[assignment]
    try:
        parser.Parse(read_file(path), True)
    except expat.ExpatError as error:
        raise FormatError(f"{path}: no XML ({error}).") from None
    except (LookupError, ValueError) as error:  # of the encoding that the file names
        raise FormatError(f"{path}: the XML cannot be decoded ({error}).") from None
    except (_EntityError, RecursionError):
        raise InputError(
            f"{path}: the XML defines entities, which annotations do not need; remove them."
        ) from None
    return builder.close()
