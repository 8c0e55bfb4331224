"""Laws of two columns of a table, for each way to read their names."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf

from germane.dialects import dialects
from germane.reconciliation.column_names import Column, Reading
from germane.reconciliation.identities import BOXES, PAIRS, Identity, Line
from germane.reconciliation.reported import Reported

_AS_NAMED = "the definition that the names have in germane"
_USUAL = {_AS_NAMED, "trec_eval-10"}

_MANY = 40  # columns
_FLOAT = 2e-6  # programs that compute in single precision differ by less


@dataclass(frozen=True)
class Interval:
    """All values that a printed number may stand for."""

    low: float
    high: float

    @classmethod
    def of(cls, cell: Reported, truncated: bool = False) -> "Interval":
        """Return the values that round to a number, or that it may be cut from."""
        slack = max(cell.tolerance, _FLOAT)
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
        if any(name in _USUAL or name.startswith("AP(norm=R)") for name in allow):
            return None
        return excess, law, _name_possible(allow)

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
    return " and ".join(varied) or _AS_NAMED


def _name_possible(allow: Sequence[str]) -> str:
    """Name the definitions, then the tools, that allow it."""
    if not allow:
        return ""
    names = sorted(dict.fromkeys(allow), key=lambda name: "(" not in name)
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Not with the usual definition; possible with {', '.join(names[:3])}{rest}."
