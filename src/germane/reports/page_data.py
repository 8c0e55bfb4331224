"""Data: the values of every query and the rankings of some, as JSON for the page's script."""

import base64
import json
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.errors import make_visible
from germane.evaluation.result import Results
from germane.reports.findings import Findings
from germane.reports.rankings import Kept, describe_text, keep_rankings

MAX_SIZE = 2_000_000  # bytes of a page where nothing else is asked for
LEAST = 250_000  # bytes of rankings then, however large the rest
SPARED = 0.96  # of a page's size: names of keys and policies are not counted
TOLD = 200_000  # bytes of all queries' texts
BLOCK = 100  # queries in a file of a folder


def write_data(findings: Findings, page_size: int) -> tuple[str, dict[str, str]]:
    """Write values and rankings as JSON for a script element, and the files beside it."""
    queries = list_queries(findings.results)
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
        "pair": [findings.runs.index(name) for name in findings.pair],
    }
    if findings.queries is not None:
        data["said"] = _shorten_queries(findings, queries)
    place = {query: i for i, query in enumerate(queries)}
    if findings.layout == "folder":
        rankings = keep_rankings(findings, place, math.inf, write_json)
        files = dict(_write_blocks(rankings))
        return write_json({**data, "details": {}, "block": BLOCK, "note": ""}), files
    used = page_size + len(write_json(data).encode())
    if findings.max_size is None:
        room = max(SPARED * MAX_SIZE - used, LEAST)
    else:
        room = SPARED * findings.max_size - used
    rankings = keep_rankings(findings, place, room, write_json)
    data |= {"details": rankings.details, "texts": rankings.texts}
    data["note"] = _write_note(findings, rankings, len(queries))
    return write_json(data), {}


def _shorten_queries(findings: Findings, queries: list[Hashable]) -> list[str]:
    """Shorten the texts of all queries so that they take no more than their share of the page."""
    assert findings.queries is not None
    texts = findings.queries.find(queries)
    length = min(200, TOLD // max(1, len(queries)))
    return [
        make_visible(describe_text(texts[str(query)], length)) if str(query) in texts else ""
        for query in queries
    ]


def _write_blocks(contents: Kept) -> Any:
    """Write the rankings of each hundred queries as a script that hands them to the page."""
    for block in range(max(contents.details, default=-1) // BLOCK + 1):
        details = {q: detail for q, detail in contents.details.items() if q // BLOCK == block}
        names = set().union(*(contents.named[q] for q in details)) if details else set()
        texts = {name: text for name, text in contents.texts.items() if name in names}
        data = write_json({"details": details, "texts": texts})
        yield f"rankings/{block:04}.js", f"showRankings({block},{data});\n"


def _write_note(findings: Findings, contents: Kept, queries: int) -> str:
    """Write how many rankings the page has, and how to see the others; nothing if it has all."""
    if contents.complete and findings.explain is not None:
        return ""
    if not contents.rankings:
        return "There are no rankings in this page."
    size = MAX_SIZE if findings.max_size is None else findings.max_size
    below = f"{size / 1e6:g} MB"
    has_pairs = len(findings.runs) > 1
    first = "the first of each pair of runs" if has_pairs else "the lowest values"
    marked = "a ranking of both runs" if has_pairs else "a ranking"
    return (
        f"To keep this page below {below}, it has rankings of {len(contents.details):,} of"
        f" {queries:,} queries: {first}, by the first measure. Queries without {marked} are marked"
        " ○. germane"
        " explain shows any other; --max-size keeps more, and -o with the name of a folder keeps"
        " all."
    )


def write_json(data: Any) -> str:
    """Write JSON in which no markup can begin or end."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(sign, code)
    return text


def list_queries(results: Results) -> list[Hashable]:
    """List the queries that some run has a value for, in the order of the judgments."""
    queries: dict[Hashable, None] = {}
    for result in results.values():
        queries.update(dict.fromkeys(next(iter(result.values())).queries))
    return list(queries)


def _pack(values: Floats) -> tuple[dict[str, Any], list[str]]:
    """Pack values as whole numbers of 2 or 4 bytes, exact to the decimals that are shown.

    Four decimals, or none where all values are whole. The highest number stands for no value.
    """
    numbers = values[~np.isnan(values)]
    are_whole = not len(numbers) or bool((numbers == np.round(numbers)).all() and numbers.max() > 1)
    digits = 0 if are_whole else 4
    units = np.round(values * 10**digits)
    low = float(np.nanmin(units)) if len(numbers) else 0.0
    high = float(np.nanmax(units)) if len(numbers) else 0.0
    kind = "<u2" if high - low < 2**16 - 1 else "<u4"
    while high - low >= 2**32 - 1:  # of numbers so large, the last digits are left out
        digits, units = digits - 1, np.round(values * 10.0 ** (digits - 1))
        low, high = float(np.nanmin(units)), float(np.nanmax(units))
    none = np.iinfo(kind).max
    codes = np.where(np.isnan(units), none, units - low).astype(kind)
    scale = {"digits": digits, "low": int(low), "bytes": np.dtype(kind).itemsize}
    return scale, [base64.b64encode(of_run.tobytes()).decode() for of_run in codes]
