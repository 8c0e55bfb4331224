"""For every check, data in which it finds something; text stands for a file."""

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

import germane

QUERIES = [f"q{i}" for i in range(30)]
QRELS = {
    query: {f"{query}d{i}": int(i < 3) for i in range(20)} | {f"{query}e": 2} for query in QUERIES
}
RUN = {
    query: {item: 1 / (place + 1.5) + n / 1e3 for place, item in enumerate(judged)}
    for n, (query, judged) in enumerate(QRELS.items())
}
MEASURES = "AP P@10"


@dataclass(frozen=True)
class Example:
    qrels: Any = None
    run: Any = None
    measures: str = MEASURES
    train: Any = None
    queries: Any = None
    items: Any = None
    options: dict[str, Any] = field(default_factory=dict)


def with_items(change: Any) -> dict[str, dict[Any, float]]:
    """The run with other ids of items."""
    return {query: {change(item): s for item, s in held.items()} for query, held in RUN.items()}


def with_scores(change: Any) -> dict[str, dict[str, float]]:
    """The run with other scores."""
    return {query: {item: change(s) for item, s in held.items()} for query, held in RUN.items()}


def with_ranks(change: Any) -> pa.Table:
    """The run as a frame that has ranks in the place of scores."""
    rows = [(q, item, change(at)) for q, held in RUN.items() for at, item in enumerate(held)]
    query, item, rank = zip(*rows, strict=True)
    return pa.table({"query": query, "item": item, "rank": rank})


def with_grades(change: Any) -> dict[str, dict[str, float]]:
    """The qrels with other grades."""
    return {query: {item: change(g) for item, g in held.items()} for query, held in QRELS.items()}


def qrels_lines(qrels: Any = QRELS) -> str:
    return "".join(f"{q} 0 {item} {g}\n" for q, held in qrels.items() for item, g in held.items())


def run_lines(run: Any = RUN, rank: Any = lambda place: place) -> str:
    return "".join(
        f"{query} Q0 {item} {rank(place)} {score:.6f} tag\n"
        for query, held in run.items()
        for place, (item, score) in enumerate(held.items(), 1)
    )


SPARSE = {query: {f"{query}d0": 1, f"{query}d19": 0} for query in QUERIES}
_FIRST = RUN["q0"]

EXAMPLES = {
    "swapped files": Example(run_lines(), qrels_lines()),
    "malformed judgments": Example("q0 0 q0d0\n" + qrels_lines(), run_lines()),
    "malformed results": Example(
        qrels_lines(), run_lines() + "q0 Q0 x 31 nan tag\nq0 Q0 y 32 0.1\n"
    ),
    "qrels that look like a run": Example(run_lines(), run_lines()),
    "a run that looks like qrels": Example(qrels_lines(), qrels_lines()),
    "no query in common": Example(run={query.upper(): held for query, held in RUN.items()}),
    "nothing judged was found": Example(run=with_items(lambda item: f"doc_{item}")),
    "ids nearly the same": Example(run=with_items(lambda item: item.replace("q7d0", "Q7D0"))),
    "repeated judgments": Example(qrels_lines() + "q3 0 q3d1 0\n", run_lines()),
    "repeated results": Example(qrels_lines(), run_lines() + "q3 Q0 q3d1 31 0.01 tag\n"),
    "judgments of the training data": Example(
        train={"q1": {"q1d0": 1, "q1d1": 1, "other": 1}, "other": {"q2d0": 1}}
    ),
    "missing queries": Example(run={query: RUN[query] for query in QUERIES[3:]}),
    "mostly empty results": Example(run=RUN | {query: {} for query in QUERIES[:15]}),
    "lists emptied by an option": Example(options={"min_score": 1}),
    "ranks taken as an order": Example(run=with_ranks(lambda place: 3 * place + 2)),
    "no relevant items": Example(with_grades(lambda grade: grade / 4)),
    "ranks against scores": Example(qrels_lines(), run_lines(rank=lambda place: 100 - place)),
    "ranks given as scores": Example(
        run={q: {item: n for n, item in enumerate(held, 1)} for q, held in RUN.items()}
    ),
    "scores rise as given": Example(run=with_scores(lambda score: -score)),
    "ranks fall as given": Example(run=with_ranks(lambda place: 21 - place)),
    "relevant results stand last": Example(
        run={q: {item: -s for item, s in reversed(held.items())} for q, held in RUN.items()}
    ),
    "padding among the results": Example(
        run=RUN | {q: {f"{q}d0": 1.0, -1: -9.0} for q in QUERIES[:5]}
    ),
    "the query is its first result": Example(run={q: {q: 9.0, **held} for q, held in RUN.items()}),
    "one result per query": Example(run={q: {next(iter(held)): 1.0} for q, held in RUN.items()}),
    "constant scores": Example(run=with_scores(lambda score: 1.0)),
    "scores lose precision": Example(run=RUN | {"q0": {"q0d0": 2**53, "q0d1": 2**53 + 1}}),
    "relevant items that are no candidates": Example(
        options={"exclude": {query: [f"{query}d1"] for query in QUERIES}}
    ),
    "candidates of other items": Example(
        options={"exclude": {query: [f"{query.upper()}D1"] for query in QUERIES}}
    ),
    "the query among its results": Example(run=RUN | {q: {**RUN[q], q: 0.3} for q in QUERIES[:3]}),
    "queries of the training data": Example(train={"q1": {"other": 1}, "q2": {"other": 1}}),
    "results of the training data": Example(train={"q1": ["q1d2", "new"], "q2": ["q2e"]}),
    "queries among the items": Example(run=RUN | {"q0": {**RUN["q0"], "q5": 0.01, "q7": 0.005}}),
    "queries with the text of an item": Example(
        queries={"q4": "Who wrote it?", "q5": "when"}, items={"x1": "who  wrote\nit?", "x2": "what"}
    ),
    "judged items with the same text": Example(items={"q1d0": "Blue whale", "q2d4": "blue whale"}),
    "the same results for every query": Example(run=dict.fromkeys(QUERIES, _FIRST)),
    "relevant results stand anywhere": Example(
        *(
            {f"{q}-{n}": held for n in range(4) for q, held in side.items()}
            for side in (QRELS, {q: {**held, f"{q}d0": -1.0} for q, held in RUN.items()})
        )
    ),
    "some ranks against scores": Example(
        qrels_lines(), run_lines(rank=lambda place: 3 if place == 2 else 2 if place == 3 else place)
    ),
    "tied scores": Example(run=with_scores(lambda score: round(score, 1))),
    "ties at the cutoff": Example(
        run={
            query: dict(zip(held, [*range(30, 20, -1), 21, *range(20, 10, -1)], strict=True))
            for query, held in RUN.items()
        }
    ),
    "recall that no run can have": Example(
        {q: {f"{q}d{n}": 1 for n in range(12)} for q in QUERIES}, measures="R@5"
    ),
    "half-precision scores": Example(
        run={
            query: {item: 0.5 - place // 2 / 1024 for place, item in enumerate(held)}
            for query, held in RUN.items()
        }
    ),
    "rounded scores": Example(run=with_scores(lambda score: round(score, 2))),
    "fewer results than a cutoff": Example(measures="R@1000"),
    "results not judged": Example(SPARSE),
    "queries not judged": Example(run=RUN | {"q99": {"x": 1.0}}),
    "queries without a judgment": Example(QRELS | {"q99": {}}),
    "nothing relevant": Example(QRELS | {"q0": dict.fromkeys(QRELS["q0"], 0)}),
    "queries without results": Example(run=RUN | {"q0": {}}),
    "one subtopic per item": Example(
        qrels_lines().replace(" 0 ", " 1 ", 1), run_lines(), measures="StRecall@10"
    ),
    "ratings": Example(with_grades(lambda grade: grade + 1)),
    "grades with decimals": Example(with_grades(lambda grade: grade + 0.5)),
    "unusual grades": Example(with_grades(lambda grade: grade * 50)),
    "negative grades": Example(with_grades(lambda grade: -1 if grade == 0 else grade)),
    "only relevant items judged": Example(
        {query: [item for item, g in held.items() if g] for query, held in QRELS.items()}
    ),
    "queries with few results": Example(
        run=RUN | {q: dict(list(RUN[q].items())[:5]) for q in QUERIES[:6]}
    ),
    "few queries": Example(*({q: side[q] for q in QUERIES[:12]} for side in (QRELS, RUN))),
    "differences too small to show": Example(
        run={"bm25": RUN, "dense": RUN | {"q0": {item: -s for item, s in _FIRST.items()}}}
    ),
    "refused by evaluate": Example(with_grades(lambda grade: 2 * grade), measures="ERR(max=3)@10"),
}


# --- What is found -------------------------------------------------------------------------------


def given_in(example: Example, folder: Path) -> list[Any]:
    given = []
    for name, data, clean in (("qrels.txt", example.qrels, QRELS), ("run.txt", example.run, RUN)):
        if isinstance(data, str):
            (folder / name).write_text(data)
            data = folder / name
        given.append(clean if data is None else data)
    return given


def found_in(example: Example, folder: Path) -> germane.types.Checkup:
    return check(example, *given_in(example, folder))


def check(example: Example, qrels: Any, run: Any) -> germane.types.Checkup:
    """Check other qrels and another run with the options of an example."""
    return germane.check(
        qrels, run, example.measures,
        train=example.train, queries=example.queries, items=example.items, **example.options,
    )  # fmt: skip


def only(found: germane.types.Checkup, what: str) -> germane.types.Finding:
    (finding,) = [one for one in found if one.what == what]
    return finding


def whats(found: germane.types.Checkup) -> list[str]:
    return [finding.what for finding in found]


def noticed(
    qrels: Any, run: Any, measures: str = "AP", **policy: Any
) -> dict[str, germane.types.Finding]:
    """What evaluating says by itself, in one warning."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        findings = germane.evaluate(qrels, run, measures, **policy).findings
    assert len(warned) == bool(findings), "one warning for all of them"
    assert all(finding.says in str(warned[0].message) for finding in findings)
    return {finding.what: finding for finding in findings}
