"""Batches of a run as bytes: what each retrieved, so that an evaluation can go on after it."""

import json
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from germane.core.finding import Finding
from germane.core.policy import Policy
from germane.core.qrels import COUNTED, Retrieved
from germane.errors import InputError
from germane.evaluation.evaluator import Read, Reduced, Terms, find_way
from germane.measures.measure import Measure

_ARRAYS = ("judgment", "owner", "rank", "tied_from", "tied_to", "retrieved", "answered")


def pack_batch(end: int, reduced: Reduced) -> bytes:
    """Write a batch as the bytes of a file."""
    arrays: dict[str, Any] = {}
    notes = []
    for way, (retrieved, places) in enumerate(reduced.read.values()):
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


def load_batch(
    path: Path, conventions: Policy, policies: dict[Measure, Policy], terms: Terms
) -> tuple[int, Reduced]:
    """Read a batch from a file: where it ends in the run, and what it retrieved.

    Raises InputError for one that is damaged.
    """
    ways = dict.fromkeys(map(find_way, policies.values()))
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
            return notes["end"], Reduced(conventions, policies, read, terms)
    except Exception as error:  # whatever NumPy, zip and JSON raise for a file that is not theirs
        raise InputError(f"{path}: this batch of the checkpoint is damaged ({error}).") from None
