"""Candidates: the items that may be retrieved for a query, by ``exclude=`` and ``only=``.

Judgments carry them, so that every reader removes other results before it counts ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.errors import CoverageError, InputError, clip, list_choices, list_some
from germane.kernel.columns import Ids, Integers, read_python_ids
from germane.readers.inputs import Needs
from germane.readers.mapping_ids import name_type, spell_id

if TYPE_CHECKING:
    from germane.readers.inputs import ReadOptions

Pairs: TypeAlias = Qrels
"""Pairs of query and item; the grades mean nothing."""
Name: TypeAlias = Literal["exclude", "only"]


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Items that are not candidates, and those that alone are; None where all items are."""

    exclude: Pairs | None = None
    only: Pairs | None = None

    def attach(self, qrels: Qrels) -> Qrels:
        """Attach the candidates to judgments.

        Raises CoverageError if ``only`` lacks a judged query, and if ``exclude`` has none of them.
        """
        for name, pairs in self.arguments:
            at = _find_queries(pairs, qrels)
            lacking = [q for q, place in zip(qrels.queries, at.tolist(), strict=True) if place < 0]
            rows = len(qrels) if qrels.width is not None else None
            if rows is not None and pairs.width is not None and len(pairs) != rows:
                raise InputError(f"{name}= has {len(pairs)} rows, the qrels have {rows}.")
            has_none = len(lacking) == len(qrels) and len(pairs) > 0
            if has_none and len(qrels):
                raise CoverageError(
                    f"no query of {name}= is in the qrels. {name}: {list_some(pairs.queries)}; qrels: "
                    f"{list_some(qrels.queries)}  Are these the same ids?"
                )
            if name == "only" and lacking:
                raise CoverageError(
                    f"only= has no candidates for {list_some(lacking)} ({len(lacking)} of {len(qrels)} "
                    "judged queries). An empty list says that a query has none."
                )
        return replace(qrels, candidates=self)

    def attach_to_lists(self, users: Qrels) -> Qrels:
        """Attach the candidates to lists that nobody judged. Raises CoverageError if ``only`` lacks one."""
        if self.only is not None:
            at = _find_queries(self.only, users).tolist()
            lacking = [user for user, place in zip(users.queries, at, strict=True) if place < 0]
            if lacking:
                raise CoverageError(
                    f"only= has no candidates for {list_some(lacking)}, whose whole list counts. An empty list "
                    "says that a query has none."
                )
        return replace(users, candidates=self)

    @property
    def arguments(self) -> list[tuple[Name, Pairs]]:
        """The arguments that are given, each with its pairs."""
        both: tuple[tuple[Name, Pairs | None], ...] = (
            ("exclude", self.exclude),
            ("only", self.only),
        )
        return [(name, pairs) for name, pairs in both if pairs is not None]

    def align(self, qrels: Qrels) -> list[tuple[Name, Aligned]]:
        """Bring the pairs into the order of the judged queries."""
        return [(name, _align(pairs, qrels)) for name, pairs in self.arguments]


class Aligned(NamedTuple):
    """Pairs in the order of the judged queries: those of query q are ``items[offsets[q]:offsets[q + 1]]``."""

    offsets: Ints
    items: Ids
    ids: str  # text or typed, as those of Qrels
    width: int | None  # of an array whose columns are the items
    given: Sequence[Hashable]  # as they were given, and the rows of these pairs among them
    rows: Ints

    def list_items(self) -> list[Hashable]:
        """List the items as they were given."""
        given = self.given.python if isinstance(self.given, Ids) else self.given
        return [given[row] for row in self.rows.tolist()]


def find_candidates(qrels: Qrels) -> list[tuple[Name, Aligned]]:
    """Find the pairs of judgments, in the order of the judged queries; none where all items count."""
    return qrels.candidates.align(qrels) if qrels.candidates is not None else []


def _find_queries(pairs: Pairs, qrels: Qrels) -> Ints:
    """Find the place of each judged query among the pairs, or -1."""
    if pairs.ids == qrels.ids:
        position, queries = pairs.position, qrels.queries
    else:
        position = {spell_id(query): at for query, at in pairs.position.items()}
        queries = list(map(spell_id, qrels.queries))
    return np.fromiter((position.get(query, -1) for query in queries), np.int64, len(queries))


def fit_items(ids: Ids, retrieved: Ids) -> Ids:
    """Fit the items of pairs to those of a run; no items have the kind of the run's."""
    return widen_integers(ids, retrieved) if len(ids) else retrieved.part(0, 0)


def widen_integers(ids: Ids, retrieved: Ids) -> Ids:
    """Convert integers to the type of the run's, signed or not, unless one would not fit."""
    if not (isinstance(ids, Integers) and isinstance(retrieved, Integers)):
        return ids
    wanted = retrieved.values.dtype
    fits = wanted == ids.values.dtype or ids.values.view(np.int64).min() >= 0
    return Integers(ids.values.astype(wanted)) if fits else ids


def _align(pairs: Pairs, qrels: Qrels) -> Aligned:
    at = _find_queries(pairs, qrels)
    known = at >= 0
    lengths = np.zeros(len(at), np.int64)
    lengths[known] = ragged.find_lengths(pairs.offsets)[at[known]]
    rows = ragged.list_stretches(pairs.offsets[at[known]], lengths[known])
    items = read_python_ids(pairs.items).take(rows)
    return Aligned(ragged.make_offsets(lengths), items, pairs.ids, pairs.width, pairs.items, rows)


# --- In the ids of a run ---------------------------------------------------------------------------


def refuse_types(
    qrels: Qrels, unmatched: Mapping[str, bool], find_types: Callable[[], set[str]]
) -> None:
    """Refuse pairs among which no result can be, since their types differ. Raises CoverageError.

    ``unmatched``: is no result among the pairs?
    """
    for name, pairs in find_candidates(qrels):
        is_odd = unmatched[name] and pairs.ids != "text"
        types = {name_type(one) for one in pairs.list_items()} if is_odd else set()
        if types and not types & (own := find_types()):
            raise CoverageError(
                f"the item ids of run and {name}= have different types: the run's are "
                f"{list_choices(sorted(own))}, those of {name}= are "
                f"{list_choices(sorted(types))} ({list_some(pairs.list_items())}). Cast one of them."
            )


def match_items(
    qrels: Qrels, retrieved: Ids, ids: str, *, as_text: bool
) -> tuple[list[tuple[Name, Ints, Ids]], bool]:
    """Bring the items of pairs to the kind of the run's: their offsets and ids.

    Returns also if the run's items have to be read as text. Raises CoverageError for ids that cannot
    be equal.
    """
    pairs = find_candidates(qrels)
    for name, one in pairs:
        if not len(one.items) or as_text or one.items.kind == retrieved.kind:
            continue
        if "text" not in (one.ids, ids):
            raise CoverageError(
                f"the item ids of run and {name}= have different types: the run's are {retrieved.kind} "
                f"({list_some(retrieved)}), those of {name}= are {one.items.kind} "
                f"({list_some(one.items[:3])}). Cast one of them."
            )
        as_text = True
    matched = []
    for name, one in pairs:
        items = one.items.as_text() if as_text else one.items
        matched.append((name, one.offsets, items))
    return matched, as_text


# --- As the caller gives them ----------------------------------------------------------------------


def open_candidates(reading: ReadOptions) -> Candidates:
    """Read the candidates. Raises InputError for what has no queries and items."""
    given: dict[Name, Any] = {"exclude": reading.exclude, "only": reading.only}
    read = {name: _open_pairs(one, name, reading) for name, one in given.items() if one is not None}
    return Candidates(**read)


def _open_pairs(given: Any, name: Name, reading: ReadOptions) -> Pairs:
    """Read pairs, whose rows and columns have the ids of those of the run if they have none."""
    from germane.readers import array_ids, groups, mappings

    query_ids, item_ids = array_ids.read_both(reading)
    if query_ids is not None and mappings.is_rows(given):
        _refuse_mask(given, name)
        given = array_ids.name_rows(given, query_ids, name)
    pairs = _read_pairs(given, name, reading.columns, reading.input_format)
    if reading.collapse is not None:
        if pairs.width is not None:
            raise InputError(
                f"{name}= marks columns, and with collapse= candidates are groups: give {{query: groups}}."
            )
        groups.open_groups(reading.collapse).refuse_replaced(pairs.items, f"{name}=")
    return array_ids.name_judgments(pairs, query_ids, item_ids, f"{name}=")


def _read_pairs(given: Any, name: Name, columns: Any, input_format: Any) -> Pairs:
    from germane import readers  # whose tables recognize the other kinds
    from germane.readers import mappings, numbers

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
            f"{name}= as an array has shape (queries, items); got {tuple(given.shape)}. Beside group= it is "
            "{group: places of its items}."
        )
    if numbers.is_whole(given) and not np.isin(numbers.to_numpy(given, name), (0, 1)).all():
        raise InputError(
            f"{name}= as an array is true or false for each item; got whole numbers. If they are items, "
            f"give lists of them: {name}.tolist()."
        )
    opened = readers.open_pairs(given, name, columns, input_format)
    if opened is None:
        raise InputError(
            f"{name}= is {{query: items}}, a frame or a file with the columns query and item, a list of sets, "
            f"an array of true and false, or a CSR matrix; got {clip(given)}"
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
            f"{name}= has lists of 0 and 1, or of true and false: marks or items? Lists hold items. Give marks "
            "as an array, numpy.array(…, bool)."
        )


def _read_mapping(given: Mapping[Hashable, Any], name: Name) -> Pairs:
    from germane.readers import mappings

    if not given:
        return Qrels([], np.zeros(1, np.int64), [], np.zeros(0))
    lists = {
        query: list(items) if isinstance(items, Mapping) else items
        for query, items in given.items()
    }
    return mappings.read_qrels(lists, "first", where=name)
