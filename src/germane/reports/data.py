"""Data: the values of every query and the explanations of some, as JSON for the page's script."""

import base64
import json
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.evaluation.result import Results
from germane.explanation.explanation import Explanation
from germane.output.tables import make_visible
from germane.reports.findings import Explained, Findings

WHOLE_PAGE = 1_900_000  # bytes of a page; explanations take the room that the rest leaves
LEAST = 250_000  # bytes of explanations, however large the rest
ROWS = 150  # of a ranking
MISSED = 40  # items listed by name
CELL = "\u00a0"  # stands between cells; make_visible writes it out, so that no cell holds it


def write_data(findings: Findings, page_size: int) -> str:
    """Write values and explanations as JSON that can stand in a script element."""
    queries = _list_queries(findings.results)
    measures, values = [], []
    for measure in findings.measures:
        per_run = [result[measure].per_query for result in findings.results.values()]
        table = [[of_run.get(query, math.nan) for query in queries] for of_run in per_run]
        scale, packed = _pack(np.array(table))
        measures.append({"name": str(measure), "definition": measure.definition, **scale})
        values.append(packed)
    data: dict[str, Any] = {
        "runs": [make_visible(name) for name in findings.runs],
        "measures": measures,
        "queries": [make_visible(str(query)) for query in queries],
        "values": values,
    }
    room = max(WHOLE_PAGE - page_size - len(write_json(data).encode()), LEAST)
    place = {query: i for i, query in enumerate(queries)}
    data["details"] = _list_details(findings.explanations, place, room)
    data["note"] = _write_note(len(data["details"]), len(queries))
    return write_json(data)


def write_json(data: Any) -> str:
    """Write JSON in which no markup can begin or end."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"})


def _list_queries(results: Results) -> list[Hashable]:
    """List the queries that some run has a value for, in the order of the judgments."""
    queries: dict[Hashable, None] = {}
    for result in results.values():
        queries.update(dict.fromkeys(next(iter(result.values())).queries))
    return list(queries)


def _pack(values: Floats) -> tuple[dict[str, Any], list[str]]:
    """Pack values as whole numbers of 2 or 4 bytes, exact to the decimals that are shown.

    Four decimals, or none where all values are whole. The highest number stands for no value.
    """
    known = values[~np.isnan(values)]
    whole = not len(known) or bool((known == np.round(known)).all() and known.max() > 1)
    digits = 0 if whole else 4
    units = np.round(values * 10**digits)
    low = float(np.nanmin(units)) if len(known) else 0.0
    high = float(np.nanmax(units)) if len(known) else 0.0
    kind = "<u2" if high - low < 2**16 - 1 else "<u4"
    while high - low >= 2**32 - 1:  # of numbers so large, the last digits are left out
        digits, units = digits - 1, np.round(values * 10.0 ** (digits - 1))
        low, high = float(np.nanmin(units)), float(np.nanmax(units))
    none = np.iinfo(kind).max
    codes = np.where(np.isnan(units), none, units - low).astype(kind)
    scale = {"digits": digits, "low": int(low), "bytes": np.dtype(kind).itemsize}
    return scale, [base64.b64encode(of_run.tobytes()).decode() for of_run in codes]


# --- Explanations ----------------------------------------------------------------------------------


def _list_details(explained: Iterable[Explained], place: Mapping[Hashable, int], room: int) -> Any:
    """List explanations by query and run, for as many queries as there is room for."""
    details: dict[int, list[list[dict[str, Any]]]] = {}
    for query, by_run in explained:
        detail = [[_shorten(one) for one in each] for each in by_run.values()]
        room -= len(write_json(detail).encode())
        if room < 0:
            break
        details[place[query]] = detail
    return details


def _write_note(kept: int, queries: int) -> str:
    if kept == queries:
        return ""
    if not kept:
        return "There are no rankings in this page."
    return (
        f"To keep this page below 2 MB, it has the rankings of {kept:,} of {queries:,} queries: those with "
        "the largest differences and the lowest values. germane explain shows any other."
    )


def _shorten(explanation: Explanation) -> dict[str, Any]:
    """Shorten an explanation to its table without running sums, and the lines below."""
    table = explanation.table()
    first = table.columns.index("recall") + 1 + ("tie" in table.columns)  # column of a measure
    about = ("rank", "item", "relevance", "hit", "tie")
    kept = [i for i, name in enumerate(table.columns[:first]) if name in about]
    names = [table.columns[i] for i in kept]
    names += [str(reading.measure) for reading in explanation.readings]
    kept += range(first, len(table.columns), 2)
    rows = [CELL.join(make_visible(row[i]) for i in kept) for row in table.rows[:ROWS]]
    missed = [
        make_visible(str(item)) for item, _ in explanation.missed[:MISSED] if item is not None
    ]
    return {
        "columns": names,
        "rows": "\n".join(rows),
        "more": max(0, len(explanation.rows) - ROWS),
        "formulas": [
            reading.formula
            + f"; if ties were ordered otherwise: {reading.tie_values}" * bool(reading.ties)
            for reading in explanation.readings
        ],
        "relevant": explanation.relevant,
        "retrieved": explanation.retrieved,
        "answered": explanation.answered,
        "missed": len(explanation.missed),
        "names": missed,
    }
