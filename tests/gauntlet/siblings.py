"""Evaluating a sibling of a case: the numbers and what is told, or the words of the error."""

import contextlib
import warnings
from typing import Any

import pytest

import germane
from germane.errors import GermaneError, GermaneWarning

from gauntlet.case import MEASURES, numbers


def told(qrels: Any, run: Any) -> tuple[dict[str, float], str]:
    """The means, and what was warned of."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = germane.evaluate(qrels, run, MEASURES)
    assert all(issubclass(one.category, GermaneWarning) for one in heard)
    means = {str(measure): result[measure].mean for measure in result.measures}
    return means, " ".join(str(one.message) for one in heard)


def right(qrels: Any, run: Any) -> Any:
    return pytest.approx(numbers(qrels, run), rel=1e-12, abs=1e-15)


def refused(qrels: Any, run: Any, *words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of what it converts before it is refused
        with pytest.raises(GermaneError) as raised:
            germane.evaluate(qrels, run, MEASURES)
        for word in words:
            assert word in str(raised.value), raised.value
        with contextlib.suppress(GermaneError):  # which check may raise, and nothing else
            assert germane.check(qrels, run, "AP").serious
