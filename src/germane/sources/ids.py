"""Item and query ids: text, compared by their bytes.

An id that is not text stands for its text form, so that the same data has the same order of ties
through every source. Bytes that are not UTF-8 are kept exactly.
"""

from collections.abc import Callable, Collection, Hashable


def to_bytes(identifier: Hashable) -> bytes:
    """The id as it would stand in a file."""
    text = identifier if isinstance(identifier, str) else str(identifier)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def to_text(identifier: bytes) -> str:
    """The text of an id from a file."""
    return identifier.decode("utf-8", "surrogateescape")


def sort_key(identifiers: Collection[Hashable]) -> Callable[[Hashable], bytes] | None:
    """A key that orders ids by their bytes; None where their own order is already that one."""
    try:
        "".join(identifiers).encode()  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        return to_bytes
    return None
