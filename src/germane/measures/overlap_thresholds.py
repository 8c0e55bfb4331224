"""Thresholds of overlap of detected boxes: as names of measures and options write them."""

from collections.abc import Iterable
from typing import Any

from germane.core.arguments import list_values, read_numbers
from germane.errors import PolicyError, clip

COCO_THRESHOLDS = (*(0.5 + i * ((0.95 - 0.5) / 9) for i in range(9)), 0.95)


def read_thresholds(raw: Any) -> tuple[float, ...]:
    """Read thresholds of overlap: numbers, or text such as ``.5``, ``.5,.75``, ``.5:.95:.05``.

    >>> from germane.measures.overlap_thresholds import read_thresholds
    >>> read_thresholds(".5:.05:.6")
    (0.5, 0.55, 0.6)

    Raises PolicyError for one that is not above 0 and at most 1.
    """
    try:
        thresholds = _list_thresholds(raw)
    except (TypeError, ValueError, ArithmeticError):  # the last: no end, or no step
        thresholds = ()
    if not thresholds or not all(0 < threshold <= 1 for threshold in thresholds):
        raise PolicyError(
            f"iou takes thresholds above 0 and at most 1, such as .5 or .5:.95:.05; got {clip(raw)}"
        )
    return thresholds


def _list_thresholds(given: Any) -> tuple[float, ...]:
    if isinstance(given, str):
        if ":" not in given:
            return read_numbers(given.split(","))
        low, *ends = read_numbers((given + ":.05" if given.count(":") == 1 else given).split(":"))
        step, high = sorted(ends)  # .5:.95:.05, or .5:.05:.95 as on COCO's site
        if (count := round((high - low) / step)) < 0 or count > 1000 or (not count and high > low):
            return ()
        # as numpy.linspace spaces them, from low to high
        return (*(low + i * ((high - low) / count) for i in range(count)), high)
    given = list_values(given)
    return read_numbers(given if isinstance(given, Iterable) else [given])


def write_thresholds(thresholds: tuple[float, ...]) -> str:
    """Write thresholds as names of measures do, so that they are read as they were: ``.5:.95``.

    >>> from germane.measures.overlap_thresholds import write_thresholds
    >>> write_thresholds((0.5, 0.75)), write_thresholds((0.5, 0.6, 0.7))
    ('.5+.75', '.5:.7:.1')
    """
    listed = "+".join(map(_write_threshold, thresholds))
    if len(thresholds) < 3:
        return listed
    step = f"{(thresholds[-1] - thresholds[0]) / (len(thresholds) - 1):.6g}".removeprefix("0")
    ends = f"{_write_threshold(thresholds[0])}:{_write_threshold(thresholds[-1])}"
    for text in (ends, f"{ends}:{step}"):
        try:
            if read_thresholds(text) == thresholds:
                return text
        except PolicyError:
            continue
    return listed


def _write_threshold(one: float) -> str:
    short = f"{one:.6g}"
    return (short if float(short) == one else repr(one)).removeprefix("0")
