"""Standard scores: values as their distance from a mean, in standard deviations."""

from __future__ import annotations

from germane.errors import InputError
from germane.sources.ids import shown_id
from germane.trec_eval import text
from germane.trec_eval.numerals import real
from germane.trec_eval.status import ZSCORES, TrecEvalError

MISSING = -1000000.0
"""What is printed where the file has no mean, or a deviation of 0 for a value that is not the mean."""

Means = dict[bytes, dict[bytes, tuple[float, float]]]


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
        means.setdefault(query, {})[measure] = real(mean), real(deviation)
    return means


def standardized(means: Means, query: bytes, names: list[bytes], row: list[float]) -> list[float]:
    """A query's values as standard scores."""
    known = means.get(query, {})
    return [
        _standard(value, *known[name]) if name in known else MISSING
        for name, value in zip(names, row, strict=True)
    ]


def _standard(value: float, mean: float, deviation: float) -> float:
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING
