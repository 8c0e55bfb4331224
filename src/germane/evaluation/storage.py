"""Storage: results that were written as JSON, and checkpoints of long evaluations.

An interrupted evaluation goes on after its last finished batch.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar, Unpack

import numpy as np

from germane._version import VERSION
from germane.core.arguments import is_number
from germane.core.finding import Finding
from germane.core.policy import DEFAULTS, Policy
from germane.core.progress import Progress, make_progress
from germane.core.retrieved import Retrieved
from germane.dialects.parsing import parse
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GermaneError,
    InputError,
    clip,
    show_typed,
)
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.evaluator import Evaluator, Read, Reduced, Way, find_way
from germane.evaluation.fingerprint import OPTIONS, KeptFingerprint, RunFingerprint
from germane.evaluation.opening import open_data
from germane.evaluation.result import Counts, Result, Results
from germane.measures.averaging import MeasureResult
from germane.measures.catalogue import refuse_lists
from germane.measures.measure import Measures
from germane.output import writing
from germane.output.formatting import SCHEMA
from germane.readers import parquet_files
from germane.readers.nested_json import read_json
from germane.readers.paths import check_path

T = TypeVar("T")

_MAKE = "germane evaluate QRELS RUN --format json --per-query -o FILE"


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read results from a file that ``germane evaluate --format json --per-query`` wrote.

    >>> import json, pathlib, tempfile
    >>> results = germane.evaluate_many({"q": ["d"]}, {"bm25": {"q": ["x", "d"]}}, "RR")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bm25.json"
    >>> _ = path.write_text(json.dumps(results.to_dict(queries=True)))
    >>> germane.read_results(path)["bm25"]["RR"].per_query
    {'q': 0.5}

    Query ids are text. The file has no ranks of items, so ``best`` and ``worst`` equal the mean.
    Raises InputError for a file that cannot be read, FormatError for a file with other content, and
    EmptyError for a file without the values of single queries.
    """
    return _make_results(path, read_record(path))


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the document of a record, or of results as JSON. Raises FormatError for another one."""
    given = _read(path)
    _check_record(path, given)
    return given  # type: ignore[no-any-return]


def find_results(path: str | os.PathLike[str]) -> Results | None:
    """Read results from a file; None for a run. Raises what ``read_results`` raises."""
    given = _read(path)
    is_run = isinstance(given, dict) and given and "schema" not in given
    if is_run and all(isinstance(held, (dict, list)) for held in given.values()):
        return None
    return _make_results(path, given)


def _read(path: str | os.PathLike[str]) -> Any:
    check_path(path)
    try:
        return read_json(path)
    except FormatError as error:
        raise FormatError(f"{error} Make it with: {_MAKE}") from None


def _check_record(path: Any, given: Any) -> None:
    if not isinstance(given, dict) or given.get("schema") != SCHEMA or "runs" not in given:
        raise FormatError(f"{path}: not results of schema {SCHEMA}. Make them with: {_MAKE}")


def _make_results(path: Any, given: Any) -> Results:
    _check_record(path, given)
    with explain_parts(path, "results", f"Make them with: {_MAKE}"):
        made = {run["name"]: _make_result(path, run, given["policy"]) for run in given["runs"]}
    return Results(made)


@contextmanager
def explain_parts(where: Any, noun: str, advice: str) -> Iterator[None]:
    """Explain which part of a record is missing, or that its parts are others."""
    try:
        yield
    except GermaneError:
        raise
    except KeyError as error:
        raise FormatError(f"{where}: {noun} without {error}. {advice}") from None
    except (LookupError, TypeError, AttributeError, ValueError):
        raise FormatError(
            f"{where}: no record: its parts are not those of docs/record.schema.json."
        ) from None


def read_policy(where: Any, given: Mapping[str, Any]) -> Policy:
    """Read the conventions of a record. Raises FormatError for one that does not exist."""
    unknown = [name for name in given if name not in DEFAULTS]
    if unknown:
        raise FormatError(f"{where}: there is no convention {clip(unknown[0])}.")
    return Policy(**given)


def _make_result(path: Any, run: dict[str, Any], policy: dict[str, Any]) -> Result:
    if "queries" not in run:
        raise EmptyError(
            f"{path}: {clip(run['name'])} has no values of single queries. Make it with: {_MAKE}"
        )
    conventions = read_policy(path, run.get("policy", policy))
    queries = list(run["queries"])
    measures, policies = {}, {}
    for written in run["measures"]:
        name = written["measure"]
        numbers = np.array([_read_value(path, run, query, name) for query in queries], float)
        measure = parse(name)
        if ("mean", "micro") in measure.parameters:
            raise InputError(
                f"{path}: {name} weighs each query by its norm, which the file does not hold;"
                " evaluate the run again."
            )
        own = conventions
        if "policy" in written:
            own = policies[measure] = read_policy(path, written["policy"])
        left_out = "skip" if own.no_hit == "skip" else own.no_relevant
        digits, undefined = own.digits, own.undefined
        measures[measure] = MeasureResult(
            measure, list(queries), numbers, left_out, digits=digits, undefined=undefined
        )
    counts = Counts(**run["counts"])
    data = run.get("fingerprints", {})  # files of earlier versions have none
    return Result(
        run["name"],
        measures,
        partial(_return, counts),
        conventions,
        policies=policies,
        fingerprint=partial(_return, data.get("judgments")),
        run_fingerprint=KeptFingerprint(data.get("run"), run.get("ir_metadata")),
        option_fingerprints=partial(
            _return, {name: data[name] for name in OPTIONS if name in data}
        ),
    )


def _return(value: T) -> T:
    return value


def _read_value(path: Any, run: dict[str, Any], query: str, measure: str) -> float:
    value = run["queries"][query].get(measure)
    if value is None:
        return math.nan
    if not is_number(value):
        raise FormatError(
            f"{path}: run {clip(run['name'])}, query {clip(query)}: {measure} is a number, or null;"
            f" got {show_typed(value)}. Make the file with: {_MAKE}"
        )
    return value


_ARRAYS = ("judgment", "owner", "rank", "tied_from", "tied_to", "retrieved", "answered")
_EVALUATION = "evaluation.json"


def evaluate_kept(
    qrels: str,
    run: str,
    measures: Measures = DEFAULT,
    *,
    checkpoint: str,
    name: str,
    dialect: str | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Result:
    """Evaluate a run file, and keep what each batch of its queries retrieved in a folder.

    Where the folder has batches of the same evaluation, it goes on after them. Raises what
    ``evaluate`` raises, and InputError for a folder of another evaluation or a run whose queries
    are scattered.
    """
    progress = make_progress(progress)
    for choice in ("exclude", "only", "subtopic_weights"):
        if policy.get(choice) is not None:
            raise InputError(f"{choice}= is not for a checkpoint; evaluate without one.")
    folder = Path(checkpoint)
    made: dict[str, Any] = {"germane": VERSION, "measures": str(measures), "dialect": dialect}
    made |= {word: str(choice) for word, choice in policy.items()}
    groups: Any = policy.get("collapse")
    if groups is not None:
        made["collapse"] = _describe_state(groups)
    made |= {"qrels": _describe_state(qrels), "run": _describe_state(run)}
    evaluator = Evaluator(qrels, measures, dialect=dialect, **policy)
    refuse_lists(evaluator.measures, "and a checkpoint keeps judged items; evaluate without one.")
    _claim(folder, made)
    given, conventions = open_data({"": {"": 0}}, policy, dialect).open_run(run)
    policies = evaluator.find_policies(conventions, given)
    ways = list(dict.fromkeys(map(find_way, policies.values())))
    kept, start = sorted(folder.glob("batch-*.npz")), 0
    for number, path in enumerate(kept):
        if path.name != _name_file(number):
            raise InputError(
                f"{folder}: {_name_file(number)} is missing, and later ones are there. Delete this"
                " folder."
            )
        start, read = _load_batch(path, ways)
        evaluator.add(Reduced(conventions, policies, read, evaluator.terms))
    batches = given.read_batches(start, progress, evaluator.qrels)
    for number, (end, batch) in enumerate(batches, len(kept)):
        reduced = evaluator.reduce(batch, name=f"{run}, batch {number + 1}")
        if reduced is None:
            continue
        try:
            evaluator.add(reduced)
        except DuplicateError as error:
            raise InputError(
                f"{run}: {error} The queries of this run are scattered over the file, so that no"
                " batch is finished before its end. Sort it by query, or evaluate it without a"
                " checkpoint."
            ) from None
        writing.replace(str(folder / _name_file(number)), _pack_batch(end, reduced.read))
    evaluator.run_fingerprint = RunFingerprint(given, run, evaluator.qrels)
    return evaluator.result(name=name)


def _name_file(number: int) -> str:
    return f"batch-{number:06}.npz"


def _describe_state(path: str) -> list[Any]:
    """Describe the size and time of a file, or of the files of a folder, to detect a change."""
    if path == "-":
        raise InputError("a checkpoint needs files that can be read again; standard input cannot.")
    if not os.path.exists(path):
        raise InputError(f"{path}: there is no such file.")
    files = parquet_files.list_files(path) if os.path.isdir(path) else [path]
    stats = map(os.stat, files)
    return [
        [os.path.abspath(f), s.st_size, s.st_mtime_ns] for f, s in zip(files, stats, strict=True)
    ]


def _claim(folder: Path, made: Mapping[str, Any]) -> None:
    """Note in the folder what is evaluated, or compare it with the note that is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        inside = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise InputError(f"{folder}: cannot be used for a checkpoint ({error.strerror}).") from None
    if not inside:
        writing.replace(str(folder / _EVALUATION), json.dumps(made, indent=1).encode())
        return
    if _EVALUATION not in inside:
        raise InputError(f"{folder}: this folder is no checkpoint, and not empty.")
    try:
        before = dict(json.loads((folder / _EVALUATION).read_bytes()))
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"{folder / _EVALUATION}: this is damaged ({error}).") from None
    differ = sorted(key for key in {*before, *made} if before.get(key) != made.get(key))
    if differ:
        raise InputError(
            f"{folder}: this checkpoint belongs to another evaluation; it differs in"
            f" {', '.join(differ)}. Use another folder, or delete this one."
        )


def _pack_batch(end: int, read: Read) -> bytes:
    """Write a batch as the bytes of a file."""
    arrays: dict[str, Any] = {}
    said = []
    for way, (got, places) in enumerate(read.values()):
        arrays |= {f"{way} {name}": getattr(got, name) for name in _ARRAYS}
        if got.rows is not None:
            arrays[f"{way} rows"] = got.rows
        arrays[f"{way} places"] = places
        said.append([got.unknown, [asdict(finding) for finding in got.findings]])
    arrays["said"] = np.frombuffer(json.dumps({"end": end, "ways": said}).encode(), np.uint8)
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _load_batch(path: Path, ways: list[Way]) -> tuple[int, Read]:
    """Read a batch from a file. Raises InputError for one that is damaged."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            said = json.loads(bytes(arrays["said"]))
            read: Read = {}
            pairs = zip(ways, said["ways"], strict=True)
            for number, (way, (unknown, findings)) in enumerate(pairs):
                columns = {name: arrays[f"{number} {name}"] for name in _ARRAYS}
                found = (Finding(**{**one, "examples": tuple(one["examples"])}) for one in findings)
                rows = arrays.get(f"{number} rows")
                got = Retrieved(**columns, unknown=unknown, findings=tuple(found), rows=rows)
                read[way] = got, arrays[f"{number} places"]
            return said["end"], read
    except Exception as error:  # whatever NumPy, zip and JSON raise for a file that is not theirs
        raise InputError(f"{path}: this batch of the checkpoint is damaged ({error}).") from None
