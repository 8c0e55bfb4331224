"""Reads ``exclude=`` and ``only=`` as the caller gives them: mappings, frames, files, masks."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from germane.core.qrels import Qrels
from germane.errors import InputError, clip
from germane.readers import array_ids, mappings, numbers
from germane.readers.candidates import Name, Pairs
from germane.readers.inputs import Needs, ReadOptions
from germane.readers.recognition import open_pairs


def hold_candidates(reading: ReadOptions) -> ReadOptions:
    """Read ``exclude`` and ``only``. Raises InputError for what has no queries and items."""
    given: dict[Name, Any] = {"exclude": reading.exclude, "only": reading.only}
    read = {name: _open_pairs(one, name, reading) for name, one in given.items() if one is not None}
    return replace(reading, exclude=read.get("exclude"), only=read.get("only"))


def _open_pairs(given: Any, name: Name, reading: ReadOptions) -> Pairs:
    """Read pairs, whose rows and columns have the ids of those of the run if they have none."""
    query_ids, item_ids = array_ids.read_both(reading)
    if query_ids is not None and mappings.is_rows(given):
        _refuse_mask(given, name)
        given = array_ids.name_rows(given, query_ids, name)
    pairs = _read_pairs(given, name, reading.columns, reading.input_format)
    if reading.collapse is not None:
        if pairs.width is not None:
            raise InputError(
                f"{name}= marks columns, and with collapse= candidates are groups: give {{query:"
                " groups}."
            )
        reading.collapse.refuse_replaced(pairs.items, f"{name}=")
    return array_ids.name_judgments(pairs, query_ids, item_ids, f"{name}=")


def _read_pairs(given: Any, name: Name, columns: Any, input_format: Any) -> Pairs:
    if isinstance(given, Qrels):
        return given
    if mappings.is_rows(given):
        _refuse_mask(given, name)
        given = dict(enumerate(given))
    if mappings.is_mapping(given):
        return _read_mapping(given, name)
    if isinstance(given, (list, tuple)) and not given:
        return _read_mapping({}, name)
    if numbers.is_array(given) and len(given.shape) != 2:
        raise InputError(
            f"{name}= as an array has shape (queries, items); got {tuple(given.shape)}. Beside"
            " group= it is {group: places of its items}."
        )
    if numbers.is_whole(given) and not np.isin(numbers.to_numpy(given, name), (0, 1)).all():
        raise InputError(
            f"{name}= as an array is true or false for each item; got whole numbers. If they are"
            f" items, give lists of them: {name}.tolist()."
        )
    opened = open_pairs(given, name, columns, input_format)
    if opened is None:
        raise InputError(
            f"{name}= is {{query: items}}, a frame or a file with the columns query and item, a"
            f" list of sets, an array of true and false, or a CSR matrix; got {clip(given)}"
        )
    return opened.read("first", None, Needs())


def _refuse_mask(rows: Sequence[Any], name: Name) -> None:
    """Refuse lists of true and false, which look like a mask: lists hold items."""
    lists = [list(row) for row in rows if isinstance(row, (list, np.ndarray))]
    values = [one for row in lists for one in row]
    marks = all(isinstance(one, (int, np.integer, np.bool_)) and one in (0, 1) for one in values)
    repeats = any(len(set(row)) < len(row) for row in lists)
    if values and marks and (repeats or isinstance(values[0], (bool, np.bool_))):
        raise InputError(
            f"{name}= has lists of 0 and 1, or of true and false: marks or items? Lists hold items."
            " Give marks as an array, numpy.array(…, bool)."
        )


def _read_mapping(given: Mapping[Hashable, Any], name: Name) -> Pairs:
    if not given:
        return Qrels([], np.zeros(1, np.int64), [], np.zeros(0))
    lists = {
        query: list(items) if isinstance(items, Mapping) else items
        for query, items in given.items()
    }
    return mappings.read_qrels(lists, "first", where=name)
