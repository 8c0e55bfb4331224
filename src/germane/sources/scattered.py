"""Lines of a TREC run in any order: sorted by query, in memory while they are few, then on disk."""

from __future__ import annotations

import numpy as np

from germane._ragged import Floats, Ints
from germane.retrieval import Retrieved
from germane.sources import binary, spill, trec
from germane.sources.binary import Spans
from germane.sources.columns import Batch, Reducer
from germane.sources.files import TextFile
from germane.sources.paths import Noted
from germane.sources.rows import IN_MEMORY, ON_DISK, sorted_by, stretches
from germane.sources.spill import Spill

_Held = tuple[Ints, Spans, Floats]  # of each row, the number of its query, its item and its score


def reduced(file: TextFile, reducer: Reducer, told: Noted) -> Retrieved:
    """What was retrieved. Raises Repeated for a repeated row where that is an error."""
    held: list[_Held] = []
    told.note = IN_MEMORY
    with Spill() as disk:
        for rows in trec.read(file, trec.RUN):
            code = np.repeat(reducer.codes(rows.queries), np.diff(rows.offsets))
            known = np.flatnonzero(code >= 0)
            held.append((code[known], rows.item.chosen(known).copied(), rows.number[known]))
            if disk or sum(len(code) for code, _, _ in held) > spill.HELD:
                told.note = ON_DISK
                for code, item, score in held:
                    disk.add(code, {"item": binary.to_array(item), "score": score})
                held = []
        for part in disk.parts():
            item = binary.of_array(part.column("item").chunk(0))
            code, score = (part.column(name).to_numpy() for name in ("code", "score"))
            _add(reducer, [(code, item, score)])
    _add(reducer, held)
    return reducer.result()


def _add(reducer: Reducer, held: list[_Held]) -> None:
    """Reduce all rows of some queries."""
    if not sum(len(code) for code, _, _ in held):
        return
    codes, items, scores = zip(*held, strict=True)
    code, item, score = np.concatenate(codes), binary.joined(items), np.concatenate(scores)
    order = sorted_by(code)
    for queries, offsets, start in stretches(code):
        rows = order[start : start + offsets[-1]]
        names = [reducer.names[q] for q in queries.tolist()]
        reducer.add(Batch(names, offsets, item.chosen(rows), score[rows]))
