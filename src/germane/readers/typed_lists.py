"""Typed lists: the grades of one list, as people type and paste them."""

import re

from germane.core.arguments import read_decimal
from germane.errors import EmptyError, InputError, clip

_HITS = {"●": "1", "○": "0"}  # as explanations print them


def read_typed(text: str) -> list[float | str]:
    """Read the grades of a list: ``0 0 1``, ``0,0,1``, ``[0, 0, 1]`` or ``● ○ ●``.

    A word that is no number stays as it is; evaluation refuses it, with its rank. Raises InputError
    for digits without anything between them, and for blanks, commas and semicolons that are mixed,
    of which some may be decimal commas; EmptyError for an empty list.

    >>> from germane.readers.typed_lists import read_typed
    >>> read_typed("[3, 2, 0]"), read_typed("○●○")
    ([3.0, 2.0, 0.0], [0.0, 1.0, 0.0])
    """
    listed = re.sub("[●○]", lambda sign: f" {_HITS[sign[0]]} ", text.strip())
    bare = re.sub(r"^[\[(](.*)[\])]$", r"\1", listed, flags=re.DOTALL)
    bare = re.sub("[,;]$", "", bare.strip()).rstrip()
    if not bare:
        raise EmptyError("the list is empty: there are no relevance grades.")
    words, between = _split(bare)
    if len(between) > 1 or "" in words:
        raise InputError(
            f"{clip(text, 200)} is no list: one sign stands between all of its grades, as in"
            " '0 0 1', '0,0,1' or '0; 0; 1', and decimals have a point."
        )
    joined = next((word for word in words if re.fullmatch(r"0\d+", word, re.ASCII)), None)
    if joined is None and len(words) == 1 and re.fullmatch(r"\d\d+", words[0], re.ASCII):
        joined = words[0]
    if joined is not None:
        several = " ".join(" ".join(word) if word.isdigit() else word for word in words)
        single = f" For one item of grade {joined}, write {joined}.0." if joined[0] != "0" else ""
        raise InputError(
            f"{clip(joined)} is one number. A list has blanks or commas between its grades:"
            f" {clip(several, 200)}.{single}"
        )
    return [_read_grade(word) for word in words]


def _split(bare: str) -> tuple[list[str], set[str]]:
    """Split a list into its words. Returns them, and the signs between them, without blanks."""
    parts = re.split(r"(\s*[,;]\s*|\s+)", bare)
    return parts[::2], {sign.strip() for sign in parts[1::2]}


def _read_grade(word: str) -> float | str:
    try:
        return read_decimal(word)
    except ValueError:
        return word
