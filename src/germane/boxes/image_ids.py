"""Ids of images and classes, which the two sides may spell in different ways."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from germane.core.id_spelling import unwrap_ids
from germane.core.ragged import Ints
from germane.errors import NotFoundError, clip, list_some, offer


def find_id(
    raw: Hashable,
    ids: Sequence[Hashable],
    names: Sequence[str],
    noun: str,
    files: Sequence[str] = (),
) -> int:
    """Find the position of an id, its name or its text; of an image, also of its file.

    Raises NotFoundError for others.
    """
    texts = [str(identifier) for identifier in ids]
    for spellings in (ids, names, texts):
        if isinstance(raw, Hashable) and not is_boolean(raw) and raw in spellings:
            return list(spellings).index(raw)
    if noun == "image" and isinstance(raw, (str, int, np.integer)) and not is_boolean(raw):
        position = int(find_ids([raw], ids, files, files=True, typed=False)[0])
        if position >= 0:
            return position
    listed = list(names) or texts
    raise NotFoundError(
        f"there is no {noun} {clip(raw)} in the truth.{offer(raw, listed, list_some)}"
    )


def find_ids(
    raw: Any,
    known_ids: Sequence[Hashable],
    names: Sequence[str] = (),
    *,
    files: bool = False,
    typed: bool = True,
) -> Ints:
    """Find the position of each id among those known (N); -1 for others.

    An id that is not known as it is may be one of the ``names`` beside the known ids; and
    where ids are names of ``files``, a name without its folder and suffix. Such a spelling counts
    only if it belongs to one of the known ids alone. Only ids of files of text, which are not
    ``typed``, are found by the digits of a number. A truth value is no id, though Python takes True
    for 1. Where some ids of files are found in none of these ways, all may be the numbers of files:
    1000 is 000000001000.jpg.
    """
    if not isinstance(raw, np.ndarray):
        raw = unwrap_ids(raw)
    numbers = _look_up(raw, known_ids)
    numbers[_mark_booleans(raw)] = -1
    unknown = np.flatnonzero(numbers < 0)
    if not len(unknown):
        return numbers
    if typed:
        pairs = zip(names, known_ids, strict=False)
        names = [
            "" if name == str(item) and not isinstance(item, str) else name for name, item in pairs
        ]
    columns = (
        [known_ids]
        if not typed
        else [[item if isinstance(item, str) else "" for item in known_ids]]
    )
    place = _list_spellings((*columns, names), files)
    place.pop("", None)
    positions: dict[Any, int] = {}
    for row in unknown.tolist():
        item = get_item(raw, row)
        if (
            isinstance(item, Hashable)
            and (isinstance(item, str) or not typed)
            and not is_boolean(item)
        ):
            if item not in positions:
                places = (
                    place.get(spelled, -1) for spelled in _spell(item, files, not _has_folder(item))
                )
                positions[item] = next((i for i in places if i >= 0), -1)
            numbers[row] = positions[item]
    if files and (numbers < 0).any():
        numbered = find_file_numbers(raw, known_ids, names, typed=typed)
        return numbers if (numbered < 0).any() else numbered
    return numbers


_FILE = re.compile(r"(?:\w*_)?(?P<padded>\d{12})|(?P<digits>\d{1,18})", re.ASCII)


def find_file_numbers(
    raw: Any, known_ids: Sequence[Hashable], names: Sequence[str] = (), *, typed: bool = True
) -> Ints:
    """Find the position of each id as the number of a file (N); -1 for others.

    The names beside the known ids say the numbers; without them, the known ids do.
    """
    listed = raw.tolist() if isinstance(raw, np.ndarray) else raw
    place: dict[int, int] = {}
    named = any(_read_file_number(name, typed) is not None for name in names)
    for position, name in enumerate(names if named else known_ids):
        number = _read_file_number(name, typed)
        if number is not None:
            place[number] = position if place.get(number, position) == position else -1
    numbers = (_read_file_number(identifier, typed) for identifier in listed)
    positions = [-1 if number is None else place.get(number, -1) for number in numbers]
    return np.array(positions, np.int64)


def _read_file_number(value: object, typed: bool) -> int | None:
    """Read the number of a file from an id: an integer, or a name of figures, as 0012.jpg has."""
    if is_boolean(value) or not isinstance(value, (int, np.integer, str)):
        return None
    if not isinstance(value, str):
        return int(value)
    match = _FILE.fullmatch(_SUFFIX.sub("", _take_name(value)))
    is_plain = typed and str(int(match[0])) == value if match and match["digits"] else False
    return None if match is None or is_plain else int(match["padded"] or match["digits"])


def is_boolean(raw: object) -> bool:
    """Is this a truth value of Python or NumPy?"""
    return isinstance(raw, (bool, np.bool_))


def has_booleans(raw: Any) -> bool:
    """Are there truth values in a list, or in rows of it? NumPy takes them for 0 and 1."""
    while isinstance(raw, (list, tuple)):
        kinds = set(map(type, raw))
        if not kinds.isdisjoint((bool, np.bool_)):
            return True
        if kinds.isdisjoint((list, tuple)):
            return False
        raw = list(chain.from_iterable(row for row in raw if isinstance(row, (list, tuple))))
    return False


def describe_mistyped(identifier: Any, known_ids: Iterable[Hashable], noun: str, where: str) -> str:
    """Say why an id is of another type than those known; "" if it is not that."""
    if is_boolean(identifier):
        return f"the id of {noun} is a whole number or text; got {clip(identifier)}."
    alike = next((k for k in known_ids if str(k) == str(identifier)), identifier)
    if isinstance(alike, str) == isinstance(identifier, str):
        return ""
    kinds = ("text", "a number") if isinstance(identifier, str) else ("a number", "text")
    return (
        f"the id {clip(identifier)} of {noun} is {kinds[0]}, and {where} has {clip(alike)},"
        f" {kinds[1]}. Write the ids of both in the same way."
    )


def _mark_booleans(raw: Any) -> Any:
    """Mark the truth values among ids (N)."""
    if isinstance(raw, np.ndarray) and raw.dtype != object:
        return np.full(len(raw), raw.dtype.kind == "b")
    has_none = {bool, np.bool_}.isdisjoint(set(map(type, raw)))
    return np.zeros(len(raw), bool) if has_none else np.array([*map(is_boolean, raw)], bool)


def translate_ids(raw: Any, names: Mapping[Hashable, str]) -> Any:
    """Replace ids of classes by their names, where an id has one."""
    place = find_ids(raw, list(names), typed=False)
    listed, texts = raw.tolist() if isinstance(raw, np.ndarray) else raw, list(names.values())
    return [
        texts[i] if i >= 0 else identifier
        for i, identifier in zip(place.tolist(), listed, strict=True)
    ]


def sort_ids(ids: Iterable[Hashable]) -> list[Hashable]:
    """List different ids in order: that of their text if numbers stand beside text.

    A value that cannot be an id, such as a list, is left out.
    """
    different = list(
        dict.fromkeys(
            identifier for identifier in unwrap_ids([*ids]) if isinstance(identifier, Hashable)
        )
    )
    try:
        return sorted(different)  # type: ignore[type-var]
    except TypeError:
        return sorted(different, key=str)


def get_item(column: Any, row: int) -> Any:
    """Get a value of a column as a Python value."""
    return column[row].item() if isinstance(column, np.ndarray) else column[row]


def _list_spellings(columns: Iterable[Sequence[Hashable]], files: bool) -> dict[str, int]:
    """List the position of each spelling of known ids; -1 where several have it."""
    place: dict[str, int] = {}
    for column in columns:
        for i, identifier in enumerate(column):
            for spelled in _spell(identifier, files, _has_folder(identifier)):
                place[spelled] = i if place.get(spelled, i) == i else -1
    return place


_SUFFIX = re.compile(r"\.(jpe?g|png|bmp|gif|webp|tiff?|xml|txt|json)$", re.IGNORECASE)


def _spell(value: Hashable, files: bool, anywhere: bool) -> tuple[str, ...]:
    """Spell an id: as it is, and a file without its suffix and folder.

    A name without a folder may be one in any folder, and so may not a name in another folder.
    """
    text = str(value)
    if not files or not isinstance(value, str):
        return (text,)
    bare = _take_name(text)
    mark = "*/" if anywhere else ""
    return text, _SUFFIX.sub("", text), mark + bare, mark + _SUFFIX.sub("", bare)


def _has_folder(value: Hashable) -> bool:
    return isinstance(value, str) and ("/" in value or "\\" in value)


def _take_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _look_up(raw: Any, known_ids: Sequence[Hashable]) -> Ints:
    """Find the position of each id that is known as it is; -1 for others."""
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "iu" and len(known_ids):
        ids = np.array(known_ids)
        if ids.dtype.kind in "iu":
            order = np.argsort(ids)
            position = order[np.minimum(np.searchsorted(ids[order], raw), len(ids) - 1)]
            return np.where(ids[position] == raw, position, -1)
    place = {identifier: i for i, identifier in enumerate(known_ids)}
    raw = raw.tolist() if isinstance(raw, np.ndarray) else raw
    try:
        return np.fromiter((place.get(identifier, -1) for identifier in raw), np.int64, len(raw))
    except TypeError:  # an id that cannot be looked up, such as a list
        positions = [
            place.get(identifier, -1) if isinstance(identifier, Hashable) else -1
            for identifier in raw
        ]
        return np.array(positions, np.int64)
