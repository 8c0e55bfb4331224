"""Names of measures as users give them: germane's own, and other tools' after their dialect.

AP@10   germane:AP@10   trec_eval:map_cut_10   an object of ir_measures
"""

import re
from functools import lru_cache

from germane.dialects import find_speakers, list_tool_names
from germane.errors import MeasureError, PolicyError, list_choices
from germane.measures.box_names import explain_of_boxes
from germane.measures.measure import (
    Measure,
    Measures,
    list_names,
    parse_own,
    split_names,
    split_tool,
    write_name,
)
from germane.measures.spelling import suggest_name


def parse(text: str | Measure) -> Measure:
    """Read one measure from its name; a Measure stays as it is.

    >>> germane.parse("MAP(norm=R)@10")
    AP(norm=R)@10

    A name of another tool is read with that tool's dialect before it:

    >>> germane.parse("trec_eval:map_cut_10")
    AP(norm=R)@10

    An object of ir_measures is read as its name there. Raises MeasureError, with the nearest name.
    """
    if isinstance(text, str):
        return _parse(text)
    if isinstance(text, Measure):
        return text
    from germane.dialects.names import parse_foreign  # imported late: few measures are objects

    return parse_foreign(text)


@lru_cache(4096)
def _parse(text: str) -> Measure:
    tool, name = split_tool(text)
    if tool in ("", "germane"):
        return parse_own(name, _suggest_elsewhere)
    if find_speakers(text):  # a name with a colon, such as MAP:top=10
        return parse_own(text, _suggest_elsewhere)
    from germane.dialects.names import parse_foreign  # imported late: few names have a dialect

    return parse_foreign(text)


def parse_any(text: str | Measure) -> Measure:
    """Read a measure as ``parse`` does; a name that only tools have is that of the first tool.

    >>> from germane.dialects.parsing import parse_any
    >>> parse_any("map_cut_10")
    AP(norm=R)@10
    """
    try:
        return parse(text)
    except (MeasureError, PolicyError):  # a tool's name may have a colon, too: MAP:top=10
        spoken = find_speakers(text) if isinstance(text, str) else {}
        if not spoken:
            raise
        return parse_own(next(iter(spoken.values())))


def parse_all(measures: Measures) -> tuple[Measure, ...]:
    """Read measures from a string of names, a measure, or several of either; repeats are dropped.

    >>> from germane.dialects.parsing import parse_all
    >>> parse_all("AP, P@5 AP")
    (AP, P@5)
    """
    if isinstance(measures, str):
        return _split(measures)
    names = list_names(measures, Measure)
    return tuple(dict.fromkeys(map(parse, names)))


def find_renamed(measures: Measures) -> dict[str, Measure]:
    """Find the names that stand for a measure of another name.

    >>> from germane.dialects.parsing import find_renamed
    >>> find_renamed("HR@10 AP@10 ndcg")
    {'HR@10': Success@10}
    """
    if isinstance(measures, str):
        return dict(_rename_all(measures))
    if isinstance(measures, Measure) or write_name(measures):
        return {}
    return {name: measure for text in measures for name, measure in find_renamed(text).items()}


@lru_cache(256)
def _rename_all(text: str) -> tuple[tuple[str, Measure], ...]:
    named = [(name, parse(name)) for name in split_names(text)]
    return tuple((name, measure) for name, measure in named if not _is_own(name, measure.name))


def _is_own(written: str, name: str) -> bool:
    return re.split(r"[(@]", written.removeprefix("germane:"))[0].casefold() == name.casefold()


@lru_cache(256)
def _split(text: str) -> tuple[Measure, ...]:
    return tuple(dict.fromkeys(parse(name) for name in split_names(text)))


def _suggest_elsewhere(text: str) -> str:
    """Suggest a tool with a measure of this name, or the name of which this one is a slip."""
    if of_boxes := explain_of_boxes(text):
        of_lists = suggest_name(text)
        if repr(text.strip()) in of_lists:
            return of_boxes
        return of_boxes + of_lists.replace("Did you mean", "Of ranked lists, did you mean")
    spoken = find_speakers(text)
    if not spoken:
        return suggest_name(text, list_tool_names())
    speakers: dict[Measure, list[str]] = {}
    for dialect, measure_name in spoken.items():
        speakers.setdefault(parse_own(measure_name), []).append(dialect)
    if len(speakers) > 1:
        meant = (f"{measure} in {names[0]}" for measure, names in speakers.items())
        return f" In other tools, it is {list_choices(meant, 'and')}. Write one of these."
    [measure] = speakers
    names = list_choices(speakers[measure][:3], "and")
    has = "has" if len(spoken) == 1 else "have"
    return f" Did you mean {str(measure)!r}? {names} {has} a measure of this name."
