"""The class Measure, a name with every parameter, and the grammar of names."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise, takewhile
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np

from germane.core.calls import parse_whole
from germane.errors import MeasureError, clip, list_choices, suggest
from germane.measures import BY_NAME, DEFINED, TABLE, Definition, Parameter
from germane.measures.box_names import explain_of_boxes, is_of_boxes
from germane.measures.definition import ALWAYS, Extremes
from germane.measures.spelling import (
    MOST_WORDS,
    is_spelled,
    list_aliases,
    respell,
    suggest_name,
    undecorate,
)

Measures: TypeAlias = "str | Measure | Iterable[str | Measure]"

_ALL = "  All of them: germane measures"
MOST = 10**12  # no list is longer, and every rank below is exact in double precision

_NAMES = {
    alias.casefold(): row.name for row in BY_NAME.values() for alias in (*row.aliases, row.name)
}
_AT_R = {"AP": "APR", "P": "Rprec", "R": "Rprec"}  # measures that stop at rank R by themselves
_WRITTEN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\((.*)\))?(?:@(.*))?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?", re.ASCII)


@dataclass(frozen=True)
class Measure:
    """A measure with all its parameters and its cutoff; two with the same ones are equal.

    >>> from germane import AP
    >>> AP(norm="R") @ 10
    AP(norm=R)@10
    >>> AP @ 10 == germane.parse("AP@10")
    True

    Calling a measure sets its parameters, and ``@`` sets its cutoff; both return a new measure.
    Raises MeasureError for parameters, values and cutoffs that the measure does not take.
    """

    _json = ""  # JSON has its text

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()
    k: int | None = None

    def __post_init__(self) -> None:
        row = BY_NAME.get(self.name) if isinstance(self.name, str) else None
        if row is None:
            raise MeasureError(
                f"unknown measure {clip(str(self.name))}.{suggest_name(str(self.name))}{_ALL}"
            )
        arguments = dict(self.parameters)
        names = {parameter.name for parameter in row.parameters}
        for name in arguments:
            if name not in names:
                takes = list_choices(p.name for p in row.parameters) if names else "no parameters"
                is_cutoff = name.casefold() in ("k", "n", "top_k", "topk", "topn", "cutoff")
                advice = _suggest_cutoff(self.name, "@", arguments[name]) if is_cutoff else ""
                raise MeasureError(
                    f"{self.name} takes {takes}; got {name}=.{advice or suggest(name, names)}"
                )
        complete = tuple(
            (parameter.name, _check_value(self.name, parameter, arguments))
            for parameter in row.parameters
        )
        object.__setattr__(self, "parameters", complete)
        object.__setattr__(self, "k", _check_cutoff(row, self.k))

    def __call__(self, *unnamed: Any, **parameters: Any) -> "Measure":
        if unnamed:
            raise MeasureError(
                f"{self.name}(…): parameters are given by name; got {clip(unnamed[0])}."
                f"{_suggest_cutoff(self.name, ' @ ', unnamed[0])}"
            )
        return Measure(self.name, tuple({**dict(self.parameters), **parameters}.items()), self.k)

    def __matmul__(self, k: int) -> "Measure":
        if k is None:
            raise MeasureError(f"{self.name}@…: a cutoff must be a positive integer; got None")
        return Measure(self.name, self.parameters, k)

    def __str__(self) -> str:
        row = self.row
        written = ",".join(
            f"{parameter.name}={_write_value(value)}"
            for parameter, (_, value) in zip(row.parameters, self.parameters, strict=True)
            if parameter.written or value != parameter.default
        )
        cutoff = "" if self.k is None else f"@{self.k}"
        return self.name + (f"({written})" if written else "") + cutoff

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from germane.output.tables import Table

        return Table(("measure", "definition"), ((str(self), self.definition),), left=(1,)).html()

    def is_same_as(self, measure: "Measure") -> bool:
        """Do both have one formula and one mean, whatever their names?

        >>> germane.parse("AP(norm=R)").is_same_as(germane.parse("AP"))
        True
        """
        means = [dict(compared.parameters).get("mean") for compared in (self, measure)]
        return means[0] == means[1] and self.definition == measure.definition

    @property
    def row(self) -> Definition:
        """The measure's row in the table of measures."""
        return BY_NAME[self.name]

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The parameters that the measure's kernel takes: all but the mean over queries."""
        return {name: value for name, value in self.parameters if name != "mean"}

    @property
    def range(self) -> tuple[float, float] | None:
        """The lowest and the highest value of a query; None if the definition sets no limits.

        >>> germane.AP.range, germane.DCG.range
        ((0.0, 1.0), None)
        """
        return self.row.range(dict(self.parameters))

    @cached_property
    def rel(self) -> float | None:
        """The lowest grade that counts as relevant; None if the measure uses grades as they are."""
        return dict(self.parameters).get("rel")

    @cached_property
    def nonrelevant(self) -> bool:
        """Does the value depend on which items of grade 0 or below are judged?"""
        rel, gain = self.rel, dict(self.parameters).get("gain")
        mapped = isinstance(gain, tuple) and any(grade <= 0 for grade, _ in gain)
        return self.row.nonrelevant or mapped or (rel is not None and rel <= 0)

    @property
    def extremes(self) -> Extremes:
        """Do ties with relevant items first, or last, give the extremes of all orders?"""
        if self.row.beyond == ALWAYS:
            return "never"
        if self.row.extremes is not None:
            return self.row.extremes(self.k, self.arguments)
        gain = self.arguments.get("gain")
        return "never" if isinstance(gain, tuple) and not _grows(gain) else "always"

    @property
    def definition(self) -> str:
        """The formula with the values of the parameters.

        >>> germane.parse("AP@10").definition
        'Σ P@i·rel(i), i ≤ 10, ÷ min(R,10)'
        """
        parameters = dict(self.parameters)
        text = self.row.write_formula(self.k, parameters)
        if parameters.get("rel", 1) != 1:
            text += f"; relevant: grade ≥ {_write_value(parameters['rel'])}"
        if parameters.get("least"):
            text += f"; a grade below {_write_value(parameters['least'])} gains nothing"
        if parameters.get("gain") not in (None, "binary", "linear", "exp"):
            text += f"; gain: {_write_value(parameters['gain'])}"
        if self.row.aggregate == "sum":
            text += "; summed over queries"
        if parameters.get("mean") == "micro" and self.row in TABLE:
            text += f"; {self.row.write_weight(self.k, parameters)}"
        if parameters.get("mean") == "median":
            text += "; median over queries"
        if parameters.get("mean") == "geometric":
            text += "; geometric mean over queries, values below 0.00001 taken as 0.00001"
        return text

    @property
    def explanation(self) -> str:
        """The full definition: formula, parameters, conventions, where it is undefined, example."""
        row = self.row
        lines = [f"{self} — {row.title}", "", *_wrap_entry("Formula", self.definition)]
        if row in TABLE:
            lines += _wrap_entry("", f"{NOTATION}.")
        for parameter, (_, value) in zip(row.parameters, self.parameters, strict=True):
            label = "Parameters" if parameter is row.parameters[0] else ""
            takes = f"{parameter.says}; takes {parameter.describe_values()}"
            lines += _wrap_entry(label, f"{parameter.name}={_write_value(value)}: {takes}")
        lines += _wrap_entry("Cutoff", "@k, optional" if row.cutoff else "none")
        lines += _wrap_entry("Conventions", f"{describe_direction(row)} {row.conventions}".strip())
        lines += _wrap_entry("Ties", describe_ties(row) if row in TABLE else OF_LISTS)
        lines += _wrap_entry("Undefined", row.undefined)
        lines += [f"{'Example':<12} >>> {row.example}", " " * 13 + "True"]
        lines += _wrap_entry("Aliases", ", ".join((*row.aliases, *list_aliases(row.name))))
        lines += _wrap_entry("Cite", row.cite)
        return "\n".join(lines) + "\n"

    def write_parameters(self) -> dict[str, str]:
        """Write all parameters, including those that have their defaults."""
        return {name: _write_value(value) for name, value in self.parameters}


def _grows(gains: tuple[tuple[float, float], ...]) -> bool:
    """Does the gain grow with the grade, and is it 0 for grades below 0, as for unjudged items?"""
    growing = [gain for grade, gain in gains if grade >= 0]
    return growing == sorted(growing) and not any(gain for grade, gain in gains if grade < 0)


def _wrap_entry(label: str, text: str) -> list[str]:
    from textwrap import wrap

    return wrap(
        text, 96, initial_indent=f"{label:<13}", subsequent_indent=" " * 13, break_on_hyphens=False
    )


NOTATION = (
    "i: the rank, from 1; rel(i): 1 if the item at rank i is relevant, else 0; P@i: the share of"
    " the first i items that are relevant; R@i: the share"
    " of the relevant items that are among the first i; grade: the grade of"
    " the item at rank i, or 0 if it is negative or if there is no item; R:"
    " the number of relevant items that exist; N: the number of items"
    " retrieved. Whatever follows a comma and ÷ divides everything before"
    " it. An empty sum, an empty maximum and x ÷ 0 are 0"
)


def describe_direction(row: Definition) -> str:
    """Say if low values are good, and what a query has that the run lacks; "" otherwise."""
    if row.better != "low":
        return ""
    worst = Measure(row.name).range
    if worst is None:
        return (
            "Low values are good. There is no worst value, so comparisons refuse"
            " runs in which queries are missing."
        )
    return (
        "Low values are good. A query that is missing from the run gets the worst value,"
        f" {worst[1]:g}."
    )


OF_LISTS = "ties=trec or ties=given decides which items are within the cutoff."


def describe_ties(row: Definition) -> str:
    """Describe how a measure treats equal scores."""
    text = (
        "ties=expected gives the exact mean over all orders."
        if row.expected
        else "ties=expected is an error, because the mean over all orders has no closed form here."
    )
    if row.grouped:
        text += " ties=grouped works without a cutoff."
    beyond = row.beyond
    if (
        not beyond
        and row.extremes is None
        and any(parameter.grades for parameter in row.parameters)
    ):
        beyond = "with gains that do not grow with the grade"
    if beyond:
        where = "" if beyond == ALWAYS else f"{beyond}, "
        text += (
            " ties=best and ties=worst put relevant items first or last in each tie;"
            f" {where}other orders can have a higher or a lower value."
        )
    return text


def list_defined() -> tuple[int, ...]:
    """List the users' own measures, with which the meaning of a text changes."""
    return tuple(map(id, DEFINED.values()))


def parse_own(text: str, advise: Callable[[str], str] = suggest_name) -> Measure:
    """Read one of germane's own names, or a user's. Raises MeasureError, with the nearest name.

    ``advise`` writes what to do about a name that is unknown.

    >>> from germane.measures.measure import parse_own
    >>> parse_own("map@10")
    AP@10
    """
    return DEFINED.get(text.strip()) or _parse_own(text, advise)


@lru_cache(4096)
def _parse_own(text: str, advise: Callable[[str], str]) -> Measure:
    written = _WRITTEN.fullmatch(text.strip())
    is_session_dcg = written is not None and written[1] == "sDCG"  # SDCG is Scaled DCG
    if written is None or written[1].casefold() not in _NAMES or is_session_dcg:
        respelled = respell(text)
        if respelled is None:
            raise make_unknown_error(text, advise)
        try:
            return parse_own(respelled)
        except MeasureError as error:
            raise MeasureError(f"{clip(text)}: {error}") from None
    name, inside, cutoff = written.groups()
    name = _NAMES[name.casefold()]
    parameters = _parse_parameters(name, inside, cutoff)
    if parameters.keys() - {"depth"} and is_of_boxes(text):
        raise make_unknown_error(text, advise)
    if cutoff in ("R", "r") and name in _AT_R:
        return Measure(_AT_R[name], tuple(parameters.items()))
    k = None if cutoff is None else _parse_cutoff(name, text, cutoff)
    return Measure(name, tuple(parameters.items()), k)


def is_own(text: str) -> bool:
    """Is this a name in germane's own form, with one of its names or aliases?"""
    if text in DEFINED:
        return True
    written = _WRITTEN.fullmatch(text)
    return written is not None and written[1].casefold() in _NAMES


def make_unknown_error(text: str, advise: Callable[[str], str] = suggest_name) -> MeasureError:
    """Make the error for a name that is none."""
    words = text.split()
    if len(words) > 1 and all(map(is_own, words)):
        return MeasureError(f"{clip(text)} are {len(words)} measures, and one is taken here.")
    near = advise(text)
    near = near or _suggest_separated(text) or _suggest_undecorated(text)
    if not near and not _WRITTEN.fullmatch(text.strip()):
        return MeasureError(
            f"{clip(text)} is not a measure's name; they look like AP, AP@10 or AP(norm=R)@10."
        )
    return MeasureError(f"unknown measure {clip(text)}.{near}{_ALL}")


def _suggest_separated(text: str) -> str:
    """Suggest commas between the names of several measures."""
    names = [name.strip() for name in re.split(r"[;/|&+]|\band\b", text)]
    several = len(names) > 1 and all(map(is_own, names))
    return f" Several measures are separated by commas: {', '.join(names)!r}" if several else ""


def _suggest_undecorated(text: str) -> str:
    """Suggest a name without the marks of a table around it."""
    plain = undecorate(text)
    known = plain is not None and (is_own(plain) or is_spelled(plain))
    return f" Did you mean {plain!r}?" if known else ""


def _parse_parameters(name: str, inside: str | None, cutoff: str | None) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    if inside is None:
        return parameters
    for part in inside.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            suggested = "" if cutoff else _suggest_cutoff(name, "@", part.strip())
            raise MeasureError(
                f"{name}({clip(inside)[1:-1]}): parameters are written name=value; got"
                f" {clip(part)}.{suggested}"
            )
        if key in parameters:
            raise MeasureError(f"{name}(…) is given {key} twice.")
        parameters[key] = float(value) if _NUMBER.fullmatch(value) else value
    return parameters


def _parse_cutoff(name: str, text: str, cutoff: str) -> int:
    if cutoff.casefold() == "k":
        raise MeasureError(f"{clip(text)} needs a number as its cutoff, as in '{name}@10'.")
    cutoff = re.sub(r"^k=", "", cutoff, flags=re.IGNORECASE)
    if not re.fullmatch(r"[0-9]{1,40}", cutoff):
        advice = _advise_on_cutoff(text, name, cutoff)
        if not advice and is_of_boxes(text):
            advice = f".{explain_of_boxes(text)}"
        raise MeasureError(
            f"measure {clip(text)}: a cutoff must be a positive integer, as in @10; "
            f"got {clip('@' + cutoff)}{advice}"
        )
    return int(cutoff)


def _advise_on_cutoff(text: str, name: str, cutoff: str) -> str:
    """Say how a cutoff that is no number is written: all results, several cutoffs, 1k, 10 ↑."""
    measure = text.partition("@")[0].strip()
    if name == "IPrec" and _NUMBER.fullmatch(cutoff) and 0 <= float(cutoff) <= 1:
        return f". Did you mean 'IPrec(recall={cutoff})'?"
    if cutoff.casefold() in ("all", "inf", "infinity", "none", "full", "max"):
        return f". Without a cutoff, all results count: {measure!r}"
    if thousands := re.fullmatch(r"(\d{1,3})(?:k|,000)", cutoff, flags=re.IGNORECASE):
        return f". Did you mean '{measure}@{thousands[1]}000'?"
    if re.fullmatch(r"[\[({]?\d+(?:[,;/|\s]+\d+)+[\])}]?", cutoff):
        names = " ".join(f"{measure}@{number}" for number in re.findall(r"\d+", cutoff))
        return f". Each cutoff is a measure of its own: {clip(names, 200)}"
    if several := _suggest_separated(text):
        return f".{several}"
    bare = f"{measure}@{cutoff.strip('[](){}')}"
    plain = undecorate(f"{measure}@{cutoff}") or bare
    return f". Did you mean {plain!r}?" if re.fullmatch(r"[^@/]+@[0-9]{1,40}", plain) else ""


def _suggest_cutoff(name: str, at: str, raw: Any) -> str:
    """Suggest how to write a number in parentheses as a cutoff."""
    number = str(raw).removesuffix(".0")
    is_cutoff = number.isdecimal() and BY_NAME[name].cutoff
    return f" A cutoff is written {name}{at}{number}." if is_cutoff else ""


def _check_cutoff(row: Definition, k: Any) -> int | None:
    if k is None:
        return None
    if not row.cutoff:
        raise MeasureError(f"{row.name} takes no cutoff; got @{k}")
    cutoff = parse_whole(k)
    if cutoff is None or not 1 <= cutoff <= MOST:
        upto = "" if cutoff is None or cutoff < 1 else f" up to {MOST}"
        raise MeasureError(
            f"{row.name}@…: a cutoff must be a positive integer{upto}; got {clip(k)}"
        )
    return cutoff


def _check_value(measure: str, parameter: Parameter, raw: Mapping[str, Any]) -> Any:
    """Return the parameter's value in its canonical form, or raise MeasureError."""
    if parameter.name not in raw:
        return parameter.default
    value = raw[parameter.name]
    if isinstance(value, str) and (word := parameter.synonyms.get(value, value)) in parameter.words:
        return word
    if parameter.grades and not isinstance(value, (int, float)):
        return _parse_gain_map(measure, parameter, value)
    number = _to_number(value)
    if number is not None:
        if number in parameter.numbers:
            return int(number)
        low, high = parameter.low, parameter.high
        at_end = parameter.open_ends and number in (low, high)
        if low is not None and low <= number <= high and not at_end:
            return number + 0.0  # -0 is 0
    shown = clip(value) if number is None else _write_value(number)
    near = suggest(value, parameter.words) if isinstance(value, str) else ""
    raise MeasureError(
        f"{measure}({parameter.name}=…) takes {parameter.describe_values()}; got {shown}.{near}"
    )


def _to_number(value: Any) -> float | None:
    if isinstance(value, (bool, np.bool_, str, bytes)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _parse_gain_map(
    measure: str, parameter: Parameter, value: Any
) -> tuple[tuple[float, float], ...]:
    """Read an explicit grade→gain map from a mapping, pairs, or text such as ``1:1_2:3``."""
    wrong = MeasureError(
        f"{measure}({parameter.name}=…) takes {parameter.describe_values()}; got {clip(value)}."
        + (suggest(value, parameter.words) if isinstance(value, str) else "")
    )
    gains = value
    if isinstance(value, str):
        pairs = [tuple(piece.split(":")) for piece in value.split("_")]
        if not all(len(pair) == 2 and all(map(_NUMBER.fullmatch, pair)) for pair in pairs):
            raise wrong
        value = [(float(grade), float(gain)) for grade, gain in pairs]
    try:
        items = list(value.items() if isinstance(value, Mapping) else value)
        numbers = [(_to_number(grade), _to_number(gain)) for grade, gain in items]
    except (TypeError, ValueError):
        raise wrong from None
    if not numbers or any(grade is None or not _is_gain(gain) for grade, gain in numbers):
        raise wrong
    if len({grade for grade, _ in numbers}) < len(numbers):
        raise MeasureError(f"{measure}({parameter.name}=…) gives a grade two gains: {clip(gains)}.")
    return tuple(sorted(numbers))  # type: ignore[arg-type]


def _is_gain(gain: float | None) -> bool:
    return gain is not None and 0 <= gain <= 1e100  # sums stay finite


def _write_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "_".join(f"{_write_value(grade)}:{_write_value(gain)}" for grade, gain in value)
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


# --- Names among what a user gives as measures: texts, measures, objects of ir_measures -----------

M = TypeVar("M")


def write_name(raw: object) -> str | None:
    """Write the name of a measure that is an object of ir_measures; None for anything else."""
    for kind in type(raw).__mro__:
        if kind.__name__ == "Measure" and kind.__module__.partition(".")[0] == "ir_measures":
            return str(raw)
    return None


def is_name(raw: object) -> TypeGuard[str]:
    """Is this the name of a measure, or an object that has one and is read like it?"""
    return isinstance(raw, str) or write_name(raw) is not None


def list_names(
    measures: Any,
    kind: type[M],
    split: Callable[[str], list[str]] | None = None,
    example: str = "AP nDCG@10",
) -> list[str | M]:
    """List the names in a string, or in several, and the measures of a kind among them."""
    if isinstance(measures, str):
        return [*(split or split_names)(measures)]
    if isinstance(measures, kind):
        return [measures]
    if kind is Measure and write_name(measures) is not None:
        return [measures]
    if callable(measures):
        name = getattr(measures, "__name__", "").strip("<>") or "my_measure"
        raise MeasureError(
            f"a function is evaluated as germane.measure(function, name={name!r}, takes='grades');"
            f" got {clip(measures)}."
        )
    if isinstance(measures, (Mapping, bytes)) or not isinstance(measures, Iterable):
        raise MeasureError(
            f"measures are a string such as '{example}' or a list; got {clip(measures)}"
        )
    names = [name for raw in measures for name in list_names(raw, kind, split, example)]
    if not names:
        raise MeasureError(f"no measure was given; for instance '{example}'.")
    return names


def split_names(text: str) -> list[str]:
    """Split a string at commas and blanks outside of parentheses.

    Words of one name stay together: ``"mean reciprocal rank, top-5 accuracy nDCG@10"`` is three.
    """
    parts = re.findall(r"(?:[^,()\[\]{}]|\([^()]*\)?|\[[^\[\]]*\]?|\{[^{}]*\}?|[)\]}])+", text)
    names = [
        name
        for part in parts
        for name in _join_words(re.findall(r"(?:[^\s()]|\([^()]*\)?|\))+", part))
    ]
    if not names:
        raise MeasureError("no measure was given; for instance 'AP nDCG@10'.")
    _refuse_numbers(names)
    return names


def _refuse_numbers(names: list[str]) -> None:
    """Refuse numbers behind a name with a cutoff, as in P@5,10, and say how they are written."""
    for place, (before, number) in enumerate(pairwise(names), 1):
        measure, at, cutoff = before.partition("@")
        if not (at and number.isdecimal() and cutoff.isdecimal()):
            continue
        numbers = [cutoff, *takewhile(str.isdecimal, names[place:])]
        written = " ".join(f"{measure.strip()}@{k}" for k in numbers)
        if number == "000":
            written = f"{measure.strip()}@{cutoff}000"
        raise MeasureError(
            f"{clip(number)} is not a measure's name. Each cutoff is a measure of its own:"
            f" {written!r}"
        )


def _join_words(words: list[str]) -> list[str]:
    """Join the words of a name; those that are names by themselves stay apart."""
    are_names = [is_own(word) for word in words]
    names, start = [], 0
    while start < len(words):
        ends = range(min(len(words), start + MOST_WORDS), start + 1, -1)
        joinable_ends = (end for end in ends if not all(are_names[start:end]))
        end = next(
            (end for end in joinable_ends if is_spelled(" ".join(words[start:end]))), start + 1
        )
        name = " ".join(words[start:end])
        _refuse_top(name)
        names.append(name)
        start = end
    return names


def _refuse_top(name: str) -> None:
    """Refuse top-10 MRR among several names: it is MRR@10, or top-10 accuracy and MRR."""
    match = re.fullmatch(r"(top[-_\s]*(\d+))\s+(.+)", name, flags=re.IGNORECASE)
    if match and parse_own(name).name != "Success":
        _, k, rest = match.groups()
        raise MeasureError(
            f"{clip(name)} has two meanings: {rest}@{k} (one measure), and Success@{k} with"
            f" {rest} (two measures). Write one of them."
        )


def split_tool(text: str) -> tuple[str, str]:
    """Split a name such as ``trec_eval:map`` into the tool, or "", and its name of the measure."""
    tool, colon, name = text.strip().partition(":")
    is_range = re.fullmatch(r"[\s\d.:]+", name)  # AP50:95
    is_tool = colon and re.fullmatch(r"[\w.+-]+", tool) and not is_range
    return (tool, name.strip()) if is_tool else ("", text)
