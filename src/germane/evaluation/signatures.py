"""Signatures that name the keyword arguments, for ``help``, notebooks and the reference.

The conventions are listed once, in the TypedDict that ``**policy`` unpacks; rare ones stand
together as ``**conventions``. A signature is made when a function is first asked for, and changes
nothing about how the function is called. Editors, which run no code, read the annotations
themselves: they have the same names (``accepted``).
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
CONVENTIONS = Given(
    "Convention", f"the rare conventions: {', '.join(policy.RARE)} (germane.Policy)"
)


COMMANDS = {
    "evaluate": "evaluate_many",
    "curve": "mean_pr_curve",
    "dialects": "spread",
    "trust": "trust_many",
    "judges": "evaluate_judges",
    "next": "choose_judgments",
    "boxes": "boxes.evaluate_many",
    "boxes dialects": "boxes.spread",
}
"""Commands whose function has another name; the help of each names the other."""


def name_arguments(function: Any, others: Others | None = None) -> Any:
    """Give a function or a class a signature with every keyword argument by its name."""
    target = vars(function)["__init__"] if isinstance(function, type) else function
    target.__signature__ = make_signature(target, others)
    path = f"{target.__module__}.{target.__name__}".removeprefix("germane.").split(".")
    name = ".".join([*path[:1], path[-1]] if path[0] == "boxes" else path[-1:])
    if command := next((command for command, verb in COMMANDS.items() if verb == name), None):
        function.__doc__ = (
            f"{inspect.cleandoc(function.__doc__)}\n\nCommand line: ``germane {command}``"
        )
    return function


def make_signature(function: Any, others: Others | None = None) -> inspect.Signature:
    """Make a signature with every keyword argument by its name.

    ``others`` are the type and default of each argument that ``**options`` stands for.
    """
    signature = inspect.signature(function)
    parameters: list[Parameter] = []
    explicit = {
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind is not Parameter.VAR_KEYWORD
    }
    for parameter in signature.parameters.values():
        listed = [parameter]
        if parameter.kind is Parameter.VAR_KEYWORD:
            unpacked = _list_unpacked(parameter, others or {})
            listed = [named for named in unpacked if named.name not in explicit] or listed
        parameters += (option.replace(annotation=_name_type(option)) for option in listed)
    returned = signature.return_annotation
    if returned is not inspect.Signature.empty:
        returned = Given(write_type(returned))
    return signature.replace(parameters=parameters, return_annotation=returned)


def _list_unpacked(parameter: Parameter, others: Others) -> Iterator[Parameter]:
    """List the keyword arguments that ``**policy: Unpack[…]`` or ``**options`` stands for."""
    if parameter.name == "options":
        for name, (annotation, default) in others.items():
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for kind in get_args(parameter.annotation):
        for name, annotation in getattr(kind, "__annotations__", {}).items():
            if name not in policy.RARE:
                default = policy.DEFAULTS.get(name)
                yield Parameter(
                    name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
                )
        if policy.RARE[0] in getattr(kind, "__annotations__", {}):
            yield Parameter("conventions", Parameter.VAR_KEYWORD, annotation=CONVENTIONS)


def _name_type(parameter: Parameter) -> Any:
    """Name what an argument takes; a convention has the name of its words."""
    if parameter.annotation is Parameter.empty or isinstance(parameter.annotation, Given):
        return parameter.annotation
    kind, words = _WORDS.get(parameter.name.replace("_", ""), (None, None))
    return (
        words
        if words is not None and parameter.annotation == kind
        else Given(write_type(parameter.annotation))
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
        return write_type(next((part for part in inner if isinstance(part, Given)), inner[0]))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin in (Union, UnionType):
        return " | ".join(map(write_type, inner))
    if isinstance(kind, list):  # the arguments of a function
        return f"[{', '.join(map(write_type, kind))}]"
    name: str = getattr(origin or kind, "__name__", str(kind))
    return f"{name}[{', '.join(map(write_type, inner))}]" if inner else name
