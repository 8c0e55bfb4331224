"""The interface of pytrec_eval: ``import germane.pytrec_eval as pytrec_eval`` is the only change in
a script.

Names, values and types of errors are those of pytrec_eval-terrier 0.5.11. Measures are evaluated in
the dialect of trec_eval 9, by the code of ``germane trec_eval``.
"""

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, NoReturn, TypeVar

import numpy as np

from germane.core.qrels import Order, Qrels, Retrieved
from germane.errors import ScoreError, check_choice, clip, suggest
from germane.evaluation.evaluate import evaluate
from germane.evaluation.opening import open_data
from germane.readers import open_run
from germane.trec_eval.command_line import NICKNAMES, Column, Options, make_columns
from germane.trec_eval.runs import make_ranking, rank_unordered
from germane.trec_eval.scores import Scorer, list_measures

__version__ = "0.5.11"  # of the interface, for packages that look at it

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

_SINCE_10 = {"rbp", "rbp_resid", "unj"}

supported_nicknames: dict[str, set[str]] = {
    name: set(names) - _SINCE_10 for name, names in NICKNAMES.items()
}
"""Names of several measures at once."""

supported_measures: set[str] = set(supported_nicknames["all_trec"])
"""The names of all measures, without parameters."""

_NUMBERS = r"[0-9]+(?:\.[0-9]+)?"
_PARAMETERS = re.compile(
    rf"({'|'.join(sorted(supported_measures))})[._]({_NUMBERS}(?:,{_NUMBERS})*)"
)
_ORDER = Order("id", "single")
_INT = 2**31
_GRADES = 2**53  # whole numbers below this are exact as doubles
_LARGEST = float(np.finfo(np.float64).max)

_Number = TypeVar("_Number", int, float)


class RelevanceEvaluator:
    """Evaluates runs against judgments, query by query.

    >>> from germane import pytrec_eval
    >>> qrels = {"q1": {"d1": 1, "d2": 0, "d3": 2}}
    >>> evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "P_1,2", "ndcg_cut.10"})
    >>> evaluator.evaluate({"q1": {"d2": 0.9, "d3": 0.8}})
    {'q1': {'map': 0.25, 'P_1': 0.0, 'P_2': 0.5, 'ndcg_cut_10': 0.4796249331362629}}

    ``query_relevance`` is ``{query: {item: grade}}`` with text and whole numbers. ``measures`` are
    names of ``supported_measures``, with parameters after a dot or an underscore, and of
    ``supported_nicknames``. Grades from ``relevance_level`` are relevant; with
    ``judged_docs_only_flag``, unjudged items are left out first. ``findings="warn"`` makes
    ``evaluate`` warn of problems in the data, as ``germane.evaluate`` does. Raises ValueError for a
    measure that does not exist, and TypeError for data of other types.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
        *,
        findings: Literal["ignore", "warn"] = "ignore",
    ) -> None:
        check_choice("findings", findings, ("ignore", "warn"))
        parameters = _read_measures(measures)
        judged = {query: grades for query, grades in query_relevance.items() if len(grades) > 0}
        level = _read_whole("relevance_level", relevance_level)
        judged_only = _read_whole("judged_docs_only_flag", judged_docs_only_flag) != 0
        if level < 1:
            raise TypeError(f"relevance_level is at least 1; got {level}")
        self._qrels = _read_qrels(judged)
        self._options = Options(
            judged_only=judged_only,
            level=level,
            marked=set(parameters),
            parameters={name: ",".join(sorted(all_)) for name, all_ in parameters.items() if all_},
            rounding="trec9",
        )
        columns = make_columns(self._options) if parameters else []
        self._columns = [(column, not _has_no_value(column)) for column in columns]
        self._names = [_write_key(column) for column in columns]
        valued = (column for column, has_value in self._columns if has_value)
        self._measures = list_measures(valued, level)
        self._findings = findings
        self._single: dict[int, Qrels] = {}

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run, ``{query: {item: score}}``: every measure for each judged query.

        Raises TypeError for ids that are not text and for scores that are not numbers.
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            _refuse("scores", "is a dictionary", scores)
        for query, retrieved in scores.items():
            _check("scores", query, retrieved, (float, int), "a score is a number, int or float")
        qrels = self._qrels
        if qrels is None:
            return {}
        position = qrels.position
        judged = {query: retrieved for query, retrieved in scores.items() if query in position}
        if not judged:
            return {}
        if self._findings == "warn":
            evaluate(qrels, scores, dialect="pytrec_eval")
        part = self._select(qrels, [position[query] for query in judged])
        values = self._compute_values(part, _retrieve(part, judged))
        if not values:
            return {query: {} for query in judged}
        names = self._names
        rows = zip(judged, zip(*values, strict=True), strict=True)
        return {query: dict(zip(names, row, strict=True)) for query, row in rows}

    def _select(self, qrels: Qrels, places: list[int]) -> Qrels:
        """Select the judgments of some queries; those of a single one are kept."""
        if len(places) > 1:
            return qrels.some(np.array(places))
        if places[0] not in self._single:
            self._single[places[0]] = qrels.some(np.array(places))
        return self._single[places[0]]

    def _compute_values(self, qrels: Qrels, retrieved: Retrieved) -> list[list[float]]:
        """Compute each column's value of every query."""
        ranking = make_ranking(qrels, retrieved, self._options)
        scorer = Scorer(ranking, self._options.level, 0, self._options.rounding)
        scorer.prepare(self._measures)
        return [
            scorer.compute_column(column).tolist() if valued else [0.0] * len(qrels)
            for column, valued in self._columns
        ]


def _read_measures(measures: Iterable[str]) -> dict[str, set[str]]:
    """Read names of measures and nicknames: the parameters that each measure was given."""
    expanded: set[str] = set()
    for name in measures:
        expanded |= supported_nicknames.get(name, {name})
    parameters: dict[str, set[str]] = {}
    for name in expanded:
        if not isinstance(name, str):
            raise TypeError(f"measures are named by text; got {clip(name)}")
        if name in supported_measures:
            parameters.setdefault(name, set())
        elif match := _PARAMETERS.match(name):
            parameters.setdefault(match[1], set()).update(match[2].split(","))
        else:
            near = suggest(name, (*supported_measures, *supported_nicknames))
            raise ValueError(
                f"unsupported measure {name}.{near}  All of them: pytrec_eval.supported_measures"
            )
    return parameters


def _write_key(column: Column) -> str:
    """Write the key of a value: a measure of one value keeps its name, without parameters."""
    return column.name if column.row.takes in ("cutoffs", "levels") else column.measure


def _has_no_value(column: Column) -> bool:
    """Is the value always 0: that of text, or of utility without four numbers?"""
    if column.measure == "utility":
        return len(column.argument) != 4
    return column.row.shown in ("id", "string")


# --- What is given ----------------------------------------------------------------------------


def _read_qrels(judged: dict[str, Any]) -> Qrels | None:
    """Read the judgments; None where there are none."""
    for query, grades in judged.items():
        _check("query_relevance", query, grades, (int,), "a relevance is a whole number, int")
        if excessive := [item for item, grade in grades.items() if abs(grade) > _GRADES]:
            raise OverflowError(
                f"query_relevance, query {clip(query)}, item {clip(excessive[0])}: a relevance is "
                f"in the range ±2^53; got {clip(grades[excessive[0]])}"
            )
    return open_data(judged, {}).read() if judged else None


def _check(where: str, query: object, raw: object, types: Any, rule: str) -> None:
    """Check the types of a query, and of its items and their numbers."""
    if not isinstance(query, str):
        _refuse(where, "has queries that are text", query)
    if not isinstance(raw, dict):
        _refuse(f"{where}, query {clip(query)}", "is a dictionary", raw)
    if not _are_instances(raw, (str,)):
        misfit = next(item for item in raw if not isinstance(item, str))
        _refuse(f"{where}, query {clip(query)}", "has items that are text", misfit)
    if not _are_instances(raw.values(), types):
        item, value = next(pair for pair in raw.items() if not isinstance(pair[1], types))
        raise TypeError(
            f"{where}, query {clip(query)}, item {clip(item)}: {rule}; got {clip(value)}"
        )


def _are_instances(values: Collection[object], types: tuple[type, ...]) -> bool:
    """Are all values of these types? Of subclasses, too, which are looked for last."""
    return set(types).issuperset(map(type, values)) or all(isinstance(v, types) for v in values)


def _refuse(where: str, rule: str, raw: object) -> NoReturn:
    raise TypeError(f"{where} {rule}; got {clip(raw)}")


def _read_whole(name: str, raw: object) -> int:
    """Read an argument that is a C int in the original."""
    try:
        number = operator.index(raw)  # type: ignore[arg-type]
    except TypeError:
        number = _INT
    if not -_INT <= number < _INT:
        _refuse(name, "is a whole number of 32 bits", raw)
    return number


def _retrieve(qrels: Qrels, run: dict[str, Any]) -> Retrieved:
    """Find the judged items that were retrieved. Scores that are not finite are replaced."""
    try:
        return open_run(run).retrieve(qrels, "error", _ORDER)
    except ScoreError:
        finite = {query: _replace_scores(query, retrieved) for query, retrieved in run.items()}
        return open_run(finite).retrieve(qrels, "error", _ORDER)


def _replace_scores(query: str, retrieved: dict[str, float]) -> dict[str, float]:
    """Replace infinite scores by the largest, and those beside a NaN by C's places."""
    with np.errstate(over="ignore"):
        scores = [float(np.float32(_read_score(query, *pair))) for pair in retrieved.items()]
    if any(score != score for score in scores):
        ranked = rank_unordered(list(zip(retrieved, scores, strict=True)))
        return {item: -float(place) for place, item in enumerate(ranked)}
    limited = (min(max(score, -_LARGEST), _LARGEST) for score in scores)
    return dict(zip(retrieved, limited, strict=True))


def _read_score(query: str, item: str, score: float) -> float:
    try:
        return float(score)
    except OverflowError:
        raise OverflowError(
            f"scores, query {clip(query)}, item {clip(item)}: a score is in the range of a double; "
            f"got {clip(score)}"
        ) from None


# --- Files and means --------------------------------------------------------------------------


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a TREC run, ``query Q0 item rank score tag``.

    >>> from germane import pytrec_eval
    >>> dict(pytrec_eval.parse_run(["q1 Q0 d1 1 0.5 tag"]))
    {'q1': {'d1': 0.5}}

    Raises ValueError for another line, and AssertionError for an item that is retrieved twice.
    """
    return _read_lines(f_run, "query Q0 item rank score tag", 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of TREC qrels, ``query 0 item relevance``.

    >>> from germane import pytrec_eval
    >>> dict(pytrec_eval.parse_qrel(["q1 0 d1 1"]))
    {'q1': {'d1': 1}}

    Raises ValueError for another line, and AssertionError for an item that is judged twice.
    """
    return _read_lines(f_qrel, "query 0 item relevance", 3, int)


def _read_lines(
    lines: Iterable[str], form: str, place: int, read: Callable[[str], _Number]
) -> dict[str, dict[str, _Number]]:
    """Read lines of this form into nested dicts; the number is the field at a place."""
    count = len(form.split())
    nested: dict[str, dict[str, _Number]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != count:
            raise ValueError(
                f"line {number}: {len(fields)} fields where {count} are needed ({form}):"
                f" {clip(line)}"
            )
        query, item = fields[0], fields[2]
        if item in nested[query]:
            raise AssertionError(f"line {number}: item {item!r} is there twice for query {query!r}")
        nested[query][item] = read(fields[place])
    return nested


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """Aggregate the values of queries: a sum for ``num_…``, e^mean for ``gm_…``, else the mean.

    >>> from germane import pytrec_eval
    >>> pytrec_eval.compute_aggregated_measure("map", [0.5, 1.0])
    0.75
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))
