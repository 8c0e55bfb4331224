"""Definition and Parameter, of which a measure's row is made, and the wording that rows share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from germane.errors import list_choices
from germane.measures.terms import Scored


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


NO_RELEVANT = "Without relevant items: no_relevant decides (default: 0)."
NO_GAIN = "Without items that gain anything: no_relevant decides (default: 0)."

Extremes = Literal["always", "whole lists", "never"]
"""Where do relevant items first and last in each tie give the highest and the lowest value of all
orders? In whole lists: only if no depth cuts them."""

ALWAYS = "always"

Form = Callable[[int | None, dict[str, Any]], str]
Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Definition:
    """A row of the table of measures: the kernel, the formula and the prose of one measure."""

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
