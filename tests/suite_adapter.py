"""germane, as conformance/run.py asks it."""

from typing import Any

import pyarrow

import germane


def compute(
    definition: Any, conventions: Any, qrels: Any, run: dict[str, Any]
) -> dict[str, float] | None:
    """The value of every query that counts, through a frame, which can list an item twice."""
    rows = [(query, *row) for query, ranked in run.items() for row in ranked]
    columns = ("query", "item", "score")
    frame = pyarrow.table({name: [row[i] for row in rows] for i, name in enumerate(columns)})
    depth = None if conventions["depth"] == "all" else int(conventions["depth"])
    name, chosen = definition["name"], {**conventions, "depth": depth}
    try:
        return germane.evaluate(qrels, frame, name, **chosen)[name].per_query
    except (
        germane.errors.MeasureError
    ):  # the mean over all orders of ties has no closed form for some measures
        return None
