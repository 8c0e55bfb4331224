"""Bare relevance sequences: the grades of one list's items, in rank order."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.core.whole import whole
from germane.errors import EmptyError, GradeError, InputError, clip, explain_not_finite
from germane.readers.numbers import doubles, is_finite_number, show_number

MOST = 10_000_000  # relevant items that are given as their number alone


def ranking_of(
    relevance: Iterable[Any], relevant: int | Iterable[Any] | None, rel: float = 1.0
) -> Ranking:
    """The ranking of one query from its items' grades.

    ``relevant`` is the number of items of grade ``rel`` or higher that exist (those not in the list
    have that grade), or all their grades; without it the list is taken to hold every relevant item.
    """
    got = _grades("the list", relevance)
    if not len(got):
        raise EmptyError("the list is empty: there are no relevance grades.")
    found = int(np.count_nonzero(got >= rel))
    if relevant is None:
        ideal = got
    elif isinstance(relevant, Iterable):
        ideal = _grades("relevant", relevant)
        _check_holds(got, ideal)
    else:
        count = whole(relevant)
        if count is None:
            raise InputError(
                f"relevant is a whole number or a list of grades; got {clip(relevant)}"
            )
        if count > MOST:
            raise InputError(f"relevant is at most {MOST:,}; got {count}.")
        if count < found:
            raise InputError(f"the list holds {found} relevant items, but relevant={count}.")
        ideal = np.append(got, np.full(count - found, rel))
    rank = np.arange(1, len(got) + 1)
    return Ranking(
        queries=["list"],
        owner=np.zeros(len(got), np.int64),
        rank=rank,
        relevance=got,
        retrieved=np.array([len(got)]),
        ideal_offsets=np.array([0, len(ideal)]),
        ideal=np.sort(ideal)[::-1],
        tied_from=rank,
        tied_to=rank,
    )


def _grades(what: str, values: Any) -> Floats:
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise InputError(f"{what} is a sequence of relevance grades; got {clip(values)}")
    values = list(values)
    numbers = doubles(values)
    if numbers is None:
        at, odd = next((i, v) for i, v in enumerate(values, 1) if not is_finite_number(v))
        wrong = explain_not_finite("relevance grade", f"got {show_number(odd)}")
        raise GradeError(f"{what}, rank {at}: {wrong}")
    return numbers


def _check_holds(got: Floats, ideal: Floats) -> None:
    for grade in np.unique(got[got > 0]):
        have, exist = np.count_nonzero(got == grade), np.count_nonzero(ideal == grade)
        if have > exist:
            raise InputError(
                f"the list holds {have} items of grade {grade:g}, but relevant= has {exist}."
            )
