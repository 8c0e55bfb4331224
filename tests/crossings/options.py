"""The data of a cell, and the options on rows as changes of it."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from inputs import Qrels, Scores

MEASURES = "AP P@2 nDCG@3 RR"
LISTS = "Coverage@2 Novelty@2"
OF_HITS = "RR R@2 Success@3"
WHOLE_LISTS = "whole lists"


@dataclass(frozen=True)
class Data:
    """A collection and the options of one cell, in the ids of dicts."""

    qrels: Qrels
    run: Scores
    other: Scores  # a second run
    people: Qrels  # judgments of some queries, by somebody else
    order: tuple[str, ...]  # all items: rows of a query, and columns, are in this order
    options: Mapping[str, Any] = field(default_factory=dict)
    measures: str = MEASURES
    has_copies: bool = (
        False  # does the first item of each query stand again at its end, where that is possible?
    )
    padding: int = (
        0  # results -1 of each query, before the others to be seen; one where there can be one
    )


def make_data(seed: int = 7, queries: int = 7, items: int = 9) -> Data:
    """Draw a collection: ties, scores below 0, items that are named as a query, unjudged and negative grades."""
    draw = random.Random(seed)
    asked = [f"q{at}" for at in range(queries)]
    order = [*(f"d{at}" for at in range(items - 2)), *asked[:2]]
    draw.shuffle(order)

    def retrieve() -> Scores:
        found = {}
        for query in asked:
            got = draw.sample(order, draw.randint(3, items - 2))
            scores = {item: draw.choice([-1.5, -0.5, 0.25, 0.5, 0.75, 2.0]) for item in got}
            found[query] = {item: scores[item] for item in order if item in scores}
        return found

    qrels = {}
    for query in asked:
        judged = draw.sample(order, 5)
        grades = {item: draw.choice([-1.0, 0.0, 1.0, 2.0]) for item in judged}
        qrels[query] = {**grades, judged[0]: 1.0}
    people = {query: {i: float(g > 1) for i, g in qrels[query].items()} for query in asked[:5]}
    people[asked[0]] = dict.fromkeys(qrels[asked[0]], 1.0)
    return Data(qrels, retrieve(), retrieve(), people, tuple(order))


def order_by_id(data: Data) -> Data:
    """Order all rows so that tied items are in the order of ``ties=trec``."""
    order = tuple(sorted(data.order, reverse=True))
    run, other = (
        {query: {item: got[item] for item in order if item in got} for query, got in one.items()}
        for one in (data.run, data.other)
    )
    return replace(data, run=run, other=other, order=order)


def cut_group(item: str) -> str:
    """Find the group of an item: two items of neighboring numbers are one, and a query is one of its own."""
    return item if item.startswith("q") else f"g{int(item[1:]) // 2}"


def _exclude(data: Data) -> Data:
    pairs = {query: list(got)[::3] for query, got in data.run.items()}
    return replace(data, options={**data.options, "exclude": pairs})


def _ignore(data: Data) -> Data:
    """Ignore retrieved and judged items, some of them both."""
    pairs = {
        query: [*dict.fromkeys([*list(got)[1:2], *list(data.qrels[query])[-2:]])]
        for query, got in data.run.items()
    }
    return replace(data, options={**data.options, "ignore": pairs})


def _only(data: Data) -> Data:
    pairs = {
        query: [item for item in data.order if item in got or item in data.qrels[query]][::2]
        for query, got in data.run.items()
    }
    return replace(data, options={**data.options, "only": pairs})


def _collapse(data: Data) -> Data:
    """Judge the groups instead of the items; candidates are groups, too."""

    def judge(qrels: Qrels) -> Qrels:
        found: Qrels = {}
        for query, judged in qrels.items():
            for item, grade in judged.items():
                mine = found.setdefault(query, {})
                mine[cut_group(item)] = max(grade, mine.get(cut_group(item), -9.0))
        return found

    groups = {item: cut_group(item) for item in data.order}
    options = dict(data.options)
    for name in {"exclude", "only", "ignore"} & options.keys():
        options[name] = {
            query: sorted({cut_group(item) for item in got}) for query, got in options[name].items()
        }
    return replace(
        data,
        qrels=judge(data.qrels),
        people=judge(data.people),
        options={**options, "collapse": groups},
    )


def _measure_lists(data: Data) -> Data:
    seen = {query: list(reversed(data.order))[at::3] for at, query in enumerate(data.run)}
    options = {**data.options, "seen": seen, "catalogue": list(data.order)}
    return replace(data, measures=LISTS, options=options)


def _say(**options: Any) -> Callable[[Data], Data]:
    return lambda data: replace(data, options={**data.options, **options})


def _copy(**options: Any) -> Callable[[Data], Data]:
    """Repeat an item with a lower score where a run can hold it twice; the others hold its higher one."""
    return lambda data: replace(data, has_copies=True, options={**data.options, **options})


def _pad(**options: Any) -> Callable[[Data], Data]:
    """Fill up the lists with -1, and leave it out again."""
    return lambda data: replace(
        data, padding=2, options={**data.options, "padding": "drop", **options}
    )


def find_top(data: Data) -> float:
    """Find a score that is better than all others."""
    return -99.0 if data.options.get("scores") == "distances" else 99.0


def _part(data: Data) -> Data:
    """Part equal scores by less than single precision shows."""

    def part(run: Scores) -> Scores:
        return {
            query: {item: score - at * 1e-12 for at, (item, score) in enumerate(got.items())}
            for query, got in run.items()
        }

    return replace(data, run=part(data.run), other=part(data.other))


def _lack(**options: Any) -> Callable[[Data], Data]:
    """Leave a judged query out of the run."""

    def change(data: Data) -> Data:
        run, other = (
            {q: got for q, got in one.items() if q != "q1"} for one in (data.run, data.other)
        )
        return replace(data, run=run, other=other, options={**data.options, **options})

    return change


OPTIONS: dict[str, Callable[[Data], Data]] = {
    "no option": _say(),
    "exclude=": _exclude,
    "only=": _only,
    "ignore=": _ignore,
    "ignore= and exclude=": lambda data: _ignore(_exclude(data)),
    "collapse=": _collapse,
    "collapse= and exclude=": lambda data: _collapse(_exclude(data)),
    "collapse= and ignore=": lambda data: _collapse(_ignore(data)),
    "own=drop": _say(own="drop"),
    "own=drop and collapse=": lambda data: _say(own="drop")(_collapse(data)),
    "own=drop and exclude=": lambda data: _say(own="drop")(_exclude(data)),
    "min_score=": _say(min_score=0.3),
    "nonpositive=miss": _say(nonpositive="miss"),
    "scores=distances": _say(scores="distances"),
    "scores=distances and max_distance=": _say(scores="distances", max_distance=0.3),
    "scores=distances and collapse=": lambda data: _say(scores="distances")(_collapse(data)),
    "scores=single": lambda data: _say(scores="single")(_part(data)),
    "scores=sigmoid and min_score=": _say(scores="sigmoid", min_score=0.6),
    "padding=drop": _pad(),
    "padding=drop and collapse=": lambda data: _pad()(_collapse(data)),
    "padding=drop and duplicates=first": lambda data: _pad()(_copy(duplicates="first")(data)),
    "unjudged=remove": _say(unjudged="remove"),
    "depth=": _say(depth=2),
    "duplicates=first": _copy(duplicates="first"),
    "duplicates=max": _copy(duplicates="max"),
    "duplicates=max and distances": _copy(duplicates="max", scores="distances"),
    "duplicates=keep": _say(duplicates="keep"),
    "ties=trec": _say(ties="trec"),
    "ties=ascending": _say(ties="ascending"),
    "ties=given": _say(ties="given"),
    "ties=expected": _say(ties="expected"),
    "ties=best": _say(ties="best"),
    "ties=worst": _say(ties="worst"),
    "ties=middle": lambda data: _say(ties="middle")(replace(data, measures=OF_HITS)),
    "ranks=places": _say(ranks="places"),
    "missing=skip": _lack(missing="skip"),
    "relevant=listed": _say(relevant="listed"),
    "whole lists": _measure_lists,
    "whole lists and exclude=": lambda data: _measure_lists(_exclude(data)),
    "whole lists and ignore=": lambda data: _measure_lists(_ignore(data)),
    "whole lists and only=": lambda data: _measure_lists(_only(data)),
    "whole lists and own=drop": lambda data: _say(own="drop")(_measure_lists(data)),
    "whole lists and min_score=": lambda data: _say(min_score=0.3)(_measure_lists(data)),
    "whole lists and padding=drop": lambda data: _pad()(_measure_lists(data)),
    "whole lists and depth=": lambda data: _say(depth=1)(_measure_lists(data)),
    "whole lists and ties=given": lambda data: _say(ties="given")(_measure_lists(data)),
}  # fmt: skip
