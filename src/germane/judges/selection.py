"""Selection: the pairs of query and item that are worth a judgment next."""

import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from germane.core.calls import Progress
from germane.core.finding import Finding, warn
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, unite_equal
from germane.core.ranking import Ranking
from germane.errors import EmptyError, GermaneWarning, InputError, MeasureError, check_choice, clip
from germane.evaluation.choices import Choices, Judgments, Run
from germane.evaluation.evaluate import evaluate_many, score
from germane.evaluation.opening import Held, Inputs, check_runs, open_data
from germane.kernel.ids import spell_id
from germane.measures.measure import Measure
from germane.output.documents import Document
from germane.output.named_columns import Tabular, make_ids, make_numbers
from germane.output.tables import Table, format_number, write_count
from germane.readers.objects.item_ids import spell_qrels

By: TypeAlias = Literal["weight", "difference"]
DEEPEST = 1000  # ranks that have a weight, under a measure without a cutoff
NEXT = "what to judge next"
MENDED = (  # findings that these judgments mend
    "queries not judged", "results not judged", "queries without a judgment", "nothing relevant",
)  # fmt: skip
IDS = ("query", "item")
UNJUDGED = -1.0  # as in qrels: in the pool, but not judged


@dataclass(frozen=True)
class Candidate:
    """A pair of query and item without a judgment, and its weight."""

    query: Hashable
    item: Hashable
    weight: float


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Tabular, Document):
    """Pairs to judge next, those with the largest weights first.

    >>> chosen = germane.choose_judgments({"q": {"d": 1}}, {"a": {"q": ["x", "d"]}}, "RR")
    >>> [(one.query, one.item, one.weight) for one in chosen]
    [('q', 'x', 1.0)]

    As CSV, it has the columns query, item, grade (which is empty) and weight. Fill in the grades,
    and the file contains qrels.
    """

    _json = "measure by pairs=candidates open_before open_after left findings"

    measure: Measure
    candidates: tuple[Candidate, ...]
    open_before: Mapping[str, float]
    """run → the part of the measure's weight that is on items without a judgment"""
    open_after: Mapping[str, float]
    """the same, once these pairs are judged"""
    left: int
    """pairs with a weight that remain without a judgment"""
    by: By
    findings: tuple[Finding, ...] = ()
    """what can distort the choice"""
    ids: tuple[str, str] = IDS
    """the columns of query and item, as the data call them"""

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __repr__(self) -> str:
        return f"<Selection for {self.measure}: {write_count(len(self), 'pair')}>"

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per pair, with an empty grade."""
        rows = tuple(
            (str(candidate.query), str(candidate.item), "", format_number(candidate.weight, digits))
            for candidate in self.candidates
        )
        columns = (*self.ids, "grade", "weight")
        return Table(columns, rows, tuple(self._write_notes()), (1,))

    def _write_notes(self) -> Iterator[str]:
        yield f"{self.measure}: {self.measure.definition}"
        how = {
            "weight": (
                "the value of a list whose only relevant item has the rank of this item, summed"
                " over runs"
            ),
            "difference": "how much this value differs between two runs, summed over pairs of runs",
        }
        yield f"weight: {how[self.by]}"
        for run, before in self.open_before.items():
            after = self.open_after[run]
            yield (
                f"{run}: {before:.1%} of the weight is on items without a judgment, and"
                f" {after:.1%} once these are judged"
            )
        if self.candidates:
            yield f"{write_count(len(self), 'pair')}; {self.left:,} more have a weight"
        else:
            yield (
                f"no item without a judgment has a weight in {self.measure}: there is nothing to"
                " judge"
            )
        if self.findings:
            yield ""
            yield "Findings:"
            yield from (f"- {finding}" for finding in self.findings)

    def _list_columns(self) -> dict[str, Any]:
        query, item = self.ids
        return {
            query: make_ids(candidate.query for candidate in self.candidates),
            item: make_ids(candidate.item for candidate in self.candidates),
            "weight": make_numbers(candidate.weight for candidate in self.candidates),
        }


def choose_judgments(
    qrels: Judgments,
    runs: Mapping[str, Run],
    measure: str | Measure = "nDCG@10",
    *,
    budget: int = 100,
    by: By = "weight",
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Selection:
    """Choose which pairs of query and item to judge next, by their weight in the measure.

    >>> runs = {"a": {"q": ["x", "y", "d"]}, "b": {"q": ["y", "d", "x"]}}
    >>> [one.item for one in germane.choose_judgments({"q": {"d": 1}}, runs, "RR", budget=2)]
    ['y', 'x']

    The weight of a rank is the value that the measure gives to a list whose only relevant item is
    at that rank: 1 ÷ log2(i+1) for nDCG, 1 ÷ i for RR and AP, (1-p)·p^(i-1) for RBP.
    ``by="weight"`` sums the weights over the runs (Moffat, Webber and Zobel 2007).
    ``by="difference"`` sums their differences between runs: an item with the same rank in two runs
    cannot change their order. Unjudged queries of the runs are included. Among equal weights, those
    of queries that were judged earlier come first, then items in the order of their ids.

    ``qrels``, ``runs`` and the conventions are the same as for ``evaluate_many``. Warns about
    problems that can distort the choice; ``findings`` lists them, too. Raises MeasureError for a
    measure that gives no weight to ranks, and InputError for a budget that is not a whole number of
    at least 1.
    """
    check_choice("by", by, ("weight", "difference"))
    if isinstance(budget, bool) or not hasattr(budget, "__index__") or budget < 1:
        raise InputError(f"budget takes a whole number from 1; got {clip(budget)}")
    check_runs(runs)
    if by == "difference" and len(runs) < 2:
        raise EmptyError("by=difference needs at least two runs.")
    data = open_data(qrels, policy)
    key = data.options.read_measure(measure)
    with warnings.catch_warnings():  # of queries without judgments, which are to get some
        warnings.simplefilter("ignore", GermaneWarning)
        pooled, rankings, findings = _pool(data, runs, key, progress)
    deepest = max(int(ranking.rank.max(initial=0)) for ranking in rankings.values())
    weights = _weigh_ranks(key, max(1, min(deepest, key.k or DEEPEST)))
    of_runs = {
        run: _spread_weights(ranking, weights, len(pooled.items))
        for run, ranking in rankings.items()
    }
    warn("next", findings)
    return _select(key, pooled, of_runs, budget, by, findings)


def _select(
    measure: Measure, pooled: Qrels, of_runs: Mapping[str, Floats], budget: int, by: By,
    findings: tuple[Finding, ...],
) -> Selection:  # fmt: skip
    unjudged = pooled.grades < 0
    if by == "weight":
        total = np.sum(list(of_runs.values()), axis=0)
    else:
        total = np.sum([np.abs(a - b) for a, b in combinations(of_runs.values(), 2)], axis=0)
    total = np.where(unjudged, total, 0.0)
    united = unite_equal(total)  # sums of the same weights, which rounding may tell apart
    total = np.where(united > 0, united, total)
    weights = np.sort(total[total > 0])[::-1]
    rivals = np.flatnonzero(total >= weights[:budget].min(initial=np.inf)).tolist()
    owner = np.repeat(np.arange(len(pooled)), np.diff(pooled.offsets))

    def place(j: int) -> tuple[float, int, str]:  # which does not depend on the order of rows
        return -total[j], owner[j], str(spell_id(pooled.items[j]))

    chosen = sorted(rivals, key=place)[:budget]
    candidates = tuple(
        Candidate(pooled.queries[owner[j]], pooled.items[j], float(total[j])) for j in chosen
    )
    still = unjudged.copy()
    still[chosen] = False
    before, after = (
        {
            run: float(weights[flags].sum() / (weights.sum() or 1.0))
            for run, weights in of_runs.items()
        }
        for flags in (unjudged, still)
    )
    left = len(weights) - len(chosen)
    ids = IDS if pooled.id_names is None else pooled.id_names
    return Selection(measure, candidates, before, after, left, by, findings, ids)


def _pool(
    data: Inputs, runs: Mapping[str, Any], measure: Measure, progress: Any
) -> tuple[Qrels, dict[str, Ranking], tuple[Finding, ...]]:
    """Add every item that a run retrieved to the judgments, as not judged, and rank all of them.

    The findings are those of the runs that remain once these items are judged.
    """
    opened = {name: run.run for name, run in data.open_runs(runs).items()}
    retrieved = {name: Held(run.hold()) for name, run in opened.items()}
    judged = data.read_all(NEXT, opened.values())
    first = evaluate_many(data.judge_by(judged), retrieved, [measure], progress=progress)
    if judged.ids == "text" or any(query.run.is_text for query in retrieved.values()):
        judged, spell = spell_qrels(judged), spell_id
    else:
        spell = _keep
    queries = list(judged.queries)
    for result in first.values():
        assert result.placement is not None
        queries += map(spell, result.placement.unknown)
    grades: dict[Hashable, dict[Hashable, float]] = {}
    for query in dict.fromkeys(queries):
        of_query = _select_query(judged, query)
        grades[query] = dict(zip(of_query.items, of_query.grades.tolist(), strict=True))
        for run in retrieved.values():
            for rows in run.run.read_rows(of_query):
                for item in map(spell, rows.items.python):
                    grades[query].setdefault(item, UNJUDGED)
    grades = {query: items for query, items in grades.items() if items}
    pooled = open_data(grades, {}).read_all(NEXT)
    names = first.id_names.avoid(["grade", "weight"])
    pooled = replace(pooled, candidates=judged.candidates, ids=judged.ids, id_names=names)
    rejudged = evaluate_many(data.judge_by(pooled), retrieved, [measure])
    placements = {name: result.placement for name, result in rejudged.items()}
    findings = (
        replace(finding, where=finding.where or name)
        for name, result in first.items()
        for finding in result.findings
        if finding.what not in MENDED
    )
    rankings = {
        name: placement.ranking for name, placement in placements.items() if placement is not None
    }
    return pooled, rankings, tuple(dict.fromkeys(findings))


def _keep(identifier: Any) -> Any:
    return identifier


def _select_query(qrels: Qrels, query: Hashable) -> Qrels:
    if query in qrels.position:
        return qrels.only(query)
    return Qrels([query], np.array([0, 0]), [], np.array([]), ids=qrels.ids)


def _weigh_ranks(measure: Measure, deepest: int) -> Floats:
    """Weigh each rank by the measure's value of a list whose only relevant item has it."""
    weights = np.array(
        [score([0] * rank + [1] + [0] * (deepest - rank - 1), measure) for rank in range(deepest)]
    )
    if (
        measure.row.aggregate != "mean"
        or not weights.any()
        or not np.isfinite(weights).all()
        or weights.min() < 0
    ):
        raise MeasureError(f"{measure} gives no weight to ranks; choose a measure such as nDCG@10.")
    return weights


def _spread_weights(ranking: Ranking, weights: Floats, items: int) -> Floats:
    """Give each pair of query and item the weight of its rank in a run."""
    spread = np.zeros(items)
    seen = ranking.rank <= len(weights)
    assert ranking.judgment is not None
    spread[ranking.judgment[seen]] = weights[ranking.rank[seen] - 1]
    return spread
