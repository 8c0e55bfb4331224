"""Report: the answer of a search: names, special data in words, smallest counterexample."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from germane.core.policy import DEFAULTS
from germane.core.ragged import Floats
from germane.dialects.names import agree
from germane.errors import list_choices
from germane.identification.asking import Precision
from germane.identification.cases import Question, describe
from germane.identification.counterexample import (
    define,
    find_counterexample,
    make_counterexample,
    shrink,
)
from germane.identification.decisions import State
from germane.identification.identification import Counterexample, Definition, Identification
from germane.identification.mistakes import find_means, find_misreadings, find_mistakes
from germane.identification.search import Search
from germane.identification.special_data import SPECIAL
from germane.measures.measure import Measure
from germane.reconciliation.variations import Candidate

GRADED = "grades above 1"

WORDS: dict[tuple[str, Any], str] = {
    ("duplicates", "first"): "counts at its first rank, its copies are dropped",
    ("duplicates", "keep"): "counts once, its copies take ranks",
    ("duplicates", "recount"): "counts each time",
    ("duplicates", "last"): "counts at its last rank",
    ("duplicates", "max"): "counts at its best score",
    ("repeated", "once"): "counts once",
    ("repeated", "each"): "counts each time",
    ("missing", "zero"): "counts as 0",
    ("missing", "skip"): "is left out",
    ("missing", "nan"): "makes the mean NaN",
    ("unknown", "ignore"): "is left out",
    ("unknown", "zero"): "counts as 0",
    ("no_relevant", "skip"): "is left out",
    ("no_relevant", "zero"): "counts as 0",
    ("no_relevant", "one"): "counts as 1",
    ("no_relevant", "nan"): "makes the mean NaN",
    ("nonpositive", "miss"): "are no hits",
    ("scores", "single"): "are equal",
    ("ties", "trec"): "by id, from the last to the first",
    ("ties", "ascending"): "by id, from the first to the last",
    ("ties", "given"): "in the order given",
    ("ties", "expected"): "mean over all orders",
    ("ties", "middle"): "at the middle of its ranks",
    ("ties", "grouped"): "one step, at its last rank",
    ("ties", "best"): "relevant items first",
    ("ties", "worst"): "relevant items last",
}
_BY_NAME = {special.name: special for special in SPECIAL}
_SAID = ("no hit", "all relevant", "no relevant", "no relevant among others", "empty", "copies",
    "repeats", "missing", "unknown",
         "ties", "close scores", "nonpositive", "negative")  # fmt: skip


def make_answer(search: Search, states: Sequence[State], name: str) -> Identification:
    """Make the answer from the definitions that are left."""
    claim, trail = search.claim, search.trail
    definitions = tuple(_make_definition(search, state) for state in states)
    holds = None if claim is None else any(_is_claim(state, claim) for state in states)
    nearest, example = None, None
    mistakes: tuple[str, ...] = ()
    if trail.random is None:
        if not states:
            nearest = _find_nearest(search)
            mistakes = () if trail.constant else tuple(_name_mistakes(search, nearest))
        target = _choose_target(states, claim, nearest, holds)
        if target is not None:
            example = find_counterexample(search, target, states)
    return Identification(
        name,
        claim,
        definitions,
        search.compared,
        search.inquiry.asker.calls,
        holds,
        _describe_special(search, states),
        _list_undecided(search),
        _list_raised(search),
        tuple(_make_odd(search, states)),
        None if nearest is None else define(nearest),
        example,
        mistakes,
        tuple(_write_remarks(search, states, nearest)),
    )


def _list_raised(search: Search) -> dict[str, str]:
    unjudged = search.inquiry.asker.unjudged
    first = {"items that nobody judged": unjudged} if unjudged else {}
    special = search.trail.raised.items()
    return first | {_say(name): _write_raised(*raised) for name, raised in special}


def _write_raised(question: Question, error: str) -> str:
    data = describe(question)
    return f"{error}, on {data}" if len(data) <= _SHORT else error


_SHORT = 60  # letters of data that are shown beside an error


def _make_definition(search: Search, state: State) -> Definition:
    decided, choices = dict(state.decided), () if state.plain else state.candidate.choices
    tools = search.tools.find(state.candidate, search.batches, search.inquiry.precision)
    left = {name: word for name, word in choices if name not in decided}
    return Definition(state.candidate.measure, decided, tools, left)


def _is_claim(state: State, claim: Measure) -> bool:
    """Is a definition the one that was claimed, whatever its conventions for special data?"""
    return state.plain and agree(state.candidate.measure, claim)


def _choose_target(
    states: Sequence[State], claim: Measure | None, nearest: Candidate | None, holds: bool | None
) -> Candidate | None:
    """Choose the definition that a counterexample is about."""
    if claim is not None and not holds:
        return Candidate(claim)
    return nearest if not states else None


def _find_nearest(search: Search) -> Candidate | None:
    """Find the definition that gives most of the values of ordinary data."""
    if search.trail.broken is not None:
        return search.trail.broken[0]
    batch = search.ordinary
    if batch is None or not batch.is_answered:
        return None
    measures = search.list_measures(search.cutoffs)

    def measure_merit(measure: Measure) -> tuple[float, float, float]:
        expected = batch.expect(Candidate(measure))
        simple = -float(search.count_oddities(Candidate(measure)))
        if expected is None:
            return -1.0, 0.0, simple
        matched = batch.match(expected, search.inquiry.precision)
        off = np.abs(batch.given - expected)[batch.answered]
        far = float(np.nan_to_num(off, nan=1.0).mean())
        return float(matched.sum()), -round(far, 9), simple

    near = measures
    if search.claim is not None:
        near = [measure for measure in measures if measure.name == search.claim.name]
    return Candidate(max(near, key=measure_merit))


def _make_odd(search: Search, states: Sequence[State]) -> Iterable[Counterexample]:
    """Make the counterexamples of special data on which no convention fits, shrunk."""
    for name, question in search.trail.unexplained.items() if states else ():
        first = states[0].candidate
        if any(find_misreadings(search.inquiry, first, question)):
            continue  # which is said in words
        small = shrink(search.inquiry, first, question, name)
        example = make_counterexample(search, first, small, (), f" ({_say(name)})")
        yield replace(example, definition=Definition(first.measure))


def _say(name: str) -> str:
    return {"graded": GRADED, "ordinary": "ordinary queries"}.get(name) or _BY_NAME[name].says


def _describe_special(search: Search, states: Sequence[State]) -> dict[str, str]:
    """Describe what the function does with special data."""
    behavior = {}
    trail = search.trail
    words = {**dict(states[0].candidate.choices), **dict(states[0].decided)} if states else {}
    for name in _SAID:
        special, values = _BY_NAME[name], trail.shown.get(name)
        convention = special.decides[0]
        if values is None or name in trail.unexplained or name in trail.unseen:
            continue
        if name in ("no relevant", "empty"):
            if _is_one(values):
                behavior[special.says] = f"{values[0] + 0.0:g}"
        elif (convention, words.get(convention)) in WORDS:
            behavior[special.says] = WORDS[convention, words[convention]]
        elif (
            name != "no hit" and words.get(convention, DEFAULTS[convention]) != DEFAULTS[convention]
        ):
            behavior[special.says] = f"{convention}={words[convention]}"
    for name, question in trail.unexplained.items() if states else ():
        for misreading in find_misreadings(search.inquiry, states[0].candidate, question):
            behavior[_say(name)] = misreading.name
    if "short" in trail.shown and states:
        behavior["lists shorter than the cutoff"] = "as they are"
    return behavior


def _is_one(values: Floats) -> bool:
    same: bool = np.array_equal(values, np.full(len(values), values[0]), equal_nan=True)
    return same


def _list_undecided(search: Search) -> dict[str, str]:
    """List the special data that was not shown to the function, and why."""
    reasons = {}
    for special in SPECIAL:
        if search.trail.unseen.get(special.name):
            reasons[special.says] = search.trail.unseen[special.name]
        elif (
            search.inquiry.asker.most_calls is not None
            and special.decides
            and special.name not in search.trail.shown
        ):
            reasons.setdefault(special.says, "no call was spent on it")
    for name in search.trail.raised.keys() - {"ordinary"}:
        reasons.setdefault(_say(name), "the function raises")
    if search.trail.binary:
        reasons.setdefault(GRADED, "no definition with grades fits")
    return reasons


def _name_mistakes(search: Search, nearest: Candidate | None) -> Iterable[str]:
    """Name the mistakes that give ordinary values, first of the measure claimed or nearest."""
    batch = search.ordinary
    if batch is None or not batch.is_answered:
        return
    near = None if nearest is None else nearest.measure
    meant = [measure for measure in (search.claim, near) if measure is not None]
    names = [measure.name for measure in meant]
    broken = search.trail.broken
    if nearest is not None and broken is not None:
        for misreading in find_misreadings(search.inquiry, nearest, broken[1]):
            yield f"{nearest.measure} with a mistake: {misreading.name}"
        for text in find_means(search.inquiry, nearest):
            yield f"{nearest.measure} with a mistake: {text}"
    batches = [batch, *([] if broken is None else [search.inquiry.ask_known([broken[1]])])]
    measures, precision = search.list_measures(search.cutoffs), search.inquiry.precision
    mistakes = sorted(
        islice(find_mistakes(batches, measures, precision), 12),
        key=lambda pair: (pair[1] not in meant, pair[1].name not in names, len(str(pair[1]))),
    )
    named: dict[str, Measure] = {}
    for mistake, measure in mistakes:
        named.setdefault(mistake.name, measure)
    for name, measure in islice(named.items(), 3):
        yield f"{measure} with a mistake: {name}"


def _write_remarks(
    search: Search, states: Sequence[State], nearest: Candidate | None
) -> Iterable[str]:
    trail, batch = search.trail, search.ordinary
    if trail.random is not None:
        yield (
            f"It gave two answers to one question, {describe(trail.random)}: it is random, or its"
            " answer depends on the calls before."
        )
        return
    if trail.rounded and states:
        yield trail.rounded
    if trail.constant and batch is not None:
        yield f"It gives {batch.given[batch.answered][0]:.4f} for all data."
    if search.inquiry.asker.kind_of_data:
        yield f"It takes {search.inquiry.asker.containers}: other containers raise an error."
    if states and trail.binary:
        yield (
            "It computes this of the grades 0 and 1; higher grades were not taken as a definition"
            " takes them."
        )
    if states or batch is None or nearest is None or trail.constant:
        return
    if batch.fits(nearest, search.inquiry.precision):
        return  # it differs on special data
    yield from _name_usual(nearest.measure, search.claim)
    for text, precision in (
        ("tolerance=1e-6", Precision(1e-6)),
        ("tolerance=1e-5", Precision(1e-5)),
        *((f"decimals={n}", Precision(decimals=n)) for n in (6, 5, 4, 3, 2)),
    ):
        if batch.fits(nearest, precision):
            yield f"{nearest} is equal with {text}."
            return


def _name_usual(nearest: Measure, claim: Measure | None) -> Iterable[str]:
    """Say which values of a parameter were tried, where it may be any number."""
    for parameter in nearest.row.parameters:
        if parameter.usual:
            claimed = [] if claim is None else [dict(claim.parameters).get(parameter.name)]
            tried = sorted({parameter.default, *parameter.usual, *claimed} - {"auto", None})
            yield (
                f"{nearest.name} was tried with"
                f" {parameter.name}={list_choices(f'{word:g}' for word in tried)}; another value"
                " is tried where the measure names it, as in"
                f" {nearest(**{parameter.name: tried[0]})}."
            )
            return
    if claim is None:
        yield (
            "Parameters that may be any number, such as p of RBP, were tried at their usual values;"
            " another value is tried where the measure names it, as in RBP(p=0.7)."
        )
