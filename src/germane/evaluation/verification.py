"""Verification: computes the numbers of a record or a signature again, and says what differs."""

import math
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from germane.core.arguments import is_number
from germane.core.policy import DEFAULTS, WORDS, Policy
from germane.dialects.parsing import parse
from germane.errors import FormatError, GermaneError, GermaneWarning, InputError, clip, list_some
from germane.evaluation.accepted import Judgments, Record, Runs
from germane.evaluation.api import evaluate
from germane.evaluation.choices import Choices
from germane.evaluation.fingerprint import OPTIONS, shorten
from germane.evaluation.layout import format_value
from germane.evaluation.opening import Held, Inputs, open_data
from germane.evaluation.result import Result, Results
from germane.evaluation.signature_line import Signature, is_signature, read_signature
from germane.evaluation.storage import explain_parts, read_policy, read_record
from germane.measures.measure import Measure
from germane.output.formatting import add_schema, to_json_number, write_count
from germane.output.tables import Table, Tabular

CLOSE = 1e-12  # a smaller difference of two values is rounding


@dataclass(frozen=True)
class Recorded:
    """A run as a record or a signature has it."""

    name: str
    policies: Mapping[Measure, Policy]
    values: Mapping[Measure, float]
    digits: int | None  # decimals of the values; None for all
    queries: int | None  # None where a signature does not say it
    judgments: str | None
    run: str | None
    options: Mapping[str, str | None] | None = None  # None where the record has no fingerprints
    per_query: Mapping[str, Mapping[str, float]] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Tabular):
    """The outcome of ``verify``: is everything the same, and what differs?

    >>> record = germane.evaluate_many({"q": ["d"]}, {"a": {"q": ["x", "d"]}}, "RR").to_dict()
    >>> germane.verify(record, {"q": ["d"]}, {"q": ["x", "d"]}).same
    True
    >>> print(germane.verify(record, {"q": ["d"]}, {"q": ["d"]}).differences[0])
    a: the run is another one
    """

    numbers: tuple[tuple[str, Measure, float, float, int | None], ...]
    """each number: run, measure, value of the record, value now, and its decimals"""
    differences: tuple[str, ...]
    """what differs, a sentence each; empty where everything is the same"""
    notes: tuple[str, ...] = ()
    """what the record does not hold, so that it could not be compared"""

    @property
    def same(self) -> bool:
        """Are values, data and definitions the same?"""
        return not self.differences

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a number, with what differs as notes."""
        rows = []
        for name, measure, recorded, now, own in self.numbers:
            shown = digits if own is None else own
            cells = [format_value(value, measure, shown) for value in (recorded, now)]
            rows.append((name, str(measure), *cells))
        verdict = "the same values, data and definitions" if self.same else "not the same"
        notes = (verdict, *self.differences, *self.notes)
        return Table(("run", "measure", "recorded", "now"), tuple(rows), notes, left=(1,))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        numbers = [
            {
                "run": name,
                "measure": str(measure),
                "recorded": to_json_number(old),
                "now": to_json_number(now),
            }
            for name, measure, old, now, _ in self.numbers
        ]
        return add_schema(
            {
                "same": self.same,
                "differences": list(self.differences),
                "notes": list(self.notes),
                "numbers": numbers,
            }
        )


def verify(
    record: Record,
    qrels: Judgments,
    runs: Runs,
    **policy: Unpack[Choices],
) -> Verification:
    """Compute the numbers of a record again, and compare values, data and definitions.

    >>> signature = germane.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "RR").signature("RR")
    >>> germane.verify(str(signature), {"q": ["d"]}, {"q": ["x", "d"]}).same
    True

    ``record``: the path of a record or of results as JSON, their content, ``Results``, a
    ``Signature``, or its text. ``qrels`` is what ``evaluate`` takes, and ``runs`` a run or
    ``{name: run}``; runs have the names of the record, or are in its order. Conventions are those
    of the record. Arguments say how data are read; a convention that is given and differs from the
    record's is a difference.

    Raises FormatError for a record that cannot be read, InputError for another number of runs, and
    what ``evaluate`` raises.
    """
    if "dialect" in policy:
        raise InputError(
            "verify takes no dialect=: the record has the conventions of each number. Leave it out,"
            " or evaluate again."
        )
    recorded = _read(record)
    pairs = _pair_runs(recorded, runs)
    asked = {name: word for name, word in policy.items() if name in DEFAULTS}
    reading = {name: one for name, one in policy.items() if name not in DEFAULTS}
    data = open_data(qrels, reading)
    numbers: list[Any] = []
    differences: list[str] = []
    notes: list[str] = []
    for one, given in pairs:
        run: Any = given
        if isinstance(given, str) and given == "-":  # which is read several times
            run = Held(data.open_run(given)[0].hold())
        found = _evaluate(data, run, one, asked)
        numbers += [
            (one.name, measure, one.values[measure], result[measure].mean, one.digits)
            for measure, result in found.items()
        ]
        several = f"{one.name}: " if one.name else ""
        differences += [several + says for says in _compare(one, found, asked, data, run)]
        if one.judgments is None or one.run is None:
            notes.append(
                f"{several}the record has no fingerprint of all data, so that values alone are"
                " compared"
            )
    return Verification(tuple(numbers), tuple(differences), tuple(dict.fromkeys(notes)))


# --- The record -------------------------------------------------------------------------------


def _read(record: Any) -> tuple[Recorded, ...]:
    if is_signature(record):
        record = read_signature(record)
    if isinstance(record, Signature):
        return (_read_signature(record),)
    if isinstance(record, Result):
        record = Results({record.name: record})
    if isinstance(record, Results):
        record = record.to_dict(queries=True)
    where = "the record"
    if not isinstance(record, Mapping):
        if not isinstance(record, (str, os.PathLike)):
            raise InputError(f"a record is a path, a signature or results; got {clip(record)}")
        where, record = os.fspath(record), read_record(record)
    with explain_parts(where, "a record", "See docs/signature.md."):
        runs = tuple(_read_run(where, run, record["policy"]) for run in record["runs"])
    if not all(one.values for one in runs) or not runs:
        raise FormatError(f"{where}: a record without {'measures' if runs else 'runs'}.")
    return runs


def _read_signature(given: Signature) -> Recorded:
    policies, values = {given.measure: given.policy}, {given.measure: given.value}
    data = given.qrels, given.run, _read_options(dict(given.options), given.qrels, given.run)
    return Recorded("", policies, values, given.digits, given.queries or None, *data)


def _read_run(where: str, run: Mapping[str, Any], shared: Mapping[str, Any]) -> Recorded:
    name, data, judged = run["name"], run.get("fingerprints", {}), run["counts"]["judged"]
    policy = read_policy(where, run.get("policy", shared))
    policies, values = {}, {}
    for one in run["measures"]:
        measure = parse(one["measure"])
        policies[measure] = read_policy(where, one["policy"]) if "policy" in one else policy
        values[measure] = _read_number(where, str(measure), one["mean"])
    judgments, content = data.get("judgments"), data.get("run")
    options = {option: data[option] for option in OPTIONS if option in data}
    hashed = (judgments, content, *options.values())
    are_texts = all(isinstance(one, str | None) for one in hashed)
    if not (isinstance(name, str) and isinstance(judged, int) and are_texts):
        raise TypeError
    per_query = run.get("queries")
    if per_query is not None:
        per_query = {
            query: {one: _read_number(where, one, value) for one, value in held.items()}
            for query, held in per_query.items()
        }
    known = _read_options(options, judgments, content)
    return Recorded(name, policies, values, None, judged, judgments, content, known, per_query)


def _read_options(
    given: Mapping[str, str | None], *data: str | None
) -> Mapping[str, str | None] | None:
    """Return the fingerprints of options; None where the record has no fingerprint of anything."""
    return given if given or any(data) else None


def _read_number(where: str, what: str, given: Any) -> float:
    if given is None:
        return math.nan
    if not is_number(given):
        raise FormatError(f"{where}: {clip(what)} is a number, or null; got {clip(given)}")
    return float(given)


def _pair_runs(recorded: tuple[Recorded, ...], runs: Any) -> list[tuple[Recorded, Any]]:
    """Pair the runs of the record with those given, by their names or their order."""
    names = [one.name for one in recorded]
    if isinstance(runs, Mapping) and set(names) == set(runs):
        return [(one, runs[one.name]) for one in recorded]
    if len(recorded) == 1:
        is_named = isinstance(runs, Mapping) and _are_runs(runs)
        only = next(iter(runs.values())) if is_named else runs
        return [(recorded[0], only)]
    given = list(runs.values()) if isinstance(runs, Mapping) else None
    if given is None or len(given) != len(recorded):
        count = 1 if given is None else len(given)
        raise InputError(
            f"the record has {write_count(len(recorded), 'run')} ({list_some(names)}); got {count}."
            " Give {name: run}, one for each."
        )
    return list(zip(recorded, given, strict=True))


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
    data: Inputs, run: Any, one: Recorded, asked: Mapping[str, Any]
) -> dict[Measure, Result]:
    """Evaluate the measures under the conventions of the record, and those that are asked for."""
    found: dict[Measure, Result] = {}
    of_subtopics = [measure for measure in one.policies if measure.row.subtopics]
    for policy in dict.fromkeys(one.policies.values()):
        measures = [measure for measure, its in one.policies.items() if its == policy]
        measures += [other for other in of_subtopics if other not in measures]
        result = _evaluate_under(data, run, measures, replace(policy, **asked))
        found |= {measure: result for measure in measures if one.policies[measure] == policy}
    return {measure: found[measure] for measure in one.policies}


def _evaluate_under(data: Inputs, run: Any, measures: list[Measure], policy: Policy) -> Result:
    words = {
        name: getattr(policy, name)
        for name in DEFAULTS
        if name != "qrels_duplicates"
        and (name == "ties" or getattr(policy, name) != DEFAULTS[name])
    }
    options = data.options
    reading = replace(options.reading, lowest=policy.scores == "distances")
    under = Inputs(data.qrels, replace(options, reading=reading, recorded=words))
    under.signs = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GermaneWarning)
        return evaluate(under, run, measures)


def _compare(
    one: Recorded,
    found: Mapping[Measure, Result],
    asked: Mapping[str, Any],
    data: Inputs,
    run: Any,
) -> Iterator[str]:
    """Say what differs: the data, the definition, and values."""
    first = next(iter(found.values()))
    same_judgments = _is_same(one.judgments, first.fingerprint)
    same_run = _is_same(one.run, first.run_fingerprint)
    if not same_judgments:
        yield (
            f"the judgments are other ones: qrels {shorten(one.judgments)} in the record, "
            f"{shorten(first.fingerprint)} now"
        )
    elif one.queries not in (None, first.counts.judged):
        yield (
            f"the number of judged queries differs: {one.queries:,} in the record, "
            f"{first.counts.judged:,} now"
        )
    if not same_run:
        yield f"the run is another one{_count_queries(one, found)}"
    same_options = True
    for difference in _compare_options(one.options, first.option_fingerprints):
        same_options = False
        yield difference
    is_known = same_judgments and same_run and same_options
    for measure, result in found.items():
        recorded, now = one.values[measure], result[measure].mean
        its = one.policies[measure]
        changed = [f"`{word}`" for word in asked if getattr(its, word) != asked[word]]
        if _is_close(recorded, now, one.digits, measure):
            if changed:
                yield f"{measure}: {', '.join(changed)} differs, and the value is the same"
            elif is_known and (other := _count_queries(one, {measure: result})):
                yield f"{measure}: the mean is the same, and single values differ{other}"
            continue
        digits = 4 if one.digits is None else one.digits
        shown = [format_value(value, measure, digits) for value in (recorded, now)]
        if shown[0] == shown[1]:
            shown = [format_value(value, measure, None) for value in (recorded, now)]
        if changed:
            yield f"{measure}: {shown[1]} and not {shown[0]}: {', '.join(changed)} differs"
        elif is_known:
            why = _find_definition(one, measure, data, run)
            yield f"{measure}: the same data, {shown[1]} and not {shown[0]}{why}"
        else:
            yield f"{measure}: {shown[1]} and not {shown[0]}"


def _compare_options(
    recorded: Mapping[str, str | None] | None, now: Mapping[str, str | None]
) -> Iterator[str]:
    """Say which options that are data differ: candidates, groups, and those of the catalogue."""
    if recorded is None:
        return
    for name in OPTIONS:
        if name in recorded and name not in now:
            yield f"the record was made with {name}=, which is missing; give it again"
        elif name in now and name not in recorded:
            yield f"{name}= is given, and the record was made without it"
        elif name in now and not _is_same(recorded[name], now[name]):
            yield (
                f"{name}= has other content: {shorten(recorded[name])} in the record, "
                f"{shorten(now[name])} now"
            )


def _is_same(recorded: str | None, now: str | None) -> bool:
    """Compare fingerprints, or the parts that signatures have; an unknown one is the same."""
    if recorded is None or now is None:
        return True
    return now.startswith(recorded) or recorded.startswith(now)


def _is_close(recorded: float, now: float, digits: int | None, measure: Measure) -> bool:
    if math.isnan(recorded) or math.isnan(now):
        return math.isnan(recorded) == math.isnan(now)
    if digits is not None:
        return format_value(recorded, measure, digits) == format_value(now, measure, digits)
    return abs(recorded - now) <= CLOSE * max(1.0, abs(recorded))


def _count_queries(one: Recorded, found: Mapping[Measure, Result]) -> str:
    """Count the queries with other values, where the record has these."""
    if one.per_query is None:
        return ""
    others: dict[str, None] = {}
    total: dict[str, None] = {}
    for measure, result in found.items():
        now = {str(query): value for query, value in result[measure].per_query.items()}
        before = {
            query: values[str(measure)]
            for query, values in one.per_query.items()
            if str(measure) in values
        }
        for query in {**before, **now}:
            total[query] = None
            old, new = before.get(query, math.inf), now.get(query, -math.inf)
            if not _is_close(old, new, None, measure):
                others[query] = None
    if not others:
        return ""
    some = list_some(list(others))
    return f": {len(others):,} of {write_count(len(total), 'query')} have other results ({some})"


def _find_definition(one: Recorded, measure: Measure, data: Inputs, run: Any) -> str:
    """Find the one convention or parameter under which the same data give the recorded value."""
    policy = one.policies[measure]
    for name, words in WORDS.items():
        for word in words:
            if word == getattr(policy, name) or name == "duplicates":
                continue
            if _gives(one, measure, measure, replace(policy, **{name: word}), data, run):
                return f": `{name}` differs, {name}={word} gives the recorded value"
    for parameter in measure.row.parameters:
        for word in parameter.words:
            other = measure(**{parameter.name: word})
            if other != measure and _gives(one, measure, other, policy, data, run):
                return f": `{parameter.name}` differs, {other} has the recorded value"
    return ""


def _gives(
    one: Recorded, measure: Measure, other: Measure, policy: Policy, data: Inputs, run: Any
) -> bool:
    try:
        now = _evaluate_under(data, run, [other], policy)[other].mean
    except GermaneError:
        return False
    return _is_close(one.values[measure], now, one.digits, measure)
