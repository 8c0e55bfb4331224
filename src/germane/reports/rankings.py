"""Rankings: the lists behind the values, of as many queries and runs as there is room for."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from germane.core.ragged import Floats
from germane.core.rounding import subtract_values, unite_equal
from germane.errors import make_visible
from germane.evaluation.result import Result, Results
from germane.explanation.explanation import Explanation
from germane.readers.options.texts import Text
from germane.reports.findings import Findings
from germane.reports.thumbnails import make_thumbnail

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
    """List the values of the first measure, of the queries that are judged."""
    values = next(iter(result.values())).per_query
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
            + f"; if ties were ordered otherwise: {reading.tie_values}" * bool(reading.ties)
            for reading in explanation.readings
        ],
        "relevant": explanation.relevant,
        "retrieved": explanation.retrieved,
        "answered": explanation.answered,
        "missed": len(explanation.missed),
        "names": missed,
    }
