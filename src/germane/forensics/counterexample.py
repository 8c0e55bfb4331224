"""The answer of a search: names, special data in words, and the smallest counterexample."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Floats
from germane.errors import list_choices
from germane.forensics.asking import Batch, Precision
from germane.forensics.cases import SPECIAL, Case, Question, Shape, describe, make_case
from germane.forensics.identification_search import Search, State
from germane.forensics.inquiry import Counterexample, Definition, Identification, Inquiry
from germane.forensics.known_cases import find_kinds, show_arguments
from germane.forensics.mistakes import (
    describe_difference,
    find_means,
    find_misreadings,
    find_mistakes,
)
from germane.forensics.variations import Candidate
from germane.measures.measure import Measure

SMALL = 240  # small lists that are tried
Removal = Callable[[Question], Question | None]

_ALLOWED = {"short", "no hit", "all relevant"}  # special data that small lists may be
REMOVALS = 150  # rows that are left out at trial, to make other data smaller


def find_counterexample(
    search: Search, target: Candidate, states: Sequence[State]
) -> Counterexample | None:
    """Find the smallest data on which the function and a definition differ."""
    inquiry, broken = search.inquiry, search.trail.broken
    batches = _list_asked(search)
    example = min(
        filter(None, (batch.find_difference(target, inquiry.precision) for batch in batches)),
        key=lambda question: question.size,
        default=None,
    )
    small = _find_small(search, target, states)
    if small is not None and (example is None or small.size <= example.size):
        return make_counterexample(search, target, small, states)
    if example is None and broken is not None and not states:
        target, example = broken
    if example is None and not states and search.ordinary is not None:
        example = search.ordinary.find_difference(target, inquiry.precision)
    if example is None:
        return None
    return make_counterexample(search, target, shrink(inquiry, target, example), states)


def shrink(inquiry: Inquiry, target: Candidate, question: Question, special: str = "") -> Question:
    """Leave out queries and items, one after the other, as long as function and definition differ.

    Special data stays what it is, and becomes no other.
    """
    if inquiry.asker.most_calls is not None:
        return question
    kinds = find_kinds(question, inquiry.shape)
    required, allowed = kinds & {special}, kinds | _ALLOWED
    left, before = REMOVALS // (4 if inquiry.shape.slow else 1), 0
    while left > 0 and question.size != before:
        before = question.size
        for change in _list_removals(question, inquiry.asker.form.grid):
            less = change(question)
            if left > 0 and less is not None and less.size < question.size:
                left -= 1
                now = find_kinds(less, inquiry.shape)
                if required <= now <= allowed and _differs(inquiry, target, less):
                    question = less
    return question


def _list_removals(question: Question, grid: bool) -> Iterator[Removal]:
    """List the removals of a query, and those of an item; the lists of a grid keep their length."""
    for q in reversed(range(len(question.cases))):
        yield partial(_remove_query, q)
    for case in question.cases if not grid or len(question.cases) == 1 else ():
        rows = (*(case.judged or ()), *(case.ranked or ()))
        for item in reversed(dict.fromkeys(item for item, _ in rows)):
            yield partial(_remove_item, item)


def _remove_query(q: int, question: Question) -> Question | None:
    cases = question.cases
    return Question((*cases[:q], *cases[q + 1 :])) if q < len(cases) > 1 else None


def _remove_item(item: str, question: Question) -> Question | None:
    """Leave out an item of all queries; None where a query would have nothing left."""
    cases = []
    for case in question.cases:
        judged, ranked = (
            rows and tuple(row for row in rows if row[0] != item)
            for rows in (case.judged, case.ranked)
        )
        if bool(judged) != bool(case.judged) or bool(ranked) != bool(case.ranked):
            return None
        cases.append(Case(judged, ranked))
    return Question(tuple(cases))


def _differs(inquiry: Inquiry, target: Candidate, question: Question) -> bool:
    answer = inquiry.asker.ask(question)
    if answer.raised or answer.kind != inquiry.kind:
        return False
    batch = inquiry.ask_known([question])
    return batch.find_difference(target, inquiry.precision) is not None


def _list_asked(search: Search) -> list[Batch]:
    """Put everything that was asked into batches."""
    answers = search.inquiry.asker.answers
    questions = [
        answer
        for answer in answers
        if answers[answer].kind == search.inquiry.kind or answers[answer].raised
    ]
    plain = [
        question
        for question in questions
        if all(case.judged and case.ranked and _has_relevant(case) for case in question.cases)
    ]
    return [search.inquiry.ask_known(plain)]


def _has_relevant(case: Case) -> bool:
    """Is the query ordinary: relevant items, no repeated items, no equal scores?"""
    items, grades = case.items, case.grades
    plain = len(set(items)) == len(items) == len(set(case.scores))
    plain = plain and len(dict(case.judged or ())) == len(grades)
    return plain and bool(case.relevant) and all(grade in _PLAIN for grade in grades)


_PLAIN = (0.0, 1.0, 2.0, 3.0)


def _find_small(search: Search, target: Candidate, states: Sequence[State]) -> Question | None:
    """Ask about small lists, shortest first, until one differs."""
    grades = (0.0, *search.inquiry.shape.grades[:2])
    shape = replace(search.inquiry.shape, k=target.measure.k)
    small = islice(_list_small(shape, grades), 20 * SMALL if states else SMALL)
    questions = [Question((case,)) for case in (*small, *_list_around(shape))]
    expected = search.inquiry.ask_known(questions, {}).expect(target)
    if expected is None:
        return None
    order: Iterable[int] = range(len(questions))
    if states:  # the function's values are known
        function_values = search.inquiry.ask_known(questions, {}).expect(states[0].candidate)
        if function_values is not None:
            differ = ~search.inquiry.precision.agree(function_values, expected)
            order = np.flatnonzero(differ).tolist()
    left = search.inquiry.asker.left
    for place in islice(order, 2 * SMALL if left is None else left):
        question = questions[place]
        answer = search.inquiry.asker.ask(question)
        if answer.raised or answer.kind != search.inquiry.kind:
            continue
        values = np.array(answer.values)
        if not search.inquiry.precision.agree(values, expected[place : place + 1]).all():
            return question
    return None


def _list_small(shape: Shape, levels: Sequence[float]) -> Iterator[Case]:
    """List small queries, shortest first: lists of these grades, and missed relevant items."""
    beyond = {shape.k + 2} if shape.k and shape.k <= 1000 else set()
    missing = sorted({0, 1, 2} | beyond) if "missed" in shape.shows else [0]
    for length in range(1, 6 if len(levels) < 3 else 5):
        for listed, missed in product(product(sorted(levels), repeat=length), missing):
            if any(grade > 0 for grade in listed) or missed:
                yield make_case(listed, missed, shape)


def _list_around(shape: Shape) -> Iterator[Case]:
    """List queries with hits on both sides of the cutoff, for what small lists cannot show."""
    k = shape.k
    if k is None or not 2 < k <= 1000:
        return
    none, high = [0.0] * k, max(shape.grades[:2])
    for listed in (
        [*none, 1.0],
        [1.0, *none[1:], 1.0],
        [*none[1:], 1.0, 1.0],
        [1.0, *none[1:], high],
        [1.0, 1.0, *none[2:], 1.0, 1.0],
        [1.0] * (k + 1),
        [1.0] * (k - 1),
        [1.0, *none[1:], 0.0, 1.0],
    ):
        yield make_case(listed, 0, shape)


def define(candidate: Candidate) -> Definition:
    """Name a candidate by its measure and its conventions."""
    return Definition(candidate.measure, choices=dict(candidate.choices))


def make_counterexample(
    search: Search, target: Candidate, question: Question, states: Sequence[State], note: str = ""
) -> Counterexample:
    """Describe the data of a question on which function and definition differ."""
    answer = search.inquiry.asker.ask(question)
    batch = search.inquiry.ask_known([question])
    expected = batch.expect(target)
    differ: Floats = ~batch.match(expected, search.inquiry.precision)
    place = int(np.argmax(differ))
    text = ""
    if states and search.claim is not None:
        first = states[0]
        text = describe_difference(
            Candidate(first.candidate.measure) if first.plain else first.candidate, search.claim
        )
    asker = search.inquiry.asker
    arguments = show_arguments(asker.form, asker.kind_of_data, question, asker.names)
    return Counterexample(
        describe(question) + note,
        arguments,
        float("nan") if answer.raised else answer.values[place],
        define(target),
        float("nan") if expected is None else float(expected[place]),
        text,
        answer.raised,
    )


# --- Report: the answer of a search: names, special data in words, smallest counterexample --------

GRADED = "grades above 1"

WORDS: dict[tuple[str, Any], str] = {
    ("duplicates", "first"): "counts at its first rank, and its copies are dropped",
    ("duplicates", "keep"): "counts once, but its copies take up ranks",
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
    ("ties", "middle"): "at the middle rank of the tie",
    ("ties", "grouped"): "one step, at the last rank of the tie",
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
    if trail.random is None and search.far == "yes":
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
    return state.plain and state.candidate.measure.is_same_as(claim)


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
            name != "no hit"
            and words.get(convention, Policy.DEFAULTS[convention]) != Policy.DEFAULTS[convention]
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
            f"It gave two answers to the same question, {describe(trail.random)}: either it is"
            " random, or its answer depends on earlier calls."
        )
        return
    if trail.rounded and states:
        yield trail.rounded
    if trail.constant and batch is not None:
        yield f"It returns {batch.given[batch.answered][0]:.4f} for all data."
    if search.inquiry.asker.kind_of_data:
        yield f"It takes only {search.inquiry.asker.containers}: other containers raise an error."
    if states and trail.binary:
        yield (
            "It computes this for the grades 0 and 1; it does not treat higher grades as any"
            " definition does."
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
            yield f"{nearest} gives the same values with {text}."
            return


def _name_usual(nearest: Measure, claim: Measure | None) -> Iterable[str]:
    """Say which values of a parameter were tried, where it may be any number."""
    for parameter in nearest.row.parameters:
        if parameter.usual:
            claimed = [] if claim is None else [dict(claim.parameters).get(parameter.name)]
            tried = sorted({parameter.default, *parameter.usual, *claimed} - {"auto", None})
            yield (
                f"{nearest.name} was tried with"
                f" {parameter.name}={list_choices(f'{word:g}' for word in tried)}; to try another"
                " value, put it into the measure's name, as in"
                f" {nearest(**{parameter.name: tried[0]})}."
            )
            return
    if claim is None:
        yield (
            "Parameters that can be any number, such as p of RBP, were tried at their usual"
            " values; to try another value, put it into the measure's name, as in RBP(p=0.7)."
        )
