"""Signatures that name every keyword argument, for ``help``, notebooks, editors and the reference.

The conventions are listed once, in the TypedDict that ``**policy`` unpacks. A signature is made when a
function is first asked for, and changes nothing about how the function is called.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

from germane.core import policy

Parameter = inspect.Parameter
Others: TypeAlias = Mapping[str, tuple[Any, Any]]


class Given(NamedTuple):
    """A name for what an argument takes, where Python has no type for it, or a long list of words."""

    name: str
    says: str
    words: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return self.name


_JUDGMENTS = Given(
    "Judgments",
    "the path of a file, a frame, {query: {item: grade}}, {query: relevant items}, rows that are namedtuples, an "
    "array of grades (Q, N), a CSR matrix, germane.Labels, or what read_qrels returned",
)
_RUN = Given(
    "Run",
    "the path of a file, a frame, {query: {item: score}}, ranked lists {query: [item, …]}, rows that are "
    "namedtuples, an array of scores (Q, N) or of ids (Q, K), a pair of both, or what read_run returned",
)
_PAIRS = Given(
    "Pairs", "{query: items}, a frame or file of two columns, or for arrays a mask or CSR matrix"
)
_IDS = Given("Ids", "a sequence of ids, text or whole numbers")
_VECTORS = Given("Vectors", "an array (rows, dimensions) of any library")
_LABELS = Given("LabelList", "a label for each row, or a set of labels")
_VALUES = Given("Values", "{query: value}, a function of a query, a frame or a file of two columns")
_TEXTS = Given("Texts", "the path of a file of ids and texts, {id: text}, or a function of an id")

_TABLE = Given(
    "PublishedTable", "the path of a file (docs/audit.md), a frame, or {run: {column: number}}"
)

GIVEN: Mapping[str, Given] = {
    "qrels": _JUDGMENTS,
    "people": _JUDGMENTS,
    "train": _JUDGMENTS,
    "run": _RUN,
    "exclude": _PAIRS,
    "only": _PAIRS,
    "seen": _PAIRS,
    "query_ids": _IDS,
    "item_ids": _IDS,
    "group": Given("Group", "a group id for each item of flat arrays, or the size of each group"),
    "collapse": Given(
        "ItemGroups",
        "{item: group}, a function of an item, a frame or file of two columns, or a group for each column",
    ),
    "catalogue": Given("Catalogue", "the items, a frame or file of them, their number, or 'seen'"),
    "distance": Given(
        "Distance", "{item: vector}, a frame or file of them, or a function of two items"
    ),
    "subtopic_weights": Given(
        "Weights", "{query: {subtopic: weight}}, or a frame or file with these columns"
    ),
    "queries": _TEXTS,
    "items": _TEXTS,
    "model": _JUDGMENTS,
    "first": _JUDGMENTS,
    "second": _JUDGMENTS,
    "judges": Given("Judges", "{judge: judgments}, or a frame or file with a column of judges"),
    "path": Given("Source", "the path of a file, or a frame"),
    "weights": _VALUES,
    "strata": _VALUES,
    "baseline": Given("Baseline", "a run, a result, or the path of a file of results"),
    "record": Given(
        "Record",
        "the path of a record or of results as JSON, their content, results, a signature, or its text",
    ),
    "verify.runs": Given("Runs", "a run, as evaluate takes it, or {name: run}"),
    "reported_per_query": Given("Reported", "{query: value}, or the path of a file"),
    "evaluate_embeddings.queries": _VECTORS,
    "reported": _TABLE,
    "table": _TABLE,
    "gallery": _VECTORS,
    "query_labels": _LABELS,
    "gallery_labels": _LABELS,
    "gallery_ids": _IDS,
    "exclude_self": Given("Places", "True, or the place of each query in the gallery"),
}
"""Arguments by their name, in every function or in the one that is named before the dot."""

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
    """Give a function, or a class that one calls, a signature with every keyword argument by its name."""
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
        named += (_name_type(each, getattr(function, "__name__", "")) for each in listed)
    return own.replace(parameters=named)


def _list_unpacked(given: Parameter, others: Others) -> Iterator[Parameter]:
    """List the keyword arguments that ``**policy: Unpack[…]`` or ``**options`` stands for."""
    if given.name == "options":
        for name, (annotation, default) in others.items():
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for kind in get_args(given.annotation):
        for name, annotation in getattr(kind, "__annotations__", {}).items():
            default = policy.DEFAULTS.get(name)
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _name_type(one: Parameter, function: str) -> Parameter:
    """Replace ``Any`` and long lists of words by a name."""
    words, kind = _WORDS.get(one.name.replace("_", ""), (None, None))
    if one.annotation in (Any, "Any"):
        kind = GIVEN.get(f"{function}.{one.name}") or GIVEN.get(one.name)
    elif one.annotation != words:
        kind = None
    return one if kind is None else one.replace(annotation=kind)
