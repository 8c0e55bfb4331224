"""Mistakes: formulas that are no definition, but that people write; each a row of a table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.dialects.names import parse
from germane.errors import GermaneError
from germane.forensics.asking import Batch, Precision
from germane.forensics.cases import Case, Question, rank_items
from germane.forensics.inquiry import Inquiry
from germane.forensics.known_cases import find_kinds
from germane.forensics.variations import Candidate
from germane.measures.averaging import compute_terms
from germane.measures.measure import Measure


@dataclass(frozen=True)
class View:
    """The data as a measure sees it, and the cutoff."""

    ranking: Ranking
    k: int | None
    grades: Floats  # the grades of all judgments, in the order in which they were given

    def change(self, **fields: Any) -> "View":
        """Change fields of the ranking."""
        return replace(self, ranking=replace(self.ranking, **fields))


Change = Callable[[View], View]
Count = Callable[[View], Floats]


def _keep(view: View) -> View:
    return view


def _keep_ideal_of_retrieved(view: View) -> View:
    ranking = view.ranking
    ideal = ranking.relevance[np.lexsort((-ranking.relevance, ranking.owner))]
    return view.change(ideal=ideal, ideal_offsets=ranking.offsets)


def _keep_first(view: View) -> View:
    """Keep the hits within the cutoff alone."""
    ranking, inside = view.ranking, view.ranking.within(view.k)
    names = ("owner", "rank", "relevance", "tied_from", "tied_to")
    hits = {name: getattr(ranking, name)[inside] for name in names}
    return _keep_ideal_of_retrieved(view.change(**hits, judgment=None))


def _cut_ideal_at_results(view: View) -> View:
    """Keep as many items of the ideal ranking as there are results."""
    ranking = view.ranking
    kept = np.minimum(np.diff(ranking.ideal_offsets), ranking.retrieved)
    places = ragged.list_stretches(ranking.ideal_offsets[:-1], kept)
    return view.change(ideal=ranking.ideal[places], ideal_offsets=ragged.make_offsets(kept))


def _shift(view: View, ideal: bool) -> View:
    """Put an item of grade 0 above all others, so that the first rank is 2."""
    ranking, rank = view.ranking, view.ranking.rank + 1
    moved = view.change(rank=rank, tied_from=rank, tied_to=rank, retrieved=ranking.retrieved + 1)
    if ideal:
        starts = ranking.ideal_offsets[:-1]
        offsets = ranking.ideal_offsets + np.arange(len(ranking.ideal_offsets))
        moved = moved.change(ideal=np.insert(ranking.ideal, starts, 0.0), ideal_offsets=offsets)
    return replace(moved, k=None if view.k is None else view.k + 1)


def _reverse(view: View) -> View:
    ranking = view.ranking
    rank = ranking.retrieved[ranking.owner] + 1 - ranking.rank
    order = np.lexsort((rank, ranking.owner))
    relevance, rank = ranking.relevance[order], rank[order]
    return view.change(relevance=relevance, rank=rank, tied_from=rank, tied_to=rank, judgment=None)


def _count_judged(view: View) -> View:
    """Take items that are judged not relevant for relevant ones."""
    relevance, ideal = view.ranking.relevance, view.ranking.ideal
    positive = {"relevance": np.maximum(relevance, 1.0), "ideal": np.maximum(ideal, 1.0)}
    return view.change(**positive, judgment=None)


def _sort_ideal_ascending(view: View) -> View:
    ranking = view.ranking
    ascending = np.lexsort((ranking.ideal, ranking.ideal_owner))
    return view.change(ideal=ranking.ideal[ascending])


def _move_cutoff(view: View, by: int) -> View:
    moved = view.k if view.k is None or view.k + by < 1 else view.k + by
    return replace(view, k=moved)


@dataclass(frozen=True)
class Mistake:
    """A formula that people write for a measure: the terms summed, and their divisor."""

    name: str
    measures: tuple[str, ...]
    """germane's names of the measures for which it is written"""
    terms: Change = _keep
    norm: Change = _keep
    """the view that the norm is computed from, unless there is a ``divisor``"""
    divisor: Count | None = None
    terms_of: str = ""
    """another measure, whose terms are summed"""
    factor: float = 1.0

    def compute(self, measure: Measure, view: View) -> Floats:
        """Compute the value of each query (Q)."""
        seen = self.terms(view)
        summed = measure if not self.terms_of else parse(self.terms_of)
        scored = _score(summed, seen)
        if self.divisor is not None:
            norm = np.asarray(self.divisor(view), float)
        else:
            norm = _score(measure, self.norm(view)).norm
        values: Floats = replace(scored, norm=norm).compute_values(seen.ranking)
        return self.factor * values


def _score(measure: Measure, view: View) -> Any:
    cut = Measure(measure.name, measure.parameters, view.k if measure.row.cutoff else None)
    return compute_terms(cut, view.ranking)


_GAIN = ("nDCG",)
_RANKED = ("AP", "RR", "DCG", "nDCG")

MISTAKES: tuple[Mistake, ...] = (
    Mistake("the ideal ranking has only the retrieved items", _GAIN,
            norm=_keep_ideal_of_retrieved),
    Mistake("the ideal ranking has only the items within the cutoff", _GAIN, norm=_keep_first),
    Mistake("the ideal ranking is not sorted", _GAIN,
            norm=lambda view: view.change(ideal=view.grades)),
    Mistake("the ideal ranking is sorted from the lowest grade", _GAIN, norm=_sort_ideal_ascending),
    Mistake("the ideal ranking is not cut off", _GAIN, norm=lambda view: replace(view, k=None)),
    Mistake("the ideal ranking is cut off at the number of results", _GAIN,
            norm=_cut_ideal_at_results),
    Mistake("the rank is one too high (discount shifted by one)", _GAIN,
            terms=partial(_shift, ideal=True), norm=partial(_shift, ideal=True)),
    Mistake("the rank is one too high in the list, not in the ideal ranking", _GAIN,
            terms=partial(_shift, ideal=False)),
    Mistake("the rank is one too high (it starts from 2)", ("AP", "RR", "DCG"),
            terms=partial(_shift, ideal=False)),
    Mistake("the list is read in ascending order", (*_RANKED, "P", "R", "Success", "F", "MeanP"),
            terms=_reverse),
    Mistake("the cutoff of the sum is one too low", (*_RANKED, "P", "R", "F"),
            terms=partial(_move_cutoff, by=-1)),
    Mistake("the cutoff of the sum is one too high", (*_RANKED, "P", "R", "F"),
            terms=partial(_move_cutoff, by=1)),
    Mistake("not divided: the precisions at the hits are added", ("AP",),
            divisor=lambda view: np.ones(len(view.ranking))),
    Mistake("divided by the length of the list", ("AP", "P", "DCG"),
            divisor=lambda view: view.ranking.retrieved),
    Mistake("divided by the number of ranks looked at", ("AP", "P", "DCG"),
            divisor=lambda view: view.ranking.last(view.k)),
    Mistake("divided by the cutoff", ("nDCG", "DCG", "RR"),
            divisor=lambda view: np.full(len(view.ranking), view.k or 0)),
    Mistake("divided by the number of relevant items", ("DCG", "MeanP"),
            divisor=lambda view: view.ranking.total(1.0)),
    Mistake("precision is added at every rank", ("AP",), terms_of="MeanP"),
    Mistake("items that are judged not relevant count as relevant",
            ("AP", "RR", "P", "R", "Success", "F", "Rprec"),
            terms=_count_judged, norm=_count_judged),
    Mistake("the value is in percent", (*_RANKED, "P", "R", "Success", "F", "Rprec"), factor=100.0),
    Mistake("hits before a rank do not count in its precision", ("AP",),
            terms_of="DCG(discount=position)"),  # as mrr_score of Spotlight
)  # fmt: skip
"""Formulas that are no definition; mistakes that are one are in ``CALLED``."""

CALLED: tuple[tuple[str, str, Any, str], ...] = (
    ("nDCG", "norm", "k", "the ideal ranking has k hits, however many relevant items there are"),
    ("nDCG", "norm", "retrieved", "the ideal ranking has a hit at every rank of the list"),
    ("nDCG", "discount", "jarvelin",
        "the first two ranks are not discounted: log2(i) instead of log2(i+1)"),
    ("nDCG", "gain", "exp", "gains are 2^grade - 1"),
    ("nDCG", "gain", "linear", "gains are the grades themselves"),
    ("DCG", "discount", "jarvelin",
        "the first two ranks are not discounted: log2(i) instead of log2(i+1)"),
    ("DCG", "discount", "position", "gains are divided by the rank, not by its logarithm"),
    ("AP", "norm", "found", "divided by the relevant items found"),
    ("AP", "norm", "k", "divided by the cutoff"),
    ("AP", "norm", "R", "divided by all relevant items"),
    ("AP", "norm", "min", "divided by min(R,k)"),
    ("AP", "norm", "possible", "divided by the relevant items that the list can hold"),
    ("P", "norm", "retrieved", "divided by the length of the list"),
    ("R", "norm", "min", "divided by min(R,k)"),
    ("", "relevant", "listed", "relevant items that are not in the list do not count"),
    ("", "grades", "ones", "grades are taken as binary"),
    ("", "duplicates", "recount", "hits are counted twice"),
    ("", "missing", "skip", "the mean is only over answered queries"),
    ("", "scores", "distances", "the list is read in ascending order"),
)  # fmt: skip
"""Definitions in words: measure, parameter or convention, its value, and the difference."""


@dataclass(frozen=True)
class Misreading:
    """A mistake in reading data, which special data alone shows: it is taken for other data."""

    name: str
    kind: str
    """the special data"""
    change: Callable[[Case], Case]


def _rank_as_given(case: Case) -> Case:
    return case._replace(ranked=case.ranked and rank_items(case.items))


MISREADINGS: tuple[Misreading, ...] = (
    Misreading(
        "the order of the rows counts, not the order of the scores", "order", _rank_as_given
    ),
)


def find_misreadings(
    inquiry: Inquiry, definition: Candidate, question: Question
) -> Iterator[Misreading]:
    """Find the misreadings by which a definition gives the function's value on special data."""
    kinds = find_kinds(question, inquiry.shape)
    for misreading in MISREADINGS:
        if misreading.kind in kinds:
            read = Question(tuple(misreading.change(case) for case in question.cases))
            batch = inquiry.ask_known([read], {read: inquiry.asker.ask(question)})
            if batch.fits(definition, inquiry.precision):
                yield misreading


MEANS: tuple[tuple[str, Callable[[Floats], float]], ...] = (
    ("the values of the queries are added", lambda values: float(values.sum())),
    ("the median of the queries, not their mean", lambda values: float(np.median(values))),
    ("the highest value of a query, not the mean", lambda values: float(values.max())),
    ("the lowest value of a query, not the mean", lambda values: float(values.min())),
)
"""Ways to make one value of those of several queries that are no mean."""


def find_means(inquiry: Inquiry, definition: Candidate) -> Iterator[str]:
    """Find how a function makes one value of several queries', if not their mean."""
    answers = inquiry.asker.answers
    ordinary = [
        question
        for question in answers
        if len(question.cases) > 1 and not find_kinds(question, inquiry.shape)
    ]
    for text, compute in (
        MEANS if inquiry.kind == "mean" and inquiry.asker.most_calls is None else ()
    ):
        if ordinary and all(
            _is_made(inquiry, definition, question, compute) for question in ordinary
        ):
            yield text


def _is_made(
    inquiry: Inquiry, definition: Candidate, question: Question, compute: Callable[[Floats], float]
) -> bool:
    single = [Question((case,)) for case in question.cases]
    values = inquiry.ask_known(single, {}).expect(definition)
    returned = np.array(inquiry.asker.answers[question].values)
    if values is None or len(returned) != 1:
        return False
    return bool(inquiry.precision.agree(returned, np.array([compute(values)])).all())


def describe_difference(candidate: Candidate, claim: Measure) -> str:
    """Describe in words how a definition differs from the one that was asked for; "" where words
    are missing.
    """
    computed, claimed = candidate.measure, claim
    differences = []
    if computed.name != claimed.name:
        return (
            "precision is added at every rank"
            if (computed.name, claimed.name) == ("MeanP", "AP")
            else ""
        )
    if computed.k != claimed.k and computed.k is not None and claimed.k is not None:
        off = (
            "the cutoff is one off" if abs(computed.k - claimed.k) == 1 else "the cutoff is another"
        )
        differences.append(f"{off}: {computed.k}, not {claimed.k}")
    elif computed.k != claimed.k:
        differences.append(
            "there is no cutoff" if computed.k is None else f"the list is cut off at {computed.k}"
        )
    theirs = dict(claimed.parameters)
    changed = [(n, value) for n, value in computed.parameters if value != theirs[n]]
    for name, value in (*changed, *candidate.choices):
        for measure, parameter, word, text in CALLED:
            if measure in ("", computed.name) and (parameter, word) == (name, value):
                differences.append(text)
    return "; ".join(dict.fromkeys(differences))


def find_mistakes(
    batches: Sequence[Batch], measures: Sequence[Measure], precision: Precision
) -> Iterator[tuple[Mistake, Measure]]:
    """Find the mistakes, and their measures, that give the values of all batches."""
    for mistake in MISTAKES:
        for measure in measures:
            if measure.name in mistake.measures and _fits_all(mistake, measure, batches, precision):
                yield mistake, measure


def _fits_all(
    mistake: Mistake, measure: Measure, batches: Sequence[Batch], precision: Precision
) -> bool:
    changes = False  # it is no mistake where it changes nothing
    for batch in batches:
        usual = batch.evaluate(Candidate(measure))
        if usual is None:
            return False
        ranking = batch.rank(batch.base)
        view = View(ranking, measure.k, batch.judge(batch.base).qrels.grades)
        try:
            values = mistake.compute(measure, view)
        except (GermaneError, IndexError):
            return False
        if not batch.agrees(batch.arrange(replace(usual, values=values, norm=None)), precision):
            return False
        changes |= not np.array_equal(values, usual.values, equal_nan=True)
    return changes
