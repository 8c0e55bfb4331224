"""Headings: the names under which measures are shown, and the definitions beside them."""

from collections.abc import Mapping, Sequence

from germane.dialects.parsing import parse
from germane.errors import InputError, NotFoundError, clip, offer
from germane.measures.measure import Measure


def name_measures(
    measures: Sequence[Measure], rename: Mapping[str, str] | None = None
) -> dict[Measure, str]:
    """Name each measure, some by other names: ``{"AP@10": "MAP"}``.

    Raises NotFoundError for a measure that is not there, and InputError where two have one name.
    """
    names = {measure: str(measure) for measure in measures}
    for given, name in (rename or {}).items():
        measure = given if isinstance(given, Measure) else parse(given)
        if measure not in names:
            raise NotFoundError(f"rename: {measure} was not evaluated.{offer(measure, measures)}")
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"rename takes a name for {measure}; got {clip(name)}")
        names[measure] = name
    for measure, name in names.items():
        other = next((m for m, n in names.items() if n == name and m != measure), None)
        if other is not None:
            raise InputError(f"rename: {measure} and {other} would both be named {clip(name)}.")
    return names


def write_definition(measure: Measure, name: str) -> str:
    """Write a measure's definition, and the measure itself where it has another name."""
    return measure.definition if name == str(measure) else f"{measure}, {measure.definition}"
