"""Foreign names: what is asked for, in a dialect's own names or in germane's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from germane.dialects import Dialect, named
from germane.errors import MeasureError
from germane.measure import Measure, Measures, names_in, parse, parse_all


@dataclass(frozen=True, eq=False)
class Asked:
    """A measure, and the conventions that hold for it alone."""

    measure: Measure
    choices: Mapping[str, Any]


def asked(measures: Measures, dialect: Dialect) -> tuple[Asked, ...]:
    """The measures asked for; a name that the dialect has is its own, others are germane's.

    Raises MeasureError for a name that neither has, with the nearest of the dialect's, and for two
    names that stand for one measure under different conventions.
    """
    found: dict[Measure, Asked] = {}
    for one in _each(measures):
        this = _asked(one, dialect)
        before = found.setdefault(this.measure, this)
        if dict(before.choices) != dict(this.choices):
            raise MeasureError(
                f"{dialect.name}: {one} is {this.measure} under other conventions than a measure "
                "before it; evaluate them one by one."
            )
    return tuple(found.values())


def _each(measures: Measures) -> Iterable[str | Measure]:
    if isinstance(measures, str):
        return names_in(measures)
    if isinstance(measures, Measure) or not isinstance(measures, Iterable):
        return parse_all(measures)
    return [one for several in measures for one in _each(several)]


def _asked(name: str | Measure, dialect: Dialect) -> Asked:
    if isinstance(name, Measure):
        return Asked(name, {})
    foreign = dialect.find(name)
    if foreign is None:
        before, _, rest = name.partition(":")
        if rest and "(" not in before and named(before) is dialect:
            foreign, name = dialect.find(rest), rest
    if foreign is not None:
        return Asked(parse(dialect.measure(name)), foreign.choices)
    try:
        return Asked(parse(name), {})
    except MeasureError:
        raise dialect.unknown(name) from None
