"""Policy: the conventions on which tools differ, by the stage that they govern.

The parameters in a measure's name govern the stage of measuring, between judging and averaging.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, Literal, TypeAlias, get_args, get_origin

from germane.core.calls import is_number, parse_whole
from germane.core.qrels import COPIES, Order
from germane.core.ragged import Halves
from germane.core.ties import GROUP_RANKS, Ties, find_row_order
from germane.errors import PolicyError, check_choice, clip, write_option

Duplicates: TypeAlias = Literal["error", "first", "last", "max", "keep", "recount"]
Missing: TypeAlias = Literal["zero", "skip", "nan", "error"]
Unjudged: TypeAlias = Literal["nonrelevant", "remove"]
NoRelevant: TypeAlias = Literal["zero", "skip", "one", "nan", "error"]
Relevant: TypeAlias = Literal["judged", "listed"]
Repeated: TypeAlias = Literal["error", "once", "each"]
Scores: TypeAlias = Literal["double", "single", "sigmoid", "distances"]
Grades: TypeAlias = Literal["exact", "whole", "nonnegative", "ones", "binary"]
Ranks: TypeAlias = Literal["order", "places"]
Own: TypeAlias = Literal["keep", "drop"]
Padding: TypeAlias = Literal["keep", "drop"]
Nonpositive: TypeAlias = Literal["hit", "miss"]
Empty: TypeAlias = Literal["answer", "missing", "nan", "error", "error_if_all", "missing_if_some"]
Short: TypeAlias = Literal["answer", "nan", "error", "error_if_all"]
Constant: TypeAlias = Literal["answer", "nan"]
NoHit: TypeAlias = Literal["zero", "one", "skip", "nan", "error"]
AllRelevant: TypeAlias = Literal["answer", "zero", "nan"]
Undefined: TypeAlias = Literal["nan", "zero", "error"]
Unknown: TypeAlias = Literal["ignore", "zero", "error"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The reading of rows and judgments: duplicate items, scores and grades."""

    duplicates: Duplicates = "error"
    """A duplicate item of a query: refuse it; take its first, last or highest copy; keep all copies
    at their ranks and count the first as a hit; or count every copy again."""

    relevant: Relevant = "judged"
    """The relevant items of a query are all that are judged relevant, or only those in its list of
    results: tools that are given the labels and scores of one list see no others."""

    repeated: Repeated = "error"
    """A duplicate among a query's relevant items: refuse it; count it once, as duplicates=first,
    last and max do too; or count each copy, of which only one can be found."""

    scores: Scores = "double"
    """Scores are compared in double precision, or rounded to single precision before; sigmoid also
    applies the logistic function to the scores of a query if one of them is outside 0…1. The lowest
    of distances is the best, compared in double precision."""

    grades: Grades = "exact"
    """Grades are taken as they are; cut to whole numbers; not below 0; as 1 from 1 on and else as
    0; or others than 0 and 1 are an error."""

    own: Own = "keep"
    """An item whose id is that of the query is kept, or dropped before ranks are counted."""

    padding: Padding = "keep"
    """A result with the id -1 is kept as an item, or dropped before anything else: lists of a fixed
    length are padded with it. In arrays of ids it is never an item."""

    ranks: Ranks = "order"
    """Ranks without scores give the order of the results, or are their places in a longer list of
    which only these rows are known."""

    qrels_duplicates: str | None = None
    """The choice of ``duplicates`` for judgments, where ``read_qrels`` was given another one."""


@dataclass(frozen=True, kw_only=True)
class Judging:
    """The order of ties, and which queries and items count."""

    ties: Ties = "trec"
    """Equal scores: by item id from the last to the first, as trec_eval does, or from the first to
    the last; in the order given; the exact mean over all orders; the order that is best or worst
    for the system; all items of a group at the middle of its ranks, such as 2.5; or all at once, at
    its last rank."""

    missing: Missing = "zero"
    """A judged query that the run does not answer counts as one with an empty list, or as the worst
    where low values are good; is left out; is NaN; or is an error."""

    unjudged: Unjudged = "nonrelevant"
    """Unjudged items count as not relevant, or are removed before ranks are counted."""

    depth: int | None = None
    """Only the first ``depth`` results of each query count."""

    nonpositive: Nonpositive = "hit"
    """Relevant items with a score of 0 or less are hits, or keep their ranks and count as
    misses.
    """

    min_score: float | None = None
    """Items with a lower score do not count as retrieved."""

    max_distance: float | None = None
    """Items with a larger distance do not count as retrieved, under scores=distances."""

    empty: Empty = "answer"
    """A query with an empty list of results is answered, missing, NaN, or an error. error_if_all:
    it is answered, but a run of empty lists alone is an error. missing_if_some: it is missing
    beside queries with results, and answered where there are none."""

    short: Short = "answer"
    """A query with fewer results than the cutoff is answered, or an error; error_if_all: it is an
    error where every query has fewer. nan: it is NaN, also where the results are as many as the
    cutoff."""

    unknown: Unknown = "ignore"
    """A query of the run that nobody judged is left out, counts as 0, or is an error. With zero it
    is a query without relevant items, so that ``no_relevant`` decides on its value."""


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """The values of special queries, and the mean of all."""

    no_relevant: NoRelevant = "zero"
    """A query without relevant items counts as 0, is left out, counts as 1, is NaN, or an error."""

    no_hit: NoHit = "zero"
    """A query with relevant items of which the measure finds none counts as 0, as 1, is left out,
    is NaN, or an error."""

    all_relevant: AllRelevant = "answer"
    """A query with hits, and with nothing judged not relevant, is answered, counts as 0, or is NaN:
    measures that compare relevant with other items divide by 0 there."""

    constant: Constant = "answer"
    """A query all of whose results have the same score is answered, or NaN."""

    undefined: Undefined = "nan"
    """A query whose value is NaN makes the mean NaN, counts as 0 in it, or is an error; a mean of
    no queries is treated in the same way."""

    digits: int | None = None
    """Means are rounded to so many decimals."""

    query_digits: int | None = None
    """Each query's value is rounded to so many decimals before the mean."""

    halves: Halves = "up"
    """``query_digits`` rounds a half up, or to the even digit, as printf and Python's round do."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Policy(Averaging, Judging, Reading):
    """The conventions on which tools differ, apart from the measures themselves.

    >>> germane.Policy(ties="expected")
    Policy(ties=expected)

    Every result carries the policy it was computed with. Raises PolicyError for a word that does
    not exist.
    """

    # names in capitals say what policies there are
    DEFAULTS: ClassVar[dict[str, Any]]
    STAGES: ClassVar[dict[str, type]]
    WORDS: ClassVar[dict[str, tuple[Any, ...]]]  # of the conventions that every result states
    RARE_WORDS: ClassVar[dict[str, tuple[Any, ...]]]  # stated where they are not the default
    UNORDERED: ClassVar = tuple(GROUP_RANKS)  # of ties: single items have no rank

    def __post_init__(self) -> None:
        allowed = dict(_CHOICES)
        if self.qrels_duplicates is not None:
            allowed["qrels_duplicates"] = allowed["duplicates"]
        for name, words in allowed.items():
            check_choice(name, getattr(self, name), words)
        if self.depth is not None:
            depth = parse_whole(self.depth)
            if depth is None or depth < 1:
                raise PolicyError(f"depth must be a positive integer; got {clip(self.depth)}")
            object.__setattr__(self, "depth", min(depth, 2**62))
        for name in ("digits", "query_digits"):
            word = getattr(self, name)
            if word is not None:
                digits = parse_whole(word)
                if digits not in range(16):
                    raise PolicyError(f"{name} takes a whole number from 0 to 15; got {clip(word)}")
                object.__setattr__(self, name, digits)
        for name in LIMITS:
            word = getattr(self, name)
            if word is not None:
                if not is_number(word) or not isfinite(word):
                    raise PolicyError(f"{name} takes a finite number; got {clip(word)}")
                object.__setattr__(self, name, float(word))
        if self.scores == "distances":
            self._check_distances()
        elif self.max_distance is not None:
            raise PolicyError(
                f"{write_option('max_distance', f'{self.max_distance:g}')} is for"
                f" {write_option('scores', 'distances')}, where the lowest number is the best."
                f" With scores, {write_option('min_score', '…')} leaves out the items that have"
                " lower ones."
            )

    def _check_distances(self) -> None:
        if self.nonpositive == "miss":
            raise PolicyError(
                "nonpositive=miss is for scores, but no distance is below 0;"
                f" {write_option('max_distance', '…')} leaves out items that are farther away."
            )
        if self.min_score is not None:
            least = f"{self.min_score:g}"
            raise PolicyError(
                f"{write_option('min_score', least)} is for scores, where the highest is the best."
                f" With {write_option('scores', 'distances')}, use"
                f" {write_option('max_distance', least)} instead, which leaves out items that are"
                " farther away."
            )

    def __repr__(self) -> str:
        changed = [
            f"{name}={value}"
            for name, value in self.to_dict().items()
            if value != Policy.DEFAULTS[name]
        ]
        return f"Policy({', '.join(changed)})"

    def __str__(self) -> str:
        """The conventions, as results print them."""
        choices = self.to_dict()
        if (qrels := choices.pop("qrels_duplicates", None)) is not None:
            choices["duplicates"] = f"{self.duplicates} (qrels: {qrels})"
        return ", ".join(f"{name}={value}" for name, value in choices.items() if value is not None)

    def to_dict(self) -> dict[str, str | float | None]:
        """Return the conventions by name; rare ones only where they differ from the default."""
        stated = {name: getattr(self, name) for name in (*Policy.WORDS, "depth")}
        rare = {name: getattr(self, name) for name in Policy.DEFAULTS if name not in stated}
        return stated | {name: word for name, word in rare.items() if word != Policy.DEFAULTS[name]}

    @cached_property
    def whole_list(self) -> "Policy":
        """The policy that finds all listed items whatever their scores, for relevant=listed."""
        if self.relevant == "judged" or self.takes_any_score:
            return self
        return replace(self, nonpositive="hit", min_score=None, max_distance=None)

    def knows_extremes(self, extremes: str) -> bool:
        """Does no order of ties give a mean beyond those of ``best`` and ``worst``?

        ``extremes`` is that of the measure. A depth cuts a list inside a tie, so that the order
        decides what the list has. With ``unjudged=remove``, it also decides how many items are
        left. With another ``no_hit``, an order without a hit may have the highest value, and copies
        that are kept hold ranks of their own.
        """
        if self.no_hit != "zero" or self.duplicates in COPIES:
            return False
        if self.depth is None:
            return extremes != "never"
        return self.unjudged != "remove" and extremes == "always"

    @property
    def takes_any_score(self) -> bool:
        """Is an item a hit whatever its score?"""
        return self.nonpositive == "hit" and self.min_score is self.max_distance is None

    @cached_property
    def follows_formula(self) -> bool:
        """Has each query of a run without empty lists the value of the formula?"""
        return all(getattr(self, name) == word for name, word in _FORMULA.items())

    @cached_property
    def order(self) -> Order:
        """The order in which readers rank the rows of a run."""
        equal = find_row_order(self.ties).equal
        least = self.min_score if self.max_distance is None else -self.max_distance
        return Order(
            equal, self.scores, least, self.own, self.nonpositive, self.padding, self.ranks
        )

    @cached_property
    def judged_twice(self) -> str:
        """The treatment of an item that is judged twice for a query."""
        if self.repeated != "error":
            return "first" if self.repeated == "once" else "each"
        return self.duplicates if self.duplicates not in COPIES else "error"


LIMITS = ("min_score", "max_distance")
RARE = (
    *("relevant", "min_score", "max_distance"),
    *("repeated", "grades", "ranks", "own", "padding", "nonpositive", "empty", "short", "constant"),
    *("unknown", "no_hit", "all_relevant", "undefined", "digits", "query_digits", "halves"),
)
"""Conventions of single tools: keyword arguments like any other, which signatures leave out."""
Policy.STAGES = {"reading": Reading, "judging": Judging, "averaging": Averaging}
Policy.DEFAULTS = {field.name: field.default for field in fields(Policy)}
_CHOICES = {
    field.name: get_args(field.type)
    for field in fields(Policy)
    if get_origin(field.type) is Literal
}

_FORMULA = {
    name: Policy.DEFAULTS[name]
    for name in ("no_relevant", "no_hit", "all_relevant", "short", "constant")
}

_STATED = ("duplicates", "ties", "missing", "unjudged", "no_relevant")
Policy.WORDS = {name: _CHOICES[name] for name in _STATED}

WITHOUT_VALUE = ("short", "constant", "halves", "padding")
"""Conventions that explain no number: they take a value away, or matter on some data alone."""

Policy.RARE_WORDS = {
    name: words for name, words in _CHOICES.items() if name not in (*_STATED, *WITHOUT_VALUE)
}
