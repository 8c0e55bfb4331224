"""Documents: the plain values that JSON has of a result, by the names of its fields."""

import dataclasses
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import attrgetter
from types import BuiltinMethodType, MethodType
from typing import Any, ClassVar

from germane.output.attributes import AttributeAdvice

LEFT_OUT = {"json": "left out"}
IF_ANY = {"json": "if any"}
"""Stand beside fields (``field(metadata=…)``) that JSON lacks, always or where they are empty."""


def _to_text(part: Any) -> Any:
    return list(map(str, part)) if isinstance(part, tuple) else part if part is None else str(part)


AS_TEXT = {"json": _to_text}
AS_DICT = {"json": dict}
"""Stand beside fields that JSON has as text, such as ids, or as a dict of their pairs."""


class Plain(AttributeAdvice):
    """A value that JSON has by the names of its fields.

    ``_json`` lists other names, in order: of fields, properties, and methods, which are called.
    ``*`` stands for all fields, and ``key=name`` gives the value of a name to another key.
    """

    _json: ClassVar[str] = "*"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; NaN becomes None."""
        return name_values(self)


class Document(Plain):
    """A value that JSON has by the names of its fields, after the version of the schema."""

    SCHEMA: ClassVar = 1
    """The version of the documents. It changes when a key is removed or changes its meaning."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        return make_document(name_values(self))


def make_document(values: Mapping[str, Any]) -> dict[str, Any]:
    """Make the plain values of a JSON document, the version of the schema before all others."""
    return {"schema": Document.SCHEMA, **to_plain(values)}


def name_values(value: Any) -> dict[str, Any]:
    """Name the plain values of an object, in the order of ``_json``, or of its fields."""
    return dict(_list_values(value, getattr(value, "_json", "*")))


def _list_values(value: Any, words: str) -> Iterator[tuple[str, Any]]:
    kinds = {field.name: field.metadata.get("json") for field in _list_fields(value)}
    all_fields = " ".join(kinds)
    for word in words.replace("*", all_fields).split():
        key, _, name = word.partition("=")
        part, kind = attrgetter(name or key)(value), kinds.get(name or key)
        if isinstance(part, (MethodType, BuiltinMethodType)):
            part = part()
        if kind != "left out" and (kind != "if any" or part):
            yield key, to_plain(kind(part) if callable(kind) else part)


def _list_fields(value: Any) -> Iterable[dataclasses.Field[Any]]:
    return dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()


def to_plain(value: Any) -> Any:
    """Make of a value what JSON has: numbers, text, lists, and dicts by the names of fields.

    A class whose ``_json`` is empty, such as a measure, has its text there, and so has whatever
    else JSON does not know.
    """
    if isinstance(value, float):
        return to_json_number(value)
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, Mapping):
        return {str(key): to_plain(part) for key, part in value.items()}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        return to_plain(value._asdict())
    if dataclasses.is_dataclass(value) and getattr(value, "_json", "*") != "":
        return name_values(value)
    if hasattr(value, "tolist"):
        return to_plain(value.tolist())
    if isinstance(value, Collection):
        return list(map(to_plain, value))
    return str(value)


def to_json_number(value: float) -> float | None:
    """Replace NaN and infinity, which JSON does not have, by None."""
    return value if math.isfinite(value) else None
