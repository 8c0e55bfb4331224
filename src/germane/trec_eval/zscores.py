"""Standard scores: values as their distance from a mean, in standard deviations."""

from __future__ import annotations

from operator import itemgetter

from germane.errors import InputError
from germane.kernel.ids import shown_id
from germane.trec_eval import text
from germane.trec_eval.numerals import real
from germane.trec_eval.status import ZSCORES, TrecEvalError

MISSING = -1000000.0
"""What is printed where the file has no mean, or a deviation of 0 for a value that is not the mean."""

Means = dict[bytes, list[tuple[bytes, float, float]]]
"""For each query, measures in their order, a measure as often as it was given."""


def read(path: str) -> Means:
    """The mean and the standard deviation by query and measure, from lines of these four.

    Raises TrecEvalError for a file that cannot be read, and for another kind of line.
    """
    try:
        data = text.whole(path)
    except InputError as error:
        raise TrecEvalError(ZSCORES, str(error)) from None
    means: Means = {}
    for count, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        fields = line.split()
        if len(fields) != 4:
            raise TrecEvalError(
                ZSCORES,
                f"{path}:{count}: {len(fields)} fields where a line has 4 "
                f"(query measure mean deviation): {shown_id(line)}",
            )
        query, measure, mean, deviation = fields
        means.setdefault(query, []).append((measure, real(mean), real(deviation)))
    return {query: sorted(lines, key=itemgetter(0)) for query, lines in means.items()}


def standardized(means: Means, query: bytes, names: list[bytes], row: list[float]) -> list[float]:
    """A query's values as standard scores."""
    known = means.get(query, [])
    found = (_found(known, name) for name in names)
    return [
        MISSING if scale is None else _standard(value, *scale)
        for scale, value in zip(found, row, strict=True)
    ]


def _found(known: list[tuple[bytes, float, float]], name: bytes) -> tuple[float, float] | None:
    """A measure's mean and deviation: of several, those that trec_eval's search meets first."""
    start, end = 0, len(known)
    while start < end or start == end < len(known):
        at = (start + end) // 2
        measure, *scale = known[at]
        if name == measure:
            return scale[0], scale[1]
        start, end = (start, at - 1) if name < measure else (at + 1, end)
    return None


def _standard(value: float, mean: float, deviation: float) -> float:
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING
