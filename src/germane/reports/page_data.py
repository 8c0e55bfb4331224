"""The values of every query and the lists behind them, as JSON for the page's script."""

import base64
import io
import json
import math
import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from germane.core.ragged import Floats, subtract_values, unite_equal
from germane.errors import make_visible
from germane.evaluation.result import Result, Results
from germane.explanation.explanation import Explanation
from germane.readers.options.texts import Text
from germane.reports.findings import Findings, select_judged

SIDE = 96  # pixels
PIXELS = 50_000_000  # of an image that is opened
BYTES = 50_000_000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def make_thumbnail(path: str) -> str:
    """Make the address of a thumbnail that holds its data; "" for a file that is no image, or too
    large.
    """
    try:
        from PIL import Image
    except ImportError:
        return ""
    try:
        if os.path.getsize(path) > BYTES:
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # checked below
            image = Image.open(path, formats=FORMATS)
        with image:
            if image.width * image.height > PIXELS:
                return ""
            image.draft("RGB", (2 * SIDE, 2 * SIDE))
            small = image.convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return ""
    small.thumbnail((SIDE, SIDE))
    paper = Image.new("RGB", small.size, "white")
    paper.paste(small, mask=small.getchannel("A"))
    out = io.BytesIO()
    paper.save(out, "JPEG", quality=70, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"


# --- Rankings: the lists behind the values, of as many queries and runs as there is room for ------

ROWS = 150  # of a ranking
MISSED = 40  # items listed by name
FIRST = 10  # gains, losses and low values of the default pair, before those of other pairs
TEXTS = 10  # rows of a ranking whose items have their texts
MISSED_TEXTS = 3
TITLE, BODY = 100, 160  # characters
CELL = "\u00a0"  # stands between cells; make_visible writes it out, so that no cell holds it

PROBED = 200  # rankings whose texts say how large those of the others are

Unit = tuple[Hashable, str]  # a query and the name of a run
_Explained = tuple[Unit, list[dict[str, Any]], int, list[str]]  # explanations, size, items


@dataclass
class Kept:
    """The rankings of a page, by the place of their query; None for one that is left out."""

    details: dict[int, list[list[dict[str, Any]] | None]] = field(default_factory=dict)
    texts: dict[str, Any] = field(default_factory=dict)  # of items, by their visible id
    named: dict[int, set[str]] = field(default_factory=dict)  # items with a text, by query
    rankings: int = 0
    complete: bool = True  # was there room for all?


def order_units(results: Results, pair: tuple[str, ...]) -> Iterator[Unit]:
    """Order queries and runs as the page shows them first, for any pair of runs that can be chosen.

    The first queries of the default pair come first. Then come, by turns, the largest difference
    that is left of each pair, in each direction, and the lowest value that is left of all runs.
    Queries that nobody judged have no ranking.
    """
    names = list(results)
    per_run = {name: _list_judged(result) for name, result in results.items()}
    queries = [
        query
        for query in next(iter(per_run.values()))
        if all(query in by_query for by_query in per_run.values())
    ]
    values = {
        name: np.array([by_query[query] for query in queries], float)
        for name, by_query in per_run.items()
    }
    low = _sort_queries(queries, unite_equal(sum(values.values(), np.zeros(len(queries)))))
    views: list[tuple[list[Hashable], tuple[str, ...]]] = [(low, tuple(names))]
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            gains = _sort_queries(queries, subtract_values(values[second], values[first]))
            ordered = (gains, gains[::-1])
            if {first, second} == set(pair):
                views[:0] = [(order, pair) for order in (*ordered, low)]
                for shown_first in zip(*(order[:FIRST] for order, _ in views[:3]), strict=True):
                    yield from ((query, name) for query in shown_first for name in pair)
            else:
                views += [(order, (first, second)) for order in ordered]
    for turn in range(len(queries)):
        for order, shown in views:
            yield from ((order[turn], name) for name in shown)
    # of some runs alone
    yield from ((query, name) for name, by_query in per_run.items() for query in by_query)


def _sort_queries(queries: list[Hashable], values: Floats) -> list[Hashable]:
    """Sort queries by a value, from the lowest; equal ones keep their order."""
    return [queries[q] for q in np.argsort(values, kind="stable").tolist()]


def _list_judged(result: Result) -> dict[Hashable, float]:
    """List the values of the first measure of judged items, of the queries that are judged."""
    values = result[select_judged(result.measures)[0]].per_query
    position = result.placement.qrels.position if result.placement else values
    return {query: value for query, value in values.items() if query in position}


def _drop_repeated(units: Iterable[Unit]) -> Iterator[Unit]:
    seen: set[Unit] = set()
    for unit in units:
        if unit not in seen:
            seen.add(unit)
            yield unit


def keep_rankings(
    findings: Findings,
    place: Mapping[Hashable, int],
    room: float,
    write: Callable[[Any], str],
) -> Kept:
    """Keep the rankings that fit into so many bytes, with the texts of their first items."""
    shelf = _Shelf(findings, place, room, write)
    if findings.explain is not None:
        units = _drop_repeated(order_units(findings.results, findings.pair))
        # The texts of the first rankings show how much room those of the others will take.
        complete = findings.items is None or shelf.fill(islice(units, PROBED))
        shelf.contents.complete = complete and shelf.fill(units)
    return shelf.contents


@dataclass
class _Shelf:
    """Rankings and texts, as long as there is room."""

    findings: Findings
    place: Mapping[Hashable, int]
    room: float
    write: Callable[[Any], str]
    contents: Kept = field(default_factory=Kept)
    expected: float = 0.0  # bytes of the texts of a ranking

    def fill(self, units: Iterable[Unit]) -> bool:
        """Add rankings in their order. Return whether all of them had room."""
        chosen, complete = self._explain(units)
        texts = {}
        if self.findings.items is not None:
            texts = self.findings.items.find(name for *_, named in chosen for name in named)
        before, written = self.room, 0
        for unit, detail, size, named in chosen:
            if not self._add(unit, detail, size, named, texts):
                return False
            written += size
        self.expected = max(0.0, (before - self.room - written) / max(1, len(chosen)))
        return complete

    def _explain(self, units: Iterable[Unit]) -> tuple[list[_Explained], bool]:
        """Explain as many rankings as will fit with their texts."""
        explain, left = self.findings.explain, self.room
        assert explain is not None
        chosen: list[_Explained] = []
        for unit in units:
            explained = explain(*unit)
            detail = [_shorten(explanation) for explanation in explained]
            size = len(self.write(detail).encode())
            left -= size + self.expected
            if left < 0:
                return chosen, False
            named = dict.fromkeys(chain.from_iterable(map(_list_items, explained)))
            chosen.append((unit, detail, size, list(named)))
        return chosen, True

    def _add(
        self,
        unit: Unit,
        detail: list[dict[str, Any]],
        size: int,
        named: Sequence[str],
        texts: Mapping[str, Text],
    ) -> bool:
        """Add a ranking with its texts, if there is room."""
        contents, runs, (query, run) = self.contents, self.findings.runs, unit
        q, new = self.place[query], {}
        for name in named:
            shown = make_visible(name)
            if name in texts and shown not in contents.texts:
                new[shown] = show_text(texts[name])
        size += 0 if q in contents.details else 10 + 5 * len(runs)
        size += len(self.write(new).encode())
        if self.room < size:
            return False
        self.room -= size
        contents.details.setdefault(q, [None] * len(runs))[runs.index(run)] = detail
        contents.texts |= new
        contents.named.setdefault(q, set()).update(map(make_visible, named))
        contents.rankings += 1
        return True


def _list_items(explanation: Explanation) -> Iterator[str]:
    """List the items whose texts the page shows: of the first rows, and the first missed."""
    rows = [row.item for row in explanation.rows[:TEXTS]]
    missed = [item for item, _ in explanation.missed[:MISSED_TEXTS]]
    yield from (str(item) for item in rows + missed if item is not None)


# --- Texts ------------------------------------------------------------------------------------


def describe_text(text: Text, length: int) -> str:
    """Write a text on one line, cut to a length."""
    shown = str(text)
    return shown if len(shown) <= length else shown[: max(0, length - 1)].rstrip() + "…"


def show_text(text: Text) -> Any:
    """Make what the page shows of an item: text alone, or a title, text, address and image."""
    body = make_visible(describe_text(Text(body=text.body), BODY))
    parts = {
        "title": make_visible(describe_text(Text(title=text.title), TITLE)),
        "text": body,
        "link": text.link if text.link.isprintable() else "",
        "image": make_thumbnail(text.image) if text.image else "",
    }
    if text.image and not parts["image"] and not (text.title or text.body):
        return make_visible(text.image)
    parts = {name: part for name, part in parts.items() if part}
    return body if set(parts) <= {"text"} else parts


# --- Explanations -----------------------------------------------------------------------------


def _shorten(explanation: Explanation) -> dict[str, Any]:
    """Shorten an explanation to its table without running sums, and the lines below."""
    table = explanation.tabulate_ranks()
    first = table.columns.index("recall") + 1 + ("tie" in table.columns)  # column of a measure
    about = ("rank", "item", "relevance", "hit", "tie")
    places = [i for i, name in enumerate(table.columns[:first]) if name in about]
    names = [table.columns[i] for i in places]
    names += [str(reading.measure) for reading in explanation.readings]
    places += range(first, len(table.columns), 2)
    rows = [CELL.join(make_visible(row[i]) for i in places) for row in table.rows[:ROWS]]
    missed = [
        make_visible(str(item)) for item, _ in explanation.missed[:MISSED] if item is not None
    ]
    return {
        "columns": names,
        "rows": "\n".join(rows),
        "more": max(0, len(explanation.rows) - ROWS),
        "formulas": [
            reading.formula
            + f"; if ties were ordered differently: {reading.tie_values}" * bool(reading.ties)
            for reading in explanation.readings
        ],
        "relevant": explanation.relevant,
        "retrieved": explanation.retrieved,
        "answered": explanation.answered,
        "missed": len(explanation.missed),
        "names": missed,
    }


# --- Data: the values of every query and the rankings of some, as JSON for the page's script ------

MAX_SIZE = 2_000_000  # bytes of a page where nothing else is asked for
LEAST = 250_000  # bytes of rankings then, however large the rest
SPARED = 0.96  # of a page's size: names of keys and policies are not counted
TOLD = 200_000  # bytes of all queries' texts
BLOCK = 100  # queries in a file of a folder


def write_data(findings: Findings, page_size: int) -> tuple[str, dict[str, str]]:
    """Write values and rankings as JSON for a script element, and the files beside it."""
    queries = list_queries(findings.results)
    measures, values = [], []
    for measure in findings.judged:
        per_run = [result[measure].per_query for result in findings.results.values()]
        table = [[of_run.get(query, math.nan) for query in queries] for of_run in per_run]
        scale, packed = _pack(np.array(table))
        measures.append(
            {"name": findings.names[measure], "definition": measure.definition, **scale}
        )
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
        return "There are no rankings on this page."
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
