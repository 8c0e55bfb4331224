"""Accepted: types of everything that functions take as data, under names for signatures.

Each name stands for a type, which type checkers read, and for a sentence, which the reference
prints.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol, TypeAlias

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
