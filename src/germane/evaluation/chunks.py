"""Collapse a run's items into groups before it is ranked: chunks into documents, items into categories."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from germane.errors import (
    AbsentError,
    FormatError,
    InputError,
    PolicyError,
    check_choice,
    clip,
    some,
)
from germane.readers.formats import InputFormat
from germane.readers.mappings import is_mapping

if TYPE_CHECKING:
    import pyarrow as pa

Keep: TypeAlias = Literal["max", "first", "sum"]
KEEPS = ("max", "first", "sum")


@overload
def collapse(
    run: Mapping[Any, Any],
    key: Mapping[Any, Hashable] | Callable[[Any], Hashable],
    *,
    keep: Keep = "max",
) -> dict[Hashable, Any]: ...
@overload
def collapse(
    run: Any,
    key: Mapping[Any, Hashable] | Callable[[Any], Hashable] | str,
    *,
    keep: Keep = "max",
    columns: Mapping[str, Any] | None = None,
    input_format: InputFormat = None,
) -> "pa.Table": ...
def collapse(
    run: Any,
    key: Any,
    *,
    keep: Keep = "max",
    columns: Mapping[str, Any] | None = None,
    input_format: InputFormat = None,
) -> Any:
    """Replace the items of a run by the groups they belong to, each group once a query.

    >>> run = {"q": {"d1#2": 0.9, "d2#1": 0.8, "d1#1": 0.7}}
    >>> germane.collapse(run, lambda chunk: chunk.split("#")[0])
    {'q': {'d1': 0.9, 'd2': 0.8}}

    ``run`` is ``{query: {item: score}}`` or ``{query: [item, …]}``, and comes back in the same form; or a
    frame, the path of a file, or what ``read_run`` returned, and comes back as a ``pyarrow.Table``, its
    columns found or named as in ``evaluate``. ``key`` maps each item to its group: a mapping or a
    function, or the name of a frame's column that has the groups. ``keep`` says what becomes of a group's
    items: the highest score (``max``), the score of the first one (``first``) or their ``sum``. In
    ranked lists, which have no scores, a group stands where its first item stood.

    Collapsing comes before any cutoff. With classes as groups, ``Success@K`` of the collapsed run
    asks whether the right class is among the first K *different* classes. Raises AbsentError for an
    item that the mapping does not have, and PolicyError for another ``keep``.
    """
    check_choice("keep", keep, KEEPS)
    if is_mapping(run):
        group_of = _lookup(key)
        return {query: _collapsed(query, got, group_of, keep) for query, got in run.items()}
    from germane.readers import collapsed

    if isinstance(key, str):  # the groups are the items
        frame = collapsed.opened(run, {**(columns or {}), "item": key}, input_format)
        return collapsed.table(frame, None, keep)
    return collapsed.table(collapsed.opened(run, columns, input_format), _lookup(key), keep)


def _collapsed(
    query: Hashable, got: Any, group_of: Callable[[Hashable, Any], Hashable], keep: str
) -> Any:
    if not isinstance(got, Mapping):
        if isinstance(got, (str, bytes)) or not isinstance(got, Iterable):
            raise FormatError(f"run, query {clip(query)}: results are a list; got {clip(got)}")
        if keep == "sum":
            raise PolicyError("keep=sum adds scores, and a ranked list has none; choose first.")
        return list(dict.fromkeys(group_of(query, item) for item in got))
    scores: dict[Hashable, Any] = {}
    for item, score in got.items():
        group = group_of(query, item)
        if group not in scores:
            scores[group] = score
        elif keep == "sum":
            scores[group] = scores[group] + score
        elif keep == "max" and not score <= scores[group]:  # NaN stays, to be refused
            scores[group] = score
    return scores


def _lookup(key: Any) -> Callable[[Hashable, Any], Hashable]:
    if isinstance(key, Mapping):

        def looked_up(query: Hashable, item: Any) -> Hashable:
            try:
                group: Hashable = key[item]
            except KeyError:
                raise AbsentError(
                    f"query {clip(query)}: item {clip(item)} has no group. groups are known for "
                    f"{some(list(key)[:3])}"
                ) from None
            return group

        return looked_up
    if not callable(key):
        raise InputError(f"key is a mapping of item to group, or a function; got {clip(key)}")

    def made(query: Hashable, item: Any) -> Hashable:
        group: Hashable = key(item)
        if not isinstance(group, Hashable):
            raise InputError(
                f"query {clip(query)}, item {clip(item)}: a group is an id, text or a number; got {clip(group)}"
            )
        return group

    return made
