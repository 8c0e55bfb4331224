"""Label files: text with a box a line, and folders of PASCAL VOC's annotations."""

import os
import re
import struct
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from germane.boxes import coco, objects
from germane.boxes.box_columns import Columns, Sizes
from germane.boxes.conventions import Reading, name_side
from germane.boxes.detections import BoxFormat, Truths
from germane.core.calls import read_decimal
from germane.errors import EmptyError, FormatError, InputError, NotFoundError, clip, write_option
from germane.readers.files.formats import is_path, refuse_special
from germane.readers.files.line_blocks import TextFile, read_file
from germane.readers.files.streams import explain_os_error
from germane.readers.objects.numbers import is_finite_number

LOOK = 20  # files that show of which kind the others are


@dataclass(frozen=True)
class Lines:
    """The fields of a line; truths have no score."""

    fields: tuple[str, ...]
    box_format: BoxFormat
    relative: bool = False
    hint: str = ""  # how to get a score that is missing

    def list_fields(self, side: str) -> tuple[str, ...]:
        return tuple(field for field in self.fields if side == "detections" or field != "score")


PADILLA = Lines(("class", "score", "left", "top", "right", "bottom"), "xyxy")
VOC = Lines(("image", "score", "left", "top", "right", "bottom"), "xyxy")

_NOT_BOXES = re.compile(
    r"(classes|predefined_classes|train|val|test|readme|requirements)\.txt$", re.IGNORECASE
)
_OF_CLASS = re.compile(r"(?:^|_)det_[^_]+_(.+)\.txt$", re.IGNORECASE)


def list_files(folder: str, suffix: str) -> list[str]:
    """List the files of a folder that have a suffix, in the order of their names."""
    with explain_os_error(folder):
        names = sorted(os.listdir(folder))
    paths = [os.path.join(folder, name) for name in names if name.casefold().endswith(suffix)]
    for path in paths:
        refuse_special(path)
    return paths


def list_labels(raw: Any) -> list[str]:
    """List the files of boxes in a folder or its folder ``labels``; none for anything else."""
    if not is_path(raw) or not os.path.isdir(raw):
        return []
    folder = find_label_folder(os.fspath(raw))
    return [
        path
        for path in list_files(folder, ".txt")
        if not _NOT_BOXES.fullmatch(os.path.basename(path))
    ]


def find_label_folder(folder: str) -> str:
    """Find the folder of labels in a data set."""
    inside = os.path.join(folder, "labels")
    return inside if os.path.isdir(inside) else folder


def is_padilla(raw: object) -> bool:
    """Is this a folder with a file an image, as Padilla's tool reads them?"""
    files = list_labels(raw)
    return bool(files) and not is_voc_results(raw) and has_pixels(files)


def is_voc_results(raw: Any) -> bool:
    """Is this one of VOC's files of results, which are named after a class, or a folder of them?"""
    if is_path(raw) and not os.path.isdir(raw):
        return bool(os.fspath(raw).casefold().endswith(".txt"))
    return any(_OF_CLASS.search(os.path.basename(label)) for label in list_labels(raw))


def has_pixels(files: list[str]) -> bool:
    """Are most numbers beyond what shares of an image are?"""
    lines = (fields[1:] for path in files[:LOOK] for _, fields in read_lines(path))
    numbers = [read_number(field) for fields in lines for field in fields]
    large = [abs(number) > 2 for number in numbers if number is not None]
    return sum(large) > len(large) / 2


def read_lines(path: Any) -> Iterator[tuple[int, list[str]]]:
    """Read the lines of a file that are not blank: the number and the fields of each."""
    with TextFile(path) as file:
        number = 0
        for block in file.read_blocks("lines"):
            for line in block.data.splitlines():
                number += 1
                if line.strip():
                    try:
                        yield number, line.decode().split()
                    except UnicodeDecodeError:
                        raise FormatError(f"{file.name}:{number}: the line is not UTF-8.") from None


LabelLine = tuple[str, int, list[str]]  # of a file: its path, the number of a line and its fields


def read_label_lines(files: list[str]) -> Iterator[LabelLine]:
    """Read the lines of some files that are not blank."""
    for path in files:
        for number, texts in read_lines(path):
            yield path, number, texts


def read_boxes(
    files: list[str],
    lines: Lines,
    side: str,
    named: str,
    read: Iterable[LabelLine] | None = None,
) -> Columns:
    """Read a box from each line of some files. Images or classes are named by the files.

    ``read`` are the lines, if they have been read.
    """
    fields = lines.list_fields(side)
    places: list[tuple[str, int]] = []
    faults: list[str] = []
    rows: dict[str, list[Any]] = {field: [] for field in (*fields, named)}
    for path, number, texts in read_label_lines(files) if read is None else read:
        fault = _find_fault_of_lines(texts, fields, lines, side)
        if fault:
            faults.append(f"{path}:{number}: {fault}: {clip(' '.join(texts))}")
            continue
        places.append((path, number))
        rows[named].append(name_of_file(path, named))
        for field, text in zip(fields, texts, strict=True):
            rows[field].append(_READ.get(field, float)(text))
    sides = [field for field in fields if field not in ("image", "class", "score")]
    return Columns(
        image=rows["image"],
        label=rows["class"],
        boxes=list(zip(*(rows[side] for side in sides), strict=True)),
        score=rows.get("score"),
        locate=lambda place: f"{places[place][0]}:{places[place][1]}",
        box_format=lines.box_format,
        relative=lines.relative,
        images=[name_of_file(path, named) for path in files] if named == "image" else None,
        faults=faults,
        where=os.path.dirname(files[0]) if len(files) > 1 else files[0],
        typed=False,
    )


def name_of_file(path: str, named: str) -> str:
    """Name the image or the class that a file holds."""
    name = os.path.basename(path)
    of_class = _OF_CLASS.search(name) if named == "class" else None
    return of_class[1] if of_class else os.path.splitext(name)[0]


def read_class(text: str) -> Any:
    """Read a class: figures alone are a number, but not with zeros before them."""
    return int(text) if re.fullmatch("0|[1-9][0-9]{,17}", text) else text


_READ: dict[str, Any] = {"image": str, "class": read_class}


def read_number(text: str) -> float | None:
    try:
        return read_decimal(text)
    except ValueError:
        return None


def _find_fault_of_lines(texts: list[str], fields: tuple[str, ...], lines: Lines, side: str) -> str:
    """Say why a line cannot be read; "" if it can."""
    if len(texts) != len(fields):
        fault = f"{len(texts)} fields where a line has {len(fields)} ({' '.join(fields)})"
        if side == "detections" and len(texts) == len(fields) - 1:
            return f"{fault}. Is the score missing, or are these truths?{lines.hint}"
        if side == "truth" and len(texts) == len(fields) + 1:
            return f"{fault}. Are these detections? Give the truth first"
        return fault
    pairs = zip(fields, texts, strict=True)
    faulty = [text for field, text in pairs if field not in _READ and read_number(text) is None]
    return f"{clip(faulty[0])} is no number" if faulty else ""


def read_voc_results(raw: Any) -> Columns:
    """Read VOC's results: lines of image, score and corners, in a file for each class."""
    files = require_labels(raw) if os.path.isdir(raw) else [os.fspath(raw)]
    return read_boxes(files, VOC, "detections", "class")


def read_padilla(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read files of images, with lines of class, score and corners; truths have no score."""
    columns = read_boxes(require_labels(raw), PADILLA, name_side(truths), "image")
    ends = [box[-1] for box in columns.boxes]
    if columns.score and max(columns.score) > 1 and all(0 <= end <= 1 for end in ends):
        text = (
            f"{columns.locate(0)}: the last number of every line is between 0 and 1, as scores are,"
            " and the second is not. Are these YOLO's lines in pixels (class cx cy width height"
            f" score)? Then use {write_option('input_format', {'detections': 'yolo'})} and"
            f" {write_option('coordinates', {'detections': 'pixels'})}."
        )
        return replace(columns, faults=[text, *columns.faults])
    return columns


def require_labels(raw: Any) -> list[str]:
    """List the files of boxes in a folder. Raises InputError or EmptyError where there are none."""
    if files := list_labels(raw):
        return files
    if not is_path(raw) or not os.path.isdir(raw):
        raise InputError(f"a folder of text files is needed; got {clip(raw)}")
    raise EmptyError(f"{os.fspath(raw)}: this folder has no .txt file.")


# --- Images of a folder: their names and sizes ----------------------------------------------------

PICTURES = (".jpg", ".jpeg", ".png")
UNKNOWN = (np.nan, np.nan)


def read_images(raw: Any) -> dict[Hashable, tuple[float, float]]:
    """Read the names of images and their sizes, NaN where unknown.

    ``raw`` is a mapping of images to (width, height), a list of images, a file of names, COCO's
    JSON, or a frame or file with columns image, width and height.
    """
    if raw is None:
        return {}
    if is_path(raw) and os.fspath(raw).casefold().endswith(".txt"):
        return dict.fromkeys((fields[0] for _, fields in read_lines(raw)), UNKNOWN)
    if coco.is_coco(raw) and raw != []:
        return coco.read_images(raw)
    if isinstance(raw, Mapping):
        return {image: _read_picture_size(image, size) for image, size in raw.items()}
    if objects.is_table(raw):
        return objects.read_sizes(raw)
    if isinstance(raw, Iterable) and not is_path(raw):
        return dict.fromkeys(raw, UNKNOWN)
    if is_path(raw) and not os.path.exists(raw):
        raise NotFoundError(f"{write_option('images')}: there is no folder or file {clip(raw)}.")
    raise InputError(
        f"{write_option('images')} takes {{image: (width, height)}}, a list of images, a folder"
        " of pictures, a file with columns image, width and height, a list of names (.txt) or"
        " COCO's JSON; got"
        f" {clip(raw)}"
    )


def _read_picture_size(image: Hashable, size: Any) -> tuple[float, float]:
    if size is None:
        return UNKNOWN
    sides = list(size) if isinstance(size, (list, tuple, np.ndarray)) else []
    if len(sides) != 2 or not all(is_finite_number(side) and side > 0 for side in sides):
        raise InputError(
            f"{write_option('images')}: the size of {clip(image)} is (width, height); got"
            f" {clip(size)}"
        )
    return float(sides[0]), float(sides[1])


def list_pictures(folder: str) -> list[str]:
    """List the names of the pictures of a folder."""
    with explain_os_error(folder):
        names = sorted(os.listdir(folder))
    return [name for name in names if name.casefold().endswith(PICTURES)]


def find_pictures(folder: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """Find the pictures of a folder, with their sizes."""
    for name in list_pictures(folder):
        yield name, read_picture_size(os.path.join(folder, name))


def read_picture_size(path: str) -> tuple[float, float]:
    """Read the size of a PNG or JPEG from its header. Raises InputError for another file."""
    size = None
    refuse_special(path)
    with explain_os_error(path), open(path, "rb") as file:
        start = file.read(24)
        if start.startswith(b"\x89PNG\r\n\x1a\n") and len(start) == 24:
            size = struct.unpack(">II", start[16:])
        elif start.startswith(b"\xff\xd8"):
            file.seek(2)
            size = _read_jpeg_size(file)
    if size is None or not all(size):
        raise InputError(
            f"{path}: no size was found; a picture is a PNG or JPEG. {write_option('images')}"
            " takes sizes."
        )
    return float(size[0]), float(size[1])


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # segments that begin a picture
_BARE = frozenset((0x01, *range(0xD0, 0xD9)))  # segments without a length


def _read_jpeg_size(file: BinaryIO) -> tuple[int, int] | None:
    """Go through the segments of a JPEG to the one that has its size; None if it has none."""
    while (byte := file.read(1)) == b"\xff":
        while byte == b"\xff":
            byte = file.read(1)
        if not byte:
            break
        if byte[0] in _BARE:
            continue
        head = file.read(7)
        if len(head) < 7:
            break
        length, _, height, width = struct.unpack(">HBHH", head)
        if byte[0] in _FRAMES:
            return width, height
        file.seek(length - 7, os.SEEK_CUR)
    return None


def join_sizes(*size_maps: Sizes) -> dict[Hashable, tuple[float, float]]:
    """Join sizes of images; the first that is known holds."""
    out: dict[Hashable, tuple[float, float]] = {}
    for sizes in size_maps:
        for image, size in sizes.items():
            if np.isnan(out.get(image, UNKNOWN)).any():
                out[image] = size
    return out


# --- PASCAL VOC's annotations: an XML file an image -----------------------------------------------

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
            raise EmptyError(f"{os.fspath(raw)}: this folder has no .xml file.")
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
        if fault := _find_fault_of_object(name, box, difficult):
            faults.append(f"{place}: the object {fault}.")
        else:
            sides = list(map(read_decimal, box))
            yield _Object(image, name, sides, difficult == "1", place)


def _read_text(node: Element, path: str) -> str:
    return (node.findtext(path) or "").strip()


def _find_fault_of_object(name: str, box: list[str], difficult: str) -> str:
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
        raise FormatError(f"{path}: this is not XML ({error}).") from None
    except (LookupError, ValueError) as error:  # of the encoding that the file names
        raise FormatError(f"{path}: the XML cannot be decoded ({error}).") from None
    except (_EntityError, RecursionError):
        raise InputError(
            f"{path}: the XML defines entities, which annotations do not need; remove them."
        ) from None
    return builder.close()
