"""Cases: queries with judgments and a list, drawn at random or special, and questions of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

Judged = tuple[tuple[str, float], ...]  # items and their grades
Ranked = tuple[tuple[str, float], ...]  # items and their scores, from the first rank on


class Case(NamedTuple):
    """A query: its judgments and its ranked list, of which one may be missing."""

    judged: Judged | None
    ranked: Ranked | None

    @property
    def items(self) -> list[str]:
        """The results, from the first rank on."""
        return [item for item, _ in self.ranked or ()]

    @property
    def scores(self) -> list[float]:
        """The scores of the results."""
        return [score for _, score in self.ranked or ()]

    @property
    def grades(self) -> list[float]:
        """The grades of all judgments."""
        return [grade for _, grade in self.judged or ()]

    @property
    def relevant(self) -> list[str]:
        """The items that are judged relevant."""
        return [item for item, grade in self.judged or () if grade > 0]

    @property
    def size(self) -> int:
        """The number of rows, by which small data is chosen."""
        return len(self.judged or ()) + len(self.ranked or ())


class Question(NamedTuple):
    """The data of one call: one query, or several."""

    cases: tuple[Case, ...]

    @property
    def size(self) -> int:
        return sum(case.size for case in self.cases)


@dataclass(frozen=True)
class Shape:
    """The data that a form can show, and around which cutoff its lists are drawn."""

    shows: frozenset[str]
    k: int | None = None
    grades: tuple[float, ...] = (1.0,)  # of relevant items

    @property
    def slow(self) -> bool:
        """Does a call take milliseconds, as with frames and files?"""
        return "rows" in self.shows

    @property
    def has_zeros(self) -> bool:
        """Can items be judged not relevant?"""
        return "grades" in self.shows

    @property
    def binary(self) -> "Shape":
        """Data of the same shape with the grades 0 and 1 alone."""
        return replace(self, grades=(1.0,))


WIDTH = 3  # digits of an item's number: ids of one length have the order of their numbers


def rank_items(items: Sequence[str]) -> Ranked:
    """Give each item a score, from the first rank down."""
    return tuple((item, (len(items) - rank) / 64) for rank, item in enumerate(items))


def make_case(listed: Sequence[float], missed: int, shape: Shape) -> Case:
    """Make a query of the grades of a list, and of relevant items that are not in it."""
    items = [f"d{number:0{WIDTH}}" for number in range(len(listed) + missed)]
    grades = [*listed, *[1.0] * missed]
    judged = [
        (item, grade) for item, grade in zip(items, grades, strict=True) if grade or shape.has_zeros
    ]
    return Case(tuple(judged), rank_items(items[: len(listed)]))


_SHOWN = 6  # queries of a call that are written out


def describe(question: Question) -> str:
    """Write the data of a call: the grades in rank order, or judgments and lists."""
    if len(question.cases) == 1 and (plain := _describe_plain(question.cases[0])):
        return plain
    if len(question.cases) > _SHOWN:
        return f"{len(question.cases)} queries"
    qrels = {f"q{q}": dict(case.judged) for q, case in enumerate(question.cases, 1) if case.judged}
    run = {
        f"q{q}": _write_ranked(case.ranked)
        for q, case in enumerate(question.cases, 1)
        if case.ranked is not None
    }
    return f"qrels {qrels} and run {run}"


def _write_ranked(ranked: Ranked) -> Any:
    scores = [score for _, score in ranked]
    if is_descending(scores):
        return [item for item, _ in ranked]
    return dict(ranked) if len(dict(ranked)) == len(ranked) else list(ranked)


def is_descending(scores: Sequence[float]) -> bool:
    """Are the scores those of a ranked list, without equal ones?"""
    return all(higher > lower for higher, lower in pairwise(scores))


def _describe_plain(case: Case) -> str:
    """Write one list by its grades; "" where that does not show all of it."""
    items, judged = case.items, dict(case.judged or ())
    if case.judged is None or case.ranked is None or len(judged) < len(case.judged):
        return ""
    if len(set(items)) < len(items) or not is_descending(case.scores):
        return ""
    listed = " ".join(f"{judged.get(item, 0):g}" for item in items)
    missed = [grade for item, grade in judged.items() if item not in items and grade > 0]
    if not missed:
        return f"'{listed}'"
    if set(missed) == {1.0}:
        return f"'{listed}' with {len(case.relevant)} relevant"
    grades = " ".join(f"{grade:g}" for grade in sorted(missed))
    return f"'{listed}' with further items of grade {grades}"


# --- Draws: ordinary queries, drawn at random around a cutoff, on which definitions differ --------

Rng = np.random.Generator


def draw_case(
    rng: Rng,
    shape: Shape,
    *,
    length: int | None = None,
    hits: Sequence[bool] | None = None,
    missed: int | None = None,
) -> Case:
    """Draw a query with a hit within the cutoff, another item, and relevant items that are missed.

    ``hits`` says which ranks are relevant, and ``missed`` how many relevant items are not in the
    list.
    """
    if hits is None:
        hits = _draw_hits(rng, draw_length(rng, shape) if length is None else length, shape.k)
    if missed is None:
        missed = int(rng.choice([0, 0, 1, 2, 3, (shape.k or 4) + 2, 2 * (shape.k or 4)]))
    if "missed" not in shape.shows:
        missed = 0
    unfound = int(rng.integers(0, 4)) if "missed" in shape.shows and shape.has_zeros else 0
    items = [f"d{number:0{WIDTH}}" for number in rng.permutation(len(hits) + missed + unfound)]
    graded = {
        item: float(rng.choice(shape.grades)) for item, hit in zip(items, hits, strict=False) if hit
    }
    first, last = len(hits), len(hits) + missed
    graded |= {item: float(rng.choice(shape.grades)) for item in items[first:last]}
    if shape.has_zeros:
        ungraded = [item for item in items if item not in graded]
        judged = len(ungraded) if "all judged" in shape.shows else rng.binomial(len(ungraded), 0.6)
        graded |= dict.fromkeys(rng.permutation(np.array(ungraded, str)).tolist()[:judged], 0.0)
    order = rng.permutation(len(graded)).tolist()
    listed = list(graded.items())
    return Case(tuple(listed[i] for i in order), rank_items(items[:first]))


def draw_length(rng: Rng, shape: Shape) -> int:
    if shape.k is None:
        return int(rng.integers(3, 15))
    return shape.k + int(rng.integers(1 if shape.k == 1 else 0, 7))


def _draw_hits(rng: Rng, length: int, k: int | None) -> list[bool]:
    """Draw the relevant ranks: one within the cutoff, and not all of the list."""
    hits: list[bool] = (rng.random(length) < rng.choice([0.15, 0.4, 0.7])).tolist()
    within = min(k or length, length)
    if within == 1:
        hits[0] = bool(rng.random() < 0.6)
        if not hits[0]:
            hits[-1] = True
        return hits
    kind = rng.random()
    if k is not None and kind < 0.15:  # the last rank that counts is the only hit within it
        hits[:within] = [False] * (within - 1) + [True]
    if k is not None and length > k and kind > 0.9:  # all ranks that count are hits
        hits[:within] = [True] * within
    if not any(hits[:within]):
        hits[int(rng.integers(within))] = True
    if all(hits):
        hits[int(rng.integers(1, length))] = False
    return hits


def draw_single(rng: Rng, shape: Shape) -> Question:
    """Draw a question of one ordinary query."""
    return Question((draw_case(rng, shape),))


def draw_several(rng: Rng, shape: Shape, queries: int = 3) -> Question:
    """Draw a question of several ordinary queries, whose lists are equally long."""
    length = draw_length(rng, shape)
    return Question(tuple(draw_case(rng, shape, length=length) for _ in range(queries)))


def draw_many(rng: Rng, shape: Shape, queries: int) -> Question:
    """Draw a question of many ordinary queries, with lists of every length."""
    lengths = [
        draw_length(rng, shape) if q % 4 else int(rng.integers(2, 40)) for q in range(queries)
    ]
    return Question(tuple(draw_case(rng, shape, length=length) for length in lengths))


# --- Special data: kinds of queries on which tools differ, such as one without relevant items -----

Draw = Callable[[Rng, Shape], Iterator[Case]]


@dataclass(frozen=True)
class Special:
    """A kind of data on which tools differ: the convention that it decides, and how to draw it."""

    name: str
    says: str
    draw: Draw
    decides: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    """what the form has to show"""
    binds: bool = True
    """Is a function that no convention fits here without a definition? Else the definition is given
    for other data, and this data is named."""
    lenient: frozenset[str] = frozenset()
    """the forms in which it does not bind"""
    counted: bool = False
    """Is it asked where every call takes time?"""
    joined: bool = False
    """Does the query stand among others? Alone it may not be averaged at all."""
    why: str = ""
    """why a form cannot show it"""
    after: str = ""
    """the special data that has to be decided before"""


def _draw_short(rng: Rng, shape: Shape) -> Iterator[Case]:
    if shape.k is None or shape.k < 2:
        return
    for _ in range(10):
        length = int(rng.integers(1, min(shape.k, 30)))
        hits = [*(rng.random(length) < 0.5).tolist()]
        hits[int(rng.integers(length))] = True
        yield draw_case(rng, shape, hits=hits)


def _draw_missed(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(6):
        length = draw_length(rng, shape)
        hits = [False] * length
        if shape.k is not None and shape.k < length and rng.random() < 0.6:
            hits[shape.k :] = [True] * (length - shape.k)
        elif "missed" not in shape.shows:
            continue
        yield draw_case(rng, shape, hits=hits, missed=int(rng.integers(1, 4)))


def _draw_pure(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(4):
        length = draw_length(rng, shape)
        yield draw_case(rng, shape, hits=[True] * length, missed=0)
        if "missed" in shape.shows:
            yield draw_case(rng, shape, hits=[True] * length, missed=2)


def _draw_irrelevant(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(4):
        case = draw_case(rng, shape, hits=[False] * draw_length(rng, shape), missed=0)
        if not case.judged and shape.has_zeros and case.ranked:
            case = case._replace(judged=((case.ranked[0][0], 0.0),))
        yield case


def _draw_empty(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(3):
        yield draw_case(rng, shape, hits=[], missed=int(rng.integers(1, 4)))


def _draw_copies(rng: Rng, shape: Shape) -> Iterator[Case]:
    """Draw lists in which an item stands twice: mostly a relevant one, and within the cutoff.

    In the first ones the copy moves the only hit past the cutoff, which measures of the first hit
    alone need.
    """
    for _ in range(3 if shape.k is not None and shape.k > 1 else 0):
        case = draw_case(rng, shape, hits=[False] * ((shape.k or 1) - 1) + [True])
        yield case._replace(ranked=rank_items([case.items[0], *case.items]))
    for _ in range(21):
        case = draw_case(rng, shape)
        items, relevant = case.items, case.relevant
        within = min(shape.k or len(items), len(items)) if rng.random() < 0.8 else len(items)
        wanted = [item for item in items[:within] if (item in relevant) == (rng.random() < 0.5)]
        copied = str(rng.choice(wanted or items[:within]))
        first = items.index(copied) + 1
        place = int(rng.integers(first, max(within, first + 1)))
        yield case._replace(ranked=rank_items([*items[:place], copied, *items[place:]]))


def _draw_changed(count: int, change: Callable[[Rng, Case], Case]) -> Draw:
    """Draw so many ordinary queries, each with a change."""
    return lambda rng, shape: (change(rng, draw_case(rng, shape)) for _ in range(count))


def _judge_again(rng: Rng, case: Case) -> Case:
    judged = [row for row in case.judged or () if row[1] > 0]
    repeated = judged[int(rng.integers(len(judged)))]
    return case._replace(judged=(*(case.judged or ()), repeated))


def _draw_ties(rng: Rng, shape: Shape) -> Iterator[Case]:
    """Draw short lists with few scores: unstable sorts keep their order as stable ones do."""
    shortest = 4 if shape.k is None else shape.k + 1
    for _ in range(24):
        length = int(rng.integers(shortest, max(shortest + 3, min(shortest + 8, _STABLE))))
        case = draw_case(rng, shape, length=length)
        n_levels = int(rng.integers(1, 4))  # different scores
        levels = np.sort(rng.integers(1, n_levels + 1, length))[::-1] / 4
        yield case._replace(ranked=tuple(zip(case.items, levels.tolist(), strict=True)))


_STABLE = 16  # items that the usual quicksorts leave to an insertion sort, which is stable


def _draw_ids(rng: Rng, shape: Shape) -> Iterator[Case]:
    """Draw tied lists whose ids sort differently as text, as numbers and in UTF-16."""
    for _ in range(4):
        names = rng.permutation(np.array(_IDS, str)).tolist()
        hits = rng.permutation(len(names)) < len(names) // 2
        case = draw_case(rng, shape, hits=hits.tolist())
        new = dict(zip(case.items, names, strict=True))
        judged = tuple((new.get(item, item), grade) for item, grade in case.judged or ())
        levels = np.sort(rng.integers(1, 3, len(names)))[::-1] / 4
        yield Case(judged, tuple(zip(names, levels.tolist(), strict=True)))


_IDS = ("9", "10", "100", "Z", "a", "é", "\uffee", "\U0001f600")


def _draw_order(rng: Rng, shape: Shape) -> Iterator[Case]:
    """Draw rows in any order; each second list has its only hit at rank 1, in the last row."""
    for number in range(8):
        only = [True, *[False] * ((shape.k or 4) + 2)]
        case = draw_case(rng, shape, hits=only if number % 2 else None)
        rows = case.ranked or ()
        order = rng.permutation(len(rows)).tolist()
        if number % 2 or order == sorted(order):
            order = sorted(order, reverse=True)
        yield case._replace(ranked=tuple(rows[i] for i in order))


def _draw_close(rng: Rng, shape: Shape) -> Iterator[Case]:
    """Draw lists in which a score and the next one are equal in single precision."""
    for _ in range(8):
        case = draw_case(rng, shape)
        items, relevant = case.items, case.relevant
        scores = [0.3 + score for score in case.scores]
        marks = [item in relevant for item in items[: (shape.k or len(items)) + 1]]
        changes = [i for i in range(1, len(marks)) if marks[i] != marks[i - 1]]
        place = int(rng.choice(changes or [1])) % len(items)
        scores[place - 1] = float(np.nextafter(scores[place], np.inf))
        rows = list(zip(items, scores, strict=True))
        if "order" in shape.shows and rng.random() < 0.7:
            rows[place - 1], rows[place] = rows[place], rows[place - 1]
        yield case._replace(ranked=tuple(rows))


def _lower_scores(_: Rng, case: Case) -> Case:
    middle = case.scores[len(case.scores) // 2]
    return case._replace(ranked=tuple((item, score - middle) for item, score in case.ranked or ()))


def _draw_regraded(count: int, grade: Callable[[Rng, float], float]) -> Draw:
    """Draw so many ordinary queries with other grades."""

    def change(rng: Rng, case: Case) -> Case:
        return case._replace(
            judged=tuple((item, grade(rng, old_grade)) for item, old_grade in case.judged or ())
        )

    return _draw_changed(count, change)


def _add_fraction(rng: Rng, grade: float) -> float:
    return grade + float(rng.choice([0.25, 0.5])) if rng.random() < 0.7 else grade


SPECIAL: tuple[Special, ...] = (
    Special("short", "a list shorter than the cutoff", _draw_short),
    Special("no hit", "nothing relevant found", _draw_missed, ("no_hit", "no_relevant"),
            counted=True),
    Special("all relevant", "every result relevant", _draw_pure, ("all_relevant", "no_relevant")),
    Special("no relevant among others", "no relevant items, beside other queries", _draw_irrelevant,
            ("no_relevant", "undefined"), frozenset({"several"}), joined=True, counted=True),
    Special("no relevant", "no relevant items", _draw_irrelevant, ("no_relevant", "undefined")),
    Special("missing", "a query without results",
            _draw_changed(2, lambda _, case: case._replace(ranked=None)), ("missing", "empty"),
            frozenset({"missing"}), joined=True, why="every query has a list", counted=True),
    Special("unknown", "a query that nobody judged",
            _draw_changed(2, lambda _, case: case._replace(judged=None)), ("unknown",),
            frozenset({"missing"}), joined=True, why="every list is judged"),
    Special("empty", "empty list", _draw_empty, ("empty",), frozenset({"empty"}), binds=False,
            why="a list that is empty has no rows"),
    Special("copies", "an item listed twice", _draw_copies, ("duplicates",), frozenset({"copies"}),
            binds=False, why="items have no ids that could repeat", counted=True),
    Special("repeats", "an item judged twice", _draw_changed(6, _judge_again), ("repeated",),
            frozenset({"repeats"}), binds=False, why="an item has one judgment"),
    Special("ties", "equal scores", _draw_ties, ("ties",), frozenset({"ties"}), binds=False,
            why="ranked lists have no ties", counted=True),
    Special("ids", "equal scores of ids such as '9', '10' and 'é'", _draw_ids, (),
            frozenset({"order"}), binds=False, after="ties"),
    Special("order", "results in another order than their scores", _draw_order, (),
            frozenset({"order"}), lenient=frozenset({"trec"}), counted=True),
    Special("close scores", "scores that are equal in single precision", _draw_close, ("scores",),
            frozenset({"ties"}), binds=False),
    Special("nonpositive", "scores of 0 or less", _draw_changed(5, _lower_scores),
            ("nonpositive",), frozenset({"ties"}), binds=False),
    Special("high", "grades above 3",
            _draw_regraded(5, lambda rng, grade: grade and float(rng.integers(1, 7))),
            ("grades",), frozenset({"grades"}), binds=False),
    Special("negative", "grades below 0", _draw_regraded(5, lambda _, grade: grade or -1.0),
            ("grades",), frozenset({"grades"}), binds=False, why="items have no grades"),
    Special("fractions", "grades with decimals", _draw_regraded(12, _add_fraction), ("grades",),
            frozenset({"grades"}), binds=False, why="items have no grades"),
)  # fmt: skip
"""Special data, from what every function meets to what few do."""


SLOW = 8  # special queries of a kind where a call takes milliseconds


def draw_questions(
    rng: Rng,
    shape: Shape,
    special: Special,
    calls: int | None = None,
    known_questions: Sequence[Question] = (),
) -> list[Question]:
    """Draw questions of special data after the known ones; counted calls join them into one."""
    if not special.needs <= shape.shows:
        return []
    cases = list(special.draw(rng, shape))
    if shape.slow and calls is None:
        cases = cases[:SLOW]
    if calls is not None:
        cases = [*(case for question in known_questions for case in question.cases), *cases]
        neighbors = draw_several(rng, shape, 4).cases if special.joined else ()
        return [Question((*neighbors, *cases))] if cases else []
    if not special.joined:
        return [*known_questions, *(Question((case,)) for case in cases)]
    questions = list(known_questions)
    for case in cases:
        length = len(case.ranked or ()) or draw_length(rng, shape)
        neighbors = tuple(draw_case(rng, shape, length=length) for _ in range(2))
        questions.append(Question((neighbors[0], case, neighbors[1])))
    return questions
