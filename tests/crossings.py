"""Every verb, kind of input and option on rows, as three tables, and what is refused where they meet.

``VERBS``, ``KINDS`` and ``OPTIONS`` are the tables: a line in one of them is crossed with all of the others. ``try_cell`` runs
a cell; its outcome is that of dicts with the same data, or the refusal that ``REFUSED`` states. ``docs/generate_options.py``
prints the same tables.
"""

import itertools
import random
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import germane

import inputs
from inputs import COLUMNS, TREC, Numbered, Qrels, Scores

MEASURES = "AP P@2 nDCG@3 RR"
LISTS = "Coverage@2 Novelty@2"
CLASS_NAMES = re.compile(
    r"object at 0x|<germane|\b(TypeError|AttributeError|KeyError|RunInput|ScoredMapping|RankedLists|SpelledMapping|"
    r"CollapsedMapping|NamedArray|ScoreArray|TopIds|Grouped|Embeddings|TrecFile|QrelsInput|NoneType)\b"
)

# --- The data --------------------------------------------------------------------------------------


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
    """Find the group of an item: two items of neighboring numbers are one."""
    return f"g{int(item[1:]) // 2}"


def _exclude(data: Data) -> Data:
    pairs = {query: list(got)[::3] for query, got in data.run.items()}
    return replace(data, options={**data.options, "exclude": pairs})


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
    for name in {"exclude", "only"} & options.keys():
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
    "collapse=": _collapse,
    "collapse= and exclude=": lambda data: _collapse(_exclude(data)),
    "own=drop": _say(own="drop"),
    "own=drop and collapse=": lambda data: _say(own="drop")(_collapse(data)),
    "own=drop and exclude=": lambda data: _say(own="drop")(_exclude(data)),
    "threshold=": _say(threshold=0.3),
    "nonpositive=miss": _say(nonpositive="miss"),
    "scores=distances": _say(scores="distances"),
    "scores=distances and collapse=": lambda data: _say(scores="distances")(_collapse(data)),
    "scores=single": _say(scores="single"),
    "unjudged=remove": _say(unjudged="remove"),
    "depth=": _say(depth=2),
    "duplicates=first": _say(duplicates="first"),
    "duplicates=max": _say(duplicates="max"),
    "duplicates=keep": _say(duplicates="keep"),
    "ties=trec": _say(ties="trec"),
    "ties=ascending": _say(ties="ascending"),
    "ties=given": _say(ties="given"),
    "ties=expected": _say(ties="expected"),
    "ties=best": _say(ties="best"),
    "ties=worst": _say(ties="worst"),
    "missing=skip": _lack(missing="skip"),
    "relevant=listed": _say(relevant="listed"),
    "whole lists": _measure_lists,
    "whole lists and exclude=": lambda data: _measure_lists(_exclude(data)),
    "whole lists and only=": lambda data: _measure_lists(_only(data)),
    "whole lists and own=drop": lambda data: _say(own="drop")(_measure_lists(data)),
    "whole lists and threshold=": lambda data: _say(threshold=0.3)(_measure_lists(data)),
    "whole lists and depth=": lambda data: _say(depth=1)(_measure_lists(data)),
    "whole lists and ties=given": lambda data: _say(ties="given")(_measure_lists(data)),
}  # fmt: skip

# --- Kinds of input --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Arguments of one cell, and the ids by which its result is compared with others."""

    qrels: Any
    run: Any
    other: Any
    people: Any
    options: dict[str, Any]
    measures: str
    folder: Path
    queries: Sequence[Hashable] = ()  # ids of rows that are numbered
    items: Sequence[Hashable] = ()  # ids of columns that are numbered

    def find_query(self, query: str) -> Hashable:
        """Find a query as the kind has it."""
        return self.queries.index(query) if self.queries else query

    def name_query(self, query: Any) -> Hashable:
        """Name a query as dicts have it."""
        return self.queries[query] if self.queries else query

    def name_item(self, item: Any) -> Hashable:
        """Name an item as dicts have it; groups have their names."""
        return self.items[item] if self.items and isinstance(item, (int, np.integer)) else item


class Kind(NamedTuple):
    """A kind of input: how it is made of dicts, and what its data cannot say."""

    make: Callable[[Data, Path], Case]
    says: str
    ties: str = "trec"  # the order of ties where none is asked for
    scored: bool = True
    adjust: Callable[[Data], Data] = lambda data: data  # to the data that it can hold
    dense: bool = False  # are its grades an array, of which 0 and below are read only where a measure needs them?


def _keep(convert: Callable[[Scores], Any]) -> Callable[[Data, Path], Case]:
    """Hold runs as Python values, beside dicts of judgments."""

    def make(data: Data, folder: Path) -> Case:
        runs = convert(data.run), convert(data.other)
        return Case(data.qrels, *runs, data.people, dict(data.options), data.measures, folder)

    return make


def _rank(run: Scores) -> dict[str, list[str]]:
    return {query: sorted(got, key=lambda item: -got[item]) for query, got in run.items()}


def _write_rows(
    write: Callable[[list[Any], Path], Any], is_ranked: bool = False
) -> Callable[[Data, Path], Case]:
    """Hold runs as rows, which are in the order of their scores if ``is_ranked``."""

    def make(data: Data, folder: Path) -> Case:
        def hold(name: str, given: Any) -> Any:
            place = folder / name
            place.mkdir(exist_ok=True)
            rows = [(query, list(inputs.rows({query: got}))) for query, got in given.items()]
            sign = 1 if data.options.get("scores") == "distances" else -1
            for _, one in rows:
                one.sort(key=lambda row: sign * row[2] if is_ranked else 0)
            return write([row for _, one in rows for row in one], place)

        runs = hold("run", data.run), hold("other", data.other)
        return Case(data.qrels, *runs, data.people, dict(data.options), data.measures, folder)

    return make


def _columns(name: str, scattered: bool = False) -> Callable[[Data, Path], Case]:
    def write(rows: list[Any], folder: Path) -> Any:
        if scattered:  # every query's rows keep their order
            place: dict[str, int] = {}
            at = [
                (place.setdefault(row[0], 0), place.update({row[0]: place[row[0]] + 1}))
                for row in rows
            ]
            rows = [rows[i] for i in sorted(range(len(rows)), key=lambda i: at[i][0])]
        return COLUMNS[name](inputs.table(rows), folder)

    return _write_rows(write)


def _trec(read: bool = False) -> Callable[[Data, Path], Case]:
    def write(rows: list[Any], folder: Path) -> Any:
        path = inputs.store(TREC["plain"](rows), folder)
        return germane.read_run(path) if read else path

    return _write_rows(write, is_ranked=True)


def _json(data: Data, folder: Path) -> Case:
    import json

    paths = [folder / f"{name}.json" for name in ("run", "other")]
    for path, run in zip(paths, (data.run, data.other), strict=True):
        path.write_text(json.dumps(run), "utf-8")
    return Case(data.qrels, *paths, data.people, dict(data.options), data.measures, folder)


class _Cells(Numbered):
    """The matrices of a collection, whose columns are in the order of its data."""

    def __init__(self, data: Data, run: Scores) -> None:
        self.queries = list(data.qrels)
        self.items = list(data.order)
        collapsed = "collapse" in data.options
        self.grades = self._cells({} if collapsed else data.qrels)
        self.scores = self._cells(run)
        self._sign = 1 if data.options.get("scores") == "distances" else -1

    def ranked(self) -> list[list[int]]:
        return [
            sorted(
                np.flatnonzero(~np.ma.getmaskarray(row)).tolist(), key=lambda i: self._sign * row[i]
            )
            for row in self.scores
        ]

    def number(self, given: Qrels) -> dict[int, dict[Any, float]]:
        """Write judgments of some queries as numbers; groups stay as they are."""
        known = {item: at for at, item in enumerate(self.items)}
        return {
            self.queries.index(query): {
                known.get(item, item): grade for item, grade in judged.items()
            }
            for query, judged in given.items()
        }

    def pairs(self, given: Mapping[str, Iterable[str]]) -> dict[int, list[Any]]:
        """Write pairs of query and item as numbers; groups stay as they are."""
        known = {item: at for at, item in enumerate(self.items)}
        return {
            self.queries.index(query): [known.get(item, item) for item in got]
            for query, got in given.items()
        }

    def judged(self) -> Any:
        return [
            {int(i): float(row[i]) for i in np.flatnonzero(~np.ma.getmaskarray(row))}
            for row in self.grades
        ]


def _array(
    hold: Callable[[_Cells], Any], judge: Callable[[_Cells], Any], named: bool = False
) -> Callable[[Data, Path], Case]:
    """Hold runs as arrays, with or without ids of rows and columns."""

    def make(data: Data, folder: Path) -> Case:
        cells, others = _Cells(data, data.run), _Cells(data, data.other)
        options = dict(data.options)
        queries: list[Any] = [] if named else cells.queries
        collapsed = "collapse" in options
        if collapsed:
            options["collapse"] = [options["collapse"][item] for item in cells.items]
        judgments: Any = data.qrels if named or collapsed else judge(cells)
        people: Any = data.people
        if named:
            options |= {"query_ids": cells.queries, "item_ids": cells.items}
        else:
            for name in {"exclude", "only", "seen"} & options.keys():
                options[name] = cells.pairs(options[name])
            if "catalogue" in options:
                options["catalogue"] = len(cells.items)
            people = cells.number(data.people)
            if collapsed:
                judgments = cells.number(data.qrels)
        return Case(
            judgments, hold(cells), hold(others), people, options, data.measures, folder,
            queries, [] if named else cells.items,
        )  # fmt: skip

    return make


def _flat(data: Data, folder: Path) -> Case:
    """Grades and scores of the cells, one after the other, each with its group."""
    cells, others = _Cells(data, data.run), _Cells(data, data.other)
    given = ~np.ma.getmaskarray(cells.grades)
    for one in (cells, others):
        given |= ~np.ma.getmaskarray(one.scores)
    at, columns = np.nonzero(given)
    place = {
        (cells.queries[q], cells.items[i]): number
        for number, (q, i) in enumerate(zip(at.tolist(), columns.tolist(), strict=True))
    }
    options = {**data.options, "group": [cells.queries[q] for q in at.tolist()]}
    for name in {"exclude", "only", "seen"} & options.keys():
        options[name] = {
            query: [place.get((query, item), item) for item in got]
            for query, got in options[name].items()
        }
    people = np.ma.masked_all(len(at))
    for (query, item), number in place.items():
        if item in data.people.get(query, {}):
            people[number] = data.people[query][item]
    return Case(
        cells.grades[at, columns], cells.scores[at, columns], others.scores[at, columns], people, options,
        data.measures, folder, (), [cells.items[i] for i in columns.tolist()],
    )  # fmt: skip


def _embed(named: bool) -> Callable[[Data, Path], Case]:
    """Unit vectors, whose products with the gallery are the scores."""

    def make(data: Data, folder: Path) -> Case:
        case = _array(lambda cells: cells, lambda cells: cells.sparse(), named)(data, folder)
        options = {name: given for name, given in case.options.items() if name != "item_ids"}
        if named:
            options["gallery_ids"] = case.options["item_ids"]
        vectors = [
            (np.eye(len(one.queries)), one.scores.filled(np.nan).T)
            for one in (case.run, case.other)
        ]
        return replace(
            case, run=vectors[0], other=vectors[1], options={**options, "similarity": "dot"}
        )

    return make


def _fill(data: Data) -> Data:
    """Retrieve every item for every query, as vectors do."""

    def fill(run: Scores) -> Scores:
        return {
            query: {item: run.get(query, {}).get(item, -3.0) for item in data.order}
            for query in data.qrels
        }

    return replace(data, run=fill(data.run), other=fill(data.other))


def _label(data: Data) -> Data:
    """Judge every item: 1 for those of the query's label."""
    if "collapse" in data.options:
        return data
    qrels = {
        query: {item: float(at % 3 == q % 3) for at, item in enumerate(data.order)}
        for q, query in enumerate(data.qrels)
    }
    people = {
        query: {item: 1.0 - at % 2 for at, item in enumerate(data.order)} for query in data.people
    }
    return replace(data, qrels=qrels, people=people)


def _make_labels(cells: _Cells) -> germane.Labels:
    return germane.Labels(
        [f"label {q % 3}" for q in range(len(cells.queries))],
        [f"label {at % 3}" for at in range(len(cells.items))],
    )


def _answer_all(data: Data) -> Data:
    """Answer every judged query: an array has a row for each."""
    return replace(
        data,
        run={query: data.run.get(query, {}) for query in data.qrels},
        other={query: data.other.get(query, {}) for query in data.qrels},
    )


def _answer_and(adjust: Callable[[Data], Data]) -> Callable[[Data], Data]:
    return lambda data: adjust(_answer_all(data))


def _grades(cells: _Cells) -> Any:
    return cells.grades


KINDS: dict[str, Kind] = {
    "dicts": Kind(_keep(dict), "`{query: {item: score}}`"),
    "ranked lists": Kind(_keep(_rank), "`{query: [item, …]}`", "given", False),
    "pandas frame": Kind(_columns("pandas"), "columns query, item and score"),
    "pandas categories": Kind(_columns("pandas categories"), "columns of categories"),
    "Polars frame": Kind(_columns("Polars"), "columns query, item and score"),
    "PyArrow table": Kind(_columns("PyArrow table"), "columns query, item and score"),
    "scattered rows": Kind(_columns("PyArrow table", True), "a frame whose queries are not in one piece"),
    "namedtuples": Kind(_columns("namedtuples"), "rows such as `ScoredDoc`"),
    "TREC file": Kind(_trec(), "lines `query Q0 item rank score tag`"),
    "`read_run`": Kind(_trec(True), "a TREC file that was read in advance"),
    "CSV file": Kind(_columns(".csv"), "columns query, item and score"),
    "JSON Lines file": Kind(_columns(".jsonl"), "an object for each row"),
    "Parquet file": Kind(_columns(".parquet"), "columns query, item and score"),
    "JSON file": Kind(_json, "`{query: {item: score}}`"),
    "scores (Q, N)": Kind(
        _array(lambda cells: cells.scores, _grades), "an array without ids, beside one of grades", "given",
        adjust=_answer_all, dense=True,
    ),
    "scores (Q, N) beside CSR": Kind(
        _array(lambda cells: cells.scores, lambda cells: cells.sparse()), "judgments as a CSR matrix", "given",
        adjust=_answer_all,
    ),
    "scores (Q, N) beside labels": Kind(
        _array(lambda cells: cells.scores, _make_labels), "judgments as `germane.Labels`", "given",
        adjust=_answer_and(_label), dense=True,
    ),
    "scores (Q, N) with ids": Kind(
        _array(lambda cells: cells.scores, _grades, True), "and `query_ids`, `item_ids`", "given",
        adjust=_answer_all,
    ),
    "ids (Q, K)": Kind(
        _array(lambda cells: cells.top(), lambda cells: cells.sparse()), "the best K items, without scores", "given",
        False, _answer_all,
    ),
    "ids (Q, K) with ids": Kind(
        _array(lambda cells: cells.top(), lambda cells: cells.sparse(), True), "and `query_ids`, `item_ids`", "given",
        False, _answer_all,
    ),
    "pairs (Q, K)": Kind(
        _array(lambda cells: cells.pair(distances=False), lambda cells: cells.sparse()), "scores and ids of the best K items",
        "given", adjust=_answer_all,
    ),
    "pairs (Q, K) with ids": Kind(
        _array(lambda cells: cells.pair(distances=False), lambda cells: cells.sparse(), True), "and `query_ids`, `item_ids`",
        "given", adjust=_answer_all,
    ),
    "flat arrays": Kind(_flat, "grades and scores, and `group`", "given", adjust=_answer_all, dense=True),
    "embeddings": Kind(_embed(False), "vectors of queries and gallery", "given", adjust=_answer_and(_fill)),
    "embeddings with ids": Kind(
        _embed(True), "and `query_ids`, `gallery_ids`", "given", adjust=_answer_and(_fill)
    ),
}  # fmt: skip

# --- Verbs -----------------------------------------------------------------------------------------


def _list_findings(findings: Iterable[germane.Finding]) -> list[tuple[str, str, int]]:
    return sorted((one.severity, one.what, one.count) for one in findings)


def _round(value: float) -> float:
    return float(f"{value:.10g}")


def _describe(result: germane.Result, case: Case) -> Any:
    """All that a result says: values, counts and findings."""
    values = {
        name: (
            _round(one.mean),
            sorted((str(case.name_query(q)), _round(value)) for q, value in one.per_query.items()),
        )
        for name, one in result.items()
    }
    counts = vars(result.counts) if hasattr(result.counts, "__dict__") else result.counts._asdict()
    return values, dict(counts), _list_findings(result.findings)


def _evaluate(case: Case) -> Any:
    return _describe(_run(case, case.run), case)


def _run(case: Case, run: Any, name: str = "run") -> germane.Result:
    """Evaluate a run; vectors have a verb of their own."""
    if "similarity" in case.options:
        return germane.evaluate_embeddings(
            *run, case.measures, qrels=case.qrels, name=name, **case.options
        )
    return germane.evaluate(case.qrels, run, case.measures, name=name, **case.options)


def _evaluate_many(case: Case) -> Any:
    found = germane.evaluate_many(case.qrels, _name(case), case.measures, **case.options)
    return {name: _describe(one, case) for name, one in found.items()}


def _name(case: Case) -> dict[str, Any]:
    return {"one": case.run, "other": case.other}


def _compare(case: Case) -> Any:
    if case.measures == LISTS:  # Coverage is one number for all lists
        case = replace(case, measures="Novelty@2")
    if "similarity" in case.options:
        found = germane.compare([_run(case, run, name) for name, run in _name(case).items()])
    else:
        found = germane.compare(case.qrels, _name(case), case.measures, **case.options)
    return [(str(one.measure), _round(one.difference), one.p, one.wins) for one in found.pairs]


def _explain(case: Case) -> Any:
    """Items, grades and terms rank by rank."""
    found = []
    for query in ("q0", "q2"):
        made = germane.explain(
            case.qrels, case.run, case.measures, query=case.find_query(query), **case.options
        )
        by_grade = case.options.get("ties") in (
            "best",
            "worst",
        )  # which leave equal grades in any order
        rows = [
            (
                row.rank,
                "" if by_grade and row.tied else str(case.name_item(row.item)),
                row.relevance, row.hit, row.tied,
            )
            for row in made.rows
        ]  # fmt: skip
        missed = sorted((str(case.name_item(item)), grade) for item, grade in made.missed)
        found.append((rows, missed, [_round(one.value) for one in made.readings]))
    return found


def _check(case: Case) -> Any:
    return _list_findings(germane.check(case.qrels, case.run, case.measures, **case.options))


def _spread(case: Case) -> Any:
    measure = "Coverage@2" if case.measures == LISTS else "nDCG@3"
    found = germane.spread(case.qrels, case.run, measure, **case.options)
    return {(one.dialect, _round(one.value)) for one in found if one.value == one.value}


def _reconcile(case: Case) -> Any:
    measure = "Coverage@2" if case.measures == LISTS else "AP@3"
    found = germane.reconcile(case.qrels, case.run, measure=measure, reported=0.123, **case.options)
    return {(str(one.candidate.measure), _round(one.value)) for one in found.tried}


def _report(case: Case) -> Any:
    report = germane.report(case.qrels, _name(case), case.measures, **case.options)
    assert not CLASS_NAMES.search(report.html)
    shown = re.sub(r"(?s)<(style|script).*?</\1>", "", report.html)
    return re.findall(r"\d\.\d{3,}", shown)[:9]  # the means and their intervals


def _gate(case: Case) -> Any:
    found = germane.gate(case.qrels, case.run, case.measures, baseline=case.other, **case.options)
    return [
        (str(one.measure), _round(one.difference)) for one in found.comparison.pairs
    ], found.verdicts


def _choose_judgments(case: Case) -> Any:
    found = germane.choose_judgments(case.qrels, _name(case), "nDCG@3", **case.options)
    pairs = [
        (str(case.name_query(one.query)), str(case.name_item(one.item)), _round(one.weight))
        for one in found
    ]
    return sorted(pairs), {name: _round(share) for name, share in found.open_before.items()}


def _trust(case: Case) -> Any:
    found = germane.trust(
        case.run, people=case.people, model=case.qrels, measures=case.measures, **case.options
    )
    return {str(name): (_round(one.naive_mean), _round(one.mean)) for name, one in found.items()}


def _evaluate_judges(case: Case) -> Any:
    judges = {"ann": case.qrels, "bob": case.people}
    found = germane.evaluate_judges(judges, case.run, case.measures, **case.options)
    return {name: _describe(one, case) for name, one in found.results.items()}


def _pr_curve(case: Case) -> Any:
    found = germane.pr_curve(case.qrels, case.run, query=case.find_query("q0"), **case.options)
    return [_round(one) for one in (*found.precision, *found.recall)]


def _mean_pr_curve(case: Case) -> Any:
    found = germane.mean_pr_curve(case.qrels, case.run, **case.options)
    return [_round(one) for one in found.precision]


def _add_batches(case: Case) -> Any:
    evaluator = germane.Evaluator(case.qrels, case.measures, **case.options)
    evaluator.update(case.run)
    return _describe(evaluator.result(), case)


def _bound(case: Case) -> Any:
    found = germane.evaluate(case.qrels, case.run, "P@2", **case.options).bounds("P@2")
    return _round(found.low), _round(found.high), _round(found.judged)


class Verb(NamedTuple):
    """A verb: how it is called, and if it takes measures of whole lists."""

    call: Callable[[Case], Any]
    of_lists: bool = True
    of_dialects: bool = False  # does it try other orders of ties, which arrays do not have?


VERBS: dict[str, Verb] = {
    "evaluate": Verb(_evaluate),
    "evaluate_many": Verb(_evaluate_many),
    "Evaluator": Verb(_add_batches),
    "compare": Verb(_compare),
    "gate": Verb(_gate),
    "explain": Verb(_explain),
    "pr_curve": Verb(_pr_curve, of_lists=False),
    "mean_pr_curve": Verb(_mean_pr_curve, of_lists=False),
    "check": Verb(_check),
    "spread": Verb(_spread, of_dialects=True),
    "reconcile": Verb(_reconcile, of_dialects=True),
    "report": Verb(_report),
    "bounds": Verb(_bound, of_lists=False),
    "choose_judgments": Verb(_choose_judgments, of_lists=False),
    "trust": Verb(_trust),
    "evaluate_judges": Verb(_evaluate_judges),
}
OF_VECTORS = ("evaluate", "compare")
"""Verbs of vectors: ``evaluate_embeddings``, and ``compare`` with its results."""

# --- A cell ----------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What came of a cell: a value that is the same for all kinds, or a refusal, or a fault."""

    value: Any = None
    refusal: str = ""
    fault: str = ""


def call(verb: str, case: Case) -> Outcome:
    try:
        value = VERBS[verb].call(case)
    except germane.GermaneError as error:
        found = CLASS_NAMES.search(str(error))
        if found:
            return Outcome(fault=f"names {found[0]}: {error}")
        return Outcome(refusal=str(error))
    except Exception as error:  # of any kind: a fault
        return Outcome(fault=f"{type(error).__name__}: {error}")
    return Outcome(value)


class Cell(NamedTuple):
    verb: str
    kind: str
    option: str


def list_cells(options: Iterable[str] = (), verbs: Iterable[str] = ()) -> list[Cell]:
    """List all cells that exist: vectors have two verbs, and curves are not about whole lists."""
    return [
        Cell(verb, kind, option)
        for option in options or OPTIONS
        for kind in KINDS
        for verb in verbs or VERBS
        if (VERBS[verb].of_lists or not option.startswith(WHOLE_LISTS))
        and (verb in OF_VECTORS or not kind.startswith("embeddings"))
    ]


class Table:
    """The outcomes of cells on one collection."""

    def __init__(self, data: Data, folder: Path) -> None:
        self._folder = folder
        self._data = {False: data, True: order_by_id(data)}
        self._expected: dict[Any, Outcome] = {}
        self._cases: dict[tuple[str, str, bool], Case] = {}

    def find_fault(self, cell: Cell) -> str:
        """Find what is wrong with a cell; "" for one that works, or refuses as ``REFUSED`` says."""
        refused = [one.says for one in REFUSED if one.covers(cell)]
        got = call(cell.verb, self.make_case(cell))
        if got.fault:
            return got.fault
        found = () if got.refusal or cell.verb != "check" else got.value
        if refused and any(one[1] == "refused by evaluate" for one in found):
            return ""
        if refused:
            if not got.refusal:
                return "it works, and REFUSED says that it does not"
            stated = any(re.search(says, got.refusal) for says in refused)
            return "" if stated else f"another refusal: {got.refusal}"
        if got.refusal:
            return f"refused: {got.refusal}"
        expected = self._expect(cell)
        if expected.value is None:
            return f"dicts are refused: {expected.refusal or expected.fault}"
        if cell.verb == "check" and cell.kind in NUMBERED:
            got, expected = (
                Outcome([found for found in one.value if found[1] not in ABOUT_IDS])
                for one in (got, expected)
            )
        if (
            VERBS[cell.verb].of_dialects and KINDS[cell.kind].ties == "given"
        ):  # which lacks an order of ids
            return (
                ""
                if got.value and got.value <= expected.value
                else f"differs: {got.value - expected.value}"
            )
        return (
            ""
            if got.value == expected.value
            else "differs: " + _tell_apart(got.value, expected.value)
        )

    def make_case(self, cell: Cell) -> Case:
        ordered = VERBS[cell.verb].of_dialects
        key = cell.kind, cell.option, ordered
        if key not in self._cases:
            folder = self._folder / f"{len(self._cases)}"
            folder.mkdir()
            kind, data = KINDS[cell.kind], OPTIONS[cell.option](self._data[ordered])
            self._cases[key] = kind.make(kind.adjust(data), folder)
        return self._cases[key]

    def _expect(self, cell: Cell) -> Outcome:
        kind = KINDS[cell.kind]
        ordered = VERBS[cell.verb].of_dialects
        data = make_reference(kind, cell.verb, OPTIONS[cell.option](self._data[ordered]))
        key = cell.verb, repr(data)
        if key not in self._expected:
            self._expected[key] = call(cell.verb, _keep(dict)(data, self._folder))
        return self._expected[key]


def make_reference(kind: Kind, verb: str, data: Data) -> Data:
    """Make the data that dicts have to hold to give the values of a kind."""
    data = kind.adjust(data)
    reads_all = verb in NEED_ALL or data.options.get("unjudged") == "remove"
    if kind.dense and not reads_all and "collapse" not in data.options:
        sides = (
            {
                query: {item: grade for item, grade in got.items() if grade > 0}
                for query, got in qrels.items()
            }
            for qrels in (data.qrels, data.people)
        )
        data = replace(data, qrels=next(sides), people=next(sides))
    if not kind.scored:
        run, other = (
            {
                query: {item: float(len(got) - at) for at, item in enumerate(got)}
                for query, got in ranked.items()
            }
            for ranked in map(_rank, (data.run, data.other))
        )
        data = replace(data, run=run, other=other)
    if VERBS[verb].of_dialects:
        return data
    ties = data.options.get("ties", kind.ties)
    if not kind.scored and ties in ("trec", "ascending"):
        ties = "given"
    return replace(data, options={**data.options, "ties": ties})


ABOUT_IDS = (
    "queries among the items",
    "the query among its results",
    "the query is its first result",
)
"""Findings about queries and items of one id, which say nothing of numbers."""
NEED_ALL = {"choose_judgments", "check", "trust", "evaluate_judges"}
"""Verbs that read all grades of an array."""


def _tell_apart(one: Any, other: Any, path: str = "") -> str:
    """Tell where two values differ first."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            if one.get(key) != other.get(key):
                return _tell_apart(one.get(key), other.get(key), f"{path}.{key}")
    if (
        isinstance(one, (list, tuple))
        and isinstance(other, (list, tuple))
        and len(one) == len(other)
    ):
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            if a != b:
                return _tell_apart(a, b, f"{path}[{at}]")
    return f"{path}: {one!r:.200} and not {other!r:.200}"


# --- Refusals --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refusal:
    """Cells that are refused, words of the message, and the reason as the documentation gives it."""

    says: str
    why: str
    verbs: Collection[str]
    kinds: Collection[str]
    options: Sequence[str]

    def covers(self, cell: Cell) -> bool:
        return cell.verb in self.verbs and cell.kind in self.kinds and cell.option in self.options


WHOLE_LISTS = "whole lists"
EVALUATING = tuple(verb for verb in VERBS if verb != "check")
RANKED = ("ranked lists", "ids (Q, K)", "ids (Q, K) with ids")
VECTORS = ("embeddings", "embeddings with ids")
FLAT = ("flat arrays",)
NAMED = tuple(name for name in KINDS if name.endswith("with ids"))
NUMBERED = (
    *(name for name in KINDS if "(Q, " in name and name not in NAMED),
    "flat arrays",
    "embeddings",
)


def select_options(*words: str) -> tuple[str, ...]:
    """List the options whose names have one of these words."""
    return tuple(option for option in OPTIONS if any(word in option for word in words))


_REFUSED: tuple[tuple[str, str, Collection[str], Collection[str], Collection[str]], ...] = (
    ("looks at whole lists|is about whole lists", "it is about judged items, and such a measure is about all results",
     ("explain", "gate", "report", "trust"), KINDS, select_options(WHOLE_LISTS)),
    ("have none|has ranks alone|are only ids", "the results have ranks and no scores", VERBS, RANKED,
     select_options("threshold", "distances")),
    ("collapse=, query_ids= and item_ids= are not for flat arrays",
     "the grades belong to the items, and groups have none", set(VERBS) - {"Evaluator"},
     FLAT, select_options("collapse")),
    ("group= is for one flat array", "a batch holds whole queries, each with its id", ("Evaluator",), FLAT, OPTIONS),
    ("no ids. Give the ids", "the items are numbered, and no item has the id of a query", VERBS, NUMBERED,
     set(select_options("own=drop")) - set(select_options("collapse"))),
    ("whose items have no ids", "the items have no ids, and lists of several queries share none", VERBS, FLAT,
     select_options(WHOLE_LISTS)),
    ("columns of an array have none", "the items are numbered, and ties are ordered by ids", VERBS, NUMBERED,
     select_options("ties=trec", "ties=ascending")),
    ("similarity=euclidean", "`similarity=euclidean` ranks vectors by their distances", VERBS, VECTORS,
     select_options("distances")),
    ("has no closed form", "the mean over all orders of tied items has no closed form there", ("mean_pr_curve",), KINDS,
     select_options("expected")),
    ("does not order equal scores", "single ranks need an order of tied items", ("explain", "pr_curve"), KINDS,
     select_options("expected")),
    ("bounds need an order", "bounds need an order of tied items, and no duplicates", ("bounds",), KINDS,
     select_options("expected", "duplicates=keep")),
    ("are about; leave it out", "bounds are about unjudged items", ("bounds",), KINDS, select_options("unjudged")),
    ("leaves out queries", "the queries of both judges have to be the same", ("trust",), KINDS, select_options("missing")),
)  # fmt: skip
REFUSED = tuple(itertools.starmap(Refusal, _REFUSED))
