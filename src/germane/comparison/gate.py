"""The verb gate: a run against its baseline, and against floors that no measure may fall below."""

import os
import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar, Unpack

from germane.comparison.compare import check_judgments, compare
from germane.comparison.comparison import Comparison
from germane.comparison.comparison_tables import describe_significance, write_ends
from germane.comparison.floors import CheckedFloor, Floor, Floors, check_floors, read_floors
from germane.comparison.pair import Pair, format_difference, format_p_number
from germane.comparison.samples import list_valued
from germane.comparison.significance import Correction, Sequential, TestName
from germane.core.calls import Seed, is_number
from germane.core.ragged import reaches
from germane.errors import (
    CoverageError,
    InputError,
    MeasureError,
    NotFoundError,
    PolicyError,
    RegressionError,
    clip,
    list_some,
    spell_options,
    write_option,
)
from germane.evaluation.choices import DEFAULT, Baseline, Choices, Judgments, Run, Values
from germane.evaluation.evaluate import evaluate
from germane.evaluation.opening import open_data
from germane.evaluation.result import Result
from germane.judges.corrected import CorrectedMean
from germane.judges.trust import trust_many
from germane.measures.measure import Measure, Measures, list_names
from germane.output.documents import make_document, name_values
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number, write_count
from germane.readers.files.formats import is_path
from germane.records.record import find_results

RUN, BASELINE = "run", "baseline"
_OF_PAIRS = ("change", "low", "high", "level", "p")
T = TypeVar("T")
FAILING = {"fell", "inconclusive", "lost", "below"}


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Tabular):
    """The verdict on each measure: passed, noise, fell, inconclusive, lost, or below its floor.

    >>> qrels = {f"q{i}": ["d"] for i in range(20)}
    >>> good, bad = ({q: ranked for q in qrels} for ranked in (["d"], ["x", "d"]))
    >>> found = germane.gate(qrels, bad, "RR", baseline=good)
    >>> found.passed, found.verdicts
    (False, {'RR': 'fell'})
    """

    comparison: Comparison | None
    """the run compared with its baseline, if there is one"""
    max_drop: float
    corrected: Mapping[str, CorrectedMean] = field(default_factory=dict)
    """measure → the change as people's judgments correct it, where ``people=`` gives some"""
    floors: tuple[CheckedFloor, ...] = ()
    notes: tuple[str, ...] = ()
    """what else a table says, where nothing is compared"""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The run and its baseline, by measure."""
        return () if self.comparison is None else tuple(self.comparison.pairs)

    @property
    def passed(self) -> bool:
        """Is every drop within the allowed limit, or not significant, and no floor undercut?"""
        return not FAILING & {*self.verdicts.values(), *(word for *_, word in self.segments)}

    def __bool__(self) -> bool:
        return self.passed

    @property
    def verdicts(self) -> dict[str, str]:
        """Measure → passed, or for a drop larger than allowed: fell (it is statistically
        significant), noise (it is not), or inconclusive (the test could not have shown it, or the
        interval contains 0 although p is below alpha); or lost, where queries that have a value in
        the baseline have none in the run; or below, where the value is less than its floor."""
        verdicts = {str(pair.measure): self._judge(pair) for pair in self.pairs}
        for floor in self.floors:
            verdict = verdicts.get(floor.measure, "passed")
            is_low = not floor.passed and verdict not in FAILING
            verdicts[floor.measure] = "below" if is_low else verdict
        return verdicts

    @property
    def segments(self) -> tuple[tuple[Hashable, Pair, str], ...]:
        """Each segment and pair with its verdict, where ``by=`` gives segments."""
        segments = None if self.comparison is None else self.comparison.segments
        pairs = () if segments is None else segments.pairs
        return tuple(
            (name, pair, self._judge_drop(pair, segments[name]))
            for name, pair in pairs
            if segments is not None
        )

    @cached_property
    def lost(self) -> dict[str, tuple[Hashable, ...]]:
        """Measure → the queries that have a value in the baseline and none in the run."""
        queries: dict[str, tuple[Hashable, ...]] = {}
        if self.comparison is None:
            return queries
        [results] = self.comparison.datasets.values()
        for pair in self.pairs:
            before, now = (list_valued(results[name], pair.measure) for name in (BASELINE, RUN))
            valued = set(now)
            queries[str(pair.measure)] = tuple(query for query in before if query not in valued)
        return queries

    def _judge(self, pair: Pair) -> str:
        change = self.corrected.get(str(pair.measure))
        if change is not None:
            return self._judge_change(change)
        assert self.comparison is not None  # of which the pair is
        verdict = self._judge_drop(pair, self.comparison)
        if self.comparison.settings.sequential:
            return verdict  # queries without a value are still to come
        return "lost" if verdict not in FAILING and self.lost[str(pair.measure)] else verdict

    def _judge_drop(self, pair: Pair, comparison: Comparison) -> str:
        means = comparison.means[str(pair.measure)].values()
        if reaches(pair.difference, -self.max_drop, max(map(abs, means))):
            return "passed"
        words = {"significant": "fell", "not significant": "noise", "inconclusive": "inconclusive"}
        if comparison.settings.sequential:
            words["inconclusive"] = "noise"  # until more queries come
        return words[pair.verdict]

    def _judge_change(self, change: CorrectedMean) -> str:
        drop, interval = change.stated
        if reaches(drop, -self.max_drop, 1.0):
            return "passed"
        if interval.high < 0:
            return "fell"
        return "inconclusive" if interval.basis == "range" else "noise"

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per measure, or per measure and segment."""
        if self.corrected:
            return self._tabulate_corrected(digits)
        whole, verdicts = self.comparison, self.verdicts
        segments = None if whole is None else whole.segments
        judged = [("all", pair, verdicts[str(pair.measure)], whole) for pair in self.pairs]
        if segments is not None:
            judged += [(str(n), pair, word, segments[n]) for n, pair, word in self.segments]
        floors = {floor.measure: floor for floor in self.floors}
        columns = (
            "measure", *["segment"] * (segments is not None), *[BASELINE] * (whole is not None),
            RUN, *["floor"] * bool(floors), *_OF_PAIRS * (whole is not None), "verdict",
        )  # fmt: skip
        rows = []
        for segment, pair, verdict, comparison in judged:
            assert comparison is not None  # of which the pair is
            means = comparison.means[str(pair.measure)]
            low, high = write_ends(pair.interval, digits, sign="+")
            floor = floors.pop(str(pair.measure), None) if segment == "all" else None
            cells = {
                "segment": segment,
                **{name: format_number(means[name], digits) for name in (BASELINE, RUN)},
                "floor": "" if floor is None else format_number(floor.lowest, digits),
                "change": format_number(pair.difference, digits, sign="+"),
                "low": low,
                "high": high,
                "level": pair.interval.level if pair.interval else "",
                "p": format_p_number(pair.p_adjusted, digits),
                "verdict": verdict,
            }
            rows.append((str(pair.measure), *(cells[column] for column in columns[1:])))
        for name, floor in floors.items():
            ends = {"floor": floor.lowest, RUN: floor.value}
            cells = {column: format_number(value, digits) for column, value in ends.items()}
            cells |= {"verdict": verdicts[name]}
            rows.append((name, *(cells.get(column, "") for column in columns[1:])))
        notes = [*self._explain_verdicts(), *self._list_notes()]
        if "inconclusive" not in verdicts.values():  # a passed measure needs no test
            notes = [note for note in notes if not note.startswith("Inconclusive:")]
        left = (len(columns) - 1,) if segments is None else (1, len(columns) - 1)
        return Table(columns, tuple(rows), tuple(notes), left=left)

    def _list_notes(self) -> Iterator[str]:
        compared = {str(pair.measure) for pair in self.pairs}
        for floor in self.floors:
            if floor.measure not in compared:
                yield f"{floor.measure}: {floor.definition}"
        if self.comparison is not None:
            yield from self.comparison.notes
            if self.comparison.segments is not None:
                yield self.comparison.segments.describe_correction()
        else:
            yield from self.notes

    def _tabulate_corrected(self, digits: int | None) -> Table:
        """Make a row per measure: the means by the model, and the change that people correct."""
        number, rows = partial(format_number, digits=digits), []
        assert self.comparison is not None  # which is corrected
        for pair in self.pairs:
            change, means = self.corrected[str(pair.measure)], self.comparison.means
            drop, interval = change.stated
            model = means[str(pair.measure)]
            rows.append(
                (
                    str(pair.measure),
                    *(number(model[name]) for name in (BASELINE, RUN)),
                    number(pair.difference, sign="+"),
                    number(drop, sign="+"),
                    *write_ends(interval, digits, sign="+"),
                    interval.level,
                    self._judge(pair),
                )
            )
        by_model = (f"{BASELINE} by model", f"{RUN} by model", "change by model")
        columns = ("measure", *by_model, "change", "low", "high", "level", "verdict")
        notes = [*self._explain_changes(), *self.comparison.notes]
        notes = [note for note in notes if not note.startswith(("p: ", "intervals: "))]
        return Table(columns, tuple(rows), tuple(notes), left=(8,))

    def _explain_changes(self) -> Iterator[str]:
        """Explain the verdicts on changes that were corrected."""
        used = {*self.verdicts.values()}
        yield f"passed: no drop of more than {self.max_drop:g}"
        for verdict, means in {
            "fell": "a larger drop, whose interval is below 0",
            "noise": "a larger drop, whose interval contains 0",
            "inconclusive": (
                "a larger drop, of which people judged too few queries; this fails the gate"
            ),
        }.items():
            if verdict in used:
                yield f"{verdict}: {means}"
        change = next(iter(self.corrected.values()))
        yield (
            f"change: corrected by people's judgments of {change.judged:,} of"
            f" {write_count(change.queries, 'query')}; the others are judged by the model alone"
        )
        alone = [name for name, change in self.corrected.items() if change.shown == "people"]
        if alone:
            yield f"{', '.join(alone)}: by people's judgments alone, which are more certain"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema: the comparison, and the verdicts."""
        corrected = {name: change.to_dict() for name, change in self.corrected.items()}
        segments: dict[str, dict[str, str]] = {}
        for name, pair, verdict in self.segments:
            segments.setdefault(str(name), {})[str(pair.measure)] = verdict
        return {
            **(make_document({}) if self.comparison is None else self.comparison.to_dict()),
            "verdicts": self.verdicts,
            **({"floors": [name_values(floor) for floor in self.floors]} if self.floors else {}),
            **({"segment_verdicts": segments} if segments else {}),
            **({"corrected": corrected} if corrected else {}),
            "passed": self.passed,
        }

    def _explain_verdicts(self) -> Iterator[str]:
        used = {*self.verdicts.values(), *(word for *_, word in self.segments)}
        if self.comparison is not None:
            yield from self._explain_drops(self.comparison.settings.alpha, used)
        else:
            yield "passed: not less than the floor"
        if "below" in used:
            yield "below: less than the floor; this fails the gate"

    def _explain_drops(self, alpha: float, used: set[str]) -> Iterator[str]:
        yield f"passed: no drop of more than {self.max_drop:g}"
        judged = [(pair, self._judge(pair)) for pair in self.pairs]
        judged += [(pair, word) for _, pair, word in self.segments]
        unjudged = [pair for pair, word in judged if word == "inconclusive"]
        causes = {
            f"no p < {alpha:g} was possible": any(pair.limit for pair in unjudged),
            f"p < {alpha:g} and the interval disagree": any(pair.held_back_by for pair in unjudged),
        }
        is_sequential = self.comparison is not None and self.comparison.settings.sequential
        so_far = " so far" if is_sequential else ""
        listed = ", or ".join(cause for cause, is_met in causes.items() if is_met)
        for verdict, means in {
            "fell": f"a larger drop, {describe_significance(alpha)}",
            "noise": f"a larger drop, not statistically significant{so_far}, p ≥ {alpha:g}",
            "inconclusive": f"a larger drop, and {listed}; this fails the gate",
            "lost": "no value for queries that have one in the baseline; this fails the gate",
        }.items():
            if verdict in used:
                yield f"{verdict}: {means}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each measure that fails the gate, in all queries or in a segment."""
        judged = [("", pair, self._judge(pair)) for pair in self.pairs]
        judged += [(f"{name}: ", pair, word) for name, pair, word in self.segments]
        fell = tuple(
            (
                self._describe_lost(pair)
                if verdict == "lost"
                else self._describe_change(pair)
                if self.corrected
                else (
                    f"{segment}{pair.measure} fell by {format_difference(-pair.difference)}, where"
                    f" {self.max_drop:g} is"
                    f" allowed{_explain_verdict(pair)}: {pair.sentence}"
                )
            )
            for segment, pair, verdict in judged
            if verdict in FAILING
        )
        low = (floor for floor in self.floors if not floor.passed)
        return (
            *fell,
            *(f"{floor.measure} is {floor.value:.4g}, below {floor.lowest:g}." for floor in low),
        )

    def _describe_change(self, pair: Pair) -> str:
        change = self.corrected[str(pair.measure)]
        drop, _ = change.stated
        return (
            f"{pair.measure} fell by {format_difference(-drop)}, where {self.max_drop:g} is"
            f" allowed, as corrected by people's judgments: {change}"
        )

    def _describe_lost(self, pair: Pair) -> str:
        lost = self.lost[str(pair.measure)]
        queries = write_count(len(lost), "query has", "queries have")
        return spell_options(
            f"{pair.measure}: {queries} a value in the baseline but none in the run:"
            f" {list_some(lost)}. A convention such as {write_option('missing', 'skip')} leaves"
            f" them out of the mean; {write_option('missing', 'zero')} counts a query without"
            " results as empty."
        )


def _explain_verdict(pair: Pair) -> str:
    """Say why a drop that fails the gate is not called significant; empty if it is."""
    if pair.limit:
        return ", and the test cannot judge it"
    return ", and test and interval disagree about it" if pair.held_back_by else ""


def gate(
    qrels: Judgments,
    run: Run,
    measures: "Measures | None" = None,
    *,
    baseline: Baseline | None = None,
    floor: Floors | None = None,
    max_drop: float = 0.0,
    alpha: float = 0.05,
    test: TestName = "randomization",
    correction: Correction | None = None,
    resamples: int = 10_000,
    rng: Seed = 0,
    by: Values | None = None,
    people: Judgments | None = None,
    sequential: Sequential | None = None,
    **policy: Unpack[Choices],
) -> Gate:
    """Compare a run with its baseline, and tell which measures fell, or are below a floor.

    >>> print(germane.gate({"q": ["d"]}, {"q": ["x", "d"]}, "RR", baseline={"q": ["d"]}).verdicts)
    {'RR': 'inconclusive'}

    ``baseline`` is a run, or saved results: a ``Result``, or the path of a ``.json`` file that
    ``germane evaluate --format json --per-query`` wrote. A measure fell if its mean dropped by more
    than ``max_drop``, the test's p-value, corrected over all measures, is below ``alpha``, and the
    interval excludes 0. If the test cannot reach ``alpha``, or if its p-value is below it although
    the interval contains 0, ``max_drop`` alone decides: the drop is inconclusive, and the gate
    fails. It also fails if a query has a value in the baseline but none in the run. ``by`` gives
    segments of the queries, in each of which no measure may fall either; their p-values are
    corrected together. If ``qrels`` are a model's judgments, ``people`` are people's judgments of
    some of the queries, as in ``trust``, and the verdicts are about the changes that these correct.
    ``floor`` is the lowest value of a measure that passes, such as ``"nDCG@10>=.40"``, or a list;
    it needs no baseline. ``sequential="anytime"`` is for a gate that is looked at after each batch
    of queries: the probability that it ever says that a measure fell, although none did, is at most
    ``alpha``. Queries without a value are then still to come, and no drop is inconclusive. The
    other arguments are the same as for ``compare``. Raises PolicyError for results that were saved
    under other conventions, InputError for results with other judgments, for neither a baseline nor
    a floor, and for a text that does not state a floor, CoverageError if no judged item was found,
    and what ``compare`` raises.
    """
    check_limits(max_drop, alpha)
    floors = read_floors(floor)
    compared = list_compared(measures, DEFAULT, baseline, floors)
    data = open_data(qrels, policy)
    if people is not None:
        _check_corrected(by, baseline, floors)
        _refuse_tests(test, correction)
    if sequential is not None:
        _check_sequential(people, baseline)
    levels = [level.measure for level in floors]
    names = list_names(compared, Measure) if levels and compared else []
    wanted: Any = [*names, *levels] if levels else compared
    now = evaluate(data, run, wanted, name=RUN)
    if quantities := [m for m in now.measures if not m.row.loses(dict(m.parameters))]:
        raise MeasureError(
            f"a gate needs measures for which higher is better. A lower {quantities[0]} is no"
            " regression; leave it out."
        )

    def find(name: str) -> tuple[str, float, str]:
        return str(now[name].measure), float(now[name]), now[name].measure.definition

    checked = check_floors(floors, find, lambda name: now[name].measure.range)
    if baseline is None:
        _check_found(RUN, now)
        return Gate(None, max_drop, {}, checked, (f"policy: {now.policy}",))
    chosen = now.measures
    if levels:  # of which some may be floors alone
        named = {now[str(name)].measure for name in names}
        chosen = tuple(measure for measure in chosen if measure in named)
    before = _read_saved(baseline)
    if before is None:
        before = evaluate(data, baseline, chosen, name=BASELINE)
    else:
        check_judgments("", (_name(baseline, BASELINE), before), (_name(run, RUN), now))
        _check_saved(before, now, chosen)
    comparison = compare(
        {BASELINE: before, RUN: now},
        None,
        chosen,
        baseline=BASELINE,
        test=test,
        correction=correction,
        family="all",  # one decision rests on all measures
        confidence=1 - alpha,
        resamples=resamples,
        rng=rng,
        by=by,
        sequential=sequential,
    )
    corrected = {}
    if people is not None:
        corrected = _correct(data, {BASELINE: baseline, RUN: run}, chosen, people, alpha)
    decision = Gate(comparison, max_drop, corrected, checked)
    _check_found(BASELINE, before)
    if decision.passed:
        _check_found(RUN, now)
    return decision


def list_compared(
    measures: T | None, usual: T, baseline: object, floors: tuple[Floor, ...]
) -> T | tuple[str, ...]:
    """Return the measures that are compared with the baseline: those named, or the usual ones.

    Raises InputError without a baseline and floors, for measures that have neither, and for a floor
    among the measures.
    """
    names = [measures] if isinstance(measures, str) else measures
    texts = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    if any(re.search("[<>≥≤]", re.sub(r"\([^()]*\)", "", text)) for text in texts):
        raise InputError(
            f"{write_option('measures')} takes names of measures; got {list_some(texts)}."
            f" {write_option('floor')} takes the lowest value that passes, such as"
            f" {write_option('floor', repr('AP>=.4'))}."
        )
    if baseline is not None:
        return usual if measures is None else measures
    if not floors:
        example = write_option("floor", '"AP>=.4"')
        raise InputError(f"a gate needs {write_option('baseline')}, or a floor such as {example}.")
    if measures is not None:
        raise InputError(
            f"without {write_option('baseline')}, the measures are those of"
            f" {write_option('floor')}; leave out {write_option('measures')}."
        )
    return ()


def _check_corrected(by: object, baseline: object, floors: tuple[Floor, ...]) -> None:
    """Refuse what people's judgments of some queries do not correct."""
    if by is not None:
        raise InputError(
            f"{write_option('people')} corrects means over all queries; leave out"
            f" {write_option('by')}."
        )
    if baseline is None or floors:
        raise InputError(
            f"{write_option('people')} corrects changes from a baseline, and not the values that"
            f" {write_option('floor')} is about; leave out one of them."
        )


def _check_sequential(people: object, baseline: object) -> None:
    """Refuse a sequential test of what it is not about."""
    if people is not None:
        raise InputError(
            f"{write_option('sequential')} does not work with numbers that {write_option('people')}"
            " corrects; leave out one of them."
        )
    if baseline is None:
        raise InputError(
            f"{write_option('sequential')} is about changes from {write_option('baseline')},"
            f" but {write_option('floor')} is about a single value; leave it out."
        )


def _check_saved(before: Result, now: Result, measures: tuple[Measure, ...]) -> None:
    """Refuse a saved baseline under other conventions, or without some of the measures."""
    if before.policy != now.policy:
        raise PolicyError(
            f"the baseline was evaluated with {before.policy}, but the run with {now.policy}."
            " Numbers under different conventions cannot be compared."
        )
    if absent := [str(measure) for measure in measures if str(measure) not in before]:
        raise NotFoundError(
            f"the baseline has no {', '.join(absent)}.  There are: {', '.join(before)}"
        )


def _refuse_tests(test: TestName, correction: Correction | None) -> None:
    """Refuse a choice of test where intervals by people's judgments decide."""
    for name, choice, usual in (
        ("test", test, "randomization"),
        ("correction", correction, "bonferroni"),
    ):
        if choice not in (None, usual):
            raise InputError(
                f"{write_option('people')} decides by intervals of its own, with Bonferroni's"
                f" correction over the measures; leave out {write_option(name, choice)}."
            )


def _correct(
    model: Any, runs: Mapping[str, Any], measures: tuple[Measure, ...], people: Any, alpha: float
) -> dict[str, CorrectedMean]:
    """Correct the change of each measure by people's judgments, with Bonferroni's intervals."""
    if _read_saved(runs[BASELINE]) is not None:
        raise InputError(
            f"{write_option('people')} corrects numbers query by query, and"
            f" {write_option('baseline')} is saved results; give the baseline's run."
        )
    trusts = trust_many(
        runs, people=people, model=model, measures=measures, confidence=1 - alpha / len(measures)
    )
    return {str(change.measure): change for change in trusts.differences}


def check_limits(max_drop: Any, alpha: Any) -> None:
    """Refuse a drop or an error rate that is none. Raises InputError."""
    if not is_number(max_drop) or not max_drop >= 0:
        raise InputError(f"max_drop takes a number from 0; got {clip(max_drop)}")
    if not is_number(alpha) or not 1e-15 <= alpha < 1:
        raise InputError(f"alpha takes a number from 1e-15 to below 1; got {clip(alpha)}")


def _check_found(name: str, result: Result) -> None:
    """Refuse a result without judged items, as where item ids of qrels and run differ in form."""
    if not result.counts.judged_items_retrieved:
        raise CoverageError(
            f"no judged item is among the results of the {name}, so that nothing can be compared."
            " Are its item ids those of the qrels? If they are chunks of judged documents,"
            f" {write_option('collapse', '…')} ranks the documents."
        )


def assert_no_regression(
    qrels: Judgments,
    run: Run,
    measures: "Measures | None" = None,
    *,
    baseline: Baseline | None = None,
    floor: Floors | None = None,
    max_drop: float = 0.0,
    alpha: float = 0.05,
    test: TestName = "randomization",
    correction: Correction | None = None,
    resamples: int = 10_000,
    rng: Seed = 0,
    by: Values | None = None,
    people: Judgments | None = None,
    sequential: Sequential | None = None,
    **policy: Unpack[Choices],
) -> Gate:
    """Raise RegressionError if a run is worse than its baseline; for use in tests.

    >>> runs = {"q1": ["d"], "q2": ["x", "d"]}
    >>> germane.assert_no_regression({"q1": ["d"], "q2": ["d"]}, runs, "RR", baseline=runs).passed
    True

    The arguments are the same as for ``gate``. If the run passes the gate, its result is returned.
    RegressionError is an AssertionError, so test runners report it as a failure.
    """
    decision = gate(
        qrels, run, measures, baseline=baseline, floor=floor, max_drop=max_drop, alpha=alpha,
        test=test, correction=correction, resamples=resamples, rng=rng, by=by, people=people,
        sequential=sequential, **policy,
    )  # fmt: skip
    return refuse_regression(decision)


def refuse_regression(decision: Gate) -> Gate:
    """Raise RegressionError for a gate that did not pass."""
    if not decision.passed:
        raise RegressionError("\n".join((*decision.sentences, "", str(decision))))
    return decision


def _name(raw: Any, otherwise: str) -> str:
    """Name results by their file, if they have one."""
    return os.fspath(raw) if is_path(raw) else otherwise


def _read_saved(baseline: Any) -> Result | None:
    """Read saved results; None for a run."""
    if isinstance(baseline, Result):
        return baseline
    if not isinstance(baseline, (str, os.PathLike)) or not os.fspath(baseline).endswith(".json"):
        return None
    results = find_results(baseline)
    if results is None:
        return None
    if len(results) > 1:
        raise InputError(f"{baseline} has {len(results)} runs, but a baseline is one run.")
    return next(iter(results.values()))
