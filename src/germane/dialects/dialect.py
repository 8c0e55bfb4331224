"""The class Dialect: the conventions of another tool, stage by stage, and its names of measures."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, Literal

from germane.errors import MeasureError, clip
from germane.measures.measure import Measure, parse_own
from germane.measures.spelling import Spelled, find_nearest, respell

_NUMBER = r"\d+(?:\.\d+)?|\.\d+"


LONGEST = 1000  # letters; no name has more, and every entry of a dialect looks at all of them


@dataclass(frozen=True)
class Place:
    """A place for a value in a tool's name, such as ``{x}``: its pattern and its meaning."""

    pattern: str
    example: str
    read: Callable[[str], str] = str
    """Translates the tool's value into germane's."""
    write: Callable[[Any], str] = "{:g}".format
    """Translates germane's value into the tool's."""


def _read_gains(written: str) -> str:
    """Read ``{1:2,2:5}``; a whole grade that is not in it gains itself."""
    pairs = dict(pair.split(":") for pair in written.strip("{}").split(",") if pair)
    default_gains = {str(grade): str(grade) for grade in range(11)}
    return "_".join(f"{grade}:{gain}" for grade, gain in {**default_gains, **pairs}.items())


_PLACES = {
    "k": Place(r"[1-9]\d*", "10"),
    "x": Place(_NUMBER, "1"),
    "p": Place(_NUMBER, "0.8"),
    "base": Place(_NUMBER, "10"),
    "n": Place(rf"-?(?:{_NUMBER})", "1"),
    "m": Place(rf"-?(?:{_NUMBER})", "1"),
    "o": Place(rf"-?(?:{_NUMBER})", "1"),
    "decimals": Place(r"\d+", "8", "0.{}".format, lambda value: f"{value:g}".removeprefix("0.")),
    "square": Place(
        _NUMBER, "1", lambda x: repr(math.sqrt(float(x))), lambda value: f"{value**2:g}"
    ),
    "gains": Place(
        r"\{(?:-?\d+:\d+(?:,-?\d+:\d+)*)?\}",
        "{1:1}",
        _read_gains,
        lambda value: "{" + ",".join(f"{grade:g}:{gain:g}" for grade, gain in value) + "}",
    ),
}
_PLACE = re.compile(r"\{(\w+)\}")
_LEVEL = re.compile(rf"\brel=({_NUMBER})")


@dataclass(frozen=True)
class Entry:
    """An entry of a dialect: the tool's name of a measure, and germane's name of it.

    ``{k}`` stands for a cutoff and ``{x}`` for a number, in both names; ``_PLACES`` has all that
    can stand so. ``choices`` are conventions that the tool has for this measure alone; one may be
    the cutoff, ``{k}``, or the lowest relevant grade, ``{rel}``.
    """

    name: str
    measure: str
    choices: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    """Other spellings of the tool's own."""

    def read(self, name: str) -> str | None:
        """Translate a name of the tool into germane's; None if it is not a name of this entry."""
        values = self._match(name)
        return None if values is None else _fill(self.measure, values)

    def read_choices(self, name: str) -> dict[str, Any]:
        """Return the conventions of a measure by its name."""
        values = self._match(name) or {}
        level, k = _LEVEL.search(_fill(self.measure, values)), values.get("k")
        return self.fill_choices(int(k) if k else None, float(level[1]) if level else None)

    def fill_choices(self, k: int | None, rel: float | None) -> dict[str, Any]:
        """Return the conventions with the cutoff and the level of relevance put in.

        Those that need one that is not there are left out.
        """
        places = {"{k}": k, "{rel}": rel}
        return {
            name: places.get(word, word)
            for name, word in self.choices.items()
            if word not in places or places[word] is not None
        }

    @property
    def of_level(self) -> tuple[str, ...]:
        """The conventions that are the lowest relevant grade, and move with it."""
        return tuple(name for name, word in self.choices.items() if word == "{rel}")

    def _match(self, name: str) -> dict[str, str] | None:
        """Find the values in a name, translated to germane's, by their places."""
        for written in _normalize_twice(name):
            for spelling in (self.name, *self.also):
                if match := _compile_pattern(spelling).fullmatch(written):
                    places = _PLACE.findall(normalize_name(spelling))
                    values = zip(places, match.groups(), strict=True)
                    return {key: _PLACES[key].read(value) for key, value in values}
        return None

    def write_name(self, k: int | None = None, arguments: Mapping[str, Any] | None = None) -> str:
        """Write the tool's name with its cutoff, and with values of germane's parameters."""
        return _write(self.name, k, self._find_values(arguments or {}))

    def write_names(self, k: object, x: object) -> list[str]:
        """Write every spelling of the tool's name, with the cutoff and the number."""
        return [_write(name, k, {"x": str(x)}) for name in (self.name, *self.also)]

    def write_measure(self, k: int | None) -> str:
        """Write germane's name with its cutoff, and with examples in its other places."""
        return _write(self.measure, k, _read_examples())

    @cached_property
    def open_parameters(self) -> dict[str, str]:
        """germane's parameters whose values are a part of the tool's name, each with its place."""
        return dict(re.findall(r"(\w+)=\{(\w+)\}", self.measure))

    def _find_values(self, arguments: Mapping[str, Any]) -> dict[str, str]:
        return {
            key: _PLACES[key].write(arguments[name])
            for name, key in self.open_parameters.items()
            if name in arguments and not isinstance(arguments[name], str)
        }

    @property
    def cutoff(self) -> bool:
        """Has the measure a cutoff?"""
        return "{k}" in self.measure

    def translate(self, measure: Measure) -> Measure:
        """Translate the entry, at the cutoff and the level of the measure asked for."""
        return _apply_level(_parse_example(self.measure, measure.k), measure)

    def complete(self, measure: Measure) -> Measure:
        """Translate the entry; what its name leaves open is that of the measure asked for."""
        translated = _parse_example(self.measure, measure.k or 1)
        if translated.name == measure.name:
            translated = translated(**self.find_open(measure))
        return _apply_level(translated, measure)

    def find_open(self, measure: Measure) -> dict[str, Any]:
        """Find the measure's numbers for parameters that the entry leaves open."""
        parameters = dict(measure.parameters)
        return {
            name: parameters[name]
            for name in self.open_parameters
            if not isinstance(parameters[name], str)
        }


def _apply_level(translated: Measure, measure: Measure) -> Measure:
    if measure.rel not in (None, 1.0) and translated.rel is not None:
        translated = translated(rel=measure.rel)
    return translated


@cache
def _read_examples() -> Mapping[str, str]:
    return {key: place.read(place.example) for key, place in _PLACES.items() if key != "k"}


def normalize_name(name: str) -> str:
    """Write a name without blanks and quotes, and with its parameters in order."""
    bare = re.sub(r"[\s'\"]", "", name)
    match = re.fullmatch(r"([^()]*)\(([^()]*)\)(.*)", bare)
    if match is None:
        return bare
    parameters = re.findall(r"(?:[^,{}]|\{[^{}]*\})+", match[2])
    return f"{match[1]}({','.join(sorted(parameters))}){match[3]}"


@lru_cache(256)  # a name is compared with all entries of a dialect
def _normalize_twice(name: str) -> tuple[str, ...]:
    """Normalize a name, and drop parameters that are False, as they are by default."""
    normalized = normalize_name(name)
    less = re.sub(r"(?<=[(,])\w+=False,?", "", normalized).replace(",)", ")").replace("()", "")
    return tuple(dict.fromkeys((normalized, less)))


@cache
def _compile_pattern(spelling: str) -> re.Pattern[str]:
    pattern = re.escape(normalize_name(spelling))
    for key, place in _PLACES.items():
        pattern = pattern.replace(rf"\{{{key}\}}", f"({place.pattern})")
    return re.compile(pattern)


@lru_cache(4096)  # searches ask for all tools' measures again and again
def _parse_example(text: str, k: int | None) -> Measure:
    """Parse germane's name of an entry, with a cutoff and examples in its other places."""
    return parse_own(_write(text, k, _read_examples()))


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)


def _write(text: str, k: object, values: Mapping[str, str]) -> str:
    """Fill the places of a name: the cutoff, where there is one, and values or examples."""
    examples = {key: place.example for key, place in _PLACES.items() if key != "k"}
    return _fill(text, {**examples, **values, **({} if k is None else {"k": str(k)})})


@dataclass(frozen=True)
class Homonym:
    """A measure of the tool that has the name of one of germane's and another definition.

    It is not evaluated in the dialect.
    """

    kind: str
    """germane's name of such a measure"""
    name: str
    """the tool's name"""
    measure: str = ""
    """germane's name of the tool's formula, without a cutoff; "" where germane has none"""
    says: str = ""
    """the tool's formula in words, where germane has no name for it"""


@dataclass(frozen=True)
class Absent:
    """Names of the tool that germane cannot compute or that measure no ranked list, and why."""

    names: tuple[str, ...]
    says: str


@dataclass(frozen=True)
class Limit:
    """A limit of a dialect: the data on which germane does not reproduce the tool, and why."""

    when: str
    """tied · tied_long (in more than 15 results) · unordered (rows are not in the order of their
    scores) · no_relevant · all_relevant · all_within (all are relevant, and no more than k) · empty
    · short (than k) · shallow · single · uneven · repeated · negative · early (the last relevant
    result stands above k) · several (relevant items of a query) · missed · unknown · named (a
    query's id is no number) · level (of relevance is given)"""
    says: str
    only: tuple[str, ...] = ()
    """The names of the measures that it concerns; none: all of them."""
    order: bool = False
    """Is the order of equal scores open? Then the tool's value is between worst and best."""


@dataclass(frozen=True, eq=False)
class RequestedMeasure:
    """A measure to evaluate, and the conventions that hold for it alone."""

    measure: Measure
    choices: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class ToolMeasure(RequestedMeasure):
    """A measure of a tool: germane's name of it, its own conventions, and the tool's name."""

    entry: Entry
    name: str


KINDS = {"MeanP": "AP", "AUPR": "AP", "IAP": "AP", "APR": "AP"}
"""Measures that a tool without another average precision calls average precision."""


@dataclass(frozen=True)
class Dialect:
    """A tool's conventions: one value for each stage, and its names of measures.

    >>> germane.dialects()["trec_eval-9"].judging
    {'ties': 'trec', 'missing': 'skip', 'empty': 'missing'}
    """

    name: str
    tool: str
    version: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    matching: Mapping[str, Any] = field(default_factory=dict)
    """Conventions of object detection: how detections are matched with truths."""
    judging: Mapping[str, Any] = field(default_factory=dict)
    averaging: Mapping[str, Any] = field(default_factory=dict)
    measuring: tuple[Entry, ...] = ()
    summary: str = ""
    """The measures of object detection that the tool prints, by its own names."""
    why: str = ""
    """Where the tool differs and why, in a sentence or a few."""
    source: str = ""
    """The file and function in which the tool decides it."""
    limits: tuple[Limit, ...] = ()
    unlike: tuple[Homonym, ...] = ()
    """Measures of the tool that are not evaluated, and differ from germane's of that name."""
    absent: tuple[Absent, ...] = ()
    """Names of the tool that are not evaluated, and why."""
    sees: Literal["judgments", "list"] = "judgments"
    """The input of the tool: all judgments of a query, or labels and scores of one list. Of a list,
    it takes the relevant items that are listed for all that exist, which is ``relevant=listed``."""
    same: tuple[str, ...] = ()
    """Other tools, with their versions, that give equal answers."""
    aliases: tuple[str, ...] = ()
    """Other names of the dialect."""

    @property
    def choices(self) -> dict[str, Any]:
        """The conventions of all stages except the measures, by name."""
        return {**self.reading, **self.matching, **self.judging, **self.averaging}

    def find(self, name: str) -> Entry | None:
        """Find the entry that a name belongs to."""
        return next((entry for entry in self.measuring if entry.read(name)), None)

    def measure(self, name: str) -> str:
        """Translate a measure of the tool. Raises MeasureError, which suggests the nearest name."""
        entry = self.find(name)
        if entry is None:
            raise self.make_unknown_error(name)
        return entry.read(name) or ""

    def names(self, k: object, x: object = 1) -> list[str]:
        """Write the names of all measures, with a cutoff and a number."""
        return [name for entry in self.measuring for name in entry.write_names(k, x)]

    def find_named(self, name: str) -> ToolMeasure | None:
        """Find the tool's measure of this name, of whatever family it is; None if it has none."""
        entry = self.find(name) if 0 < len(name) <= LONGEST else None
        if entry is None:
            return None
        return ToolMeasure(parse_own(entry.read(name) or ""), entry.read_choices(name), entry, name)

    def list_definitions(self, kind: Measure, name: str = "") -> Iterator[ToolMeasure]:
        """List what the tool may mean: its measure of the name that was written, and of the kind.

        The name may belong to another family in the tool: precision@5 of implicit is a recall. What
        it has by that name comes first.
        """
        named = self.find_named(name)
        if named is not None:
            yield named
        for entry in self._list_same_kind(kind):
            if named is None or entry is not named.entry:
                measure, k = entry.translate(kind), kind.k
                choices = entry.fill_choices(k, measure.rel)
                yield ToolMeasure(measure, choices, entry, entry.write_name(k))

    def find_entry(self, measure: Measure, policy: Any = None) -> Entry | None:
        """Find the tool's entry for exactly this measure, at any level; None where it has none.

        Without a cutoff AP(norm=R) and AP are one measure. Of several entries, the one with the
        conventions of ``policy`` is preferred.
        """
        entries = self._list_equal(measure)
        if policy is None:
            # the first is nearly always found before formulas are written
            return next(entries, None)
        first = None
        for entry in entries:
            words = {**self.choices, **entry.fill_choices(measure.k, measure.rel)}
            if all(getattr(policy, name) == word for name, word in words.items()):
                return entry
            first = first or entry
        return first

    def find_same_kind(self, measure: Measure) -> Entry | None:
        """Find the tool's first measure of that name that has a cutoff, or none, as this one."""
        return next(self._list_same_kind(measure), None)

    def _list_equal(self, measure: Measure) -> Iterator[Entry]:
        """List the entries for this measure, and then those for another name of its formula."""
        fits = [entry for entry in self.measuring if not (entry.cutoff and measure.k is None)]
        for is_same in (Measure.__eq__, Measure.is_same_as):
            for entry in fits:
                if is_same(entry.complete(measure), measure):
                    yield entry

    def _list_same_kind(self, measure: Measure) -> Iterator[Entry]:
        """List the tool's measures of the same kind; measures that only have its name come last.

        If parameters are asked for, entries with these parameters come first.
        """
        fits = [
            entry
            for entry in self.measuring
            if entry.cutoff == (measure.k is not None) and not entry.open_parameters
        ]
        kinds = [_parse_example(entry.measure, measure.k) for entry in fits]
        named_fits = [
            (entry, kind.name)
            for entry, kind in zip(fits, kinds, strict=True)
            if kind.k == measure.k
        ]
        of_name = [entry for entry, name in named_fits if name == measure.name]
        if measure != _apply_level(Measure(measure.name, (), measure.k), measure):
            of_name.sort(key=lambda entry: entry.translate(measure) != measure)
        yield from of_name
        yield from (entry for entry, name in named_fits if KINDS.get(name) == measure.name)

    def make_unknown_error(self, name: str, besides: str = "") -> MeasureError:
        """Make the error for a name that the tool does not have."""
        name = name[:LONGEST]
        normalized = normalize_name(name)
        for absent in self.absent:
            if {normalized, re.split(r"[(@]", normalized)[0]} & set(absent.names):
                return MeasureError(
                    f"{self.name}: {clip(normalized)} is not evaluated: {absent.says}"
                )
        numbers = re.findall(r"\d+(?:\.\d+)?", name)
        cutoff = next((number for number in numbers if re.fullmatch(r"[1-9]\d*", number)), 10)
        near = self._suggest_name(name, self.names(cutoff, [1, *numbers][-1]))
        if numbers and self.find(re.sub(r"-?\d+(?:\.\d+)?", "10", name)):
            near += " A cutoff must be a positive integer."
        command = "boxes dialects" if self.summary else "dialects"
        return MeasureError(
            f"{self.name} has no measure {clip(name)}.{near}{besides}  "
            f"All of them: germane {command} {self.name}"
        )

    def _suggest_name(self, name: str, names: list[str]) -> str:
        """Say what germane knows of a name, or suggest the tool's name that it is a slip of."""
        try:
            respell(name)
        except MeasureError as error:
            return f" {error}"
        listed = {_squeeze(name): Spelled(name, self.measure(name)) for name in names}
        near = find_nearest(_squeeze(name), listed)
        return f" Did you mean {near.shown!r}?" if near else ""


def _squeeze(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).casefold()


# --- Shared by dialects of several families -------------------------------------------------------

LISTS = {"ties": "given", "missing": "skip"}
"""Judging: each list stands in its own order, and a query without a list is left out."""

RATINGS = (
    "it compares predicted ratings with true ones and ranks nothing; scikit-learn has"
    " root_mean_squared_error and mean_absolute_error."
)
CATALOG = (
    "it describes the recommended items (their popularity, similarity or variety), and needs other"
    " data than relevant items."
)
"""Why dialects of recommenders lack some names: reasons that several tools share."""

UNGRADED = {"grades": "ones"}
"""Reading: every relevant item has the grade 1."""

COPIES_COUNT = {"duplicates": "recount", "repeated": "once"}
"""Reading: a repeated result is a hit again, a repeated judgment is one relevant item."""

PYTREC = {"duplicates": "last", "grades": "whole", "scores": "single"}
"""Reading: dicts as pytrec_eval hands them to the code of trec_eval 9."""


def name_both(
    name: str,
    measure: str,
    cut: str = "@{k}",
    choices: Mapping[str, Any] | None = None,
    also: tuple[str, ...] = (),
) -> tuple[Entry, Entry]:
    """List a measure without and with a cutoff, for which the tool appends ``cut`` to the name.

    If the name has parameters, the one in ``cut`` becomes another of them.
    """
    return (
        Entry(name, measure, choices or {}, also),
        Entry(
            _append(name, cut),
            measure + "@{k}",
            choices or {},
            tuple(_append(spelling, cut) for spelling in also),
        ),
    )


def _append(name: str, cut: str) -> str:
    return (name + cut).replace(")(", ",")
