"""Candidates: the rows of a run that ``exclude`` and ``only`` leave, as evaluate ranks them."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from germane.checks.rows import Side, find_places
from germane.core import ragged
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.kernel.columns import Ids
from germane.readers.candidates import Candidates, Filter
from germane.readers.mapping_ids import spell_id


def attach_candidates(judged: Side, candidates: Candidates) -> Qrels:
    """Attach candidates to the judged queries. Raises CoverageError for those that do not fit them."""
    none = np.zeros(len(judged.queries) + 1, np.int64)
    ids = "text" if judged.text else "typed"
    return candidates.attach(Qrels(list(judged.queries), none, [], np.zeros(0), ids=ids))


def select_candidates(run: Side, judged: Qrels) -> Side:
    """Select the rows of a run whose items are candidates, and all rows of queries that nobody judged."""
    spelled = run.text or judged.ids == "text"
    asked, known = (
        list(map(spell_id, ids)) if spelled else list(ids) for ids in (run.queries, judged.queries)
    )
    candidates = Filter(judged, "text" if run.text else "typed")
    items = list(run.items)
    order = np.argsort(run.query, kind="stable")
    offsets = ragged.make_offsets(np.bincount(run.query, minlength=len(run.queries)))
    kept = np.ones(len(run), bool)
    places = find_places(asked, known).tolist()
    for place, (start, end) in zip(places, pairwise(offsets.tolist()), strict=True):
        if place >= 0:
            rows = order[start:end]
            kept[rows] = candidates.admit(place, [items[i] for i in run.item[rows].tolist()])
    columns = {
        name: getattr(run, name)[kept]
        for name in ("number", "rank", "line")
        if getattr(run, name) is not None
    }
    left, query = np.unique(run.query[kept], return_inverse=True)
    found, item = np.unique(run.item[kept], return_inverse=True)
    emptied = np.setdiff1d(np.arange(len(run.queries)), left)
    return replace(
        run,
        queries=_take(run.queries, left),
        items=_take(run.items, found),
        query=query,
        item=item,
        empty=(*run.empty, *_take(run.queries, emptied)),
        **columns,
    )


def _take(ids: Sequence[Hashable], places: Ints) -> Sequence[Hashable]:
    return ids.take(places) if isinstance(ids, Ids) else [ids[at] for at in places.tolist()]
