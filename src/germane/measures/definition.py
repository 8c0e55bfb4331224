"""Definition and Parameter, of which a measure's row is made; and the terms and norms that its
function returns."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from germane.core.catalogue import Catalogue, Exposure, Lists, Seen
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import CoverageError, MeasureError, list_choices

NOTHING = 0.0  # the rest of most measures; recognized by identity, and not added


@dataclass(frozen=True, eq=False, repr=False)
class Scored:
    """One measure's terms and norm for every query of a ranking."""

    terms: Floats  # H
    norm: Floats | Ints  # Q
    # Q: how many items the measure needs to be defined; if there are 0, no_relevant decides.
    # None for measures that need no relevant item.
    relevant: Ints | None = None
    # Q: the contribution of items that are no hit: unjudged or missed
    rest: Floats | Ints | float = NOTHING
    # the value as a function of (Σ terms + rest) / norm, for the one measure that is not the
    # quotient
    link: Callable[[Floats], Floats] | None = None
    # Q: ``relevant`` of a query that the run lacks, where it depends on the list
    judged: Floats | Ints | None = None

    def compute_values(self, ranking: Ranking) -> Floats:
        """Compute each query's value (Q) from its terms and norm."""
        total, norm = ranking.sum_hits(self.terms), self.norm
        if self.rest is not NOTHING:
            total = total + self.rest
        if np.count_nonzero(norm) == len(norm):
            out: Floats = total / norm
        else:
            out = np.divide(total, norm, out=np.zeros(len(ranking)), where=norm != 0)
        return out if self.link is None else self.link(out)


@dataclass(frozen=True, eq=False)
class Weight:
    """The weight of a rank: ``at(i)``, and ``upto(i)``, the sum over the ranks 1 to i."""

    at: Callable[[Ints], Floats | float]
    upto: Callable[[Ints], Floats]
    divisor: Callable[[Ints], Floats] | None = None
    """1 / weight, where that is computed and the weight is its rounded inverse."""

    def weigh(self, gain: Floats, rank: Ints) -> Floats:
        """Weigh gains at ranks; divided by the divisor if there is one, which rounds once."""
        weighed: Floats = (
            gain * self.at(rank) if self.divisor is None else gain / self.divisor(rank)
        )
        return weighed


def weigh_hits(ranking: Ranking, weight: Weight, last: Any) -> Floats | float:
    """Weigh each hit by its rank (H); beyond ``last`` (one rank a hit, one for all, or None) by 0.

    If the order of ties is random, the weight is the mean over the ranks that the hit can take.
    """
    if ranking.ties != "expected":
        worth = weight.at(ranking.rank)
        return worth if last is None else np.where(ranking.rank <= last, worth, 0.0)
    first, width = ranking.tied_from, ranking.tied_to - ranking.tied_from + 1
    end = np.maximum(np.minimum(ranking.tied_to, last), first - 1)
    spread: Floats = (weight.upto(end) - weight.upto(first - 1)) / width
    return spread


_KNOWN = 4096
_LOGS = np.array([math.log2(i) for i in range(1, _KNOWN + 1)])  # by rank, of one rank more
_LOGS[0] = math.nan


def _take_log(rank: Ints) -> Floats:
    try:
        logs: Floats = _LOGS[rank]
    except IndexError:
        return np.log2(rank + 1.0)
    return logs


def _inverse_log(rank: Ints) -> Floats:
    return 1.0 / _take_log(rank)


def make_weight(weigh_ranks: Callable[[Ints], Floats]) -> Weight:
    """Make a weight whose sums have no closed form: they are added up rank by rank.

    Its ``upto`` raises MeasureError for a rank beyond ``MOST_RANKS``.
    """

    def upto(rank: Ints) -> Floats:
        last = int(rank.max(initial=0))
        if last > MOST_RANKS:
            raise MeasureError(
                f"the weights of {last} ranks have no closed sum: take a cutoff of {MOST_RANKS} at"
                " most."
            )
        table = np.zeros(last + 1)
        np.cumsum(weigh_ranks(np.arange(1, len(table))), out=table[1:])
        return table[rank]

    return Weight(weigh_ranks, upto)


MOST_RANKS = 10_000_000  # a table of their weights has 80 MB

ONE = Weight(at=lambda rank: 1.0, upto=lambda rank: rank.astype(float))
LOG2 = replace(make_weight(_inverse_log), divisor=_take_log)


def make_geometric_weight(p: float) -> Weight:
    """Make the weight (1 - p) · p^(i - 1)."""
    return Weight(
        at=lambda i: (1.0 - p) * p ** (i - 1.0), upto=lambda i: 1.0 - p ** i.astype(float)
    )


EULER = 0.5772156649015329
_HARMONIC = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, 4096))))


def sum_harmonic(n: Any) -> Floats:
    """Compute 1 + 1/2 + … + 1/n; from where it is exact in doubles by its asymptotic series."""
    n = np.asarray(n)
    x = np.maximum(n, 1).astype(float)
    large = np.log(x) + EULER + 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)
    exact: Floats = _HARMONIC[np.minimum(n, len(_HARMONIC) - 1)]
    return np.where(n < len(_HARMONIC), exact, large)


@cache
def make_discount(discount: str, base: float) -> Weight:
    """Make the weight of a rank in DCG; ``base`` is that of the logarithm."""
    if discount == "none":
        return ONE
    if discount == "position":
        return Weight(at=lambda rank: 1.0 / rank, upto=sum_harmonic)
    unit = float(np.log2(base))
    if discount == "jarvelin":
        return make_weight(lambda rank: 1.0 / np.maximum(1.0, np.log2(rank) / unit))
    return LOG2 if unit == 1 else make_weight(lambda rank: unit * _inverse_log(rank))


def compute_gains(grades: Floats, gain: Any, least: float = 0.0) -> Floats:
    """Turn grades into gains: linear, exp, or an explicit map of (grade, gain) pairs.

    With ``given`` the grades are gains already, and the ideal ranking keeps its order. Grades below
    ``least`` gain nothing.
    """
    if least > 0:
        return np.where(grades >= least, compute_gains(grades, gain), 0.0)
    if gain == "given":
        return grades
    positive = np.maximum(grades, 0.0)
    if gain == "linear":
        return positive
    if gain == "exp":
        return np.exp2(positive) - 1.0
    out = np.zeros(len(grades))
    for grade, value in gain:
        out[grades == grade] = value
    return out


# --- Definition -----------------------------------------------------------------------------------
#
# Definition and Parameter, of which a measure's row is made, and the wording that rows share.


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter of a measure: its default, and the words or numbers that it takes."""

    name: str
    default: Any
    says: str
    words: tuple[str, ...] = ()
    low: float | None = None  # numbers from here; None: it takes no numbers
    high: float = float("inf")
    open_ends: bool = False  # low and high themselves are excluded
    numbers: tuple[int, ...] = ()  # only these numbers
    usual: tuple[float, ...] = ()  # of all numbers that it takes, those in use
    grades: bool = False  # also an explicit grade→gain map
    written: bool = False  # part of the name even where it is the default
    synonyms: Mapping[str, str] = field(default_factory=dict)  # words that are read as others

    def describe_values(self) -> str:
        """Describe the allowed values, as the end of a sentence with "takes"."""
        options: list[str] = [*self.words, *map(str, self.numbers)]
        if self.low is not None:
            options.append("a number" + self._describe_bounds())
        if self.grades:
            options.append("gains by grade such as 1:1_2:3, none below 0")
        return list_choices(options)

    def _describe_bounds(self) -> str:
        above, below = (" above", " and below") if self.open_ends else (" from", " to")
        if self.high == float("inf"):
            return f"{above if self.open_ends else ' of at least'} {self.low:.12g}"
        return f"{above} {self.low:.12g}{below} {self.high:.12g}"


NO_RELEVANT = "If there are no relevant items, no_relevant decides (default: 0)."
NO_GAIN = "If no item gains anything, no_relevant decides (default: 0)."

Extremes = Literal["always", "whole lists", "never"]
"""Where do relevant items first and last in each tie give the highest and the lowest value of all
orders? In whole lists: only if no depth cuts them."""

ALWAYS = "always"

Form = Callable[[int | None, dict[str, Any]], str]
Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Definition:
    """A row of the table of measures: the kernel, the formula and the prose of one measure."""

    of_catalogue: ClassVar = False  # does it look at whole lists, judged or not?

    name: str
    title: str
    kernel: Callable[..., Scored]
    terms: Form  # the sum, with the parameters put in
    example: str
    norm: Form | None = None  # what it is divided by
    where: Form | None = None  # what the symbols of both stand for
    weight: Form | None = None  # what the terms are divided by, if the formula has other terms
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    cutoff: bool = True
    aggregate: Literal["mean", "sum"] = "mean"
    better: Literal["high", "low", "neither"] = "high"  # the values that are good
    finds: bool = True  # is 0 what it gives where it finds nothing, and no value among others?
    omits: bool = False  # are queries of which it is not defined left out by its definition?
    unanswered: Form = lambda k, p: "0"  # the value of an empty list
    expected: bool = True  # has the mean over all orders of tied items a closed form here?
    middle: bool = False  # has it a meaning where tied items stand at the middle of their ranks?
    grouped: bool = False  # without a cutoff, has it a meaning where a tie is one step?
    nonrelevant: bool = False  # do items judged not relevant count differently from unjudged ones?
    beyond: str = ""  # where other orders of ties go beyond relevant items first and last, in words
    extremes: Callable[[int | None, dict[str, Any]], Extremes] | None = None  # and in parameters
    subtopics: bool = False  # does it look at the subtopics for which items are judged?
    range: Callable[[dict[str, Any]], Range | None] = lambda p: SHARE  # of a query's values
    conventions: str = ""
    undefined: str = NO_RELEVANT
    cite: str = ""
    is_loss: Callable[[dict[str, Any]], bool] | None = None
    """is a lower value a loss, where the better values do not say it?"""

    def loses(self, parameters: dict[str, Any]) -> bool:
        """Is a lower value a loss that a gate guards against?"""
        return self.better == "high" if self.is_loss is None else self.is_loss(parameters)

    def write_formula(self, k: int | None, parameters: dict[str, Any]) -> str:
        """Write the sum, what it is divided by, and what their symbols stand for, in one line."""
        norm, where = self.write_norm(k, parameters), (self.where or write_nothing)(k, parameters)
        parts = (self.terms(k, parameters), f"÷ {norm}" if norm else "", where)
        return ", ".join(filter(None, parts))

    def write_norm(self, k: int | None, parameters: dict[str, Any]) -> str:
        """Write the norm; "" if the sum is divided by nothing."""
        return (self.norm or write_nothing)(k, parameters)

    def write_divisor(self, k: int | None, parameters: dict[str, Any]) -> str:
        """Write what the terms of hits are divided by; "" if by nothing."""
        return (self.weight or self.norm or write_nothing)(k, parameters)

    def write_weight(self, k: int | None, parameters: dict[str, Any]) -> str:
        """Write by what a micro mean weighs a query: what its terms are divided by."""
        if self.weight is not None:
            return f"mean weighted by {self.weight(k, parameters)}"
        if self.write_norm(k, parameters):
            return "mean weighted by what each query's sum is divided by"
        return "every query has the same weight, as nothing is divided"


def write_nothing(k: int | None, parameters: dict[str, Any]) -> str:
    return ""


# --- Shared by rows of several families -----------------------------------------------------------

SHARE: Range = (0.0, 1.0)


def bound_nowhere(parameters: dict[str, Any]) -> None:
    """State no range: values depend on the data or on a unit of the reader's choice."""


REL = Parameter("rel", 1.0, "the lowest grade that counts as relevant", low=0.0)
MEAN = Parameter(
    "mean", "arithmetic", "how queries are averaged", words=("arithmetic", "geometric", "micro")
)


def write_depth(k: int | None, without: str = "N") -> str:
    """Write the last rank of a sum."""
    return without if k is None else str(k)


def write_ranks(k: int | None, without: str = "N") -> str:
    """Write the range of a sum over ranks."""
    return f"i ≤ {write_depth(k, without)}"


def write_hits(k: int | None) -> str:
    """Write the number of relevant items retrieved."""
    return f"Σ rel(i), {write_ranks(k)}"


JUDGED_AT = "judged(i): 1 if the i-th item is judged"


def write_number(number: float) -> str:
    """Write a number with all its digits, and a whole one without a point."""
    return repr(float(number)).removesuffix(".0")


# --- Rows of measures of whole lists: what their definitions and parameters have in common --------
#
# These measures see an Exposure or Lists, and a Catalogue, instead of a Ranking. Each row says in
# its definition what a low and a high value mean, since tools give one name to opposite signs.

OfAll = Callable[[Exposure, Catalogue, dict[str, Any]], float]
OfLists = Callable[[Lists, Catalogue, dict[str, Any]], tuple[Floats, Floats]]


def refuse_ranking(*_: Any, **__: Any) -> Scored:
    """Refuse a measure of the catalogue where only judged items are known. Raises MeasureError."""
    raise MeasureError(
        "a measure of the catalogue, such as Coverage or Novelty, looks at whole lists, and here"
        " only their judged items are known. evaluate, dialects and reconcile compute it."
    )


@dataclass(frozen=True, eq=False)
class CatalogueDefinition(Definition):
    """A row of the table of measures of the catalogue: of all lists, or a mean over lists."""

    of_catalogue: ClassVar = True

    of_all: OfAll | None = None
    """the value of all lists at once"""
    of_lists: OfLists | None = None
    """a sum for each list and its divisor; a list whose divisor is 0 is left out of the mean"""
    by_size: Callable[[dict[str, Any]], bool] = lambda _: False
    """does it need to know in how many lists of which size an item stands?"""
    of_sets: Callable[[dict[str, Any]], bool] = lambda _: False
    """does it compare lists as sets, in which no item stands twice?"""
    of_users: bool = False
    """does it look at the earlier choices of a list's user?"""
    of_judgments: bool = False
    """does it look at the judgments of a list's user?"""
    is_loss: Callable[[dict[str, Any]], bool] = lambda _: False
    """is a lower value a loss that a gate guards against, such as less variety?"""
    pooled: bool = False
    """is it the quotient of the sums over lists, and no mean of quotients?"""


def find_history(lists: Lists, seen: Seen, measure: str) -> tuple[Ints, Ints]:
    """Find where the earlier choices of each list's user start in ``seen.items``, and how many
    there are (U each). Raises CoverageError for ids of different types.
    """
    if lists.user is None:
        raise CoverageError(
            f"{measure} looks for the users of the run in seen=, and their ids have different"
            " types, text and whole numbers. Cast one of them."
        )
    has_user = lists.user >= 0
    starts = np.where(has_user, seen.offsets[lists.user], 0)
    return starts, np.where(has_user, seen.offsets[lists.user + 1] - starts, 0)


def refuse_lists(measures: Iterable[Any], text: str) -> None:
    """Raise MeasureError for measures of the catalogue; ``says``: who cannot have them, and why."""
    for measure in measures:
        if measure.row.of_catalogue:
            raise MeasureError(f"{measure} is about whole lists, {text}")


def define(
    name: str,
    title: str,
    terms: Form,
    example: str,
    *parameters: Parameter,
    of_all: OfAll | None = None,
    of_lists: OfLists | None = None,
    **prose: Any,
) -> CatalogueDefinition:
    """Make a row; what is the same for all of these measures is set here."""
    return CatalogueDefinition(
        name, title, refuse_ranking, terms, example, parameters=parameters, expected=False,
        better="neither", beyond=ALWAYS, range=prose.pop("range", bound_nowhere), of_all=of_all,
        of_lists=of_lists, undefined=prose.pop("undefined", ""), **prose,
    )  # fmt: skip


def write_cut(k: int | None) -> str:
    """Write which items count: those within the cutoff."""
    return "" if k is None else f" in the first {k}"


def write_mean(k: int | None, p: dict[str, Any], items: str = "") -> str:
    """Write the mean over lists of the mean over their items, or the mean over all items."""
    if p.get("mean") == "micro":
        return f"mean over {items}recommendations{write_cut(k)} of"
    return f"mean over lists of the mean over {items}items{write_cut(k)} of"


def write_count(p: dict[str, Any]) -> str:
    """Write what c is, the popularity of an item."""
    if p["seen"] == "users":
        return "c: users who chose the item before"
    return "c: earlier interactions with the item"


SEEN = Parameter(
    "seen", "users", "whether popularity counts the users of an item or all interactions"
        " with it",
    words=("users", "interactions"),
)  # fmt: skip
LISTS = Parameter(
    "mean", "arithmetic", "whether the mean is over lists or, with micro, over all"
        " recommendations",
    words=("arithmetic", "micro"),
)  # fmt: skip
