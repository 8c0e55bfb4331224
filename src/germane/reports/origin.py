"""Origin: which inputs, versions and command a report was made of."""

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane._version import VERSION
from germane.core.progress import Progress
from germane.errors import InputError
from germane.readers.paths import is_path

BLOCK = 2**20


@dataclass(frozen=True)
class Input:
    """The judgments or a run: what it is called, and of a file its path, size and hash."""

    name: str
    path: str  # or what it is, where it came from memory
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Origin:
    """Inputs, versions, and the command where there was one."""

    inputs: tuple[Input, ...]
    versions: Mapping[str, str]
    command: str | None


def origin_of(
    qrels: Any, runs: Mapping[str, Any], command: str | None, progress: Progress | None
) -> Origin:
    """Look at the inputs again, to say exactly which they were."""
    given = {"judgments": qrels, **{f"run {name}": run for name, run in runs.items()}}
    inputs = tuple(_input(name, one, progress) for name, one in given.items())
    versions = {
        "germane": VERSION,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
    }
    return Origin(inputs, versions, command)


def _input(name: str, given: Any, progress: Progress | None) -> Input:
    if not is_path(given):
        return Input(name, f"from memory ({type(given).__name__})")
    path = os.fspath(given)
    if not os.path.isfile(path):  # standard input and pipes are gone when they are read
        return Input(name, "standard input" if path == "-" else path)
    return Input(name, path, os.path.getsize(path), _hash(path, progress))


def _hash(path: str, progress: Progress | None) -> str:
    digest, done, size = hashlib.sha256(), 0, os.path.getsize(path)
    try:
        with open(path, "rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
                done += len(block)
                if progress is not None:
                    progress(f"hash of {path}", done, size)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    return digest.hexdigest()
