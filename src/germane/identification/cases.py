"""Cases: queries with judgments and a ranked list, drawn at random, on which definitions differ."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator
Judged = tuple[tuple[str, float], ...]  # items and their grades
Ranked = tuple[tuple[str, float], ...]  # items and their scores, from the first rank on


class Case(NamedTuple):
    """A query: its judgments and its ranked list, of which one may be missing."""

    judged: Judged | None
    ranked: Ranked | None

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
    def binary(self) -> "Shape":
        """Data of the same shape with the grades 0 and 1 alone."""
        return replace(self, grades=(1.0,))


def draw_case(
    rng: Rng,
    shape: Shape,
    *,
    length: int | None = None,
    hits: Sequence[bool] | None = None,
    missed: int | None = None,
) -> Case:
    """Draw a query with a hit within the cutoff, another item, and relevant items that are missed.

    ``hits`` says which ranks are relevant, and ``missed`` how many relevant items are not in the list.
    """
    if hits is None:
        hits = _draw_hits(rng, _draw_length(rng, shape) if length is None else length, shape.k)
    if missed is None:
        missed = int(rng.choice([0, 0, 1, 2, 3, (shape.k or 4) + 2, 2 * (shape.k or 4)]))
    if "missed" not in shape.shows:
        missed = 0
    unfound = int(rng.integers(0, 4)) if "missed" in shape.shows and _has_zeros(shape) else 0
    items = [f"d{number:0{_WIDTH}}" for number in rng.permutation(len(hits) + missed + unfound)]
    graded = {
        item: float(rng.choice(shape.grades)) for item, hit in zip(items, hits, strict=False) if hit
    }
    first, last = len(hits), len(hits) + missed
    graded |= {item: float(rng.choice(shape.grades)) for item in items[first:last]}
    if _has_zeros(shape):
        others = [item for item in items if item not in graded]
        judged = len(others) if "all judged" in shape.shows else rng.binomial(len(others), 0.6)
        graded |= dict.fromkeys(rng.permutation(np.array(others, str)).tolist()[:judged], 0.0)
    order = rng.permutation(len(graded)).tolist()
    listed = list(graded.items())
    return Case(tuple(listed[i] for i in order), rank_items(items[:first]))


_WIDTH = 3  # digits of an item's number: ids of one length have the order of their numbers


def rank_items(items: Sequence[str]) -> Ranked:
    """Give each item a score, from the first rank down."""
    return tuple((item, (len(items) - rank) / 64) for rank, item in enumerate(items))


def _has_zeros(shape: Shape) -> bool:
    """Can items be judged not relevant?"""
    return "grades" in shape.shows


def _draw_length(rng: Rng, shape: Shape) -> int:
    if shape.k is None:
        return int(rng.integers(3, 15))
    return shape.k + int(rng.integers(1 if shape.k == 1 else 0, 7))


def _draw_hits(rng: Rng, length: int, k: int | None) -> list[bool]:
    """Draw the relevant ranks: one is within the cutoff, and one rank of the list is not relevant."""
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
    length = _draw_length(rng, shape)
    return Question(tuple(draw_case(rng, shape, length=length) for _ in range(queries)))


def draw_many(rng: Rng, shape: Shape, queries: int) -> Question:
    """Draw a question of many ordinary queries, with lists of every length."""
    lengths = [
        _draw_length(rng, shape) if q % 4 else int(rng.integers(2, 40)) for q in range(queries)
    ]
    return Question(tuple(draw_case(rng, shape, length=length) for length in lengths))


# --- Special data ---------------------------------------------------------------------------------

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
    """Is a function that no convention fits here without a definition? Else the definition is given for
    other data, and this data is named."""
    counted: bool = False
    """Is it asked where every call takes time?"""
    joined: bool = False
    """Does the query stand among others? Alone it may not be averaged at all."""
    why: str = ""
    """why a form cannot show it"""


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
        length = _draw_length(rng, shape)
        hits = [False] * length
        if shape.k is not None and shape.k < length and rng.random() < 0.6:
            hits[shape.k :] = [True] * (length - shape.k)
        elif "missed" not in shape.shows:
            continue
        yield draw_case(rng, shape, hits=hits, missed=int(rng.integers(1, 4)))


def _draw_pure(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(4):
        length = _draw_length(rng, shape)
        yield draw_case(rng, shape, hits=[True] * length, missed=0)
        if "missed" in shape.shows:
            yield draw_case(rng, shape, hits=[True] * length, missed=2)


def _draw_irrelevant(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(4):
        case = draw_case(rng, shape, hits=[False] * _draw_length(rng, shape), missed=0)
        if not case.judged and _has_zeros(shape) and case.ranked:
            case = case._replace(judged=((case.ranked[0][0], 0.0),))
        yield case


def _draw_empty(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(3):
        yield draw_case(rng, shape, hits=[], missed=int(rng.integers(1, 4)))


def _draw_copies(rng: Rng, shape: Shape) -> Iterator[Case]:
    """Draw lists in which an item stands twice: mostly a relevant one, and within the cutoff.

    In the first ones the copy moves the only hit past the cutoff, which measures of the first hit alone need.
    """
    for _ in range(3 if shape.k is not None and shape.k > 1 else 0):
        case = draw_case(rng, shape, hits=[False] * ((shape.k or 1) - 1) + [True])
        items = [item for item, _ in case.ranked or ()]
        yield case._replace(ranked=rank_items([items[0], *items]))
    for _ in range(21):
        case = draw_case(rng, shape)
        items = [item for item, _ in case.ranked or ()]
        relevant = {item for item, grade in case.judged or () if grade > 0}
        within = min(shape.k or len(items), len(items)) if rng.random() < 0.8 else len(items)
        wanted = [item for item in items[:within] if (item in relevant) == (rng.random() < 0.5)]
        copied = str(rng.choice(wanted or items[:within]))
        first = items.index(copied) + 1
        at = int(rng.integers(first, max(within, first + 1)))
        yield case._replace(ranked=rank_items([*items[:at], copied, *items[at:]]))


def _draw_repeats(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(6):
        case = draw_case(rng, shape)
        judged = [one for one in case.judged or () if one[1] > 0]
        again = judged[int(rng.integers(len(judged)))]
        yield case._replace(judged=(*(case.judged or ()), again))


def _draw_ties(rng: Rng, shape: Shape) -> Iterator[Case]:
    """Draw short lists with few scores, so that unstable sorts keep their order as stable ones do."""
    shortest = 4 if shape.k is None else shape.k + 1
    for _ in range(24):
        length = int(rng.integers(shortest, max(shortest + 3, min(shortest + 8, _STABLE))))
        case = draw_case(rng, shape, length=length)
        most = int(rng.integers(1, 4))  # different scores
        levels = np.sort(rng.integers(1, most + 1, length))[::-1] / 4
        items = [item for item, _ in case.ranked or ()]
        yield case._replace(ranked=tuple(zip(items, levels.tolist(), strict=True)))


_STABLE = 16  # items that the usual quicksorts leave to an insertion sort, which is stable


def _draw_missing(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(2):
        yield draw_case(rng, shape)._replace(ranked=None)


def _draw_unknown(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(2):
        yield draw_case(rng, shape)._replace(judged=None)


def _draw_fractions(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(12):
        case = draw_case(rng, shape)
        changed = [
            (item, grade + float(rng.choice([0.25, 0.5])) if rng.random() < 0.7 else grade)
            for item, grade in case.judged or ()
        ]
        yield case._replace(judged=tuple(changed))


def _draw_negative(rng: Rng, shape: Shape) -> Iterator[Case]:
    for _ in range(5):
        case = draw_case(rng, shape)
        judged = [(item, grade or -1.0) for item, grade in case.judged or ()]
        yield case._replace(judged=tuple(judged))


SPECIAL: tuple[Special, ...] = (
    Special("short", "a list shorter than the cutoff", _draw_short),
    Special("no hit", "nothing relevant found", _draw_missed, ("no_hit", "no_relevant"), counted=True),
    Special("all relevant", "every result relevant", _draw_pure, ("all_relevant", "no_relevant"), counted=True),
    Special("no relevant among others", "no relevant items, beside other queries", _draw_irrelevant,
            ("no_relevant", "undefined"), frozenset({"several"}), joined=True, counted=True),
    Special("no relevant", "no relevant items", _draw_irrelevant, ("no_relevant", "undefined")),
    Special("missing", "a query without results", _draw_missing, ("missing", "empty"), frozenset({"missing"}),
            joined=True, why="every query has a list", counted=True),
    Special("unknown", "a query that nobody judged", _draw_unknown, ("unknown",), frozenset({"missing"}),
            joined=True, why="every list is judged"),
    Special("empty", "empty list", _draw_empty, ("empty",), frozenset({"empty"}), binds=False,
            why="a list that is empty has no rows"),
    Special("copies", "an item listed twice", _draw_copies, ("duplicates",), frozenset({"copies"}),
            binds=False, why="items have no ids that could repeat", counted=True),
    Special("repeats", "an item judged twice", _draw_repeats, ("repeated",), frozenset({"repeats"}),
            binds=False, why="an item has one judgment"),
    Special("ties", "equal scores", _draw_ties, ("ties",), frozenset({"ties"}), binds=False,
            why="ranked lists have no ties", counted=True),
    Special("negative", "grades below 0", _draw_negative, ("grades",), frozenset({"grades"}), binds=False,
            why="items have no grades"),
    Special("fractions", "grades with decimals", _draw_fractions, ("grades",), frozenset({"grades"}),
            binds=False, why="items have no grades"),
)  # fmt: skip
"""Special data, from what every function meets to what few do."""


def draw_questions(
    rng: Rng, shape: Shape, special: Special, calls: int | None = None
) -> list[Question]:
    """Draw the questions of special data; where calls are counted, they are joined into one."""
    if not special.needs <= shape.shows:
        return []
    cases = list(special.draw(rng, shape))
    if not cases:
        return []
    if calls is not None:
        others = draw_several(rng, shape, 4).cases if special.joined else ()
        return [Question((*others, *cases))]
    if not special.joined:
        return [Question((case,)) for case in cases]
    found = []
    for case in cases:
        length = len(case.ranked or ()) or _draw_length(rng, shape)
        others = tuple(draw_case(rng, shape, length=length) for _ in range(2))
        found.append(Question((others[0], case, others[1])))
    return found


# --- Small data -----------------------------------------------------------------------------------


def list_small(shape: Shape, levels: Sequence[float]) -> Iterator[Case]:
    """List small queries, shortest first: every list of these grades, and relevant items that are missed."""
    from itertools import product

    for length in range(1, 6 if len(levels) < 3 else 5):
        for listed in product(sorted(levels), repeat=length):
            missing = [0]
            if "missed" in shape.shows:
                missing = sorted(
                    {0, 1, 2, *((shape.k + 2,) if shape.k and shape.k <= 1000 else ())}
                )
            for missed in missing:
                if any(grade > 0 for grade in listed) or missed:
                    yield make_case(listed, missed, shape)


def list_around(shape: Shape) -> Iterator[Case]:
    """List queries with relevant items on both sides of the cutoff, for what small lists cannot show."""
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


def make_case(listed: Sequence[float], missed: int, shape: Shape) -> Case:
    """Make a query of the grades of a list, and of relevant items that are not in it."""
    items = [f"d{number:0{_WIDTH}}" for number in range(len(listed) + missed)]
    grades = [*listed, *[1.0] * missed]
    judged = [
        (item, grade)
        for item, grade in zip(items, grades, strict=True)
        if grade or _has_zeros(shape)
    ]
    return Case(tuple(judged), rank_items(items[: len(listed)]))


def describe(question: Question) -> str:
    """Write the data of a call: the grades in rank order, or judgments and lists."""
    if len(question.cases) == 1 and (plain := _describe_plain(question.cases[0])):
        return plain
    qrels = {f"q{q}": dict(case.judged) for q, case in enumerate(question.cases, 1) if case.judged}
    run = {
        f"q{q}": _write_ranked(case.ranked)
        for q, case in enumerate(question.cases, 1)
        if case.ranked is not None
    }
    return f"qrels {qrels} and run {run}"


def _write_ranked(ranked: Ranked) -> Any:
    scores = [score for _, score in ranked]
    if len(set(scores)) < len(scores):
        return dict(ranked)
    return [item for item, _ in ranked]


def _describe_plain(case: Case) -> str:
    """Write one list by its grades; "" where that does not show all of it."""
    items = [item for item, _ in case.ranked or ()]
    judged, scores = dict(case.judged or ()), [score for _, score in case.ranked or ()]
    if case.judged is None or case.ranked is None or len(judged) < len(case.judged):
        return ""
    if len(set(items)) < len(items) or len(set(scores)) < len(scores):
        return ""
    listed = " ".join(f"{judged.get(item, 0):g}" for item in items)
    relevant = [grade for grade in judged.values() if grade > 0]
    missed = [grade for item, grade in judged.items() if item not in items and grade > 0]
    if not missed:
        return f"'{listed}'"
    if set(missed) == {1.0}:
        return f"'{listed}' with {len(relevant)} relevant"
    return (
        f"'{listed}' with further items of grade {' '.join(f'{one:g}' for one in sorted(missed))}"
    )
