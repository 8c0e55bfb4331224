"""Reads ``exclude=``, ``only=`` and ``ignore=`` as given: mappings, frames, files, masks."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from germane.core.qrels import Qrels
from germane.errors import InputError, clip, write_option
from germane.readers import array_ids, mappings, numbers
from germane.readers.candidates import NAMES, Name, Pairs
from germane.readers.hits import is_hits, read_documents
from germane.readers.inputs import Needs, ReadOptions
from germane.readers.recognition import open_pairs
from germane.readers.relevance import split_rows


def hold_candidates(reading: ReadOptions) -> ReadOptions:
    """Read the pairs of each argument. Raises InputError for what has no queries and items."""
    raw_pairs: dict[Name, Any] = {name: getattr(reading, name) for name in NAMES}
    read: dict[str, Any] = {
        name: _open_pairs(raw, name, reading) for name, raw in raw_pairs.items() if raw is not None
    }
    return replace(reading, **read)


def _open_pairs(raw: Any, name: Name, reading: ReadOptions) -> Pairs:
    """Read pairs, whose rows and columns have the ids of those of the run if they have none."""
    query_ids, item_ids = array_ids.read_both(reading)
    if query_ids is not None and mappings.is_rows(raw):
        _refuse_mask(raw, name)
        raw = array_ids.name_rows(raw, query_ids, name)
    pairs = _read_pairs(raw, name, reading.columns, reading.input_format)
    if reading.collapse is not None:
        if pairs.width is not None:
            raise InputError(
                f"{name}= marks columns, and with {write_option('collapse')} candidates are"
                " groups: give {query: groups}."
            )
        reading.collapse.refuse_replaced(pairs.items, f"{name}=")
    return array_ids.name_judgments(pairs, query_ids, item_ids, f"{name}=")


def _read_pairs(raw: Any, name: Name, columns: Any, input_format: Any) -> Pairs:
    if isinstance(raw, Qrels):
        return raw
    if mappings.is_rows(raw):
        _refuse_mask(raw, name)
        raw = dict(enumerate(raw))
    if is_hits(raw):
        raw = read_documents(raw, columns, side=name)
    if mappings.is_mapping(raw):
        return _read_mapping(raw, name)
    if isinstance(raw, (list, tuple)) and not raw:
        return _read_mapping({}, name)
    if numbers.is_array(raw) and len(raw.shape) != 2:
        raise InputError(
            f"{name}= as an array has shape (queries, items); got {tuple(raw.shape)}. Beside"
            " group= it is {group: places of its items}."
        )
    if numbers.is_array(raw) and not _is_mask(numbers.to_numpy(raw, name)):
        advice = f"If they are items, give lists of them: {name}.tolist()."
        if not numbers.is_whole(raw):
            advice = "Give the marks themselves, such as numbers >= 0.5."
        raise InputError(
            f"{name}= as an array is true or false for each item; got numbers other than 0 and 1."
            f" {advice}"
        )
    opened = open_pairs(raw, name, columns, input_format)
    if opened is None:
        raise InputError(
            f"{name}= is {{query: items}}, a frame or a file with the columns query and item, a"
            f" list of sets, an array of true and false, or a CSR matrix; got {clip(raw)}"
        )
    return opened.read("first", None, Needs())


def _is_mask(array: Any) -> bool:
    """Is every number of an array 0 or 1?"""
    return array.dtype == bool or all(
        bool(np.isin(part, (0, 1)).all()) for _, part in split_rows(array)
    )


def _refuse_mask(rows: Sequence[Any], name: Name) -> None:
    """Refuse lists of true and false, which look like a mask: lists hold items."""
    lists = [list(row) for row in rows if isinstance(row, (list, np.ndarray))]
    values = [value for row in lists for value in row]
    marks = all(
        isinstance(value, (int, np.integer, np.bool_)) and value in (0, 1) for value in values
    )
    repeats = any(len(set(row)) < len(row) for row in lists)
    if values and marks and (repeats or isinstance(values[0], (bool, np.bool_))):
        raise InputError(
            f"{name}= has lists of 0 and 1, or of true and false: marks or items? Lists hold items."
            " Give marks as an array, numpy.array(…, bool)."
        )


def _read_mapping(raw: Mapping[Hashable, Any], name: Name) -> Pairs:
    if not raw:
        return Qrels([], np.zeros(1, np.int64), [], np.zeros(0))
    lists = {
        query: list(items) if isinstance(items, Mapping) else items for query, items in raw.items()
    }
    return mappings.read_qrels(lists, "first", where=name)
