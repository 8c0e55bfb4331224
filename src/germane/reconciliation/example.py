"""Example: small data on which definitions that coincide elsewhere differ."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy
from germane.core.ranking import Ranking
from germane.errors import GermaneError
from germane.evaluation.collection import Collection, find_all_needs
from germane.measures.averaging import compute_scores
from germane.measures.measure import Measure
from germane.readers import open_qrels, open_run
from germane.readers.objects.relevance import make_collection
from germane.reconciliation.spread import Values
from germane.reconciliation.variations import Candidate, find_mean

Small = tuple[tuple[float, ...], int]  # the grades of a list, and the relevant items that it misses

_LONGEST = 6  # ranks of the longest list that is tried
_MOST = 1000  # the largest cutoff for which lists with as many relevant items are tried

# Convention → the data that shows its effect, in words, and small data that does: qrels and a run.
SHOWN: Mapping[str, tuple[str, Any, Any]] = {
    "duplicates": ("a result that is listed twice", {"q": ["a", "b"]}, {"q": ["a", "a", "b"]}),
    "ties": (
        "a relevant result with the score of another",
        {"q": {"b": 1, "c": 1}},
        {"q": {"b": 1.0, "a": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}},
    ),
    "missing": ("a judged query without results", {"q": ["a"], "r": ["b"]}, {"q": ["a"]}),
    "unjudged": ("an unjudged result above a relevant one", {"q": ["a"]}, {"q": ["x", "a"]}),
    "no_relevant": (
        "a query without relevant items",
        {"q": {"a": 1}, "r": {"b": 0}},
        {"q": ["x", "a"], "r": ["b"]},
    ),
    "relevant": ("a relevant item that is not in the list", {"q": ["a", "b"]}, {"q": ["a", "x"]}),
    "repeated": ("an item judged twice", {"q": ["a", "a", "b"]}, {"q": ["a"]}),
    "scores": (
        "scores that are equal in single precision only",
        {"q": ["a"]},
        {"q": {"a": 16777217.0, "b": 16777216.0}},
    ),
    "grades": ("grades below 0, or with decimals", {"q": {"a": 1.5, "b": 1}}, {"q": ["b", "a"]}),
    "own": ("a result with the id of its query", {"q": ["a"]}, {"q": ["q", "a"]}),
    "nonpositive": ("a relevant result with a score of 0 or less", {"q": ["a"]}, {"q": {"a": 0.0}}),
    "empty": ("a query with an empty list", {"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": []}),
    "unknown": ("a query that nobody judged", {"q": ["a"]}, {"q": ["a"], "z": ["b"]}),
    "mean": ("queries that differ", {"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": ["x", "b"]}),
    "no_hit": ("a query of which nothing is found", {"q": ["a"], "r": ["b"]},
        {"q": ["a"], "r": ["x"]}),
    "all_relevant": ("a query of which nothing is judged not relevant",
        {"q": ["a", "b"], "r": {"c": 1, "d": 0}}, {"q": ["a"], "r": ["c"]}),
    "undefined": ("a query that is NaN", {"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": []}),
}  # fmt: skip


@dataclass(frozen=True)
class Example:
    """Small data, and the values that definitions give on it.

    ``data`` is a list of grades with the number of relevant items, or qrels and a run.
    """

    data: tuple[Any, Any]
    values: tuple[tuple[str, float], ...]

    @property
    def says(self) -> str:
        """The data in words."""
        first, second = self.data
        if isinstance(first, str):
            return f"'{first}'" + (f" with {second} relevant" if second else "")
        return f"qrels {first} and run {second}"

    @property
    def groups(self) -> list[tuple[float, list[str]]]:
        """Each value, with the definitions that give it."""
        by_text: dict[str, tuple[float, list[str]]] = {}  # by text, since NaN does not equal itself
        for name, value in self.values:
            by_text.setdefault(f"{value:.9f}", (value, []))[1].append(name)
        return list(by_text.values())


def find_examples(
    candidates: Sequence[Candidate], conventions: Policy, tolerance: float
) -> Iterator[tuple[tuple[str, ...], Example | None]]:
    """Find data on which the candidates differ, then other data for those that are equal there.

    No list distinguishes AP(norm=R)@3, AP@3 and AP(norm=k)@3: of R items, two of the norms are
    equal if R ≤ 3, and two if R ≥ 3.
    """
    example = find_example(candidates, conventions, tolerance)
    yield tuple(map(str, candidates)), example
    for _, names in [] if example is None else example.groups:
        if len(names) > 1:
            equal = [candidate for candidate in candidates if str(candidate) in names]
            yield from find_examples(equal, conventions, tolerance)


def find_example(
    candidates: Sequence[Candidate], conventions: Policy, tolerance: float
) -> Example | None:
    """Find the smallest data on which most candidates differ, beyond the tolerance if possible.

    None where all of them are equal on everything that was tried.
    """
    examples = []
    # A list distinguishes measures, but not conventions.
    measures = {
        (
            candidate.measure.name,
            *candidate.measure.arguments.items(),
            candidate.measure.k,
        ): candidate.measure
        for candidate in candidates
    }
    small = _find_list(list(measures.values()), tolerance) if len(measures) > 1 else None
    if small is not None:
        listed, missed = small
        relevant = sum(grade >= 1 for grade in listed) + missed if missed else None
        data = " ".join(f"{grade:g}" for grade in listed), relevant
        examples.append(
            _evaluate(candidates, conventions, data, *make_collection(listed, relevant))
        )
    names = {name for candidate in candidates for name, _ in candidate.choices}
    if len({find_mean(candidate.measure) for candidate in candidates}) > 1:
        names.add("mean")
    for name, (_, qrels, run) in SHOWN.items():
        if name in names:
            examples.append(_evaluate(candidates, conventions, (qrels, run), qrels, run))
    best = max(examples, key=lambda example: len(example.groups), default=None)
    return best if best is not None and len(best.groups) > 1 else None


def _evaluate(
    candidates: Sequence[Candidate],
    conventions: Policy,
    data: tuple[Any, Any],
    qrels: Any,
    run: Any,
) -> Example:
    values = Values(
        Collection(
            open_qrels(qrels),
            open_run(run),
            find_all_needs(*(candidate.measure for candidate in candidates)),
        )
    )
    means = []
    for candidate in candidates:
        try:
            value = values(candidate.make_policy(conventions), candidate.measure).mean
        except GermaneError:
            value = math.nan
        means.append((str(candidate), value))
    return Example(data, tuple(means))


def _find_list(measures: Sequence[Measure], tolerance: float) -> Small | None:
    """Find the first small list on which all measures differ, or the most of them."""
    lists = list(_list_small(measures))
    ranking = _make_ranking(lists)
    try:
        scores = np.array([compute_scores(measure, ranking) for measure in measures])
    except GermaneError:
        return None
    gaps = np.diff(np.sort(scores, axis=0), axis=0)
    for least in (2.5 * tolerance, 1e-9):
        differ = (gaps > least).all(axis=0)
        if differ.any():
            return lists[int(np.argmax(differ))]
    return lists[int(np.argmax((gaps > 1e-9).sum(axis=0)))]


def _list_small(measures: Iterable[Measure]) -> Iterator[Small]:
    """Yield every small list, short ones first."""
    levels = {measure.rel or 1.0 for measure in measures}
    binary = levels == {1.0} and not any("gain" in measure.arguments for measure in measures)
    grades = (0.0, 1.0) if binary else tuple(sorted({0.0, 1.0, 2.0, *levels}))
    cutoffs = {measure.k for measure in measures if measure.k is not None and measure.k <= _MOST}
    for length in range(1, _LONGEST + 1 if binary else _LONGEST - 1):
        for listed in product(grades, repeat=length):
            yield listed, 0
            if levels == {1.0}:  # an item that the list misses has grade 1
                exist = sum(grade >= 1 for grade in listed)
                totals = {exist + 1, exist + 2, *(k + extra for k in cutoffs for extra in range(3))}
                yield from ((listed, total - exist) for total in sorted(totals) if total > exist)


def _make_ranking(lists: Sequence[Small]) -> Ranking:
    """Make each list a query of one ranking."""
    lengths = np.array([len(listed) for listed, _ in lists])
    owner = np.repeat(np.arange(len(lists)), lengths)
    rank = np.arange(len(owner)) - ragged.make_offsets(lengths)[owner] + 1
    judged = [sorted((*listed, *[1.0] * missed), reverse=True) for listed, missed in lists]
    return Ranking(
        queries=list(range(len(lists))),
        owner=owner,
        rank=rank,
        relevance=np.concatenate([listed for listed, _ in lists]),
        retrieved=lengths,
        ideal_offsets=ragged.make_offsets(list(map(len, judged))),
        ideal=np.concatenate(judged),
        tied_from=rank,
        tied_to=rank,
    )
