"""Checkpoints: long evaluations that keep each batch, and go on after an interruption."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from germane._version import VERSION
from germane.core.calls import Progress, make_progress
from germane.errors import DuplicateError, InputError
from germane.evaluation.batches import Reduced
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.evaluator import Evaluator
from germane.evaluation.fingerprints import RunFingerprint
from germane.evaluation.opening import open_data
from germane.evaluation.result import Result
from germane.measures.definition import refuse_lists
from germane.measures.measure import Measures
from germane.presentation import writing
from germane.readers import CANDIDATES
from germane.readers.files import column_files

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
            raise InputError(f"{choice}= does not work with a checkpoint; evaluate without one.")
    folder = Path(checkpoint)
    claim: dict[str, Any] = {"germane": VERSION, "measures": str(measures)}
    claim |= {word: str(choice) for word, choice in policy.items()}
    groups: Any = policy.get("collapse")
    if groups is not None:
        claim["collapse"] = _describe_state(groups)
    claim |= {"qrels": _describe_state(qrels), "run": _describe_state(run)}
    evaluator = Evaluator(qrels, measures, **policy)
    refuse_lists(
        evaluator.measures, "but a checkpoint keeps only judged items; evaluate without one."
    )
    _claim(folder, claim)
    nothing_judged, conventions = open_data({"": {"": 0}}, policy).open_run(run)
    policies = evaluator.find_policies(conventions, nothing_judged)
    files, start = sorted(folder.glob("batch-*.npz")), 0
    for number, path in enumerate(files):
        if path.name != _name_file(number):
            raise InputError(
                f"{folder}: {_name_file(number)} is missing, although later ones are there. Delete"
                " this folder."
            )
        start, loaded = Reduced.load(path, conventions, policies, evaluator.terms)
        evaluator.add(loaded)
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
                " batch is complete before its end. Sort the file by query, or evaluate it"
                " without a checkpoint."
            ) from None
        writing.replace(str(folder / _name_file(number)), reduced.pack(end))
    evaluator.run_fingerprint = RunFingerprint(nothing_judged, run, evaluator.qrels)
    return evaluator.result(name=name)


def _name_file(number: int) -> str:
    return f"batch-{number:06}.npz"


def _describe_state(path: str) -> list[Any]:
    """Describe the size and time of a file, or of the files of a folder, to detect a change."""
    if path == "-":
        raise InputError(
            "a checkpoint needs files that can be read again, but standard input cannot."
        )
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
        raise InputError(f"{folder}: this folder is not a checkpoint, and it is not empty.")
    try:
        before = dict(json.loads((folder / _EVALUATION).read_bytes()))
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"{folder / _EVALUATION}: this file is damaged ({error}).") from None
    differ = sorted(key for key in {*before, *claim} if before.get(key) != claim.get(key))
    if differ:
        raise InputError(
            f"{folder}: this checkpoint belongs to another evaluation; it differs in"
            f" {', '.join(differ)}. Use another folder, or delete this one."
        )
