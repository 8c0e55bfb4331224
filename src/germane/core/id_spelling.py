"""Spelling of ids: equal numbers are one id; texts may differ in letter case, white space etc."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias, TypeVar

import numpy as np

from germane.errors import DuplicateError, clip, list_choices, name_type

Value = TypeVar("Value")
Fold: TypeAlias = tuple[str, Callable[[str], str]]

# --- Out of what holds them ---------------------------------------------------------------------

PLAIN = frozenset({str, int, bytes, tuple, np.str_, np.int64})
"""Types of ids that are equal where their values are, and that are never missing."""


def unwrap_id(raw: Any) -> Any:
    """Take an id out of what holds it, so that equal numbers are one id.

    A number of NumPy's or Arrow's, and an array or a tensor without dimensions become Python's.
    Everything else stays as it is.
    """
    if type(raw) in PLAIN:
        return raw
    if hasattr(raw, "as_py"):  # Arrow
        return unwrap_id(raw.as_py())
    if isinstance(raw, np.generic):
        return raw.item() if raw.dtype.kind in "biufUS" else raw
    if getattr(raw, "shape", None) == ():  # a tensor's hash and equality are those of the object
        return unwrap_id(raw.item() if hasattr(raw, "item") else np.asarray(raw).item())
    return raw


def unwrap_ids(ids: Any) -> Any:
    """Take each id out of what holds it. Returns the same object if nothing does."""
    if PLAIN.issuperset(map(type, ids)):
        return ids
    taken = list(map(unwrap_id, ids))
    return (
        ids if all(identifier is raw for identifier, raw in zip(taken, ids, strict=True)) else taken
    )


def unwrap_keys(raw: Mapping[Any, Value], where: str) -> Mapping[Any, Value]:
    """Take the keys of a mapping out of what holds them. Returns the same object if nothing does.

    Raises DuplicateError for two keys that are one id.
    """
    if PLAIN.issuperset(map(type, raw)):
        return raw
    taken = list(map(unwrap_id, raw))
    unwrapped: dict[Any, Value] = dict(zip(taken, raw.values(), strict=True))
    if len(unwrapped) < len(taken):
        twice = next(identifier for identifier in unwrapped if taken.count(identifier) > 1)
        raise DuplicateError(f"{where}: two of the keys are spelled as the id {clip(twice)}.")
    return unwrapped


def is_id(value: object) -> bool:
    """Can this be an id? An array or a tensor with dimensions is none, though some have a hash."""
    return isinstance(value, Hashable) and not getattr(value, "shape", ())


# --- Spelling -----------------------------------------------------------------------------------


def _decode(text: str) -> str:
    """Decode bytes as Latin-1, and UTF-8 that was decoded as Latin-1 or Windows-1252."""
    if text.isascii():
        return text
    try:
        if ESCAPED.search(text):
            return text.encode("utf-8", "surrogateescape").decode("latin-1")
        return text.encode("cp1252" if _WINDOWS.search(text) else "latin-1").decode()
    except UnicodeError:
        return text


ESCAPED = re.compile("[\udc80-\udcff]")  # how bytes that are not UTF-8 are kept
_WINDOWS = re.compile("[^\u0000-\u00ff]")


def _unescape(text: str) -> str:
    if "&" in text:
        import html

        text = html.unescape(text)
    if "%" in text:
        import urllib.parse

        text = urllib.parse.unquote(text, errors="surrogateescape")
    return text


def _unquote(text: str) -> str:
    quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _remove_invisible(text: str) -> str:
    """Remove characters of no width: zero-width spaces, soft hyphens, byte-order marks."""
    if text.isascii():
        return text
    return "".join(letter for letter in text if unicodedata.category(letter) != "Cf")


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _replace_compatible(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


_ZEROS = re.compile(r"0(?<![\d.]0)0*(?=\d)")  # fast, since it begins with the zero itself

FOLDS: tuple[Fold, ...] = (
    ("HTML or URL escapes", _unescape),
    ("encoding, UTF-8 and Latin-1", _decode),
    ("white space", str.strip),
    ("quotes", _unquote),
    ("a byte-order mark", lambda text: text.removeprefix("\ufeff")),
    ("an invisible character", _remove_invisible),
    ("Unicode normalization, NFC and NFD", _compose),
    ("full-width or other compatible characters", _replace_compatible),
    ("letter case", str.casefold),
    ("hyphens and underscores", lambda text: text.replace("_", "-")),
    ("leading zeros", lambda text: _ZEROS.sub("", text) if "0" in text else text),
    ("a decimal '.0'", lambda text: text.removesuffix(".0")),
)
"""The differences that ids may have, and the function that removes each."""


def decode_id(identifier: Hashable) -> str:
    """Turn an id into text; bytes are decoded."""
    if isinstance(identifier, bytes):
        return identifier.decode("utf-8", "surrogateescape")
    return str(identifier)


def _fold(text: str, folds: Iterable[Fold] = FOLDS) -> str:
    for _, fold in folds:
        text = fold(text)
    return text


def fold_ids(ids: Sequence[Hashable]) -> list[str]:
    """Fold each id. Ids that differ only in what FOLDS names have the same folded form."""
    texts: Any = ids
    try:
        joined = "\n".join(texts)
    except TypeError:
        texts = list(map(decode_id, ids))
        joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1 or not _ORDINARY.fullmatch(joined):
        return [text if _FOLDED.fullmatch(text) else _fold(text) for text in texts]
    joined = joined.casefold().replace("_", "-")  # the remaining folds, for all ids at once
    if "0" in joined:
        joined = _ZEROS.sub("", joined)
        if ".0" in joined:
            joined = _DECIMALS.sub("", joined)
    return joined.split("\n")


_FOLDED = re.compile("[a-z]*([1-9][0-9]*|0)?")  # these are their own folded form
_ORDINARY = re.compile("[\n!#$(-~]*")  # letters, digits and marks that no other fold changes
_DECIMALS = re.compile(r"\.0$", re.MULTILINE)


def describe_difference(one: Hashable, other: Hashable) -> str:
    """Describe how two ids of one folded form differ: ``letter case and leading zeros``."""
    first, second = decode_id(one), decode_id(other)
    if first == second:
        return f"type, {name_type(one)} and {name_type(other)}"
    if _fold(first) != _fold(second):
        return "spelling"
    needed = list(FOLDS)
    for fold in FOLDS[::-1]:
        fewer = [form for form in needed if form is not fold]
        if _fold(first, fewer) == _fold(second, fewer):
            needed = fewer
    names = [name + _point_out(first, second) * (fold is _compose) for name, fold in needed]
    return " and ".join(names)


def describe_types(
    name: str, ids: Iterable[Hashable], their_name: str, their_ids: Iterable[Hashable]
) -> str:
    """Describe the types of two sides' ids: ``The run's ids are int, the qrels' are str``.

    Returns "" where the sides have a type in common, or one has no ids.
    """
    kinds, their_kinds = (
        sorted({name_type(identifier) for identifier in side}) for side in (ids, their_ids)
    )
    if not kinds or not their_kinds or set(kinds) & set(their_kinds):
        return ""
    theirs = list_choices(their_kinds)
    return f"The {name} ids are {list_choices(kinds)}, but the {their_name} are {theirs}"


def _point_out(first: str, second: str) -> str:
    """Write the code points where two texts differ: `` (U+00E9 and U+0065 U+0301)``."""
    texts = first, second
    unlike = (place for place, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    start = next(unlike, min(map(len, texts)))
    if start and any(map(_is_combining, (text[start:] for text in texts))):
        start -= 1
    parts = [text[start : start + 1 + _is_combining(text[start + 1 :])] for text in texts]
    points = [" ".join(f"U+{ord(letter):04X}" for letter in part) or "nothing" for part in parts]
    return f" ({points[0]} and {points[1]})"


def _is_combining(text: str) -> bool:
    """Does the text begin with an accent or the like, which belongs to the letter before it?"""
    return bool(text) and unicodedata.combining(text[0]) > 0


def find_pairs(
    ids: Sequence[Hashable], their_ids: Sequence[Hashable]
) -> Iterator[tuple[Hashable, Hashable]]:
    """Pair each id with another that differs from it only in what FOLDS names."""
    by_form: dict[str, Hashable] = {}
    for form, their_id in zip(fold_ids(their_ids), their_ids, strict=True):
        by_form.setdefault(form, their_id)
    forms = fold_ids(ids)
    if by_form.keys().isdisjoint(forms):
        return
    for form, identifier in zip(forms, ids, strict=True):
        their_id = by_form.get(form, identifier)
        if their_id is not identifier and (
            type(their_id) is not type(identifier) or their_id != identifier
        ):
            yield identifier, their_id


# --- Prefixes and suffixes ----------------------------------------------------------------------

_SAMPLE, _LONGEST, _FEW = 200, 64, 20


def find_affix(ids: Iterable[Hashable], their_ids: Iterable[Hashable]) -> str | None:
    """Find the text that most ids have before or after one of the others, or both.

    Returns ``the prefix 'doc_'``, or ``the prefix '<' and the suffix '>'``.
    """
    their_texts, texts_tried = (
        set(map(decode_id, their_ids)),
        list(islice(map(decode_id, ids), _SAMPLE)),
    )
    for texts, cut in ((texts_tried, _cut_once), (texts_tried[:_FEW], _cut_twice)):
        found = Counter((a, z) for text in texts for a, rest, z in cut(text) if rest in their_texts)
        for (before, after), count in found.most_common(1):
            if count * 2 > len(texts):
                affixes = ("the prefix", before), ("the suffix", after)
                return " and ".join(f"{kind} {affix!r}" for kind, affix in affixes if affix)
    return None


def _cut_once(text: str) -> Iterator[tuple[str, str, str]]:
    """Cut a text at every place, and yield the prefix, the text that is kept, and the suffix."""
    for place in range(1, min(len(text), _LONGEST)):
        yield text[:place], text[place:], ""
        yield "", text[:-place], text[-place:]


def _cut_twice(text: str) -> Iterator[tuple[str, str, str]]:
    """Cut a text at every pair of places. Yields the prefix, the text between, and the suffix."""
    for start in range(1, min(len(text), _LONGEST)):
        for end in range(max(start + 1, len(text) - _LONGEST), len(text)):
            yield text[:start], text[start:end], text[end:]


def find_extended(
    ids: Iterable[Hashable], their_ids: Iterable[Hashable]
) -> tuple[Hashable, Hashable, str] | None:
    """Find two ids of which one is the other with a mark and more text: ``q1`` and ``topic-q1``."""
    among = list(islice(their_ids, _LONGEST))
    for identifier in islice(ids, _LONGEST):
        for their_id in among:
            short, long = sorted((decode_id(identifier), decode_id(their_id)), key=len)
            before, after = long.removesuffix(short), long.removeprefix(short)
            if short and before != long and before and not before[-1].isalnum():
                return identifier, their_id, f"the prefix {before!r}"
            if short and after != long and after and not after[0].isalnum():
                return identifier, their_id, f"the suffix {after!r}"
    return None
