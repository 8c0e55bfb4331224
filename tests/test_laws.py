"""Every law × every row of the table of measures.

A law is a function that takes a measure and yields what breaks it. ``BREAKS`` names the measures
that break one, with the reason; a measure named there must really break it, and any other may not.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from math import fsum, isclose, log
from typing import Any

import numpy as np
import pytest

import germane
from germane import parse

# Laws are about terms and norms of rankings, which no public function returns.
from germane.core.policy import Policy
from germane.core.qrels import AS_GIVEN, BY_ID
from germane.evaluation.judging import judge
from germane.measures import Scored
from germane.measures.averaging import compute_scores
from germane.readers.objects.mapped_qrels import read_qrels
from germane.readers.objects.mappings import RankedLists, ScoredMapping
from germane.types import Measure, Ranking

import oracle
from strategies import ALL, CUTOFFS, Definition, Listed, variants, with_subtopics, world

Law = Callable[[Measure], Iterable[str]]

WORLD = world(seed=1)
TINY = 1e-12

# ------------------------------------------------------------------------------ who breaks what

COUNT = "a count, not a share"
UNBOUNDED = "a sum, not normalised"
HAS_K = "divided by k, or by all that was retrieved, whether relevant items fill that or not"
STATES = "says what was judged, whatever was retrieved"
READER = "a reader who stops: 1 only in the limit"
SHARE = "a share of what is within k, which may fall"
UNLIKE_BEST = "grades are not scaled to 1, or the reader goes on beyond the relevant items"
LOW_IS_BEST = "0 is best"
EVERYTHING = "counts every item that exists"
MODELS = ("INSQ", "INST", "BPM", "NERR8", "NERR9", "NERR10", "NERR11", "SDCG")
CELLS = ("FallOut", "SetAccuracy", "MCC")

GRADE = "the highest grade of an item does not say how many subtopics it has"
ALL_SUBTOPICS = dict.fromkeys((row.name for row in ALL if row.subtopics), GRADE)

NOT_ONE = {
    "NumRet": COUNT,
    "NumRel": COUNT,
    "NumRelRet": COUNT,
    "Unjudged": "0 is best",
    "AR": "(R + 1)/2R at most",
    "MeanR": "recall 1 is reached at rank R only",
    "Rprec": "with mult > 1 it looks beyond the last relevant item",
    "Utility": "gains and costs in units of the reader's choice",
    "YAAP": "log odds",
    "DCG": UNBOUNDED,
    "IDCG": UNBOUNDED,
    "G": "a gain below 1 costs as much as 1, as in trec_eval",
    "ERR": READER,
    "RBP": READER,
    "RBPResidual": "0 is best",
    "infAP": "its smoothing constant leaves it 0.00001 short",
    "nDCG(norm=k)": UNLIKE_BEST,
    "nDCG(norm=retrieved)": UNLIKE_BEST,
    **dict.fromkeys(MODELS, UNLIKE_BEST),
    "FallOut": LOW_IS_BEST,
    "RankingLoss": LOW_IS_BEST,
    "LastRank": "a rank",
    "PercentileRank": LOW_IS_BEST,
    "MeanRank": "the mean of several ranks is above 1",
    "GAUC": "0 where there is no pair",
    "MCC": "0 where all items are relevant",
    "AUROC": "0 where there is no pair",
}
"""Measures that need not be 1 for the best list."""

BREAKS: dict[str, dict[str, str]] = {
    "between 0 and 1": {
        "alpha_DCG": UNBOUNDED,
        "ERR_IA(norm=none)": UNBOUNDED,
        "NumRet": COUNT,
        "NumRel": COUNT,
        "NumRelRet": COUNT,
        "NumNonrelRet": COUNT,
        "Utility": "gains and costs in units of the reader's choice",
        "YAAP": "log odds",
        "DCG": UNBOUNDED,
        "IDCG": UNBOUNDED,
        "nDCG(norm=k)": "grades above 1 gain more than an ideal item",
        "nDCG(norm=retrieved)": "grades above 1 gain more than an ideal item",
        "RBP(gain=linear)": "grades above 1 gain more than an ideal item",
        "RBP(gain=exp)": "grades above 1 gain more than an ideal item",
        "MCC": "a correlation, down to -1",
        "LastRank": "a rank",
        "MeanRank": "a rank",
    },
    "within the range that its row states": {},
    "an empty list is worth 0": {
        "NumQ": "counts the query",
        "NumRel": STATES,
        "IDCG": STATES,
        "RBPResidual": "all of RBP is still open",
        "YAAP": "0 is the middle of the log odds: ln(1/(1+R))",
        "Utility(miss=-2)": "every relevant item was missed",
        "SetAccuracy(items=40)": EVERYTHING,
        "FallOut(items=40)": "an empty rank counts as another item",
        "MCC(items=40)": "an empty rank counts as another item",
        "MeanRank": "the first rank behind it is 1, or what missed= says",
        "PercentileRank": "what was missed stands at the end, which is 1",
    },
    "judgments as the list, best first, are worth 1": {
        **NOT_ONE,
        **ALL_SUBTOPICS,
        "NumNonrelRet": COUNT,
        "Judged": "negative grades stand for items in the pool that nobody judged",
        "P": HAS_K,
        "F": HAS_K,
        "SetAP": HAS_K,
        "MeanP": HAS_K,
        "AP(norm=k)": HAS_K,
        "AP(norm=R)": "k items cannot hold more than k relevant ones",
        "AUPR": "k items cannot hold more than k relevant ones",
        "R": "k items cannot hold more than k relevant ones",
        "AllFound": "k items cannot hold more than k relevant ones",
        "SetAccuracy": EVERYTHING,
        "RecallAtPrecision": "k items cannot hold more than k relevant ones",
        "Compat": "items of a lower grade do not belong at the end",
    },
    "the relevant items alone, best first, are worth 1": {
        **NOT_ONE,
        **{name: GRADE for name in ALL_SUBTOPICS if name != "StRecall"},
        "StRecall(subtopics=judged)": "no item is relevant for some subtopics",
        "NumNonrelRet": "0 is best",
        "AUPR(rule=linear101)": "its lines drop to 0 at recall 1: half of an interval is lost",
    },
    "what stands beyond the cutoff changes nothing": {
        **dict.fromkeys([f"{name}(items=retrieved)" for name in CELLS], EVERYTHING),
    },
    "what stands beyond the depth changes nothing": {},
    "unjudged items at the end change nothing": {
        "P_IA": "a share of all that was retrieved",
        "alpha_DCG(norm=full)": "divided by a list as long as this one",
        "ERR_IA(norm=full)": "divided by a list as long as this one",
        "NumRet": "counts them",
        "Judged": "a share of all that was retrieved",
        "Unjudged": "a share of all that was retrieved",
        "P": "a share of all that was retrieved",
        "R(norm=possible)": "a longer list can hold more",
        "AP(norm=possible)": "a longer list can hold more",
        "MeanR": "a mean over all that was retrieved",
        "F": "a share of all that was retrieved",
        "SetAP": "a share of all that was retrieved",
        "Utility": "they cost",
        "AP(norm=k)": "divided by all that was retrieved",
        "MeanP": "a mean over all that was retrieved",
        "RnDCG": "averages over N too, where N ≥ R + 2",
        "nDCG(norm=k)": "divided by all that was retrieved",
        "nDCG(norm=retrieved)": "divided by all that was retrieved",
        "RBP(norm=possible)": "a longer list can hold more",
        **dict.fromkeys(CELLS, EVERYTHING),
        "AUROC": "pairs with all that was retrieved",
        "RankingLoss": "pairs with all that was retrieved",
        "GAUC": "pairs with all that was retrieved",
        "MeanRank(missed=next)": "what was missed stands behind them",
        "PercentileRank(length=retrieved)": "a share of all that was retrieved",
        "Compat": "compares to the end of the list",
    },
    "a better item further up lowers nothing": {
        **ALL_SUBTOPICS,
        "NumNonrelRet": "counts what is not relevant",
        "Unjudged": "counts what is not judged",
        "AP(norm=found)": "a relevant item that comes into the cutoff late is divided by, too",
        "RBPResidual": "less is left open",
        "G": "a gain late, where the list has caught up with the ideal one, is hardly discounted",
        "infAP": "estimates from the sample above; more judged items there can lower it",
        "BPM": "a reader who has found enough stops, and finds no better item",
        "FallOut": LOW_IS_BEST,
        "AUROC": "a relevant item that comes into the cutoff is in pairs, too",
        "RankingLoss": LOW_IS_BEST,
        "LastRank": LOW_IS_BEST,
        "MeanRank": LOW_IS_BEST,
        "PercentileRank": LOW_IS_BEST,
    },
    "a larger cutoff lowers nothing": {
        "P_IA": SHARE,
        "alpha_DCG(norm=full)": "divided by a longer list in which every item has all subtopics",
        "ERR_IA(norm=full)": "divided by a longer list in which every item has all subtopics",
        "alpha_nDCG": "divided by the ideal of as many items",
        "nERR_IA": "divided by the ideal of as many items",
        "Dsharp_nDCG": "divided by the ideal of as many items",
        "Judged": SHARE,
        "Unjudged": SHARE,
        "P": SHARE,
        "R(norm=min)": SHARE,
        "R(norm=possible)": SHARE,
        "AP(norm=possible)": SHARE,
        "F": SHARE,
        "SetAP": SHARE,
        "Utility": "more noise",
        "AP(norm=min)": SHARE,
        "AP(norm=found)": SHARE,
        "AP(norm=k)": SHARE,
        "MeanP": SHARE,
        "nDCG": "divided by the ideal of as many items",
        "RBPResidual": "less is left open",
        "nDCG(norm=k)": SHARE,
        "RBP(norm=min)": SHARE,
        "RBP(norm=possible)": SHARE,
        **dict.fromkeys(MODELS, SHARE),
        "SetAccuracy": SHARE,
        "MCC": SHARE,
        "AUROC": SHARE,
    },
    "parts of the queries evaluate as the whole": {},
    "terms add up to the value": {},
    "other names for queries and items change nothing": {},
}

LAWS: dict[str, Law] = {}


def law(name: str) -> Callable[[Law], Law]:
    def register(function: Law) -> Law:
        LAWS[name] = function
        return function

    return register


# ----------------------------------------------------------------------------------------- tools

Queries = tuple[Listed, ...]


@cache
def ranking(queries: Queries, depth: int | None = None) -> Ranking:
    """Lists as evaluate() ranks them; kept, because every measure asks for the same ones."""
    judged = {f"q{i}": with_subtopics(one.judged) for i, one in enumerate(queries)}
    qrels = read_qrels(judged, "error")
    run = {f"q{i}": list(one.ranked) for i, one in enumerate(queries)}
    retrieved = RankedLists(run).retrieve(qrels, "error", AS_GIVEN)
    return judge(qrels, retrieved, Policy(ties="given", depth=depth)).rank("given")


def evaluated(queries: Queries, measure: Measure, depth: int | None = None) -> list[float]:
    """Each query's value."""
    found: list[float] = compute_scores(measure, ranking(queries, depth)).tolist()
    return found


def differing(queries: Queries, before: list[float], after: list[float]) -> Iterator[str]:
    for one, old, new in zip(queries, before, after, strict=True):
        if old != new:
            yield f"{one}: {old} became {new}"


def below(one: object, least: float, value: float) -> Iterator[str]:
    if value < least - TINY * max(1.0, abs(least)):
        yield f"{one}: {value} < {least}"


# ------------------------------------------------------------------------------------- the laws


@law("between 0 and 1")
def _(measure: Measure) -> Iterator[str]:
    for one, value in zip(WORLD, evaluated(WORLD, measure), strict=True):
        if not -TINY <= value <= 1 + TINY:
            yield f"{one}: {value}"


@law("within the range that its row states")
def _(measure: Measure) -> Iterator[str]:
    """Intervals of few queries come from it."""
    low, high = measure.range or (-np.inf, np.inf)
    for one, value in zip(WORLD, evaluated(WORLD, measure), strict=True):
        if not low - TINY <= value <= high + TINY:
            yield f"{one}: {value}"


@law("an empty list is worth 0")
def _(measure: Measure) -> Iterator[str]:
    empty = emptied()
    for one, value in zip(empty, evaluated(empty, measure), strict=True):
        if value != 0:
            yield f"{one}: {value}"


@cache
def emptied() -> Queries:
    return tuple(Listed(one.judged, ()) for one in WORLD)


@law("judgments as the list, best first, are worth 1")
def _(measure: Measure) -> Iterator[str]:
    yield from not_one(perfect(*takes_for_relevant(measure), True), measure)


@law("the relevant items alone, best first, are worth 1")
def _(measure: Measure) -> Iterator[str]:
    if measure.k is None:
        yield from not_one(perfect(*takes_for_relevant(measure), False), measure)


def not_one(queries: Queries, measure: Measure) -> Iterator[str]:
    values = evaluated(queries, measure) if queries else []  # nothing reaches rel=5
    for one, value in zip(queries, values, strict=True):
        if not isclose(value, 1, rel_tol=TINY):
            yield f"{one}: {value}"


def takes_for_relevant(measure: Measure) -> tuple[float, Any]:
    """The lowest relevant grade, and the map from grades to gains if there is one."""
    parameters = dict(measure.parameters)
    gain = parameters.get("gain")
    return parameters.get("rel", parameters.get("least") or TINY), gain if isinstance(
        gain, tuple
    ) else None


@cache
def perfect(rel: float, gain: Any, rest: bool) -> Queries:
    """Relevant items first, the best of them foremost; then everything else that is judged."""
    out = []
    for one in WORLD:
        worth = dict(gain).__getitem__ if gain else float
        relevant = [item for item, grade in one.judged.items() if grade >= rel]
        relevant.sort(key=lambda item: worth(one.judged[item]), reverse=True)
        others = sorted(set(one.judged) - set(relevant), key=one.judged.__getitem__, reverse=True)
        if relevant:
            out.append(Listed(one.judged, (*relevant, *others) if rest else tuple(relevant)))
    return tuple(out)


@law("what stands beyond the cutoff changes nothing")
def _(measure: Measure) -> Iterator[str]:
    if measure.k is not None:
        full, longer = filled(measure.k)
        yield from differing(full, evaluated(full, measure), evaluated(longer, measure))


@law("what stands beyond the depth changes nothing")
def _(measure: Measure) -> Iterator[str]:
    for depth in (1, 4):
        full, longer = filled(depth)
        yield from differing(full, evaluated(full, measure), evaluated(longer, measure, depth))


@cache
def filled(length: int) -> tuple[Queries, Queries]:
    """The world's lists cut or filled up to a length, and the same with a tail of what they miss."""
    full, longer = [], []
    for one in WORLD:
        head = (*one.ranked, *(f"x{i}" for i in range(length)))[:length]
        tail = ("tail", *sorted(set(one.judged) - set(head)))
        full.append(Listed(one.judged, head))
        longer.append(Listed(one.judged, head + tail))
    return tuple(full), tuple(longer)


@law("unjudged items at the end change nothing")
def _(measure: Measure) -> Iterator[str]:
    yield from differing(WORLD, evaluated(WORLD, measure), evaluated(padded(), measure))


@cache
def padded() -> Queries:
    return tuple(Listed(one.judged, (*one.ranked, "x0", "x1", "x2")) for one in WORLD)


@law("a better item further up lowers nothing")
def _(measure: Measure) -> Iterator[str]:
    before, after = swapped(takes_for_relevant(measure)[1])
    pairs = zip(after, evaluated(before, measure), evaluated(after, measure), strict=True)
    for one, least, value in pairs:
        yield from below(one, least, value)


@cache
def swapped(gain: Any) -> tuple[Queries, Queries]:
    """Lists with an item straight above a better one, and the same with the two exchanged."""
    before, after = [], []
    for one in WORLD:
        ranked = one.ranked
        for i in range(len(ranked) - 1):
            if goodness(one, ranked[i + 1], gain) > goodness(one, ranked[i], gain):
                before.append(one)
                exchanged = (*ranked[:i], ranked[i + 1], ranked[i], *ranked[i + 2 :])
                after.append(Listed(one.judged, exchanged))
    return tuple(before), tuple(after)


def goodness(one: Listed, item: str, gain: Any) -> float:
    """A grade, or what an explicit map makes of it; unjudged is just below grade 0."""
    grade = one.judged.get(item, -0.5)
    return float(dict(gain or ()).get(grade, grade))


@law("a larger cutoff lowers nothing")
def _(measure: Measure) -> Iterator[str]:
    if measure.k is not None:
        larger = evaluated(WORLD, measure @ (measure.k + 1))
        for one, least, value in zip(WORLD, evaluated(WORLD, measure), larger, strict=True):
            yield from below(one, least, value)


@cache
def tied_lists() -> tuple[tuple[Listed, dict[str, float]], ...]:
    """Short lists, with scores of which some are tied."""
    out = []
    for n, one in enumerate(world(seed=2, queries=120, longest=5)):
        tied = {item: float((i * 7 + n) // 4 % 3) for i, item in enumerate(one.ranked[:5])}
        if 1 < len(list(oracle.orders(tied))) <= 24:
            out.append((one, tied))
    assert len(out) > 30
    listed = Listed({"d0": 4.0, "d2": 3.0}, ("d3", "d2", "d0"))  # the better order stops earlier
    return (*out, (listed, dict.fromkeys(listed.ranked, 1.0)))


@cache
def tied_ranking(ties: Any) -> Ranking:
    judged = {f"q{i}": with_subtopics(one.judged) for i, (one, _) in enumerate(tied_lists())}
    qrels = read_qrels(judged, "error")
    run = {f"q{i}": tied for i, (_, tied) in enumerate(tied_lists())}
    retrieved = ScoredMapping(run).retrieve(qrels, "error", AS_GIVEN if ties == "given" else BY_ID)
    return judge(qrels, retrieved, Policy(ties=ties)).rank(ties)


@law("parts of the queries evaluate as the whole")
def _(measure: Measure) -> Iterator[str]:
    whole = evaluated(WORLD, measure)
    for parts in partitions():
        pieces = [value for part in parts for value in evaluated(part, measure)]
        yield from differing(WORLD, whole, pieces)
    yield from differing(WORLD, whole, evaluated(WORLD[::-1], measure)[::-1])


@cache
def partitions() -> tuple[tuple[Queries, ...], ...]:
    third, alone = len(WORLD) // 3, 12
    return (
        (WORLD[:third], WORLD[third:]),
        (*((one,) for one in WORLD[:alone]), WORLD[alone:]),
        (WORLD[:-alone], *((one,) for one in WORLD[-alone:])),
    )


@law("terms add up to the value")
def _(measure: Measure) -> Iterator[str]:
    """The value is (Σ terms + rest) / norm, and nothing beyond the cutoff has a term."""
    orders = ("trec", "best", "worst", *(("expected",) if measure.row.expected else ()))
    for given in (ranking(WORLD), *map(tied_ranking, orders)):
        parameters = {name: value for name, value in measure.parameters if name != "mean"}
        scored = measure.row.kernel(given, measure.k, **parameters)
        assert len(scored.terms) == len(given.rank), measure
        assert len(scored.norm) == len(given), measure
        assert np.isfinite(scored.terms).all(), measure
        added = sums_of_terms(scored, given.offsets.tolist())
        for query, total, value in zip(
            given.queries, added, scored.compute_values(given), strict=True
        ):
            if not isclose(total, value, rel_tol=TINY, abs_tol=TINY):
                yield f"{query}: {value}, but the terms add up to {total}"
        if measure.k is not None and scored.terms[given.rank > measure.k].any():
            yield f"a term beyond rank {measure.k}"


def sums_of_terms(scored: Scored, offsets: list[int]) -> Any:
    rest = np.broadcast_to(scored.rest, len(offsets) - 1).tolist()
    norms, sums = scored.norm.tolist(), []
    for q, norm in enumerate(norms):
        total = fsum((*scored.terms[offsets[q] : offsets[q + 1]].tolist(), rest[q]))
        sums.append(total / norm if norm else 0.0)
    return sums if scored.link is None else scored.link(np.array(sums))


@law("other names for queries and items change nothing")
def _(measure: Measure) -> Iterator[str]:
    renamed: list[float] = compute_scores(measure, renamed_ranking()).tolist()
    yield from differing(WORLD, evaluated(WORLD, measure), renamed)


@cache
def renamed_ranking() -> Ranking:
    """Ids of another type, in another order."""
    judged = {
        (i, "query"): {(item[::-1],): held for item, held in with_subtopics(one.judged).items()}
        for i, one in enumerate(WORLD)
    }
    run = {(i, "query"): [(item[::-1],) for item in one.ranked] for i, one in enumerate(WORLD)}
    qrels = read_qrels(judged, "error")
    retrieved = RankedLists(run).retrieve(qrels, "error", AS_GIVEN)
    return judge(qrels, retrieved, Policy(ties="given")).rank("given")


# ----------------------------------------------------------------------------------- the product


def name_of(exception: str) -> str:
    return exception.partition("(")[0]


def covers(exception: str, measure: Measure) -> bool:
    """Does a measure have all that an exception names, whatever its cutoff and the rest?"""
    written = {piece.partition("=")[0] for piece in exception.rstrip(")").split("(")[1:]}
    named = dict(parse(exception).parameters) if written else {}
    parameters = dict(measure.parameters)
    return measure.name == name_of(exception) and all(
        parameters[name] == named[name] for name in written
    )


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
@pytest.mark.parametrize("name", LAWS)
def test_law(name: str, row: Definition) -> None:
    named = [exception for exception in BREAKS[name] if name_of(exception) == row.name]
    really = set()
    for measure in variants(row):
        excused = [exception for exception in named if covers(exception, measure)]
        broken = list(LAWS[name](measure))
        if excused and broken:
            really.update(excused)
        else:
            assert not broken, (
                f"{measure} breaks the law '{name}': {broken[0]}. If it is meant to, add it to BREAKS."
            )
    assert really == set(named), f"named, but keeps the law '{name}': {set(named) - really}"


def test_only_measures_that_are_no_shares_state_no_range() -> None:
    none = {row.name for row in ALL for measure in variants(row) if measure.range is None}
    assert none == {*map(name_of, BREAKS["between 0 and 1"]), "NumQ"} - {"MCC"}


def test_every_law_has_its_list_of_exceptions_and_names_measures_that_exist() -> None:
    assert LAWS
    assert set(LAWS) == set(BREAKS)
    names = {row.name for row in ALL}
    assert all(name_of(exception) in names for law in BREAKS.values() for exception in law)


# ----------------------------------------------------------------------------- laws of the means


@pytest.mark.parametrize("row", [row for row in ALL if not row.omits], ids=lambda row: row.name)
def test_a_mean_is_rounded_once(row: Definition) -> None:
    """The mean is that of the exact sum, so neither the order of queries nor a partition moves it."""
    measure = next(variants(row))
    found = evaluated(WORLD, measure)
    qrels: dict[str, Any] = {f"q{i}": with_subtopics(one.judged) for i, one in enumerate(WORLD)}
    run = {f"q{i}": list(one.ranked) for i, one in enumerate(WORLD)}
    backwards = {query: run[query] for query in reversed(run)}
    expected = fsum(found) / (1 if row.aggregate == "sum" else len(found))
    both = [measure, germane.StRecall]
    assert germane.evaluate(qrels, run, both)[measure].mean == expected
    assert germane.evaluate(qrels, backwards, both)[measure].mean == expected
    swapped = {query: qrels[query] for query in reversed(qrels)}
    assert germane.evaluate(swapped, run, both)[measure].mean == expected


@pytest.mark.parametrize(
    "row",
    [row for row in ALL if any("geometric" in p.words for p in row.parameters)],
    ids=lambda row: row.name,
)
def test_a_geometric_mean_averages_logarithms(row: Definition) -> None:
    arithmetic = next(variants(row))
    measure = arithmetic(mean="geometric")
    found = evaluated(WORLD, arithmetic)
    assert evaluated(WORLD, measure) == found
    qrels = {f"q{i}": with_subtopics(one.judged) for i, one in enumerate(WORLD)}
    run = {f"q{i}": list(one.ranked) for i, one in enumerate(WORLD)}
    mean = germane.evaluate(qrels, run, [measure, germane.StRecall])[measure].mean
    logs = fsum(log(max(value, 0.00001)) for value in found) / len(found)
    assert log(mean) == pytest.approx(logs, rel=TINY)


def test_the_world_has_every_corner() -> None:
    """What the laws quantify over is not accidentally empty."""
    assert any(not one.ranked for one in WORLD)
    assert any(len(one.ranked) > max(CUTOFFS) for one in WORLD)
    assert any(set(one.ranked) - set(one.judged) for one in WORLD)
    assert any(set(one.judged) - set(one.ranked) for one in WORLD)
    assert any(grade < 0 for one in WORLD for grade in one.judged.values())
    assert any(all(grade < 1 for grade in one.judged.values()) for one in WORLD)
