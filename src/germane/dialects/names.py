"""Names of measures as users and tools write them, and their translation to germane's."""

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from germane.dialects import find_speakers, list_tool_names, resolve_dialect
from germane.dialects.dialect import KINDS, LONGEST, Dialect, RequestedMeasure
from germane.errors import MeasureError, PolicyError, clip, list_choices
from germane.measures.box_names import explain_of_boxes
from germane.measures.measure import (
    Measure,
    Measures,
    list_defined,
    list_names,
    parse_own,
    split_names,
    split_tool,
    write_name,
)
from germane.measures.spelling import suggest_name


def resolve_measures(measures: Measures, dialect: Dialect) -> tuple[RequestedMeasure, ...]:
    """Resolve names: a measure that the tool has is the tool's, every other is germane's.

    A name is the tool's own, or germane's in germane's own spelling. Raises MeasureError for any
    other, with the nearest of the tool's; for a name of germane's by which the tool has another
    measure; and for two names of one measure under different conventions.
    """
    requested: dict[Measure, RequestedMeasure] = {}
    for name in list_names(measures, Measure, partial(_split_names, dialect)):
        request = resolve_measure(name, dialect)
        before = requested.setdefault(request.measure, request)
        if dict(before.choices) != dict(request.choices):
            raise MeasureError(
                f"{dialect.name}: {name} and a measure before it are both {request.measure}, under"
                " different conventions; evaluate them in separate calls."
            )
    return tuple(requested.values())


def find_default_names(measures: str, dialect: Dialect) -> list[str]:
    """Find the tool's names for measures of these kinds. Raises MeasureError where it has none."""
    kinds = [parse_own(name) for name in split_names(measures)]
    names = [entry.write_name(kind.k) for kind in kinds if (entry := dialect.find_same_kind(kind))]
    if not names:
        raise MeasureError(
            f"{dialect.name} has none of the default measures ({measures}); "
            f"name some of its own: {', '.join(dialect.names(10)[:5])}  "
            f"All of them: germane dialects {dialect.name}"
        )
    return names


def _split_names(dialect: Dialect, text: str) -> list[str]:
    """Split names; numbers after a comma go with the name before: map_cut.5,10 is two."""
    names: list[list[str]] = []
    for word in split_names(text):
        if names and re.fullmatch(r"-?\d+(\.\d+)?", word):
            names[-1].append(word)
        else:
            names.append([word])
    return [name for parts in names for name in _expand_numbers(parts, dialect)]


def _expand_numbers(parts: list[str], dialect: Dialect) -> list[str]:
    joined, base = ",".join(parts), re.fullmatch(r"(.*[._])[\d.]+", parts[0])
    if len(parts) == 1 or base is None or dialect.find(joined):
        return [joined]
    return [parts[0], *(base[1] + number for number in parts[1:])]


def parse_foreign(name: object) -> Measure:
    """Parse a tool's name, or an object of ir_measures, as ``evaluate`` does in its dialect.

    Raises MeasureError for an object that leaves out unjudged items, which a measure alone does not
    say.
    """
    if isinstance(name, str):
        tool, rest = split_tool(name)
        if tool in ("", "germane"):
            return parse_own(rest)
        return resolve_measure(rest, resolve_dialect(tool)).measure
    own_name = write_name(name)
    if own_name is None:
        raise MeasureError(f"a measure is a name such as 'AP@10'; got {clip(name)}")
    measure = resolve_measure(own_name, resolve_dialect("ir_measures"))
    if measure.choices.get("unjudged") == "remove":
        raise MeasureError(
            f"{clip(own_name)} of ir_measures leaves out unjudged items, which is not part of a"
            f" measure here. To evaluate it, use dialect=ir_measures, or {measure.measure} with"
            " unjudged=remove."
        )
    return measure.measure


def resolve_measure(name: str | Measure, dialect: Dialect) -> RequestedMeasure:
    """Resolve one name, as ``resolve_measures`` does."""
    if isinstance(name, Measure):
        return _request(name, dialect)
    if not isinstance(name, str):  # an object of ir_measures
        own_name = write_name(name)
        if own_name is None or dialect.tool != "ir_measures":
            return _request(parse_foreign(name), dialect)
        name = own_name
    if len(name) > LONGEST:
        raise dialect.make_unknown_error(name)
    entry = dialect.find(name)
    tool, rest = split_tool(name)
    if entry is None and tool and tool != "germane" and resolve_dialect(tool) is dialect:
        entry, name = dialect.find(rest), rest
    if entry is not None:
        return RequestedMeasure(parse_own(dialect.measure(name)), entry.read_choices(name))
    try:
        measure = parse_foreign(name)
    except MeasureError:
        raise dialect.make_unknown_error(name) from None
    if not tool and not re.fullmatch(rf"\s*{measure.name}\s*([(@].*)?", name):
        kind = dialect.find_same_kind(measure)
        has = "" if kind is None else f" Of this kind it has {kind.write_name(measure.k)!r}."
        raise dialect.make_unknown_error(
            name,
            f"{has} germane's own measure of that name is {measure}, which may be a different one.",
        )
    if not tool:
        written = set(re.findall(r"(\w+)\s*=", name))
        entry = dialect.find_entry(measure)
        if entry is None or not entry.open_parameters.keys() <= written:
            _refuse_ambiguous(name, measure, dialect, written)
    return _request(measure, dialect)


def _refuse_ambiguous(name: str, measure: Measure, dialect: Dialect, written: set[str]) -> None:
    """Refuse a name by which the tool has a measure with other defaults than germane's."""
    homonyms = [
        (called, _apply_written(theirs, measure, written))
        for called, theirs in _find_homonyms(measure, dialect, written)
    ]
    for unlike in dialect.unlike:
        if unlike.kind == measure.name and unlike.says:
            raise MeasureError(
                f"{dialect.name}: {unlike.name} of {dialect.tool} is not germane's {measure}:"
                f" {unlike.says}. germane:{measure} evaluates germane's own."
            )
        if unlike.kind == measure.name:
            homonyms.append(
                (unlike.name, _apply_written(parse_own(unlike.measure), measure, written))
            )
    if homonyms and not any(theirs.is_same_as(measure) for _, theirs in homonyms):
        called, theirs = homonyms[0]
        raise MeasureError(
            f"{dialect.name}: {name} has two meanings. {called} of {dialect.tool} is {theirs}"
            f" ({theirs.definition}); germane's own is {measure} ({measure.definition}). Write"
            f" {theirs}, or germane:{measure} for germane's own."
        )


def _find_homonyms(
    measure: Measure, dialect: Dialect, written: set[str]
) -> list[tuple[str, Measure]]:
    """Find the tool's measures of that name; if some agree on having a cutoff, only these.

    One that leaves a parameter open needs that parameter to be written.
    """
    alike: list[tuple[str, Measure]] = []
    unlike: list[tuple[str, Measure]] = []
    for entry in dialect.measuring:
        theirs = parse_own(entry.write_measure(measure.k or 1))
        if not entry.open_parameters.keys() <= written:
            continue
        if measure.name in (theirs.name, KINDS.get(theirs.name)):
            arguments = entry.find_open(measure) if theirs.name == measure.name else {}
            theirs = theirs(**arguments)
            fits = alike if entry.cutoff == (measure.k is not None) else unlike
            fits.append((entry.write_name(measure.k, arguments), theirs))
    return alike or unlike


def _apply_written(theirs: Measure, measure: Measure, written: set[str]) -> Measure:
    """Give the tool's measure the cutoff and the parameters that were written.

    If the tool's measure lacks one of these parameters, it is another measure; return germane's
    then.
    """
    parameters = {name: value for name, value in measure.parameters if name in written}
    if not parameters.keys() <= dict(theirs.parameters).keys():
        return measure
    k = measure.k if theirs.row.cutoff else None
    return Measure(theirs.name, tuple({**dict(theirs.parameters), **parameters}.items()), k)


def refuse_half_a_level(dialect: Dialect, measure: Measure, choices: Mapping[str, Any]) -> None:
    """Refuse a threshold of scores alone, where the tool's is that of relevance, too."""
    entry = dialect.find_entry(measure)
    for name in () if entry is None else entry.of_level:
        if name in choices and choices[name] != measure.rel:
            raise MeasureError(
                f"{dialect.name}: {name}={clip(choices[name])} holds for scores alone, and"
                f" relevance begins at {measure.rel:g} in {measure}. In {dialect.tool} both are one"
                f" number: write {measure(rel=choices[name])}, without {name}."
            )


def _request(measure: Measure, dialect: Dialect) -> RequestedMeasure:
    entry = dialect.find_entry(measure)
    return RequestedMeasure(
        measure, {} if entry is None else entry.fill_choices(measure.k, measure.rel)
    )


# --- Parsing --------------------------------------------------------------------------------------
#
# Names of measures as users give them: germane's own, and other tools' after their dialect.
#
# AP@10   germane:AP@10   trec_eval:map_cut_10   an object of ir_measures


def parse(text: str | Measure) -> Measure:
    """Read a measure from its name; a Measure is returned as it is.

    >>> germane.parse("MAP(norm=R)@10")
    AP(norm=R)@10

    To read a name that another tool uses, put the tool's dialect before it:

    >>> germane.parse("trec_eval:map_cut_10")
    AP(norm=R)@10

    An object of ir_measures is read by its name there. Raises MeasureError, which suggests the
    nearest name.
    """
    if isinstance(text, str):
        return _parse(text, list_defined())
    if isinstance(text, Measure):
        return text

    return parse_foreign(text)


@lru_cache(4096)
def _parse(text: str, _: tuple[int, ...]) -> Measure:
    tool, name = split_tool(text)
    if tool in ("", "germane"):
        return parse_own(name, _suggest_elsewhere)
    if find_speakers(text):  # a name with a colon, such as MAP:top=10
        return parse_own(text, _suggest_elsewhere)

    return parse_foreign(text)


def parse_any(text: str | Measure) -> Measure:
    """Read a measure as ``parse`` does; a name that only tools have is that of the first tool.

    >>> from germane.dialects.names import parse_any
    >>> parse_any("map_cut_10")
    AP(norm=R)@10
    """
    try:
        return parse(text)
    except (MeasureError, PolicyError):  # a tool's name may have a colon, too: MAP:top=10
        names_by_dialect = find_speakers(text) if isinstance(text, str) else {}
        if not names_by_dialect:
            raise
        return parse_own(next(iter(names_by_dialect.values())))


def parse_all(measures: Measures) -> tuple[Measure, ...]:
    """Read measures from a string of names, a measure, or several of either; repeats are dropped.

    >>> from germane.dialects.names import parse_all
    >>> parse_all("AP, P@5 AP")
    (AP, P@5)
    """
    if isinstance(measures, str):
        return _split(measures, list_defined())
    names = list_names(measures, Measure)
    return tuple(dict.fromkeys(map(parse, names)))


def find_renamed(measures: Measures) -> dict[str, Measure]:
    """Find the names that stand for a measure of another name.

    >>> from germane.dialects.names import find_renamed
    >>> find_renamed("HR@10 AP@10 ndcg")
    {'HR@10': Success@10}
    """
    if isinstance(measures, str):
        return dict(_rename_all(measures, list_defined()))
    if isinstance(measures, Measure) or write_name(measures):
        return {}
    return {name: measure for text in measures for name, measure in find_renamed(text).items()}


@lru_cache(256)
def _rename_all(text: str, _: tuple[int, ...]) -> tuple[tuple[str, Measure], ...]:
    named = [(name, parse(name)) for name in split_names(text)]
    return tuple((name, measure) for name, measure in named if not _is_own(name, measure.name))


def _is_own(written: str, name: str) -> bool:
    return re.split(r"[(@]", written.removeprefix("germane:"))[0].casefold() == name.casefold()


@lru_cache(256)
def _split(text: str, _: tuple[int, ...]) -> tuple[Measure, ...]:
    return tuple(dict.fromkeys(parse(name) for name in split_names(text)))


def _suggest_elsewhere(text: str) -> str:
    """Suggest a tool with a measure of this name, or the name of which this one is a slip."""
    if of_boxes := explain_of_boxes(text):
        of_lists = suggest_name(text)
        if repr(text.strip()) in of_lists:
            return of_boxes
        return of_boxes + of_lists.replace("Did you mean", "Of ranked lists, did you mean")
    names_by_dialect = find_speakers(text)
    if not names_by_dialect:
        return suggest_name(text, list_tool_names())
    speakers: dict[Measure, list[str]] = {}
    for dialect, measure_name in names_by_dialect.items():
        speakers.setdefault(parse_own(measure_name), []).append(dialect)
    if len(speakers) > 1:
        meant = (f"{measure} in {names[0]}" for measure, names in speakers.items())
        return f" In other tools, it is {list_choices(meant, 'and')}. Write one of these."
    [measure] = speakers
    names = list_choices(speakers[measure][:3], "and")
    has = "has" if len(names_by_dialect) == 1 else "have"
    return f" Did you mean {str(measure)!r}? {names} {has} a measure of this name."
