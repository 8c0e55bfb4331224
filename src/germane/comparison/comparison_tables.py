"""The tables of a comparison, and the notes that define their numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from germane.comparison.pair import Pair, Verdict, format_p_number
from germane.comparison.samples import Sample
from germane.comparison.sequential import CITE, choose_test
from germane.comparison.significance import CORRECTIONS, MANY, Settings
from germane.core.mean_intervals import Dispersion, Interval
from germane.evaluation.layout import write_definition
from germane.measures import find_merits
from germane.measures.measure import Measure
from germane.output.named_columns import make_numbers, make_texts
from germane.output.tables import Table, find_highest, format_number, pluralize, write_count

Names: TypeAlias = Mapping[Measure, str]


def make_leaderboard(
    samples: Sequence[Sample],
    pairs: Sequence[Pair],
    settings: Settings,
    digits: int | None,
    names: Names,
    renamed: Sequence[str] = (),
) -> Table:
    """Make a row per system, a column per measure: the best in bold, letters for those it beats."""
    systems = samples[0].systems
    size = len(Table.LETTERS)  # labels are a, b, … z, aa, ab, …
    label = {
        system: Table.LETTERS[i // size - 1] * (i >= size) + Table.LETTERS[i % size]
        for i, system in enumerate(systems)
    }
    columns = [
        (measure, dict(zip(systems, sample.means[m].tolist(), strict=True)))
        for sample in samples
        for m, measure in enumerate(sample.measures)
    ]
    rows = [
        (label[system], system, *(format_number(means[system], digits) for _, means in columns))
        for system in systems
    ]
    beaten: dict[tuple[Measure, str], set[str]] = {}
    for pair in pairs:
        if pair.significant and pair.better is not None:
            worse = pair.baseline if pair.better == pair.system else pair.system
            better = pair.better
            beaten.setdefault((pair.measure, better), set()).add(worse)
    means = (
        find_merits(measure.name, sample.means[m])
        for sample in samples
        for m, measure in enumerate(sample.measures)
    )
    strong = frozenset((r, c + 1) for r, c in find_highest(means))
    marks = {}
    for c, (measure, _) in enumerate(columns, start=2):
        for r, system in enumerate(systems):
            if losers := beaten.get((measure, system)):
                separator = " " * any(len(label[loser]) > 1 for loser in losers)
                marks[r, c] = separator.join(
                    label[system] for system in systems if system in losers
                )
    heading = ("", "run", *(names[measure] for measure, _ in columns))
    marked = (
        "A run's superscripts mark the runs that it significantly beats:"
        f" {describe_significance(settings.alpha)}"
    )
    notes = (*([marked] if marks else []), *write_notes(samples, pairs, settings, names, renamed))
    return Table(heading, tuple(rows), notes, (1,), strong, marks)


def make_pair_table(
    samples: Sequence[Sample],
    pairs: Sequence[Pair],
    settings: Settings,
    digits: int | None,
    names: Names,
    renamed: Sequence[str] = (),
) -> Table:
    """Make a row per measure and pair."""
    unit = samples[0].unit
    article = "an" if unit[0] in "aeio" else "a"
    columns = [
        "measure", "system", "baseline", pluralize(unit), "difference", "low", "high", "level",
        "d_z",
        "better", "wins", "losses", "ties", "p", "p adjusted", "verdict", "detectable",
    ]  # fmt: skip
    rows = []
    for pair in pairs:
        level = pair.interval.level if pair.interval else ""
        if pair.interval and digits is None:
            level = repr(pair.interval.confidence)
        cells = [
            names[pair.measure], pair.system, pair.baseline, str(pair.queries),
            format_number(pair.difference, digits), *write_ends(pair.interval, digits), level,
            format_number(pair.d_z, digits), format_number(pair.improvement, digits),
            *("" if count is None else str(count) for count in (pair.wins, pair.losses, pair.ties)),
            format_p_number(pair.p, digits), format_p_number(pair.p_adjusted, digits), pair.verdict,
            format_number(pair.detectable, digits),
        ]  # fmt: skip
        if settings.equivalence is not None:
            cells.append(format_p_number(pair.equivalence.p, digits) if pair.equivalence else "")
        rows.append(tuple(cells))
    if settings.equivalence is not None:
        columns.append("p TOST")
    notes = (
        "difference: the mean of the system minus the mean of the baseline",
        (
            "d_z: the mean difference, in standard deviations of the differences of single"
            f" {pluralize(unit)}"
        ),
        (
            f"better: the probability that the system does better on {article} {unit}, with ties"
            " counted as half"
        ),
        (
            "detectable: the smallest true difference that a t-test at the level of the interval"
            f" detects on that many {pluralize(unit)} with a probability of {Dispersion.POWER:g}"
        ),
        f"significant: {describe_significance(settings.alpha)}",
        *write_notes(samples, pairs, settings, names, renamed),
    )
    return Table(tuple(columns), tuple(rows), notes, (1, 2, 15))


def list_pair_columns(pairs: Sequence[Pair]) -> dict[str, Any]:
    """List the columns of a frame with a row per measure and pair."""

    def list_texts(name: str) -> Any:
        return make_texts(getattr(pair, name) for pair in pairs)

    def list_numbers(name: str) -> Any:
        return make_numbers(getattr(pair, name) for pair in pairs)

    def list_counts(name: str) -> Any:
        counts = [getattr(pair, name) for pair in pairs]
        return make_numbers(counts) if None in counts else np.array(counts, np.int64)

    intervals = [vars(pair.interval) if pair.interval else {} for pair in pairs]
    ends = {
        name: make_numbers(interval.get(name) for interval in intervals)
        for name in ("low", "high", "confidence")
    }
    bounded = {}
    if any(pair.equivalence for pair in pairs):
        p = (pair.equivalence.p if pair.equivalence else None for pair in pairs)
        bounded["p_equivalence"] = make_numbers(p)
    return {
        **{name: list_texts(name) for name in ("measure", "system", "baseline")},
        "queries": list_counts("queries"), "difference": list_numbers("difference"), **ends,
        **{name: list_numbers(name) for name in ("d_z", "improvement")},
        **{name: list_counts(name) for name in ("wins", "losses", "ties")},
        **{name: list_numbers(name) for name in ("p", "p_adjusted", "detectable")}, **bounded,
        **{name: list_texts(name) for name in ("verdict", "test")},
    }  # fmt: skip


def write_ends(
    interval: Interval | None, digits: int | None, sign: Literal["", "+"] = ""
) -> tuple[str, str]:
    """Write the ends of an interval as cells of a table; one beside 0 is not written as 0."""
    if interval is None:
        return "", ""

    def write_end(end: float) -> str:
        written = format_number(end, digits, sign=sign)
        return f"{end:{sign}.1g}" if end and not float(written) else written

    return write_end(interval.low), write_end(interval.high)


def describe_significance(alpha: float) -> str:
    """Describe what a significant difference is."""
    return f"p < {alpha:g}, and the interval of the difference excludes 0"


def write_notes(
    samples: Sequence[Sample],
    pairs: Sequence[Pair],
    settings: Settings,
    names: Names,
    renamed: Sequence[str] = (),
) -> Iterator[str]:
    """Write what a caption must say: definitions, queries, test, correction and intervals.

    ``renamed`` says which measures the names stand for that were asked for.
    """
    for sample in samples:
        for measure in sample.measures:
            yield f"{names[measure]}: {write_definition(measure, names[measure])}"
    yield from renamed
    yield ""
    for sample in samples:
        for_some = (
            f" ({', '.join(names[measure] for measure in sample.measures)})"
            if len(samples) > 1
            else ""
        )
        left = f"; {sample.left_out:,} left out" if sample.left_out else ""
        if sample.users:
            units, things, numbers = pluralize(sample.unit), "value", "weighted means"
            if sample.unit == "user":
                things, numbers = "list", "numbers of all lists"
            yield (
                f"{sample.users:,} {units} with a {things} in every run{left}{for_some}:"
                f" {numbers}, spread over {len(sample):,} groups of {units} by a jackknife"
            )
            continue
        yield f"{write_count(len(sample), sample.unit)} with a value for every run{left}{for_some}"
    yield from dict.fromkeys(line for sample in samples for line in sample.conventions)
    if len(samples[0].datasets) > 1:
        sets = ", ".join(samples[0].datasets)
        yield f"data sets {sets}: the means of their means; resampled within each"
    yield f"p: {_describe_test(samples, pairs, settings)}; {choose_test(settings).assumes}"
    units = pluralize(samples[0].unit)
    source = _describe_intervals(pairs, units)
    if settings.sequential:
        source = f"confidence sequences by {CITE}, which hold at every look together; "
    yield f"intervals: {source}{_describe_levels(pairs, settings)}"
    yield from _write_warnings(samples, pairs, settings)


def _describe_intervals(pairs: Sequence[Pair], units: str) -> str:
    """Describe what the intervals come from, as the beginning of a sentence."""
    source = Interval.describe_all((pair.interval for pair in pairs), units)
    if not source and any(pair.queries >= Interval.FEWEST for pair in pairs):
        return f"none, as leaving out some {units} changes no difference; "
    if not source:
        return f"none, as {Interval.explain_missing(units)}; "
    return source + ("; " if "spread" in source else ", ")


def _describe_levels(pairs: Sequence[Pair], settings: Settings) -> str:
    intervals = sorted(
        {pair.interval for pair in pairs if pair.interval}, key=lambda i: i.confidence
    )
    levels = list(dict.fromkeys(interval.level for interval in intervals))
    usual = f"{100 * settings.confidence:g}%"
    if not levels or levels == [usual]:
        return usual
    return (
        "each at the level of its corrected p-value:"
        f" {' to '.join(levels[:: len(levels) - 1 or 1])}"
    )


def _describe_test(samples: Sequence[Sample], pairs: Sequence[Pair], settings: Settings) -> str:
    test = choose_test(settings)
    resampling = f", {settings.resamples:,} resamples" if test.resamples else ""
    text = f"{test.title}, two-sided{resampling}"
    measures = sum(len(sample.measures) for sample in samples)
    count = len(pairs) // measures
    over = f"the {write_count(count, 'pair')} of {'each' if measures > 1 else 'the'} measure"
    if test.corrects:
        return f"{text}, over {over}"
    if settings.correction == "none":
        return f"{text}, uncorrected"
    if settings.family == "all":
        count = len(pairs)
        over = f"all {count} comparisons"
    return (
        text
        if count == 1
        else f"{text}, {CORRECTIONS[settings.correction or 'none'].title} over {over}"
    )


def _write_warnings(
    samples: Sequence[Sample], pairs: Sequence[Pair], settings: Settings
) -> Iterator[str]:
    fewest = min(sample.users or len(sample) for sample in samples)
    largest = max(map(len, samples))
    units = pluralize(samples[0].unit)
    if limits := [pair.limit for pair in pairs if pair.verdict == "inconclusive" and pair.limit]:
        causes = {limit.cause for limit in limits}
        remedies = {
            f"more {units} on which the runs differ": "queries" in causes,
            "more resamples": "resamples" in causes,
            "fewer comparisons": any(limit.corrected for limit in limits),
        }
        yield (
            f"Inconclusive: {len(limits):,} of {write_count(len(pairs), 'comparison')}, where this"
            f" test cannot reach p < {settings.alpha:g}. It takes"
            f" {' or '.join(remedy for remedy, helps in remedies.items() if helps)}."
        )
    disagree: dict[tuple[Verdict, str], int] = {}
    for pair in pairs:
        if pair.held_back_by:
            p = f"p {'<' if pair.p_adjusted < pair.alpha else '≥'} {pair.alpha:g}"
            kind = pair.verdict, pair.describe_disagreement(p)
            disagree[kind] = disagree.get(kind, 0) + 1
    for (verdict, reason), count in disagree.items():
        yield (
            f"{verdict.capitalize()}: {count:,} of {write_count(len(pairs), 'comparison')}, where"
            f" {reason}."
        )
    if fewest < Interval.FEW:
        yield caution_of_few(fewest, units)
    yield from filter(None, (sample.warning for sample in samples))
    if settings.test == "wilcoxon" and largest > MANY:
        yield (
            "Wilcoxon's test asks whether the differences lie symmetrically around 0, not whether"
            f" their mean is 0; with {largest:,} {units}, it rejects almost everything."
            " test=randomization asks about the mean."
        )


def count_verdicts(pairs: Sequence[Pair]) -> str:
    """Count the comparisons with each verdict."""
    verdicts = [pair.verdict for pair in pairs]
    counts = (f"{verdicts.count(word):,} {word}" for word in get_args(Verdict) if word in verdicts)
    return f"{write_count(len(pairs), 'comparison')}: {', '.join(counts)}"


def explain_printed(
    intervals: Iterable[Interval | None], number: str, confidence: float, units: str
) -> Iterator[str]:
    """Explain the intervals that stand below numbers, and why means of few values have none."""
    every = list(intervals)
    if source := Interval.describe_all(every, units):
        yield f"Below each {number} is its {100 * confidence:g}% interval, {source}."
    if None in every:
        yield f"{Interval.explain_missing(units).capitalize()}."


def caution_of_few(count: int, units: str) -> str:
    """Say what few values allow."""
    intervals = "no intervals" if count < Interval.FEWEST else "intervals are rough"
    return f"With few {units} ({count}), {intervals}, and only large differences can be shown."
