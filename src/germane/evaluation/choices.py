"""Choices: everything that verbs take as keywords, its types, and how data are read with it."""

import inspect
import os
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite
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
    TypedDict,
    Union,
    get_args,
    get_origin,
)

from germane.core import policy as conventions
from germane.core.calls import is_number, parse_whole
from germane.core.policy import (
    AllRelevant,
    Constant,
    Duplicates,
    Empty,
    Grades,
    Missing,
    NoHit,
    Nonpositive,
    NoRelevant,
    Own,
    Padding,
    Policy,
    Ranks,
    Relevant,
    Repeated,
    Scores,
    Short,
    Undefined,
    Unjudged,
    Unknown,
)
from germane.core.ragged import Halves
from germane.core.ties import Ties
from germane.dialects.names import find_renamed, parse_all
from germane.errors import PolicyError, suggest
from germane.evaluation.collection import find_needs
from germane.measures.averaging import check_ties
from germane.measures.measure import Measure, Measures, list_defined
from germane.readers import InputFormat, Needs

if TYPE_CHECKING:
    from germane.core.qrels import Qrels
    from germane.dialects.dialect import Dialect
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
    Iterable[Hashable] | Array | Path,
    Given("Ids", "a sequence of ids, text or whole numbers, or the path of a file of them"),
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
    Table | Mapping[Any, Any] | Iterable[Any] | Callable[[Any], Any],
    Given(
        "Texts",
        "the path of a file or a frame of ids and texts, {id: text}, or a function of an id",
    ),
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
# The conventions are listed once, in the TypedDict that ``**policy`` unpacks; rare ones and rare
# options for reading stand together as ``**conventions``. A signature is made when it is first
# asked for, and changes nothing about how the function is called. Editors, which run no code, read
# the annotations themselves: they have the same names (``accepted``).

Parameter = inspect.Parameter
Others: TypeAlias = Mapping[str, tuple[Any, Any]]

_WORDS = {
    name.casefold(): (
        kind,
        Given(name, "the words of this convention: germane.Policy", get_args(kind)),
    )
    for name, kind in vars(conventions).items()
    if name[:1].isupper() and get_origin(kind) is Literal
}
"""Conventions, without underscores: the type, and its name."""
RARE = ("max_expansion", "max_line", "seen", "distance", "subtopic_weights", *conventions.RARE)
"""Options that few people use: keyword arguments like any other, which signatures leave out."""
CONVENTIONS = Given("Convention", f"a rare option: {', '.join(RARE)} (docs/options.md)")


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
            listed = [*_list_unpacked(parameter, others or {}, explicit)] or listed
        parameters += (option.replace(annotation=_name_type(option)) for option in listed)
    returned = signature.return_annotation
    if returned is not inspect.Signature.empty:
        returned = Given(write_type(returned))
    return signature.replace(parameters=parameters, return_annotation=returned)


def _list_unpacked(
    parameter: Parameter, others: Others, explicit: Collection[str]
) -> Iterator[Parameter]:
    """List the keyword arguments that ``**policy: Unpack[…]`` or ``**options`` stands for.

    Those that are ``explicit`` have been listed. Rare ones are the words of ``**conventions``.
    """
    if parameter.name == "options":
        for name, (annotation, default) in others.items():
            if name not in explicit:
                yield Parameter(
                    name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
                )
    for kind in get_args(parameter.annotation):
        accepted = getattr(kind, "__annotations__", {})
        named = [name for name in accepted if name not in explicit]
        rare = [name for name in named if name in RARE and RARE[-1] in accepted]
        for name in named:
            if name not in rare:
                default, annotation = Policy.DEFAULTS.get(name), accepted[name]
                yield Parameter(
                    name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
                )
        if rare:
            annotation = CONVENTIONS._replace(words=tuple(rare))
            yield Parameter("conventions", Parameter.VAR_KEYWORD, annotation=annotation)


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


# --- Choices --------------------------------------------------------------------------------------
#
# Choices: keyword arguments that say how data are read and which conventions or dialect apply.

DEFAULT = "AP P@10 R@100 RR nDCG@10"


class OtherChoices(TypedDict, total=False):
    """``Choices`` of functions whose ``relevant`` may also be a number of items."""

    columns: Mapping[str, Any] | None
    input_format: InputFormat
    group: Group | None
    collapse: ItemGroups | None
    query_ids: Ids | None
    item_ids: Ids | None
    max_expansion: float | Literal["none"] | None
    max_line: float | Literal["none"] | None
    exclude: Pairs | None
    only: Pairs | None
    ignore: Pairs | None
    catalogue: Catalogue | None
    seen: Pairs | None
    distance: Distance | None
    subtopic_weights: Weights | None

    dialect: "str | Dialect | None"
    policy: Policy | None

    duplicates: Duplicates
    ties: Ties
    missing: Missing
    unjudged: Unjudged
    no_relevant: NoRelevant
    depth: int | None

    repeated: Repeated
    scores: Scores
    grades: Grades
    ranks: Ranks
    own: Own
    padding: Padding
    nonpositive: Nonpositive
    min_score: float | None
    max_distance: float | None
    empty: Empty
    short: Short
    constant: Constant
    unknown: Unknown
    no_hit: NoHit
    all_relevant: AllRelevant
    undefined: Undefined
    digits: int | None
    query_digits: int | None
    halves: Halves


class Choices(OtherChoices, total=False):
    """How data is read, and the conventions of a Policy, as keyword arguments."""

    relevant: Relevant


@dataclass(frozen=True, eq=False)
class Plan:
    """The measures, each with its conventions, before any data are read."""

    conventions: Policy
    policies: dict[Measure, Policy]
    renamed: Mapping[str, Measure] = field(default_factory=dict)  # names that stand for others

    def __post_init__(self) -> None:
        for measure, policy in self.policies.items():
            if not measure.row.of_catalogue:  # which have a rule of their own
                check_ties(measure, policy.ties)

    @cached_property
    def groups(self) -> dict[Policy, tuple[Measure, ...]]:
        """The measures of each policy."""
        groups: dict[Policy, list[Measure]] = {}
        for measure, policy in self.policies.items():
            groups.setdefault(policy, []).append(measure)
        return {policy: tuple(measures) for policy, measures in groups.items()}

    @cached_property
    def own(self) -> dict[Measure, Policy]:
        """The policies of the measures that have one of their own."""
        return {
            measure: policy
            for measure, policy in self.policies.items()
            if policy != self.conventions
        }

    @cached_property
    def needs(self) -> Needs:
        """The parts of the judgments that have to be read."""
        return find_needs(self.policies, self.groups)


def make_plan(
    measures: Measures,
    dialect: "Dialect | None",
    conventions: Policy,
    asked_for: Mapping[str, Any],
) -> Plan:
    """Find the conventions of each measure: common ones, the dialect's, and those asked for.

    In a dialect the default measures are the tool's own of the same kinds. Raises PolicyError for
    an order of ties that a measure cannot have, and MeasureError for a name that neither germane
    nor the tool has.
    """
    if dialect is None:
        if isinstance(measures, str):
            return _plan_uniformly(measures, conventions, list_defined())
        names = list(measures) if isinstance(measures, (list, tuple)) else parse_all(measures)
        plan = _plan_uniformly(parse_all(names), conventions, ())
        renamed = find_renamed(names)
        return replace(plan, renamed=renamed) if renamed else plan
    from germane.dialects.names import find_default_names, refuse_half_a_level, resolve_measures

    if isinstance(measures, str) and measures == DEFAULT:
        measures = find_default_names(DEFAULT, dialect)
    words = {name: word for name, word in asked_for.items() if name in Policy.DEFAULTS}
    policies = {}
    for measure in resolve_measures(measures, dialect):
        refuse_half_a_level(dialect, measure.measure, words)
        policy = replace(conventions, **{**measure.choices, **words})
        policies[measure.measure] = conventions if policy == conventions else policy
    return Plan(conventions, policies)


@lru_cache(256)
def _plan_uniformly(
    measures: str | tuple[Measure, ...], conventions: Policy, _: tuple[int, ...]
) -> Plan:
    """Plan all measures under the same conventions."""
    policies = dict.fromkeys(parse_all(measures), conventions)
    return Plan(conventions, policies, find_renamed(measures))


_make_cached_policy = lru_cache(typed=True)(Policy)


def make_policy(**choices: Any) -> Policy:
    """Make the policy of these choices. Raises PolicyError for one that does not exist."""
    for name in choices:
        if name not in Choices.__annotations__:
            raise PolicyError(
                f"there is no convention {name!r}."
                + (
                    advise_argument(name, choices[name], choices.get("scores"))
                    or suggest(name, _ALL)
                )
            )
    try:
        return _make_cached_policy(**choices)
    except TypeError:  # a choice that cannot be hashed is wrong, and Policy explains it
        return Policy(**choices)


_CUTOFFS = ("k", "ks", "at", "at_k", "cut", "cutoff", "cutoffs", "topk", "top_k", "top_n", "n")
_MEASURES = ("metric", "metrics", "measure", "metric_name", "eval_metrics")
_SIMILARITIES = {
    "cosine": "cosine", "cos": "cosine", "dot": "dot", "ip": "dot", "inner_product": "dot",
    "l2": "euclidean", "euclidean": "euclidean",
}  # fmt: skip
_WEIGHTS = ("weight", "weights", "query_weight", "query_weights", "sample_weight", "sample_weights")
_KNOWN_ITEMS = re.compile(
    r"(?:x_)?train(?:_\w+)?|training(?:_\w+)?|history|interactions|user_items|known(?:_items)?|"
    r"filter(?:_\w+)?|remove_seen|(?:already_|exclude_|filter_)?(?:seen|liked|consumed)(?:_\w+)?"
)
_THRESHOLD = re.compile(r"t[hres]{2,5}h?olds?|thresh")
_LIMIT = re.compile(r"min|max|low|high|least|level|cut")
_OF_GRADES = re.compile(r"(?:^|_)(?:rel|grade|rating|like|pos)")
_OF_SCORES = re.compile(r"score|dist|sim|conf|prob")
_ALL = (*Choices.__annotations__, "measures", "name", "progress")


def _write_argument(name: str) -> str:
    return "" if name == "measures" else f"{name}="  # the first of some functions, or measure=


def advise_argument(
    name: str,
    value: object,
    scores: object = None,
    write: Callable[[str], str | None] = _write_argument,
) -> str:
    """Advise what to write instead of a usual name that is no argument; "" for other names.

    ``scores`` is the choice of that name. ``write`` writes an argument before its value; None for
    one that the caller does not have.

    >>> from germane.evaluation.choices import advise_argument
    >>> advise_argument("k", 5)
    " The cutoff is part of a measure's name: 'nDCG@5'."
    """
    word = name.casefold()
    first = next(iter(value), None) if isinstance(value, (list, tuple)) else value
    number = _write_number(first) or "4"
    measures, min_score, max_distance = map(write, ("measures", "min_score", "max_distance"))
    advice = []
    if word in _CUTOFFS and measures is not None:
        k = max(parse_whole(first) or 0, 0) or 10
        advice.append(f"The cutoff is part of a measure's name: {measures}'nDCG@{k}'.")
    if word == "measures":
        advice.append("This function takes one measure: measure='nDCG@10'.")
    elif word in _MEASURES and str(value).casefold() in _SIMILARITIES:
        similarity = _SIMILARITIES[str(value).casefold()]
        advice.append(f"Vectors are compared as {write('similarity')}{similarity!r} says.")
    elif word in _MEASURES and measures is not None:
        argument = measures or "measures="
        advice.append(f"Measures are named by the argument measures: {argument}'AP nDCG@10'.")
    if word in ("mean", "average", "averaging") and value in ("micro", "macro") and measures == "":
        if value == "micro":
            advice.append("The mean is part of a measure's name: 'P(mean=micro)@10'.")
        else:
            advice.append("Each query counts as much unless a measure's name says mean=micro.")
    if word == "by" and write is _write_argument:
        advice.append("evaluate(…).by(categories) has the means of each category.")
    if word in _WEIGHTS and write is _write_argument:
        advice.append("evaluate(…)['AP'].weigh({query: weight}) weighs queries.")
    exclude = write("exclude")
    if _KNOWN_ITEMS.fullmatch(word) and exclude is not None:
        advice.append(
            f"{exclude.strip()} removes the items that users have seen, such as the training data,"
            " from their lists."
        )
    of_grades, of_scores = _find_limits(word)
    if of_grades and measures is not None:
        level = f"P(rel={number.lstrip('-')})@10"
        advice.append(
            "The lowest grade that counts as relevant is part of a measure's name:"
            f" {measures}'{level}'."
        )
    are_distances = scores == "distances" or "dist" in word
    if of_scores and min_score and not are_distances:
        advice.append(f"{min_score}{number} leaves out items with a lower score.")
    if of_scores and max_distance and are_distances:
        beside = "" if scores == "distances" else f" with {write('scores')}distances"
        advice.append(f"{max_distance}{number}{beside} leaves out items that are farther away.")
    return "".join(f" {sentence}" for sentence in advice)


def _write_number(value: object) -> str:
    """Write a number that may be given as text; "" for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return ""
    return f"{value:g}" if is_number(value) and isfinite(value) else ""


def _find_limits(word: str) -> tuple[bool, bool]:
    """Find whether a wrong name may mean the lowest relevant grade, and a limit of scores."""
    if word in ("rel", "l", "level") or word.startswith("binari"):
        return True, False
    is_threshold = _THRESHOLD.search(word) is not None
    if not is_threshold and not _LIMIT.search(word):
        return False, False
    of_grades, of_scores = (bool(kind.search(word)) for kind in (_OF_GRADES, _OF_SCORES))
    neither = is_threshold and not of_grades and not of_scores
    return of_grades or neither, of_scores or neither
