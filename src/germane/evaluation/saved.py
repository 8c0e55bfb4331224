"""Results that were written as JSON, read again."""

import json
import math
import os
from typing import Any

import numpy as np

from germane.core.policy import Policy
from germane.errors import EmptyError, FormatError, InputError, clip
from germane.evaluation.result import Counts, Result, Results
from germane.measures.averaging import MeasureResult
from germane.measures.measure import parse
from germane.output.formatting import SCHEMA

_MAKE = "germane evaluate QRELS RUN --format json --per-query -o FILE"


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read results from a file that ``germane evaluate --format json --per-query`` wrote.

    >>> import json, pathlib, tempfile
    >>> results = germane.evaluate_many({"q": ["d"]}, {"bm25": {"q": ["x", "d"]}}, "RR")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bm25.json"
    >>> _ = path.write_text(json.dumps(results.to_dict(queries=True)))
    >>> germane.read_results(path)["bm25"]["RR"].per_query
    {'q': 0.5}

    Values, counts and policy are those of the file, query ids are text. The order of ties and the
    ranks of items are not in it: ``best`` and ``worst`` are the mean. Raises InputError for a file
    that cannot be read, FormatError for one that holds something else, EmptyError for one without
    the values of single queries.
    """
    try:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise FormatError(f"{path}: not JSON ({error}). Make it with: {_MAKE}") from None
    if not isinstance(given, dict) or given.get("schema") != SCHEMA or "runs" not in given:
        raise FormatError(f"{path}: not results of schema {SCHEMA}. Make them with: {_MAKE}")
    try:
        return Results({run["name"]: _result(path, run, given["policy"]) for run in given["runs"]})
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{path}: results without {error}. Make them with: {_MAKE}") from None


def _result(path: Any, run: dict[str, Any], policy: dict[str, Any]) -> Result:
    if "queries" not in run:
        raise EmptyError(
            f"{path}: {clip(run['name'])} has no values of single queries. Make it with: {_MAKE}"
        )
    conventions = Policy(**run.get("policy", policy))
    left_out = "skip" if conventions.no_hit == "skip" else conventions.no_relevant
    queries = list(run["queries"])
    measures = {}
    for written in run["measures"]:
        name = written["measure"]
        values = [run["queries"][query].get(name) for query in queries]
        numbers = np.array([math.nan if value is None else value for value in values], float)
        measure = parse(name)
        if ("mean", "micro") in measure.parameters:
            raise InputError(
                f"{path}: {name} weighs each query by its norm, which the file does not hold; evaluate the "
                "run again."
            )
        measures[measure] = MeasureResult(
            measure,
            list(queries),
            numbers,
            left_out,
            digits=conventions.digits,
            undefined=conventions.undefined,
        )
    counts = Counts(**run["counts"])
    return Result(run["name"], measures, lambda: counts, conventions)
