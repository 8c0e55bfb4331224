"""All pairs of conventions against a slow model of them, for ten measures of the oracle.

The model is plain Python and reads nothing of germane: from the rows of a query it makes the list that the
conventions leave, and the oracle measures this list.
"""

import random
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, permutations, product
from math import fsum, inf, isclose
from typing import Any

import pyarrow as pa
import pytest

import germane
from germane.errors import GermaneError

import oracle
from strategies import TABLE, oracle_parameters

Row = tuple[str, float]
Judged = dict[str, float]

CHOICES: dict[str, tuple[Any, ...]] = {
    "duplicates": ("first", "last", "max", "keep", "recount"),
    "unjudged": ("remove",),
    "depth": (1, 3),
    "ties": ("trec", "ascending", "given", "best", "worst", "expected", "middle", "grouped"),
    "missing": ("skip",),
    "own": ("drop",),
    "min_score": (0.5,),
    "nonpositive": ("miss",),
    "empty": ("missing",),
    "no_relevant": ("skip", "one"),
    "unknown": ("zero",),
    "relevant": ("listed",),
    "exclude": ("some",),
    "only": ("some",),
    "ignore": ("some",),
    "collapse": ("chunks",),
    "source": ("lists",),
}
"""Each convention with its choices; the default is there in every pair of others."""

MEASURES = ("AP", "RR", "nDCG", "DCG", "P@2", "R@3", "Rprec", "NumRelRet", "bpref", "RBP", "AP@2")
UNORDERED = {"expected": [one for one in MEASURES if one != "bpref"]}
UNORDERED["middle"] = ["RR", "RR@2", "R@1", "R@3", "NumRel"]
UNORDERED["grouped"] = ["AP", "NumRelRet", "P", "R", "F"]
"""The measures of orders of ties that other measures refuse."""

WITHOUT_RELEVANT = {
    "FallOut", "Judged", "NumNonrelRet", "NumQ", "NumRel", "NumRelRet", "NumRet", "RBPResidual", "SetAccuracy",
    "Unjudged", "Utility",
}  # fmt: skip
"""The measures that have a value for a query without relevant items."""
ELSEWHERE = {
    "Compat": {"duplicates"},  # its oracle takes each item once
    "INP": {"duplicates"},  # with recount, copies are hits, and its oracle takes each item once
    "NumQ": {"unknown"}, "RBPResidual": {"unknown"},
    **{key: {"no_relevant"} for key in ("AUROC", "FallOut", "MCC", "RankingLoss")},
}  # fmt: skip
"""Conventions that mean something else for some measures: undefined is what has no nonrelevant item."""

COLLECTIONS = 8  # of each pair of choices


def list_pairs() -> Iterator[dict[str, Any]]:
    for (one, firsts), (other, seconds) in combinations(CHOICES.items(), 2):
        for first in firsts:
            for second in seconds:
                yield {one: first, other: second}


PAIRS = list(list_pairs())


def draw(rng: random.Random, copies: bool) -> tuple[dict[str, Judged], dict[str, list[Row]]]:
    """Draw judgments of up to four queries, and rows with equal scores, own items and empty queries."""
    names = [f"q{number}" for number in range(4)]
    items = [*"abcdef", "q0", "q1"]
    qrels: dict[str, Judged] = {}
    run: dict[str, list[Row]] = {}
    for name in names[:3]:
        judged = rng.sample(items, rng.randint(1, 6))
        qrels[name] = {item: float(rng.choice([-1, 0, 0, 1, 1, 2])) for item in judged}
    for name in (names[0], *rng.sample(names[1:], rng.randint(1, 3))):
        count = rng.randint(1, 7)
        drawn = rng.choices(items, k=count) if copies else rng.sample(items, count)
        run[name] = [(item, rng.choice([-1.0, 0.0, 0.25, 0.5, 1.0, 1.0])) for item in drawn]
    return qrels, run


# --- The model ---------------------------------------------------------------------------------------


def choose_copies(rows: list[Row], duplicates: str) -> list[Row]:
    """Keep one row of each item, or all."""
    if duplicates in ("error", "keep", "recount"):
        return rows
    kept: dict[str, int] = {}
    for at, (item, score) in enumerate(rows):
        better = duplicates == "max" and item in kept and score > rows[kept[item]][1]
        if item not in kept or duplicates == "last" or better:
            kept[item] = at
    return [rows[at] for at in sorted(kept.values())]


def arrange(rows: list[Row], judged: Judged, ties: str) -> list[Row]:
    """Sort by score, and equal scores as the convention says."""

    def rate(item: str) -> tuple[int, float]:
        grade = judged.get(item)
        if grade is None:
            return 1, 0.0
        return (0, -grade) if grade >= 0 else (2, -grade)

    if ties == "trec":
        rows = sorted(rows, key=lambda row: row[0], reverse=True)
    elif ties == "ascending":
        rows = sorted(rows, key=lambda row: row[0])
    elif ties == "best":
        rows = sorted(rows, key=lambda row: rate(row[0]))
    elif ties == "worst":
        rows = sorted(rows, key=lambda row: rate(row[0]), reverse=True)
    return sorted(rows, key=lambda row: -row[1])


def arrange_copies(rows: list[Row], judged: Judged, ties: str) -> list[Row]:
    """Sort rows of which a further copy only occupies its rank, best or worst for the system."""
    arranged: list[Row] = []
    for score in sorted({score for _, score in rows}, reverse=True):
        group = [item for item, its in rows if its == score]
        seen = {item for item, _ in arranged}
        hits = [
            item for item in dict.fromkeys(group) if item not in seen and judged.get(item, -1) > 0
        ]
        spare = [item for item in group if item in seen or not judged.get(item, -1) > 0]
        nonrelevant = arrange([(item, score) for item in spare], judged, ties)
        if ties == "best":
            hits.sort(key=lambda item: -judged[item])
            copies = [item for item in hits for _ in range(group.count(item) - 1)]
            rest = [item for item, _ in nonrelevant]
            judged_bad = [item for item in rest if judged.get(item, 0) < 0 and item not in seen]
            others = [item for item in rest if item not in judged_bad]
            arranged += [(item, score) for item in (*hits, *copies, *others, *judged_bad)]
        else:
            hits.sort(key=lambda item: (judged[item], -group.count(item)))
            copied = [item for item in hits for _ in range(group.count(item))]
            arranged += [*nonrelevant, *((item, score) for item in copied)]
    return arranged


def make_list(query: str, rows: list[Row], judged: Judged, chosen: dict[str, Any]) -> list[Row]:
    """Make the list of items that count as retrieved, best first."""
    least = chosen.get("min_score")
    if "collapse" in chosen:
        rows = choose_copies([(item.partition("#")[0], score) for item, score in rows], "max")
    if query in chosen.get("exclude", {}):
        rows = [row for row in rows if row[0] not in chosen["exclude"][query]]
    if query in chosen.get("ignore", {}):
        rows = [row for row in rows if row[0] not in chosen["ignore"][query]]
    if query in chosen.get("only", {}):
        rows = [row for row in rows if row[0] in chosen["only"][query]]
    if chosen.get("own") == "drop":
        rows = [row for row in rows if row[0] != query]
    if least is not None:
        rows = [row for row in rows if row[1] >= least]
    rows = choose_copies(rows, chosen["duplicates"])
    if chosen["duplicates"] == "keep" and chosen["ties"] in ("best", "worst"):
        return arrange_copies(rows, judged, chosen["ties"])
    return arrange(rows, judged, chosen["ties"])


def grade_rows(
    ranked: list[Row], judged: Judged, chosen: dict[str, Any]
) -> list[tuple[float | None, float]]:
    """Grade the items of a list at their ranks, None for those that are no hits, beside their scores."""
    depth = chosen.get("depth")
    seen: set[str] = set()
    grades: list[tuple[float | None, float]] = []
    for item, score in ranked[:depth]:
        grade = judged.get(item)
        if chosen.get("unjudged") == "remove" and (grade is None or grade < 0):
            continue
        if chosen.get("nonpositive") == "miss" and score <= 0:
            grade = None
        if chosen["duplicates"] == "keep" and item in seen:
            grade = None
        elif grade is not None:
            seen.add(item)
        grades.append((grade, score))
    return grades


def grade_list(ranked: list[Row], judged: Judged, chosen: dict[str, Any]) -> list[float | None]:
    return [grade for grade, _ in grade_rows(ranked, judged, chosen)]


def measure_list(
    measure: str, ranked: list[Row], judged: Judged, counted: Judged, chosen: dict[str, Any]
) -> float:
    """Measure one list; as a mean over all orders of ties, or with ties as one step, if these are chosen."""
    name, _, cutoff = measure.partition("@")
    if chosen["ties"] == "grouped":
        return measure_steps(name, grade_rows(ranked, judged, chosen), counted)
    if chosen["ties"] == "middle":
        return measure_middles(measure, grade_rows(ranked, judged, chosen), counted)
    compute = {**oracle.WITH_CUTOFF, **oracle.WITHOUT_CUTOFF}[name]
    orders = [ranked]
    if chosen["ties"] == "expected":
        scores = sorted({score for _, score in ranked}, reverse=True)
        groups = [[row for row in ranked if row[1] == score] for score in scores]
        orders = [[*chain(*arranged)] for arranged in product(*map(permutations, groups))]
    lists = [grade_list(order, judged, chosen) for order in orders]
    k = int(cutoff) if cutoff else None
    values = [float(compute(oracle.Query(one, list(counted.values()), k))) for one in lists]
    return fsum(values) / len(values)


def measure_steps(name: str, rows: list[tuple[float | None, float]], counted: Judged) -> float:
    """Measure a list whose equal scores are one step, to the last rank of the step."""
    grades, scores = [grade for grade, _ in rows], [score for _, score in rows]
    of = oracle.Query(grades, list(counted.values()), None)
    if name != "AP":
        return float({**oracle.WITH_CUTOFF, **oracle.WITHOUT_CUTOFF}[name](of))
    last = {score: rank for rank, score in enumerate(scores, 1)}
    precisions = [of.P(last[scores[i - 1]], 1) for i in of.ranks if of.is_relevant(i, 1)]
    return fsum(precisions) / of.R(1)


def measure_middles(measure: str, rows: list[tuple[float | None, float]], counted: Judged) -> float:
    """Measure a list in which items of one score stand at the middle of their ranks."""
    name, _, cutoff = measure.partition("@")
    scores = [score for _, score in rows]
    relevant = sum(grade >= 1 for grade in counted.values())
    if name in ("NumQ", "NumRel", "NumRet"):  # which look at no rank of an item
        retrieved = min(len(rows), int(cutoff or len(rows)))
        return {"NumQ": 1, "NumRel": relevant, "NumRet": retrieved}[name]
    middles = [
        scores.index(score) + 1 + (scores.count(score) - 1) / 2
        for grade, score in rows
        if grade is not None and grade >= 1
    ]
    within = [rank for rank in middles if not cutoff or rank <= int(cutoff)]
    return {
        "RR": 1 / min(within, default=inf),
        "LastRank": max(within, default=0.0),
        "Success": float(bool(within)),
        "R": len(within) / (relevant or 1),
    }[name]


def model(
    qrels: dict[str, Judged], run: dict[str, list[Row]], chosen: dict[str, Any], measure: str
) -> dict[str, float]:
    """Compute the value of every query that counts."""
    name = measure.partition("@")[0]
    values: dict[str, float] = {}
    for query, all_judged in qrels.items():
        junk = chosen.get("ignore", {}).get(query, ())
        judged = {item: grade for item, grade in all_judged.items() if item not in junk}
        ranked = make_list(query, run.get(query, []), judged, chosen)
        answered = query in run and not (chosen.get("empty") == "missing" and not ranked)
        if not answered and chosen.get("missing") == "skip":
            continue
        counted = judged
        if chosen.get("relevant") == "listed" and answered:
            whole = {
                item
                for item, _ in make_list(query, run[query], judged, {**chosen, "min_score": None})
            }
            counted = {item: grade for item, grade in judged.items() if item in whole}
        if not any(grade >= 1 for grade in counted.values()) and name not in WITHOUT_RELEVANT:
            if chosen.get("no_relevant") == "skip":
                continue
            values[query] = 1.0 if chosen.get("no_relevant") == "one" else 0.0
            continue
        if answered:
            values[query] = measure_list(measure, ranked, judged, counted, chosen)
        else:
            asked = germane.parse(measure)
            values[query] = oracle.missing_value(name, oracle_parameters(asked), asked.k, judged)
    if chosen.get("unknown") == "zero":
        amended = "zero" if name in WITHOUT_RELEVANT else chosen.get("no_relevant", "zero")
        unknown = [query for query in run if query not in qrels and amended != "skip"]
        values |= dict.fromkeys(unknown, 1.0 if amended == "one" else 0.0)  # nothing is relevant
    return values


# --- The comparison -----------------------------------------------------------------------------------


def as_source(run: dict[str, list[Row]], kind: str) -> Any:
    if kind == "dict":
        return {query: dict(rows) for query, rows in run.items()}
    if kind == "lists":
        return {query: [item for item, _ in rows] for query, rows in run.items()}
    rows = [(query, item, score) for query, got in run.items() for item, score in got]
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(("query", "item", "score"), map(list, columns), strict=True)))


def draw_candidates(
    rng: random.Random, qrels: dict[str, Judged], chosen: dict[str, Any]
) -> dict[str, Any]:
    """Draw the items that are excluded, for some queries, and those that alone count, for all."""
    drawn = {}
    for name in sorted({"exclude", "only", "ignore"} & chosen.keys()):
        queries = list(qrels) if name == "only" else rng.sample(list(qrels), 2)
        drawn[name] = {query: rng.sample([*"abcdef", "q0", "q1"], 4) for query in queries}
    return drawn


def make_chunks(run: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Make a chunk of each row: items that repeat are chunks of one document."""
    return {
        query: [(f"{item}#{at}", score) for at, (item, score) in enumerate(rows)]
        for query, rows in run.items()
    }


def score_by_rank(run: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Score ranked lists by their ranks alone; no score is below 0."""
    return {
        query: [(item, 1 / rank) for rank, (item, _) in enumerate(rows, 1)]
        for query, rows in run.items()
    }


def compare_pair(
    pair: dict[str, Any],
    counts: dict[str, int],
    collections: int = COLLECTIONS,
    measures: Sequence[str] | None = None,
) -> list[str]:
    """Compare germane with the model under a pair of conventions; describe where they differ."""
    differing = []
    for number in range(collections):
        rng = random.Random(f"{pair} {number}")
        copies = "duplicates" in pair
        qrels, run = draw(rng, copies or "collapse" in pair)
        chosen = {"duplicates": "error", "ties": "trec", **pair}
        chosen |= draw_candidates(rng, qrels, chosen)
        kind = chosen.pop("source", "table" if copies or number % 2 else "dict")
        if "collapse" in chosen:
            run = make_chunks(run)
            chosen["collapse"] = {i: i.partition("#")[0] for got in run.values() for i, _ in got}
        if kind == "lists":
            run = score_by_rank(run)
        source = as_source(run, kind)
        wanted = measures or UNORDERED.get(chosen["ties"], MEASURES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = germane.evaluate(qrels, source, " ".join(wanted), **chosen)
            except GermaneError:
                counts["refused"] += 1
                continue
        for measure in wanted:
            expected, found = model(qrels, run, chosen, measure), result[measure].per_query
            if expected.keys() != found.keys():
                differing.append(f"{pair} {measure}: {found} not {expected}; {qrels} {run}")
                continue
            for query, value in expected.items():
                counts["values"] += 1
                if not isclose(found[query], value, rel_tol=1e-12, abs_tol=1e-12):
                    differing.append(
                        f"{pair} {measure} {query}: {found[query]} not {value}; {qrels.get(query)} {run.get(query)}"
                    )
            if expected and measure.partition("@")[0] not in WITHOUT_RELEVANT:
                mean = fsum(expected.values()) / len(expected)
                if not isclose(result[measure].mean, mean, rel_tol=1e-12, abs_tol=1e-12):
                    differing.append(f"{pair} {measure}: mean {result[measure].mean} not {mean}")
    return differing


@pytest.mark.parametrize("names", list(combinations(CHOICES, 2)), ids="-".join)
def test_all_pairs_of_conventions(names: tuple[str, str]) -> None:
    counts = {"values": 0, "refused": 0}
    pairs = [pair for pair in PAIRS if tuple(pair) == names]
    differing = [one for pair in pairs for one in compare_pair(pair, counts)]
    assert not differing, differing[0]
    if names in (("min_score", "source"), ("nonpositive", "source")):  # lists have no scores
        assert counts == {"values": 0, "refused": COLLECTIONS}
        return
    assert counts["values"] > 30  # many words together are refused for lists without scores
    assert counts["refused"] < COLLECTIONS * len(pairs) / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_several_conventions_at_once(seed: int) -> None:
    rng = random.Random(seed)
    counts = {"values": 0, "refused": 0}
    for _ in range(10):
        names = rng.sample(list(CHOICES), rng.randint(3, len(CHOICES)))
        chosen = {name: rng.choice(CHOICES[name]) for name in names}
        if chosen.get("source") == "lists":
            chosen.pop("nonpositive", None)  # which is refused, since lists have no scores
        differing = compare_pair(chosen, counts)
        assert not differing, differing[0]
    assert counts["values"] > 100


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_tied_copies_in_the_best_and_the_worst_order(ties: str) -> None:
    """No order of copies with grades 0 and 1 is better than the best, or worse than the worst."""
    chosen = {"duplicates": "keep", "ties": ties}
    for number in range(60):
        graded, run = draw(random.Random(f"{ties} {number}"), copies=True)
        qrels = {query: {i: min(g, 1.0) for i, g in held.items()} for query, held in graded.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = germane.evaluate(qrels, as_source(run, "table"), "AP", **chosen)  # type: ignore[arg-type]
        for query in qrels.keys() & run.keys():
            rows, judged = run[query], qrels[query]
            groups = [
                [row for row in rows if row[1] == score] for score in {row[1] for row in rows}
            ]
            groups.sort(key=lambda group: -group[0][1])
            values = [
                oracle.average_precision(
                    oracle.Query(
                        grade_list([*chain(*arranged)], judged, chosen), [*judged.values()], None
                    )
                )
                for arranged in product(*map(permutations, groups))
            ]
            extreme = max(values) if ties == "best" else min(values)
            assert isclose(got["AP"].per_query[query], extreme, abs_tol=1e-12)


if __name__ == "__main__":
    asked = int(sys.argv[1])
    for one, other in combinations(CHOICES, 2):
        total = {"values": 0, "refused": 0}
        pairs = [pair for pair in PAIRS if tuple(pair) == (one, other)]
        differing = [says for pair in pairs for says in compare_pair(pair, total, asked)]
        counted = len(pairs), total["values"], total["refused"], len(differing)
        sys.stdout.write(f"{one} {other} {counted}\n")


def list_measures() -> Iterator[str]:
    """List every measure of the oracle whose parameters have defaults.

    Not those whose value for a query without results or without relevant items is another than the
    model's: test_rank_measures.py has them.
    """
    known = {row.name for row in TABLE} - {"IPrec", "RecallAtPrecision"}
    known -= {"GAUC", "MeanRank", "PercentileRank"}
    for name in sorted(known & oracle.WITHOUT_CUTOFF.keys()):
        yield name
    for name in sorted(known & oracle.WITH_CUTOFF.keys()):
        yield f"{name}@2"


@pytest.mark.slow
@pytest.mark.parametrize("measure", list(list_measures()))
def test_every_measure_under_pairs_of_conventions(measure: str) -> None:
    name = measure.partition("@")[0]
    counts = {"values": 0, "refused": 0}
    for pair in random.Random(measure).sample(PAIRS, 30):
        expected_only = pair.get("ties") == "expected" and not germane.parse(measure).row.expected
        if (
            expected_only
            or pair.get("ties") == "grouped"
            or ELSEWHERE.get(name, set()) & pair.keys()
        ):
            continue
        differing = compare_pair(pair, counts, 3, [measure])
        assert not differing, differing[0]
    assert counts["values"] > 30  # many words together are refused for lists without scores
    assert counts["refused"] < 100
