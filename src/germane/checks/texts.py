"""Texts: equal texts of queries and items, which the ids do not show."""

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from germane.errors import InputError
from germane.readers.options.texts import Text, Texts


@dataclass
class EqualTexts:
    """Queries that have the text of items, and judged items that have the text of another one."""

    items: dict[str, dict[str, str]] = field(default_factory=dict)  # query → item → text
    copies: dict[str, tuple[str, str]] = field(default_factory=dict)  # item → first item, text


class Corpus:
    """The texts of items, and of queries if they are given, compared once for several runs."""

    def __init__(self, queries: Texts | None, items: Texts | None) -> None:
        if items is None:
            raise InputError(
                "queries=… are compared with the texts of items: give items=…, too, or leave out"
                " queries=…."
            )
        self._queries, self._items = queries, items
        self._kept: EqualTexts | None = None

    def find_equal(
        self, queries: Sequence[Hashable], judged: Sequence[Hashable], retrieved: Sequence[Hashable]
    ) -> EqualTexts:
        """Find equal texts. Where items are a function, only judged and retrieved ones count."""
        if self._kept is None or not self._items.is_listed:
            self._kept = self._compare(queries, judged, retrieved)
        return self._kept

    def _compare(
        self, queries: Sequence[Hashable], judged: Iterable[Hashable], retrieved: Iterable[Hashable]
    ) -> EqualTexts:
        equal = EqualTexts()
        queries_of: dict[bytes, list[str]] = {}
        for query, text in (self._queries.find(queries) if self._queries else {}).items():
            for key in _make_keys(text):
                queries_of.setdefault(key, []).append(query)
        pending = dict.fromkeys(map(str, judged))
        first: dict[bytes, str] = {}
        for item, text in self._items.read([*pending, *retrieved]):
            keys = _make_keys(text)
            for query in {query: None for key in keys for query in queries_of.get(key, ())}:
                equal.items.setdefault(query, {}).setdefault(item, str(text))
            if item in pending:
                del pending[item]  # a later line with this id does not count
                original = first.setdefault(keys[-1], item) if keys else item
                if original != item:
                    equal.copies[item] = original, str(text)
        return equal


def _make_keys(text: Text) -> list[bytes]:
    """Make keys that are equal for equal texts: of the text without its title, and of the whole.

    Letter case and white space make no difference. A title alone is a key only where there is no
    text.
    """
    return list(dict.fromkeys(_hash(part) for part in _list_wholes(text) if part))


def _list_wholes(text: Text) -> Iterator[str]:
    title, body = (" ".join(part.split()).casefold() for part in (text.title, text.body))
    yield body
    yield title if title == body else f"{title} {body}".strip()


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
