"""Records: results stored as JSON, and records of others, checked part by part."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any, TypeVar

import numpy as np

from germane._version import VERSION
from germane.core.calls import is_number
from germane.core.policy import Policy
from germane.dialects.names import parse
from germane.errors import EmptyError, FormatError, GermaneError, InputError, clip, show_typed
from germane.evaluation.fingerprints import KeptFingerprint
from germane.evaluation.result import Counts, Result, Results
from germane.evaluation.signature_line import Signature
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure
from germane.output.documents import Document
from germane.output.tables import write_count
from germane.readers.files.json_files import Repeated, read_json

CLOSE = 1e-12
"""A smaller difference of two values is rounding."""
MAKE = "germane evaluate QRELS RUN --format json --per-query -o FILE"


def is_close(first: float, second: float) -> bool:
    """Are two values equal but for rounding? NaN equals NaN."""
    if not (math.isfinite(first) and math.isfinite(second)):
        return first == second or (math.isnan(first) and math.isnan(second))
    return abs(first - second) <= CLOSE * max(1.0, abs(first))


@dataclass(frozen=True)
class RecordedMeasure:
    """The values of a measure, and the conventions that they have."""

    policy: Policy
    mean: float
    best: float | None = None
    worst: float | None = None
    per_query: Mapping[str, float] | None = None
    """The values of queries, of which the policy may leave out some."""


@dataclass(frozen=True)
class RecordedRun:
    """A run as a record or a signature has it."""

    name: str
    policy: Policy
    measures: Mapping[Measure, RecordedMeasure]
    counts: Mapping[str, int]
    judgments: str | None = None
    run: str | None = None
    options: Mapping[str, str | None] | None = None
    """The fingerprints of options; None where the record has no fingerprint of anything."""
    digits: int | None = None
    """Decimals of the values; None for all."""
    queries: tuple[str, ...] | None = None
    metadata: str | None = None
    contradictions: tuple[str, ...] = ()
    """Parts that do not agree with others, a sentence each, with the place."""


# --- The form ---------------------------------------------------------------------------------

Test = tuple[Callable[[Any], bool], str]


def _is_finite(raw: Any) -> bool:
    return raw is None or (is_number(raw) and math.isfinite(raw))


def _is_fingerprint(raw: Any) -> bool:
    return raw is None or (isinstance(raw, str) and bool(_FINGERPRINT.fullmatch(raw)))


_FINGERPRINT = re.compile("[0-9a-f]{32}")
_TEXT: Test = (lambda raw: isinstance(raw, str), "text")
_NUMBER: Test = (_is_finite, "a finite number, or null")
_COUNT: Test = (lambda raw: type(raw) is int and raw >= 0, "a whole number from 0")
_HASH: Test = (_is_fingerprint, "32 hexadecimal digits, or null")
_WORD: Test = (lambda raw: isinstance(raw, str) or _is_finite(raw), "text, a number or null")
_POLICY = {"*": _WORD}
_MEASURE = {
    "measure": _TEXT, "mean": _NUMBER, "definition?": _TEXT, "parameters?": {"*": _TEXT},
    "best?": _NUMBER, "worst?": _NUMBER, "signature?": _TEXT, "asked_as?": [_TEXT],
    "policy?": _POLICY,
}  # fmt: skip
_RUN = {
    "name": _TEXT, "measures": [_MEASURE],
    "counts": {"judged": _COUNT, **{f"{field.name}?": _COUNT for field in fields(Counts)[1:]}},
    "fingerprints?": {f"{name}?": _HASH for name in ("judgments", "run", *Signature.OPTIONS)},
    "ir_metadata?": _TEXT, "dialect?": {"name": _TEXT}, "findings?": [{}], "policy?": _POLICY,
    "queries?": {"*": {"*": _NUMBER}},
}  # fmt: skip
_RECORD = {"policy": _POLICY, "runs": [_RUN], "germane?": _TEXT}
"""The form of docs/record.schema.json. A ``?`` marks what may be left out, ``*`` any key."""


def _check_form(raw: Any, form: Any, where: str, place: str) -> None:
    """Refuse a part of another form, a key that stands twice, and numbers that are not finite."""
    if isinstance(form, tuple):
        is_fine, text = form
        if not is_fine(raw):
            raise FormatError(f"{where}: {place} is {text}; got {show_typed(raw)}")
    elif isinstance(form, list):
        if not isinstance(raw, list):
            raise FormatError(f"{where}: {place} is a list; got {show_typed(raw)}")
        for place_in_list, part in enumerate(raw):
            _check_form(part, form[0], where, f"{place}[{place_in_list}]")
    else:
        _check_keys(raw, form, where, place)


def _check_keys(raw: Any, form: Mapping[str, Any], where: str, place: str) -> None:
    shown = place or "a record"
    if not isinstance(raw, Mapping):
        raise FormatError(f"{where}: {shown} is {{key: value}}; got {show_typed(raw)}")
    if isinstance(raw, Repeated):
        raise FormatError(f"{where}: {shown} has the key {clip(raw.key)} twice.")
    for key in form:
        if key not in raw and key[-1] not in "?*":
            raise FormatError(f"{where}: {shown} has no {clip(key)}. Make a record with: {MAKE}")
    for key, part in raw.items():
        inner = form.get(key, form.get(f"{key}?"))
        if inner is not None:
            _check_form(part, inner, where, f"{place}.{key}".lstrip("."))
        elif "*" in form:
            _check_form(part, form["*"], where, f"{place}[{clip(key)}]")


# --- The content ------------------------------------------------------------------------------


def read_runs(where: str, raw: Any) -> tuple[RecordedRun, ...]:
    """Read the runs of a record. Raises FormatError, with the place of the part that is wrong."""
    if not isinstance(raw, Mapping) or type(raw.get("schema")) is not int:
        raise FormatError(
            f"{where}: not results of schema {Document.SCHEMA}. Make them with: {MAKE}"
        )
    if raw["schema"] != Document.SCHEMA or "runs" not in raw:
        raise FormatError(
            f"{where}: not results of schema {Document.SCHEMA}. Make them with: {MAKE}"
        )
    _check_form(raw, _RECORD, where, "")
    shared = _read_policy(where, "policy", raw["policy"])
    runs: dict[str, RecordedRun] = {}
    for number, run in enumerate(raw["runs"]):
        place = f"runs[{number}]"
        if run["name"] in runs:
            raise FormatError(
                f"{where}: {place}.name: there are two runs named {clip(run['name'])}."
            )
        runs[run["name"]] = _read_run(where, place, run, shared, raw.get("germane"))
    if not all(run.measures for run in runs.values()) or not runs:
        raise FormatError(f"{where}: a record without {'measures' if runs else 'runs'}.")
    return tuple(runs.values())


@contextmanager
def _place_errors(where: str, place: str) -> Iterator[None]:
    """Say in which part of a record a name or a convention does not exist."""
    try:
        yield
    except GermaneError as error:
        raise type(error)(f"{where}: {place}: {error}") from None


def _read_policy(where: str, place: str, raw: Mapping[str, Any]) -> Policy:
    if unknown := [name for name in raw if name not in Policy.DEFAULTS]:
        raise FormatError(f"{where}: {place}: there is no convention {clip(unknown[0])}.")
    with _place_errors(where, place):
        return Policy(**raw)


def _read_run(
    where: str, place: str, run: Mapping[str, Any], shared: Policy, version: str | None
) -> RecordedRun:
    policy = shared
    if "policy" in run:
        policy = _read_policy(where, f"{place}.policy", run["policy"])
    names: dict[Measure, int] = {}
    for number, part in enumerate(run["measures"]):
        with _place_errors(where, f"{place}.measures[{number}].measure"):
            measure = parse(part["measure"])
        if measure in names:
            raise FormatError(f"{where}: {place}.measures[{number}]: {measure} occurs twice.")
        names[measure] = number
    values = _read_values(where, place, run, names)
    measures = {}
    for measure, number in names.items():
        part, at_place = run["measures"][number], f"{place}.measures[{number}].policy"
        measures[measure] = RecordedMeasure(
            _read_policy(where, at_place, part["policy"]) if "policy" in part else policy,
            _read_number(part["mean"]),
            _read_number(part["best"]) if "best" in part else None,
            _read_number(part["worst"]) if "worst" in part else None,
            None if values is None else values[measure],
        )
    data = run.get("fingerprints", {})
    options = {name: data[name] for name in Signature.OPTIONS if name in data}
    judgments, content = data.get("judgments"), data.get("run")
    recorded = RecordedRun(
        run["name"], policy, measures, run["counts"], judgments, content,
        options if options or judgments or content else None,
        queries=None if values is None else tuple(run["queries"]),
        metadata=run.get("ir_metadata"),
    )  # fmt: skip
    contradictions = tuple(
        f"{place}{text}" for text in _find_contradictions(recorded, run, names, version)
    )
    return RecordedRun(**{**vars(recorded), "contradictions": contradictions})


def _read_number(raw: float | None) -> float:
    return math.nan if raw is None else float(raw)


def _read_values(
    where: str, place: str, run: Mapping[str, Any], names: Mapping[Measure, int]
) -> dict[Measure, dict[str, float]] | None:
    """Read the values of queries, by measure; None where the record has none."""
    if "queries" not in run:
        return None
    values: dict[Measure, dict[str, float]] = {measure: {} for measure in names}
    measures: dict[str, Measure] = {}
    for query, row in run["queries"].items():
        place_of_query = f"{place}.queries[{clip(query)}]"
        for name, value in row.items():
            if name not in measures:
                with _place_errors(where, place_of_query):
                    measures[name] = parse(name)
            measure = measures[name]
            if measure not in values:
                raise FormatError(
                    f"{where}: {place_of_query}: {measure} is not among the measures of the run."
                )
            if query in values[measure]:
                raise FormatError(f"{where}: {place_of_query}: {measure} occurs twice.")
            values[measure][query] = _read_number(value)
    return values


# --- Parts against parts ----------------------------------------------------------------------


def average(run: RecordedRun, measure: Measure) -> MeasureResult:
    """Make the result of a measure from the values of queries."""
    recorded = run.measures[measure]
    values, queries = recorded.per_query or {}, run.queries or ()
    left_out = np.array([query not in values for query in queries], bool)
    missing = run.counts.get("missing", 0)
    return MeasureResult(
        measure, list(queries), np.array([values.get(q, math.nan) for q in queries], float),
        left_out if left_out.any() else None,
        digits=recorded.policy.digits, undefined=recorded.policy.undefined,
        unanswered=0 if recorded.policy.missing == "skip" else missing,
    )  # fmt: skip


def find_weights_outside(measure: Measure) -> str:
    """Say why a mean cannot be computed from the values of queries; "" where it can."""
    if measure.row.of_catalogue:
        return "is about all lists, judged or not, which the file does not contain"
    if ("mean", "micro") in measure.parameters:
        return "weights each query by its norm, which the file does not contain"
    return ""


def _find_contradictions(
    run: RecordedRun, raw: Mapping[str, Any], names: Mapping[Measure, int], version: str | None
) -> Iterator[str]:
    """Find parts that say different things, as after a change of one of them."""
    yield from _compare_counts(run)
    for measure, place_of_measure in names.items():
        part, place = raw["measures"][place_of_measure], f".measures[{place_of_measure}]"
        for text in _compare_measure(run, measure, part, version):
            yield f"{place}{text}"
        if "signature" in part:
            for text in _compare_signature(run, measure, part, raw, version):
                yield f"{place}.signature{text}"


def _compare_counts(run: RecordedRun) -> Iterator[str]:
    counts = run.counts
    judged = counts["judged"]
    policies = [measure.policy for measure in run.measures.values()]
    fewer = counts.get("missing", 0) * all(policy.missing == "skip" for policy in policies)
    most_more = counts.get("unjudged_queries", 0) * any(
        policy.unknown == "zero" for policy in policies
    )
    possible = range(judged - fewer, judged + most_more + 1)
    if run.queries is not None and len(run.queries) not in possible:
        listed = write_count(len(run.queries), "query")
        yield f".counts.judged: {judged:,}, but there are values of {listed}"
    if {"answered", "missing"} <= counts.keys():
        together = counts["answered"] + counts["missing"]
        if together != judged:
            yield (
                f".counts.judged: {judged:,}, but answered and missing queries add up to"
                f" {together:,}"
            )
    for part, total in (
        ("without_relevant", "judged"), ("tied", "judged_items_retrieved"), ("groups", "collapsed"),
    ):  # fmt: skip
        if counts.get(part, 0) > counts.get(total, math.inf):
            yield f".counts.{part}: {counts[part]:,}, which is more than {total}, {counts[total]:,}"


def _compare_measure(
    run: RecordedRun, measure: Measure, part: Mapping[str, Any], version: str | None
) -> Iterator[str]:
    """Compare a measure's definition, its mean, and the values of queries."""
    recorded = run.measures[measure]
    expected = measure.write_parameters()
    for name, word in part.get("parameters", expected).items():
        if expected.get(name) != word:
            parameters_text = (
                f"has {name}={expected[name]}" if name in expected else "has no such parameter"
            )
            yield f".parameters: {clip(name)} is {clip(word)}, but {measure} {parameters_text}"
    if part.get("definition", measure.definition) != measure.definition and version == VERSION:
        yield f".definition: this is not the definition of {measure}: {measure.definition}"
    span = measure.range if measure.row.aggregate == "mean" else None
    if span is not None:
        numbers = {"mean": recorded.mean, "best": recorded.best, "worst": recorded.worst}
        outside = [name for name, number in numbers.items() if _is_outside(number, span)]
        values = recorded.per_query or {}
        queries = [query for query, number in values.items() if _is_outside(number, span)]
        within = f"but {measure} ranges from {span[0]:g} to {span[1]:g}"
        if outside:
            yield f".{outside[0]}: {numbers[outside[0]]}, {within}"
        if queries:
            yield f": the value of query {clip(queries[0])} is {values[queries[0]]}, {within}"
    if recorded.per_query is not None and not find_weights_outside(measure):
        mean = average(run, measure).mean
        if not is_close(mean, recorded.mean):
            yield f".mean: {recorded.mean}, but the mean of the values of queries is {mean}"
    best, worst = recorded.best, recorded.worst
    has_extremes = (
        recorded.policy.knows_extremes(measure.extremes)
        and recorded.policy.ties not in Policy.UNORDERED
    )
    if best is None or worst is None or not has_extremes:
        return
    low, high = sorted((best, worst))
    if _is_outside(recorded.mean, (low, high)):
        yield (
            f".mean: {recorded.mean}, which is not between the worst and the best, {worst} and"
            f" {best}"
        )


def _is_outside(number: float | None, span: tuple[float, float]) -> bool:
    """Is a number beyond the ends, by more than rounding? NaN is not."""
    if number is None:
        return False
    slack = CLOSE * max(1.0, *map(abs, span)) if all(map(math.isfinite, span)) else CLOSE
    return number < span[0] - slack or number > span[1] + slack


def _compare_signature(
    run: RecordedRun,
    measure: Measure,
    part: Mapping[str, Any],
    raw: Mapping[str, Any],
    version: str | None,
) -> Iterator[str]:
    """Compare the signature of a mean with the parts of the record that it repeats."""
    try:
        signature = Signature.read(part["signature"])
    except GermaneError as error:
        yield f": {error}"
        return
    recorded = run.measures[measure]
    value = Signature(measure, recorded.mean, digits=signature.digits).shown
    dialect = raw.get("dialect", {}).get("name")
    hashed = raw.get("fingerprints", {})
    options = {name: Signature.shorten(content) for name, content in (run.options or {}).items()}
    pairs: dict[str, tuple[object, object]] = {
        "the measure": (signature.measure, measure),
        "the value": (signature.shown, value),
        "queries": (signature.queries, run.counts["judged"]),
        "excluded": (signature.excluded, run.counts.get("excluded", 0)),
        "qrels": (signature.qrels, Signature.shorten(hashed.get("judgments", signature.qrels))),
        "run": (signature.run, Signature.shorten(hashed.get("run", signature.run))),
        "options": (dict(signature.options), options if hashed else dict(signature.options)),
        "germane": (signature.germane, signature.germane if version is None else version),
        "dialect": (signature.dialect, dialect),
    }  # fmt: skip
    words, recorded_words = asdict(signature.policy), asdict(recorded.policy)
    pairs |= {
        name: (words[name], recorded_words[name]) for name in words if name != "qrels_duplicates"
    }
    for name, (signed_word, recorded_word) in pairs.items():
        if signed_word != recorded_word:
            shown = [clip(str(word)) for word in (signed_word, recorded_word)]
            yield f": {name} is {shown[0]}, but {shown[1]} in the record"


def name_place(raw: Any) -> str:
    """Name the file of a record in errors."""
    return os.fspath(raw) if isinstance(raw, str | os.PathLike) else "the record"


# --- Results of a record --------------------------------------------------------------------------

T = TypeVar("T")


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read results from a file that ``germane evaluate --format json --per-query`` wrote.

    >>> import json, pathlib, tempfile
    >>> results = germane.evaluate_many({"q": ["d"]}, {"bm25": {"q": ["x", "d"]}}, "RR")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bm25.json"
    >>> _ = path.write_text(json.dumps(results.to_dict(queries=True)))
    >>> germane.read_results(path)["bm25"]["RR"].per_query
    {'q': 0.5}

    Query ids are read as text. The file does not contain the ranks of items, so ``best`` and
    ``worst`` equal the mean. Raises InputError for a file that cannot be read, FormatError for a
    file with other content, and EmptyError for a file without the values of single queries.
    """
    return _make_results(path, read_document(path))


def find_results(path: str | os.PathLike[str]) -> Results | None:
    """Read results from a file; None for a run. Raises what ``read_results`` raises."""
    document = read_document(path)
    parts = document.values() if isinstance(document, dict) else document
    is_run = isinstance(document, (dict, list)) and document and "schema" not in document
    if is_run and any(isinstance(part, (dict, list)) for part in parts):  # of a response only some
        return None
    return _make_results(path, document)


def read_document(path: str | os.PathLike[str]) -> Any:
    """Read the JSON of a record, or of results. Raises FormatError for other text."""
    try:
        return read_json(path)
    except FormatError as error:
        raise FormatError(f"{error} Make it with: {MAKE}") from None


def _make_results(path: Any, raw: Any) -> Results:
    """Make results of a record in which nothing contradicts anything else."""
    where = os.fsdecode(path)
    runs = read_runs(where, raw)
    for run in runs:
        if run.contradictions:
            raise FormatError(
                f"{where}: {run.contradictions[0]}. The record contradicts itself. Make it again"
                f" with: {MAKE}"
            )
    return Results({run.name: _make_result(where, run) for run in runs})


def _make_result(where: str, run: RecordedRun) -> Result:
    if run.queries is None:
        raise EmptyError(
            f"{where}: {clip(run.name)} has no values of single queries. Make the file with: {MAKE}"
        )
    for measure in run.measures:
        if why := find_weights_outside(measure):
            raise InputError(f"{where}: {measure} {why}; evaluate the run again.")
    counts = Counts(**{field.name: run.counts.get(field.name, 0) for field in fields(Counts)})
    choices = {
        name: measure.policy
        for name, measure in run.measures.items()
        if measure.policy != run.policy
    }
    return Result(
        run.name,
        {measure: average(run, measure) for measure in run.measures},
        partial(_return, counts),
        run.policy,
        policies=choices,
        fingerprint=partial(_return, run.judgments),
        run_fingerprint=KeptFingerprint(run.run, run.metadata),
        option_fingerprints=partial(_return, run.options or {}),
    )


def _return(value: T) -> T:
    return value
