"""Folders of Parquet files: which of what stands in them is part of a run or of qrels."""

from __future__ import annotations

import os

from germane.errors import InputError, choices
from germane.readers.streams import explained


def files_of(folder: str) -> list[str]:
    """The Parquet files of a folder and its folders, links among them, in the order of their names.

    What Spark and others put aside is left out: names that begin with ``.``, or with ``_`` unless they
    are a partition's. Raises InputError for a folder that cannot be listed, or that has no such file.
    """
    found = _below(folder, ())
    if not found:
        raise InputError(
            f"{folder}: this is a directory, with no Parquet file in it.{_others(folder)}"
        )
    return found


def _others(folder: str) -> str:
    """What to give of a folder as BEIR has it, whose judgments are in ``qrels/test.tsv``."""
    files = [
        os.path.join(above, name)
        for above in (folder, os.path.join(folder, "qrels"))
        if os.path.isdir(above)
        for name in sorted(os.listdir(above))
        if name.casefold().endswith(".tsv")
    ]
    return f" Give one of its files: {choices(map(repr, files[:3]))}." if files else ""


def _below(folder: str, above: tuple[str, ...]) -> list[str]:
    """Files first, then those of its folders. Raises InputError for a link to a folder that it is in."""
    here = os.path.realpath(folder)
    if here in above:
        raise InputError(f"{folder}: this link leads back to {here}, which it is in.")
    with explained(folder):
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    seen = [entry for entry in entries if not _aside(entry.name)]
    files = [entry.path for entry in seen if not entry.is_dir() and _is_parquet(entry)]
    inside = (entry.path for entry in seen if entry.is_dir())
    return files + [path for one in inside for path in _below(one, (*above, here))]


def _aside(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_parquet(entry: os.DirEntry[str]) -> bool:
    """By its suffix, though it be broken; or by its first bytes, as older engines write no suffix."""
    if entry.name.casefold().endswith(".parquet"):
        return True
    if not entry.is_file():
        return False
    with explained(entry.path), open(entry.path, "rb") as file:
        return file.read(4) == b"PAR1"
