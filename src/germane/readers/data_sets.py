"""Finds the judgments of data sets: among LlamaIndex' and MTEB's queries, and in BEIR's folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from germane.errors import FormatError, InputError, list_choices
from germane.readers.paths import Path, is_path

_QUERIES, _JUDGMENTS = "queries", "relevant_docs"


def find_judgments(raw: Any) -> Any:
    """Find the judgments of a data set: a mapping, or an object with such attributes.

    Anything else is returned as it is. Raises FormatError for judgments of several splits.
    """
    if isinstance(raw, Mapping):
        if not (_QUERIES in raw and _JUDGMENTS in raw):
            return raw
        judged, part = raw[_JUDGMENTS], f"[{_JUDGMENTS!r}]"
    elif is_path(raw) or isinstance(raw, (list, tuple)) or not hasattr(raw, _JUDGMENTS):
        return raw
    else:
        judged, part = getattr(raw, _JUDGMENTS), f".{_JUDGMENTS}"
    if not _has_splits(judged):
        return judged
    if len(judged) > 1:
        choices = list_choices(f"qrels{part}[{split!r}]" for split in judged)
        raise FormatError(f"qrels: the data set has judgments of several splits. Give {choices}.")
    return next(iter(judged.values()))


def _has_splits(judged: Any) -> bool:
    """Are these judgments by split, ``{split: {query: {item: grade}}}``?"""
    for _ in range(2):
        if not isinstance(judged, Mapping) or not judged:
            return False
        judged = next(iter(judged.values()))
    return isinstance(judged, Mapping)


_SUFFIXES = (".tsv", ".jsonl", ".parquet", ".csv")


def find_file(path: Path) -> Path:
    """Find the judgments of a folder with ``qrels/test.tsv``, as BEIR and MTEB have; else the path.

    Raises InputError for a folder with judgments of several splits.
    """
    inside = os.path.join(os.fsdecode(path), "qrels")
    if not os.path.isdir(inside):
        return path
    from germane.readers.streams import explain_os_error  # which imports compression

    with explain_os_error(inside):
        names = sorted(os.listdir(inside))
    files = [os.path.join(inside, name) for name in names if name.casefold().endswith(_SUFFIXES)]
    if len(files) > 1:
        raise InputError(
            f"{os.fsdecode(path)}: the folder has judgments of several splits. Give"
            f" {list_choices(map(repr, files))}."
        )
    return files[0] if files else path
