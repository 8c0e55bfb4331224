"""Types of everything that functions take as data, and the signatures that name all keywords."""

import inspect
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    Union,
    get_args,
    get_origin,
)

from germane.core import policy

if TYPE_CHECKING:
    from germane.core.qrels import Qrels
    from germane.evaluation.opening import Held, Inputs
    from germane.evaluation.result import Result, Results
    from germane.evaluation.signature_line import Signature
    from germane.readers.inputs import QrelsInput, RunInput
    from germane.readers.objects.relevance import Labels


class Given(NamedTuple):
    """The name of a type in signatures, and what it takes; of a convention also its words."""

    name: str
    says: str = ""
    words: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return self.name


class ArrowFrame(Protocol):
    """A frame with Arrow columns: of Polars, pandas, PyArrow or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...


class Array(Protocol):
    """An array of NumPy, PyTorch, TensorFlow, JAX, or of another library."""

    @property
    def shape(self) -> Any: ...


class SparseMatrix(Protocol):
    """A matrix in the form CSR of SciPy or CuPy."""

    indptr: Any
    indices: Any
    data: Any


Path: TypeAlias = str | os.PathLike[str]
Table: TypeAlias = Path | ArrowFrame

Judgments: TypeAlias = Annotated[
    "Table | Mapping[Any, Any] | Iterable[Any] | Array | SparseMatrix | Labels | Qrels | QrelsInput"
    " | Inputs",
    Given(
        "Judgments",
        "the path of a file, a frame, {query: {item: grade}}, {query: relevant items}, rows that"
        " are namedtuples, an array of grades (Q, N), a CSR matrix, germane.Labels, or what"
        " read_qrels returned",
    ),
]
Run: TypeAlias = Annotated[
    "Table | Mapping[Any, Any] | Iterable[Any] | Array | SparseMatrix | RunInput | Held",
    Given(
        "Run",
        "the path of a file, a frame, {query: {item: score}}, ranked lists {query: [item, …]}, rows"
        " that are namedtuples, an array of scores (Q, N) or of ids (Q, K), a pair of both, or what"
        " read_run returned",
    ),
]
Source: TypeAlias = Annotated[
    "Table | Iterable[Any]",
    Given("Source", "the path of a file, a frame, or rows that are namedtuples"),
]
Pairs: TypeAlias = Annotated[
    "Table | Mapping[Any, Any] | Iterable[Any] | Array | SparseMatrix | Qrels",
    Given(
        "Pairs",
        "{query: items}, a frame or file of two columns, or for arrays a mask or CSR matrix",
    ),
]
Ids: TypeAlias = Annotated[
    Iterable[Hashable] | Array, Given("Ids", "a sequence of ids, text or whole numbers")
]
Vectors: TypeAlias = Annotated[
    Array | Iterable[Any], Given("Vectors", "an array (rows, dimensions) of any library")
]
LabelList: TypeAlias = Annotated[
    Iterable[Any] | Array, Given("LabelList", "a label for each row, or a set of labels")
]
Values: TypeAlias = Annotated[
    Table | Mapping[Any, Any] | Callable[[Any], Any],
    Given("Values", "{query: value}, a function of a query, a frame or a file of two columns"),
]
Texts: TypeAlias = Annotated[
    Table | Mapping[Any, str] | Callable[[Any], Any],
    Given("Texts", "the path of a file of ids and texts, {id: text}, or a function of an id"),
]
PublishedTable: TypeAlias = Annotated[
    Table | Mapping[str, Any],
    Given(
        "PublishedTable",
        "the path of a file (docs/audit.md), a frame, or {run: {column: number}}",
    ),
]
Group: TypeAlias = Annotated[
    Iterable[Any] | Array,
    Given("Group", "a group id for each item of flat arrays, or the size of each group"),
]
ItemGroups: TypeAlias = Annotated[
    Table | Mapping[Any, Any] | Callable[[Any], Any] | Iterable[Any] | Array,
    Given(
        "ItemGroups",
        "{item: group}, a function of an item, a frame or file of two columns, or a group for each"
        " column",
    ),
]
Catalogue: TypeAlias = Annotated[
    Table | Iterable[Any] | Array | int,
    Given("Catalogue", "the items, a frame or file of them, their number, or 'seen'"),
]
Distance: TypeAlias = Annotated[
    Table | Mapping[Any, Any] | Callable[[Any, Any], Any] | Array,
    Given("Distance", "{item: vector}, a frame or file of them, or a function of two items"),
]
Weights: TypeAlias = Annotated[
    Table | Mapping[Any, Any],
    Given("Weights", "{query: {subtopic: weight}}, or a frame or file with these columns"),
]
Judges: TypeAlias = Annotated[
    Table | Mapping[Any, Any] | Iterable[Any],
    Given("Judges", "{judge: judgments}, or a frame or file with a column of judges"),
]
Baseline: TypeAlias = Annotated[
    "Table | Mapping[Any, Any] | Iterable[Any] | Array | Result",
    Given("Baseline", "a run, a result, or the path of a file of results"),
]
Record: TypeAlias = Annotated[
    "Path | Mapping[str, Any] | Result | Results | Signature",
    Given(
        "Record",
        "the path of a record or of results as JSON, their content, results, a signature, or its"
        " text",
    ),
]
Runs: TypeAlias = Annotated[
    "Table | Mapping[Any, Any] | Iterable[Any] | Array | SparseMatrix | RunInput",
    Given("Runs", "a run, as evaluate takes it, or {name: run}"),
]
Reported: TypeAlias = Annotated[
    Path | Mapping[Any, float], Given("Reported", "{query: value}, or the path of a file")
]
Places: TypeAlias = Annotated[
    Literal[False, True] | Iterable[int] | Array,
    Given("Places", "True, or the place of each query in the gallery"),
]


def list_names(module: Mapping[str, Any]) -> list[Given]:
    """List the names of a module's types."""
    return [
        alias.__metadata__[0] for alias in module.values() if getattr(alias, "__metadata__", None)
    ]


# --- Signatures that name the keyword arguments, for ``help``, notebooks and the reference --------
#
# The conventions are listed once, in the TypedDict that ``**policy`` unpacks; rare ones stand
# together as ``**conventions``. A signature is made when a function is first asked for, and
# changes nothing about how the function is called. Editors, which run no code, read the
# annotations themselves: they have the same names (``accepted``).

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
    path = target.__module__.split(".")
    name = f"boxes.{target.__name__}" if path[1] == "boxes" else target.__name__
    if command := next((command for command, verb in COMMANDS.items() if verb == name), None):
        function.__doc__ = f"{inspect.cleandoc(function.__doc__)}\n\nCommand: ``germane {command}``"
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
