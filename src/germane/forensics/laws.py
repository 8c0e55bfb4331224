"""Laws between measures of one run, with proofs and conditions, and those of two columns."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf, isfinite
from typing import NamedTuple, TypeAlias

from germane.dialects import dialects
from germane.forensics.reported import OF_QUERIES, Column, Reading, Reported

_OF_LISTS = {"missing", "empty", "unknown", "short"}
"""Conventions that change which queries count by their results."""

_OF_RANKS = {"ties", "duplicates"}
"""Conventions that change which of the same results stand at the first ranks."""


class Line(NamedTuple):
    """The bound ``factor`` · (value of the other column) + ``offset``."""

    factor: float
    offset: float = 0.0

    def relax(self, a: Reading, b: Reading) -> "Line | None":
        """Give room to a tool that treats queries, ties or copies otherwise for one measure.

        The law then holds for neither mean. A value beyond the bound would take a fifth of the
        queries without results, or half of them without relevant items, and one 0.15 above it ties
        or repeated results at the first ranks of many. A tool that counts 1 for a query without
        relevant items adds their share, and one that rounds the values of queries a half unit of
        each. None if the two rank other results.
        """
        differ = {name for name, _ in set(a.choices) ^ set(b.choices)} - {"query_digits"}
        if a.k == b.k == 1:
            differ -= {"duplicates"}  # nothing is repeated
        if differ - _OF_RANKS - {*OF_QUERIES}:
            return None  # each ranks other results
        factor = 1.25 if differ & _OF_LISTS else 1.0
        factor *= 2.0 if differ - _OF_LISTS - _OF_RANKS else 1.0
        offset = a.most_rounded + self.factor * b.most_rounded
        offset += 0.15 if differ & _OF_RANKS else 0.0
        offset += 0.5 if any(word == "one" for _, word in set(a.choices) - set(b.choices)) else 0.0
        return Line(factor * self.factor, factor * self.offset + offset)


Bound: TypeAlias = "Callable[[Reading, Reading], Line | None]"
Cut: TypeAlias = "Callable[[float, float], Line]"  # of the cutoffs of both


@dataclass(frozen=True)
class Identity:
    """A law: the first measure is at most a line of the second, if ``bound`` accepts both.

    ``says`` and ``proof`` have {a}, {b}, {j} and {k} for the names and the cutoffs.
    """

    first: str
    second: str
    says: str
    proof: str
    bound: Bound

    def holds_with_copies(self, a: Reading) -> bool:
        """Does it hold of lists that repeat a result, which may be two hits?"""
        above_one = a.counts_twice and a.k > 1 and self.first in ("R", "AP", "F")
        return not (above_one and self.second == "Success")


# --- conditions -------------------------------------------------------------------------------


def _is_comparable(a: Reading, b: Reading) -> bool:
    """Do both count items of the same grades, and take the arithmetic mean?"""
    levels = [reading.parameters["rel"] for reading in (a, b) if "rel" in reading.parameters]
    means = [reading.parameters.get("mean", "arithmetic") for reading in (a, b)]
    return len(set(levels)) < 2 and means == ["arithmetic"] * 2


def _has(reading: Reading, **wanted: object) -> bool:
    """Has the definition one of these words, where it has the parameter?"""
    for name, words in wanted.items():
        value = reading.parameters.get(name)
        if value is not None and value not in (words if isinstance(words, tuple) else (words,)):
            return False
    return True


def _hold(line: Cut, fits: Callable[[Reading, Reading], bool]) -> Bound:
    """Hold where two comparable definitions fit, with the line of their cutoffs."""

    def bound(a: Reading, b: Reading) -> Line | None:
        limit = line(a.k, b.k) if fits(a, b) and _is_comparable(a, b) else None
        return limit if limit is not None and all(map(isfinite, limit)) else None

    return bound


def _at_same(line: Cut, **wanted: object) -> Bound:
    """Hold at one cutoff of both; ``wanted`` are words of the first one's parameters."""
    return _hold(line, lambda a, b: a.k == b.k and _has(a, **wanted))


def _rises(line: Cut, **wanted: object) -> Bound:
    """Hold where the first one's cutoff is lower, of one measure with the same parameters."""

    def fits(a: Reading, b: Reading) -> bool:
        same = a.parameters == b.parameters and a.measure.name == b.measure.name
        return a.k < b.k and same and _has(a, **wanted)

    return _hold(line, fits)


def _within(line: Cut, *, alike: bool = False) -> Bound:
    """Hold where the first one's cutoff is lower, or with ``alike`` the same, of two measures."""
    return _hold(line, lambda a, b: a.k < b.k or (alike and a.k == b.k))


def _is_of_first(reading: Reading) -> bool:
    """Is it 1 if the first result is relevant, and else 0?"""
    norms = (
        ("min", "possible", "found", "k") if reading.measure.name == "AP" else ("k", "retrieved")
    )
    return reading.k == 1 and _has(reading, norm=norms)


def _divide_alike(a: Reading, b: Reading) -> bool:
    """Have AP and R one cutoff and the same divisor?"""
    norms = {reading.parameters["norm"] for reading in (a, b)}
    if a.k == inf:  # then min(R, k) is R
        norms = {"R" if word == "min" else word for word in norms}
    return a.k == b.k and len(norms) == 1 and norms <= {"R", "min", "possible"}


_FIRST = ("RR", "P", "Success", "AP")
_SAME = Line(1.0)


def _same(j: float, k: float) -> Line:
    return _SAME


def _times_j(j: float, k: float) -> Line:
    return Line(j)


def _times_k(j: float, k: float) -> Line:
    return Line(k)


def _rank_first(j: float, k: float) -> Line:
    """P@j with a first hit at rank f is at most (j − f + 1) ÷ j; f times that peaks midway."""
    return Line((j + 1) ** 2 / (4 * j) if j > 1 else inf)


def _start_first(j: float, k: float) -> Line:
    return _SAME if j == 1 else Line(inf)


_starts = _hold(_same, lambda a, b: _is_of_first(a) and _is_of_first(b))
_begins = _hold(_same, lambda a, b: a.k == b.k == 1)  # a share of R is at most rel(1)
_divides_alike = _hold(_same, _divide_alike)
_fills = _hold(  # j > k
    lambda j, k: Line(k / j, (j - k) / j),
    lambda a, b: b.k < a.k < inf and a.parameters == b.parameters,
)


PAIRS: tuple[Identity, ...] = (
    *(
        Identity(first, second, "{a} = {b}",
            "at k = 1 both are 1 if the first result is relevant, and else 0", _starts)
        for first in _FIRST
        for second in _FIRST
        if first != second
    ),
    Identity("R", "P", "{a} ≤ {b}", "R@1 is rel(1) ÷ R, and P@1 is rel(1)", _begins),
    Identity("RR", "RR", "{a} ≤ {b}", "a longer list can only add a first relevant item",
        _rises(_same)),
    Identity("Success", "Success", "{a} ≤ {b}", "a hit in the first {j} is one in the first {k}",
        _rises(_same)),
    Identity("R", "R", "{a} ≤ {b}", "recall counts the same relevant items, and more of them",
        _rises(_same, norm="R")),
    Identity("P", "P", "{j}·{a} ≤ {k}·{b}", "the first {k} hold the hits of the first {j}",
        _rises(lambda j, k: Line(k / j))),
    Identity("P", "P", "{j}·{a} ≤ {k}·{b} + {j} − {k}",
        "results {k} + 1 to {j} are at most {j} − {k} hits", _fills),
    Identity("AP", "AP", "{a} ≤ {b}", "divided by R, a longer list only adds terms",
        _rises(_same, norm="R")),
    Identity("DCG", "DCG", "{a} ≤ {b}", "a longer list only adds gains",
        _rises(_same, gain="linear")),
    Identity("RR", "Success", "{a} ≤ {b}", "1 ÷ rank is at most 1, and both are 0 without a hit",
        _at_same(_same)),
    Identity("Success", "RR", "{a} ≤ {k}·{b}",
        "a hit in the first {k} has a reciprocal rank of at least 1 ÷ {k}", _at_same(_times_k)),
    Identity("RR", "P", "{a} ≤ {k}·{b}", "1 ÷ rank is at most 1, and {k}·P counts the hits",
        _at_same(_times_k)),
    Identity("Success", "P", "{a} ≤ {k}·{b}", "{k}·P counts the hits", _at_same(_times_k)),
    Identity("P", "Success", "{a} ≤ {b}", "P is at most 1, and both are 0 without a hit",
        _at_same(_same)),
    Identity("R", "Success", "{a} ≤ {b}", "recall is at most 1, and both are 0 without a hit",
        _at_same(_same)),
    Identity("AP", "Success", "{a} ≤ {b}", "AP is at most 1, and both are 0 without a hit",
        _at_same(_same)),
    Identity("F", "Success", "{a} ≤ {b}", "F is at most 1, and both are 0 without a hit",
        _at_same(_same)),
    Identity("P", "RR", "{a} ≤ {b}", "where the first result is relevant, both are 1",
        _within(_start_first)),
    Identity("P", "RR", "4·{j}·{a} ≤ ({j} + 1)²·{b}",
        "with a first hit at rank f, P is at most ({j} − f + 1) ÷ {j}",
        _within(_rank_first, alike=True)),
    Identity("Success", "RR", "{a} ≤ {j}·{b}",
        "a hit in the first {j} has a reciprocal rank of at least 1 ÷ {j}",
        _within(_times_j)),
    Identity("RR", "Success", "{a} ≤ {b}",
        "1 ÷ rank is at most 1, and 0 without a hit in the first {k}", _within(_same)),
    Identity("P", "Success", "{a} ≤ {b}", "P is at most 1, and 0 without a hit in the first {k}",
        _within(_same)),
    Identity("R", "Success", "{a} ≤ {b}",
        "recall is at most 1, and 0 without a hit in the first {k}", _within(_same)),
    Identity("AP", "Success", "{a} ≤ {b}", "AP is at most 1, and 0 without a hit in the first {k}",
        _within(_same)),
    Identity("RR", "P", "{a} ≤ {k}·{b}", "1 ÷ rank is at most 1, and {k}·P counts the hits",
        _within(_times_k)),
    Identity("Success", "P", "{a} ≤ {k}·{b}", "{k}·P counts the hits",
        _within(_times_k)),
    Identity("R", "P", "{a} ≤ {k}·{b}", "{k}·P counts the hits, and recall divides them by R ≥ 1",
        _at_same(_times_k)),
    Identity("AP", "P", "{a} ≤ {k}·{b}", "each hit adds at most 1, and AP divides by at least 1",
        _at_same(_times_k)),
    Identity("AP", "P", "{a} ≤ {b}", "each hit adds at most 1, and both divide by k",
        _at_same(_same, norm="k")),
    Identity("AP", "R", "{a} ≤ {b}", "each hit adds at most 1, and both divide by R",
        _divides_alike),
    Identity("F", "P", "{a} ≤ 2·{b}", "F is 2·P·R ÷ (P + R), which is at most 2·P",
        _at_same(lambda j, k: Line(2.0), beta=1)),
    Identity("F", "R", "{a} ≤ 2·{b}", "F is 2·P·R ÷ (P + R), which is at most 2·R",
        _at_same(lambda j, k: Line(2.0), beta=1)),
)  # fmt: skip
"""Laws of two columns. Further ones of three are ``F ≤ (P + R) ÷ 2``; see audit.py."""


BOXES: tuple[tuple[str, str, Line, str, str], ...] = (
    ("AP", "AP50", Line(1.0), "{a} ≤ {b}",
        "AP is a mean over thresholds, and AP at IoU 0.5 is the highest of them"),
    ("AP75", "AP50", Line(1.0), "{a} ≤ {b}", "a match at IoU 0.75 is one at 0.5"),
    ("AP75", "AP", Line(10 / 6), "0.6·{a} ≤ {b}",
        "six of the ten thresholds of AP are 0.75 or lower"),
    ("AR@1", "AR@10", Line(1.0), "{a} ≤ {b}", "more detections of an image can only add matches"),
    ("AR@10", "AR@100", Line(1.0), "{a} ≤ {b}", "more detections of an image can only add matches"),
    ("AR@1", "AR@100", Line(1.0), "{a} ≤ {b}", "more detections of an image can only add matches"),
    ("AP", "AR@100", Line(1.0, 0.0101), "{a} ≤ {b} + 0.01",
        "precision is 0 beyond the highest recall"),
)  # fmt: skip
"""Laws of tables of detectors, by the words of their columns."""

HIGHEST = {
    "P": 1.0, "R": 1.0, "F": 1.0, "Rprec": 1.0, "Success": 1.0, "SetAP": 1.0, "AP": 1.0,
    "MeanP": 1.0, "MeanR": 1.0,
    "APR": 1.0, "RR": 1.0, "nDCG": 1.0, "ERR": 1.0, "RBP": 1.0, "IPrec": 1.0, "IAP": 1.0,
    "AUPR": 1.0, "bpref": 1.0,
    "infAP": 1.0, "Judged": 1.0, "Unjudged": 1.0, "AUROC": 1.0, "RankingLoss": 1.0, "FallOut": 1.0,
    "SetAccuracy": 1.0,
    "MCC": 1.0, "Compat": 1.0, "AR": 1.0, "GAUC": 1.0, "INP": 1.0, "PercentileRank": 1.0,
    "AllFound": 1.0,
}  # fmt: skip
"""The highest value of each measure that has one; the lowest is 0, of MCC −1."""


def find_highest(kind: str, reading: Reading | None) -> float | None:
    """Find the highest value of a definition; None if it has none. AP50 of boxes is AP."""
    kind = re.split(r"[\d(@]", kind)[0]
    if kind not in HIGHEST:
        return None
    if reading is None:
        return HIGHEST[kind]
    if reading.counts_twice and kind not in ("P", "RR", "Success"):
        return None  # an item that is listed twice is found twice
    if kind == "nDCG" and not _has(reading, norm="judged"):
        return None  # grades above 1, and an ideal of ones
    if kind == "RBP" and not _has(reading, gain="binary"):
        return None
    return HIGHEST[kind]


# --- Laws of two columns of a table, for each way to read their names -----------------------------

AS_NAMED = "the definition that the names have in germane"
_USUAL = {AS_NAMED, "trec_eval-10"}

_MANY = 40  # columns
FLOAT = 2e-6  # programs that compute in single precision differ by less


def is_usual(name: str) -> bool:
    """Is this way to read columns one that most tables are read by?"""
    return name in _USUAL or name.startswith("AP(norm=R)")


@dataclass(frozen=True)
class Interval:
    """All values that a printed number may stand for."""

    low: float
    high: float

    @classmethod
    def of(cls, cell: Reported, truncated: bool = False) -> "Interval":
        """Return the values that round to a number, or that it may be cut from."""
        slack = max(cell.tolerance, FLOAT)
        return cls(cell.value - slack, cell.value + (2 if truncated else 1) * slack)


@dataclass(frozen=True)
class Law:
    """An inequality of two readings; ``relaxed`` has room for tools that count other queries."""

    line: Line
    relaxed: Line
    says: str
    proof: str

    def measure_excess(self, a: Interval, b: Interval) -> float:
        """Measure by how much two numbers break it; 0 where they do not."""
        over = a.low - (self.relaxed.factor * b.high + self.relaxed.offset)
        return a.low - (self.line.factor * b.high + self.line.offset) if over > 0 else 0.0


@dataclass(frozen=True)
class Way:
    """A way to read two columns: its name, the laws that hold, and if ties have two orders."""

    name: str
    laws: tuple[Law, ...]
    tool: str = ""
    two_orders: bool = False

    def find_broken(self, a: Interval, b: Interval) -> tuple[float, Law | None]:
        """Find the law that two numbers break by most; 0 and None where they break none."""
        broken = ((law.measure_excess(a, b), law) for law in self.laws)
        excess, law = max(broken, key=lambda pair: pair[0], default=(0.0, None))
        return (excess, law) if excess > 0 else (0.0, None)


@dataclass(frozen=True)
class PairLaws:
    """Two columns, by their numbers, and the ways to read them."""

    first: int
    second: int
    ways: tuple[Way, ...]

    def find_broken(self, a: Interval, b: Interval) -> tuple[float, Law, str] | None:
        """Find the law broken by most, with the excess and what allows the numbers.

        None where the usual definitions allow them.
        """
        broken = [way.find_broken(a, b) for way in self.ways]
        excess, law = max(broken, key=lambda pair: pair[0])
        if law is None:
            return None
        allow = [way.name for way, (over, _) in zip(self.ways, broken, strict=True) if over <= 0]
        if any(map(is_usual, allow)):
            return None
        return excess, law, name_possible(allow)

    @property
    def tools_of_two_orders(self) -> list[str]:
        """Tools whose measures of these names order equal scores differently."""
        return list(dict.fromkeys(way.tool for way in self.ways if way.two_orders))


def list_laws(columns: Sequence[Column | None], fixed: bool) -> list[PairLaws]:
    """List the laws of each pair of columns. ``fixed``: every column's definition is known."""
    laws = []
    cutoffs = _list_cutoffs(columns) if len(columns) > _MANY else {}
    for (i, a), (j, b) in permutations(enumerate(columns), 2):
        if a is None or b is None or a.group != b.group or not _are_near(a, b, cutoffs):
            continue
        ways = tuple(_list_of_boxes(a, b) if a.of_boxes else _list_ways(a, b, fixed))
        if any(way.laws for way in ways):
            laws.append(PairLaws(i, j, ways))
    return laws


def _list_cutoffs(columns: Sequence[Column | None]) -> dict[str, list[float]]:
    """List the cutoffs of each kind of measure, in ascending order."""
    by_kind: dict[str, set[float]] = {}
    for column in columns:
        if column is not None:
            by_kind.setdefault(column.kind, set()).add(column.k or inf)
    return {kind: sorted(cutoffs) for kind, cutoffs in by_kind.items()}


def _are_near(a: Column, b: Column, cutoffs: Mapping[str, list[float]]) -> bool:
    """Are the cutoffs the same or neighbors? Of many columns no others are compared."""
    if not cutoffs or a.k == b.k:
        return True
    of_kind = cutoffs[b.kind]
    place = bisect_left(of_kind, a.k or inf)
    return (b.k or inf) in of_kind[max(place - 1, 0) : place + 2]


def _list_of_boxes(a: Column, b: Column) -> Iterator[Way]:
    if a.overlap != b.overlap:
        return  # of boxes and of masks
    kinds = a.kind, b.kind
    yield Way(
        "", tuple(Law(line, line, text, why) for *two, line, text, why in BOXES if (*two,) == kinds)
    )


def _list_ways(a: Column, b: Column, fixed: bool) -> Iterator[Way]:
    identities = [
        identity for identity in PAIRS if (identity.first, identity.second) == (a.kind, b.kind)
    ]
    for name, x, y in _pair_readings(a, b, fixed) if identities else ():
        orders = {dict(reading.choices).get("ties") for reading in (x, y)}
        yield Way(name, tuple(_find_laws(identities, x, y)), x.tool, len(orders) > 1)


def _find_laws(identities: Sequence[Identity], x: Reading, y: Reading) -> Iterator[Law]:
    for identity in identities:
        if (identity.first, identity.second) != (x.measure.name, y.measure.name):
            continue
        line = identity.bound(x, y) if identity.holds_with_copies(x) else None
        relaxed = None if line is None else line.relax(x, y)
        if line is not None and relaxed is not None:
            yield Law(line, relaxed, identity.says, identity.proof)


def _pair_readings(a: Column, b: Column, fixed: bool) -> Iterator[tuple[str, Reading, Reading]]:
    """List the ways to read two columns together: one tool, or one set of conventions."""
    for x in a.plain:
        for y in b.plain:
            yield _describe_pair(a, b, x, y), x, y
    if fixed:
        return
    for tool in dialects().values():
        named = a.is_named_by(tool) + b.is_named_by(tool)
        for x in a.read_as(tool, named):
            for y in b.read_as(tool, named):
                one_kind = a.kind == b.kind and x.measure.name == y.measure.name
                if not one_kind or x.parameters == y.parameters:  # one definition for one kind
                    yield tool.name, x, y


def _describe_pair(a: Column, b: Column, x: Reading, y: Reading) -> str:
    varied = [
        str(reading.measure)
        for column, reading in ((a, x), (b, y))
        if reading.measure != column.measure
    ]
    return " and ".join(varied) or AS_NAMED


def name_possible(allow: Sequence[str]) -> str:
    """Name the definitions, then the tools, that allow it."""
    if not allow:
        return ""
    names = sorted(dict.fromkeys(allow), key=lambda name: "(" not in name)
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Not with the usual definition; possible with {', '.join(names[:3])}{rest}."
