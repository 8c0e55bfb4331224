"""Names of columns in published tables, and the definitions that each may stand for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import Dialect
from germane.dialects.names import find_entry, list_same_kind, resolve_measure, translate_entry
from germane.dialects.parsing import parse
from germane.errors import GermaneError
from germane.measures.measure import Measure

GROUPS = " / "  # stands between the heading of several columns and the name of one

_WORDS = {
    word: measure
    for measure, words in {
        "P": "precision, prec",
        "R": "recall, rec",
        "AP": "map, average precision, mean average precision",
        "RR": "mrr, recip rank, reciprocal rank, mean reciprocal rank",
        "nDCG": "ndcg",
        "Success": "hit, hits, hit rate, hitrate, hr, success, acc, accuracy, top",
        "F": "f1, f1 score, f",
    }.items()
    for word in words.split(", ")
}
"""Words of papers that stand for a measure at a cutoff."""

_BOXES = {
    word: kind
    for kind, words in {
        "AP": "ap map map5095 ap5095", "AP50": "ap50 map50", "AP75": "ap75 map75",
        "APs": "aps apsmall mapsmall", "APm": "apm apmedium mapmedium",
        "APl": "apl aplarge maplarge", "AR1": "ar1", "AR10": "ar10", "AR100": "ar100",
    }.items()
    for word in words.split()
}  # fmt: skip
"""Words of tables of detectors, without signs, points and blanks."""

_OVERLAPS = {
    "mask": "masks?|segm(?:entation)?|seg|instance",
    "box": "b?box(?:es)?|bb|detection|det",
    "oks": "keypoints?|kpts?|kps|pose|oks",
}
"""Words that say what is matched."""

OF_QUERIES = (
    *("no_relevant", "no_hit", "missing", "empty", "unknown", "short", "constant", "all_relevant"),
    "undefined",
)
"""Conventions that change which queries count."""

OF_RESULTS = (
    *("depth", "unjudged", "ties", "own", "threshold", "nonpositive", "relevant", "duplicates"),
    "grades",
)
"""Conventions that change which results count, their order, or what they gain."""

_NO_VALUE = {"error", "error_if_all", "answer"}
"""Words under which there is no number, or the ordinary one."""


@dataclass(frozen=True)
class Reading:
    """A definition that a column may stand for: of a tool, or of germane without one."""

    measure: Measure
    choices: tuple[tuple[str, Any], ...] = ()
    tool: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the measure."""
        return dict(self.measure.parameters)

    @property
    def k(self) -> float:
        """The cutoff; infinity without one."""
        return float("inf") if self.measure.k is None else self.measure.k

    @property
    def counts_twice(self) -> bool:
        """Does an item that is listed twice count twice?"""
        return dict(self.choices).get("duplicates") == "recount"

    @property
    def most_rounded(self) -> float:
        """The most by which the tool's rounding changes the value of a query."""
        digits = dict(self.choices).get("query_digits")
        return 0.0 if digits is None else 0.5 * 10.0**-digits


@dataclass(frozen=True)
class Column:
    """A column of a published table: its name, its measure, and what it may stand for."""

    label: str
    kind: str  # the name of germane's measure, or of boxes: "AP50"
    k: int | None = None
    plain: tuple[Reading, ...] = ()
    of_boxes: bool = False
    group: str = ""  # the heading of several columns, as of a collection
    overlap: str = ""  # of boxes: what is matched, if the name says it
    asked: Measure | None = None

    @property
    def name(self) -> str:
        """The name without the heading of several columns."""
        return self.label.removeprefix(self.group + GROUPS)

    def read_as(self, tool: Dialect, named: bool) -> tuple[Reading, ...]:
        """Read the column as a tool's: its measure of that name, or its first one of that kind.

        ``named``: the columns have the tool's names. Otherwise the conventions of single measures
        are left out: somebody else's table is taken to count one set of queries in one order.
        """
        if self.asked is None:
            return ()
        found = _read_as(tool.name, self.name, self.asked)[:1]
        return (
            found
            if named
            else tuple(replace(one, choices=_choose_shared(tool, one)) for one in found)
        )

    def is_named_by(self, tool: Dialect) -> bool:
        """Is the column's name one of the tool, or are the parameters of its measure written?"""
        return _is_name_of(tool.name, self.name) or (
            "(" in self.name and self.asked is not None and _has_measure(tool.name, self.asked)
        )


def read_columns(
    labels: tuple[str, ...],
    columns: Mapping[str, str] | None = None,
    dialect: str | None = None,
    *,
    exact: bool = False,
) -> list[Column | None]:
    """Read names of columns as measures; None for a name that is none.

    ``columns`` says which measure a name stands for. If ``dialect`` is given, its names come first.
    ``exact``: the names are germane's own, and leave nothing open. Raises MeasureError for a value
    of ``columns`` that is no measure.
    """
    tool = None if dialect is None else resolve_dialect(dialect)
    given = dict(columns or {})
    boxes = any(read_box_column(label) in ("AP50", "AP75") for label in labels)
    found: list[Column | None] = []
    for label in labels:
        if boxes and label not in given:
            kind, overlap = read_box_column(label), split_overlap(label)[1]
            group = label.rpartition(GROUPS)[0]
            boxed = Column(label, kind or "", of_boxes=True, group=group, overlap=overlap)
            found.append(boxed if kind else None)
            continue
        group, name = "", given.get(label, label)
        one = _find_reading(name, tool)
        if one is None and label in given:
            one = Reading(parse(name))  # which says what is wrong with it
        if one is None and GROUPS in label:
            group, _, name = label.rpartition(GROUPS)
            one = _find_reading(name, tool)
        found.append(None if one is None else _make_column(label, group, one, tool, exact))
    return found


def _make_column(
    label: str, group: str, found: Reading, tool: Dialect | None, exact: bool
) -> Column:
    measure = found.measure
    made = Column(label, measure.name, measure.k, asked=measure, group=group)
    if exact:
        plain: tuple[Reading, ...] = (found,)
    elif tool is not None and "(" in made.name and not _is_name_of(tool.name, made.name):
        plain = (_read_exactly(tool, measure),)  # its parameters are written
    elif tool is not None:
        plain = _read_as(tool.name, made.name, measure) or (
            Reading(measure, _choose(tool.choices)),
        )
    else:
        plain = tuple(Reading(one, found.choices) for one in _vary(measure))
    return replace(made, plain=plain)


def split_overlap(label: str) -> tuple[str, str]:
    """Split a detector's column into its measure and what is matched: box, mask, oks or "".

    >>> from germane.reconciliation.column_names import split_overlap
    >>> split_overlap("mask AP50"), split_overlap("AP bbox"), split_overlap("APm")
    (('AP50', 'mask'), ('AP', 'box'), ('APm', ''))
    """
    for overlap, words in _OVERLAPS.items():
        bare = re.sub(rf"(?<![a-z])(?:{words})(?![a-z])", " ", label, flags=re.IGNORECASE)
        if bare != label and re.search("[a-z]", bare, re.IGNORECASE):
            return bare.strip(" _-/:()[],."), overlap
    return label, ""


def _strip(label: str) -> str:
    return re.sub(
        r"[^a-z0-9]",
        "",
        label.casefold().replace("0.5", "50").replace(".5", "50").replace(".75", "75"),
    )


def read_box_column(label: str) -> str | None:
    """Read a detector's column as AP, AP50, AP75, APs, APm, APl, AR1, AR10, AR100, or None."""
    return _BOXES.get(_strip(split_overlap(label.rpartition(GROUPS)[2])[0]))


def _find_reading(label: str, tool: Dialect | None) -> Reading | None:
    """Find the measure that a name of any tool or paper stands for."""
    if tool is not None:
        try:
            return Reading(resolve_measure(label, tool).measure)
        except GermaneError:
            pass
    for spelling in _respell(label):
        try:
            return Reading(parse(spelling))
        except GermaneError:
            continue
    return next(_search_dialects(label), None)


def _respell(label: str) -> Iterator[str]:
    bare = re.sub(r"\((?:%|in %|x100|mean|avg\.?)\)|%|[↑↓]", "", label).strip()
    yield bare
    yield bare.replace(" ", "")
    words = re.sub(r"(?<=[a-z])[_\s]+(?=[a-z])", " ", bare.casefold())
    found = re.fullmatch(
        r"(?:mean )?([a-z][a-z ]*?1?(?: score)?)(?:[\s_\-]*(?:@|at|cut)[\s_\-]*|[\s_\-.]+)(\d+)",
        words,
    )
    name, cutoff = (found[1], f"@{found[2]}") if found else (words, "")
    name = name.removesuffix(" at").removesuffix(" cut").strip()
    if name in _WORDS:
        yield f"{_WORDS[name]}{cutoff}"
    yield f"{name.replace(' ', '_')}{cutoff}"


def _search_dialects(label: str) -> Iterator[Reading]:
    for tool in dialects().values():
        entry = tool.find(label)
        if entry is not None and entry.measure:
            yield Reading(parse(tool.measure(label)), _choose(entry.read_choices(label)))


@cache
def _is_name_of(tool: str, label: str) -> bool:
    return resolve_dialect(tool).find(label) is not None


@cache
def _has_measure(tool: str, asked: Measure) -> bool:
    return find_entry(resolve_dialect(tool), asked) is not None


@cache
def _read_as(name: str, label: str, asked: Measure) -> tuple[Reading, ...]:
    """Read a name as the tool's own name, or as each of the tool's measures of that kind."""
    tool = resolve_dialect(name)
    entry = tool.find(label)
    if entry is not None and entry.measure:
        found = [(parse(tool.measure(label)), entry.read_choices(label))]
    elif "(" in label and find_entry(tool, asked) is not None:
        return (_read_exactly(tool, asked),)
    else:
        alike = list(list_same_kind(tool, asked))
        plain = [one for one in alike if not one.choices]  # rather than options of the tool
        ones = [one for one in alike if _keep_ones(one.choices)]  # of queries without relevant ones
        # somebody else's name: its table is taken to count one set of queries in one order, if the
        # tool has such a measure
        usual = [(translate_entry(one, asked), _keep_ones(one.choices)) for one in (*plain, *ones)]
        found = usual or [(translate_entry(one, asked), one.fill_choices(asked.k)) for one in alike]
    return tuple(
        Reading(measure, _choose({**tool.choices, **choices}), tool.name)
        for measure, choices in found
    )


def _read_exactly(tool: Dialect, asked: Measure) -> Reading:
    """Read a name with its parameters: under the tool's conventions for exactly this measure."""
    entry = find_entry(tool, asked)
    own = {} if entry is None else entry.fill_choices(asked.k)
    return Reading(asked, _choose({**tool.choices, **own}), tool.name)


def _choose_shared(tool: Dialect, reading: Reading) -> tuple[tuple[str, Any], ...]:
    own = {n: word for n, word in reading.choices if word == "one" or n == "duplicates"}
    return _choose({**tool.choices, **own})


def _keep_ones(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what gives 1 to a query without relevant items, which nobody can see in a table."""
    return {name: word for name, word in choices.items() if word == "one"}


def _choose(choices: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Choose the conventions that change which queries and results count, and each value."""
    names = (*OF_QUERIES, *OF_RESULTS, "query_digits")
    none = _NO_VALUE | ({"nan"} if choices.get("undefined", "nan") == "nan" else set())
    return tuple((n, choices[n]) for n in names if n in choices and choices[n] not in none)


def _vary(measure: Measure) -> list[Measure]:
    """List the definitions that go by the name: AP by each norm, if none is written, and MeanP."""
    if measure.name != "AP" or measure.k is None or dict(measure.parameters)["norm"] != "min":
        return [measure]
    norms = [measure(norm=word) for word in ("R", "found", "k", "possible")]
    return [measure, *norms, Measure("MeanP", (), measure.k)]
