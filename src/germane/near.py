"""Ids that are nearly the same: why what was judged may not have been found."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _without_zeros(text: str) -> str:
    return text.lstrip("0") or text[-1:]


FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("white space", str.strip),
    ("a byte-order mark", lambda text: text.removeprefix("\ufeff")),
    ("Unicode normalization, NFC and NFD", _composed),
    ("letter case", str.casefold),
    ("leading zeros", _without_zeros),
    ("a decimal '.0'", lambda text: text.removesuffix(".0")),
)
"""What ids may differ in, and what makes them equal then."""


def _text(identifier: Hashable) -> str:
    if isinstance(identifier, bytes):
        return identifier.decode("utf-8", "surrogateescape")
    return str(identifier)


def _folded(identifier: Hashable, without: str = "") -> str:
    text = _text(identifier)
    for name, fold in FOLDS:
        if name != without:
            text = fold(text)
    return text


def difference(one: Hashable, other: Hashable) -> str:
    """What two ids of the same folded form differ in: ``letter case and leading zeros``."""
    if _text(one) == _text(other):
        return f"type, {type(one).__name__} and {type(other).__name__}"
    needed = (name for name, _ in FOLDS if _folded(one, name) != _folded(other, name))
    return " and ".join(needed)


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
    found: Counter[str] = Counter()
    looked = list(islice(map(_text, ids), _SAMPLE))
    for text in looked:
        for at in range(1, min(len(text), _LONGEST)):
            found[f"the prefix {text[:at]!r}"] += text[at:] in known
            found[f"the suffix {text[-at:]!r}"] += text[:-at] in known
    says, count = max(found.items(), key=lambda item: item[1], default=("", 0))
    return says if count * 2 > len(looked) else None


_SAMPLE, _LONGEST = 200, 64


def variants(identifier: str) -> set[str]:
    """Other ways in which an id is often written; few, so that they can be looked up."""
    ways = {identifier + " ", " " + identifier, identifier.strip()}
    ways |= {identifier.lower(), identifier.upper()}
    if not identifier.isascii():
        ways.update(unicodedata.normalize(form, identifier) for form in ("NFC", "NFD"))
    if identifier[:1] == "0":
        ways.add(_without_zeros(identifier))
    ways.discard(identifier)
    return ways
