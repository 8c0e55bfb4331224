"""Decide for one row of a table whether any run can have its numbers, under open definitions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from math import ceil, floor
from typing import Any, TypeAlias

from germane.dialects import dialects
from germane.dialects.dialect import Dialect
from germane.errors import list_some
from germane.forensics.certificates import Certificate
from germane.forensics.graded_lists import GradedLists
from germane.forensics.laws import AS_NAMED, FLOAT, is_usual, name_possible
from germane.forensics.list_program import Means, Program
from germane.forensics.list_values import (
    DEEPEST,
    ENUMERATED,
    Lists,
    list_gains,
    make_list_measure,
)
from germane.forensics.reported import Column, Reading, Reported
from germane.output.tables import write_count

KINDS = ("P", "R", "F", "Rprec", "AP", "MeanP", "RR", "Success", "DCG", "nDCG")
WORDS = (IMPOSSIBLE := "impossible", "restricted", OPEN := "open", POSSIBLE := "possible")
"""What a decision says, the worst first."""

MOST_GRADES = 10
MOST_COLUMNS = 40
_MOST_WAYS = 48
_MOST_SEARCHED = 3  # definitions for which lists are searched
_DEEPER = (30, 100)  # of measures without a cutoff
_LARGER = ((15, 20, 30, 100), (15, 20, 30, 100, 300, 1000, 10_000))
"""Numbers of relevant items beyond the depth of lists that exist, and if these do not suffice."""
_TORN = {"grouped", "middle"}  # orders of ties in which no list has the value

_MIXED = {"R": ("R", "min"), "P": ("k", "retrieved")}
"""The usual divisor, and that of many tools; a table may have columns of several of them."""

Cells: TypeAlias = Mapping[int, Reported]


@dataclass(frozen=True)
class Refutation:
    """Numbers of a row that no run can have: their columns, the inequality, and what allows them.

    ``possible`` is "" where no definition does.
    """

    columns: tuple[int, ...]
    law: str
    proof: str
    excess: float
    possible: str = ""


@dataclass(frozen=True)
class Decision:
    """What the program says of a row: impossible, restricted, possible or open.

    possible: some run has these numbers. open: no inequality is broken, and no lists were found
    that have them. ``way`` is the definition that allows them, with judgments of ``grades``.
    """

    word: str
    refutation: Refutation | None = None
    way: "Way | None" = None
    grades: int | None = None


@dataclass(frozen=True)
class Group:
    """Columns of one way to read a row that count the same queries and results.

    ``places`` are those of the columns, in the order of the program's measures.
    """

    program: Program
    places: tuple[int, ...]
    readings: tuple[Reading, ...]

    def read_means(self, cells: Cells, queries: int | None, *, cut: bool = False) -> Means:
        """Bound the means that the numbers stand for, rounded or cut off."""
        low, high = {}, {}
        for place, (column, reading) in enumerate(zip(self.places, self.readings, strict=True)):
            if column not in cells:
                continue
            cell = cells[column]
            value, half = _to_fraction(cell.value), _to_fraction(cell.tolerance)
            blur = _to_fraction(FLOAT + reading.most_rounded)
            spread = max(half, _to_fraction(FLOAT)) + _to_fraction(reading.most_rounded)
            low[place] = value - (blur if cut else spread)
            high[place] = value + (2 * half + blur if cut else spread)
            step = self._find_step(reading, queries)
            if step:
                first, last = ceil(low[place] / step) * step, floor(high[place] / step) * step
                if first <= last:
                    low[place], high[place] = first, last
        return Means(low, high)

    def _find_step(self, reading: Reading, queries: int | None) -> Fraction | None:
        """Find the steps of a mean over so many queries that counts hits."""
        counts = reading.measure.name == "Success" or (
            reading.measure.name == "P" and reading.parameters["norm"] == "k"
        )
        if queries is None or not counts or self.program.lists.ones or reading.most_rounded:
            return None
        k = reading.measure.k if reading.measure.name == "P" else 1
        return Fraction(1, queries * (k or 1))


@dataclass(frozen=True)
class Way:
    """One way to read the columns of a row: its name, and groups of columns."""

    name: str
    groups: tuple[Group, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for ways that allow the same numbers."""
        rounded = tuple(reading.most_rounded for g in self.groups for reading in g.readings)
        return tuple((id(group.program), group.places) for group in self.groups), rounded

    def refute(
        self, cells: Cells, queries: int | None, *, cut: bool = False
    ) -> tuple[Group, Certificate] | None:
        """Find an inequality that numbers of one group break; None if there is none."""
        for group in self.groups:
            means = group.read_means(cells, queries, cut=cut)
            certificate = group.program.refute(means) if means.low else None
            if certificate is not None:
                return group, certificate
        return None

    def excludes(self, cells: Cells, queries: int | None, *, cut: bool = False) -> bool:
        """Do numbers of one group break an inequality?"""
        means = [(g.program, g.read_means(cells, queries, cut=cut)) for g in self.groups]
        return any(bounds.low and program.excludes(bounds) for program, bounds in means)

    def settles(self, places: Collection[int]) -> bool:
        """Is the value of every list known, in all columns, so that a run has what is allowed?"""
        program = self.groups[0].program
        return self.covers(places) and program.lists.is_exact and not program.unfinished

    def covers(self, places: Collection[int]) -> bool:
        """Are all columns of one group, which the program knows?"""
        return set(self.groups[0].places) == set(places)


@dataclass
class Decider:
    """Decides the rows of a table; programs are kept for the next row."""

    columns: Mapping[int, Column]
    queries: int | None
    grades: int | None
    fixed: bool
    relevant: int | None = None  # the most relevant items of a query, if that is known
    _programs: dict[Any, Any] = field(default_factory=dict)
    _ways: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def groups(self) -> list[list[int]]:
        """The columns that a program can take, by the heading above them."""
        by_group: dict[str, list[int]] = {}
        for place, column in self.columns.items():
            known = not column.of_boxes and column.kind in KINDS
            if known and (column.k or 0) <= DEEPEST:
                by_group.setdefault(column.group, []).append(place)
        return [places for places in by_group.values() if len(places) > 1]

    def decide(self, cells: Cells) -> Iterator[Decision]:
        """Decide a row, for each heading of columns."""
        for places in self.groups:
            filled = [place for place in places if place in cells]
            if 1 < len(filled) <= MOST_COLUMNS:
                yield self._decide_columns(filled, cells)

    def _decide_columns(self, places: list[int], cells: Cells) -> Decision:
        decision = self._try_ways(places, cells, self.grades)
        if decision.word in ("possible", "open") and self.grades is None:
            binary = [place for place in places if self.columns[place].kind in ("DCG", "nDCG")]
            if binary:
                strict = self._try_ways(places, cells, 1)
                if strict.refutation is None:
                    return strict
                text = "Not with judgments of 0 and 1 and the usual definition of nDCG."
                return Decision("restricted", replace(strict.refutation, possible=text))
        return decision

    def _try_ways(self, places: list[int], cells: Cells, grades: int | None) -> Decision:
        """Try every definition: a number is possible if a usual one allows it."""
        ways = self._list_plain(tuple(places), grades)
        usual = [way for way in ways if self.fixed or is_usual(way.name)]
        refuted: list[tuple[Group, Certificate]] = []
        allowed: list[Decision] = []
        for way in usual:
            broken = way.refute(cells, self.queries)
            if broken is not None:
                refuted.append(broken)
                continue
            word = "possible" if way.settles(places) else "open"
            allowed.append(decision := Decision(word, way=way, grades=grades))
            if word == "open" and way.covers(places) and any(self.find_lists(decision, cells)):
                decision = replace(decision, word="possible")
            if decision.word == "possible":
                return decision
            if len(allowed) == _MOST_SEARCHED:
                break
        if allowed:
            return allowed[0]
        if not refuted:
            return Decision("open")
        law = self._write(*min(refuted, key=lambda broken: broken[1].excess), grades)
        if not all(way.excludes(cells, self.queries, cut=True) for way in usual):
            text = "Possible if decimals were cut off, not rounded."
            return Decision("restricted", replace(law, possible=text))
        allow = [w.name for w in ways if w not in usual and not w.excludes(cells, self.queries)]
        if not self.fixed:
            allow += self._list_allowing(places, cells, law.columns, grades)
            if any(map(is_usual, allow)):
                return Decision("open")
            allow = allow or list(islice(self._list_mixed(ways, cells, grades), 1))
        possible = name_possible(allow)
        return Decision("restricted" if possible else "impossible", replace(law, possible=possible))

    def _write(self, group: Group, certificate: Certificate, grades: int | None) -> Refutation:
        names = [self.columns[place].label for place in group.places]
        columns = tuple(group.places[place] for place, _ in certificate.weights)
        readings = [group.readings[place] for place, _ in certificate.weights]
        varied = [
            str(reading.measure)
            for column, reading in zip(columns, readings, strict=True)
            if reading.measure != self.columns[column].measure
        ]
        conditions = []
        if any(reading.measure.name in ("DCG", "nDCG") for reading in readings):
            top = grades or 1
            conditions.append(f"grades up to {top}" if top > 1 else "judgments of 0 and 1")
        if self.relevant is not None:
            conditions.append(f"at most {write_count(self.relevant, 'relevant item')}")
        limits = f" with {' and '.join(conditions)}" if conditions else ""
        proof = f"it holds for every list of results{limits}, and so for every mean"
        if varied:
            proof += f" (with {' and '.join(varied)}; the other definitions allow less)"
        return Refutation(columns, certificate.write(names), proof, float(certificate.excess))

    def write_assumptions(self, decisions: Collection[Decision]) -> Iterator[str]:
        """Say what possible and open rows rest on: judgments, relevant items, and the columns."""
        taken = {
            place
            for decision in decisions
            if decision.way is not None
            for group in decision.way.groups
            for place in group.places
        }
        gained: dict[str, list[str]] = {}
        for decision in decisions:
            for group in decision.way.groups if decision.way is not None else ():
                for place, reading in zip(group.places, group.readings, strict=True):
                    levels = reading.measure.name in ("DCG", "nDCG") and list_gains(
                        reading.parameters, decision.grades
                    )
                    if levels and levels[-1] > 1:
                        columns = gained.setdefault(", ".join(map(str, (0, *levels))), [])
                        columns += {self.columns[place].name} - {*columns}
        gains = [f"{written} in {list_some(names, 8)}" for written, names in gained.items()]
        graded = any(self.columns[place].kind in ("DCG", "nDCG") for place in taken)
        top = self.grades or 1
        judged = f"whole grades from 0 to {top}" if top > 1 else "judgments of 0 and 1"
        if gains:
            judged += f" (gains {'; '.join(gains)}; other columns count grades of 1 and more)"
        elif graded and self.grades is None:
            judged += ", as no highest grade was given"
        most = self.relevant and f"at most {write_count(self.relevant, 'relevant item')}"
        assumed = [judged] if graded or top > 1 else []
        assumed.append(f"{most or 'any number of relevant items'} for each query")
        yield f"This assumes {', and '.join(assumed)}."
        left = [
            column.name
            for place, column in self.columns.items()
            if place not in taken and not column.of_boxes
        ]
        if left and taken:
            yield (
                f"It leaves out {list_some(left, 8)}, to which only the laws of two or three"
                " columns apply."
            )

    # --- lists that exist

    def find_lists(self, decision: Decision, cells: Cells) -> Iterator[tuple[GradedLists, Program]]:
        """Find lists whose means are the numbers of a row: programs that have them.

        The first one has the shortest lists, and others more relevant items and lists that go on
        beyond the largest cutoff.
        """
        if decision.way is None or len(decision.way.groups) != 1:
            return
        (group,) = decision.way.groups
        means, lists = group.read_means(cells, self.queries), group.program.lists
        endless = any(reading.measure.k is None for reading in group.readings)
        deeper = [depth for depth in _DEEPER if depth > lists.depth] if endless else []
        for depth, larger in product((lists.depth, *deeper), _LARGER):
            key = group.readings, decision.grades, depth, larger, lists.repeats, lists.ones
            if key not in self._programs:
                exact = GradedLists.make(group.readings, lists, decision.grades or 1, depth, larger)
                self._programs[key] = exact and (exact, Program(exact))
            pair: tuple[GradedLists, Program] | None = self._programs[key]
            if pair is not None and pair[1].separate(means, sorted(means.low)) is None:
                yield pair

    # --- ways to read the columns

    def _list_plain(self, places: tuple[int, ...], grades: int | None) -> list[Way]:
        """List the ways without a tool, or of the one that is told: one definition of a name."""
        key = places, grades
        if key not in self._ways:
            self._ways[key] = list(self._make_plain(places, grades))
        ways: list[Way] = self._ways[key]
        return ways

    def _make_plain(self, places: tuple[int, ...], grades: int | None) -> Iterator[Way]:
        alike: dict[Any, list[int]] = {}
        for place in places:
            readings = self.columns[place].plain
            shape = tuple((r.measure.name, r.measure.parameters, r.choices) for r in readings)
            alike.setdefault(shape, []).append(place)
        counts = [range(len(self.columns[same[0]].plain)) for same in alike.values()]
        if any(not count for count in counts):
            return
        for number, chosen in enumerate(product(*counts)):
            if number == _MOST_WAYS:
                return
            chosen_readings = {
                place: self.columns[place].plain[which]
                for which, same in zip(chosen, alike.values(), strict=True)
                for place in same
            }
            varied = dict.fromkeys(
                str(reading.measure)
                for place, reading in chosen_readings.items()
                if reading.measure != self.columns[place].measure
            )
            way = self._make_way(" and ".join(varied) or AS_NAMED, chosen_readings, grades)
            if way.groups:
                yield way

    def _make_way(self, name: str, readings: Mapping[int, Reading], grades: int | None) -> Way:
        """Put columns that count the same queries and results into groups."""
        by_choices: dict[Any, dict[int, Reading]] = {}
        for place, reading in readings.items():
            choices = tuple(pair for pair in reading.choices if pair[0] != "query_digits")
            level = float(reading.parameters.get("rel", 1.0))
            if _is_known(dict(choices)) and (grades is None or level <= grades):
                by_choices.setdefault((choices, level), {})[place] = reading
        groups = (self._make_group(same, grades) for same in by_choices.values())
        return Way(name, tuple(group for group in groups if group is not None))

    def _make_group(self, readings: Mapping[int, Reading], grades: int | None) -> Group | None:
        cutoffs = [reading.measure.k for reading in readings.values()]
        known = [k for k in cutoffs if k is not None]
        depth = max(known) if None not in cutoffs else max([*known, ENUMERATED])
        made = {
            place: (reading, measure)
            for place, reading in readings.items()
            if (measure := make_list_measure(reading, depth, grades)) is not None
        }
        if not made:
            return None
        choices = dict(next(iter(readings.values())).choices)
        measures = tuple(measure for _, measure in made.values())
        repeats = choices.get("duplicates") == "recount"
        ones = frozenset(range(len(measures)) if choices.get("no_relevant") == "one" else ())
        most = float("inf") if self.relevant is None else self.relevant
        lists = Lists(measures, depth, repeats, ones, most)
        program = self._programs.setdefault((measures, depth, repeats, ones), Program(lists))
        return Group(program, tuple(made), tuple(reading for reading, _ in made.values()))

    # --- ways of tools

    def _list_allowing(
        self, places: Sequence[int], cells: Cells, broken: tuple[int, ...], grades: int | None
    ) -> list[str]:
        """List the tools that may print these numbers: those of which nothing is refuted."""
        excluded: dict[Any, bool] = {}
        allowing = []
        for tool in dialects().values():
            alone, every = self._read_as(tool, broken), self._read_as(tool, places)
            if alone is None:
                continue  # it does not have these measures
            ways = [
                self._make_way(tool.name, readings, grades) for readings in (alone, every or {})
            ]
            key = (
                *(way.key for way in ways),
                alone == {place: (every or {}).get(place) for place in alone},
            )
            if key not in excluded:
                excluded[key] = ways[0].excludes(cells, self.queries) or (
                    every is not None and self._is_refuted(tool, every, ways[1], cells)
                )
            if not excluded[key]:
                allowing.append(tool.name)
        return allowing

    def _list_mixed(self, ways: Sequence[Way], cells: Cells, grades: int | None) -> Iterator[str]:
        """List the definitions that allow the numbers if recall or precision is of another tool."""
        for kinds, way in product(({"R"}, {"P"}, {"R", "P"}), ways):
            readings, varied = {}, []
            for group in way.groups:
                for place, reading in zip(group.places, group.readings, strict=True):
                    measure = reading.measure
                    usual, divisor = _MIXED.get(measure.name, ("", ""))
                    if measure.name in kinds and measure.k and reading.parameters["norm"] == usual:
                        measure = measure(norm=divisor)
                    readings[place] = replace(reading, measure=measure)
                    varied += [str(measure)] * (measure != self.columns[place].measure)
            if {reading.measure.name for reading in readings.values()} >= kinds:
                mixed = self._make_way(" and ".join(dict.fromkeys(varied)), readings, grades)
                if varied and not mixed.excludes(cells, self.queries):
                    yield mixed.name

    def _read_as(self, tool: Dialect, places: Collection[int]) -> dict[int, Reading] | None:
        """Read columns as a tool's, or None; as its own table only if all names are its names."""
        columns = {place: self.columns[place] for place in places}
        by_tool = [column.is_named_by(tool) for column in columns.values()]
        named = 2 if all(by_tool) else int(any(by_tool))
        readings = {place: column.read_as(tool, named)[:1] for place, column in columns.items()}
        if not all(readings.values()):
            return None
        return {place: reading for place, (reading,) in readings.items()}

    def _is_refuted(
        self, tool: Dialect, readings: Mapping[int, Reading], way: Way, cells: Cells
    ) -> bool:
        """Does the whole row break an inequality of columns that alone are read in the same way?"""
        broken = way.refute(cells, self.queries)
        if broken is None:
            return False
        group, certificate = broken
        columns = [group.places[place] for place, _ in certificate.weights]
        alone = self._read_as(tool, columns) or {}
        return all(alone.get(column) == readings[column] for column in columns)


def _is_known(choices: Mapping[str, Any]) -> bool:
    """Can a program take a tool's conventions: is every value that of some list, or 0?"""
    ones = {name for name, word in choices.items() if word == "one"}
    return (
        ones <= {"no_relevant"}
        and choices.get("ties") not in _TORN
        and choices.get("undefined", "zero") == "zero"
    )


def _to_fraction(number: float) -> Fraction:
    """Read a number as it is printed."""
    return Fraction(repr(number))
