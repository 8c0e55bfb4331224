"""Ids that are nearly the same: why what was judged may not have been found."""

import contextlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _compatible(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _without_zeros(text: str) -> str:
    return _ZEROS.sub("", text) if "0" in text else text


_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")


def _visible(text: str) -> str:
    """Without what has no width, such as a zero-width space, a soft hyphen, a byte-order mark."""
    if text.isascii():
        return text
    return "".join(one for one in text if unicodedata.category(one) != "Cf")


def _decoded(text: str) -> str:
    """Bytes that are not UTF-8 as Latin-1, and UTF-8 that was taken for Latin-1 or Windows-1252."""
    if text.isascii():
        return text
    try:
        if _ESCAPED.search(text):
            return text.encode("utf-8", "surrogateescape").decode("latin-1")
        return text.encode("cp1252" if _WINDOWS.search(text) else "latin-1").decode()
    except UnicodeError:
        return text


_ESCAPED = re.compile("[\udc80-\udcff]")  # how bytes that are not UTF-8 are kept
_WINDOWS = re.compile("[^\u0000-\u00ff]")


def _unescaped(text: str) -> str:
    if "&" in text:
        import html

        text = html.unescape(text)
    if "%" in text:
        import urllib.parse

        text = urllib.parse.unquote(text, errors="surrogateescape")
    return text


def _unquoted(text: str) -> str:
    quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("HTML or URL escapes", _unescaped),
    ("encoding, UTF-8 and Latin-1", _decoded),
    ("white space", str.strip),
    ("quotes", _unquoted),
    ("a byte-order mark", lambda text: text.removeprefix("\ufeff")),
    ("an invisible character", _visible),
    ("Unicode normalization, NFC and NFD", _composed),
    ("full-width or other compatible characters", _compatible),
    ("letter case", str.casefold),
    ("hyphens and underscores", lambda text: text.replace("_", "-")),
    ("leading zeros", _without_zeros),
    ("a decimal '.0'", lambda text: text.removesuffix(".0")),
)
"""What ids may differ in, and what makes them equal then."""


def _text(identifier: Hashable) -> str:
    if isinstance(identifier, bytes):
        return identifier.decode("utf-8", "surrogateescape")
    return str(identifier)


def _folded(identifier: Hashable, folds: Iterable[tuple[str, Callable[[str], str]]] = FOLDS) -> str:
    text = _text(identifier)
    if not _FOLDED.fullmatch(text):
        for _, fold in folds:
            text = fold(text)
    return text


_FOLDED = re.compile("[a-z]*([1-9][0-9]*|0)?")  # nothing to fold: most ids, and the quickest to see


def difference(one: Hashable, other: Hashable) -> str:
    """What two ids of the same folded form differ in: ``letter case and leading zeros``."""
    if _text(one) == _text(other):
        return f"type, {type(one).__name__} and {type(other).__name__}"
    if _folded(one) != _folded(other):
        return "spelling"
    needed = list(FOLDS)
    for fold in FOLDS[::-1]:
        fewer = [kept for kept in needed if kept is not fold]
        if _folded(one, fewer) == _folded(other, fewer):
            needed = fewer
    names = [name + _points(one, other) * (fold is _composed) for name, fold in needed]
    return " and ".join(names)


def _points(one: Hashable, other: Hashable) -> str:
    """The first place where two ids differ that look the same: `` (U+00E9 and U+0065 U+0301)``."""
    texts = [_text(one), _text(other)]
    unlike = (at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    start = next(unlike, min(map(len, texts)))
    if start and any(map(_combines, (text[start:] for text in texts))):
        start -= 1
    parts = [text[start : start + 1 + _combines(text[start + 1 :])] for text in texts]
    told = [" ".join(f"U+{ord(letter):04X}" for letter in part) or "nothing" for part in parts]
    return f" ({told[0]} and {told[1]})"


def _combines(text: str) -> bool:
    """Does it begin with an accent or the like, which belongs to the letter before it?"""
    return bool(text) and unicodedata.combining(text[0]) > 0


def pairs(
    ids: Iterable[Hashable], others: Iterable[Hashable]
) -> Iterator[tuple[Hashable, Hashable]]:
    """Each id with another that is the same but for what FOLDS names."""
    by_form: dict[str, Hashable] = {}
    for other in others:
        by_form.setdefault(_folded(other), other)
    for one in ids:
        near = by_form.get(_folded(one), one)
        if near is not one and (type(near) is not type(one) or near != one):
            yield one, near


def affix(ids: Iterable[Hashable], others: Iterable[Hashable]) -> str | None:
    """What most ids have before or behind one of the others: ``the prefix 'doc_'``."""
    known = set(map(_text, others))
    found: Counter[tuple[str, str]] = Counter()
    looked = list(islice(map(_text, ids), _SAMPLE))
    for text in looked:
        for at in range(1, min(len(text), _LONGEST)):
            if text[at:] in known:
                found["prefix", text[:at]] += 1
            if text[:-at] in known:
                found["suffix", text[-at:]] += 1
    for (what, affix), count in found.most_common(1):
        if count * 2 > len(looked):
            return f"the {what} {affix!r}"
    return _around(looked[:_FEW], known)


def _around(ids: list[str], known: set[str]) -> str | None:
    """What most ids have before and behind one of the others."""
    found: Counter[tuple[str, str]] = Counter()
    for text in ids:
        for start in range(1, min(len(text), _LONGEST)):
            for end in range(max(start + 1, len(text) - _LONGEST), len(text)):
                if text[start:end] in known:
                    found[text[:start], text[end:]] += 1
    for (before, behind), count in found.most_common(1):
        if count * 2 > len(ids):
            return f"the prefix {before!r} and the suffix {behind!r}"
    return None


_SAMPLE, _LONGEST, _FEW = 200, 64, 20


def affixed(
    ids: Iterable[Hashable], others: Iterable[Hashable]
) -> tuple[Hashable, Hashable, str] | None:
    """The first few ids of which another has more, parted by a mark: ``q1`` and ``topic-q1``."""
    among = list(islice(others, _LONGEST))
    for one in islice(ids, _LONGEST):
        for other in among:
            short, long = sorted((_text(one), _text(other)), key=len)
            before, behind = long.removesuffix(short), long.removeprefix(short)
            if short and before != long and before and not before[-1].isalnum():
                return one, other, f"the prefix {before!r}"
            if short and behind != long and behind and not behind[0].isalnum():
                return one, other, f"the suffix {behind!r}"
    return None


def variants(identifier: str) -> set[str]:
    """Other ways in which an id is often written; few, so that they can be looked up."""
    ways = {identifier + " ", " " + identifier, identifier + "\xa0", identifier.strip()}
    ways |= {identifier.lower(), identifier.upper(), f'"{identifier}"', _unquoted(identifier)}
    if not identifier.isascii():
        ways.update(_other_letters(identifier))
    if "0" in identifier:
        ways |= {_without_zeros(identifier), identifier.removesuffix(".0")}
    if identifier.isdigit():
        ways |= {"0" + identifier, identifier + ".0"}
    elif not identifier.isalnum():
        ways |= {identifier.replace("_", "-"), identifier.replace("-", "_")}
        ways.update(_escapes(identifier))
    ways.discard(identifier)
    return ways


def other_types(identifier: Hashable) -> tuple[Hashable, ...]:
    """What stands for the same id as a number, as text or as bytes."""
    if isinstance(identifier, str):
        try:
            as_bytes = identifier.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return ()
        if identifier.isascii() and identifier.isdigit() and len(identifier) < _DIGITS:
            return as_bytes, int(identifier)
        return (as_bytes,)
    if isinstance(identifier, bytes):
        return (identifier.decode("utf-8", "surrogateescape"),)
    return (str(identifier),) if isinstance(identifier, int) else ()


_DIGITS = 100  # beyond which Python may refuse to make an integer


def _other_letters(identifier: str) -> Iterator[str]:
    """Other normal forms, and what wrong encodings make of letters beyond ASCII."""
    for form in ("NFC", "NFD", "NFKC"):
        yield unicodedata.normalize(form, identifier)
    yield _decoded(identifier)
    yield _visible(identifier)
    for encoding in ("latin-1", "cp1252"):
        try:
            yield identifier.encode().decode(encoding)
            yield identifier.encode(encoding).decode("utf-8", "surrogateescape")
        except UnicodeError:
            continue


def _escapes(identifier: str) -> Iterator[str]:
    """As HTML and addresses write what is no letter, and back."""
    yield _unescaped(identifier)
    if any(one in identifier for one in "&<>/ "):
        import html
        import urllib.parse

        yield html.escape(identifier, quote=False)
        with contextlib.suppress(UnicodeEncodeError):  # half of a pair of surrogates
            yield urllib.parse.quote(identifier, safe="", errors="surrogateescape")
