"""Storage: results that were written as JSON, and checkpoints of long evaluations."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar, Unpack

import numpy as np

from germane._version import VERSION
from germane.core.finding import Finding
from germane.core.progress import Progress, make_progress
from germane.core.retrieved import COUNTED, Retrieved
from germane.errors import DuplicateError, EmptyError, FormatError, InputError, clip
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.evaluator import Evaluator, Read, Reduced, Way, find_way
from germane.evaluation.fingerprint import KeptFingerprint, RunFingerprint
from germane.evaluation.opening import open_data
from germane.evaluation.result import Counts, Result, Results
from germane.measures.definition import refuse_lists
from germane.measures.measure import Measures
from germane.output import writing
from germane.readers import CANDIDATES
from germane.readers.files import column_files
from germane.readers.files.formats import check_path
from germane.readers.files.json_files import make_object, read_json
from germane.records.record import MAKE, RecordedRun, average, find_weights_outside, read_runs

T = TypeVar("T")


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
    return _make_results(path, read_document(path))


def find_results(path: str | os.PathLike[str]) -> Results | None:
    """Read results from a file; None for a run. Raises what ``read_results`` raises."""
    document = read_document(path)
    is_run = isinstance(document, dict) and document and "schema" not in document
    if is_run and all(isinstance(part, (dict, list)) for part in document.values()):
        return None
    return _make_results(path, document)


def read_document(path: str | os.PathLike[str]) -> Any:
    """Read the JSON of a record, or of results. Raises FormatError for other text."""
    check_path(path)
    try:
        return read_json(path, object_pairs_hook=make_object)
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
            f"{where}: {clip(run.name)} has no values of single queries. Make it with: {MAKE}"
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


_ARRAYS = ("judgment", "owner", "rank", "tied_from", "tied_to", "retrieved", "answered")
_EVALUATION = "evaluation.json"


def evaluate_kept(
    qrels: str,
    run: str,
    measures: Measures = DEFAULT,
    *,
    checkpoint: str,
    name: str,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Result:
    """Evaluate a run file, and keep what each batch of its queries retrieved in a folder.

    Where the folder has batches of the same evaluation, it goes on after them. Raises what
    ``evaluate`` raises, and InputError for a folder of another evaluation or a run whose queries
    are scattered.
    """
    progress = make_progress(progress)
    for choice in (*CANDIDATES, "subtopic_weights"):
        if policy.get(choice) is not None:
            raise InputError(f"{choice}= is not for a checkpoint; evaluate without one.")
    folder = Path(checkpoint)
    claim: dict[str, Any] = {"germane": VERSION, "measures": str(measures)}
    claim |= {word: str(choice) for word, choice in policy.items()}
    groups: Any = policy.get("collapse")
    if groups is not None:
        claim["collapse"] = _describe_state(groups)
    claim |= {"qrels": _describe_state(qrels), "run": _describe_state(run)}
    evaluator = Evaluator(qrels, measures, **policy)
    refuse_lists(evaluator.measures, "and a checkpoint keeps judged items; evaluate without one.")
    _claim(folder, claim)
    nothing_judged, conventions = open_data({"": {"": 0}}, policy).open_run(run)
    policies = evaluator.find_policies(conventions, nothing_judged)
    ways = list(dict.fromkeys(map(find_way, policies.values())))
    files, start = sorted(folder.glob("batch-*.npz")), 0
    for number, path in enumerate(files):
        if path.name != _name_file(number):
            raise InputError(
                f"{folder}: {_name_file(number)} is missing, and later ones are there. Delete this"
                " folder."
            )
        start, read = _load_batch(path, ways)
        evaluator.add(Reduced(conventions, policies, read, evaluator.terms))
    batches = nothing_judged.read_batches(start, progress, evaluator.qrels)
    for number, (end, batch) in enumerate(batches, len(files)):
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
    evaluator.run_fingerprint = RunFingerprint(nothing_judged, run, evaluator.qrels)
    return evaluator.result(name=name)


def _name_file(number: int) -> str:
    return f"batch-{number:06}.npz"


def _describe_state(path: str) -> list[Any]:
    """Describe the size and time of a file, or of the files of a folder, to detect a change."""
    if path == "-":
        raise InputError("a checkpoint needs files that can be read again; standard input cannot.")
    if not os.path.exists(path):
        raise InputError(f"{path}: there is no such file.")
    files = column_files.list_files(path) if os.path.isdir(path) else [path]
    stats = map(os.stat, files)
    return [
        [os.path.abspath(f), s.st_size, s.st_mtime_ns] for f, s in zip(files, stats, strict=True)
    ]


def _claim(folder: Path, claim: Mapping[str, Any]) -> None:
    """Note in the folder what is evaluated, or compare it with the note that is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        inside = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise InputError(f"{folder}: cannot be used for a checkpoint ({error.strerror}).") from None
    if not inside:
        writing.replace(str(folder / _EVALUATION), json.dumps(claim, indent=1).encode())
        return
    if _EVALUATION not in inside:
        raise InputError(f"{folder}: this folder is no checkpoint, and not empty.")
    try:
        before = dict(json.loads((folder / _EVALUATION).read_bytes()))
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"{folder / _EVALUATION}: this is damaged ({error}).") from None
    differ = sorted(key for key in {*before, *claim} if before.get(key) != claim.get(key))
    if differ:
        raise InputError(
            f"{folder}: this checkpoint belongs to another evaluation; it differs in"
            f" {', '.join(differ)}. Use another folder, or delete this one."
        )


def _pack_batch(end: int, read: Read) -> bytes:
    """Write a batch as the bytes of a file."""
    arrays: dict[str, Any] = {}
    notes = []
    for way, (retrieved, places) in enumerate(read.values()):
        arrays |= {f"{way} {name}": getattr(retrieved, name) for name in _ARRAYS}
        if retrieved.missed is not None:
            arrays |= {f"{way} missed {name}": getattr(retrieved.missed, name) for name in _ARRAYS}
        counts = {name: getattr(retrieved, name) for name in COUNTED}
        arrays |= {f"{way} {name}": column for name, column in counts.items() if column is not None}
        arrays[f"{way} places"] = places
        notes.append([retrieved.unknown, [asdict(finding) for finding in retrieved.findings]])
    arrays["said"] = np.frombuffer(json.dumps({"end": end, "ways": notes}).encode(), np.uint8)
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _load_batch(path: Path, ways: list[Way]) -> tuple[int, Read]:
    """Read a batch from a file. Raises InputError for one that is damaged."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            notes = json.loads(bytes(arrays["said"]))
            read: Read = {}
            pairs = zip(ways, notes["ways"], strict=True)
            for number, (way, (unknown, findings)) in enumerate(pairs):
                columns = {name: arrays[f"{number} {name}"] for name in _ARRAYS}
                missed = None
                if f"{number} missed rank" in arrays:
                    missed_columns = {name: arrays[f"{number} missed {name}"] for name in _ARRAYS}
                    missed = Retrieved(**missed_columns, unknown=[])
                found = (
                    Finding(**{**finding, "examples": tuple(finding["examples"])})
                    for finding in findings
                )
                columns |= {name: arrays.get(f"{number} {name}") for name in COUNTED}
                retrieved = Retrieved(
                    **columns, unknown=unknown, findings=tuple(found), missed=missed
                )
                read[way] = retrieved, arrays[f"{number} places"]
            return notes["end"], read
    except Exception as error:  # whatever NumPy, zip and JSON raise for a file that is not theirs
        raise InputError(f"{path}: this batch of the checkpoint is damaged ({error}).") from None
