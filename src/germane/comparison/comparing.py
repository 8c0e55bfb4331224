"""Comparing: results in, a comparison out."""

from collections.abc import Iterable, Mapping
from typing import Any

from germane.comparison.comparison import Comparison
from germane.comparison.pairing import pairs_of
from germane.comparison.sample import Runs, sampled
from germane.comparison.settings import Settings
from germane.core.seed import generator
from germane.errors import (
    AbsentError,
    DuplicateError,
    EmptyError,
    InputError,
    clip,
    some,
    suggestion,
)
from germane.evaluation.result import Result
from germane.measures.measure import Measures, parse_all


def compared(results: Any, measures: "Measures | None", settings: Settings, rng: Any) -> Comparison:
    """Compare results: of one data set, or of several, ``{name: results}``."""
    draws = generator(rng)
    datasets = _datasets(results)
    _check_systems(datasets, settings.baseline)
    first = next(iter(next(iter(datasets.values())).values()))
    asked = first.measures if measures is None else parse_all(measures)
    samples = sampled(datasets, asked)
    pairs = pairs_of(samples, settings, draws)
    return Comparison(datasets, samples, pairs, settings, int(draws.integers(2**63)))


def _datasets(given: Any) -> dict[str, Runs]:
    """Results by data set: of one, named '', or of several."""
    if isinstance(given, Result):
        raise EmptyError("one run has nothing to be compared with; give two or more.")
    if isinstance(given, Mapping) and given:
        kinds = {isinstance(value, Result) for value in given.values()}
        if kinds == {True}:
            return {"": given}
        if kinds == {False}:
            return {str(name): _runs(value) for name, value in given.items()}
    return {"": _runs(given)}


def _runs(given: Any) -> Runs:
    """Results by the name of their run."""
    if isinstance(given, Mapping) and all(isinstance(value, Result) for value in given.values()):
        return given
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        results = list(given)
        if all(isinstance(result, Result) for result in results):
            names = [result.name for result in results]
            for name in names:
                if names.count(name) > 1:
                    raise DuplicateError(
                        f"{names.count(name)} runs are named {clip(name)}; evaluate(…, name=…) "
                        "gives each a name of its own."
                    )
            return dict(zip(names, results, strict=True))
    raise InputError(
        "compare takes qrels and {name: run}, or results: what evaluate_many returns, a list of "
        f"what evaluate returns, or several data sets {{name: results}}; got {clip(given)}"
    )


def _check_systems(datasets: Mapping[str, Runs], baseline: str | None) -> None:
    """The same runs, two or more, in every data set."""
    expected = list(next(iter(datasets.values())))
    for name, runs in datasets.items():
        if set(runs) != set(expected):
            apart = some(sorted(set(runs) ^ set(expected)))
            raise AbsentError(f"{name}: {apart}: every data set must have the same runs.")
    if len(expected) < 2:
        raise EmptyError(
            f"{'one run has' if expected else 'no run:'} nothing to be compared with; give two or more."
        )
    if baseline is not None and baseline not in expected:
        near = suggestion(str(baseline), expected)
        raise AbsentError(
            f"no run {clip(baseline)} for a baseline.{near}  There are: {some(expected)}"
        )
