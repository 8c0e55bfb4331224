"""Signatures that name every keyword argument, for ``help``, notebooks and the reference.

The conventions are listed once, in the TypedDict that ``**policy`` unpacks. A signature is made
when a function is first asked for, and changes nothing about how the function is called. Editors,
which run no code, read the annotations themselves: they have the same names (``accepted``).
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, ForwardRef, Literal, TypeAlias, Union, get_args, get_origin

from germane.core import policy
from germane.evaluation.accepted import Given

Parameter = inspect.Parameter
Others: TypeAlias = Mapping[str, tuple[Any, Any]]

_WORDS = {
    name.casefold(): (
        kind,
        Given(name, "the words of this convention: germane.Policy", get_args(kind)),
    )
    for name, kind in vars(policy).items()
    if name[:1].isupper() and get_origin(kind) is Literal
}
"""Conventions, without underscores: the type, and its name."""


def name_arguments(function: Any, others: Others | None = None) -> Any:
    """Give a function or a class a signature with every keyword argument by its name."""
    target = vars(function)["__init__"] if isinstance(function, type) else function
    target.__signature__ = make_signature(target, others)
    return function


def make_signature(function: Any, others: Others | None = None) -> inspect.Signature:
    """Make a signature with every keyword argument by its name.

    ``others`` are the type and default of each argument that ``**options`` stands for.
    """
    own = inspect.signature(function)
    named: list[Parameter] = []
    for one in own.parameters.values():
        listed = [one]
        if one.kind is Parameter.VAR_KEYWORD:
            unpacked = _list_unpacked(one, others or {})
            listed = [more for more in unpacked if more.name not in own.parameters] or listed
        named += (one.replace(annotation=_name_type(one)) for one in listed)
    returned = own.return_annotation
    if returned is not inspect.Signature.empty:
        returned = Given(write_type(returned))
    return own.replace(parameters=named, return_annotation=returned)


def _list_unpacked(given: Parameter, others: Others) -> Iterator[Parameter]:
    """List the keyword arguments that ``**policy: Unpack[…]`` or ``**options`` stands for."""
    if given.name == "options":
        for name, (annotation, default) in others.items():
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for kind in get_args(given.annotation):
        for name, annotation in getattr(kind, "__annotations__", {}).items():
            default = policy.DEFAULTS.get(name)
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _name_type(one: Parameter) -> Any:
    """Name what an argument takes; a convention has the name of its words."""
    if one.annotation is Parameter.empty or isinstance(one.annotation, Given):
        return one.annotation
    kind, words = _WORDS.get(one.name.replace("_", ""), (None, None))
    return (
        words if words is not None and one.annotation == kind else Given(write_type(one.annotation))
    )


def write_type(kind: Any) -> str:
    """Write a type as one would type it, without the modules of its parts."""
    if isinstance(kind, Given):
        return kind.name
    if isinstance(kind, ForwardRef):
        kind = kind.__forward_arg__
    if isinstance(kind, str):
        return re.sub(r"\b(?:[a-z_]\w*\.)+(?=\w)", "", kind)
    if kind is Ellipsis:
        return "..."
    if kind is None or kind is type(None):
        return "None"
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return write_type(next((one for one in inner if isinstance(one, Given)), inner[0]))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin in (Union, UnionType):
        return " | ".join(map(write_type, inner))
    if isinstance(kind, list):  # the arguments of a function
        return f"[{', '.join(map(write_type, kind))}]"
    name: str = getattr(origin or kind, "__name__", str(kind))
    return f"{name}[{', '.join(map(write_type, inner))}]" if inner else name
