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
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    cutoff: bool = True
    aggregate: Literal["mean", "sum"] = "mean"
    expected: bool = True  # has the mean over all orders of tied items a closed form here?
    grouped: bool = False  # without a cutoff, has it a meaning where a tie is one step?
    nonrelevant: bool = False  # do items judged not relevant count differently from unjudged ones?
    monotone: bool = True  # is it highest with relevant items first in each tie, lowest with last?
    subtopics: bool = False  # does it look at the subtopics for which items are judged?
    range: Callable[[dict[str, Any]], Range | None] = lambda p: SHARE  # of a query's values
    conventions: str = ""
    undefined: str = NO_RELEVANT
    cite: str = ""

    def write_formula(self, k: int | None, parameters: dict[str, Any]) -> str:
        """Write terms and norm in one line."""
        terms, norm = self.terms(k, parameters), self.write_norm(k, parameters)
        return f"{terms}, ÷ {norm}" if norm else terms

    def write_norm(self, k: int | None, parameters: dict[str, Any]) -> str:
        """Write the norm; "" if the sum is divided by nothing."""
        return "" if self.norm is None else self.norm(k, parameters)


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


def write_number(number: float) -> str:
    """Write a number with all its digits, and a whole one without a point."""
    return repr(float(number)).removesuffix(".0")
