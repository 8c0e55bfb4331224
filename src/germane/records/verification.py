"""Verification: computes the numbers of a record or a signature again, and says what differs."""

import math
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from germane.core.policy import Policy
from germane.errors import (
    GermaneError,
    GermaneWarning,
    InputError,
    clip,
    list_choices,
    list_some,
    write_option,
)
from germane.evaluation.choices import Choices, Judgments, Record, Runs
from germane.evaluation.evaluate import evaluate
from germane.evaluation.layout import format_value
from germane.evaluation.opening import Held, Inputs, open_data
from germane.evaluation.result import Result, Results
from germane.evaluation.signature_line import (
    Signature,
)
from germane.measures.measure import Measure
from germane.output.documents import Document
from germane.output.named_columns import Tabular
from germane.output.tables import Table, write_count
from germane.records.record import (
    RecordedMeasure,
    RecordedRun,
    is_close,
    name_place,
    read_document,
    read_runs,
)

SAME = "the same values, data and definitions"


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Tabular, Document):
    """The outcome of ``verify``: whether everything is the same, and what differs.

    >>> record = germane.evaluate_many({"q": ["d"]}, {"a": {"q": ["x", "d"]}}, "RR").to_dict()
    >>> germane.verify(record, {"q": ["d"]}, {"q": ["x", "d"]}).same
    True
    >>> print(germane.verify(record, {"q": ["d"]}, {"q": ["d"]}).differences[0])
    a: the run is a different one
    """

    _json = "same differences notes numbers=_list_numbers"

    numbers: tuple[tuple[str, Measure, float, float, int | None], ...]
    """each number: run, measure, value of the record, value now, and its decimals"""
    differences: tuple[str, ...]
    """what differs, a sentence each; empty where everything is the same"""
    notes: tuple[str, ...] = ()
    """the data that could not be compared, a sentence each"""

    @property
    def same(self) -> bool:
        """Are values, data and definitions the same, as far as the record has them?"""
        return not self.differences

    def __bool__(self) -> bool:
        return self.same

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per number; what differs is in the notes."""
        rows = []
        for name, measure, recorded, now, own_digits in self.numbers:
            shown = digits if own_digits is None else own_digits
            cells = [format_value(value, measure, shown) for value in (recorded, now)]
            rows.append((name, str(measure), *cells))
        same = "the same values and definitions" if self.notes else SAME
        verdict = same if self.same else "not the same"
        notes = (verdict, *self.differences, *self.notes)
        return Table(("run", "measure", "recorded", "now"), tuple(rows), notes, left=(1,))

    def _list_numbers(self) -> list[dict[str, Any]]:
        return [
            {"run": name, "measure": measure, "recorded": recorded, "now": now}
            for name, measure, recorded, now, _ in self.numbers
        ]


def verify(
    record: Record,
    qrels: Judgments,
    runs: Runs,
    **policy: Unpack[Choices],
) -> Verification:
    """Recompute the numbers of a record, and compare values, data and definitions.

    >>> signature = germane.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "RR").signature("RR")
    >>> germane.verify(str(signature), {"q": ["d"]}, {"q": ["x", "d"]}).same
    True

    ``record`` is the path of a record or of results as JSON, their content, ``Results``, a
    ``Signature``, or its text. ``qrels`` are as in ``evaluate``, and ``runs`` is a run or ``{name:
    run}``; runs are matched with the record by their names, or else by their order. The conventions
    are those of the record. Arguments describe how the data are read; a convention that you give
    and that differs from the record's is reported as a difference.

    Raises FormatError for a record that cannot be read, InputError for the wrong number of runs,
    and what ``evaluate`` raises.
    """
    if "dialect" in policy:
        raise InputError(
            f"verify takes no {write_option('dialect')}, because the record contains the"
            " conventions of each number. Leave it out, or evaluate again."
        )
    recorded = _read(record)
    pairs = _pair_runs(recorded, runs)
    conventions = {name: word for name, word in policy.items() if name in Policy.DEFAULTS}
    reading = {name: word for name, word in policy.items() if name not in Policy.DEFAULTS}
    data = open_data(qrels, reading)
    numbers: list[Any] = []
    differences: list[str] = []
    notes: list[str] = []
    for recorded_run, run_data in pairs:
        run: Any = run_data
        if isinstance(run_data, str) and run_data == "-":  # which is read several times
            run = Held(data.open_run(run_data)[0].hold())
        results = _evaluate(data, run, recorded_run, conventions)
        numbers += [
            (
                recorded_run.name,
                measure,
                recorded_run.measures[measure].mean,
                result[measure].mean,
                recorded_run.digits,
            )
            for measure, result in results.items()
        ]
        run_prefix = f"{recorded_run.name}: " if recorded_run.name else ""
        differences += [
            f"the record contradicts itself: {contradiction}"
            for contradiction in recorded_run.contradictions
        ]
        differences += [
            run_prefix + difference
            for difference in _compare(recorded_run, results, conventions, data, run)
        ]
        notes += [
            run_prefix + note
            for note in _list_uncompared(recorded_run, next(iter(results.values())))
        ]
    return Verification(tuple(numbers), tuple(differences), tuple(dict.fromkeys(notes)))


# --- The record -------------------------------------------------------------------------------


def _read(record: Any) -> tuple[RecordedRun, ...]:
    if Signature.is_written(record):
        record = Signature.read(record)
    if isinstance(record, Signature):
        return (_read_signature(record),)
    if isinstance(record, Result):
        record = Results({record.name: record})
    if isinstance(record, Results):
        record = record.to_dict(queries=True)
    where = name_place(record)
    if not isinstance(record, Mapping):
        if not isinstance(record, (str, os.PathLike)):
            raise InputError(f"a record is a path, a signature or results; got {clip(record)}")
        record = read_document(record)
    return read_runs(where, record)


def _read_signature(signature: Signature) -> RecordedRun:
    options = dict(signature.options)
    return RecordedRun(
        "",
        signature.policy,
        {signature.measure: RecordedMeasure(signature.policy, signature.value)},
        {"judged": signature.queries} if signature.queries else {},
        signature.qrels,
        signature.run,
        options if options or signature.qrels or signature.run else None,
        signature.digits,
    )


def _pair_runs(recorded: tuple[RecordedRun, ...], runs: Any) -> list[tuple[RecordedRun, Any]]:
    """Pair the runs of the record with those given, by their names or their order."""
    names = [recorded_run.name for recorded_run in recorded]
    if isinstance(runs, Mapping) and set(names) == set(runs):
        return [(recorded_run, runs[recorded_run.name]) for recorded_run in recorded]
    if len(recorded) == 1:
        is_named = isinstance(runs, Mapping) and _are_runs(runs)
        only = next(iter(runs.values())) if is_named else runs
        return [(recorded[0], only)]
    values = list(runs.values()) if isinstance(runs, Mapping) else None
    if values is None or len(values) != len(recorded):
        count = 1 if values is None else len(values)
        raise InputError(
            f"the record has {write_count(len(recorded), 'run')} ({list_some(names)}); got {count}."
            " Give {name: run}, one for each."
        )
    return list(zip(recorded, values, strict=True))


def _are_runs(runs: Mapping[Any, Any]) -> bool:
    """Is this {name: run} of one run, and not a run of one query?"""
    first = next(iter(runs.values()), None)
    if len(runs) != 1:
        return False
    if isinstance(first, Mapping):
        return isinstance(next(iter(first.values()), None), (Mapping, list))
    return isinstance(first, (str, os.PathLike))


# --- Comparison -------------------------------------------------------------------------------


def _evaluate(
    data: Inputs, run: Any, of_record: RecordedRun, conventions: Mapping[str, Any]
) -> dict[Measure, Result]:
    """Evaluate the measures under the conventions of the record, and those that are asked for."""
    results: dict[Measure, Result] = {}
    policies = {measure: recorded.policy for measure, recorded in of_record.measures.items()}
    of_subtopics = [measure for measure in policies if measure.row.subtopics]
    for policy in dict.fromkeys(policies.values()):
        alike = [measure for measure in policies if policies[measure] == policy]
        measures = [*alike, *(subtopic for subtopic in of_subtopics if subtopic not in alike)]
        result = _evaluate_under(data, run, measures, replace(policy, **conventions))
        results |= dict.fromkeys(alike, result)
    return {measure: results[measure] for measure in policies}


def _evaluate_under(data: Inputs, run: Any, measures: list[Measure], policy: Policy) -> Result:
    words = {
        name: getattr(policy, name)
        for name in Policy.DEFAULTS
        if name != "qrels_duplicates"
        and (name == "ties" or getattr(policy, name) != Policy.DEFAULTS[name])
    }
    options = data.options
    reading = replace(options.reading, lowest=policy.scores == "distances")
    under = Inputs(data.qrels, replace(options, reading=reading, recorded=words), signs=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)
        return evaluate(under, run, measures)


def _compare(
    of_record: RecordedRun,
    results: Mapping[Measure, Result],
    conventions: Mapping[str, Any],
    data: Inputs,
    run: Any,
) -> Iterator[str]:
    """Say what differs: the data, the definition, and values."""
    first = next(iter(results.values()))
    same_judgments = _is_same(of_record.judgments, first.fingerprint)
    same_run = _is_same(of_record.run, first.run_fingerprint)
    if not same_judgments:
        yield (
            "the judgments are different: qrels"
            f" {Signature.shorten(of_record.judgments)} in the record,"
            f" {Signature.shorten(first.fingerprint)} now"
        )
    elif of_record.counts.get("judged", first.counts.judged) != first.counts.judged:
        yield (
            f"the number of judged queries differs: {of_record.counts['judged']:,} in the record, "
            f"{first.counts.judged:,} now"
        )
    if not same_run:
        yield f"the run is a different one{_count_queries(of_record, results)}"
    same_options = True
    for difference in _compare_options(of_record.options, first.option_fingerprints):
        same_options = False
        yield difference
    is_known = same_judgments and same_run and same_options
    if is_known and not conventions:
        yield from _compare_rest(of_record, results)
    for measure, result in results.items():
        recorded, now = of_record.measures[measure].mean, result[measure].mean
        measure_policy = of_record.measures[measure].policy
        changed = [
            f"`{word}`"
            for word in conventions
            if getattr(measure_policy, word) != conventions[word]
        ]
        if _is_close(recorded, now, of_record.digits, measure):
            if changed:
                yield f"{measure}: {', '.join(changed)} differs, but the value is the same"
            elif is_known and (differing_counts := _count_queries(of_record, {measure: result})):
                yield f"{measure}: the mean is the same, but single values differ{differing_counts}"
            continue
        digits = 4 if of_record.digits is None else of_record.digits
        shown = [format_value(value, measure, digits) for value in (recorded, now)]
        if shown[0] == shown[1]:
            shown = [format_value(value, measure, None) for value in (recorded, now)]
        if changed:
            yield f"{measure}: {shown[1]} instead of {shown[0]}: {', '.join(changed)} differs"
        elif is_known:
            why = _find_definition(of_record, measure, data, run)
            yield f"{measure}: {shown[1]} instead of {shown[0]} on the same data{why}"
        else:
            yield f"{measure}: {shown[1]} instead of {shown[0]}"


def _compare_rest(of_record: RecordedRun, results: Mapping[Measure, Result]) -> Iterator[str]:
    """Compare what stands beside the means, where the data are the same."""
    first = next(iter(results.values()))
    for name, number in of_record.counts.items():
        now = getattr(first.counts, name, number)
        if number != now and name not in ("comments", "judged"):  # of the file, and said above
            yield f"counts: {name} is {number:,} in the record, {now:,} now"
    if None not in (of_record.metadata, first.metadata) and of_record.metadata != first.metadata:
        yield "the ir_metadata of the record are not those of the run"
    for measure, result in results.items():
        recorded = of_record.measures[measure]
        for order in ("best", "worst"):
            before, now = getattr(recorded, order), getattr(result[measure], order)
            if before is not None and not is_close(before, now):
                yield f"{measure}: {order} is {before} in the record, {now} now"


def _list_uncompared(of_record: RecordedRun, now: Result) -> Iterator[str]:
    """List the data that were not compared, or by a part of their fingerprint alone."""
    pairs = {
        "qrels": (of_record.judgments, now.fingerprint),
        "run": (of_record.run, now.run_fingerprint),
    }
    missing = [name for name, hashes in pairs.items() if None in hashes]
    if missing:
        lacks = "the record has" if of_record.name else "the signature has"
        if all(None in hashes and hashes[0] for hashes in pairs.values()):
            lacks = "there is"
        yield (
            f"{list_choices(missing, 'and')} not compared: {lacks} no fingerprint of"
            f" {'them' if len(missing) > 1 else 'it'}"
        )
    for name, (recorded, _) in pairs.items():
        if recorded is not None and len(recorded) < Signature.LENGTH:
            yield (
                f"{name} compared by {len(recorded)} of {Signature.LENGTH} digits of the"
                " fingerprint: the signature is cut"
            )


def _compare_options(
    recorded: Mapping[str, str | None] | None, now: Mapping[str, str | None]
) -> Iterator[str]:
    """Say which options that are data differ: candidates, groups, and those of the catalogue."""
    if recorded is None:
        return
    for name in Signature.OPTIONS:
        if name in recorded and name not in now:
            yield f"the record was made with {name}=, which is missing; give it again"
        elif name in now and name not in recorded:
            yield f"{name}= is given, but the record was made without it"
        elif name in now and not _is_same(recorded[name], now[name]):
            yield (
                f"{name}= has different content: {Signature.shorten(recorded[name])} in the record,"
                f" {Signature.shorten(now[name])} now"
            )


def _is_same(recorded: str | None, now: str | None) -> bool:
    """Compare fingerprints, or the parts that signatures have; an unknown one is the same."""
    if recorded is None or now is None:
        return True
    return now.startswith(recorded) or recorded.startswith(now)


def _is_close(recorded: float, now: float, digits: int | None, measure: Measure) -> bool:
    if digits is not None and math.isfinite(recorded) and math.isfinite(now):
        return format_value(recorded, measure, digits) == format_value(now, measure, digits)
    return is_close(recorded, now)


def _count_queries(of_record: RecordedRun, results: Mapping[Measure, Result]) -> str:
    """Count the queries with other values, where the record has these."""
    if of_record.queries is None:
        return ""
    differing: dict[str, None] = {}
    total: dict[str, None] = {}
    for measure, result in results.items():
        now = {str(query): value for query, value in result[measure].per_query.items()}
        before = of_record.measures[measure].per_query or {}
        for query in {**before, **now}:
            total[query] = None
            old, new = before.get(query, math.inf), now.get(query, -math.inf)
            if not _is_close(old, new, None, measure):
                differing[query] = None
    if not differing:
        return ""
    some = list_some(list(differing))
    return (
        f": {len(differing):,} of {write_count(len(total), 'query')} have different results"
        f" ({some})"
    )


def _find_definition(of_record: RecordedRun, measure: Measure, data: Inputs, run: Any) -> str:
    """Find the one convention or parameter under which the same data give the recorded value."""
    policy = of_record.measures[measure].policy
    for name, words in Policy.WORDS.items():
        for word in words:
            if word == getattr(policy, name) or name == "duplicates":
                continue
            if _gives(of_record, measure, measure, replace(policy, **{name: word}), data, run):
                return f": `{name}` differs, {name}={word} gives the recorded value"
    for parameter in measure.row.parameters:
        for word in parameter.words:
            variant = measure(**{parameter.name: word})
            if variant != measure and _gives(of_record, measure, variant, policy, data, run):
                return f": `{parameter.name}` differs, {variant} has the recorded value"
    return ""


def _gives(
    of_record: RecordedRun,
    measure: Measure,
    variant: Measure,
    policy: Policy,
    data: Inputs,
    run: Any,
) -> bool:
    try:
        now = _evaluate_under(data, run, [variant], policy)[variant].mean
    except GermaneError:
        return False
    return _is_close(of_record.measures[measure].mean, now, of_record.digits, measure)
