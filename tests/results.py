"""Results: their values, whether two are the same to the last bit, and which measures have a value."""

from collections.abc import Iterable
from typing import Any

import numpy as np

import germane
from germane.types import Measure, Result


def values(result: Result) -> dict[str, dict[Any, float]]:
    return {name: one.per_query for name, one in result.items()}


def same(one: Result, other: Result) -> None:
    """Everything that a result says, the numbers to the last bit."""
    assert one.measures == other.measures
    assert one.counts == other.counts
    assert one.policy == other.policy
    assert one.policies == other.policies
    assert {finding.what for finding in one.findings} == {f.what for f in other.findings}
    for measure in one.measures:
        here, there = one[measure], other[measure]
        # queries that nobody judged stand at the end, in the order in which they came
        assert sorted(map(_bits, here.per_query.items())) == sorted(
            map(_bits, there.per_query.items())
        )
        for name in ("mean", "best", "worst"):
            assert _bits((name, getattr(here, name))) == _bits((name, getattr(there, name))), (
                measure
            )


def _bits(named: tuple[object, float]) -> tuple[str, bytes]:
    return str(named[0]), np.float64(named[1]).tobytes()


def outcome(evaluate: Any, *given: Any, **choices: Any) -> Result | str:
    """A result, or the kind of error where these measures and conventions do not go together."""
    try:
        got = evaluate(*given, **choices)
        result: Result = getattr(got, "result", got)
        assert [one.best for one in result.values()]
    except germane.GermaneError as error:
        return type(error).__name__
    return result


def fitting(measures: Iterable[Measure], ties: str | None) -> list[Measure]:
    """Those that may have these ties."""
    return [
        one
        for one in measures
        if (ties != "expected" or one.row.expected)
        and (ties != "grouped" or (one.row.grouped and one.k is None))
        and (ties != "middle" or one.row.middle)
    ]
